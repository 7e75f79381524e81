//! What every report reads, and nothing else: findings, their story, and the run's summary.

use crate::text::Range;
use serde::{Deserialize, Serialize};

#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Severity {
    Note,
    Warning,
    Error,
}

impl Severity {
    pub fn name(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// A rule: its name, one line about it, its page, and its level unless the user says otherwise.
#[derive(Debug)]
pub struct Rule {
    pub name: &'static str,
    pub summary: &'static str,
    /// Markdown with the headings What it finds, Why it matters, Example, Instead, When it is silent.
    pub page: &'static str,
    pub severity: Severity,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Finding {
    pub rule: &'static Rule,
    pub severity: Severity,
    /// One sentence, lower case, no full stop: what is.
    pub message: String,
    /// The barrier, or the call that leads to it.
    pub at: Range,
    /// The kernel or device function that holds `at`.
    pub function: String,
    /// The primitive as written: `__syncthreads`, `tile.sync`.
    pub barrier: String,
    /// The group that must come together: `block`, `warp`, `tile of 16`, `cluster`, `grid`.
    pub scope: String,
    /// From the source of difference to the barrier, in order; the branch is among them.
    pub story: Vec<Note>,
    /// Places that belong to it without being steps: the barrier inside a called function, other branches, the macro's body.
    pub related: Vec<Note>,
    /// Who is missing, where it can be said: `threads 32..63 of the block`; with the values that make it so.
    pub witness: Option<Witness>,
    /// What to do.
    pub help: Option<String>,
    /// Changes that make it right, each proven to.
    #[serde(skip)]
    pub fixes: Vec<Fix>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Note {
    pub at: Range,
    pub message: String,
    pub role: Role,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Role {
    /// Where threads begin to differ: `threadIdx.x`.
    Source,
    /// A step that carries the difference on: an assignment, a call, a load.
    Step,
    /// The branch, loop or exit that splits the group.
    Branch,
    /// The barrier itself, where `Finding::at` is a call.
    Barrier,
    Other,
}

/// A concrete case in which the group does not come together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Witness {
    /// Block shape and values: `block of 64 threads, n = 33`.
    pub given: String,
    /// Those that come, as inclusive ranges, and those that do not.
    pub arrive: Vec<(u32, u32)>,
    pub missing: Vec<(u32, u32)>,
    /// What the numbers count.
    pub unit: Unit,
    /// For warp primitives: the lanes named by the mask.
    pub mask: Option<u32>,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Unit {
    /// Threads of a block.
    Thread,
    /// Lanes of a warp.
    Lane,
    /// Blocks of a cluster or of the grid.
    Block,
}

impl Unit {
    pub fn name(self) -> &'static str {
        match self {
            Unit::Thread => "thread",
            Unit::Lane => "lane",
            Unit::Block => "block",
        }
    }
}

#[derive(Clone, Debug)]
pub struct Fix {
    /// `move the barrier behind the branch`
    pub title: String,
    /// Replacements in one file that do not overlap.
    pub edits: Vec<(Range, String)>,
}

/// A file or folder that was not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    pub path: String,
    pub why: String,
    /// The user asked for just this one: the run could not do all of its job.
    pub is_named: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    pub files: usize,
    pub bytes: u64,
    pub kernels: usize,
    pub device_functions: usize,
    pub barriers: usize,
    pub findings: usize,
    pub incomplete: usize,
}

/// FNV-1a, 64 bits: the same on every platform and in every version.
pub fn fnv1a(parts: &[&str]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    for part in parts {
        for byte in part.bytes().chain([0]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    hash
}
