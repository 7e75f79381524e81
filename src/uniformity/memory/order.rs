//! In what order accesses come: whether some way leads from one to another without a barrier between.

use super::super::evaluate::Values;
use super::super::extent::Extent;
use crate::flow::Flow;
use crate::graph::{Barrier, BlockId, Graph, Group, InstId, Op};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::rc::Rc;

/// By block: whether some way leads there.
type Reached = Rc<[bool]>;

/// Positions of the barriers that order memory.
pub struct Order<'a> {
    pub graph: &'a Graph,
    pub flow: &'a Flow,
    block_of: &'a [BlockId],
    index_of: Vec<u32>,
    /// By block, position and group.
    barriers: Vec<Vec<(u32, Extent)>>,
    /// Those that bring the group together but order no memory, as shuffles and votes do.
    pub meetings: Vec<(InstId, Extent)>,
    /// By the block set out from, the group, and the loops gone round: blocks come to without a barrier.
    reached: RefCell<FxHashMap<(BlockId, Extent, Rounds), Reached>>,
    /// By loop and group: whether each trip passes a barrier.
    waiting: RefCell<FxHashMap<(usize, Extent), bool>>,
}

/// Which loops a way may go round.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
enum Rounds {
    All,
    /// Not this one, nor those round it: the way stays in one trip of them.
    Inside(usize),
}

/// Bytes of what is remembered of ways between blocks.
const MAX_REACHED: usize = 32 << 20;

/// The group whose threads a barrier brings together, for ordering memory.
fn scope(barrier: &Barrier) -> Extent {
    match &barrier.group {
        Group::Lanes { .. } | Group::Formed { .. } => Extent::WARP,
        Group::Tile { size } => Extent::of_size(*size),
        Group::Block | Group::Named { .. } | Group::Counted { .. } | Group::Object { .. } => Extent::BLOCK,
        Group::Cluster => Extent::CLUSTER,
        Group::Grid => Extent::GRID,
    }
}

