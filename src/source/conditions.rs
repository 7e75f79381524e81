//! `#if` expressions into true or false, and whether that rests on a name nobody has spoken of.
//!
//! What is no macro is 0, as the standard says. An expression that cannot be read is false and uncertain.

use super::expand::pieces::{Piece, UNCERTAIN};
use super::expand::replace::{Base, Machine};
use super::expand::unit::{Meaning, Moment, Unit};
use super::index::{self, Files};
use super::lexer::TokenKind;
use crate::text::FileId;
use std::ops::Range;

const MAX_PIECES: usize = 20_000;
const MAX_NESTING: u32 = 100;

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    pub holds: bool,
    /// The same whatever the names that nobody in view defines may be.
    pub certain: bool,
}

/// The value of the expression in `tokens` of `file`, its macros as they are at a moment.
pub fn evaluate(unit: &Unit, file: FileId, tokens: Range<u32>, at: Moment) -> Verdict {
    let mut machine = Machine::new(unit, Base { file, runs: vec![tokens], at: Some(at) }, true);
    let pieces = machine.run(MAX_PIECES);
    let mut parser = Parser { machine: &machine, pieces: &pieces, at: 0, depth: 0, unit, moment: at };
    let value = parser.conditional();
    match value.filter(|_| parser.at == pieces.len()) {
        Some(value) => Verdict { holds: value.bits != 0, certain: value.certain },
        None => Verdict { holds: false, certain: false },
    }
}

/// Whether a word counts as defined.
pub fn defined(unit: &Unit, word: &[u8], at: Moment) -> Verdict {
    if index::is_opaque(word) || QUERIES.contains(&word) {
        return Verdict { holds: true, certain: true };
    }
    match unit.files.macro_name(word).map_or(Meaning::Unknown, |name| unit.meaning(name, at)) {
        Meaning::Defined(_) => Verdict { holds: true, certain: true },
        Meaning::Undefined => Verdict { holds: false, certain: true },
        Meaning::Unknown => Verdict { holds: false, certain: false },
    }
}

const QUERIES: [&[u8]; 6] = [
    b"__has_include",
    b"__has_include_next",
    b"__has_cpp_attribute",
    b"__has_attribute",
    b"__has_builtin",
    b"__COUNTER__",
];

/// `defined X`, `__has_include(..)` and their kin, whose operands are not expanded: the number they stand for.
pub(super) fn operator(machine: &mut Machine, word: &Piece) -> Option<Piece> {
    let text = machine.spelling(word).into_owned();
    match &*text {
        b"defined" => {
            let mut operand = machine.next_raw()?;
            let parenthesised = operand.is_byte(b'(');
            if parenthesised {
                operand = machine.next_raw()?;
            }
            let verdict = defined(machine.unit(), &machine.spelling(&operand), machine.moment());
            if parenthesised {
                machine.next_raw()?;
            }
            Some(number(machine, word, verdict))
        }
        b"__has_include" | b"__has_include_next" => {
            let operand = parenthesised(machine)?;
            let known = has_include(machine.unit().files, &operand);
            Some(number(machine, word, Verdict { holds: known, certain: true }))
        }
        b"__has_cpp_attribute"
        | b"__has_c_attribute"
        | b"__has_attribute"
        | b"__has_builtin"
        | b"__has_feature"
        | b"__has_extension"
        | b"__has_declspec_attribute"
        | b"__is_identifier" => {
            let operand = parenthesised(machine)?;
            let known = text.ends_with(b"cpp_attribute") && STANDARD_ATTRIBUTES.contains(&operand.as_str());
            Some(number(machine, word, Verdict { holds: known, certain: true }))
        }
        _ => None,
    }
}

const STANDARD_ATTRIBUTES: [&str; 8] =
    ["nodiscard", "maybe_unused", "fallthrough", "deprecated", "noreturn", "likely", "unlikely", "no_unique_address"];

/// Whether an include would find something: a file of the run, or what every CUDA compiler has.
pub fn has_include(files: &Files, spelled: &str) -> bool {
    let path = spelled.trim_matches(['<', '>', '"']);
    files.has_file(path) || (spelled.starts_with('<') && is_outside_header(path))
}

/// The C++ library and CUDA's own headers, which stand in no tree.
fn is_outside_header(path: &str) -> bool {
    let in_library = !path.contains('.') && !path.contains('/');
    in_library || path.starts_with("cuda") || path.starts_with("cooperative_groups") || path.starts_with("nv/")
}

/// The text of a parenthesised operand, unexpanded and without blanks. What is no such operand is put back.
fn parenthesised(machine: &mut Machine) -> Option<String> {
    let open = machine.next_raw()?;
    if !open.is_byte(b'(') {
        machine.unread(vec![open]);
        return None;
    }
    let mut text = String::new();
    let mut depth = 0;
    while let Some(piece) = machine.next_raw() {
        if piece.is_byte(b'(') {
            depth += 1;
        } else if piece.is_byte(b')') {
            if depth == 0 {
                break;
            }
            depth -= 1;
        }
        text.push_str(&String::from_utf8_lossy(&machine.spelling(&piece)));
    }
    Some(text)
}

