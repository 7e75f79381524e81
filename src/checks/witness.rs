//! A concrete case: a block, values for what the condition speaks of, and the threads (or blocks) that come and do not.
//!
//! Cases are tried until one splits the group. A case counts only if the barrier is reached in it, as far as the forks in front
//! of the barrier can be worked out from the case; what memory holds is not made up.

use super::reach::{self, Threads};
use super::{Check, Verdict};
use crate::finding::{Unit, Witness};
use crate::graph::{Axis, BlockId, InstId, Source};
use crate::rules;
use crate::uniformity::extent::Extent;
use crate::uniformity::symbols::{Leaf, Node, Symbol};

/// Values tried for what is unknown; the first that splits the group is shown.
const TRIALS: [i64; 8] = [33, 1, 40, 100, 7, 0, 129, 1000];
const MAX_TRIALS: usize = 24;
/// Parts of a condition that are looked at for such values, and how large these may be.
const MAX_STEPS: usize = 64;
const FAR: i64 = 1 << 20;
/// Blocks of a cluster or a grid of unknown size.
const BLOCKS: u32 = 4;

/// One case.
#[derive(Copy, Clone)]
struct Case {
    block: [u32; 3],
    /// For each argument and constant that is not known.
    value: i64,
    /// Turns that each loop has made.
    trip: i64,
    /// Which block, of how many in a row; and of how many a cluster.
    rank: u32,
    blocks: u32,
    cluster: u32,
}

pub fn find(check: &Check, inst: InstId, verdict: &Verdict) -> Option<Witness> {
    let lead = verdict.lead?;
    let on = check.analysed.values.condition[lead.fork.index()]?;
    let leaves = check.analysed.values.symbols.leaves(on);
    if !leaves.iter().all(|leaf| given(check, Case { rank: 0, ..first_case(check) }, *leaf).is_some()) {
        return None;
    }
    let guards: Vec<BlockId> = check.dependences(check.analysed.block(inst)).iter().map(|each| each.fork).collect();
    let loops = leaves.iter().any(|leaf| matches!(node(check, *leaf), Node::Leaf(Leaf::Iteration(_))));
    let trials = trials(check, guards.iter().chain([&lead.fork]));
    let open = std::cell::Cell::new(false);
    // First with the values also in front of the barrier; then, if not all there could be worked out, as if anything could
    // come this far.
    for thorough in [true, false] {
        if !thorough && !open.get() {
            break;
        }
        let mut named: Vec<Symbol> = Vec::new();
        let conditions =
            guards.iter().filter(|_| thorough).filter_map(|fork| check.analysed.values.condition[fork.index()]);
        for leaf in conditions.flat_map(|on| check.analysed.values.symbols.leaves(on)).chain(leaves.iter().copied()) {
            if name(check, leaf).is_some() && !named.contains(&leaf) {
                named.push(leaf);
            }
        }
        for (index, block) in blocks(check).into_iter().enumerate() {
            // Larger blocks are for conditions over constants.
            let values = if named.is_empty() || index > 0 { 1 } else { trials.len() };
            for value in trials.iter().copied().take(values) {
                for trip in 0..if loops { 4 } else { 1 } {
                    let case = Case { block, value, trip, ..first_case(check) };
                    let asked = |fork: BlockId| fork != lead.fork && guards.contains(&fork);
                    let comes = |case: Case| {
                        let values = |leaf: Symbol| given(check, case, leaf);
                        let everyone = size(block);
                        let mut goes = Threads::default();
                        for rank in everyone.ranks() {
                            let value = check.facts.value(on, &reach::thread(block, rank), &values)?;
                            if reach::target(check, lead.fork, value)? == lead.by {
                                goes.add(rank);
                            }
                        }
                        // Where the fork parts nobody, what stands in front of it does not matter.
                        if goes.is_empty() || goes == everyone && verdict.need < Extent::CLUSTER {
                            return Some(goes);
                        }
                        let steps = check.analysed.flow.order.len();
                        check.witness_steps.set(check.witness_steps.get().checked_sub(steps)?);
                        let before = match thorough {
                            true => reach::reach_with(check, block, &asked, Some(&values)),
                            false => reach::reach_with(check, block, &asked, None),
                        };
                        open.set(open.get() || guards.iter().any(|fork| before.is_open(*fork)));
                        Some(goes.and(&before.come[check.analysed.block(inst).index()]))
                    };
                    if let Some(witness) = split(check, verdict, case, &named, loops, &comes) {
                        return Some(witness);
                    }
                }
            }
        }
    }
    None
}

