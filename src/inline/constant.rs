//! Expressions whose value the compiler knows: template arguments, extents, `if constexpr`, constants, calls of constexpr functions.
//!
//! Integers only. Nothing is emitted. What it cannot evaluate is `None`.

use super::builder::Builder;
use super::names::Found;
use super::scope::{Binding, ScopeId};
use super::types::{INT, Ty, UNSIGNED};
use crate::program::*;

/// Evaluation steps for one constant: constexpr functions may loop.
const STEPS: u32 = 20_000;
pub const NESTING: usize = 150;

/// Cuts a value to its type's range.
pub fn wrap(value: i64, ty: &Ty) -> i64 {
    match ty.value() {
        Ty::Bool => i64::from(value != 0),
        Ty::Int { bits: 8, signed: true } => i64::from(value as i8),
        Ty::Int { bits: 8, signed: false } => i64::from(value as u8),
        Ty::Int { bits: 16, signed: true } => i64::from(value as i16),
        Ty::Int { bits: 16, signed: false } => i64::from(value as u16),
        Ty::Int { bits: 32, signed: true } => i64::from(value as i32),
        Ty::Int { bits: 32, signed: false } => i64::from(value as u32),
        _ => value,
    }
}

pub fn is_truth(op: BinaryOp) -> bool {
    use BinaryOp::*;
    matches!(op, And | Or | Eq | Ne | Lt | Le | Gt | Ge)
}

pub fn fold(op: BinaryOp, a: i64, b: i64) -> Option<i64> {
    use BinaryOp::*;
    Some(match op {
        Add => a.wrapping_add(b),
        Sub => a.wrapping_sub(b),
        Mul => a.wrapping_mul(b),
        Div => a.checked_div(b)?,
        Rem => a.checked_rem(b)?,
        Shl => a.checked_shl(u32::try_from(b).ok()?)?,
        Shr => a.checked_shr(u32::try_from(b).ok()?)?,
        BitAnd => a & b,
        BitOr => a | b,
        BitXor => a ^ b,
        And => i64::from(a != 0 && b != 0),
        Or => i64::from(a != 0 || b != 0),
        Eq => i64::from(a == b),
        Ne => i64::from(a != b),
        Lt => i64::from(a < b),
        Le => i64::from(a <= b),
        Gt => i64::from(a > b),
        Ge => i64::from(a >= b),
    })
}

/// The type of an arithmetic result.
pub fn arithmetic(a: &Ty, b: &Ty) -> Ty {
    match (a.value(), b.value()) {
        (Ty::Float { bits: a }, Ty::Float { bits: b }) => Ty::Float { bits: *a.max(b) },
        (float @ Ty::Float { .. }, _) | (_, float @ Ty::Float { .. }) => float.clone(),
        (Ty::Int { bits: a, signed: x }, Ty::Int { bits: b, signed: y }) => {
            let (a, x) = promote(*a, *x);
            let (b, y) = promote(*b, *y);
            let signed = match a.cmp(&b) {
                std::cmp::Ordering::Equal => x && y,
                std::cmp::Ordering::Less => y,
                std::cmp::Ordering::Greater => x,
            };
            Ty::Int { bits: a.max(b), signed }
        }
        (Ty::Int { bits, signed }, Ty::Bool | Ty::Enum(_)) | (Ty::Bool | Ty::Enum(_), Ty::Int { bits, signed }) => {
            let (bits, signed) = promote(*bits, *signed);
            Ty::Int { bits, signed }
        }
        (Ty::Bool | Ty::Enum(_), Ty::Bool | Ty::Enum(_)) => INT,
        _ => Ty::Unknown,
    }
}

fn promote(bits: u8, signed: bool) -> (u8, bool) {
    if bits < 32 { (32, true) } else { (bits, signed) }
}

pub fn result_type(op: BinaryOp, a: &Ty, b: &Ty) -> Ty {
    match op {
        op if is_truth(op) => Ty::Bool,
        BinaryOp::Shl | BinaryOp::Shr => arithmetic(a, &INT),
        _ => arithmetic(a, b),
    }
}

