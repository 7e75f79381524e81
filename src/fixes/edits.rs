//! The text of a change: the barrier's lines taken out, one put behind (before) the `if`, indented like it. Remarks that
//! stand at the barrier go with it; a remark for a linter is about its place, and where one stands nothing is moved.

use super::region::{Chain, Edge, Statement};
use crate::finding::Fix;
use crate::source::index::File;
use crate::text::{FileId, Range, find_any_case};

/// The barriers `gone` go; one stands behind or before the whole `if`. `None`: their remarks cannot all go along.
pub fn moved(
    id: FileId,
    file: &File,
    barrier: Statement,
    gone: &[Statement],
    chain: &Chain,
    edge: Edge,
) -> Option<Fix> {
    if gone.iter().any(|each| has_remark_for_a_linter(file, *each)) {
        return None;
    }
    let text = spelled(file, barrier);
    let mut remarks: Vec<Remarks> =
        gone.iter().map(|each| Remarks::at(file, *each)).filter(|it| *it != Remarks::default()).collect();
    remarks.dedup();
    if remarks.len() > 1 {
        return None;
    }
    let Remarks { above, behind } = remarks.pop().unwrap_or_default();
    let has_remarks = !above.is_empty() || !behind.is_empty();
    let mut edits: Vec<(Range, String)> =
        gone.iter().map(|each| (without(id, file, *each, edge), String::new())).collect();
    let newline = newline(file);
    let indent = indent(file, start(file, chain.statement.first));
    let outdented = |remark: &String| remark.replace('\n', &format!("\n{indent}"));
    let above: String = above.iter().map(|remark| format!("{}{newline}{indent}", outdented(remark))).collect();
    let range = |at: usize| Range { file: id, start: at as u32, end: at as u32 };
    let insertion = match edge {
        Edge::End => {
            let end = end(file, chain.statement.last);
            match rest_of_line(file, end) {
                // Behind a remark on the last brace.
                Some(line) => (range(line), format!("{newline}{indent}{above}{text}{behind}")),
                None if has_remarks => return None,
                None => (range(end), format!(" {text}")),
            }
        }
        Edge::Begin => {
            let first = start(file, chain.statement.first);
            let alone = file.bytes[line_start(file, first)..first].iter().all(u8::is_ascii_whitespace);
            match alone {
                true => (range(first), format!("{above}{text}{behind}{newline}{indent}")),
                false if has_remarks => return None,
                false => (range(first), format!("{text} ")),
            }
        }
    };
    let title = match (edge, gone.len()) {
        (Edge::End, 1) => "move the barrier behind the branch",
        (Edge::End, _) => "put one barrier behind the branch instead of one into each arm",
        (Edge::Begin, 1) => "move the barrier before the branch",
        (Edge::Begin, _) => "put one barrier before the branch instead of one into each arm",
    };
    edits.push(insertion);
    edits.sort_by_key(|(range, _)| (range.start, range.end));
    Some(Fix { title: title.to_string(), edits })
}

/// Of an `if` that guards nothing but the barrier the barrier stays. `None`: there are remarks in it.
pub fn unguarded(id: FileId, file: &File, barrier: Statement, chain: &Chain) -> Option<Fix> {
    let (from, to) = (start(file, chain.statement.first), end(file, chain.statement.last));
    let inside = |(start, end): &(u32, u32)| from < *end as usize && (*start as usize) < to;
    if file.comments.iter().any(inside) {
        return None;
    }
    let range = range(id, file, chain.statement);
    Some(Fix { title: "let all threads come to the barrier".to_string(), edits: vec![(range, spelled(file, barrier))] })
}

pub fn range(id: FileId, file: &File, statement: Statement) -> Range {
    Range { file: id, start: start(file, statement.first) as u32, end: end(file, statement.last) as u32 }
}

/// The bytes of a statement, and its line if nothing else but a remark is on it.
fn without(id: FileId, file: &File, statement: Statement, edge: Edge) -> Range {
    let bytes = &file.bytes;
    let (mut from, mut to) = (start(file, statement.first), end(file, statement.last));
    let line = line_start(file, from);
    let alone = bytes[line..from].iter().all(u8::is_ascii_whitespace);
    match rest_of_line(file, to) {
        Some(rest) if alone && rest < bytes.len() => {
            from = comments_above(file, line).last().map_or(line, |(start, _)| line_start(file, *start));
            to = memchr::memchr(b'\n', &bytes[rest..]).map_or(bytes.len(), |length| rest + length + 1);
            // The blank line that set it off goes, too.
            if edge == Edge::End {
                while let Some(above) = from.checked_sub(1).map(|newline| line_start(file, newline)) {
                    if !bytes[above..from].iter().all(u8::is_ascii_whitespace) {
                        break;
                    }
                    from = above;
                }
            }
        }
        _ => {
            while from > line && matches!(bytes[from - 1], b' ' | b'\t') {
                from -= 1;
            }
        }
    }
    Range { file: id, start: from as u32, end: to as u32 }
}

