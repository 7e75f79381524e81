//! Pointers to data members: `&Class::member` is a number for the member's name in an object, and `object.*pointer` the member
//! whose number it is.

use super::builder::Builder;
use super::names::Found;
use super::types::{Ty, UNSIGNED};
use super::values::{Ev, What};
use crate::graph::*;
use crate::program::*;
use crate::text::Span;

impl Builder<'_> {
    /// What `&Class::member` is, if that is what the operand names.
    pub fn number_of_member(&mut self, named: &Expr) -> Option<i64> {
        let ExprKind::Name(path) = &named.kind else { return None };
        if path.segments.len() < 2 {
            return None;
        }
        let Found::Field(class, index) = self.find(path) else { return None };
        let cell = self.cell_of(&class, &class.class.members[index].name.clone());
        Some(self.number_of_cell(&cell))
    }

    fn number_of_cell(&mut self, cell: &Name) -> i64 {
        let next = self.member_numbers.len() as i64 + 1;
        *self.member_numbers.entry(cell.clone()).or_insert(next)
    }

    /// `object.*member`: the member, or the value of the one that is meant.
    pub fn member_by_pointer(&mut self, args: &[Expr], span: Span) -> Ev {
        let (pointer, members) = self.members_by_pointer(args, span);
        if let Some(known) = self.constant_of(pointer)
            && let Some((_, member)) = members.iter().find(|(number, _)| *number == known)
        {
            return member.clone();
        }
        let mut types = members.iter().map(|(_, member)| member.ty.value().clone());
        let ty = types.next().filter(|first| types.all(|other| other == *first)).unwrap_or(Ty::Unknown);
        let values: Vec<(i64, Value)> =
            members.iter().map(|(number, member)| (*number, self.rvalue(member, span))).collect();
        let from = std::iter::once(pointer).chain(values.iter().map(|(_, value)| *value)).collect();
        let mut result = self.unknown(from, span);
        for (number, value) in values.into_iter().rev() {
            let is_meant = self.is_member(pointer, number, span);
            result = self.select(is_meant, value, result, span);
        }
        Ev::value(result, ty)
    }

    /// `object.*member = value`
    pub fn write_by_pointer(&mut self, target: &Expr, value: &Ev, span: Span) -> bool {
        let ExprKind::Call { callee, args } = &target.kind else { return false };
        if !is_member_pointer(callee) || args.len() != 2 {
            return false;
        }
        let (pointer, members) = self.members_by_pointer(args, span);
        if let Some(known) = self.constant_of(pointer)
            && let Some((_, member)) = members.iter().find(|(number, _)| *number == known)
        {
            self.write(member, value, span);
            return true;
        }
        for (number, member) in members {
            let What::Place(address) = member.what else { continue };
            if member.ty.is_aggregate() {
                let from = vec![pointer, self.rvalue(value, span)];
                self.emit(Op::Clobber { address, from, sure: false }, span);
                continue;
            }
            let old = self.rvalue(&member, span);
            let new = self.rvalue_as(value, &member.ty, span);
            let is_meant = self.is_member(pointer, number, span);
            let kept = self.select(is_meant, new, old, span);
            self.store(address, kept, span);
        }
        true
    }

    fn is_member(&mut self, pointer: Value, number: i64, span: Span) -> Value {
        let number = self.int(number, span);
        self.binary(BinaryOp::Eq, pointer, number, &UNSIGNED, span)
    }

    /// The pointer to a member, and the members that it may mean, by their numbers.
    fn members_by_pointer(&mut self, args: &[Expr], span: Span) -> (Value, Vec<(i64, Ev)>) {
        let base = self.eval_place(&args[0]);
        let base = match base.ty.value() {
            Ty::Pointer(_) => self.dereference(&base, span),
            _ => base,
        };
        let pointer = self.rvalue_of(&args[1]);
        let fields = match base.ty.value().clone() {
            Ty::Class(class) => self.fields_of(&class),
            _ => Vec::new(),
        };
        let members = fields.into_iter().map(|(name, ty)| {
            let number = self.number_of_cell(&name);
            (number, self.member_of(&base, &name, ty, span))
        });
        (pointer, members.collect())
    }
}

/// `object.*member` is lowered to a call of an operator.
pub fn is_member_pointer(callee: &Expr) -> bool {
    matches!(&callee.kind, ExprKind::Name(path) if path.segments.last().is_some_and(|last| &*last.name == "operator.*"))
}
