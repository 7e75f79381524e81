//! All items of a run, by name and by class, and what of them one file sees: what lowering and inlining ask.
//!
//! Items are found once, in parallel; their text is expanded when asked for. Nothing here resolves a name beyond its last
//! component: scopes, overloads and template arguments are the caller's business.

use super::expand::Unit;
use super::expand::unit::Timeline;
use super::index::Files;
use super::items::{self, Attributes, FileItems, Found, FunctionParts, ItemKind, ItemText, Lost, Made, Tokens};
use super::lexer::Token;
use super::select::{Flips, Selection, flips, select};
use crate::graph::ItemId;
use crate::program::Name;
use crate::text::{FileId, Range};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// The program in view.
pub struct Tree {
    pub files: Files,
    pub items: Vec<Item>,
    /// Where a kernel's mark or a barrier stands in nothing that could be read, and whether it is a kernel's.
    pub lost: Vec<(Range, bool)>,
    parts: Vec<FileParts>,
    by_name: FxHashMap<Name, Vec<ItemId>>,
    members: FxHashMap<ItemId, Vec<ItemId>>,
    /// For a function or variable, the other files in view of its own that declare it.
    declared_in: FxHashMap<ItemId, Vec<FileId>>,
    /// For each file, those that include it, directly or not.
    includers: Vec<OnceLock<Box<[FileId]>>>,
    /// For each file, what those see that include it.
    beside: Vec<OnceLock<Box<[FileId]>>>,
    recent: Mutex<Recent>,
}

/// What was worked out of late and will soon be asked for again.
#[derive(Default)]
struct Recent {
    /// Texts of items; the program and the reader of launches want each once.
    texts: FxHashMap<ItemId, ItemText>,
    /// Their bytes.
    kept: usize,
    timelines: FxHashMap<FileId, Arc<Timeline>>,
}

/// Bytes of texts, and timelines, that are kept.
const MAX_TEXTS: usize = 256 << 10;
const MAX_TIMELINES: usize = 16;

/// A function, class, value or alias at namespace or class scope.
#[derive(Clone, Debug)]
pub struct Item {
    pub kind: ItemKind,
    /// The last component; `operator()`, `~Tile`. A constructor has its class's name.
    pub name: Name,
    /// Namespaces and classes round it, outermost first, without unnamed and inline ones.
    pub scope: Arc<[Name]>,
    /// What is written before the name.
    pub qualifier: Vec<Name>,
    /// The class it stands in or, for a method defined outside, belongs to.
    pub class: Option<ItemId>,
    pub file: FileId,
    pub range: Range,
    pub name_range: Range,
    pub attributes: Attributes,
    pub templates: Vec<Tokens>,
    /// Stands in a branch of `#if` that this configuration leaves out.
    pub in_dead_branch: bool,
    tokens: Tokens,
    name_token: u32,
    made: Option<u32>,
}

impl Item {
    pub fn function(&self) -> Option<&FunctionParts> {
        match &self.kind {
            ItemKind::Function(parts) => Some(parts),
            _ => None,
        }
    }

    pub fn is_definition(&self) -> bool {
        self.function().is_some_and(|parts| parts.body.is_some())
    }

    pub fn is_kernel(&self) -> bool {
        self.attributes.kernel && self.function().is_some()
    }

    /// `Outer::Tile::commit`
    pub fn qualified_name(&self) -> String {
        let path = self.scope.iter().chain(&self.qualifier).chain([&self.name]);
        path.map(|name| &**name).collect::<Vec<_>>().join("::")
    }
}

/// What stays of one file beyond its items.
struct FileParts {
    selection: Selection,
    dead: Option<Dead>,
    made: Vec<Made>,
}

/// The configuration that takes the dead branches with kernels or barriers.
struct Dead {
    selection: Selection,
    flips: Flips,
}

impl FileParts {
    fn selection(&self, dead: bool) -> &Selection {
        self.dead.as_ref().filter(|_| dead).map_or(&self.selection, |dead| &dead.selection)
    }
}

