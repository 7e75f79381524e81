//! Pieces into text and its map.
//!
//! Neighbours in a file stay as they stand, blanks and all, and make one run. A blank put between two runs belongs to
//! the run before it. Bytes that are no UTF-8 become `?`, one for one.

use super::pieces::{NO_INVOCATION, Piece, SCRATCH, SPACE, SPLICED};
use super::replace::Machine;
use super::rewrite::Rewritten;
use super::{Dropped, Expansion};
use crate::source::lexer::TokenKind;
use crate::text::{Expanded, FileId, Invocation, Range as FileRange, Segment};

/// Literals and names beyond this would hold the parser up; they are cut to an empty one, and the text is not whole.
const MAX_TOKEN: usize = 1 << 20;
/// Blanks between neighbours beyond this are not kept.
const MAX_GAP: usize = 256;

pub fn emit(machine: &Machine, rewritten: Rewritten) -> Expansion {
    let mut writer = Writer { machine, expanded: Expanded::default(), last: None, cut: false };
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
    let mut expanded = writer.expanded;
    expanded.text.shrink_to_fit();
    expanded.segments.shrink_to_fit();
    expanded.invocations = machine
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
    Expansion { expanded, dropped, overflowed }
}

struct Writer<'m, 'u, 'f> {
    machine: &'m Machine<'u, 'f>,
    expanded: Expanded,
    last: Option<Piece>,
    cut: bool,
}

impl Writer<'_, '_, '_> {
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
        let continues = verbatim && self.gap_before(piece).is_some_and(|gap| self.write(gap.0, gap.1));
        if !continues {
            if let Some(last) = self.last {
                let glued = piece.flags & SPACE == 0 && !could_join(&self.expanded.text, bytes);
                if !glued {
                    let newline = last.file == piece.file && last.end < piece.start && piece.file != SCRATCH && {
                        let between =
                            &self.machine.unit().files.get(piece.file).bytes[last.end as usize..piece.start as usize];
                        memchr::memchr(b'\n', between).is_some()
                    };
                    self.expanded.text.push(if newline { '\n' } else { ' ' });
                }
            }
            let (file, source) = self.machine.origin(piece);
            self.expanded.segments.push(Segment {
                out: self.expanded.text.len() as u32,
                file,
                source,
                invocation: (piece.invocation != NO_INVOCATION).then_some(piece.invocation),
                verbatim,
            });
        }
        self.append(bytes);
        self.last = Some(Piece { end: if verbatim { piece.end } else { u32::MAX }, ..*piece });
    }

    /// The blanks between the last piece and this one, if they are neighbours and nothing else stands between.
    fn gap_before(&self, piece: &Piece) -> Option<(FileId, std::ops::Range<usize>)> {
        let last = self.last?;
        let neighbours = last.file == piece.file && last.invocation == piece.invocation && last.end <= piece.start;
        let gap = last.end as usize..piece.start as usize;
        if !neighbours || gap.len() > MAX_GAP {
            return None;
        }
        let bytes = &self.machine.unit().files.get(piece.file).bytes[gap.clone()];
        bytes.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n')).then_some((piece.file, gap))
    }

    fn write(&mut self, file: FileId, gap: std::ops::Range<usize>) -> bool {
        let machine = self.machine;
        self.append(&machine.unit().files.get(file).bytes[gap]);
        true
    }

    fn append(&mut self, mut bytes: &[u8]) {
        let text = &mut self.expanded.text;
        while !bytes.is_empty() {
            match std::str::from_utf8(bytes) {
                Ok(valid) => {
                    text.push_str(valid);
                    return;
                }
                Err(error) => {
                    let (valid, rest) = bytes.split_at(error.valid_up_to());
                    text.push_str(&String::from_utf8_lossy(valid));
                    text.push('?');
                    bytes = &rest[1..];
                }
            }
        }
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
        Some(Dropped { out: self.expanded.text.len() as u32, text, range })
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

/// Whether what is written and what follows might read as one token.
fn could_join(text: &str, next: &[u8]) -> bool {
    let (Some(last), Some(first)) = (text.as_bytes().last().copied(), next.first().copied()) else { return false };
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
