//! A local variable at one place of a function -> the value it must have there.
//!
//! Every write to it is found by its tokens; only those that must have happened count, and any other one that may have
//! happened makes the value unknown.

use super::choices::{Happened, happened};
use super::code::Code;
use super::declarators::{Initialiser, binding, initialiser, is_declarator, pointer};
use super::evaluate::{Number, Value, evaluate, extent};
use super::lambdas;
use super::lists::element;
use super::objects::Layout;
use super::scope::{Frame, Scope};
use super::turns::{self, lambda_parameters};
use super::writes::{Write, comes_again, is_written, may_change, write};
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

/// Whether a parameter may have been written, as a whole or in part, before a place.
pub(super) fn written_parameter(scope: &Scope, code: &Code, name: &[u8], at: usize) -> bool {
    let uses = code.uses(name, code.body.start..at);
    uses.iter().any(|found| write(code, *found).is_some() || is_changed_by_method(scope, code, *found))
}

pub(super) fn is_local(code: &Code, name: &[u8], at: usize) -> bool {
    declaration(code, name, at).is_some()
}

/// The tokens that a local variable stands for at a place: what it was last set to.
pub(super) fn stands_for(scope: &Scope, code: &Code, name: &[u8], at: usize) -> Option<Range<usize>> {
    let declared = declaration(code, name, at)?;
    let mut stands = match initialiser(&code.view, declared) {
        _ if lambda_parameters(&code.view, declared).is_some() => named_by_lambda(scope, code, declared),
        Initialiser::Expression(range) => Some(range),
        _ => None,
    };
    for found in code.writes(name, declared + 1..code.body.end) {
        let Some(write) = write(code, *found) else { continue };
        if write.at > at {
            if comes_again(code, write.at, at).is_some() {
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

/// What a parameter of a lambda stands for, if that is written in the same function.
fn named_by_lambda(scope: &Scope, code: &Code, declared: usize) -> Option<Range<usize>> {
    lambdas::argument(scope, code, declared, |_, other, range| (other.item == code.item).then_some(range))
}

/// The tokens of a local variable's type, and of what it is made of.
pub(super) fn declared_type(code: &Code, declared: usize) -> Option<(Range<usize>, Option<Range<usize>>)> {
    let view = &code.view;
    if binding(view, declared).or_else(|| pointer(view, declared)).is_some() {
        return None;
    }
    let start = match lambda_parameters(view, declared) {
        Some(open) => {
            view.split_at_commas(view.inside(open)).into_iter().find(|piece| piece.contains(&declared))?.start
        }
        None => statement_start(view, declared),
    };
    let mut ty = start..declared;
    if let [first, _, ..] = &view.split_at_commas(ty.clone())[..] {
        // A later one of a list.
        let mut name = view.step(first.start);
        while !(view.identifier(name).is_some()
            && matches!(view.text(name + 1), b"," | b"=" | b"{" | b"(")
            && !view.is(name, b"struct"))
        {
            name = view.step(name);
            if name >= first.end {
                return None;
            }
        }
        ty.end = name;
    }
    let value = match initialiser(view, declared) {
        Initialiser::Expression(range) => Some(range),
        Initialiser::Arguments(range) if view.split_at_commas(range.clone()).len() == 1 => Some(range),
        _ => None,
    };
    Some((ty, value))
}

/// Functions that are handed a variable by one another.
const MAX_DEPTH: u32 = 40;

struct Variable<'a, 's> {
    scope: &'a Scope<'s>,
    code: &'a Code,
    members: &'a [&'a [u8]],
    statement: usize,
    declared: usize,
}

impl Variable<'_, '_> {
    fn value_at(&self, name: &[u8], at: usize) -> Option<Value> {
        let view = &self.code.view;
        let specifiers: Vec<&[u8]> = (self.statement..self.declared).map(|at| view.text(at)).collect();
        let is_const = specifiers.iter().any(|word| matches!(*word, b"const" | b"constexpr"));
        let is_reference = view.is(self.declared - 1, b"&") && binding(view, self.declared).is_none();
        let is_extent = specifiers.iter().any(|word| matches!(*word, b"dim3" | b"uint3"));
        let is_static = specifiers.contains(&&b"static"[..]);
        if is_reference && (!is_const || self.refers_to_changing(at))
            || is_static && !is_const && self.outlives_call(name)
            || !self.members.is_empty() && self.scope.overlaps(self.code, self.statement..self.declared)
        {
            return None;
        }
        let value = self.initial(is_extent);
        if is_const {
            return value;
        }
        if let Some(counted) = turns::counted(self.scope, self.code, self.declared, value, at) {
            return counted;
        }
        self.followed(name, value, at, is_extent)
    }

    /// Whether what a constant reference refers to may have another value at a place.
    fn refers_to_changing(&self, at: usize) -> bool {
        let (code, view) = (self.code, &self.code.view);
        let (Initialiser::Expression(range) | Initialiser::Arguments(range)) = initialiser(view, self.declared) else {
            return false;
        };
        let mut names = range.filter_map(|at| view.identifier(at));
        names.any(|name| may_change(code, name, self.declared, at))
    }

    /// Whether another call, or who is given a reference to it, may find a static variable changed.
    fn outlives_call(&self, name: &[u8]) -> bool {
        let (code, view) = (self.code, &self.code.view);
        let is_given_out = code.result.clone().any(|at| matches!(view.text(at), b"&" | b"*"));
        is_given_out || is_written(code, name, self.declared + 1..code.body.end)
    }

    /// What becomes of a value by the writes up to a place.
    fn followed(&self, name: &[u8], mut value: Option<Value>, at: usize, is_extent: bool) -> Option<Value> {
        let view = &self.code.view;
        let mut last_sure = self.declared;
        let mut later: Vec<usize> = Vec::new();
        for found in self.code.uses(name, self.declared + 1..self.code.body.end) {
            let Some(write) = write(self.code, *found).or_else(|| self.write_of_object(*found)) else { continue };
            if !self.concerns(&write) || self.is_another(name, *found) {
                continue;
            }
            // What stands in `threads = (threads + 31) / 32 * 32` is read before it is written.
            if write.at >= at || write.value.as_ref().is_some_and(|value| value.contains(&at)) {
                later.push(write.at);
                continue;
            }
            // An argument is written when the call is made.
            let call = view.bracket_round(write.at).filter(|_| write.is_argument);
            match happened(self.scope, self.code, call.map_or(write.at, |open| open - 1), at) {
                Happened::Surely => {
                    last_sure = write.at;
                    value = match write.is_argument {
                        true => self.filled(value, write.at, is_extent),
                        false => self.written(value, &write, is_extent),
                    };
                }
                Happened::Not => {}
                Happened::Unless { start, end } => value = self.limited(name, value, start..end),
                Happened::Perhaps => {
                    let turned = || turns::turned(self.scope, self.code, write.at, write.value.clone(), value, at);
                    let is_plain = self.members.is_empty() && !is_extent;
                    value = is_plain.then(turned).flatten().or_else(|| self.forget(value, &write));
                }
            }
        }
        // A write further down comes before this place again if a loop goes round both.
        let comes_back =
            later.iter().any(|later| comes_again(self.code, *later, at).is_some_and(|start| start > last_sure));
        if comes_back { None } else { value }
    }

    /// Whether a name means a variable that is declared further in.
    fn is_another(&self, name: &[u8], at: usize) -> bool {
        is_declarator(&self.code.view, at)
            || declaration(self.code, name, at).is_some_and(|meant| meant > self.declared)
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

    /// What a call does to an object that is none of the writes of a plain variable.
    fn write_of_object(&self, at: usize) -> Option<Write> {
        let is_object = !self.members.is_empty();
        let write = |is_argument| Write { at, members: Vec::new(), value: None, is_argument };
        if is_object && is_changed_by_method(self.scope, self.code, at) {
            return Some(write(false));
        }
        let view = &self.code.view;
        let is_argument = matches!(view.text(at - 1), b"(" | b",") && matches!(view.text(at + 1), b"," | b")");
        // A function that is not in view may write what it is given.
        let open = view.bracket_round(at).filter(|_| is_object && is_argument)?;
        let name = open.checked_sub(1).and_then(|name| view.identifier(name))?;
        let is_in_view = |name| !self.scope.work.tree.visible(self.code.file, name).is_empty();
        let is_unseen = std::str::from_utf8(name).is_ok_and(|name| !is_in_view(name));
        (is_unseen && !is_declarator(view, open - 1)).then(|| write(true))
    }

    /// What a function makes of a variable that it is given by reference or by its address.
    fn filled(&self, value: Option<Value>, at: usize, is_extent: bool) -> Option<Value> {
        if !self.scope.enter(MAX_DEPTH) {
            return None;
        }
        let value = self.filled_inside(value, at, is_extent);
        self.scope.leave();
        value
    }

    fn filled_inside(&self, value: Option<Value>, at: usize, is_extent: bool) -> Option<Value> {
        let view = &self.code.view;
        let open = view.bracket_round(at)?;
        let arguments = view.split_at_commas(view.inside(open));
        let position = arguments.iter().position(|argument| argument.contains(&at))?;
        let behind = view.behind(open);
        if view.is(open.checked_sub(1)?, b"tie") && view.byte(behind, b'=') {
            // `std::tie(grid, block) = shape(n);`
            let part = self.scope.part(self.code, behind + 1..statement_end(view, behind + 1) - 1, position)?;
            return self.component(if is_extent { Value::Extent(part.extent()) } else { part }, 0);
        }
        let called = self.scope.called(self.code, open.checked_sub(1)?, arguments.len() as u32)?;
        let param = called.params.get(position)?;
        let is_pointer = param.ty.clone().any(|at| called.view.byte(at, b'*'));
        let param = param.name.clone();
        let uses = called.uses(param.as_bytes(), called.body.clone());
        // As a pointer handed on, or behind a way out, it may be anything.
        let is_followed = |at: &usize| match called.view.text(at + 1) {
            b"." | b"->" => !called.view.byte(at + 3, b'('),
            text if is_pointer => called.view.byte(at - 1, b'*') && text == b"=",
            _ => true,
        };
        let leaves = |at: usize| called.view.is(at, b"return") && statement_end(&called.view, at) < called.body.end;
        let is_object = !self.members.is_empty() || is_extent;
        if called.body.clone().any(leaves)
            || !uses.iter().all(is_followed)
            || is_object && uses.iter().any(|at| is_changed_by_method(self.scope, &called, *at))
        {
            return None;
        }
        // What is asked for inside is what the other arguments say; the object itself is not known there.
        let mut frame: Frame = self.scope.frame_of(self.code, &called, &arguments);
        frame.params.remove(&param);
        let scope = Scope { work: self.scope.work, frame: &frame };
        let start = called.body.start - 1;
        let inside =
            Variable { scope: &scope, code: &called, members: self.members, statement: start, declared: start };
        inside.followed(param.as_bytes(), value, called.body.end, is_extent)
    }

    /// The class that the variable is declared with.
    fn layout(&self) -> Option<Layout> {
        let (ty, _) = declared_type(self.code, self.declared)?;
        self.scope.layout(self.code, ty)
    }

    /// A member of an object, as it is declared.
    fn object(&self) -> Option<Value> {
        let (view, scope, code) = (&self.code.view, self.scope, self.code);
        let names_config = || self.members[0].ends_with(b"Dim").then(Layout::config);
        let layout = || self.layout().or_else(names_config);
        let made = |inside: Range<usize>| scope.aggregate(code, inside, &layout()?, self.members);
        match initialiser(view, self.declared) {
            _ if matches!(view.text(self.declared - 1), b"*" | b"[") => None,
            Initialiser::None => made(self.declared..self.declared),
            Initialiser::Expression(range) if view.byte(range.start, b'{') => made(view.inside(range.start)),
            Initialiser::Arguments(range)
                if view.byte(self.declared + 1, b'(')
                    && view.split_at_commas(range.clone()).len() == 1
                    && !layout().is_some_and(|layout| layout.has_constructor) =>
            {
                scope.member_of(code, range, self.members)
            }
            Initialiser::Arguments(range) => made(range),
            Initialiser::Expression(range) => scope.member_of(code, range, self.members),
            Initialiser::Other => None,
        }
    }

    fn initial(&self, is_extent: bool) -> Option<Value> {
        let view = &self.code.view;
        if let Some(open) = binding(view, self.declared) {
            let names = view.split_at_commas(view.inside(open));
            let position = names.iter().position(|name| name.start == self.declared)?;
            let behind = view.behind(open);
            let whole = match initialiser(view, behind - 1) {
                Initialiser::Expression(range) | Initialiser::Arguments(range) => range,
                _ => return None,
            };
            return self.component(self.scope.part(self.code, whole, position)?, 0);
        }
        if !self.members.is_empty() && !is_extent && lambda_parameters(view, self.declared).is_none() {
            return match element(self.scope, self.code, self.declared) {
                Some(target) => target.value(self.scope, self.members),
                None => self.object(),
            };
        }
        match initialiser(view, self.declared) {
            _ if lambda_parameters(view, self.declared).is_some() => {
                let value = lambdas::argument(self.scope, self.code, self.declared, evaluate)?;
                self.component(if is_extent { Value::Extent(value.extent()) } else { value }, 0)
            }
            Initialiser::None if is_extent => self.component(Value::Extent([Some(Number::ONE); 3]), 0),
            Initialiser::None => None,
            // What an object is converted to, its class says.
            _ if !is_extent && self.scope.names_class(self.code, self.statement..self.declared) => None,
            Initialiser::Expression(range) | Initialiser::Arguments(range) => {
                let value = if is_extent {
                    extent(self.scope, self.code, range)
                } else {
                    evaluate(self.scope, self.code, range)?
                };
                self.component(value, 0)
            }
            Initialiser::Other => {
                let value = element(self.scope, self.code, self.declared)?.value(self.scope, &[])?;
                self.component(if is_extent { Value::Extent(value.extent()) } else { value }, 0)
            }
        }
    }

    /// From a value the component that the members behind `used` name.
    fn component(&self, value: Value, used: usize) -> Option<Value> {
        match (value, self.members.get(used..).unwrap_or_default()) {
            (value, []) => Some(value),
            (Value::Int(_), [b"value"]) => Some(value),
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
            if !view.byte(assigned.start, b'{') {
                return self.scope.member_of(self.code, assigned, self.members);
            }
            let layout = self.layout()?;
            return self.scope.aggregate(self.code, view.inside(assigned.start), &layout, self.members);
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

/// What becomes of a member of an object, or a member of that, in the body of its constructor.
pub(super) fn behind_body(
    scope: &Scope,
    code: &Code,
    (name, members): (&[u8], &[&[u8]]),
    value: Option<Value>,
    is_extent: bool,
) -> Option<Value> {
    let (view, body) = (&code.view, &code.body);
    let uses = code.uses(name, body.clone());
    if !uses.iter().any(|at| write(code, *at).is_some() || is_changed_by_method(scope, code, *at)) {
        return value;
    }
    // Behind a way out it may be either; a local variable of the name hides the member.
    if body.clone().any(|at| view.is(at, b"return")) || uses.iter().any(|at| is_declarator(view, *at)) {
        return None;
    }
    let start = body.start - 1;
    let inside = Variable { scope, code, members, statement: start, declared: start };
    inside.followed(name, value, body.end, is_extent)
}

fn axis(member: &[u8]) -> Option<usize> {
    match member {
        b"x" => Some(0),
        b"y" => Some(1),
        b"z" => Some(2),
        _ => None,
    }
}

/// `object.resize(128)`: the method may change the object.
fn is_changed_by_method(scope: &Scope, code: &Code, at: usize) -> bool {
    let view = &code.view;
    matches!(view.text(at + 1), b"." | b"->")
        && view.byte(at + 3, b'(')
        && !view.is(at + 4, b"\"<<<\"")
        && view.identifier(at + 2).is_some_and(|method| !scope.only_reads(code, method))
}

/// The declaration that a name at `at` means: the last one before it whose scope is still open.
pub(super) fn declaration(code: &Code, name: &[u8], at: usize) -> Option<usize> {
    let all = code.declarations(name);
    let before = all.get(..all.partition_point(|(declared, _)| *declared < at)).unwrap_or_default();
    before.iter().rev().find(|(_, end)| *end > at).map(|(declared, _)| *declared)
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
pub(super) fn scope_end(view: &View, at: usize, body_end: usize) -> usize {
    let declared = binding(view, at).or_else(|| pointer(view, at)).unwrap_or(at);
    let Some(open) = view.bracket_round(declared) else {
        return body_end;
    };
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
    // What looks like a declaration and has no end is a product in a list: `{n * width, width}`.
    let end = view.inside(open).end;
    let mut behind = declared;
    while behind < end && !view.byte(behind, b';') {
        behind = view.step(behind);
    }
    if behind < end { end } else { open }
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

pub(super) fn statement_end(view: &View, from: usize) -> usize {
    let mut at = from;
    while at < view.len() && !view.byte(at, b';') && !view.byte(at, b'}') {
        at = if view.is_open_bracket(at) { view.behind(at).max(at + 1) } else { at + 1 };
    }
    at + 1
}
