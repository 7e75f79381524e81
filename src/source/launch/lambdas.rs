//! Lambdas of the host, and who calls them with what: `dispatch(n, [&](auto size) { k<size.value><<<1, size.value>>>(..); })`.
//!
//! A lambda is followed to its calls: in its function, and in those that it is handed to. Used otherwise, it may be called
//! with anything.

use super::choices::one_of;
use super::code::{Code, Parameter, callee_before, parameters};
use super::scope::{Bound, Frame, Scope};
use crate::source::items::View;
use std::ops::Range;
use std::sync::Arc;

/// Calls of one lambda that are looked at, and functions that it is handed through.
const MAX_CALLS: usize = 8;
const MAX_HANDS: u32 = 4;

/// A lambda by its tokens.
pub(super) struct Lambda {
    /// Its `[`.
    pub start: usize,
    pub end: usize,
    templates: Vec<Parameter>,
    /// The bracket of its parameters.
    pub params: Option<usize>,
}

/// One call of a lambda: where it stands, and as what.
struct Call {
    code: Arc<Code>,
    frame: Frame,
    templates: Option<Range<usize>>,
    arguments: Vec<Range<usize>>,
}

/// The lambdas of a function's body, in order.
pub(super) fn lambdas(view: &View, body: Range<usize>) -> Vec<Lambda> {
    body.filter(|at| view.byte(*at, b'[')).filter_map(|at| lambda(view, at)).collect()
}

fn lambda(view: &View, start: usize) -> Option<Lambda> {
    let before = start.wrapping_sub(1);
    let is_subscript = matches!(view.text(before), b")" | b"]")
        || view.identifier(before).is_some_and(|word| !matches!(word, b"return" | b"case" | b"else"));
    if is_subscript || view.byte(start + 1, b'[') || !view.is_closed(start) {
        return None;
    }
    let mut at = view.behind(start);
    let mut templates = Vec::new();
    if view.byte(at, b'<') {
        let behind = view.behind_angle(at)?;
        templates = parameters(view, at + 1..behind - 1);
        at = behind;
    }
    let mut params = None;
    while !view.byte(at, b'{') {
        match view.text(at) {
            b"(" if params.is_none() => params = Some(at),
            b"(" | b"->" | b"::" | b"*" | b"&" | b"<" => {}
            _ if view.identifier(at).is_some() => {}
            _ => return None,
        }
        at = view.step(at);
    }
    Some(Lambda { start, end: view.behind(at), templates, params })
}

/// What a parameter of a lambda stands for in one of its calls, as `read` sees it there.
pub(super) fn argument<T>(
    scope: &Scope,
    code: &Code,
    declared: usize,
    read: impl FnOnce(&Scope, &Code, Range<usize>) -> Option<T>,
) -> Option<T> {
    let view = &code.view;
    let open = view.bracket_round(declared)?;
    let lambda = code.lambdas.iter().find(|lambda| lambda.params == Some(open))?;
    let position = view.split_at_commas(view.inside(open)).iter().position(|piece| piece.contains(&declared))?;
    let call = taken(scope, code, lambda)?;
    let argument = call.arguments.get(position)?.clone();
    read(&Scope { work: scope.work, frame: &call.frame }, &call.code, argument)
}

/// The same of a template parameter: `[&]<int D>() { .. }`.
pub(super) fn template(scope: &Scope, code: &Code, name: &[u8], at: usize) -> Option<Bound> {
    let (lambda, position) = code.lambdas.iter().rev().find_map(|lambda| {
        let position = lambda.templates.iter().position(|template| template.name.as_bytes() == name)?;
        (lambda.start < at && at < lambda.end).then_some((lambda, position))
    })?;
    let call = taken(scope, code, lambda)?;
    let argument = call.code.view.split_at_commas(call.templates?).get(position)?.clone();
    Some(Scope { work: scope.work, frame: &call.frame }.bind(&call.code, argument))
}

/// The call that is read.
fn taken(scope: &Scope, code: &Code, lambda: &Lambda) -> Option<Call> {
    if !scope.enter(MAX_HANDS * 10) {
        return None;
    }
    let mut calls = Vec::new();
    let known = calls_of(scope, code, lambda, &mut calls);
    scope.leave();
    known?;
    let way = one_of(scope, code, lambda.start, calls.len())?;
    calls.into_iter().nth(way)
}

