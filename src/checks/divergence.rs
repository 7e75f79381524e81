//! Barriers of blocks, tiles, clusters, grids and of groups made on the spot: does the whole group come?

use super::leaving::{self, Ways};
use super::{Check, Verdict};
use crate::finding::Rule;
use crate::flow::control::Dependence;
use crate::graph::{Barrier, BlockId, Group, InstId, Outcome, Value};
use crate::rules;
use crate::uniformity::extent::Extent;

/// A barrier for a group of known size.
pub fn check(check: &Check, inst: InstId, barrier: &Barrier, need: Extent) -> Option<Verdict> {
    let block = check.analysed.block(inst);
    if check.comes_whole(block, need) {
        return None;
    }
    let within_warp = need <= Extent::WARP && !matches!(barrier.group, Group::Counted { .. });
    let splitting: Vec<(Dependence, Ways)> = check
        .dependences(block)
        .iter()
        .filter(|each| check.parts(inst, **each, need))
        .map(|each| (*each, leaving::ways(check, inst, *each)))
        .filter(|(_, ways)| !ways.all_come())
        .filter(|(each, ways)| {
            let meant = within_warp && ways.all_end();
            !(meant
                || forgiven(check, barrier, need, *ways)
                || met_by_name(check, barrier, *each, need)
                || met_by_object(check, barrier, *each))
        })
        .collect();
    verdict(check, inst, need, &splitting)
}

/// Threads that have ended count as arrived, if the user says so.
pub fn forgiven(check: &Check, barrier: &Barrier, need: Extent, ways: Ways) -> bool {
    let forgiving = matches!(
        barrier.group,
        Group::Block | Group::Named { .. } | Group::Cluster | Group::Tile { .. } | Group::Object { .. }
    );
    check.policy.exited_may_be_missing && forgiving && need <= Extent::CLUSTER && ways.all_end()
}

/// A group of whoever was there when it was made: all of those must come.
pub fn formed(check: &Check, inst: InstId, by: Value) -> Option<Verdict> {
    let made = check.dependences(check.analysed.block(by));
    let need = Extent::WARP;
    let splitting: Vec<(Dependence, Ways)> = check
        .dependences(check.analysed.block(inst))
        .iter()
        .filter(|each| !made.contains(each))
        .filter(|each| !check.parted_by(by, each.fork))
        .filter(|each| check.parts(inst, **each, need))
        .map(|each| (*each, leaving::ways(check, inst, *each)))
        .filter(|(_, ways)| !ways.all_end() && !ways.all_come())
        .collect();
    verdict(check, inst, need, &splitting)
}

/// The nearest fork in the innermost function leads; the rule is what it does to the barrier.
fn verdict(check: &Check, inst: InstId, need: Extent, splitting: &[(Dependence, Ways)]) -> Option<Verdict> {
    let chain = check.chain(check.analysed.graph.insts[inst.index()].frame);
    let (index, distance) = splitting
        .iter()
        .enumerate()
        .map(|(index, (each, _))| (index, check.distance(&chain, each.fork)))
        .min_by_key(|(index, distance)| (*distance, *index))?;
    let (lead, ways) = splitting[index];
    let agreement = check.analysed.fork(&check.facts, lead.fork);
    let racy = agreement.ordered >= need;
    let rule = if racy { &rules::RACY_BROADCAST } else { rule(check, inst, lead, ways) };
    let others = splitting.iter().map(|(each, _)| *each).filter(|each| each.fork != lead.fork).collect();
    Some(Verdict {
        rule,
        likely: !racy && agreement.hoped >= need,
        lead: Some(lead),
        others,
        frame: chain[distance],
        need,
        scope: None,
        message: None,
        help: None,
        witness: None,
        also: Vec::new(),
    })
}

