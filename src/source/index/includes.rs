//! Which file of the run an `#include` means: beside the includer, under an `-I`, else the nearest whose path ends so.

use super::File;
use crate::text::FileId;
use rustc_hash::FxHashMap;

/// Fills in what each include resolves to, and gives the files by their names without folders.
pub(super) fn resolve(files: &mut [File], include_dirs: &[String]) -> FxHashMap<String, Vec<FileId>> {
    let paths: Vec<String> = files.iter().map(|file| normalised(&file.path)).collect();
    let mut by_path: FxHashMap<&str, FileId> = FxHashMap::default();
    let mut by_name: FxHashMap<String, Vec<FileId>> = FxHashMap::default();
    for (path, id) in paths.iter().zip(0..) {
        by_path.entry(path).or_insert(FileId(id));
        by_name.entry(file_name(path).to_string()).or_default().push(FileId(id));
    }
    let include_dirs: Vec<String> = include_dirs.iter().map(|dir| normalised(dir)).collect();
    let mut known: FxHashMap<(String, String), Option<FileId>> = FxHashMap::default();
    for (file, path) in files.iter_mut().zip(&paths) {
        let dir = folder(path);
        for include in file.includes.iter_mut().filter(|include| !include.spelled.is_empty()) {
            let key = (dir.to_string(), include.spelled.clone());
            let resolved = known.entry(key).or_insert_with(|| {
                let spelled = include.spelled.replace('\\', "/");
                let direct = std::iter::once(dir).chain(include_dirs.iter().map(String::as_str));
                let mut direct = direct.filter_map(|dir| by_path.get(joined(dir, &spelled).as_str()));
                direct.next().copied().or_else(|| nearest(&spelled, dir, &paths, &by_name))
            });
            include.resolved = *resolved;
        }
    }
    by_name
}

/// The file whose path ends with `spelled`; of several the one that shares most folders with `dir`, then the shortest.
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
        let shared = dir.split('/').zip(folder(path(id)).split('/')).take_while(|(a, b)| a == b).count();
        (std::cmp::Reverse(shared), path(id).len(), id.0)
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
