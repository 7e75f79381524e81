//! Which barrier breaks which rule: asks the analysis of each barrier whether its whole group comes.
//!
//! One barrier and one cause make one finding, however many ways lead to it. It stands at the barrier if the threads
//! part in the function that holds it, else at the innermost call on the way to it that they do not all make.

pub mod chart;
pub mod conditions;
pub mod counted;
pub mod divergence;
mod harmless;
mod labels;
mod last_trip;
pub mod lanes;
pub mod leaving;
pub mod ledger;
pub mod races;
pub mod rounds;
pub mod reach;
pub mod sets;
pub mod shuffle;
pub mod sizes;
pub mod story;
pub mod unshaped;
mod ways;
pub mod why;
pub mod witness;
pub mod wording;

use crate::finding::{Finding, Note, Role, Rule, Severity, Witness};
use crate::flow::control::Dependence;
use crate::graph::{At, Barrier, BlockId, FrameId, Group, InstId, Op, Value};
use crate::text::Home;
use crate::uniformity::Analysed;
use crate::uniformity::extent::Extent;
use crate::uniformity::facts::Facts;
use crate::uniformity::memory::{Memory, Order};
use crate::uniformity::state::Origin;
use crate::uniformity::symbols::{Leaf, Node, Step, Symbol};
use rustc_hash::{FxHashMap, FxHashSet};

/// What the user decides about the rules' meaning.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// Threads that have ended count as arrived at barriers of the block and the cluster.
    pub exited_may_be_missing: bool,
}

/// One graph under the checks.
pub struct Check<'a> {
    pub analysed: &'a Analysed<'a>,
    pub facts: Facts<'a>,
    pub policy: Policy,
    /// Turns places in items into places in files.
    pub home: &'a dyn Fn(At) -> Home,
    dependences: std::cell::RefCell<FxHashMap<BlockId, std::rc::Rc<Vec<Dependence>>>>,
    known: std::cell::RefCell<FxHashMap<(BlockId, Extent), Known>>,
    /// Blocks that a group comes to as a whole, as all forks in front of them go one way for it.
    whole: std::cell::RefCell<FxHashSet<(BlockId, Extent)>>,
    /// Made when the first race asks for it.
    memory: std::cell::OnceCell<Memory<'a>>,
    /// Opened when the first named barrier asks for it.
    ledger: std::cell::OnceCell<ledger::Ledger>,
    /// Who comes where, in a block or two that the launch may have.
    crowds: std::cell::OnceCell<Vec<reach::Reach>>,
    /// Who comes where, in blocks of all sizes.
    sizes: std::cell::OnceCell<Vec<reach::Reach>>,
    /// By part and fork: `Analysed::agree_within`.
    within: std::cell::RefCell<FxHashMap<(Symbol, BlockId), bool>>,
    /// By fork and group: `Analysed::warps_agree`.
    alike: std::cell::RefCell<FxHashMap<(BlockId, Extent), bool>>,
    /// By block: `sizes::asking`.
    asking: std::cell::RefCell<FxHashMap<BlockId, std::rc::Rc<[BlockId]>>>,
    /// Whether some thread ends by a written return or exit, and whether some function returns early.
    exits: std::cell::OnceCell<(bool, bool)>,
    /// Findings that may still be given a witness, and blocks that may be walked through in search of one.
    witnesses: std::cell::Cell<usize>,
    witness_steps: std::cell::Cell<usize>,
}

/// What the guards of a block say, and by which fork.
type Known = std::rc::Rc<[(BlockId, conditions::Conjunct)]>;

/// Findings of one graph that get a witness: each takes a walk over the whole of it.
const MAX_WITNESSES: usize = 100;
/// Blocks walked through for all of them.
const MAX_WITNESS_STEPS: usize = 20_000_000;

/// Before it is worded: a barrier, the fork that leads, and which rule they break.
#[derive(Debug)]
pub struct Verdict {
    pub rule: &'static Rule,
    /// The evidence rests on an unknown block shape or an unseen function.
    pub likely: bool,
    /// The fork nearest to the barrier that splits the group, and others.
    pub lead: Option<Dependence>,
    pub others: Vec<Dependence>,
    /// The frame in which the threads part; the finding stands there.
    pub frame: FrameId,
    /// The group that was to come whole, and in words where the barrier's own will not do.
    pub need: Extent,
    pub scope: Option<String>,
    pub message: Option<String>,
    pub help: Option<String>,
    pub witness: Option<Witness>,
    /// Other places that take part, and how.
    pub also: Vec<(At, String)>,
}

