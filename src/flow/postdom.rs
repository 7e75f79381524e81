//! Post-dominators: add one exit behind all ends, give each endless loop a way to it, turn all edges round, compute.

use super::Flow;
use super::dominators::Edges;
use crate::graph::BlockId;
use petgraph::graph::NodeIndex;

pub struct PostDominators {
    /// The immediate post-dominator, `None` where it is the one exit.
    immediate: Vec<Option<BlockId>>,
}

impl PostDominators {
    pub fn new(flow: &Flow) -> PostDominators {
        let count = flow.successors.len();
        // Blocks with an edge to the one exit.
        let mut ends: Vec<BlockId> =
            flow.order.iter().copied().filter(|from| flow.successors[from.index()].is_empty()).collect();
        let mut reaches = vec![false; count];
        mark(flow, &mut reaches, ends.clone());
        // The last block in order of what cannot end is a latch of the outermost endless loop: it gets a way out.
        for from in flow.order.iter().rev() {
            if !reaches[from.index()] {
                ends.push(*from);
                mark(flow, &mut reaches, vec![*from]);
            }
        }
        let backwards = Edges { of: &flow.predecessors, of_last: &ends };
        let exit = backwards.last();
        let tree = backwards.dominators(exit);
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
