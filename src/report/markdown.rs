//! The findings as a Markdown table: the summary page of a GitHub Actions step.

use super::{Report, plural};
use std::io::{self, Write};

/// A step's summary may hold 1 MiB.
const ROWS: usize = 1000;

pub fn render(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let summary = &report.summary;
    writeln!(out, "### synclint\n")?;
    writeln!(
        out,
        "{}, {}, {} analysed: **{}**{}\n",
        plural(summary.files, "file"),
        plural(summary.kernels, "kernel"),
        plural(summary.barriers, "barrier"),
        plural(summary.findings, "finding"),
        if summary.incomplete > 0 { format!(", {} not understood", summary.incomplete) } else { String::new() }
    )?;
    if report.findings.is_empty() {
        return Ok(());
    }
    writeln!(out, "| where | level | rule | what |\n|---|---|---|---|")?;
    for located in report.findings.iter().take(ROWS) {
        let finding = located.finding;
        writeln!(
            out,
            "| `{}:{}` | {} | {} | {} |",
            cell(&report.repository_path(located.at.range.file)),
            located.at.start.line,
            finding.severity.name(),
            finding.rule.name,
            cell(&finding.message),
        )?;
    }
    if report.findings.len() > ROWS {
        writeln!(out, "\n{} more are in the log.", report.findings.len() - ROWS)?;
    }
    Ok(())
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace(['\n', '\r'], " ").replace('<', "&lt;")
}
