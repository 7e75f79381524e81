//! `path:line:column: error: message [rule]`, the story as notes behind it: what editors and log parsers read.

use super::{Report, Spot};
use std::io::{self, Write};

pub fn render(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    for located in &report.findings {
        let finding = located.finding;
        write_place(report, located.at, out)?;
        writeln!(out, "{}: {} [{}]", finding.severity.name(), one_line(&finding.message), finding.rule.name)?;
        for step in located.story.iter().chain(&located.related) {
            write_place(report, step.at, out)?;
            writeln!(out, "note: {}", one_line(&step.note.message))?;
        }
    }
    Ok(())
}

fn write_place(report: &Report, at: Spot, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "{}:{}:{}: ", one_line(report.path(at.range.file)), at.start.line, at.start.column)
}

/// A message or path that holds a line break would be read as two.
fn one_line(text: &str) -> std::borrow::Cow<'_, str> {
    if text.contains(['\n', '\r']) { text.replace(['\n', '\r'], " ").into() } else { text.into() }
}
