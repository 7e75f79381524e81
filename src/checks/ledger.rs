//! The ledger of named barriers: who comes to which of the sixteen, and does that make up the count?
//!
//! PTX ISA, "bar, barrier": the number is 0..15, the count a multiple of the warp's size, and the barrier opens when as
//! many threads have arrived, whole warps at a time; a vote (`.red`) must not share an open barrier with `.sync` or
//! `.arrive`, and who arrived must not do so again before it has opened.
//! Threads are counted optimistically: who may come counts as coming, so what does not add up then never does.
//! Rounds are counted where the trips of all loops are numbers, or hang on one argument, for which some values are tried;
//! else that two roles go round equally often is left to the reader.

mod numbers;

use super::reach::{self, Reach, Threads};
use super::rounds::{self, Assumed, Rounds};
use super::{Check, Verdict, divergence, leaving};
use crate::finding::{Unit, Witness};
use crate::flow::control::Dependence;
use crate::graph::{At, Barrier, BlockId, Group, InstId, Op, Outcome, Value};
use crate::rules;
use crate::uniformity::extent::Extent;
use crate::uniformity::symbols::{Leaf, Node, Symbol, Symbols};

/// Named barriers a block has.
const BARRIERS: i64 = 16;
const WARP: i64 = 32;

const NUMBERS: &str = "number them from 0 to 15; barrier 0 is the one of `__syncthreads()`";
const SAME_COUNT: &str = "give all who meet at a barrier the same count: that of all of them together";

/// Everything that comes to counted barriers of one graph, for each block that its launches may have.
#[derive(Default)]
pub struct Ledger {
    pages: Vec<Page>,
}

/// One shape of the block.
struct Page {
    block: [u32; 3],
    /// An argument on which trips hang.
    assumed: Assumed,
    entries: Vec<Entry>,
}

/// Threads that come to one barrier instruction with one number and one count.
struct Entry {
    inst: InstId,
    /// Not known: may be any.
    id: Option<i64>,
    /// Not known, or the whole block.
    count: Option<i64>,
    threads: Threads,
    /// By warp, how often it surely comes, if that can be said of all who do.
    rounds: Option<Vec<i64>>,
    waits: bool,
    votes: bool,
    /// In a loop without anything that waits, so that it may come any number of times.
    repeats: bool,
}

/// Blocks of unknown size are tried in whole warps.
pub fn open(check: &Check) -> Ledger {
    let sites: Vec<InstId> = check
        .analysed
        .barriers()
        .filter(|inst| {
            let group = check.as_barrier(*inst).map(|barrier| &barrier.group);
            matches!(group, Some(Group::Counted { .. } | Group::Named { .. }))
        })
        .collect();
    let graph = check.analysed.graph;
    let counted = |inst: &InstId| matches!(check.as_barrier(*inst), Some(Barrier { group: Group::Counted { .. }, .. }));
    if !sites.iter().any(counted) || !graph.is_kernel || !graph.incomplete.is_empty() {
        return Ledger::default();
    }
    let shape = &check.analysed.shape;
    let blocks: Vec<[u32; 3]> = match shape.block {
        Some(block) => vec![block],
        None if shape.is_line() => (1..=shape.most_threads() / 32).map(|warps| [warps * 32, 1, 1]).collect(),
        None => Vec::new(),
    };
    let assumptions = rounds::assumptions(check, &sites);
    let mut rounds = Rounds::new(check, &sites);
    let mut pages = Vec::new();
    for block in blocks {
        let reach = reach::reach(check, block);
        for assumed in &assumptions {
            let counts = rounds.count(&reach, *assumed);
            let entries = sites.iter().zip(counts).flat_map(|(site, rounds)| entries(check, &reach, *site, &rounds));
            pages.push(Page { block, assumed: *assumed, entries: entries.collect() });
        }
    }
    Ledger { pages }
}

