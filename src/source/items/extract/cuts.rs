//! Where in a file macros open or close brackets whose partners stand outside of them.

use crate::source::expand::Unit;
use crate::source::expand::expand;
use crate::source::items::view::{Cut, View};
use crate::source::lexer::lex;
use crate::source::select::Selection;

/// In the order of the seen tokens.
pub(super) fn find(unit: &Unit, selection: &Selection, seen: &[u32]) -> Vec<Cut> {
    let file = unit.files.get(unit.file);
    let mut cuts = Vec::new();
    // What stands in the arguments of one is part of its expansion.
    let mut behind = 0;
    for (at, &token) in seen.iter().enumerate() {
        if at < behind {
            continue;
        }
        let Some(name) = unit.files.cutting_macro(file, file.tokens[token as usize]) else { continue };
        let moment = unit.moment(unit.file, token);
        let Some(definition) = unit.definition(name, moment, Some(token)) else { continue };
        let define = &unit.files.get(definition.file).macros[definition.index as usize];
        let is_byte = |at: usize, byte: u8| seen.get(at).is_some_and(|at| file.tokens[*at as usize].is_byte(byte));
        let last = match (&define.params, is_byte(at + 1, b'(')) {
            (None, _) => at,
            (Some(_), true) => match closing_parenthesis(at + 1, seen.len(), is_byte) {
                Some(last) => last,
                None => break,
            },
            (Some(_), false) => continue,
        };
        behind = last + 1;
        let expansion = expand(unit, selection, token..seen[last] + 1);
        let tokens = lex(expansion.expanded.text.as_bytes()).tokens;
        let brackets = View::all(expansion.expanded.text.as_bytes(), &tokens).brackets_left();
        if !brackets.is_empty() {
            cuts.push(Cut { at, last, brackets });
        }
    }
    cuts
}

fn closing_parenthesis(open: usize, end: usize, is_byte: impl Fn(usize, u8) -> bool) -> Option<usize> {
    let mut depth = 0usize;
    (open..end).find(|at| {
        depth += usize::from(is_byte(*at, b'('));
        depth -= usize::from(is_byte(*at, b')'));
        depth == 0
    })
}
