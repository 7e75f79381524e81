//! One self-contained page: findings by file, the source with the story marked on it, the threads that come and that do not.
//!
//! No other file is needed to read it, and no network; a script only hides what is not asked for.

use super::markup::escape;
use super::threads::{self, Lane};
use super::{Located, Report, Spot, chart, confirm, human, plural};
use crate::chart::Who;
use crate::finding::{Finding, Role, Severity, Unread};
use crate::text::FileId;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};

const STYLE: &str = include_str!("html/page.css");
const FILTER: &str = include_str!("html/filter.js");

/// So many findings are worth a filter.
const MANY: usize = 6;

/// Lines shown above and below each mark.
const AROUND: u32 = 2;
/// Charts of more nodes are closed at first.
const OPEN_CHART: usize = 40;
/// Lines longer than this come from a generator.
const MAX_LINE: usize = 400;

pub fn render(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let summary = &report.summary;
    let title = format!("synclint: {}", plural(summary.findings, "finding"));
    let mut page = String::new();
    let _ = write!(
        page,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{}</title>\n<style>\n{STYLE}{}</style>\n</head>\n<body>\n",
        escape(&title),
        if report.charts.is_empty() { "" } else { chart::STYLE }
    );
    header(report, &mut page);
    let files = by_file(report);
    if report.findings.is_empty() {
        page.push_str("<main><p class=\"empty\">Nothing found.</p></main>\n");
    } else {
        contents(report, &files, &mut page);
        page.push_str("<main>\n");
        if report.findings.len() >= MANY {
            filter(report, &files, &mut page);
        }
        let mut drawn = Drawn::default();
        for (file, group) in &files {
            section(report, *file, group, &mut drawn, &mut page);
        }
        page.push_str("</main>\n");
    }
    skipped(report, &mut page);
    let _ = writeln!(page, "<footer>synclint {}</footer>", env!("CARGO_PKG_VERSION"));
    if report.findings.len() >= MANY {
        let _ = writeln!(page, "<script>\n{FILTER}</script>");
    }
    page.push_str("</body>\n</html>\n");
    out.write_all(page.as_bytes())
}

/// Findings with their numbers, by file.
type ByFile<'r, 'a> = BTreeMap<FileId, Vec<(usize, &'r Located<'a>)>>;

fn by_file<'r, 'a>(report: &'r Report<'a>) -> ByFile<'r, 'a> {
    let mut files: ByFile = BTreeMap::new();
    for (index, located) in report.findings.iter().enumerate() {
        files.entry(located.at.range.file).or_default().push((index + 1, located));
    }
    files
}

fn header(report: &Report, page: &mut String) {
    let summary = &report.summary;
    page.push_str("<header>\n<h1>synclint</h1>\n<p>Barriers that only part of their threads can reach.</p>\n<dl>\n");
    let mut fact = |number: usize, noun: &str, class: &str| {
        let plain = plural(number, noun);
        let word = plain.split_once(' ').map_or(noun, |(_, word)| word).to_string();
        let _ = writeln!(page, "<div class=\"{class}\"><dt>{word}</dt><dd>{number}</dd></div>");
    };
    for (severity, noun) in [(Severity::Error, "error"), (Severity::Warning, "warning")] {
        fact(report.count(severity), noun, if report.count(severity) > 0 { severity.name() } else { "" });
    }
    fact(summary.barriers, "barrier", "");
    fact(summary.kernels, "kernel", "");
    fact(summary.files, "file", "");
    if summary.incomplete > 0 {
        let _ = writeln!(page, "<div><dt>not understood</dt><dd>{}</dd></div>", summary.incomplete);
    }
    if report.suppressed + report.known > 0 {
        let _ = writeln!(page, "<div><dt>hidden</dt><dd>{}</dd></div>", report.suppressed + report.known);
    }
    page.push_str("</dl>\n</header>\n");
}

