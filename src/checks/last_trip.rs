//! Threads that leave a loop on a trip which is the last one for the others, too.
//!
//! ```text
//!     for (int t = 0; t < tiles; ++t) {
//!         __syncthreads();                         // the barrier
//!         if (t == tiles - 1 && i >= n) break;     // the fork: who stays goes round no more
//!     }
//! ```

use super::Check;
use super::conditions;
use super::ways::Ways;
use crate::flow::control::Dependence;
use crate::graph::{BlockId, InstId};
use crate::uniformity::extent::Extent;
use crate::uniformity::symbols::{Leaf, Node, Operator, Symbol};
use rustc_hash::FxHashSet;

/// Whoever goes another way at the fork stays in the loop that holds it and the barrier, or leaves it on a trip on which
/// those who stay come to the barrier no more. All of the group agree on what says so.
pub fn leaves_then_only(check: &Check, inst: InstId, dependence: Dependence, need: Extent) -> bool {
    let flow = &check.analysed.flow;
    let barrier = check.analysed.block(inst);
    let Some(round) = flow.common_loop(dependence.fork, barrier) else { return false };
    let trip = Trip { check, round };
    if dependence.by != flow.loops[round].header && trip.goes_on(dependence.by).contains(&barrier) {
        return false;
    }
    let others = flow.successors[dependence.fork.index()].iter().filter(|to| **to != dependence.by);
    let mut leaving: Vec<(BlockId, BlockId)> = Vec::new();
    for to in others {
        leaving.extend(trip.exits(dependence.fork, *to));
    }
    let until = flow.control.meets(dependence.fork).filter(|meets| !flow.in_loop(*meets, round));
    let ways = Ways::new(check);
    leaving.into_iter().all(|(from, to)| {
        let holds = trip.known(from, to, need);
        !holds.is_empty() && !ways.lead_on(dependence, inst, until, &holds)
    })
}

/// One trip of a loop.
struct Trip<'c, 'a> {
    check: &'c Check<'a>,
    round: usize,
}

impl Trip<'_, '_> {
    /// The blocks of the loop that a way on this trip leads to.
    fn goes_on(&self, from: BlockId) -> FxHashSet<BlockId> {
        let flow = &self.check.analysed.flow;
        let header = flow.loops[self.round].header;
        let mut seen = FxHashSet::from_iter([from]);
        let mut work = vec![from];
        while let Some(block) = work.pop() {
            let onward = flow.successors[block.index()].iter().copied();
            work.extend(onward.filter(|to| *to != header && flow.in_loop(*to, self.round) && seen.insert(*to)));
        }
        seen
    }

    /// Where ways lead out of the loop on this trip that begin at an edge.
    fn exits(&self, from: BlockId, to: BlockId) -> Vec<(BlockId, BlockId)> {
        let flow = &self.check.analysed.flow;
        if !flow.in_loop(to, self.round) {
            return vec![(from, to)];
        }
        if to == flow.loops[self.round].header {
            return Vec::new();
        }
        let out = |block: BlockId| {
            let onward = flow.successors[block.index()].iter();
            onward.filter(|to| !flow.in_loop(**to, self.round)).map(move |to| (block, *to))
        };
        self.goes_on(to).into_iter().flat_map(out).collect()
    }

    /// What all of the group know who go over an edge, as it is put at any place of this trip.
    fn known(&self, from: BlockId, to: BlockId, need: Extent) -> Vec<(Symbol, bool)> {
        let check = self.check;
        let flow = &check.analysed.flow;
        let guards = check.dependences(from);
        let sure = guards.iter().copied().filter(|each| flow.only_by(each.by, from));
        let edge = Dependence { fork: from, by: to };
        sure.chain([edge])
            .filter_map(|each| conditions::condition(check, each))
            .flat_map(|(on, holds)| conditions::flatten(&check.analysed.values.symbols, on, holds, Operator::And))
            .filter(|(on, _)| check.facts.agreement(*on).shown >= need && self.is_of_trip(*on))
            .collect()
    }

    /// It stays what it is, or goes by the number of the trip.
    fn is_of_trip(&self, on: Symbol) -> bool {
        let symbols = &self.check.analysed.values.symbols;
        let memory = self.check.memory();
        let header = self.check.analysed.flow.loops[self.round].header;
        symbols.all_leaves(on, |leaf| {
            memory.stays(leaf, self.round)
                || matches!(symbols.node(leaf), Node::Leaf(Leaf::Iteration(at)) if *at == header)
        })
    }
}
