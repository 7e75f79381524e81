//! The parts of the product: conditions with the group they agree over, controls, barriers with the group they need.

/// Groups by size.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    Thread,
    Eight,
    Warp,
    Block,
    Cluster,
    Grid,
}
use Group::*;

pub struct Condition {
    pub name: &'static str,
    /// Statements before, in control flow that all threads share; `template` makes the kernel one.
    pub setup: &'static str,
    pub expression: &'static str,
    pub extent: Group,
    /// It agrees no further because a write may come between.
    pub races: bool,
}

const fn of(name: &'static str, extent: Group, setup: &'static str, expression: &'static str) -> Condition {
    Condition { name, setup, expression, extent, races: false }
}

const fn race(name: &'static str, setup: &'static str, expression: &'static str) -> Condition {
    Condition { name, setup, expression, extent: Thread, races: true }
}

pub const CONDITIONS: &[Condition] = &[
    of("literal", Grid, "", "1 < 2"),
    of("parameter", Grid, "", "n > 3"),
    of("field of a parameter", Grid, "", "pair.a > 3"),
    of("block index", Block, "", "blockIdx.x == 2"),
    of("block extent", Grid, "", "blockDim.x > 64"),
    of("grid extent", Grid, "", "gridDim.x > 2"),
    of("thread index", Thread, "", "threadIdx.x < 20"),
    of("lane", Thread, "int lane = threadIdx.x & 31;", "lane == 3"),
    of("warp index", Warp, "int warp = threadIdx.x / 32;", "warp == 1"),
    of("first warp", Warp, "", "threadIdx.x < 32"),
    of("eight of a warp", Eight, "int part = threadIdx.x / 8;", "part == 2"),
    of("global index in bounds", Thread, "int id = blockIdx.x * blockDim.x + threadIdx.x;", "id < n"),
    of("thread index cancels", Block, "int id = blockIdx.x * blockDim.x + threadIdx.x;", "id - (int)threadIdx.x < n"),
    of("below the block's extent", Grid, "", "threadIdx.x < blockDim.x"),
    of("beyond the architecture", Grid, "", "threadIdx.x >= 1024"),
    of("load at a fixed address", Grid, "", "q[3] > 0"),
    of("load at the block's address", Block, "", "q[blockIdx.x] > 0"),
    of("load at the thread's address", Thread, "", "q[threadIdx.x] > 0"),
    of("load by ldg", Grid, "", "__ldg(&q[2]) > 0"),
    of("constant memory", Grid, "", "table[5] > 0"),
    of("constant memory by thread", Thread, "", "table[threadIdx.x] > 0"),
    of("shuffle from one lane", Warp, "int got = __shfl_sync(0xffffffffu, x, 0);", "got > 3"),
    of("shuffle from a neighbour", Thread, "int got = __shfl_xor_sync(0xffffffffu, x, 1);", "got > 3"),
    of("vote of the warp", Warp, "int any = __any_sync(0xffffffffu, q[x] > 0);", "any"),
    of("ballot of the warp", Warp, "unsigned set = __ballot_sync(0xffffffffu, q[x] > 0);", "set != 0"),
    of("sum of the warp", Warp, "int sum = __reduce_add_sync(0xffffffffu, x);", "sum > 9"),
    of("vote of a tile", Eight, "int any = tile8.any(q[x] > 0);", "any"),
    of("rank of a tile", Eight, "int which = tile8.meta_group_rank();", "which == 2"),
    of("rank in a tile", Thread, "int own = tile8.thread_rank();", "own == 2"),
    of("vote of the block", Block, "int any = __syncthreads_or(q[x] > 0);", "any"),
    of("count of the block", Block, "int count = __syncthreads_count(q[x] > 0);", "count > 5"),
    of("rank in the cluster", Block, "int rank = cluster.block_rank();", "rank == 0"),
    of("atomic", Thread, "int old = atomicAdd(&p[0], 1);", "old == 5"),
    of("clock", Thread, "long long now = clock64();", "now & 1"),
    of("helper of a parameter", Grid, "", "twice(n) > 6"),
    of("helper of the thread index", Thread, "", "twice(threadIdx.x) > 6"),
    of("branching helper of a parameter", Grid, "", "is_small(n)"),
    of("branching helper of the thread index", Thread, "", "is_small(x)"),
    of("out-parameter of a parameter", Grid, "int out = 0;\nput(&out, n);", "out > 6"),
    of("out-parameter of the thread index", Thread, "int out = 0;\nput(&out, x);", "out > 6"),
    of("uniform field", Grid, "Pair both;\nboth.a = n;\nboth.b = x;", "both.a > 2"),
    of("thread's field", Thread, "Pair both;\nboth.a = n;\nboth.b = x;", "both.b > 2"),
    of("template argument", Grid, "template", "N > 3"),
    of("set in a thread's branch", Thread, "int set = 0;\nif (threadIdx.x == 7) { set = 1; }", "set"),
    of("set in a block's branch", Block, "int set = 0;\nif (blockIdx.x == 7) { set = 1; }", "set"),
    of("counted by own trips", Thread, "int trips = 0;\nfor (int j = x; j < n; j += 7) { trips++; }", "trips > 2"),
    of("counted by common trips", Grid, "int trips = 0;\nfor (int j = 0; j < n; j += 7) { trips++; }", "trips > 2"),
    of("local array by constant", Grid, "int own[4] = {n, m, 0, 1};", "own[1] > 2"),
    of("local array by thread", Thread, "int own[4] = {n, m, 0, 1};", "own[x & 3] > 2"),
    of("through a pointer", Thread, "int value = x;\nint *to = &value;", "*to > 2"),
    of("captured by reference", Thread, "int value = n;\nauto set = [&]() { value = x; };\nset();", "value > 2"),
    of(
        "broadcast",
        Block,
        "if (threadIdx.x == 0) { cell[0] = q[x]; }\n__syncthreads();\nint got = cell[0];\n__syncthreads();",
        "got > 2",
    ),
    race("broadcast without a barrier", "if (threadIdx.x == 0) { cell[0] = q[x]; }\nint got = cell[0];", "got > 2"),
    race(
        "overwritten before all read",
        "if (threadIdx.x == 0) { cell[0] = q[x]; }\n__syncthreads();\nint got = cell[0];\ncell[0] = x;",
        "got > 2",
    ),
    of("own shared element", Thread, "cell[x & 63] = q[x];\n__syncthreads();\nint got = cell[x & 63];", "got > 2"),
];

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Way {
    Branch,
    Loop,
    /// The thread ends.
    Exit,
    /// A helper returns.
    HelperExit,
    BothArms,
    Backwards,
    /// The threads are together again: nothing depends on the condition.
    Joined,
}

