//! What templates ask of their arguments: requires-expressions, and concepts before `auto`.

use crate::lower::declarations::parameters;
use crate::lower::expressions::expression;
use crate::lower::names::path;
use crate::lower::reader::Reader;
use crate::lower::tree::{Field, Id, Kind};
use crate::lower::types::{type_descriptor, unwrap_declarator};
use crate::program::{Expr, ExprKind, Path, Requirement, Requires, TemplateArg, Type, TypeKind};

/// `requires (T t) { .. }`
pub fn requires(reader: &mut Reader, id: Id) -> ExprKind {
    let params = match reader.child(id, Field::Parameters) {
        Some(list) => parameters(reader, list),
        None => Vec::new(),
    };
    let mut asks = Vec::new();
    if let Some(list) = reader.tree.child_of_kind(id, Kind::RequirementSeq) {
        for child in reader.tree.children(list) {
            match reader.kind(child) {
                Kind::Token => continue,
                // The `;` behind a type.
                Kind::SimpleRequirement if reader.tree.first(child).is_none() => continue,
                _ => match reader.deeper(child, |reader| requirement(reader, child)).flatten() {
                    Some(ask) => asks.push(ask),
                    // What is not understood may hold or not.
                    None => return ExprKind::Unevaluated(Box::new(None)),
                },
            }
        }
    }
    ExprKind::Requires(Box::new(Requires { params, asks }))
}

fn requirement(reader: &mut Reader, id: Id) -> Option<Requirement> {
    let inner = reader.tree.first(id)?;
    match reader.kind(id) {
        Kind::SimpleRequirement => match constraint_of(reader, inner) {
            Some(constraint) => Some(Requirement::Holds(expression(reader, constraint))),
            None => Some(Requirement::Possible(expression(reader, inner), None)),
        },
        Kind::TypeRequirement => Some(Requirement::Names(path(reader, inner))),
        Kind::CompoundRequirement => {
            let value = expression(reader, inner);
            let concept = match reader.tree.child_of_kind(id, Kind::TrailingReturnType) {
                Some(trailing) => {
                    let ty = reader.tree.first(trailing)?;
                    let TypeKind::Named(concept) = type_descriptor(reader, ty).kind else { return None };
                    Some(concept)
                }
                None => None,
            };
            Some(Requirement::Possible(value, concept))
        }
        _ => None,
    }
}

/// `requires` inside of a requires-expression: what stands behind it.
fn constraint_of(reader: &Reader, id: Id) -> Option<Id> {
    if reader.kind(id) != Kind::RequiresClause {
        return None;
    }
    reader.tree.children(id).find(|child| !matches!(reader.text(*child), "requires" | "(" | ")"))
}

/// `std::integral auto x` asks `std::integral<decltype(x)>`.
pub fn of_parameters(reader: &mut Reader, list: Id) -> Vec<Expr> {
    let mut all = Vec::new();
    for param in reader.tree.children(list) {
        let Some(auto) = reader.tree.child_of_kind(param, Kind::PlaceholderTypeSpecifier) else { continue };
        let Some(constraint) = reader.child(auto, Field::Constraint) else { continue };
        let declarator = reader.child(param, Field::Declarator);
        let it = unwrap_declarator(reader, Type::plain(TypeKind::Auto), declarator);
        let Some(name) = it.name else { continue };
        let concept = reader.deeper(constraint, |reader| path(reader, constraint));
        let Some(concept) = concept else { continue };
        let span = reader.span(constraint);
        let value = Expr { kind: ExprKind::Name(crate::lower::reader::plain_path(reader.name_of(name))), span };
        let asked = Type::plain(TypeKind::Decltype(Box::new(value)));
        all.push(Expr { kind: ExprKind::Name(asked_of(concept, asked)), span });
    }
    all
}

/// A concept with its first argument.
fn asked_of(mut concept: Path, ty: Type) -> Path {
    if let Some(last) = concept.segments.last_mut() {
        let more = last.args.take().unwrap_or_default();
        last.args = Some(std::iter::once(TemplateArg::Type(ty)).chain(more).collect());
    }
    concept
}
