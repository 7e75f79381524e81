//! Who calls a host function, and with what: found by the name's text in the files that see it.

use super::choices;
use super::classes;
use super::code::{Code, Parameter};
use super::declarators::is_declarator;
use super::deduce::{deduced, names_template};
use super::join;
use super::locals::declaration;
use super::members::data_members;
use super::relevant;
use super::scope::{Bound, Frame, Scope};
use super::{BUDGET, Work};
use crate::graph::ItemId;
use crate::source::items::ItemKind;
use crate::source::lexer::TokenKind;
use crate::source::tree::Tree;
use crate::text::FileId;
use memchr::memmem::Finder;
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;
use std::sync::{Arc, PoisonError};

/// How many functions up the values of parameters are followed, and how many ways in are looked at one by one; of more it is
/// told what is common to all.
const MAX_LEVELS: u32 = 4;
const MAX_FRAMES: usize = 48;
/// Calls of one function that are looked at.
const MAX_CALLS: usize = 1000;

/// Ways in which functions are called, by the function, the parameters that matter, how far below the launch it is, and where
/// dead branches are taken.
pub(super) type Ways = FxHashMap<(ItemId, Vec<String>, u32, Option<FileId>), Vec<Option<Frame>>>;

/// All ways in which a function is called in view, as far as they differ in what some parameters are given. `None` stands for
/// one that is not understood.
pub(super) fn frames(work: &Work, code: &Code, names: Vec<String>, level: u32) -> Vec<Option<Frame>> {
    let Some(search) = work.search else { return vec![None] };
    let key = (code.item, names, level, work.beside_dead);
    if let Some(known) = search.ways.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
        return known.clone();
    }
    let gave_up = work.gave_up.replace(false);
    // Of the launching function itself the ways are asked for again and again, and always with all that may be used up left.
    if level == 0 {
        work.budget.set(BUDGET);
    }
    let found = ways(work, code, &key.1, level);
    // Else what came of a limit says nothing to who has more left.
    if !work.gave_up.replace(gave_up || work.gave_up.get()) || level == 0 {
        search.ways.lock().unwrap_or_else(PoisonError::into_inner).insert(key, found.clone());
    }
    found
}

fn ways(work: &Work, code: &Code, names: &[String], level: u32) -> Vec<Option<Frame>> {
    let mut found: Vec<Option<Frame>> = Vec::new();
    if level >= MAX_LEVELS {
        return vec![None];
    }
    let mut count = 0;
    for caller in work.callers(code.item) {
        let caller_code: Arc<Code> = work.code(caller);
        let calls = calls(work.tree, &caller_code, code);
        let name = work.tree.item(code.item).name.as_bytes();
        let shadowed = |at: usize| super::locals::is_local(&caller_code, name, at + 1);
        if calls.is_empty()
            && (caller_code.params.iter().any(|param| param.name.as_bytes() == name)
                || caller_code.uses(name, caller_code.body.clone()).iter().all(|at| shadowed(*at))
                    && !caller_code.uses(name, caller_code.body.clone()).is_empty())
        {
            // Something else of that name.
            continue;
        }
        let is_named = || (0..caller_code.view.len()).any(|at| caller_code.view.text(at) == name);
        if calls.is_empty() && !is_named() {
            // A macro that may spell it does not do so here.
            continue;
        }
        if calls.is_empty() || is_named_alone(&caller_code, name) {
            // Its address is taken, or an expansion hides the call.
            found.push(None);
        }
        for call in calls {
            if is_of_another_class(work, code, &caller_code, call.at) {
                continue;
            }
            count += 1;
            if count > MAX_CALLS {
                return vec![None];
            }
            bind(work, code, names, &caller_code, &call, level, &mut found);
        }
    }
    if !items_naming(work, code.item, &|kind| matches!(kind, ItemKind::Value)).is_empty() {
        found.push(None);
    }
    for arguments in super::instantiations(work.tree, code.item) {
        let mut frame = Frame::default();
        for (template, text) in code.templates.iter().zip(arguments) {
            let value = super::evaluate::integer(text.as_bytes()).map(super::evaluate::Value::Int);
            frame.templates.insert(template.name.clone(), Bound::new(value, text));
        }
        if !code.templates.is_empty() {
            found.push(Some(frame));
        }
    }
    if found.is_empty() {
        found.push(None);
    }
    let found = classes::with_class_arguments(work, code, found);
    if found.len() > MAX_FRAMES { join::frames(found) } else { found }
}

