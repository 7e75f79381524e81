//! Where kernels are launched, and with how many threads: `k<<<grid, block>>>`, the runtime's calls, what the kernel promises.
//!
//! The host's code is read by its tokens. Constants, local variables, template arguments and the parameters of wrappers are
//! followed. Where the program chooses one of several values (`big ? 256 : 128`), there is a launch for each; whatever else is
//! computed at run time is unknown, and stays so.

mod assumptions;
mod callers;
mod calls;
mod choices;
mod classes;
mod clusters;
mod code;
mod constructors;
mod declarators;
mod deduce;
mod evaluate;
mod handed;
mod instances;
mod join;
mod kernels;
mod lambdas;
mod lists;
mod locals;
mod members;
mod mentions;
mod objects;
mod relevant;
mod scope;
mod turns;
mod writes;

use super::index::File;
use super::items::{BoundsKind, BoundsText, ItemKind, Tokens};
use super::lexer::{Token, TokenKind};
use super::tree::Tree;
use crate::graph::ItemId;
use crate::text::{FileId, Range};
use choices::Choices;
use code::{Code, Shape, Site};
pub use deduce::LambdaId;
use evaluate::{Number, Value, evaluate};
pub use join::arguments as common_arguments;
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use scope::{Bound, Frame, Scope};
use std::cell::{Cell, RefCell};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Names and operators that one launch may take to evaluate.
const BUDGET: u32 = 20_000;

/// Functions and constants that are kept for the next kernel: those that launch what they are given are asked for each.
const MAX_CODES: usize = 512;

/// One launch of a kernel, from one way to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    pub kernel: ItemId,
    pub template_args: Vec<Argument>,
    /// Extents in x, y, z; none where unknown.
    pub block: [Option<u32>; 3],
    /// What the block's extents do not exceed, where that is known: `std::min(n, 256)`.
    pub block_limit: [Option<u32>; 3],
    /// From a cluster attribute of the launch.
    pub cluster: Option<[u32; 3]>,
    pub at: Range,
}

/// What a launch gives one template parameter of its kernel, in writing or by the type of an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// Expanded; a number where it is constant.
    Text(String),
    Lambda(LambdaId),
    /// Nothing in view tells.
    Open,
}

/// What the attributes of a kernel say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LaunchBounds {
    /// `__launch_bounds__(N)`
    pub max_threads: Option<u32>,
    /// `__block_size__((x, y, z))`
    pub block: Option<[u32; 3]>,
    /// `__cluster_dims__(x, y, z)`
    pub cluster: Option<[u32; 3]>,
}

/// All places that launch some kernels. What they say of a kernel is worked out when somebody asks.
#[derive(Default)]
pub struct Launches {
    search: Search,
    of: FxHashMap<ItemId, OnceLock<Vec<Launch>>>,
}

/// The functions that launch something, and what was read of them.
#[derive(Default)]
struct Search {
    /// For a kernel's name the functions that launch it.
    by_name: FxHashMap<String, Vec<ItemId>>,
    /// Functions that launch something whose name does not stand at the launch: a parameter, what a macro makes.
    indirect: Vec<ItemId>,
    /// By the function, and whether it is read as what takes dead branches has it.
    codes: Mutex<FxHashMap<(ItemId, bool), Arc<Code>>>,
    callers: Mutex<FxHashMap<ItemId, Arc<Vec<ItemId>>>>,
    ways: Mutex<callers::Ways>,
    macros: OnceLock<callers::Macros>,
}

/// The state of one evaluation.
pub(super) struct Work<'s> {
    tree: &'s Tree,
    search: Option<&'s Search>,
    /// The file of a kernel in a dead branch, whose functions are read as what takes such branches has them.
    beside_dead: Option<FileId>,
    own: RefCell<FxHashMap<ItemId, Arc<Code>>>,
    depth: Cell<u32>,
    budget: Cell<u32>,
    /// A value was asked for that only a caller knows.
    needs_caller: Cell<bool>,
    /// A limit was met.
    gave_up: Cell<bool>,
    choices: RefCell<Choices>,
    /// It was asked which way a fork goes, so what comes out holds for this reading only.
    chose: Cell<bool>,
    /// On the way that is read the host does not come to the launch.
    left: Cell<bool>,
}

