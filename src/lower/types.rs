//! Types: specifiers, and the declarators that wrap them from the outside in.

use crate::lower::expressions::expression;
use crate::lower::names::path;
use crate::lower::reader::{Reader, plain_path};
use crate::lower::tree::{Field, Id, Kind};
use crate::program::{Name, Path, Storage, Type, TypeKind};

/// What stands before the declarators of a declaration.
pub struct Specifiers {
    pub ty: Type,
    pub storage: Storage,
    /// The node of the type itself, which may define a class or an enum.
    pub written: Option<Id>,
}

pub fn specifiers(reader: &mut Reader, id: Id) -> Specifiers {
    let mut ty = Type::plain(TypeKind::Unknown);
    let mut storage = Storage::default();
    let mut written = None;
    for child in reader.tree.children(id) {
        match reader.kind(child) {
            Kind::StorageClassSpecifier => storage_class(&mut storage, reader.text(child)),
            // `__declspec(__shared__)`
            Kind::MsDeclspecModifier => {
                if let Some(word) = reader.tree.child_of_kind(child, Kind::Identifier) {
                    storage_class(&mut storage, reader.text(word));
                }
            }
            Kind::TypeQualifier => qualify(&mut ty, &mut storage, reader.text(child)),
            _ if reader.node(child).field == Field::Type => {
                ty.kind = type_specifier(reader, child);
                written = Some(child);
            }
            _ if reader.node(child).field == Field::Declarator => break,
            _ => {}
        }
    }
    Specifiers { ty, storage, written }
}

fn storage_class(storage: &mut Storage, word: &str) {
    match word {
        "__shared__" => storage.shared = true,
        "__constant__" => storage.constant = true,
        "__device__" | "__managed__" => storage.device = true,
        "static" => storage.is_static = true,
        "extern" => storage.is_extern = true,
        _ => {}
    }
}

fn qualify(ty: &mut Type, storage: &mut Storage, word: &str) {
    match word {
        "const" => ty.is_const = true,
        "volatile" => ty.is_volatile = true,
        "constexpr" => {
            ty.is_const = true;
            storage.is_constexpr = true;
        }
        "__restrict__" | "__restrict" | "restrict" => ty.restrict = true,
        _ => {}
    }
}

pub fn type_specifier(reader: &mut Reader, id: Id) -> TypeKind {
    match reader.kind(id) {
        Kind::PrimitiveType => TypeKind::Named(plain_path(reader.name_of(id))),
        Kind::TypeIdentifier if reader.text(id) == "auto" => TypeKind::Auto,
        // What stands for `decltype(x)` in `decltype(x){}`
        Kind::TypeIdentifier if reader.text(id) == "decltype_" => TypeKind::Unknown,
        Kind::TypeIdentifier | Kind::TemplateType | Kind::QualifiedIdentifier | Kind::DependentType => {
            reader.deeper(id, |reader| path(reader, id)).map_or(TypeKind::Unknown, TypeKind::Named)
        }
        Kind::SizedTypeSpecifier => TypeKind::Named(plain_path(sized_name(reader, id))),
        Kind::PlaceholderTypeSpecifier => TypeKind::Auto,
        Kind::Decltype => match reader.tree.first(id) {
            Some(inner) => TypeKind::Decltype(Box::new(expression(reader, inner))),
            None => TypeKind::Auto,
        },
        Kind::StructSpecifier | Kind::ClassSpecifier | Kind::UnionSpecifier | Kind::EnumSpecifier => {
            TypeKind::Named(class_path(reader, id))
        }
        _ => TypeKind::Unknown,
    }
}

/// The name of a class or enum; one without gets a name that nothing else can have.
pub fn class_path(reader: &mut Reader, id: Id) -> Path {
    match reader.child(id, Field::Name) {
        Some(name) => reader.deeper(id, |reader| path(reader, name)).unwrap_or_default(),
        None => plain_path(Name::from(format!("(unnamed at {})", reader.span(id).start))),
    }
}

/// `long unsigned int` and its kin under one name each: `unsigned long`, `long long`, `unsigned int`, `signed char`.
fn sized_name(reader: &mut Reader, id: Id) -> Name {
    let text = reader.text(id);
    let count = |wanted| text.split_ascii_whitespace().filter(|word| *word == wanted).count();
    let unsigned = count("unsigned") > 0;
    let base = match (count("long"), count("short"), count("char"), count("double")) {
        (_, _, _, 1..) => "long double",
        (0, 0, 1.., _) if unsigned => "unsigned char",
        (0, 0, 1.., _) if count("signed") > 0 => "signed char",
        (0, 0, 1.., _) => "char",
        (0, 1.., _, _) if unsigned => "unsigned short",
        (0, 1.., _, _) => "short",
        (1, ..) if unsigned => "unsigned long",
        (1, ..) => "long",
        (2.., ..) if unsigned => "unsigned long long",
        (2.., ..) => "long long",
        _ if unsigned => "unsigned int",
        _ => "int",
    };
    reader.name(base)
}

