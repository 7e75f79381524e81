//! The last block: threads that come here know from the ticket of an atomic counter that all other blocks have done
//! what stands before it, as after a barrier of the grid.
//!
//! ```text
//!     if (threadIdx.x == 0) last = atomicAdd(&finished, 1) == gridDim.x - 1;
//!     __syncthreads();
//!     if (last) { ... }
//! ```
//! CUDA C++ Programming Guide, "Memory Fence Functions": the sum of partial sums by the last block.

use super::evaluate::Values;
use super::symbols::{Leaf, Node, Operator, Symbol};
use crate::flow::Flow;
use crate::graph::{BlockId, End, Graph, Op};

/// Ways followed from a condition to the ticket.
const MAX_STEPS: usize = 24;

/// Where only the last block enters.
pub fn entries(graph: &Graph, flow: &Flow, values: &Values) -> Vec<BlockId> {
    if !graph.insts.iter().any(|inst| matches!(inst.op, Op::Atomic { .. })) {
        return Vec::new();
    }
    let search = Search { graph, values };
    let mut found = Vec::new();
    for block in &flow.order {
        let End::Branch { yes, no, .. } = graph.blocks[block.index()].end else { continue };
        let Some(on) = values.condition[block.index()].filter(|_| yes != no) else { continue };
        for (way, wanted) in [(yes, true), (no, false)] {
            if search.last(on, wanted, MAX_STEPS) == Some(true) && flow.predecessors[way.index()].len() == 1 {
                found.push(way);
            }
        }
    }
    found
}

struct Search<'a> {
    graph: &'a Graph,
    values: &'a Values,
}

impl Search<'_> {
    /// `Some(true)` if a condition that is `wanted` tells the last block, `Some(false)` if it is never so.
    fn last(&self, symbol: Symbol, wanted: bool, steps: usize) -> Option<bool> {
        let steps = steps.checked_sub(1)?;
        let symbols = &self.values.symbols;
        match symbols.node(symbol) {
            Node::Int(value) => ((*value != 0) != wanted).then_some(false),
            Node::Not(inner) => self.last(*inner, !wanted, steps),
            Node::Convert(_, inner) => self.last(*inner, wanted, steps),
            Node::Binary(Operator::Zero, difference, _) if wanted && self.counts_blocks(*difference) => Some(true),
            // `flag == 0`
            Node::Binary(Operator::Zero, inner, _) => self.last(*inner, !wanted, steps),
            Node::Binary(Operator::And, a, b) if wanted => {
                let sides = [self.last(*a, true, steps), self.last(*b, true, steps)];
                sides.into_iter().flatten().next()
            }
            Node::Select(_, yes, no) => self.any_way([*yes, *no].into_iter(), wanted, steps),
            Node::Leaf(Leaf::Left(_, inner)) => self.last(*inner, wanted, steps),
            Node::Leaf(Leaf::Phi(..)) => {
                let incoming = self.values.phis.get(&symbol)?.incoming.iter().map(|(_, slot)| slot.value);
                self.any_way(incoming.filter(|value| *value != symbol), wanted, steps)
            }
            Node::Leaf(Leaf::Load(_)) => {
                let address = self.values.loads.get(&symbol)?.address;
                let writes = self.values.writes.iter().filter(|write| write.address == address);
                let written: Option<Vec<Symbol>> = writes.map(|write| write.value).collect();
                self.any_way(written?.into_iter(), wanted, steps)
            }
            // The vote of a block in which one thread knows.
            Node::Leaf(Leaf::Result(inst)) if matches!(self.graph.insts[inst.index()].op, Op::Barrier(_)) => {
                self.any_way(self.values.inputs.get(&symbol)?.iter().copied(), wanted, steps)
            }
            _ => None,
        }
    }

    /// Each of several values tells the last block, or is never so; at least one tells it.
    fn any_way(&self, values: impl Iterator<Item = Symbol>, wanted: bool, steps: usize) -> Option<bool> {
        let mut tells = false;
        for value in values {
            tells |= self.last(value, wanted, steps)?;
        }
        Some(tells)
    }

    /// What an atomic counted, less something that is no number: how many blocks there are.
    fn counts_blocks(&self, difference: Symbol) -> bool {
        let symbols = &self.values.symbols;
        let is_ticket = |term: Symbol| match symbols.node(term) {
            Node::Leaf(Leaf::Result(inst)) => matches!(self.graph.insts[inst.index()].op, Op::Atomic { .. }),
            _ => false,
        };
        let (terms, _) = symbols.terms(difference);
        let tickets = terms.iter().filter(|(term, factor)| is_ticket(*term) && factor.abs() == 1).count();
        tickets == 1 && terms.len() > 1
    }
}
