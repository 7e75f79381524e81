//! The verbs `check` and `baseline`: a plan -> run -> reports -> verdict.

use super::arguments::{self, ColorArguments};
use super::fix;
use super::output::{is_stdout, spare, stderr_style, stdout_style, style, target, to_file, to_stderr, to_stdout};
use super::plan::{Plan, is_stdin, near, plan};
use super::progress::watched;
use super::{Exit, Failure, shard, summary};
use crate::baseline::{self, Baseline, Marked};
use crate::finding::Unread;
use crate::report::{self, Format, Report, markdown, plural};
use crate::rules;
use crate::session::{self, Conclusion, Outcome, Request};
use crate::settings::{self, FailOn, Repository, Settings};
use crate::text::Source;
use std::fs::OpenOptions;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::Instant;

pub fn check(given: &arguments::Check) -> Result<Exit, Failure> {
    let started = Instant::now();
    let to_stdout_too = given.output.iter().filter(|(_, path)| is_stdout(path)).count();
    if to_stdout_too + usize::from(given.format.is_some()) > 1 {
        return Err(Failure::line("two reports cannot both go to standard output; name a file for one of them"));
    }
    let files: Vec<PathBuf> = given.output.iter().map(|(_, path)| target(path)).collect();
    if let Some(nth) =
        (1..files.len()).find(|nth| files[..*nth].contains(&files[*nth]) && !is_stdout(&given.output[*nth].1))
    {
        let (_, path) = &given.output[nth];
        return Err(Failure::line(format!("two reports cannot both go to {}; name another file", path.display())));
    }
    let arguments = &arguments::Check { format: given.format.or(usual_format()?), ..given.clone() };
    let Plan { settings, mut request, repository } = plan(&arguments.input, &arguments.color)?;
    request.tell_ignored = arguments.verbose || arguments.show_files;
    if arguments.show_files {
        let (paths, skipped, walked) = session::files(&settings, &request).map_err(|error| Failure::line(error.0))?;
        to_stderr(&faults(&skipped));
        to_stdout(|out| paths.iter().try_for_each(|path| writeln!(out, "{path}")))?;
        to_stderr(&if arguments.verbose { summary::passed_over(&skipped, &walked) } else { String::new() });
        return Ok(verdict(&[], FailOn::Never, &skipped, paths.len()));
    }
    request.fixes = true;
    request.every_call = arguments.statistics;
    request.tell_lacking = !arguments.quiet;
    let is_html = |format: &Format| *format == Format::Html;
    request.charts = arguments.format.iter().chain(arguments.output.iter().map(|(format, _)| format)).any(is_html);
    let fail_on = match arguments.fail_on {
        _ if arguments.exit_zero => FailOn::Never,
        Some(level) => level,
        None => settings.fail_on,
    };
    let baseline = read_baseline(arguments, &settings)?;

    if arguments.fix && !request.texts.is_empty() {
        return fix_text(arguments, &settings, request, &baseline, &repository, fail_on);
    }
    if let Some(shard) = arguments.sharding.shard {
        return shard::print_part(&settings, &request, shard, arguments.quiet);
    }
    let mut outcome = match arguments.sharding.join.as_slice() {
        [] => watched(!arguments.quiet, |progress| session::run(&settings, &request, progress))
            .map_err(|error| Failure::line(error.0))?,
        parts => shard::joined(&settings, &request, parts)?,
    };
    let only = request.only.as_deref();
    let mut conclusion = session::conclude(&mut outcome, &settings, only, &baseline, &repository);
    let transcoded = fix::leave_transcoded(&mut conclusion.findings, &outcome.sources, &request.texts);
    if arguments.fix || arguments.diff {
        to_stderr(&transcoded);
    }
    let Conclusion { findings, summary, .. } = &conclusion;
    if arguments.fix {
        let made = fix::write(findings, &outcome.sources)?;
        to_stderr(&made);
        to_stderr(&fix::unsought(outcome.unsought));
        let rest = arguments::Check { fix: false, ..given.clone() };
        return check(&rest);
    }
    to_stderr(&faults(&outcome.skipped));
    let verdict = verdict(findings, fail_on, &outcome.skipped, outcome.sources.len());
    if arguments.diff {
        let diff = fix::diff(findings, &outcome.sources);
        to_stdout(|out| out.write_all(&diff))?;
        if diff.is_empty() && transcoded.is_empty() && !findings.is_empty() && !arguments.quiet {
            to_stderr(fix::NO_SAFE_CHANGE);
        }
        to_stderr(&fix::unsought(outcome.unsought));
        return Ok(verdict);
    }
    let repository_path = |path: &str| repository.path(path);
    let report = Report {
        skipped: &outcome.skipped,
        charts: &outcome.charts,
        suppressed: conclusion.suppressed,
        known: conclusion.known,
        unseen: arguments.statistics.then_some(outcome.unseen.as_slice()),
        ..Report::new(findings, &outcome.sources, summary.clone(), rules::ALL, &repository_path)
    };
    spare_what_is_read(arguments, &settings, &outcome.sources)?;
    write_reports(arguments, &report)?;
    if !arguments.quiet {
        if !arguments.verbose && !arguments.statistics {
            to_stderr(&summary::unread_lines(&outcome.skipped));
        }
        to_stderr(&summary::line(&report, fix::count(findings), outcome.unsought));
        to_stderr(&summary::elsewhere(&conclusion.elsewhere, &request));
        let nothing = summary::nothing_to_find(&outcome, &settings, &request);
        to_stderr(&if nothing.is_empty() { summary::lacking_header(&outcome) } else { nothing });
        to_stderr(&summary::stale_lines(&conclusion.stale));
    }
    // Settings that fit nothing are a fault of the user's, and quiet runs are those that nobody looks at again.
    to_stderr(&summary::unknown_names(&settings, &outcome, &request));
    if arguments.statistics {
        to_stderr(&summary::statistics(&report, &conclusion.aside, &outcome.unseen, arguments.verbose));
    }
    if arguments.verbose {
        to_stderr(&summary::details(&outcome, &settings, started));
    }
    Ok(verdict)
}

