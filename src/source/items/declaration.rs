//! One declaration that is no namespace, class body or alias -> a function with its parts, or variables.
//!
//! It goes over the tokens once, from the first behind the template headers to the body or semicolon, and decides by what
//! stands round a name's parentheses. Types are never resolved.

mod ending;
mod operator;
mod requirement;

use super::attributes::{Attributes, Bounds, BoundsKind, BoundsText, takes_arguments};
use super::view::View;
use super::{ParamCount, Role};
use crate::source::lexer::TokenKind;
use std::ops::Range;

/// A name as written: `a::b<T>::c`.
#[derive(Clone, Debug, Default)]
pub(super) struct Path {
    pub segments: Vec<Segment>,
}

#[derive(Clone, Debug)]
pub(super) struct Segment {
    pub at: usize,
    /// Template arguments, without brackets.
    pub arguments: Option<Range<usize>>,
}

#[derive(Debug)]
pub(super) struct Function {
    pub name: String,
    pub name_at: usize,
    pub path: Path,
    pub role: Role,
    pub declarator: Range<usize>,
    pub result: Range<usize>,
    pub trailing: Option<Range<usize>>,
    pub params: Range<usize>,
    pub count: ParamCount,
    pub initialisers: Option<Range<usize>>,
    pub body: Option<Range<usize>>,
    pub macro_name: bool,
    /// What follows each `requires`.
    pub requirements: Vec<Range<usize>>,
}

#[derive(Debug)]
pub(super) enum Read {
    Function(Box<Function>),
    /// Names of the variables declared, each at its token.
    Variables(Vec<usize>),
    /// Tokens that open a scope nobody declared: `UNKNOWN_NAMESPACE_MACRO {`.
    Scope(usize),
    /// A macro here brings parameters, a body or the end: only what it stands for can be read.
    Hidden(usize),
    Nothing,
}

/// What was read, what its words said, and the first token behind it.
#[derive(Debug)]
pub(super) struct Declaration {
    pub read: Read,
    pub attributes: Attributes,
    pub next: usize,
    /// Some name in it is a macro that may have shaped it.
    pub macros: Vec<usize>,
}

/// What a name at a position is to the preprocessor.
#[derive(Copy, Clone, Debug, Default)]
pub(super) struct MacroUse {
    pub is_macro: bool,
    pub kernel: bool,
    pub device: bool,
    pub host: bool,
    /// Braces or semicolons.
    pub braces: bool,
    /// Parentheses that are no attribute's or macro's arguments.
    pub parentheses: bool,
    /// Takes arguments.
    pub function_like: bool,
    /// Defined by no file of the run but known from elsewhere; a function of that name counts for more.
    pub well_known: bool,
    /// Some word outside parentheses that is no attribute: a type, a name, a parameter.
    pub names: bool,
}

struct Candidate {
    path: Path,
    name: Option<String>,
    role: Role,
    start: usize,
    params: usize,
    had_type: bool,
    is_macro: bool,
    result_start: usize,
}

/// Reads the declaration that starts at `start`, behind its template headers.
pub(super) fn read(view: &View, start: usize, macro_use: &dyn Fn(usize) -> MacroUse) -> Declaration {
    let mut reader = Reader {
        view,
        macro_use,
        at: start,
        out: Declaration::empty(start),
        candidates: Vec::new(),
        behind_name: start,
        requirements: Vec::new(),
    };
    reader.head();
    reader.out
}

impl Declaration {
    fn empty(start: usize) -> Declaration {
        Declaration { read: Read::Nothing, attributes: Attributes::default(), next: start, macros: Vec::new() }
    }
}

struct Reader<'a, 'v> {
    view: &'a View<'v>,
    macro_use: &'a dyn Fn(usize) -> MacroUse,
    at: usize,
    out: Declaration,
    candidates: Vec<Candidate>,
    /// Behind the last name, its template arguments, and macros behind it that are attributes.
    behind_name: usize,
    requirements: Vec<Range<usize>>,
}

