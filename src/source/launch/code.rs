//! One function or declaration as the evaluator reads it: its expanded text in tokens, its parameters, its launches.

use super::assumptions::checks_in;
use super::declarators::is_declarator;
use super::evaluate::{Value, colon_behind, question_in};
use super::handed::by_reference;
use super::lambdas::{Lambda, lambdas};
use super::locals::scope_end;
use super::writes::write;
use crate::graph::ItemId;
use crate::source::items::{ItemText, View};
use crate::source::lexer::TokenKind;
use crate::source::tree::Tree;
use crate::text::{FileId, Range as FileRange, Span};
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;
use std::sync::{Mutex, OnceLock};

pub(super) struct Code {
    pub item: ItemId,
    pub file: FileId,
    pub text: ItemText,
    pub view: View<'static>,
    pub templates: Vec<Parameter>,
    /// Of a method defined outside of its class template, those of the class as they are called there.
    pub class_templates: Vec<Parameter>,
    pub params: Vec<Parameter>,
    /// The type of a function's result.
    pub result: Range<usize>,
    /// Of a constructor, what stands between its parameters and its body.
    pub initialisers: Range<usize>,
    /// Without its braces; empty for what is no function.
    pub body: Range<usize>,
    pub sites: Vec<Site>,
    pub lambdas: Vec<Lambda>,
    /// Variables, by their tokens, that a call may write through a reference.
    by_reference: FxHashSet<usize>,
    /// For a brace the statements in it that may be checks.
    pub checks: FxHashMap<usize, Vec<usize>>,
    /// Where each name stands in the body, but for members and qualified names.
    uses: FxHashMap<Vec<u8>, Uses>,
    /// What names came out as, by their tokens, where no caller and no branch was assumed; and whether a caller would know more.
    pub values: Mutex<FxHashMap<usize, (Option<Value>, bool)>>,
}

/// Where a name stands in the body; of these, once somebody asks, where it is declared and how far that reaches, and where it
/// is written.
#[derive(Default)]
struct Uses {
    places: Vec<usize>,
    declared: OnceLock<Vec<(usize, usize)>>,
    written: OnceLock<Vec<usize>>,
}

#[derive(Debug)]
pub(super) struct Parameter {
    pub name: String,
    pub ty: Range<usize>,
    pub default: Option<Range<usize>>,
    /// The function may write through it.
    pub is_mutable_reference: bool,
    /// `T &&`: the function may write through it if it does.
    pub is_forwarded: bool,
    pub is_pack: bool,
}

/// One launch, by its tokens.
#[derive(Clone, Debug)]
pub(super) struct Site {
    pub callee: Callee,
    pub shape: Shape,
    /// What the kernel is given, where the launch says so one by one.
    pub arguments: Vec<Range<usize>>,
    pub tokens: Range<usize>,
}

#[derive(Clone, Debug)]
pub(super) struct Callee {
    /// The token of the kernel's name, or of a variable or parameter that stands for it.
    pub name: usize,
    pub arguments: Option<Range<usize>>,
    /// Which part of it is meant: `[i]`, `[i].kernel`.
    pub suffix: Range<usize>,
}

#[derive(Clone, Debug)]
pub(super) enum Shape {
    /// Grid and block as expressions.
    Written { block: Range<usize> },
    /// A `cudaLaunchConfig_t`, by the token of its name.
    Config(usize),
}

impl Code {
    /// As the usual configuration has the item, or the one that takes dead branches.
    pub fn new(tree: &Tree, id: ItemId, beside_dead: bool) -> Code {
        let text = if beside_dead { tree.text_beside_dead(id) } else { tree.text(id) };
        let mut code = Code::of_text(tree, id, text);
        code.by_reference = by_reference(tree, &code);
        code
    }

    /// The same without what its calls may write.
    pub fn read(tree: &Tree, id: ItemId) -> Code {
        Code::of_text(tree, id, tree.text(id))
    }

