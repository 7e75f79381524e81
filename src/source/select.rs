//! Which tokens of a file are compiled: those in branches of `#if` that live, without the directives themselves.
//!
//! One configuration at a time. Kernels and barriers in branches that only an unset configuration macro keeps dead
//! get a second one, in which those branches are taken.

use super::expand::unit::Unit;
use super::index::{DirectiveKind, File};
use super::launch::is_launch_call;
use super::lexer::TokenKind;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// The tokens of one file that are compiled.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Runs of tokens, in order and apart.
    pub alive: Vec<Range<u32>>,
}

impl Selection {
    /// What of the selection lies in a run of tokens.
    pub fn within(&self, tokens: Range<u32>) -> impl Iterator<Item = Range<u32>> {
        let first = self.alive.partition_point(|run| run.end <= tokens.start);
        let inside = self.alive[first..].iter().take_while(move |run| run.start < tokens.end);
        inside.map(move |run| run.start.max(tokens.start)..run.end.min(tokens.end))
    }

    pub fn tokens(&self) -> impl Iterator<Item = u32> {
        self.alive.iter().cloned().flatten()
    }

    pub fn contains(&self, token: u32) -> bool {
        let index = self.alive.partition_point(|run| run.end <= token);
        self.alive.get(index).is_some_and(|run| run.start <= token)
    }
}

pub fn select(unit: &Unit) -> Selection {
    let file = unit.files.get(unit.file);
    let mut alive = Vec::new();
    let mut branch = 0;
    let mut start = 0;
    let mut close = |branch: u32, start: u32, end: u32| {
        if start < end && unit.alive(unit.file, branch) {
            alive.push(start..end);
        }
    };
    for directive in &file.directives {
        close(branch, start, directive.start);
        start = directive.end;
        branch = match directive.kind {
            DirectiveKind::Branch(opened) => opened,
            _ => directive.branch,
        };
    }
    close(branch, start, file.tokens.len() as u32);
    Selection { alive }
}

/// Branches of a file that are taken, or not, whatever their conditions say.
pub type Flips = FxHashMap<u32, bool>;

/// Takes the dead branches that hold kernels or barriers and that some configuration would take; if there are any, those, too,
/// that launch something within a function, of which the tokens of the bodies are given. Empty if there are none.
pub fn flips(unit: &Unit, selection: &Selection, bodies: impl Iterator<Item = Range<u32>>) -> Flips {
    let file = unit.files.get(unit.file);
    let mut forced = Flips::default();
    take_branches_of(unit, selection, &file.marked, &mut forced);
    if !forced.is_empty() {
        let mut launches: Vec<u32> = bodies.flatten().filter(|token| is_launch(file, *token)).collect();
        launches.sort_unstable();
        take_branches_of(unit, selection, &launches, &mut forced);
    }
    forced
}

fn is_launch(file: &File, token: u32) -> bool {
    let kind = file.tokens.get(token as usize).map(|token| token.kind());
    kind == Some(TokenKind::LaunchOpen) || kind == Some(TokenKind::Identifier) && is_launch_call(file.text(token))
}

/// Takes the dead branches round some tokens, which stand in order.
fn take_branches_of(unit: &Unit, selection: &Selection, tokens: &[u32], forced: &mut Flips) {
    let file = unit.files.get(unit.file);
    let mut branch_of = BranchOfToken { directives: file.directives.iter().peekable(), branch: 0 };
    for &token in tokens {
        let branch = branch_of.at(token);
        if selection.contains(token) || branch == 0 {
            continue;
        }
        let around = std::iter::successors(Some(branch), |at| Some(file.branches[*at as usize].parent));
        let around: Vec<u32> = around.take_while(|at| *at != 0).take(1000).collect();
        if around.iter().all(|branch| forced.get(branch).copied().unwrap_or_else(|| can_be_taken(unit, *branch))) {
            for branch in around {
                force(unit, branch, forced);
            }
        }
    }
}

struct BranchOfToken<'a, I: Iterator<Item = &'a super::index::Directive>> {
    directives: std::iter::Peekable<I>,
    branch: u32,
}

impl<'a, I: Iterator<Item = &'a super::index::Directive>> BranchOfToken<'a, I> {
    /// The innermost branch round a token; tokens must come in order.
    fn at(&mut self, token: u32) -> u32 {
        while let Some(directive) = self.directives.next_if(|directive| directive.start < token) {
            self.branch = match directive.kind {
                DirectiveKind::Branch(opened) => opened,
                _ => directive.branch,
            };
        }
        self.branch
    }
}

/// Whether a branch is taken, or would be if names that nobody in view defines were set otherwise.
fn can_be_taken(unit: &Unit, branch: u32) -> bool {
    let branches = &unit.files.get(unit.file).branches;
    let own = unit.verdict(unit.file, branch);
    let earlier = std::iter::successors(branches[branch as usize].previous, |at| branches[*at as usize].previous);
    let mut earlier = earlier.take(1000).map(|at| unit.verdict(unit.file, at));
    (own.holds || !own.certain) && earlier.all(|verdict| !verdict.holds || !verdict.certain)
}

/// Takes a branch and none of the others of its group.
fn force(unit: &Unit, branch: u32, forced: &mut Flips) {
    if forced.contains_key(&branch) {
        return;
    }
    let branches = &unit.files.get(unit.file).branches;
    let earlier = std::iter::successors(branches[branch as usize].previous, |at| branches[*at as usize].previous);
    forced.extend(earlier.map(|at| (at, false)));
    forced.insert(branch, true);
    let mut last = branch;
    while let Ok(next) = branches.binary_search_by_key(&branches[last as usize].tokens.end, |branch| branch.start) {
        if branches[next].previous != Some(last) {
            break;
        }
        last = next as u32;
        forced.insert(last, false);
    }
}
