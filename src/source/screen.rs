//! The bytes of all files -> those that can bear on a kernel, indexed; the others as empty files that keep their names.
//!
//! A file counts if it holds a word of CUDA, includes a file that does, or is included by one of these. Host code beyond
//! that counts if it may call a function that launches: it may know the shape of a block. In a tree with host programs,
//! tests and other back ends that is half of all bytes; of the rest nothing is parsed but its includes.

use super::index::{self, File, Options, Resolver};
use super::lexer::TokenKind;
use crate::text::FileId;
use crate::words::{Attribute, Words};
use aho_corasick::AhoCorasick;
use memchr::memmem;
use rayon::prelude::*;
use rustc_hash::FxHashSet;

/// Indexes the files that matter. The result is in the order of `sources`.
pub fn index(sources: Vec<(String, Vec<u8>)>, words: &Words, options: &Options) -> Vec<File> {
    let marks = marks(words, options);
    let heads: Vec<Head> = sources.par_iter().map(|(_, bytes)| Head::of(bytes, marks.as_ref())).collect();
    let graph = Includes::new(&sources, &heads, options);
    drop(marks);

    let marked = (0..sources.len()).filter(|at| heads[*at].is_marked);
    let core = graph.reach(graph.reach(marked.collect(), &graph.includers), &graph.includes);
    let rest = graph.reach(core.clone(), &graph.includers).split_off(core.len());

    let mut files: Vec<Option<File>> = sources.iter().map(|_| None).collect();
    let mut sources: Vec<Option<(String, Vec<u8>)>> = sources.into_iter().map(Some).collect();
    read(core, &mut sources, &mut files);
    let launching: FxHashSet<Vec<u8>> = files.par_iter().flatten().flat_map_iter(launching_functions).collect();
    if let Ok(names) = AhoCorasick::new(&launching) {
        let calls = |at: &usize| sources[*at].as_ref().is_some_and(|(_, bytes)| mentions(&names, bytes));
        let callers: Vec<usize> = rest.into_par_iter().filter(calls).collect();
        read(graph.reach(callers, &graph.includes), &mut sources, &mut files);
    }
    let left = files.into_iter().zip(sources);
    left.map(|(file, source)| match (file, source) {
        (Some(file), _) => file,
        (None, Some((path, bytes))) => File::unread(path, bytes.len()),
        (None, None) => File::unread(String::new(), 0),
    })
    .collect()
}

/// Indexes those of the sources that are not indexed yet.
fn read(wanted: Vec<usize>, sources: &mut [Option<(String, Vec<u8>)>], files: &mut [Option<File>]) {
    let taken: Vec<(usize, (String, Vec<u8>))> =
        wanted.into_iter().filter_map(|at| Some((at, sources[at].take()?))).collect();
    let read: Vec<(usize, File)> =
        taken.into_par_iter().map(|(at, (path, bytes))| (at, File::new(path, bytes))).collect();
    read.into_iter().for_each(|(at, file)| files[at] = Some(file));
}

/// The words that no code for a device does without, and `synclint` for comments that speak to us.
fn marks(words: &Words, options: &Options) -> Option<AhoCorasick> {
    let mut marks: Vec<String> = ["<<<", "cudaLaunch", "hipLaunch", "bar.", "barrier.", "synclint", "__sync", "__shfl"]
        .map(String::from)
        .to_vec();
    marks.extend(words.attribute_words(|means| matches!(means, Attribute::Kernel | Attribute::Device)));
    marks.extend(words.barrier_names().filter(|name| name.contains('_')).map(String::from));
    marks.extend(words.users_barrier_names().iter().cloned());
    // Macros from outside the tree whose replacement has such a word stand for it.
    let hides = |text: &str| marks.iter().any(|mark| text.contains(mark.as_str()));
    let mut named: Vec<String> = Vec::new();
    for line in index::WELL_KNOWN.replace("\\\n", " ").lines() {
        if let Some(define) = line.strip_prefix("#define ").filter(|define| hides(define)) {
            named.extend(define.split([' ', '(']).next().map(String::from));
        }
    }
    for define in options.defines.iter().chain(options.of_file.values().flatten()).filter(|define| hides(define)) {
        named.extend(define.split(['=', '(']).next().map(String::from));
    }
    marks.extend(named);
    AhoCorasick::new(&marks).ok()
}

/// What is read of every file.
struct Head {
    is_marked: bool,
    /// As written between quotes or brackets.
    includes: Vec<String>,
}

impl Head {
    fn of(bytes: &[u8], marks: Option<&AhoCorasick>) -> Head {
        let includes = memmem::find_iter(bytes, b"include").chain(memmem::find_iter(bytes, b"import"));
        let includes = includes.filter_map(|at| include_at(bytes, at)).collect();
        Head { is_marked: marks.is_none_or(|marks| marks.is_match(bytes)), includes }
    }
}

/// What the `#include` lines of a file name, as written between quotes or brackets.
pub fn includes(bytes: &[u8]) -> Vec<String> {
    Head::of(bytes, None).includes
}

