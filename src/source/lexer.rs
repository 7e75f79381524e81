//! Bytes into preprocessing tokens, in one linear pass that never fails.
//!
//! Comments are kept apart, line splices and block comments do not end a line, and whatever is no token of C++ becomes
//! one `Unknown`. It does not look inside directives, knows no keywords, and treats digraphs and trigraphs as what they spell.

use memchr::{memchr, memchr3, memmem};
use std::borrow::Cow;

/// Bytes beyond this are not read: what a token says of its place has no more bits. The walk skips files that are larger.
pub const MAX_BYTES: usize = 1 << 24;

#[derive(Clone, Debug, Default)]
pub struct Lexed {
    pub tokens: Vec<Token>,
    /// Start and end of each comment, its marks included, without the line's end.
    pub comments: Vec<(u32, u32)>,
    /// The file is longer than what was read.
    pub truncated: bool,
}

/// In eight bytes, since tokens are most of what a run keeps: from the low bits up where it starts (24), its flags (3), its
/// length (25), the first byte of its spelling (8) and its kind (4).
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Token(u64);

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum TokenKind {
    Identifier,
    Number,
    String,
    Character,
    Punctuator,
    /// `<<<`
    LaunchOpen,
    /// `>>>`, which may as well be three template brackets.
    LaunchClose,
    /// `#` as the first token of a line.
    Directive,
    /// An unterminated literal up to the end of its line, or a byte that begins no token.
    Unknown,
}

/// By number, up to a power of two.
const KINDS: [TokenKind; 16] = {
    use TokenKind::*;
    let mut kinds = [Unknown; 16];
    let mut number = 0;
    let known = [Identifier, Number, String, Character, Punctuator, LaunchOpen, LaunchClose, Directive, Unknown];
    while number < known.len() {
        kinds[known[number] as usize] = known[number];
        number += 1;
    }
    kinds
};

/// No other token stands before it on its logical line.
pub const FIRST_ON_LINE: u8 = 1;
/// White space or a comment stands before it.
pub const SPACE_BEFORE: u8 = 2;
/// A line splice stands inside the token.
pub const SPLICED: u8 = 4;

impl Token {
    fn new(start: usize, end: usize, kind: TokenKind, flags: u8, first: u8) -> Token {
        let place = start as u64 | u64::from(flags) << 24;
        Token(place | Token::what(kind, (end - start) as u64, first) << 27)
    }

    /// All but place and flags.
    const fn what(kind: TokenKind, length: u64, first: u8) -> u64 {
        length | (first as u64) << 25 | (kind as u64) << 33
    }

    pub fn start(self) -> u32 {
        self.0 as u32 & 0xFF_FFFF
    }

    pub fn end(self) -> u32 {
        self.start() + self.len()
    }

    fn len(self) -> u32 {
        (self.0 >> 27) as u32 & 0x1FF_FFFF
    }

    pub fn kind(self) -> TokenKind {
        KINDS[(self.0 >> 60) as usize]
    }

    fn flags(self) -> u8 {
        (self.0 >> 24) as u8 & 7
    }

    /// First byte of the spelling.
    pub fn first(self) -> u8 {
        (self.0 >> 52) as u8
    }

    pub fn first_on_line(self) -> bool {
        self.flags() & FIRST_ON_LINE != 0
    }

    pub fn space_before(self) -> bool {
        self.flags() & SPACE_BEFORE != 0
    }

    pub fn spliced(self) -> bool {
        self.flags() & SPLICED != 0
    }

    /// The token as it stands in its file.
    pub fn bytes(self, file: &[u8]) -> &[u8] {
        let start = self.start() as usize;
        file.get(start..start + self.len() as usize).unwrap_or_default()
    }

    /// The token's spelling, line splices removed (they stay inside raw strings).
    pub fn spelling(self, file: &[u8]) -> Cow<'_, [u8]> {
        let bytes = self.bytes(file);
        if self.spliced() { Cow::Owned(without_splices(bytes)) } else { Cow::Borrowed(bytes) }
    }

    /// Whether this is the one-byte punctuator `byte`.
    pub fn is_byte(self, byte: u8) -> bool {
        self.0 >> 27 == Token::what(TokenKind::Punctuator, 1, byte)
    }
}

pub fn lex(bytes: &[u8]) -> Lexed {
    let truncated = bytes.len() > MAX_BYTES;
    let bytes = &bytes[..bytes.len().min(MAX_BYTES)];
    let mut lexer = Lexer {
        bytes,
        at: if bytes.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 },
        flags: FIRST_ON_LINE,
        tokens: Vec::with_capacity(bytes.len() / 5),
        comments: Vec::new(),
        raw_search_budget: bytes.len().saturating_mul(4),
    };
    lexer.run();
    lexer.tokens.shrink_to_fit();
    lexer.comments.shrink_to_fit();
    Lexed { tokens: lexer.tokens, comments: lexer.comments, truncated }
}

