//! Lanes counted out: where masks and conditions depend on the thread index and numbers, those that come are compared
//! with those that are named, lane by lane.

use super::conditions::{condition, flatten};
use super::lanes::{ALL, DIFFERENT, bits, ranges, spell, spell_lanes, verdict};
use super::reach::target;
use super::{Check, Verdict, leaving};
use crate::finding::{Unit, Witness};
use crate::flow::control::Dependence;
use crate::graph::{BlockId, InstId, Source, To};
use crate::uniformity::extent::Extent;
use crate::uniformity::facts::Thread;
use crate::uniformity::symbols::{Leaf, Node, Operator, Symbol};

/// The mask in each thread, if it depends on the thread index and constants only.
pub fn masks(check: &Check, mask: Symbol) -> Option<Vec<u32>> {
    masks_of(check, mask, &threads(check), &|_| None)
}

fn masks_of(
    check: &Check,
    mask: Symbol,
    threads: &[Thread],
    given: &dyn Fn(Symbol) -> Option<i64>,
) -> Option<Vec<u32>> {
    if let Some(known) = check.analysed.values.symbols.as_int(mask) {
        return Some(vec![known as u32; threads.len()]);
    }
    threads.iter().map(|thread| check.facts.value(mask, thread, given).map(|value| value as u32)).collect()
}

/// The threads of the block; for a block of unknown shape as many as it may have, in a row.
pub fn threads(check: &Check) -> Vec<Thread> {
    let shape = &check.analysed.shape;
    let count = if shape.block.is_some() || shape.is_line() { shape.most_threads() } else { 32 };
    first_threads(check, count)
}

/// The threads of the block, where all that is asked depends on nothing else: by rank they are told in any block.
pub fn threads_that_tell(check: &Check, asked: &[Symbol]) -> Option<Vec<Thread>> {
    let symbols = &check.analysed.values.symbols;
    let threads = first_threads(check, check.analysed.shape.most_threads());
    let told = |symbol: &Symbol| {
        (symbols.leaves(*symbol).is_empty() || check.facts.only_thread_index(*symbol))
            && check.facts.value(*symbol, &threads[0], &|_| None).is_some()
    };
    asked.iter().all(told).then_some(threads)
}

fn first_threads(check: &Check, count: u32) -> Vec<Thread> {
    let shape = &check.analysed.shape;
    let [across, down, _] = shape.block.unwrap_or([shape.most_threads(), 1, 1]);
    (0..count).map(|rank| Thread { rank, x: rank % across, y: rank / across % down, z: rank / across / down }).collect()
}

/// No thread passes all tests of the thread index that guard the instruction: `threadIdx.x < 32`, then
/// `threadIdx.x >= 32`.
pub fn nobody_comes(check: &Check, inst: InstId) -> bool {
    let block = check.analysed.block(inst);
    let only_ways = check.dependences(block);
    let only_ways = only_ways.iter().filter(|each| check.analysed.flow.only_by(each.by, block));
    let tests: Vec<(Symbol, bool)> = only_ways
        .filter_map(|each| condition(check, *each))
        .filter(|(on, _)| check.facts.only_thread_index(*on))
        .collect();
    let asked: Vec<Symbol> = tests.iter().map(|(on, _)| *on).collect();
    let Some(threads) = threads_that_tell(check, &asked).filter(|_| tests.len() > 1) else { return false };
    let passes = |thread: &Thread, (on, wanted): &(Symbol, bool)| {
        check.facts.value(*on, thread, &|_| None).is_none_or(|value| (value != 0) == *wanted)
    };
    !threads.iter().any(|thread| tests.iter().all(|test| passes(thread, test)))
}

/// What must hold for a thread to come.
enum Guard {
    Holds(Symbol, bool),
    /// A switch goes one of these ways.
    Goes(Symbol, BlockId, Vec<BlockId>),
}

impl Guard {
    fn symbol(&self) -> Symbol {
        match self {
            Guard::Holds(symbol, _) | Guard::Goes(symbol, ..) => *symbol,
        }
    }

