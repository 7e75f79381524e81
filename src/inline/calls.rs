//! Calls: which function a call means, and which of its forms (function, method, functor, closure, pointer) it has.

use super::builder::Builder;
use super::member_pointers::is_member_pointer;
use super::names::Found;
use super::overloads::written_so;
use super::scope::Binding;
use super::types::{Bound, Callable, Ty};
use super::values::{Ev, What};
use crate::graph::*;
use crate::program::*;
use crate::text::Span;
use crate::words::{BarrierRow, FunctionKind};
use std::sync::Arc;

/// Candidates beyond which a call is not followed.
pub const CANDIDATES: usize = 4;

/// An argument: evaluated, or a braced list that waits for its parameter's type.
#[derive(Clone)]
pub struct Arg<'e> {
    pub ev: Option<Ev>,
    pub expr: Option<&'e Expr>,
    pub span: Span,
}

impl<'e> Arg<'e> {
    pub fn of(ev: Ev, expr: &'e Expr) -> Arg<'e> {
        Arg { ev: Some(ev), expr: Some(expr), span: expr.span }
    }

    pub fn made(ev: Ev, span: Span) -> Arg<'static> {
        Arg { ev: Some(ev), expr: None, span }
    }

    pub fn ty(&self) -> Ty {
        self.ev.as_ref().map_or(Ty::Unknown, |ev| ev.ty.clone())
    }
}

