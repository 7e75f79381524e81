//! Runs a graph for all threads of a small grid, on chosen inputs and in a chosen order, and sees which barriers only
//! a part of their group reaches.
//!
//! Threads run on their own from barrier to barrier, as the programming model has it: no warp goes in step. A barrier
//! that the analysis has reported already (`flagged`) lets those pass that came, once nobody else can move; it orders
//! nothing then, and what comes of that is no fault of its own.
//! What it does not see: how the hardware pairs threads at different barriers, and orders weaker than a program's own.

use super::gather::{self, Key};
use super::memory::{self, Cells, PathId, Paths, Space, V};
use super::random::{Random, hash};
use rustc_hash::{FxHashMap, FxHashSet};
use synclint::graph::*;

#[derive(Copy, Clone, Debug)]
pub struct Launch {
    pub block: [u32; 3],
    pub blocks: u32,
    pub cluster: u32,
}

#[derive(Copy, Clone, Debug)]
pub enum Schedule {
    Ascending,
    Descending,
    Shuffled,
    /// A few instructions of one thread, then of another.
    Sliced,
}

pub const SCHEDULES: [Schedule; 4] = [Schedule::Ascending, Schedule::Descending, Schedule::Shuffled, Schedule::Sliced];

/// A barrier that some of its group did not come to.
#[derive(Clone, Debug)]
pub struct Caught {
    /// One of these at least; more than one where threads wait for each other at several.
    pub at: Vec<InstId>,
    pub came: Vec<usize>,
    pub missing: Vec<usize>,
    pub why: &'static str,
}

#[derive(Default)]
pub struct Report {
    /// Not flagged.
    pub caught: Vec<Caught>,
    /// Flagged, and rightly so.
    pub confirmed: FxHashSet<InstId>,
    pub reached: FxHashSet<InstId>,
    /// It ran to the end.
    pub finished: bool,
}

#[derive(Copy, Clone, Debug, PartialEq)]
pub enum State {
    Running,
    Waiting(InstId),
    Ended(Exit),
}

pub struct Thread {
    values: Vec<Option<V>>,
    at: BlockId,
    next: usize,
    pub state: State,
    /// Has arrived at the counted barrier it waits at.
    pub counted: bool,
    /// Flagged barriers that let it pass, by what they are like.
    pub passed: FxHashSet<u64>,
    /// It has read what was written in disorder, behind a flagged barrier.
    follows: bool,
    steps: u32,
    cells: Cells,
    chosen: FxHashMap<BlockId, u64>,
    random: Random,
}

pub struct Machine<'a> {
    pub graph: &'a Graph,
    pub launch: Launch,
    pub threads: Vec<Thread>,
    pub groups: Vec<Vec<usize>>,
    pub report: Report,
    pub before: &'a Before,
    /// Arrivals at counted barriers that nobody waits on, by block and number.
    pub pending: FxHashMap<(u32, i64), i64>,
    inputs: u64,
    paths: Paths,
    shared: Vec<Cells>,
    global: Cells,
    random: Random,
    trapped: bool,
    /// By block: a flagged barrier let a part of it pass, and none has brought all of it together since.
    pub torn: Vec<bool>,
    /// What was written meanwhile: what a thread reads there hangs on the fault that is known.
    loose: FxHashSet<Cell>,
}

/// Of shared memory the block's; of global memory nobody's.
type Cell = (Option<usize>, PathId);

const MAX_STEPS: u32 = 6_000;

pub fn run(
    graph: &Graph,
    before: &Before,
    launch: Launch,
    inputs: u64,
    schedule: Schedule,
    flagged: &dyn Fn(InstId) -> bool,
) -> Report {
    let total = (launch.blocks * launch.block.iter().product::<u32>()) as usize;
    let thread = |index: usize| Thread {
        values: vec![None; graph.insts.len()],
        at: BlockId(0),
        next: 0,
        state: State::Running,
        counted: false,
        passed: FxHashSet::default(),
        follows: false,
        steps: 0,
        cells: Cells::default(),
        chosen: FxHashMap::default(),
        random: Random::new(hash(&[inputs, index as u64])),
    };
    let mut machine = Machine {
        graph,
        launch,
        threads: (0..total).map(thread).collect(),
        groups: Vec::new(),
        report: Report::default(),
        before,
        pending: FxHashMap::default(),
        inputs,
        paths: Paths::default(),
        shared: (0..launch.blocks).map(|_| Cells::default()).collect(),
        global: Cells::default(),
        random: Random::new(hash(&[inputs, 99])),
        trapped: false,
        torn: vec![false; launch.blocks as usize],
        loose: FxHashSet::default(),
    };
    loop {
        if !machine.run_threads(schedule) {
            return machine.report;
        }
        if machine.threads.iter().all(|thread| matches!(thread.state, State::Ended(_))) {
            machine.report.finished = true;
            return machine.report;
        }
        if !gather::settle(&mut machine, flagged) {
            return machine.report;
        }
    }
}

