//! Tokens -> the guarded region at whose edge a statement stands, and the `if` with all its arms round it.

use crate::source::index::File;
use crate::source::lexer::TokenKind;
use crate::text::Range;

/// Tokens of a file, both included.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    pub first: u32,
    pub last: u32,
}

impl Statement {
    pub fn holds(self, other: Statement) -> bool {
        self.first <= other.first && other.last <= self.last
    }
}

/// Which edge of a region a barrier stands at.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Edge {
    Begin,
    End,
}

/// An `if` with its arms, from `if` to the last brace (or the semicolon of the only statement it guards).
#[derive(Clone, Debug)]
pub struct Chain {
    pub statement: Statement,
    /// From the braces of the arm that the barrier stands in, the braces included.
    pub first: u32,
    pub last: u32,
    /// The conditions, parentheses excluded.
    pub conditions: Vec<Statement>,
    /// The braces of all arms, the last `else` among them.
    pub arms: Vec<(u32, u32)>,
    pub has_braces: bool,
}

/// Tokens that are looked at on the way to a matching bracket.
const MAX_TOKENS: u32 = 200_000;

/// The statement that begins with what stands at a range: up to its semicolon, with nothing before it.
pub fn barrier_at(file: &File, at: Range) -> Option<Statement> {
    let first = file.tokens.partition_point(|token| token.start() < at.start) as u32;
    if file.tokens.get(first as usize)?.start() != at.start {
        return None;
    }
    let after = file.tokens.partition_point(|token| token.start() < at.end) as u32;
    (file.text(after) == b";").then_some(Statement { first, last: after })
}

impl Chain {
    /// The `if` of whose arms one ends (begins) with a statement.
    pub fn round(file: &File, inner: Statement, edge: Edge) -> Option<Chain> {
        let before = inner.first.checked_sub(1)?;
        let (first, last, has_braces) = match file.text(before) {
            b")" => (inner.first, inner.last, false),
            _ if edge == Edge::End && file.text(inner.last + 1) == b"}" => {
                // What stands before has to be the end of a statement, or the barrier is part of one.
                if !matches!(file.text(before), b"{" | b"}" | b";") {
                    return None;
                }
                (open_of(file, inner.last + 1)?, inner.last + 1, true)
            }
            b"{" if edge == Edge::Begin => (before, close_of(file, before)?, true),
            _ => return None,
        };
        // Up to the `if` that begins the chain.
        let mut arms = if has_braces { vec![(first, last)] } else { Vec::new() };
        let mut conditions = Vec::new();
        let mut at = first;
        let start = loop {
            let word = at.checked_sub(1)?;
            match file.text(word) {
                b")" => {
                    let open = open_of(file, word)?;
                    let head = open.checked_sub(1)?;
                    if file.text(head) != b"if" {
                        return None;
                    }
                    conditions.push(Statement { first: open + 1, last: word.checked_sub(1)? });
                    match head.checked_sub(1).filter(|before| file.text(*before) == b"else") {
                        Some(before) => at = before,
                        None => break head,
                    }
                }
                b"else" => at = word,
                _ => return None,
            }
            // `at` is an `else`: the arm before it.
            let close = at.checked_sub(1).filter(|close| file.text(*close) == b"}")?;
            at = open_of(file, close)?;
            arms.push((at, close));
        };
        // Of several arms one without braces cannot be emptied, nor the others be left out with it.
        if !has_braces && !arms.is_empty() {
            return None;
        }
        // Inside another statement, as in `for (..) if (..)`, it cannot have a neighbour.
        if !matches!(start.checked_sub(1).map(|before| file.text(before)), Some(b"{" | b"}" | b";" | b":")) {
            return None;
        }
        // Down to its end.
        let mut end = last;
        while file.text(end + 1) == b"else" {
            if !has_braces {
                return None;
            }
            let mut open = end + 2;
            if file.text(open) == b"if" {
                if file.text(open + 1) != b"(" {
                    return None;
                }
                let close = close_of(file, open + 1)?;
                conditions.push(Statement { first: open + 2, last: close.checked_sub(1)? });
                open = close + 1;
            }
            if file.text(open) != b"{" {
                return None;
            }
            end = close_of(file, open)?;
            arms.push((open, end));
        }
        arms.sort_unstable();
        let statement = Statement { first: start, last: end };
        Some(Chain { statement, first, last, conditions, arms, has_braces })
    }

