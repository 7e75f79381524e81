//! One kernel, or one device function that nothing in view calls -> its findings, under every launch in view.
//!
//! A kernel is inlined once for each set of template arguments and analysed once for each shape of block. A finding
//! that only some launches bear out names one of them. A panic costs the function it happens in, and says so.

use crate::chart::Chart;
use crate::checks::why::{Explanation, ValueExplanation};
use crate::checks::{self, Policy};
use crate::finding::{Finding, Note, Role, Severity};
use crate::graph::{At, FrameId, Graph, InstId, ItemId, Op, Source};
use crate::inline::{self, Given, Inlined, Instance, Program};
use crate::lower;
use crate::rules;
use crate::source::launch::{self, Argument, Launch, Launches};
use crate::source::tree::Tree;
use crate::text::{FileId, Home, Range};
use crate::uniformity::{self, Analysed, Interest, shape::Shape};
use crate::words::Words;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Everything a root is analysed with.
pub struct Session<'a> {
    pub tree: &'a Tree,
    pub program: &'a Program<'a>,
    pub words: &'a Words,
    pub launches: &'a Launches,
    pub policy: Policy,
    /// What the user knows of a kernel's launches, by its name.
    pub known_blocks: &'a (dyn Fn(&str) -> Option<Extents> + Sync),
}

/// A block's extents in threads and a cluster's in blocks.
pub type Extents = (Option<[u32; 3]>, Option<[u32; 3]>);

/// What one root gave.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Answer {
    pub findings: Vec<Finding>,
    /// Places of the barriers looked at.
    pub barriers: Vec<Range>,
    /// Functions whose bodies were followed, the root among them.
    pub followed: Vec<ItemId>,
    /// Calls of functions without a body in view: their names and where they are called.
    pub unseen: Vec<(String, Range)>,
}

/// Sets of template arguments and block shapes looked at for one kernel.
const MAX_CONTEXTS: usize = 12;

pub fn root(session: &Session, item: ItemId) -> Answer {
    let answer = catch_unwind(AssertUnwindSafe(|| analyse(session, item)));
    answer.unwrap_or_else(|_| {
        let finding = incomplete(
            session,
            item,
            name_range(session, item),
            "an internal error stopped its analysis; please report it",
        );
        Answer { findings: vec![finding], followed: vec![item], ..Answer::default() }
    })
}

/// Only the calls of a kernel whose bodies are not in view.
pub fn unseen_calls(session: &Session, item: ItemId) -> Answer {
    let calls = || {
        calls_out_of_view(session, &inline::inline(session.program, session.words, item, &Instance::default()).graph)
    };
    // What panics here has no barrier in view, so nothing is lost but the names.
    let unseen = catch_unwind(AssertUnwindSafe(calls)).unwrap_or_default();
    Answer { unseen, ..Answer::default() }
}

/// The same, and other names in it that nothing in view declares.
pub fn names_out_of_view(session: &Session, item: ItemId) -> Answer {
    let names = || {
        let graph = inline::inline(session.program, session.words, item, &Instance::default()).graph;
        let named = graph.insts.iter().filter_map(|inst| match &inst.op {
            Op::Source(Source::Named(name)) if session.tree.named(name).is_empty() => {
                Some((name.to_string(), home(session, inst.at).range))
            }
            _ => None,
        });
        calls_out_of_view(session, &graph).into_iter().chain(named).collect()
    };
    let unseen = catch_unwind(AssertUnwindSafe(names)).unwrap_or_default();
    Answer { unseen, ..Answer::default() }
}

