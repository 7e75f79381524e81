//! Files into the text of each item that matters: tokens, macros and `#if`, items, what calls what.

pub mod closure;
pub mod compile_commands;
pub mod conditions;
pub mod expand;
pub mod index;
pub mod items;
pub mod launch;
pub mod lexer;
pub mod reading;
pub mod screen;
pub mod select;
pub mod spelling;
pub mod tree;
pub mod walk;
