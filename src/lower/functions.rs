//! Function definitions: the head, the constructor's initialisers, the body.

use crate::lower::calls::trailing_type;
use crate::lower::declarations::parameters;
use crate::lower::expressions::{arguments, expression};
use crate::lower::names::{last_name, path};
use crate::lower::reader::{Reader, plain_path};
use crate::lower::requires::of_parameters;
use crate::lower::statements::body;
use crate::lower::tree::{Field, Id, Kind};
use crate::lower::types::{specifiers, unwrap_declarator};
use crate::program::{
    Expr, Function, Name, Param, Path, RefQualifier, Stmt, TemplateArg, TemplateParam, Type, TypeKind,
};

/// What stands before the body.
pub struct Head {
    pub name: Name,
    pub params: Vec<Param>,
    pub result: Type,
    pub leaves_object: bool,
    pub object: RefQualifier,
}

impl Head {
    /// Of which no more than the name is known.
    pub fn named(name: Name) -> Head {
        let result = Type::plain(TypeKind::Unknown);
        Head { name, params: Vec::new(), result, leaves_object: false, object: RefQualifier::None }
    }

    /// A function that is nothing special besides.
    pub fn with_body(self, template: Vec<TemplateParam>, body: Stmt) -> Function {
        let Head { name, params, result, leaves_object, object } = self;
        Function {
            name,
            template,
            params,
            result,
            specialises: None,
            of_class: None,
            requires: Vec::new(),
            initialisers: Vec::new(),
            leaves_object,
            object,
            body,
            unreadable: None,
        }
    }
}

/// A `function_definition`; `None` if it has no body (`= default`, `= delete`).
pub fn function(reader: &mut Reader, id: Id, template: Vec<TemplateParam>) -> Option<Function> {
    let block = reader.child(id, Field::Body)?;
    let head = head(reader, id);
    let initialisers = match reader.tree.child_of_kind(id, Kind::FieldInitializerList) {
        Some(list) => initialisers(reader, list),
        None => Vec::new(),
    };
    let requires = requirements(reader, id);
    let (specialises, of_class) = written_arguments(reader, id);
    let body = body(reader, block);
    Some(Function { specialises, of_class, requires, initialisers, ..head.with_body(template, body) })
}

/// The template arguments written in the name of a function, and in that of its class.
fn written_arguments(reader: &mut Reader, id: Id) -> (Option<Vec<TemplateArg>>, Option<Vec<TemplateArg>>) {
    let declarator = reader.child(id, Field::Declarator);
    let Some(name) = unwrap_declarator(reader, Type::plain(TypeKind::Unknown), declarator).name else {
        return (None, None);
    };
    let path = reader.deeper(name, |reader| path(reader, name)).unwrap_or_default();
    let mut segments = path.segments.into_iter().rev().map(|segment| segment.args);
    (segments.next().flatten(), segments.next().flatten())
}

/// What stands behind `requires`, before or behind the declarator.
fn requirements(reader: &mut Reader, id: Id) -> Vec<Expr> {
    let declarator = reader.child(id, Field::Declarator);
    let clauses: Vec<Id> = std::iter::once(id)
        .chain(declarator)
        .filter_map(|within| reader.tree.child_of_kind(within, Kind::RequiresClause))
        .collect();
    let constraint = |reader: &Reader, clause: Id| {
        reader.tree.children(clause).find(|child| !matches!(reader.text(*child), "requires" | "(" | ")"))
    };
    let mut all: Vec<Expr> = clauses
        .into_iter()
        .filter_map(|clause| {
            let constraint = constraint(reader, clause)?;
            reader.deeper(constraint, |reader| expression(reader, constraint))
        })
        .collect();
    let function = unwrap_declarator(reader, Type::plain(TypeKind::Unknown), declarator).function;
    if let Some(list) = function.and_then(|function| reader.child(function, Field::Parameters)) {
        all.extend(of_parameters(reader, list));
    }
    all
}

/// The head of a `function_definition` or `declaration`.
pub fn head(reader: &mut Reader, id: Id) -> Head {
    let base = specifiers(reader, id).ty;
    let declarator = reader.child(id, Field::Declarator);
    head_round(reader, base, declarator)
}

/// The head of a function of which only the declarator could be read.
pub fn head_of_declarator(reader: &mut Reader, declarator: Id) -> Head {
    head_round(reader, Type::plain(TypeKind::Unknown), Some(declarator))
}

fn head_round(reader: &mut Reader, base: Type, declarator: Option<Id>) -> Head {
    let it = unwrap_declarator(reader, base, declarator);
    let name = match it.name {
        Some(name) => last_name(&reader.deeper(name, |reader| path(reader, name)).unwrap_or_default()),
        None => Name::from(""),
    };
    let params = match it.function.and_then(|function| reader.child(function, Field::Parameters)) {
        Some(list) => parameters(reader, list),
        None => Vec::new(),
    };
    let result = it.function.and_then(|function| trailing_type(reader, function)).unwrap_or(it.ty);
    let result = conversion_result(&name).unwrap_or(result);
    let says = |word: &str| {
        it.function.is_some_and(|function| reader.tree.children(function).any(|child| reader.text(child) == word))
    };
    let object = match (says("&"), says("&&")) {
        (true, _) => RefQualifier::Lvalue,
        (_, true) => RefQualifier::Rvalue,
        _ => RefQualifier::None,
    };
    Head { name, params, result, leaves_object: says("const"), object }
}

/// What a conversion function gives, by its name: `operator const T *`.
fn conversion_result(name: &str) -> Option<Type> {
    let words = name.strip_prefix("operator ")?;
    let mut is_const = false;
    let mut names: Vec<&str> = Vec::new();
    let mut pointers = 0;
    for word in words.split_ascii_whitespace() {
        let (plain, stars) = match word.find(['*', '&']) {
            Some(at) => word.split_at(at),
            None => (word, ""),
        };
        match plain {
            "" | "volatile" | "::" => {}
            "const" => is_const = true,
            plain => names.push(plain),
        }
        pointers += stars.matches('*').count();
    }
    let is_scalar = names.iter().all(|name| matches!(*name, "unsigned" | "signed" | "long" | "short" | "int" | "char"));
    let text = if is_scalar { names.join(" ") } else { names.last()?.to_string() };
    if !text.starts_with(|c: char| c.is_alphabetic() || c == '_') || names.iter().any(|name| name.contains('<')) {
        return Some(Type::plain(TypeKind::Unknown));
    }
    let mut ty = Type { is_const, ..Type::plain(TypeKind::Named(plain_path(Name::from(text)))) };
    for _ in 0..pointers {
        ty = Type::plain(TypeKind::Pointer(Box::new(ty)));
    }
    Some(ty)
}

pub fn initialisers(reader: &mut Reader, list: Id) -> Vec<(Path, Vec<Expr>)> {
    let mut all = Vec::new();
    for initialiser in reader.tree.children(list) {
        if reader.kind(initialiser) != Kind::FieldInitializer {
            continue;
        }
        let mut named = Path::default();
        for child in reader.tree.children(initialiser) {
            match reader.kind(child) {
                Kind::ArgumentList | Kind::InitializerList => {
                    let args = arguments(reader, child);
                    all.push((std::mem::take(&mut named), args));
                }
                Kind::Token | Kind::Error => {}
                _ => named = path(reader, child),
            }
        }
    }
    all
}