impl Launches {
    /// Finds the launches of `kernels`.
    pub fn new(tree: &Tree, kernels: &[ItemId]) -> Launches {
        let of = kernels.iter().map(|kernel| (*kernel, OnceLock::new())).collect();
        Launches { search: Search::new(tree, kernels), of }
    }

    /// Every launch of `kernel` in view, in the order of files and places; one that differs only by its way is there once.
    pub fn of(&self, tree: &Tree, kernel: ItemId) -> &[Launch] {
        self.of.get(&kernel).map_or(&[], |known| known.get_or_init(|| self.search.launches_of(tree, kernel)))
    }
}

impl Search {
    fn macros(&self, tree: &Tree) -> &callers::Macros {
        self.macros.get_or_init(|| callers::Macros::new(tree))
    }

    fn new(tree: &Tree, kernels: &[ItemId]) -> Search {
        let names: FxHashSet<&[u8]> = kernels.iter().map(|kernel| tree.item(*kernel).name.as_bytes()).collect();
        let all_kernels: FxHashSet<&[u8]> =
            tree.items.iter().filter(|item| item.is_kernel()).map(|item| item.name.as_bytes()).collect();
        let launching_macros = launching_macros(tree);
        let files: Vec<_> = tree.files.ids().collect();
        let found: Vec<Vec<(ItemId, Vec<String>, bool)>> = files
            .par_iter()
            .map(|id| {
                let file = tree.files.get(*id);
                let may_launch = file.tokens.iter().any(|token| match token.kind() {
                    TokenKind::LaunchOpen => true,
                    TokenKind::Identifier if matches!(token.first(), b'c' | b'h') => {
                        is_launch_call(token.bytes(&file.bytes))
                    }
                    TokenKind::Identifier => launching_macros.contains(token.bytes(&file.bytes)),
                    _ => false,
                });
                if !may_launch {
                    return Vec::new();
                }
                let functions = tree.items_of(*id).filter(|item| tree.item(*item).is_definition());
                functions.filter_map(|item| launched_by(tree, item, &names, &all_kernels, &launching_macros)).collect()
            })
            .collect();
        let mut by_name: FxHashMap<String, Vec<ItemId>> = FxHashMap::default();
        let mut indirect = Vec::new();
        for (item, launched, is_indirect) in found.into_iter().flatten() {
            for name in launched {
                by_name.entry(name).or_default().push(item);
            }
            if is_indirect {
                indirect.push(item);
            }
        }
        Search { by_name, indirect, ..Search::default() }
    }

    fn launches_of(&self, tree: &Tree, kernel: ItemId) -> Vec<Launch> {
        let item = tree.item(kernel);
        let direct = self.by_name.get(&*item.name).map_or(&[][..], Vec::as_slice);
        let functions: std::collections::BTreeSet<ItemId> = direct.iter().chain(&self.indirect).copied().collect();
        let mut found = Vec::new();
        let mut lost = Vec::new();
        for function in functions {
            if direct.contains(&function) && !may_launch(tree, function, kernel) {
                continue;
            }
            let work = Work::of_kernel(tree, self, kernel);
            let code = work.code(function);
            for site in &code.sites {
                work.budget.set(BUDGET);
                if !launches_at(&work, &code, site, kernel, &mut found) {
                    lost.push(code.place(site.tokens.clone()));
                }
            }
        }
        if !found.is_empty() {
            found.extend(mentions::unfollowed(&Work::of_kernel(tree, self, kernel), kernel, &found, &lost));
        }
        let mut seen: FxHashMap<(FileId, u32), Vec<Launch>> = FxHashMap::default();
        found.retain(|launch: &Launch| {
            let seen = seen.entry((launch.at.file, launch.at.start)).or_default();
            let new = !seen.contains(launch);
            if new {
                seen.push(launch.clone());
            }
            new
        });
        found
    }
}

