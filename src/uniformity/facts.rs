//! What follows from an expression alone: bounds, divisors, values thread by thread, and from these its agreement.
//!
//! The agreement of a leaf that only the whole graph knows (what a variable holds at a join, what a load yields)
//! is looked up in a table that `solve` lowers until nothing changes.

use super::extent::{Agreement, Extent};
use super::shape::Shape;
use super::symbols::{Leaf, Node, Operator, Symbol, Symbols, narrowed};
use crate::graph::{Axis, Source, To};
use rustc_hash::FxHashMap;
use std::cell::{Cell, RefCell};

/// Bounds of an integer, both inclusive; beyond `FAR` means unbounded.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Bounds {
    pub low: i64,
    pub high: i64,
}

const FAR: i64 = 1 << 60;

impl Bounds {
    const ANY: Bounds = Bounds { low: -FAR, high: FAR };

    pub fn is_finite(self) -> bool {
        self.low > -FAR && self.high < FAR
    }

    fn new(low: i64, high: i64) -> Bounds {
        Bounds { low: low.clamp(-FAR, FAR), high: high.clamp(-FAR, FAR) }
    }

    fn add(self, other: Bounds) -> Bounds {
        let low = if self.low <= -FAR || other.low <= -FAR { -FAR } else { self.low.saturating_add(other.low) };
        let high = if self.high >= FAR || other.high >= FAR { FAR } else { self.high.saturating_add(other.high) };
        Bounds::new(low, high)
    }

    fn scale(self, by: i64) -> Bounds {
        let times =
            |value: i64| if value.abs() >= FAR { FAR * value.signum() * by.signum() } else { value.saturating_mul(by) };
        let (a, b) = (times(self.low), times(self.high));
        Bounds::new(a.min(b), a.max(b))
    }
}

pub struct Facts<'a> {
    pub symbols: &'a Symbols,
    pub shape: &'a Shape,
    /// Agreement of the leaves the graph knows; what is missing agrees everywhere.
    pub leaves: &'a FxHashMap<Symbol, Agreement>,
    memo: RefCell<FxHashMap<Symbol, Agreement>>,
}

