//! One run: what to read -> what is found, and from that what is to be reported.
//!
//! `run` reads and analyses; `conclude` takes out what the settings, comments in the source and the baseline hide.
//! Nothing here prints.

mod fixes;
mod read;
mod shard;
mod stages;

use crate::analysis::{self, Answer, Standing};
use crate::baseline::{self, Baseline, Marked};
use crate::chart::Chart;
use crate::checks::Policy;
use crate::checks::why::{Explanation, ValueExplanation};
use crate::finding::{Finding, Role, Summary};
use crate::graph::ItemId;
use crate::inline::Program;
use crate::rules;
use crate::settings::{ExitedThreads, Repository, Settings};
use crate::source::closure::{self, Closure};
use crate::source::index::{Files, Options};
use crate::source::launch::Launches;
use crate::source::tree::Tree;
use crate::suppress;
use crate::text::{FileId, LineIndex, Range, Source};
use crate::words::Words;
use rayon::prelude::*;
use read::Read;
use rustc_hash::FxHashSet;
use std::path::{Path, PathBuf};
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
    /// The names of the kernels read.
    pub kernels: Vec<String>,
    /// Files that were not read, and why.
    pub skipped: Vec<(String, String)>,
    /// By `FileId`.
    pub sources: Vec<Source>,
    /// The comments of each source; those without the word `synclint` may be left out.
    pub comments: Vec<Vec<Range>>,
    /// Of functions that have findings, if asked for.
    pub charts: Vec<Chart>,
    /// How long it took.
    pub stages: Stages,
}

/// Why a run could not do its job: one line for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(pub String);

/// Reads and analyses.
pub fn run(settings: &Settings, request: &Request, progress: &Progress) -> Result<Outcome, Error> {
    for path in &request.read {
        if let Err(error) = std::fs::metadata(path) {
            return Err(Error(format!("{}: {}", path.display(), crate::settings::reason(&error))));
        }
    }
    analyse(settings, request, progress)
}

/// The road: files, items, and every kernel and every uncalled device function that may reach a barrier.
fn analyse(settings: &Settings, request: &Request, progress: &Progress) -> Result<Outcome, Error> {
    load(settings, request)?.analyse(settings, progress, &|_| true)
}

/// Reads all, and analyses the share of one shard.
pub fn run_shard(settings: &Settings, request: &Request, progress: &Progress, shard: Shard) -> Result<Part, Error> {
    load(settings, request)?.part(settings, progress, shard)
}

/// Reads all, and takes the answers from the parts of a run of the same files: the outcome is that of `run`.
pub fn join(settings: &Settings, request: &Request, parts: Vec<Part>) -> Result<Outcome, Error> {
    let loaded = load(settings, request)?;
    let roots: Vec<ItemId> = loaded.roots.roots().collect();
    let of = shard::identity(settings, &loaded.tree, &loaded.options);
    let answers = shard::join(parts, &of, roots.len())?;
    let stages = loaded.stages.clone();
    loaded.with_program(settings, |session| loaded.outcome(settings, session, &roots, answers, stages))
}

/// Files read and indexed, and where analysis starts: what several questions can be asked of.
pub struct Loaded {
    tree: Tree,
    words: Words,
    roots: Closure,
    launches: Launches,
    /// What the files were indexed with.
    options: Options,
    skipped: Vec<(String, String)>,
    charts: bool,
    fixes: bool,
    stages: Stages,
}

/// Reads, without analysing anything.
pub fn load(settings: &Settings, request: &Request) -> Result<Loaded, Error> {
    on_big_stacks(settings.jobs, || {
        let words = Words::with(&settings.words);
        let mut stages = Stages::default();
        let Read { files, options, skipped } = read::files(settings, request, &words, &mut stages)?;
        let (charts, fixes) = (request.charts, request.fixes);
        let loaded = stages.time("items, and what reaches a barrier", || Loaded::new(files, words, options));
        Ok(Loaded { skipped, charts, fixes, stages, ..loaded })
    })
}