/// What is wrong with a named barrier, if anything.
pub fn check(check: &Check, inst: InstId, barrier: &Barrier) -> Option<Verdict> {
    let (id, count) = match &barrier.group {
        Group::Named { id, .. } => (*id, None),
        Group::Counted { id, count, .. } => (*id, Some(*count)),
        _ => return None,
    };
    if let Some(id) = id
        && let Some(verdict) =
            numbers::none_of_sixteen(check, inst, id).or_else(|| numbers::apart(check, inst, id, check.need(barrier)?))
    {
        return Some(verdict);
    }
    let count = count?;
    if let Some(verdict) = numbers::whole_warps(check, inst, count) {
        return Some(verdict);
    }
    let ledger = check.ledger.get_or_init(|| open(check));
    if !barrier.waits && ledger.repeats(check, inst) {
        return Some(again(check, inst, barrier));
    }
    sum(check, ledger, inst)
}

// ---------------------------------------------------------------- arriving again

impl Ledger {
    fn repeats(&self, check: &Check, inst: InstId) -> bool {
        let mut entries =
            self.pages.iter().flat_map(|page| &page.entries).filter(|entry| entry.inst == inst).peekable();
        if entries.peek().is_some() { entries.all(|entry| entry.repeats) } else { repeats(check, inst, None) }
    }
}

/// An arrive in a loop in which nothing holds its threads back until the barrier has opened.
fn repeats(check: &Check, inst: InstId, reach: Option<&Reach>) -> bool {
    let flow = &check.analysed.flow;
    let graph = check.analysed.graph;
    let own = check.analysed.block(inst);
    let Some(innermost) = flow.loop_of[own.index()] else { return false };
    let shared =
        |block: BlockId| reach.is_none_or(|reach| !reach.come[block.index()].and(&reach.come[own.index()]).is_empty());
    let waits = |inst: &InstId| match &graph.insts[inst.index()].op {
        Op::Barrier(barrier) => barrier.waits && !matches!(barrier.group, Group::Lanes { .. } | Group::Tile { .. }),
        _ => false,
    };
    let free = |inst: &InstId| match &graph.insts[inst.index()].op {
        // A flag that is waited for, or code nobody shows.
        Op::Atomic { .. } | Op::Unknown { unseen: Some(_), .. } | Op::Clobber { .. } => false,
        Op::Load { is_volatile, .. } => !is_volatile,
        _ => true,
    };
    let blocks: Vec<BlockId> = flow.loops[innermost].blocks.iter().copied().filter(|block| shared(*block)).collect();
    let insts = |block: &BlockId| &graph.blocks[block.index()].insts;
    if !blocks.iter().flat_map(insts).all(free) {
        return false;
    }
    let waiting: Vec<BlockId> = blocks.iter().copied().filter(|block| insts(block).iter().any(waits)).collect();
    waiting.is_empty() || !takes_turns(check, innermost) && leads_round(check, own, innermost, &waiting)
}

/// Some way from the block round the loop to itself passes none of those that wait.
fn leads_round(check: &Check, own: BlockId, innermost: usize, waiting: &[BlockId]) -> bool {
    let flow = &check.analysed.flow;
    let mut seen = vec![false; check.analysed.graph.blocks.len()];
    let mut work = vec![own];
    while let Some(block) = work.pop() {
        for to in flow.successors[block.index()].iter().filter(|to| flow.in_loop(**to, innermost)) {
            if *to == own {
                return !waiting.contains(&own);
            }
            if !waiting.contains(to) && !std::mem::replace(&mut seen[to.index()], true) {
                work.push(*to);
            }
        }
    }
    false
}

/// What is done on a turn of the loop hangs on which turn it is, so that a way round need not be gone twice.
fn takes_turns(check: &Check, innermost: usize) -> bool {
    let (flow, values) = (&check.analysed.flow, &check.analysed.values);
    let forks = flow.loops[innermost].blocks.iter().filter(|block| {
        flow.successors[block.index()].len() > 1
            && flow.successors[block.index()].iter().all(|to| flow.in_loop(*to, innermost))
    });
    forks.into_iter().any(|fork| values.condition[fork.index()].is_none_or(|on| is_of_turn(&values.symbols, on)))
}

