//! Threads that wait: who has come together, what a collective gives each of them, who waits in vain.

use super::interpreter::{Machine, State};
use super::memory::{self, V};
use super::random::hash;
use std::collections::BTreeMap;
use synclint::graph::{Exit, Group, InstId, Op, Outcome};

/// The count a barrier waits for, and who has come where.
type Arrived = (i64, Vec<(usize, InstId)>);

/// Threads of one group at one barrier.
pub struct Key {
    /// The group's own threads, those that are missing included.
    pub expected: Vec<usize>,
    pub came: Vec<usize>,
    pub insts: Vec<InstId>,
    kind: Kind,
    /// Lanes: the primitive and its mask.
    like: u64,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// Lanes of a warp by name; threads that have returned need not come.
    Lanes,
    /// Likewise, all of them.
    Tile,
    /// All threads must come, those that have ended, too.
    Whole,
    /// A warp at a counted barrier.
    Counted { count: i64, id: i64, waits: bool },
    /// Nothing is claimed.
    Object,
    /// A group forms itself: `__activemask()`, `coalesced_threads()`.
    Soft,
}

type Name<'a> = (Kind, usize, u64, &'a str);

/// Lets go on who may. `false`: nobody can, or the run went as far as it says anything.
pub fn settle(machine: &mut Machine, flagged: &dyn Fn(InstId) -> bool) -> bool {
    outsiders(machine, flagged);
    let keys = keys(machine, flagged);
    let mut moved = machine.threads.iter().any(|thread| thread.state == State::Running);
    for key in &keys {
        moved |= complete(machine, key, flagged);
    }
    moved |= counted(machine);
    if moved || soft(machine, &keys) {
        return true;
    }
    if let Some(key) = keys.iter().find(|key| key.kind == Kind::Object) {
        release(machine, key);
        return true;
    }
    stuck(machine, &keys, flagged)
}

/// Lanes that call with a mask that does not name them.
fn outsiders(machine: &mut Machine, flagged: &dyn Fn(InstId) -> bool) {
    for index in 0..machine.threads.len() {
        let State::Waiting(inst) = machine.threads[index].state else { continue };
        let Some(Group::Lanes { mask: Some(mask) }) = machine.barrier(inst).map(|barrier| &barrier.group) else {
            continue;
        };
        let mask = machine.value(index, *mask).int();
        if mask & (1 << lane(machine, index)) == 0 {
            let key = Key { expected: vec![index], came: vec![index], insts: vec![inst], kind: Kind::Lanes, like: 0 };
            machine.catch(vec![inst], &key, Vec::new(), flagged, "the mask does not name the caller");
            machine.resume(index, inst, V::Int(0));
        }
    }
}

fn lane(machine: &Machine, index: usize) -> usize {
    index % machine.block_size() % 32
}

