//! What files are called: while they are analysed each by its place below one folder, so that an include that goes up and
//! down again meets the file it means; in reports as seen from the working folder.

use crate::settings::absolute;
use std::path::{Component, Path, PathBuf};

#[derive(Clone, Debug, Default)]
pub struct Names {
    /// How many folders above the working folder the highest of the paths read begins.
    up: usize,
    /// That folder.
    top: PathBuf,
    /// The way from there back to the working folder.
    here: Vec<String>,
}

impl Names {
    pub fn of<'p>(paths: impl Iterator<Item = &'p PathBuf>) -> Names {
        let climbs = |path: &PathBuf| path.components().take_while(|part| *part == Component::ParentDir).count();
        let up = paths.map(climbs).max().unwrap_or(0);
        let folder = absolute(Path::new(""));
        let Some(top) = folder.ancestors().nth(up).filter(|_| up > 0) else { return Names::default() };
        let here = folder.strip_prefix(top).unwrap_or(Path::new("")).components();
        Names { up, top: top.to_path_buf(), here: here.map(|part| part.as_os_str().to_string_lossy().into()).collect() }
    }

    /// With `/`, without a leading `./`; below the top as seen from there.
    pub fn spell(&self, path: &Path) -> String {
        let below = if self.up > 0 && path.is_relative() { Some(absolute(path)) } else { None };
        let text = match below.as_ref().and_then(|path| path.strip_prefix(&self.top).ok()) {
            Some(inside) => "../".repeat(self.up) + &inside.to_string_lossy(),
            None => path.to_string_lossy().into_owned(),
        };
        // Elsewhere it is a letter like any other.
        let text = if std::path::MAIN_SEPARATOR == '\\' { text.replace('\\', "/") } else { text };
        match text.strip_prefix("./") {
            Some(rest) if !rest.is_empty() => rest.to_string(),
            _ => text,
        }
    }

    /// The same file as seen from the working folder.
    pub fn shown(&self, spelled: &str) -> String {
        let Some(inside) = spelled.strip_prefix(&"../".repeat(self.up)).filter(|_| self.up > 0) else {
            return spelled.to_string();
        };
        let shared = inside.split('/').zip(&self.here).take_while(|(part, own)| part == own).count();
        let rest: Vec<&str> = inside.split('/').skip(shared).collect();
        "../".repeat(self.up - shared) + &rest.join("/")
    }
}
