//! A file as miette reads it: lines found by index instead of by a walk over the whole file for each label,
//! and nothing in it that a terminal would obey.

use crate::text::LineIndex;
use miette::{MietteError, MietteSpanContents, SourceCode, SourceSpan, SpanContents};
use std::borrow::Cow;

/// Lines longer than this come from a generator; drawing them helps nobody.
const MAX_LINE: usize = 600;

pub struct Snippet<'a> {
    path: String,
    bytes: Cow<'a, [u8]>,
    lines: LineIndex,
}

impl<'a> Snippet<'a> {
    pub fn new(path: &str, bytes: &'a [u8]) -> Snippet<'a> {
        let path = path.chars().map(|it| if it.is_control() { '?' } else { it }).collect();
        Snippet { path, lines: LineIndex::new(bytes), bytes: printable(bytes) }
    }

    pub fn path(&self) -> &str {
        &self.path
    }

    /// The part of a range that lies in its first line, at least one byte if there is any, whole characters.
    pub fn clip(&self, start: usize, end: usize) -> SourceSpan {
        let length = self.bytes.len();
        let mut start = start.min(length);
        while start > 0 && is_inside_character(&self.bytes, start) {
            start -= 1;
        }
        let line_end = memchr::memchr(b'\n', &self.bytes[start..]).map_or(length, |newline| start + newline);
        let mut end = end.clamp(start, line_end);
        if end == start && end < line_end {
            end += 1;
        }
        while end < line_end && is_inside_character(&self.bytes, end) {
            end += 1;
        }
        SourceSpan::from((start, end - start))
    }

    /// What is left of a span without one inside it: of a step its first word, else the longer rest.
    pub fn without(&self, span: &SourceSpan, inner: &SourceSpan, is_step: bool) -> SourceSpan {
        let (start, end) = (span.offset(), span.offset() + span.len());
        let (inner_start, inner_end) = (inner.offset(), inner.offset() + inner.len());
        if inner_end <= start || end <= inner_start {
            return *span;
        }
        // A span that was cut already may overlap the inner one by half.
        let before = self.trim(start, inner_start.max(start));
        let after = self.trim(inner_end.min(end), end);
        let text = &self.bytes[before.0..before.1];
        let word = text.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
        let (start, end) = match is_step && word > 0 {
            true => (before.0, before.0 + word),
            false if before.1 - before.0 >= after.1 - after.0 => before,
            false => after,
        };
        if start == end { *span } else { SourceSpan::from((start, end - start)) }
    }

    /// Without blanks at its ends.
    fn trim(&self, mut start: usize, mut end: usize) -> (usize, usize) {
        let is_blank = |byte: u8| byte.is_ascii_whitespace();
        while start < end && is_blank(self.bytes[start]) {
            start += 1;
        }
        while start < end && is_blank(self.bytes[end - 1]) {
            end -= 1;
        }
        (start, end)
    }

    /// Whether the lines round the span are fit to be shown.
    pub fn is_drawable(&self, span: &SourceSpan) -> bool {
        let line = self.line_of(span.offset());
        (line.saturating_sub(1).max(1)..=line + 1).all(|line| {
            let Some((start, next)) = self.lines.line(line) else { return true };
            next.map_or(self.bytes.len(), |next| next as usize) - start as usize <= MAX_LINE
        })
    }

    pub fn line_of(&self, byte: usize) -> u32 {
        self.lines.place(byte as u32).line
    }
}

impl SourceCode for Snippet<'_> {
    fn read_span<'b>(
        &'b self,
        span: &SourceSpan,
        lines_before: usize,
        lines_after: usize,
    ) -> Result<Box<dyn SpanContents<'b> + 'b>, MietteError> {
        let (start, end) = (span.offset(), span.offset() + span.len());
        if end > self.bytes.len() {
            return Err(MietteError::OutOfBounds);
        }
        let first = self.line_of(start).saturating_sub(lines_before as u32).max(1);
        let last = self.line_of(end.saturating_sub(1).max(start)) + lines_after as u32;
        let begin = match lines_before {
            0 => start,
            _ => self.lines.line(first).map_or(start, |(begin, _)| begin as usize),
        };
        let stop = match lines_after {
            0 => end,
            _ => self.lines.line(last).and_then(|(_, next)| next).map_or(self.bytes.len(), |next| next as usize),
        };
        let column = if lines_before == 0 { self.lines.place(start as u32).column as usize - 1 } else { 0 };
        let stop = stop.max(begin);
        Ok(Box::new(MietteSpanContents::new_named(
            self.path.clone(),
            &self.bytes[begin..stop],
            SourceSpan::from((begin, stop - begin)),
            first as usize - 1,
            column,
            (last - first) as usize + 1,
        )))
    }
}

/// The same bytes at the same places, with `?` for what is no UTF-8 and blanks for control characters.
fn printable(bytes: &[u8]) -> Cow<'_, [u8]> {
    let is_control = |byte: u8| (byte < b' ' && !matches!(byte, b'\t' | b'\n')) || byte == 0x7f;
    let clean = std::str::from_utf8(bytes).is_ok() && !bytes.iter().any(|byte| is_control(*byte));
    // U+0080 to U+009F are control characters of two bytes.
    if clean && memchr::memchr(0xc2, bytes).is_none() {
        return Cow::Borrowed(bytes);
    }
    let mut text = Vec::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            if character.is_control() && !matches!(character, '\t' | '\n') {
                text.resize(text.len() + character.len_utf8(), b' ');
            } else {
                text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            }
        }
        text.resize(text.len() + chunk.invalid().len(), b'?');
    }
    Cow::Owned(text)
}

fn is_inside_character(bytes: &[u8], at: usize) -> bool {
    bytes.get(at).is_some_and(|byte| (0x80..0xc0).contains(byte))
}
