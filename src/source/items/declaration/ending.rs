//! What a head ends with decides what it declares: a body, initialisers, a semicolon, an equals sign.

use super::{Function, Path, Read, Reader};
use crate::source::items::ParamCount;
use crate::source::items::view::View;
use crate::source::lexer::TokenKind;
use std::ops::Range;

impl Reader<'_, '_> {
    /// `int (*table[4])(int) = ..`, `void (*hook)();`, `auto (&f)[3]`
    pub(super) fn parenthesised_declarator(&mut self) {
        let view = self.view;
        let inside = view.inside(self.at);
        let name = inside
            .clone()
            .take_while(|at| !view.byte(*at, b'[') && !view.byte(*at, b'('))
            .filter(|at| view.identifier(*at).is_some());
        let name = name.last();
        self.at = view.behind(self.at).max(self.at + 1);
        self.finish_variables(name.into_iter().collect());
    }

    pub(super) fn brace(&mut self, path: Path, has_type: bool) {
        if !self.candidates.is_empty() && !self.declares_variable(&path, has_type) {
            return self.function(None, None);
        }
        if has_type && !path.segments.is_empty() {
            return self.variables(path);
        }
        self.out.read = Read::Scope(self.at);
        self.out.next = self.at + 1;
    }

    pub(super) fn semicolon(&mut self, path: Path, has_type: bool) {
        if self.candidates.is_empty() || self.declares_variable(&path, has_type) {
            if has_type {
                return self.variables(path);
            }
            self.out.next = self.at + 1;
            return;
        }
        let chosen = self.chosen();
        let params = self.view.inside(self.candidates[chosen].params);
        if self.candidates[chosen].had_type && self.looks_like_values(params) {
            let path = std::mem::take(&mut self.candidates[chosen].path);
            return self.variables(path);
        }
        self.function(None, None);
    }

    /// `T x(1, 2);` declares a variable, `T x(int, int);` a function.
    fn looks_like_values(&self, params: Range<usize>) -> bool {
        let first = self.view.kind(params.start);
        !params.is_empty()
            && match first {
                Some(TokenKind::Number | TokenKind::String | TokenKind::Character) => true,
                Some(TokenKind::Punctuator) => matches!(self.view.text(params.start), b"-" | b"&" | b"*" | b"{" | b"!"),
                _ => false,
            }
    }

    pub(super) fn equals(&mut self, path: Path, has_type: bool) {
        if self.candidates.is_empty() {
            if has_type || !path.segments.is_empty() {
                return self.variables(path);
            }
            self.out.next = self.view.behind_statement(self.at);
            return;
        }
        if self.declares_variable(&path, has_type) {
            return self.variables(path);
        }
        let kind = self.view.text(self.at + 1);
        if matches!(kind, b"default" | b"delete" | b"0") {
            self.function(None, None);
            self.out.next = self.view.behind_statement(self.at);
            return;
        }
        let chosen = self.chosen();
        let path = std::mem::take(&mut self.candidates[chosen].path);
        self.variables(path);
    }

    pub(super) fn initialisers(&mut self) {
        let view = self.view;
        let colon = self.at;
        let mut at = colon + 1;
        loop {
            while view.identifier(at).is_some() || view.is(at, b"::") || view.is(at, b"<") {
                at = if view.is(at, b"<") { view.behind_angle(at).unwrap_or(at + 1) } else { at + 1 };
            }
            if !(view.byte(at, b'(') || view.byte(at, b'{')) || at == colon + 1 {
                break;
            }
            at = view.behind(at).max(at + 1);
            if view.is(at, b"...") {
                at += 1;
            }
            if !view.byte(at, b',') {
                break;
            }
            at += 1;
        }
        // Macros may hide initialisers: then the next brace is the body.
        while at < view.len() && !view.byte(at, b'{') && !view.byte(at, b';') && !view.byte(at, b'}') {
            if self.brings_end(at) {
                self.at = at;
                return self.hidden();
            }
            at = view.step(at);
        }
        self.at = at;
        self.function(None, Some(colon..at));
    }

