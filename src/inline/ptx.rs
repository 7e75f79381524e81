//! Inline PTX: its instructions in order, as far as they name registers, do integer arithmetic, wait, vote or end the thread.
//!
//! Branches to its own labels are followed where something in it waits or is handed out; registers then live in memory, so that
//! they may have several values where ways meet. What an instruction nobody here knows writes comes from what it reads.

use super::builder::Builder;
use super::calls::Arg;
use super::ptx_text::{
    Instruction, Piece, branch_target, comparison, is_plain, number, operand_number, pieces, read, vector_parts,
    without_comments,
};
use super::types::{Ty, UNSIGNED};
use super::values::{Ev, What};
use crate::graph::*;
use crate::program::*;
use crate::text::Span;
use rustc_hash::FxHashMap;

/// The state of one piece of assembly.
struct Assembly {
    span: Span,
    /// Values of the operands, outputs first; `None` until written.
    operands: Vec<Option<Value>>,
    outputs: usize,
    registers: FxHashMap<String, Value>,
    inputs: Vec<Value>,
    /// Where registers and operands live, if there are branches.
    slots: FxHashMap<String, ObjectId>,
    labels: FxHashMap<String, BlockId>,
    /// An instruction that may write memory in a way not known.
    opaque: bool,
}

impl Builder<'_> {
    pub fn assembly(&mut self, asm: &Asm) {
        let span = asm.span;
        let mut state = Assembly {
            span,
            operands: Vec::new(),
            outputs: asm.outputs.len(),
            registers: FxHashMap::default(),
            inputs: Vec::new(),
            slots: FxHashMap::default(),
            labels: FxHashMap::default(),
            opaque: false,
        };
        let mut places = Vec::new();
        let mut pointers = Vec::new();
        for (constraint, target) in &asm.outputs {
            let place = self.eval_place(target);
            let before = constraint.contains('+').then(|| self.rvalue(&place, target.span));
            state.inputs.extend(before);
            state.operands.push(before);
            places.push(place);
        }
        for (_, input) in &asm.inputs {
            let ev = self.eval(input);
            let value = self.rvalue(&ev, input.span);
            state.inputs.push(value);
            state.operands.push(Some(value));
            if matches!(ev.ty.value(), Ty::Pointer(_)) {
                pointers.push(Arg::made(Ev::value(value, ev.ty.clone()), input.span));
            }
        }
        let before: Vec<Option<Value>> = state.operands[..state.outputs].to_vec();
        let text = without_comments(&asm.text);
        let pieces = pieces(&text);
        self.make_labels(&pieces, &asm.text, &mut state);
        for piece in &pieces {
            match piece {
                Piece::Label(name) => {
                    if let Some(block) = state.labels.get(*name).copied() {
                        self.fall_into(block, span);
                    }
                }
                Piece::Text(text) => {
                    if let Some(instruction) = read(text) {
                        self.instruction(&instruction, &mut state);
                    }
                }
            }
        }
        for index in 0..state.outputs {
            if let Some(object) = state.slots.get(&format!("%{index}")).copied() {
                let address = self.address(object, span);
                state.operands[index] = Some(self.load(address, false, span));
            }
        }
        if state.opaque {
            let from = state.inputs.clone();
            self.clobber_args(&pointers, &from, span);
        }
        for (index, place) in places.iter().enumerate() {
            let value = match state.operands[index] {
                Some(value) if Some(value) != before[index] || !state.opaque => value,
                _ => {
                    let from = state.inputs.clone();
                    self.emit(Op::Unknown { from, unseen: Some(Name::from("asm")) }, span)
                }
            };
            let ty = if place.ty.is_known() { place.ty.value().clone() } else { UNSIGNED };
            let ev = Ev::value(value, ty);
            match &place.what {
                What::Place(_) => self.write(place, &ev, span),
                _ => continue,
            }
        }
    }

    /// Blocks for the labels that are branched to, and memory for what may be written on several ways.
    fn make_labels(&mut self, pieces: &[Piece], text: &str, state: &mut Assembly) {
        let span = state.span;
        let mut targets: Vec<&str> = Vec::new();
        for piece in pieces {
            if let Piece::Text(text) = piece
                && let Some(instruction) = read(text)
            {
                targets.extend(branch_target(&instruction));
            }
        }
        if targets.is_empty() || state.outputs == 0 && !super::ptx_text::waits(text) {
            return;
        }
        for piece in pieces {
            if let Piece::Label(name) = piece
                && targets.contains(name)
            {
                let block = self.new_block();
                state.labels.insert(name.to_string(), block);
            }
        }
        if state.labels.is_empty() {
            return;
        }
        for name in super::ptx_text::declared_registers(pieces) {
            let object = self.temporary(name, &UNSIGNED, span);
            state.slots.insert(name.to_string(), object);
        }
        for index in 0..state.operands.len() {
            let object = self.temporary(&format!("%{index}"), &UNSIGNED, span);
            state.slots.insert(format!("%{index}"), object);
            if let Some(value) = state.operands[index] {
                let address = self.address(object, span);
                self.store(address, value, span);
            }
        }
    }

    /// `bra`, if it is to a label of this assembly.
    fn branch(&mut self, instruction: &Instruction, state: &mut Assembly) -> bool {
        let span = state.span;
        let Some(to) = branch_target(instruction).and_then(|name| state.labels.get(name)).copied() else {
            return false;
        };
        match instruction.predicate {
            Some((name, negated)) => {
                let on = self.register(name, state);
                let next = self.new_block();
                let at = self.at(span);
                let (yes, no) = if negated { (next, to) } else { (to, next) };
                self.branch_value(on, yes, no, Fork::Predicate, at);
                self.go_on(next);
            }
            None => {
                let at = self.at(span);
                self.stop(End::Jump { to, leaving: Leaving::Goto, at });
            }
        }
        true
    }

    fn instruction(&mut self, instruction: &Instruction, state: &mut Assembly) {
        if self.branch(instruction, state) {
            return;
        }
        let Some((name, negated)) = instruction.predicate else {
            self.execute(instruction, state);
            return;
        };
        let mut on = self.register(name, state);
        if negated {
            on = self.not(on, state.span);
        }
        if state.labels.is_empty() && !self.needs_branch(instruction) {
            let before = (state.operands.clone(), state.registers.clone());
            self.execute(instruction, state);
            // What was written holds only where the predicate did.
            for index in 0..state.outputs {
                if let (Some(new), Some(old)) = (state.operands[index], before.0[index])
                    && new != old
                {
                    state.operands[index] = Some(self.select(on, new, old, state.span));
                } else if let (Some(new), None) = (state.operands[index], before.0[index]) {
                    state.operands[index] = Some(self.unknown(vec![on, new], state.span));
                }
            }
            for (name, old) in before.1 {
                if let Some(new) = state.registers.get(&name).copied()
                    && new != old
                {
                    let merged = self.select(on, new, old, state.span);
                    state.registers.insert(name, merged);
                }
            }
            return;
        }
        let (yes, after) = (self.new_block(), self.new_block());
        let at = self.at(state.span);
        self.branch_value(on, yes, after, Fork::Predicate, at);
        self.go_on(yes);
        self.execute(instruction, state);
        self.fall_into(after, state.span);
    }

    fn needs_branch(&self, instruction: &Instruction) -> bool {
        matches!(
            instruction.parts.first().copied(),
            Some(
                "bar"
                    | "barrier"
                    | "exit"
                    | "trap"
                    | "vote"
                    | "shfl"
                    | "match"
                    | "redux"
                    | "elect"
                    | "st"
                    | "atom"
                    | "red"
            )
        )
    }

    fn execute(&mut self, instruction: &Instruction, state: &mut Assembly) {
        let span = state.span;
        let parts = &instruction.parts;
        let operands = &instruction.operands;
        let has = |part: &str| parts.contains(&part);
        let Some(first) = parts.first().copied() else { return };
        match first {
            "bar" | "barrier" => return self.ptx_barrier(instruction, state),
            "vote" | "shfl" | "match" | "redux" | "elect" if has("sync") => {
                return self.ptx_collective(instruction, state);
            }
            "exit" => {
                let at = self.at(span);
                return self.stop(End::Exit { how: Exit::Instruction, at });
            }
            "trap" => return self.stop(End::Dead),
            "bra" | "brx" | "ret" | "membar" | "fence" | "nanosleep" | "prefetch" | "griddepcontrol" | "setmaxnreg"
            | "wgmma" | "cp" | "mbarrier" | "tcgen05" | "discard" | "applypriority" | "createpolicy" | "pmevent"
            | "brkpt" | "isspacep" | "pragma"
                if operands.is_empty() || !is_register(operands[0], state) =>
            {
                state.opaque |= matches!(first, "cp" | "wgmma" | "tcgen05");
                return;
            }
            _ => {}
        }
        let Some((target, sources)) = operands.split_first() else { return };
        let is_float =
            parts.last().is_some_and(|ty| ty.starts_with('f') || ty.starts_with("bf") || ty.starts_with("tf"));
        match first {
            "st" => {
                let address = self.ptx_address(target, state);
                let values = self.ptx_values(sources, state);
                match &values[..] {
                    [one] => self.store(address, *one, span),
                    _ => {
                        self.emit(Op::Clobber { address, from: values, sure: false }, span);
                    }
                }
                return;
            }
            "red" => {
                let address = self.ptx_address(target, state);
                let operands = self.ptx_values(sources, state);
                self.emit(Op::Atomic { name: Name::from(instruction.opcode), address, operands }, span);
                return;
            }
            "atom" => {
                let Some((memory, rest)) = sources.split_first() else { return };
                let address = self.ptx_address(memory, state);
                let operands = self.ptx_values(rest, state);
                let value = self.emit(Op::Atomic { name: Name::from(instruction.opcode), address, operands }, span);
                return self.assign(target, value, state);
            }
            "ld" | "ldu" => {
                let Some(memory) = sources.first() else { return };
                let address = self.ptx_address(memory, state);
                let is_volatile = has("volatile") || has("acquire") || has("relaxed");
                let targets = vector_parts(target);
                for (index, one) in targets.iter().enumerate() {
                    let from = match index {
                        0 => address,
                        _ => {
                            let offset = self.int(index as i64, span);
                            self.element_address(address, offset, span)
                        }
                    };
                    let value = self.emit(Op::Load { address: from, is_volatile, read_only: has("nc") }, span);
                    self.assign(one, value, state);
                }
                return;
            }
            "activemask" => {
                let value = self.source(Source::ActiveMask, span);
                return self.assign(target, value, state);
            }
            _ => {}
        }
        let values = self.ptx_values(sources, state);
        let value = match (first, &values[..]) {
            ("mov" | "cvta" | "mapa", [one, ..]) if !sources[0].starts_with('{') => *one,
            ("cvt", [one]) if !is_float => *one,
            ("add", [a, b]) if !is_float => self.ptx_binary(BinaryOp::Add, *a, *b, span),
            ("sub", [a, b]) if !is_float => self.ptx_binary(BinaryOp::Sub, *a, *b, span),
            ("mul", [a, b]) if !is_float && (has("lo") || has("wide")) => self.ptx_binary(BinaryOp::Mul, *a, *b, span),
            ("mul24", [a, b]) => self.ptx_binary(BinaryOp::Mul, *a, *b, span),
            ("mad", [a, b, c]) if !is_float && (has("lo") || has("wide")) => {
                let product = self.ptx_binary(BinaryOp::Mul, *a, *b, span);
                self.ptx_binary(BinaryOp::Add, product, *c, span)
            }
            ("div", [a, b]) if !is_float => self.ptx_binary(BinaryOp::Div, *a, *b, span),
            ("rem", [a, b]) => self.ptx_binary(BinaryOp::Rem, *a, *b, span),
            ("shl", [a, b]) => self.ptx_binary(BinaryOp::Shl, *a, *b, span),
            ("shr", [a, b]) => self.ptx_binary(BinaryOp::Shr, *a, *b, span),
            ("and", [a, b]) => self.ptx_binary(BinaryOp::BitAnd, *a, *b, span),
            ("or", [a, b]) => self.ptx_binary(BinaryOp::BitOr, *a, *b, span),
            ("xor", [a, b]) => self.ptx_binary(BinaryOp::BitXor, *a, *b, span),
            ("not", [a]) if has("pred") => self.not(*a, span),
            ("not", [a]) => self.emit(Op::Unary(UnaryOp::BitNot, *a), span),
            ("neg", [a]) if !is_float => self.negate(*a, span),
            ("min", [a, b]) if !is_float => self.emit(Op::Min(*a, *b), span),
            ("max", [a, b]) if !is_float => self.emit(Op::Max(*a, *b), span),
            ("selp", [a, b, on]) => self.select(*on, *a, *b, span),
            ("setp", [a, b, rest @ ..]) => {
                let Some(op) = comparison(parts) else {
                    let value = self.unknown(values.clone(), span);
                    return self.assign(target, value, state);
                };
                let mut value = if is_float {
                    self.emit(Op::Binary(op, *a, *b), span)
                } else {
                    self.binary(op, *a, *b, &Ty::Bool, span)
                };
                if let [more] = rest {
                    let join = if has("or") { BinaryOp::Or } else { BinaryOp::And };
                    value = self.binary(join, value, *more, &Ty::Bool, span);
                }
                let mut targets = target.split('|');
                if let Some(target) = targets.next() {
                    self.assign(target.trim(), value, state);
                }
                if let Some(other) = targets.next() {
                    let negated = self.not(value, span);
                    self.assign(other.trim(), negated, state);
                }
                return;
            }
            _ => {
                state.opaque |= !is_plain(first);
                let from = if values.is_empty() { state.inputs.clone() } else { values.clone() };
                self.emit(Op::Unknown { from, unseen: Some(Name::from(instruction.opcode)) }, span)
            }
        };
        for target in vector_parts(target) {
            for target in target.split('|') {
                self.assign(target.trim(), value, state);
            }
        }
    }

    fn ptx_binary(&mut self, op: BinaryOp, a: Value, b: Value, span: Span) -> Value {
        self.binary(op, a, b, &Ty::Int { bits: 64, signed: true }, span)
    }

    fn ptx_barrier(&mut self, instruction: &Instruction, state: &mut Assembly) {
        let span = state.span;
        let parts = &instruction.parts;
        let has = |part: &str| parts.contains(&part);
        let operands = &instruction.operands;
        let verb = ["sync", "red", "arrive", "wait"].into_iter().find(|verb| has(verb));
        let Some(verb) = verb else { return };
        let length = parts.iter().position(|part| *part == verb).map_or(parts.len(), |at| at + 1);
        let name = Name::from(parts[..length].join("."));
        let waits = verb != "arrive";
        if has("warp") {
            let mask = operands.first().map(|mask| self.ptx_value(mask, state));
            self.ptx_emit(name, Group::Lanes { mask }, waits, Outcome::Nothing, Vec::new(), span);
            return;
        }
        if has("cluster") {
            self.ptx_emit(name, Group::Cluster, waits, Outcome::Nothing, Vec::new(), span);
            return;
        }
        let aligned = parts[0] == "bar" || has("aligned");
        // `.red` has its result first and its predicate last.
        let (target, middle, predicate) = match (verb, &operands[..]) {
            ("red", [target, middle @ .., predicate]) => (Some(*target), middle, Some(*predicate)),
            (_, all) => (None, all, None),
        };
        let id = middle.first().map(|id| self.ptx_value(id, state));
        let count = middle.get(1).map(|count| self.ptx_value(count, state));
        let predicate = predicate.map(|predicate| self.ptx_value(predicate, state));
        let group = match count {
            Some(count) => Group::Counted { id, count, aligned },
            None => Group::Named { id, aligned },
        };
        let result = if target.is_some() { Outcome::Uniform } else { Outcome::Nothing };
        let value = self.ptx_emit(name, group, waits, result, predicate.into_iter().collect(), span);
        if let Some(target) = target {
            self.assign(target, value, state);
        }
    }

    fn ptx_collective(&mut self, instruction: &Instruction, state: &mut Assembly) {
        let span = state.span;
        let parts = &instruction.parts;
        let has = |part: &str| parts.contains(&part);
        let Some((target, sources)) = instruction.operands.split_first() else { return };
        let values = self.ptx_values(sources, state);
        let mask = values.last().copied();
        let name = match parts[0] {
            "elect" | "redux" => format!("{}.sync", parts[0]),
            "match" => parts[..parts.len().min(3)].join("."),
            _ => parts[..parts.len().min(3)].join("."),
        };
        let first = values.first().copied();
        let mut source_lane = None;
        let mut width = None;
        let result = match parts[0] {
            "vote" if has("ballot") => first.map_or(Outcome::Uniform, Outcome::Ballot),
            "match" if has("any") => Outcome::Peers,
            "shfl" if has("idx") => {
                source_lane = values.get(1).copied();
                let clamp = values.get(2).and_then(|clamp| self.constant_of(*clamp));
                match clamp {
                    Some(clamp) => {
                        let lanes = 32 - ((clamp >> 8) & 31);
                        width = (lanes != 32).then(|| self.int(lanes, span));
                        Outcome::Shuffle
                    }
                    None => Outcome::PerThread,
                }
            }
            "shfl" | "elect" => Outcome::PerThread,
            _ => Outcome::Uniform,
        };
        let operands = values[..values.len().saturating_sub(1)].to_vec();
        let barrier = Barrier {
            name: Name::from(name),
            group: Group::Lanes { mask },
            waits: true,
            orders_memory: false,
            result,
            source_lane,
            width,
            operands,
        };
        let value = self.emit(Op::Barrier(Box::new(barrier)), span);
        let mut targets = target.split('|').map(str::trim);
        if let Some(target) = targets.next() {
            self.assign(target, value, state);
        }
        if let Some(other) = targets.next() {
            let value = match parts[0] {
                "match" => value,
                _ => self.unknown(vec![value], span),
            };
            self.assign(other, value, state);
        }
    }

    fn ptx_emit(
        &mut self,
        name: Name,
        group: Group,
        waits: bool,
        result: Outcome,
        operands: Vec<Value>,
        span: Span,
    ) -> Value {
        let barrier =
            Barrier { name, group, waits, orders_memory: true, result, source_lane: None, width: None, operands };
        self.emit(Op::Barrier(Box::new(barrier)), span)
    }

    fn ptx_values(&mut self, operands: &[&str], state: &mut Assembly) -> Vec<Value> {
        let mut values = Vec::new();
        for operand in operands {
            for part in vector_parts(operand) {
                values.push(self.ptx_value(part, state));
            }
        }
        values
    }

    fn ptx_address(&mut self, operand: &str, state: &mut Assembly) -> Value {
        let inner = operand.trim().trim_start_matches('[').trim_end_matches(']');
        match inner.split_once('+') {
            Some((base, offset)) => {
                let base = self.ptx_value(base, state);
                let offset = self.ptx_value(offset, state);
                match self.constant_of(offset) {
                    Some(0) => base,
                    _ => self.element_address(base, offset, state.span),
                }
            }
            None => self.ptx_value(inner, state),
        }
    }

    fn ptx_value(&mut self, operand: &str, state: &mut Assembly) -> Value {
        let span = state.span;
        let operand = operand.trim();
        if let Some(rest) = operand.strip_prefix('!') {
            let value = self.ptx_value(rest, state);
            return self.not(value, span);
        }
        if let Some(number) = number(operand) {
            return self.int(number, span);
        }
        if operand.starts_with('[') {
            return self.ptx_address(operand, state);
        }
        self.register(operand, state)
    }

    fn register(&mut self, name: &str, state: &mut Assembly) -> Value {
        let span = state.span;
        if let Some(object) = state.slots.get(name).copied() {
            let address = self.address(object, span);
            return self.load(address, false, span);
        }
        if let Some(index) = operand_number(name) {
            return match state.operands.get(index).copied().flatten() {
                Some(value) => value,
                None => self.unknown(Vec::new(), span),
            };
        }
        if let Some(value) = state.registers.get(name) {
            return *value;
        }
        if let Some(special) = name.strip_prefix("%%").or_else(|| name.strip_prefix('%')) {
            return self.special_register(special, span);
        }
        self.unknown(Vec::new(), span)
    }

    fn special_register(&mut self, name: &str, span: Span) -> Value {
        let (base, axis) = name.split_once('.').unwrap_or((name, ""));
        let axis = super::values::axis_of(axis).unwrap_or(Axis::X);
        let source = match base {
            "tid" => Source::ThreadIdx(axis),
            "ntid" => Source::BlockDim(axis),
            "ctaid" => Source::BlockIdx(axis),
            "nctaid" => Source::GridDim(axis),
            "laneid" => Source::Lane,
            "warpid" => Source::Warp,
            "cluster_ctarank" => Source::BlockInCluster,
            "cluster_ctaid" => {
                let rank = self.source(Source::BlockInCluster, span);
                return self.unknown(vec![rank], span);
            }
            "clusterid" => Source::ClusterIndex,
            "smid" => {
                let block = self.source(Source::BlockRank, span);
                return self.unknown(vec![block], span);
            }
            "clock" | "clock_hi" | "clock64" | "globaltimer" | "globaltimer_lo" | "globaltimer_hi" => {
                Source::Varying(Name::from(format!("%{base}")))
            }
            _ => match base.strip_prefix("lanemask_") {
                Some(which) => Source::LaneMask(Name::from(which)),
                None => Source::Launch(Name::from(format!("%{name}"))),
            },
        };
        self.source(source, span)
    }

    fn assign(&mut self, target: &str, value: Value, state: &mut Assembly) {
        if let Some(object) = state.slots.get(target).copied() {
            let address = self.address(object, state.span);
            return self.store(address, value, state.span);
        }
        match operand_number(target) {
            Some(index) => {
                if let Some(operand) = state.operands.get_mut(index) {
                    *operand = Some(value);
                }
            }
            None => {
                state.registers.insert(target.to_string(), value);
            }
        }
    }
}

fn is_register(operand: &str, state: &Assembly) -> bool {
    operand_number(operand).is_some_and(|index| index < state.outputs)
        || !operand.starts_with(['[', '%']) && number(operand).is_none() && !operand.is_empty()
}
