//! Comments -> what they ask for: which rules are hidden on which lines, and what of it cannot be read.

use crate::finding::Rule;
use crate::rules;
use crate::text::{LineIndex, Range, Source, find_any_case};
use memchr::memmem;
use std::ops::RangeInclusive;

const OUR_NAME: &[u8] = b"synclint";
/// What stands before our rules in other tools' lists.
const PREFIX: &str = "synclint-";

/// One comment's request for the lines it covers.
pub struct Directive {
    /// `None`: the whole file.
    pub lines: Option<RangeInclusive<u32>>,
    pub rules: Vec<Named>,
    /// As written before the rules: `ignore`, `NOLINT`.
    pub verb: &'static str,
    /// Where the rules are listed: of a region at its begin and at its end.
    pub lists: Vec<List>,
}

/// A rule's name in a comment, or a pattern for several.
pub struct Named {
    pub name: String,
    /// None if there is no such rule.
    pub rules: Vec<&'static Rule>,
    pub at: Range,
    pub used: bool,
    /// Set where the comment cannot do what it was written for.
    pub fault: Option<Fault>,
}

/// What is wrong with a comment.
#[derive(Clone)]
pub struct Fault {
    pub message: String,
    pub help: String,
}

/// Names in a bracket.
pub struct List {
    pub comment: Range,
    /// The comment holds one request and no other text but its reason.
    pub is_alone: bool,
    /// Each name with its place; `None`: another tool's.
    pub names: Vec<(Option<String>, Range)>,
}

/// The directives of one file, `NOLINTBEGIN` and `NOLINTEND` paired.
pub fn read(source: &Source, comments: &[Range]) -> Vec<Directive> {
    let requested: Vec<(Range, Vec<Request>)> = comments
        .iter()
        .filter_map(|comment| {
            let bytes = source.bytes.get(comment.start as usize..comment.end as usize)?;
            let requests = requests(bytes, *comment);
            (!requests.is_empty()).then_some((*comment, requests))
        })
        .collect();
    if requested.is_empty() {
        return Vec::new();
    }
    let lines = LineIndex::new(&source.bytes);
    let mut directives = Vec::new();
    let mut open: Vec<(Request, Directive)> = Vec::new();
    for (comment, requests) in requested {
        let first = lines.place(comment.start).line;
        let last = lines.place(comment.end.saturating_sub(1).max(comment.start)).line;
        let is_alone = matches!(&requests[..], [only] if holds_no_more(source, comment, only));
        for request in requests {
            let covered = match request.verb {
                Verb::IgnoreFile => None,
                Verb::NolintNextLine => Some(last + 1..=last + 1),
                Verb::Ignore if stands_alone(source, comment) => {
                    Some(first..=line_of_code_below(source, &lines, comments, last))
                }
                Verb::Ignore | Verb::Unclear | Verb::Nolint | Verb::NolintBegin | Verb::NolintEnd => Some(first..=last),
            };
            let list = List { comment, is_alone, names: request.names() };
            let begin = match request.verb {
                Verb::NolintEnd => open.iter().rposition(|(begin, _)| begin.names_the_same(&request)),
                _ => None,
            };
            match (request.verb, begin) {
                (_, Some(index)) => {
                    let (_, mut region) = open.remove(index);
                    region.lines = region.lines.map(|lines| *lines.start()..=last);
                    region.lists.push(list);
                    directives.push(region);
                }
                (Verb::NolintEnd, None) => directives.push(lone(&request, first..=last)),
                (verb, None) => {
                    let rules = request.rules();
                    let directive = Directive { lines: covered, rules, verb: verb.name(), lists: vec![list] };
                    if verb == Verb::NolintBegin { open.push((request, directive)) } else { directives.push(directive) }
                }
            }
        }
    }
    directives.extend(open.into_iter().map(|(begin, region)| lone(&begin, region.lines.unwrap_or(1..=1))));
    directives
}

