//! Constant expressions by their tokens -> numbers and extents.
//!
//! Whatever it does not understand is unknown; a known value is right unless a name means something else than it seems to.

use super::choices;
use super::code::{Code, behind_suffix};
use super::lists;
use super::locals::{declaration, declared_type, is_local, stands_for};
use super::scope::{Scope, Segment};
use crate::source::items::View;
use crate::source::lexer::TokenKind;
use std::borrow::Cow;
use std::ops::Range;

/// Operators, calls and names nested deeper than this are given up.
const MAX_DEPTH: u32 = 48;

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Int(i64),
    /// No more than this.
    AtMost(i64),
    /// A `dim3`; extents that are not known are none.
    Extent([Option<Number>; 3]),
}

/// A number, or what one that is not known does not exceed.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Number {
    pub value: i64,
    pub exact: bool,
}

impl Number {
    pub const ONE: Number = Number { value: 1, exact: true };
}

impl From<Number> for Value {
    fn from(number: Number) -> Value {
        if number.exact { Value::Int(number.value) } else { Value::AtMost(number.value) }
    }
}

impl Value {
    pub fn int(self) -> Option<i64> {
        match self {
            Value::Int(value) => Some(value),
            Value::AtMost(_) | Value::Extent(_) => None,
        }
    }

    pub fn number(self) -> Option<Number> {
        match self {
            Value::Int(value) => Some(Number { value, exact: true }),
            Value::AtMost(value) => Some(Number { value, exact: false }),
            Value::Extent(_) => None,
        }
    }

    /// A number where an extent is wanted is one in x.
    pub fn extent(self) -> [Option<Number>; 3] {
        match self {
            Value::Extent(extent) => extent,
            number => [number.number(), Some(Number::ONE), Some(Number::ONE)],
        }
    }

    /// Whether it may be what is claimed of it.
    pub fn fits(self, claim: Value) -> bool {
        match (self, claim) {
            (Value::Int(value), Value::AtMost(limit)) => value <= limit,
            (Value::AtMost(limit), Value::Int(value)) => value <= limit,
            (Value::AtMost(_), Value::AtMost(_)) => true,
            (value, claim) => value == claim,
        }
    }

    /// The lesser of two values, of which one may be anything.
    pub fn least(left: Option<Value>, right: Option<Value>) -> Option<Value> {
        match (left.and_then(Value::number), right.and_then(Value::number)) {
            (Some(a), Some(b)) => Some(Number { value: a.value.min(b.value), exact: a.exact && b.exact }.into()),
            (Some(one), None) | (None, Some(one)) => Some(Value::AtMost(one.value)),
            (None, None) => None,
        }
    }
}

/// The value of `range` in a function's text.
pub(super) fn evaluate(scope: &Scope, code: &Code, range: Range<usize>) -> Option<Value> {
    if !scope.enter(MAX_DEPTH) {
        return None;
    }
    let mut parser = Parser { scope, code, at: range.start, end: range.end };
    let value = parser.conditional().filter(|_| parser.at >= parser.end);
    scope.leave();
    value
}

struct Parser<'a, 's> {
    scope: &'a Scope<'s>,
    code: &'a Code,
    at: usize,
    end: usize,
}

impl Parser<'_, '_> {
    fn text(&self) -> &[u8] {
        if self.at < self.end { self.code.view.text(self.at) } else { b"" }
    }

    fn conditional(&mut self) -> Option<Value> {
        let start = self.at;
        let condition = self.binary(0);
        if self.text() != b"?" {
            return condition;
        }
        let (view, question, end) = (&self.code.view, self.at, self.end);
        let colon = colon_behind(view, question + 1, end)?;
        self.at = end;
        let (yes, no) = (question + 1..colon, colon + 1..end);
        let value = |range: Range<usize>| evaluate(self.scope, self.code, range);
        let taken = match condition.and_then(Value::int) {
            Some(known) => Some(known != 0),
            None => {
                if let Some(is_least) = picks_least(view, start..question, &yes, &no) {
                    return if is_least { Value::least(value(yes), value(no)) } else { None };
                }
                choices::chosen(self.scope, self.code, start..question)
            }
        };
        match taken {
            Some(true) => value(yes),
            Some(false) => value(no),
            // With equal arms it does not matter.
            None => value(yes).filter(|yes| value(no) == Some(*yes)),
        }
    }