impl Tree {
    pub fn new(files: Files) -> Tree {
        let ids: Vec<FileId> = files.ids().collect();
        let read: Vec<FileRead> = ids.par_iter().map(|id| read_file(&files, *id)).collect();
        let mut items = Vec::with_capacity(read.iter().map(|read| read.found.len()).sum());
        let mut parts = Vec::with_capacity(read.len());
        let mut all_lost = Vec::new();
        for (id, FileRead { found, lost, parts: file_parts }) in ids.iter().zip(read) {
            let base = items.len() as u32;
            let file = files.get(*id);
            let place = |lost: Lost| {
                let tokens = lost.token..lost.token + 1;
                (range_of(&file_parts, file, *id, lost.made, tokens), lost.is_kernel)
            };
            all_lost.extend(lost.into_iter().map(place));
            items.extend(found.into_iter().map(|(found, dead)| item(&file_parts, file, *id, base, found, dead)));
            parts.push(file_parts);
        }
        let mut by_name: FxHashMap<Name, Vec<ItemId>> = FxHashMap::default();
        for (item, id) in items.iter().zip(0..) {
            by_name.entry(item.name.clone()).or_default().push(ItemId(id));
        }
        let includers = ids.iter().map(|_| OnceLock::new()).collect();
        let beside = ids.iter().map(|_| OnceLock::new()).collect();
        let mut tree = Tree {
            files,
            items,
            lost: all_lost,
            parts,
            by_name,
            members: FxHashMap::default(),
            declared_in: FxHashMap::default(),
            includers,
            beside,
            recent: Mutex::default(),
        };
        tree.link_methods();
        tree.link_declarations();
        tree
    }

    pub fn item(&self, id: ItemId) -> &Item {
        &self.items[id.index()]
    }

    pub fn ids(&self) -> impl Iterator<Item = ItemId> + use<> {
        (0..self.items.len() as u32).map(ItemId)
    }

    /// All items whose last name component this is, in the order of files and places.
    pub fn named(&self, name: &str) -> &[ItemId] {
        self.by_name.get(name).map_or(&[], Vec::as_slice)
    }

    /// What stands inside a class, and its methods that are defined outside it.
    pub fn members(&self, class: ItemId) -> &[ItemId] {
        self.members.get(&class).map_or(&[], Vec::as_slice)
    }

    /// Whether code in `from` may mean `item`: its file is included, or a header that both include declares it.
    pub fn sees(&self, from: FileId, item: ItemId) -> bool {
        let target = self.item(item);
        self.files.sees(from, target.file)
            || self.declared_in.get(&item).is_some_and(|files| files.iter().any(|file| self.files.sees(from, *file)))
    }

    /// Where a file has the body of a function of this name in a branch of `#if` that is not taken.
    pub fn left_out(&self, file: FileId, name: &str) -> Option<Range> {
        let (read, parts) = (self.files.get(file), self.parts.get(file.0 as usize)?);
        let word = |at: usize| read.tokens.get(at).map_or(&[][..], |token| token.bytes(&read.bytes));
        let alive = &parts.selection.alive;
        let starts = [0].into_iter().chain(alive.iter().map(|run| run.end));
        let ends = alive.iter().map(|run| run.start).chain([read.tokens.len() as u32]);
        let dead = starts.zip(ends).flat_map(|(start, end)| start as usize..end as usize);
        let mut places = dead.filter(|at| word(*at) == name.as_bytes() && word(at + 1) == b"(");
        let body = places.find(|at| {
            let mut depth = 0usize;
            let close = (at + 1..read.tokens.len()).find(|at| {
                match word(*at) {
                    b"(" => depth += 1,
                    b")" => depth -= 1,
                    _ => {}
                }
                depth == 0
            });
            close.is_some_and(|close| word(close + 1) == b"{" || word(close + 1) == b"const" && word(close + 2) == b"{")
        })?;
        let token = read.tokens[body];
        Some(Range { file, start: token.start(), end: token.end() })
    }

    /// The other files, in view of its own, that declare a function or variable.
    pub fn declared_in(&self, item: ItemId) -> &[FileId] {
        self.declared_in.get(&item).map_or(&[], Vec::as_slice)
    }

    /// The items of a name that code in `from` may mean. Where it sees none itself, what those files see that include it:
    /// headers that rely on their includer to bring the rest.
    pub fn visible(&self, from: FileId, name: &str) -> Vec<ItemId> {
        let named = self.named(name);
        let seen: Vec<ItemId> = named.iter().copied().filter(|item| self.sees(from, *item)).collect();
        if !seen.is_empty() || named.is_empty() {
            return seen;
        }
        let beside = self.seen_by_includers(from);
        named.iter().copied().filter(|item| beside.binary_search(&self.item(*item).file).is_ok()).collect()
    }

