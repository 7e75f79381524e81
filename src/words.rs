//! The vocabulary: what names mean in CUDA, read from `grammar-queries/words.toml` and the user's rows of the same form.
//!
//! Nothing here knows about syntax or flow; a name is looked up by its last component.

use rustc_hash::{FxHashMap, FxHashSet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

const BUILTIN: &str = include_str!("../grammar-queries/words.toml");

/// A table of words as written: the built-in one, or the user's.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Table {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub barrier: Vec<BarrierRow>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub group: Vec<GroupRow>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub library: Vec<LibraryRow>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub source: Vec<SourceRow>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub varies: Vec<VariesRow>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub atomic: Vec<AtomicRow>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub load: Vec<LoadRow>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stop: Vec<StopRow>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attribute: Vec<AttributeRow>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub function: Vec<FunctionRow>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub constant: Vec<ConstantRow>,
}

/// A primitive that every thread of a group must reach together.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BarrierRow {
    /// Functions, by the last component of their name.
    #[serde(default)]
    pub names: Vec<String>,
    /// Methods; `on` says of what.
    #[serde(default)]
    pub methods: Vec<String>,
    /// Types whose methods count, or for `names` what the first argument must be: a class name, `group` for any
    /// cooperative group, `any`.
    #[serde(default)]
    pub on: Vec<String>,
    /// Who has to come.
    pub group: GroupKind,
    /// Position of the mask among the arguments, for `lanes`. Left out: all 32 lanes.
    pub mask: Option<usize>,
    /// Position of a named barrier's number among the arguments, from 0.
    pub id: Option<usize>,
    /// Position of the number of threads that a named barrier waits for.
    pub count: Option<usize>,
    /// Named barriers: all threads of a warp must execute the same instruction.
    #[serde(default = "yes")]
    pub aligned: bool,
    /// How far the group agrees on what it returns.
    #[serde(default)]
    pub result: ResultKind,
    /// Position of the condition of which a ballot makes its mask.
    pub predicate: Option<usize>,
    /// Position of the lane that a shuffle reads.
    pub lane: Option<usize>,
    /// Position of a shuffle's width.
    pub width: Option<usize>,
    /// Position of a shuffle's width among the template arguments.
    pub width_argument: Option<usize>,
    /// Position of a variable that is given the result, too, by reference.
    pub gives: Option<usize>,
    /// Position of a function that one thread of the group runs.
    pub runs: Option<usize>,
    /// Threads wait here; an arrive does not.
    #[serde(default = "yes")]
    pub waits: bool,
    /// The group's writes before are visible behind it.
    #[serde(default = "yes")]
    pub orders_memory: bool,
}

fn yes() -> bool {
    true
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GroupKind {
    /// Every thread of the block.
    Block,
    /// The lanes of a warp that the mask names.
    Lanes,
    /// All lanes of the warp.
    Warp,
    /// Every thread of the cluster.
    Cluster,
    /// Every thread of the launch.
    Grid,
    /// The whole block at a numbered barrier.
    Named,
    /// A numbered barrier for so many threads.
    Counted,
    /// Arrivals counted by the object it is called on, or that is passed first.
    Object,
    /// The group it is called on.
    Receiver,
    /// The group passed first.
    Argument,
}

#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ResultKind {
    /// It returns nothing.
    #[default]
    Nothing,
    /// The same for the whole group.
    Uniform,
    /// A mask of the lanes for which the predicate holds.
    Ballot,
    /// A mask of the lanes with the same argument.
    Peers,
    /// The value of another lane: the same for all if all read the same one.
    Shuffle,
    /// Another one for each thread.
    Thread,
}

/// How a cooperative group is made, and what its type is called.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GroupRow {
    /// Functions that return such a group.
    pub makers: Vec<String>,
    /// What group it is.
    pub kind: GroupMaker,
    /// Names of its class.
    #[serde(default)]
    pub types: Vec<String>,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GroupMaker {
    /// All threads of the block.
    Block,
    /// All threads of the launch.
    Grid,
    /// All threads of the cluster.
    Cluster,
    /// The lanes that are there when it is made.
    Coalesced,
    /// Runs of as many threads as the template argument, or the last argument, says.
    Tile,
    /// Parts of another group, by a value that each thread gives.
    Partition,
}

