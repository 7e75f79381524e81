//! Which names of a function some of its tokens depend on: only of those it matters what callers give them.
//!
//! A name brings in whatever is named beside it: in its statements, in the conditions and loops round them, in the calls that
//! they are arguments of.

use super::Work;
use super::choices::conditions_round;
use super::code::Code;
use super::declarators::is_statement_word;
use super::evaluate::is_type_word;
use super::locals::{statement_end, statement_start};
use super::members::data_members;
use rustc_hash::FxHashSet;
use std::ops::Range;

/// The parameters, those of templates among them, and the members of a method's object that `seeds` depend on, in order.
pub(super) fn parameters(work: &Work, code: &Code, seeds: impl IntoIterator<Item = Range<usize>>) -> Vec<String> {
    let mut search = Search { code, names: FxHashSet::default(), statements: FxHashSet::default(), todo: Vec::new() };
    for seed in seeds {
        search.round(seed.start);
        search.todo.push(seed);
    }
    while let Some(range) = search.todo.pop() {
        search.read(range);
    }
    let params = code.params.iter().chain(&code.templates).map(|param| param.name.clone());
    let all = params.chain(data_members(work, code));
    all.filter(|name| search.names.contains(name.as_bytes())).collect()
}

struct Search<'c> {
    code: &'c Code,
    names: FxHashSet<&'c [u8]>,
    /// The statements read, by where they begin.
    statements: FxHashSet<usize>,
    todo: Vec<Range<usize>>,
}

impl Search<'_> {
    fn read(&mut self, range: Range<usize>) {
        let (code, view) = (self.code, &self.code.view);
        let mut at = range.start;
        while at < range.end {
            if view.byte(at, b'{') && is_block(code, at) {
                at = view.behind(at).max(at + 1);
                continue;
            }
            if let Some(name) = view.identifier(at)
                && !is_statement_word(name)
                && !is_type_word(name)
                && !matches!(name, b"auto" | b"constexpr" | b"static" | b"typename" | b"template" | b"float" | b"void")
                && self.names.insert(name)
            {
                for used in code.uses(name, code.body.clone()) {
                    self.round(*used);
                }
            }
            at += 1;
        }
    }

    /// What stands round a token is to be read, too.
    fn round(&mut self, at: usize) {
        let view = &self.code.view;
        let mut inner = at;
        while inner >= self.code.body.start {
            let start = statement_start(view, inner);
            if !self.statements.insert(start) {
                return;
            }
            if inner == at {
                self.todo.extend(conditions_round(self.code, at).into_iter().map(|(condition, _)| condition));
            }
            self.todo.push(start..statement_end(view, inner));
            let Some(open) = view.bracket_round(inner) else { return };
            if view.byte(open, b'(') {
                self.todo.push(view.inside(open));
            } else if view.byte(open.wrapping_sub(1), b')') {
                self.todo.push(view.inside(view.opener(open - 1)));
            }
            inner = open;
        }
    }
}

/// Braces round statements, not round values.
fn is_block(code: &Code, open: usize) -> bool {
    let view = &code.view;
    matches!(view.text(open - 1), b")" | b"]" | b";" | b"{" | b"}" | b"else" | b"do" | b"mutable" | b"try" | b":")
}
