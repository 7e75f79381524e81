//! Reads what a run is asked for: the walk, the bytes of each file, the macros the user gave -> indexed files.

use super::names::Names;
use super::{Error, Request, Stages, includes};
use crate::finding::Unread;
use crate::settings::{Patterns, Settings};
use crate::source::compile_commands::CompileCommands;
use crate::source::index::{Files, Options};
use crate::source::reading::{self, Content};
use crate::source::screen;
use crate::source::walk;
use crate::text::{FileId, LineIndex};
use crate::words::Words;
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// What was read.
pub struct Read {
    pub files: Files,
    /// What they were indexed with.
    pub options: Options,
    pub names: Names,
    pub skipped: Vec<Unread>,
    pub walked: Walked,
}

/// What the walk came past.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Walked {
    /// Files whose names are those of source.
    pub files: usize,
    /// Such files, and whole folders, that the settings exclude.
    pub excluded: Vec<PathBuf>,
    /// Such files, and whole folders, that are hidden or that `.gitignore` names; if asked for.
    pub ignored: Vec<PathBuf>,
    /// For each pattern of `third-party` and of `exclude`, whether it fits anything.
    pub third_party: Vec<bool>,
    pub exclude: Vec<bool>,
    /// Barriers of the settings that no file speaks of.
    pub unmet_barriers: Vec<String>,
    /// What of the compilation database, and which folders for headers, can be of no use, in lines for the user.
    pub build_faults: Vec<String>,
    /// Headers of the user's that were not found: the file that includes them, the line, the header in its quotes or brackets.
    pub unmet_includes: Vec<(String, u32, String)>,
}

/// Which of some patterns fitted a path so far.
#[derive(Clone)]
struct Fitting(Arc<[AtomicBool]>);

impl Fitting {
    fn new(patterns: &Patterns) -> Fitting {
        Fitting(patterns.as_written().iter().map(|_| AtomicBool::new(false)).collect())
    }

    fn note(&self, patterns: &Patterns, path: &Path) {
        patterns.fitting(path).into_iter().for_each(|index| self.0[index].store(true, Ordering::Relaxed));
    }

    fn seen(&self) -> Vec<bool> {
        self.0.iter().map(|fits| fits.load(Ordering::Relaxed)).collect()
    }
}

