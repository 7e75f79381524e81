//! Post-dominators: add one exit behind all ends, give each endless loop a way to it, turn all edges round, compute.

use super::Flow;
use crate::graph::BlockId;
use petgraph::algo::dominators::simple_fast;
use petgraph::graph::{DiGraph, NodeIndex};

pub struct PostDominators {
    /// The immediate post-dominator, `None` where it is the one exit.
    immediate: Vec<Option<BlockId>>,
}

impl PostDominators {
    pub fn new(flow: &Flow) -> PostDominators {
        let count = flow.successors.len();
        let exit = NodeIndex::new(count);
        let mut graph: DiGraph<(), (), u32> = DiGraph::with_capacity(count + 1, count * 2);
        for _ in 0..=count {
            graph.add_node(());
        }
        let mut reaches = vec![false; count];
        let mut work = Vec::new();
        for from in &flow.order {
            for to in &flow.successors[from.index()] {
                graph.add_edge(NodeIndex::new(to.index()), NodeIndex::new(from.index()), ());
            }
            if flow.successors[from.index()].is_empty() {
                graph.add_edge(exit, NodeIndex::new(from.index()), ());
                work.push(*from);
            }
        }
        mark(flow, &mut reaches, work);
        // The last block in order of what cannot end is a latch of the outermost endless loop: it gets a way out.
        for from in flow.order.iter().rev() {
            if !reaches[from.index()] {
                graph.add_edge(exit, NodeIndex::new(from.index()), ());
                mark(flow, &mut reaches, vec![*from]);
            }
        }
        let tree = simple_fast(&graph, exit);
        let immediate = (0..count)
            .map(|index| {
                let above = tree.immediate_dominator(NodeIndex::new(index))?;
                (above != exit).then(|| BlockId(above.index() as u32))
            })
            .collect();
        PostDominators { immediate }
    }

    pub fn immediate(&self, block: BlockId) -> Option<BlockId> {
        self.immediate[block.index()]
    }
}

fn mark(flow: &Flow, reaches: &mut [bool], mut work: Vec<BlockId>) {
    while let Some(block) = work.pop() {
        if !std::mem::replace(&mut reaches[block.index()], true) {
            work.extend(flow.predecessors[block.index()].iter().copied());
        }
    }
}
