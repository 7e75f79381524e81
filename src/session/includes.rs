//! What the files of a run include, and the walk did not bring: read wherever it stands, since without it half of their
//! code may be missing. In a folder that was walked, what the walk left out stays out, unless a file named by hand includes it.

use super::Request;
use crate::settings::{Repository, Settings, absolute};
use crate::source::compile_commands::CompileCommands;
use crate::source::reading::{self, Content};
use crate::source::screen;
use crate::source::walk::{self, Seen};
use rayon::prelude::*;
use rustc_hash::FxHashSet;
use std::path::{Component, Path, PathBuf};

/// Headers that the files of a run may bring in.
const MAX_INCLUDED: usize = 10_000;

/// Adds them to the sources.
pub fn read(
    settings: &Settings,
    request: &Request,
    commands: Option<&CompileCommands>,
    mut seen: Seen,
    sources: &mut Vec<(PathBuf, Vec<u8>)>,
) {
    // What stands on the disk under the name of a text is that text.
    for (name, _) in &request.texts {
        seen.is_new(name);
    }
    let search = Search::new(settings, request, commands, sources);
    let first = sources.par_iter().map(|(path, bytes)| {
        let asked = search.asked(path);
        let found = search.included(path, bytes, &asked);
        (asked, found)
    });
    let first: Vec<(Asked, Vec<PathBuf>)> = first.collect();
    let (by_hand, others): (Vec<_>, Vec<_>) = first.into_iter().partition(|(asked, _)| asked.by_hand);
    let most = sources.len() + MAX_INCLUDED;
    for (asked, mut todo) in by_hand.into_iter().chain(others) {
        while let Some(path) = todo.pop() {
            if sources.len() < most
                && seen.is_new(&path)
                && !settings.exclude.matches(&path)
                && let Content::Source(bytes) = reading::source(&path, false)
            {
                todo.extend(search.included(&path, &bytes, &asked));
                sources.push((path, bytes));
            }
        }
    }
}

/// How a file came to be read; what it includes comes in the same way.
struct Asked {
    by_hand: bool,
    /// The folders that its command names for headers.
    folders: Vec<PathBuf>,
}

/// Where included files are looked for.
struct Search<'a> {
    settings: &'a Settings,
    commands: Option<&'a CompileCommands>,
    here: PathBuf,
    by_hand: Vec<&'a Path>,
    /// The folders that were walked, from the root of the file system.
    walked: Vec<PathBuf>,
    /// Folders of a compilation database count in these: the others hold libraries, of which the words are known.
    program: Vec<PathBuf>,
    /// The files that were read.
    known: FxHashSet<PathBuf>,
}

impl<'a> Search<'a> {
    fn new(
        settings: &'a Settings,
        request: &'a Request,
        commands: Option<&'a CompileCommands>,
        sources: &[(PathBuf, Vec<u8>)],
    ) -> Search<'a> {
        let here = std::env::current_dir().unwrap_or_default();
        let folders = request.read.iter().filter(|path| path.is_dir());
        let walked = folders.map(|folder| plain(&here.join(folder))).collect();
        let named = request.read.iter().chain(request.texts.iter().map(|(name, _)| name));
        let by_hand: Vec<&Path> = named.map(PathBuf::as_path).collect();
        let mut program = Vec::new();
        if let Some(build) = &settings.build {
            program.extend(absolute(build).parent().map(Path::to_path_buf));
            program.extend(by_hand.iter().map(|path| Repository::of(path, None).place("")));
        }
        let known = sources.iter().map(|(path, _)| plain(path)).collect();
        Search { settings, commands, here, by_hand, walked, program, known }
    }

    fn asked(&self, path: &Path) -> Asked {
        let flags = self.commands.map(|commands| commands.flags(path));
        let folders = flags.iter().flat_map(|flags| &flags.include_dirs);
        let folders = folders.filter(|folder| self.program.iter().any(|top| absolute(folder).starts_with(top)));
        Asked { by_hand: self.by_hand.contains(&path), folders: folders.cloned().collect() }
    }

    /// The files that the walk did not bring, of those that a file includes.
    fn included(&self, path: &Path, bytes: &[u8], asked: &Asked) -> Vec<PathBuf> {
        let own = path.parent().unwrap_or(Path::new(""));
        let given = self.settings.include.iter().chain(&asked.folders).map(PathBuf::as_path);
        let folders: Vec<(&Path, bool)> = std::iter::once(own)
            .chain(given)
            .map(|folder| (folder, !asked.by_hand && self.is_walked(folder)))
            .collect();
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
                let left_out = !asked.by_hand && is_source && self.is_walked(&path);
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
