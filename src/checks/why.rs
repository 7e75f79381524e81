//! For any barrier, clean or not: which forks guard it, how far their conditions agree, and what shows it.

use super::{Check, divergence, lanes, leaving, story, wording};
use crate::finding::Note;
use crate::flow::control::Dependence;
use crate::flow::{DeadEdges, Flow};
use crate::graph::{BlockId, Group, InstId, ObjectKind, Op};
use crate::text::Range;
use crate::uniformity::extent::Extent;
use crate::uniformity::shape::{MAX_THREADS, Shape};

#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The primitive as written, whom it waits for, and how it stands if no rule is broken.
    pub barrier: String,
    pub asks: String,
    pub standing: Standing,
    pub at: Range,
    /// The functions on the way to it, the kernel first, with the calls between.
    pub calls: Vec<(String, Option<Range>)>,
    /// The first of them is a kernel; else it is a device function, and who calls it is not in view.
    pub from_kernel: bool,
    /// Nearest first.
    pub guards: Vec<Guard>,
    /// Conditions round it that come out the same for every thread of any block there is: where, and what is known.
    pub decided: Vec<(Range, String)>,
    /// What the checks say: nothing, or a rule and its message.
    pub fault: Option<(String, String)>,
}

/// How a barrier stands that breaks no rule.
#[derive(Clone, Debug, PartialEq)]
pub enum Standing {
    /// And what makes it so.
    Safe(String),
    /// What would have to be known to judge it.
    Open(String),
}

impl Explanation {
    /// The function whose callers are not in view.
    pub fn uncalled(&self) -> Option<&str> {
        self.calls.first().filter(|_| !self.from_kernel).map(|(name, _)| name.as_str())
    }