/// Nothing before a comment's request, and behind it at most a reason: no comment within the comment, no other tool's word.
fn holds_no_more(source: &Source, comment: Range, request: &Request) -> bool {
    let text = |start: u32, end: u32| source.bytes.get(start as usize..end as usize).unwrap_or_default();
    let before = text(comment.start, request.at.start);
    let behind = text(request.at.end, comment.end);
    before.iter().all(|byte| b"/*! \t\r\n".contains(byte))
        && memmem::find(behind, b" //").is_none()
        && memmem::find(behind, b"NOLINT").is_none()
}

/// Half of a region: as with clang-tidy it hides nothing, since nobody knows what it was to hide.
fn lone(request: &Request, lines: RangeInclusive<u32>) -> Directive {
    let (other, place) = match request.verb {
        Verb::NolintBegin => (Verb::NolintEnd, "below"),
        _ => (Verb::NolintBegin, "above"),
    };
    let (verb, other) = (request.verb.name(), other.name());
    let names: Vec<String> = request.rules().iter().map(|named| format!("{PREFIX}{}", named.name)).collect();
    let fault = Fault {
        message: format!("`{verb}` without a `{other}` of the same rules hides nothing"),
        help: format!("write `// {other}({})` {place} what is to be hidden, or remove the comment", names.join(", ")),
    };
    let named = Named { name: String::new(), rules: Vec::new(), at: request.at, used: false, fault: Some(fault) };
    Directive { lines: Some(lines), rules: vec![named], verb, lists: Vec::new() }
}

/// Nothing but blanks and other comments round the comment on its lines.
fn stands_alone(source: &Source, comment: Range) -> bool {
    let (before, behind) = (&source.bytes[..comment.start as usize], &source.bytes[comment.end as usize..]);
    let before = memchr::memrchr(b'\n', before).map_or(before, |newline| &before[newline + 1..]);
    let behind = memchr::memchr(b'\n', behind).map_or(behind, |newline| &behind[..newline]);
    only_comments(before) && only_comments(behind)
}

fn only_comments(line: &[u8]) -> bool {
    let line = line.trim_ascii_start();
    match line.strip_prefix(b"/*") {
        // One that goes on in the next line ends this one.
        Some(comment) => memmem::find(comment, b"*/").is_none_or(|end| only_comments(&comment[end + 2..])),
        None => line.is_empty() || line.starts_with(b"//"),
    }
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

    fn takes_patterns(self) -> bool {
        matches!(self, Verb::Nolint | Verb::NolintNextLine | Verb::NolintBegin | Verb::NolintEnd)
    }
}

/// What a comment asks for.
struct Request {
    verb: Verb,
    /// From the verb to the end of its list.
    at: Range,
    listed: Vec<Listed>,
    fault: Option<Fault>,
}

/// One of the names in a list.
struct Listed {
    /// Without our prefix; `None`: another tool's.
    name: Option<String>,
    at: Range,
}

impl Request {
    fn names(&self) -> Vec<(Option<String>, Range)> {
        self.listed.iter().map(|listed| (listed.name.clone(), listed.at)).collect()
    }

    fn rules(&self) -> Vec<Named> {
        let named = |name: &String, at: Range, fault: Option<Fault>| {
            let rules = if self.verb.takes_patterns() { matching(name) } else { Vec::from_iter(rules::find(name)) };
            Named { name: name.clone(), rules, at, used: false, fault }
        };
        if let Some(fault) = &self.fault {
            return vec![named(&String::new(), self.at, Some(fault.clone()))];
        }
        self.listed.iter().filter_map(|listed| Some(named(listed.name.as_ref()?, listed.at, None))).collect()
    }

    fn names_the_same(&self, other: &Request) -> bool {
        let ours = |request: &Request| {
            let mut names: Vec<String> = request.listed.iter().filter_map(|listed| listed.name.clone()).collect();
            names.sort_unstable();
            names
        };
        ours(self) == ours(other)
    }
}

