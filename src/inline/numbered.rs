//! Objects that know a named barrier's number and count: CUTLASS' `NamedBarrier bar(threads, id)`, or a class of the user's table.
//!
//! Their constructor takes what their static methods take, in the same order; each argument is kept in a member called by its
//! position. What a constructor nobody shows computes from its arguments is not followed.

use super::builder::Builder;
use super::calls::Arg;
use super::types::{Ty, UNSIGNED};
use super::values::Ev;
use crate::program::*;
use crate::text::Span;
use crate::words::{BarrierRow, GroupKind};

impl Builder<'_> {
    pub fn is_numbered_barrier(&self, ty: &Ty) -> bool {
        matches!(ty.value(), Ty::Named(named) if self.words.is_numbered_class(&named.name))
    }

    /// `NamedBarrier(128, 1)`
    pub fn construct_numbered_barrier(&mut self, ty: &Ty, list: &[Arg]) -> Ev {
        if let [one] = list
            && let Some(ev) = &one.ev
            && ev.ty.value() == ty.value()
        {
            return ev.clone();
        }
        let values = self.arg_values(list);
        let parts = values.into_iter().enumerate().map(|(position, value)| (kept_at(position), value)).collect();
        Ev::parts(parts, ty.value().clone())
    }

    /// The arguments of a call on such an object, those that its constructor took put behind the ones written.
    pub fn numbered_arguments<'e>(
        &mut self,
        row: &BarrierRow,
        base: &Ev,
        list: &[Arg<'e>],
        span: Span,
    ) -> Vec<Arg<'e>> {
        let mut list = list.to_vec();
        let is_numbered =
            matches!(row.group, GroupKind::Counted | GroupKind::Named) && self.is_numbered_barrier(&base.ty);
        let needed = row.count.max(row.id).filter(|_| is_numbered).map_or(0, |last| last + 1);
        for position in list.len()..needed {
            let kept = self.member_of(base, &kept_at(position), UNSIGNED, span);
            let value = self.rvalue(&kept, span);
            list.push(Arg::made(Ev::value(value, UNSIGNED), span));
        }
        list
    }
}

fn kept_at(position: usize) -> Name {
    Name::from(position.to_string())
}
