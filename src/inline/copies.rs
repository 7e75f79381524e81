//! Copies and moves of objects: by the constructors and assignments of their classes, member by member where these are implicit.

use super::builder::Builder;
use super::calls::Arg;
use super::initialise::ZEROED;
use super::types::{Callable, ClassTy, Ty};
use super::values::{Category, Ev, What};
use crate::graph::*;
use crate::program::*;
use crate::text::Span;
use std::sync::Arc;

/// Bases and members of members up to which own constructors are looked for.
const DEEP: usize = 6;

/// Constructors, or assignments.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Copying {
    Making,
    Assigning,
}

impl Builder<'_> {
    /// Begins an object of type `ty` as a copy of a value, or as the value itself where it was made for this.
    pub fn copy_to(&mut self, address: Value, ty: &Ty, ev: &Ev, span: Span) {
        if !self.copy_by_class(Copying::Making, address, ty, ev, span) {
            self.store_to(address, ty, ev, span);
        }
    }

    /// Copies by what classes say about it; `false` where nobody wrote anything, or nothing is copied.
    pub fn copy_by_class(&mut self, how: Copying, to: Value, ty: &Ty, ev: &Ev, span: Span) -> bool {
        let What::Place(from) = ev.what else { return false };
        if ev.category == Category::Made && how == Copying::Making {
            return false;
        }
        match (ty.value(), ev.ty.value()) {
            (Ty::Class(class), Ty::Class(other)) => {
                let class = class.clone();
                if !self.copies_itself(how, &class, 0) || *other != class && !self.derives_from(other, &class, 0) {
                    return false;
                }
                self.copy_class(how, to, &class, ev, span);
                true
            }
            (Ty::Array(of, Some(extent)), Ty::Array(..)) if *extent <= ZEROED => {
                let Ty::Class(class) = &**of else { return false };
                if !self.copies_itself(how, &class.clone(), 0) {
                    return false;
                }
                for index in 0..*extent {
                    let place = self.int(index, span);
                    let (to, from) = (self.element_address(to, place, span), self.element_address(from, place, span));
                    let one = Ev { category: ev.category, ..Ev::place(from, (**of).clone()) };
                    self.copy_by_class(how, to, of, &one, span);
                }
                true
            }
            _ => false,
        }
    }

    fn copy_class(&mut self, how: Copying, to: Value, class: &Arc<ClassTy>, ev: &Ev, span: Span) {
        let own = self.copying_functions(how, class);
        let best = self.best_of(&own, None, &[Arg::made(ev.clone(), span)], &[]);
        if let Some(one) = best.first() {
            let this = Ev::value(to, Ty::pointer_to(Ty::Class(class.clone())));
            self.call_function(one, Some(this), vec![Arg::made(ev.clone(), span)], &[], span);
            return;
        }
        let What::Place(from) = ev.what else { return };
        if !self.descend(span) {
            return;
        }
        // The implicit one: all as it is, and over it what bases and members do.
        self.store_to(to, &Ty::Class(class.clone()), &Ev { ty: Ty::Class(class.clone()), ..ev.clone() }, span);
        for base in self.bases_of(class) {
            let ty = Ty::Class(base);
            self.copy_by_class(how, to, &ty, &Ev { ty: ty.clone(), ..ev.clone() }, span);
        }
        let tree = class.class.clone();
        for (index, member) in tree.members.iter().enumerate() {
            if member.storage.is_static || member.storage.is_constexpr {
                continue;
            }
            let ty = self.field_type(class, index);
            if !matches!(ty, Ty::Class(_) | Ty::Array(..)) {
                continue;
            }
            let cell = self.cell_of(class, &member.name);
            let (to, from) = (self.member_address(to, &cell, span), self.member_address(from, &cell, span));
            let part = Ev { category: ev.category, ..Ev::place(from, ty.clone()) };
            self.copy_by_class(how, to, &ty, &part, span);
        }
        self.ascend();
    }

    /// The class, or a base or member of it, says how it is copied.
    pub fn copies_itself(&mut self, how: Copying, class: &Arc<ClassTy>, depth: usize) -> bool {
        if depth > DEEP {
            return false;
        }
        if let Some(known) = self.memo.copying.get(&(how, class.clone())) {
            return *known;
        }
        let mut answer = !self.copying_functions(how, class).is_empty();
        for base in self.bases_of(class) {
            answer = answer || self.copies_itself(how, &base, depth + 1);
        }
        for index in 0..class.class.members.len() {
            if answer || class.class.members[index].storage.is_static {
                continue;
            }
            let mut ty = self.field_type(class, index);
            while let Ty::Array(of, _) = ty {
                ty = (*of).clone();
            }
            if let Ty::Class(inner) = ty {
                answer = self.copies_itself(how, &inner, depth + 1);
            }
        }
        self.memo.copying.insert((how, class.clone()), answer);
        answer
    }

    /// Constructors or assignments from the class itself that have a body.
    fn copying_functions(&mut self, how: Copying, class: &Arc<ClassTy>) -> Vec<Callable> {
        let set = match how {
            Copying::Making => self.own_constructors(class),
            Copying::Assigning => self.methods_of(class, &Name::from("operator=")),
        };
        set.into_iter().filter(|one| self.takes(one, 1) && self.takes_itself(one, how, class)).collect()
    }

    fn takes_itself(&mut self, callable: &Callable, how: Copying, class: &Arc<ClassTy>) -> bool {
        let Some(first) = callable.function.params.first() else { return false };
        if !callable.function.template.is_empty() || how == Copying::Making && !super::declare::is_reference(&first.ty)
        {
            return false;
        }
        let scope = self.scope_of_callable(callable);
        matches!(self.resolve_in(scope, &first.ty).value(), Ty::Class(own) if own == class)
    }

    pub fn derives_from(&mut self, class: &Arc<ClassTy>, base: &Arc<ClassTy>, depth: usize) -> bool {
        depth < DEEP && self.bases_of(class).iter().any(|one| one == base || self.derives_from(one, base, depth + 1))
    }

    /// Whether a value is one of the class, or of one that derives from it.
    pub fn is_one_of(&mut self, ty: &Ty, class: &Arc<ClassTy>) -> bool {
        match ty.value() {
            Ty::Class(other) => {
                let other = other.clone();
                other == *class || self.derives_from(&other, class, 0)
            }
            _ => false,
        }
    }
}
