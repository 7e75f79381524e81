//! The program as the inliner asks for it: items by name, each lowered when first needed.
//!
//! It holds no text and parses nothing; whoever makes it says how an item is lowered and which files see which.
//! It may be asked from several threads at once.

use super::facts::{Facts, Holds};
use crate::graph::ItemId;
use crate::program::{Class, Declaration, Expr, Function, Name, TemplateParam, Type};
use crate::text::{Expanded, FileId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, RwLock};

/// One item, as far as its header tells.
#[derive(Clone, Debug)]
pub struct Item {
    pub kind: ItemKind,
    /// The last component: `reduce`, `operator()`, `~Tile`; a constructor has its class's name.
    pub name: Name,
    /// Namespaces and classes round it, outermost first, those written before its name (`Tile::commit`) included.
    pub scope: Arc<[Name]>,
    pub file: FileId,
    /// The class in whose body it stands, or, for a method defined outside, whose member it is.
    pub class: Option<ItemId>,
    pub has_body: bool,
    /// Parameters of a function: at least without those that have a default here, at most.
    pub params: (u32, u32),
    pub is_kernel: bool,
    pub is_device: bool,
    /// A function that no kernel can call: it says `__host__` alone, or nothing of where it runs.
    pub is_host: bool,
    pub is_static: bool,
    pub is_virtual: bool,
    pub is_const: bool,
    pub is_constant_memory: bool,
    pub is_device_memory: bool,
    pub is_shared: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ItemKind {
    Function,
    Class,
    Enum,
    Enumerator { enumeration: ItemId, scoped: bool },
    Value,
    Alias,
    UsingNamespace(Vec<Name>),
    UsingName(Vec<Name>),
    NamespaceAlias(Vec<Name>),
    Other,
}

impl Item {
    pub fn new(kind: ItemKind, name: &str) -> Item {
        Item {
            kind,
            name: Name::from(name),
            scope: Arc::from(Vec::new()),
            file: FileId(0),
            class: None,
            has_body: true,
            params: (0, u32::MAX),
            is_kernel: false,
            is_device: true,
            is_host: false,
            is_static: false,
            is_virtual: false,
            is_const: false,
            is_constant_memory: false,
            is_device_memory: false,
            is_shared: false,
        }
    }
}

/// An item's tree.
#[derive(Clone, Debug, Default)]
pub enum Lowered {
    Function(Arc<Function>),
    Class(Arc<Class>),
    Value(Arc<Declaration>),
    /// The type named, and the parameters of an alias template.
    Alias(Arc<Type>, Arc<[TemplateParam]>),
    /// Of an enumeration, in order.
    Enumerators(Arc<[(Name, Option<Expr>)]>),
    #[default]
    Nothing,
}

/// How items are lowered, and what they see.
pub trait Origin: Send + Sync {
    fn lower(&self, item: ItemId) -> Lowered;
    /// Whether the code in a file may name an item.
    fn sees(&self, from: FileId, item: ItemId) -> bool;
    /// Items of a name in view from a file by other means, asked where none is seen.
    fn otherwise(&self, from: FileId, name: &str) -> Vec<ItemId>;
    /// The item's expanded text, if there is one.
    fn text(&self, item: ItemId) -> Option<&Expanded>;
    /// Bytes of text that are kept.
    fn kept(&self) -> usize {
        0
    }
    /// An item's text is not kept any more.
    fn forget(&mut self, _item: ItemId) {}
}

/// What a name may mean in a file.
type Visible = FxHashMap<(FileId, Name), Arc<[ItemId]>>;

/// For a class the names of those whose members it may name; `None`: of any.
type Families = FxHashMap<ItemId, Arc<Option<FxHashSet<Name>>>>;

pub struct Program<'a> {
    items: Vec<Item>,
    named: FxHashMap<Name, Vec<ItemId>>,
    members: FxHashMap<ItemId, Vec<ItemId>>,
    /// By file: `using namespace`, `namespace x = ..`.
    directives: FxHashMap<FileId, Vec<ItemId>>,
    /// Classes by the last component of what they derive from are found by looking at all classes; these are they.
    classes: Vec<ItemId>,
    lowered: Vec<OnceLock<Lowered>>,
    /// Operator functions that may reach a barrier: all others are no calls to the search for what a body holds.
    waiting_operators: Vec<ItemId>,
    /// Asked for since `forget` was last called.
    used: Vec<AtomicBool>,
    facts: Vec<OnceLock<Arc<Facts>>>,
    origin: Box<dyn Origin + 'a>,
    /// What functions hold with all they may call.
    pub(super) reach: Vec<OnceLock<Holds>>,
    visible: RwLock<Visible>,
    pub(super) families: Mutex<Families>,
    /// What pointers at namespace scope are assigned.
    pub(super) assigned: Mutex<FxHashMap<ItemId, Arc<super::assigned::Assigned>>>,
}

