//! From the source of difference to the barrier: the chain of places that shows why threads part.
//!
//! Walked backwards from the fork's condition along the operand that agrees least, through variables to what was
//! stored in them, through joins to the fork that chose, through loops to what ends them.

use super::{Check, Verdict, races, witness, wording};
use crate::finding::{Note, Role};
use crate::flow::control::Dependence;
use crate::graph::{At, Axis, BlockId, End, InstId, ObjectId, Op, Outcome, Source, Value};
use crate::program::BinaryOp;
use crate::rules;
use crate::text::Range;
use crate::uniformity::extent::Extent;
use crate::uniformity::state::Origin;
use crate::uniformity::symbols::{Leaf, Node, Symbol};
use rustc_hash::FxHashSet;

/// Steps a story may have; the middle of a longer one is left out.
const MAX_STEPS: usize = 12;

/// Notes taken before a way is given up.
const MAX_NOTES: usize = 64;

/// The story of a verdict, in order: source, steps, branch. `harmless` is a block in which nobody would part.
pub fn of(check: &Check, inst: InstId, lead: Dependence, verdict: &Verdict, harmless: Option<[u32; 3]>) -> Vec<Note> {
    let mut notes = Vec::new();
    if let Some(at) = fork_place(check, lead.fork) {
        let mut message = wording::branch(check, inst, lead, verdict);
        if let Some(block) = harmless {
            let block = witness::spell_block(block);
            message.push_str(&format!("; in a block of {block} they would not, but nothing in view tells its shape"));
        }
        notes.push(Note { at, message, role: Role::Branch });
    }
    if let Some(on) = condition_value(check, lead.fork) {
        let racy = verdict.rule.name == rules::RACY_BROADCAST.name;
        Walk::new(check, verdict.need, racy, false, &mut notes).from(on);
    }
    notes.reverse();
    if notes.len() > MAX_STEPS {
        let tail = notes.split_off(notes.len() - MAX_STEPS / 2);
        notes.truncate(MAX_STEPS / 2);
        notes.extend(tail);
    }
    notes
}

/// Why a fork's condition agrees just as far as it does: along what agrees least, down to where that comes from.
pub fn chain(check: &Check, fork: BlockId, need: Extent) -> Vec<Note> {
    let Some(on) = condition_value(check, fork) else { return Vec::new() };
    // A comparison has two sides, and the reader of a clean one wants to hear of both.
    match check.analysed.graph.insts[on.index()].op {
        Op::Binary(_, a, b) if !is_constant(check, a) && !is_constant(check, b) => {
            let mut notes = chain_of(check, a, need);
            notes.extend(chain_of(check, b, need));
            notes
        }
        _ => chain_of(check, on, need),
    }
}

fn is_constant(check: &Check, value: Value) -> bool {
    check.analysed.values.symbols.as_int(check.analysed.symbol(value)).is_some()
}

/// Why a value agrees just as far as it does.
pub fn chain_of(check: &Check, value: Value, need: Extent) -> Vec<Note> {
    let mut notes = Vec::new();
    Walk::new(check, need, false, true, &mut notes).from(value);
    notes.reverse();
    notes
}

pub fn fork_at(check: &Check, fork: BlockId) -> Option<At> {
    match &check.analysed.graph.blocks[fork.index()].end {
        End::Branch { at, .. } | End::Switch { at, .. } => Some(*at),
        _ => None,
    }
}

pub fn fork_place(check: &Check, fork: BlockId) -> Option<Range> {
    fork_at(check, fork).map(|at| (check.home)(at).range)
}

fn condition_value(check: &Check, fork: BlockId) -> Option<Value> {
    match &check.analysed.graph.blocks[fork.index()].end {
        End::Branch { on, .. } | End::Switch { on, .. } => Some(*on),
        _ => None,
    }
}

struct Walk<'c, 'a> {
    check: &'c Check<'a>,
    need: Extent,
    racy: bool,
    /// Follow what agrees, too.
    all: bool,
    seen: FxHashSet<InstId>,
    /// Ways not taken, each with the number of notes there were where it turned off.
    turnings: Vec<(usize, Turning)>,
    notes: &'c mut Vec<Note>,
}

/// A way that the walk may take instead.
enum Turning {
    Value(Value),
    /// Writes, and joins of writes, to a variable.
    Writes(Writes),
    /// What makes threads leave the loop with this header after different numbers of iterations.
    Left(BlockId),
    /// What makes threads come to this join by different ways.
    Chosen(Symbol, Option<ObjectId>),
    /// The conditions of forks, and what is said of them.
    Forks(Vec<BlockId>, String),
}

