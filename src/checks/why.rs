//! For any barrier, clean or not: which forks guard it, how far their conditions agree, and what shows it.

use super::{Check, divergence, leaving, story, wording};
use crate::finding::Note;
use crate::flow::{DeadEdges, Flow};
use crate::graph::{BlockId, Group, InstId, ObjectKind, Op};
use crate::text::Range;
use crate::uniformity::extent::Extent;
use crate::uniformity::shape::{MAX_THREADS, Shape};

#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The primitive as written, whom it waits for, and what makes it safe if it is.
    pub barrier: String,
    pub asks: String,
    pub safe: String,
    pub at: Range,
    /// The functions on the way to it, the kernel first, with the calls between.
    pub calls: Vec<(String, Option<Range>)>,
    /// Nearest first.
    pub guards: Vec<Guard>,
    /// Conditions round it that come out the same for every thread of any block there is: where, and what is known.
    pub decided: Vec<(Range, String)>,
    /// What the checks say: nothing, or a rule and its message.
    pub fault: Option<(String, String)>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Guard {
    pub at: Range,
    /// The largest group that surely takes one way here.
    pub agrees: String,
    pub enough: bool,
    /// The barrier's mask leaves out those who go another way.
    pub masked: bool,
    /// Who goes another way ends, and counts as arrived.
    pub ended: bool,
    /// From where the condition comes to the condition.
    pub chain: Vec<Note>,
}

impl Guard {
    /// How far threads agree here, in words.
    pub fn agreement(&self) -> String {
        match (self.enough, self.agrees.as_str()) {
            (true, group) => format!("the same for the whole {group}: enough"),
            _ if self.masked => "parts the warp, and the mask names only lanes that come".to_string(),
            _ if self.ended => "differs, but those who go another way end, and so count as arrived".to_string(),
            (false, "thread") => "differs from thread to thread".to_string(),
            (false, group) => format!("the same for each {group} only"),
        }
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
    let need = check.need(barrier).unwrap_or(Extent::THREAD);
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
            agrees: agreement.shown.to_string(),
            enough: agreement.shown >= need,
            masked: false,
            ended: divergence::forgiven(check, barrier, need, leaving::ways(check, inst, *dependence)),
            chain: story::chain(check, dependence.fork, need_here.min(need)),
        });
    }
    let fault = check.barrier(inst).map(|verdict| {
        let rule = verdict.rule.name.to_string();
        (rule, check.finding(inst, verdict).message)
    });
    let (asks, mut safe) = wording::asked(check, barrier, need);
    // A mask that names just those who come makes up for what parts the warp.
    let masked = fault.is_none() && matches!(barrier.group, Group::Lanes { mask: Some(_) });
    for guard in &mut guards {
        guard.masked = masked && !guard.enough;
        guard.ended &= fault.is_none() && !guard.enough;
    }
    if guards.iter().any(|guard| guard.ended) {
        safe = format!("every thread of {asks} that has not ended comes to it, or none");
    }
    Some(Explanation {
        barrier: barrier.name.to_string(),
        asks,
        safe,
        at: (check.home)(own.at).range,
        calls,
        guards,
        decided: decided(check, inst, &seen),
        fault,
    })
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
        group if group < Extent::BLOCK => format!("the same within a {group}, differs within the block"),
        group => format!("the same for the whole {group}"),
    };
    ValueExplanation { root, agrees, chain: story::chain_of(check, value, Extent::BLOCK) }
}
