//! What a launch launches: a kernel by its name, or what a variable, a parameter or an element of a table stands for.

use super::Argument;
use super::code::{Callee, Code, callee_in};
use super::evaluate;
use super::lists::{self, Target};
use super::objects::called;
use super::scope::{Bound, Scope};
use super::{choices, locals};
use crate::graph::ItemId;
use crate::source::items::View;
use crate::source::tree::Tree;
use std::ops::Range;

/// Variables that stand for one another.
const MAX_NAMES: u32 = 4;
/// Functions that return what others return.
const MAX_DEPTH: u32 = 40;

/// The template arguments if what is launched is `kernel`: by its name, a variable or a parameter that stands for it.
pub(super) fn launched(
    scope: &Scope,
    code: &Code,
    callee: &Callee,
    kernel: ItemId,
    depth: u32,
) -> Option<Vec<Argument>> {
    let item = scope.work.tree.item(kernel);
    let name = code.view.text(callee.name);
    // A parameter or a variable of that name stands for something else.
    let is_own = || {
        code.params.iter().chain(&code.templates).any(|param| param.name.as_bytes() == name)
            || locals::declaration(code, name, callee.name).is_some()
    };
    if name == item.name.as_bytes() && !is_own() {
        if !is_nearest(scope.work.tree, code, callee, kernel) {
            return None;
        }
        let arguments = callee.arguments.clone().map_or(Vec::new(), |range| scope.template_arguments(code, range));
        return Some(arguments.into_iter().map(Bound::argument).collect());
    }
    if depth > MAX_NAMES {
        return None;
    }
    if code.view.byte(callee.suffix.start, b'(') && !callee.suffix.is_empty() {
        return returned(scope, code, callee, callee.suffix.clone(), kernel, depth);
    }
    if !callee.suffix.is_empty() {
        let is_it = |target: &Target| {
            let view = &target.code.view;
            callee_in(view, target.range.clone()).is_some_and(|named| view.text(named.name) == item.name.as_bytes())
        };
        let target = lists::designated(scope, code, callee.name, callee.suffix.clone(), &is_it)?;
        return of_target(scope, &target, kernel, depth);
    }
    if let Some(range) = locals::stands_for(scope, code, name, callee.name) {
        let range = chosen(scope, code, range)?;
        if let Some((callee, open)) = called(&code.view, range.clone()).filter(|(_, open)| code.view.byte(*open, b'('))
            && !code.view.text(callee.name).ends_with(b"_cast")
        {
            return returned(scope, code, &callee, open..range.end, kernel, depth);
        }
        let callee = callee_in(&code.view, range)?;
        return launched(scope, code, &callee, kernel, depth + 1);
    }
    if is_asked_by_name(code, name, item.name.as_bytes()) {
        return Some(Vec::new());
    }
    if let Some(target) = locals::declaration(code, name, callee.name).and_then(|at| lists::element(scope, code, at)) {
        return of_target(scope, &target, kernel, depth);
    }
    let name = std::str::from_utf8(name).ok()?;
    let Some(bound) = scope.frame.params.get(name).or_else(|| scope.frame.templates.get(name)) else {
        if code.params.iter().chain(&code.templates).any(|param| param.name == name) {
            scope.work.needs_caller.set(true);
        }
        return None;
    };
    let view = View::owned(bound.text.clone());
    let callee = callee_in(&view, 0..view.len())?;
    if view.text(callee.name) != item.name.as_bytes() {
        return None;
    }
    let arguments = callee.arguments.map_or(Vec::new(), |range| view.split_at_commas(range));
    Some(arguments.into_iter().map(|range| Argument::Text(view.spelled(range))).collect())
}

/// The same of what a function in view returns.
fn returned(
    scope: &Scope,
    code: &Code,
    callee: &Callee,
    brackets: Range<usize>,
    kernel: ItemId,
    depth: u32,
) -> Option<Vec<Argument>> {
    let arguments = code.view.split_at_commas(code.view.inside(brackets.start));
    if !scope.enter(MAX_DEPTH) {
        return None;
    }
    let found = scope.with_result(code, callee, &arguments, |scope, called, result| {
        let callee = callee_in(&called.view, chosen(scope, called, result)?)?;
        launched(scope, called, &callee, kernel, depth + 1)
    });
    scope.leave();
    found
}

/// `cuModuleGetFunction(&f, module, "kernel")`
fn is_asked_by_name(code: &Code, variable: &[u8], kernel: &[u8]) -> bool {
    let view = &code.view;
    code.uses(variable, code.body.clone()).iter().any(|at| {
        let Some(open) = view.bracket_round(*at).filter(|open| *open > 0) else { return false };
        let asks =
            matches!(view.text(open - 1), b"cuModuleGetFunction" | b"hipModuleGetFunction" | b"cuLibraryGetKernel");
        let text = view.text(view.inside(open).end.saturating_sub(1));
        asks && text.strip_prefix(b"\"").and_then(|text| text.strip_suffix(b"\"")) == Some(kernel)
    })
}

fn of_target(scope: &Scope, target: &Target, kernel: ItemId, depth: u32) -> Option<Vec<Argument>> {
    let callee = callee_in(&target.code.view, target.range.clone())?;
    launched(scope, &target.code, &callee, kernel, depth + 1)
}

/// Whether the name at a launch means `kernel` rather than one of its name in another namespace.
pub(super) fn is_nearest(tree: &Tree, code: &Code, callee: &Callee, kernel: ItemId) -> bool {
    let view = &code.view;
    let mut written: Vec<&[u8]> = Vec::new();
    let mut at = callee.name;
    while at >= 2 && view.is(at - 1, b"::") && view.identifier(at - 2).is_some() {
        at -= 2;
        written.insert(0, view.text(at));
    }
    let here = &tree.item(code.item).scope;
    let rank = |id: ItemId| {
        let scope = &tree.item(id).scope;
        let ends = scope.len() >= written.len()
            && scope[scope.len() - written.len()..].iter().zip(&written).all(|(name, word)| name.as_bytes() == *word);
        match written.is_empty() {
            true if here.starts_with(scope) => 1 + scope.len(),
            true => 0,
            false => usize::from(ends),
        }
    };
    let of_kernel = rank(kernel);
    let item = tree.item(kernel);
    let others = tree.named(&item.name).iter().filter(|id| tree.item(**id).is_kernel() && tree.sees(code.file, **id));
    others.copied().all(|id| rank(id) <= of_kernel)
}

/// The arm of `big ? k<256> : k<128>` that is taken, or the whole where nothing is chosen.
pub(super) fn chosen(scope: &Scope, code: &Code, range: Range<usize>) -> Option<Range<usize>> {
    let view = &code.view;
    let mut range = range;
    for _ in 0..8 {
        let Some(question) = evaluate::question_in(view, range.clone()) else { return Some(range) };
        let colon = evaluate::colon_behind(view, question + 1, range.end)?;
        range = match choices::holds(scope, code, range.start..question)? {
            true => question + 1..colon,
            false => colon + 1..range.end,
        };
    }
    None
}
