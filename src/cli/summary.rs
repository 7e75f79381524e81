//! What standard error says of a run besides its findings: the summary, what was not read, what the numbers are.

use crate::baseline::Entry;
use crate::finding::{Finding, Severity, Unread};
use crate::report::{Count, Report, plural};
use crate::rules;
use crate::session::{Lacking, Outcome, Request, Unseen, Walked};
use crate::settings::{self, Patterns, Settings};
use crate::text::{LineIndex, Source};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// `synclint: 3 files, 4 kernels, 9 barriers: 2 errors, 1 warning; 1 function not understood`
pub fn line(report: &Report, fixes: usize, unsought: usize) -> String {
    let summary = &report.summary;
    let mut line = format!(
        "synclint: {}, {}, {}: ",
        plural(summary.files, "file"),
        plural(summary.kernels, "kernel"),
        plural(summary.barriers, "barrier")
    );
    let listed = report.findings.iter().filter(|located| located.finding.rule.name != rules::INCOMPLETE.name);
    let count = |severity| listed.clone().filter(|located| located.finding.severity == severity).count();
    let counts = [(Severity::Error, "error"), (Severity::Warning, "warning"), (Severity::Note, "note")];
    let counts: Vec<String> = counts
        .into_iter()
        .map(|(severity, noun)| (count(severity), noun))
        .filter(|(count, _)| *count > 0)
        .map(|(count, noun)| plural(count, noun))
        .collect();
    line.push_str(&if counts.is_empty() { "nothing found".to_string() } else { counts.join(", ") });
    let more = [
        (summary.incomplete, "not understood"),
        (report.suppressed, "suppressed"),
        (report.known, "in the baseline"),
        (report.skipped.len(), "not read"),
    ];
    for (count, what) in more.into_iter().filter(|(count, _)| *count > 0) {
        line.push_str(&match what {
            "not understood" => format!("; {} not understood", plural(count, "function")),
            "not read" => format!("; {} not read", plural(count, "file")),
            _ => format!("; {count} {what}"),
        });
    }
    if fixes > 0 {
        line.push_str(&format!("; --fix makes {}", plural(fixes, "change")));
    }
    if unsought > 0 {
        line.push_str(&format!("; no change sought for {}", plural(unsought, "finding")));
    }
    line.push('\n');
    line
}

/// Why there was nothing to find, where that is not plain: no source, none of it the user's own, no kernel in it.
pub fn nothing_to_find(outcome: &Outcome, settings: &Settings, request: &Request) -> String {
    let Outcome { walked, sources, summary, skipped, .. } = outcome;
    let is_foreign = |source: &Source| settings.third_party.matches(Path::new(&source.path));
    let left_out = left_out(settings, request);
    if !left_out.is_empty() {
        return left_out;
    }
    let text = match () {
        () if skipped.iter().any(|unread| unread.is_named) => return String::new(),
        () if sources.is_empty() && !skipped.is_empty() => "not one file could be read".to_string(),
        () if walked.files == 0 && !walked.excluded.is_empty() => {
            "all that was found is excluded by the settings".to_string()
        }
        () if walked.files == 0 => {
            let mut places: Vec<String> = request.read.iter().map(|path| path.display().to_string()).collect();
            places.dedup();
            let hidden = if request.no_ignore { "" } else { "; --no-ignore reads hidden and git-ignored files, too" };
            format!("looked for .cu, .cuh, C++ source and headers in {}: there is none{hidden}", places.join(", "))
        }
        () if !sources.is_empty() && sources.iter().all(is_foreign) => {
            "all files read are third-party by the settings: nothing in them is reported".to_string()
        }
        () if summary.kernels + summary.device_functions + summary.barriers == 0 => {
            let left = if !walked.excluded.is_empty() { ", and the settings exclude others" } else { "" };
            format!(
                "no kernel and no barrier in {}{left}{}",
                match walked.files {
                    1 => "the file read".to_string(),
                    files => format!("the {files} files read"),
                },
                lacking(walked)
            )
        }
        // What makes kernels of them may be a macro of a header that is not there.
        () if summary.kernels == 0 && !walked.unmet_includes.is_empty() => {
            format!("no kernel was read{}", lacking(walked))
        }
        // A header by itself, say.
        () if summary.kernels == 0 && request.read.iter().all(|path| !path.is_dir()) => {
            "no kernel was read: functions that wait are checked as if a kernel called them with arguments that are the same \
             for all threads; --root DIR reads the files that call them, too"
                .to_string()
        }
        () => return String::new(),
    };
    format!("synclint: {text}\n")
}

