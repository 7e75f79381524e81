//! What a body does to an object that it is given, as its text says: for calls that are not followed.
//!
//! ```text
//!     void add(int value) { total += value; if (value > limit) notify(); }     // reads `total`, `limit`; writes `total`
//! ```
//!
//! What it hands on by a name, or takes the address of, it may write. What it does through pointers is not asked.

use super::builder::Builder;
use super::names::Found;
use super::types::{Callable, ClassTy, Ty};
use super::values::{Ev, What};
use super::visit::{Node, visit};
use crate::graph::Value;
use crate::program::*;
use crate::text::Span;
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

/// Methods of one class that wait to be looked into for one call.
const METHODS: usize = 16;

/// Some members of an object, or all of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Parts {
    Whole,
    Members(BTreeSet<Member>),
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Member {
    pub name: Name,
    /// `rows[i]`, `*rows`, `rows->count`: of a pointer, what it leads to.
    pub behind: bool,
}

impl Parts {
    fn add(&mut self, part: Part) {
        match (part, &mut *self) {
            (Part::Whole, _) => *self = Parts::Whole,
            (Part::Member(member), Parts::Members(members)) => _ = members.insert(member),
            (Part::Member(_), Parts::Whole) => {}
        }
    }

    fn join(&mut self, other: Parts) {
        match other {
            Parts::Whole => *self = Parts::Whole,
            Parts::Members(members) => members.into_iter().for_each(|member| self.add(Part::Member(member))),
        }
    }
}

impl Default for Parts {
    fn default() -> Parts {
        Parts::Members(BTreeSet::new())
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    pub reads: Parts,
    pub writes: Parts,
}

impl Effects {
    fn of_all() -> Effects {
        Effects { reads: Parts::Whole, writes: Parts::Whole }
    }
}

enum Part {
    Whole,
    Member(Member),
}

/// How a body names the object.
enum Object<'a> {
    /// It is that of the method, whose class has these members.
    This(&'a FxHashSet<Name>),
    Param(&'a Name),
}

struct Look<'a> {
    object: Object<'a>,
    locals: FxHashSet<&'a str>,
    effects: Effects,
    /// Methods, or functors among its members, that it may call on the object.
    calls: BTreeSet<Name>,
}

impl<'a> Look<'a> {
    fn at(object: Object<'a>, function: &'a Function) -> Look<'a> {
        let mut locals: FxHashSet<&str> = function.params.iter().filter_map(|param| param.name.as_deref()).collect();
        visit(vec![Node::Stmt(&function.body)], |node| {
            if let Node::Declaration(declaration) = node {
                locals.insert(&declaration.name);
            }
            true
        });
        let mut look = Look { object, locals, effects: Effects::default(), calls: BTreeSet::new() };
        visit(vec![Node::Stmt(&function.body)], |node| look.node(node));
        if function.unreadable.is_some() || super::declare::is_reference(&function.result) {
            look.effects = Effects::of_all();
        }
        look
    }

    /// The part of the object that an expression names, if it names one.
    fn part(&self, expr: &Expr) -> Option<Part> {
        let mut members: Vec<Member> = Vec::new();
        let mut behind = false;
        let mut at = expr;
        loop {
            let leads_on;
            (at, leads_on) = match &at.kind {
                ExprKind::Member { object, arrow, member } => {
                    members.push(Member { name: member.segments.last()?.name.clone(), behind });
                    (object, *arrow)
                }
                ExprKind::Index(inner, _) | ExprKind::Unary(UnaryOp::Deref, inner) => (inner, true),
                ExprKind::Expansion(inner) => (inner, behind),
                ExprKind::Cast(ty, inner) if super::declare::is_reference(ty) => (inner, behind),
                ExprKind::Name(path) => {
                    let [only] = &path.segments[..] else { return None };
                    let outermost = match &self.object {
                        Object::Param(name) if only.name == **name => members.pop(),
                        Object::This(fields) if fields.contains(&only.name) && !self.locals.contains(&*only.name) => {
                            Some(Member { name: only.name.clone(), behind })
                        }
                        _ => return None,
                    };
                    return Some(outermost.map_or(Part::Whole, Part::Member));
                }
                ExprKind::This if matches!(self.object, Object::This(_)) => {
                    return Some(members.pop().map_or(Part::Whole, Part::Member));
                }
                _ => return None,
            };
            behind = leads_on;
        }
    }

    fn written(&mut self, expr: &Expr) {
        if let ExprKind::Conditional(_, yes, no) = &expr.kind {
            self.written(yes);
            self.written(no);
        }
        if let Some(part) = self.part(expr) {
            self.effects.writes.add(part);
        }
    }

    /// Notes what a node does; whether to look inside.
    fn node(&mut self, node: Node) -> bool {
        match node {
            Node::Expr(expr) => return self.expression(expr),
            Node::Stmt(Stmt { kind: StmtKind::RangeFor { variable, range, .. }, .. }) if may_write(&variable.ty) => {
                self.written(range);
            }
            Node::Stmt(Stmt { kind: StmtKind::Unreadable, .. }) => self.effects = Effects::of_all(),
            Node::Declaration(Declaration { ty, init: Init::Expr(value), .. }) if may_write(ty) => self.written(value),
            Node::Declaration(Declaration { init: Init::Arguments { args, .. }, .. }) => {
                args.iter().for_each(|arg| self.written(arg));
            }
            Node::Asm(asm) => asm.outputs.iter().for_each(|(_, operand)| self.written(operand)),
            _ => {}
        }
        true
    }

