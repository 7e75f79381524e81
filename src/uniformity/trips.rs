//! Two accesses in a loop: where each leads may hang on the trip, as with two buffers that are used in turn.

use super::evaluate::Access;
use super::extent::Extent;
use super::facts::{Facts, Thread};
use super::memory::Memory;
use super::places::{Same, may_be_one, places};
use super::symbols::{Leaf, Node, Symbol};
use crate::graph::BlockId;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::rc::Rc;

/// A way from one access to another that goes round a loop and passes no barrier.
pub struct Way {
    pub group: Extent,
    pub barrier: Extent,
    pub round: usize,
    pub early: BlockId,
    pub late: BlockId,
}

impl Memory<'_> {
    /// The same of two accesses: which of several variables each leads to may hang on the trip.
    pub fn may_meet_now(&self, facts: &Facts, group: Extent, a: &Access, b: &Access) -> bool {
        let mut same = |x, y, base| {
            self.may_be_equal(facts, group, x, y, base)
                && !self.lie_apart(facts, group, x, y)
                && !self.always_differ(facts, group, (a.block, b.block), x, y)
        };
        let turns = self.order.flow.common_loop(a.block, b.block).and_then(|index| self.chosen_by_trip(index, a, b));
        match turns {
            Some(index) => self.meet_on_trips(facts, index, (a, 0), (b, 0), &mut same),
            None => self.overlap(a.address, b.address, &mut same),
        }
    }

    /// Two indices of one trip hang on one number that all threads of the group share, and differ whatever it is: `l % 3` and
    /// `(l + 1) % 3`, `p` and `p ^ 1`.
    fn always_differ(&self, facts: &Facts, group: Extent, (a, b): (BlockId, BlockId), x: Symbol, y: Symbol) -> bool {
        let symbols = &self.values.symbols;
        let (of_x, of_y) = (symbols.leaves(x), symbols.leaves(y));
        let mut leaves = of_x.iter().chain(of_y.iter());
        let Some(leaf) = leaves.next().copied().filter(|first| leaves.all(|other| other == first)) else {
            return false;
        };
        // Both have it on the same trip of the loop that sets it.
        let set_at = match symbols.node(leaf) {
            Node::Leaf(Leaf::Phi(block, _) | Leaf::Iteration(block)) => Some(*block),
            Node::Leaf(Leaf::Load(inst)) => Some(self.order.block(*inst)),
            Node::Leaf(Leaf::Source(_)) => None,
            _ => return false,
        };
        let flow = self.order.flow;
        let holds_both = |index: usize| flow.in_loop(a, index) && flow.in_loop(b, index);
        let is_of_trip = set_at.and_then(|block| flow.loop_of[block.index()]).is_none_or(holds_both);
        let at = |symbol: Symbol, number: i64| {
            facts.value(symbol, &FIRST_THREAD, &|asked| (asked == leaf).then_some(number))
        };
        is_of_trip
            && facts.agreement(leaf).shown >= group
            && (0..TRIPS).all(|number| matches!((at(x, number), at(y, number)), (Some(x), Some(y)) if x != y))
    }

    /// Of a loop and those round it the first one on whose trip it hangs which variable one of two addresses leads to:
    /// `odd ? x : y`.
    fn chosen_by_trip(&self, index: usize, a: &Access, b: &Access) -> Option<usize> {
        let (of_a, of_b) = (self.choosing_loops(a.address), self.choosing_loops(b.address));
        if of_a.is_empty() && of_b.is_empty() {
            return None;
        }
        let loops = &self.order.flow.loops;
        let is_chosen = |index: &usize| of_a.contains(index) || of_b.contains(index);
        std::iter::successors(Some(index), |index| loops[*index].parent).find(is_chosen)
    }

    /// The loops on whose trip it hangs which variable an address leads to.
    fn choosing_loops(&self, address: Symbol) -> Rc<[usize]> {
        if let Some(known) = self.choosing.borrow().get(&address) {
            return known.clone();
        }
        let found = RefCell::new(Vec::new());
        let choose = |on: Symbol| {
            found.borrow_mut().extend(self.loop_of_trip(on));
            None
        };
        places(self.values, address, &choose);
        let found: Rc<[usize]> = found.into_inner().into();
        self.choosing.borrow_mut().insert(address, found.clone());
        found
    }

    /// The loop on whose trip, and on nothing else, a value hangs.
    fn loop_of_trip(&self, symbol: Symbol) -> Option<usize> {
        let symbols = &self.values.symbols;
        let mut header = None;
        let one_loop = symbols.all_leaves(symbol, |leaf| match symbols.node(leaf) {
            Node::Leaf(Leaf::Iteration(at)) => *header.get_or_insert(*at) == *at,
            _ => false,
        });
        self.order.flow.head_of[header.filter(|_| one_loop)?.index()]
    }

    fn hangs_on_trip(&self, index: usize, symbol: Symbol) -> bool {
        self.loop_of_trip(symbol) == Some(index)
    }

    /// Two addresses may be one on some trip of a loop, each so many trips later.
    fn meet_on_trips(
        &self,
        facts: &Facts,
        index: usize,
        (a, a_later): (&Access, i64),
        (b, b_later): (&Access, i64),
        same: &mut Same,
    ) -> bool {
        let on_trip = |trip: i64| {
            move |on: Symbol| {
                let value = || facts.value(on, &FIRST_THREAD, &|_| Some(trip));
                self.hangs_on_trip(index, on).then(value).flatten().map(|value| value != 0)
            }
        };
        (0..TRIPS).any(|trip| {
            let (choose_a, choose_b) = (on_trip(trip + a_later), on_trip(trip + b_later));
            let (here, there) = (places(self.values, a.address, &choose_a), places(self.values, b.address, &choose_b));
            may_be_one(&self.values.symbols, (a.address, here.as_deref()), (b.address, there.as_deref()), same)
        })
    }

    /// `late`, to which some way leads from `early` without a barrier, may come one trip of a common loop after it and meet
    /// it.
    pub fn may_meet_later(&self, facts: &Facts, group: Extent, barrier: Extent, early: &Access, late: &Access) -> bool {
        let flow = self.order.flow;
        let Some(index) = flow.common_loop(early.block, late.block) else {
            return self.may_meet(facts, group, early.address, late.address);
        };
        let mut rounds = std::iter::successors(Some(index), |index| flow.loops[*index].parent);
        let goes_round = |round: usize| self.order.goes_round(round, early.inst, late.inst, barrier);
        let way = |round: usize| Way { group, barrier, round, early: early.block, late: late.block };
        let Some(by) = self.chosen_by_trip(index, early, late) else {
            let meets = |round: usize| {
                let mut same = |x, y, base| self.same_after(facts, &way(round), x, y, base);
                self.overlap(early.address, late.address, &mut same)
            };
            return rounds.any(|round| goes_round(round) && meets(round));
        };
        let mut inside = false;
        for round in rounds {
            if goes_round(round) {
                let mut same = |x, y, base| self.same_after(facts, &way(round), x, y, base);
                let meets = match inside {
                    _ if by == round => self.meet_on_trips(facts, by, (early, 0), (late, 1), &mut same),
                    // The trips of a loop round this one stay as they are; those of one inside begin anew.
                    false => self.meet_on_trips(facts, by, (early, 0), (late, 0), &mut same),
                    true => self.overlap(early.address, late.address, &mut same),
                };
                if meets {
                    return true;
                }
            }
            inside |= by == round;
        }
        false
    }
}