/// What a graph's barriers come to.
pub struct Checked {
    /// One for each barrier and cause.
    pub findings: Vec<Finding>,
    /// The first call of which nothing tells whether it leads to a barrier that would be missed, and why not.
    pub open: Option<(At, String)>,
}

pub fn check(analysed: &Analysed, policy: Policy, home: &dyn Fn(At) -> Home) -> Checked {
    let check = Check::new(analysed, policy, home);
    let mut checked = Checked { findings: Vec::new(), open: None };
    for inst in analysed.barriers() {
        match check.decision(inst) {
            Decision::Fault(verdict) => checked.findings.push(check.finding(inst, *verdict)),
            Decision::Open(frame) => checked.open = checked.open.or_else(|| check.open_call(frame)),
            Decision::Clean => {}
        }
    }
    checked
}

/// What is to be said of a barrier.
enum Decision {
    Clean,
    Fault(Box<Verdict>),
    /// It would be missed, if the call that made this frame means the function that it was followed into.
    Open(FrameId),
}

/// Nothing is wrong, nor would it be if more were known of the block. What is known of it only makes more values agree, so
/// barriers that are right without are right with it; but for those that count threads.
pub fn is_calm(analysed: &Analysed, policy: Policy, home: &dyn Fn(At) -> Home) -> bool {
    let check = Check::new(analysed, policy, home);
    let counts_nobody = |inst: InstId| {
        check.as_barrier(inst).is_none_or(|barrier| match &barrier.group {
            Group::Block | Group::Grid | Group::Tile { .. } => true,
            Group::Lanes { mask } => lanes::is_for_all(&check, inst, barrier, *mask),
            _ => false,
        })
    };
    !analysed.unsettled()
        && analysed.barriers().all(|inst| counts_nobody(inst) && matches!(check.decision(inst), Decision::Clean))
}

impl<'a> Check<'a> {
    pub fn new(analysed: &'a Analysed<'a>, policy: Policy, home: &'a dyn Fn(At) -> Home) -> Check<'a> {
        Check {
            analysed,
            facts: analysed.facts(),
            policy,
            home,
            dependences: Default::default(),
            known: Default::default(),
            whole: Default::default(),
            memory: Default::default(),
            ledger: Default::default(),
            crowds: Default::default(),
            sizes: Default::default(),
            asking: Default::default(),
            within: Default::default(),
            alike: Default::default(),
            exits: Default::default(),
            witnesses: std::cell::Cell::new(MAX_WITNESSES),
            witness_steps: std::cell::Cell::new(MAX_WITNESS_STEPS),
        }
    }

    pub fn dependences(&self, block: BlockId) -> std::rc::Rc<Vec<Dependence>> {
        let found = self.dependences.borrow().get(&block).cloned();
        found.unwrap_or_else(|| {
            let all = std::rc::Rc::new(self.analysed.flow.control.all(block));
            self.dependences.borrow_mut().insert(block, all.clone());
            all
        })
    }

    /// No fork that decides whether a block runs parts the group. Blocks behind others go by what was found for those.
    pub fn comes_whole(&self, block: BlockId, need: Extent) -> bool {
        let mut whole = self.whole.borrow_mut();
        let mut found = Vec::new();
        let mut work = vec![block];
        while let Some(block) = work.pop() {
            if !whole.insert((block, need)) {
                continue;
            }
            found.push(block);
            let forks = self.analysed.flow.control.direct(block).iter().map(|each| each.fork);
            for fork in forks {
                if self.analysed.fork(&self.facts, fork).shown < need {
                    found.into_iter().for_each(|block| _ = whole.remove(&(block, need)));
                    return false;
                }
                work.push(fork);
            }
        }
        true
    }

    /// `Analysed::agree_within`, asked once.
    pub fn agree_within(&self, part: Symbol, fork: BlockId) -> bool {
        let found = self.within.borrow().get(&(part, fork)).copied();
        found.unwrap_or_else(|| {
            let agree = self.analysed.agree_within(part, fork);
            self.within.borrow_mut().insert((part, fork), agree);
            agree
        })
    }

    /// `Analysed::warps_agree`, asked once.
    fn warps_agree(&self, fork: BlockId, need: Extent) -> bool {
        let found = self.alike.borrow().get(&(fork, need)).copied();
        found.unwrap_or_else(|| {
            let agree = self.analysed.warps_agree(fork, need);
            self.alike.borrow_mut().insert((fork, need), agree);
            agree
        })
    }

    /// `conditions::known`, asked once.
    fn known(&self, block: BlockId, need: Extent) -> Known {
        let found = self.known.borrow().get(&(block, need)).cloned();
        found.unwrap_or_else(|| {
            let known: Known = conditions::known(self, block, need).into();
            self.known.borrow_mut().insert((block, need), known.clone());
            known
        })
    }

    /// `sizes::asking`, asked once.
    fn asking(&self, block: BlockId) -> std::rc::Rc<[BlockId]> {
        let found = self.asking.borrow().get(&block).cloned();
        found.unwrap_or_else(|| {
            let asking: std::rc::Rc<[BlockId]> = sizes::asking(self, block).into();
            self.asking.borrow_mut().insert(block, asking.clone());
            asking
        })
    }

    pub fn memory(&self) -> &Memory<'a> {
        let Analysed { graph, shape, flow, values, .. } = self.analysed;
        self.memory.get_or_init(|| Memory::new(Order::new(graph, flow, values, shape.most_threads()), values))
    }