    /// All files that some file sees which includes `from`, in order.
    fn seen_by_includers(&self, from: FileId) -> &[FileId] {
        let Some(known) = self.beside.get(from.0 as usize) else { return &[] };
        known.get_or_init(|| {
            let includers = self.includers(from);
            // Who is included by nobody sees all that those below it see.
            let is_top = |file: &&FileId| self.files.includers(**file).is_empty();
            let mut tops: Vec<FileId> = includers.iter().filter(is_top).copied().collect();
            if tops.is_empty() {
                tops = includers.to_vec();
            }
            let mut seen = vec![false; self.files.count()];
            for top in tops {
                self.files.include_closure(top).iter().for_each(|file| seen[file.0 as usize] = true);
            }
            let files = seen.iter().zip(0..).filter(|(seen, _)| **seen);
            files.map(|(_, file)| FileId(file)).collect()
        })
    }

    /// All files that include `file`, directly or not.
    pub fn includers(&self, file: FileId) -> &[FileId] {
        let Some(known) = self.includers.get(file.0 as usize) else { return &[] };
        known.get_or_init(|| {
            let mut seen: FxHashSet<FileId> = FxHashSet::from_iter([file]);
            let mut found = vec![file];
            let mut next = 0;
            while let Some(file) = found.get(next).copied() {
                next += 1;
                found.extend(self.files.includers(file).iter().filter(|includer| seen.insert(**includer)));
            }
            found.remove(0);
            found.sort_unstable();
            found.into_boxed_slice()
        })
    }

    /// What the parser is to see of an item; see `items::text` for its shape. Expanded anew on each call.
    pub fn text(&self, id: ItemId) -> ItemText {
        let item = self.item(id);
        if let ItemKind::Enumerator { enumeration, .. } = item.kind {
            return self.text(ItemId(enumeration));
        }
        if let Some(known) = self.recent().texts.remove(&id) {
            return known;
        }
        let text = self.with_source(id, item.in_dead_branch, |source| self.text_from(source, id));
        let mut recent = self.recent();
        if recent.kept > MAX_TEXTS {
            recent.texts.clear();
            recent.kept = 0;
        }
        recent.kept += text.expanded.text.len();
        recent.texts.insert(id, text.clone());
        text
    }

    fn text_from(&self, source: &items::Source, id: ItemId) -> ItemText {
        let item = self.item(id);
        match &item.kind {
            ItemKind::Function(parts) => items::function_text(source, &self.found(item), parts),
            ItemKind::Class(_) => items::class_text(source, &self.found(item), &self.hidden_in(id)),
            ItemKind::Alias if self.class_named_twice(id).is_some() => {
                let class = self.class_named_twice(id).map_or("", |class| &self.item(class).name);
                items::alias_text(source, &self.found(item), class)
            }
            _ => items::plain_text(source, item.tokens.clone()),
        }
    }

    /// Whether a function says nothing of where it runs, and has no unknown word that might.
    pub fn is_plain(&self, item: &Item) -> bool {
        let attributes = &item.attributes;
        let is_marked = attributes.kernel || attributes.device || attributes.is_constexpr || attributes.is_friend;
        if is_marked || item.function().is_none() || item.class.is_some() || item.made.is_some() {
            return false;
        }
        let file = self.files.get(item.file);
        let is_header = |token: &u32| item.templates.iter().any(|header| header.contains(token));
        let before = (item.tokens.start..item.name_token).filter(|token| !is_header(token));
        items::are_all_known(before.map(|token| file.text(token)))
    }

    /// Whether the configuration that takes dead branches has other text for what the usual one has, too.
    pub(super) fn differs_beside_dead(&self, id: ItemId) -> bool {
        let item = self.item(id);
        let parts = &self.parts[item.file.0 as usize];
        let within = |dead: bool| parts.selection(dead).within(item.tokens.clone());
        !item.in_dead_branch && item.made.is_none() && parts.dead.is_some() && !within(true).eq(within(false))
    }

    /// The text of an item as that configuration has it.
    pub(super) fn text_beside_dead(&self, id: ItemId) -> ItemText {
        self.with_source(id, true, |source| self.text_from(source, id))
    }

