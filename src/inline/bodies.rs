//! A call's body into the graph: frame, parameters, result, recursion, and what happens where the budget ends.

use super::builder::{Activation, Builder, CallKey, Closure};
use super::calls::Arg;
use super::facts::{self, Holds};
use super::scope::Binding;
use super::types::{Bound, Callable, ClassTy, Ty};
use super::values::{Ev, What};
use super::visit::{Node, visit};
use crate::graph::*;
use crate::program::*;
use crate::text::Span;
use std::sync::Arc;

/// Nodes of a body without a barrier up to which it is followed.
const SMALL: u32 = 600;

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
        let reach = self.reach_of(callable);
        if !self.is_worth_following(callable, reach) || !self.descend(span) {
            return self.call_without_body(callable, reach, this, &list, span);
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
        size <= SMALL && self.graph.insts.len() < self.limits.detail && self.graph.blocks.len() < self.limits.blocks / 2
    }

    fn calls_itself(&mut self, callable: &Callable) -> bool {
        self.has_own_item(callable)
            && self
                .program
                .facts(callable.item, self.words)
                .calls
                .iter()
                .any(|call| call.name == callable.function.name)
    }

    fn has_own_item(&self, callable: &Callable) -> bool {
        self.program.function(callable.item).is_some_and(|function| Arc::ptr_eq(function, &callable.function))
    }

    /// What the function holds, with all it may call.
    pub fn reach_of(&mut self, callable: &Callable) -> Holds {
        if self.has_own_item(callable) {
            return self.program.reach(callable.item, self.words);
        }
        let facts = facts::of_function(&callable.function, self.words);
        let mut holds = facts.what;
        for call in &facts.calls {
            self.join_items(call, &mut holds);
        }
        holds
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
        self.graph.frames.push(Frame { function: callable.item, name, call: Some((caller.0, call_at)) });

        let parent = self.scope_of_callable(callable);
        let scope = self.new_scope(Some(parent), callable.item);
        self.bind_template(scope, &function.template, &bounds);
        let mut this_object = None;
        if let (Some(address), Some(class)) = (this_address, &callable.class) {
            let pointer = Ty::pointer_to(Ty::Class(class.clone()));
            if self.calls_itself(callable) {
                // The object may be another one in each call.
                let object = self.temporary("this", &pointer, span);
                let slot = self.address(object, span);
                self.store(slot, address, span);
                this_object = Some(object);
            }
            self.bind_in(scope, &Name::from("this"), Binding::Value { value: address, ty: pointer });
            let dynamic = this.as_ref().and_then(|this| self.dynamic_class(this, address));
            if let Some(dynamic) = dynamic {
                self.bind_in(scope, &Name::from("this class"), Binding::Type(Ty::Class(dynamic)));
            }
        }
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
            let ty = Ty::pointer_to(Ty::Class(class.clone()));
            self.bind_in(scope, &Name::from("this"), Binding::Value { value, ty });
        }
        if let Some(unreadable) = function.unreadable {
            let at = self.at(unreadable);
            self.graph.incomplete.push((at, "a part of the body could not be read".to_string()));
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
        });
        if let (Some(address), Some(class)) = (this_address, &callable.class)
            && Some(&function.name) == class.class.name.as_ref()
        {
            self.initialise_in_constructor(address, &class.clone(), &function);
        }
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
            let go_on = self.new_block();
            let mut targets = vec![go_on];
            targets.extend(&done.recursions);
            self.finish(End::Choose(targets));
            self.go_on(go_on);
        }
        self.result_of(done, span)
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
            None => Ev::nothing(),
        }
    }

    fn read_result(&mut self, object: ObjectId, result: &Ty, is_reference: bool, span: Span) -> Ev {
        let address = self.address(object, span);
        let ty = result.value().clone();
        if is_reference {
            let target = self.load(address, false, span);
            return Ev::place(target, ty);
        }
        if ty.is_aggregate() {
            return Ev::place(address, ty);
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
                let value = self.rvalue(ev, arg.span);
                let address = self.address(*object, arg.span);
                self.store(address, value, arg.span);
            }
        }
        self.jump(entry, Leaving::Fall, span);
        let behind = self.new_block();
        self.go_on(behind);
        self.active[index].recursions.push(behind);
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
        let object = self.temporary("result", ty.value(), span);
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
                self.active[index].direct = Some(ev.clone());
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
        if matches!(result, Ty::Class(_) | Ty::Vector { .. } | Ty::Array(..)) {
            if let ExprKind::InitList(_) = value.kind {
                let object = self.result_object_of(index, &result, span);
                let address = self.address(object, span);
                return self.initialise(address, &result, value);
            }
        }
        let ev = self.eval(value);
        if ev.ty.is_static() {
            self.active[index].static_result = Some(ev.ty);
            return;
        }
        if matches!(ev.what, What::Nothing) {
            return;
        }
        let ty = if result.is_known() { result.clone() } else { super::templates::decay(&ev.ty) };
        if !result.is_known() {
            self.active[index].result = ty.clone();
        }
        if self.active[index].may_be_direct && self.active[index].recursions.is_empty() {
            let direct = match (&ev.what, &ty) {
                (What::Parts(_), _) => ev.clone(),
                (What::Place(_), ty) if ty.is_aggregate() => ev.clone(),
                _ => {
                    let value = self.rvalue(&ev, span);
                    Ev::value(self.convert(value, &ev.ty, &ty, span), ty.clone())
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
        self.store_to(address, &ty, &ev, span);
    }

    fn frame_name(&self, callable: &Callable) -> Name {
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

    /// The class of the object itself, where it is a variable and not something behind a pointer.
    fn dynamic_class(&mut self, this: &Ev, address: Value) -> Option<Arc<ClassTy>> {
        if let Some(Binding::Value { value, .. }) = self.local("this")
            && *value == address
        {
            return match self.local("this class") {
                Some(Binding::Type(Ty::Class(class))) => Some(class.clone()),
                _ => None,
            };
        }
        match (this.ty.value(), self.op(address)) {
            (Ty::Class(class), Op::Address(object)) => {
                Some(self.object_classes.get(object).cloned().unwrap_or_else(|| class.clone()))
            }
            _ => None,
        }
    }

    // Parameters

    fn bind_params(
        &mut self,
        callable: &Callable,
        scope: super::scope::ScopeId,
        frame: FrameId,
        list: Vec<Arg>,
        span: Span,
    ) -> Vec<Option<ObjectId>> {
        let function = callable.function.clone();
        let mut objects = Vec::new();
        let mut list = list.into_iter();
        for (index, param) in function.params.iter().enumerate() {
            if param.pack {
                let rest: Vec<Arg> = list.by_ref().collect();
                let mut pack = Vec::new();
                for arg in rest {
                    let (binding, _) = self.bind_param(callable, scope, frame, param, arg);
                    pack.push(binding);
                }
                if let Some(name) = &param.name {
                    self.bind_in(scope, name, Binding::Pack(pack));
                }
                objects.push(None);
                break;
            }
            let arg = match list.next() {
                Some(arg) => arg,
                None => match self.default_of(callable, index) {
                    Some((item, value)) => {
                        let ev = self.in_item(item, scope, |builder| builder.eval_place(&value));
                        Arg { ev: Some(ev), expr: None, span }
                    }
                    None => continue,
                },
            };
            let (binding, object) = self.bind_param(callable, scope, frame, param, arg);
            objects.push(object);
            if let Some(name) = &param.name {
                self.bind_in(scope, name, binding);
            }
        }
        objects
    }

    fn bind_param(
        &mut self,
        callable: &Callable,
        scope: super::scope::ScopeId,
        frame: FrameId,
        param: &Param,
        arg: Arg,
    ) -> (Binding, Option<ObjectId>) {
        let declared = self.resolve_in(scope, &param.ty);
        let declared = match declared {
            Ty::Array(of, _) => Ty::pointer_to((*of).clone()),
            other => other,
        };
        let by_reference = super::declare::is_reference(&param.ty);
        let arg_ty = arg.ty();
        if arg_ty.is_static() {
            let ty = match (declared.value(), &arg_ty) {
                (Ty::Group(super::types::GroupTy::Tile(Some(_))), Ty::Group(_)) => declared.value().clone(),
                _ => arg_ty,
            };
            return (Binding::Static(ty), None);
        }
        if declared.value().is_static() {
            return (Binding::Static(declared.value().clone()), None);
        }
        let wanted = declared.value().clone();
        let ty = match (&wanted, arg_ty.value()) {
            (Ty::Unknown | Ty::Param(_), other) if by_reference => other.clone(),
            (Ty::Unknown | Ty::Param(_), other) => super::templates::decay(other),
            (Ty::FunctionPointer, Ty::Functions(set)) => Ty::Functions(*set),
            (Ty::Pointer(pointee), other @ (Ty::Pointer(_) | Ty::Array(..))) if !pointee.ty.is_known() => {
                super::templates::decay(other)
            }
            _ => wanted,
        };
        if by_reference && let Some(ev) = arg.ev.as_ref().filter(|ev| ev.is_place()) {
            let address = self.address_of(ev, arg.span);
            return (Binding::Alias { address, ty, is_volatile: ev.is_volatile }, None);
        }
        let name = param.name.clone().unwrap_or_else(|| Name::from("parameter"));
        let outer = (self.frame, self.item);
        (self.frame, self.item) = (frame, callable.item);
        let object = self.new_object(&name, ObjectKind::Local, &ty, param.span);
        self.graph.objects[object.index()].is_volatile = param.ty.is_volatile;
        (self.frame, self.item) = outer;
        let address = self.address(object, arg.span);
        match (&arg.ev, arg.expr) {
            (Some(ev), _) => {
                let ev = ev.clone();
                let converted = match &ty {
                    Ty::Class(class) if converts(&ev.ty) && callable.class.as_ref() != Some(class) => {
                        let given = Arg { ev: Some(ev.clone()), expr: None, span: arg.span };
                        self.constructor_with(address, &class.clone(), vec![given], arg.span)
                    }
                    _ => false,
                };
                if !converted {
                    self.store_to(address, &ty, &ev, arg.span);
                }
            }
            (None, Some(expr)) => self.initialise(address, &ty, expr),
            (None, None) => {}
        }
        (Binding::Object { object, ty, constant: None }, Some(object))
    }

    // Without a body

    /// A call that is not followed: its result comes from the arguments, what they point to may have been written.
    fn call_without_body(
        &mut self,
        callable: &Callable,
        reach: Holds,
        this: Option<Ev>,
        list: &[Arg],
        span: Span,
    ) -> Ev {
        let name = self.frame_name(callable);
        let at = self.at(span);
        if reach.barrier {
            self.graph.incomplete.push((at, format!("the call of `{name}` was not followed: the limit was reached")));
        }
        self.graph.multidimensional |= reach.multidimensional;
        let mut from = self.arg_values(list);
        if let Some(this) = &this {
            let this = this.clone();
            from.push(self.rvalue(&this, span));
        }
        if reach.varying {
            from.push(self.source(Source::Varying(name.clone()), span));
        }
        if reach.writes || !reach.barrier {
            self.clobber_args(list, &from, span);
            if let Some(What::Place(address)) = this.map(|this| this.what) {
                self.emit(Op::Clobber { address, from: from.clone() }, span);
            }
        }
        let scope = self.scope_of_callable(callable);
        let result = self.resolve_in(scope, &callable.function.result);
        if result == Ty::Void {
            return Ev::nothing();
        }
        let value = self.emit(Op::Unknown { from, unseen: Some(name) }, span);
        match result {
            Ty::Reference(pointee) => self.place_behind(value, &pointee),
            ty => Ev::value(value, ty),
        }
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
                self.emit(Op::Clobber { address, from: from.to_vec() }, span);
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

    // Closures

    pub fn eval_lambda(&mut self, lambda: &Arc<Lambda>) -> Ev {
        let outer = self.enter_scope();
        let mut copied: Vec<Name> = Vec::new();
        for (name, how, init) in &lambda.captures {
            if let Some(value) = init {
                let ev = if *how == Capture::ByReference { self.eval_place(value) } else { self.eval(value) };
                let captured = self.capture(name, ev, *how, lambda.span);
                self.bind(name, captured);
                copied.push(name.clone());
            } else if *how == Capture::ByValue && &**name != "this" && &**name != "*this" {
                self.copy_capture(name, lambda.span);
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
                self.copy_capture(name, lambda.span);
            }
        }
        let scope = self.scope;
        self.leave_scope(outer);
        self.closures.push(Closure { lambda: lambda.clone(), scope, item: self.item });
        Ev::typed(Ty::Closure(self.closures.len() as u32 - 1))
    }

    fn copy_capture(&mut self, name: &Name, span: Span) {
        let ev = match self.local(name) {
            Some(Binding::Object { object, ty, constant: None })
                if self.graph.objects[object.index()].kind == ObjectKind::Local =>
            {
                let (object, ty) = (*object, ty.clone());
                Ev::place(self.address(object, span), ty)
            }
            Some(Binding::Alias { address, ty, is_volatile }) => {
                Ev { what: What::Place(*address), ty: ty.clone(), is_volatile: *is_volatile }
            }
            _ => return,
        };
        let captured = self.capture(name, ev, Capture::ByValue, span);
        self.bind(name, captured);
    }

    fn capture(&mut self, name: &Name, ev: Ev, how: Capture, span: Span) -> Binding {
        if ev.ty.is_static() {
            return Binding::Static(ev.ty);
        }
        if how == Capture::ByReference {
            let address = self.address_of(&ev, span);
            return Binding::Alias { address, ty: ev.ty.value().clone(), is_volatile: ev.is_volatile };
        }
        let ty = match &ev.what {
            What::Place(_) => ev.ty.value().clone(),
            _ => super::templates::decay(&ev.ty),
        };
        let object = self.new_object(name, ObjectKind::Local, &ty, span);
        let address = self.address(object, span);
        match (&ev.what, &ty) {
            (What::Place(from), Ty::Array(..)) => {
                self.emit(Op::Copy { to: address, from: *from }, span);
            }
            _ => self.store_to(address, &ty, &ev, span),
        }
        Binding::Object { object, ty, constant: None }
    }

    pub fn call_closure(&mut self, number: u32, list: Vec<Arg>, span: Span) -> Ev {
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
        self.call_function(&callable, None, list, &[], span)
    }

    // Constructors

    /// Runs the constructor that fits; `false` if the class has none in view.
    pub fn constructor(&mut self, address: Value, class: &Arc<ClassTy>, args: &[Expr], span: Span) -> bool {
        if self.constructors_of(class).is_empty() {
            return false;
        }
        let list = self.eval_args(args);
        if !self.constructor_with(address, class, list.clone(), span) {
            // A copy: such a constructor is not written.
            let values: Vec<Ev> = list.iter().filter_map(|arg| arg.ev.clone()).collect();
            match &values[..] {
                [ev] if matches!(ev.ty.value(), Ty::Class(_)) || !ev.ty.is_known() => {
                    self.store_to(address, &Ty::Class(class.clone()), ev, span);
                }
                [] => self.default_members(address, class, &[], span),
                _ => {
                    let from = self.arg_values(&list);
                    self.emit(Op::Clobber { address, from }, span);
                }
            }
        }
        true
    }

    fn constructors_of(&mut self, class: &Arc<ClassTy>) -> Vec<Callable> {
        match class.class.name.clone() {
            Some(name) => self.methods_of(class, &name),
            None => Vec::new(),
        }
    }

    pub fn constructor_with(&mut self, address: Value, class: &Arc<ClassTy>, list: Vec<Arg>, span: Span) -> bool {
        let set = self.constructors_of(class);
        let best = self.best_of(&set, &list, &[]);
        let Some(one) = best.first().cloned() else { return false };
        let this = Ev::value(address, Ty::pointer_to(Ty::Class(class.clone())));
        self.call_function(&one, Some(this), list, &[], span);
        true
    }

    /// Bases and members before a constructor's body.
    fn initialise_in_constructor(&mut self, address: Value, class: &Arc<ClassTy>, function: &Function) {
        let fields = self.fields_of(class);
        let mut set: Vec<Name> = Vec::new();
        for (path, args) in &function.initialisers {
            let Some(last) = path.segments.last() else { continue };
            let span = args.first().map_or(function.body.span, |arg| arg.span);
            if let [_] = &path.segments[..]
                && let Some((name, ty)) = fields.iter().find(|(name, _)| *name == last.name).cloned()
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

/// A value of this type becomes an object of a class through a constructor.
pub fn converts(ty: &Ty) -> bool {
    !matches!(ty.value(), Ty::Class(_) | Ty::Named(_) | Ty::Unknown | Ty::Param(_) | Ty::Void)
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
