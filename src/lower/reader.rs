//! What lowering one item needs at hand: the tree, the text as it was before repairs, shared names, the depth.

use crate::lower::tree::{Field, Id, Kind, Node, Tree};
use crate::program::{Expr, ExprKind, Name, Path, Segment};
use crate::text::Span;
use rustc_hash::{FxHashMap, FxHashSet};

/// Statements, expressions and types nest at most this deep in a program; what is deeper is unreadable.
///
/// One level costs at most 3 kB of stack (measured in a debug build on nested parentheses, calls, statements, lambdas,
/// classes and template arguments), so a thread that lowers, copies or drops such a program needs 4 MB.
pub const MAX_DEPTH: usize = 1000;

pub struct Reader<'a> {
    pub tree: &'a Tree,
    /// The item's text. The tree was made from a copy of the same length with repairs, so names and operators are read here.
    text: &'a str,
    /// Bytes of `text` that stand before the caller's own text.
    before: u32,
    names: FxHashMap<&'a str, Name>,
    pub depth: usize,
    /// The first place that nests too deep.
    pub too_deep: Option<Span>,
    /// Something stands where it cannot, so control flow has to be counted.
    pub doubtful: bool,
    /// Names declared so far as variables and parameters, in any scope.
    pub variables: FxHashSet<&'a str>,
    /// Template type parameters and aliases declared so far.
    pub types: FxHashSet<&'a str>,
    /// Parameter packs among the names declared so far.
    pub packs: FxHashSet<&'a str>,
}

impl<'a> Reader<'a> {
    pub fn new(tree: &'a Tree, text: &'a str, before: usize) -> Reader<'a> {
        Reader {
            tree,
            text,
            before: before as u32,
            names: FxHashMap::default(),
            depth: 0,
            too_deep: None,
            doubtful: false,
            variables: FxHashSet::default(),
            types: FxHashSet::default(),
            packs: FxHashSet::default(),
        }
    }

    /// A reader of another tree of the same text, to which all names declared so far are known.
    pub fn beside<'b>(&mut self, tree: &'b Tree) -> Reader<'b>
    where
        'a: 'b,
    {
        let mut other = Reader::new(tree, self.text, self.before as usize);
        other.names = std::mem::take(&mut self.names);
        other.variables = std::mem::take(&mut self.variables);
        other.types = std::mem::take(&mut self.types);
        other.packs = std::mem::take(&mut self.packs);
        other
    }

    pub fn node(&self, id: Id) -> Node {
        self.tree.node(id)
    }

    pub fn kind(&self, id: Id) -> Kind {
        self.tree.kind(id)
    }

    pub fn child(&self, id: Id, field: Field) -> Option<Id> {
        self.tree.child(id, field)
    }

    pub fn text(&self, id: Id) -> &'a str {
        let node = self.tree.node(id);
        self.between(node.start, node.end)
    }

    pub fn between(&self, start: u32, end: u32) -> &'a str {
        self.text.get(start as usize..end as usize).unwrap_or_default()
    }

    /// The text from a node's start on.
    pub fn from(&self, id: Id) -> &'a str {
        self.text.get(self.tree.node(id).start as usize..).unwrap_or_default()
    }

    pub fn span(&self, id: Id) -> Span {
        let node = self.tree.node(id);
        self.span_between(node.start, node.end)
    }

    pub fn span_between(&self, start: u32, end: u32) -> Span {
        Span { start: start.saturating_sub(self.before), end: end.saturating_sub(self.before) }
    }

    pub fn name(&mut self, text: &'a str) -> Name {
        self.names.entry(text).or_insert_with(|| Name::from(text)).clone()
    }

    pub fn name_of(&mut self, id: Id) -> Name {
        let text = self.text(id);
        self.name(text)
    }

    pub fn declare(&mut self, id: Id) {
        let text = self.text(id);
        self.variables.insert(text);
    }

    /// Runs `go` one level deeper, or notes that `id` lies too deep.
    pub fn deeper<T>(&mut self, id: Id, go: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.depth >= MAX_DEPTH {
            self.note_too_deep(id);
            return None;
        }
        self.depth += 1;
        let result = go(self);
        self.depth -= 1;
        Some(result)
    }

    pub fn note_too_deep(&mut self, id: Id) {
        if self.too_deep.is_none() {
            self.too_deep = Some(self.span(id));
        }
    }

    pub fn unreadable(&self, id: Id) -> Expr {
        Expr { kind: ExprKind::Unreadable, span: self.span(id) }
    }
}

/// A path of one plain name.
pub fn plain_path(name: Name) -> Path {
    Path { segments: vec![Segment { name, args: None }], global: false }
}
