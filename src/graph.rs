//! One kernel with everything it calls, as one plain control-flow graph: what `inline` makes and the analysis reads.
//!
//! Calls are gone: the blocks of a callee stand where it was called, each instruction remembering its frame.
//! Template arguments are constants, lambdas and functors their bodies, methods of a library their effect.
//! Every instruction yields a value, named by its `InstId`; variables are memory (`Object`), read by `Load`.
//!
//! What it does not record: types beyond what changes a value, the order of evaluation inside one expression
//! where C++ leaves it open, exceptions.

use crate::program::{BinaryOp, Name, UnaryOp};
use crate::text::Span;
use rustc_hash::FxHashMap;

macro_rules! id {
    ($($name:ident),*) => { $(
        #[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
        pub struct $name(pub u32);
        impl $name {
            pub fn index(self) -> usize { self.0 as usize }
        }
    )* };
}
id!(FunctionId, ItemId, FrameId, BlockId, InstId, ObjectId);

/// An instruction is its own value.
pub type Value = InstId;

/// A place in the expanded text of an item.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct At {
    pub item: ItemId,
    pub span: Span,
}

#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// `frames[0]` is the root: a kernel, or a device function that nobody in view calls.
    pub frames: Vec<Frame>,
    /// `blocks[0]` is the entry. Unreachable blocks are allowed.
    pub blocks: Vec<Block>,
    pub insts: Vec<Inst>,
    pub objects: Vec<Object>,
    /// What could not be followed, and why: an unreadable statement, a call chain over the budget.
    pub incomplete: Vec<(At, String)>,
    /// By a member's name, the array dimensions that it has in all classes, if that can be said.
    pub member_ranks: FxHashMap<Name, Option<u8>>,
    /// Calls that are not followed and give nothing back; one that gives something is an `Op::Unknown` with its name.
    pub unseen: Vec<(At, Name)>,
    /// Some code in view uses `threadIdx.y`/`.z` or `blockDim.y`/`.z`, so the block may be more than one-dimensional.
    pub multidimensional: bool,
    /// First extents of the block that its collectives are written for: `cub::BlockReduce<int, 256>`.
    pub collective_widths: Vec<u32>,
    /// The root is a kernel: whoever comes to its barriers is in view.
    pub is_kernel: bool,
}

impl Graph {
    /// The first extent of the block that all its collectives are written for, if they agree on one.
    pub fn block_width(&self) -> Option<u32> {
        match self.collective_widths[..] {
            [width] => Some(width),
            _ => None,
        }
    }
}

#[derive(Clone, Debug)]
pub struct Frame {
    pub function: ItemId,
    /// For messages: `reduce`, `Tile::commit`, `lambda`.
    pub name: Name,
    /// The calling frame and the call there, name and arguments; `None` for the root.
    pub call: Option<(FrameId, At)>,
    /// What the call yields, where that is one value.
    pub result: Option<Value>,
    /// Nothing but the name says that the call means this function: the type of its object is open.
    pub is_guess: bool,
}

#[derive(Clone, Debug)]
pub struct Block {
    pub insts: Vec<InstId>,
    pub end: End,
    pub frame: FrameId,
}

#[derive(Clone, Debug)]
pub struct Inst {
    pub op: Op,
    pub at: At,
    pub frame: FrameId,
}

