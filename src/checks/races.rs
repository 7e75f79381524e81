//! How a race is told: which cell it is about, and who writes it.

use super::Check;
use super::reach::{self, Threads};
use crate::graph::{BlockId, InstId, Op, Value};
use crate::uniformity::memory::Race;
use crate::uniformity::symbols::Symbol;

/// Parts of an address that are spelled.
const MAX_PARTS: usize = 8;

/// Threads of other blocks write what a fork tests.
pub fn come_from_other_blocks(check: &Check, fork: BlockId) -> bool {
    let Some(on) = check.analysed.values.condition[fork.index()] else { return false };
    let races = &check.analysed.solution.races;
    let leaves = check.analysed.values.symbols.leaves(on);
    leaves.iter().filter_map(|leaf| races.get(leaf)).any(|race| !race.within_block)
}

/// No write can come between the reads of a value on which all agree: barriers stand round each write there is, or there is
/// none. Otherwise that is taken to be so, by the cells that the writes go to or by what they write.
pub fn is_surely_kept_apart(check: &Check, loaded: Symbol) -> bool {
    check.analysed.values.loads.get(&loaded).is_none_or(|load| check.memory().is_kept_apart(load))
}

/// Who makes a write: `thread 0`, `thread 0 of another block`, `another thread`.
pub fn writer(check: &Check, race: &Race, write: InstId) -> String {
    let shape = &check.analysed.shape;
    let crowds = check.crowds.get_or_init(|| match shape.block {
        Some(block) => vec![reach::reach(check, block)],
        None if shape.is_line() => {
            let lengths = [128, 256].map(|length| shape.most_threads().min(length));
            lengths.into_iter().map(|length| reach::reach(check, [length, 1, 1])).collect()
        }
        None => Vec::new(),
    });
    let block = check.analysed.block(write);
    let mut come = crowds.iter().map(|crowd| (crowd.block, crowd.come[block.index()]));
    let known = come.next().filter(|(block, first)| {
        let everyone = Threads::first(block.iter().product());
        !first.is_empty() && *first != everyone && come.all(|(_, other)| other == *first)
    });
    let few = known.and_then(|(_, threads)| match super::lanes::ranges(threads.ranks().collect())[..] {
        [(one, last)] if one == last => Some(format!("thread {one}")),
        [(first, last)] => Some(format!("one of threads {first}..{last}")),
        _ => None,
    });
    match (few, race.within_block) {
        (Some(few), true) => few,
        (Some(few), false) => format!("{few} of another block"),
        (None, true) => "another thread".to_string(),
        (None, false) => "a thread of another block".to_string(),
    }
}

/// What stands at an address, as the source spells it: `flag`, `done[0]`, `*count`, `state.phase`. What is not plain is `…`.
pub fn cell(check: &Check, address: Value) -> Option<String> {
    let graph = check.analysed.graph;
    let op = |value: Value| &graph.insts[value.index()].op;
    let named = |value: Value| match op(value) {
        Op::Address(object) => {
            let name = &graph.objects[object.index()].name;
            (!name.is_empty() && !name.contains(' ')).then(|| name.to_string())
        }
        _ => None,
    };
    let index = |value: Value| match op(value) {
        Op::Int(number) => number.to_string(),
        Op::Source(source) => super::story::source_name(source).unwrap_or_else(|| "…".to_string()),
        Op::Load { address, .. } => named(*address).unwrap_or_else(|| "…".to_string()),
        _ => "…".to_string(),
    };
    // The `0` of `*p` stands where the whole does, that of `p[0]` in the brackets.
    let place = |value: Value| graph.insts[value.index()].at;
    let mut parts: Vec<String> = Vec::new();
    let mut at = address;
    for _ in 0..MAX_PARTS {
        match op(at) {
            Op::Element { base, index: number }
                if at == address && place(*number) == place(at) && matches!(op(*base), Op::Load { .. }) =>
            {
                at = *base;
            }
            Op::Element { base, index: number } => {
                parts.push(format!("[{}]", index(*number)));
                at = *base;
            }
            Op::Member { base, name } => {
                parts.push(format!(".{name}"));
                at = *base;
            }
            Op::Address(_) => {
                parts.push(named(at)?);
                parts.reverse();
                return Some(parts.concat());
            }
            // What a pointer leads to.
            Op::Load { address, .. } => {
                let pointer = named(*address)?;
                return Some(match parts.pop() {
                    None => format!("*{pointer}"),
                    Some(first) => {
                        parts.reverse();
                        let first = first.strip_prefix('.').map(|name| format!("->{name}")).unwrap_or(first);
                        format!("{pointer}{first}{}", parts.concat())
                    }
                });
            }
            Op::Convert { value, .. } => at = *value,
            _ => return None,
        }
    }
    None
}
