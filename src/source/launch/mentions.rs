//! Whether all that is done with a kernel's name is understood. What goes into an object, a list, or what a function returns
//! may be launched from anywhere, in any shape.

use super::code::{Callee, Code, Parameter, behind_suffix, callee_before, parameters};
use super::declarators::{Initialiser, initialiser, is_declarator};
use super::locals::{declaration, scope_end, statement_start};
use super::scope::{Frame, Scope};
use super::{Argument, Launch, Work, callers, kernels};
use crate::graph::ItemId;
use crate::source::items::{ItemKind, Role, View};
use crate::text::Range as FileRange;
use rustc_hash::FxHashSet;
use std::ops::Range;
use std::sync::Arc;

/// Variables and functions that hand a kernel on to one another.
const MAX_HANDS: u32 = 8;

/// Where the kernel is mentioned in a way that is not followed to a launch that is known: as one more launch, of unknown shape.
pub(super) fn unfollowed(work: &Work, kernel: ItemId, found: &[Launch], lost: &[FileRange]) -> Option<Launch> {
    let names_it = |kind: &ItemKind| {
        matches!(kind, ItemKind::Function(_) | ItemKind::Value | ItemKind::Alias | ItemKind::Class(_))
    };
    let name = work.tree.item(kernel).name.as_bytes();
    for item in callers::items_naming(work, kernel, &names_it) {
        let other = work.tree.item(item);
        let is_declared = other.function().is_some() && !other.is_definition();
        if is_declared || other.name == work.tree.item(kernel).name || !super::may_launch(work.tree, item, kernel) {
            continue;
        }
        let code = work.code(item);
        for at in (0..code.view.len()).filter(|at| code.view.identifier(*at) == Some(name)) {
            let callee = Callee { name: at, arguments: angle(&code.view, at), suffix: 0..0 };
            if is_hidden(&code, at) || !kernels::is_nearest(work.tree, &code, &callee, kernel) {
                continue;
            }
            let mut search = Search { work, kernel, sites: Vec::new(), seen: FxHashSet::default() };
            let is_followed = search.follows(&code, at, 0);
            let is_launched = |site: &FileRange| !lost.contains(site) && found.iter().any(|launch| launch.at == *site);
            if !is_followed || !search.sites.iter().all(is_launched) {
                let template_args = callee.arguments.map_or(Vec::new(), |range| arguments(work, &code, range));
                let at = code.place(at..at + 1);
                return Some(Launch {
                    kernel,
                    template_args,
                    block: [None; 3],
                    block_limit: [None; 3],
                    cluster: None,
                    at,
                });
            }
        }
    }
    None
}

/// The template arguments beside a mention, if no caller has to tell them.
fn arguments(work: &Work, code: &Code, range: Range<usize>) -> Vec<Argument> {
    work.budget.set(super::BUDGET);
    work.needs_caller.set(false);
    let empty = Frame::default();
    let given = Scope { work, frame: &empty }.template_arguments(code, range);
    match work.needs_caller.replace(false) {
        true => Vec::new(),
        false => given.into_iter().map(|bound| bound.argument()).collect(),
    }
}

fn angle(view: &View, name: usize) -> Option<Range<usize>> {
    let behind = if view.is(name + 1, b"<") { view.behind_angle(name + 1) } else { None };
    behind.map(|behind| name + 2..behind - 1)
}

/// Whether a local variable, a parameter or a member has the name.
fn is_hidden(code: &Code, at: usize) -> bool {
    let (view, name) = (&code.view, code.view.text(at));
    let is_own = |param: &Parameter| param.name.as_bytes() == name;
    matches!(view.text(at.wrapping_sub(1)), b"." | b"->")
        || is_declarator(view, at)
        || code.params.iter().chain(&code.templates).any(is_own)
        || declaration(code, name, at).is_some()
}

/// Functions that ask something of a kernel, or tell something of it.
fn only_asks(name: &[u8]) -> bool {
    let lower = name.to_ascii_lowercase();
    let has = |word: &[u8]| memchr::memmem::find(&lower, word).is_some();
    let is_kept = has(b"getfuncbysymbol");
    !is_kept && (has(b"occupancy") || has(b"attribute") || has(b"cudafunc") || has(b"hipfunc") || has(b"printf"))
}

/// What becomes of one mention.
struct Search<'a, 's> {
    work: &'a Work<'s>,
    kernel: ItemId,
    /// The launches that it is handed to through variables and parameters.
    sites: Vec<FileRange>,
    /// Variables and parameters by their functions and tokens.
    seen: FxHashSet<(ItemId, String, usize)>,
}

