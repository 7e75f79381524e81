//! The shape of one graph: order, dominators, loops, and which forks decide whether a block runs.
//!
//! Edges known never to be taken are left out from the start, and so is everything behind them:
//!
//! ```text
//!   graph, dead edges ──> successors ──> order ──> dominators ──> loops
//!                                          └─────> post-dominators ──> control dependence
//! ```
//!
//! What it does not know: values. Which edges are dead is told to it.

pub mod control;
mod dominators;
pub mod loops;
pub mod postdom;

use crate::graph::{BlockId, End, Graph, InstId, Op};
use dominators::Edges;
use petgraph::graph::NodeIndex;
use rustc_hash::FxHashSet;

/// Edges that no thread takes.
pub type DeadEdges = FxHashSet<(BlockId, BlockId)>;

#[derive(Debug)]
pub struct Flow {
    /// Blocks that can run, in reverse post-order; the entry first.
    pub order: Vec<BlockId>,
    /// Position in `order`, `u32::MAX` for blocks that cannot run.
    pub position: Vec<u32>,
    pub successors: Vec<Vec<BlockId>>,
    pub predecessors: Vec<Vec<BlockId>>,
    /// Immediate dominators; the entry's is itself.
    dominator: Vec<BlockId>,
    /// For constant-time dominance: when the dominator tree's walk enters and leaves a block.
    interval: Vec<(u32, u32)>,
    pub loops: Vec<loops::Loop>,
    /// For telling at once what lies in a loop: when a walk over the loops, each before those it holds, enters and leaves it.
    loop_interval: Vec<(u32, u32)>,
    /// The innermost loop round a block, an index into `loops`.
    pub loop_of: Vec<Option<usize>>,
    /// The loop that a block is the head of.
    pub head_of: Vec<Option<usize>>,
    /// Forks that decide whether a block runs.
    pub control: control::Control,
}

impl Flow {
    pub fn new(graph: &Graph, dead: &DeadEdges) -> Flow {
        let count = graph.blocks.len();
        let doomed = doomed(graph, dead);
        let mut successors = vec![Vec::new(); count];
        for (index, block) in graph.blocks.iter().enumerate() {
            let from = BlockId(index as u32);
            let all = block.end.successors();
            let mut live: Vec<BlockId> =
                all.iter().copied().filter(|to| !doomed[to.index()] && !dead.contains(&(from, *to))).collect();
            live.dedup();
            successors[index] = live;
        }
        let (order, position) = reverse_post_order(&successors);
        for (index, targets) in successors.iter_mut().enumerate() {
            if position[index] == u32::MAX {
                targets.clear();
            }
        }
        let mut predecessors = vec![Vec::new(); count];
        for from in &order {
            for to in &successors[from.index()] {
                predecessors[to.index()].push(*from);
            }
        }
        let dominator = dominators(count, &successors, &order);
        let interval = intervals(&dominator, &order);
        let mut flow = Flow {
            order,
            position,
            successors,
            predecessors,
            dominator,
            interval,
            loops: Vec::new(),
            loop_interval: Vec::new(),
            loop_of: Vec::new(),
            head_of: vec![None; count],
            control: control::Control::default(),
        };
        let (loops, loop_of) = loops::find(&flow);
        flow.loop_interval = loops::intervals(&loops);
        flow.loops = loops;
        flow.loop_of = loop_of;
        for (index, each) in flow.loops.iter().enumerate() {
            flow.head_of[each.header.index()] = Some(index);
        }
        let post = postdom::PostDominators::new(&flow);
        flow.control = control::Control::new(&flow, &post);
        flow
    }

    /// `block` can only be come to by way of the edge into `by`.
    pub fn only_by(&self, by: BlockId, block: BlockId) -> bool {
        self.predecessors[by.index()].len() == 1 && self.dominates(by, block)
    }

    pub fn runs(&self, block: BlockId) -> bool {
        self.position[block.index()] != u32::MAX
    }

    pub fn immediate_dominator(&self, block: BlockId) -> BlockId {
        self.dominator[block.index()]
    }

    /// Every way from the entry to `below` leads through `above`.
    pub fn dominates(&self, above: BlockId, below: BlockId) -> bool {
        if !self.runs(above) || !self.runs(below) {
            return false;
        }
        let (a, b) = (self.interval[above.index()], self.interval[below.index()]);
        a.0 <= b.0 && b.1 <= a.1
    }

    /// Some way leads from one block to another and not through `avoided`.
    pub fn leads_round(&self, from: BlockId, to: BlockId, avoided: BlockId) -> bool {
        let mut seen = vec![false; self.position.len()];
        let mut work = vec![from];
        while let Some(block) = work.pop() {
            if block == to {
                return true;
            }
            if block != avoided && !std::mem::replace(&mut seen[block.index()], true) {
                work.extend(self.successors[block.index()].iter().copied());
            }
        }
        false
    }

    /// `from` stands at or behind `to` in the order, so the edge closes a cycle.
    pub fn is_back_edge(&self, from: BlockId, to: BlockId) -> bool {
        self.position[from.index()] >= self.position[to.index()]
    }

    /// Whether `block` lies in loop `index`.
    pub fn in_loop(&self, block: BlockId, index: usize) -> bool {
        self.loop_of[block.index()].is_some_and(|inner| {
            let (inner, outer) = (self.loop_interval[inner], self.loop_interval[index]);
            outer.0 <= inner.0 && inner.1 <= outer.1
        })
    }

