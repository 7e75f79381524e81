//! Indices into one array, as two threads have them: may they be equal?

use super::super::extent::Extent;
use super::super::facts::{Facts, Thread};
use super::super::places::is_root;
use super::super::symbols::{Leaf, Node, Operator, Step, Symbol, Symbols};
use super::Memory;
use crate::graph::{Axis, Object, ObjectKind, Op, Source};
use rustc_hash::FxHashSet;

/// Two indices that are picked alike by the block's index, at a distance: they are equal in two different blocks.
/// `None` where they are not so picked.
pub fn in_other_blocks(symbols: &Symbols, x: Symbol, y: Symbol) -> Option<bool> {
    let (x, x_constant) = symbols.terms(x);
    let (y, y_constant) = symbols.terms(y);
    let is_block = |term: &&(Symbol, i64)| {
        matches!(symbols.node(term.0), Node::Leaf(Leaf::Source(Source::BlockIdx(_) | Source::BlockRank)))
    };
    let blocks: Vec<_> = x.iter().filter(is_block).collect();
    if blocks.is_empty() || !blocks.iter().copied().eq(y.iter().filter(is_block)) {
        return None;
    }
    let step = blocks.iter().map(|(_, factor)| factor.abs()).min()?;
    let mut apart = x.iter().filter(|term| !y.contains(term)).chain(y.iter().filter(|term| !x.contains(term)));
    // Looking back from block to block. What else sets them apart is taken to lead into another part of the buffer.
    let walks =
        |term: &&(Symbol, i64)| matches!(symbols.node(term.0), Node::Leaf(Leaf::Iteration(_))) && term.1 % step == 0;
    let constant = x_constant - y_constant;
    let walk = apart.clone().next().is_some();
    Some(apart.all(|term| walks(&term)) && constant % step == 0 && (walk || constant != 0))
}

fn is_loaded(symbols: &Symbols, value: Symbol) -> bool {
    match symbols.node(value) {
        Node::Leaf(Leaf::Load(_)) => true,
        Node::Pure(name, _) => &**name == "load",
        _ => false,
    }
}

/// Numbers of blocks that are tried.
const BLOCKS: i64 = 64;
/// Sizes of a grid that are tried.
const GRIDS: [i64; 4] = [2, 3, 8, 16];

/// Whether an index that is worked out of the block's own and the grid's size leads to the cell that another block has by
/// its own index: `(blockIdx.x + 1) % gridDim.x`, `blockIdx.x ^ 1`. `None` where it hangs on anything else.
pub fn meets_another_block(facts: &Facts, symbols: &Symbols, x: Symbol, y: Symbol) -> Option<bool> {
    let is = |leaf: Symbol, wanted: fn(&Source) -> bool| matches!(symbols.node(leaf), Node::Leaf(Leaf::Source(source)) if wanted(source));
    let is_block = |leaf: Symbol| is(leaf, |source| matches!(source, Source::BlockIdx(Axis::X) | Source::BlockRank));
    let is_grid = |leaf: Symbol| is(leaf, |source| matches!(source, Source::GridDim(Axis::X)));
    let own = symbols.leaves(y);
    let leaves = symbols.leaves(x);
    if !own.iter().all(|leaf| is_block(*leaf)) || own.is_empty() || !leaves.iter().any(|leaf| is_block(*leaf)) {
        return None;
    }
    if !leaves.iter().all(|leaf| is_block(*leaf) || is_grid(*leaf)) {
        return None;
    }
    let any = Thread { rank: 0, x: 0, y: 0, z: 0 };
    let cell = |index: Symbol, grid: i64, block: i64| {
        facts.value(index, &any, &|leaf| if is_grid(leaf) { Some(grid) } else { is_block(leaf).then_some(block) })
    };
    let mut meets = false;
    for grid in GRIDS {
        let cells: Vec<i64> = (0..grid).map(|block| cell(y, grid, block)).collect::<Option<_>>()?;
        for block in 0..grid {
            let read = cell(x, grid, block)?;
            meets |= cells.iter().zip(0..).any(|(written, by)| by != block && *written == read);
        }
    }
    Some(meets)
}

