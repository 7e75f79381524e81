//! One value for every instruction: walks the blocks in order until no value changes any more.
//!
//! Variables are followed by access path. Where ways with different values meet there is a `Phi`; at the head of a
//! loop a variable that goes up by the same step on each trip is `first + step * Iteration`, and one that comes back
//! unchanged is no phi at all. What leaves a loop and depends on its trips is `Left`.
//!
//! What it does not decide: how much a value agrees (`facts`, `solve`).

use super::Interest;
use super::facts::Facts;
use super::reread::{self, Rereads};
use super::shape::Shape;
use super::slice;
use super::state::{self, Found, KeyStep, Keys, Origin, Slot, State};
use super::symbols::{KeyId, Leaf, Node, Operator, Step, Symbol, Symbols, any_child};
use crate::flow::Flow;
use crate::graph::{BlockId, End, FrameId, Graph, Inst, InstId, ObjectId, ObjectKind, Op, Outcome, Source};
use crate::program::{BinaryOp, UnaryOp};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;

/// What a variable holds where ways meet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phi {
    pub block: BlockId,
    pub key: KeyId,
    pub incoming: Vec<(BlockId, Slot)>,
}

/// A read or write of memory that threads share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    pub inst: InstId,
    pub block: BlockId,
    pub address: Symbol,
    /// What is stored; `None` for atomics, copies, clobbers.
    pub value: Option<Symbol>,
}

/// All values of a graph.
#[derive(Debug)]
pub struct Values {
    pub symbols: Symbols,
    pub keys: Keys,
    /// By instruction.
    pub of: Vec<Symbol>,
    /// The condition of a block that ends in a branch, as a truth value; the selector of a switch.
    pub condition: Vec<Option<Symbol>>,
    pub phis: FxHashMap<Symbol, Phi>,
    /// Those of the pass before: what a loop's variables come to is only known when a pass ends.
    earlier_phis: FxHashMap<Symbol, Phi>,
    /// Loads and results whose agreement is that of these values.
    pub inputs: FxHashMap<Symbol, Vec<Symbol>>,
    /// Which write a load of a thread's own variable sees.
    pub seen: FxHashMap<InstId, Vec<Origin>>,
    pub loads: FxHashMap<Symbol, Access>,
    pub writes: Vec<Access>,
    /// Block of each instruction.
    pub block_of: Vec<BlockId>,
    /// A budget ran out before the values settled.
    pub unsettled: bool,
}

impl Values {
    /// Two calls of one function out of view, with the same object and arguments: that they give different values nothing
    /// says, whichever variant of it a template argument names.
    pub fn ask_the_same(&self, graph: &Graph, a: Symbol, b: Symbol) -> bool {
        let asked = |symbol: Symbol| match self.symbols.node(symbol) {
            Node::Leaf(Leaf::Result(inst)) => match &graph.insts[inst.index()].op {
                Op::Unknown { unseen: Some(name), .. } => Some((name, self.inputs.get(&symbol)?)),
                _ => None,
            },
            _ => None,
        };
        match (asked(a), asked(b)) {
            (Some(one), Some(other)) => one == other && one.1.len() > 1,
            _ => false,
        }
    }
}

/// Passes over one graph; values settle in a few, one or two more for each level of nested loops.
const MAX_PASSES: usize = 40;
/// Instructions executed for one graph, over all passes.
const MAX_STEPS: usize = 4_000_000;
/// Paths times blocks that one graph may have.
const MAX_STATE: usize = 80_000_000;
/// Slots of a ring that is told by following it.
const MAX_RING: i64 = 64;
/// Variables of a loop that hand on their values in a ring.
const MAX_TURNS: usize = 4;

#[derive(Clone, Debug, PartialEq, Eq)]
enum Form {
    /// Comes back as it was.
    Same,
    /// Goes up by this each trip.
    Linear(Symbol),
    /// Takes the first value and these in turn.
    Turns(Vec<Symbol>),
    /// `(first + n) % this`, however it is written
    Round(Symbol),
    /// `first << n`
    Doubling,
    /// None of these.
    Free,
}

struct Evaluator<'a> {
    graph: &'a Graph,
    flow: &'a Flow,
    shape: &'a Shape,
    values: Values,
    forms: FxHashMap<(BlockId, KeyId), Form>,
    failures: FxHashMap<(BlockId, KeyId), u8>,
    /// By instruction: whether it can bear on a barrier.
    matters: Vec<bool>,
    /// Objects written in each loop.
    written_in: Vec<FxHashSet<ObjectId>>,
    /// Bases of shared and global memory that anything writes, from the pass before.
    written: Option<FxHashSet<Symbol>>,
    /// By expression and loop; leaves are quicker asked anew.
    variant: FxHashMap<(Symbol, usize), bool>,
    out: Vec<Option<State>>,
    heads: Vec<Head>,
    lifetimes: Lifetimes,
    rereads: Rereads,
    /// Instructions left to execute, over all passes.
    steps: usize,
}

pub fn evaluate(graph: &Graph, flow: &Flow, shape: &Shape, interest: Interest) -> Values {
    let mut symbols = Symbols::new(graph.objects.iter().map(|object| object.dims.len().min(255) as u8).collect());
    if shape.block.is_none() && shape.multidimensional {
        symbols.recognise_rank();
    }
    let mut block_of = vec![BlockId(0); graph.insts.len()];
    for (index, block) in graph.blocks.iter().enumerate() {
        for inst in &block.insts {
            block_of[inst.index()] = BlockId(index as u32);
        }
    }
    let matters = match interest {
        Interest::Barriers => slice::slice(graph, flow, &[]),
        Interest::Values(asked) => slice::slice(graph, flow, asked),
        Interest::Everything => vec![true; graph.insts.len()],
    };
    let values = Values {
        symbols,
        keys: Keys::default(),
        of: vec![Symbols::ZERO; graph.insts.len()],
        condition: vec![None; graph.blocks.len()],
        phis: FxHashMap::default(),
        earlier_phis: FxHashMap::default(),
        inputs: FxHashMap::default(),
        seen: FxHashMap::default(),
        loads: FxHashMap::default(),
        writes: Vec::new(),
        block_of,
        unsettled: false,
    };
    let mut evaluator = Evaluator {
        graph,
        flow,
        shape,
        values,
        forms: FxHashMap::default(),
        failures: FxHashMap::default(),
        written_in: written_in(graph, flow, &matters),
        matters,
        written: None,
        variant: FxHashMap::default(),
        out: Vec::new(),
        heads: Vec::new(),
        lifetimes: Lifetimes::new(graph),
        rereads: Rereads::default(),
        steps: MAX_STEPS,
    };
    for pass in 0.. {
        evaluator.values.earlier_phis = std::mem::take(&mut evaluator.values.phis);
        let before = (evaluator.values.of.clone(), evaluator.written.clone());
        if !evaluator.pass() || pass >= MAX_PASSES {
            evaluator.values.unsettled = true;
            break;
        }
        let forms_changed = evaluator.close_loops();
        let written =
            evaluator.values.writes.iter().flat_map(|access| roots(&evaluator.values, access.address)).collect();
        evaluator.written = Some(written);
        let settled = before.0 == evaluator.values.of && before.1 == evaluator.written;
        if !forms_changed && settled && evaluator.values.earlier_phis == evaluator.values.phis {
            break;
        }
    }
    evaluator.values
}