impl Reader<'_, '_> {
    fn head(&mut self) {
        let view = self.view;
        let start = self.at;
        let mut path = Path::default();
        let mut has_type = false;
        let mut result_start = start;
        while let Some(token) = view.token(self.at) {
            match token.kind() {
                TokenKind::Identifier => {
                    let word = view.text(self.at);
                    if let Some(end) = self.attribute(word) {
                        self.at = end;
                        if !self.typed() && !has_type {
                            result_start = end;
                            path.segments.clear();
                        }
                        continue;
                    }
                    let something_before = !path.segments.is_empty() || !self.candidates.is_empty();
                    let anew = match word {
                        b"namespace" | b"template" | b"using" | b"typedef" | b"public" | b"private" | b"protected" => {
                            self.at > start && !view.is(self.at - 1, b"::")
                        }
                        b"class" | b"struct" | b"union" | b"enum" => something_before && !view.is(self.at - 1, b"::"),
                        _ => false,
                    };
                    if anew {
                        // A macro invocation stood before it, or an attribute nobody knows.
                        self.out.next = self.at;
                        return;
                    }
                    match word {
                        b"operator" if !view.is(self.at + 1, b"::") => {
                            self.operator(std::mem::take(&mut path), has_type, result_start, start);
                            continue;
                        }
                        b"const" | b"volatile" | b"typename" | b"template" | b"struct" | b"class" | b"union"
                        | b"enum" | b"override" | b"final" | b"try" => {
                            self.out.attributes.is_const |= word == b"const" && !self.typed();
                            self.at += 1;
                            continue;
                        }
                        b"decltype" | b"typeof" | b"__typeof__" => {
                            has_type |= !self.typed();
                            self.at = self.behind_arguments(self.at + 1);
                            continue;
                        }
                        b"requires" => {
                            self.requirement();
                            if !self.typed() && !has_type {
                                result_start = self.at;
                                path.segments.clear();
                            }
                            continue;
                        }
                        b"extern" if view.kind(self.at + 1) == Some(TokenKind::String) => {
                            self.at += 2;
                            result_start = self.at;
                            continue;
                        }
                        _ => {}
                    }
                    let use_of = (self.macro_use)(self.at);
                    if use_of.is_macro {
                        self.out.macros.push(self.at);
                        self.out.attributes.kernel |= use_of.kernel;
                        self.out.attributes.device |= use_of.device;
                        self.out.attributes.host |= use_of.host;
                        let has_arguments = use_of.function_like && view.byte(self.at + 1, b'(');
                        if self.is_hidden_behind(&use_of, has_arguments) {
                            return self.hidden();
                        }
                        let marks = use_of.kernel || use_of.device || use_of.host;
                        if !use_of.names && !use_of.braces || marks && !has_arguments {
                            let end = if has_arguments { self.behind_arguments(self.at + 1) } else { self.at + 1 };
                            if self.behind_name == self.at {
                                self.behind_name = end;
                            }
                            self.at = end;
                            if !self.typed() && !has_type {
                                result_start = self.at;
                                path.segments.clear();
                            }
                            has_type |= use_of.names && !self.typed();
                            continue;
                        }
                    }
                    // `Tile::~Tile` is one name.
                    let before = if self.at > start && view.is(self.at - 1, b"~") { self.at - 1 } else { self.at };
                    let continues = before > start && view.is(before - 1, b"::") && !path.segments.is_empty();
                    if !continues {
                        has_type |= !path.segments.is_empty() && !self.typed();
                        path.segments.clear();
                    }
                    path.segments.push(Segment { at: self.at, arguments: None });
                    self.at += 1;
                    self.behind_name = self.at;
                }
                TokenKind::Punctuator | TokenKind::LaunchOpen | TokenKind::LaunchClose => match view.text(self.at) {
                    b"::" => self.at += 1,
                    b"<" if self.at > start && view.identifier(self.at - 1).is_some() => {
                        match view.behind_angle(self.at) {
                            Some(end) => {
                                if let Some(last) = path.segments.last_mut() {
                                    last.arguments = Some(self.at + 1..end - 1);
                                }
                                self.at = end;
                                self.behind_name = end;
                            }
                            None => self.at += 1,
                        }
                    }
                    b"~" => self.at += 1,
                    b"(" => {
                        let named = self.named_by(&path, start);
                        if named {
                            let use_of = (self.macro_use)(path.segments.first().map_or(start, |first| first.at));
                            let is_macro = path.segments.len() == 1 && use_of.is_macro && !use_of.well_known;
                            self.candidate(std::mem::take(&mut path), has_type, result_start, is_macro);
                        } else if self.at > start
                            && view.byte(self.at - 1, b')')
                            && let Some(last) = self.candidates.last_mut()
                            && view.behind(last.params) == self.at
                        {
                            // `NAME(foo)(int x)`: a macro makes the name.
                            last.is_macro = true;
                            last.params = self.at;
                            self.at = view.behind(self.at);
                        } else if !self.typed() && (has_type || !path.segments.is_empty()) && self.candidates.is_empty()
                        {
                            return self.parenthesised_declarator();
                        } else {
                            self.at = view.behind(self.at).max(self.at + 1);
                        }
                    }
                    b"[" => {
                        if !self.typed() && !view.is(self.at + 1, b"[") && !path.segments.is_empty() && has_type {
                            return self.variables(path);
                        }
                        let attribute = view.is(self.at + 1, b"[");
                        self.at = view.behind(self.at).max(self.at + 1);
                        if attribute && !self.typed() && !has_type && path.segments.is_empty() {
                            result_start = self.at;
                        }
                    }
                    b"{" => return self.brace(path, has_type),
                    b"}" => {
                        self.out.next = self.at.max(start);
                        return;
                    }
                    b";" => return self.semicolon(path, has_type),
                    b"=" => return self.equals(path, has_type),
                    b"," if !self.typed() => return self.variables(path),
                    b":" => {
                        if self.candidates.is_empty() && !has_type {
                            // An access specifier out of a macro.
                            self.out.next = self.at + 1;
                            return;
                        }
                        if self.candidates.is_empty() || self.declares_variable(&path, has_type) {
                            return self.variables(path);
                        }
                        return self.initialisers();
                    }
                    b"->" if !self.candidates.is_empty() => return self.trailing_result(),
                    b"*" | b"&" | b"&&" | b"..." => {
                        has_type |= !path.segments.is_empty() && !self.typed();
                        path.segments.clear();
                        self.at += 1;
                    }
                    _ => self.at += 1,
                },
                _ => self.at += 1,
            }
        }
        self.out.next = view.len();
    }

