//! Lambdas: what they capture when they are made, and calling them.

use super::builder::{Builder, Closure};
use super::calls::Arg;
use super::scope::Binding;
use super::types::{Bound, Callable, Ty};
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
            } else if *how == Capture::ByValue && &**name != "this" && &**name != "*this" {
                self.copy_capture(name, lambda);
                copied.push(name.clone());
            } else {
                copied.push(name.clone());
            }
        }
        if lambda.default_capture == Some(Capture::ByValue) {
            let mut names: Vec<Name> = Vec::new();
            visit(vec![Node::Stmt(&lambda.function.body)], |node| {
                if let Node::Expr(Expr { kind: ExprKind::Name(path), .. }) = node
                    && let [only] = &path.segments[..]
                    && !names.contains(&only.name)
                {
                    names.push(only.name.clone());
                }
                true
            });
            for name in names.iter().filter(|name| !copied.contains(name)) {
                self.copy_capture(name, lambda);
            }
        }
        let scope = self.scope;
        self.leave_scope(outer);
        self.closures.push(Closure { lambda: lambda.clone(), scope, item: self.item });
        Ev::typed(Ty::Closure(self.closures.len() as u32 - 1))
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
        let callable =
            Callable { item: closure.item, function, class: None, scope: Some(closure.scope), is_static: true };
        self.call_function(&callable, None, list, explicit, span)
    }
}
