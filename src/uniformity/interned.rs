//! From a node's hash to the symbols that may be it: the nodes themselves stand in one place only.

/// An open table; `EMPTY` where nothing is.
#[derive(Debug, Default)]
pub struct Interned {
    /// Part of the hash, and the symbol.
    slots: Vec<(u32, u32)>,
    held: usize,
}

const EMPTY: u32 = u32::MAX;

impl Interned {
    pub fn find(&self, hash: u64, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        let mut at = self.first(hash)?;
        loop {
            match self.slots[at] {
                (_, EMPTY) => return None,
                (part, symbol) if part == tag(hash) && is_it(symbol) => return Some(symbol),
                _ => at = (at + 1) & (self.slots.len() - 1),
            }
        }
    }

    /// Adds a symbol that is not there; `hash_of` tells the hashes of those that are.
    pub fn insert(&mut self, hash: u64, symbol: u32, hash_of: impl Fn(u32) -> u64) {
        // At most three of four slots are taken.
        if self.held * 4 >= self.slots.len() * 3 {
            let size = (self.slots.len() * 2).max(64);
            let before = std::mem::replace(&mut self.slots, vec![(0, EMPTY); size]);
            for (_, symbol) in before.into_iter().filter(|(_, symbol)| *symbol != EMPTY) {
                self.put(hash_of(symbol), symbol);
            }
        }
        self.put(hash, symbol);
        self.held += 1;
    }

    fn put(&mut self, hash: u64, symbol: u32) {
        let Some(mut at) = self.first(hash) else { return };
        while self.slots[at].1 != EMPTY {
            at = (at + 1) & (self.slots.len() - 1);
        }
        self.slots[at] = (tag(hash), symbol);
    }

    fn first(&self, hash: u64) -> Option<usize> {
        let last = self.slots.len().checked_sub(1)?;
        Some(hash as usize & last)
    }
}

fn tag(hash: u64) -> u32 {
    (hash >> 32) as u32
}
