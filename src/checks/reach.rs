//! Which threads of a block can come to each basic block: forks over the thread index are followed thread by thread.
//!
//! A condition that is not known leads both ways, so what is found is who may come; `certain` says where all of them do,
//! once each. How often a loop goes round it leaves to `rounds`; in which order threads come it does not know.

use super::Check;
use crate::graph::{Axis, BlockId, End, Source};
use crate::uniformity::extent::Extent;
use crate::uniformity::facts::Thread;
use crate::uniformity::shape::MAX_THREADS;
use crate::uniformity::symbols::{Leaf, Node, Symbol};
use rustc_hash::FxHashMap;

const WORDS: usize = MAX_THREADS as usize / 64;

/// A set of threads of a block, by rank.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Threads([u64; WORDS]);

impl Threads {
    pub fn first(count: u32) -> Threads {
        let below = |word: usize| match count.saturating_sub(word as u32 * 64) {
            rest @ 0..64 => (1 << rest) - 1,
            _ => u64::MAX,
        };
        Threads(std::array::from_fn(below))
    }

    pub fn add(&mut self, rank: u32) {
        if let Some(word) = self.0.get_mut(rank as usize / 64) {
            *word |= 1 << (rank % 64);
        }
    }

    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    pub fn and(&self, other: &Threads) -> Threads {
        Threads(std::array::from_fn(|index| self.0[index] & other.0[index]))
    }

    pub fn or(&self, other: &Threads) -> Threads {
        Threads(std::array::from_fn(|index| self.0[index] | other.0[index]))
    }

    pub fn without(&self, other: &Threads) -> Threads {
        Threads(std::array::from_fn(|index| self.0[index] & !other.0[index]))
    }

    pub fn ranks(&self) -> impl Iterator<Item = u32> + '_ {
        (0..).zip(self.0).flat_map(|(word, mut left)| {
            std::iter::from_fn(move || {
                let bit = left.trailing_zeros();
                left &= left.checked_sub(1)?;
                Some(word * 64 + bit)
            })
        })
    }

    pub fn count(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// Some lane of the warp is in it.
    pub fn has_warp(&self, warp: usize) -> bool {
        self.0.get(warp / 2).is_some_and(|word| (word >> (warp % 2 * 32)) as u32 != 0)
    }

    /// Warps of which some lane is in it.
    pub fn warps(&self) -> u32 {
        self.0.iter().map(|word| u32::from(*word as u32 != 0) + u32::from(word >> 32 != 0)).sum()
    }
}

/// Who comes where in a block of known extents.
pub struct Reach {
    pub block: [u32; 3],
    /// By basic block.
    pub come: Vec<Threads>,
    /// Forks at which some thread's way is not known.
    open: Vec<bool>,
}

/// Follows all threads of a block of these extents from the entry.
pub fn reach(check: &Check, block: [u32; 3]) -> Reach {
    reach_with(check, block, &|_| true, None)
}

/// The values of leaves that are assumed.
pub type Given<'a> = &'a dyn Fn(Symbol) -> Option<i64>;

/// The same, asking only forks that are `asked`, and under assumptions about what the whole block agrees on.
pub fn reach_with(check: &Check, block: [u32; 3], asked: &dyn Fn(BlockId) -> bool, given: Option<Given>) -> Reach {
    let flow = &check.analysed.flow;
    let count = flow.successors.len();
    let size = block.iter().fold(1u32, |size, extent| size.saturating_mul(*extent)).min(MAX_THREADS);
    let mut found = Reach { block, come: vec![Threads::default(); count], open: vec![false; count] };
    let Some(entry) = flow.order.first() else { return found };
    let mut ways_of: FxHashMap<BlockId, (Vec<(BlockId, Threads)>, bool)> = FxHashMap::default();
    let mut waiting = vec![false; count];
    found.come[entry.index()] = Threads::first(size);
    waiting[entry.index()] = true;
    // In order, so that all but the loops is done in one walk.
    let mut again = true;
    while std::mem::take(&mut again) {
        for from in &flow.order {
            if !std::mem::take(&mut waiting[from.index()]) {
                continue;
            }
            let here = found.come[from.index()];
            let mut send = |to: BlockId, takes: Threads| {
                let come = found.come[to.index()].or(&takes);
                if come != found.come[to.index()] {
                    found.come[to.index()] = come;
                    waiting[to.index()] = true;
                    again |= flow.position[to.index()] <= flow.position[from.index()];
                }
            };
            match flow.successors[from.index()].as_slice() {
                [only] => send(*only, here),
                several if !asked(*from) => {
                    several.iter().for_each(|to| send(*to, here));
                    found.open[from.index()] = true;
                }
                _ => {
                    let (ways, open) = ways_of.entry(*from).or_insert_with(|| ways(check, *from, block, size, given));
                    ways.iter().for_each(|(to, takes)| send(*to, here.and(takes)));
                    found.open[from.index()] = *open;
                }
            }
        }
    }
    found
}