impl<'a> Order<'a> {
    pub fn new(graph: &'a Graph, flow: &'a Flow, values: &'a Values, most_threads: u32) -> Order<'a> {
        let block_of = &values.block_of;
        let mut index_of = vec![0; graph.insts.len()];
        let mut barriers = vec![Vec::new(); graph.blocks.len()];
        let mut meetings = Vec::new();
        for block in &flow.order {
            for (index, inst) in graph.blocks[block.index()].insts.iter().enumerate() {
                index_of[inst.index()] = index as u32;
                if let Op::Barrier(barrier) = &graph.insts[inst.index()].op
                    && barrier.waits
                {
                    let scope = scope(barrier);
                    if !barrier.orders_memory {
                        meetings.push((*inst, scope));
                        continue;
                    }
                    let whole = scope.threads().is_some_and(|threads| threads >= most_threads);
                    barriers[block.index()].push((index as u32, if whole { Extent::BLOCK } else { scope }));
                }
            }
        }
        for entry in super::super::ticket::entries(graph, flow, values) {
            barriers[entry.index()].insert(0, (0, Extent::GRID));
        }
        Order {
            graph,
            flow,
            block_of,
            index_of,
            barriers,
            meetings,
            reached: RefCell::default(),
            waiting: RefCell::default(),
        }
    }

    pub fn block(&self, inst: InstId) -> BlockId {
        self.block_of[inst.index()]
    }

    /// Whether some way leads from one instruction to the other without a barrier of the group between; `round`
    /// says that ways into a further trip of a loop that holds both count.
    pub fn unordered(&self, from: InstId, to: InstId, group: Extent, round: bool) -> bool {
        let (start, end) = (self.block_of[from.index()], self.block_of[to.index()]);
        let (first, last) = (self.index_of[from.index()], self.index_of[to.index()]);
        if start == end && first < last && !self.barrier_between(start, first, last, group) {
            return true;
        }
        if !self.flow.runs(start) || !self.flow.runs(end) || self.barrier_between(start, first, u32::MAX, group) {
            return false;
        }
        let rounds = match self.flow.common_loop(start, end) {
            Some(index) if !round => Rounds::Inside(index),
            _ => Rounds::All,
        };
        !self.barrier_between(end, 0, last, group) && self.reached_from(start, group, rounds)[end.index()]
    }

    /// Whether some way leads from the start of a block to an instruction without a barrier of the group between.
    pub fn leads_to(&self, start: BlockId, to: InstId, group: Extent) -> bool {
        let end = self.block_of[to.index()];
        if self.barrier_between(end, 0, self.index_of[to.index()], group) {
            return false;
        }
        let passes = || !self.barrier_between(start, 0, u32::MAX, group);
        start == end || passes() && self.reached_from(start, group, Rounds::All)[end.index()]
    }

    /// Whether some way leads from one instruction round into a further trip of a loop and there to the other, without a
    /// barrier of the group between.
    pub fn goes_round(&self, index: usize, from: InstId, to: InstId, group: Extent) -> bool {
        let around = &self.flow.loops[index];
        let start = self.block_of[from.index()];
        if self.barrier_between(start, self.index_of[from.index()], u32::MAX, group) {
            return false;
        }
        let reached = self.reached_from(start, group, Rounds::All);
        let comes = |latch: &BlockId| {
            *latch == start || reached[latch.index()] && !self.barrier_between(*latch, 0, u32::MAX, group)
        };
        around.latches.iter().any(comes) && self.leads_to(around.header, to, group)
    }

    /// One instruction stands before the other on every way to that.
    pub fn precedes(&self, first: InstId, second: InstId) -> bool {
        let (block, other) = (self.block(first), self.block(second));
        match block == other {
            true => self.index_of[first.index()] < self.index_of[second.index()],
            false => self.flow.dominates(block, other),
        }
    }

    /// A barrier of the group stands in the block at a position from `low` up to `high`.
    pub fn barrier_between(&self, block: BlockId, low: u32, high: u32, group: Extent) -> bool {
        self.barriers[block.index()].iter().any(|(at, scope)| *at >= low && *at < high && *scope >= group)
    }

    /// Blocks that some way from the end of `start` leads to without a barrier of the group.
    fn reached_from(&self, start: BlockId, group: Extent, rounds: Rounds) -> Reached {
        if let Some(known) = self.reached.borrow().get(&(start, group, rounds)) {
            return known.clone();
        }
        let mut seen = vec![false; self.graph.blocks.len()];
        let mut work: Vec<(BlockId, BlockId)> =
            self.flow.successors[start.index()].iter().map(|to| (start, *to)).collect();
        // The way back to the head of a loop that holds where it began.
        let goes_round = |before: BlockId, block: BlockId| match rounds {
            Rounds::All => false,
            Rounds::Inside(index) => {
                self.flow.is_back_edge(before, block)
                    && self.flow.head_of[block.index()]
                        .is_none_or(|head| self.flow.in_loop(self.flow.loops[index].header, head))
            }
        };
        while let Some((before, block)) = work.pop() {
            if goes_round(before, block) || std::mem::replace(&mut seen[block.index()], true) {
                continue;
            }
            if !self.barriers[block.index()].iter().any(|(_, scope)| *scope >= group) {
                let entered = self.flow.head_of[block.index()]
                    .filter(|index| !self.flow.in_loop(before, *index) && self.each_trip_waits(*index, group));
                let onward = self.flow.successors[block.index()].iter();
                let stays = |to: &&BlockId| entered.is_none_or(|index| self.flow.in_loop(**to, index));
                work.extend(onward.filter(stays).map(|to| (block, *to)));
            }
        }
        let seen: Reached = seen.into();
        let mut reached = self.reached.borrow_mut();
        if reached.len() * seen.len() > MAX_REACHED {
            reached.clear();
        }
        reached.insert((start, group, rounds), seen.clone());
        seen
    }

    /// Every trip of a loop passes a barrier of the group. Such a loop is taken to make one trip at least, so that
    /// what stands before it is ordered before what stands behind it.
    pub fn each_trip_waits(&self, index: usize, group: Extent) -> bool {
        if let Some(known) = self.waiting.borrow().get(&(index, group)) {
            return *known;
        }
        // Two loops may each hold the head of the other, after jumps into the middle.
        self.waiting.borrow_mut().insert((index, group), false);
        let each = &self.flow.loops[index];
        let on_each_trip = |block: BlockId| each.latches.iter().all(|latch| self.flow.dominates(block, *latch));
        let waits = each.blocks.iter().any(|block| {
            let inner = self.flow.head_of[block.index()].filter(|inner| *inner != index);
            let waits = self.barriers[block.index()].iter().any(|(_, scope)| *scope >= group);
            on_each_trip(*block) && (waits || inner.is_some_and(|inner| self.each_trip_waits(inner, group)))
        });
        self.waiting.borrow_mut().insert((index, group), waits);
        waits
    }
}
