//! How the threads that never come to a barrier go their way: do they end, leave the function, or just skip it?

use super::Check;
use crate::flow::Flow;
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
    if is_if && work.iter().all(|to| Some(*to) == meets) && leaves_loop(check, inst, dependence) {
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
    let (some_end, some_return) = *check.exits.get_or_init(|| exits(check));
    while let Some(block) = work.pop() {
        if Some(block) == meets || block == dependence.fork {
            ways.goes_on = true;
            continue;
        }
        // Where all who come pass, behind the fork: from there on, later forks decide.
        let rejoins = analysed.flow.dominates(block, barrier) && !analysed.flow.dominates(block, dependence.fork);
        if rejoins || std::mem::replace(&mut seen[block.index()], true) {
            continue;
        }
        if ways.goes_on && (ways.ends || !some_end) && (ways.returns || !some_return) {
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

/// Whether there are written returns or exits of threads, and early returns of functions.
fn exits(check: &Check) -> (bool, bool) {
    let ends = || check.analysed.flow.order.iter().map(|block| &check.analysed.graph.blocks[block.index()].end);
    let is_exit = |end: &End| matches!(end, End::Exit { how: Exit::Return | Exit::Instruction, .. });
    let is_return = |end: &End| matches!(end, End::Jump { leaving: Leaving::Return, .. });
    (ends().any(is_exit), ends().any(is_return))
}

fn returns_from(check: &Check, block: BlockId, chain: &[FrameId]) -> bool {
    chain.contains(&check.analysed.graph.blocks[block.index()].frame)
}

/// The fork decides whether the threads go round once more in a loop that holds the barrier.
pub fn leaves_loop(check: &Check, inst: InstId, dependence: Dependence) -> bool {
    let flow = &check.analysed.flow;
    let barrier = check.analysed.block(inst);
    let Some(index) = flow.common_loop(dependence.fork, barrier) else { return false };
    let mut others = Others::new(flow, barrier, dependence);
    let mut at = Some(index);
    while let Some(index) = at {
        let leaves = flow.successors[dependence.fork.index()].iter().any(|to| !flow.in_loop(*to, index));
        if flow.in_loop(dependence.by, index) && (leaves || others.lead_out(index)) {
            return true;
        }
        at = flow.loops[index].parent;
    }
    false
}

/// Those who go another way at a fork and do not come to the barrier, followed from inner loops to outer ones.
struct Others<'c> {
    flow: &'c Flow,
    barrier: BlockId,
    seen: Vec<bool>,
    /// Where the walk has to go on once it is not held back by a loop.
    waiting: Vec<BlockId>,
}

impl<'c> Others<'c> {
    fn new(flow: &'c Flow, barrier: BlockId, dependence: Dependence) -> Others<'c> {
        let successors = &flow.successors[dependence.fork.index()];
        let waiting = successors.iter().copied().filter(|to| *to != dependence.by).collect();
        Others { flow, barrier, seen: vec![false; flow.successors.len()], waiting }
    }

    /// All of them leave the loop: `if (mine) { if (all_done) break; }`. Each loop asked for holds the one before.
    fn lead_out(&mut self, index: usize) -> bool {
        let flow = self.flow;
        let header = flow.loops[index].header;
        let (mut out, mut round) = (false, false);
        let mut work = std::mem::take(&mut self.waiting);
        while let Some(block) = work.pop() {
            if block == header || !flow.in_loop(block, index) {
                round |= block == header;
                out |= block != header;
                self.waiting.push(block);
            } else if block != self.barrier && !std::mem::replace(&mut self.seen[block.index()], true) {
                work.extend(flow.successors[block.index()].iter().copied());
            }
        }
        out && !round
    }
}
