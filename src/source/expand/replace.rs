//! Macro replacement: a run of tokens into what a preprocessor makes of it.
//!
//! Contexts on a stack as in GCC: the replacement of a macro is read before what follows it, and the macro is disabled
//! until it has been read. Every piece knows where it is spelled and which invocation brought it. Work is bounded by a
//! budget; beyond it, and beyond a depth of nested arguments, the rest comes out unexpanded and `overflowed` is set.

use super::pieces;
use super::pieces::{BodyToken, NO_NAME, PAINTED, PLACEMARKER, Piece, Prepared, Role, SCRATCH, SPACE, SPLICED};
use super::unit::{Definition, Moment, Unit};
use crate::source::conditions;
use crate::source::index::MacroName;
use crate::source::lexer::{self, TokenKind};
use crate::text::{FileId, Range as FileRange};
use rustc_hash::FxHashSet;
use std::borrow::Cow;
use std::ops::Range;

const MAX_ARGUMENT_DEPTH: u32 = 120;
const MAX_SCRATCH: usize = 1 << 22;

/// One use of a macro.
#[derive(Copy, Clone, Debug)]
pub struct Use {
    pub definition: Definition,
    pub site: FileRange,
    /// `NO_INVOCATION` for one spelled in the run itself or in an argument spelled there.
    pub parent: u32,
}

/// Where a machine reads from.
pub struct Base {
    pub file: FileId,
    /// Runs of tokens, in order.
    pub runs: Vec<Range<u32>>,
    /// All macros are looked up at this moment, and as seen at this token; else each at the token that is read.
    pub at: Option<(Moment, Option<u32>)>,
}

pub struct Machine<'u, 'f> {
    unit: &'u Unit<'f>,
    file: FileId,
    runs: Vec<Range<u32>>,
    run: usize,
    fixed: Option<(Moment, Option<u32>)>,
    /// The token of the base read last.
    token: u32,
    is_condition: bool,
    contexts: Vec<Reading>,
    /// Contexts below this belong to what stands round the argument being expanded.
    floor: usize,
    disabled: FxHashSet<MacroName>,
    depth: u32,
    steps: usize,
    max_steps: usize,
    pub uses: Vec<Use>,
    pub scratch: Vec<u8>,
    /// Where pieces of the scratch text come from: its first byte there, and the place of the operator.
    origins: Vec<(u32, FileId, u32)>,
    pub overflowed: bool,
}

struct Reading {
    pieces: Vec<Piece>,
    at: usize,
    disables: Option<MacroName>,
}

struct Argument {
    raw: Vec<Piece>,
    expanded: Option<Vec<Piece>>,
}

impl<'u, 'f> Machine<'u, 'f> {
    pub fn new(unit: &'u Unit<'f>, base: Base, is_condition: bool) -> Machine<'u, 'f> {
        let length: usize = base.runs.iter().map(|run| run.len()).sum();
        Machine {
            unit,
            file: base.file,
            token: base.runs.first().map_or(0, |run| run.start),
            runs: base.runs,
            run: 0,
            fixed: base.at,
            is_condition,
            contexts: Vec::new(),
            floor: 0,
            disabled: FxHashSet::default(),
            depth: 0,
            steps: 0,
            max_steps: length.saturating_mul(100).saturating_add(500_000).min(length.saturating_mul(20).max(8_000_000)),
            uses: Vec::new(),
            scratch: Vec::new(),
            origins: Vec::new(),
            overflowed: false,
        }
    }

    /// Everything there is, expanded; at most `limit` pieces.
    pub fn run(&mut self, limit: usize) -> Vec<Piece> {
        let mut out = Vec::new();
        while let Some(piece) = self.next() {
            if out.len() >= limit {
                self.overflowed = true;
                break;
            }
            out.push(piece);
        }
        out
    }

