//! Loads from memory that threads share: do all of a group read the same, or may a write come between?
//!
//! A load at a uniform address is uniform over a group if no write to it can race: on every way from a write to the
//! load, and from the load to a write, a barrier of that group (or a larger one) stands between. So *write by one;
//! barrier; read by all* is uniform, and with a barrier missing it is not.

mod indices;
mod order;
mod warps;

pub use order::Order;

use indices::{in_other_blocks, is_of_several_blocks, meets_another_block};

use super::evaluate::{Access, Values, buffers, roots, same_buffer};
use super::extent::{Agreement, Extent};
use super::facts::Facts;
use super::places::{self, Same, either};
use super::symbols::{Leaf, Node, Step, Symbol, Symbols};
use crate::graph::{BlockId, End, InstId, ObjectKind, Op, Source};
use rustc_hash::FxHashMap;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// What a load may race with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Race {
    /// The writes, each with the smallest group that it parts, those that part the smallest one first; at least one.
    pub writes: Vec<(InstId, Extent)>,
    /// Only threads of the same block write there.
    pub within_block: bool,
}

pub struct Memory<'a> {
    pub order: Order<'a>,
    pub values: &'a Values,
    /// Writes by the root of their address, each with the buffer it goes to.
    by_root: FxHashMap<Symbol, Vec<(Symbol, usize)>>,
    /// By load, write and whether another block's threads count: thread by thread, they never meet.
    apart: RefCell<FxHashMap<(InstId, InstId, bool), bool>>,
    /// Pairs of accesses that may still be compared.
    left: Cell<u32>,
    /// By index, its value in each thread.
    threads: RefCell<FxHashMap<Symbol, Option<Rc<[i64]>>>>,
    /// By block, the threads that may come there.
    come: RefCell<FxHashMap<BlockId, Rc<[bool]>>>,
    /// By address, where it may lead.
    places: RefCell<FxHashMap<Symbol, Places>>,
    /// By address, the loops on whose trip it hangs where it leads.
    pub(super) choosing: RefCell<FxHashMap<Symbol, Rc<[usize]>>>,
}

/// Where an address may lead, if that can be said.
type Places = Option<Rc<[(Symbol, Vec<Step>)]>>;

/// Pairs of accesses compared for one graph; beyond that it counts as too large.
const MAX_PAIRS: u32 = 2_000_000;
/// Indices, and blocks, of which it is remembered what each thread has to do with them.
const MAX_INDICES: usize = 1_000;

