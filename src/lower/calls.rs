//! Calls, launches, casts and constructions: all that is written `something(arguments)` or `something{arguments}`; lambdas.

use crate::lower::declarations::{parameters, template_parameters};
use crate::lower::expressions::{arguments, expression};
use crate::lower::functions::Head;
use crate::lower::reader::Reader;
use crate::lower::statements::body;
use crate::lower::tree::{Field, Id, Kind};
use crate::lower::types::{type_descriptor, type_specifier};
use crate::program::{Capture, Expr, ExprKind, Lambda, Name, Path, Segment, TemplateArg, Type, TypeKind};
use std::sync::Arc;

pub fn call(reader: &mut Reader, id: Id) -> ExprKind {
    let (Some(function), Some(list)) = (reader.child(id, Field::Function), reader.child(id, Field::Arguments)) else {
        return ExprKind::Unreadable;
    };
    match reader.kind(function) {
        Kind::PrimitiveType | Kind::SizedTypeSpecifier => {
            let ty = Type::plain(type_specifier(reader, function));
            return conversion(ty, arguments(reader, list));
        }
        Kind::TemplateFunction => {
            if let Some(ty) = cast_target(reader, function) {
                return conversion(ty, arguments(reader, list));
            }
        }
        Kind::Identifier => {
            if let "noexcept" | "typeid" | "alignof" | "__alignof__" | "__alignof" | "sizeof" = reader.text(function) {
                return ExprKind::Unevaluated(Box::new(None));
            }
            if reader.text(function) == "decltype_" {
                return conversion(Type::plain(TypeKind::Unknown), arguments(reader, list));
            }
        }
        // `(T)(x)`
        Kind::ParenthesizedExpression => {
            if let Some(inner) = reader.tree.first(function)
                && reader.kind(inner) == Kind::Identifier
                && reader.types.contains(reader.text(inner))
            {
                let ty = Type::plain(TypeKind::Named(crate::lower::names::path(reader, inner)));
                return conversion(ty, arguments(reader, list));
            }
        }
        Kind::CallExpression => {
            // `kernel("<<<", grid, block)(x)`
            if let Some(config) = reader.child(function, Field::Arguments)
                && reader.tree.first(config).is_some_and(|mark| reader.text(mark) == "\"<<<\"")
                && let Some(kernel) = reader.child(function, Field::Function)
            {
                let callee = Box::new(expression(reader, kernel));
                let mut config = arguments(reader, config);
                config.remove(0);
                return ExprKind::Launch { callee, config, args: arguments(reader, list) };
            }
        }
        _ => {}
    }
    let callee = Box::new(expression(reader, function));
    ExprKind::Call { callee, args: arguments(reader, list) }
}

fn conversion(ty: Type, mut args: Vec<Expr>) -> ExprKind {
    match (args.pop(), args.is_empty()) {
        (Some(value), true) => ExprKind::Cast(ty, Box::new(value)),
        (last, _) => {
            args.extend(last);
            ExprKind::Construct(ty, args)
        }
    }
}

/// The target of `static_cast<T>` and its kin.
fn cast_target(reader: &mut Reader, function: Id) -> Option<Type> {
    let name = reader.child(function, Field::Name)?;
    if !matches!(reader.text(name), "static_cast" | "reinterpret_cast" | "const_cast" | "dynamic_cast") {
        return None;
    }
    let list = reader.child(function, Field::Arguments)?;
    let target = reader.tree.first(list)?;
    if reader.kind(target) == Kind::TypeDescriptor {
        return Some(type_descriptor(reader, target));
    }
    Some(Type::plain(TypeKind::Unknown))
}

/// `T{a, b}`, `(T){a, b}`; with designators the list stays one.
pub fn compound_literal(reader: &mut Reader, id: Id) -> ExprKind {
    let (Some(ty), Some(list)) = (reader.child(id, Field::Type), reader.child(id, Field::Value)) else {
        return ExprKind::Unreadable;
    };
    // What stands for a default argument `{}` or `{1, 2}`
    if reader.text(ty) == "braced_" {
        return expression(reader, list).kind;
    }
    let ty = match reader.kind(ty) {
        Kind::TypeDescriptor => type_descriptor(reader, ty),
        _ => Type::plain(type_specifier(reader, ty)),
    };
    let args = match reader.tree.child_of_kind(list, Kind::InitializerPair) {
        Some(_) => vec![expression(reader, list)],
        None => arguments(reader, list),
    };
    ExprKind::Construct(ty, args)
}