fn may_launch(tree: &Tree, function: ItemId, kernel: ItemId) -> bool {
    tree.visible(tree.item(function).file, &tree.item(kernel).name).contains(&kernel)
}

impl<'s> Work<'s> {
    fn new(tree: &'s Tree, search: Option<&'s Search>) -> Work<'s> {
        Work {
            tree,
            search,
            beside_dead: None,
            own: RefCell::default(),
            depth: Cell::new(0),
            budget: Cell::new(BUDGET),
            needs_caller: Cell::new(false),
            gave_up: Cell::new(false),
            choices: RefCell::default(),
            chose: Cell::new(false),
            left: Cell::new(false),
        }
    }

    fn of_kernel(tree: &'s Tree, search: &'s Search, kernel: ItemId) -> Work<'s> {
        let item = tree.item(kernel);
        Work { beside_dead: item.in_dead_branch.then_some(item.file), ..Work::new(tree, Some(search)) }
    }

    fn code(&self, item: ItemId) -> Arc<Code> {
        if let Some(code) = self.own.borrow().get(&item) {
            return code.clone();
        }
        let is_beside = self.beside_dead == Some(self.tree.item(item).file) && self.tree.differs_beside_dead(item);
        let key = (item, is_beside);
        let shared = self.search.map(|search| &search.codes);
        let known = shared.and_then(|codes| codes.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned());
        let code = known.unwrap_or_else(|| {
            let code = Arc::new(Code::new(self.tree, item, is_beside));
            if let Some(codes) = shared {
                let mut codes = codes.lock().unwrap_or_else(PoisonError::into_inner);
                if codes.len() >= MAX_CODES {
                    codes.clear();
                }
                codes.insert(key, code.clone());
            }
            code
        });
        self.own.borrow_mut().insert(item, code.clone());
        code
    }

    fn callers(&self, item: ItemId) -> Vec<ItemId> {
        let Some(search) = self.search else { return Vec::new() };
        if let Some(known) = search.callers.lock().unwrap_or_else(PoisonError::into_inner).get(&item) {
            return known.to_vec();
        }
        let found = Arc::new(callers::functions_naming(self, item));
        search.callers.lock().unwrap_or_else(PoisonError::into_inner).insert(item, found.clone());
        found.to_vec()
    }
}

/// What the attributes of `kernel` promise, given the template arguments of one launch or instantiation.
pub fn bounds(tree: &Tree, kernel: ItemId, template_args: &[Argument]) -> LaunchBounds {
    let item = tree.item(kernel);
    let mut bounds = LaunchBounds::default();
    if item.attributes.bounds.is_empty() {
        return bounds;
    }
    let work = Work::new(tree, None);
    let code = work.code(kernel);
    let mut frame = Frame::default();
    for (index, template) in code.templates.iter().enumerate() {
        let bound = match (template_args.get(index), &template.default) {
            (Some(Argument::Text(text)), _) => {
                Bound::new(evaluate::integer(text.as_bytes()).map(Value::Int), text.clone())
            }
            (_, Some(default)) => Scope { work: &work, frame: &frame }.bind(&code, default.clone()),
            (_, None) => continue,
        };
        frame.templates.insert(template.name.clone(), bound);
    }
    for attribute in &item.attributes.bounds {
        let text = match &attribute.arguments {
            BoundsText::Expanded(text) => text.clone(),
            BoundsText::Tokens(tokens) => tree.expanded(kernel, tokens.clone()),
        };
        let arguments = code.beside(format!("({text})"));
        let pieces = arguments.view.split_at_commas(arguments.view.inside(0));
        let scope = Scope { work: &work, frame: &frame };
        let value = |index: usize| pieces.get(index).and_then(|piece| evaluate(&scope, &arguments, piece.clone()));
        let number = |index: usize| value(index).and_then(Value::int).and_then(|value| u32::try_from(value).ok());
        match attribute.what {
            BoundsKind::LaunchBounds => bounds.max_threads = number(0),
            BoundsKind::ClusterDims => {
                let or_one = |index: usize| if index < pieces.len() { number(index) } else { Some(1) };
                bounds.cluster = or_one(0).zip(or_one(1)).zip(or_one(2)).map(|((x, y), z)| [x, y, z]);
            }
            BoundsKind::BlockSize => {
                let tuple = |index: usize| -> Option<[u32; 3]> {
                    let piece = pieces.get(index)?;
                    let inside = if arguments.view.byte(piece.start, b'(') {
                        arguments.view.inside(piece.start)
                    } else {
                        piece.clone()
                    };
                    let mut extent = [1; 3];
                    for (axis, part) in arguments.view.split_at_commas(inside).into_iter().enumerate().take(3) {
                        extent[axis] = u32::try_from(evaluate(&scope, &arguments, part)?.int()?).ok()?;
                    }
                    Some(extent)
                };
                bounds.block = tuple(0);
                bounds.cluster = tuple(1).or(bounds.cluster);
            }
        }
    }
    bounds
}

