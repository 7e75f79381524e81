//! How the threads that never come to a barrier go their way: do they end, leave the function, or just skip it?

use super::Check;
use crate::flow::control::Dependence;
use crate::graph::{BlockId, End, Exit, Fork, FrameId, InstId, Leaving};

/// What lies on the ways of a fork that do not lead to the barrier.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Ways {
    /// Some way ends the thread by a written `return` of the kernel or an exit instruction.
    pub ends: bool,
    /// Some way returns from a function that holds the barrier or the call to it.
    pub returns: bool,
    /// Some way goes on to where the fork's ways meet again, or to the end of the body.
    pub goes_on: bool,
}

impl Ways {
    /// Every thread that does not come has ended by a written return or exit.
    pub fn all_end(self) -> bool {
        self.ends && !self.goes_on && !self.returns
    }

    /// Every thread that goes another way at this fork comes, too, unless a later fork keeps it away.
    pub fn all_come(self) -> bool {
        !self.ends && !self.goes_on && !self.returns
    }
}

/// The ways of `dependence.fork` other than the one that leads to the barrier.
pub fn ways(check: &Check, inst: InstId, dependence: Dependence) -> Ways {
    let analysed = check.analysed;
    let barrier = analysed.block(inst);
    let chain = check.chain(analysed.graph.insts[inst.index()].frame);
    let meets = analysed.flow.control.meets(dependence.fork);
    let mut ways = Ways::default();
    let mut seen = vec![false; analysed.graph.blocks.len()];
    let mut work: Vec<BlockId> =
        analysed.flow.successors[dependence.fork.index()].iter().copied().filter(|to| *to != dependence.by).collect();
    // A jump straight to the meeting point leaves by the fork's own edge.
    // `if (done) return;` in a loop that nothing else ends: all come to that return in the end, one by one.
    let is_if = matches!(&analysed.graph.blocks[dependence.fork.index()].end, End::Branch { what: Fork::If, .. });
    if is_if && leaves_loop(check, inst, dependence) && work.iter().all(|to| Some(*to) == meets) {
        for block in &work {
            match &analysed.graph.blocks[block.index()].end {
                End::Exit { how: Exit::Return | Exit::Instruction, .. } => ways.ends = true,
                End::Jump { leaving: Leaving::Return, .. } if returns_from(check, *block, &chain) => {
                    ways.returns = true
                }
                _ => {}
            }
        }
        if ways.ends || ways.returns {
            return ways;
        }
    }
    while let Some(block) = work.pop() {
        if Some(block) == meets || block == dependence.fork {
            ways.goes_on = true;
            continue;
        }
        if block == barrier || std::mem::replace(&mut seen[block.index()], true) {
            continue;
        }
        if ways.ends && ways.goes_on && ways.returns {
            break;
        }
        match &analysed.graph.blocks[block.index()].end {
            End::Exit { how: Exit::Return | Exit::Instruction, .. } => ways.ends = true,
            End::Exit { how: Exit::End, .. } => ways.goes_on = true,
            End::Jump { leaving: Leaving::Return, .. } if returns_from(check, block, &chain) => ways.returns = true,
            _ => work.extend(analysed.flow.successors[block.index()].iter().copied()),
        }
    }
    ways
}

fn returns_from(check: &Check, block: BlockId, chain: &[FrameId]) -> bool {
    chain.contains(&check.analysed.graph.blocks[block.index()].frame)
}

/// The fork decides whether the threads go round once more in a loop that holds the barrier.
pub fn leaves_loop(check: &Check, inst: InstId, dependence: Dependence) -> bool {
    let flow = &check.analysed.flow;
    let barrier = check.analysed.block(inst);
    let Some(index) = flow.common_loop(dependence.fork, barrier) else { return false };
    let mut at = Some(index);
    while let Some(index) = at {
        let leaves = flow.successors[dependence.fork.index()].iter().any(|to| !flow.in_loop(*to, index));
        if flow.in_loop(dependence.by, index) && (leaves || leads_out(check, barrier, dependence, index)) {
            return true;
        }
        at = flow.loops[index].parent;
    }
    false
}

/// Who goes another way and does not come to the barrier leaves the loop: `if (mine) { if (all_done) break; }`.
fn leads_out(check: &Check, barrier: BlockId, dependence: Dependence, index: usize) -> bool {
    let flow = &check.analysed.flow;
    let header = flow.loops[index].header;
    let mut out = false;
    let mut seen = vec![false; check.analysed.graph.blocks.len()];
    let mut work: Vec<BlockId> =
        flow.successors[dependence.fork.index()].iter().copied().filter(|to| *to != dependence.by).collect();
    while let Some(block) = work.pop() {
        if block == header {
            return false;
        }
        if !flow.in_loop(block, index) {
            out = true;
        } else if block != barrier && !std::mem::replace(&mut seen[block.index()], true) {
            work.extend(flow.successors[block.index()].iter().copied());
        }
    }
    out
}
