//! CUDA's own syntax into C++ that the grammar reads.

use super::replace::{Machine, Piece};

pub struct Rewritten {
    pub pieces: Vec<Piece>,
    /// Attributes taken out: the index in `pieces` they stood before, and their own pieces.
    pub dropped: Vec<(usize, Vec<Piece>)>,
}

pub fn rewrite(_machine: &mut Machine, pieces: Vec<Piece>) -> Rewritten {
    Rewritten { pieces, dropped: Vec::new() }
}
