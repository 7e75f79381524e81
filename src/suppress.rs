//! Comments that hide findings, and those that hide nothing.
//!
//! ```text
//! __syncthreads();   // synclint: ignore[divergent-branch] one warp per block, see launch()
//! // synclint: ignore[divergent-branch, divergent-loop] the line below, or the one the comment stands on
//! // synclint: ignore-file[divergent-exit] the whole file
//! // NOLINT(synclint-divergent-branch)    NOLINT(synclint-*)    NOLINTNEXTLINE(..)    NOLINTBEGIN(..) .. NOLINTEND(..)
//! ```
//!
//! A comment counts on any line of a finding's story: at the barrier, the branch, the variable, the thread index.
//! What follows the bracket is the reason, free text that nothing here reads.
//! A `NOLINT` that does not name synclint belongs to another tool.

mod comments;

use crate::finding::{Finding, Fix, Rule};
use crate::rules;
use crate::text::{FileId, LineIndex, Range, Source};
use comments::{Directive, Fault, List, Named};
use rustc_hash::FxHashMap;

/// What became of the findings.
pub struct Suppressed<T> {
    pub kept: Vec<T>,
    pub hidden: Vec<T>,
    /// Findings of the rule `unused-suppression`.
    pub unused: Vec<Finding>,
}

/// `comments` holds each file's comments, by `FileId`; those without the word `synclint`, in whatever case, may be left out.
/// Unknown rule names are always told; comments that hide nothing only for rules that `judges`.
pub fn apply<T>(
    findings: Vec<T>,
    finding_of: impl Fn(&T) -> &Finding,
    sources: &[Source],
    comments: &[Vec<Range>],
    judges: impl Fn(&Rule) -> bool,
) -> Suppressed<T> {
    let mut directives: FxHashMap<FileId, InFile> = FxHashMap::default();
    for (index, comments) in comments.iter().enumerate() {
        let Some(source) = sources.get(index) else { break };
        let found = comments::read(source, comments);
        if !found.is_empty() {
            directives.insert(FileId(index as u32), InFile { lines: LineIndex::new(&source.bytes), directives: found });
        }
    }
    let (mut kept, mut hidden) = (Vec::new(), Vec::new());
    for finding in findings {
        if hide(finding_of(&finding), &mut directives) {
            hidden.push(finding);
        } else {
            kept.push(finding);
        }
    }
    let mut unused = complaints(&directives, sources, &|rule| judges(rule) && !is_own(rule), true);
    unused.retain(|finding| !hide(finding, &mut directives));
    // Which of the comments about such findings hide one is known only now.
    unused.extend(complaints(&directives, sources, &|rule| judges(rule) && is_own(rule), false));
    unused.sort_by_key(|finding| finding.at);
    Suppressed { kept, hidden, unused }
}

struct InFile {
    lines: LineIndex,
    directives: Vec<Directive>,
}

/// Marks every directive that covers the finding as used; whether there is one.
fn hide(finding: &Finding, files: &mut FxHashMap<FileId, InFile>) -> bool {
    let notes = finding.story.iter().chain(&finding.related).map(|note| note.at);
    let mut hidden = false;
    for at in std::iter::once(finding.at).chain(notes) {
        let Some(file) = files.get_mut(&at.file) else { continue };
        let first = file.lines.place(at.start).line;
        let last = file.lines.place(at.end.saturating_sub(1).max(at.start)).line;
        for directive in &mut file.directives {
            // The file-wide form is about findings in this file, not about every story that touches it.
            let covers = match &directive.lines {
                Some(lines) => *lines.start() <= last && first <= *lines.end(),
                None => at == finding.at,
            };
            if !covers {
                continue;
            }
            for named in &mut directive.rules {
                if named.rules.iter().any(|rule| rule.name == finding.rule.name) {
                    named.used = true;
                    hidden = true;
                }
            }
        }
    }
    hidden
}

fn is_own(rule: &Rule) -> bool {
    rule.name == rules::UNUSED_SUPPRESSION.name
}

/// The names that hide nothing, of those of which one `can_tell`; and, if asked for, the names of no rule.
fn complaints(
    files: &FxHashMap<FileId, InFile>,
    sources: &[Source],
    can_tell: &dyn Fn(&Rule) -> bool,
    with_faults: bool,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (file, InFile { directives, .. }) in files {
        let Some(source) = sources.get(file.0 as usize) else { continue };
        for directive in directives {
            let idle = |named: &Named| match named.rules.is_empty() {
                true => with_faults,
                false => !named.used && named.rules.iter().all(|rule| can_tell(rule)),
            };
            // What is misspelt hides nothing, but was meant to.
            let spare = |name: &str| {
                let mut same = directive.rules.iter().filter(|named| named.name == name).peekable();
                same.peek().is_some() && same.all(|named| idle(named) && !named.rules.is_empty())
            };
            for named in directive.rules.iter().filter(|named| idle(named)) {
                findings.push(complaint(directive, named, &spare, source));
            }
        }
    }
    findings
}

