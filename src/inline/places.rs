//! What names, members, elements and pointers lead to.

use super::builder::{Builder, StaticKey};
use super::names::Found;
use super::scope::Binding;
use super::types::{INT, Ty};
use super::values::{Ev, axis_of, source_of};
use crate::graph::*;
use crate::program::*;
use crate::text::Span;
use std::sync::Arc;

/// Stands for what `[]` of a class gives where its operator is not in view.
const ELEMENTS: &str = "[]";

impl Builder<'_> {
    pub fn eval_name(&mut self, path: &Path, span: Span, place: bool) -> Ev {
        match self.find(path) {
            Found::Binding(binding) => self.eval_binding(binding, span, place),
            Found::Field(class, index) => {
                let name = class.class.members[index].name.clone();
                let ty = self.field_type(&class, index);
                match self.this_object() {
                    Some(this) => {
                        let base = Ev { ty: Ty::Class(class.clone()), ..this };
                        let cell = self.cell_of(&class, &name);
                        let place = self.member_of(&base, &cell, ty, span);
                        self.note_overlay(&class, &name, &place);
                        place
                    }
                    None => Ev::value(self.unknown(Vec::new(), span), ty),
                }
            }
            Found::StaticField(class, index) => self.eval_static_member(&class, index, span),
            Found::Constant(value, ty) => Ev::value(self.int(value, span), ty),
            Found::Functions(set) => {
                let set = match path.segments.last() {
                    Some(last) => self.instances_named(set, last),
                    None => set,
                };
                self.pointer_to(set, span)
            }
            Found::Value(item) => self.eval_variable_item(item, span),
            Found::Source(kind) => self.source_parts(kind, span),
            Found::Type(ty) => Ev::typed(ty),
            Found::None => {
                let whole = Expr { kind: ExprKind::Name(path.clone()), span };
                if let Some((value, ty)) = self.constant_typed(&whole) {
                    return Ev::value(self.int(value, span), ty);
                }
                let name = path.segments.last().map_or_else(|| Name::from(""), |segment| segment.name.clone());
                if &*name == "warpSize" {
                    return Ev::value(self.int(32, span), INT);
                }
                Ev::value(self.source(Source::Named(name), span), Ty::Unknown)
            }
        }
    }

    pub fn eval_binding(&mut self, binding: Binding, span: Span, place: bool) -> Ev {
        match binding {
            Binding::Object { ty, constant: Some(value), .. } if !place => Ev::value(self.int(value, span), ty),
            Binding::Object { object, ty, .. } => {
                let address = self.address(object, span);
                let is_volatile = self.graph.objects[object.index()].is_volatile;
                let ev = Ev::volatile_place(address, ty, is_volatile).fixed_if(self.const_objects.contains(&object));
                self.follow_reference(ev, span)
            }
            Binding::Alias { address, ty, is_const, is_volatile } => {
                let ev = Ev::volatile_place(address, ty, is_volatile).fixed_if(is_const);
                self.follow_reference(ev, span)
            }
            Binding::Value { value, ty } => Ev::value(value, ty),
            Binding::Constant { value, ty } => Ev::value(self.int(value, span), ty),
            Binding::Static(Ty::Functions(set)) => Ev::value(self.int(i64::from(set) + 1, span), Ty::Functions(set)),
            Binding::Static(ty) | Binding::Type(ty) => Ev::typed(ty),
            Binding::Class { .. } | Binding::Path(_) | Binding::Pack(_) | Binding::Template(_) => {
                Ev::typed(Ty::Unknown)
            }
        }
    }

    pub fn eval_static_member(&mut self, class: &Arc<super::types::ClassTy>, index: usize, span: Span) -> Ev {
        if let Some((value, ty)) = self.constant_member(class, index) {
            return Ev::value(self.int(value, span), ty);
        }
        let member = &class.class.members[index];
        let name = member.name.clone();
        let storage = member.storage;
        let is_const = member.ty.is_const || storage.is_constexpr;
        let ty = self.field_type(class, index);
        let kind = match storage {
            Storage { shared: true, .. } => ObjectKind::Shared,
            Storage { constant: true, .. } | Storage { is_constexpr: true, .. } => ObjectKind::Constant,
            _ => ObjectKind::Global,
        };
        if ty.is_static() {
            return Ev::typed(ty);
        }
        let key = StaticKey::Member(class.clone(), name.clone());
        let object = match self.statics.get(&key) {
            Some(object) => *object,
            None => {
                let object = self.new_object(&name, kind, &ty, span);
                self.statics.insert(key, object);
                object
            }
        };
        Ev::place(self.address(object, span), ty).fixed_if(is_const)
    }

    pub fn eval_variable_item(&mut self, item: ItemId, span: Span) -> Ev {
        if let Some((value, ty)) = self.constant_item(item) {
            return Ev::value(self.int(value, span), ty);
        }
        let program = self.program;
        let header = program.item(item);
        let name = header.name.clone();
        let scope = self.item_scope(item);
        let declaration = program.value(item).cloned();
        let ty = match &declaration {
            Some(declaration) => self.in_item(item, scope, |builder| builder.declared_type(declaration)),
            None => Ty::Unknown,
        };
        if ty.is_static() {
            return Ev::typed(ty);
        }
        let in_memory = header.is_constant_memory || header.is_device_memory || header.is_shared;
        let is_const =
            header.is_const || declaration.as_ref().is_some_and(|it| it.storage.is_constexpr || it.ty.is_const);
        let ty = match ty {
            Ty::Functions(_) | Ty::FunctionPointer if in_memory && !is_const => self.with_assigned_functions(item, ty),
            ty => ty,
        };
        let kind = if header.is_shared {
            ObjectKind::Shared
        } else if header.is_constant_memory || (is_const && ty.is_aggregate()) {
            ObjectKind::Constant
        } else if in_memory {
            ObjectKind::Global
        } else {
            return Ev::value(self.source(Source::Named(name), span), ty);
        };
        let key = StaticKey::Item(item, Vec::new());
        let object = match self.statics.get(&key) {
            Some(object) => *object,
            None => {
                let object = self.new_object(&name, kind, &ty, span);
                if let Some(declaration) = &declaration {
                    self.hand_on_functions(item, declaration, &ty);
                    if matches!(ty, Ty::Pointer(_)) {
                        self.note_pointees(item, object, declaration);
                    }
                    self.graph.objects[object.index()].at = At { item, span: declaration.span };
                    self.graph.objects[object.index()].is_volatile = declaration.ty.is_volatile;
                }
                self.statics.insert(key, object);
                object
            }
        };
        let is_volatile = self.graph.objects[object.index()].is_volatile;
        Ev::volatile_place(self.address(object, span), ty, is_volatile).fixed_if(is_const)
    }

    /// Functions that stand in the initialiser of a table of structs may be called through what is read from it.
    fn hand_on_functions(&mut self, item: ItemId, declaration: &Declaration, ty: &Ty) {
        let mut element = ty;
        while let Ty::Array(of, _) = element {
            element = of;
        }
        if let (Ty::Class(_), Init::Expr(value)) = (element, &declaration.init) {
            let scope = self.item_scope(item);
            self.in_item(item, scope, |builder| builder.functions_in(value));
        }
    }

    pub fn eval_member(&mut self, object: &Expr, arrow: bool, member: &Path, span: Span) -> Ev {
        let Some(last) = member.segments.last() else { return Ev::typed(Ty::Unknown) };
        if let ExprKind::Name(path) = &object.kind
            && let Found::Source(kind) = self.find(path)
            && let Some(axis) = axis_of(&last.name)
        {
            return Ev::value(self.source(source_of(kind, axis), span), super::types::UNSIGNED);
        }
        let mut base = self.eval_object(object, arrow);
        // `derived.Base::count`
        if member.segments.len() > 1
            && let Ty::Class(named) = self.qualifying_class(member)
            && self.is_one_of(&base.ty, &named)
        {
            base.ty = Ty::Class(named);
        }
        self.member_named(&base, last, span)
    }

    /// What stands before `.` or `->`, as the object itself.
    pub fn eval_object(&mut self, object: &Expr, arrow: bool) -> Ev {
        let ev = self.eval_place(object);
        if !arrow {
            return ev;
        }
        let mut ev = ev;
        for _ in 0..8 {
            match ev.ty.value().clone() {
                Ty::Class(_) => match self.call_operator("operator->", &[ev.clone()], object.span) {
                    Some(result) => ev = result,
                    None => break,
                },
                _ => break,
            }
        }
        self.dereference(&ev, object.span)
    }

    pub fn member_named(&mut self, base: &Ev, segment: &Segment, span: Span) -> Ev {
        let name = &segment.name;
        match base.ty.value().clone() {
            Ty::Class(class) => match self.find_in_class(&class, segment) {
                Some(Found::Field(owner, index)) => {
                    let ty = self.field_type(&owner, index);
                    let cell = self.cell_of(&owner, name);
                    let place = self.member_of(base, &cell, ty, span);
                    self.note_overlay(&owner, name, &place);
                    place
                }
                Some(Found::StaticField(owner, index)) => self.eval_static_member(&owner, index, span),
                Some(Found::Constant(value, ty)) => Ev::value(self.int(value, span), ty),
                Some(Found::Binding(binding)) => self.eval_binding(binding, span, false),
                _ => self.member_of(base, name, Ty::Unknown, span),
            },
            Ty::Vector { name: vector, of, .. } => {
                // A copy of the thread index or the block's extent keeps its components.
                if self.copied_index && matches!(&*vector, "uint3" | "dim3") && matches!(&**name, "y" | "z") {
                    self.graph.multidimensional = true;
                }
                self.member_of(base, name, (*of).clone(), span)
            }
            ty => {
                let part = usize::from(&**name == "second");
                let of =
                    if super::library::has_parts(&ty) { super::library::part_type(&ty, part) } else { Ty::Unknown };
                self.member_of(base, name, of, span)
            }
        }
    }

    pub fn eval_index(&mut self, base: &Expr, index: &Expr, span: Span) -> Ev {
        let object = self.eval_place(base);
        let subscript = self.eval(index);
        let is_pointer = matches!(object.ty.value(), Ty::Pointer(_) | Ty::Array(..));
        let subscript = if is_pointer { self.operand(&subscript, &INT, index.span) } else { subscript };
        match object.ty.value().clone() {
            Ty::Class(_) => {
                if let Some(result) = self.call_operator("operator[]", &[object.clone(), subscript.clone()], span) {
                    return result;
                }
                let base = self.address_of(&object, span);
                let elements = self.member_address(base, &Name::from(ELEMENTS), span);
                let index = self.rvalue(&subscript, span);
                Ev::place(self.element_address(elements, index, span), Ty::Unknown)
            }
            Ty::Int { .. } | Ty::Bool | Ty::Enum(_) => {
                // `i[p]`
                let pointer = self.rvalue(&subscript, span);
                let index = self.rvalue(&object, span);
                Ev::place(self.element_address(pointer, index, span), subscript.ty.value().element())
            }
            ty @ (Ty::Named(_) | Ty::Vector { .. }) => {
                let base = self.address_of(&object, span);
                let index = self.rvalue(&subscript, span);
                let element = if let Ty::Vector { of, .. } = ty { (*of).clone() } else { ty.element() };
                Ev::place(self.element_address(base, index, span), element)
            }
            ty => {
                let base = self.rvalue(&object, base.span);
                let index = self.rvalue(&subscript, index.span);
                let address = self.element_address(base, index, span);
                let is_volatile = ty.is_volatile_target() || matches!(ty, Ty::Array(..)) && object.is_volatile;
                let is_const = match &ty {
                    Ty::Pointer(pointee) => pointee.is_const,
                    _ => object.is_const,
                };
                Ev::volatile_place(address, ty.element(), is_volatile).fixed_if(is_const)
            }
        }
    }

    pub fn dereference(&mut self, ev: &Ev, span: Span) -> Ev {
        match ev.ty.value().clone() {
            Ty::Functions(_) => ev.clone(),
            Ty::Pointer(pointee) => {
                let mut address = self.rvalue(ev, span);
                if pointee.ty.is_scalar() && matches!(self.op(address), Op::Load { .. }) {
                    // Of an array it is the first element.
                    address = self.first_of(address, span);
                }
                self.place_behind(address, &pointee)
            }
            Ty::Class(_) => match self.call_operator("operator*", std::slice::from_ref(ev), span) {
                Some(result) => result,
                None => Ev::place(self.address_of(ev, span), Ty::Unknown),
            },
            ty @ Ty::Array(..) => {
                let address = self.rvalue(ev, span);
                let is_volatile = ev.is_volatile;
                Ev::volatile_place(self.first_of(address, span), ty.element(), is_volatile).fixed_if(ev.is_const)
            }
            ty => Ev::place(self.rvalue(ev, span), ty.element()),
        }
    }

    fn first_of(&mut self, array: Value, span: Span) -> Value {
        let first = self.int(0, span);
        self.element_address(array, first, span)
    }
}