/// `"x.cuh", included in a.cu:1, was not found; `wait`, a.cu:9, may be from there: -I DIR names a folder of headers`
pub fn lacking_header(outcome: &Outcome) -> String {
    let Some(Lacking { name, path: user, line: used }) = &outcome.lacking else { return String::new() };
    let unmet = &outcome.walked.unmet_includes;
    let own = unmet.iter().find(|(path, ..)| path == user).or(unmet.first());
    let Some((path, line, header)) = own else { return String::new() };
    let were = match unmet.len() - 1 {
        0 => "was".to_string(),
        more => format!("and {} were", plural(more, "other header")),
    };
    format!(
        "synclint: {header}, included in {path}:{line}, {were} not found; `{name}`, {user}:{used}, may be from there: \
         -I DIR names a folder of headers\n"
    )
}

/// `; of the headers they include 3 were not found, "a.cuh" the first: -I DIR, -p BUILD_DIR or --root DIR brings them`
fn lacking(walked: &Walked) -> String {
    let Some((_, _, first)) = walked.unmet_includes.first() else { return String::new() };
    let count = walked.unmet_includes.len();
    format!(
        "; {} included there {} not found, {first} the first: -I DIR, -p BUILD_DIR or --root DIR brings more",
        plural(count, "header"),
        if count == 1 { "was" } else { "were" }
    )
}

/// What the user named, and the settings leave out.
fn left_out(settings: &Settings, request: &Request) -> String {
    const LISTED: usize = 5;
    let why = |path: &PathBuf| match () {
        () if settings.third_party.matches(path) => Some("third-party by the settings, so nothing in it is reported"),
        // A file that is named is read all the same, unless that is not wanted.
        () if settings.exclude.matches(path) && (request.force_exclude || path.is_dir()) => {
            Some("excluded by the settings, so it is not read")
        }
        () => None,
    };
    let named = request.only.iter().flatten();
    let lines: Vec<String> =
        named.filter_map(|path| Some(format!("synclint: {}: {}\n", path.display(), why(path)?))).collect();
    let more = lines.len().saturating_sub(LISTED);
    let more = if more > 0 { format!("synclint: and {more} more\n") } else { String::new() };
    lines[..lines.len().min(LISTED)].concat() + &more
}

/// The first files that were not read, and why; a silent gap would pass for a clean file.
pub fn unread_lines(skipped: &[Unread]) -> String {
    const LISTED: usize = 5;
    // Of what the user named an error tells.
    let found: Vec<&Unread> = skipped.iter().filter(|unread| !unread.is_named).collect();
    let listed =
        found.iter().take(LISTED).map(|Unread { path, why, .. }| format!("synclint: not read: {path}: {why}\n"));
    let mut text: String = listed.collect();
    if found.len() > LISTED {
        text.push_str(&format!("synclint: not read: {} more, --verbose names them\n", found.len() - LISTED));
    }
    text
}

/// What is found in headers that the named files include. Where a whole tree is read for a few files of it, what lies in the
/// others is nobody's question.
pub fn elsewhere(files: &[String], request: &Request) -> String {
    let only: &[PathBuf] = request.only.as_deref().unwrap_or_default();
    let mut distinct = files.to_vec();
    distinct.dedup();
    let (Some(first), true) = (distinct.first(), request.read.iter().all(|path| only.contains(path))) else {
        return String::new();
    };
    let others = match distinct.len() - 1 {
        0 => String::new(),
        more => format!(" and {}", plural(more, "other file")),
    };
    let them = if files.len() == 1 { "it" } else { "them" };
    format!(
        "synclint: {} in {first}{others}, included but not named; name the file to see {them}\n",
        plural(files.len(), "finding")
    )
}