pub fn rule(check: &Check, inst: InstId, lead: Dependence, ways: Ways) -> &'static Rule {
    if (ways.ends || ways.returns) && !ways.goes_on {
        &rules::DIVERGENT_EXIT
    } else if leaving::leaves_loop(check, inst, lead) {
        &rules::DIVERGENT_LOOP
    } else {
        &rules::DIVERGENT_BRANCH
    }
}

/// A barrier's object counts this thread: `arrive`, `arrive_and_wait`, `arrive_and_drop`.
pub fn arrives(barrier: &Barrier) -> bool {
    barrier.name.contains("arrive")
}

/// Arrivals at one object count wherever they stand: one on every way of the fork is none missing. How often those in
/// loops come is left to the reader.
fn met_by_object(check: &Check, barrier: &Barrier, dependence: Dependence) -> bool {
    let Group::Object { address } = &barrier.group else { return false };
    let address = check.analysed.symbol(*address);
    let counts = |other: &Barrier| match &other.group {
        Group::Object { address: own } => arrives(other) && check.may_be_one(check.analysed.symbol(*own), address),
        _ => false,
    };
    every_way_of(check, dependence, &counts, Passes::InLoops)
}

/// PTX's unaligned barriers match by number from different places: one on every way of the fork is none missing.
pub fn met_by_name(check: &Check, barrier: &Barrier, dependence: Dependence, need: Extent) -> bool {
    let (id, count) = match &barrier.group {
        Group::Named { id, aligned: false } => (*id, None),
        Group::Counted { id, aligned: false, count } => (*id, Some(*count)),
        _ => return false,
    };
    if need > Extent::WARP && check.analysed.fork(&check.facts, dependence.fork).shown < Extent::WARP {
        return false;
    }
    let votes = barrier.result != Outcome::Nothing;
    let symbol = |value: Option<Value>| value.map(|value| check.analysed.symbol(value));
    let matches = |other: &Barrier| match &other.group {
        // A vote does not meet a plain barrier.
        _ if (other.result != Outcome::Nothing) != votes => false,
        Group::Named { id: other_id, aligned: false } => count.is_none() && symbol(*other_id) == symbol(id),
        Group::Counted { id: other_id, aligned: false, count: other_count } => {
            symbol(*other_id) == symbol(id)
                && count.is_some_and(|count| check.analysed.symbol(count) == check.analysed.symbol(*other_count))
        }
        _ => false,
    };
    every_way_of(check, dependence, &matches, Passes::Ever)
}

/// How a way has to pass a barrier.
#[derive(Copy, Clone, PartialEq, Eq)]
pub enum Passes {
    /// Before it waits at any other one.
    AtOnce,
    Ever,
    /// Or on each trip of a loop, which is taken to make one.
    InLoops,
}

/// Every way of the fork passes a barrier that `matches` before the ways meet again.
pub fn every_way_of(check: &Check, dependence: Dependence, matches: &dyn Fn(&Barrier) -> bool, how: Passes) -> bool {
    let flow = &check.analysed.flow;
    let meets = flow.control.meets(dependence.fork);
    let is_met = |block: BlockId| Some(block) == meets;
    flow.successors[dependence.fork.index()].iter().all(|way| every_way_passes(check, *way, &is_met, matches, how))
}

/// The same, the ways that do not lead to `inst` as often as it stands on its own way; where that one goes on to the same
/// barrier as another the two have met, though others may have ended in between.
pub fn others_match(
    check: &Check,
    inst: InstId,
    dependence: Dependence,
    matches: &dyn Fn(&Barrier) -> bool,
    how: Passes,
) -> bool {
    let flow = &check.analysed.flow;
    let meets = flow.control.meets(dependence.fork);
    let mut behind = rustc_hash::FxHashSet::default();
    let mut work = vec![check.analysed.block(inst)];
    while let Some(block) = work.pop() {
        let onward = flow.successors[block.index()].iter();
        work.extend(onward.filter(|next| **next != dependence.fork && behind.insert(**next)).copied());
    }
    let is_met = |block: BlockId| Some(block) == meets || behind.contains(&block);
    let needed = needed(check, inst, dependence, matches);
    flow.successors[dependence.fork.index()].iter().all(|way| {
        let is_own = *way == dependence.by;
        every_way_passes(check, *way, &is_met, matches, how)
            && (needed == 1 || is_own || passes_as_often(check, *way, &is_met, matches, needed))
    })
}

