//! How often each warp comes to a barrier: trips of loops that can be counted, if need be with an argument assumed.

use super::Check;
use super::reach::{self, Reach};
use crate::graph::{BlockId, InstId, Source};
use crate::uniformity::extent::Extent;
use crate::uniformity::symbols::{Leaf, Node, Symbol};

/// Trips of one loop that are counted.
const MAX_TRIPS: i64 = 1024;
/// Values that are tried for an argument on which trips hang, large ones for loops that begin behind some stages. The last
/// one is told.
const SIZES: [i64; 8] = [96, 64, 33, 2, 5, 7, 4, 3];

/// An argument of the kernel, and what is assumed for it.
pub type Assumed = Option<(Symbol, i64)>;

/// What has to be assumed to count the trips round all these barriers: nothing, or one argument in turn.
pub fn assumptions(check: &Check, sites: &[InstId]) -> Vec<Assumed> {
    let analysed = check.analysed;
    let mut arguments: Vec<Symbol> = Vec::new();
    for site in sites {
        for (_, fork) in loops(check, analysed.block(*site)).unwrap_or_default() {
            let leaves = analysed.values.condition[fork.index()].map(|on| analysed.values.symbols.leaves(on));
            let is_argument = |leaf: &Symbol| {
                matches!(
                    analysed.values.symbols.node(*leaf),
                    Node::Leaf(Leaf::Source(Source::Param { .. } | Source::Named(_) | Source::Open { .. }))
                )
            };
            arguments.extend(leaves.into_iter().flatten().filter(is_argument));
        }
    }
    arguments.sort();
    arguments.dedup();
    match arguments[..] {
        [argument] => SIZES.iter().map(|size| Some((argument, *size))).collect(),
        _ => vec![None],
    }
}

/// By warp, how often its threads come to a basic block if they do at all; `None` where that is not known.
pub fn rounds(check: &Check, reach: &Reach, at: BlockId, assumed: Assumed) -> Option<Vec<i64>> {
    let around = loops(check, at)?;
    let is_counted = |fork: BlockId| around.iter().any(|(_, counted)| *counted == fork);
    if check.dependences(at).iter().any(|each| reach.is_open(each.fork) && !is_counted(each.fork)) {
        return None;
    }
    let warps = reach.block.iter().fold(1u32, |size, extent| size.saturating_mul(*extent)).div_ceil(32);
    (0..warps)
        .map(|warp| {
            let mut trips =
                around.iter().map(|(index, fork)| trips(check, reach, at, (*index, *fork), warp * 32, assumed));
            trips.try_fold(1i64, |all, trips| all.checked_mul(trips?))
        })
        .collect()
}

/// The loops round a block, each with the one fork that ends it; `None` if one of them may end elsewhere.
fn loops(check: &Check, at: BlockId) -> Option<Vec<(usize, BlockId)>> {
    let flow = &check.analysed.flow;
    let mut found = Vec::new();
    let mut next = flow.loop_of[at.index()];
    while let Some(index) = next {
        let each = &flow.loops[index];
        let [(fork, _)] = each.exits[..] else { return None };
        let once_a_trip =
            flow.loop_of[fork.index()] == Some(index) && each.latches.iter().all(|latch| flow.dominates(fork, *latch));
        if !once_a_trip {
            return None;
        }
        found.push((index, fork));
        next = each.parent;
    }
    Some(found)
}

/// How often a thread comes to the block in one loop.
fn trips(
    check: &Check,
    reach: &Reach,
    at: BlockId,
    (index, fork): (usize, BlockId),
    rank: u32,
    assumed: Assumed,
) -> Option<i64> {
    let flow = &check.analysed.flow;
    let on = check.analysed.values.condition[fork.index()]?;
    if check.facts.agreement(on).shown < Extent::WARP {
        return None;
    }
    let before_the_test = match () {
        _ if at == fork || flow.dominates(at, fork) => 1,
        _ if flow.dominates(fork, at) => 0,
        _ => return None,
    };
    let header = flow.loops[index].header;
    let thread = reach::thread(reach.block, rank);
    for trip in 0..MAX_TRIPS {
        let given = |leaf: Symbol| match check.analysed.values.symbols.node(leaf) {
            Node::Leaf(Leaf::Iteration(of)) => (*of == header).then_some(trip),
            _ => match assumed {
                Some((argument, size)) if argument == leaf => Some(size),
                _ => reach::of_the_block(check, leaf, reach.block),
            },
        };
        let to = reach::target(check, fork, check.facts.value(on, &thread, &given)?)?;
        if !flow.in_loop(to, index) {
            return Some(trip + before_the_test);
        }
    }
    None
}