impl Search<'_, '_> {
    /// Whether it is understood what is done with the kernel, or what stands for it, at a token.
    fn follows(&mut self, code: &Arc<Code>, at: usize, hands: u32) -> bool {
        let view = &code.view;
        if hands > MAX_HANDS {
            return false;
        }
        let behind = angle(view, at).map_or(at + 1, |inside| inside.end + 1);
        let end = behind_suffix(view, behind, view.len());
        if let Some(site) = code.sites.iter().find(|site| site.callee.name == at) {
            if hands > 0 {
                self.sites.push(code.place(site.tokens.clone()));
            }
            return true;
        }
        match view.text(end) {
            // A lambda at namespace scope, which is not read; the methods of a class are, each by itself.
            b"(" if view.is(end + 1, b"\"<<<\"") => {
                return matches!(self.work.tree.item(code.item).kind, ItemKind::Class(_));
            }
            // Called it is no kernel; what is written over it is another one.
            b"(" | b"=" => return true,
            b"." | b"->" => return matches!(view.text(end + 1), b"size" | b"empty" | b"length"),
            _ => {}
        }
        if let Some(name) = template_round(view, at) {
            return self.given_to_template(code, name, at, hands);
        }
        self.value_follows(code, at, hands)
    }

    /// The same for the expression that a token stands in.
    fn value_follows(&mut self, code: &Arc<Code>, at: usize, hands: u32) -> bool {
        let view = &code.view;
        let mut at = at;
        loop {
            let open = view.bracket_round(at);
            if let Some(variable) = set_at(view, at) {
                return self.variable_follows(code, variable, hands);
            }
            let Some(open) = open.filter(|open| code.body.is_empty() || *open + 1 > code.body.start) else {
                // A statement of the function itself, or what a parameter has by default.
                if is_returned(view, at) && code.body.contains(&at) {
                    return self.result_follows(code, hands);
                }
                return code.body.contains(&at) && !is_given_away(view, at);
            };
            match view.text(open) {
                b"[" => {
                    // A key, or captured as it is.
                    return !(statement_start(view, at)..at).any(|at| view.byte(at, b'='));
                }
                b"{" => {
                    let before = open.wrapping_sub(1);
                    let is_list =
                        matches!(view.text(before), b"=" | b"," | b"(" | b"{" | b"]" | b"return" | b":" | b">")
                            && !(view.byte(before, b'{') && view.byte(view.behind(open), b';'))
                            || view.identifier(before).is_some()
                                && !matches!(
                                    view.text(before),
                                    b"else" | b"do" | b"try" | b"mutable" | b"const" | b"noexcept"
                                );
                    let is_list = is_list && !code.lambdas.iter().any(|lambda| lambda.end == view.behind(open));
                    if !is_list {
                        let is_of_lambda = code.lambdas.iter().any(|lambda| lambda.start < at && at < lambda.end);
                        if is_returned(view, at) && !is_of_lambda {
                            return self.result_follows(code, hands);
                        }
                        return !code.body.is_empty() && !is_given_away(view, at);
                    }
                    if view.identifier(before).is_some() && is_declarator(view, before) {
                        return self.variable_follows(code, before, hands);
                    }
                    at = open;
                }
                // Neither a launch's shape nor what it hands on is launched.
                _ if is_of_launch(view, open) => return true,
                _ => match callee_before(view, open).map(|callee| callee.name) {
                    Some(name) if view.text(name).ends_with(b"_cast") => at = name,
                    Some(name) => return self.argument_follows(code, name, open, at, hands),
                    None if matches!(view.text(open.wrapping_sub(1)), b")" | b"}") => {
                        let lambda = code.lambdas.iter().find(|lambda| lambda.end == open);
                        let Some(params) = lambda.map(|lambda| (lambda.params, lambda.end)) else { return false };
                        return self.lambda_follows(code, params, position(view, open, at), hands);
                    }
                    // `(big ? k : l)<<<1, n>>>(..)`: one of what is launched there, or part of what decides it.
                    None if view.is(view.behind(open) + 1, b"\"<<<\"") => return true,
                    None => at = open,
                },
            }
        }
    }