/// `const T *`: a type that declares no name.
pub fn type_descriptor(reader: &mut Reader, id: Id) -> Type {
    let base = specifiers(reader, id).ty;
    let declarator = reader.child(id, Field::Declarator);
    unwrap_declarator(reader, base, declarator).ty
}

/// What a declarator declares.
pub struct Declarator {
    pub ty: Type,
    /// The node that names it.
    pub name: Option<Id>,
    /// `auto [a, b]`
    pub bindings: Vec<Id>,
    pub pack: bool,
    /// `name(..)`: its `function_declarator`; `ty` is then the result.
    pub function: Option<Id>,
}

/// Unwraps `id` round `base`, from the outside in.
pub fn unwrap_declarator(reader: &mut Reader, base: Type, id: Option<Id>) -> Declarator {
    let mut it = Declarator { ty: base, name: None, bindings: Vec::new(), pack: false, function: None };
    let mut next = id;
    let mut layers = 0;
    while let Some(id) = next {
        layers += 1;
        if layers + reader.depth > crate::lower::reader::MAX_DEPTH {
            reader.note_too_deep(id);
            it.ty = Type::plain(TypeKind::Unknown);
            break;
        }
        next = match reader.kind(id) {
            Kind::PointerDeclarator | Kind::AbstractPointerDeclarator | Kind::PointerTypeDeclarator => {
                it.ty = pointer(reader, it.ty, id);
                reader.child(id, Field::Declarator)
            }
            Kind::ReferenceDeclarator | Kind::AbstractReferenceDeclarator => {
                it.ty = match it.ty.kind {
                    TypeKind::Function => it.ty,
                    _ => Type {
                        is_rvalue: reader.text(id).trim_start().starts_with("&&"),
                        ..Type::plain(TypeKind::Reference(Box::new(it.ty)))
                    },
                };
                declared_within(reader, id)
            }
            Kind::ArrayDeclarator | Kind::AbstractArrayDeclarator => {
                let size = reader.child(id, Field::Size).filter(|size| reader.kind(*size) != Kind::Token);
                let size = size.map(|size| Box::new(expression(reader, size)));
                it.ty = Type::plain(TypeKind::Array(Box::new(it.ty), size));
                reader.child(id, Field::Declarator)
            }
            Kind::FunctionDeclarator => {
                let inner = reader.child(id, Field::Declarator);
                match inner.map(|inner| reader.kind(inner)) {
                    Some(Kind::ParenthesizedDeclarator) => it.ty = Type::plain(TypeKind::Function),
                    _ => it.function = Some(id),
                }
                inner
            }
            Kind::AbstractFunctionDeclarator => {
                it.ty = Type::plain(TypeKind::Function);
                reader.child(id, Field::Declarator)
            }
            Kind::ParenthesizedDeclarator | Kind::AbstractParenthesizedDeclarator | Kind::AttributedDeclarator => {
                declared_within(reader, id)
            }
            Kind::InitDeclarator => reader.child(id, Field::Declarator),
            Kind::VariadicDeclarator => {
                it.pack = true;
                declared_within(reader, id)
            }
            Kind::StructuredBindingDeclarator => {
                it.bindings =
                    reader.tree.children(id).filter(|child| reader.kind(*child) == Kind::Identifier).collect();
                None
            }
            Kind::GnuAsmExpression | Kind::Error | Kind::Token => None,
            _ => {
                it.name = Some(id);
                None
            }
        };
    }
    it
}

fn declared_within(reader: &Reader, id: Id) -> Option<Id> {
    let skipped = [Kind::Token, Kind::Error, Kind::AttributeDeclaration, Kind::TypeQualifier, Kind::Other];
    reader.tree.children(id).find(|child| !skipped.contains(&reader.kind(*child)))
}

fn pointer(reader: &mut Reader, to: Type, id: Id) -> Type {
    if matches!(to.kind, TypeKind::Function) {
        return to;
    }
    let mut ty = Type::plain(TypeKind::Pointer(Box::new(to)));
    for child in reader.tree.children(id) {
        if reader.kind(child) == Kind::TypeQualifier {
            qualify(&mut ty, &mut Storage::default(), reader.text(child));
        }
    }
    ty
}
