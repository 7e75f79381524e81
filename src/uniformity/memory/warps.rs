//! Warps of one block that write and read one cell: a barrier of the warp orders only its own writes.
//!
//! Counted as such only where the code tells that it has several warps in mind, and which cells they share is plain: a
//! kernel for blocks of one warp need not wait for more than that.

use super::super::extent::Extent;
use super::super::facts::Facts;
use super::super::symbols::{Step, Symbol};
use super::{Access, Memory};
use crate::graph::BlockId;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// What an index is in each thread.
type Numbers = Rc<[i64]>;

const WARP: usize = 32;

impl Memory<'_> {
    /// The cell is shared, and a thread of another warp than the reader's may be the one that writes it.
    pub fn comes_from_another_warp(&self, facts: &Facts, load: &Access, write: &Access) -> bool {
        self.is_shared(load.address) && self.across_warps(facts, load, write)
    }

    /// Some thread of one warp writes what one of another warp reads.
    pub(super) fn across_warps(&self, facts: &Facts, load: &Access, write: &Access) -> bool {
        // Of blocks of any shape it may be: that is asked of all kernels first, whether code speaks of a second dimension or not.
        if facts.shape.block.is_none() && !facts.shape.is_line() {
            return !self.order.graph.multidimensional;
        }
        let Some(cells) = self.cells(facts, load, write) else { return false };
        let count = facts.shape.most_threads() as usize;
        let coming = |block: BlockId| {
            let comes = self.threads_that_come(facts, block, count);
            (0..comes.len()).filter(|thread| comes[*thread]).collect::<Vec<usize>>()
        };
        let (readers, writers) = (coming(load.block), coming(write.block));
        let of_several = facts.shape.block.is_some()
            || self.tells_warps(facts, load.block)
            || self.tells_warps(facts, write.block)
            || writers.iter().all(|thread| *thread >= WARP)
            || cells.iter().any(|(read, _)| read.iter().any(|cell| *cell != read[0]));
        if !of_several || self.keeps_to_a_warp(facts, load, write) {
            return false;
        }
        // By cell the warp that writes it, or none where several do.
        let mut written: FxHashMap<Vec<i64>, Option<usize>> = FxHashMap::default();
        for thread in writers {
            let cell = cells.iter().map(|(_, written)| written[thread]).collect();
            let same = |known: &mut Option<usize>| *known = known.filter(|warp| *warp == thread / WARP);
            written.entry(cell).and_modify(same).or_insert(Some(thread / WARP));
        }
        readers.into_iter().any(|thread| {
            let cell: Vec<i64> = cells.iter().map(|(read, _)| read[thread]).collect();
            written.get(&cell).is_some_and(|warp| *warp != Some(thread / WARP))
        })
    }

    /// By index in which the addresses of both may differ, what it is in each thread of the reader and of the writer; `None`
    /// where that is not known.
    fn cells(&self, facts: &Facts, load: &Access, write: &Access) -> Option<Vec<(Numbers, Numbers)>> {
        let (here, there) = (self.places(load.address)?, self.places(write.address)?);
        let ([(base, read)], [(other, written)]) = (&here[..], &there[..]) else { return None };
        if base != other || read.len() != written.len() {
            return None;
        }
        let whole = |symbol: Symbol| facts.agreement(symbol).shown >= Extent::BLOCK;
        let mut found = Vec::new();
        for pair in read.iter().zip(written) {
            match pair {
                (Step::Index(x), Step::Index(y)) if x == y && whole(*x) => {}
                (Step::Index(x), Step::Index(y)) => {
                    let (x, y) = (self.each_thread_or_number(facts, *x)?, self.each_thread_or_number(facts, *y)?);
                    found.push((x, y));
                }
                (one, other) if one == other => {}
                _ => return None,
            }
        }
        Some(found)
    }

    fn each_thread_or_number(&self, facts: &Facts, index: Symbol) -> Option<Numbers> {
        match self.values.symbols.as_int(index) {
            Some(number) => Some(vec![number; facts.shape.most_threads() as usize].into()),
            None => self.each_thread(facts, index),
        }
    }

    /// Whether a thread comes to the block hangs on its warp alone.
    fn tells_warps(&self, facts: &Facts, block: BlockId) -> bool {
        let forks = self.order.flow.control.all(block);
        let by_warp = |values: Vec<i64>| {
            values.iter().any(|value| *value != values[0])
                && values.chunks(WARP).all(|warp| warp.iter().all(|value| *value == warp[0]))
        };
        let mut conditions = forks.iter().filter_map(|each| self.values.condition[each.fork.index()]);
        conditions.any(|on| facts.per_thread(on).is_some_and(by_warp))
    }

    /// Both stand behind a fork of which only some warps take that way, nobody says which: it may be one.
    fn keeps_to_a_warp(&self, facts: &Facts, load: &Access, write: &Access) -> bool {
        let flow = self.order.flow;
        let forks = flow.control.all(load.block);
        let both = flow.control.all(write.block);
        forks.iter().filter(|each| both.contains(each)).any(|each| {
            self.values.condition[each.fork.index()]
                .is_none_or(|on| facts.agreement(on).shown < Extent::BLOCK && !facts.only_thread_index(on))
        })
    }
}