    pub fn spelling(&self, piece: &Piece) -> Cow<'_, [u8]> {
        let bytes = self.bytes(piece);
        if piece.flags & SPLICED != 0 { Cow::Owned(lexer::without_splices(bytes)) } else { Cow::Borrowed(bytes) }
    }

    /// The bytes of a piece as they stand in its file.
    pub fn bytes(&self, piece: &Piece) -> &[u8] {
        let all = if piece.file == SCRATCH { &self.scratch[..] } else { &self.unit.files.get(piece.file).bytes[..] };
        all.get(piece.start as usize..piece.end as usize).unwrap_or_default()
    }

    /// The place in a file that a piece comes from.
    pub fn origin(&self, piece: &Piece) -> (FileId, u32) {
        if piece.file != SCRATCH {
            return (piece.file, piece.start);
        }
        let index = self.origins.partition_point(|(start, ..)| *start <= piece.start);
        index.checked_sub(1).map_or((self.file, 0), |index| (self.origins[index].1, self.origins[index].2))
    }

    /// A piece with a spelling of its own, which stands where `like` stands.
    pub fn invent(&mut self, text: &[u8], kind: TokenKind, like: &Piece) -> Piece {
        let (file, source) = self.origin(like);
        let start = self.scratch.len() as u32;
        self.scratch.extend_from_slice(text);
        self.origins.push((start, file, source));
        let name = match kind {
            TokenKind::Identifier => self.unit.files.macro_name(text).map_or(NO_NAME, |name| name.0),
            _ => NO_NAME,
        };
        Piece {
            file: SCRATCH,
            start,
            end: self.scratch.len() as u32,
            kind,
            flags: like.flags & SPACE,
            first: text.first().copied().unwrap_or(0),
            name,
            invocation: like.invocation,
        }
    }

    pub fn unit(&self) -> &'u Unit<'f> {
        self.unit
    }

    /// The moment at which names are looked up here, and the token of the unit's file, if one asks.
    pub fn place(&self) -> (Moment, Option<u32>) {
        self.fixed.unwrap_or_else(|| (self.unit.moment(self.file, self.token), Some(self.token)))
    }

    fn next(&mut self) -> Option<Piece> {
        loop {
            let mut piece = self.next_raw()?;
            if self.is_condition
                && piece.kind == TokenKind::Identifier
                && let Some(answer) = conditions::operator(self, &piece)
            {
                return Some(answer);
            }
            let Some(name) = piece.name() else { return Some(piece) };
            if piece.flags & PAINTED != 0 || self.overflowed {
                return Some(piece);
            }
            if self.disabled.contains(&name) {
                piece.flags |= PAINTED;
                return Some(piece);
            }
            let (moment, asked_in) = self.place();
            let Some(definition) = self.unit.definition(name, moment, asked_in) else {
                return Some(piece);
            };
            let prepared = self.unit.prepared(definition);
            let mut arguments = Vec::new();
            let mut site = self.site(&piece, None);
            if prepared.params.is_some() {
                match self.arguments(&prepared) {
                    Some((found, close)) => {
                        arguments = found;
                        site = self.site(&piece, Some(&close));
                    }
                    None => return Some(piece),
                }
            }
            let invocation = self.uses.len() as u32;
            self.uses.push(Use { definition, site, parent: piece.invocation });
            let mut pieces = Vec::with_capacity(prepared.body.len());
            self.substitute(&prepared, &prepared.body, &mut arguments, invocation, &mut pieces);
            pieces.retain(|piece| piece.flags & PLACEMARKER == 0);
            if let Some(first) = pieces.first_mut() {
                first.flags = first.flags & !SPACE | piece.flags & SPACE;
            }
            self.disabled.insert(name);
            self.contexts.push(Reading { pieces, at: 0, disables: Some(name) });
        }
    }

    /// The next piece as it stands, contexts that have ended left behind.
    pub fn next_raw(&mut self) -> Option<Piece> {
        self.spend(1);
        while self.contexts.len() > self.floor {
            let context = self.contexts.last_mut()?;
            if let Some(piece) = context.pieces.get(context.at) {
                context.at += 1;
                return Some(*piece);
            }
            if let Some(Reading { disables: Some(name), .. }) = self.contexts.pop() {
                self.disabled.remove(&name);
            }
        }
        if self.floor > 0 {
            return None;
        }
        loop {
            let run = self.runs.get_mut(self.run)?;
            if let Some(token) = run.next() {
                self.token = token;
                return Some(pieces::piece(self.unit.files, self.file, token));
            }
            self.run += 1;
        }
    }

    fn spend(&mut self, steps: usize) {
        self.steps += steps;
        if self.steps > self.max_steps || self.scratch.len() > MAX_SCRATCH {
            self.overflowed = true;
        }
    }

    pub fn unread(&mut self, pieces: Vec<Piece>) {
        if !pieces.is_empty() {
            self.contexts.push(Reading { pieces, at: 0, disables: None });
        }
    }

    /// The arguments of a call whose name has been read, and its closing parenthesis. `None`, with nothing read,
    /// if no call follows, if it does not end, or if the number of arguments is wrong.
    fn arguments(&mut self, prepared: &Prepared) -> Option<(Vec<Argument>, Piece)> {
        let open = self.next_raw()?;
        if !open.is_byte(b'(') {
            self.unread(vec![open]);
            return None;
        }
        let count = prepared.params.unwrap_or(0);
        let mut read = vec![open];
        // Where each argument starts and ends in `read`.
        let mut bounds = Vec::new();
        bounds.push(1..1);
        let mut depth = 0;
        let close = loop {
            let Some(mut piece) = self.next_raw().filter(|_| !self.overflowed) else {
                self.unread(read);
                return None;
            };
            if piece.name().is_some_and(|name| self.disabled.contains(&name)) {
                piece.flags |= PAINTED;
            }
            let comma_ends = !(prepared.variadic && bounds.len() == count);
            let at = read.len();
            read.push(piece);
            if piece.is_byte(b'(') {
                depth += 1;
            } else if piece.is_byte(b')') {
                if depth == 0 {
                    break piece;
                }
                depth -= 1;
            } else if piece.is_byte(b',') && depth == 0 && comma_ends {
                bounds.push(at + 1..at + 1);
                continue;
            }
            if let Some(last) = bounds.last_mut() {
                last.end = at + 1;
            }
        };
        if count == 0 && bounds.len() == 1 && bounds[0].is_empty() {
            bounds.clear();
        }
        let omitted = prepared.variadic && bounds.len() + 1 == count;
        if bounds.len() != count && !omitted {
            self.unread(read);
            return None;
        }
        let mut arguments: Vec<Argument> =
            bounds.into_iter().map(|bound| Argument { raw: read[bound].to_vec(), expanded: None }).collect();
        if omitted {
            arguments.push(Argument { raw: Vec::new(), expanded: None });
        }
        Some((arguments, close))
    }

    fn substitute(
        &mut self,
        prepared: &Prepared,
        body: &[BodyToken],
        arguments: &mut [Argument],
        invocation: u32,
        out: &mut Vec<Piece>,
    ) {
        let variadic_param = prepared.params.filter(|_| prepared.variadic).map(|count| count - 1);
        let mut paste = false;
        let mut at = 0;
        while let Some(token) = body.get(at) {
            let start = out.len();
            let own = Piece { invocation, ..token.piece };
            let mut paste_after = token.paste;
            match token.role {
                Role::Plain => out.push(own),
                Role::OptionalEnd => {}
                Role::Stringise(param) => {
                    let string = self.stringise(&arguments[param].raw, &own);
                    out.push(string);
                }
                Role::Param(param) => {
                    let raw = &arguments[param].raw;
                    let gnu_comma =
                        paste && Some(param) == variadic_param && out.last().is_some_and(|last| last.is_byte(b','));
                    if gnu_comma {
                        paste = false;
                        if raw.is_empty() {
                            out.pop();
                        }
                    }
                    if paste || token.paste || gnu_comma {
                        out.extend_from_slice(raw);
                    } else {
                        out.extend_from_slice(self.expanded(&mut arguments[param]));
                    }
                    let start = start.min(out.len());
                    match out.get_mut(start) {
                        Some(first) => first.flags = first.flags & !SPACE | own.flags & SPACE,
                        None => out.push(Piece { flags: own.flags | PLACEMARKER, ..own }),
                    }
                }
                Role::Optional { end } => {
                    let has_rest = variadic_param.is_some_and(|param| !self.expanded(&mut arguments[param]).is_empty());
                    // `end` counts in the whole body, of which `body` is the beginning or a part without such text.
                    let inside = body.get(at + 1..end).unwrap_or_default();
                    if has_rest {
                        self.substitute(prepared, inside, arguments, invocation, out);
                    }
                    if out.len() == start {
                        out.push(Piece { flags: own.flags | PLACEMARKER, ..own });
                    }
                    paste_after = body.get(end).is_some_and(|end| end.paste);
                    at = end.max(at);
                }
            }
            if paste && start > 0 && out.len() > start {
                self.paste(out, start);
            }
            paste = paste_after;
            at += 1;
            self.spend(out.len().saturating_sub(start));
            if self.overflowed {
                return;
            }
        }
    }

    fn expanded<'a>(&mut self, argument: &'a mut Argument) -> &'a [Piece] {
        let raw = &argument.raw;
        argument.expanded.get_or_insert_with(|| {
            if raw.iter().all(|piece| piece.name().is_none()) && !self.is_condition {
                return raw.clone();
            }
            if self.depth >= MAX_ARGUMENT_DEPTH {
                self.overflowed = true;
                return raw.clone();
            }
            self.depth += 1;
            let floor = std::mem::replace(&mut self.floor, self.contexts.len());
            // A floor of 0 would read on in the base.
            if self.floor == 0 {
                self.contexts.push(Reading { pieces: Vec::new(), at: 0, disables: None });
                self.floor = 1;
            }
            self.contexts.push(Reading { pieces: raw.clone(), at: 0, disables: None });
            let mut out = Vec::with_capacity(raw.len());
            while let Some(piece) = self.next() {
                out.push(piece);
            }
            self.floor = floor;
            self.depth -= 1;
            out
        })
    }

    fn stringise(&mut self, pieces: &[Piece], own: &Piece) -> Piece {
        let mut text = vec![b'"'];
        for (index, piece) in pieces.iter().enumerate() {
            if index > 0 && piece.flags & SPACE != 0 {
                text.push(b' ');
            }
            let escapes = matches!(piece.kind, TokenKind::String | TokenKind::Character);
            for byte in self.spelling(piece).iter() {
                if escapes && matches!(byte, b'"' | b'\\') {
                    text.push(b'\\');
                }
                text.push(*byte);
            }
        }
        text.push(b'"');
        self.invent(&text, TokenKind::String, own)
    }

    /// Joins the piece before `at` with the one there, if that makes one token.
    fn paste(&mut self, out: &mut Vec<Piece>, at: usize) {
        let (left, right) = (out[at - 1], out[at]);
        if right.flags & PLACEMARKER != 0 {
            out.remove(at);
            return;
        }
        if left.flags & PLACEMARKER != 0 {
            out[at].flags = right.flags & !SPACE | left.flags & SPACE;
            out.remove(at - 1);
            return;
        }
        let mut text = self.spelling(&left).into_owned();
        text.extend_from_slice(&self.spelling(&right));
        if text.len() > MAX_SCRATCH / 8 {
            self.overflowed = true;
            return;
        }
        let kind = match (left.kind, right.kind) {
            (TokenKind::Identifier, TokenKind::Identifier) => TokenKind::Identifier,
            _ => match lexer::lex(&text).tokens[..] {
                [token] if token.end() as usize == text.len() => token.kind(),
                _ => return,
            },
        };
        let kind = if kind == TokenKind::Directive { TokenKind::Punctuator } else { kind };
        let pasted = self.invent(&text, kind, &left);
        out[at - 1] = pasted;
        out.remove(at);
    }

    /// From a macro's name to the end of its arguments, if both are spelled in one place.
    fn site(&self, name: &Piece, close: Option<&Piece>) -> FileRange {
        let (file, start) = self.origin(name);
        let same =
            close.filter(|close| close.file == name.file && close.invocation == name.invocation && close.end > start);
        let end = match same {
            Some(close) => close.end,
            None if name.file == SCRATCH => start + 1,
            None => name.end,
        };
        FileRange { file, start, end }
    }
}
