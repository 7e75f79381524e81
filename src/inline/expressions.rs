//! Expressions to instructions. Conditions stay values where nothing in them has an effect; else they become branches.

use super::builder::Builder;
use super::constant;
use super::names::Found;
use super::types::{Bound, INT, Pointee, Ty, UNSIGNED};
use super::values::{Ev, What};
use crate::graph::*;
use crate::program::*;
use crate::text::Span;
use std::sync::Arc;

impl Builder<'_> {
    pub fn eval(&mut self, expr: &Expr) -> Ev {
        if !self.descend(expr.span) {
            let value = self.unknown(Vec::new(), expr.span);
            return Ev::value(value, Ty::Unknown);
        }
        let ev = self.eval_kind(expr);
        self.ascend();
        ev
    }

    fn eval_kind(&mut self, expr: &Expr) -> Ev {
        let span = expr.span;
        match &expr.kind {
            ExprKind::Int { value, ty } => Ev::value(self.int(*value, span), constant::literal_type(*ty)),
            ExprKind::Float { bits, .. } => Ev::value(self.unknown(Vec::new(), span), Ty::Float { bits: *bits }),
            ExprKind::Str(_) => {
                let value = self.unknown(Vec::new(), span);
                Ev::value(value, Ty::pointer_to(Ty::Int { bits: 8, signed: true }))
            }
            ExprKind::Null => Ev::value(self.int(0, span), Ty::pointer_to(Ty::Void)),
            ExprKind::This => match self.this() {
                Some((value, class)) => Ev::value(value, Ty::pointer_to(Ty::Class(class))),
                None => Ev::value(self.unknown(Vec::new(), span), Ty::Unknown),
            },
            ExprKind::Name(path) => self.eval_name(path, span, false),
            ExprKind::Unary(op, inner) => self.eval_unary(*op, inner, span),
            ExprKind::Binary(op, a, b) => self.eval_binary(*op, a, b, span),
            ExprKind::Assign(op, target, value) => self.eval_assign(*op, target, value, span).1,
            ExprKind::Increment { by, prefix, target } => self.eval_increment(*by, *prefix, target, span).1,
            ExprKind::Conditional(on, yes, no) => self.eval_conditional(on, yes, no, span),
            ExprKind::Comma(a, b) => {
                self.eval(a);
                self.eval(b)
            }
            ExprKind::Call { callee, args } => self.eval_call(callee, args, span),
            ExprKind::Launch { config, args, .. } => {
                for arg in config.iter().chain(args) {
                    self.eval(arg);
                }
                Ev::nothing()
            }
            ExprKind::Member { .. } | ExprKind::Index(..) => match self.part_of_constant(expr) {
                Some((value, ty)) => Ev::value(self.int(value, span), ty),
                None => self.eval_part(expr),
            },
            ExprKind::Cast(ty, inner) => self.eval_cast(ty, inner, span),
            ExprKind::Construct(ty, args) => {
                let ty = self.resolve(ty);
                self.construct_value(&ty, args, span)
            }
            ExprKind::InitList(list) => {
                // Without a target: the values in order.
                let mut parts = Vec::new();
                for (index, (name, value)) in list.iter().enumerate() {
                    let value = self.rvalue_of(value);
                    parts.push((name.clone().unwrap_or_else(|| Name::from(index.to_string())), value));
                }
                match &parts[..] {
                    [] => Ev::value(self.int(0, span), Ty::Unknown),
                    _ => Ev::parts(parts, Ty::Unknown),
                }
            }
            ExprKind::Lambda(lambda) => self.eval_lambda(lambda),
            ExprKind::Statements(list) => self.eval_statements(list),
            ExprKind::Expansion(inner) => {
                let packs = self.names_of_packs(inner);
                // Where no pack is known, once stands for any number.
                let count = packs.first().map_or(1, |(_, count)| *count);
                let mut last = Ev::nothing();
                for index in 0..count {
                    let outer = self.enter_element(&packs, index);
                    last = self.eval(inner);
                    self.leave_scope(outer);
                }
                last
            }
            ExprKind::Fold(op, inner) => self.eval_fold(*op, inner, span),
            ExprKind::PackSize(_) | ExprKind::Unevaluated(_) => match self.constant(expr) {
                Some(value) => Ev::value(self.int(value, span), Ty::Int { bits: 64, signed: false }),
                None => Ev::value(self.unknown(Vec::new(), span), Ty::Int { bits: 64, signed: false }),
            },
            ExprKind::Requires(_) => match self.constant(expr) {
                Some(value) => Ev::value(self.int(value, span), Ty::Bool),
                None => Ev::value(self.unknown(Vec::new(), span), Ty::Bool),
            },
            ExprKind::Asm(asm) => {
                self.assembly(asm);
                Ev::nothing()
            }
            ExprKind::Unreadable => {
                let at = self.at(span);
                self.incomplete(at, "an expression could not be read".to_string());
                Ev::value(self.unknown(Vec::new(), span), Ty::Unknown)
            }
        }
    }

    /// Like `eval`, but a variable stays a place even where its value is known.
    pub fn eval_place(&mut self, expr: &Expr) -> Ev {
        match &expr.kind {
            ExprKind::Name(path) => self.eval_name(path, expr.span, true),
            ExprKind::Assign(op, target, value) => self.eval_assign(*op, target, value, expr.span).0,
            ExprKind::Increment { by, prefix: true, target } => self.eval_increment(*by, true, target, expr.span).0,
            ExprKind::Comma(a, b) => {
                self.eval(a);
                self.eval_place(b)
            }
            ExprKind::Conditional(on, yes, no) => self.eval_chosen_place(on, yes, no, expr.span),
            _ => self.eval(expr),
        }
    }

    /// A member or an element as something in memory.
    fn eval_part(&mut self, expr: &Expr) -> Ev {
        match &expr.kind {
            ExprKind::Member { object, arrow, member } => self.eval_member(object, *arrow, member, expr.span),
            ExprKind::Index(base, index) => self.eval_index(base, index, expr.span),
            _ => self.eval_place(expr),
        }
    }

    fn eval_unary(&mut self, op: UnaryOp, inner: &Expr, span: Span) -> Ev {
        match op {
            UnaryOp::AddressOf => {
                if let Some(number) = self.number_of_member(inner) {
                    return Ev::value(self.int(number, span), UNSIGNED);
                }
                let ev = self.eval_part(inner);
                match &ev.ty {
                    Ty::Functions(_) => ev,
                    _ => {
                        let ty = Ty::Pointer(Arc::new(Pointee {
                            ty: ev.ty.value().clone(),
                            is_const: ev.is_const,
                            is_volatile: ev.is_volatile,
                            restrict: false,
                        }));
                        let address = self.address_of(&ev, inner.span);
                        Ev::value(address, ty)
                    }
                }
            }
            UnaryOp::Deref => {
                let ev = self.eval(inner);
                self.dereference(&ev, span)
            }
            _ => {
                let ev = self.eval(inner);
                if let (UnaryOp::Plus, Ty::Closure(number)) = (op, ev.ty.value()) {
                    return self.pointer_to_closure(*number, span);
                }
                if ev.ty.value().is_aggregate()
                    && let Some(result) = self.call_operator(unary_name(op), std::slice::from_ref(&ev), span)
                {
                    return result;
                }
                let beside = if op == UnaryOp::Not { Ty::Bool } else { INT };
                let ev = self.operand(&ev, &beside, inner.span);
                let value = self.rvalue(&ev, inner.span);
                let ty = constant::arithmetic(ev.ty.value(), &INT);
                match op {
                    UnaryOp::Not => Ev::value(self.not(value, span), Ty::Bool),
                    UnaryOp::Plus => Ev::value(value, ty),
                    _ => match self.constant_of(value) {
                        Some(known) => {
                            let folded = if op == UnaryOp::Minus { known.wrapping_neg() } else { !known };
                            Ev::value(self.int(constant::wrap(folded, &ty), span), ty)
                        }
                        None => Ev::value(self.emit(Op::Unary(op, value), span), ty),
                    },
                }
            }
        }
    }

    fn eval_binary(&mut self, op: BinaryOp, a: &Expr, b: &Expr, span: Span) -> Ev {
        if matches!(op, BinaryOp::And | BinaryOp::Or) {
            return self.eval_short_circuit(op, a, b, span);
        }
        let mut left = self.eval(a);
        if left.is_place() && !left.ty.is_aggregate() {
            // Read before the right side may write it.
            left = Ev::value(self.rvalue(&left, a.span), left.ty);
        }
        let right = self.eval(b);
        self.combine(op, &left, &right, span, (a.span, b.span))
    }

    pub fn combine(&mut self, op: BinaryOp, left: &Ev, right: &Ev, span: Span, spans: (Span, Span)) -> Ev {
        let (left_ty, right_ty) = (left.ty.value().clone(), right.ty.value().clone());
        let is_object = |ty: &Ty| matches!(ty, Ty::Class(_) | Ty::Vector { .. } | Ty::Named(_) | Ty::Enum(_));
        if (is_object(&left_ty) || is_object(&right_ty))
            && let Some(result) = self.call_operator(binary_name(op), &[left.clone(), right.clone()], span)
        {
            return result;
        }
        if let Some(result) = self.compare_objects(op, left, right, span) {
            return result;
        }
        let (left, right) = (self.operand(left, &right_ty, spans.0), self.operand(right, &left_ty, spans.1));
        let (left_ty, right_ty) = (left.ty.value().clone(), right.ty.value().clone());
        let x = self.rvalue(&left, spans.0);
        let y = self.rvalue(&right, spans.1);
        if matches!(left_ty, Ty::Pointer(_) | Ty::Array(..)) && matches!(op, BinaryOp::Add | BinaryOp::Sub) {
            let pointer = match &left_ty {
                Ty::Array(of, _) => Ty::pointer_to((**of).clone()),
                other => other.clone(),
            };
            if matches!(right_ty, Ty::Pointer(_) | Ty::Array(..)) {
                return Ev::value(self.emit(Op::Binary(op, x, y), span), Ty::Int { bits: 64, signed: true });
            }
            let index = if op == BinaryOp::Sub { self.negate(y, span) } else { y };
            return Ev::value(self.element_address(x, index, span), pointer);
        }
        if matches!(right_ty, Ty::Pointer(_) | Ty::Array(..)) && op == BinaryOp::Add {
            return Ev::value(self.element_address(y, x, span), super::templates::decay(&right_ty));
        }
        // A type out of view without template arguments is nearly always a number: `index_t`.
        let is_opaque = |ty: &Ty| match ty {
            Ty::Enum(_) => false,
            Ty::Named(named) => !named.args.is_empty(),
            ty => is_object(ty),
        };
        if is_opaque(&left_ty) || is_opaque(&right_ty) {
            // An operator not in view.
            let ty = if constant::is_truth(op) {
                Ty::Bool
            } else if is_object(&left_ty) {
                left_ty
            } else {
                right_ty
            };
            return Ev::value(self.unknown(vec![x, y], span), ty);
        }
        let ty = constant::result_type(op, &left_ty, &right_ty);
        if matches!(constant::arithmetic(&left_ty, &right_ty), Ty::Float { .. })
            && let Some(compared) = self.compare_floats(op, x, y, span)
        {
            return Ev::value(compared, ty);
        }
        let (x, y) = match op {
            BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge | BinaryOp::Div | BinaryOp::Rem
                if constant::arithmetic(&left_ty, &right_ty) == UNSIGNED =>
            {
                (self.wrapped(x, spans.0), self.wrapped(y, spans.1))
            }
            BinaryOp::Shr if ty == UNSIGNED => (self.wrapped(x, spans.0), y),
            _ => (x, y),
        };
        Ev::value(self.binary(op, x, y, &ty, span), ty)
    }

    /// Of floating-point numbers nothing cancels: `x == x` and `x - x == 0` ask whether `x` is a number, and where `x < y`
    /// is false `x >= y` may be, too.
    fn compare_floats(&mut self, op: BinaryOp, x: Value, y: Value, span: Span) -> Option<Value> {
        if self.constant_of(x).is_some() && self.constant_of(y).is_some() {
            return None;
        }
        let (name, operands) = match op {
            BinaryOp::Sub => ("float difference", [x, y]),
            BinaryOp::Eq | BinaryOp::Ne => ("float equality", [x.min(y), x.max(y)]),
            BinaryOp::Lt => ("float less", [x, y]),
            BinaryOp::Gt => ("float less", [y, x]),
            BinaryOp::Le => ("float at most", [x, y]),
            BinaryOp::Ge => ("float at most", [y, x]),
            _ => return None,
        };
        let value = self.emit(Op::Pure { name: Name::from(name), operands: operands.to_vec() }, span);
        Some(if op == BinaryOp::Ne { self.emit(Op::Unary(UnaryOp::Not, value), span) } else { value })
    }

    pub fn negate(&mut self, value: Value, span: Span) -> Value {
        match self.constant_of(value) {
            Some(known) => self.int(known.wrapping_neg(), span),
            None => self.emit(Op::Unary(UnaryOp::Minus, value), span),
        }
    }

    /// `a && b` calls a function, for which both are evaluated.
    fn is_overloaded(&mut self, op: BinaryOp, a: &Expr, b: &Expr) -> bool {
        let name = Name::from(binary_name(op));
        if self.program.named(&name).is_empty() {
            return false;
        }
        let types = [self.type_of(a), self.type_of(b)];
        if let Ty::Class(class) = types[0].value().clone()
            && !self.methods_of(&class, &name).is_empty()
        {
            return true;
        }
        if !types.iter().any(|ty| matches!(ty.value(), Ty::Class(_) | Ty::Enum(_))) {
            return false;
        }
        let Found::Functions(set) = self.find_name(&name) else { return false };
        set.iter().any(|one| self.score(one, &types, NO_BOUNDS).is_some_and(|score| score > OF_THESE))
    }

    fn eval_short_circuit(&mut self, op: BinaryOp, a: &Expr, b: &Expr, span: Span) -> Ev {
        if self.is_overloaded(op, a, b) {
            let (left, right) = (self.eval(a), self.eval(b));
            return self.combine(op, &left, &right, span, (a.span, b.span));
        }
        let left = self.truth_of(a);
        let skips = if op == BinaryOp::And { 0 } else { 1 };
        if let Some(known) = self.constant_of(left) {
            if i64::from(known != 0) == skips {
                return Ev::value(self.int(skips, span), Ty::Bool);
            }
            let right = self.truth_of(b);
            return Ev::value(self.truth(right, span), Ty::Bool);
        }
        let effects = self.effects_of(b);
        if !effects.barrier && !effects.writes {
            let right = self.truth_of(b);
            return Ev::value(self.binary(op, left, right, &Ty::Bool, span), Ty::Bool);
        }
        let object = self.temporary("condition", &Ty::Bool, span);
        let address = self.address(object, span);
        let left = self.truth(left, span);
        self.store(address, left, span);
        let (more, after) = (self.new_block(), self.new_block());
        let at = self.at(a.span);
        let end = match op {
            BinaryOp::And => End::Branch { on: left, yes: more, no: after, at, what: Fork::And },
            _ => End::Branch { on: left, yes: after, no: more, at, what: Fork::Or },
        };
        self.finish(end);
        self.go_on(more);
        self.with_temporaries(|builder| {
            let right = builder.truth_of(b);
            let right = builder.truth(right, b.span);
            builder.store(address, right, b.span);
        });
        self.fall_into(after, span);
        Ev::value(self.load(address, false, span), Ty::Bool)
    }

    /// Goes to `yes` or `no` by a condition; short circuits with effects on the right branch one by one.
    pub fn branch_on(&mut self, expr: &Expr, yes: BlockId, no: BlockId, what: Fork, at: At) {
        if let ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) = &expr.kind
            && !self.is_overloaded(*op, a, b)
        {
            let effects = self.effects_of(b);
            if (effects.barrier || effects.writes) && self.descend(expr.span) {
                let more = self.new_block();
                let left_at = self.at(a.span);
                match op {
                    BinaryOp::And => self.branch_on(a, more, no, Fork::And, left_at),
                    _ => self.branch_on(a, yes, more, Fork::Or, left_at),
                }
                self.go_on(more);
                self.branch_on(b, yes, no, what, at);
                self.ascend();
                return;
            }
        }
        let on = self.with_temporaries(|builder| builder.truth_of(expr));
        self.branch_value(on, yes, no, what, at);
    }

    pub fn branch_value(&mut self, on: Value, yes: BlockId, no: BlockId, what: Fork, at: At) {
        match self.constant_of(on) {
            Some(known) => {
                let to = if known != 0 { yes } else { no };
                self.finish(End::Jump { to, leaving: Leaving::Fall, at });
            }
            None => self.finish(End::Branch { on, yes, no, at, what }),
        }
    }

    fn eval_conditional(&mut self, on: &Expr, yes: &Expr, no: &Expr, span: Span) -> Ev {
        let test = self.truth_of(on);
        if let Some(known) = self.constant_of(test) {
            return self.eval(if known != 0 { yes } else { no });
        }
        let mut effects = self.effects_of(yes);
        effects.join(self.effects_of(no));
        if !effects.barrier && !effects.writes {
            let (a, b) = (self.eval(yes), self.eval(no));
            return self.choose_between(test, &a, &b, span, (yes.span, no.span));
        }
        let (then, other, after) = (self.new_block(), self.new_block(), self.new_block());
        let at = self.at(on.span);
        self.finish(End::Branch { on: test, yes: then, no: other, at, what: Fork::Conditional });
        self.go_on(then);
        let (object, ty) = self.with_temporaries(|builder| {
            let a = builder.eval(yes);
            let object = builder.temporary("the `?:`", &a.ty, span);
            let address = builder.address(object, span);
            builder.store_to(address, &a.ty, &a, yes.span);
            (object, a.ty)
        });
        self.jump(after, Leaving::Fall, span);
        self.go_on(other);
        let other_ty = self.with_temporaries(|builder| {
            let b = builder.eval(no);
            let address = builder.address(object, span);
            builder.store_to(address, &ty, &b, no.span);
            b.ty
        });
        self.fall_into(after, span);
        if matches!(ty, Ty::Void) {
            return Ev::nothing();
        }
        Ev::made(self.address(object, span), join_types(&ty, &other_ty))
    }

    /// Evaluates and destroys what was made for that alone.
    pub fn with_temporaries<R>(&mut self, work: impl FnOnce(&mut Self) -> R) -> R {
        let base = self.cleanups.len();
        let outer = std::mem::replace(&mut self.keeps_temporaries, true);
        let result = work(self);
        self.keeps_temporaries = outer;
        self.clean_up(base);
        result
    }

    /// `on ? a : b` where a variable is wanted: one of the two, if both are.
    fn eval_chosen_place(&mut self, on: &Expr, yes: &Expr, no: &Expr, span: Span) -> Ev {
        let mut effects = self.effects_of(yes);
        effects.join(self.effects_of(no));
        if effects.barrier || effects.writes || !is_variable(yes) || !is_variable(no) {
            return self.eval_conditional(on, yes, no, span);
        }
        let test = self.truth_of(on);
        if let Some(known) = self.constant_of(test) {
            return self.eval_place(if known != 0 { yes } else { no });
        }
        let (a, b) = (self.eval_place(yes), self.eval_place(no));
        match (&a.what, &b.what) {
            (What::Place(x), What::Place(y)) if a.ty == b.ty && a.ty.is_scalar() => {
                let address = self.select(test, *x, *y, span);
                Ev::volatile_place(address, a.ty, a.is_volatile || b.is_volatile).fixed_if(a.is_const || b.is_const)
            }
            _ => self.choose_between(test, &a, &b, span, (yes.span, no.span)),
        }
    }

    pub fn choose_between(&mut self, on: Value, a: &Ev, b: &Ev, span: Span, spans: (Span, Span)) -> Ev {
        if let (Ty::Functions(x), Ty::Functions(y)) = (&a.ty, &b.ty) {
            let mut all = self.function_sets[*x as usize].clone();
            for one in self.function_sets[*y as usize].clone() {
                if !all.contains(&one) {
                    all.push(one);
                }
            }
            let set = self.function_set(all);
            let (x, y) = (self.rvalue(a, spans.0), self.rvalue(b, spans.1));
            return Ev::value(self.select(on, x, y, span), Ty::Functions(set));
        }
        if a.ty.is_static() {
            return a.clone();
        }
        let ty = join_types(&a.ty, &b.ty);
        if let (What::Place(x), What::Place(y)) = (&a.what, &b.what)
            && (ty.is_aggregate() || a.ty == b.ty && !a.ty.is_scalar() && a.ty.is_known())
        {
            let address = self.select(on, *x, *y, span);
            return Ev::volatile_place(address, ty, a.is_volatile).fixed_if(a.is_const || b.is_const);
        }
        let (x, y) = (self.rvalue(a, spans.0), self.rvalue(b, spans.1));
        Ev::value(self.select(on, x, y, span), super::templates::decay(&ty))
    }

    fn eval_statements(&mut self, list: &[Stmt]) -> Ev {
        let outer = self.enter_scope();
        let base = self.cleanups.len();
        let mut result = Ev::nothing();
        for (index, stmt) in list.iter().enumerate() {
            match &stmt.kind {
                StmtKind::Expr(value) if index + 1 == list.len() => result = self.eval(value),
                _ => self.statement(stmt),
            }
        }
        if let What::Place(_) = result.what
            && !result.ty.is_aggregate()
        {
            let span = list.last().map_or(Span::default(), |stmt| stmt.span);
            let value = self.rvalue(&result, span);
            result = Ev::value(value, result.ty);
        }
        self.clean_up(base);
        self.leave_scope(outer);
        result
    }

    fn eval_fold(&mut self, op: BinaryOp, inner: &Expr, span: Span) -> Ev {
        let packs = self.names_of_packs(inner);
        let count = packs.first().map_or(0, |(_, count)| *count);
        if count > 1 && matches!(op, BinaryOp::And | BinaryOp::Or) {
            return self.eval_fold_in_turn(op, inner, &packs, count, span);
        }
        let mut total: Option<Ev> = None;
        for index in 0..count {
            let outer = self.enter_element(&packs, index);
            let ev = self.eval(inner);
            total = Some(match total {
                None => ev,
                Some(so_far) if matches!(ev.ty, Ty::Void) => {
                    let _ = so_far;
                    ev
                }
                Some(so_far) => self.combine(op, &so_far, &ev, span, (span, span)),
            });
            self.leave_scope(outer);
        }
        total.unwrap_or_else(|| {
            let value = i64::from(op == BinaryOp::And);
            Ev::value(self.int(value, span), Ty::Bool)
        })
    }

    /// `(f(args) && ...)`: who has the answer skips the rest.
    fn eval_fold_in_turn(
        &mut self,
        op: BinaryOp,
        inner: &Expr,
        packs: &[(Name, usize)],
        count: usize,
        span: Span,
    ) -> Ev {
        let object = self.temporary("condition", &Ty::Bool, span);
        let address = self.address(object, span);
        let after = self.new_block();
        for index in 0..count {
            let outer = self.enter_element(packs, index);
            let value = self.truth_of(inner);
            self.leave_scope(outer);
            let value = self.truth(value, span);
            self.store(address, value, span);
            if index + 1 < count {
                let (more, at) = (self.new_block(), self.at(span));
                match op {
                    BinaryOp::And => self.branch_value(value, more, after, Fork::And, at),
                    _ => self.branch_value(value, after, more, Fork::Or, at),
                }
                self.go_on(more);
            }
        }
        self.fall_into(after, span);
        Ev::value(self.load(address, false, span), Ty::Bool)
    }
}

