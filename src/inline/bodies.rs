//! A call's body into the graph: frame, parameters, result, recursion, and what happens where the budget ends.

use super::builder::{Activation, Builder, CallKey};
use super::calls::Arg;
use super::copies::Copying;
use super::facts::{self, Holds};
use super::lifetimes::converts;
use super::scope::Binding;
use super::types::{Bound, Callable, ClassTy, Pointee, Ty};
use super::values::{Category, Ev, What};
use super::visit::{Node, visit};
use crate::graph::*;
use crate::program::*;
use crate::text::Span;
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// Nodes of a body without a barrier up to which it is followed.
const SMALL: u32 = 600;
/// Nodes of a body that is followed in a large graph, too: `(count + size - 1) / size`.
const TINY: u32 = 120;

impl Builder<'_> {
    /// Calls one function: its body here and now, or what can be said without it.
    pub fn call_function(
        &mut self,
        callable: &Callable,
        this: Option<Ev>,
        list: Vec<Arg>,
        explicit: &[Bound],
        span: Span,
    ) -> Ev {
        if let Some((known, ty)) = self.constant_result(callable, &list, explicit) {
            return Ev::value(self.int(known, span), ty);
        }
        let types: Vec<Ty> = list.iter().map(Arg::ty).collect();
        let bounds = self.bind_function_template(callable, explicit, &types).unwrap_or_default();
        let key = CallKey {
            function: Arc::as_ptr(&callable.function) as usize,
            args: bounds.clone(),
            class: callable.class.clone(),
            scope: callable.scope,
            statics: types.iter().filter(|ty| is_part_of_key(ty.value())).map(|ty| ty.value().clone()).collect(),
        };
        if let Some(index) = self.active.iter().position(|active| active.exit.is_some() && is_again(&active.key, &key))
        {
            return self.call_again(index, this, list, span);
        }
        let mut reach = self.reach_of(callable);
        // Functors and closures that it is given count as its own.
        let given = types.iter().chain(bounds.iter().filter_map(|bound| match bound {
            Bound::Type(ty) => Some(ty),
            _ => None,
        }));
        for ty in given.filter(|_| !reach.barrier).cloned().collect::<Vec<Ty>>() {
            self.join_type(&ty, &mut reach);
        }
        self.join_called_members(callable, &mut reach);
        if !self.is_worth_following(callable, reach) || !self.descend(span) {
            return self.call_without_body(callable, &bounds, reach, this, &list, span);
        }
        let result = self.inline(callable, key, bounds, this, list, span);
        self.ascend();
        result
    }

    fn is_worth_following(&mut self, callable: &Callable, reach: Holds) -> bool {
        if self.active.len() >= self.limits.calls || self.is_full() {
            return false;
        }
        if reach.barrier {
            return true;
        }
        let size = match self.has_own_item(callable) {
            true => self.program.facts(callable.item, self.words).size,
            false => facts::of_function(&callable.function, self.words).size,
        };
        let detail = if size <= TINY { 4 * self.limits.detail } else { self.limits.detail };
        size <= SMALL
            && self.graph.insts.len() < detail
            && self.graph.blocks.len() < self.limits.blocks / 2
            && self.searched.get() < self.limits.searched / 8
    }

    pub fn calls_itself(&mut self, callable: &Callable) -> bool {
        self.has_own_item(callable)
            && self
                .program
                .facts(callable.item, self.words)
                .calls
                .iter()
                .any(|call| call.name == callable.function.name)
    }

    pub fn has_own_item(&self, callable: &Callable) -> bool {
        self.program.function(callable.item).is_some_and(|function| Arc::ptr_eq(function, &callable.function))
    }

    /// What the function holds, with all it may call.
    pub fn reach_of(&mut self, callable: &Callable) -> Holds {
        if self.has_own_item(callable) {
            return self.program.reach(callable.item, self.words);
        }
        let facts = facts::of_function(&callable.function, self.words);
        let mut holds = Holds::default();
        self.join_facts(&facts, &mut holds);
        holds
    }

    /// Functors and closures that are members of its class and that it calls: `f()`, `this->f()`.
    pub fn join_called_members(&mut self, callable: &Callable, holds: &mut Holds) {
        let Some(class) = callable.class.clone().filter(|_| !holds.barrier) else { return };
        if class.class.members.is_empty() {
            return;
        }
        let facts = match self.has_own_item(callable) {
            true => self.program.facts(callable.item, self.words),
            false => Arc::new(facts::of_function(&callable.function, self.words)),
        };
        for (index, member) in class.class.members.iter().enumerate() {
            if facts.calls.iter().any(|call| call.name == member.name && call.args.is_some()) {
                let ty = self.field_type(&class, index);
                self.join_type(&ty, holds);
            }
        }
    }

    fn inline(
        &mut self,
        callable: &Callable,
        key: CallKey,
        bounds: Vec<Bound>,
        this: Option<Ev>,
        list: Vec<Arg>,
        span: Span,
    ) -> Ev {
        let function = callable.function.clone();
        if self.has_own_item(callable) {
            self.inlined.insert(callable.item);
        }
        let caller = (self.frame, self.item, self.scope);
        let call_at = self.at(span);
        let this_address = this.as_ref().map(|this| match this.ty.value() {
            Ty::Pointer(_) => self.rvalue(this, span),
            _ => self.address_of(this, span),
        });
        let frame = FrameId(self.graph.frames.len() as u32);
        let name = self.frame_name(callable);
        let call = Some((caller.0, call_at));
        let is_guess = self.guessing == Some(caller.0);
        self.graph.frames.push(Frame { function: callable.item, name, call, result: None, is_guess });

        let parent = self.scope_of_callable(callable);
        let scope = self.new_scope(Some(parent), callable.item);
        self.bind_template(scope, &function.template, &bounds);
        let mut this_object = None;
        if let (Some(address), Some(class)) = (this_address, &callable.class) {
            let pointer = this_type(class, &function);
            if self.calls_itself(callable) {
                // The object may be another one in each call.
                let object = self.temporary("this", &pointer, span);
                let slot = self.address(object, span);
                self.store(slot, address, span);
                this_object = Some(object);
            }
            self.bind_in(scope, &Name::from("this"), Binding::Value { value: address, ty: pointer });
            // While an object is made or destroyed it is no more than what the constructor or destructor is for.
            let makes = Some(&function.name) == class.class.name.as_ref() || function.name.starts_with('~');
            let dynamic = match (makes, this) {
                (true, _) => Some(class.clone()),
                (false, Some(this)) => self.dynamic_class(&this),
                (false, None) => None,
            };
            if let Some(dynamic) = dynamic {
                self.bind_in(scope, &Name::from("this class"), Binding::Type(Ty::Class(dynamic)));
            }
        }
        let given = self.cleanups.len();
        let params = self.bind_params(callable, scope, frame, list, span);
        let result = self.resolve_in(scope, &function.result);

        self.frame = frame;
        let entry = self.new_block();
        self.frame = caller.0;
        let exit = self.new_block();
        self.jump(entry, Leaving::Fall, span);
        self.frame = frame;
        self.go_on(entry);
        (self.item, self.scope) = (callable.item, scope);
        let mut this_address = this_address;
        if let (Some(object), Some(class)) = (this_object, &callable.class) {
            let slot = self.address(object, span);
            let value = self.load(slot, false, span);
            this_address = Some(value);
            let ty = this_type(class, &function);
            self.bind_in(scope, &Name::from("this"), Binding::Value { value, ty });
        }
        if let Some(unreadable) = function.unreadable {
            let at = self.at(unreadable);
            self.incomplete(at, "a part of the body could not be read".to_string());
        }
        self.active.push(Activation {
            key,
            function: function.clone(),
            frame,
            entry,
            exit: Some(exit),
            returns_reference: matches!(result, Ty::Reference(_)) || super::declare::is_reference(&function.result),
            result,
            result_object: None,
            direct: None,
            may_be_direct: returns_last(&function.body),
            recursions: Vec::new(),
            cleanup_base: self.cleanups.len(),
            breaks: Vec::new(),
            continues: Vec::new(),
            switches: Vec::new(),
            labels: Default::default(),
            params,
            this_object,
            args: bounds,
            static_result: None,
            given_away: None,
        });
        if let (Some(address), Some(class)) = (this_address, &callable.class)
            && Some(&function.name) == class.class.name.as_ref()
        {
            self.initialise_in_constructor(address, &class.clone(), &function);
        }
        let args = self.activation().args.clone();
        self.assume_of_arguments(&args);
        let base = self.cleanups.len();
        self.statement(&function.body);
        self.cleanups.truncate(base);
        self.jump(
            exit,
            Leaving::Fall,
            Span { start: function.body.span.end.saturating_sub(1), end: function.body.span.end },
        );
        (self.frame, self.item, self.scope) = caller;
        let Some(done) = self.active.pop() else { return Ev::nothing() };
        self.go_on(exit);
        if !done.recursions.is_empty() {
            // Its calls of itself come here, too, and go on with what it holds.
            self.graph.blocks[exit.index()].frame = frame;
        }
        if !done.recursions.is_empty() && !self.leads_to(done.entry, exit) {
            // A function that always calls itself is one whose callee was taken for another: it returns like any other.
            for (call, behind) in &done.recursions {
                let at = self.at(span);
                self.graph.blocks[call.index()].end = End::Jump { to: *behind, leaving: Leaving::Fall, at };
            }
        } else if !done.recursions.is_empty() {
            let go_on = self.new_block();
            let mut targets = vec![go_on];
            targets.extend(done.recursions.iter().map(|(_, behind)| *behind));
            self.finish(End::Choose(targets));
            self.go_on(go_on);
        }
        let result = self.result_of(done, span);
        // Parameters by value end with the call.
        self.clean_up(given);
        if let What::Value(value) = &result.what {
            self.graph.frames[frame.index()].result = Some(*value);
        }
        result
    }

    fn leads_to(&self, from: BlockId, to: BlockId) -> bool {
        let mut seen = FxHashSet::from_iter([from]);
        let mut todo = vec![from];
        while let Some(at) = todo.pop() {
            if at == to {
                return true;
            }
            todo.extend(self.graph.blocks[at.index()].end.successors().into_iter().filter(|next| seen.insert(*next)));
        }
        false
    }

    fn result_of(&mut self, done: Activation, span: Span) -> Ev {
        if let Some(ty) = done.static_result {
            return Ev::typed(ty);
        }
        if let Some(direct) = done.direct.filter(|_| done.recursions.is_empty()) {
            return direct;
        }
        match done.result_object {
            Some(object) => self.read_result(object, &done.result, done.returns_reference, span),
            None if done.result == Ty::Void || done.function.body_returns_nothing() => Ev::nothing(),
            // What it returns was not understood.
            None => Ev::value(self.unknown(Vec::new(), span), done.result),
        }
    }

    fn read_result(&mut self, object: ObjectId, result: &Ty, is_reference: bool, span: Span) -> Ev {
        let address = self.address(object, span);
        let ty = result.value().clone();
        if is_reference {
            let target = self.load(address, false, span);
            let is_const = matches!(result, Ty::Reference(target) if target.is_const);
            return Ev::place(target, ty).fixed_if(is_const);
        }
        if ty.is_aggregate() {
            return Ev::made(address, ty);
        }
        Ev::value(self.load(address, false, span), ty)
    }

    /// A call of a function that is being inlined already: back to its entry with new arguments.
    fn call_again(&mut self, index: usize, this: Option<Ev>, list: Vec<Arg>, span: Span) -> Ev {
        let (params, entry) = (self.active[index].params.clone(), self.active[index].entry);
        if let (Some(object), Some(this)) = (self.active[index].this_object, this) {
            let address = match this.ty.value() {
                Ty::Pointer(_) => self.rvalue(&this, span),
                _ => self.address_of(&this, span),
            };
            let slot = self.address(object, span);
            self.store(slot, address, span);
        }
        for (object, arg) in params.iter().zip(&list) {
            if let (Some(object), Some(ev)) = (object, &arg.ev) {
                let address = self.address(*object, arg.span);
                let ty = ev.ty.clone();
                self.store_to(address, &ty, ev, arg.span);
            }
        }
        let call = self.block;
        self.jump(entry, Leaving::Fall, span);
        let behind = self.new_block();
        self.go_on(behind);
        self.active[index].recursions.push((call, behind));
        let result = self.active[index].result.clone();
        if result == Ty::Void || self.active[index].function.body_returns_nothing() {
            return Ev::nothing();
        }
        let is_reference = self.active[index].returns_reference;
        let object = self.result_object_of(index, &result, span);
        self.read_result(object, &result, is_reference, span)
    }

    fn result_object_of(&mut self, index: usize, ty: &Ty, span: Span) -> ObjectId {
        if let Some(object) = self.active[index].result_object {
            return object;
        }
        let outer = self.frame;
        self.frame = self.active[index].frame;
        let object = self.temporary("the result", ty.value(), span);
        self.frame = outer;
        self.active[index].result_object = Some(object);
        object
    }

    pub fn return_value(&mut self, value: &Expr) {
        let span = value.span;
        let index = self.active.len() - 1;
        let result = self.active[index].result.clone();
        if self.active[index].exit.is_none() {
            self.eval(value);
            return;
        }
        if self.active[index].returns_reference {
            let ev = self.eval_place(value);
            if ev.ty.is_static() {
                self.active[index].static_result = Some(ev.ty);
                return;
            }
            if self.active[index].may_be_direct && ev.is_place() {
                let is_const = matches!(&result, Ty::Reference(target) if target.is_const);
                self.active[index].direct = Some(ev.clone().fixed_if(is_const));
            }
            let target = self.address_of(&ev, span);
            if self.active[index].result.value() == &Ty::Unknown {
                self.active[index].result = ev.ty.clone();
            }
            let object = self.result_object_of(index, &Ty::pointer_to(Ty::Unknown), span);
            let address = self.address(object, span);
            self.store(address, target, span);
            return;
        }
        if matches!(result, Ty::Class(_) | Ty::Vector { .. } | Ty::Array(..))
            && let ExprKind::InitList(_) = value.kind
        {
            let object = self.result_object_of(index, &result, span);
            let address = self.address(object, span);
            return self.initialise(address, &result, value);
        }
        let mut ev = self.eval(value);
        if ev.ty.is_static() {
            self.active[index].static_result = Some(ev.ty);
            return;
        }
        self.give_away(&mut ev);
        if matches!(ev.what, What::Nothing) {
            return;
        }
        let ty = if result.is_known() { result.clone() } else { super::templates::decay(&ev.ty) };
        if !result.is_known() {
            self.active[index].result = ty.clone();
        }
        let runs_copy = ev.category != Category::Made
            && matches!(&ty, Ty::Class(class) if self.copies_itself(Copying::Making, &class.clone(), 0));
        if self.active[index].may_be_direct && self.active[index].recursions.is_empty() && !runs_copy {
            let direct = match (&ev.what, &ty) {
                (What::Parts(_), _) => ev.clone(),
                (What::Place(_), ty) if ty.is_aggregate() => Ev { category: Category::Made, ..ev.clone() },
                _ => {
                    let value = self.rvalue_as(&ev, &ty, span);
                    Ev::value(value, ty.clone())
                }
            };
            self.active[index].direct = Some(direct);
            return;
        }
        let object = self.result_object_of(index, &ty, span);
        let address = self.address(object, span);
        if let Ty::Class(class) = &ty
            && converts(&ev.ty)
            && self.constructor_with(address, class, vec![Arg::of(ev.clone(), value)], span)
        {
            return;
        }
        self.copy_to(address, &ty, &ev, span);
    }

    /// A variable of the function that it returns becomes the result, or is moved into it where it is a parameter.
    fn give_away(&mut self, ev: &mut Ev) {
        let (What::Place(address), Some(active)) = (&ev.what, self.active.last()) else { return };
        let Op::Address(object) = *self.op(*address) else { return };
        let known = &self.graph.objects[object.index()];
        if ev.category != Category::Lvalue || known.kind != ObjectKind::Local || known.frame != active.frame {
            return;
        }
        if active.params.contains(&Some(object)) {
            ev.category = Category::Moved;
            return;
        }
        ev.category = Category::Made;
        self.activation().given_away = Some(object);
    }

    pub fn frame_name(&self, callable: &Callable) -> Name {
        let header = self.program.item(callable.item);
        let own = self.has_own_item(callable);
        let name = if own { &header.name } else { &callable.function.name };
        match &callable.class {
            Some(class) => match &class.class.name {
                Some(class) => Name::from(format!("{class}::{name}")),
                None => name.clone(),
            },
            None => name.clone(),
        }
    }

    // Parameters

    // Without a body

    // Closures

    // Constructors
}

