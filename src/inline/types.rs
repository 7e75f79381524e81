//! What is known of an expression's type without a compiler: enough to choose overloads, find methods and name groups.
//!
//! `Unknown` is always a right answer. It does not record const-ness of values, sizes of classes, or value categories.

use super::scope::ScopeId;
use crate::graph::{ItemId, Value};
use crate::program::{Class, Function, Name};
use crate::words::LibraryRow;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Ty {
    #[default]
    Unknown,
    Void,
    Bool,
    Int {
        bits: u8,
        signed: bool,
    },
    Float {
        bits: u8,
    },
    Pointer(Arc<Pointee>),
    Reference(Arc<Pointee>),
    Array(Arc<Ty>, Option<i64>),
    Class(Arc<ClassTy>),
    /// `uint3`, `float4`, `dim3`: components x, y, z, w of one scalar type.
    Vector {
        name: Name,
        of: Arc<Ty>,
        lanes: u8,
    },
    Enum(Name),
    /// The lambda's number in the builder.
    Closure(u32),
    /// Functions by name, or a pointer to one of them: a set's number in the builder.
    Functions(u32),
    /// A pointer to functions not in view.
    FunctionPointer,
    Group(GroupTy),
    Library(Arc<LibraryTy>),
    /// A class not in view, with its template arguments.
    Named(Arc<NamedTy>),
    /// A template type parameter that nobody gave.
    Param(Name),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pointee {
    pub ty: Ty,
    pub is_const: bool,
    pub is_volatile: bool,
    /// `__restrict__` on the pointer itself.
    pub restrict: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NamedTy {
    pub name: Name,
    pub args: Vec<Bound>,
}

#[derive(Clone, Debug)]
pub struct LibraryTy {
    pub name: Name,
    pub row: Arc<LibraryRow>,
    pub args: Vec<Bound>,
}

impl PartialEq for LibraryTy {
    fn eq(&self, other: &LibraryTy) -> bool {
        self.name == other.name && self.args == other.args
    }
}
impl Eq for LibraryTy {}
impl Hash for LibraryTy {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
        self.args.hash(state);
    }
}

/// A cooperative group, as far as its type says.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum GroupTy {
    Block,
    Grid,
    Cluster,
    /// `None`: a tile whose size is not known.
    Tile(Option<u32>),
    /// Made by an instruction, if that is in view: `coalesced_threads()`, `labeled_partition(..)`.
    Formed(Option<Value>),
    /// A parameter type called like a group.
    Unknown,
}

/// What a template parameter stands for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Bound {
    Type(Ty),
    Value(i64),
    /// A value known only when the kernel runs, or not at all: the instruction that yields it.
    Runtime(Value),
    Functions(u32),
    Template(Name),
    Pack(Vec<Bound>),
}

/// A class with its template arguments.
#[derive(Clone, Debug)]
pub struct ClassTy {
    pub item: ItemId,
    pub class: Arc<Class>,
    /// For the parameters of `class`, which may be a specialisation.
    pub args: Vec<Bound>,
    /// Where a local class stands.
    pub scope: Option<ScopeId>,
    /// For the parameters of the primary template.
    pub written: Vec<Bound>,
    hash: u64,
}

impl ClassTy {
    pub fn new(
        item: ItemId,
        class: Arc<Class>,
        args: Vec<Bound>,
        scope: Option<ScopeId>,
        written: Vec<Bound>,
    ) -> ClassTy {
        let mut hasher = rustc_hash::FxHasher::default();
        (Arc::as_ptr(&class) as usize, &args).hash(&mut hasher);
        ClassTy { item, class, args, scope, written, hash: hasher.finish() }
    }
}

impl PartialEq for ClassTy {
    fn eq(&self, other: &ClassTy) -> bool {
        self.hash == other.hash && Arc::ptr_eq(&self.class, &other.class) && self.args == other.args
    }
}
impl Eq for ClassTy {}
impl Hash for ClassTy {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.hash.hash(state);
    }
}

/// What a class derives from.
#[derive(Clone, Debug, Default)]
pub struct Bases {
    pub in_view: Vec<Arc<ClassTy>>,
    /// Classes of the standard library.
    pub standard: Vec<Ty>,
    /// Lambdas, by their numbers in the builder.
    pub closures: Vec<u32>,
}

/// A function that a name may mean.
#[derive(Clone, Debug)]
pub struct Callable {
    pub item: ItemId,
    pub function: Arc<Function>,
    /// The class it is a member of.
    pub class: Option<Arc<ClassTy>>,
    /// Where a local class's or lambda's function stands.
    pub scope: Option<ScopeId>,
    pub is_static: bool,
}

impl PartialEq for Callable {
    fn eq(&self, other: &Callable) -> bool {
        Arc::ptr_eq(&self.function, &other.function) && self.class == other.class && self.scope == other.scope
    }
}

pub const INT: Ty = Ty::Int { bits: 32, signed: true };
pub const UNSIGNED: Ty = Ty::Int { bits: 32, signed: false };

impl Ty {
    pub fn pointer_to(ty: Ty) -> Ty {
        Ty::Pointer(Arc::new(Pointee { ty, is_const: false, is_volatile: false, restrict: false }))
    }

