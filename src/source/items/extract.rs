//! The walk over a file's declarations: scopes open and close, each declaration becomes items.
//!
//! A macro at namespace scope that holds braces, and a declaration whose name a macro makes, are expanded and walked in turn.

use super::attributes::{Attributes, Bounds, BoundsKind, BoundsText};
use super::class_head::class_head;
use super::declaration::{self, Function, MacroUse, Read};
use super::macros::MacroUses;
use super::view::View;
use super::{ClassParts, FileItems, Found, FunctionParts, ItemKind, Made, Role, Tokens};
use crate::program::Name;
use crate::source::expand::{Dropped, Expansion, Unit, expand};
use crate::source::lexer::{TokenKind, lex};
use crate::source::select::Selection;
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::sync::Arc;

/// Scopes nested deeper than this keep the path of the outer ones.
const MAX_SCOPE_PATH: usize = 32;
/// Tokens that top-level macros of one file may make.
const MAX_MADE_TOKENS: usize = 2_000_000;

/// All items of the unit's own file.
pub fn extract(unit: &Unit, selection: &Selection) -> FileItems {
    let file = unit.files.get(unit.file);
    let seen: Vec<u32> = selection.tokens().collect();
    let view = View::new(&file.bytes, &file.tokens, seen);
    let mut walk = Walk::new(Some((unit, selection)));
    walk.run(&Source { view: &view, made: None, dropped: &[] });
    walk.items
}

/// The items of a text that is expanded already.
pub(super) fn extract_expanded(view: &View, dropped: &[Dropped]) -> FileItems {
    let mut walk = Walk::new(None);
    walk.run(&Source { view, made: None, dropped });
    walk.items
}

struct Source<'a, 'v> {
    view: &'a View<'v>,
    /// The expansion walked, or none for the file itself.
    made: Option<u32>,
    /// Attributes that the expansion took out.
    dropped: &'a [Dropped],
}

struct Scope {
    path: Arc<[Name]>,
    class: Option<u32>,
    /// The closing brace, in the view of the same expansion; none if some macro closes it.
    end: Option<(Option<u32>, usize)>,
}

