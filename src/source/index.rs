//! Files into what a preprocessor asks of them: directives, `#if` groups, macros by name, includes and what they resolve to.
//!
//! A `File` is indexed alone and can be made in parallel; `Files` joins them. Nothing is evaluated here: which branch
//! of an `#if` lives, and which definition of a macro counts, depends on the unit that asks (`expand`).

mod cutting;
mod directives;
mod includes;

pub(super) use directives::is_marked;
pub(super) use includes::Resolver;

use super::lexer::{self, Token};
use crate::text::FileId;
use cutting::CuttingMacros;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::OnceLock;

/// All files of a run, fixed once built.
pub struct Files {
    files: Vec<File>,
    /// The files given; those after them are built in: what a compiler defines, the command line for all files, those for
    /// some, and the macros known from elsewhere.
    given: usize,
    /// For each file given its own command line, if it has one.
    own_lines: Vec<Option<FileId>>,
    names: FxHashMap<Box<[u8]>, MacroName>,
    cutting: CuttingMacros,
    /// By `MacroName`, in the order of files and, within one, of directives.
    changes: Vec<Vec<Change>>,
    /// What each file includes, one file after the other, and where that of each file begins.
    edges: Vec<Edge>,
    first_edge: Vec<u32>,
    closures: Vec<OnceLock<Box<[FileId]>>>,
    includers: Vec<Vec<FileId>>,
    by_file_name: FxHashMap<String, Vec<FileId>>,
}

/// An include that resolves to a file.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Edge {
    pub to: FileId,
    /// The directive's `#`.
    pub start: u32,
    /// An index into the file's includes.
    pub include: u32,
}

/// A name that some file of the run defines as a macro.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MacroName(pub u32);

#[derive(Clone, Debug, Default)]
pub struct Options {
    /// `-I`: directories, spelled from where the paths of the files are spelled from.
    pub include_dirs: Vec<String>,
    /// `-D`: `A`, `A=1` or `F(x)=x`.
    pub defines: Vec<String>,
    /// `-U`
    pub undefines: Vec<String>,
    /// For the path of a file, what is defined for it alone.
    pub of_file: BTreeMap<String, Vec<String>>,
}

/// One file as read, and its index.
pub struct File {
    pub path: String,
    /// Empty for a file that cannot matter (`screen`).
    pub bytes: Box<[u8]>,
    /// Its length as read.
    pub size: u64,
    pub tokens: Vec<Token>,
    pub comments: Vec<(u32, u32)>,
    /// In order.
    pub directives: Vec<Directive>,
    /// Branches of `#if` groups; the first is the whole file.
    pub branches: Vec<Branch>,
    pub macros: Vec<Macro>,
    pub includes: Vec<Include>,
    /// Tokens that may begin or name a kernel or a barrier: `__global__`, `__syncthreads`, `.sync(`, `"bar.sync 0;"`.
    pub marked: Vec<u32>,
}

