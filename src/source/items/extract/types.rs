//! Aliases, `using`, enumerations, classes, explicit instantiations.

use super::{Source, Walk};
use crate::source::items::attributes::Attributes;
use crate::source::items::class_head::class_head;
use crate::source::items::declaration::{self, MacroUse, Read};
use crate::source::items::{ClassParts, ItemKind, Tokens};
use crate::source::lexer::TokenKind;

impl Walk<'_, '_> {
    pub(super) fn using(&mut self, source: &Source, start: usize, at: usize, templates: Vec<Tokens>) -> usize {
        let view = source.view;
        let end = view.behind_statement(at);
        let none = Attributes::default();
        let found = if view.is(at + 1, b"namespace") {
            let path = self.path_until_semicolon(view, at + 2);
            self.found(source, ItemKind::UsingNamespace(path), at + 2, start..end, &none)
        } else if view.identifier(at + 1).is_some() && !view.is(at + 2, b"::") && !view.is(at + 1, b"typename") {
            let mut found = self.found(source, ItemKind::Alias, at + 1, start..end, &none);
            found.templates = templates;
            found
        } else {
            let path = self.path_until_semicolon(view, at + 1);
            let name = path.last().cloned();
            let mut found = self.found(source, ItemKind::UsingName(path), at + 1, start..end, &none);
            if let Some(name) = name {
                found.name = name;
            }
            found
        };
        self.items.found.push(found);
        end
    }

    /// A constant for each of its arguments.
    pub(super) fn concept(&mut self, source: &Source, start: usize, at: usize, templates: Vec<Tokens>) -> usize {
        let view = source.view;
        let end = view.behind_statement(at);
        if view.identifier(at + 1).is_some() {
            let attributes = Attributes { is_constexpr: true, ..Attributes::default() };
            let mut found = self.found(source, ItemKind::Value, at + 1, start..end, &attributes);
            found.templates = templates;
            self.items.found.push(found);
        }
        end
    }

    pub(super) fn typedef(&mut self, source: &Source, start: usize, at: usize) -> usize {
        let view = source.view;
        let end = view.behind_statement(at);
        let mut name = None;
        let mut from = at + 1;
        while from < end {
            if view.byte(from, b'(') && (view.is(from + 1, b"*") || view.is(from + 1, b"&") || view.is(from + 2, b"::"))
            {
                // `typedef void (*Step)(int *);`
                name = view.inside(from).rev().find(|at| view.identifier(*at).is_some());
                break;
            }
            if view.identifier(from).is_some() && !view.is(from, b"__attribute__") {
                name = Some(from);
            }
            if view.byte(from, b',')
                && let Some(first) = name
            {
                let found = self.found(source, ItemKind::Alias, first, start..end, &Attributes::default());
                self.items.found.push(found);
            }
            from = view.step(from);
        }
        if let Some(name) = name {
            let found = self.found(source, ItemKind::Alias, name, start..end, &Attributes::default());
            self.items.found.push(found);
        }
        end
    }

    pub(super) fn enumeration(&mut self, source: &Source, start: usize, at: usize) -> Option<usize> {
        let view = source.view;
        let scoped = matches!(view.text(at + 1), b"class" | b"struct");
        let mut head = at + 1 + usize::from(scoped);
        let mut name_at = None;
        while !view.byte(head, b'{') {
            match view.token(head)?.kind() {
                TokenKind::Identifier => name_at = name_at.or(Some(head)),
                TokenKind::Punctuator => match view.text(head) {
                    b"(" | b"[" => {}
                    b"::" | b":" | b"<" => {}
                    b";" => return Some(head + 1),
                    _ => return None,
                },
                _ => return None,
            }
            head = view.step(head);
        }
        let inside = view.inside(head);
        let end = view.behind_statement(view.behind(head));
        let none = Attributes::default();
        let enumeration = self.items.found.len() as u32;
        let mut found = self.found(source, ItemKind::Enum, name_at.unwrap_or(at), start..end, &none);
        if name_at.is_none() {
            found.name = self.name(b"");
        }
        self.items.found.push(found);
        for piece in view.split_at_commas(inside) {
            if view.identifier(piece.start).is_some() {
                let kind = ItemKind::Enumerator { enumeration, scoped };
                let found = self.found(source, kind, piece.start, piece, &none);
                self.items.found.push(found);
            }
        }
        Some(end)
    }

