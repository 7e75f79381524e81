//! Template arguments that nobody wrote: the types of a call's arguments, matched with those of the parameters.
//!
//! Only what an analysis can follow is told: classes in view, types of a known size, lambdas, and the numbers among a class's own
//! arguments.

use super::choices::holds;
use super::code::{Code, Parameter, Site};
use super::evaluate::{Value, colon_behind, integer, question_in, size_of};
use super::lambdas;
use super::locals::{declaration, declared_type};
use super::objects::called;
use super::scope::{Bound, Scope, alias_target, last_name, local_alias};
use super::{Argument, Work};
use crate::graph::ItemId;
use crate::source::items::{ItemKind, View};
use crate::source::lexer::TokenKind;
use std::ops::Range;
use std::sync::Arc;

/// Types within types, variables set to variables.
const MAX_DEPTH: u32 = 40;

/// The lambda that begins at a byte of a function's text.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct LambdaId {
    pub function: ItemId,
    pub at: u32,
}

impl Code {
    /// The lambda that some tokens are.
    pub fn lambda_in(&self, range: Range<usize>) -> Option<LambdaId> {
        let index = self.lambdas.binary_search_by_key(&range.start, |lambda| lambda.start).ok()?;
        let at = self.view.token(range.start)?.start();
        (self.lambdas[index].end == range.end).then_some(LambdaId { function: self.item, at })
    }
}

/// For each template parameter of a function what the arguments of a call make of it.
pub(super) fn deduced(
    scope: &Scope,
    code: &Code,
    arguments: &[Range<usize>],
    called: &Code,
) -> Vec<Option<Vec<Bound>>> {
    let mut found = vec![None; called.templates.len()];
    for (index, param) in called.params.iter().enumerate() {
        if !names_template(called, param) {
            continue;
        }
        let is_pack = is_pack(called, param);
        let rest = arguments.get(index..).unwrap_or_default();
        let types: Vec<Option<Bound>> = match is_pack {
            true => rest.iter().map(|argument| scope.type_of(code, argument.clone())).collect(),
            false => rest.first().map(|argument| scope.type_of(code, argument.clone())).into_iter().collect(),
        };
        if is_pack {
            let name = plain(called, param.ty.clone()).and_then(|(ty, _)| parameter(called, ty));
            if let (Some(name), Some(types)) = (name, types.into_iter().collect::<Option<Vec<Bound>>>()) {
                found[name].get_or_insert(types);
            }
        } else if let Some(Some(ty)) = types.into_iter().next() {
            matched(called, param.ty.clone(), ty, &mut found);
        }
    }
    found
}

/// What a launch gives the parameters of its kernel: those written, then those deduced.
pub(super) fn completed(
    scope: &Scope,
    code: &Code,
    arguments: &[Range<usize>],
    kernel: ItemId,
    written: Vec<Argument>,
) -> Vec<Argument> {
    let is_template = !scope.work.tree.item(kernel).templates.is_empty();
    if !is_template || arguments.is_empty() {
        return written;
    }
    let called = scope.work.code(kernel);
    if written.len() >= called.templates.len() {
        return written;
    }
    let known = written.len();
    let mut all = written;
    for bounds in deduced(scope, code, arguments, &called).into_iter().skip(known) {
        match bounds {
            Some(bounds) => all.extend(bounds.into_iter().map(Bound::argument)),
            None => all.push(Argument::Open),
        }
    }
    while all.last() == Some(&Argument::Open) {
        all.pop();
    }
    all
}

/// The arguments of a launch whose types tell template arguments of its kernel.
pub(super) fn telling(work: &Work, site: &Site, kernel: ItemId) -> Vec<Range<usize>> {
    if work.tree.item(kernel).templates.is_empty() || site.arguments.is_empty() {
        return Vec::new();
    }
    let called = work.code(kernel);
    let is_pack = |param: &Parameter| is_pack(&called, param);
    if called.params.iter().any(is_pack) {
        return site.arguments.clone();
    }
    let told = called.params.iter().zip(&site.arguments).filter(|(param, _)| names_template(&called, param));
    told.map(|(_, argument)| argument.clone()).collect()
}

