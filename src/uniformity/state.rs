//! What each thread's own variables hold at one point: a symbol per access path, and which write put it there.
//!
//! `s`, `s.rows`, `bins[2]` and `bins[*]` (some element) are paths. Writing a path forgets all paths below it;
//! reading one that nobody wrote looks at the nearest path above.

use super::symbols::{KeyId, Step, Symbol, Symbols};
use crate::graph::{InstId, ObjectId};
use crate::program::Name;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum KeyStep {
    Member(Name),
    At(i64),
    /// Some element, unknown which.
    Any,
}

/// All access paths met so far.
#[derive(Debug, Default)]
pub struct Keys {
    known: FxHashMap<(ObjectId, Vec<KeyStep>), KeyId>,
    paths: Vec<(ObjectId, Vec<KeyStep>)>,
    /// The path one step shorter.
    above: Vec<Option<KeyId>>,
    of_object: FxHashMap<ObjectId, Vec<KeyId>>,
    /// Paths with an unknown index.
    blurred: FxHashMap<ObjectId, Vec<KeyId>>,
    /// Paths one step longer.
    parts: Vec<Vec<KeyId>>,
    /// Variables that are read both by members and by elements: `*(int4 *)row`.
    viewed: FxHashSet<ObjectId>,
    longest: FxHashMap<ObjectId, usize>,
}

impl Keys {
    pub fn intern(&mut self, object: ObjectId, steps: Vec<KeyStep>) -> KeyId {
        if let Some(found) = self.known.get(&(object, steps.clone())) {
            return *found;
        }
        let above = steps.split_last().map(|(_, rest)| self.intern(object, rest.to_vec()));
        let key = KeyId(self.paths.len() as u32);
        self.above.push(above);
        self.parts.push(Vec::new());
        if let Some(above) = above {
            let is_member = |steps: &[KeyStep]| matches!(steps.last(), Some(KeyStep::Member(_)));
            let beside = self.parts[above.0 as usize].first();
            if beside.is_some_and(|beside| is_member(&self.paths[beside.0 as usize].1) != is_member(&steps)) {
                self.viewed.insert(object);
            }
            self.parts[above.0 as usize].push(key);
        }
        if steps.contains(&KeyStep::Any) {
            self.blurred.entry(object).or_default().push(key);
        }
        let longest = self.longest.entry(object).or_default();
        *longest = (*longest).max(steps.len());
        self.known.insert((object, steps.clone()), key);
        self.paths.push((object, steps));
        self.of_object.entry(object).or_default().push(key);
        key
    }

    pub fn len(&self) -> usize {
        self.paths.len()
    }

    pub fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }

    pub fn path(&self, key: KeyId) -> (ObjectId, &[KeyStep]) {
        let (object, steps) = &self.paths[key.0 as usize];
        (*object, steps)
    }

    pub fn above(&self, key: KeyId) -> Option<KeyId> {
        self.above[key.0 as usize]
    }

    pub fn of(&self, object: ObjectId) -> &[KeyId] {
        self.of_object.get(&object).map_or(&[], Vec::as_slice)
    }

    /// Paths below a path, each with an exact step more.
    pub fn parts(&self, key: KeyId) -> Vec<KeyId> {
        let mut found: Vec<KeyId> = self.parts[key.0 as usize].clone();
        let mut next = 0;
        while next < found.len() {
            found.extend_from_slice(&self.parts[found[next].0 as usize]);
            next += 1;
        }
        found
    }

    /// Steps of the longest path from a variable.
    pub fn longest(&self, object: ObjectId) -> usize {
        self.longest.get(&object).copied().unwrap_or(0)
    }

    /// No path leads through this one.
    pub fn is_single(&self, key: KeyId) -> bool {
        self.parts[key.0 as usize].is_empty()
    }

    /// Of a variable that is read both by members and by elements: paths that name by the one what this one names by the
    /// other.
    pub fn other_views(&self, object: ObjectId, steps: &[KeyStep]) -> Vec<KeyId> {
        if !self.viewed.contains(&object) {
            return Vec::new();
        }
        let is_member = |step: &KeyStep| matches!(step, KeyStep::Member(_));
        let is_other = |key: &KeyId| {
            let apart = self.paths[key.0 as usize].1.iter().zip(steps).find(|(one, other)| one != other);
            apart.is_some_and(|(one, other)| is_member(one) != is_member(other))
        };
        self.of(object).iter().copied().filter(is_other).collect()
    }

    pub fn find(&self, object: ObjectId, steps: &[KeyStep]) -> Option<KeyId> {
        self.known.get(&(object, steps.to_vec())).copied()
    }
}