#[derive(Copy, Clone, Debug)]
pub struct Directive {
    pub kind: DirectiveKind,
    /// Its `#`.
    pub start: u32,
    /// The token after its line.
    pub end: u32,
    /// The branch in whose text it stands; for `#if` and its kin that round the group.
    pub branch: u32,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum DirectiveKind {
    /// An index into `File::macros`.
    Define(u32),
    /// The token of the name.
    Undef(u32),
    /// `#pragma push_macro("X")`, `_Pragma("pop_macro(\"X\")")`: the string with the name.
    Push(u32),
    Pop(u32),
    /// An index into `File::includes`.
    Include(u32),
    /// `#if`, `#elif`, `#else` and kin: the branch it opens.
    Branch(u32),
    EndIf,
    Other,
}

#[derive(Clone, Debug)]
pub struct Branch {
    pub condition: Condition,
    /// The branch round its group; the file itself has itself.
    pub parent: u32,
    /// The branch before it in the same group.
    pub previous: Option<u32>,
    /// The directive that opens it.
    pub start: u32,
    /// Its text, other directives and groups included.
    pub tokens: Range<u32>,
}

#[derive(Clone, Debug)]
pub enum Condition {
    /// `#else`, and the file itself.
    Always,
    Defined(u32),
    NotDefined(u32),
    /// `#if` and `#elif`: the tokens of the expression.
    Expression(Range<u32>),
    /// Nothing to evaluate, as in a bare `#ifdef`.
    Malformed,
}

#[derive(Clone, Debug)]
pub struct Macro {
    pub name: u32,
    /// Tokens of the parameters' names; `None` for an object-like macro.
    pub params: Option<Box<[u32]>>,
    pub variadic: Variadic,
    pub body: Range<u32>,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Variadic {
    No,
    /// `...`, named `__VA_ARGS__`.
    Unnamed,
    /// `args...`, the last of the parameters.
    Named,
}

#[derive(Clone, Debug)]
pub struct Include {
    /// The directive's `#`.
    pub start: u32,
    pub branch: u32,
    /// As written between the quotes or brackets; empty for one made by a macro.
    pub spelled: String,
    pub angled: bool,
    pub resolved: Option<FileId>,
}

/// One directive that changes what a name means, or keeps it to be brought back.
#[derive(Copy, Clone, Debug)]
pub struct Change {
    pub file: FileId,
    /// The directive's `#`.
    pub start: u32,
    pub branch: u32,
    pub kind: ChangeKind,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// An index into the file's macros.
    Define(u32),
    Undef,
    Push,
    Pop,
    /// An include of `<assert.h>`, which makes nothing of `assert` or its word, as `NDEBUG` says there.
    Assert,
}

/// Words of CUDA that count as defined and stay what they are, whatever a header for host builds makes of them.
pub const OPAQUE_WORDS: [&str; 38] = [
    "__align__",
    "__all_sync",
    "__any_sync",
    "__ballot_sync",
    "__barrier_sync",
    "__barrier_sync_count",
    "__block_size__",
    "__cluster_dims__",
    "__constant__",
    "__device__",
    "__forceinline__",
    "__global__",
    "__grid_constant__",
    "__host__",
    "__launch_bounds__",
    "__managed__",
    "__match_all_sync",
    "__match_any_sync",
    "__maxnreg__",
    "__noinline__",
    "__restrict__",
    "__shared__",
    "__shfl_down_sync",
    "__shfl_sync",
    "__shfl_up_sync",
    "__shfl_xor_sync",
    "__syncthreads",
    "__syncthreads_and",
    "__syncthreads_count",
    "__syncthreads_or",
    "__syncwarp",
    "__threadfence",
    "__threadfence_block",
    "blockDim",
    "blockIdx",
    "gridDim",
    "threadIdx",
    "warpSize",
];

pub fn is_opaque(word: &[u8]) -> bool {
    OPAQUE_WORDS.binary_search_by(|opaque| opaque.as_bytes().cmp(word)).is_ok()
}

const PREDEFINED: &str = include_str!("../../grammar-queries/predefined.h");
pub(super) const WELL_KNOWN: &str = include_str!("../../grammar-queries/macros.h");

impl File {
    pub fn new(path: String, bytes: Vec<u8>) -> File {
        let bytes = super::spelling::plain(bytes).into_boxed_slice();
        let lexed = lexer::lex(&bytes);
        directives::index(path, bytes, lexed)
    }

    /// A file that is there, and no more is asked of it.
    pub(super) fn unread(path: String, size: usize) -> File {
        File { size: size as u64, ..File::new(path, Vec::new()) }
    }

