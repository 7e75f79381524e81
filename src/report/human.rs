//! For people, by miette: the source with the story marked on it, numbered in the order in which it happens,
//! who comes and who does not, and what to do.
//!
//! miette orders labels by place, so the numbers are ours; it shows one file at a time, so what lies in other files follows.

mod excerpts;
mod snippet;

use super::confirm::{self, Trial};
use super::threads::{self, Lane};
use super::{Located, Report, Style};
use crate::finding::{Finding, Role, Severity, Unit};
use crate::settings;
use crate::text::{FileId, Range, Source};
use excerpts::Excerpt;
use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan};
use rustc_hash::{FxHashMap, FxHashSet};
use snippet::Snippet;
use std::fmt;
use std::io::{self, Write};

pub fn render(report: &Report, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let mut snippets: FxHashMap<FileId, Snippet> = FxHashMap::default();
    // What to try is the same for most findings of a kernel: it is said once.
    let mut tried: FxHashSet<(&str, &str)> = FxHashSet::default();
    for (located, others) in groups(report) {
        let steps = located.story.iter().chain(&located.related).map(|step| step.at.range.file);
        for file in steps.chain([located.at.range.file]) {
            snippets.entry(file).or_insert_with(|| Snippet::new(report.path(file), report.bytes(file)));
        }
        let trial = confirm::trial(located.finding).filter(|it| tried.insert((&located.finding.function, it.expect)));
        let others: Vec<String> = others.iter().map(|other| other_barrier(report, other)).collect();
        out.write_all(one(located, &others, &snippets, trial.as_ref(), style).as_bytes())?;
    }
    Ok(())
}

/// Findings of one cause: the first, whose story is told, and others that differ from it by their barrier only.
fn groups<'r, 'a>(report: &'r Report<'a>) -> Vec<(&'r Located<'a>, Vec<&'r Located<'a>>)> {
    let mut groups: Vec<(&Located, Vec<&Located>)> = Vec::new();
    let mut first_of = FxHashMap::default();
    for located in &report.findings {
        let finding = located.finding;
        let story: Vec<(Range, &str)> =
            located.story.iter().map(|step| (step.at.range, step.note.message.as_str())).collect();
        // Where a branch has two arms, others come to each.
        let who = finding.witness.as_ref().map(|witness| (&witness.given, &witness.arrive));
        let cause = (finding.rule.name, finding.severity, finding.function.as_str(), story, who);
        let index = match located.story.iter().any(|step| step.note.role == Role::Branch) {
            true => *first_of.entry(cause).or_insert(groups.len()),
            false => groups.len(),
        };
        match groups.get_mut(index) {
            Some((_, others)) => others.push(located),
            None => groups.push((located, Vec::new())),
        }
    }
    groups
}

/// `src/a.cu:12:5 __syncthreads`
fn other_barrier(report: &Report, located: &Located) -> String {
    let finding = located.finding;
    let place = located.at.start;
    let through_call = finding.related.iter().any(|note| note.role == Role::Barrier);
    let how = if through_call { ", through this call" } else { "" };
    format!("{}:{}:{} {}{how}", report.path(located.at.range.file), place.line, place.column, finding.barrier)
}

/// What is wrong with the settings, shown in their file.
pub fn settings_error(error: &settings::Error, style: Style) -> String {
    let path = error.file.display().to_string();
    let Some((text, range)) = &error.place else {
        return format!("{path}: {}\n", error.message);
    };
    let snippet = Snippet::new(&path, text.as_bytes());
    let label = LabeledSpan::new_primary_with_span(None, snippet.clip(range.start, range.end));
    let view = View {
        message: error.message.lines().collect::<Vec<_>>().join(" "),
        severity: Severity::Error,
        snippet: Some(&snippet),
        labels: vec![label],
        help: error.help.clone(),
    };
    let mut text = String::new();
    draw(&view, theme(style), style, &mut text);
    text
}

