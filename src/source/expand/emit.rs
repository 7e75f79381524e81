//! Pieces into text and its map.
//!
//! Neighbours in a file stay as they stand, blanks and all, and make one run. A blank put between two runs belongs to
//! the run before it. Bytes that are no UTF-8 become `?`, one for one.

use super::pieces::{NO_INVOCATION, Piece, SCRATCH, SPACE, SPLICED};
use super::replace::Machine;
use super::rewrite::Rewritten;
use super::{Dropped, Expansion};
use crate::source::lexer::TokenKind;
use crate::text::{Expanded, Invocation, Range as FileRange, Segment};

/// Literals and names beyond this would hold the parser up; they are cut to an empty one, and the text is not whole.
const MAX_TOKEN: usize = 1 << 20;
/// Blanks between neighbours beyond this are not kept.
const MAX_GAP: usize = 256;

pub fn emit(machine: &Machine, rewritten: Rewritten) -> Expansion {
    let mut writer = Writer { machine, text: Vec::new(), segments: Vec::new(), last: None, cut: false };
    let mut dropped = Vec::new();
    let mut pending = rewritten.dropped.into_iter().peekable();
    for (index, piece) in rewritten.pieces.iter().enumerate() {
        while let Some((_, pieces)) = pending.next_if(|(at, _)| *at <= index) {
            dropped.extend(writer.dropped(&pieces));
        }
        writer.push(piece);
    }
    for (_, pieces) in pending {
        dropped.extend(writer.dropped(&pieces));
    }
    let overflowed = machine.overflowed || writer.cut;
    let (text, mut segments) = (writer.text, writer.segments);
    let mut text = String::from_utf8(text).unwrap_or_else(|error| one_for_one(error.as_bytes()));
    text.shrink_to_fit();
    segments.shrink_to_fit();
    let invocations = machine
        .uses
        .iter()
        .map(|used| {
            let file = machine.unit().files.get(used.definition.file);
            let name = file.text(file.macros[used.definition.index as usize].name);
            Invocation {
                macro_name: String::from_utf8_lossy(name).into_owned(),
                site: used.site,
                parent: (used.parent != NO_INVOCATION).then_some(used.parent),
            }
        })
        .collect();
    Expansion { expanded: Expanded { text, segments, invocations }, dropped, overflowed }
}

struct Writer<'m, 'u, 'f> {
    machine: &'m Machine<'u, 'f>,
    text: Vec<u8>,
    segments: Vec<Segment>,
    last: Option<Piece>,
    cut: bool,
}

impl<'m> Writer<'m, '_, '_> {
    fn push(&mut self, piece: &Piece) {
        if piece.start == piece.end {
            return;
        }
        let bytes = self.machine.spelling(piece);
        let verbatim = piece.file != SCRATCH && piece.flags & SPLICED == 0 && bytes.len() <= MAX_TOKEN;
        self.cut |= bytes.len() > MAX_TOKEN;
        let bytes: &[u8] = match piece.kind {
            _ if bytes.len() <= MAX_TOKEN => &bytes,
            TokenKind::String | TokenKind::Unknown => b"\"\"",
            TokenKind::Identifier => b"overlong",
            _ => b"0",
        };
        if let Some(gap) = self.gap_before(piece).filter(|_| verbatim) {
            self.text.extend_from_slice(gap);
        } else {
            if let Some(last) = self.last {
                let glued = piece.flags & SPACE == 0 && !could_join(&self.text, bytes);
                if !glued {
                    let newline = last.file == piece.file && last.end < piece.start && piece.file != SCRATCH && {
                        let between =
                            &self.machine.unit().files.get(piece.file).bytes[last.end as usize..piece.start as usize];
                        memchr::memchr(b'\n', between).is_some()
                    };
                    self.text.push(if newline { b'\n' } else { b' ' });
                }
            }
            let (file, source) = self.machine.origin(piece);
            self.segments.push(Segment {
                out: self.text.len() as u32,
                file,
                source,
                invocation: (piece.invocation != NO_INVOCATION).then_some(piece.invocation),
                verbatim,
            });
        }
        self.text.extend_from_slice(bytes);
        self.last = Some(Piece { end: if verbatim { piece.end } else { u32::MAX }, ..*piece });
    }

    /// The blanks between the last piece and this one, if they are neighbours and nothing else stands between.
    fn gap_before(&self, piece: &Piece) -> Option<&'m [u8]> {
        let last = self.last?;
        let neighbours = last.file == piece.file && last.invocation == piece.invocation && last.end <= piece.start;
        let gap = last.end as usize..piece.start as usize;
        if !neighbours || gap.len() > MAX_GAP {
            return None;
        }
        let machine: &'m Machine = self.machine;
        let bytes = &machine.unit().files.get(piece.file).bytes[gap];
        bytes.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n')).then_some(bytes)
    }

    fn dropped(&self, pieces: &[Piece]) -> Option<Dropped> {
        let first = pieces.first()?;
        let mut text = String::new();
        for piece in pieces {
            if piece.flags & SPACE != 0 && !text.is_empty() {
                text.push(' ');
            }
            text.push_str(&String::from_utf8_lossy(&self.machine.spelling(piece)));
        }
        let range = self.outermost(first);
        let end = pieces.last().map(|last| self.outermost(last)).filter(|last| last.file == range.file);
        let range = FileRange { end: end.map_or(range.end, |last| last.end.max(range.end)), ..range };
        Some(Dropped { out: self.text.len() as u32, text, range })
    }

    /// Where a piece stands in the file: itself, or the outermost invocation that brought it.
    fn outermost(&self, piece: &Piece) -> FileRange {
        let mut invocation = piece.invocation;
        let mut site = None;
        while let Some(used) = self.machine.uses.get(invocation as usize) {
            site = Some(used.site);
            invocation = used.parent;
        }
        let (file, start) = self.machine.origin(piece);
        site.unwrap_or(FileRange { file, start, end: start + (piece.end - piece.start) })
    }
}

/// Text in which each byte that is no UTF-8 is a `?`, so that offsets stay.
fn one_for_one(mut bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    while let Err(error) = std::str::from_utf8(bytes) {
        let (valid, rest) = bytes.split_at(error.valid_up_to());
        text.push_str(&String::from_utf8_lossy(valid));
        text.push('?');
        bytes = &rest[1..];
    }
    text.push_str(&String::from_utf8_lossy(bytes));
    text
}

/// Whether what is written and what follows might read as one token.
fn could_join(text: &[u8], next: &[u8]) -> bool {
    let (Some(last), Some(first)) = (text.last().copied(), next.first().copied()) else { return false };
    let wordlike =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'"' | b'\'' | b'.') || byte >= 0x80;
    let operator = |byte: u8| {
        matches!(
            byte,
            b'+' | b'-' | b'*' | b'/' | b'%' | b'&' | b'|' | b'^' | b'<' | b'>' | b'=' | b'!' | b':' | b'.' | b'#'
        )
    };
    (wordlike(last) && wordlike(first)) || (operator(last) && operator(first))
}