    /// A line for the preprocessor stands in it: what is in the region depends.
    pub fn holds_directive(&self, file: &File) -> bool {
        let within = |token: u32| self.statement.first <= token && token <= self.statement.last;
        file.directives.iter().any(|directive| within(directive.start))
            || (self.statement.first..=self.statement.last)
                .any(|token| matches!(file.tokens[token as usize].kind(), TokenKind::Directive | TokenKind::Unknown))
    }

    /// The same barrier at the same edge of the arms.
    pub fn same_at(&self, file: &File, edge: Edge, barrier: Statement) -> Vec<Statement> {
        let length = barrier.last - barrier.first;
        let found = self.arms.iter().filter_map(|(open, close)| {
            let first = match edge {
                Edge::Begin => open + 1,
                Edge::End => close.checked_sub(length + 1)?,
            };
            let same = first > *open
                && first + length < *close
                && (0..=length).all(|offset| file.text(first + offset) == file.text(barrier.first + offset))
                && matches!(file.text(first - 1), b"{" | b"}" | b";");
            same.then_some(Statement { first, last: first + length })
        });
        found.collect()
    }

    /// Whichever way threads go, one of the barriers `gone` stands on it, and is not guarded any further.
    pub fn all_arms_lose_one(&self, gone: &[Statement], barrier: Statement) -> bool {
        let has_else = self.conditions.len() < self.arms.len();
        let ends_with_one =
            |(open, close): &(u32, u32)| gone.iter().any(|each| each.first == open + 1 || each.last + 1 == *close);
        has_else && gone.contains(&barrier) && gone.len() == self.arms.len() && self.arms.iter().all(ends_with_one)
    }

    /// The `if` has one arm, and the barrier is all that is in it.
    pub fn is_only(&self, file: &File, barrier: Statement) -> bool {
        if !self.has_braces {
            return true;
        }
        self.arms.len() == 1
            && self.first + 1 == barrier.first
            && barrier.last + 1 == self.last
            && file.text(self.statement.last + 1) != b"else"
    }
}

/// What the barrier speaks of is not declared in the region: its names are not even used there.
pub fn names_are_from_outside(file: &File, barrier: Statement, chain: &Chain) -> bool {
    let is_name = |token: u32| file.tokens[token as usize].kind() == TokenKind::Identifier;
    let text: Vec<&[u8]> =
        (barrier.first..=barrier.last).filter(|token| is_name(*token)).map(|it| file.text(it)).collect();
    // A call without receiver and arguments speaks of nothing.
    if text.len() <= 1 {
        return true;
    }
    let declares = |token: u32| {
        let before = token.checked_sub(1).map(|before| file.text(before)).unwrap_or_default();
        let is_type = token.checked_sub(1).is_some_and(is_name) && before != b"return";
        is_name(token) && text.contains(&file.text(token)) && (is_type || matches!(before, b">" | b"*" | b"&" | b","))
    };
    !(chain.statement.first..=chain.statement.last).any(declares)
}

/// The tokens from one up to a barrier of the same words that all who come to the first one come to, too; else up to an end.
pub fn until_same(file: &File, barrier: Statement, first: u32, end: u32) -> (u32, u32) {
    let length = barrier.last - barrier.first;
    let same = |at: u32| (0..=length).all(|offset| file.text(at + offset) == file.text(barrier.first + offset));
    let (mut depth, mut least) = (0, 0);
    for at in first..end {
        match file.text(at) {
            b"{" => depth += 1,
            b"}" => depth -= 1,
            // What is guarded without braces is not come to by all.
            _ if depth == least && matches!(file.text(at - 1), b"{" | b"}" | b";") && same(at) => return (first, at),
            _ => {}
        }
        least = least.min(depth);
    }
    (first, end)
}

pub fn open_of(file: &File, close: u32) -> Option<u32> {
    let mut depth = 0u32;
    let mut at = close;
    loop {
        match file.text(at) {
            b")" | b"}" | b"]" => depth += 1,
            b"(" | b"{" | b"[" => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
        at = at.checked_sub(1).filter(|at| close - at < MAX_TOKENS)?;
    }
}

pub fn close_of(file: &File, open: u32) -> Option<u32> {
    let mut depth = 0u32;
    let mut at = open;
    while (at as usize) < file.tokens.len() && at - open < MAX_TOKENS {
        match file.text(at) {
            b"(" | b"{" | b"[" => depth += 1,
            b")" | b"}" | b"]" => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
        at += 1;
    }
    None
}
