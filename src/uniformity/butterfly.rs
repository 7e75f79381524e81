//! Butterflies: what every lane makes of its own value and of that of its partner, `v + __shfl_xor_sync(full, v, s)`, is the
//! same in both. Over all strides below 32 the whole warp holds one value.
//!
//! A value is *blind* to a bit of the lane's number if lanes that differ in that bit alone hold the same. If what a lane makes
//! of the two does not change where they are swapped, it is blind to the stride, and to all that the value was blind to before:
//! so the order of the strides makes no difference, nor does it that floating-point sums are not associative.

use super::evaluate::Values;
use super::extent::{Agreement, Extent};
use super::facts::{Facts, Thread};
use super::shape::Shape;
use super::symbols::{Leaf, Node, Operator, Symbol, Symbols};
use crate::flow::Flow;
use crate::graph::{Barrier, BlockId, End, Graph, Group, InstId, Op, Outcome};
use rustc_hash::FxHashMap;

/// Bits of a lane's number, each the stride of a butterfly.
pub type Bits = u32;

const ALL: Bits = 31;

/// The shuffles of butterflies, and what comes out of loops over their strides.
#[derive(Debug, Default)]
pub struct Butterflies {
    /// By what a shuffle yields: whose value of the partner it is, and the stride.
    partner: FxHashMap<Symbol, (Symbol, Bits)>,
    /// By what is read behind a loop: the strides that it went over.
    folded: FxHashMap<Symbol, Bits>,
}

impl Butterflies {
    pub fn is_empty(&self) -> bool {
        self.partner.is_empty()
    }

    /// How far what is read behind a loop agrees for the strides that the loop went over.
    pub fn behind_loop(&self, left: Symbol) -> Extent {
        extent(self.folded.get(&left).copied().unwrap_or_default())
    }
}

/// Lanes that differ in these bits agree: the largest run of lanes that does.
fn extent(bits: Bits) -> Extent {
    Extent::tile(bits.trailing_ones())
}

fn bits(agreement: Agreement) -> Bits {
    agreement.shown.threads().map_or(ALL, |threads| (threads - 1) & ALL)
}

pub fn find(graph: &Graph, flow: &Flow, shape: &Shape, values: &mut Values) -> Butterflies {
    let mut found = Butterflies::default();
    let insts = flow.order.iter().flat_map(|block| &graph.blocks[block.index()].insts);
    for inst in insts.copied() {
        let Op::Barrier(barrier) = &graph.insts[inst.index()].op else { continue };
        let Some(width) = width(values, barrier) else { continue };
        let [value, stride, ..] = barrier.operands[..] else { continue };
        let (value, stride) = (values.of[value.index()], values.of[stride.index()]);
        match values.symbols.as_int(stride) {
            Some(number) => {
                let strides = strides(&[number], width);
                found.partner.extend(strides.map(|strides| (values.of[inst.index()], (value, strides))));
            }
            None => found.folded.extend(folded_by_loop(graph, flow, shape, values, inst, stride, width)),
        }
    }
    found
}

/// The lanes among which a butterfly's shuffle finds the partner, if all of them take part.
fn width(values: &Values, barrier: &Barrier) -> Option<i64> {
    let number = |value: InstId| values.symbols.as_int(values.of[value.index()]);
    let is_butterfly = barrier.name.contains("shfl_xor") || barrier.name.contains("shfl.sync.bfly");
    if !is_butterfly || barrier.result != Outcome::PerThread {
        return None;
    }
    let group = match barrier.group {
        Group::Lanes { mask: None } => 32,
        Group::Lanes { mask: Some(mask) } if number(mask)? as u32 == u32::MAX => 32,
        Group::Tile { size } => i64::from(size.min(32)),
        _ => return None,
    };
    let width = barrier.width.map_or(Some(group), number)?;
    ((1..=group).contains(&width) && width & (width - 1) == 0).then_some(width)
}

/// As bits; each has to be one, and to stay within the width.
fn strides(numbers: &[i64], width: i64) -> Option<Bits> {
    let is_stride = |number: &i64| (1..width).contains(number) && number & (number - 1) == 0;
    numbers.iter().all(is_stride).then(|| numbers.iter().fold(0, |bits, number| bits | *number as Bits))
}

