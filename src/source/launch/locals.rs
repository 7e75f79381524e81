//! A local variable at one place of a function -> the value it must have there.
//!
//! Every write to it is found by its tokens; only those that must have happened count, and any other one that may have
//! happened makes the value unknown.

use super::choices::{Happened, happened, one_of};
use super::code::Code;
use super::evaluate::{Number, Value, evaluate};
use super::scope::Scope;
use crate::source::items::View;
use std::ops::Range;

/// What a name at a place is.
pub(super) enum Local {
    /// No local variable.
    No,
    Known(Option<Value>),
}

/// The value of `name.members` at the token `at`.
pub(super) fn local(scope: &Scope, code: &Code, name: &[u8], members: &[&[u8]], at: usize) -> Local {
    let view = &code.view;
    let Some(declared) = declaration(code, name, at) else { return Local::No };
    let variable = Variable { scope, code, members, statement: statement_start(view, declared), declared };
    Local::Known(variable.value_at(name, at))
}

/// The value of a parameter, which `initial` is at entry, at a place behind possible writes to it.
pub(super) fn written_parameter(code: &Code, name: &[u8], at: usize) -> bool {
    code.uses(name, code.body.start..at).iter().any(|found| write(code, *found).is_some())
}

pub(super) fn is_local(code: &Code, name: &[u8], at: usize) -> bool {
    declaration(code, name, at).is_some()
}

/// The tokens that a local variable stands for at a place: what it was last set to.
pub(super) fn stands_for(scope: &Scope, code: &Code, name: &[u8], at: usize) -> Option<Range<usize>> {
    let declared = declaration(code, name, at)?;
    let mut stands = match initialiser(&code.view, declared) {
        Initialiser::Expression(range) => Some(range),
        Initialiser::Other => lambda_argument(scope, code, declared),
        _ => None,
    };
    for found in code.uses(name, declared + 1..code.body.end) {
        let Some(write) = write(code, *found) else { continue };
        if write.at > at {
            if loop_round(&code.view, write.at, at).is_some() {
                return None;
            }
            continue;
        }
        stands = match happened(scope, code, write.at, at) {
            Happened::Surely => write.value.filter(|_| write.members.is_empty()),
            Happened::Not | Happened::Unless { .. } => stands,
            Happened::Perhaps => None,
        };
    }
    stands
}

/// The variables whose value is given by the branches round a token, and the tokens of that value.
pub(super) fn assumptions(code: &Code, at: usize) -> Vec<(usize, Range<usize>)> {
    let view = &code.view;
    let mut found = Vec::new();
    let mut inner = at;
    loop {
        let start = statement_start(view, inner);
        let open = view.bracket_round(inner);
        // `if (x == 3) k<<<..>>>(..);`, `if (x == 3) { k<<<..>>>(..); }`
        for close in [start.checked_sub(1), open.and_then(|open| open.checked_sub(1))].into_iter().flatten() {
            if view.byte(close, b')') && view.is(view.opener(close).wrapping_sub(1), b"if") {
                let inside = view.inside(view.opener(close));
                if view.identifier(inside.start).is_some() && view.is(inside.start + 1, b"==") {
                    found.push((inside.start, inside.start + 2..inside.end));
                }
            }
        }
        let Some(open) = open else { return found };
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
                found.push((subject.start, label + 1..colon));
            }
        }
        inner = open;
    }
}

/// Whether the statement that ends at a semicolon leaves the switch.
fn jumps_before(view: &View, semicolon: usize) -> bool {
    let start = statement_start(view, semicolon);
    matches!(view.text(start), b"break" | b"return" | b"continue" | b"throw" | b"goto")
}

struct Variable<'a, 's> {
    scope: &'a Scope<'s>,
    code: &'a Code,
    members: &'a [&'a [u8]],
    statement: usize,
    declared: usize,
}

struct Write {
    at: usize,
    /// The member path written: empty for the whole.
    members: Vec<Range<usize>>,
    /// The value, for a plain assignment.
    value: Option<Range<usize>>,
}

