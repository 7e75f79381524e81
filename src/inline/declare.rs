//! Variables: what each declaration binds its name to, and how it is initialised and destroyed.

use super::builder::{Builder, Cleanup, StaticKey};
use super::names::Found;
use super::scope::Binding;
use super::types::{Callable, ClassTy, INT, Ty};
use super::values::{Ev, What};
use super::visit::{Node, visit};
use crate::graph::*;
use crate::program::*;
use crate::text::Span;
use std::sync::Arc;

/// Elements of an array that are set to zero one by one where its initialiser names fewer.
const ZEROED: i64 = 64;

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
        match ty.value() {
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
                Found::Functions(found) => found,
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
        if is_reference(&declaration.ty) {
            let known = declared.value().clone();
            let ty = if known.is_known() && !is_deduced(&declaration.ty) { known } else { ev.ty.value().clone() };
            let address = self.address_of(&ev, span);
            let is_volatile = ev.is_volatile || matches!(&declared, Ty::Reference(target) if target.is_volatile);
            return self.bind(name, Binding::Alias { address, ty, is_volatile });
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
            Ty::Functions(set) => Ty::Functions(self.with_assigned(name, set)),
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
        self.store_to(address, &ty, &prepared, span);
    }

    /// Functions that the variable may hold: those it begins with, and all it is ever assigned.
    fn with_assigned(&mut self, name: &Name, set: u32) -> u32 {
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
        let mut all = self.function_sets[set as usize].clone();
        for value in values {
            if let Some(more) = self.functions_in(&value) {
                for one in self.function_sets[more as usize].clone() {
                    if !all.contains(&one) {
                        all.push(one);
                    }
                }
            }
        }
        self.function_set(all)
    }

    fn new_variable(&mut self, declaration: &Declaration, ty: &Ty) -> Value {
        self.new_variable_with(declaration, ty, None)
    }

    fn new_variable_with(&mut self, declaration: &Declaration, ty: &Ty, constant: Option<i64>) -> Value {
        let object = self.new_object(&declaration.name, ObjectKind::Local, ty, declaration.span);
        self.graph.objects[object.index()].is_volatile = declaration.ty.is_volatile;
        self.bind(&declaration.name, Binding::Object { object, ty: ty.clone(), constant });
        self.address(object, declaration.span)
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
        let base = if is_reference(&declaration.ty) && ev.is_place() {
            self.address_of(&ev, span)
        } else {
            let object = self.temporary("structured binding", &ty, span);
            let address = self.address(object, span);
            match (&ev.what, &ty) {
                (What::Place(from), Ty::Array(..) | Ty::Unknown | Ty::Param(_)) => {
                    self.emit(Op::Copy { to: address, from: *from }, span);
                }
                _ => self.store_to(address, &ty, &ev, span),
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
                (Ty::Array(of, _), _) => {
                    let place = self.int(index as i64, span);
                    (self.element_address(base, place, span), (**of).clone())
                }
                (_, Some((field, ty))) => (self.member_address(base, field, span), ty.clone()),
                (other, None) => {
                    let field = match (other, index) {
                        (Ty::Named(named), 0) if &*named.name == "pair" => "first".to_string(),
                        (Ty::Named(named), 1) if &*named.name == "pair" => "second".to_string(),
                        _ => index.to_string(),
                    };
                    (self.member_address(base, &Name::from(field), span), Ty::Unknown)
                }
            };
            let place = self.follow_reference(Ev::place(address, ty), span);
            let address = self.address_of(&place, span);
            self.bind(name, Binding::Alias { address, ty: place.ty, is_volatile: false });
        }
    }

    // Initialisation

    pub fn initialise_by(&mut self, address: Value, ty: &Ty, init: &Init, span: Span) {
        match init {
            Init::None => self.initialise_default(address, ty, span),
            Init::Expr(value) => self.initialise(address, ty, value),
            Init::Arguments { args, braces } => self.initialise_arguments(address, ty, args, *braces, span),
        }
    }

    /// `T x = value`
    pub fn initialise(&mut self, address: Value, ty: &Ty, value: &Expr) {
        match &value.kind {
            ExprKind::InitList(list) => self.initialise_list(address, ty, list, value.span),
            // Made in place.
            ExprKind::Construct(made, args) if self.resolve(made) == *ty => {
                self.initialise_arguments(address, ty, args, true, value.span);
            }
            _ => {
                let ev = self.eval(value);
                if let Ty::Class(class) = ty.value()
                    && super::bodies::converts(&ev.ty)
                    && self.constructor_with(address, class, vec![super::calls::Arg::of(ev.clone(), value)], value.span)
                {
                    return;
                }
                self.store_to(address, ty, &ev, value.span);
            }
        }
    }

    fn initialise_default(&mut self, address: Value, ty: &Ty, span: Span) {
        match ty.value() {
            Ty::Class(class) => {
                let class = class.clone();
                if !self.constructor(address, &class, &[], span) {
                    self.default_members(address, &class, &[], span);
                }
            }
            Ty::Array(of, _) if matches!(**of, Ty::Class(_)) => {}
            _ => {}
        }
    }

    pub fn initialise_arguments(&mut self, address: Value, ty: &Ty, args: &[Expr], braces: bool, span: Span) {
        match ty.value().clone() {
            Ty::Class(class) => {
                if self.constructor(address, &class, args, span) {
                    return;
                }
                match args {
                    [] => self.default_members(address, &class, &[], span),
                    [one] => {
                        if let ExprKind::InitList(list) = &one.kind {
                            return self.initialise_list(address, ty, list, span);
                        }
                        let ev = self.eval(one);
                        if matches!(ev.ty.value(), Ty::Class(other) if *other == class) || !ev.ty.is_known() && !braces
                        {
                            self.store_to(address, ty, &ev, span);
                        } else {
                            self.initialise_members(address, &class, vec![(None, Some(ev), one)], span);
                        }
                    }
                    many => {
                        let list = many.iter().map(|value| (None, None, value)).collect();
                        self.initialise_members(address, &class, list, span);
                    }
                }
            }
            Ty::Named(named) if &*named.name == "barrier" && !args.is_empty() => {
                let count = self.rvalue_of(&args[0]);
                self.emit(Op::BarrierInit { address, count }, span);
            }
            ty @ (Ty::Vector { .. } | Ty::Array(..)) => match args {
                [one] if !matches!(ty, Ty::Vector { lanes: 1.., .. } if self.is_scalar_expr(one)) => {
                    if let ExprKind::InitList(list) = &one.kind {
                        return self.initialise_list(address, &ty, list, span);
                    }
                    if matches!(ty, Ty::Array(..)) {
                        let place = self.int(0, span);
                        let element = self.element_address(address, place, span);
                        return self.initialise(element, &ty.element(), one);
                    }
                    let ev = self.eval(one);
                    self.store_to(address, &ty, &ev, span);
                }
                args => {
                    let list: Vec<(Option<Name>, Expr)> = args.iter().map(|arg| (None, arg.clone())).collect();
                    self.initialise_list(address, &ty, &list, span);
                }
            },
            ty => match args {
                [] => {
                    if ty.is_scalar() {
                        let zero = self.int(0, span);
                        self.store(address, zero, span);
                    }
                }
                [one] => {
                    let ev = self.eval(one);
                    self.store_to(address, &ty, &ev, span);
                }
                many => {
                    let from = many.iter().map(|arg| self.rvalue_of(arg)).collect();
                    let value = self.unknown(from, span);
                    self.store(address, value, span);
                }
            },
        }
    }

    fn is_scalar_expr(&mut self, expr: &Expr) -> bool {
        let ty = self.type_of(expr);
        ty.is_scalar() || matches!(expr.kind, ExprKind::Int { .. } | ExprKind::Binary(..)) || !ty.is_known()
    }

    pub fn initialise_list(&mut self, address: Value, ty: &Ty, list: &[(Option<Name>, Expr)], span: Span) {
        match ty.value().clone() {
            Ty::Class(class) => {
                if list.iter().all(|(name, _)| name.is_none()) {
                    let args: Vec<Expr> = list.iter().map(|(_, value)| value.clone()).collect();
                    if self.constructor(address, &class, &args, span) {
                        return;
                    }
                }
                let list = list.iter().map(|(name, value)| (name.clone(), None, value)).collect();
                self.initialise_members(address, &class, list, span);
            }
            Ty::Array(of, extent) => {
                for (index, (_, value)) in list.iter().enumerate() {
                    let place = self.int(index as i64, value.span);
                    let element = self.element_address(address, place, value.span);
                    self.initialise(element, &of, value);
                }
                let extent = extent.unwrap_or(list.len() as i64);
                if extent <= ZEROED && of.is_scalar() {
                    for index in list.len() as i64..extent {
                        let place = self.int(index, span);
                        let element = self.element_address(address, place, span);
                        let zero = self.int(0, span);
                        self.store(element, zero, span);
                    }
                }
            }
            ty @ Ty::Vector { .. } => {
                let components = Self::components(&ty);
                for (index, (name, component)) in components.iter().enumerate() {
                    let member = self.member_address(address, name, span);
                    match list.get(index) {
                        Some((_, value)) => self.initialise(member, component, value),
                        None => {
                            // `dim3(8)` is 8, 1, 1; others are zero.
                            let rest = i64::from(matches!(&ty, Ty::Vector { name, .. } if &**name == "dim3"));
                            let value = self.int(rest, span);
                            self.store(member, value, span);
                        }
                    }
                }
            }
            ty if ty.is_scalar() => match list {
                [] => {
                    let zero = self.int(0, span);
                    self.store(address, zero, span);
                }
                [(_, value), ..] => self.initialise(address, &ty, value),
            },
            _ => {
                for (index, (name, value)) in list.iter().enumerate() {
                    let name = name.clone().unwrap_or_else(|| Name::from(index.to_string()));
                    let member = self.member_address(address, &name, value.span);
                    self.initialise(member, &Ty::Unknown, value);
                }
            }
        }
    }

    /// Members in order or by name, the rest as they are by default.
    fn initialise_members(
        &mut self,
        address: Value,
        class: &Arc<ClassTy>,
        list: Vec<(Option<Name>, Option<Ev>, &Expr)>,
        span: Span,
    ) {
        let fields = self.fields_of(class);
        let mut set: Vec<Name> = Vec::new();
        for (index, (name, ev, value)) in list.into_iter().enumerate() {
            let field = match &name {
                Some(name) => fields.iter().find(|(field, _)| field == name),
                None => fields.get(index),
            };
            let Some((field, ty)) = field.cloned() else {
                if ev.is_none() {
                    self.eval(value);
                }
                continue;
            };
            set.push(field.clone());
            let member = self.member_address(address, &field, value.span);
            match ev {
                Some(ev) => self.store_member(member, &ty, &ev, value.span),
                None => self.initialise_member(member, &ty, value),
            }
        }
        self.default_members(address, class, &set, span);
    }

    /// A member that is a reference takes an address.
    pub fn initialise_member(&mut self, member: Value, ty: &Ty, value: &Expr) {
        if let Ty::Reference(_) = ty {
            let ev = self.eval_place(value);
            return self.store_member(member, ty, &ev, value.span);
        }
        self.initialise(member, ty, value);
    }

    fn store_member(&mut self, member: Value, ty: &Ty, ev: &Ev, span: Span) {
        if let Ty::Reference(_) = ty {
            let target = self.address_of(ev, span);
            self.store(member, target, span);
        } else {
            self.store_to(member, ty, ev, span);
        }
    }

    /// Default initialisers of members that are not in `set`, and default constructors of class members.
    pub fn default_members(&mut self, address: Value, class: &Arc<ClassTy>, set: &[Name], span: Span) {
        if !self.descend(span) {
            return;
        }
        let tree = class.class.clone();
        let scope = self.class_scope(class);
        for (index, member) in tree.members.iter().enumerate() {
            if member.storage.is_static || member.storage.is_constexpr || set.contains(&member.name) {
                continue;
            }
            let ty = self.field_type(class, index);
            if matches!(member.init, Init::None) && !matches!(ty, Ty::Class(_)) {
                continue;
            }
            let place = self.member_address(address, &member.name, span);
            match &member.init {
                Init::None => self.initialise_default(place, &ty, span),
                init => self.in_item(class.item, scope, |builder| {
                    let pointer = Ty::pointer_to(Ty::Class(class.clone()));
                    let outer = builder.enter_scope();
                    builder.bind(&Name::from("this"), Binding::Value { value: address, ty: pointer });
                    builder.initialise_by(place, &ty, init, member.span);
                    builder.leave_scope(outer);
                }),
            }
        }
        self.ascend();
    }

    /// An array made of a braced list.
    pub fn list_as_array(&mut self, list: &[(Option<Name>, Expr)], span: Span) -> Ev {
        let of = list.first().map_or(Ty::Unknown, |(_, value)| self.type_of(value));
        let of = if of.is_known() { of } else { INT };
        let ty = Ty::Array(Arc::new(of), Some(list.len() as i64));
        let object = self.temporary("list", &ty, span);
        let address = self.address(object, span);
        self.initialise_list(address, &ty, list, span);
        Ev::place(address, ty)
    }

    // Destruction

    /// Notes that the object is destroyed at the end of its scope, if that does anything.
    pub fn destroy_later(&mut self, address: Value, ty: &Ty, span: Span) {
        if let Ty::Class(class) = ty.value() {
            let class = class.clone();
            self.destroy_class_later(address, &class, span, 0);
        }
    }

    fn destroy_class_later(&mut self, address: Value, class: &Arc<ClassTy>, span: Span, depth: usize) {
        if depth > 4 {
            return;
        }
        for base in self.bases_of(class) {
            self.destroy_class_later(address, &base, span, depth + 1);
        }
        let tree = class.class.clone();
        for (index, member) in tree.members.iter().enumerate() {
            if member.storage.is_static {
                continue;
            }
            if let Ty::Class(inner) = self.field_type(class, index)
                && self.has_destructor(&inner, 0)
            {
                let place = self.member_address(address, &member.name, span);
                self.destroy_class_later(place, &inner, span, depth + 1);
            }
        }
        if let Some(destructor) = self.destructor_of(class) {
            self.cleanups.push(Cleanup { address, class: class.clone(), destructor, span });
        }
    }

    fn has_destructor(&mut self, class: &Arc<ClassTy>, depth: usize) -> bool {
        if depth > 4 {
            return false;
        }
        if self.destructor_of(class).is_some() {
            return true;
        }
        let mut inner: Vec<Arc<ClassTy>> = self.bases_of(class);
        for index in 0..class.class.members.len() {
            if let Ty::Class(member) = self.field_type(class, index) {
                inner.push(member);
            }
        }
        inner.iter().any(|class| self.has_destructor(class, depth + 1))
    }

    fn destructor_of(&mut self, class: &Arc<ClassTy>) -> Option<Callable> {
        let name = Name::from(format!("~{}", class.class.name.as_ref()?));
        let destructor = self.methods_of(class, &name).into_iter().next()?;
        let holds = self.reach_of(&destructor);
        (holds.barrier || holds.writes).then_some(destructor)
    }

    /// Destroys what was declared since, in reverse, and forgets it.
    pub fn clean_up(&mut self, base: usize) {
        self.run_cleanups(base);
        self.cleanups.truncate(base);
    }

    /// Destroys what was declared since; it stays declared, since other ways out come here as well.
    pub fn run_cleanups(&mut self, base: usize) {
        let pending: Vec<Cleanup> = self.cleanups[base.min(self.cleanups.len())..].to_vec();
        let kept = self.cleanups.clone();
        for cleanup in pending.into_iter().rev() {
            let this = Ev::value(cleanup.address, Ty::pointer_to(Ty::Class(cleanup.class.clone())));
            self.call_function(
                &cleanup.destructor,
                Some(this),
                Vec::new(),
                super::expressions::NO_BOUNDS,
                cleanup.span,
            );
        }
        self.cleanups = kept;
    }
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