fn calls_of(scope: &Scope, code: &Code, lambda: &Lambda, found: &mut Vec<Call>) -> Option<()> {
    let view = &code.view;
    let own = scope.work.code(code.item);
    if view.byte(lambda.end, b'(') {
        return add(&own, scope.frame, None, lambda.end, found);
    }
    let before = lambda.start.checked_sub(1)?;
    if view.byte(before, b'=') {
        let name = view.identifier(before.checked_sub(1)?)?;
        return used(scope, &own, scope.frame, name, before..code.body.end, 0, found);
    }
    handed(scope, &own, scope.frame, lambda.start, 0, found)
}

fn add(
    code: &Arc<Code>,
    frame: &Frame,
    templates: Option<Range<usize>>,
    open: usize,
    found: &mut Vec<Call>,
) -> Option<()> {
    let arguments = code.view.split_at_commas(code.view.inside(open));
    found.push(Call { code: code.clone(), frame: frame.clone(), templates, arguments });
    (found.len() <= MAX_CALLS).then_some(())
}

/// What becomes of a variable that holds a lambda.
fn used(
    scope: &Scope,
    code: &Arc<Code>,
    frame: &Frame,
    name: &[u8],
    range: Range<usize>,
    hands: u32,
    found: &mut Vec<Call>,
) -> Option<()> {
    let view = &code.view;
    for &at in code.uses(name, range) {
        let round = view.bracket_round(at)?;
        if view.byte(round, b'[') {
            // Captured: its uses in that lambda are among these.
            continue;
        }
        if view.byte(at + 1, b'(') {
            add(code, frame, None, at + 1, found)?;
            continue;
        }
        if view.byte(at + 1, b'.') {
            // The expander writes `f.template operator()<32>()` as `f.operator__<32>()`.
            if !view.is(at + 2, b"operator__") {
                return None;
            }
            let mut open = at + 3;
            let mut templates = None;
            if view.byte(open, b'<') {
                let behind = view.behind_angle(open)?;
                templates = Some(open + 1..behind - 1);
                open = behind;
            }
            if !view.byte(open, b'(') {
                return None;
            }
            add(code, frame, templates, open, found)?;
            continue;
        }
        if view.byte(round, b'(') && view.inside(round).len() == 1 {
            // `std::forward<F>(f)(..)`, `g(std::move(f))`, `decltype(f)`
            let word = callee_before(view, round).map(|callee| view.text(callee.name));
            match word {
                Some(b"decltype") => continue,
                Some(b"forward" | b"move") if view.byte(round + 2 + 1, b'(') => {
                    add(code, frame, None, round + 3, found)?;
                    continue;
                }
                Some(b"forward" | b"move") => {
                    handed(scope, code, frame, round, hands, found)?;
                    continue;
                }
                _ => {}
            }
        }
        handed(scope, code, frame, at, hands, found)?;
    }
    Some(())
}

/// What the function makes of it that a token, inside one of its arguments, is handed to.
fn handed(scope: &Scope, code: &Arc<Code>, frame: &Frame, at: usize, hands: u32, found: &mut Vec<Call>) -> Option<()> {
    let view = &code.view;
    let open = view.bracket_round(at).filter(|open| view.byte(*open, b'(') && hands < MAX_HANDS)?;
    let arguments = view.split_at_commas(view.inside(open));
    let position = arguments.iter().position(|argument| argument.contains(&at))?;
    let callee = callee_before(view, open)?;
    let called = scope.called(code, callee.name, arguments.len() as u32)?;
    let own = Scope { work: scope.work, frame };
    let mut inside = own.frame_of(code, &called, &arguments);
    let given = callee.arguments.map_or(Vec::new(), |range| own.template_arguments(code, range));
    inside.templates = called.templates.iter().map(|template| template.name.clone()).zip(given).collect();
    let name = called.params.get(position)?.name.clone();
    used(scope, &called, &inside, name.as_bytes(), called.body.clone(), hands + 1, found)
}