/// The condition counts turns. What is read from a place that the turn picks may be the same twice.
fn is_of_turn(symbols: &Symbols, on: Symbol) -> bool {
    let mut work = vec![on];
    while let Some(symbol) = work.pop() {
        match symbols.node(symbol) {
            Node::Leaf(Leaf::Iteration(_) | Leaf::Phi(..)) => return true,
            Node::Pure(name, _) if &**name == "load" => {}
            _ => work.extend(symbols.children(symbol)),
        }
    }
    false
}

fn again(check: &Check, inst: InstId, barrier: &Barrier) -> Verdict {
    let text = "this loop arrives again without waiting for the barrier to have opened";
    let help = format!(
        "wait in the loop for those who use what was made (a second barrier on which they arrive), so that `{}` comes once a turn",
        barrier.name
    );
    verdict(check, inst, text, &help)
}

// ---------------------------------------------------------------- sums

/// What one shape of the block says of a barrier.
enum Sum {
    /// Nobody comes here, or not all is known.
    Open,
    Fits,
    Short(Key),
    /// More come than the count lets through.
    Left(Key),
    /// Votes and plain barriers need one another to make up the count.
    Mixed(Key),
    /// Threads come to one number at one place with this count and with others.
    Uneven(Key),
    /// Some threads come to a barrier that does not exist.
    Outside(Key),
    /// Threads arrive with one count, and all who wait do so with another.
    Unheard(Key),
}

#[derive(Copy, Clone)]
struct Key {
    id: i64,
    count: i64,
}

/// The count, if it cannot be made up in any block the kernel may be launched with.
fn sum(check: &Check, ledger: &Ledger, inst: InstId) -> Option<Verdict> {
    let mut fault: Option<(&Page, Sum)> = None;
    for page in &ledger.pages {
        match page.sum(inst) {
            Sum::Open => {}
            Sum::Fits => return None,
            // The largest block says most.
            sum => fault = Some((page, sum)),
        }
    }
    let (page, sum) = fault?;
    match sum {
        Sum::Short(key) => Some(page.short(check, inst, key)),
        Sum::Left(key) => Some(page.left(check, inst, key)),
        Sum::Mixed(key) => Some(page.mixed(check, inst, key)),
        Sum::Uneven(key) => Some(page.uneven(check, inst, key)),
        Sum::Outside(key) => Some(page.outside(check, inst, key)),
        Sum::Unheard(key) => Some(page.unheard(check, inst, key)),
        Sum::Open | Sum::Fits => None,
    }
}

impl Page {
    fn sum(&self, inst: InstId) -> Sum {
        if self.entries.iter().any(|entry| entry.id.is_none()) {
            return Sum::Open;
        }
        let mut seen = false;
        for own in self.entries.iter().filter(|entry| entry.inst == inst) {
            let (Some(id), Some(count)) = (own.id, own.count) else { return Sum::Open };
            let key = Key { id, count };
            if count <= 0 || count % WARP != 0 || self.of_number(id).any(|entry| entry.count.is_none()) {
                return Sum::Open;
            }
            seen = true;
            if !(0..BARRIERS).contains(&id) {
                return Sum::Outside(key);
            }
            if self.at(key).any(|entry| entry.repeats) {
                return Sum::Open;
            }
            if !own.waits {
                // Too few are a fault of those who wait.
                let heard = self.at(key).any(|entry| entry.waits) || !self.of_number(id).any(|entry| entry.waits);
                if heard {
                    continue;
                }
                return Sum::Unheard(key);
            }
            let most = self.most(key, &|_| true);
            if most < count {
                return Sum::Short(key);
            }
            if self.of_number(id).any(|entry| entry.inst == inst && entry.count != Some(count)) {
                return Sum::Uneven(key);
            }
            let votes = self.at(key).any(|entry| entry.votes);
            let plain = self.at(key).any(|entry| !entry.votes);
            if votes && plain && self.most(key, &|entry| entry.votes) < count {
                return Sum::Mixed(key);
            }
            if self.of_number(id).all(|entry| entry.count == Some(count)) && self.waits_for_good(own, key) == Some(true)
            {
                return Sum::Left(key);
            }
        }
        if seen { Sum::Fits } else { Sum::Open }
    }

