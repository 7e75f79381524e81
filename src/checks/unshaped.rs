//! Findings that hold only because nothing in view tells the block's shape: in blocks of some shape no group parts.

use super::{Check, Verdict, reach};
use crate::flow::control::Dependence;
use crate::graph::{Axis, Source};
use crate::rules;
use crate::uniformity::extent::Extent;
use crate::uniformity::symbols::{Leaf, Node, Symbol};
use std::cell::Cell;

/// Blocks that are common, by preference.
const LINES: [u32; 6] = [256, 128, 512, 1024, 64, 32];
const PLANES: [[u32; 3]; 3] = [[32, 8, 1], [32, 4, 1], [64, 4, 1]];
/// Values tried for what the whole block agrees on.
const VALUES: [i64; 4] = [0, 1, 33, 1000];
/// Trips after which every thread has to have left a loop.
const MAX_TRIPS: i64 = 256;
/// Conditions worked out for one finding.
const MAX_STEPS: u32 = 300_000;

/// A shape of block in which no group of the barrier would part.
pub fn harmless(check: &Check, verdict: &Verdict) -> Option<[u32; 3]> {
    let shape = &check.analysed.shape;
    if shape.block.is_some() || verdict.rule.name == rules::RACY_BROADCAST.name || verdict.need > Extent::BLOCK {
        return None;
    }
    let forks: Vec<Dependence> = verdict.lead.iter().chain(&verdict.others).copied().collect();
    let leaves = forks.iter().filter_map(|each| check.analysed.values.condition[each.fork.index()]);
    let leaves: Vec<Symbol> = leaves.flat_map(|on| check.analysed.values.symbols.leaves(on)).collect();
    let node = |leaf: &Symbol| check.analysed.values.symbols.node(*leaf);
    let is_plane = leaves.iter().any(|leaf| {
        matches!(node(leaf), Node::Leaf(Leaf::Source(Source::ThreadIdx(axis) | Source::BlockDim(axis))) if *axis != Axis::X)
    });
    // Of a plain bound the largest block that keeps to it; multiples of a warp, as blocks are.
    let is_bound = verdict.need == Extent::BLOCK
        && leaves.iter().all(|leaf| matches!(node(leaf), Node::Leaf(Leaf::Source(Source::ThreadIdx(_)))));
    let blocks: Vec<[u32; 3]> = match () {
        () if is_plane => PLANES.to_vec(),
        () if is_bound => (1..=32).rev().map(|warps| [warps * 32, 1, 1]).collect(),
        () => LINES.map(|length| [length, 1, 1]).to_vec(),
    };
    let left = Cell::new(MAX_STEPS);
    let is_known = |block: &[u32; 3]| {
        let extents = block.iter().zip(&shape.partial);
        block.iter().product::<u32>() <= shape.most_threads()
            && extents.into_iter().all(|(extent, known)| known.is_none_or(|known| known == *extent))
    };
    blocks.into_iter().filter(is_known).find(|block| {
        !forks.is_empty() && forks.iter().all(|fork| keeps_together(check, *fork, *block, verdict.need, &left))
    })
}

/// At a fork all threads of each group of a block go one way, whatever the block agrees on, and some to the barrier.
fn keeps_together(check: &Check, dependence: Dependence, block: [u32; 3], need: Extent, left: &Cell<u32>) -> bool {
    let fork = dependence.fork;
    let symbols = &check.analysed.values.symbols;
    let Some(on) = check.analysed.values.condition[fork.index()] else { return false };
    let leaves = symbols.leaves(on);
    let is = |leaf: &Symbol, wanted: fn(&Leaf) -> bool| matches!(symbols.node(*leaf), Node::Leaf(it) if wanted(it));
    let mut loops: Vec<Symbol> =
        leaves.iter().copied().filter(|it| is(it, |it| matches!(it, Leaf::Iteration(_)))).collect();
    loops.sort();
    loops.dedup();
    let is_open = leaves.iter().any(|leaf| is(leaf, is_of_all));
    let values = if is_open { &VALUES[..] } else { &VALUES[..1] };
    let size = block.iter().product::<u32>();
    let run = need.threads().filter(|_| need < Extent::BLOCK).unwrap_or(size).max(1);
    let mut comes = false;
    let together = values.iter().all(|value| {
        let mut staying: Vec<u32> = (0..size).step_by(run as usize).collect();
        for trip in 0..if loops.is_empty() { 1 } else { MAX_TRIPS } {
            let given = |leaf: Symbol| match symbols.node(leaf) {
                Node::Leaf(Leaf::Iteration(_)) if loops.len() == 1 => Some(trip),
                Node::Leaf(it) if is_of_all(it) => Some(*value),
                _ => reach::of_the_block(check, leaf, block),
            };
            let way = |rank: u32| {
                left.set(left.get().checked_sub(1)?);
                let value = check.facts.value(on, &reach::thread(block, rank), &given)?;
                reach::target(check, fork, value)
            };
            let mut onward = Vec::new();
            for first in staying {
                let Some(to) = way(first) else { return false };
                if !(first + 1..(first + run).min(size)).all(|rank| way(rank) == Some(to)) {
                    return false;
                }
                comes |= to == dependence.by;
                let around = check.analysed.flow.loop_of[fork.index()];
                if around.is_some_and(|index| check.analysed.flow.in_loop(to, index)) {
                    onward.push(first);
                }
            }
            staying = onward;
            if loops.is_empty() || staying.is_empty() {
                return true;
            }
        }
        false
    });
    together && comes
}

/// The same for the whole launch, and not known.
fn is_of_all(leaf: &Leaf) -> bool {
    matches!(leaf, Leaf::Source(Source::Param { .. } | Source::Named(_) | Source::Open { .. }))
}