/// The values tried: those that are shown by preference, then those at which a condition changes.
fn trials<'f>(check: &Check, forks: impl Iterator<Item = &'f BlockId>) -> Vec<i64> {
    let symbols = &check.analysed.values.symbols;
    let mut found = TRIALS.to_vec();
    for on in forks.filter_map(|fork| check.analysed.values.condition[fork.index()]) {
        let mut work = vec![on];
        let mut steps = 0;
        while let Some(symbol) = work.pop().filter(|_| steps < MAX_STEPS && found.len() < MAX_TRIALS) {
            steps += 1;
            if let Node::Sum { constant, .. } = symbols.node(symbol) {
                found.extend(
                    [-constant, 1 - constant, constant.wrapping_add(1), *constant]
                        .iter()
                        .filter(|value| (0..FAR).contains(*value)),
                );
            }
            work.extend(symbols.children(symbol));
        }
    }
    let mut seen = rustc_hash::FxHashSet::default();
    found.retain(|value| seen.insert(*value));
    found
}

/// The blocks that are tried: the one that is known, else some that it may be.
fn blocks(check: &Check) -> Vec<[u32; 3]> {
    let shape = &check.analysed.shape;
    let most = shape.most_threads();
    match shape.block {
        Some(block) => vec![block],
        None if shape.is_line() => {
            let mut lengths: Vec<u32> = [128, 256, 1024].map(|length| most.min(length)).to_vec();
            lengths.dedup();
            lengths.into_iter().map(|length| [length, 1, 1]).collect()
        }
        None => {
            let [x, y, z] = shape.partial;
            vec![[x.unwrap_or(16), y.unwrap_or(if z.is_some() { 1 } else { 16 }), z.unwrap_or(1)]]
        }
    }
}

fn size(block: [u32; 3]) -> Threads {
    Threads::first(block.iter().fold(1u32, |size, extent| size.saturating_mul(*extent)))
}

fn first_case(check: &Check) -> Case {
    let cluster = check.analysed.shape.cluster.map_or(BLOCKS, |extents| extents.iter().product::<u32>().clamp(1, 16));
    Case { block: [128, 1, 1], value: 0, trip: 0, rank: 0, blocks: 1, cluster }
}

// ---------------------------------------------------------------- who comes

type Comes<'a> = &'a dyn Fn(Case) -> Option<Threads>;

/// The case as a witness, if some group is split in it.
fn split(check: &Check, verdict: &Verdict, case: Case, named: &[Symbol], loops: bool, comes: Comes) -> Option<Witness> {
    let everyone = size(case.block);
    let mut text = Vec::new();
    let mut describe = |first: Option<String>, threads: bool, last: Option<String>| {
        text.extend(first);
        text.extend(threads.then(|| format!("a block of {}", spell_block(case.block))));
        let mut names: Vec<String> = named.iter().filter_map(|leaf| name(check, *leaf)).collect();
        names.dedup();
        text.extend(names.into_iter().map(|name| format!("{name} = {}", case.value)));
        text.extend(loops.then(|| format!("trip {}", case.trip + 1)));
        text.extend(last);
        text.join(", ")
    };
    let ranges = |threads: &Threads| super::lanes::ranges(threads.ranks().collect());
    if verdict.need >= Extent::CLUSTER {
        let (count, whole) = match verdict.need {
            Extent::CLUSTER => (case.cluster, format!("a cluster of {} blocks", case.cluster)),
            _ => (BLOCKS.max(case.cluster), format!("a grid of {} blocks", BLOCKS.max(case.cluster))),
        };
        let (mut arrive, mut missing, mut parted) = (Vec::new(), Vec::new(), None);
        for rank in 0..count {
            let threads = comes(Case { rank, blocks: count, ..case })?;
            match threads {
                threads if threads == everyone => arrive.push(rank),
                threads if threads.is_empty() => missing.push(rank),
                threads => parted = parted.or(Some((rank, threads))),
            }
        }
        if let Some((rank, threads)) = parted {
            let given = describe(Some(whole), true, Some(format!("block {rank}")));
            let (arrive, missing) = (ranges(&threads), ranges(&everyone.without(&threads)));
            return Some(Witness { given, arrive, missing, unit: Unit::Thread, mask: None });
        }
        let given = describe(Some(whole), !named.is_empty(), None);
        let ranges = super::lanes::ranges;
        return (!arrive.is_empty() && !missing.is_empty()).then(|| Witness {
            given,
            arrive: ranges(arrive),
            missing: ranges(missing),
            unit: Unit::Block,
            mask: None,
        });
    }
    let arrive = comes(case)?;
    let missing = everyone.without(&arrive);
    let (arrive, missing) = match verdict.need.threads() {
        Some(run) if verdict.need < Extent::BLOCK => parted_groups(&arrive, &missing, run),
        _ => (arrive, missing),
    };
    if arrive.is_empty() || missing.is_empty() {
        return None;
    }
    if verdict.rule.name == rules::WARP_MASK.name {
        let warp = arrive.ranks().next()? / 32;
        let lanes = |threads: &Threads| {
            let lanes = threads.ranks().filter(|thread| thread / 32 == warp).map(|thread| thread % 32);
            super::lanes::ranges(lanes.collect())
        };
        let given = describe(None, true, Some(format!("warp {warp}")));
        return Some(Witness { given, arrive: lanes(&arrive), missing: lanes(&missing), unit: Unit::Lane, mask: None });
    }
    let given = describe(None, true, None);
    Some(Witness { given, arrive: ranges(&arrive), missing: ranges(&missing), unit: Unit::Thread, mask: None })
}