    fn recent(&self) -> MutexGuard<'_, Recent> {
        self.recent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All names of items, in no order.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.by_name.keys().map(|name| &**name)
    }

    /// The items of one file, in order.
    pub fn items_of(&self, file: FileId) -> impl Iterator<Item = ItemId> + use<> {
        let start = self.items.partition_point(|item| item.file < file) as u32;
        let end = self.items.partition_point(|item| item.file <= file) as u32;
        (start..end).map(ItemId)
    }

    /// Some tokens of an item, expanded.
    pub(super) fn expanded(&self, id: ItemId, tokens: Tokens) -> String {
        self.with_source(id, self.item(id).in_dead_branch, |source| items::plain_text(source, tokens)).expanded.text
    }

    /// A function's parameters as they stand in the source, without parentheses.
    pub(super) fn spelled_params(&self, id: ItemId) -> String {
        let item = self.item(id);
        let Some(parts) = item.function() else { return String::new() };
        if item.made.is_some() {
            return self.expanded(id, parts.params.clone());
        }
        let file = self.files.get(item.file);
        let first = file.tokens.get(parts.params.start as usize);
        let last = parts.params.end.checked_sub(1).and_then(|last| file.tokens.get(last as usize));
        match (first, last) {
            (Some(first), Some(last)) if first.start() <= last.start() => {
                String::from_utf8_lossy(&file.bytes[first.start() as usize..last.end() as usize]).into_owned()
            }
            _ => String::new(),
        }
    }

    /// The tokens of an item as they stand in its file, or in the expansion that made it: runs of a token list.
    /// Of a class what stands outside its methods' bodies; its own name is left out.
    pub(super) fn visit_tokens(&self, id: ItemId, visit: impl FnMut(&[u8], &[Token], Tokens)) {
        self.visit_tokens_of(id, self.item(id).in_dead_branch, visit);
    }

    /// The same as the configuration that takes dead branches has it.
    pub(super) fn visit_tokens_beside_dead(&self, id: ItemId, visit: impl FnMut(&[u8], &[Token], Tokens)) {
        self.visit_tokens_of(id, true, visit);
    }

    fn visit_tokens_of(&self, id: ItemId, dead: bool, mut visit: impl FnMut(&[u8], &[Token], Tokens)) {
        let item = self.item(id);
        let parts = &self.parts[item.file.0 as usize];
        let mut visible = vec![item.tokens.start..item.name_token, item.name_token + 1..item.tokens.end];
        if matches!(item.kind, ItemKind::Class(_)) {
            let mut from = item.name_token + 1;
            visible.truncate(1);
            for hidden in self.hidden_in(id) {
                if hidden.start >= from {
                    visible.push(from..hidden.start);
                    from = hidden.end;
                }
            }
            visible.push(from..item.tokens.end);
        }
        match item.made {
            Some(made) => {
                let made = &parts.made[made as usize];
                for range in visible {
                    visit(made.expansion.expanded.text.as_bytes(), &made.tokens, range);
                }
            }
            None => {
                let file = self.files.get(item.file);
                for range in visible.into_iter().flat_map(|range| parts.selection(dead).within(range)) {
                    visit(&file.bytes, &file.tokens, range);
                }
            }
        }
    }

    /// Whether a token of a file is compiled, in the usual configuration or in the one that takes dead branches.
    pub fn is_alive(&self, file: FileId, token: u32) -> bool {
        let parts = &self.parts[file.0 as usize];
        parts.selection.contains(token) || parts.selection(true).contains(token)
    }

    fn with_source<T>(&self, id: ItemId, dead: bool, use_source: impl FnOnce(&items::Source) -> T) -> T {
        let item = self.item(id);
        let parts = &self.parts[item.file.0 as usize];
        match item.made {
            Some(made) => use_source(&items::Source::Made(&parts.made[made as usize])),
            None => {
                let known = self.recent().timelines.get(&item.file).cloned();
                let is_known = known.is_some();
                let unit = Unit::new(&self.files, item.file);
                let unit = match known {
                    Some(timeline) => unit.with_timeline(timeline),
                    None => unit,
                };
                let found = match parts.dead.as_ref().filter(|_| dead) {
                    Some(Dead { selection, flips }) => {
                        let unit = &unit.with_forced(flips.clone());
                        use_source(&items::Source::File { unit, selection })
                    }
                    None => use_source(&items::Source::File { unit: &unit, selection: &parts.selection }),
                };
                if let (false, Some(timeline)) = (is_known, unit.known_timeline()) {
                    let mut recent = self.recent();
                    if recent.timelines.len() >= MAX_TIMELINES {
                        recent.timelines.clear();
                    }
                    recent.timelines.insert(item.file, timeline);
                }
                found
            }
        }
    }

    /// For `Name` in `typedef struct Tag { .. } Name;` the class.
    fn class_named_twice(&self, alias: ItemId) -> Option<ItemId> {
        let item = self.item(alias);
        let class = ItemId(alias.0.checked_sub(1)?);
        let before = self.item(class);
        let same = matches!(before.kind, ItemKind::Class(_))
            && (before.file, before.made, before.tokens.start) == (item.file, item.made, item.tokens.start);
        same.then_some(class)
    }

    /// The initialisers and bodies of the methods written inside a class, in order.
    fn hidden_in(&self, class: ItemId) -> Vec<Tokens> {
        let around = self.item(class);
        let inside = |item: &&Item| item.made == around.made && item.tokens.start >= around.tokens.start;
        let later = self.items[class.index() + 1..].iter();
        let in_class = later.take_while(|item| item.file == around.file && item.tokens.start < around.tokens.end);
        let mut hidden: Vec<Tokens> = in_class
            .filter(inside)
            .filter_map(|item| {
                let parts = item.function()?;
                let body = parts.body.clone()?;
                Some(parts.initialisers.as_ref().map_or(body.start, |initialisers| initialisers.start)..body.end)
            })
            .collect();
        hidden.sort_unstable_by_key(|range| range.start);
        hidden
    }

    fn found(&self, item: &Item) -> Found {
        Found {
            kind: item.kind.clone(),
            name: item.name.clone(),
            name_token: item.name_token,
            scope: item.scope.clone(),
            qualifier: item.qualifier.clone(),
            class: None,
            tokens: item.tokens.clone(),
            made: item.made,
            templates: item.templates.clone(),
            attributes: item.attributes.clone(),
        }
    }

    /// Gives methods, static members and classes defined outside their class that class, and lists every class's members.
    fn link_methods(&mut self) {
        let outside: Vec<ItemId> = self
            .ids()
            .filter(|id| {
                let item = self.item(*id);
                item.class.is_none()
                    && !item.qualifier.is_empty()
                    && matches!(item.kind, ItemKind::Function(_) | ItemKind::Value | ItemKind::Class(_))
            })
            .collect();
        let classes: Vec<(ItemId, ItemId)> =
            outside.par_iter().filter_map(|id| Some((*id, self.class_of_qualifier(*id)?))).collect();
        for (id, class) in classes {
            self.items[id.index()].class = Some(class);
        }
        for id in self.ids() {
            if let Some(class) = self.item(id).class {
                self.members.entry(class).or_default().push(id);
            }
        }
    }

    /// Finds the declarations of what is defined elsewhere; a definition is for the device where its declaration is.
    fn link_declarations(&mut self) {
        type Key<'a> = (&'a str, Vec<&'a str>, Option<(u32, bool)>);
        fn key(item: &Item) -> Key<'_> {
            let path = item.scope.iter().chain(&item.qualifier).map(|name| &**name).collect();
            (&item.name, path, item.function().map(|parts| (parts.count.max, parts.count.variadic)))
        }
        let is_declaration = |item: &Item| match &item.kind {
            ItemKind::Function(parts) => parts.body.is_none(),
            ItemKind::Value => item.attributes.is_extern,
            _ => false,
        };
        let is_definition = |item: &Item| match &item.kind {
            ItemKind::Function(parts) => parts.body.is_some(),
            ItemKind::Value => !item.attributes.is_extern,
            _ => false,
        };
        let mut declared: FxHashMap<Key, Vec<ItemId>> = FxHashMap::default();
        for id in self.ids().filter(|id| is_declaration(self.item(*id))) {
            declared.entry(key(self.item(id))).or_default().push(id);
        }
        let definitions: Vec<ItemId> = self.ids().filter(|id| is_definition(self.item(*id))).collect();
        let far = self.declared_out_of_view(&declared, &definitions, key);
        let found: Vec<(ItemId, Vec<FileId>, Attributes)> = definitions
            .par_iter()
            .filter_map(|id| {
                let item = self.item(*id);
                let declarations = declared.get(&key(item))?;
                let in_view =
                    declarations.iter().map(|id| self.item(*id)).filter(|other| self.files.sees(item.file, other.file));
                let mut marks = Attributes::default();
                let mut files = Vec::new();
                for other in in_view {
                    marks.device |= other.attributes.device;
                    marks.kernel |= other.attributes.kernel;
                    marks.host |= other.attributes.host;
                    if other.file != item.file {
                        files.push(other.file);
                    }
                }
                files.extend(far.get(id).into_iter().flatten());
                files.dedup();
                Some((*id, files, marks))
            })
            .collect();
        for (id, files, marks) in found {
            let attributes = &mut self.items[id.index()].attributes;
            if !attributes.device && !attributes.kernel && !attributes.host {
                attributes.device = marks.device;
                attributes.kernel = marks.kernel;
                attributes.host = marks.host;
            }
            if !files.is_empty() {
                self.declared_in.insert(id, files);
            }
        }
    }

    /// Functions for the device that a file declares and none that it sees defines: the linker finds them in another
    /// one, without a header that both include. That is the definition nearest in folders, if there is one such.
    fn declared_out_of_view<'s, K: Hash + Eq>(
        &'s self,
        declared: &FxHashMap<K, Vec<ItemId>>,
        definitions: &[ItemId],
        key: impl Fn(&'s Item) -> K,
    ) -> FxHashMap<ItemId, Vec<FileId>> {
        let mut defined: FxHashMap<K, Vec<ItemId>> = FxHashMap::default();
        for id in definitions {
            let item = self.item(*id);
            if item.function().is_some() && !item.attributes.is_static && declared.contains_key(&key(item)) {
                defined.entry(key(item)).or_default().push(*id);
            }
        }
        let mut found: FxHashMap<ItemId, Vec<FileId>> = FxHashMap::default();
        for (key, definitions) in &defined {
            for declaration in declared[key].iter().map(|id| self.item(*id)) {
                let sees = |id: &ItemId| self.files.sees(declaration.file, self.item(*id).file);
                let is_seen = |id: &ItemId| self.files.sees(self.item(*id).file, declaration.file);
                if !declaration.attributes.device || definitions.iter().any(|id| sees(id) || is_seen(id)) {
                    continue;
                }
                let near = |id: &ItemId| {
                    let paths = [declaration.file, self.item(*id).file].map(|file| &self.files.get(file).path);
                    let [a, b] = paths.map(|path| path.split('/'));
                    a.zip(b).take_while(|(a, b)| a == b).count()
                };
                let nearest = definitions.iter().map(near).max();
                let mut nearest = definitions.iter().filter(|id| Some(near(id)) == nearest);
                if let (Some(id), None) = (nearest.next(), nearest.next()) {
                    found.entry(*id).or_default().push(declaration.file);
                }
            }
        }
        found
    }

    fn class_of_qualifier(&self, id: ItemId) -> Option<ItemId> {
        let item = self.item(id);
        let (last, before) = item.qualifier.split_last()?;
        let fits = |class: &ItemId| {
            let class = self.item(*class);
            matches!(&class.kind, ItemKind::Class(parts) if parts.body.is_some())
                && class.scope.ends_with(before)
                && item.scope.iter().all(|name| class.scope.contains(name))
                && self.files.sees(item.file, class.file)
        };
        let fitting: Vec<ItemId> = self.named(last).iter().copied().filter(fits).collect();
        // The primary template, unless only a specialisation declares such a member.
        let is_primary =
            |class: &&ItemId| matches!(&self.item(**class).kind, ItemKind::Class(parts) if parts.arguments.is_none());
        let declares_it =
            |class: &&ItemId| self.named(&item.name).iter().any(|member| self.item(*member).class == Some(**class));
        let mut declaring = fitting.iter().filter(declares_it);
        let first = declaring.clone().find(is_primary).or_else(|| declaring.next());
        first.or_else(|| fitting.iter().find(is_primary)).or(fitting.first()).copied()
    }
}

