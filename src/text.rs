//! Places in files, and how text that came out of macros finds its way home.

use serde::{Deserialize, Serialize};

/// A file of the run, an index into the session's list of files.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FileId(pub u32);

/// A piece of one file, in bytes of the file as read; `end` is exclusive.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Range {
    pub file: FileId,
    pub start: u32,
    pub end: u32,
}

/// A piece of one item's expanded text, in bytes; `end` is exclusive.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    pub start: u32,
    pub end: u32,
}

impl Span {
    pub fn new(start: usize, end: usize) -> Span {
        Span { start: start as u32, end: end as u32 }
    }
}

/// What the parser sees of one item: its tokens after macro expansion, with CUDA's own syntax
/// taken out, and for every byte the place it came from.
///
/// `segments` is sorted by `out` and starts at 0; the bytes of `text` from one `out` to the next
/// came from one run of bytes of a file (`buffer`), or were made by a macro operator (`##`, `#`).
#[derive(Clone, Debug, Default)]
pub struct Expanded {
    pub text: String,
    pub segments: Vec<Segment>,
    pub invocations: Vec<Invocation>,
}

#[derive(Copy, Clone, Debug)]
pub struct Segment {
    /// First byte of this run in `Expanded::text`.
    pub out: u32,
    /// Where the run is spelled: `file` and its first byte there. For pasted and stringised text, the place of the operator.
    pub file: FileId,
    pub source: u32,
    /// The macro invocation that produced this run, an index into `invocations`, or `None` for plain text.
    pub invocation: Option<u32>,
    /// The run is a verbatim copy of the source, byte for byte.
    pub verbatim: bool,
}

/// One use of a macro.
#[derive(Clone, Debug)]
pub struct Invocation {
    pub macro_name: String,
    /// The use, name and arguments, where it is spelled.
    pub site: Range,
    /// The invocation in whose replacement this one stands.
    pub parent: Option<u32>,
}

/// Where a span of expanded text stands for a reader.
#[derive(Clone, Debug)]
pub struct Home {
    /// The span in the file; for text from a macro the outermost use of it.
    pub range: Range,
    /// For text out of a macro's replacement list: where it is spelled there, and the macro's name.
    pub spelled: Option<(Range, String)>,
}

impl Expanded {
    /// Where `span` stands in the files. A span that begins and ends in plain text keeps its exact extent;
    /// one that touches a macro is widened to the whole outermost invocation.
    pub fn home(&self, span: Span) -> Home {
        let first = self.segment_at(span.start);
        let last = self.segment_at(span.end.saturating_sub(1).max(span.start));
        let (start, start_range) = self.outermost(first, span.start);
        let (_, end_range) = self.outermost(last, span.end.saturating_sub(1).max(span.start));
        let end = if start_range.file == end_range.file { end_range.end.max(start_range.end) } else { start_range.end };
        let spelled = start.and_then(|invocation| {
            let segment = self.segments.get(first)?;
            let offset = if segment.verbatim { span.start - segment.out } else { 0 };
            let length = span.end.saturating_sub(span.start).max(1);
            let range =
                Range { file: segment.file, start: segment.source + offset, end: segment.source + offset + length };
            Some((range, self.invocations[invocation as usize].macro_name.clone()))
        });
        Home { range: Range { end, ..start_range }, spelled }
    }

    fn segment_at(&self, offset: u32) -> usize {
        self.segments.partition_point(|segment| segment.out <= offset).saturating_sub(1)
    }

    /// The outermost invocation round `offset` and the range it covers; without one, the single byte itself.
    fn outermost(&self, index: usize, offset: u32) -> (Option<u32>, Range) {
        let Some(segment) = self.segments.get(index) else {
            return (None, Range { file: FileId(0), start: 0, end: 0 });
        };
        match segment.invocation {
            Some(mut invocation) => {
                while let Some(parent) = self.invocations[invocation as usize].parent {
                    invocation = parent;
                }
                (Some(invocation), self.invocations[invocation as usize].site)
            }
            None => {
                let at = segment.source + if segment.verbatim { offset - segment.out } else { 0 };
                (None, Range { file: segment.file, start: at, end: at + 1 })
            }
        }
    }
}

/// Line and column of a byte, both from 1; the column counts UTF-8 bytes.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub line: u32,
    pub column: u32,
}

/// The line starts of one file, for turning bytes into lines.
#[derive(Clone, Debug)]
pub struct LineIndex {
    starts: Vec<u32>,
}

impl LineIndex {
    pub fn new(bytes: &[u8]) -> LineIndex {
        let starts = std::iter::once(0).chain(memchr::memchr_iter(b'\n', bytes).map(|at| at as u32 + 1)).collect();
        LineIndex { starts }
    }

    pub fn place(&self, byte: u32) -> Place {
        let line = self.starts.partition_point(|start| *start <= byte);
        Place { line: line as u32, column: byte - self.starts[line - 1] + 1 }
    }

    /// First byte of a line (from 1), and of the line after it or `None` at the end of the file.
    pub fn line(&self, line: u32) -> Option<(u32, Option<u32>)> {
        let start = *self.starts.get((line as usize).checked_sub(1)?)?;
        Some((start, self.starts.get(line as usize).copied()))
    }
}

/// A file of the run as read: `FileId` is its index among the sources.
#[derive(Clone, Debug, Default)]
pub struct Source {
    /// As reached from the path the user gave, with `/`.
    pub path: String,
    pub bytes: Vec<u8>,
}

impl Source {
    /// The line that holds `byte`, without its end; bytes that are no UTF-8 replaced.
    pub fn line_at(&self, byte: u32) -> std::borrow::Cow<'_, str> {
        let at = (byte as usize).min(self.bytes.len());
        let start = memchr::memrchr(b'\n', &self.bytes[..at]).map_or(0, |newline| newline + 1);
        let end = memchr::memchr(b'\n', &self.bytes[at..]).map_or(self.bytes.len(), |length| at + length);
        String::from_utf8_lossy(self.bytes[start..end].strip_suffix(b"\r").unwrap_or(&self.bytes[start..end]))
    }
}

/// Where a word of ASCII letters stands in a text, in whatever case.
pub fn find_any_case(text: &[u8], word: &[u8]) -> Option<usize> {
    let head = *word.first()?;
    let heads = memchr::memchr2_iter(head.to_ascii_lowercase(), head.to_ascii_uppercase(), text);
    heads
        .into_iter()
        .find(|start| text[*start..].get(..word.len()).is_some_and(|found| found.eq_ignore_ascii_case(word)))
}
