//! Arrays of constants -> one of their elements: `kSizes[i]`, `table[i].kernel`, `for (const Entry &entry : table)`.
//!
//! With an index that is not known there is a reading for each element; an index that is written alike means the same one.

use super::choices::{indexed, one_of};
use super::code::{Code, behind_suffix};
use super::declarators::{Initialiser, behind_declarator, binding, initialiser, pointer};
use super::evaluate::{Value, evaluate};
use super::locals::{declaration, statement_start};
use super::scope::{Frame, Scope, component, last_name};
use super::turns::MAX_ELEMENTS;
use super::writes::{is_bound, is_written_in};
use crate::graph::ItemId;
use crate::source::items::{ItemKind, View};
use std::ops::Range;
use std::sync::Arc;

/// Elements of one array that are looked at.
const MAX_LENGTH: usize = 64;

/// An object by the tokens that it is made of, and those of its type.
#[derive(Clone)]
pub(super) struct Target {
    pub code: Arc<Code>,
    pub range: Range<usize>,
    ty: Range<usize>,
    /// It is written in the function that uses it, and may name its parameters.
    is_own: bool,
}

/// An array by its elements.
struct List {
    elements: Vec<Target>,
}

/// The value of `kSizes[i]`, `table[i].threads`.
pub(super) fn value(scope: &Scope, code: &Code, name: usize, suffix: Range<usize>) -> Option<Value> {
    let list = list(scope, code, name)?;
    if let Some((target, members)) = picked(scope, code, &list, suffix.clone(), &|_| true) {
        return target.value(scope, &names(&code.view, members)?);
    }
    // Whichever it is, it is none above the greatest.
    let behind = code.view.behind(suffix.start);
    let members = names(&code.view, behind..suffix.end)?;
    let value = |target: &Target| target.value(scope, &members)?.number().map(|number| number.value);
    let all: Option<Vec<i64>> = list.elements.iter().map(value).collect();
    all?.into_iter().max().map(Value::AtMost)
}

/// What `table[i]` or `entry.kernel` is set to, if that is of interest.
pub(super) fn designated(
    scope: &Scope,
    code: &Code,
    name: usize,
    suffix: Range<usize>,
    is_wanted: &dyn Fn(&Target) -> bool,
) -> Option<Target> {
    let view = &code.view;
    if view.byte(suffix.start, b'[') {
        let list = list(scope, code, name)?;
        let members = |target: &Target, range| target.member(scope, &names(view, range)?);
        let behind = view.behind(suffix.start);
        let wanted = |target: &Target| match view.byte(behind, b'[') {
            true => true,
            false => members(target, behind..suffix.end).is_some_and(|target| is_wanted(&target)),
        };
        let (target, rest) = picked(scope, code, &list, suffix.clone(), &wanted)?;
        return members(&target, rest);
    }
    let declared = declaration(code, view.text(name), name)?;
    let target = element(scope, code, declared).or_else(|| object(scope, code, declared))?;
    target.member(scope, &names(view, suffix)?)
}

/// One element of the list that a `for (int threads : {64, 128})` goes through, by the token of its variable.
pub(super) fn element(scope: &Scope, code: &Code, declared: usize) -> Option<Target> {
    let view = &code.view;
    let anchor = pointer(view, declared).unwrap_or(declared);
    let open = view.bracket_round(anchor).filter(|open| view.is(open.wrapping_sub(1), b"for"))?;
    let colon = behind_declarator(view, declared);
    if !view.byte(colon, b':') {
        return None;
    }
    let over = colon + 1..view.inside(open).end;
    let elements = match view.identifier(over.start) {
        Some(_) if over.len() == 1 => list(scope, code, over.start)?.elements,
        _ => own_elements(scope, code, over.start, statement_start(view, anchor)..declared)?,
    };
    let count = Some(elements.len()).filter(|count| *count <= MAX_ELEMENTS)?;
    elements.get(one_of(scope, code, declared, count)?).cloned()
}

