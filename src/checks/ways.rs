//! Ways of one thread between two accesses, followed with what the branches on them ask: some exclude each other.
//!
//! ```text
//!     if (count >= size) return;           // the read: whoever leaves here passes no barrier ...
//!     __syncwarp();
//!     ...
//!     if (count >= size) return;           // ... and leaves here, too, so that
//!     count += 32;                         // the write comes behind the barrier only
//! ```

use super::Check;
use super::conditions::flatten;
use crate::flow::Flow;
use crate::flow::control::Dependence;
use crate::graph::{BlockId, End, InstId, Op};
use crate::uniformity::extent::Extent;
use crate::uniformity::facts::Thread;
use crate::uniformity::symbols::{Leaf, Node, Operator, Symbol};
use rustc_hash::{FxHashMap, FxHashSet};

/// Blocks looked at between two accesses; beyond that some way is taken to lead there.
const MAX_STEPS: usize = 2_000;
/// How often one way comes by a block: on the first trip of a loop, and on any other.
const MAX_VISITS: usize = 2;
/// Depth of choices within choices that are looked into.
const MAX_DEPTH: usize = 8;

/// A sum of terms and a constant.
type Sum = (Vec<(Symbol, i64)>, i64);

/// What a branch says of a sum.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Fact {
    Negative(Sum, bool),
    Zero(Sum, bool),
}

/// A way as far as it has come.
#[derive(Clone)]
struct Way {
    at: BlockId,
    /// Of the instructions of the block those from here on are still to come.
    from: usize,
    known: Vec<Fact>,
    /// By address, the load that stands for all of it since the last write.
    loaded: FxHashMap<Symbol, Symbol>,
    /// By join, the block it was entered from.
    entered: FxHashMap<BlockId, BlockId>,
    /// Heads of loops whose first trip this is.
    first: Vec<BlockId>,
    visits: FxHashMap<BlockId, usize>,
    /// A loop that is not left on this trip, since each of its trips waits.
    kept_in: Option<usize>,
}

impl Way {
    fn beginning(at: BlockId, from: usize) -> Way {
        Way {
            at,
            from,
            known: Vec::new(),
            loaded: FxHashMap::default(),
            entered: FxHashMap::default(),
            first: Vec::new(),
            visits: FxHashMap::default(),
            kept_in: None,
        }
    }
}

pub struct Ways<'c, 'a> {
    check: &'c Check<'a>,
    /// Writes to what threads share.
    writes: FxHashSet<InstId>,
}

impl<'c, 'a> Ways<'c, 'a> {
    pub fn new(check: &'c Check<'a>) -> Ways<'c, 'a> {
        Ways { check, writes: check.analysed.values.writes.iter().map(|write| write.inst).collect() }
    }

    /// Some thread can go from one instruction to the other without a barrier of the group, as far as the branches on the
    /// way tell, where `holds` says what all threads know from the start; `round` lets it go on to further trips of loops
    /// that hold both.
    pub fn lead(&self, from: InstId, to: InstId, group: Extent, round: bool, holds: &[(Symbol, bool)]) -> bool {
        let (graph, flow) = (self.check.analysed.graph, &self.check.analysed.flow);
        let start = self.check.analysed.block(from);
        let insts = &graph.blocks[start.index()].insts;
        let position = insts.iter().position(|inst| *inst == from).unwrap_or(0);
        let mut first = Way::beginning(start, position);
        for inst in &insts[..position] {
            self.pass(&mut first, *inst);
        }
        self.learn(&mut first, holds);
        let common = flow.common_loop(start, self.check.analysed.block(to)).filter(|_| !round);
        let goes_round = |next: BlockId| {
            let around = |index: usize| {
                flow.in_loop(start, index)
                    && common.is_some_and(|common| flow.in_loop(flow.loops[common].header, index))
            };
            flow.head_of[next.index()].is_some_and(around)
        };
        from != to && self.follow(first, to, group, &goes_round)
    }

    /// Some thread that goes one way at a fork, whatever barriers it passes, comes to the instruction before it comes to
    /// `until`, as far as the branches tell, where `holds` at the fork.
    pub fn lead_on(&self, by: Dependence, to: InstId, until: Option<BlockId>, holds: &[(Symbol, bool)]) -> bool {
        let mut first = Way::beginning(by.fork, 0);
        self.learn(&mut first, holds);
        let is_end = |next: BlockId| Some(next) == until;
        !is_end(by.by)
            && self.step(&self.check.analysed.flow, &mut first, by.by, Extent::BEYOND_GRID)
            && self.follow(first, to, Extent::BEYOND_GRID, &is_end)
    }

