//! Which kernels and device functions matter: those from whose code a barrier can be reached.
//!
//! A search by names, from the functions that hold a barrier's text up to those that mention them, scoped by what each file
//! sees. Classes, aliases and macros carry a barrier on under their own name. It over-approximates: overloads are one, a
//! mention is a call. It never climbs out of a kernel, nor through functions without a device mark.

mod mentions;

use super::tree::Tree;
use crate::graph::ItemId;
use crate::source::items::{ItemKind, Role};
use crate::text::FileId;
use crate::words::Words;
use mentions::{Mentions, Node, Place};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;

/// Files that are included by more than this many others are libraries: what their includers see besides says nothing.
const MAX_INCLUDERS: usize = 16;

/// What is worth analysing.
#[derive(Clone, Debug, Default)]
pub struct Closure {
    /// Kernels with a body from which a barrier may be reached, in the order of items.
    pub kernels: Vec<ItemId>,
    /// Device functions that may reach a barrier and that nothing in view calls.
    pub devices: Vec<ItemId>,
    /// Device functions with a barrier of their own, in the order of items.
    pub holding: Vec<ItemId>,
    /// Operator functions that surely reach a barrier, in the order of items.
    pub operators: Vec<ItemId>,
    /// Kernels with a body and no barrier in reach.
    pub kernels_without: Vec<ItemId>,
}

impl Closure {
    /// Where analysis starts.
    pub fn roots(&self) -> impl Iterator<Item = ItemId> {
        self.kernels.iter().chain(&self.devices).copied()
    }
}

/// Searches from the barriers upwards.
pub fn closure(tree: &Tree, words: &Words) -> Closure {
    let mentions = Mentions::gather(tree, words);
    let mut search = Search {
        tree,
        mentions: &mentions,
        reached: vec![false; mentions.nodes.len()],
        queue: VecDeque::new(),
        meant: FxHashMap::default(),
        launched: Vec::new(),
        macros: FxHashSet::default(),
        operators: Vec::new(),
        waiting_operators: FxHashSet::default(),
        sees: FxHashMap::default(),
    };
    search.run();
    conclude(tree, &mentions, search)
}

struct Search<'a> {
    tree: &'a Tree,
    mentions: &'a Mentions<'a>,
    reached: Vec<bool>,
    queue: VecDeque<u32>,
    /// For a name as one file means it, the nodes that mention it there: functions and macros; types and aliases only
    /// where the name is one of a type.
    meant: FxHashMap<Meaning, Vec<u32>>,
    /// Host code that mentions a class or function with a barrier: what it launches may call it.
    launched: Vec<u32>,
    /// The names of macros that spell a barrier.
    macros: FxHashSet<u32>,
    /// Operator functions that were reached, and are not yet known to wait whatever their names mean.
    operators: Vec<u32>,
    waiting_operators: FxHashSet<u32>,
    sees: FxHashMap<(FileId, FileId), bool>,
}

/// A name, and the file of what it means.
#[derive(Copy, Clone, PartialEq, Eq, Hash)]
struct Meaning {
    symbol: u32,
    file: FileId,
    is_type: bool,
}