/// The template arguments of the explicit instantiations of a function in view of its file; numbers where they are constant.
pub fn instantiations(tree: &Tree, function: ItemId) -> Vec<Vec<String>> {
    let item = tree.item(function);
    let mut found = Vec::new();
    for id in tree.named(&item.name) {
        let other = tree.item(*id);
        let ItemKind::Instantiation { arguments: Some(arguments), of_class: false } = &other.kind else { continue };
        if tree.sees(other.file, function) {
            let (work, frame) = (Work::new(tree, None), Frame::default());
            let code = work.code(*id).beside(tree.expanded(*id, arguments.clone()));
            let pieces = code.view.split_at_commas(0..code.view.len());
            let number = |piece: &std::ops::Range<usize>| {
                evaluate(&Scope { work: &work, frame: &frame }, &code, piece.clone())?.int()
            };
            let text = |piece: std::ops::Range<usize>| match number(&piece) {
                Some(number) => number.to_string(),
                None => code.view.spelled(piece),
            };
            found.push(pieces.into_iter().map(text).collect());
        }
    }
    found
}

/// Adds the launches of `kernel` at one site: one for each way to it that matters. False if a caller that is not understood
/// may hand the kernel there, too.
fn launches_at(work: &Work, code: &Code, site: &Site, kernel: ItemId, found: &mut Vec<Launch>) -> bool {
    let item = work.tree.item(kernel);
    let callee = code.view.text(site.callee.name);
    let named = callee == item.name.as_bytes();
    let is_element = !site.callee.suffix.is_empty();
    if !named && !is_element && !is_parameter(code, site) && !locals::is_local(code, callee, site.callee.name) {
        return true;
    }
    let ways = choices::ways_to(code, site.tokens.start);
    // Values that need no caller come out in the first try.
    let empty = Frame::default();
    let scope = Scope { work, frame: &empty };
    let assumed = assumptions::assumptions(&scope, code, site.tokens.start);
    let launches = |frame: Frame| -> Vec<Launch> {
        let frame = Frame { assumed: assumed.clone(), ..frame };
        let read = || {
            // What finding the callers, or reading another way, has used up is not taken from this one.
            work.budget.set(work.budget.get().max(BUDGET / 8));
            launch(work, code, site, kernel, &frame)
        };
        work.readings(&ways, read).into_iter().flatten().collect()
    };
    work.needs_caller.set(false);
    let plain = launches(Frame::default());
    let needs_caller = work.needs_caller.replace(false);
    if !needs_caller && (named || !plain.is_empty()) {
        found.extend(plain);
        return true;
    }
    if !named && !is_parameter(code, site) && plain.is_empty() {
        return true;
    }
    let mut is_whole = true;
    let seeds = seeds(work, code, site, kernel);
    for frame in callers::frames(work, code, relevant::parameters(work, code, seeds), 0) {
        match frame {
            // A way that contradicts the branch in which the launch stands does not come here.
            Some(frame)
                if assumed.iter().all(|(name, value)| {
                    let known =
                        frame.params.get(name).or_else(|| frame.templates.get(name)).and_then(|bound| bound.value);
                    known.is_none_or(|known| known.fits(*value))
                }) =>
            {
                found.extend(launches(frame));
            }
            Some(_) => {}
            None => {
                is_whole &= named || !is_parameter(code, site);
                found.extend(plain.iter().cloned());
            }
        }
    }
    is_whole
}

