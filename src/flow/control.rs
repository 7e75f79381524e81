//! Control dependence: block B depends on fork F by edge e if e always leads to B and another edge of F need not.
//!
//! The edge is remembered, since a message must say which way a thread went that never came, and so is where
//! the ways of a fork meet again.

use super::{Flow, postdom::PostDominators};
use crate::graph::BlockId;

#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Dependence {
    pub fork: BlockId,
    /// The successor of `fork` by which the block is reached.
    pub by: BlockId,
}

#[derive(Debug, Default)]
pub struct Control {
    direct: Vec<Vec<Dependence>>,
    /// Where all ways of a block come together again, `None`: only at the end.
    meets: Vec<Option<BlockId>>,
    /// More dependences than the budget; those of the remaining blocks are missing.
    pub overflow: bool,
}

/// Dependences one graph may have; real kernels have a few per block.
const BUDGET: usize = 4_000_000;

impl Control {
    pub fn new(flow: &Flow, post: &PostDominators) -> Control {
        let count = flow.successors.len();
        let mut control = Control {
            direct: vec![Vec::new(); count],
            meets: (0..count).map(|index| post.immediate(BlockId(index as u32))).collect(),
            overflow: false,
        };
        let mut total = 0;
        for fork in &flow.order {
            let targets = &flow.successors[fork.index()];
            if targets.len() < 2 {
                continue;
            }
            let stop = post.immediate(*fork);
            for by in targets {
                let mut at = Some(*by);
                while at != stop {
                    let Some(block) = at else { break };
                    control.direct[block.index()].push(Dependence { fork: *fork, by: *by });
                    total += 1;
                    if total > BUDGET {
                        control.overflow = true;
                        return control;
                    }
                    at = post.immediate(block);
                }
            }
        }
        control
    }

    /// The forks that decide directly whether `block` runs.
    pub fn direct(&self, block: BlockId) -> &[Dependence] {
        &self.direct[block.index()]
    }

    /// All forks that decide whether `block` runs, nearest first, each once.
    pub fn all(&self, block: BlockId) -> Vec<Dependence> {
        let mut found: Vec<Dependence> = Vec::new();
        let mut seen = rustc_hash::FxHashSet::default();
        let mut next = 0;
        for dependence in self.direct(block) {
            if seen.insert(*dependence) {
                found.push(*dependence);
            }
        }
        while next < found.len() {
            let fork = found[next].fork;
            next += 1;
            for dependence in self.direct(fork) {
                if seen.insert(*dependence) {
                    found.push(*dependence);
                }
            }
        }
        found
    }

    pub fn meets(&self, block: BlockId) -> Option<BlockId> {
        self.meets[block.index()]
    }
}