/// Objects that each loop may write; a store through a pointer may hit any object whose address got away.
fn written_in(graph: &Graph, flow: &Flow, matters: &[bool]) -> Vec<FxHashSet<ObjectId>> {
    let escaped = slice::escaped(graph);
    let mut written = vec![FxHashSet::default(); flow.loops.len()];
    for block in &flow.order {
        let Some(innermost) = flow.loop_of[block.index()] else { continue };
        for inst in graph.blocks[block.index()].insts.iter().filter(|inst| matters[inst.index()]) {
            let Some(target) = slice::written(&graph.insts[inst.index()].op) else { continue };
            match slice::object_of(graph, target) {
                Some(object) => {
                    written[innermost].insert(object);
                }
                None => written[innermost].extend(escaped.iter().copied()),
            }
        }
    }
    // Inner loops stand behind the loops round them.
    for index in (0..flow.loops.len()).rev() {
        if let Some(parent) = flow.loops[index].parent {
            let inner = written[index].clone();
            written[parent].extend(inner);
        }
    }
    written
}

fn is_variant(
    symbols: &Symbols,
    flow: &Flow,
    block_of: &[BlockId],
    known: &mut FxHashMap<(Symbol, usize), bool>,
    symbol: Symbol,
    index: usize,
) -> bool {
    let node = symbols.node(symbol);
    let home = match node {
        Node::Int(_) | Node::Address(_) | Node::Leaf(Leaf::Source(_) | Leaf::Unset(_)) => return false,
        Node::Leaf(Leaf::Phi(block, _) | Leaf::Iteration(block)) => Some(*block),
        Node::Leaf(Leaf::Left(block, _)) => {
            let inner = flow.loop_of[block.index()];
            inner.and_then(|inner| flow.loops[inner].parent).map(|parent| flow.loops[parent].header)
        }
        Node::Leaf(Leaf::Load(inst) | Leaf::Result(inst) | Leaf::ActiveMask(inst) | Leaf::Mixed(inst, _)) => {
            Some(block_of[inst.index()])
        }
        _ => {
            if let Some(found) = known.get(&(symbol, index)) {
                return *found;
            }
            let result = any_child(node, |child| is_variant(symbols, flow, block_of, known, child, index));
            known.insert((symbol, index), result);
            return result;
        }
    };
    home.is_some_and(|home| flow.in_loop(home, index))
}

impl Values {
    fn phi(&self, symbol: Symbol) -> Option<&Phi> {
        self.phis.get(&symbol).or_else(|| self.earlier_phis.get(&symbol))
    }
}

/// The bases an address may start from: objects, and pointers from outside.
pub fn roots(values: &Values, address: Symbol) -> Vec<Symbol> {
    let mut found = Vec::new();
    let mut seen = FxHashSet::default();
    let mut work = VecDeque::from([address]);
    while let Some(at) = work.pop_front() {
        let base = values.symbols.base(at);
        if !seen.insert(base) || seen.len() > 64 {
            continue;
        }
        match values.symbols.node(base) {
            Node::Select(_, yes, no) => work.extend([*yes, *no]),
            Node::Leaf(Leaf::Left(_, inner)) => work.push_back(*inner),
            Node::Leaf(Leaf::Phi(..)) => match values.phi(base) {
                Some(phi) => work.extend(phi.incoming.iter().map(|(_, slot)| slot.value)),
                None => found.push(base),
            },
            Node::Sum { terms, .. } => match terms.iter().find(|(term, _)| is_address(&values.symbols, *term)) {
                Some((term, _)) => work.push_back(*term),
                None => found.push(base),
            },
            Node::Leaf(Leaf::Mixed(..) | Leaf::Load(_)) if values.inputs.contains_key(&base) => {
                work.extend(
                    values.inputs[&base].iter().copied().filter(|input| values.symbols.as_int(*input).is_none()),
                );
            }
            _ => found.push(base),
        }
    }
    found
}

fn is_address(symbols: &Symbols, symbol: Symbol) -> bool {
    matches!(symbols.node(symbol), Node::Address(_) | Node::Element(..) | Node::Member(..))
}

