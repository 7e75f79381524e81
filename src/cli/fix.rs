//! `--fix` and `--diff`: the changes that findings carry, applied to files or shown.

use super::Failure;
use super::output::replace;
use crate::baseline::Marked;
use crate::report::plural;
use crate::settings;
use crate::source::reading;
use crate::text::{FileId, Range, Source};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Lines of a diff round a change.
const AROUND: usize = 3;

/// Said where something was found, and nothing can be done about it from here.
pub const NO_SAFE_CHANGE: &str = "synclint: nothing changed: for what was found no change is proven to be safe\n";

/// What the bounds of one run left out: it is not known whether a change would mend that.
pub fn unsought(findings: usize) -> String {
    match findings {
        0 => String::new(),
        _ => format!(
            "synclint: no change was sought for {}, beyond what one run tries; another run, or one of fewer files, may \
             make more\n",
            plural(findings, "finding")
        ),
    }
}

/// Makes the changes. Returns what is to be said of it.
pub fn write(findings: &[Marked], sources: &[Source]) -> Result<String, Failure> {
    let mut told = String::new();
    let mut files = 0;
    let Chosen { files: chosen, mut fixes } = chosen(findings);
    for (file, edits) in chosen {
        let Some(source) = sources.get(file.0 as usize) else { continue };
        let path = Path::new(&source.path);
        let fault = |error: std::io::Error| {
            Failure::line(format!("cannot change {}: {}", path.display(), settings::reason(&error)))
        };
        // What was read may have been another encoding, or have changed since.
        let bytes = match std::fs::read(path) {
            Ok(bytes) if is_as_read(&bytes, source) => Ok(bytes),
            Ok(_) => Err("its bytes are not those that were read".to_string()),
            Err(error) => Err(settings::reason(&error)),
        };
        let bytes = match bytes {
            Ok(bytes) => bytes,
            Err(why) => {
                told.push_str(&format!("synclint: {} is left as it is: {why}\n", source.path));
                fixes.retain(|changed| *changed != file);
                continue;
            }
        };
        files += 1;
        replace(path, |out| out.write_all(&applied(&bytes, &edits))).map_err(fault)?;
    }
    told.push_str(&match files {
        0 if !findings.is_empty() && findings.iter().all(|marked| marked.finding.fixes.is_empty()) => {
            NO_SAFE_CHANGE.to_string()
        }
        0 => "synclint: nothing to change\n".to_string(),
        _ => format!("synclint: {} made in {}\n", plural(fixes.len(), "change"), plural(files, "file")),
    });
    Ok(told)
}

/// A text that is no file with the changes made in it.
pub fn changed(name: &Path, text: &[u8], findings: &[Marked], sources: &[Source]) -> Vec<u8> {
    let is_it = |file: &FileId| sources.get(file.0 as usize).is_some_and(|source| Path::new(&source.path) == name);
    match chosen(findings).files.into_iter().find(|(file, _)| is_it(file)) {
        Some((_, edits)) => applied(text, &edits),
        None => text.to_vec(),
    }
}

/// Takes the changes from findings in files that were transcoded to be read: they would fit other bytes. Tells of these files.
pub fn leave_transcoded(findings: &mut [Marked], sources: &[Source], texts: &[(PathBuf, Vec<u8>)]) -> String {
    let is_transcoded = |path: &Path| match texts.iter().find(|(name, _)| name == path) {
        Some((_, text)) => reading::is_transcoded(text),
        None => is_file_transcoded(path),
    };
    let mut known: BTreeMap<FileId, bool> = BTreeMap::new();
    let mut told = String::new();
    for finding in findings.iter_mut().map(|marked| &mut marked.finding) {
        let Some((range, _)) = finding.fixes.first().and_then(|fix| fix.edits.first()) else { continue };
        let Some(source) = sources.get(range.file.0 as usize) else { continue };
        let is_it = *known.entry(range.file).or_insert_with(|| {
            let is_it = is_transcoded(Path::new(&source.path));
            if is_it {
                told.push_str(&format!("synclint: {} is UTF-16: no change is made in it\n", source.path));
            }
            is_it
        });
        if is_it {
            finding.fixes.clear();
        }
    }
    told
}

fn is_file_transcoded(path: &Path) -> bool {
    let mut mark = [0; 2];
    let read = std::fs::File::open(path).and_then(|mut file| std::io::Read::read_exact(&mut file, &mut mark));
    read.is_ok() && reading::is_transcoded(&mark)
}

/// The changes as a unified diff.
pub fn diff(findings: &[Marked], sources: &[Source]) -> Vec<u8> {
    let mut text = Vec::new();
    for (file, edits) in chosen(findings).files {
        let Some(source) = sources.get(file.0 as usize) else { continue };
        text.extend_from_slice(format!("--- {0}\n+++ {0}\n", source.path).as_bytes());
        let stored = std::fs::read(&source.path).ok().filter(|bytes| is_as_read(bytes, source));
        hunks(stored.as_deref().unwrap_or(&source.bytes), &edits, &mut text);
    }
    text
}

/// The same bytes, but that for a byte order mark blanks were read.
fn is_as_read(bytes: &[u8], source: &Source) -> bool {
    match bytes.strip_prefix(b"\xef\xbb\xbf") {
        Some(rest) => source.bytes.strip_prefix(b"   ") == Some(rest),
        None => bytes == source.bytes,
    }
}

/// How many changes `write` makes.
pub fn count(findings: &[Marked]) -> usize {
    chosen(findings).fixes.len()
}

type Edits<'a> = Vec<(Range, &'a str)>;

/// What is changed: edits by file in order, and for each change the file that it is in.
struct Chosen<'a> {
    files: BTreeMap<FileId, Edits<'a>>,
    fixes: Vec<FileId>,
}

