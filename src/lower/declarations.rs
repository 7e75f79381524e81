//! Declarations: variables, parameters, template parameters, aliases, enumerators.
//!
//! `Tile tile(store);` is read as the variable that it nearly always is; only what cannot be an argument makes it a function.

use crate::lower::expressions::{arguments, expression};
use crate::lower::names::{last_name, parameters_as_arguments, path, plain_name};
use crate::lower::reader::Reader;
use crate::lower::tree::{Field, Id, Kind};
use crate::lower::types::{Specifiers, specifiers, type_descriptor, unwrap_declarator};
use crate::program::{Declaration, Expr, Init, Name, Param, TemplateParam, Type, TypeKind};

/// Where a declaration stands: in a class, `T name(U)` is always a function.
#[derive(Copy, Clone, PartialEq, Eq)]
pub enum Scope {
    Block,
    Class,
}

/// All that one declaration declares, in order; of a class's functions nothing.
pub fn declared(reader: &mut Reader, id: Id, scope: Scope) -> (Specifiers, Vec<Declaration>) {
    let specifiers = specifiers(reader, id);
    let mut all: Vec<Declaration> = Vec::new();
    let mut after_equals = false;
    for child in reader.tree.children(id) {
        match reader.node(child).field {
            Field::Declarator => {
                if let Some(declaration) = declarator(reader, &specifiers, child, scope) {
                    // Nearly all declare one thing, and a vector that grows by itself makes room for four.
                    all.reserve_exact(1);
                    all.push(declaration);
                }
                after_equals = false;
            }
            // A condition's `int n = f()`, a member's `int n = 1` or `int n{1}`.
            Field::Value | Field::DefaultValue => {
                if let Some(declaration) = all.last_mut() {
                    declaration.init = init(reader, child, after_equals);
                    declaration.span.end = reader.span(child).end;
                }
            }
            _ => after_equals = reader.text(child) == "=",
        }
    }
    (specifiers, all)
}

fn declarator(reader: &mut Reader, specifiers: &Specifiers, id: Id, scope: Scope) -> Option<Declaration> {
    let mut it = unwrap_declarator(reader, specifiers.ty.clone(), Some(id));
    if it.function.is_some() && scope == Scope::Class {
        return None;
    }
    if let Some(name) = it.name {
        reader.declare(name);
    }
    for binding in &it.bindings {
        reader.declare(*binding);
    }
    let mut initial = Init::None;
    if reader.kind(id) == Kind::InitDeclarator {
        let equals = reader.tree.children(id).any(|child| reader.text(child) == "=");
        if let Some(value) = reader.child(id, Field::Value) {
            initial = init(reader, value, equals);
        }
    }
    if let Some(function) = it.function {
        match constructor_arguments(reader, specifiers, function) {
            Some(args) => initial = Init::Arguments { args, braces: false },
            None => it.ty = Type::plain(TypeKind::Function),
        }
    }
    let mut specialises = None;
    let name = match it.name {
        Some(name) if reader.kind(name) == Kind::TemplateFunction => {
            let path = reader.deeper(name, |reader| path(reader, name)).unwrap_or_default();
            specialises = path.segments.last().and_then(|last| last.args.clone());
            last_name(&path)
        }
        Some(name) => plain_name(reader, name),
        None if it.bindings.is_empty() => return None,
        None => Name::from(""),
    };
    if scope == Scope::Class && name.starts_with("operator ") {
        // A conversion function without its body.
        return None;
    }
    let bindings = it.bindings.iter().map(|binding| reader.name_of(*binding)).collect();
    Some(Declaration {
        name,
        bindings,
        ty: it.ty,
        storage: specifiers.storage,
        init: initial,
        span: reader.span(id),
        template: Vec::new(),
        specialises,
    })
}

/// The arguments of `Tile tile(store)`, if it is no function.
fn constructor_arguments(reader: &mut Reader, specifiers: &Specifiers, function: Id) -> Option<Vec<Expr>> {
    let parameters = reader.child(function, Field::Parameters)?;
    let is_void = specifiers.written.is_some_and(|ty| reader.text(ty) == "void");
    if is_void || specifiers.storage.is_extern || reader.tree.children(parameters).next().is_none() {
        return None;
    }
    parameters_as_arguments(reader, parameters)
}

fn init(reader: &mut Reader, value: Id, equals: bool) -> Init {
    match reader.kind(value) {
        Kind::ArgumentList => Init::Arguments { args: arguments(reader, value), braces: false },
        Kind::InitializerList if !equals => Init::Arguments { args: arguments(reader, value), braces: true },
        _ => Init::Expr(expression(reader, value)),
    }
}

/// The parameters of a function; `(void)` has none.
pub fn parameters(reader: &mut Reader, list: Id) -> Vec<Param> {
    let mut params = Vec::new();
    for child in reader.tree.children(list) {
        match reader.kind(child) {
            Kind::ParameterDeclaration | Kind::OptionalParameterDeclaration | Kind::VariadicParameterDeclaration
                if reader.text(child) != "void" =>
            {
                params.push(parameter(reader, child));
            }
            // `f(int, ...)` takes whatever else it is given, and has no name for it.
            Kind::Token if reader.text(child) == "..." => {
                let ty = Type::plain(TypeKind::Unknown);
                params.push(Param { name: None, ty, default: None, pack: true, span: reader.span(child) });
            }
            _ => {}
        }
    }
    params
}

