//! The root of a graph: its template arguments, its parameters, its body.

use super::builder::{Activation, Builder, CallKey};
use super::program::Program;
use super::scope::{Binding, ScopeId};
use super::types::{Bound, Callable, ClassTy, Ty};
use super::{Given, Instance};
use crate::graph::*;
use crate::program::*;
use crate::text::Span;
use crate::words::Words;
use std::sync::Arc;

/// A graph, and whose bodies are in it.
#[derive(Debug)]
pub struct Inlined {
    pub graph: Graph,
    /// Functions that were followed, in order.
    pub items: Vec<ItemId>,
}

/// The root with everything it calls.
pub fn inline(program: &Program, words: &Words, root: ItemId, instance: &Instance) -> Inlined {
    let mut builder = Builder::new(program, words, root);
    builder.graph.frames.push(Frame {
        function: root,
        name: program.item(root).name.clone(),
        call: None,
        result: None,
        is_guess: false,
    });
    builder.graph.is_kernel = program.item(root).is_kernel;
    builder.block = builder.new_block();
    // A value for what is not emitted once the graph has grown too large.
    builder.unknown(Vec::new(), Span::default());
    if let Some(function) = program.function(root) {
        let function = function.clone();
        builder.root(root, &function, instance);
    }
    builder.inlined.insert(root);
    let mut items: Vec<ItemId> = builder.inlined.into_iter().collect();
    items.sort();
    Inlined { graph: builder.graph, items }
}