    /// Whether it does in a thread, as far as that is known.
    fn lets(&self, check: &Check, thread: &Thread, given: &dyn Fn(Symbol) -> Option<i64>) -> Option<bool> {
        let value = check.facts.value(self.symbol(), thread, given)?;
        match self {
            Guard::Holds(_, wanted) => Some((value != 0) == *wanted),
            Guard::Goes(_, fork, ways) => Some(ways.contains(&target(check, *fork, value)?)),
        }
    }
}

/// The forks' conditions, taken apart; `None` where one has none.
fn guards(check: &Check, splitting: &[Dependence]) -> Option<Vec<Guard>> {
    let values = &check.analysed.values;
    let mut found: Vec<Guard> = Vec::new();
    for each in splitting {
        if let Some((on, wanted)) = condition(check, *each) {
            let parts = flatten(&values.symbols, on, wanted, Operator::And);
            found.extend(parts.into_iter().map(|(symbol, wanted)| Guard::Holds(symbol, wanted)));
            continue;
        }
        let of_this = |guard: &&mut Guard| matches!(guard, Guard::Goes(_, fork, _) if *fork == each.fork);
        match found.iter_mut().find(of_this) {
            Some(Guard::Goes(_, _, ways)) => ways.push(each.by),
            _ => found.push(Guard::Goes(values.condition[each.fork.index()]?, each.fork, vec![each.by])),
        }
    }
    Some(found)
}

/// The guards that differ between the lanes of a warp, or can be told from the lane alone.
fn lane_by_lane(check: &Check, mut guards: Vec<Guard>) -> Vec<Guard> {
    let whole = |symbol: Symbol| check.facts.agreement(symbol).shown >= Extent::WARP;
    guards.retain(|guard| !whole(guard.symbol()) || check.facts.only_thread_index(guard.symbol()));
    guards
}

/// Compares the lanes that come with those that are named, warp by warp.
pub fn check(check: &Check, inst: InstId, mask: Option<Symbol>, splitting: &[Dependence]) -> Option<Verdict> {
    let general = |text: &str| Some(verdict(check, inst, splitting, None, text));
    let Some(guards) = guards(check, splitting).map(|guards| lane_by_lane(check, guards)) else {
        return general("the mask names lanes that do not come here");
    };
    let asked: Vec<Symbol> = guards.iter().map(Guard::symbol).chain(mask).collect();
    let threads = threads_that_tell(check, &asked).unwrap_or_else(|| threads(check));
    let named = match mask {
        None => vec![ALL; threads.len()],
        Some(mask) => masks_of(check, mask, &threads, &|_| None)?,
    };
    let guards = within_one_mask(check, guards, &named);
    let shape = &check.analysed.shape;
    if shape.block.is_none() && !shape.is_line() && !only_lane(check, &guards) {
        return general("the mask names lanes that do not come here");
    }
    let returns = returns(check, inst);
    let has_ended = |thread: &Thread| returns.iter().any(|each| each.ends(check, thread));
    let comes = |thread: &Thread| comes(check, &guards, thread, &|_| None);
    match compare(&threads, &named, &comes, &has_ended) {
        Ok(()) => None,
        Err(None) => general("the mask names lanes that may not come here"),
        Err(Some(misfit)) => Some(misfit.verdict(check, inst, splitting)),
    }
}

/// A fork that some lanes end at: who comes to it, and who goes on.
struct Return {
    comes: Vec<Guard>,
    goes_on: Vec<Guard>,
}

impl Return {
    /// A thread is known to end there.
    fn ends(&self, check: &Check, thread: &Thread) -> bool {
        comes(check, &self.comes, thread, &|_| None) == Some(true)
            && comes(check, &self.goes_on, thread, &|_| None) == Some(false)
    }
}

/// The returns on the way to an instruction at which lanes of a warp part.
fn returns(check: &Check, inst: InstId) -> Vec<Return> {
    let block = check.analysed.block(inst);
    let only_ways = |block: BlockId| -> Vec<Dependence> {
        let all = check.dependences(block);
        all.iter().filter(|each| check.analysed.flow.only_by(each.by, block)).copied().collect()
    };
    let ends =
        |each: &Dependence| check.parts(inst, *each, Extent::WARP) && leaving::ways(check, inst, *each).all_end();
    let read = |each: Dependence| {
        Some(Return { comes: guards(check, &only_ways(each.fork))?, goes_on: guards(check, &[each])? })
    };
    only_ways(block).into_iter().filter(ends).filter_map(read).collect()
}

