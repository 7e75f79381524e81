//! Bytes of a file <-> lines and UTF-16 columns of an editor, paths <-> URIs, and the changes that an editor sends.

use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// From 0; `character` counts UTF-16 units.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Position {
    pub line: u32,
    pub character: u32,
}

#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    pub start: Position,
    pub end: Position,
}

impl Span {
    /// Whether they share a place; touching counts, so that a cursor at an edge is in.
    pub fn meets(&self, other: &Span) -> bool {
        self.start <= other.end && other.start <= self.end
    }
}

/// The lines of one text, ended by `\n`, `\r\n` or `\r`. What is no UTF-8 counts as editors show it: a unit for each
/// replaced sequence.
pub struct Lines<'t> {
    bytes: &'t [u8],
    starts: Vec<u32>,
}

impl<'t> Lines<'t> {
    pub fn new(bytes: &'t [u8]) -> Lines<'t> {
        let ends = memchr::memchr2_iter(b'\n', b'\r', bytes)
            .filter(|at| bytes[*at] == b'\n' || bytes.get(at + 1) != Some(&b'\n'));
        let starts = std::iter::once(0).chain(ends.map(|at| at as u32 + 1)).collect();
        Lines { bytes, starts }
    }

    pub fn position(&self, byte: u32) -> Position {
        let byte = byte.min(self.bytes.len() as u32);
        let line = self.starts.partition_point(|start| *start <= byte) - 1;
        let before = &self.bytes[self.starts[line] as usize..byte as usize];
        let units = if before.is_ascii() {
            before.len()
        } else {
            String::from_utf8_lossy(before).chars().map(char::len_utf16).sum()
        };
        Position { line: line as u32, character: units as u32 }
    }

    pub fn span(&self, start: u32, end: u32) -> Span {
        Span { start: self.position(start), end: self.position(end.max(start)) }
    }

    /// The byte at a position; beyond a line's end its end, beyond the last line the end of the text.
    pub fn byte(&self, position: Position) -> u32 {
        let Some(start) = self.starts.get(position.line as usize) else { return self.bytes.len() as u32 };
        let start = *start as usize;
        let end = self.starts.get(position.line as usize + 1).map_or(self.bytes.len(), |next| *next as usize);
        let mut line = &self.bytes[start..end];
        while let Some((b'\n' | b'\r', rest)) = line.split_last() {
            line = rest;
        }
        let mut units = position.character as usize;
        if line.is_ascii() {
            return (start + units.min(line.len())) as u32;
        }
        let mut at = start;
        for chunk in line.utf8_chunks() {
            for each in chunk.valid().chars() {
                if units < each.len_utf16() {
                    return at as u32;
                }
                units -= each.len_utf16();
                at += each.len_utf8();
            }
            if !chunk.invalid().is_empty() {
                if units == 0 {
                    return at as u32;
                }
                units -= 1;
                at += chunk.invalid().len();
            }
        }
        at as u32
    }
}

/// One of the changes of `textDocument/didChange`; without a range the whole text.
#[derive(Clone, Debug, Deserialize)]
pub struct Change {
    pub range: Option<Span>,
    pub text: String,
}

pub fn apply(text: &mut String, change: Change) {
    let Some(range) = change.range else {
        *text = change.text;
        return;
    };
    let lines = Lines::new(text.as_bytes());
    let (a, b) = (lines.byte(range.start) as usize, lines.byte(range.end) as usize);
    let (start, end) = (a.min(b), a.max(b));
    text.replace_range(start..end, &change.text);
}

/// The path of a `file:` URI.
pub fn path_of(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file://").or_else(|| uri.strip_prefix("FILE://"))?;
    let path = &rest[rest.find('/')?..];
    let mut bytes = Vec::with_capacity(path.len());
    let mut left = path.bytes();
    while let Some(byte) = left.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
        bytes.push((digit(left.next())? * 16 + digit(left.next())?) as u8);
    }
    let text = String::from_utf8(bytes).ok()?;
    let drive = cfg!(windows) && text.as_bytes().get(2) == Some(&b':');
    Some(PathBuf::from(if drive { text[1..].to_string() } else { text }))
}

/// The URI of an absolute path, escaped as VS Code does it.
pub fn uri_of(path: &Path) -> String {
    let text = path.to_string_lossy().replace('\\', "/");
    let mut uri = String::from(if text.starts_with('/') { "file://" } else { "file:///" });
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => uri.push(char::from(byte)),
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(line: u32, character: u32) -> Position {
        Position { line, character }
    }

    #[test]
    fn columns_count_utf16_units() {
        let text = "a\u{e4}\u{1d11e}b\r\nc\rd\n";
        let lines = Lines::new(text.as_bytes());
        for (byte, place) in [(0, at(0, 0)), (1, at(0, 1)), (3, at(0, 2)), (7, at(0, 4)), (10, at(1, 0))] {
            assert_eq!(lines.position(byte), place);
            assert_eq!(lines.byte(place), byte);
        }
        assert_eq!(lines.position(12), at(2, 0));
        assert_eq!(lines.position(14), at(3, 0));
        assert_eq!(lines.byte(at(0, 3)), 3, "the middle of a pair is its begin");
        assert_eq!(lines.byte(at(0, 99)), 8, "beyond the end of a line");
        assert_eq!(lines.byte(at(9, 0)), 14, "beyond the end of the text");
    }

    #[test]
    fn bytes_that_are_no_utf8_count_as_one() {
        let lines = Lines::new(b"\"caf\xe9\" x");
        assert_eq!(lines.position(7), at(0, 7));
        assert_eq!(lines.byte(at(0, 7)), 7);
    }

    #[test]
    fn changes_are_made_where_the_editor_means() {
        let mut text = String::from("// \u{1d11e}\u{e4} one\nint x;\n");
        let change = |range, text: &str| Change { range, text: text.to_string() };
        apply(&mut text, change(Some(Span { start: at(0, 7), end: at(0, 10) }), "two"));
        assert_eq!(text, "// \u{1d11e}\u{e4} two\nint x;\n");
        apply(&mut text, change(Some(Span { start: at(1, 5), end: at(1, 4) }), "y"));
        assert_eq!(text, "// \u{1d11e}\u{e4} two\nint y;\n");
        apply(&mut text, change(Some(Span { start: at(7, 0), end: at(8, 0) }), "// end\n"));
        assert_eq!(text, "// \u{1d11e}\u{e4} two\nint y;\n// end\n");
        apply(&mut text, change(None, "all"));
        assert_eq!(text, "all");
    }

    #[test]
    fn uris_and_paths() {
        let path = Path::new("/a b/\u{e4}#%25.cu");
        assert_eq!(uri_of(path), "file:///a%20b/%C3%A4%23%2525.cu");
        assert_eq!(path_of(&uri_of(path)).as_deref(), Some(path));
        assert_eq!(path_of("file://host/a.cu").as_deref(), Some(Path::new("/a.cu")));
        for bad in ["untitled:Untitled-1", "file://", "file:///%zz", "file:///%f", "file:///%ff", ""] {
            assert_eq!(path_of(bad), None, "{bad}");
        }
    }
}
