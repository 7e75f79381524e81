//! What is known on the way to a fork: `if (n % 32 != 0) return;`, `if (n % 32 == 0) { .. }`, `assert(n % 32 == 0)`.
//!
//! Behind it `n` is `32 * (n / 32)` in the conditions of forks, so that all that goes by divisors finds one. What else
//! conditions may say is not used.

use super::evaluate::Values;
use super::symbols::{Leaf, Node, Operator, Symbol, Symbols};
use crate::flow::Flow;
use crate::graph::{BlockId, End, Graph, Op, Source};
use rustc_hash::FxHashMap;

/// What holds for those who come to a block, or who leave it.
struct Known {
    block: BlockId,
    /// Part of an expression, what it is, and by what it is divided.
    part: Symbol,
    is: Symbol,
    by: i64,
}

/// Conditions within conditions that are looked into.
const MAX_DEPTH: u32 = 16;

/// Puts what is known on the way into the conditions of forks.
pub fn put_in(graph: &Graph, flow: &Flow, values: &mut Values) {
    let mut known: Vec<Known> = Vec::new();
    for block in &flow.order {
        for inst in &graph.blocks[block.index()].insts {
            if let Op::Assume(_) = &graph.insts[inst.index()].op {
                let holds = values.of[inst.index()];
                learn(&mut values.symbols, *block, holds, true, &mut known, 0);
            }
        }
        if let (End::Branch { yes, no, .. }, Some(on)) =
            (&graph.blocks[block.index()].end, values.condition[block.index()])
            && yes != no
        {
            for (way, holds) in [(*yes, true), (*no, false)] {
                if flow.runs(way) && flow.only_by(way, way) {
                    learn(&mut values.symbols, way, on, holds, &mut known, 0);
                }
            }
        }
    }
    if known.is_empty() {
        return;
    }
    for block in &flow.order {
        let Some(on) = values.condition[block.index()] else { continue };
        let mut with: FxHashMap<Symbol, (Symbol, i64)> = FxHashMap::default();
        for one in known.iter().filter(|one| flow.dominates(one.block, *block)) {
            let best = with.entry(one.part).or_insert((one.is, one.by));
            if one.by > best.1 {
                *best = (one.is, one.by);
            }
        }
        if !with.is_empty() {
            let with = with.into_iter().map(|(part, (is, _))| (part, is)).collect();
            let on = values.symbols.replace(on, &with, &mut FxHashMap::default());
            values.condition[block.index()] = Some(on);
        }
    }
}

/// What a condition says that holds, or does not.
fn learn(symbols: &mut Symbols, block: BlockId, on: Symbol, holds: bool, known: &mut Vec<Known>, depth: u32) {
    if depth > MAX_DEPTH {
        return;
    }
    match *symbols.node(on) {
        Node::Not(inner) => learn(symbols, block, inner, !holds, known, depth + 1),
        Node::Binary(Operator::And, a, b) if holds => {
            learn(symbols, block, a, true, known, depth + 1);
            learn(symbols, block, b, true, known, depth + 1);
        }
        Node::Binary(Operator::Or, a, b) if !holds => {
            learn(symbols, block, a, false, known, depth + 1);
            learn(symbols, block, b, false, known, depth + 1);
        }
        Node::Binary(Operator::Zero, difference, _) if holds => {
            if let Some((value, quotient, by)) = multiple(symbols, difference) {
                known.extend(solved(symbols, value, quotient, by).map(|(part, is, by)| Known { block, part, is, by }));
            }
        }
        _ => {}
    }
}

/// Of `x - by * (x / by)`: `x`, its quotient and what it is divided by.
fn multiple(symbols: &mut Symbols, difference: Symbol) -> Option<(Symbol, Symbol, Symbol)> {
    let (terms, constant) = symbols.terms(difference);
    for (index, (term, factor)) in terms.iter().enumerate() {
        let quotient = match symbols.node(*term) {
            Node::Binary(Operator::Div, ..) => *term,
            Node::Product(factors) => match factors[..] {
                [a, b] if matches!(symbols.node(a), Node::Binary(Operator::Div, _, by) if *by == b) => a,
                [a, b] if matches!(symbols.node(b), Node::Binary(Operator::Div, _, by) if *by == a) => b,
                _ => continue,
            },
            _ => continue,
        };
        let Node::Binary(_, value, by) = *symbols.node(quotient) else { continue };
        let times = match symbols.as_int(by) {
            Some(by) if by > 1 && factor.abs() == by => -factor.signum(),
            None if quotient != *term && factor.abs() == 1 => -factor,
            _ => continue,
        };
        let rest = terms.iter().enumerate().filter(|(other, _)| *other != index).map(|(_, term)| *term).collect();
        let rest = symbols.sum(rest, constant);
        if rest == symbols.scale(value, times) {
            return Some((value, quotient, by));
        }
    }
    None
}

/// A part of a multiple, what it is, and by what it is divided if that is a number.
fn solved(symbols: &mut Symbols, value: Symbol, quotient: Symbol, by: Symbol) -> Option<(Symbol, Symbol, i64)> {
    let number = symbols.as_int(by);
    let (terms, constant) = symbols.terms(value);
    if let ([(part, factor)], 0, Some(number)) = (&terms[..], constant, number) {
        // `4 * n % 32 == 0`
        let number = number / gcd(number, factor.checked_abs()?);
        let by = symbols.int(number);
        let quotient = symbols.div(*part, by);
        return (number > 1).then(|| (*part, symbols.scale(quotient, number), number));
    }
    // What differs from thread to thread would make all that is told by it differ.
    let is_plain = terms.len() == 1 || symbols.all_leaves(value, |leaf| is_of_launch(symbols.node(leaf)));
    let (part, factor) = *terms.iter().rev().find(|(_, factor)| factor.abs() == 1).filter(|_| is_plain)?;
    let whole = symbols.mul(quotient, by);
    let rest = terms.into_iter().filter(|(term, _)| *term != part).collect();
    let rest = symbols.sum(rest, constant);
    let is = symbols.sub(whole, rest);
    Some((part, symbols.scale(is, factor), number.unwrap_or(1)))
}

/// The same for all threads of a block, whatever the kernel does.
fn is_of_launch(node: &Node) -> bool {
    use Source::{BlockDim, BlockIdx, BlockRank, BlockSize, GridDim, Launch, Named, Open, Param};
    let Node::Leaf(Leaf::Source(source)) = node else { return false };
    matches!(
        source,
        BlockIdx(_)
            | BlockRank
            | BlockDim(_)
            | BlockSize
            | GridDim(_)
            | Launch(_)
            | Param { .. }
            | Named(_)
            | Open { .. }
    )
}

fn gcd(mut a: i64, mut b: i64) -> i64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a.max(1)
}