/// Leaves out what all lanes agree on that one mask names: each tile of eight with its own mask goes its own way.
fn within_one_mask(check: &Check, mut guards: Vec<Guard>, named: &[u32]) -> Vec<Guard> {
    // The run of lanes that holds every lane of a mask and its owner.
    let run = |(rank, mask): (usize, &u32)| {
        let all = mask | 1 << (rank % 32);
        let (low, high) = (all.trailing_zeros(), 31 - all.leading_zeros());
        (0..=5).find(|power| low >> power == high >> power).unwrap_or(5)
    };
    let Some(tile) = named.iter().enumerate().map(run).max().filter(|power| *power < 5) else { return guards };
    guards.retain(|guard| {
        let symbol = guard.symbol();
        check.facts.only_thread_index(symbol) || check.facts.agreement(symbol).shown < Extent::tile(tile)
    });
    guards
}

/// Whether a thread comes, as far as that is known.
fn comes(check: &Check, guards: &[Guard], thread: &Thread, given: &dyn Fn(Symbol) -> Option<i64>) -> Option<bool> {
    let mut all = Some(true);
    for guard in guards {
        match guard.lets(check, thread, given) {
            Some(false) => return Some(false),
            Some(true) => {}
            None => all = None,
        }
    }
    all
}

/// What is wrong with a mask in some warp.
struct Misfit {
    witness: Witness,
    text: String,
    help: Option<String>,
}

impl Misfit {
    fn verdict(self, check: &Check, inst: InstId, splitting: &[Dependence]) -> Verdict {
        let Misfit { witness, text, help } = self;
        Verdict { help, ..verdict(check, inst, splitting, Some(witness), &text) }
    }
}

/// The first warp in which a mask is not the lanes that come, and what is wrong there; nothing where that is unknown.
fn compare(
    threads: &[Thread],
    named: &[u32],
    comes: &dyn Fn(&Thread) -> Option<bool>,
    has_ended: &dyn Fn(&Thread) -> bool,
) -> Result<(), Option<Box<Misfit>>> {
    for (warp, named) in threads.chunks(32).zip(named.chunks(32)) {
        let (mut arriving, mut live) = (0u32, 0u32);
        for thread in warp.iter().filter(|thread| !has_ended(thread)) {
            live |= 1 << (thread.rank % 32);
            arriving |= u32::from(comes(thread).ok_or(None)?) << (thread.rank % 32);
        }
        // Lanes may come in groups, each with a mask of its own.
        let comers = bits(arriving);
        let of = |lane: u32| named.get(lane as usize).copied().unwrap_or(0);
        let fits = |lane: &u32| {
            let mask = of(*lane);
            mask & live & !arriving == 0 && mask & (1 << lane) != 0 && !differs(mask & live, &of)
        };
        let Some(wrong) = comers.iter().find(|lane| !fits(lane)).map(|lane| of(*lane)) else { continue };
        let missing = wrong & live & !arriving;
        let unnamed: Vec<u32> = comers.into_iter().filter(|lane| of(*lane) & (1 << lane) == 0).collect();
        let witness = Witness {
            given: String::new(),
            arrive: ranges(bits(arriving)),
            missing: ranges(bits(missing)),
            unit: Unit::Lane,
            mask: Some(wrong),
        };
        let text = if missing != 0 {
            format!(
                "{} {}, but the mask names {}",
                spell_lanes(arriving),
                if arriving.count_ones() == 1 { "comes" } else { "come" },
                spell_lanes(wrong & live)
            )
        } else if unnamed.is_empty() {
            DIFFERENT.to_string()
        } else {
            format!("the mask leaves out lanes that call this: {}", spell(&ranges(unnamed)))
        };
        let comers = bits(arriving);
        let help = (missing == 0 && comers.iter().all(|lane| of(*lane) == wrong))
            .then(|| format!("name all lanes that come, {}: `{arriving:#010x}`", spell(&ranges(comers.clone()))));
        return Err(Some(Box::new(Misfit { witness, text, help })));
    }
    Ok(())
}

/// Numbers tried for what a mask is made of.
const TRIED: i64 = 32;

