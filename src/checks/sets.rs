//! Masks as sets of lanes: put together from votes, numbers, complements and unions, and compared with who comes.
//!
//! A set is a formula over what holds in a lane. It is compared with the conditions that guard a primitive by trying
//! out every way in which these may hold together.

mod carried;

use super::conditions::{condition, flatten};
use super::{Check, counted, lanes};
use crate::flow::control::Dependence;
use crate::graph::{BlockId, End, Exit, Group, InstId, Op, Outcome};
use crate::uniformity::extent::Extent;
use crate::uniformity::facts::Thread;
use crate::uniformity::symbols::{Leaf, Node, Operator, Symbol};
use rustc_hash::FxHashMap;

const ALL: i64 = u32::MAX as i64;

/// How a mask fits those who come.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Fit {
    Exact,
    /// Some lane comes with a mask that leaves it out.
    LeavesOut,
    /// Some lane comes with a mask that names one that does not come.
    NamesMore,
    /// Some lane comes with a mask that names one whose own mask does not name it.
    Differs,
}

impl Fit {
    pub fn text(self) -> &'static str {
        match self {
            Fit::Exact => "the mask names the lanes that come here",
            Fit::LeavesOut => "lanes call this that their own mask leaves out",
            Fit::NamesMore => "the mask names lanes that do not come here",
            Fit::Differs => super::lanes::DIFFERENT,
        }
    }
}

/// Who is spoken of: whose mask it is, or who is named in it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Side {
    Caller,
    Named,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Formula {
    Always(bool),
    /// An atom, by its number.
    Atom(usize, Side),
    Not(Box<Formula>),
    And(Box<Formula>, Box<Formula>),
    Or(Box<Formula>, Box<Formula>),
    Xor(Box<Formula>, Box<Formula>),
}

use Formula::{Always, And, Or, Xor};

fn not(formula: Formula) -> Formula {
    match formula {
        Always(value) => Always(!value),
        Formula::Not(inner) => *inner,
        other => Formula::Not(Box::new(other)),
    }
}

fn and(a: Formula, b: Formula) -> Formula {
    match (a, b) {
        (Always(true), other) | (other, Always(true)) => other,
        (Always(false), _) | (_, Always(false)) => Always(false),
        (a, b) => And(Box::new(a), Box::new(b)),
    }
}

fn or(a: Formula, b: Formula) -> Formula {
    match (a, b) {
        (Always(false), other) | (other, Always(false)) => other,
        (Always(true), _) | (_, Always(true)) => Always(true),
        (a, b) => Or(Box::new(a), Box::new(b)),
    }
}

/// Some come to a block by one more way.
fn join(comes: &mut FxHashMap<BlockId, Formula>, to: BlockId, takes: Formula) {
    let before = comes.remove(&to).unwrap_or(Always(false));
    comes.insert(to, or(before, takes));
}

fn choice(on: Formula, yes: Formula, no: Formula) -> Formula {
    or(and(on.clone(), yes), and(not(on), no))
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Atom {
    /// A condition holds.
    Holds(Symbol),
    /// The named lane's bit of a number that the caller has.
    Bit(Symbol),
    /// The lane is the first of a mask.
    First(Symbol),
    /// The lane goes the first way of a fork of which nothing is known.
    Way(BlockId),
}

/// What an atom that no thread index tells depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Unknown {
    /// A sum without its constant.
    Sum(Vec<(Symbol, i64)>),
    Flag(Atom),
}

#[derive(Debug)]
struct Variable {
    unknown: Unknown,
    /// The whole warp has the same.
    shared: bool,
    values: Vec<i64>,
}

/// How an atom follows from a variable.
#[derive(Copy, Clone, Debug)]
enum Reading {
    /// Told by the thread index.
    Index,
    /// `sign * variable + constant < 0`
    Negative {
        variable: usize,
        sign: i64,
        constant: i64,
    },
    /// `sign * variable + constant == 0`
    Zero {
        variable: usize,
        sign: i64,
        constant: i64,
    },
    /// `sign * variable + constant != 0`
    Other {
        variable: usize,
        sign: i64,
        constant: i64,
    },
    Flag {
        variable: usize,
    },
}

/// A lane, and by atom what its thread index tells.
type Known = (u32, Vec<i64>);