impl Builder<'_> {
    fn root(&mut self, root: ItemId, function: &Arc<Function>, instance: &Instance) {
        // Types may hold constants that functions work out: there is an activation before anything is resolved.
        self.active.push(Activation {
            // Never equal to a call's: a recursive root is followed once more as a callee.
            key: CallKey { function: 0, args: Vec::new(), class: None, scope: None, statics: Vec::new() },
            function: function.clone(),
            frame: FrameId(0),
            entry: BlockId(0),
            exit: None,
            result: Ty::Unknown,
            returns_reference: false,
            result_object: None,
            direct: None,
            may_be_direct: false,
            recursions: Vec::new(),
            cleanup_base: 0,
            breaks: Vec::new(),
            continues: Vec::new(),
            switches: Vec::new(),
            labels: Default::default(),
            params: Vec::new(),
            this_object: None,
            args: Vec::new(),
            static_result: None,
            given_away: None,
        });
        let header = self.program.item(root);
        let class = header.class.and_then(|class| self.open_class(class));
        let callable = Callable {
            item: root,
            function: function.clone(),
            class: class.clone(),
            scope: None,
            is_static: header.is_static,
        };
        let parent = self.scope_of_callable(&callable);
        let scope = self.new_scope(Some(parent), root);
        self.scope = scope;
        let is_open = instance.template_args.is_empty();
        let given = self.given_arguments(&instance.template_args, &function.template, scope);
        let mut bounds = self.complete_arguments(&function.template, given, scope);
        if is_open {
            self.open_packs(root, &function.template, &mut bounds);
            self.bind_template(scope, &function.template, &bounds);
        }
        if let Some(class) = &class
            && !header.is_static
        {
            let pointer = Ty::pointer_to(Ty::Class(class.clone()));
            let this = Source::Param { index: u32::MAX, name: Name::from("this"), read_only: false, object: true };
            let value = self.source(this, Span::default());
            self.bind(&Name::from("this"), Binding::Value { value, ty: pointer });
        }
        for (index, param) in function.params.iter().enumerate() {
            self.root_param(index as u32, param);
        }
        if let Some(unreadable) = function.unreadable {
            let at = self.at(unreadable);
            self.incomplete(at, "a part of the body could not be read".to_string());
        }
        let result = self.resolve(&function.result);
        self.assume_of_arguments(&bounds);
        let own = self.activation();
        own.result = result;
        own.args = bounds;
        self.statement(&function.body);
        let end = function.body.span.end;
        let at = self.at(Span { start: end.saturating_sub(1), end });
        self.finish(End::Exit { how: Exit::End, at });
    }

    fn given_arguments(&mut self, given: &[Given], params: &[TemplateParam], scope: ScopeId) -> Vec<Bound> {
        let mut bounds: Vec<Bound> = Vec::with_capacity(given.len());
        for one in given {
            let bound = match one {
                Given::Written(arg) => {
                    bounds.extend(self.template_arguments(std::slice::from_ref(arg)));
                    continue;
                }
                Given::Lambda { function, at } => self.launched_lambda(*function, *at).map(Bound::Type),
                Given::Open => None,
            };
            match (bound, params.get(bounds.len())) {
                (Some(bound), _) => bounds.push(bound),
                (None, Some(param)) => {
                    let open = self.default_argument(param, scope);
                    bounds.push(open);
                }
                (None, None) => {}
            }
        }
        bounds
    }

    /// Packs that nobody gave hold one open element, which stands for any number.
    fn open_packs(&mut self, root: ItemId, params: &[TemplateParam], bounds: &mut [Bound]) {
        for (param, bound) in params.iter().zip(bounds) {
            match param {
                TemplateParam::Type { pack: true, name: Some(name), .. } => {
                    *bound = Bound::Pack(vec![Bound::Type(Ty::Param(name.clone()))]);
                }
                TemplateParam::Value { pack: true, name: Some(name), .. } => {
                    *bound = Bound::Pack(vec![Bound::Runtime(self.unbound_value(root, name))]);
                }
                _ => {}
            }
        }
    }

    /// A class with its template parameters open.
    fn open_class(&mut self, item: ItemId) -> Option<Arc<ClassTy>> {
        let class = self.program.class(item)?.clone();
        let outer = match self.program.item(item).class {
            Some(outer) => {
                let outer = self.open_class(outer)?;
                Some(self.class_scope(&outer))
            }
            None => None,
        };
        let parent = match outer {
            Some(scope) => scope,
            None => self.item_scope(item),
        };
        let inside = self.new_scope(Some(parent), item);
        let args: Vec<Bound> = self.complete_arguments(&class.template, Vec::new(), inside);
        Some(Arc::new(ClassTy::new(item, class, args.clone(), outer, args)))
    }

    pub(super) fn root_param(&mut self, index: u32, param: &Param) {
        let name = param.name.clone().unwrap_or_else(|| Name::from(format!("parameter {index}")));
        if !param.pack {
            let binding = self.root_binding(index, &name, param);
            return self.bind(&name, binding);
        }
        let packs = self.packs_of_type(&param.ty);
        let count = packs.first().map_or(0, |(_, count)| *count);
        let mut elements = Vec::with_capacity(count);
        for element in 0..count {
            let outer = self.enter_element(&packs, element);
            elements.push(self.root_binding(index + element as u32, &name, param));
            self.leave_scope(outer);
        }
        self.bind(&name, Binding::Pack(elements));
    }

    fn packs_of_type(&self, ty: &Type) -> Vec<(Name, usize)> {
        match &ty.kind {
            TypeKind::Pointer(inner) | TypeKind::Reference(inner) | TypeKind::Array(inner, _) => {
                self.packs_of_type(inner)
            }
            TypeKind::Named(path) => {
                let name = ExprKind::Name(path.clone());
                self.names_of_packs(&Expr { kind: name, span: Span::default() })
            }
            _ => Vec::new(),
        }
    }

    fn root_binding(&mut self, index: u32, name: &Name, param: &Param) -> Binding {
        let span = param.span;
        let ty = match self.resolve(&param.ty) {
            Ty::Array(of, _) => Ty::pointer_to((*of).clone()),
            other => other,
        };
        if ty.value().is_static() {
            return Binding::Static(ty.value().clone());
        }
        let read_only = match &ty {
            Ty::Pointer(target) | Ty::Reference(target) => target.is_const && target.restrict,
            _ => false,
        };
        let object = matches!(ty, Ty::Reference(_));
        let value = self.source(Source::Param { index, name: name.clone(), read_only, object }, span);
        if let Ty::Reference(target) = &ty {
            return Binding::Alias {
                address: value,
                ty: target.ty.clone(),
                is_const: target.is_const,
                is_volatile: target.is_volatile,
            };
        }
        let object = self.new_object(name, ObjectKind::Local, &ty, span);
        self.graph.objects[object.index()].is_volatile = param.ty.is_volatile;
        self.note_const(object, &param.ty);
        let address = self.address(object, span);
        self.store(address, value, span);
        Binding::Object { object, ty, constant: None }
    }
}