impl Builder<'_> {
    /// The expression's value where the compiler knows it.
    pub fn constant(&mut self, expr: &Expr) -> Option<i64> {
        self.constant_typed(expr).map(|(value, _)| value)
    }

    pub fn constant_typed(&mut self, expr: &Expr) -> Option<(i64, Ty)> {
        self.counting_steps(|builder| builder.evaluate(expr))
    }

    /// Evaluates something, with all the steps that one constant may take unless it is part of another.
    pub fn counting_steps<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let outermost = self.steps == 0;
        if outermost {
            self.steps = STEPS;
        }
        let result = work(self);
        if outermost {
            self.steps = 0;
        }
        result
    }

    pub fn evaluate(&mut self, expr: &Expr) -> Option<(i64, Ty)> {
        if self.steps <= 1 || self.constant_nesting >= NESTING {
            return None;
        }
        self.steps -= 1;
        self.constant_nesting += 1;
        let result = self.evaluate_kind(expr);
        self.constant_nesting -= 1;
        result
    }

    fn evaluate_kind(&mut self, expr: &Expr) -> Option<(i64, Ty)> {
        match &expr.kind {
            ExprKind::Int { value, ty } => Some((*value, literal_type(*ty))),
            ExprKind::Null => Some((0, Ty::pointer_to(Ty::Void))),
            ExprKind::Name(path) => self.constant_name(path),
            ExprKind::Unary(UnaryOp::AddressOf, inner) => self.number_of_member(inner).map(|number| (number, UNSIGNED)),
            ExprKind::Unary(op, inner) => {
                let (value, ty) = self.evaluate(inner)?;
                let promoted = arithmetic(&ty, &INT);
                Some(match op {
                    UnaryOp::Plus => (value, promoted),
                    UnaryOp::Minus => (wrap(value.wrapping_neg(), &promoted), promoted),
                    UnaryOp::Not => (i64::from(value == 0), Ty::Bool),
                    UnaryOp::BitNot => (wrap(!value, &promoted), promoted),
                    UnaryOp::Deref | UnaryOp::AddressOf => return None,
                })
            }
            ExprKind::Binary(op, a, b) => {
                let left = self.evaluate(a);
                match (op, &left) {
                    (BinaryOp::And, Some((0, _))) => return Some((0, Ty::Bool)),
                    (BinaryOp::Or, Some((value, _))) if *value != 0 => return Some((1, Ty::Bool)),
                    // The other side may decide alone; neither has effects here.
                    (BinaryOp::And | BinaryOp::Or, None) => {
                        let (right, _) = self.evaluate(b)?;
                        let decided = if *op == BinaryOp::And { right == 0 } else { right != 0 };
                        return decided.then_some((i64::from(*op == BinaryOp::Or), Ty::Bool));
                    }
                    _ => {}
                }
                let ((x, a), (y, b)) = (left?, self.evaluate(b)?);
                let ty = result_type(*op, &a, &b);
                Some((wrap(fold(*op, x, y)?, &ty), ty))
            }
            ExprKind::Conditional(test, yes, no) => {
                let (test, _) = self.evaluate(test)?;
                self.evaluate(if test != 0 { yes } else { no })
            }
            ExprKind::Comma(a, b) => {
                self.evaluate(a)?;
                self.evaluate(b)
            }
            ExprKind::Cast(ty, inner) => {
                let (value, _) = self.evaluate(inner)?;
                let ty = self.resolve(ty);
                ty.is_integer().then(|| (wrap(value, &ty), ty))
            }
            ExprKind::Construct(ty, args) => {
                let ty = self.resolve(ty);
                self.constant_construct(&ty, args)
            }
            ExprKind::Call { callee, args } => self.constant_call(callee, args),
            ExprKind::Assign(op, target, value) => {
                let (new, _) = self.evaluate(value)?;
                let (old, ty) = self.evaluate(target)?;
                let new = match op {
                    Some(op) => fold(*op, old, new)?,
                    None => new,
                };
                self.assign_constant(target, wrap(new, &ty), ty)
            }
            ExprKind::Increment { by, prefix, target } => {
                let (old, ty) = self.evaluate(target)?;
                let (new, ty) = self.assign_constant(target, wrap(old.wrapping_add(*by), &ty), ty)?;
                Some((if *prefix { new } else { old }, ty))
            }
            ExprKind::InitList(list) if list.len() == 1 => self.evaluate(&list[0].1),
            ExprKind::InitList(list) if list.is_empty() => Some((0, INT)),
            ExprKind::Member { object, arrow: false, member } => {
                let Some(parts) = self.constant_parts_of(object) else { return self.part_of_constant(expr) };
                let name = &member.segments.last()?.name;
                parts.iter().find(|(part, ..)| part == name).map(|(_, value, ty)| (*value, ty.clone()))
            }
            ExprKind::Index(..) => self.part_of_constant(expr),
            ExprKind::PackSize(pack) => match self.local(pack) {
                Some(Binding::Pack(list)) if !is_open(list) => {
                    Some((list.len() as i64, Ty::Int { bits: 64, signed: false }))
                }
                _ => None,
            },
            ExprKind::Unevaluated(of) => {
                let of = (**of).as_ref()?;
                let mut ty = self.resolve(of);
                // `sizeof(table)` reads like a type where the table is not in the same text.
                if let (Ty::Named(_), TypeKind::Named(path)) = (&ty, &of.kind) {
                    ty = self.type_of(&Expr { kind: ExprKind::Name(path.clone()), span: expr.span });
                }
                size_of(&ty).map(|size| (size, Ty::Int { bits: 64, signed: false }))
            }
            ExprKind::Requires(asked) => self.is_met(asked).map(|met| (i64::from(met), Ty::Bool)),
            ExprKind::Fold(op, inner) => {
                let packs = self.names_of_packs(inner);
                let count = packs.first()?.1;
                let mut total: Option<(i64, Ty)> = None;
                for index in 0..count {
                    let outer = self.enter_element(&packs, index);
                    let value = self.evaluate(inner);
                    self.leave_scope(outer);
                    let (value, ty) = value?;
                    total = Some(match total {
                        None => (value, ty),
                        Some((so_far, _)) => (fold(*op, so_far, value)?, ty),
                    });
                }
                total.or(match op {
                    BinaryOp::And => Some((1, Ty::Bool)),
                    BinaryOp::Or => Some((0, Ty::Bool)),
                    _ => None,
                })
            }
            _ => None,
        }
    }

    fn assign_constant(&mut self, target: &Expr, value: i64, ty: Ty) -> Option<(i64, Ty)> {
        let ExprKind::Name(path) = &target.kind else { return None };
        let name = &path.segments.last()?.name;
        let mut at = Some(self.scope);
        while let Some(id) = at {
            let floor = self.constant_floor?;
            if id.0 < floor.0 {
                return None;
            }
            let scope = &mut self.scopes[id.0 as usize];
            if let Some(found) = scope.names.get_mut(name) {
                *found = Binding::Constant { value, ty: ty.clone() };
                return Some((value, ty));
            }
            at = scope.parent;
        }
        None
    }

    fn constant_name(&mut self, path: &Path) -> Option<(i64, Ty)> {
        match self.find(path) {
            Found::Binding(Binding::Constant { value, ty }) => Some((value, ty)),
            Found::Binding(Binding::Object { constant: Some(value), ty, .. }) => Some((value, ty)),
            Found::Binding(Binding::Object { ty, .. } | Binding::Alias { ty, .. }) => self.constant_by_type(&ty),
            Found::Binding(Binding::Value { value, ty }) => match self.constant_of(value) {
                Some(known) => Some((known, ty)),
                None => self.constant_by_type(&ty),
            },
            Found::Constant(value, ty) => Some((value, ty)),
            Found::StaticField(class, index) => self.constant_member(&class, index),
            Found::Value(item) => self.constant_item(item),
            Found::None => self.trait_of_path(path).or_else(|| self.constant_word(path)),
            _ => None,
        }
    }

    /// What an object converts to whose type is a constant.
    pub fn constant_by_type(&mut self, ty: &Ty) -> Option<(i64, Ty)> {
        match ty.value() {
            Ty::Named(_) => self.value_of_type(ty),
            Ty::Class(class) if !self.standard_bases(&class.clone()).is_empty() => self.value_of_type(ty),
            _ => None,
        }
    }

    /// A constant of a library that is not in view, or a function of it that returns one.
    pub fn constant_word(&self, path: &Path) -> Option<(i64, Ty)> {
        let value = self.words.constant(&path.segments.last()?.name)?;
        Some((value, INT))
    }

    /// Opens a scope in which each pack's name means its element `index`.
    pub fn enter_element(&mut self, packs: &[(Name, usize)], index: usize) -> ScopeId {
        let mut elements = Vec::new();
        for (name, _) in packs {
            if let Some(Binding::Pack(list)) = self.local(name)
                && let Some(element) = list.get(index)
            {
                elements.push((name.clone(), element.clone()));
            }
        }
        let outer = self.enter_scope();
        for (name, element) in elements {
            self.bind(&name, element);
        }
        outer
    }
}

pub fn literal_type(ty: IntType) -> Ty {
    match ty {
        IntType::Bool => Ty::Bool,
        IntType::Char => Ty::Int { bits: 8, signed: true },
        IntType::Int => INT,
        IntType::Unsigned => UNSIGNED,
        IntType::Long => Ty::Int { bits: 64, signed: true },
        IntType::UnsignedLong => Ty::Int { bits: 64, signed: false },
    }
}

/// A pack of which one element stands for any number.
fn is_open(pack: &[Binding]) -> bool {
    matches!(pack, [Binding::Type(Ty::Param(_)) | Binding::Value { ty: Ty::Unknown, .. }])
}

pub fn size_of(ty: &Ty) -> Option<i64> {
    Some(match ty.value() {
        Ty::Bool => 1,
        Ty::Int { bits, .. } | Ty::Float { bits } => i64::from(*bits) / 8,
        Ty::Pointer(_) | Ty::FunctionPointer => 8,
        Ty::Enum(_) => 4,
        Ty::Array(of, Some(extent)) => size_of(of)?.checked_mul(*extent)?,
        Ty::Vector { of, lanes, .. } => size_of(of)? * i64::from(*lanes),
        _ => return None,
    })
}