fn one(
    located: &Located,
    others: &[String],
    snippets: &FxHashMap<FileId, Snippet>,
    trial: Option<&Trial>,
    style: Style,
) -> String {
    let finding = located.finding;
    let mut picture = Picture {
        message: format!("{} [{}]", finding.message, finding.rule.name),
        severity: finding.severity,
        file: located.at.range.file,
        marks: marks(located),
        is_story: true,
    };
    let mut text = String::new();
    draw_picture(&picture, snippets, style, &mut text);
    let path = snippets.get(&picture.file).map_or("", |snippet| snippet.path());
    let place = format!("{path}:{}:{}", located.at.start.line, located.at.start.column);
    if !is_headed_by(&text, &place) {
        picture.message = format!("{place}: {}", picture.message);
        text.clear();
        draw_picture(&picture, snippets, style, &mut text);
    }
    draw_threads(finding, style, &mut text);
    for (index, other) in others.iter().enumerate() {
        let head = if index == 0 { "also:" } else { "" };
        text.push_str(&format!("  {head:5} {other}\n"));
    }
    if let Some(help) = &finding.help {
        let (on, off) = if style.color { ("\x1b[36m", "\x1b[0m") } else { ("", "") };
        text.push_str(&format!("  {on}help:{off} {}\n", wrap(help, style.width, "        ")));
    }
    if let Some(trial) = trial {
        text.push_str(&format!("  try:  {}\n", wrap(&trial.to_string(), style.width, "        ")));
    }
    text.push('\n');
    text
}

/// The first excerpt names the place: one that is cut in pieces, and one of another file, is headed by what comes first in it.
fn is_headed_by(text: &str, place: &str) -> bool {
    let head = text.lines().find(|line| line.contains("─[") || line.contains("-["));
    head.is_some_and(|line| line.split(place).skip(1).any(|rest| !rest.starts_with(|it: char| it.is_ascii_digit())))
}

/// A message and places with what is to be said of them.
pub struct Picture {
    pub message: String,
    pub severity: Severity,
    /// Where what is told of stands.
    pub file: FileId,
    pub marks: Vec<Mark>,
    /// The numbers tell in which order to read.
    pub is_story: bool,
}

/// A place, with its number if it is a step of a story.
pub struct Mark {
    pub at: Range,
    pub number: Option<usize>,
    pub role: Role,
    pub message: String,
}

/// A picture that is no finding.
pub fn picture(picture: &Picture, sources: &[Source], style: Style) -> String {
    let mut snippets: FxHashMap<FileId, Snippet> = FxHashMap::default();
    for file in picture.marks.iter().map(|mark| mark.at.file) {
        if let Some(source) = sources.get(file.0 as usize) {
            snippets.entry(file).or_insert_with(|| Snippet::new(&source.path, &source.bytes));
        }
    }
    let mut text = String::new();
    draw_picture(picture, &snippets, style, &mut text);
    text
}

fn draw_picture(picture: &Picture, snippets: &FxHashMap<FileId, Snippet>, style: Style, text: &mut String) {
    for (index, Excerpt { file, marks: here, .. }) in excerpts::excerpts(picture, snippets).into_iter().enumerate() {
        let Some(snippet) = snippets.get(&file) else { continue };
        let (labels, roles) = labels(&here, snippet);
        let (message, severity) = match index {
            0 => (picture.message.clone(), picture.severity),
            _ => (format!("{} in {}", steps(&here), snippet.path()), Severity::Note),
        };
        // Wrapped here: miette would break a rule's name at its hyphen.
        let message = wrap(&message, style.width.saturating_sub(6), "");
        let view = View { message, severity, snippet: Some(snippet), labels, help: None };
        let mut theme = theme(style);
        let styles = &mut theme.styles;
        styles.highlights = roles
            .iter()
            .map(|role| match role {
                Role::Barrier => styles.error,
                Role::Branch => styles.warning,
                Role::Source => styles.advice,
                Role::Step => styles.help,
                Role::Other => styles.linum,
            })
            .collect();
        draw(&view, theme, style, text);
    }
}

fn marks(located: &Located) -> Vec<Mark> {
    let finding = located.finding;
    let mut marks: Vec<Mark> = located
        .story
        .iter()
        .enumerate()
        .map(|(index, step)| Mark {
            at: step.at.range,
            number: Some(index + 1),
            role: step.note.role,
            message: step.note.message.clone(),
        })
        .collect();
    if marks.last().is_none_or(|last| last.at != located.at.range) {
        let number = (!marks.is_empty()).then_some(marks.len() + 1);
        let message = arrival(finding);
        let role = if message.is_empty() { Role::Other } else { Role::Barrier };
        marks.push(Mark { at: located.at.range, number, role, message });
    }
    marks.extend(located.related.iter().map(|step| Mark {
        at: step.at.range,
        number: None,
        role: step.note.role,
        message: step.note.message.clone(),
    }));
    marks
}