/// What one file gives; of each item whether a dead branch holds it.
struct FileRead {
    found: Vec<(Found, bool)>,
    lost: Vec<Lost>,
    parts: FileParts,
}

fn read_file(files: &Files, id: FileId) -> FileRead {
    let unit = Unit::new(files, id);
    let selection = select(&unit);
    let FileItems { found, mut made, mut lost } = items::extract(&unit, &selection);
    let mut all: Vec<(Found, bool)> = found.into_iter().map(|found| (found, false)).collect();
    let bodies = all.iter().filter(|(found, _)| found.made.is_none()).filter_map(|(found, _)| match &found.kind {
        ItemKind::Function(parts) => parts.body.clone(),
        _ => None,
    });
    let flips = flips(&unit, &selection, bodies);
    let dead = (!flips.is_empty()).then(|| {
        let unit = unit.with_forced(flips.clone());
        let dead = select(&unit);
        let second = items::extract(&unit, &dead);
        let only_there = |lost: &&Lost| lost.made.is_none() && !selection.contains(lost.token);
        lost.extend(second.lost.iter().filter(only_there).cloned());
        add_dead(&mut all, &mut made, &selection, second);
        Dead { selection: dead, flips }
    });
    FileRead { found: all, lost, parts: FileParts { selection, dead, made } }
}

