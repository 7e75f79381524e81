//! Values as shared expressions: equal expressions are one `Symbol`, so comparing values is comparing numbers.
//!
//! Integer arithmetic is kept as sums of products, which is what makes `(base + threadIdx.x) - threadIdx.x` the
//! symbol of `base`. `x % c` is kept as `x - c * (x / c)`, `x & 31` as `x % 32`, comparisons as `difference < 0` and
//! `difference == 0`. Index arithmetic is taken not to wrap, and not to be negative where it is divided, but where the
//! thread index alone tells otherwise.
//!
//! What it does not know: how much a value agrees (`agreement`), or when (`evaluate`).

use super::extent::Extent;
use super::facts::{Bounds, Column};
use super::interned::Interned;
use super::layout::Layout;
use crate::graph::{BlockId, InstId, ObjectId, Source, To};
use crate::program::Name;
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::cell::RefCell;
use std::hash::BuildHasher;

#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Symbol(u32);

#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KeyId(pub u32);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    Int(i64),
    Leaf(Leaf),
    /// Monomials with their factors, sorted, and a constant. Never empty, never one monomial alone with factor 1.
    Sum {
        terms: Box<[(Symbol, i64)]>,
        constant: i64,
    },
    /// Two or more factors, sorted, none a sum or a number.
    Product(Box<[Symbol]>),
    Binary(Operator, Symbol, Symbol),
    Not(Symbol),
    Select(Symbol, Symbol, Symbol),
    Convert(To, Symbol),
    Pure(Name, Box<[Symbol]>),
    Address(ObjectId),
    Element(Symbol, Symbol),
    Member(Symbol, Name),
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Operator {
    Div,
    Shl,
    Shr,
    BitAnd,
    BitOr,
    BitXor,
    And,
    Or,
    /// The left side is negative; the right side is unused.
    Negative,
    /// The left side is zero; the right side is unused.
    Zero,
    Min,
    Max,
}

/// What an expression bottoms out at.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Leaf {
    Source(Source),
    /// `__activemask()` at that instruction.
    ActiveMask(InstId),
    /// What a variable holds at the head of a block where ways with different values meet.
    Phi(BlockId, KeyId),
    /// How often the loop of this head has gone round.
    Iteration(BlockId),
    /// A value of inside the loop of this head, seen from outside.
    Left(BlockId, Symbol),
    /// What an instruction loads from memory that threads share, or from a local array at a computed place.
    Load(InstId),
    /// What an instruction yields otherwise: an atomic's or a barrier's result, something unknown.
    Result(InstId),
    /// What a local variable may hold after a write that may have hit it.
    Mixed(InstId, KeyId),
    /// A local variable nobody has written yet.
    Unset(KeyId),
    /// Too large an expression, cut.
    Opaque(Box<[Symbol]>),
}

/// Expressions deeper than this become opaque: no stage recurses deeper.
const MAX_DEPTH: u16 = 96;
/// Sums with more terms than this are not multiplied out.
const MAX_TERMS: usize = 12;

#[derive(Debug)]
pub struct Symbols {
    nodes: Vec<Node>,
    depth: Vec<u16>,
    interned: Interned,
    /// By object, its address.
    addresses: Vec<Option<Symbol>>,
    layout: Layout,
    rank: Option<RankPattern>,
    /// What lanes make of their own value and a partner's.
    pub butterflies: super::butterfly::Butterflies,
    /// Choices that were written out before.
    selects: FxHashMap<[Symbol; 3], Symbol>,
    /// What has been worked out of expressions alone.
    pub known: RefCell<Known>,
    /// Which nodes the walk of this number has come to.
    seen: RefCell<(u32, Vec<u32>)>,
}

/// Facts that follow from an expression and the block's shape, once worked out.
#[derive(Debug, Default)]
pub struct Known {
    /// How far symbols agree that were worked out thread by thread.
    pub enumerated: FxHashMap<Symbol, Option<Extent>>,
    /// Of some of them, the values.
    pub columns: FxHashMap<Symbol, Column>,
    pub bounds: FxHashMap<Symbol, Bounds>,
    pub divisors: FxHashMap<Symbol, u64>,
    pub decisions: FxHashMap<Symbol, Option<bool>>,
}

/// `x + extent.x * y (+ extent.x * extent.y * z)` is the thread's rank in the block.
#[derive(Copy, Clone, Debug)]
struct RankPattern {
    x: Symbol,
    row: Symbol,
    plane: Symbol,
    rank: Symbol,
}

impl Symbols {
    pub const ZERO: Symbol = Symbol(0);
    pub const ONE: Symbol = Symbol(1);

    pub fn new(layout: Layout) -> Symbols {
        let mut symbols = Symbols {
            nodes: Vec::new(),
            depth: Vec::new(),
            interned: Interned::default(),
            addresses: Vec::new(),
            layout,
            rank: None,
            butterflies: super::butterfly::Butterflies::default(),
            selects: FxHashMap::default(),
            known: RefCell::default(),
            seen: RefCell::default(),
        };
        symbols.intern(Node::Int(0));
        symbols.intern(Node::Int(1));
        symbols
    }