    /// The bytes of a token as they stand in the file.
    pub fn text(&self, token: u32) -> &[u8] {
        self.tokens.get(token as usize).map(|token| token.bytes(&self.bytes)).unwrap_or_default()
    }
}

impl Include {
    fn is_assert(&self) -> bool {
        self.resolved.is_none() && matches!(self.spelled.as_str(), "assert.h" | "cassert")
    }
}

impl Files {
    /// `FileId(i)` is the i-th of `files`; built-in files come after them.
    pub fn new(mut files: Vec<File>, options: &Options) -> Files {
        let given = files.len();
        let by_file_name = includes::resolve(&mut files, &options.include_dirs);
        files.push(File::new("<built-in>".into(), PREDEFINED.into()));
        files.push(File::new("<command line>".into(), command_line(&options.defines, &options.undefines)));
        let mut lines: FxHashMap<&[String], FileId> = FxHashMap::default();
        let mut own_lines = vec![None; given];
        for at in 0..given {
            let Some(defines) = options.of_file.get(&files[at].path) else { continue };
            let id = *lines.entry(defines).or_insert(FileId(files.len() as u32));
            if id.0 as usize == files.len() {
                files.push(File::new("<command line>".into(), command_line(defines, &[])));
            }
            own_lines[at] = Some(id);
        }
        files.push(File::new("<well-known macros>".into(), WELL_KNOWN.into()));

        let mut names: FxHashMap<Box<[u8]>, MacroName> = FxHashMap::default();
        let mut changes: Vec<Vec<Change>> = Vec::new();
        for (file, id) in files.iter().zip(0..) {
            for directive in &file.directives {
                let (name, kind) = match directive.kind {
                    DirectiveKind::Define(index) => (file.macros[index as usize].name, ChangeKind::Define(index)),
                    DirectiveKind::Undef(name) => (name, ChangeKind::Undef),
                    DirectiveKind::Push(name) => (name, ChangeKind::Push),
                    DirectiveKind::Pop(name) => (name, ChangeKind::Pop),
                    DirectiveKind::Include(index) if file.includes[index as usize].is_assert() => {
                        (directive.start, ChangeKind::Assert)
                    }
                    _ => continue,
                };
                let spelling = file.tokens[name as usize].spelling(&file.bytes);
                let text = match kind {
                    ChangeKind::Push | ChangeKind::Pop => directives::quoted_name(&spelling),
                    ChangeKind::Define(_) | ChangeKind::Undef => &spelling,
                    ChangeKind::Assert => b"assert",
                };
                if is_opaque(text) {
                    continue;
                }
                let MacroName(slot) = match names.get(text) {
                    Some(name) => *name,
                    None => {
                        let name = MacroName(changes.len() as u32);
                        names.insert(text.into(), name);
                        changes.push(Vec::new());
                        name
                    }
                };
                let change = Change { file: FileId(id), start: directive.start, branch: directive.branch, kind };
                changes[slot as usize].push(change);
            }
        }
        let mut edges = Vec::new();
        let mut first_edge = Vec::with_capacity(files.len() + 1);
        for file in &files {
            first_edge.push(edges.len() as u32);
            let resolved = file.includes.iter().zip(0..);
            edges.extend(resolved.filter_map(|(include, index)| {
                Some(Edge { to: include.resolved?, start: include.start, include: index })
            }));
        }
        first_edge.push(edges.len() as u32);
        let mut includers = vec![Vec::new(); files.len()];
        for (file, id) in files.iter().zip(0..) {
            for include in file.includes.iter().filter_map(|include| include.resolved) {
                if includers[include.0 as usize].last() != Some(&FileId(id)) {
                    includers[include.0 as usize].push(FileId(id));
                }
            }
        }
        let closures = files.iter().map(|_| OnceLock::new()).collect();
        let cutting = CuttingMacros::new(&files, &names);
        Files { files, given, own_lines, names, cutting, changes, edges, first_edge, closures, includers, by_file_name }
    }

    pub fn get(&self, id: FileId) -> &File {
        &self.files[id.0 as usize]
    }

    /// The files given, without those built in.
    pub fn ids(&self) -> impl Iterator<Item = FileId> + use<> {
        (0..self.given as u32).map(FileId)
    }

    /// All files, those built in included.
    pub fn count(&self) -> usize {
        self.files.len()
    }

