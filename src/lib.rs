//! synclint finds each CUDA barrier that only part of its threads can reach, from source alone.
//!
//! One straight road, each stage a module that reads only what stands above it:
//!
//! ```text
//! text, words, finding     places; what the words of CUDA mean; what a finding is
//! program, graph           the two forms of a program: plain trees, one flat graph per kernel
//! source                   files -> tokens -> macros, #if, items -> the text of each item that matters
//! lower                    text -> tree-sitter -> program
//! inline                   a kernel and all that it calls -> graph
//! flow                     graph -> dominators, post-dominators, loops, control dependence
//! uniformity               which values agree over which group, and why
//! rules                    barriers that only a part reaches -> findings
//! suppress, baseline       findings the user knows of
//! settings, session        configuration; reading, in parallel, in order
//! report                   findings -> text, JSON, SARIF, annotations, ...
//! cli                      arguments -> all of it -> exit code
//! ```

pub mod analysis;
pub mod baseline;
pub mod checks;
pub mod cli;
pub mod finding;
pub mod flow;
pub mod graph;
pub mod inline;
pub mod link;
pub mod lower;
pub mod program;
pub mod report;
pub mod rules;
pub mod session;
pub mod settings;
pub mod source;
pub mod suppress;
pub mod text;
pub mod uniformity;
pub mod words;
