//! Files -> tokens -> macros, `#if`, items -> the text of each item that matters.

pub mod compile_commands;
pub mod walk;
