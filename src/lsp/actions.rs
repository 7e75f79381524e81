//! Findings at a place -> what the editor offers to do: the changes they carry, a comment that hides them.

use super::findings::{Abilities, Places};
use super::places::Span;
use crate::finding::{Finding, Fix};
use crate::rules;
use crate::text::{Range, Source};
use serde_json::{Value, json};

pub const FIX_ALL: &str = "source.fixAll.synclint";

/// What stands for the reason until somebody writes one.
const REASON: &str = "say here why it is safe";

/// A finding and the diagnostic it was published as.
pub struct Shown {
    pub finding: Finding,
    pub diagnostic: Value,
    pub span: Span,
}

/// What is asked for.
pub struct Wanted<'w> {
    pub span: Span,
    /// Kinds of actions; all if empty.
    pub kinds: Vec<&'w str>,
    pub abilities: Abilities,
    /// The version of each document by URI, for those open.
    pub version: &'w dyn Fn(&str) -> Option<i64>,
}

impl Wanted<'_> {
    fn kind(&self, kind: &str) -> bool {
        let within = |wanted: &str| kind == wanted || kind.starts_with(&format!("{wanted}."));
        self.kinds.is_empty() || self.kinds.iter().any(|wanted| within(wanted))
    }
}

pub fn actions(shown: &[Shown], sources: &[Source], wanted: &Wanted) -> Vec<Value> {
    let mut actions = Vec::new();
    let mut places = Places::new(sources);
    if wanted.kind("quickfix") {
        for each in shown.iter().filter(|each| each.span.meets(&wanted.span)) {
            for (index, fix) in each.finding.fixes.iter().enumerate() {
                let edits = fix.edits.iter().map(|(range, text)| (*range, text.clone())).collect();
                let mut action = json!({
                    "title": sentence(&fix.title),
                    "kind": "quickfix",
                    "diagnostics": [each.diagnostic],
                    "edit": workspace_edit(edits, &mut places, wanted),
                });
                if index == 0 {
                    action["isPreferred"] = json!(true);
                }
                actions.push(action);
            }
        }
        for each in shown.iter().filter(|each| each.span.meets(&wanted.span)) {
            if let Some(edit) = suppression(&each.finding, sources) {
                actions.push(json!({
                    "title": format!("Hide this `{}`, with a reason", each.finding.rule.name),
                    "kind": "quickfix",
                    "diagnostics": [each.diagnostic],
                    "edit": workspace_edit(vec![edit], &mut places, wanted),
                }));
            }
        }
    }
    if wanted.kind(FIX_ALL) {
        let edits = all_edits(shown);
        if !edits.is_empty() {
            actions.push(json!({
                "title": "Make all changes that are proven to be right",
                "kind": FIX_ALL,
                "edit": workspace_edit(edits, &mut places, wanted),
            }));
        }
    }
    actions
}

/// A comment on a line of its own above, indented alike: `// synclint: ignore[rule] reason`.
fn suppression(finding: &Finding, sources: &[Source]) -> Option<(Range, String)> {
    if [rules::UNUSED_SUPPRESSION.name, rules::INCOMPLETE.name].contains(&finding.rule.name) {
        return None;
    }
    let bytes = sources.get(finding.at.file.0 as usize)?.bytes.as_slice();
    let before = bytes.get(..finding.at.start as usize)?;
    let start = memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1);
    let above = before[..start].strip_suffix(b"\n").unwrap_or_default();
    let above = above.strip_suffix(b"\r").unwrap_or(above);
    // A comment would swallow the rest of a macro.
    if above.ends_with(b"\\") {
        return None;
    }
    let end = if before[..start].ends_with(b"\r\n") { "\r\n" } else { "\n" };
    let blanks = bytes[start..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let indent = String::from_utf8_lossy(&bytes[start..start + blanks]).into_owned();
    let at = Range { file: finding.at.file, start: start as u32, end: start as u32 };
    Some((at, format!("{indent}// synclint: ignore[{}] {REASON}{end}", finding.rule.name)))
}

/// The first fix of each finding, but for those that would change what another one changes.
fn all_edits(shown: &[Shown]) -> Vec<(Range, String)> {
    let mut edits: Vec<(Range, String)> = Vec::new();
    for fix in shown.iter().filter_map(|each| each.finding.fixes.first()) {
        if !clashes(fix, &edits) {
            edits.extend(fix.edits.iter().cloned());
        }
    }
    edits
}

fn clashes(fix: &Fix, edits: &[(Range, String)]) -> bool {
    let overlap = |a: &Range, b: &Range| a.file == b.file && a.start < b.end && b.start < a.end;
    fix.edits.iter().any(|(range, _)| edits.iter().any(|(other, _)| overlap(range, other) || range == other))
}

fn workspace_edit(edits: Vec<(Range, String)>, places: &mut Places, wanted: &Wanted) -> Value {
    let mut by_uri: Vec<(String, Vec<Value>)> = Vec::new();
    for (range, text) in edits {
        let uri = places.uri(range.file);
        let edit = json!({ "range": places.span(range), "newText": text });
        match by_uri.iter_mut().find(|(other, _)| *other == uri) {
            Some((_, edits)) => edits.push(edit),
            None => by_uri.push((uri, vec![edit])),
        }
    }
    if wanted.abilities.document_changes {
        let changes: Vec<Value> = by_uri
            .into_iter()
            .map(|(uri, edits)| {
                let version = (wanted.version)(&uri);
                json!({ "textDocument": { "uri": uri, "version": version }, "edits": edits })
            })
            .collect();
        json!({ "documentChanges": changes })
    } else {
        json!({ "changes": Value::Object(by_uri.into_iter().map(|(uri, edits)| (uri, Value::Array(edits))).collect()) })
    }
}

fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}
