//! Which tokens write a variable, or hand out what may write it; and what brings a place back behind a later write.

use super::Work;
use super::code::{Code, callee_before};
use super::declarators::is_statement_word;
use super::locals::{declaration, statement_end, statement_start};
use crate::graph::ItemId;
use crate::source::items::View;
use std::ops::Range;

pub(super) struct Write {
    pub at: usize,
    /// The member path written: empty for the whole.
    pub members: Vec<Range<usize>>,
    /// The value, for a plain assignment.
    pub value: Option<Range<usize>>,
    /// The variable, or its address, is an argument of a call.
    pub is_argument: bool,
}

pub(super) fn is_written(code: &Code, name: &[u8], range: Range<usize>) -> bool {
    !code.writes(name, range).is_empty()
}

/// Whether a variable may have another value at `at` than at `from`, which comes before.
pub(super) fn may_change(code: &Code, name: &[u8], from: usize, at: usize) -> bool {
    let changes = |found: &usize| *found < at || comes_again(code, *found, at).is_some_and(|start| start >= from);
    code.writes(name, from..code.body.end).iter().any(changes)
}

/// The write that an occurrence of a variable is, if it is one.
pub(super) fn write(code: &Code, at: usize) -> Option<Write> {
    let view = &code.view;
    let (members, end) = members_behind(view, at);
    if let Some(write) = plain_write(view, at) {
        return Some(write);
    }
    let is_argument = matches!(view.text(at - 1), b"(" | b"," | b"{") && matches!(view.text(end), b"," | b")" | b"}");
    let is_argument = is_argument || view.is(end, b"...");
    (is_argument && code.passes_by_reference(at)).then_some(Write {
        at,
        is_argument: members.is_empty(),
        members,
        value: None,
    })
}

/// The same as far as it is no argument of a call.
pub(super) fn plain_write(view: &View, at: usize) -> Option<Write> {
    let (members, end) = members_behind(view, at);
    let unknown = |members| Some(Write { at, members, value: None, is_argument: false });
    match view.text(end) {
        b"=" => {
            let start = end + 1;
            let stop = statement_end(view, start) - 1;
            let first_of_loop = |open| {
                view.is(open - 1, b"for")
                    && view.bracket_round(stop) == Some(open)
                    && statement_start(view, at) == open + 1
            };
            let inside = view.bracket_round(at).is_some_and(|open| !view.byte(open, b'{') && !first_of_loop(open));
            return Some(Write { at, members, value: (!inside).then_some(start..stop), is_argument: false });
        }
        text if is_change(text) => return unknown(members),
        _ => {}
    }
    let before = view.text(at.checked_sub(1)?);
    match before {
        b"++" | b"--" | b">>" if before != b">>" || is_stream(view, at) => unknown(members),
        b"&" if !is_operand(view, at - 2) && !is_capture(view, at) => {
            let reads = view.bracket_round(at).and_then(|open| open.checked_sub(1)).map(|callee| view.text(callee));
            let reads = reads.is_some_and(|callee| {
                callee.starts_with(b"cudaLaunchKernelEx") || callee.starts_with(b"hipLaunchKernelEx")
            });
            let is_argument = members.is_empty() && matches!(view.text(at - 2), b"(" | b",");
            (!reads).then_some(Write { at, members, value: None, is_argument })
        }
        // What is written through a reference is not followed.
        b"=" | b":" if is_bound(view, at) => unknown(Vec::new()),
        // `(n) = 256`, `(big ? n : m) = 256`
        b"(" | b"?" | b":" if is_changed_in_brackets(view, at) => unknown(members),
        _ => None,
    }
}

fn is_change(text: &[u8]) -> bool {
    matches!(text, b"+=" | b"-=" | b"*=" | b"/=" | b"%=" | b"<<=" | b">>=" | b"&=" | b"|=" | b"^=" | b"++" | b"--")
}

/// The members that a path from a variable names, and the token behind it.
fn members_behind(view: &View, at: usize) -> (Vec<Range<usize>>, usize) {
    let mut members = Vec::new();
    let mut end = at + 1;
    while matches!(view.text(end), b"." | b"->") && view.identifier(end + 1).is_some() && !view.byte(end + 2, b'(') {
        members.push(end + 1..end + 2);
        end += 2;
    }
    (members, end)
}

