//! Collectives of libraries: CUB's block- and warp-wide classes, whose every method is one.

use super::builder::Builder;
use super::calls::Arg;
use super::names::Found;
use super::types::{Bound, LibraryTy, Ty};
use super::values::{Ev, What};
use crate::graph::*;
use crate::program::*;
use crate::text::Span;
use crate::words::{LibraryGroup, ResultKind};

impl Builder<'_> {
    pub fn call_collective(&mut self, library: &LibraryTy, base: &Ev, name: &Name, args: &[Expr], span: Span) -> Ev {
        let _ = base;
        let list = self.eval_args(args);
        if library.row.except.iter().any(|except| **except == **name) {
            return self.call_unseen(name, &list, span);
        }
        let group = match library.row.group {
            LibraryGroup::Block => {
                self.note_block_width(library);
                Group::Block
            }
            LibraryGroup::LogicalWarp => Group::Tile { size: self.logical_width(library) },
        };
        let operands = self.arg_values(&list);
        let aggregate = self.aggregate_of(library, &list);
        let result = match (library.row.result, aggregate) {
            (_, Some(_)) | (ResultKind::Uniform, _) => Outcome::Uniform,
            _ if library.row.agreed.iter().any(|agreed| **agreed == **name) => Outcome::Uniform,
            _ => Outcome::PerThread,
        };
        let barrier = Barrier {
            name: Name::from(format!("{}::{name}", library.name)),
            group,
            waits: true,
            orders_memory: true,
            result,
            source_lane: None,
            width: None,
            operands,
        };
        let value = self.emit(Op::Barrier(Box::new(barrier)), span);
        let own = self.source(Source::Varying(Name::from(format!("{}::{name}", library.name))), span);
        for (index, arg) in list.iter().enumerate() {
            let Some(ev) = arg.ev.clone() else { continue };
            if Some(index) == aggregate {
                let ty = ev.ty.clone();
                if let What::Place(address) = ev.what {
                    self.store_to(address, &ty, &Ev::value(value, ty.clone()), span);
                }
                continue;
            }
            let is_array = matches!(ev.ty.value(), Ty::Array(..));
            let is_out = library.row.writes.contains(&index) && ev.ty.value().is_scalar()
                || library.row.writes.contains(&index) && !ev.ty.value().is_known();
            for kept in self.kept_by_callback(&ev, span) {
                self.emit(Op::Clobber { address: kept, from: vec![own], sure: false }, span);
            }
            if let What::Place(address) = ev.what {
                if is_array || is_out && matches!(ev.ty.value(), Ty::Class(_) | Ty::Named(_) | Ty::Vector { .. }) {
                    self.emit(Op::Clobber { address, from: vec![own], sure: false }, span);
                } else if is_out {
                    self.store(address, own, span);
                }
            }
        }
        let ty = list.first().map_or(Ty::Unknown, |arg| arg.ty().value().clone());
        let ty = if ty.is_aggregate() || ty.is_static() { Ty::Unknown } else { ty };
        let result = if aggregate.is_some() { own } else { value };
        Ev::value(result, ty)
    }

    /// What an object keeps between calls, if it is one that is called: only some threads call it.
    fn kept_by_callback(&mut self, object: &Ev, span: Span) -> Vec<Value> {
        let Ty::Class(class) = object.ty.value().clone() else { return Vec::new() };
        let call = Segment { name: Name::from("operator()"), args: None };
        let Some(Found::Functions(set)) = self.find_in_class(&class, &call) else { return Vec::new() };
        let mut places = Vec::new();
        for one in set.iter().filter(|one| !one.function.leaves_object) {
            let effects = self.effects_on_this(one, &class);
            places.extend(self.places_of(object, &effects.writes, span));
        }
        places
    }

    /// The last of three or more arguments, if it is a plain variable: it gets one value for the group.
    fn aggregate_of(&self, library: &LibraryTy, list: &[Arg]) -> Option<usize> {
        if !library.row.aggregate || list.len() < 3 {
            return None;
        }
        let last = list.last()?;
        let ev = last.ev.as_ref()?;
        let plain = ev.ty.value().is_scalar() || !ev.ty.value().is_known();
        (ev.is_place() && plain).then_some(list.len() - 1)
    }

    /// A collective is right only in a block of the width that it is written for (CUB, "Block-Wide Collectives").
    fn note_block_width(&mut self, library: &LibraryTy) {
        let given = library.row.width.and_then(|position| library.args.get(position));
        if let Some(Bound::Value(width)) = given
            && let Ok(width) = u32::try_from(*width)
            && !self.graph.collective_widths.contains(&width)
        {
            self.graph.collective_widths.push(width);
        }
    }

    /// In lanes. Of a width that is an open template argument it cannot be said who is missing: each thread for itself.
    fn logical_width(&self, library: &LibraryTy) -> u32 {
        let given = library.row.width.and_then(|position| library.args.get(position));
        match given {
            Some(Bound::Value(width)) if (1..=32).contains(width) => (*width as u32).next_power_of_two(),
            Some(Bound::Value(_)) | None => 32,
            Some(_) => 1,
        }
    }
}