fn contents(report: &Report, files: &ByFile, page: &mut String) {
    page.push_str("<nav aria-label=\"findings\">\n");
    for (file, group) in files {
        let _ = writeln!(page, "<h2>{}</h2>\n<ol>", escape(report.path(*file)));
        for (number, located) in group {
            let finding = located.finding;
            let _ = writeln!(
                page,
                "<li><a href=\"#f{number}\"><span class=\"level {}\"></span><span class=\"line\">{}</span> {}</a></li>",
                finding.severity.name(),
                located.at.start.line,
                finding.rule.name
            );
        }
        page.push_str("</ol>\n");
    }
    page.push_str("</nav>\n");
}

/// What is to be shown: by file, rule, level and words. The script shows it, since nothing else could obey it.
fn filter(report: &Report, files: &ByFile, page: &mut String) {
    page.push_str("<form class=\"filter\" role=\"search\" aria-label=\"Filter findings\" hidden>\n");
    page.push_str("<label class=\"text\">Text <kbd>/</kbd><input type=\"search\" name=\"text\" autocomplete=\"off\" spellcheck=\"false\"></label>\n");
    let mut choice = |label: &str, name: &str, all: &str, options: &[(String, String, usize)]| {
        let _ = writeln!(page, "<label>{label}<select name=\"{name}\">\n<option value=\"\">{all}</option>");
        for (value, text, count) in options {
            let _ = writeln!(page, "<option value=\"{}\">{} ({count})</option>", escape(value), escape(text));
        }
        page.push_str("</select></label>\n");
    };
    let of_files: Vec<_> =
        files.iter().map(|(file, group)| (file.0.to_string(), report.path(*file).to_string(), group.len())).collect();
    choice("File", "file", "all files", &of_files);
    let counted = |is_it: &dyn Fn(&Finding) -> bool| report.findings.iter().filter(|it| is_it(it.finding)).count();
    let named =
        |name: &'static str, count: usize| Some((name.to_string(), name.to_string(), count)).filter(|_| count > 0);
    let rules = report.rules.iter().filter_map(|rule| named(rule.name, counted(&|it| it.rule.name == rule.name)));
    choice("Rule", "rule", "all rules", &rules.collect::<Vec<_>>());
    let levels = [Severity::Error, Severity::Warning, Severity::Note];
    let levels = levels.into_iter().filter_map(|level| named(level.name(), counted(&|it| it.severity == level)));
    choice("Level", "level", "all levels", &levels.collect::<Vec<_>>());
    page.push_str("<button type=\"reset\">Show all</button>\n<output aria-live=\"polite\"></output>\n</form>\n");
}

/// By its place among the charts: the finding with which a chart is shown.
type Drawn = BTreeMap<usize, usize>;

fn section(report: &Report, file: FileId, group: &[(usize, &Located)], drawn: &mut Drawn, page: &mut String) {
    let _ = writeln!(page, "<section>\n<h2>{}</h2>", escape(report.path(file)));
    for (number, located) in group {
        article(report, *number, located, drawn, page);
    }
    page.push_str("</section>\n");
}

