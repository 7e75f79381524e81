//! What is known of a variable where a launch stands: from the branches and cases round it, and from checks in front of it.

use super::choices;
use super::code::Code;
use super::evaluate::{Value, evaluate};
use super::locals::statement_start;
use super::scope::Scope;
use super::writes::may_change;
use crate::source::items::View;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Checks that stop the program.
const ASSERTIONS: [&[u8]; 6] =
    [b"assert", b"TORCH_CHECK", b"TORCH_INTERNAL_ASSERT", b"AT_ASSERT", b"AT_ASSERTM", b"CHECK"];

/// A variable by its token, and what it is compared with.
struct Claim {
    name: usize,
    with: Range<usize>,
    /// It is that; else it is no more than that and this.
    limit: Option<i64>,
}

/// The values and limits of variables at a token.
pub(super) fn assumptions(scope: &Scope, code: &Code, at: usize) -> Vec<(String, Value)> {
    let mut claims = Vec::new();
    for (condition, holds) in choices::conditions_round(code, at) {
        claim(&code.view, condition, holds, &mut claims);
    }
    cases(code, at, &mut claims);
    checks(code, at, &mut claims);
    claims.retain(|claim| !may_change(code, code.view.text(claim.name), claim.name, at));
    let value = |claim: Claim| {
        let with = evaluate(scope, code, claim.with)?.int()?;
        let value = match claim.limit {
            None => Value::Int(with),
            Some(more) => Value::AtMost(with + more),
        };
        Some((String::from_utf8_lossy(code.view.text(claim.name)).into_owned(), value))
    };
    claims.into_iter().filter_map(value).collect()
}

/// What a condition that holds, or does not, says of variables: `x == 3`, `x <= 256 && ..`, `!(x > 256 || ..)`.
fn claim(view: &View, condition: Range<usize>, holds: bool, found: &mut Vec<Claim>) {
    let (chain, other): (&[u8], &[u8]) = if holds { (b"&&", b"||") } else { (b"||", b"&&") };
    let Range { start, end } = condition;
    let mut parts: Vec<Range<usize>> = Vec::new();
    parts.push(start..end);
    let mut at = start;
    while at < end {
        if view.is(at, other) {
            return;
        }
        if view.is(at, chain)
            && let Some(last) = parts.last_mut()
        {
            last.end = at;
            parts.push(at + 1..end);
        }
        at = view.step(at);
    }
    for mut part in parts {
        while view.byte(part.start, b'(') && view.behind(part.start) == part.end {
            part = view.inside(part.start);
        }
        let limit = match (view.text(part.start + 1), holds) {
            (b"==", true) | (b"!=", false) => None,
            (b"<=", true) | (b">", false) => Some(0),
            (b"<", true) | (b">=", false) => Some(-1),
            _ => continue,
        };
        if view.identifier(part.start).is_some() && part.len() > 2 {
            found.push(Claim { name: part.start, with: part.start + 2..part.end, limit });
        }
    }
}

/// `switch (threads) { case 256: k<<<1, threads>>>(..); break;`
fn cases(code: &Code, at: usize, found: &mut Vec<Claim>) {
    let view = &code.view;
    let mut inner = at;
    while let Some(open) = view.bracket_round(inner) {
        let close = open.wrapping_sub(1);
        if view.byte(open, b'{') && view.byte(close, b')') && view.is(view.opener(close).wrapping_sub(1), b"switch") {
            let subject = view.inside(view.opener(close));
            let labels = (open + 1..inner)
                .filter(|at| matches!(view.text(*at), b"case" | b"default") && view.bracket_round(*at) == Some(open));
            let labels: Vec<usize> = labels.collect();
            let last = labels.last().copied().filter(|at| view.is(*at, b"case"));
            // Nothing may fall into the case from the one before.
            let ends = last.is_some_and(|at| {
                matches!(view.text(at - 1), b"{" | b"}") || view.byte(at - 1, b';') && jumps_before(view, at - 1)
            });
            if let (true, Some(label), Some(_)) = (ends && subject.len() == 1, last, view.identifier(subject.start))
                && let Some(colon) = (label..inner).find(|at| view.byte(*at, b':'))
            {
                found.push(Claim { name: subject.start, with: label + 1..colon, limit: None });
            }
        }
        inner = open;
    }
}

/// `if (threads > 256) return;` and `assert(threads <= 256)` in front of a token, as long as the variable stays what it is.
fn checks(code: &Code, at: usize, found: &mut Vec<Claim>) {
    let view = &code.view;
    let mut inner = at;
    while let Some(open) = view.bracket_round(inner).filter(|open| open + 1 >= code.body.start) {
        let own = code.checks.get(&open).map_or(&[][..], Vec::as_slice);
        for word in own.iter().copied().take_while(|word| *word < at) {
            if !view.is(word, b"if") {
                if let Some(condition) = view.split_at_commas(view.inside(word + 1)).first() {
                    claim(view, condition.clone(), true, found);
                }
            } else if leaves(view, view.behind(word + 1)) {
                claim(view, view.inside(word + 1), false, found);
            }
        }
        inner = open;
    }
}

/// The statements that may be checks, by their first tokens and the braces that they stand in.
pub(super) fn checks_in(view: &View) -> FxHashMap<usize, Vec<usize>> {
    let mut found: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
    for word in 0..view.len() {
        if let Some(text) = view.identifier(word)
            && (text == b"if" || ASSERTIONS.contains(&text))
            && view.byte(word + 1, b'(')
            && let Some(open) = view.bracket_round(word).filter(|open| view.byte(*open, b'{'))
        {
            found.entry(open).or_default().push(word);
        }
    }
    found
}

/// Whether the statement at a token ends the function, or the turn of the loop round it.
fn leaves(view: &View, start: usize) -> bool {
    let first = if view.byte(start, b'{') {
        match view.inside(start) {
            inside if inside.is_empty() => return false,
            inside => statement_start(view, inside.end - 1),
        }
    } else {
        start
    };
    let word = if view.is(first, b"std") && view.is(first + 1, b"::") { first + 2 } else { first };
    matches!(view.text(word), b"return" | b"continue" | b"throw" | b"exit" | b"abort")
}

/// Whether the statement that ends at a semicolon leaves the switch.
fn jumps_before(view: &View, semicolon: usize) -> bool {
    let start = statement_start(view, semicolon);
    matches!(view.text(start), b"break" | b"return" | b"continue" | b"throw" | b"goto")
}
