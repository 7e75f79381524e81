//! `requires` clauses: where they end, for what stands behind them may look like a part of them.

use super::Reader;

impl Reader<'_, '_> {
    /// A `requires` clause.
    pub(super) fn requirement(&mut self) {
        let from = self.at + 1;
        self.at = self.behind_requirement(from);
        self.requirements.push(from..self.at);
    }

    /// Behind the first part of a `requires` clause that could be mistaken for a body or parameters.
    fn behind_requirement(&self, from: usize) -> usize {
        let view = self.view;
        let mut at = from;
        if view.is(at, b"requires") {
            at += 1;
            at = self.behind_arguments(at);
            return if view.byte(at, b'{') { view.behind(at) } else { at };
        }
        while view.byte(at, b'!') {
            at += 1;
        }
        if view.byte(at, b'(') {
            at = view.behind(at).max(at + 1);
        } else if view.byte(at, b'{') {
            return view.behind(at);
        } else {
            while view.identifier(at).is_some() || view.is(at, b"::") || view.is(at, b"<") {
                let is_name = view.identifier(at).is_some();
                at = if view.is(at, b"<") { view.behind_angle(at).unwrap_or(at + 1) } else { at + 1 };
                // Two names in a row: the clause is over.
                if is_name && view.identifier(at).is_some() {
                    return at;
                }
                if !is_name && view.identifier(at).is_some() && !view.is(at - 1, b"::") {
                    return at;
                }
            }
        }
        if view.is(at, b"&&") || view.is(at, b"||") {
            return self.behind_requirement_tail(at + 1);
        }
        at
    }

    /// The operands that follow, without recursion on their number.
    fn behind_requirement_tail(&self, from: usize) -> usize {
        let view = self.view;
        let mut at = from;
        loop {
            while view.byte(at, b'!') {
                at += 1;
            }
            if view.is(at, b"requires") {
                at = self.behind_arguments(at + 1);
                at = if view.byte(at, b'{') { view.behind(at) } else { at };
            } else if view.byte(at, b'(') {
                at = view.behind(at).max(at + 1);
            } else {
                while view.identifier(at).is_some() || view.is(at, b"::") {
                    let was_name = view.identifier(at).is_some();
                    at += 1;
                    if view.is(at, b"<") {
                        at = view.behind_angle(at).unwrap_or(at + 1);
                    }
                    if was_name && !view.is(at, b"::") {
                        break;
                    }
                }
            }
            if !(view.is(at, b"&&") || view.is(at, b"||")) {
                return at;
            }
            at += 1;
        }
    }
}