impl Machine<'_> {
    /// Each thread until it waits or ends. `false`: a trap, or too long.
    fn run_threads(&mut self, schedule: Schedule) -> bool {
        let mut order: Vec<usize> = (0..self.threads.len()).collect();
        match schedule {
            Schedule::Ascending => {}
            Schedule::Descending => order.reverse(),
            Schedule::Shuffled | Schedule::Sliced => self.random.shuffle(&mut order),
        }
        order.retain(|index| self.threads[*index].state == State::Running);
        while !order.is_empty() {
            let turns = std::mem::take(&mut order);
            for index in turns {
                let mut left = match schedule {
                    Schedule::Sliced => 1 + self.random.below(12),
                    _ => usize::MAX,
                };
                while left > 0 && self.threads[index].state == State::Running {
                    self.step(index);
                    left -= 1;
                    if self.trapped || self.threads[index].steps > MAX_STEPS {
                        return false;
                    }
                }
                if self.threads[index].state == State::Running {
                    order.push(index);
                }
            }
            if matches!(schedule, Schedule::Sliced) {
                self.random.shuffle(&mut order);
            }
        }
        true
    }

    fn step(&mut self, index: usize) {
        let thread = &mut self.threads[index];
        thread.steps += 1;
        let block = &self.graph.blocks[thread.at.index()];
        match block.insts.get(thread.next) {
            Some(inst) => {
                let inst = *inst;
                match &self.graph.insts[inst.index()].op {
                    Op::Barrier(_) | Op::Coalesce | Op::Source(Source::ActiveMask) => {
                        self.threads[index].state = State::Waiting(inst);
                    }
                    _ => {
                        let value = self.execute(index, inst);
                        self.resume(index, inst, value);
                    }
                }
            }
            None => self.leave(index),
        }
    }

    /// The instruction is done and gave `value`.
    pub fn resume(&mut self, index: usize, inst: InstId, value: V) {
        let thread = &mut self.threads[index];
        thread.values[inst.index()] = Some(value);
        thread.next += 1;
        thread.state = State::Running;
        thread.counted = false;
    }

    fn leave(&mut self, index: usize) {
        let graph = self.graph;
        let from = self.threads[index].at;
        let to = match &graph.blocks[from.index()].end {
            End::Jump { to, .. } => *to,
            End::Branch { on, yes, no, .. } => {
                if self.value(index, *on).is_true() {
                    *yes
                } else {
                    *no
                }
            }
            End::Switch { on, cases, default, .. } => {
                let on = self.value(index, *on).int();
                let case = cases.iter().find(|(case, _)| self.value(index, *case).int() == on);
                case.map_or(*default, |(_, to)| *to)
            }
            End::Choose(targets) => {
                let count = self.threads[index].chosen.entry(from).or_default();
                *count += 1;
                targets[hash(&[self.inputs, u64::from(from.0), *count]) as usize % targets.len()]
            }
            End::Exit { how, .. } => {
                self.threads[index].state = State::Ended(*how);
                return;
            }
            End::Dead => {
                self.trapped = true;
                return;
            }
        };
        let thread = &mut self.threads[index];
        (thread.at, thread.next) = (to, 0);
    }

    pub fn value(&self, index: usize, value: Value) -> V {
        match (self.threads[index].values[value.index()], &self.graph.insts[value.index()].op) {
            (Some(known), _) => known,
            (None, Op::Int(constant)) => V::Int(*constant),
            (None, Op::Source(source)) => self.source(index, source).unwrap_or(V::Int(0)),
            (None, _) => V::Int(0),
        }
    }

    fn execute(&mut self, index: usize, inst: InstId) -> V {
        let graph = self.graph;
        let value = |machine: &Self, of: &Value| machine.value(index, *of);
        match &graph.insts[inst.index()].op {
            Op::Int(constant) => V::Int(*constant),
            Op::Unknown { from, .. } => {
                let start = hash(&[self.inputs, u64::from(inst.0)]);
                V::Int(memory::input(from.iter().fold(start, |sum, each| hash(&[sum, value(self, each).int() as u64]))))
            }
            Op::Pure { name, operands } => {
                let operands: Vec<V> = operands.iter().map(|each| value(self, each)).collect();
                memory::pure(name, &operands)
            }
            Op::Source(Source::Param { index: number, .. }) => {
                let to = self.paths.param(*number);
                V::Input { value: memory::input(hash(&[self.inputs, 17, u64::from(*number)])), to }
            }
            Op::Source(Source::Varying(_)) => {
                let next = self.threads[index].random.next();
                V::Int(memory::input(next))
            }
            Op::Source(source) => self.source(index, source).unwrap_or(V::Int(0)),
            Op::Unary(op, of) => memory::unary(*op, value(self, of)),
            Op::Binary(op, a, b) => memory::binary(*op, value(self, a), value(self, b)),
            Op::Select { on, yes, no } => {
                if value(self, on).is_true() {
                    value(self, yes)
                } else {
                    value(self, no)
                }
            }
            Op::Min(a, b) => V::Int(value(self, a).int().min(value(self, b).int())),
            Op::Max(a, b) => V::Int(value(self, a).int().max(value(self, b).int())),
            Op::Convert { to, value: of } => memory::convert(*to, value(self, of)),
            // Arithmetic does not wrap here (SPEC, section 2).
            Op::Wrapped(of) => value(self, of),
            Op::Address(object) => {
                let known = &graph.objects[object.index()];
                V::Address(self.paths.object(object.0, known.kind, known.dims.len()))
            }
            Op::Element { base, index: at } => {
                let at = value(self, at).int();
                match self.place(value(self, base)) {
                    Some(base) => V::Address(self.paths.element(base, at)),
                    None => V::Int(0),
                }
            }
            Op::Member { base, name } => match self.place(value(self, base)) {
                Some(base) => V::Address(self.paths.member(base, name)),
                None => V::Int(0),
            },
            Op::Load { address, .. } => match self.place(value(self, address)) {
                Some(path) => self.load(index, path),
                None => V::Int(0),
            },
            Op::Store { address, value: of } => {
                let of = value(self, of);
                if let Some(path) = self.place(value(self, address)) {
                    self.store(index, path, of);
                }
                of
            }
            Op::Copy { to, from } => {
                if let (Some(to), Some(from)) = (self.place(value(self, to)), self.place(value(self, from))) {
                    for (from, to) in memory::copies(&mut self.paths, from, to) {
                        let copied = self.load(index, from);
                        self.store(index, to, copied);
                    }
                }
                V::Int(0)
            }
            Op::Atomic { name, address, operands } => {
                let operands: Vec<V> = operands.iter().map(|each| value(self, each)).collect();
                let Some(path) = self.place(value(self, address)) else { return V::Int(0) };
                let old = self.load(index, path);
                self.store(index, path, memory::atomic(name, old, &operands));
                old
            }
            Op::Clobber { address, from, .. } => {
                let start = hash(&[u64::from(inst.0)]);
                let written =
                    memory::input(from.iter().fold(start, |sum, each| hash(&[sum, value(self, each).int() as u64])));
                if let Some(path) = self.place(value(self, address)) {
                    self.store(index, path, V::Int(written));
                }
                V::Int(0)
            }
            Op::Assume(_) | Op::BarrierInit { .. } | Op::Nothing | Op::Barrier(_) | Op::Coalesce => V::Int(0),
        }
    }

    fn place(&mut self, value: V) -> Option<PathId> {
        value.place()
    }

    fn load(&mut self, index: usize, path: PathId) -> V {
        let block = index / self.block_size();
        self.threads[index].follows |= self.common(block, path).is_some_and(|cell| self.loose.contains(&cell));
        let cells = match self.paths.space(path) {
            Space::Thread => &self.threads[index].cells,
            Space::Block => &self.shared[block],
            Space::Grid => &self.global,
        };
        match cells.load(&mut self.paths, path, self.inputs) {
            Ok(value) => value,
            // The part of an argument passed by value.
            Err(part) => self.global.load(&mut self.paths, part, self.inputs).unwrap_or(V::Int(0)),
        }
    }

    fn store(&mut self, index: usize, path: PathId, value: V) {
        let block = index / self.block_size();
        let cells = match self.paths.space(path) {
            Space::Thread => &mut self.threads[index].cells,
            Space::Block => &mut self.shared[block],
            Space::Grid => &mut self.global,
        };
        cells.store(path, value);
        if let Some(cell) = self.common(block, path) {
            match self.torn[block] {
                true => self.loose.insert(cell),
                false => self.loose.remove(&cell),
            };
        }
    }

    /// A cell that other threads see.
    fn common(&self, block: usize, path: PathId) -> Option<Cell> {
        match self.paths.space(path) {
            Space::Thread => None,
            Space::Block => Some((Some(block), path)),
            Space::Grid => Some((None, path)),
        }
    }

    pub fn block_size(&self) -> usize {
        self.launch.block.iter().product::<u32>() as usize
    }

    fn source(&self, index: usize, source: &Source) -> Option<V> {
        let size = self.block_size();
        let (block, rank) = ((index / size) as i64, (index % size) as i64);
        let [across, down, _] = self.launch.block.map(i64::from);
        let only_x = |axis: &Axis, value: i64, otherwise: i64| if *axis == Axis::X { value } else { otherwise };
        let cluster = i64::from(self.launch.cluster);
        Some(V::Int(match source {
            Source::ThreadIdx(Axis::X) => rank % across,
            Source::ThreadIdx(Axis::Y) => rank / across % down,
            Source::ThreadIdx(Axis::Z) => rank / across / down,
            Source::ThreadRank => rank,
            Source::BlockIdx(axis) => only_x(axis, block, 0),
            Source::BlockDim(axis) => i64::from(self.launch.block[*axis as usize]),
            Source::BlockSize => size as i64,
            Source::GridDim(axis) => only_x(axis, i64::from(self.launch.blocks), 1),
            Source::BlockRank => block,
            Source::Launch(name) => name.bytes().fold(3, |sum, byte| (sum * 5 + i64::from(byte)) % 61),
            Source::Lane => rank % 32,
            Source::Warp => rank / 32,
            Source::LaneMask(which) => {
                let own = 1i64 << (rank % 32);
                match &**which {
                    "eq" => own,
                    "le" => 2 * own - 1,
                    "lt" => own - 1,
                    "ge" => 0xffff_ffff & !(own - 1),
                    _ => 0xffff_ffff & !(2 * own - 1),
                }
            }
            Source::BlockInCluster => block % cluster,
            Source::ClusterIndex => block / cluster,
            Source::Named(name) | Source::Open { name, .. } => {
                memory::input(name.bytes().fold(self.inputs, |sum, byte| hash(&[sum, u64::from(byte)])))
            }
            Source::Param { .. } | Source::Varying(_) | Source::ActiveMask => return None,
        }))
    }

    pub fn barrier(&self, inst: InstId) -> Option<&Barrier> {
        match &self.graph.insts[inst.index()].op {
            Op::Barrier(barrier) => Some(barrier),
            _ => None,
        }
    }

    /// The barrier's group comes apart at `key`: notes it, unless it is known.
    pub fn catch(
        &mut self,
        at: Vec<InstId>,
        key: &Key,
        missing: Vec<usize>,
        flagged: &dyn Fn(InstId) -> bool,
        why: &'static str,
    ) {
        if at.iter().any(|inst| flagged(*inst)) {
            self.report.confirmed.extend(at);
        } else if !key.came.iter().chain(&missing).any(|index| self.threads[*index].follows) {
            self.report.caught.push(Caught { at, came: key.came.clone(), missing, why });
        }
    }
}