struct Walk<'u, 'f> {
    unit: Option<(&'u Unit<'f>, &'u Selection)>,
    items: FileItems,
    scopes: Vec<Scope>,
    names: FxHashMap<Vec<u8>, Name>,
    macros: MacroUses,
    made_tokens: usize,
}

impl<'u, 'f> Walk<'u, 'f> {
    fn new(unit: Option<(&'u Unit<'f>, &'u Selection)>) -> Walk<'u, 'f> {
        let outermost = Scope { path: Arc::from([]), class: None, end: None };
        Walk {
            unit,
            items: FileItems::default(),
            scopes: vec![outermost],
            names: FxHashMap::default(),
            macros: MacroUses::default(),
            made_tokens: 0,
        }
    }

    fn run(&mut self, source: &Source) {
        let mut at = 0;
        while at < source.view.len() {
            let next = self.declaration(source, at);
            at = next.max(at + 1);
        }
    }

    fn declaration(&mut self, source: &Source, start: usize) -> usize {
        let view = source.view;
        match view.text(start) {
            b";" => return start + 1,
            b"}" => {
                self.close_scope(source, start);
                return start + 1;
            }
            b"namespace" => return self.namespace(source, start),
            b"inline" if view.is(start + 1, b"namespace") => return self.namespace(source, start + 1),
            b"extern" if view.kind(start + 1) == Some(TokenKind::String) && view.byte(start + 2, b'{') => {
                self.open_scope(source, start + 2, None, None);
                return start + 3;
            }
            b"public" | b"private" | b"protected" if view.byte(start + 1, b':') => return start + 2,
            b"static_assert" | b"_Static_assert" | b"asm" | b"__asm__" | b"concept" => {
                return behind_statement(view, start);
            }
            b"[" if view.is(start + 1, b"[") => return view.behind(start).max(start + 1),
            b"friend" if matches!(view.text(start + 1), b"class" | b"struct" | b"union") => {
                return behind_statement(view, start);
            }
            _ => {}
        }
        if let Some(next) = self.made_by_macro(source, start) {
            return next;
        }
        let (templates, at) = template_headers(view, start);
        match view.text(at) {
            b"using" => return self.using(source, start, at, templates),
            b"typedef" if class_head(view, at, &|_| MacroUse::default()).is_none_or(|head| head.body.is_none()) => {
                return self.typedef(source, start, at);
            }
            b"concept" => return self.concept(source, start, at, templates),
            b"enum" => {
                if let Some(next) = self.enumeration(source, start, at) {
                    return next;
                }
            }
            b"template" => return self.instantiation(source, start, at),
            b"extern" if view.is(at + 1, b"template") => return self.instantiation(source, start, at + 1),
            _ => {}
        }
        if let Some(next) = self.class(source, start, at, &templates) {
            return next;
        }
        let macro_use = |at: usize| self.macro_use(source, at);
        let read = declaration::read(view, at, &macro_use);
        if let Some(next) = self.reshaped_by_macro(source, start, &read) {
            return next;
        }
        self.take(source, start, templates, read)
    }

    /// Adds what an ordinary declaration holds.
    fn take(&mut self, source: &Source, start: usize, templates: Vec<Tokens>, read: declaration::Declaration) -> usize {
        let view = source.view;
        let next = read.next;
        let mut attributes = read.attributes;
        match read.read {
            Read::Function(function) => {
                let header_end = function.body.as_ref().map_or(next, |body| body.start);
                let dropped = dropped_attributes(source, start, header_end, &mut attributes);
                let header_macros = !read.macros.is_empty() && read.macros[0] < header_end;
                if attributes.kernel && header_macros && !dropped {
                    self.hidden_bounds(source, start..header_end, &mut attributes);
                }
                self.function(source, start..next, templates, attributes, *function);
            }
            Read::Variables(names) => {
                dropped_attributes(source, start, next, &mut attributes);
                let in_class = self.scopes.last().is_some_and(|scope| scope.class.is_some());
                let stored =
                    attributes.is_static || attributes.is_constexpr || attributes.device || attributes.constant;
                if !in_class || stored {
                    for name_at in names {
                        let mut found = self.found(source, ItemKind::Value, name_at, start..next, &attributes);
                        found.templates = templates.clone();
                        found.qualifier = self.qualifier_before(view, name_at, start);
                        self.items.found.push(found);
                    }
                }
            }
            Read::Scope(open) => {
                self.open_scope(source, open, None, None);
                return open + 1;
            }
            Read::Nothing => {}
        }
        next
    }

    fn function(
        &mut self,
        source: &Source,
        range: Range<usize>,
        templates: Vec<Tokens>,
        attributes: Attributes,
        function: Function,
    ) {
        let view = source.view;
        let name_at = function.name_at;
        let mut found = self.found(source, ItemKind::Enum, name_at, range, &attributes);
        found.name = self.name(function.name.as_bytes());
        let path = &function.path.segments;
        found.qualifier =
            path[..path.len().saturating_sub(1)].iter().map(|part| self.name(view.text(part.at))).collect();
        found.templates = templates;
        let mut role = function.role;
        if attributes.is_friend {
            self.leave_classes(&mut found);
        } else if role == Role::Plain
            && let Some(class) = found.class
            && self.items.found[class as usize].name == found.name
        {
            role = Role::Constructor;
        }
        let class_headers = path.iter().rev().skip(1).filter(|part| part.arguments.is_some()).count() as u32;
        found.kind = ItemKind::Function(FunctionParts {
            role,
            declarator: view.range(function.declarator),
            arguments: path.last().and_then(|part| part.arguments.clone()).map(|arguments| view.range(arguments)),
            class_headers,
            result: view.range(function.result),
            trailing: function.trailing.map(|range| view.range(range)),
            params: view.range(function.params),
            count: function.count,
            initialisers: function.initialisers.map(|range| view.range(range)),
            body: function.body.map(|range| view.range(range)),
            macro_name: function.macro_name,
            requirements: function.requirements.iter().map(|range| view.range(range.clone())).collect(),
        });
        self.items.found.push(found);
    }

    fn found(
        &mut self,
        source: &Source,
        kind: ItemKind,
        name_at: usize,
        range: Range<usize>,
        attributes: &Attributes,
    ) -> Found {
        let view = source.view;
        let (scope, class) =
            self.scopes.last().map_or((Arc::from([]), None), |scope| (scope.path.clone(), scope.class));
        Found {
            kind,
            name: self.name(view.text(name_at)),
            name_token: view.position(name_at),
            scope,
            qualifier: Vec::new(),
            class,
            tokens: view.range(range),
            made: source.made,
            templates: Vec::new(),
            attributes: attributes.clone(),
        }
    }

    fn name(&mut self, bytes: &[u8]) -> Name {
        if let Some(name) = self.names.get(bytes) {
            return name.clone();
        }
        let name: Name = String::from_utf8_lossy(bytes).into();
        self.names.insert(bytes.to_vec(), name.clone());
        name
    }

    /// A friend belongs to the namespace, not to the class it is written in.
    fn leave_classes(&mut self, found: &mut Found) {
        if let Some(scope) = self.scopes.iter().rev().find(|scope| scope.class.is_none()) {
            found.class = None;
            found.scope = scope.path.clone();
        }
    }

    fn qualifier_before(&mut self, view: &View, name_at: usize, start: usize) -> Vec<Name> {
        let mut names = Vec::new();
        let mut at = name_at;
        while at >= start + 2 && view.is(at - 1, b"::") && view.identifier(at - 2).is_some() {
            names.push(self.name(view.text(at - 2)));
            at -= 2;
        }
        names.reverse();
        names
    }

    // Scopes

    fn open_scope(&mut self, source: &Source, open: usize, name: Option<Name>, class: Option<u32>) {
        let around = self.scopes.last();
        let mut path = around.map_or(Arc::from([]), |scope| scope.path.clone());
        if let Some(name) = name
            && path.len() < MAX_SCOPE_PATH
        {
            path = path.iter().cloned().chain([name]).collect();
        }
        let closed = source.view.is_closed(open);
        let end = closed.then(|| (source.made, source.view.inside(open).end));
        // Whatever stands in a scope without name inside a class belongs to that class.
        let class = class.or(around.and_then(|scope| scope.class));
        self.scopes.push(Scope { path, class, end });
    }

    fn close_scope(&mut self, source: &Source, at: usize) {
        let here = Some((source.made, at));
        if self.scopes.len() > 1 && self.scopes.last().is_some_and(|scope| scope.end.is_none() || scope.end == here) {
            self.scopes.pop();
        }
    }

    fn namespace(&mut self, source: &Source, start: usize) -> usize {
        let view = source.view;
        let inline = start > 0 && view.is(start - 1, b"inline");
        let mut names = Vec::new();
        let mut at = start + 1;
        while let Some(token) = view.token(at) {
            match (token.kind, view.text(at)) {
                (_, b"{") => {
                    let path = if inline { &[][..] } else { &names[..] };
                    let outer = self.scopes.len();
                    self.open_scope(source, at, path.first().cloned(), None);
                    for name in path.iter().skip(1) {
                        let end = self.scopes[outer].end;
                        let longer = self.scopes[outer]
                            .path
                            .iter()
                            .cloned()
                            .chain([name.clone()])
                            .take(MAX_SCOPE_PATH)
                            .collect();
                        self.scopes[outer] = Scope { path: longer, class: None, end };
                    }
                    return at + 1;
                }
                (_, b"=") => {
                    let target = self.path_until_semicolon(view, at + 1);
                    if let Some(name) = names.last().cloned() {
                        let end = behind_statement(view, at);
                        let kind = ItemKind::NamespaceAlias(target);
                        let mut found = self.found(source, kind, start + 1, start..end, &Attributes::default());
                        found.name = name;
                        self.items.found.push(found);
                    }
                    return behind_statement(view, at);
                }
                (_, b"[" | b"(") => at = view.behind(at).max(at + 1),
                (TokenKind::Identifier, b"inline") | (_, b"::") => at += 1,
                (TokenKind::Identifier, b"__attribute__") => at += 1,
                (TokenKind::Identifier, word) => {
                    names.push(self.name(word));
                    at += 1;
                }
                _ => return at,
            }
        }
        at
    }

    fn path_until_semicolon(&mut self, view: &View, from: usize) -> Vec<Name> {
        let mut names = Vec::new();
        let mut at = from;
        while at < view.len() && !view.byte(at, b';') {
            match view.identifier(at) {
                Some(b"typename") | None => {}
                Some(word) => names.push(self.name(word)),
            }
            at = view.step(at);
        }
        names
    }

    // Aliases, enumerations, classes

    fn using(&mut self, source: &Source, start: usize, at: usize, templates: Vec<Tokens>) -> usize {
        let view = source.view;
        let end = behind_statement(view, at);
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

    /// A constant for each of its arguments, where it does not look into types.
    fn concept(&mut self, source: &Source, start: usize, at: usize, templates: Vec<Tokens>) -> usize {
        let view = source.view;
        let end = behind_statement(view, at);
        if view.identifier(at + 1).is_some() && !(at..end).any(|at| view.byte(at, b'{')) {
            let attributes = Attributes { is_constexpr: true, ..Attributes::default() };
            let mut found = self.found(source, ItemKind::Value, at + 1, start..end, &attributes);
            found.templates = templates;
            self.items.found.push(found);
        }
        end
    }

    fn typedef(&mut self, source: &Source, start: usize, at: usize) -> usize {
        let view = source.view;
        let end = behind_statement(view, at);
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

    fn enumeration(&mut self, source: &Source, start: usize, at: usize) -> Option<usize> {
        let view = source.view;
        let scoped = matches!(view.text(at + 1), b"class" | b"struct");
        let mut head = at + 1 + usize::from(scoped);
        let mut name_at = None;
        while !view.byte(head, b'{') {
            match view.token(head)?.kind {
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
        let end = behind_statement(view, view.behind(head));
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

    fn class(&mut self, source: &Source, start: usize, at: usize, templates: &[Tokens]) -> Option<usize> {
        let view = source.view;
        let head = class_head(view, at, &|at| self.macro_use(source, at))?;
        let Some(open) = head.body else {
            return Some(behind_statement(view, at));
        };
        let close = view.behind(open);
        // `typedef struct { .. } Name;`
        let declared =
            view.identifier(close).map(|_| close).filter(|_| view.byte(close + 1, b';') || view.byte(close + 1, b','));
        let is_typedef = view.is(at, b"typedef");
        let name_at = head.name.or(declared.filter(|_| is_typedef));
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
    fn instantiation(&mut self, source: &Source, start: usize, at: usize) -> usize {
        let view = source.view;
        let end = behind_statement(view, at);
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

    // Macros

    fn macro_use(&self, source: &Source, at: usize) -> MacroUse {
        match self.unit {
            Some((unit, _)) if source.made.is_none() => self.macros.of(unit, source.view.position(at)),
            _ => MacroUse::default(),
        }
    }

    /// A macro at the start of a declaration that holds whole declarations or opens and closes scopes.
    fn made_by_macro(&mut self, source: &Source, start: usize) -> Option<usize> {
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
    fn reshaped_by_macro(&mut self, source: &Source, start: usize, read: &declaration::Declaration) -> Option<usize> {
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
    fn hidden_bounds(&self, source: &Source, header: Range<usize>, attributes: &mut Attributes) {
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
fn dropped_attributes(source: &Source, from: usize, to: usize, attributes: &mut Attributes) -> bool {
    let end = source.view.token(to).map_or(u32::MAX, |token| token.start);
    // What stood before the first token is recorded between it and the token before.
    let start = match from.checked_sub(1).and_then(|before| source.view.token(before)) {
        Some(before) => before.end,
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

/// The template headers at `start`, and the token behind them. An explicit instantiation has none.
fn template_headers(view: &View, start: usize) -> (Vec<Tokens>, usize) {
    let mut headers = Vec::new();
    let mut at = start;
    while view.is(at, b"template") && view.is(at + 1, b"<") {
        let Some(end) = view.behind_angle(at + 1) else { break };
        headers.push(view.range(at..end));
        at = end;
    }
    (headers, at)
}

fn behind_statement(view: &View, from: usize) -> usize {
    let mut at = from;
    while at < view.len() {
        match view.text(at) {
            b";" => return at + 1,
            b"}" => return at,
            _ => at = if view.is_open_bracket(at) { view.behind(at).max(at + 1) } else { at + 1 },
        }
    }
    at
}