/// A cell that is picked by the block's index, but the same for several blocks: `cell[blockIdx.x / 2]`.
pub fn is_of_several_blocks(facts: &Facts, symbols: &Symbols, address: Symbol) -> bool {
    let is_block = |leaf: &Symbol| {
        matches!(symbols.node(*leaf), Node::Leaf(Leaf::Source(Source::BlockIdx(_) | Source::BlockRank)))
    };
    // By step, what of the index hangs on the block.
    let mut picks: Vec<Vec<(Symbol, i64)>> = Vec::new();
    for step in symbols.steps(address) {
        let Step::Index(index) = step else { continue };
        let (terms, _) = symbols.terms(index);
        picks.push(terms.into_iter().filter(|(term, _)| symbols.leaves(*term).iter().any(is_block)).collect());
    }
    let mut leaves: Vec<Symbol> = picks.iter().flatten().flat_map(|(term, _)| symbols.leaves(*term)).collect();
    leaves.sort_unstable();
    leaves.dedup();
    let (blocks, others): (Vec<Symbol>, Vec<Symbol>) = leaves.into_iter().partition(is_block);
    let [block] = blocks[..] else { return false };
    if !others.iter().all(|leaf| facts.agreement(*leaf).shown == Extent::GRID) {
        return false;
    }
    let any = Thread { rank: 0, x: 0, y: 0, z: 0 };
    // Numbers nobody knows: at one, and at some that are not made of one another.
    [[1, 1, 1], [1009, 10_007, 100_003]].into_iter().all(|numbers| {
        let number = |leaf: Symbol| others.iter().zip(numbers).find(|(other, _)| **other == leaf);
        let place = |of_block: i64| -> Option<Vec<i64>> {
            let given =
                |leaf: Symbol| if leaf == block { Some(of_block) } else { number(leaf).map(|(_, known)| known) };
            let cell = |terms: &Vec<(Symbol, i64)>| {
                terms.iter().try_fold(0i64, |sum, (term, by)| {
                    sum.checked_add(facts.value(*term, &any, &given)?.checked_mul(*by)?)
                })
            };
            picks.iter().map(cell).collect()
        };
        let Some(mut places) = (0..BLOCKS).map(place).collect::<Option<Vec<_>>>() else { return false };
        places.sort_unstable();
        places.dedup();
        (places.len() as i64) < BLOCKS
    })
}

/// What differs between threads is the thread's own number, or that of its warp: `s[threadIdx.x + trip * blockDim.x]`,
/// `s[threadIdx.x / 32]`.
fn is_dealt_out(symbols: &Symbols, facts: &Facts, group: Extent, index: Symbol) -> bool {
    let (terms, _) = symbols.terms(index);
    let mut own = terms.iter().filter(|(term, _)| facts.agreement(*term).shown < group);
    let number = |term: Symbol| match *symbols.node(term) {
        Node::Binary(Operator::Div, of, by) if symbols.as_int(by).is_some() => of,
        _ => term,
    };
    let is_own = |term: Symbol| {
        let node = symbols.node(number(term));
        matches!(
            node,
            Node::Leaf(Leaf::Source(Source::ThreadIdx(Axis::X) | Source::ThreadRank | Source::Lane | Source::Warp))
        )
    };
    matches!((own.next(), own.next()), (Some((term, 1)), None) if is_own(*term))
}