/// `new T(a)`, `new T[n]`; `new (place) T(a)` is a call `new<T>(place, a)`, by a name that no function has.
pub fn new(reader: &mut Reader, id: Id) -> ExprKind {
    let Some(ty) = reader.child(id, Field::Type) else { return ExprKind::Unreadable };
    let mut ty = Type::plain(type_specifier(reader, ty));
    if let Some(declarator) = reader.child(id, Field::Declarator) {
        let length = reader.tree.first(declarator).map(|length| Box::new(expression(reader, length)));
        ty = Type::plain(TypeKind::Array(Box::new(ty), length));
    }
    let args = reader.child(id, Field::Arguments).map(|list| arguments(reader, list)).unwrap_or_default();
    let placement = reader.child(id, Field::Placement).map(|list| arguments(reader, list)).unwrap_or_default();
    let is_tag = |place: &Expr| matches!(&place.kind, ExprKind::Name(path) if path.segments.last().is_some_and(|last| &*last.name == "nothrow"));
    match (&placement[..], &ty.kind) {
        ([place], TypeKind::Named(_)) if !is_tag(place) => {
            let span = place.span;
            let segment = Segment { name: Name::from("new"), args: Some(vec![TemplateArg::Type(ty)]) };
            let callee = ExprKind::Name(Path { segments: vec![segment], global: false });
            let args = placement.into_iter().chain(args).collect();
            ExprKind::Call { callee: Box::new(Expr { kind: callee, span }), args }
        }
        _ => ExprKind::Construct(ty, args),
    }
}

pub fn lambda(reader: &mut Reader, id: Id) -> ExprKind {
    let span = reader.span(id);
    let mut default_capture = None;
    let mut all = Vec::new();
    if let Some(list) = reader.child(id, Field::Captures) {
        (default_capture, all) = captures(reader, list);
    }
    let template = match reader.child(id, Field::TemplateParameters) {
        Some(list) => template_parameters(reader, list),
        None => Vec::new(),
    };
    let declarator = reader.child(id, Field::Declarator);
    let params = match declarator.and_then(|declarator| reader.child(declarator, Field::Parameters)) {
        Some(list) => parameters(reader, list),
        None => Vec::new(),
    };
    let result = declarator.and_then(|declarator| trailing_type(reader, declarator));
    let body = match reader.child(id, Field::Body) {
        Some(statement) => body(reader, statement),
        None => return ExprKind::Unreadable,
    };
    let result = result.unwrap_or(Type::plain(TypeKind::Auto));
    let changes = |declarator: Id| reader.tree.children(declarator).any(|child| reader.text(child) == "mutable");
    let leaves_object = !declarator.is_some_and(changes);
    let head = Head { params, result, leaves_object, ..Head::named(reader.name("lambda")) };
    let function = head.with_body(template, body);
    ExprKind::Lambda(Arc::new(Lambda { default_capture, captures: all, function, span }))
}

/// `-> T` behind a declarator's parameters.
pub fn trailing_type(reader: &mut Reader, declarator: Id) -> Option<Type> {
    let trailing = reader.tree.child_of_kind(declarator, Kind::TrailingReturnType)?;
    let ty = reader.tree.first(trailing)?;
    Some(type_descriptor(reader, ty))
}

type Captures = Vec<(Name, Capture, Option<Expr>)>;

fn captures(reader: &mut Reader, list: Id) -> (Option<Capture>, Captures) {
    let mut default = None;
    let mut all = Vec::new();
    // The mark before a name: `&x`, `*this`.
    let mut mark = "";
    for child in reader.tree.children(list) {
        let how = if mark == "&" { Capture::ByReference } else { Capture::ByValue };
        match reader.kind(child) {
            Kind::Token => {
                mark = reader.text(child);
                continue;
            }
            Kind::LambdaDefaultCapture => {
                default = Some(if reader.text(child) == "&" { Capture::ByReference } else { Capture::ByValue });
            }
            Kind::This => {
                let how = if mark == "*" { Capture::ByValue } else { Capture::ByReference };
                all.push((reader.name("this"), how, None));
            }
            Kind::LambdaCaptureInitializer => {
                if let (Some(left), Some(right)) = (reader.child(child, Field::Left), reader.child(child, Field::Right))
                {
                    let inner = reader.tree.children(child).any(|token| reader.text(token) == "&");
                    let how = if inner { Capture::ByReference } else { how };
                    let value = expression(reader, right);
                    reader.declare(left);
                    all.push((reader.name_of(left), how, Some(value)));
                }
            }
            _ => {
                // A name, a pack `xs...`, or what an error wraps.
                let names = reader.tree.within(child).find(|inner| reader.kind(*inner) == Kind::Identifier);
                let by_reference = mark == "&" || reader.text(child).starts_with('&');
                if let Some(name) = names {
                    let how = if by_reference { Capture::ByReference } else { Capture::ByValue };
                    all.push((reader.name_of(name), how, None));
                }
            }
        }
        mark = "";
    }
    (default, all)
}
