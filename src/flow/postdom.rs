//! Post-dominators: add one exit behind all ends, give each endless loop a way to it, turn all edges round, compute.

use super::{Flow, dominators};
use crate::graph::BlockId;

pub struct PostDominators {
    /// The immediate post-dominator, `None` where it is the one exit.
    immediate: Vec<Option<BlockId>>,
}

impl PostDominators {
    pub fn new(flow: &Flow) -> PostDominators {
        let count = flow.successors.len();
        let exit = count;
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
        let mut is_end = vec![false; count];
        ends.iter().for_each(|end| is_end[end.index()] = true);
        let (order, position) = backwards(flow, &ends);
        let above = dominators::immediate(&order, &position, |node| {
            let onward = flow.successors[node].iter().map(|to| to.index());
            onward.chain(is_end[node].then_some(exit))
        });
        let mut immediate = vec![None; count];
        for (node, above) in order.iter().zip(above).skip(1) {
            let above = order[above as usize];
            immediate[*node] = (above != exit).then_some(BlockId(above as u32));
        }
        PostDominators { immediate }
    }

    pub fn immediate(&self, block: BlockId) -> Option<BlockId> {
        self.immediate[block.index()]
    }
}

/// Reverse post-order from the one exit against all edges, and the position of each node in it.
fn backwards(flow: &Flow, ends: &[BlockId]) -> (Vec<usize>, Vec<u32>) {
    let exit = flow.successors.len();
    let targets = |node: usize| if node == exit { ends } else { &flow.predecessors[node] };
    let mut seen = vec![false; exit + 1];
    let mut order = Vec::with_capacity(flow.order.len() + 1);
    let mut stack = vec![(exit, 0)];
    seen[exit] = true;
    while let Some((node, next)) = stack.last_mut() {
        match targets(*node).get(*next) {
            Some(to) => {
                *next += 1;
                if !std::mem::replace(&mut seen[to.index()], true) {
                    stack.push((to.index(), 0));
                }
            }
            None => {
                order.push(*node);
                stack.pop();
            }
        }
    }
    order.reverse();
    let mut position = vec![u32::MAX; exit + 1];
    for (at, node) in order.iter().enumerate() {
        position[*node] = at as u32;
    }
    (order, position)
}

fn mark(flow: &Flow, reaches: &mut [bool], mut work: Vec<BlockId>) {
    while let Some(block) = work.pop() {
        if !std::mem::replace(&mut reaches[block.index()], true) {
            work.extend(flow.predecessors[block.index()].iter().copied());
        }
    }
}
