//! The report as one JSON object, or as one per line. Fields are only ever added.

use super::{Count, Located, Report, Spot, Step};
use crate::finding::{Role, Summary};
use crate::text::LineIndex;
use serde::Serialize;
use std::io::{self, Write};

pub fn render(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let object = Object {
        version: 1,
        tool: Tool { name: "synclint", version: env!("CARGO_PKG_VERSION") },
        findings: report.findings.iter().map(|located| Finding::new(report, located)).collect(),
        summary: Counts::new(report),
        statistics: Statistics::new(report),
        skipped: report.skipped.iter().map(|unread| Skipped { file: &unread.path, reason: &unread.why }).collect(),
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
    struct Last<'a> {
        version: u32,
        summary: Counts,
        #[serde(skip_serializing_if = "Option::is_none")]
        statistics: Option<Statistics<'a>>,
    }
    let last = Last { version: 1, summary: Counts::new(report), statistics: Statistics::new(report) };
    serde_json::to_writer(&mut *out, &last)?;
    writeln!(out)
}

#[derive(Serialize)]
struct Object<'a> {
    version: u32,
    tool: Tool,
    findings: Vec<Finding<'a>>,
    summary: Counts,
    #[serde(skip_serializing_if = "Option::is_none")]
    statistics: Option<Statistics<'a>>,
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

/// With `--statistics`.
#[derive(Serialize)]
struct Statistics<'a> {
    rules: Vec<OfRule>,
    /// Calls of functions that have no body in view.
    unseen: Vec<Unseen<'a>>,
}

#[derive(Serialize)]
struct OfRule {
    rule: &'static str,
    severity: &'static str,
    findings: usize,
    fixable: usize,
}

#[derive(Serialize)]
struct Unseen<'a> {
    name: &'a str,
    calls: usize,
    /// The first of them.
    file: &'a str,
    line: u32,
}

impl<'a> Statistics<'a> {
    fn new(report: &Report<'a>) -> Option<Statistics<'a>> {
        let of_rule = |count: Count| OfRule {
            rule: count.rule,
            severity: count.severity.name(),
            findings: count.findings,
            fixable: count.fixable,
        };
        let unseen = report.unseen?.iter().map(|unseen| Unseen {
            name: &unseen.name,
            calls: unseen.calls,
            file: report.path(unseen.first.file),
            line: LineIndex::new(report.bytes(unseen.first.file)).place(unseen.first.start).line,
        });
        Some(Statistics { rules: report.counts().into_iter().map(of_rule).collect(), unseen: unseen.collect() })
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
            confirm: super::confirm::trial(finding).map(|trial| trial.to_string()),
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
