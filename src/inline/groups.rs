//! Cooperative groups: how they are made, what their methods yield. A group is all type; nothing of it lives in memory.

use super::builder::Builder;
use super::calls::Arg;
use super::types::{Bound, GroupTy, INT, Ty, UNSIGNED};
use super::values::{Ev, What};
use super::vocabulary::looks_like_group;
use crate::graph::*;
use crate::program::*;
use crate::text::Span;
use crate::words::{GroupMaker, SourceKind};

impl Builder<'_> {
    pub fn make_group(&mut self, maker: GroupMaker, segment: &Segment, args: &[Expr], span: Span) -> Ev {
        let list = self.eval_args(args);
        match maker {
            GroupMaker::Block => Ev::typed(Ty::Group(GroupTy::Block)),
            GroupMaker::Grid => Ev::typed(Ty::Group(GroupTy::Grid)),
            GroupMaker::Cluster => Ev::typed(Ty::Group(GroupTy::Cluster)),
            GroupMaker::Coalesced => {
                let by = self.emit(Op::Coalesce, span);
                Ev::typed(Ty::Group(GroupTy::Formed(Some(by))))
            }
            GroupMaker::Tile => {
                let explicit = self.written_arguments(segment).unwrap_or_default();
                let size = match explicit.first() {
                    Some(Bound::Value(size)) => u32::try_from(*size).ok(),
                    _ => None,
                };
                let given = list.get(1).cloned();
                let values = self.arg_values(&list[1.min(list.len())..]);
                let by = self.partition(&segment.name, &list, values.clone(), span);
                let of_tile = matches!(list.first().map(Arg::ty), Some(Ty::Group(GroupTy::Formed(_))));
                let size = match (size, given) {
                    (None, Some(_)) => {
                        values.first().and_then(|value| self.constant_of(*value)).and_then(|n| u32::try_from(n).ok())
                    }
                    (size, _) => size,
                };
                match size {
                    // A part of a coalesced group is no run of threads.
                    Some(size) if size.is_power_of_two() && !of_tile => Ev::typed(Ty::Group(GroupTy::Tile(Some(size)))),
                    None if !explicit.is_empty() => Ev::typed(Ty::Group(GroupTy::Tile(None))),
                    _ => Ev::typed(Ty::Group(GroupTy::Formed(by))),
                }
            }
            GroupMaker::Partition => {
                let values = self.arg_values(&list[1.min(list.len())..]);
                let by = self.partition(&segment.name, &list, values, span);
                Ev::typed(Ty::Group(GroupTy::Formed(by)))
            }
        }
    }

    /// Parting a group is collective for the group.
    fn partition(&mut self, name: &Name, list: &[Arg], operands: Vec<Value>, span: Span) -> Option<Value> {
        let Ty::Group(parent) = list.first()?.ty().value().clone() else { return None };
        let group = self.group(&parent, span);
        let barrier = Barrier {
            name: name.clone(),
            group,
            waits: true,
            orders_memory: false,
            result: Outcome::Group,
            source_lane: None,
            width: None,
            operands,
        };
        Some(self.emit(Op::Barrier(Box::new(barrier)), span))
    }

    /// The group a barrier speaks to.
    pub fn group(&mut self, group: &GroupTy, span: Span) -> Group {
        match group {
            GroupTy::Block => Group::Block,
            GroupTy::Grid => Group::Grid,
            GroupTy::Cluster => Group::Cluster,
            GroupTy::Tile(size) => Group::Tile { size: size.unwrap_or(32) },
            GroupTy::Formed(Some(by)) => Group::Formed { by: *by },
            GroupTy::Formed(None) | GroupTy::Unknown => Group::Formed { by: self.unknown(Vec::new(), span) },
        }
    }

    /// `invoke_one(group, function, arguments)`: one thread of the group calls the function. What it gave, if anything.
    pub fn run_by_one(&mut self, name: &Name, list: &[Arg], position: usize, span: Span) -> Option<Ev> {
        let (function, arguments) = list.get(position..).and_then(<[Arg]>::split_first)?;
        let function = function.ev.clone()?;
        let on = self.source(Source::Varying(name.clone()), span);
        let (yes, after) = (self.new_block(), self.new_block());
        let at = self.at(span);
        self.branch_value(on, yes, after, Fork::If, at);
        self.go_on(yes);
        let given = self.call_evaluated(function, arguments.to_vec(), span);
        if matches!(given.what, What::Nothing) {
            self.fall_into(after, span);
            return None;
        }
        let ty = given.ty.value().clone();
        let object = self.temporary(name, &ty, span);
        let address = self.address(object, span);
        self.store_to(address, &ty, &given, span);
        self.fall_into(after, span);
        Some(Ev::made(self.address(object, span), ty))
    }

    /// The group of a type that a row asks for with `on`.
    pub fn group_of(&mut self, ty: &Ty, on: &[String]) -> Option<Group> {
        if !on.iter().any(|on| on == "group") {
            return None;
        }
        let span = Span::default();
        match ty.value() {
            Ty::Group(group) => {
                let group = group.clone();
                Some(self.group(&group, span))
            }
            Ty::Pointer(pointee) if matches!(pointee.ty, Ty::Group(_)) => self.group_of(&pointee.ty, on),
            Ty::Param(name) if looks_like_group(name) => Some(self.group(&GroupTy::Unknown, span)),
            Ty::Named(named) if matches!(&*named.name, "thread_group" | "tile_base" | "coalesced_group") => {
                Some(self.group(&GroupTy::Unknown, span))
            }
            _ => None,
        }
    }

    /// `written` is the call as it stands there: `tile.sync`.
    pub fn call_group_method(&mut self, group: &GroupTy, written: Name, name: &Name, args: &[Expr], span: Span) -> Ev {
        let rows = self.words.barrier_method(name).to_vec();
        for row in rows {
            if row.on.iter().any(|on| on == "group") {
                let list = self.eval_args(args);
                let group = self.group(group, span);
                return self.barrier_by_row(&row, written, Some(group), &list, span);
            }
        }
        let list = self.eval_args(args);
        if &**name == "map_shared_rank" {
            let from = self.arg_values(&list);
            let ty = list.first().map_or(Ty::Unknown, Arg::ty);
            let ty = match ty.value() {
                Ty::Pointer(_) => ty.value().clone(),
                Ty::Array(of, _) => Ty::pointer_to((**of).clone()),
                // By reference.
                other => Ty::pointer_to(other.clone()),
            };
            return Ev::value(self.unknown(from, span), ty);
        }
        self.group_value(group, name, span)
    }

    /// A position along three axes, told by a rank.
    fn position_by(&mut self, rank: Source, span: Span) -> Ev {
        let rank = self.source(rank, span);
        let parts = ["x", "y", "z"].map(|name| (Name::from(name), self.unknown(vec![rank], span)));
        Ev::parts(parts.to_vec(), Ty::vector("dim3", UNSIGNED, 3))
    }

    /// What a group says of itself and of the thread in it.
    pub fn group_value(&mut self, group: &GroupTy, name: &Name, span: Span) -> Ev {
        let unsigned = |value: Value| Ev::value(value, UNSIGNED);
        match (group, &**name) {
            (GroupTy::Block, "thread_rank") => unsigned(self.source(Source::ThreadRank, span)),
            (GroupTy::Block, "size" | "num_threads") => unsigned(self.source(Source::BlockSize, span)),
            (GroupTy::Block, "thread_index") => self.source_parts(SourceKind::ThreadIdx, span),
            (GroupTy::Block, "group_index") | (GroupTy::Grid, "block_index") => {
                self.source_parts(SourceKind::BlockIdx, span)
            }
            (GroupTy::Block, "group_dim" | "dim_threads") => self.source_parts(SourceKind::BlockDim, span),
            (GroupTy::Grid, "group_dim" | "dim_blocks") => self.source_parts(SourceKind::GridDim, span),
            (GroupTy::Grid, "block_rank") => unsigned(self.source(Source::BlockRank, span)),
            (GroupTy::Grid, "thread_rank") => {
                let block = self.source(Source::BlockRank, span);
                let size = self.source(Source::BlockSize, span);
                let rank = self.source(Source::ThreadRank, span);
                let start = self.emit(Op::Binary(BinaryOp::Mul, block, size), span);
                Ev::value(self.emit(Op::Binary(BinaryOp::Add, start, rank), span), Ty::Int { bits: 64, signed: false })
            }
            (GroupTy::Grid, "cluster_rank") => unsigned(self.source(Source::ClusterIndex, span)),
            (GroupTy::Grid, "cluster_index") => self.position_by(Source::ClusterIndex, span),
            (GroupTy::Grid, _) => unsigned(self.source(Source::Launch(Name::from(format!("grid.{name}"))), span)),
            (GroupTy::Cluster, "block_rank") => unsigned(self.source(Source::BlockInCluster, span)),
            (GroupTy::Cluster, "thread_rank") => {
                let block = self.source(Source::BlockInCluster, span);
                let size = self.source(Source::BlockSize, span);
                let rank = self.source(Source::ThreadRank, span);
                let start = self.emit(Op::Binary(BinaryOp::Mul, block, size), span);
                unsigned(self.emit(Op::Binary(BinaryOp::Add, start, rank), span))
            }
            (GroupTy::Cluster, "block_index") => self.position_by(Source::BlockInCluster, span),
            (GroupTy::Cluster, "thread_index") => self.position_by(Source::ThreadRank, span),
            (GroupTy::Cluster, "dim_blocks" | "dim_threads") => {
                let parts = ["x", "y", "z"].map(|axis| {
                    let name = Name::from(format!("cluster.{name}.{axis}"));
                    (Name::from(axis), self.source(Source::Launch(name), span))
                });
                Ev::parts(parts.to_vec(), Ty::vector("dim3", UNSIGNED, 3))
            }
            (GroupTy::Cluster, _) => unsigned(self.source(Source::Launch(Name::from(format!("cluster.{name}"))), span)),
            (GroupTy::Tile(Some(size)), "thread_rank") => {
                let size = self.int(i64::from(*size), span);
                let rank = self.source(Source::ThreadRank, span);
                Ev::value(self.emit(Op::Binary(BinaryOp::Rem, rank, size), span), UNSIGNED)
            }
            (GroupTy::Tile(Some(size)), "meta_group_rank") => {
                let size = self.int(i64::from(*size), span);
                let rank = self.source(Source::ThreadRank, span);
                unsigned(self.emit(Op::Binary(BinaryOp::Div, rank, size), span))
            }
            // A tile of open size is taken to be a warp when it waits, and so its number to be one of the warp's.
            (GroupTy::Tile(None), "meta_group_rank") => {
                let size = self.int(32, span);
                let rank = self.source(Source::ThreadRank, span);
                let warp = self.emit(Op::Binary(BinaryOp::Div, rank, size), span);
                unsigned(self.emit(Op::Pure { name: name.clone(), operands: vec![warp] }, span))
            }
            (GroupTy::Tile(Some(size)), "size" | "num_threads") => unsigned(self.int(i64::from(*size), span)),
            (GroupTy::Tile(_), "size" | "num_threads") => unsigned(self.unknown(Vec::new(), span)),
            (GroupTy::Tile(Some(size)), "meta_group_size") => {
                let size = self.int(i64::from(*size), span);
                let all = self.source(Source::BlockSize, span);
                unsigned(self.emit(Op::Binary(BinaryOp::Div, all, size), span))
            }
            (GroupTy::Formed(Some(by)), "size" | "num_threads" | "meta_group_size" | "meta_group_rank") => {
                unsigned(self.emit(Op::Pure { name: name.clone(), operands: vec![*by] }, span))
            }
            (_, "thread_rank" | "meta_group_rank") => unsigned(self.source(Source::Varying(name.clone()), span)),
            (_, "is_valid") => Ev::value(self.int(1, span), Ty::Bool),
            _ => Ev::value(self.unknown(Vec::new(), span), INT),
        }
    }
}
