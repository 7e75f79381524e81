//! What a function's own body holds, and what its calls may mean by name and visibility alone.

use super::effects::may_write;
use super::expressions::operator_in;
use super::program::{Item, ItemKind, Program};
use super::visit::{Node, visit};
use crate::graph::ItemId;
use crate::program::*;
use crate::words::{SourceKind, Words};
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// What the body itself says.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// What it may call, constructors by the class's name.
    pub calls: Vec<Call>,
    /// The functions that its operators call where an operand is an object.
    pub operators: Vec<&'static str>,
    pub what: Holds,
    /// Expressions and statements.
    pub size: u32,
}

/// A call, or a name that a function may be passed on by.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Call {
    pub name: Name,
    pub by: By,
    /// So many arguments, where that can be counted.
    pub args: Option<u32>,
}

/// How a function is named, which says what kind of function can be meant.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum By {
    /// Its name alone: no member of a class that has nothing to do with the caller's.
    Name,
    /// With what stands before `::`.
    Path,
    /// On an object: a member.
    Object,
    /// A type is named: its constructors.
    Type,
}

impl By {
    fn path(path: &Path) -> By {
        if path.segments.len() > 1 { By::Path } else { By::Name }
    }
}

#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Holds {
    /// A barrier, or an instruction that ends the thread.
    pub barrier: bool,
    /// Values that differ between threads: the thread index, atomics, clocks, shared memory, unknown assembly.
    pub varying: bool,
    /// Writes to something that may outlive it.
    pub writes: bool,
    /// `.y` or `.z` of the thread index or the block's extent.
    pub multidimensional: bool,
}

impl Holds {
    pub fn join(&mut self, other: Holds) {
        self.barrier |= other.barrier;
        self.varying |= other.varying;
        self.writes |= other.writes;
        self.multidimensional |= other.multidimensional;
    }

    pub fn is_full(self) -> bool {
        self.barrier && self.varying && self.writes && self.multidimensional
    }
}

pub fn of_function(function: &Function, words: &Words) -> Facts {
    let mut facts = Facts::default();
    let mut todo: Vec<Node> = vec![Node::Stmt(&function.body)];
    let mut locals: FxHashSet<&str> = function.params.iter().filter_map(|param| param.name.as_deref()).collect();
    // What is written through these is written for others, too.
    let referring = function.params.iter().filter(|param| may_write(&param.ty));
    let mut references: FxHashSet<&str> = referring.filter_map(|param| param.name.as_deref()).collect();
    for (base, args) in &function.initialisers {
        if let Some(last) = base.segments.last() {
            facts.calls.push(Call { name: last.name.clone(), by: By::Type, args: None });
        }
        todo.extend(args.iter().map(Node::Expr));
    }
    visit(todo.clone(), |node| {
        match node {
            Node::Declaration(declaration) => {
                locals.insert(&declaration.name);
                if may_write(&declaration.ty) {
                    references.insert(&declaration.name);
                }
            }
            Node::Expr(Expr { kind: ExprKind::Lambda(lambda), .. }) => {
                locals.extend(lambda.function.params.iter().filter_map(|param| param.name.as_deref()));
                locals.extend(lambda.captures.iter().map(|(name, ..)| &**name));
            }
            _ => {}
        }
        true
    });
    let is_own = |name: &str| locals.contains(name) && !references.contains(name);
    visit(todo.clone(), |node| {
        if let Node::Expr(Expr { kind: ExprKind::Assign(_, target, _) | ExprKind::Increment { target, .. }, .. }) = node
            && let ExprKind::Name(path) = &target.kind
        {
            facts.what.writes |= !matches!(&path.segments[..], [only] if is_own(&only.name));
        }
        !facts.what.writes
    });
    gather(todo, &locals, words, &mut facts);
    facts
}

/// Facts of a piece of a body.
pub fn of_expr(expr: &Expr, words: &Words) -> Facts {
    let mut facts = Facts::default();
    gather(vec![Node::Expr(expr)], &FxHashSet::default(), words, &mut facts);
    facts
}