/// Those who wait, by what for.
fn keys(machine: &Machine, flagged: &dyn Fn(InstId) -> bool) -> Vec<Key> {
    let mut found: BTreeMap<Name, Key> = BTreeMap::new();
    let size = machine.block_size();
    let total = machine.threads.len();
    for (index, thread) in machine.threads.iter().enumerate() {
        let State::Waiting(inst) = thread.state else { continue };
        let (block, rank) = (index / size, index % size);
        let warp: Vec<usize> = {
            let first = block * size + rank / 32 * 32;
            (first..(first + 32).min((block + 1) * size)).collect()
        };
        let run_of = |length: usize| {
            let first = block * size + rank / length * length;
            (first..(first + length).min((block + 1) * size)).collect::<Vec<usize>>()
        };
        let here = u64::from(inst.0);
        let of = |value: Option<synclint::graph::Value>| value.map_or(0, |value| machine.value(index, value).int());
        let (kind, tag, name, expected): (Kind, u64, &str, Vec<usize>) = match machine.barrier(inst) {
            None => (Kind::Soft, here, "", warp),
            Some(barrier) => match &barrier.group {
                Group::Lanes { mask } => {
                    let mask = mask.map_or(-1, |mask| machine.value(index, mask).int()) as u32;
                    let named = warp.into_iter().filter(|other| mask & (1 << lane(machine, *other)) != 0).collect();
                    // The same primitive elsewhere is a match, but for one that is wrong where it stands.
                    let place = if flagged(inst) { here + 1 } else { 0 };
                    (Kind::Lanes, u64::from(mask) | place << 32, &*barrier.name, named)
                }
                Group::Tile { size } => {
                    let kind = if *size > 32 { Kind::Object } else { Kind::Tile };
                    (kind, here, "", run_of(*size as usize))
                }
                Group::Block => (Kind::Whole, here, "", run_of(size)),
                Group::Named { aligned: true, .. } => (Kind::Whole, here, "", run_of(size)),
                Group::Named { id, aligned: false } => (Kind::Whole, hash(&[of(*id) as u64]), "named", run_of(size)),
                Group::Counted { id, count, aligned } => {
                    let count = machine.value(index, *count).int();
                    let kind = Kind::Counted { count, id: of(*id), waits: barrier.waits };
                    (kind, if *aligned { here } else { 0 }, "counted", warp)
                }
                Group::Object { .. } => (Kind::Object, here, "object", run_of(size)),
                Group::Formed { by } => {
                    let number = machine.value(index, *by).int();
                    let members = machine.groups.get(number as usize).cloned().unwrap_or_else(|| vec![index]);
                    (Kind::Tile, hash(&[here, number as u64]), "formed", members)
                }
                Group::Cluster => {
                    let length = size * machine.launch.cluster as usize;
                    let first = index / length * length;
                    (Kind::Whole, here, "", (first..(first + length).min(total)).collect())
                }
                Group::Grid => (Kind::Whole, here, "", (0..total).collect()),
            },
        };
        if thread.counted {
            continue;
        }
        let first = expected.first().copied().unwrap_or(index);
        let like = hash(&[tag & 0xffff_ffff, name.bytes().fold(0, |sum, byte| hash(&[sum, u64::from(byte)]))]);
        let new = || Key { expected, came: Vec::new(), insts: Vec::new(), kind, like };
        let key = found.entry((kind, first, tag, name)).or_insert_with(new);
        key.came.push(index);
        if !key.insts.contains(&inst) {
            key.insts.push(inst);
        }
    }
    found.into_values().collect()
}

/// Everyone has come who can: they go on. Notes who has ended instead.
fn complete(machine: &mut Machine, key: &Key, flagged: &dyn Fn(InstId) -> bool) -> bool {
    if matches!(key.kind, Kind::Object | Kind::Soft) && key.came.len() < key.expected.len() || key.kind == Kind::Soft {
        return false;
    }
    let absent: Vec<usize> = key.expected.iter().copied().filter(|index| !key.came.contains(index)).collect();
    let mut missing = Vec::new();
    for index in absent {
        match machine.threads[index].state {
            State::Ended(Exit::End) => missing.push(index),
            State::Ended(Exit::Return | Exit::Instruction) => {
                if matches!(key.kind, Kind::Whole | Kind::Counted { .. }) {
                    missing.push(index);
                }
            }
            State::Running | State::Waiting(_) => return false,
        }
    }
    let excused =
        key.kind == Kind::Lanes && missing.iter().all(|index| machine.threads[*index].passed.contains(&key.like));
    if missing.is_empty() && key.kind == Kind::Whole {
        for index in &key.came {
            let block = *index / machine.block_size();
            machine.torn[block] = false;
        }
    }
    if !missing.is_empty() && !excused {
        machine.catch(key.insts.clone(), key, missing, flagged, "threads have ended without coming");
    }
    match key.kind {
        Kind::Counted { waits: true, .. } => {
            for index in &key.came {
                machine.threads[*index].counted = true;
            }
        }
        Kind::Counted { id, .. } => {
            let block = (key.came[0] / machine.block_size()) as u32;
            *machine.pending.entry((block, id)).or_default() += key.expected.len() as i64;
            release(machine, key);
        }
        _ => release(machine, key),
    }
    true
}

/// Warps that wait at a counted barrier go on once enough threads have arrived.
fn counted(machine: &mut Machine) -> bool {
    let mut arrived: BTreeMap<(u32, i64), Arrived> = BTreeMap::new();
    for (index, thread) in machine.threads.iter().enumerate() {
        let (State::Waiting(inst), true) = (thread.state, thread.counted) else { continue };
        let Some(Group::Counted { id, count, .. }) = machine.barrier(inst).map(|barrier| &barrier.group) else {
            continue;
        };
        let id = id.map_or(0, |id| machine.value(index, id).int());
        let block = (index / machine.block_size()) as u32;
        let entry = arrived.entry((block, id)).or_default();
        entry.0 = machine.value(index, *count).int();
        entry.1.push((index, inst));
    }
    let mut moved = false;
    for (key, (count, waiting)) in arrived {
        let before = machine.pending.get(&key).copied().unwrap_or(0);
        let sum = before + waiting.len() as i64;
        if sum >= count {
            machine.pending.insert(key, (sum - count).max(0));
            for (index, inst) in waiting {
                machine.resume(index, inst, V::Int(0));
            }
            moved = true;
        }
    }
    moved
}