    fn of_text(tree: &Tree, id: ItemId, text: ItemText) -> Code {
        let view = View::owned(text.expanded.text.clone());
        let item = tree.item(id);
        let mut code = Code {
            item: id,
            file: item.file,
            text,
            view,
            templates: Vec::new(),
            class_templates: Vec::new(),
            params: Vec::new(),
            result: 0..0,
            initialisers: 0..0,
            body: 0..0,
            sites: Vec::new(),
            lambdas: Vec::new(),
            by_reference: FxHashSet::default(),
            values: Mutex::default(),
            checks: FxHashMap::default(),
            uses: FxHashMap::default(),
        };
        let class_headers = item.function().map_or(0, |parts| parts.class_headers);
        if let Some(header) = item.templates.first().filter(|_| class_headers > 0) {
            let header = View::owned(tree.expanded(id, header.clone()));
            let end = header.behind_angle(1).unwrap_or(2);
            code.class_templates = parameters(&header, 2..end.max(3) - 1);
        }
        let mut at = 0;
        while code.view.is(at, b"template") && code.view.is(at + 1, b"<") {
            let Some(end) = code.view.behind_angle(at + 1) else { break };
            code.templates = parameters(&code.view, at + 2..end - 1);
            at = end;
        }
        if item.function().is_some() {
            let start = at;
            while at < code.view.len() && !code.view.byte(at, b'(') {
                at = code.view.step(at);
            }
            code.result = start..at.max(start + 1) - 1;
            code.params = parameters(&code.view, code.view.inside(at));
            at = code.view.behind(at);
            while at < code.view.len() && !code.view.byte(at, b'{') {
                if code.view.byte(at, b':') {
                    let end = behind_initialisers(&code.view, at);
                    code.initialisers = at + 1..end;
                    at = end;
                    break;
                }
                at = code.view.step(at);
            }
            code.body = code.view.inside(at);
            code.sites = sites(&code.view, code.body.clone());
            code.lambdas = lambdas(&code.view, code.body.clone());
            code.checks = checks_in(&code.view);
            code.uses = uses(&code.view, code.body.clone());
        }
        code
    }

    /// Other text to be read as if it stood beside this item.
    pub fn beside(&self, text: String) -> Code {
        Code {
            item: self.item,
            file: self.file,
            text: ItemText::default(),
            view: View::owned(text),
            templates: Vec::new(),
            class_templates: Vec::new(),
            params: Vec::new(),
            result: 0..0,
            initialisers: 0..0,
            body: 0..0,
            sites: Vec::new(),
            lambdas: Vec::new(),
            by_reference: FxHashSet::default(),
            values: Mutex::default(),
            checks: FxHashMap::default(),
            uses: FxHashMap::default(),
        }
    }

    /// The tokens of a variable in a part of the body.
    pub fn uses(&self, name: &[u8], range: Range<usize>) -> &[usize] {
        self.uses.get(name).map_or(&[], |uses| within(&uses.places, range))
    }

    /// Those of them that write it.
    pub fn writes(&self, name: &[u8], range: Range<usize>) -> &[usize] {
        let Some(uses) = self.uses.get(name) else { return &[] };
        let is_write = |at: &usize| write(self, *at).is_some();
        within(uses.written.get_or_init(|| uses.places.iter().copied().filter(is_write).collect()), range)
    }

    /// Where a name is declared, in order, and where the scope of each ends.
    pub fn declarations(&self, name: &[u8]) -> &[(usize, usize)] {
        let Some(uses) = self.uses.get(name) else { return &[] };
        let declared = uses.places.iter().filter(|at| is_declarator(&self.view, **at));
        let with_scope = declared.map(|at| (*at, scope_end(&self.view, *at, self.body.end)));
        uses.declared.get_or_init(|| with_scope.collect())
    }

    /// Whether the variable at a token is an argument that the function called may write.
    pub fn passes_by_reference(&self, at: usize) -> bool {
        self.by_reference.contains(&at)
    }

    /// Where tokens stand in the file.
    pub fn place(&self, tokens: Range<usize>) -> FileRange {
        let span = self.view.span(tokens);
        self.text.expanded.home(Span { start: span.start, end: span.end }).range
    }
}

