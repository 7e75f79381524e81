//! What each thread's own variables hold at one point: a symbol per access path, and which write put it there.
//!
//! `s`, `s.rows`, `bins[2]` and `bins[*]` (some element) are paths. Writing a path forgets all paths below it;
//! reading one that nobody wrote looks at the nearest path above.

use super::symbols::{KeyId, Step, Symbol, Symbols};
use crate::graph::{InstId, ObjectId};
use crate::program::Name;
use rustc_hash::FxHashMap;
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
    of_object: FxHashMap<ObjectId, Vec<KeyId>>,
}

impl Keys {
    pub fn intern(&mut self, object: ObjectId, steps: Vec<KeyStep>) -> KeyId {
        if let Some(found) = self.known.get(&(object, steps.clone())) {
            return *found;
        }
        let key = KeyId(self.paths.len() as u32);
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

    pub fn of(&self, object: ObjectId) -> &[KeyId] {
        self.of_object.get(&object).map_or(&[], Vec::as_slice)
    }

    fn find(&self, object: ObjectId, steps: &[KeyStep]) -> Option<KeyId> {
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

#[derive(Clone, Debug, Default)]
pub struct State {
    slots: Rc<Vec<Option<Slot>>>,
}

impl State {
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    pub fn get(&self, key: KeyId) -> Option<Slot> {
        self.slots.get(key.0 as usize).copied().flatten()
    }

    pub fn set(&mut self, key: KeyId, slot: Option<Slot>) {
        let slots = Rc::make_mut(&mut self.slots);
        if slots.len() <= key.0 as usize {
            slots.resize(key.0 as usize + 1, None);
        }
        slots[key.0 as usize] = slot;
    }

    /// Both are the same state, not only equal.
    pub fn same(&self, other: &State) -> bool {
        Rc::ptr_eq(&self.slots, &other.slots)
    }
}

/// Turns address steps into a path; an index that is no number is `Any`.
pub fn path(symbols: &Symbols, steps: &[Step]) -> Vec<KeyStep> {
    steps
        .iter()
        .map(|step| match step {
            Step::Member(name) => KeyStep::Member(name.clone()),
            Step::Index(index) => symbols.as_int(*index).map_or(KeyStep::Any, KeyStep::At),
        })
        .collect()
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
    let overlapping: Vec<KeyId> = keys
        .of(object)
        .iter()
        .copied()
        .filter(|key| {
            let (_, path) = keys.path(*key);
            path.len() == steps.len() && (!exact || path.contains(&KeyStep::Any)) && overlaps(path, steps)
        })
        .collect();
    candidates.extend(overlapping.into_iter().filter_map(|key| state.get(key)));
    match candidates.as_slice() {
        [] => Found::Nothing(keys.intern(object, steps.to_vec())),
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