/// Cases tried for one mask.
const MAX_CASES: usize = 1 << 18;
/// Blocks between the one that all pass and a primitive.
const MAX_BLOCKS: usize = 64;
/// Masks made of masks, and conditions of conditions.
const MAX_DEPTH: usize = 24;

pub struct Sets<'c, 'a> {
    check: &'c Check<'a>,
    inst: InstId,
    atoms: Vec<Atom>,
    carried: Option<carried::Carried>,
}

impl<'c, 'a> Sets<'c, 'a> {
    pub fn new(check: &'c Check<'a>, inst: InstId) -> Sets<'c, 'a> {
        Sets { check, inst, atoms: Vec::new(), carried: None }
    }

    /// How a mask fits those who come past the forks that split the warp; `None` where that cannot be said. All ways of
    /// the `matched` forks lead to the same primitive.
    pub fn fit(&mut self, mask: Option<Symbol>, splitting: &[Dependence], matched: &[Dependence]) -> Option<Fit> {
        let named = self.named(mask)?;
        let (mut comes, mut given) = (Always(true), Always(true));
        let here = self.check.analysed.block(self.inst);
        for each in self.check.dependences(here).iter().filter(|each| !matched.contains(each)) {
            let Some((on, wanted)) = condition(self.check, *each).filter(|_| self.is_passed(*each, here)) else {
                if splitting.contains(each) { return None } else { continue }
            };
            // Those who went another way there have ended; those who never came there have not.
            let elsewhere = if splitting.contains(each) { Always(false) } else { not(self.comes_to(each.fork)) };
            for (part, wanted) in flatten(&self.check.analysed.values.symbols, on, wanted, Operator::And) {
                let holds = self.holds(part, wanted, Side::Named);
                let whole = self.check.facts.agreement(part).shown >= Extent::WARP;
                if splitting.contains(each) && !whole {
                    comes = and(comes, holds);
                } else {
                    given = and(given, or(elsewhere.clone(), holds));
                }
            }
        }
        self.compare(&named, &comes, &given)
    }

    /// The lanes that come to a block, as far as the conditions that all of them have passed tell.
    fn comes_to(&mut self, block: BlockId) -> Formula {
        let check = self.check;
        let mut comes = Always(true);
        for each in check.dependences(block).iter().filter(|each| check.analysed.flow.only_by(each.by, block)) {
            if let Some((on, wanted)) = condition(check, *each) {
                comes = and(comes, self.holds(on, wanted, Side::Named));
            }
        }
        comes
    }

    /// The same where several ways lead there: those who come by any of them are told by following all ways from the
    /// block that all have passed. Who ends on another way may be named.
    pub fn fit_by_ways(&mut self, mask: Option<Symbol>, forks: &[Dependence]) -> Option<Fit> {
        let check = self.check;
        let flow = &check.analysed.flow;
        let here = check.analysed.block(self.inst);
        let mut top = forks.first()?.fork;
        while !forks.iter().all(|each| flow.dominates(top, each.fork)) || !flow.dominates(top, here) {
            top = flow.immediate_dominator(top);
        }
        let around = flow.loop_of[here.index()];
        if flow.loop_of[top.index()] != around {
            return None;
        }
        let mut given = Always(true);
        for each in check.dependences(top).iter().filter(|each| flow.only_by(each.by, top)) {
            if let Some((on, wanted)) = condition(check, *each) {
                given = and(given, self.holds(on, wanted, Side::Named));
            }
        }
        let mut comes: FxHashMap<BlockId, Formula> = FxHashMap::from_iter([(top, Always(true))]);
        let mut ended = Always(false);
        for block in flow.order.iter().filter(|block| flow.position[block.index()] >= flow.position[top.index()]) {
            let Some(by_here) = comes.get(block).cloned() else { continue };
            if flow.loop_of[block.index()] != around {
                // Out of the loop that holds the primitive, or into one that runs nobody knows how often.
                let leaves = around.is_some_and(|around| !flow.in_loop(*block, around));
                if leaves { continue } else { return None }
            }
            if comes.len() > MAX_BLOCKS {
                return None;
            }
            match &check.analysed.graph.blocks[block.index()].end {
                _ if *block == here => {}
                End::Exit { how: Exit::Return | Exit::Instruction, .. } => ended = or(ended, by_here),
                End::Branch { yes, no, .. } if yes != no => {
                    let on = check.analysed.values.condition[block.index()]?;
                    for (to, wanted) in [(yes, true), (no, false)] {
                        let takes = and(by_here.clone(), self.holds(on, wanted, Side::Named));
                        join(&mut comes, *to, takes);
                    }
                }
                End::Switch { .. } => return None,
                _ => flow.successors[block.index()].iter().for_each(|to| join(&mut comes, *to, by_here.clone())),
            }
        }
        let named = self.named(mask)?;
        let comes = comes.remove(&here)?;
        self.compare(&and(named, not(ended)), &comes, &given)
    }