    pub fn order(&self) -> &Order<'a> {
        &self.memory().order
    }

    /// The threads of the group may part at a fork in a way that bears on a barrier.
    pub fn parts(&self, inst: InstId, dependence: Dependence, need: Extent) -> bool {
        let agreement = self.analysed.fork(&self.facts, dependence.fork);
        let racy = agreement.ordered >= need;
        agreement.shown < need
            && !(need >= Extent::BLOCK && agreement.shown >= Extent::WARP && self.warps_agree(dependence.fork, need))
            && !(racy && harmless::change_nothing(self, inst, dependence, need))
            && !conditions::follows(self, inst, dependence, need)
            && (need != Extent::BLOCK || !sizes::settle(self, inst, dependence))
            && !last_trip::leaves_then_only(self, inst, dependence, need)
    }

    pub fn as_barrier(&self, inst: InstId) -> Option<&'a Barrier> {
        match &self.analysed.graph.insts[inst.index()].op {
            Op::Barrier(barrier) => Some(barrier),
            _ => None,
        }
    }

    /// What is wrong with a barrier.
    pub fn barrier(&self, inst: InstId) -> Option<Verdict> {
        match self.decision(inst) {
            Decision::Fault(verdict) => Some(*verdict),
            Decision::Clean | Decision::Open(_) => None,
        }
    }

    fn decision(&self, inst: InstId) -> Decision {
        let never_runs = || counted::nobody_comes(self, inst) || conditions::contradict_each_other(self, inst);
        let verdict = self.verdict(inst).filter(|_| !never_runs());
        let Some(verdict) = verdict else { return Decision::Clean };
        let guessed = self.guessed(inst, verdict.frame);
        match guessed.iter().find(|frame| self.may_be_another(**frame, inst)) {
            Some(frame) => Decision::Open(*frame),
            None => Decision::Fault(Box::new(Verdict { likely: verdict.likely || !guessed.is_empty(), ..verdict })),
        }
    }

    /// A call that may mean a function that waits, or another one: where it stands, and what is not known.
    fn open_call(&self, frame: FrameId) -> Option<(At, String)> {
        let frame = &self.analysed.graph.frames[frame.index()];
        let (_, at) = frame.call?;
        let why = format!(
            "the type of an object is open, and only part of the group makes this call, which waits if it means `{}`",
            frame.name
        );
        Some((at, why))
    }

    /// Calls on the way from a frame to a barrier that are told by their names alone.
    fn guessed(&self, inst: InstId, from: FrameId) -> Vec<FrameId> {
        let frames = &self.analysed.graph.frames;
        let chain = self.chain(self.analysed.graph.insts[inst.index()].frame);
        let on_the_way = chain.into_iter().take_while(|frame| *frame != from);
        on_the_way.filter(|frame| frames[frame.index()].is_guess).collect()
    }

    /// The call may as well mean a function that waits for a group of another kind only.
    fn may_be_another(&self, guess: FrameId, inst: InstId) -> bool {
        let frames = &self.analysed.graph.frames;
        let kind = |inst: InstId| self.as_barrier(inst).map(|barrier| std::mem::discriminant(&barrier.group));
        let waits_alike = |frame: FrameId| {
            let mut alike = self.analysed.barriers().filter(|other| kind(*other) == kind(inst));
            alike.any(|other| self.chain(self.analysed.graph.insts[other.index()].frame).contains(&frame))
        };
        let same_call = |frame: &FrameId| {
            let (frame, guess) = (&frames[frame.index()], &frames[guess.index()]);
            frame.is_guess && frame.call == guess.call && frame.function != guess.function
        };
        (0..frames.len()).map(|index| FrameId(index as u32)).filter(same_call).any(|frame| !waits_alike(frame))
    }

    fn verdict(&self, inst: InstId) -> Option<Verdict> {
        let barrier = self.as_barrier(inst)?;
        match &barrier.group {
            Group::Lanes { mask } => {
                lanes::check(self, inst, barrier, *mask).or_else(|| shuffle::check(self, inst, barrier, *mask))
            }
            Group::Formed { by } => divergence::formed(self, inst, *by),
            Group::Counted { .. } | Group::Named { .. } => divergence::check(self, inst, barrier, self.need(barrier)?)
                .or_else(|| ledger::check(self, inst, barrier)),
            _ => divergence::check(self, inst, barrier, self.need(barrier)?),
        }
    }

    /// The group whose threads must all come, if it is known.
    pub fn need(&self, barrier: &Barrier) -> Option<Extent> {
        Some(match &barrier.group {
            Group::Block | Group::Named { .. } => Extent::BLOCK,
            Group::Counted { .. } | Group::Lanes { .. } | Group::Formed { .. } => Extent::WARP,
            Group::Tile { size } => Extent::of_size(*size),
            Group::Cluster => Extent::CLUSTER,
            Group::Grid => Extent::GRID,
            // Who only waits is not counted: whoever has arrived may wait, or leave it.
            Group::Object { address } => {
                return (divergence::arrives(barrier) && self.counts_the_block(*address)).then_some(Extent::BLOCK);
            }
        })
    }

    /// An arrival count that is visibly the whole block.
    fn counts_the_block(&self, address: Value) -> bool {
        let values = &self.analysed.values;
        let wanted = values.of[address.index()];
        let may_be_it = |address: &Value| self.may_be_one(wanted, values.of[address.index()]);
        let insts = &self.analysed.graph.insts;
        let mut counts = insts.iter().filter_map(|inst| match &inst.op {
            Op::BarrierInit { address, count } if may_be_it(address) => Some(values.of[count.index()]),
            _ => None,
        });
        let Some(count) = counts.next() else { return false };
        // Some thread arrives for others, or is counted no more.
        let uneven = insts.iter().any(|inst| match &inst.op {
            Op::Barrier(barrier) => match &barrier.group {
                Group::Object { address } if !barrier.waits && may_be_it(address) => {
                    let is_one = |value: &Value| values.symbols.as_int(values.of[value.index()]) == Some(1);
                    !barrier.operands.iter().all(is_one) || barrier.name.ends_with("arrive_and_drop")
                }
                _ => false,
            },
            _ => false,
        });
        if uneven || !counts.all(|other| other == count) {
            return false;
        }
        if let Some(number) = values.symbols.as_int(count) {
            return self.analysed.shape.threads().map(i64::from) == Some(number);
        }
        let extents = values.symbols.factors(count);
        let is_extent = |symbol: &_| {
            use crate::graph::Source::{BlockDim, BlockSize};

            matches!(values.symbols.node(*symbol), Node::Leaf(Leaf::Source(BlockDim(_) | BlockSize)))
        };
        let line = self.analysed.shape.is_line();
        extents.iter().all(is_extent) && (line || extents.len() > 1)
    }

    /// Two addresses may be that of one object: of an array each barrier may be made in a loop, or by a thread of its own.
    pub fn may_be_one(&self, one: Symbol, other: Symbol) -> bool {
        let symbols = &self.analysed.values.symbols;
        let (steps, others) = (symbols.steps(one), symbols.steps(other));
        let alike = |pair: (&Step, &Step)| match pair {
            (Step::Index(x), Step::Index(y)) => x == y || symbols.as_int(*x).is_none() || symbols.as_int(*y).is_none(),
            (one, other) => one == other,
        };
        symbols.base(one) == symbols.base(other) && steps.len() == others.len() && steps.iter().zip(&others).all(alike)
    }

    // ---------------------------------------------------------------- frames

    /// A frame and all that called it, innermost first.
    pub fn chain(&self, frame: FrameId) -> Vec<FrameId> {
        let mut chain = vec![frame];
        while let Some((above, _)) = self.analysed.graph.frames[chain[chain.len() - 1].index()].call {
            chain.push(above);
        }
        chain
    }

    /// The frame in which the operands of a barrier are written: that of the call, where a helper only passes them on.
    pub fn written_in(&self, inst: InstId, operands: &[Value]) -> FrameId {
        let chain = self.chain(self.analysed.graph.insts[inst.index()].frame);
        let distance = |value: &Value| {
            let frame = self.analysed.graph.insts[self.passed_on(*value).index()].frame;
            chain.iter().position(|each| *each == frame)
        };
        chain[operands.iter().filter_map(distance).max().unwrap_or(0)]
    }

    /// What a variable that is set once was set to, through parameters and copies.
    fn passed_on(&self, mut value: Value) -> Value {
        let graph = self.analysed.graph;
        for _ in 0..graph.frames.len() {
            let next = match &graph.insts[value.index()].op {
                Op::Convert { value, .. } => Some(*value),
                Op::Load { .. } => match self.analysed.values.seen.get(&value).map(Vec::as_slice) {
                    Some([Origin::Inst(store)]) => match &graph.insts[store.index()].op {
                        Op::Store { value, .. } => Some(*value),
                        _ => None,
                    },
                    _ => None,
                },
                _ => None,
            };
            let Some(next) = next.filter(|next| *next != value) else { break };
            value = next;
        }
        value
    }

    /// How many calls up from the barrier's frame the fork's frame, or the call that leads to it, stands.
    pub fn distance(&self, chain: &[FrameId], fork: BlockId) -> usize {
        let others = self.chain(self.analysed.graph.blocks[fork.index()].frame);
        chain.iter().position(|frame| others.contains(frame)).unwrap_or(chain.len() - 1)
    }

    /// Where a finding about a barrier stands if the threads part in `frame`: the barrier, or the call to it there.
    pub fn place(&self, inst: InstId, frame: FrameId) -> At {
        let mut at = self.analysed.graph.insts[inst.index()].at;
        let mut here = self.analysed.graph.insts[inst.index()].frame;
        while here != frame {
            let Some((above, call)) = self.analysed.graph.frames[here.index()].call else { break };
            at = call;
            here = above;
        }
        at
    }

    // ---------------------------------------------------------------- findings

    fn finding(&self, inst: InstId, verdict: Verdict) -> Finding {
        let graph = self.analysed.graph;
        let own = &graph.insts[inst.index()];
        let barrier = self.as_barrier(inst);
        let name = barrier.map_or_else(String::new, |barrier| barrier.name.to_string());
        let place = (self.home)(self.place(inst, verdict.frame));
        let is_call = own.frame != verdict.frame;
        let mut related = Vec::new();
        if is_call {
            let at = (self.home)(own.at).range;
            related.push(Note { at, message: format!("`{name}` is here"), role: Role::Barrier });
        }
        if let Some((at, macro_name)) = &place.spelled {
            related.push(Note {
                at: *at,
                message: format!("in the replacement of macro `{macro_name}`"),
                role: Role::Other,
            });
        }
        for other in verdict.others.iter().take(4) {
            if let Some(at) = story::fork_place(self, other.fork) {
                related.push(Note { at, message: "threads part here, too".to_string(), role: Role::Branch });
            }
        }
        for (at, message) in verdict.also.iter().take(8) {
            let at = (self.home)(*at).range;
            related.push(Note { at, message: message.clone(), role: Role::Other });
        }
        let harmless = unshaped::harmless(self, &verdict);
        let mut story = verdict.lead.map(|lead| story::of(self, inst, lead, &verdict, harmless)).unwrap_or_default();
        story.dedup_by(|a, b| a.at == b.at && a.message == b.message);
        let group =
            || barrier.map_or_else(|| verdict.need.to_string(), |barrier| wording::group(barrier, verdict.need));
        let scope = verdict.scope.clone().unwrap_or_else(group);
        let message = verdict
            .message
            .clone()
            .unwrap_or_else(|| wording::message(self, barrier, &name, &scope, is_call, &verdict));
        let mut help = verdict.help.clone().unwrap_or_else(|| wording::help(self, &verdict));
        if let Some(block) = harmless.filter(|_| graph.is_kernel) {
            let name = &graph.frames[0].name;
            help.push_str(&format!(
                "; or, if it is launched so, tell it in synclint.toml: under `[kernel.\"{name}\"]` write `block = {block:?}`"
            ));
        }
        let witness = verdict.witness.clone().or_else(|| {
            self.witnesses.set(self.witnesses.get().checked_sub(1)?);
            witness::find(self, inst, &verdict)
        });
        let severity = match verdict.rule.severity {
            Severity::Error if verdict.likely => Severity::Warning,
            severity => severity,
        };
        Finding {
            rule: verdict.rule,
            severity,
            message,
            at: place.range,
            function: graph.frames[verdict.frame.index()].name.to_string(),
            barrier: name,
            scope,
            story,
            related,
            witness,
            help: Some(help),
            fixes: Vec::new(),
        }
    }
}