    pub(super) fn class(&mut self, source: &Source, start: usize, at: usize, templates: &[Tokens]) -> Option<usize> {
        self.class_named(source, start, at, templates, None)
    }

    /// `using Name = struct { .. };`
    pub(super) fn class_of_alias(
        &mut self,
        source: &Source,
        start: usize,
        at: usize,
        templates: &[Tokens],
    ) -> Option<usize> {
        let view = source.view;
        let is_nameless = || class_head(view, at + 3, &|_| MacroUse::default()).is_some_and(|head| head.name.is_none());
        let is_one = view.identifier(at + 1).is_some()
            && view.byte(at + 2, b'=')
            && matches!(view.text(at + 3), b"struct" | b"class" | b"union")
            && is_nameless();
        is_one.then(|| self.class_named(source, start, at + 3, templates, Some(at + 1))).flatten()
    }

    fn class_named(
        &mut self,
        source: &Source,
        start: usize,
        at: usize,
        templates: &[Tokens],
        alias: Option<usize>,
    ) -> Option<usize> {
        let view = source.view;
        let head = class_head(view, at, &|at| self.macro_use(source, at))?;
        if let Some(hidden) = head.hidden {
            let end = view.behind_statement(self.end_of_declaration(source, hidden));
            return Some(self.walk_expansion(source, start..end).unwrap_or(end));
        }
        let Some(open) = head.body else {
            return Some(view.behind_statement(at));
        };
        let close = view.behind(open);
        // `typedef struct { .. } Name;`
        let declared =
            view.identifier(close).map(|_| close).filter(|_| view.byte(close + 1, b';') || view.byte(close + 1, b','));
        let is_typedef = view.is(at, b"typedef");
        let name_at = head.name.or(alias).or(declared.filter(|_| is_typedef));
        let kind = ItemKind::Class(ClassParts {
            arguments: head.arguments.map(|range| view.range(range)),
            bases: head.bases.map(|range| view.range(range)),
            body: Some(view.range(open..close)),
            is_union: head.is_union,
        });
        let mut found = self.found(source, kind, name_at.unwrap_or(open), start..close, &Attributes::default());
        found.templates = templates.to_vec();
        found.qualifier = name_at.map(|name| self.qualifier_before(view, name, start)).unwrap_or_default();
        if name_at.is_none() {
            found.name = self.name(b"");
        }
        let name = found.name.clone();
        let index = self.items.found.len() as u32;
        self.items.found.push(found);
        if is_typedef
            && head.name.is_some()
            && let Some(alias) = declared
            && view.text(alias) != name.as_bytes()
        {
            let found = self.found(source, ItemKind::Alias, alias, start..close + 1, &Attributes::default());
            self.items.found.push(found);
        }
        let is_named = name_at.is_some();
        // A nameless struct inside a class has the class's scope.
        if is_named || self.scopes.last().is_some_and(|scope| scope.class.is_none()) {
            self.open_scope(source, open, is_named.then_some(name), Some(index));
        } else {
            self.open_scope(source, open, None, None);
        }
        Some(open + 1)
    }

    /// `template` here stands without brackets behind it.
    pub(super) fn instantiation(&mut self, source: &Source, start: usize, at: usize) -> usize {
        let view = source.view;
        let end = view.behind_statement(at);
        if let Some(head) = class_head(view, at + 1, &|at| self.macro_use(source, at)) {
            if let Some(name_at) = head.name {
                let arguments = head.arguments.map(|range| view.range(range));
                let kind = ItemKind::Instantiation { arguments, of_class: true };
                let mut found = self.found(source, kind, name_at, start..end, &Attributes::default());
                found.qualifier = self.qualifier_before(view, name_at, start);
                self.items.found.push(found);
            }
            return end;
        }
        let macro_use = |at: usize| self.macro_use(source, at);
        let read = declaration::read(view, at + 1, &macro_use);
        if let Read::Function(function) = read.read {
            let path = &function.path.segments;
            let arguments = path.last().and_then(|part| part.arguments.clone()).map(|range| view.range(range));
            let kind = ItemKind::Instantiation { arguments, of_class: false };
            let mut found = self.found(source, kind, function.name_at, start..end, &read.attributes);
            found.qualifier =
                path[..path.len().saturating_sub(1)].iter().map(|part| self.name(view.text(part.at))).collect();
            self.items.found.push(found);
        }
        end
    }
}