    /// Whoever comes to the block went this way at the fork; other ways may be one of several that lead there.
    fn is_passed(&self, each: Dependence, block: BlockId) -> bool {
        self.check.analysed.flow.only_by(each.by, block)
    }

    /// No lane of the first mask is named in the second one.
    pub fn are_apart(&mut self, first: Symbol, second: Symbol) -> bool {
        let both = self.set(first, 0).and_then(|first| Some(and(first, self.set(second, 0)?)));
        both.is_some_and(|both| self.compare(&Always(false), &both, &Always(true)) == Some(Fit::Exact))
    }

    // ---------------------------------------------------------------- formulas

    fn atom(&mut self, atom: Atom, side: Side) -> Formula {
        let index = self.atoms.iter().position(|known| *known == atom).unwrap_or_else(|| {
            self.atoms.push(atom);
            self.atoms.len() - 1
        });
        Formula::Atom(index, side)
    }

    fn holds(&mut self, symbol: Symbol, wanted: bool, side: Side) -> Formula {
        let formula = self.truth(symbol, side, 0);
        if wanted { formula } else { not(formula) }
    }

    /// A condition, of the lane on that side.
    fn truth(&mut self, symbol: Symbol, side: Side, depth: usize) -> Formula {
        if let Some(known) = self.check.facts.decide(symbol) {
            return Always(known);
        }
        let check = self.check;
        let symbols = &check.analysed.values.symbols;
        if depth < MAX_DEPTH {
            match *symbols.node(symbol) {
                Node::Not(inner) => return not(self.truth(inner, side, depth + 1)),
                Node::Convert(crate::graph::To::Bool, inner) => return self.truth(inner, side, depth + 1),
                Node::Binary(Operator::And, a, b) => {
                    return and(self.truth(a, side, depth + 1), self.truth(b, side, depth + 1));
                }
                Node::Binary(Operator::Or, a, b) => {
                    return or(self.truth(a, side, depth + 1), self.truth(b, side, depth + 1));
                }
                Node::Select(on, yes, no) if symbols.is_boolean(symbol) => {
                    let on = self.truth(on, side, depth + 1);
                    return choice(on, self.truth(yes, side, depth + 1), self.truth(no, side, depth + 1));
                }
                Node::Select(..) | Node::Leaf(Leaf::Result(_) | Leaf::ActiveMask(_)) => {
                    if let Some(names) = self.names_any(symbol, side, depth) {
                        return names;
                    }
                }
                Node::Binary(Operator::Zero, value, _) => {
                    if let Some(names) = self.names_any(value, side, depth) {
                        return not(names);
                    }
                    if side == Side::Caller {
                        return self.atom(Atom::Holds(symbol), side);
                    }
                    // The lane looks for itself in a mask.
                    if let Some(mask) = self.own_bit(value)
                        && let Some(set) = self.set(mask, depth + 1)
                    {
                        return not(set);
                    }
                    if let Some(mask) = self.is_first_of(value)
                        && let Some(set) = self.set(mask, depth + 1)
                    {
                        return and(set, self.atom(Atom::First(mask), side));
                    }
                }
                _ => {}
            }
        }
        self.atom(Atom::Holds(symbol), side)
    }

