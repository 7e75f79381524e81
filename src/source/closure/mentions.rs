//! Every item and macro -> the names its tokens mention, and whether they spell a barrier.

use crate::graph::ItemId;
use crate::source::index::File;
use crate::source::items::ItemKind;
use crate::source::lexer::{Token, TokenKind, lex};
use crate::source::tree::Tree;
use crate::text::FileId;
use crate::words::{GroupMaker, Words};
use memchr::memmem;
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

/// Something with a name that may lead to a barrier.
pub(super) struct Node {
    pub place: Place,
    pub file: FileId,
    /// The symbol others mention it by.
    pub name: Option<u32>,
    pub has_barrier: bool,
    /// Host code that may launch a kernel, or hand something on to what does.
    pub launches: bool,
    /// What a class calls to give its members a first value: called where an object of it is made.
    pub initialises_by: Vec<u32>,
}

#[derive(Copy, Clone)]
pub(super) enum Place {
    Item(ItemId),
    /// One of its file's macros, by its number there.
    Macro(u32),
    /// What a pointer to functions stands for.
    Pointer,
}

/// Who mentions what.
pub(super) struct Mentions<'t> {
    pub nodes: Vec<Node>,
    symbols: FxHashMap<&'t [u8], u32>,
    names: Vec<&'t str>,
    /// For each node the symbols it mentions.
    mentioned: Vec<Vec<u32>>,
    /// For each symbol the nodes that mention it.
    mentioning: Vec<Vec<u32>>,
    by_item: FxHashMap<ItemId, u32>,
}

impl<'t> Mentions<'t> {
    pub fn gather(tree: &'t Tree, words: &Words) -> Mentions<'t> {
        let mut names: Vec<&str> = tree.names().collect();
        let mut redefined: Vec<(Vec<u8>, FileId)> = Vec::new();
        let mut known: FxHashSet<&str> = names.iter().copied().collect();
        for id in tree.files.ids().chain(tree.files.command_lines()) {
            let file = tree.files.get(id);
            for define in &file.macros {
                let Ok(name) = std::str::from_utf8(file.text(define.name)) else { continue };
                if known.insert(name) {
                    names.push(name);
                }
                if !words.barrier(name).is_empty() {
                    redefined.push((name.as_bytes().to_vec(), id));
                }
            }
        }
        names.sort_unstable();
        let symbols: FxHashMap<&[u8], u32> = names.iter().map(|name| name.as_bytes()).zip(0..).collect();
        // What the command line defines is like a file that all include.
        let ids: Vec<FileId> = tree.files.ids().chain(tree.files.command_lines()).collect();
        let pasting = pasting_macros(tree, &symbols);
        let outlines = Outlines::of(words.names_round_barriers().chain(["cooperative_groups"]));
        let spelt =
            Spelt { symbols: &symbols, names: &names, pasting: &pasting, redefined: &redefined, outlines: &outlines };
        let gathered: Vec<Vec<(Node, Vec<u32>)>> = ids.par_iter().map(|id| of_file(tree, words, &spelt, *id)).collect();
        let mut mentioning = vec![Vec::new(); names.len()];
        let (mut nodes, mut mentioned) = (Vec::new(), Vec::new());
        let mut by_item = FxHashMap::default();
        for (node, symbols) in gathered.into_iter().flatten() {
            let index = nodes.len() as u32;
            for symbol in &symbols {
                mentioning[*symbol as usize].push(index);
            }
            if let Place::Item(id) = node.place {
                by_item.insert(id, index);
            }
            nodes.push(node);
            mentioned.push(symbols);
        }
        Mentions { nodes, symbols, names, mentioned, mentioning, by_item }
    }

    pub fn mentioning(&self, symbol: u32) -> &[u32] {
        &self.mentioning[symbol as usize]
    }

    pub fn mentioned(&self, node: u32) -> &[u32] {
        &self.mentioned[node as usize]
    }

    /// Device functions and macros with a sign in their text: what may call an operator. Few trees have one that waits.
    pub fn with_sign(&self, tree: &Tree, sign: &str) -> Vec<u32> {
        let holds = |bytes: &[u8], tokens: &[Token]| {
            tokens.iter().any(|token| token.kind() == TokenKind::Punctuator && token.bytes(bytes) == sign.as_bytes())
        };
        let has_sign = |node: &Node| match node.place {
            Place::Macro(number) => {
                let file = tree.files.get(node.file);
                let body = &file.macros[number as usize].body;
                holds(&file.bytes, &file.tokens[body.start as usize..body.end as usize])
            }
            Place::Pointer => false,
            Place::Item(id) => {
                let attributes = &tree.item(id).attributes;
                let mut found = false;
                if attributes.kernel || attributes.device {
                    tree.visit_tokens(id, |bytes, tokens, range| {
                        let within = tokens.get(range.start as usize..range.end as usize);
                        found |= holds(bytes, within.unwrap_or_default());
                    });
                }
                found
            }
        };
        let nodes = self.nodes.par_iter().zip(0..self.nodes.len() as u32);
        nodes.filter(|(node, _)| has_sign(node)).map(|(_, index)| index).collect()
    }

    pub fn symbol(&self, name: &str) -> Option<u32> {
        self.symbols.get(name.as_bytes()).copied()
    }

    pub fn name(&self, symbol: u32) -> &str {
        self.names[symbol as usize]
    }

    pub fn node_of(&self, item: ItemId) -> Option<u32> {
        self.by_item.get(&item).copied()
    }
}

/// What is known of the names of all files.
struct Spelt<'a> {
    symbols: &'a FxHashMap<&'a [u8], u32>,
    names: &'a [&'a str],
    /// Macros that paste names together, and those that use them.
    pasting: &'a FxHashSet<u32>,
    /// Barrier functions that a macro replaces, and where it stands.
    redefined: &'a [(Vec<u8>, FileId)],
    /// Of the names that bear on barriers.
    outlines: &'a Outlines,
}