/// What is asked of the threads at the barrier.
pub fn arrival(finding: &Finding) -> String {
    let through_call = finding.related.iter().any(|note| note.role == Role::Barrier);
    let who = match (finding.scope.as_str(), finding.rule.name) {
        ("" | "named barrier", _) => return String::new(),
        // The count of a named barrier.
        (scope, _) if scope.ends_with(" threads") && !through_call => return format!("{scope} have to arrive here"),
        (scope, _) if scope.ends_with(" threads") => scope.to_string(),
        // Not who comes is at fault, but what is named.
        (_, "warp-mask") if finding.story.is_empty() || is_none_missing(finding) => {
            let mask = finding.witness.as_ref().and_then(|witness| witness.mask);
            let named = |mask| format!("the mask names {}", threads::list(&threads::ranges(mask), Unit::Lane));
            return mask.map(named).unwrap_or_default();
        }
        ("warp", "warp-mask") => "every lane of the mask".to_string(),
        (scope, _) => format!("every thread of the {scope}"),
    };
    if through_call {
        let have = if who.ends_with(" threads") { "have" } else { "has" };
        format!("{who} {have} to make this call: it leads to `{}`", finding.barrier)
    } else {
        format!("{who} has to arrive here")
    }
}

fn is_none_missing(finding: &Finding) -> bool {
    finding.witness.as_ref().is_some_and(|witness| witness.missing.is_empty())
}

/// miette's labels, and their roles in miette's order. What stands at the same place is one label.
fn labels(marks: &[&Mark], snippet: &Snippet) -> (Vec<LabeledSpan>, Vec<Role>) {
    let mut merged: Vec<(miette::SourceSpan, Role, String)> = Vec::new();
    let spans: Vec<miette::SourceSpan> =
        marks.iter().map(|mark| snippet.clip(mark.at.start as usize, mark.at.end as usize)).collect();
    for (mark, span) in marks.iter().zip(&spans) {
        // miette cannot underline one thing inside another: the outer one gives way.
        let inside = spans.iter().filter(|other| {
            *other != span
                && span.offset() <= other.offset()
                && other.offset() + other.len() <= span.offset() + span.len()
        });
        let span = inside.fold(*span, |span, other| snippet.without(&span, other, mark.role == Role::Step));
        let text = match mark.number {
            Some(number) if !mark.message.is_empty() => format!("{number}. {}", mark.message),
            _ => mark.message.clone(),
        };
        match merged.iter_mut().find(|(other, ..)| *other == span) {
            Some((_, role, label)) => {
                if matches!(mark.role, Role::Barrier | Role::Branch) {
                    *role = mark.role;
                }
                label.push_str("; ");
                label.push_str(&text);
            }
            None => merged.push((span, mark.role, text)),
        }
    }
    merged.sort_by_key(|(span, ..)| span.offset());
    let label = |(span, role, text): &(miette::SourceSpan, Role, String)| {
        let text = (!text.is_empty()).then(|| text.clone());
        match role {
            Role::Barrier => LabeledSpan::new_primary_with_span(text, *span),
            _ => LabeledSpan::new_with_span(text, *span),
        }
    };
    (merged.iter().map(label).collect(), merged.iter().map(|(_, role, _)| *role).collect())
}

/// `steps 1 and 2`, `more`
fn steps(marks: &[&Mark]) -> String {
    let mut numbers: Vec<usize> = marks.iter().filter_map(|mark| mark.number).collect();
    numbers.sort_unstable();
    let numbers: Vec<String> = numbers.iter().map(usize::to_string).collect();
    match numbers.as_slice() {
        [] if marks.iter().any(|mark| mark.role == Role::Barrier) => "the barrier is".to_string(),
        [] => "this belongs to it,".to_string(),
        [one] => format!("step {one} is"),
        [most @ .., last] => format!("steps {} and {last} are", most.join(", ")),
    }
}

