//! Names with their qualifiers and template arguments, and the expressions hidden in what reads like a type.

use crate::lower::expressions::expression;
use crate::lower::reader::{Reader, plain_path};
use crate::lower::tree::{Field, Id, Kind};
use crate::lower::types::type_descriptor;
use crate::program::{BinaryOp, Expr, ExprKind, Name, Path, Segment, TemplateArg, Type, TypeKind};

/// `a::b<T>::c`, from any node that names something.
pub fn path(reader: &mut Reader, id: Id) -> Path {
    let mut path = Path::default();
    let mut id = id;
    loop {
        match reader.kind(id) {
            Kind::QualifiedIdentifier => {
                match reader.child(id, Field::Scope) {
                    Some(scope) => {
                        let segment = segment(reader, scope);
                        path.segments.reserve_exact(1);
                        path.segments.push(segment);
                    }
                    None => path.global |= path.segments.is_empty(),
                }
                match reader.child(id, Field::Name) {
                    Some(name) => id = name,
                    None => return path,
                }
            }
            Kind::DependentName | Kind::DependentType => match reader.tree.first(id) {
                Some(inner) => id = inner,
                None => return path,
            },
            _ => {
                let segment = segment(reader, id);
                path.segments.reserve_exact(1);
                path.segments.push(segment);
                return path;
            }
        }
    }
}

pub fn last_name(path: &Path) -> Name {
    path.segments.last().map_or_else(|| Name::from(""), |segment| segment.name.clone())
}

fn segment(reader: &mut Reader, id: Id) -> Segment {
    let mut id = id;
    while matches!(reader.kind(id), Kind::DependentName | Kind::PointerTypeDeclarator) {
        match reader.tree.first(id) {
            Some(inner) => id = inner,
            None => break,
        }
    }
    match reader.kind(id) {
        Kind::TemplateType | Kind::TemplateFunction | Kind::TemplateMethod => {
            let name = reader.child(id, Field::Name).map_or_else(|| Name::from(""), |name| plain_name(reader, name));
            let args = reader.child(id, Field::Arguments).map(|list| template_arguments(reader, list));
            Segment { name, args }
        }
        Kind::Decltype => Segment { name: reader.name("decltype"), args: None },
        _ => Segment { name: plain_name(reader, id), args: None },
    }
}

/// An identifier, or an operator's or destructor's name without the blanks it may be written with.
///
/// `operator__` is what `operator()` is called where the grammar wants a plain name.
pub fn plain_name(reader: &mut Reader, id: Id) -> Name {
    let text = reader.text(id);
    match text {
        "operator__" => return reader.name("operator()"),
        "operator_index_" => return reader.name("operator[]"),
        _ => {}
    }
    if let Some(sign) = text.strip_prefix("operator_sign_") {
        return Name::from(format!("operator{}", sign_of(sign)));
    }
    if let Some(ty) = text.strip_prefix("operator_as__") {
        return Name::from(format!("operator {}", ty.replace("__", " ")));
    }
    let is_operator = text.strip_prefix("operator").is_some_and(|rest| !rest.trim_start().starts_with(is_word));
    if reader.kind(id) == Kind::OperatorCast || (!is_operator && text.starts_with("operator ")) {
        let end = text.find('(').unwrap_or(text.len());
        let words: Vec<&str> = text[..end].split_ascii_whitespace().collect();
        return Name::from(words.join(" "));
    }
    if text.contains(|c: char| c.is_ascii_whitespace()) {
        return Name::from(text.split_ascii_whitespace().collect::<String>());
    }
    reader.name(text)
}

