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

use crate::finding::{Finding, Fix, Rule};
use crate::rules;
use crate::text::{FileId, LineIndex, Range, Source};
use memchr::memmem;
use rustc_hash::FxHashMap;
use std::ops::RangeInclusive;

/// What became of the findings.
pub struct Suppressed<T> {
    pub kept: Vec<T>,
    pub hidden: Vec<T>,
    /// Findings of the rule `unused-suppression`.
    pub unused: Vec<Finding>,
}

/// `comments` holds each file's comments, by `FileId`; those without the word `synclint` may be left out.
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
        let found = read(source, comments);
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
    let mut unused = complaints(&directives, sources, &judges);
    unused.retain(|finding| !hide(finding, &mut directives));
    Suppressed { kept, hidden, unused }
}

struct InFile {
    lines: LineIndex,
    directives: Vec<Directive>,
}

/// One comment's request for the lines it covers.
struct Directive {
    comment: Range,
    /// `None`: the whole file.
    lines: Option<RangeInclusive<u32>>,
    rules: Vec<Named>,
    /// As written before the rules: `ignore`, `NOLINT`.
    verb: &'static str,
}

/// A rule's name in a comment, or a pattern for several.
struct Named {
    name: String,
    /// None if there is no such rule.
    rules: Vec<&'static Rule>,
    at: Range,
    used: bool,
    /// How a comment is to be written that cannot be read.
    form: Option<String>,
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

fn complaints(files: &FxHashMap<FileId, InFile>, sources: &[Source], judges: &dyn Fn(&Rule) -> bool) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (file, InFile { directives, .. }) in files {
        let Some(source) = sources.get(file.0 as usize) else { continue };
        for directive in directives {
            let can_tell = |rule: &&Rule| judges(rule) && rule.name != rules::UNUSED_SUPPRESSION.name;
            let idle = |named: &Named| named.rules.is_empty() || !named.used && named.rules.iter().all(can_tell);
            let whole = directive.rules.iter().all(idle);
            for named in directive.rules.iter().filter(|named| idle(named)) {
                findings.push(complaint(directive, named, whole, source));
            }
        }
    }
    findings.sort_by_key(|finding| finding.at);
    findings
}

fn complaint(directive: &Directive, named: &Named, whole: bool, source: &Source) -> Finding {
    let (message, help) = match &named.form {
        Some(form) => ("a comment for synclint that it does not understand".to_string(), format!("write `{form}`")),
        None if named.rules.is_empty() => {
            let help = match rules::near(&named.name) {
                Some(rule) => format!("did you mean `{}`?", rule.name),
                None => "`synclint rules` lists the rules".to_string(),
            };
            (format!("no rule is called `{}`", named.name), help)
        }
        None => (
            format!("`{}` of `{}` hides nothing", directive.verb, named.name),
            if whole { "remove the comment" } else { "remove the rule from the comment" }.to_string(),
        ),
    };
    let fixes = match named.rules.is_empty() {
        false if whole => vec![Fix {
            title: "remove the comment that hides nothing".to_string(),
            edits: vec![(with_blanks_before(directive.comment, source), String::new())],
        }],
        _ => Vec::new(),
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
        fixes,
    }
}

/// The comment, the blanks before it, and the line itself if nothing else is on it.
fn with_blanks_before(comment: Range, source: &Source) -> Range {
    let bytes = &source.bytes;
    let mut start = comment.start as usize;
    while start > 0 && matches!(bytes[start - 1], b' ' | b'\t') {
        start -= 1;
    }
    let mut end = comment.end as usize;
    if start == 0 || bytes[start - 1] == b'\n' {
        let rest = &bytes[end..];
        let blanks = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r')).count();
        if rest.get(blanks).is_none_or(|byte| *byte == b'\n') {
            end = (end + blanks + 1).min(bytes.len());
        } else {
            start = comment.start as usize;
        }
    }
    Range { file: comment.file, start: start as u32, end: end as u32 }
}