impl Target {
    /// What it is, or one of its members.
    pub fn value(&self, scope: &Scope, members: &[&[u8]]) -> Option<Value> {
        let empty = Frame::default();
        let scope = if self.is_own { scope } else { &Scope { work: scope.work, frame: &empty } };
        let (code, view) = (&*self.code, &self.code.view);
        let is_extent = self.ty.clone().any(|at| view.is(at, b"dim3"));
        if members.is_empty() || is_extent {
            let value = evaluate(scope, code, self.range.clone())?;
            return component(if is_extent { Value::Extent(value.extent()) } else { value }, members);
        }
        let layout = scope.layout(code, self.ty.clone())?;
        match view.byte(self.range.start, b'{') {
            true => scope.aggregate(code, view.inside(self.range.start), &layout, members),
            false => scope.member_of(code, self.range.clone(), members),
        }
    }

    fn member(&self, scope: &Scope, members: &[&[u8]]) -> Option<Target> {
        match members {
            [] => Some(self.clone()),
            [member] => {
                let range = scope.given_member(&self.code, self.range.clone(), self.ty.clone(), member)?;
                Some(Target { range, ty: 0..0, ..self.clone() })
            }
            _ => None,
        }
    }
}

/// The element that indices mean, and the tokens of the members behind them.
fn picked(
    scope: &Scope,
    code: &Code,
    list: &List,
    suffix: Range<usize>,
    is_wanted: &dyn Fn(&Target) -> bool,
) -> Option<(Target, Range<usize>)> {
    let view = &code.view;
    let wanted = list.elements.iter().zip(0..).filter(|(target, _)| is_wanted(target)).map(|(_, way)| way).collect();
    let mut target = list.elements.get(indexed(scope, code, view.inside(suffix.start), wanted)?)?.clone();
    let mut at = view.behind(suffix.start);
    while view.byte(at, b'[') && at < suffix.end {
        let row = &target.code.view;
        if !row.byte(target.range.start, b'{') {
            return None;
        }
        let pieces = row.split_at_commas(row.inside(target.range.start));
        let ways = (0..pieces.len() as u32).collect();
        target.range = pieces.get(indexed(scope, code, view.inside(at), ways)?)?.clone();
        at = view.behind(at);
    }
    Some((target, at..suffix.end))
}

/// `.threads`, `.shape.block`
fn names<'v>(view: &'v View, range: Range<usize>) -> Option<Vec<&'v [u8]>> {
    let is_member = |(index, at): (usize, usize)| match index % 2 {
        0 => matches!(view.text(at), b"." | b"->"),
        _ => view.identifier(at).is_some(),
    };
    let is_chain = range.clone().enumerate().all(is_member);
    is_chain.then(|| range.skip(1).step_by(2).map(|at| view.text(at)).collect())
}

/// The array that a name means, if nothing changes it.
fn list(scope: &Scope, code: &Code, name: usize) -> Option<List> {
    let view = &code.view;
    if let Some(declared) = declaration(code, view.text(name), name) {
        let anchor = binding(view, declared).or_else(|| pointer(view, declared)).unwrap_or(declared);
        let ty = statement_start(view, anchor)..declared;
        if !is_only_read(code, declared, ty.clone()) {
            return None;
        }
        let (start, ty) = elements_of(view, declared, ty)?;
        return Some(List { elements: own_elements(scope, code, start, ty)? });
    }
    let tree = scope.work.tree;
    let word = std::str::from_utf8(view.text(name)).ok()?;
    let mut values = tree.visible(code.file, word);
    values.retain(|id| matches!(tree.item(*id).kind, ItemKind::Value));
    let own: Vec<ItemId> = values.iter().copied().filter(|id| tree.item(*id).file == code.file).collect();
    let [only] = (if own.is_empty() { values } else { own })[..] else { return None };
    let item = tree.item(only);
    if !(item.attributes.is_const || item.attributes.is_constexpr) && is_written_in(scope.work, only) {
        return None;
    }
    let code = scope.work.code(only);
    let view = &code.view;
    let declared = (0..view.len()).find(|at| view.identifier(*at) == Some(word.as_bytes()))?;
    let (start, ty) = elements_of(view, declared, 0..declared)?;
    let target = |range| Target { code: code.clone(), range, ty: ty.clone(), is_own: false };
    Some(List { elements: pieces(view, start)?.into_iter().map(target).collect() })
}

