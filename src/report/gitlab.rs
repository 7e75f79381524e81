//! GitLab code quality: one array. GitLab shows no check name, so the description begins with the rule.

use super::Report;
use crate::finding::Severity;
use serde_json::{Value, json};
use std::io::{self, Write};

pub fn render(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let issues: Vec<Value> = report
        .findings
        .iter()
        .map(|located| {
            let finding = located.finding;
            json!({
                "description": format!("{}: {}", finding.rule.name, finding.message),
                "check_name": finding.rule.name,
                "fingerprint": format!("{:016x}", located.fingerprint),
                "severity": match finding.severity {
                    Severity::Error => "major",
                    Severity::Warning => "minor",
                    Severity::Note => "info",
                },
                "location": {
                    "path": report.repository_path(located.at.range.file),
                    "lines": { "begin": located.at.start.line, "end": located.at.end.line },
                },
            })
        })
        .collect();
    serde_json::to_writer_pretty(&mut *out, &issues)?;
    writeln!(out)
}
