//! The text of one item -> tree-sitter -> the plain trees of `program`.
//!
//! ```text
//! text --repair--> text the grammar can read --tree-sitter--> tree --copy--> flat list --statements, expressions, ..--> program
//!   `----------------------------- names, operators -----------------------------^
//! ```
//!
//! Total: whatever the text, a program comes out, and what may have lost control flow says so (`Function::unreadable`).
//! Where the grammar met an error, the `skeleton` of the tokens decides that. It resolves no names and evaluates nothing.

mod assembly;
mod brackets;
mod broken;
mod calls;
mod classes;
mod declarations;
mod dump;
mod expressions;
mod functions;
mod landmarks;
mod literals;
mod names;
mod reader;
mod repair;
mod requires;
mod skeleton;
mod statements;
#[cfg(test)]
mod tests;
mod tree;
mod types;

pub use dump::dump;
pub use reader::MAX_DEPTH;

use crate::program::{Class, Expr, Function, Name, Stmt, StmtKind, TemplateArg};
use crate::source::lexer::{Token, lex};
use crate::text::Span;
use brackets::{Brackets, word};
use broken::Breaks;
use functions::Head;
use reader::Reader;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};
use tree::{Field, Grammar, Id, Kind, Tree, copy};

/// Longest that the grammar may take for one item, whatever the load of the machine. The slowest function of five public
/// trees takes 40 ms.
const DEADLINE: Duration = Duration::from_secs(10);

/// Most steps for a text of so many bytes, in the parser's hundreds: several times what any function of those trees takes.
/// It comes first where template arguments nest by thousands, and cuts at the same place on every machine.
fn most_steps(bytes: usize) -> usize {
    1_000 + bytes / 10
}

/// A parser for one thread.
pub struct Parser {
    parser: tree_sitter::Parser,
    grammar: Grammar,
    breaks: Option<Breaks>,
}

impl Default for Parser {
    fn default() -> Parser {
        Parser::new()
    }
}

impl Parser {
    pub fn new() -> Parser {
        let language = tree_sitter_cpp::LANGUAGE.into();
        let mut parser = tree_sitter::Parser::new();
        parser.set_language(&language).expect("the grammar's version is one that the parser reads");
        Parser { parser, grammar: Grammar::new(&language), breaks: None }
    }