fn draw_threads(finding: &Finding, style: Style, text: &mut String) {
    let Some(witness) = &finding.witness else { return };
    let (comes, missing, aside) = if style.unicode { ('■', '·', '□') } else { ('#', '.', 'o') };
    let paint = |lane: Lane| -> (char, &str) {
        match lane {
            Lane::Arrives => (comes, "\x1b[32m"),
            Lane::Missing => (missing, "\x1b[31m"),
            Lane::Aside => (aside, ""),
            Lane::Absent => (' ', ""),
        }
    };
    let rows = threads::rows(witness);
    let labels: Vec<String> = rows.iter().map(|row| threads::label(witness, row)).collect();
    let width = labels.iter().map(String::len).max().unwrap_or(0);
    let given = match (witness.given.as_str(), witness.unit) {
        ("", Unit::Lane) => "lanes of the warp",
        ("", Unit::Thread) => "threads of the block",
        ("", Unit::Block) => "blocks of the grid",
        (given, _) => given,
    };
    text.push_str(&format!("  {given}:\n"));
    for (row, label) in rows.iter().zip(&labels) {
        text.push_str(&format!("    {label:width$} "));
        let mut last = "";
        for (index, lane) in row.lanes.iter().enumerate() {
            let (sign, color) = paint(*lane);
            if index % 8 == 0 {
                text.push(' ');
            }
            if style.color && color != last {
                text.push_str(if color.is_empty() { "\x1b[0m" } else { color });
                last = color;
            }
            text.push(sign);
        }
        if style.color {
            text.push_str("\x1b[0m");
        }
        while text.ends_with(' ') {
            text.pop();
        }
        text.push('\n');
    }
    let others = threads::aside(&rows);
    let signs =
        [(comes, "arrive", &witness.arrive), (missing, "missing", &witness.missing), (aside, "not asked for", &others)];
    let shown = signs.iter().filter(|(.., ranges)| !ranges.is_empty());
    let legend: Vec<String> =
        shown.map(|(sign, what, ranges)| format!("{sign} {what}: {}", threads::list(ranges, witness.unit))).collect();
    text.push_str(&format!("    {}", legend.join("   ")));
    if let Some(mask) = witness.mask {
        let named = threads::list(&threads::ranges(mask), Unit::Lane);
        text.push_str(&format!("   mask: {mask:#010x}, {named}"));
    }
    text.push('\n');
}

/// Breaks a text at blanks; lines but the first begin with `indent`.
pub fn wrap(text: &str, width: usize, indent: &str) -> String {
    let mut wrapped = String::new();
    let mut column = indent.len();
    for (index, word) in text.split_whitespace().enumerate() {
        let length = word.chars().count();
        if index > 0 && column + 1 + length > width {
            wrapped.push('\n');
            wrapped.push_str(indent);
            column = indent.len();
        } else if index > 0 {
            wrapped.push(' ');
            column += 1;
        }
        wrapped.push_str(word);
        column += length;
    }
    wrapped
}

fn theme(style: Style) -> GraphicalTheme {
    match (style.unicode, style.color) {
        (true, true) => GraphicalTheme::unicode(),
        (true, false) => GraphicalTheme::unicode_nocolor(),
        (false, true) => GraphicalTheme::ascii(),
        (false, false) => GraphicalTheme::none(),
    }
}

fn draw(view: &View, theme: GraphicalTheme, style: Style, text: &mut String) {
    let handler = GraphicalReportHandler::new_themed(theme)
        .with_width(style.width)
        .with_context_lines(1)
        .with_links(false)
        .tab_width(4);
    // Writing to a string fails only if miette refuses a span, and all of them are clipped to the file.
    let _ = handler.render_report(text, view);
}

/// One picture: a message, a file, labels in it.
struct View<'a> {
    message: String,
    severity: Severity,
    snippet: Option<&'a Snippet<'a>>,
    labels: Vec<LabeledSpan>,
    help: Option<String>,
}

impl fmt::Display for View<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl fmt::Debug for View<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for View<'_> {}

impl miette::Diagnostic for View<'_> {
    fn severity(&self) -> Option<miette::Severity> {
        Some(match self.severity {
            Severity::Error => miette::Severity::Error,
            Severity::Warning => miette::Severity::Warning,
            Severity::Note => miette::Severity::Advice,
        })
    }

    fn source_code(&self) -> Option<&dyn miette::SourceCode> {
        self.snippet
            .filter(|snippet| self.labels.iter().all(|label| snippet.is_drawable(label.inner())))
            .map(|it| it as _)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(self.labels.iter().cloned()))
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.help.as_ref().map(|help| Box::new(help) as _)
    }
}