/// Groups of whoever is there: the earliest of a warp, once none of its lanes can move.
fn soft(machine: &mut Machine, keys: &[Key]) -> bool {
    let waits: Vec<InstId> = keys.iter().flat_map(|key| key.insts.iter().copied()).collect();
    let ready = keys.iter().find(|key| {
        key.kind == Kind::Soft && !waits.iter().any(|other| machine.before.is_before(*other, key.insts[0]))
    });
    match ready.or_else(|| keys.iter().find(|key| key.kind == Kind::Soft)) {
        Some(key) => {
            release(machine, key);
            true
        }
        None => false,
    }
}

/// Nobody can move: what is known lets its threads pass; else somebody waits for threads that never come.
fn stuck(machine: &mut Machine, keys: &[Key], flagged: &dyn Fn(InstId) -> bool) -> bool {
    let first = |key: &&Key| !keys.iter().any(|other| machine.before.is_before(other.insts[0], key.insts[0]));
    let known = |key: &&Key| key.insts.iter().any(|inst| flagged(*inst));
    let passing = keys.iter().filter(known).find(first).or_else(|| keys.iter().find(known));
    if let Some(key) = passing {
        machine.report.confirmed.extend(key.insts.iter().copied());
        for index in &key.came {
            machine.threads[*index].passed.insert(key.like);
            let block = *index / machine.block_size();
            machine.torn[block] = true;
        }
        release(machine, key);
        return true;
    }
    // Only warps at counted barriers are left: the count is not checked.
    let waiting: Vec<(usize, InstId)> = machine
        .threads
        .iter()
        .enumerate()
        .filter_map(|(index, thread)| match thread.state {
            State::Waiting(inst) if thread.counted => Some((index, inst)),
            _ => None,
        })
        .collect();
    if !waiting.is_empty() {
        for (index, inst) in waiting {
            machine.resume(index, inst, V::Int(0));
        }
        return true;
    }
    let Some(key) = keys.iter().find(first).or(keys.first()) else { return false };
    let missing = key.expected.iter().copied().filter(|index| !key.came.contains(index)).collect();
    let mut at: Vec<InstId> = keys.iter().filter(first).flat_map(|key| key.insts.iter().copied()).collect();
    at.sort();
    at.dedup();
    machine.catch(at, key, missing, flagged, "others of the group wait elsewhere");
    false
}

/// The threads go on, each with its share of the result.
fn release(machine: &mut Machine, key: &Key) {
    machine.report.reached.extend(key.insts.iter().copied());
    let results = match key.kind {
        Kind::Soft => soft_results(machine, key),
        _ => results(machine, &key.came),
    };
    for (index, value) in key.came.iter().zip(results) {
        if let State::Waiting(inst) = machine.threads[*index].state {
            machine.resume(*index, inst, value);
        }
    }
}

fn soft_results(machine: &mut Machine, key: &Key) -> Vec<V> {
    let is_group = matches!(machine.graph.insts[key.insts[0].index()].op, Op::Coalesce);
    let value = if is_group {
        machine.groups.push(key.came.clone());
        machine.groups.len() as i64 - 1
    } else {
        key.came.iter().fold(0i64, |mask, index| mask | 1 << lane(machine, *index))
    };
    vec![V::Int(value); key.came.len()]
}

