//! What the files of a run include, and the walk did not bring: read wherever it stands, since without it half of their
//! code may be missing. In a folder that was walked, what the walk left out stays out, unless a file named by hand includes it.

use super::Request;
use crate::settings::Settings;
use crate::source::screen;
use crate::source::walk::{self, Content, Seen};
use rayon::prelude::*;
use rustc_hash::FxHashSet;
use std::path::{Component, Path, PathBuf};

/// Headers that the files of a run may bring in.
const MAX_INCLUDED: usize = 10_000;

/// Adds them to the sources.
pub fn read(settings: &Settings, request: &Request, mut seen: Seen, sources: &mut Vec<(PathBuf, Vec<u8>)>) {
    // What stands on the disk under the name of a text is that text.
    for (name, _) in &request.texts {
        seen.is_new(name);
    }
    let search = Search::new(settings, request, sources);
    let is_by_hand =
        |path: &Path| request.read.iter().chain(request.texts.iter().map(|(name, _)| name)).any(|it| it == path);
    let first = sources.par_iter().map(|(path, bytes)| {
        let is_by_hand = is_by_hand(path);
        (is_by_hand, search.included(path, bytes, is_by_hand))
    });
    let first: Vec<(bool, Vec<PathBuf>)> = first.collect();
    let (by_hand, others): (Vec<_>, Vec<_>) = first.into_iter().partition(|(is_by_hand, _)| *is_by_hand);
    let most = sources.len() + MAX_INCLUDED;
    for (is_by_hand, mut todo) in by_hand.into_iter().chain(others) {
        while let Some(path) = todo.pop() {
            if sources.len() < most
                && seen.is_new(&path)
                && !settings.exclude.matches(&path)
                && let Content::Source(bytes) = walk::read(&path, false)
            {
                todo.extend(search.included(&path, &bytes, is_by_hand));
                sources.push((path, bytes));
            }
        }
    }
}

/// Where included files are looked for.
struct Search<'a> {
    settings: &'a Settings,
    here: PathBuf,
    /// The folders that were walked, from the root of the file system.
    walked: Vec<PathBuf>,
    /// The files that were read.
    known: FxHashSet<PathBuf>,
}

impl<'a> Search<'a> {
    fn new(settings: &'a Settings, request: &Request, sources: &[(PathBuf, Vec<u8>)]) -> Search<'a> {
        let here = std::env::current_dir().unwrap_or_default();
        let folders = request.read.iter().filter(|path| path.is_dir());
        let walked = folders.map(|folder| plain(&here.join(folder))).collect();
        let known = sources.iter().map(|(path, _)| plain(path)).collect();
        Search { settings, here, walked, known }
    }

    /// The files that the walk did not bring, of those that a file includes.
    fn included(&self, path: &Path, bytes: &[u8], is_by_hand: bool) -> Vec<PathBuf> {
        let own = path.parent().unwrap_or(Path::new(""));
        let folders = || std::iter::once(own).chain(self.settings.include.iter().map(PathBuf::as_path));
        let folders: Vec<(&Path, bool)> =
            folders().map(|folder| (folder, !is_by_hand && self.is_walked(folder))).collect();
        let found = screen::includes(bytes).into_iter().filter_map(|name| {
            let name = Path::new(&name);
            let stays_below = name.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
            let is_source = walk::is_source_name(name);
            for (folder, is_walked) in &folders {
                // Of most includes of a large tree this is all that is asked.
                if *is_walked && stays_below && is_source && folders.len() == 1 {
                    return None;
                }
                let path = plain(&folder.join(name));
                if self.known.contains(&path) {
                    return None;
                }
                let left_out = !is_by_hand && is_source && self.is_walked(&path);
                if !left_out && path.is_file() {
                    return Some(path);
                }
            }
            None
        });
        found.collect()
    }

    fn is_walked(&self, path: &Path) -> bool {
        let path = plain(&self.here.join(path));
        self.walked.iter().any(|folder| path.starts_with(folder))
    }
}

/// Without `.`, and without `..` where a folder stands before it.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if matches!(plain.components().next_back(), Some(Component::Normal(_))) => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}
