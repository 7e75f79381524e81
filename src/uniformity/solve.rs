//! The agreement of what only the whole graph knows: values at joins, in and behind loops, loads, results.
//!
//! Everything starts at the top (all agree) and is lowered until nothing changes. A value at a join agrees no further
//! than the forks whose ways meet there; a value that leaves a loop no further than the threads agree on the trip
//! they leave at.

use super::evaluate::Values;
use super::extent::{Agreement, Extent};
use super::facts::Facts;
use super::memory::{Memory, Order, Race};
use super::passing::passed_on;
use super::shape::Shape;
use super::symbols::{Leaf, Node, Symbol};
use crate::flow::Flow;
use crate::graph::{BlockId, End, Graph, Group, InstId, Op, Outcome};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;

#[derive(Debug, Default)]
pub struct Solution {
    pub leaves: FxHashMap<Symbol, Agreement>,
    pub races: FxHashMap<Symbol, Race>,
    /// The rounds ran out.
    pub unsettled: bool,
}

/// A chain falls at most as often as there are extents; three of them each.
const MAX_ROUNDS: usize = 200;
/// Leaves that the first round takes in one by one.
const MAX_SINGLE: usize = 1_000_000;
/// Parts of a round.
const PARTS: usize = 32;

pub fn solve(graph: &Graph, flow: &Flow, shape: &Shape, values: &Values, wanted: &[Symbol]) -> Solution {
    solve_within(graph, flow, shape, values, wanted, None)
}

/// The same among the threads of a part of the warp only, which a mask or the making of a group stands for: they agree on
/// what the collectives of their part give.
pub fn solve_within(
    graph: &Graph,
    flow: &Flow,
    shape: &Shape,
    values: &Values,
    wanted: &[Symbol],
    part: Option<Symbol>,
) -> Solution {
    let order = Order::new(graph, flow, values, shape.most_threads());
    let memory = Memory::new(order, values);
    let mut structure = Structure {
        graph,
        flow,
        values,
        joins: RefCell::default(),
        control: RefCell::default(),
        passed_on: FxHashMap::default(),
        memory,
        part,
    };
    let mut leaves = structure.relevant(wanted);
    structure.passed_on = passed_on(values, flow, &leaves);
    let is_choice = |symbol: &&Symbol| matches!(values.symbols.node(**symbol), Node::Select(..));
    let choices: Vec<Symbol> = structure.passed_on.keys().filter(is_choice).copied().collect();
    leaves.extend(&choices);
    leaves.sort();
    let mut solution = Solution::default();
    solution.leaves.extend(choices.into_iter().map(|choice| (choice, Agreement::GRID)));
    // What comes later hangs on what came before: a part of a round is taken in before the next part is asked.
    let part = leaves.len().div_ceil(PARTS).max(1);
    for round in 0.. {
        let mut settled = true;
        // Whether a cell is the block's own hangs on how far its address agrees, which has to be known when the cell is
        // first asked: what falls once stays down. Leaves come in the order in which they were met.
        let part = if round == 0 && leaves.len() <= MAX_SINGLE { 1 } else { part };
        for some in leaves.chunks(part) {
            let facts = Facts::new(&values.symbols, shape, &solution.leaves);
            structure.control.borrow_mut().clear();
            let mut changed = Vec::new();
            for leaf in some {
                let old = solution.leaves.get(leaf).copied().unwrap_or(Agreement::GRID);
                let new = structure.agreement(&facts, *leaf, false).0.meet(old);
                if new != old {
                    changed.push((*leaf, new));
                }
            }
            settled &= changed.is_empty();
            solution.leaves.extend(changed);
        }
        solution.unsettled = !settled && (round > MAX_ROUNDS || structure.memory.gave_up());
        if settled || solution.unsettled {
            break;
        }
    }
    let facts = Facts::new(&values.symbols, shape, &solution.leaves);
    structure.control.borrow_mut().clear();
    let race = |leaf: &Symbol| Some((*leaf, structure.agreement(&facts, *leaf, true).1?));
    solution.races = leaves.iter().filter_map(race).collect();
    solution.unsettled |= structure.memory.gave_up();
    solution
}