/// Whether the object that a method is called on is surely of another class that has a method of the name.
fn is_of_another_class(work: &Work, code: &Code, caller: &Code, at: usize) -> bool {
    let Some(class) = work.tree.item(code.item).class else { return false };
    let scope = Scope { work, frame: &Frame::default() };
    scope.class_at_call(caller, at).is_some_and(|other| other != class)
}

/// Whether a function is named other than to call it.
fn is_named_alone(code: &Code, name: &[u8]) -> bool {
    let view = &code.view;
    if code.params.iter().any(|param| param.name.as_bytes() == name) {
        return false;
    }
    code.body.clone().filter(|at| view.identifier(*at) == Some(name)).any(|at| {
        let behind = if view.is(at + 1, b"<") { view.behind_angle(at + 1).unwrap_or(at + 1) } else { at + 1 };
        let is_member = matches!(view.text(at - 1), b"." | b"->");
        let is_end = matches!(view.text(behind), b"," | b")" | b";" | b"}");
        is_end && !is_member && declaration(code, name, at).is_none() && !is_declarator(view, at)
    })
}

struct Call {
    /// The token of the function's name.
    at: usize,
    template_arguments: Option<Range<usize>>,
    arguments: Vec<Range<usize>>,
}

fn calls(tree: &Tree, caller: &Code, callee: &Code) -> Vec<Call> {
    let view = &caller.view;
    let item = tree.item(callee.item);
    let mut found = Vec::new();
    for at in caller.body.clone().filter(|at| view.identifier(*at) == Some(item.name.as_bytes())) {
        let (open, template_arguments) = match view.is(at + 1, b"<") {
            true => match view.behind_angle(at + 1) {
                Some(behind) => (behind, Some(at + 2..behind - 1)),
                None => continue,
            },
            false => (at + 1, None),
        };
        if !view.byte(open, b'(') {
            continue;
        }
        let arguments = view.split_at_commas(view.inside(open));
        let count = arguments.len() as u32;
        let fits = item
            .function()
            .is_some_and(|parts| count >= parts.count.min && (count <= parts.count.max || parts.count.variadic));
        if fits {
            found.push(Call { at, template_arguments, arguments });
        }
    }
    found
}