/// The directives of one file, `NOLINTBEGIN` and `NOLINTEND` paired.
fn read(source: &Source, comments: &[Range]) -> Vec<Directive> {
    let mut directives = Vec::new();
    if memmem::find(&source.bytes, b"synclint").is_none() {
        return directives;
    }
    let lines = LineIndex::new(&source.bytes);
    let mut open: Vec<Directive> = Vec::new();
    for &comment in comments {
        let Some(bytes) = source.bytes.get(comment.start as usize..comment.end as usize) else { continue };
        if memmem::find(bytes, b"synclint").is_none() {
            continue;
        }
        let first = lines.place(comment.start).line;
        let last = lines.place(comment.end.saturating_sub(1).max(comment.start)).line;
        for request in requests(bytes, comment) {
            let Request { verb, rules } = request;
            let covered = match verb {
                Verb::IgnoreFile => None,
                Verb::NolintEnd => {
                    if let Some(begin) = open.pop() {
                        let start = begin.lines.as_ref().map_or(1, |lines| *lines.start());
                        directives.push(Directive { lines: Some(start..=last), ..begin });
                    }
                    continue;
                }
                Verb::NolintBegin => Some(first..=u32::MAX),
                Verb::Nolint => Some(first..=last),
                Verb::NolintNextLine => Some(last + 1..=last + 1),
                Verb::Ignore if stands_alone(source, comment) => {
                    Some(first..=line_of_code_below(source, &lines, comments, last))
                }
                Verb::Ignore | Verb::Unclear => Some(first..=last),
            };
            let directive = Directive { comment, lines: covered, rules, verb: verb.name() };
            if verb == Verb::NolintBegin { open.push(directive) } else { directives.push(directive) }
        }
    }
    // One without an end holds to the end of the file.
    directives.append(&mut open);
    directives
}

/// Nothing but blanks before the comment on its line.
fn stands_alone(source: &Source, comment: Range) -> bool {
    let before = &source.bytes[..comment.start as usize];
    let line = memchr::memrchr(b'\n', before).map_or(before, |newline| &before[newline + 1..]);
    line.iter().all(u8::is_ascii_whitespace)
}

/// The first line below `line` that is not itself a comment.
fn line_of_code_below(source: &Source, lines: &LineIndex, comments: &[Range], line: u32) -> u32 {
    let mut below = line + 1;
    while let Some((start, next)) = lines.line(below) {
        let end = next.map_or(source.bytes.len(), |next| next as usize);
        let text = source.bytes[start as usize..end].trim_ascii_start();
        let first = (end - text.len()) as u32;
        let within = |comment: &Range| comment.start <= first && first < comment.end;
        if text.is_empty() || !(text.starts_with(b"//") || text.starts_with(b"/*") || comments.iter().any(within)) {
            break;
        }
        below += 1;
    }
    below
}

#[derive(Copy, Clone, PartialEq, Eq)]
enum Verb {
    Ignore,
    IgnoreFile,
    /// Begins like ours and goes on otherwise.
    Unclear,
    Nolint,
    NolintNextLine,
    NolintBegin,
    NolintEnd,
}

impl Verb {
    fn name(self) -> &'static str {
        match self {
            Verb::Ignore => "ignore",
            Verb::IgnoreFile => "ignore-file",
            Verb::Unclear => "synclint:",
            Verb::Nolint => "NOLINT",
            Verb::NolintNextLine => "NOLINTNEXTLINE",
            Verb::NolintBegin => "NOLINTBEGIN",
            Verb::NolintEnd => "NOLINTEND",
        }
    }
}

struct Request {
    verb: Verb,
    rules: Vec<Named>,
}

/// What a comment asks for. Requests that name no rule of ours ask for nothing.
fn requests(comment: &[u8], at: Range) -> Vec<Request> {
    let mut found = Vec::new();
    for start in memmem::find_iter(comment, b"synclint") {
        let after = start + b"synclint".len();
        let Some(rest) = comment.get(after..) else { break };
        let is_first = comment[..start].iter().all(|byte| b"/*! \t".contains(byte));
        let request = match rest.strip_prefix(b":") {
            Some(rest) => {
                let open = after + 1 + blanks(rest);
                let verb = [(Verb::IgnoreFile, "ignore-file["), (Verb::Ignore, "ignore[")]
                    .into_iter()
                    .find(|(_, word)| comment[open..].starts_with(word.as_bytes()));
                let named = verb.map(|(verb, word)| (verb, names(comment, at, open + word.len(), b']', "")));
                match named {
                    Some((verb, rules)) if rules.iter().any(|named| !named.name.is_empty()) => Request { verb, rules },
                    // In the middle of a sentence it is only a mention.
                    None if !is_first => continue,
                    _ => unclear(comment, at, start, open),
                }
            }
            None if is_first && is_like_ours(rest) => unclear(comment, at, start, after),
            None => continue,
        };
        found.push(request);
    }
    for start in memmem::find_iter(comment, b"NOLINT") {
        let rest = &comment[start..];
        let verbs = [Verb::NolintNextLine, Verb::NolintBegin, Verb::NolintEnd, Verb::Nolint];
        let verb = verbs
            .into_iter()
            .find(|verb| rest.strip_prefix(verb.name().as_bytes()).is_some_and(|rest| rest.starts_with(b"(")));
        let Some(verb) = verb else { continue };
        let open = start + verb.name().len() + 1;
        let rules = names(comment, at, open, b')', "synclint-");
        if !rules.is_empty() {
            found.push(Request { verb, rules });
        } else if names(comment, at, open, b')', "").iter().any(|named| named.name == "synclint") {
            let mut request = unclear(comment, at, start, open);
            let form = format!("// {}(synclint-{})", verb.name(), mentioned(comment));
            request.rules.iter_mut().for_each(|named| named.form = Some(form.clone()));
            found.push(request);
        }
    }
    found
}

