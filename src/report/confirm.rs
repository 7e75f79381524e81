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

/// Others come to the same barrier with another count.
fn disagrees(finding: &Finding) -> bool {
    finding.related.iter().any(|note| note.message.contains(" with a count of "))
}

fn from_another_block(finding: &Finding) -> bool {
    finding.story.iter().any(|note| note.role == Role::Source && note.message.contains(" of another block "))
}

/// Nothing for what is about no barrier.
pub fn trial(finding: &Finding) -> Option<Trial> {
    const SYNCCHECK: &str = "compute-sanitizer --tool synccheck PROGRAM";
    let name = finding.rule.name;
    let counted = finding.scope.ends_with(" threads") || finding.scope == "named barrier";
    let ended = finding.story.iter().any(|note| note.role == Role::Branch && note.message.contains(": some end"));
    let unnamed = finding.witness.as_ref().is_some_and(|witness| witness.missing.is_empty());
    let (command, expect) = match () {
        () if finding.scope.is_empty() => return None,
        // racecheck watches shared memory, and so one block.
        () if name == rules::RACY_BROADCAST.name && from_another_block(finding) => return None,
        () if name == rules::RACY_BROADCAST.name => {
            ("compute-sanitizer --tool racecheck PROGRAM", "it sees the race only if it happens to occur in that run")
        }
        // What is wrong in itself.
        () if finding.message.contains("a block has barriers 0 to 15") => {
            (SYNCCHECK, "it may be silent: the hardware let a number in a register that is too large pass")
        }
        () if finding.message.contains("no whole number of warps") => {
            (SYNCCHECK, "the run ends with an illegal instruction; a count that is a literal the assembler refuses")
        }
        () if finding.scope == "named barrier" => return None,
        () if counted && disagrees(finding) => (SYNCCHECK, "it reports counts that disagree"),
        () if counted => {
            (SYNCCHECK, "it hangs there, too, without a line: it does not report a count that is not made up")
        }
        () if matches!(finding.scope.as_str(), "cluster" | "grid") => {
            (SYNCCHECK, "it does not watch barriers of this size: what is missed shows as a hang, or not at all")
        }
        () if ended => (
            SYNCCHECK,
            "it stays silent here: threads that have ended are no error to it, nor to CUDA 13's guide; `--exited-threads may-exit` goes by that",
        ),
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
    // What a program can be started with: its blocks and values, not which turn of a loop or which warp is looked at.
    let is_number = |part: &str, what: &str| part.strip_prefix(what).is_some_and(|rest| rest.parse::<u32>().is_ok());
    let is_input = |part: &&str| !["trip ", "warp ", "block "].iter().any(|what| is_number(part, what));
    let given = finding.witness.as_ref().map_or("", |witness| &witness.given).split(", ");
    let given = given.filter(is_input).collect::<Vec<_>>().join(", ");
    Some(Trial { command, given, expect })
}
