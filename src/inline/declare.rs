//! Variables: what each declaration binds its name to, and how it is initialised and destroyed.

use super::builder::{Builder, StaticKey};
use super::names::Found;
use super::params::points_to_object;
use super::scope::Binding;
use super::types::{Callable, Pointee, Ty};
use super::values::{Category, Ev, What};
use super::visit::{Node, visit};
use crate::graph::*;
use crate::program::*;
use std::sync::Arc;

impl Builder<'_> {
    pub fn declare(&mut self, declaration: &Declaration) {
        let span = declaration.span;
        let storage = declaration.storage;
        if let Some(call) = as_indexed_call(declaration) {
            self.eval(&call);
            return;
        }
        if storage.shared || storage.is_static || storage.constant {
            return self.declare_static(declaration);
        }
        if storage.is_extern && matches!(declaration.init, Init::None) {
            // Declares something at namespace scope.
            return;
        }
        let ty = self.declared_type(declaration);
        let ty = match &declaration.init {
            Init::None => ty,
            Init::Expr(Expr { kind: ExprKind::InitList(list), .. }) => {
                let args: Vec<Expr> = list.iter().map(|(_, value)| value.clone()).collect();
                self.deduce_class(ty, &args)
            }
            Init::Expr(value) => self.deduce_class(ty, std::slice::from_ref(value)),
            Init::Arguments { args, .. } => self.deduce_class(ty, args),
        };
        match &declaration.init {
            Init::Expr(Expr { kind: ExprKind::InitList(list), .. }) if is_deduced(&declaration.ty) => {
                // `auto x = {..}`
                let ev = self.list_as_array(list, span);
                self.declare_as(declaration, ev);
            }
            Init::Expr(value) if !matches!(value.kind, ExprKind::InitList(_)) => {
                self.declare_from(declaration, &ty, value);
            }
            Init::Arguments { args, braces } if args.len() == 1 && !self.is_constructed(&ty, *braces) => {
                self.declare_from(declaration, &ty, &args[0]);
            }
            Init::None if ty.is_static() => self.bind(&declaration.name, Binding::Static(ty)),
            Init::None if ty == Ty::FunctionPointer => {
                let ty = self.pointer_with_assigned(&declaration.name, ty);
                self.new_variable(declaration, &ty);
            }
            init => {
                if ty.is_static() {
                    self.evaluate_all(init);
                    return self.bind(&declaration.name, Binding::Static(ty));
                }
                let address = self.new_variable(declaration, &ty);
                self.initialise_by(address, &ty, init, span);
                self.destroy_later(address, &ty, span);
            }
        }
    }

    fn evaluate_all(&mut self, init: &Init) {
        if let Init::Arguments { args, .. } = init {
            for arg in args {
                self.eval(arg);
            }
        }
    }

    /// Whether `T x(a)` calls a constructor rather than copying or converting.
    fn is_constructed(&mut self, ty: &Ty, braces: bool) -> bool {
        match ty {
            Ty::Reference(_) => false,
            Ty::Class(_) => true,
            Ty::Vector { .. } | Ty::Array(..) | Ty::Named(_) => true,
            Ty::Library(_) => true,
            _ => braces && ty.is_aggregate(),
        }
    }

    /// The declared type, completed from the initialiser: `auto` by itself stays unknown, `T x[] = {..}` is counted.
    pub fn declared_type(&mut self, declaration: &Declaration) -> Ty {
        let ty = self.resolve(&declaration.ty);
        match (&ty, &declaration.init) {
            (Ty::Array(of, extent), Init::Expr(value)) if **of == Ty::FunctionPointer => {
                let extent = extent.or(match &value.kind {
                    ExprKind::InitList(list) => Some(list.len() as i64),
                    _ => None,
                });
                match self.functions_in(value) {
                    Some(set) => Ty::Array(Arc::new(Ty::Functions(set)), extent),
                    None => ty.clone(),
                }
            }
            (Ty::Array(of, None), Init::Expr(Expr { kind: ExprKind::InitList(list), .. })) => {
                Ty::Array(of.clone(), Some(list.len() as i64))
            }
            (Ty::Array(of, None), Init::Arguments { args, braces: true }) => match &args[..] {
                [Expr { kind: ExprKind::InitList(list), .. }] => Ty::Array(of.clone(), Some(list.len() as i64)),
                args => Ty::Array(of.clone(), Some(args.len() as i64)),
            },
            (Ty::Array(of, None), Init::Expr(Expr { kind: ExprKind::Str(text), .. })) => {
                Ty::Array(of.clone(), Some(text.len() as i64 + 1))
            }
            (Ty::FunctionPointer, Init::Expr(value)) => self.functions_in(value).map_or(ty.clone(), Ty::Functions),
            (Ty::Array(of, extent), Init::Expr(value)) if **of == Ty::FunctionPointer => {
                match self.functions_in(value) {
                    Some(set) => Ty::Array(Arc::new(Ty::Functions(set)), *extent),
                    None => ty.clone(),
                }
            }
            _ => ty,
        }
    }

    /// The functions that an expression names, as one set.
    pub fn functions_in(&mut self, value: &Expr) -> Option<u32> {
        let mut paths: Vec<Path> = Vec::new();
        visit(vec![Node::Expr(value)], |node| match node {
            Node::Expr(Expr { kind: ExprKind::Name(path), .. }) => {
                paths.push(path.clone());
                true
            }
            Node::Expr(Expr { kind: ExprKind::Call { .. }, .. }) => false,
            _ => true,
        });
        let mut set: Vec<Callable> = Vec::new();
        for path in paths {
            let found = match self.find(&path) {
                Found::Functions(found) => match path.segments.last() {
                    Some(last) => self.instances_named(found, last),
                    None => found,
                },
                Found::Binding(
                    Binding::Static(Ty::Functions(known)) | Binding::Object { ty: Ty::Functions(known), .. },
                ) => self.function_sets[known as usize].clone(),
                _ => continue,
            };
            for one in found {
                if !set.contains(&one) {
                    set.push(one);
                }
            }
        }
        (!set.is_empty()).then(|| self.function_set(set))
    }

    fn declare_from(&mut self, declaration: &Declaration, ty: &Ty, value: &Expr) {
        let span = declaration.span;
        if let Ty::Class(_) = ty {
            let address = self.new_variable(declaration, ty);
            self.initialise(address, ty, value);
            self.destroy_later(address, ty, span);
            return;
        }
        let is_reference = matches!(ty, Ty::Reference(_)) || is_reference(&declaration.ty);
        let ev =
            if is_reference || !declaration.bindings.is_empty() { self.eval_place(value) } else { self.eval(value) };
        self.declare_as(declaration, ev);
    }

    /// Declares a variable that begins as `ev`.
    pub fn declare_as(&mut self, declaration: &Declaration, ev: Ev) {
        let span = declaration.span;
        if !declaration.bindings.is_empty() {
            return self.bind_structure(declaration, ev);
        }
        let name = &declaration.name;
        let declared = self.declared_type(declaration);
        if ev.ty.is_static() {
            let ty = match (&declared, &ev.ty) {
                // A tile of known size stays one.
                (Ty::Group(super::types::GroupTy::Tile(Some(_))), _) => declared,
                _ => ev.ty,
            };
            return self.bind(name, Binding::Static(ty));
        }
        if declared.is_static() {
            return self.bind(name, Binding::Static(declared));
        }
        if matches!(declared, Ty::Reference(_)) || is_reference(&declaration.ty) {
            let known = declared.value().clone();
            let ty = if known.is_known() && !is_deduced(&declaration.ty) { known } else { ev.ty.value().clone() };
            let address = self.address_of(&ev, span);
            if ev.category == Category::Made {
                // It lives as long as the reference.
                self.destroy_later(address, &ty, span);
            }
            let says = |what: fn(&Pointee) -> bool| matches!(&declared, Ty::Reference(target) if what(target));
            let is_const = ev.is_const || says(|target| target.is_const);
            let is_volatile = ev.is_volatile || says(|target| target.is_volatile);
            return self.bind(name, Binding::Alias { address, ty, is_const, is_volatile });
        }
        let ty = match &declared {
            Ty::Unknown | Ty::Param(_) => super::templates::decay(&ev.ty),
            Ty::Pointer(pointee) if !pointee.ty.is_known() => super::templates::decay(&ev.ty),
            Ty::FunctionPointer => match &ev.ty {
                Ty::Functions(set) => Ty::Functions(*set),
                _ => declared.clone(),
            },
            _ => declared.clone(),
        };
        let ty = match ty {
            Ty::Functions(_) | Ty::FunctionPointer => self.pointer_with_assigned(name, ty),
            other => other,
        };
        // The value, before the variable is in scope.
        let prepared = match &ev.what {
            What::Place(_) if !ty.is_aggregate() && !ev.ty.is_aggregate() => {
                let value = self.rvalue(&ev, span);
                Ev::value(value, ev.ty.clone())
            }
            _ => ev,
        };
        let constant = match &prepared.what {
            What::Value(value) if declaration.ty.is_const || declaration.storage.is_constexpr => {
                self.constant_of(*value).map(|known| super::constant::wrap(known, &ty))
            }
            _ => None,
        };
        let address = self.new_variable_with(declaration, &ty, constant);
        self.copy_to(address, &ty, &prepared, span);
        if let (true, Op::Address(variable)) = (points_to_object(&ty), self.op(address)) {
            let (variable, function) = (*variable, self.activation().function.clone());
            self.note_pointed(variable, name, &prepared, &function.body);
        }
        self.destroy_later(address, &ty, span);
    }

    /// Functions that the variable may hold: those it begins with, and all it is ever assigned.
    fn pointer_with_assigned(&mut self, name: &Name, ty: Ty) -> Ty {
        let function = self.activation().function.clone();
        let mut values: Vec<Expr> = Vec::new();
        visit(vec![Node::Stmt(&function.body)], |node| {
            if let Node::Expr(Expr { kind: ExprKind::Assign(None, target, value), .. }) = node
                && let ExprKind::Name(path) = &target.kind
                && path.segments.len() == 1
                && path.segments[0].name == *name
            {
                values.push((**value).clone());
            }
            true
        });
        let mut all = match ty {
            Ty::Functions(set) => self.function_sets[set as usize].clone(),
            _ => Vec::new(),
        };
        for value in values {
            if let Some(more) = self.functions_in(&value) {
                for one in self.function_sets[more as usize].clone() {
                    if !all.contains(&one) {
                        all.push(one);
                    }
                }
            }
        }
        match all.is_empty() {
            true => ty,
            false => Ty::Functions(self.function_set(all)),
        }
    }

    fn new_variable(&mut self, declaration: &Declaration, ty: &Ty) -> Value {
        self.new_variable_with(declaration, ty, None)
    }

    fn new_variable_with(&mut self, declaration: &Declaration, ty: &Ty, constant: Option<i64>) -> Value {
        let object = self.new_object(&declaration.name, ObjectKind::Local, ty, declaration.span);
        self.graph.objects[object.index()].is_volatile = declaration.ty.is_volatile;
        self.note_const(object, &declaration.ty);
        self.bind(&declaration.name, Binding::Object { object, ty: ty.clone(), constant });
        self.address(object, declaration.span)
    }

    pub fn note_const(&mut self, object: ObjectId, declared: &Type) {
        if declared.is_const {
            self.const_objects.insert(object);
        }
    }

    fn declare_static(&mut self, declaration: &Declaration) {
        let span = declaration.span;
        let storage = declaration.storage;
        let mut ty = self.declared_type(declaration);
        if matches!(&ty, Ty::Named(named) if &*named.name == "TempStorage") {
            ty = Ty::Unknown;
        }
        if storage.is_static && !storage.shared || storage.constant {
            let is_const = declaration.ty.is_const || storage.is_constexpr || storage.constant;
            if let Init::Expr(value) = &declaration.init
                && is_const
                && let Some((known, from)) = self.constant_typed(value)
            {
                let ty = if ty.is_known() { ty } else { from };
                return self
                    .bind(&declaration.name, Binding::Constant { value: super::constant::wrap(known, &ty), ty });
            }
            if is_const {
                // The same in every thread, set before the kernel: as a local constant.
                let plain = Declaration { storage: Storage::default(), ..declaration.clone() };
                return self.declare(&plain);
            }
        }
        if ty.is_static() {
            return self.bind(&declaration.name, Binding::Static(ty));
        }
        let kind = if storage.shared { ObjectKind::Shared } else { ObjectKind::Global };
        let key = if storage.is_extern && storage.shared {
            StaticKey::DynamicShared
        } else {
            let args = self.active.last().map(|active| active.args.clone()).unwrap_or_default();
            StaticKey::Local(self.at(span), args)
        };
        let object = match self.statics.get(&key) {
            Some(object) => *object,
            None => {
                let object = self.new_object(&declaration.name, kind, &ty, span);
                self.graph.objects[object.index()].is_volatile = declaration.ty.is_volatile;
                self.statics.insert(key, object);
                object
            }
        };
        self.bind(&declaration.name, Binding::Object { object, ty, constant: None });
    }

    /// `auto [row, column] = ..`: references to the members of a copy, or of the thing itself.
    fn bind_structure(&mut self, declaration: &Declaration, ev: Ev) {
        let span = declaration.span;
        let ty = ev.ty.value().clone();
        let is_const = match &declaration.ty.kind {
            TypeKind::Reference(inner) => inner.is_const || ev.is_const,
            _ => declaration.ty.is_const,
        };
        let base = if is_reference(&declaration.ty) && ev.is_place() {
            self.address_of(&ev, span)
        } else {
            let object = self.temporary("structured binding", &ty, span);
            let address = self.address(object, span);
            match (&ev.what, &ty) {
                (What::Place(from), Ty::Array(..) | Ty::Unknown | Ty::Param(_)) => {
                    self.emit(Op::Copy { to: address, from: *from }, span);
                }
                _ => self.copy_to(address, &ty, &ev, span),
            }
            address
        };
        let fields = match &ty {
            Ty::Class(class) => self.fields_of(class),
            Ty::Vector { .. } => Self::components(&ty),
            _ => Vec::new(),
        };
        for (index, name) in declaration.bindings.iter().enumerate() {
            let (address, ty) = match (&ty, fields.get(index)) {
                (array, _) if matches!(array, Ty::Array(..)) || super::library::is_array(array) => {
                    let place = self.int(index as i64, span);
                    (self.element_address(base, place, span), array.element())
                }
                (_, Some((field, ty))) => (self.member_address(base, field, span), ty.clone()),
                (other, None) => {
                    let field = super::library::part_name(other, index);
                    (self.member_address(base, &field, span), super::library::part_type(other, index))
                }
            };
            let place = self.follow_reference(Ev::place(address, ty), span);
            let address = self.address_of(&place, span);
            let is_const = place.is_const || is_const;
            self.bind(name, Binding::Alias { address, ty: place.ty, is_const, is_volatile: false });
        }
    }

    // Initialisation

    // Destruction
}

/// `table[n](v);` reads like a structured binding of a type called `table`.
fn as_indexed_call(declaration: &Declaration) -> Option<Expr> {
    let (TypeKind::Named(path), [index], Init::Arguments { args, braces: false }) =
        (&declaration.ty.kind, &declaration.bindings[..], &declaration.init)
    else {
        return None;
    };
    let span = declaration.span;
    let index = Path { segments: vec![Segment { name: index.clone(), args: None }], global: false };
    let table = Expr { kind: ExprKind::Name(path.clone()), span };
    let index = Expr { kind: ExprKind::Name(index), span };
    let callee = Expr { kind: ExprKind::Index(Box::new(table), Box::new(index)), span };
    Some(Expr { kind: ExprKind::Call { callee: Box::new(callee), args: args.clone() }, span })
}

/// The type, or what it refers or points to, is left to the initialiser.
pub fn is_deduced(ty: &Type) -> bool {
    matches!(&ty.kind, TypeKind::Auto) || matches!(&ty.kind, TypeKind::Reference(inner) if is_deduced(inner))
}

pub fn is_reference(ty: &Type) -> bool {
    matches!(ty.kind, TypeKind::Reference(_))
}