pub fn stale_lines(stale: &[Entry]) -> String {
    const LISTED: usize = 10;
    if stale.is_empty() {
        return String::new();
    }
    let mut text = format!(
        "synclint: {} of the baseline found no more; `synclint baseline` brings it up to date\n",
        plural(stale.len(), "finding")
    );
    for entry in stale.iter().take(LISTED) {
        text.push_str(&format!("  {entry}\n"));
    }
    if stale.len() > LISTED {
        text.push_str(&format!("  and {} more\n", stale.len() - LISTED));
    }
    text
}

/// Kernels, barriers and paths that synclint.toml speaks of and that are not there, most likely misspelt; and what of a
/// build's description can be of no use. A path of `exclude` is
/// told by `details` only: a build folder need not be there.
pub fn unknown_names(settings: &Settings, outcome: &Outcome, request: &Request) -> String {
    let mut text = String::new();
    // Only where all is read that the settings speak of.
    let folder = settings.file.as_deref().and_then(Path::parent).map(settings::absolute);
    let is_whole = request
        .read
        .iter()
        .any(|path| folder.as_ref().is_some_and(|folder| folder.starts_with(settings::absolute(path))));
    let patterns = settings.third_party.as_written().iter().zip(&outcome.walked.third_party);
    for (pattern, _) in patterns.filter(|(_, fits)| is_whole && !**fits) {
        text.push_str(&format!(
            "synclint: the third-party path `{pattern}` of the settings fits nothing that is read\n"
        ));
    }
    let fits = |pattern: &Patterns| outcome.sources.iter().any(|source| pattern.matches(Path::new(&source.path)));
    for pattern in settings.per_file_patterns().filter(|pattern| is_whole && !fits(pattern)) {
        let written = pattern.as_written().concat();
        text.push_str(&format!(
            "synclint: the path `{written}` of `per-file` in the settings fits nothing that is read\n"
        ));
    }
    for fault in &outcome.walked.build_faults {
        text.push_str(&format!("synclint: {fault}\n"));
    }
    for name in outcome.walked.unmet_barriers.iter().filter(|_| is_whole) {
        text.push_str(&format!("synclint: the settings speak of a barrier `{name}` that stands in no file read\n"));
    }
    for name in settings.kernels.keys().filter(|name| !outcome.kernels.contains(*name)) {
        let near = rules::nearest(name, outcome.kernels.iter().map(String::as_str));
        let hint = near.map(|index| format!("; did you mean `{}`?", outcome.kernels[index])).unwrap_or_default();
        text.push_str(&format!(
            "synclint: the settings speak of a kernel `{name}` that is not among those read{hint}\n"
        ));
    }
    text
}

/// Names listed of functions that are not in view.
const UNSEEN: usize = 100;

/// With `--verbose` the files that were not read are told there.
pub fn statistics(report: &Report, aside: &[Finding], unseen: &[Unseen], is_verbose: bool) -> String {
    let mut text = String::new();
    let counts = report.counts();
    let width = counts.iter().map(|count| count.rule.len()).max().unwrap_or(0);
    for Count { rule, severity, findings, fixable } in counts {
        let fixable = if fixable > 0 { format!("  {fixable} with a change that --fix makes") } else { String::new() };
        let line = format!("{findings:6}  {:7}  {rule:width$}{fixable}", severity.name());
        text.push_str(&format!("{}\n", line.trim_end()));
    }
    let summary = &report.summary;
    text.push_str(&format!(
        "{:6}  {} and {} with {}, in {} of {}\n",
        summary.kernels,
        if summary.kernels == 1 { "kernel" } else { "kernels" },
        plural(summary.device_functions, "device function"),
        plural(summary.barriers, "barrier"),
        plural(summary.files, "file"),
        size(summary.bytes),
    ));
    for located in &report.findings {
        if located.finding.rule.name == rules::INCOMPLETE.name {
            let (path, line) = (report.path(located.at.range.file), located.at.start.line);
            text.push_str(&format!("not understood: {path}:{line}: {}\n", located.finding.message));
        }
    }
    for finding in aside {
        let line = LineIndex::new(report.bytes(finding.at.file)).place(finding.at.start).line;
        text.push_str(&format!("not understood: {}:{line}: {}\n", report.path(finding.at.file), finding.message));
    }
    for Unread { path, why, .. } in report.skipped.iter().filter(|_| !is_verbose) {
        text.push_str(&format!("not read: {path}: {why}\n"));
    }
    if !unseen.is_empty() {
        text.push_str("not in view, and so taken to hold no barrier:\n");
    }
    for Unseen { name, calls, first, left_out } in unseen.iter().take(UNSEEN) {
        let lines = LineIndex::new(report.bytes(first.file));
        let line = lines.place(first.start).line;
        text.push_str(&format!(
            "{calls:6}  {} of `{name}`, {}:{line}",
            if *calls == 1 { "call" } else { "calls" },
            report.path(first.file)
        ));
        if let Some(body) = left_out {
            let line = lines.place(body.start).line;
            text.push_str(&format!(": the body in line {line} stands under a condition that is not met"));
        }
        text.push('\n');
    }
    if unseen.len() > UNSEEN {
        text.push_str(&format!("        and {} more functions\n", unseen.len() - UNSEEN));
    }
    text
}