/// Whether the type of a parameter speaks of the function's template parameters.
pub(super) fn names_template(code: &Code, param: &Parameter) -> bool {
    let mut names = param.ty.clone().filter_map(|at| code.view.identifier(at));
    names.any(|name| code.templates.iter().any(|template| template.name.as_bytes() == name))
}

fn is_pack(code: &Code, param: &Parameter) -> bool {
    param.ty.clone().any(|at| code.view.is(at, b"..."))
}

/// The number of the template parameter that some tokens are.
fn parameter(code: &Code, range: Range<usize>) -> Option<usize> {
    let name = code.view.identifier(range.start).filter(|_| range.len() == 1)?;
    code.templates.iter().position(|template| template.name.as_bytes() == name)
}

/// A type without what makes it constant, a reference or a pointer, and how many pointers there are.
fn plain(code: &Code, range: Range<usize>) -> Option<(Range<usize>, usize)> {
    let view = &code.view;
    let is_mark = |at: usize| {
        matches!(
            view.text(at),
            b"const"
                | b"volatile"
                | b"typename"
                | b"&"
                | b"&&"
                | b"*"
                | b"__restrict__"
                | b"__restrict"
                | b"static"
                | b"constexpr"
                | b"struct"
                | b"class"
                | b"register"
                | b"inline"
                | b"..."
                | b"__grid_constant__"
        )
    };
    let start = range.clone().find(|at| !is_mark(*at))?;
    let mut end = start;
    while end < range.end && !is_mark(end) {
        end = view.step(end);
    }
    let pointers = (end..range.end).filter(|at| view.byte(*at, b'*')).count();
    (end..range.end).all(is_mark).then_some((start..end, pointers))
}

/// Binds the template parameters in the type of a function's parameter, given the type of the argument.
fn matched(code: &Code, pattern: Range<usize>, ty: Bound, found: &mut [Option<Vec<Bound>>]) {
    let Some((pattern, pointers)) = plain(code, pattern) else { return };
    let text = ty.text.trim_end_matches('*');
    if ty.text.len() - text.len() < pointers {
        return;
    }
    let ty = Bound { text: ty.text[..ty.text.len() - pointers].to_string(), ..ty };
    if let Some(index) = parameter(code, pattern.clone()) {
        found[index].get_or_insert(vec![ty]);
        return;
    }
    let view = View::owned(ty.text);
    let named = |view: &View, range| last_name(view, range).and_then(|(name, arguments)| Some((name, arguments?)));
    let (Some((own, wanted)), Some((name, given))) = (named(&code.view, pattern), named(&view, 0..view.len())) else {
        return;
    };
    if code.view.text(own) != view.text(name) {
        return;
    }
    let mut given = view.split_at_commas(given).into_iter().map(|piece| {
        let value = integer(view.text(piece.start)).filter(|_| piece.len() == 1).map(Value::Int);
        Bound::new(value, view.spelled(piece))
    });
    for piece in code.view.split_at_commas(wanted) {
        match code.view.is(piece.end - 1, b"...") {
            true => {
                if let Some(index) = parameter(code, piece.start..piece.end - 1) {
                    found[index].get_or_insert(given.by_ref().collect());
                }
            }
            false => {
                let Some(one) = given.next() else { return };
                matched(code, piece, one, found);
            }
        }
    }
}

