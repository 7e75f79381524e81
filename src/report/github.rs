//! GitHub Actions: workflow commands that become annotations, then every finding as plain text.
//!
//! GitHub shows 10 annotations of each level per step and drops the rest without a word, so the worst come first and
//! the log has them all. Columns are given only where the annotation is one line (actions/runner#2082).

use super::{Located, Report, concise, plural};
use crate::finding::Severity;
use std::cmp::Reverse;
use std::fmt::Write as _;
use std::io::{self, Write};

/// What GitHub shows of each level in one step.
const SHOWN: usize = 10;

pub fn render(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let mut order: Vec<&Located> = report.findings.iter().collect();
    order.sort_by_key(|located| Reverse(located.finding.severity));
    for located in order {
        writeln!(out, "{}", annotation(report, located))?;
    }
    if report.findings.is_empty() {
        return Ok(());
    }
    writeln!(out, "::group::synclint: {}", plural(report.findings.len(), "finding"))?;
    concise::render(report, out)?;
    writeln!(out, "::endgroup::")?;
    for (severity, name) in [(Severity::Error, "error"), (Severity::Warning, "warning"), (Severity::Note, "notice")] {
        let count = report.count(severity);
        if count > SHOWN {
            writeln!(out, "GitHub shows {SHOWN} of {count} {name} annotations; all findings are listed above.")?;
        }
    }
    Ok(())
}

fn annotation(report: &Report, located: &Located) -> String {
    let (finding, at) = (located.finding, located.at);
    let command = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "notice",
    };
    let path = report.repository_path(at.range.file);
    let mut text = format!("::{command} file={},line={}", property(&path), at.start.line);
    if at.start.line == at.end.line {
        let _ = write!(text, ",col={},endColumn={}", at.start.column, at.end.column);
    }
    let _ = write!(text, ",title={}::", property(&format!("synclint: {}", finding.rule.name)));
    let mut message = format!("{path}:{}:{}: {}", at.start.line, at.start.column, finding.message);
    for (number, step) in located.story.iter().enumerate() {
        let file = step.at.range.file;
        let place = if file == at.range.file { String::new() } else { format!("{}, ", report.repository_path(file)) };
        let _ = write!(message, "\n{}. {place}line {}: {}", number + 1, step.at.start.line, step.note.message);
    }
    if let Some(help) = &finding.help {
        let _ = write!(message, "\nhelp: {help}");
    }
    text.push_str(&data(&message));
    text
}

/// Of control characters only the ends of lines have another spelling; the log is shown on terminals, too.
fn data(text: &str) -> String {
    let text = text.replace(|it: char| it.is_control() && !matches!(it, '\r' | '\n' | '\t'), "?");
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