/// The sign of an operator that is called by its name, written byte by byte in hexadecimal.
fn sign_of(digits: &str) -> String {
    let byte = |at: usize| digits.get(at..at + 2).and_then(|byte| u8::from_str_radix(byte, 16).ok());
    (0..digits.len()).step_by(2).filter_map(byte).map(char::from).collect()
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The arguments of `<...>`.
pub fn template_arguments(reader: &mut Reader, list: Id) -> Vec<TemplateArg> {
    let args: Vec<Id> = reader.tree.children(list).collect();
    let args =
        args.into_iter().filter(|arg| !matches!(reader.kind(*arg), Kind::Token | Kind::Error)).collect::<Vec<_>>();
    args.into_iter().map(|arg| template_argument(reader, arg)).collect()
}

/// What may be a type and a value is both only where neither holds template arguments: two readings of each would
/// double with every level.
fn template_argument(reader: &mut Reader, id: Id) -> TemplateArg {
    match reader.kind(id) {
        Kind::TypeDescriptor if may_be_value(reader, id) => {
            let declarator = reader.child(id, Field::Declarator);
            let Some(value) = reader.deeper(id, |reader| type_as_expression(reader, id)).flatten() else {
                return TemplateArg::Type(Type::plain(TypeKind::Unknown));
            };
            match (&value.kind, declarator.map(|declarator| reader.kind(declarator))) {
                (ExprKind::Name(path), None) if path.segments.iter().all(|segment| segment.args.is_none()) => {
                    TemplateArg::Either(Type::plain(TypeKind::Named(path.clone())), value)
                }
                (ExprKind::Name(path), None) if names_value(path) => TemplateArg::Expr(value),
                (ExprKind::Name(path), None) => TemplateArg::Type(Type::plain(TypeKind::Named(path.clone()))),
                (_, Some(Kind::AbstractFunctionDeclarator)) => {
                    TemplateArg::Either(Type::plain(TypeKind::Function), value)
                }
                _ => TemplateArg::Either(Type::plain(TypeKind::Unknown), value),
            }
        }
        Kind::TypeDescriptor => {
            let ty = reader.deeper(id, |reader| type_descriptor(reader, id));
            TemplateArg::Type(ty.unwrap_or(Type::plain(TypeKind::Unknown)))
        }
        Kind::ParameterPackExpansion => {
            let pattern = reader.child(id, Field::Pattern);
            let inner = pattern.and_then(|pattern| reader.deeper(id, |reader| template_argument(reader, pattern)));
            TemplateArg::Pack(Box::new(inner.unwrap_or_else(|| TemplateArg::Expr(reader.unreadable(id)))))
        }
        _ => TemplateArg::Expr(expression(reader, id)),
    }
}

/// `is_same_v<T, U>`, `rank<T>::value`: values by custom.
fn names_value(path: &Path) -> bool {
    path.segments.last().is_some_and(|last| last.name.ends_with("_v") || &*last.name == "value")
}

/// Whether no keyword or mark of a `type_descriptor` or `parameter_declaration` says that it can only be a type.
fn may_be_value(reader: &Reader, id: Id) -> bool {
    if reader.tree.child_of_kind(id, Kind::TypeQualifier).is_some() {
        return false;
    }
    let mut declarator = reader.child(id, Field::Declarator);
    let is_conversion = declarator.is_some_and(|it| is_call(reader, it));
    let type_is_name = reader.child(id, Field::Type).is_some_and(|ty| match reader.kind(ty) {
        Kind::TypeIdentifier | Kind::QualifiedIdentifier | Kind::TemplateType => true,
        // `int(x)`, `float(y)` as an argument
        Kind::PrimitiveType => is_conversion,
        _ => false,
    });
    while let Some(it) = declarator {
        let parts_fit = match reader.kind(it) {
            Kind::AbstractFunctionDeclarator => {
                let parameters = reader.child(it, Field::Parameters);
                parameters.is_some_and(|list| may_be_arguments(reader, list))
            }
            Kind::AbstractArrayDeclarator => reader.child(it, Field::Size).is_some(),
            Kind::PointerDeclarator | Kind::ReferenceDeclarator | Kind::ParenthesizedDeclarator => return type_is_name,
            _ => false,
        };
        if !parts_fit {
            return false;
        }
        declarator = reader.child(it, Field::Declarator);
    }
    type_is_name
}

fn may_be_arguments(reader: &Reader, list: Id) -> bool {
    reader.tree.children(list).filter(|child| reader.kind(*child) != Kind::Token).all(|child| {
        match reader.kind(child) {
            Kind::ParameterDeclaration => {
                let direct = reader.child(child, Field::Declarator).is_none_or(|it| !is_call(reader, it));
                let named = reader.child(child, Field::Type).is_some_and(|ty| reader.kind(ty) != Kind::PrimitiveType);
                !direct || named
            }
            kind => kind == Kind::VariadicParameterDeclaration,
        }
    })
}

/// For a `type_descriptor` or `parameter_declaration` that may as well be a value: that value.
///
/// `T`, `a::b<c>`, `a * b`, `a & b`, `f(x)`, `a[i]`: wherever no keyword says that it is a type.
pub fn type_as_expression(reader: &mut Reader, id: Id) -> Option<Expr> {
    if !may_be_value(reader, id) {
        return None;
    }
    let ty = reader.child(id, Field::Type)?;
    let span = reader.span(ty);
    let path = match reader.kind(ty) {
        Kind::PrimitiveType => plain_path(reader.name_of(ty)),
        _ => reader.deeper(ty, |reader| path(reader, ty))?,
    };
    let base = Expr { kind: ExprKind::Name(path), span };
    match reader.child(id, Field::Declarator) {
        None => Some(base),
        Some(declarator) => reader.deeper(declarator, |reader| declarator_as_expression(reader, base, declarator))?,
    }
}

fn is_call(reader: &Reader, declarator: Id) -> bool {
    matches!(reader.kind(declarator), Kind::AbstractFunctionDeclarator | Kind::ParenthesizedDeclarator)
}

fn declarator_as_expression(reader: &mut Reader, base: Expr, id: Id) -> Option<Expr> {
    let span = reader.span_between(base.span.start, reader.node(id).end);
    let binary = |base, op, right| ExprKind::Binary(op, Box::new(base), Box::new(right));
    let kind = match reader.kind(id) {
        Kind::PointerDeclarator => {
            let right = reader.child(id, Field::Declarator)?;
            binary(base, BinaryOp::Mul, name_as_expression(reader, right)?)
        }
        Kind::ReferenceDeclarator => {
            let right = reader.tree.first(id)?;
            let op = if reader.from(id).starts_with("&&") { BinaryOp::And } else { BinaryOp::BitAnd };
            binary(base, op, name_as_expression(reader, right)?)
        }
        Kind::AbstractFunctionDeclarator => {
            let parameters = reader.child(id, Field::Parameters)?;
            let args = parameters_as_arguments(reader, parameters)?;
            let callee = match reader.child(id, Field::Declarator) {
                None => base,
                Some(inner) => declarator_as_expression(reader, base, inner)?,
            };
            ExprKind::Call { callee: Box::new(callee), args }
        }
        // `f(x)`
        Kind::ParenthesizedDeclarator => {
            let inner = reader.tree.first(id)?;
            ExprKind::Call { callee: Box::new(base), args: vec![name_as_expression(reader, inner)?] }
        }
        Kind::AbstractArrayDeclarator => {
            let size = reader.child(id, Field::Size)?;
            let array = match reader.child(id, Field::Declarator) {
                None => base,
                Some(inner) => reader.deeper(id, |reader| declarator_as_expression(reader, base, inner))??,
            };
            ExprKind::Index(Box::new(array), Box::new(expression(reader, size)))
        }
        _ => return None,
    };
    Some(Expr { kind, span })
}

/// The right side of `a * b` where that was read as a declarator.
fn name_as_expression(reader: &mut Reader, id: Id) -> Option<Expr> {
    let span = reader.span(id);
    let kind = match reader.kind(id) {
        Kind::Identifier | Kind::QualifiedIdentifier | Kind::TemplateFunction => ExprKind::Name(path(reader, id)),
        Kind::ArrayDeclarator => {
            let array = reader.child(id, Field::Declarator)?;
            let array = reader.deeper(id, |reader| name_as_expression(reader, array))??;
            let size = reader.child(id, Field::Size)?;
            ExprKind::Index(Box::new(array), Box::new(expression(reader, size)))
        }
        Kind::FunctionDeclarator => {
            let callee = reader.child(id, Field::Declarator)?;
            let callee = reader.deeper(id, |reader| name_as_expression(reader, callee))??;
            let parameters = reader.child(id, Field::Parameters)?;
            ExprKind::Call { callee: Box::new(callee), args: parameters_as_arguments(reader, parameters)? }
        }
        Kind::PointerDeclarator => {
            let inner = reader.child(id, Field::Declarator)?;
            let inner = reader.deeper(id, |reader| name_as_expression(reader, inner))??;
            ExprKind::Unary(crate::program::UnaryOp::Deref, Box::new(inner))
        }
        _ => return None,
    };
    Some(Expr { kind, span })
}

/// `(a, b * c)` read as parameters, as the arguments it may be. `None` if some part can only be a parameter.
pub fn parameters_as_arguments(reader: &mut Reader, list: Id) -> Option<Vec<Expr>> {
    let parameters: Vec<Id> = reader.tree.children(list).filter(|child| reader.kind(*child) != Kind::Token).collect();
    let mut args = Vec::with_capacity(parameters.len());
    for parameter in parameters {
        args.push(match reader.kind(parameter) {
            Kind::ParameterDeclaration => type_as_expression(reader, parameter)?,
            Kind::VariadicParameterDeclaration => {
                let span = reader.span(parameter);
                let inner = reader.child(parameter, Field::Type)?;
                let path = reader.deeper(inner, |reader| path(reader, inner))?;
                let inner = Expr { kind: ExprKind::Name(path), span: reader.span(inner) };
                Expr { kind: ExprKind::Expansion(Box::new(inner)), span }
            }
            _ => return None,
        });
    }
    Some(args)
}
