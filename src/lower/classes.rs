//! Classes: members, aliases, enumerators, and the functions written inside.

use crate::lower::declarations::{Scope, alias, declared, enumerators, template_parameters, typedefs};
use crate::lower::functions::function;
use crate::lower::names::{last_name, path};
use crate::lower::reader::Reader;
use crate::lower::statements::asserted;
use crate::lower::tree::{Field, Id, Kind};
use crate::lower::types::class_path;
use crate::program::{Class, Name, TemplateParam};
use std::sync::Arc;

/// A `struct_specifier` and its kin.
///
/// The members of anonymous structs and unions count as the class's own; classes inside a class are not recorded.
pub fn class(reader: &mut Reader, id: Id, template: Vec<TemplateParam>) -> Class {
    let path_of_name = class_path(reader, id);
    let specialises = path_of_name.segments.last().and_then(|segment| segment.args.clone());
    let mut class = Class { name: Some(last_name(&path_of_name)), template, specialises, ..Class::default() };
    if let Some(clause) = reader.tree.child_of_kind(id, Kind::BaseClassClause) {
        for base in reader.tree.children(clause) {
            if let Kind::TypeIdentifier | Kind::QualifiedIdentifier | Kind::TemplateType = reader.kind(base) {
                let base = reader.deeper(base, |reader| path(reader, base));
                class.bases.extend(base);
            }
        }
    }
    if let Some(body) = reader.child(id, Field::Body) {
        match reader.kind(id) {
            Kind::UnionSpecifier => union_members(reader, body, &mut class),
            _ => members(reader, body, &mut class),
        }
    }
    class
}

fn members(reader: &mut Reader, body: Id, class: &mut Class) {
    for child in reader.tree.children(body) {
        member(reader, child, class);
    }
}

fn union_members(reader: &mut Reader, body: Id, class: &mut Class) {
    let mut parts: Vec<Vec<Name>> = Vec::new();
    for child in reader.tree.children(body) {
        let before = class.members.len();
        member(reader, child, class);
        let added = class.members[before..].iter().filter(|member| !member.storage.is_static);
        let names: Vec<Name> = added.map(|member| member.name.clone()).collect();
        // `float x, y;` declares two of them, `struct { float x, y; };` one with two members.
        match reader.kind(child) {
            Kind::StructSpecifier | Kind::ClassSpecifier => parts.push(names),
            _ if is_unnamed_class(reader, child) => parts.push(names),
            _ => parts.extend(names.into_iter().map(|name| vec![name])),
        }
    }
    parts.retain(|part| !part.is_empty());
    if parts.len() > 1 {
        class.unions.push(parts);
    }
}

/// `struct { .. };` as the grammar has it inside a class: a declaration of nothing.
fn is_unnamed_class(reader: &Reader, id: Id) -> bool {
    reader.tree.child_of_kind(id, Kind::StructSpecifier).is_some() && reader.child(id, Field::Declarator).is_none()
}

fn member(reader: &mut Reader, id: Id, class: &mut Class) {
    match reader.kind(id) {
        Kind::FieldDeclaration | Kind::Declaration => {
            let (specifiers, all) = declared(reader, id, Scope::Class);
            if let Some(written) = specifiers.written {
                defined_type(reader, written, all.is_empty(), class);
                if !all.is_empty() {
                    class.unnamed.extend(unnamed_class(reader, written).map(Arc::new));
                }
            }
            class.members.extend(all);
        }
        Kind::EnumSpecifier | Kind::StructSpecifier | Kind::ClassSpecifier | Kind::UnionSpecifier => {
            defined_type(reader, id, true, class);
        }
        // A class without a name goes by that of its alias, and is an item of its own.
        Kind::AliasDeclaration if nameless_class(reader, id).is_some() => {}
        Kind::AliasDeclaration => class.aliases.extend(alias(reader, id)),
        Kind::StaticAssertDeclaration => class.asserted.extend(asserted(reader, id)),
        Kind::UsingDeclaration => {
            let named = reader.tree.first(id);
            class.usings.extend(named.and_then(|named| reader.deeper(named, |reader| path(reader, named))));
        }
        Kind::TypeDefinition => {
            let (specifiers, all) = typedefs(reader, id);
            let mut is_nameless = false;
            if let Some(written) = specifiers.written {
                defined_type(reader, written, false, class);
                is_nameless = is_nameless_class(reader, written);
            }
            class.aliases.extend(all.into_iter().skip(usize::from(is_nameless)));
        }
        Kind::FunctionDefinition => {
            class.methods.extend(reader.deeper(id, |reader| function(reader, id, Vec::new())).flatten().map(Arc::new));
        }
        Kind::TemplateDeclaration => template_member(reader, id, class),
        Kind::Error => {
            reader.deeper(id, |reader| members(reader, id, class));
        }
        _ => {}
    }
}

/// `using Name = struct { .. };`
pub fn nameless_class(reader: &Reader, alias: Id) -> Option<Id> {
    let ty = reader.child(alias, Field::Type).and_then(|ty| reader.child(ty, Field::Type));
    ty.filter(|ty| is_nameless_class(reader, *ty))
}

pub fn is_nameless_class(reader: &Reader, id: Id) -> bool {
    let is_class = matches!(reader.kind(id), Kind::StructSpecifier | Kind::UnionSpecifier | Kind::ClassSpecifier);
    is_class && reader.child(id, Field::Name).is_none() && reader.child(id, Field::Body).is_some()
}

/// The class without a name that a type specifier defines.
fn unnamed_class(reader: &mut Reader, id: Id) -> Option<Class> {
    if !is_nameless_class(reader, id) {
        return None;
    }
    reader.deeper(id, |reader| class(reader, id, Vec::new()))
}

fn defined_type(reader: &mut Reader, id: Id, alone: bool, class: &mut Class) {
    match reader.kind(id) {
        Kind::EnumSpecifier => class.enumerators.extend(enumerators(reader, id).unwrap_or_default()),
        Kind::StructSpecifier | Kind::UnionSpecifier | Kind::ClassSpecifier => {
            if alone
                && reader.child(id, Field::Name).is_none()
                && let Some(body) = reader.child(id, Field::Body)
            {
                let is_union = reader.kind(id) == Kind::UnionSpecifier;
                reader.deeper(id, |reader| match is_union {
                    true => union_members(reader, body, class),
                    false => members(reader, body, class),
                });
            }
        }
        _ => {}
    }
}

fn template_member(reader: &mut Reader, id: Id, class: &mut Class) {
    let mut template = Vec::new();
    for child in reader.tree.children(id) {
        match reader.kind(child) {
            Kind::TemplateParameterList => template = template_parameters(reader, child),
            Kind::FunctionDefinition => {
                let method = reader.deeper(id, |reader| function(reader, child, std::mem::take(&mut template)));
                class.methods.extend(method.flatten().map(Arc::new));
            }
            Kind::AliasDeclaration => class.aliases.extend(alias(reader, child)),
            Kind::Declaration | Kind::FieldDeclaration => {
                let mut all = declared(reader, child, Scope::Class).1;
                all.iter_mut().for_each(|declaration| declaration.template = template.clone());
                class.members.extend(all);
            }
            _ => {}
        }
    }
}