/// For each first byte, the lengths of words: tells most words from those without looking them up.
struct Outlines([u64; 256]);

impl Outlines {
    fn of<'w>(words: impl Iterator<Item = &'w str>) -> Outlines {
        let mut outlines = Outlines([0; 256]);
        for word in words.filter(|word| !word.is_empty()) {
            outlines.0[word.as_bytes()[0] as usize] |= Outlines::length(word.as_bytes());
        }
        outlines
    }

    fn length(word: &[u8]) -> u64 {
        1 << word.len().min(63)
    }

    fn may_hold(&self, word: &[u8]) -> bool {
        word.first().is_some_and(|first| self.0[*first as usize] & Outlines::length(word) != 0)
    }
}

/// Macros by whose use a name may be mentioned that no token spells.
fn pasting_macros(tree: &Tree, symbols: &FxHashMap<&[u8], u32>) -> FxHashSet<u32> {
    let mut pasting: FxHashSet<u32> = FxHashSet::default();
    let mut using: Vec<(u32, Vec<u32>)> = Vec::new();
    for id in tree.files.ids() {
        let file = tree.files.get(id);
        for define in &file.macros {
            let Some(name) = symbols.get(file.text(define.name)) else { continue };
            let body = file.tokens.get(define.body.start as usize..define.body.end as usize).unwrap_or_default();
            // `, ## __VA_ARGS__` makes no name.
            let pastes = |pair: &[Token]| pair[1].bytes(&file.bytes) == b"##" && pair[0].first() != b',';
            if body.windows(2).any(pastes) {
                pasting.insert(*name);
            } else {
                let used = body.iter().filter(|token| token.kind() == TokenKind::Identifier);
                let used: Vec<u32> = used.filter_map(|token| symbols.get(token.bytes(&file.bytes)).copied()).collect();
                using.push((*name, used));
            }
        }
    }
    while !pasting.is_empty() {
        let known = pasting.len();
        for (name, used) in &using {
            if used.iter().any(|used| pasting.contains(used)) {
                pasting.insert(*name);
            }
        }
        if pasting.len() == known {
            break;
        }
    }
    pasting
}