    fn binary(&mut self, weakest: u8) -> Option<Value> {
        let mut left = self.unary();
        loop {
            let Some((strength, operator)) = operator(self.text()) else { return left };
            if strength < weakest || self.at >= self.end {
                return left;
            }
            let grows = matches!(self.text(), b"+" | b"-" | b"*" | b"/" | b">>");
            self.at += 1;
            let right = self.binary(strength + 1);
            left = match (left, right) {
                (Some(Value::Int(left)), Some(Value::Int(right))) => operator(left, right).map(Value::Int),
                // What grows with its left side grows with its limit.
                (Some(Value::AtMost(left)), Some(Value::Int(right))) if right > 0 && grows => {
                    operator(left, right).map(Value::AtMost)
                }
                _ => None,
            };
        }
    }

    fn unary(&mut self) -> Option<Value> {
        let mut signs = Vec::new();
        while let sign @ (b"-" | b"+" | b"!" | b"~") = self.text() {
            signs.push(sign[0]);
            self.at += 1;
        }
        let mut value = self.postfix();
        for sign in signs.iter().rev() {
            value = value.and_then(Value::int).and_then(|value| {
                Some(Value::Int(match sign {
                    b'-' => value.checked_neg()?,
                    b'!' => i64::from(value == 0),
                    b'~' => !value,
                    _ => value,
                }))
            });
        }
        value
    }

    fn postfix(&mut self) -> Option<Value> {
        let mut value = self.primary();
        while self.text() == b"." {
            let axis = match self.code.view.text(self.at + 1) {
                b"x" => 0,
                b"y" => 1,
                b"z" => 2,
                _ => usize::MAX,
            };
            self.at += 2;
            value = match value {
                Some(Value::Extent(extent)) if axis < 3 => extent[axis].map(Value::from),
                _ => None,
            };
        }
        value
    }

    fn primary(&mut self) -> Option<Value> {
        let view = &self.code.view;
        if self.at >= self.end {
            return None;
        }
        match view.kind(self.at)? {
            TokenKind::Number => {
                let value = integer(view.text(self.at));
                self.at += 1;
                value.map(Value::Int)
            }
            TokenKind::Identifier => self.name(),
            TokenKind::Punctuator if view.byte(self.at, b'(') => {
                let inside = view.inside(self.at);
                let behind = view.behind(self.at);
                let is_cast = behind < self.end
                    && !inside.is_empty()
                    && inside.clone().all(|at| is_type_word(view.text(at)))
                    && !matches!(view.kind(behind), Some(TokenKind::Punctuator) if !view.byte(behind, b'('));
                self.at = behind;
                if is_cast {
                    return self.deeper(Self::unary);
                }
                evaluate(self.scope, self.code, inside)
            }
            TokenKind::Punctuator if view.byte(self.at, b'[') => {
                // `[&] { return 128; }()`
                let lambda = self.code.lambdas.iter().find(|lambda| lambda.start == self.at)?;
                let (body, end) = (view.inside(view.opener(lambda.end - 1)), lambda.end);
                self.at = if view.byte(end, b'(') { view.behind(end) } else { self.end };
                let is_called = view.byte(end, b'(') && self.scope.enter(MAX_DEPTH);
                let value = is_called.then(|| self.scope.result_in(self.code, body, evaluate)).flatten();
                if is_called {
                    self.scope.leave();
                }
                value
            }
            TokenKind::Punctuator if view.byte(self.at, b'*') => {
                // `*threads` of a `std::optional<int>`
                self.at += 1;
                let is_told = view.identifier(self.at).is_some() && is_optional(self.code, self.at);
                let value = self.deeper(Self::unary);
                value.filter(|_| is_told)
            }
            TokenKind::Punctuator if view.byte(self.at, b'{') => {
                let inside = view.inside(self.at);
                self.at = view.behind(self.at);
                Some(self.extent(inside))
            }
            _ => None,
        }
    }