/// The first fix of each finding, but for those that would change what another one changes.
fn chosen(findings: &[Marked]) -> Chosen<'_> {
    let mut chosen = Chosen { files: BTreeMap::new(), fixes: Vec::new() };
    for fix in findings.iter().filter_map(|marked| marked.finding.fixes.first()) {
        let clashes = fix.edits.iter().any(|(range, _)| {
            let touches = |other: &Range| {
                range.start < other.end && other.start < range.end
                    || range.start == other.start && range.end == other.end
            };
            let edits = chosen.files.get(&range.file);
            edits.is_some_and(|edits| edits.iter().any(|(other, _)| touches(other)))
        });
        if clashes {
            continue;
        }
        for (range, text) in &fix.edits {
            chosen.files.entry(range.file).or_default().push((*range, text));
        }
        chosen.fixes.extend(fix.edits.first().map(|(range, _)| range.file));
    }
    for edits in chosen.files.values_mut() {
        edits.sort_by_key(|(range, _)| (range.start, range.end));
    }
    chosen
}

fn applied(bytes: &[u8], edits: &Edits) -> Vec<u8> {
    let mut text = Vec::with_capacity(bytes.len());
    let mut at = 0;
    for (range, new) in edits {
        let (start, end) = within(bytes, range);
        text.extend_from_slice(&bytes[at..start.max(at)]);
        text.extend_from_slice(new.as_bytes());
        at = end.max(at);
    }
    text.extend_from_slice(&bytes[at..]);
    text
}

fn within(bytes: &[u8], range: &Range) -> (usize, usize) {
    let end = (range.end as usize).min(bytes.len());
    ((range.start as usize).min(end), end)
}

/// Lines that change together: lines `first..last` (from 0) become `new`.
struct Change {
    first: usize,
    last: usize,
    new: Vec<u8>,
}

fn hunks(bytes: &[u8], edits: &Edits, text: &mut Vec<u8>) {
    let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    let mut changes = changes(bytes, edits).into_iter().peekable();
    let mut moved = 0isize;
    while let Some(change) = changes.next() {
        let mut group = vec![change];
        while let Some(next) = changes.next_if(|next| group.last().is_some_and(|it| next.first <= it.last + 2 * AROUND))
        {
            group.push(next);
        }
        let (Some(head), Some(tail)) = (group.first(), group.last()) else { continue };
        let first = head.first.saturating_sub(AROUND);
        let last = (tail.last + AROUND).min(lines.len());
        let mut body = Vec::new();
        let old = last - first;
        let mut new = old;
        let mut at = first;
        for change in &group {
            lines[at..change.first].iter().for_each(|line| push_line(&mut body, b' ', line));
            lines[change.first..change.last].iter().for_each(|line| push_line(&mut body, b'-', line));
            let added: Vec<&[u8]> = change.new.split_inclusive(|byte| *byte == b'\n').collect();
            added.iter().for_each(|line| push_line(&mut body, b'+', line));
            new = new + added.len() - (change.last - change.first);
            at = change.last;
        }
        lines[at..last].iter().for_each(|line| push_line(&mut body, b' ', line));
        let start = first as isize + moved;
        moved += new as isize - old as isize;
        let from = |start: isize, count: usize| if count == 0 { start } else { start + 1 };
        let header = format!("@@ -{},{old} +{},{new} @@\n", from(first as isize, old), from(start, new));
        text.extend_from_slice(header.as_bytes());
        text.extend_from_slice(&body);
    }
}

fn push_line(body: &mut Vec<u8>, sign: u8, line: &[u8]) {
    body.push(sign);
    body.extend_from_slice(line);
    if !line.ends_with(b"\n") {
        body.extend_from_slice(b"\n\\ No newline at end of file\n");
    }
}

/// Edits as changes of whole lines; edits that touch the same line are one.
fn changes(bytes: &[u8], edits: &Edits) -> Vec<Change> {
    let line_of = |at: usize| memchr::memchr_iter(b'\n', &bytes[..at]).count();
    let start_of = |at: usize| memchr::memrchr(b'\n', &bytes[..at]).map_or(0, |newline| newline + 1);
    let end_of = |at: usize| memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |length| at + length + 1);
    let mut groups: Vec<(usize, usize, Edits)> = Vec::new();
    for (range, new) in edits {
        let (start, end) = within(bytes, range);
        let (begin, stop) = (start_of(start), if end > start && bytes[end - 1] == b'\n' { end } else { end_of(end) });
        match groups.last_mut() {
            Some((_, last, group)) if begin < *last => {
                *last = stop.max(*last);
                group.push((*range, new));
            }
            _ => groups.push((begin, stop, vec![(*range, new)])),
        }
    }
    groups
        .into_iter()
        .map(|(begin, stop, group)| {
            let shifted = |range: Range| Range {
                start: range.start - begin as u32,
                end: (range.end - begin as u32).min((stop - begin) as u32),
                ..range
            };
            let group: Edits = group.into_iter().map(|(range, new)| (shifted(range), new)).collect();
            let first = line_of(begin);
            trimmed(first, &bytes[begin..stop], &applied(&bytes[begin..stop], &group))
        })
        .collect()
}

/// The change from old lines to new ones, without those at both ends that stay.
fn trimmed(first: usize, old: &[u8], new: &[u8]) -> Change {
    let lines = |text| -> Vec<&[u8]> { <[u8]>::split_inclusive(text, |byte| *byte == b'\n').collect() };
    let (old, new) = (lines(old), lines(new));
    let head = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let (old, new) = (&old[head..], &new[head..]);
    let tail = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
    let first = first + head;
    Change { first, last: first + old.len() - tail, new: new[..new.len() - tail].concat() }
}