/// The type of a number as written, of a character or a truth value.
fn literal_type(view: &View, range: Range<usize>) -> Option<&'static str> {
    let at = range.start + usize::from(matches!(view.text(range.start), b"-" | b"+"));
    if at + 1 != range.end {
        return None;
    }
    let text = view.text(at).to_ascii_lowercase();
    match view.kind(at)? {
        TokenKind::Identifier => matches!(&text[..], b"true" | b"false").then_some("bool"),
        TokenKind::Number => {
            let is_hex = text.starts_with(b"0x");
            let mark = |byte: &u8| matches!(byte, b'.' | b'p') || *byte == b'e' && !is_hex;
            if text.iter().any(mark) {
                return match text.last()? {
                    b'f' => Some("float"),
                    b'l' => None,
                    _ => Some("double"),
                };
            }
            let value = integer(&text)?;
            let suffix: Vec<u8> =
                text.iter().rev().take_while(|byte| matches!(byte, b'u' | b'l' | b'z')).copied().collect();
            match (&suffix[..], i32::try_from(value).is_ok()) {
                (b"", true) => Some("int"),
                (b"u", _) if u32::try_from(value).is_ok() => Some("unsigned int"),
                (b"ll", _) => Some("long long"),
                (b"ull" | b"llu", _) => Some("unsigned long long"),
                _ => None,
            }
        }
        _ => None,
    }
}

