//! The seen tokens of a file -> its items: functions, classes, values, aliases, with the token ranges of their parts.
//!
//! It matches brackets, those that macros open or close among them, and reads declarations, nothing more: no types, no
//! look-up, no statement. What a macro at namespace scope makes, and a declaration of which one brings more than words, is
//! expanded and read in the same way. Bodies stay token ranges until somebody asks. A kernel or barrier that ends up in no
//! function is told.

mod attributes;
mod class_head;
mod declaration;
mod extract;
mod macros;
mod text;
mod view;

pub use attributes::{Attributes, Bounds, BoundsKind, BoundsText, are_all_known};
pub use extract::extract;
pub(super) use text::{ItemText, Source, alias_text, class_text, function_text, plain_text};
pub(crate) use view::View;

use crate::program::Name;
use std::ops::Range;
use std::sync::Arc;

/// Token positions in an item's source: its file, or the expansion that made it.
pub type Tokens = Range<u32>;

/// One item as it stands in its file.
#[derive(Clone, Debug)]
pub struct Found {
    pub kind: ItemKind,
    /// The last component. `operator()`, `~Tile`; a constructor has its class's name; an unnamed class or enum has none.
    pub name: Name,
    pub name_token: u32,
    /// Namespaces and classes round it, outermost first; unnamed and inline ones are left out.
    pub scope: Arc<[Name]>,
    /// What is written before the name: `Tile` in `void Tile<T, N>::commit()`.
    pub qualifier: Vec<Name>,
    /// The class whose body it stands in, an index into the same list.
    pub class: Option<u32>,
    /// The whole declaration with its template headers, up to its closing brace or semicolon.
    pub tokens: Tokens,
    /// The top-level macro invocation that made it, an index into `FileItems::made`; then all its ranges count there.
    pub made: Option<u32>,
    /// Template headers, outermost first, each from `template` to its `>`.
    pub templates: Vec<Tokens>,
    pub attributes: Attributes,
}

#[derive(Clone, Debug)]
pub enum ItemKind {
    Function(FunctionParts),
    Class(ClassParts),
    /// The enumerators are items of their own.
    Enum,
    /// `enumeration` is an index into the same list; `scoped` for `enum class`.
    Enumerator {
        enumeration: u32,
        scoped: bool,
    },
    Value,
    /// `using X = ..`, `typedef .. X`; its tokens.
    Alias,
    /// `using namespace a::b;`
    UsingNamespace(Vec<Name>),
    /// `using a::b;`
    UsingName(Vec<Name>),
    /// `namespace x = a::b;`
    NamespaceAlias(Vec<Name>),
    /// `template void f<float, 4>(..);`, `template class C<int>;`: the template arguments, without brackets.
    Instantiation {
        arguments: Option<Tokens>,
        of_class: bool,
    },
}

#[derive(Clone, Debug, Default)]
pub struct FunctionParts {
    pub role: Role,
    /// The tokens of the name itself, qualifier and template arguments included.
    pub declarator: Tokens,
    /// Template arguments of an explicit specialisation, without brackets: `f<int>`.
    pub arguments: Option<Tokens>,
    /// How many template argument lists the qualifier has; so many template headers belong to classes.
    pub class_headers: u32,
    /// Of a friend that is written in a class: that class.
    pub friend_of: Option<u32>,
    /// Template arguments of the class that a member is specialised for, without brackets: `template <> void X<int>::f()`.
    pub class_arguments: Option<Tokens>,
    /// Where the result type is written before the name.
    pub result: Tokens,
    /// Where it is written behind the parameters.
    pub trailing: Option<Tokens>,
    /// Parameters, without parentheses.
    pub params: Tokens,
    pub count: ParamCount,
    /// From the colon on.
    pub initialisers: Option<Tokens>,
    /// With its braces.
    pub body: Option<Tokens>,
    /// The name comes out of a macro that stays unexpanded here (`TEST(a, b) {`).
    pub macro_name: bool,
    /// What each `requires` clause asks for.
    pub requirements: Vec<Tokens>,
}

#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Role {
    #[default]
    Plain,
    Constructor,
    Destructor,
    Operator,
    Conversion,
}

#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct ParamCount {
    /// Without those that have a default.
    pub min: u32,
    pub max: u32,
    /// A pack or `...` takes any number more.
    pub variadic: bool,
}

#[derive(Clone, Debug, Default)]
pub struct ClassParts {
    /// The template arguments of a specialisation, without brackets.
    pub arguments: Option<Tokens>,
    /// From the colon on.
    pub bases: Option<Tokens>,
    /// With its braces; none for a forward declaration.
    pub body: Option<Tokens>,
    pub is_union: bool,
}

/// Everything found in one file.
#[derive(Debug, Default)]
pub struct FileItems {
    pub found: Vec<Found>,
    /// Top-level macro invocations that made items.
    pub made: Vec<Made>,
    /// Marks of kernels and barriers that no item holds.
    pub lost: Vec<Lost>,
}

/// A `__global__`, or a barrier, that stands in nothing that could be read.
#[derive(Clone, Debug)]
pub struct Lost {
    pub token: u32,
    /// As in `Found`.
    pub made: Option<u32>,
    pub is_kernel: bool,
}

/// The expansion of a top-level macro invocation.
#[derive(Debug)]
pub struct Made {
    pub expansion: crate::source::expand::Expansion,
    pub tokens: Vec<crate::source::lexer::Token>,
    /// The invocation in the file.
    pub site: Tokens,
}
