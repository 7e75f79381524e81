//! How many threads surely agree: the chain of groups, and how sure we are.
//!
//! ```text
//!   Grid ⊃ Cluster ⊃ Block ⊃ tiles of 512 … 64 ⊃ Warp ⊃ tiles of 16 … 2 ⊃ Thread
//! ```
//!
//! A value agrees over an extent if all threads of such a group that come to that point hold the same value there.
//! Less agreement is lower; joining two values takes the lower one.

use std::fmt;

/// A group of threads that agree, ordered by size. Tiles are runs of `2^n` consecutive threads, aligned to their size.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Extent(u8);

impl Extent {
    pub const THREAD: Extent = Extent(0);
    pub const WARP: Extent = Extent(5);
    pub const BLOCK: Extent = Extent(20);
    pub const CLUSTER: Extent = Extent(21);
    pub const GRID: Extent = Extent(22);
    /// More threads than any barrier waits for.
    pub const BEYOND_GRID: Extent = Extent(23);
    /// The largest tile that may be smaller than a block of 1024 threads.
    pub const LARGEST_TILE: u8 = 10;

    /// The tile of `2^power` threads; from 1024 threads on, the block.
    pub fn tile(power: u32) -> Extent {
        if power > u32::from(Self::LARGEST_TILE) { Extent::BLOCK } else { Extent(power as u8) }
    }

    /// The largest aligned run of threads that a group of `size` consecutive ones is made of.
    pub fn of_size(size: u32) -> Extent {
        Extent::tile(size.max(1).trailing_zeros())
    }

    /// Threads in it, for warps and tiles.
    pub fn threads(self) -> Option<u32> {
        (self.0 <= Self::LARGEST_TILE).then(|| 1 << self.0)
    }
}

impl fmt::Display for Extent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Extent::THREAD => f.write_str("thread"),
            Extent::WARP => f.write_str("warp"),
            Extent::BLOCK => f.write_str("block"),
            Extent::CLUSTER => f.write_str("cluster"),
            Extent::GRID => f.write_str("grid"),
            Extent::BEYOND_GRID => f.write_str("more than a grid"),
            tile => write!(f, "tile of {}", 1u32 << tile.0),
        }
    }
}

/// What is known of a value's agreement, under three readings.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Agreement {
    /// What can be shown.
    pub shown: Extent,
    /// If unknown block shapes and unseen functions are kind: a difference that is left is certain.
    pub hoped: Extent,
    /// If no load races with a write: a difference that is left is no race.
    pub ordered: Extent,
}

impl Agreement {
    pub const GRID: Agreement = Agreement::of(Extent::GRID);
    pub const THREAD: Agreement = Agreement::of(Extent::THREAD);

    pub const fn of(extent: Extent) -> Agreement {
        Agreement { shown: extent, hoped: extent, ordered: extent }
    }

    pub fn meet(self, other: Agreement) -> Agreement {
        Agreement {
            shown: self.shown.min(other.shown),
            hoped: self.hoped.min(other.hoped),
            ordered: self.ordered.min(other.ordered),
        }
    }

    /// The higher of the two: each is shown by itself.
    pub fn or(self, other: Agreement) -> Agreement {
        Agreement {
            shown: self.shown.max(other.shown),
            hoped: self.hoped.max(other.hoped),
            ordered: self.ordered.max(other.ordered),
        }
    }

    pub fn at_least(self, extent: Extent) -> Agreement {
        self.or(Agreement::of(extent))
    }

    pub fn at_most(self, extent: Extent) -> Agreement {
        self.meet(Agreement::of(extent))
    }
}