fn within(places: &[usize], range: Range<usize>) -> &[usize] {
    let start = places.partition_point(|at| *at < range.start);
    let end = places.partition_point(|at| *at < range.end);
    places.get(start..end).unwrap_or_default()
}

/// Behind the initialisers that a `:` begins: `: block(64), grid{n}`.
pub(super) fn behind_initialisers(view: &View, colon: usize) -> usize {
    let mut at = colon + 1;
    while at < view.len() {
        match view.text(at) {
            b"{" if view.identifier(at - 1).is_none() && !view.byte(at - 1, b'>') => break,
            b";" | b"}" => break,
            b"<" => at = view.behind_angle(at).unwrap_or(at + 1),
            _ => at = view.step(at),
        }
    }
    at
}

pub(super) fn parameters(view: &View, range: Range<usize>) -> Vec<Parameter> {
    let mut found = Vec::new();
    for piece in view.split_at_commas(range) {
        let mut name = None;
        let mut default = None;
        let (mut is_reference, mut is_const, mut is_forwarded, mut is_pack) = (false, false, false, false);
        let mut at = piece.start;
        while at < piece.end {
            // `void (*f)(int)`
            if view.byte(at, b'(') && matches!(view.text(at + 1), b"*" | b"&") && at > piece.start {
                name = view
                    .inside(at)
                    .take_while(|at| !view.byte(*at, b'['))
                    .filter(|at| view.identifier(*at).is_some())
                    .last();
                at = view.behind(at).max(at + 1);
                continue;
            }
            match view.text(at) {
                b"=" => {
                    // The grammar reads `= {128}` with a name before the braces only.
                    let start = at + 1 + usize::from(view.is(at + 1, b"braced_"));
                    default = Some(start..piece.end);
                    break;
                }
                b"&" => is_reference = true,
                b"&&" => is_forwarded = true,
                b"..." => is_pack = true,
                b"const" => is_const = true,
                b"[" => break,
                _ if view.identifier(at).is_some() => name = Some(at),
                _ => {}
            }
            at = view.step(at);
        }
        // `Policy<4>`, `ns::Policy`: a type alone.
        name = name.filter(|name| *name > piece.start && !view.is(name - 1, b"::"));
        found.push(Parameter {
            ty: piece.start..name.unwrap_or(at),
            name: name.map_or(String::new(), |name| String::from_utf8_lossy(view.text(name)).into_owned()),
            default,
            is_mutable_reference: is_reference && !is_const,
            is_forwarded: is_forwarded && !is_const,
            is_pack,
        });
    }
    found
}

fn uses(view: &View, body: Range<usize>) -> FxHashMap<Vec<u8>, Uses> {
    let mut found: FxHashMap<Vec<u8>, Uses> = FxHashMap::default();
    for at in body {
        let Some(name) = view.identifier(at) else { continue };
        if matches!(view.text(at.wrapping_sub(1)), b"." | b"->" | b"::") || view.is(at + 1, b"::") {
            continue;
        }
        match found.get_mut(name) {
            Some(uses) => uses.places.push(at),
            None => {
                found.insert(name.to_vec(), Uses { places: vec![at], ..Uses::default() });
            }
        }
    }
    found
}

fn sites(view: &View, body: Range<usize>) -> Vec<Site> {
    let mut found = Vec::new();
    for at in body {
        match view.kind(at) {
            // The expander writes `kernel<<<grid, block>>>(x)` as `kernel("<<<", grid, block)(x)`.
            Some(TokenKind::String) if view.is(at, b"\"<<<\"") && at > 1 && view.byte(at - 1, b'(') => {
                let config = view.split_at_commas(view.inside(at - 1));
                let [_, _, block, ..] = config.as_slice() else { continue };
                let behind = view.behind(at - 1);
                let arguments = match view.byte(behind, b'(') {
                    true => view.split_at_commas(view.inside(behind)),
                    false => Vec::new(),
                };
                for callee in launched_before(view, at - 1) {
                    let (shape, tokens) = (Shape::Written { block: block.clone() }, callee.name..behind);
                    found.push(Site { callee, shape, arguments: arguments.clone(), tokens });
                }
            }
            Some(TokenKind::Identifier) => {
                let open = match view.is(at + 1, b"<") {
                    true => view.behind_angle(at + 1).unwrap_or(at + 1),
                    false => at + 1,
                };
                if view.byte(open, b'(') {
                    found.extend(runtime_call(view, at, open));
                }
            }
            _ => {}
        }
    }
    found
}

