//! One run: what to read -> what is found, and from that what is to be reported.
//!
//! `run` reads and analyses; `conclude` takes out what the settings, comments in the source and the baseline hide.
//! Nothing here prints.

mod conclude;
mod draw;
mod fixes;
mod includes;
mod lacking;
mod names;
mod read;
mod shard;
mod stages;

pub use conclude::{Conclusion, conclude};
pub use draw::{Drawn, graph};
pub use lacking::Lacking;
pub use read::Walked;

use crate::analysis::{self, Answer, Standing};
use crate::chart::Chart;
use crate::checks::Policy;
use crate::checks::why::{Explanation, ValueExplanation};
use crate::finding::{Finding, Role, Severity, Summary, Unread};
use crate::graph::ItemId;
use crate::inline::Program;
use crate::settings::{ExitedThreads, Settings};
use crate::source::closure::{self, Closure};
use crate::source::index::{Files, Options};
use crate::source::launch::Launches;
use crate::source::tree::Tree;
use crate::text::{FileId, LineIndex, Range, Source, find_any_case};
use crate::words::Words;
use names::Names;
use rayon::prelude::*;
use read::Read;
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

pub use shard::{Part, Shard};
pub use stages::Stages;

/// What a run is asked for.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Files and folders to read, as the user named them; a file that is reached twice goes by its first name.
    pub read: Vec<PathBuf>,
    /// Report only findings of which a place lies in one of these. `None`: all.
    pub only: Option<Vec<PathBuf>>,
    /// Texts that do not stand on the disk (yet), under the names they are to have.
    pub texts: Vec<(PathBuf, Vec<u8>)>,
    /// Links out of the paths to read are not followed.
    pub confined: bool,
    /// `exclude` holds for files named by hand, too.
    pub force_exclude: bool,
    /// Read what `.gitignore` names and hidden files, too.
    pub no_ignore: bool,
    /// Draw the control flow of what has findings.
    pub charts: bool,
    /// Look for changes that mend findings, and prove them.
    pub fixes: bool,
    /// Look for what `.gitignore` keeps from being read, too, to tell of it.
    pub tell_ignored: bool,
    /// Look for what headers that were not found may declare, to tell of it.
    pub tell_lacking: bool,
    /// Look for calls out of view in kernels without a barrier, too: any of them may hold one.
    pub every_call: bool,
}

/// How far a run has come, for whoever watches.
#[derive(Debug, Default)]
pub struct Progress {
    pub done: AtomicUsize,
    /// 0 while it is not known.
    pub total: AtomicUsize,
    /// Set by whoever watches, if nobody wants the answer any more: what comes out then lacks something.
    pub stopped: AtomicBool,
}

/// What the analysis found, before anything is hidden.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// All of them, those of the rule `incomplete` included.
    pub findings: Vec<Finding>,
    /// `findings` and `incomplete` in it are filled by `conclude`.
    pub summary: Summary,
    /// The names of the kernels read, qualified and alone.
    pub kernels: Vec<String>,
    pub skipped: Vec<Unread>,
    pub walked: Walked,
    /// What is called most comes first.
    pub unseen: Vec<Unseen>,
    /// A name that a header which was not found may declare; if asked for.
    pub lacking: Option<Lacking>,
    /// By `FileId`.
    pub sources: Vec<Source>,
    /// The comments of each source; those without the word `synclint` may be left out.
    pub comments: Vec<Vec<Range>>,
    /// Of functions that have findings, if asked for.
    pub charts: Vec<Chart>,
    /// Findings for which no change was sought, though changes were asked for: there are too many.
    pub unsought: usize,
    /// How long it took.
    pub stages: Stages,
}

/// A function that is called and has no body in view.
#[derive(Clone, Debug)]
pub struct Unseen {
    pub name: String,
    pub calls: usize,
    pub first: Range,
    /// Its body in the file of that call, in a branch of `#if` that is not taken.
    pub left_out: Option<Range>,
}

/// Why a run could not do its job: one line for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(pub String);

/// The road: files, items, and every kernel and every uncalled device function that may reach a barrier.
pub fn run(settings: &Settings, request: &Request, progress: &Progress) -> Result<Outcome, Error> {
    let loaded = load(settings, request)?;
    let outcome = loaded.analyse(settings, progress, &|_| true)?;
    let lacking = || Ok(lacking::first_name(&loaded, settings, request));
    let lacking = if request.tell_lacking { on_big_stacks(settings.jobs, lacking)? } else { None };
    Ok(Outcome { lacking, ..outcome })
}