/// Which write a value comes from, for the story.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// A store, copy, atomic or call.
    Inst(InstId),
    /// Ways with different values meet at the head of this phi's block.
    Phi(Symbol),
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    pub value: Symbol,
    pub origin: Origin,
}

/// Slots that are shared, and copied, together.
const CHUNK: usize = 32;

type Chunk = [Option<Slot>; CHUNK];

/// By `KeyId`. States of neighbouring blocks share all chunks but those written in between.
#[derive(Clone, Debug, Default)]
pub struct State {
    chunks: Rc<Vec<Rc<Chunk>>>,
}

impl State {
    /// A number no key of this state reaches.
    pub fn len(&self) -> usize {
        self.chunks.len() * CHUNK
    }

    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    pub fn get(&self, key: KeyId) -> Option<Slot> {
        let key = key.0 as usize;
        self.chunks.get(key / CHUNK).and_then(|chunk| chunk[key % CHUNK])
    }

    pub fn set(&mut self, key: KeyId, slot: Option<Slot>) {
        if self.get(key) == slot {
            return;
        }
        let key = key.0 as usize;
        let chunks = Rc::make_mut(&mut self.chunks);
        if chunks.len() <= key / CHUNK {
            let empty = Rc::new([None; CHUNK]);
            chunks.resize(key / CHUNK + 1, empty);
        }
        Rc::make_mut(&mut chunks[key / CHUNK])[key % CHUNK] = slot;
    }

    /// The keys that hold something.
    pub fn keys(&self) -> impl Iterator<Item = KeyId> + '_ {
        let chunks = self.chunks.iter().enumerate();
        chunks.flat_map(|(index, chunk)| {
            let held = chunk.iter().enumerate().filter(|(_, slot)| slot.is_some());
            held.map(move |(at, _)| KeyId((index * CHUNK + at) as u32))
        })
    }

    /// The keys that do not hold the same in all of these states, in order; maybe some more.
    pub fn differing(states: &[&State]) -> Vec<KeyId> {
        let longest = states.iter().map(|state| state.chunks.len()).max().unwrap_or(0);
        let first = states.first().map(|state| &state.chunks);
        let mut keys = Vec::new();
        for index in 0..longest {
            let of_first = first.and_then(|chunks| chunks.get(index));
            let same = |state: &&State| match (state.chunks.get(index), of_first) {
                (Some(one), Some(other)) => Rc::ptr_eq(one, other),
                _ => false,
            };
            if !states.iter().all(same) {
                keys.extend((index * CHUNK..(index + 1) * CHUNK).map(|key| KeyId(key as u32)));
            }
        }
        keys
    }
}

/// Elements of an array that are told apart; those behind them are some element.
const MAX_ELEMENTS: i64 = 64;
/// Steps of a path that are told apart; deeper ones are the whole of what they are part of.
pub const MAX_STEPS: usize = 6;