/// `cudaLaunchKernel((void *)k, grid, block, ..)`, `cudaLaunchKernelEx(&config, k, ..)`, `cuLaunchKernel(k, 1, 1, 1, 128, 1, 1, ..)`
fn runtime_call(view: &View, name: usize, open: usize) -> Vec<Site> {
    let word = view.text(name);
    let arguments = view.split_at_commas(view.inside(open));
    let [first, second, rest @ ..] = arguments.as_slice() else { return Vec::new() };
    let (kernel, shape, given) = match word {
        b"cudaLaunchKernel" | b"cudaLaunchCooperativeKernel" | b"hipLaunchKernel" | b"hipLaunchCooperativeKernel" => {
            let Some(block) = rest.first() else { return Vec::new() };
            (first, Shape::Written { block: block.clone() }, listed(view, rest.get(1)))
        }
        b"cudaLaunchKernelEx" | b"cudaLaunchKernelExC" | b"hipLaunchKernelEx" | b"hipLaunchKernelExC" => {
            let config = first.clone().rev().find(|at| view.identifier(*at).is_some());
            let Some(config) = config else { return Vec::new() };
            let given = if word.ends_with(b"Ex") { rest.to_vec() } else { listed(view, rest.first()) };
            (second, Shape::Config(config), given)
        }
        b"cuLaunchKernel" | b"cuLaunchCooperativeKernel" | b"hipModuleLaunchKernel" => {
            let [_, _, x, _, z, ..] = rest else { return Vec::new() };
            (first, Shape::Written { block: x.start..z.end }, Vec::new())
        }
        _ => return Vec::new(),
    };
    let tokens = name..view.behind(open);
    let site = |callee| Site { callee, shape: shape.clone(), arguments: given.clone(), tokens: tokens.clone() };
    arms(view, kernel.clone()).into_iter().filter_map(|arm| callee_in(view, arm)).map(site).collect()
}

/// What an expression may come to: `big ? k : l` one of two.
fn arms(view: &View, range: Range<usize>) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut todo = vec![range];
    while let Some(mut range) = todo.pop() {
        while view.byte(range.start, b'(') && view.behind(range.start) == range.end {
            range = view.inside(range.start);
        }
        let question = question_in(view, range.clone());
        match question.and_then(|question| Some((question, colon_behind(view, question + 1, range.end)?))) {
            Some((question, colon)) => todo.extend([colon + 1..range.end, question + 1..colon]),
            None => found.push(range),
        }
    }
    found
}

/// The arguments whose addresses an array holds: `void *arguments[] = {&n, &op};`
fn listed(view: &View, array: Option<&Range<usize>>) -> Vec<Range<usize>> {
    let Some(array) = array.filter(|array| array.len() == 1) else { return Vec::new() };
    let name = view.text(array.start);
    let is_declared =
        |at: &usize| view.text(*at) == name && view.byte(at + 1, b'[') && view.byte(view.behind(at + 1), b'=');
    let Some(declared) = (0..array.start).rev().find(is_declared) else { return Vec::new() };
    let list = view.behind(declared + 1) + 1;
    let mut pieces = if view.byte(list, b'{') { view.split_at_commas(view.inside(list)) } else { Vec::new() };
    for piece in &mut pieces {
        let cast = view.byte(piece.start, b'(') && view.behind(piece.start) < piece.end;
        let address = if cast { view.behind(piece.start) } else { piece.start };
        // Of what is no address nothing is told.
        piece.start = if view.byte(address, b'&') { address + 1 } else { piece.end };
    }
    pieces
}