/// What would be read, as reports spell it, and what would not.
pub fn files(settings: &Settings, request: &Request) -> Result<(Vec<String>, Vec<Unread>, Walked), Error> {
    let loaded = load(settings, request)?;
    let files = &loaded.tree.files;
    let mut paths: Vec<String> = files.ids().map(|id| loaded.shown(id)).collect();
    paths.sort();
    Ok((paths, loaded.skipped, loaded.walked))
}

/// Reads all, and analyses the share of one shard.
pub fn run_shard(settings: &Settings, request: &Request, progress: &Progress, shard: Shard) -> Result<Part, Error> {
    load(settings, request)?.part(settings, progress, shard)
}

/// Reads all, and takes the answers from the parts of a run of the same files: the outcome is that of `run`.
pub fn join(settings: &Settings, request: &Request, parts: Vec<Part>) -> Result<Outcome, Error> {
    let loaded = load(settings, request)?;
    let mut roots: Vec<ItemId> = loaded.roots.roots().collect();
    let of = shard::identity(settings, &loaded.tree, &loaded.options);
    let answers = shard::join(parts, &of, roots.len())?;
    on_big_stacks(settings.jobs, || {
        let mut program = loaded.program();
        let all = |_| true;
        let answers = loaded.with_missed(settings, &mut program, &Progress::default(), &all, &mut roots, answers);
        let stages = loaded.stages.clone();
        Ok(loaded
            .with_session(settings, &program, |session| loaded.outcome(settings, session, &roots, answers, stages)))
    })
}

/// Files read and indexed, and where analysis starts: what several questions can be asked of.
pub struct Loaded {
    tree: Tree,
    words: Words,
    roots: Closure,
    launches: Launches,
    /// What the files were indexed with.
    options: Options,
    names: Names,
    skipped: Vec<Unread>,
    walked: Walked,
    charts: bool,
    fixes: bool,
    every_call: bool,
    stages: Stages,
}

/// Reads, without analysing anything.
pub fn load(settings: &Settings, request: &Request) -> Result<Loaded, Error> {
    on_big_stacks(settings.jobs, || {
        let words = Words::with(&settings.words);
        let mut stages = Stages::default();
        let Read { files, options, names, skipped, walked } = read::files(settings, request, &words, &mut stages)?;
        let Request { charts, fixes, every_call, .. } = *request;
        let loaded = stages.time("functions that may reach a barrier", || Loaded::new(files, words, options));
        Ok(Loaded { names, skipped, walked, charts, fixes, every_call, stages, ..loaded })
    })
}

impl Loaded {
    fn new(files: Files, words: Words, options: Options) -> Loaded {
        let tree = Tree::new(files);
        let roots = closure::closure(&tree, &words);
        let launches = Launches::new(&tree, &roots.kernels);
        let (names, skipped, walked, stages) = Default::default();
        let (charts, fixes, every_call) = Default::default();
        Loaded { tree, words, roots, launches, options, names, skipped, walked, charts, fixes, every_call, stages }
    }