    /// A mask of the lane on that side is not zero: it names that lane, if no other one. `None` for other numbers.
    fn names_any(&mut self, mask: Symbol, side: Side, depth: usize) -> Option<Formula> {
        let check = self.check;
        if depth >= MAX_DEPTH {
            return None;
        }
        match *check.analysed.values.symbols.node(mask) {
            Node::Int(number) => Some(Always(number != 0)),
            Node::Select(on, yes, no) => {
                let (yes, no) = (self.names_any(yes, side, depth + 1)?, self.names_any(no, side, depth + 1)?);
                Some(choice(self.truth(on, side, depth + 1), yes, no))
            }
            Node::Leaf(Leaf::Result(_) | Leaf::ActiveMask(_)) => {
                let itself = self.set(mask, depth + 1)?;
                Some(or(itself, self.atom(Atom::Holds(mask), side)))
            }
            _ => None,
        }
    }

    /// The lanes named by a mask; without one, all.
    fn named(&mut self, mask: Option<Symbol>) -> Option<Formula> {
        mask.map_or(Some(Always(true)), |mask| self.set(mask, 0))
    }

    /// The lanes that a mask names.
    fn set(&mut self, mask: Symbol, depth: usize) -> Option<Formula> {
        if depth >= MAX_DEPTH {
            return None;
        }
        let check = self.check;
        let values = &check.analysed.values;
        let symbols = &values.symbols;
        if let Some(carried) = self.carried.as_ref().filter(|carried| carried.mask == mask) {
            return Some(carried.named.clone());
        }
        match *symbols.node(mask) {
            Node::Int(number) if number as u32 == u32::MAX => return Some(Always(true)),
            Node::Int(0) => return Some(Always(false)),
            Node::Leaf(Leaf::ActiveMask(by)) => return self.who_comes(by),
            Node::Leaf(Leaf::Result(by)) => {
                let Op::Barrier(vote) = &check.analysed.graph.insts[by.index()].op else { return None };
                let Outcome::Ballot(predicate) = vote.result else { return None };
                let mut asked = self.who_comes(by)?;
                if let Group::Lanes { mask: Some(among) } = vote.group
                    && let Some(among) = self.set(self.check.analysed.symbol(among), depth + 1)
                {
                    asked = and(asked, among);
                }
                let said = self.truth(values.of[predicate.index()], Side::Named, depth + 1);
                return Some(and(asked, said));
            }
            // `~mask`, and the same as `0xffffffff - mask`.
            Node::Sum { ref terms, constant: -1 | ALL } if matches!(**terms, [(_, -1)]) => {
                let inner = terms[0].0;
                return Some(not(self.set(inner, depth + 1)?));
            }
            Node::Binary(Operator::BitAnd, a, b) => {
                for (mask, less) in [(a, b), (b, a)] {
                    if symbols.terms(less) == (vec![(mask, 1)], -1) {
                        let others = not(self.atom(Atom::First(mask), Side::Named));
                        return Some(and(self.set(mask, depth + 1)?, others));
                    }
                }
                return Some(and(self.set(a, depth + 1)?, self.set(b, depth + 1)?));
            }
            Node::Binary(Operator::BitOr, a, b) => return Some(or(self.set(a, depth + 1)?, self.set(b, depth + 1)?)),
            Node::Binary(Operator::BitXor, a, b) => {
                let (a, b) = (self.set(a, depth + 1)?, self.set(b, depth + 1)?);
                return Some(Xor(Box::new(a), Box::new(b)));
            }
            Node::Select(on, yes, no) => {
                let on = self.truth(on, Side::Caller, depth + 1);
                return Some(choice(on, self.set(yes, depth + 1)?, self.set(no, depth + 1)?));
            }
            Node::Convert(crate::graph::To::Int { bits: 32, .. }, inner) => return self.set(inner, depth + 1),
            _ => {}
        }
        let numbers = counted::masks(self.check, mask)?;
        let parts = numbers.chunks(32).all(|warp| {
            let of = |lane: u32| warp.get(lane as usize).copied().unwrap_or(0);
            !warp.iter().any(|mask| counted::differs(*mask, &of))
        });
        parts.then(|| self.atom(Atom::Bit(mask), Side::Named))
    }

