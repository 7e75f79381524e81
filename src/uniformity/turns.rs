//! What the forks of a loop will ask on the next trip, said with the values of this one.
//!
//! A mask that is carried round a loop names those who come to its use on the next trip: `mask = __ballot_sync(mask, p)`
//! fits if `p` is what the way there will ask. Only loops that carry a mask are looked at.

use super::evaluate::{Values, is_variant};
use super::symbols::{Leaf, Node, Symbol};
use crate::flow::Flow;
use crate::graph::{BlockId, Graph, Group, Op};
use rustc_hash::FxHashMap;

/// By loop and fork; a fork that asks what only the next trip brings is none of them.
pub type NextTurn = FxHashMap<(usize, BlockId), Symbol>;

pub fn next_turn(graph: &Graph, flow: &Flow, values: &mut Values) -> NextTurn {
    let mut found = NextTurn::default();
    for index in carrying(graph, flow, values) {
        let with = step(flow, values, index);
        let (mut done, mut known) = (FxHashMap::default(), FxHashMap::default());
        for block in &flow.loops[index].blocks {
            let Some(on) = values.condition[block.index()] else { continue };
            let stays = |leaf: Symbol, known: &mut FxHashMap<(Symbol, usize), bool>| {
                with.contains_key(&leaf) || !is_variant(&values.symbols, flow, &values.block_of, known, leaf, index)
            };
            if values.symbols.all_leaves(on, |leaf| stays(leaf, &mut known)) {
                found.insert((index, *block), values.symbols.replace(on, &with, &mut done));
            }
        }
    }
    found
}

/// Loops whose head some primitive's mask comes from.
fn carrying(graph: &Graph, flow: &Flow, values: &Values) -> Vec<usize> {
    let masks = flow.order.iter().flat_map(|block| &graph.blocks[block.index()].insts).filter_map(|inst| match &graph
        .insts[inst.index()]
    .op
    {
        Op::Barrier(barrier) => match barrier.group {
            Group::Lanes { mask } => mask,
            _ => None,
        },
        _ => None,
    });
    let head = |mask: Symbol| match values.symbols.node(mask) {
        Node::Leaf(Leaf::Phi(block, _)) => flow.head_of[block.index()],
        _ => None,
    };
    let mut found: Vec<usize> =
        masks.flat_map(|mask| values.symbols.leaves(values.of[mask.index()])).filter_map(head).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// What the variables of a loop become from one trip to the next, where that is one value.
fn step(flow: &Flow, values: &mut Values, index: usize) -> FxHashMap<Symbol, Symbol> {
    let header = flow.loops[index].header;
    let trips = values.symbols.leaf(Leaf::Iteration(header));
    let mut with = FxHashMap::from_iter([(trips, values.symbols.add_constant(trips, 1))]);
    for (symbol, phi) in values.phis.iter().filter(|(_, phi)| phi.block == header) {
        let mut back = phi.handed_on(flow);
        if let Some(value) = back.next()
            && back.all(|other| other == value)
        {
            with.insert(*symbol, value);
        }
    }
    with
}
