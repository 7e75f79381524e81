//! Which lines are shown one below the other: files and parts of files as the story comes to them.

use super::snippet::Snippet;
use super::{Mark, Picture};
use crate::text::FileId;
use rustc_hash::FxHashMap;

/// Marks so many lines apart are shown with the lines between.
const NEAR: u32 = 3;

/// Lines of one file that are shown in one piece, in the order of the file.
pub struct Excerpt<'a> {
    pub file: FileId,
    pub marks: Vec<&'a Mark>,
    /// The first step in it; what holds none stands where the lines above it do.
    first: usize,
    first_line: u32,
    last_line: u32,
}

/// In the order of the story; the picture's own file comes before others that hold no step.
pub fn excerpts<'a>(picture: &'a Picture, snippets: &FxHashMap<FileId, Snippet>) -> Vec<Excerpt<'a>> {
    let line = |mark: &Mark| snippets.get(&mark.at.file).map_or(0, |snippet| snippet.line_of(mark.at.start as usize));
    let mut found: Vec<Excerpt> = Vec::new();
    for file in files(picture) {
        let mut here: Vec<&Mark> = picture.marks.iter().filter(|mark| mark.at.file == file).collect();
        here.sort_by_key(|mark| mark.at.start);
        let begin = found.len();
        if here.is_empty() {
            found.push(Excerpt { file, marks: Vec::new(), first: usize::MAX, first_line: 0, last_line: 0 });
        }
        for mark in here {
            let (number, line) = (mark.number.unwrap_or(usize::MAX), line(mark));
            match found[begin..].last_mut().filter(|last| line <= last.last_line + NEAR) {
                Some(last) => {
                    last.marks.push(mark);
                    last.first = last.first.min(number);
                    last.last_line = line;
                }
                None => {
                    found.push(Excerpt { file, marks: vec![mark], first: number, first_line: line, last_line: line });
                }
            }
        }
        let mut above = found[begin..].iter().map(|part| part.first).find(|first| *first != usize::MAX);
        for part in &mut found[begin..] {
            match part.first {
                usize::MAX => part.first = above.unwrap_or(usize::MAX),
                first => above = Some(first),
            }
        }
    }
    // A picture that is no story goes by the files alone.
    if picture.is_story {
        found.sort_by_key(|part| part.first);
    }
    found.into_iter().fold(Vec::new(), |mut whole, part| {
        match whole.last_mut() {
            Some(last) if last.file == part.file && last.last_line < part.first_line => {
                last.marks.extend(part.marks);
                last.last_line = part.last_line;
            }
            _ => whole.push(part),
        }
        whole
    })
}

fn files(picture: &Picture) -> Vec<FileId> {
    let mut marks: Vec<&Mark> = picture.marks.iter().collect();
    let number = |mark: &Mark| if picture.is_story { mark.number.unwrap_or(usize::MAX) } else { 0 };
    marks.sort_by_key(|mark| (number(mark), mark.at.file != picture.file));
    let mut files = if marks.is_empty() { vec![picture.file] } else { Vec::new() };
    for mark in marks {
        if !files.contains(&mark.at.file) {
            files.push(mark.at.file);
        }
    }
    files
}