impl Evaluator<'_> {
    /// One walk over all blocks. False: over budget.
    fn pass(&mut self) -> bool {
        let flow = self.flow;
        self.values.phis.clear();
        self.values.inputs.clear();
        self.values.seen.clear();
        self.values.loads.clear();
        self.values.writes.clear();
        self.heads.clear();
        self.rereads = Rereads::default();
        self.out.clear();
        self.out.resize(self.graph.blocks.len(), None);
        let mut pending: Vec<usize> = flow.successors.iter().map(Vec::len).collect();
        for block in &flow.order {
            if self.values.keys.len() * flow.order.len() > MAX_STATE {
                return false;
            }
            let instructions = self.graph.blocks[block.index()].insts.len() + 1;
            let Some(left) = self.steps.checked_sub(instructions) else { return false };
            self.steps = left;
            let mut state = self.enter(*block);
            self.rereads.enter(flow, *block);
            for inst in &self.graph.blocks[block.index()].insts {
                if !self.matters[inst.index()] {
                    continue;
                }
                let symbol = self.execute(*inst, *block, &mut state);
                self.values.of[inst.index()] = symbol;
                if self.renews(*inst) {
                    self.rereads.forget();
                }
            }
            self.rereads.leave(*block);
            self.values.condition[block.index()] = match &self.graph.blocks[block.index()].end {
                End::Branch { on, .. } | End::Switch { on, .. } if !self.matters[on.index()] => None,
                End::Branch { on, .. } => {
                    let on = self.values.of[on.index()];
                    Some(self.values.symbols.truth(on))
                }
                End::Switch { on, .. } => Some(self.values.of[on.index()]),
                _ => None,
            };
            self.out[block.index()] = Some(state);
            // A state that all successors have taken in is not needed again, but for loop latches.
            for from in &flow.predecessors[block.index()] {
                let left = &mut pending[from.index()];
                *left = left.saturating_sub(1);
                if *left == 0 && !flow.successors[from.index()].iter().any(|to| flow.is_back_edge(*from, *to)) {
                    self.out[from.index()] = None;
                }
            }
        }
        true
    }

    /// What was read before may be another value behind this. Nobody else has a thread's own variables.
    fn renews(&self, inst: InstId) -> bool {
        let op = &self.graph.insts[inst.index()].op;
        let own = match op {
            Op::Store { address: to, .. } | Op::Copy { to, .. } => self.is_local(self.values.of[to.index()]),
            _ => false,
        };
        !own && reread::renews(op)
    }

    fn enter(&mut self, block: BlockId) -> State {
        let flow = self.flow;
        let forward: Vec<(BlockId, State)> = flow.predecessors[block.index()]
            .iter()
            .filter(|from| !flow.is_back_edge(**from, block))
            .filter_map(|from| Some((*from, self.along(*from, block)?)))
            .collect();
        let head = flow.head_of[block.index()];
        let mut state = match forward.as_slice() {
            [] => State::default(),
            [(_, only)] => only.clone(),
            _ => self.join(block, &forward),
        };
        if let Some(index) = head {
            self.open_loop(block, index, &mut state);
        }
        state
    }

    /// The state on an edge: what depends on the trips of a loop it leaves is wrapped.
    fn along(&mut self, from: BlockId, to: BlockId) -> Option<State> {
        let mut state = self.out[from.index()].clone()?;
        let mut at = self.flow.loop_of[from.index()];
        while let Some(index) = at {
            if self.flow.in_loop(to, index) {
                break;
            }
            let header = self.flow.loops[index].header;
            for key in state.keys().collect::<Vec<_>>() {
                let Some(slot) = state.get(key) else { continue };
                if !self.lives(key, to) {
                    state.set(key, None);
                } else if self.is_variant(slot.value, index) {
                    let value = self.left(header, index, slot.value);
                    state.set(key, Some(Slot { value, ..slot }));
                }
            }
            at = self.flow.loops[index].parent;
        }
        Some(state)
    }

    /// A value behind a loop: of a sum only what depends on the trips is wrapped, so that the rest still cancels.
    fn left(&mut self, header: BlockId, index: usize, value: Symbol) -> Symbol {
        let (terms, constant) = self.values.symbols.terms(value);
        let (inside, fixed): (Vec<_>, Vec<_>) = terms.into_iter().partition(|(term, _)| self.is_variant(*term, index));
        if fixed.is_empty() && constant == 0 {
            return self.values.symbols.leaf(Leaf::Left(header, value));
        }
        let inside = self.values.symbols.sum(inside, 0);
        let left = self.values.symbols.leaf(Leaf::Left(header, inside));
        let fixed = self.values.symbols.sum(fixed, constant);
        self.values.symbols.add(fixed, left)
    }

    /// The variable may still be read in a block.
    fn lives(&self, key: KeyId, block: BlockId) -> bool {
        let (object, _) = self.values.keys.path(key);
        self.lifetimes.reaches(self.graph.objects[object.index()].frame, self.graph.blocks[block.index()].frame)
    }

    /// Some aggregate that the path is a part of holds a value.
    fn is_part(&self, state: &State, key: KeyId) -> bool {
        let mut at = self.values.keys.above(key);
        while let Some(above) = at {
            if state.get(above).is_some() {
                return true;
            }
            at = self.values.keys.above(above);
        }
        false
    }

    /// The value may differ from trip to trip of a loop.
    fn is_variant(&mut self, symbol: Symbol, index: usize) -> bool {
        let Evaluator { flow, values, variant, .. } = self;
        is_variant(&values.symbols, flow, &values.block_of, variant, symbol, index)
    }

    fn join(&mut self, block: BlockId, states: &[(BlockId, State)]) -> State {
        let mut result = states[0].1.clone();
        let differing = State::differing(&states.iter().map(|(_, state)| state).collect::<Vec<_>>());
        if differing.is_empty() {
            return result;
        }
        let arms = self.arms(block, states);
        let mut slots: Vec<Option<Slot>> = Vec::with_capacity(states.len());
        for key in differing {
            slots.clear();
            slots.extend(states.iter().map(|(_, state)| state.get(key)));
            if slots.iter().all(|slot| slot.map(|slot| slot.value) == slots[0].map(|slot| slot.value)) {
                continue;
            }
            if !self.lives(key, block) {
                result.set(key, None);
                continue;
            }
            let slot = self.merge(block, key, states, &slots, arms.as_ref());
            result.set(key, slot);
        }
        result
    }

    fn merge(
        &mut self,
        block: BlockId,
        key: KeyId,
        states: &[(BlockId, State)],
        slots: &[Option<Slot>],
        arms: Option<&Arms>,
    ) -> Option<Slot> {
        let mut incoming: Vec<(BlockId, Slot)> = Vec::with_capacity(states.len());
        for ((from, state), slot) in states.iter().zip(slots) {
            let slot = match slot {
                Some(slot) => *slot,
                // Nothing was written on this way.
                None if !self.is_part(state, key) => {
                    Slot { value: self.values.symbols.leaf(Leaf::Unset(key)), origin: Origin::Inst(InstId(0)) }
                }
                // Part of an aggregate here, the whole of it there.
                None => {
                    let (object, path) = self.values.keys.path(key);
                    let path = path.to_vec();
                    match state::read(state, &mut self.values.keys, &mut self.values.symbols, object, &path) {
                        Found::Value(slot) => slot,
                        Found::OneOf(found) => found[0],
                        Found::Nothing(_) => continue,
                    }
                }
            };
            incoming.push((*from, slot));
        }
        let first = incoming.first()?.1;
        if incoming.iter().all(|(_, slot)| slot.value == first.value) {
            return Some(first);
        }
        if let Some(arms) = arms
            && incoming.len() == states.len()
            && let Some(value) = self.gate(arms, &incoming)
        {
            let symbol = self.values.symbols.leaf(Leaf::Phi(block, key));
            self.values.phis.insert(symbol, Phi { block, key, incoming });
            return Some(Slot { value, origin: Origin::Phi(symbol) });
        }
        let symbol = self.values.symbols.leaf(Leaf::Phi(block, key));
        self.values.phis.insert(symbol, Phi { block, key, incoming });
        Some(Slot { value: symbol, origin: Origin::Phi(symbol) })
    }

    /// Where the two ways of one branch meet: its condition, and the ways that each predecessor belongs to.
    fn arms(&self, block: BlockId, states: &[(BlockId, State)]) -> Option<Arms> {
        let fork = self.flow.immediate_dominator(block);
        let End::Branch { yes, no, .. } = &self.graph.blocks[fork.index()].end else { return None };
        let on = self.values.condition[fork.index()]?;
        let mut is_yes = Vec::with_capacity(states.len());
        for (from, _) in states {
            let by = |arm: BlockId| {
                if *from == fork { arm == block } else { arm != block && self.flow.dominates(arm, *from) }
            };
            match (by(*yes), by(*no)) {
                (true, false) => is_yes.push(true),
                (false, true) => is_yes.push(false),
                _ => return None,
            }
        }
        // The fork and the join must be in the same trip of every loop.
        (self.flow.loop_of[fork.index()] == self.flow.loop_of[block.index()]).then_some(Arms { on, is_yes })
    }

    fn gate(&mut self, arms: &Arms, incoming: &[(BlockId, Slot)]) -> Option<Symbol> {
        let of = |wanted: bool| {
            let mut values = arms
                .is_yes
                .iter()
                .zip(incoming)
                .filter(|(is_yes, _)| **is_yes == wanted)
                .map(|(_, (_, slot))| slot.value);
            let first = values.next()?;
            values.all(|value| value == first).then_some(first)
        };
        let (yes, no) = (of(true)?, of(false)?);
        Some(self.choice(arms.on, yes, no))
    }

    /// One of two values; of two answers to one question the first.
    fn choice(&mut self, on: Symbol, yes: Symbol, no: Symbol) -> Symbol {
        if self.values.ask_the_same(self.graph, yes, no) { yes } else { self.values.symbols.select(on, yes, no) }
    }

    fn open_loop(&mut self, block: BlockId, index: usize, state: &mut State) {
        let written = std::mem::take(&mut self.written_in[index]);
        let here = self.graph.blocks[block.index()].frame;
        for object in &written {
            if !self.lifetimes.encloses(self.graph.objects[object.index()].frame, here) {
                continue;
            }
            for key in self.values.keys.of(*object).to_vec() {
                let symbol = self.values.symbols.leaf(Leaf::Phi(block, key));
                let Some(first) = state.get(key).or_else(|| self.part(state, key)) else {
                    // A part of an aggregate that only the loop writes.
                    if !self.values.keys.path(key).1.is_empty() {
                        state.set(key, Some(Slot { value: symbol, origin: Origin::Phi(symbol) }));
                        self.heads.push(Head { block, key, first: None, value: symbol });
                    }
                    continue;
                };
                let value = match self.forms.get(&(block, key)) {
                    Some(Form::Same) => first.value,
                    Some(Form::Linear(step)) => {
                        let step = *step;
                        let trips = self.values.symbols.leaf(Leaf::Iteration(block));
                        let gone = self.values.symbols.mul(step, trips);
                        self.plus(first.value, gone)
                    }
                    Some(Form::Turns(others)) => {
                        let others = others.clone();
                        self.in_turn(block, first.value, &others)
                    }
                    Some(Form::Round(modulus)) => {
                        let modulus = *modulus;
                        let trips = self.values.symbols.leaf(Leaf::Iteration(block));
                        let sum = self.values.symbols.add(first.value, trips);
                        self.values.symbols.rem(sum, modulus)
                    }
                    Some(Form::Doubling) => {
                        let trips = self.values.symbols.leaf(Leaf::Iteration(block));
                        self.values.symbols.shl(first.value, trips)
                    }
                    _ => symbol,
                };
                state.set(
                    key,
                    Some(Slot { value, origin: if value == first.value { first.origin } else { Origin::Phi(symbol) } }),
                );
                self.heads.push(Head { block, key, first: Some(first), value });
            }
        }
        self.written_in[index] = written;
    }

    /// `first` on the first trip, then the others, then again from the start.
    fn in_turn(&mut self, header: BlockId, first: Symbol, others: &[Symbol]) -> Symbol {
        let symbols = &mut self.values.symbols;
        let trips = symbols.leaf(Leaf::Iteration(header));
        let period = symbols.int(others.len() as i64 + 1);
        let at = symbols.rem(trips, period);
        let mut value = first;
        for (other, trip) in others.iter().zip(1..) {
            let trip = symbols.int(trip);
            let on = if others.len() == 1 { at } else { symbols.equal(at, trip) };
            value = symbols.select(on, *other, value);
        }
        value
    }

    /// `t = a; a = b; b = t`: variables of a loop that hand on their values in a ring. By the value that each has at the
    /// loop's head, what it takes after its first one.
    fn rings(&mut self, heads: &[Head]) -> FxHashMap<Symbol, Vec<Symbol>> {
        let mut next: FxHashMap<Symbol, (Symbol, Symbol)> = FxHashMap::default();
        for Head { block, key, first, value } in heads {
            let Some(index) = self.flow.head_of[block.index()] else { continue };
            let latches = self.flow.loops[index].latches.iter();
            let mut backs =
                latches.filter_map(|latch| self.out[latch.index()].as_ref()?.get(*key)).map(|slot| slot.value);
            if let (Some(first), Some(back)) = (first, backs.next())
                && backs.all(|other| other == back)
                && !self.is_variant(first.value, index)
            {
                next.insert(*value, (first.value, back));
            }
        }
        let ring = |start: Symbol| {
            let mut others = Vec::new();
            let mut at = next[&start].1;
            while at != start && others.len() < MAX_TURNS {
                let (first, back) = next.get(&at)?;
                others.push(*first);
                at = *back;
            }
            (at == start && !others.is_empty()).then_some((start, others))
        };
        next.keys().filter_map(|start| ring(*start)).collect()
    }

    /// Part of an aggregate that was written as a whole.
    fn part(&mut self, state: &State, key: KeyId) -> Option<Slot> {
        if !self.is_part(state, key) {
            return None;
        }
        let (object, path) = self.values.keys.path(key);
        let path = path.to_vec();
        if path.contains(&KeyStep::Any) {
            return None;
        }
        match state::read(state, &mut self.values.keys, &mut self.values.symbols, object, &path) {
            Found::Value(slot) => Some(slot),
            _ => None,
        }
    }

    /// Adds, also to a pointer.
    fn plus(&mut self, value: Symbol, by: Symbol) -> Symbol {
        if is_address(&self.values.symbols, value) {
            self.values.symbols.element(value, by)
        } else {
            self.values.symbols.add(value, by)
        }
    }

    /// With the values at the latches known: what form each loop variable has. True: something changed.
    fn close_loops(&mut self) -> bool {
        let mut changed = false;
        let heads = std::mem::take(&mut self.heads);
        let rings = self.rings(&heads);
        for Head { block, key, first, value } in heads {
            let symbol = self.values.symbols.leaf(Leaf::Phi(block, key));
            let Some(index) = self.flow.head_of[block.index()] else { continue };
            let latches = self.flow.loops[index].latches.clone();
            // Ways that met here before the loop began share the phi.
            let mut incoming = match self.values.phis.remove(&symbol) {
                Some(phi) => phi.incoming,
                None => first.map(|first| (block, first)).into_iter().collect(),
            };
            let before = incoming.len();
            for latch in &latches {
                if let Some(slot) = self.out[latch.index()].as_ref().and_then(|state| state.get(key)) {
                    incoming.push((*latch, slot));
                }
            }
            let back = incoming.get(before).map(|(_, slot)| slot.value);
            let uniform_back = incoming[before..].iter().all(|(_, slot)| Some(slot.value) == back);
            let form = match (back, first) {
                (_, None) => Form::Free,
                (None, _) => Form::Same,
                (Some(_), Some(_)) if rings.contains_key(&value) => Form::Turns(rings[&value].clone()),
                (Some(back), Some(first)) if uniform_back => {
                    self.form(index, symbol, first.value, value, back, self.forms.get(&(block, key)).cloned())
                }
                _ => Form::Free,
            };
            self.steps = self.steps.saturating_sub(1);
            self.values.phis.insert(symbol, Phi { block, key, incoming });
            let old = self.forms.get(&(block, key));
            if old != Some(&form) {
                let failures = self.failures.entry((block, key)).or_insert(0);
                *failures += 1;
                let form = if *failures > 6 { Form::Free } else { form };
                if old != Some(&form) {
                    changed = true;
                    self.forms.insert((block, key), form);
                }
            }
        }
        changed
    }

    fn form(
        &mut self,
        index: usize,
        phi: Symbol,
        first: Symbol,
        value: Symbol,
        back: Symbol,
        old: Option<Form>,
    ) -> Form {
        if back == value || back == first {
            return match old {
                Some(Form::Turns(_) | Form::Linear(_) | Form::Round(_) | Form::Doubling)
                    if back == first && value != first =>
                {
                    self.guess(index, value, first, back)
                }
                _ => Form::Same,
            };
        }
        match old {
            // Holds with the form put in: the step is still the step.
            Some(Form::Turns(others)) if value != phi => {
                let symbols = &mut self.values.symbols;
                let trips = symbols.leaf(Leaf::Iteration(self.flow.loops[index].header));
                let mut comes_on = |trip: i64, wanted: Symbol| {
                    let with = FxHashMap::from_iter([(trips, symbols.int(trip))]);
                    symbols.replace(back, &with, &mut FxHashMap::default()) == wanted
                };
                let round = (0..).zip(others.iter().chain([&first]));
                let holds = round.fold(true, |holds, (trip, wanted)| holds && comes_on(trip, *wanted));
                if holds { Form::Turns(others) } else { Form::Free }
            }
            Some(Form::Round(modulus)) if value != phi => {
                let next = self.values.symbols.add_constant(value, 1);
                let next = self.values.symbols.rem(next, modulus);
                let trips = self.values.symbols.leaf(Leaf::Iteration(self.flow.loops[index].header));
                let sum = self.values.symbols.add(first, trips);
                let sum = self.values.symbols.add_constant(sum, 1);
                let direct = self.values.symbols.rem(sum, modulus);
                if back == next || back == direct || self.stays_round(trips, first, back, modulus) {
                    Form::Round(modulus)
                } else {
                    Form::Free
                }
            }
            Some(Form::Doubling) if value != phi => {
                if self.values.symbols.scale(value, 2) == back {
                    Form::Doubling
                } else {
                    Form::Free
                }
            }
            Some(Form::Free) => Form::Free,
            _ => self.guess(index, value, first, back),
        }
    }

    fn guess(&mut self, index: usize, value: Symbol, first: Symbol, back: Symbol) -> Form {
        let step = self.difference(back, value);
        if let Some(step) = step
            && !self.is_variant(step, index)
        {
            return Form::Linear(step);
        }
        // x = c - x, x ^= c: two values in turn.
        let with = FxHashMap::from_iter([(value, first)]);
        let second = self.values.symbols.replace(back, &with, &mut FxHashMap::default());
        if second != back && !self.is_variant(second, index) {
            let with = FxHashMap::from_iter([(value, second)]);
            let third = self.values.symbols.replace(back, &with, &mut FxHashMap::default());
            if third == first {
                return Form::Turns(vec![second]);
            }
        }
        // x = (x + 1) % c
        let next = self.values.symbols.add_constant(value, 1);
        for modulus in self.moduli(back) {
            let round = self.values.symbols.rem(next, modulus);
            let within = match (self.values.symbols.as_int(first), self.values.symbols.as_int(modulus)) {
                (Some(first), Some(modulus)) => (0..modulus).contains(&first),
                _ => false,
            };
            if round == back && within {
                return Form::Round(modulus);
            }
        }
        if self.values.symbols.scale(value, 2) == back {
            return Form::Doubling;
        }
        match self.ring(value, first, back) {
            Some(modulus) => Form::Round(modulus),
            None => Form::Free,
        }
    }

    /// `x == 2 ? 0 : x + 1` goes round in three: told by following it.
    fn ring(&mut self, value: Symbol, first: Symbol, back: Symbol) -> Option<Symbol> {
        let symbols = &mut self.values.symbols;
        let first = symbols.as_int(first).filter(|first| (0..MAX_RING).contains(first))?;
        let mut next = |at: i64| {
            let with = FxHashMap::from_iter([(value, symbols.int(at))]);
            let next = symbols.replace(back, &with, &mut FxHashMap::default());
            symbols.as_int(next)
        };
        let mut last = first;
        while next(last)? == last + 1 && last < MAX_RING {
            last += 1;
        }
        let modulus = last + 1;
        let round = (0..modulus).all(|at| next(at) == Some((at + 1) % modulus));
        round.then(|| self.values.symbols.int(modulus))
    }

    /// With `(first + n) % modulus` put in, the next value is that of the next trip.
    fn stays_round(&mut self, trips: Symbol, first: Symbol, back: Symbol, modulus: Symbol) -> bool {
        let symbols = &mut self.values.symbols;
        let (Some(first), Some(modulus)) = (symbols.as_int(first), symbols.as_int(modulus)) else { return false };
        // Twice round, so that what changes on one trip alone shows.
        modulus <= MAX_RING
            && (0..2 * modulus).all(|trip| {
                let with = FxHashMap::from_iter([(trips, symbols.int(trip))]);
                let next = symbols.replace(back, &with, &mut FxHashMap::default());
                symbols.as_int(next) == Some((first + trip + 1) % modulus)
            })
    }

    fn moduli(&self, symbol: Symbol) -> Vec<Symbol> {
        self.values
            .symbols
            .terms(symbol)
            .0
            .iter()
            .filter_map(|(term, _)| match self.values.symbols.node(*term) {
                Node::Binary(Operator::Div, _, by) => Some(*by),
                _ => None,
            })
            .collect()
    }

    /// `a - b`, also of two pointers into the same array.
    fn difference(&mut self, a: Symbol, b: Symbol) -> Option<Symbol> {
        let symbols = &mut self.values.symbols;
        match (symbols.node(a).clone(), symbols.node(b).clone()) {
            (Node::Element(x, i), Node::Element(y, j)) if x == y => Some(symbols.sub(i, j)),
            (Node::Element(x, i), _) if x == b => Some(i),
            (Node::Element(..) | Node::Member(..) | Node::Address(_), _) => None,
            _ if symbols.is_boolean(a) || symbols.is_boolean(b) => None,
            _ => Some(symbols.sub(a, b)),
        }
    }

    // ---------------------------------------------------------------- instructions

    fn execute(&mut self, id: InstId, block: BlockId, state: &mut State) -> Symbol {
        let graph = self.graph;
        let inst: &Inst = &graph.insts[id.index()];
        let at = |values: &Values, value: &InstId| values.of[value.index()];
        match &inst.op {
            Op::Int(value) => self.values.symbols.int(*value),
            Op::Unknown { from, unseen } => {
                let symbol = self.values.symbols.leaf(Leaf::Result(id));
                let inputs: Vec<Symbol> = from.iter().map(|value| at(&self.values, value)).collect();
                let _ = unseen;
                self.values.inputs.insert(symbol, inputs);
                symbol
            }
            Op::Pure { name, operands } => {
                let operands = operands.iter().map(|value| at(&self.values, value)).collect();
                self.values.symbols.pure(name.clone(), operands)
            }
            Op::Source(source) => {
                if let Source::Varying(_) = source {
                    return self.values.symbols.leaf(Leaf::Result(id));
                }
                self.shape.symbol(&mut self.values.symbols, source, id)
            }
            Op::Unary(operator, value) => {
                let value = at(&self.values, value);
                let symbols = &mut self.values.symbols;
                match operator {
                    UnaryOp::Plus | UnaryOp::Deref | UnaryOp::AddressOf => value,
                    UnaryOp::Minus => symbols.scale(value, -1),
                    UnaryOp::Not => {
                        let truth = symbols.truth(value);
                        symbols.not(truth)
                    }
                    UnaryOp::BitNot => symbols.bit_not(value),
                }
            }
            Op::Binary(operator, a, b) => {
                let is_signed = !matches!(graph.insts[a.index()].op, Op::Wrapped(_));
                let (a, b) = (at(&self.values, a), at(&self.values, b));
                match operator {
                    BinaryOp::Div | BinaryOp::Rem if is_signed => self.signed_division(*operator, a, b),
                    BinaryOp::Lt | BinaryOp::Gt | BinaryOp::Le | BinaryOp::Ge => self.comparison(*operator, a, b),
                    _ => self.binary(*operator, a, b),
                }
            }
            Op::Select { on, yes, no } => {
                let (on, yes, no) = (at(&self.values, on), at(&self.values, yes), at(&self.values, no));
                self.choice(on, yes, no)
            }
            Op::Min(a, b) => {
                let (a, b) = (at(&self.values, a), at(&self.values, b));
                self.values.symbols.extreme(Operator::Min, a, b)
            }
            Op::Max(a, b) => {
                let (a, b) = (at(&self.values, a), at(&self.values, b));
                self.values.symbols.extreme(Operator::Max, a, b)
            }
            Op::Convert { to, value } => {
                let value = at(&self.values, value);
                self.values.symbols.convert(*to, value)
            }
            Op::Wrapped(value) => {
                let value = at(&self.values, value);
                if self.is_seen_negative(value) { self.values.symbols.wrapped(value) } else { value }
            }
            Op::Address(object) => self.values.symbols.address(*object),
            Op::Element { base, index } => {
                let (base, index) = (at(&self.values, base), at(&self.values, index));
                self.values.symbols.element(base, index)
            }
            Op::Member { base, name } => {
                let base = at(&self.values, base);
                self.values.symbols.member(base, name.clone())
            }
            Op::Load { address, is_volatile, read_only } => {
                let address = at(&self.values, address);
                self.load(id, block, state, address, *is_volatile, *read_only)
            }
            Op::Store { address, value } => {
                let (address, value) = (at(&self.values, address), at(&self.values, value));
                self.store(id, block, state, address, Some(value));
                value
            }
            Op::Copy { to, from } => {
                let (to, from) = (at(&self.values, to), at(&self.values, from));
                self.copy(id, block, state, to, from);
                to
            }
            Op::Atomic { address, .. } => {
                let address = at(&self.values, address);
                let symbol = self.values.symbols.leaf(Leaf::Result(id));
                self.store_unknown(id, block, state, address, vec![symbol]);
                symbol
            }
            Op::Clobber { address, from } => {
                let address = at(&self.values, address);
                let inputs = from.iter().map(|value| at(&self.values, value)).collect();
                self.store_unknown(id, block, state, address, inputs);
                Symbols::ZERO
            }
            Op::Barrier(barrier) => {
                if barrier.result == Outcome::Nothing {
                    return Symbols::ZERO;
                }
                let symbol = self.values.symbols.leaf(Leaf::Result(id));
                let inputs = barrier.operands.iter().map(|value| at(&self.values, value)).collect();
                self.values.inputs.insert(symbol, inputs);
                symbol
            }
            Op::Coalesce => self.values.symbols.leaf(Leaf::Result(id)),
            Op::BarrierInit { .. } | Op::Nothing => Symbols::ZERO,
        }
    }

    /// `a / b` or `a % b`, which round towards zero: where the value is seen to be negative in some thread, or, of a
    /// remainder, where something unknown is taken off a thread index.
    fn signed_division(&mut self, operator: BinaryOp, a: Symbol, b: Symbol) -> Symbol {
        let symbols = &mut self.values.symbols;
        let Some(by) = symbols.as_int(b).filter(|by| *by != 0) else { return self.binary(operator, a, b) };
        let whole = symbols.int(by.saturating_abs());
        let is_remainder = operator == BinaryOp::Rem;
        let towards_zero =
            symbols.as_int(a).is_some_and(|a| a < 0) || self.is_seen_negative(a) || is_remainder && self.falls_below(a);
        let symbols = &mut self.values.symbols;
        match (is_remainder, towards_zero) {
            (true, true) => symbols.rem_towards_zero(a, whole),
            (true, false) => symbols.rem(a, whole),
            (false, _) => {
                let quotient = if towards_zero { symbols.div_towards_zero(a, whole) } else { symbols.div(a, whole) };
                symbols.scale(quotient, by.signum())
            }
        }
    }

    /// The thread index alone tells that the value is negative in some thread, whatever the block's shape.
    fn is_seen_negative(&self, value: Symbol) -> bool {
        let symbols = &self.values.symbols;
        let nothing = FxHashMap::default();
        let facts = Facts::new(symbols, self.shape, &nothing);
        let bounds = facts.bounds(value);
        if bounds.low >= 0 || !bounds.is_finite() {
            return false;
        }
        self.is_of_index(value) && facts.per_thread(value).is_none_or(|values| values.iter().any(|value| *value < 0))
    }

    /// Made of thread indices and numbers alone.
    fn is_of_index(&self, value: Symbol) -> bool {
        let symbols = &self.values.symbols;
        let leaves = symbols.leaves(value);
        let is_index = |leaf: &Symbol| {
            use Source::{Lane, ThreadIdx, ThreadRank, Warp};
            matches!(symbols.node(*leaf), Node::Leaf(Leaf::Source(ThreadIdx(_) | ThreadRank | Lane | Warp)))
        };
        !leaves.is_empty() && leaves.iter().all(is_index)
    }

    /// What is negative in some threads is compared by itself in these and in the others.
    fn comparison(&mut self, operator: BinaryOp, a: Symbol, b: Symbol) -> Symbol {
        let (Node::Select(on, yes, no), true) = (self.values.symbols.node(a).clone(), self.is_of_index(a)) else {
            let (Node::Select(on, yes, no), true) = (self.values.symbols.node(b).clone(), self.is_of_index(b)) else {
                return self.binary(operator, a, b);
            };
            let (yes, no) = (self.binary(operator, a, yes), self.binary(operator, a, no));
            return self.values.symbols.select(on, yes, no);
        };
        let (yes, no) = (self.comparison(operator, yes, b), self.comparison(operator, no, b));
        self.values.symbols.select(on, yes, no)
    }

    /// A thread index less something that may be larger.
    fn falls_below(&self, value: Symbol) -> bool {
        let symbols = &self.values.symbols;
        let (terms, _) = symbols.terms(value);
        let is_index = |term: Symbol| {
            matches!(symbols.node(term), Node::Leaf(Leaf::Source(Source::ThreadIdx(_) | Source::ThreadRank)))
        };
        let nothing = FxHashMap::default();
        let less =
            |(term, by): &(Symbol, i64)| *by < 0 && !matches!(symbols.node(*term), Node::Binary(Operator::Div, ..));
        terms.iter().any(|(term, by)| *by > 0 && is_index(*term))
            && terms.iter().any(less)
            && Facts::new(symbols, self.shape, &nothing).bounds(value).low < 0
    }

    fn binary(&mut self, operator: BinaryOp, a: Symbol, b: Symbol) -> Symbol {
        let leads_there = |root: &Symbol| roots(&self.values, b).contains(root);
        if operator == BinaryOp::Sub
            && is_address(&self.values.symbols, a)
            && roots(&self.values, a).iter().any(leads_there)
        {
            return self.values.symbols.sub(a, b);
        }
        let symbols = &mut self.values.symbols;
        match operator {
            BinaryOp::Add if is_address(symbols, a) => symbols.element(a, b),
            BinaryOp::Add if is_address(symbols, b) => symbols.element(b, a),
            BinaryOp::Add => symbols.add(a, b),
            BinaryOp::Sub if is_address(symbols, a) && !is_address(symbols, b) => {
                let back = symbols.scale(b, -1);
                symbols.element(a, back)
            }
            BinaryOp::Sub => symbols.sub(a, b),
            BinaryOp::Mul => symbols.mul(a, b),
            BinaryOp::Div => symbols.div(a, b),
            BinaryOp::Rem => symbols.rem(a, b),
            BinaryOp::Shl => symbols.shl(a, b),
            BinaryOp::Shr => symbols.shr(a, b),
            BinaryOp::BitAnd => symbols.bit_and(a, b),
            BinaryOp::BitOr => symbols.bit_or(a, b),
            BinaryOp::BitXor => symbols.bit_xor(a, b),
            BinaryOp::And => symbols.and(a, b),
            BinaryOp::Or => symbols.or(a, b),
            BinaryOp::Eq => symbols.equal(a, b),
            BinaryOp::Ne => {
                let equal = symbols.equal(a, b);
                symbols.not(equal)
            }
            BinaryOp::Lt => symbols.less(a, b),
            BinaryOp::Gt => symbols.less(b, a),
            BinaryOp::Le => {
                let above = symbols.less(b, a);
                symbols.not(above)
            }
            BinaryOp::Ge => {
                let below = symbols.less(a, b);
                symbols.not(below)
            }
        }
    }

    /// Where an address leads among the threads' own variables, and whether it surely leads there.
    fn targets(&self, address: Symbol) -> (Vec<(ObjectId, Vec<KeyStep>)>, bool) {
        let symbols = &self.values.symbols;
        let steps: Vec<Step> = symbols.steps(address);
        let base = symbols.base(address);
        if let Node::Address(object) = symbols.node(base) {
            if self.graph.objects[object.index()].kind != ObjectKind::Local {
                return (Vec::new(), true);
            }
            let path = state::path(symbols, &steps);
            let sure = !path.contains(&KeyStep::Any);
            return (vec![(*object, path)], sure);
        }
        let mut targets = Vec::new();
        let mut seen = FxHashSet::default();
        let mut work = vec![(base, steps)];
        while let Some((base, steps)) = work.pop() {
            if !seen.insert((base, steps.len())) || seen.len() > 64 {
                continue;
            }
            let inward = |inner: Symbol, work: &mut Vec<(Symbol, Vec<Step>)>| {
                let mut path = symbols.steps(inner);
                path.extend(steps.iter().cloned());
                work.push((symbols.base(inner), path));
            };
            match symbols.node(base) {
                Node::Address(object) if self.graph.objects[object.index()].kind == ObjectKind::Local => {
                    targets.push((*object, state::path(symbols, &steps)));
                }
                Node::Select(_, yes, no) => {
                    inward(*yes, &mut work);
                    inward(*no, &mut work);
                }
                Node::Leaf(Leaf::Left(_, inner)) => inward(*inner, &mut work),
                Node::Leaf(Leaf::Phi(..)) => {
                    for (_, slot) in self.values.phi(base).map(|phi| phi.incoming.as_slice()).unwrap_or(&[]) {
                        inward(slot.value, &mut work);
                    }
                }
                Node::Leaf(Leaf::Mixed(..) | Leaf::Load(_)) => {
                    for input in self.values.inputs.get(&base).map(Vec::as_slice).unwrap_or(&[]) {
                        inward(*input, &mut work);
                    }
                }
                _ => {}
            }
        }
        (targets, false)
    }

    fn is_local(&self, address: Symbol) -> bool {
        let base = self.values.symbols.base(address);
        matches!(self.values.symbols.node(base), Node::Address(object) if self.graph.objects[object.index()].kind == ObjectKind::Local)
    }

    fn load(
        &mut self,
        id: InstId,
        block: BlockId,
        state: &State,
        address: Symbol,
        is_volatile: bool,
        read_only: bool,
    ) -> Symbol {
        let (targets, _) = self.targets(address);
        if targets.is_empty() && !self.is_local(address) {
            return self.load_shared(id, block, address, is_volatile, read_only);
        }
        let mut found: Vec<Slot> = Vec::new();
        let mut single = targets.len() == 1;
        for (object, path) in &targets {
            match state::read(state, &mut self.values.keys, &mut self.values.symbols, *object, path) {
                Found::Value(slot) => found.push(slot),
                Found::OneOf(slots) => {
                    single = false;
                    found.extend(slots);
                }
                Found::Nothing(key) => {
                    let value = self.values.symbols.leaf(Leaf::Unset(key));
                    found.push(Slot { value, origin: Origin::Inst(id) });
                }
            }
        }
        let origins = found.iter().map(|slot| slot.origin).filter(|origin| *origin != Origin::Inst(id)).collect();
        self.values.seen.insert(id, origins);
        match found.as_slice() {
            [only] if single => only.value,
            _ => {
                let symbol = self.values.symbols.leaf(Leaf::Load(id));
                let mut inputs: Vec<Symbol> = found.iter().map(|slot| slot.value).collect();
                inputs.extend(self.computed(address));
                self.values.inputs.insert(symbol, inputs);
                symbol
            }
        }
    }

    /// What decides where an address leads: indices that are no numbers, and a base that is a choice.
    fn computed(&self, address: Symbol) -> Vec<Symbol> {
        let symbols = &self.values.symbols;
        let mut parts: Vec<Symbol> = symbols
            .steps(address)
            .into_iter()
            .filter_map(|step| if let Step::Index(index) = step { Some(index) } else { None })
            .collect();
        let base = symbols.base(address);
        if !matches!(symbols.node(base), Node::Address(_)) {
            parts.push(base);
        }
        parts
    }

    fn load_shared(
        &mut self,
        id: InstId,
        block: BlockId,
        address: Symbol,
        is_volatile: bool,
        read_only: bool,
    ) -> Symbol {
        let roots = roots(&self.values, address);
        let fixed = !is_volatile
            && (read_only
                || roots.iter().all(|root| self.never_written(*root)) && self.written.is_some()
                || roots.iter().all(|root| self.is_constant(*root)));
        if fixed {
            return self.values.symbols.pure("load".into(), vec![address]);
        }
        if let Some(known) = self.rereads.known(address).filter(|_| !is_volatile) {
            return known;
        }
        let symbol = self.values.symbols.leaf(Leaf::Load(id));
        self.values.loads.insert(symbol, Access { inst: id, block, address, value: None });
        if !is_volatile {
            self.rereads.note(address, symbol);
        }
        symbol
    }

    fn is_constant(&self, root: Symbol) -> bool {
        match self.values.symbols.node(root) {
            Node::Address(object) => self.graph.objects[object.index()].kind == ObjectKind::Constant,
            Node::Leaf(Leaf::Source(Source::Param { read_only, .. })) => *read_only,
            _ => false,
        }
    }

    fn never_written(&self, root: Symbol) -> bool {
        self.is_constant(root) || self.written.as_ref().is_some_and(|written| !written.contains(&root))
    }

    fn store(&mut self, id: InstId, block: BlockId, state: &mut State, address: Symbol, value: Option<Symbol>) {
        let (targets, sure) = self.targets(address);
        if !self.is_local(address) {
            self.values.writes.push(Access { inst: id, block, address, value });
        }
        let computed = self.computed(address);
        for (object, path) in targets {
            match value {
                Some(value) if sure => self.put(state, object, path, Slot { value, origin: Origin::Inst(id) }),
                _ => {
                    let mut inputs = computed.clone();
                    inputs.extend(value);
                    self.blur(id, state, object, path, inputs);
                }
            }
        }
    }

    /// A write of something unknown, that surely happens.
    fn store_unknown(&mut self, id: InstId, block: BlockId, state: &mut State, address: Symbol, inputs: Vec<Symbol>) {
        if !self.is_local(address) {
            self.values.writes.push(Access { inst: id, block, address, value: None });
        }
        let (targets, _) = self.targets(address);
        for (object, path) in targets {
            self.blur(id, state, object, path, inputs.clone());
        }
    }

    fn put(&mut self, state: &mut State, object: ObjectId, path: Vec<KeyStep>, slot: Slot) {
        let key = self.values.keys.intern(object, path);
        for part in self.values.keys.parts(key) {
            if state.get(part).is_some() {
                state.set(part, None);
            }
        }
        state.set(key, Some(slot));
    }

    /// Every path that may have been hit now holds its old value or something made of `inputs`.
    fn blur(&mut self, id: InstId, state: &mut State, object: ObjectId, path: Vec<KeyStep>, inputs: Vec<Symbol>) {
        let target = self.values.keys.intern(object, path.clone());
        let mut keys: Vec<KeyId> =
            state::below(state, &self.values.keys, object, &path).into_iter().map(|(key, _)| key).collect();
        if !keys.contains(&target) {
            keys.push(target);
        }
        for key in keys {
            let symbol = self.values.symbols.leaf(Leaf::Mixed(id, key));
            let mut all = inputs.clone();
            all.extend(state.get(key).map(|slot| slot.value).filter(|value| *value != symbol));
            self.values.inputs.insert(symbol, all);
            state.set(key, Some(Slot { value: symbol, origin: Origin::Inst(id) }));
        }
    }

    fn copy(&mut self, id: InstId, block: BlockId, state: &mut State, to: Symbol, from: Symbol) {
        if !self.is_local(to) {
            let value = self.load(id, block, state, from, false, false);
            self.store(id, block, state, to, Some(value));
            return;
        }
        let (sources, _) = self.targets(from);
        let (targets, sure) = self.targets(to);
        let ([(source, source_path)], [(target, target_path)], true) = (sources.as_slice(), targets.as_slice(), sure)
        else {
            let value = self.load(id, block, state, from, false, false);
            self.store(id, block, state, to, Some(value));
            return;
        };
        let origin = Origin::Inst(id);
        let parts: Vec<(Vec<KeyStep>, Slot)> = state::below(state, &self.values.keys, *source, source_path)
            .into_iter()
            .filter_map(|(key, rest)| Some((rest, state.get(key)?)))
            .collect();
        let whole = state::read(state, &mut self.values.keys, &mut self.values.symbols, *source, source_path);
        let origins: Vec<Origin> = parts.iter().map(|(_, slot)| slot.origin).collect();
        self.values.seen.insert(id, origins);
        match whole {
            Found::Value(slot) => {
                self.put(state, *target, target_path.clone(), Slot { value: slot.value, origin });
                self.values.seen.insert(id, vec![slot.origin]);
            }
            _ => {
                for (key, _) in state::below(state, &self.values.keys, *target, target_path) {
                    state.set(key, None);
                }
            }
        }
        for (rest, slot) in parts {
            if rest.is_empty() {
                continue;
            }
            let mut path = target_path.clone();
            path.extend(rest);
            path.truncate(state::MAX_STEPS);
            let key = self.values.keys.intern(*target, path);
            state.set(key, Some(Slot { value: slot.value, origin }));
        }
    }
}