/// The tokens that tell what a launch is.
fn seeds(work: &Work, code: &Code, site: &Site, kernel: ItemId) -> Vec<std::ops::Range<usize>> {
    let view = &code.view;
    let arguments_end = site.callee.arguments.as_ref().map_or(site.callee.name + 1, |arguments| arguments.end);
    let end = arguments_end.max(site.callee.suffix.end);
    let mut found = deduce::telling(work, site, kernel);
    found.push(site.callee.name..end);
    match &site.shape {
        Shape::Written { block } => found.push(block.clone()),
        Shape::Config(name) => {
            found.push(*name..name + 1);
            found.extend(clusters::places(code).into_iter().map(|at| at..locals::statement_end(view, at)));
        }
    }
    found
}

fn is_parameter(code: &Code, site: &Site) -> bool {
    let name = code.view.text(site.callee.name);
    code.params.iter().chain(&code.templates).any(|param| param.name.as_bytes() == name)
}

/// The launch at a site for one way in; none if it is one of another kernel.
fn launch(work: &Work, code: &Code, site: &Site, kernel: ItemId, frame: &Frame) -> Option<Launch> {
    let scope = Scope { work, frame };
    let written = kernels::launched(&scope, code, &site.callee, kernel, 0)?;
    let template_args = deduce::completed(&scope, code, &site.arguments, kernel, written);
    let view = &code.view;
    let (block, cluster) = match &site.shape {
        Shape::Written { block } => match view.split_at_commas(block.clone()).len() {
            1 => (evaluate(&scope, code, block.clone()), None),
            _ => (Some(evaluate::extent(&scope, code, block.clone())), None),
        },
        Shape::Config(name) => {
            let key = std::str::from_utf8(view.text(*name)).unwrap_or_default();
            let block = scope.plain_name(code, view.text(*name), key, &[b"blockDim"], *name);
            (block, clusters::of(&scope, code))
        }
    };
    work.note_end_before(&scope, code, site.tokens.start);
    let extents = |value: Option<Value>, exact: bool| {
        let extent = value.map_or([None; 3], Value::extent);
        let wanted = |number: Number| (number.exact || !exact).then_some(number.value);
        extent.map(|extent| {
            extent.and_then(wanted).and_then(|extent| u32::try_from(extent).ok()).filter(|extent| *extent > 0)
        })
    };
    Some(Launch {
        kernel,
        template_args,
        block: extents(block, true),
        block_limit: extents(block, false),
        cluster,
        at: code.place(site.tokens.clone()),
    })
}