fn complaint(directive: &Directive, named: &Named, spare: &dyn Fn(&str) -> bool, source: &Source) -> Finding {
    let fix = removal(directive, named, spare, source);
    let (message, help) = match &named.fault {
        Some(Fault { message, help }) => (message.clone(), help.clone()),
        None if named.rules.is_empty() => {
            let help = match rules::near(&named.name) {
                Some(rule) => format!("did you mean `{}`?", rule.name),
                None => match rules::fitting(&named.name)[..] {
                    [] | [_, _, _, _, _, ..] => "`synclint rules` lists the rules".to_string(),
                    ref fitting => {
                        let names: Vec<&str> = fitting.iter().map(|rule| rule.name).collect();
                        format!("write the rules out: `ignore[{}]`", names.join(", "))
                    }
                },
            };
            (format!("no rule is called `{}`", named.name), help)
        }
        None => {
            let help =
                if is_whole(directive, spare) { "remove the comment" } else { "remove the rule from the comment" };
            (format!("`{}` of `{}` hides nothing", directive.verb, named.name), help.to_string())
        }
    };
    Finding {
        rule: &rules::UNUSED_SUPPRESSION,
        severity: rules::UNUSED_SUPPRESSION.severity,
        message,
        at: named.at,
        function: String::new(),
        barrier: String::new(),
        scope: String::new(),
        story: Vec::new(),
        related: Vec::new(),
        witness: None,
        help: Some(help),
        fixes: Vec::from_iter(fix),
    }
}

/// Whether nothing would be left of its lists of rules.
fn is_whole(directive: &Directive, spare: &dyn Fn(&str) -> bool) -> bool {
    directive.lists.iter().all(|list| list.names.iter().all(|(name, _)| name.as_deref().is_some_and(spare)))
}

/// Takes out the whole comment where nothing in it is needed, else the one rule; of a region at both of its ends.
fn removal(directive: &Directive, named: &Named, spare: &dyn Fn(&str) -> bool, source: &Source) -> Option<Fix> {
    if !spare(&named.name) {
        return None;
    }
    if is_whole(directive, spare) {
        let edits = directive.lists.iter().map(|list| without_comment(list.comment, source));
        // Another request in the same comment may be needed, or what else it says.
        return directive
            .lists
            .iter()
            .all(|list| list.is_alone)
            .then(|| Fix { title: "remove the comment that hides nothing".to_string(), edits: edits.collect() });
    }
    let edits = directive.lists.iter().flat_map(|list| without(&named.name, list, spare));
    Some(Fix {
        title: format!("remove `{}`, which hides nothing, from the comment", named.name),
        edits: edits.map(|range| (range, String::new())).collect(),
    })
}

/// The name's places in a list with one comma each: the one before it if a name stays before it, else the one behind. So
/// several names can be taken out at once or each alone.
fn without(unneeded: &str, list: &List, spare: &dyn Fn(&str) -> bool) -> Vec<Range> {
    let stays = |(name, _): &&(Option<String>, Range)| !name.as_deref().is_some_and(spare);
    let is_it = |index: &usize| list.names[*index].0.as_deref() == Some(unneeded);
    (0..list.names.len())
        .filter(is_it)
        .map(|index| {
            let at = list.names[index].1;
            match list.names[..index].iter().find(stays) {
                Some(_) => Range { start: list.names[index - 1].1.end, ..at },
                None => Range { end: list.names.get(index + 1).map_or(at.end, |(_, next)| next.start), ..at },
            }
        })
        .collect()
}

/// Takes out the comment, the blanks before it, and the line itself if nothing else is on it. Where what stands on its two
/// sides would be read as one word a blank stays: `a -/* .. */-b`.
fn without_comment(comment: Range, source: &Source) -> (Range, String) {
    let bytes = &source.bytes;
    let mut start = comment.start as usize;
    while start > 0 && matches!(bytes[start - 1], b' ' | b'\t') {
        start -= 1;
    }
    let mut end = comment.end as usize;
    // The line's end stays as it is.
    if bytes[..end].last() == Some(&b'\r') {
        end -= 1;
    }
    if start == 0 || bytes[start - 1] == b'\n' {
        let rest = &bytes[end..];
        let blanks = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r')).count();
        if rest.get(blanks).is_none_or(|byte| *byte == b'\n') {
            end = (end + blanks + 1).min(bytes.len());
        } else {
            start = comment.start as usize;
        }
    } else if bytes.get(end).is_some_and(|byte| !byte.is_ascii_whitespace()) {
        return (Range { file: comment.file, start: start as u32, end: end as u32 }, " ".to_string());
    }
    (Range { file: comment.file, start: start as u32, end: end as u32 }, String::new())
}
