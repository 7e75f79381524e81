//! Sums along the threads: an index times a factor, plus a rest, and where what is made of them changes.

use super::super::extent::{Agreement, Extent};
use super::super::shape;
use super::super::symbols::{Leaf, Node, Operator, Symbol, Symbols};
use super::{Facts, gcd};
use crate::graph::{Axis, Source};

impl Facts<'_> {
    /// `value / by` for a thread index plus what agrees: constant over aligned runs of threads.
    pub(super) fn quotient(&self, value: Symbol, by: Symbol, plain: Agreement) -> Agreement {
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

    /// `(base + i) / n - i / n` is `base / n` where `n` divides `base`.
    pub(super) fn less_own_part(&self, terms: &[(Symbol, i64)], plain: Agreement) -> Agreement {
        match self.part_left(terms) {
            Some((extent, true)) => plain.at_least(extent),
            // That a size out of view divides the block's extent is hoped.
            Some((extent, false)) => Agreement { hoped: plain.hoped.max(extent), ..plain },
            None => plain,
        }
    }

    /// How far what is left agrees, and whether that is certain.
    fn part_left(&self, terms: &[(Symbol, i64)]) -> Option<(Extent, bool)> {
        let quotient = |term: &(Symbol, i64)| match self.symbols.node(term.0) {
            Node::Binary(Operator::Div, value, by) => Some((*value, *by, term.1)),
            _ => None,
        };
        let quotients: Vec<_> = terms.iter().filter_map(quotient).collect();
        let own_part = |(one, by, factor): &(Symbol, Symbol, i64)| {
            let by_number = self.symbols.as_int(*by).filter(|by| *by > 0).map(i64::unsigned_abs);
            if by_number.is_none() && !self.holds_named(&[(*by, 1)]) {
                return None;
            }
            quotients.iter().find_map(|(other, same, less)| {
                if same != by || *less != -factor {
                    return None;
                }
                let (mut base, constant) = self.symbols.terms(*one);
                let (others, other_constant) = self.symbols.terms(*other);
                for (term, factor) in others {
                    match base.iter().position(|(known, _)| *known == term) {
                        Some(at) => base[at].1 -= factor,
                        None => base.push((term, -factor)),
                    }
                }
                base.retain(|(_, factor)| *factor != 0);
                let constant = (constant - other_constant).unsigned_abs();
                let is_whole = match by_number {
                    Some(by) => self.divisor_of(&base).is_multiple_of(by) && constant.is_multiple_of(by),
                    None => constant == 0,
                };
                is_whole.then(|| (self.of_terms(&base).shown, by_number.is_some()))
            })
        };
        let (left, certain) = quotients.iter().find_map(own_part)?;
        let is_other = |term: &&(Symbol, i64)| quotient(term).is_none();
        let rest: Vec<_> = terms.iter().filter(is_other).copied().collect();
        (quotients.len() == 2).then(|| (left.min(self.of_terms(&rest).shown), certain))
    }

    /// `difference < 0` changes its answer once along the threads: at a multiple of a run if the rest is one.
    pub(super) fn boundary(&self, difference: Symbol, plain: Agreement) -> Agreement {
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
    pub(super) fn within_one_step(&self, value: Symbol, by: i64, known: Agreement) -> Agreement {
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
        let is_named = |leaf: Symbol| {
            matches!(self.symbols.node(leaf), Node::Leaf(Leaf::Source(Source::Named(_) | Source::Open { .. })))
        };
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
        let limit = i64::from(shape::MAX_THREADS);
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
