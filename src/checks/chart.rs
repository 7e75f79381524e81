//! An analysed graph -> the chart of it: a node for each block that can run, the source it stands for, and who runs it.
//!
//! It tells of every fork, so the analysis has to have settled all of them, not only those that decide barriers.

use super::Check;
use crate::chart::{Chart, Edge, Line, Node, NodeKind, Stop, Who};
use crate::graph::{At, BlockId, End, Exit, FrameId, InstId, Op, Source};
use crate::text::{FileId, LineIndex, Range};
use crate::uniformity::extent::Extent;
use rustc_hash::{FxHashMap, FxHashSet};

/// Characters of a line that are shown.
const MAX_TEXT: usize = 64;
/// Blocks beyond which settling every fork takes too long.
const MAX_BLOCKS: usize = 20_000;

/// The chart as the analysis has it; `Chart::simplify` makes it fit for a reader. `None`: far too large.
pub fn chart<'b>(check: &Check, bytes: &'b dyn Fn(FileId) -> &'b [u8]) -> Option<Chart> {
    let analysed = check.analysed;
    let (graph, flow) = (analysed.graph, &analysed.flow);
    if flow.order.len() > MAX_BLOCKS {
        return None;
    }
    let deciding = deciding(check);
    let forks: Vec<Extent> =
        (0..graph.blocks.len()).map(|block| analysed.fork(&check.facts, BlockId(block as u32)).shown).collect();
    let control = control(check, &forks);

    let name = graph.frames.first().map_or_else(String::new, |frame| frame.name.to_string());
    let mut chart = Chart { name, blocks: flow.order.len(), ..Chart::default() };
    chart.nodes.push(Node::default());
    let end = flow.order.len() + 1;
    let mut lines = Lines { check, bytes, indices: FxHashMap::default(), entered: FxHashSet::default() };
    let place = |block: BlockId| flow.position[block.index()] as usize + 1;
    if let Some(first) = flow.order.first() {
        chart.edges.push(Edge { from: 0, to: place(*first), label: String::new(), is_back: false });
    }
    for block in &flow.order {
        let from = place(*block);
        let mut node = Node {
            kind: NodeKind::Blocks,
            lines: lines.of(*block),
            who: who(control[block.index()]),
            decides: deciding[block.index()],
            ..Node::default()
        };
        let fork = who(forks[block.index()]);
        node.parts = (fork != Who::Block && flow.successors[block.index()].len() > 1).then_some(fork);
        for inst in &graph.blocks[block.index()].insts {
            node.barriers.extend(stop(check, *inst, &mut chart.findings));
        }
        chart.nodes.push(node);
        for (to, label) in ways(check, *block) {
            let is_back = flow.is_back_edge(*block, to);
            chart.edges.push(Edge { from, to: place(to), label, is_back });
        }
        if matches!(graph.blocks[block.index()].end, End::Exit { .. }) {
            chart.edges.push(Edge { from, to: end, label: String::new(), is_back: false });
        }
    }
    if chart.edges.iter().any(|edge| edge.to == end) {
        chart.nodes.push(Node { kind: NodeKind::End, ..Node::default() });
    }
    Some(chart)
}

fn stop(check: &Check, inst: InstId, findings: &mut Vec<(&'static str, Range)>) -> Option<Stop> {
    let barrier = check.as_barrier(inst)?;
    let verdict = check.barrier(inst);
    let fault = verdict.as_ref().map(|verdict| verdict.rule.name);
    if let Some(verdict) = verdict {
        let at = (check.home)(check.place(inst, verdict.frame)).range;
        findings.push((verdict.rule.name, at));
    }
    Some(Stop { name: barrier.name.to_string(), fault })
}

/// Forks on which a barrier hangs.
fn deciding(check: &Check) -> Vec<bool> {
    let flow = &check.analysed.flow;
    let mut deciding = vec![false; flow.successors.len()];
    let mut work: Vec<BlockId> = check.analysed.barriers().map(|inst| check.analysed.block(inst)).collect();
    while let Some(block) = work.pop() {
        for dependence in flow.control.direct(block) {
            if !std::mem::replace(&mut deciding[dependence.fork.index()], true) {
                work.push(dependence.fork);
            }
        }
    }
    deciding
}

/// How far threads agree on coming to each block: no further than on any fork that decides whether it runs.
fn control(check: &Check, forks: &[Extent]) -> Vec<Extent> {
    let flow = &check.analysed.flow;
    let mut control = vec![Extent::GRID; forks.len()];
    loop {
        let mut changed = false;
        for block in &flow.order {
            let agreement = flow.control.direct(*block).iter().map(|each| {
                let fork = each.fork.index();
                forks[fork].min(control[fork])
            });
            let agreement = agreement.min().unwrap_or(Extent::GRID);
            if agreement < control[block.index()] {
                control[block.index()] = agreement;
                changed = true;
            }
        }
        if !changed {
            return control;
        }
    }
}

fn who(extent: Extent) -> Who {
    match extent {
        extent if extent >= Extent::BLOCK => Who::Block,
        extent if extent >= Extent::WARP => Who::Warps,
        _ => Who::Threads,
    }
}

/// Where a block leads that can run, and when.
fn ways(check: &Check, block: BlockId) -> Vec<(BlockId, String)> {
    let flow = &check.analysed.flow;
    let live = &flow.successors[block.index()];
    let mut ways: Vec<(BlockId, String)> = Vec::new();
    let mut way = |to: BlockId, label: String| {
        if live.contains(&to) {
            ways.push((to, if live.len() > 1 { label } else { String::new() }));
        }
    };
    match &check.analysed.graph.blocks[block.index()].end {
        End::Branch { yes, no, .. } => {
            way(*yes, "yes".to_string());
            way(*no, "no".to_string());
        }
        End::Switch { cases, default, .. } => {
            let values = &check.analysed.values;
            for (case, to) in cases {
                let number = values.symbols.as_int(values.of[case.index()]);
                way(*to, number.map_or("case".to_string(), |number| format!("case {number}")));
            }
            way(*default, "default".to_string());
        }
        other => {
            for to in other.successors() {
                way(to, String::new());
            }
        }
    }
    ways
}

// ---------------------------------------------------------------- source

struct Lines<'c, 'a, 'b> {
    check: &'c Check<'a>,
    bytes: &'b dyn Fn(FileId) -> &'b [u8],
    indices: FxHashMap<FileId, LineIndex>,
    /// Frames whose call is shown already.
    entered: FxHashSet<FrameId>,
}

