//! Files into the text of each item that matters: tokens, macros and `#if`, items, what calls what.

pub mod compile_commands;
pub mod items;
pub mod lexer;
pub mod walk;