/// A mask of the first lanes, or the last, by a number that the whole warp has: `(1u << n) - 1`, `n < 32 ? ~(~0u << n) : ~0u`.
/// Tries what that number may be, for the first warp.
pub fn tried(check: &Check, inst: InstId, mask: Symbol, splitting: &[Dependence]) -> Option<Verdict> {
    let symbols = &check.analysed.values.symbols;
    let whole = |symbol: Symbol| check.facts.agreement(symbol).shown >= Extent::WARP;
    let mut unknown = symbols.leaves(mask);
    unknown.retain(|leaf| !check.facts.only_thread_index(*leaf));
    if !is_made_by_shifts(check, mask) || !whole(mask) || !unknown.iter().all(|leaf| whole(*leaf)) {
        return None;
    }
    let guards = guards(check, &check.dependences(check.analysed.block(inst)))?;
    let mut threads = threads(check);
    threads.truncate(32);
    unknown.iter().find_map(|chosen| {
        (0..=TRIED).find_map(|number| {
            let given = |leaf: Symbol| match unknown.contains(&leaf) {
                true => Some(if leaf == *chosen { number } else { 0 }),
                false => None,
            };
            let named = check.facts.value(mask, &threads[0], &given)? as u32;
            let size = unknown.iter().filter(|leaf| is_size(check, **leaf)).filter_map(|leaf| given(*leaf)).min();
            let threads = &threads[..size.map_or(threads.len(), |size| threads.len().min(size as usize))];
            let comes = |thread: &Thread| comes(check, &guards, thread, &given);
            match compare(threads, &vec![named; threads.len()], &comes, &|_| false) {
                Err(Some(misfit)) => Some(misfit.verdict(check, inst, splitting)),
                _ => None,
            }
        })
    })
}

/// The mask asks which of several it is by a number: it is meant for warps of which only a part comes.
pub fn is_chosen(check: &Check, mask: Symbol) -> bool {
    let symbols = &check.analysed.values.symbols;
    symbols.holds(mask, &|part| matches!(symbols.node(part), Node::Select(..)))
        && !symbols.leaves(mask).into_iter().any(|leaf| is_of_launch(check, leaf))
}

/// How many threads there are is for the launch to say.
fn is_of_launch(check: &Check, leaf: Symbol) -> bool {
    let node = check.analysed.values.symbols.node(leaf);
    is_size(check, leaf) || matches!(node, Node::Leaf(Leaf::Source(Source::Open { .. } | Source::Named(_))))
}

fn is_size(check: &Check, leaf: Symbol) -> bool {
    let node = check.analysed.values.symbols.node(leaf);
    matches!(node, Node::Leaf(Leaf::Source(Source::BlockDim(_) | Source::BlockSize)))
}

/// Numbers that are not known say only how far bits are shifted, and which of several masks it is.
fn is_made_by_shifts(check: &Check, mask: Symbol) -> bool {
    let symbols = &check.analysed.values.symbols;
    let mut shifts = false;
    let mut work = vec![mask];
    while let Some(part) = work.pop() {
        match *symbols.node(part) {
            Node::Int(_) => {}
            Node::Sum { ref terms, .. } => work.extend(terms.iter().map(|(term, _)| *term)),
            Node::Binary(Operator::Shl | Operator::Shr, bits, _) => {
                shifts = true;
                work.push(bits);
            }
            Node::Binary(Operator::BitAnd | Operator::BitOr | Operator::BitXor, a, b) => work.extend([a, b]),
            Node::Select(_, yes, no) => work.extend([yes, no]),
            Node::Convert(To::Int { .. }, inner) => work.push(inner),
            _ => return false,
        }
    }
    shifts
}

/// Some lane of a mask comes with another one.
pub fn differs(mask: u32, of: &dyn Fn(u32) -> u32) -> bool {
    (0..32).any(|lane| mask & (1 << lane) != 0 && of(lane) & mask != mask)
}

fn only_lane(check: &Check, guards: &[Guard]) -> bool {
    let symbols = &check.analysed.values.symbols;
    guards.iter().all(|guard| {
        let of_lane =
            |leaf: &Symbol| matches!(symbols.node(*leaf), Node::Leaf(Leaf::Source(Source::ThreadRank | Source::Lane)));
        symbols.leaves(guard.symbol()).iter().all(of_lane)
    })
}
