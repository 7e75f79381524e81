//! The control skeleton of a body, found twice: in its tokens and in the lowered program.
//!
//! Where the grammar met an error, equal skeletons say that no control flow was lost: every branch, loop, jump, label,
//! lambda and barrier call stands where the tokens have it. The token side reads statements alone and knows no types.

use crate::lower::brackets::{Brackets, word};
use crate::lower::repair::is_keyword;
use crate::source::lexer::{Token, TokenKind, lex};
use crate::text::Span;

/// One sign of the skeleton and where it stands.
///
/// `I` if, `J` else if, `E` else, `F` for, `W` while, `D` do, `S` switch, `C` case, `R` return, `B` break, `K` continue,
/// `G` goto, `L` label, `T` try, `H` handler, `A` asm, `^` lambda, `M` method, `X` statement expression, `!` barrier call,
/// `[` `]` round a body, `?` what cannot stand there.
pub type Sign = (u8, u32);

/// Whether calls of `name` count.
pub fn is_landmark(name: &str) -> bool {
    name.starts_with("__") && name.contains("sync") || matches!(name, "sync" | "arrive_and_wait" | "barrier_wait")
}

/// Where two skeletons part: the sign of the first.
pub fn difference(tokens: &[Sign], program: &[Sign]) -> Option<Span> {
    let same = tokens.iter().zip(program).take_while(|(left, right)| left.0 == right.0).count();
    if same == tokens.len() && same == program.len() {
        return None;
    }
    let start = tokens.get(same).or(program.get(same)).map_or(0, |sign| sign.1);
    Some(Span { start, end: start + 1 })
}

/// The skeleton of the statements in `text[range]`, which begins behind the body's `{`. `text` has been repaired.
pub fn of_tokens(text: &str, range: std::ops::Range<usize>) -> Vec<Sign> {
    let inside = text.get(range.clone()).unwrap_or_default();
    let tokens = lex(inside.as_bytes()).tokens;
    let brackets = Brackets::new(&tokens);
    let end = tokens.len();
    let mut scan =
        Scan { text: inside, tokens, brackets, at: 0, tasks: vec![Task::Statements(end)], signs: Vec::new() };
    while let Some(task) = scan.tasks.pop() {
        scan.run(task);
    }
    let base = range.start as u32;
    scan.signs.into_iter().map(|(sign, at)| (sign, at + base)).collect()
}

/// What is still to do, last in, first out; each goes on where the one before stopped.
enum Task {
    /// Statements up to a token.
    Statements(usize),
    /// One statement, which ends before that token at the latest.
    Statement(usize),
    /// Whatever is of interest in an expression up to a token.
    Expression(usize),
    /// The members of a class up to a token.
    Members(usize),
    /// An `else`, if there is one.
    Otherwise(usize),
    /// The `while (..);` of a `do`.
    DoCondition(usize),
    /// `catch` clauses.
    Handlers(usize),
    GoTo(usize),
    Sign(u8),
}

struct Scan<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    brackets: Brackets,
    at: usize,
    tasks: Vec<Task>,
    signs: Vec<Sign>,
}

