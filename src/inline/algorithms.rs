//! Functions of the standard library (`std`, `cuda::std`, `thrust`) that call what they are given: a closure, a functor, a
//! function. What is called is followed like any call.

use super::builder::Builder;
use super::calls::Arg;
use super::library::{has_parts, part_name, part_type};
use super::names::Found;
use super::types::{Bound, Callable, INT, Ty};
use super::values::{Ev, What};
use crate::graph::Value;
use crate::program::*;
use crate::text::Span;
use crate::words::FunctionKind;

/// The member of a variant that tells which of its alternatives it holds; they are called by their numbers.
const INDEX: &str = "index";

/// A call with variants of more combinations of alternatives is not followed.
const COMBINATIONS: usize = 16;

impl Builder<'_> {
    /// `None` if what it is given is nothing that could be called.
    pub fn call_algorithm(&mut self, kind: FunctionKind, list: &[Arg], span: Span) -> Option<Ev> {
        let position = match kind {
            FunctionKind::ForEach | FunctionKind::ForEachOf => list.len().checked_sub(1)?,
            _ => 0,
        };
        let function = list.get(position)?.ev.clone()?;
        if !self.is_callable(&function.ty) {
            return None;
        }
        match (kind, list) {
            (FunctionKind::Invoke, [_, rest @ ..]) => self.invoke(function, rest.to_vec(), span),
            (FunctionKind::Apply, [_, tuple]) => {
                let parts = self.parts_as_arguments(&function, tuple, span);
                Some(self.call_evaluated(function, parts, span))
            }
            (FunctionKind::ForEach, [.., first, last, _]) => {
                self.for_each(&function, first.ev.clone()?, last.ev.clone()?, span)
            }
            (FunctionKind::ForEachOf, [.., first, count, _]) => {
                let (first, count) = (first.ev.clone()?, count.ev.clone()?);
                let last = self.moved_on(&first, &count, span);
                self.for_each(&function, first, last, span)
            }
            (FunctionKind::Visit, [_, variants @ ..]) => self.visit_variants(&function, variants, span),
            (FunctionKind::Reference, [_]) => Some(self.reference_to(function, span)),
            _ => None,
        }
    }

    fn is_callable(&mut self, ty: &Ty) -> bool {
        match ty.value() {
            Ty::Closure(_) | Ty::Functions(_) | Ty::FunctionPointer => true,
            Ty::Class(class) => {
                let class = class.clone();
                !self.call_operators_of(&class).is_empty()
            }
            Ty::Pointer(pointee) => match &pointee.ty {
                Ty::Pointer(_) => false,
                target => self.is_callable(&target.clone()),
            },
            _ => false,
        }
    }

    fn call_operators_of(&mut self, class: &std::sync::Arc<super::types::ClassTy>) -> Vec<Callable> {
        match self.find_in_class(class, &Segment { name: Name::from("operator()"), args: None }) {
            Some(Found::Functions(set)) => set,
            _ => Vec::new(),
        }
    }

    /// `invoke(f, a, b)`, `invoke(&Class::method, object, a)`
    fn invoke(&mut self, function: Ev, list: Vec<Arg>, span: Span) -> Option<Ev> {
        if let Ty::Functions(set) = function.ty.value()
            && self.function_sets[*set as usize].iter().any(|one| one.class.is_some() && !one.is_static)
            && let Some((object, rest)) = list.split_first()
        {
            let (set, on) = (*set, self.rvalue(&function, span));
            let object = object.ev.clone()?;
            let object = match object.ty.value() {
                Ty::Pointer(_) => self.dereference(&object, span),
                _ => object,
            };
            return Some(self.call_pointer(set, on, Some(object), rest.to_vec(), span));
        }
        Some(self.call_evaluated(function, list, span))
    }

    /// The parts of a tuple; of one whose parts are not known, as many unknown values as the function takes.
    fn parts_as_arguments(&mut self, function: &Ev, tuple: &Arg, span: Span) -> Vec<Arg<'static>> {
        let Some(ev) = tuple.ev.clone() else { return Vec::new() };
        match ev.ty.value() {
            Ty::Named(named) if has_parts(&ev.ty) => {
                let parts = (0..named.args.len()).map(|index| {
                    let part = self.member_of(&ev, &part_name(&ev.ty, index), part_type(&ev.ty, index), span);
                    Arg::made(part, span)
                });
                parts.collect()
            }
            _ => {
                let whole = self.rvalue(&ev, span);
                self.unknown_arguments(function, whole, span)
            }
        }
    }

    fn unknown_arguments(&mut self, function: &Ev, from: Value, span: Span) -> Vec<Arg<'static>> {
        let params = match function.ty.value().clone() {
            Ty::Closure(number) => self.closures[number as usize].lambda.function.params.clone(),
            Ty::Functions(set) => {
                self.function_sets[set as usize].first().map_or(Vec::new(), |one| one.function.params.clone())
            }
            Ty::Class(class) => {
                self.call_operators_of(&class).first().map_or(Vec::new(), |one| one.function.params.clone())
            }
            _ => Vec::new(),
        };
        let plain = params.iter().filter(|param| !param.pack);
        plain.map(|_| Arg::made(Ev::value(self.unknown(vec![from], span), Ty::Unknown), span)).collect()
    }

    fn for_each(&mut self, function: &Ev, first: Ev, last: Ev, span: Span) -> Option<Ev> {
        let at = self.settle("the iterator", first, span);
        let end = self.settle("the end", last, span);
        self.loop_between(&at, &end, (span, span), &mut |builder, element, _, _| {
            builder.call_evaluated(function.clone(), vec![Arg::made(element, span)], span);
        });
        Some(function.clone())
    }

    /// An iterator so many elements on.
    fn moved_on(&mut self, first: &Ev, count: &Ev, span: Span) -> Ev {
        let (from, by) = (self.rvalue(first, span), self.rvalue(count, span));
        let ty = super::templates::decay(&first.ty);
        let value = match &ty {
            Ty::Pointer(_) => self.element_address(from, by, span),
            Ty::Int { .. } => self.binary(BinaryOp::Add, from, by, &INT, span),
            _ => self.unknown(vec![from, by], span),
        };
        Ev::value(value, ty)
    }

    /// One of the alternatives, or of their combinations: which, each variant's value tells.
    fn visit_variants(&mut self, function: &Ev, variants: &[Arg], span: Span) -> Option<Ev> {
        let mut combinations: Vec<Vec<Arg>> = vec![Vec::new()];
        let mut values = Vec::new();
        for variant in variants {
            let ev = variant.ev.clone()?;
            let Ty::Named(named) = ev.ty.value().clone() else { return None };
            if &*named.name != "variant" || combinations.len() * named.args.len() > COMBINATIONS {
                return None;
            }
            let index = self.member_of(&ev, &Name::from(INDEX), INT, span);
            values.push(self.rvalue(&index, span));
            let mut longer = Vec::new();
            for (index, alternative) in named.args.iter().enumerate() {
                let Bound::Type(ty) = alternative else { return None };
                let held = match &ev.what {
                    What::Place(_) => self.member_of(&ev, &Name::from(index.to_string()), ty.clone(), span),
                    _ => Ev::value(self.unknown(values.clone(), span), ty.clone()),
                };
                for so_far in &combinations {
                    longer.push(so_far.iter().cloned().chain([Arg::made(held.clone(), span)]).collect());
                }
            }
            combinations = longer;
        }
        if combinations.is_empty() || variants.is_empty() {
            return None;
        }
        let blocks = self.ways_by(values, combinations.len(), span);
        Some(self.each_way(blocks, span, &mut |builder, index| {
            builder.call_evaluated(function.clone(), combinations[index].clone(), span)
        }))
    }

    /// Makes a variant hold a value of one of its alternatives.
    pub fn store_alternative(&mut self, variant: Value, index: usize, of: &Ty, ev: &Ev, span: Span) {
        let number = self.int(index as i64, span);
        let tells = self.member_address(variant, &Name::from(INDEX), span);
        self.store(tells, number, span);
        let holds = self.member_address(variant, &Name::from(index.to_string()), span);
        self.store_to(holds, of, ev, span);
    }

    /// What stands for `std::ref(f)`: the closure or function itself, of an object a pointer to it.
    fn reference_to(&mut self, function: Ev, span: Span) -> Ev {
        match function.ty.value() {
            Ty::Class(_) => {
                let ty = function.ty.value().clone();
                Ev::value(self.address_of(&function, span), Ty::pointer_to(ty))
            }
            _ => function,
        }
    }
}

/// The number and type of the alternative that a value of type `of` makes a variant hold.
pub fn alternative_of(variant: &Ty, of: &Ty) -> Option<(usize, Ty)> {
    let Ty::Named(named) = variant.value() else { return None };
    if &*named.name != "variant" {
        return None;
    }
    let is_it = |arg: &Bound| matches!(arg, Bound::Type(ty) if ty == of.value() && ty.is_known());
    named.args.iter().position(is_it).map(|index| (index, of.value().clone()))
}