fn article(report: &Report, number: usize, located: &Located, drawn: &mut Drawn, page: &mut String) {
    let finding = located.finding;
    let level = finding.severity.name();
    let _ = write!(
        page,
        "<article id=\"f{number}\" class=\"{level}\" data-file=\"{}\" data-rule=\"{}\" data-level=\"{level}\">\n\
         <h3><span class=\"badge {level}\">{level}</span> {}</h3>\n\
         <p class=\"where\"><a href=\"#f{number}\">{}:{}:{}</a>",
        located.at.range.file.0,
        finding.rule.name,
        code(&finding.message),
        escape(report.path(located.at.range.file)),
        located.at.start.line,
        located.at.start.column,
    );
    if !finding.function.is_empty() {
        let _ = write!(page, " in <code>{}</code>", escape(&finding.function));
    }
    let _ = writeln!(page, " · <abbr title=\"{}\">{}</abbr></p>", escape(finding.rule.summary), finding.rule.name);
    let marks = marks(located);
    story(report, &marks, located, page);
    for file in files(&marks) {
        source(report, file, located.at.range.file, &marks, page);
    }
    drawing(finding, page);
    if let Some(help) = &finding.help {
        let _ = writeln!(page, "<p class=\"help\"><b>What to do:</b> {}</p>", code(help));
    }
    for fix in &finding.fixes {
        let _ = writeln!(page, "<p class=\"help\"><b><code>--fix</code>, proven:</b> {}</p>", code(&fix.title));
    }
    if let Some(trial) = confirm::trial(finding) {
        let _ = writeln!(page, "<p class=\"help try\"><b>To try:</b> {}</p>", code(&trial.to_string()));
    }
    flow(report, number, finding, drawn, page);
    page.push_str("</article>\n");
}

struct Mark<'a> {
    at: Spot,
    /// `None`: belongs to the finding without being a step.
    number: Option<usize>,
    role: Role,
    message: std::borrow::Cow<'a, str>,
}

fn marks<'a>(located: &'a Located) -> Vec<Mark<'a>> {
    let mut marks: Vec<Mark> = Vec::new();
    for step in &located.story {
        let number = Some(marks.len() + 1);
        marks.push(Mark { at: step.at, number, role: step.note.role, message: step.note.message.as_str().into() });
    }
    if marks.last().is_none_or(|last| last.at != located.at) {
        let number = (!marks.is_empty()).then_some(marks.len() + 1);
        let message: std::borrow::Cow<str> = human::arrival(located.finding).into();
        let role = if message.is_empty() { Role::Other } else { Role::Barrier };
        marks.push(Mark { at: located.at, number, role, message });
    }
    for step in &located.related {
        marks.push(Mark {
            at: step.at,
            number: None,
            role: step.note.role,
            message: step.note.message.as_str().into(),
        });
    }
    marks
}

fn files(marks: &[Mark]) -> Vec<FileId> {
    let mut files: Vec<FileId> = Vec::new();
    for mark in marks {
        if !files.contains(&mark.at.range.file) {
            files.push(mark.at.range.file);
        }
    }
    files
}

/// The steps as a list, for those who read before they look.
fn story(report: &Report, marks: &[Mark], located: &Located, page: &mut String) {
    if located.story.is_empty() && located.related.is_empty() {
        return;
    }
    page.push_str("<ol class=\"story\">\n");
    for mark in marks.iter().filter(|mark| !mark.message.is_empty()) {
        let place = match mark.at.range.file == located.at.range.file {
            true => format!("line {}", mark.at.start.line),
            false => format!("{}:{}", report.path(mark.at.range.file), mark.at.start.line),
        };
        let value = mark.number.map_or(" class=\"aside\"".to_string(), |number| format!(" value=\"{number}\""));
        let (role, text) = (class(mark.role), code(&mark.message));
        let _ =
            writeln!(page, "<li{value}><span class=\"{role}\">{text}</span> <small>{}</small></li>", escape(&place));
    }
    page.push_str("</ol>\n");
}

