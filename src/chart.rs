//! A kernel's control-flow graph as a reader sees it: runs of blocks with the source they stand for, who runs them, the barriers.
//!
//! `checks::chart` fills it, `report::chart` draws it. Here it is only made smaller: chains become one node, blocks that stand
//! for nothing vanish, and of a graph that is too large for a picture only what decides its barriers stays.

use crate::text::{FileId, Range};
use std::collections::{BTreeMap, BTreeSet};

/// Nodes that a reader can still take in.
pub const MAX_NODES: usize = 160;
/// Lines that one node shows.
const MAX_LINES: usize = 9;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chart {
    /// The kernel, or the device function that nobody calls.
    pub name: String,
    /// For which launch it was made, where there are several: `a block of 64 threads`.
    pub given: Option<String>,
    /// The first is where threads begin.
    pub nodes: Vec<Node>,
    pub edges: Vec<Edge>,
    /// Blocks of the analysis that it stands for.
    pub blocks: usize,
    /// Only what decides barriers is left.
    pub is_reduced: bool,
    /// The findings that it shows: the rule and where they stand.
    pub findings: Vec<(&'static str, Range)>,
    /// The files that its lines stand in, as reports spell them.
    pub paths: BTreeMap<FileId, String>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Node {
    pub kind: NodeKind,
    pub lines: Vec<Line>,
    pub who: Who,
    /// How far threads agree on the way they take from here, where they do not all take one.
    pub parts: Option<Who>,
    pub barriers: Vec<Stop>,
    /// Barriers hang on the way that is taken here.
    pub decides: bool,
}

#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum NodeKind {
    #[default]
    Start,
    Blocks,
    /// Threads end.
    End,
}

/// Which threads of the block run something together.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Who {
    /// Threads of one warp part: only some of them may run it.
    Threads,
    /// Whole warps, but perhaps not all of them.
    Warps,
    /// All threads of the block, or none.
    #[default]
    Block,
}

/// What a node stands for on one line of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    pub at: Range,
    /// From 1.
    pub number: u32,
    pub text: String,
    /// The function whose body it stands in, if it is not the kernel's own.
    pub function: Option<String>,
    /// A barrier is on it.
    pub is_barrier: bool,
}

/// A barrier in a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stop {
    pub name: String,
    /// The rule that it breaks.
    pub fault: Option<&'static str>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    pub from: usize,
    pub to: usize,
    /// `yes`, `no`, `case 3`; empty where there is one way only.
    pub label: String,
    /// Leads back to the head of a loop.
    pub is_back: bool,
}

impl Chart {
    /// It shows the finding of a rule at a place.
    pub fn shows(&self, rule: &str, at: Range) -> bool {
        self.findings.iter().any(|(known, place)| *known == rule && *place == at)
    }

    pub fn name_files(&mut self, path: &dyn Fn(FileId) -> String) {
        let files = self.nodes.iter().flat_map(|node| &node.lines).map(|line| line.at.file);
        self.paths = files.collect::<BTreeSet<FileId>>().into_iter().map(|file| (file, path(file))).collect();
    }

    /// Chains as one node, nothing that stands for nothing, and no more nodes than a reader can take in.
    /// `false`: even what decides the barriers is too much.
    pub fn simplify(&mut self) -> bool {
        self.drop_empty();
        self.merge_chains();
        if self.nodes.len() > MAX_NODES {
            self.reduce();
            self.merge_chains();
            self.is_reduced = true;
        }
        for node in &mut self.nodes {
            shorten(&mut node.lines);
        }
        self.nodes.len() <= MAX_NODES
    }

    /// Blocks without source, which joins and jumps make, give way to what follows them.
    fn drop_empty(&mut self) {
        let mut next: Vec<Option<usize>> = vec![None; self.nodes.len()];
        let mut ways = vec![0usize; self.nodes.len()];
        for edge in &self.edges {
            ways[edge.from] += 1;
            next[edge.from] = Some(edge.to);
        }
        let is_empty = |node: usize| {
            let each = &self.nodes[node];
            each.kind == NodeKind::Blocks && each.lines.is_empty() && each.barriers.is_empty() && ways[node] == 1
        };
        // Where each node leads in the end; a ring of empty nodes stays.
        let mut leads: Vec<usize> = (0..self.nodes.len()).collect();
        for node in 0..self.nodes.len() {
            let (mut at, mut steps) = (node, 0);
            while is_empty(at) && steps < self.nodes.len() {
                at = if leads[at] != at { leads[at] } else { next[at].unwrap_or(at) };
                steps += 1;
            }
            leads[node] = if is_empty(at) { node } else { at };
        }
        for edge in &mut self.edges {
            if leads[edge.to] != edge.to {
                // The way back goes through what has vanished.
                edge.is_back |= edge.to > edge.from && leads[edge.to] <= edge.from;
                edge.to = leads[edge.to];
            }
        }
        let keep: Vec<bool> = (0..self.nodes.len()).map(|node| leads[node] == node).collect();
        self.retain(&keep);
    }

