//! Local variables that are many numbers one after another: a loop's counter, a size that is doubled while it is too small.
//!
//! Each reading takes one of the values. Longer lists than a few are bounds, or nothing.

use super::choices::one_of;
use super::code::Code;
use super::evaluate::{Value, evaluate, operator};
use super::locals::{scope_end, statement_end, statement_start};
use super::scope::{Frame, Scope};
use super::writes::is_written;
use crate::source::items::View;
use std::ops::Range;

/// Values of one variable that are looked at one by one.
pub(super) const MAX_ELEMENTS: usize = 8;

/// Turns of a loop that are followed.
const MAX_TURNS: usize = 256;

/// The variable of `for (int threads = 32; threads <= 256; threads *= 2)` in its loop: each value it takes.
pub(super) fn counted(
    scope: &Scope,
    code: &Code,
    declared: usize,
    first: Option<Value>,
    at: usize,
) -> Option<Option<Value>> {
    let view = &code.view;
    let name = view.identifier(declared)?;
    let open = view.bracket_round(declared).filter(|open| view.is(open.wrapping_sub(1), b"for"))?;
    let header = view.inside(open);
    let mut semicolons = header.clone().filter(|at| view.byte(*at, b';'));
    let (one, two) = (semicolons.next()?, semicolons.next()?);
    let behind = view.behind(open);
    let end = scope_end(view, declared, code.body.end);
    if at < behind || is_written(code, name, behind..end) {
        return None;
    }
    let last = match view.text(one + 2) {
        _ if view.text(one + 1) != name => return None,
        b"<" => -1,
        b"<=" => 0,
        _ => return None,
    };
    let number = |range| evaluate(scope, code, range).and_then(Value::int);
    let (mut value, limit) = (first?.int()?, number(one + 3..two)? + last);
    let step = two + 1..header.end;
    let by = match step.len() {
        2 if view.is(step.start, b"++") || view.is(step.start + 1, b"++") => 1,
        _ if view.text(step.start) == name => number(step.start + 2..step.end)?,
        _ => return None,
    };
    let operator = view.text(step.start + 1);
    let mut values = Vec::new();
    while value <= limit {
        if values.len() > MAX_ELEMENTS {
            return Some(Some(Value::AtMost(limit)));
        }
        values.push(value);
        let next = match operator {
            b"*=" => value.checked_mul(by),
            b"<<=" => u32::try_from(by).ok().and_then(|by| value.checked_mul(1i64.checked_shl(by)?)),
            _ => value.checked_add(by),
        };
        value = next.filter(|next| *next > value)?;
    }
    let way = one_of(scope, code, declared, values.len());
    Some(way.and_then(|way| values.get(way)).map(|value| Value::Int(*value)))
}

/// What a loop makes of a variable, as it is seen from a place: each value with which it may stop, from behind it; each
/// with which it may go on, from its body.
///
/// ```text
///     while (threads < n && threads < 256) threads *= 2;              // behind it
///     for (int threads = 512; threads > 32; threads /= 2) launch();   // in its body
/// ```
///
/// The write is the one at `at`, to `assigned` if it is no `*=` or the like.
pub(super) fn turned(
    scope: &Scope,
    code: &Code,
    at: usize,
    assigned: Option<Range<usize>>,
    first: Option<Value>,
    place: usize,
) -> Option<Value> {
    let view = &code.view;
    let name = view.identifier(at)?;
    let (condition, all) = loop_of(view, at)?;
    let is_inside = all.contains(&place);
    let body = view.behind(all.start);
    if is_inside && !(at < body && body <= place) {
        return None;
    }
    if code
        .uses(name, condition.start..all.end)
        .iter()
        .any(|other| *other != at && is_written(code, name, *other..*other + 1))
    {
        return None;
    }
    let leaves = all.clone().any(|at| matches!(view.text(at), b"break" | b"goto" | b"return"));
    let mut value = first?.int()?;
    let mut seen = Vec::new();
    let mut ends = false;
    for _ in 0..MAX_TURNS {
        let mut frame: Frame = scope.frame.clone();
        frame.assumed.retain(|(known, _)| known.as_bytes() != name);
        frame.assumed.push((String::from_utf8_lossy(name).into_owned(), Value::Int(value)));
        let scope = &Scope { work: scope.work, frame: &frame };
        let goes_on = holds_now(scope, code, condition.clone());
        let is_seen = if is_inside { goes_on != Some(false) } else { goes_on != Some(true) || leaves };
        if is_seen {
            seen.push(value);
        }
        let next = match (goes_on, &assigned) {
            (Some(false), _) => {
                ends = true;
                break;
            }
            (_, Some(assigned)) => evaluate(scope, code, assigned.clone())?.int()?,
            (_, None) => stepped(scope, code, at, value)?,
        };
        if next == value {
            ends = true;
            break;
        }
        value = next;
    }
    // Nothing is launched with no threads.
    seen.retain(|value| *value > 0);
    let greatest = seen.iter().copied().max().filter(|_| ends)?;
    let way = if seen.len() <= MAX_ELEMENTS { one_of(scope, code, at, seen.len()) } else { None };
    Some(way.and_then(|way| seen.get(way)).map_or(Value::AtMost(greatest), |value| Value::Int(*value)))
}

