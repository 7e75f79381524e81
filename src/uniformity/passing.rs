//! Values at joins that only pass on one and the same value, round whatever loops.
//!
//! A variable that nothing writes on the way has a value of its own at each join and each loop's head that it passes, each
//! made of the others. All of them are the value it came with: which way a thread came by makes no difference.

use super::evaluate::{Values, is_variant};
use super::symbols::{Leaf, Node, Symbol};
use crate::flow::Flow;
use rustc_hash::FxHashMap;

/// Rounds after which nothing is claimed.
const MAX_ROUNDS: usize = 50;

struct Passing<'a> {
    values: &'a Values,
    flow: &'a Flow,
    /// By value at a join: what it is as far as is known; none yet: whatever the others are.
    is: FxHashMap<Symbol, Option<Symbol>>,
    /// Choices between a value and itself.
    choices: FxHashMap<Symbol, Option<Symbol>>,
    variant: FxHashMap<(Symbol, usize), bool>,
}

/// By value at a join, or choice, that is another value: which one; none where nothing is written on any way.
pub fn passed_on(values: &Values, flow: &Flow, leaves: &[Symbol]) -> FxHashMap<Symbol, Option<Symbol>> {
    let mut joins: Vec<Symbol> = leaves.iter().copied().filter(|leaf| values.phis.contains_key(leaf)).collect();
    joins.sort_by_key(|join| (flow.position[values.phis[join].block.index()], *join));
    let is = joins.iter().map(|join| (*join, None)).collect();
    let mut passing = Passing { values, flow, is, choices: FxHashMap::default(), variant: FxHashMap::default() };
    for _ in 0..MAX_ROUNDS {
        let mut settled = true;
        passing.choices.clear();
        for join in &joins {
            let now = passing.met(*join);
            settled &= passing.is.insert(*join, now) == Some(now);
        }
        if settled {
            let joins = passing.is.into_iter().filter(|(join, is)| *is != Some(*join));
            return joins.chain(passing.choices).collect();
        }
    }
    FxHashMap::default()
}

impl Passing<'_> {
    /// What all ways bring, or the value at the join itself if they bring different ones.
    fn met(&mut self, join: Symbol) -> Option<Symbol> {
        let values = self.values;
        let mut met = None;
        for (_, slot) in &values.phis[&join].incoming {
            let Some(brought) = self.source(slot.value) else { continue };
            if met.is_some_and(|met| met != brought) {
                return Some(join);
            }
            met = Some(brought);
        }
        met
    }

    fn source(&mut self, symbol: Symbol) -> Option<Symbol> {
        match *self.values.symbols.node(symbol) {
            Node::Leaf(Leaf::Phi(..)) => self.is.get(&symbol).copied().unwrap_or(Some(symbol)),
            Node::Leaf(Leaf::Left(header, inner)) => {
                let source = self.source(inner)?;
                let index = self.flow.head_of[header.index()];
                let symbols = &self.values.symbols;
                let block_of = &self.values.block_of;
                let stays = index
                    .is_some_and(|index| !is_variant(symbols, self.flow, block_of, &mut self.variant, source, index));
                Some(if stays { source } else { symbol })
            }
            Node::Select(_, yes, no) => {
                let source = match (self.source(yes), self.source(no)) {
                    (Some(yes), Some(no)) => Some(if yes == no { yes } else { symbol }),
                    (one, other) => one.or(other),
                };
                if source != Some(symbol) {
                    self.choices.insert(symbol, source);
                }
                source
            }
            Node::Sum { ref terms, .. } => {
                // What is added to a choice leaves it one.
                for (term, _) in terms {
                    self.source(*term);
                }
                Some(symbol)
            }
            Node::Member(whole, _) => self.source(whole).map(|_| symbol),
            _ => Some(symbol),
        }
    }
}