impl Variable<'_, '_> {
    fn value_at(&self, name: &[u8], at: usize) -> Option<Value> {
        let view = &self.code.view;
        let specifiers: Vec<&[u8]> = (self.statement..self.declared).map(|at| view.text(at)).collect();
        let is_const = specifiers.iter().any(|word| matches!(*word, b"const" | b"constexpr"));
        let is_reference = view.is(self.declared - 1, b"&");
        let is_extent = specifiers.iter().any(|word| matches!(*word, b"dim3" | b"uint3"));
        if is_reference && !is_const {
            return None;
        }
        let mut value = self.initial(is_extent);
        if is_const {
            return value;
        }
        if let Some(counted) = self.counted(name, value, at) {
            return counted;
        }
        let mut last_sure = self.declared;
        let mut later: Vec<usize> = Vec::new();
        for found in self.code.uses(name, self.declared + 1..self.code.body.end) {
            let Some(write) = write(self.code, *found) else { continue };
            if !self.concerns(&write) {
                continue;
            }
            if write.at > at {
                later.push(write.at);
                continue;
            }
            match happened(self.scope, self.code, write.at, at) {
                Happened::Surely => {
                    last_sure = write.at;
                    value = self.written(value, &write, is_extent);
                }
                Happened::Not => {}
                Happened::Unless { start, end } => value = self.limited(name, value, start..end),
                Happened::Perhaps => value = self.forget(value, &write),
            }
        }
        // A write further down comes before this place again if a loop goes round both.
        let comes_back = later.iter().any(|later| loop_round(view, *later, at).is_some_and(|open| open > last_sure));
        if comes_back { None } else { value }
    }

    /// What is left of a value where `if (threads > 256) threads = ..;` did not write.
    fn limited(&self, name: &[u8], value: Option<Value>, condition: Range<usize>) -> Option<Value> {
        let view = &self.code.view;
        let more = match view.text(condition.start + 1) {
            b">" => 0,
            b">=" => 1,
            _ => return value,
        };
        if value.is_some_and(|value| value.number().is_none_or(|number| number.exact))
            || view.text(condition.start) != name
            || !self.members.is_empty()
        {
            return value;
        }
        let limit = evaluate(self.scope, self.code, condition.start + 2..condition.end).and_then(Value::int);
        match limit {
            Some(limit) => Value::least(value, Some(Value::AtMost(limit - more))),
            None => value,
        }
    }

    /// The variable of `for (int threads = 32; threads <= 256; threads *= 2)` in its loop: each value it takes.
    fn counted(&self, name: &[u8], first: Option<Value>, at: usize) -> Option<Option<Value>> {
        let view = &self.code.view;
        let open = view.bracket_round(self.declared).filter(|open| view.is(open.wrapping_sub(1), b"for"))?;
        let header = view.inside(open);
        let mut semicolons = header.clone().filter(|at| view.byte(*at, b';'));
        let (one, two) = (semicolons.next()?, semicolons.next()?);
        let behind = view.behind(open);
        let writes_inside = self.code.uses(name, behind..self.code.body.end);
        let end = scope_end(view, self.declared, self.code.body.end);
        if at < behind || writes_inside.iter().any(|found| *found < end && write(self.code, *found).is_some()) {
            return None;
        }
        let last = match view.text(one + 2) {
            _ if view.text(one + 1) != name => return None,
            b"<" => -1,
            b"<=" => 0,
            _ => return None,
        };
        let number = |range| evaluate(self.scope, self.code, range).and_then(Value::int);
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
        let way = one_of(self.scope, self.code, self.declared, values.len());
        Some(way.and_then(|way| values.get(way)).map(|value| Value::Int(*value)))
    }

    fn initial(&self, is_extent: bool) -> Option<Value> {
        let view = &self.code.view;
        match initialiser(view, self.declared) {
            Initialiser::None if self.members.last().is_some_and(|member| member.ends_with(b"Dim")) || is_extent => {
                self.component(Value::Extent([Some(Number::ONE); 3]), 0)
            }
            Initialiser::None => None,
            Initialiser::Expression(range) | Initialiser::Arguments(range) if self.members.is_empty() || is_extent => {
                let value = if is_extent { self.extent(range) } else { evaluate(self.scope, self.code, range)? };
                self.component(value, 0)
            }
            Initialiser::Expression(range) if view.byte(range.start, b'{') => self.aggregate(view.inside(range.start)),
            Initialiser::Arguments(range) => self.aggregate(range),
            Initialiser::Other => {
                let range = lambda_argument(self.scope, self.code, self.declared)
                    .or_else(|| element(self.scope, self.code, self.declared))?;
                let value = evaluate(self.scope, self.code, range)?;
                self.component(if is_extent { Value::Extent(value.extent()) } else { value }, 0)
            }
            Initialiser::Expression(_) => None,
        }
    }

    fn extent(&self, range: Range<usize>) -> Value {
        let pieces = self.code.view.split_at_commas(range);
        if let [only] = pieces.as_slice() {
            let value = evaluate(self.scope, self.code, only.clone());
            return Value::Extent(value.map_or([None; 3], Value::extent));
        }
        let mut extent = [Some(Number::ONE); 3];
        for (axis, piece) in pieces.into_iter().enumerate().take(3) {
            extent[axis] = evaluate(self.scope, self.code, piece).and_then(Value::number);
        }
        Value::Extent(extent)
    }