impl<'a> Program<'a> {
    pub fn new(items: Vec<Item>, origin: Box<dyn Origin + 'a>) -> Program<'a> {
        let mut named: FxHashMap<Name, Vec<ItemId>> = FxHashMap::default();
        let mut members: FxHashMap<ItemId, Vec<ItemId>> = FxHashMap::default();
        let mut directives: FxHashMap<FileId, Vec<ItemId>> = FxHashMap::default();
        let mut classes = Vec::new();
        for (index, item) in items.iter().enumerate() {
            let id = ItemId(index as u32);
            named.entry(item.name.clone()).or_default().push(id);
            if let Some(class) = item.class {
                members.entry(class).or_default().push(id);
            }
            match item.kind {
                ItemKind::UsingNamespace(_) | ItemKind::NamespaceAlias(_) => {
                    directives.entry(item.file).or_default().push(id);
                }
                ItemKind::Class => classes.push(id),
                _ => {}
            }
        }
        let lowered = items.iter().map(|_| OnceLock::new()).collect();
        let facts = items.iter().map(|_| OnceLock::new()).collect();
        let reach = items.iter().map(|_| OnceLock::new()).collect();
        let used = items.iter().map(|_| AtomicBool::default()).collect();
        Program {
            items,
            named,
            members,
            directives,
            classes,
            lowered,
            waiting_operators: Vec::new(),
            used,
            facts,
            origin,
            reach,
            visible: RwLock::default(),
            families: Mutex::default(),
            assigned: Mutex::default(),
        }
    }

    /// The program with the operator functions that may reach a barrier.
    pub fn with_waiting_operators(self, waiting_operators: Vec<ItemId>) -> Program<'a> {
        Program { waiting_operators, ..self }
    }

