//! Files into the text of each item that matters: tokens, macros and `#if`, items, what calls what.

pub mod conditions;
pub mod expand;
pub mod index;
pub mod lexer;
pub mod select;
