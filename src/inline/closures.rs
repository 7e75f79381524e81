//! Lambdas: what they capture when they are made, and calling them.

use super::builder::{Builder, Closure};
use super::calls::Arg;
use super::overloads::{has_pack, written_so};
use super::scope::Binding;
use super::types::{Bound, Callable, Pointee, Ty};
use super::values::{Ev, What};
use super::visit::{Node, visit};
use crate::graph::*;
use crate::program::*;
use crate::text::Span;
use std::sync::Arc;

impl Builder<'_> {
    pub fn eval_lambda(&mut self, lambda: &Arc<Lambda>) -> Ev {
        let outer = self.enter_scope();
        let mut copied: Vec<Name> = Vec::new();
        for (name, how, init) in &lambda.captures {
            if let Some(value) = init {
                let ev = if *how == Capture::ByReference { self.eval_place(value) } else { self.eval(value) };
                let captured = self.capture(name, ev, *how, lambda);
                self.bind(name, captured);
                copied.push(name.clone());
            } else {
                match (how, &**name) {
                    (Capture::ByValue, "this") => self.copy_this(lambda),
                    (Capture::ByValue, _) => self.copy_capture(name, lambda),
                    (Capture::ByReference, _) => {}
                }
                copied.push(name.clone());
            }
        }
        if lambda.default_capture == Some(Capture::ByValue) {
            let names = names_in(&lambda.function.body);
            for name in names.iter().filter(|name| !copied.contains(name)) {
                self.copy_capture(name, lambda);
            }
        }
        let scope = self.scope;
        self.leave_scope(outer);
        self.closures.push(Closure { lambda: lambda.clone(), scope, item: self.item });
        Ev::typed(Ty::Closure(self.closures.len() as u32 - 1))
    }

    /// The closure that a launch makes of a lambda in a host function: what it captures is as much the same for all threads
    /// as a kernel's parameters are.
    pub fn launched_lambda(&mut self, host: ItemId, at: u32) -> Option<Ty> {
        let function = self.program.function(host)?.clone();
        let (mut lambda, mut locals, mut aliases) = (None, Vec::new(), Vec::new());
        visit(vec![Node::Stmt(&function.body)], |node| {
            match node {
                Node::Declaration(local) => locals.push(local),
                Node::Stmt(Stmt { kind: StmtKind::Alias(name, ty), .. }) => aliases.push((name, ty)),
                Node::Expr(Expr { kind: ExprKind::Lambda(found), .. }) if found.span.start == at => {
                    lambda = Some(found.clone());
                }
                _ => {}
            }
            lambda.is_none()
        });
        let lambda = lambda?;
        let named = names_in(&lambda.function.body);
        let outer = self.item_scope(host);
        let scope = self.new_scope(Some(outer), host);
        self.in_item(host, scope, |builder| {
            builder.complete_arguments(&function.template, Vec::new(), scope);
            for (name, ty) in aliases {
                let ty = builder.resolve(ty);
                builder.bind(name, Binding::Type(ty));
            }
            for (index, param) in function.params.iter().enumerate() {
                if param.name.as_ref().is_some_and(|name| named.contains(name)) {
                    builder.root_param(index as u32, param);
                }
            }
            // The lambda is part of the declaration that it is the value of.
            for (index, local) in locals.iter().enumerate() {
                if named.contains(&local.name) && !(local.span.start <= at && at < local.span.end) {
                    builder.captured_by_launch((function.params.len() + index) as u32, host, local);
                }
            }
        });
        self.closures.push(Closure { lambda, scope, item: host });
        Some(Ty::Closure(self.closures.len() as u32 - 1))
    }

    fn captured_by_launch(&mut self, index: u32, host: ItemId, local: &Declaration) {
        if let Init::Expr(value) = &local.init {
            if let ExprKind::Lambda(lambda) = &value.kind
                && let Some(ty) = self.launched_lambda(host, lambda.span.start)
            {
                return self.bind(&local.name, Binding::Static(ty));
            }
            if (local.ty.is_const || local.storage.is_constexpr)
                && let Some(value) = self.constant(value)
            {
                let ty = self.resolve(&local.ty);
                return self.bind(&local.name, Binding::Constant { value, ty });
            }
        }
        let (name, ty, span) = (Some(local.name.clone()), local.ty.clone(), local.span);
        self.root_param(index, &Param { name, ty, default: None, pack: false, span });
    }

    fn copy_capture(&mut self, name: &Name, lambda: &Lambda) {
        let span = lambda.span;
        let ev = match self.local(name) {
            Some(Binding::Object { object, ty, constant: None })
                if self.graph.objects[object.index()].kind == ObjectKind::Local =>
            {
                let (object, ty) = (*object, ty.clone());
                Ev::place(self.address(object, span), ty)
            }
            Some(Binding::Alias { address, ty, is_volatile, .. }) => {
                Ev::volatile_place(*address, ty.clone(), *is_volatile)
            }
            _ => return,
        };
        let captured = self.capture(name, ev, Capture::ByValue, lambda);
        self.bind(name, captured);
    }

    /// `[*this]`: in the lambda `this` is a copy of the object.
    fn copy_this(&mut self, lambda: &Lambda) {
        let Some(this) = self.this_object() else { return };
        let (span, ty) = (lambda.span, this.ty.value().clone());
        let object = self.temporary("the copy of `*this`", &ty, span);
        let address = self.address(object, span);
        self.copy_to(address, &ty, &this, span);
        let is_const = lambda.function.leaves_object;
        let pointer = Pointee { ty, is_const, is_volatile: false, restrict: false };
        self.bind(&Name::from("this"), Binding::Value { value: address, ty: Ty::Pointer(Arc::new(pointer)) });
    }

    fn capture(&mut self, name: &Name, ev: Ev, how: Capture, lambda: &Lambda) -> Binding {
        let span = lambda.span;
        if ev.ty.is_static() {
            return Binding::Static(ev.ty);
        }
        if how == Capture::ByReference {
            let address = self.address_of(&ev, span);
            let (ty, is_const) = (ev.ty.value().clone(), ev.is_const);
            return Binding::Alias { address, ty, is_const, is_volatile: ev.is_volatile };
        }
        let ty = match &ev.what {
            What::Place(_) => ev.ty.value().clone(),
            _ => super::templates::decay(&ev.ty),
        };
        let object = self.new_object(name, ObjectKind::Local, &ty, span);
        if lambda.function.leaves_object {
            self.const_objects.insert(object);
        }
        let address = self.address(object, span);
        match (&ev.what, &ty) {
            (What::Place(from), Ty::Array(..)) => {
                self.emit(Op::Copy { to: address, from: *from }, span);
            }
            _ => self.copy_to(address, &ty, &ev, span),
        }
        Binding::Object { object, ty, constant: None }
    }

    pub fn call_closure(&mut self, number: u32, list: Vec<Arg>, explicit: &[Bound], span: Span) -> Ev {
        let callable = self.function_of_closure(number);
        self.call_function(&callable, None, list, explicit, span)
    }

    /// What a closure becomes where a pointer to a function is wanted.
    pub fn pointer_to_closure(&mut self, number: u32, span: Span) -> Ev {
        let function = self.function_of_closure(number);
        self.pointer_to(vec![function], span)
    }

    /// One of the functions that a name means, as a value.
    pub fn pointer_to(&mut self, set: Vec<Callable>, span: Span) -> Ev {
        let set = self.function_set(set);
        Ev::value(self.int(i64::from(set) + 1, span), Ty::Functions(set))
    }

    /// `thunk<Own>` as a value: the templates of the name with these arguments, each a function of its own.
    pub fn instances_named(&mut self, set: Vec<Callable>, segment: &Segment) -> Vec<Callable> {
        let Some(explicit) = self.written_arguments(segment) else { return set };
        let set = written_so(set, segment);
        set.into_iter().map(|one| self.instance_of(one, &explicit)).collect()
    }

    fn instance_of(&mut self, callable: Callable, explicit: &[Bound]) -> Callable {
        if callable.function.template.len() != explicit.len() || has_pack(&callable.function.template) {
            return callable;
        }
        let key = (Arc::as_ptr(&callable.function) as usize, callable.class.clone(), Box::from(explicit));
        if let Some(known) = self.instances.get(&key) {
            return known.clone();
        }
        let parent = self.scope_of_callable(&callable);
        let scope = self.new_scope(Some(parent), callable.item);
        self.bind_template(scope, &callable.function.template, explicit);
        let function = Function { template: Vec::new(), ..(*callable.function).clone() };
        let instance = Callable { function: Arc::new(function), scope: Some(scope), ..callable };
        self.instances.insert(key, instance.clone());
        instance
    }

    pub fn function_of_closure(&mut self, number: u32) -> Callable {
        let closure = self.closures[number as usize].clone();
        let key = Arc::as_ptr(&closure.lambda) as usize;
        let function = match self.lambda_functions.get(&key) {
            Some(function) => function.clone(),
            None => {
                let function = Arc::new(closure.lambda.function.clone());
                self.lambda_functions.insert(key, function.clone());
                function
            }
        };
        Callable { item: closure.item, function, class: None, scope: Some(closure.scope), is_static: true }
    }
}

/// The plain names in a lambda's body, in order.
fn names_in(body: &Stmt) -> Vec<Name> {
    let mut names: Vec<Name> = Vec::new();
    visit(vec![Node::Stmt(body)], |node| {
        if let Node::Expr(Expr { kind: ExprKind::Name(path), .. }) = node
            && let [only] = &path.segments[..]
            && !names.contains(&only.name)
        {
            names.push(only.name.clone());
        }
        true
    });
    names
}