impl Search<'_> {
    fn run(&mut self) {
        for (node, index) in self.mentions.nodes.iter().zip(0..) {
            if node.has_barrier {
                self.reach(index);
                if node.launches {
                    self.launched.push(index);
                }
                if matches!(node.place, Place::Macro(_)) {
                    self.macros.extend(node.name);
                }
            }
        }
        while let Some(node) = self.queue.pop_front() {
            self.climb(node);
            if self.queue.is_empty() {
                self.kernels_of_launches();
                self.expressions_with_operators();
            }
        }
    }

    fn reach(&mut self, node: u32) {
        if !std::mem::replace(&mut self.reached[node as usize], true) {
            self.queue.push_back(node);
        }
    }

    /// Reaches all that mentions a node by the names it goes by.
    fn climb(&mut self, index: u32) {
        let mentions = self.mentions;
        let node = &mentions.nodes[index as usize];
        if is_kernel(self.tree, node) {
            return;
        }
        for meaning in meanings(self.tree, mentions, node) {
            if sign(mentions.name(meaning.symbol)).is_some() {
                self.operators.push(index);
                continue;
            }
            if !self.meant.contains_key(&meaning) {
                let found = self.mentioning(meaning);
                for other in &found {
                    self.reach(*other);
                }
                self.meant.insert(meaning, found);
            }
            // A definition that is declared in a header is meant wherever the header is seen.
            if let Place::Item(id) = node.place {
                for file in self.tree.declared_in(id) {
                    let declared = Meaning { file: *file, ..meaning };
                    if !self.meant.contains_key(&declared) {
                        let found = self.mentioning(declared);
                        for other in &found {
                            self.reach(*other);
                        }
                        self.meant.insert(declared, found);
                    }
                }
            }
        }
    }

    fn mentioning(&mut self, meaning: Meaning) -> Vec<u32> {
        self.that_mean(meaning, self.mentions.mentioning(meaning.symbol))
    }

    /// Of the nodes that mention a name those that may mean it, and are reached by it.
    fn that_mean(&mut self, meaning: Meaning, mentioning: &[u32]) -> Vec<u32> {
        let mentions = self.mentions;
        let mut found = Vec::new();
        for &other in mentioning {
            let mentioning = &mentions.nodes[other as usize];
            if !self.may_mean(mentioning.file, meaning.file) {
                continue;
            }
            let follows = match mentioning.place {
                Place::Macro(_) | Place::Pointer => true,
                Place::Item(id) => {
                    let item = self.tree.item(id);
                    match item.kind {
                        ItemKind::Function(_) if item.attributes.kernel || item.attributes.device => true,
                        ItemKind::Function(_) | ItemKind::Instantiation { .. } => {
                            if mentioning.launches {
                                self.launched.push(other);
                            }
                            false
                        }
                        ItemKind::Class(_) | ItemKind::Alias => {
                            meaning.is_type || mentioning.initialises_by.contains(&meaning.symbol)
                        }
                        _ => true,
                    }
                }
            };
            if follows {
                found.push(other);
            }
        }
        found
    }

    /// Nearly every function has some sign, and most operators are reached by a name that means something else in them:
    /// only one that surely waits is mentioned by its sign.
    fn expressions_with_operators(&mut self) {
        let (tree, mentions) = (self.tree, self.mentions);
        let reached = std::mem::take(&mut self.operators);
        let (waiting, others) = reached.into_iter().partition(|index| self.surely_waits(*index));
        self.operators = others;
        let waiting: Vec<u32> = waiting;
        for index in waiting {
            self.waiting_operators.insert(index);
            let Place::Item(id) = mentions.nodes[index as usize].place else { continue };
            let item = tree.item(id);
            // A member is called where its class is named.
            let is_free = item.class.is_none() || item.attributes.is_friend;
            let Some(sign) = sign(&item.name).filter(|_| is_free) else { continue };
            let Some(symbol) = mentions.symbol(&item.name) else { continue };
            let with_sign = mentions.with_sign(tree, sign);
            for file in tree.declared_in(id).iter().copied().chain([item.file]) {
                let meaning = Meaning { symbol, file, is_type: false };
                if !self.meant.contains_key(&meaning) {
                    let found = self.that_mean(meaning, &with_sign);
                    found.iter().for_each(|other| self.reach(*other));
                    self.meant.insert(meaning, found);
                }
            }
        }
    }

    /// Its text has a barrier, or a name that leads to one whichever function of that name in view is meant.
    fn surely_waits(&self, index: u32) -> bool {
        let (tree, mentions) = (self.tree, self.mentions);
        let node = &mentions.nodes[index as usize];
        let leads_on = |symbol: &u32| {
            let functions = tree.named(mentions.name(*symbol)).iter().copied().filter(|id| {
                let item = tree.item(*id);
                item.is_definition() && item.attributes.device && !item.is_kernel()
            });
            let is_reached = |id: ItemId| mentions.node_of(id).is_some_and(|node| self.reached[node as usize]);
            let (waiting, others): (Vec<ItemId>, Vec<ItemId>) = functions.partition(|id| is_reached(*id));
            let sees = |id: &ItemId| tree.sees(node.file, *id);
            self.macros.contains(symbol) || !others.iter().any(sees) && waiting.iter().any(sees)
        };
        node.has_barrier || mentions.mentioned(index).iter().any(leads_on)
    }

    /// A functor or lambda with a barrier goes to a kernel template as an argument of its launch.
    fn kernels_of_launches(&mut self) {
        let mentions = self.mentions;
        let mut seen: FxHashSet<u32> = FxHashSet::default();
        while let Some(host) = self.launched.pop() {
            if !seen.insert(host) {
                continue;
            }
            let file = mentions.nodes[host as usize].file;
            for &symbol in mentions.mentioned(host) {
                for &id in self.tree.named(mentions.name(symbol)) {
                    let item = self.tree.item(id);
                    // `run<Op>()` hands on what it is given.
                    let node = mentions.node_of(id).filter(|_| !item.templates.is_empty() && self.tree.sees(file, id));
                    match node {
                        Some(node) if item.is_kernel() => self.reach(node),
                        Some(node) if mentions.nodes[node as usize].launches => self.launched.push(node),
                        _ => {}
                    }
                }
            }
        }
    }

    fn may_mean(&mut self, from: FileId, file: FileId) -> bool {
        let tree = self.tree;
        if tree.files.command_lines().any(|line| line == file) {
            return true;
        }
        *self.sees.entry((from, file)).or_insert_with(|| {
            tree.files.sees(from, file) || {
                let includers = tree.includers(from);
                includers.len() <= MAX_INCLUDERS && includers.iter().any(|includer| tree.files.sees(*includer, file))
            }
        })
    }
}

/// `+` of `operator+`, which no name mentions.
fn sign(name: &str) -> Option<&str> {
    let sign = name.strip_prefix("operator")?;
    sign.starts_with(|c: char| c.is_ascii_punctuation() && !matches!(c, '_' | '"' | '(' | '[')).then_some(sign)
}

fn is_kernel(tree: &Tree, node: &Node) -> bool {
    matches!(node.place, Place::Item(id) if tree.item(id).is_kernel())
}