/// Which instruction surely comes before which other.
pub struct Before {
    reach: Vec<Vec<bool>>,
    place: Vec<(BlockId, usize)>,
}

impl Before {
    pub fn new(graph: &Graph) -> Before {
        let mut place = vec![(BlockId(0), 0); graph.insts.len()];
        for (number, block) in graph.blocks.iter().enumerate() {
            for (index, inst) in block.insts.iter().enumerate() {
                place[inst.index()] = (BlockId(number as u32), index);
            }
        }
        let reach = (0..graph.blocks.len())
            .map(|start| {
                let mut seen = vec![false; graph.blocks.len()];
                let mut work = graph.blocks[start].end.successors();
                while let Some(block) = work.pop() {
                    if !std::mem::replace(&mut seen[block.index()], true) {
                        work.extend(graph.blocks[block.index()].end.successors());
                    }
                }
                seen
            })
            .collect();
        Before { reach, place }
    }

    pub fn is_before(&self, a: InstId, b: InstId) -> bool {
        let ((of_a, at_a), (of_b, at_b)) = (self.place[a.index()], self.place[b.index()]);
        if of_a == of_b {
            return at_a < at_b;
        }
        self.reach[of_a.index()][of_b.index()] && !self.reach[of_b.index()][of_a.index()]
    }
}
