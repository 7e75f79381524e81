//! Paths given by the user -> the source files below them, sorted.
//!
//! The walk honours `.gitignore` and hidden files, follows links once, and never depends on directory order.
//! What cannot be entered, or is not there, is skipped with a reason.

use super::reading::{fault_of_file, reason};
use ignore::WalkBuilder;
use rustc_hash::FxHashMap;
use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// What the names of the files end with that the walk takes.
pub const SOURCE_EXTENSIONS: [&str; 22] = [
    "cu", "cuh", "hip", "h", "hpp", "hh", "hxx", "inl", "inc", "ipp", "tpp", "cpp", "cc", "cxx", "c", "cl", "txx",
    "tcc", "cppm", "h++", "c++", "impl",
];

/// A file that was not read, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    pub path: PathBuf,
    pub why: String,
}

/// What the walk found: candidates in order, and what it could not enter.
#[derive(Clone, Debug, Default)]
pub struct Walk {
    pub files: Vec<PathBuf>,
    pub skipped: Vec<Skipped>,
    pub seen: Seen,
}

/// The source files under `paths`, each once, sorted by path within each path given.
///
/// A file given by hand is taken whatever its name. `wanted` is asked for every other file and for every folder (then
/// its second argument is true). With `no_ignore` also hidden files and what `.gitignore` names are walked.
pub fn walk(
    paths: &[PathBuf],
    no_ignore: bool,
    wanted: impl Fn(&Path, bool) -> bool + Send + Sync + Clone + 'static,
) -> Walk {
    let mut found = Walk::default();
    for root in paths {
        match fs::metadata(root) {
            Err(error) => found.skipped.push(Skipped { path: root.clone(), why: reason(&error) }),
            Ok(metadata) if metadata.is_dir() => walk_folder(root, no_ignore, wanted.clone(), &mut found),
            Ok(metadata) => found.seen.add(root.clone(), &metadata, &mut found.files),
        }
    }
    found
}

/// Whether the walk takes a file of this name: one of C++'s extensions, or none at all as libcu++'s headers have.
pub fn is_source_name(path: &Path) -> bool {
    match path.extension() {
        None => true,
        Some(extension) => extension
            .to_str()
            .is_some_and(|extension| SOURCE_EXTENSIONS.iter().any(|known| known.eq_ignore_ascii_case(extension))),
    }
}

fn walk_folder(
    root: &Path,
    no_ignore: bool,
    wanted: impl Fn(&Path, bool) -> bool + Send + Sync + Clone + 'static,
    found: &mut Walk,
) {
    let unfit = root.canonicalize().ok().and_then(|root| root.ancestors().find_map(unfit_ignore_file));
    let (heeds, unfit) = (!no_ignore && unfit.is_none(), unfit.filter(|_| !no_ignore));
    found.skipped.extend(unfit);
    // Folders below that hold such a file: they are walked by themselves, without heed of any.
    let apart: Arc<Mutex<Vec<PathBuf>>> = Default::default();
    let (to_apart, is_wanted) = (apart.clone(), wanted.clone());
    let filter = move |path: &Path, is_folder: bool| {
        if !is_wanted(path, is_folder) {
            return false;
        }
        let is_fit = !heeds || !is_folder || unfit_ignore_file(path).is_none();
        if !is_fit {
            to_apart.lock().unwrap_or_else(PoisonError::into_inner).push(path.to_path_buf());
        }
        is_fit
    };
    walk_with(root, no_ignore, heeds, filter, found);
    let apart = std::mem::take(&mut *apart.lock().unwrap_or_else(PoisonError::into_inner));
    for folder in apart {
        found.skipped.extend(unfit_ignore_file(&folder));
        walk_with(&folder, no_ignore, false, wanted.clone(), found);
    }
}

/// What a folder has in place of a file of patterns that can be read: to open a pipe would wait without end.
fn unfit_ignore_file(folder: &Path) -> Option<Skipped> {
    [".gitignore", ".ignore", ".git/info/exclude"].into_iter().find_map(|name| {
        let path = folder.join(name);
        let metadata = fs::metadata(&path).ok()?;
        let why = fault_of_file(&metadata, super::reading::MAX_FILE_BYTES)?;
        Some(Skipped { path, why })
    })
}