/// Adds the items that only the second selection shows.
fn add_dead(all: &mut Vec<(Found, bool)>, made: &mut Vec<Made>, selection: &Selection, second: FileItems) {
    let known: FxHashMap<(u32, Option<u32>), u32> =
        all.iter().map(|(found, _)| (found.name_token, found.made)).zip(0..).collect();
    let sites: Vec<Tokens> = second.made.iter().map(|made| made.site.clone()).collect();
    let made_base = made.len() as u32;
    made.extend(second.made);
    let mut new_index: Vec<Option<u32>> = Vec::with_capacity(second.found.len());
    for mut found in second.found {
        let place = found.made.map_or(found.name_token, |made| sites[made as usize].start);
        if selection.contains(place) {
            new_index.push(if found.made.is_none() { known.get(&(found.name_token, None)).copied() } else { None });
            continue;
        }
        new_index.push(Some(all.len() as u32));
        found.made = found.made.map(|made| made + made_base);
        found.class = found.class.and_then(|class| new_index.get(class as usize).copied().flatten());
        if let ItemKind::Function(parts) = &mut found.kind {
            parts.friend_of = parts.friend_of.and_then(|class| new_index.get(class as usize).copied().flatten());
        }
        if let ItemKind::Enumerator { enumeration, .. } = &mut found.kind {
            match new_index.get(*enumeration as usize).copied().flatten() {
                Some(index) => *enumeration = index,
                None => found.kind = ItemKind::Value,
            }
        }
        all.push((found, true));
    }
}

