//! What follows from an expression alone: bounds, divisors, values thread by thread, and from these its agreement.
//!
//! The agreement of a leaf that only the whole graph knows (what a variable holds at a join, what a load yields)
//! is looked up in a table that `solve` lowers until nothing changes.

mod bounds;
mod lines;
mod threads;

pub use bounds::Bounds;
pub use threads::{Column, Thread};

use super::butterfly::Bits;
use super::extent::{Agreement, Extent};
use super::shape::Shape;
use super::symbols::{Leaf, Node, Operator, Symbol, Symbols};
use crate::graph::{Axis, Source};
use rustc_hash::FxHashMap;
use std::cell::RefCell;

pub struct Facts<'a> {
    pub symbols: &'a Symbols,
    pub shape: &'a Shape,
    /// Agreement of the leaves the graph knows; what is missing agrees everywhere.
    pub leaves: &'a FxHashMap<Symbol, Agreement>,
    /// Only threads of one lane number are compared, those of different warps.
    pub same_lanes: bool,
    memo: RefCell<FxHashMap<Symbol, Agreement>>,
    /// By value, bits of a lane's number that make no difference to it.
    pub(super) blind: RefCell<FxHashMap<Symbol, Bits>>,
}

impl<'a> Facts<'a> {
    pub fn new(symbols: &'a Symbols, shape: &'a Shape, leaves: &'a FxHashMap<Symbol, Agreement>) -> Facts<'a> {
        Facts { symbols, shape, leaves, same_lanes: false, memo: RefCell::default(), blind: RefCell::default() }
    }

    pub fn agreement(&self, symbol: Symbol) -> Agreement {
        if let Some(found) = self.memo.borrow().get(&symbol) {
            return *found;
        }
        let result = self.widen(self.work_out(symbol));
        self.memo.borrow_mut().insert(symbol, result);
        result
    }

    /// A run of threads as long as the block is the block.
    fn widen(&self, agreement: Agreement) -> Agreement {
        let most = self.shape.most_threads();
        let wide = |extent: Extent| {
            if extent.threads().is_some_and(|threads| threads >= most) { extent.max(Extent::BLOCK) } else { extent }
        };
        Agreement { shown: wide(agreement.shown), hoped: wide(agreement.hoped), ordered: wide(agreement.ordered) }
    }

    fn work_out(&self, symbol: Symbol) -> Agreement {
        let node = self.symbols.node(symbol);
        match node {
            Node::Int(_) | Node::Address(_) => return Agreement::GRID,
            Node::Leaf(Leaf::Source(_)) if self.same_lanes => return self.by_lane(symbol),
            Node::Leaf(leaf) => return self.leaf(symbol, leaf),
            // A choice between a value and itself.
            Node::Select(..) if let Some(known) = self.leaves.get(&symbol) => return *known,
            _ => {}
        }
        let plain = self
            .symbols
            .children(symbol)
            .into_iter()
            .map(|child| self.agreement(child))
            .fold(Agreement::GRID, Agreement::meet);
        if plain.shown >= Extent::BLOCK {
            return self.over_clusters(node, plain);
        }
        if self.same_lanes {
            return plain.at_least(self.by_lane(symbol).shown);
        }
        if let Some(exact) = self.by_enumeration(symbol) {
            return plain.at_least(exact);
        }
        let plain = plain.at_least(self.across_lanes(symbol));
        match node {
            Node::Binary(Operator::Negative, difference, _) => match self.sign(*difference) {
                Some(_) => Agreement::GRID,
                None => self.within_one_step(*difference, 0, self.boundary(*difference, plain)),
            },
            Node::Binary(Operator::Zero, difference, _) if self.differs_from_zero(*difference) => Agreement::GRID,
            Node::Binary(Operator::Div, value, by) => self.quotient(*value, *by, plain),
            Node::Sum { terms, .. } => self.less_own_part(terms, plain),
            Node::Binary(Operator::And, a, b) | Node::Binary(Operator::Or, a, b) => self.lazily(node, *a, *b, plain),
            _ => plain,
        }
    }

    /// How far threads of one lane number agree on what the thread index tells.
    fn by_lane(&self, symbol: Symbol) -> Agreement {
        if let Node::Leaf(Leaf::Source(Source::Lane | Source::LaneMask(_))) = self.symbols.node(symbol) {
            return Agreement::GRID;
        }
        let by_column = |column: &[i64]| {
            let repeats = column.iter().skip(32).zip(column).all(|(value, before)| value == before);
            if repeats { Agreement::GRID } else { Agreement::THREAD }
        };
        if let Some(column) = self.per_thread(symbol) {
            return by_column(&column);
        }
        match self.symbols.node(symbol) {
            // `threadIdx.x % 32 - n`: what the thread index makes of it, taken together, and the rest.
            Node::Sum { terms, .. } => {
                let (mut sum, mut rest) = (vec![0i64; self.shape.most_threads() as usize], Agreement::GRID);
                for (term, factor) in terms.iter() {
                    match self.per_thread(*term) {
                        Some(column) => {
                            let add = |(into, value): (&mut i64, &i64)| {
                                *into = into.wrapping_add(value.wrapping_mul(*factor))
                            };
                            sum.iter_mut().zip(&column).for_each(add);
                        }
                        None => rest = rest.meet(self.agreement(*term)),
                    }
                }
                rest.meet(by_column(&sum))
            }
            Node::Leaf(Leaf::Source(source)) => match self.source(source) {
                known if known.shown >= Extent::BLOCK => known,
                _ => Agreement::THREAD,
            },
            _ => Agreement::THREAD,
        }
    }

    /// `a && b` where one side is settled by itself.
    fn lazily(&self, node: &Node, a: Symbol, b: Symbol, plain: Agreement) -> Agreement {
        let settles = matches!(node, Node::Binary(Operator::Or, ..));
        match (self.decide(a), self.decide(b)) {
            (Some(value), _) | (_, Some(value)) if value == settles => Agreement::GRID,
            (Some(_), _) => self.agreement(b),
            (_, Some(_)) => self.agreement(a),
            _ => plain,
        }
    }

    pub(super) fn leaf(&self, symbol: Symbol, leaf: &Leaf) -> Agreement {
        match leaf {
            Leaf::Source(source) => self.source(source),
            Leaf::Iteration(_) | Leaf::Unset(_) => Agreement::GRID,
            Leaf::ActiveMask(_) if self.same_lanes => Agreement::THREAD,
            Leaf::ActiveMask(_) => Agreement::of(Extent::WARP),
            Leaf::Opaque(inner) => {
                inner.iter().map(|each| self.agreement(*each)).fold(Agreement::GRID, Agreement::meet)
            }
            _ => self.leaves.get(&symbol).copied().unwrap_or(Agreement::GRID),
        }
    }

    fn source(&self, source: &Source) -> Agreement {
        match source {
            Source::ThreadIdx(axis) => self.thread_index(*axis),
            Source::ThreadRank | Source::Lane | Source::LaneMask(_) | Source::Varying(_) => Agreement::THREAD,
            Source::Warp | Source::ActiveMask => Agreement::of(Extent::WARP),
            Source::BlockIdx(axis) => match self.shape.cluster {
                Some(extents) if extents[*axis as usize] == 1 => Agreement::of(Extent::CLUSTER),
                // A cluster of unknown shape is taken to lie along x, as a block is.
                None if *axis != Axis::X => Agreement::of(Extent::CLUSTER),
                _ => Agreement::of(Extent::BLOCK),
            },
            Source::BlockRank | Source::BlockInCluster => Agreement::of(Extent::BLOCK),
            Source::ClusterIndex => Agreement::of(Extent::CLUSTER),
            Source::BlockDim(_)
            | Source::BlockSize
            | Source::GridDim(_)
            | Source::Launch(_)
            | Source::Param { .. }
            | Source::Named(_)
            | Source::Open { .. } => Agreement::GRID,
        }
    }

    /// `threadIdx.y` is the same along a row, and a row may be whole warps.
    fn thread_index(&self, axis: Axis) -> Agreement {
        let before: Option<u32> = match axis {
            Axis::X => Some(1),
            Axis::Y => self.shape.extent(Axis::X),
            Axis::Z => self.shape.extent(Axis::X).zip(self.shape.extent(Axis::Y)).map(|(x, y)| x.saturating_mul(y)),
        };
        match before {
            Some(run) => Agreement::of(Extent::of_size(run)),
            None => Agreement { shown: Extent::THREAD, hoped: Extent::WARP, ordered: Extent::THREAD },
        }
    }

    /// `blockIdx.x / 4` is the same in a cluster of four blocks along x, and so is the same of their rank in the grid, whose
    /// rows are whole clusters.
    fn over_clusters(&self, node: &Node, plain: Agreement) -> Agreement {
        if plain.shown == Extent::BLOCK
            && let Node::Binary(Operator::Div, value, by) = node
            && let Node::Leaf(Leaf::Source(source)) = self.symbols.node(*value)
            && self.is_of_clusters(source, *by)
        {
            return Agreement::of(Extent::CLUSTER);
        }
        plain
    }

    /// So many blocks in a row are whole clusters.
    fn is_of_clusters(&self, counted: &Source, blocks: Symbol) -> bool {
        match (self.shape.cluster, self.symbols.as_int(blocks), self.symbols.node(blocks)) {
            (Some(extents), Some(blocks), _) if blocks > 0 => {
                let run = match counted {
                    Source::BlockIdx(axis) => extents[*axis as usize],
                    Source::BlockRank if extents[1..] == [1, 1] => extents[0],
                    _ => return false,
                };
                blocks % i64::from(run.max(1)) == 0
            }
            // A cluster of unknown shape is taken to lie along x.
            (None, None, Node::Leaf(Leaf::Source(Source::Launch(name)))) => {
                let is_line = matches!(counted, Source::BlockIdx(Axis::X) | Source::BlockRank);
                is_line && matches!(&**name, "cluster.num_blocks" | "cluster.dim_blocks.x")
            }
            _ => false,
        }
    }

    /// Where all threads have the same `key`, they have the same `symbol`: it is made of the key and of what a
    /// group agrees on.
    pub fn follows_from(&self, symbol: Symbol, key: Symbol, group: Extent) -> bool {
        let mut work = vec![symbol];
        while let Some(at) = work.pop() {
            if at == key || self.agreement(at).shown >= group {
                continue;
            }
            match self.symbols.node(at) {
                Node::Leaf(_) => return false,
                Node::Binary(Operator::Zero | Operator::Negative, difference, _)
                    if self.is_shifted(*difference, key, group) => {}
                _ if self.is_shifted(at, key, group) => {}
                _ => work.extend(self.symbols.children(at)),
            }
        }
        true
    }

    /// `symbol` is a multiple of the key plus what a group agrees on.
    fn is_shifted(&self, symbol: Symbol, key: Symbol, group: Extent) -> bool {
        let (mut terms, _) = self.symbols.terms(symbol);
        let (of_key, _) = self.symbols.terms(key);
        let Some((first, by)) = of_key.first() else { return false };
        let Some((_, factor)) = terms.iter().find(|(term, _)| term == first) else { return false };
        if factor % by != 0 {
            return false;
        }
        let times = factor / by;
        for (term, factor) in &of_key {
            match terms.iter().position(|(have, by)| have == term && *by == factor.saturating_mul(times)) {
                Some(at) => {
                    terms.remove(at);
                }
                None => return false,
            }
        }
        terms.iter().all(|(term, _)| self.agreement(*term).shown >= group)
    }
}

impl Agreement {
    /// Raised to `run`, but no further than `rest` reaches.
    fn at_least_in(self, run: Agreement, rest: Agreement) -> Agreement {
        self.or(run.meet(rest))
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
