//! Which values of a graph agree over which group of threads, and why.
//!
//! ```text
//!   graph ──> flow ──> values (symbols) ──> conditions that never hold: their edges are dead, again from flow
//!                          └─> agreement of the leaves, lowered to a fixpoint ──> agreement of everything
//! ```

pub mod butterfly;
mod counters;
pub mod evaluate;
pub mod extent;
pub mod facts;
mod interned;
mod known;
mod layout;
pub mod memory;
mod passing;
mod places;
mod reread;
pub mod shape;
pub mod solve;
pub mod slice;
pub mod state;
pub mod symbols;
pub mod ticket;
mod trips;
pub mod turns;

use crate::flow::loops::Loop;
use crate::flow::{DeadEdges, Flow};
use crate::graph::{BlockId, End, Graph, InstId, Op, Value};
use evaluate::Values;
use extent::Agreement;
use facts::Facts;
use rustc_hash::FxHashMap;
use shape::Shape;
use solve::Solution;
use symbols::{Leaf, Node, Symbol, Symbols};

/// A graph with all that is known of it for one shape of the block.
pub struct Analysed<'a> {
    pub graph: &'a Graph,
    pub shape: Shape,
    pub flow: Flow,
    pub values: Values,
    pub solution: Solution,
}

/// Rounds of cutting dead edges off; each settles conditions that an earlier one laid bare.
const MAX_CUTS: usize = 8;

/// What is asked of an analysis.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Interest<'i> {
    /// What bears on barriers, which is little of most kernels.
    Barriers,
    /// Beside that, these values.
    Values(&'i [InstId]),
    /// Every fork.
    Everything,
}

pub fn analyse(graph: &Graph, shape: Shape) -> Analysed<'_> {
    analyse_for(graph, shape, Interest::Barriers)
}

/// Under what a launch tells of the block, and what the code itself does: that it uses one dimension only, or is written
/// for blocks of one width.
pub fn analyse_for<'a>(graph: &'a Graph, shape: Shape, interest: Interest) -> Analysed<'a> {
    let shape = Shape { multidimensional: shape.multidimensional && graph.multidimensional, ..shape };
    let Some(width) = graph.block_width().filter(|width| shape.may_be_as_wide(*width)) else {
        return analyse_in(graph, shape, interest);
    };
    let open = analyse_in(graph, shape.clone(), interest);
    if open.tells_threads_apart_at(width) { open } else { analyse_in(graph, shape.as_wide_as(width), interest) }
}

fn analyse_in<'a>(graph: &'a Graph, shape: Shape, interest: Interest) -> Analysed<'a> {
    let mut dead = DeadEdges::default();
    let mut rounds = 0;
    let (flow, mut values) = loop {
        let flow = Flow::new(graph, &dead);
        let mut values = evaluate::evaluate(graph, &flow, &shape, interest);
        known::put_in(graph, &flow, &mut values);
        rounds += 1;
        if rounds > MAX_CUTS || !cut(graph, &flow, &mut values, &shape, &mut dead) {
            break (flow, values);
        }
    };
    values.symbols.butterflies = butterfly::find(graph, &flow, &shape, &mut values);
    values.next_turn = turns::next_turn(graph, &flow, &mut values);
    let mut wanted = wanted(graph, &flow, &values);
    wanted.extend(values.next_turn.values());
    match interest {
        Interest::Barriers => {}
        Interest::Values(asked) => wanted.extend(asked.iter().map(|value| values.of[value.index()])),
        Interest::Everything => wanted.extend(values.condition.iter().flatten()),
    }
    let solution = solve::solve(graph, &flow, &shape, &values, &wanted);
    Analysed { graph, shape, flow, values, solution }
}