    /// Who comes to an instruction that stands before the primitive, in the same trip of all loops.
    fn who_comes(&mut self, by: InstId) -> Option<Formula> {
        let analysed = self.check.analysed;
        let (block, here) = (analysed.block(by), analysed.block(self.inst));
        if let Some(comes) = self.carried.as_ref().and_then(|carried| carried.comes.get(&block)) {
            return Some(comes.clone());
        }
        if analysed.flow.loop_of[block.index()] != analysed.flow.loop_of[here.index()] {
            return None;
        }
        let mut comes = Always(true);
        for each in lanes::splitting(self.check, by, block) {
            let (on, wanted) = condition(self.check, each).filter(|_| self.is_passed(each, block))?;
            comes = and(comes, self.holds(on, wanted, Side::Named));
        }
        Some(comes)
    }

    /// `mask & (1 << lane)`, `mask >> lane & 1`
    fn own_bit(&self, value: Symbol) -> Option<Symbol> {
        let symbols = &self.check.analysed.values.symbols;
        if let Node::Binary(Operator::BitAnd, a, b) = *symbols.node(value) {
            return [(a, b), (b, a)].into_iter().find_map(|(mask, bit)| {
                let Node::Binary(Operator::Shl, one, lane) = *symbols.node(bit) else { return None };
                (symbols.as_int(one) == Some(1) && self.is_lane(lane)).then_some(mask)
            });
        }
        // `x & 1` is `x - 2 * (x / 2)`.
        let (terms, 0) = symbols.terms(value) else { return None };
        let shifted = terms.iter().find(|(_, factor)| *factor == 1)?.0;
        let halved = terms.iter().find(|(_, factor)| *factor == -2)?.0;
        let Node::Binary(Operator::Shr, mask, lane) = *symbols.node(shifted) else { return None };
        let Node::Binary(Operator::Div, of, two) = *symbols.node(halved) else { return None };
        let is_odd = terms.len() == 2 && of == shifted && symbols.as_int(two) == Some(2);
        (is_odd && self.is_lane(lane)).then_some(mask)
    }

    /// `lane - (__ffs(mask) - 1)`
    fn is_first_of(&self, value: Symbol) -> Option<Symbol> {
        let symbols = &self.check.analysed.values.symbols;
        let (terms, constant) = symbols.terms(value);
        let (position, mask, factor) = terms
            .iter()
            .enumerate()
            .find_map(|(index, (term, factor))| lowest(self.check, *term).map(|mask| (index, mask, *factor)))?;
        if factor.abs() != 1 || constant != -factor {
            return None;
        }
        let lane = |thread: &Thread| {
            let rest = terms.iter().enumerate().filter(|(index, _)| *index != position);
            rest.map(|(_, (term, by))| Some(self.check.facts.value(*term, thread, &|_| None)? * by * -factor))
                .sum::<Option<i64>>()
        };
        let is_lane = |thread: &Thread| lane(thread) == Some(i64::from(thread.rank % 32));
        counted::threads(self.check).iter().all(is_lane).then_some(mask)
    }

    fn is_lane(&self, symbol: Symbol) -> bool {
        let threads = counted::threads_that_tell(self.check, &[symbol]);
        let is_lane =
            |thread: &Thread| self.check.facts.value(symbol, thread, &|_| None) == Some(i64::from(thread.rank % 32));
        threads.is_some_and(|threads| threads.iter().all(is_lane))
    }

    // ---------------------------------------------------------------- all cases

