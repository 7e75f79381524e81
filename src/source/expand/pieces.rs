//! Tokens as the expander handles them, and macro definitions made of them.

use super::unit::Definition;
use crate::source::index::{Files, MacroName, Variadic};
use crate::source::lexer::TokenKind;
use crate::text::FileId;
use std::borrow::Cow;

/// The file of pieces that no file spells: pasted and stringised ones.
pub const SCRATCH: FileId = FileId(u32::MAX);
pub const NO_INVOCATION: u32 = u32::MAX;
pub(super) const NO_NAME: u32 = u32::MAX;

/// White space stands before the piece.
pub const SPACE: u8 = 1;
/// An identifier that was met while its macro was disabled; it stays.
pub(super) const PAINTED: u8 = 2;
pub const SPLICED: u8 = 4;
/// Stands for nothing, between operators.
pub(super) const PLACEMARKER: u8 = 8;
/// In a condition: a value that rests on a name no directive in view has spoken of.
pub const UNCERTAIN: u8 = 16;

/// A token on its way through replacement.
#[derive(Copy, Clone, Debug)]
pub struct Piece {
    pub file: FileId,
    pub start: u32,
    pub end: u32,
    pub kind: TokenKind,
    pub flags: u8,
    /// First byte of the spelling.
    pub first: u8,
    pub(super) name: u32,
    /// The invocation in whose replacement list it is spelled, or `NO_INVOCATION`.
    pub invocation: u32,
}

impl Piece {
    pub fn is_byte(&self, byte: u8) -> bool {
        self.first == byte && self.end - self.start == 1 && self.kind == TokenKind::Punctuator
    }

    pub fn name(&self) -> Option<MacroName> {
        (self.name != NO_NAME).then_some(MacroName(self.name))
    }
}

/// A macro's definition, ready for use.
pub struct Prepared {
    /// The number of parameters, the variadic one included; `None` for an object-like macro.
    pub(super) params: Option<usize>,
    pub(super) variadic: bool,
    pub(super) body: Vec<BodyToken>,
}

pub(super) struct BodyToken {
    pub piece: Piece,
    pub role: Role,
    /// `##` follows.
    pub paste: bool,
}

#[derive(Copy, Clone, PartialEq, Eq)]
pub(super) enum Role {
    Plain,
    Param(usize),
    Stringise(usize),
    /// `__VA_OPT__(`, up to the body token that ends its text.
    Optional {
        end: usize,
    },
    OptionalEnd,
}

pub fn piece(files: &Files, file: FileId, token: u32) -> Piece {
    let index = files.get(file);
    let token = index.tokens[token as usize];
    let name = match token.kind() {
        TokenKind::Identifier => files.macro_name(&token.spelling(&index.bytes)).map_or(NO_NAME, |name| name.0),
        _ => NO_NAME,
    };
    let space = if token.space_before() || token.first_on_line() { SPACE } else { 0 };
    let spliced = if token.spliced() { SPLICED } else { 0 };
    Piece {
        file,
        start: token.start(),
        end: token.end(),
        kind: token.kind(),
        flags: space | spliced,
        first: token.first(),
        name,
        invocation: NO_INVOCATION,
    }
}

pub(super) fn prepare(files: &Files, definition: Definition) -> Prepared {
    let file = files.get(definition.file);
    let define = &file.macros[definition.index as usize];
    let spelling = |token: u32| file.tokens[token as usize].spelling(&file.bytes);
    let mut params: Vec<Cow<[u8]>> = define.params.iter().flatten().map(|param| spelling(*param)).collect();
    if define.variadic == Variadic::Unnamed {
        params.push(Cow::Borrowed(b"__VA_ARGS__"));
    }
    let variadic = define.variadic != Variadic::No;
    let function_like = define.params.is_some();
    let param_at = |token: u32| {
        let is_identifier = token < define.body.end && file.tokens[token as usize].kind() == TokenKind::Identifier;
        (function_like && is_identifier).then(|| params.iter().position(|param| *param == spelling(token))).flatten()
    };

    let mut body: Vec<BodyToken> = Vec::with_capacity(define.body.len());
    // The open parentheses inside a `__VA_OPT__` that is being read, and its token.
    let mut optional: Option<(usize, u32)> = None;
    let mut at = define.body.start;
    while at < define.body.end {
        let text = file.text(at);
        let mut token = piece(files, definition.file, at);
        let mut role = Role::Plain;
        if text == b"##" && !body.is_empty() && at + 1 < define.body.end {
            if let Some(last) = body.last_mut() {
                last.paste = true;
            }
            at += 1;
            continue;
        }
        if let Some(param) = param_at(at) {
            role = Role::Param(param);
        } else if text == b"#" && function_like && param_at(at + 1).is_some() {
            role = Role::Stringise(param_at(at + 1).unwrap_or(0));
            at += 1;
        } else if variadic && optional.is_none() && text == b"__VA_OPT__" && file.text(at + 1) == b"(" {
            role = Role::Optional { end: 0 };
            optional = Some((body.len(), 0));
            at += 1;
        } else if let Some((open, depth)) = &mut optional {
            match text {
                b"(" => *depth += 1,
                b")" if *depth > 0 => *depth -= 1,
                b")" => {
                    role = Role::OptionalEnd;
                    let end = body.len();
                    body[*open].role = Role::Optional { end };
                    optional = None;
                }
                _ => {}
            }
        }
        if at == define.body.start {
            token.flags &= !SPACE;
        }
        body.push(BodyToken { piece: token, role, paste: false });
        at += 1;
    }
    if let Some((open, _)) = optional {
        body[open].role = Role::Plain;
    }
    Prepared { params: function_like.then_some(params.len()), variadic, body }
}