    /// A name, possibly qualified, called, or with members.
    fn name(&mut self) -> Option<Value> {
        let view = &self.code.view;
        let first = self.at;
        if view.is(first, b"typename") {
            self.at += 1;
            return self.deeper(Self::name);
        }
        if view.is(first, b"decltype") && view.byte(first + 1, b'(') {
            // `decltype(size)::value` of an integral constant
            let behind = view.behind(first + 1);
            let is_value = view.is(behind, b"::") && view.is(behind + 1, b"value") && behind + 1 < self.end;
            self.at = if is_value { behind + 2 } else { self.end };
            return evaluate(self.scope, self.code, view.inside(first + 1)).filter(|_| is_value);
        }
        // Most names are one segment: that takes no memory of its own.
        let mut only: [Segment; 1] = [(self.at, None)];
        let mut several: Vec<Segment> = Vec::new();
        self.at += 1;
        loop {
            let last = self.at - 1;
            if view.is(self.at, b"<")
                && self.at < self.end
                && let Some(behind) = view.behind_angle(self.at)
                && behind <= self.end
                && (matches!(view.text(behind), b"(" | b"{" | b"::")
                    || self.scope.is_variable_template(self.code, last))
            {
                several.last_mut().unwrap_or(&mut only[0]).1 = Some(self.at + 1..behind - 1);
                self.at = behind;
            }
            if view.is(self.at, b"::") && self.at < self.end && view.identifier(self.at + 1).is_some() {
                if several.is_empty() {
                    several.push(only[0].clone());
                }
                several.push((self.at + 1, None));
                self.at += 2;
                continue;
            }
            break;
        }
        let path = if several.is_empty() { &only[..] } else { &several[..] };
        let last = path.last().map_or(first, |last| last.0);
        let word = view.text(last);
        if self.at < self.end && (view.byte(self.at, b'(') || view.byte(self.at, b'{')) {
            let inside = view.inside(self.at);
            self.at = view.behind(self.at);
            return self.call(path, word, inside);
        }
        if is_type_word(word) && view.kind(self.at) == Some(TokenKind::Identifier) {
            // `unsigned int(x)`
            return self.deeper(Self::name);
        }
        match word {
            b"true" => return Some(Value::Int(1)),
            b"false" | b"nullptr" => return Some(Value::Int(0)),
            b"warpSize" => return Some(Value::Int(32)),
            b"sizeof" => {
                // `sizeof sizes / sizeof sizes[0]`
                let start = self.at;
                while view.byte(self.at, b'*') {
                    self.at += 1;
                }
                self.at = behind_suffix(view, self.at + 1, self.end);
                return self.scope.size(self.code, start..self.at).map(Value::Int);
            }
            _ => {}
        }
        if let [(object, None)] = path[..]
            && self.at + 2 < self.end
            && view.byte(self.at, b'.')
            && view.byte(self.at + 2, b'(')
        {
            let (method, open) = (self.at + 1, self.at + 2);
            self.at = view.behind(open);
            if matches!(view.text(method), b"value" | b"value_or") && is_optional(self.code, object) {
                return self.scope.name(self.code, path, &[], object);
            }
            return self.scope.method(self.code, object, method, &view.split_at_commas(view.inside(open)));
        }
        if self.at < self.end && view.byte(self.at, b'[') {
            let end = behind_suffix(view, self.at, self.end);
            let suffix = self.at..end;
            self.at = end;
            return lists::value(self.scope, self.code, last, suffix);
        }
        let mut members = Vec::new();
        while self.at + 1 < self.end
            && (view.byte(self.at, b'.') || view.is(self.at, b"->"))
            && view.identifier(self.at + 1).is_some()
            && !view.byte(self.at + 2, b'(')
        {
            members.push(self.at + 1);
            self.at += 2;
        }
        self.scope.name(self.code, path, &members, first)
    }

    fn call(&mut self, path: &[Segment], word: &[u8], inside: Range<usize>) -> Option<Value> {
        let view = &self.code.view;
        match word {
            b"dim3" | b"uint3" => return Some(self.extent(inside)),
            b"static_cast" | b"reinterpret_cast" | b"const_cast" => return evaluate(self.scope, self.code, inside),
            b"true_type" if inside.is_empty() => return Some(Value::Int(1)),
            b"false_type" if inside.is_empty() => return Some(Value::Int(0)),
            b"sizeof" | b"alignof" => return self.scope.size(self.code, inside).map(Value::Int),
            word if is_type_word(word) => return evaluate(self.scope, self.code, inside),
            _ => {}
        }
        if inside.is_empty() {
            match (constant_of(self.code, path, word), path) {
                (Some(constant), _) => return evaluate(self.scope, self.code, constant),
                // An integral constant is called for its value.
                (None, [(name, None)]) if is_local(self.code, word, *name) => {
                    return self.scope.name(self.code, path, &[], *name);
                }
                _ => {}
            }
        }
        let arguments = view.split_at_commas(inside);
        let value = |range: &Range<usize>| evaluate(self.scope, self.code, range.clone());
        match (word, arguments.as_slice()) {
            (b"min" | b"max", [list]) if view.byte(list.start, b'{') => {
                return extreme(word, view.split_at_commas(view.inside(list.start)).iter().map(value));
            }
            (b"min" | b"max", [_, _]) => return extreme(word, arguments.iter().map(value)),
            (b"clamp", [of, low, high]) => {
                let (low, high) = (value(low)?.int()?, value(high));
                return match Value::least(value(of), high)? {
                    Value::AtMost(limit) if limit <= low => Some(Value::Int(low)),
                    Value::Int(number) => Some(Value::Int(number.max(low))),
                    other => Some(other),
                };
            }
            (b"size", [of]) => return self.scope.length(self.code, of.clone()).map(Value::Int),
            // `std::get<1>(shape)`
            (b"get", [of]) if of.len() == 1 => {
                let index = value(&path.last()?.1.clone()?)?.int()?;
                let whole = stands_for(self.scope, self.code, view.identifier(of.start)?, of.start)?;
                return self.scope.part(self.code, whole, usize::try_from(index).ok()?);
            }
            _ => {}
        }
        self.scope.call(self.code, path, &arguments)
    }