    fn program(&self) -> Program<'_> {
        Program::of(&self.tree).with_waiting_operators(self.roots.operators.clone())
    }

    /// Analyses the kernels and device functions that are `wanted`.
    pub fn analyse(
        &self,
        settings: &Settings,
        progress: &Progress,
        wanted: &(dyn Fn(ItemId) -> bool + Sync),
    ) -> Result<Outcome, Error> {
        on_big_stacks(settings.jobs, || {
            let mut stages = self.stages.clone();
            let mut program = self.program();
            let mut roots: Vec<ItemId> = self.roots.roots().filter(|item| wanted(*item)).collect();
            let answers = stages.time("analysis of kernels", || {
                let answers = self.answers(settings, &mut program, progress, &roots, analysis::root);
                self.with_missed(settings, &mut program, progress, wanted, &mut roots, answers)
            });
            Ok(self
                .with_session(settings, &program, |session| self.outcome(settings, session, &roots, answers, stages)))
        })
    }

    /// Analyses roots, some at a time, so that what they need of the program need not all be kept at once.
    fn answers(
        &self,
        settings: &Settings,
        program: &mut Program,
        progress: &Progress,
        roots: &[ItemId],
        answer: fn(&analysis::Session, ItemId) -> Answer,
    ) -> Vec<Answer> {
        let bytes: usize = self.tree.files.ids().map(|id| self.tree.files.get(id).bytes.len()).sum();
        let most = (bytes / KEPT_OF_SOURCE).max(1 << 18);
        let mut answers = Vec::with_capacity(roots.len());
        for some in roots.chunks(ROOTS_AT_ONCE * rayon::current_num_threads()) {
            answers.extend(self.with_session(settings, program, |session| {
                for_each_root(some, progress, |item| answer(session, item))
            }));
            if program.kept() > most {
                program.forget();
            }
        }
        answers
    }

    /// What the answers of some roots come to.
    fn outcome(
        &self,
        settings: &Settings,
        session: &analysis::Session,
        roots: &[ItemId],
        mut answers: Vec<Answer>,
        mut stages: Stages,
    ) -> Outcome {
        let is_drawn =
            |answer: &Answer| self.charts && answer.findings.iter().any(|finding| !finding.barrier.is_empty());
        let drawn: Vec<ItemId> =
            roots.iter().zip(&answers).filter(|(_, answer)| is_drawn(answer)).map(|(root, _)| *root).collect();
        let charts: Vec<Option<Chart>> = stages.time("pictures of control flow", || {
            drawn.par_iter().map(|root| analysis::chart(session, *root)).collect()
        });
        let charts = charts.into_iter().flatten().filter_map(|mut chart| {
            chart.name_files(&|file| self.shown(file));
            chart.simplify().then_some(chart)
        });
        let mut unsought = 0;
        if self.fixes {
            unsought =
                stages.time("proof of changes", || fixes::offer(settings, session, &self.options, roots, &mut answers));
        }
        Outcome {
            charts: charts.collect(),
            skipped: self.skipped.clone(),
            walked: self.walked.clone(),
            unsought,
            stages,
            ..outcome(&self.tree, &self.roots, &self.names, answers)
        }
    }

    /// Adds device functions with a barrier that are named by others, though no call of theirs led there: one of several
    /// overloads, a pointer, a method of an open template argument. Each is analysed as if nothing called it; since it
    /// may well be called with more in view than that, only what is certain counts.
    fn with_missed(
        &self,
        settings: &Settings,
        program: &mut Program,
        progress: &Progress,
        wanted: &(dyn Fn(ItemId) -> bool + Sync),
        roots: &mut Vec<ItemId>,
        mut answers: Vec<Answer>,
    ) -> Vec<Answer> {
        let followed: FxHashSet<ItemId> = answers.iter().flat_map(|answer| &answer.followed).copied().collect();
        let missed: Vec<ItemId> =
            self.roots.holding.iter().copied().filter(|item| !followed.contains(item) && wanted(*item)).collect();
        let of_missed = self.answers(settings, program, progress, &missed, analysis::root);
        // What another of them calls is judged there; of those that call each other the first stays.
        let mut by_other: FxHashSet<ItemId> = FxHashSet::default();
        for (item, answer) in missed.iter().zip(&of_missed) {
            if !by_other.contains(item) {
                by_other.extend(answer.followed.iter().filter(|other| *other != item));
            }
        }
        for (item, mut answer) in missed.into_iter().zip(of_missed).filter(|(item, _)| !by_other.contains(item)) {
            answer.findings.retain(|finding| finding.severity != Severity::Warning);
            roots.push(item);
            answers.push(answer);
        }
        if self.every_call {
            let without = &self.roots.kernels_without;
            let without: Vec<ItemId> = without.iter().copied().filter(|item| wanted(*item)).collect();
            answers.extend(self.answers(settings, program, progress, &without, analysis::unseen_calls));
            roots.extend(without);
        }
        answers
    }

    /// Analyses the kernels and device functions of one shard.
    fn part(&self, settings: &Settings, progress: &Progress, shard: Shard) -> Result<Part, Error> {
        let wanted = |item: ItemId| shard.holds(&self.tree, item);
        on_big_stacks(settings.jobs, || {
            let (places, roots): (Vec<usize>, Vec<ItemId>) =
                self.roots.roots().enumerate().filter(|(_, item)| wanted(*item)).unzip();
            let mut program = self.program();
            let answers = self.answers(settings, &mut program, progress, &roots, analysis::root);
            let of = shard::identity(settings, &self.tree, &self.options);
            Ok(Part::new(shard, of, places.into_iter().zip(answers).collect()))
        })
    }

    /// The file that goes by this path.
    pub fn file(&self, path: &Path) -> Option<FileId> {
        let files = &self.tree.files;
        let spelled = self.names.spell(path);
        let exact = files.ids().find(|id| files.get(*id).path == spelled);
        exact.or_else(|| {
            let name = path.file_name();
            let path = std::fs::canonicalize(path).ok()?;
            let is_it = |id: &FileId| {
                let other = Path::new(&files.get(*id).path);
                other.file_name() == name && std::fs::canonicalize(other).is_ok_and(|other| other == path)
            };
            files.ids().find(is_it)
        })
    }

    /// Why a file that goes by this path was not read.
    fn why_not(&self, settings: &Settings, path: &Path) -> String {
        let is_it = |other: &Unread| std::path::absolute(&other.path).ok() == std::path::absolute(path).ok();
        match self.skipped.iter().find(|other| is_it(other)) {
            Some(unread) => unread.why.clone(),
            None if settings.exclude.matches(path) => "it is excluded by the settings".to_string(),
            None => "it is not among the files read".to_string(),
        }
    }

    /// Whether what is found from a kernel or device function may have to do with a file: the one sees the other.
    pub fn concerns(&self, root: ItemId, file: FileId) -> bool {
        let own = self.tree.item(root).file;
        self.tree.files.sees(own, file)
            || self.tree.sees(file, root)
            || self.tree.items_of(file).any(|item| self.tree.sees(own, item))
    }

    /// A file's path as reports spell it.
    pub fn shown(&self, file: FileId) -> String {
        self.names.shown(&self.tree.files.get(file).path)
    }

    pub fn bytes(&self, file: FileId) -> &[u8] {
        &self.tree.files.get(file).bytes
    }

    /// All files: paths and bytes.
    pub fn sources(&self) -> Vec<Source> {
        let files = &self.tree.files;
        let source = |id: FileId| Source { path: self.shown(id), bytes: files.get(id).bytes.to_vec() };
        files.ids().map(source).collect()
    }

    /// The path of each file, without its bytes.
    pub fn paths(&self) -> Vec<&str> {
        self.tree.files.ids().map(|id| self.tree.files.get(id).path.as_str()).collect()
    }

    /// Explains the barriers, and the calls that lead to one, at places that are `wanted`.
    pub fn why(
        &self,
        settings: &Settings,
        progress: &Progress,
        file: FileId,
        roots: &(dyn Fn(ItemId) -> bool + Sync),
        wanted: &(dyn Fn(Range) -> bool + Sync),
    ) -> Result<Vec<Explanation>, Error> {
        self.with_program(settings, |session| {
            let explain = |items: Vec<ItemId>| {
                without_repeats(for_each_root(&items, progress, |item| analysis::why(session, item, wanted)))
            };
            let found = explain(self.roots.roots().filter(|item| roots(*item)).collect());
            if !found.is_empty() || self.barrier_named(wanted, file).is_none() {
                return found;
            }
            // It may be in a function that others name and none leads to.
            let here = |item: &ItemId| self.tree.item(*item).file == file;
            explain(self.roots.holding.iter().copied().filter(here).collect())
        })
    }

    /// A barrier's name among the words that are `wanted`: its code may be left out of what is analysed.
    fn barrier_named(&self, wanted: &(dyn Fn(Range) -> bool + Sync), file: FileId) -> Option<String> {
        let source = self.tree.files.get(file);
        let is_barrier = |name: &str| self.words.barrier(name).iter().any(|row| row.on.is_empty());
        source.tokens.iter().find_map(|token| {
            let name = std::str::from_utf8(token.bytes(&source.bytes)).ok().filter(|name| is_barrier(name))?;
            let range = Range { file, start: token.start(), end: token.start() + name.len() as u32 };
            wanted(range).then(|| name.to_string())
        })
    }

    /// How far threads agree on the value of what stands at `place`, and why: once for each kernel and each answer.
    pub fn values(
        &self,
        settings: &Settings,
        progress: &Progress,
        place: Range,
        standing: Standing,
    ) -> Result<Vec<ValueExplanation>, Error> {
        self.with_program(settings, |session| {
            let roots = |item: ItemId| self.concerns(item, place.file);
            let roots: Vec<ItemId> = self.roots.roots().filter(|item| roots(*item)).collect();
            without_repeats(for_each_root(&roots, progress, |item| analysis::values(session, item, place, standing)))
        })
    }

    fn with_program<T: Send>(
        &self,
        settings: &Settings,
        work: impl FnOnce(&analysis::Session) -> T + Send,
    ) -> Result<T, Error> {
        on_big_stacks(settings.jobs, || Ok(self.with_session(settings, &self.program(), work)))
    }

    fn with_session<T>(&self, settings: &Settings, program: &Program, work: impl FnOnce(&analysis::Session) -> T) -> T {
        let known = |name: &str| settings.kernel(name).map(|kernel| (kernel.block, kernel.cluster));
        work(&analysis::Session {
            tree: &self.tree,
            program,
            words: &self.words,
            launches: &self.launches,
            policy: Policy { exited_may_be_missing: settings.exited_threads == ExitedThreads::MayExit },
            known_blocks: &known,
        })
    }
}