#[derive(Clone, Debug)]
pub enum End {
    /// Goes on at `to`; `leaving` says which statement made it jump, at its place.
    Jump { to: BlockId, leaving: Leaving, at: At },
    /// `on` is non-zero: `yes`, else `no`. `at` is the condition or, for a loop, its head.
    Branch { on: Value, yes: BlockId, no: BlockId, at: At, what: Fork },
    /// Case values are constants in the end, as values; a range is two.
    Switch { on: Value, cases: Vec<(Value, BlockId)>, default: BlockId, at: At },
    /// One of several, the same one for all threads, unknown which: candidates of a call, return from a recursion.
    Choose(Vec<BlockId>),
    /// The thread ends.
    Exit { how: Exit, at: At },
    /// Nothing goes on from here: trap, failed assertion, unreachable.
    Dead,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Leaving {
    /// Runs on in order.
    Fall,
    Break,
    Continue,
    Goto,
    /// `return` of an inlined function, to behind its call. Falling off its end is `Fall`.
    Return,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Fork {
    If,
    /// The condition of a `for`, `while`, `do`; `yes` enters the body.
    Loop,
    /// `?:`
    Conditional,
    And,
    Or,
    /// A predicate on a PTX instruction.
    Predicate,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Exit {
    /// A written `return` of the root.
    Return,
    /// PTX `exit`, in any frame.
    Instruction,
    /// The end of the root's body.
    End,
}

/// A variable of one frame, a shared or global variable, a temporary.
#[derive(Clone, Debug)]
pub struct Object {
    /// As declared; of what the source has no name for a phrase, `the result`; or empty.
    pub name: Name,
    pub kind: ObjectKind,
    /// Extents, outermost first, `None` where not constant; empty for what is no array.
    pub dims: Vec<Option<i64>>,
    /// Of a class out of view, which may have elements all the same.
    pub is_open: bool,
    pub is_volatile: bool,
    pub at: At,
    pub frame: FrameId,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum ObjectKind {
    /// One for each thread.
    Local,
    /// One for each block.
    Shared,
    /// `__constant__`: nobody writes it while a kernel runs.
    Constant,
    /// `__device__` or `__managed__` at namespace scope.
    Global,
}

#[derive(Clone, Debug)]
pub enum Op {
    Int(i64),
    /// A value that the analysis knows nothing about beyond that it is the same for all threads if all of `from` are:
    /// floating-point literals, strings, `sizeof`, an unseen function's result (then `unseen` is its name), a template
    /// argument nobody gave.
    Unknown {
        from: Vec<Value>,
        unseen: Option<Name>,
    },
    /// The same function of the same operands gives the same value: `__clz`, `sqrtf`, `fminf`.
    Pure {
        name: Name,
        operands: Vec<Value>,
    },
    Source(Source),
    Unary(UnaryOp, Value),
    /// `And`/`Or` here have operands without effects. Pointer plus integer is `Element`.
    Binary(BinaryOp, Value, Value),
    Select {
        on: Value,
        yes: Value,
        no: Value,
    },
    Min(Value, Value),
    Max(Value, Value),
    /// Widening and sign changes are no operation.
    Convert {
        to: To,
        value: Value,
    },
    /// The value modulo 2^32: an unsigned operand, where it makes a difference that it cannot be negative.
    Wrapped(Value),

    // Addresses. A pointer's value is an address; `&x`, an array's decay and `*p` cost nothing.
    Address(ObjectId),
    /// `base[index]`, `base + index`; for a row of an array of arrays, too. `base - index` negates first.
    Element {
        base: Value,
        index: Value,
    },
    Member {
        base: Value,
        name: Name,
    },

    // Memory
    Load {
        address: Value,
        is_volatile: bool,
        read_only: bool,
    },
    Store {
        address: Value,
        value: Value,
    },
    /// Copies all of a struct or array; reads and writes like the members one by one.
    Copy {
        to: Value,
        from: Value,
    },
    /// An atomic read-modify-write. The result differs from thread to thread.
    Atomic {
        name: Name,
        address: Value,
        operands: Vec<Value>,
    },
    /// An unseen function, inline assembly or library call may write what `address` leads to, from `from`.
    Clobber {
        address: Value,
        from: Vec<Value>,
        /// It does: another member of a union was written.
        sure: bool,
    },

    /// Every thread of a group must come here together.
    Barrier(Box<Barrier>),
    /// `init(&bar, count)` of a `cuda::barrier` or mbarrier.
    BarrierInit {
        address: Value,
        count: Value,
    },
    /// `coalesced_threads()`: a group of whoever is here. The value stands for the group.
    Coalesce,
    /// The value is not zero for whoever goes on from here: `assert(x)`, `__builtin_assume(x)`, `static_assert(x)`.
    Assume(Value),
    /// A place the reader is told of in a story, without effect: nothing else.
    Nothing,
}

/// What a value is converted to.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum To {
    Bool,
    Float,
    Int { bits: u8, signed: bool },
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Axis {
    X,
    Y,
    Z,
}

/// Where values come from.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Source {
    ThreadIdx(Axis),
    /// Rank in the block, counted x first.
    ThreadRank,
    BlockIdx(Axis),
    BlockDim(Axis),
    /// Threads in the block.
    BlockSize,
    GridDim(Axis),
    /// The block's number in the grid, counted x first.
    BlockRank,
    /// Threads or blocks in the grid, clusters: the same for the whole launch; the name tells them apart.
    Launch(Name),
    /// 0..31
    Lane,
    /// `%warpid`
    Warp,
    /// `%lanemask_lt` and kin, by name: eq, le, lt, ge, gt.
    LaneMask(Name),
    /// Rank of the block in its cluster: one value per block, different in a cluster.
    BlockInCluster,
    /// Which cluster: the same for all its blocks.
    ClusterIndex,
    /// Argument of the root, by position: the same for all threads. `read_only`: points to memory nobody writes
    /// (`const __restrict__`). `object`: a reference or the object of a method, not a pointer or a number. For a
    /// device function without callers its parameters count as uniform.
    Param {
        index: u32,
        name: Name,
        read_only: bool,
        object: bool,
    },
    /// A value the program has just one of, not written in view: a host constant, `extern const`.
    Named(Name),
    /// A template argument that nobody gave, of this template: one for all threads.
    Open {
        item: ItemId,
        name: Name,
    },
    /// Clocks, random states: per thread, by name.
    Varying(Name),
    /// `__activemask()`
    ActiveMask,
}

#[derive(Clone, Debug)]
pub struct Barrier {
    /// As the user wrote it, without arguments: `__syncthreads`, `tile.sync`, `bar.sync`, `BlockReduce::Sum`.
    pub name: Name,
    pub group: Group,
    /// Threads wait here for the others; an arrive does not wait.
    pub waits: bool,
    /// Makes the group's writes visible behind it.
    pub orders_memory: bool,
    pub result: Outcome,
    /// For `racy`-independent checks of shuffles: the source lane and the width, where given.
    pub source_lane: Option<Value>,
    pub width: Option<Value>,
    /// All other operands.
    pub operands: Vec<Value>,
}

#[derive(Clone, Debug)]
pub enum Group {
    /// Lanes named by `mask`; `None` means all 32.
    Lanes {
        mask: Option<Value>,
    },
    /// Runs of `size` consecutive threads, a power of two.
    Tile {
        size: u32,
    },
    Block,
    /// A named barrier with a thread count: a subset by design. `aligned` forms need whole converged warps.
    Counted {
        id: Option<Value>,
        count: Value,
        aligned: bool,
    },
    /// The whole block at a named barrier; unaligned forms match by `id` from different places.
    Named {
        id: Option<Value>,
        aligned: bool,
    },
    /// Arrivals counted by an object: the whole block only if its `BarrierInit` says so.
    Object {
        address: Value,
    },
    /// A group made by the instruction `by` (`Coalesce`, or the `Barrier` of a partition).
    Formed {
        by: Value,
    },
    Cluster,
    Grid,
}

/// What a barrier's value is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Nothing,
    /// One value for the group: votes, reductions, aggregates, `__shfl_sync` from a uniform lane at full width.
    Uniform,
    /// The set of lanes for which the operand holds, the same value for the group.
    Ballot(Value),
    /// For each lane the set of its peers (`__match_any_sync`), itself included.
    Peers,
    /// `source_lane` and `width` decide: uniform over `width` lanes where the source lane is.
    Shuffle,
    PerThread,
    /// A new group (`labeled_partition`, `tiled_partition`): used by `Group::Formed`.
    Group,
}

impl End {
    pub fn successors(&self) -> Vec<BlockId> {
        match self {
            End::Jump { to, .. } => vec![*to],
            End::Branch { yes, no, .. } => vec![*yes, *no],
            End::Switch { cases, default, .. } => {
                let mut all: Vec<BlockId> = cases.iter().map(|(_, to)| *to).chain([*default]).collect();
                all.sort();
                all.dedup();
                all
            }
            End::Choose(targets) => targets.clone(),
            End::Exit { .. } | End::Dead => Vec::new(),
        }
    }
}
