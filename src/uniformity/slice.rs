//! What of a graph can bear on its barriers: the rest, most of any kernel, is never evaluated.
//!
//! Backwards from the forks that decide whether a barrier runs and from its operands: through operands, from loads to
//! the variables they read and to all that writes these, and from each such write to the forks that decide it.

use crate::flow::Flow;
use crate::graph::{BlockId, End, Graph, Group, InstId, ObjectId, ObjectKind, Op, Outcome};
use rustc_hash::FxHashSet;

/// By instruction: whether its value or effect may matter to a barrier or to what is asked for.
pub fn slice(graph: &Graph, flow: &Flow, asked: &[InstId]) -> Vec<bool> {
    let mut slice = Slice {
        graph,
        flow,
        writes: vec![Vec::new(); graph.objects.len()],
        through_pointers: Vec::new(),
        escaped: escaped(graph),
        block_of: vec![BlockId(0); graph.insts.len()],
        insts: vec![false; graph.insts.len()],
        objects: vec![false; graph.objects.len()],
        blocks: vec![false; graph.blocks.len()],
        pointers: false,
        work: Vec::new(),
    };
    for block in &flow.order {
        for inst in &graph.blocks[block.index()].insts {
            slice.block_of[inst.index()] = *block;
            if let Some(address) = written(&graph.insts[inst.index()].op) {
                match object_of(graph, address) {
                    Some(object) => slice.writes[object.index()].push(*inst),
                    None => slice.through_pointers.push(*inst),
                }
            }
        }
    }
    for block in &flow.order {
        // Nothing hangs on a way that leads to no end, but whoever comes by the other one knows why.
        if let End::Branch { on, yes, no, .. } = &graph.blocks[block.index()].end
            && [yes, no].iter().any(|way| matches!(graph.blocks[way.index()].end, End::Dead))
        {
            slice.inst(*on);
        }
        for inst in &graph.blocks[block.index()].insts {
            match &graph.insts[inst.index()].op {
                Op::Barrier(barrier) => {
                    slice.block(*block);
                    slice.inst(*inst);
                    let of_group = match &barrier.group {
                        Group::Lanes { mask } => *mask,
                        Group::Counted { id, count, .. } => {
                            id.iter().for_each(|id| slice.inst(*id));
                            Some(*count)
                        }
                        Group::Named { id, .. } => *id,
                        Group::Object { address } => {
                            barrier.operands.iter().for_each(|count| slice.inst(*count));
                            Some(*address)
                        }
                        Group::Formed { by } => Some(*by),
                        _ => None,
                    };
                    of_group.iter().for_each(|value| slice.inst(*value));
                    if let Outcome::Ballot(predicate) = &barrier.result {
                        slice.inst(*predicate);
                    }
                }
                Op::BarrierInit { .. } | Op::Coalesce => {
                    slice.block(*block);
                    slice.inst(*inst);
                }
                Op::Assume(_) => slice.inst(*inst),
                _ => {}
            }
        }
    }
    for inst in asked {
        slice.block(slice.block_of[inst.index()]);
        slice.inst(*inst);
    }
    while let Some(inst) = slice.work.pop() {
        slice.follow(inst);
    }
    slice.insts
}

/// The address an instruction writes to.
pub fn written(op: &Op) -> Option<InstId> {
    match op {
        Op::Store { address, .. } | Op::Atomic { address, .. } | Op::Clobber { address, .. } => Some(*address),
        Op::Copy { to, .. } => Some(*to),
        _ => None,
    }
}

/// The object an address visibly leads to.
pub fn object_of(graph: &Graph, mut value: InstId) -> Option<ObjectId> {
    loop {
        match &graph.insts[value.index()].op {
            Op::Address(object) => return Some(*object),
            Op::Element { base, .. } | Op::Member { base, .. } => value = *base,
            _ => return None,
        }
    }
}

/// Objects whose address is stored or computed with, so that a pointer may lead to them.
pub fn escaped(graph: &Graph) -> FxHashSet<ObjectId> {
    let mut escaped: FxHashSet<ObjectId> = FxHashSet::default();
    for inst in &graph.insts {
        let mut flee = |value: &InstId| escaped.extend(object_of(graph, *value));
        match &inst.op {
            Op::Store { value, .. } => flee(value),
            Op::Select { yes, no, .. } => [yes, no].into_iter().for_each(flee),
            Op::Binary(_, a, b) => [a, b].into_iter().for_each(flee),
            Op::Clobber { from, .. } => from.iter().for_each(flee),
            _ => {}
        }
    }
    escaped
}

