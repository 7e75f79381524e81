//! The language server: an editor's messages in, diagnostics, explanations and edits out.
//!
//! One thread owns all state and answers at once whatever needs no analysis. Analyses run beside it, one at a time, on a
//! copy of the open texts; a change stops the one that runs, and starts another when the typing pauses. It reads the open
//! folders and nothing else, writes no file, and runs no program.

mod actions;
mod findings;
mod hover;
mod places;
mod projects;
mod wire;

use crate::rules;
use crate::session::{Loaded, Progress};
use crate::settings::Settings;
use crate::source::walk;
use crate::text::Source;
use actions::{Shown, Wanted};
use findings::{Abilities, Answer, Places};
use places::{Change, Position, Span};
use projects::{Document, Project};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};
use wire::{Code, Incoming, answer, notification, refusal};

/// So long the texts have to stay as they are before an analysis begins.
const PAUSE: Duration = Duration::from_millis(150);

/// What the thread that owns the state waits for.
enum Event {
    Incoming(Incoming),
    /// The editor is gone.
    Closed,
    /// An analysis ended; nothing if it was stopped or failed.
    Analysed {
        generation: u64,
        answers: Option<Vec<(Project, Answer)>>,
    },
    /// A question that was asked beside it is answered.
    Answered {
        id: Value,
        result: Value,
    },
}

/// Serves one editor until it says goodbye or goes away. Whether it ended as the protocol wants.
pub fn serve<R: BufRead + Send + 'static>(input: R, output: &mut dyn Write) -> io::Result<bool> {
    let (events, waiting) = mpsc::channel();
    let reader = events.clone();
    thread::spawn(move || read_all(input, &reader));
    let mut server = Server::new(events, output);
    server.run(&waiting)
}

fn read_all(mut input: impl BufRead, events: &Sender<Event>) {
    loop {
        let event = match wire::read(&mut input) {
            Ok(Some(incoming)) => Event::Incoming(incoming),
            Ok(None) | Err(_) => Event::Closed,
        };
        let last = matches!(event, Event::Closed);
        if events.send(event).is_err() || last {
            return;
        }
    }
}

#[derive(Copy, Clone, PartialEq, Eq)]
enum Stage {
    Waiting,
    Running,
    ShutDown,
}

struct Server<'o> {
    events: Sender<Event>,
    output: &'o mut dyn Write,
    stage: Stage,
    abilities: Abilities,
    folders: Vec<PathBuf>,
    /// By URI.
    open: BTreeMap<String, Document>,
    /// Counts changes of anything that an answer depends on.
    generation: u64,
    /// When the next analysis is to begin.
    due: Option<Instant>,
    running: Option<Arc<Progress>>,
    analysed: Analysed,
    /// By URI, what the editor shows now.
    published: BTreeSet<String>,
    /// Questions that are being answered.
    asked: Vec<(Value, Arc<Progress>)>,
}

/// The last analysis that was not stopped.
#[derive(Default)]
struct Analysed {
    generation: u64,
    projects: Vec<AnalysedProject>,
}

struct AnalysedProject {
    root: Option<PathBuf>,
    settings: Settings,
    loaded: Option<Arc<Loaded>>,
    sources: Vec<Source>,
    /// By URI.
    shown: BTreeMap<String, Vec<Shown>>,
}