/// The loop that a write stands in, in its header or as a statement of its body: its condition and all of it.
fn loop_of(view: &View, at: usize) -> Option<(Range<usize>, Range<usize>)> {
    let round = view.bracket_round(at)?;
    let start = statement_start(view, at);
    let header = if view.byte(round, b'(') && view.is(round - 1, b"for") {
        round
    } else if view.byte(start - 1, b')') {
        view.opener(start - 1)
    } else if view.byte(round, b'{') && view.byte(round - 1, b')') {
        view.opener(round - 1)
    } else {
        return None;
    };
    let inside = view.inside(header);
    let behind = view.behind(header);
    let end = if view.byte(behind, b'{') { view.behind(behind) } else { statement_end(view, behind) };
    let condition = match view.text(header.checked_sub(1)?) {
        b"while" => inside,
        b"for" => {
            let mut semicolons = inside.filter(|at| view.byte(*at, b';'));
            semicolons.next()? + 1..semicolons.next()?
        }
        _ => return None,
    };
    Some((condition, header..end))
}

/// Whether all parts of a condition hold, as far as they are known.
fn holds_now(scope: &Scope, code: &Code, condition: Range<usize>) -> Option<bool> {
    let view = &code.view;
    let mut all = Some(true);
    let mut start = condition.start;
    let mut at = condition.start;
    while at <= condition.end {
        if at == condition.end || view.is(at, b"&&") {
            let mut part = start..at;
            while view.byte(part.start, b'(') && view.behind(part.start) == part.end {
                part = view.inside(part.start);
            }
            match evaluate(scope, code, part).and_then(Value::int) {
                Some(0) => return Some(false),
                Some(_) => {}
                None => all = None,
            }
            start = at + 1;
        } else if view.is(at, b"||") {
            return None;
        }
        at = if at < condition.end { view.step(at) } else { at + 1 };
    }
    all
}

/// What `*= 2`, `>>= 1`, `++` and their like make of a value.
fn stepped(scope: &Scope, code: &Code, at: usize, value: i64) -> Option<i64> {
    let view = &code.view;
    match (view.text(at + 1), view.text(at - 1)) {
        (b"++", _) | (_, b"++") => return value.checked_add(1),
        (b"--", _) | (_, b"--") => return value.checked_sub(1),
        _ => {}
    }
    let (_, apply) = operator(view.text(at + 1).strip_suffix(b"=")?)?;
    let mut end = at + 2;
    while end < code.body.end && !matches!(view.text(end), b";" | b"," | b")" | b"}") {
        end = view.step(end);
    }
    apply(value, evaluate(scope, code, at + 2..end)?.int()?)
}

/// The bracket of a lambda's parameters, round one of them.
pub(super) fn lambda_parameters(view: &View, declared: usize) -> Option<usize> {
    view.bracket_round(declared).filter(|open| view.byte(*open, b'(') && view.is(open.wrapping_sub(1), b"]"))
}