#[derive(Copy, Clone, PartialEq, Eq)]
enum Class {
    Space,
    Newline,
    Letter,
    Digit,
    Quote,
    Slash,
    Dot,
    Backslash,
    Punctuation,
    Other,
}

const CLASSES: [Class; 256] = {
    let mut table = [Class::Other; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            b' ' | b'\t' | b'\r' | 0x0B | 0x0C | 0 => Class::Space,
            b'\n' => Class::Newline,
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' | 0x80.. => Class::Letter,
            b'0'..=b'9' => Class::Digit,
            b'"' | b'\'' => Class::Quote,
            b'/' => Class::Slash,
            b'.' => Class::Dot,
            b'\\' => Class::Backslash,
            b'!' | b'#' | b'%' | b'&' | b'(' | b')' | b'*' | b'+' | b',' | b'-' | b':' | b';' | b'<' | b'=' | b'>'
            | b'?' | b'[' | b']' | b'^' | b'{' | b'|' | b'}' | b'~' => Class::Punctuation,
            _ => Class::Other,
        };
        byte += 1;
    }
    table
};

fn class(byte: u8) -> Class {
    CLASSES[byte as usize]
}

fn continues_identifier(byte: u8) -> bool {
    matches!(class(byte), Class::Letter | Class::Digit)
}

struct Lexer<'a> {
    bytes: &'a [u8],
    at: usize,
    flags: u8,
    tokens: Vec<Token>,
    comments: Vec<(u32, u32)>,
    /// Bytes that searches for the ends of raw strings may still look at, so that many unterminated ones stay linear.
    raw_search_budget: usize,
}

