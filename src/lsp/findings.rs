//! A project -> what is found in its open documents -> diagnostics.

use super::places::{Lines, Span, uri_of};
use super::projects::{Complaint, Project};
use crate::finding::{Finding, Note, Severity, Witness};
use crate::report::threads;
use crate::rules;
use crate::session::{self, Loaded, Progress};
use crate::settings::Settings;
use crate::text::{FileId, Range, Source};
use rustc_hash::FxHashMap;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// What one analysis of a project gave.
pub struct Answer {
    pub settings: Settings,
    /// For further questions about the same texts.
    pub loaded: Option<Arc<Loaded>>,
    pub findings: Vec<Finding>,
    /// By `FileId`; the bytes of those that findings speak of.
    pub sources: Vec<Source>,
    pub complaints: Vec<Complaint>,
}

/// What the editor can show.
#[derive(Copy, Clone, Debug, Default)]
pub struct Abilities {
    /// Places that belong to a diagnostic.
    pub related: bool,
    /// A link at its code.
    pub code_description: bool,
    /// It asks for the pages of rules that `synclint:` URIs name.
    pub rule_pages: bool,
    pub tags: bool,
    pub markdown: bool,
    /// Edits with versions of documents.
    pub document_changes: bool,
    pub code_action_literals: bool,
    pub watches_files: bool,
}

/// `None` if it was stopped.
pub fn answer(project: &Project, progress: &Progress) -> Option<Answer> {
    let (settings, mut complaints) = project.settings();
    let request = project.request(&settings);
    let nothing =
        |settings, complaints| Answer { settings, loaded: None, findings: Vec::new(), sources: Vec::new(), complaints };
    let stopped = || progress.stopped.load(Ordering::Relaxed);
    let fault = |error: session::Error| Complaint {
        file: settings.file.clone().or_else(|| project.documents.first().map(|it| it.path.clone())).unwrap_or_default(),
        span: Span::default(),
        message: error.0,
    };
    let loaded = match session::load(&settings, &request) {
        Ok(loaded) => loaded,
        Err(error) => {
            complaints.push(fault(error));
            return (!stopped()).then(|| nothing(settings, complaints));
        }
    };
    if stopped() {
        return None;
    }
    let paths: Vec<_> = request.texts.iter().map(|(path, _)| path.clone()).collect();
    let files: Vec<FileId> = paths.iter().filter_map(|path| loaded.file(path)).collect();
    let concerned = |root| files.iter().any(|file| loaded.concerns(root, *file));
    let mut outcome = match loaded.analyse(&settings, progress, &concerned) {
        Ok(outcome) => outcome,
        Err(error) => {
            complaints.push(fault(error));
            return (!stopped()).then(|| nothing(settings, complaints));
        }
    };
    if stopped() {
        return None;
    }
    let (baseline, repository) = (project.baseline(), project.repository());
    let conclusion = session::conclude(&mut outcome, &settings, Some(&paths), &baseline, &repository);
    let findings = conclusion.findings.into_iter().map(|marked| marked.finding).collect();
    Some(Answer { settings, loaded: Some(Arc::new(loaded)), findings, sources: outcome.sources, complaints })
}

/// Lines of the sources, made when first asked for.
pub struct Places<'s> {
    sources: &'s [Source],
    lines: FxHashMap<FileId, Lines<'s>>,
}

impl<'s> Places<'s> {
    pub fn new(sources: &'s [Source]) -> Places<'s> {
        Places { sources, lines: FxHashMap::default() }
    }

    pub fn path(&self, file: FileId) -> &'s str {
        self.sources.get(file.0 as usize).map_or("", |source| &source.path)
    }

    pub fn uri(&self, file: FileId) -> String {
        uri_of(Path::new(self.path(file)))
    }

    pub fn span(&mut self, range: Range) -> Span {
        let sources = self.sources;
        let lines = self.lines.entry(range.file).or_insert_with(|| {
            Lines::new(sources.get(range.file.0 as usize).map_or(&[], |source| source.bytes.as_slice()))
        });
        lines.span(range.start, range.end)
    }
}

/// A finding as editors show it.
pub fn diagnostic(finding: &Finding, places: &mut Places, abilities: Abilities) -> Value {
    let mut message = finding.message.clone();
    if let Some(witness) = finding.witness.as_ref().filter(|witness| !witness.missing.is_empty()) {
        message.push_str(&format!("\n{}", missing(witness)));
    }
    let steps: Vec<(&Note, String)> = numbered(finding);
    if !abilities.related {
        for (note, text) in &steps {
            let line = places.span(note.at).start.line + 1;
            let file = Path::new(places.path(note.at.file)).file_name().unwrap_or_default().to_string_lossy();
            message.push_str(&format!("\n{file}:{line}: {text}"));
        }
    }
    if let Some(help) = &finding.help {
        message.push_str(&format!("\nhelp: {help}"));
    }
    let mut diagnostic = json!({
        "range": places.span(finding.at),
        "severity": severity(finding.severity),
        "code": finding.rule.name,
        "source": "synclint",
        "message": message,
    });
    if abilities.related && !steps.is_empty() {
        let related: Vec<Value> = steps
            .iter()
            .map(|(note, text)| {
                json!({
                    "location": { "uri": places.uri(note.at.file), "range": places.span(note.at) },
                    "message": text,
                })
            })
            .collect();
        diagnostic["relatedInformation"] = Value::Array(related);
    }
    if abilities.code_description && abilities.rule_pages {
        diagnostic["codeDescription"] = json!({ "href": format!("synclint:/rules/{}.md", finding.rule.name) });
    }
    if abilities.tags && finding.rule.name == rules::UNUSED_SUPPRESSION.name {
        diagnostic["tags"] = json!([1]);
    }
    diagnostic
}

/// The story in order, numbered as in the terminal, then what else belongs to it.
fn numbered(finding: &Finding) -> Vec<(&Note, String)> {
    let story = finding.story.iter().zip(1..).map(|(note, number)| (note, format!("{number}. {}", note.message)));
    story.chain(finding.related.iter().map(|note| (note, note.message.clone()))).collect()
}

/// `a block of 64 threads, n = 33: threads 33..63 are missing`
fn missing(witness: &Witness) -> String {
    let who = threads::list(&witness.missing, witness.unit);
    let verb = match witness.missing.as_slice() {
        [(first, last)] if first == last => "is",
        _ => "are",
    };
    match witness.given.is_empty() {
        true => format!("{who} {verb} missing"),
        false => format!("{}: {who} {verb} missing", witness.given),
    }
}

/// A fault of a settings file, as editors show it.
pub fn complaint(complaint: &Complaint) -> Value {
    let Complaint { span, message, .. } = complaint;
    json!({ "range": span, "severity": 1, "source": "synclint", "message": message })
}

fn severity(severity: Severity) -> u32 {
    match severity {
        Severity::Error => 1,
        Severity::Warning => 2,
        Severity::Note => 3,
    }
}
