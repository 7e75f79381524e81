//! The cluster that a launching function writes into a launch attribute (CUDA Runtime API, `cudaLaunchAttributeValue`):
//! `attribute[0].val.clusterDim.x = 2;`, `= {2, 1, 1}`, `.clusterDim = {2, 1, 1}` in an initialiser, or by a reference to it.

use super::code::Code;
use super::evaluate::evaluate;
use super::locals::{statement_end, statement_start};
use super::scope::Scope;
use crate::source::items::View;
use std::ops::Range;

const AXES: [&[u8]; 3] = [b"x", b"y", b"z"];

/// In blocks; none where no cluster is written, a value is unknown or two of them differ.
pub(super) fn of(scope: &Scope, code: &Code) -> Option<[u32; 3]> {
    let mut cluster = [None; 3];
    for place in places(code) {
        for (axis, written) in extents(&code.view, place + 1) {
            let value = evaluate(scope, code, written)?.int().and_then(|value| u32::try_from(value).ok())?;
            if cluster.get_mut(axis)?.replace(value).is_some_and(|before| before != value) {
                return None;
            }
        }
    }
    let [x, y, z] = cluster;
    Some([x?, y.unwrap_or(1), z.unwrap_or(1)])
}

/// Where a cluster is named, by the attribute's field or by a reference to that.
pub(super) fn places(code: &Code) -> Vec<usize> {
    let view = &code.view;
    let fields: Vec<usize> = code.body.clone().filter(|at| view.is(*at, b"clusterDim")).collect();
    let reference = |at: &usize| {
        let equals = (statement_start(view, *at)..*at).find(|at| view.byte(*at, b'='))?;
        (view.byte(equals.checked_sub(2)?, b'&') && view.byte(at + 1, b';')).then(|| view.identifier(equals - 1))?
    };
    let references = fields.iter().filter_map(reference).flat_map(|name| code.uses(name, code.body.clone()));
    let references: Vec<usize> = references.copied().collect();
    [fields, references].concat()
}

/// What is written behind the name, by axis: `.x = 2`, `= {2, 1, 1}`, `{.y = 2}`.
fn extents(view: &View, from: usize) -> Vec<(usize, Range<usize>)> {
    let axis_at = |at: usize| AXES.iter().position(|axis| view.byte(at, b'.') && view.is(at + 1, axis));
    if let Some(axis) = axis_at(from).filter(|_| view.byte(from + 2, b'=')) {
        let value = from + 3..statement_end(view, from) - 1;
        let first = view.split_at_commas(value.clone()).into_iter().next();
        return vec![(axis, first.unwrap_or(value))];
    }
    let open = from + usize::from(view.byte(from, b'='));
    if !view.byte(open, b'{') {
        return Vec::new();
    }
    let pieces = view.split_at_commas(view.inside(open)).into_iter().enumerate();
    let named = |(position, piece): (usize, Range<usize>)| match axis_at(piece.start) {
        Some(axis) => (axis, piece.start + 3..piece.end),
        None => (position, piece),
    };
    pieces.map(named).collect()
}
