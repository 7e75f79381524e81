//! The items of a run as the program that the inliner asks: headers copied, texts expanded and lowered when first needed.

use super::program::{Item, ItemKind, Lowered, Origin, Program};
use crate::graph::ItemId;
use crate::lower::{self, Parser};
use crate::program::{
    Declaration, Expr, ExprKind, Function, Name, Path, Segment, Stmt, StmtKind, TemplateArg, TemplateParam, Type,
    TypeKind,
};
use crate::source::items;
use crate::source::tree::{self, Tree};
use crate::text::{Expanded, FileId, Span};
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use std::borrow::Cow;
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};

struct OfTree<'t> {
    tree: &'t Tree,
    texts: Vec<OnceLock<Box<Expanded>>>,
    /// Their bytes.
    kept: AtomicUsize,
    /// Items whose macros grew beyond the limit: a part of their text is not there.
    cut: Mutex<FxHashSet<ItemId>>,
    /// Parsers that no thread uses at the moment.
    parsers: Mutex<Vec<Parser>>,
    /// By a hash of its text, the function that was last lowered from such.
    by_text: Mutex<FxHashMap<u64, (ItemId, Weak<Function>)>>,
}

impl<'t> Program<'t> {
    pub fn of(tree: &'t Tree) -> Program<'t> {
        let items = tree.items.iter().map(|item| header(tree, item)).collect();
        let texts = tree.items.iter().map(|_| OnceLock::new()).collect();
        let (kept, cut, parsers, by_text) = Default::default();
        Program::new(items, Box::new(OfTree { tree, texts, kept, cut, parsers, by_text }))
    }
}

fn header(tree: &Tree, item: &tree::Item) -> Item {
    let attributes = &item.attributes;
    let mut scope: Vec<Name> = item.scope.iter().chain(&item.qualifier).cloned().collect();
    let mut has_body = true;
    let mut params = (0, u32::MAX);
    let kind = match &item.kind {
        items::ItemKind::Function(parts) => {
            has_body = parts.body.is_some();
            params = (parts.count.min, if parts.count.variadic { u32::MAX } else { parts.count.max });
            ItemKind::Function
        }
        items::ItemKind::Class(parts) => {
            has_body = parts.body.is_some();
            ItemKind::Class
        }
        items::ItemKind::Enum => ItemKind::Enum,
        items::ItemKind::Enumerator { enumeration, scoped } => {
            if *scoped {
                scope.push(tree.items[*enumeration as usize].name.clone());
            }
            ItemKind::Enumerator { enumeration: ItemId(*enumeration), scoped: *scoped }
        }
        items::ItemKind::Value => ItemKind::Value,
        items::ItemKind::Alias => ItemKind::Alias,
        items::ItemKind::UsingNamespace(path) => ItemKind::UsingNamespace(path.clone()),
        items::ItemKind::UsingName(path) => ItemKind::UsingName(path.clone()),
        items::ItemKind::NamespaceAlias(path) => ItemKind::NamespaceAlias(path.clone()),
        items::ItemKind::Instantiation { .. } => ItemKind::Other,
    };
    Item {
        kind,
        name: item.name.clone(),
        scope: Arc::from(scope),
        file: item.file,
        class: item.class,
        has_body,
        params,
        is_kernel: attributes.kernel,
        is_device: attributes.device,
        is_host: !attributes.device && (attributes.host || tree.is_plain(item)),
        is_static: attributes.is_static,
        is_virtual: attributes.is_virtual,
        is_const: attributes.is_const || attributes.is_constexpr,
        is_constant_memory: attributes.constant,
        is_device_memory: attributes.device || attributes.managed,
        is_shared: attributes.shared,
    }
}

impl OfTree<'_> {
    fn item_text(&self, item: ItemId) -> &Expanded {
        self.texts[item.index()].get_or_init(|| {
            let text = self.tree.text(item);
            if text.is_cut
                && let Ok(mut cut) = self.cut.lock()
            {
                cut.insert(item);
            }
            self.kept.fetch_add(text.expanded.text.len(), Ordering::Relaxed);
            Box::new(text.expanded)
        })
    }

    fn with_parser<T>(&self, work: impl FnOnce(&mut Parser) -> T) -> T {
        let free = self.parsers.lock().ok().and_then(|mut parsers| parsers.pop());
        let mut parser = free.unwrap_or_default();
        let result = work(&mut parser);
        if let Ok(mut parsers) = self.parsers.lock() {
            parsers.push(parser);
        }
        result
    }
}

impl OfTree<'_> {
    fn function(&self, id: ItemId, source: &str, parser: &mut Parser) -> Arc<Function> {
        let item = self.tree.item(id);
        let is_cut = self.cut.lock().is_ok_and(|cut| cut.contains(&id));
        let around = item.function().and_then(|parts| parts.friend_of).map(ItemId);
        if is_cut || around.is_some() {
            let mut function = lower::function(parser, source);
            function.name = item.name.clone();
            if is_cut {
                function.unreadable = function.unreadable.or(Some(Span::default()));
            }
            if let Some(class) = around {
                let text = self.item_text(class);
                let name = self.tree.item(class).name.clone();
                let mut all = lower::class(parser, &text.text).template;
                let params = function.params.iter_mut().map(|param| &mut param.ty);
                params.chain([&mut function.result]).for_each(|ty| with_own_arguments(ty, &name, &all));
                all.append(&mut function.template);
                function.template = all;
            }
            return Arc::new(function);
        }
        let hash = FxBuildHasher.hash_one(source);
        let mut function = self.twin(hash, source).unwrap_or_else(|| lower::function(parser, source));
        function.name = item.name.clone();
        let function = Arc::new(function);
        if let Ok(mut known) = self.by_text.lock() {
            known.insert(hash, (id, Arc::downgrade(&function)));
        }
        function
    }

    /// What the same text was lowered to, if that is still kept. Many a tree has a kernel twice: for CUDA and for HIP, in
    /// the header of one project and the copy of another.
    fn twin(&self, hash: u64, source: &str) -> Option<Function> {
        let (other, function) = self.by_text.lock().ok()?.get(&hash).cloned()?;
        let function = function.upgrade()?;
        let text = self.texts[other.index()].get()?;
        (text.text == source).then(|| Function::clone(&function))
    }
}

