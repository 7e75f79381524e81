//! Warp primitives: do exactly the lanes come that the mask names?
//!
//! CUDA C++ Programming Guide, "Warp Shuffle Functions" and "__syncwarp": each calling lane must be named in the mask,
//! and every named lane that has not exited must execute a corresponding primitive with the same mask.
//! Where the control depends on the thread index and constants, the lanes are counted out; else the mask must have
//! been made of the very condition that guards the primitive, or on the spot.

use super::conditions::{Conjunct, agrees, condition, conjuncts, guards};
use super::counted::{self, differs, masks, threads};
use super::divergence::Passes;
use super::leaving;
use super::sets::{Fit, Sets};
use super::{Check, Verdict};
use crate::finding::{Unit, Witness};
use crate::flow::control::Dependence;
use crate::graph::{Barrier, BlockId, Group, InstId, Op, Outcome, Value};
use crate::rules;
use crate::uniformity::extent::Extent;
use crate::uniformity::facts::Thread;
use crate::uniformity::state::Slot;
use crate::uniformity::symbols::{Leaf, Node, Symbol};

pub const ALL: u32 = u32::MAX;
pub const DIFFERENT: &str = "lanes that name each other come with different masks";

pub fn check(check: &Check, inst: InstId, barrier: &Barrier, mask: Option<Value>) -> Option<Verdict> {
    let mut splitting: Vec<Dependence> = splitting(check, inst, check.analysed.block(inst));
    let mask = mask.map(|mask| check.analysed.symbol(mask));
    // Lanes with masks of their own may go ways of their own.
    if let Some(mask) = mask.filter(|mask| check.facts.agreement(*mask).shown < Extent::WARP) {
        splitting.retain(|each| !check.agree_within(mask, each.fork));
    }
    match by_several_ways(check, inst, mask) {
        None => one_way(check, inst, barrier, mask, passed_by_all(splitting)),
        Some(Fit::Exact) => None,
        Some(misfit) => {
            let told = if splitting.is_empty() { None } else { one_way(check, inst, barrier, mask, splitting.clone()) };
            told.or_else(|| Some(verdict(check, inst, &splitting, None, misfit.text())))
        }
    }
}

/// Without the forks of which both ways lead there, unless these are all: nobody can go both at once.
fn passed_by_all(splitting: Vec<Dependence>) -> Vec<Dependence> {
    let only_way = |each: &&Dependence| splitting.iter().filter(|other| other.fork == each.fork).count() == 1;
    let passed: Vec<Dependence> = splitting.iter().filter(only_way).copied().collect();
    if passed.is_empty() { splitting } else { passed }
}

/// How the mask fits those who come, where lanes that part come together again in front of the primitive.
fn by_several_ways(check: &Check, inst: InstId, mask: Option<Symbol>) -> Option<Fit> {
    let block = check.analysed.block(inst);
    let parts = |each: &&Dependence| check.parts(inst, **each, Extent::WARP);
    let forks: Vec<Dependence> = check.dependences(block).iter().filter(parts).copied().collect();
    let flow = &check.analysed.flow;
    let one_way = forks.iter().all(|each| flow.only_by(each.by, block));
    // Who comes once more is decided in the trip before.
    let earlier_trip = forks.iter().any(|each| flow.position[each.fork.index()] >= flow.position[block.index()]);
    if one_way || earlier_trip { None } else { Sets::new(check, inst).fit_by_ways(mask, &forks) }
}