    /// `cudaLaunchConfig_t config = {grid, block, ..};`
    fn aggregate(&self, inside: Range<usize>) -> Option<Value> {
        let view = &self.code.view;
        let pieces = view.split_at_commas(inside);
        // `{.gridDim = grid, .blockDim = block}`
        if pieces.iter().any(|piece| view.byte(piece.start, b'.') && view.is(piece.start + 2, b"=")) {
            let member = *self.members.first()?;
            let value = match pieces.iter().find(|piece| view.text(piece.start + 1) == member) {
                Some(piece) => Value::Extent(evaluate(self.scope, self.code, piece.start + 3..piece.end)?.extent()),
                None => Value::Extent([Some(Number::ONE); 3]),
            };
            return self.component(value, 1);
        }
        let index = match *self.members.first()? {
            b"gridDim" => 0,
            b"blockDim" => 1,
            _ => return None,
        };
        if pieces.len() <= 1 {
            return self.component(Value::Extent([Some(Number::ONE); 3]), 1);
        }
        let value = match pieces.get(index) {
            Some(piece) => evaluate(self.scope, self.code, piece.clone())?,
            None => Value::Extent([Some(Number::ONE); 3]),
        };
        self.component(value, 1)
    }

    /// From a value the component that the members behind `used` name.
    fn component(&self, value: Value, used: usize) -> Option<Value> {
        match (value, self.members.get(used..).unwrap_or_default()) {
            (value, []) => Some(value),
            (Value::Extent(extent), [member]) => match axis(member) {
                Some(axis) => extent[axis].map(Value::from),
                None => member.ends_with(b"Dim").then_some(value),
            },
            _ => None,
        }
    }

    /// Whether a write changes what is asked for.
    fn concerns(&self, write: &Write) -> bool {
        let view = &self.code.view;
        write.members.iter().zip(self.members).all(|(written, asked)| view.text(written.start) == *asked)
    }

    fn forget(&self, value: Option<Value>, write: &Write) -> Option<Value> {
        match (value, self.axis_of(write)) {
            (Some(Value::Extent(mut extent)), Some(axis)) => {
                extent[axis] = None;
                Some(Value::Extent(extent))
            }
            _ => None,
        }
    }

    fn written(&self, value: Option<Value>, write: &Write, is_extent: bool) -> Option<Value> {
        let Some(assigned) = write.value.clone() else { return self.forget(value, write) };
        if write.members.len() > self.members.len() {
            let axis = self.axis_of(write)?;
            let mut extent = match value {
                Some(Value::Extent(extent)) => extent,
                _ => [None; 3],
            };
            extent[axis] = evaluate(self.scope, self.code, assigned).and_then(Value::number);
            return Some(Value::Extent(extent));
        }
        let view = &self.code.view;
        if write.members.is_empty() && !self.members.is_empty() && !is_extent {
            return if view.byte(assigned.start, b'{') { self.aggregate(view.inside(assigned.start)) } else { None };
        }
        let value = evaluate(self.scope, self.code, assigned)?;
        let is_extent =
            is_extent || write.members.last().is_some_and(|member| view.text(member.start).ends_with(b"Dim"));
        let value = if is_extent { Value::Extent(value.extent()) } else { value };
        self.component(value, write.members.len())
    }

    /// The axis that a write of one member of an extent sets.
    fn axis_of(&self, write: &Write) -> Option<usize> {
        if write.members.len() != self.members.len() + 1 {
            return None;
        }
        axis(self.code.view.text(write.members.last()?.start))
    }
}

/// Values of one variable that are looked at one by one.
const MAX_ELEMENTS: usize = 8;

/// What a parameter of a lambda that a variable holds stands for in one of its calls.
fn lambda_argument(scope: &Scope, code: &Code, declared: usize) -> Option<Range<usize>> {
    let view = &code.view;
    let open = view.bracket_round(declared).filter(|open| view.byte(*open, b'(') && view.is(open - 1, b"]"))?;
    let captures = view.opener(open - 1);
    let name = captures.checked_sub(2).filter(|_| view.is(captures - 1, b"="))?;
    let position = view.split_at_commas(view.inside(open)).iter().position(|piece| piece.contains(&declared))?;
    let uses = code.uses(view.identifier(name)?, name + 1..code.body.end);
    let calls: Vec<usize> = uses.iter().copied().filter(|at| view.byte(at + 1, b'(')).collect();
    // Handed on, it may be called with anything.
    if calls.len() != uses.len() || calls.len() > MAX_ELEMENTS {
        return None;
    }
    let call = *calls.get(one_of(scope, code, name, calls.len())?)?;
    view.split_at_commas(view.inside(call + 1)).get(position).cloned()
}