/// Turns the steps from a variable into a path; an index that is no number is `Any`. What is reached over an array
/// without an index is in its first element; a step along what is no array leads somewhere into what that is part of:
/// then the second is false.
///
/// ```text
///     row->count              // `row[0].count`
///     (&v.x)[2] = 1.f;        // somewhere in `v`
/// ```
pub fn path(symbols: &Symbols, object: ObjectId, steps: &[Step]) -> (Vec<KeyStep>, bool) {
    let layout = symbols.layout();
    let mut path: Vec<KeyStep> = Vec::with_capacity(steps.len());
    let mut rank = layout.of_object(object);
    for step in steps {
        match step {
            Step::Member(name) => {
                path.extend(std::iter::repeat_n(KeyStep::At(0), rank.unwrap_or(0).into()));
                path.push(KeyStep::Member(name.clone()));
                rank = layout.of_member(name);
            }
            Step::Index(_) if rank == Some(0) => {
                path.pop();
                path.truncate(MAX_STEPS);
                return (path, false);
            }
            Step::Index(index) => {
                path.push(match symbols.as_int(*index) {
                    Some(index @ 0..MAX_ELEMENTS) => KeyStep::At(index),
                    _ => KeyStep::Any,
                });
                rank = rank.map(|rank| rank - 1);
            }
        }
    }
    path.truncate(MAX_STEPS);
    (path, true)
}

/// What a read of a path finds.
pub enum Found {
    /// One value.
    Value(Slot),
    /// Any of these values; the path has an unknown index, or an element may have been hit by a write to one.
    OneOf(Vec<Slot>),
    Nothing(KeyId),
}

pub fn read(state: &State, keys: &mut Keys, symbols: &mut Symbols, object: ObjectId, steps: &[KeyStep]) -> Found {
    let exact = !steps.contains(&KeyStep::Any);
    if exact && let Some(slot) = keys.find(object, steps).and_then(|key| state.get(key)) {
        return Found::Value(slot);
    }
    let mut candidates: Vec<Slot> = Vec::new();
    // Whole aggregates written at once: take the part.
    for cut in (0..steps.len()).rev() {
        if let Some(slot) = keys.find(object, &steps[..cut]).and_then(|key| state.get(key)) {
            let mut value = slot.value;
            for step in &steps[cut..] {
                value = match step {
                    KeyStep::Member(name) => symbols.member(value, name.clone()),
                    KeyStep::At(index) => {
                        let index = symbols.int(*index);
                        symbols.element(value, index)
                    }
                    KeyStep::Any => value,
                };
            }
            candidates.push(Slot { value, ..slot });
            break;
        }
    }
    // An exact path meets only paths with an unknown index; one of those meets all.
    let others = if exact { keys.blurred.get(&object).map_or(&[][..], Vec::as_slice) } else { keys.of(object) };
    let overlapping: Vec<KeyId> = others
        .iter()
        .copied()
        .filter(|key| {
            let (_, path) = keys.path(*key);
            path.len() == steps.len() && overlaps(path, steps)
        })
        .collect();
    candidates.extend(overlapping.into_iter().filter_map(|key| state.get(key)));
    if candidates.is_empty() {
        let key = keys.intern(object, steps.to_vec());
        candidates.extend(keys.other_views(object, steps).into_iter().filter_map(|key| state.get(key)));
        return if candidates.is_empty() { Found::Nothing(key) } else { Found::OneOf(candidates) };
    }
    match candidates.as_slice() {
        [only] if exact => Found::Value(*only),
        _ => Found::OneOf(candidates),
    }
}

pub fn overlaps(a: &[KeyStep], b: &[KeyStep]) -> bool {
    a.iter()
        .zip(b)
        .all(|(x, y)| x == y || matches!((x, y), (KeyStep::Any, KeyStep::At(_)) | (KeyStep::At(_), KeyStep::Any)))
}

/// Keys at or below a path, of those that hold something, with the rest of their path.
pub fn below(state: &State, keys: &Keys, object: ObjectId, steps: &[KeyStep]) -> Vec<(KeyId, Vec<KeyStep>)> {
    keys.of(object)
        .iter()
        .copied()
        .filter(|key| state.get(*key).is_some())
        .filter_map(|key| {
            let (_, path) = keys.path(key);
            (path.len() >= steps.len() && overlaps(&path[..steps.len()], steps))
                .then(|| (key, path[steps.len()..].to_vec()))
        })
        .collect()
}