impl Reach {
    /// At the fork some thread's way is not known.
    pub fn is_open(&self, fork: BlockId) -> bool {
        self.open[fork.index()]
    }

    /// All who come to a fork surely take the same way.
    pub fn all_go_one_way(&self, check: &Check, fork: BlockId) -> bool {
        let size = self.block.iter().fold(1u32, |size, extent| size.saturating_mul(*extent)).min(MAX_THREADS);
        let (ways, open) = ways(check, fork, self.block, size, None);
        let come = &self.come[fork.index()];
        !open && ways.iter().any(|(_, takes)| come.without(takes).is_empty())
    }

    /// The value of a symbol in a thread, where it is made of the thread index and the block's extents.
    pub fn value(&self, check: &Check, symbol: Symbol, rank: u32) -> Option<i64> {
        value(check, symbol, self.block, rank)
    }
}

/// By which edges of a fork which threads go on, and whether that is unknown for some.
fn ways(
    check: &Check,
    from: BlockId,
    block: [u32; 3],
    size: u32,
    given: Option<Given>,
) -> (Vec<(BlockId, Threads)>, bool) {
    let successors = &check.analysed.flow.successors[from.index()];
    let everyone = Threads::first(size);
    let all = |open: bool| (successors.iter().map(|to| (*to, everyone)).collect(), open);
    let Some(on) = check.analysed.values.condition[from.index()] else { return all(true) };
    let alike = check.analysed.fork(&check.facts, from).shown >= Extent::BLOCK;
    let target = |rank: u32| {
        let value = match given {
            Some(given) => check.facts.value(on, &thread(block, rank), given),
            None => value(check, on, block, rank),
        };
        value.and_then(|value| target(check, from, value))
    };
    if alike && given.is_some() {
        return match target(0) {
            Some(to) => (vec![(to, everyone)], false),
            None => all(true),
        };
    }
    if alike && !speaks_of_the_block(check, on) {
        return all(true);
    }
    let mut taken: Vec<(BlockId, Threads)> = successors.iter().map(|to| (*to, Threads::default())).collect();
    let mut open = false;
    for rank in 0..size {
        let target = target(rank);
        open |= target.is_none();
        for (to, threads) in &mut taken {
            if target.is_none_or(|target| target == *to) {
                threads.add(rank);
            }
        }
    }
    (taken, open)
}

/// The successor that a value of a fork's condition leads to.
pub fn target(check: &Check, from: BlockId, value: i64) -> Option<BlockId> {
    match &check.analysed.graph.blocks[from.index()].end {
        End::Branch { yes, no, .. } => Some(if value != 0 { *yes } else { *no }),
        End::Switch { cases, default, .. } => {
            for (case, to) in cases {
                if check.analysed.values.symbols.as_int(check.analysed.symbol(*case))? == value {
                    return Some(*to);
                }
            }
            Some(*default)
        }
        _ => None,
    }
}

/// A thread of a block of these extents by its rank.
pub fn thread([across, down, _]: [u32; 3], rank: u32) -> Thread {
    let (across, down) = (across.max(1), down.max(1));
    Thread { rank, x: rank % across, y: rank / across % down, z: rank / across / down }
}

pub fn speaks_of_the_block(check: &Check, symbol: Symbol) -> bool {
    let symbols = &check.analysed.values.symbols;
    symbols
        .leaves(symbol)
        .iter()
        .any(|leaf| matches!(symbols.node(*leaf), Node::Leaf(Leaf::Source(Source::BlockDim(_) | Source::BlockSize))))
}

fn value(check: &Check, symbol: Symbol, block: [u32; 3], rank: u32) -> Option<i64> {
    check.facts.value(symbol, &thread(block, rank), &|leaf| of_the_block(check, leaf, block))
}

/// What a leaf says of the block, if it does.
pub fn of_the_block(check: &Check, leaf: Symbol, block: [u32; 3]) -> Option<i64> {
    match check.analysed.values.symbols.node(leaf) {
        Node::Leaf(Leaf::Source(Source::BlockDim(axis))) => {
            let axis = match axis {
                Axis::X => 0,
                Axis::Y => 1,
                Axis::Z => 2,
            };
            Some(i64::from(block[axis]))
        }
        Node::Leaf(Leaf::Source(Source::BlockSize)) => Some(block.iter().map(|extent| i64::from(*extent)).product()),
        _ => None,
    }
}
