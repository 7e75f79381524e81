//! Operators and conversions: `operator` and what follows are the name.

use super::{Candidate, Path, Reader, Segment};
use crate::source::items::Role;

impl Reader<'_, '_> {
    /// At `operator`: its name, up to and over its parameters.
    pub(super) fn operator(&mut self, mut path: Path, has_type: bool, result_start: usize, head: usize) {
        let view = self.view;
        let word = self.at;
        if word > head && !view.is(word - 1, b"::") {
            // What stands before is the result type.
            path.segments.clear();
        }
        let mut at = word + 1;
        let mut name = String::from("operator");
        let mut role = Role::Operator;
        if view.byte(at, b'(') && view.byte(at + 1, b')') {
            name.push_str("()");
            at += 2;
        } else if view.byte(at, b'[') {
            name.push_str("[]");
            at = view.behind(at).max(at + 1);
        } else if view.identifier(at).is_some() {
            let allocation = matches!(view.text(at), b"new" | b"delete" | b"co_await");
            role = if allocation { Role::Operator } else { Role::Conversion };
            let end = self.next_parenthesis(at);
            for part in at..end {
                name.push(' ');
                name.push_str(&String::from_utf8_lossy(view.text(part)));
            }
            at = end;
        } else {
            while view.token(at).is_some() && !view.byte(at, b'(') && view.identifier(at).is_none() {
                name.push_str(&String::from_utf8_lossy(view.text(at)));
                at += 1;
                // `operator<<int>(..)`: the template arguments of an operator.
                if view.is(at, b"<") && at > word + 1 {
                    break;
                }
            }
            if view.is(at, b"<") {
                at = view.behind_angle(at).unwrap_or(at + 1);
            } else if view.identifier(at).is_some() {
                at += 1;
            }
        }
        let first = path.segments.first().map_or(word, |segment| segment.at);
        path.segments.push(Segment { at: word, arguments: None });
        self.at = at;
        if !view.byte(at, b'(') {
            return;
        }
        self.candidates.push(Candidate {
            path,
            name: Some(name),
            role,
            start: first,
            params: at,
            had_type: true,
            is_macro: false,
            result_start: if has_type || first > result_start { result_start } else { first },
        });
        self.at = view.behind(at).max(at + 1);
    }

    fn next_parenthesis(&self, from: usize) -> usize {
        let mut at = from;
        while at < self.view.len()
            && !self.view.byte(at, b'(')
            && !self.view.byte(at, b';')
            && !self.view.byte(at, b'{')
        {
            at = if self.view.is(at, b"<") { self.view.step(at) } else { at + 1 };
        }
        at
    }
}