/// A reference that may be written through is declared with this as what it refers to: `int &r = x;`,
/// `for (int &each : x)`, `auto &[a, b] = x;`, `[&r = x]`.
pub(super) fn is_bound(view: &View, at: usize) -> bool {
    let Some(name) = at.checked_sub(2) else { return false };
    let declared = if view.byte(name, b']') { view.opener(name) } else { name };
    let is_name = view.byte(name, b']') || view.identifier(name).is_some();
    let mark = declared.wrapping_sub(1);
    let is_declared = is_name && matches!(view.text(mark), b"&" | b"&&") && mark > 0;
    let is_captured = || is_capture(view, at) && matches!(view.text(mark - 1), b"[" | b",");
    is_declared
        && (is_captured() || is_operand(view, mark - 1) || view.byte(mark - 1, b'>'))
        && !(statement_start(view, at)..at).any(|at| view.is(at, b"const"))
}

/// The brackets round it hold no arguments, or those of `std::get<1>(..)`, and what they stand for is changed.
fn is_changed_in_brackets(view: &View, at: usize) -> bool {
    let Some(open) = view.bracket_round(at).filter(|open| view.byte(*open, b'(')) else { return false };
    let Some(before) = open.checked_sub(1) else { return false };
    let got = callee_before(view, open).map(|callee| callee.name).filter(|name| view.is(*name, b"get"));
    if got.is_some_and(|name| is_bound(view, path_start(view, name))) {
        return true;
    }
    let is_got = || got.is_some();
    let is_grouping = !is_operand(view, before) && !view.byte(before, b'>') || is_got();
    let behind = view.text(view.behind(open));
    is_grouping && (behind == b"=" || is_change(behind) || matches!(view.text(before), b"++" | b"--"))
}

/// The first token of a qualified name.
fn path_start(view: &View, name: usize) -> usize {
    let mut at = name;
    while at >= 2 && view.is(at - 1, b"::") && view.identifier(at - 2).is_some() {
        at -= 2;
    }
    at
}

fn is_operand(view: &View, at: usize) -> bool {
    view.identifier(at).is_some_and(|word| !is_statement_word(word))
        || matches!(view.text(at), b")" | b"]")
        || view.kind(at) == Some(crate::source::lexer::TokenKind::Number)
}

fn is_capture(view: &View, at: usize) -> bool {
    view.bracket_round(at).is_some_and(|open| view.byte(open, b'['))
}

/// `std::cin >> x`, `in >> x`
fn is_stream(view: &View, at: usize) -> bool {
    let start = statement_start(view, at);
    view.bracket_round(at) == view.bracket_round(start) && !(start..at).any(|at| view.is(at, b"="))
}

/// Methods that keep a lambda for later.
const KEEPERS: [&[u8]; 10] = [
    b"push",
    b"push_back",
    b"push_front",
    b"emplace",
    b"emplace_back",
    b"insert",
    b"enqueue",
    b"submit",
    b"defer",
    b"post",
];

/// Where what is run again begins if `at` comes once more behind a token further down: a loop, a label that is jumped back
/// to, a lambda that may be called later.
pub(super) fn comes_again(code: &Code, later: usize, at: usize) -> Option<usize> {
    let view = &code.view;
    let kept = || {
        let lambda = code.lambdas.iter().find(|lambda| lambda.start < at && at < lambda.end && lambda.end <= later)?;
        is_kept(view, lambda.start, lambda.end).then_some(lambda.start)
    };
    loop_round(view, later, at).or_else(|| jump_round(code, later, at)).or_else(kept)
}

/// A lambda that is neither called where it stands nor handed to what most likely calls it at once, and that sees variables
/// as they are when it is called.
fn is_kept(view: &View, start: usize, end: usize) -> bool {
    let by_reference = view.inside(start).any(|at| view.byte(at, b'&'));
    let Some(before) = start.checked_sub(1).filter(|_| by_reference && !view.byte(end, b'(')) else { return false };
    let is_kept_by = |open: usize| open > 0 && KEEPERS.contains(&view.text(open - 1));
    match view.text(before) {
        b"(" | b"," => view.bracket_round(start).is_some_and(is_kept_by),
        _ => true,
    }
}

/// The innermost loop that holds both places, by where it begins.
fn loop_round(view: &View, one: usize, other: usize) -> Option<usize> {
    let mut inner = one;
    loop {
        let start = statement_start(view, inner);
        let bodies = [start.checked_sub(1), view.bracket_round(inner).and_then(|open| open.checked_sub(1))];
        for before in bodies.into_iter().flatten() {
            let Some(all) = loop_behind(view, before, inner) else { continue };
            if all.contains(&one) && all.contains(&other) {
                return Some(all.start);
            }
        }
        inner = view.bracket_round(inner)?;
    }
}