/// Writes to a variable of which one may have been read.
struct Writes {
    variable: Option<ObjectId>,
    origins: Vec<Origin>,
    seen_phis: FxHashSet<Symbol>,
}

impl<'c, 'a> Walk<'c, 'a> {
    fn new(check: &'c Check<'a>, need: Extent, racy: bool, all: bool, notes: &'c mut Vec<Note>) -> Walk<'c, 'a> {
        Walk { check, need, racy, all, seen: FxHashSet::default(), turnings: Vec::new(), notes }
    }
}

impl Walk<'_, '_> {
    /// Follows one value after the other, each to the operand that agrees least; where that goes round in a loop, the
    /// next best. What comes to no source at all keeps the first way.
    fn from(&mut self, value: Value) {
        let mut first: Option<Vec<Note>> = None;
        let start = self.notes.len();
        let mut next = Some(value);
        loop {
            while let Some(value) = next.take() {
                if self.seen.insert(value) && self.notes.len() <= MAX_NOTES {
                    next = self.step(value);
                }
            }
            if self.notes[start..].iter().any(|note| note.role == Role::Source) {
                return;
            }
            first.get_or_insert_with(|| self.notes[start..].to_vec());
            let Some((notes, turning)) = self.turnings.pop() else { break };
            self.notes.truncate(notes);
            next = match turning {
                Turning::Value(value) => Some(value),
                Turning::Writes(writes) => self.follow(writes),
                Turning::Left(header) => self.left_loop(header),
                Turning::Chosen(symbol, variable) => self.chosen(symbol, variable),
                Turning::Forks(forks, text) => self.parted_at(forks, text),
            };
        }
        self.notes.truncate(start);
        self.notes.extend(first.unwrap_or_default());
    }

    fn differs(&self, symbol: Symbol) -> bool {
        self.all || self.check.facts.agreement(symbol).shown < self.need
    }

    fn value_differs(&self, value: Value) -> bool {
        self.differs(self.check.analysed.symbol(value))
    }

    fn disagrees(&self, symbol: Symbol) -> bool {
        self.check.facts.agreement(symbol).shown < self.need
    }

    fn value_disagrees(&self, value: Value) -> bool {
        self.disagrees(self.check.analysed.symbol(value))
    }

    fn worst(&mut self, values: impl IntoIterator<Item = Value>) -> Option<Value> {
        let mut values: Vec<Value> = values.into_iter().filter(|value| self.value_differs(*value)).collect();
        values.sort_by_key(|value| self.check.facts.agreement(self.check.analysed.symbol(*value)).shown);
        let mut values = values.into_iter();
        let worst = values.next();
        self.turnings.extend(values.rev().map(|value| (self.notes.len(), Turning::Value(value))));
        worst
    }

    fn note(&mut self, at: At, message: String, role: Role) {
        let at = (self.check.home)(at).range;
        self.notes.push(Note { at, message, role });
    }

