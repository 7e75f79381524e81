//! Members that share memory: what is written through one is read through the others.
//!
//! Bytes are not told apart: a write makes all that overlaps it a value made of what was written.

use super::builder::Builder;
use super::types::ClassTy;
use super::values::{Ev, What};
use crate::graph::*;
use crate::program::Name;
use crate::text::Span;
use std::sync::Arc;

/// Addresses that lead through a member of a union are followed up so many steps.
const STEPS: usize = 16;

impl Builder<'_> {
    /// Notes that the member at `place` shares its memory with others.
    pub fn note_overlay(&mut self, class: &Arc<ClassTy>, name: &Name, place: &Ev) {
        if class.class.unions.is_empty() {
            return;
        }
        let What::Place(address) = place.what else { return };
        let beside = |union: &Vec<Vec<Name>>| {
            let own = union.iter().position(|part| part.contains(name))?;
            let others = union.iter().enumerate().filter(|(index, _)| *index != own);
            Some(others.flat_map(|(_, part)| part.iter().cloned()).collect::<Vec<Name>>())
        };
        let others: Vec<Name> = class.class.unions.iter().filter_map(beside).flatten().collect();
        if !others.is_empty() && matches!(self.op(address), Op::Member { .. }) {
            self.overlays.insert(address, others);
        }
    }

    /// What a write of `value` changes besides the member that it is made through.
    pub fn write_overlaid(&mut self, address: Value, value: Value, span: Span) {
        if self.overlays.is_empty() {
            return;
        }
        let mut at = address;
        for _ in 0..STEPS {
            let base = match self.op(at) {
                Op::Member { base, .. } | Op::Element { base, .. } => *base,
                _ => return,
            };
            if let Some(others) = self.overlays.get(&at).cloned() {
                for name in others {
                    let other = self.member_address(base, &name, span);
                    self.emit(Op::Clobber { address: other, from: vec![value], sure: true }, span);
                }
            }
            at = base;
        }
    }
}