/// Adds a frame for each way in which the caller itself is called, if that makes a difference.
fn bind(
    work: &Work,
    code: &Code,
    names: &[String],
    caller: &Arc<Code>,
    call: &Call,
    level: u32,
    found: &mut Vec<Option<Frame>>,
) {
    let matters = |param: &Parameter| names.contains(&param.name);
    let of_object = data_members(work, code);
    let own: Vec<&str> =
        of_object.iter().map(String::as_str).filter(|own| names.iter().any(|name| name == own)).collect();
    let ways = choices::ways_to(caller, call.at);
    let attempt = |frame: &Frame| {
        let scope = Scope { work, frame };
        let mut bound = Frame::default();
        for (index, param) in code.params.iter().enumerate().filter(|(_, param)| matters(param)) {
            let argument = match (call.arguments.get(index), &param.default) {
                (Some(argument), _) => scope.bind_parameter(caller, argument.clone(), code, index),
                (None, Some(default)) => {
                    Scope { work, frame: &Frame::default() }.bind_parameter(code, default.clone(), code, index)
                }
                (None, None) => Bound::default(),
            };
            bound.params.insert(param.name.clone(), argument);
        }
        if let Some(class) = work.tree.item(code.item).class.filter(|_| !own.is_empty()) {
            bound.own.extend(scope.members_at_call(caller, call.at, class, &own));
        }
        work.note_end_before(&scope, caller, call.at);
        if !code.templates.iter().any(matters) {
            return bound;
        }
        let given = call.template_arguments.clone().map_or(Vec::new(), |range| scope.template_arguments(caller, range));
        let open = given.len() < code.templates.len();
        let deduced = if open { deduced(&scope, caller, &call.arguments, code) } else { Vec::new() };
        for (index, template) in code.templates.iter().enumerate().filter(|(_, template)| matters(template)) {
            let argument = match (given.get(index), deduced.get(index), &template.default) {
                (Some(argument), ..) => Some(argument.clone()),
                (None, Some(Some(arguments)), _) => {
                    Some(arguments.first().filter(|_| arguments.len() == 1)).flatten().cloned()
                }
                (None, _, Some(default)) => Some(Scope { work, frame: &bound }.bind(code, default.clone())),
                (None, _, None) => None,
            };
            if let Some(argument) = argument {
                bound.templates.insert(template.name.clone(), argument);
            }
        }
        bound
    };
    let mut add = |frames: Vec<Option<Frame>>| {
        for frame in frames {
            if !found.contains(&frame) {
                found.push(frame);
            }
        }
        if found.len() > MAX_FRAMES {
            *found = join::frames(std::mem::take(found));
        }
    };
    work.needs_caller.set(false);
    let plain: Vec<_> = work.readings(&ways, || attempt(&Frame::default())).into_iter().map(Some).collect();
    if !work.needs_caller.replace(false) {
        add(plain);
        return;
    }
    let given = code
        .params
        .iter()
        .zip(&call.arguments)
        .filter(|(param, _)| matters(param) || names_template(code, param))
        .map(|(_, given)| given);
    let seeds = given.chain(&call.template_arguments).cloned();
    let mut above = relevant::parameters(work, caller, seeds);
    if work.tree.item(caller.item).class == work.tree.item(code.item).class {
        // It may be called for the same object.
        above.extend(own.iter().map(|name| name.to_string()));
        above.sort_unstable();
        above.dedup();
    }
    for frame in frames(work, caller, above, level + 1) {
        match frame {
            Some(frame) => add(work.readings(&ways, || attempt(&frame)).into_iter().map(Some).collect()),
            None => add(plain.clone()),
        }
    }
    work.needs_caller.set(false);
}

/// The functions whose text names `function`, in the files that see it.
pub(super) fn functions_naming(work: &Work, function: ItemId) -> Vec<ItemId> {
    let found = items_naming(work, function, &|kind| matches!(kind, ItemKind::Function(_)));
    found.into_iter().filter(|id| work.tree.item(*id).is_definition()).collect()
}

/// The items of some kinds whose text names an item, or a macro that spells it, in the files that see it.
pub(super) fn items_naming(work: &Work, named: ItemId, wanted: &dyn Fn(&ItemKind) -> bool) -> Vec<ItemId> {
    let tree = work.tree;
    let item = tree.item(named);
    let name = item.name.as_bytes();
    let words: Vec<(Finder, &[u8])> = std::iter::once(name)
        .chain(work.search.map_or(Vec::new(), |search| search.macros(tree).naming(name)))
        .map(|word| (Finder::new(word), word))
        .collect();
    let mut found = Vec::new();
    for id in files_that_may_name(tree, named) {
        let file = tree.files.get(id);
        let mut hits: Vec<(u32, bool)> = Vec::new();
        for (finder, word) in &words {
            let places = finder.find_iter(&file.bytes).map(|at| at as u32).filter(|at| {
                let index = file.tokens.partition_point(|token| token.start() < *at);
                let token = file.tokens.get(index);
                token.is_some_and(|token| token.start() == *at && token.bytes(&file.bytes) == *word)
            });
            hits.extend(places.map(|at| (at, *word == name)));
        }
        if hits.is_empty() {
            continue;
        }
        for other in tree.items_of(id) {
            let around = tree.item(other);
            // What a macro makes has its name where the macro is used.
            let names_it = |(hit, is_name): &(u32, bool)| {
                around.range.start <= *hit && *hit < around.range.end && !(*is_name && *hit == around.name_range.start)
            };
            if wanted(&around.kind) && hits.iter().any(names_it) {
                found.push(other);
            }
        }
    }
    found
}