fn results(machine: &mut Machine, came: &[usize]) -> Vec<V> {
    let at = |machine: &Machine, index: usize| match machine.threads[index].state {
        State::Waiting(inst) => inst,
        _ => InstId(0),
    };
    let operand = |machine: &Machine, index: usize, position: usize| {
        let barrier = machine.barrier(at(machine, index));
        let value = barrier.and_then(|barrier| barrier.operands.get(position).copied());
        value.map_or(V::Int(0), |value| machine.value(index, value))
    };
    let firsts: Vec<V> = came.iter().map(|index| operand(machine, *index, 0)).collect();
    let from_lane = |machine: &Machine, of: usize, source: i64, width: i64| {
        let own = lane(machine, of) as i64;
        let source = own / width * width + source.rem_euclid(width);
        let found = came.iter().position(|other| lane(machine, *other) as i64 == source && other / 32 == of / 32);
        found.map_or(firsts[came.iter().position(|other| *other == of).unwrap_or(0)], |position| firsts[position])
    };
    let mut results = Vec::new();
    let mut labels: BTreeMap<i64, Vec<usize>> = BTreeMap::new();
    for (position, index) in came.iter().enumerate() {
        let Some(barrier) = machine.barrier(at(machine, *index)) else {
            results.push(V::Int(0));
            continue;
        };
        let width = barrier.width.map_or(32, |width| machine.value(*index, width).int()).clamp(1, 32);
        let own = lane(machine, *index) as i64;
        results.push(match &barrier.result {
            Outcome::Nothing => V::Int(0),
            Outcome::Uniform => vote(&barrier.name, &firsts, came, machine),
            Outcome::Ballot(predicate) => {
                let holds = came.iter().filter(|other| machine.value(**other, *predicate).is_true());
                V::Int(holds.fold(0, |mask, other| mask | 1 << lane(machine, *other)))
            }
            Outcome::Peers => {
                let peers = came.iter().zip(&firsts).filter(|(_, value)| value.int() == firsts[position].int());
                V::Int(peers.fold(0, |mask, (other, _)| mask | 1 << lane(machine, *other)))
            }
            Outcome::Shuffle => {
                let source = barrier.source_lane.map_or(0, |source| machine.value(*index, source).int());
                from_lane(machine, *index, source, width)
            }
            Outcome::PerThread => {
                let by = operand(machine, *index, 1).int();
                let stays = |source: i64| source >= 0 && source / width == own / width;
                match () {
                    () if barrier.name.contains("shfl_up") && stays(own - by) => {
                        from_lane(machine, *index, own - by, 32)
                    }
                    () if barrier.name.contains("shfl_down") && stays(own + by) => {
                        from_lane(machine, *index, own + by, 32)
                    }
                    () if barrier.name.contains("shfl_xor") && stays(own ^ by) => {
                        from_lane(machine, *index, own ^ by, 32)
                    }
                    () if barrier.name.contains("shfl") => firsts[position],
                    () => V::Int(memory::input(hash(&[*index as u64, firsts[position].int() as u64]))),
                }
            }
            Outcome::Group => {
                let label = match &*barrier.name {
                    "tiled_partition" => (*index % machine.block_size() / 32) as i64,
                    _ => firsts[position].int(),
                };
                labels.entry(label).or_default().push(*index);
                V::Int(label)
            }
        });
    }
    if !labels.is_empty() {
        let mut numbers: BTreeMap<i64, i64> = BTreeMap::new();
        for (label, members) in labels {
            machine.groups.push(members);
            numbers.insert(label, machine.groups.len() as i64 - 1);
        }
        for result in &mut results {
            *result = V::Int(numbers.get(&result.int()).copied().unwrap_or(0));
        }
    }
    results
}

/// One value for all who came.
fn vote(name: &str, values: &[V], came: &[usize], machine: &Machine) -> V {
    let ints = || values.iter().map(|value| value.int());
    let count = values.iter().filter(|value| value.is_true()).count();
    let has = |what: &str| name.contains(what);
    V::Int(match () {
        () if has("reduce_add") || has("Sum") => ints().fold(0, i64::wrapping_add),
        () if has("reduce_min") => ints().min().unwrap_or(0),
        () if has("reduce_max") => ints().max().unwrap_or(0),
        () if has("reduce_and") => ints().fold(-1, |a, b| a & b),
        () if has("reduce_or") => ints().fold(0, |a, b| a | b),
        () if has("reduce_xor") => ints().fold(0, |a, b| a ^ b),
        () if has("match_all") => match ints().all(|value| Some(value) == ints().next()) {
            true => came.iter().fold(0, |mask, index| mask | 1 << lane(machine, *index)),
            false => 0,
        },
        () if has("uni_sync") => i64::from(ints().all(|value| Some(value) == ints().next())),
        () if has("count") || has("popc") => count as i64,
        () if has("all") || has("and") => i64::from(count == values.len()),
        () if has("any") || has("or") => i64::from(count > 0),
        () => memory::input(ints().fold(11, |sum, value| hash(&[sum, value as u64]))),
    })
}