/// One element of the list that a `for (int threads : {64, 128})` goes through.
fn element(scope: &Scope, code: &Code, declared: usize) -> Option<Range<usize>> {
    let view = &code.view;
    let open = view.bracket_round(declared).filter(|open| view.is(open.wrapping_sub(1), b"for"))?;
    let over = declared + 2..view.inside(open).end;
    let list = match over.len() {
        _ if !view.byte(declared + 1, b':') => return None,
        1 => {
            let array = declaration(code, view.identifier(over.start)?, over.start)?;
            let written = code.uses(view.text(over.start), array + 1..code.body.end);
            if written.iter().any(|at| !view.byte(at + 1, b')') || !view.byte(at - 1, b':')) {
                return None;
            }
            (array..code.body.end).find(|at| matches!(view.text(*at), b"{" | b";"))?
        }
        _ => over.start,
    };
    if !view.byte(list, b'{') {
        return None;
    }
    let elements = view.split_at_commas(view.inside(list));
    let count = Some(elements.len()).filter(|count| *count <= MAX_ELEMENTS)?;
    elements.get(one_of(scope, code, declared, count)?).cloned()
}

fn axis(member: &[u8]) -> Option<usize> {
    match member {
        b"x" => Some(0),
        b"y" => Some(1),
        b"z" => Some(2),
        _ => None,
    }
}

/// The declaration that a name at `at` means: the last one before it whose scope is still open.
fn declaration(code: &Code, name: &[u8], at: usize) -> Option<usize> {
    let (view, body) = (&code.view, &code.body);
    let mut before = code.uses(name, body.start..at.min(body.end)).iter().rev();
    before.find(|found| is_declarator(view, **found) && scope_end(view, **found, body.end) > at).copied()
}

fn is_declarator(view: &View, at: usize) -> bool {
    if !matches!(view.text(at + 1), b"=" | b";" | b"," | b"(" | b"{" | b"[" | b")" | b":") {
        return false;
    }
    let start = statement_start(view, at);
    if start >= at || view.identifier(start).is_none() || is_statement_word(view.text(start)) {
        return false;
    }
    let before = view.text(at - 1);
    match before {
        b"*" | b"&" | b"&&" | b">" => is_type(view, start..at),
        b"," => {
            // A later declarator of a list: the first one is a declarator, and no bracket opens in between.
            let first = (start..at)
                .find(|first| view.identifier(*first).is_some() && first + 1 < at && ends_type(view, start..*first));
            first.is_some() && view.bracket_round(at) == view.bracket_round(start)
        }
        _ => view.identifier(at - 1).is_some() && is_type(view, start..at),
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
        at = if view.is(at, b"<") { view.behind_angle(at).unwrap_or(range.end + 1) } else { at + 1 };
    }
    at == range.end
}