    fn learn(&self, way: &mut Way, holds: &[(Symbol, bool)]) {
        let symbols = &self.check.analysed.values.symbols;
        for (on, value) in holds.iter().flat_map(|(on, value)| flatten(symbols, *on, *value, Operator::And)) {
            let fact = self.fact(way, on, value, 0);
            way.known.push(fact);
        }
    }

    /// Some way goes on to the instruction, and not into a block that is `closed`.
    fn follow(&self, first: Way, to: InstId, group: Extent, closed: &dyn Fn(BlockId) -> bool) -> bool {
        let (graph, flow) = (self.check.analysed.graph, &self.check.analysed.flow);
        let symbols = &self.check.analysed.values.symbols;
        let order = self.check.order();
        let mut steps = 0;
        let mut work = vec![first];
        while let Some(mut way) = work.pop() {
            steps += 1;
            if steps > MAX_STEPS {
                return true;
            }
            let block = &graph.blocks[way.at.index()];
            let mut held_back = block.insts.is_empty() && order.barrier_between(way.at, 0, 1, group);
            for (index, inst) in block.insts.iter().enumerate().skip(way.from) {
                if *inst == to {
                    return true;
                }
                held_back = order.barrier_between(way.at, index as u32, index as u32 + 1, group);
                if held_back {
                    break;
                }
                self.pass(&mut way, *inst);
            }
            if held_back {
                continue;
            }
            way.from = 0;
            let condition = self.check.analysed.values.condition[way.at.index()];
            let decided = condition.and_then(|on| self.decide(&way, on, 0));
            for next in flow.successors[way.at.index()].iter().copied() {
                let asked = match (&block.end, condition) {
                    (End::Branch { yes, no, .. }, Some(on)) if yes != no => Some((on, next == *yes)),
                    _ => None,
                };
                if asked.is_some_and(|(_, taken)| decided == Some(!taken))
                    || way.kept_in.is_some_and(|index| !flow.in_loop(next, index))
                    || closed(next)
                    || !order.leads_to(next, to, group)
                {
                    continue;
                }
                let mut onward = way.clone();
                for (on, taken) in asked.into_iter().flat_map(|(on, taken)| flatten(symbols, on, taken, Operator::And))
                {
                    let fact = self.fact(&onward, on, taken, 0);
                    onward.known.push(fact);
                }
                if self.step(flow, &mut onward, next, group) {
                    work.push(onward);
                }
            }
        }
        false
    }

    /// Moves on to the next block; false if the way has been there often enough.
    fn step(&self, flow: &Flow, way: &mut Way, next: BlockId, group: Extent) -> bool {
        let visits = way.visits.entry(next).or_default();
        *visits += 1;
        if *visits > MAX_VISITS {
            return false;
        }
        way.kept_in = None;
        if let Some(index) = flow.head_of[next.index()] {
            if flow.in_loop(way.at, index) {
                // What has been known on this trip need not hold on the next one.
                way.first.retain(|head| *head != next && !flow.in_loop(*head, index));
                way.known.retain_mut(|fact| self.on_next_trip(fact, next, index));
                way.loaded.retain(|_, load| self.stays(*load, index));
                way.entered.retain(|join, _| !flow.in_loop(*join, index));
            } else {
                way.first.push(next);
                if self.check.order().each_trip_waits(index, group) {
                    way.kept_in = Some(index);
                }
            }
        }
        way.entered.insert(next, way.at);
        way.at = next;
        true
    }

    fn stays(&self, symbol: Symbol, index: usize) -> bool {
        let memory = self.check.memory();
        self.check.analysed.values.symbols.all_leaves(symbol, |leaf| memory.stays(leaf, index))
    }

    /// A load stands for its address until something is written.
    fn pass(&self, way: &mut Way, inst: InstId) {
        if self.writes.contains(&inst) {
            way.loaded.clear();
            return;
        }
        let values = &self.check.analysed.values;
        let own = values.of[inst.index()];
        if matches!(self.check.analysed.graph.insts[inst.index()].op, Op::Load { .. })
            && let Some(load) = values.loads.get(&own)
        {
            way.loaded.entry(load.address).or_insert(own);
        }
    }

