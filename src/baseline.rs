//! Findings the user knows of and lives with, by fingerprint: a file that survives moved lines.
//!
//! A fingerprint is made of what stays when code moves: rule, path from the top of the repository, function, the barrier's
//! line without blanks, and the ordinal among equals. It is the same on every machine.

use crate::finding::{Finding, fnv1a};
use crate::text::{Range, Source};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;
use std::io::{self, Write};

/// The name under which it is looked for beside the configuration.
pub const FILE_NAME: &str = "synclint-baseline.json";

/// A finding and what it is known by.
#[derive(Clone, Debug)]
pub struct Marked {
    pub finding: Finding,
    pub fingerprint: u64,
}

/// Gives each finding its fingerprint. Ordinals count over all findings given, so give them all, in order of place.
pub fn mark(findings: Vec<Finding>, sources: &[Source], repository_path: &dyn Fn(&str) -> String) -> Vec<Marked> {
    let mut seen: FxHashMap<u64, u32> = FxHashMap::default();
    findings
        .into_iter()
        .map(|finding| {
            let path = sources.get(finding.at.file.0 as usize).map_or("", |source| &source.path);
            let path = repository_path(path);
            let line: String = line(finding.at, sources).split_whitespace().collect();
            let parts = [finding.rule.name, &path, &finding.function, &line];
            let ordinal = seen.entry(fnv1a(&parts)).or_default();
            let fingerprint = fnv1a(&[parts[0], parts[1], parts[2], parts[3], &ordinal.to_string()]);
            *ordinal += 1;
            Marked { finding, fingerprint }
        })
        .collect()
}

/// The known findings, as read from a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Baseline {
    entries: Vec<Entry>,
}

/// What is kept of one finding.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    pub path: String,
    pub rule: String,
    function: String,
    fingerprint: String,
    /// For people; only the fingerprint counts.
    line: String,
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Entry { path, rule, function, line, .. } = self;
        if function.is_empty() {
            write!(f, "{path}: {rule}: {line}")
        } else {
            write!(f, "{path}: {rule} in `{function}`: {line}")
        }
    }
}

#[derive(Deserialize)]
struct Head {
    version: u32,
}

#[derive(Deserialize)]
struct Document {
    findings: Vec<Entry>,
}

impl Baseline {
    pub fn parse(text: &str) -> Result<Baseline, String> {
        let fault = |error| format!("is no file that `synclint baseline` wrote: {error}");
        // What a newer version is like nobody knows yet.
        let Head { version } = serde_json::from_str(text).map_err(fault)?;
        if version != 1 {
            return Err(format!("is of version {version}, newer than this synclint"));
        }
        let document: Document = serde_json::from_str(text).map_err(fault)?;
        Ok(Baseline { entries: document.findings })
    }

    /// All of today's findings, one a line, sorted, so that changes merge.
    pub fn of(findings: &[Marked], sources: &[Source], repository_path: &dyn Fn(&str) -> String) -> Baseline {
        let mut entries: Vec<Entry> = findings
            .iter()
            .map(|Marked { finding, fingerprint }| Entry {
                path: repository_path(sources.get(finding.at.file.0 as usize).map_or("", |source| &source.path)),
                rule: finding.rule.name.to_string(),
                function: finding.function.clone(),
                fingerprint: format!("{fingerprint:016x}"),
                line: line(finding.at, sources).trim().to_string(),
            })
            .collect();
        entries.sort();
        Baseline { entries }
    }

    /// These entries without the stale ones, with those of another; an entry that is in both stands once.
    pub fn updated(&self, stale: &[Entry], new: Baseline) -> Baseline {
        let mut entries = new.entries;
        entries.extend(self.entries.iter().filter(|entry| !stale.contains(entry)).cloned());
        entries.sort();
        entries.dedup();
        Baseline { entries }
    }

    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{{\"version\": 1, \"findings\": [")?;
        for (index, entry) in self.entries.iter().enumerate() {
            let comma = if index + 1 < self.entries.len() { "," } else { "" };
            writeln!(out, "{}{comma}", serde_json::to_string(entry)?)?;
        }
        writeln!(out, "]}}")
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Takes the known findings out. Returns the others, how many were known, and the entries that fit no finding though
    /// theirs `was_sought`.
    pub fn subtract(
        &self,
        findings: Vec<Marked>,
        was_sought: &dyn Fn(&Entry) -> bool,
    ) -> (Vec<Marked>, usize, Vec<Entry>) {
        let mut unmet: FxHashMap<&str, &Entry> =
            self.entries.iter().map(|entry| (entry.fingerprint.as_str(), entry)).collect();
        let before = findings.len();
        let new: Vec<Marked> = findings
            .into_iter()
            .filter(|it| unmet.remove(format!("{:016x}", it.fingerprint).as_str()).is_none())
            .collect();
        let known = before - new.len();
        let mut stale: Vec<Entry> = unmet.into_values().filter(|entry| was_sought(entry)).cloned().collect();
        stale.sort();
        (new, known, stale)
    }
}

fn line(at: Range, sources: &[Source]) -> Cow<'_, str> {
    sources.get(at.file.0 as usize).map_or(Cow::Borrowed(""), |source| source.line_at(at.start))
}
