//! The walk over a file's declarations: scopes open and close, each declaration becomes items.
//!
//! A macro at namespace scope that holds braces, and a declaration whose name a macro makes, are expanded and walked in turn.

mod cuts;
mod expansion;
mod lost;
mod types;

use super::attributes::Attributes;
use super::class_head::class_head;
use super::declaration::{self, Function, MacroUse, Read};
use super::macros::MacroUses;
use super::view::View;
use super::{FileItems, Found, FunctionParts, ItemKind, Role, Tokens};
use crate::program::Name;
use crate::source::expand::{Dropped, Unit};
use crate::source::lexer::TokenKind;
use crate::source::select::Selection;
use expansion::dropped_attributes;
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::sync::Arc;

/// Scopes nested deeper than this keep the path of the outer ones.
const MAX_SCOPE_PATH: usize = 32;
/// Tokens that top-level macros of one file may make.
const MAX_MADE_TOKENS: usize = 2_000_000;
/// Tokens of `template <>`.
const EMPTY_HEADER: usize = 3;

/// All items of the unit's own file.
pub fn extract(unit: &Unit, selection: &Selection) -> FileItems {
    let file = unit.files.get(unit.file);
    let seen: Vec<u32> = selection.tokens().collect();
    let cuts = cuts::find(unit, selection, &seen);
    let view = View::cut(&file.bytes, &file.tokens, seen, cuts);
    let mut walk = Walk::new(Some((unit, selection)));
    walk.run(&Source { view: &view, made: None, dropped: &[] });
    walk.items.lost.extend(lost::in_open_comment(file));
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
            let before = self.before();
            let next = self.declaration(source, at).max(at + 1);
            self.note_lost(source, at..next, before);
            at = next;
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
                return view.behind_statement(start);
            }
            b"[" if view.is(start + 1, b"[") => return view.behind(start).max(start + 1),
            b"friend" if matches!(view.text(start + 1), b"class" | b"struct" | b"union") => {
                return view.behind_statement(start);
            }
            _ => {}
        }
        if let Some(next) = self.made_by_macro(source, start) {
            return next;
        }
        let (templates, at) = template_headers(view, start);
        match view.text(at) {
            b"using" => {
                if let Some(next) = self.class_of_alias(source, start, at, &templates) {
                    return next;
                }
                return self.using(source, start, at, templates);
            }
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
        if let Read::Hidden(at) = read.read {
            return self.hidden_by_macro(source, start, at);
        }
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
            Read::Hidden(_) | Read::Nothing => {}
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
        let friend_of = found.class.filter(|_| attributes.is_friend);
        if attributes.is_friend {
            self.leave_classes(&mut found);
        } else if role == Role::Plain
            && let Some(class) = found.class
            && self.items.found[class as usize].name == found.name
        {
            role = Role::Constructor;
        }
        let class_headers = path.iter().rev().skip(1).filter(|part| part.arguments.is_some()).count() as u32;
        let of_class = path.iter().rev().nth(1).and_then(|part| part.arguments.clone());
        let header = class_headers.checked_sub(1).and_then(|index| found.templates.get(index as usize));
        let is_special = header.is_none_or(|header| header.len() == EMPTY_HEADER);
        found.kind = ItemKind::Function(FunctionParts {
            role,
            declarator: view.range(function.declarator),
            arguments: path.last().and_then(|part| part.arguments.clone()).map(|arguments| view.range(arguments)),
            class_headers,
            friend_of,
            class_arguments: of_class.filter(|_| is_special).map(|arguments| view.range(arguments)),
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
        let closed = source.view.is_closed_in_plain(open);
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
            match (token.kind(), view.text(at)) {
                (_, b"{") => {
                    let path = if inline { &[][..] } else { &names[..] };
                    if let (true, Some(name)) = (inline, names.last().cloned()) {
                        // Another name of what is round it.
                        let around = self.scopes.last().map_or(Vec::new(), |scope| scope.path.to_vec());
                        let kind = ItemKind::NamespaceAlias(around);
                        let mut found = self.found(source, kind, start + 1, start..at + 1, &Attributes::default());
                        found.name = name;
                        self.items.found.push(found);
                    }
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
                        let end = view.behind_statement(at);
                        let kind = ItemKind::NamespaceAlias(target);
                        let mut found = self.found(source, kind, start + 1, start..end, &Attributes::default());
                        found.name = name;
                        self.items.found.push(found);
                    }
                    return view.behind_statement(at);
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