    fn fact(&self, way: &Way, on: Symbol, taken: bool, depth: usize) -> Fact {
        match *self.check.analysed.values.symbols.node(on) {
            Node::Not(inner) if depth < MAX_DEPTH => self.fact(way, inner, !taken, depth + 1),
            Node::Binary(Operator::Negative, of, _) => Fact::Negative(self.sum(way, of, depth), taken),
            Node::Binary(Operator::Zero, of, _) => Fact::Zero(self.sum(way, of, depth), taken),
            _ => Fact::Zero(self.sum(way, on, depth), !taken),
        }
    }

    /// The terms of a sum as they are on this way, sorted.
    fn sum(&self, way: &Way, symbol: Symbol, depth: usize) -> Sum {
        let symbols = &self.check.analysed.values.symbols;
        let (terms, mut constant) = symbols.terms(symbol);
        let mut all: FxHashMap<Symbol, i64> = FxHashMap::default();
        for (term, factor) in terms {
            let (parts, more) = self.term(way, term, depth);
            constant = constant.wrapping_add(more.wrapping_mul(factor));
            for (part, by) in parts {
                let total = all.entry(part).or_default();
                *total = total.wrapping_add(by.wrapping_mul(factor));
            }
        }
        let mut terms: Vec<(Symbol, i64)> = all.into_iter().filter(|(_, factor)| *factor != 0).collect();
        terms.sort();
        (terms, constant)
    }

    /// One term: a load by the one that stands for it, a value at a join by what this way brought, a choice by what is
    /// known of it.
    fn term(&self, way: &Way, term: Symbol, depth: usize) -> Sum {
        let values = &self.check.analysed.values;
        let alone = (vec![(self.standing(way, term), 1)], 0);
        if depth >= MAX_DEPTH {
            return alone;
        }
        match *values.symbols.node(term) {
            Node::Leaf(Leaf::Phi(block, _)) => {
                let brought = way
                    .entered
                    .get(&block)
                    .and_then(|from| values.phis.get(&term)?.incoming.iter().find(|(block, _)| block == from));
                match brought {
                    Some((_, slot)) if slot.value != term && !self.is_head(block) => {
                        self.sum(way, slot.value, depth + 1)
                    }
                    _ => alone,
                }
            }
            Node::Leaf(Leaf::Iteration(head)) if way.first.contains(&head) => (Vec::new(), 0),
            // A choice between values of the type that it is made: only where one of them is left is it that one.
            Node::Convert(_, inner) if matches!(values.symbols.node(inner), Node::Select(..)) => {
                match self.term(way, inner, depth + 1) {
                    (parts, 0) if matches!(parts[..], [(part, 1)] if values.loads.contains_key(&part)) => (parts, 0),
                    _ => alone,
                }
            }
            Node::Select(on, yes, no) => match self.decide(way, on, depth + 1) {
                Some(true) => self.sum(way, yes, depth + 1),
                Some(false) => self.sum(way, no, depth + 1),
                // `size ? size : 0`
                None => {
                    let [yes, no] = [yes, no].map(|side| self.sum(way, side, depth + 1));
                    let vanishes = |side: &Sum, of: &Sum| is_nothing(side) || side == of || is_minus(side, of);
                    let stands = |side: &Sum, of: &Sum| side == of || is_minus(side, of);
                    match self.fact(way, on, true, depth + 1) {
                        Fact::Zero(of, true) if vanishes(&yes, &of) && stands(&no, &of) => no,
                        Fact::Zero(of, false) if vanishes(&no, &of) && stands(&yes, &of) => yes,
                        _ => alone,
                    }
                }
            },
            _ => alone,
        }
    }

    fn is_head(&self, block: BlockId) -> bool {
        self.check.analysed.flow.head_of[block.index()].is_some()
    }

    fn standing(&self, way: &Way, symbol: Symbol) -> Symbol {
        let load = self.check.analysed.values.loads.get(&symbol);
        load.and_then(|load| way.loaded.get(&load.address)).copied().unwrap_or(symbol)
    }