pub fn details(outcome: &Outcome, settings: &Settings, started: Instant) -> String {
    let mut text = String::new();
    if let Some(file) = &settings.file {
        text.push_str(&format!("settings: {}\n", file.display()));
    }
    for (pattern, _) in settings.exclude.as_written().iter().zip(&outcome.walked.exclude).filter(|(_, fits)| !**fits) {
        text.push_str(&format!("the path `{pattern}` of `exclude` fits nothing that was looked at\n"));
    }
    text.push_str(&passed_over(&outcome.skipped, &outcome.walked));
    text.push_str(&unmet_includes(&outcome.walked));
    for (stage, time) in &outcome.stages.0 {
        text.push_str(&format!("{:8.3} s  {stage}\n", time.as_secs_f64()));
    }
    let seconds = started.elapsed().as_secs_f64();
    let bytes = outcome.summary.bytes;
    text.push_str(&format!("{} in {seconds:.2} s", size(bytes)));
    // Of little source most of the time is not spent on reading it.
    if bytes >= 10_000_000 {
        text.push_str(&format!(", {:.0} MB/s", bytes as f64 / 1e6 / seconds));
    }
    text.push('\n');
    text
}

/// The headers that were looked for in vain: what they define is not known.
fn unmet_includes(walked: &Walked) -> String {
    const LISTED: usize = 20;
    let unmet = &walked.unmet_includes;
    let lines = unmet.iter().take(LISTED);
    let lines = lines.map(|(path, line, name)| format!("not found: {name}, included in {path}:{line}\n"));
    let more = unmet.len().saturating_sub(LISTED);
    let more =
        if more > 0 { format!("not found: {more} more; -I DIR names a folder of headers\n") } else { String::new() };
    lines.collect::<String>() + &more
}

/// What was found and not read, and why.
pub fn passed_over(skipped: &[Unread], walked: &Walked) -> String {
    const LISTED: usize = 100;
    let unread = skipped.iter().filter(|unread| !unread.is_named).map(|it| (it.path.clone(), it.why.as_str()));
    let shown = |path: &PathBuf| path.strip_prefix(".").unwrap_or(path).display().to_string();
    let excluded = walked.excluded.iter().map(|path| (shown(path), "excluded by the settings"));
    let ignored = walked.ignored.iter().map(|path| (shown(path), "hidden, or named by .gitignore"));
    let all: Vec<(String, &str)> = unread.chain(excluded).chain(ignored).collect();
    let lines = all.iter().take(LISTED).map(|(path, why)| format!("not read: {path}: {why}\n"));
    let more = all.len().saturating_sub(LISTED);
    lines.collect::<String>() + &if more > 0 { format!("not read: {more} more\n") } else { String::new() }
}

/// `812 bytes`, `4.2 kB`, `12.0 MB`
fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => plural(bytes as usize, "byte"),
        1_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}
