//! Which file of the run an `#include` means: beside the includer, under an `-I`, else the nearest whose path ends so.

use super::File;
use crate::text::FileId;
use rustc_hash::FxHashMap;

/// Fills in what each include resolves to, and gives the files by their names without folders.
pub(super) fn resolve(files: &mut [File], include_dirs: &[String]) -> FxHashMap<String, Vec<FileId>> {
    let mut resolver = Resolver::new(files.iter().map(|file| file.path.as_str()), include_dirs);
    for (file, id) in files.iter_mut().zip(0..) {
        for include in file.includes.iter_mut().filter(|include| !include.spelled.is_empty()) {
            include.resolved = resolver.resolve(FileId(id), &include.spelled);
        }
    }
    resolver.by_name
}

/// All files by path and by name.
pub(in crate::source) struct Resolver {
    paths: Vec<String>,
    by_path: FxHashMap<String, FileId>,
    by_name: FxHashMap<String, Vec<FileId>>,
    include_dirs: Vec<String>,
    /// By the includer's folder and what is written.
    known: FxHashMap<(String, String), Option<FileId>>,
}

impl Resolver {
    pub fn new<'p>(paths: impl Iterator<Item = &'p str>, include_dirs: &[String]) -> Resolver {
        let paths: Vec<String> = paths.map(normalised).collect();
        let mut by_path: FxHashMap<String, FileId> = FxHashMap::default();
        let mut by_name: FxHashMap<String, Vec<FileId>> = FxHashMap::default();
        for (path, id) in paths.iter().zip(0..) {
            by_path.entry(path.clone()).or_insert(FileId(id));
            by_name.entry(file_name(path).to_string()).or_default().push(FileId(id));
        }
        let include_dirs = include_dirs.iter().map(|dir| normalised(dir)).collect();
        Resolver { paths, by_path, by_name, include_dirs, known: FxHashMap::default() }
    }

    /// What a file means by the name it includes.
    pub fn resolve(&mut self, includer: FileId, spelled: &str) -> Option<FileId> {
        let dir = folder(&self.paths[includer.0 as usize]);
        let key = (dir.to_string(), spelled.to_string());
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let written = spelled.replace('\\', "/");
        let direct = std::iter::once(dir).chain(self.include_dirs.iter().map(String::as_str));
        let mut direct = direct.filter_map(|dir| self.by_path.get(&joined(dir, &written)));
        let resolved = direct.next().copied().or_else(|| nearest(&written, dir, &self.paths, &self.by_name));
        self.known.insert(key, resolved);
        resolved
    }
}

/// The file whose path ends with `spelled`; of several the one that shares most folders with `dir`, then one of the same
/// program (`sort-cuda` beside `sort-hip`), then the shortest.
fn nearest(spelled: &str, dir: &str, paths: &[String], by_name: &FxHashMap<String, Vec<FileId>>) -> Option<FileId> {
    let spelled = normalised(spelled);
    let ending = spelled.trim_start_matches("../");
    // A bare name without an extension is a header of the C++ library, one such as <string.h> of the C library.
    if !ending.contains('/') && (!ending.contains('.') || C_HEADERS.contains(&ending)) {
        return None;
    }
    let candidates = by_name.get(file_name(ending))?;
    let path = |id: &FileId| paths[id.0 as usize].as_str();
    let fitting = candidates.iter().filter(|id| ends_with(path(id), ending));
    let rank = |id: &&FileId| {
        let mut both = dir.split('/').zip(folder(path(id)).split('/'));
        let shared = both.clone().take_while(|(a, b)| a == b).count();
        let apart = both.nth(shared);
        let is_variant = apart.is_some_and(|(a, b)| program(a).is_some() && program(a) == program(b));
        (std::cmp::Reverse(shared), !is_variant, path(id).len(), id.0)
    };
    fitting.min_by_key(rank).copied()
}

const C_HEADERS: [&str; 17] = [
    "assert.h",
    "ctype.h",
    "errno.h",
    "fcntl.h",
    "float.h",
    "inttypes.h",
    "limits.h",
    "math.h",
    "memory.h",
    "signal.h",
    "stdbool.h",
    "stddef.h",
    "stdint.h",
    "stdio.h",
    "stdlib.h",
    "string.h",
    "time.h",
];

pub(super) fn ends_with(path: &str, ending: &str) -> bool {
    path.strip_suffix(ending).is_some_and(|before| before.is_empty() || before.ends_with('/'))
}

pub(super) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// What a folder's name has before its last part: `sort` of `sort-hip`.
fn program(folder: &str) -> Option<&str> {
    folder.rsplit_once(['-', '_']).map(|(program, _)| program)
}

fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

fn joined(folder: &str, path: &str) -> String {
    if folder.is_empty() || path.starts_with('/') { normalised(path) } else { normalised(&format!("{folder}/{path}")) }
}

/// Without `.`, and without `..` where a folder stands before it.
fn normalised(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    let joined = parts.join("/");
    if path.starts_with('/') { format!("/{joined}") } else { joined }
}
