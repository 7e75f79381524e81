//! Local variables that are many numbers one after another: a loop's counter.
//!
//! Each reading takes one of the values. Longer lists than a few are bounds, or nothing.

use super::choices::one_of;
use super::code::Code;
use super::evaluate::{Value, evaluate};
use super::locals::{is_written, scope_end};
use super::scope::Scope;
use crate::source::items::View;

/// Values of one variable that are looked at one by one.
pub(super) const MAX_ELEMENTS: usize = 8;

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

/// The bracket of a lambda's parameters, round one of them.
pub(super) fn lambda_parameters(view: &View, declared: usize) -> Option<usize> {
    view.bracket_round(declared).filter(|open| view.byte(*open, b'(') && view.is(open.wrapping_sub(1), b"]"))
}