struct Slice<'a> {
    graph: &'a Graph,
    flow: &'a Flow,
    writes: Vec<Vec<InstId>>,
    through_pointers: Vec<InstId>,
    escaped: FxHashSet<ObjectId>,
    block_of: Vec<BlockId>,
    insts: Vec<bool>,
    objects: Vec<bool>,
    blocks: Vec<bool>,
    /// Writes through pointers matter.
    pointers: bool,
    work: Vec<InstId>,
}

impl Slice<'_> {
    fn inst(&mut self, inst: InstId) {
        if !std::mem::replace(&mut self.insts[inst.index()], true) {
            self.work.push(inst);
        }
    }

    /// What decides whether a block runs.
    fn block(&mut self, block: BlockId) {
        let mut work = vec![block];
        while let Some(block) = work.pop() {
            if std::mem::replace(&mut self.blocks[block.index()], true) {
                continue;
            }
            for dependence in self.flow.control.direct(block).to_vec() {
                match &self.graph.blocks[dependence.fork.index()].end {
                    End::Branch { on, .. } => self.inst(*on),
                    End::Switch { on, cases, .. } => {
                        self.inst(*on);
                        cases.iter().for_each(|(case, _)| self.inst(*case));
                    }
                    _ => {}
                }
                work.push(dependence.fork);
            }
        }
    }

    fn follow(&mut self, inst: InstId) {
        let graph = self.graph;
        match &graph.insts[inst.index()].op {
            Op::Load { address, .. } => {
                self.inst(*address);
                self.read(*address);
            }
            Op::Copy { to, from } => {
                self.inst(*to);
                self.inst(*from);
                self.read(*from);
            }
            // What a local variable holds where no fork decided it came before; where one did, the fork matters.
            other => operands(other, &mut |value| self.inst(value)),
        }
        if written(&graph.insts[inst.index()].op).is_some() {
            self.block(self.block_of[inst.index()]);
        }
    }

    fn read(&mut self, address: InstId) {
        match object_of(self.graph, address) {
            Some(object) => self.object(object),
            None => {
                self.all_pointers();
                let escaped: Vec<ObjectId> = self.escaped.iter().copied().collect();
                escaped.into_iter().for_each(|object| self.object(object));
            }
        }
    }

    fn object(&mut self, object: ObjectId) {
        if std::mem::replace(&mut self.objects[object.index()], true) {
            return;
        }
        for write in std::mem::take(&mut self.writes[object.index()]) {
            self.inst(write);
        }
        let local = self.graph.objects[object.index()].kind == ObjectKind::Local;
        if self.escaped.contains(&object) || !local {
            self.all_pointers();
        }
    }

    fn all_pointers(&mut self) {
        if !std::mem::replace(&mut self.pointers, true) {
            for write in std::mem::take(&mut self.through_pointers) {
                self.inst(write);
            }
        }
    }
}

fn operands(op: &Op, each: &mut dyn FnMut(InstId)) {
    match op {
        Op::Unknown { from, .. } => from.iter().copied().for_each(each),
        Op::Pure { operands, .. } => operands.iter().copied().for_each(each),
        Op::Unary(_, value) | Op::Convert { value, .. } | Op::Wrapped(value) | Op::Assume(value) => each(*value),
        Op::Binary(_, a, b) | Op::Min(a, b) | Op::Max(a, b) => [*a, *b].into_iter().for_each(each),
        Op::Select { on, yes, no } => [*on, *yes, *no].into_iter().for_each(each),
        Op::Element { base, index } => [*base, *index].into_iter().for_each(each),
        Op::Member { base, .. } => each(*base),
        Op::Store { address, value } => [*address, *value].into_iter().for_each(each),
        Op::Atomic { address, .. } => each(*address),
        Op::Clobber { address, from, .. } => {
            each(*address);
            from.iter().copied().for_each(each);
        }
        Op::Barrier(barrier) if barrier.result != Outcome::Nothing => {
            barrier.operands.iter().chain(&barrier.source_lane).chain(&barrier.width).copied().for_each(each);
        }
        Op::BarrierInit { address, count } => [*address, *count].into_iter().for_each(each),
        _ => {}
    }
}
