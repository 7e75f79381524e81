//! Braces that a list leaves out: `int m[2][2] = {a, b, c, d}` is `{{a, b}, {c, d}}` (C++, "brace elision").

use super::builder::Builder;
use super::types::Ty;
use crate::program::*;
use std::collections::VecDeque;

/// Arrays longer than this, and parts nested deeper, are taken as they are written.
const MOST_ELEMENTS: i64 = 64;
const DEEPEST: usize = 8;

impl Builder<'_> {
    /// The values of a list for these parts, each part that has parts itself in braces of its own.
    pub fn with_all_braces(
        &mut self,
        parts: impl Iterator<Item = Ty>,
        list: &[(Option<Name>, Expr)],
    ) -> Vec<(Option<Name>, Expr)> {
        if list.iter().any(|(name, _)| name.is_some()) {
            return list.to_vec();
        }
        let mut rest: VecDeque<Expr> = list.iter().map(|(_, value)| value.clone()).collect();
        let mut braced: Vec<(Option<Name>, Expr)> = Vec::new();
        for part in parts {
            match self.next_part(&part, &mut rest, 0) {
                Some(value) => braced.push((None, value)),
                None => break,
            }
        }
        braced.extend(rest.into_iter().map(|value| (None, value)));
        braced
    }

    fn next_part(&mut self, ty: &Ty, rest: &mut VecDeque<Expr>, depth: usize) -> Option<Expr> {
        let parts = if depth < DEEPEST { self.parts_of(ty) } else { Vec::new() };
        let first = rest.front()?;
        if parts.is_empty() || !self.type_of(&first.clone()).is_scalar() {
            return rest.pop_front();
        }
        let mut span = rest.front()?.span;
        let mut inner: Vec<(Option<Name>, Expr)> = Vec::new();
        for part in parts {
            let Some(value) = self.next_part(&part, rest, depth + 1) else { break };
            span.end = value.span.end;
            inner.push((None, value));
        }
        Some(Expr { kind: ExprKind::InitList(inner), span })
    }

    /// Of an array, a vector or a class without constructors the types of its parts in order.
    pub fn parts_of(&mut self, ty: &Ty) -> Vec<Ty> {
        match ty {
            Ty::Array(of, Some(extent)) if (1..=MOST_ELEMENTS).contains(extent) => {
                vec![(**of).clone(); *extent as usize]
            }
            Ty::Class(class) if self.constructors_of(class).is_empty() => {
                self.fields_of(class).into_iter().map(|(_, ty)| ty).collect()
            }
            _ => Vec::new(),
        }
    }
}