/// A class template whose methods are collectives.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LibraryRow {
    /// Names of the class template.
    pub types: Vec<String>,
    /// Who has to come to a call of its methods.
    pub group: LibraryGroup,
    /// Position of the template argument that is the width: of the logical warp, or of the block in its first dimension.
    pub width: Option<usize>,
    /// Methods that are no collective.
    #[serde(default)]
    pub except: Vec<String>,
    /// How far the group agrees on what a method returns.
    pub result: ResultKind,
    /// Methods on whose result the group agrees all the same.
    #[serde(default)]
    pub agreed: Vec<String>,
    /// A last out-parameter holds one value for the group.
    #[serde(default)]
    pub aggregate: bool,
    /// Positions of single variables that a method writes; arrays always count as written.
    #[serde(default)]
    pub writes: Vec<usize>,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LibraryGroup {
    /// Every thread of the block.
    Block,
    /// As many lanes as `width` says.
    LogicalWarp,
}

/// A built-in variable.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SourceRow {
    /// What it is called.
    pub names: Vec<String>,
    /// What it stands for.
    pub is: SourceKind,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SourceKind {
    /// `threadIdx`
    ThreadIdx,
    /// `blockIdx`
    BlockIdx,
    /// `blockDim`
    BlockDim,
    /// `gridDim`
    GridDim,
    /// `warpSize`
    WarpSize,
}

/// A function without a body in view whose result differs between threads, or agrees over more than its arguments do.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VariesRow {
    /// Functions, by the last component of their name.
    #[serde(default)]
    pub names: Vec<String>,
    /// Methods of classes not in view.
    #[serde(default)]
    pub methods: Vec<String>,
    /// The largest group that agrees on the result.
    pub agrees: Agrees,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Agrees {
    /// Differs in every thread.
    Thread,
    /// The thread's number in the block, counted over all its dimensions.
    Rank,
    /// The lane number.
    Lane,
    /// The warp's number in the block.
    Warp,
    /// The number of the group of four warps.
    Warpgroup,
    /// The same for each block.
    Block,
    /// The same for each cluster.
    Cluster,
    /// The same for all threads of the launch.
    Grid,
}

/// Operations that give each thread another value of what others may write.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AtomicRow {
    /// What the names of such functions begin with.
    #[serde(default)]
    pub prefixes: Vec<String>,
    /// Methods of classes not in view.
    #[serde(default)]
    pub methods: Vec<String>,
}

/// A function that returns what its first argument points to.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LoadRow {
    /// Functions, by the last component of their name.
    pub names: Vec<String>,
    /// Those of `names` whose memory nobody writes while the kernel runs.
    #[serde(default)]
    pub read_only: Vec<String>,
}

/// A function that does not return.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StopRow {
    /// Functions, by the last component of their name.
    pub names: Vec<String>,
    /// What it ends.
    pub is: Stop,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Stop {
    /// Ends the whole grid, or never happens.
    Trap,
    /// Ends this thread.
    Exit,
}

/// A word in front of a declaration, most often a macro.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AttributeRow {
    /// The words.
    pub words: Vec<String>,
    /// What they say of what is declared.
    pub means: Attribute,
    /// Followed by arguments in parentheses.
    #[serde(default)]
    pub arguments: bool,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Attribute {
    /// `__global__`
    Kernel,
    /// `__device__`
    Device,
    /// `__host__`
    Host,
    /// `__shared__`
    Shared,
    /// `__constant__`
    Constant,
    /// `__managed__`
    Managed,
    /// `__launch_bounds__`
    LaunchBounds,
    /// `__block_size__`
    BlockSize,
    /// `__cluster_dims__`
    ClusterDims,
    /// Nothing that matters here.
    Nothing,
}

impl Attribute {
    /// What CUDA has for it.
    fn spelling(self) -> &'static str {
        match self {
            Attribute::Kernel => "__global__",
            Attribute::Device => "__device__",
            Attribute::Host => "__host__",
            Attribute::Shared => "__shared__",
            Attribute::Constant => "__constant__",
            Attribute::Managed => "__managed__",
            Attribute::LaunchBounds => "__launch_bounds__",
            Attribute::BlockSize => "__block_size__",
            Attribute::ClusterDims => "__cluster_dims__",
            Attribute::Nothing => "",
        }
    }

    /// It says something of the launch, in arguments.
    fn has_arguments(self) -> bool {
        matches!(self, Attribute::LaunchBounds | Attribute::BlockSize | Attribute::ClusterDims)
    }
}