impl Memory<'_> {
    /// Two indices may be one, the second on the next trip of the loop `round`: what goes by its own trips is one trip on, and a
    /// loop inside has gone some trips and begins anew.
    fn same_after(&self, facts: &Facts, way: &Way, x: Symbol, y: Symbol, base: Symbol) -> bool {
        let &Way { group, barrier, round, .. } = way;
        let symbols = &self.values.symbols;
        if let (Some(a), Some(b)) = (symbols.as_int(x), symbols.as_int(y)) {
            return a == b;
        }
        let flow = self.order.flow;
        let trips = [x, y].map(|symbol| self.loop_of_trip(symbol));
        let is_known = |symbol: Symbol, trip: Option<usize>| trip.is_some() || symbols.leaves(symbol).is_empty();
        let is_inside = |trip: &usize| *trip != round && flow.in_loop(flow.loops[*trip].header, round);
        let at = |symbol: Symbol, n: i64| facts.value(symbol, &FIRST_THREAD, &|_| Some(n));
        let differ = |n: i64, m: i64| matches!((at(x, n), at(y, m)), (Some(a), Some(b)) if a != b);
        let mut hanging = trips.iter().flatten().peekable();
        if hanging.peek().is_some() && is_known(x, trips[0]) && is_known(y, trips[1]) {
            // Alternating slots: the two differ on each trip, as far as their period goes.
            if hanging.clone().all(|trip| *trip == round) {
                return !(0..TRIPS).all(|n| differ(n, n + 1));
            }
            if hanging.all(is_inside) {
                return match trips {
                    // A barrier on each of its trips: what is not ordered is its last one, and its first.
                    [Some(one), Some(other)] if one == other && self.order.each_trip_waits(one, barrier) => {
                        !(1..TRIPS).all(|n| differ(n, 0))
                    }
                    _ => {
                        let cells = |symbol: Symbol| (0..TRIPS).map(|n| at(symbol, n)).collect::<Option<Vec<i64>>>();
                        let (Some(cells), Some(others)) = (cells(x), cells(y)) else { return true };
                        cells.iter().any(|cell| others.contains(cell))
                    }
                };
            }
        }
        if self.counts_on(facts, way, x, y) || self.lies_apart_always(facts, way, x, y) {
            return false;
        }
        let later = self.on_a_later_trip(facts, group, round, x, y);
        later.unwrap_or_else(|| self.may_be_equal(facts, group, x, y, base))
    }

    /// The bounds of their difference tell two indices apart that are the same on all trips.
    fn lies_apart_always(&self, facts: &Facts, way: &Way, x: Symbol, y: Symbol) -> bool {
        let symbols = &self.values.symbols;
        [x, y].into_iter().all(|index| symbols.all_leaves(index, |leaf| self.stays(leaf, way.round)))
            && self.lie_apart(facts, way.group, x, y)
    }

    /// Two indices that all of the group share, and that each trip of the loop moves on, as a row is by `row += gridDim.x`:
    /// whether `y` comes to be what `x` was on an earlier trip. `None`: cannot be told.
    fn on_a_later_trip(&self, facts: &Facts, group: Extent, round: usize, x: Symbol, y: Symbol) -> Option<bool> {
        let symbols = &self.values.symbols;
        if [x, y].iter().any(|index| facts.agreement(*index).shown < group) {
            return None;
        }
        let header = self.order.flow.loops[round].header;
        let is_trip = |leaf: &Symbol| matches!(symbols.node(*leaf), Node::Leaf(Leaf::Iteration(at)) if *at == header);
        // By product, its factor in `y` less that in `x`; and what one trip adds to `y`.
        let mut apart: FxHashMap<Vec<Symbol>, i64> = FxHashMap::default();
        let mut step: FxHashMap<Vec<Symbol>, i64> = FxHashMap::default();
        for (index, sign) in [(x, -1), (y, 1)] {
            for (term, factor) in symbols.terms(index).0 {
                let product = symbols.factors(term);
                let (trips, rest): (Vec<Symbol>, Vec<Symbol>) = product.iter().partition(|part| is_trip(part));
                if trips.len() > 1 || !rest.iter().all(|part| symbols.all_leaves(*part, |leaf| self.stays(leaf, round)))
                {
                    return None;
                }
                *apart.entry(product).or_default() += sign * factor;
                if index == y && trips.len() == 1 {
                    *step.entry(rest).or_default() += factor;
                }
            }
        }
        let constant = symbols.terms(y).1 - symbols.terms(x).1;
        if apart.values().all(|factor| *factor == 0) && !step.is_empty() {
            return self.meets_on_its_way(facts, &step, constant);
        }
        for (product, factor) in step {
            *apart.entry(product).or_default() += factor;
        }
        let constant = constant + apart.remove(&Vec::new()).unwrap_or_default();
        (constant == 0 && apart.values().all(|factor| *factor == 0)).then_some(true)
    }

    /// Whether so many steps, one at least, and the constant come to nothing.
    fn meets_on_its_way(&self, facts: &Facts, step: &FxHashMap<Vec<Symbol>, i64>, constant: i64) -> Option<bool> {
        let is_upward = |(product, factor): (&Vec<Symbol>, &i64)| {
            let known = product.iter().all(|part| facts.bounds(*part).low >= 0);
            known.then_some(*factor > 0)
        };
        // A loop that goes on by nothing has no end: no step is taken to be zero.
        if step.len() == 1 && constant == 0 {
            return Some(false);
        }
        if step.len() == 1
            && let Some(by) = step.get(&Vec::new())
            && constant % by != 0
        {
            return Some(false);
        }
        let mut ways = step.iter().map(is_upward);
        let up = ways.next()??;
        let one_way = ways.all(|way| way == Some(up)) && (constant == 0 || (constant > 0) == up);
        one_way.then_some(false)
    }

    /// The same on all trips of the loop.
    pub fn stays(&self, leaf: Symbol, round: usize) -> bool {
        let is_outside = |block: BlockId| !self.order.flow.in_loop(block, round);
        match self.values.symbols.node(leaf) {
            Node::Leaf(Leaf::Source(_) | Leaf::Unset(_)) => true,
            Node::Leaf(Leaf::Phi(block, _) | Leaf::Iteration(block) | Leaf::Left(block, _)) => is_outside(*block),
            Node::Leaf(Leaf::Load(inst) | Leaf::Result(inst)) => is_outside(self.order.block(*inst)),
            _ => false,
        }
    }
}

/// Trips that are looked at, one by one, of what comes back after some.
pub(super) const TRIPS: i64 = 64;
pub(super) const FIRST_THREAD: Thread = Thread { rank: 0, x: 0, y: 0, z: 0 };
