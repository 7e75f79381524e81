//! Races whose outcome keeps nobody from a barrier.
//!
//! ```text
//!     if (shared.error) return;          // the fork
//!     if (threadIdx.x == 0 && broken()) { shared.error = 1; return; }      // the write: it, too, leads away
//!     __syncthreads();                   // the barrier
//! ```

use super::Check;
use crate::flow::control::Dependence;
use crate::graph::InstId;
use crate::uniformity::extent::Extent;
use crate::uniformity::symbols::Symbol;

/// Whoever goes by what a fork tests leads to the barrier only where nobody has written it in the meantime.
///
/// Threads that see the old value go the writer's own way, those that see the new one either that way or another.
/// The race keeps no one from the barrier if, up to the next barrier of the group, the write stands behind the same
/// way of the fork as the barrier, and neither the write nor another way of the fork leads on to the barrier, nor the
/// write round to what the fork tests; nor does the write later, but through the fork again.
pub fn change_nothing(check: &Check, inst: InstId, dependence: Dependence, need: Extent) -> bool {
    // Of a warp, or of many blocks, the writer need not be one.
    if need != Extent::BLOCK {
        return false;
    }
    let analysed = check.analysed;
    let flow = &analysed.flow;
    let fork = dependence.fork;
    let Some(on) = analysed.values.condition[fork.index()] else { return false };
    let order = check.order();
    let barrier = analysed.block(inst);
    let others: Vec<_> = flow.successors[fork.index()].iter().filter(|way| **way != dependence.by).collect();
    if others.iter().any(|way| order.leads_to(**way, inst, need)) {
        return false;
    }
    let differs = |leaf: &Symbol| check.facts.agreement(*leaf).shown < need;
    analysed.values.symbols.leaves(on).into_iter().filter(differs).all(|leaf| {
        let (Some(race), Some(load)) = (analysed.solution.races.get(&leaf), analysed.values.loads.get(&leaf)) else {
            return false;
        };
        race.within_block
            && flow.dominates(load.block, fork)
            && race.writes.iter().all(|write| {
                let behind = analysed.block(*write) != fork && flow.dominates(fork, analysed.block(*write));
                behind
                    && !order.unordered(*write, inst, need, true)
                    && !order.unordered(*write, load.inst, need, true)
                    && !flow.leads_round(analysed.block(*write), barrier, fork)
                    && !others.iter().any(|way| order.leads_to(**way, *write, need))
            })
    })
}