impl AttributeRow {
    /// The words as macros, `NAME=REPLACEMENT`: what reads declarations knows CUDA's own words alone.
    pub fn macros(&self) -> impl Iterator<Item = String> + '_ {
        let cuda = self.means.spelling();
        let (parameters, arguments) = match (self.arguments, self.means.has_arguments()) {
            (true, true) => ("(...)", "(__VA_ARGS__)"),
            (true, false) => ("(...)", ""),
            (false, _) => ("", ""),
        };
        self.words.iter().map(move |word| format!("{word}{parameters}={cuda}{arguments}"))
    }
}

/// A function of which only the meaning matters.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FunctionRow {
    /// Functions, by the last component of their name.
    pub names: Vec<String>,
    /// What it does.
    pub is: FunctionKind,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FunctionKind {
    /// The least of its arguments.
    Min,
    /// The greatest of its arguments.
    Max,
    /// The product of its two arguments.
    Multiply,
    /// Its value is its first argument.
    First,
    /// Its first argument, which may be moved from.
    Move,
    /// Its first argument as it was given.
    Forward,
    /// The same operands give the same value.
    Pure,
    /// It answers from its argument's type alone: the same for all threads.
    OfType,
    /// A pair of its arguments.
    MakePair,
    /// A tuple of its arguments.
    MakeTuple,
    /// A part of a pair or tuple, by the number in its template arguments.
    Get,
    /// A tuple of the parts of its arguments.
    Concatenate,
    /// An object of the class in its template arguments, made of the parts of a tuple.
    MakeFromTuple,
    /// Copies bytes from where its second argument points to where its first does.
    CopyBytes,
    /// Sets all bytes where its first argument points to its second.
    SetBytes,
    /// What is assigned to the result goes part by part to the arguments.
    Tie,
    /// Its two arguments change places.
    Swap,
    /// Makes an object of the others where its first argument points.
    ConstructAt,
    /// Gives the first argument the second's value, and back what it was.
    Exchange,
    /// Calls its first argument with the others.
    Invoke,
    /// Calls its first argument with the parts of a tuple, its second.
    Apply,
    /// Calls its last argument once for each element between the two iterators before it.
    ForEach,
    /// Calls its last argument once for each of so many elements from an iterator on, the two before it.
    ForEachOf,
    /// Calls its first argument with what the variants behind it hold.
    Visit,
    /// What is called like its argument.
    Reference,
    /// Whoever goes on behind it, its first argument is true for.
    Assert,
    /// The same, said to the compiler alone: the argument is not evaluated.
    Assume,
}

impl FunctionKind {
    /// It calls what it is given.
    pub fn calls_argument(self) -> bool {
        use FunctionKind::*;
        matches!(self, Invoke | Apply | ForEach | ForEachOf | Visit | Reference)
    }
}

/// Constants of libraries that are often out of view, and functions without arguments that return one.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConstantRow {
    /// What it is called, by the last component of the name.
    pub names: Vec<String>,
    /// What it is.
    pub value: i64,
}

/// The table, ready for look-ups.
#[derive(Debug)]
pub struct Words {
    users_barriers: Vec<String>,
    users_types: Vec<String>,
    barriers: FxHashMap<String, Vec<Arc<BarrierRow>>>,
    barrier_methods: FxHashMap<String, Vec<Arc<BarrierRow>>>,
    group_makers: FxHashMap<String, GroupMaker>,
    group_types: FxHashMap<String, GroupMaker>,
    library: FxHashMap<String, Arc<LibraryRow>>,
    sources: FxHashMap<String, SourceKind>,
    varies: FxHashMap<String, Agrees>,
    varies_methods: FxHashMap<String, Agrees>,
    barrier_classes: FxHashSet<String>,
    numbered_classes: FxHashSet<String>,
    loads: FxHashMap<String, bool>,
    stops: FxHashMap<String, Stop>,
    attributes: FxHashMap<String, Attribute>,
    functions: FxHashMap<String, FunctionKind>,
    constants: FxHashMap<String, i64>,
    atomic_prefixes: Vec<String>,
    atomic_methods: Vec<String>,
}

impl Words {
    /// The built-in words.
    pub fn builtin() -> Words {
        Words::with(&Table::default())
    }

    /// The built-in words and the user's; a row of the user's comes before a built-in one of the same name.
    pub fn with(user: &Table) -> Words {
        let builtin: Table = toml::from_str(BUILTIN).expect("the built-in table is read by a test");
        let mut words = Words::empty();
        for table in [user, &builtin] {
            words.add(table);
        }
        let own = user
            .barrier
            .iter()
            .flat_map(|row| row.names.iter().map(|name| last(name)).chain(row.methods.iter().map(String::as_str)));
        words.users_barriers = own.map(String::from).collect();
        let types = user.library.iter().flat_map(|row| &row.types).chain(user.group.iter().flat_map(|row| &row.types));
        words.users_types = types.map(|name| last(name).to_string()).collect();
        words
    }