fn is_statement_word(word: &[u8]) -> bool {
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

/// The first token of the statement, or of the part of a `for` header, that a token stands in.
pub(super) fn statement_start(view: &View, at: usize) -> usize {
    let mut at = at;
    while let Some(before) = at.checked_sub(1) {
        match view.text(before) {
            b";" | b"{" | b"(" | b"[" => return at,
            b"}" => {
                // A closed block ends a statement; an initialiser's braces do not.
                let opener = view.opener(before);
                if matches!(view.text(opener.wrapping_sub(1)), b"=" | b"," | b"(")
                    || opener > 0
                        && view.identifier(opener - 1).is_some()
                        && !matches!(view.text(opener - 1), b"else" | b"do" | b"try")
                {
                    at = opener;
                    continue;
                }
                return at;
            }
            b":" if view.text(before.wrapping_sub(2)) == b"case"
                || view.is(before.wrapping_sub(1), b"default")
                || is_case(view, before) =>
            {
                return at;
            }
            b")" | b"]" => {
                let opener = view.opener(before);
                // `if (x) y = 1;`: the statement in an `if` is its own.
                if view.byte(before, b')')
                    && matches!(view.text(opener.wrapping_sub(1)), b"if" | b"for" | b"while" | b"switch")
                {
                    return at;
                }
                if opener >= before {
                    return at;
                }
                at = opener;
                continue;
            }
            b"else" | b"do" => return at,
            _ => {}
        }
        at = before;
    }
    at
}

/// Where the scope of what is declared at `at` ends.
fn scope_end(view: &View, at: usize, body_end: usize) -> usize {
    let Some(open) = view.bracket_round(at) else { return body_end };
    if view.byte(open, b'(') {
        if view.is(open.wrapping_sub(1), b"]") {
            // A lambda's parameter.
            let body = (view.behind(open)..body_end).find(|at| matches!(view.text(*at), b"{" | b";"));
            return body.filter(|body| view.byte(*body, b'{')).map_or(open, |body| view.behind(body));
        }
        if !matches!(view.text(open.wrapping_sub(1)), b"for" | b"if" | b"while" | b"switch") {
            return open;
        }
        let next = view.behind(open);
        return if view.byte(next, b'{') { view.behind(next) } else { statement_end(view, next) };
    }
    view.inside(open).end
}

/// Whether a `:` ends a label of a switch.
pub(super) fn is_label(view: &View, colon: usize) -> bool {
    view.byte(colon, b':') && (view.is(colon.wrapping_sub(1), b"default") || is_case(view, colon))
}

/// `case Kind::Small:`, `case 2 * N:`
fn is_case(view: &View, colon: usize) -> bool {
    let mut before = (0..colon).rev().take(16);
    before
        .find(|at| matches!(view.text(*at), b"case" | b";" | b"{" | b"}" | b"?"))
        .is_some_and(|at| view.is(at, b"case"))
}

fn statement_end(view: &View, from: usize) -> usize {
    let mut at = from;
    while at < view.len() && !view.byte(at, b';') && !view.byte(at, b'}') {
        at = if view.is_open_bracket(at) { view.behind(at).max(at + 1) } else { at + 1 };
    }
    at + 1
}

enum Initialiser {
    None,
    /// Behind `=`.
    Expression(Range<usize>),
    /// Inside `(..)` or `{..}`.
    Arguments(Range<usize>),
    Other,
}

fn initialiser(view: &View, declared: usize) -> Initialiser {
    match view.text(declared + 1) {
        b"=" => {
            let start = declared + 2;
            let mut at = start;
            while at < view.len() && !matches!(view.text(at), b";" | b"," | b")" | b"}") {
                at = view.step(at);
            }
            Initialiser::Expression(start..at)
        }
        b"(" | b"{" => Initialiser::Arguments(view.inside(declared + 1)),
        b";" | b"," => Initialiser::None,
        _ => Initialiser::Other,
    }
}

/// The write that an occurrence of a variable is, if it is one.
fn write(code: &Code, at: usize) -> Option<Write> {
    let view = &code.view;
    let mut members = Vec::new();
    let mut end = at + 1;
    while view.byte(end, b'.') && view.identifier(end + 1).is_some() && !view.byte(end + 2, b'(') {
        members.push(end + 1..end + 2);
        end += 2;
    }
    let unknown = |members| Some(Write { at, members, value: None });
    match view.text(end) {
        b"=" => {
            let start = end + 1;
            let stop = statement_end(view, start) - 1;
            let inside = view.bracket_round(at).is_some_and(|open| !view.byte(open, b'{'));
            return Some(Write { at, members, value: (!inside).then_some(start..stop) });
        }
        b"+=" | b"-=" | b"*=" | b"/=" | b"%=" | b"<<=" | b">>=" | b"&=" | b"|=" | b"^=" | b"++" | b"--" => {
            return unknown(members);
        }
        _ => {}
    }
    let before = view.text(at - 1);
    match before {
        b"++" | b"--" | b">>" if before != b">>" || is_stream(view, at) => return unknown(members),
        b"&" if !is_operand(view, at - 2) && !is_capture(view, at) => {
            let reads = view.bracket_round(at).and_then(|open| open.checked_sub(1)).map(|callee| view.text(callee));
            let reads = reads.is_some_and(|callee| {
                callee.starts_with(b"cudaLaunchKernelEx") || callee.starts_with(b"hipLaunchKernelEx")
            });
            return if reads { None } else { unknown(members) };
        }
        b"(" | b"," if matches!(view.text(end), b"," | b")") => {
            return if code.passes_by_reference(at) { unknown(members) } else { None };
        }
        _ => {}
    }
    None
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

/// The innermost loop body that holds both places, by its opening brace.
fn loop_round(view: &View, one: usize, other: usize) -> Option<usize> {
    let mut at = one;
    while let Some(open) = view.bracket_round(at) {
        let is_loop = view.byte(open, b'{')
            && (view.is(open.wrapping_sub(1), b"do")
                || view.byte(open.wrapping_sub(1), b')')
                    && matches!(view.text(view.opener(open - 1).wrapping_sub(1)), b"for" | b"while"));
        if is_loop && open < other && view.behind(open) > other {
            return Some(open);
        }
        at = open;
    }
    None
}
