//! Which tokens declare a local variable, a loop's counter or a lambda's parameter: a type, then a name.

use super::locals::statement_start;
use super::turns::lambda_parameters;
use crate::source::items::View;
use std::ops::Range;

/// Whether a name is one that is declared there.
pub(super) fn is_declarator(view: &View, at: usize) -> bool {
    if binding(view, at).is_some() || pointer(view, at).is_some() {
        return true;
    }
    if !matches!(view.text(at + 1), b"=" | b";" | b"," | b"(" | b"{" | b"[" | b")" | b":") {
        return false;
    }
    let start = match lambda_parameters(view, at) {
        Some(open) => view
            .split_at_commas(view.inside(open))
            .iter()
            .find(|piece| piece.contains(&at))
            .map_or(at, |piece| piece.start),
        None => statement_start(view, at),
    };
    if start >= at || view.identifier(start).is_none() || is_statement_word(view.text(start)) {
        return false;
    }
    let before = view.text(at - 1);
    match before {
        b"*" | b"&" | b"&&" | b">" | b")" => is_type(view, start..at),
        b"}" => closes_type(view, at - 1, start),
        b"," => {
            // A later declarator of a list: the first one is a declarator, and no bracket opens in between.
            let first = (start..at)
                .find(|first| view.identifier(*first).is_some() && first + 1 < at && ends_type(view, start..*first));
            first.is_some() && view.bracket_round(at) == view.bracket_round(start)
        }
        _ => view.identifier(at - 1).is_some() && is_type(view, start..at),
    }
}

/// The bracket of `auto [a, b] = ..` round one of its names.
pub(super) fn binding(view: &View, at: usize) -> Option<usize> {
    let open = view.bracket_round(at).filter(|open| view.byte(*open, b'['))?;
    let word = (0..open).rev().find(|at| !matches!(view.text(*at), b"&" | b"&&"))?;
    let is_binding = view.is(word, b"auto") && matches!(view.text(view.behind(open)), b"=" | b"{" | b"(" | b":");
    (is_binding && matches!(view.text(at + 1), b"," | b"]") && view.identifier(at).is_some()).then_some(open)
}

/// `struct {int grid, block;} shape`: the brace closes the type of what is declared behind it.
fn closes_type(view: &View, brace: usize, start: usize) -> bool {
    let open = view.opener(brace);
    view.byte(brace, b'}') && (start..open).any(|at| view.is(at, b"struct")) && is_type(view, start..open)
}

/// The bracket round the name that `void (*f)(int)` or `void (*f[2])(int)` declares.
pub(super) fn pointer(view: &View, at: usize) -> Option<usize> {
    let open = view.bracket_round(at).filter(|open| view.byte(*open, b'(') && view.byte(*open + 1, b'*'))?;
    let mut behind = at + 1;
    while view.byte(behind, b'[') {
        behind = view.behind(behind).max(behind + 1);
    }
    let close = view.behind(open);
    let is_name = view.identifier(at).is_some() && (open + 2..at).all(|at| view.is(at, b"const"));
    if !is_name || behind + 1 != close || !view.byte(close, b'(') {
        return None;
    }
    let start = statement_start(view, open);
    let is_statement = view.identifier(start).is_none_or(is_statement_word);
    (start < open && !is_statement && is_type(view, start..open)).then_some(open)
}

/// Behind a declared name and what belongs to it, but for an array's extents.
pub(super) fn behind_declarator(view: &View, declared: usize) -> usize {
    match pointer(view, declared) {
        Some(open) => view.behind(view.behind(open)),
        None => declared + 1,
    }
}

/// What a variable is declared with.
pub(super) enum Initialiser {
    None,
    /// Behind `=`.
    Expression(Range<usize>),
    /// Inside `(..)` or `{..}`.
    Arguments(Range<usize>),
    Other,
}

pub(super) fn initialiser(view: &View, declared: usize) -> Initialiser {
    let behind = behind_declarator(view, declared);
    match view.text(behind) {
        b"=" => {
            let start = behind + 1;
            let mut at = start;
            while at < view.len() && !matches!(view.text(at), b";" | b"," | b")" | b"}") {
                at = view.step(at);
            }
            Initialiser::Expression(start..at)
        }
        b"(" | b"{" => Initialiser::Arguments(view.inside(behind)),
        b";" | b"," => Initialiser::None,
        _ => Initialiser::Other,
    }
}

fn ends_type(view: &View, range: Range<usize>) -> bool {
    !range.is_empty()
        && is_type(view, range.clone())
        && (view.identifier(range.end - 1).is_some() || matches!(view.text(range.end - 1), b"*" | b"&" | b">"))
        && matches!(view.text(range.end + 1), b"=" | b"," | b"(" | b"{" | b"[")
}

fn is_type(view: &View, range: Range<usize>) -> bool {
    let mut at = range.start;
    while at < range.end {
        let part = view.identifier(at).is_some_and(|word| !is_statement_word(word))
            || matches!(view.text(at), b"::" | b"*" | b"&" | b"&&" | b"<");
        if !part {
            return false;
        }
        at = match view.text(at) {
            b"<" => view.behind_angle(at).unwrap_or(range.end + 1),
            b"decltype" if view.byte(at + 1, b'(') => view.behind(at + 1),
            _ => at + 1,
        };
    }
    at == range.end
}

pub(super) fn is_statement_word(word: &[u8]) -> bool {
    matches!(
        word,
        b"return"
            | b"else"
            | b"case"
            | b"goto"
            | b"delete"
            | b"new"
            | b"throw"
            | b"if"
            | b"while"
            | b"for"
            | b"do"
            | b"switch"
            | b"using"
            | b"typedef"
            | b"sizeof"
            | b"co_return"
            | b"co_yield"
    )
}
