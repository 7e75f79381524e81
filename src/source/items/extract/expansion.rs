//! What macros make at namespace scope, and the attributes that they hide.

use super::{MAX_MADE_TOKENS, Source, Walk};
use crate::source::expand::{Dropped, Expansion, expand};
use crate::source::items::Made;
use crate::source::items::attributes::{Attributes, Bounds, BoundsKind, BoundsText};
use crate::source::items::declaration::{self, MacroUse, Read};
use crate::source::items::view::View;
use crate::source::lexer::lex;
use std::ops::Range;

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
        if !use_of.is_macro {
            return None;
        }
        let has_arguments = view.byte(start + 1, b'(');
        let end = if has_arguments { view.behind(start + 1) } else { start + 1 };
        // Test frameworks: `TEST_CASE("..") {` holds braces but what matters is the body that follows.
        if has_arguments && view.byte(end, b'{') {
            return None;
        }
        let in_arguments = has_arguments && view.inside(start + 1).any(|at| view.is(at, b"__global__"));
        if !use_of.braces && !in_arguments {
            return None;
        }
        self.walk_expansion(source, start..end)
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

    fn walk_expansion(&mut self, source: &Source, site: Range<usize>) -> Option<usize> {
        let (unit, selection) = self.unit?;
        let end = site.end;
        let site = source.view.range(site);
        let expansion: Expansion = expand(unit, selection, site.clone());
        let tokens = lex(expansion.expanded.text.as_bytes()).tokens;
        if expansion.overflowed || self.made_tokens + tokens.len() > MAX_MADE_TOKENS {
            return None;
        }
        self.made_tokens += tokens.len();
        let before = (self.items.found.len(), self.scopes.len());
        let view = View::all(expansion.expanded.text.as_bytes(), &tokens);
        let made = self.items.made.len() as u32;
        self.run(&Source { view: &view, made: Some(made), dropped: &expansion.dropped });
        if (self.items.found.len(), self.scopes.len()) == before
            && !tokens.is_empty()
            && !view.byte(view.len() - 1, b'}')
        {
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