pub struct Control {
    pub name: &'static str,
    pub way: Way,
    /// With COND, BARRIER (a statement without its semicolon) or VALUE (an expression), GIVEN and
    /// TAKEN for arguments and parameters that the barrier asks for, `#` for the program's number.
    pub body: &'static str,
    pub helper: &'static str,
}

const fn control(name: &'static str, way: Way, body: &'static str) -> Control {
    Control { name, way, body, helper: "" }
}

pub const CONTROLS: &[Control] = &[
    control("if", Way::Branch, "if (COND) {\n    BARRIER; // @\n}"),
    control("else", Way::Branch, "if (COND) {\n    x += 1;\n} else {\n    BARRIER; // @\n}"),
    control("else if", Way::Branch, "if (m == 77) {\n    x += 1;\n} else if (COND) {\n    BARRIER; // @\n}"),
    control(
        "nested",
        Way::Branch,
        "if (n > 1) {\n    for (int j = 0; j < 2; j++) {\n        if (COND) {\n            BARRIER; // @\n        }\n    }\n}",
    ),
    control("negated", Way::Branch, "if (!(COND)) {\n    BARRIER; // @\n}"),
    control("compound", Way::Branch, "if (n > 1 && (COND) && m > 2) {\n    BARRIER; // @\n}"),
    control("by a flag", Way::Branch, "bool go = false;\nif (COND) { go = true; }\nif (go) {\n    BARRIER; // @\n}"),
    control("by a selected flag", Way::Branch, "int go = (COND) ? 4 : 5;\nif (go == 4) {\n    BARRIER; // @\n}"),
    control("both arms", Way::BothArms, "if (COND) {\n    BARRIER; // @\n} else {\n    BARRIER; // @\n}"),
    control("return", Way::Exit, "if (COND) return;\nBARRIER; // @"),
    control("return in else", Way::Exit, "if (!(COND)) {\n    x += 1;\n} else {\n    return;\n}\nBARRIER; // @"),
    control("return in a loop", Way::Exit, "for (i = 0; i < 4; i++) {\n    if (COND) return;\n    BARRIER; // @\n}"),
    control("break before", Way::Loop, "for (i = 0; i < 4; i++) {\n    if (COND) break;\n    BARRIER; // @\n}"),
    control("break after", Way::Loop, "for (i = 0; i < 4; i++) {\n    BARRIER; // @\n    if (COND) break;\n}"),
    control("continue", Way::Branch, "for (i = 0; i < 4; i++) {\n    if (COND) continue;\n    BARRIER; // @\n}"),
    control("while", Way::Loop, "while (i < 4 && (COND)) {\n    BARRIER; // @\n    i++;\n}"),
    control("do while", Way::Loop, "do {\n    BARRIER; // @\n    i++;\n} while ((COND) && i < 4);"),
    control("for bound", Way::Loop, "int bound = (COND) ? 2 : 3;\nfor (i = 0; i < bound; i++) {\n    BARRIER; // @\n}"),
    control(
        "endless with break",
        Way::Loop,
        "for (;;) {\n    BARRIER; // @\n    if (COND) break;\n    if (++i == 4) break;\n}",
    ),
    control(
        "switch",
        Way::Branch,
        "switch ((int)(COND)) {\n    case 1:\n        BARRIER; // @\n        break;\n    default:\n        x += 2;\n}",
    ),
    control(
        "switch falls through",
        Way::Branch,
        "switch ((COND) ? 3 : 4) {\n    case 3:\n        x += 2;\n    case 5:\n        BARRIER; // @\n        break;\n    case 4:\n        x += 3;\n}",
    ),
    control("and", Way::Branch, "bool ok = (COND) && VALUE; // @\nx += ok;"),
    control("or", Way::Branch, "bool ok = (COND) || VALUE; // @\nx += ok;"),
    control("conditional", Way::Branch, "x += (COND) ? VALUE : 3; // @"),
    control("goto forwards", Way::Branch, "if (COND) goto skip;\nBARRIER; // @\nskip:\nx += 1;"),
    control("goto backwards", Way::Backwards, "again:\nBARRIER; // @\ni++;\nif ((COND) && i < 4) goto again;"),
    control(
        "in a lambda",
        Way::Branch,
        "auto run = [&](bool go) {\n    if (go) {\n        BARRIER; // @\n    }\n};\nrun(COND);",
    ),
    control("lambda under a branch", Way::Branch, "auto run = [&]() { BARRIER; };\nif (COND) {\n    run(); // @\n}"),
    control("in a macro", Way::Branch, "WHEN(COND, BARRIER) // @"),
    control("joined", Way::Joined, "if (COND) {\n    x += 1;\n}\nBARRIER; // @"),
    control("joined after a loop", Way::Joined, "while (i < 4 && (COND)) {\n    i++;\n}\nBARRIER; // @"),
    control(
        "joined after a switch",
        Way::Joined,
        "switch ((int)(COND)) {\n    case 1:\n        x += 1;\n        break;\n    default:\n        x += 2;\n}\nBARRIER; // @",
    ),
    Control {
        name: "in a callee",
        way: Way::Branch,
        body: "x += callee#(COND, x GIVEN);",
        helper: "__device__ int callee#(bool go, int x TAKEN) {\n    if (go) {\n        BARRIER; // @\n    }\n    return x;\n}",
    },
    Control {
        name: "callee returns",
        way: Way::HelperExit,
        body: "callee#(COND, x GIVEN);",
        helper: "__device__ void callee#(bool go, int x TAKEN) {\n    if (go) return;\n    BARRIER; // @\n}",
    },
    Control {
        name: "call under a branch",
        way: Way::Branch,
        body: "if (COND) {\n    callee#(x GIVEN); // @\n}",
        helper: "__device__ void callee#(int x TAKEN) {\n    BARRIER;\n}",
    },
    Control {
        name: "method of a class",
        way: Way::Branch,
        body: "Worker# worker{n};\nworker.work(COND, x GIVEN);",
        helper: "struct Worker# {\n    int own;\n    __device__ void work(bool go, int x TAKEN) const {\n        if (go && own != 5) {\n            BARRIER; // @\n        }\n    }\n};",
    },
];

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// All threads of the group, whether they have ended or not.
    Whole,
    /// A part of a warp; threads that have ended may be missing.
    Tile,
    /// Lanes named by a mask.
    Lanes,
    /// Whole warps.
    Counted,
}