/// Adds the edges that no thread takes; true if there are any.
fn cut(graph: &Graph, flow: &Flow, values: &mut Values, shape: &Shape, dead: &mut DeadEdges) -> bool {
    let first_tests: Vec<(BlockId, Symbol)> =
        flow.loops.iter().filter_map(|each| Some((each.header, first_test(values, each)?))).collect();
    let nothing = FxHashMap::default();
    let facts = Facts::new(&values.symbols, shape, &nothing);
    let mut found = false;
    for block in &flow.order {
        let Some(on) = values.condition[block.index()] else { continue };
        match &graph.blocks[block.index()].end {
            End::Branch { yes, no, .. } if yes != no => {
                if let Some(holds) = facts.decide(on) {
                    let to = if holds { *no } else { *yes };
                    if !ends_counting(flow, values, on, *block, to) {
                        found |= dead.insert((*block, to));
                    }
                }
            }
            end @ End::Switch { cases, default, .. } => {
                let Some(taken) = labels_taken(values, &facts, on, cases, *default) else { continue };
                for to in end.successors().into_iter().filter(|to| !taken.contains(to)) {
                    found |= dead.insert((*block, to));
                }
            }
            _ => {}
        }
    }
    // A loop that its first test keeps out has no trips.
    for (header, test) in first_tests {
        let End::Branch { yes, no, .. } = &graph.blocks[header.index()].end else { continue };
        let Some(index) = flow.head_of[header.index()] else { continue };
        if let Some(holds) = facts.decide(test) {
            let (way, other) = if holds { (*yes, *no) } else { (*no, *yes) };
            if !flow.in_loop(way, index) && flow.in_loop(other, index) {
                found |= dead.insert((header, other));
            }
        }
    }
    found
}

/// The edge leaves a loop by its counter. One that never gets there goes round the end of its type:
/// `for (unsigned i = n - 1; i < n; --i)`.
fn ends_counting(flow: &Flow, values: &Values, on: Symbol, from: BlockId, to: BlockId) -> bool {
    let leaves = flow.loop_of[from.index()].is_some_and(|index| !flow.in_loop(to, index));
    let counts = |leaf: Symbol| matches!(values.symbols.node(leaf), Node::Leaf(Leaf::Iteration(_)));
    leaves && values.symbols.leaves(on).into_iter().any(counts)
}

/// Values of a switch that are tried one by one.
const MAX_VALUES: i64 = 256;

/// Where a switch may lead, if all values it may have are known: each thread's own, or those between its bounds.
fn labels_taken(
    values: &Values,
    facts: &Facts,
    on: Symbol,
    cases: &[(Value, BlockId)],
    default: BlockId,
) -> Option<Vec<BlockId>> {
    let symbols = &values.symbols;
    let labels: Vec<(i64, BlockId)> =
        cases.iter().map(|(case, to)| Some((symbols.as_int(values.of[case.index()])?, *to))).collect::<Option<_>>()?;
    let possible = facts.per_thread(on).or_else(|| {
        let bounds = facts.bounds(on);
        let is_narrow = bounds.is_finite() && bounds.high - bounds.low < MAX_VALUES;
        is_narrow.then(|| (bounds.low..=bounds.high).collect())
    })?;
    let target = |value: i64| labels.iter().find(|(label, _)| *label == value).map_or(default, |(_, to)| *to);
    let mut taken: Vec<BlockId> = possible.into_iter().map(target).collect();
    taken.sort();
    taken.dedup();
    Some(taken)
}

/// A loop's condition with what its variables hold at first.
fn first_test(values: &mut Values, each: &Loop) -> Option<Symbol> {
    let header = each.header;
    let on = values.condition[header.index()]?;
    let mut first = FxHashMap::default();
    first.insert(values.symbols.leaf(Leaf::Iteration(header)), Symbols::ZERO);
    for (symbol, phi) in values.phis.iter().filter(|(_, phi)| phi.block == header) {
        let mut entering = phi.incoming.iter().filter(|(from, _)| !each.latches.contains(from));
        if let (Some((_, slot)), None) = (entering.next(), entering.next()) {
            first.insert(*symbol, slot.value);
        }
    }
    Some(values.symbols.replace(on, &first, &mut FxHashMap::default()))
}