impl Memory<'_> {
    /// Two indices from one base may be equal, in two threads of a group. Where they differ by something unknown and
    /// unbounded that all threads share, one of two things is meant: the offset of one part of a buffer from another, which
    /// are taken to be disjoint, or a cell that data picks. A loop that goes over the cells of one buffer comes to the one
    /// asked for at some trip.
    pub fn may_be_equal(&self, facts: &Facts, group: Extent, x: Symbol, y: Symbol, base: Symbol) -> bool {
        let symbols = &self.values.symbols;
        if x == y {
            return true;
        }
        if let (Some(a), Some(b)) = (symbols.as_int(x), symbols.as_int(y)) {
            return a == b;
        }
        let (bounds_x, bounds_y) = (facts.bounds(x), facts.bounds(y));
        if bounds_x.high < bounds_y.low || bounds_y.high < bounds_x.low {
            return false;
        }
        if lies_above(symbols, facts, group, x, y) || lies_above(symbols, facts, group, y, x) {
            return false;
        }
        let Gap { common, constant, of_x, of_y } = gap(symbols, facts, group, x, y);
        if common.is_empty() {
            return !(of_x.is_empty() && of_y.is_empty()) || constant == 0;
        }
        let is_trip = |leaf: &Symbol| matches!(symbols.node(*leaf), Node::Leaf(Leaf::Iteration(_)));
        let by_trip = |(term, _): &(Symbol, i64)| symbols.leaves(*term).iter().any(is_trip);
        // At the latest in its first trip, by the thread that has the cell's number.
        let near = constant.unsigned_abs() < u64::from(facts.shape.most_threads());
        let one_by_one = || near && [x, y].iter().any(|side| is_dealt_out(symbols, facts, group, *side));
        if is_root(symbols, base) && common.iter().all(by_trip) && one_by_one() {
            return true;
        }
        bounds_x.is_finite() && bounds_y.is_finite()
            || match self.is_shared_object(base) {
                true if common.iter().any(|(term, _)| self.is_of_ticket(*term)) => false,
                true if common.iter().any(by_trip) => near && self.has_extents(base),
                true => self.has_extents(base) || common.iter().any(|(term, _)| self.is_of_data(*term)),
                false => self.is_row_by_number(x, y) || self.is_row_by_number(y, x),
            }
    }

    /// `x` is a row of the block's own, counted from its index, and `y` one whose number is data: `mark[row]` and
    /// `mark[link[row]]`.
    pub fn is_row_by_number(&self, x: Symbol, y: Symbol) -> bool {
        let symbols = &self.values.symbols;
        let is_counted = |leaf: Symbol| matches!(symbols.node(leaf), Node::Leaf(Leaf::Source(_) | Leaf::Iteration(_)));
        let is_block = |leaf: &Symbol| {
            matches!(symbols.node(*leaf), Node::Leaf(Leaf::Source(Source::BlockIdx(_) | Source::BlockRank)))
        };
        symbols.all_leaves(x, is_counted)
            && symbols.leaves(x).iter().any(is_block)
            && !symbols.holds(x, &|at| is_loaded(symbols, at))
            && matches!(symbols.terms(y).0[..], [(term, _)] if self.is_of_data(term))
    }

    /// Two indices of one trip are never equal, by the bounds of their difference: `k` and `k + 1 + threadIdx.x`.
    pub fn lie_apart(&self, facts: &Facts, group: Extent, x: Symbol, y: Symbol) -> bool {
        let Gap { common, constant, of_x, of_y } = gap(&self.values.symbols, facts, group, x, y);
        let sum = |one: &[(Symbol, i64)], other: &[(Symbol, i64)]| {
            let terms = common.iter().chain(one).copied().collect();
            facts.bounds_of_sum(terms, constant).plus(facts.bounds_of_sum(other.to_vec(), 0))
        };
        [sum(&of_x, &of_y), sum(&of_y, &of_x)].into_iter().any(|bounds| bounds.low > 0 || bounds.high < 0)
    }

    fn is_shared_object(&self, base: Symbol) -> bool {
        self.object(base).is_some_and(|object| object.kind == ObjectKind::Shared)
    }

    fn object(&self, base: Symbol) -> Option<&Object> {
        match self.values.symbols.node(base) {
            Node::Address(object) => Some(&self.order.graph.objects[object.index()]),
            _ => None,
        }
    }

    /// An array whose extents are declared: whatever counts from it stays in it.
    fn has_extents(&self, base: Symbol) -> bool {
        self.object(base).is_some_and(|object| !object.dims.is_empty() && object.dims.iter().all(Option::is_some))
    }

    /// What it comes to is read from memory, or worked out of what is.
    fn is_of_data(&self, value: Symbol) -> bool {
        self.comes_from(value, &|at| is_loaded(&self.values.symbols, at))
    }

    /// It is what an atomic gave: whoever draws such a ticket is the only one to have it.
    fn is_of_ticket(&self, value: Symbol) -> bool {
        self.comes_from(value, &|at| match self.values.symbols.node(at) {
            Node::Leaf(Leaf::Result(inst)) => matches!(self.order.graph.insts[inst.index()].op, Op::Atomic { .. }),
            _ => false,
        })
    }

    /// Something that the value is worked out of, on whatever way, is such.
    fn comes_from(&self, value: Symbol, is_such: &dyn Fn(Symbol) -> bool) -> bool {
        let values = self.values;
        let mut seen = FxHashSet::default();
        let mut work = vec![value];
        while let Some(at) = work.pop() {
            if !seen.insert(at) || seen.len() > MAX_SOURCES {
                continue;
            }
            if is_such(at) {
                return true;
            }
            match values.symbols.node(at) {
                Node::Leaf(Leaf::Phi(..)) => {
                    let phi = values.phis.get(&at).into_iter();
                    work.extend(phi.flat_map(|phi| &phi.incoming).map(|(_, slot)| slot.value));
                }
                Node::Leaf(Leaf::Mixed(..) | Leaf::Result(_)) => {
                    work.extend(values.inputs.get(&at).into_iter().flatten());
                }
                Node::Leaf(Leaf::Left(_, inner)) => work.push(*inner),
                _ => work.extend(values.symbols.children(at)),
            }
        }
        false
    }
}

