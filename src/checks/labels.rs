//! Groups that are made by labels: a fork that goes by what the labels go by, too, parts none of them.

use super::Check;
use crate::graph::{BlockId, InstId, Outcome};
use crate::uniformity::extent::Extent;
use crate::uniformity::symbols::{Node, Symbol};

impl Check<'_> {
    /// A partition or match was made by the very key that a fork goes by, so its parts go one way each.
    pub fn parted_by(&self, by: InstId, fork: BlockId) -> bool {
        let Some(on) = self.analysed.values.condition[fork.index()] else { return false };
        // What a group says of itself its threads agree on: its size, its number.
        if self.facts.follows_from(on, self.analysed.symbol(by), Extent::WARP) {
            return true;
        }
        let Some(barrier) = self.as_barrier(by) else { return false };
        if !matches!(barrier.result, Outcome::Group | Outcome::Peers) {
            return false;
        }
        self.agree_within(self.analysed.symbol(by), fork)
            || barrier
                .operands
                .iter()
                .map(|key| self.analysed.symbol(*key))
                .any(|key| self.facts.follows_from(on, key, Extent::WARP) || self.has_label_of_its_own(key, on))
    }

    /// Those who go one way at a fork have a label that nobody else has: `used ? bin & 0xff : ~0u`.
    fn has_label_of_its_own(&self, key: Symbol, on: Symbol) -> bool {
        let symbols = &self.analysed.values.symbols;
        let Node::Select(chosen_by, yes, no) = *symbols.node(key) else { return false };
        let asked = match *symbols.node(on) {
            Node::Not(inner) => inner,
            _ => on,
        };
        self.is_same_question(chosen_by, asked) && (self.is_apart(yes, no) || self.is_apart(no, yes))
    }

    /// A number that the other labels stay clear of; that all ones are none of them is the custom.
    fn is_apart(&self, label: Symbol, others: Symbol) -> bool {
        let Some(label) = self.analysed.values.symbols.as_int(label) else { return false };
        let others = self.facts.bounds(others);
        label == -1 || label == i64::from(u32::MAX) || label < others.low || label > others.high
    }

    /// One and the same, but for what is read once more from where nobody writes.
    fn is_same_question(&self, one: Symbol, other: Symbol) -> bool {
        let values = &self.analysed.values;
        let symbols = &values.symbols;
        let mut work = vec![(one, other)];
        let mut steps = 0;
        while let Some((a, b)) = work.pop() {
            steps += 1;
            if a == b {
                continue;
            }
            let is_same_kind = match (symbols.node(a), symbols.node(b)) {
                (Node::Sum { terms, constant }, Node::Sum { terms: others, constant: other }) => {
                    let factors = terms.iter().zip(others.iter()).all(|(one, other)| one.1 == other.1);
                    constant == other && factors
                }
                (Node::Binary(one, ..), Node::Binary(other, ..)) => one == other,
                (Node::Convert(one, _), Node::Convert(other, _)) => one == other,
                (Node::Member(_, one), Node::Member(_, other)) => one == other,
                (Node::Not(_), Node::Not(_)) | (Node::Element(..), Node::Element(..)) => true,
                (Node::Leaf(_), Node::Leaf(_)) => {
                    let (Some(one), Some(other)) = (values.loads.get(&a), values.loads.get(&b)) else { return false };
                    if values.writes.iter().any(|write| self.may_be_one(write.address, one.address)) {
                        return false;
                    }
                    work.push((one.address, other.address));
                    continue;
                }
                _ => false,
            };
            let (of_one, of_other) = (symbols.children(a), symbols.children(b));
            if !is_same_kind || of_one.len() != of_other.len() || steps > MAX_STEPS {
                return false;
            }
            work.extend(of_one.into_iter().zip(of_other));
        }
        true
    }
}

/// Parts of two questions that are compared.
const MAX_STEPS: usize = 64;
