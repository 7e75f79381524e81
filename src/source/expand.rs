//! The tokens of one item into the text that the C++ parser sees: macros replaced, CUDA's own syntax rewritten.
//!
//! `unit` says what a macro means where, `replace` expands, `rewrite` turns CUDA into C++, `emit` writes text and map.

mod emit;
mod marks;
pub mod replace;
mod rewrite;
pub mod unit;

use super::select::Selection;
use crate::text::{Expanded, Range as FileRange};
use replace::{Base, Machine};
use std::ops::Range;

pub use marks::Marks;
pub use unit::Unit;

/// An item's text, and what was taken out of it.
#[derive(Clone, Debug, Default)]
pub struct Expansion {
    pub expanded: Expanded,
    pub dropped: Vec<Dropped>,
    /// The budget was spent: what follows stands as it was written, or is missing.
    pub overflowed: bool,
}

/// An attribute of CUDA or of the compiler that the text no longer has.
#[derive(Clone, Debug)]
pub struct Dropped {
    /// Where in the text it stood.
    pub out: u32,
    /// With its arguments, expanded: `__launch_bounds__(256, 2)`.
    pub text: String,
    pub range: FileRange,
}

/// The tokens of a range that are alive, expanded and rewritten.
pub fn expand(unit: &Unit, selection: &Selection, tokens: Range<u32>) -> Expansion {
    let runs: Vec<Range<u32>> = selection.within(tokens).collect();
    let length: usize = runs.iter().map(|run| run.len()).sum();
    let mut machine = Machine::new(unit, Base { file: unit.file, runs, at: None }, false);
    let pieces = machine.run(length.saturating_mul(20).saturating_add(50_000));
    let rewritten = rewrite::rewrite(&mut machine, pieces);
    emit::emit(&machine, rewritten)
}

/// All of a selection, expanded and not rewritten, for comparison with another preprocessor.
pub fn expand_plain(unit: &Unit, selection: &Selection) -> Expansion {
    let mut machine = Machine::new(unit, Base { file: unit.file, runs: selection.alive.clone(), at: None }, false);
    let pieces = machine.run(usize::MAX);
    emit::emit(&machine, rewrite::Rewritten { pieces, dropped: Vec::new() })
}
