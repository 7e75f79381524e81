//! Constructors and destructors: bases and members first, and what is destroyed where a scope is left.

use super::builder::{Builder, Cleanup};
use super::calls::Arg;
use super::types::{Callable, ClassTy, Ty};
use super::values::Ev;
use crate::graph::*;
use crate::program::*;
use crate::text::Span;
use std::sync::Arc;

/// Members of members up to which destructors are looked for.
const DEEP: usize = 4;
/// Elements of an array that are destroyed one by one: the others go the same way.
const DESTROYED: i64 = 4;

impl Builder<'_> {
    /// Runs the constructor that fits; `false` if the class has none in view.
    pub fn constructor(&mut self, address: Value, class: &Arc<ClassTy>, args: &[Expr], span: Span) -> bool {
        if self.constructors_of(class).is_empty() {
            return false;
        }
        let list = self.eval_args(args);
        if let [Arg { ev: Some(ev), .. }] = &list[..]
            && self.is_one_of(&ev.ty, class)
        {
            self.copy_to(address, &Ty::Class(class.clone()), ev, span);
            return true;
        }
        if !self.constructor_with(address, class, list.clone(), span) {
            let values: Vec<Ev> = list.iter().filter_map(|arg| arg.ev.clone()).collect();
            match &values[..] {
                [ev] if !ev.ty.is_known() => {
                    self.store_to(address, &Ty::Class(class.clone()), ev, span);
                }
                [] => {
                    self.default_bases(address, class, &[], span);
                    self.default_members(address, class, &[], span);
                }
                _ => {
                    let from = self.arg_values(&list);
                    self.emit(Op::Clobber { address, from, sure: false }, span);
                }
            }
        }
        true
    }

    /// The constructors of a class, those that it inherits (`using Base::Base;`) behind its own.
    pub fn constructors_of(&mut self, class: &Arc<ClassTy>) -> Vec<Callable> {
        let mut all = self.own_constructors(class);
        for base in self.bases_with_constructors(class) {
            all.extend(self.constructors_of(&base));
        }
        all
    }

    pub fn own_constructors(&mut self, class: &Arc<ClassTy>) -> Vec<Callable> {
        match class.class.name.clone() {
            Some(name) => self.methods_of(class, &name),
            None => Vec::new(),
        }
    }

    /// The bases whose constructors a class inherits.
    fn bases_with_constructors(&mut self, class: &Arc<ClassTy>) -> Vec<Arc<ClassTy>> {
        if class.class.usings.is_empty() {
            return Vec::new();
        }
        let tree = class.class.clone();
        let bases = self.bases_of(class);
        let is_meant = |path: &Path, base: &Ty| match (&path.segments[..], base) {
            ([.., before, last], Ty::Class(base)) => {
                last.name == before.name || base.class.name.as_ref() == Some(&last.name)
            }
            _ => false,
        };
        let named = tree.usings.iter().flat_map(|path| {
            let named = self.bases_named(class, path);
            named.into_iter().filter(move |base| is_meant(path, base))
        });
        let named: Vec<Ty> = named.collect();
        bases.into_iter().filter(|base| named.contains(&Ty::Class(base.clone()))).collect()
    }

    pub fn constructor_with(&mut self, address: Value, class: &Arc<ClassTy>, list: Vec<Arg>, span: Span) -> bool {
        let set = self.constructors_of(class);
        let best = self.best_of(&set, None, &list, &[]);
        let Some(one) = best.first().cloned() else { return false };
        self.construct_by(address, class, &one, list, span);
        true
    }

    /// Runs one of the constructors of a class. One that it inherits makes the base; the rest is as by default.
    fn construct_by(&mut self, address: Value, class: &Arc<ClassTy>, one: &Callable, list: Vec<Arg>, span: Span) {
        let mut heirs = self.bases_with_constructors(class);
        heirs.retain(|base| self.constructors_of(base).contains(one));
        match heirs.first() {
            Some(base) if one.class.as_ref() != Some(class) && self.descend(span) => {
                self.construct_by(address, base, one, list, span);
                self.default_bases(address, class, &heirs[..1], span);
                self.default_members(address, class, &[], span);
                self.ascend();
            }
            _ => {
                let this = Ev::value(address, Ty::pointer_to(Ty::Class(class.clone())));
                self.call_function(one, Some(this), list, &[], span);
            }
        }
    }

    /// Bases and members before a constructor's body.
    pub fn initialise_in_constructor(&mut self, address: Value, class: &Arc<ClassTy>, function: &Function) {
        let fields = self.fields_of(class);
        let mut set: Vec<Name> = Vec::new();
        let named: Vec<Arc<ClassTy>> = function
            .initialisers
            .iter()
            .filter(
                |(path, _)| !matches!(&path.segments[..], [one] if fields.iter().any(|(name, _)| *name == one.name)),
            )
            .filter_map(|(path, _)| match self.resolve_path(path) {
                Ty::Class(base) => Some(base),
                _ => None,
            })
            .collect();
        if !named.contains(class) {
            self.default_bases(address, class, &named, function.body.span);
        }
        for (path, args) in &function.initialisers {
            let Some(last) = path.segments.last() else { continue };
            let span = args.first().map_or(function.body.span, |arg| arg.span);
            if let [_] = &path.segments[..]
                && let Some((name, ty)) = self.own_field(class, &last.name)
            {
                let member = self.member_address(address, &name, span);
                set.push(name);
                match (&ty, &args[..]) {
                    (Ty::Reference(_), [one]) => self.initialise_member(member, &ty, one),
                    _ if ty.is_static() => {
                        for arg in args {
                            self.eval(arg);
                        }
                    }
                    _ => self.initialise_arguments(member, &ty, args, true, span),
                }
                continue;
            }
            if let Ty::Class(base) = self.resolve_path(path) {
                if base == *class {
                    // Delegates to another constructor, which sets the members.
                    self.constructor(address, class, args, span);
                    return;
                }
                self.initialise_arguments(address, &Ty::Class(base), args, true, span);
            }
        }
        self.default_members(address, class, &set, function.body.span);
    }

    /// Notes that the object is destroyed at the end of its scope, if that does anything.
    pub fn destroy_later(&mut self, address: Value, ty: &Ty, span: Span) {
        self.destroy_part_later(address, ty.value(), span, 0);
    }

    /// `p->~T()`, `delete p`
    pub fn destroy_now(&mut self, object: &Ev, span: Span) {
        let base = self.cleanups.len();
        let address = self.address_of(object, span);
        self.destroy_later(address, &object.ty.clone(), span);
        self.clean_up(base);
    }

    fn destroy_part_later(&mut self, address: Value, ty: &Ty, span: Span, depth: usize) {
        match ty {
            Ty::Class(class) => self.destroy_class_later(address, &class.clone(), span, depth),
            Ty::Array(of, extent) => self.destroy_elements_later(address, of, *extent, span, depth),
            other => {
                if let Some((of, extent)) = super::library::elements_of(other) {
                    self.destroy_elements_later(address, &of, extent, span, depth);
                }
            }
        }
    }

    fn destroy_elements_later(&mut self, address: Value, of: &Ty, extent: Option<i64>, span: Span, depth: usize) {
        if depth > DEEP || !self.is_destroyed(of, depth) {
            return;
        }
        for index in 0..extent.unwrap_or(1).min(DESTROYED) {
            let place = self.int(index, span);
            let element = self.element_address(address, place, span);
            self.destroy_part_later(element, of, span, depth + 1);
        }
    }

    fn destroy_class_later(&mut self, address: Value, class: &Arc<ClassTy>, span: Span, depth: usize) {
        if depth > DEEP {
            return;
        }
        for base in self.bases_of(class) {
            self.destroy_class_later(address, &base, span, depth + 1);
        }
        let tree = class.class.clone();
        for (index, member) in tree.members.iter().enumerate() {
            if member.storage.is_static {
                continue;
            }
            let ty = self.field_type(class, index);
            if self.is_destroyed(&ty, 0) {
                let cell = self.cell_of(class, &member.name);
                let place = self.member_address(address, &cell, span);
                self.destroy_part_later(place, &ty, span, depth + 1);
            }
        }
        if let Some(destructor) = self.destructor_of(class) {
            self.cleanups.push(Cleanup { address, class: class.clone(), destructor, span });
        }
    }

    /// Destroying a value of the type does something.
    fn is_destroyed(&mut self, ty: &Ty, depth: usize) -> bool {
        let (_, Ty::Class(class)) = super::library::dimensions(ty) else { return false };
        if depth > DEEP {
            return false;
        }
        if self.destructor_of(&class).is_some() {
            return true;
        }
        let of_members = (0..class.class.members.len()).map(|index| self.field_type(&class, index));
        let mut inner: Vec<Ty> = of_members.collect();
        inner.extend(self.bases_of(&class).into_iter().map(Ty::Class));
        inner.iter().any(|ty| self.is_destroyed(ty, depth + 1))
    }

    fn destructor_of(&mut self, class: &Arc<ClassTy>) -> Option<Callable> {
        let name = Name::from(format!("~{}", class.class.name.as_ref()?));
        let destructor = self.methods_of(class, &name).into_iter().next()?;
        let mut holds = self.reach_of(&destructor);
        self.join_called_members(&destructor, &mut holds);
        // What it writes through a member that is a reference reads like a variable of its own.
        let refers = class.class.members.iter().any(|member| matches!(member.ty.kind, TypeKind::Reference(_)));
        (holds.barrier || holds.writes || refers).then_some(destructor)
    }

    /// Destroys what was declared since, in reverse, and forgets it.
    pub fn clean_up(&mut self, base: usize) {
        self.run_cleanups(base);
        self.cleanups.truncate(base);
    }

    /// Destroys what was declared since; it stays declared, since other ways out come here as well.
    pub fn run_cleanups(&mut self, base: usize) {
        let pending: Vec<Cleanup> = self.cleanups[base.min(self.cleanups.len())..].to_vec();
        let kept = self.cleanups.clone();
        let given_away = self.activation().given_away;
        for cleanup in pending.into_iter().rev() {
            if matches!(self.op(cleanup.address), Op::Address(object) if Some(*object) == given_away) {
                continue;
            }
            let this = Ev::value(cleanup.address, Ty::pointer_to(Ty::Class(cleanup.class.clone())));
            self.call_function(
                &cleanup.destructor,
                Some(this),
                Vec::new(),
                super::expressions::NO_BOUNDS,
                cleanup.span,
            );
        }
        self.cleanups = kept;
    }
}

/// A value of this type becomes an object of a class through a constructor.
pub fn converts(ty: &Ty) -> bool {
    !matches!(ty.value(), Ty::Class(_) | Ty::Named(_) | Ty::Unknown | Ty::Param(_) | Ty::Void)
}