fn analyse(session: &Session, item: ItemId) -> Answer {
    let mut work = Work { session, item, answer: Answer::default(), barriers: Default::default() };
    // Without template parameters there is one graph, whatever launches it. It may be right under all of them.
    let mut only = None;
    if is_kernel_alone(session, item) {
        let inlined = work.inline(&Instance::default());
        if work.is_calm(&inlined.graph, &[]) {
            return work.answer(Whole::default(), 0);
        }
        only = Some(inlined);
    }
    let contexts = contexts(session, item);
    let mut whole = Whole::default();
    let runs: usize = contexts.iter().map(|context| context.shapes.len()).sum();
    let is_open = only.is_none();
    let mut open = None;
    for Context { args, instance, shapes } in contexts {
        let inlined = match only.take() {
            Some(inlined) if args.is_empty() => inlined,
            _ => work.inline(&instance),
        };
        let graph = &inlined.graph;
        if is_open && shapes.len() > 1 && work.is_calm(graph, &args) {
            continue;
        }
        for (shape, launch) in shapes {
            let analysed = uniformity::analyse(graph, shape);
            work.note_barriers(&analysed);
            if analysed.unsettled() {
                let why = "too large to be analysed whole";
                work.answer.findings.push(incomplete(session, item, name_range(session, item), why));
            }
            let home = |at: At| home(session, at);
            let checked = checks::check(&analysed, session.policy, &home);
            for finding in checked.findings {
                whole.merge(finding, Seen { launch, block: analysed.shape.block });
            }
            open = open.or(checked.open);
        }
    }
    let is_told = work.answer.findings.iter().any(|finding| finding.rule.name == rules::INCOMPLETE.name);
    if let Some((at, why)) = open.filter(|_| !is_told) {
        work.answer.findings.push(incomplete(session, item, home(session, at).range, &why));
    }
    work.answer(whole, runs)
}

/// A kernel of which there is one, not one for each set of template arguments.
fn is_kernel_alone(session: &Session, item: ItemId) -> bool {
    let known = session.tree.item(item);
    known.is_kernel() && known.templates.is_empty() && launch::instantiations(session.tree, item).is_empty()
}

/// The answer of one root as it grows.
struct Work<'a> {
    session: &'a Session<'a>,
    item: ItemId,
    answer: Answer,
    barriers: FxHashSet<Range>,
}

impl Work<'_> {
    fn inline(&mut self, instance: &Instance) -> Inlined {
        let (session, item) = (self.session, self.item);
        let inlined = inline::inline(session.program, session.words, item, instance);
        self.answer.followed.extend(inlined.items.iter().copied());
        report_incomplete(session, item, &inlined.graph, &mut self.answer.findings);
        self.answer.unseen.extend(calls_out_of_view(session, &inlined.graph));
        inlined
    }

    /// Nothing is wrong if nothing is known of the block, so that no launch has to be looked at.
    fn is_calm(&mut self, graph: &Graph, args: &[Argument]) -> bool {
        let session = self.session;
        let analysed = uniformity::analyse(graph, base(session, self.item, args));
        let calm = checks::is_calm(&analysed, session.policy, &|at: At| home(session, at));
        if calm {
            self.note_barriers(&analysed);
        }
        calm
    }

    fn note_barriers(&mut self, analysed: &Analysed) {
        let place = |inst: InstId| home(self.session, analysed.graph.insts[inst.index()].at).range;
        self.barriers.extend(analysed.barriers().map(place));
    }

    fn answer(mut self, whole: Whole, runs: usize) -> Answer {
        for (mut finding, launches) in whole.found {
            if launches.len() < runs {
                finding.related.extend(launches.iter().filter_map(Seen::note).take(MAX_LAUNCHES));
            }
            self.answer.findings.push(finding);
        }
        self.answer.findings.dedup_by(|a, b| a.at == b.at && a.rule.name == b.rule.name && a.message == b.message);
        self.answer.barriers = self.barriers.into_iter().collect();
        self.answer.followed = FxHashSet::from_iter(self.answer.followed).into_iter().collect();
        self.answer.unseen = FxHashSet::from_iter(self.answer.unseen).into_iter().collect();
        self.answer
    }
}

/// Launches that one finding names.
const MAX_LAUNCHES: usize = 3;

/// A launch for which a finding holds.
#[derive(Copy, Clone, PartialEq, Eq)]
struct Seen {
    launch: Option<Range>,
    block: Option<[u32; 3]>,
}

impl Seen {
    fn note(&self) -> Option<Note> {
        let message = match self.block {
            Some(block) => {
                format!("the fault shows under this launch, in blocks of {}", checks::witness::spell_block(block))
            }
            None => "the fault shows under this launch".to_string(),
        };
        Some(Note { at: self.launch?, message, role: Role::Other })
    }
}