/// Which frames are called from which, for telling where a variable may still be read.
struct Lifetimes {
    parent: Vec<Option<FrameId>>,
    interval: Vec<(u32, u32)>,
}

impl Lifetimes {
    fn new(graph: &Graph) -> Lifetimes {
        let parent: Vec<Option<FrameId>> =
            graph.frames.iter().map(|frame| frame.call.map(|(above, _)| above)).collect();
        let mut children = vec![Vec::new(); parent.len()];
        let mut stack = Vec::new();
        for (index, above) in parent.iter().enumerate() {
            match above {
                Some(above) => children[above.index()].push(index),
                None => stack.push((index, 0)),
            }
        }
        let mut interval = vec![(0, 0); parent.len()];
        let mut clock = 0;
        while let Some((frame, next)) = stack.last_mut() {
            if *next == 0 {
                interval[*frame].0 = clock;
            }
            clock += 1;
            if let Some(child) = children[*frame].get(*next) {
                *next += 1;
                stack.push((*child, 0));
            } else {
                interval[*frame].1 = clock;
                stack.pop();
            }
        }
        Lifetimes { parent, interval }
    }

    /// `outer` is `inner` or has called it, directly or not.
    fn encloses(&self, outer: FrameId, inner: FrameId) -> bool {
        let (outer, inner) = (self.interval[outer.index()], self.interval[inner.index()]);
        outer.0 <= inner.0 && inner.1 <= outer.1
    }

    /// A variable of frame `of` may be read in `here`: by it and what it calls, and its result by its caller.
    fn reaches(&self, of: FrameId, here: FrameId) -> bool {
        self.encloses(of, here) || self.parent[of.index()].is_some_and(|above| self.encloses(above, here))
    }
}

/// A loop variable at the head of its loop: what it holds on the first trip, and as a formula on any.
struct Head {
    block: BlockId,
    key: KeyId,
    first: Option<Slot>,
    value: Symbol,
}

struct Arms {
    on: Symbol,
    is_yes: Vec<bool>,
}