impl Scope<'_> {
    /// The type of an expression, its text or the lambda that it is.
    pub(super) fn type_of(&self, code: &Code, range: Range<usize>) -> Option<Bound> {
        if !self.enter(MAX_DEPTH) {
            return None;
        }
        let ty = self.type_inside(code, range);
        self.leave();
        ty
    }

    fn type_inside(&self, code: &Code, range: Range<usize>) -> Option<Bound> {
        let view = &code.view;
        let mut range = range;
        while view.byte(range.start, b'(') && view.behind(range.start) == range.end {
            range = view.inside(range.start);
        }
        if range.is_empty() {
            return None;
        }
        if let Some(lambda) = code.lambda_in(range.clone()) {
            return Some(Bound { lambda: Some(lambda), ..Bound::default() });
        }
        if view.byte(range.start, b'&') {
            let of = self.type_of(code, range.start + 1..range.end)?;
            return of.lambda.is_none().then(|| Bound { text: of.text + "*", ..Bound::default() });
        }
        if let Some(question) = question_in(view, range.clone()) {
            let colon = colon_behind(view, question + 1, range.end)?;
            return match holds(self, code, range.start..question)? {
                true => self.type_of(code, question + 1..colon),
                false => self.type_of(code, colon + 1..range.end),
            };
        }
        if let Some(ty) = literal_type(view, range.clone()) {
            return Some(Bound { text: ty.to_string(), ..Bound::default() });
        }
        if view.byte(range.start, b'(') {
            // `(float)n`
            let operand = view.behind(range.start);
            let is_one = range.len() > operand - range.start && view.step(operand) == range.end;
            return self.written_type(code, view.inside(range.start)).filter(|_| is_one);
        }
        let name = view.identifier(range.start)?;
        if range.len() == 1 {
            return self.type_of_name(code, name, range.start);
        }
        let (callee, open) = called(view, range.clone())?;
        let arguments = view.split_at_commas(view.inside(open));
        if let (b"move" | b"forward" | b"as_const" | b"ref" | b"cref", [only]) =
            (view.text(callee.name), &arguments[..])
        {
            return self.type_of(code, only.clone());
        }
        if let (b"static_cast", Some(ty)) = (view.text(callee.name), callee.arguments.clone()) {
            return self.written_type(code, ty);
        }
        if let Some(made) = self.written_type(code, range.start..open) {
            return Some(made);
        }
        let function = self.declared(code, callee.name, arguments.len() as u32)?;
        let frame = self.frame_for(code, &callee, &function, &arguments);
        let scope = Scope { work: self.work, frame: &frame };
        match scope.written_type(&function, function.result.clone()) {
            Some(ty) => Some(ty),
            None if function.result.clone().any(|at| function.view.is(at, b"auto")) => {
                scope.result(&function, |scope, code, range| scope.type_of(code, range))
            }
            None => None,
        }
    }

    fn type_of_name(&self, code: &Code, name: &[u8], at: usize) -> Option<Bound> {
        let view = &code.view;
        if let Some(declared) = declaration(code, name, at) {
            let (ty, value) = declared_type(code, declared)?;
            return match (ty.clone().any(|at| view.is(at, b"auto")), value) {
                (false, _) => self.written_type(code, ty),
                (true, Some(value)) => self.type_of(code, value),
                (true, None) => {
                    lambdas::argument(self, code, declared, |scope, code, range| scope.type_of(code, range))
                }
            };
        }
        let param = code.params.iter().find(|param| param.name.as_bytes() == name)?;
        if param.ty.clone().any(|at| view.is(at, b"auto")) {
            self.work.needs_caller.set(true);
            return None;
        }
        self.written_type(code, param.ty.clone())
    }

    /// The one function in view that takes so many arguments; without a body, too, since its type is enough.
    fn declared(&self, code: &Code, name: usize, count: u32) -> Option<Arc<Code>> {
        let tree = self.work.tree;
        let visible = tree.visible(code.file, std::str::from_utf8(code.view.text(name)).ok()?);
        let fits = |id: &ItemId| {
            tree.item(*id).function().is_some_and(|parts| parts.count.min <= count && count <= parts.count.max)
        };
        let (bodies, others): (Vec<ItemId>, Vec<ItemId>) =
            visible.into_iter().filter(fits).partition(|id| tree.item(*id).is_definition());
        let [only] = (if bodies.is_empty() { others } else { bodies })[..] else { return None };
        Some(self.work.code(only))
    }

    /// A class, a number or a pointer to one, by the tokens of a type.
    fn written_type(&self, code: &Code, range: Range<usize>) -> Option<Bound> {
        let view = &code.view;
        let (ty, pointers) = plain(code, range)?;
        if let Some(name) = view.identifier(ty.start).filter(|_| ty.len() == 1) {
            let key = std::str::from_utf8(name).ok()?;
            if let Some(bound) = self.frame.templates.get(key) {
                let text = bound.text.clone() + &"*".repeat(pointers);
                return Some(Bound { text, ..bound.clone() });
            }
            if parameter(code, ty.clone()).is_some() {
                self.work.needs_caller.set(true);
                return None;
            }
            if let Some(target) = local_alias(code, name, ty.start) {
                return self.enter(MAX_DEPTH).then(|| {
                    let bound = self.written_type(code, target);
                    self.leave();
                    Some(Bound { text: bound.as_ref()?.text.clone() + &"*".repeat(pointers), ..bound? })
                })?;
            }
        }
        if size_of(&view.spelled(ty.clone())).is_some() {
            return Some(Bound { text: view.spelled(ty) + &"*".repeat(pointers), ..Bound::default() });
        }
        let (name, _) = last_name(view, ty.clone())?;
        let is_whole = name + 1 == ty.end || view.is(name + 1, b"<") && view.behind_angle(name + 1) == Some(ty.end);
        let name = std::str::from_utf8(view.text(name)).ok()?;
        if !is_whole || !self.is_class(code, name) {
            return None;
        }
        Some(Bound { text: self.written(code, ty) + &"*".repeat(pointers), ..Bound::default() })
    }

    /// Whether a name is one of a class in view, or stands for one.
    fn is_class(&self, code: &Code, name: &str) -> bool {
        let tree = self.work.tree;
        let mut name = name.to_string();
        for _ in 0..4 {
            let visible = tree.visible(code.file, &name);
            if visible.iter().any(|id| matches!(&tree.item(*id).kind, ItemKind::Class(parts) if parts.body.is_some())) {
                return true;
            }
            let Some(alias) = visible.into_iter().find(|id| matches!(tree.item(*id).kind, ItemKind::Alias)) else {
                return false;
            };
            let alias = self.work.code(alias);
            let target = alias_target(&alias.view).and_then(|target| last_name(&alias.view, target));
            let Some((target, _)) = target else { return false };
            name = String::from_utf8_lossy(alias.view.text(target)).into_owned();
        }
        false
    }
}