    pub(super) fn trailing_result(&mut self) {
        let view = self.view;
        let start = self.at + 1;
        let mut at = start;
        let mut end = None;
        while at < view.len() {
            match view.text(at) {
                b"{" | b";" | b"}" | b"=" | b":" => break,
                b"requires" => {
                    self.at = at;
                    end.get_or_insert(at);
                    self.requirement();
                    at = self.at;
                    continue;
                }
                _ if self.brings_end(at) => {
                    self.at = at;
                    return self.hidden();
                }
                _ => at = view.step(at),
            }
        }
        self.at = at;
        self.function(Some(start..end.unwrap_or(at)), None);
    }

    /// Whether a macro at `at` may bring the body.
    fn brings_end(&self, at: usize) -> bool {
        self.view.identifier(at).is_some() && (self.macro_use)(at).braces
    }

    fn chosen(&self) -> usize {
        let candidates = &self.candidates;
        candidates
            .iter()
            .position(|candidate| candidate.had_type && !candidate.is_macro)
            .or_else(|| candidates.iter().rposition(|candidate| !candidate.is_macro))
            .unwrap_or(candidates.len().saturating_sub(1))
    }

    /// At the body, or at what ends a declaration without one.
    fn function(&mut self, trailing: Option<Range<usize>>, initialisers: Option<Range<usize>>) {
        let view = self.view;
        let chosen = self.chosen();
        if chosen >= self.candidates.len() {
            self.out.next = self.view.behind_statement(self.at);
            return;
        }
        let candidate = self.candidates.swap_remove(chosen);
        let params = view.inside(candidate.params);
        let body = view.byte(self.at, b'{').then(|| self.at..view.behind(self.at));
        let mut next = match &body {
            Some(body) => body.end.max(self.at + 1),
            None if view.byte(self.at, b';') => self.at + 1,
            None => self.at,
        };
        // The handlers of a function-try-block.
        while body.is_some() && view.is(next, b"catch") && view.byte(next + 1, b'(') {
            next = view.behind(next + 1);
            if view.byte(next, b'{') {
                next = view.behind(next);
            }
        }
        let last = candidate.path.segments.last();
        let name_at = last.map_or(candidate.start, |segment| segment.at);
        let result_end = candidate.start.max(candidate.result_start);
        self.out.read = Read::Function(Box::new(Function {
            name: candidate.name.unwrap_or_default(),
            name_at,
            path: candidate.path,
            role: candidate.role,
            declarator: candidate.start..candidate.params,
            result: candidate.result_start..result_end,
            trailing,
            count: count_params(view, params.clone()),
            params,
            initialisers,
            body,
            macro_name: candidate.is_macro,
            requirements: std::mem::take(&mut self.requirements),
        }));
        self.out.next = next;
    }

    pub(super) fn variables(&mut self, path: Path) {
        let first = path.segments.last().map(|segment| segment.at);
        self.finish_variables(first.into_iter().collect());
    }

    /// The names that follow the first one, up to the semicolon.
    fn finish_variables(&mut self, mut names: Vec<usize>) {
        let view = self.view;
        let mut at = self.at;
        let limit = at + 1_000_000;
        while at < view.len() && at < limit {
            match view.text(at) {
                b";" => {
                    at += 1;
                    break;
                }
                b"}" => break,
                b"," => {
                    let mut name = at + 1;
                    while matches!(view.text(name), b"*" | b"&" | b"const") {
                        name += 1;
                    }
                    if view.identifier(name).is_some()
                        && matches!(view.text(name + 1), b"=" | b"[" | b";" | b"," | b"{" | b"(")
                    {
                        names.push(name);
                    }
                    at += 1;
                }
                _ => at = view.step(at),
            }
        }
        self.out.read = if names.is_empty() { Read::Nothing } else { Read::Variables(names) };
        self.out.next = at.max(self.at);
    }
}

fn count_params(view: &View, params: Range<usize>) -> ParamCount {
    let mut count = ParamCount::default();
    let pieces = view.split_at_commas(params);
    if let [only] = pieces.as_slice()
        && (only.is_empty() || only.len() == 1 && view.is(only.start, b"void"))
    {
        return count;
    }
    for piece in pieces {
        let (mut has_default, mut pack) = (false, false);
        let mut at = piece.start;
        while at < piece.end {
            has_default |= view.byte(at, b'=');
            pack |= view.is(at, b"...");
            at = view.step(at);
        }
        if pack {
            count.variadic = true;
        } else {
            count.max += 1;
            count.min += u32::from(!has_default);
        }
    }
    count
}