fn gather(todo: Vec<Node>, locals: &FxHashSet<&str>, words: &Words, facts: &mut Facts) {
    let mut calls: FxHashSet<Call> = FxHashSet::default();
    let mut what = facts.what;
    let mut size = 0;
    visit(todo, |node| {
        size += 1;
        match node {
            Node::Expr(expr) => {
                if let Some(operator) = operator_in(expr)
                    && !facts.operators.contains(&operator)
                {
                    facts.operators.push(operator);
                }
                look(expr, locals, words, &mut what, &mut calls);
            }
            Node::Declaration(declaration) if declaration.storage.shared => {
                what.varying = true;
            }
            Node::Type(Type { kind: TypeKind::Named(path), .. }) => {
                library(path, words, &mut what);
                if let Some(last) = path.segments.last() {
                    calls.insert(Call { name: last.name.clone(), by: By::Type, args: None });
                }
            }
            Node::Asm(asm) => {
                let mentions = |word: &str| asm.text.contains(word);
                what.barrier |= super::ptx_text::waits(&asm.text);
                what.varying = true;
                what.writes |= mentions("st.") || mentions("red.") || mentions("atom") || mentions("cp.");
                what.multidimensional |= mentions("tid.y") || mentions("tid.z");
            }
            _ => {}
        }
        true
    });
    let mut calls: Vec<Call> = calls.into_iter().collect();
    calls.sort();
    facts.calls.extend(calls);
    facts.what = what;
    facts.size += size;
}

fn look(expr: &Expr, locals: &FxHashSet<&str>, words: &Words, what: &mut Holds, calls: &mut FxHashSet<Call>) {
    match &expr.kind {
        ExprKind::Name(path) => {
            library(path, words, what);
            let Some(last) = path.segments.last() else { return };
            if matches!(words.source(&last.name), Some(SourceKind::ThreadIdx)) {
                what.varying = true;
            }
            // A function may be passed on by name.
            if path.segments.len() > 1 || !locals.contains(&*last.name) {
                calls.insert(Call { name: last.name.clone(), by: By::path(path), args: None });
            }
        }
        ExprKind::Call { callee, args } => {
            let count = !args.iter().any(|arg| matches!(arg.kind, ExprKind::Expansion(_)));
            let count = count.then_some(args.len() as u32);
            let (name, by) = match &callee.kind {
                ExprKind::Name(path) => (path.segments.last(), By::path(path)),
                ExprKind::Member { member, .. } => (member.segments.last(), By::Object),
                _ => (None, By::Object),
            };
            // A functor or a closure: what it holds is known where it is passed.
            let is_value = match &callee.kind {
                ExprKind::Name(path) => path.segments.len() == 1 && locals.contains(&*path.segments[0].name),
                ExprKind::Member { .. } => false,
                _ => true,
            };
            let Some(name) = name.map(|segment| &segment.name) else { return };
            word(name, words, what);
            if waits(callee, name, words) {
                what.barrier = true;
                what.varying = true;
            }
            if !is_value {
                calls.insert(Call { name: name.clone(), by, args: count });
            }
        }
        ExprKind::Member { object, member, .. } => {
            if let (ExprKind::Name(path), Some(member)) = (&object.kind, member.segments.last()) {
                let source = path.segments.last().and_then(|segment| words.source(&segment.name));
                if matches!(source, Some(SourceKind::ThreadIdx | SourceKind::BlockDim)) {
                    what.multidimensional |= matches!(&*member.name, "y" | "z");
                }
            }
        }
        ExprKind::Assign(_, target, _) | ExprKind::Increment { target, .. }
            if !matches!(&target.kind, ExprKind::Name(_)) =>
        {
            what.writes = true;
        }
        _ => {}
    }
}

/// A class whose methods are collectives is named.
fn library(path: &Path, words: &Words, what: &mut Holds) {
    if path.segments.iter().any(|segment| words.library(&segment.name).is_some()) {
        what.barrier = true;
        what.varying = true;
    }
}

