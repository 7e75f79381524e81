//! Bounds and divisors.

use super::super::symbols::{Leaf, Node, Operator, Symbol, narrowed};
use super::{Facts, gcd};
use crate::graph::{Axis, Source, To};
use rustc_hash::FxHashMap;

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

    pub fn plus(self, other: Bounds) -> Bounds {
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

const PAIRS: [(&Source, &Source); 6] = [
    (&Source::ThreadIdx(Axis::X), &Source::BlockDim(Axis::X)),
    (&Source::ThreadIdx(Axis::Y), &Source::BlockDim(Axis::Y)),
    (&Source::ThreadIdx(Axis::Z), &Source::BlockDim(Axis::Z)),
    (&Source::BlockIdx(Axis::X), &Source::GridDim(Axis::X)),
    (&Source::BlockIdx(Axis::Y), &Source::GridDim(Axis::Y)),
    (&Source::BlockIdx(Axis::Z), &Source::GridDim(Axis::Z)),
];

impl Facts<'_> {
    /// A number that divides the sum of the terms; 0 for no terms.
    pub(super) fn divisor_of(&self, terms: &[(Symbol, i64)]) -> u64 {
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
            // What is cut off is a multiple of that power of two.
            Node::Convert(To::Int { bits, .. }, of) => {
                gcd(self.divisor(*of), 1u64.checked_shl(u32::from(*bits)).unwrap_or(0))
            }
            _ => 1,
        }
    }

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

    pub(super) fn sum_bounds(&self, terms: &[(Symbol, i64)], constant: i64) -> Bounds {
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
                total = total.plus(Bounds::new(0, by / c - 1).scale(*times));
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
                total.plus(Bounds::new(-inner_constant.saturating_mul(times), -inner_constant.saturating_mul(times)));
            total = total.plus(Bounds::new(0, by - 1).scale(times));
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
                total = total.plus(self.between_quotients(x, y, by).scale(*factor));
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
                total = total.plus(Bounds::new(-lowest, -1).scale(a));
                left.retain(|(term, _)| *term != index && *term != extent);
            }
        }
        left.into_iter().fold(total, |total, (term, factor)| total.plus(self.bounds(term).scale(factor)))
    }

    /// `x / by - y / by`
    fn between_quotients(&self, x: Symbol, y: Symbol, by: i64) -> Bounds {
        let quotient = |value: Symbol| {
            let bounds = self.bounds(value);
            let part = |value: i64| if value.abs() >= FAR { value } else { value.div_euclid(by) };
            Bounds::new(part(bounds.low), part(bounds.high))
        };
        let apart = quotient(x).plus(quotient(y).scale(-1));
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
    pub(super) fn sign(&self, symbol: Symbol) -> Option<bool> {
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
}