fn number(machine: &mut Machine, word: &Piece, verdict: Verdict) -> Piece {
    let mut piece = machine.invent(if verdict.holds { b"1" } else { b"0" }, TokenKind::Number, word);
    if !verdict.certain {
        piece.flags |= UNCERTAIN;
    }
    piece
}

#[derive(Copy, Clone)]
struct Value {
    bits: i64,
    unsigned: bool,
    certain: bool,
}

impl Value {
    fn truth(holds: bool, certain: bool) -> Value {
        Value { bits: i64::from(holds), unsigned: false, certain }
    }
}

struct Parser<'a, 'u, 'f> {
    machine: &'a Machine<'u, 'f>,
    pieces: &'a [Piece],
    at: usize,
    depth: u32,
    unit: &'a Unit<'f>,
    moment: Moment,
}

impl Parser<'_, '_, '_> {
    fn conditional(&mut self) -> Option<Value> {
        self.depth += 1;
        if self.depth > MAX_NESTING {
            return None;
        }
        let condition = self.binary(1)?;
        let value = if self.take(b"?") {
            let yes = self.conditional()?;
            if !self.take(b":") {
                return None;
            }
            let no = self.conditional()?;
            let chosen = if condition.bits != 0 { yes } else { no };
            Value { certain: chosen.certain && condition.certain, ..chosen }
        } else {
            condition
        };
        self.depth -= 1;
        Some(value)
    }

    fn binary(&mut self, least: u8) -> Option<Value> {
        let mut left = self.unary()?;
        while let Some((operator, strength)) = self.operator().filter(|(_, strength)| *strength >= least) {
            self.at += 1;
            let right = self.binary(strength + 1)?;
            left = apply(operator, left, right)?;
        }
        Some(left)
    }

    fn unary(&mut self) -> Option<Value> {
        self.depth += 1;
        if self.depth > MAX_NESTING {
            return None;
        }
        let piece = *self.pieces.get(self.at)?;
        self.at += 1;
        let text = self.machine.spelling(&piece);
        let value = match (&*text, piece.kind) {
            (b"!" | b"not", _) => {
                let value = self.unary()?;
                Value::truth(value.bits == 0, value.certain)
            }
            (b"-", _) => self.unary().map(|value| Value { bits: value.bits.wrapping_neg(), ..value })?,
            (b"+", _) => self.unary()?,
            (b"~" | b"compl", _) => self.unary().map(|value| Value { bits: !value.bits, ..value })?,
            (b"(", _) => {
                let value = self.conditional()?;
                if !self.take(b")") {
                    return None;
                }
                value
            }
            (digits, TokenKind::Number) => {
                let (bits, unsigned) = integer(digits)?;
                Value { bits, unsigned, certain: piece.flags & UNCERTAIN == 0 }
            }
            (quoted, TokenKind::Character) => Value { bits: character(quoted)?, unsigned: false, certain: true },
            (b"true", _) => Value::truth(true, true),
            (b"false", _) => Value::truth(false, true),
            (_, TokenKind::Identifier) => {
                let meaning = piece.name().map_or(Meaning::Unknown, |name| self.unit.meaning(name, self.moment));
                // What looks like a call of an unknown macro has the value 0 as well.
                self.skip_call();
                Value::truth(false, meaning != Meaning::Unknown)
            }
            _ => return None,
        };
        self.depth -= 1;
        Some(value)
    }

    fn skip_call(&mut self) {
        if !self.pieces.get(self.at).is_some_and(|piece| piece.is_byte(b'(')) {
            return;
        }
        let mut depth = 0;
        let closes = |piece: &Piece| {
            depth += i32::from(piece.is_byte(b'(')) - i32::from(piece.is_byte(b')'));
            depth == 0
        };
        if let Some(length) = self.pieces[self.at..].iter().position(closes) {
            self.at += length + 1;
        }
    }

    fn take(&mut self, text: &[u8]) -> bool {
        let found = self.pieces.get(self.at).is_some_and(|piece| *self.machine.spelling(piece) == *text);
        self.at += usize::from(found);
        found
    }

    /// The binary operator here, and how strongly it binds.
    fn operator(&self) -> Option<(&'static str, u8)> {
        let piece = self.pieces.get(self.at)?;
        let text = self.machine.spelling(piece);
        let found = BINARY.iter().find(|(spelling, ..)| spelling.as_bytes() == &*text)?;
        Some((found.1, found.2))
    }
}