impl Lexer<'_> {
    fn run(&mut self) {
        while let Some(&byte) = self.bytes.get(self.at) {
            match class(byte) {
                Class::Space => {
                    self.at += 1;
                    self.flags |= SPACE_BEFORE;
                }
                Class::Newline => {
                    self.at += 1;
                    self.flags = FIRST_ON_LINE | SPACE_BEFORE;
                }
                Class::Letter => self.identifier(),
                Class::Digit => self.number(),
                Class::Punctuation => self.punctuator(byte),
                Class::Quote => self.quoted(self.at, self.at),
                Class::Slash => match self.peek(1) {
                    Some(b'/') => self.line_comment(),
                    Some(b'*') => self.block_comment(),
                    _ => self.punctuator(byte),
                },
                Class::Dot => match self.peek(1) {
                    Some(b'0'..=b'9') => self.number(),
                    _ => self.punctuator(byte),
                },
                Class::Backslash => match splice(self.bytes, self.at) {
                    Some(end) => {
                        self.at = end;
                        self.flags |= SPACE_BEFORE;
                    }
                    None => self.push(self.at, self.at + 1, TokenKind::Unknown, 0),
                },
                Class::Other => self.push(self.at, self.at + 1, TokenKind::Unknown, 0),
            }
        }
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    fn push(&mut self, start: usize, end: usize, kind: TokenKind, flags: u8) {
        self.tokens.push(Token::new(start, end, kind, self.flags | flags, self.bytes[start]));
        self.flags = 0;
        self.at = end;
    }

    fn identifier(&mut self) {
        let start = self.at;
        let (end, flags) = self.run_of(start, continues_identifier);
        if let Some(quote @ (b'"' | b'\'')) = self.bytes.get(end).copied() {
            let prefix = &self.bytes[start..end];
            if quote == b'"' && matches!(prefix, b"R" | b"u8R" | b"uR" | b"UR" | b"LR") {
                if let Some(close) = self.raw_string_end(end) {
                    let close = self.literal_suffix(close);
                    return self.push(start, close, TokenKind::String, 0);
                }
            } else if matches!(prefix, b"u8" | b"u" | b"U" | b"L") {
                return self.quoted(start, end);
            }
        }
        self.push(start, end, TokenKind::Identifier, flags);
    }

    fn number(&mut self) {
        let start = self.at;
        let mut end = start;
        let mut flags = 0;
        loop {
            let (stop, spliced) = self.run_of(end, |byte| continues_identifier(byte) || byte == b'.');
            flags |= spliced;
            end = stop;
            let last = self.bytes[end - 1];
            let next = self.bytes.get(end).copied();
            let more = match next {
                Some(b'+' | b'-') => end > start && matches!(last, b'e' | b'E' | b'p' | b'P'),
                Some(b'\'') => self.bytes.get(end + 1).is_some_and(|byte| continues_identifier(*byte)),
                _ => false,
            };
            if !more {
                break;
            }
            end += 1;
        }
        self.push(start, end, TokenKind::Number, flags);
    }

    /// The end of the run of bytes from `start` that `accept` takes, going on over line splices.
    fn run_of(&self, start: usize, accept: impl Fn(u8) -> bool) -> (usize, u8) {
        let mut end = start;
        let mut flags = 0;
        loop {
            while self.bytes.get(end).is_some_and(|byte| accept(*byte)) {
                end += 1;
            }
            if self.bytes.get(end) != Some(&b'\\') {
                return (end, flags);
            }
            match splice(self.bytes, end) {
                Some(after) if self.bytes.get(after).is_some_and(|byte| accept(*byte)) => {
                    end = after;
                    flags = SPLICED;
                }
                _ => return (end, flags),
            }
        }
    }

    /// A string or character literal that begins at `start` and whose opening quote stands at `open`.
    fn quoted(&mut self, start: usize, open: usize) {
        let quote = self.bytes[open];
        let mut end = open + 1;
        let mut flags = 0;
        loop {
            let Some(found) = memchr3(quote, b'\\', b'\n', &self.bytes[end..]) else {
                return self.push(start, self.bytes.len(), TokenKind::Unknown, flags);
            };
            end += found;
            match self.bytes[end] {
                b'\n' => {
                    let end = if self.bytes[end - 1] == b'\r' && end - 1 > open { end - 1 } else { end };
                    return self.push(start, end, TokenKind::Unknown, flags);
                }
                b'\\' => match splice(self.bytes, end) {
                    Some(after) => {
                        flags = SPLICED;
                        end = after;
                    }
                    None => end = (end + 2).min(self.bytes.len()),
                },
                _ => break,
            }
        }
        let kind = if quote == b'"' { TokenKind::String } else { TokenKind::Character };
        let end = self.literal_suffix(end + 1);
        self.push(start, end, kind, flags);
    }

    /// The end of the raw string whose quote stands at `quote`.
    fn raw_string_end(&mut self, quote: usize) -> Option<usize> {
        let rest = &self.bytes[quote + 1..];
        let open = memchr(b'(', &rest[..rest.len().min(17)])?;
        let delimiter = &rest[..open];
        if delimiter.iter().any(|byte| byte.is_ascii_whitespace() || matches!(byte, b')' | b'\\' | b'"')) {
            return None;
        }
        let mut closing = Vec::with_capacity(open + 2);
        closing.push(b')');
        closing.extend_from_slice(delimiter);
        closing.push(b'"');
        let within = &rest[open + 1..];
        let within = &within[..within.len().min(self.raw_search_budget)];
        let found = memmem::find(within, &closing);
        if found.is_none() {
            self.raw_search_budget -= within.len();
        }
        Some(quote + 1 + open + 1 + found? + closing.len())
    }

    /// Past a user-defined suffix (`_x`, `s`, `ms`). A name that reads like a macro (`"%"PRIu64`) is a token of its own.
    fn literal_suffix(&self, end: usize) -> usize {
        let length = self.bytes[end..].iter().take_while(|byte| continues_identifier(**byte)).count();
        let suffix = &self.bytes[end..end + length];
        let is_suffix = suffix.first() == Some(&b'_') || (length <= 3 && suffix.iter().all(u8::is_ascii_lowercase));
        if is_suffix { end + length } else { end }
    }

    fn line_comment(&mut self) {
        let start = self.at;
        let mut end = start;
        loop {
            match memchr(b'\n', &self.bytes[end..]) {
                None => {
                    end = self.bytes.len();
                    break;
                }
                Some(found) => end += found,
            }
            let before = self.bytes[start..end].trim_ascii_end();
            if before.last() != Some(&b'\\') {
                break;
            }
            end += 1;
        }
        self.comments.push((start as u32, end as u32));
        self.flags |= SPACE_BEFORE;
        self.at = end;
    }

    fn block_comment(&mut self) {
        let start = self.at;
        let mut end = start + 2;
        loop {
            match memchr(b'*', &self.bytes[end.min(self.bytes.len())..]) {
                None => {
                    end = self.bytes.len();
                    break;
                }
                Some(found) => end += found + 1,
            }
            if self.bytes.get(end) == Some(&b'/') {
                end += 1;
                break;
            }
        }
        self.comments.push((start as u32, end as u32));
        self.flags |= SPACE_BEFORE;
        self.at = end;
    }

    fn punctuator(&mut self, byte: u8) {
        let (length, kind) = punctuator_length(byte, &self.bytes[self.at..]);
        let kind =
            if byte == b'#' && length == 1 && self.flags & FIRST_ON_LINE != 0 { TokenKind::Directive } else { kind };
        self.push(self.at, self.at + length, kind, 0);
    }
}