    /// Operator functions with a barrier in reach that code in the item `from` may mean by one of the signs.
    pub fn operators_meant(&self, from: ItemId, signs: &[&'static str]) -> Vec<ItemId> {
        let waiting = self.waiting_operators.iter().copied();
        let meant = waiting.filter(|id| signs.contains(&&*self.item(*id).name) && self.sees(from, *id));
        meant.collect()
    }

    /// Bytes of text that were lowered and are kept.
    pub fn kept(&self) -> usize {
        self.origin.kept()
    }

    /// Drops the text, and what it was lowered to, of items that nobody asked for since this was last called.
    pub fn forget(&mut self) {
        for (index, used) in self.used.iter_mut().enumerate() {
            if !std::mem::take(used.get_mut()) {
                self.lowered[index].take();
                self.origin.forget(ItemId(index as u32));
            }
        }
    }

    fn uses(&self, id: ItemId) {
        let used = &self.used[id.index()];
        if !used.load(Ordering::Relaxed) {
            used.store(true, Ordering::Relaxed);
        }
    }

    pub fn len(&self) -> usize {
        self.items.len()
    }

    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    pub fn ids(&self) -> impl Iterator<Item = ItemId> {
        (0..self.items.len() as u32).map(ItemId)
    }

    pub fn item(&self, id: ItemId) -> &Item {
        &self.items[id.index()]
    }

    pub fn named(&self, name: &str) -> &[ItemId] {
        self.named.get(name).map_or(&[], Vec::as_slice)
    }

    /// What stands in the class's body.
    pub fn members(&self, class: ItemId) -> &[ItemId] {
        self.members.get(&class).map_or(&[], Vec::as_slice)
    }

    pub fn classes(&self) -> &[ItemId] {
        &self.classes
    }

    pub(super) fn directives(&self, file: FileId) -> &[ItemId] {
        self.directives.get(&file).map_or(&[], Vec::as_slice)
    }

    pub fn sees(&self, from: ItemId, item: ItemId) -> bool {
        let from = self.item(from).file;
        from == self.item(item).file || self.origin.sees(from, item)
    }

    /// Items of a name that code in the item `from` may mean.
    pub fn visible(&self, from: ItemId, name: &Name) -> Arc<[ItemId]> {
        let named = self.named(name);
        if named.is_empty() {
            return Arc::default();
        }
        let key = (self.item(from).file, name.clone());
        if let Ok(known) = self.visible.read()
            && let Some(found) = known.get(&key)
        {
            return found.clone();
        }
        let mut found: Arc<[ItemId]> = named.iter().copied().filter(|id| self.sees(from, *id)).collect();
        if found.is_empty() {
            found = self.origin.otherwise(key.0, name).into();
        }
        if let Ok(mut known) = self.visible.write() {
            known.insert(key, found.clone());
        }
        found
    }

    pub fn text(&self, id: ItemId) -> Option<&str> {
        self.expanded(id).map(|expanded| expanded.text.as_str())
    }

    /// The item's text with the places its bytes came from.
    pub fn expanded(&self, id: ItemId) -> Option<&Expanded> {
        self.uses(id);
        self.origin.text(id)
    }

    pub fn lowered(&self, id: ItemId) -> &Lowered {
        self.uses(id);
        self.lowered[id.index()].get_or_init(|| self.origin.lower(id))
    }

    pub fn function(&self, id: ItemId) -> Option<&Arc<Function>> {
        match self.lowered(id) {
            Lowered::Function(function) => Some(function),
            _ => None,
        }
    }

    pub fn class(&self, id: ItemId) -> Option<&Arc<Class>> {
        match self.lowered(id) {
            Lowered::Class(class) => Some(class),
            _ => None,
        }
    }

    pub fn value(&self, id: ItemId) -> Option<&Arc<Declaration>> {
        match self.lowered(id) {
            Lowered::Value(declaration) => Some(declaration),
            _ => None,
        }
    }

    pub fn enumerators(&self, id: ItemId) -> &[(Name, Option<Expr>)] {
        match self.lowered(id) {
            Lowered::Enumerators(list) => list,
            _ => &[],
        }
    }

    pub fn alias(&self, id: ItemId) -> Option<&Arc<Type>> {
        match self.lowered(id) {
            Lowered::Alias(ty, _) => Some(ty),
            _ => None,
        }
    }

    pub fn alias_params(&self, id: ItemId) -> &[TemplateParam] {
        match self.lowered(id) {
            Lowered::Alias(_, params) => params,
            _ => &[],
        }
    }

    /// A member of a class, declared in its body or defined outside it.
    pub fn is_member(&self, id: ItemId) -> bool {
        self.item(id).class.is_some()
    }

    pub(super) fn facts(&self, id: ItemId, words: &crate::words::Words) -> Arc<Facts> {
        self.facts[id.index()]
            .get_or_init(|| {
                Arc::new(match self.lowered(id) {
                    Lowered::Function(function) => super::facts::of_function(function, words),
                    _ => Facts::default(),
                })
            })
            .clone()
    }
}