/// `for (s = 16; s > 0; s /= 2) v += __shfl_xor_sync(full, v, s)`: what is read of `v` behind the loop, and the strides.
fn folded_by_loop(
    graph: &Graph,
    flow: &Flow,
    shape: &Shape,
    values: &mut Values,
    inst: InstId,
    stride: Symbol,
    width: i64,
) -> Option<(Symbol, Bits)> {
    let shuffled = values.of[inst.index()];
    let at = values.block_of[inst.index()];
    let index = flow.loop_of[at.index()]?;
    let each = &flow.loops[index];
    let ([latch], [(exit, _)]) = (&each.latches[..], &each.exits[..]) else { return None };
    let is_first = *exit == each.header && at != each.header;
    if !flow.dominates(at, *latch) || !is_first && exit != latch {
        return None;
    }
    let own = *values.inputs.get(&shuffled)?.first()?;
    let phi = values.phis.get(&own).filter(|phi| phi.block == each.header)?;
    let back = phi.handed_on(flow).next()?;
    if !is_symmetric(&values.symbols, back, own, shuffled) {
        return None;
    }
    let End::Branch { yes, .. } = &graph.blocks[exit.index()].end else { return None };
    let stays = flow.in_loop(*yes, index);
    let test = Test { header: each.header, on: values.condition[exit.index()]?, stays, is_first };
    let strides = strides(&on_each_trip(shape, values, &test, stride)?, width)?;
    let behind = if is_first { own } else { back };
    Some((values.symbols.leaf(Leaf::Left(each.header, behind)), strides))
}

/// The one test that ends a loop.
struct Test {
    header: BlockId,
    on: Symbol,
    /// What it comes to where the loop goes on.
    stays: bool,
    is_first: bool,
}

/// What a value comes to on each trip of a loop that counts by numbers alone.
fn on_each_trip(shape: &Shape, values: &Values, test: &Test, asked: Symbol) -> Option<Vec<i64>> {
    let Test { header, on, stays, is_first } = *test;
    let symbols = &values.symbols;
    let nothing = FxHashMap::default();
    let facts = Facts::new(symbols, shape, &nothing);
    let is_trip = |leaf: Symbol| matches!(symbols.node(leaf), Node::Leaf(Leaf::Iteration(at)) if *at == header);
    let mut counters: FxHashMap<Symbol, (i64, Symbol)> = FxHashMap::default();
    for (leaf, phi) in values.phis.iter().filter(|(_, phi)| phi.block == header) {
        if let [(_, first), (_, back)] = &phi.incoming[..]
            && let Some(first) = symbols.as_int(first.value)
        {
            counters.insert(*leaf, (first, back.value));
        }
    }
    let mut found = Vec::new();
    for trip in 0..MAX_STRIDES {
        let given = |leaf: Symbol| if is_trip(leaf) { Some(trip) } else { counters.get(&leaf).map(|(now, _)| *now) };
        let value = |symbol: Symbol| {
            let is_number = symbols.all_leaves(symbol, |leaf| given(leaf).is_some());
            is_number.then(|| facts.value(symbol, &ANY_THREAD, &given)).flatten()
        };
        let goes_on = (value(on)? != 0) == stays;
        if is_first && !goes_on {
            return Some(found);
        }
        found.push(value(asked)?);
        if !goes_on {
            return Some(found);
        }
        let next = counters.iter().filter_map(|(leaf, (_, back))| Some((*leaf, (value(*back)?, *back)))).collect();
        counters = next;
    }
    None
}

/// More strides than a warp has make no butterfly.
const MAX_STRIDES: i64 = 8;
const ANY_THREAD: Thread = Thread { rank: 0, x: 0, y: 0, z: 0 };

/// An expression of two values that does not change where they are swapped: their sum, the less of them.
fn is_symmetric(symbols: &Symbols, made: Symbol, a: Symbol, b: Symbol) -> bool {
    let are_both = |x: Symbol, y: Symbol| (x, y) == (a, b) || (x, y) == (b, a);
    match symbols.node(made) {
        Node::Sum { terms, .. } => {
            let mut both = symbols.terms(a).0;
            both.extend(symbols.terms(b).0);
            both.sort();
            both[..] == terms[..]
        }
        Node::Product(factors) => {
            let mut both = symbols.factors(a);
            both.extend(symbols.factors(b));
            both.sort();
            both[..] == factors[..]
        }
        Node::Binary(operator, x, y) => is_commutative(*operator) && are_both(*x, *y),
        Node::Pure(name, operands) => {
            matches!(operands[..], [x, y] if are_both(x, y)) && COMMUTATIVE.contains(&&**name)
        }
        Node::Select(on, yes, no) => are_both(*yes, *no) && compares(symbols, *on, *yes, *no),
        _ => false,
    }
}

