//! The rules: their names, default levels and pages. Which barrier breaks which rule is decided by the analysis.
//!
//! A rule's page under `rules/pages/` is at once `synclint explain`, the help in SARIF, the documentation, and a test:
//! the marks in its examples hold.

use crate::finding::{Rule, Severity};

/// Every rule, in the order in which they are listed.
pub static ALL: &[&Rule] = &[
    &DIVERGENT_BRANCH,
    &DIVERGENT_LOOP,
    &DIVERGENT_EXIT,
    &WARP_MASK,
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
    summary: "a barrier in a loop that threads of its group leave at different iterations",
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

/// The rule of this name.
pub fn find(name: &str) -> Option<&'static Rule> {
    ALL.iter().copied().find(|rule| rule.name == name)
}
