//! What macros make at namespace scope, and the attributes that they hide.

use super::{MAX_MADE_TOKENS, Source, Walk};
use crate::source::expand::{Dropped, Expansion, expand};
use crate::source::items::Made;
use crate::source::items::attributes::{Attributes, Bounds, BoundsKind, BoundsText};
use crate::source::items::declaration::{self, MacroUse, Read};
use crate::source::items::view::View;
use crate::source::lexer::{TokenKind, lex};
use std::ops::Range;

/// What the text that a macro brings is to what stands round it.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Shape {
    /// Whole declarations.
    Whole,
    /// It opens or closes namespaces, or closes what else is open.
    Scope,
    /// The declaration goes on behind it.
    Part,
}

impl Shape {
    fn of(view: &View) -> Shape {
        let opening = (0..view.len()).find(|at| view.is_open_bracket(*at) && !view.is_closed(*at));
        let closes = |at: usize| view.byte(at, b'}') && view.opener(at) == at;
        match (opening, view.len().checked_sub(1)) {
            (Some(open), _) if is_scope(view, open) => Shape::Scope,
            (Some(_), _) => Shape::Part,
            (None, Some(last)) if (0..=last).any(closes) => Shape::Scope,
            (None, Some(last)) if !matches!(view.text(last), b"}" | b";" | b":") => Shape::Part,
            (None, _) => Shape::Whole,
        }
    }
}

/// Whether a brace opens a namespace or `extern "C"`.
fn is_scope(view: &View, open: usize) -> bool {
    let mut words = (0..open).rev().take_while(|at| view.identifier(*at).is_some() || view.is(*at, b"::"));
    let is_extern =
        |last: usize| view.kind(last) == Some(TokenKind::String) && view.is(last.wrapping_sub(1), b"extern");
    view.byte(open, b'{') && (words.any(|at| view.is(at, b"namespace")) || open.checked_sub(1).is_some_and(is_extern))
}

/// Behind a macro's name, and its arguments if parentheses follow.
fn behind_use(view: &View, at: usize) -> usize {
    match (view.cut_at(at), view.byte(at + 1, b'(')) {
        (Some(cut), _) => cut.last + 1,
        (None, true) => view.behind(at + 1),
        (None, false) => at + 1,
    }
}

impl Walk<'_, '_> {
    pub(super) fn macro_use(&self, source: &Source, at: usize) -> MacroUse {
        match self.unit {
            Some((unit, _)) if source.made.is_none() => self.macros.of(unit, source.view.position(at)),
            _ => MacroUse::default(),
        }
    }

    /// A macro at the start of a declaration that holds whole declarations or opens and closes scopes.
    pub(super) fn made_by_macro(&mut self, source: &Source, start: usize) -> Option<usize> {
        let view = source.view;
        view.identifier(start)?;
        let use_of = self.macro_use(source, start);
        if !use_of.is_macro || self.made_tokens > MAX_MADE_TOKENS {
            return None;
        }
        let has_arguments = view.byte(start + 1, b'(');
        let end = behind_use(view, start);
        // Test frameworks: `TEST_CASE("..") {` holds braces but what matters is the body that follows.
        if has_arguments && view.byte(end, b'{') && view.cut_at(start).is_none() {
            return None;
        }
        let in_arguments = has_arguments && self.hold_code(source, start + 1, &use_of);
        if !use_of.braces && !in_arguments {
            return None;
        }
        let end = match self.shape(source, start..end) {
            Shape::Whole | Shape::Scope => end,
            Shape::Part => self.end_of_declaration(source, start),
        };
        self.walk_expansion(source, start..end)
    }

    /// Whether arguments hold a kernel's mark or its body, or name a macro that makes one: `FOR_EACH_TYPE(DEFINE_KERNEL)`.
    fn hold_code(&self, source: &Source, open: usize, use_of: &MacroUse) -> bool {
        let view = source.view;
        view.inside(open).any(|at| {
            view.is(at, b"__global__")
                || view.byte(at, b'{') && (use_of.kernel || use_of.device)
                || view.identifier(at).is_some() && brings_code(&self.macro_use(source, at))
        })
    }

    /// A declaration in which the macro at `hidden` brings more than words.
    pub(super) fn hidden_by_macro(&mut self, source: &Source, start: usize, hidden: usize) -> usize {
        if hidden > start && self.shape(source, hidden..behind_use(source.view, hidden)) == Shape::Scope {
            // What stands before it is another macro's, or an attribute nobody knows.
            return hidden;
        }
        let end = self.end_of_declaration(source, hidden);
        if self.made_tokens > MAX_MADE_TOKENS {
            return end;
        }
        self.walk_expansion(source, start..end).unwrap_or(end)
    }

    /// Behind the declaration of which `from` is a part, the macros in it heeded.
    pub(super) fn end_of_declaration(&self, source: &Source, from: usize) -> usize {
        let view = source.view;
        let mut at = from;
        while at < view.len() {
            let is_macro = view.identifier(at).is_some() && self.macro_use(source, at).braces;
            let mut may_end = view.opens_brace(at);
            if is_macro && !may_end {
                let end = behind_use(view, at);
                match self.shape(source, at..end) {
                    Shape::Scope => return at.max(from + 1),
                    Shape::Whole => may_end = true,
                    Shape::Part => {}
                }
                at = end;
            } else {
                match view.text(at) {
                    b";" => return at + 1,
                    b"}" => return at,
                    _ => at = view.step(at),
                }
            }
            // Initialisers, a function-try-block.
            if may_end && !matches!(view.text(at), b"," | b"{" | b"catch") {
                return at;
            }
        }
        at
    }