    fn deeper(&mut self, read: impl Fn(&mut Self) -> Option<Value>) -> Option<Value> {
        if !self.scope.enter(MAX_DEPTH) {
            self.at = self.end;
            return None;
        }
        let value = read(self);
        self.scope.leave();
        value
    }

    fn extent(&self, inside: Range<usize>) -> Value {
        let pieces = self.code.view.split_at_commas(inside);
        // `dim3(other)`
        if let [only] = pieces.as_slice()
            && let Some(value) = evaluate(self.scope, self.code, only.clone())
        {
            return Value::Extent(value.extent());
        }
        let mut extent = [Some(Number::ONE); 3];
        for (axis, piece) in pieces.into_iter().enumerate().take(3) {
            extent[axis] = evaluate(self.scope, self.code, piece).and_then(Value::number);
        }
        Value::Extent(extent)
    }
}

/// The least, or the greatest, of some values.
fn extreme(word: &[u8], values: impl Iterator<Item = Option<Value>>) -> Option<Value> {
    if word == b"min" {
        return values.reduce(Value::least).flatten();
    }
    let all: Option<Vec<i64>> = values.map(|value| value?.int()).collect();
    all?.into_iter().max().map(Value::Int)
}

/// Whether a name is that of a variable or parameter that may hold a number, or none.
fn is_optional(code: &Code, name: usize) -> bool {
    let view = &code.view;
    let word = view.text(name);
    let ty = match declaration(code, word, name) {
        Some(declared) => declared_type(code, declared).map(|(ty, _)| ty),
        None => code.params.iter().find(|param| param.name.as_bytes() == word).map(|param| param.ty.clone()),
    };
    ty.is_some_and(|mut ty| ty.any(|at| view.is(at, b"optional")))
}

/// What `dim3` makes of its arguments.
pub(super) fn extent(scope: &Scope, code: &Code, arguments: Range<usize>) -> Value {
    let pieces = code.view.split_at_commas(arguments);
    if let [only] = pieces.as_slice() {
        let value = evaluate(scope, code, only.clone());
        return Value::Extent(value.map_or([None; 3], Value::extent));
    }
    let mut extent = [Some(Number::ONE); 3];
    for (axis, piece) in pieces.into_iter().enumerate().take(3) {
        extent[axis] = evaluate(scope, code, piece).and_then(Value::number);
    }
    Value::Extent(extent)
}

/// The value among the template arguments of a class each object of which is one: `std::integral_constant<int, 128>{}`.
fn constant_of(code: &Code, path: &[Segment], word: &[u8]) -> Option<Range<usize>> {
    let position = match word {
        b"integral_constant" => 1,
        b"bool_constant" | b"Int" => 0,
        _ => return None,
    };
    code.view.split_at_commas(path.last()?.1.clone()?).get(position).cloned()
}

/// The `?` of a conditional that an expression is.
pub(super) fn question_in(view: &View, range: Range<usize>) -> Option<usize> {
    let mut at = range.start;
    while at < range.end {
        if view.byte(at, b'?') {
            return Some(at);
        }
        at = view.step(at);
    }
    None
}

/// The `:` that belongs to a `?` before `from`.
pub(super) fn colon_behind(view: &View, from: usize, end: usize) -> Option<usize> {
    let mut nested = 0;
    let mut at = from;
    while at < end {
        match view.text(at) {
            b"?" => nested += 1,
            b":" if nested == 0 => return Some(at),
            b":" => nested -= 1,
            _ => {}
        }
        at = if view.is_open_bracket(at) { view.behind(at) } else { at + 1 };
    }
    None
}

