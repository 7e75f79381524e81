//! Assignments, increments and casts.

use super::builder::Builder;
use super::copies::Copying;
use super::expressions::assignment_name;
use super::scope::Binding;
use super::types::{INT, Ty};
use super::values::{Category, Ev, What};
use crate::graph::*;
use crate::program::*;
use crate::text::Span;

impl Builder<'_> {
    /// The target and the new value.
    pub fn eval_assign(&mut self, op: Option<BinaryOp>, target: &Expr, value: &Expr, span: Span) -> (Ev, Ev) {
        // The right side first: its calls may write what the left reads.
        let new = if let ExprKind::InitList(_) = value.kind { None } else { Some(self.eval(value)) };
        if let Some(new) = &new
            && self.write_by_pointer(target, new, span)
        {
            return (new.clone(), new.clone());
        }
        let place = self.eval_place(target);
        let ty = place.ty.value().clone();
        let Some(new) = new else {
            let address = self.address_of(&place, target.span);
            self.initialise(address, &ty, value);
            return (place.clone(), place);
        };
        if let Some(op) = op {
            if ty.is_aggregate()
                && let Some(result) = self.call_operator(assignment_name(op), &[place.clone(), new.clone()], span)
            {
                return (result.clone(), result);
            }
            let mut combined = self.combine(op, &place, &new, span, (target.span, value.span));
            let converted = self.rvalue_as(&combined, &ty, span);
            combined = Ev::value(converted, ty.clone());
            self.write(&place, &combined, span);
            return (place, combined);
        }
        if let Ty::Class(class) = &ty
            && self.is_one_of(&new.ty, class)
        {
            let address = self.address_of(&place, target.span);
            if !self.copy_by_class(Copying::Assigning, address, &ty, &new, span) {
                self.store_to(address, &ty, &new, span);
            }
            return (place.clone(), place);
        }
        if matches!(ty, Ty::Class(_))
            && let Some(result) = self.call_operator("operator=", &[place.clone(), new.clone()], span)
        {
            return (result.clone(), result);
        }
        if self.assign_tied(&place, &new, span) {
            return (place.clone(), place);
        }
        self.learn(target, &new.ty);
        if place.ty.is_static() {
            return (new.clone(), new);
        }
        let converts = ty.is_scalar() && matches!(new.ty.value(), Ty::Class(_));
        if ty.is_aggregate()
            || new.ty.value().is_aggregate() && !converts
            || !matches!(new.what, What::Value(_) | What::Place(_))
        {
            self.write(&place, &new, span);
            return (place.clone(), place);
        }
        let converted = self.rvalue_as(&new, &ty, value.span);
        let result = Ev::value(converted, if ty.is_known() { ty } else { new.ty.clone() });
        self.write(&place, &result, span);
        (place, result)
    }

    /// A variable that holds a function or a group is known better after it has been assigned one.
    fn learn(&mut self, target: &Expr, new: &Ty) {
        let ExprKind::Name(path) = &target.kind else { return };
        let [only] = &path.segments[..] else { return };
        match new {
            Ty::Closure(_) | Ty::Group(_) | Ty::Library(_) => self.refine(&only.name, new.clone()),
            _ => {}
        }
    }

    pub fn write(&mut self, place: &Ev, value: &Ev, span: Span) {
        match &place.what {
            What::Place(address) => {
                let ty = place.ty.clone();
                self.store_to(*address, &ty, value, span);
            }
            // What is known only by value: a class whose `operator[]` gave no place, a proxy.
            What::Value(target) if !place.ty.is_scalar() => {
                let from = vec![self.rvalue(value, span)];
                let target = *target;
                self.emit(Op::Clobber { address: target, from, sure: false }, span);
            }
            _ => {}
        }
    }

    pub fn eval_increment(&mut self, by: i64, prefix: bool, target: &Expr, span: Span) -> (Ev, Ev) {
        let place = self.eval_place(target);
        let ty = place.ty.value().clone();
        if ty.is_aggregate() {
            let name = if by > 0 { "operator++" } else { "operator--" };
            if !prefix {
                let zero = Ev::value(self.int(0, span), INT);
                if let Some(result) = self.call_operator(name, &[place.clone(), zero], span) {
                    return (place, result);
                }
            }
            if let Some(result) = self.call_operator(name, std::slice::from_ref(&place), span) {
                return (result.clone(), if prefix { result } else { place });
            }
        }
        let old = self.rvalue(&place, target.span);
        let step = self.int(by, span);
        let new = match &ty {
            Ty::Pointer(_) => self.element_address(old, step, span),
            _ if by < 0 => {
                let one = self.int(-by, span);
                self.binary(BinaryOp::Sub, old, one, &ty, span)
            }
            _ => self.binary(BinaryOp::Add, old, step, &ty, span),
        };
        let value = Ev::value(new, ty.clone());
        self.write(&place, &value, span);
        (place, if prefix { value } else { Ev::value(old, ty) })
    }

    pub fn eval_cast(&mut self, ty: &Type, inner: &Expr, span: Span) -> Ev {
        let to = self.resolve(ty);
        let (written, ty_moves) = (ty, ty.is_rvalue);
        match &to {
            Ty::Void => {
                self.eval(inner);
                return Ev::nothing();
            }
            Ty::Reference(pointee) => {
                let ev = self.eval_place(inner);
                let ty = if pointee.ty.is_known() { pointee.ty.clone() } else { ev.ty.clone() };
                let stays = ty_moves && self.stays_lvalue(written, &ev);
                let category = if ty_moves && !stays { Category::Moved } else { ev.category };
                return Ev { ty, category, is_const: pointee.is_const || stays && ev.is_const, ..ev };
            }
            Ty::Class(_) | Ty::Vector { .. } | Ty::Library(_) => {
                return self.construct_value(&to, std::slice::from_ref(inner), span);
            }
            _ => {}
        }
        let ev = self.eval(inner);
        if matches!(ev.ty, Ty::Functions(_)) && matches!(to, Ty::FunctionPointer | Ty::Pointer(_) | Ty::Unknown) {
            return ev;
        }
        if ev.ty.is_static() || !to.is_known() {
            return ev;
        }
        if let Ty::Class(_) = ev.ty.value()
            && let Some(result) = self.call_conversion(&ev, &to, span)
        {
            return result;
        }
        if to.is_aggregate() {
            // A class not in view made from the value.
            return Ev { ty: to, ..ev };
        }
        let value = self.rvalue(&ev, inner.span);
        let value = self.widened(value, &ev.ty, &to, span);
        Ev::value(self.convert(value, &ev.ty, &to, span), to)
    }

    /// `static_cast<T &&>(t)` of a `T &&t` that is bound to an lvalue: there `T` is a reference itself.
    fn stays_lvalue(&self, to: &Type, ev: &Ev) -> bool {
        let TypeKind::Reference(to) = &to.kind else { return false };
        let is_open = match &to.kind {
            TypeKind::Named(path) => matches!(&path.segments[..], [only] if only.args.is_none()
                && matches!(self.local(&only.name), Some(Binding::Type(_)))),
            TypeKind::Decltype(_) => true,
            _ => false,
        };
        is_open && matches!(&ev.what, What::Place(address) if self.collapsed.contains(address))
    }

    /// `(int4 *)&row[i]` leads to several elements of the array, `(int2 *)&p.x` to several members.
    fn widened(&mut self, value: Value, from: &Ty, to: &Ty, span: Span) -> Value {
        let (Ty::Pointer(from), Ty::Pointer(to)) = (from.value(), to.value()) else { return value };
        let is_wider = match (super::constant::size_of(&from.ty), super::constant::size_of(&to.ty)) {
            (Some(from), Some(to)) => to > from,
            (Some(_), None) => matches!(to.ty, Ty::Class(_)),
            _ => false,
        };
        if !is_wider || !self.is_of_own(value) {
            return value;
        }
        match *self.op(value) {
            Op::Element { base, index } => {
                let some = self.unknown(vec![index], span);
                self.element_address(base, some, span)
            }
            Op::Member { .. } => {
                let some = self.unknown(Vec::new(), span);
                self.element_address(value, some, span)
            }
            _ => value,
        }
    }

    /// The address visibly leads into a variable of the thread's own.
    fn is_of_own(&self, address: Value) -> bool {
        let mut at = address;
        loop {
            match self.op(at) {
                Op::Address(object) => return self.graph.objects[object.index()].kind == ObjectKind::Local,
                Op::Element { base, .. } | Op::Member { base, .. } => at = *base,
                _ => return false,
            }
        }
    }
}
