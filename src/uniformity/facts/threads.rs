//! Values thread by thread.

use super::super::extent::Extent;
use super::super::symbols::{Leaf, Node, Operator, Symbol, narrowed};
use super::Facts;
use crate::graph::{Axis, Source, To};
use std::cell::Cell;

impl Facts<'_> {
    /// The largest group over which an expression of thread indices and constants agrees, thread by thread.
    pub(super) fn by_enumeration(&self, symbol: Symbol) -> Option<Extent> {
        if let Some(found) = self.symbols.known.borrow().enumerated.get(&symbol) {
            return *found;
        }
        let found = self.enumerate(symbol);
        self.symbols.known.borrow_mut().enumerated.insert(symbol, found);
        found
    }

    fn enumerate(&self, symbol: Symbol) -> Option<Extent> {
        match self.per_thread(symbol) {
            Some(values) => extent_of(&values),
            None => self.on_each_trip(symbol),
        }
    }

    /// Of what doubles on each trip of a loop: on each that there may be.
    fn on_each_trip(&self, symbol: Symbol) -> Option<Extent> {
        const TRIPS: i64 = 32;
        let symbols = self.symbols;
        let is_trip = |leaf: &&Symbol| matches!(symbols.node(**leaf), Node::Leaf(Leaf::Iteration(_)));
        let leaves = symbols.leaves(symbol);
        let (trips, others): (Vec<&Symbol>, Vec<&Symbol>) = leaves.iter().partition(is_trip);
        let [&trip] = trips[..] else { return None };
        let doubles = |at: Symbol| matches!(*symbols.node(at), Node::Binary(Operator::Shl, _, by) if by == trip);
        if !others.into_iter().all(|leaf| self.is_thread_index(*leaf)) || !symbols.holds(symbol, &doubles) {
            return None;
        }
        let on = |number: i64| extent_of(&self.each_thread(symbol, &|_| Some(number))?);
        (0..=TRIPS).map(on).try_fold(Extent::GRID, |least, found| Some(least.min(found?)))
    }

    /// The value in each thread of the block by rank, if it depends on nothing but the thread index. Where the
    /// block's shape is unknown but one-dimensional, for as many threads as it may have.
    pub fn per_thread(&self, symbol: Symbol) -> Option<Vec<i64>> {
        if !self.only_thread_index(symbol) {
            return None;
        }
        self.each_thread(symbol, &|_| None)
    }

    /// Like `per_thread`, with values given for other leaves.
    pub fn each_thread(&self, symbol: Symbol, given: &dyn Fn(Symbol) -> Option<i64>) -> Option<Vec<i64>> {
        let [across, down, _] = self.shape.block.unwrap_or([self.shape.most_threads(), 1, 1]);
        (0..self.shape.most_threads())
            .map(|rank| {
                let thread = Thread { rank, x: rank % across, y: rank / across % down, z: rank / across / down };
                self.value(symbol, &thread, given)
            })
            .collect()
    }

    pub fn only_thread_index(&self, symbol: Symbol) -> bool {
        let mut some = false;
        let is_index = |leaf: Symbol| {
            some = true;
            self.is_thread_index(leaf)
        };
        self.symbols.all_leaves(symbol, is_index) && some
    }

    fn is_thread_index(&self, leaf: Symbol) -> bool {
        match self.symbols.node(leaf) {
            Node::Leaf(Leaf::Source(Source::ThreadIdx(_))) => self.shape.block.is_some() || self.shape.is_line(),
            Node::Leaf(Leaf::Source(Source::ThreadRank | Source::Lane | Source::Warp)) => true,
            _ => false,
        }
    }

    /// The value in one thread; leaves other than thread indices by `given`.
    pub fn value(&self, symbol: Symbol, thread: &Thread, given: &dyn Fn(Symbol) -> Option<i64>) -> Option<i64> {
        self.value_within(symbol, thread, given, &Cell::new(MAX_VISITS))
    }

    fn value_within(
        &self,
        symbol: Symbol,
        thread: &Thread,
        given: &dyn Fn(Symbol) -> Option<i64>,
        left: &Cell<u32>,
    ) -> Option<i64> {
        left.set(left.get().checked_sub(1)?);
        let of = |symbol: Symbol| self.value_within(symbol, thread, given, left);
        Some(match self.symbols.node(symbol) {
            Node::Int(value) => *value,
            Node::Leaf(Leaf::Source(Source::ThreadIdx(axis))) => i64::from(match axis {
                Axis::X => thread.x,
                Axis::Y => thread.y,
                Axis::Z => thread.z,
            }),
            Node::Leaf(Leaf::Source(Source::ThreadRank)) => i64::from(thread.rank),
            Node::Leaf(Leaf::Source(Source::Lane)) => i64::from(thread.rank % 32),
            Node::Leaf(Leaf::Source(Source::Warp)) => i64::from(thread.rank / 32),
            Node::Leaf(_) => given(symbol)?,
            Node::Sum { terms, constant } => {
                let mut total = *constant;
                for (term, factor) in terms {
                    total = total.checked_add(of(*term)?.checked_mul(*factor)?)?;
                }
                total
            }
            Node::Product(factors) => {
                let mut total = 1i64;
                for factor in factors {
                    total = total.checked_mul(of(*factor)?)?;
                }
                total
            }
            // One side may settle it although the other is unknown.
            Node::Binary(Operator::And, a, b) => match (of(*a), of(*b)) {
                (Some(0), _) | (_, Some(0)) => 0,
                (Some(_), Some(_)) => 1,
                _ => return None,
            },
            Node::Binary(Operator::Or, a, b) => match (of(*a), of(*b)) {
                (Some(x), _) | (_, Some(x)) if x != 0 => 1,
                (Some(_), Some(_)) => 0,
                _ => return None,
            },
            Node::Binary(operator, a, b) => {
                let a = of(*a)?;
                match operator {
                    Operator::Negative => return Some(i64::from(a < 0)),
                    Operator::Zero => return Some(i64::from(a == 0)),
                    _ => {}
                }
                let b = of(*b)?;
                match operator {
                    Operator::Div if b > 0 => a.div_euclid(b),
                    Operator::Div => a.checked_div(b)?,
                    Operator::Shl => u32::try_from(b).ok().filter(|b| *b < 63).map(|b| a.wrapping_shl(b))?,
                    Operator::Shr => u32::try_from(b).ok().filter(|b| *b < 64).map(|b| a >> b)?,
                    Operator::BitAnd => a & b,
                    Operator::BitOr => a | b,
                    Operator::BitXor => a ^ b,
                    Operator::Min => a.min(b),
                    Operator::Max => a.max(b),
                    _ => return None,
                }
            }
            Node::Not(inner) => i64::from(of(*inner)? == 0),
            Node::Select(on, yes, no) => {
                if of(*on)? != 0 {
                    of(*yes)?
                } else {
                    of(*no)?
                }
            }
            Node::Convert(to, inner) => {
                let value = of(*inner)?;
                match to {
                    To::Float => return None,
                    To::Bool => i64::from(value != 0),
                    To::Int { bits, signed } => narrowed(value, *bits, *signed),
                }
            }
            Node::Pure(name, operands) => {
                let operand = of(*operands.first()?)?;
                match &**name {
                    "__popc" => i64::from((operand as u32).count_ones()),
                    "__popcll" => i64::from((operand as u64).count_ones()),
                    "__ffs" => {
                        if operand as u32 == 0 {
                            0
                        } else {
                            i64::from((operand as u32).trailing_zeros()) + 1
                        }
                    }
                    "__clz" => i64::from((operand as u32).leading_zeros()),
                    "__brev" => i64::from((operand as u32).reverse_bits()),
                    "abs" => operand.abs(),
                    _ => return None,
                }
            }
            Node::Address(_) | Node::Element(..) | Node::Member(..) => return None,
        })
    }
}

/// Nodes looked at for one value; a shared subexpression counts each time.
const MAX_VISITS: u32 = 2_000;

/// One thread of a block.
#[derive(Copy, Clone, Debug)]
pub struct Thread {
    pub rank: u32,
    pub x: u32,
    pub y: u32,
    pub z: u32,
}

/// The largest group over which values, by rank, agree.
fn extent_of(values: &[i64]) -> Option<Extent> {
    let agrees = |run: usize| values.chunks(run).all(|group| group.iter().all(|value| *value == group[0]));
    if agrees(values.len().max(1)) {
        return Some(Extent::GRID);
    }
    (0..=u32::from(Extent::LARGEST_TILE)).rev().find(|power| agrees(1 << power)).map(Extent::tile)
}
