//! Paths given by the user -> the source files below them, sorted, and their bytes.
//!
//! The walk honours `.gitignore` and hidden files, follows links once, and never depends on directory order.
//! What cannot be read, or is not there, is skipped with a reason.
//! Nothing is decoded but UTF-16: bytes stay bytes.

use ignore::WalkBuilder;
use rustc_hash::FxHashMap;
use std::ffi::OsStr;
use std::fs::{self, File, Metadata};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

/// Files above this size are generated tables, not source that anybody reads.
pub const MAX_FILE_BYTES: u64 = super::lexer::MAX_BYTES as u64;

const SOURCE_EXTENSIONS: [&str; 22] = [
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

/// What reading one candidate gave.
#[derive(Debug)]
pub enum Content {
    Source(Vec<u8>),
    /// A file without extension that is no C++ header after all: of no interest to anybody.
    NotSource,
    Skipped(String),
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

/// The bytes of one file. Offsets into them are offsets into the file, but for UTF-16, which is transcoded.
/// A file that the user named is source whatever it looks like.
pub fn read(path: &Path, is_named: bool) -> Content {
    // A FIFO or a device would block or never end: ask before opening.
    let size = match fs::metadata(path) {
        Err(error) => return Content::Skipped(reason(&error)),
        Ok(metadata) if !metadata.is_file() => return Content::Skipped("not a regular file".to_string()),
        Ok(metadata) if metadata.len() > MAX_FILE_BYTES => return Content::Skipped(too_large()),
        Ok(metadata) => metadata.len(),
    };
    // One more than there should be, so that the end is found without growing.
    let mut bytes = Vec::with_capacity(size as usize + 1);
    let read = File::open(path).and_then(|file| file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes));
    if let Err(error) = read {
        return Content::Skipped(reason(&error));
    }
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Content::Skipped(too_large());
    }
    if !is_named && path.extension().is_none() && !looks_like_header(&bytes) {
        return Content::NotSource;
    }
    normalise(bytes)
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
    wanted: impl Fn(&Path, bool) -> bool + Send + Sync + 'static,
    found: &mut Walk,
) {
    let entries = WalkBuilder::new(root)
        .follow_links(true)
        .standard_filters(!no_ignore)
        .require_git(false)
        .sort_by_file_name(OsStr::cmp)
        .filter_entry(move |entry| {
            entry.depth() == 0 || wanted(entry.path(), entry.file_type().is_some_and(|kind| kind.is_dir()))
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

/// An I/O error in the words of a user.
pub fn reason(error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "no such file or directory".to_string(),
        ErrorKind::PermissionDenied => "permission denied".to_string(),
        ErrorKind::IsADirectory => "is a directory".to_string(),
        ErrorKind::NotADirectory => "a part of its path is no folder".to_string(),
        ErrorKind::StorageFull => "no space left on the device".to_string(),
        _ => error.to_string(),
    }
}

fn too_large() -> String {
    format!("larger than {} MiB", MAX_FILE_BYTES >> 20)
}

/// A directive near the top: what a header without extension has, and a licence or a makefile has not.
fn looks_like_header(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(8192)];
    if head.starts_with(b"#!") || head.contains(&0) {
        return false;
    }
    head.split(|byte| *byte == b'\n').any(|line| {
        let Some(directive) = line.trim_ascii_start().strip_prefix(b"#") else { return false };
        let directive = directive.trim_ascii_start();
        [&b"pragma"[..], b"ifndef", b"ifdef", b"if ", b"define", b"include"]
            .iter()
            .any(|word| directive.starts_with(word))
    })
}

fn normalise(mut bytes: Vec<u8>) -> Content {
    let utf16 = match bytes.get(..2) {
        Some([0xff, 0xfe]) => Some(u16::from_le_bytes as fn([u8; 2]) -> u16),
        Some([0xfe, 0xff]) => Some(u16::from_be_bytes as fn([u8; 2]) -> u16),
        _ => None,
    };
    if let Some(unit) = utf16 {
        let units = bytes[2..].chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
        let text: String = char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
        return Content::Source(text.into_bytes());
    }
    if memchr::memchr_iter(0, &bytes).count() * 100 > bytes.len() {
        return Content::Skipped("binary data".to_string());
    }
    // Blanks instead of the mark, so that the first line can be a directive and offsets stay those of the file.
    if bytes.starts_with(b"\xef\xbb\xbf") {
        bytes[..3].fill(b' ');
    }
    Content::Source(bytes)
}