pub fn files(settings: &Settings, request: &Request, words: &Words, stages: &mut Stages) -> Result<Read, Error> {
    let exclude = settings.exclude.clone();
    let bounds = request.confined.then(|| Bounds::of(&request.read));
    let came_past: Arc<Mutex<FxHashMap<PathBuf, Past>>> = Default::default();
    let past = came_past.clone();
    let tell_ignored = request.tell_ignored;
    let third_party = settings.third_party.clone();
    let (foreign, left_out) = (Fitting::new(&third_party), Fitting::new(&exclude));
    let (fits_foreign, fits_left_out) = (foreign.clone(), left_out.clone());
    let wanted = move |path: &Path, is_folder: bool| {
        fits_foreign.note(&third_party, path);
        fits_left_out.note(&exclude, path);
        let out = exclude.matches(path);
        let is_wanted = !out && bounds.as_ref().is_none_or(|bounds| bounds.hold(path));
        if (out || tell_ignored)
            && (is_folder || walk::is_source_name(path))
            && let Ok(mut past) = past.lock()
        {
            past.insert(path.to_path_buf(), Past { out, is_wanted });
        }
        is_wanted
    };
    let found = stages.time("looking for files", || walk::walk(&request.read, request.no_ignore, wanted));
    let came_past = std::mem::take(&mut *came_past.lock().unwrap_or_else(PoisonError::into_inner));
    let mut excluded: Vec<PathBuf> =
        came_past.iter().filter(|(_, past)| past.out).map(|(path, _)| path.clone()).collect();
    excluded.sort();
    let mut paths = found.files;
    let mut walked = Walked {
        files: paths.len(),
        excluded,
        ignored: if tell_ignored && !request.no_ignore { ignored(&request.read, came_past) } else { Vec::new() },
        third_party: foreign.seen(),
        exclude: left_out.seen(),
        ..Walked::default()
    };
    if request.force_exclude {
        walked.excluded.extend(paths.extract_if(.., |path| settings.exclude.matches(path)));
        walked.files = paths.len();
    }
    let (out, texts): (Vec<_>, Vec<_>) =
        request.texts.iter().partition(|(name, _)| request.force_exclude && settings.exclude.matches(name));
    walked.excluded.extend(out.into_iter().map(|(name, _)| name.clone()));
    walked.files += texts.len();
    let texts = texts.into_iter();
    let named: FxHashSet<&Path> =
        request.read.iter().chain(request.texts.iter().map(|(name, _)| name)).map(PathBuf::as_path).collect();
    let mut skipped: Vec<(PathBuf, String)> = found.skipped.into_iter().map(|each| (each.path, each.why)).collect();
    for (name, _) in &request.texts {
        let known = std::fs::canonicalize(name).ok();
        let same = |path: &PathBuf| {
            path == name
                || path.file_name() == name.file_name() && known.is_some() && std::fs::canonicalize(path).ok() == known
        };
        paths.retain(|path| !same(path));
    }
    let is_named = |path: &Path| named.contains(path);
    let read = |path: PathBuf| {
        let content = reading::source(&path, is_named(&path));
        (path, content)
    };
    let mut read: Vec<(PathBuf, Content)> = stages.time("reading them", || paths.into_par_iter().map(read).collect());
    read.extend(texts.map(|(name, bytes)| (name.clone(), reading::decoded(bytes.clone()))));
    let mut sources: Vec<(PathBuf, Vec<u8>)> = Vec::with_capacity(read.len());
    for (path, content) in read {
        match content {
            Content::Source(bytes) => sources.push((path, bytes)),
            Content::NotSource => {}
            // Without an extension it may be a program as well as a header.
            Content::Skipped(_) if path.extension().is_none() && !is_named(&path) => {}
            Content::Skipped(why) => skipped.push((path, why)),
        }
    }
    let commands = settings.build.as_deref().map(CompileCommands::read).transpose().map_err(Error)?;
    let commands = commands.as_ref();
    if !request.confined {
        stages.time("what they include elsewhere", || {
            includes::read(settings, request, commands, found.seen, &mut sources)
        });
    }
    if let Some(commands) = commands {
        let read: Vec<&Path> = sources.iter().map(|(path, _)| path.as_path()).collect();
        walked.build_faults = commands.faults(&read);
    }
    let absent = settings.include.iter().filter(|folder| !folder.is_dir());
    walked.build_faults.extend(absent.map(|folder| format!("{}: no such folder for headers", folder.display())));
    let names = Names::of(request.read.iter().chain(sources.iter().map(|(path, _)| path)));
    let unread = |(path, why): (PathBuf, String)| Unread {
        is_named: is_named(&path),
        path: names.shown(&names.spell(&path)),
        why,
    };
    let skipped: Vec<Unread> = skipped.into_iter().map(unread).collect();
    let mut sources: Vec<(String, Vec<u8>)> =
        sources.into_iter().map(|(path, bytes)| (names.spell(&path), bytes)).collect();
    sources.sort_by(|a, b| a.0.cmp(&b.0));
    walked.unmet_barriers = unmet_barriers(settings, &sources);
    let options = options(settings, commands, &names, &sources);
    let files = stages.time("tokens and macros", || Files::new(screen::index(sources, words, &options), &options));
    walked.unmet_includes = unmet_includes(&files, &names);
    Ok(Read { files, options, names, skipped, walked })
}

/// Where headers in brackets come from that are nobody's own.
const SYSTEM: [&str; 8] = ["cuda/", "thrust/", "cub/", "cooperative_groups/", "nv/", "sys/", "bits/", "hip/"];

/// The headers that no file read is, where they may bear on a kernel: those in quotes, and in brackets those in some folder.
fn unmet_includes(files: &Files, names: &Names) -> Vec<(String, u32, String)> {
    let of_file = |id: FileId| {
        let file = files.get(id);
        let unmet = file.includes.iter().filter(|include| {
            let name = include.spelled.as_str();
            let is_own = !include.angled || name.contains('/') && !SYSTEM.iter().any(|folder| name.starts_with(folder));
            include.resolved.is_none() && is_own && !name.is_empty() && !file.bytes.is_empty()
        });
        unmet.map(|include| {
            let at = file.tokens.get(include.start as usize).map_or(0, |token| token.start());
            let name =
                if include.angled { format!("<{}>", include.spelled) } else { format!("\"{}\"", include.spelled) };
            (names.shown(&file.path), LineIndex::new(&file.bytes).place(at).line, name)
        })
    };
    files.ids().flat_map(of_file).collect()
}

