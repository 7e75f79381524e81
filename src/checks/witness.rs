//! A concrete case: a block, values for what the condition speaks of, and the threads that come and do not.

use super::{Check, Verdict};
use crate::finding::Witness;
use crate::graph::{End, Source};
use crate::rules;
use crate::uniformity::extent::Extent;
use crate::uniformity::facts::Thread;
use crate::uniformity::symbols::{Leaf, Node, Symbol};

/// Values tried for what is unknown; the first that splits the group is shown.
const TRIALS: [i64; 8] = [33, 1, 40, 100, 7, 0, 129, 1000];

pub fn find(check: &Check, verdict: &Verdict) -> Option<Witness> {
    let lead = verdict.lead?;
    if !(verdict.need == Extent::BLOCK || verdict.need <= Extent::WARP) {
        return None;
    }
    let on = check.analysed.values.condition[lead.fork.index()]?;
    let End::Branch { yes, .. } = &check.analysed.graph.blocks[lead.fork.index()].end else { return None };
    let wanted = *yes == lead.by;
    let symbols = &check.analysed.values.symbols;
    let shape = &check.analysed.shape;
    let block =
        shape.block.unwrap_or(if shape.is_line() { [128.min(shape.most_threads()), 1, 1] } else { [16, 16, 1] });
    let leaves = symbols.leaves(on);
    let mut unknown: Vec<Symbol> = Vec::new();
    let mut loops = false;
    for leaf in &leaves {
        match symbols.node(*leaf) {
            Node::Leaf(Leaf::Source(Source::Param { .. } | Source::Named(_))) => unknown.push(*leaf),
            Node::Leaf(Leaf::Iteration(_)) => loops = true,
            Node::Leaf(Leaf::Source(_)) => {}
            _ => return None,
        }
    }
    let trips: &[i64] = if loops { &[0, 1, 2, 3] } else { &[0] };
    for trial in TRIALS {
        for trip in trips {
            let given = |leaf: Symbol| {
                Some(match symbols.node(leaf) {
                    Node::Leaf(Leaf::Source(source)) => match source {
                        Source::BlockDim(axis) => i64::from(block[*axis as usize]),
                        Source::BlockSize => block.iter().map(|extent| i64::from(*extent)).product(),
                        Source::BlockIdx(_) | Source::BlockRank | Source::BlockInCluster | Source::ClusterIndex => 0,
                        Source::GridDim(_) => 1,
                        Source::Param { .. } | Source::Named(_) => trial,
                        _ => return None,
                    },
                    Node::Leaf(Leaf::Iteration(_)) => *trip,
                    _ => return None,
                })
            };
            if let Some((arrive, missing)) = split(check, on, wanted, block, &given)
                && splits(&arrive, &missing, verdict.need)
            {
                let mut text = vec![format!("a block of {}", spell_block(block))];
                let names: Vec<String> = unknown
                    .iter()
                    .filter_map(|leaf| name(check, *leaf))
                    .map(|name| format!("{name} = {trial}"))
                    .collect();
                text.extend(names);
                if loops {
                    text.push(format!("trip {}", trip + 1));
                }
                if verdict.rule.name == rules::WARP_MASK.name {
                    return of_warp(text, &arrive, &missing);
                }
                return Some(Witness {
                    given: text.join(", "),
                    arrive: super::lanes::ranges(arrive),
                    missing: super::lanes::ranges(missing),
                    lanes: false,
                    mask: None,
                });
            }
        }
        if unknown.is_empty() {
            break;
        }
    }
    None
}

/// The first warp that is split, by its lanes.
fn of_warp(mut given: Vec<String>, arrive: &[u32], missing: &[u32]) -> Option<Witness> {
    let warp = arrive.iter().find(|thread| missing.iter().any(|other| *other / 32 == **thread / 32))? / 32;
    let lanes = |threads: &[u32]| {
        let lanes = threads.iter().filter(|thread| **thread / 32 == warp).map(|thread| thread % 32);
        super::lanes::ranges(lanes.collect())
    };
    given.push(format!("warp {warp}"));
    Some(Witness { given: given.join(", "), arrive: lanes(arrive), missing: lanes(missing), lanes: true, mask: None })
}

/// Some group has threads on both sides.
fn splits(arrive: &[u32], missing: &[u32], need: Extent) -> bool {
    match need.threads() {
        Some(run) if need < Extent::BLOCK => {
            arrive.iter().any(|thread| missing.iter().any(|other| thread / run == other / run))
        }
        _ => !arrive.is_empty() && !missing.is_empty(),
    }
}

fn split(
    check: &Check,
    on: Symbol,
    wanted: bool,
    block: [u32; 3],
    given: &dyn Fn(Symbol) -> Option<i64>,
) -> Option<(Vec<u32>, Vec<u32>)> {
    let [across, down, deep] = block;
    let (mut arrive, mut missing) = (Vec::new(), Vec::new());
    for rank in 0..across.saturating_mul(down).saturating_mul(deep).min(1024) {
        let thread = Thread { rank, x: rank % across, y: rank / across % down, z: rank / across / down };
        let holds = check.facts.value(on, &thread, given)? != 0;
        if holds == wanted { arrive.push(rank) } else { missing.push(rank) }
    }
    Some((arrive, missing))
}

fn name(check: &Check, leaf: Symbol) -> Option<String> {
    match check.analysed.values.symbols.node(leaf) {
        Node::Leaf(Leaf::Source(Source::Param { name, .. } | Source::Named(name))) => Some(name.to_string()),
        _ => None,
    }
}

/// `128 threads`, `16 by 16 threads`
pub fn spell_block([x, y, z]: [u32; 3]) -> String {
    match (y, z) {
        (1, 1) => format!("{x} threads"),
        (_, 1) => format!("{x} by {y} threads"),
        _ => format!("{x} by {y} by {z} threads"),
    }
}
