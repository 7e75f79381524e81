//! Calls that are not followed: what they give back, and what they may have written.

use super::builder::Builder;
use super::calls::Arg;
use super::effects::{Effects, Member, Parts};
use super::facts::{self, Holds};
use super::names::Found;
use super::types::{Bound, Callable, Ty};
use super::values::{Ev, What};
use crate::graph::*;
use crate::program::{Name, Segment};
use crate::text::Span;
use crate::words::FunctionKind;
use std::collections::BTreeSet;

impl Builder<'_> {
    /// A call that is not followed: its result comes from the arguments, what they point to may have been written.
    pub fn call_without_body(
        &mut self,
        callable: &Callable,
        bounds: &[Bound],
        reach: Holds,
        this: Option<Ev>,
        list: &[Arg],
        span: Span,
    ) -> Ev {
        let name = self.frame_name(callable);
        let at = self.at(span);
        if reach.barrier {
            self.incomplete(at, format!("the call of `{name}` was not followed: the limit was reached"));
        }
        self.graph.multidimensional |= reach.multidimensional;
        if callable.class.is_none()
            && let Some(agrees) = self.words.varies(&name)
        {
            return self.varying(agrees, &name, span);
        }
        if self.answers_from_type(&callable.function.name, list) {
            return Ev::value(self.unknown(Vec::new(), span), Ty::Unknown);
        }
        let mut from = self.arg_values(list);
        from.extend(self.contents_of(&from.clone(), span));
        let effects = match (&this, &callable.class) {
            (Some(_), Some(class)) => Some(self.effects_on_this(callable, &class.clone())),
            _ => None,
        };
        if let Some(this) = this.clone() {
            match effects.as_deref() {
                Some(Effects { reads: Parts::Members(members), .. }) if this.is_place() => {
                    from.extend(self.members_by_name(&this, members, span));
                }
                _ => from.push(self.rvalue(&this, span)),
            }
        }
        if reach.varying && self.varies_itself(callable) {
            from.push(self.source(Source::Varying(name.clone()), span));
        }
        if reach.writes || !reach.barrier {
            self.clobber_args(list, &from, span);
            self.clobber_references(callable, list, &from, span);
            if let Some(this) = this
                && !callable.function.leaves_object
                && !self.has_const_twin(callable)
            {
                let written = effects.as_deref().map_or(&Parts::Whole, |effects| &effects.writes);
                for address in self.places_of(&this, written, span) {
                    self.emit(Op::Clobber { address, from: from.clone(), sure: false }, span);
                }
            }
        }
        let parent = self.scope_of_callable(callable);
        let scope = self.new_scope(Some(parent), callable.item);
        self.bind_template(scope, &callable.function.template, bounds);
        let result = self.resolve_in(scope, &callable.function.result);
        if result == Ty::Void {
            self.graph.unseen.push((at, name));
            return Ev::nothing();
        }
        let value = self.emit(Op::Unknown { from, unseen: Some(name) }, span);
        match result {
            Ty::Reference(pointee) => self.place_behind(value, &pointee),
            ty => Ev::value(value, ty),
        }
    }

    /// The class has the same method for constant objects: both look something up, and change nothing.
    fn has_const_twin(&mut self, callable: &Callable) -> bool {
        let Some(class) = callable.class.clone() else { return false };
        let method = Segment { name: callable.function.name.clone(), args: None };
        let is_twin =
            |one: &Callable| one.function.leaves_object && one.function.params.len() == callable.function.params.len();
        matches!(self.find_in_class(&class, &method), Some(Found::Functions(set)) if set.iter().any(is_twin))
    }

    /// The values of some members of an object.
    fn members_by_name(&mut self, this: &Ev, members: &BTreeSet<Member>, span: Span) -> Vec<Value> {
        let Ty::Class(class) = this.ty.value().clone() else { return Vec::new() };
        let fields = self.fields_of(&class);
        let mut values = Vec::new();
        let is_named = |field: &Name| members.iter().any(|member| member.name == *field);
        for (name, ty) in fields.into_iter().filter(|(name, _)| is_named(name)) {
            let member = self.member_of(this, &name, ty, span);
            values.push(match member.what {
                // Of an array its elements, not its address.
                What::Place(address) => self.load(address, member.is_volatile, span),
                _ => self.rvalue(&member, span),
            });
        }
        values
    }

    /// A word for what an object's type holds, asked of an object rather than of a number.
    pub fn answers_from_type(&self, name: &str, list: &[Arg]) -> bool {
        let is_plain_value =
            |arg: &Arg| matches!(arg.ty().value(), Ty::Int { .. } | Ty::Float { .. } | Ty::Bool | Ty::Pointer(_));
        self.words.function(name) == Some(FunctionKind::OfType) && !list.iter().any(is_plain_value)
    }

    /// The body, or that of a function which it calls and which shares its name with no other, speaks of the thread.
    /// Whatever else it may lead to by name alone is no evidence.
    fn varies_itself(&mut self, callable: &Callable) -> bool {
        let program = self.program;
        let own = facts::of_function(&callable.function, self.words);
        own.what.varying
            || own.calls.iter().any(|call| {
                let visible = program.visible(callable.item, &call.name);
                let mut meant =
                    visible.iter().filter(|id| facts::may_mean(program, callable.item, call, program.item(**id)));
                match (meant.next(), meant.next()) {
                    (Some(only), None) => program.facts(*only, self.words).what.varying,
                    _ => false,
                }
            })
    }

    /// What pointers and arrays among the arguments lead to may have been written.
    pub fn clobber_args(&mut self, list: &[Arg], from: &[Value], span: Span) {
        for arg in list {
            let Some(ev) = &arg.ev else { continue };
            let address = match (&ev.what, ev.ty.value()) {
                (What::Place(address), Ty::Array(..)) => *address,
                (What::Value(value), Ty::Pointer(pointee)) if !pointee.is_const => *value,
                (What::Place(_), Ty::Pointer(pointee)) if !pointee.is_const => {
                    let ev = ev.clone();
                    self.rvalue(&ev, arg.span)
                }
                _ => continue,
            };
            if self.is_own_memory(address) {
                self.emit(Op::Clobber { address, from: from.to_vec(), sure: false }, span);
            }
        }
    }

    /// What is passed by reference may have been written, too.
    fn clobber_references(&mut self, callable: &Callable, list: &[Arg], from: &[Value], span: Span) {
        let scope = self.scope_of_callable(callable);
        let function = callable.function.clone();
        for (param, arg) in function.params.iter().zip(list) {
            let Some(object @ Ev { what: What::Place(address), .. }) = &arg.ev else { continue };
            let by_reference = matches!(self.resolve_in(scope, &param.ty),
                Ty::Reference(pointee) if !pointee.is_const && !matches!(pointee.ty, Ty::Array(..) | Ty::Pointer(_)));
            if by_reference && self.is_own_memory(*address) {
                let written = self.written_through(&function, param, object);
                for address in self.places_of(object, &written, span) {
                    self.emit(Op::Clobber { address, from: from.to_vec(), sure: false }, span);
                }
            }
        }
    }

    /// The address leads to a variable of the program rather than to memory passed in.
    fn is_own_memory(&self, address: Value) -> bool {
        let mut at = address;
        for _ in 0..64 {
            match self.op(at) {
                Op::Address(_) => return true,
                Op::Element { base, .. } | Op::Member { base, .. } => at = *base,
                Op::Select { .. } | Op::Load { .. } => return true,
                _ => return false,
            }
        }
        false
    }
}