// ---------------------------------------------------------------- the work

/// Roots that a thread analyses before what was lowered for them may be forgotten.
const ROOTS_AT_ONCE: usize = 16;

/// Text that is lowered is kept up to this part of the source, and what of it was just used. A byte takes about thirty of memory.
const KEPT_OF_SOURCE: usize = 2;

fn without_repeats<T: PartialEq>(found: Vec<Vec<T>>) -> Vec<T> {
    let mut kept: Vec<T> = Vec::new();
    for each in found.into_iter().flatten() {
        if !kept.contains(&each) {
            kept.push(each);
        }
    }
    kept
}

/// Why each barrier on a line is safe or not.
#[derive(Debug, Default)]
pub struct Explained {
    pub explanations: Vec<Explanation>,
    /// By `FileId`.
    pub sources: Vec<Source>,
    /// Why the file is not among those read.
    pub missing: Option<String>,
    /// A barrier's name on the line where no barrier is analysed.
    pub never_runs: Option<String>,
    /// The lines of the file that hold a barrier, or a call that leads to one.
    pub elsewhere: Vec<u32>,
}

/// Explains the barriers, and the calls that lead to one, on a line (from 1) of a file.
pub fn why(
    settings: &Settings,
    request: &Request,
    progress: &Progress,
    path: &Path,
    line: u32,
) -> Result<Explained, Error> {
    let loaded = load(settings, request)?;
    let Some(file) = loaded.file(path) else {
        return Ok(Explained { missing: Some(loaded.why_not(settings, path)), ..Explained::default() });
    };
    let lines = LineIndex::new(loaded.bytes(file));
    let wanted = |range: Range| {
        let last = range.end.saturating_sub(1).max(range.start);
        range.file == file && (lines.place(range.start).line..=lines.place(last).line).contains(&line)
    };
    let asked = Mutex::new(BTreeSet::new());
    let noted = |range: Range| {
        if range.file == file
            && let Ok(mut asked) = asked.lock()
        {
            asked.insert(lines.place(range.start).line);
        }
        wanted(range)
    };
    let explanations = loaded.why(settings, progress, file, &|_| true, &noted)?;
    let elsewhere = asked.into_inner().unwrap_or_default().into_iter().collect();
    let named = if explanations.is_empty() { loaded.barrier_named(&wanted, file) } else { None };
    Ok(Explained { explanations, sources: loaded.sources(), missing: None, never_runs: named, elsewhere })
}

