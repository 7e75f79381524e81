//! What must hold where an instruction runs: the conditions of its guards, taken apart, and what follows from them.

use super::Check;
use crate::flow::control::Dependence;
use crate::graph::{BlockId, End, InstId};
use crate::uniformity::extent::Extent;
use crate::uniformity::symbols::{Leaf, Node, Operator, Symbol, Symbols};

/// A dependence as a condition and the truth value it must have.
pub fn condition(check: &Check, dependence: Dependence) -> Option<(Symbol, bool)> {
    let on = check.analysed.values.condition[dependence.fork.index()]?;
    match &check.analysed.graph.blocks[dependence.fork.index()].end {
        End::Branch { yes, .. } => Some((on, *yes == dependence.by)),
        _ => None,
    }
}

/// All that holds where an instruction runs, as its guards say.
pub fn guards(check: &Check, inst: InstId) -> Vec<Conjunct> {
    let mut known = Vec::new();
    for each in check.dependences(check.analysed.block(inst)).iter() {
        if let Some((on, wanted)) = condition(check, *each) {
            conjuncts(&check.analysed.values.symbols, on, wanted, &mut known);
        }
    }
    known
}

/// The group agrees on it.
pub fn agrees(check: &Check, each: &Conjunct, group: Extent) -> bool {
    let whole = |symbol: Symbol| check.facts.agreement(symbol).shown >= group;
    match each {
        Conjunct::Negative(terms, _) => terms.iter().all(|(term, _)| whole(*term)),
        Conjunct::Truth(symbol, _) => whole(*symbol),
        Conjunct::Any(parts) => parts.iter().all(|part| agrees(check, part, group)),
    }
}

/// One thing that must hold.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Conjunct {
    /// This sum is negative; `!(x < 0)` is `-x - 1 < 0`.
    Negative(Vec<(Symbol, i64)>, i64),
    /// This symbol is true, or false.
    Truth(Symbol, bool),
    /// One of these.
    Any(Vec<Conjunct>),
}

/// Splits `a && b` (or `!(a || b)`) into what must hold one by one.
pub fn conjuncts(symbols: &Symbols, symbol: Symbol, wanted: bool, found: &mut Vec<Conjunct>) {
    for (symbol, wanted) in flatten(symbols, symbol, wanted, Operator::And) {
        let parts = flatten(symbols, symbol, wanted, Operator::Or);
        let mut parts: Vec<Conjunct> =
            parts.into_iter().map(|(symbol, wanted)| single(symbols, symbol, wanted)).collect();
        parts.sort();
        parts.dedup();
        found.extend(if parts.len() == 1 { parts.pop() } else { Some(Conjunct::Any(parts)) });
    }
}

/// The parts of a chain of `&&` (or of `||`), negations taken inside.
pub fn flatten(symbols: &Symbols, symbol: Symbol, wanted: bool, chain: Operator) -> Vec<(Symbol, bool)> {
    let mut found = Vec::new();
    let mut work = vec![(symbol, wanted)];
    while let Some((symbol, wanted)) = work.pop() {
        match symbols.node(symbol) {
            Node::Binary(operator @ (Operator::And | Operator::Or), a, b) if (*operator == chain) == wanted => {
                work.extend([(*a, wanted), (*b, wanted)]);
            }
            Node::Not(inner) => work.push((*inner, !wanted)),
            _ => found.push((symbol, wanted)),
        }
    }
    found
}

fn single(symbols: &Symbols, symbol: Symbol, wanted: bool) -> Conjunct {
    match symbols.node(symbol) {
        Node::Binary(Operator::Negative, difference, _) => {
            let (mut terms, mut constant) = symbols.terms(*difference);
            if !wanted {
                terms.iter_mut().for_each(|term| term.1 = term.1.wrapping_neg());
                constant = constant.wrapping_neg().wrapping_sub(1);
            }
            Conjunct::Negative(terms, constant)
        }
        _ => Conjunct::Truth(symbol, wanted),
    }
}