/// The loop of which a body, or a header, begins behind a token.
fn loop_behind(view: &View, before: usize, inside: usize) -> Option<Range<usize>> {
    match view.text(before) {
        b"do" => Some(before..statement_end(view, view.step(before + 1))),
        b")" => {
            let keyword = view.opener(before).checked_sub(1)?;
            let is_loop = matches!(view.text(keyword), b"for" | b"while");
            is_loop.then(|| keyword..behind_body(view, before + 1))
        }
        b"for" | b"while" => {
            let open = view.bracket_round(inside)?;
            let behind = view.behind(open);
            if view.is(before, b"while") && view.byte(behind, b';') && view.byte(before.checked_sub(1)?, b'}') {
                let start = view.opener(before - 1).checked_sub(1)?;
                return view.is(start, b"do").then_some(start..behind);
            }
            Some(before..behind_body(view, behind))
        }
        _ => None,
    }
}

fn behind_body(view: &View, start: usize) -> usize {
    if view.byte(start, b'{') { view.behind(start) } else { statement_end(view, start) }
}

/// The label before `at` that a `goto` behind the later place leads back to.
fn jump_round(code: &Code, later: usize, at: usize) -> Option<usize> {
    jumps(code).find(|(from, to)| *to < at && later < *from).map(|(_, to)| to)
}

/// Whether a `goto` may pass by a token on the way to `at`.
pub(super) fn is_jumped_over(code: &Code, token: usize, at: usize) -> bool {
    jumps(code).any(|(from, to)| from < token && token < to && to <= at)
}

/// Each `goto` and its label.
fn jumps(code: &Code) -> impl Iterator<Item = (usize, usize)> {
    let view = &code.view;
    code.uses(b"goto", code.body.clone()).iter().filter_map(move |from| {
        let labels = code.uses(view.identifier(from + 1)?, code.body.clone());
        let is_label =
            |at: &&usize| view.byte(**at + 1, b':') && matches!(view.text(**at - 1), b";" | b"{" | b"}" | b":");
        Some((*from, *labels.iter().find(is_label)?))
    })
}

/// Whether a variable at namespace scope is written anywhere in its file, or could be in another.
pub(super) fn is_written_in(work: &Work, id: ItemId) -> bool {
    let tree = work.tree;
    let item = tree.item(id);
    // Any file that sees it may write it; that is only ruled out for a variable of one source file.
    if !tree.includers(item.file).is_empty() {
        return true;
    }
    let elsewhere = tree.named(&item.name).iter().map(|id| tree.item(*id));
    if elsewhere.into_iter().any(|other| other.attributes.is_extern && other.file != item.file) {
        return true;
    }
    let file = tree.files.get(item.file);
    let name = item.name.as_bytes();
    let text = |at: usize| file.tokens.get(at).map_or(&[][..], |token| token.bytes(&file.bytes));
    let uses = file
        .tokens
        .iter()
        .enumerate()
        .filter(|(_, token)| token.start() != item.name_range.start && token.bytes(&file.bytes) == name);
    let mut handed: Vec<u32> = Vec::new();
    for (at, token) in uses {
        let next = text(behind_indices(&text, at + 1));
        let before = text(at.wrapping_sub(1));
        let assigned = next.last() == Some(&b'=') && !matches!(next, b"==" | b"<=" | b">=" | b"!=");
        if assigned || matches!(next, b"++" | b"--") || matches!(before, b"++" | b"--" | b"&" | b">>") {
            return true;
        }
        if matches!(before, b"(" | b"," | b"{" | b"=" | b":") {
            handed.push(token.start());
        }
    }
    let holds = |other: &ItemId| {
        let around = tree.item(*other);
        let is_inside = |at: &u32| around.range.start <= *at && *at < around.range.end;
        around.function().is_some() && around.is_definition() && handed.iter().any(is_inside)
    };
    tree.items_of(item.file).filter(holds).any(|function| {
        let code = work.code(function);
        let is_it = |at: &usize| declaration(&code, name, *at).is_none() && write(&code, *at).is_some();
        code.uses(name, code.body.clone()).iter().any(is_it)
    })
}

/// Behind the brackets of an array's indices.
fn behind_indices<'t>(text: &dyn Fn(usize) -> &'t [u8], from: usize) -> usize {
    let mut at = from;
    while text(at) == b"[" {
        let mut depth = 0;
        loop {
            match text(at) {
                b"[" => depth += 1,
                b"]" => depth -= 1,
                b"" => return at,
                _ => {}
            }
            at += 1;
            if depth == 0 {
                break;
            }
        }
    }
    at
}
