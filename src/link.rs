//! The tree of items -> the program as the inliner asks for it: each item expanded and lowered once, when needed.

use crate::graph::{At, ItemId};
use crate::inline::program::{Item, ItemKind, Lowered, Origin, Program};
use crate::lower;
use crate::program::{Name, StmtKind};
use crate::source::items;
use crate::source::tree::Tree;
use crate::text::{Expanded, FileId, Home};
use std::sync::{Arc, Mutex, OnceLock};

/// The texts of the items that were asked for, and the parsers that read them.
pub struct Link<'a> {
    tree: &'a Tree,
    texts: Vec<OnceLock<(Expanded, Vec<(u32, String)>)>>,
    /// Parsers at rest; a thread takes one or makes one.
    parsers: Mutex<Vec<lower::Parser>>,
}

impl<'a> Link<'a> {
    pub fn new(tree: &'a Tree) -> Link<'a> {
        Link { tree, texts: tree.ids().map(|_| OnceLock::new()).collect(), parsers: Mutex::new(Vec::new()) }
    }

    pub fn program(&'a self) -> Program<'a> {
        Program::new(self.tree.ids().map(|id| item(self.tree, id)).collect(), Box::new(Linked(self)))
    }

    pub fn home(&self, at: At) -> Home {
        self.expanded(at.item).0.home(at.span)
    }

    fn expanded(&self, id: ItemId) -> &(Expanded, Vec<(u32, String)>) {
        self.texts[id.index()].get_or_init(|| {
            let text = self.tree.text(id);
            (text.expanded, text.dropped.into_iter().map(|dropped| (dropped.out, dropped.text)).collect())
        })
    }

    pub fn with_parser<T>(&self, work: impl FnOnce(&mut lower::Parser) -> T) -> T {
        let at_rest = self.parsers.lock().ok().and_then(|mut parsers| parsers.pop());
        let mut parser = at_rest.unwrap_or_else(lower::Parser::new);
        let result = work(&mut parser);
        if let Ok(mut parsers) = self.parsers.lock() {
            parsers.push(parser);
        }
        result
    }

    fn lower(&self, id: ItemId) -> Lowered {
        let (expanded, dropped) = self.expanded(id);
        let dropped: Vec<lower::Dropped> = dropped.iter().map(|(out, text)| (*out, text.as_str())).collect();
        let text = expanded.text.as_str();
        let name = &self.tree.item(id).name;
        self.with_parser(|parser| match &self.tree.item(id).kind {
            items::ItemKind::Function(_) => Lowered::Function(Arc::new(lower::function(parser, text, &dropped))),
            items::ItemKind::Class(_) => Lowered::Class(Arc::new(lower::class(parser, text, &dropped))),
            items::ItemKind::Value
            | items::ItemKind::Alias
            | items::ItemKind::Enum
            | items::ItemKind::Enumerator { .. } => lower::declarations(parser, text, &dropped)
                .into_iter()
                .find_map(|statement| match statement.kind {
                    StmtKind::Declare(declarations) => declarations
                        .into_iter()
                        .find(|each| each.name == *name)
                        .map(|each| Lowered::Value(Arc::new(each))),
                    StmtKind::Alias(found, ty) if found == *name => {
                        Some(Lowered::Alias(Arc::new(ty), Arc::from(Vec::new())))
                    }
                    StmtKind::Enum(list) => Some(Lowered::Enumerators(list.into())),
                    _ => None,
                })
                .unwrap_or_default(),
            _ => Lowered::Nothing,
        })
    }
}

struct Linked<'a>(&'a Link<'a>);

impl Origin for Linked<'_> {
    fn lower(&self, item: ItemId) -> Lowered {
        self.0.lower(item)
    }

    fn sees(&self, from: FileId, item: ItemId) -> bool {
        self.0.tree.sees(from, item)
    }

    fn otherwise(&self, from: FileId, name: &str) -> Vec<ItemId> {
        self.0.tree.visible(from, name)
    }

    fn text(&self, item: ItemId) -> Option<&str> {
        Some(&self.0.expanded(item).0.text)
    }
}

fn item(tree: &Tree, id: ItemId) -> Item {
    let item = tree.item(id);
    let kind = match &item.kind {
        items::ItemKind::Function(_) => ItemKind::Function,
        items::ItemKind::Class(_) => ItemKind::Class,
        items::ItemKind::Enum => ItemKind::Enum,
        items::ItemKind::Enumerator { enumeration, scoped } => {
            ItemKind::Enumerator { enumeration: ItemId(*enumeration), scoped: *scoped }
        }
        items::ItemKind::Value => ItemKind::Value,
        items::ItemKind::Alias => ItemKind::Alias,
        items::ItemKind::UsingNamespace(path) => ItemKind::UsingNamespace(path.clone()),
        items::ItemKind::UsingName(path) => ItemKind::UsingName(path.clone()),
        items::ItemKind::NamespaceAlias(path) => ItemKind::NamespaceAlias(path.clone()),
        items::ItemKind::Instantiation { .. } => ItemKind::Other,
    };
    let scope: Vec<Name> = item.scope.iter().chain(&item.qualifier).cloned().collect();
    let attributes = &item.attributes;
    let is_definition = match &item.kind {
        items::ItemKind::Function(parts) => parts.body.is_some(),
        items::ItemKind::Class(parts) => parts.body.is_some(),
        _ => true,
    };
    Item {
        kind,
        name: item.name.clone(),
        scope: scope.into(),
        file: item.file,
        class: item.class,
        has_body: is_definition,
        is_kernel: item.is_kernel(),
        is_device: attributes.device || attributes.kernel,
        is_host: !attributes.device && !attributes.kernel,
        is_static: attributes.is_static,
        is_virtual: attributes.is_virtual,
        is_const: attributes.is_const || attributes.is_constexpr,
        is_constant_memory: attributes.constant,
        is_device_memory: attributes.device || attributes.managed,
        is_shared: attributes.shared,
    }
}