fn of_file(tree: &Tree, words: &Words, spelt: &Spelt, id: FileId) -> Vec<(Node, Vec<u32>)> {
    let symbols = spelt.symbols;
    let file = tree.files.get(id);
    let mut group_words = GroupWords::of(file, words, spelt.outlines);
    let in_view = spelt.redefined.iter().filter(|(_, definer)| tree.files.sees(id, *definer));
    group_words.redefined = in_view.map(|(word, _)| word.clone()).collect();
    let mut gathered = Vec::new();
    for (define, number) in file.macros.iter().zip(0..) {
        let mut scan = Scan::new(symbols, words, &group_words, false);
        scan.tokens(&file.bytes, &file.tokens, define.body.clone());
        if scan.has_barrier || !scan.found.is_empty() {
            let name = symbols.get(file.text(define.name)).copied();
            let place = Place::Macro(number);
            let node = Node {
                place,
                file: id,
                name,
                has_barrier: scan.has_barrier,
                launches: false,
                initialises_by: Vec::new(),
            };
            gathered.push((node, scan.finish()));
        }
    }
    let launches = |token: &Token| match token.kind() {
        TokenKind::LaunchOpen => true,
        TokenKind::Identifier => {
            let word = token.bytes(&file.bytes);
            word.starts_with(b"cudaLaunch") || word.starts_with(b"hipLaunch")
        }
        _ => false,
    };
    let has_launch = file.tokens.iter().any(launches);
    for item_id in tree.items_of(id) {
        let item = tree.item(item_id);
        let is_function = match &item.kind {
            ItemKind::Function(parts) if parts.body.is_some() => true,
            ItemKind::Class(_) | ItemKind::Alias | ItemKind::Value => false,
            // `template __global__ void k<Op>(int);` is as good as a launch.
            ItemKind::Instantiation { of_class: false, .. } => false,
            _ => continue,
        };
        let instantiates = matches!(item.kind, ItemKind::Instantiation { .. });
        let marked = item.attributes.kernel || item.attributes.device;
        if is_function && !marked && !has_launch && file.marked.is_empty() {
            continue;
        }
        let mut scan = Scan::new(symbols, words, &group_words, is_function && !marked);
        tree.visit_tokens(item_id, |bytes, tokens, range| scan.tokens(bytes, tokens, range));
        if instantiates {
            scan.found.extend(symbols.get(item.name.as_bytes()));
        }
        if is_function && marked && scan.found.iter().any(|symbol| spelt.pasting.contains(symbol)) {
            let text = tree.text(item_id).expanded.text;
            let lexed = lex(text.as_bytes());
            scan.tokens(text.as_bytes(), &lexed.tokens, 0..lexed.tokens.len() as u32);
        }
        let node = Node {
            place: Place::Item(item_id),
            file: id,
            name: symbols.get(item.name.as_bytes()).copied(),
            has_barrier: scan.has_barrier,
            launches: is_function && !marked || instantiates,
            initialises_by: match item.kind {
                ItemKind::Class(_) => initialisers(tree, item_id, symbols),
                _ => Vec::new(),
            },
        };
        for (pointer, held) in scan.pointers(tree, spelt.names) {
            let node = Node {
                place: Place::Pointer,
                file: id,
                name: Some(pointer),
                has_barrier: false,
                launches: false,
                initialises_by: Vec::new(),
            };
            gathered.push((node, vec![held]));
        }
        gathered.push((node, scan.finish()));
    }
    gathered
}

/// The functions that a class names in the first values of its members: `int a = f();`, `int a{f()};`, `void (*p)() = f;`
fn initialisers(tree: &Tree, class: ItemId, symbols: &FxHashMap<&[u8], u32>) -> Vec<u32> {
    let mut found = Vec::new();
    tree.visit_tokens(class, |bytes, tokens, range| {
        // Where a function's body comes right behind the class's name nothing is left between.
        let within = tokens.get(range.start as usize..range.end as usize).unwrap_or_default();
        let mut has_value = false;
        for (at, token) in within.iter().enumerate() {
            let before = |back: usize| at.checked_sub(back).map(|at| within[at]);
            match token.kind() {
                TokenKind::Punctuator => match token.bytes(bytes) {
                    b"=" => has_value = true,
                    b";" => has_value = false,
                    _ => {}
                },
                TokenKind::Identifier => {
                    let is_called = within.get(at + 1).is_some_and(|next| next.bytes(bytes) == b"(");
                    let is_braced = before(1).is_some_and(|open| open.bytes(bytes) == b"{")
                        && before(2).is_some_and(|name| name.kind() == TokenKind::Identifier);
                    // A pointer to a function is called by whoever has the object.
                    if has_value || is_called && is_braced {
                        found.extend(symbols.get(token.bytes(bytes)));
                    }
                }
                _ => {}
            }
        }
    });
    found
}

