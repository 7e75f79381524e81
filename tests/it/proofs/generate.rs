//! Random kernels from a seed: values of every origin and extent, every kind of control flow, barriers of every group.
//!
//! All variables are `int` and initialised, all loops short, all indices in range; so a run of the kernel means something.
//! What it does not make: recursion, function pointers, templates with more than a number, host code beyond one launch.

use super::kernel::{Function, Kernel, S};
use super::random::Random;

pub fn generate(seed: u64) -> Kernel {
    let mut random = Random::new(seed);
    let launch = random.one_in(5).then(|| *random.pick(&[32, 64, 96]));
    let multidimensional = random.one_in(12);
    let mut maker = Maker {
        random,
        counter: 0,
        marks: 0,
        names: vec![Vec::new()],
        fixed: Vec::new(),
        helpers: Vec::new(),
        functions: Vec::new(),
        pairs: Vec::new(),
        arrays: Vec::new(),
        masks: Vec::new(),
        lambdas: Vec::new(),
        in_kernel: false,
        in_lambda: false,
        loops: 0,
        switches: 0,
        multidimensional,
    };
    for _ in 0..maker.random.below(4) {
        maker.helper();
    }
    let kernel = maker.kernel(seed);
    Kernel { seed, functions: maker.functions, kernel, launch, name: format!("kernel{seed}") }
}

struct Helper {
    name: String,
    arguments: Vec<Argument>,
    gives: bool,
    has_barrier: bool,
}

#[derive(Copy, Clone, PartialEq)]
enum Argument {
    Value,
    Pointer,
    Reference,
    Shared,
    Pair,
}

struct Maker {
    random: Random,
    counter: u32,
    marks: u32,
    /// Integers in scope that may be read and written.
    names: Vec<Vec<String>>,
    /// Integers that only a loop's head writes.
    fixed: Vec<String>,
    helpers: Vec<Helper>,
    functions: Vec<Function>,
    pairs: Vec<String>,
    arrays: Vec<String>,
    masks: Vec<String>,
    lambdas: Vec<(String, bool)>,
    in_kernel: bool,
    in_lambda: bool,
    loops: u32,
    switches: u32,
    multidimensional: bool,
}

const DEPTH: usize = 3;

impl Maker {
    fn fresh(&mut self, letter: &str) -> String {
        self.counter += 1;
        format!("{letter}{}", self.counter)
    }

    fn mark(&mut self, text: String) -> S {
        self.marks += 1;
        S::Mark(self.marks, text)
    }

    fn variable(&mut self) -> Option<String> {
        let all: Vec<&String> = self.names.iter().flatten().chain(&self.fixed).collect();
        (!all.is_empty()).then(|| all[self.random.below(all.len())].clone())
    }

    fn target(&mut self) -> Option<String> {
        let all: Vec<&String> = self.names.iter().flatten().collect();
        (!all.is_empty()).then(|| all[self.random.below(all.len())].clone())
    }

    // ------------------------------------------------------------ expressions

    fn leaf(&mut self) -> String {
        match self.random.below(24) {
            0..=8 => self.variable().unwrap_or_else(|| "n".to_string()),
            9 => self.random.pick(&["0", "1", "2", "3", "5", "16", "32"]).to_string(),
            10 => "n".to_string(),
            11 => "m".to_string(),
            12 => "(int)blockIdx.x".to_string(),
            13 => "(int)blockDim.x".to_string(),
            14..=15 => "(int)threadIdx.x".to_string(),
            16 => self
                .random
                .pick(&["(int)(threadIdx.x & 31)", "(int)(threadIdx.x % 32)", "(int)threadIdx.x % 8"])
                .to_string(),
            17 => self
                .random
                .pick(&["(int)(threadIdx.x >> 5)", "(int)(threadIdx.x / 32)", "(int)threadIdx.x / 64"])
                .to_string(),
            18 => "(int)(blockIdx.x * blockDim.x + threadIdx.x)".to_string(),
            19 => self.random.pick(&["q[threadIdx.x]", "q[blockIdx.x]", "q[3]", "table[2]", "p[n & 7]"]).to_string(),
            20 => match self.pairs.is_empty() {
                false => format!(
                    "{}.{}",
                    self.random.pick(&self.pairs),
                    if self.counter.is_multiple_of(2) { "a" } else { "b" }
                ),
                true => "table[blockIdx.x & 3]".to_string(),
            },
            21 => match self.arrays.is_empty() {
                false => {
                    let array = self.random.pick(&self.arrays).clone();
                    let index = self.leaf();
                    format!("{array}[{index} & 3]")
                }
                true => "m".to_string(),
            },
            22 if self.in_kernel => {
                self.random.pick(&["flag", "slots[1]", "slots[threadIdx.x & 31]", "slots[n & 7]"]).to_string()
            }
            _ if self.multidimensional => "(int)threadIdx.y".to_string(),
            _ => "n".to_string(),
        }
    }

