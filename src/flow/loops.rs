//! Loops: natural ones, and for jumps into the middle of one the cycle that holds the jump's target.

use super::Flow;
use crate::graph::BlockId;

#[derive(Clone, Debug)]
pub struct Loop {
    /// The block every trip begins with.
    pub header: BlockId,
    /// Blocks with an edge back to the header.
    pub latches: Vec<BlockId>,
    /// All blocks of the loop, the header among them, in no order.
    pub blocks: Vec<BlockId>,
    /// Edges that leave it.
    pub exits: Vec<(BlockId, BlockId)>,
    pub parent: Option<usize>,
}

/// All loops, and the innermost one of each block.
pub fn find(flow: &Flow) -> (Vec<Loop>, Vec<Option<usize>>) {
    let count = flow.successors.len();
    let mut loops: Vec<Loop> = Vec::new();
    let mut of_header: Vec<Option<usize>> = vec![None; count];
    for from in &flow.order {
        for to in &flow.successors[from.index()] {
            if flow.is_back_edge(*from, *to) {
                let index = *of_header[to.index()].get_or_insert_with(|| {
                    loops.push(Loop {
                        header: *to,
                        latches: Vec::new(),
                        blocks: Vec::new(),
                        exits: Vec::new(),
                        parent: None,
                    });
                    loops.len() - 1
                });
                loops[index].latches.push(*from);
            }
        }
    }
    let mut stamp = vec![u32::MAX; count];
    for (index, each) in loops.iter_mut().enumerate() {
        let header = each.header;
        let reducible = each.latches.iter().all(|latch| flow.dominates(header, *latch));
        let forward = if reducible { None } else { Some(reachable_below(flow, header)) };
        each.blocks.push(header);
        stamp[header.index()] = index as u32;
        let mut work = each.latches.clone();
        while let Some(block) = work.pop() {
            if stamp[block.index()] == index as u32 || forward.as_ref().is_some_and(|reach| !reach[block.index()]) {
                continue;
            }
            stamp[block.index()] = index as u32;
            each.blocks.push(block);
            work.extend(flow.predecessors[block.index()].iter().copied());
        }
        for block in &each.blocks {
            for to in &flow.successors[block.index()] {
                if stamp[to.index()] != index as u32 {
                    each.exits.push((*block, *to));
                }
            }
        }
    }
    nest(loops, count)
}

/// Larger loops first, so that each block ends with its innermost loop and each loop finds its parent.
fn nest(mut loops: Vec<Loop>, count: usize) -> (Vec<Loop>, Vec<Option<usize>>) {
    loops.sort_by_key(|each| std::cmp::Reverse(each.blocks.len()));
    let mut loop_of: Vec<Option<usize>> = vec![None; count];
    for index in 0..loops.len() {
        let parent = loop_of[loops[index].header.index()];
        loops[index].parent = parent;
        for block in loops[index].blocks.clone() {
            loop_of[block.index()] = Some(index);
        }
    }
    (loops, loop_of)
}

/// When a walk enters and leaves each loop, those inside it in between.
pub fn intervals(loops: &[Loop]) -> Vec<(u32, u32)> {
    let mut inner = vec![0; loops.len()];
    // Loops stand behind those round them.
    for index in (0..loops.len()).rev() {
        if let Some(parent) = loops[index].parent {
            inner[parent] += inner[index] + 1;
        }
    }
    let mut interval: Vec<(u32, u32)> = Vec::with_capacity(loops.len());
    let mut next = vec![0; loops.len()];
    let mut outermost = 0;
    for (index, each) in loops.iter().enumerate() {
        let clock = each.parent.map_or(&mut outermost, |parent| &mut next[parent]);
        let start = *clock;
        *clock += inner[index] + 1;
        interval.push((start, start + inner[index]));
        next[index] = start + 1;
    }
    interval
}

/// What can be reached from a block on the same trip of the loops round it: a block that all ways to it pass belongs to
/// those, not to a cycle that is entered at several places.
fn reachable_below(flow: &Flow, from: BlockId) -> Vec<bool> {
    let mut seen = vec![false; flow.successors.len()];
    let mut work = vec![from];
    while let Some(block) = work.pop() {
        if !std::mem::replace(&mut seen[block.index()], true) {
            let next = flow.successors[block.index()].iter().copied();
            work.extend(next.filter(|to| !flow.dominates(*to, from)));
        }
    }
    seen
}