/// Which classes of the barrier table a file speaks of: its methods count only there.
struct GroupWords<'a> {
    outlines: &'a Outlines,
    groups: bool,
    classes: FxHashSet<Vec<u8>>,
    /// Barrier functions that a macro in view replaces.
    redefined: FxHashSet<Vec<u8>>,
}

impl<'a> GroupWords<'a> {
    fn of(file: &File, words: &Words, outlines: &'a Outlines) -> GroupWords<'a> {
        let (groups, classes, redefined) = Default::default();
        let mut found = GroupWords { outlines, groups, classes, redefined };
        for token in &file.tokens {
            if token.kind() == TokenKind::Identifier {
                let word = token.bytes(&file.bytes);
                if !outlines.may_hold(word) {
                    continue;
                }
                let Ok(word) = std::str::from_utf8(word) else { continue };
                found.groups |= word == "cooperative_groups"
                    || words.group_maker(word).is_some()
                    || word != "tile" && words.group_type(word).is_some();
                if words.is_barrier_class(word) {
                    found.classes.insert(word.as_bytes().to_vec());
                }
            }
        }
        found
    }
}

struct Scan<'a> {
    symbols: &'a FxHashMap<&'a [u8], u32>,
    words: &'a Words,
    file: &'a GroupWords<'a>,
    /// A function without any mark: host code unless it names an unmistakable barrier.
    unmarked: bool,
    /// In its lambdas for the device.
    in_lambda: bool,
    found: Vec<u32>,
    has_barrier: bool,
    /// `pointer = function`: the pointer stands for the function wherever it is named.
    handed: Vec<(u32, u32)>,
    /// What the host writes to and reads from by name.
    host_writes: Vec<u32>,
    host_reads: Vec<u32>,
}