/// Whoever comes has gone the same way at every fork.
fn one_way(
    check: &Check,
    inst: InstId,
    barrier: &Barrier,
    mask: Option<Symbol>,
    splitting: Vec<Dependence>,
) -> Option<Verdict> {
    let carried = mask.and_then(|mask| Sets::new(check, inst).fit_carried(mask));
    if splitting.is_empty() {
        return all_come(check, inst, mask, &[])
            .or_else(|| carried.and_then(|fit| unlike_the_turn_before(check, inst, &[], fit)));
    }
    if same_on_every_way(check, inst, barrier, mask, &splitting) {
        return all_come(check, inst, mask, &splitting);
    }
    match mask.map(|mask| made(check, mask)) {
        Some(Made::Here(by)) => match beyond(check, by, inst, &splitting) {
            extra if extra.is_empty() => None,
            extra => Some(verdict(check, inst, &extra, None, "the mask was taken before threads parted here")),
        },
        Some(Made::Ballot { by, predicate }) => {
            let extra = beyond(check, by, inst, &splitting);
            if says(check, inst, &extra, predicate) || fit(check, inst, mask, &splitting) == Some(Fit::Exact) {
                return None;
            }
            let extra = if extra.is_empty() { splitting } else { extra };
            Some(verdict(
                check,
                inst,
                &extra,
                None,
                "the mask was made of another condition than the one that guards this call",
            ))
        }
        Some(Made::Choice(parts)) => {
            let is_settled = |part: &Part| carried.is_some() && !part.enters(check);
            let each_fits = parts.iter().all(|part| is_settled(part) || fits_in_loop(check, inst, part, &splitting));
            match carried {
                _ if !each_fits => {
                    Some(verdict(check, inst, &splitting, None, "the mask names lanes that do not come here"))
                }
                Some(fit) => unlike_the_turn_before(check, inst, &splitting, fit),
                None => None,
            }
        }
        Some(Made::Lanes) | None => counted::check(check, inst, mask, &splitting)
            .filter(|_| fit(check, inst, mask, &splitting) != Some(Fit::Exact)),
        // If nothing is known of the mask, a parameter, something computed, it may well be right.
        Some(Made::Unknown) => match fit(check, inst, mask, &splitting) {
            Some(Fit::Exact) => None,
            Some(misfit) => Some(verdict(check, inst, &splitting, None, misfit.text())),
            None => counted::tried(check, inst, mask?, &splitting),
        },
    }
}

/// What one turn of a loop makes of the mask does not fit those who come on the next one.
fn unlike_the_turn_before(check: &Check, inst: InstId, splitting: &[Dependence], fit: Fit) -> Option<Verdict> {
    let text = match fit {
        Fit::Exact => return None,
        Fit::LeavesOut => "lanes come on a further turn of the loop that the mask made on the turn before leaves out",
        Fit::NamesMore => "the mask made on the turn before names lanes that do not come on this one",
        Fit::Differs => DIFFERENT,
    };
    let help = "make the mask of what lets lanes come on the next turn, by a ballot among those it names".to_string();
    Some(Verdict { help: Some(help), ..verdict(check, inst, splitting, None, text) })
}

fn fit(check: &Check, inst: InstId, mask: Option<Symbol>, splitting: &[Dependence]) -> Option<Fit> {
    Sets::new(check, inst).fit(mask, splitting, &[])
}

/// The whole warp comes, and each lane names all others.
pub fn is_for_all(check: &Check, inst: InstId, barrier: &Barrier, mask: Option<Value>) -> bool {
    let number = |value: Value| check.analysed.values.symbols.as_int(check.analysed.symbol(value));
    mask.is_none_or(|mask| number(mask).is_some_and(|mask| mask as u32 == ALL))
        && barrier.width.is_none_or(|width| number(width).is_some())
        && splitting(check, inst, check.analysed.block(inst)).is_empty()
}

/// Forks that split the warp on the way to a block, but for those whose other lanes have ended.
pub fn splitting(check: &Check, inst: InstId, block: BlockId) -> Vec<Dependence> {
    check
        .dependences(block)
        .iter()
        .copied()
        .filter(|each| check.parts(inst, *each, Extent::WARP))
        .filter(|each| {
            let ways = leaving::ways(check, inst, *each);
            !ways.all_end() && !ways.all_come()
        })
        .collect()
}

/// Forks that split the warp after `by` was executed.
fn beyond(check: &Check, by: InstId, inst: InstId, splitting: &[Dependence]) -> Vec<Dependence> {
    let (from, to) = (check.analysed.block(by), check.analysed.block(inst));
    let before = check.dependences(from);
    // In a loop a fork may stand in front of both, and between them in every turn.
    let parts = |each: &Dependence| !before.contains(each) || lies_between(check, from, each.fork, to);
    splitting.iter().copied().filter(|each| parts(each) && !check.parted_by(by, each.fork)).collect()
}

/// Whoever goes from one block to the other without coming back to the first passes the fork.
fn lies_between(check: &Check, from: BlockId, fork: BlockId, to: BlockId) -> bool {
    let flow = &check.analysed.flow;
    fork != to && flow.dominates(from, fork) && flow.dominates(fork, to)
}

// ---------------------------------------------------------------- all lanes come