/// `--fix -`: standard input with its changes goes to standard output, what is left to be found to standard error.
fn fix_text(
    arguments: &arguments::Check,
    settings: &Settings,
    mut request: Request,
    baseline: &Baseline,
    repository: &Repository,
    fail_on: FailOn,
) -> Result<Exit, Failure> {
    if given_files(arguments) {
        return Err(Failure::line("--fix changes either files or standard input; name one or the other"));
    }
    if arguments.output.iter().any(|(_, path)| is_stdout(path)) {
        return Err(Failure::line("standard output is for the changed text; name a file for the report"));
    }
    let run = |request: &Request| -> Result<(Outcome, Conclusion), Failure> {
        let mut outcome = watched(false, |progress| session::run(settings, request, progress))
            .map_err(|error| Failure::line(error.0))?;
        let conclusion = session::conclude(&mut outcome, settings, request.only.as_deref(), baseline, repository);
        Ok((outcome, conclusion))
    };
    let (outcome, mut conclusion) = run(&request)?;
    to_stderr(&fix::leave_transcoded(&mut conclusion.findings, &outcome.sources, &request.texts));
    if let [(name, text)] = &mut request.texts[..] {
        *text = fix::changed(name, text, &conclusion.findings, &outcome.sources);
        to_stdout(|out| out.write_all(text))?;
    }
    let (outcome, conclusion) = run(&request)?;
    to_stderr(&faults(&outcome.skipped));
    let repository_path = |path: &str| repository.path(path);
    let Conclusion { findings, summary, suppressed, known, .. } = &conclusion;
    let report = Report {
        skipped: &outcome.skipped,
        suppressed: *suppressed,
        known: *known,
        ..Report::new(findings, &outcome.sources, summary.clone(), rules::ALL, &repository_path)
    };
    spare_what_is_read(arguments, settings, &outcome.sources)?;
    for (format, path) in &arguments.output {
        to_file(path, |out| report::render(&report, *format, style(&arguments.color, false), out))?;
    }
    let mut told = Vec::new();
    let format = arguments.format.unwrap_or(Format::Human);
    // Writing to memory does not fail.
    let _ = report::render(&report, format, stderr_style(&arguments.color), &mut told);
    to_stderr(&String::from_utf8_lossy(&told));
    if !arguments.quiet {
        to_stderr(&summary::line(&report, fix::count(findings), outcome.unsought));
    }
    Ok(verdict(findings, fail_on, &outcome.skipped, outcome.sources.len()))
}

/// Whether files are named beside standard input.
fn given_files(arguments: &arguments::Check) -> bool {
    arguments.input.paths.iter().any(|path| !is_stdin(path))
}

/// What is wanted wherever the command line asks for nothing else.
fn usual_format() -> Result<Option<Format>, Failure> {
    const NAME: &str = "SYNCLINT_FORMAT";
    let name = std::env::var(NAME).ok().filter(|name| !name.is_empty());
    let format = name.map(|name| arguments::format_parser(&name)).transpose();
    format.map_err(|why| Failure::line(format!("{NAME}: {why}")))
}

/// What the user named and could not be read decides, and where not one file could be read: nobody can say what is in it.
fn verdict(findings: &[Marked], fail_on: FailOn, skipped: &[Unread], read: usize) -> Exit {
    let failed = findings.iter().any(|marked| fail_on.fails(marked.finding.severity));
    match failed {
        _ if skipped.iter().any(|unread| unread.is_named) || read == 0 && !skipped.is_empty() => Exit::Unread,
        true => Exit::Found,
        false => Exit::Clean,
    }
}

