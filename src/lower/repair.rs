//! An item's text into one of the same length that the C++ grammar reads rightly.
//!
//! CUDA's own syntax is gone already (`source::expand`). What is left are C++'s ambiguities: `i < n` gives way to `i > n`
//! where the grammar would see template arguments, a macro that nobody defines to a loop where it must be one. Lowering
//! reads names and operators in the original text at the same place, so nothing is lost.

use crate::lower::brackets::{Brackets, word};
use crate::source::lexer::{Token, TokenKind};
use rustc_hash::FxHashSet;
use std::cell::OnceCell;

/// Furthest that a look for a closing bracket goes, in tokens.
const FAR: usize = 200;

pub fn repaired(text: &str, tokens: &[Token], brackets: &Brackets) -> Vec<u8> {
    let mut repair =
        Repair { text, tokens, brackets, out: text.as_bytes().to_vec(), values: OnceCell::new(), braces: Vec::new() };
    for at in 0..tokens.len() {
        repair.token(at);
    }
    repair.out
}

/// `void f() { {} }` without the inner braces: with them it reads as a variable with initialisers.
pub fn empty_body(text: &str, tokens: &[Token], brackets: &Brackets, open: usize, out: &mut [u8]) {
    let inside = open + 1..brackets.partner(open).unwrap_or(open + 1);
    let is_brace = |at: usize| matches!(tokens.get(at).map(|token| word(text, *token)), Some("{" | "}"));
    if inside.clone().all(is_brace) {
        for token in &tokens[inside] {
            out[token.start() as usize..token.end() as usize].fill(b' ');
        }
    }
}

struct Repair<'a> {
    text: &'a str,
    tokens: &'a [Token],
    brackets: &'a Brackets,
    out: Vec<u8>,
    /// Names that are values for sure.
    values: OnceCell<FxHashSet<&'a str>>,
    /// For each open brace whether statements stand in it.
    braces: Vec<bool>,
}