impl<'a> Scan<'a> {
    fn word(&self, at: usize) -> &'a str {
        self.tokens.get(at).map_or("", |token| word(self.text, *token))
    }

    fn sign(&mut self, sign: u8) {
        let place = self.tokens.get(self.at).map_or(self.text.len() as u32, |token| token.start());
        self.signs.push((sign, place));
    }

    fn run(&mut self, task: Task) {
        match task {
            Task::Statements(end) => {
                if self.at < end {
                    self.tasks.push(Task::Statements(end));
                    self.statement(end);
                }
            }
            Task::Statement(end) => {
                if self.at < end {
                    self.statement(end);
                }
            }
            Task::Expression(end) => self.expression(end),
            Task::Members(end) => self.members(end),
            Task::Otherwise(end) => self.otherwise(end),
            Task::DoCondition(end) => {
                if self.at < end && self.word(self.at) == "while" && self.word(self.at + 1) == "(" {
                    let close = self.brackets.partner(self.at + 1).unwrap_or(end).min(end);
                    let semicolon = usize::from(self.word(close + 1) == ";");
                    self.tasks.push(Task::GoTo((close + 1 + semicolon).min(end)));
                    self.tasks.push(Task::Expression(close));
                    self.at += 2;
                }
            }
            Task::Handlers(end) => {
                if self.at < end && self.word(self.at) == "catch" {
                    self.sign(b'H');
                    let body = self.brackets.partner(self.at + 1).map_or(end, |close| close + 1);
                    self.at = body.min(end);
                    self.tasks.push(Task::Handlers(end));
                    self.body(end);
                }
            }
            Task::GoTo(at) => self.at = self.at.max(at),
            Task::Sign(sign) => self.sign(sign),
        }
    }

    /// `[`, one statement, `]`.
    fn body(&mut self, end: usize) {
        self.tasks.push(Task::Sign(b']'));
        self.tasks.push(Task::Statement(end));
        self.tasks.push(Task::Sign(b'['));
    }

    /// `[`, the statements up to the brace at `close`, `]`, and on behind it. `self.at` is at the opening brace.
    fn block(&mut self, close: usize) {
        self.tasks.push(Task::GoTo(close + 1));
        self.tasks.push(Task::Sign(b']'));
        self.tasks.push(Task::Statements(close));
        self.tasks.push(Task::Sign(b'['));
        self.at += 1;
    }

    fn statement(&mut self, end: usize) {
        let word = self.word(self.at);
        match word {
            "{" => {
                let close = self.brackets.partner(self.at).unwrap_or(end).min(end);
                self.tasks.push(Task::GoTo((close + 1).min(end.max(close))));
                self.tasks.push(Task::Statements(close));
                self.at += 1;
            }
            ";" => self.at += 1,
            "if" => {
                self.sign(b'I');
                self.branch(end);
            }
            "for" | "while" | "switch" => {
                self.sign(word.as_bytes()[0].to_ascii_uppercase());
                self.at += 1;
                self.head(end);
            }
            "do" => {
                self.sign(b'D');
                self.at += 1;
                self.tasks.push(Task::DoCondition(end));
                self.body(end);
            }
            "case" | "default" if self.word(self.at + 1) != "(" || word == "case" => {
                self.sign(b'C');
                self.at = self.colon(end);
            }
            "try" => {
                self.sign(b'T');
                self.at += 1;
                self.tasks.push(Task::Handlers(end));
                self.body(end);
            }
            "return" | "co_return" => self.simple(b'R', end),
            "break" => self.simple(b'B', end),
            "continue" => self.simple(b'K', end),
            "goto" => self.simple(b'G', end),
            "asm" | "__asm__" | "__asm" => {
                self.sign(b'A');
                self.at = self.semicolon(end) + 1;
            }
            "using" | "static_assert" | "namespace" | "enum" => self.at = self.semicolon(end) + 1,
            "else" | "catch" | ")" | "]" | "}" => {
                self.sign(b'?');
                self.at += 1;
            }
            _ if self.word(self.at + 1) == ":" && self.tokens[self.at].kind() == TokenKind::Identifier => {
                self.sign(b'L');
                self.at += 2;
            }
            _ => {
                let semicolon = self.semicolon(end);
                self.tasks.push(Task::GoTo(semicolon + 1));
                self.tasks.push(Task::Expression(semicolon));
                if let Some((open, close)) = self.class_body(semicolon) {
                    self.tasks.push(Task::GoTo(close + 1));
                    self.tasks.push(Task::Members(close));
                    self.at = open + 1;
                }
            }
        }
    }

    fn simple(&mut self, sign: u8, end: usize) {
        self.sign(sign);
        self.at += 1;
        let semicolon = self.semicolon(end);
        self.tasks.push(Task::GoTo(semicolon + 1));
        self.tasks.push(Task::Expression(semicolon));
    }

    /// `(..)` and a body.
    fn head(&mut self, end: usize) {
        self.body(end);
        if self.word(self.at) == "(" {
            let close = self.brackets.partner(self.at).unwrap_or(end).min(end);
            self.tasks.push(Task::GoTo((close + 1).min(end)));
            self.tasks.push(Task::Expression(close));
            self.at += 1;
        }
    }

    /// From `if` on.
    fn branch(&mut self, end: usize) {
        self.at += 1;
        while matches!(self.word(self.at), "constexpr" | "consteval" | "!") {
            self.at += 1;
        }
        self.tasks.push(Task::Otherwise(end));
        self.head(end);
    }

    fn otherwise(&mut self, end: usize) {
        if self.at >= end || self.word(self.at) != "else" {
            return;
        }
        self.at += 1;
        if self.at < end && self.word(self.at) == "if" {
            self.sign(b'J');
            self.branch(end);
        } else {
            self.sign(b'E');
            self.body(end);
        }
    }

    /// The `;` that ends the statement, or `end`.
    fn semicolon(&self, end: usize) -> usize {
        let mut at = self.at;
        while at < end {
            match self.word(at) {
                ";" => return at,
                "(" | "[" | "{" => match self.brackets.partner(at) {
                    Some(close) => at = close,
                    None => return end,
                },
                ")" | "]" | "}" => return at,
                _ => {}
            }
            at += 1;
        }
        end
    }

    /// Behind the `:` of a case.
    fn colon(&self, end: usize) -> usize {
        let mut questions = 0;
        let mut at = self.at + 1;
        while at < end {
            match self.word(at) {
                "(" | "[" | "{" => match self.brackets.partner(at) {
                    Some(close) => at = close,
                    None => return end,
                },
                "?" => questions += 1,
                ":" if questions == 0 => return at + 1,
                ":" => questions -= 1,
                ";" | "}" => return at,
                _ => {}
            }
            at += 1;
        }
        end
    }

    /// The braces of a class that the declaration at hand defines.
    fn class_body(&self, end: usize) -> Option<(usize, usize)> {
        let mut at = self.at;
        while matches!(self.word(at), "typedef" | "static" | "const" | "constexpr") {
            at += 1;
        }
        if !matches!(self.word(at), "struct" | "class" | "union") {
            return None;
        }
        while at < end && !matches!(self.word(at), "{" | "(" | "=" | ";") {
            at += 1;
        }
        let close = self.brackets.partner(at).filter(|_| self.word(at) == "{")?;
        Some((at, close))
    }

    fn expression(&mut self, end: usize) {
        while self.at < end {
            let word = self.word(self.at);
            match word {
                "[" => {
                    if let Some((open, close)) = self.lambda_body() {
                        self.sign(b'^');
                        self.at = open;
                        self.tasks.push(Task::Expression(end));
                        return self.block(close);
                    }
                }
                "{" if self.at > 0 && self.word(self.at - 1) == "(" => {
                    if let Some(close) = self.brackets.partner(self.at).filter(|close| self.holds_statements(*close)) {
                        self.sign(b'X');
                        self.tasks.push(Task::Expression(end));
                        return self.block(close);
                    }
                }
                "decltype" | "sizeof" | "noexcept" | "alignof" | "typeid" if self.word(self.at + 1) == "(" => {
                    self.at = self.brackets.partner(self.at + 1).unwrap_or(self.at);
                }
                "requires" => {
                    let list = self.at + 1;
                    let body = self.brackets.partner(list).filter(|_| self.word(list) == "(").map_or(list, |it| it + 1);
                    if self.word(body) == "{" {
                        self.at = self.brackets.partner(body).unwrap_or(body);
                    }
                }
                "asm" | "__asm__" | "__asm" => self.sign(b'A'),
                "return" | "if" | "for" | "while" | "do" | "switch" | "case" | "break" | "continue" | "goto"
                | "else" | "try" | "catch" => self.sign(b'?'),
                _ if self.word(self.at + 1) == "(" && is_landmark(word) => self.sign(b'!'),
                _ => {}
            }
            self.at += 1;
        }
    }

    /// `({ int y = f(x); y; })`, against `({1, 2})`.
    fn holds_statements(&self, close: usize) -> bool {
        let mut at = self.at + 1;
        while at < close {
            match self.word(at) {
                ";" => return self.word(close + 1) == ")",
                "(" | "[" | "{" => at = self.brackets.partner(at).unwrap_or(close),
                _ => {}
            }
            at += 1;
        }
        false
    }

    /// The braces of the lambda whose captures begin here.
    fn lambda_body(&self) -> Option<(usize, usize)> {
        if self.at > 0 {
            let before = self.word(self.at - 1);
            let kind = self.tokens[self.at - 1].kind();
            let is_operand = match kind {
                TokenKind::Identifier => !matches!(before, "return" | "co_return" | "co_yield" | "co_await" | "throw"),
                TokenKind::Punctuator => matches!(before, ")" | "]" | "}" | ">"),
                _ => true,
            };
            let binds = matches!(before, "&" | "&&") && self.at > 1 && self.word(self.at - 2) == "auto";
            if is_operand || binds {
                return None;
            }
        }
        let mut at = self.brackets.partner(self.at)? + 1;
        if self.word(at) == "<" {
            let mut depth = 0usize;
            loop {
                match self.word(at) {
                    "<" => depth += 1,
                    ">" => depth = depth.saturating_sub(1),
                    ">>" => depth = depth.saturating_sub(2),
                    "(" | "[" | "{" => at = self.brackets.partner(at)?,
                    "" | ";" | ")" | "]" | "}" => return None,
                    _ => {}
                }
                at += 1;
                if depth == 0 {
                    break;
                }
            }
        }
        loop {
            match self.word(at) {
                "{" => return self.brackets.partner(at).map(|close| (at, close)),
                "(" | "[" => at = self.brackets.partner(at)?,
                "->" | "::" | "<" | ">" | "*" | "&" | "&&" | "," | "..." => {}
                word if self.tokens.get(at)?.kind() == TokenKind::Identifier
                    && (!is_keyword(word) || is_type_word(word)) => {}
                _ if self.tokens.get(at)?.kind() == TokenKind::Number => {}
                _ => return None,
            }
            at += 1;
        }
    }

    /// The functions with a body among the members up to `end`.
    fn members(&mut self, end: usize) {
        let mut parameters = false;
        let mut colon = false;
        let mut begin = self.at;
        while self.at < end {
            match self.word(self.at) {
                ";" => {
                    (parameters, colon) = (false, false);
                    begin = self.at + 1;
                }
                "(" => {
                    parameters = true;
                    self.at = self.brackets.partner(self.at).unwrap_or(end);
                }
                "[" => self.at = self.brackets.partner(self.at).unwrap_or(end),
                ":" => {
                    colon = parameters;
                    if !parameters {
                        begin = self.at + 1;
                    }
                }
                "=" if parameters && !colon => parameters = false,
                "{" => {
                    let close = self.brackets.partner(self.at).unwrap_or(end).min(end);
                    let nested = matches!(self.word(begin), "struct" | "class" | "union" | "enum" | "friend");
                    let before = self.at.checked_sub(1).map_or("", |at| self.word(at));
                    let initialiser = colon && !matches!(before, ")" | "}" | ":");
                    if parameters && !nested && !initialiser {
                        self.sign(b'M');
                        self.tasks.push(Task::Members(end));
                        return self.block(close);
                    }
                    self.at = close;
                }
                _ => {}
            }
            self.at += 1;
        }
    }
}

fn is_type_word(word: &str) -> bool {
    matches!(
        word,
        "const"
            | "constexpr"
            | "mutable"
            | "noexcept"
            | "static"
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
            | "typename"
            | "decltype"
            | "volatile"
            | "requires"
    )
}