    fn step(&mut self, value: Value) -> Option<Value> {
        let graph = self.check.analysed.graph;
        let inst = &graph.insts[value.index()];
        match &inst.op {
            Op::Source(source) => {
                self.note(inst.at, source_text(source), Role::Source);
                None
            }
            Op::Load { address, .. } => self.load(value, *address),
            Op::Store { value, .. } => Some(*value),
            // A whole object, out of an array of them.
            Op::Copy { from, .. } if self.value_disagrees(*from) => {
                self.note(inst.at, "each thread reads an element of its own".to_string(), Role::Step);
                Some(*from)
            }
            Op::Copy { .. } => self.origins(value, None),
            Op::Unary(_, value) | Op::Convert { value, .. } | Op::Wrapped(value) => Some(*value),
            Op::Binary(op, a, b) => {
                let worst = self.worst([*a, *b]);
                self.gains(*op, value, worst);
                worst
            }
            Op::Min(a, b) | Op::Max(a, b) => self.worst([*a, *b]),
            Op::Select { on, yes, no } => self.worst([*on, *yes, *no]),
            // Where the base is a variable, the index decides.
            Op::Element { base, index } if self.all && self.variable(*base).is_some() => Some(*index),
            Op::Element { base, index } => self.worst([*base, *index]),
            Op::Member { base, .. } => Some(*base),
            Op::Pure { operands, .. } => self.worst(operands.iter().copied()),
            Op::Unknown { from, unseen } => {
                if let Some(name) = unseen {
                    self.note(
                        inst.at,
                        format!(
                            "the body of `{name}` is not in view; its result is taken to differ as its arguments do"
                        ),
                        Role::Step,
                    );
                }
                self.worst(from.iter().copied())
            }
            Op::Clobber { from, .. } => self.worst(from.iter().copied()),
            Op::Atomic { name, .. } => {
                self.note(inst.at, format!("`{name}` returns a different value to each thread"), Role::Source);
                None
            }
            Op::Barrier(barrier) => {
                let text = match barrier.result {
                    _ if !self.value_disagrees(value) => {
                        format!("the result of `{}` is the same for the whole group", barrier.name)
                    }
                    Outcome::Peers | Outcome::PerThread | Outcome::Group => {
                        format!("the result of `{}` differs from thread to thread", barrier.name)
                    }
                    _ => format!("the result of `{}` is the same within its group only", barrier.name),
                };
                self.note(inst.at, text, Role::Source);
                None
            }
            Op::Coalesce => {
                self.note(inst.at, "this group is another one for each part of the warp".to_string(), Role::Source);
                None
            }
            Op::Int(_) if self.all => {
                self.note(inst.at, "a constant".to_string(), Role::Source);
                None
            }
            Op::Address(object) if self.all => {
                let name = self.spelled(Some(*object)).unwrap_or("an object".to_string());
                self.note(inst.at, format!("the address of {name}"), Role::Source);
                None
            }
            _ => None,
        }
    }

    /// A result that more threads agree on than on what it is made of.
    fn gains(&mut self, op: BinaryOp, value: Value, worst: Option<Value>) {
        let Some(worst) = worst.filter(|_| self.all) else { return };
        let agrees = |value: Value| self.check.facts.agreement(self.check.analysed.symbol(value)).shown;
        let (before, behind) = (agrees(worst), agrees(value));
        if behind <= before || behind < self.need {
            return;
        }
        let text = match op {
            BinaryOp::Add | BinaryOp::Sub => "what differs from thread to thread cancels here".to_string(),
            BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => {
                "holds for all of them, or for none".to_string()
            }
            _ => format!("here it is the same for each {}", super::why::spell(behind)),
        };
        self.note(self.check.analysed.graph.insts[value.index()].at, text, Role::Step);
    }

    fn load(&mut self, load: Value, address: Value) -> Option<Value> {
        let analysed = self.check.analysed;
        let symbol = analysed.symbol(load);
        let leaves = analysed.values.symbols.leaves(symbol);
        let counted = leaves.iter().find_map(|leaf| match *analysed.values.symbols.node(*leaf) {
            Node::Leaf(Leaf::Left(header, inner)) if self.disagrees(*leaf) && !self.disagrees(inner) => Some(header),
            _ => None,
        });
        if let Some(header) = counted {
            return self.left_loop(header);
        }
        for leaf in leaves {
            if let Node::Leaf(Leaf::Left(header, _)) = *analysed.values.symbols.node(leaf) {
                self.turnings.insert(0, (self.notes.len(), Turning::Left(header)));
            }
        }
        // A copy in a variable of the thread's own goes by the symbol of what was read.
        let is_own = analysed.values.seen.get(&load).is_some_and(|origins| !origins.is_empty());
        let is_pure = matches!(analysed.values.symbols.node(symbol), Node::Pure(name, _) if &**name == "load");
        if !is_own && (is_pure || analysed.values.loads.contains_key(&symbol)) {
            return self.load_shared(load, symbol, address);
        }
        if self.value_disagrees(address) {
            let at = analysed.graph.insts[load.index()].at;
            self.note(at, "each thread reads an element of its own".to_string(), Role::Step);
            return Some(address);
        }
        self.origins(load, self.variable(address))
    }