    /// `None` if the text takes longer than it may.
    fn parse(&mut self, text: &[u8]) -> Option<Tree> {
        let begun = Instant::now();
        let mut steps = 0;
        let mut progress = |_: &tree_sitter::ParseState| {
            steps += 1;
            match steps > most_steps(text.len()) || begun.elapsed() > DEADLINE {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        };
        let options = tree_sitter::ParseOptions::new().progress_callback(&mut progress);
        let mut read = |offset: usize, _| text.get(offset..).unwrap_or_default();
        let Some(tree) = self.parser.parse_with_options(&mut read, None, Some(options)) else {
            self.parser.reset();
            return None;
        };
        let mut copied = copy(&tree, &self.grammar);
        if tree.root_node().has_error() {
            let language = || tree_sitter_cpp::LANGUAGE.into();
            let breaks = self.breaks.get_or_insert_with(|| Breaks::new(&language()));
            copied.broken = breaks.places(&tree, text);
        }
        Some(copied)
    }
}

/// The function that `text` defines, in the form that `source::expand` gives it.
pub fn function(parser: &mut Parser, text: &str) -> Function {
    let tokens = lex(text.as_bytes()).tokens;
    let brackets = Brackets::new(&tokens);
    let mut repaired = repair::repaired(text, &tokens, &brackets);
    let Some(body) = body_brace(text, &tokens, &brackets) else {
        return match tokens.iter().find(|token| token.is_byte(b'{')) {
            None => without_body(parser, text, &repaired),
            Some(open) => unreadable_function(text, &tokens, open.start()),
        };
    };
    repair::empty_body(text, &tokens, &brackets, body, &mut repaired);
    let open = tokens[body].start();
    let Some(tree) = parser.parse(&repaired) else {
        return unreadable_function(text, &tokens, open);
    };
    let mut reader = Reader::new(&tree, text, 0);
    let whole = definition(&tree, |body| tree.node(body).start == open || tree.kind(body) == Kind::TryStatement);
    if let Some((id, list)) = whole {
        let template = template(&mut reader, &list);
        if let Some(mut function) = functions::function(&mut reader, id, template) {
            let doubtful = reader.doubtful || !tree.broken.is_empty();
            function.unreadable = reader
                .too_deep
                .or_else(|| doubtful.then(|| lost_control_flow(&tree, id, &repaired, open, &function.body)).flatten());
            return function;
        }
    }
    beheaded(parser, &mut reader, &repaired, open).unwrap_or_else(|| unreadable_function(text, &tokens, open))
}

/// The class that `text` defines.
pub fn class(parser: &mut Parser, text: &str) -> Class {
    with_tree(parser, text, 0, |reader, root| {
        let defined = reader.tree.within(root).find(|id| {
            matches!(reader.kind(*id), Kind::StructSpecifier | Kind::ClassSpecifier | Kind::UnionSpecifier)
                && reader.child(*id, Field::Body).is_some()
        })?;
        let lists = reader.tree.within(root).take_while(|id| *id != defined);
        let lists: Vec<Id> = lists.filter(|id| reader.kind(*id) == Kind::TemplateParameterList).collect();
        let template = template(reader, &lists);
        Some(classes::class(reader, defined, template))
    })
    .unwrap_or_default()
}

/// The declarations in `text`: values, aliases, enums, `using`.
pub fn declarations(parser: &mut Parser, text: &str) -> Vec<Stmt> {
    with_tree(parser, text, 0, |reader, root| Some(statements::statements(reader, root))).unwrap_or_default()
}

/// `text` as one expression, if it is one.
pub fn expression(parser: &mut Parser, text: &str) -> Option<Expr> {
    const BEFORE: &str = "auto f() { return ";
    let whole = format!("{BEFORE}{text};}}");
    with_tree(parser, &whole, BEFORE.len(), |reader, root| {
        if !reader.tree.broken.is_empty() {
            return None;
        }
        let statement = reader.tree.within(root).find(|id| reader.kind(*id) == Kind::ReturnStatement)?;
        let value = reader.tree.first(statement)?;
        (reader.span(statement).end as usize == text.len() + 1).then(|| expressions::expression(reader, value))
    })
}

/// `text` as template arguments, without the brackets: `float, 256`. Empty if it is none.
pub fn template_args(parser: &mut Parser, text: &str) -> Vec<TemplateArg> {
    const BEFORE: &str = "auto f() { return g<";
    let whole = format!("{BEFORE}{text}>();}}");
    with_tree(parser, &whole, BEFORE.len(), |reader, root| {
        let list = reader.tree.within(root).find(|id| reader.kind(*id) == Kind::TemplateArgumentList)?;
        Some(names::template_arguments(reader, list))
    })
    .unwrap_or_default()
}

fn with_tree<T>(
    parser: &mut Parser,
    text: &str,
    before: usize,
    read: impl FnOnce(&mut Reader, Id) -> Option<T>,
) -> Option<T> {
    let tokens = lex(text.as_bytes()).tokens;
    let repaired = repair::repaired(text, &tokens, &Brackets::new(&tokens));
    let tree = parser.parse(&repaired)?;
    let root = tree.root()?;
    read(&mut Reader::new(&tree, text, before), root)
}

/// The token that opens the body: the brace whose partner is the text's last.
fn body_brace(text: &str, tokens: &[Token], brackets: &Brackets) -> Option<usize> {
    let last = tokens.iter().rposition(|token| word(text, *token) != ";")?;
    brackets.partner(last).filter(|open| tokens[*open].first() == b'{')
}

/// The first function definition with a body as wanted, and the template parameters before it.
fn definition(tree: &Tree, wanted: impl Fn(Id) -> bool) -> Option<(Id, Vec<Id>)> {
    let mut lists = Vec::new();
    for id in tree.within(tree.root()?) {
        match tree.kind(id) {
            Kind::TemplateParameterList => lists.push(id),
            Kind::FunctionDefinition if tree.child(id, Field::Body).is_some_and(&wanted) => return Some((id, lists)),
            Kind::CompoundStatement => return None,
            _ => {}
        }
    }
    None
}

/// The parameters of the innermost `template <..>` that is not itself inside another's list.
fn template(reader: &mut Reader, lists: &[Id]) -> Vec<crate::program::TemplateParam> {
    let mut end = 0;
    let mut all = Vec::new();
    for list in lists {
        if reader.node(*list).start >= end {
            end = reader.node(*list).end;
            all = declarations::template_parameters(reader, *list);
        }
    }
    all
}

/// A function whose head the grammar could not read: the body alone behind a plain head, and of the head what can be told.
fn beheaded(parser: &mut Parser, reader: &mut Reader, repaired: &[u8], open: u32) -> Option<Function> {
    const HEAD: &[u8] = b"void f()";
    let start = (open as usize).checked_sub(HEAD.len())?;
    let mut plain = repaired.to_vec();
    plain[..start].fill(b' ');
    plain[start..open as usize].copy_from_slice(HEAD);
    let tree = parser.parse(&plain)?;
    let (id, _) = definition(&tree, |body| tree.node(body).start == open)?;
    let heads: Vec<Id> = match reader.tree.root() {
        Some(root) => reader.tree.within(root).filter(|id| reader.node(*id).start < open).collect(),
        None => Vec::new(),
    };
    let lists: Vec<Id> = heads.iter().copied().filter(|id| reader.kind(*id) == Kind::TemplateParameterList).collect();
    let template = template(reader, &lists);
    let declarator = heads.into_iter().find(|id| reader.kind(*id) == Kind::FunctionDeclarator);
    let head = match declarator {
        Some(declarator) => functions::head_of_declarator(reader, declarator),
        None => Head::named(Name::from("")),
    };
    let mut inner = reader.beside(&tree);
    let body = statements::body(&mut inner, tree.child(id, Field::Body)?);
    let unreadable = inner.too_deep.or_else(|| lost_control_flow(&tree, id, repaired, open, &body));
    Some(Function { unreadable, ..head.with_body(template, body) })
}

/// A declaration (`;` for a body), or a text that is no function at all.
fn without_body(parser: &mut Parser, text: &str, repaired: &[u8]) -> Function {
    let end = Span::new(text.len(), text.len());
    let none = Stmt { kind: StmtKind::Empty, span: end };
    let tree = parser.parse(repaired).unwrap_or_default();
    let mut reader = Reader::new(&tree, text, 0);
    let all: Vec<Id> = tree.root().map(|root| tree.within(root).collect()).unwrap_or_default();
    let lists: Vec<Id> = all.iter().copied().filter(|id| tree.kind(*id) == Kind::TemplateParameterList).collect();
    let template = template(&mut reader, &lists);
    let declares = |id: &Id| tree.children(*id).any(|child| tree.node(child).field == Field::Declarator);
    let declaration = all.iter().copied().filter(|id| tree.kind(*id) == Kind::Declaration).find(declares);
    let head = match declaration {
        Some(declaration) => functions::head(&mut reader, declaration),
        None => Head::named(Name::from("")),
    };
    head.with_body(template, none)
}

fn unreadable_function(text: &str, tokens: &[Token], open: u32) -> Function {
    let parameters = tokens.windows(2).find(|pair| word(text, pair[1]) == "(").map(|pair| word(text, pair[0]));
    let span = Span { start: open, end: text.len() as u32 };
    let head = Head::named(Name::from(parameters.unwrap_or_default()));
    let body = Stmt { kind: StmtKind::Unreadable, span };
    Function { unreadable: Some(span), ..head.with_body(Vec::new(), body) }
}

/// Where the body's control flow, as its tokens have it, is not what was lowered.
fn lost_control_flow(tree: &Tree, id: Id, repaired: &[u8], open: u32, body: &Stmt) -> Option<Span> {
    let text = std::str::from_utf8(repaired).unwrap_or_default();
    let end = tree.node(id).end as usize;
    let tokens = skeleton::of_tokens(text, open as usize + 1..end.saturating_sub(1).max(open as usize + 1));
    let difference = skeleton::difference(&tokens, &landmarks::of_program(body))?;
    let place = tree.broken.iter().find(|place| place.end > difference.start);
    Some(place.filter(|place| place.start < place.end).copied().unwrap_or(difference))
}
