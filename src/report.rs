//! Findings -> what people and programs read. One file per format; each reads a `Report` and writes bytes.
//!
//! `Report` has every place resolved to lines and columns, so that no format counts bytes itself.
//! It knows nothing of how a finding came about.

pub mod chart;
mod concise;
mod confirm;
mod github;
mod gitlab;
mod html;
pub mod human;
mod json;
mod junit;
pub mod markdown;
mod markup;
mod rdjson;
mod sarif;
pub mod threads;

use crate::baseline::Marked;
use crate::chart::Chart;
use crate::finding::{Note, Rule, Severity, Summary, Unread};
use crate::session::Unseen;
use crate::text::{FileId, LineIndex, Place, Range, Source};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::io::{self, Write};

/// Writes the report in one format.
pub fn render(report: &Report, format: Format, style: Style, out: &mut dyn Write) -> io::Result<()> {
    match format {
        Format::Human => human::render(report, style, out),
        Format::Concise => concise::render(report, out),
        Format::Json => json::render(report, out),
        Format::Jsonl => json::render_lines(report, out),
        Format::Sarif => sarif::render(report, out),
        Format::Github => github::render(report, out),
        Format::Gitlab => gitlab::render(report, out),
        Format::Junit => junit::render(report, out),
        Format::Rdjson => rdjson::render(report, out),
        Format::Html => html::render(report, out),
    }
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// For people: the source with the story marked on it
    Human,
    /// One line per finding, as compilers write them
    Concise,
    /// One JSON object
    Json,
    /// One JSON object per line and finding, then one for the summary
    Jsonl,
    /// SARIF 2.1.0, for code scanning and viewers
    Sarif,
    /// GitHub Actions annotations
    Github,
    /// GitLab code quality
    Gitlab,
    /// JUnit XML
    Junit,
    /// reviewdog's JSON
    Rdjson,
    /// One self-contained page
    Html,
}

/// How text for people is drawn.
#[derive(Copy, Clone, Debug)]
pub struct Style {
    pub color: bool,
    pub unicode: bool,
    pub width: usize,
}

impl Style {
    pub const PLAIN: Style = Style { color: false, unicode: true, width: 100 };
}

/// Everything that is reported, in order.
pub struct Report<'a> {
    pub findings: Vec<Located<'a>>,
    pub summary: Summary,
    pub skipped: &'a [Unread],
    /// The control flow of functions that have findings; empty unless asked for.
    pub charts: &'a [Chart],
    /// Findings that the user has dealt with: by a comment, by the baseline.
    pub suppressed: usize,
    pub known: usize,
    pub rules: &'static [&'static Rule],
    pub sources: &'a [Source],
    /// Functions that are called and have no body in view, if there are to be statistics.
    pub unseen: Option<&'a [Unseen]>,
    /// Path of each source from the top of the repository; what other machines know it by.
    pub repository_paths: &'a dyn Fn(&str) -> String,
}

/// How many findings there are of a rule at a level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count {
    pub rule: &'static str,
    pub severity: Severity,
    pub findings: usize,
    /// Those for which a change is offered.
    pub fixable: usize,
}

/// A finding with its places resolved.
pub struct Located<'a> {
    pub finding: &'a crate::finding::Finding,
    pub fingerprint: u64,
    pub at: Spot,
    pub story: Vec<Step<'a>>,
    pub related: Vec<Step<'a>>,
}

pub struct Step<'a> {
    pub note: &'a Note,
    pub at: Spot,
}

/// A range with lines and columns. `end` is the place behind the last byte.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    pub range: Range,
    pub start: Place,
    pub end: Place,
}

impl<'a> Report<'a> {
    /// `findings` in the order in which they are to be shown.
    pub fn new(
        findings: &'a [Marked],
        sources: &'a [Source],
        summary: Summary,
        rules: &'static [&'static Rule],
        repository_paths: &'a dyn Fn(&str) -> String,
    ) -> Report<'a> {
        let mut lines = Lines::default();
        let findings = findings
            .iter()
            .map(|marked| {
                let finding = &marked.finding;
                let mut steps = |notes: &'a [Note]| -> Vec<Step<'a>> {
                    notes.iter().map(|note| Step { note, at: lines.spot(sources, note.at) }).collect()
                };
                let (story, related) = (steps(&finding.story), steps(&finding.related));
                Located {
                    finding,
                    fingerprint: marked.fingerprint,
                    at: lines.spot(sources, finding.at),
                    story,
                    related,
                }
            })
            .collect();
        Report {
            findings,
            summary,
            skipped: &[],
            charts: &[],
            suppressed: 0,
            known: 0,
            rules,
            sources,
            unseen: None,
            repository_paths,
        }
    }

    /// The path as the user would write it.
    pub fn path(&self, file: FileId) -> &'a str {
        self.sources.get(file.0 as usize).map_or("", |source| source.path.as_str())
    }

    /// The path from the top of the repository.
    pub fn repository_path(&self, file: FileId) -> String {
        (self.repository_paths)(self.path(file))
    }

    pub fn bytes(&self, file: FileId) -> &'a [u8] {
        self.sources.get(file.0 as usize).map_or(&[], |source| source.bytes.as_slice())
    }

    /// Findings by rule and level: what is found most comes first, of equals the graver.
    pub fn counts(&self) -> Vec<Count> {
        let mut counts: Vec<Count> = Vec::new();
        for located in &self.findings {
            let finding = located.finding;
            let is_it = |count: &&mut Count| (count.rule, count.severity) == (finding.rule.name, finding.severity);
            let fixable = usize::from(!finding.fixes.is_empty());
            match counts.iter_mut().find(is_it) {
                Some(count) => {
                    count.findings += 1;
                    count.fixable += fixable;
                }
                None => {
                    counts.push(Count { rule: finding.rule.name, severity: finding.severity, findings: 1, fixable })
                }
            }
        }
        counts.sort_by_key(|count| (Reverse(count.findings), Reverse(count.severity), count.rule));
        counts
    }

    /// Findings at a level.
    pub fn count(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|located| located.finding.severity == severity).count()
    }
}

/// Line indices of the files that findings mention, made when first asked for.
#[derive(Default)]
struct Lines {
    indices: FxHashMap<FileId, LineIndex>,
}

impl Lines {
    fn spot(&mut self, sources: &[Source], range: Range) -> Spot {
        let bytes: &[u8] = sources.get(range.file.0 as usize).map_or(&[], |source| &source.bytes);
        let length = bytes.len() as u32;
        let (start, end) = (range.start.min(length), range.end.max(range.start).min(length));
        let index = self.indices.entry(range.file).or_insert_with(|| LineIndex::new(bytes));
        let range = Range { file: range.file, start, end };
        Spot { range, start: index.place(start), end: index.place(end) }
    }
}

/// `1 finding`, `2 findings`
pub fn plural(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
