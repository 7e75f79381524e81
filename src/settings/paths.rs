//! Path patterns of the settings, in the manner of `.gitignore`.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use std::path::{Component, Path, PathBuf};

/// A pattern stands for what it names and for what lies in it.
const GLOBS: usize = 2;

/// Patterns and the folder they start from. A name alone matches at any depth, one with a slash from the folder;
/// what lies in a matching folder matches.
#[derive(Clone, Debug, Default)]
pub struct Patterns {
    folder: PathBuf,
    written: Vec<String>,
    globs: GlobSet,
}

impl Patterns {
    /// Fails with the pattern that is none, and why.
    pub fn new(folder: &Path, patterns: &[String]) -> Result<Patterns, (String, String)> {
        let mut builder = GlobSetBuilder::new();
        for pattern in patterns {
            let fault = |why: &str| (pattern.clone(), format!("`{pattern}` is no pattern: {why}"));
            if pattern.starts_with('!') {
                return Err(fault("nothing is taken back with `!`; name only what is meant"));
            }
            let bare = pattern.trim_start_matches("./").trim_end_matches('/');
            let bare = bare.strip_suffix("/**").unwrap_or(bare);
            if bare.trim_matches('/').trim().is_empty() {
                return Err(fault("it names nothing"));
            }
            let anchored = match bare.strip_prefix('/') {
                Some(rooted) => rooted.to_string(),
                None if bare.contains('/') => bare.to_string(),
                None => format!("**/{bare}"),
            };
            let globs: [String; GLOBS] = [anchored.clone(), format!("{anchored}/**")];
            for glob in globs {
                let glob = GlobBuilder::new(&glob).literal_separator(true).build();
                builder.add(glob.map_err(|error| fault(&error.kind().to_string()))?);
            }
        }
        let globs = builder.build().map_err(|error| (String::new(), error.to_string()))?;
        Ok(Patterns { folder: absolute(folder), written: patterns.to_vec(), globs })
    }

    pub fn matches(&self, path: &Path) -> bool {
        if self.written.is_empty() {
            return false;
        }
        let path = absolute(path);
        path.strip_prefix(&self.folder).is_ok_and(|inside| self.globs.is_match(inside))
    }

    /// Those that match, by their place among the written ones.
    pub fn fitting(&self, path: &Path) -> Vec<usize> {
        if self.written.is_empty() {
            return Vec::new();
        }
        let path = absolute(path);
        let Ok(inside) = path.strip_prefix(&self.folder) else { return Vec::new() };
        let mut fitting: Vec<usize> = self.globs.matches(inside).into_iter().map(|glob| glob / GLOBS).collect();
        fitting.dedup();
        fitting
    }

    pub fn as_written(&self) -> &[String] {
        &self.written
    }
}

/// From the root of the file system, without `.` and `..`; links are left as they are.
pub fn absolute(path: &Path) -> PathBuf {
    let joined = std::env::current_dir().unwrap_or_default().join(path);
    let mut plain = PathBuf::new();
    for component in joined.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    plain
}

/// The top of the repository: what paths in machine-read reports and in fingerprints are relative to.
#[derive(Clone, Debug)]
pub struct Repository {
    top: PathBuf,
}

impl Repository {
    /// The one that `start` lies in: a CI's checkout, the folder that holds `.git`, `otherwise`, the working folder.
    pub fn of(start: &Path, otherwise: Option<&Path>) -> Repository {
        let start = absolute(start);
        let checkout = ["GITHUB_WORKSPACE", "CI_PROJECT_DIR"]
            .into_iter()
            .filter_map(std::env::var_os)
            .map(PathBuf::from)
            .find(|folder| start.starts_with(folder) && folder.is_absolute());
        let git = || start.ancestors().find(|folder| folder.join(".git").exists()).map(Path::to_path_buf);
        let top = checkout.or_else(git).or_else(|| otherwise.map(absolute)).unwrap_or_else(|| absolute(Path::new("")));
        Repository { top }
    }

    /// Where a path from the top stands.
    pub fn place(&self, path: &str) -> PathBuf {
        self.top.join(path)
    }

    /// The path from the top, with `/`; an absolute one where it lies elsewhere.
    pub fn path(&self, path: &str) -> String {
        let path = absolute(Path::new(path));
        let inside = path.strip_prefix(&self.top).unwrap_or(&path);
        let text = inside.to_string_lossy();
        if std::path::MAIN_SEPARATOR == '/' { text.into_owned() } else { text.replace(std::path::MAIN_SEPARATOR, "/") }
    }
}