    fn load_shared(&mut self, load: Value, symbol: Symbol, address: Value) -> Option<Value> {
        let at = self.check.analysed.graph.insts[load.index()].at;
        if let Some(race) = self.check.analysed.solution.races.get(&symbol)
            && (self.racy || !self.value_disagrees(address))
        {
            let (first, check) = (race.writes[0].0, self.check);
            let name = races::cell(check, address).map(|cell| format!("`{cell}`"));
            let name = name.or_else(|| self.spelled(self.variable(address))).unwrap_or("it".to_string());
            let between = match race.within_block {
                true => "with no barrier between",
                false => "and no barrier of the block holds other blocks back",
            };
            self.note(at, format!("{name} is read here, {between}"), Role::Step);
            let writer = races::writer(check, race, first);
            self.note(
                check.analysed.graph.insts[first.index()].at,
                format!("{writer} may be writing {name} here"),
                Role::Source,
            );
            return None;
        }
        let variable = self.variable(address);
        if !self.value_disagrees(load) {
            let what = self.spelled(variable).map_or("address".to_string(), |name| format!("of {name}"));
            let how = if races::is_surely_kept_apart(self.check, symbol) { "can" } else { "is seen to" };
            let text = format!("all read the same {what}, and no write to it {how} come between");
            self.note(at, text, Role::Step);
            // Of a variable itself there is no more to say; of an element, which one it is.
            return (variable.is_none() || self.has_index(address)).then_some(address);
        }
        let (text, role) = match self.value_disagrees(address) {
            true => ("each thread loads from an address of its own", Role::Step),
            false => ("what is read here may change between the reads of two threads", Role::Source),
        };
        self.note(at, text.to_string(), role);
        self.value_disagrees(address).then_some(address)
    }

    /// To the write that a read of a variable sees.
    fn origins(&mut self, load: Value, variable: Option<ObjectId>) -> Option<Value> {
        let origins = self.check.analysed.values.seen.get(&load).cloned().unwrap_or_default();
        self.follow(Writes { variable, origins, seen_phis: FxHashSet::default() })
    }

    /// To the first of these writes that brings what differs.
    fn follow(&mut self, mut writes: Writes) -> Option<Value> {
        let analysed = self.check.analysed;
        while let Some(origin) = writes.origins.pop() {
            match origin {
                Origin::Inst(store) => {
                    let inst = &analysed.graph.insts[store.index()];
                    let value = match &inst.op {
                        Op::Store { value, .. } if !self.value_differs(*value) => continue,
                        Op::Store { value, .. } => *value,
                        Op::Copy { .. } | Op::Atomic { .. } | Op::Clobber { .. } => store,
                        _ => continue,
                    };
                    let name = self.spelled(writes.variable);
                    if !writes.origins.is_empty() {
                        self.turnings.push((self.notes.len(), Turning::Writes(writes)));
                    }
                    if let Some(name) = name {
                        let text = match self.all {
                            true => format!("{name} is set here"),
                            false => format!("so {name} differs, too"),
                        };
                        self.note(inst.at, text, Role::Step);
                    }
                    return Some(value);
                }
                Origin::Phi(symbol) => {
                    if !writes.seen_phis.insert(symbol) {
                        continue;
                    }
                    let Some(phi) = analysed.values.phis.get(&symbol) else { continue };
                    let mut differing: Vec<(Extent, Origin)> = phi
                        .incoming
                        .iter()
                        .filter(|(_, slot)| slot.value != symbol && self.differs(slot.value))
                        .map(|(_, slot)| (self.check.facts.agreement(slot.value).shown, slot.origin))
                        .collect();
                    let is_chosen = self.all && self.is_chosen(symbol, &differing);
                    if !differing.is_empty() && !is_chosen {
                        // What agrees least first; of equals the way into a loop before the way round.
                        differing.sort_by_key(|(agrees, _)| *agrees);
                        // If all of them only go round.
                        self.turnings.insert(0, (self.notes.len(), Turning::Chosen(symbol, writes.variable)));
                        writes.origins.extend(differing.into_iter().rev().map(|(_, origin)| origin));
                        continue;
                    }
                    return self.chosen(symbol, writes.variable);
                }
            }
        }
        None
    }

    /// Every way brings what agrees, and still what comes of it does not.
    fn is_chosen(&self, symbol: Symbol, incoming: &[(Extent, Origin)]) -> bool {
        self.disagrees(symbol) && incoming.iter().all(|(agrees, _)| *agrees >= self.need)
    }

    fn has_index(&self, mut address: Value) -> bool {
        loop {
            match &self.check.analysed.graph.insts[address.index()].op {
                Op::Element { .. } => return true,
                Op::Member { base, .. } => address = *base,
                _ => return false,
            }
        }
    }

    /// All ways bring what agrees, but threads came by different ones.
    fn chosen(&mut self, symbol: Symbol, variable: Option<ObjectId>) -> Option<Value> {
        let analysed = self.check.analysed;
        let phi = analysed.values.phis.get(&symbol)?;
        let mut forks: Vec<BlockId> =
            phi.incoming.iter().flat_map(|(from, _)| analysed.flow.control.all(*from)).map(|each| each.fork).collect();
        forks.extend(phi.incoming.iter().map(|(from, _)| *from));
        let text = match self.spelled(variable) {
            Some(name) => format!("which value {name} gets is decided here, thread by thread"),
            None => "which value it gets is decided here, thread by thread".to_string(),
        };
        self.parted_at(forks, text)
    }