    fn of_number(&self, id: i64) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(move |entry| entry.id == Some(id))
    }

    fn at(&self, key: Key) -> impl Iterator<Item = &Entry> {
        self.of_number(key.id).filter(move |entry| entry.count == Some(key.count))
    }

    /// The most threads that can be at the barrier at once: who waits does so at one place, who arrives goes on.
    fn most(&self, key: Key, counts: &dyn Fn(&Entry) -> bool) -> i64 {
        let waiting = self
            .at(key)
            .filter(|entry| entry.waits && counts(entry))
            .fold(Threads::default(), |all, entry| all.or(&entry.threads));
        let arriving: i64 = self.at(key).filter(|entry| !entry.waits && counts(entry)).map(Entry::arrivals).sum();
        i64::from(waiting.warps()) * WARP + arriving
    }

    /// Who is left over when the barrier has opened for the last time is more than those who only arrive; or some warp
    /// waits here and, all in all, more often than the barrier opens, each time but once for that warp.
    fn waits_for_good(&self, own: &Entry, key: Key) -> Option<bool> {
        let (mut total, mut arrive) = (0i64, 0i64);
        let mut waits = vec![0i64; own.rounds.as_ref()?.len()];
        for entry in self.at(key) {
            for (warp, times) in entry.rounds.as_ref()?.iter().enumerate().filter(|(warp, _)| entry.has(*warp)) {
                let threads = times.checked_mul(WARP)?;
                total = total.checked_add(threads)?;
                match entry.waits {
                    true => waits[warp] = waits[warp].checked_add(*times)?,
                    false => arrive = arrive.checked_add(threads)?,
                }
            }
        }
        let opens = total / key.count;
        Some(total % key.count > arrive || (0..waits.len()).any(|warp| own.has(warp) && waits[warp] > opens))
    }

    /// All arrivals, each as often as it happens.
    fn total(&self, key: Key) -> i64 {
        let often = |entry: &Entry| {
            let rounds = entry.rounds.iter().flatten().enumerate().filter(|(warp, _)| entry.has(*warp));
            rounds.map(|(_, times)| times.saturating_mul(WARP)).fold(0, i64::saturating_add)
        };
        self.at(key).map(often).fold(0, i64::saturating_add)
    }

    fn comers(&self, key: Key) -> Threads {
        self.at(key).fold(Threads::default(), |all, entry| all.or(&entry.threads))
    }

    fn everyone(&self) -> Threads {
        Threads::first(self.block.iter().fold(1u32, |size, extent| size.saturating_mul(*extent)))
    }

    // ------------------------------------------------------------ what to say

    fn short(&self, check: &Check, inst: InstId, key: Key) -> Verdict {
        let Key { id, count } = key;
        let most = self.most(key, &|_| true);
        let other = self.of_number(id).find_map(|entry| entry.count.filter(|other| *other != count));
        let missing =
            self.everyone().without(&self.of_number(id).fold(Threads::default(), |all, entry| all.or(&entry.threads)));
        let block = self.everyone().count();
        let text = match other {
            Some(other) => format!(
                "barrier {id} waits for {count} threads here and for {other} elsewhere, and only {most} can come with this count"
            ),
            None if check.analysed.shape.block.is_some() && missing.is_empty() && i64::from(block) < count => {
                format!("barrier {id} waits for {count} threads, but the block has {block}")
            }
            None => format!("barrier {id} waits for {count} threads, but no more than {most} can come"),
        };
        let help = match other {
            Some(_) => SAME_COUNT.to_string(),
            None => format!(
                "let the count be the threads that come, {most} here, those that only arrive among them; or let the others come, too"
            ),
        };
        let mut verdict = self.verdict(check, inst, key, &text, &help);
        // Somebody stays away: the branch that keeps them away is the cause.
        if !missing.is_empty() && other.is_none() {
            let chain = check.chain(check.analysed.graph.insts[inst.index()].frame);
            if let Some(lead) = parting(check, inst) {
                verdict.rule = divergence::rule(check, inst, lead, leaving::ways(check, inst, lead));
                verdict.frame = chain[check.distance(&chain, lead.fork)];
                verdict.lead = Some(lead);
            }
        }
        verdict
    }

    fn left(&self, check: &Check, inst: InstId, key: Key) -> Verdict {
        let Key { id, count } = key;
        let total = self.total(key);
        let once = self.at(key).all(|entry| entry.rounds.iter().flatten().all(|times| *times == 1));
        let whole = i64::from(self.comers(key).warps()) * WARP == total;
        if once && whole {
            let text = format!(
                "barrier {id} opens for every {count} threads, but {total} come: the last {} wait for good",
                total % count
            );
            let help = format!(
                "let the count be all who come, {total} here; or give each set of {count} a barrier of its own"
            );
            return self.verdict(check, inst, key, &text, &help);
        }
        let opens = match total / count {
            0 => "never opens".to_string(),
            1 => "opens but once".to_string(),
            times => format!("opens {times} times at most"),
        };
        let text = format!(
            "barrier {id} {opens}: {count} threads have to come each time, and with all rounds {total} do; some wait here more often"
        );
        let help =
            "let those who meet here come equally often: the same number of trips, and as many arrivals as waits";
        let mut verdict = self.verdict(check, inst, key, &text, help);
        // Where roles part, rounds are told; a helper that they share comes once each time.
        let chain = check.chain(check.analysed.graph.insts[inst.index()].frame);
        let parting = parting(check, inst).map(|lead| check.distance(&chain, lead.fork));
        let written = chain.iter().position(|frame| *frame == verdict.frame);
        if let Some(outer) = parting.max(written) {
            verdict.frame = chain[outer];
        }
        verdict
    }

    fn outside(&self, check: &Check, inst: InstId, key: Key) -> Verdict {
        let text = format!("a block has barriers 0 to 15, and some threads come to barrier {}", key.id);
        self.verdict(check, inst, key, &text, NUMBERS)
    }

    fn unheard(&self, check: &Check, inst: InstId, key: Key) -> Verdict {
        let Key { id, count } = key;
        let text =
            format!("threads arrive at barrier {id} with a count of {count}, but nobody waits there with that count");
        self.verdict(check, inst, key, &text, SAME_COUNT)
    }

    fn uneven(&self, check: &Check, inst: InstId, key: Key) -> Verdict {
        let Key { id, count } = key;
        let mut others = self.of_number(id).filter(|entry| entry.inst == inst).filter_map(|entry| entry.count);
        let other = others.find(|other| *other != count).unwrap_or(count);
        let text = format!("some threads come to barrier {id} here with a count of {count}, others with {other}");
        self.verdict(check, inst, key, &text, SAME_COUNT)
    }

    fn mixed(&self, check: &Check, inst: InstId, key: Key) -> Verdict {
        let text = format!(
            "barrier {} is shared by a vote (`.red`) and a plain barrier, and neither makes up the {} threads alone",
            key.id, key.count
        );
        self.verdict(check, inst, key, &text, "let all who meet here vote, or none of them")
    }

    fn verdict(&self, check: &Check, inst: InstId, key: Key, text: &str, help: &str) -> Verdict {
        let comers = self.comers(key);
        // Of a barrier that has enough of them nobody is missing.
        let enough = i64::from(comers.warps()) * WARP >= key.count || !(0..BARRIERS).contains(&key.id);
        // Who comes with another count is told beside it.
        let all = self.of_number(key.id).fold(Threads::default(), |all, entry| all.or(&entry.threads));
        let missing = if enough { Threads::default() } else { self.everyone().without(&all) };
        let known = check.analysed.shape.block.is_some();
        let size = format!("a block of {}", super::witness::spell_block(self.block));
        let size = if known { size } else { format!("{size} at most") };
        let assumed = self.assumed.and_then(|(argument, value)| {
            super::witness::name(check, argument).map(|name| format!(", {name} = {value}"))
        });
        let witness = Witness {
            given: size + &assumed.unwrap_or_default(),
            arrive: super::lanes::ranges(comers.ranks().collect()),
            missing: super::lanes::ranges(missing.ranks().collect()),
            unit: Unit::Thread,
            mask: None,
        };
        let also = self
            .of_number(key.id)
            .filter(|entry| entry.inst != inst)
            .map(|entry| {
                let how = if entry.waits { "wait" } else { "arrive" };
                let with = entry.count.filter(|count| *count != key.count);
                let with = with.map_or(String::new(), |count| format!(" with a count of {count}"));
                let who = super::lanes::spell(&super::lanes::ranges(entry.threads.ranks().collect()));
                (check.analysed.graph.insts[entry.inst.index()].at, format!("threads {who} {how} here{with}"))
            })
            .collect();
        let scope = Some(format!("{} threads", key.count));
        Verdict { witness: Some(witness), also, scope, ..verdict(check, inst, text, help) }
    }
}