impl Builder<'_> {
    pub fn eval_call(&mut self, callee: &Expr, args: &[Expr], span: Span) -> Ev {
        match &callee.kind {
            ExprKind::Name(path) => self.call_named(path, callee, args, span),
            ExprKind::Member { object, arrow, member } => self.call_member(object, *arrow, member, args, span),
            ExprKind::Call { callee: through, args: parts } if is_member_pointer(through) && parts.len() == 2 => {
                self.call_member_pointer(&parts[0], &parts[1], args, span)
            }
            _ => {
                let ev = self.eval(callee);
                self.call_value(ev, args, span)
            }
        }
    }

    /// Arguments in order, packs expanded. Variables stay places, so that they can be bound by reference.
    pub fn eval_args<'e>(&mut self, args: &'e [Expr]) -> Vec<Arg<'e>> {
        let mut list = Vec::with_capacity(args.len());
        for arg in args {
            match &arg.kind {
                ExprKind::Expansion(inner) => {
                    let packs = self.names_of_packs(inner);
                    let count = packs.first().map_or(0, |(_, count)| *count);
                    for index in 0..count {
                        let outer = self.enter_element(&packs, index);
                        let ev = self.eval_place(inner);
                        self.leave_scope(outer);
                        list.push(Arg::of(ev, inner));
                    }
                }
                ExprKind::InitList(_) => list.push(Arg { ev: None, expr: Some(arg), span: arg.span }),
                // Nearly always passed by value: as a choice of two addresses both variables would count as shared out.
                ExprKind::Conditional(..) => {
                    let ev = self.eval(arg);
                    list.push(Arg::of(ev, arg));
                }
                _ => {
                    let ev = self.eval_place(arg);
                    list.push(Arg::of(ev, arg));
                }
            }
        }
        list
    }

    fn call_named(&mut self, path: &Path, callee: &Expr, args: &[Expr], span: Span) -> Ev {
        let Some(last) = path.segments.last() else { return Ev::nothing() };
        let found = self.find(path);
        // A method without a body here hides functions of its name.
        let is_free = match &found {
            Found::None => true,
            Found::Functions(set) => set.iter().all(|one| one.class.is_none()),
            _ => false,
        };
        if is_free
            && path.segments.len() == 1
            && !path.global
            && let Some(this) = self.this_object()
            && self.is_virtual_of(&this, &last.name)
        {
            let list = self.eval_args(args);
            return match self.call_on(&this, &last.name, &[], list.clone(), &[], span) {
                Some(result) => result,
                None => self.call_unseen(&last.name, &list, span),
            };
        }
        match found {
            Found::Functions(_) if self.words.is_users_barrier(&last.name) && self.is_by_row(path, args) => {
                self.call_word(path, args, span)
            }
            Found::Functions(set) => {
                if self.is_library_function(&set, &last.name) && self.is_word(&last.name) {
                    return self.call_word(path, args, span);
                }
                let explicit = self.written_arguments(last).unwrap_or_default();
                let list = self.eval_args(args);
                let set = match path.segments.len() {
                    1 => self.with_functions_beside(set, &last.name, &list),
                    _ => set,
                };
                let set = written_so(set, last);
                if self.best_of(&set, None, &list, &explicit).is_empty() {
                    // The user's overloads are of others: `make_float3(x, y, z)`.
                    return self.call_word_with(path, list, span);
                }
                match self.implicit_this(&set) {
                    Some(this) if path.segments.len() == 1 => {
                        match self.call_on(&this, &last.name, &set, list.clone(), &explicit, span) {
                            Some(result) => result,
                            None => self.call_unseen(&last.name, &list, span),
                        }
                    }
                    this => self.call_set(&set, this, list, &explicit, &last.name, span),
                }
            }
            Found::Type(ty) | Found::Binding(Binding::Type(ty)) => {
                // A template parameter may be spelled like a class of the libraries and stand for another one.
                if let Ty::Named(named) = &ty
                    && named.name == last.name
                    && self.is_word(&last.name)
                {
                    return self.call_word(path, args, span);
                }
                self.construct_value(&ty, args, span)
            }
            Found::None if &*last.name == "operator.*" && args.len() == 2 => self.member_by_pointer(args, span),
            Found::None if self.is_standard_class(path, args) => {
                let ty = self.resolve_path(path);
                self.construct_value(&ty, args, span)
            }
            // A template parameter of which nothing is known may be spelled like a class of the libraries, too.
            Found::None if path.segments.len() == 1 && self.local(&last.name).is_some() => {
                self.construct_value(&Ty::Unknown, args, span)
            }
            Found::None | Found::Source(_) => self.call_word(path, args, span),
            // `std::numeric_limits<int>::max()`
            Found::Constant(value, ty) => Ev::value(self.int(value, span), ty),
            Found::Binding(_) | Found::Field(..) | Found::StaticField(..) | Found::Value(_) => {
                let ev = self.eval_place(callee);
                self.call_value(ev, args, span)
            }
        }
    }

    /// Whether a row of the user's is for a call that names a function in view.
    fn is_by_row(&mut self, path: &Path, args: &[Expr]) -> bool {
        let Some((last, around)) = path.segments.split_last() else { return false };
        let of_function = self.words.barrier(&last.name).to_vec();
        let of_method = self.words.barrier_method(&last.name);
        let is_of_class = around.last().is_some_and(|class| {
            let on_class = |row: &Arc<BarrierRow>| row.on.iter().any(|on| **on == *class.name);
            of_method.iter().any(on_class)
        });
        is_of_class
            || of_function.iter().any(|row| {
                row.on.is_empty()
                    || row.on.iter().any(|on| on == "any")
                    || args.first().is_some_and(|first| {
                        let ty = self.type_of(first);
                        self.group_of(&ty, &row.on).is_some()
                    })
            })
    }

    /// `std::true_type()`, `std::pair<int, int>(a, b)`
    fn is_standard_class(&mut self, path: &Path, args: &[Expr]) -> bool {
        let Some(last) = path.segments.last() else { return false };
        if !args.is_empty() {
            return matches!(&*last.name, "pair" | "tuple") && last.args.is_some();
        }
        if last.name.ends_with("_sequence") || &*last.name == "index_sequence_for" {
            return last.args.is_some();
        }
        let args = self.written_arguments(last).unwrap_or_default();
        self.trait_value(&last.name, &args).is_some()
    }

    fn is_library_function(&self, set: &[Callable], name: &Name) -> bool {
        // A namespace `cuda` of somebody else's may have an `apply`, too.
        let only_standard = self.words.function(name).is_some_and(FunctionKind::calls_argument);
        let in_library = |callable: &Callable| {
            let scope = &self.program.item(callable.item).scope;
            scope.iter().any(|name| match &**name {
                "std" => only_standard,
                "cooperative_groups" | "cuda" | "cub" => !only_standard,
                _ => false,
            })
        };
        set.iter().all(in_library)
    }

    /// A call without an object inside a method is one on `this`.
    fn implicit_this(&mut self, set: &[Callable]) -> Option<Ev> {
        if set.iter().all(|callable| callable.class.is_none() || callable.is_static) {
            return None;
        }
        self.this_object()
    }

    /// Calls whatever the value is: a closure, a functor, a function pointer.
    pub fn call_value(&mut self, ev: Ev, args: &[Expr], span: Span) -> Ev {
        let ev = match ev.ty.value() {
            Ty::Pointer(pointee) if matches!(pointee.ty, Ty::Functions(_) | Ty::Class(_) | Ty::Closure(_)) => {
                self.dereference(&ev, span)
            }
            // The pointer is read before the arguments are.
            Ty::Functions(_) | Ty::FunctionPointer => Ev { what: What::Value(self.rvalue(&ev, span)), ..ev },
            _ => ev,
        };
        let list = self.eval_args(args);
        self.call_evaluated(ev, list, span)
    }

    /// The same with arguments that are evaluated.
    pub fn call_evaluated(&mut self, ev: Ev, list: Vec<Arg>, span: Span) -> Ev {
        match ev.ty.value().clone() {
            Ty::Closure(number) => self.call_closure(number, list, &[], span),
            Ty::Functions(set) => {
                let on = self.rvalue(&ev, span);
                self.call_pointer(set, on, None, list, span)
            }
            Ty::FunctionPointer => {
                let on = self.rvalue(&ev, span);
                let set = self.functions_behind(on);
                self.call_pointer(set, on, None, list, span)
            }
            Ty::Pointer(pointee) if matches!(pointee.ty, Ty::Functions(_) | Ty::Class(_) | Ty::Closure(_)) => {
                let target = self.dereference(&ev, span);
                self.call_evaluated(target, list, span)
            }
            Ty::Class(_) => {
                match self.call_method(&ev, &Segment { name: Name::from("operator()"), args: None }, list.clone(), span)
                {
                    Some(result) => result,
                    None => self.call_unseen(&Name::from("operator()"), &list, span),
                }
            }
            Ty::Named(named) => self.call_functor(&named.name.clone(), list, span),
            ty => {
                let name = match ty {
                    Ty::Param(name) => name,
                    _ => Name::from("function pointer"),
                };
                self.call_unseen(&name, &list, span)
            }
        }
    }

    /// `thrust::maximum<int>{}(a, b)`, `cg::plus<int>()(a, b)`
    fn call_functor(&mut self, class: &Name, list: Vec<Arg>, span: Span) -> Ev {
        let values = self.arg_values(&list);
        let ty = list.first().map_or(Ty::Unknown, |arg| arg.ty().value().clone());
        let op = match (&**class, &values[..]) {
            ("maximum" | "greater" | "Max", [a, b]) if &**class != "greater" => Op::Max(*a, *b),
            ("minimum" | "Min", [a, b]) => Op::Min(*a, *b),
            ("plus" | "Sum", [a, b]) => Op::Binary(BinaryOp::Add, *a, *b),
            ("minus", [a, b]) => Op::Binary(BinaryOp::Sub, *a, *b),
            ("multiplies", [a, b]) => Op::Binary(BinaryOp::Mul, *a, *b),
            _ => return self.call_unseen(class, &list, span),
        };
        Ev::value(self.emit(op, span), ty)
    }

    pub fn arg_values(&mut self, list: &[Arg]) -> Vec<Value> {
        let mut values = Vec::with_capacity(list.len());
        for arg in list {
            values.push(match (&arg.ev, arg.expr) {
                (Some(ev), _) => {
                    let ev = ev.clone();
                    self.rvalue(&ev, arg.span)
                }
                (None, Some(expr)) => self.rvalue_of(expr),
                (None, None) => self.unknown(Vec::new(), arg.span),
            });
        }
        values
    }

    /// `(object.*method)(args)`
    fn call_member_pointer(&mut self, object: &Expr, method: &Expr, args: &[Expr], span: Span) -> Ev {
        let base = self.eval_place(object);
        let pointer = self.eval(method);
        let on = self.rvalue(&pointer, span);
        let list = self.eval_args(args);
        let base = match base.ty.value() {
            Ty::Pointer(_) => self.dereference(&base, span),
            _ => base,
        };
        match pointer.ty.value() {
            Ty::Functions(set) => self.call_pointer(*set, on, Some(base), list, span),
            Ty::FunctionPointer => {
                let set = self.functions_behind(on);
                self.call_pointer(set, on, Some(base), list, span)
            }
            _ => self.call_unseen(&Name::from("member pointer"), &list, span),
        }
    }

    /// What a pointer may hold of which no function is known: a member or element that was assigned its function elsewhere
    /// any that is handed on in this kernel.
    fn functions_behind(&mut self, pointer: Value) -> u32 {
        match self.op(pointer) {
            Op::Load { .. } | Op::Select { .. } => self.all_functions(),
            _ => self.function_set(Vec::new()),
        }
    }

    /// All functions that have been handed on as values so far.
    fn all_functions(&mut self) -> u32 {
        let mut all: Vec<Callable> = Vec::new();
        for one in self.function_sets.iter().flatten() {
            if !all.contains(one) {
                all.push(one.clone());
            }
        }
        self.function_set(all)
    }

    /// A pointer that holds one of several functions: which, its value tells.
    pub fn call_pointer(&mut self, set: u32, on: Value, this: Option<Ev>, list: Vec<Arg>, span: Span) -> Ev {
        let targets = self.function_sets[set as usize].clone();
        let mut fitting: Vec<Callable> =
            targets.iter().filter(|target| self.takes(target, list.len())).cloned().collect();
        if fitting.len() > 1 {
            fitting = self.without_overloads(fitting, this.as_ref(), &list);
        }
        match &fitting[..] {
            [] => self.call_unseen(&Name::from("function pointer"), &list, span),
            [one] => self.call_function(one, this, list, &[], span),
            many if many.len() <= CANDIDATES * 2 => {
                let numbers: Vec<Vec<i64>> = many.iter().map(|target| self.numbers_of(target)).collect();
                let blocks: Vec<BlockId> = many.iter().map(|_| self.new_block()).collect();
                let mut cases = Vec::new();
                for (numbers, block) in numbers.iter().zip(&blocks) {
                    for number in numbers {
                        cases.push((self.int(*number, span), *block));
                    }
                }
                let at = self.at(span);
                let default = blocks[blocks.len() - 1];
                self.finish(End::Switch { on, cases, default, at });
                let calls = many.iter().map(|target| (target.clone(), this.clone())).collect();
                self.call_each(calls, blocks, list, span)
            }
            many => {
                if many.iter().any(|target| self.reach_of(target).barrier) {
                    let at = self.at(span);
                    self.incomplete(at, "a pointer may hold one of too many functions".to_string());
                }
                self.call_unseen(&Name::from("function pointer"), &list, span)
            }
        }
    }

    /// Of overloads a pointer holds the one that its type tells: that which the arguments of a call are made for.
    fn without_overloads(&mut self, mut set: Vec<Callable>, this: Option<&Ev>, list: &[Arg]) -> Vec<Callable> {
        let mut meant = Vec::with_capacity(set.len());
        while let Some(first) = set.first().cloned() {
            let (mut group, others) = set.into_iter().partition::<Vec<_>, _>(|other| self.are_overloads(&first, other));
            if group.len() > 1 {
                let best = self.best_of(&group, this, list, &[]);
                group = if best.is_empty() { group } else { best };
            }
            meant.extend(group);
            set = others;
        }
        meant
    }

    fn are_overloads(&self, one: &Callable, other: &Callable) -> bool {
        let (a, b) = (self.program.item(one.item), self.program.item(other.item));
        let is_lambda = |function: &Callable| function.scope.is_some();
        one == other
            || one.function.name == other.function.name
                && one.class == other.class
                && a.scope == b.scope
                && !is_lambda(one)
                && !is_lambda(other)
    }

    /// The numbers that stand for a function as a value: those of the sets that its name means.
    fn numbers_of(&mut self, target: &Callable) -> Vec<i64> {
        self.function_set(vec![target.clone()]);
        let names_it =
            |set: &Vec<Callable>| set.contains(target) && set.iter().all(|other| self.are_overloads(target, other));
        self.function_sets
            .iter()
            .enumerate()
            .filter(|(_, set)| names_it(set))
            .map(|(number, _)| number as i64 + 1)
            .collect()
    }

    /// Each candidate in its block; all go on behind the call, with the result of the one that ran.
    pub fn call_each(
        &mut self,
        calls: Vec<(Callable, Option<Ev>)>,
        blocks: Vec<BlockId>,
        list: Vec<Arg>,
        span: Span,
    ) -> Ev {
        self.each_way(blocks, span, &mut |builder, index| {
            let (target, this) = &calls[index];
            builder.call_function(target, this.clone(), list.clone(), &[], span)
        })
    }

    /// Goes each way in a block of its own; all go on behind, with the result of the one that was gone.
    pub fn each_way(&mut self, blocks: Vec<BlockId>, span: Span, go: &mut dyn FnMut(&mut Self, usize) -> Ev) -> Ev {
        let after = self.new_block();
        let mut result: Option<(ObjectId, Ty)> = None;
        for (index, block) in blocks.into_iter().enumerate() {
            self.go_on(block);
            let ev = go(self, index);
            if !matches!(ev.what, What::Nothing) {
                let (object, ty) = match &result {
                    Some(known) => known.clone(),
                    None => {
                        let object = self.temporary("the result", ev.ty.value(), span);
                        result = Some((object, ev.ty.value().clone()));
                        (object, ev.ty.value().clone())
                    }
                };
                let address = self.address(object, span);
                self.store_to(address, &ty, &ev, span);
            }
            self.jump(after, Leaving::Fall, span);
        }
        self.go_on(after);
        match result {
            Some((object, ty)) => Ev::made(self.address(object, span), ty),
            None => Ev::nothing(),
        }
    }

    /// One of several by a value that is not known: all threads with the same value go the same way.
    pub fn choose_by(&mut self, on: Value, calls: Vec<(Callable, Option<Ev>)>, list: Vec<Arg>, span: Span) -> Ev {
        let blocks = self.ways_by(vec![on], calls.len(), span);
        self.call_each(calls, blocks, list, span)
    }

    /// So many blocks, one of which is entered by what is not known but follows from these values.
    pub fn ways_by(&mut self, from: Vec<Value>, count: usize, span: Span) -> Vec<BlockId> {
        let blocks: Vec<BlockId> = (0..count).map(|_| self.new_block()).collect();
        let on = self.unknown(from, span);
        let numbered: Vec<(i64, BlockId)> = (0..).zip(blocks.iter().copied()).collect();
        let cases = numbered.into_iter().map(|(number, block)| (self.int(number, span), block)).collect();
        let (default, at) = (blocks[blocks.len() - 1], self.at(span));
        self.finish(End::Switch { on, cases, default, at });
        blocks
    }

    pub fn choose(&mut self, calls: Vec<(Callable, Option<Ev>)>, list: Vec<Arg>, span: Span) -> Ev {
        let blocks: Vec<BlockId> = calls.iter().map(|_| self.new_block()).collect();
        self.finish(End::Choose(blocks.clone()));
        self.call_each(calls, blocks, list, span)
    }

    /// Calls the best of an overload set.
    pub fn call_set(
        &mut self,
        set: &[Callable],
        this: Option<Ev>,
        list: Vec<Arg>,
        explicit: &[Bound],
        name: &Name,
        span: Span,
    ) -> Ev {
        let best = self.best_of(set, this.as_ref(), &list, explicit);
        match &best[..] {
            [] => self.call_unseen(name, &list, span),
            [one] => self.call_function(one, this, list, explicit, span),
            many if many.len() <= CANDIDATES => {
                let calls = many.iter().map(|one| (one.clone(), this.clone())).collect();
                self.choose(calls, list, span)
            }
            _ => self.call_unseen(name, &list, span),
        }
    }
}
