//! C++ as the analysis wants it: functions, classes and values as plain trees, no syntax nodes.
//!
//! `lower` makes these from the parser's tree, one item at a time; `inline` turns a kernel and all that it calls
//! into one graph. Spans count in the expanded text of the item they belong to.
//!
//! What it does not record: comments, access control, exception specifications, attributes without a meaning here.

use crate::text::Span;
use std::sync::Arc;

pub type Name = Arc<str>;

/// A function, method, lambda body or specialisation, with its body.
#[derive(Clone, Debug)]
pub struct Function {
    pub name: Name,
    pub template: Vec<TemplateParam>,
    pub params: Vec<Param>,
    pub result: Type,
    /// For `f<int>(..) { }`: the arguments of the specialisation.
    pub specialises: Option<Vec<TemplateArg>>,
    /// For `Plan<int>::f(..) { }`: the arguments of the class that the member is specialised for.
    pub of_class: Option<Vec<TemplateArg>>,
    /// What `requires` clauses ask for.
    pub requires: Vec<Expr>,
    /// `Class(..) : base(x), member(y) { }`: name or base class, and the arguments.
    pub initialisers: Vec<(Path, Vec<Expr>)>,
    /// A method that leaves its object as it is: `size() const`. So does a lambda that is not `mutable`.
    pub leaves_object: bool,
    pub object: RefQualifier,
    pub body: Stmt,
    /// A part of the body that could not be understood, so that control flow may be missing.
    pub unreadable: Option<Span>,
}

/// The objects that a method is for, by what stands behind its parameters: `take() &&`.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum RefQualifier {
    #[default]
    None,
    Lvalue,
    Rvalue,
}

#[derive(Clone, Debug)]
pub enum TemplateParam {
    Type { name: Option<Name>, default: Option<Type>, pack: bool },
    Value { name: Option<Name>, ty: Type, default: Option<Expr>, pack: bool },
    Template { name: Option<Name> },
}

/// A requires-expression.
#[derive(Clone, Debug)]
pub struct Requires {
    pub params: Vec<Param>,
    pub asks: Vec<Requirement>,
}

#[derive(Clone, Debug)]
pub enum Requirement {
    /// `t.go();`, `{ t.size() } -> std::integral;`: an expression that is possible, and the concept of its type.
    Possible(Expr, Option<Path>),
    /// `typename T::value_type;`
    Names(Path),
    /// `requires sizeof(T) > 4;`
    Holds(Expr),
}

#[derive(Clone, Debug)]
pub struct Param {
    pub name: Option<Name>,
    pub ty: Type,
    pub default: Option<Expr>,
    pub pack: bool,
    pub span: Span,
}

/// A class, struct or union.
#[derive(Clone, Debug, Default)]
pub struct Class {
    pub name: Option<Name>,
    pub template: Vec<TemplateParam>,
    /// For `struct Plan<double>`: the arguments of the specialisation.
    pub specialises: Option<Vec<TemplateArg>>,
    pub bases: Vec<Path>,
    /// Data members in order, static ones included (`Declaration::storage`).
    pub members: Vec<Declaration>,
    /// Names of members that share memory: by union, by part of it (a member, or those of a struct without a name).
    pub unions: Vec<Vec<Vec<Name>>>,
    pub aliases: Vec<(Name, Type)>,
    /// Classes without a name of which there are members: `struct { int lo, hi; } range;`.
    pub unnamed: Vec<Arc<Class>>,
    /// `using Base::f;`
    pub usings: Vec<Path>,
    pub enumerators: Vec<(Name, Option<Expr>)>,
    /// `static_assert(..)` among the members.
    pub asserted: Vec<Expr>,
    /// Bodies written inside the class. Methods defined elsewhere are items of their own.
    pub methods: Vec<Arc<Function>>,
}