impl<'a> Facts<'a> {
    pub fn new(symbols: &'a Symbols, shape: &'a Shape, leaves: &'a FxHashMap<Symbol, Agreement>) -> Facts<'a> {
        Facts { symbols, shape, leaves, memo: RefCell::default() }
    }

    // ---------------------------------------------------------------- agreement

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
            Node::Leaf(leaf) => return self.leaf(symbol, leaf),
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
        if let Some(exact) = self.by_enumeration(symbol) {
            return plain.at_least(exact);
        }
        match node {
            Node::Binary(Operator::Negative, difference, _) => match self.sign(*difference) {
                Some(_) => Agreement::GRID,
                None => self.within_one_step(*difference, 0, self.boundary(*difference, plain)),
            },
            Node::Binary(Operator::Zero, difference, _) if self.differs_from_zero(*difference) => Agreement::GRID,
            Node::Binary(Operator::Div, value, by) => self.quotient(*value, *by, plain),
            Node::Binary(Operator::And, a, b) | Node::Binary(Operator::Or, a, b) => self.lazily(node, *a, *b, plain),
            _ => plain,
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

    fn leaf(&self, symbol: Symbol, leaf: &Leaf) -> Agreement {
        match leaf {
            Leaf::Source(source) => self.source(source),
            Leaf::Iteration(_) | Leaf::Unset(_) => Agreement::GRID,
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
            | Source::Named(_) => Agreement::GRID,
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

    /// `blockIdx.x / 4` is the same in a cluster of four blocks along x.
    fn over_clusters(&self, node: &Node, plain: Agreement) -> Agreement {
        if plain.shown == Extent::BLOCK
            && let Node::Binary(Operator::Div, value, by) = node
            && let (Some(extents), Some(by)) = (self.shape.cluster, self.symbols.as_int(*by))
            && let Node::Leaf(Leaf::Source(Source::BlockIdx(axis))) = self.symbols.node(*value)
            && by > 0
            && by % i64::from(extents[*axis as usize]) == 0
        {
            return Agreement::of(Extent::CLUSTER);
        }
        plain
    }

    /// `value / by` for a thread index plus what agrees: constant over aligned runs of threads.
    fn quotient(&self, value: Symbol, by: Symbol, plain: Agreement) -> Agreement {
        let plain = match self.symbols.as_int(by) {
            Some(by) if by > 1 => self.within_one_step(value, by, plain),
            _ => plain,
        };
        let Some(line) = self.line(value) else { return plain };
        let rest = self.of_rest(&line);
        // So may a constant out of view be one of whole warps.
        let plain = match self.holds_named(&[(by, 1)]) {
            true => Agreement { hoped: plain.hoped.max(rest.hoped.min(Extent::WARP)), ..plain },
            false => plain,
        };
        if let Some(by) = self.symbols.as_int(by) {
            let run = self.run_of(&line, |run| by % (line.factor.abs().saturating_mul(run)) == 0);
            return plain.at_least_in(line.certain(run), rest);
        }
        // (blockIdx.x * blockDim.x + threadIdx.x) / blockDim.x
        if line.factor == 1
            && self.symbols.as_int(by).is_none()
            && self.covers(&line, by)
            && self.multiple_of_symbol(&line.rest, line.constant, by, 1)
        {
            return plain.at_least_in(line.certain(Extent::BLOCK), rest);
        }
        plain
    }

    /// `difference < 0` changes its answer once along the threads: at a multiple of a run if the rest is one.
    fn boundary(&self, difference: Symbol, plain: Agreement) -> Agreement {
        let Some(line) = self.line(difference).or_else(|| self.line_below_quotient(difference)) else { return plain };
        let rest = self.of_rest(&line);
        let run = self.run_of(&line, |_| true);
        let mut best = plain.at_least_in(line.certain(run), rest);
        if best.shown < Extent::BLOCK
            && let Some(extent) = self.extent_symbol(&line)
            && self.multiple_of_symbol(&line.rest, line.constant + line.shift(), extent, line.factor.abs())
        {
            best = plain.at_least_in(line.certain(Extent::BLOCK), rest);
        }
        best
    }

    /// `index + step * rest < 0`, and `(index + step * rest) / by` where the step divides `by`, are the same for all
    /// indices that lie within one step. Of a comparison `by` is 0.
    fn within_one_step(&self, value: Symbol, by: i64, known: Agreement) -> Agreement {
        let (terms, constant) = self.symbols.terms(value);
        let mut best = known;
        for group in [Extent::BLOCK, Extent::WARP].into_iter().filter(|group| *group > known.shown) {
            let (rest, differing): (Vec<_>, Vec<_>) =
                terms.iter().copied().partition(|(term, _)| self.agreement(*term).shown >= group);
            let step = gcd(self.divisor_of(&rest), by.unsigned_abs());
            let (Ok(step), range) = (i64::try_from(step), self.sum_bounds(&differing, constant)) else { continue };
            let (is_named, of_rest) = (self.holds_named(&rest), self.of_terms(&rest));
            // A constant out of view may well be a multiple of the block.
            if is_named && by == 0 && !differing.is_empty() {
                best.hoped = best.hoped.max(of_rest.hoped);
            }
            if step > 1 && range.is_finite() && range.low.div_euclid(step) == range.high.div_euclid(step) {
                best = best.at_least_in(of_rest, of_rest);
            }
        }
        best
    }

    fn holds_named(&self, terms: &[(Symbol, i64)]) -> bool {
        let is_named = |leaf: Symbol| matches!(self.symbols.node(leaf), Node::Leaf(Leaf::Source(Source::Named(_))));
        terms.iter().any(|(term, _)| self.symbols.leaves(*term).into_iter().any(is_named))
    }

    /// `value / by + rest < 0` is `value + by * rest < 0`, and `rest - value / by < 0` is `by * (rest + 1) - value - 1 < 0`,
    /// since division rounds down here.
    fn line_below_quotient(&self, difference: Symbol) -> Option<Line> {
        let (terms, constant) = self.symbols.terms(difference);
        let has_index = |symbol: Symbol| self.symbols.leaves(symbol).into_iter().any(|leaf| self.index(leaf).is_some());
        let mut of_threads = terms.iter().filter(|(term, _)| has_index(*term));
        let (&(quotient, sign), None) = (of_threads.next()?, of_threads.next()) else { return None };
        let Node::Binary(Operator::Div, value, by) = *self.symbols.node(quotient) else { return None };
        let by = self.symbols.as_int(by).filter(|by| *by > 0 && sign.abs() == 1)?;
        let mut line = self.line(value)?;
        let scale = |number: i64| number.checked_mul(sign);
        line.factor = scale(line.factor)?;
        line.constant = scale(line.constant)?;
        for term in &mut line.rest {
            term.1 = scale(term.1)?;
        }
        for (term, factor) in terms.iter().filter(|(term, _)| *term != quotient) {
            line.rest.push((*term, factor.checked_mul(by)?));
        }
        let below = if sign < 0 { by - 1 } else { 0 };
        line.constant = constant.checked_mul(by)?.checked_add(line.constant)?.checked_add(below)?;
        Some(line)
    }

    /// The longest aligned run of threads, of those that `fit`, at whose ends alone the line passes a multiple of what
    /// divides the rest.
    fn run_of(&self, line: &Line, fits: impl Fn(i64) -> bool) -> Extent {
        let divisor = gcd(self.divisor_of(&line.rest), (line.constant + line.shift()).unsigned_abs());
        let mut best = Extent::THREAD;
        for power in 1..=u32::from(Extent::LARGEST_TILE) {
            let run = 1i64 << power;
            if run > line.period {
                break;
            }
            let aligned = divisor == 0 || divisor.is_multiple_of(line.factor.unsigned_abs().saturating_mul(run as u64));
            if aligned && fits(run) {
                best = Extent::tile(power);
            }
        }
        if let Some(threads) = best.threads()
            && threads >= self.shape.most_threads()
            && line.whole
        {
            best = Extent::BLOCK;
        }
        best
    }

    fn of_rest(&self, line: &Line) -> Agreement {
        self.of_terms(&line.rest)
    }

    fn of_terms(&self, terms: &[(Symbol, i64)]) -> Agreement {
        terms.iter().map(|term| self.agreement(term.0)).fold(Agreement::GRID, Agreement::meet)
    }

    /// A sum that is a thread index times a factor, plus a rest without one.
    fn line(&self, value: Symbol) -> Option<Line> {
        let (terms, constant) = self.symbols.terms(value);
        let mut line = Line { factor: 0, rest: Vec::new(), constant, period: 1, whole: true, hoped: false, axis: None };
        let mut indices: Vec<(Index, i64)> = Vec::new();
        for (term, factor) in terms {
            match self.index(term) {
                Some(index) => indices.push((index, factor)),
                None => line.rest.push((term, factor)),
            }
        }
        indices.sort();
        let [(first, factor), others @ ..] = indices.as_slice() else { return None };
        line.factor = *factor;
        let limit = i64::from(super::shape::MAX_THREADS);
        match (first, others, self.shape.block) {
            (Index::Rank, [], _) => line.period = limit,
            (Index::Lane, [], _) => {
                line.period = 32;
                line.whole = false;
            }
            (Index::X, [], _) if self.shape.is_line() => {
                line.period = limit;
                line.axis = Some(Axis::X);
            }
            // Rows of a known extent: a run of threads may not cross them unless it divides them.
            (Index::X, [], Some([x, ..])) => {
                line.period = 1i64 << x.trailing_zeros();
                line.whole = false;
                line.axis = Some(Axis::X);
            }
            (Index::X, [], None) if let Some(x) = self.shape.extent(Axis::X) => {
                line.period = 1i64 << x.trailing_zeros();
                line.whole = false;
                line.axis = Some(Axis::X);
            }
            (Index::X, [], None) => {
                line.period = 32;
                line.whole = false;
                line.hoped = true;
                line.axis = Some(Axis::X);
            }
            (Index::Y, [], _) => line.axis = Some(Axis::Y),
            (Index::Z, [], _) => line.axis = Some(Axis::Z),
            (Index::X, [(Index::Y, row)], None)
                if self.shape.extent(Axis::X).is_some_and(|x| *row == factor * i64::from(x))
                    && self.shape.extent(Axis::Z) == Some(1) =>
            {
                line.period = limit
            }
            (Index::X, [(Index::Y, row)], Some([x, _, z])) if *row == factor * i64::from(x) && z == 1 => {
                line.period = limit
            }
            (Index::X, [(Index::Y, row), (Index::Z, plane)], Some([x, y, _]))
                if *row == factor * i64::from(x) && *plane == row * i64::from(y) =>
            {
                line.period = limit;
            }
            _ => return None,
        }
        Some(line)
    }

    fn index(&self, term: Symbol) -> Option<Index> {
        match self.symbols.node(term) {
            Node::Leaf(Leaf::Source(source)) => match source {
                Source::ThreadIdx(Axis::X) => Some(Index::X),
                Source::ThreadIdx(Axis::Y) => Some(Index::Y),
                Source::ThreadIdx(Axis::Z) => Some(Index::Z),
                Source::ThreadRank => Some(Index::Rank),
                Source::Lane => Some(Index::Lane),
                _ => None,
            },
            _ => None,
        }
    }

    /// The symbol that bounds a line's index from above: the block's extent along its axis.
    fn extent_symbol(&self, line: &Line) -> Option<Symbol> {
        let axis = line.axis?;
        (0..self.symbols.len()).find_map(|index| {
            let symbol = Symbols::at(index);
            matches!(self.symbols.node(symbol), Node::Leaf(Leaf::Source(Source::BlockDim(found))) if *found == axis)
                .then_some(symbol)
        })
    }

    fn covers(&self, line: &Line, by: Symbol) -> bool {
        self.extent_symbol(line) == Some(by)
    }

    /// Every term is a multiple of `factor * symbol`.
    fn multiple_of_symbol(&self, terms: &[(Symbol, i64)], constant: i64, symbol: Symbol, factor: i64) -> bool {
        constant == 0 && terms.iter().all(|(term, by)| by % factor == 0 && self.holds_factor(*term, symbol))
    }

    /// The value is a multiple of `symbol`, whichever way a choice in it goes.
    fn holds_factor(&self, value: Symbol, symbol: Symbol) -> bool {
        let mut work = vec![value];
        while let Some(at) = work.pop() {
            match self.symbols.node(at) {
                _ if self.symbols.factors(at).contains(&symbol) || at == Symbols::ZERO => {}
                Node::Select(_, yes, no) => work.extend([*yes, *no]),
                Node::Sum { terms, constant: 0 } => work.extend(terms.iter().map(|term| term.0)),
                _ => return false,
            }
        }
        true
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

    // ---------------------------------------------------------------- divisors

    /// A number that divides the sum of the terms; 0 for no terms.
    fn divisor_of(&self, terms: &[(Symbol, i64)]) -> u64 {
        terms.iter().map(|(term, factor)| self.divisor(*term).saturating_mul(factor.unsigned_abs())).fold(0, gcd)
    }

    /// A number that divides the value, whatever it is.
    pub fn divisor(&self, symbol: Symbol) -> u64 {
        if let Some(found) = self.symbols.known.borrow().divisors.get(&symbol) {
            return *found;
        }
        let found = self.work_out_divisor(symbol);
        self.symbols.known.borrow_mut().divisors.insert(symbol, found);
        found
    }

    fn work_out_divisor(&self, symbol: Symbol) -> u64 {
        match self.symbols.node(symbol) {
            Node::Int(value) => value.unsigned_abs(),
            Node::Sum { terms, constant } => gcd(self.divisor_of(terms), constant.unsigned_abs()),
            Node::Product(factors) => factors
                .iter()
                .map(|factor| self.divisor(*factor))
                .fold(1, |all: u64, each| all.saturating_mul(each).min(1 << 40)),
            Node::Leaf(Leaf::Source(Source::BlockDim(Axis::X))) if !self.shape.multidimensional => 32,
            Node::Binary(Operator::Min | Operator::Max, a, b) | Node::Select(_, a, b) => {
                gcd(self.divisor(*a), self.divisor(*b))
            }
            _ => 1,
        }
    }

    // ---------------------------------------------------------------- bounds

    pub fn bounds(&self, symbol: Symbol) -> Bounds {
        if let Some(found) = self.symbols.known.borrow().bounds.get(&symbol) {
            return *found;
        }
        let found = self.work_out_bounds(symbol);
        self.symbols.known.borrow_mut().bounds.insert(symbol, found);
        found
    }

    fn work_out_bounds(&self, symbol: Symbol) -> Bounds {
        match self.symbols.node(symbol) {
            Node::Int(value) => Bounds::new(*value, *value),
            Node::Leaf(leaf) => self.leaf_bounds(leaf),
            Node::Sum { terms, constant } => self.sum_bounds(terms, *constant),
            Node::Binary(Operator::And | Operator::Or | Operator::Negative | Operator::Zero, ..)
            | Node::Not(_)
            | Node::Convert(To::Bool, _) => Bounds::new(0, 1),
            Node::Binary(Operator::Min, a, b) => {
                let (a, b) = (self.bounds(*a), self.bounds(*b));
                Bounds::new(a.low.min(b.low), a.high.min(b.high))
            }
            Node::Binary(Operator::Max, a, b) => {
                let (a, b) = (self.bounds(*a), self.bounds(*b));
                Bounds::new(a.low.max(b.low), a.high.max(b.high))
            }
            Node::Select(_, a, b) => {
                let (a, b) = (self.bounds(*a), self.bounds(*b));
                Bounds::new(a.low.min(b.low), a.high.max(b.high))
            }
            Node::Binary(Operator::Div, a, b) => match (self.bounds(*a), self.symbols.as_int(*b)) {
                (bounds, Some(by)) if by > 0 => {
                    let part = |value: i64| if value.abs() >= FAR { value } else { value.div_euclid(by) };
                    Bounds::new(part(bounds.low), part(bounds.high))
                }
                (bounds, _) if bounds.low >= 0 => Bounds::new(0, bounds.high),
                _ => Bounds::ANY,
            },
            Node::Product(factors) => {
                let all: Vec<Bounds> = factors.iter().map(|factor| self.bounds(*factor)).collect();
                if all.iter().all(|bounds| bounds.low >= 0) {
                    let low = all.iter().fold(1i64, |total, bounds| total.saturating_mul(bounds.low));
                    let high =
                        all.iter().fold(
                            1i64,
                            |total, bounds| if bounds.high >= FAR { FAR } else { total.saturating_mul(bounds.high) },
                        );
                    Bounds::new(low, high)
                } else {
                    Bounds::ANY
                }
            }
            // What fits into the narrower type is not changed by it.
            Node::Convert(To::Int { bits: bits @ 8..=32, signed }, inner) => {
                let inner = self.bounds(*inner);
                let kept = |value: i64| value.abs() < FAR && narrowed(value, *bits, *signed) == value;
                if kept(inner.low) && kept(inner.high) { inner } else { Bounds::ANY }
            }
            // A shift by less than nothing has no meaning.
            Node::Binary(Operator::Shl, one, by) if self.symbols.as_int(*one) == Some(1) => {
                let by = self.bounds(*by);
                if by.high < 63 { Bounds::new(1 << by.low.clamp(0, 62), 1 << by.high.max(0)) } else { Bounds::ANY }
            }
            Node::Binary(Operator::BitAnd, a, b) => match (self.symbols.as_int(*a), self.symbols.as_int(*b)) {
                (Some(mask), _) | (_, Some(mask)) if mask >= 0 => Bounds::new(0, mask),
                _ => Bounds::ANY,
            },
            _ => Bounds::ANY,
        }
    }

    fn leaf_bounds(&self, leaf: &Leaf) -> Bounds {
        let most = i64::from(self.shape.most_threads());
        match leaf {
            Leaf::Source(Source::ThreadIdx(axis)) => {
                let limit = if *axis == Axis::Z { 64 } else { most };
                Bounds::new(0, self.shape.extent(*axis).map_or(limit, i64::from).min(most) - 1)
            }
            Leaf::Source(Source::ThreadRank) => Bounds::new(0, most - 1),
            Leaf::Source(Source::Lane) => Bounds::new(0, 31),
            Leaf::Source(Source::Warp) => Bounds::new(0, 31),
            Leaf::Source(Source::BlockDim(_) | Source::BlockSize) => Bounds::new(1, most),
            Leaf::Source(Source::GridDim(_)) => Bounds::new(1, i64::from(i32::MAX)),
            Leaf::Source(Source::BlockInCluster) if self.shape.cluster.is_some() => {
                let blocks =
                    self.shape.cluster.map_or(1, |extents| extents.iter().map(|each| i64::from(*each)).product());
                Bounds::new(0, blocks - 1)
            }
            Leaf::Source(Source::BlockIdx(_) | Source::BlockRank | Source::BlockInCluster | Source::ClusterIndex) => {
                Bounds::new(0, i64::from(i32::MAX) - 1)
            }
            Leaf::Iteration(_) => Bounds::new(0, FAR),
            _ => Bounds::ANY,
        }
    }

    /// Of a sum, in which a term may stand several times.
    pub fn bounds_of_sum(&self, terms: Vec<(Symbol, i64)>, constant: i64) -> Bounds {
        let mut total: FxHashMap<Symbol, i64> = FxHashMap::default();
        for (term, factor) in terms {
            *total.entry(term).or_default() += factor;
        }
        let mut terms: Vec<(Symbol, i64)> = total.into_iter().filter(|(_, factor)| *factor != 0).collect();
        terms.sort();
        self.sum_bounds(&terms, constant)
    }

    fn sum_bounds(&self, terms: &[(Symbol, i64)], constant: i64) -> Bounds {
        let mut left: Vec<(Symbol, i64)> = terms.to_vec();
        let mut total = Bounds::new(constant, constant);
        // a * (x - c * (x / c)) lies in a * [0, c - 1]: division rounds down here.
        let quotients: Vec<(Symbol, i64)> = left
            .iter()
            .copied()
            .filter(|(term, _)| matches!(self.symbols.node(*term), Node::Binary(Operator::Div, ..)))
            .collect();
        // With q for x / c, x / (c * d) is q / d: a * (q - d * (q / d)) likewise.
        let parts = |term: Symbol| match *self.symbols.node(term) {
            Node::Binary(Operator::Div, value, by) => Some((value, self.symbols.as_int(by).filter(|by| *by > 0)?)),
            _ => None,
        };
        for (coarse, factor) in &quotients {
            let fine = quotients.iter().find(|(fine, times)| match (parts(*coarse), parts(*fine)) {
                (Some((x, by)), Some((same, c))) if x == same && by > c && by % c == 0 => {
                    *factor == times.saturating_mul(-(by / c)) && left.contains(&(*fine, *times))
                }
                _ => false,
            });
            if let Some((fine, times)) = fine
                && let (Some((_, by)), Some((_, c))) = (parts(*coarse), parts(*fine))
            {
                left.retain(|(have, _)| have != coarse && have != fine);
                total = total.add(Bounds::new(0, by / c - 1).scale(*times));
            }
        }
        for (term, factor) in quotients.iter().copied() {
            if !left.contains(&(term, factor)) {
                continue;
            }
            let Node::Binary(Operator::Div, value, by) = *self.symbols.node(term) else { continue };
            let Some(by) = self.symbols.as_int(by).filter(|by| *by > 0 && factor % *by == 0) else { continue };
            let times = -factor / by;
            let (inner, inner_constant) = self.symbols.terms(value);
            let held = inner
                .iter()
                .all(|(each, f)| left.iter().any(|(have, g)| have == each && *g == f.saturating_mul(times)));
            if times == 0 || !held || inner.is_empty() {
                continue;
            }
            left.retain(|(have, _)| *have != term && !inner.iter().any(|(each, _)| each == have));
            total =
                total.add(Bounds::new(-inner_constant.saturating_mul(times), -inner_constant.saturating_mul(times)));
            total = total.add(Bounds::new(0, by - 1).scale(times));
        }
        // x / c - y / c is bound by x - y.
        for (first, factor) in quotients.iter().filter(|(_, factor)| *factor > 0) {
            let Some((x, by)) = parts(*first) else { continue };
            let other = quotients.iter().find(|(term, less)| {
                *less == -factor && parts(*term).is_some_and(|(_, c)| c == by) && left.contains(&(*term, *less))
            });
            if let Some((other, less)) = other
                && let Some((y, _)) = parts(*other)
                && left.contains(&(*first, *factor))
            {
                left.retain(|term| *term != (*first, *factor) && *term != (*other, *less));
                total = total.add(self.between_quotients(x, y, by).scale(*factor));
            }
        }
        // threadIdx.x - blockDim.x is negative, and so for blockIdx and gridDim.
        for (below, above) in PAIRS {
            let of = |left: &[(Symbol, i64)], wanted: &Source| {
                left.iter().copied().find(
                    |(term, _)| matches!(self.symbols.node(*term), Node::Leaf(Leaf::Source(found)) if found == wanted),
                )
            };
            if let (Some((index, a)), Some((extent, b))) = (of(&left, below), of(&left, above))
                && a == -b
            {
                let lowest = self.bounds(extent).high;
                total = total.add(Bounds::new(-lowest, -1).scale(a));
                left.retain(|(term, _)| *term != index && *term != extent);
            }
        }
        left.into_iter().fold(total, |total, (term, factor)| total.add(self.bounds(term).scale(factor)))
    }

    /// `x / by - y / by`
    fn between_quotients(&self, x: Symbol, y: Symbol, by: i64) -> Bounds {
        let quotient = |value: Symbol| {
            let bounds = self.bounds(value);
            let part = |value: i64| if value.abs() >= FAR { value } else { value.div_euclid(by) };
            Bounds::new(part(bounds.low), part(bounds.high))
        };
        let apart = quotient(x).add(quotient(y).scale(-1));
        let (mut terms, constant) = self.symbols.terms(x);
        let (less, other) = self.symbols.terms(y);
        terms.extend(less.into_iter().map(|(term, factor)| (term, factor.wrapping_neg())));
        let difference = self.bounds_of_sum(terms, constant.wrapping_sub(other));
        let exact = |value: Symbol| self.divisor(value).is_multiple_of(by.unsigned_abs());
        let down = |value: i64| if value.abs() >= FAR { value } else { value.div_euclid(by) };
        let up = |value: i64| if value.abs() >= FAR { value } else { -(-value).div_euclid(by) };
        let high = if exact(y) { down(difference.high) } else { up(difference.high) };
        let low = if exact(x) { up(difference.low) } else { down(difference.low) };
        Bounds::new(apart.low.max(low), apart.high.min(high))
    }

    /// Whether the value is always negative (`Some(true)`) or never.
    fn sign(&self, symbol: Symbol) -> Option<bool> {
        let bounds = self.bounds(symbol);
        if bounds.high < 0 {
            Some(true)
        } else if bounds.low >= 0 {
            Some(false)
        } else {
            None
        }
    }

    pub fn differs_from_zero(&self, symbol: Symbol) -> bool {
        let bounds = self.bounds(symbol);
        bounds.high < 0 || bounds.low > 0
    }

    /// A condition that holds for every thread, or for none.
    pub fn decide(&self, symbol: Symbol) -> Option<bool> {
        if let Some(found) = self.symbols.known.borrow().decisions.get(&symbol) {
            return *found;
        }
        let found = self.work_out_decision(symbol);
        self.symbols.known.borrow_mut().decisions.insert(symbol, found);
        found
    }

    fn work_out_decision(&self, symbol: Symbol) -> Option<bool> {
        let settled = match self.symbols.node(symbol) {
            Node::Int(value) => Some(*value != 0),
            Node::Binary(Operator::Negative, difference, _) => self.sign(*difference),
            Node::Binary(Operator::Zero, difference, _) => self.differs_from_zero(*difference).then_some(false),
            Node::Not(inner) => self.decide(*inner).map(|value| !value),
            Node::Convert(To::Bool, inner) => self.decide(*inner),
            Node::Binary(Operator::And, a, b) => match (self.decide(*a), self.decide(*b)) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            },
            Node::Binary(Operator::Or, a, b) => match (self.decide(*a), self.decide(*b)) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            },
            _ => None,
        };
        settled.or_else(|| {
            let values = self.per_thread(symbol)?;
            let first = *values.first()? != 0;
            values.iter().all(|value| (*value != 0) == first).then_some(first)
        })
    }

    // ---------------------------------------------------------------- thread by thread

    /// The largest group over which an expression of thread indices and constants agrees, thread by thread.
    fn by_enumeration(&self, symbol: Symbol) -> Option<Extent> {
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

const PAIRS: [(&Source, &Source); 6] = [
    (&Source::ThreadIdx(Axis::X), &Source::BlockDim(Axis::X)),
    (&Source::ThreadIdx(Axis::Y), &Source::BlockDim(Axis::Y)),
    (&Source::ThreadIdx(Axis::Z), &Source::BlockDim(Axis::Z)),
    (&Source::BlockIdx(Axis::X), &Source::GridDim(Axis::X)),
    (&Source::BlockIdx(Axis::Y), &Source::GridDim(Axis::Y)),
    (&Source::BlockIdx(Axis::Z), &Source::GridDim(Axis::Z)),
];

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

#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Index {
    X,
    Y,
    Z,
    Rank,
    Lane,
}

struct Line {
    factor: i64,
    rest: Vec<(Symbol, i64)>,
    constant: i64,
    /// Along how many consecutive threads, aligned, the index grows by one each.
    period: i64,
    /// The index numbers all threads of the block, so that a run as long as the block is the block.
    whole: bool,
    /// The period is an assumption about the block's shape.
    hoped: bool,
    /// The index is `threadIdx` along this axis.
    axis: Option<Axis>,
}

impl Line {
    /// A falling line passes a multiple one thread later.
    fn shift(&self) -> i64 {
        (-self.factor).max(0)
    }

    fn certain(&self, extent: Extent) -> Agreement {
        if self.hoped && extent < Extent::BLOCK {
            Agreement { shown: Extent::THREAD, hoped: extent, ordered: Extent::THREAD }
        } else {
            Agreement::of(extent)
        }
    }
}

impl Agreement {
    /// Raised to `run`, but no further than `rest` reaches.
    fn at_least_in(self, run: Agreement, rest: Agreement) -> Agreement {
        let reach = run.meet(rest);
        Agreement {
            shown: self.shown.max(reach.shown),
            hoped: self.hoped.max(reach.hoped),
            ordered: self.ordered.max(reach.ordered),
        }
    }
}

/// The largest group over which values, by rank, agree.
fn extent_of(values: &[i64]) -> Option<Extent> {
    let agrees = |run: usize| values.chunks(run).all(|group| group.iter().all(|value| *value == group[0]));
    if agrees(values.len().max(1)) {
        return Some(Extent::GRID);
    }
    (0..=u32::from(Extent::LARGEST_TILE)).rev().find(|power| agrees(1 << power)).map(Extent::tile)
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
