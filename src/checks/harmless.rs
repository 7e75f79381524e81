//! Races whose outcome keeps nobody from a barrier.
//!
//! ```text
//!     if (shared.error) return;          // the fork
//!     if (threadIdx.x == 0 && broken()) { shared.error = 1; return; }      // the write: it, too, leads away
//!     __syncthreads();                   // the barrier
//! ```

use super::Check;
use super::conditions;
use super::ways::Ways;
use crate::flow::control::Dependence;
use crate::graph::{BlockId, InstId};
use crate::uniformity::evaluate::Access;
use crate::uniformity::extent::Extent;
use crate::uniformity::memory::Race;
use crate::uniformity::symbols::{Leaf, Node, Symbol};
use rustc_hash::FxHashSet;

/// Values that are followed from a condition back to what races.
const MAX_VALUES: usize = 200;

/// What a fork tests hangs on races alone, and none of them keeps a thread of the group from the barrier.
pub fn change_nothing(check: &Check, inst: InstId, dependence: Dependence, need: Extent) -> bool {
    let Some(on) = check.analysed.values.condition[dependence.fork.index()] else { return false };
    let Some(loads) = racing_loads(check, on, need) else { return false };
    let pair = Pair { check, inst, dependence, need };
    loads.iter().all(|(load, race)| {
        let mut parting =
            race.writes.iter().filter(|(_, parted)| *parted <= need.max(Extent::WARP)).map(|(write, _)| *write);
        let access = |inst: InstId| check.analysed.values.writes.iter().find(|write| write.inst == inst);
        parting.all(|write| {
            pair.leads_away(load, race, write)
                || access(write).is_some_and(|write| {
                    pair.excludes_barrier(load, race, write) || !pair.meet_on_some_way(load, race, write)
                })
        })
    })
}

/// The loads on whose races alone it hangs that a group does not agree on a condition; `None` if something else parts it.
fn racing_loads<'c>(check: &'c Check, on: Symbol, need: Extent) -> Option<Vec<(&'c Access, &'c Race)>> {
    let analysed = check.analysed;
    let values = &analysed.values;
    let control = &analysed.flow.control;
    let mut found = Vec::new();
    let mut seen = FxHashSet::default();
    let mut work = vec![on];
    while let Some(symbol) = work.pop() {
        for leaf in values.symbols.leaves(symbol) {
            if check.facts.agreement(leaf).shown >= need || !seen.insert(leaf) {
                continue;
            }
            if seen.len() > MAX_VALUES {
                return None;
            }
            if let (Some(race), Some(load)) = (analysed.solution.races.get(&leaf), values.loads.get(&leaf)) {
                found.push((load, race));
                continue;
            }
            let Node::Leaf(Leaf::Phi(join, _)) = values.symbols.node(leaf) else { return None };
            let above: FxHashSet<BlockId> = control.all(*join).iter().map(|each| each.fork).collect();
            for (from, slot) in &values.phis.get(&leaf)?.incoming {
                work.push(slot.value);
                let deciding = control.all(*from).into_iter().filter(|each| !above.contains(&each.fork));
                work.extend(deciding.filter_map(|each| values.condition[each.fork.index()]));
            }
        }
    }
    (!found.is_empty()).then_some(found)
}

/// A barrier, and a fork that decides who comes to it.
struct Pair<'c, 'a> {
    check: &'c Check<'a>,
    inst: InstId,
    dependence: Dependence,
    need: Extent,
}

impl Pair<'_, '_> {
    /// Whoever goes by what the fork tests leads to the barrier only where nobody has written it in the meantime.
    ///
    /// Threads that see the old value go the writer's own way, those that see the new one either that way or another.
    /// The race keeps no one from the barrier if, up to the next barrier of the group, the write stands behind the same
    /// way of the fork as the barrier, and neither the write nor another way of the fork leads on to the barrier, nor the
    /// write round to what the fork tests; nor does the write later, but through the fork again.
    fn leads_away(&self, load: &Access, race: &Race, write: InstId) -> bool {
        let Pair { check, inst, dependence, need } = *self;
        // Of a warp, or of many blocks, the writer need not be one.
        if need != Extent::BLOCK || !race.within_block {
            return false;
        }
        let flow = &check.analysed.flow;
        let order = check.order();
        let (fork, block) = (dependence.fork, check.analysed.block(write));
        let leads_to = |to: InstId| {
            let mut others = flow.successors[fork.index()].iter().filter(|way| **way != dependence.by);
            others.any(|way| order.leads_to(*way, to, need))
        };
        flow.dominates(load.block, fork)
            && block != fork
            && flow.dominates(fork, block)
            && !leads_to(inst)
            && !leads_to(write)
            && !order.unordered(write, inst, need, true)
            && !order.unordered(write, load.inst, need, true)
            && !flow.leads_round(block, check.analysed.block(inst), fork)
    }

