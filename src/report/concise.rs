//! `path:line:column: error: message [rule]`, one line for each finding: what editors, log parsers and grep read.

use super::Report;
use std::io::{self, Write};

pub fn render(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    for located in &report.findings {
        let finding = located.finding;
        let (path, at) = (one_line(report.path(located.at.range.file)), located.at.start);
        let (level, message, rule) = (finding.severity.name(), one_line(&finding.message), finding.rule.name);
        writeln!(out, "{path}:{}:{}: {level}: {message} [{rule}]", at.line, at.column)?;
    }
    Ok(())
}

/// A message or path that holds a line break would be read as two, and a terminal obeys other control characters.
fn one_line(text: &str) -> std::borrow::Cow<'_, str> {
    let plain = |it: char| match it {
        '\n' | '\r' => ' ',
        it if it.is_control() => '?',
        it => it,
    };
    if text.contains(char::is_control) { text.chars().map(plain).collect::<String>().into() } else { text.into() }
}