/// What is launched by the bracket at `open`: a name, an element of a table, what either leads to, what a function returns.
fn launched_before(view: &View, open: usize) -> Vec<Callee> {
    let Some(last) = open.checked_sub(1) else { return Vec::new() };
    if view.byte(last, b')') {
        let inside = view.inside(view.opener(last));
        if let Some(function) = callee_before(view, inside.start - 1).filter(|_| inside.start > 1) {
            // `pick(big)<<<..>>>`
            return vec![Callee { suffix: inside.start - 1..open, ..function }];
        }
        if view.byte(inside.start, b'*') {
            // `(*kernel)<<<..>>>`
            return launched_before(view, inside.end);
        }
        return arms(view, inside).into_iter().filter_map(|arm| callee_in(view, arm)).collect();
    }
    element_before(view, open).into_iter().collect()
}

fn element_before(view: &View, open: usize) -> Option<Callee> {
    let last = open.checked_sub(1)?;
    let mut at = last;
    loop {
        if view.byte(at, b']') {
            at = view.opener(at).checked_sub(1)?;
        } else if matches!(view.text(at.checked_sub(1)?), b"." | b"->") && view.identifier(at).is_some() {
            at = at.checked_sub(2)?;
        } else {
            break;
        }
    }
    if at == last {
        return callee_before(view, open);
    }
    view.identifier(at).map(|_| Callee { name: at, arguments: None, suffix: at + 1..open })
}

/// Behind the indices and members that go on at a token.
pub(super) fn behind_suffix(view: &View, from: usize, end: usize) -> usize {
    let mut at = from;
    while at < end {
        if view.byte(at, b'[') {
            at = view.behind(at);
        } else if matches!(view.text(at), b"." | b"->") && view.identifier(at + 1).is_some() && !view.byte(at + 2, b'(')
        {
            at += 2;
        } else {
            break;
        }
    }
    at.min(end)
}

/// The name, with its template arguments, that ends before the bracket at `open`.
pub(super) fn callee_before(view: &View, open: usize) -> Option<Callee> {
    let last = open.checked_sub(1)?;
    if view.identifier(last).is_some() {
        return Some(Callee { name: last, arguments: None, suffix: 0..0 });
    }
    let mut depth = 0i32;
    let mut at = last;
    for _ in 0..1000 {
        match view.text(at) {
            b">" => depth += 1,
            b">>" => depth += 2,
            b">>>" => depth += 3,
            b"<" => depth -= 1,
            b")" | b"]" | b"}" => at = view.opener(at),
            b";" | b"{" => return None,
            _ => {}
        }
        if depth <= 0 {
            break;
        }
        at = at.checked_sub(1)?;
    }
    let name = at.checked_sub(1)?;
    (view.is(at, b"<") && view.identifier(name).is_some()).then(|| Callee {
        name,
        arguments: Some(at + 1..last),
        suffix: 0..0,
    })
}

/// The function that an expression names under its casts: `(const void *)k<float, 4>`, `&k`.
pub(super) fn callee_in(view: &View, range: Range<usize>) -> Option<Callee> {
    let mut found = None;
    let mut at = range.start;
    while at < range.end {
        if view.byte(at, b'(') {
            let inside = view.inside(at);
            let is_cast = inside.clone().all(|at| {
                view.identifier(at).is_some()
                    || matches!(view.text(at), b"*" | b"&" | b"::" | b"<" | b">" | b"(" | b")" | b",")
            }) && view.behind(at) < range.end
                && !matches!(view.text(view.behind(at)), b")" | b",");
            at = if is_cast { view.behind(at) } else { at + 1 };
            continue;
        }
        if view.identifier(at).is_some() {
            let is_cast = view.text(at).ends_with(b"_cast");
            let behind = if view.is(at + 1, b"<") { view.behind_angle(at + 1) } else { None };
            let end = behind.unwrap_or(at + 1);
            let behind_all = behind_suffix(view, end, range.end);
            if !is_cast {
                let arguments = behind.map(|behind| at + 2..behind - 1);
                found = Some(Callee { name: at, arguments, suffix: end..behind_all });
            }
            at = behind_all;
            continue;
        }
        at += 1;
    }
    found
}
