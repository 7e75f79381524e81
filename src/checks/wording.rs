//! What a finding says: the message, the branch's note, the help.

use super::leaving::{self, Ways};
use super::why::Standing;
use super::{Check, Verdict, lanes, races};
use crate::flow::control::Dependence;
use crate::graph::{Barrier, End, Fork, Group, InstId, Source, Value};
use crate::rules;
use crate::uniformity::extent::Extent;
use crate::uniformity::symbols::{Leaf, Node, Symbol};

/// The group in words: `block`, `tile of 16`, `group`.
pub fn group(barrier: &Barrier, need: Extent) -> String {
    match &barrier.group {
        Group::Formed { .. } => "group".to_string(),
        Group::Lanes { .. } | Group::Counted { .. } => "warp".to_string(),
        Group::Tile { size } => match size {
            32 => "warp".to_string(),
            size => format!("tile of {size}"),
        },
        _ => need.to_string(),
    }
}

/// Whom a barrier waits for, and how a clean one stands.
pub fn asked(check: &Check, inst: InstId, barrier: &Barrier, need: Option<Extent>) -> (String, Standing) {
    let Some(need) = need else {
        let why = "how many arrivals it waits for is not known to be the whole block".to_string();
        return ("as many arrivals as it was made for".to_string(), Standing::Open(why));
    };
    let known = |value: Value| check.analysed.values.symbols.as_int(check.analysed.symbol(value));
    match &barrier.group {
        Group::Lanes { mask: Some(mask) } => match known(*mask).map(|mask| mask as u32) {
            Some(u32::MAX) => {}
            Some(mask) => {
                let lanes = lanes::spell_lanes(mask);
                let safe = format!("its mask names {lanes}, and they all come to it, or none");
                return (lanes, Standing::Safe(safe));
            }
            None => {
                let standing = match lanes::is_known(check, inst, *mask) {
                    true => Standing::Safe("the lanes that its mask names all come to it, or none".to_string()),
                    false => Standing::Open("which lanes its mask names is not known".to_string()),
                };
                return ("the lanes of its mask".to_string(), standing);
            }
        },
        Group::Counted { count, .. } => {
            let threads = match known(*count) {
                Some(count) => format!("{count} threads"),
                None => "the threads it counts".to_string(),
            };
            let safe = format!("it waits for {threads}, and warps come to it as a whole, or not at all");
            return (threads, Standing::Safe(safe));
        }
        _ => {}
    }
    let group = group(barrier, need);
    (format!("the {group}"), Standing::Safe(format!("every thread of the {group} comes to it, or none")))
}

pub fn message(
    check: &Check,
    barrier: Option<&Barrier>,
    name: &str,
    group: &str,
    is_call: bool,
    verdict: &Verdict,
) -> String {
    let named = format!("`{name}`");
    let subject = if is_call { format!("this call leads to {named}, which") } else { named.clone() };
    let warps_only = verdict.need == Extent::BLOCK
        && verdict.lead.is_some_and(|lead| check.analysed.fork(&check.facts, lead.fork).shown >= Extent::WARP);
    let counted = barrier.is_some_and(|barrier| matches!(barrier.group, Group::Counted { .. }));
    match verdict.rule.name {
        name if name == rules::DIVERGENT_LOOP.name => {
            format!("{subject} is in a loop that threads of the {group} leave after different numbers of iterations")
        }
        name if name == rules::DIVERGENT_EXIT.name => {
            format!("{subject} is reached by a {group} from which some threads have left")
        }
        name if name == rules::RACY_BROADCAST.name => {
            let whether = if is_call {
                format!("this call leads to {named}; whether it is reached")
            } else {
                format!("whether {named} is reached")
            };
            format!("{whether} depends on a value that another thread may be writing")
        }
        _ if warps_only => format!("{subject} is a barrier of the block, but only some of its warps come here"),
        _ if counted => format!("{subject} needs whole warps, but only some lanes come here"),
        _ => format!("{subject} is reached by only part of the {group}"),
    }
}