/// `synclint-ignore`, `synclint ignore[..]`, `synclint disable`: meant for us, and not our form.
fn is_like_ours(rest: &[u8]) -> bool {
    let word = rest.trim_ascii_start();
    let word = word.strip_prefix(b":").or(word.strip_prefix(b"-")).unwrap_or(word).trim_ascii_start();
    let verbs = [&b"ignore"[..], b"disable", b"suppress", b"nolint", b"off", b"allow"];
    verbs.iter().any(|verb| {
        word.get(..verb.len()).is_some_and(|head| head.eq_ignore_ascii_case(verb))
            && !word.get(verb.len()).is_some_and(u8::is_ascii_alphanumeric)
    })
}

fn unclear(comment: &[u8], at: Range, start: usize, end: usize) -> Request {
    let verb = if memmem::find(comment, b"file").is_some() { "ignore-file" } else { "ignore" };
    let named = Named {
        at: Range { file: at.file, start: at.start + start as u32, end: at.start + end as u32 },
        name: String::new(),
        rules: Vec::new(),
        used: false,
        form: Some(format!("// synclint: {verb}[{}] reason", mentioned(comment))),
    };
    Request { verb: Verb::Unclear, rules: vec![named] }
}

/// The rules that a comment speaks of, in whatever form; else what stands for one.
fn mentioned(comment: &[u8]) -> String {
    let word = |byte: &u8| !(byte.is_ascii_lowercase() || *byte == b'-');
    let words = comment.split(word).filter_map(|word| std::str::from_utf8(word).ok());
    let names: Vec<&str> =
        words.map(|word| word.trim_matches('-')).filter(|word| rules::find(word).is_some()).collect();
    if names.is_empty() { "rule".to_string() } else { names.join(", ") }
}

/// The names from `open` to `close` that have the prefix, without it.
fn names(comment: &[u8], at: Range, open: usize, close: u8, prefix: &str) -> Vec<Named> {
    let Some(length) = memchr::memchr(close, &comment[open..]) else { return Vec::new() };
    let mut names = Vec::new();
    let mut start = open;
    for piece in comment[open..open + length].split(|byte| *byte == b',') {
        let name = String::from_utf8_lossy(piece.trim_ascii()).into_owned();
        let first = start + blanks(piece);
        start += piece.len() + 1;
        let Some(bare) = name.strip_prefix(prefix) else { continue };
        let place = Range {
            file: at.file,
            start: at.start + first as u32,
            end: at.start + (first + piece.trim_ascii().len()).max(first + 1) as u32,
        };
        let rules = if prefix.is_empty() { Vec::from_iter(rules::find(bare)) } else { matching(bare) };
        names.push(Named { name: bare.to_string(), rules, at: place, used: false, form: None });
    }
    names
}

/// The rules that a pattern of clang-tidy's kind names; one with stars leaves complaints about comments alone.
fn matching(pattern: &str) -> Vec<&'static Rule> {
    if !pattern.contains('*') {
        return Vec::from_iter(rules::find(pattern));
    }
    let matches = |name: &str| {
        let mut pieces = pattern.split('*');
        let Some(mut rest) = pieces.next().and_then(|first| name.strip_prefix(first)) else { return false };
        let Some(last) = pieces.next_back() else { return false };
        for piece in pieces {
            let Some(at) = rest.find(piece) else { return false };
            rest = &rest[at + piece.len()..];
        }
        rest.ends_with(last)
    };
    let named = rules::ALL.iter().copied().filter(|rule| matches(rule.name));
    named.filter(|rule| rule.name != rules::UNUSED_SUPPRESSION.name).collect()
}

fn blanks(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| byte.is_ascii_whitespace()).count()
}
