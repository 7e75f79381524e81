//! What is known of a launch: the block's shape, or bounds on it. Source values become symbols here.
//!
//! A block whose shape is unknown counts as one-dimensional, with an extent that is a multiple of 32, unless code in
//! view uses the other two dimensions (SPEC, section 2).

use super::symbols::{Leaf, Symbol, Symbols};
use crate::graph::{Axis, InstId, Source};

/// The hardware's limit on threads per block (CUDA C++ Programming Guide, "Compute Capabilities").
pub const MAX_THREADS: u32 = 1024;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// The block's extents, where all launches in this analysis have them.
    pub block: Option<[u32; 3]>,
    /// Extents known singly where the whole shape is not: `dim3(32, rows)`.
    pub partial: [Option<u32>; 3],
    /// Upper bound on the threads of a block.
    pub max_threads: u32,
    /// The cluster's extents in blocks.
    pub cluster: Option<[u32; 3]>,
    /// Code in view speaks of a second dimension.
    pub multidimensional: bool,
}

impl Default for Shape {
    fn default() -> Shape {
        Shape { block: None, partial: [None; 3], max_threads: MAX_THREADS, cluster: None, multidimensional: false }
    }
}

impl Shape {
    /// The thread's rank is `threadIdx.x`.
    pub fn is_line(&self) -> bool {
        match self.block {
            Some([_, y, z]) => y == 1 && z == 1,
            None => !self.multidimensional,
        }
    }

    /// Threads of the block, if known.
    pub fn threads(&self) -> Option<u32> {
        self.block.map(|[x, y, z]| x.saturating_mul(y).saturating_mul(z))
    }

    /// The most threads a block may have.
    pub fn most_threads(&self) -> u32 {
        self.threads().unwrap_or(self.max_threads).clamp(1, MAX_THREADS)
    }

    pub fn extent(&self, axis: Axis) -> Option<u32> {
        let index = axis as usize;
        match self.block {
            Some(extents) => Some(extents[index]),
            None if !self.multidimensional && axis != Axis::X => Some(1),
            None => self.partial[index],
        }
    }

    /// Nothing known of the launch speaks against a block that is as wide as this.
    pub fn may_be_as_wide(&self, width: u32) -> bool {
        self.block.is_none() && self.partial[Axis::X as usize].is_none() && (1..=self.max_threads).contains(&width)
    }

    /// With the first extent known.
    pub fn as_wide_as(self, width: u32) -> Shape {
        match self.multidimensional {
            true => Shape { partial: [Some(width), self.partial[1], self.partial[2]], ..self },
            false => Shape { block: Some([width, 1, 1]), ..self },
        }
    }

    /// What a cluster of known shape says of its extents.
    fn in_cluster(&self, name: &str) -> Option<i64> {
        let [x, y, z] = self.cluster?.map(i64::from);
        match name {
            "cluster.num_blocks" => Some(x * y * z),
            "cluster.dim_blocks.x" => Some(x),
            "cluster.dim_blocks.y" => Some(y),
            "cluster.dim_blocks.z" => Some(z),
            _ => None,
        }
    }

    /// The symbol of a source at an instruction.
    pub fn symbol(&self, symbols: &mut Symbols, source: &Source, inst: InstId) -> Symbol {
        match source {
            Source::ThreadIdx(axis) if self.extent(*axis) == Some(1) => Symbols::ZERO,
            Source::BlockDim(axis) => match self.extent(*axis) {
                Some(extent) => symbols.int(i64::from(extent)),
                None => symbols.source(source.clone()),
            },
            Source::BlockSize => {
                let extents =
                    [Axis::X, Axis::Y, Axis::Z].map(|axis| self.symbol(symbols, &Source::BlockDim(axis), inst));
                let plane = symbols.mul(extents[0], extents[1]);
                symbols.mul(plane, extents[2])
            }
            Source::ThreadRank if self.is_line() => self.symbol(symbols, &Source::ThreadIdx(Axis::X), inst),
            Source::ThreadRank if self.block.is_some() => {
                let [x, y, z] =
                    [Axis::X, Axis::Y, Axis::Z].map(|axis| self.symbol(symbols, &Source::ThreadIdx(axis), inst));
                let [across, down] = [Axis::X, Axis::Y].map(|axis| self.symbol(symbols, &Source::BlockDim(axis), inst));
                let z = symbols.mul(z, down);
                let rows = symbols.add(y, z);
                let rest = symbols.mul(rows, across);
                symbols.add(x, rest)
            }
            Source::Lane => {
                let (rank, warp) = (self.symbol(symbols, &Source::ThreadRank, inst), symbols.int(32));
                symbols.rem(rank, warp)
            }
            Source::Warp => {
                let (rank, warp) = (self.symbol(symbols, &Source::ThreadRank, inst), symbols.int(32));
                symbols.div(rank, warp)
            }
            Source::LaneMask(which) => {
                let lane = self.symbol(symbols, &Source::Lane, inst);
                let own = symbols.shl(Symbols::ONE, lane);
                let below = symbols.add_constant(own, -1);
                let twice = symbols.scale(own, 2);
                let up_to = symbols.add_constant(twice, -1);
                let all = i64::from(u32::MAX);
                match &**which {
                    "eq" => own,
                    "lt" => below,
                    "le" => up_to,
                    "ge" => {
                        let negated = symbols.scale(below, -1);
                        symbols.add_constant(negated, all)
                    }
                    _ => {
                        let negated = symbols.scale(up_to, -1);
                        symbols.add_constant(negated, all)
                    }
                }
            }
            // A cluster of one block has no other.
            Source::BlockInCluster if self.cluster == Some([1; 3]) => Symbols::ZERO,
            Source::BlockInCluster if matches!(self.cluster, Some([_, 1, 1])) => {
                let across = self.cluster.map_or(1, |[across, ..]| across);
                let (block, across) = (symbols.source(Source::BlockIdx(Axis::X)), symbols.int(i64::from(across)));
                symbols.rem(block, across)
            }
            Source::Launch(name) => match self.in_cluster(name) {
                Some(number) => symbols.int(number),
                None => symbols.source(source.clone()),
            },
            Source::ActiveMask => symbols.leaf(Leaf::ActiveMask(inst)),
            // Each look at a clock or a random state is a value of its own.
            Source::Varying(_) => symbols.leaf(Leaf::Result(inst)),
            _ => symbols.source(source.clone()),
        }
    }
}
