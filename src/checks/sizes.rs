//! A kernel that asks for its block's size itself: `if (blockDim.x != 128) return;`.
//!
//! Where no launch is in view, blocks of all sizes count. Of these only some may come to a barrier, and in all of them the
//! threads may go one way at a fork that parts them in others.

use super::Check;
use super::reach::{self, Reach};
use crate::flow::control::Dependence;
use crate::graph::InstId;
use crate::uniformity::extent::Extent;

/// In every block that comes to the barrier, all its threads go one way at the fork.
pub fn settle(check: &Check, inst: InstId, dependence: Dependence) -> bool {
    let shape = &check.analysed.shape;
    if shape.block.is_some() || !shape.is_line() {
        return false;
    }
    let block = check.analysed.block(inst);
    let asks = check.dependences(block).iter().any(|each| {
        let on = check.analysed.values.condition[each.fork.index()];
        each.fork != dependence.fork
            && check.analysed.fork(&check.facts, each.fork).shown >= Extent::BLOCK
            && on.is_some_and(|on| reach::speaks_of_the_block(check, on))
    });
    if !asks {
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
