//! The folders an editor has open -> what one analysis reads: a folder, its settings, its baseline.
//!
//! Nothing outside the open folders is read, whatever a `synclint.toml` or a link in them says, and nothing is run.

use super::places::{Lines, Span};
use crate::baseline::{self, Baseline};
use crate::session::Request;
use crate::settings::{self, FILE_NAMES, Repository, Settings};
use std::path::{Path, PathBuf};

/// A document as the editor has it.
#[derive(Clone, Debug)]
pub struct Document {
    pub uri: String,
    pub path: PathBuf,
    pub version: i64,
    pub text: String,
}

/// Documents that are analysed together.
#[derive(Clone, Debug)]
pub struct Project {
    /// The folder that is read whole; `None` for documents outside of all open folders, of which only themselves are seen.
    pub root: Option<PathBuf>,
    pub documents: Vec<Document>,
}

/// A file that the editor is to show an error in, though it is no source.
#[derive(Clone, Debug)]
pub struct Complaint {
    pub file: PathBuf,
    pub span: Span,
    pub message: String,
}

/// The documents by project: the nearest folder above with a `synclint.toml`, else the open folder.
pub fn projects(folders: &[PathBuf], documents: &[Document]) -> Vec<Project> {
    let mut found: Vec<Project> = Vec::new();
    for document in documents {
        let root = root_of(folders, &document.path);
        match found.iter_mut().find(|project| project.root == root) {
            Some(project) => project.documents.push(document.clone()),
            None => found.push(Project { root, documents: vec![document.clone()] }),
        }
    }
    found
}

pub fn root_of(folders: &[PathBuf], path: &Path) -> Option<PathBuf> {
    let open =
        folders.iter().filter(|folder| path.starts_with(folder)).max_by_key(|folder| folder.as_os_str().len())?;
    let above = path.ancestors().skip(1).take_while(|folder| folder.starts_with(open));
    let configured = above.into_iter().find(|folder| FILE_NAMES.iter().any(|name| folder.join(name).is_file()));
    Some(configured.unwrap_or(open).to_path_buf())
}

impl Project {
    /// The settings; those of nobody where the file has a fault, which is told.
    pub fn settings(&self) -> (Settings, Vec<Complaint>) {
        let Some(root) = &self.root else { return (Settings::default(), Vec::new()) };
        let Some(file) = FILE_NAMES.iter().map(|name| root.join(name)).find(|path| path.is_file()) else {
            return (Settings::default(), Vec::new());
        };
        if !inside(root, &file) {
            let message = "leads out of the open folder, and is not read".to_string();
            return (Settings::default(), vec![Complaint { file, span: Span::default(), message }]);
        }
        match Settings::read(&file) {
            Ok(mut settings) => {
                let complaints = confine(&mut settings, root, &file);
                (settings, complaints)
            }
            Err(error) => (Settings::default(), vec![complaint(error)]),
        }
    }

    pub fn request(&self, settings: &Settings) -> Request {
        let wanted = |document: &&Document| !settings.exclude.matches(&document.path);
        let documents = self.documents.iter().filter(wanted);
        Request {
            read: self.root.iter().cloned().collect(),
            only: None,
            texts: documents.map(|it| (it.path.clone(), it.text.clone().into_bytes())).collect(),
            confined: true,
            force_exclude: true,
            no_ignore: false,
            fixes: true,
            ..Request::default()
        }
    }

    /// The known findings; none where there is no such file or it is not understood.
    pub fn baseline(&self) -> Baseline {
        let Some(root) = &self.root else { return Baseline::default() };
        let path = root.join(baseline::FILE_NAME);
        let text = if inside(root, &path) { crate::settings::own_text(&path).ok() } else { None };
        text.and_then(|text| Baseline::parse(&text).ok()).unwrap_or_default()
    }

    /// What fingerprints are relative to: where git says so if that is in view, as on the command line.
    pub fn repository(&self) -> Repository {
        let start = self.root.clone().or_else(|| self.documents.first().map(|it| it.path.clone())).unwrap_or_default();
        Repository::of(&start, self.root.as_deref())
    }
}

fn inside(root: &Path, path: &Path) -> bool {
    match (std::fs::canonicalize(root), std::fs::canonicalize(path)) {
        (Ok(root), Ok(path)) => path.starts_with(root),
        _ => false,
    }
}

/// Takes out what would have synclint read elsewhere. Include folders only tell which of the files read is meant.
fn confine(settings: &mut Settings, root: &Path, file: &Path) -> Vec<Complaint> {
    let database = settings.build.as_ref().map(|build| build.join("compile_commands.json"));
    let elsewhere = match (&settings.build, database) {
        (Some(build), Some(database)) => !inside(root, build) || (database.exists() && !inside(root, &database)),
        _ => false,
    };
    if !elsewhere {
        return Vec::new();
    }
    settings.build = None;
    let message = "`build` is not in the open folder: in an editor, synclint reads nothing elsewhere".to_string();
    vec![Complaint { file: file.to_path_buf(), span: Span::default(), message }]
}

fn complaint(error: settings::Error) -> Complaint {
    let help = error.help.map(|help| format!(": {help}")).unwrap_or_default();
    let span = error
        .place
        .as_ref()
        .map(|(text, range)| Lines::new(text.as_bytes()).span(range.start as u32, range.end as u32));
    Complaint { file: error.file, span: span.unwrap_or_default(), message: format!("{}{help}", error.message) }
}
