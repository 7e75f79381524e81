//! The directives of one file: macros, branches of `#if`, includes as written.

use super::{Branch, Condition, Directive, DirectiveKind, File, Include, Macro, Variadic};
use crate::source::lexer::{Lexed, Token, TokenKind};
use memchr::memmem;
use std::ops::Range;

pub(super) fn index(path: String, bytes: Box<[u8]>, lexed: Lexed) -> File {
    let mut file = File {
        path,
        size: bytes.len() as u64,
        bytes,
        tokens: lexed.tokens,
        comments: lexed.comments,
        directives: Vec::new(),
        branches: Vec::new(),
        macros: Vec::new(),
        includes: Vec::new(),
        marked: Vec::new(),
    };
    let end = file.tokens.len() as u32;
    file.branches.push(Branch { condition: Condition::Always, parent: 0, previous: None, start: 0, tokens: 0..end });
    let mut open: Vec<u32> = Vec::new();
    let mut at = 0;
    while at < end {
        let token = file.tokens[at as usize];
        if token.kind() == TokenKind::Directive {
            let line_end = line_end(&file.tokens, at);
            directive(&mut file, at, line_end, &mut open);
            at = line_end;
        } else if let Some((kind, end)) = pragma_operator(&file, at, token) {
            let branch = open.last().copied().unwrap_or(0);
            file.directives.push(Directive { kind, start: at, end, branch });
            at = end;
        } else {
            if is_marked(token, at as usize, &|at| file.text(at as u32)) {
                file.marked.push(at);
            }
            at += 1;
        }
    }
    file.directives.shrink_to_fit();
    file.tokens.shrink_to_fit();
    file
}

fn line_end(tokens: &[Token], start: u32) -> u32 {
    let rest = &tokens[start as usize + 1..];
    start + 1 + rest.iter().position(|token| token.first_on_line()).unwrap_or(rest.len()) as u32
}

/// `open` holds the branch of each group that is open here.
fn directive(file: &mut File, start: u32, end: u32, open: &mut Vec<u32>) {
    let around = open.last().copied().unwrap_or(0);
    let name = start + 1;
    let argument = start + 2;
    let has_name = |at: u32| at < end && file.tokens[at as usize].kind() == TokenKind::Identifier;
    let push = |file: &mut File, kind: DirectiveKind, branch: u32| {
        file.directives.push(Directive { kind, start, end, branch });
    };
    if name >= end {
        return push(file, DirectiveKind::Other, around);
    }
    let condition = |inverted: bool| match (has_name(argument), inverted) {
        (true, false) => Condition::Defined(argument),
        (true, true) => Condition::NotDefined(argument),
        (false, _) => Condition::Malformed,
    };
    let expression = || if argument < end { Condition::Expression(argument..end) } else { Condition::Malformed };
    let word = file.tokens[name as usize].spelling(&file.bytes).into_owned();
    match word.as_slice() {
        b"define" if has_name(argument) => {
            let definition = definition(file, argument, end);
            file.macros.push(definition);
            push(file, DirectiveKind::Define(file.macros.len() as u32 - 1), around);
        }
        b"undef" if has_name(argument) => push(file, DirectiveKind::Undef(argument), around),
        b"include" | b"include_next" | b"import" => {
            let include = include(file, start, argument..end, around);
            file.includes.push(include);
            push(file, DirectiveKind::Include(file.includes.len() as u32 - 1), around);
        }
        b"if" | b"ifdef" | b"ifndef" => {
            let condition = match word.as_slice() {
                b"if" => expression(),
                other => condition(other == b"ifndef"),
            };
            open_branch(file, condition, around, None, start, end);
            open.push(file.branches.len() as u32 - 1);
            push(file, DirectiveKind::Branch(file.branches.len() as u32 - 1), around);
        }
        b"elif" | b"elifdef" | b"elifndef" | b"else" if !open.is_empty() => {
            let condition = match word.as_slice() {
                b"elif" => expression(),
                b"else" => Condition::Always,
                other => condition(other == b"elifndef"),
            };
            let parent = file.branches[around as usize].parent;
            file.branches[around as usize].tokens.end = start;
            open_branch(file, condition, parent, Some(around), start, end);
            open.pop();
            open.push(file.branches.len() as u32 - 1);
            push(file, DirectiveKind::Branch(file.branches.len() as u32 - 1), parent);
        }
        b"endif" if !open.is_empty() => {
            let parent = file.branches[around as usize].parent;
            file.branches[around as usize].tokens.end = start;
            open.pop();
            push(file, DirectiveKind::EndIf, parent);
        }
        b"pragma" if file.text(argument + 1) == b"(" && argument + 2 < end => {
            let kind = match file.text(argument) {
                b"push_macro" => DirectiveKind::Push(argument + 2),
                b"pop_macro" => DirectiveKind::Pop(argument + 2),
                _ => DirectiveKind::Other,
            };
            push(file, kind, around);
        }
        _ => push(file, DirectiveKind::Other, around),
    }
}

