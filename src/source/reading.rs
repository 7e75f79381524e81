//! A file, or standard input -> its bytes, within bounds.
//!
//! Nothing is decoded but UTF-16: bytes stay bytes. What is no regular file is not opened: a pipe would block, and a device
//! never end.

use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// Files above this size are generated tables, not source that anybody reads.
pub const MAX_FILE_BYTES: u64 = super::lexer::MAX_BYTES as u64;

/// What a file may have that is for synclint itself: the database of a large build's commands has a hundred million bytes.
const MAX_OWN_BYTES: u64 = 512 << 20;

/// What reading one candidate gave.
#[derive(Debug)]
pub enum Content {
    Source(Vec<u8>),
    /// A file without extension that is no C++ header after all: of no interest to anybody.
    NotSource,
    Skipped(String),
}

/// The bytes of one file. Offsets into them are offsets into the file, but for UTF-16, which is transcoded.
/// A file that the user named is source whatever it looks like.
pub fn source(path: &Path, is_named: bool) -> Content {
    match bytes_of(path, MAX_FILE_BYTES) {
        Err(error) => Content::Skipped(reason(&error)),
        Ok(bytes) if !is_named && path.extension().is_none() && !looks_like_header(&bytes) => Content::NotSource,
        Ok(bytes) => decoded(bytes),
    }
}

/// The bytes of a file that is for synclint itself: settings, a baseline, a database of commands.
pub fn own_file(path: &Path) -> io::Result<Vec<u8>> {
    bytes_of(path, MAX_OWN_BYTES)
}

/// Such a file that is text.
pub fn own_text(path: &Path) -> io::Result<String> {
    String::from_utf8(own_file(path)?).map_err(|_| io::Error::other("is not UTF-8"))
}

/// Why a file is not read, as far as is seen from outside.
pub fn fault_of_file(metadata: &Metadata, most: u64) -> Option<String> {
    match metadata {
        _ if metadata.is_dir() => Some("is a directory".to_string()),
        _ if !metadata.is_file() => Some("not a regular file".to_string()),
        _ if metadata.len() > most => Some(too_large(most)),
        _ => None,
    }
}

fn bytes_of(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let metadata = fs::metadata(path)?;
    match fault_of_file(&metadata, most) {
        Some(fault) => Err(io::Error::other(fault)),
        None => bounded(File::open(path)?, metadata.len(), most),
    }
}

/// All that comes, unless it is too much. `expected` is how much that may be.
pub fn bounded(from: impl Read, expected: u64, most: u64) -> io::Result<Vec<u8>> {
    // One more than there should be, so that the end is found without growing.
    let mut bytes = Vec::with_capacity(expected as usize + 1);
    from.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most { Err(io::Error::other(too_large(most))) } else { Ok(bytes) }
}

fn too_large(most: u64) -> String {
    format!("larger than {} MiB", most >> 20)
}

/// An I/O error in the words of a user.
pub fn reason(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "no such file or directory".to_string(),
        ErrorKind::PermissionDenied => "permission denied".to_string(),
        ErrorKind::IsADirectory => "is a directory".to_string(),
        ErrorKind::NotADirectory => "a part of its path is no folder".to_string(),
        ErrorKind::StorageFull => "no space left on the device".to_string(),
        _ => error.to_string(),
    }
}

/// A directive near the top: what a header without extension has, and a licence or a makefile has not.
fn looks_like_header(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(8192)];
    if head.starts_with(b"#!") || head.contains(&0) {
        return false;
    }
    head.split(|byte| *byte == b'\n').any(|line| {
        let Some(directive) = line.trim_ascii_start().strip_prefix(b"#") else { return false };
        let directive = directive.trim_ascii_start();
        [&b"pragma"[..], b"ifndef", b"ifdef", b"if ", b"define", b"include"]
            .iter()
            .any(|word| directive.starts_with(word))
    })
}

/// How the units of a UTF-16 text are read, if its mark says that it is one.
type Unit = fn([u8; 2]) -> u16;

fn utf16_unit(bytes: &[u8]) -> Option<Unit> {
    match bytes.get(..2) {
        Some([0xff, 0xfe]) => Some(u16::from_le_bytes),
        Some([0xfe, 0xff]) => Some(u16::from_be_bytes),
        _ => None,
    }
}

/// Whether a text is transcoded to be read, so that places in it are other places.
pub fn is_transcoded(bytes: &[u8]) -> bool {
    utf16_unit(bytes).is_some()
}

/// The text as the rest of the program reads it.
pub fn decoded(mut bytes: Vec<u8>) -> Content {
    // The mark of UTF-32 begins, or ends, with that of UTF-16.
    if bytes.starts_with(b"\xff\xfe\0\0") || bytes.starts_with(b"\0\0\xfe\xff") {
        return Content::Skipped("UTF-32".to_string());
    }
    if let Some(unit) = utf16_unit(&bytes) {
        let units = bytes[2..].chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
        let text: String = char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
        bytes = text.into_bytes();
    } else if memchr::memchr_iter(0, &bytes).count() * 100 > bytes.len() {
        return Content::Skipped("binary data".to_string());
    }
    // Blanks instead of the mark, so that the first line can be a directive and offsets stay those of the file.
    if bytes.starts_with(b"\xef\xbb\xbf") {
        bytes[..3].fill(b' ');
    }
    if is_text(&bytes) { Content::Source(bytes) } else { Content::Skipped("binary data".to_string()) }
}

/// Whether the beginning is free of what text does not hold: control characters, but for the few that editors write and
/// the escapes of older Japanese encodings.
fn is_text(bytes: &[u8]) -> bool {
    const ENOUGH: usize = 1 << 13;
    /// One in so many is one too many; in random bytes it is one in ten.
    const RARE: usize = 32;
    let head = &bytes[..bytes.len().min(ENOUGH)];
    let is_control = |byte: &u8| matches!(byte, 0x01..=0x08 | 0x0e..=0x19 | 0x1c..=0x1f | 0x7f);
    // So few at a time that one byte counts them, and many are counted at once.
    let few = head.chunks(128).map(|few| usize::from(few.iter().map(|byte| u8::from(is_control(byte))).sum::<u8>()));
    few.sum::<usize>() * RARE <= head.len()
}
