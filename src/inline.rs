//! A kernel, or a device function that nothing in view calls, with everything it calls -> one flat `Graph`.
//!
//! Calls, templates, lambdas, methods, constructors and destructors are resolved here, so that the analysis sees blocks,
//! values and memory only. It decides no value beyond constants of the compiler; what it cannot resolve becomes an unknown
//! value made from what goes in. Recursion goes at most `Limits::nesting` levels deep over one graph.

mod bodies;
mod beyond;
mod params;
mod ptx_text;
mod interpret;
mod deduce;
mod reach;
mod resolve;
mod algorithms;
mod arrays;
mod assign;
mod assigned;
mod places;
mod methods;
mod initialise;
mod lifetimes;
mod closures;
mod braces;
mod builder;
mod calls;
mod collectives;
mod comparisons;
mod constant;
mod constant_parts;
mod constraints;
mod copies;
mod declare;
mod dump;
mod effects;
mod expressions;
mod facts;
mod groups;
mod library;
mod link;
mod member_pointers;
mod members;
mod memo;
mod names;
mod numbered;
mod overloads;
pub mod program;
mod ptx;
mod relations;
mod root;
mod scope;
mod statements;
mod templates;
mod traits;
mod types;
mod unions;
mod validity;
mod values;
mod visit;
mod vocabulary;

pub use builder::Limits;
pub use dump::dump;
pub use facts::Holds;
pub use program::{Item, ItemKind, Lowered, Origin, Program};
pub use root::{Inlined, inline};

use crate::graph::ItemId;
use crate::program::TemplateArg;

/// What the root's template parameters stand for: the arguments of a launch or an explicit instantiation.
#[derive(Clone, Debug, Default)]
pub struct Instance {
    pub template_args: Vec<Given>,
}

/// What one template parameter stands for.
#[derive(Clone, Debug)]
pub enum Given {
    Written(TemplateArg),
    /// The type of the lambda that begins at a byte of a host function's text.
    Lambda {
        function: ItemId,
        at: u32,
    },
    /// Its default, or nothing that is known.
    Open,
}