/// A score above it says that a function is for two operands of these types, not for others that they convert to.
const OF_THESE: u32 = 12;

/// Names something in memory, as far as its form tells.
fn is_variable(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Name(_) | ExprKind::Index(..) | ExprKind::Unary(UnaryOp::Deref, _) => true,
        ExprKind::Member { object, arrow, .. } => *arrow || is_variable(object),
        ExprKind::Conditional(_, yes, no) => is_variable(yes) && is_variable(no),
        _ => false,
    }
}

pub fn join_types(a: &Ty, b: &Ty) -> Ty {
    let (a, b) = (a.value(), b.value());
    match (a, b) {
        (a, b) if a == b => a.clone(),
        (Ty::Pointer(_) | Ty::Array(..), _) => super::templates::decay(a),
        (_, Ty::Pointer(_) | Ty::Array(..)) => super::templates::decay(b),
        (a, _) if a.is_aggregate() => a.clone(),
        (_, b) if b.is_aggregate() => b.clone(),
        (a, b) => constant::arithmetic(a, b),
    }
}

pub fn unary_name(op: UnaryOp) -> &'static str {
    match op {
        UnaryOp::Plus => "operator+",
        UnaryOp::Minus => "operator-",
        UnaryOp::Not => "operator!",
        UnaryOp::BitNot => "operator~",
        UnaryOp::Deref => "operator*",
        UnaryOp::AddressOf => "operator&",
    }
}