/// Whoever passes the other guards of an instruction passes this one, too: `x < n` where `x / 32 < n / 32`. If the
/// group agrees on what says so, the fork parts nobody that could have come.
pub fn follows(check: &Check, inst: InstId, dependence: Dependence, need: Extent) -> bool {
    let symbols = &check.analysed.values.symbols;
    let Some((on, wanted)) = condition(check, dependence) else { return false };
    let mut asked = Vec::new();
    conjuncts(symbols, on, wanted, &mut asked);
    let known = check.known(check.analysed.block(inst), need);
    let others = || known.iter().filter(|(fork, _)| *fork != dependence.fork).map(|(_, known)| known);
    let all_said = asked.iter().all(|asked| others().any(|known| known == asked || negative_from(check, known, asked)));
    if all_said || others().next().is_none() {
        return all_said;
    }
    // Who leaves a loop has done so on an earlier trip, on which other things held.
    let flow = &check.analysed.flow;
    let around_fork = flow.loop_of[dependence.fork.index()];
    let earlier_trip = around_fork.is_some_and(|index| !flow.in_loop(check.analysed.block(inst), index))
        || super::leaving::leaves_loop(check, inst, dependence);
    let certain: Vec<&Conjunct> = others().filter(|known| !earlier_trip || is_fixed(symbols, known)).collect();
    let truth = |symbol: Symbol| {
        let is_known = |wanted: bool| {
            let asked = single(symbols, symbol, wanted);
            certain.iter().any(|known| **known == asked || negative_from(check, known, &asked))
        };
        is_known(true).then_some(true).or_else(|| is_known(false).then_some(false))
    };
    !certain.is_empty()
        && (agrees_where(check, on, &truth, need)
            || is_out_of_the_way(check, dependence, &truth)
            || comes_either_way(check, inst, dependence, &truth))
}

/// It is made of what no thread changes: arguments, built-in variables.
fn is_fixed(symbols: &Symbols, conjunct: &Conjunct) -> bool {
    let is_fixed = |symbol: Symbol| {
        symbols.leaves(symbol).iter().all(|leaf| matches!(symbols.node(*leaf), Node::Leaf(Leaf::Source(_))))
    };
    match conjunct {
        Conjunct::Negative(terms, _) => terms.iter().all(|(term, _)| is_fixed(*term)),
        Conjunct::Truth(symbol, _) => is_fixed(*symbol),
        Conjunct::Any(parts) => parts.iter().all(|part| self::is_fixed(symbols, part)),
    }
}

/// Of what guards an instruction two things exclude each other: `n < 5` where `n > 10`.
pub fn contradict_each_other(check: &Check, inst: InstId) -> bool {
    let block = check.analysed.block(inst);
    let symbols = &check.analysed.values.symbols;
    let mut sums: Vec<(Vec<(Symbol, i64)>, i64)> = Vec::new();
    for each in check.dependences(block).iter().filter(|each| check.analysed.flow.only_by(each.by, block)) {
        let mut known = Vec::new();
        if let Some((on, wanted)) = condition(check, *each) {
            conjuncts(symbols, on, wanted, &mut known);
        }
        for conjunct in known.into_iter().filter(|conjunct| is_fixed(symbols, conjunct)) {
            if let Conjunct::Negative(terms, constant) = conjunct {
                sums.push((terms, constant));
            }
        }
    }
    // `x + a < 0` and `-x + b < 0` leave no room for `x` if `a + b` is more than -2.
    let opposite = |one: &[(Symbol, i64)], other: &[(Symbol, i64)]| {
        one.len() == other.len() && one.iter().zip(other).all(|(x, y)| x.0 == y.0 && x.1 == y.1.wrapping_neg())
    };
    let excludes = |(terms, constant): &(Vec<(Symbol, i64)>, i64), other: &(Vec<(Symbol, i64)>, i64)| {
        opposite(terms, &other.0) && constant.saturating_add(other.1) > -2
    };
    sums.iter().enumerate().any(|(index, one)| sums[index + 1..].iter().any(|other| excludes(one, other)))
}

/// Whoever comes to the barrier has not come by the fork, as what guards it says.
fn is_out_of_the_way(check: &Check, dependence: Dependence, truth: &dyn Fn(Symbol) -> Option<bool>) -> bool {
    let symbols = &check.analysed.values.symbols;
    let flow = &check.analysed.flow;
    check.dependences(dependence.fork).iter().filter(|each| flow.only_by(each.by, dependence.fork)).any(|each| {
        condition(check, *each).is_some_and(|(on, wanted)| {
            let parts = flatten(symbols, on, wanted, Operator::And);
            parts.into_iter().any(|(part, wanted)| settled(symbols, part, truth) == Some(!wanted))
        })
    })
}

/// Those who go the other way at the fork come, too: what holds at the barrier, and never changes, keeps them off every way
/// that ends. `if (i >= n) { if (!ALL) return; } if (ALL) barrier` with an argument `ALL` that is not in view.
fn comes_either_way(
    check: &Check,
    inst: InstId,
    dependence: Dependence,
    truth: &dyn Fn(Symbol) -> Option<bool>,
) -> bool {
    let symbols = &check.analysed.values.symbols;
    let flow = &check.analysed.flow;
    let barrier = check.analysed.block(inst);
    let holds = |block: BlockId| {
        let on = check.analysed.values.condition[block.index()]?;
        if is_fixed(symbols, &Conjunct::Truth(on, true)) { settled(symbols, on, truth) } else { None }
    };
    let mut seen = vec![false; flow.successors.len()];
    let mut work: Vec<BlockId> =
        flow.successors[dependence.fork.index()].iter().copied().filter(|to| *to != dependence.by).collect();
    while let Some(block) = work.pop() {
        let meets = flow.dominates(block, barrier) && !flow.dominates(block, dependence.fork);
        if meets || std::mem::replace(&mut seen[block.index()], true) {
            continue;
        }
        match (&check.analysed.graph.blocks[block.index()].end, holds(block)) {
            _ if block == dependence.fork => return false,
            (End::Exit { .. }, _) => return false,
            (End::Branch { yes, no, .. }, Some(holds)) => work.push(if holds { *yes } else { *no }),
            _ => work.extend(flow.successors[block.index()].iter().copied()),
        }
    }
    true
}