#[derive(Clone, Debug)]
pub struct Stmt {
    pub kind: StmtKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum StmtKind {
    Block(Vec<Stmt>),
    Declare(Vec<Declaration>),
    Expr(Expr),
    /// `else if` chains are flat: the arms in order, then the last `else`.
    If {
        arms: Vec<IfArm>,
        otherwise: Option<Box<Stmt>>,
    },
    While {
        condition: Condition,
        body: Box<Stmt>,
    },
    DoWhile {
        body: Box<Stmt>,
        condition: Expr,
    },
    For {
        init: Option<Box<Stmt>>,
        condition: Option<Condition>,
        step: Option<Expr>,
        body: Box<Stmt>,
    },
    RangeFor {
        init: Option<Box<Stmt>>,
        variable: Declaration,
        range: Expr,
        body: Box<Stmt>,
    },
    Switch {
        init: Option<Box<Stmt>>,
        condition: Condition,
        body: Box<Stmt>,
    },
    /// A label inside a switch; it stands in the statement list before the statements it labels. `None` is `default`.
    Case(Option<Expr>),
    Label(Name),
    Goto(Name),
    Break,
    Continue,
    Return(Option<Expr>),
    Asm(Asm),
    Try {
        body: Box<Stmt>,
        handlers: Vec<Stmt>,
    },
    Alias(Name, Type),
    UsingNamespace(Path),
    /// `using a::b;`
    UsingName(Path),
    NamespaceAlias(Name, Path),
    Enum(Vec<(Name, Option<Expr>)>),
    LocalClass(Arc<Class>),
    StaticAssert(Expr),
    Empty,
    Unreadable,
}

#[derive(Clone, Debug)]
pub struct IfArm {
    pub is_constexpr: bool,
    pub init: Option<Box<Stmt>>,
    pub condition: Condition,
    pub then: Stmt,
    /// From `if` to the closing parenthesis.
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum Condition {
    Expr(Expr),
    /// `if (int n = f())`
    Declare(Box<Declaration>),
}

#[derive(Clone, Debug)]
pub struct Declaration {
    pub name: Name,
    /// For `auto [row, column] = ..`: the names; `name` is then empty.
    pub bindings: Vec<Name>,
    pub ty: Type,
    pub storage: Storage,
    pub init: Init,
    pub span: Span,
    /// Parameters of a variable template.
    pub template: Vec<TemplateParam>,
    /// For `mask<32> = ..`: the arguments of the specialisation.
    pub specialises: Option<Vec<TemplateArg>>,
}

#[derive(Clone, Debug)]
pub enum Init {
    None,
    /// `= e`
    Expr(Expr),
    /// `T x(a, b)`, and `T x{a, b}` where `braces`.
    Arguments {
        args: Vec<Expr>,
        braces: bool,
    },
}

#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Storage {
    pub shared: bool,
    pub constant: bool,
    /// `__device__` or `__managed__` at namespace scope.
    pub device: bool,
    pub is_static: bool,
    pub is_extern: bool,
    pub is_constexpr: bool,
}

#[derive(Clone, Debug)]
pub struct Type {
    pub kind: TypeKind,
    pub is_const: bool,
    pub is_volatile: bool,
    pub restrict: bool,
    /// Of a reference: `&&`.
    pub is_rvalue: bool,
}

#[derive(Clone, Debug)]
pub enum TypeKind {
    /// `unsigned long long` and the like are one name; so is `auto`.
    Named(Path),
    Auto,
    Decltype(Box<Expr>),
    Pointer(Box<Type>),
    /// `&` and `&&`
    Reference(Box<Type>),
    Array(Box<Type>, Option<Box<Expr>>),
    /// A pointer or reference to a function, or a function type.
    Function,
    Unknown,
}

impl Type {
    pub fn plain(kind: TypeKind) -> Type {
        Type { kind, is_const: false, is_volatile: false, restrict: false, is_rvalue: false }
    }
}

/// `a::b<T, 3>::c`
#[derive(Clone, Debug, Default)]
pub struct Path {
    pub segments: Vec<Segment>,
    /// Begins with `::`.
    pub global: bool,
}

#[derive(Clone, Debug)]
pub struct Segment {
    pub name: Name,
    pub args: Option<Vec<TemplateArg>>,
}

#[derive(Clone, Debug)]
pub enum TemplateArg {
    Type(Type),
    Expr(Expr),
    /// `T` alone: only the declarations tell whether it is a type or a value.
    Either(Type, Expr),
    Pack(Box<TemplateArg>),
}

#[derive(Clone, Debug)]
pub struct Expr {
    pub kind: ExprKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum ExprKind {
    /// Integers, characters and booleans; a value beyond 64 bits wraps.
    Int {
        value: i64,
        ty: IntType,
    },
    /// `1.0f` has 32 bits, `1.0` has 64.
    Float {
        value: f64,
        bits: u8,
    },
    Str(String),
    Null,
    This,
    Name(Path),
    Unary(UnaryOp, Box<Expr>),
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `=`, or `+=` and the like with the operator.
    Assign(Option<BinaryOp>, Box<Expr>, Box<Expr>),
    /// `++x` (`by` 1), `x--` (`by` -1)
    Increment {
        by: i64,
        prefix: bool,
        target: Box<Expr>,
    },
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    Comma(Box<Expr>, Box<Expr>),
    Call {
        callee: Box<Expr>,
        args: Vec<Expr>,
    },
    /// `kernel<<<grid, block, shared, stream>>>(args)`
    Launch {
        callee: Box<Expr>,
        config: Vec<Expr>,
        args: Vec<Expr>,
    },
    /// `object.member`, `object->member`, with template arguments if written; `object.Base::member`.
    Member {
        object: Box<Expr>,
        arrow: bool,
        member: Path,
    },
    Index(Box<Expr>, Box<Expr>),
    /// C casts, `static_cast`, `reinterpret_cast`, ...
    Cast(Type, Box<Expr>),
    /// `T(a, b)` where T is known to be a type by its syntax, `T{a, b}`, `new T(a)`.
    Construct(Type, Vec<Expr>),
    InitList(Vec<(Option<Name>, Expr)>),
    Lambda(Arc<Lambda>),
    /// `({ .. })`; its value is that of the last expression statement.
    Statements(Vec<Stmt>),
    /// `args...`
    Expansion(Box<Expr>),
    /// `(args + ...)` and its kin; the operator and what it folds.
    Fold(BinaryOp, Box<Expr>),
    /// `sizeof...(args)`
    PackSize(Name),
    /// `sizeof`, `alignof`, `decltype`, `noexcept`: nothing in it runs.
    Unevaluated(Box<Option<Type>>),
    /// `requires (T t) { t.go(); }`: whether all that stands in it is possible. Nothing in it runs.
    Requires(Box<Requires>),
    Asm(Box<Asm>),
    Unreadable,
}

/// The type of a literal, by its spelling and its size.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum IntType {
    Bool,
    Char,
    Int,
    Unsigned,
    Long,
    UnsignedLong,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    Plus,
    Minus,
    Not,
    BitNot,
    Deref,
    AddressOf,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Shl,
    Shr,
    BitAnd,
    BitOr,
    BitXor,
    And,
    Or,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

#[derive(Clone, Debug)]
pub struct Lambda {
    /// `[&]` or `[=]`, if there is one.
    pub default_capture: Option<Capture>,
    /// Name, how, and the initialiser of `[x = e]`. `this` is a name here.
    pub captures: Vec<(Name, Capture, Option<Expr>)>,
    /// Named "lambda"; a generic one has `auto` parameters.
    pub function: Function,
    pub span: Span,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Capture {
    ByValue,
    ByReference,
}

/// Inline PTX: the template with its pieces joined, escapes resolved.
#[derive(Clone, Debug)]
pub struct Asm {
    pub text: String,
    /// Constraint ("=r") and operand; numbered from %0 over outputs, then inputs.
    pub outputs: Vec<(String, Expr)>,
    pub inputs: Vec<(String, Expr)>,
    pub span: Span,
}