/// What a function launches by name, and whether it launches anything else.
fn launched_by(
    tree: &Tree,
    item: ItemId,
    names: &FxHashSet<&[u8]>,
    all_kernels: &FxHashSet<&[u8]>,
    launching_macros: &FxHashSet<Vec<u8>>,
) -> Option<(ItemId, Vec<String>, bool)> {
    let mut named: Vec<String> = Vec::new();
    let (mut launches, mut direct, mut by_macro) = (0usize, 0usize, false);
    let file = tree.item(item).file;
    let is_kernel_here = |word: &[u8]| {
        let name = std::str::from_utf8(word).unwrap_or_default();
        tree.visible(file, name).iter().any(|item| tree.item(*item).is_kernel())
    };
    // A parameter or a variable may go by the name of a kernel, of this file or of another.
    let params = tree.item(item).function().map(|function| function.params.clone());
    let is_parameter = |word: &[u8]| {
        let file = tree.files.get(file);
        params.clone().is_some_and(|params| (params.start..params.end).any(|token| file.text(token) == word))
    };
    let mut visit = |bytes: &[u8], tokens: &[Token], range: Tokens| {
        let within = tokens.get(range.start as usize..range.end as usize).unwrap_or_default();
        for (at, token) in within.iter().enumerate() {
            match token.kind() {
                TokenKind::LaunchOpen => launches += 1,
                // In an expansion the brackets are rewritten.
                TokenKind::String if token.bytes(bytes) == b"\"<<<\"" => launches += 1,
                TokenKind::Identifier => {
                    let word = token.bytes(bytes);
                    launches += usize::from(is_launch_call(word));
                    by_macro |= launching_macros.contains(word);
                    if names.contains(word) {
                        named.push(String::from_utf8_lossy(word).into_owned());
                    }
                    let is_set = || within.get(at + 1).is_some_and(|next| next.bytes(bytes) == b"=");
                    if all_kernels.contains(word) && !is_set() && !is_parameter(word) && is_kernel_here(word) {
                        direct += 1;
                    }
                }
                _ => {}
            }
        }
    };
    tree.visit_tokens(item, &mut visit);
    if tree.differs_beside_dead(item) {
        tree.visit_tokens_beside_dead(item, &mut visit);
    }
    let is_indirect = by_macro || launches > direct;
    named.sort_unstable();
    named.dedup();
    (launches > 0 || by_macro).then_some((item, named, is_indirect))
}

pub(super) fn is_launch_call(word: &[u8]) -> bool {
    word.starts_with(b"cudaLaunch")
        || word.starts_with(b"hipLaunch")
        || matches!(word, b"cuLaunchKernel" | b"cuLaunchCooperativeKernel" | b"hipModuleLaunchKernel")
}

/// Macros whose replacement launches something, is a launch call's name, or uses another such macro.
fn launching_macros(tree: &Tree) -> FxHashSet<Vec<u8>> {
    let files: Vec<_> = tree.files.ids().collect();
    let bodies = |id: FileId| {
        let file = tree.files.get(id);
        file.macros.iter().map(move |define| {
            let body = file.tokens.get(define.body.start as usize..define.body.end as usize).unwrap_or_default();
            (file, file.text(define.name), body)
        })
    };
    let launches =
        |file: &File, token: &Token| token.kind() == TokenKind::LaunchOpen || is_launch_call(token.bytes(&file.bytes));
    let direct = files.par_iter().flat_map_iter(|id| {
        let launching = bodies(*id).filter(|(file, _, body)| body.iter().any(|token| launches(file, token)));
        launching.map(|(_, name, _)| name)
    });
    let mut work: Vec<&[u8]> = direct.collect();
    if work.is_empty() {
        return FxHashSet::default();
    }
    let uses = files.par_iter().flat_map_iter(|id| {
        bodies(*id).flat_map(|(file, name, body)| {
            let words = body.iter().filter(|token| token.kind() == TokenKind::Identifier);
            let macros =
                words.map(|token| token.bytes(&file.bytes)).filter(|word| tree.files.macro_name(word).is_some());
            macros.map(move |word| (word, name))
        })
    });
    let uses: Vec<(&[u8], &[u8])> = uses.collect();
    let mut users: FxHashMap<&[u8], Vec<&[u8]>> = FxHashMap::default();
    for (used, by) in uses {
        users.entry(used).or_default().push(by);
    }
    let mut found: FxHashSet<Vec<u8>> = FxHashSet::default();
    while let Some(name) = work.pop() {
        if found.insert(name.to_vec()) {
            work.extend(users.get(name).into_iter().flatten());
        }
    }
    found
}