    /// From now on sums that spell out the thread's rank in a block of more than one dimension become that rank.
    pub fn recognise_rank(&mut self) {
        use crate::graph::Axis::{X, Y, Z};
        let [x, y, z] = [X, Y, Z].map(|axis| self.source(Source::ThreadIdx(axis)));
        let [across, down] = [X, Y].map(|axis| self.source(Source::BlockDim(axis)));
        let rank = self.source(Source::ThreadRank);
        let row = self.product(vec![y, across]);
        let plane = self.product(vec![z, across, down]);
        self.rank = Some(RankPattern { x, row, plane, rank });
    }

    /// Of an array, the number of its dimensions.
    pub fn dimension(&self, object: ObjectId) -> usize {
        self.layout.of_object(object).map_or(0, usize::from)
    }

    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    pub fn node(&self, symbol: Symbol) -> &Node {
        &self.nodes[symbol.0 as usize]
    }

    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    pub fn is_empty(&self) -> bool {
        false
    }

    pub fn at(index: usize) -> Symbol {
        Symbol(index as u32)
    }

    pub fn index(symbol: Symbol) -> usize {
        symbol.0 as usize
    }

    fn intern(&mut self, node: Node) -> Symbol {
        let hash = FxBuildHasher.hash_one(&node);
        if let Some(known) = self.interned.find(hash, |known| self.nodes[known as usize] == node) {
            return Symbol(known);
        }
        // A leaf's agreement comes out of a table, however deep what it stands for.
        let mut depth = 1;
        if !matches!(node, Node::Leaf(_)) {
            any_child(&node, |child| {
                depth = depth.max(1 + self.depth[child.0 as usize]);
                false
            });
        }
        if depth > MAX_DEPTH {
            let mut leaves: Vec<Symbol> = Vec::new();
            self.walk(children(&node), |at, node, work| {
                match node {
                    Node::Leaf(Leaf::Opaque(inner)) => leaves.extend(inner.iter().copied()),
                    Node::Leaf(_) | Node::Address(_) => leaves.push(at),
                    other => push_children(other, work),
                }
                true
            });
            leaves.sort();
            leaves.dedup();
            return self.intern(Node::Leaf(Leaf::Opaque(leaves.into())));
        }
        let symbol = self.nodes.len() as u32;
        let nodes = &self.nodes;
        self.interned.insert(hash, symbol, |known| FxBuildHasher.hash_one(&nodes[known as usize]));
        self.nodes.push(node);
        self.depth.push(depth);
        Symbol(symbol)
    }

    pub fn int(&mut self, value: i64) -> Symbol {
        self.intern(Node::Int(value))
    }

    pub fn as_int(&self, symbol: Symbol) -> Option<i64> {
        match self.node(symbol) {
            Node::Int(value) => Some(*value),
            _ => None,
        }
    }

    pub fn leaf(&mut self, leaf: Leaf) -> Symbol {
        self.intern(Node::Leaf(leaf))
    }

    pub fn source(&mut self, source: Source) -> Symbol {
        self.leaf(Leaf::Source(source))
    }

    /// One half of two words that are shifted as one, as CUDA's integer intrinsics do.
    fn funnel_shift(&mut self, name: &str, low: Symbol, high: Symbol, by: Symbol) -> Option<Symbol> {
        let width = self.int(32);
        let by = match name {
            "__funnelshift_l" | "__funnelshift_r" => self.rem(by, width),
            "__funnelshift_lc" | "__funnelshift_rc" => self.extreme(Operator::Min, by, width),
            _ => return None,
        };
        let rest = self.sub(width, by);
        let (above, below) = match name.starts_with("__funnelshift_l") {
            true => (self.shl(high, by), self.shr(low, rest)),
            false => (self.shl(high, rest), self.shr(low, by)),
        };
        let whole = self.bit_or(above, below);
        Some(self.convert(To::Int { bits: 32, signed: false }, whole))
    }

    pub fn pure(&mut self, name: Name, operands: Vec<Symbol>) -> Symbol {
        if let [low, high, by] = operands[..]
            && let Some(shifted) = self.funnel_shift(&name, low, high, by)
        {
            return shifted;
        }
        self.intern(Node::Pure(name, operands.into()))
    }

    // ---------------------------------------------------------------- arithmetic

    /// The terms of a sum, and its constant.
    pub fn terms(&self, symbol: Symbol) -> (Vec<(Symbol, i64)>, i64) {
        match self.node(symbol) {
            Node::Int(value) => (Vec::new(), *value),
            Node::Sum { terms, constant } => (terms.to_vec(), *constant),
            _ => (vec![(symbol, 1)], 0),
        }
    }

