//! Values thread by thread.

use super::super::extent::Extent;
use super::super::symbols::{Leaf, Node, Operator, Symbol, narrowed};
use super::Facts;
use crate::graph::{Axis, Source, To};
use rustc_hash::FxHashMap;
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
        self.column(symbol)
    }

    /// The value in each thread; one that took long is kept, for the expressions that it is a part of.
    fn column(&self, symbol: Symbol) -> Option<Vec<i64>> {
        let mut column = Column::default();
        let mut looked_at = 0;
        let most = self.shape.most_threads();
        {
            let columns = &self.symbols.known.borrow().columns;
            if let Some(known) = columns.get(&symbol).filter(|known| known.values.len() == most as usize) {
                return Some(known.values.clone());
            }
            let walk = Walk { given: &|_| None, left: Cell::new(0), spent: Cell::new(0), columns: Some(columns) };
            for rank in 0..most {
                walk.left.set(MAX_VISITS);
                let Some(value) = self.value_within(symbol, &self.thread(rank), &walk) else { break };
                column.values.push(value);
                column.visits.push((MAX_VISITS - walk.left.get()) as u16);
            }
            looked_at += walk.spent.get();
        }
        let whole = (column.values.len() == most as usize).then(|| column.values.clone());
        if looked_at > LONG_COLUMN {
            let columns = &mut self.symbols.known.borrow_mut().columns;
            if columns.len() >= MAX_COLUMNS {
                columns.clear();
            }
            columns.insert(symbol, column);
        }
        whole
    }

    /// A thread of the block by its rank.
    fn thread(&self, rank: u32) -> Thread {
        let [across, down, _] = self.shape.block.unwrap_or([self.shape.most_threads(), 1, 1]);
        Thread { rank, x: rank % across, y: rank / across % down, z: rank / across / down }
    }

    /// Like `per_thread`, with values given for other leaves.
    pub fn each_thread(&self, symbol: Symbol, given: &dyn Fn(Symbol) -> Option<i64>) -> Option<Vec<i64>> {
        (0..self.shape.most_threads()).map(|rank| self.value(symbol, &self.thread(rank), given)).collect()
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
        let walk = Walk { given, left: Cell::new(MAX_VISITS), spent: Cell::new(0), columns: None };
        self.value_within(symbol, thread, &walk)
    }

    fn value_within(&self, symbol: Symbol, thread: &Thread, walk: &Walk) -> Option<i64> {
        if let Some(columns) = walk.columns
            && !columns.is_empty()
            && let Some(column) = columns.get(&symbol)
            && let Some(visits) = column.visits.get(thread.rank as usize)
            && let Some(left) = walk.left.get().checked_sub(u32::from(*visits))
        {
            walk.left.set(left);
            walk.spent.set(walk.spent.get() + 1);
            return Some(column.values[thread.rank as usize]);
        }
        walk.left.set(walk.left.get().checked_sub(1)?);
        walk.spent.set(walk.spent.get() + 1);
        let of = |symbol: Symbol| self.value_within(symbol, thread, walk);
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
            Node::Leaf(_) => (walk.given)(symbol)?,
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
/// Nodes looked at for the values of all threads, beyond which they are kept.
const LONG_COLUMN: u32 = 10_000;
/// Columns kept for one graph.
const MAX_COLUMNS: usize = 1_000;

/// What an expression of the thread index comes to in each thread, by rank, as far as it was followed, and how many nodes
/// were looked at for it.
#[derive(Debug, Default)]
pub struct Column {
    values: Vec<i64>,
    visits: Vec<u16>,
}

/// The search for one value.
struct Walk<'w> {
    /// What leaves hold that are no thread index.
    given: &'w dyn Fn(Symbol) -> Option<i64>,
    /// Nodes it may still look at, and those it has really looked at.
    left: Cell<u32>,
    spent: Cell<u32>,
    /// Values known before.
    columns: Option<&'w FxHashMap<Symbol, Column>>,
}

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