    /// How a barrier stands that breaks no rule, as a sentence.
    pub fn verdict(&self) -> String {
        let Explanation { barrier, standing, .. } = self;
        let within = self.uncalled().map(|name| format!(" within `{name}`, whose callers are not in view"));
        match standing {
            Standing::Safe(why) => format!("`{barrier}` is safe{}: {why}", within.unwrap_or_default()),
            Standing::Open(what) => format!("`{barrier}` is not judged: {what}"),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Guard {
    pub at: Range,
    /// The largest group that surely takes one way here.
    pub agrees: String,
    pub enough: bool,
    /// Why it does no harm that the group parts here.
    pub harmless: Option<Harmless>,
    /// From where the condition comes to the condition.
    pub chain: Vec<Note>,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Harmless {
    /// Who goes another way ends, and counts as arrived.
    Ended,
    /// Who goes another way ends, and a mask may name lanes that have ended.
    EndedLanes,
    /// The other conditions on the way say as much, and on them the group agrees; or whoever races goes the same way.
    Follows,
    /// The mask leaves out those who go another way.
    Masked,
    /// Nobody knows what the mask names.
    Unknown,
    /// What waits for the same group stands on every way.
    EveryWay,
}

impl Harmless {
    fn has_ended(self) -> bool {
        matches!(self, Harmless::Ended | Harmless::EndedLanes)
    }

    fn text(self) -> &'static str {
        match self {
            Harmless::Ended => "differs, but those who go another way end, and so count as arrived",
            Harmless::EndedLanes => {
                "differs, but those who go another way end, and a mask may name lanes that have ended"
            }
            Harmless::Follows => "differs, but not among the threads that come this far",
            Harmless::Masked => "parts the warp, and the mask names only lanes that come",
            Harmless::Unknown => "parts the warp, and whether the mask names only lanes that come is not known",
            Harmless::EveryWay => "differs, but there is one on every way, and they match",
        }
    }
}

impl Guard {
    /// How far threads agree here, in words.
    pub fn agreement(&self) -> String {
        match (self.enough, self.agrees.as_str(), self.harmless) {
            (true, group, _) => format!("the same for the whole {group}: enough"),
            (.., Some(harmless)) => harmless.text().to_string(),
            (_, "thread", _) => "differs from thread to thread".to_string(),
            (_, group, _) => format!("the same for each {group} only"),
        }
    }
}

/// A group that agrees on a value. It need not be one of the program's tiles.
pub fn spell(group: Extent) -> String {
    match group.threads() {
        Some(threads) if threads > 1 && group != Extent::WARP && group < Extent::BLOCK => {
            format!("run of {threads} threads")
        }
        _ => group.to_string(),
    }
}

/// How far threads agree on one value, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct ValueExplanation {
    /// The kernel, or the device function that nothing in view calls, in which it is so.
    pub root: String,
    pub agrees: String,
    /// From where the value comes to the value.
    pub chain: Vec<Note>,
}

/// Guards of a barrier that are explained; a reader stops long before.
const MAX_GUARDS: usize = 24;

pub fn explain(check: &Check, inst: InstId) -> Option<Explanation> {
    let barrier = check.as_barrier(inst)?;
    let graph = check.analysed.graph;
    let known = check.need(barrier);
    let need = known.unwrap_or(Extent::THREAD);
    let own = &graph.insts[inst.index()];
    let mut calls: Vec<(String, Option<Range>)> = check
        .chain(own.frame)
        .iter()
        .map(|frame| {
            let frame = &graph.frames[frame.index()];
            (frame.name.to_string(), frame.call.map(|(_, at)| (check.home)(at).range))
        })
        .collect();
    calls.reverse();
    let mut guards = Vec::new();
    let mut seen = Vec::new();
    for dependence in check.dependences(check.analysed.block(inst)).iter() {
        if guards.len() >= MAX_GUARDS || seen.contains(&dependence.fork) {
            continue;
        }
        seen.push(dependence.fork);
        let Some(at) = story::fork_place(check, dependence.fork) else { continue };
        let agreement = check.analysed.fork(&check.facts, dependence.fork);
        let need_here = if agreement.shown >= need { Extent::GRID } else { need };
        guards.push(Guard {
            at,
            agrees: spell(agreement.shown),
            // Of a barrier whose group is not known nobody can say what is enough.
            enough: agreement.shown >= need && known.is_some(),
            harmless: harmless(check, inst, *dependence, need).filter(|_| agreement.shown < need),
            chain: story::chain(check, dependence.fork, need_here.min(need)),
        });
    }
    let fault = check.barrier(inst).map(|verdict| {
        let rule = verdict.rule.name.to_string();
        (rule, check.finding(inst, verdict).message)
    });
    if fault.is_some() {
        guards.iter_mut().for_each(|guard| guard.harmless = None);
    }
    let (asks, mut standing) = wording::asked(check, inst, barrier, known);
    let ended = guards.iter().any(|guard| guard.harmless.is_some_and(Harmless::has_ended));
    if guards.iter().any(|guard| guard.harmless == Some(Harmless::EveryWay)) {
        standing = Standing::Safe(format!("all of {asks} come to it, or to one that it matches"));
    }
    if ended && matches!(standing, Standing::Safe(_)) {
        standing = Standing::Safe(match &barrier.group {
            Group::Lanes { .. } => format!("all of {asks} that have not ended come to it, or none"),
            _ => format!("every thread of {asks} that has not ended comes to it, or none"),
        });
    }
    Some(Explanation {
        barrier: barrier.name.to_string(),
        asks,
        standing,
        at: (check.home)(own.at).range,
        calls,
        from_kernel: graph.is_kernel,
        guards,
        decided: decided(check, inst, &seen),
        fault,
    })
}

/// Why a clean barrier bears it that its group parts at a fork in front of it.
fn harmless(check: &Check, inst: InstId, dependence: Dependence, need: Extent) -> Option<Harmless> {
    let barrier = check.as_barrier(inst)?;
    let ways = leaving::ways(check, inst, dependence);
    let within_warp = need <= Extent::WARP && !matches!(barrier.group, Group::Counted { .. });
    match &barrier.group {
        Group::Lanes { .. } if ways.all_end() => Some(Harmless::EndedLanes),
        _ if divergence::forgiven(check, barrier, need, ways) || within_warp && ways.all_end() => Some(Harmless::Ended),
        _ if !check.parts(inst, dependence, need) => Some(Harmless::Follows),
        Group::Lanes { mask: Some(mask) } if !lanes::is_known(check, inst, *mask) => Some(Harmless::Unknown),
        Group::Lanes { mask } if lanes::on_every_way(check, inst, barrier, *mask, dependence) => {
            Some(Harmless::EveryWay)
        }
        Group::Lanes { mask: Some(_) } => Some(Harmless::Masked),
        Group::Named { .. } | Group::Counted { .. } => {
            divergence::met_by_name(check, barrier, dependence, need).then_some(Harmless::EveryWay)
        }
        _ => None,
    }
}

/// Forks that would guard a barrier if what is known of the block did not settle them.
fn decided(check: &Check, inst: InstId, guards: &[BlockId]) -> Vec<(Range, String)> {
    let analysed = check.analysed;
    let block = analysed.block(inst);
    let mut found: Vec<(Range, String)> = Vec::new();
    for fork in Flow::new(analysed.graph, &DeadEdges::default()).control.all(block).iter().map(|each| each.fork) {
        let is_settled = analysed.flow.successors[fork.index()].len() == 1;
        if guards.contains(&fork) || !analysed.flow.runs(fork) || !is_settled {
            continue;
        }
        let Some(at) = story::fork_place(check, fork) else { continue };
        if found.len() < MAX_GUARDS && !found.iter().any(|(other, _)| *other == at) {
            found.push((at, format!("goes one way for all threads: {}", known_of_block(&analysed.shape))));
        }
    }
    found
}

/// What conditions are decided by.
fn known_of_block(shape: &Shape) -> String {
    let sources = "as a launch in view, a bound on the kernel or the settings say";
    match (shape.block, shape.partial) {
        (Some([x, y, z]), _) => format!("a block is ({x}, {y}, {z}), {sources}"),
        (None, partial) if partial.iter().any(Option::is_some) => {
            let words = partial.map(|extent| extent.map_or("any".to_string(), |extent| extent.to_string()));
            format!("a block is ({}), {sources}", words.join(", "))
        }
        _ if shape.max_threads < MAX_THREADS => {
            format!("a block has at most {} threads, {sources}", shape.max_threads)
        }
        _ => format!("it is known before the program runs; no block has more than {MAX_THREADS} threads"),
    }
}

/// Explains the value that an instruction yields.
pub fn explain_value(check: &Check, value: InstId) -> ValueExplanation {
    let graph = check.analysed.graph;
    let root = graph.frames.first().map_or_else(String::new, |frame| frame.name.to_string());
    if let Op::Address(object) = &graph.insts[value.index()].op {
        let agrees = match graph.objects[object.index()].kind {
            ObjectKind::Local => "one for each thread",
            ObjectKind::Shared => "one for each block",
            ObjectKind::Constant | ObjectKind::Global => "one for all threads of the launch",
        };
        return ValueExplanation { root, agrees: agrees.to_string(), chain: Vec::new() };
    }
    let shown = check.facts.agreement(check.analysed.symbol(value)).shown;
    let agrees = match shown {
        Extent::THREAD => "differs from thread to thread".to_string(),
        Extent::GRID => "the same for all threads of the launch".to_string(),
        group if group < Extent::BLOCK => format!("the same within a {}, differs within the block", spell(group)),
        group => format!("the same for the whole {group}"),
    };
    ValueExplanation { root, agrees, chain: story::chain_of(check, value, Extent::BLOCK) }
}