impl Origin for OfTree<'_> {
    fn lower(&self, id: ItemId) -> Lowered {
        let item = self.tree.item(id);
        let source = self.item_text(id).text.as_str();
        self.with_parser(|parser| match &item.kind {
            items::ItemKind::Function(_) => Lowered::Function(self.function(id, source, parser)),
            items::ItemKind::Class(_) => {
                let mut class = lower::class(parser, source);
                if class.name.is_none() && !item.name.is_empty() {
                    class.name = Some(item.name.clone());
                }
                Lowered::Class(Arc::new(class))
            }
            items::ItemKind::Enum => enumerators(lower::declarations(parser, source)),
            items::ItemKind::Value => match value(lower::declarations(parser, &as_variable(source)), &item.name) {
                Some(declaration) => Lowered::Value(Arc::new(declaration)),
                None => Lowered::Nothing,
            },
            items::ItemKind::Alias => {
                let params = alias_parameters(parser, source);
                alias(lower::declarations(parser, source), &item.name, params)
            }
            _ => Lowered::Nothing,
        })
    }

    fn sees(&self, from: FileId, item: ItemId) -> bool {
        self.tree.sees(from, item)
    }

    fn otherwise(&self, from: FileId, name: &str) -> Vec<ItemId> {
        self.tree.visible(from, name)
    }

    fn text(&self, item: ItemId) -> Option<&Expanded> {
        Some(self.item_text(item))
    }

    fn kept(&self) -> usize {
        self.kept.load(Ordering::Relaxed)
    }

    fn forget(&mut self, item: ItemId) {
        if let Some(text) = self.texts[item.index()].take() {
            *self.kept.get_mut() -= text.text.len();
        }
    }
}

/// Within a template its name alone is the class with its own parameters as arguments.
fn with_own_arguments(ty: &mut Type, name: &Name, template: &[TemplateParam]) {
    let mut kind = &mut ty.kind;
    let path = loop {
        match kind {
            TypeKind::Pointer(inner) | TypeKind::Reference(inner) | TypeKind::Array(inner, _) => kind = &mut inner.kind,
            TypeKind::Named(path) => break path,
            _ => return,
        }
    };
    let [only] = &mut path.segments[..] else { return };
    if only.name != *name || only.args.is_some() || template.is_empty() {
        return;
    }
    let args = template.iter().filter_map(|param| {
        let (name, pack) = match param {
            TemplateParam::Type { name, pack, .. } | TemplateParam::Value { name, pack, .. } => (name, *pack),
            TemplateParam::Template { name } => (name, false),
        };
        let path = Path { segments: vec![Segment { name: name.clone()?, args: None }], global: false };
        let expr = Expr { kind: ExprKind::Name(path.clone()), span: Span::default() };
        let arg = TemplateArg::Either(Type::plain(TypeKind::Named(path)), expr);
        Some(if pack { TemplateArg::Pack(Box::new(arg)) } else { arg })
    });
    only.args = Some(args.collect());
}

fn enumerators(list: Vec<Stmt>) -> Lowered {
    for stmt in list {
        if let StmtKind::Enum(list) = stmt.kind {
            return Lowered::Enumerators(Arc::from(list));
        }
    }
    Lowered::Nothing
}

fn value(list: Vec<Stmt>, name: &Name) -> Option<Declaration> {
    let declarations = list.into_iter().filter_map(|stmt| match stmt.kind {
        StmtKind::Declare(list) => Some(list),
        _ => None,
    });
    declarations.flatten().find(|declaration| declaration.name == *name)
}

/// A concept is a variable template of truths; each byte stays where it is.
fn as_variable(text: &str) -> Cow<'_, str> {
    match text.starts_with("template") && text.contains(" concept ") {
        true => Cow::Owned(text.replacen(" concept ", " bool    ", 1)),
        false => Cow::Borrowed(text),
    }
}

fn alias(list: Vec<Stmt>, name: &Name, params: Vec<TemplateParam>) -> Lowered {
    for stmt in list {
        if let StmtKind::Alias(alias, ty) = stmt.kind
            && alias == *name
        {
            return Lowered::Alias(Arc::new(ty), Arc::from(params));
        }
    }
    Lowered::Nothing
}

/// The template parameters in front of `using`.
fn alias_parameters(parser: &mut Parser, text: &str) -> Vec<TemplateParam> {
    match text.find("using ") {
        Some(at) if text.trim_start().starts_with("template") => {
            lower::function(parser, &format!("{}void f();", &text[..at])).template
        }
        _ => Vec::new(),
    }
}
