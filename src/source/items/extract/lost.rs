//! Kernels and barriers that no item holds: a macro that was not understood, brackets that do not match. They are told.

use super::{Source, Walk};
use crate::source::expand::Marks;
use crate::source::index::{File, is_marked};
use crate::source::items::view::View;
use crate::source::items::{Found, FunctionParts, ItemKind, Lost, Tokens};
use crate::source::lexer::lex;
use std::ops::Range;

/// How far a walk has come.
pub(super) struct Before {
    found: usize,
    made: usize,
}

/// Whether an initialiser that may hold a mark has begun in front of the next token to look at.
struct Initial {
    next: usize,
    found: bool,
}

impl Walk<'_, '_> {
    pub(super) fn before(&self) -> Before {
        Before { found: self.items.found.len(), made: self.items.made.len() }
    }

    /// Notes the first mark of a kernel or barrier in `range` that none of the items found there accounts for.
    pub(super) fn note_lost(&mut self, source: &Source, range: Range<usize>, before: Before) {
        // What an expansion made was walked there.
        if self.items.made.len() > before.made {
            return;
        }
        let found = &self.items.found[before.found..];
        let marked = self.marked(source, range.clone());
        let mut initial = Initial { next: range.start + 1, found: false };
        let lost = marked.into_iter().find(|at| !self.accounts_for(source, range.start, *at, found, &mut initial));
        let hidden = || {
            let mut names = range.filter(|at| source.view.identifier(*at).is_some());
            names.find(|at| found.is_empty() && self.stands_for_code(source, *at))
        };
        if let Some(at) = lost.or_else(hidden) {
            let token = source.view.position(at);
            let is_kernel = source.view.is(at, b"__global__");
            self.items.lost.push(Lost { token, made: source.made, is_kernel });
        }
    }

    /// The marks among the seen tokens of a range.
    fn marked(&self, source: &Source, range: Range<usize>) -> Vec<usize> {
        let view = source.view;
        let Some((unit, _)) = self.unit.filter(|_| source.made.is_none()) else {
            let text = |at: usize| view.text(at);
            let is_marked = |at: &usize| view.token(*at).is_some_and(|token| is_marked(token, *at, &text));
            return range.filter(is_marked).collect();
        };
        let all = &unit.files.get(unit.file).marked;
        let tokens = view.range(range);
        let first = all.partition_point(|token| *token < tokens.start);
        let marked = all[first..].iter().take_while(|token| **token < tokens.end);
        marked.filter_map(|token| view.index_of(*token)).collect()
    }

    /// Asked of one mark after the other.
    fn accounts_for(&self, source: &Source, start: usize, at: usize, found: &[Found], initial: &mut Initial) -> bool {
        let view = source.view;
        let position = view.position(at);
        let holds = |tokens: &Tokens| tokens.contains(&position);
        if view.is(at, b"__global__") {
            return found.iter().any(|item| match &item.kind {
                ItemKind::Function(parts) => {
                    holds(&item.tokens) && parts.body.as_ref().is_none_or(|body| position < body.start)
                }
                ItemKind::Instantiation { .. } => holds(&item.tokens),
                _ => false,
            });
        }
        let is_call = match view.identifier(at) {
            Some(_) => view.byte(at + 1, b'('),
            None => view.byte(at.wrapping_sub(1), b'(') && is_assembly(view.text(at.wrapping_sub(2))),
        };
        // A member's initialiser belongs to the class; that of a variable may hold a lambda.
        let in_class = self.scopes.last().is_some_and(|scope| scope.class.is_some());
        let is_lambda = |at: usize| view.byte(at, b'[') && matches!(view.text(at - 1), b"=" | b"(" | b"," | b"{");
        // What begins with `template` is no statement that was left over.
        let is_whole = in_class || view.is(start, b"template");
        let mut is_initial = || {
            while !initial.found && initial.next < at {
                initial.found = is_lambda(initial.next) || is_whole && view.byte(initial.next, b'=');
                initial.next += 1;
            }
            initial.found
        };
        let is_held = |item: &Found| match &item.kind {
            ItemKind::Function(parts) => {
                let inside = [&parts.body, &parts.initialisers].into_iter().flatten().any(holds);
                inside && !is_statement(&item.name) || holds(&parts.params) || is_declared(view, item, parts, at)
            }
            ItemKind::Value | ItemKind::Class(_) => false,
            _ => holds(&item.tokens),
        };
        !is_call || is_initial() || found.iter().any(is_held)
    }

    /// A macro that brings a kernel or a barrier.
    fn stands_for_code(&self, source: &Source, at: usize) -> bool {
        let Some((unit, _)) = self.unit.filter(|_| source.made.is_none()) else { return false };
        let use_of = self.macro_use(source, at);
        if !use_of.is_macro || use_of.function_like && !source.view.byte(at + 1, b'(') {
            return false;
        }
        let marks = unit.marks(source.view.position(at));
        marks.contains(Marks::KERNEL) || marks.contains(Marks::BARRIER)
    }
}

/// What stands in a comment that has no end, told at the token before it.
pub(super) fn in_open_comment(file: &File) -> Option<Lost> {
    let (start, end) = *file.comments.last()?;
    let text = file.bytes.get(start as usize..end as usize)?;
    let has_end = text.len() >= 4 && text.ends_with(b"*/");
    if end as usize != file.bytes.len() || !text.starts_with(b"/*") || has_end {
        return None;
    }
    let tokens = lex(&text[2..]).tokens;
    let word = |at: usize| tokens.get(at).map_or(&[][..], |token| token.bytes(&text[2..]));
    let marked = (0..tokens.len()).find(|at| is_marked(tokens[*at], *at, &word))?;
    let token = file.tokens.partition_point(|token| token.end() <= start).checked_sub(1)? as u32;
    Some(Lost { token, made: None, is_kernel: word(marked) == b"__global__" })
}

/// Whether a word is the name of a function that has a body, or a type before it: `void __syncthreads();`. Else it is a call
/// that stands alone.
fn is_declared(view: &View, item: &Found, parts: &FunctionParts, at: usize) -> bool {
    let is_type = |before: usize| match view.text(before) {
        b"*" | b"&" | b">" => true,
        b"::" => !parts.result.is_empty(),
        word => view.identifier(before).is_some() && !matches!(word, b"else" | b"do" | b"return"),
    };
    item.name_token == view.position(at) && (parts.body.is_some() || at.checked_sub(1).is_some_and(is_type))
}

/// A statement outside of all functions is the rest of one that was not understood.
fn is_statement(name: &str) -> bool {
    matches!(name, "if" | "for" | "while" | "switch")
}

fn is_assembly(word: &[u8]) -> bool {
    matches!(word, b"asm" | b"__asm" | b"__asm__" | b"volatile" | b"__volatile__")
}