/// The names of the settings' barriers that stand in no file.
fn unmet_barriers(settings: &Settings, sources: &[(String, Vec<u8>)]) -> Vec<String> {
    let names = settings.words.barrier.iter().flat_map(|row| row.names.iter().chain(&row.methods));
    let is_met = |name: &str| {
        let word = memchr::memmem::Finder::new(name.as_bytes());
        sources.par_iter().any(|(_, bytes)| word.find(bytes).is_some())
    };
    names.filter(|name| !is_met(name)).cloned().collect()
}

/// What became of a path that the walk came past.
struct Past {
    out: bool,
    is_wanted: bool,
}

/// Walks once more, without heed of `.gitignore`: what the first walk did not come past.
fn ignored(roots: &[PathBuf], came_past: FxHashMap<PathBuf, Past>) -> Vec<PathBuf> {
    let found: Arc<Mutex<Vec<PathBuf>>> = Default::default();
    let (new, came_past) = (found.clone(), Arc::new(came_past));
    let wanted = move |path: &Path, is_folder: bool| match came_past.get(path) {
        Some(past) => past.is_wanted,
        None => {
            let is_told = path.file_name() != Some(OsStr::new(".git")) && (is_folder || walk::is_source_name(path));
            if is_told && let Ok(mut new) = new.lock() {
                new.push(path.to_path_buf());
            }
            false
        }
    };
    walk::walk(roots, true, wanted);
    let mut found = std::mem::take(&mut *found.lock().unwrap_or_else(PoisonError::into_inner));
    found.sort();
    found.dedup();
    found
}

/// The folders that a confined walk stays in, links resolved.
#[derive(Clone)]
struct Bounds(Vec<PathBuf>);

impl Bounds {
    fn of(paths: &[PathBuf]) -> Bounds {
        Bounds(paths.iter().filter_map(|path| std::fs::canonicalize(path).ok()).collect())
    }

    /// Only a link can lead out.
    fn hold(&self, path: &Path) -> bool {
        let is_link = std::fs::symlink_metadata(path).is_ok_and(|metadata| metadata.file_type().is_symlink());
        let inside = |path: PathBuf| self.0.iter().any(|folder| path.starts_with(folder));
        !is_link || std::fs::canonicalize(path).is_ok_and(inside)
    }
}

/// What the command line and a compilation database say of macros and includes.
fn options(
    settings: &Settings,
    commands: Option<&CompileCommands>,
    names: &Names,
    sources: &[(String, Vec<u8>)],
) -> Options {
    let mut options = Options {
        include_dirs: settings.include.iter().map(|path| names.spell(path)).collect(),
        defines: settings.define.clone(),
        undefines: settings.undefine.clone(),
        of_file: BTreeMap::new(),
    };
    let name_of = |define: &str| define.split(['=', '(']).next().unwrap_or_default().to_string();
    let settled: FxHashSet<String> =
        options.defines.iter().chain(&options.undefines).map(|define| name_of(define)).collect();
    let attributes = settings.words.attribute.iter().flat_map(|row| row.macros());
    options.defines.extend(attributes.filter(|define| !settled.contains(&name_of(define))));
    let Some(commands) = commands else { return options };
    for (path, _) in sources {
        let flags = commands.flags(Path::new(path));
        for folder in &flags.include_dirs {
            let folder = names.spell(folder);
            if !options.include_dirs.contains(&folder) {
                options.include_dirs.push(folder);
            }
        }
        let own = flags.defines.iter().filter(|(name, _)| !settled.contains(&name_of(name)));
        let own: Vec<String> = own.map(|(name, value)| format!("{name}={value}")).collect();
        if !own.is_empty() {
            options.of_file.insert(path.clone(), own);
        }
    }
    options
}