impl Lines<'_, '_, '_> {
    /// The stretches of source that a block stands for, in order.
    fn of(&mut self, block: BlockId) -> Vec<Line> {
        let graph = self.check.analysed.graph;
        let own = &graph.blocks[block.index()];
        let mut lines: Vec<Line> = Vec::new();
        for inst in &own.insts {
            let inst = &graph.insts[inst.index()];
            self.enter(inst.frame, &mut lines);
            // Numbers, variables and the kernel's parameters stand in what uses them.
            let is_parameter =
                |value: InstId| matches!(graph.insts[value.index()].op, Op::Source(Source::Param { .. }));
            let is_plain = match &inst.op {
                Op::Int(_) | Op::Address(_) | Op::Nothing | Op::Source(Source::Param { .. }) => true,
                // Made for the whole function, not by a statement of it.
                _ if inst.at.span.start == 0 => true,
                Op::Store { value, .. } => is_parameter(*value),
                _ => false,
            };
            if !is_plain {
                self.add(inst.at, inst.frame, matches!(inst.op, Op::Barrier(_)), &mut lines);
            }
        }
        match &own.end {
            End::Exit { how: Exit::Return | Exit::Instruction, at } => {
                self.add(*at, own.frame, false, &mut lines);
            }
            // A condition without instructions of its own is a constant; the place is that of the whole statement for loops.
            End::Branch { at, .. } | End::Switch { at, .. } if lines.is_empty() => {
                self.add(*at, own.frame, false, &mut lines);
            }
            _ => {}
        }
        for line in &mut lines {
            line.text = self.text(line.at);
        }
        lines.retain(|line| !line.text.is_empty());
        lines
    }

    /// The call that leads into a function, where its first block begins.
    fn enter(&mut self, frame: FrameId, lines: &mut Vec<Line>) {
        if let Some((above, call)) = self.check.analysed.graph.frames[frame.index()].call
            && self.entered.insert(frame)
        {
            self.add(call, above, false, lines);
        }
    }

    /// Adds a place: to the stretch it touches on its line, else as a new one.
    fn add(&mut self, at: At, frame: FrameId, is_barrier: bool, lines: &mut Vec<Line>) {
        let range = (self.check.home)(at).range;
        let graph = self.check.analysed.graph;
        let function = (frame.0 != 0).then(|| graph.frames[frame.index()].name.to_string());
        let bytes = (self.bytes)(range.file);
        let index = self.indices.entry(range.file).or_insert_with(|| LineIndex::new(bytes));
        let number = index.place(range.start.min(bytes.len() as u32)).line;
        let known = lines
            .iter_mut()
            .rev()
            .find(|line| line.number == number && line.at.file == range.file && line.function == function);
        match known {
            Some(line) => {
                line.at.start = line.at.start.min(range.start);
                line.at.end = line.at.end.max(range.end);
                line.is_barrier |= is_barrier;
            }
            None => lines.push(Line { at: range, number, text: String::new(), function, is_barrier }),
        }
    }

    /// The first line of a stretch, blanks made one, not too long.
    fn text(&self, at: Range) -> String {
        let bytes = (self.bytes)(at.file);
        let end = (at.end as usize).min(bytes.len());
        let stretch = &bytes[(at.start as usize).min(end)..end];
        let first = stretch.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let mut text = String::from_utf8_lossy(first).split_whitespace().collect::<Vec<_>>().join(" ");
        if first.len() < stretch.len() {
            text.push_str(" …");
        }
        if let Some((cut, _)) = text.char_indices().nth(MAX_TEXT) {
            text.truncate(cut);
            text.push('…');
        }
        text
    }
}