impl<'a> Repair<'a> {
    fn word(&self, at: usize) -> &'a str {
        self.tokens.get(at).map_or("", |token| word(self.text, *token))
    }

    fn is(&self, at: usize, spelling: &str) -> bool {
        self.word(at) == spelling
    }

    fn before(&self, at: usize) -> &'a str {
        at.checked_sub(1).map_or("", |at| self.word(at))
    }

    fn is_name(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(|token| token.kind() == TokenKind::Identifier)
    }

    /// Writes `with` over the tokens from `first` to `last`, padded with blanks.
    fn overwrite(&mut self, first: usize, last: usize, with: &str) {
        let (start, end) = (self.tokens[first].start() as usize, self.tokens[last].end() as usize);
        let bytes = with.bytes().chain(std::iter::repeat(b' '));
        for (place, byte) in self.out[start..end].iter_mut().zip(bytes) {
            if *place != b'\n' {
                *place = byte;
            }
        }
    }

    fn blank(&mut self, first: usize, last: usize) {
        self.overwrite(first, last, "");
    }

    fn token(&mut self, at: usize) {
        let token = self.tokens[at];
        match token.kind() {
            TokenKind::Identifier if self.begins_statement(at) && !is_keyword(self.word(at)) => {
                self.unexpanded_macro(at)
            }
            TokenKind::Punctuator => match token.first() {
                b'{' => {
                    let holds_statements = !self.opens_class(at);
                    self.braces.push(holds_statements);
                }
                b'}' => {
                    self.braces.pop();
                }
                b'<' if token.end() - token.start() == 1 && at > 0 && self.is_name(at - 1) => self.angle(at),
                b'(' => self.lone_name(at),
                b'*' if self.before(at) == "::" => self.member_pointer(at),
                b'*' if self.is(at + 1, "=") => self.nameless_default(at + 1),
                _ => {}
            },
            _ => {}
        }
    }

    /// `(flag) && x` and `(f(x)) && y` read as a cast of the address of a label: the parentheses go.
    fn lone_name(&mut self, at: usize) {
        let Some(close) = self.brackets.partner(at) else { return };
        let is_called = self.is(at + 2, "(") && self.brackets.partner(at + 2) == Some(close.wrapping_sub(1));
        let holds_name = self.is_name(at + 1) && (close == at + 2 || is_called) && self.is(close + 1, "&&");
        let is_call = match at.checked_sub(1) {
            Some(before) => {
                (self.is_name(before) && self.word(before) != "return") || matches!(self.word(before), ")" | "]" | ">")
            }
            None => true,
        };
        if holds_name && !is_call && !is_keyword(self.word(at + 1)) {
            self.blank(at, at);
            self.blank(close, close);
        }
    }

    fn begins_statement(&self, at: usize) -> bool {
        self.braces.last() == Some(&true) && matches!(self.before(at), ";" | "{" | "}" | ")" | "else" | "do" | ":")
    }

    /// A name where only a keyword or a type makes sense: `UNROLL for (..)`, `UNROLL(4) for (..)`, `LOOP(i, n) { .. }`,
    /// `CHECK(x) y = 1;`.
    fn unexpanded_macro(&mut self, at: usize) {
        let is_loop = |word: &str| matches!(word, "for" | "while" | "do");
        let next = self.word(at + 1);
        if is_loop(next) || matches!(next, "if" | "switch" | "return" | "goto") {
            return self.blank(at, at);
        }
        if next != "(" || self.before(at) == ")" || matches!(self.word(at), "__declspec" | "typeof" | "__typeof__") {
            return;
        }
        let Some(close) = self.brackets.partner(at + 1) else { return };
        let behind = self.word(close + 1);
        if is_loop(behind) {
            self.blank(at, close);
        } else if behind == "{" && self.word(at).len() >= "while".len() {
            self.overwrite(at, at, "while");
        } else if self.is_name(close + 1) && !matches!(behind, "and" | "or" | "xor" | "bitand" | "bitor" | "not_eq") {
            let end = self.tokens[close].end() as usize;
            if let Some(blank) = self.out.get_mut(end).filter(|byte| byte.is_ascii_whitespace()) {
                *blank = b';';
            }
        }
    }

    /// `int (Shape::*f)(int)` as `int (       *f)(int)`: a pointer like any other.
    fn member_pointer(&mut self, at: usize) {
        let mut first = at;
        while first >= 2 && self.is(first - 1, "::") && self.is_name(first - 2) {
            first -= 2;
        }
        if first < at {
            self.blank(first, at - 1);
        }
    }

    /// `(Key, Enable * = nullptr)`: the grammar takes no default for a pointer without a name.
    fn nameless_default(&mut self, equals: usize) {
        let mut at = equals + 1;
        while at < self.tokens.len() && at < equals + FAR {
            match self.word(at) {
                "," | ")" | ">" => return self.blank(equals, at - 1),
                "(" | "[" | "{" => match self.brackets.partner(at) {
                    Some(close) => at = close,
                    None => return,
                },
                ";" | "]" | "}" => return,
                _ => {}
            }
            at += 1;
        }
    }

    /// Whether the brace at `at` opens a class, namespace or enum.
    fn opens_class(&self, at: usize) -> bool {
        for back in (at.saturating_sub(40)..at).rev() {
            match self.word(back) {
                "struct" | "class" | "union" | "namespace" | "enum" => return true,
                ";" | "{" | "}" | ")" | "=" => return false,
                _ => {}
            }
        }
        false
    }

    /// Where the `<` at `open` is closed, if it opens template arguments at all.
    fn closing_angle(&self, open: usize) -> Angle {
        let mut depth = 0usize;
        let mut at = open;
        while at < self.tokens.len() {
            if at >= open + FAR {
                return Angle::TooFar;
            }
            match self.word(at) {
                "<" if at == open || self.is_name(at - 1) => depth += 1,
                ">" => depth = depth.saturating_sub(1),
                ">>" => depth = depth.saturating_sub(2),
                ">>>" => depth = depth.saturating_sub(3),
                "(" | "[" | "{" => match self.brackets.partner(at) {
                    Some(close) => at = close,
                    None => return Angle::TooFar,
                },
                ")" | "]" | "}" | ";" => return Angle::Never,
                _ => {}
            }
            if depth == 0 {
                return Angle::ClosedAt(at);
            }
            at += 1;
        }
        Angle::TooFar
    }

    /// `i < n` and `i < n && j > (m)` are comparisons: if nothing closes the bracket, or what stands round it are values.
    /// `>` binds alike and opens nothing.
    fn angle(&mut self, open: usize) {
        let close = match self.closing_angle(open) {
            Angle::ClosedAt(close) if self.is(close, ">") => close,
            Angle::Never => return self.overwrite(open, open, ">"),
            _ => return,
        };
        if self.before(open - 1) == "template" {
            return;
        }
        let behind = self.word(close + 1);
        let opens = matches!(behind, "(" | "::" | "{");
        let is_operand = self.tokens.get(close + 1).is_some_and(|token| {
            matches!(token.kind(), TokenKind::Identifier | TokenKind::Number | TokenKind::Character)
        });
        if !opens && !is_operand {
            return;
        }
        let values = self.values.get_or_init(|| values(self.text, self.tokens));
        let inside = open + 1..close;
        let joins = inside.clone().any(|at| matches!(self.word(at), "&&" | "||") && self.depth_from(open, at) == 0);
        let holds_value = inside.clone().any(|at| self.is_name(at) && values.contains(self.word(at)));
        let is_value = values.contains(self.word(open - 1));
        if (joins && (holds_value || is_value)) || (opens && holds_value && is_value) {
            self.overwrite(open, open, ">");
        }
    }

    /// How many brackets opened behind `from` are still open at `at`.
    fn depth_from(&self, from: usize, at: usize) -> usize {
        let mut depth = 0;
        let mut around = self.brackets.around(at);
        while let Some(open) = around.filter(|open| *open > from) {
            depth += 1;
            around = self.brackets.around(open);
        }
        depth
    }
}

