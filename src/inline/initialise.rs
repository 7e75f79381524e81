//! Giving memory its first value: copies, braced lists, aggregates member by member.

use super::builder::Builder;
use super::scope::Binding;
use super::types::{ClassTy, INT, Ty};
use super::values::Ev;
use crate::graph::*;
use crate::program::*;
use crate::text::Span;
use std::sync::Arc;

/// Elements of an array that are set to zero one by one where its initialiser names fewer.
pub const ZEROED: i64 = 64;

impl Builder<'_> {
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
                    && super::lifetimes::converts(&ev.ty)
                    && self.constructor_with(address, class, vec![super::calls::Arg::of(ev.clone(), value)], value.span)
                {
                    return;
                }
                self.copy_to(address, ty, &ev, value.span);
            }
        }
    }

    fn initialise_default(&mut self, address: Value, ty: &Ty, span: Span) {
        match ty.value() {
            Ty::Class(class) => {
                let class = class.clone();
                if !self.constructor(address, &class, &[], span) {
                    self.default_bases(address, &class, &[], span);
                    self.default_members(address, &class, &[], span);
                }
            }
            Ty::Array(of, Some(extent)) => self.initialise_elements(address, &of.clone(), 0..*extent, span),
            other => {
                if let Some((of, Some(extent))) = super::library::elements_of(other) {
                    self.initialise_elements(address, &of, 0..extent, span);
                }
            }
        }
    }

    /// Runs the default constructor for some elements of an array of objects.
    fn initialise_elements(&mut self, address: Value, of: &Ty, elements: std::ops::Range<i64>, span: Span) {
        let (_, Ty::Class(class)) = super::library::dimensions(of) else { return };
        if elements.end > ZEROED || self.constructors_of(&class).is_empty() {
            return;
        }
        for index in elements {
            let place = self.int(index, span);
            let element = self.element_address(address, place, span);
            self.initialise_default(element, of, span);
        }
    }

    pub fn initialise_arguments(&mut self, address: Value, ty: &Ty, args: &[Expr], braces: bool, span: Span) {
        match ty.value().clone() {
            Ty::Class(class) => {
                if self.constructor(address, &class, args, span) {
                    return;
                }
                match args {
                    [] => self.initialise_members(address, &class, Vec::new(), span),
                    // `point p{{x, y}}`: the inner braces are those of the first member, an array or a class.
                    [one] if braces && matches!(one.kind, ExprKind::InitList(_)) && self.begins_with_parts(&class) => {
                        self.initialise_members(address, &class, vec![(None, None, one)], span);
                    }
                    [one] => {
                        if let ExprKind::InitList(list) = &one.kind {
                            return self.initialise_list(address, ty, list, span);
                        }
                        let ev = self.eval(one);
                        if matches!(ev.ty.value(), Ty::Class(other) if *other == class) || !ev.ty.is_known() && !braces
                        {
                            self.copy_to(address, ty, &ev, span);
                        } else {
                            self.initialise_members(address, &class, vec![(None, Some(ev), one)], span);
                        }
                    }
                    many => {
                        let list: Vec<(Option<Name>, Expr)> = many.iter().map(|value| (None, value.clone())).collect();
                        self.initialise_list(address, ty, &list, span);
                    }
                }
            }
            Ty::Named(named) if &*named.name == "barrier" && !args.is_empty() => {
                let count = self.rvalue_of(&args[0]);
                self.emit(Op::BarrierInit { address, count }, span);
            }
            ty if super::library::has_parts(&ty) && args.len() > 1
                || super::library::is_array(&ty) && !args.is_empty() =>
            {
                let list: Vec<(Option<Name>, Expr)> = args.iter().map(|arg| (None, arg.clone())).collect();
                self.initialise_list(address, &ty, &list, span);
            }
            ty if self.is_numbered_barrier(&ty) => {
                let list = self.eval_args(args);
                let ev = self.construct_numbered_barrier(&ty, &list);
                self.store_to(address, &ty, &ev, span);
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
                let parts = self.parts_of(&Ty::Class(class.clone()));
                let list = self.with_all_braces(parts.into_iter(), list);
                let list = list.iter().map(|(name, value)| (name.clone(), None, value)).collect();
                self.initialise_members(address, &class, list, span);
            }
            Ty::Array(of, extent) => {
                let braced;
                let list = match self.parts_of(&of).is_empty() {
                    true => list,
                    false => {
                        braced = self.with_all_braces(std::iter::repeat((*of).clone()), list);
                        &braced
                    }
                };
                for (index, (_, value)) in list.iter().enumerate() {
                    let place = self.int(index as i64, value.span);
                    let element = self.element_address(address, place, value.span);
                    self.initialise(element, &of, value);
                }
                let extent = extent.unwrap_or(list.len() as i64);
                self.initialise_elements(address, &of, list.len() as i64..extent, span);
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
            // `std::array<int, 2> a{{x, y}}`: the inner braces are those of the array inside.
            array if super::library::is_array(&array) => {
                let list = match list {
                    [(None, Expr { kind: ExprKind::InitList(inner), .. })] => inner,
                    list => list,
                };
                let Some((of, extent)) = super::library::elements_of(&array) else { return };
                self.initialise_list(address, &Ty::Array(Arc::new(of), extent), list, span);
            }
            ty => {
                for (index, (name, value)) in list.iter().enumerate() {
                    let name = name.clone().unwrap_or_else(|| super::library::part_name(&ty, index));
                    let member = self.member_address(address, &name, value.span);
                    let of = if super::library::has_parts(&ty) {
                        super::library::part_type(&ty, index)
                    } else {
                        Ty::Unknown
                    };
                    self.initialise(member, &of, value);
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
            self.note_overlay(class, &field, &Ev::place(member, ty.clone()));
            match ev {
                Some(ev) => self.store_member(member, &ty, &ev, value.span),
                None => self.initialise_member(member, &ty, value),
            }
        }
        for (field, ty) in fields.iter().filter(|(field, _)| !set.contains(field)) {
            self.zero(address, field, ty, span);
        }
        self.default_members(address, class, &set, span);
    }

    /// A member that a braced list does not reach is zero, unless it has an initialiser of its own.
    fn zero(&mut self, address: Value, field: &Name, ty: &Ty, span: Span) {
        let elements = match ty {
            ty if ty.is_scalar() => None,
            Ty::Array(of, Some(extent)) if of.is_scalar() && *extent <= ZEROED => Some(*extent),
            _ => return,
        };
        let member = self.member_address(address, field, span);
        let zero = self.int(0, span);
        match elements {
            None => self.store(member, zero, span),
            Some(extent) => {
                for index in 0..extent {
                    let place = self.int(index, span);
                    let element = self.element_address(member, place, span);
                    self.store(element, zero, span);
                }
            }
        }
    }

    fn begins_with_parts(&mut self, class: &Arc<ClassTy>) -> bool {
        self.fields_of(class)
            .first()
            .is_some_and(|(_, ty)| matches!(ty, Ty::Array(..) | Ty::Class(_) | Ty::Vector { .. }))
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
            self.copy_to(member, ty, ev, span);
        }
    }

    /// Default constructors of the bases that are not in `set`.
    pub fn default_bases(&mut self, address: Value, class: &Arc<ClassTy>, set: &[Arc<ClassTy>], span: Span) {
        if !self.descend(span) {
            return;
        }
        for base in self.bases_of(class) {
            if !set.contains(&base) {
                self.initialise_default(address, &Ty::Class(base), span);
            }
        }
        self.ascend();
    }

    /// Default initialisers of members that are not in `set`, and default constructors of class members.
    pub fn default_members(&mut self, address: Value, class: &Arc<ClassTy>, set: &[Name], span: Span) {
        if !self.descend(span) {
            return;
        }
        let tree = class.class.clone();
        let scope = self.class_scope(class);
        for (index, member) in tree.members.iter().enumerate() {
            let cell = self.cell_of(class, &member.name);
            if member.storage.is_static || member.storage.is_constexpr || set.contains(&cell) {
                continue;
            }
            let ty = self.field_type(class, index);
            if matches!(member.init, Init::None) && !matches!(super::library::dimensions(&ty).1, Ty::Class(_)) {
                continue;
            }
            let place = self.member_address(address, &cell, span);
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
}