fn is_commutative(operator: Operator) -> bool {
    use Operator::*;
    matches!(operator, BitAnd | BitOr | BitXor | And | Or | Min | Max)
}

/// Functions of two operands that may be swapped.
const COMMUTATIVE: [&str; 6] = ["__hadd", "__hmul", "__hmin", "__hmax", "__fadd_rn", "__fmul_rn"];

/// One of two values is less than the other, and nothing else is asked.
fn compares(symbols: &Symbols, on: Symbol, a: Symbol, b: Symbol) -> bool {
    let Node::Binary(Operator::Negative, difference, _) = *symbols.node(on) else { return false };
    let (terms, constant) = symbols.terms(difference);
    let is_less = |one: Symbol, other: Symbol| {
        let (mut left, mut right) = (symbols.terms(one), symbols.terms(other));
        right.0.iter_mut().for_each(|term| term.1 = term.1.wrapping_neg());
        left.0.extend(right.0);
        left.0.sort();
        left.0 == terms && constant == left.1.wrapping_sub(right.1)
    };
    is_less(a, b) || is_less(b, a)
}

/// Values within values that are looked into.
const MAX_DEPTH: u32 = 24;

impl Facts<'_> {
    /// How far a value agrees for the butterflies that it is made by.
    pub(super) fn across_lanes(&self, symbol: Symbol) -> Extent {
        if self.symbols.butterflies.is_empty() { Extent::THREAD } else { extent(self.blind(symbol, MAX_DEPTH)) }
    }

    fn blind(&self, symbol: Symbol, depth: u32) -> Bits {
        if let Some(known) = self.blind.borrow().get(&symbol) {
            return *known;
        }
        let Some(depth) = depth.checked_sub(1) else { return 0 };
        let found = self.blind_to(symbol, depth);
        self.blind.borrow_mut().insert(symbol, found);
        found
    }

    fn blind_to(&self, symbol: Symbol, depth: u32) -> Bits {
        let symbols = self.symbols;
        let partner = &symbols.butterflies.partner;
        match symbols.node(symbol) {
            Node::Int(_) | Node::Address(_) => return ALL,
            Node::Leaf(leaf) => {
                let own = bits(self.leaf(symbol, leaf));
                return partner.get(&symbol).map_or(own, |(value, _)| own | self.blind(*value, depth));
            }
            Node::Sum { terms, .. } => return self.blind_parts(terms.to_vec(), |value| symbols.terms(value).0, depth),
            Node::Product(factors) => {
                let parts = counted(factors.to_vec());
                return self.blind_parts(parts, |value| counted(symbols.factors(value)), depth);
            }
            _ => {}
        }
        let children = symbols.children(symbol);
        let plain = children.iter().fold(ALL, |bits, child| bits & self.blind(*child, depth));
        let pairs = children.iter().filter_map(|child| Some((*child, partner.get(child)?)));
        pairs.fold(plain, |bits, (shuffled, (value, stride))| {
            let symmetric = is_symmetric(symbols, symbol, *value, shuffled);
            if symmetric { bits | stride | self.blind(*value, depth) } else { bits }
        })
    }

    /// Of a sum (or product), in which a butterfly's two sides have been taken apart: `v` may be a sum itself.
    fn blind_parts(
        &self,
        mut parts: Vec<(Symbol, i64)>,
        parts_of: impl Fn(Symbol) -> Vec<(Symbol, i64)>,
        depth: u32,
    ) -> Bits {
        let mut bits = ALL;
        loop {
            // The last step of a butterfly holds those before it.
            let butterfly = parts.iter().filter_map(|(part, times)| {
                let (value, stride) = self.symbols.butterflies.partner.get(part)?;
                let mut own = parts_of(*value);
                own.iter_mut().for_each(|(_, factor)| *factor = factor.wrapping_mul(*times));
                own.iter().all(|term| parts.contains(term)).then_some((own, *part, *value, *stride))
            });
            let Some((own, part, value, stride)) = butterfly.max_by_key(|(own, ..)| own.len()) else { break };
            parts.retain(|term| term.0 != part && !own.contains(term));
            bits &= stride | self.blind(value, depth);
        }
        parts.iter().fold(bits, |bits, (part, _)| bits & self.blind(*part, depth))
    }
}

/// Each once, with how often it stands there.
fn counted(mut symbols: Vec<Symbol>) -> Vec<(Symbol, i64)> {
    symbols.sort();
    let runs = symbols.chunk_by(|a, b| a == b);
    runs.map(|run| (run[0], run.len() as i64)).collect()
}