    /// To the condition of the first of these forks at which threads part.
    fn parted_at(&mut self, forks: Vec<BlockId>, text: String) -> Option<Value> {
        let analysed = self.check.analysed;
        let mut forks = forks.into_iter();
        let fork = forks.find(|fork| analysed.fork(&self.check.facts, *fork).shown < self.need)?;
        if forks.len() > 0 {
            self.turnings.insert(0, (self.notes.len(), Turning::Forks(forks.collect(), text.clone())));
        }
        self.note(fork_at(self.check, fork)?, text, Role::Step);
        condition_value(self.check, fork)
    }

    fn left_loop(&mut self, header: BlockId) -> Option<Value> {
        let analysed = self.check.analysed;
        let each = &analysed.flow.loops[analysed.flow.head_of[header.index()]?];
        let mut forks: Vec<BlockId> = each.exits.iter().map(|(from, _)| *from).collect();
        let inside: Vec<BlockId> =
            forks.iter().flat_map(|fork| analysed.flow.control.all(*fork)).map(|each| each.fork).collect();
        forks.extend(inside);
        self.parted_at(forks, "threads leave this loop after different numbers of iterations".to_string())
    }

    /// A variable as a message names it; `None` where there is no name for it.
    fn spelled(&self, variable: Option<ObjectId>) -> Option<String> {
        let name = &self.check.analysed.graph.objects[variable?.index()].name;
        match name.contains(' ') {
            true => Some(name.to_string()),
            false => (!name.is_empty()).then(|| format!("`{name}`")),
        }
    }

    fn variable(&self, mut address: Value) -> Option<ObjectId> {
        loop {
            match &self.check.analysed.graph.insts[address.index()].op {
                Op::Address(object) => return Some(*object),
                Op::Element { base, .. } | Op::Member { base, .. } => address = *base,
                _ => return None,
            }
        }
    }
}

fn axis(axis: &Axis) -> &'static str {
    match axis {
        Axis::X => "x",
        Axis::Y => "y",
        Axis::Z => "z",
    }
}

/// A source as it is written, where there is one way to write it.
pub fn source_name(source: &Source) -> Option<String> {
    Some(match source {
        Source::ThreadIdx(at) => format!("threadIdx.{}", axis(at)),
        Source::BlockIdx(at) => format!("blockIdx.{}", axis(at)),
        Source::BlockDim(at) => format!("blockDim.{}", axis(at)),
        Source::GridDim(at) => format!("gridDim.{}", axis(at)),
        Source::Named(name) => name.to_string(),
        _ => return None,
    })
}

fn source_text(source: &Source) -> String {
    match source {
        Source::ThreadIdx(at) => format!("`threadIdx.{}` differs from thread to thread", axis(at)),
        Source::ThreadRank => "the thread's rank differs from thread to thread".to_string(),
        Source::Lane => "the lane number differs within the warp".to_string(),
        Source::Warp => "the warp number differs from warp to warp".to_string(),
        Source::LaneMask(name) => format!("`%lanemask_{name}` differs within the warp"),
        Source::BlockIdx(at) => format!("`blockIdx.{}` differs from block to block", axis(at)),
        Source::BlockRank => "the block's number differs from block to block".to_string(),
        Source::BlockInCluster => "the block's rank differs within the cluster".to_string(),
        Source::ClusterIndex => "the cluster's index differs from cluster to cluster".to_string(),
        Source::Varying(name) => format!("`{name}` gives each thread a value of its own"),
        Source::ActiveMask => "`__activemask()` depends on which lanes happen to be here".to_string(),
        Source::BlockDim(at) => format!("`blockDim.{}` is the same for the whole launch", axis(at)),
        Source::GridDim(at) => format!("`gridDim.{}` is the same for the whole launch", axis(at)),
        Source::BlockSize => "the block's size is the same for the whole launch".to_string(),
        Source::Launch(name) => format!("`{name}` is the same for the whole launch"),
        Source::Param { name, .. } => format!("the argument `{name}` is the same for all threads"),
        Source::Open { name, .. } => format!("the template argument `{name}` is the same for all threads"),
        Source::Named(name) => format!("there is one `{name}` for all"),
    }
}