/// `_Pragma("push_macro(\"X\")")`, and where it ends.
fn pragma_operator(file: &File, at: u32, token: Token) -> Option<(DirectiveKind, u32)> {
    if token.first() != b'_' || token.bytes(&file.bytes) != b"_Pragma" || file.text(at + 1) != b"(" {
        return None;
    }
    let text = file.text(at + 2);
    let kind = if text.starts_with(b"\"push_macro") {
        DirectiveKind::Push(at + 2)
    } else if text.starts_with(b"\"pop_macro") {
        DirectiveKind::Pop(at + 2)
    } else {
        return None;
    };
    Some((kind, (at + 4).min(file.tokens.len() as u32)))
}

/// The last word in a string.
pub(super) fn quoted_name(string: &[u8]) -> &[u8] {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    string.split(|byte| !is_word(byte)).rfind(|word| !word.is_empty()).unwrap_or_default()
}

fn open_branch(file: &mut File, condition: Condition, parent: u32, previous: Option<u32>, start: u32, text: u32) {
    let tokens = text..file.tokens.len() as u32;
    file.branches.push(Branch { condition, parent, previous, start, tokens });
}

/// `#define` from the name on. What cannot be a parameter list is read as an object-like macro's body.
fn definition(file: &File, name: u32, end: u32) -> Macro {
    let token = |at: u32| (at < end).then(|| file.tokens[at as usize]);
    let object = Macro { name, params: None, variadic: Variadic::No, body: name + 1..end };
    match token(name + 1) {
        Some(open) if open.is_byte(b'(') && !open.space_before() => {}
        _ => return object,
    }
    let mut params = Vec::new();
    let mut variadic = Variadic::No;
    let mut at = name + 2;
    loop {
        match token(at) {
            Some(close) if close.is_byte(b')') => break,
            Some(comma) if comma.is_byte(b',') => {}
            Some(param) if param.kind() == TokenKind::Identifier => {
                params.push(at);
                if file.text(at + 1) == b"..." {
                    variadic = Variadic::Named;
                    at += 1;
                }
            }
            Some(_) if file.text(at) == b"..." => variadic = Variadic::Unnamed,
            _ => return object,
        }
        at += 1;
    }
    Macro { params: Some(params.into_boxed_slice()), variadic, body: at + 1..end, ..object }
}

fn include(file: &File, start: u32, line: Range<u32>, branch: u32) -> Include {
    let none = Include { start, branch, spelled: String::new(), angled: false, resolved: None };
    if line.is_empty() {
        return none;
    }
    let (first, last) = (file.tokens[line.start as usize], file.tokens[line.end as usize - 1]);
    let spelled = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_string();
    let bytes = first.bytes(&file.bytes);
    match bytes {
        [b'"', inner @ .., b'"'] => Include { spelled: spelled(inner), ..none },
        [b'<', ..] => {
            let inside = &file.bytes[first.start() as usize + 1..last.end() as usize];
            match memchr::memchr(b'>', inside) {
                Some(end) => Include { spelled: spelled(&inside[..end]), angled: true, ..none },
                None => none,
            }
        }
        _ => none,
    }
}

/// Whether a token may begin or name a kernel or a barrier; `text` gives those beside it.
pub fn is_marked<'t>(token: Token, at: usize, text: &impl Fn(usize) -> &'t [u8]) -> bool {
    match token.kind() {
        TokenKind::Identifier => match token.first() {
            b'_' | b'a' | b'b' | b'c' | b's' => is_marked_word(at, text),
            _ => false,
        },
        TokenKind::String => {
            let bytes = text(at);
            bytes.len() > 5 && (memmem::find(bytes, b"bar.").is_some() || memmem::find(bytes, b"barrier.").is_some())
        }
        _ => false,
    }
}

fn is_marked_word<'t>(at: usize, text: &impl Fn(usize) -> &'t [u8]) -> bool {
    match text(at) {
        b"__global__" | b"cluster_sync" | b"cluster_wait" | b"cluster_arrive" | b"arrive_and_wait"
        | b"barrier_wait" => true,
        b"barrier_arrive" | b"barrier_sync" => true,
        b"sync" => text(at + 1) == b"(" && at > 0 && matches!(text(at - 1), b"." | b"->" | b"::"),
        word => word.starts_with(b"__sync") || word.starts_with(b"__barrier_sync"),
    }
}
