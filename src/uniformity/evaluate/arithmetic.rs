//! Operators on symbols, with C's division and the wrap of unsigned values where the thread index shows it.

use super::*;

impl Evaluator<'_> {
    /// `a / b` or `a % b`, which round towards zero: where the value is seen to be negative in some thread, or, of a
    /// remainder, where something unknown is taken off a thread index.
    pub(super) fn signed_division(&mut self, operator: BinaryOp, a: Symbol, b: Symbol) -> Symbol {
        let symbols = &mut self.values.symbols;
        let Some(by) = symbols.as_int(b).filter(|by| *by != 0) else { return self.binary(operator, a, b) };
        let whole = symbols.int(by.saturating_abs());
        let is_remainder = operator == BinaryOp::Rem;
        let towards_zero =
            symbols.as_int(a).is_some_and(|a| a < 0) || self.is_seen_negative(a) || is_remainder && self.falls_below(a);
        let symbols = &mut self.values.symbols;
        match (is_remainder, towards_zero) {
            (true, true) => symbols.rem_towards_zero(a, whole),
            (true, false) => symbols.rem(a, whole),
            (false, _) => {
                let quotient = if towards_zero { symbols.div_towards_zero(a, whole) } else { symbols.div(a, whole) };
                symbols.scale(quotient, by.signum())
            }
        }
    }

    /// The thread index alone tells that the value is negative in some thread, whatever the block's shape.
    pub(super) fn is_seen_negative(&self, value: Symbol) -> bool {
        let symbols = &self.values.symbols;
        let nothing = FxHashMap::default();
        let facts = Facts::new(symbols, self.shape, &nothing);
        let bounds = facts.bounds(value);
        if bounds.low >= 0 || !bounds.is_finite() {
            return false;
        }
        self.is_of_index(value) && facts.per_thread(value).is_none_or(|values| values.iter().any(|value| *value < 0))
    }

    /// Made of thread indices and numbers alone.
    fn is_of_index(&self, value: Symbol) -> bool {
        let symbols = &self.values.symbols;
        let mut some = false;
        let is_index = |leaf: Symbol| {
            use Source::{Lane, ThreadIdx, ThreadRank, Warp};
            some = true;
            matches!(symbols.node(leaf), Node::Leaf(Leaf::Source(ThreadIdx(_) | ThreadRank | Lane | Warp)))
        };
        symbols.all_leaves(value, is_index) && some
    }

    /// What is negative in some threads is compared by itself in these and in the others.
    pub(super) fn comparison(&mut self, operator: BinaryOp, a: Symbol, b: Symbol) -> Symbol {
        let (Node::Select(on, yes, no), true) = (self.values.symbols.node(a).clone(), self.is_of_index(a)) else {
            let (Node::Select(on, yes, no), true) = (self.values.symbols.node(b).clone(), self.is_of_index(b)) else {
                return self.binary(operator, a, b);
            };
            let (yes, no) = (self.binary(operator, a, yes), self.binary(operator, a, no));
            return self.values.symbols.select(on, yes, no);
        };
        let (yes, no) = (self.comparison(operator, yes, b), self.comparison(operator, no, b));
        self.values.symbols.select(on, yes, no)
    }

    /// A thread index less something that may be larger.
    fn falls_below(&self, value: Symbol) -> bool {
        let symbols = &self.values.symbols;
        let (terms, _) = symbols.terms(value);
        let is_index = |term: Symbol| {
            matches!(symbols.node(term), Node::Leaf(Leaf::Source(Source::ThreadIdx(_) | Source::ThreadRank)))
        };
        let nothing = FxHashMap::default();
        let less =
            |(term, by): &(Symbol, i64)| *by < 0 && !matches!(symbols.node(*term), Node::Binary(Operator::Div, ..));
        terms.iter().any(|(term, by)| *by > 0 && is_index(*term))
            && terms.iter().any(less)
            && Facts::new(symbols, self.shape, &nothing).bounds(value).low < 0
    }

    /// The less or greater of two values; which one it is may be plain: `max(threadIdx.x, blockDim.x)`.
    pub(super) fn extreme(&mut self, operator: Operator, a: Symbol, b: Symbol) -> Symbol {
        let less = self.values.symbols.less(a, b);
        let nothing = FxHashMap::default();
        let known = Facts::new(&self.values.symbols, self.shape, &nothing).decide(less);
        match known {
            Some(less) => {
                if less == (operator == Operator::Min) {
                    a
                } else {
                    b
                }
            }
            None => self.values.symbols.extreme(operator, a, b),
        }
    }

    /// `key << 16 | threadIdx.x`: the one is a multiple of what the other stays below.
    fn share_no_bit(&self, a: Symbol, b: Symbol) -> bool {
        let symbols = &self.values.symbols;
        if symbols.as_int(a).is_some() && symbols.as_int(b).is_some() {
            return false;
        }
        let nothing = FxHashMap::default();
        let facts = Facts::new(symbols, self.shape, &nothing);
        let is_above = |high: Symbol, low: Symbol| {
            let zeros = facts.divisor(high).trailing_zeros().min(62);
            let bounds = if zeros > 0 { facts.bounds(low) } else { return false };
            0 <= bounds.low && bounds.high < 1 << zeros
        };
        is_above(a, b) || is_above(b, a)
    }

    pub(super) fn binary(&mut self, operator: BinaryOp, a: Symbol, b: Symbol) -> Symbol {
        let leads_there = |root: &Symbol| roots(&self.values, b).contains(root);
        if operator == BinaryOp::Sub
            && is_address(&self.values.symbols, a)
            && roots(&self.values, a).iter().any(leads_there)
        {
            return self.values.symbols.sub(a, b);
        }
        let is_sum = matches!(operator, BinaryOp::BitOr | BinaryOp::BitXor) && self.share_no_bit(a, b);
        let operator = if is_sum { BinaryOp::Add } else { operator };
        let symbols = &mut self.values.symbols;
        match operator {
            BinaryOp::Add if is_address(symbols, a) => symbols.element(a, b),
            BinaryOp::Add if is_address(symbols, b) => symbols.element(b, a),
            BinaryOp::Add => symbols.add(a, b),
            BinaryOp::Sub if is_address(symbols, a) && !is_address(symbols, b) => {
                let back = symbols.scale(b, -1);
                symbols.element(a, back)
            }
            BinaryOp::Sub => symbols.sub(a, b),
            BinaryOp::Mul => symbols.mul(a, b),
            BinaryOp::Div => symbols.div(a, b),
            BinaryOp::Rem => symbols.rem(a, b),
            BinaryOp::Shl => symbols.shl(a, b),
            BinaryOp::Shr => symbols.shr(a, b),
            BinaryOp::BitAnd => symbols.bit_and(a, b),
            BinaryOp::BitOr => symbols.bit_or(a, b),
            BinaryOp::BitXor => symbols.bit_xor(a, b),
            BinaryOp::And => symbols.and(a, b),
            BinaryOp::Or => symbols.or(a, b),
            BinaryOp::Eq => symbols.equal(a, b),
            BinaryOp::Ne => {
                let equal = symbols.equal(a, b);
                symbols.not(equal)
            }
            BinaryOp::Lt => symbols.less(a, b),
            BinaryOp::Gt => symbols.less(b, a),
            BinaryOp::Le => {
                let above = symbols.less(b, a);
                symbols.not(above)
            }
            BinaryOp::Ge => {
                let below = symbols.less(a, b);
                symbols.not(below)
            }
        }
    }
}