impl<'a> Memory<'a> {
    pub fn new(order: Order<'a>, values: &'a Values) -> Memory<'a> {
        let mut by_root: FxHashMap<Symbol, Vec<(Symbol, usize)>> = FxHashMap::default();
        for (index, write) in values.writes.iter().enumerate() {
            // What a function out of view may write is no evidence of a race.
            if matches!(order.graph.insts[write.inst.index()].op, Op::Clobber { sure: false, .. }) {
                continue;
            }
            for buffer in buffers(values, write.address) {
                by_root.entry(values.symbols.base(buffer)).or_default().push((buffer, index));
            }
        }
        Memory {
            order,
            values,
            by_root,
            apart: RefCell::default(),
            left: Cell::new(MAX_PAIRS),
            threads: RefCell::default(),
            come: RefCell::default(),
            places: RefCell::default(),
            choosing: RefCell::default(),
        }
    }

    /// On every way between a load and what may write there, whichever cell of the buffer it is, stands a barrier of all
    /// threads that share the memory.
    pub fn is_kept_apart(&self, load: &Access) -> bool {
        let symbols = &self.values.symbols;
        let group = if self.is_shared(load.address) { Extent::BLOCK } else { Extent::GRID };
        let here = buffers(self.values, load.address);
        self.values.writes.iter().all(|write| {
            let there = buffers(self.values, write.address);
            let hits = there.iter().any(|other| here.iter().any(|own| same_buffer(symbols, *other, *own)));
            let unordered = |from, to| self.order.unordered(from, to, group, true);
            !hits || !unordered(write.inst, load.inst) && !unordered(load.inst, write.inst)
        })
    }

    fn places(&self, address: Symbol) -> Places {
        if let Some(known) = self.places.borrow().get(&address) {
            return known.clone();
        }
        let found: Places = places::places(self.values, address, &either)
            .map(|found| found.into_iter().map(|(base, steps)| (base, self.first_cell(base, steps))).collect());
        self.places.borrow_mut().insert(address, found.clone());
        found
    }

    /// `*row` is `row[0]`.
    fn first_cell(&self, base: Symbol, steps: Vec<Step>) -> Vec<Step> {
        let is_array = match self.values.symbols.node(base) {
            Node::Address(object) => self.values.symbols.dimension(*object) > 0,
            Node::Leaf(Leaf::Source(Source::Param { object, .. })) => !object,
            _ => false,
        };
        if is_array && steps.is_empty() { vec![Step::Index(Symbols::ZERO)] } else { steps }
    }

    /// Too many accesses to compare them all.
    pub fn gave_up(&self) -> bool {
        self.left.get() == 0
    }

    /// Writes that may hit what a load reads.
    pub fn writes_to(&self, load: &Access) -> Vec<&'a Access> {
        let symbols = &self.values.symbols;
        let mut indices: Vec<usize> = Vec::new();
        for buffer in buffers(self.values, load.address) {
            let writes = self.by_root.get(&symbols.base(buffer)).into_iter().flatten();
            let hitting = writes.filter(|(other, _)| same_buffer(symbols, *other, buffer));
            indices.extend(hitting.map(|(_, index)| *index));
        }
        indices.sort();
        indices.dedup();
        indices.into_iter().map(|index| &self.values.writes[index]).collect()
    }

    /// How far a load agrees, and what it races with where that lowers it, in full if it is to be `listed`. `control`
    /// tells how far the threads agree on coming to a block.
    pub fn load(
        &self,
        facts: &Facts,
        load: &Access,
        control: &dyn Fn(BlockId) -> Agreement,
        listed: bool,
    ) -> (Agreement, Option<Race>) {
        let address = facts.agreement(load.address);
        if address.shown == Extent::THREAD || self.gave_up() {
            return (address, None);
        }
        let writes = self.writes_to(load);
        let shared = self.is_shared(load.address);
        let unseen = self.is_object_of_unseen_caller(load.address);
        if unseen && !self.is_beyond(load.address) && self.each_keeps_its_own(facts, &writes, control) {
            let before = writes.iter().filter(|write| {
                !self.is_beyond(write.address)
                    && self.order.unordered(write.inst, load.inst, Extent::GRID, true)
                    && self.may_meet(facts, Extent::WARP, write.address, load.address)
            });
            let written = before.map(|write| {
                let value = write.value.map_or(Agreement::THREAD, |value| facts.agreement(value));
                value.meet(control(write.block))
            });
            // That it is its own is a guess.
            return (Agreement { hoped: address.hoped, ..written.fold(address, Agreement::meet) }, None);
        }
        // A cell that is picked by the block's index belongs to that block; what a caller out of view hands over is
        // taken to be of its block, too, as the storage of a collective is.
        let by_block =
            address.shown <= Extent::BLOCK && !is_of_several_blocks(facts, &self.values.symbols, load.address);
        let own = shared || by_block || unseen || self.is_handed_over(load);
        // The cell of another block is that block's to write.
        let foreign: Vec<InstId> = writes
            .iter()
            .filter(|write| own && !shared && !unseen && self.is_of_other_blocks(facts, load, write))
            .map(|write| write.inst)
            .collect();
        let foreign = if foreign.is_empty() || self.is_waited_for(facts, load) { Vec::new() } else { foreign };
        // Each block has its own shared memory.
        let reach = if shared && !writes.iter().all(|write| self.same_in_all_blocks(facts, write)) {
            address.at_most(Extent::BLOCK)
        } else {
            address
        };
        let races = |group: Extent, write: &Access| {
            // Other blocks write a common cell, too, and only a barrier of the grid holds them back.
            let barrier = if own { group.min(if shared { Extent::BLOCK } else { Extent::GRID }) } else { Extent::GRID };
            if foreign.contains(&write.inst) {
                return self.order.unordered(write.inst, load.inst, Extent::GRID, true)
                    || self.order.unordered(load.inst, write.inst, Extent::GRID, true);
            }
            let races = self.races(facts, load, write, group, barrier, control)
                || group == Extent::WARP
                    && shared
                    && self.races(facts, load, write, Extent::BLOCK, Extent::BLOCK, control)
                    && self.across_warps(facts, load, write);
            races && !(unseen && (self.is_written_alike(facts, write, group, control) || self.is_beyond(write.address)))
        };
        let race = |group: Extent| {
            let parted = |write: &Access| GROUPS.into_iter().rev().find(|group| races(*group, write));
            let parts = |write: &&Access| Some((write.inst, parted(write)?));
            let mut racing: Vec<(InstId, Extent)> = match listed {
                true => writes.iter().filter_map(parts).collect(),
                false => Vec::new(),
            };
            racing.sort_by_key(|(_, parted)| *parted);
            let of_other_blocks = |(write, parted): &(InstId, Extent)| *parted <= group && foreign.contains(write);
            let within_block = own && !racing.iter().any(of_other_blocks);
            Race { writes: racing, within_block }
        };
        let mut raced = None;
        for group in GROUPS.into_iter().filter(|group| *group <= reach.shown) {
            if !writes.iter().any(|write| races(group, write)) {
                let shown = Agreement::of(group);
                let shown = if raced.is_some() { Agreement { ordered: reach.ordered, ..shown } } else { shown };
                return (shown.meet(reach), raced.map(race));
            }
            raced = Some(group);
        }
        (Agreement { shown: Extent::THREAD, hoped: Extent::THREAD, ordered: reach.ordered }, raced.map(race))
    }

    /// A cell that is picked by the block's index, and that other blocks write: `done[blockIdx.x - 1]` where each writes
    /// `done[blockIdx.x]`.
    fn is_of_other_blocks(&self, facts: &Facts, load: &Access, write: &Access) -> bool {
        let mut picked = false;
        let meets = self.overlap(load.address, write.address, &mut |x, y, _| {
            let symbols = &self.values.symbols;
            let of_another = meets_another_block(facts, symbols, x, y)
                .or_else(|| in_other_blocks(symbols, x, y))
                .or_else(|| self.is_row_by_number(x, y).then_some(true));
            picked |= of_another == Some(true);
            of_another.unwrap_or(x == y)
        });
        meets && picked
    }

    /// A loop before the load waits for something else in memory, which tells that the cell has been written.
    fn is_waited_for(&self, facts: &Facts, load: &Access) -> bool {
        let Order { graph, flow, .. } = self.order;
        let access = |inst: InstId| {
            let loaded = self.values.loads.get(&self.values.of[inst.index()]);
            loaded
                .filter(|load| load.inst == inst)
                .or_else(|| self.values.writes.iter().find(|write| write.inst == inst))
        };
        let tells = |inst: &InstId| {
            matches!(graph.insts[inst.index()].op, Op::Load { is_volatile: true, .. } | Op::Atomic { .. })
                && access(*inst).is_none_or(|signal| !self.may_meet(facts, Extent::GRID, signal.address, load.address))
        };
        let is_barrier = |inst: &InstId| matches!(graph.insts[inst.index()].op, Op::Barrier(_));
        flow.loops.iter().enumerate().any(|(index, each)| {
            let mut insts = each.blocks.iter().flat_map(|block| &graph.blocks[block.index()].insts);
            flow.position[each.header.index()] < flow.position[load.block.index()]
                && !flow.in_loop(load.block, index)
                && !insts.clone().any(is_barrier)
                && insts.any(tells)
        })
    }

    /// Every block writes the same there: the value and all that decides the write are the same in all blocks.
    fn same_in_all_blocks(&self, facts: &Facts, write: &Access) -> bool {
        let common = |symbol: Symbol| facts.agreement(symbol).shown == Extent::GRID || facts.only_thread_index(symbol);
        let forks = self.order.flow.control.all(write.block);
        write.value.is_some_and(common)
            && forks.iter().all(|each| self.values.condition[each.fork.index()].is_none_or(common))
    }

    /// An object that a caller of this function hands over, none being in view: whether each thread has its own is
    /// not known.
    fn is_object_of_unseen_caller(&self, address: Symbol) -> bool {
        let is_object = |root: &Symbol| {
            let node = self.values.symbols.node(*root);
            matches!(node, Node::Leaf(Leaf::Source(Source::Param { object: true, .. })))
        };
        !self.order.graph.is_kernel && roots(self.values, address).iter().all(is_object)
    }

    /// Memory that only a caller out of view knows: through a parameter, or through what an object of its holds. What is
    /// volatile others write.
    fn is_handed_over(&self, load: &Access) -> bool {
        let graph = self.order.graph;
        let is_global = |root: &Symbol| matches!(self.values.symbols.node(*root), Node::Address(_));
        !graph.is_kernel
            && !matches!(graph.insts[load.inst.index()].op, Op::Load { is_volatile: true, .. })
            && !roots(self.values, load.address).iter().any(is_global)
    }

    /// All threads of a warp write different values to one place of the object, which would make no sense if they
    /// had it in common.
    fn each_keeps_its_own(&self, facts: &Facts, writes: &[&Access], control: &dyn Fn(BlockId) -> Agreement) -> bool {
        let agrees = |symbol: Symbol| facts.agreement(symbol).shown >= Extent::WARP;
        writes.iter().any(|write| {
            let differs = write.value.is_some_and(|value| !agrees(value));
            differs
                && !self.is_beyond(write.address)
                && agrees(write.address)
                && control(write.block).shown >= Extent::WARP
        })
    }

    /// The address comes out of memory itself, so that it hardly leads to the object which holds it.
    fn is_beyond(&self, address: Symbol) -> bool {
        let is_load = |base: &Symbol| matches!(self.values.symbols.node(*base), Node::Leaf(Leaf::Load(_)));
        self.places(address).is_some_and(|found| found.iter().all(|(base, _)| is_load(base)))
    }

    /// All threads of the group come to the write and write the same.
    fn is_written_alike(
        &self,
        facts: &Facts,
        write: &Access,
        group: Extent,
        control: &dyn Fn(BlockId) -> Agreement,
    ) -> bool {
        let agrees = |symbol: Symbol| facts.agreement(symbol).shown >= group;
        write.value.is_some_and(agrees) && agrees(write.address) && control(write.block).shown >= group
    }

    fn is_shared(&self, address: Symbol) -> bool {
        roots(self.values, address).iter().all(|root| {
            matches!(self.values.symbols.node(*root), Node::Address(object)
                if self.order.graph.objects[object.index()].kind == ObjectKind::Shared)
        })
    }

    fn races(
        &self,
        facts: &Facts,
        load: &Access,
        write: &Access,
        group: Extent,
        barrier: Extent,
        control: &dyn Fn(BlockId) -> Agreement,
    ) -> bool {
        let Some(left) = self.left.get().checked_sub(1) else { return false };
        self.left.set(left);
        // A pointer into a buffer of the caller's that moves on, as that of a stack or a queue, is taken to keep away from
        // what others still read.
        if self.places(load.address).is_none() && !self.is_shared(load.address) {
            return false;
        }
        let order = &self.order;
        let into_load = order.unordered(write.inst, load.inst, barrier, false)
            && self.may_meet_now(facts, group, write, load)
            || order.unordered(write.inst, load.inst, barrier, true)
                && self.may_meet_later(facts, group, barrier, write, load);
        let into_write = (order.unordered(load.inst, write.inst, barrier, false)
            && self.may_meet_now(facts, group, load, write)
            || order.unordered(load.inst, write.inst, barrier, true)
                && self.may_meet_later(facts, group, barrier, load, write))
            && !self.has_decided_before(load, write, barrier);
        let races = into_write || into_load && !self.all_write_the_same(facts, load, write, group, control);
        races && !self.are_apart(facts, load, write, group <= Extent::BLOCK)
    }

    /// Between the load and the write the group meets at a vote or a shuffle, and whoever comes there has taken a branch by
    /// what it loaded. That orders no memory, but such a load cannot be late.
    fn has_decided_before(&self, load: &Access, write: &Access, group: Extent) -> bool {
        let (order, values) = (&self.order, self.values);
        let loaded = values.of[load.inst.index()];
        let decides = |fork: BlockId, meeting: InstId| {
            let end = order.block(meeting);
            fork != end
                && order.flow.dominates(load.block, fork)
                && order.flow.dominates(fork, end)
                && values.condition[fork.index()].is_some_and(|on| values.symbols.leaves(on).contains(&loaded))
        };
        let between = |(meeting, scope): &(InstId, Extent)| {
            *scope >= group && order.precedes(load.inst, *meeting) && order.precedes(*meeting, write.inst)
        };
        let blocks = || order.flow.order.iter().copied();
        let mut meetings = order.meetings.iter().filter(|meeting| between(meeting));
        meetings.any(|(meeting, _)| blocks().any(|fork| decides(fork, *meeting)))
    }

    /// `never_meet`, asked once: it hangs on the thread index and constants alone.
    fn are_apart(&self, facts: &Facts, load: &Access, write: &Access, within_block: bool) -> bool {
        let pair = (load.inst, write.inst, within_block);
        if let Some(known) = self.apart.borrow().get(&pair) {
            return *known;
        }
        let apart = self.never_meet(facts, load, write, within_block);
        self.apart.borrow_mut().insert(pair, apart);
        apart
    }

    /// Thread by thread: no thread that comes to the write writes what another one reads, as with
    /// `if (threadIdx.x > 0) row[threadIdx.x] = 0` and a read of `row[0]`.
    fn never_meet(&self, facts: &Facts, load: &Access, write: &Access, within_block: bool) -> bool {
        let (Some(here), Some(there)) = (self.places(load.address), self.places(write.address)) else { return false };
        let ([(base, read)], [(other, written)]) = (&here[..], &there[..]) else { return false };
        if base != other {
            return false;
        }
        read.iter().zip(written).any(|pair| {
            let (Step::Index(x), Step::Index(y)) = pair else { return false };
            let Some(written) = self.each_thread(facts, *y) else { return false };
            let comes = self.threads_that_come(facts, write.block, written.len());
            let own_alone = within_block && written.len() == 1;
            if let Some(cell) = self.values.symbols.as_int(*x) {
                let hits = written.iter().zip(comes.iter()).any(|(written, comes)| *comes && *written == cell);
                return !hits || own_alone;
            }
            let Some(read) = self.each_thread(facts, *x).filter(|read| read.len() == written.len()) else {
                return false;
            };
            // Who reads each cell: one thread, or several. In another block the same thread is another one.
            let mut readers: FxHashMap<i64, Option<usize>> = FxHashMap::default();
            for (thread, cell) in read.iter().enumerate() {
                readers.entry(*cell).and_modify(|only| *only = None).or_insert(Some(thread));
            }
            let meets = |(thread, cell): (usize, &i64)| {
                let own = |reader: &Option<usize>| within_block && *reader == Some(thread);
                comes[thread] && readers.get(cell).is_some_and(|reader| !own(reader))
            };
            !written.iter().enumerate().any(meets)
        })
    }

    /// `Facts::per_thread`, remembered: one index is compared with many.
    fn each_thread(&self, facts: &Facts, index: Symbol) -> Option<Rc<[i64]>> {
        if let Some(known) = self.threads.borrow().get(&index) {
            return known.clone();
        }
        let found: Option<Rc<[i64]>> = facts.per_thread(index).map(Rc::from);
        let mut threads = self.threads.borrow_mut();
        if threads.len() > MAX_INDICES {
            threads.clear();
        }
        threads.insert(index, found.clone());
        found
    }

    /// By rank, the threads that may come to a block as far as conditions on the thread index alone decide it.
    fn threads_that_come(&self, facts: &Facts, block: BlockId, count: usize) -> Rc<[bool]> {
        if let Some(known) = self.come.borrow().get(&block) {
            return known.clone();
        }
        let flow = self.order.flow;
        let mut comes = vec![true; count];
        for each in flow.control.all(block) {
            let End::Branch { yes, no, .. } = self.order.graph.blocks[each.fork.index()].end else { continue };
            let condition =
                self.values.condition[each.fork.index()].filter(|_| yes != no && flow.only_by(each.by, block));
            let Some(values) = condition.and_then(|on| facts.per_thread(on)) else { continue };
            for (comes, value) in comes.iter_mut().zip(values) {
                *comes &= (value != 0) == (each.by == yes);
            }
        }
        let comes: Rc<[bool]> = comes.into();
        let mut come = self.come.borrow_mut();
        if come.len() > MAX_INDICES {
            come.clear();
        }
        come.insert(block, comes.clone());
        comes
    }

    /// Every thread of the group has itself written the value that all write.
    fn all_write_the_same(
        &self,
        facts: &Facts,
        load: &Access,
        write: &Access,
        group: Extent,
        control: &dyn Fn(BlockId) -> Agreement,
    ) -> bool {
        self.order.flow.dominates(write.block, load.block) && self.is_written_alike(facts, write, group, control)
    }

    /// The addresses may be one, in the same trip of all loops.
    pub fn may_meet(&self, facts: &Facts, group: Extent, a: Symbol, b: Symbol) -> bool {
        self.overlap(a, b, &mut |x, y, base| self.may_be_equal(facts, group, x, y, base))
    }

    /// Two addresses may be one.
    pub fn overlap(&self, a: Symbol, b: Symbol, same: &mut Same) -> bool {
        places::may_be_one(&self.values.symbols, (a, self.places(a).as_deref()), (b, self.places(b).as_deref()), same)
    }
}

const GROUPS: [Extent; 4] = [Extent::GRID, Extent::CLUSTER, Extent::BLOCK, Extent::WARP];