/// What was found under the launches so far.
#[derive(Default)]
struct Whole {
    found: Vec<(Finding, Vec<Seen>)>,
    /// By cause, the place in `found`.
    known: FxHashMap<(Range, &'static str, Option<Range>, String), usize>,
}

impl Whole {
    /// One cause at one line is one finding; the surest reading stays.
    fn merge(&mut self, finding: Finding, launch: Seen) {
        let branch = finding.story.iter().rev().find(|note| note.role == Role::Branch).map(|note| note.at);
        let cause = (finding.at, finding.rule.name, branch, finding.function.clone());
        let index = *self.known.entry(cause).or_insert(self.found.len());
        match self.found.get_mut(index) {
            Some((known, launches)) => {
                if finding.severity > known.severity {
                    *known = finding;
                }
                if !launches.contains(&launch) {
                    launches.push(launch);
                }
            }
            None => self.found.push((finding, vec![launch])),
        }
    }
}

// ---------------------------------------------------------------- launches

/// Shapes, each with a launch that has it.
type Shapes = Vec<(Shape, Option<Range>)>;

struct Context {
    args: Vec<Argument>,
    instance: Instance,
    shapes: Shapes,
}

/// The shape of a block of which nothing is known but what the kernel promises, or the user says.
fn base(session: &Session, item: ItemId, template_args: &[Argument]) -> Shape {
    let bounds = launch::bounds(session.tree, item, template_args);
    let (block, cluster) = (session.known_blocks)(&session.tree.item(item).qualified_name()).unwrap_or_default();
    Shape {
        block: bounds.block.or(block),
        partial: [None; 3],
        max_threads: bounds.max_threads.unwrap_or(uniformity::shape::MAX_THREADS),
        cluster: bounds.cluster.or(cluster),
        multidimensional: true,
    }
}

/// The template arguments and shapes that launches and instantiations in view give a kernel.
fn contexts(session: &Session, item: ItemId) -> Vec<Context> {
    let launches: &[Launch] = session.launches.of(session.tree, item);
    let mut contexts: Vec<(Vec<Argument>, Shapes)> = Vec::new();
    for launch in launches {
        let shape = shape_of(&base(session, item, &launch.template_args), launch);
        let at = Some(launch.at);
        let index = contexts.iter().position(|(args, _)| *args == launch.template_args).unwrap_or_else(|| {
            contexts.push((launch.template_args.clone(), Vec::new()));
            contexts.len() - 1
        });
        let shapes = &mut contexts[index].1;
        if !shapes.iter().any(|(known, _)| *known == shape) {
            shapes.push((shape, at));
        }
    }
    for args in launch::instantiations(session.tree, item) {
        let args: Vec<Argument> = args.into_iter().map(Argument::Text).collect();
        if !contexts.iter().any(|(known, _)| *known == args) {
            let shape = base(session, item, &args);
            contexts.push((args, vec![(shape, None)]));
        }
    }
    if contexts.is_empty() {
        contexts.push((Vec::new(), vec![(base(session, item, &[]), None)]));
    }
    let total = |contexts: &[(Vec<Argument>, Shapes)]| contexts.iter().map(|(_, shapes)| shapes.len()).sum::<usize>();
    if total(&contexts) > MAX_CONTEXTS {
        contexts = covering(contexts);
    }
    // Still too many to look at one by one: what is common to their template arguments, in each shape; at last no shape is assumed.
    if total(&contexts) > MAX_CONTEXTS {
        let common = launch::common_arguments(contexts.iter().map(|(args, _)| args.as_slice()));
        let mut shapes: Shapes = Vec::new();
        for (shape, at) in contexts.into_iter().flat_map(|(_, shapes)| shapes) {
            if !shapes.iter().any(|(known, _)| *known == shape) {
                shapes.push((shape, at));
            }
        }
        if shapes.len() > MAX_CONTEXTS {
            shapes = vec![(base(session, item, &common), None)];
        }
        contexts = vec![(common, shapes)];
    }
    contexts
        .into_iter()
        .map(|(args, shapes)| {
            let read = |one: &Argument| match one {
                Argument::Text(text) => {
                    let read = lower::template_args(&mut lower::Parser::new(), text);
                    if read.is_empty() { vec![Given::Open] } else { read.into_iter().map(Given::Written).collect() }
                }
                Argument::Lambda(lambda) => vec![Given::Lambda { function: lambda.function, at: lambda.at }],
                Argument::Open => vec![Given::Open],
            };
            let template_args = args.iter().flat_map(read).collect();
            Context { args, instance: Instance { template_args }, shapes }
        })
        .collect()
}

/// Those contexts in which each template argument and each shape occurs at least once.
fn covering(contexts: Vec<(Vec<Argument>, Shapes)>) -> Vec<(Vec<Argument>, Shapes)> {
    let mut arguments: Vec<(usize, Argument)> = Vec::new();
    let mut shapes: Vec<Shape> = Vec::new();
    let mut chosen = Vec::new();
    for (args, own) in contexts {
        let unseen: Shapes = own.iter().filter(|(shape, _)| !shapes.contains(shape)).cloned().collect();
        let new: Vec<(usize, Argument)> =
            args.iter().cloned().enumerate().filter(|argument| !arguments.contains(argument)).collect();
        if unseen.is_empty() && new.is_empty() {
            continue;
        }
        shapes.extend(unseen.iter().map(|(shape, _)| shape.clone()));
        arguments.extend(new);
        chosen.push((args, if unseen.is_empty() { own[..1].to_vec() } else { unseen }));
    }
    chosen
}

fn shape_of(base: &Shape, launch: &Launch) -> Shape {
    let cluster = launch.cluster.or(base.cluster);
    if base.block.is_some() {
        return Shape { cluster, ..base.clone() };
    }
    let limit = launch.block_limit.iter().try_fold(1u32, |all, limit| Some(all.saturating_mul((*limit)?)));
    let base = &Shape { max_threads: base.max_threads.min(limit.unwrap_or(base.max_threads)), ..base.clone() };
    match launch.block {
        [Some(x), Some(y), Some(z)] => Shape { block: Some([x, y, z]), cluster, ..base.clone() },
        // A row of unknown length.
        [_, Some(1), Some(1)] => Shape { multidimensional: false, cluster, ..base.clone() },
        partial => Shape { partial, cluster, ..base.clone() },
    }
}

// ---------------------------------------------------------------- what could not be done

/// One note for a root, at the first thing that stopped it.
fn report_incomplete(session: &Session, item: ItemId, graph: &Graph, findings: &mut Vec<Finding>) {
    let holds_barrier = graph.insts.iter().any(|inst| matches!(inst.op, Op::Barrier(_)));
    let known = findings.iter().any(|finding| finding.rule.name == rules::INCOMPLETE.name);
    if known || !(holds_barrier || session.tree.item(item).is_kernel()) {
        return;
    }
    if let Some((at, why)) = graph.incomplete.first() {
        let more = match graph.incomplete.len() {
            1 => String::new(),
            count => format!(" (and {} more)", count - 1),
        };
        findings.push(incomplete(session, item, home(session, *at).range, &format!("{why}{more}")));
    }
}

/// Calls that were not followed since nothing in view has a body for them; such a function is taken to hold no barrier.
fn calls_out_of_view(session: &Session, graph: &Graph) -> Vec<(String, Range)> {
    let of_values = graph.insts.iter().filter_map(|inst| match &inst.op {
        Op::Unknown { unseen: Some(name), .. } => Some((inst.at, name)),
        _ => None,
    });
    let calls = of_values.chain(graph.unseen.iter().map(|(at, name)| (*at, name)));
    let has_body = |name: &str, at: Range| {
        let bare = name.rsplit("::").next().unwrap_or(name);
        session.tree.visible(at.file, bare).iter().any(|item| session.tree.item(*item).is_definition())
    };
    let is_instruction = |name: &str| name == "asm" || name.contains('.');
    calls
        .map(|(at, name)| (name, home(session, at).range))
        .filter(|(name, at)| !is_instruction(name) && !has_body(name, *at))
        .map(|(name, at)| (name.to_string(), at))
        .collect()
}

fn incomplete(session: &Session, item: ItemId, at: Range, why: &str) -> Finding {
    let name = session.tree.item(item).qualified_name();
    note(format!("`{name}` could not be analysed whole: {why}"), at, name)
}

/// Of a kernel or barrier that stands in nothing that could be read.
pub fn lost(at: Range, is_kernel: bool) -> Finding {
    let what = if is_kernel { "a kernel" } else { "a barrier" };
    note(format!("{what} stands here in no function that could be read, so it was not analysed"), at, String::new())
}

fn note(message: String, at: Range, function: String) -> Finding {
    Finding {
        rule: &rules::INCOMPLETE,
        severity: Severity::Note,
        message,
        at,
        function,
        barrier: String::new(),
        scope: String::new(),
        story: Vec::new(),
        related: Vec::new(),
        witness: None,
        help: None,
        fixes: Vec::new(),
    }
}

/// Where a place in an item's expanded text stands.
fn home(session: &Session, at: At) -> Home {
    match session.program.expanded(at.item) {
        Some(text) => text.home(at.span),
        None => Home { range: name_range(session, at.item), spelled: None },
    }
}

pub fn name_range(session: &Session, item: ItemId) -> Range {
    session.tree.item(item).name_range
}

// ---------------------------------------------------------------- why

/// Explains the barriers of a root that stand, or are called, on a line of a file.
pub fn why(session: &Session, item: ItemId, wanted: &dyn Fn(Range) -> bool) -> Vec<Explanation> {
    let mut found: Vec<Explanation> = Vec::new();
    for Context { instance, shapes, .. } in contexts(session, item) {
        let inlined = inline::inline(session.program, session.words, item, &instance);
        for (shape, _) in shapes {
            let analysed = uniformity::analyse(&inlined.graph, shape);
            let home = |at: At| home(session, at);
            let check = checks::Check::new(&analysed, session.policy, &home);
            for inst in analysed.barriers() {
                let own = &inlined.graph.insts[inst.index()];
                let calls =
                    check.chain(own.frame).into_iter().filter_map(|frame| inlined.graph.frames[frame.index()].call);
                let on_line = wanted(home(own.at).range) || calls.into_iter().any(|(_, at)| wanted(home(at).range));
                if on_line
                    && let Some(explanation) = checks::why::explain(&check, inst)
                    && !found.contains(&explanation)
                {
                    found.push(explanation);
                }
            }
        }
    }
    found
}

// ---------------------------------------------------------------- charts

/// The chart of a root under the first launch that bears a finding out, else under the first; not yet simplified.
/// `None`: too large by far, or not to be analysed.
pub fn chart(session: &Session, item: ItemId) -> Option<Chart> {
    catch_unwind(AssertUnwindSafe(|| chart_of(session, item))).unwrap_or(None)
}

fn chart_of(session: &Session, item: ItemId) -> Option<Chart> {
    let mut first = None;
    let contexts = contexts(session, item);
    let several = contexts.iter().map(|context| context.shapes.len()).sum::<usize>() > 1;
    for Context { instance, shapes, .. } in contexts {
        let inlined = inline::inline(session.program, session.words, item, &instance);
        for (shape, _) in shapes {
            let analysed = uniformity::analyse_for(&inlined.graph, shape, Interest::Everything);
            let home = |at: At| home(session, at);
            let check = checks::Check::new(&analysed, session.policy, &home);
            let faulty = analysed.barriers().any(|inst| check.barrier(inst).is_some());
            if first.is_some() && !faulty {
                continue;
            }
            let bytes = |file: FileId| &*session.tree.files.get(file).bytes;
            let mut chart = checks::chart::chart(&check, &bytes)?;
            chart.name = session.tree.item(item).qualified_name();
            chart.given = analysed.shape.block.filter(|_| several).map(|[x, y, z]| match (y, z) {
                (1, 1) => format!("a block of {x} threads"),
                (_, 1) => format!("a block of {x} x {y} threads"),
                _ => format!("a block of {x} x {y} x {z} threads"),
            });
            if faulty {
                return Some(chart);
            }
            first = Some(chart);
        }
    }
    first
}

// ---------------------------------------------------------------- values

/// How a word of an expression stands in it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// A name that is called: the whole call.
    Call,
    /// More of the same thing follows: `threadIdx` in `threadIdx.x`.
    Head,
    /// A name alone, or the last of several.
    Name,
}