fn punctuator_length(byte: u8, rest: &[u8]) -> (usize, TokenKind) {
    let second = rest.get(1).copied().unwrap_or(0);
    let third = rest.get(2).copied().unwrap_or(0);
    let length = match (byte, second, third) {
        (b'<', b'<', b'<') => return (3, TokenKind::LaunchOpen),
        (b'>', b'>', b'>') => return (3, TokenKind::LaunchClose),
        (b'<', b'<', b'=') | (b'>', b'>', b'=') | (b'<', b'=', b'>') => 3,
        (b'.', b'.', b'.') | (b'-', b'>', b'*') => 3,
        (b'<', b'<' | b'=', _) | (b'>', b'>' | b'=', _) => 2,
        (b'-', b'-' | b'>' | b'=', _) | (b'+', b'+' | b'=', _) | (b'&', b'&' | b'=', _) | (b'|', b'|' | b'=', _) => 2,
        (b'=' | b'!' | b'*' | b'/' | b'%' | b'^', b'=', _) => 2,
        (b':', b':', _) | (b'#', b'#', _) | (b'.', b'*', _) => 2,
        _ => 1,
    };
    (length, TokenKind::Punctuator)
}

/// For a backslash at `at` that ends its line, possibly before trailing blanks: the first byte of the next line.
fn splice(bytes: &[u8], at: usize) -> Option<usize> {
    // Trailing blanks are few; the cap keeps long runs of blanks after many backslashes linear.
    for (index, byte) in bytes[at + 1..].iter().enumerate().take(64) {
        match byte {
            b'\n' => return Some(at + 1 + index + 1),
            b' ' | b'\t' | b'\r' | 0x0B | 0x0C => {}
            _ => return None,
        }
    }
    None
}

/// `bytes` without backslashes that end a line, and without that line's end.
pub(crate) fn without_splices(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        match (bytes[at], splice(bytes, at)) {
            (b'\\', Some(after)) => at = after,
            (b'\\', None) => {
                let end = (at + 2).min(bytes.len());
                out.extend_from_slice(&bytes[at..end]);
                at = end;
            }
            (byte, _) => {
                out.push(byte);
                at += 1;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(source: &str) -> Vec<String> {
        let bytes = source.as_bytes();
        lex(bytes).tokens.iter().map(|token| String::from_utf8_lossy(&token.spelling(bytes)).into_owned()).collect()
    }

    #[test]
    fn longest_punctuators_and_launches() {
        assert_eq!(
            words("k<<<g, b>>>(x); a<<=b->*c ... a::b<=>c ##"),
            [
                "k", "<<<", "g", ",", "b", ">>>", "(", "x", ")", ";", "a", "<<=", "b", "->*", "c", "...", "a", "::",
                "b", "<=>", "c", "##"
            ]
        );
    }

    #[test]
    fn literals() {
        assert_eq!(
            words(r##"1'000u 0x1.8p+3f .5e-3 1..2 "a\"b"_s u8R"x(")y")x" 'c' L'\'' "%"PRIu64 f'"##),
            [
                "1'000u",
                "0x1.8p+3f",
                ".5e-3",
                "1..2",
                r#""a\"b"_s"#,
                r#"u8R"x(")y")x""#,
                "'c'",
                r"L'\''",
                r#""%""#,
                "PRIu64",
                "f",
                "'"
            ]
        );
    }

    #[test]
    fn splices_and_comments_do_not_end_lines() {
        let source = b"#define A \\\r\n b /* x\n y */ c // d \\\n e\nnex\\\nt /**/ # //";
        let lexed = lex(source);
        let first: Vec<_> =
            lexed.tokens.iter().filter(|token| token.first_on_line()).map(|t| t.spelling(source)).collect();
        assert_eq!(first, [&b"#"[..], b"next"]);
        assert_eq!(lexed.comments.len(), 4);
        assert_eq!(lexed.tokens.last().map(|token| token.kind()), Some(TokenKind::Punctuator));
    }

    #[test]
    fn unterminated_things_stay_linear_and_quiet() {
        for piece in ["R\"a(", "/*", "'", "\"", "\\ ", "//\\\n", "\\\n", "*", "/*/"] {
            let source = piece.repeat(200_000);
            assert!(lex(source.as_bytes()).tokens.len() <= source.len());
        }
    }
}
