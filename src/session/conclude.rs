//! What the analysis found -> what is to be reported: levels, comments, the paths asked for and the baseline applied.

use super::Outcome;
use crate::baseline::{self, Baseline, Entry, Marked};
use crate::finding::{Finding, Severity, Summary};
use crate::rules;
use crate::settings::{Repository, Settings, absolute};
use crate::suppress;
use crate::text::Range;
use rustc_hash::FxHashSet;
use std::path::{Path, PathBuf};

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
    /// Entries of the baseline that fit no finding any more.
    pub stale: Vec<Entry>,
    /// What was not understood where the rule `incomplete` is off: it is no finding, and yet counts.
    pub aside: Vec<Finding>,
    /// Findings of the user's own code that lie in none of the paths asked for: the file of each.
    pub elsewhere: Vec<String>,
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
    let mut aside = Vec::new();
    marked.retain_mut(|Marked { finding, .. }| {
        let level = settings.severity(finding.rule, finding.severity, path_of(finding.at));
        finding.severity = level.unwrap_or(finding.severity);
        if level.is_none() && finding.rule.name == rules::INCOMPLETE.name {
            aside.push(finding.clone());
        }
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
    let mut elsewhere = Vec::new();
    marked.retain(|it| {
        let is_reported = reported(&it.finding);
        let path = path_of(it.finding.at);
        if !is_reported && it.finding.severity > Severity::Note && !settings.third_party.matches(path) {
            elsewhere.push(path.display().to_string());
        }
        is_reported
    });
    aside.retain(|finding| reported(finding));
    let suppressed = suppressed.hidden.iter().filter(|it| reported(&it.finding)).count();
    let checked: FxHashSet<String> = match baseline.is_empty() {
        true => Default::default(),
        false => {
            let paths = sources.iter().map(|source| Path::new(&source.path));
            paths.filter(|path| scope.holds(path)).map(|path| repository_path(&path.to_string_lossy())).collect()
        }
    };
    let is_gone = |path: &str| {
        let place = repository.place(path);
        settings.exclude.matches(&place) || matches!(place.try_exists(), Ok(false))
    };
    let was_sought = |entry: &Entry| {
        settings.runs(&entry.rule) && (checked.contains(entry.path.as_str()) || is_gone(entry.path.as_str()))
    };
    let (mut marked, known, stale) = baseline.subtract(marked, &was_sought);
    marked.sort_by(|a, b| (path_of(a.finding.at), a.finding.at).cmp(&(path_of(b.finding.at), b.finding.at)));

    let incomplete = marked.iter().filter(|it| it.finding.rule.name == rules::INCOMPLETE.name).count();
    let (findings, incomplete) = (marked.len() - incomplete, incomplete + aside.len());
    let summary = Summary { findings, incomplete, ..outcome.summary.clone() };
    Conclusion { findings: marked, summary, suppressed, known, stale, aside, elsewhere }
}

/// Which findings are asked for.
struct Scope<'a> {
    /// As written, and with links resolved.
    only: Option<Vec<PathBuf>>,
    settings: &'a Settings,
}

impl<'a> Scope<'a> {
    fn new(only: Option<&[PathBuf]>, settings: &'a Settings) -> Scope<'a> {
        let canonical = |path: &PathBuf| std::fs::canonicalize(path).unwrap_or_else(|_| path.clone());
        let both = |path: &PathBuf| [absolute(path), canonical(path)];
        Scope { only: only.map(|paths| paths.iter().flat_map(both).collect()), settings }
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
        let is_in = |path: PathBuf| only.iter().any(|wanted| path.starts_with(wanted));
        is_in(absolute(path)) || std::fs::canonicalize(path).is_ok_and(is_in)
    }
}
