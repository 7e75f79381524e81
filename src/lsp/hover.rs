//! A place in a document -> what synclint knows of what stands there: of a barrier, or a call that leads to one, why it
//! is safe or not; of a variable or another call how far threads agree on its value, and why.

use super::places::{Lines, Position, Span, path_of, uri_of};
use crate::analysis::Standing;
use crate::checks::why::{Explanation, ValueExplanation};
use crate::finding::Note;
use crate::session::{Loaded, Progress};
use crate::settings::Settings;
use crate::source::lexer::{TokenKind, lex};
use crate::text::{FileId, LineIndex, Range};
use serde_json::{Value, json};
use std::path::Path;

/// Explanations of one place that are shown; a template may have dozens.
const SHOWN: usize = 6;

/// `null` where there is nothing to say.
pub fn hover(
    loaded: &Loaded,
    settings: &Settings,
    progress: &Progress,
    uri: &str,
    position: Position,
    markdown: bool,
) -> Value {
    let Some(file) = path_of(uri).and_then(|path| loaded.file(&path)) else { return Value::Null };
    let bytes = loaded.bytes(file);
    let lines = Lines::new(bytes);
    let Some(word) = word_at(bytes, lines.byte(position), file) else { return Value::Null };
    let mut writer = Writer { loaded, paths: loaded.paths(), markdown, text: String::new() };
    let barriers = barriers_at(loaded, settings, progress, word.range);
    if barriers.is_empty() {
        let values = loaded.values(settings, progress, word.range, word.standing).unwrap_or_default();
        if values.is_empty() {
            return Value::Null;
        }
        writer.values(&String::from_utf8_lossy(word.bytes(bytes)), &values);
    } else {
        writer.barriers(&barriers);
    }
    let kind = if markdown { "markdown" } else { "plaintext" };
    let span: Span = lines.span(word.range.start, word.range.end);
    json!({ "contents": { "kind": kind, "value": writer.text.trim_end() }, "range": span })
}

struct Word {
    range: Range,
    standing: Standing,
}

impl Word {
    fn bytes<'b>(&self, bytes: &'b [u8]) -> &'b [u8] {
        bytes.get(self.range.start as usize..self.range.end as usize).unwrap_or_default()
    }
}

/// The identifier round a byte, outside of comments and strings.
fn word_at(bytes: &[u8], at: u32, file: FileId) -> Option<Word> {
    let tokens = lex(bytes).tokens;
    let index = tokens.partition_point(|token| token.start() <= at).checked_sub(1)?;
    // A cursor behind the last letter is on the word, too.
    let on = |index: usize| {
        let token = tokens.get(index)?;
        let end = token.start() + token.bytes(bytes).len() as u32;
        (token.kind() == TokenKind::Identifier && token.start() <= at && at <= end).then_some((
            index,
            token.start(),
            end,
        ))
    };
    let (index, start, end) = on(index).or_else(|| on(index.checked_sub(1)?))?;
    let standing = match tokens.get(index + 1).map(|token| token.bytes(bytes)) {
        Some(b"(") => Standing::Call,
        Some(b"." | b"->" | b"::" | b"=") => Standing::Head,
        _ => Standing::Name,
    };
    Some(Word { range: Range { file, start, end }, standing })
}

fn barriers_at(loaded: &Loaded, settings: &Settings, progress: &Progress, word: Range) -> Vec<Explanation> {
    let on_word = |range: Range| range.file == word.file && range.start <= word.start && word.end <= range.end;
    let roots = |root| loaded.concerns(root, word.file);
    // A word inside the arguments of a call is about itself.
    let bytes = loaded.bytes(word.file);
    let is_name = |range: Range| {
        let head = bytes.get(range.start as usize..word.start as usize).unwrap_or_default();
        on_word(range) && !head.contains(&b'(')
    };
    loaded.why(settings, progress, word.file, &roots, &is_name).unwrap_or_default()
}

struct Writer<'l> {
    loaded: &'l Loaded,
    paths: Vec<&'l str>,
    markdown: bool,
    text: String,
}

impl Writer<'_> {
    fn barriers(&mut self, explanations: &[Explanation]) {
        for explanation in explanations.iter().take(SHOWN) {
            let Explanation { calls, guards, fault, .. } = explanation;
            let verdict = match fault {
                Some((rule, message)) => format!("{message} `[{rule}]`"),
                None => explanation.verdict(),
            };
            self.line(&self.strong(&verdict));
            if guards.is_empty() {
                self.paragraph("Nothing guards it: whoever runs the function comes to it.");
            }
            for (guard, number) in guards.iter().zip(1..) {
                let place = self.place(guard.at);
                let code = self.code(guard.at);
                self.paragraph(&format!("{number}. {code} ({place}): {}", guard.agreement()));
                self.chain(&guard.chain);
            }
            if calls.len() > 1 {
                let names: Vec<String> = calls.iter().map(|(name, _)| format!("`{name}`")).collect();
                self.paragraph(&format!("Reached through {}", names.join(" > ")));
            }
            self.text.push('\n');
        }
        self.more(explanations.len());
    }

    fn values(&mut self, name: &str, explanations: &[ValueExplanation]) {
        let several = explanations.iter().any(|each| each.root != explanations[0].root);
        for ValueExplanation { root, agrees, chain } in explanations.iter().take(SHOWN) {
            let where_ = if several { format!(" in `{root}`") } else { String::new() };
            self.line(&self.strong(&format!("`{name}` {}{agrees}{where_}", verb(agrees))));
            self.chain(chain);
            self.text.push('\n');
        }
        self.more(explanations.len());
    }

    fn more(&mut self, count: usize) {
        if count > SHOWN {
            self.line(&format!("(and {} more)", count - SHOWN));
        }
    }

    fn chain(&mut self, notes: &[Note]) {
        if !notes.is_empty() {
            self.text.push('\n');
        }
        let mut lines: Vec<String> = Vec::new();
        for note in notes {
            let line = format!("   - {}: {}", note.message, self.place(note.at));
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        lines.iter().for_each(|line| self.line(line));
    }

    fn line(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn paragraph(&mut self, text: &str) {
        self.text.push('\n');
        self.line(text);
    }

    fn strong(&self, text: &str) -> String {
        if self.markdown { format!("**{text}**") } else { text.to_string() }
    }

    /// The source of a short place.
    fn code(&self, at: Range) -> String {
        let bytes = self.loaded.bytes(at.file).get(at.start as usize..at.end as usize).unwrap_or_default();
        let text = String::from_utf8_lossy(bytes).split_whitespace().collect::<Vec<_>>().join(" ");
        let mut short: String = text.chars().filter(|each| *each != '`').take(60).collect();
        if short.len() < text.len() && text.chars().count() > 60 {
            short.push('…');
        }
        format!("`{short}`")
    }

    /// `kernel.cu:12`, a link where links can be shown.
    fn place(&self, at: Range) -> String {
        let path = Path::new(self.paths.get(at.file.0 as usize).copied().unwrap_or_default());
        let bytes = self.loaded.bytes(at.file);
        let line = LineIndex::new(bytes).place(at.start.min(bytes.len() as u32)).line;
        let name = format!("{}:{line}", path.file_name().unwrap_or_default().to_string_lossy());
        if self.markdown { format!("[{name}]({}#L{line})", uri_of(path)) } else { name }
    }
}

fn verb(agrees: &str) -> &'static str {
    if agrees.starts_with("differs") { "" } else { "is " }
}
