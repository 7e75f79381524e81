//! Where an address may lead, and whether two may be one.

use super::evaluate::Values;
use super::symbols::{Leaf, Node, Step, Symbol, Symbols};
use crate::graph::Source;

/// Whether two indices may be equal; the third is the base that both count from.
pub type Same<'s> = dyn FnMut(Symbol, Symbol, Symbol) -> bool + 's;

/// A base and the steps from it.
pub type Place = (Symbol, Vec<Step>);

/// Two addresses, each with where it may lead if that is known, may be one: their bases may be one, and no step tells
/// them apart.
pub fn may_be_one(
    symbols: &Symbols,
    (a, here): (Symbol, Option<&[Place]>),
    (b, there): (Symbol, Option<&[Place]>),
    same: &mut Same,
) -> bool {
    if a == b && symbols.leaves(a).is_empty() {
        return true;
    }
    let (Some(here), Some(there)) = (here, there) else { return true };
    here.iter().any(|(base, steps)| {
        there.iter().any(|(other, others)| {
            if base != other {
                return !(is_root(symbols, *base) && is_root(symbols, *other));
            }
            !steps.iter().zip(others).any(|pair| match pair {
                (Step::Member(x), Step::Member(y)) => x != y,
                (Step::Index(x), Step::Index(y)) => !same(*x, *y, *base),
                _ => false,
            })
        })
    })
}

/// What two different ones of lead to memory apart: variables, and pointer parameters.
pub fn is_root(symbols: &Symbols, base: Symbol) -> bool {
    matches!(symbols.node(base), Node::Address(_) | Node::Leaf(Leaf::Source(Source::Param { .. })))
}

/// Which way a `?:` goes, where that is known.
pub type Choose<'c> = &'c dyn Fn(Symbol) -> Option<bool>;

pub fn either(_on: Symbol) -> Option<bool> {
    None
}

/// Places looked at for one address.
const MAX_PLACES: usize = 16;

/// Where an address may lead: a base and the steps from it, through `wanted ? &s.count : nullptr` and joins. `None`
/// where that cannot be said, as for a pointer that moves on in a loop.
pub fn places(values: &Values, address: Symbol, choose: Choose) -> Option<Vec<Place>> {
    let symbols = &values.symbols;
    let mut found = Vec::new();
    let mut seen: Vec<Symbol> = Vec::new();
    let mut work: Vec<(Symbol, Vec<Step>)> = vec![(address, Vec::new())];
    while let Some((at, behind)) = work.pop() {
        let base = symbols.base(at);
        let mut steps = symbols.steps(at);
        steps.extend(behind);
        if seen.len() > MAX_PLACES {
            return None;
        }
        let ways: Vec<Symbol> = match symbols.node(base) {
            Node::Int(_) => continue,
            Node::Select(on, yes, no) => match choose(*on) {
                Some(holds) => vec![if holds { *yes } else { *no }],
                None => vec![*yes, *no],
            },
            Node::Leaf(Leaf::Left(_, inner)) => vec![*inner],
            Node::Leaf(Leaf::Phi(..)) if values.phis.contains_key(&base) => {
                if seen.contains(&base) {
                    return None;
                }
                values.phis[&base].incoming.iter().map(|(_, slot)| slot.value).collect()
            }
            Node::Sum { .. } => return None,
            _ => {
                found.push((base, steps));
                continue;
            }
        };
        seen.push(base);
        work.extend(ways.into_iter().map(|way| (way, steps.clone())));
    }
    Some(found)
}