/// Explains the values of what stands at a place, under every launch: a variable's, or a call's result. A panic costs
/// the answer of its root.
pub fn values(session: &Session, item: ItemId, place: Range, standing: Standing) -> Vec<ValueExplanation> {
    let found = catch_unwind(AssertUnwindSafe(|| values_at(session, item, place, standing)));
    found.unwrap_or_default()
}

fn values_at(session: &Session, item: ItemId, place: Range, standing: Standing) -> Vec<ValueExplanation> {
    let mut found: Vec<ValueExplanation> = Vec::new();
    for Context { instance, shapes, .. } in contexts(session, item) {
        let inlined = inline::inline(session.program, session.words, item, &instance);
        let asked = at_place(session, &inlined.graph, place, standing);
        if asked.is_empty() {
            continue;
        }
        for (shape, _) in shapes {
            let analysed = uniformity::analyse_for(&inlined.graph, shape, Interest::Values(&asked));
            let home = |at: At| home(session, at);
            let check = checks::Check::new(&analysed, session.policy, &home);
            let runs = |value: &&InstId| analysed.flow.order.contains(&analysed.block(**value));
            for value in asked.iter().filter(runs) {
                let explanation = checks::why::explain_value(&check, *value);
                if !found.contains(&explanation) {
                    found.push(explanation);
                }
            }
        }
    }
    found
}

