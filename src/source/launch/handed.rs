//! Arguments that what is called may write: through a `T &` or a `T &&`, or through a reference that an object keeps.

use super::code::{Code, Parameter, callee_before, parameters};
use super::declarators::{Initialiser, initialiser, is_declarator, is_statement_word, pointer};
use super::evaluate::is_type_word;
use super::locals::{declaration, declared_type, statement_start};
use super::scope::last_name;
use super::writes::plain_write;
use crate::graph::ItemId;
use crate::source::items::{ItemKind, Role, View};
use crate::source::tree::Tree;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;

/// Functions of libraries that write to what they are given, or hand out what may.
const WRITERS: [&[u8]; 12] = [
    b"swap",
    b"exchange",
    b"tie",
    b"from_chars",
    b"ref",
    b"reference_wrapper",
    b"forward_as_tuple",
    b"invoke",
    b"addressof",
    b"add_option",
    b"add_flag",
    b"get_to",
];

/// Functions of one name that are looked at.
const MAX_OVERLOADS: usize = 8;
/// Functions that hand what they are given on to one another.
const MAX_HANDS: u32 = 3;

/// The first tokens of the arguments of a function's calls that may be written there.
pub(super) fn by_reference(tree: &Tree, code: &Code) -> FxHashSet<usize> {
    let view = &code.view;
    let calls = Calls { tree, code, hands: 0, known: RefCell::default() };
    let mut found = FxHashSet::default();
    for open in code.body.clone().filter(|at| view.byte(*at, b'(') || view.byte(*at, b'{')) {
        let before = open - 1;
        let is_block = view.byte(open, b'{')
            && !view.byte(before, b'>')
            && view.identifier(before).is_none_or(|word| matches!(word, b"else" | b"do" | b"try" | b"mutable"));
        if is_block || view.is(open + 1, b"\"<<<\"") {
            continue;
        }
        let arguments = view.split_at_commas(view.inside(open)).into_iter().enumerate();
        for (position, argument) in arguments.filter(|(_, argument)| is_variable(view, argument.clone())) {
            if calls.may_write(open, position) {
                found.insert(argument.start);
            }
        }
    }
    found
}

/// `n`, `config.block`, `sizes[1]`, `sizes...`
fn is_variable(view: &View, range: Range<usize>) -> bool {
    if view
        .identifier(range.start)
        .is_none_or(|word| is_type_word(word) || matches!(word, b"true" | b"false" | b"this"))
    {
        return false;
    }
    let mut at = range.start + 1;
    while at < range.end {
        at = match view.text(at) {
            b"." | b"->" if view.identifier(at + 1).is_some() => at + 2,
            b"[" => view.behind(at),
            b"..." => at + 1,
            _ => return false,
        };
    }
    at == range.end
}

type Signatures = Rc<Vec<(ItemId, Vec<Parameter>)>>;

/// The calls of one function.
struct Calls<'a> {
    tree: &'a Tree,
    code: &'a Code,
    /// Functions that handed on what is asked about.
    hands: u32,
    known: RefCell<FxHashMap<Vec<u8>, Signatures>>,
}