/// What `#include "name"` names, if the word at `at` is that of such a line.
fn include_at(bytes: &[u8], at: usize) -> Option<String> {
    let before = bytes[..at].trim_ascii_end();
    let before = before.strip_suffix(b"#")?;
    let line = memchr::memrchr(b'\n', before).map_or(before, |end| &before[end + 1..]);
    if !line.trim_ascii().is_empty() && !line.trim_ascii().ends_with(b"*/") {
        return None;
    }
    let behind = &bytes[at..];
    let behind = behind.strip_prefix(b"include_next").or_else(|| behind.strip_prefix(b"include"));
    let behind = behind.or_else(|| bytes[at..].strip_prefix(b"import"))?.trim_ascii_start();
    let close = match behind.first()? {
        b'"' => b'"',
        b'<' => b'>',
        _ => return None,
    };
    let end = memchr::memchr2(close, b'\n', &behind[1..])?;
    Some(String::from_utf8_lossy(&behind[1..=end]).trim().to_string())
}

/// Which file includes which, by their places among the sources.
struct Includes {
    includes: Vec<Vec<usize>>,
    includers: Vec<Vec<usize>>,
}

impl Includes {
    fn new(sources: &[(String, Vec<u8>)], heads: &[Head], options: &Options) -> Includes {
        let mut includes = vec![Vec::new(); sources.len()];
        let mut includers = vec![Vec::new(); sources.len()];
        let mut resolver = Resolver::new(sources.iter().map(|(path, _)| path.as_str()), &options.include_dirs);
        for (at, head) in heads.iter().enumerate() {
            for spelled in &head.includes {
                if let Some(FileId(to)) = resolver.resolve(FileId(at as u32), spelled) {
                    includes[at].push(to as usize);
                    includers[to as usize].push(at);
                }
            }
        }
        Includes { includes, includers }
    }

    /// The files given and all that they lead to.
    fn reach(&self, from: Vec<usize>, edges: &[Vec<usize>]) -> Vec<usize> {
        let mut seen = vec![false; edges.len()];
        from.iter().for_each(|at| seen[*at] = true);
        let mut found = from;
        let mut next = 0;
        while let Some(at) = found.get(next).copied() {
            next += 1;
            found.extend(edges[at].iter().copied().filter(|to| !std::mem::replace(&mut seen[*to], true)));
        }
        found
    }
}

/// The names of the functions in whose bodies something is launched; roughly, by their brackets.
fn launching_functions(file: &File) -> Vec<Vec<u8>> {
    let launches = |word: &[u8]| word == b"<<<" || word.starts_with(b"cudaLaunch") || word.starts_with(b"hipLaunch");
    let mut found: FxHashSet<&[u8]> = FxHashSet::default();
    let (mut brackets, mut braces): (Vec<usize>, Vec<Option<&[u8]>>) = (Vec::new(), Vec::new());
    // What a brace that opens now would be the body of; `Class::Class(..) : member(..) {` is told by its `::`.
    let (mut before_list, mut qualified): (Option<&[u8]>, Option<&[u8]>) = (None, None);
    for (at, token) in file.tokens.iter().enumerate() {
        let text = || file.text(at as u32);
        match token.kind() {
            TokenKind::Identifier | TokenKind::LaunchOpen => {
                if launches(text()) {
                    found.extend(braces.iter().copied().flatten());
                }
                if at > 0 && file.text(at as u32 - 1) == b"::" && file.text(at as u32 + 1) == b"(" {
                    qualified = Some(text());
                }
            }
            TokenKind::Punctuator if token.end() - token.start() == 1 => match token.first() {
                b'(' => brackets.push(at),
                b')' => {
                    let name = brackets.pop().and_then(|open| open.checked_sub(1)).map(|name| name as u32);
                    before_list = name
                        .filter(|name| file.tokens[*name as usize].kind() == TokenKind::Identifier)
                        .map(|name| file.text(name));
                }
                b'{' => {
                    braces.push(before_list.take());
                    braces.push(qualified.take());
                }
                b'}' => braces.truncate(braces.len().saturating_sub(2)),
                b';' => (before_list, qualified) = (None, None),
                _ => {}
            },
            _ => {}
        }
    }
    let is_name = |name: &&[u8]| !matches!(*name, b"if" | b"for" | b"while" | b"switch" | b"catch" | b"main");
    found.into_iter().filter(is_name).map(<[u8]>::to_vec).collect()
}

/// One of the names stands there as a whole word.
fn mentions(names: &AhoCorasick, bytes: &[u8]) -> bool {
    let is_word = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    names.find_overlapping_iter(bytes).any(|hit| {
        let before = &bytes[..hit.start()];
        let is_member = || matches!(before.trim_ascii_end(), [.., b'.'] | [.., b'-', b'>']);
        !is_word(before.last()) && !is_word(bytes.get(hit.end())) && !is_member()
    })
}