    /// The argument of a call that a token stands in.
    fn argument_follows(&mut self, code: &Arc<Code>, name: usize, open: usize, at: usize, hands: u32) -> bool {
        let view = &code.view;
        let word = view.text(name);
        match word {
            b"decltype" | b"sizeof" | b"typeid" | b"static_assert" | b"if" | b"while" | b"switch" | b"is_same" => {
                return true;
            }
            // `for (auto kernel : kernels)`
            b"for" => {
                let colon = (open..at).rev().find(|at| view.byte(*at, b':'));
                return colon.is_some_and(|colon| self.variable_follows(code, colon - 1, hands));
            }
            b"move" | b"forward" | b"addressof" => return self.value_follows(code, name, hands),
            _ if only_asks(word) => return true,
            _ => {}
        }
        if is_declarator(view, name) {
            return self.variable_follows(code, name, hands);
        }
        let position = position(view, open, at);
        if let Some(declared) = declaration(code, word, name) {
            let Initialiser::Expression(range) = initialiser(view, declared) else { return false };
            let lambda = code.lambdas.iter().find(|lambda| lambda.start == range.start);
            let Some(params) = lambda.map(|lambda| (lambda.params, lambda.end)) else { return false };
            return self.lambda_follows(code, params, position, hands);
        }
        let tree = self.work.tree;
        let functions = tree.visible(code.file, std::str::from_utf8(word).unwrap_or_default());
        let count = view.split_at_commas(view.inside(open)).len() as u32;
        let takes = |id: &ItemId| {
            let parts = tree.item(*id).function().filter(|_| tree.item(*id).is_definition());
            parts.is_some_and(|parts| parts.count.min <= count && (count <= parts.count.max || parts.count.variadic))
        };
        let functions: Vec<ItemId> = functions.into_iter().filter(takes).collect();
        !functions.is_empty() && functions.into_iter().all(|id| self.parameter_follows(id, position, hands))
    }

    /// What a function does with one of its parameters.
    fn parameter_follows(&mut self, function: ItemId, position: Option<usize>, hands: u32) -> bool {
        let is_constructor = |role: Role| role == Role::Constructor;
        if self.work.tree.item(function).function().is_none_or(|parts| is_constructor(parts.role)) {
            return false;
        }
        let code = self.work.code(function);
        let Some(param) = position.and_then(|position| code.params.get(position)).filter(|param| !param.is_pack) else {
            return false;
        };
        let name = param.name.clone();
        self.uses_follow(&code, &name, code.body.clone(), hands)
    }

    fn lambda_follows(
        &mut self,
        code: &Arc<Code>,
        (params, end): (Option<usize>, usize),
        position: Option<usize>,
        hands: u32,
    ) -> bool {
        let Some((open, position)) = params.zip(position) else { return false };
        let params = parameters(&code.view, code.view.inside(open));
        let Some(param) = params.get(position).filter(|param| !param.is_pack) else { return false };
        self.uses_follow(code, &param.name, code.view.behind(open)..end, hands)
    }

    fn variable_follows(&mut self, code: &Arc<Code>, variable: usize, hands: u32) -> bool {
        let view = &code.view;
        let name = String::from_utf8_lossy(view.text(variable)).into_owned();
        if code.body.is_empty() {
            return self.table_follows(code, variable, hands);
        }
        if code.params.iter().any(|param| param.name == name) {
            return self.uses_follow(code, &name, code.body.clone(), hands);
        }
        let declared =
            if is_declarator(view, variable) { Some(variable) } else { declaration(code, name.as_bytes(), variable) };
        let Some(declared) = declared else { return false };
        let is_kept = view.is(statement_start(view, declared), b"static") && !is_constant(view, declared);
        !is_kept && self.uses_follow(code, &name, declared + 1..scope_end(view, declared, code.body.end), hands)
    }

    fn uses_follow(&mut self, code: &Arc<Code>, name: &str, range: Range<usize>, hands: u32) -> bool {
        if !self.seen.insert((code.item, name.to_string(), range.start)) {
            return true;
        }
        code.uses(name.as_bytes(), range).iter().all(|at| self.follows(code, *at, hands + 1))
    }

    /// What becomes of what a function returns, wherever it is called.
    fn result_follows(&mut self, code: &Arc<Code>, hands: u32) -> bool {
        let work = self.work;
        let item = work.tree.item(code.item);
        if item.class.is_some() || hands >= MAX_HANDS {
            return false;
        }
        if !self.seen.insert((code.item, "return".to_string(), 0)) {
            return true;
        }
        let users = callers::items_naming(work, code.item, &|kind| !matches!(kind, ItemKind::Instantiation { .. }));
        users.into_iter().all(|user| {
            let other = work.tree.item(user);
            if other.function().is_some() && !other.is_definition() {
                return true;
            }
            let user = work.code(user);
            let uses: Vec<usize> = user.uses(item.name.as_bytes(), user.body.clone()).to_vec();
            !user.body.is_empty() && uses.into_iter().all(|at| self.call_follows(&user, at, hands + 1))
        })
    }

    /// The same at one call.
    fn call_follows(&mut self, code: &Arc<Code>, at: usize, hands: u32) -> bool {
        let view = &code.view;
        if let Some(site) = code.sites.iter().find(|site| site.callee.name == at) {
            self.sites.push(code.place(site.tokens.clone()));
            return true;
        }
        let behind = angle(view, at).map_or(at + 1, |inside| inside.end + 1);
        // Handed on itself it may be called from anywhere.
        view.byte(behind, b'(') && self.value_follows(code, at, hands)
    }