/// All live lanes come, here or on another way of the matched forks: each must be named in its own mask.
fn all_come(check: &Check, inst: InstId, mask: Option<Symbol>, matched: &[Dependence]) -> Option<Verdict> {
    let mask = mask?;
    if let Made::Ballot { predicate, .. } = made(check, mask) {
        let everyone = check.facts.decide(predicate) == Some(true) || holds_here(check, inst, predicate);
        return (!everyone && only_ballot(check, mask)).then(|| {
            let text =
                "lanes for which the ballot's condition does not hold call this with a mask that leaves them out";
            let help = "put the call under the ballot's condition, or name the whole warp in the mask".to_string();
            Verdict { help: Some(help), ..verdict(check, inst, &[], None, text) }
        });
    }
    let Some(masks) = masks(check, mask) else {
        return match fit(check, inst, Some(mask), &[]) {
            Some(misfit @ (Fit::LeavesOut | Fit::Differs)) => Some(verdict(check, inst, &[], None, misfit.text())),
            Some(_) if Sets::new(check, inst).fit(Some(mask), &[], matched) == Some(Fit::Differs) => {
                Some(verdict(check, inst, &[], None, DIFFERENT))
            }
            None if counted::is_chosen(check, mask) => counted::tried(check, inst, mask, &[]),
            _ => None,
        };
    };
    let threads = threads(check);
    // Whole warps may stay away.
    let block = check.analysed.block(inst);
    let needed: Vec<(Symbol, bool)> = check
        .dependences(block)
        .iter()
        .filter(|each| check.analysed.flow.only_by(each.by, block))
        .filter_map(|each| condition(check, *each))
        .collect();
    let comes = |thread: &Thread| {
        let holds = |on, wanted| check.facts.value(on, thread, &|_| None).is_none_or(|value| (value != 0) == wanted);
        needed.iter().all(|(on, wanted)| holds(*on, *wanted))
    };
    let missing: Vec<u32> = threads
        .iter()
        .zip(&masks)
        .filter(|(thread, mask)| **mask & (1 << (thread.rank % 32)) == 0)
        .filter(|(thread, _)| comes(thread))
        .map(|(thread, _)| thread.rank)
        .collect();
    if missing.is_empty() {
        let whole = threads.len() >= 32;
        let of = |lane: u32| masks.get(lane as usize).copied().unwrap_or(0);
        let known = check.analysed.shape.block.is_some() || check.analysed.shape.is_line();
        return (whole && known && masks[..32].iter().any(|mask| differs(*mask, &of)))
            .then(|| verdict(check, inst, &[], None, DIFFERENT));
    }
    let lanes: Vec<u32> = missing.iter().map(|rank| rank % 32).collect();
    let witness = Witness {
        given: String::new(),
        arrive: ranges((0..32).collect()),
        missing: Vec::new(),
        unit: Unit::Lane,
        mask: masks.first().copied(),
    };
    let left = spell(&ranges(lanes));
    let first = masks.first().copied().filter(|first| masks.iter().all(|mask| mask == first));
    let text = match first {
        Some(mask) => format!("the mask names {} lanes and leaves out callers {left}", mask.count_ones()),
        None => format!("the mask leaves out lanes that call this: {left}"),
    };
    let help = first.map(|_| format!("`{ALL:#010x}` names the whole warp"));
    Some(Verdict { help, ..verdict(check, inst, &[], Some(witness), &text) })
}

/// The guards of the primitive say that the predicate holds.
fn holds_here(check: &Check, inst: InstId, predicate: Symbol) -> bool {
    let known = guards(check, inst);
    let mut claimed = Vec::new();
    conjuncts(&check.analysed.values.symbols, predicate, true, &mut claimed);
    claimed.iter().all(|claim| known.contains(claim))
}

/// The mask is the ballot's value itself.
fn only_ballot(check: &Check, mask: Symbol) -> bool {
    matches!(check.analysed.values.symbols.node(mask), Node::Leaf(Leaf::Result(_)))
}

// ---------------------------------------------------------------- masks made of conditions

/// What the mask was made of is known.
pub fn is_known(check: &Check, inst: InstId, mask: Value) -> bool {
    let mask = check.analysed.symbol(mask);
    let is_plain = |part: &Part| !matches!(made(check, part.value), Made::Choice(_) | Made::Unknown);
    match made(check, mask) {
        Made::Unknown => false,
        Made::Choice(parts) => {
            let from_outside =
                |part: &&Part| part.enters(check) || check.analysed.flow.head_of[part.at.index()].is_none();
            let is_carried = parts.iter().any(|part| !from_outside(&part) && part.value != mask);
            parts.iter().filter(from_outside).all(is_plain)
                && (!is_carried || Sets::new(check, inst).fit_carried(mask).is_some())
        }
        _ => true,
    }
}

enum Made {
    /// Of the lanes that were there: `__activemask()`, `__match_any_sync`.
    Here(InstId),
    Ballot {
        by: InstId,
        predicate: Symbol,
    },
    /// One of several, by the way the thread came.
    Choice(Vec<Part>),
    /// A number, or one for each thread.
    Lanes,
    Unknown,
}