/// What to say at the fork.
pub fn branch(check: &Check, inst: InstId, lead: Dependence, verdict: &Verdict) -> String {
    let ways = leaving::ways(check, inst, lead);
    let extent = verdict.need;
    if verdict.rule.name == rules::RACY_BROADCAST.name {
        return format!("threads of the {extent} may see different values here");
    }
    if leaving::leaves_loop(check, inst, lead) && !(ways.ends || ways.returns) {
        return format!("threads of the {extent} leave the loop here after different numbers of iterations");
    }
    let parting = match &check.analysed.graph.blocks[lead.fork.index()].end {
        End::Branch { what: Fork::And, .. } => {
            "threads for which the left side is false skip the right side".to_string()
        }
        End::Branch { what: Fork::Or, .. } => "threads for which the left side is true skip the right side".to_string(),
        End::Switch { .. } => format!("threads of the {extent} go to different labels here"),
        _ => format!("threads of the {extent} part here"),
    };
    match ways {
        Ways { ends: true, goes_on: false, .. } => format!("{parting}: some end"),
        Ways { returns: true, goes_on: false, .. } => format!("{parting}: some return"),
        _ => parting,
    }
}

pub fn help(check: &Check, verdict: &Verdict) -> String {
    let per_lane = verdict.need <= Extent::WARP;
    match verdict.rule.name {
        name if name == rules::DIVERGENT_LOOP.name => help_for_loop(check, verdict),
        name if name == rules::DIVERGENT_EXIT.name => {
            "keep all threads to the end: put the work of those with something to do under a guard instead of the early return".to_string()
        }
        name if name == rules::RACY_BROADCAST.name => {
            let from_other_blocks = verdict.lead.is_some_and(|lead| races::come_from_other_blocks(check, lead.fork));
            match (from_other_blocks, verdict.need) {
                (true, need) if need > Extent::BLOCK => {
                    "put a barrier of the grid between the write and the read, and another between the read and the next write"
                }
                (true, need) if need == Extent::BLOCK => {
                    "let one thread read it and all go by that copy, handed round in shared memory; a barrier of the block alone does not hold other blocks back, one of the grid (`grid.sync()`) does"
                }
                (true, _) => {
                    "let one lane read it and all go by that copy, handed round by `__shfl_sync`; a barrier of the warp or the block alone does not hold other blocks back, one of the grid (`grid.sync()`) does"
                }
                _ => "put a barrier between the write and the read, and another between the read and the next write; or copy the value first",
            }
            .to_string()
        }
        name if name == rules::WARP_MASK.name => {
            "name exactly the lanes that come: take the mask from `__ballot_sync` of the same condition before it, or move the call out of the branch".to_string()
        }
        _ if per_lane => "move it out of the branch, so that the whole group comes, and guard only the values".to_string(),
        _ => {
            let both = verdict.others.iter().any(|each| verdict.lead.is_some_and(|lead| each.fork == lead.fork));
            if both {
                "move the barrier behind the branch: all threads must reach the same call".to_string()
            } else {
                "move the barrier out of the branch and guard only the accesses round it".to_string()
            }
        }
    }
}

/// Parts of a condition that are looked at.
const MAX_PARTS: usize = 64;

/// A count is rounded up only where there is one: trips that follow from the thread index and from what all agree on.
fn help_for_loop(check: &Check, verdict: &Verdict) -> String {
    let symbols = &check.analysed.values.symbols;
    let on = verdict.lead.and_then(|lead| check.analysed.values.condition[lead.fork.index()]);
    let is_counter = |leaf: &Symbol| matches!(symbols.node(*leaf), Node::Leaf(Leaf::Iteration(_)));
    let counts = on.is_some_and(|on| symbols.leaves(on).iter().any(is_counter));
    let mut by_index = true;
    let mut work = Vec::from_iter(on);
    let mut left = MAX_PARTS;
    while let Some(part) = work.pop().filter(|_| left > 0) {
        left -= 1;
        match symbols.node(part) {
            _ if is_counter(&part) || check.facts.agreement(part).shown >= verdict.need => {}
            Node::Leaf(Leaf::Source(Source::ThreadIdx(_) | Source::ThreadRank | Source::Lane | Source::Warp)) => {}
            Node::Leaf(_) | Node::Pure(..) => by_index = false,
            _ => work.extend(symbols.children(part)),
        }
    }
    let group = verdict.need;
    match counts {
        true if by_index => {
            "let all threads make the same number of iterations (round the count up) and guard the work inside instead"
                .to_string()
        }
        true => format!(
            "let all threads make as many iterations as the one that makes most (its maximum over the {group}) and guard the work inside instead"
        ),
        false => {
            let vote = match group {
                Extent::BLOCK => ": `__syncthreads_or` tells",
                Extent::WARP => ": `__any_sync` tells",
                _ => "",
            };
            format!(
                "let all threads leave together, once none of them has work left{vote}; guard the work inside instead"
            )
        }
    }
}
