//! The verbs `check` and `baseline`: arguments -> settings -> run -> reports -> verdict.

use super::arguments::{self, ColorArguments, Input};
use super::fix;
use super::output::{stderr_style, stdout_style, style, to_file, to_stderr, to_stdout};
use super::progress::watched;
use super::shard;
use super::{Exit, Failure};
use crate::baseline::{self, Baseline, Marked};
use crate::finding::Severity;
use crate::report::{self, Format, Report, human, markdown, plural};
use crate::rules;
use crate::session::{self, Conclusion, Outcome, Request};
use crate::settings::{self, FailOn, Repository, Settings};
use std::fs::OpenOptions;
use std::io::{IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::time::Instant;

pub fn check(arguments: &arguments::Check) -> Result<Exit, Failure> {
    let started = Instant::now();
    let Plan { settings, mut request, repository } = plan(&arguments.input, &arguments.color)?;
    if arguments.fix && !request.texts.is_empty() {
        return Err(Failure::line("--fix changes files, and standard input is none; --diff shows the changes"));
    }
    request.fixes = true;
    let is_html = |format: &Format| *format == Format::Html;
    request.charts = arguments.format.iter().chain(arguments.output.iter().map(|(format, _)| format)).any(is_html);
    let fail_on = match arguments.fail_on {
        _ if arguments.exit_zero => FailOn::Never,
        Some(level) => level,
        None => settings.fail_on,
    };
    let baseline = read_baseline(arguments, &settings)?;

    if let Some(shard) = arguments.sharding.shard {
        return shard::print_part(&settings, &request, shard, arguments.quiet);
    }
    let mut outcome = match arguments.sharding.join.as_slice() {
        [] => watched(!arguments.quiet, |progress| session::run(&settings, &request, progress))
            .map_err(|error| Failure::line(error.0))?,
        parts => shard::joined(&settings, &request, parts)?,
    };
    let only = request.only.as_deref();
    let conclusion = session::conclude(&mut outcome, &settings, only, &baseline, &repository);

    let repository_path = |path: &str| repository.path(path);
    let Conclusion { findings, summary, .. } = &conclusion;
    if arguments.fix {
        let made = fix::write(findings, &outcome.sources)?;
        to_stderr(&made);
        let rest = arguments::Check { fix: false, ..arguments.clone() };
        return check(&rest);
    }
    if arguments.diff {
        let diff = fix::diff(findings, &outcome.sources);
        to_stdout(|out| out.write_all(&diff))?;
        return Ok(verdict(findings, fail_on));
    }
    let report = Report {
        skipped: &outcome.skipped,
        charts: &outcome.charts,
        suppressed: conclusion.suppressed,
        known: conclusion.known,
        ..Report::new(findings, &outcome.sources, summary.clone(), rules::ALL, &repository_path)
    };
    write_reports(arguments, &report)?;
    if !arguments.quiet {
        if !arguments.verbose && !arguments.statistics {
            to_stderr(&unread_lines(&outcome.skipped));
        }
        to_stderr(&summary_line(&report));
    }
    if !arguments.quiet {
        to_stderr(&unknown_kernels(&settings, &outcome));
    }
    if !arguments.quiet && !conclusion.stale.is_empty() {
        to_stderr(&stale_lines(&conclusion.stale));
    }
    if arguments.statistics {
        to_stderr(&statistics(&report));
    }
    if arguments.verbose {
        to_stderr(&details(&outcome, &settings, started));
    }
    Ok(verdict(findings, fail_on))
}

fn verdict(findings: &[Marked], fail_on: FailOn) -> Exit {
    let failed = findings.iter().any(|marked| fail_on.fails(marked.finding.severity));
    if failed { Exit::Found } else { Exit::Clean }
}

pub fn baseline(arguments: &arguments::Baseline) -> Result<Exit, Failure> {
    let Plan { settings, request, repository } = plan(&arguments.input, &ColorArguments::default())?;
    let mut outcome = watched(true, |progress| session::run(&settings, &request, progress))
        .map_err(|error| Failure::line(error.0))?;
    let only = request.only.as_deref();
    let conclusion = session::conclude(&mut outcome, &settings, only, &Baseline::default(), &repository);
    let baseline = Baseline::of(&conclusion.findings, &outcome.sources, &|path| repository.path(path));
    let path = arguments.output.clone().unwrap_or_else(|| default_baseline(&settings));
    to_file(&path, |out| baseline.write(out))?;
    to_stderr(&format!("synclint: {} written to {}\n", plural(baseline.len(), "finding"), path.display()));
    Ok(Exit::Clean)
}

/// What the arguments come to.
pub struct Plan {
    pub settings: Settings,
    pub request: Request,
    pub repository: Repository,
}

pub fn plan(input: &Input, color: &ColorArguments) -> Result<Plan, Failure> {
    let (mut settings, discovered) = settings_of(input, color)?;
    settings.choose(input.select.clone(), input.ignore.clone());
    settings.exited_threads = input.exited_threads.unwrap_or(settings.exited_threads);
    settings.define.extend(input.define.iter().cloned());
    settings.undefine.extend(input.undefine.iter().cloned());
    settings.include.extend(input.include.iter().cloned());
    settings.build = input.build.clone().or(settings.build);
    settings.jobs = input.jobs.map(usize::from);

    let mut paths = input.paths.clone();
    let from_stdin =
        paths.iter().any(|path| path.as_os_str() == "-") || (paths.is_empty() && input.stdin_filename.is_some());
    paths.retain(|path| path.as_os_str() != "-");
    let stdin = if from_stdin { Some(read_stdin(input)?) } else { None };

    // The whole program is read where it is known what that is: a barrier's callers may be in any file.
    let root = input.root.clone().or_else(|| discovered.then(|| settings.file.as_ref()?.parent().map(near)).flatten());
    let asked = !paths.is_empty() || stdin.is_some();
    let mut only = paths.clone();
    only.extend(stdin.iter().map(|(name, _)| name.clone()));
    if !asked && root.is_none() {
        paths.push(PathBuf::from("."));
    }
    for path in &paths {
        // Before the root is read for nothing.
        if let Err(error) = std::fs::metadata(path) {
            return Err(Failure::line(missing(path, &error)));
        }
    }
    let only = asked.then_some(only);
    let start = paths.first().or(root.as_ref()).or(stdin.as_ref().map(|(name, _)| name)).cloned();
    let otherwise = settings.file.as_deref().filter(|_| discovered).and_then(Path::parent);
    let repository = Repository::of(&start.unwrap_or_default(), otherwise);
    paths.extend(root);
    let texts = Vec::from_iter(stdin);
    let (force_exclude, no_ignore) = (input.force_exclude, input.no_ignore);
    Ok(Plan {
        settings,
        request: Request { read: paths, only, texts, force_exclude, no_ignore, ..Request::default() },
        repository,
    })
}

/// The settings, and whether their file was found rather than named.
fn settings_of(input: &Input, color: &ColorArguments) -> Result<(Settings, bool), Failure> {
    let (path, discovered) = match &input.config {
        _ if input.isolated => (None, false),
        Some(path) => (Some(path.clone()), false),
        None => (settings::find(input.root.as_deref().unwrap_or(Path::new(""))).map(|path| near(&path)), true),
    };
    let Some(path) = path else { return Ok((Settings::default(), false)) };
    let settings = Settings::read(&path).map_err(|error| settings_failure(&error, color))?;
    Ok((settings, discovered))
}

pub fn settings_failure(error: &settings::Error, color: &ColorArguments) -> Failure {
    let text = human::settings_error(error, stderr_style(color));
    if error.place.is_some() { Failure(text) } else { Failure(format!("error: {text}")) }
}

/// A path as seen from the working folder, where it lies below it.
fn near(path: impl AsRef<Path>) -> PathBuf {
    let path = path.as_ref();
    let inside = std::env::current_dir().ok().and_then(|folder| path.strip_prefix(folder).ok().map(Path::to_path_buf));
    match inside {
        Some(inside) if inside.as_os_str().is_empty() => PathBuf::from("."),
        Some(inside) => inside,
        None if path.as_os_str().is_empty() => PathBuf::from("."),
        None => path.to_path_buf(),
    }
}

/// A path that is not there may be a verb that is misspelt.
fn missing(path: &Path, error: &std::io::Error) -> String {
    const VERBS: [&str; 10] =
        ["check", "why", "graph", "explain", "rules", "baseline", "config", "lsp", "completions", "man"];
    let name = path.to_string_lossy();
    let verb = if name.contains(['/', '.']) { None } else { rules::nearest(&name, VERBS.into_iter()) };
    let hint = verb.map(|index| format!(" (did you mean the verb `{}`?)", VERBS[index])).unwrap_or_default();
    format!("{name}: {}{hint}", settings::reason(error))
}

fn read_stdin(input: &Input) -> Result<(PathBuf, Vec<u8>), Failure> {
    let mut bytes = Vec::new();
    std::io::stdin()
        .lock()
        .read_to_end(&mut bytes)
        .map_err(|error| Failure::line(format!("cannot read standard input: {}", settings::reason(&error))))?;
    Ok((input.stdin_filename.clone().unwrap_or_else(|| PathBuf::from("stdin.cu")), bytes))
}

fn default_baseline(settings: &Settings) -> PathBuf {
    let folder = settings.file.as_deref().and_then(Path::parent).unwrap_or(Path::new(""));
    folder.join(baseline::FILE_NAME)
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
    let fault = |message: String| Failure::line(format!("the baseline {}: {message}", path.display()));
    let text = std::fs::read_to_string(&path).map_err(|error| fault(settings::reason(&error)))?;
    Baseline::parse(&text).map_err(fault)
}

fn write_reports(arguments: &arguments::Check, report: &Report) -> Result<(), Failure> {
    for (format, path) in &arguments.output {
        let style = style(&arguments.color, false);
        to_file(path, |out| report::render(report, *format, style, out))?;
    }
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| value == "true");
    let in_actions = set("GITHUB_ACTIONS") && !std::io::stdout().is_terminal();
    let format = arguments.format.unwrap_or(if in_actions { Format::Github } else { Format::Human });
    let style = stdout_style(&arguments.color);
    to_stdout(|out| report::render(report, format, style, out))?;
    match std::env::var_os("GITHUB_STEP_SUMMARY").map(PathBuf::from) {
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

/// `synclint: 3 files, 4 kernels, 9 barriers: 2 errors, 1 warning; 1 function not understood`
fn summary_line(report: &Report) -> String {
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
    let mended = report.findings.iter().filter(|located| !located.finding.fixes.is_empty()).count();
    if mended > 0 {
        line.push_str(&format!("; {mended} can be mended with --fix"));
    }
    line.push('\n');
    line
}

/// The first files that were not read, and why; a silent gap would pass for a clean file.
fn unread_lines(skipped: &[(String, String)]) -> String {
    const LISTED: usize = 5;
    let listed = skipped.iter().take(LISTED).map(|(path, reason)| format!("synclint: not read: {path}: {reason}\n"));
    let mut text: String = listed.collect();
    if skipped.len() > LISTED {
        text.push_str(&format!("synclint: not read: {} more, --verbose names them\n", skipped.len() - LISTED));
    }
    text
}

fn stale_lines(stale: &[String]) -> String {
    const LISTED: usize = 10;
    let mut text = format!(
        "synclint: {} of the baseline found no more; `synclint baseline` writes it anew\n",
        plural(stale.len(), "finding")
    );
    for entry in stale.iter().take(LISTED) {
        text.push_str(&format!("  {entry}\n"));
    }
    text
}

/// Kernels that synclint.toml speaks of and nobody wrote: most likely misspelt.
fn unknown_kernels(settings: &Settings, outcome: &Outcome) -> String {
    let mut text = String::new();
    for name in settings.kernels.keys().filter(|name| !outcome.kernels.contains(*name)) {
        let near = rules::nearest(name, outcome.kernels.iter().map(String::as_str));
        let hint = near.map(|index| format!("; did you mean `{}`?", outcome.kernels[index])).unwrap_or_default();
        text.push_str(&format!(
            "synclint: the settings speak of a kernel `{name}` that is not among those read{hint}\n"
        ));
    }
    text
}

fn statistics(report: &Report) -> String {
    let mut text = String::new();
    for rule in report.rules {
        let count = report.findings.iter().filter(|located| located.finding.rule.name == rule.name).count();
        if count > 0 {
            text.push_str(&format!("{count:6}  {}\n", rule.name));
        }
    }
    let summary = &report.summary;
    text.push_str(&format!(
        "{:6}  kernels and {} device functions with {} barriers, in {} files of {} bytes\n",
        summary.kernels, summary.device_functions, summary.barriers, summary.files, summary.bytes
    ));
    for located in &report.findings {
        if located.finding.rule.name == rules::INCOMPLETE.name {
            let (path, line) = (report.path(located.at.range.file), located.at.start.line);
            text.push_str(&format!("not understood: {path}:{line}: {}\n", located.finding.message));
        }
    }
    for (path, reason) in report.skipped {
        text.push_str(&format!("not read: {path}: {reason}\n"));
    }
    text
}

fn details(outcome: &Outcome, settings: &Settings, started: Instant) -> String {
    let mut text = String::new();
    if let Some(file) = &settings.file {
        text.push_str(&format!("settings: {}\n", file.display()));
    }
    for (path, reason) in &outcome.skipped {
        text.push_str(&format!("not read: {path}: {reason}\n"));
    }
    for (stage, time) in &outcome.stages.0 {
        text.push_str(&format!("{:8.3} s  {stage}\n", time.as_secs_f64()));
    }
    let seconds = started.elapsed().as_secs_f64();
    let megabytes = outcome.summary.bytes as f64 / 1e6;
    text.push_str(&format!("{megabytes:.1} MB in {seconds:.2} s, {:.0} MB/s\n", megabytes / seconds));
    text
}