pub struct Barrier {
    pub name: &'static str,
    pub need: Group,
    pub kind: Kind,
    pub statement: &'static str,
    pub expression: &'static str,
    /// What it is called on, as an argument and as a parameter of a function around it.
    pub given: &'static str,
    pub taken: &'static str,
}

const fn barrier(
    name: &'static str,
    need: Group,
    kind: Kind,
    statement: &'static str,
    expression: &'static str,
) -> Barrier {
    Barrier { name, need, kind, statement, expression, given: "", taken: "" }
}

const fn on(given: &'static str, taken: &'static str, barrier: Barrier) -> Barrier {
    Barrier { given, taken, ..barrier }
}

pub const BARRIERS: &[Barrier] = &[
    barrier("__syncthreads", Block, Kind::Whole, "__syncthreads()", "(__syncthreads(), 1)"),
    barrier("__syncthreads_or", Block, Kind::Whole, "x = __syncthreads_or(x)", "__syncthreads_or(x)"),
    on(
        ", block",
        ", cg::thread_block block",
        barrier("block.sync", Block, Kind::Whole, "block.sync()", "(block.sync(), 1)"),
    ),
    on(
        ", block",
        ", cg::thread_block block",
        barrier("cg::sync", Block, Kind::Whole, "cg::sync(block)", "(cg::sync(block), 1)"),
    ),
    barrier("bar.sync", Block, Kind::Whole, "asm volatile(\"bar.sync 0;\" ::: \"memory\")", "wait_there()"),
    on(
        ", temp",
        ", typename cub::BlockReduce<int, 128>::TempStorage &temp",
        barrier(
            "BlockReduce",
            Block,
            Kind::Whole,
            "x = cub::BlockReduce<int, 128>(temp).Sum(x)",
            "cub::BlockReduce<int, 128>(temp).Sum(x)",
        ),
    ),
    barrier("helper with a barrier", Block, Kind::Whole, "wait_here()", "(wait_here(), 1)"),
    on(", grid", ", cg::grid_group grid", barrier("grid.sync", Grid, Kind::Whole, "grid.sync()", "(grid.sync(), 1)")),
    on(
        ", cluster",
        ", cg::cluster_group cluster",
        barrier("cluster.sync", Cluster, Kind::Whole, "cluster.sync()", "(cluster.sync(), 1)"),
    ),
    barrier("__syncwarp", Warp, Kind::Lanes, "__syncwarp()", "(__syncwarp(), 1)"),
    barrier(
        "__ballot_sync",
        Warp,
        Kind::Lanes,
        "x = __ballot_sync(0xffffffffu, x > 4)",
        "__ballot_sync(0xffffffffu, x > 4)",
    ),
    barrier(
        "__shfl_down_sync",
        Warp,
        Kind::Lanes,
        "x = __shfl_down_sync(0xffffffffu, x, 4)",
        "__shfl_down_sync(0xffffffffu, x, 4)",
    ),
    on(
        ", tile8",
        ", const cg::thread_block_tile<8> &tile8",
        barrier("tile of 8", Eight, Kind::Tile, "tile8.sync()", "(tile8.sync(), 1)"),
    ),
    on(
        ", tile32",
        ", const cg::thread_block_tile<32> &tile32",
        barrier("tile of 32", Warp, Kind::Tile, "x = tile32.any(x)", "tile32.any(x)"),
    ),
    on(
        ", store",
        ", typename cub::WarpReduce<int>::TempStorage &store",
        barrier(
            "WarpReduce",
            Warp,
            Kind::Tile,
            "x = cub::WarpReduce<int>(store).Sum(x)",
            "cub::WarpReduce<int>(store).Sum(x)",
        ),
    ),
    barrier("counted", Warp, Kind::Counted, "asm volatile(\"bar.sync 1, 32;\" ::: \"memory\")", "wait_counted()"),
];

#[derive(Copy, Clone, Debug)]
pub enum Verdict {
    Clean,
    /// One of these.
    Rule(&'static [&'static str]),
}
