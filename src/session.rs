//! One run: what to read -> what is found, and from that what is to be reported.
//!
//! `run` reads and analyses; `conclude` takes out what the settings, comments in the source and the baseline hide.
//! Nothing here prints.

mod fixes;
mod read;

use crate::analysis::{self, Answer};
use crate::baseline::{self, Baseline, Marked};
use crate::chart::Chart;
use crate::checks::{Policy, why::Explanation};
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
use std::sync::atomic::{AtomicUsize, Ordering};

/// What a run is asked for.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Files and folders to read, as the user named them; a file that is reached twice goes by its first name.
    pub read: Vec<PathBuf>,
    /// Report only findings of which a place lies in one of these. `None`: all.
    pub only: Option<Vec<PathBuf>>,
    /// A file's text that does not stand on the disk (yet), under the name it is to have.
    pub stdin: Option<(PathBuf, Vec<u8>)>,
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
    with_program(settings, request, |session, roots, extras| {
        let answers = for_each_root(roots, progress, |item| {
            let answer = analysis::root(session, item);
            let is_drawn = request.charts && answer.findings.iter().any(|finding| !finding.barrier.is_empty());
            (answer, is_drawn.then(|| analysis::chart(session, item)).flatten())
        });
        let (mut answers, charts): (Vec<Answer>, Vec<Option<Chart>>) = answers.into_iter().unzip();
        let charts = charts.into_iter().flatten().filter_map(|mut chart| chart.simplify().then_some(chart));
        if request.fixes {
            fixes::offer(settings, session, &extras.options, roots, &mut answers);
        }
        Outcome { charts: charts.collect(), ..outcome(session.tree, roots, answers, extras.skipped) }
    })
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
    with_program(settings, request, |session, roots, _| {
        let files = &session.tree.files;
        let Some(file) = file_of(session.tree, path) else { return Explained::default() };
        let lines = LineIndex::new(&files.get(file).bytes);
        let wanted = |range: Range| {
            let last = range.end.saturating_sub(1).max(range.start);
            range.file == file && (lines.place(range.start).line..=lines.place(last).line).contains(&line)
        };
        let found = for_each_root(roots, progress, |item| analysis::why(session, item, &wanted));
        let mut explanations: Vec<Explanation> = Vec::new();
        for explanation in found.into_iter().flatten() {
            if !explanations.contains(&explanation) {
                explanations.push(explanation);
            }
        }
        let source = |id: FileId| Source { path: files.get(id).path.clone(), bytes: files.get(id).bytes.to_vec() };
        Explained { explanations, sources: files.ids().map(source).collect(), found: true }
    })
}

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
    with_program(settings, request, |session, roots, _| {
        let tree = session.tree;
        let Some(file) = file_of(tree, path) else { return Drawn::default() };
        let lines = LineIndex::new(&tree.files.get(file).bytes);
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

/// The file of a path among those read.
fn file_of(tree: &Tree, path: &Path) -> Option<FileId> {
    let wanted = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    tree.files.ids().find(|id| {
        let path = Path::new(&tree.files.get(*id).path);
        std::fs::canonicalize(path).map_or(path == wanted, |path| path == wanted)
    })
}

/// Reads what is asked for, and hands it over in the form that the analysis takes.
fn with_program<T: Send>(
    settings: &Settings,
    request: &Request,
    work: impl FnOnce(&analysis::Session, &Closure, Extras) -> T + Send,
) -> Result<T, Error> {
    on_big_stacks(settings.jobs, || {
        let Read { files, options, skipped } = read::files(settings, request)?;
        let extras = Extras { options, skipped };
        Ok(with_files(settings, files, |session, roots| work(session, roots, extras)))
    })
}

/// What reading gave beside the files.
struct Extras {
    options: Options,
    skipped: Vec<(String, String)>,
}

fn with_files<T>(settings: &Settings, files: Files, work: impl FnOnce(&analysis::Session, &Closure) -> T) -> T {
    let words = Words::with(&settings.words);
    let tree = Tree::new(files);
    let roots = closure::closure(&tree, &words);
    let program = Program::of(&tree);
    let launches = Launches::new(&tree, &roots.kernels);
    let known_blocks = |name: &str| settings.kernels.get(name).and_then(|kernel| kernel.block);
    let session = analysis::Session {
        tree: &tree,
        program: &program,
        words: &words,
        launches: &launches,
        policy: Policy { exited_may_be_missing: settings.exited_threads == ExitedThreads::MayExit },
        known_blocks: &known_blocks,
    };
    work(&session, &roots)
}

/// In parallel, the results in order.
fn for_each_root<T: Send>(roots: &Closure, progress: &Progress, work: impl Fn(ItemId) -> T + Sync) -> Vec<T> {
    let items: Vec<ItemId> = roots.kernels.iter().chain(&roots.devices).copied().collect();
    progress.total.store(items.len(), Ordering::Relaxed);
    items
        .par_iter()
        .map(|item| {
            let answer = work(*item);
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
    for answer in answers {
        for finding in answer.findings {
            // One line, one cause: one finding, however many callers.
            if !findings.iter().any(|known| same(known, &finding)) {
                findings.push(finding);
            }
        }
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
        bytes: tree.files.ids().map(|id| tree.files.get(id).bytes.len() as u64).sum(),
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
    Outcome { findings, summary, kernels, skipped, sources, comments, charts: Vec::new() }
}

fn same(a: &Finding, b: &Finding) -> bool {
    let branch =
        |finding: &Finding| finding.story.iter().rev().find(|note| note.role == Role::Branch).map(|note| note.at);
    a.at == b.at && a.rule.name == b.rule.name && branch(a) == branch(b)
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