    /// What the use of a macro in the file is to the declaration that it stands in.
    fn shape(&self, source: &Source, of: Range<usize>) -> Shape {
        let Some((unit, selection)) = self.unit.filter(|_| source.made.is_none()) else { return Shape::Whole };
        let expansion = expand(unit, selection, source.view.range(of));
        let tokens = lex(expansion.expanded.text.as_bytes()).tokens;
        Shape::of(&View::all(expansion.expanded.text.as_bytes(), &tokens))
    }

    /// A declaration whose name, or all of whose header, a macro makes.
    pub(super) fn reshaped_by_macro(
        &mut self,
        source: &Source,
        start: usize,
        read: &declaration::Declaration,
    ) -> Option<usize> {
        let view = source.view;
        let Read::Function(function) = &read.read else { return None };
        let use_of_name = self.macro_use(source, function.name_at);
        let name_is_macro = use_of_name.is_macro && !use_of_name.well_known;
        let header_end = function.body.as_ref().map_or(read.next, |body| body.start);
        let header_is_macro = read.macros.iter().any(|at| {
            let use_of = self.macro_use(source, *at);
            *at < header_end && (use_of.kernel || use_of.device) && view.byte(at + 1, b'(')
        });
        let params_are_macro = {
            let params = function.params.clone();
            params.len() == 1 && self.macro_use(source, params.start).is_macro
        };
        if !name_is_macro && !header_is_macro && !params_are_macro {
            return None;
        }
        // A test framework's macro names no function that anybody calls.
        if name_is_macro
            && !header_is_macro
            && !read.attributes.kernel
            && !read.attributes.device
            && !view.byte(start + 1, b'(')
        {
            return None;
        }
        self.walk_expansion(source, start..read.next)
    }

    pub(super) fn walk_expansion(&mut self, source: &Source, site: Range<usize>) -> Option<usize> {
        let (unit, selection) = self.unit?;
        let end = site.end;
        let site = source.view.range(site);
        let expansion: Expansion = expand(unit, selection, site.clone());
        let tokens = lex(expansion.expanded.text.as_bytes()).tokens;
        self.made_tokens += tokens.len();
        if expansion.overflowed || self.made_tokens > MAX_MADE_TOKENS {
            return None;
        }
        let before = (self.items.found.len(), self.scopes.len());
        let lost = self.items.lost.len();
        let view = View::all(expansion.expanded.text.as_bytes(), &tokens);
        let made = self.items.made.len() as u32;
        self.run(&Source { view: &view, made: Some(made), dropped: &expansion.dropped });
        if (self.items.found.len(), self.scopes.len()) == before
            && !tokens.is_empty()
            && !view.byte(view.len() - 1, b'}')
        {
            self.items.lost.truncate(lost);
            return None;
        }
        self.items.made.push(Made { expansion, tokens, site });
        Some(end)
    }

    /// `__launch_bounds__` out of a macro in a kernel's header.
    pub(super) fn hidden_bounds(&self, source: &Source, header: Range<usize>, attributes: &mut Attributes) {
        if let Some((unit, selection)) = self.unit
            && source.made.is_none()
        {
            let expansion = expand(unit, selection, source.view.range(header));
            attributes.bounds.clear();
            for dropped in &expansion.dropped {
                take_dropped(dropped, attributes);
            }
        }
    }
}

/// Takes up the attributes that the expansion dropped between two tokens; whether there were any.
pub(super) fn dropped_attributes(source: &Source, from: usize, to: usize, attributes: &mut Attributes) -> bool {
    let end = source.view.token(to).map_or(u32::MAX, |token| token.start());
    // What stood before the first token is recorded between it and the token before.
    let start = match from.checked_sub(1).and_then(|before| source.view.token(before)) {
        Some(before) => before.end(),
        None => 0,
    };
    let mut any = false;
    for dropped in source.dropped.iter().filter(|dropped| dropped.out >= start && dropped.out <= end) {
        take_dropped(dropped, attributes);
        any = true;
    }
    any
}

fn take_dropped(dropped: &Dropped, attributes: &mut Attributes) {
    let (word, arguments) = match dropped.text.split_once('(') {
        Some((word, arguments)) => (word.trim(), Some(arguments.trim_end().trim_end_matches(')'))),
        None => (dropped.text.trim(), None),
    };
    match (BoundsKind::of(word.as_bytes()), arguments) {
        (Some(what), Some(_)) => {
            let open = dropped.text.find('(').map_or(0, |at| at + 1);
            let close = dropped.text.rfind(')').unwrap_or(dropped.text.len()).max(open);
            let arguments = BoundsText::Expanded(dropped.text[open..close].to_string());
            attributes.bounds.push(Bounds { what, arguments });
        }
        _ => {
            attributes.word(word.as_bytes());
        }
    }
}

fn brings_code(use_of: &MacroUse) -> bool {
    use_of.kernel || use_of.device && use_of.braces
}
