//! Slots whose counter runs on through nested loops: `slot ^= 1` in a loop within a loop.
//!
//! The inner loop begins with what it left behind the time before, so that its trips are counted through. What such a counter
//! holds after one more trip is followed number by number.

use super::facts::Facts;
use super::memory::Memory;
use super::symbols::{Leaf, Node, Symbol};
use super::trips::{FIRST_THREAD, TRIPS, Way};

/// Heads and ends of loops that one value is followed through.
const MAX_TURNS: u32 = 32;
/// Numbers tried of each of two counters.
const FEW: i64 = 16;

/// The counters of loops, as they are at the early access.
struct Counters<'c> {
    memory: &'c Memory<'c>,
    facts: &'c Facts<'c>,
    way: &'c Way,
    now: &'c [(Symbol, i64)],
}

impl Memory<'_> {
    /// Two indices hang on counters of the loops round both accesses alone, and the second on the next trip is never the first:
    /// whatever the counters are.
    pub(super) fn counts_on(&self, facts: &Facts, way: &Way, x: Symbol, y: Symbol) -> bool {
        let (flow, symbols) = (self.order.flow, &self.values.symbols);
        let mut counters = symbols.leaves(x);
        counters.extend(symbols.leaves(y));
        counters.sort_unstable();
        counters.dedup();
        let is_counter = |leaf: &Symbol| match symbols.node(*leaf) {
            Node::Leaf(Leaf::Phi(header, _) | Leaf::Iteration(header)) => {
                let around = flow.head_of[header.index()];
                let holds = |index: usize| flow.in_loop(way.early, index) && flow.in_loop(way.late, index);
                around.is_some_and(holds) && facts.agreement(*leaf).shown >= way.group
            }
            _ => false,
        };
        if counters.is_empty() || counters.len() > 2 || !counters.iter().all(is_counter) {
            return false;
        }
        // Without a barrier on each trip it may be more than one trip later.
        let innermost = flow.common_loop(way.early, way.late);
        if !innermost.is_some_and(|index| self.order.each_trip_waits(index, way.barrier)) {
            return false;
        }
        let differs = |now: &[(Symbol, i64)]| {
            let counters = Counters { memory: self, facts, way, now };
            let here = counters.value(x, &|leaf| counters.at_once(leaf));
            let there = counters.value(y, &|leaf| counters.later(leaf, MAX_TURNS));
            matches!((here, there), (Some(here), Some(there)) if here != there)
        };
        match counters[..] {
            [only] => (0..TRIPS).all(|number| differs(&[(only, number)])),
            [one, other] => (0..FEW).all(|a| (0..FEW).all(|b| differs(&[(one, a), (other, b)]))),
            _ => false,
        }
    }
}

impl Counters<'_> {
    fn value(&self, symbol: Symbol, given: &dyn Fn(Symbol) -> Option<i64>) -> Option<i64> {
        self.facts.value(symbol, &FIRST_THREAD, given)
    }

    fn at_once(&self, leaf: Symbol) -> Option<i64> {
        self.now.iter().find(|(known, _)| *known == leaf).map(|(_, number)| *number)
    }

    /// The loop at whose head a leaf is set.
    fn set_by(&self, leaf: Symbol) -> Option<usize> {
        match self.memory.values.symbols.node(leaf) {
            Node::Leaf(Leaf::Phi(header, _) | Leaf::Iteration(header)) => {
                self.memory.order.flow.head_of[header.index()]
            }
            _ => None,
        }
    }

    fn is_inside(&self, inner: usize, outer: usize) -> bool {
        let flow = self.memory.order.flow;
        inner != outer && flow.in_loop(flow.loops[inner].header, outer)
    }

    /// At the late access: loops inside the one that goes round begin anew.
    fn later(&self, leaf: Symbol, turns: u32) -> Option<i64> {
        let turns = turns.checked_sub(1)?;
        let by = self.set_by(leaf)?;
        if !self.is_inside(by, self.way.round) {
            return self.behind(leaf, self.way.round, true, turns);
        }
        if self.is_trip(leaf) {
            return Some(0);
        }
        let flow = self.memory.order.flow;
        let phi = self.memory.values.phis.get(&leaf)?;
        // What enters stands before what the latches hand on.
        match phi.incoming[..] {
            [(_, first), ..] if phi.incoming.len() == 1 + flow.loops[by].latches.len() => {
                self.value(first.value, &|leaf| self.later(leaf, turns))
            }
            _ => None,
        }
    }

    /// Behind the early access, in the same trip of a loop round it or at the head of the next.
    fn behind(&self, leaf: Symbol, around: usize, next: bool, turns: u32) -> Option<i64> {
        let turns = turns.checked_sub(1)?;
        let flow = self.memory.order.flow;
        if let Node::Leaf(Leaf::Left(header, inner)) = *self.memory.values.symbols.node(leaf) {
            let left = flow.head_of[header.index()]?;
            if next || !self.is_inside(left, around) || !flow.in_loop(self.way.early, left) {
                return None;
            }
            let at_next = self.is_left_on_next_trip(left)?;
            return self.value(inner, &|leaf| self.behind(leaf, left, at_next, turns));
        }
        let by = self.set_by(leaf)?;
        if by != around {
            return self.is_inside(around, by).then(|| self.at_once(leaf))?;
        }
        match next {
            false => self.at_once(leaf),
            true if self.is_trip(leaf) => Some(self.at_once(leaf)? + 1),
            true => {
                let mut back = self.memory.values.phis.get(&leaf)?.handed_on(flow);
                let value = back.next().filter(|value| back.all(|other| other == *value))?;
                self.value(value, &|leaf| self.behind(leaf, around, false, turns))
            }
        }
    }

    fn is_trip(&self, leaf: Symbol) -> bool {
        matches!(self.memory.values.symbols.node(leaf), Node::Leaf(Leaf::Iteration(_)))
    }

    /// Whoever leaves the loop after the early access does so at the beginning of the next trip, or at the end of the same;
    /// `None` where that is not plain.
    fn is_left_on_next_trip(&self, index: usize) -> Option<bool> {
        let (flow, early) = (self.memory.order.flow, self.way.early);
        let exits = || flow.loops[index].exits.iter().map(|(from, _)| *from);
        if exits().all(|from| flow.dominates(early, from)) {
            return Some(false);
        }
        exits().all(|from| from != early && flow.dominates(from, early)).then_some(true)
    }
}
