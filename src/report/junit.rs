//! JUnit XML: a suite per file, a failed case per finding; one passing case where there is nothing, since readers reject empty suites.

use super::markup::escape;
use super::{Located, Report};
use crate::finding::Severity;
use crate::text::FileId;
use std::collections::BTreeMap;
use std::io::{self, Write};

pub fn render(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let mut by_file: BTreeMap<FileId, Vec<&Located>> = BTreeMap::new();
    for located in &report.findings {
        by_file.entry(located.at.range.file).or_default().push(located);
    }
    let failures = report.findings.iter().filter(|located| fails(located)).count();
    let cases = report.findings.len().max(1);
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    writeln!(out, "<testsuites name=\"synclint\" tests=\"{cases}\" failures=\"{failures}\">")?;
    if by_file.is_empty() {
        writeln!(out, "  <testsuite name=\"synclint\" tests=\"1\" failures=\"0\">")?;
        writeln!(out, "    <testcase name=\"no findings\" classname=\"synclint\"/>")?;
        writeln!(out, "  </testsuite>")?;
    }
    for (file, group) in by_file {
        let path = escape(report.path(file));
        let failures = group.iter().filter(|located| fails(located)).count();
        writeln!(out, "  <testsuite name=\"{path}\" tests=\"{}\" failures=\"{failures}\">", group.len())?;
        for located in group {
            let finding = located.finding;
            let place = format!("{}:{}", located.at.start.line, located.at.start.column);
            write!(out, "    <testcase name=\"{} at {place}\" classname=\"{path}\"", finding.rule.name)?;
            write!(out, " line=\"{}\"", located.at.start.line)?;
            if !fails(located) {
                writeln!(out, "><system-out>{}</system-out></testcase>", escape(&finding.message))?;
                continue;
            }
            writeln!(out, ">")?;
            let (message, kind) = (escape(&finding.message), finding.severity.name());
            write!(out, "      <failure message=\"{message}\" type=\"{kind}\">{path}:{place}: {message}")?;
            for (number, step) in located.story.iter().enumerate() {
                let file = escape(report.path(step.at.range.file));
                write!(out, "\n{}. {file}:{}: {}", number + 1, step.at.start.line, escape(&step.note.message))?;
            }
            if let Some(help) = &finding.help {
                write!(out, "\nhelp: {}", escape(help))?;
            }
            writeln!(out, "</failure>")?;
            writeln!(out, "    </testcase>")?;
        }
        writeln!(out, "  </testsuite>")?;
    }
    writeln!(out, "</testsuites>")
}

fn fails(located: &Located) -> bool {
    located.finding.severity > Severity::Note
}
