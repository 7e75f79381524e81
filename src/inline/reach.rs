//! What a function holds through all it may call: what decides whether its body must be followed.
//!
//! Calls are followed by name and visibility alone, so this says "may", never "does". The answer is that of the whole
//! graph of calls: it depends neither on who asks first nor on what was asked before.

use super::facts::{Holds, may_mean};
use super::program::Program;
use crate::graph::ItemId;
use crate::program::Name;
use crate::words::Words;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// A call by a name that so many functions share may do anything but wait.
const COMMON_NAME: usize = 64;

/// A function on the path that the search has come.
struct Visit {
    item: ItemId,
    /// How many functions were entered before it.
    number: usize,
    /// The smallest number that is reached from it among functions whose answer is open.
    low: usize,
    holds: Holds,
    callees: Vec<ItemId>,
}

impl Program<'_> {
    /// What the function holds, together with all it may call.
    ///
    /// Functions that call each other share their answer (Tarjan's components).
    pub fn reach(&self, root: ItemId, words: &Words) -> Holds {
        if let Some(known) = self.reach[root.index()].get() {
            return *known;
        }
        let answer = |item: ItemId, holds: Holds| *self.reach[item.index()].get_or_init(|| holds);
        let mut numbers: FxHashMap<ItemId, usize> = FxHashMap::from_iter([(root, 0)]);
        let mut open = vec![root];
        let mut path = vec![self.visit(root, 0, words)];
        while let Some(visit) = path.last_mut() {
            if visit.holds.is_full() {
                // All that are open lead here.
                let full = visit.holds;
                open.into_iter().for_each(|item| _ = answer(item, full));
                return full;
            }
            if let Some(callee) = visit.callees.pop() {
                match (self.reach[callee.index()].get(), numbers.get(&callee)) {
                    (Some(known), _) => visit.holds.join(*known),
                    (None, Some(number)) => visit.low = visit.low.min(*number),
                    (None, None) => {
                        let number = numbers.len();
                        numbers.insert(callee, number);
                        open.push(callee);
                        path.push(self.visit(callee, number, words));
                    }
                }
                continue;
            }
            let (item, number, low, holds) = (visit.item, visit.number, visit.low, visit.holds);
            path.pop();
            if low == number {
                while let Some(of_component) = open.pop() {
                    answer(of_component, holds);
                    if of_component == item {
                        break;
                    }
                }
            }
            if let Some(caller) = path.last_mut() {
                caller.holds.join(holds);
                caller.low = caller.low.min(low);
            }
        }
        self.reach[root.index()].get().copied().unwrap_or_default()
    }

    fn visit(&self, item: ItemId, number: usize, words: &Words) -> Visit {
        let facts = self.facts(item, words);
        let mut holds = facts.what;
        let mut callees: Vec<ItemId> = Vec::new();
        for call in &facts.calls {
            let before = callees.len();
            let named = self.visible(item, &call.name);
            callees.extend(named.iter().filter(|id| may_mean(self, item, call, self.item(**id))));
            if callees.len() - before > COMMON_NAME {
                holds.varying = true;
                holds.writes = true;
            }
            callees.extend(self.destructors_of(item, &call.name).iter());
        }
        callees.extend(self.operators_meant(item, &facts.operators));
        callees.sort_unstable();
        callees.dedup();
        Visit { item, number, low: number, holds, callees }
    }

    /// The destructors of the classes of a name.
    pub fn destructors_of(&self, from: ItemId, class: &str) -> Arc<[ItemId]> {
        let mut name = String::with_capacity(class.len() + 1);
        name.push('~');
        name.push_str(class);
        match self.named(&name) {
            [] => Arc::default(),
            _ => self.visible(from, &Name::from(name)),
        }
    }
}