/// How far the threads at a fork agree on the way they take.
pub fn fork(graph: &Graph, values: &Values, facts: &Facts, block: BlockId) -> Agreement {
    match (&graph.blocks[block.index()].end, values.condition[block.index()]) {
        (End::Branch { .. } | End::Switch { .. }, Some(on)) => facts.agreement(on),
        _ => Agreement::GRID,
    }
}

/// How far the threads agree on coming to a block at all.
pub fn control(graph: &Graph, flow: &Flow, values: &Values, facts: &Facts, block: BlockId) -> Agreement {
    flow.control
        .all(block)
        .iter()
        .map(|each| fork(graph, values, facts, each.fork))
        .fold(Agreement::GRID, Agreement::meet)
}

/// The group is one of the parts that another one was split into.
fn is_part(graph: &Graph, by: InstId) -> bool {
    matches!(&graph.insts[by.index()].op, Op::Barrier(barrier) if barrier.result == Outcome::Group)
}

struct Structure<'a> {
    graph: &'a Graph,
    flow: &'a Flow,
    values: &'a Values,
    joins: RefCell<FxHashMap<BlockId, std::rc::Rc<Vec<BlockId>>>>,
    /// By block, how far threads agree on coming there, as things stand.
    control: RefCell<FxHashMap<BlockId, Agreement>>,
    /// By value at a join, or choice, that is only another one, passed on: which.
    passed_on: FxHashMap<Symbol, Option<Symbol>>,
    memory: Memory<'a>,
    /// The part of the warp that is looked at, if it is not all of it.
    part: Option<Symbol>,
}