    /// An array of constants at namespace scope, wherever it is named.
    fn table_follows(&mut self, code: &Arc<Code>, variable: usize, hands: u32) -> bool {
        let work = self.work;
        let item = work.tree.item(code.item);
        let is_table = matches!(item.kind, ItemKind::Value) && item.class.is_none();
        if !is_table || !code.view.byte(variable + 1, b'[') || !self.seen.insert((code.item, String::new(), 0)) {
            return false;
        }
        let users = callers::items_naming(work, code.item, &|kind| !matches!(kind, ItemKind::Instantiation { .. }));
        users.into_iter().all(|user| {
            let code = work.code(user);
            let is_it = |at: &usize| declaration(&code, item.name.as_bytes(), *at).is_none();
            let uses: Vec<usize> = code.uses(item.name.as_bytes(), code.body.clone()).to_vec();
            uses.into_iter().filter(is_it).all(|at| self.follows(&code, at, hands + 1))
        })
    }

    /// `start_one<k>(v)`
    fn given_to_template(&mut self, code: &Arc<Code>, name: usize, at: usize, hands: u32) -> bool {
        let (view, work) = (&code.view, self.work);
        let Some(inside) = angle(view, name) else { return false };
        if matches!(view.text(name), b"is_same" | b"is_same_v") {
            return true;
        }
        let position = view.split_at_commas(inside).iter().position(|piece| piece.contains(&at));
        let word = std::str::from_utf8(view.text(name)).unwrap_or_default();
        let visible = work.tree.visible(code.file, word);
        let functions: Vec<ItemId> = visible.into_iter().filter(|id| work.tree.item(*id).is_definition()).collect();
        !functions.is_empty()
            && functions.into_iter().all(|function| {
                let called = work.code(function);
                let Some(template) = position.and_then(|position| called.templates.get(position)) else { return false };
                let name = template.name.clone();
                self.kernel != function && self.uses_follow(&called, &name, called.body.clone(), hands)
            })
    }
}

/// The brackets of a launch: `kernel("<<<", grid, block)(arguments)`.
fn is_of_launch(view: &View, open: usize) -> bool {
    let before = open.wrapping_sub(1);
    view.is(open + 1, b"\"<<<\"") || view.byte(before, b')') && view.is(view.opener(before) + 1, b"\"<<<\"")
}

fn position(view: &View, open: usize, at: usize) -> Option<usize> {
    view.split_at_commas(view.inside(open)).iter().position(|argument| argument.contains(&at))
}

fn is_constant(view: &View, declared: usize) -> bool {
    (statement_start(view, declared)..declared).any(|at| matches!(view.text(at), b"const" | b"constexpr"))
}

/// The local variable that the expression round a token is assigned to, within its brackets.
fn set_at(view: &View, at: usize) -> Option<usize> {
    let start = statement_start(view, at);
    let equals = (start..at)
        .rev()
        .find(|equals| view.byte(*equals, b'=') && view.bracket_round(*equals) == view.bracket_round(at))?;
    let mut name = equals.checked_sub(1)?;
    while view.byte(name, b']') && is_declarator(view, view.opener(name).checked_sub(1)?) {
        name = view.opener(name) - 1;
    }
    if view.byte(name, b')') {
        // `void (*f)(int) = k`, `void (*f[2])(int) = {k, l}`
        let close = view.opener(name).checked_sub(1).filter(|close| view.byte(*close, b')'))?;
        return view.inside(view.opener(close)).find(|at| view.identifier(*at).is_some() && is_declarator(view, *at));
    }
    let is_member =
        matches!(view.text(name.wrapping_sub(1)), b"." | b"->" | b"*" | b"::") && !is_declarator(view, name);
    view.identifier(name).filter(|_| !is_member)?;
    Some(name)
}

/// `return k;`, `object.kernel = k;`
fn is_given_away(view: &View, at: usize) -> bool {
    let start = statement_start(view, at);
    (start..at).any(|at| view.is(at, b"return") || view.byte(at, b'='))
}

fn is_returned(view: &View, at: usize) -> bool {
    view.is(statement_start(view, at), b"return")
}

/// The name of the template that a token is an argument of.
fn template_round(view: &View, at: usize) -> Option<usize> {
    let start = statement_start(view, at);
    let mut before = at;
    while before > start {
        before -= 1;
        match view.text(before) {
            b"<" if view.behind_angle(before).is_some_and(|behind| behind > at) => {
                return before.checked_sub(1).filter(|name| view.identifier(*name).is_some());
            }
            b")" | b"]" | b"}" => before = view.opener(before),
            b"(" | b"[" | b"{" | b";" => return None,
            _ => {}
        }
    }
    None
}
