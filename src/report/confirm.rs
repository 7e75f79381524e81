//! Which dynamic check may show a finding happen, and where that check stays silent: as measured, in docs/gpu-probes.md.

use crate::finding::{Finding, Role};
use crate::rules;
use std::fmt;

/// A command to try, and what to expect of it.
pub struct Trial {
    command: &'static str,
    /// The block and values with which to run; may be empty.
    given: String,
    pub expect: &'static str,
}

impl fmt::Display for Trial {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let with = if self.given.is_empty() { "" } else { " with " };
        write!(f, "`{}`{with}{}; {}", self.command, self.given, self.expect)
    }
}

/// Nothing for what is about no barrier.
pub fn trial(finding: &Finding) -> Option<Trial> {
    const SYNCCHECK: &str = "compute-sanitizer --tool synccheck PROGRAM";
    let name = finding.rule.name;
    let counted = finding.scope.ends_with(" threads") || finding.scope == "named barrier";
    let ended = finding.story.iter().any(|note| note.role == Role::Branch && note.message.ends_with("some end"));
    let unnamed = finding.witness.as_ref().is_some_and(|witness| witness.missing.is_empty());
    let (command, expect) = match () {
        () if finding.scope.is_empty() => return None,
        () if name == rules::RACY_BROADCAST.name => {
            ("compute-sanitizer --tool racecheck PROGRAM", "it sees the race only if it happens to occur in that run")
        }
        () if counted => {
            (SYNCCHECK, "it reports counts that disagree; a count that is not made up hangs there, too, without a line")
        }
        () if matches!(finding.scope.as_str(), "cluster" | "grid") => {
            (SYNCCHECK, "it does not watch barriers of this size: what is missed shows as a hang, or not at all")
        }
        () if ended => (SYNCCHECK, "it stays silent here: threads that have ended are no error to it"),
        () if name == rules::WARP_MASK.name && unnamed => (SYNCCHECK, "it reports callers whose mask leaves them out"),
        () if name == rules::WARP_MASK.name => (
            SYNCCHECK,
            "it does not report named lanes that stay away: the program hangs once they wait elsewhere, and else runs on in silence",
        ),
        () => (
            SYNCCHECK,
            "it reports this only if the missing threads come to another barrier; it is silent if they run on to the end",
        ),
    };
    let given = finding.witness.as_ref().map(|witness| witness.given.clone()).unwrap_or_default();
    Some(Trial { command, given, expect })
}