    fn compare(&self, named: &Formula, comes: &Formula, given: &Formula) -> Option<Fit> {
        let mut variables: Vec<Variable> = Vec::new();
        let readings: Vec<Reading> = self.atoms.iter().map(|atom| self.reading(*atom, &mut variables)).collect();
        for (index, variable) in variables.iter_mut().enumerate() {
            variable.values = match variable.unknown {
                Unknown::Flag(_) => vec![0, 1],
                Unknown::Sum(_) => turning_points(&readings, index),
            };
        }
        let (shared, own): (Vec<usize>, Vec<usize>) = (0..variables.len()).partition(|index| variables[*index].shared);
        let warps = self.warps(&readings);
        let pairs: usize = warps.iter().map(|warp| warp.len() * warp.len()).sum();
        let count = |chosen: &[usize]| {
            chosen.iter().try_fold(1usize, |all, index| all.checked_mul(variables[*index].values.len()))
        };
        let (common, single) = (count(&shared)?, count(&own)?);
        if common.checked_mul(single)?.checked_mul(single)?.checked_mul(pairs)? > MAX_CASES {
            return None;
        }
        let assign = |chosen: &[usize], mut number: usize, into: &mut [i64]| {
            for index in chosen {
                let values = &variables[*index].values;
                into[*index] = values[number % values.len()];
                number /= values.len();
            }
        };
        let mut found = Fit::Exact;
        let (mut caller, mut other) = (vec![0; variables.len()], vec![0; variables.len()]);
        for common in 0..common {
            for target in [&mut caller, &mut other] {
                assign(&shared, common, target);
            }
            for warp in &warps {
                for lane in warp {
                    for mine in 0..single {
                        assign(&own, mine, &mut caller);
                        let case = Case {
                            atoms: &self.atoms,
                            readings: &readings,
                            caller: (lane, &caller),
                            named: (lane, &caller),
                        };
                        if !case.holds(given) || !case.holds(comes) {
                            continue;
                        }
                        if !case.holds(named) {
                            return Some(Fit::LeavesOut);
                        }
                        for another in warp.iter().filter(|another| warp.len() == 1 || another.0 != lane.0) {
                            for theirs in 0..single {
                                assign(&own, theirs, &mut other);
                                let there = Case { caller: (another, &other), named: (another, &other), ..case };
                                let seen = Case { named: (another, &other), ..case };
                                let seeing = Case { caller: (another, &other), ..case };
                                if seen.two_are_first() || !there.holds(given) || !seen.holds(named) {
                                    continue;
                                }
                                if !there.holds(comes) {
                                    found = Fit::NamesMore;
                                } else if found == Fit::Exact && !seeing.holds(named) {
                                    found = Fit::Differs;
                                }
                            }
                        }
                    }
                }
            }
        }
        Some(found)
    }

    /// The lanes of each warp, as far as the atoms tell them apart: warps in which all is alike are one.
    fn warps(&self, readings: &[Reading]) -> Vec<Vec<Known>> {
        if !readings.iter().any(|reading| matches!(reading, Reading::Index)) {
            return vec![vec![(0, vec![0; self.atoms.len()])]];
        }
        let value = |atom: &Atom, reading: &Reading, thread: &Thread| match (reading, atom) {
            (Reading::Index, Atom::Holds(symbol) | Atom::Bit(symbol)) => {
                self.check.facts.value(*symbol, thread, &|_| None).unwrap_or(0)
            }
            _ => 0,
        };
        let told = self.atoms.iter().zip(readings).filter_map(|(atom, reading)| match (reading, atom) {
            (Reading::Index, Atom::Holds(symbol) | Atom::Bit(symbol)) => Some(*symbol),
            _ => None,
        });
        let threads = counted::threads_that_tell(self.check, &told.collect::<Vec<_>>());
        let threads = threads.unwrap_or_else(|| counted::threads(self.check));
        let mut warps: Vec<Vec<Known>> = Vec::new();
        for warp in threads.chunks(32) {
            let lanes = warp.iter().map(|thread| {
                let atoms = self.atoms.iter().zip(readings);
                (thread.rank % 32, atoms.map(|(atom, reading)| value(atom, reading, thread)).collect())
            });
            let lanes: Vec<Known> = lanes.collect();
            if !warps.contains(&lanes) {
                warps.push(lanes);
            }
        }
        warps
    }

    fn reading(&self, atom: Atom, variables: &mut Vec<Variable>) -> Reading {
        let symbols = &self.check.analysed.values.symbols;
        let mut variable = |unknown: Unknown, shared: bool| {
            variables.iter().position(|known| known.unknown == unknown).unwrap_or_else(|| {
                variables.push(Variable { unknown, shared, values: Vec::new() });
                variables.len() - 1
            })
        };
        let Atom::Holds(symbol) = atom else {
            return match atom {
                Atom::Bit(_) => Reading::Index,
                _ => Reading::Flag { variable: variable(Unknown::Flag(atom), false) },
            };
        };
        if counted::threads_that_tell(self.check, &[symbol]).is_some() {
            return Reading::Index;
        }
        let whole = |symbol: Symbol| self.check.facts.agreement(symbol).shown >= Extent::WARP;
        let (operator, number) = match *symbols.node(symbol) {
            Node::Binary(operator @ (Operator::Negative | Operator::Zero), number, _) => (Some(operator), number),
            // A number that is asked as it stands: `if (left)`.
            _ => (None, symbol),
        };
        let (mut terms, constant) = symbols.terms(number);
        let sign = terms.first().map_or(1, |(_, factor)| factor.signum());
        terms.iter_mut().for_each(|term| term.1 = term.1.wrapping_mul(sign));
        let shared = terms.iter().all(|(term, _)| whole(*term));
        let variable = variable(Unknown::Sum(terms), shared);
        match operator {
            Some(Operator::Negative) => Reading::Negative { variable, sign, constant },
            Some(_) => Reading::Zero { variable, sign, constant },
            None => Reading::Other { variable, sign, constant },
        }
    }
}

