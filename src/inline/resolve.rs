//! Types as written to types as known: names, aliases, standard traits, `decltype`.

use super::builder::Builder;
use super::constant;
use super::names::{Found, LOOKUPS, Qualifier};
use super::scope::{Binding, ScopeId};
use super::types::{Bound, INT, NamedTy, Pointee, Ty, scalar, vector};
use crate::graph::ItemId;
use crate::program::*;
use std::sync::Arc;

/// What it does, it does to the object that it is made for.
pub const STANDS_FOR_ANOTHER: &str = "atomic_ref";

impl Builder<'_> {
    pub fn resolve_in(&mut self, scope: ScopeId, ty: &Type) -> Ty {
        let item = self.scope_at(scope).item;
        self.in_item(item, scope, |builder| builder.resolve(ty))
    }

    pub fn resolve(&mut self, ty: &Type) -> Ty {
        match &ty.kind {
            TypeKind::Named(path) => self.resolve_path(path),
            TypeKind::Auto | TypeKind::Unknown => Ty::Unknown,
            TypeKind::Decltype(expr) => self.type_of(expr),
            TypeKind::Pointer(inner) | TypeKind::Reference(inner) => {
                let target = self.resolve(inner);
                if matches!(inner.kind, TypeKind::Function) {
                    return Ty::FunctionPointer;
                }
                let pointee = Arc::new(super::types::Pointee {
                    ty: target,
                    is_const: inner.is_const,
                    is_volatile: inner.is_volatile,
                    restrict: ty.restrict,
                });
                match ty.kind {
                    TypeKind::Pointer(_) => Ty::Pointer(pointee),
                    _ => match &pointee.ty {
                        Ty::Reference(_) => pointee.ty.clone(),
                        _ => Ty::Reference(pointee),
                    },
                }
            }
            TypeKind::Array(inner, extent) => {
                let extent = extent.as_ref().and_then(|extent| self.constant(extent));
                Ty::Array(Arc::new(self.resolve(inner)), extent)
            }
            TypeKind::Function => Ty::FunctionPointer,
        }
    }

    pub fn resolve_path(&mut self, path: &Path) -> Ty {
        if let [only] = &path.segments[..]
            && only.args.is_none()
            && let Some(ty) = scalar(&only.name)
            && self.local(&only.name).is_none()
        {
            return ty;
        }
        let Some(last) = path.segments.last() else { return Ty::Unknown };
        if self.lookups >= LOOKUPS {
            self.memo.limits_met += 1;
            return Ty::Unknown;
        }
        self.lookups += 1;
        let ty = self.resolve_segments(path, last);
        self.lookups -= 1;
        ty
    }

    fn resolve_segments(&mut self, path: &Path, last: &Segment) -> Ty {
        let found = match self.qualifier(path) {
            Qualifier::None => {
                if let Found::Type(ty) | Found::Binding(Binding::Type(ty)) = self.find_local_type(last, path.global) {
                    return ty;
                }
                self.find_type_item(last, path.global.then_some(&[]))
            }
            Qualifier::Namespace(names) => self.find_type_item(last, Some(&names)),
            Qualifier::Type(ty) => self.find_in_type(&ty, last),
        };
        match found {
            Found::Type(ty) | Found::Binding(Binding::Type(ty)) => ty,
            _ => self.named(last),
        }
    }

    pub fn find_local_type(&mut self, segment: &Segment, global: bool) -> Found {
        let mut at = if global { None } else { Some(self.scope) };
        while let Some(id) = at {
            if let Some(found) = self.scope_at(id).names.get(&segment.name) {
                let found = found.clone();
                if let found @ (Found::Type(_) | Found::Binding(Binding::Type(_))) = self.through(found, segment) {
                    return found;
                }
            }
            if let Some(class) = self.scope_at(id).class.clone() {
                if class.class.name.as_ref() == Some(&segment.name) && segment.args.is_none() {
                    return Found::Type(Ty::Class(class));
                }
                if let Some(found @ (Found::Type(_) | Found::Binding(Binding::Type(_)))) =
                    self.find_in_class(&class, segment)
                {
                    return found;
                }
            }
            at = self.scope_at(id).parent;
        }
        Found::None
    }

    /// A type not in view, by its name: scalars, vectors, groups, library classes, standard aliases.
    pub fn named(&mut self, segment: &Segment) -> Ty {
        use super::types::{GroupTy, LibraryTy};
        use crate::words::GroupMaker;
        let name = &segment.name;
        if segment.args.is_none()
            && let Some(ty) = scalar(name).or_else(|| vector(name))
        {
            return ty;
        }
        let args = segment.args.as_ref().map(|args| self.template_arguments(args)).unwrap_or_default();
        if let Some(row) = self.words.library(name) {
            return Ty::Library(Arc::new(LibraryTy { name: name.clone(), row: row.clone(), args }));
        }
        if let Some(kind) = self.words.group_type(name) {
            return Ty::Group(match kind {
                GroupMaker::Block => GroupTy::Block,
                GroupMaker::Grid => GroupTy::Grid,
                GroupMaker::Cluster => GroupTy::Cluster,
                GroupMaker::Tile => GroupTy::Tile(match args.first() {
                    Some(Bound::Value(size)) => u32::try_from(*size).ok(),
                    _ => None,
                }),
                GroupMaker::Coalesced | GroupMaker::Partition => GroupTy::Formed(None),
            });
        }
        if let Some(ty) = self.standard_type(name, &args) {
            return ty;
        }
        // `true_type`, `is_integral<T>`: one type for each answer.
        if !matches!(&**name, "integral_constant" | "constant" | "Int")
            && let Some((value, ty)) = self.trait_value(name, &args)
        {
            let args = vec![Bound::Type(ty), Bound::Value(value)];
            return Ty::Named(Arc::new(NamedTy { name: Name::from("integral_constant"), args }));
        }
        Ty::Named(Arc::new(NamedTy { name: name.clone(), args }))
    }

    pub fn standard_type(&mut self, name: &str, args: &[super::types::Bound]) -> Option<Ty> {
        let ty = |index: usize| match args.get(index) {
            Some(Bound::Type(ty)) => Some(ty.clone()),
            _ => None,
        };
        match name {
            "conditional_t" => match args.first()? {
                Bound::Value(0) => ty(2),
                Bound::Value(_) => ty(1),
                _ => None,
            },
            "enable_if_t" => Some(ty(1).unwrap_or(Ty::Void)),
            "void_t" => Some(Ty::Void),
            "remove_cv_t" | "remove_const_t" | "remove_volatile_t" | "type_identity_t" | "decay_t"
            | "remove_cvref_t" | "remove_reference_t" | "make_signed_t" | "add_const_t" => Some(ty(0)?.value().clone()),
            "make_unsigned_t" => match ty(0)? {
                Ty::Int { bits, .. } => Some(Ty::Int { bits, signed: false }),
                _ => None,
            },
            "remove_pointer_t" | "remove_extent_t" => Some(ty(0)?.element()),
            "underlying_type_t" => Some(INT),
            STANDS_FOR_ANOTHER => {
                let of = NamedTy { name: Name::from("atomic"), args: args.to_vec() };
                let pointee =
                    Pointee { ty: Ty::Named(Arc::new(of)), is_const: false, is_volatile: false, restrict: false };
                Some(Ty::Reference(Arc::new(pointee)))
            }
            _ => sequence(name, args),
        }
    }

    /// An alias's type; its own template parameters get the arguments written.
    pub fn alias_type(&mut self, id: ItemId, segment: &Segment) -> Ty {
        let program = self.program;
        let Some(target) = program.alias(id) else { return Ty::Unknown };
        if self.nesting_of_aliases > 64 {
            self.memo.limits_met += 1;
            return Ty::Unknown;
        }
        self.nesting_of_aliases += 1;
        let args = segment.args.as_ref().map(|args| self.template_arguments(args)).unwrap_or_default();
        let key = (id, args.clone(), self.is_lenient);
        if let Some(known) = self.memo.aliases.get(&key) {
            self.nesting_of_aliases -= 1;
            return known.clone();
        }
        let limits_met = self.memo.limits_met;
        let parent = self.item_scope(id);
        let scope = self.new_scope(Some(parent), id);
        let params = program.alias_params(id);
        let args = self.complete_arguments(params, args, scope);
        self.bind_template(scope, params, &args);
        let ty = self.in_item(id, scope, |builder| builder.resolve(target));
        self.nesting_of_aliases -= 1;
        if self.memo.limits_met == limits_met {
            self.memo.aliases.insert(key, ty.clone());
        }
        ty
    }

    /// The static type of an expression that is not evaluated.
    pub fn type_of(&mut self, expr: &Expr) -> Ty {
        match &expr.kind {
            ExprKind::Int { ty, .. } => constant::literal_type(*ty),
            ExprKind::Float { bits, .. } => Ty::Float { bits: *bits },
            ExprKind::Name(path) => match self.find(path) {
                Found::Binding(
                    Binding::Object { ty, .. }
                    | Binding::Alias { ty, .. }
                    | Binding::Value { ty, .. }
                    | Binding::Constant { ty, .. }
                    | Binding::Static(ty),
                ) => ty.value().clone(),
                Found::Field(class, index) | Found::StaticField(class, index) => {
                    self.field_type(&class, index).value().clone()
                }
                Found::Constant(_, ty) => ty,
                Found::Value(item) => match self.program.value(item) {
                    Some(declaration) => {
                        let scope = self.item_scope(item);
                        self.in_item(item, scope, |builder| builder.declared_type(declaration)).value().clone()
                    }
                    None => Ty::Unknown,
                },
                _ => Ty::Unknown,
            },
            ExprKind::This => match self.this() {
                Some((_, class)) => Ty::pointer_to(Ty::Class(class)),
                None => Ty::Unknown,
            },
            ExprKind::Member { object, arrow, member } => {
                let object = self.type_of(object);
                let object = if *arrow { object.value().element() } else { object.value().clone() };
                let Some(last) = member.segments.last() else { return Ty::Unknown };
                match object {
                    Ty::Class(class) => match self.find_in_class(&class, last) {
                        Some(Found::Field(owner, index) | Found::StaticField(owner, index)) => {
                            self.field_type(&owner, index)
                        }
                        _ => Ty::Unknown,
                    },
                    Ty::Vector { of, .. } => (*of).clone(),
                    _ => Ty::Unknown,
                }
            }
            ExprKind::Unary(UnaryOp::Deref, inner) | ExprKind::Index(inner, _) => {
                let inner = self.type_of(inner);
                inner.value().element()
            }
            ExprKind::Unary(UnaryOp::AddressOf, inner) => match self.type_of(inner) {
                ty if ty.is_known() => Ty::pointer_to(ty.value().clone()),
                _ => Ty::Unknown,
            },
            ExprKind::Cast(ty, _) | ExprKind::Construct(ty, _) => self.resolve(ty),
            ExprKind::Call { callee, .. } => {
                if let ExprKind::Member { object, arrow, member } = &callee.kind {
                    let object = self.type_of(object);
                    let object = if *arrow { object.value().element() } else { object.value().clone() };
                    if let (Ty::Class(class), Some(last)) = (object, member.segments.last())
                        && let Some(Found::Functions(set)) = self.find_in_class(&class, last)
                        && let [only] = &set[..]
                    {
                        let scope = self.scope_of_callable(only);
                        let result = only.function.result.clone();
                        return self.resolve_in(scope, &result);
                    }
                    return Ty::Unknown;
                }
                if let ExprKind::Name(path) = &callee.kind {
                    if let Some(Segment { name, args: Some(args) }) = path.segments.last()
                        && &**name == "declval"
                    {
                        return match self.template_arguments(args).first() {
                            Some(Bound::Type(ty)) => ty.value().clone(),
                            _ => Ty::Unknown,
                        };
                    }
                    match self.find(path) {
                        Found::Type(ty) | Found::Binding(Binding::Type(ty)) => return ty,
                        Found::Functions(set) if set.len() == 1 => {
                            let callable = set[0].clone();
                            let scope = self.scope_of_callable(&callable);
                            return self.resolve_in(scope, &callable.function.result);
                        }
                        _ => {}
                    }
                }
                Ty::Unknown
            }
            ExprKind::Binary(op, a, b) => {
                let (a, b) = (self.type_of(a), self.type_of(b));
                constant::result_type(*op, &a, &b)
            }
            _ => Ty::Unknown,
        }
    }
}

/// Longer ones stay open.
const LONGEST_SEQUENCE: i64 = 256;

/// `make_index_sequence<N>` and its kin are an `integer_sequence` of their numbers.
fn sequence(name: &str, args: &[Bound]) -> Option<Ty> {
    let index = || Bound::Type(Ty::Int { bits: 64, signed: false });
    let (ty, count) = match name {
        "index_sequence" => {
            let args = [index()].into_iter().chain(args.iter().cloned()).collect();
            return Some(Ty::Named(Arc::new(NamedTy { name: Name::from("integer_sequence"), args })));
        }
        "index_sequence_for" => (index(), Bound::Value(args.len() as i64)),
        "make_index_sequence" => (index(), args.first()?.clone()),
        "make_integer_sequence" => (args.first()?.clone(), args.get(1)?.clone()),
        _ => return None,
    };
    let numbers = match count {
        Bound::Value(count) if (0..=LONGEST_SEQUENCE).contains(&count) => (0..count).map(Bound::Value).collect(),
        // One stands for any number.
        open => vec![open],
    };
    let args = [ty].into_iter().chain(numbers).collect();
    Some(Ty::Named(Arc::new(NamedTy { name: Name::from("integer_sequence"), args })))
}
