//! What a token stands for once macros are replaced: a kernel's mark, a barrier, control flow, ...
//!
//! A macro has the marks of all words of its replacement list and of the macros named there; arguments are not looked at.

use super::unit::{Definition, Moment, Unit};
use crate::source::index::Files;
use crate::source::lexer::{Token, TokenKind};
use crate::text::FileId;
use memchr::memmem;
use std::ops::{BitOr, BitOrAssign};

/// How many macros deep a replacement list is followed.
const MAX_DEPTH: u32 = 40;

/// A set of properties.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks(u16);

impl Marks {
    pub const NONE: Marks = Marks(0);
    /// `__global__`
    pub const KERNEL: Marks = Marks(1);
    /// `__device__`
    pub const DEVICE: Marks = Marks(1 << 1);
    /// `__host__`
    pub const HOST: Marks = Marks(1 << 2);
    pub const BARRIER: Marks = Marks(1 << 3);
    /// `threadIdx` and its kin.
    pub const INDEX: Marks = Marks(1 << 4);
    /// `if`, `for`, `return`, ...
    pub const CONTROL: Marks = Marks(1 << 5);
    /// `{` or `}`
    pub const BRACE: Marks = Marks(1 << 6);
    pub const SEMICOLON: Marks = Marks(1 << 7);
    /// `class`, `struct`, `namespace`, `template`, ...
    pub const TYPE_HEAD: Marks = Marks(1 << 8);
    /// `__shared__`, `__constant__`, `__managed__`
    pub const STORAGE: Marks = Marks(1 << 9);

    pub fn contains(self, other: Marks) -> bool {
        self.0 & other.0 == other.0
    }

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl BitOr for Marks {
    type Output = Marks;

    fn bitor(self, other: Marks) -> Marks {
        Marks(self.0 | other.0)
    }
}

impl BitOrAssign for Marks {
    fn bitor_assign(&mut self, other: Marks) {
        self.0 |= other.0;
    }
}

impl Unit<'_> {
    /// What a token of the unit's file is or, for a macro in force there, what it is replaced by.
    pub fn marks(&self, token: u32) -> Marks {
        self.marks_at(self.file, token, Some(token), self.moment(self.file, token), 0)
    }

    /// Whether a macro of the name is in force at a token of the unit's file.
    pub fn is_macro(&self, token: u32) -> bool {
        self.definition_at(self.file, token, Some(token), self.moment(self.file, token)).is_some()
    }

    fn definition_at(&self, file: FileId, token: u32, asked_in: Option<u32>, at: Moment) -> Option<Definition> {
        let piece = super::pieces::piece(self.files, file, token);
        self.definition(piece.name()?, at, asked_in)
    }

    fn marks_at(&self, file: FileId, token: u32, asked_in: Option<u32>, at: Moment, depth: u32) -> Marks {
        let index = self.files.get(file);
        let Some(lexed) = index.tokens.get(token as usize) else { return Marks::NONE };
        if lexed.kind() != TokenKind::Identifier {
            return plain(self.files, file, *lexed, token);
        }
        let Some(definition) = self.definition_at(file, token, asked_in, at) else {
            return plain(self.files, file, *lexed, token);
        };
        if depth >= MAX_DEPTH {
            return Marks::NONE;
        }
        if let Some(known) = self.known_marks.borrow().get(&definition) {
            return *known;
        }
        // A macro that names itself, through others, adds nothing there.
        self.known_marks.borrow_mut().insert(definition, Marks::NONE);
        let body = self.files.get(definition.file).macros[definition.index as usize].body.clone();
        let mut marks = Marks::NONE;
        for token in body {
            marks |= self.marks_at(definition.file, token, asked_in, at, depth + 1);
        }
        self.known_marks.borrow_mut().insert(definition, marks);
        marks
    }
}

fn plain(files: &Files, file: FileId, token: Token, at: u32) -> Marks {
    let index = files.get(file);
    let bytes = token.bytes(&index.bytes);
    match token.kind() {
        TokenKind::Identifier => word(bytes) | call(index.text(at.saturating_sub(1)), bytes, index.text(at + 1)),
        TokenKind::Punctuator => match bytes {
            b"{" | b"}" => Marks::BRACE,
            b";" => Marks::SEMICOLON,
            _ => Marks::NONE,
        },
        TokenKind::String if memmem::find(bytes, b"bar.").is_some() || memmem::find(bytes, b"barrier.").is_some() => {
            Marks::BARRIER
        }
        _ => Marks::NONE,
    }
}

fn call(before: &[u8], word: &[u8], after: &[u8]) -> Marks {
    let is_sync = word == b"sync" && after == b"(" && matches!(before, b"." | b"->" | b"::");
    if is_sync { Marks::BARRIER } else { Marks::NONE }
}

fn word(word: &[u8]) -> Marks {
    match word {
        b"__global__" => Marks::KERNEL,
        b"__device__" => Marks::DEVICE,
        b"__host__" => Marks::HOST,
        b"__shared__" | b"__constant__" | b"__managed__" => Marks::STORAGE,
        b"threadIdx" | b"blockIdx" | b"blockDim" | b"gridDim" | b"warpSize" => Marks::INDEX,
        b"if" | b"else" | b"for" | b"while" | b"do" | b"switch" | b"case" | b"default" | b"break" | b"continue"
        | b"return" | b"goto" => Marks::CONTROL,
        b"class" | b"struct" | b"union" | b"enum" | b"namespace" | b"template" => Marks::TYPE_HEAD,
        b"cluster_sync" | b"cluster_wait" | b"cluster_arrive" | b"arrive_and_wait" => Marks::BARRIER,
        _ if word.starts_with(b"__sync") || word.starts_with(b"__barrier_sync") => Marks::BARRIER,
        _ if word.starts_with(b"__") && word.ends_with(b"_sync") => Marks::BARRIER,
        _ => Marks::NONE,
    }
}
