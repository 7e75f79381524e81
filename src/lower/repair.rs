//! An item's text into one of the same length that the C++ grammar reads rightly.
//!
//! Tokens that the grammar has no rule for, or that it misreads, give way to ones that it knows: `operator()` to a plain
//! name, `i < n` to `i > n` where it would see template arguments. Lowering reads names and operators in the original
//! text at the same place, so nothing is lost.

use crate::lower::brackets::{Brackets, word};
use crate::source::lexer::{Token, TokenKind};
use rustc_hash::FxHashSet;
use std::cell::OnceCell;

/// Furthest that a look for a closing bracket goes, in tokens.
const FAR: usize = 200;

pub fn repaired(text: &str, tokens: &[Token]) -> Vec<u8> {
    let brackets = Brackets::new(tokens);
    let mut repair =
        Repair { text, tokens, brackets, out: text.as_bytes().to_vec(), values: OnceCell::new(), braces: Vec::new() };
    for at in 0..tokens.len() {
        repair.token(at);
    }
    repair.out
}

struct Repair<'a> {
    text: &'a str,
    tokens: &'a [Token],
    brackets: Brackets,
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
        self.tokens.get(at).is_some_and(|token| token.kind == TokenKind::Identifier)
    }

    /// Writes `with` over the tokens from `first` to `last`, padded with blanks.
    fn overwrite(&mut self, first: usize, last: usize, with: &str) {
        let (start, end) = (self.tokens[first].start as usize, self.tokens[last].end as usize);
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
        match token.kind {
            TokenKind::Identifier => self.name(at),
            TokenKind::LaunchOpen => self.launch(at),
            TokenKind::Directive => self.directive(at),
            TokenKind::Punctuator => match token.first {
                b'{' => {
                    let holds_statements = !self.opens_class(at);
                    self.braces.push(holds_statements);
                    if self.before(at) == "=" {
                        self.default_braces(at);
                    }
                }
                b'}' => {
                    self.braces.pop();
                }
                b'[' if self.is(at + 1, "[") => self.attribute(at),
                b'<' if token.end - token.start == 1 && at > 0 && self.is_name(at - 1) => self.angle(at),
                b'-' if token.end - token.start == 3 => self.overwrite(at, at, "  /"),
                _ => {}
            },
            _ => {}
        }
    }

    fn name(&mut self, at: usize) {
        let word = self.word(at);
        match word {
            "operator" => self.operator(at),
            "typename" => self.typename(at),
            "case" => self.case(at),
            "new" => self.new_array(at),
            "__shared__" | "__constant__" | "__device__" | "__managed__" | "__global__" | "__host__" => {
                // On a lambda it stands behind the captures.
                let mut first = at;
                while first > 0 && self.before(first).starts_with("__") {
                    first -= 1;
                }
                let with = if matches!(self.before(first), "]" | ")") { "" } else { "register" };
                self.overwrite(at, at, with);
            }
            "__attribute__" | "__attribute" | "__declspec" | "__align__" | "__launch_bounds__" | "__cluster_dims__"
            | "__block_size__" | "__maxnreg__" | "_Pragma" | "__pragma" => {
                let last = if self.is(at + 1, "(") { self.brackets.partner(at + 1) } else { Some(at) };
                if let Some(last) = last {
                    self.blank(at, last);
                }
            }
            "__forceinline__" | "__noinline__" | "__inline__" | "__forceinline" | "__grid_constant__"
            | "__extension__" | "__cdecl" | "__stdcall" => self.blank(at, at),
            _ if self.begins_statement(at) && !is_keyword(word) => self.unexpanded_macro(at),
            _ => {}
        }
    }

    fn begins_statement(&self, at: usize) -> bool {
        self.braces.last() == Some(&true) && matches!(self.before(at), ";" | "{" | "}" | ")" | "else" | "do" | ":")
    }

    /// A name where only a keyword or a type makes sense: `UNROLL for (..)`, `UNROLL(4) for (..)`, `LOOP(i, n) { .. }`.
    fn unexpanded_macro(&mut self, at: usize) {
        let is_loop = |word: &str| matches!(word, "for" | "while" | "do");
        if is_loop(self.word(at + 1)) || matches!(self.word(at + 1), "if" | "switch" | "return" | "goto") {
            return self.blank(at, at);
        }
        if !self.is(at + 1, "(") || self.before(at) == ")" {
            return;
        }
        let Some(close) = self.brackets.partner(at + 1) else { return };
        if is_loop(self.word(close + 1)) {
            self.blank(at, close);
        } else if self.is(close + 1, "{") && self.word(at).len() >= "while".len() {
            self.overwrite(at, at, "while");
        }
    }

    /// `operator()` into a plain name, `operator__`; conversions stay.
    fn operator(&mut self, at: usize) {
        let symbol = at + 1;
        let Some(token) = self.tokens.get(symbol) else { return };
        let last = match token.kind {
            TokenKind::Punctuator if matches!(token.first, b'(' | b'[') => self.brackets.partner(symbol),
            TokenKind::Punctuator => Some(symbol),
            _ => None,
        };
        if let Some(last) = last.filter(|last| *last <= symbol + 1) {
            let (start, end) = (self.tokens[at].end as usize, self.tokens[last].end as usize);
            self.out[start..end].fill(b'_');
        }
    }

    /// `typename T::Shape(..)` as an expression, which the grammar has no rule for.
    fn typename(&mut self, at: usize) {
        let mut end = at + 1;
        while end < self.tokens.len() && end < at + FAR {
            match self.word(end) {
                "::" | "template" => end += 1,
                "<" => match self.closing_angle(end) {
                    Angle::ClosedAt(close) => end = close + 1,
                    _ => return,
                },
                "decltype" => match self.brackets.partner(end + 1) {
                    Some(close) => end = close + 1,
                    None => return,
                },
                _ if self.is_name(end)
                    && (self.before(end) == "::" || end == at + 1 || self.before(end) == "template") =>
                {
                    end += 1
                }
                _ => break,
            }
        }
        if end > at + 2 && matches!(self.word(end), "(" | "{") {
            self.blank(at, at);
        }
    }

    /// GNU's `case 1 ... 5:` as `1 ^ 5`.
    fn case(&mut self, at: usize) {
        for dots in at + 2..(at + 32).min(self.tokens.len()) {
            match self.word(dots) {
                "..." => return self.overwrite(dots, dots, "^"),
                ":" | ";" | "{" => return,
                _ => {}
            }
        }
    }

    /// `new float *[n]` as `new float  [n]`.
    fn new_array(&mut self, at: usize) {
        for star in at + 2..(at + 12).min(self.tokens.len()) {
            match self.word(star) {
                "*" => {
                    let mut last = star;
                    while self.is(last + 1, "*") {
                        last += 1;
                    }
                    if self.is(last + 1, "[") {
                        self.blank(star, last);
                    }
                    return;
                }
                "::" | "<" | ">" | "const" => {}
                _ if self.is_name(star) => {}
                _ => return,
            }
        }
    }

    /// `[[likely]]`: nothing that matters here.
    fn attribute(&mut self, at: usize) {
        if let (Some(outer), Some(inner)) = (self.brackets.partner(at), self.brackets.partner(at + 1))
            && inner + 1 == outer
        {
            self.blank(at, outer);
        }
    }

    fn directive(&mut self, at: usize) {
        let mut last = at;
        while self.tokens.get(last + 1).is_some_and(|token| !token.first_on_line()) {
            last += 1;
        }
        self.blank(at, last);
    }

    /// `kernel<<<grid, block>>>(x)` as `kernel(grid, block)(x)`.
    fn launch(&mut self, at: usize) {
        let mut close = at + 1;
        while close < self.tokens.len() && close < at + FAR {
            match self.tokens[close].kind {
                TokenKind::LaunchClose => {
                    self.overwrite(at, at, "(");
                    self.overwrite(close, close, ")");
                    return;
                }
                TokenKind::Punctuator if matches!(self.tokens[close].first, b'(' | b'[' | b'{') => {
                    match self.brackets.partner(close) {
                        Some(partner) => close = partner,
                        None => return,
                    }
                }
                _ if self.is(close, ";") => return,
                _ => {}
            }
            close += 1;
        }
    }

    /// `const Options &options = {}` among parameters.
    fn default_braces(&mut self, at: usize) {
        let Some(close) = self.brackets.partner(at) else { return };
        let within_parameters = self.brackets.around(at).is_some_and(|open| self.is(open, "("));
        if within_parameters && matches!(self.word(close + 1), "," | ")") {
            self.overwrite(at, close, "0");
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
            matches!(token.kind, TokenKind::Identifier | TokenKind::Number | TokenKind::Character)
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
        if token.kind != TokenKind::Identifier || is_keyword(name) {
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
            && tokens[at - 1].kind == TokenKind::Identifier
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
        let after_mark = at > 1 && matches!(before, "*" | "&") && tokens[at - 2].kind == TokenKind::Identifier;
        let declared = (after_type || after_mark) && matches!(next, "," | ")" | "=" | ";" | "[" | ":");
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
