//! One value for every instruction: walks the blocks in order until no value changes any more.
//!
//! Variables are followed by access path. Where ways with different values meet there is a `Phi`; at the head of a
//! loop a variable that goes up by the same step on each trip is `first + step * Iteration`, and one that comes back
//! unchanged is no phi at all. What leaves a loop and depends on its trips is `Left`.
//!
//! What it does not decide: how much a value agrees (`facts`, `solve`).

mod access;
mod arithmetic;
mod loops;

use super::Interest;
use super::facts::Facts;
use super::layout::Layout;
use super::reread::{self, Rereads};
use super::shape::Shape;
use super::slice;
use super::state::{self, Found, KeyStep, Keys, Origin, Slot, State};
use super::symbols::{KeyId, Leaf, Node, Operator, Step, Symbol, Symbols, any_child};
use crate::flow::Flow;
use crate::graph::{BlockId, End, FrameId, Graph, Inst, InstId, ObjectId, ObjectKind, Op, Outcome, Source};
use crate::program::{BinaryOp, UnaryOp};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

/// What a variable holds where ways meet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phi {
    pub block: BlockId,
    pub key: KeyId,
    pub incoming: Vec<(BlockId, Slot)>,
}

impl Phi {
    /// What each latch hands on to the next trip of a loop, if the ways meet at the head of one. It stands behind what
    /// enters, of which the head itself may be told to be the origin.
    pub fn handed_on<'p>(&'p self, flow: &'p Flow) -> impl Iterator<Item = Symbol> + 'p {
        let latches = flow.head_of[self.block.index()].map_or(&[][..], |index| &flow.loops[index].latches);
        let first = self.incoming.len().saturating_sub(latches.len());
        let back = self.incoming[first..].iter().filter(|(from, _)| latches.contains(from));
        back.map(|(_, slot)| slot.value)
    }
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
    /// Whether this pass asked for one of them.
    asks_earlier: Cell<bool>,
    /// Loads and results whose agreement is that of these values.
    pub inputs: FxHashMap<Symbol, Vec<Symbol>>,
    /// Which write a load of a thread's own variable sees.
    pub seen: FxHashMap<InstId, Vec<Origin>>,
    pub loads: FxHashMap<Symbol, Access>,
    pub writes: Vec<Access>,
    pub next_turn: super::turns::NextTurn,
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
    /// Starts at a thread index and moves on by what is made of none.
    Moving,
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
    /// Bases of which this pass asked whether anything writes them.
    asked: RefCell<FxHashSet<Symbol>>,
    /// By expression and loop; leaves are quicker asked anew.
    variant: FxHashMap<(Symbol, usize), bool>,
    /// By address, the path among the thread's own variables that it surely leads to.
    exact: Vec<Option<KeyId>>,
    out: Vec<Option<State>>,
    heads: Vec<Head>,
    lifetimes: Lifetimes,
    rereads: Rereads,
    /// Instructions left to execute, over all passes.
    steps: usize,
}

pub fn evaluate(graph: &Graph, flow: &Flow, shape: &Shape, interest: Interest) -> Values {
    let mut symbols = Symbols::new(Layout::of(graph));
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
        asks_earlier: Cell::default(),
        inputs: FxHashMap::default(),
        seen: FxHashMap::default(),
        loads: FxHashMap::default(),
        writes: Vec::new(),
        next_turn: FxHashMap::default(),
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
        asked: RefCell::default(),
        variant: FxHashMap::default(),
        exact: Vec::new(),
        out: Vec::new(),
        heads: Vec::new(),
        lifetimes: Lifetimes::new(graph),
        rereads: Rereads::default(),
        steps: MAX_STEPS,
    };
    // A pass goes by what the one before it left: the next would find the same if what this one asked for has not changed.
    for pass in 0.. {
        evaluator.values.earlier_phis = std::mem::take(&mut evaluator.values.phis);
        evaluator.values.asks_earlier.set(false);
        evaluator.asked.get_mut().clear();
        let keys = evaluator.values.keys.len();
        if !evaluator.pass() || pass >= MAX_PASSES {
            evaluator.values.unsettled = true;
            break;
        }
        let forms_changed = evaluator.close_loops();
        let values = &evaluator.values;
        let written = values.writes.iter().flat_map(|access| roots(values, access.address)).collect();
        let before = evaluator.written.replace(written);
        let is_free =
            |written: &Option<FxHashSet<Symbol>>, root| written.as_ref().is_some_and(|all| !all.contains(root));
        let same_memory =
            evaluator.asked.get_mut().iter().all(|root| is_free(&before, root) == is_free(&evaluator.written, root));
        let same_phis = !evaluator.values.asks_earlier.get() || evaluator.values.earlier_phis == evaluator.values.phis;
        let same_keys = flow.loops.is_empty() || evaluator.values.keys.len() == keys;
        if !forms_changed && same_memory && same_phis && same_keys {
            evaluator.values.earlier_phis.clear();
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

/// Whether a value may be another one on another trip of a loop.
pub fn is_variant(
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
        self.phis.get(&symbol).or_else(|| {
            self.asks_earlier.set(true);
            self.earlier_phis.get(&symbol)
        })
    }
}

/// The bases an address may start from: objects, and pointers from outside.
pub fn roots(values: &Values, address: Symbol) -> Vec<Symbol> {
    let mut found: Vec<Symbol> =
        buffers(values, address).into_iter().map(|buffer| values.symbols.base(buffer)).collect();
    found.dedup();
    found
}

/// The same, where pointers that an argument holds as members are told apart: `p.rows`, `p.sums`.
pub fn buffers(values: &Values, address: Symbol) -> Vec<Symbol> {
    let base = values.symbols.base(address);
    // A pointer that was null before it was set leads to no object then.
    let is_null = |base: Symbol| values.symbols.as_int(base) == Some(0);
    let leads_on = matches!(
        values.symbols.node(base),
        Node::Select(..)
            | Node::Sum { .. }
            | Node::Leaf(
                Leaf::Left(..) | Leaf::Phi(..) | Leaf::Mixed(..) | Leaf::Load(_) | Leaf::Source(Source::Param { .. })
            )
    );
    if !leads_on {
        return if is_null(base) { Vec::new() } else { vec![base] };
    }
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
            Node::Leaf(Leaf::Source(Source::Param { .. })) => found.push(member_of(&values.symbols, at)),
            _ if is_null(base) => {}
            _ => found.push(base),
        }
    }
    found
}

/// What the address leads through right behind its base, if that is a member.
fn member_of(symbols: &Symbols, mut address: Symbol) -> Symbol {
    let mut outermost = None;
    loop {
        match *symbols.node(address) {
            Node::Member(base, _) => {
                outermost = Some(address);
                address = base;
            }
            Node::Element(base, _) => {
                outermost = None;
                address = base;
            }
            _ => return outermost.unwrap_or(address),
        }
    }
}

/// Two buffers may be one: a part of an argument is part of the whole.
pub fn same_buffer(symbols: &Symbols, one: Symbol, other: Symbol) -> bool {
    one == other || symbols.base(one) == other || symbols.base(other) == one
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
            for key in (0..state.len()).map(|key| KeyId(key as u32)) {
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
                self.extreme(Operator::Min, a, b)
            }
            Op::Max(a, b) => {
                let (a, b) = (at(&self.values, a), at(&self.values, b));
                self.extreme(Operator::Max, a, b)
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
            Op::Clobber { address, from, .. } => {
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
            Op::Assume(value) => {
                let value = at(&self.values, value);
                self.values.symbols.truth(value)
            }
            Op::BarrierInit { .. } | Op::Nothing => Symbols::ZERO,
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
