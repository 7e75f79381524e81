//! The interpreter's memory and arithmetic: places by path (`object`, `.member`, `[index]`), one map of cells for each
//! thread, block and grid. Cells that nobody wrote hold inputs, chosen from a seed; numbers are 64 bits wide throughout.

use super::random::hash;
use rustc_hash::FxHashMap;
use synclint::graph::{ObjectKind, To};
use synclint::program::{BinaryOp, Name, UnaryOp};

#[derive(Copy, Clone, Debug, PartialEq)]
pub enum V {
    Int(i64),
    Address(PathId),
    /// A number from outside that may as well be a pointer: an argument, a cell of a parameter's array.
    Input {
        value: i64,
        to: PathId,
    },
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PathId(u32);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    Object(u32),
    Param(u32),
    /// What a pointer read from outside leads to.
    Behind,
    Index(i64),
    Member(Name),
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Space {
    Thread,
    Block,
    Grid,
}

struct Node {
    parent: Option<PathId>,
    step: Step,
    space: Space,
    hash: u64,
    children: Vec<PathId>,
    /// Indices in a row that stay apart, for arrays of arrays.
    levels: u32,
    depth: u32,
}

/// All places that were spoken of.
#[derive(Default)]
pub struct Paths {
    nodes: Vec<Node>,
    known: FxHashMap<(Option<PathId>, Step), PathId>,
}

impl Paths {
    fn get(&mut self, parent: Option<PathId>, step: Step, space: Space, levels: u32) -> PathId {
        if let Some(known) = self.known.get(&(parent, step.clone())) {
            return *known;
        }
        let above = parent.map_or(1, |parent| self.nodes[parent.0 as usize].hash);
        let own = match &step {
            Step::Object(number) => hash(&[1, u64::from(*number)]),
            Step::Param(number) => hash(&[2, u64::from(*number)]),
            Step::Behind => 3,
            Step::Index(index) => hash(&[4, *index as u64]),
            Step::Member(name) => name.bytes().fold(5, |sum, byte| hash(&[sum, u64::from(byte)])),
        };
        let depth = match &step {
            Step::Index(_) => parent.map_or(0, |parent| self.nodes[parent.0 as usize].depth) + 1,
            _ => 0,
        };
        let id = PathId(self.nodes.len() as u32);
        let node =
            Node { parent, step: step.clone(), space, hash: hash(&[above, own]), children: Vec::new(), levels, depth };
        self.nodes.push(node);
        self.known.insert((parent, step), id);
        if let Some(parent) = parent {
            self.nodes[parent.0 as usize].children.push(id);
        }
        id
    }

    pub fn object(&mut self, number: u32, kind: ObjectKind, dims: usize) -> PathId {
        let space = match kind {
            ObjectKind::Local => Space::Thread,
            ObjectKind::Shared => Space::Block,
            ObjectKind::Constant | ObjectKind::Global => Space::Grid,
        };
        self.get(None, Step::Object(number), space, dims.max(1) as u32)
    }

    pub fn param(&mut self, number: u32) -> PathId {
        self.get(None, Step::Param(number), Space::Grid, 1)
    }

    fn behind(&mut self, path: PathId) -> PathId {
        self.get(Some(path), Step::Behind, Space::Grid, 1)
    }

    /// `base[index]`: a further row of an array of arrays, else further on in the same row.
    pub fn element(&mut self, base: PathId, index: i64) -> PathId {
        let node = &self.nodes[base.0 as usize];
        let (space, levels) = (node.space, node.levels);
        if let (Step::Index(before), true) = (&node.step, node.depth >= levels) {
            let (parent, index) = (node.parent, before.wrapping_add(index));
            return self.get(parent, Step::Index(index), space, levels);
        }
        self.get(Some(base), Step::Index(index), space, levels)
    }

    pub fn member(&mut self, base: PathId, name: &Name) -> PathId {
        let space = self.nodes[base.0 as usize].space;
        self.get(Some(base), Step::Member(name.clone()), space, 1)
    }

    pub fn space(&self, path: PathId) -> Space {
        self.nodes[path.0 as usize].space
    }

    /// What a cell holds that nobody wrote.
    fn initial(&mut self, path: PathId, inputs: u64) -> V {
        let mut root = path;
        while let Some(parent) = self.nodes[root.0 as usize].parent {
            root = parent;
        }
        let is_own = matches!(self.nodes[root.0 as usize].step, Step::Object(_));
        if is_own && self.space(root) != Space::Grid {
            return V::Int(0);
        }
        let value = input(hash(&[inputs, self.nodes[path.0 as usize].hash]));
        let to = self.behind(path);
        V::Input { value, to }
    }

    /// `path` and all below it, each with its twin below `other`.
    fn twins(&mut self, path: PathId, other: PathId) -> Vec<(PathId, PathId)> {
        let mut found = vec![(path, other)];
        let mut next = 0;
        while next < found.len() && found.len() < 4096 {
            let (a, b) = found[next];
            next += 1;
            for child in self.nodes[a.0 as usize].children.clone() {
                let step = self.nodes[child.0 as usize].step.clone();
                if step == Step::Behind {
                    continue;
                }
                let (space, levels) = (self.space(b), self.nodes[b.0 as usize].levels);
                found.push((child, self.get(Some(b), step, space, levels)));
            }
        }
        found
    }
}

/// Inputs are small, often 0 or 1, now and then the size of a warp or a block.
pub fn input(hash: u64) -> i64 {
    const CHOICES: [i64; 16] = [0, 0, 1, 1, 2, 3, 4, 5, 7, 16, 31, 32, 33, 40, 64, 100];
    CHOICES[(hash >> 20) as usize % CHOICES.len()]
}

/// Cells that were written.
#[derive(Default)]
pub struct Cells(FxHashMap<PathId, V>);

impl Cells {
    /// `Err`: nobody wrote it, but it is part of a whole that was copied from the place given.
    pub fn load(&self, paths: &mut Paths, path: PathId, inputs: u64) -> Result<V, PathId> {
        if let Some(value) = self.0.get(&path) {
            return Ok(*value);
        }
        let mut steps = Vec::new();
        let mut at = path;
        while let Some(parent) = paths.nodes[at.0 as usize].parent {
            steps.push(paths.nodes[at.0 as usize].step.clone());
            at = parent;
            if let Some(V::Input { to, .. }) = self.0.get(&at)
                && !steps.contains(&Step::Behind)
            {
                let mut other = *to;
                for step in steps.into_iter().rev() {
                    other = paths.get(Some(other), step, Space::Grid, 1);
                }
                return Err(other);
            }
        }
        Ok(paths.initial(path, inputs))
    }