impl Calls<'_> {
    /// Whether what the bracket at `open` calls may write its argument at a position.
    fn may_write(&self, open: usize, position: usize) -> bool {
        let view = &self.code.view;
        let Some(before) = open.checked_sub(1) else { return false };
        match view.text(before) {
            b")" | b"}" => return self.of_value(open, position),
            b"]" => return !self.code.lambdas.iter().any(|lambda| lambda.params == Some(open)),
            _ => {}
        }
        let Some(name) = callee_before(view, open).map(|callee| callee.name) else { return false };
        let word = view.text(name);
        let is_other = is_statement_word(word)
            || is_type_word(word)
            || word.ends_with(b"_cast")
            || matches!(word, b"catch" | b"constexpr" | b"decltype" | b"static_assert" | b"alignof" | b"defined");
        if is_other || WRITERS.contains(&word) {
            return !is_other;
        }
        if matches!(view.text(name.wrapping_sub(1)), b"." | b"->" | b"::") {
            return self.functions(word, position) || self.keeps(word, position);
        }
        if name == before && is_declarator(view, name) {
            let ty = statement_start(view, name)..name;
            let is_reference = matches!(view.text(before - 1), b"&" | b"&&");
            let is_const = ty.clone().any(|at| view.is(at, b"const"));
            let class = last_name(view, ty).map(|(class, _)| view.text(class));
            return is_reference && !is_const
                || class.is_some_and(|class| WRITERS.contains(&class) || self.keeps(class, position));
        }
        if declaration(self.code, word, name).is_some()
            || self.code.params.iter().any(|param| param.name.as_bytes() == word)
        {
            return self.object(name, position);
        }
        self.functions(word, position) || self.keeps(word, position)
    }

    /// `Widen{}(n)`, `(*widen)(n)`, `[](int &x) { .. }(n)`
    fn of_value(&self, open: usize, position: usize) -> bool {
        let view = &self.code.view;
        if let Some(lambda) = self.code.lambdas.iter().find(|lambda| lambda.end == open) {
            return self.lambda(lambda.params, lambda.end, position);
        }
        let opener = view.opener(open - 1);
        if view.is(opener + 1, b"\"<<<\"") {
            return false;
        }
        if view.byte(opener, b'(') && view.byte(opener + 1, b'*') && view.identifier(opener + 2).is_some() {
            return self.object(opener + 2, position);
        }
        let class = callee_before(view, opener).map(|callee| view.text(callee.name));
        class.is_some_and(|class| self.call_operators(class, position))
    }

    /// A local variable or a parameter that is called: a lambda, a functor, a pointer.
    fn object(&self, name: usize, position: usize) -> bool {
        let (code, view) = (self.code, &self.code.view);
        let word = view.text(name);
        let pointed = |behind: usize| view.inside(behind).any(|at| matches!(view.text(at), b"&" | b"&&"));
        let ty = match declaration(code, word, name) {
            Some(declared) => {
                if let Some(open) = pointer(view, declared) {
                    return pointed(view.behind(open));
                }
                if let Initialiser::Expression(range) = initialiser(view, declared)
                    && let Some(lambda) = code.lambdas.iter().find(|lambda| lambda.start == range.start)
                {
                    return self.lambda(lambda.params, lambda.end, position);
                }
                declared_type(code, declared).map(|(ty, _)| ty)
            }
            None => {
                let param = code.params.iter().find(|param| param.name.as_bytes() == word);
                param.map(|param| param.ty.clone())
            }
        };
        let Some(ty) = ty else { return true };
        if view.byte(ty.end + 1, b')') && view.byte(ty.end + 2, b'(') {
            return pointed(ty.end + 2);
        }
        // `std::function<void(int)>`
        if let Some(open) = ty.clone().find(|at| view.byte(*at, b'(')) {
            return pointed(open);
        }
        match last_name(view, ty) {
            Some((class, _)) if self.is_class(view.text(class)) => self.call_operators(view.text(class), position),
            _ => true,
        }
    }

    fn lambda(&self, params: Option<usize>, end: usize, position: usize) -> bool {
        let view = &self.code.view;
        let Some(open) = params else { return false };
        let params = parameters(view, view.inside(open));
        let Some(param) = taking(&params, position) else { return false };
        let writes = |at: usize| view.identifier(at) == Some(param.name.as_bytes()) && plain_write(view, at).is_some();
        param.is_mutable_reference || param.is_forwarded && (view.behind(open)..end).any(writes)
    }

    fn signatures(&self, word: &[u8]) -> Signatures {
        let mut known = self.known.borrow_mut();
        if let Some(known) = known.get(word) {
            return known.clone();
        }
        let name = std::str::from_utf8(word).unwrap_or_default();
        let functions = self.tree.visible(self.code.file, name).into_iter();
        let found = functions.filter(|id| self.tree.item(*id).function().is_some()).take(MAX_OVERLOADS);
        let found: Signatures = Rc::new(found.map(|id| (id, self.parameters_of(id))).collect());
        known.insert(word.to_vec(), found.clone());
        found
    }

    fn parameters_of(&self, function: ItemId) -> Vec<Parameter> {
        let view = View::owned(self.tree.spelled_params(function));
        parameters(&view, 0..view.len())
    }

    fn functions(&self, word: &[u8], position: usize) -> bool {
        self.signatures(word).iter().any(|(id, params)| self.writes_to(*id, params, position))
    }

    fn writes_to(&self, function: ItemId, params: &[Parameter], position: usize) -> bool {
        let Some(param) = taking(params, position) else { return false };
        param.is_mutable_reference || param.is_forwarded && self.writes_through(function, position)
    }

    /// Whether a function writes what its `T &&` stands for, or hands it on to one that does.
    fn writes_through(&self, function: ItemId, position: usize) -> bool {
        if self.hands >= MAX_HANDS || !self.tree.item(function).is_definition() {
            return false;
        }
        let code = Code::read(self.tree, function);
        let Some(param) = taking(&code.params, position) else { return false };
        let more = position + 1 - code.params.len().min(position + 1);
        let calls = Calls { tree: self.tree, code: &code, hands: self.hands + 1, known: RefCell::default() };
        let view = &code.view;
        code.uses(param.name.as_bytes(), code.body.clone()).iter().any(|at| {
            if plain_write(view, *at).is_some() {
                return true;
            }
            let mut at = *at;
            let mut round = view.bracket_round(at).filter(|open| view.byte(*open, b'('));
            // `g(std::forward<T>(x))`
            while let Some(open) = round
                && let Some(callee) = callee_before(view, open)
                && matches!(view.text(callee.name), b"forward" | b"move")
            {
                at = callee.name;
                round = view.bracket_round(at).filter(|open| view.byte(*open, b'('));
            }
            let Some(open) = round else { return false };
            let arguments = view.split_at_commas(view.inside(open));
            let Some(own) = arguments.iter().position(|argument| argument.contains(&at)) else { return false };
            // What is computed from it is another value.
            let is_whole = |piece: &Range<usize>| (piece.start..=at).all(|at| is_part_of_name(view, at));
            is_whole(&arguments[own]) && calls.may_write(open, own + more)
        })
    }

    fn is_class(&self, word: &[u8]) -> bool {
        !self.classes(word).is_empty()
    }

    fn classes(&self, word: &[u8]) -> Vec<ItemId> {
        let Ok(name) = std::str::from_utf8(word) else { return Vec::new() };
        let is_whole =
            |id: &ItemId| matches!(&self.tree.item(*id).kind, ItemKind::Class(parts) if parts.body.is_some());
        self.tree.visible(self.code.file, name).into_iter().filter(is_whole).take(MAX_OVERLOADS).collect()
    }

    fn call_operators(&self, class: &[u8], position: usize) -> bool {
        self.classes(class).into_iter().flat_map(|class| self.tree.members(class)).any(|id| {
            &*self.tree.item(*id).name == "operator()" && self.writes_to(*id, &self.parameters_of(*id), position)
        })
    }

    /// Whether an object of a class may keep a reference to what it is made of.
    fn keeps(&self, class: &[u8], position: usize) -> bool {
        self.classes(class).into_iter().any(|class| {
            let members = self.tree.members(class);
            let is_constructor =
                |id: &&ItemId| self.tree.item(**id).function().is_some_and(|parts| parts.role == Role::Constructor);
            let mut constructors = members.iter().filter(is_constructor).peekable();
            if constructors.peek().is_none() {
                return self.has_reference(class);
            }
            let mut params = constructors.map(|id| self.parameters_of(*id));
            params.any(|params| {
                taking(&params, position).is_some_and(|param| param.is_mutable_reference || param.is_forwarded)
            })
        })
    }

    /// Whether one of a class's data members is a reference that may be written through.
    fn has_reference(&self, class: ItemId) -> bool {
        let view = View::owned(self.tree.text(class).expanded.text.clone());
        let is_member = |at: usize| {
            matches!(view.text(at), b"&" | b"&&")
                && view.identifier(at + 1).is_some()
                && view.byte(at + 2, b';')
                && view
                    .bracket_round(at)
                    .is_some_and(|open| view.byte(open, b'{') && view.bracket_round(open).is_none())
                && !(statement_start(&view, at)..at).any(|at| view.is(at, b"const"))
        };
        (0..view.len()).any(is_member)
    }
}

/// The parameter that takes the argument at a position; a pack takes all that are left.
fn taking(params: &[Parameter], position: usize) -> Option<&Parameter> {
    params.get(position).or_else(|| params.last().filter(|last| last.is_pack))
}

/// A token of `x`, `std::forward<T>(x)`, `ns::x`.
fn is_part_of_name(view: &View, at: usize) -> bool {
    view.identifier(at).is_some() || matches!(view.text(at), b"::" | b"(" | b"<" | b">" | b"&" | b"&&")
}