pub fn parameter(reader: &mut Reader, id: Id) -> Param {
    let specifiers = specifiers(reader, id);
    let mut ty = specifiers.ty;
    ty.is_const |= specifiers.storage.is_constexpr;
    let declarator = reader.child(id, Field::Declarator);
    let it = unwrap_declarator(reader, ty, declarator);
    let pack = it.pack || reader.kind(id) == Kind::VariadicParameterDeclaration;
    if let Some(name) = it.name {
        reader.declare(name);
        if pack {
            let name = reader.text(name);
            reader.packs.insert(name);
        }
    }
    // `int f(int)` as a parameter is a pointer to a function.
    let ty = if it.function.is_some() { Type::plain(TypeKind::Function) } else { it.ty };
    let default = reader.child(id, Field::DefaultValue).map(|value| expression(reader, value));
    Param { name: it.name.map(|name| reader.name_of(name)), ty, default, pack, span: reader.span(id) }
}

/// The parameters of `template <...>`.
pub fn template_parameters(reader: &mut Reader, list: Id) -> Vec<TemplateParam> {
    let mut params = Vec::new();
    for child in reader.tree.children(list) {
        params.push(match reader.kind(child) {
            Kind::TypeParameterDeclaration | Kind::VariadicTypeParameterDeclaration => {
                let name = type_parameter_name(reader, child);
                let pack = reader.kind(child) == Kind::VariadicTypeParameterDeclaration;
                if pack && let Some(name) = reader.tree.child_of_kind(child, Kind::TypeIdentifier) {
                    let name = reader.text(name);
                    reader.packs.insert(name);
                }
                TemplateParam::Type { name, default: None, pack }
            }
            Kind::OptionalTypeParameterDeclaration => {
                let name = reader.child(child, Field::Name);
                let default = reader.child(child, Field::DefaultType);
                let default = default.map(|ty| Type::plain(crate::lower::types::type_specifier(reader, ty)));
                let name = name.map(|name| type_name(reader, name));
                TemplateParam::Type { name, default, pack: false }
            }
            Kind::TemplateTemplateParameterDeclaration => {
                let declaration = reader.tree.children(child).find(|inner| {
                    matches!(
                        reader.kind(*inner),
                        Kind::TypeParameterDeclaration
                            | Kind::VariadicTypeParameterDeclaration
                            | Kind::OptionalTypeParameterDeclaration
                    )
                });
                TemplateParam::Template { name: declaration.and_then(|inner| type_parameter_name(reader, inner)) }
            }
            Kind::ParameterDeclaration | Kind::OptionalParameterDeclaration | Kind::VariadicParameterDeclaration => {
                let param = parameter(reader, child);
                TemplateParam::Value { name: param.name, ty: param.ty, default: param.default, pack: param.pack }
            }
            _ => continue,
        });
    }
    params
}

fn type_parameter_name(reader: &mut Reader, id: Id) -> Option<Name> {
    let name = reader.tree.child_of_kind(id, Kind::TypeIdentifier)?;
    Some(type_name(reader, name))
}

fn type_name(reader: &mut Reader, id: Id) -> Name {
    let text = reader.text(id);
    reader.types.insert(text);
    reader.name(text)
}

/// `using Name = type;`
pub fn alias(reader: &mut Reader, id: Id) -> Option<(Name, Type)> {
    let name = reader.child(id, Field::Name)?;
    let ty = reader.child(id, Field::Type)?;
    let name = type_name(reader, name);
    let ty = reader.deeper(ty, |reader| type_descriptor(reader, ty)).unwrap_or(Type::plain(TypeKind::Unknown));
    Some((name, ty))
}

/// `typedef type A, *B;`
pub fn typedefs(reader: &mut Reader, id: Id) -> (Specifiers, Vec<(Name, Type)>) {
    let specifiers = specifiers(reader, id);
    let mut all = Vec::new();
    for child in reader.tree.children(id) {
        if reader.node(child).field == Field::Declarator {
            let it = unwrap_declarator(reader, specifiers.ty.clone(), Some(child));
            if let Some(name) = it.name {
                let ty = if it.function.is_some() { Type::plain(TypeKind::Function) } else { it.ty };
                all.push((type_name(reader, name), ty));
            }
        }
    }
    (specifiers, all)
}

/// The enumerators of an `enum_specifier` with a body.
pub fn enumerators(reader: &mut Reader, id: Id) -> Option<Vec<(Name, Option<Expr>)>> {
    let body = reader.child(id, Field::Body)?;
    let mut all = Vec::new();
    for child in reader.tree.children(body) {
        if reader.kind(child) == Kind::Enumerator
            && let Some(name) = reader.child(child, Field::Name)
        {
            let value = reader.child(child, Field::Value).map(|value| expression(reader, value));
            all.push((reader.name_of(name), value));
        }
    }
    Some(all)
}
