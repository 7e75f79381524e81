//! synclint finds each CUDA barrier that only part of its threads can reach, from source alone.
//!
//! One straight road, each stage a module that reads only what stands above it:
//!
//! ```text
//! text, words, finding     places; what the words of CUDA mean; what a finding is
//! chart                    a kernel's control flow as a reader sees it
//! program, graph           the two forms of a program: plain trees, one flat graph per kernel
//! source                   files -> tokens -> macros, #if, items -> the text of each item that matters
//! lower                    text -> tree-sitter -> program
//! inline                   a kernel and all that it calls -> graph
//! link                     names -> the items they may mean, places in an item's text -> places in files
//! flow                     graph -> dominators, post-dominators, loops, control dependence
//! uniformity               which values agree over which group, and why
//! rules, checks            barriers that only a part reaches -> findings
//! analysis                 one kernel, under every launch in view, through all of the above
//! fixes                    findings -> changes that may mend them
//! suppress, baseline       findings the user knows of
//! settings, session        configuration; reading, in parallel, in order
//! report                   findings -> text, JSON, SARIF, annotations, ...
//! lsp                      an editor's messages -> findings, explanations and edits as it shows them
//! cli                      arguments -> all of it -> exit code
//! ```

pub mod text;
pub mod words;
pub mod finding;
pub mod chart;
pub mod program;
pub mod graph;
pub mod source;
pub mod lower;
pub mod inline;
pub mod flow;
pub mod uniformity;
pub mod rules;
pub mod checks;
pub mod analysis;
pub mod fixes;
pub mod suppress;
pub mod baseline;
pub mod settings;
pub mod session;
pub mod report;
pub mod lsp;
pub mod cli;

/// Of this build.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