/// The lines round the marks of one file, the marks in them.
fn source(report: &Report, file: FileId, main: FileId, marks: &[Mark], page: &mut String) {
    let bytes = report.bytes(file);
    let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
    let here: Vec<&Mark> = marks.iter().filter(|mark| mark.at.range.file == file).collect();
    let mut shown: Vec<u32> = Vec::new();
    for mark in &here {
        let line = mark.at.start.line;
        shown.extend(line.saturating_sub(AROUND).max(1)..=(line + AROUND).min(lines.len() as u32));
    }
    shown.sort_unstable();
    shown.dedup();
    page.push_str("<figure>\n");
    if file != main {
        let _ = writeln!(page, "<figcaption>{}</figcaption>", escape(report.path(file)));
    }
    page.push_str("<pre tabindex=\"0\">");
    let mut last = None;
    for line in shown {
        if last.is_some_and(|last| last + 1 != line) {
            page.push_str("<span class=\"gap\">⋮</span>\n");
        }
        last = Some(line);
        let text = lines.get(line as usize - 1).copied().unwrap_or_default();
        let on_line: Vec<&Mark> = here.iter().copied().filter(|mark| mark.at.start.line == line).collect();
        let lead = on_line.iter().map(|mark| class(mark.role)).find(|class| matches!(*class, "barrier" | "branch"));
        let _ = write!(page, "<span class=\"row {}\"><i>{line}</i>", lead.unwrap_or(""));
        marked_line(text, &on_line, page);
        page.push_str("</span>\n");
    }
    page.push_str("</pre>\n</figure>\n");
}

/// A line with its marks as elements, one inside the other where they are so. Of two that overlap the later is cut.
fn marked_line(text: &[u8], marks: &[&Mark], page: &mut String) {
    let text = text.strip_suffix(b"\r").unwrap_or(text);
    let plain = |from: usize, to: usize| escape(&String::from_utf8_lossy(&text[from..to]));
    if text.len() > MAX_LINE {
        page.push_str(&plain(0, MAX_LINE));
        page.push('…');
        return;
    }
    let mut pieces: Vec<(usize, usize, &Mark, Vec<usize>)> = Vec::new();
    for &mark in marks {
        let start = (mark.at.start.column as usize - 1).min(text.len());
        let end = if mark.at.end.line == mark.at.start.line { mark.at.end.column as usize - 1 } else { text.len() };
        let end = end.clamp(start, text.len());
        match pieces.iter_mut().find(|(other, stop, ..)| (*other, *stop) == (start, end)) {
            Some((_, _, lead, numbers)) => {
                numbers.extend(mark.number);
                if matches!(mark.role, Role::Barrier | Role::Branch) {
                    *lead = mark;
                }
            }
            None => pieces.push((start, end, mark, mark.number.into_iter().collect())),
        }
    }
    pieces.sort_by_key(|(start, end, ..)| (*start, Reverse(*end)));
    let mut at = 0;
    // The marks that are open: where each ends, and its numbers.
    let mut open: Vec<(usize, String)> = Vec::new();
    let close = |open: &mut Vec<(usize, String)>, at: &mut usize, until: usize, page: &mut String| {
        while let Some((end, numbers)) = open.pop_if(|(end, _)| *end <= until) {
            page.push_str(&plain(*at, end));
            page.push_str(&format!("{numbers}</mark>"));
            *at = end;
        }
    };
    for (start, end, mark, numbers) in pieces {
        close(&mut open, &mut at, start, page);
        page.push_str(&plain(at, start));
        at = start;
        let end = open.last().map_or(end, |(outer, _)| end.min(*outer));
        let _ = write!(page, "<mark class=\"{}\" title=\"{}\">", class(mark.role), escape(&mark.message));
        open.push((end, numbers.iter().map(|number| format!("<sup>{number}</sup>")).collect()));
    }
    close(&mut open, &mut at, text.len(), page);
    page.push_str(&plain(at, text.len()));
}