    /// The group whose barriers hold the write back: the writer may be of another warp, or of another block.
    fn ordering(&self, load: &Access, race: &Race, write: &Access) -> Extent {
        match self.need.max(Extent::WARP) {
            _ if !race.within_block => Extent::GRID,
            Extent::WARP if self.check.memory().comes_from_another_warp(&self.check.facts, load, write) => {
                Extent::BLOCK
            }
            need => need,
        }
    }

    /// On a later trip of a loop that holds both, the second one may meet what the first one did on an earlier trip.
    fn meets_later(&self, by: Extent, early: &Access, late: &Access) -> bool {
        let check = self.check;
        let memory = check.memory();
        check.analysed.flow.common_loop(early.block, late.block).is_some()
            && memory.order.unordered(early.inst, late.inst, by, true)
            && memory.may_meet_later(&check.facts, self.need, by, early, late)
    }

    /// The write stands behind a fork that all of the group go one way at, and on that way nobody comes to the barrier any
    /// more on this trip: where it is written, nobody is missing there.
    fn excludes_barrier(&self, load: &Access, race: &Race, write: &Access) -> bool {
        let Pair { check, inst, .. } = *self;
        let flow = &check.analysed.flow;
        let barrier = check.analysed.block(inst);
        let by = self.ordering(load, race, write);
        if self.meets_later(by, load, write) || self.meets_later(by, write, load) {
            return false;
        }
        let agree = |fork: BlockId| check.analysed.fork(&check.facts, fork).shown >= by;
        let above = flow.control.all(write.block);
        let is_chain = |top: BlockId, fork: BlockId| {
            let between = flow.control.all(fork).into_iter().map(|each| each.fork);
            between.filter(|each| *each != top && flow.dominates(top, *each)).all(agree)
        };
        let tops = || above.iter().map(|each| each.fork).filter(|top| agree(*top) && flow.dominates(*top, barrier));
        above.iter().filter(|each| agree(each.fork) && flow.only_by(each.by, write.block)).any(|each| {
            tops().any(|top| {
                let trip = flow.common_loop(top, barrier);
                trip.is_none_or(|index| flow.in_loop(load.block, index))
                    && flow.dominates(top, each.fork)
                    && is_chain(top, each.fork)
                    && !self.comes_on_this_trip(each.by, barrier, trip)
            })
        })
    }

    /// Some way leads from one block to another without a further trip of the loop.
    fn comes_on_this_trip(&self, from: BlockId, to: BlockId, trip: Option<usize>) -> bool {
        let flow = &self.check.analysed.flow;
        flow.leads_round(from, to, trip.map_or(to, |index| flow.loops[index].header))
    }

    /// Between the two some thread finds a way, if what guards them and the barrier holds.
    fn meet_on_some_way(&self, load: &Access, race: &Race, write: &Access) -> bool {
        let Pair { check, inst, .. } = *self;
        let (order, by) = (check.order(), self.ordering(load, race, write));
        let symbols = &check.analysed.values.symbols;
        let fixed =
            |on: Symbol| symbols.all_leaves(on, |leaf| matches!(symbols.node(leaf), Node::Leaf(Leaf::Source(_))));
        let guards = |block: BlockId| {
            let own = check.dependences(block);
            let sure: Vec<Dependence> =
                own.iter().filter(|each| check.analysed.flow.only_by(each.by, block)).copied().collect();
            sure.into_iter().filter_map(|each| conditions::condition(check, each))
        };
        let of_all = |(on, _): &(Symbol, bool)| fixed(*on) && check.facts.agreement(*on).shown >= by;
        let of_barrier: Vec<(Symbol, bool)> = guards(check.analysed.block(inst)).filter(of_all).collect();
        let ways = Ways::new(check);
        let leads = |from: &Access, to: &Access| {
            let holds: Vec<(Symbol, bool)> = guards(from.block).chain(of_barrier.iter().copied()).collect();
            let round = self.meets_later(by, from, to);
            (round || order.unordered(from.inst, to.inst, by, false))
                && ways.lead(from.inst, to.inst, by, round, &holds)
        };
        leads(load, write) || leads(write, load)
    }
}
