//! Comparisons of objects by operators that nobody wrote out: `!=` by `==`, `<` by `<=>`, and the defaulted ones.

use super::builder::Builder;
use super::types::Ty;
use super::values::{Ev, What};
use crate::graph::Value;
use crate::program::*;
use crate::text::Span;

/// Members of members of members.
const DEEP: usize = 8;

impl Builder<'_> {
    /// The comparison of two operands of which one is an object, where its own operator is not in view.
    pub fn compare_objects(&mut self, op: BinaryOp, left: &Ev, right: &Ev, span: Span) -> Option<Ev> {
        use BinaryOp::{Eq, Ge, Gt, Le, Lt, Ne};
        let is_class = |ev: &Ev| matches!(ev.ty.value(), Ty::Class(_));
        if !matches!(op, Eq | Ne | Lt | Le | Gt | Ge) || !is_class(left) && !is_class(right) {
            return None;
        }
        let (straight, turned) = ([left.clone(), right.clone()], [right.clone(), left.clone()]);
        if matches!(op, Eq | Ne) {
            let equal = self.call_operator("operator==", &straight, span);
            let equal = equal.or_else(|| self.call_operator("operator==", &turned, span));
            if let Some(equal) = equal {
                let value = self.rvalue_as(&equal, &Ty::Bool, span);
                return Some(if op == Eq { equal } else { Ev::value(self.not(value, span), Ty::Bool) });
            }
        } else if let Some(order) = self.call_operator("operator<=>", &straight, span) {
            return Some(self.by_order(op, &order, span));
        } else if let Some(order) = self.call_operator("operator<=>", &turned, span) {
            let turned = match op {
                Lt => Gt,
                Gt => Lt,
                Le => Ge,
                _ => Le,
            };
            return Some(self.by_order(turned, &order, span));
        }
        // Defaulted, or out of view: it follows from the members.
        if !is_class(left) || left.ty.value() != right.ty.value() {
            return None;
        }
        let mut from = Vec::new();
        self.values_within(left, 0, &mut from, span);
        self.values_within(right, 0, &mut from, span);
        Some(Ev::value(self.unknown(from, span), Ty::Bool))
    }

    /// `(a <=> b) < 0`
    fn by_order(&mut self, op: BinaryOp, order: &Ev, span: Span) -> Ev {
        let value = self.rvalue(order, span);
        let value = match order.ty.value() {
            Ty::Int { .. } => {
                let zero = self.int(0, span);
                self.binary(op, value, zero, &Ty::Bool, span)
            }
            _ => self.unknown(vec![value], span),
        };
        Ev::value(value, Ty::Bool)
    }

    /// The values of all that an object is made of.
    fn values_within(&mut self, ev: &Ev, depth: usize, values: &mut Vec<Value>, span: Span) {
        match (&ev.what, ev.ty.value().clone()) {
            (_, Ty::Class(class)) if depth < DEEP => {
                for (name, ty) in self.fields_of(&class) {
                    let member = self.member_of(ev, &name, ty, span);
                    self.values_within(&member, depth + 1, values, span);
                }
            }
            (What::Place(address), Ty::Array(of, _)) if depth < DEEP => {
                let base = *address;
                let any = self.unknown(Vec::new(), span);
                let element = self.element_address(base, any, span);
                self.values_within(&Ev::place(element, (*of).clone()), depth + 1, values, span);
            }
            (_, ty @ Ty::Vector { .. }) => {
                for (name, of) in Self::components(&ty) {
                    let member = self.member_of(ev, &name, of, span);
                    values.push(self.rvalue(&member, span));
                }
            }
            _ => values.push(self.rvalue(ev, span)),
        }
    }
}
