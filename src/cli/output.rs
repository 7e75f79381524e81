//! Where text goes: standard output, files, terminals.

use super::Failure;
use super::arguments::{ColorArguments, ColorWhen};
use super::plan::near;
use crate::report::Style;
use crate::settings;
use std::fs::{File, Metadata};
use std::io::{self, BufWriter, ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};

const WIDTHS: std::ops::RangeInclusive<usize> = 60..=140;

/// Writes to standard output. A reader that went away has seen enough; a full disk is a failure.
pub fn to_stdout(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    let mut out = BufWriter::new(io::stdout().lock());
    match write(&mut out).and_then(|()| out.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => {
            // What is still buffered would fail again when dropped, at worst with a message.
            let _ = out.into_parts();
            Ok(())
        }
        Err(error) => {
            let _ = out.into_parts();
            Err(Failure::line(format!("cannot write to standard output: {}", settings::reason(&error))))
        }
    }
}

/// Whether a file's name stands for standard output.
pub fn is_stdout(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Writes a file whole or not at all; `-` is standard output.
pub fn to_file(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    if is_stdout(path) {
        return to_stdout(write);
    }
    let written = replace(path, write);
    written.map_err(|error| Failure::line(format!("cannot write {}: {}", path.display(), settings::reason(&error))))
}

/// Refuses to write reports over what the run has read.
pub fn spare<'p>(outputs: impl Iterator<Item = &'p Path>, read: impl Iterator<Item = &'p Path>) -> Result<(), Failure> {
    let is_there = |path: &&Path| !is_stdout(path) && path.is_file();
    let targets: Vec<PathBuf> = outputs.filter(is_there).map(target).collect();
    if targets.is_empty() {
        return Ok(());
    }
    let hit = read.filter_map(|path| path.canonicalize().ok()).find(|path| targets.contains(path));
    match hit {
        Some(path) => {
            Err(Failure::line(format!("{} is read by this run; name another file to write to", near(path).display())))
        }
        None => Ok(()),
    }
}

/// The file that is written to under this name: a link stays a link, also one to nowhere.
pub fn target(path: &Path) -> PathBuf {
    const LINKS: usize = 40;
    let mut path = path.to_path_buf();
    for _ in 0..LINKS {
        if let Ok(real) = path.canonicalize() {
            return real;
        }
        let Ok(next) = path.read_link() else { break };
        path = path.parent().unwrap_or(Path::new("")).join(next);
    }
    let path = settings::absolute(&path);
    match (path.parent().and_then(|folder| folder.canonicalize().ok()), path.file_name()) {
        (Some(folder), Some(name)) => folder.join(name),
        _ => path,
    }
}

/// What is there stays until all of the new is written beside it: nobody who stops the run, and no full disk, leaves half a
/// file. A device or a pipe is written to as it is. So is, from what stands beside it, a file that would else get another
/// owner or lose its other names.
pub fn replace(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let path = target(path);
    let known = std::fs::metadata(&path).ok();
    if known.as_ref().is_some_and(|known| !known.is_file()) {
        return write_to(File::create(path)?, write);
    }
    if known.as_ref().is_some_and(|known| known.permissions().readonly()) {
        return Err(ErrorKind::PermissionDenied.into());
    }
    let name = path.file_name().ok_or(ErrorKind::InvalidInput)?.to_string_lossy().into_owned();
    let beside = path.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
    let written = File::create(&beside).and_then(|file| write_to(file, write)).and_then(|()| match &known {
        Some(known) if !keeps_owner(known, &beside) => {
            io::copy(&mut File::open(&beside)?, &mut File::create(&path)?)?;
            std::fs::remove_file(&beside)
        }
        Some(known) => {
            std::fs::set_permissions(&beside, known.permissions())?;
            std::fs::rename(&beside, &path)
        }
        None => std::fs::rename(&beside, &path),
    });
    if written.is_err() {
        let _ = std::fs::remove_file(&beside);
    }
    written
}

/// Gives a new file the owner of the one that it is to replace; whether the one can stand for the other.
#[cfg(unix)]
fn keeps_owner(known: &Metadata, new: &Path) -> bool {
    use std::os::unix::fs::{MetadataExt, chown};
    let is_same = |new: &Metadata| (new.uid(), new.gid()) == (known.uid(), known.gid());
    known.nlink() == 1
        && (std::fs::metadata(new).is_ok_and(|new| is_same(&new))
            || chown(new, Some(known.uid()), Some(known.gid())).is_ok())
}

#[cfg(not(unix))]
fn keeps_owner(_known: &Metadata, _new: &Path) -> bool {
    true
}

fn write_to(file: File, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut out = BufWriter::new(file);
    write(&mut out)?;
    out.flush()
}

/// Writes to standard error, where nobody can be told of a failure.
pub fn to_stderr(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}

/// How text for people is to look on a stream.
pub fn style(color: &ColorArguments, is_terminal: bool) -> Style {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty() && value != "0");
    let color = match color.color {
        ColorWhen::Always => true,
        ColorWhen::Never => false,
        ColorWhen::Auto if std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty()) => false,
        ColorWhen::Auto if set("FORCE_COLOR") || set("CLICOLOR_FORCE") => true,
        ColorWhen::Auto => is_terminal && std::env::var_os("TERM").is_none_or(|term| term != "dumb"),
    };
    Style { color, unicode: speaks_unicode(), width: width(is_terminal) }
}

pub fn stdout_style(color: &ColorArguments) -> Style {
    style(color, io::stdout().is_terminal())
}

pub fn stderr_style(color: &ColorArguments) -> Style {
    style(color, io::stderr().is_terminal())
}

/// Batch systems often run with the C locale, and their terminals show box drawing as rubbish.
fn speaks_unicode() -> bool {
    if cfg!(any(windows, target_os = "macos")) {
        return true;
    }
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    match ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set) {
        Some(locale) => locale.to_ascii_lowercase().replace('-', "").contains("utf8"),
        // Nobody set one, as in containers.
        None => true,
    }
}

fn width(is_terminal: bool) -> usize {
    let told = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let seen = || is_terminal.then(terminal_size::terminal_size).flatten().map(|(width, _)| usize::from(width.0));
    told.or_else(seen).unwrap_or(100).clamp(*WIDTHS.start(), *WIDTHS.end())
}