/// A square per thread, a row per warp.
fn drawing(finding: &Finding, page: &mut String) {
    let Some(witness) = &finding.witness else { return };
    let arrive = threads::list(&witness.arrive, witness.unit);
    let given = if witness.given.is_empty() { String::new() } else { format!("{}: ", code(&witness.given)) };
    let _ = write!(page, "<figure class=\"threads\">\n<figcaption>{given}");
    let _ = write!(page, "<b class=\"comes\">{arrive}</b> arrive");
    if !witness.missing.is_empty() {
        let missing = threads::list(&witness.missing, witness.unit);
        let _ = write!(page, ", <b class=\"missing\">{missing}</b> do not");
    }
    if let Some(mask) = witness.mask {
        let _ = write!(page, "; the mask is <code>{mask:#010x}</code>");
    }
    page.push_str("</figcaption>\n");
    for row in threads::rows(witness) {
        let _ = write!(page, "<div class=\"warp\"><span>{}</span>", threads::label(witness, &row));
        let first = row.first_warp * 32;
        for (lane, state) in row.lanes.iter().enumerate() {
            if lane > 0 && lane % 8 == 0 {
                page.push_str("<u></u>");
            }
            let class = match state {
                Lane::Arrives => "comes",
                Lane::Missing => "missing",
                Lane::Aside | Lane::Absent => "absent",
            };
            let number = if row.first_warp == row.last_warp { first + lane as u32 } else { lane as u32 };
            let _ = write!(page, "<i class=\"{class}\" title=\"{number}\"></i>");
        }
        page.push_str("</div>\n");
    }
    page.push_str("</figure>\n");
}

/// The control flow round the barrier; once for all findings of a function.
fn flow(report: &Report, number: usize, finding: &Finding, drawn: &mut Drawn, page: &mut String) {
    let Some(index) = report.charts.iter().position(|chart| chart.shows(finding.rule.name, finding.at)) else { return };
    let chart = &report.charts[index];
    let name = escape(&chart.name);
    if let Some(other) = drawn.get(&index) {
        let _ = writeln!(page, "<p class=\"flow\"><a href=\"#g{other}\">Control flow of <code>{name}</code></a></p>");
        return;
    }
    drawn.insert(index, number);
    let open = if chart.nodes.len() <= OPEN_CHART { " open" } else { "" };
    let given = chart.given.as_ref().map(|given| format!(" with {}", escape(given))).unwrap_or_default();
    let reduced = match chart.is_reduced {
        true => format!(": of its {} blocks only what decides its barriers", chart.blocks),
        false => String::new(),
    };
    let _ = write!(
        page,
        "<details id=\"g{number}\"{open}>\n<summary>Control flow of <code>{name}</code>{given}{reduced}</summary>\n<p class=\"legend\">"
    );
    for (class, who) in [("block", Who::Block), ("warps", Who::Warps), ("threads", Who::Threads)] {
        if chart.nodes.iter().any(|node| node.who == who) {
            let _ = write!(page, "<span><i class=\"{class}\"></i>{}</span>", who.words());
        }
    }
    let _ = write!(
        page,
        "<span><i class=\"stop\"></i>barrier</span></p>\n<div class=\"picture\" tabindex=\"0\">\n{}</div>\n</details>\n",
        chart::svg(chart, chart::Frame::Page)
    );
}

fn skipped(report: &Report, page: &mut String) {
    if report.skipped.is_empty() {
        return;
    }
    page.push_str("<aside>\n<h2>Not read</h2>\n<ul>\n");
    for Unread { path, why, .. } in report.skipped {
        let _ = writeln!(page, "<li><code>{}</code>: {}</li>", escape(path), escape(why));
    }
    page.push_str("</ul>\n</aside>\n");
}

fn class(role: Role) -> &'static str {
    match role {
        Role::Source => "source",
        Role::Step => "step",
        Role::Branch => "branch",
        Role::Barrier => "barrier",
        Role::Other => "other",
    }
}

/// Text with its `code` set as such.
fn code(text: &str) -> String {
    let mut html = String::new();
    let pieces: Vec<&str> = text.split('`').collect();
    for (index, piece) in pieces.iter().enumerate() {
        // An odd number of marks leaves the last one as it is.
        let is_code = index % 2 == 1 && index + 1 < pieces.len();
        match (is_code, index % 2 == 1) {
            (true, _) => html.push_str(&format!("<code>{}</code>", escape(piece))),
            (_, true) => html.push_str(&format!("`{}", escape(piece))),
            _ => html.push_str(&escape(piece)),
        }
    }
    html
}
