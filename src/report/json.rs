//! The report as one JSON object, or as one per line. Fields are only ever added.

use super::{Located, Report, Spot, Step};
use crate::finding::{Role, Summary};
use serde::Serialize;
use std::io::{self, Write};

pub fn render(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let object = Object {
        version: 1,
        tool: Tool { name: "synclint", version: env!("CARGO_PKG_VERSION") },
        findings: report.findings.iter().map(|located| Finding::new(report, located)).collect(),
        summary: Counts::new(report),
        skipped: report.skipped.iter().map(|(file, reason)| Skipped { file, reason }).collect(),
    };
    serde_json::to_writer_pretty(&mut *out, &object)?;
    writeln!(out)
}

pub fn render_lines(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    for located in &report.findings {
        serde_json::to_writer(&mut *out, &Finding::new(report, located))?;
        writeln!(out)?;
    }
    #[derive(Serialize)]
    struct Last {
        version: u32,
        summary: Counts,
    }
    serde_json::to_writer(&mut *out, &Last { version: 1, summary: Counts::new(report) })?;
    writeln!(out)
}

#[derive(Serialize)]
struct Object<'a> {
    version: u32,
    tool: Tool,
    findings: Vec<Finding<'a>>,
    summary: Counts,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    skipped: Vec<Skipped<'a>>,
}

#[derive(Serialize)]
struct Tool {
    name: &'static str,
    version: &'static str,
}

#[derive(Serialize)]
struct Skipped<'a> {
    file: &'a str,
    reason: &'a str,
}

#[derive(Serialize)]
struct Counts {
    files: usize,
    bytes: u64,
    kernels: usize,
    device_functions: usize,
    barriers: usize,
    findings: usize,
    incomplete: usize,
    suppressed: usize,
    baseline: usize,
}

impl Counts {
    fn new(report: &Report) -> Counts {
        let Summary { files, bytes, kernels, device_functions, barriers, findings, incomplete } = report.summary;
        let (suppressed, baseline) = (report.suppressed, report.known);
        Counts { files, bytes, kernels, device_functions, barriers, findings, incomplete, suppressed, baseline }
    }
}

#[derive(Serialize)]
struct Finding<'a> {
    rule: &'a str,
    severity: &'a str,
    message: &'a str,
    #[serde(flatten)]
    place: Extent<'a>,
    function: &'a str,
    barrier: &'a str,
    scope: &'a str,
    cause: Vec<Cause<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related: Vec<Cause<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    witness: Option<Witness<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<&'a str>,
    /// A dynamic check to try, and what to expect of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    confirm: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fixes: Vec<Fix<'a>>,
    fingerprint: String,
}

#[derive(Serialize)]
struct Extent<'a> {
    file: &'a str,
    line: u32,
    column: u32,
    end_line: u32,
    end_column: u32,
}

#[derive(Serialize)]
struct Cause<'a> {
    #[serde(flatten)]
    place: Extent<'a>,
    message: &'a str,
    role: &'static str,
}

/// Ranges are inclusive at both ends.
#[derive(Serialize)]
struct Witness<'a> {
    given: &'a str,
    unit: &'static str,
    arrive: &'a [(u32, u32)],
    missing: &'a [(u32, u32)],
    #[serde(skip_serializing_if = "Option::is_none")]
    mask: Option<String>,
}

#[derive(Serialize)]
struct Fix<'a> {
    title: &'a str,
    edits: Vec<Edit<'a>>,
}

/// Replaces the bytes from `start` to `end` (exclusive) of a file.
#[derive(Serialize)]
struct Edit<'a> {
    file: &'a str,
    start: u32,
    end: u32,
    text: &'a str,
}

impl<'a> Finding<'a> {
    fn new(report: &'a Report, located: &'a Located) -> Finding<'a> {
        let finding = located.finding;
        let causes = |steps: &'a [Step]| -> Vec<Cause<'a>> {
            let cause = |step: &'a Step| Cause {
                place: Extent::new(report, step.at),
                message: &step.note.message,
                role: role(step.note.role),
            };
            steps.iter().map(cause).collect()
        };
        let fix = |fix: &'a crate::finding::Fix| Fix {
            title: &fix.title,
            edits: fix
                .edits
                .iter()
                .map(|(range, text)| Edit { file: report.path(range.file), start: range.start, end: range.end, text })
                .collect(),
        };
        Finding {
            rule: finding.rule.name,
            severity: finding.severity.name(),
            message: &finding.message,
            place: Extent::new(report, located.at),
            function: &finding.function,
            barrier: &finding.barrier,
            scope: &finding.scope,
            cause: causes(&located.story),
            related: causes(&located.related),
            witness: finding.witness.as_ref().map(|witness| Witness {
                given: &witness.given,
                unit: witness.unit.name(),
                arrive: &witness.arrive,
                missing: &witness.missing,
                mask: witness.mask.map(|mask| format!("{mask:#010x}")),
            }),
            help: finding.help.as_deref(),
            confirm: super::confirm::command(finding),
            fixes: finding.fixes.iter().map(fix).collect(),
            fingerprint: format!("{:016x}", located.fingerprint),
        }
    }
}

impl<'a> Extent<'a> {
    fn new(report: &'a Report, at: Spot) -> Extent<'a> {
        Extent {
            file: report.path(at.range.file),
            line: at.start.line,
            column: at.start.column,
            end_line: at.end.line,
            end_column: at.end.column,
        }
    }
}

fn role(role: Role) -> &'static str {
    match role {
        Role::Source => "source",
        Role::Step => "step",
        Role::Branch => "branch",
        Role::Barrier => "barrier",
        Role::Other => "other",
    }
}
