//! reviewdog's diagnostic format: https://github.com/reviewdog/reviewdog/tree/master/proto/rdf
//! Its columns count UTF-8 bytes from 1, as ours do.

use super::{Report, Spot};
use crate::finding::Severity;
use serde_json::{Value, json};
use std::io::{self, Write};

pub fn render(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let diagnostics: Vec<Value> = report
        .findings
        .iter()
        .map(|located| {
            let finding = located.finding;
            let related: Vec<Value> = located
                .story
                .iter()
                .chain(&located.related)
                .map(|step| json!({ "message": step.note.message, "location": location(report, step.at) }))
                .collect();
            json!({
                "message": finding.message,
                "location": location(report, located.at),
                "severity": match finding.severity {
                    Severity::Error => "ERROR",
                    Severity::Warning => "WARNING",
                    Severity::Note => "INFO",
                },
                "code": { "value": finding.rule.name },
                "related_locations": related,
            })
        })
        .collect();
    let document = json!({ "source": { "name": "synclint" }, "diagnostics": diagnostics });
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)
}

fn location(report: &Report, at: Spot) -> Value {
    json!({
        "path": report.repository_path(at.range.file),
        "range": {
            "start": { "line": at.start.line, "column": at.start.column },
            "end": { "line": at.end.line, "column": at.end.column },
        },
    })
}