impl Loaded {
    fn new(files: Files, words: Words, options: Options) -> Loaded {
        let tree = Tree::new(files);
        let roots = closure::closure(&tree, &words);
        let launches = Launches::new(&tree, &roots.kernels);
        let (skipped, stages) = Default::default();
        Loaded { tree, words, roots, launches, options, skipped, charts: false, fixes: false, stages }
    }

    /// Analyses the kernels and device functions that are `wanted`.
    pub fn analyse(
        &self,
        settings: &Settings,
        progress: &Progress,
        wanted: &(dyn Fn(ItemId) -> bool + Sync),
    ) -> Result<Outcome, Error> {
        self.with_program(settings, |session| {
            let mut stages = self.stages.clone();
            let answers = stages.time("analysis", || {
                for_each_root(&self.roots, progress, wanted, |item| analysis::root(session, item))
            });
            let roots: Vec<ItemId> = self.roots.roots().filter(|item| wanted(*item)).collect();
            self.outcome(settings, session, &roots, answers, stages)
        })
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
        let charts: Vec<Option<Chart>> =
            stages.time("charts", || drawn.par_iter().map(|root| analysis::chart(session, *root)).collect());
        let charts = charts.into_iter().flatten().filter_map(|mut chart| chart.simplify().then_some(chart));
        if self.fixes {
            stages.time("changes", || fixes::offer(settings, session, &self.options, roots, &mut answers));
        }
        Outcome { charts: charts.collect(), stages, ..outcome(&self.tree, &self.roots, answers, self.skipped.clone()) }
    }

    /// Analyses the kernels and device functions of one shard.
    fn part(&self, settings: &Settings, progress: &Progress, shard: Shard) -> Result<Part, Error> {
        let wanted = |item: ItemId| shard.holds(&self.tree, item);
        self.with_program(settings, |session| {
            let answers = for_each_root(&self.roots, progress, &wanted, |item| analysis::root(session, item));
            let places = self.roots.roots().enumerate().filter(|(_, item)| wanted(*item)).map(|(at, _)| at);
            let of = shard::identity(settings, &self.tree, &self.options);
            Part::new(shard, of, places.zip(answers).collect())
        })
    }