/// A mask as it comes from one side of a place where ways meet.
struct Part {
    value: Symbol,
    from: BlockId,
    at: BlockId,
    /// The mask behind that place.
    mask: Symbol,
}

impl Part {
    /// It comes from in front of the loop that begins there.
    fn enters(&self, check: &Check) -> bool {
        let flow = &check.analysed.flow;
        let outside = |index: usize| self.from == self.at || !flow.in_loop(self.from, index);
        flow.head_of[self.at.index()].is_some_and(outside)
    }
}

fn made(check: &Check, mask: Symbol) -> Made {
    let values = &check.analysed.values;
    match values.symbols.node(mask) {
        Node::Leaf(Leaf::ActiveMask(by)) => Made::Here(*by),
        Node::Leaf(Leaf::Result(by)) => match &check.analysed.graph.insts[by.index()].op {
            Op::Barrier(barrier) => match &barrier.result {
                Outcome::Ballot(predicate) => Made::Ballot { by: *by, predicate: values.of[predicate.index()] },
                Outcome::Peers => Made::Here(*by),
                _ => Made::Unknown,
            },
            _ => Made::Unknown,
        },
        Node::Leaf(Leaf::Phi(..)) => match values.phis.get(&mask) {
            Some(phi) => {
                let part =
                    |(from, slot): &(BlockId, Slot)| Part { value: slot.value, from: *from, at: phi.block, mask };
                Made::Choice(phi.incoming.iter().map(part).collect())
            }
            None => Made::Unknown,
        },
        _ if masks(check, mask).is_some() => Made::Lanes,
        _ => Made::Unknown,
    }
}

/// A mask carried round a loop fits if on each way in it was made of the loop's own condition as it was then.
fn fits_in_loop(check: &Check, inst: InstId, part: &Part, splitting: &[Dependence]) -> bool {
    let values = &check.analysed.values;
    let flow = &check.analysed.flow;
    if part.value == part.mask {
        return true;
    }
    // On the first turn nobody has left the loop yet, but by forks that stand in front of the place in every turn.
    let here = check.analysed.block(inst);
    let enters = flow.head_of[part.at.index()].filter(|_| part.enters(check));
    let first: Vec<Dependence> = splitting
        .iter()
        .copied()
        .filter(|each| {
            enters.is_none_or(|index| {
                !flow.in_loop(each.fork, index)
                    || lies_between(check, part.at, each.fork, here) && !holds_at_first(check, each, part.at)
            })
        })
        .collect();
    match made(check, part.value) {
        Made::Ballot { by, predicate } => {
            let extra = beyond(check, by, inst, &first);
            extra.is_empty() || says(check, inst, &extra, predicate) || shaped_alike(check, splitting, predicate)
        }
        Made::Here(by) => beyond(check, by, inst, &first).is_empty(),
        Made::Unknown => true,
        Made::Lanes => values.symbols.as_int(part.value).is_none_or(|mask| first.is_empty() && mask as u32 == ALL),
        Made::Choice(_) => true,
    }
}

/// On the first turn of the loop every thread goes that way: `bool more = true; while (more)`.
fn holds_at_first(check: &Check, each: &Dependence, header: BlockId) -> bool {
    let values = &check.analysed.values;
    let flow = &check.analysed.flow;
    let Some((on, wanted)) = condition(check, *each) else { return false };
    let first = |leaf: Symbol| match values.symbols.node(leaf) {
        Node::Leaf(Leaf::Iteration(block)) if *block == header => Some(0),
        Node::Leaf(Leaf::Phi(..)) => {
            let phi = values.phis.get(&leaf).filter(|phi| phi.block == header)?;
            let index = flow.head_of[header.index()]?;
            let outside = |from: BlockId| from == header || !flow.in_loop(from, index);
            let (_, slot) = phi.incoming.iter().find(|(from, _)| outside(*from))?;
            values.symbols.as_int(slot.value)
        }
        _ => None,
    };
    let goes = |thread: &Thread| check.facts.value(on, thread, &first).is_some_and(|value| (value != 0) == wanted);
    threads(check).iter().all(goes)
}

/// The predicate is the guarding condition with loop variables as they are on another trip.
fn shaped_alike(check: &Check, splitting: &[Dependence], predicate: Symbol) -> bool {
    let symbols = &check.analysed.values.symbols;
    splitting.iter().any(|each| {
        condition(check, *each).is_some_and(|(on, wanted)| {
            let alike = |a: Symbol, b: Symbol| {
                std::mem::discriminant(symbols.node(a)) == std::mem::discriminant(symbols.node(b))
            };
            wanted && alike(on, predicate) && symbols.leaves(on).len() <= symbols.leaves(predicate).len() + 2
        })
    })
}

