//! The tokens of one item into the text that the C++ parser sees: macros replaced, CUDA's own syntax rewritten.
//!
//! What the text has in place of what stands in the file (each form parses in every position in which the original may stand):
//!
//! | in the file | in the text |
//! |---|---|
//! | `__shared__`, `__constant__`, `__managed__`; `__device__` before a variable | `__declspec(__shared__)`, ... (no other `__declspec` is left); dropped in casts and parameters |
//! | `k<T><<<g, b, s>>>(x)`, also `<< <` and `>> >` | `k<T>("<<<", g, b, s)(x)`: a call whose callee is a call with the string `"<<<"` as its first argument |
//! | `__global__`, `__host__`, `__device__`, `__forceinline__`, `__launch_bounds__(..)`, `__attribute__((..))`, `[[..]]`, `_Pragma(..)`, ... | nothing; see [`Expansion::dropped`] |
//! | `T *__restrict__ p` | as it is; dropped after `&` and before `...` |
//! | `typename T::X{}`, `typename T::X(a)` | `T::X{}`, `T::X(a)`; declarations keep `typename` |
//! | `a.template f<T>()`, `a.f<3>(x)` | `a.f<T>()`, `a.template f<3>(x)` |
//! | `a.operator()(x)`, `operator()(x)` | `a.operator__(x)`, `operator__(x)`; `operator_index_` for `[]`, `operator_` for others; declarations keep theirs |
//! | `a.operator unsigned int()` | `a.operator_as__unsigned__int()` |
//! | `(Class::*m)(..)` | `(*m)(..)` |
//! | `p->*m`, `p->*[..]{..}` | `p.*m`, `p << [..]{..}` |
//! | `decltype(e){..}`, `decltype(e)(..)` | `decltype_{..}`, `decltype_(..)` |
//! | `typeof(e)` | `decltype(e)` |
//! | `unsigned(x)`, `long(x)`, `short(x)`, `signed(x)` | `uint32_t(x)`, `int64_t(x)`, `int16_t(x)`, `int32_t(x)` |
//! | `T<n>{x} += e` | `T<n>(x) += e` |
//! | `(T x = {})` in parameters | `(T x = braced_{})` |
//! | `enum : int {..}` | `enum unnamed_ : int {..}` |
//! | `new const T *[n]` | `new T[n]` |
//! | `case 1 ... 3:` | `case 1 + case_range_ + 3:` |
//!
//! `unit` says what a macro means where, `replace` expands, `rewrite` turns CUDA into C++, `emit` writes text and map.

mod emit;
mod marks;
pub mod pieces;
pub mod replace;
mod rewrite;
#[cfg(test)]
mod tests;
pub mod unit;
mod value_arguments;

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