    /// The file that goes by this path.
    pub fn file(&self, path: &Path) -> Option<FileId> {
        let files = &self.tree.files;
        let exact = files.ids().find(|id| Path::new(&files.get(*id).path) == path);
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

    /// Whether what is found from a kernel or device function may have to do with a file: the one sees the other.
    pub fn concerns(&self, root: ItemId, file: FileId) -> bool {
        let own = self.tree.item(root).file;
        self.tree.files.sees(own, file)
            || self.tree.sees(file, root)
            || self.tree.items_of(file).any(|item| self.tree.sees(own, item))
    }

    pub fn bytes(&self, file: FileId) -> &[u8] {
        &self.tree.files.get(file).bytes
    }

    /// All files: paths and bytes.
    pub fn sources(&self) -> Vec<Source> {
        let files = &self.tree.files;
        let source = |id: FileId| Source { path: files.get(id).path.clone(), bytes: files.get(id).bytes.to_vec() };
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
        roots: &(dyn Fn(ItemId) -> bool + Sync),
        wanted: &(dyn Fn(Range) -> bool + Sync),
    ) -> Result<Vec<Explanation>, Error> {
        self.with_program(settings, |session| {
            let found = for_each_root(&self.roots, progress, roots, |item| analysis::why(session, item, wanted));
            without_repeats(found)
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
            let found =
                for_each_root(&self.roots, progress, &roots, |item| analysis::values(session, item, place, standing));
            without_repeats(found)
        })
    }

    fn with_program<T: Send>(
        &self,
        settings: &Settings,
        work: impl FnOnce(&analysis::Session) -> T + Send,
    ) -> Result<T, Error> {
        on_big_stacks(settings.jobs, || Ok(self.with_session(settings, work)))
    }

    fn with_session<T>(&self, settings: &Settings, work: impl FnOnce(&analysis::Session) -> T) -> T {
        let program = Program::of(&self.tree);
        let known = |name: &str| settings.kernels.get(name).map(|kernel| (kernel.block, kernel.cluster));
        work(&analysis::Session {
            tree: &self.tree,
            program: &program,
            words: &self.words,
            launches: &self.launches,
            policy: Policy { exited_may_be_missing: settings.exited_threads == ExitedThreads::MayExit },
            known_blocks: &known,
        })
    }
}

// ---------------------------------------------------------------- charts

/// What a file holds that could be drawn, and the chart of what was asked for.
#[derive(Debug, Default)]
pub struct Drawn {
    /// Kernels and uncalled device functions with a body in the file, with their lines, in order.
    pub functions: Vec<(String, u32)>,
    /// Those that were meant, indices into `functions`.
    pub meant: Vec<usize>,
    /// The chart of the first of them, simplified. `Err`: how many blocks it has, too many.
    pub chart: Option<Result<Chart, usize>>,
    /// The file is among those read.
    pub found: bool,
}

/// Draws the function of a name in a file; without a name the only one there is.
pub fn graph(settings: &Settings, request: &Request, path: &Path, name: Option<&str>) -> Result<Drawn, Error> {
    let loaded = load(settings, request)?;
    let Some(file) = loaded.file(path) else { return Ok(Drawn::default()) };
    let (tree, roots) = (&loaded.tree, &loaded.roots);
    loaded.with_program(settings, |session| {
        let lines = LineIndex::new(loaded.bytes(file));
        let drawable = |item: &ItemId| {
            tree.item(*item).is_definition() && (tree.item(*item).is_kernel() || roots.devices.contains(item))
        };
        let items: Vec<ItemId> = tree.items_of(file).filter(drawable).collect();
        let line = |item: ItemId| lines.place(analysis::name_range(session, item).start).line;
        let functions: Vec<(String, u32)> =
            items.iter().map(|item| (tree.item(*item).qualified_name(), line(*item))).collect();
        let meant: Vec<usize> = match name {
            Some(name) => (0..items.len()).filter(|index| is_meant(name, &functions[*index])).collect(),
            // A device function nobody calls is more likely to be somebody else's business.
            None => match (0..items.len()).filter(|index| tree.item(items[*index]).is_kernel()).collect::<Vec<_>>() {
                kernels if kernels.is_empty() && items.len() == 1 => vec![0],
                kernels if kernels.len() == 1 => kernels,
                _ => Vec::new(),
            },
        };
        let chart = meant.first().map(|index| match analysis::chart(session, items[*index]) {
            None => Err(0),
            Some(mut chart) => {
                if chart.simplify() {
                    Ok(chart)
                } else {
                    Err(chart.blocks)
                }
            }
        });
        Drawn { functions, meant, chart, found: true }
    })
}

/// `reduce`, `ns::reduce`, `reduce:42`
fn is_meant(name: &str, (known, line): &(String, u32)) -> bool {
    let (name, at) = match name.rsplit_once(':') {
        Some((name, at)) if !name.ends_with(':') && at.parse::<u32>().is_ok() => (name, at.parse().ok()),
        _ => (name, None),
    };
    let same = known == name || known.strip_suffix(name).is_some_and(|scope| scope.ends_with("::"));
    same && at.is_none_or(|at: u32| at == *line)
}

// ---------------------------------------------------------------- the work

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
    /// The file is among those read.
    pub found: bool,
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
    let Some(file) = loaded.file(path) else { return Ok(Explained::default()) };
    let lines = LineIndex::new(loaded.bytes(file));
    let wanted = |range: Range| {
        let last = range.end.saturating_sub(1).max(range.start);
        range.file == file && (lines.place(range.start).line..=lines.place(last).line).contains(&line)
    };
    let explanations = loaded.why(settings, progress, &|_| true, &wanted)?;
    Ok(Explained { explanations, sources: loaded.sources(), found: true })
}