    /// The same without a copy; `alone` is what stands for what is no sum.
    fn terms_in<'s>(&'s self, symbol: Symbol, alone: &'s [(Symbol, i64); 1]) -> (&'s [(Symbol, i64)], i64) {
        match self.node(symbol) {
            Node::Int(value) => (&[], *value),
            Node::Sum { terms, constant } => (terms, *constant),
            _ => (alone, 0),
        }
    }

    pub fn sum(&mut self, mut terms: Vec<(Symbol, i64)>, constant: i64) -> Symbol {
        terms.sort_by_key(|term| term.0);
        let mut kept: Vec<(Symbol, i64)> = Vec::with_capacity(terms.len());
        for (symbol, factor) in terms {
            match kept.last_mut() {
                Some(last) if last.0 == symbol => last.1 = last.1.wrapping_add(factor),
                _ => kept.push((symbol, factor)),
            }
        }
        self.sum_of(kept, constant)
    }

    /// Of sorted terms, each of another symbol.
    fn sum_of(&mut self, mut kept: Vec<(Symbol, i64)>, constant: i64) -> Symbol {
        kept.retain(|term| term.1 != 0);
        if let Some(pattern) = self.rank {
            let factor = |wanted: Symbol| kept.iter().find(|term| term.0 == wanted).map(|term| term.1);
            let plane = factor(pattern.plane);
            // Summed up from the left, the plane comes last.
            if plane.is_some() && plane == factor(pattern.rank) {
                kept.retain(|term| term.0 != pattern.plane);
                return self.sum(kept, constant);
            }
            if let (Some(by), Some(row)) = (factor(pattern.x), factor(pattern.row))
                && by == row
            {
                kept.retain(|term| {
                    term.0 != pattern.x && term.0 != pattern.row && (term.0 != pattern.plane || plane != Some(by))
                });
                kept.push((pattern.rank, by));
                return self.sum(kept, constant);
            }
        }
        match kept.as_slice() {
            [] => self.int(constant),
            [(only, 1)] if constant == 0 => *only,
            _ => self.intern(Node::Sum { terms: kept.into(), constant }),
        }
    }

    pub fn add(&mut self, a: Symbol, b: Symbol) -> Symbol {
        self.add_scaled(a, b, 1)
    }

    /// `a + by * b`
    fn add_scaled(&mut self, a: Symbol, b: Symbol, by: i64) -> Symbol {
        let alone = [[(a, 1)], [(b, 1)]];
        let ((left, constant), (right, other)) = (self.terms_in(a, &alone[0]), self.terms_in(b, &alone[1]));
        let mut terms = Vec::with_capacity(left.len() + right.len());
        let mut left = left.iter().copied().peekable();
        for (symbol, factor) in right.iter().map(|term| (term.0, term.1.wrapping_mul(by))) {
            terms.extend(std::iter::from_fn(|| left.next_if(|term| term.0 < symbol)));
            let same = left.next_if(|term| term.0 == symbol);
            terms.push((symbol, same.map_or(factor, |term| term.1.wrapping_add(factor))));
        }
        terms.extend(left);
        self.sum_of(terms, constant.wrapping_add(other.wrapping_mul(by)))
    }

    pub fn scale(&mut self, symbol: Symbol, by: i64) -> Symbol {
        let (mut terms, constant) = self.terms(symbol);
        for term in &mut terms {
            term.1 = term.1.wrapping_mul(by);
        }
        self.sum_of(terms, constant.wrapping_mul(by))
    }

    pub fn sub(&mut self, a: Symbol, b: Symbol) -> Symbol {
        // Two places in one array.
        match (self.node(a), self.node(b)) {
            (&Node::Element(x, i), &Node::Element(y, j)) if x == y => return self.sub(i, j),
            (&Node::Element(x, i), _) if x == b => return i,
            (_, &Node::Element(y, j)) if y == a => return self.scale(j, -1),
            _ => {}
        }
        self.add_scaled(a, b, -1)
    }

    pub fn mul(&mut self, a: Symbol, b: Symbol) -> Symbol {
        if let Some(by) = self.as_int(a) {
            return self.scale(b, by);
        }
        if let Some(by) = self.as_int(b) {
            return self.scale(a, by);
        }
        let (left, left_constant) = self.terms(a);
        let (right, right_constant) = self.terms(b);
        if left.len() * right.len() > MAX_TERMS {
            return self.product(vec![a, b]);
        }
        let mut terms = Vec::new();
        for (x, m) in &left {
            for (y, n) in &right {
                let product = self.product(vec![*x, *y]);
                terms.push((product, m.wrapping_mul(*n)));
            }
            terms.push((*x, m.wrapping_mul(right_constant)));
        }
        for (y, n) in &right {
            terms.push((*y, n.wrapping_mul(left_constant)));
        }
        self.sum(terms, left_constant.wrapping_mul(right_constant))
    }

    fn product(&mut self, factors: Vec<Symbol>) -> Symbol {
        let mut flat = Vec::new();
        for factor in factors {
            match self.node(factor) {
                Node::Product(inner) => flat.extend(inner.iter().copied()),
                _ => flat.push(factor),
            }
        }
        flat.sort();
        self.intern(Node::Product(flat.into()))
    }

    /// The factors of a monomial.
    pub fn factors(&self, symbol: Symbol) -> Vec<Symbol> {
        match self.node(symbol) {
            Node::Product(inner) => inner.to_vec(),
            _ => vec![symbol],
        }
    }

    /// `symbol / by` where every term divides, and the rest of the terms.
    fn split(&mut self, symbol: Symbol, by: Symbol) -> (Symbol, Symbol) {
        let (terms, constant) = self.terms(symbol);
        let (mut quotient, mut rest) = (Vec::new(), Vec::new());
        match self.as_int(by) {
            Some(by) => {
                for (term, factor) in terms {
                    if factor % by == 0 { quotient.push((term, factor / by)) } else { rest.push((term, factor)) }
                }
                // The constant is divided rounding down, so that the rest is not negative.
                let whole = constant.div_euclid(by);
                let left = constant.rem_euclid(by);
                (self.sum(quotient, whole), self.sum(rest, left))
            }
            None => {
                let wanted = self.factors(by);
                let mut whole_constant = 0;
                for (term, factor) in terms {
                    let mut left = self.factors(term);
                    let all = wanted
                        .iter()
                        .all(|each| left.iter().position(|have| have == each).map(|at| left.remove(at)).is_some());
                    if !all {
                        rest.push((term, factor));
                    } else if left.is_empty() {
                        whole_constant += factor;
                    } else {
                        let term = if left.len() == 1 { left[0] } else { self.product(left) };
                        quotient.push((term, factor));
                    }
                }
                (self.sum(quotient, whole_constant), self.sum(rest, constant))
            }
        }
    }

    /// Rounds down.
    pub fn div(&mut self, a: Symbol, b: Symbol) -> Symbol {
        match (self.as_int(a), self.as_int(b)) {
            (_, Some(0)) => return self.intern(Node::Binary(Operator::Div, a, b)),
            (_, Some(1)) => return a,
            (Some(x), Some(y)) if y > 0 => return self.int(x.div_euclid(y)),
            (Some(0), _) => return a,
            _ if a == b => return Self::ONE,
            _ => {}
        }
        if self.as_int(b).is_some_and(|by| by < 0) || matches!(self.node(b), Node::Sum { .. }) {
            return self.intern(Node::Binary(Operator::Div, a, b));
        }
        let (whole, rest) = self.split(a, b);
        let part = match (self.as_int(rest), self.as_int(b), self.node(rest).clone()) {
            (Some(x), Some(y), _) => self.int(x.div_euclid(y)),
            (Some(0), None, _) => Self::ZERO,
            (None, Some(y), Node::Binary(Operator::Div, x, inner)) if self.as_int(inner).is_some_and(|z| z > 0) => {
                let by = self.as_int(inner).unwrap_or(1).wrapping_mul(y);
                let by = self.int(by);
                self.div(x, by)
            }
            _ => self.intern(Node::Binary(Operator::Div, rest, b)),
        };
        self.add(whole, part)
    }

    /// What is left of a division that rounds down.
    pub fn rem(&mut self, a: Symbol, b: Symbol) -> Symbol {
        let quotient = self.div(a, b);
        self.rest(a, quotient, b)
    }

    /// `a - quotient * b`
    fn rest(&mut self, a: Symbol, quotient: Symbol, b: Symbol) -> Symbol {
        let whole = self.mul(quotient, b);
        self.sub(a, whole)
    }

    /// As C divides where the left side may be negative: towards zero.
    pub fn div_towards_zero(&mut self, a: Symbol, b: Symbol) -> Symbol {
        let negated = self.scale(a, -1);
        let (below, above) = (self.div(negated, b), self.div(a, b));
        let below = self.scale(below, -1);
        let is_negative = self.negative(a);
        self.select(is_negative, below, above)
    }

    /// What is left of it.
    pub fn rem_towards_zero(&mut self, a: Symbol, b: Symbol) -> Symbol {
        let quotient = self.div_towards_zero(a, b);
        self.rest(a, quotient, b)
    }

    /// The value modulo 2^32, of one that is no more than so much below zero.
    pub fn wrapped(&mut self, value: Symbol) -> Symbol {
        let is_negative = self.negative(value);
        let above = self.add_constant(value, 1 << 32);
        self.select(is_negative, above, value)
    }

    pub fn shl(&mut self, a: Symbol, b: Symbol) -> Symbol {
        match (self.as_int(a), self.as_int(b)) {
            (Some(x), Some(n @ 0..=63)) => self.int(x.wrapping_shl(n as u32)),
            (_, Some(n @ 0..=62)) => self.scale(a, 1i64 << n),
            _ => self.intern(Node::Binary(Operator::Shl, a, b)),
        }
    }

    pub fn shr(&mut self, a: Symbol, b: Symbol) -> Symbol {
        match (self.as_int(a), self.as_int(b)) {
            (Some(x), Some(n @ 0..=63)) => self.int(x >> n),
            (_, Some(n @ 0..=62)) => {
                let by = self.int(1i64 << n);
                self.div(a, by)
            }
            _ => self.intern(Node::Binary(Operator::Shr, a, b)),
        }
    }

    pub fn bit_and(&mut self, a: Symbol, b: Symbol) -> Symbol {
        let (a, b) = if self.as_int(a).is_some() { (b, a) } else { (a, b) };
        if a == b {
            return a;
        }
        let Some(mask) = self.as_int(b) else {
            return self.intern(Node::Binary(Operator::BitAnd, a.min(b), a.max(b)));
        };
        if let Some(value) = self.as_int(a) {
            return self.int(value & mask);
        }
        if mask == 0 {
            return Self::ZERO;
        }
        if mask == -1 {
            return a;
        }
        if self.is_boolean(a) {
            return if mask & 1 == 1 { a } else { Self::ZERO };
        }
        // Of `key << 8 | low` the low bits are those of `low`.
        if let Node::Binary(Operator::BitOr | Operator::BitXor, x, y) = *self.node(a) {
            if self.has_zeros(x, mask) {
                return self.bit_and(y, b);
            }
            if self.has_zeros(y, mask) {
                return self.bit_and(x, b);
            }
        }
        // x & 31 is x % 32; x & ~31 is 32 * (x / 32), also where the mask is written in 32 bits.
        let low = mask.wrapping_add(1);
        if mask > 0 && low & mask == 0 && mask < i64::from(u32::MAX) {
            let by = self.int(low);
            return self.rem(a, by);
        }
        let wide = if mask > i64::from(i32::MAX) && mask <= i64::from(u32::MAX) { mask - (1i64 << 32) } else { mask };
        if wide < 0 && wide.wrapping_neg() & wide.wrapping_neg().wrapping_sub(1) == 0 {
            let by = self.int(wide.wrapping_neg());
            let quotient = self.div(a, by);
            return self.mul(quotient, by);
        }
        self.intern(Node::Binary(Operator::BitAnd, a, b))
    }

    /// The value is a multiple of a power of two above the mask.
    fn has_zeros(&self, value: Symbol, mask: i64) -> bool {
        let (terms, constant) = self.terms(value);
        let above = |number: i64| mask >= 0 && number.trailing_zeros() >= 64 - mask.leading_zeros();
        above(constant) && terms.iter().all(|(_, factor)| above(*factor))
    }

    pub fn bit_or(&mut self, a: Symbol, b: Symbol) -> Symbol {
        match (self.as_int(a), self.as_int(b)) {
            (Some(x), Some(y)) => self.int(x | y),
            (Some(0), _) => b,
            (_, Some(0)) => a,
            _ if a == b => a,
            _ if self.is_boolean(a) && self.is_boolean(b) => self.or(a, b),
            // x | 31 is 32 * (x / 32) + 31.
            (Some(mask), None) | (None, Some(mask)) if is_low_mask(mask) => {
                let value = if self.as_int(a).is_some() { b } else { a };
                let by = self.int(mask + 1);
                let quotient = self.div(value, by);
                let whole = self.mul(quotient, by);
                self.add_constant(whole, mask)
            }
            _ => self.intern(Node::Binary(Operator::BitOr, a.min(b), a.max(b))),
        }
    }

    pub fn bit_xor(&mut self, a: Symbol, b: Symbol) -> Symbol {
        match (self.as_int(a), self.as_int(b)) {
            (Some(x), Some(y)) => self.int(x ^ y),
            (Some(0), _) => b,
            (_, Some(0)) => a,
            _ if a == b => Self::ZERO,
            (_, Some(1)) if self.is_boolean(a) => self.not(a),
            _ => {
                // `(x ^ y) ^ y`
                for (one, other) in [(a, b), (b, a)] {
                    match *self.node(one) {
                        Node::Binary(Operator::BitXor, x, y) if x == other => return y,
                        Node::Binary(Operator::BitXor, x, y) if y == other => return x,
                        _ => {}
                    }
                }
                self.intern(Node::Binary(Operator::BitXor, a.min(b), a.max(b)))
            }
        }
    }

    pub fn bit_not(&mut self, a: Symbol) -> Symbol {
        let negated = self.scale(a, -1);
        self.add_constant(negated, -1)
    }

    pub fn add_constant(&mut self, a: Symbol, by: i64) -> Symbol {
        let (terms, constant) = self.terms(a);
        self.sum_of(terms, constant.wrapping_add(by))
    }

    // ---------------------------------------------------------------- truth

    pub fn is_boolean(&self, symbol: Symbol) -> bool {
        match self.node(symbol) {
            Node::Int(value) => *value == 0 || *value == 1,
            Node::Not(_) | Node::Convert(To::Bool, _) => true,
            Node::Binary(Operator::And | Operator::Or | Operator::Negative | Operator::Zero, ..) => true,
            Node::Select(_, yes, no) => self.is_boolean(*yes) && self.is_boolean(*no),
            _ => false,
        }
    }

    /// The value as a truth value: `x != 0`.
    pub fn truth(&mut self, symbol: Symbol) -> Symbol {
        if self.is_boolean(symbol) {
            return symbol;
        }
        let zero = self.zero(symbol);
        self.not(zero)
    }

    pub fn not(&mut self, symbol: Symbol) -> Symbol {
        match *self.node(symbol) {
            Node::Int(value) => self.int(i64::from(value == 0)),
            Node::Not(inner) => self.truth(inner),
            Node::Binary(Operator::Negative, difference, _) => {
                let flipped = self.scale(difference, -1);
                let flipped = self.add_constant(flipped, -1);
                self.negative(flipped)
            }
            Node::Binary(Operator::And, a, b) => {
                let (a, b) = (self.not(a), self.not(b));
                self.or(a, b)
            }
            Node::Binary(Operator::Or, a, b) => {
                let (a, b) = (self.not(a), self.not(b));
                self.and(a, b)
            }
            _ if self.is_boolean(symbol) => self.intern(Node::Not(symbol)),
            _ => self.zero(symbol),
        }
    }

    pub fn and(&mut self, a: Symbol, b: Symbol) -> Symbol {
        let (a, b) = (self.truth(a), self.truth(b));
        match (self.as_int(a), self.as_int(b)) {
            (Some(0), _) | (_, Some(0)) => Self::ZERO,
            (Some(_), _) => b,
            (_, Some(_)) => a,
            _ if a == b => a,
            _ => self.intern(Node::Binary(Operator::And, a, b)),
        }
    }

    pub fn or(&mut self, a: Symbol, b: Symbol) -> Symbol {
        let (a, b) = (self.truth(a), self.truth(b));
        match (self.as_int(a), self.as_int(b)) {
            (Some(0), _) => b,
            (_, Some(0)) => a,
            (Some(_), _) | (_, Some(_)) => Self::ONE,
            _ if a == b => a,
            _ => self.intern(Node::Binary(Operator::Or, a, b)),
        }
    }

    /// `difference < 0`
    pub fn negative(&mut self, difference: Symbol) -> Symbol {
        match self.as_int(difference) {
            Some(value) => self.int(i64::from(value < 0)),
            None => self.intern(Node::Binary(Operator::Negative, difference, Self::ZERO)),
        }
    }

    pub fn less(&mut self, a: Symbol, b: Symbol) -> Symbol {
        let difference = self.sub(a, b);
        self.negative(difference)
    }

    /// `difference == 0`, whichever way round the difference was taken.
    pub fn zero(&mut self, difference: Symbol) -> Symbol {
        if let Some(value) = self.as_int(difference) {
            return self.int(i64::from(value == 0));
        }
        if self.is_boolean(difference) {
            return self.not(difference);
        }
        let leading = self.terms_in(difference, &[(difference, 1)]).0.first().map_or(1, |term| term.1);
        let difference = if leading < 0 { self.scale(difference, -1) } else { difference };
        self.intern(Node::Binary(Operator::Zero, difference, Self::ZERO))
    }

    pub fn equal(&mut self, a: Symbol, b: Symbol) -> Symbol {
        // A truth value compared with a number is that truth value, or its opposite.
        for (x, y) in [(a, b), (b, a)] {
            if let Some(value) = self.as_int(y)
                && self.is_boolean(x)
                && self.as_int(x).is_none()
            {
                return match value {
                    0 => self.not(x),
                    1 => x,
                    _ => Self::ZERO,
                };
            }
        }
        // A choice between a number and something else, compared with that number.
        for (x, y) in [(a, b), (b, a)] {
            let Some(wanted) = self.as_int(y) else { continue };
            let Node::Select(on, yes, no) = *self.node(x) else { continue };
            for (arm, other, taken) in [(yes, no, on), (no, yes, self.not(on))] {
                if self.as_int(arm) == Some(wanted) {
                    let by_other = self.equal(other, y);
                    return self.or(taken, by_other);
                }
            }
        }
        let difference = self.sub(a, b);
        self.zero(difference)
    }

    pub fn select(&mut self, on: Symbol, yes: Symbol, no: Symbol) -> Symbol {
        let on = self.truth(on);
        // One way to write a choice, whichever arm stands first.
        if let Node::Not(inner) = *self.node(on) {
            return self.select(inner, no, yes);
        }
        match self.as_int(on) {
            Some(0) => no,
            Some(_) => yes,
            None if yes == no => yes,
            None if self.as_int(yes) == Some(1) && self.as_int(no) == Some(0) => on,
            None if self.as_int(yes) == Some(0) && self.as_int(no) == Some(1) => self.not(on),
            None if let Some(both) = self.common_index(on, yes, no) => {
                let (yes, no) = (self.sub(yes, both), self.sub(no, both));
                let apart = self.select(on, yes, no);
                self.add(both, apart)
            }
            None => {
                if let Some(known) = self.selects.get(&[on, yes, no]) {
                    return *known;
                }
                let written = self.given_zero(on, yes, no);
                let choice = self.intern(Node::Select(on, written, no));
                self.selects.insert([on, yes, no], choice);
                choice
            }
        }
    }

    /// The terms that both sums have, where a thread index is among them and what decides is of none: of
    /// `wide ? tid : tid + 32` the index cancels as it does of either.
    fn common_index(&mut self, on: Symbol, a: Symbol, b: Symbol) -> Option<Symbol> {
        let ((left, _), (right, _)) = (self.terms(a), self.terms(b));
        let both: Vec<(Symbol, i64)> = left.into_iter().filter(|term| right.contains(term)).collect();
        let wanted = both.iter().any(|term| self.has_index(term.0)) && !self.has_index(on);
        wanted.then(|| self.sum(both, 0))
    }

    /// The thread index is part of the expression.
    pub fn has_index(&self, symbol: Symbol) -> bool {
        let is_index = |leaf| match self.node(leaf) {
            Node::Leaf(Leaf::Source(source)) => matches!(source, Source::ThreadIdx(_) | Source::ThreadRank),
            _ => false,
        };
        !self.all_leaves(symbol, |leaf| !is_index(leaf))
    }

    /// `value`, which is taken where `on` holds, written like `other` where `on` says that a difference is zero:
    /// of `n % c == 0 ? n : n - n % c + c` the first becomes `c * (n / c)`.
    fn given_zero(&mut self, on: Symbol, value: Symbol, other: Symbol) -> Symbol {
        let Node::Binary(Operator::Zero, difference, _) = *self.node(on) else { return value };
        for factor in [-1, 1] {
            let same = self.add_scaled(value, difference, factor);
            let apart = self.sub(other, same);
            if self.terms_in(apart, &[(apart, 1)]).0.len() <= 1 {
                return same;
            }
        }
        value
    }

    pub fn extreme(&mut self, operator: Operator, a: Symbol, b: Symbol) -> Symbol {
        match (self.as_int(a), self.as_int(b)) {
            (Some(x), Some(y)) => self.int(if operator == Operator::Min { x.min(y) } else { x.max(y) }),
            _ if a == b => a,
            _ => self.intern(Node::Binary(operator, a.min(b), a.max(b))),
        }
    }

    pub fn convert(&mut self, to: To, value: Symbol) -> Symbol {
        match (to, self.as_int(value)) {
            (To::Bool, _) => self.truth(value),
            (To::Float, Some(_)) | (To::Int { bits: 64.., .. }, _) => value,
            (To::Int { bits, signed }, Some(known)) => self.int(narrowed(known, bits, signed)),
            _ if self.is_boolean(value) => value,
            (To::Int { bits, .. }, None) => {
                // What only reaches into bits that are cut off is nothing.
                let (mut terms, constant) = self.terms(value);
                let all = terms.len();
                terms.retain(|(_, factor)| factor & ((1i64 << bits) - 1) != 0);
                if terms.len() == all {
                    return self.intern(Node::Convert(to, value));
                }
                let kept = self.sum(terms, constant);
                self.convert(to, kept)
            }
            _ => self.intern(Node::Convert(to, value)),
        }
    }

    // ---------------------------------------------------------------- addresses

    pub fn address(&mut self, object: ObjectId) -> Symbol {
        if let Some(Some(known)) = self.addresses.get(object.index()) {
            return *known;
        }
        let symbol = self.intern(Node::Address(object));
        if self.addresses.len() <= object.index() {
            self.addresses.resize(object.index() + 1, None);
        }
        self.addresses[object.index()] = Some(symbol);
        symbol
    }

    /// `base[index]`, or `base + index`. Steps over one array add up; a row of an array of arrays is a step of its own.
    pub fn element(&mut self, base: Symbol, index: Symbol) -> Symbol {
        match (self.room(base), self.node(base)) {
            (Room::None | Room::Open, &Node::Element(inner, first)) => {
                let index = self.add(first, index);
                self.element_of(inner, index)
            }
            _ => self.element_of(base, index),
        }
    }

    fn element_of(&mut self, base: Symbol, index: Symbol) -> Symbol {
        let is_base = self.as_int(index) == Some(0) && self.room(base) == Room::None;
        if is_base { base } else { self.intern(Node::Element(base, index)) }
    }

    pub fn member(&mut self, base: Symbol, name: Name) -> Symbol {
        self.intern(Node::Member(base, name))
    }

    /// Whether an address leads to an array, which has elements of its own.
    fn room(&self, mut symbol: Symbol) -> Room {
        let mut depth = 0;
        let rank = loop {
            match self.node(symbol) {
                Node::Element(base, _) => {
                    depth += 1;
                    symbol = *base;
                }
                Node::Address(object) => match self.layout.of_object(*object) {
                    Some(rank) => break rank,
                    None => return Room::Open,
                },
                Node::Member(_, name) => match self.layout.of_member(name) {
                    Some(rank) => break rank,
                    None => return Room::Some,
                },
                _ => break 0,
            }
        };
        if depth < rank { Room::Some } else { Room::None }
    }

    /// The base an address starts from: an object's address, or a pointer's value.
    pub fn base(&self, mut address: Symbol) -> Symbol {
        loop {
            match self.node(address) {
                Node::Element(base, _) | Node::Member(base, _) => address = *base,
                _ => return address,
            }
        }
    }

    /// Steps from the base to the address, outermost first.
    pub fn steps(&self, mut address: Symbol) -> Vec<Step> {
        let mut steps = Vec::new();
        loop {
            match self.node(address) {
                Node::Element(base, index) => {
                    steps.push(Step::Index(*index));
                    address = *base;
                }
                Node::Member(base, name) => {
                    steps.push(Step::Member(name.clone()));
                    address = *base;
                }
                _ => {
                    steps.reverse();
                    return steps;
                }
            }
        }
    }

    // ---------------------------------------------------------------- all of it

    /// All leaves of an expression, each once.
    pub fn leaves(&self, symbol: Symbol) -> Vec<Symbol> {
        let mut found = Vec::new();
        self.all_leaves(symbol, |leaf| {
            found.push(leaf);
            true
        });
        found
    }

    /// Whether a test holds for all leaves of an expression; it is asked of no more once it failed.
    pub fn all_leaves(&self, symbol: Symbol, mut holds: impl FnMut(Symbol) -> bool) -> bool {
        if matches!(self.node(symbol), Node::Leaf(_)) {
            return holds(symbol);
        }
        self.walk(vec![symbol], |at, node, work| match node {
            Node::Leaf(_) => holds(at),
            other => {
                push_children(other, work);
                true
            }
        })
    }

    /// Some part of an expression is such.
    pub fn holds(&self, symbol: Symbol, is_such: &dyn Fn(Symbol) -> bool) -> bool {
        !self.walk(vec![symbol], |at, node, work| {
            push_children(node, work);
            !is_such(at)
        })
    }

    /// Comes to each symbol once, the last found first, while `visit` says so; false: it stopped.
    fn walk(&self, mut work: Vec<Symbol>, mut visit: impl FnMut(Symbol, &Node, &mut Vec<Symbol>) -> bool) -> bool {
        let (last, mut seen) = self.seen.take();
        let number = last.checked_add(1).unwrap_or_else(|| {
            seen.clear();
            1
        });
        seen.resize(self.nodes.len(), 0);
        let mut goes_on = true;
        while let Some(at) = work.pop().filter(|_| goes_on) {
            if std::mem::replace(&mut seen[at.0 as usize], number) != number {
                goes_on = visit(at, self.node(at), &mut work);
            }
        }
        self.seen.replace((number, seen));
        goes_on
    }

    pub fn children(&self, symbol: Symbol) -> Vec<Symbol> {
        children(self.node(symbol))
    }

    /// The same expression with some symbols replaced.
    pub fn replace(
        &mut self,
        symbol: Symbol,
        with: &FxHashMap<Symbol, Symbol>,
        done: &mut FxHashMap<Symbol, Symbol>,
    ) -> Symbol {
        if let Some(found) = with.get(&symbol).or_else(|| done.get(&symbol)) {
            return *found;
        }
        let result = match self.node(symbol).clone() {
            Node::Int(_) | Node::Leaf(_) | Node::Address(_) => symbol,
            Node::Sum { terms, constant } => {
                let mut total = self.int(constant);
                for (term, factor) in terms.iter() {
                    let term = self.replace(*term, with, done);
                    let scaled = self.scale(term, *factor);
                    total = self.add(total, scaled);
                }
                total
            }
            Node::Product(factors) => {
                let mut total = Self::ONE;
                for factor in factors.iter() {
                    let factor = self.replace(*factor, with, done);
                    total = self.mul(total, factor);
                }
                total
            }
            Node::Binary(operator, a, b) => {
                let (a, b) = (self.replace(a, with, done), self.replace(b, with, done));
                match operator {
                    Operator::Div => self.div(a, b),
                    Operator::Shl => self.shl(a, b),
                    Operator::Shr => self.shr(a, b),
                    Operator::BitAnd => self.bit_and(a, b),
                    Operator::BitOr => self.bit_or(a, b),
                    Operator::BitXor => self.bit_xor(a, b),
                    Operator::And => self.and(a, b),
                    Operator::Or => self.or(a, b),
                    Operator::Negative => self.negative(a),
                    Operator::Zero => self.zero(a),
                    Operator::Min | Operator::Max => self.extreme(operator, a, b),
                }
            }
            Node::Not(inner) => {
                let inner = self.replace(inner, with, done);
                self.not(inner)
            }
            Node::Select(on, yes, no) => {
                let (on, yes, no) =
                    (self.replace(on, with, done), self.replace(yes, with, done), self.replace(no, with, done));
                self.select(on, yes, no)
            }
            Node::Convert(to, inner) => {
                let inner = self.replace(inner, with, done);
                self.convert(to, inner)
            }
            Node::Pure(name, operands) => {
                let operands = operands.iter().map(|operand| self.replace(*operand, with, done)).collect();
                self.pure(name, operands)
            }
            Node::Element(base, index) => {
                let (base, index) = (self.replace(base, with, done), self.replace(index, with, done));
                self.element(base, index)
            }
            Node::Member(base, name) => {
                let base = self.replace(base, with, done);
                self.member(base, name)
            }
        };
        done.insert(symbol, result);
        result
    }
}