/// Values looked at for where one index comes from.
const MAX_SOURCES: usize = 200;

/// `x - y`, of two threads: what all of a group share, and each one's own part. That does not cancel.
struct Gap {
    common: Vec<(Symbol, i64)>,
    constant: i64,
    of_x: Vec<(Symbol, i64)>,
    of_y: Vec<(Symbol, i64)>,
}

fn gap(symbols: &Symbols, facts: &Facts, group: Extent, x: Symbol, y: Symbol) -> Gap {
    let is_common = |term: &(Symbol, i64)| facts.agreement(term.0).shown >= group;
    let (x, x_constant) = symbols.terms(x);
    let (y, y_constant) = symbols.terms(y);
    let (mut common, of_x): (Vec<_>, Vec<_>) = x.into_iter().partition(is_common);
    let less = y.into_iter().map(|(term, factor)| (term, factor.wrapping_neg()));
    let (other, of_y): (Vec<_>, Vec<_>) = less.partition(is_common);
    for (term, factor) in other {
        match common.iter_mut().find(|(known, _)| *known == term) {
            Some((_, total)) => *total = total.wrapping_add(factor),
            None => common.push((term, factor)),
        }
    }
    common.retain(|(_, factor)| *factor != 0);
    Gap { common, constant: x_constant.wrapping_sub(y_constant), of_x, of_y }
}

/// `x` of every thread is more than `y` of any other, as `blockDim.x + i` is more than `threadIdx.x`.
fn lies_above(symbols: &Symbols, facts: &Facts, group: Extent, x: Symbol, y: Symbol) -> bool {
    let extents: Vec<(Axis, Symbol)> =
        symbols.terms(x).0.iter().filter_map(|(term, _)| extent_of(symbols, *term)).collect();
    if extents.is_empty() {
        return false;
    }
    let extreme = |index: Symbol, highest: bool| {
        let (terms, mut constant) = symbols.terms(index);
        let mut all = Vec::new();
        for (term, factor) in terms {
            if facts.agreement(term).shown >= group {
                all.push((term, factor));
                continue;
            }
            let Node::Leaf(Leaf::Source(Source::ThreadIdx(axis))) = symbols.node(term) else { return None };
            if highest == (factor > 0) {
                let (_, extent) = extents.iter().find(|(of, _)| of == axis)?;
                all.push((*extent, factor));
                constant -= factor;
            }
        }
        Some((all, constant))
    };
    let (Some((mut terms, lowest)), Some((other, highest))) = (extreme(x, false), extreme(y, true)) else {
        return false;
    };
    for (term, factor) in other {
        match terms.iter().position(|(known, _)| *known == term) {
            Some(at) => terms[at].1 -= factor,
            None => terms.push((term, -factor)),
        }
    }
    terms.retain(|(_, factor)| *factor != 0);
    facts.bounds_of_sum(terms, lowest - highest).low > 0
}

/// The axis of which a term is the block's extent.
fn extent_of(symbols: &Symbols, term: Symbol) -> Option<(Axis, Symbol)> {
    match symbols.node(term) {
        Node::Leaf(Leaf::Source(Source::BlockDim(axis))) => Some((*axis, term)),
        _ => None,
    }
}