/// The extra forks, taken together, say exactly what the predicate says.
fn says(check: &Check, inst: InstId, extra: &[Dependence], predicate: Symbol) -> bool {
    let symbols = &check.analysed.values.symbols;
    let mut guard: Vec<Conjunct> = Vec::new();
    for each in extra {
        let Some((on, wanted)) = condition(check, *each) else { return false };
        conjuncts(symbols, on, wanted, &mut guard);
    }
    let mut claimed = Vec::new();
    conjuncts(symbols, predicate, true, &mut claimed);
    let known = guards(check, inst);
    guard.retain(|each| !agrees(check, each, Extent::WARP));
    // What the whole warp agrees on splits nobody, but it must hold.
    claimed.retain(|each| !(agrees(check, each, Extent::WARP) && known.contains(each)));
    for side in [&mut guard, &mut claimed] {
        side.sort();
        side.dedup();
    }
    guard == claimed
}

/// Every way of one fork holds the same primitive with the same mask.
pub fn on_every_way(check: &Check, inst: InstId, barrier: &Barrier, mask: Option<Value>, fork: Dependence) -> bool {
    same_on_every_way(check, inst, barrier, mask.map(|mask| check.analysed.symbol(mask)), &[fork])
}

/// Every way of the forks holds the same primitive with the same mask: `__syncwarp` in both arms.
fn same_on_every_way(
    check: &Check,
    inst: InstId,
    barrier: &Barrier,
    mask: Option<Symbol>,
    splitting: &[Dependence],
) -> bool {
    let matches = |found: &Barrier| match &found.group {
        Group::Lanes { mask: named } => {
            found.name == barrier.name && named.map(|named| check.analysed.symbol(named)) == mask
        }
        _ => false,
    };
    splitting.iter().all(|each| {
        !leaving::leaves_loop(check, inst, *each)
            && super::divergence::others_match(check, inst, *each, &matches, Passes::AtOnce)
    })
}

// ---------------------------------------------------------------- wording

pub fn verdict(check: &Check, inst: InstId, splitting: &[Dependence], witness: Option<Witness>, text: &str) -> Verdict {
    let chain = check.chain(check.analysed.graph.insts[inst.index()].frame);
    let lead = splitting
        .iter()
        .enumerate()
        .map(|(index, each)| (check.distance(&chain, each.fork), index))
        .min()
        .map(|(distance, index)| (distance, splitting[index]));
    let agreement = lead.map(|(_, lead)| check.analysed.fork(&check.facts, lead.fork));
    let racy = agreement.is_some_and(|agreement| agreement.ordered >= Extent::WARP);
    let name = check.as_barrier(inst).map_or("", |barrier| &barrier.name);
    Verdict {
        rule: if racy { &rules::RACY_BROADCAST } else { &rules::WARP_MASK },
        likely: agreement.is_some_and(|agreement| agreement.hoped >= Extent::WARP),
        lead: lead.map(|(_, lead)| lead),
        others: splitting.iter().copied().filter(|each| Some(each.fork) != lead.map(|(_, lead)| lead.fork)).collect(),
        frame: chain[lead.map_or(0, |(distance, _)| distance)],
        need: Extent::WARP,
        scope: None,
        message: Some(format!("`{name}`: {text}")),
        help: None,
        witness,
        also: Vec::new(),
    }
}

pub fn bits(mask: u32) -> Vec<u32> {
    (0..32).filter(|bit| mask & (1 << bit) != 0).collect()
}

/// Sorted numbers as inclusive ranges.
pub fn ranges(mut numbers: Vec<u32>) -> Vec<(u32, u32)> {
    numbers.sort_unstable();
    numbers.dedup();
    let mut found: Vec<(u32, u32)> = Vec::new();
    for number in numbers {
        match found.last_mut() {
            Some(last) if last.1 + 1 == number => last.1 = number,
            _ => found.push((number, number)),
        }
    }
    found
}

/// `lane 3`, `lanes 0..15, 20`
pub fn spell_lanes(lanes: u32) -> String {
    let noun = if lanes.count_ones() == 1 { "lane" } else { "lanes" };
    format!("{noun} {}", spell(&ranges(bits(lanes))))
}

/// `0..15, 20`
pub fn spell(ranges: &[(u32, u32)]) -> String {
    let shown: Vec<String> = ranges
        .iter()
        .take(6)
        .map(|(low, high)| if low == high { low.to_string() } else { format!("{low}..{high}") })
        .collect();
    let more = if ranges.len() > 6 { ", …" } else { "" };
    if shown.is_empty() { "none".to_string() } else { shown.join(", ") + more }
}