    fn merge_chains(&mut self) {
        let count = self.nodes.len();
        let (mut ways_out, mut ways_in) = (vec![0usize; count], vec![0usize; count]);
        let mut next: Vec<Option<usize>> = vec![None; count];
        for edge in &self.edges {
            ways_out[edge.from] += 1;
            ways_in[edge.to] += 1;
            next[edge.from] = Some(edge.to);
        }
        let mut keep = vec![true; count];
        let mut moved: Vec<usize> = (0..count).collect();
        for head in 0..count {
            if !keep[head] || self.nodes[head].kind != NodeKind::Blocks {
                continue;
            }
            let mut tail = head;
            while let Some(after) = next[tail].filter(|after| {
                ways_out[tail] == 1
                    && ways_in[*after] == 1
                    && *after != head
                    && keep[*after]
                    && self.nodes[*after].kind == NodeKind::Blocks
                    && self.nodes[*after].who == self.nodes[head].who
            }) {
                keep[after] = false;
                moved[after] = head;
                let taken = std::mem::take(&mut self.nodes[after]);
                let node = &mut self.nodes[head];
                node.lines.extend(taken.lines);
                node.barriers.extend(taken.barriers);
                node.parts = taken.parts;
                node.decides = taken.decides;
                tail = after;
            }
        }
        self.edges.retain(|edge| moved[edge.to] == edge.to || ways_in[edge.to] != 1);
        for edge in &mut self.edges {
            (edge.from, edge.to) = (moved[edge.from], moved[edge.to]);
        }
        for node in &mut self.nodes {
            join_lines(&mut node.lines);
        }
        self.retain(&keep);
    }

    /// What decides the barriers, and they themselves; the ways between them lead through what is left out.
    fn reduce(&mut self) {
        let keep: Vec<bool> = self
            .nodes
            .iter()
            .map(|node| node.kind != NodeKind::Blocks || node.decides || !node.barriers.is_empty())
            .collect();
        let mut after = vec![Vec::new(); self.nodes.len()];
        for edge in &self.edges {
            after[edge.from].push(edge.to);
        }
        let mut edges: Vec<Edge> = Vec::new();
        if keep.iter().filter(|keep| **keep).count() <= MAX_NODES {
            for edge in self.edges.iter().filter(|edge| keep[edge.from]) {
                let mut seen = BTreeSet::new();
                let mut work = vec![edge.to];
                while let Some(at) = work.pop() {
                    if !seen.insert(at) {
                        continue;
                    }
                    if keep[at] {
                        let way = Edge { to: at, is_back: at <= edge.from, ..edge.clone() };
                        if !edges.contains(&way) {
                            edges.push(way);
                        }
                    } else {
                        work.extend(&after[at]);
                    }
                }
            }
        }
        self.edges = edges;
        self.retain(&keep);
    }

    fn retain(&mut self, keep: &[bool]) {
        let mut place = vec![usize::MAX; self.nodes.len()];
        let mut kept = 0;
        for (node, keep) in keep.iter().enumerate() {
            if *keep {
                place[node] = kept;
                kept += 1;
            }
        }
        let mut index = 0;
        self.nodes.retain(|_| {
            index += 1;
            keep[index - 1]
        });
        self.edges.retain(|edge| keep[edge.from] && keep[edge.to]);
        let mut edges: Vec<Edge> = Vec::with_capacity(self.edges.len());
        let mut seen: BTreeSet<(usize, usize)> = BTreeSet::new();
        for mut edge in std::mem::take(&mut self.edges) {
            (edge.from, edge.to) = (place[edge.from], place[edge.to]);
            if seen.insert((edge.from, edge.to)) {
                edges.push(edge);
            } else if let Some(known) = edges.iter_mut().find(|known| (known.from, known.to) == (edge.from, edge.to)) {
                // Both ways lead to the same place.
                known.label = match (known.label.as_str(), edge.label.as_str()) {
                    ("yes", "no") | ("no", "yes") => String::new(),
                    (a, b) if a == b => a.to_string(),
                    (a, b) => format!("{a}, {b}"),
                };
            }
        }
        self.edges = edges;
    }
}

/// Of neighbours of which one lies within the other, the larger stays.
fn join_lines(lines: &mut Vec<Line>) {
    let holds = |outer: &Line, inner: &Line| {
        outer.at.file == inner.at.file && outer.at.start <= inner.at.start && inner.at.end <= outer.at.end
    };
    lines.dedup_by(|next, line| {
        let same = next.function == line.function && (holds(line, next) || holds(next, line));
        if same {
            let is_barrier = line.is_barrier || next.is_barrier;
            if holds(next, line) {
                *line = next.clone();
            }
            line.is_barrier = is_barrier;
        }
        same
    });
}

/// The first and the last lines, and every barrier.
fn shorten(lines: &mut Vec<Line>) {
    if lines.len() <= MAX_LINES {
        return;
    }
    let (head, tail) = (MAX_LINES / 2, lines.len() - MAX_LINES / 3);
    let mut gap = false;
    let mut short: Vec<Line> = Vec::new();
    for (index, line) in lines.drain(..).enumerate() {
        if index < head || index >= tail || line.is_barrier && short.len() < 2 * MAX_LINES {
            gap = false;
            short.push(line);
        } else if !gap {
            gap = true;
            short.push(Line { text: "…".to_string(), number: 0, is_barrier: false, ..line });
        }
    }
    *lines = short;
}

impl Who {
    /// In a legend.
    pub fn words(self) -> &'static str {
        match self {
            Who::Threads => "only some threads",
            Who::Warps => "only some warps, each whole",
            Who::Block => "all threads of the block",
        }
    }
}