enum Angle {
    ClosedAt(usize),
    /// The statement or the brackets round it end first.
    Never,
    TooFar,
}

/// Names that somewhere stand where no type or template can: before `=`, `.`, `+`; behind a type in a declaration.
/// Template parameters are none, since `f<N && M>(x)` is what it looks like.
fn values<'a>(text: &'a str, tokens: &[Token]) -> FxHashSet<&'a str> {
    let mut values = FxHashSet::default();
    let mut header = FxHashSet::default();
    let mut in_header = 0usize;
    for (at, token) in tokens.iter().enumerate() {
        let name = word(text, *token);
        if name == "template" && tokens.get(at + 1).is_some_and(|next| word(text, *next) == "<") {
            in_header = at + 1;
        }
        if in_header > 0 && matches!(name, "(" | "{" | ";") {
            in_header = 0;
        }
        if token.kind() != TokenKind::Identifier || is_keyword(name) {
            continue;
        }
        let next = tokens.get(at + 1).map_or("", |next| word(text, *next));
        let before = at.checked_sub(1).map_or("", |at| word(text, tokens[at]));
        if in_header > 0 {
            header.insert(name);
            continue;
        }
        let used = matches!(
            next,
            "=" | "+="
                | "-="
                | "*="
                | "/="
                | "++"
                | "--"
                | "."
                | "->"
                | "["
                | "+"
                | "-"
                | "/"
                | "%"
                | "=="
                | "!="
                | "<="
                | ">="
                | "||"
                | "?"
                | "|"
                | "^"
                | "<<"
        ) || matches!(before, "++" | "--" | "+" | "-" | "/" | "%" | "==" | "!=" | "<=" | ">=");
        let after_type = at > 0
            && tokens[at - 1].kind() == TokenKind::Identifier
            && !matches!(
                before,
                "return"
                    | "typename"
                    | "class"
                    | "struct"
                    | "union"
                    | "enum"
                    | "new"
                    | "const"
                    | "using"
                    | "case"
                    | "goto"
                    | "namespace"
            );
        let after_mark = at > 1 && matches!(before, "*" | "&") && tokens[at - 2].kind() == TokenKind::Identifier;
        let declared = ((after_type || after_mark) && matches!(next, "," | ")" | "=" | ";" | "[" | ":"))
            || (before == "," && next == ";");
        let excluded = matches!(before, "using" | "typename" | "class" | "new" | "struct" | "::");
        if (used && !excluded) || declared {
            values.insert(name);
        }
    }
    values.retain(|name| !header.contains(name));
    values
}

pub fn is_keyword(word: &str) -> bool {
    matches!(
        word,
        "if" | "else"
            | "for"
            | "while"
            | "do"
            | "switch"
            | "case"
            | "default"
            | "return"
            | "break"
            | "continue"
            | "goto"
            | "try"
            | "catch"
            | "throw"
            | "co_return"
            | "co_yield"
            | "co_await"
            | "new"
            | "delete"
            | "sizeof"
            | "using"
            | "typedef"
            | "namespace"
            | "struct"
            | "class"
            | "union"
            | "enum"
            | "static"
            | "extern"
            | "const"
            | "constexpr"
            | "volatile"
            | "auto"
            | "void"
            | "int"
            | "float"
            | "double"
            | "char"
            | "bool"
            | "short"
            | "long"
            | "unsigned"
            | "signed"
            | "template"
            | "typename"
            | "operator"
            | "this"
            | "true"
            | "false"
            | "nullptr"
            | "asm"
            | "__asm__"
            | "__asm"
            | "static_assert"
            | "decltype"
            | "alignas"
            | "alignof"
            | "noexcept"
            | "requires"
            | "inline"
            | "register"
            | "static_cast"
            | "const_cast"
            | "reinterpret_cast"
            | "dynamic_cast"
            | "typeid"
            | "friend"
            | "public"
            | "private"
            | "protected"
            | "thread_local"
            | "mutable"
            | "virtual"
            | "explicit"
    )
}