/// The nearest fork at which the block's threads part on their way to a barrier.
fn parting(check: &Check, inst: InstId) -> Option<Dependence> {
    let chain = check.chain(check.analysed.graph.insts[inst.index()].frame);
    let dependences = check.dependences(check.analysed.block(inst));
    let splits = |each: &Dependence| check.analysed.fork(&check.facts, each.fork).shown < Extent::BLOCK;
    dependences.iter().copied().filter(splits).min_by_key(|each| check.distance(&chain, each.fork))
}

impl Entry {
    /// Some thread of the warp comes.
    fn has(&self, warp: usize) -> bool {
        self.threads.has_warp(warp)
    }

    fn arrivals(&self) -> i64 {
        i64::from(self.threads.warps()) * WARP
    }
}

// ---------------------------------------------------------------- who comes

/// The threads that come to a counted barrier, parted by the number and count they come with.
fn entries(check: &Check, reach: &Reach, inst: InstId, rounds: &[Option<i64>]) -> Vec<Entry> {
    let Some(barrier) = check.as_barrier(inst) else { return Vec::new() };
    let (id, count) = match &barrier.group {
        Group::Counted { id, count, .. } => (*id, Some(*count)),
        Group::Named { id, .. } => (*id, None),
        _ => return Vec::new(),
    };
    let block = check.analysed.block(inst);
    let symbol = |value: Value| check.analysed.symbol(value);
    let come = &reach.come[block.index()];
    let of_warp = |(warp, times): (usize, &Option<i64>)| if come.has_warp(warp) { *times } else { Some(0) };
    let rounds: Option<Vec<i64>> = rounds.iter().enumerate().map(of_warp).collect();
    let repeats = !barrier.waits && repeats(check, inst, Some(reach));
    let mut found: Vec<Entry> = Vec::new();
    for rank in come.ranks() {
        let own_id = id.and_then(|id| reach.value(check, symbol(id), rank));
        let own_count = count.and_then(|count| reach.value(check, symbol(count), rank));
        match found.iter_mut().find(|entry| entry.id == own_id && entry.count == own_count) {
            Some(entry) => entry.threads.add(rank),
            None => {
                let mut threads = Threads::default();
                threads.add(rank);
                found.push(Entry {
                    inst,
                    id: own_id,
                    count: own_count,
                    threads,
                    rounds: rounds.clone(),
                    waits: barrier.waits,
                    votes: barrier.result != Outcome::Nothing,
                    repeats,
                });
            }
        }
    }
    found
}

fn verdict(check: &Check, inst: InstId, text: &str, help: &str) -> Verdict {
    let barrier = check.as_barrier(inst);
    let name = barrier.map_or("", |barrier| &barrier.name);
    let operands: Vec<Value> = match barrier.map(|barrier| &barrier.group) {
        Some(Group::Counted { id, count, .. }) => id.iter().copied().chain([*count]).collect(),
        Some(Group::Named { id, .. }) => id.iter().copied().collect(),
        _ => Vec::new(),
    };
    Verdict {
        rule: &rules::NAMED_BARRIER,
        likely: false,
        lead: None,
        others: Vec::new(),
        frame: check.written_in(inst, &operands),
        need: Extent::BLOCK,
        scope: Some("named barrier".to_string()),
        message: Some(format!("`{name}`: {text}")),
        help: Some(help.to_string()),
        witness: None,
        also: Vec::<(At, String)>::new(),
    }
}