    /// The file itself and all that it includes, in order of their ids.
    pub fn include_closure(&self, id: FileId) -> &[FileId] {
        let Some(closure) = self.closures.get(id.0 as usize) else { return &[] };
        closure.get_or_init(|| {
            let mut seen = vec![false; self.files.len()];
            let mut found = vec![id];
            seen[id.0 as usize] = true;
            let mut next = 0;
            while let Some(file) = found.get(next) {
                next += 1;
                for edge in self.edges(*file) {
                    if !std::mem::replace(&mut seen[edge.to.0 as usize], true) {
                        found.push(edge.to);
                    }
                }
            }
            found.sort_unstable();
            found.into_boxed_slice()
        })
    }

    /// Whether `from` is `file` or includes it, directly or not.
    pub fn sees(&self, from: FileId, file: FileId) -> bool {
        from == file || self.include_closure(from).binary_search(&file).is_ok()
    }

    /// The files that include this one directly.
    pub fn includers(&self, id: FileId) -> &[FileId] {
        self.includers.get(id.0 as usize).map(Vec::as_slice).unwrap_or_default()
    }

    /// Whether the path of some file ends with this one, folder by folder.
    pub fn has_file(&self, path: &str) -> bool {
        let mut named = self.by_file_name.get(includes::file_name(path)).into_iter().flatten();
        named.any(|id| includes::ends_with(&self.get(*id).path, path))
    }

    /// The name, if any file defines or undefines it as a macro.
    pub fn macro_name(&self, word: &[u8]) -> Option<MacroName> {
        self.names.get(word).copied()
    }

    /// The macro that a token names, if that may hold brackets without their partners.
    pub fn cutting_macro(&self, file: &File, token: Token) -> Option<MacroName> {
        let name = self.cutting.may_be(token).then(|| self.macro_name(&token.spelling(&file.bytes))).flatten();
        name.filter(|name| self.cutting.holds(*name))
    }

    pub fn changes(&self, name: MacroName) -> &[Change] {
        &self.changes[name.0 as usize]
    }

    /// The includes of a file that resolve to one.
    pub(crate) fn edges(&self, id: FileId) -> &[Edge] {
        &self.edges[self.first_edge[id.0 as usize] as usize..self.first_edge[id.0 as usize + 1] as usize]
    }

    pub(crate) fn predefined(&self) -> FileId {
        FileId(self.given as u32)
    }

    /// What is defined for a file from outside: for all, and for it alone.
    pub(crate) fn command_lines_of(&self, id: FileId) -> impl Iterator<Item = FileId> + use<> {
        let own = self.own_lines.get(id.0 as usize).copied().flatten();
        std::iter::once(FileId(self.given as u32 + 1)).chain(own)
    }

    /// Whether a file speaks to some units and not to all: it is one of those given, or a command line for some.
    pub(crate) fn is_of_some(&self, id: FileId) -> bool {
        (id.0 as usize) < self.given || self.given as u32 + 1 < id.0 && id < self.well_known()
    }

    /// What is defined from outside for any file.
    pub(crate) fn command_lines(&self) -> impl Iterator<Item = FileId> + use<> {
        (self.given as u32 + 1..self.well_known().0).map(FileId)
    }

    /// What `assert` is once its header has been read under `NDEBUG`: the index of a macro among the well-known ones.
    pub(crate) fn silent_assert(&self) -> Option<u32> {
        let name = self.macro_name(b"__assert_under_NDEBUG")?;
        self.changes(name).iter().rev().find_map(|change| match change.kind {
            ChangeKind::Define(index) if change.file == self.well_known() => Some(index),
            _ => None,
        })
    }

    pub(crate) fn well_known(&self) -> FileId {
        FileId(self.files.len() as u32 - 1)
    }
}

fn command_line(defines: &[String], undefines: &[String]) -> Vec<u8> {
    let mut text = String::new();
    for define in defines {
        let (head, body) = define.split_once('=').unwrap_or((define, "1"));
        text.push_str(&format!("#define {head} {body}\n"));
    }
    for undefine in undefines {
        text.push_str(&format!("#undef {undefine}\n"));
    }
    // Before the file itself nvcc reads cuda_runtime.h, and with it crt/common_functions.h, which includes this.
    text.push_str("#include <assert.h>\n");
    text.into_bytes()
}