/// What a step from an address over elements is.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Room {
    /// Into an array.
    Some,
    /// Along the array that it leads into.
    None,
    /// Into a class out of view, or along it.
    Open,
}

/// What of a number an integer of that many bits keeps.
pub fn narrowed(value: i64, bits: u8, signed: bool) -> i64 {
    let shift = 64 - u32::from(bits.clamp(1, 64));
    let high = value.wrapping_shl(shift);
    if signed { high >> shift } else { (high as u64 >> shift) as i64 }
}

/// All low bits up to some one: `0x1f`.
fn is_low_mask(mask: i64) -> bool {
    mask > 0 && mask < i64::from(u32::MAX) && mask & (mask + 1) == 0
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    Index(Symbol),
    Member(Name),
}

fn children(node: &Node) -> Vec<Symbol> {
    let mut found = Vec::new();
    push_children(node, &mut found);
    found
}

fn push_children(node: &Node, found: &mut Vec<Symbol>) {
    any_child(node, |child| {
        found.push(child);
        false
    });
}

/// Whether a test holds for one of the symbols that an expression is made of.
pub fn any_child(node: &Node, mut holds: impl FnMut(Symbol) -> bool) -> bool {
    match node {
        Node::Int(_) | Node::Address(_) => false,
        Node::Leaf(Leaf::Left(_, inner)) => holds(*inner),
        Node::Leaf(Leaf::Opaque(inner)) => inner.iter().copied().any(holds),
        Node::Leaf(_) => false,
        Node::Sum { terms, .. } => terms.iter().any(|term| holds(term.0)),
        Node::Product(factors) => factors.iter().copied().any(holds),
        Node::Binary(Operator::Negative | Operator::Zero, a, _) => holds(*a),
        Node::Binary(_, a, b) => holds(*a) || holds(*b),
        Node::Not(inner) | Node::Convert(_, inner) => holds(*inner),
        Node::Select(on, yes, no) => holds(*on) || holds(*yes) || holds(*no),
        Node::Pure(_, operands) => operands.iter().copied().any(holds),
        Node::Element(base, index) => holds(*base) || holds(*index),
        Node::Member(base, _) => holds(*base),
    }
}
