//! Indices into one array, as two threads have them: may they be equal?

use super::super::extent::Extent;
use super::super::facts::{Facts, Thread};
use super::super::symbols::{Leaf, Node, Operator, Step, Symbol, Symbols};
use crate::graph::{Axis, Source};
use rustc_hash::FxHashMap;

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

/// Two indices may be equal, in two threads of a group. Where they differ by something unknown and unbounded that
/// all threads share (the offset of one part of a buffer from another), the parts are taken to be disjoint; but a loop
/// that goes over the cells `of_one` buffer comes to the one asked for at some trip.
pub fn difference(symbols: &Symbols, facts: &Facts, group: Extent, x: Symbol, y: Symbol, of_one: bool) -> bool {
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
    let (mut rest, constant) = symbols.terms(x);
    let (other, other_constant) = symbols.terms(y);
    rest.extend(other.into_iter().map(|(term, factor)| (term, -factor)));
    let mut total: FxHashMap<Symbol, i64> = FxHashMap::default();
    for (term, factor) in rest {
        // Each side is another thread's: what differs between them does not cancel.
        if facts.agreement(term).shown >= group {
            *total.entry(term).or_default() += factor;
        }
    }
    total.retain(|_, factor| *factor != 0);
    let per_thread = [x, y].iter().any(|side| facts.agreement(*side).shown < group);
    if total.is_empty() {
        return per_thread || constant == other_constant;
    }
    let is_trip = |leaf: &Symbol| matches!(symbols.node(*leaf), Node::Leaf(Leaf::Iteration(_)));
    // At the latest in its first trip, by the thread that has the cell's number.
    let cell = (constant - other_constant).unsigned_abs() < u64::from(facts.shape.most_threads());
    let one_by_one = || cell && [x, y].iter().any(|side| is_dealt_out(symbols, facts, group, *side));
    if of_one && total.keys().all(|term| symbols.leaves(*term).iter().any(is_trip)) && one_by_one() {
        return true;
    }
    bounds_x.is_finite() && bounds_y.is_finite()
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