impl<'o> Server<'o> {
    fn new(events: Sender<Event>, output: &'o mut dyn Write) -> Server<'o> {
        Server {
            events,
            output,
            stage: Stage::Waiting,
            abilities: Abilities::default(),
            folders: Vec::new(),
            open: BTreeMap::new(),
            generation: 0,
            due: None,
            running: None,
            analysed: Analysed::default(),
            published: BTreeSet::new(),
            asked: Vec::new(),
        }
    }

    fn run(&mut self, waiting: &Receiver<Event>) -> io::Result<bool> {
        loop {
            let event = match self.due.filter(|_| self.running.is_none()) {
                Some(due) => match waiting.recv_timeout(due.saturating_duration_since(Instant::now())) {
                    Ok(event) => event,
                    Err(RecvTimeoutError::Timeout) => {
                        self.analyse();
                        continue;
                    }
                    Err(RecvTimeoutError::Disconnected) => Event::Closed,
                },
                None => waiting.recv().unwrap_or(Event::Closed),
            };
            match event {
                Event::Closed => return Ok(self.stage == Stage::ShutDown),
                Event::Incoming(Incoming::Malformed(what)) => {
                    self.send(&refusal(&Value::Null, Code::ParseError, &what))?;
                }
                Event::Incoming(Incoming::Message(message)) => {
                    if let Some(well) = self.message(message)? {
                        return Ok(well);
                    }
                }
                Event::Analysed { generation, answers } => {
                    self.running = None;
                    if let Some(answers) = answers.filter(|_| generation == self.generation) {
                        self.publish(generation, answers)?;
                    }
                }
                Event::Answered { id, result } => {
                    if let Some(index) = self.asked.iter().position(|(asked, _)| *asked == id) {
                        self.asked.swap_remove(index);
                        self.send(&answer(&id, result))?;
                    }
                }
            }
        }
    }

    fn send(&mut self, message: &Value) -> io::Result<()> {
        wire::write(&mut self.output, message)
    }

    // ---------------------------------------------------------------- messages

    /// Whether the server is to end, and if so, whether well.
    fn message(&mut self, message: Value) -> io::Result<Option<bool>> {
        let id = message.get("id").cloned().filter(|id| !id.is_null());
        let params = message.get("params").cloned().unwrap_or_default();
        match (message.get("method").and_then(Value::as_str), id) {
            (Some("exit"), None) => Ok(Some(self.stage == Stage::ShutDown)),
            (Some(method), None) => self.notified(method, params).map(|()| None),
            (Some(method), Some(id)) => self.requested(method, id, params).map(|()| None),
            // An answer to a request of ours: nothing hangs on it.
            (None, Some(_)) if message.get("result").is_some() || message.get("error").is_some() => Ok(None),
            (None, id) => {
                let id = id.unwrap_or_default();
                self.send(&refusal(&id, Code::InvalidRequest, "neither a request nor an answer"))?;
                Ok(None)
            }
        }
    }

    fn requested(&mut self, method: &str, id: Value, params: Value) -> io::Result<()> {
        let refused = match (method, self.stage) {
            ("initialize", Stage::Waiting) => {
                self.initialise(&params);
                return self.send(&answer(&id, capabilities()));
            }
            (_, Stage::Waiting) => Some((Code::NotInitialized, "`initialize` comes first")),
            (_, Stage::ShutDown) => Some((Code::InvalidRequest, "the server is shut down")),
            ("initialize", Stage::Running) => Some((Code::InvalidRequest, "`initialize` comes once")),
            _ => None,
        };
        if let Some((code, why)) = refused {
            return self.send(&refusal(&id, code, why));
        }
        let done = match method {
            "shutdown" => {
                self.stage = Stage::ShutDown;
                self.due = None;
                self.stop();
                Ok(Some(Value::Null))
            }
            "textDocument/hover" => parsed(params).map(|question| self.hover(&id, &question)),
            "textDocument/codeAction" => parsed(params).map(|question| Some(self.actions(&question))),
            "synclint/rulePage" => parsed(params).map(|Page { rule }| {
                Some(rules::find(&rule).map_or(Value::Null, |rule| json!({ "text": rules::page(rule) })))
            }),
            _ => return self.send(&refusal(&id, Code::MethodNotFound, &format!("`{method}` is not served"))),
        };
        match done {
            Ok(Some(result)) => self.send(&answer(&id, result)),
            Ok(None) => Ok(()),
            Err(why) => self.send(&refusal(&id, Code::InvalidParams, &why)),
        }
    }

    fn notified(&mut self, method: &str, params: Value) -> io::Result<()> {
        if self.stage != Stage::Running {
            return Ok(());
        }
        // A notification that is not understood has no answer; the next one may be.
        match method {
            "initialized" => return self.watch_files(),
            "textDocument/didOpen" => {
                if let Ok(Opened { text_document }) = parsed(params) {
                    self.opened(text_document);
                }
            }
            "textDocument/didChange" => {
                if let Ok(Changed { text_document, content_changes }) = parsed(params)
                    && let Some(document) = self.open.get_mut(&text_document.uri)
                {
                    content_changes.into_iter().for_each(|change| places::apply(&mut document.text, change));
                    document.version = text_document.version.unwrap_or(document.version + 1);
                    self.changed();
                }
            }
            "textDocument/didSave" => self.changed(),
            "textDocument/didClose" => {
                if let Ok(Named { text_document }) = parsed(params)
                    && self.open.remove(&text_document.uri).is_some()
                {
                    self.changed();
                }
            }
            "workspace/didChangeWatchedFiles" | "workspace/didChangeConfiguration" => self.changed(),
            "workspace/didChangeWorkspaceFolders" => {
                if let Ok(FoldersChanged { event }) = parsed(params) {
                    let removed: Vec<PathBuf> =
                        event.removed.iter().filter_map(|folder| places::path_of(&folder.uri)).collect();
                    self.folders.retain(|folder| !removed.contains(folder));
                    self.folders.extend(event.added.iter().filter_map(|folder| places::path_of(&folder.uri)));
                    self.changed();
                }
            }
            "$/cancelRequest" => {
                let id = params.get("id").cloned().unwrap_or_default();
                if let Some(index) = self.asked.iter().position(|(asked, _)| *asked == id) {
                    let (id, progress) = self.asked.swap_remove(index);
                    progress.stopped.store(true, Ordering::Relaxed);
                    return self.send(&refusal(&id, Code::Cancelled, "cancelled"));
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn initialise(&mut self, params: &Value) {
        self.stage = Stage::Running;
        let says = |pointer: &str| params.pointer(&format!("/capabilities/{pointer}")).cloned().unwrap_or_default();
        let able = |pointer: &str| says(pointer).as_bool().unwrap_or_default();
        self.abilities = Abilities {
            related: able("textDocument/publishDiagnostics/relatedInformation"),
            code_description: able("textDocument/publishDiagnostics/codeDescriptionSupport"),
            rule_pages: params.pointer("/initializationOptions/rulePages").and_then(Value::as_bool) == Some(true),
            tags: says("textDocument/publishDiagnostics/tagSupport").is_object(),
            markdown: says("textDocument/hover/contentFormat")
                .as_array()
                .is_some_and(|formats| formats.iter().any(|format| format == "markdown")),
            document_changes: able("workspace/workspaceEdit/documentChanges"),
            code_action_literals: says("textDocument/codeAction/codeActionLiteralSupport").is_object(),
            watches_files: able("workspace/didChangeWatchedFiles/dynamicRegistration"),
        };
        let folders = params.get("workspaceFolders").and_then(Value::as_array);
        let uris: Vec<&str> = match folders {
            Some(folders) => folders.iter().filter_map(|folder| folder.get("uri")?.as_str()).collect(),
            None => params.get("rootUri").and_then(Value::as_str).into_iter().collect(),
        };
        self.folders = uris.into_iter().filter_map(places::path_of).collect();
        let old = params.get("rootPath").and_then(Value::as_str);
        if self.folders.is_empty() && folders.is_none() {
            self.folders.extend(old.map(PathBuf::from));
        }
    }

    /// Asks to be told of files that change outside the editor.
    fn watch_files(&mut self) -> io::Result<()> {
        if !self.abilities.watches_files {
            return Ok(());
        }
        let watchers = [
            "**/*.{cu,cuh,hip,h,hpp,hh,hxx,inl,inc,ipp,cpp,cc,cxx}",
            "**/{synclint,.synclint}.toml",
            "**/synclint-baseline.json",
        ];
        let watchers: Vec<Value> = watchers.iter().map(|glob| json!({ "globPattern": glob })).collect();
        let registration = json!({
            "id": "files",
            "method": "workspace/didChangeWatchedFiles",
            "registerOptions": { "watchers": watchers },
        });
        self.send(&json!({
            "jsonrpc": "2.0",
            "id": "synclint/watch",
            "method": "client/registerCapability",
            "params": { "registrations": [registration] },
        }))
    }

    // ---------------------------------------------------------------- texts

    fn opened(&mut self, item: TextItem) {
        let Some(path) = places::path_of(&item.uri) else { return };
        if !(walk::is_source_name(&path) || item.language_id.starts_with("cuda")) {
            return;
        }
        let TextItem { uri, version, text, .. } = item;
        self.open.insert(uri.clone(), Document { uri, path, version, text });
        self.changed();
    }

    /// What is being worked out is out of date.
    fn changed(&mut self) {
        self.generation += 1;
        self.stop();
        self.due = Some(Instant::now() + PAUSE);
    }

    fn stop(&mut self) {
        if let Some(progress) = &self.running {
            progress.stopped.store(true, Ordering::Relaxed);
        }
    }

    fn projects(&self) -> Vec<Project> {
        let documents: Vec<Document> = self.open.values().cloned().collect();
        projects::projects(&self.folders, &documents)
    }

    /// The project that a file on the disk belongs to, which is not open.
    fn project_around(&self, uri: &str) -> Option<Project> {
        let root = projects::root_of(&self.folders, &places::path_of(uri)?)?;
        let known = self.projects().into_iter().find(|project| project.root.as_ref() == Some(&root));
        Some(known.unwrap_or(Project { root: Some(root), documents: Vec::new() }))
    }

    /// Begins an analysis of all that is open.
    fn analyse(&mut self) {
        self.due = None;
        let progress = Arc::new(Progress::default());
        self.running = Some(progress.clone());
        let (generation, projects, events) = (self.generation, self.projects(), self.events.clone());
        thread::spawn(move || {
            let answers = catch_unwind(AssertUnwindSafe(|| {
                projects
                    .into_iter()
                    .map(|project| findings::answer(&project, &progress).map(|answer| (project, answer)))
                    .collect::<Option<Vec<_>>>()
            }));
            // The editor may be gone by now.
            let _ = events.send(Event::Analysed { generation, answers: answers.ok().flatten() });
        });
    }

    // ---------------------------------------------------------------- answers

    /// Shows what was found, and takes back what is found no more.
    fn publish(&mut self, generation: u64, answers: Vec<(Project, Answer)>) -> io::Result<()> {
        let mut diagnostics: BTreeMap<String, Vec<Value>> =
            self.open.keys().map(|uri| (uri.clone(), Vec::new())).collect();
        let mut projects = Vec::new();
        for (project, found) in answers {
            let Answer { settings, loaded, findings, sources, complaints } = found;
            for complaint in &complaints {
                let uri = self.uri_as_opened(&places::uri_of(&complaint.file));
                diagnostics.entry(uri).or_default().push(findings::complaint(complaint));
            }
            let mut shown: BTreeMap<String, Vec<Shown>> = BTreeMap::new();
            let mut places = Places::new(&sources);
            for finding in findings {
                let diagnostic = findings::diagnostic(&finding, &mut places, self.abilities);
                let uri = self.uri_as_opened(&places.uri(finding.at.file));
                diagnostics.entry(uri.clone()).or_default().push(diagnostic.clone());
                let span = places.span(finding.at);
                shown.entry(uri).or_default().push(Shown { finding, diagnostic, span });
            }
            drop(places);
            projects.push(AnalysedProject { root: project.root, settings, loaded, sources, shown });
        }
        let gone: Vec<String> = self.published.iter().filter(|uri| !diagnostics.contains_key(*uri)).cloned().collect();
        for uri in gone {
            self.send(&notification("textDocument/publishDiagnostics", json!({ "uri": uri, "diagnostics": [] })))?;
        }
        self.published = diagnostics.keys().cloned().collect();
        for (uri, diagnostics) in diagnostics {
            let mut params = json!({ "uri": uri, "diagnostics": diagnostics });
            if let Some(document) = self.open.get(&uri) {
                params["version"] = json!(document.version);
            }
            self.send(&notification("textDocument/publishDiagnostics", params))?;
        }
        self.analysed = Analysed { generation, projects };
        Ok(())
    }

    /// Editors escape URIs in ways of their own: an open document keeps the one it was opened under.
    fn uri_as_opened(&self, uri: &str) -> String {
        if self.open.contains_key(uri) {
            return uri.to_string();
        }
        let path = places::path_of(uri);
        let same = self.open.values().find(|document| Some(&document.path) == path.as_ref());
        same.map_or_else(|| uri.to_string(), |document| document.uri.clone())
    }

    /// Answered beside everything else; an older question of the kind is dropped, since the cursor has moved on.
    fn hover(&mut self, id: &Value, question: &Question) -> Option<Value> {
        for (_, progress) in &self.asked {
            progress.stopped.store(true, Ordering::Relaxed);
        }
        let uri = question.text_document.uri.clone();
        let opened = self.projects().into_iter().find(|project| project.documents.iter().any(|it| it.uri == uri));
        let Some(project) = opened.or_else(|| self.project_around(&uri)) else { return Some(Value::Null) };
        let position = question.position;
        let markdown = self.abilities.markdown;
        let fresh = self.analysed.generation == self.generation;
        let analysed = self.analysed.projects.iter().filter(|_| fresh).find(|it| it.root == project.root);
        let ready = analysed.and_then(|it| Some((it.loaded.clone()?, it.settings.clone())));
        let progress = Arc::new(Progress::default());
        self.asked.push((id.clone(), progress.clone()));
        let (id, events) = (id.clone(), self.events.clone());
        thread::spawn(move || {
            let result = catch_unwind(AssertUnwindSafe(|| {
                let (loaded, settings) = match ready {
                    Some(ready) => ready,
                    None => {
                        let (settings, _) = project.settings();
                        let loaded = crate::session::load(&settings, &project.request(&settings)).ok()?;
                        (Arc::new(loaded), settings)
                    }
                };
                let found = hover::hover(&loaded, &settings, &progress, &uri, position, markdown);
                (!progress.stopped.load(Ordering::Relaxed)).then_some(found)
            }));
            let result = result.ok().flatten().unwrap_or_default();
            let _ = events.send(Event::Answered { id, result });
        });
        None
    }

    fn actions(&self, question: &ActionQuestion) -> Value {
        let nothing = json!([]);
        // Edits of a text that has changed since would hit something else.
        if self.analysed.generation != self.generation || !self.abilities.code_action_literals {
            return nothing;
        }
        let uri = &question.text_document.uri;
        let found = self.analysed.projects.iter().find_map(|project| Some((project, project.shown.get(uri)?)));
        let Some((project, shown)) = found else { return nothing };
        let version = |uri: &str| self.open.get(uri).map(|document| document.version);
        let kinds = question.context.only.iter().flatten().map(String::as_str).collect();
        let wanted = Wanted { span: question.range, kinds, abilities: self.abilities, version: &version };
        Value::Array(actions::actions(shown, &project.sources, &wanted))
    }
}

fn capabilities() -> Value {
    json!({
        "capabilities": {
            "positionEncoding": "utf-16",
            "textDocumentSync": { "openClose": true, "change": 2, "save": { "includeText": false } },
            "hoverProvider": true,
            "codeActionProvider": { "codeActionKinds": ["quickfix", actions::FIX_ALL] },
            "workspace": { "workspaceFolders": { "supported": true, "changeNotifications": true } },
        },
        "serverInfo": { "name": "synclint", "version": env!("CARGO_PKG_VERSION") },
    })
}

fn parsed<T: for<'de> Deserialize<'de>>(params: Value) -> Result<T, String> {
    serde_json::from_value(params).map_err(|error| error.to_string())
}

// ---------------------------------------------------------------- what messages carry, as far as it is read

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Opened {
    text_document: TextItem,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TextItem {
    uri: String,
    #[serde(default)]
    language_id: String,
    #[serde(default)]
    version: i64,
    text: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Changed {
    text_document: Versioned,
    content_changes: Vec<Change>,
}

#[derive(Deserialize)]
struct Versioned {
    uri: String,
    version: Option<i64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Named {
    text_document: Uri,
}

#[derive(Deserialize)]
struct Uri {
    uri: String,
}

#[derive(Deserialize)]
struct FoldersChanged {
    event: FolderChanges,
}

#[derive(Deserialize)]
struct FolderChanges {
    #[serde(default)]
    added: Vec<Uri>,
    #[serde(default)]
    removed: Vec<Uri>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Question {
    text_document: Uri,
    position: Position,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ActionQuestion {
    text_document: Uri,
    range: Span,
    #[serde(default)]
    context: ActionContext,
}

#[derive(Default, Deserialize)]
struct ActionContext {
    only: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct Page {
    rule: String,
}