fn item(
    parts: &FileParts,
    file: &super::index::File,
    id: FileId,
    base: u32,
    found: Found,
    in_dead_branch: bool,
) -> Item {
    let place = |tokens: Tokens| range_of(parts, file, id, found.made, tokens);
    let range = place(found.tokens.clone());
    let name_range = place(found.name_token..found.name_token + 1);
    let mut kind = found.kind;
    match &mut kind {
        ItemKind::Enumerator { enumeration, .. } => *enumeration += base,
        ItemKind::Function(parts) => parts.friend_of = parts.friend_of.map(|class| class + base),
        _ => {}
    }
    Item {
        kind,
        name: found.name,
        scope: found.scope,
        qualifier: found.qualifier,
        class: found.class.map(|class| ItemId(class + base)),
        file: id,
        range,
        name_range,
        attributes: found.attributes,
        templates: found.templates,
        in_dead_branch,
        tokens: found.tokens,
        name_token: found.name_token,
        made: found.made,
    }
}

/// Where tokens of a file, or of an expansion in it, stand.
fn range_of(parts: &FileParts, file: &super::index::File, id: FileId, made: Option<u32>, tokens: Tokens) -> Range {
    match made {
        Some(made) => {
            let made = &parts.made[made as usize];
            let bytes = made.bytes_of(&tokens);
            made.expansion.expanded.home(crate::text::Span { start: bytes.start, end: bytes.end }).range
        }
        None => {
            let start = file.tokens.get(tokens.start as usize).map_or(0, |token| token.start());
            let last = file.tokens.get((tokens.end.max(tokens.start + 1) - 1) as usize);
            Range { file: id, start, end: last.map_or(start, |token| token.end()) }
        }
    }
}
