//! Arguments -> what a run reads, under which settings, and what of it is reported.

use super::Failure;
use super::arguments::{self, ColorArguments, Input};
use super::output::stderr_style;
use crate::report::human;
use crate::rules;
use crate::session::Request;
use crate::settings::{self, Repository, Settings};
use crate::source::reading;
use std::path::{Path, PathBuf};

/// What the arguments come to.
pub struct Plan {
    pub settings: Settings,
    pub request: Request,
    pub repository: Repository,
}

pub fn plan(input: &Input, color: &ColorArguments) -> Result<Plan, Failure> {
    let (mut settings, discovered) = settings_of(input, color)?;
    let rules = |chosen: &[arguments::Rules]| chosen.iter().flat_map(|rules| &rules.0).copied().collect();
    settings.choose(input.select.as_deref().map(rules), rules(&input.ignore));
    if !rules::ALL.iter().any(|rule| settings.severity(rule, rule.severity, Path::new("")).is_some()) {
        return Err(Failure::line("no rule is left to run: --select, --ignore and the settings leave out all of them"));
    }
    settings.exited_threads = input.exited_threads.unwrap_or(settings.exited_threads);
    settings.define.extend(input.define.iter().cloned());
    settings.undefine.extend(input.undefine.iter().cloned());
    settings.include.extend(input.include.iter().cloned());
    settings.build = input.build.clone().or(settings.build);
    settings.jobs = input.jobs.map(usize::from);

    let mut paths = input.paths.clone();
    let from_stdin = paths.iter().any(|path| is_stdin(path)) || (paths.is_empty() && input.stdin_filename.is_some());
    if input.stdin_filename.is_some() && !from_stdin {
        return Err(Failure::line(
            "--stdin-filename names standard input, which is not read: `-` among the paths does",
        ));
    }
    if let Some(name) = input.stdin_filename.as_ref().filter(|name| name.is_dir() || name.as_os_str().is_empty()) {
        return Err(Failure::line(format!("--stdin-filename names a file, and `{}` is none", name.display())));
    }
    paths.retain(|path| !is_stdin(path));
    let stdin = if from_stdin { Some(read_stdin(input)?) } else { None };

    // The whole program is read where it is known what that is: a barrier's callers may be in any file.
    let root = input.root.clone().or_else(|| discovered.then(|| settings.file.as_ref()?.parent().map(near)).flatten());
    // The settings may stand in a folder above: without paths, the working folder is meant all the same.
    let is_here = |root: &PathBuf| root.as_os_str() == ".";
    let asked = !paths.is_empty() || stdin.is_some() || input.root.is_none() && !root.as_ref().is_none_or(is_here);
    if paths.is_empty() && stdin.is_none() && (asked || root.is_none()) {
        paths.push(PathBuf::from("."));
    }
    let mut only = paths.clone();
    only.extend(stdin.iter().map(|(name, _)| name.clone()));
    if !asked {
        only.extend(root.clone());
    }
    // Where nothing is there, the root is not read for nothing; else the run tells of what is not.
    let absent: Vec<String> =
        paths.iter().filter_map(|path| Some(missing(path, &std::fs::metadata(path).err()?))).collect();
    let is_verb = input.paths.first().is_some_and(|path| meant_verb(path).is_some() && !path.exists());
    if !absent.is_empty() && (absent.len() == paths.len() || is_verb) && stdin.is_none() {
        return Err(Failure(absent.iter().map(|line| format!("error: {line}\n")).collect()));
    }
    let start = paths.first().or(root.as_ref()).or(stdin.as_ref().map(|(name, _)| name)).cloned();
    let otherwise = settings.file.as_deref().filter(|_| discovered).and_then(Path::parent);
    let repository = Repository::of(&start.unwrap_or_default(), otherwise);
    paths.extend(root);
    let texts = Vec::from_iter(stdin);
    let (force_exclude, no_ignore) = (input.force_exclude, input.no_ignore);
    Ok(Plan {
        settings,
        request: Request { read: paths, only: Some(only), texts, force_exclude, no_ignore, ..Request::default() },
        repository,
    })
}