    fn empty() -> Words {
        Words {
            users_barriers: Vec::new(),
            users_types: Vec::new(),
            barriers: FxHashMap::default(),
            barrier_methods: FxHashMap::default(),
            group_makers: FxHashMap::default(),
            group_types: FxHashMap::default(),
            library: FxHashMap::default(),
            sources: FxHashMap::default(),
            varies: FxHashMap::default(),
            varies_methods: FxHashMap::default(),
            barrier_classes: FxHashSet::default(),
            numbered_classes: FxHashSet::default(),
            loads: FxHashMap::default(),
            stops: FxHashMap::default(),
            attributes: FxHashMap::default(),
            functions: FxHashMap::default(),
            constants: FxHashMap::default(),
            atomic_prefixes: Vec::new(),
            atomic_methods: Vec::new(),
        }
    }

    fn add(&mut self, table: &Table) {
        fn put<V: Clone>(map: &mut FxHashMap<String, V>, names: &[String], value: V) {
            for name in names {
                map.entry(last(name).to_string()).or_insert_with(|| value.clone());
            }
        }
        for row in &table.barrier {
            let row = Arc::new(row.clone());
            for name in &row.names {
                self.barriers.entry(last(name).to_string()).or_default().push(row.clone());
            }
            self.barrier_classes.extend(row.on.iter().filter(|on| *on != "group" && *on != "any").cloned());
            if matches!(row.group, GroupKind::Counted | GroupKind::Named) {
                self.numbered_classes.extend(row.on.iter().filter(|on| *on != "group" && *on != "any").cloned());
            }
            // Of what a method is that nothing is said of, of anything.
            let of_any = || Arc::new(BarrierRow { on: vec!["any".to_string()], ..(*row).clone() });
            let row = if row.on.is_empty() && !row.methods.is_empty() { of_any() } else { row };
            for name in &row.methods {
                self.barrier_methods.entry(name.clone()).or_default().push(row.clone());
            }
        }
        for row in &table.group {
            put(&mut self.group_makers, &row.makers, row.kind);
            put(&mut self.group_types, &row.types, row.kind);
        }
        for row in &table.library {
            put(&mut self.library, &row.types, Arc::new(row.clone()));
        }
        for row in &table.source {
            put(&mut self.sources, &row.names, row.is);
        }
        for row in &table.varies {
            put(&mut self.varies, &row.names, row.agrees);
            put(&mut self.varies_methods, &row.methods, row.agrees);
        }
        for row in &table.load {
            for name in &row.names {
                self.loads.entry(name.clone()).or_insert(row.read_only.contains(name));
            }
        }
        for row in &table.stop {
            put(&mut self.stops, &row.names, row.is);
        }
        for row in &table.attribute {
            put(&mut self.attributes, &row.words, row.means);
        }
        for row in &table.function {
            put(&mut self.functions, &row.names, row.is);
        }
        for row in &table.constant {
            put(&mut self.constants, &row.names, row.value);
        }
        for row in &table.atomic {
            self.atomic_prefixes.extend(row.prefixes.iter().cloned());
            self.atomic_methods.extend(row.methods.iter().cloned());
        }
    }

    /// Barrier functions of this name; several rows differ in what they ask of the first argument (`on`).
    pub fn barrier(&self, name: &str) -> &[Arc<BarrierRow>] {
        self.barriers.get(name).map_or(&[], Vec::as_slice)
    }

    /// The vote of the block that a function out of view is named after: `Emulation::syncthreadsOr`.
    pub fn vote_spelled(&self, name: &str) -> Option<Arc<BarrierRow>> {
        const VOTES: [&str; 3] = ["__syncthreads_count", "__syncthreads_and", "__syncthreads_or"];
        if !name.contains("hreads") && !name.contains("HREADS") {
            return None;
        }
        let plain = |name: &str| name.replace('_', "").to_ascii_lowercase();
        let name = plain(name);
        let vote = VOTES.iter().find(|vote| name.ends_with(&plain(vote)))?;
        self.barrier(vote).first().cloned()
    }

    /// The names of all barrier functions, without what stands before the last `::`.
    pub fn barrier_names(&self) -> impl Iterator<Item = &str> {
        self.barriers.keys().map(String::as_str)
    }

