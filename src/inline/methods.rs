//! Calls on objects: methods by the class of the object, overriders of virtual ones, operators and conversions.

use super::builder::Builder;
use super::calls::{Arg, CANDIDATES};
use super::names::Found;
use super::overloads::{Rank, fit, written_so};
use super::scope::Binding;
use super::types::{Bound, Callable, INT, Ty};
use super::values::{Ev, What};
use super::visit::{Node, visit};
use crate::graph::*;
use crate::program::*;
use crate::text::Span;
use std::sync::Arc;

/// The member in which an object remembers its class.
const CLASS: &str = "the class";

impl Builder<'_> {
    pub fn call_member(&mut self, object: &Expr, arrow: bool, member: &Path, args: &[Expr], span: Span) -> Ev {
        let Some(last) = member.segments.last() else { return Ev::nothing() };
        let base = self.eval_object(object, arrow);
        match base.ty.value().clone() {
            Ty::Group(group) => {
                let written = self.written_name(object, &last.name, span);
                self.call_group_method(&group, written, &last.name, args, span)
            }
            Ty::Library(library) => self.call_collective(&library, &base, &last.name, args, span),
            Ty::Class(class) => {
                // `object.Base::method()`
                if member.segments.len() > 1
                    && let Ty::Class(named) = self.qualifying_class(member)
                {
                    let base = Ev { ty: Ty::Class(named), ..base };
                    let list = self.eval_args(args);
                    return match self.call_method_of(&base, last, list.clone(), span, true) {
                        Some(result) => result,
                        None => self.call_unseen(&last.name, &list, span),
                    };
                }
                if let Some(Found::Field(..) | Found::StaticField(..)) = self.find_in_class(&class, last) {
                    let value = self.member_named(&base, last, span);
                    return self.call_value(value, args, span);
                }
                if last.name.starts_with('~') {
                    self.destroy_now(&base, span);
                    return Ev::nothing();
                }
                let list = self.eval_args(args);
                if self.words.is_users_barrier(&last.name)
                    && let Some(result) = self.call_word_method(&base, object, &last.name, &list, span)
                {
                    return result;
                }
                match self.call_method(&base, last, list.clone(), span) {
                    Some(result) => result,
                    None => self.call_unseen_method(&base, object, &last.name, &list, span),
                }
            }
            Ty::Closure(number) if &*last.name == "operator()" => {
                let explicit = self.written_arguments(last).unwrap_or_default();
                let list = self.eval_args(args);
                self.call_closure(number, list, &explicit, span)
            }
            // `p->~T()`, whatever `T` is
            _ if last.name.starts_with('~') => Ev::nothing(),
            _ => {
                let list = self.eval_args(args);
                if let Some(result) = self.call_array_method(&base, &last.name, &list, span) {
                    return result;
                }
                self.call_unseen_method(&base, object, &last.name, &list, span)
            }
        }
    }

    pub fn qualifying_class(&mut self, member: &Path) -> Ty {
        let mut path = member.clone();
        path.segments.pop();
        self.resolve_path(&path)
    }

    /// A method by name on an object of a class in view.
    pub fn call_method(&mut self, base: &Ev, segment: &Segment, list: Vec<Arg>, span: Span) -> Option<Ev> {
        self.call_method_of(base, segment, list, span, false)
    }

    fn call_method_of(&mut self, base: &Ev, segment: &Segment, list: Vec<Arg>, span: Span, exact: bool) -> Option<Ev> {
        let Ty::Class(class) = base.ty.value().clone() else { return None };
        let set = match self.find_in_class(&class, segment) {
            Some(Found::Functions(set)) => written_so(set, segment),
            _ => Vec::new(),
        };
        let explicit = self.written_arguments(segment).unwrap_or_default();
        match exact {
            true if set.is_empty() => None,
            true => Some(self.call_set(&set, Some(base.clone()), list, &explicit, &segment.name, span)),
            false => self.call_on(base, &segment.name, &set, list, &explicit, span),
        }
    }

    /// One of the methods of a name on an object: of a virtual one what the object's own class has for it.
    pub fn call_on(
        &mut self,
        base: &Ev,
        name: &Name,
        set: &[Callable],
        list: Vec<Arg>,
        explicit: &[Bound],
        span: Span,
    ) -> Option<Ev> {
        if let Ty::Class(class) = base.ty.value().clone()
            && self.is_virtual(&class, name, 0)
        {
            if let Some(dynamic) = self.dynamic_class(base) {
                let own = Ev { ty: Ty::Class(dynamic.clone()), ..base.clone() };
                if let Some(Found::Functions(set)) =
                    self.find_in_class(&dynamic, &Segment { name: name.clone(), args: None })
                {
                    return Some(self.call_set(&set, Some(own), list, explicit, name, span));
                }
            }
            let mut calls = self.overriders(&class, base, name, set, list.len());
            let cases = self.made_for(&class, base, name, &list, &mut calls);
            match calls.len() {
                0 => {}
                1 => return Some(self.call_function(&calls[0].0, calls[0].1.clone(), list, &[], span)),
                n if n <= CANDIDATES && cases.is_empty() => {
                    let object = self.address_of(base, span);
                    return Some(self.choose_by(object, calls, list, span));
                }
                n if n <= CANDIDATES => return Some(self.choose_by_class(base, calls, &cases, list, span)),
                _ => return None,
            }
        }
        (!set.is_empty()).then(|| self.call_set(set, Some(base.clone()), list, explicit, name, span))
    }

    pub fn call_method_by_name(&mut self, base: &Ev, name: &str, args: &[Ev], span: Span) -> Option<Ev> {
        let list = args.iter().map(|ev| Arg::made(ev.clone(), span)).collect();
        self.call_method(base, &Segment { name: Name::from(name), args: None }, list, span)
    }

    pub fn is_virtual_of(&mut self, object: &Ev, name: &Name) -> bool {
        match object.ty.value().clone() {
            Ty::Class(class) => self.is_virtual(&class, name, 0),
            _ => false,
        }
    }

    fn is_virtual(&mut self, class: &Arc<super::types::ClassTy>, name: &Name, depth: usize) -> bool {
        let program = self.program;
        let says = |id: &ItemId| program.item(*id).is_virtual && program.item(*id).name == *name;
        if program.members(class.item).iter().any(says) {
            return true;
        }
        depth < 8 && self.bases_of(class).iter().any(|base| self.is_virtual(base, name, depth + 1))
    }

    /// The class of the object itself, where that is known.
    pub fn dynamic_class(&mut self, object: &Ev) -> Option<Arc<super::types::ClassTy>> {
        let (What::Place(address), Ty::Class(class)) = (&object.what, object.ty.value()) else { return None };
        if let Some(Binding::Value { value, .. }) = self.local("this")
            && value == address
        {
            return match self.local("this class") {
                Some(Binding::Type(Ty::Class(class))) => Some(class.clone()),
                _ => None,
            };
        }
        match self.op(*address) {
            Op::Address(object) => Some(self.object_classes.get(object).unwrap_or(class).clone()),
            Op::Load { address, .. } => match self.op(*address) {
                Op::Address(pointer) => self.pointed_classes.get(pointer).cloned(),
                _ => None,
            },
            _ => None,
        }
    }

    /// What a virtual call may run on an object of a class that is not known: the methods of every class in view.
    fn overriders(
        &mut self,
        class: &Arc<super::types::ClassTy>,
        base: &Ev,
        name: &Name,
        set: &[Callable],
        count: usize,
    ) -> Vec<(Callable, Option<Ev>)> {
        let mut calls: Vec<(Callable, Option<Ev>)> = Vec::new();
        let mut add = |builder: &Self, one: &Callable, class: &Arc<super::types::ClassTy>| {
            if builder.takes(one, count) && !calls.iter().any(|(known, _)| known == one) {
                calls.push((one.clone(), Some(Ev { ty: Ty::Class(class.clone()), ..base.clone() })));
            }
        };
        for one in set {
            add(self, one, class);
        }
        for derived in self.derived_from(class) {
            for one in self.methods_of(&derived, name) {
                add(self, &one, &derived);
            }
        }
        calls
    }

    /// An object made here remembers its class, for virtual calls through pointers.
    pub fn note_class(&mut self, object: ObjectId, class: &Arc<super::types::ClassTy>, span: Span) {
        if !self.has_virtuals(class, 0) {
            return;
        }
        let known = self.polymorphic.iter().position(|one| one == class);
        let number = known.unwrap_or_else(|| {
            self.polymorphic.push(class.clone());
            self.polymorphic.len() - 1
        });
        let address = self.address(object, span);
        let place = self.member_address(address, &Name::from(CLASS), span);
        let value = self.int(number as i64 + 1, span);
        self.emit(Op::Store { address: place, value }, span);
    }

    fn has_virtuals(&mut self, class: &Arc<super::types::ClassTy>, depth: usize) -> bool {
        let program = self.program;
        program.members(class.item).iter().any(|id| program.item(*id).is_virtual)
            || depth < 8 && self.bases_of(class).iter().any(|base| self.has_virtuals(base, depth + 1))
    }

    /// The classes that objects made so far have and that derive from this one, by number, and which of the calls is for
    /// each.
    fn made_for(
        &mut self,
        class: &Arc<super::types::ClassTy>,
        base: &Ev,
        name: &Name,
        list: &[Arg],
        calls: &mut Vec<(Callable, Option<Ev>)>,
    ) -> Vec<(i64, usize)> {
        let mut cases = Vec::new();
        for (number, made) in self.polymorphic.clone().into_iter().enumerate() {
            if made != *class && !self.derives_from(&made, class, 0) {
                continue;
            }
            let segment = Segment { name: name.clone(), args: None };
            let Some(Found::Functions(set)) = self.find_in_class(&made, &segment) else { continue };
            let Some(own) = self.best_of(&set, None, list, &[]).into_iter().next() else { continue };
            let index = calls.iter().position(|(known, _)| *known == own).unwrap_or_else(|| {
                calls.push((own, Some(Ev { ty: Ty::Class(made), ..base.clone() })));
                calls.len() - 1
            });
            cases.push((number as i64 + 1, index));
        }
        cases
    }

    /// One of several by what the object remembers of its class; of an object made elsewhere it may be any.
    fn choose_by_class(
        &mut self,
        base: &Ev,
        calls: Vec<(Callable, Option<Ev>)>,
        cases: &[(i64, usize)],
        list: Vec<Arg>,
        span: Span,
    ) -> Ev {
        let object = self.address_of(base, span);
        let place = self.member_address(object, &Name::from(CLASS), span);
        let on = self.load(place, false, span);
        let blocks: Vec<BlockId> = calls.iter().map(|_| self.new_block()).collect();
        let others = (0..calls.len()).filter(|index| !cases.iter().any(|(_, known)| known == index));
        let numbered: Vec<(i64, usize)> =
            cases.iter().copied().chain(others.map(|index| (-1 - index as i64, index))).collect();
        let cases = numbered.into_iter().map(|(number, index)| (self.int(number, span), blocks[index])).collect();
        let (default, at) = (blocks[blocks.len() - 1], self.at(span));
        self.finish(End::Switch { on, cases, default, at });
        self.call_each(calls, blocks, list, span)
    }

    /// A pointer begins with the address of an object; the body that it is a variable of lets it be.
    pub fn note_pointed(&mut self, pointer: ObjectId, name: &Name, begins: &Ev, body: &Stmt) {
        let op = |value: &Value| self.op(*value);
        let class = match &begins.what {
            What::Value(value) => match op(value) {
                Op::Address(object) => self.object_classes.get(object),
                Op::Load { address, .. } => match op(address) {
                    Op::Address(other) => self.pointed_classes.get(other),
                    _ => None,
                },
                _ => None,
            },
            What::Place(address) => match op(address) {
                Op::Address(other) => self.pointed_classes.get(other),
                _ => None,
            },
            _ => None,
        };
        let class = class.cloned();
        let Some(class) = class else { return };
        let is_it = |expr: &Expr| matches!(&expr.kind, ExprKind::Name(path) if path.segments.iter().all(|one| one.name == *name));
        let mut changes = false;
        visit(vec![Node::Stmt(body)], |node| {
            if let Node::Expr(Expr { kind, .. }) = node {
                changes |= match kind {
                    ExprKind::Assign(_, target, _) | ExprKind::Increment { target, .. } => is_it(target),
                    ExprKind::Unary(UnaryOp::AddressOf, inner) => is_it(inner),
                    _ => false,
                };
            }
            true
        });
        if !changes {
            self.pointed_classes.insert(pointer, class);
        }
    }

    /// Classes in view without template parameters that derive from one.
    fn derived_from(&mut self, class: &Arc<super::types::ClassTy>) -> Vec<Arc<super::types::ClassTy>> {
        let program = self.program;
        let mut all: Vec<Arc<super::types::ClassTy>> = vec![class.clone()];
        let mut at = 0;
        while at < all.len() && all.len() < 64 {
            let Some(name) = all[at].class.name.clone() else { break };
            for id in program.classes() {
                if !program.item(*id).has_body || !program.sees(self.item, *id) {
                    continue;
                }
                let Some(tree) = program.class(*id) else { continue };
                let names_it = |base: &Path| base.segments.last().is_some_and(|segment| segment.name == name);
                if tree.template.is_empty() && tree.bases.iter().any(names_it) && !all.iter().any(|one| one.item == *id)
                {
                    let derived = super::types::ClassTy::new(*id, tree.clone(), Vec::new(), None, Vec::new());
                    all.push(Arc::new(derived));
                }
            }
            at += 1;
        }
        all.remove(0);
        all
    }

    /// A method on something whose class is not in view.
    fn call_unseen_method(&mut self, base: &Ev, object: &Expr, name: &Name, list: &[Arg], span: Span) -> Ev {
        if let Some(result) = self.call_word_method(base, object, name, list, span) {
            return result;
        }
        if !base.ty.value().is_known()
            && let Some(result) = self.call_any_method(base, name, list, span)
        {
            return result;
        }
        let mut from = self.arg_values(list);
        if !base.ty.is_static() {
            from.push(self.rvalue(base, object.span));
        }
        self.clobber_args(list, &from, span);
        Ev::value(self.emit(Op::Unknown { from, unseen: Some(name.clone()) }, span), Ty::Unknown)
    }

    /// The receiver's type is open: every method of that name in view, where one holds a barrier.
    fn call_any_method(&mut self, base: &Ev, name: &Name, list: &[Arg], span: Span) -> Option<Ev> {
        let program = self.program;
        let mut calls = Vec::new();
        for id in program.visible(self.item, name).iter().copied() {
            let item = program.item(id);
            let Some(owner) = item.class else { continue };
            if item.kind != super::program::ItemKind::Function || !item.has_body {
                continue;
            }
            let (Some(function), Some(class)) = (program.function(id), program.class(owner)) else { continue };
            let params = class.template.clone();
            let scope = self.item_scope(owner);
            let inside = self.new_scope(Some(scope), owner);
            let args = self.complete_arguments(&params, Vec::new(), inside);
            let class = Arc::new(super::types::ClassTy::new(owner, class.clone(), args.clone(), None, args));
            let callable = Callable {
                item: id,
                function: function.clone(),
                class: Some(class.clone()),
                scope: None,
                is_static: item.is_static,
            };
            if !self.takes(&callable, list.len()) {
                continue;
            }
            // One that waits for nobody leaves open whether any does.
            if !program.reach(id, self.words).barrier {
                return None;
            }
            calls.push((callable, Some(Ev { ty: Ty::Class(class), ..base.clone() })));
            if calls.len() > CANDIDATES {
                return None;
            }
        }
        if calls.is_empty() {
            return None;
        }
        let outer = self.guessing.replace(self.frame);
        let result = match calls.len() {
            1 => self.call_function(&calls[0].0, calls[0].1.clone(), list.to_vec(), &[], span),
            _ => self.choose(calls, list.to_vec(), span),
        };
        self.guessing = outer;
        Some(result)
    }

    /// An operator function for these operands: a method of the first, or a free function; `None` if none is in view.
    pub fn call_operator(&mut self, name: &str, operands: &[Ev], span: Span) -> Option<Ev> {
        let (first, rest) = operands.split_first()?;
        let segment = Segment { name: Name::from(name), args: None };
        if let Ty::Class(class) = first.ty.value().clone()
            && let Some(Found::Functions(set)) = self.find_in_class(&class, &segment)
        {
            let list: Vec<Arg> = rest.iter().map(|ev| Arg::made(ev.clone(), span)).collect();
            let best = self.best_of(&set, Some(first), &list, &[]);
            if let [one, ..] = &best[..] {
                return Some(self.call_function(one, Some(first.clone()), list, &[], span));
            }
        }
        if matches!(name, "operator=" | "operator->" | "operator[]") || self.program.named(name).is_empty() {
            return None;
        }
        let Found::Functions(set) = self.find_name(name) else { return None };
        let list: Vec<Arg> = operands.iter().map(|ev| Arg::made(ev.clone(), span)).collect();
        let types: Vec<Ty> = list.iter().map(Arg::ty).collect();
        let mut set = self.with_functions_beside(set, &segment.name, &list);
        set.retain(|one| self.has_instances_for(&one.function, &types));
        let best = self.best_of(&set, None, &list, &[]);
        let [one] = &best[..] else { return None };
        // Of a function for another class, which these operands would have to be converted to, nothing follows.
        let score = self.score(one, &types, &[])?;
        (score > 6 * list.len() as u32).then(|| self.call_function(one, None, list, &[], span))
    }

    /// An operand of a built-in operator: of an object, what its conversion function gives, best one like the other side.
    pub fn operand(&mut self, ev: &Ev, beside: &Ty, span: Span) -> Ev {
        let to = if beside.is_scalar() { beside } else { &INT };
        self.call_conversion(ev, to, span).unwrap_or_else(|| ev.clone())
    }

    /// The conversion function of the class that fits `to` best.
    pub fn call_conversion(&mut self, ev: &Ev, to: &Ty, span: Span) -> Option<Ev> {
        let Ty::Class(class) = ev.ty.value().clone() else { return None };
        let mut best: Option<(Rank, Callable, Ty)> = None;
        for conversion in self.conversions_of(&class, 0) {
            let scope = self.scope_of_callable(&conversion);
            let gives = self.resolve_in(scope, &conversion.function.result);
            let Some(fits) = fit(&gives, to) else { continue };
            if best.as_ref().is_none_or(|(known, ..)| fits > *known) {
                best = Some((fits, conversion, gives));
            }
        }
        let (_, conversion, gives) = best?;
        let result = self.call_function(&conversion, Some(ev.clone()), Vec::new(), &[], span);
        let value = self.rvalue(&result, span);
        let value = self.convert(value, &gives, to, span);
        Some(Ev::value(value, if to.is_known() { to.clone() } else { gives }))
    }

    /// Conversion functions of a class and of its bases.
    pub fn conversions_of(&mut self, class: &Arc<super::types::ClassTy>, depth: usize) -> Vec<Callable> {
        let program = self.program;
        let is_conversion = |name: &str| name.starts_with("operator ");
        let outside = program.members(class.item).iter().map(|id| program.item(*id).name.clone());
        let inside = class.class.methods.iter().map(|method| method.name.clone());
        let mut names: Vec<Name> = outside.chain(inside).filter(|name| is_conversion(name)).collect();
        names.sort();
        names.dedup();
        let mut found: Vec<Callable> = names.iter().flat_map(|name| self.methods_of(class, name)).collect();
        if depth < 8 {
            for base in self.bases_of(class) {
                found.extend(self.conversions_of(&base, depth + 1));
            }
        }
        found
    }
}