/// What is read for a question about one file, `named` so and found at `path`: who calls what is in it, and what it calls,
/// may stand anywhere in the program. Without paths that is what `check` would read: the folder of the settings, which
/// `plan` adds, else the working folder if the file lies in it, else the file's own folder.
pub fn round(named: &Path, path: &Path, input: &Input) -> Input {
    let mut paths = input.paths.clone();
    let has_place = !is_stdin(named) || input.stdin_filename.is_some();
    let has_root = || input.root.is_some() || matches!(settings_file(input), Some((_, true)));
    if paths.is_empty() && has_place && !has_root() {
        paths.push(settings::program_of(path).map_or(PathBuf::from("."), near));
    }
    paths.push(named.to_path_buf());
    Input { paths, ..input.clone() }
}

/// The settings, and whether their file was found rather than named.
fn settings_of(input: &Input, color: &ColorArguments) -> Result<(Settings, bool), Failure> {
    let Some((path, discovered)) = settings_file(input) else { return Ok((Settings::default(), false)) };
    let settings = Settings::read(&path).map_err(|error| settings_failure(&error, color))?;
    Ok((settings, discovered))
}

/// The file of settings, and whether it was found rather than named.
fn settings_file(input: &Input) -> Option<(PathBuf, bool)> {
    match &input.config {
        _ if input.isolated => None,
        Some(path) => Some((path.clone(), false)),
        None => Some((near(settings::find(input.root.as_deref().unwrap_or(Path::new("")))?), true)),
    }
}

pub fn settings_failure(error: &settings::Error, color: &ColorArguments) -> Failure {
    let text = human::settings_error(error, stderr_style(color));
    if error.place.is_some() { Failure(text) } else { Failure(format!("error: {text}")) }
}

/// A path as seen from the working folder: it lies below it, or in a folder above.
pub fn near(path: impl AsRef<Path>) -> PathBuf {
    let path = path.as_ref();
    let Ok(folder) = std::env::current_dir() else { return path.to_path_buf() };
    let seen = folder.ancestors().enumerate().find_map(|(up, above)| Some((up, path.strip_prefix(above).ok()?)));
    let seen = match seen {
        // From the top of the file system nothing is gained.
        Some((up, inside)) if up == 0 || folder.ancestors().nth(up + 1).is_some() => {
            let up = std::iter::repeat_n("..", up).collect::<PathBuf>();
            if inside.as_os_str().is_empty() { up } else { up.join(inside) }
        }
        _ => path.to_path_buf(),
    };
    if seen.as_os_str().is_empty() { PathBuf::from(".") } else { seen }
}

/// A path that is not there may be a verb that is misspelt.
fn missing(path: &Path, error: &std::io::Error) -> String {
    let hint = match meant_verb(path) {
        Some(verb) if path.as_os_str() == verb => format!(" (the verb `{verb}` comes first, and once)"),
        Some(verb) => format!(" (did you mean the verb `{verb}`?)"),
        None => String::new(),
    };
    format!("{}: {}{hint}", path.display(), settings::reason(error))
}

fn meant_verb(path: &Path) -> Option<&'static str> {
    const VERBS: [&str; 11] =
        ["check", "why", "graph", "explain", "rules", "baseline", "config", "lsp", "completions", "man", "help"];
    let name = path.to_string_lossy();
    let index = if name.contains(['/', '.']) { None } else { rules::nearest(&name, VERBS.into_iter()) };
    index.map(|index| VERBS[index])
}

pub fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// The name that standard input goes by, as reports spell it.
pub fn stdin_name(input: &Input) -> PathBuf {
    let name = input.stdin_filename.as_deref().unwrap_or(Path::new("stdin.cu"));
    name.strip_prefix(".").unwrap_or(name).to_path_buf()
}

fn read_stdin(input: &Input) -> Result<(PathBuf, Vec<u8>), Failure> {
    let bytes = reading::bounded(std::io::stdin().lock(), 0, reading::MAX_FILE_BYTES)
        .map_err(|error| Failure::line(format!("cannot read standard input: {}", settings::reason(&error))))?;
    Ok((stdin_name(input), bytes))
}