/// Of those that come and those that do not only the ones in groups that have both.
fn parted_groups(arrive: &Threads, missing: &Threads, run: u32) -> (Threads, Threads) {
    let groups = |threads: &Threads| {
        let mut groups: Vec<u32> = threads.ranks().map(|rank| rank / run).collect();
        groups.dedup();
        groups
    };
    let other = groups(missing);
    let parted: Vec<u32> = groups(arrive).into_iter().filter(|group| other.binary_search(group).is_ok()).collect();
    let only = |threads: &Threads| {
        let mut kept = Threads::default();
        threads.ranks().filter(|rank| parted.binary_search(&(rank / run)).is_ok()).for_each(|rank| kept.add(rank));
        kept
    };
    (only(arrive), only(missing))
}

// ---------------------------------------------------------------- values

fn node<'a>(check: &'a Check, leaf: Symbol) -> &'a Node {
    check.analysed.values.symbols.node(leaf)
}

/// What a leaf is in a case; the thread's own index is not asked for here.
fn given(check: &Check, case: Case, leaf: Symbol) -> Option<i64> {
    let Node::Leaf(leaf) = node(check, leaf) else { return None };
    let threads = || case.block.iter().map(|extent| i64::from(*extent)).product::<i64>();
    let along = |axis: &Axis, value: u32, else_value: i64| match axis {
        Axis::X => i64::from(value),
        _ => else_value,
    };
    Some(match leaf {
        Leaf::Iteration(_) => case.trip,
        Leaf::Source(source) => match source {
            // Worked out for each thread.
            Source::ThreadIdx(_) | Source::ThreadRank | Source::Lane | Source::Warp => 0,
            Source::BlockDim(axis) => i64::from(case.block[*axis as usize]),
            Source::BlockSize => threads(),
            Source::BlockIdx(axis) => along(axis, case.rank, 0),
            Source::GridDim(axis) => along(axis, case.blocks, 1),
            Source::BlockRank => i64::from(case.rank),
            Source::BlockInCluster => i64::from(case.rank % case.cluster),
            Source::ClusterIndex => i64::from(case.rank / case.cluster),
            Source::Launch(name) => match &**name {
                "cluster.num_blocks" => i64::from(case.cluster),
                "cluster.num_threads" | "cluster.size" => i64::from(case.cluster) * threads(),
                "grid.num_blocks" => i64::from(case.blocks),
                "grid.num_threads" | "grid.size" => i64::from(case.blocks) * threads(),
                _ => return None,
            },
            Source::Param { .. } | Source::Named(_) | Source::Open { .. } => case.value,
            _ => return None,
        },
        _ => return None,
    })
}

/// What a leaf is called in the source.
pub fn name(check: &Check, leaf: Symbol) -> Option<String> {
    match node(check, leaf) {
        Node::Leaf(Leaf::Source(Source::Param { name, .. } | Source::Named(name) | Source::Open { name, .. })) => {
            Some(name.to_string())
        }
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
