//! Reads of an address that the thread has just read: the same value again.
//!
//! Between two reads with nothing that orders memory between them, a write of another thread would be a data race, and
//! the compiler may read once (CUDA guide, memory fence functions). So `if (v[i] > n)` behind `__ballot_sync(m, v[i] > n)`
//! asks what the ballot asked. Followed through a block and into blocks that are reached from one block only.

use super::symbols::Symbol;
use crate::flow::Flow;
use crate::graph::{BlockId, Op};
use rustc_hash::FxHashMap;

/// For each address, what was read there.
type Read = FxHashMap<Symbol, Symbol>;

#[derive(Default)]
pub struct Rereads {
    now: Read,
    at_end: FxHashMap<BlockId, Read>,
}

impl Rereads {
    pub fn enter(&mut self, flow: &Flow, block: BlockId) {
        self.now = match &flow.predecessors[block.index()][..] {
            [from] if flow.head_of[block.index()].is_none() => self.at_end.get(from).cloned().unwrap_or_default(),
            _ => Read::default(),
        };
    }

    pub fn leave(&mut self, block: BlockId) {
        let now = std::mem::take(&mut self.now);
        if !now.is_empty() {
            self.at_end.insert(block, now);
        }
    }

    pub fn known(&self, address: Symbol) -> Option<Symbol> {
        self.now.get(&address).copied()
    }

    pub fn note(&mut self, address: Symbol, value: Symbol) {
        self.now.insert(address, value);
    }

    /// Something may have been written, or others' writes may have become visible.
    pub fn forget(&mut self) {
        self.now.clear();
    }
}

/// Behind this a read may see another value than before, if it reads or writes shared memory at all.
pub fn renews(op: &Op) -> bool {
    match op {
        Op::Store { .. } | Op::Copy { .. } | Op::Atomic { .. } | Op::Clobber { .. } | Op::BarrierInit { .. } => true,
        Op::Unknown { unseen, .. } => unseen.is_some(),
        Op::Barrier(barrier) => barrier.orders_memory,
        _ => false,
    }
}