pub fn binary_name(op: BinaryOp) -> &'static str {
    use BinaryOp::*;
    match op {
        Add => "operator+",
        Sub => "operator-",
        Mul => "operator*",
        Div => "operator/",
        Rem => "operator%",
        Shl => "operator<<",
        Shr => "operator>>",
        BitAnd => "operator&",
        BitOr => "operator|",
        BitXor => "operator^",
        And => "operator&&",
        Or => "operator||",
        Eq => "operator==",
        Ne => "operator!=",
        Lt => "operator<",
        Le => "operator<=",
        Gt => "operator>",
        Ge => "operator>=",
    }
}

/// The function of `a += b` and its kin.
pub fn assignment_name(op: BinaryOp) -> &'static str {
    use BinaryOp::*;
    match op {
        Add => "operator+=",
        Sub => "operator-=",
        Mul => "operator*=",
        Div => "operator/=",
        Rem => "operator%=",
        Shl => "operator<<=",
        Shr => "operator>>=",
        BitAnd => "operator&=",
        BitOr => "operator|=",
        BitXor => "operator^=",
        // What no assignment has.
        And | Or | Eq | Ne | Lt | Le | Gt | Ge => "operator=",
    }
}

/// The operator function that the expression calls if an operand is an object.
pub fn operator_in(expr: &Expr) -> Option<&'static str> {
    match &expr.kind {
        ExprKind::Binary(op, ..) => Some(binary_name(*op)),
        ExprKind::Unary(op, _) => Some(unary_name(*op)),
        ExprKind::Assign(Some(op), ..) => Some(assignment_name(*op)),
        ExprKind::Member { arrow: true, .. } => Some("operator->"),
        ExprKind::Increment { by, .. } => Some(if *by > 0 { "operator++" } else { "operator--" }),
        _ => None,
    }
}

/// Bounds of nothing: for functions without template arguments.
pub const NO_BOUNDS: &[Bound] = &[];