    pub fn vector(name: &str, of: Ty, lanes: u8) -> Ty {
        Ty::Vector { name: Name::from(name), of: Arc::new(of), lanes }
    }

    /// What stands behind a reference.
    pub fn value(&self) -> &Ty {
        match self {
            Ty::Reference(pointee) => pointee.ty.value(),
            other => other,
        }
    }

    pub fn is_scalar(&self) -> bool {
        matches!(
            self,
            Ty::Bool
                | Ty::Int { .. }
                | Ty::Float { .. }
                | Ty::Pointer(_)
                | Ty::Enum(_)
                | Ty::FunctionPointer
                | Ty::Functions(_)
        )
    }

    pub fn is_integer(&self) -> bool {
        matches!(self, Ty::Bool | Ty::Int { .. } | Ty::Enum(_))
    }

    /// Members one by one: a copy is no single load and store.
    pub fn is_aggregate(&self) -> bool {
        matches!(self, Ty::Class(_) | Ty::Vector { .. } | Ty::Array(..) | Ty::Named(_))
    }

    /// Nothing of it lives in memory; the type is all there is.
    pub fn is_static(&self) -> bool {
        matches!(self, Ty::Closure(_) | Ty::Group(_) | Ty::Library(_))
    }

    pub fn is_known(&self) -> bool {
        !matches!(self, Ty::Unknown | Ty::Param(_))
    }

    /// The array's element, the pointer's target.
    pub fn element(&self) -> Ty {
        match self {
            Ty::Pointer(pointee) => pointee.ty.clone(),
            Ty::Array(of, _) => (**of).clone(),
            other => super::library::elements_of(other).map_or(Ty::Unknown, |(of, _)| of),
        }
    }

    pub fn is_volatile_target(&self) -> bool {
        matches!(self, Ty::Pointer(pointee) if pointee.is_volatile)
    }
}

/// A scalar type by its C++ spelling, in any order of its words.
pub fn scalar(name: &str) -> Option<Ty> {
    if let Some(ty) = fixed(name) {
        return Some(ty);
    }
    let (mut bits, mut signed, mut long) = (32u8, true, 0u8);
    let mut any = false;
    for word in name.split_ascii_whitespace() {
        any = true;
        match word {
            "unsigned" => signed = false,
            "signed" | "int" => {}
            "short" => bits = 16,
            "char" => bits = 8,
            "long" => long += 1,
            "double" => return Some(Ty::Float { bits: 64 }),
            _ => return None,
        }
    }
    if long > 0 {
        bits = 64;
    }
    any.then_some(Ty::Int { bits, signed })
}

fn fixed(name: &str) -> Option<Ty> {
    let int = |bits, signed| Some(Ty::Int { bits, signed });
    match name {
        "void" => Some(Ty::Void),
        "bool" => Some(Ty::Bool),
        "float" => Some(Ty::Float { bits: 32 }),
        "double" => Some(Ty::Float { bits: 64 }),
        "half" | "__half" | "nv_bfloat16" | "__nv_bfloat16" | "bfloat16" | "__hip_bfloat16" => {
            Some(Ty::Float { bits: 16 })
        }
        "size_t" | "uint64_t" | "uintptr_t" | "ulonglong" | "ulong" | "uint64" | "u64" => int(64, false),
        "ptrdiff_t" | "int64_t" | "intptr_t" | "ssize_t" | "longlong" | "int64" | "i64" => int(64, true),
        "uint32_t" | "uint" | "uint32" | "u32" => int(32, false),
        "int32_t" | "int32" | "i32" | "wchar_t" => int(32, true),
        "uint16_t" | "ushort" | "uint16" | "u16" | "char16_t" => int(16, false),
        "int16_t" | "int16" | "i16" => int(16, true),
        "uint8_t" | "uchar" | "uint8" | "u8" | "byte" => int(8, false),
        "int8_t" | "int8" | "i8" => int(8, true),
        "clock_t" => int(64, true),
        _ => None,
    }
}

/// CUDA's vector types: the element and how many.
pub fn vector(name: &str) -> Option<Ty> {
    if name == "dim3" {
        return Some(Ty::vector("dim3", UNSIGNED, 3));
    }
    let lanes = name.as_bytes().last().copied().filter(|digit| (b'1'..=b'4').contains(digit))? - b'0';
    let of = match &name[..name.len() - 1] {
        "int" | "long" => INT,
        "uint" | "ulong" => UNSIGNED,
        "char" => Ty::Int { bits: 8, signed: true },
        "uchar" => Ty::Int { bits: 8, signed: false },
        "short" => Ty::Int { bits: 16, signed: true },
        "ushort" => Ty::Int { bits: 16, signed: false },
        "longlong" => Ty::Int { bits: 64, signed: true },
        "ulonglong" => Ty::Int { bits: 64, signed: false },
        "float" => Ty::Float { bits: 32 },
        "double" => Ty::Float { bits: 64 },
        "half" | "__half" | "__nv_bfloat16" | "__nv_bfloat" if lanes == 2 => Ty::Float { bits: 16 },
        _ => return None,
    };
    Some(Ty::vector(name, of, lanes))
}

pub const COMPONENTS: [&str; 4] = ["x", "y", "z", "w"];