/// In parallel, the results in order.
fn for_each_root<T: Send + Default>(
    roots: &[ItemId],
    progress: &Progress,
    work: impl Fn(ItemId) -> T + Sync,
) -> Vec<T> {
    progress.total.fetch_add(roots.len(), Ordering::Relaxed);
    roots
        .par_iter()
        .map(|item| {
            let stopped = progress.stopped.load(Ordering::Relaxed);
            let answer = if stopped { T::default() } else { work(*item) };
            progress.done.fetch_add(1, Ordering::Relaxed);
            answer
        })
        .collect()
}

/// Runs `work` on threads whose stacks are deep enough for the nesting that lowering lets through.
fn on_big_stacks<T: Send>(jobs: Option<usize>, work: impl FnOnce() -> Result<T, Error> + Send) -> Result<T, Error> {
    const STACK: usize = 256 << 20;
    /// More threads than this for each core only wait for each other.
    const PER_CORE: usize = 8;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = jobs.unwrap_or(0).min(cores * PER_CORE);
    let pool = rayon::ThreadPoolBuilder::new().stack_size(STACK).num_threads(threads).build();
    match pool {
        Ok(pool) => pool.install(work),
        Err(error) => Err(Error(format!("cannot start threads: {error}"))),
    }
}

fn outcome(tree: &Tree, roots: &Closure, names: &Names, answers: Vec<Answer>) -> Outcome {
    let mut findings: Vec<Finding> = Vec::new();
    let mut barriers: FxHashSet<Range> = FxHashSet::default();
    let mut followed: FxHashSet<ItemId> = FxHashSet::default();
    let mut calls: FxHashSet<(String, Range)> = FxHashSet::default();
    let mut known = FxHashSet::default();
    for answer in answers {
        // One line, one cause: one finding, however many callers.
        findings.extend(answer.findings.into_iter().filter(|finding| known.insert(cause(finding))));
        barriers.extend(answer.barriers);
        followed.extend(answer.followed);
        calls.extend(answer.unseen);
    }
    findings.extend(tree.lost.iter().map(|(at, is_kernel)| analysis::lost(*at, *is_kernel)));
    let is_function = |item: &&ItemId| tree.item(**item).function().is_some();
    let device_functions = followed.iter().filter(is_function).filter(|item| !tree.item(**item).is_kernel()).count();
    let unseen = by_name(tree, calls);
    let shown: FxHashSet<FileId> = findings
        .iter()
        .flat_map(|finding| {
            finding.story.iter().chain(&finding.related).map(|note| note.at.file).chain([finding.at.file])
        })
        .chain(unseen.iter().map(|unseen| unseen.first.file))
        .collect();
    let mut sources = Vec::new();
    let mut comments = Vec::new();
    for id in tree.files.ids() {
        let file = tree.files.get(id);
        let remarks: Vec<Range> = file
            .comments
            .iter()
            .filter(|(start, end)| find_any_case(&file.bytes[*start as usize..*end as usize], b"synclint").is_some())
            .map(|(start, end)| Range { file: id, start: *start, end: *end })
            .collect();
        let bytes = if shown.contains(&id) || !remarks.is_empty() { file.bytes.to_vec() } else { Vec::new() };
        sources.push(Source { path: names.shown(&file.path), bytes });
        comments.push(remarks);
    }
    let summary = Summary {
        files: tree.files.ids().count(),
        bytes: tree.files.ids().map(|id| tree.files.get(id).size).sum(),
        kernels: roots.kernels.len() + roots.kernels_without.len(),
        device_functions,
        barriers: barriers.len(),
        findings: 0,
        incomplete: 0,
    };
    let kernels = tree.ids().map(|id| tree.item(id)).filter(|item| item.is_kernel());
    let mut kernels: Vec<String> = kernels.flat_map(|item| [item.name.to_string(), item.qualified_name()]).collect();
    kernels.sort_unstable();
    kernels.dedup();
    Outcome { findings, summary, kernels, sources, comments, unseen, ..Outcome::default() }
}

/// Names with how often each is called and where first; what is called most comes first.
fn by_name(tree: &Tree, calls: FxHashSet<(String, Range)>) -> Vec<Unseen> {
    let mut calls: Vec<(String, Range)> = calls.into_iter().collect();
    calls.sort();
    let of_name = |calls: &[(String, Range)]| {
        let (name, first) = calls[0].clone();
        let left_out = tree.left_out(first.file, name.rsplit("::").next().unwrap_or(&name));
        Unseen { name, calls: calls.len(), first, left_out }
    };
    let mut names: Vec<Unseen> = calls.chunk_by(|a, b| a.0 == b.0).map(of_name).collect();
    names.sort_by(|a, b| b.calls.cmp(&a.calls).then_with(|| a.name.cmp(&b.name)));
    names
}

/// What makes a finding one: place, rule, and the last branch of its story.
fn cause(finding: &Finding) -> (Range, &'static str, Option<Range>) {
    let branch = finding.story.iter().rev().find(|note| note.role == Role::Branch).map(|note| note.at);
    (finding.at, finding.rule.name, branch)
}