    pub fn store(&mut self, path: PathId, value: V) {
        self.0.insert(path, value);
    }
}

/// The cells below one place with the places of their copies.
pub fn copies(paths: &mut Paths, from: PathId, to: PathId) -> Vec<(PathId, PathId)> {
    // Members that only the target was asked for exist in the source, too.
    paths.twins(to, from);
    paths.twins(from, to)
}

impl V {
    pub fn int(self) -> i64 {
        match self {
            V::Int(value) | V::Input { value, .. } => value,
            V::Address(path) => 0x1000_0000 + i64::from(path.0) * 16,
        }
    }

    pub fn is_true(self) -> bool {
        self.int() != 0
    }

    /// The place a value leads to, if it may be a pointer.
    pub fn place(self) -> Option<PathId> {
        match self {
            V::Int(_) => None,
            V::Address(path) | V::Input { to: path, .. } => Some(path),
        }
    }
}

pub fn unary(op: UnaryOp, value: V) -> V {
    match op {
        UnaryOp::Minus => V::Int(value.int().wrapping_neg()),
        UnaryOp::Not => V::Int(i64::from(!value.is_true())),
        UnaryOp::BitNot => V::Int(!value.int()),
        UnaryOp::Plus | UnaryOp::Deref | UnaryOp::AddressOf => value,
    }
}

pub fn binary(op: BinaryOp, a: V, b: V) -> V {
    let (x, y) = (a.int(), b.int());
    V::Int(match op {
        BinaryOp::Add => x.wrapping_add(y),
        BinaryOp::Sub => x.wrapping_sub(y),
        BinaryOp::Mul => x.wrapping_mul(y),
        BinaryOp::Div => x.checked_div(y).unwrap_or(0),
        BinaryOp::Rem => x.checked_rem(y).unwrap_or(0),
        BinaryOp::Shl => x.checked_shl(y as u32).unwrap_or(0),
        BinaryOp::Shr => x.checked_shr(y as u32).unwrap_or(0),
        BinaryOp::BitAnd => x & y,
        BinaryOp::BitOr => x | y,
        BinaryOp::BitXor => x ^ y,
        BinaryOp::And => i64::from(x != 0 && y != 0),
        BinaryOp::Or => i64::from(x != 0 || y != 0),
        BinaryOp::Eq => i64::from(x == y),
        BinaryOp::Ne => i64::from(x != y),
        BinaryOp::Lt => i64::from(x < y),
        BinaryOp::Le => i64::from(x <= y),
        BinaryOp::Gt => i64::from(x > y),
        BinaryOp::Ge => i64::from(x >= y),
    })
}

pub fn convert(to: To, value: V) -> V {
    let number = value.int();
    match to {
        To::Float | To::Int { bits: 64.., .. } => value,
        To::Bool => V::Int(i64::from(number != 0)),
        To::Int { bits, signed } => {
            let size = 1i64 << bits;
            let low = number.rem_euclid(size);
            V::Int(if signed && low >= size / 2 { low - size } else { low })
        }
    }
}

/// Functions whose meaning matters for masks; any other is some function of its operands.
pub fn pure(name: &str, operands: &[V]) -> V {
    let first = operands.first().map_or(0, |value| value.int());
    V::Int(match name {
        "__popc" | "__popcll" | "popc" => i64::from((first as u32).count_ones()),
        "__clz" => i64::from((first as u32).leading_zeros()),
        "__ffs" => {
            if first as u32 == 0 {
                0
            } else {
                i64::from((first as u32).trailing_zeros()) + 1
            }
        }
        "abs" | "labs" | "fabsf" | "fabs" => first.wrapping_abs(),
        _ => {
            let start = name.bytes().fold(7, |sum, byte| hash(&[sum, u64::from(byte)]));
            input(operands.iter().fold(start, |sum, value| hash(&[sum, value.int() as u64])))
        }
    })
}

/// What an atomic leaves in the cell.
pub fn atomic(name: &str, old: V, operands: &[V]) -> V {
    let at = |index: usize| operands.get(index).map_or(0, |value| value.int());
    let (before, first) = (old.int(), at(0));
    let has = |what: &str| name.to_ascii_lowercase().contains(what);
    if has("cas") || has("compare") {
        return V::Int(if before == first { at(1) } else { before });
    }
    V::Int(match () {
        () if has("add") => before.wrapping_add(first),
        () if has("sub") => before.wrapping_sub(first),
        () if has("inc") => {
            if before >= first {
                0
            } else {
                before + 1
            }
        }
        () if has("dec") => {
            if before == 0 || before > first {
                first
            } else {
                before - 1
            }
        }
        () if has("min") => before.min(first),
        () if has("max") => before.max(first),
        () if has("and") => before & first,
        () if has("xor") => before ^ first,
        () if has("or") => before | first,
        () => first,
    })
}