impl<'a> Scan<'a> {
    fn new(
        symbols: &'a FxHashMap<&'a [u8], u32>,
        words: &'a Words,
        file: &'a GroupWords<'a>,
        unmarked: bool,
    ) -> Scan<'a> {
        Scan {
            symbols,
            words,
            file,
            unmarked,
            in_lambda: false,
            found: Vec::new(),
            has_barrier: false,
            handed: Vec::new(),
            host_writes: Vec::new(),
            host_reads: Vec::new(),
        }
    }

    fn tokens(&mut self, bytes: &[u8], tokens: &[Token], range: std::ops::Range<u32>) {
        for at in range.start as usize..(range.end as usize).min(tokens.len()) {
            let token = tokens[at];
            match token.kind() {
                TokenKind::Identifier => {
                    let word = token.bytes(bytes);
                    if let Some(symbol) = self.symbols.get(word) {
                        self.found.push(*symbol);
                        self.hands_on(*symbol, bytes, tokens.get(at + 1..).unwrap_or_default());
                    }
                    self.in_lambda |= self.unmarked && word == b"__device__";
                    if self.unmarked && word.ends_with(b"Symbol") {
                        self.host_symbol(word, bytes, tokens.get(at + 1..).unwrap_or_default());
                    }
                    if !self.has_barrier {
                        let before =
                            at.checked_sub(1).and_then(|at| tokens.get(at)).map_or(&[][..], |token| token.bytes(bytes));
                        let called =
                            tokens.get(at + 1).is_some_and(|next| next.first() == b'(' || next.first() == b'<');
                        self.has_barrier = self.is_barrier(word, before, called);
                    }
                }
                TokenKind::String if !self.has_barrier => self.has_barrier = spells_barrier(token.bytes(bytes)),
                _ => {}
            }
        }
    }

    /// `symbol = other;`, `symbol = &other;`
    fn hands_on(&mut self, symbol: u32, bytes: &[u8], behind: &[Token]) {
        let [equals, rest @ ..] = behind else { return };
        if equals.bytes(bytes) != b"=" {
            return;
        }
        let rest = if rest.first().is_some_and(|next| next.first() == b'&') { &rest[1..] } else { rest };
        if let [value, end, ..] = rest
            && matches!(end.first(), b';' | b',' | b')' | b'}')
            && let Some(other) = self.symbols.get(value.bytes(bytes))
        {
            self.handed.push((symbol, *other));
        }
    }

    /// `cudaMemcpyToSymbol(symbol, ..)`, `cudaMemcpyFromSymbol(.., symbol, ..)`
    fn host_symbol(&mut self, word: &[u8], bytes: &[u8], behind: &[Token]) {
        let to = word.ends_with(b"ToSymbol");
        if !to && !word.ends_with(b"FromSymbol") {
            return;
        }
        let skip = if to { 0 } else { behind.iter().position(|token| token.first() == b',').unwrap_or(behind.len()) };
        let named = behind.iter().skip(skip).take(4).find(|token| token.kind() == TokenKind::Identifier);
        if let Some(symbol) = named.and_then(|token| self.symbols.get(token.bytes(bytes))) {
            if to { self.host_writes.push(*symbol) } else { self.host_reads.push(*symbol) }
        }
    }

    /// Pointers with the functions or pointers that are put into them.
    fn pointers(&self, tree: &Tree, names: &[&str]) -> Vec<(u32, u32)> {
        let from_host = self.host_writes.iter().flat_map(|to| self.host_reads.iter().map(|from| (*to, *from)));
        let is_pointer = |symbol: u32| {
            let named = tree.named(names[symbol as usize]);
            named.iter().any(|id| matches!(tree.item(*id).kind, ItemKind::Value))
        };
        self.handed.iter().copied().chain(from_host).filter(|(to, from)| to != from && is_pointer(*to)).collect()
    }

    fn is_host(&self) -> bool {
        self.unmarked && !self.in_lambda
    }

    fn is_barrier(&self, word: &[u8], before: &[u8], called: bool) -> bool {
        if word == b"__sync" {
            // `__sync##threads`
            return true;
        }
        if self.is_host() && self.file.redefined.contains(word) {
            // `#define __syncthreads() item.barrier()`: another model's source.
            return false;
        }
        if !self.file.outlines.may_hold(word) {
            return false;
        }
        let Ok(word) = std::str::from_utf8(word) else { return false };
        let is_method = before == b"." || before == b"->";
        if self.words.library(word).is_some() {
            return !self.is_host();
        }
        if called && !is_method && self.makes_parts(word) {
            return true;
        }
        let rows = if is_method { self.words.barrier_method(word) } else { self.words.barrier(word) };
        rows.iter().any(|row| {
            if row.on.is_empty() {
                return !is_method;
            }
            if self.is_host() || !called {
                return false;
            }
            is_method && word == "sync"
                || row.on.iter().any(|on| match on.as_str() {
                    "any" => true,
                    "group" => self.file.groups,
                    class => self.file.classes.contains(class.as_bytes()),
                })
        }) || !is_method && before == b"::" && called && self.static_method(word)
    }

    /// `NamedBarrier::sync(..)`, `thread_block::sync()`
    fn static_method(&self, word: &str) -> bool {
        !self.is_host()
            && self.words.barrier_method(word).iter().any(|row| {
                row.on.iter().any(|on| match on.as_str() {
                    "any" => false,
                    "group" => self.file.groups,
                    class => self.file.classes.contains(class.as_bytes()),
                })
            })
    }

    /// Parting a group is collective for it.
    fn makes_parts(&self, word: &str) -> bool {
        !self.is_host()
            && self.file.groups
            && matches!(self.words.group_maker(word), Some(GroupMaker::Tile | GroupMaker::Partition))
    }

    fn finish(mut self) -> Vec<u32> {
        self.found.sort_unstable();
        self.found.dedup();
        self.found
    }
}

/// Inline PTX: `bar.sync`, `barrier.cluster.arrive`, `shfl.sync`, but not `mbarrier.` and no prose.
fn spells_barrier(text: &[u8]) -> bool {
    let collectives: [&[u8]; 6] =
        [b"shfl.sync.", b"vote.sync.", b"match.any.sync", b"match.all.sync", b"redux.sync.", b"elect.sync"];
    if collectives.iter().any(|word| memmem::find(text, word).is_some()) {
        return true;
    }
    [&b"bar."[..], b"barrier."].iter().any(|word| {
        memmem::find_iter(text, word).any(|at| {
            let before = &text[..at];
            let joins = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
            // `;\n\tbar.sync 0;`
            let escaped = before.ends_with(b"\\n") || before.ends_with(b"\\t");
            let starts = escaped || !before.last().is_some_and(joins);
            let rest = &text[at + word.len()..];
            let kinds: [&[u8]; 6] = [b"sync", b"arrive", b"red", b"warp", b"cta", b"cluster"];
            starts && kinds.iter().any(|kind| rest.starts_with(kind))
        })
    })
}