fn every_way_passes(
    check: &Check,
    from: BlockId,
    is_met: &dyn Fn(BlockId) -> bool,
    matches: &dyn Fn(&Barrier) -> bool,
    how: Passes,
) -> bool {
    let graph = check.analysed.graph;
    let mut seen = rustc_hash::FxHashSet::default();
    let mut work = vec![from];
    while let Some(block) = work.pop() {
        if is_met(block) {
            return false;
        }
        if !seen.insert(block) {
            continue;
        }
        if how == Passes::InLoops && each_trip_passes(check, block, matches) {
            continue;
        }
        let mut barriers = graph.blocks[block.index()].insts.iter().filter_map(|inst| check.as_barrier(*inst));
        match barriers.find(|barrier| matches(barrier) || how == Passes::AtOnce && barrier.waits) {
            Some(first) if matches(first) => continue,
            Some(_) => return false,
            None => {}
        }
        let onward = &check.analysed.flow.successors[block.index()];
        if onward.is_empty() {
            return false;
        }
        work.extend(onward.iter().copied());
    }
    true
}

/// The block is the head of a loop that passes such a barrier on each trip.
fn each_trip_passes(check: &Check, head: BlockId, matches: &dyn Fn(&Barrier) -> bool) -> bool {
    let flow = &check.analysed.flow;
    let Some(index) = flow.head_of[head.index()] else { return false };
    let each = &flow.loops[index];
    let on_each_trip = |block: BlockId| each.latches.iter().all(|latch| flow.dominates(block, *latch));
    let passes = |block: BlockId| {
        let insts = &check.analysed.graph.blocks[block.index()].insts;
        insts.iter().filter_map(|inst| check.as_barrier(*inst)).any(matches)
    };
    each.blocks.iter().any(|block| passes(*block) && on_each_trip(*block))
}

/// How many barriers that `matches` stand on the instruction's own way up to it, itself included.
fn needed(check: &Check, inst: InstId, dependence: Dependence, matches: &dyn Fn(&Barrier) -> bool) -> usize {
    let flow = &check.analysed.flow;
    let block = check.analysed.block(inst);
    let before = |at: BlockId| {
        let insts = &check.analysed.graph.blocks[at.index()].insts;
        let upto = insts.iter().take_while(|other| at != block || **other != inst);
        upto.filter_map(|other| check.as_barrier(*other)).filter(|barrier| matches(barrier)).count()
    };
    let on_the_way = |at: &BlockId| flow.dominates(dependence.by, *at) && flow.dominates(*at, block);
    1 + flow.order.iter().copied().filter(on_the_way).map(before).sum::<usize>()
}

/// Every way from one block to the other passes so many barriers that `matches`.
fn passes_as_often(
    check: &Check,
    from: BlockId,
    is_met: &dyn Fn(BlockId) -> bool,
    matches: &dyn Fn(&Barrier) -> bool,
    needed: usize,
) -> bool {
    let mut seen = rustc_hash::FxHashSet::default();
    let mut work = vec![(from, 0)];
    while let Some((block, before)) = work.pop() {
        if is_met(block) {
            return false;
        }
        let insts = &check.analysed.graph.blocks[block.index()].insts;
        let here = insts.iter().filter_map(|inst| check.as_barrier(*inst)).filter(|barrier| matches(barrier)).count();
        let passed = before + here;
        if passed >= needed || !seen.insert((block, passed)) {
            continue;
        }
        let onward = &check.analysed.flow.successors[block.index()];
        if onward.is_empty() {
            return false;
        }
        work.extend(onward.iter().map(|next| (*next, passed)));
    }
    true
}