/// The type of `this` in a method.
fn this_type(class: &Arc<ClassTy>, function: &Function) -> Ty {
    let of = Ty::Class(class.clone());
    Ty::Pointer(Arc::new(Pointee { ty: of, is_const: function.leaves_object, is_volatile: false, restrict: false }))
}

/// The same function with the same template arguments; arguments that nobody knows (`N / 2` of an open `N`) count as the same.
fn is_again(active: &CallKey, key: &CallKey) -> bool {
    let open = |bounds: &[Bound]| bounds.iter().any(|bound| matches!(bound, Bound::Runtime(_)));
    let is_open = open(&key.args) || key.class.as_ref().is_some_and(|class| open(&class.args));
    match (&active.class, &key.class) {
        _ if active == key => true,
        (None, None) => is_open && active.function == key.function && active.statics == key.statics,
        (Some(a), Some(b)) => is_open && active.function == key.function && Arc::ptr_eq(&a.class, &b.class),
        _ => false,
    }
}

fn is_part_of_key(ty: &Ty) -> bool {
    ty.is_static() || matches!(ty, Ty::Functions(_))
}

/// The body's only `return` is its last statement.
fn returns_last(body: &Stmt) -> bool {
    let StmtKind::Block(list) = &body.kind else { return false };
    if !matches!(list.last(), Some(Stmt { kind: StmtKind::Return(Some(_)), .. })) {
        return false;
    }
    let mut count = 0;
    visit(vec![Node::Stmt(body)], |node| match node {
        Node::Stmt(Stmt { kind: StmtKind::Return(_), .. }) => {
            count += 1;
            true
        }
        Node::Stmt(Stmt { kind: StmtKind::LocalClass(_), .. }) | Node::Expr(Expr { kind: ExprKind::Lambda(_), .. }) => {
            false
        }
        _ => count < 2,
    });
    count == 1
}

impl Function {
    /// No `return` in the body has a value.
    fn body_returns_nothing(&self) -> bool {
        let mut found = false;
        visit(vec![Node::Stmt(&self.body)], |node| match node {
            Node::Stmt(Stmt { kind: StmtKind::Return(Some(_)), .. }) => {
                found = true;
                false
            }
            Node::Stmt(Stmt { kind: StmtKind::LocalClass(_), .. })
            | Node::Expr(Expr { kind: ExprKind::Lambda(_), .. }) => false,
            _ => !found,
        });
        !found
    }
}