    fn expression(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.leaf();
        }
        match self.random.below(16) {
            0..=4 => self.leaf(),
            5..=7 => {
                let op = *self.random.pick(&["+", "-", "*", "&", "|", "^", "+", "-"]);
                format!("({} {op} {})", self.expression(depth - 1), self.expression(depth - 1))
            }
            8 => {
                let op = *self.random.pick(&["/ 2", "% 3", "<< 1", ">> 1", "& 3", "& ~31", "/ 32", ">> 5"]);
                format!("({} {op})", self.expression(depth - 1))
            }
            9 => format!("({})", self.condition(depth - 1)),
            10 => {
                let op = *self.random.pick(&["min", "max"]);
                format!("{op}({}, {})", self.expression(depth - 1), self.expression(depth - 1))
            }
            11 => {
                let condition = self.condition(depth - 1);
                format!("({condition} ? {} : {})", self.expression(depth - 1), self.expression(depth - 1))
            }
            12 => {
                self.random.pick(&["-", "~", "!", "__popc", "abs"]).to_string()
                    + &format!("({})", self.expression(depth - 1))
            }
            13 => self.pure_call(depth).unwrap_or_else(|| "m".to_string()),
            14 => {
                let index = self.expression(depth - 1);
                format!("q[({index}) & 63]")
            }
            _ => format!("({} - (int)threadIdx.x)", self.expression(depth - 1)),
        }
    }

    fn condition(&mut self, depth: usize) -> String {
        match self.random.below(8) {
            0..=4 => {
                let op = *self.random.pick(&["<", ">", "==", "!=", "<=", ">="]);
                format!("{} {op} {}", self.expression(depth), self.expression(depth.saturating_sub(1)))
            }
            5 if depth > 0 => format!("({} && {})", self.condition(depth - 1), self.condition(depth - 1)),
            6 if depth > 0 => format!("({} || {})", self.condition(depth - 1), self.condition(depth - 1)),
            _ => self.expression(depth),
        }
    }

    fn pure_call(&mut self, depth: usize) -> Option<String> {
        let fits: Vec<usize> = (0..self.helpers.len())
            .filter(|index| self.helpers[*index].gives && !self.helpers[*index].has_barrier)
            .filter(|index| self.helpers[*index].arguments.iter().all(|each| *each == Argument::Value))
            .collect();
        let index = *fits.get(self.random.below(fits.len().max(1)))?;
        let count = self.helpers[index].arguments.len();
        let arguments: Vec<String> = (0..count).map(|_| self.expression(depth.saturating_sub(2))).collect();
        Some(format!("{}({}, n, m, p, q)", self.helpers[index].name, arguments.join(", ")))
    }

    // ------------------------------------------------------------ statements

    fn body(&mut self, depth: usize, length: usize) -> Vec<S> {
        self.names.push(Vec::new());
        let kept = (self.pairs.len(), self.arrays.len(), self.masks.len(), self.lambdas.len(), self.fixed.len());
        let mut body = Vec::new();
        for _ in 0..1 + self.random.below(length) {
            self.statement(depth, &mut body);
        }
        self.pairs.truncate(kept.0);
        self.arrays.truncate(kept.1);
        self.masks.truncate(kept.2);
        self.lambdas.truncate(kept.3);
        self.fixed.truncate(kept.4);
        self.names.pop();
        body
    }

    fn declare(&mut self, name: &str) {
        self.names.last_mut().expect("a scope is open").push(name.to_string());
    }

    fn statement(&mut self, depth: usize, out: &mut Vec<S>) {
        match self.random.below(if depth == 0 { 22 } else { 39 }) {
            0..=3 => {
                let value = self.expression(2);
                let name = self.fresh("v");
                out.push(S::Line(format!("int {name} = {value};")));
                self.declare(&name);
            }
            4..=5 => {
                let value = self.expression(2);
                let op = *self.random.pick(&["=", "=", "+=", "-=", "^=", "&="]);
                if let Some(name) = self.target() {
                    out.push(S::Line(format!("{name} {op} {value};")));
                }
            }
            6..=11 => self.barrier(out),
            12 => self.memory(out),
            13 if self.in_kernel => self.broadcast(out),
            14 => self.struct_or_array(out),
            15..=16 => self.call(out),
            17 => {
                let value = self.expression(1);
                let name = self.fresh("v");
                let target = if self.in_kernel && self.random.one_in(2) { "&flag" } else { "p" };
                out.push(S::Line(format!("int {name} = atomicAdd({target}, ({value}) & 3);")));
                self.declare(&name);
            }
            18 => self.leave(out),
            19 if self.in_kernel && !self.in_lambda => self.lambda(out),
            20 => self.call_lambda(out),
            21 => self.masked(out),
            22..=29 => {
                let condition = self.condition(2);
                let yes = self.body(depth - 1, 4);
                let no = if self.random.one_in(3) { self.body(depth - 1, 3) } else { Vec::new() };
                out.push(S::If(condition, yes, no));
            }
            30..=32 => self.for_loop(depth, out),
            33 => self.while_loop(depth, out),
            34 => self.do_while(depth, out),
            35 => self.switch(depth, out),
            36 if self.in_kernel && !self.in_lambda => self.until_settled(depth, out),
            _ => self.statement(0, out),
        }
    }

    fn barrier(&mut self, out: &mut Vec<S>) {
        let value = self.expression(1);
        let (result, text) = match self.random.below(20) {
            0..=6 => (false, "__syncthreads()".to_string()),
            7..=8 => (false, "__syncwarp()".to_string()),
            9 => (true, format!("__syncthreads_{}({value})", self.random.pick(&["or", "and", "count"]))),
            10 => (true, format!("__any_sync(0xffffffffu, {value})")),
            11 => (true, format!("__all_sync(0xffffffffu, {value})")),
            12 => {
                let lane = self.random.pick(&["0", "n & 31", "31", "threadIdx.x & 15"]).to_string();
                (true, format!("__shfl_sync(0xffffffffu, {value}, {lane})"))
            }
            13 => (true, format!("__shfl_xor_sync(0xffffffffu, {value}, 1)")),
            14 => (true, format!("__reduce_add_sync(0xffffffffu, {value})")),
            15 => (false, "cg::this_thread_block().sync()".to_string()),
            16 => (false, "cg::this_grid().sync()".to_string()),
            17 => {
                let size = *self.random.pick(&[4, 8, 16, 32]);
                // Made on the spot, the partition is a barrier of the block itself: so it stands alone.
                let name = self.fresh("t");
                let first = self.mark(format!("auto {name} = cg::tiled_partition<{size}>(cg::this_thread_block());"));
                out.push(first);
                match self.random.below(3) {
                    0 => (true, format!("{name}.any({value})")),
                    1 => (true, format!("{name}.shfl({value}, 0)")),
                    _ => (false, format!("{name}.sync()")),
                }
            }
            18 => (false, "asm volatile(\"bar.sync 0;\" ::: \"memory\")".to_string()),
            _ => (false, "__syncthreads()".to_string()),
        };
        let text = if result {
            let name = self.fresh("v");
            self.declare(&name);
            format!("int {name} = {text};")
        } else {
            format!("{text};")
        };
        let statement = self.mark(text);
        out.push(statement);
    }

    /// A mask, and a barrier of the lanes that it names.
    fn masked(&mut self, out: &mut Vec<S>) {
        let condition = self.condition(1);
        let name = self.fresh("mask");
        if self.random.one_in(4) {
            out.push(S::Line(format!("unsigned {name} = __activemask();")));
            let inner = self.mark(format!("__syncwarp({name});"));
            out.push(if self.random.one_in(2) { inner } else { S::If(condition, vec![inner], Vec::new()) });
            return;
        }
        let held = self.fresh("v");
        out.push(S::Line(format!("int {held} = {condition};")));
        let ballot = self.mark(format!("unsigned {name} = __ballot_sync(0xffffffffu, {held});"));
        out.push(ballot);
        let inner = self.mark(format!("__syncwarp({name});"));
        let guard = if self.random.one_in(4) { self.condition(1) } else { held.clone() };
        out.push(S::If(guard, vec![inner], Vec::new()));
        self.fixed.push(held);
    }

    fn memory(&mut self, out: &mut Vec<S>) {
        let value = self.expression(2);
        let place = match self.random.below(6) {
            0 | 1 if self.in_kernel => "slots[threadIdx.x & 63]".to_string(),
            2 if self.in_kernel => "flag".to_string(),
            3 => "p[blockIdx.x * 64 + (threadIdx.x & 63)]".to_string(),
            4 => "p[blockIdx.x]".to_string(),
            _ => format!("p[({}) & 7]", self.expression(1)),
        };
        out.push(S::Line(format!("{place} = {value};")));
    }

    /// One thread writes, a barrier, all read, a barrier; now and then with one of them missing.
    fn broadcast(&mut self, out: &mut Vec<S>) {
        let value = self.expression(2);
        let who = self.random.pick(&["threadIdx.x == 0", "threadIdx.x < 1", "threadIdx.x == 5", "n > 2"]).to_string();
        let cell = self.random.pick(&["flag", "slots[0]", "slots[2]"]).to_string();
        let spare = |maker: &mut Maker| maker.random.one_in(6);
        if !spare(self) {
            let barrier = self.mark("__syncthreads();".to_string());
            out.push(barrier);
        }
        out.push(S::If(who, vec![S::Line(format!("{cell} = {value};"))], Vec::new()));
        if !spare(self) {
            let barrier = self.mark("__syncthreads();".to_string());
            out.push(barrier);
        }
        let name = self.fresh("v");
        out.push(S::Line(format!("int {name} = {cell};")));
        if !spare(self) {
            let barrier = self.mark("__syncthreads();".to_string());
            out.push(barrier);
        }
        self.declare(&name);
    }

    /// A loop that goes on until a shared cell says so: cleared by some, written by some in a loop of its own, read by all,
    /// with barriers between; now and then with one of them missing. The cell may be another one on each trip, or of each warp.
    fn until_settled(&mut self, depth: usize, out: &mut Vec<S>) {
        let (trip, inner) = (self.fresh("i"), self.fresh("i"));
        let cell = self.random.pick(&[
            "flag",
            "flag",
            "slots[3]",
            "slots[TRIP & 1]",
            "slots[TRIP % 3]",
            "slots[threadIdx.x / 32]",
        ]);
        let cell = cell.replace("TRIP", &trip);
        let clear =
            self.random.pick(&["threadIdx.x == 0", "threadIdx.x < 1", "(threadIdx.x & 31) == 0", "n > 2"]).to_string();
        let mut body = vec![S::Line(format!("{trip} += 1;"))];
        let barrier = |maker: &mut Maker, body: &mut Vec<S>| {
            if !maker.random.one_in(5) {
                let text = if maker.random.one_in(8) { "__syncwarp();" } else { "__syncthreads();" };
                body.push(maker.mark(text.to_string()));
            }
        };
        if self.random.one_in(2) {
            barrier(self, &mut body);
        }
        body.push(S::If(clear, vec![S::Line(format!("{cell} = 0;"))], Vec::new()));
        barrier(self, &mut body);
        let value = self.expression(1);
        let write = match self.random.below(3) {
            0 => S::Line(format!("atomicAdd(&{cell}, ({value}) & 1);")),
            1 => S::Line(format!("{cell} = 1;")),
            _ => S::Line(format!("{cell} = {value};")),
        };
        let guarded = S::If(self.condition(1), vec![write], Vec::new());
        let init = self.random.pick(&["0", "threadIdx.x", "threadIdx.x / 32"]).to_string();
        let written = match self.random.below(4) {
            0 => guarded,
            1 => {
                let more = vec![S::Line(format!("{inner} += 40;")), guarded];
                body.push(S::Line(format!("int {inner} = {init};")));
                S::While(format!("{inner} < 90"), more)
            }
            _ => S::For {
                init: format!("int {inner} = {init}"),
                condition: format!("{inner} < 90"),
                step: format!("{inner} += 32"),
                body: vec![guarded],
            },
        };
        body.push(written);
        barrier(self, &mut body);
        let name = self.fresh("v");
        body.push(S::Line(format!("int {name} = {cell};")));
        if self.random.one_in(2) {
            barrier(self, &mut body);
        }
        let test = format!("{name} {} {}", self.random.pick(&["==", "!=", ">"]), self.random.pick(&["0", "1"]));
        let leaves = self.random.one_in(2);
        match leaves {
            true => body.push(S::If(test.clone(), vec![S::Line("break;".to_string())], Vec::new())),
            false => {
                let inner = self.in_loop(depth);
                body.push(S::If(test, inner, Vec::new()));
            }
        }
        barrier(self, &mut body);
        out.push(S::Line(format!("int {trip} = 0;")));
        out.push(S::While(format!("{trip} < 4"), body));
    }

    fn struct_or_array(&mut self, out: &mut Vec<S>) {
        let (a, b) = (self.expression(2), self.expression(2));
        match self.random.below(4) {
            0 | 1 => {
                let name = self.fresh("pair");
                out.push(S::Line(format!("Pair {name};")));
                out.push(S::Line(format!("{name}.a = {a};")));
                out.push(S::Line(format!("{name}.b = {b};")));
                if self.random.one_in(3) {
                    let other = self.fresh("pair");
                    out.push(S::Line(format!("Pair {other} = {name};")));
                    self.pairs.push(other);
                }
                self.pairs.push(name);
            }
            2 => {
                let name = self.fresh("local");
                out.push(S::Line(format!("int {name}[4] = {{{a}, {b}, 0, 1}};")));
                self.arrays.push(name);
            }
            _ => {
                if let Some(target) = self.target() {
                    let name = self.fresh("ref");
                    let (kind, address, write) = match self.random.one_in(2) {
                        true => ("int *", "&", "*"),
                        false => ("int &", "", ""),
                    };
                    out.push(S::Line(format!("{kind}{name} = {address}{target};")));
                    out.push(S::Line(format!("{write}{name} = {a};")));
                }
            }
        }
    }

    fn call(&mut self, out: &mut Vec<S>) {
        if self.helpers.is_empty() {
            return self.barrier(out);
        }
        let index = self.random.below(self.helpers.len());
        let (name, kinds) = (self.helpers[index].name.clone(), self.helpers[index].arguments.clone());
        let mut arguments = Vec::new();
        let mut taken: Vec<String> = Vec::new();
        for kind in kinds {
            arguments.push(match kind {
                Argument::Value => self.expression(1),
                Argument::Pointer | Argument::Reference => {
                    let free: Vec<String> =
                        self.names.iter().flatten().filter(|name| !taken.contains(name)).cloned().collect();
                    if free.is_empty() {
                        return self.barrier(out);
                    }
                    let target = self.random.pick(&free).clone();
                    taken.push(target.clone());
                    if kind == Argument::Pointer { format!("&{target}") } else { target }
                }
                Argument::Shared if self.in_kernel => "slots".to_string(),
                Argument::Shared => return self.barrier(out),
                Argument::Pair => match self.pairs.is_empty() {
                    true => return self.barrier(out),
                    false => self.random.pick(&self.pairs).clone(),
                },
            });
        }
        arguments.extend(["n", "m", "p", "q"].map(String::from));
        let call = format!("{name}({})", arguments.join(", "));
        let result = self.helpers[index].gives.then(|| self.fresh("v"));
        let text = match &result {
            Some(result) => format!("int {result} = {call};"),
            None => format!("{call};"),
        };
        let statement = if self.helpers[index].has_barrier { self.mark(text) } else { S::Line(text) };
        out.push(statement);
        if let Some(result) = result {
            self.declare(&result);
        }
    }

    fn leave(&mut self, out: &mut Vec<S>) {
        let condition = self.condition(1);
        let how = match self.random.below(4) {
            0 if self.loops > 0 && self.switches == 0 => "break;",
            1 if self.loops > 0 => "continue;",
            2 if self.in_kernel && !self.in_lambda => "return;",
            3 if self.in_kernel && !self.in_lambda && self.random.one_in(2) => "return;",
            _ => return,
        };
        out.push(S::If(condition, vec![S::Line(how.to_string())], Vec::new()));
    }

    fn lambda(&mut self, out: &mut Vec<S>) {
        let name = self.fresh("lambda");
        let argument = self.fresh("v");
        self.in_lambda = true;
        let outer = (std::mem::take(&mut self.loops), std::mem::take(&mut self.switches), self.marks);
        self.names.push(vec![argument.clone()]);
        let mut body = self.body(1, 3);
        let value = self.expression(1);
        body.push(S::Line(format!("return {value};")));
        self.names.pop();
        let has_barrier = self.marks > outer.2;
        (self.loops, self.switches) = (outer.0, outer.1);
        self.in_lambda = false;
        out.push(S::Lambda(format!("auto {name} = [&](int {argument}) -> int"), body));
        self.lambdas.push((name, has_barrier));
    }

    fn call_lambda(&mut self, out: &mut Vec<S>) {
        if self.in_lambda || self.lambdas.is_empty() {
            return self.barrier(out);
        }
        let value = self.expression(1);
        let (name, has_barrier) = self.random.pick(&self.lambdas).clone();
        let result = self.fresh("v");
        let text = format!("int {result} = {name}({value});");
        let statement = if has_barrier { self.mark(text) } else { S::Line(text) };
        out.push(statement);
        self.declare(&result);
    }

    // ------------------------------------------------------------ loops

    fn in_loop(&mut self, depth: usize) -> Vec<S> {
        self.loops += 1;
        let switches = std::mem::take(&mut self.switches);
        let body = self.body(depth - 1, 4);
        self.loops -= 1;
        self.switches = switches;
        body
    }

    fn for_loop(&mut self, depth: usize, out: &mut Vec<S>) {
        let name = self.fresh("i");
        let (start, bound, step) = match self.random.below(6) {
            0 => ("threadIdx.x".to_string(), "n".to_string(), format!("{name} += blockDim.x")),
            1 => ("threadIdx.x".to_string(), "128".to_string(), format!("{name} += blockDim.x")),
            2 => {
                let bound = self.expression(1);
                ("threadIdx.x / 32".to_string(), format!("({bound}) & 7"), format!("{name} += 2"))
            }
            _ => {
                let start =
                    if self.random.one_in(3) { format!("({}) & 3", self.expression(1)) } else { "0".to_string() };
                let bound =
                    if self.random.one_in(3) { "3".to_string() } else { format!("(({}) & 3)", self.expression(1)) };
                (start, bound, format!("{name}++"))
            }
        };
        let kept = self.fixed.len();
        self.fixed.push(name.clone());
        let body = self.in_loop(depth);
        self.fixed.truncate(kept);
        out.push(S::For { init: format!("int {name} = {start}"), condition: format!("{name} < {bound}"), step, body });
    }

    fn while_loop(&mut self, depth: usize, out: &mut Vec<S>) {
        let name = self.fresh("i");
        let bound = self.expression(1);
        out.push(S::Line(format!("int {name} = 0;")));
        self.fixed.push(name.clone());
        let mut body = vec![S::Line(format!("{name} += 1;"))];
        body.extend(self.in_loop(depth));
        out.push(S::While(format!("{name} < (({bound}) & 3)"), body));
    }

    fn do_while(&mut self, depth: usize, out: &mut Vec<S>) {
        let name = self.fresh("i");
        let more = self.condition(1);
        out.push(S::Line(format!("int {name} = 0;")));
        self.fixed.push(name.clone());
        let mut body = vec![S::Line(format!("{name} += 1;"))];
        body.extend(self.in_loop(depth));
        out.push(S::DoWhile(body, format!("{name} < 4 && {more}")));
    }

    fn switch(&mut self, depth: usize, out: &mut Vec<S>) {
        let on = self.expression(1);
        self.switches += 1;
        let mut cases = Vec::new();
        for label in ["case 0", "case 1", "case 2", "default"] {
            if self.random.one_in(4) {
                continue;
            }
            let mut body = self.body(depth - 1, 2);
            if !self.random.one_in(3) {
                body.push(S::Line("break;".to_string()));
            }
            cases.push((label.to_string(), body));
        }
        self.switches -= 1;
        if !cases.is_empty() {
            out.push(S::Switch(format!("({on}) & 3"), cases));
        }
    }

    // ------------------------------------------------------------ functions

    fn helper(&mut self) {
        let name = self.fresh("helper");
        let kinds = [
            Argument::Value,
            Argument::Value,
            Argument::Pointer,
            Argument::Reference,
            Argument::Shared,
            Argument::Pair,
        ];
        let plain = self.random.one_in(3);
        let count = 1 + self.random.below(2);
        let arguments: Vec<Argument> =
            (0..count).map(|_| if plain { Argument::Value } else { *self.random.pick(&kinds) }).collect();
        let before = self.marks;
        let outer = (std::mem::take(&mut self.names), std::mem::take(&mut self.fixed), std::mem::take(&mut self.pairs));
        self.names = vec![Vec::new()];
        let mut params = Vec::new();
        let mut first = Vec::new();
        for kind in &arguments {
            let param = self.fresh("a");
            let local = self.fresh("v");
            match kind {
                Argument::Value => {
                    params.push(format!("int {param}"));
                    self.declare(&param);
                }
                Argument::Pointer => {
                    params.push(format!("int *{param}"));
                    self.names[0].push(format!("(*{param})"));
                }
                Argument::Reference => {
                    params.push(format!("int &{param}"));
                    self.declare(&param);
                }
                Argument::Shared => {
                    params.push(format!("int *{param}"));
                    let index = self.random.pick(&["0", "n & 7", "threadIdx.x & 31"]).to_string();
                    first.push(S::Line(format!("int {local} = {param}[{index}];")));
                    self.declare(&local);
                }
                Argument::Pair => {
                    params.push(format!("Pair &{param}"));
                    self.names[0].push(format!("{param}.a"));
                }
            }
        }
        let gives = plain || self.random.one_in(2);
        let calm = plain && self.random.one_in(2);
        let mut body = first;
        if calm {
            let value = self.expression(2);
            let condition = self.condition(1);
            let other = self.expression(1);
            body.push(S::If(condition, vec![S::Line(format!("return {other};"))], Vec::new()));
            body.push(S::Line(format!("return {value};")));
        } else {
            if self.random.one_in(4) {
                let condition = self.condition(1);
                let way = if gives { format!("return {};", self.expression(1)) } else { "return;".to_string() };
                body.push(S::If(condition, vec![S::Line(way)], Vec::new()));
            }
            body.extend(self.body(2, 5));
            if gives {
                let value = self.expression(1);
                body.push(S::Line(format!("return {value};")));
            }
        }
        (self.names, self.fixed, self.pairs) = outer;
        params.extend(["int n", "int m", "int *p", "const int *q"].map(String::from));
        let result = if gives { "int" } else { "void" };
        self.functions.push(Function { head: format!("__device__ {result} {name}({})", params.join(", ")), body });
        let has_barrier = self.marks > before;
        self.helpers.push(Helper { name, arguments, gives, has_barrier });
    }

    fn kernel(&mut self, seed: u64) -> Function {
        self.in_kernel = true;
        self.names = vec![Vec::new()];
        let mut body =
            vec![S::Line("__shared__ int flag;".to_string()), S::Line("__shared__ int slots[64];".to_string())];
        let count = 4 + self.random.below(9);
        for _ in 0..count {
            self.statement(DEPTH, &mut body);
        }
        let first = self.mark("__syncthreads();".to_string());
        body.push(first);
        Function { head: format!("__global__ void kernel{seed}(int n, int m, int *p, const int *q)"), body }
    }
}