    /// The innermost loop that holds both blocks.
    pub fn common_loop(&self, a: BlockId, b: BlockId) -> Option<usize> {
        let mut at = self.loop_of[a.index()];
        while let Some(here) = at {
            if self.in_loop(b, here) {
                return Some(here);
            }
            at = self.loops[here].parent;
        }
        None
    }
}

/// Blocks from which every way ends in a trap or goes round for ever without a barrier: they and the edges to them
/// count as absent, since no thread goes on from there without the others. An endless loop that holds a barrier is kept, and
/// one behind a barrier that nothing else follows: whoever goes round there has waited before.
fn doomed(graph: &Graph, dead: &DeadEdges) -> Vec<bool> {
    let count = graph.blocks.len();
    let mut predecessors = vec![Vec::new(); count];
    for (index, block) in graph.blocks.iter().enumerate() {
        let from = BlockId(index as u32);
        for to in block.end.successors().into_iter().filter(|to| !dead.contains(&(from, *to))) {
            predecessors[to.index()].push(index);
        }
    }
    let mut doomed = vec![true; count];
    let spare = |doomed: &mut Vec<bool>, mut work: Vec<usize>| {
        while let Some(index) = work.pop() {
            if std::mem::replace(&mut doomed[index], false) {
                work.extend(predecessors[index].iter().copied());
            }
        }
    };
    let exits = (0..count).filter(|index| matches!(graph.blocks[*index].end, End::Exit { .. })).collect();
    spare(&mut doomed, exits);
    let is_barrier = |inst: &InstId| matches!(graph.insts[inst.index()].op, Op::Barrier(_));
    let waits = |index: &usize| doomed[*index] && graph.blocks[*index].insts.iter().any(is_barrier);
    let kept = endless(graph, dead, &predecessors, (0..count).filter(waits).collect());
    spare(&mut doomed, kept);
    // A graph whose entry is doomed runs nowhere; keep the entry so that there is something to speak of.
    if let Some(first) = doomed.first_mut() {
        *first = false;
    }
    doomed
}

/// Of some blocks and all that they lead to, those from which some way goes round for ever: what ends is taken away, and
/// what leads to nothing else, until nothing more goes.
fn endless(graph: &Graph, dead: &DeadEdges, predecessors: &[Vec<usize>], from: Vec<usize>) -> Vec<usize> {
    let onward = |at: usize| {
        let all = graph.blocks[at].end.successors();
        all.into_iter().filter(|to| !dead.contains(&(BlockId(at as u32), *to))).map(|to| to.index()).collect::<Vec<_>>()
    };
    let mut ways: Vec<Option<usize>> = vec![None; predecessors.len()];
    let mut work = from;
    let mut ends = Vec::new();
    while let Some(at) = work.pop() {
        if ways[at].is_none() {
            let next = onward(at);
            ways[at] = Some(next.len());
            if next.is_empty() {
                ends.push(at);
            }
            work.extend(next);
        }
    }
    while let Some(end) = ends.pop() {
        for before in &predecessors[end] {
            if let Some(left) = &mut ways[*before] {
                *left -= 1;
                if *left == 0 {
                    ends.push(*before);
                }
            }
        }
    }
    (0..ways.len()).filter(|at| ways[*at].is_some_and(|left| left > 0)).collect()
}

fn reverse_post_order(successors: &[Vec<BlockId>]) -> (Vec<BlockId>, Vec<u32>) {
    let mut position = vec![u32::MAX; successors.len()];
    if successors.is_empty() {
        return (Vec::new(), position);
    }
    let mut order = Vec::with_capacity(successors.len());
    let mut seen = vec![false; successors.len()];
    let mut stack = vec![(BlockId(0), 0usize)];
    seen[0] = true;
    while let Some((block, next)) = stack.last_mut() {
        // Successors are walked last to first, so that in the reversed order the first one comes first.
        let targets = &successors[block.index()];
        if *next < targets.len() {
            let to = targets[targets.len() - 1 - *next];
            *next += 1;
            if !seen[to.index()] {
                seen[to.index()] = true;
                stack.push((to, 0));
            }
        } else {
            order.push(*block);
            stack.pop();
        }
    }
    order.reverse();
    for (index, block) in order.iter().enumerate() {
        position[block.index()] = index as u32;
    }
    (order, position)
}

/// Of each block; those that cannot run have themselves.
fn dominators(count: usize, successors: &[Vec<BlockId>], order: &[BlockId]) -> Vec<BlockId> {
    let mut result: Vec<BlockId> = (0..count as u32).map(BlockId).collect();
    if order.is_empty() {
        return result;
    }
    let tree = Edges { of: successors, of_last: &[] }.dominators(NodeIndex::new(0));
    for block in order {
        if let Some(above) = tree.immediate_dominator(NodeIndex::new(block.index())) {
            result[block.index()] = BlockId(above.index() as u32);
        }
    }
    result
}

fn intervals(dominator: &[BlockId], order: &[BlockId]) -> Vec<(u32, u32)> {
    let mut children = vec![Vec::new(); dominator.len()];
    for block in order.iter().skip(1) {
        children[dominator[block.index()].index()].push(*block);
    }
    let mut interval = vec![(0, 0); dominator.len()];
    let Some(root) = order.first() else { return interval };
    let mut clock = 0;
    let mut stack = vec![(*root, 0usize)];
    while let Some((block, next)) = stack.last_mut() {
        if *next == 0 {
            interval[block.index()].0 = clock;
            clock += 1;
        }
        if let Some(child) = children[block.index()].get(*next) {
            *next += 1;
            stack.push((*child, 0));
        } else {
            interval[block.index()].1 = clock;
            clock += 1;
            stack.pop();
        }
    }
    interval
}