/// In parallel, the results in order.
fn for_each_root<T: Send + Default>(
    roots: &Closure,
    progress: &Progress,
    wanted: &(dyn Fn(ItemId) -> bool + Sync),
    work: impl Fn(ItemId) -> T + Sync,
) -> Vec<T> {
    let items: Vec<ItemId> = roots.roots().filter(|item| wanted(*item)).collect();
    progress.total.store(items.len(), Ordering::Relaxed);
    items
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
    let pool = rayon::ThreadPoolBuilder::new().stack_size(STACK).num_threads(jobs.unwrap_or(0)).build();
    match pool {
        Ok(pool) => pool.install(work),
        Err(error) => Err(Error(format!("cannot start threads: {error}"))),
    }
}

fn outcome(tree: &Tree, roots: &Closure, answers: Vec<Answer>, skipped: Vec<(String, String)>) -> Outcome {
    let mut findings: Vec<Finding> = Vec::new();
    let mut barriers: FxHashSet<Range> = FxHashSet::default();
    let mut followed: FxHashSet<ItemId> = FxHashSet::default();
    let mut known = FxHashSet::default();
    for answer in answers {
        // One line, one cause: one finding, however many callers.
        findings.extend(answer.findings.into_iter().filter(|finding| known.insert(cause(finding))));
        barriers.extend(answer.barriers);
        followed.extend(answer.followed);
    }
    let is_function = |item: &&ItemId| tree.item(**item).function().is_some();
    let device_functions = followed.iter().filter(is_function).filter(|item| !tree.item(**item).is_kernel()).count();
    let files: FxHashSet<FileId> = followed.iter().map(|item| tree.item(*item).file).collect();
    let shown: FxHashSet<FileId> = findings
        .iter()
        .flat_map(|finding| {
            finding.story.iter().chain(&finding.related).map(|note| note.at.file).chain([finding.at.file])
        })
        .collect();
    let mut sources = Vec::new();
    let mut comments = Vec::new();
    for id in tree.files.ids() {
        let file = tree.files.get(id);
        let remarks: Vec<Range> = file
            .comments
            .iter()
            .filter(|(start, end)| {
                memchr::memmem::find(&file.bytes[*start as usize..*end as usize], b"synclint").is_some()
            })
            .map(|(start, end)| Range { file: id, start: *start, end: *end })
            .collect();
        let bytes = if shown.contains(&id) || !remarks.is_empty() { file.bytes.to_vec() } else { Vec::new() };
        sources.push(Source { path: file.path.clone(), bytes });
        comments.push(remarks);
    }
    let summary = Summary {
        files: tree.files.ids().count(),
        bytes: tree.files.ids().map(|id| tree.files.get(id).size).sum(),
        kernels: roots.kernels.len() + roots.kernels_without,
        device_functions,
        barriers: barriers.len(),
        findings: 0,
        incomplete: 0,
    };
    let _ = files;
    let kernels = tree.ids().map(|id| tree.item(id)).filter(|item| item.is_kernel());
    let mut kernels: Vec<String> = kernels.map(|item| item.name.to_string()).collect();
    kernels.sort_unstable();
    kernels.dedup();
    let (charts, stages) = Default::default();
    Outcome { findings, summary, kernels, skipped, sources, comments, charts, stages }
}

/// What makes a finding one: place, rule, and the last branch of its story.
fn cause(finding: &Finding) -> (Range, &'static str, Option<Range>) {
    let branch = finding.story.iter().rev().find(|note| note.role == Role::Branch).map(|note| note.at);
    (finding.at, finding.rule.name, branch)
}

/// What is to be reported.
#[derive(Debug, Default)]
pub struct Conclusion {
    /// By file and place.
    pub findings: Vec<Marked>,
    pub summary: Summary,
    /// Hidden by comments.
    pub suppressed: usize,
    /// Hidden by the baseline.
    pub known: usize,
    /// Entries of the baseline that fit no finding any more, a line for each.
    pub stale: Vec<String>,
}