/// What the checks ask about: conditions that decide barriers, their masks, counts and operands.
fn wanted(graph: &Graph, flow: &Flow, values: &Values) -> Vec<Symbol> {
    let mut wanted = Vec::new();
    let mut forks = rustc_hash::FxHashSet::default();
    let mut guarded = Vec::new();
    for block in &flow.order {
        let mut holds_barrier = false;
        for inst in &graph.blocks[block.index()].insts {
            if let Op::Barrier(barrier) = &graph.insts[inst.index()].op {
                holds_barrier = true;
                wanted.extend(barrier_operands(barrier).map(|value| values.of[value.index()]));
            }
        }
        if holds_barrier {
            guarded.push(*block);
        }
    }
    while let Some(block) = guarded.pop() {
        let before = flow.control.direct(block).iter().map(|each| each.fork);
        guarded.extend(before.filter(|fork| forks.insert(*fork)));
    }
    wanted.extend(forks.into_iter().filter_map(|fork: BlockId| values.condition[fork.index()]));
    wanted
}

fn barrier_operands(barrier: &crate::graph::Barrier) -> impl Iterator<Item = InstId> {
    use crate::graph::{Group, Outcome};
    let of_group = match &barrier.group {
        Group::Lanes { mask } => *mask,
        Group::Counted { count, .. } => Some(*count),
        Group::Object { address } => Some(*address),
        _ => None,
    };
    let predicate = if let Outcome::Ballot(predicate) = &barrier.result { Some(*predicate) } else { None };
    of_group.into_iter().chain(predicate).chain(barrier.source_lane).chain(barrier.width)
}

impl Analysed<'_> {
    pub fn facts(&self) -> Facts<'_> {
        Facts::new(&self.values.symbols, &self.shape, &self.solution.leaves)
    }

    /// The threads of one part of the warp, which a mask or the making of a group stands for, go one way at a fork.
    pub fn agree_within(&self, part: Symbol, fork: BlockId) -> bool {
        let Some(on) = self.values.condition[fork.index()] else { return true };
        let solution =
            solve::solve_among(self.graph, &self.flow, &self.shape, &self.values, &[on], solve::Among::Part(part));
        let facts = Facts::new(&self.values.symbols, &self.shape, &solution.leaves);
        facts.agreement(on).shown >= extent::Extent::WARP
    }

    /// All warps of a group go one way at a fork, each warp as a whole: what they go by is worked out in each of them alike,
    /// from what lanes of one number have.
    pub fn warps_agree(&self, fork: BlockId, need: extent::Extent) -> bool {
        let Some(on) = self.values.condition[fork.index()] else { return true };
        // A last warp in part has not the lanes of the others.
        let in_part = self.shape.block.is_some_and(|[x, y, z]| x.saturating_mul(y).saturating_mul(z) % 32 != 0);
        if in_part {
            return false;
        }
        let among = solve::Among::SameLanes;
        let solution = solve::solve_among(self.graph, &self.flow, &self.shape, &self.values, &[on], among);
        let mut facts = Facts::new(&self.values.symbols, &self.shape, &solution.leaves);
        facts.same_lanes = true;
        facts.agreement(on).shown >= need
    }

    /// A condition on the thread index that holds for all threads below the width, or for none, and not for the next one:
    /// the code reckons with larger blocks.
    fn tells_threads_apart_at(&self, width: u32) -> bool {
        let (facts, width) = (self.facts(), width as usize);
        self.values.condition.iter().flatten().any(|condition| {
            facts.per_thread(*condition).is_some_and(|holds| {
                let first = holds[0] != 0;
                holds.get(width).is_some_and(|next| (*next != 0) != first)
                    && holds[..width].iter().all(|value| (*value != 0) == first)
            })
        })
    }

    pub fn symbol(&self, value: InstId) -> Symbol {
        self.values.of[value.index()]
    }

    pub fn block(&self, inst: InstId) -> BlockId {
        self.values.block_of[inst.index()]
    }

    /// How far threads at a fork agree on their way.
    pub fn fork(&self, facts: &Facts, block: BlockId) -> Agreement {
        solve::fork(self.graph, &self.values, facts, block)
    }

    /// Barriers that can run, in order.
    pub fn barriers(&self) -> impl Iterator<Item = InstId> + '_ {
        self.flow
            .order
            .iter()
            .flat_map(|block| &self.graph.blocks[block.index()].insts)
            .copied()
            .filter(|inst| matches!(self.graph.insts[inst.index()].op, Op::Barrier(_)))
    }

    /// Budgets that ran out: the answers for this graph may lack something.
    pub fn unsettled(&self) -> bool {
        self.values.unsettled || self.solution.unsettled || self.flow.control.overflow
    }
}