    /// All names that make a barrier of a call, or are needed to: functions, methods, classes, what makes groups.
    pub fn names_round_barriers(&self) -> impl Iterator<Item = &str> {
        let functions = self.barriers.keys().chain(self.barrier_methods.keys()).chain(self.group_makers.keys());
        let classes = self.group_types.keys().chain(self.library.keys()).chain(&self.barrier_classes);
        functions.chain(classes).map(String::as_str)
    }

    /// The names of the user's own barriers, functions and methods.
    pub fn users_barrier_names(&self) -> &[String] {
        &self.users_barriers
    }

    /// The words of all attributes with a meaning that is `wanted`.
    pub fn attribute_words(&self, wanted: impl Fn(Attribute) -> bool) -> Vec<String> {
        let attributes = self.attributes.iter().filter(|(_, means)| wanted(**means));
        attributes.map(|(word, _)| word.clone()).collect()
    }

    /// The user has a row for a function or a method of this name. It counts for more than a body in view.
    pub fn is_users_barrier(&self, name: &str) -> bool {
        self.users_barriers.iter().any(|own| own == name)
    }

    /// The user says what a class of this name is for. That counts for more than its body in view.
    pub fn is_users_type(&self, name: &str) -> bool {
        self.users_types.iter().any(|own| own == name)
    }

    pub fn barrier_method(&self, name: &str) -> &[Arc<BarrierRow>] {
        self.barrier_methods.get(name).map_or(&[], Vec::as_slice)
    }

    pub fn group_maker(&self, name: &str) -> Option<GroupMaker> {
        self.group_makers.get(name).copied()
    }

    pub fn group_type(&self, name: &str) -> Option<GroupMaker> {
        self.group_types.get(name).copied()
    }

    /// A library class whose methods are collectives.
    pub fn library(&self, class: &str) -> Option<&Arc<LibraryRow>> {
        self.library.get(class)
    }

    pub fn source(&self, name: &str) -> Option<SourceKind> {
        self.sources.get(name).copied()
    }

    pub fn varies(&self, name: &str) -> Option<Agrees> {
        self.varies.get(name).copied()
    }

    pub fn varies_method(&self, name: &str) -> Option<Agrees> {
        self.varies_methods.get(name).copied()
    }

    /// A class that some row's methods or functions are for.
    pub fn is_barrier_class(&self, name: &str) -> bool {
        self.barrier_classes.contains(name)
    }

    /// A class whose objects stand for a named barrier, with its number and perhaps its count.
    pub fn is_numbered_class(&self, name: &str) -> bool {
        self.numbered_classes.contains(name)
    }

    /// A function that loads from its first argument, and whether nobody writes there while the kernel runs.
    pub fn load(&self, name: &str) -> Option<bool> {
        self.loads.get(name).copied()
    }

    pub fn stop(&self, name: &str) -> Option<Stop> {
        self.stops.get(name).copied()
    }

    pub fn function(&self, name: &str) -> Option<FunctionKind> {
        self.functions.get(name).copied()
    }

    pub fn constant(&self, name: &str) -> Option<i64> {
        self.constants.get(name).copied()
    }

    pub fn is_atomic(&self, name: &str) -> bool {
        self.atomic_prefixes.iter().any(|prefix| name.starts_with(prefix.as_str()))
    }

    pub fn is_atomic_method(&self, name: &str) -> bool {
        self.atomic_methods.iter().any(|method| method == name)
    }

    /// The word alone makes it likely that a barrier is near: what seeds the search for functions that matter.
    /// Methods count only by what they are called on, so `sync` alone says little.
    pub fn may_be_barrier(&self, name: &str) -> bool {
        self.barriers.contains_key(name) || self.barrier_methods.contains_key(name) || self.library.contains_key(name)
    }
}

fn last(name: &str) -> &str {
    name.rsplit("::").next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_builtin_table_is_read() {
        let words = Words::builtin();
        assert_eq!(words.barrier("__syncthreads")[0].group, GroupKind::Block);
        assert_eq!(words.barrier("__ballot_sync")[0].predicate, Some(1));
        assert!(words.is_atomic("atomicAdd"));
    }

    #[test]
    fn the_users_row_comes_first() {
        let user: Table = toml::from_str("[[barrier]]\nnames = [\"__syncwarp\"]\ngroup = \"block\"").expect("valid");
        assert_eq!(Words::with(&user).barrier("__syncwarp")[0].group, GroupKind::Block);
    }
}