    /// Whether a condition holds on this way, if that is known.
    fn decide(&self, way: &Way, on: Symbol, depth: usize) -> Option<bool> {
        let symbols = &self.check.analysed.values.symbols;
        if depth >= MAX_DEPTH {
            return None;
        }
        match *symbols.node(on) {
            Node::Not(inner) => return self.decide(way, inner, depth + 1).map(|holds| !holds),
            Node::Binary(operator @ (Operator::And | Operator::Or), a, b) => {
                let settles = operator == Operator::Or;
                let sides = [self.decide(way, a, depth + 1), self.decide(way, b, depth + 1)];
                return match sides {
                    [Some(side), _] | [_, Some(side)] if side == settles => Some(settles),
                    [Some(_), Some(_)] => Some(!settles),
                    _ => None,
                };
            }
            _ => {}
        }
        let on_first_trip =
            |leaf: Symbol| matches!(symbols.node(leaf), Node::Leaf(Leaf::Iteration(head)) if way.first.contains(head));
        let leaves = symbols.leaves(on);
        if !leaves.is_empty() && leaves.iter().all(|leaf| on_first_trip(*leaf)) {
            let any = Thread { rank: 0, x: 0, y: 0, z: 0 };
            return self.check.facts.value(on, &any, &|_| Some(0)).map(|value| value != 0);
        }
        let asked = self.fact(way, on, true, depth + 1);
        // Without terms it says so itself.
        match &asked {
            Fact::Negative((terms, constant), wanted) if terms.is_empty() => return Some((*constant < 0) == *wanted),
            Fact::Zero((terms, constant), wanted) if terms.is_empty() => return Some((*constant == 0) == *wanted),
            _ => {}
        }
        way.known.iter().find_map(|known| self.follows(known, &asked))
    }

    /// What one fact says of another: whether it holds, too.
    fn follows(&self, known: &Fact, asked: &Fact) -> Option<bool> {
        let (Fact::Negative(other, wanted) | Fact::Zero(other, wanted)) = asked;
        // From where to where the known sum goes.
        let (sum, low, high) = match known {
            Fact::Negative(sum, true) => (sum, None, Some(-1)),
            Fact::Negative(sum, false) => (sum, Some(0), None),
            Fact::Zero(sum, true) => (sum, Some(0), Some(0)),
            Fact::Zero(sum, false) => {
                let is_same = matches!(asked, Fact::Zero(..)) && (other == sum || is_minus(other, sum));
                return is_same.then_some(!*wanted);
            }
        };
        // The other sum is this one, or its negative, and something more.
        let range = |sign: i64| {
            let mut more = other.0.clone();
            more.extend(sum.0.iter().map(|(term, factor)| (*term, factor.wrapping_mul(-sign))));
            let more = self.check.facts.bounds_of_sum(more, other.1.wrapping_sub(sum.1.wrapping_mul(sign)));
            let (low, high) =
                if sign > 0 { (low, high) } else { (high.map(i64::wrapping_neg), low.map(i64::wrapping_neg)) };
            let low = low.filter(|_| more.low.abs() < LARGE).map(|low: i64| low + more.low);
            let high = high.filter(|_| more.high.abs() < LARGE).map(|high: i64| high + more.high);
            (low, high)
        };
        [1, -1].into_iter().map(range).find_map(|(low, high)| {
            let holds = match asked {
                Fact::Negative(..) if high.is_some_and(|high| high < 0) => true,
                Fact::Negative(..) if low.is_some_and(|low| low >= 0) => false,
                Fact::Zero(..) if (low, high) == (Some(0), Some(0)) => true,
                Fact::Zero(..) if low.is_some_and(|low| low > 0) || high.is_some_and(|high| high < 0) => false,
                _ => return None,
            };
            Some(holds == *wanted)
        })
    }

    /// What is known of a sum when a loop begins its next trip: its number is one more.
    fn on_next_trip(&self, fact: &mut Fact, head: BlockId, index: usize) -> bool {
        let symbols = &self.check.analysed.values.symbols;
        let (Fact::Negative((terms, constant), _) | Fact::Zero((terms, constant), _)) = fact;
        for (term, factor) in terms.iter() {
            if matches!(symbols.node(*term), Node::Leaf(Leaf::Iteration(at)) if *at == head) {
                *constant = constant.wrapping_sub(*factor);
            } else if !self.stays(*term, index) {
                return false;
            }
        }
        true
    }
}

/// Bounds beyond this are none.
const LARGE: i64 = 1 << 48;

fn is_nothing(sum: &Sum) -> bool {
    sum.0.is_empty() && sum.1 == 0
}

fn is_minus(one: &Sum, other: &Sum) -> bool {
    is_opposite(&one.0, &other.0) && one.1 == other.1.wrapping_neg()
}

fn is_opposite(one: &[(Symbol, i64)], other: &[(Symbol, i64)]) -> bool {
    one.len() == other.len() && one.iter().zip(other).all(|(x, y)| x.0 == y.0 && x.1 == y.1.wrapping_neg())
}