/// The requests of a comment. Those that name no rule of ours ask for nothing.
fn requests(comment: &[u8], at: Range) -> Vec<Request> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(start) = find_any_case(&comment[from..], OUR_NAME).map(|start| from + start) {
        let after = start + OUR_NAME.len();
        from = after;
        let rest = &comment[after..];
        let is_first = comment[..start].iter().all(|byte| b"/*! \t".contains(byte));
        let request = match rest.strip_prefix(b":") {
            Some(rest) => {
                let open = after + 1 + blanks(rest);
                let verb = [(Verb::IgnoreFile, "ignore-file["), (Verb::Ignore, "ignore[")]
                    .into_iter()
                    .find(|(_, word)| comment[open..].starts_with(word.as_bytes()));
                let listed = verb.map(|(verb, word)| (verb, list(comment, at, open + word.len(), b']', "")));
                match listed {
                    Some((verb, listed))
                        if listed.iter().any(|it| it.name.as_ref().is_some_and(|it| !it.is_empty())) =>
                    {
                        let at = spanning(at, start, &listed);
                        Request { verb, at, listed, fault: None }
                    }
                    // In the middle of a sentence it is only a mention.
                    None if !is_first => continue,
                    _ => unclear(comment, at, start..open),
                }
            }
            None if is_first && is_like_ours(rest) => unclear(comment, at, start..after),
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
        let listed = list(comment, at, open, b')', PREFIX);
        let is_bare = |it: &Listed| it.name.as_ref().is_some_and(|name| name.eq_ignore_ascii_case("synclint"));
        if listed.iter().any(|it| it.name.is_some()) {
            found.push(Request { verb, at: spanning(at, start, &listed), listed, fault: None });
        } else if list(comment, at, open, b')', "").iter().any(is_bare) {
            let form = format!("// {}({PREFIX}{})", verb.name(), mentioned(comment));
            found.push(Request { fault: Some(not_understood(&form)), ..unclear(comment, at, start..open) });
        }
    }
    found
}

/// From the verb to the last name and its bracket.
fn spanning(comment: Range, start: usize, listed: &[Listed]) -> Range {
    let end = listed.last().map_or(comment.end, |last| last.at.end + 1).min(comment.end);
    Range { file: comment.file, start: comment.start + start as u32, end }
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

fn unclear(comment: &[u8], at: Range, place: std::ops::Range<usize>) -> Request {
    let verb = if memmem::find(comment, b"file").is_some() { "ignore-file" } else { "ignore" };
    let fault = not_understood(&format!("// synclint: {verb}[{}] reason", mentioned(comment)));
    let at = Range { file: at.file, start: at.start + place.start as u32, end: at.start + place.end as u32 };
    Request { verb: Verb::Unclear, at, listed: Vec::new(), fault: Some(fault) }
}

fn not_understood(form: &str) -> Fault {
    Fault { message: "a comment for synclint that it does not understand".to_string(), help: format!("write `{form}`") }
}

/// The rules that a comment speaks of, in whatever form; else what stands for one.
fn mentioned(comment: &[u8]) -> String {
    let word = |byte: &u8| !(byte.is_ascii_lowercase() || *byte == b'-');
    let words = comment.split(word).filter_map(|word| std::str::from_utf8(word).ok());
    let names: Vec<&str> =
        words.map(|word| word.trim_matches('-')).filter(|word| rules::find(word).is_some()).collect();
    if names.is_empty() { "rule".to_string() } else { names.join(", ") }
}

/// The names from `open` to `close`; ours are those that have the prefix.
fn list(comment: &[u8], at: Range, open: usize, close: u8, prefix: &str) -> Vec<Listed> {
    let Some(length) = memchr::memchr(close, &comment[open..]) else { return Vec::new() };
    let mut listed = Vec::new();
    let mut start = open;
    for piece in comment[open..open + length].split(|byte| *byte == b',') {
        let name = String::from_utf8_lossy(piece.trim_ascii()).into_owned();
        let first = start + blanks(piece);
        start += piece.len() + 1;
        let is_ours = name.get(..prefix.len()).is_some_and(|head| head.eq_ignore_ascii_case(prefix));
        let place = Range {
            file: at.file,
            start: at.start + first as u32,
            end: at.start + (first + piece.trim_ascii().len()).max(first + 1) as u32,
        };
        listed.push(Listed { name: is_ours.then(|| name[prefix.len()..].to_string()), at: place });
    }
    listed
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