/// Whether `a < b ? a : b` picks the lesser, or the greater; none if it is something else.
fn picks_least(view: &View, condition: Range<usize>, yes: &Range<usize>, no: &Range<usize>) -> Option<bool> {
    let mut condition = condition;
    while view.byte(condition.start, b'(') && view.behind(condition.start) == condition.end {
        condition = view.inside(condition.start);
    }
    let at = condition.clone().find(|at| matches!(view.text(*at), b"<" | b"<=" | b">" | b">="))?;
    let is_less = view.byte(at, b'<') || view.is(at, b"<=");
    let spelled = |range: Range<usize>| view.spelled(range);
    let sides = (spelled(condition.start..at), spelled(at + 1..condition.end));
    let arms = (spelled(yes.clone()), spelled(no.clone()));
    let swapped = (sides.1.clone(), sides.0.clone());
    match arms {
        arms if arms == sides => Some(is_less),
        arms if arms == swapped => Some(!is_less),
        _ => None,
    }
}

pub(super) type Operator = fn(i64, i64) -> Option<i64>;

pub(super) fn operator(text: &[u8]) -> Option<(u8, Operator)> {
    let operator: (u8, Operator) = match text {
        b"||" => (1, |a, b| Some(i64::from(a != 0 || b != 0))),
        b"&&" => (2, |a, b| Some(i64::from(a != 0 && b != 0))),
        b"|" => (3, |a, b| Some(a | b)),
        b"^" => (4, |a, b| Some(a ^ b)),
        b"&" => (5, |a, b| Some(a & b)),
        b"==" => (6, |a, b| Some(i64::from(a == b))),
        b"!=" => (6, |a, b| Some(i64::from(a != b))),
        b"<" => (7, |a, b| Some(i64::from(a < b))),
        b">" => (7, |a, b| Some(i64::from(a > b))),
        b"<=" => (7, |a, b| Some(i64::from(a <= b))),
        b">=" => (7, |a, b| Some(i64::from(a >= b))),
        b"<<" => (8, |a, b| u32::try_from(b).ok().filter(|b| *b < 62).and_then(|b| a.checked_mul(1 << b))),
        b">>" => (8, |a, b| u32::try_from(b).ok().filter(|b| *b < 63).map(|b| a >> b)),
        b"+" => (9, i64::checked_add),
        b"-" => (9, i64::checked_sub),
        b"*" => (10, i64::checked_mul),
        b"/" => (10, i64::checked_div),
        b"%" => (10, i64::checked_rem),
        _ => return None,
    };
    Some(operator)
}

pub(super) fn is_type_word(word: &[u8]) -> bool {
    matches!(
        word,
        b"int"
            | b"unsigned"
            | b"signed"
            | b"long"
            | b"short"
            | b"char"
            | b"bool"
            | b"size_t"
            | b"const"
            | b"std"
            | b"::"
            | b"uint"
            | b"ulong"
            | b"int32_t"
            | b"uint32_t"
            | b"int64_t"
            | b"uint64_t"
            | b"int16_t"
            | b"uint16_t"
            | b"uint8_t"
            | b"int8_t"
            | b"ptrdiff_t"
            | b"intptr_t"
            | b"dim3"
    )
}

/// Sizes that are the same on every platform CUDA runs on.
pub(super) fn size_of(ty: &str) -> Option<i64> {
    let ty = ty.trim();
    if ty.ends_with('*') {
        return Some(8);
    }
    Some(match ty {
        "char" | "bool" | "unsigned char" | "int8_t" | "uint8_t" => 1,
        "short" | "unsigned short" | "int16_t" | "uint16_t" | "half" | "__half" => 2,
        "int" | "unsigned" | "unsigned int" | "float" | "int32_t" | "uint32_t" => 4,
        "double" | "long long" | "unsigned long long" | "int64_t" | "uint64_t" | "size_t" | "float2" | "int2" => 8,
        "float4" | "int4" | "double2" => 16,
        _ => return None,
    })
}

/// An integer literal; one with a point or an exponent is none.
pub(super) fn integer(text: &[u8]) -> Option<i64> {
    let plain: Cow<[u8]> = match text.contains(&b'\'') {
        true => text.iter().copied().filter(|byte| *byte != b'\'').collect(),
        false => text.into(),
    };
    let (digits, radix) = match &*plain {
        [b'0', b'x' | b'X', digits @ ..] => (digits, 16),
        [b'0', b'b' | b'B', digits @ ..] => (digits, 2),
        [b'0', digits @ ..] if matches!(digits, [b'0'..=b'7', ..]) => (digits, 8),
        digits => (digits, 10),
    };
    let digits = std::str::from_utf8(digits).ok()?.trim_end_matches(['u', 'U', 'l', 'L', 'z', 'Z']);
    i64::from_str_radix(digits, radix).ok()
}