/// The values of the narrowest expression round a place: of a read what was read, of a write what is written, of a call
/// what it yields; one for each way the code is reached.
fn at_place(session: &Session, graph: &Graph, place: Range, standing: Standing) -> Vec<InstId> {
    let bytes = &session.tree.files.get(place.file).bytes;
    let around = |range: &Range| range.file == place.file && range.start <= place.start && place.end <= range.end;
    let fits = |range: &Range| match standing {
        Standing::Call => is_call_of(bytes, range, place),
        Standing::Head => range.start == place.start,
        Standing::Name => range.end == place.end,
    };
    let mut found = Narrowest::default();
    if standing == Standing::Call {
        for frame in &graph.frames {
            let Some((caller, at)) = frame.call else { continue };
            let range = home(session, at).range;
            if around(&range) && fits(&range) {
                found.add(range, caller, 0, frame.result);
            }
        }
    }
    for (inst, index) in graph.insts.iter().zip(0..) {
        let rank = match &inst.op {
            Op::Nothing | Op::Clobber { .. } | Op::BarrierInit { .. } => continue,
            Op::Load { .. } => 1,
            Op::Store { .. } => 2,
            Op::Address(_) | Op::Element { .. } | Op::Member { .. } => 4,
            _ => 3,
        };
        let range = home(session, inst.at).range;
        if around(&range) && fits(&range) {
            let value = match &inst.op {
                Op::Store { value, .. } => *value,
                _ => InstId(index),
            };
            found.add(range, inst.frame, rank, Some(value));
        }
    }
    found.values()
}