fn own_elements(scope: &Scope, code: &Code, open: usize, ty: Range<usize>) -> Option<Vec<Target>> {
    let own = scope.work.code(code.item);
    let target = |range| Target { code: own.clone(), range, ty: ty.clone(), is_own: true };
    Some(pieces(&code.view, open)?.into_iter().map(target).collect())
}

fn pieces(view: &View, open: usize) -> Option<Vec<Range<usize>>> {
    let pieces = view.byte(open, b'{').then(|| view.split_at_commas(view.inside(open)))?;
    (pieces.len() <= MAX_LENGTH).then_some(pieces)
}

/// The brace that opens an array's elements, and the tokens of their type.
fn elements_of(view: &View, declared: usize, ty: Range<usize>) -> Option<(usize, Range<usize>)> {
    let is_array = view.byte(declared + 1, b'[');
    let behind = behind_suffix(view, behind_declarator(view, declared), view.len());
    let open = behind + usize::from(view.byte(behind, b'='));
    if is_array {
        return Some((open, ty));
    }
    let (name, arguments) = last_name(view, ty.clone())?;
    match (view.text(name), arguments) {
        (b"array" | b"vector" | b"initializer_list", Some(arguments)) => {
            let inner = view.split_at_commas(arguments).into_iter().next()?;
            // `std::array<int, 2> sizes{{64, 128}}`
            let is_doubled = view.byte(open + 1, b'{') && view.behind(open + 1) + 1 == view.behind(open);
            Some((open + usize::from(is_doubled), inner))
        }
        (b"auto", _) => Some((open, ty)),
        _ => None,
    }
}

/// A variable set to `Entry{k, 64}` once and for all.
fn object(scope: &Scope, code: &Code, declared: usize) -> Option<Target> {
    let view = &code.view;
    let ty = statement_start(view, declared)..declared;
    let range = match initialiser(view, declared) {
        Initialiser::Expression(range) => range,
        Initialiser::Arguments(inside) => inside.start - 1..inside.end + 1,
        _ => return None,
    };
    let is_auto = ty.clone().any(|at| view.is(at, b"auto"));
    let ty = if is_auto { range.start..range.clone().find(|at| view.byte(*at, b'{'))? } else { ty };
    is_only_read(code, declared, ty.clone()).then(|| Target {
        code: scope.work.code(code.item),
        range,
        ty,
        is_own: true,
    })
}

/// What goes through an array from its `begin()` to its `end()` and changes nothing.
const READERS: [&[u8]; 14] = [
    b"find",
    b"find_if",
    b"max_element",
    b"min_element",
    b"accumulate",
    b"lower_bound",
    b"upper_bound",
    b"binary_search",
    b"count",
    b"count_if",
    b"any_of",
    b"all_of",
    b"none_of",
    b"distance",
];

/// Whether no use of a local array or object in view may change it.
fn is_only_read(code: &Code, declared: usize, ty: Range<usize>) -> bool {
    let view = &code.view;
    if ty.clone().any(|at| matches!(view.text(at), b"const" | b"constexpr")) {
        return true;
    }
    let reads = |at: usize| {
        if is_bound(view, at) || code.passes_by_reference(at) {
            return false;
        }
        let behind = behind_suffix(view, at + 1, code.body.end);
        let before = view.text(at - 1);
        match view.text(behind) {
            b"=" | b"++" | b"--" => false,
            b"==" | b"<=" | b">=" | b"!=" => true,
            // `table.size()`
            b"." | b"->" => match view.text(behind + 1) {
                b"size" | b"empty" | b"length" | b"cbegin" | b"cend" => true,
                b"begin" | b"end" => {
                    let round = view.bracket_round(at).and_then(|open| open.checked_sub(1));
                    round.is_some_and(|callee| READERS.contains(&view.text(callee)))
                }
                _ => view.is(behind + 3, b"\"<<<\""),
            },
            text if text.len() > 1 && text.ends_with(b"=") => false,
            _ if matches!(before, b"&" | b"++" | b"--") => false,
            // Of its elements the value is taken; the whole may be handed to what changes it.
            _ if behind > at + 1 => true,
            b")" if before == b":" => true,
            b")" => matches!(view.text(at.wrapping_sub(2)), b"sizeof" | b"size"),
            _ => false,
        }
    };
    code.uses(view.text(declared), declared + 1..code.body.end).iter().all(|at| reads(*at))
}