/// Values of a sum at which what is asked of it turns.
fn turning_points(readings: &[Reading], wanted: usize) -> Vec<i64> {
    let mut points: Vec<i64> = readings
        .iter()
        .filter_map(|reading| match *reading {
            Reading::Negative { variable, sign, constant }
            | Reading::Zero { variable, sign, constant }
            | Reading::Other { variable, sign, constant }
                if variable == wanted =>
            {
                Some(constant.wrapping_mul(-sign))
            }
            _ => None,
        })
        .flat_map(|point| [point.wrapping_sub(1), point, point.wrapping_add(1)])
        .collect();
    points.sort_unstable();
    points.dedup();
    points
}

/// The mask whose lowest lane `__ffs` counts.
fn lowest(check: &Check, symbol: Symbol) -> Option<Symbol> {
    match check.analysed.values.symbols.node(symbol) {
        Node::Pure(name, operands) if matches!(&**name, "__ffs" | "__ffsll") => operands.first().copied(),
        _ => None,
    }
}

/// A mask of which an index is the lowest or highest lane: `__ffs(mask) - 1`, `31 - __clz(mask)`.
pub fn lane_of(check: &Check, index: Symbol) -> Option<Symbol> {
    let symbols = &check.analysed.values.symbols;
    let (terms, constant) = symbols.terms(index);
    let [(term, factor)] = terms[..] else { return None };
    match (factor, constant) {
        (1, -1) => lowest(check, term),
        (-1, 31) => match symbols.node(term) {
            Node::Pure(name, operands) if &**name == "__clz" => operands.first().copied(),
            _ => None,
        },
        _ => None,
    }
}

/// One way in which all may be, for a lane that comes and another one.
#[derive(Copy, Clone)]
struct Case<'v> {
    atoms: &'v [Atom],
    readings: &'v [Reading],
    caller: (&'v Known, &'v [i64]),
    named: (&'v Known, &'v [i64]),
}

impl Case<'_> {
    fn holds(&self, formula: &Formula) -> bool {
        match formula {
            Always(value) => *value,
            Formula::Atom(atom, side) => self.atom(*atom, *side),
            Formula::Not(inner) => !self.holds(inner),
            And(a, b) => self.holds(a) && self.holds(b),
            Or(a, b) => self.holds(a) || self.holds(b),
            Xor(a, b) => self.holds(a) != self.holds(b),
        }
    }

    fn atom(&self, atom: usize, side: Side) -> bool {
        let (known, values) = if side == Side::Caller { self.caller } else { self.named };
        match (self.readings[atom], self.atoms[atom]) {
            (Reading::Index, Atom::Bit(_)) => self.caller.0.1[atom] >> self.named.0.0 & 1 != 0,
            (Reading::Index, _) => known.1[atom] != 0,
            (Reading::Negative { variable, sign, constant }, _) => sign * values[variable] + constant < 0,
            (Reading::Zero { variable, sign, constant }, _) => sign * values[variable] + constant == 0,
            (Reading::Other { variable, sign, constant }, _) => sign * values[variable] + constant != 0,
            (Reading::Flag { variable }, _) => values[variable] != 0,
        }
    }

    /// Both lanes are the first of one mask, which cannot be.
    fn two_are_first(&self) -> bool {
        (0..self.atoms.len()).any(|atom| {
            matches!(self.atoms[atom], Atom::First(_)) && self.atom(atom, Side::Caller) && self.atom(atom, Side::Named)
        })
    }
}