/// What stands at the narrowest range seen.
#[derive(Default)]
struct Narrowest {
    length: Option<u32>,
    found: Vec<(FrameId, u8, Option<InstId>)>,
}

impl Narrowest {
    fn add(&mut self, range: Range, frame: FrameId, rank: u8, value: Option<InstId>) {
        let length = range.end - range.start;
        if self.length.is_some_and(|known| known < length) {
            return;
        }
        if self.length != Some(length) {
            self.length = Some(length);
            self.found.clear();
        }
        self.found.push((frame, rank, value));
    }

    /// Of what stands there in one frame the lowest rank, and of several the last: the whole.
    fn values(self) -> Vec<InstId> {
        let frames: FxHashSet<FrameId> = self.found.iter().map(|(frame, ..)| *frame).collect();
        let best = |frame: &FrameId| {
            let here = self.found.iter().filter(|(other, ..)| other == frame);
            here.min_by_key(|(_, rank, value)| (*rank, std::cmp::Reverse(*value))).and_then(|(.., value)| *value)
        };
        let mut values: Vec<InstId> = frames.iter().filter_map(best).collect();
        values.sort_unstable();
        values.dedup();
        values
    }
}

/// Whether a range is the call of the name at `place`: `name(..)`, `object.name(..)`, `scope::name<..>(..)`.
fn is_call_of(bytes: &[u8], range: &Range, place: Range) -> bool {
    let head = bytes.get(range.start as usize..place.start as usize).unwrap_or_default();
    let named = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.:<>-".contains(byte);
    let subtracts = head.iter().zip(head.iter().skip(1)).any(|(a, b)| *a == b'-' && *b != b'>');
    let whole = bytes.get((range.end as usize).saturating_sub(1)) == Some(&b')');
    whole && head.iter().all(named) && !subtracts && !head.ends_with(b"-")
}