/// Applies levels, comments, the paths asked for, and the baseline.
pub fn conclude(
    outcome: &mut Outcome,
    settings: &Settings,
    only: Option<&[PathBuf]>,
    baseline: &Baseline,
    repository: &Repository,
) -> Conclusion {
    let Outcome { findings, sources, comments, .. } = outcome;
    let repository_path = |path: &str| repository.path(path);
    let path_of = |range: Range| sources.get(range.file.0 as usize).map_or(Path::new(""), |it| Path::new(&it.path));

    let mut findings = std::mem::take(findings);
    findings.sort_by(|a, b| (path_of(a.at), a.at, a.rule.name).cmp(&(path_of(b.at), b.at, b.rule.name)));
    let mut marked = baseline::mark(findings, sources, &repository_path);
    marked.retain_mut(|Marked { finding, .. }| {
        let level = settings.severity(finding.rule, finding.severity, path_of(finding.at));
        finding.severity = level.unwrap_or(finding.severity);
        level.is_some()
    });

    let suppressed =
        suppress::apply(marked, |it| &it.finding, sources, comments, |rule| settings.judges_suppressions_of(rule));
    let mut unused = suppressed.unused;
    unused.retain_mut(|finding| {
        let level = settings.severity(finding.rule, finding.severity, path_of(finding.at));
        finding.severity = level.unwrap_or(finding.severity);
        level.is_some()
    });
    let mut marked = suppressed.kept;
    marked.extend(baseline::mark(unused, sources, &repository_path));

    let scope = Scope::new(only, settings);
    let reported = |finding: &Finding| scope.reports(finding, &path_of);
    marked.retain(|it| reported(&it.finding));
    let suppressed = suppressed.hidden.iter().filter(|it| reported(&it.finding)).count();
    let checked: rustc_hash::FxHashSet<String> = match baseline.is_empty() {
        true => Default::default(),
        false => {
            let paths = sources.iter().map(|source| Path::new(&source.path));
            paths.filter(|path| scope.holds(path)).map(|path| repository_path(&path.to_string_lossy())).collect()
        }
    };
    let (mut marked, known, stale) = baseline.subtract(marked, &|path| checked.contains(path));
    marked.sort_by(|a, b| (path_of(a.finding.at), a.finding.at).cmp(&(path_of(b.finding.at), b.finding.at)));

    let incomplete = marked.iter().filter(|it| it.finding.rule.name == rules::INCOMPLETE.name).count();
    let summary = Summary { findings: marked.len() - incomplete, incomplete, ..outcome.summary.clone() };
    Conclusion { findings: marked, summary, suppressed, known, stale }
}

/// Which findings are asked for.
struct Scope<'a> {
    only: Option<Vec<PathBuf>>,
    settings: &'a Settings,
}

impl<'a> Scope<'a> {
    fn new(only: Option<&[PathBuf]>, settings: &'a Settings) -> Scope<'a> {
        let canonical = |path: &PathBuf| std::fs::canonicalize(path).unwrap_or_else(|_| path.clone());
        Scope { only: only.map(|paths| paths.iter().map(canonical).collect()), settings }
    }

    /// A place of the finding lies in a path asked for, and the finding is not about somebody else's code.
    fn reports<'b>(&self, finding: &Finding, path_of: &dyn Fn(Range) -> &'b Path) -> bool {
        if self.settings.third_party.matches(path_of(finding.at)) {
            return false;
        }
        let notes = finding.story.iter().chain(&finding.related).map(|note| note.at);
        self.only.is_none() || std::iter::once(finding.at).chain(notes).any(|at| self.holds(path_of(at)))
    }

    fn holds(&self, path: &Path) -> bool {
        let Some(only) = &self.only else { return true };
        let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        only.iter().any(|wanted| path.starts_with(wanted))
    }
}