fn walk_with(
    root: &Path,
    no_ignore: bool,
    heeds_ignore_files: bool,
    filter: impl Fn(&Path, bool) -> bool + Send + Sync + 'static,
    found: &mut Walk,
) {
    let entries = WalkBuilder::new(root)
        .follow_links(true)
        .standard_filters(heeds_ignore_files)
        .hidden(!no_ignore)
        .require_git(false)
        .sort_by_file_name(OsStr::cmp)
        .filter_entry(move |entry| {
            entry.depth() == 0 || filter(entry.path(), entry.file_type().is_some_and(|kind| kind.is_dir()))
        })
        .build();
    for entry in entries {
        match entry {
            Ok(entry) => {
                let kind = entry.file_type();
                if kind.is_none_or(|kind| kind.is_dir()) || !is_source_name(entry.path()) {
                    continue;
                }
                match entry.metadata() {
                    Ok(metadata) => found.seen.add(entry.into_path(), &metadata, &mut found.files),
                    Err(error) => found.skipped.push(skipped_by(root, &error)),
                }
            }
            Err(error) => {
                // A link back to a folder above hides nothing: that folder is being walked.
                if !is_loop(&error) {
                    found.skipped.push(skipped_by(root, &error));
                }
            }
        }
    }
}

/// What the walk has come past.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// The place of each file among those found.
    files: FxHashMap<FileKey, usize>,
    /// Whether a link is part of a folder's path; trees of links have few folders, and many files.
    linked: FxHashMap<PathBuf, bool>,
}

impl Seen {
    /// Adds a file unless it is already there under another name; a name without links wins.
    fn add(&mut self, path: PathBuf, metadata: &Metadata, files: &mut Vec<PathBuf>) {
        let Some(key) = file_key(&path, metadata) else {
            files.push(path);
            return;
        };
        match self.files.get(&key).copied() {
            None => {
                self.files.insert(key, files.len());
                files.push(path);
            }
            Some(earlier) => {
                if self.goes_through_link(&files[earlier]) && !self.goes_through_link(&path) {
                    files[earlier] = path;
                }
            }
        }
    }

    /// Whether a file is there that was not come past under any name; from now on it was.
    pub fn is_new(&mut self, path: &Path) -> bool {
        let file = fs::metadata(path).ok().filter(Metadata::is_file);
        let Some(key) = file.and_then(|metadata| file_key(path, &metadata)) else { return false };
        let next = self.files.len();
        let mut is_new = false;
        self.files.entry(key).or_insert_with(|| {
            is_new = true;
            next
        });
        is_new
    }

    fn goes_through_link(&mut self, path: &Path) -> bool {
        is_link(path) || path.parent().is_some_and(|folder| self.folder_goes_through_link(folder))
    }

    fn folder_goes_through_link(&mut self, folder: &Path) -> bool {
        if let Some(known) = self.linked.get(folder) {
            return *known;
        }
        let found = self.goes_through_link(folder);
        self.linked.insert(folder.to_path_buf(), found);
        found
    }
}

fn is_link(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.file_type().is_symlink())
}

#[cfg(unix)]
type FileKey = (u64, u64);

#[cfg(unix)]
fn file_key(_path: &Path, metadata: &Metadata) -> Option<FileKey> {
    use std::os::unix::fs::MetadataExt;
    Some((metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
type FileKey = PathBuf;

#[cfg(not(unix))]
fn file_key(path: &Path, _metadata: &Metadata) -> Option<FileKey> {
    fs::canonicalize(path).ok()
}

fn is_loop(error: &ignore::Error) -> bool {
    match error {
        ignore::Error::Loop { .. } => true,
        ignore::Error::WithPath { err, .. }
        | ignore::Error::WithDepth { err, .. }
        | ignore::Error::WithLineNumber { err, .. } => is_loop(err),
        _ => false,
    }
}

fn skipped_by(root: &Path, error: &ignore::Error) -> Skipped {
    fn path_of(error: &ignore::Error) -> Option<&Path> {
        match error {
            ignore::Error::WithPath { path, .. } => Some(path),
            ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => path_of(err),
            _ => None,
        }
    }
    let why = error.io_error().map_or_else(|| error.to_string(), reason);
    Skipped { path: path_of(error).unwrap_or(root).to_path_buf(), why }
}
