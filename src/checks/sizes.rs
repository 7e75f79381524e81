//! A kernel that asks for its block's size itself: `if (blockDim.x != 128) return;`.
//!
//! Where no launch is in view, blocks of all sizes count. Of these only some may come to a barrier, and in all of them the
//! threads may go one way at a fork that parts them in others.

use super::Check;
use super::reach::{self, Reach};
use crate::flow::control::Dependence;
use crate::graph::{BlockId, InstId};
use crate::uniformity::extent::Extent;

/// In every block that comes to the barrier, all its threads go one way at the fork.
pub fn settle(check: &Check, inst: InstId, dependence: Dependence) -> bool {
    let shape = &check.analysed.shape;
    if shape.block.is_some() || !shape.is_line() {
        return false;
    }
    let block = check.analysed.block(inst);
    if check.asking(block).iter().all(|fork| *fork == dependence.fork) {
        return false;
    }
    let sizes = check.sizes.get_or_init(|| {
        (1..=shape.most_threads() / 32).map(|warps| reach::reach(check, [warps * 32, 1, 1])).collect::<Vec<Reach>>()
    });
    let coming: Vec<&Reach> = sizes.iter().filter(|reach| !reach.come[block.index()].is_empty()).collect();
    let agreement = check.analysed.fork(&check.facts, dependence.fork).shown;
    let keeps_together = |reach: &&Reach| {
        agreement.threads().is_some_and(|threads| threads >= reach.block[0])
            || reach.all_go_one_way(check, dependence.fork)
    };
    !coming.is_empty() && coming.len() < sizes.len() && coming.iter().all(keeps_together)
}

/// Forks in front of a block by which all its threads go one way, asking for its size.
pub fn asking(check: &Check, block: BlockId) -> Vec<BlockId> {
    let asks = |fork: &BlockId| {
        let on = check.analysed.values.condition[fork.index()];
        check.analysed.fork(&check.facts, *fork).shown >= Extent::BLOCK
            && on.is_some_and(|on| reach::speaks_of_the_block(check, on))
    };
    check.dependences(block).iter().map(|each| each.fork).filter(asks).collect()
}
