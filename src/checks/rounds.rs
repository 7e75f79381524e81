//! How often each warp comes to a barrier: the kernel's forks are followed from trip to trip, if need be with an argument
//! assumed. A fork of which nothing is known leaves open what stands on its ways.

use super::Check;
use super::reach::{self, Reach};
use crate::graph::{BlockId, InstId, Source};
use crate::uniformity::extent::Extent;
use crate::uniformity::symbols::{Leaf, Node, Symbol};
use rustc_hash::FxHashMap;

/// Trips of one loop that are counted.
const MAX_TRIPS: i64 = 1024;
/// Forks gone by for one kernel.
const MAX_FORKS: u32 = 2_000_000;
/// Values that are tried for an argument on which trips hang, large ones for loops that begin behind some stages. The last
/// one is told.
const SIZES: [i64; 8] = [96, 64, 33, 2, 5, 7, 4, 3];
const WARP: u32 = 32;

/// An argument of the kernel, and what is assumed for it.
pub type Assumed = Option<(Symbol, i64)>;

/// What has to be assumed to count the trips round all these barriers: nothing, or one argument in turn.
pub fn assumptions(check: &Check, sites: &[InstId]) -> Vec<Assumed> {
    let analysed = check.analysed;
    let flow = &analysed.flow;
    let mut arguments: Vec<Symbol> = Vec::new();
    for site in sites {
        let mut next = flow.loop_of[analysed.block(*site).index()];
        while let Some(index) = next {
            for (fork, _) in &flow.loops[index].exits {
                let leaves = analysed.values.condition[fork.index()].map(|on| analysed.values.symbols.leaves(on));
                let is_argument = |leaf: &Symbol| {
                    matches!(
                        analysed.values.symbols.node(*leaf),
                        Node::Leaf(Leaf::Source(Source::Param { .. } | Source::Named(_) | Source::Open { .. }))
                    )
                };
                arguments.extend(leaves.into_iter().flatten().filter(is_argument));
            }
            next = flow.loops[index].parent;
        }
    }
    arguments.sort();
    arguments.dedup();
    match arguments[..] {
        [argument] => SIZES.iter().map(|size| Some((argument, *size))).collect(),
        _ => vec![None],
    }
}

/// Follows the warps of blocks of one kernel.
pub struct Rounds<'c, 'a> {
    check: &'c Check<'a>,
    sites: Vec<BlockId>,
    /// By fork, the barriers that stand on its ways up to where they meet again.
    between: FxHashMap<BlockId, Vec<usize>>,
    left: u32,
}

/// By barrier and warp, how often the warp comes there; `None` where that is not known.
pub type Counts = Vec<Vec<Option<i64>>>;

impl<'c, 'a> Rounds<'c, 'a> {
    pub fn new(check: &'c Check<'a>, sites: &[InstId]) -> Rounds<'c, 'a> {
        let sites = sites.iter().map(|site| check.analysed.block(*site)).collect();
        Rounds { check, sites, between: FxHashMap::default(), left: MAX_FORKS }
    }

    pub fn count(&mut self, reach: &Reach, assumed: Assumed) -> Counts {
        let warps = reach.block.iter().fold(1u32, |size, extent| size.saturating_mul(*extent)).div_ceil(WARP);
        let mut counts = vec![Vec::new(); self.sites.len()];
        for warp in 0..warps {
            let found = self.follow(reach.block, warp, assumed).unwrap_or_else(|| vec![None; self.sites.len()]);
            for (counts, count) in counts.iter_mut().zip(found) {
                counts.push(count);
            }
        }
        counts
    }

    /// How often one warp comes to each barrier; nothing where its end is not come to.
    fn follow(&mut self, block: [u32; 3], warp: u32, assumed: Assumed) -> Option<Vec<Option<i64>>> {
        let flow = &self.check.analysed.flow;
        let mut counts = vec![Some(0i64); self.sites.len()];
        let mut trips: FxHashMap<BlockId, i64> = FxHashMap::default();
        let mut at = *flow.order.first()?;
        loop {
            self.left = self.left.checked_sub(1)?;
            for (site, count) in self.sites.iter().zip(&mut counts) {
                if *site == at {
                    *count = count.map(|count| count + 1);
                }
            }
            let next = match flow.successors[at.index()][..] {
                [] => return Some(counts),
                [only] => only,
                _ => {
                    let open = self.between(at);
                    let meets = flow.control.meets(at);
                    match meets.filter(|_| open.is_empty()) {
                        Some(meets) => meets,
                        None => match self.way(block, warp, at, &trips, assumed) {
                            Some(way) => way,
                            None => {
                                open.into_iter().for_each(|site| counts[site] = None);
                                meets?
                            }
                        },
                    }
                }
            };
            if let Some(index) = flow.head_of[next.index()] {
                let again = flow.in_loop(at, index);
                let trip = trips.get(&next).filter(|_| again).map_or(0, |trip| trip + 1);
                if trip >= MAX_TRIPS {
                    return None;
                }
                trips.insert(next, trip);
            }
            at = next;
        }
    }

    /// The barriers on the ways of a fork, up to where all its ways meet.
    fn between(&mut self, fork: BlockId) -> Vec<usize> {
        if let Some(known) = self.between.get(&fork) {
            return known.clone();
        }
        let flow = &self.check.analysed.flow;
        let meets = flow.control.meets(fork);
        let mut seen = vec![false; flow.successors.len()];
        let mut work = flow.successors[fork.index()].clone();
        while let Some(block) = work.pop() {
            if Some(block) != meets && !std::mem::replace(&mut seen[block.index()], true) {
                work.extend(flow.successors[block.index()].iter().copied());
            }
        }
        let found: Vec<usize> = (0..self.sites.len()).filter(|site| seen[self.sites[*site].index()]).collect();
        self.between.insert(fork, found.clone());
        found
    }

    /// The way that all lanes of a warp take at a fork.
    fn way(
        &self,
        block: [u32; 3],
        warp: u32,
        fork: BlockId,
        trips: &FxHashMap<BlockId, i64>,
        assumed: Assumed,
    ) -> Option<BlockId> {
        let check = self.check;
        let on = check.analysed.values.condition[fork.index()]?;
        let given = |leaf: Symbol| match check.analysed.values.symbols.node(leaf) {
            Node::Leaf(Leaf::Iteration(header)) => trips.get(header).copied(),
            _ => match assumed {
                Some((argument, size)) if argument == leaf => Some(size),
                _ => reach::of_the_block(check, leaf, block),
            },
        };
        let way = |lane: u32| {
            let thread = reach::thread(block, warp * WARP + lane);
            reach::target(check, fork, check.facts.value(on, &thread, &given)?)
        };
        let first = way(0)?;
        let together =
            check.facts.agreement(on).shown >= Extent::WARP || (1..WARP).all(|lane| way(lane) == Some(first));
        together.then_some(first)
    }
}