/// Steps into a condition.
const MAX_STEPS: usize = 64;

/// The group agrees on a condition where it is known that some of its parts hold, or do not: on `own || all` where `all`
/// does, on `own ? x : y` where `own` does not.
fn agrees_where(check: &Check, on: Symbol, truth: &dyn Fn(Symbol) -> Option<bool>, need: Extent) -> bool {
    let symbols = &check.analysed.values.symbols;
    let mut work = vec![on];
    let mut steps = 0;
    while let Some(symbol) = work.pop() {
        steps += 1;
        if steps > MAX_STEPS {
            return false;
        }
        if check.facts.agreement(symbol).shown >= need || truth(symbol).is_some() {
            continue;
        }
        match *symbols.node(symbol) {
            Node::Leaf(_) => return false,
            Node::Binary(operator @ (Operator::And | Operator::Or), a, b) => {
                let settles = operator == Operator::Or;
                if settled(symbols, a, truth) != Some(settles) && settled(symbols, b, truth) != Some(settles) {
                    work.extend([a, b]);
                }
            }
            Node::Select(on, yes, no) => match settled(symbols, on, truth) {
                Some(holds) => work.push(if holds { yes } else { no }),
                None => work.extend([on, yes, no]),
            },
            _ => work.extend(symbols.children(symbol)),
        }
    }
    true
}

/// What is known of a condition, also as the opposite of what is said.
fn settled(symbols: &Symbols, symbol: Symbol, truth: &dyn Fn(Symbol) -> Option<bool>) -> Option<bool> {
    match *symbols.node(symbol) {
        Node::Not(inner) => truth(symbol).or_else(|| truth(inner).map(|holds| !holds)),
        _ => truth(symbol),
    }
}

/// What the guards of a block say that the group agrees on, and by which fork.
pub fn known(check: &Check, block: BlockId, need: Extent) -> Vec<(BlockId, Conjunct)> {
    let mut found = Vec::new();
    for each in check.dependences(block).iter().filter(|each| check.analysed.flow.only_by(each.by, block)) {
        let mut known = Vec::new();
        if let Some((on, wanted)) = condition(check, *each) {
            conjuncts(&check.analysed.values.symbols, on, wanted, &mut known);
        }
        known.retain_mut(|known| settle(check, known) && agrees(check, known, need));
        found.extend(known.into_iter().map(|known| (each.fork, known)));
    }
    found
}

/// Leaves out what can never hold of several; false if nothing is left to go by.
fn settle(check: &Check, conjunct: &mut Conjunct) -> bool {
    if let Conjunct::Any(parts) = conjunct {
        parts.retain(|part| match part {
            Conjunct::Truth(symbol, wanted) => check.facts.decide(*symbol) != Some(!*wanted),
            _ => true,
        });
        let [only] = &mut parts[..] else { return false };
        *conjunct = only.clone();
    }
    true
}

/// From `known < 0` follows `asked < 0`: what `asked` has more than `c * known` stays below `c`.
fn negative_from(check: &Check, known: &Conjunct, asked: &Conjunct) -> bool {
    let (Conjunct::Negative(known, known_constant), Conjunct::Negative(asked, asked_constant)) = (known, asked) else {
        return false;
    };
    let symbols = &check.analysed.values.symbols;
    let divisors = known.iter().filter_map(|(term, _)| match symbols.node(*term) {
        Node::Binary(Operator::Div, _, by) => symbols.as_int(*by),
        _ => None,
    });
    let ratios = known.iter().flat_map(|(term, factor)| {
        let same = asked.iter().filter(move |(other, _)| other == term);
        same.filter_map(move |(_, other)| other.checked_div(*factor))
    });
    divisors.chain(ratios).filter(|factor| *factor > 0).any(|factor| {
        let mut rest = asked.clone();
        rest.extend(known.iter().map(|(term, by)| (*term, by.wrapping_mul(-factor))));
        let constant = asked_constant.wrapping_sub(known_constant.wrapping_mul(factor));
        check.facts.bounds_of_sum(rest, constant).high < factor
    })
}