/// The call may be one of a barrier's forms.
fn waits(callee: &Expr, name: &str, words: &Words) -> bool {
    match &callee.kind {
        ExprKind::Name(path) => {
            let before = path.segments.len().checked_sub(2).map(|index| &*path.segments[index].name);
            let of_group = |on: &[String]| !on.is_empty();
            let in_groups = matches!(before, Some("cg" | "cooperative_groups")) || name == "sync";
            words.barrier(name).iter().any(|row| !of_group(&row.on) || in_groups)
                || words.vote_spelled(name).is_some()
                || words.barrier_method(name).iter().any(|row| row.on.iter().any(|on| Some(on.as_str()) == before))
        }
        // `Reduce(temp).Sum(x)`, whatever `Reduce` stands for.
        ExprKind::Member { object, .. } if matches!(object.kind, ExprKind::Call { .. } | ExprKind::Construct(..)) => {
            name.starts_with(char::is_uppercase) || !words.barrier_method(name).is_empty()
        }
        ExprKind::Member { .. } => !words.barrier_method(name).is_empty(),
        _ => false,
    }
}

fn word(name: &str, words: &Words, what: &mut Holds) {
    if words.is_atomic(name) || words.is_atomic_method(name) {
        what.varying = true;
        what.writes = true;
    }
    if words.varies(name).is_some()
        || words.group_maker(name).is_some()
        || name == "thread_rank"
        || name == "__activemask"
    {
        what.varying = true;
    }
    if matches!(words.stop(name), Some(crate::words::Stop::Exit)) {
        what.barrier = true;
    }
}

/// Whether the call, in the body of `from`, may mean this function.
pub fn may_mean(program: &Program, from: ItemId, call: &Call, item: &Item) -> bool {
    let constructs = || item.class.is_some_and(|class| program.item(class).name == item.name);
    matches!(item.kind, ItemKind::Function)
        && item.has_body
        && !item.is_kernel
        && match call.by {
            By::Object => item.class.is_some(),
            By::Path => true,
            By::Type => constructs(),
            By::Name => match (item.class, program.item(from).class) {
                (None, _) => true,
                (Some(owner), Some(class)) => constructs() || program.is_of_family(class, owner),
                (Some(_), None) => constructs(),
            },
        }
        && call.args.is_none_or(|count| count <= item.params.1 && (item.params.0 <= count || item.class.is_some()))
}

impl Program<'_> {
    /// Whether a class's methods may call those of another one, or of one with its name, by name alone: its own, those of
    /// the classes round it, of its bases, or of any class if a base's name stands for an open type.
    fn is_of_family(&self, class: ItemId, owner: ItemId) -> bool {
        if class == owner {
            return true;
        }
        let known = self.families.lock().ok().and_then(|known| known.get(&class).cloned());
        let family = known.unwrap_or_else(|| {
            let family = Arc::new(self.family(class));
            if let Ok(mut known) = self.families.lock() {
                known.insert(class, family.clone());
            }
            family
        });
        family.as_ref().as_ref().is_none_or(|names| names.contains(&self.item(owner).name))
    }

    /// The names of a class, of those round it and of its bases; `None` if they are not all known.
    fn family(&self, class: ItemId) -> Option<FxHashSet<Name>> {
        const MOST: usize = 64;
        let mut names: FxHashSet<Name> = FxHashSet::default();
        let mut todo = vec![class];
        while let Some(class) = todo.pop() {
            if !names.insert(self.item(class).name.clone()) {
                continue;
            }
            if names.len() > MOST {
                return None;
            }
            todo.extend(self.item(class).class);
            for base in self.class(class).map_or(&[][..], |tree| &tree.bases) {
                let last = base.segments.last()?;
                let visible = self.visible(class, &last.name);
                let mut bases = visible.iter().filter(|id| self.item(**id).kind == ItemKind::Class).peekable();
                bases.peek()?;
                todo.extend(bases);
            }
        }
        Some(names)
    }
}
