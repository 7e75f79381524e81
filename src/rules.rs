//! The rules: their names, default levels and pages. Which barrier breaks which rule is decided by the analysis.
//!
//! A rule's page under `rules/pages/` is at once `synclint explain`, the help in SARIF, the documentation, and a test:
//! the marks in its examples hold. `page` is the page as people read it, without the marks.

use crate::finding::{Rule, Severity};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Every rule, in the order in which they are listed.
pub static ALL: &[&Rule] = &[
    &DIVERGENT_BRANCH,
    &DIVERGENT_LOOP,
    &DIVERGENT_EXIT,
    &WARP_MASK,
    &NAMED_BARRIER,
    &RACY_BROADCAST,
    &UNUSED_SUPPRESSION,
    &INCOMPLETE,
];

pub static DIVERGENT_BRANCH: Rule = Rule {
    name: "divergent-branch",
    summary: "a barrier in a branch that not all of its group takes",
    page: include_str!("rules/pages/divergent-branch.md"),
    severity: Severity::Error,
};

pub static DIVERGENT_LOOP: Rule = Rule {
    name: "divergent-loop",
    summary: "a barrier in a loop that threads of its group leave after different numbers of iterations",
    page: include_str!("rules/pages/divergent-loop.md"),
    severity: Severity::Error,
};

pub static DIVERGENT_EXIT: Rule = Rule {
    name: "divergent-exit",
    summary: "a barrier behind a return or exit that only some of its group take",
    page: include_str!("rules/pages/divergent-exit.md"),
    severity: Severity::Error,
};

pub static WARP_MASK: Rule = Rule {
    name: "warp-mask",
    summary: "a warp barrier or collective whose mask is not the lanes that come",
    page: include_str!("rules/pages/warp-mask.md"),
    severity: Severity::Error,
};

pub static NAMED_BARRIER: Rule = Rule {
    name: "named-barrier",
    summary: "a named barrier whose number or count cannot be right for those who come",
    page: include_str!("rules/pages/named-barrier.md"),
    severity: Severity::Error,
};

pub static RACY_BROADCAST: Rule = Rule {
    name: "racy-broadcast",
    summary: "a barrier decided by a value that another thread may be writing",
    page: include_str!("rules/pages/racy-broadcast.md"),
    severity: Severity::Warning,
};

pub static UNUSED_SUPPRESSION: Rule = Rule {
    name: "unused-suppression",
    summary: "a suppression that hides nothing",
    page: include_str!("rules/pages/unused-suppression.md"),
    severity: Severity::Warning,
};

pub static INCOMPLETE: Rule = Rule {
    name: "incomplete",
    summary: "a kernel or device function that could not be analysed whole",
    page: include_str!("rules/pages/incomplete.md"),
    severity: Severity::Note,
};

/// A rule's page without the marks that only the tests read.
pub fn page(rule: &Rule) -> String {
    let mut page = String::with_capacity(rule.page.len());
    for line in rule.page.lines() {
        page.push_str(line.split("// EXPECT:").next().unwrap_or(line).trim_end());
        page.push('\n');
    }
    page
}

/// By its name.
impl Serialize for Rule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name)
    }
}

impl<'de> Deserialize<'de> for &'static Rule {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<&'static Rule, D::Error> {
        let name = String::deserialize(deserializer)?;
        find(&name).ok_or_else(|| serde::de::Error::custom(format!("`{name}` is no rule")))
    }
}

/// The rule of this name.
pub fn find(name: &str) -> Option<&'static Rule> {
    ALL.iter().copied().find(|rule| rule.name == name)
}

/// The rules whose names fit a pattern in which `*` stands for any letters.
pub fn fitting(pattern: &str) -> Vec<&'static Rule> {
    ALL.iter().copied().filter(|rule| fits(rule.name, pattern)).collect()
}

fn fits(name: &str, pattern: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| name.strip_prefix(first)) else { return false };
    let mut last = None;
    for part in parts {
        last = Some(rest);
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    let end = pattern.rsplit('*').next().unwrap_or_default();
    last.map_or(rest.is_empty(), |before| before.ends_with(end))
}

/// The rule whose name a misspelt one most likely meant.
pub fn near(name: &str) -> Option<&'static Rule> {
    let index = nearest(name, ALL.iter().map(|rule| rule.name))?;
    ALL.get(index).copied()
}

/// The index of the candidate nearest to `name`, if one is near enough to be meant.
pub fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<usize> {
    let limit = name.chars().count().max(3) / 3;
    candidates
        .enumerate()
        .map(|(index, candidate)| (edits(name, candidate), index))
        .filter(|(distance, _)| *distance <= limit)
        .min()
        .map(|(_, index)| index)
}

/// Letters added, removed, changed, or swapped with their neighbour.
fn edits(from: &str, to: &str) -> usize {
    let from: Vec<char> = from.chars().take(64).collect();
    let to: Vec<char> = to.chars().take(64).collect();
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for i in 1..=from.len() {
        let mut next = vec![i; to.len() + 1];
        for j in 1..=to.len() {
            let changed = row[j - 1] + usize::from(from[i - 1] != to[j - 1]);
            next[j] = changed.min(row[j] + 1).min(next[j - 1] + 1);
            if i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1] {
                next[j] = next[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut row, next);
    }
    row[to.len()]
}