/// Where the line ends that holds nothing more but blanks and a remark behind `at`; without the line end.
fn rest_of_line(file: &File, at: usize) -> Option<usize> {
    let line_end = at + memchr::memchr(b'\n', &file.bytes[at..]).unwrap_or(file.bytes.len() - at);
    let mut rest = line_end;
    if rest > at && file.bytes[rest - 1] == b'\r' {
        rest -= 1;
    }
    let next = file.tokens.partition_point(|token| (token.start() as usize) < at);
    let code_follows = file.tokens.get(next).is_some_and(|token| (token.start() as usize) < rest);
    // A remark that goes on over the line's end cannot be taken along.
    let goes_on = file.comments.iter().any(|(start, end)| (*start as usize) < rest && (*end as usize) > line_end);
    (!code_follows && !goes_on).then_some(rest)
}

/// What is said of a statement that stands alone on its line: the remarks on the lines above, the one behind it with the
/// blanks before it.
#[derive(Debug, Default, PartialEq, Eq)]
struct Remarks {
    above: Vec<String>,
    behind: String,
}

impl Remarks {
    fn at(file: &File, statement: Statement) -> Remarks {
        let (from, to) = (start(file, statement.first), end(file, statement.last));
        let line = line_start(file, from);
        let alone = file.bytes[line..from].iter().all(u8::is_ascii_whitespace);
        let Some(rest) = rest_of_line(file, to).filter(|_| alone) else { return Remarks::default() };
        let text = |from: usize, to: usize| String::from_utf8_lossy(&file.bytes[from..to]).trim_end().to_string();
        let own = format!("\n{}", indent(file, from));
        let mut above: Vec<String> =
            comments_above(file, line).iter().map(|(from, to)| text(*from, *to).replace(&own, "\n")).collect();
        above.reverse();
        Remarks { above, behind: text(to, rest) }
    }
}

/// The comments on the lines right above one, each alone on its lines, the lowest first.
fn comments_above(file: &File, mut line: usize) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    for (start, end) in file.comments.iter().rev().map(|(start, end)| (*start as usize, *end as usize)) {
        if end > line {
            continue;
        }
        let between = &file.bytes[end..line];
        let begin = line_start(file, start);
        let is_next = between.iter().all(u8::is_ascii_whitespace) && memchr::memchr_iter(b'\n', between).count() <= 1;
        if !is_next || !file.bytes[begin..start].iter().all(u8::is_ascii_whitespace) {
            break;
        }
        found.push((start, end));
        line = begin;
    }
    found
}

/// On the lines of a statement, or right above.
fn has_remark_for_a_linter(file: &File, statement: Statement) -> bool {
    let (from, to) = (line_start(file, start(file, statement.first)), end(file, statement.last));
    let line_end = to + memchr::memchr(b'\n', &file.bytes[to..]).unwrap_or(file.bytes.len() - to);
    let on_line = file.comments.iter().map(|(start, end)| (*start as usize, *end as usize));
    let on_line = on_line.filter(|(start, end)| *start < line_end && from < *end);
    on_line.chain(comments_above(file, from)).any(|(start, end)| {
        let text = &file.bytes[start..end];
        [&b"synclint"[..], b"NOLINT"].iter().any(|word| find_any_case(text, word).is_some())
    })
}

fn spelled(file: &File, statement: Statement) -> String {
    let bytes = &file.bytes[start(file, statement.first)..end(file, statement.last)];
    String::from_utf8_lossy(bytes).into_owned()
}

fn indent(file: &File, at: usize) -> String {
    let line = line_start(file, at);
    let blanks = file.bytes[line..at].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    String::from_utf8_lossy(&file.bytes[line..line + blanks]).into_owned()
}

fn newline(file: &File) -> &'static str {
    match memchr::memchr(b'\n', &file.bytes) {
        Some(at) if at > 0 && file.bytes[at - 1] == b'\r' => "\r\n",
        _ => "\n",
    }
}

fn line_start(file: &File, at: usize) -> usize {
    memchr::memrchr(b'\n', &file.bytes[..at]).map_or(0, |newline| newline + 1)
}

fn start(file: &File, token: u32) -> usize {
    file.tokens.get(token as usize).map_or(file.bytes.len(), |token| token.start() as usize)
}

fn end(file: &File, token: u32) -> usize {
    file.tokens.get(token as usize).map_or(file.bytes.len(), |token| token.end() as usize)
}