/// Macros that spell one name which are looked for, and how many one inside the other.
const MAX_MACROS: usize = 16;
const MAX_MACRO_LEVELS: usize = 3;

/// For the names of functions, classes and macros, the macros in whose replacements they stand.
#[derive(Default)]
pub(super) struct Macros(FxHashMap<Vec<u8>, Vec<Vec<u8>>>);

impl Macros {
    pub fn new(tree: &Tree) -> Macros {
        let files = || tree.files.ids().map(|id| tree.files.get(id));
        let own: FxHashSet<&[u8]> =
            files().flat_map(|file| file.macros.iter().map(|define| file.text(define.name))).collect();
        let mut found: FxHashMap<Vec<u8>, Vec<Vec<u8>>> = FxHashMap::default();
        for file in files() {
            for define in &file.macros {
                let name = file.text(define.name);
                for token in &file.tokens[define.body.start as usize..define.body.end as usize] {
                    let word = token.bytes(&file.bytes);
                    let is_item = || std::str::from_utf8(word).is_ok_and(|word| !tree.named(word).is_empty());
                    if token.kind() != TokenKind::Identifier || word == name || !(own.contains(word) || is_item()) {
                        continue;
                    }
                    let macros = found.entry(word.to_vec()).or_default();
                    if !macros.iter().any(|known| known == name) {
                        macros.push(name.to_vec());
                    }
                }
            }
        }
        Macros(found)
    }

    /// The macros that spell a name, themselves or through others; none where they are too many.
    fn naming<'m>(&'m self, name: &'m [u8]) -> Vec<&'m [u8]> {
        let mut found: Vec<&[u8]> = Vec::new();
        let mut last = vec![name];
        for _ in 0..MAX_MACRO_LEVELS {
            let next = last.iter().flat_map(|word| self.0.get(*word)).flatten().map(Vec::as_slice);
            last = next.filter(|word| !found.contains(word)).collect();
            last.sort_unstable();
            last.dedup();
            found.extend(&last);
            if found.len() > MAX_MACROS {
                return Vec::new();
            }
        }
        found
    }
}

/// How many of a file's includers are asked what it sees through them.
const MAX_INCLUDERS: usize = 16;

/// The files that see a function, and those that see it together with a file that includes them.
fn files_that_may_name(tree: &Tree, function: ItemId) -> Vec<FileId> {
    let home = tree.item(function).file;
    // A header may have thousands: they are marked, not gathered. What is not among the files given is left out.
    let mut marks = vec![false; tree.files.ids().count()];
    let mut mark = |file: FileId| {
        if let Some(mark) = marks.get_mut(file.0 as usize) {
            *mark = true;
        }
    };
    for seen in tree.declared_in(function).iter().chain([&home]) {
        mark(*seen);
        tree.includers(*seen).iter().copied().for_each(&mut mark);
    }
    for includer in tree.includers(home) {
        let beside = tree.files.include_closure(*includer).iter();
        let sees = |file: &&FileId| tree.includers(**file).iter().take(MAX_INCLUDERS).any(|it| it == includer);
        beside.filter(sees).copied().for_each(&mut mark);
    }
    let ids = (0u32..).map(FileId);
    ids.zip(marks).filter(|(_, is_marked)| *is_marked).map(|(file, _)| file).collect()
}
