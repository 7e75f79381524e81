//! SARIF 2.1.0, as GitHub code scanning reads it: all rules with their pages, the story as a code flow,
//! paths from the top of the repository, columns in UTF-16 units.

use super::{Located, Report, Spot, Step};
use crate::finding::{Role, Rule, Severity, Unread};
use crate::rules;
use crate::text::FileId;
use serde_json::{Map, Value, json};
use std::io::{self, Write};

/// GitHub's limit for a rule's descriptions, in characters.
const DESCRIPTION: usize = 1024;

pub fn render(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let results: Vec<Value> = report
        .findings
        .iter()
        .filter(|located| located.finding.rule.name != "incomplete")
        .map(|it| result(report, it))
        .collect();
    let document = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "synclint",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": report.rules.iter().map(|it| rule(it)).collect::<Vec<_>>(),
            } },
            "automationDetails": { "id": "synclint/" },
            "columnKind": "utf16CodeUnits",
            "originalUriBaseIds": { "%SRCROOT%": { "description": { "text": "the top of the repository" } } },
            "invocations": [{ "executionSuccessful": !report.skipped.iter().any(|unread| unread.is_named), "toolExecutionNotifications": notifications(report) }],
            "results": results,
        }],
    });
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)
}

fn rule(rule: &Rule) -> Value {
    let page = rules::page(rule);
    let mut description = section(rule.page, "What it finds").unwrap_or(rule.summary).trim().to_string();
    if let Some((cut, _)) = description.char_indices().nth(DESCRIPTION - 1) {
        description.truncate(cut);
        description.push('…');
    }
    json!({
        "id": rule.name,
        "shortDescription": { "text": rule.summary },
        "fullDescription": { "text": description },
        "help": { "text": page, "markdown": page },
        "defaultConfiguration": { "level": level(rule.severity) },
        "properties": {
            "tags": ["cuda", "concurrency", "correctness"],
            "precision": "high",
            "problem.severity": match rule.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
                Severity::Note => "recommendation",
            },
        },
    })
}

/// The text under a heading of a rule's page.
fn section<'a>(page: &'a str, heading: &str) -> Option<&'a str> {
    let start = page.find(&format!("## {heading}\n"))? + heading.len() + 4;
    let text = &page[start..];
    Some(text.find("\n## ").map_or(text, |end| &text[..end]))
}

fn level(severity: Severity) -> &'static str {
    severity.name()
}

/// What was not read or not understood.
fn notifications(report: &Report) -> Vec<Value> {
    let incomplete =
        report.findings.iter().filter(|located| located.finding.rule.name == "incomplete").map(|located| {
            json!({
                "level": "note",
                "message": { "text": located.finding.message },
                "locations": [location(report, located.at, None)],
            })
        });
    let skipped = report.skipped.iter().map(|Unread { path, why, is_named }| {
        let level = if *is_named { "error" } else { "note" };
        json!({ "level": level, "message": { "text": format!("{path} was not read: {why}") } })
    });
    incomplete.chain(skipped).collect()
}

fn result(report: &Report, located: &Located) -> Value {
    let finding = located.finding;
    let mut result = Map::new();
    result.insert("ruleId".into(), finding.rule.name.into());
    if let Some(index) = report.rules.iter().position(|rule| rule.name == finding.rule.name) {
        result.insert("ruleIndex".into(), index.into());
    }
    result.insert("level".into(), level(finding.severity).into());
    let mut text = format!("{}.", finding.message);
    let mut linked = 0;
    let related: Vec<Value> = located
        .story
        .iter()
        .chain(&located.related)
        .filter(|step| matches!(step.note.role, Role::Branch | Role::Source | Role::Barrier | Role::Other))
        .map(|step| {
            linked += 1;
            text.push_str(&format!(" [{}]({linked}).", link_text(&step.note.message)));
            let mut location = location(report, step.at, Some(&step.note.message));
            location["id"] = linked.into();
            location
        })
        .collect();
    if let Some(help) = &finding.help {
        text.push_str(&format!(" Help: {help}."));
    }
    result.insert("message".into(), json!({ "text": text }));
    result.insert("locations".into(), json!([location(report, located.at, None)]));
    if !related.is_empty() {
        result.insert("relatedLocations".into(), related.into());
    }
    if !located.story.is_empty() {
        result.insert("codeFlows".into(), json!([{ "threadFlows": [{ "locations": flow(report, located) }] }]));
    }
    result.insert("partialFingerprints".into(), json!({ "synclint/v1": format!("{:016x}", located.fingerprint) }));
    if !finding.fixes.is_empty() {
        result.insert("fixes".into(), finding.fixes.iter().map(|it| fix(report, it)).collect::<Vec<_>>().into());
    }
    result.into()
}

/// The story, step by step, and the barrier as its end.
fn flow(report: &Report, located: &Located) -> Vec<Value> {
    let step = |step: &Step| {
        json!({
            "location": location(report, step.at, Some(&step.note.message)),
            "importance": if step.note.role == Role::Step { "important" } else { "essential" },
        })
    };
    let last = json!({
        "location": location(report, located.at, Some(&located.finding.message)),
        "importance": "essential",
    });
    located.story.iter().map(step).chain([last]).collect()
}

/// A message inside a link: brackets would end it.
fn link_text(message: &str) -> String {
    message.replace('\\', "\\\\").replace('[', "\\[").replace(']', "\\]")
}

fn location(report: &Report, at: Spot, message: Option<&str>) -> Value {
    let mut location = json!({
        "physicalLocation": {
            "artifactLocation": artifact(report, at.range.file),
            "region": region(report, at),
        },
    });
    if let Some(message) = message {
        location["message"] = json!({ "text": message });
    }
    location
}

fn artifact(report: &Report, file: FileId) -> Value {
    let path = report.repository_path(file);
    if path.starts_with('/') || path.starts_with("../") || path.contains(":/") {
        // Outside the repository there is nothing to be relative to.
        return json!({ "uri": format!("file://{}", percent_encode(&path)) });
    }
    json!({ "uri": percent_encode(&path), "uriBaseId": "%SRCROOT%" })
}

fn region(report: &Report, at: Spot) -> Value {
    let bytes = report.bytes(at.range.file);
    let column = |byte: u32, column: u32| {
        let start = (byte + 1).saturating_sub(column) as usize;
        let line = bytes.get(start..byte as usize).unwrap_or(&[]);
        String::from_utf8_lossy(line).encode_utf16().count() + 1
    };
    json!({
        "startLine": at.start.line,
        "startColumn": column(at.range.start, at.start.column),
        "endLine": at.end.line,
        "endColumn": column(at.range.end, at.end.column),
    })
}

fn fix(report: &Report, fix: &crate::finding::Fix) -> Value {
    let mut changes: Vec<Value> = Vec::new();
    for (range, text) in &fix.edits {
        let file = artifact(report, range.file);
        let replacement = json!({
            "deletedRegion": { "byteOffset": range.start, "byteLength": range.end - range.start },
            "insertedContent": { "text": text },
        });
        match changes.iter_mut().find(|change| change["artifactLocation"] == file) {
            Some(change) => {
                if let Some(replacements) = change["replacements"].as_array_mut() {
                    replacements.push(replacement);
                }
            }
            None => changes.push(json!({ "artifactLocation": file, "replacements": [replacement] })),
        }
    }
    json!({ "description": { "text": fix.title }, "artifactChanges": changes })
}

/// A path as a relative URI reference.
fn percent_encode(path: &str) -> String {
    let mut encoded = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' | b'+' | b'@' | b'=' | b',' => {
                encoded.push(byte as char);
            }
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}