impl Structure<'_> {
    /// All leaves that the wanted symbols depend on, through joins, loops and memory.
    fn relevant(&self, wanted: &[Symbol]) -> Vec<Symbol> {
        let symbols = &self.values.symbols;
        let mut seen: FxHashSet<Symbol> = FxHashSet::default();
        let mut followed: FxHashSet<InstId> = FxHashSet::default();
        let mut found = Vec::new();
        let mut work: Vec<Symbol> = wanted.to_vec();
        let conditions = |blocks: &[BlockId], work: &mut Vec<Symbol>| {
            work.extend(blocks.iter().filter_map(|block| self.values.condition[block.index()]));
        };
        while let Some(symbol) = work.pop() {
            for leaf in symbols.leaves(symbol) {
                if !seen.insert(leaf) {
                    continue;
                }
                found.push(leaf);
                match symbols.node(leaf) {
                    Node::Leaf(Leaf::Phi(block, _)) => {
                        if let Some(phi) = self.values.phis.get(&leaf) {
                            work.extend(phi.incoming.iter().map(|(_, slot)| slot.value));
                        }
                        conditions(&self.forks_of_join(*block), &mut work);
                    }
                    Node::Leaf(Leaf::Left(header, inner)) => {
                        work.push(*inner);
                        conditions(&self.forks_of_exit(*header), &mut work);
                    }
                    Node::Leaf(Leaf::Opaque(inner)) => work.extend(inner.iter().copied()),
                    _ => {}
                }
                if let Some(inputs) = self.values.inputs.get(&leaf) {
                    work.extend(inputs.iter().copied());
                }
                if let Some(load) = self.values.loads.get(&leaf) {
                    work.push(load.address);
                    for write in self.memory.writes_to(load).into_iter().filter(|write| followed.insert(write.inst)) {
                        work.push(write.address);
                        work.extend(write.value);
                        let forks: Vec<BlockId> =
                            self.flow.control.all(write.block).iter().map(|each| each.fork).collect();
                        conditions(&forks, &mut work);
                    }
                }
                if let Node::Leaf(Leaf::Result(inst)) = symbols.node(leaf)
                    && let Op::Barrier(barrier) = &self.graph.insts[inst.index()].op
                {
                    work.extend(barrier.source_lane.map(|lane| self.values.of[lane.index()]));
                    work.extend(barrier.width.map(|width| self.values.of[width.index()]));
                    if let Group::Lanes { mask } = barrier.group {
                        work.extend(mask.map(|mask| self.values.of[mask.index()]));
                    }
                }
            }
        }
        found.sort();
        found
    }

    fn agreement(&self, facts: &Facts, leaf: Symbol, listed: bool) -> (Agreement, Option<Race>) {
        let all = |symbols: &[Symbol]| {
            symbols.iter().map(|each| facts.agreement(*each)).fold(Agreement::GRID, Agreement::meet)
        };
        let forks = |blocks: &[BlockId]| {
            blocks
                .iter()
                .map(|block| fork(self.graph, self.values, facts, *block))
                .fold(Agreement::GRID, Agreement::meet)
        };
        let inputs = self.values.inputs.get(&leaf).map(Vec::as_slice);
        if let Some(passed_on) = self.passed_on.get(&leaf) {
            return (passed_on.map_or(Agreement::GRID, |source| facts.agreement(source)), None);
        }
        let Node::Leaf(kind) = self.values.symbols.node(leaf) else { return (Agreement::GRID, None) };
        let result = match kind {
            Leaf::Phi(block, _) => {
                let Some(phi) = self.values.phis.get(&leaf) else { return (Agreement::GRID, None) };
                let incoming = phi.incoming.iter().map(|(_, slot)| slot.value).filter(|value| *value != leaf);
                let incoming = incoming.map(|value| facts.agreement(value)).fold(Agreement::GRID, Agreement::meet);
                incoming.meet(forks(&self.forks_of_join(*block)))
            }
            Leaf::Left(header, inner) => {
                let plain = facts.agreement(*inner).meet(forks(&self.forks_of_exit(*header)));
                plain.at_least(facts.symbols.butterflies.behind_loop(leaf))
            }
            Leaf::Load(_) => match (self.values.loads.get(&leaf), inputs) {
                (Some(load), _) => {
                    let control = |block: BlockId| {
                        let known = self.control.borrow().get(&block).copied();
                        known.unwrap_or_else(|| {
                            let found = control(self.graph, self.flow, self.values, facts, block);
                            self.control.borrow_mut().insert(block, found);
                            found
                        })
                    };
                    return self.memory.load(facts, load, &control, listed);
                }
                (None, Some(inputs)) => all(inputs),
                (None, None) => Agreement::GRID,
            },
            Leaf::Mixed(..) => all(inputs.unwrap_or(&[])),
            Leaf::Result(inst) => self.result(facts, *inst, inputs.unwrap_or(&[])),
            _ => Agreement::GRID,
        };
        (result, None)
    }

    fn result(&self, facts: &Facts, inst: InstId, inputs: &[Symbol]) -> Agreement {
        let operands = inputs.iter().map(|each| facts.agreement(*each)).fold(Agreement::GRID, Agreement::meet);
        match &self.graph.insts[inst.index()].op {
            Op::Unknown { unseen: Some(_), .. } => Agreement { hoped: Extent::GRID, ..operands },
            Op::Unknown { .. } => operands,
            Op::Coalesce => Agreement::of(Extent::WARP),
            Op::Barrier(barrier) => {
                let group = self.reach(facts, &barrier.group);
                match &barrier.result {
                    Outcome::Uniform | Outcome::Ballot(_) => operands.or(group),
                    Outcome::Shuffle => {
                        let width = barrier.width.map(|width| self.values.of[width.index()]);
                        let reach = match width {
                            // The lane that is read is one of the warp's, whichever the mask names.
                            None if matches!(barrier.group, Group::Lanes { .. }) => Agreement::of(Extent::WARP),
                            None => group,
                            Some(width) => match self.values.symbols.as_int(width) {
                                Some(width @ 1..=32) => Agreement::of(Extent::of_size(width as u32)),
                                _ => Agreement::THREAD,
                            },
                        };
                        let lane = barrier
                            .source_lane
                            .map_or(Agreement::GRID, |lane| facts.agreement(self.values.of[lane.index()]));
                        // Who reads the same lane gets the same.
                        operands.or(reach.meet(lane))
                    }
                    // A lane's own copy of what is the same in all lanes.
                    Outcome::PerThread
                        if matches!(barrier.group, Group::Lanes { .. } | Group::Tile { .. })
                            && barrier.name.contains("shfl") =>
                    {
                        if inputs.is_empty() {
                            Agreement::THREAD
                        } else {
                            operands
                        }
                    }
                    Outcome::Peers if !inputs.is_empty() && operands.shown >= Extent::WARP => operands,
                    Outcome::Nothing => Agreement::GRID,
                    _ => Agreement::THREAD,
                }
            }
            _ => Agreement::THREAD,
        }
    }

    /// Over whom a collective's answer is one: those who share a mask, or a part of a group.
    fn reach(&self, facts: &Facts, group: &Group) -> Agreement {
        let of = |value: InstId| self.values.of[value.index()];
        Agreement::of(match *group {
            Group::Lanes { mask: Some(mask) } if self.part != Some(of(mask)) => {
                return facts.agreement(of(mask)).at_most(Extent::WARP);
            }
            Group::Formed { by } if self.part != Some(of(by)) && is_part(self.graph, by) => Extent::THREAD,
            Group::Lanes { .. } | Group::Formed { .. } | Group::Counted { .. } => Extent::WARP,
            Group::Tile { size } => Extent::of_size(size),
            Group::Block | Group::Named { .. } | Group::Object { .. } => Extent::BLOCK,
            Group::Cluster => Extent::CLUSTER,
            Group::Grid => Extent::GRID,
        })
    }

    /// Forks whose ways come together at a block, in the same trip of the loops round it.
    fn forks_of_join(&self, block: BlockId) -> std::rc::Rc<Vec<BlockId>> {
        if let Some(found) = self.joins.borrow().get(&block) {
            return found.clone();
        }
        let flow = self.flow;
        let top = flow.immediate_dominator(block);
        let mut forks = FxHashSet::default();
        let mut work = Vec::new();
        let head = flow.head_of[block.index()].map(|index| &flow.loops[index]);
        let ways: Vec<BlockId> = match head {
            // At a loop's head: ways that meet at its end, if more than one leads back.
            Some(each) if each.latches.len() > 1 => each.latches.clone(),
            Some(_) => Vec::new(),
            None => flow.predecessors[block.index()].clone(),
        };
        for from in ways {
            if flow.successors[from.index()].len() > 1 && head.is_none() {
                forks.insert(from);
            }
            work.push(from);
        }
        let mut seen = FxHashSet::default();
        while let Some(at) = work.pop() {
            if !seen.insert(at) || at == top {
                continue;
            }
            for dependence in flow.control.direct(at) {
                let forward = flow.position[dependence.fork.index()] < flow.position[at.index()];
                let inside = match head {
                    Some(each) => flow.dominates(each.header, dependence.fork),
                    None => flow.dominates(top, dependence.fork),
                };
                if forward && inside && forks.insert(dependence.fork) {
                    work.push(dependence.fork);
                }
            }
        }
        let mut forks: Vec<BlockId> = forks.into_iter().collect();
        forks.sort();
        let forks = std::rc::Rc::new(forks);
        self.joins.borrow_mut().insert(block, forks.clone());
        forks
    }

    /// Forks that decide on which trip a thread leaves the loop of a head.
    fn forks_of_exit(&self, header: BlockId) -> Vec<BlockId> {
        let flow = self.flow;
        let Some(index) = flow.head_of[header.index()] else { return Vec::new() };
        let mut forks: Vec<BlockId> = Vec::new();
        let mut work: Vec<BlockId> = flow.loops[index].exits.iter().map(|(from, _)| *from).collect();
        let mut seen: FxHashSet<BlockId> = FxHashSet::default();
        while let Some(at) = work.pop() {
            if !seen.insert(at) {
                continue;
            }
            forks.push(at);
            work.extend(flow.control.direct(at).iter().map(|each| each.fork).filter(|fork| flow.in_loop(*fork, index)));
        }
        forks
    }
}