    fn expression(&mut self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Assign(_, target, _) | ExprKind::Increment { target, .. } => self.written(target),
            ExprKind::Unary(UnaryOp::AddressOf, inner) => self.written(inner),
            ExprKind::Binary(BinaryOp::Shl | BinaryOp::Shr, stream, _) => self.written(stream),
            ExprKind::Construct(_, args) => args.iter().for_each(|arg| self.written(arg)),
            ExprKind::InitList(list) => list.iter().for_each(|(_, value)| self.written(value)),
            ExprKind::Call { callee, args } => {
                args.iter().for_each(|arg| self.written(arg));
                match &callee.kind {
                    ExprKind::Member { object, member, .. } => match self.part(object) {
                        Some(Part::Whole) => {
                            self.calls.extend(member.segments.last().map(|last| last.name.clone()));
                        }
                        Some(part) => self.effects.writes.add(part),
                        None => {}
                    },
                    ExprKind::Name(path) if path.segments.len() == 1 => {
                        if matches!(self.object, Object::This(_)) {
                            self.calls.insert(path.segments[0].name.clone());
                        }
                        self.written(callee);
                    }
                    _ => {}
                }
            }
            ExprKind::Unreadable => self.effects = Effects::of_all(),
            ExprKind::Name(_) | ExprKind::Member { .. } | ExprKind::This => {
                if let Some(part) = self.part(expr) {
                    self.effects.reads.add(part);
                    return false;
                }
            }
            _ => {}
        }
        true
    }
}

/// A reference through which the object may be written.
pub fn may_write(ty: &Type) -> bool {
    matches!(&ty.kind, TypeKind::Reference(inner) if !inner.is_const)
}

impl Builder<'_> {
    /// What a method may do to its own object, through its other methods, too.
    pub fn effects_on_this(&mut self, callable: &Callable, class: &Arc<ClassTy>) -> Rc<Effects> {
        let key = (Arc::as_ptr(&callable.function) as usize, class.item);
        if let Some(known) = self.memo.effects.get(&key) {
            return known.clone();
        }
        let found = Rc::new(self.search_effects(callable, class));
        self.memo.effects.insert(key, found.clone());
        found
    }

    fn search_effects(&mut self, callable: &Callable, class: &Arc<ClassTy>) -> Effects {
        // Of a base that is not known neither its members nor its methods are.
        if self.bases_of(class).len() < class.class.bases.len() || !callable.function.initialisers.is_empty() {
            return Effects::of_all();
        }
        let fields: FxHashSet<Name> = self.fields_of(class).into_iter().map(|(name, _)| name).collect();
        if fields.iter().any(is_of_derived) {
            return Effects::of_all();
        }
        let mut effects = Effects::default();
        let mut seen: FxHashSet<Name> = FxHashSet::default();
        let mut functions = vec![callable.function.clone()];
        while let Some(function) = functions.pop() {
            let look = Look::at(Object::This(&fields), &function);
            effects.reads.join(look.effects.reads);
            effects.writes.join(look.effects.writes);
            for name in look.calls {
                let method = Segment { name: name.clone(), args: None };
                if !seen.insert(name) {
                    continue;
                }
                if let Some(Found::Functions(set)) = self.find_in_class(class, &method) {
                    functions.extend(set.into_iter().filter(|one| !one.is_static).map(|one| one.function));
                }
            }
            if functions.len() > METHODS {
                return Effects::of_all();
            }
        }
        effects
    }

    /// Places that a write of these parts of an object hits: its own; behind members that are references or pointers
    /// written through, others.
    pub fn places_of(&mut self, object: &Ev, parts: &Parts, span: Span) -> Vec<Value> {
        let What::Place(address) = object.what else { return Vec::new() };
        let Parts::Members(members) = parts else { return vec![address] };
        let fields = match object.ty.value().clone() {
            Ty::Class(class) => self.fields_of(&class),
            _ => Vec::new(),
        };
        let mut places = Vec::new();
        for Member { name, behind } in members {
            let ty = fields.iter().find(|(field, _)| field == name).map_or(Ty::Unknown, |(_, ty)| ty.clone());
            let is_pointer = matches!(ty, Ty::Pointer(_));
            let member = self.member_of(object, name, ty, span);
            match member.what {
                What::Place(_) if *behind && is_pointer => places.push(self.rvalue(&member, span)),
                What::Place(place) => places.push(place),
                _ => {}
            }
        }
        places
    }

    /// What a function may write of the object that a parameter stands for.
    pub fn written_through(&mut self, function: &Function, param: &Param, object: &Ev) -> Parts {
        let Some(name) = &param.name else { return Parts::default() };
        let look = Look::at(Object::Param(name), function);
        let mut written = look.effects.writes;
        if look.calls.is_empty() || written == Parts::Whole {
            return written;
        }
        let Ty::Class(class) = object.ty.value().clone() else { return Parts::Whole };
        let fields = self.fields_of(&class);
        if fields.iter().any(|(field, _)| is_of_derived(field)) {
            return Parts::Whole;
        }
        for name in look.calls {
            if fields.iter().any(|(field, _)| *field == name) {
                written.add(Part::Member(Member { name, behind: false }));
                continue;
            }
            let Some(Found::Functions(set)) = self.find_in_class(&class, &Segment { name, args: None }) else {
                return Parts::Whole;
            };
            for method in set.iter().filter(|one| !one.is_static && !one.function.leaves_object) {
                let effects = self.effects_on_this(method, &class);
                written.join(effects.writes.clone());
            }
        }
        written
    }
}

/// A member that goes by its class, too: its name alone does not tell which one is meant.
fn is_of_derived(cell: &Name) -> bool {
    cell.contains("::")
}