/// A line for each path that the user named and that could not be read.
fn faults(skipped: &[Unread]) -> String {
    let named = skipped.iter().filter(|unread| unread.is_named);
    named.map(|Unread { path, why, .. }| format!("error: {path}: {why}\n")).collect()
}

pub fn baseline(arguments: &arguments::Baseline) -> Result<Exit, Failure> {
    let Plan { settings, request, repository } = plan(&arguments.input, &ColorArguments::default())?;
    let path = arguments.output.clone().unwrap_or_else(|| default_baseline(&settings));
    let old = if path.exists() { parse_baseline(&path)? } else { Baseline::default() };
    let mut outcome = watched(true, |progress| session::run(&settings, &request, progress))
        .map_err(|error| Failure::line(error.0))?;
    let faults = faults(&outcome.skipped);
    if !faults.is_empty() {
        return Err(Failure(format!("{faults}error: the baseline is left as it is\n")));
    }
    let only = request.only.as_deref();
    let conclusion = session::conclude(&mut outcome, &settings, only, &old, &repository);
    let new = Baseline::of(&conclusion.findings, &outcome.sources, &|path| repository.path(path));
    let added = new.len();
    let baseline = old.updated(&conclusion.stale, new);
    to_file(&path, |out| baseline.write(out))?;
    let change = match (old.is_empty(), added, conclusion.stale.len()) {
        (true, ..) | (_, 0, 0) => String::new(),
        (_, added, gone) => format!(": {added} added, {gone} found no more"),
    };
    to_stderr(&format!("synclint: {} written to {}{change}\n", plural(baseline.len(), "finding"), path.display()));
    to_stderr(&summary::nothing_to_find(&outcome, &settings, &request));
    Ok(Exit::Clean)
}

/// Beside the settings; without any the nearest in the working folder or above it, within the repository.
fn default_baseline(settings: &Settings) -> PathBuf {
    let name = baseline::FILE_NAME;
    match settings.file.as_deref().and_then(Path::parent) {
        Some(folder) => folder.join(name),
        None => settings::find_above(Path::new(""), &[name]).map_or(PathBuf::from(name), near),
    }
}

fn spare_what_is_read(arguments: &arguments::Check, settings: &Settings, sources: &[Source]) -> Result<(), Failure> {
    let baseline = arguments.baseline.clone().unwrap_or_else(|| default_baseline(settings));
    let own = settings.file.iter().chain([&baseline]).chain(&arguments.sharding.join).map(PathBuf::as_path);
    let sources = sources.iter().map(|source| Path::new(&source.path));
    spare(arguments.output.iter().map(|(_, path)| path.as_path()), own.chain(sources))
}

fn read_baseline(arguments: &arguments::Check, settings: &Settings) -> Result<Baseline, Failure> {
    if arguments.no_baseline {
        return Ok(Baseline::default());
    }
    let path = match &arguments.baseline {
        Some(path) => path.clone(),
        None => default_baseline(settings),
    };
    if arguments.baseline.is_none() && !path.exists() {
        return Ok(Baseline::default());
    }
    parse_baseline(&path)
}

fn parse_baseline(path: &Path) -> Result<Baseline, Failure> {
    let fault = |message: String| Failure::line(format!("the baseline {} {message}", path.display()));
    let text =
        settings::own_text(path).map_err(|error| fault(format!("cannot be read: {}", settings::reason(&error))))?;
    Baseline::parse(&text).map_err(fault)
}

fn write_reports(arguments: &arguments::Check, report: &Report) -> Result<(), Failure> {
    for (format, path) in &arguments.output {
        let style = if is_stdout(path) { stdout_style(&arguments.color) } else { style(&arguments.color, false) };
        to_file(path, |out| report::render(report, *format, style, out))?;
    }
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| value == "true");
    let in_actions = set("GITHUB_ACTIONS") && !std::io::stdout().is_terminal();
    let format = arguments.format.unwrap_or(if in_actions { Format::Github } else { Format::Human });
    if !arguments.output.iter().any(|(_, path)| is_stdout(path)) {
        let style = stdout_style(&arguments.color);
        to_stdout(|out| report::render(report, format, style, out))?;
    }
    match std::env::var_os("GITHUB_STEP_SUMMARY").filter(|path| !path.is_empty()).map(PathBuf::from) {
        Some(path) if format == Format::Github => append_step_summary(&path, report),
        _ => Ok(()),
    }
}

fn append_step_summary(path: &Path, report: &Report) -> Result<(), Failure> {
    let written = OpenOptions::new().append(true).create(true).open(path).and_then(|mut file| {
        let mut text = Vec::new();
        markdown::render(report, &mut text)?;
        std::io::Write::write_all(&mut file, &text)
    });
    written.map_err(|error| Failure::line(format!("cannot write {}: {}", path.display(), settings::reason(&error))))
}