/// What a node goes by. A constructor, destructor or operator is called where its class is named.
fn meanings(tree: &Tree, mentions: &Mentions, node: &Node) -> Vec<Meaning> {
    let meaning = |symbol, is_type| Meaning { symbol, file: node.file, is_type };
    let Place::Item(id) = node.place else { return node.name.map(|name| meaning(name, false)).into_iter().collect() };
    let item = tree.item(id);
    let class = match &item.kind {
        ItemKind::Function(parts) if parts.role != Role::Plain => item.class,
        _ => None,
    };
    let by_class = class.and_then(|class| mentions.symbol(&tree.item(class).name)).map(|name| meaning(name, true));
    let is_type = matches!(item.kind, ItemKind::Class(_) | ItemKind::Alias);
    by_class.into_iter().chain(node.name.map(|name| meaning(name, is_type))).collect()
}

fn conclude(tree: &Tree, mentions: &Mentions, search: Search) -> Closure {
    let mut closure = Closure::default();
    let mut functions: Vec<(u32, ItemId)> = Vec::new();
    for (node, index) in mentions.nodes.iter().zip(0..) {
        let Place::Item(id) = node.place else { continue };
        let item = tree.item(id);
        if !item.is_definition() {
            continue;
        }
        match (search.reached[index as usize], item.is_kernel()) {
            (true, true) => closure.kernels.push(id),
            (false, true) => closure.kernels_without.push(id),
            (true, false) => {
                functions.push((index, id));
                if search.waiting_operators.contains(&index) {
                    closure.operators.push(id);
                }
                if node.has_barrier {
                    closure.holding.push(id);
                }
            }
            (false, false) => continue,
        }
    }
    // Down from the kernels over what they mention; what is left over and nobody calls is a root, and of a ring of
    // functions that only call each other the first.
    let mut below = Below::new(tree, mentions, &search);
    for id in &closure.kernels {
        if let Some(node) = mentions.node_of(*id) {
            below.cover(node);
        }
    }
    for only_uncalled in [true, false] {
        for (node, id) in &functions {
            if !(below.covered[*node as usize] || only_uncalled && below.is_called(*node)) {
                closure.devices.push(*id);
                below.cover(*node);
            }
        }
    }
    closure.devices.sort_unstable();
    closure
}

/// The nodes that a reached node mentions.
struct Below {
    mentioned: FxHashMap<u32, Vec<u32>>,
    mentioned_by: FxHashMap<u32, Vec<u32>>,
    /// Nodes that count as callers: functions.
    is_function: Vec<bool>,
    covered: Vec<bool>,
}

impl Below {
    fn new(tree: &Tree, mentions: &Mentions, search: &Search) -> Below {
        let count = mentions.nodes.len();
        let mut below = Below {
            mentioned: FxHashMap::default(),
            mentioned_by: FxHashMap::default(),
            is_function: vec![false; count],
            covered: vec![false; count],
        };
        // A meaning is a node of its own between those that go by it and those that mention it: far fewer edges.
        let mut meaning_nodes: FxHashMap<Meaning, u32> = FxHashMap::default();
        for (node, index) in mentions.nodes.iter().zip(0u32..) {
            if let Place::Item(id) = node.place {
                below.is_function[index as usize] = tree.item(id).function().is_some();
            }
            if !search.reached[index as usize] || is_kernel(tree, node) {
                continue;
            }
            let files = match node.place {
                Place::Item(id) => tree.declared_in(id),
                Place::Macro(_) | Place::Pointer => &[],
            };
            for meaning in meanings(tree, mentions, node) {
                for file in files.iter().copied().chain([node.file]) {
                    let meaning = Meaning { file, ..meaning };
                    let Some(found) = search.meant.get(&meaning) else { continue };
                    let next = (count + meaning_nodes.len()) as u32;
                    let middle = *meaning_nodes.entry(meaning).or_insert(next);
                    if middle == next {
                        below.covered.push(false);
                        below.is_function.push(false);
                        for other in found {
                            below.mentioned.entry(*other).or_default().push(middle);
                        }
                        below.mentioned_by.insert(middle, found.clone());
                    }
                    below.mentioned.entry(middle).or_default().push(index);
                    below.mentioned_by.entry(index).or_default().push(middle);
                }
            }
        }
        below
    }

    /// Marks a node and all below it.
    fn cover(&mut self, node: u32) {
        let mut queue = vec![node];
        while let Some(at) = queue.pop() {
            if !std::mem::replace(&mut self.covered[at as usize], true) {
                queue.extend(self.mentioned.get(&at).into_iter().flatten());
            }
        }
    }

    /// Whether some other function leads here.
    fn is_called(&self, node: u32) -> bool {
        let mut seen: FxHashSet<u32> = FxHashSet::from_iter([node]);
        let mut queue = vec![node];
        while let Some(at) = queue.pop() {
            for &above in self.mentioned_by.get(&at).into_iter().flatten() {
                if seen.insert(above) {
                    if self.is_function[above as usize] {
                        return true;
                    }
                    queue.push(above);
                }
            }
        }
        false
    }
}