    /// Whether a macro here shapes the declaration beyond its words.
    fn is_hidden_behind(&self, use_of: &MacroUse, has_arguments: bool) -> bool {
        let view = self.view;
        if use_of.function_like && !has_arguments {
            return false;
        }
        if view.cut_at(self.at).is_some() {
            return true;
        }
        // `TEST_CASE("..") {`: what counts is the body that follows.
        let has_body = has_arguments && view.byte(view.behind(self.at + 1), b'{');
        let has_braces = || use_of.braces || has_arguments && view.inside(self.at + 1).any(|at| view.byte(at, b'{'));
        !has_body && has_braces() || use_of.parentheses && !(has_arguments && use_of.names)
    }

    fn hidden(&mut self) {
        self.out.read = Read::Hidden(self.at);
        self.out.next = self.at;
    }

    /// Whether parentheses after a name were met that some type stands before: those of a function.
    fn typed(&self) -> bool {
        self.candidates.iter().any(|candidate| candidate.had_type)
    }

    /// `MACRO(x) int y`: the parentheses met so far were a macro's.
    fn declares_variable(&self, path: &Path, has_type: bool) -> bool {
        has_type && !path.segments.is_empty() && !self.typed()
    }

    /// Takes up an attribute word with its arguments; where it ends.
    fn attribute(&mut self, word: &[u8]) -> Option<usize> {
        let view = self.view;
        let open = self.at + 1;
        if takes_arguments(word) && word != b"requires" {
            if let Some(what) = BoundsKind::of(word)
                && view.byte(open, b'(')
            {
                let arguments = BoundsText::Tokens(view.range(view.inside(open)));
                self.out.attributes.bounds.push(Bounds { what, arguments });
            }
            if word == b"__declspec" && view.byte(open, b'(') {
                // How the expander writes `__constant__` and its kin.
                self.out.attributes.word(view.text(open + 1));
            }
            return Some(self.behind_arguments(open));
        }
        if word == b"extern" && view.kind(open) == Some(TokenKind::String) {
            return None;
        }
        self.out.attributes.word(word).then_some(self.at + 1)
    }

    /// Behind the parentheses at `open`, if there are any.
    fn behind_arguments(&self, open: usize) -> usize {
        if self.view.byte(open, b'(') { self.view.behind(open).max(open + 1) } else { open }
    }

    /// Whether the `(` here belongs to the name in `path`.
    fn named_by(&self, path: &Path, start: usize) -> bool {
        !path.segments.is_empty() && self.at > start && self.behind_name == self.at
    }

    fn candidate(&mut self, path: Path, had_type: bool, result_start: usize, is_macro: bool) {
        let view = self.view;
        let first = path.segments.first().map_or(self.at, |segment| segment.at);
        let mut start = first;
        while start > 0 && (view.is(start - 1, b"::") || view.is(start - 1, b"~")) {
            start -= 1;
        }
        let last = path.segments.last().map_or(first, |segment| segment.at);
        let destructor = last > 0 && view.is(last - 1, b"~");
        let name = String::from_utf8_lossy(view.text(last));
        let role = match destructor {
            true => Role::Destructor,
            false
                if path.segments.len() > 1
                    && view.text(path.segments[path.segments.len() - 2].at) == view.text(last) =>
            {
                Role::Constructor
            }
            false => Role::Plain,
        };
        let name = if destructor { format!("~{name}") } else { name.into_owned() };
        self.candidates.push(Candidate {
            path,
            name: Some(name),
            role,
            start,
            params: self.at,
            had_type,
            is_macro,
            result_start,
        });
        self.at = view.behind(self.at).max(self.at + 1);
    }
}