const BINARY: [(&str, &str, u8); 24] = [
    ("||", "||", 1),
    ("or", "||", 1),
    ("&&", "&&", 2),
    ("and", "&&", 2),
    ("|", "|", 3),
    ("bitor", "|", 3),
    ("^", "^", 4),
    ("xor", "^", 4),
    ("&", "&", 5),
    ("bitand", "&", 5),
    ("==", "==", 6),
    ("!=", "!=", 6),
    ("not_eq", "!=", 6),
    ("<", "<", 7),
    ("<=", "<=", 7),
    (">", ">", 7),
    (">=", ">=", 7),
    ("<<", "<<", 9),
    (">>", ">>", 9),
    ("+", "+", 10),
    ("-", "-", 10),
    ("*", "*", 11),
    ("/", "/", 11),
    ("%", "%", 11),
];

fn apply(operator: &str, left: Value, right: Value) -> Option<Value> {
    let certain = left.certain && right.certain;
    let unsigned = left.unsigned || right.unsigned;
    let (a, b) = (left.bits, right.bits);
    let less = |a: i64, b: i64| if unsigned { (a as u64) < (b as u64) } else { a < b };
    let shift = |left_wards: bool| {
        let (left_wards, by) =
            if b < 0 && !right.unsigned { (!left_wards, b.unsigned_abs()) } else { (left_wards, b as u64) };
        let by = by.min(64) as u32;
        match (left_wards, left.unsigned) {
            (true, _) => a.checked_shl(by).unwrap_or(0),
            (false, true) => (a as u64).checked_shr(by).unwrap_or(0) as i64,
            (false, false) => a >> by.min(63),
        }
    };
    let bits = match operator {
        "||" => {
            let decided = (left.certain && a != 0) || (right.certain && b != 0);
            return Some(Value::truth(a != 0 || b != 0, certain || decided));
        }
        "&&" => {
            let decided = (left.certain && a == 0) || (right.certain && b == 0);
            return Some(Value::truth(a != 0 && b != 0, certain || decided));
        }
        "==" => return Some(Value::truth(a == b, certain)),
        "!=" => return Some(Value::truth(a != b, certain)),
        "<" => return Some(Value::truth(less(a, b), certain)),
        ">" => return Some(Value::truth(less(b, a), certain)),
        "<=" => return Some(Value::truth(!less(b, a), certain)),
        ">=" => return Some(Value::truth(!less(a, b), certain)),
        "|" => a | b,
        "^" => a ^ b,
        "&" => a & b,
        "<<" => shift(true),
        ">>" => shift(false),
        "+" => a.wrapping_add(b),
        "-" => a.wrapping_sub(b),
        "*" => a.wrapping_mul(b),
        // Division by zero is no error where short circuit may have skipped it: its value does not matter then.
        "/" if unsigned => (a as u64).checked_div(b as u64).unwrap_or(0) as i64,
        "/" => a.checked_div(b).unwrap_or(0),
        "%" if unsigned => (a as u64).checked_rem(b as u64).unwrap_or(0) as i64,
        "%" => a.checked_rem(b).unwrap_or(0),
        _ => return None,
    };
    Some(Value { bits, unsigned, certain })
}

/// An integer literal, and whether it is unsigned.
fn integer(text: &[u8]) -> Option<(i64, bool)> {
    let digits: String =
        text.iter().filter(|byte| **byte != b'\'').map(|byte| char::from(*byte).to_ascii_lowercase()).collect();
    let (radix, rest) = match digits.as_str() {
        _ if digits.starts_with("0x") => (16, &digits[2..]),
        _ if digits.starts_with("0b") => (2, &digits[2..]),
        _ if digits.starts_with('0') && digits.len() > 1 => (8, &digits[1..]),
        _ => (10, digits.as_str()),
    };
    let length = rest.find(|letter: char| !letter.is_digit(radix)).unwrap_or(rest.len());
    let (number, suffix) = rest.split_at(length);
    if !suffix.chars().all(|letter| matches!(letter, 'u' | 'l' | 'z')) {
        return None;
    }
    let value = if number.is_empty() { 0 } else { u64::from_str_radix(number, radix).unwrap_or(u64::MAX) };
    Some((value as i64, suffix.contains('u') || value > i64::MAX as u64))
}

/// The value of a character literal of one plain or escaped character.
fn character(text: &[u8]) -> Option<i64> {
    let open = memchr::memchr(b'\'', text)?;
    let inside = text.get(open + 1..text.len().checked_sub(1)?)?;
    Some(match inside {
        [b'\\', b'n'] => 10,
        [b'\\', b't'] => 9,
        [b'\\', b'r'] => 13,
        [b'\\', b'x', digits @ ..] => i64::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?,
        [b'\\', digits @ ..] if digits.first()?.is_ascii_digit() => {
            i64::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok()?
        }
        [b'\\', byte] | [byte] => i64::from(*byte),
        many => many.iter().fold(0, |value: i64, byte| value.wrapping_shl(8) | i64::from(*byte)),
    })
}
