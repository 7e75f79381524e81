//! A kernel as the generator builds it and the laws change it: statements one a line, barriers and the calls that lead
//! to them numbered, so that a finding can be traced through a change. `render` makes CUDA of it.

use std::collections::BTreeMap;
use std::fmt::Write;

#[derive(Clone, Debug)]
pub enum S {
    Line(String),
    /// A line with a barrier, or with a call that leads to one.
    Mark(u32, String),
    If(String, Vec<S>, Vec<S>),
    For {
        init: String,
        condition: String,
        step: String,
        body: Vec<S>,
    },
    While(String, Vec<S>),
    DoWhile(Vec<S>, String),
    Switch(String, Vec<(String, Vec<S>)>),
    Lambda(String, Vec<S>),
    Block(Vec<S>),
}

#[derive(Clone, Debug)]
pub struct Function {
    /// Up to the opening brace.
    pub head: String,
    pub body: Vec<S>,
}

#[derive(Clone, Debug)]
pub struct Kernel {
    pub seed: u64,
    pub functions: Vec<Function>,
    pub kernel: Function,
    /// Threads of the block, where a launch in view tells.
    pub launch: Option<u32>,
    pub name: String,
}

/// What every generated file begins with.
pub const PRELUDE: &str = "\
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
struct Pair { int a; int b; };
__constant__ int table[64];
";

/// CUDA text, and by line (from 1) the number of what stands there.
pub struct Text {
    pub text: String,
    pub marks: BTreeMap<u32, u32>,
}

pub fn render(kernel: &Kernel) -> Text {
    render_behind(PRELUDE, &kernel.functions, Some(kernel))
}

/// The functions, and the kernel with its launch, behind a text.
pub fn render_behind(before: &str, functions: &[Function], kernel: Option<&Kernel>) -> Text {
    let mut out = Writer { text: String::from(before), lines: before.lines().count() as u32, marks: BTreeMap::new() };
    for function in functions.iter().chain(kernel.map(|kernel| &kernel.kernel)) {
        out.function(function);
    }
    let Some(kernel) = kernel else { return Text { text: out.text, marks: out.marks } };
    if let Some(threads) = kernel.launch {
        out.line(0, "void launch(int n, int m, int *p, const int *q) {");
        out.line(1, &format!("{}<<<2, {threads}>>>(n, m, p, q);", kernel.name));
        out.line(0, "}");
    }
    Text { text: out.text, marks: out.marks }
}

struct Writer {
    text: String,
    lines: u32,
    marks: BTreeMap<u32, u32>,
}

impl Writer {
    fn line(&mut self, depth: usize, text: &str) {
        let _ = writeln!(self.text, "{:width$}{text}", "", width = depth * 4);
        self.lines += 1;
    }

    fn function(&mut self, function: &Function) {
        self.line(0, &format!("{} {{", function.head));
        self.body(1, &function.body);
        self.line(0, "}");
    }

    fn body(&mut self, depth: usize, body: &[S]) {
        for statement in body {
            self.statement(depth, statement);
        }
    }

    fn statement(&mut self, depth: usize, statement: &S) {
        match statement {
            S::Line(text) => self.line(depth, text),
            S::Mark(number, text) => {
                self.line(depth, &format!("{text} // {number}"));
                self.marks.insert(self.lines, *number);
            }
            S::If(condition, yes, no) => {
                self.line(depth, &format!("if ({condition}) {{"));
                self.body(depth + 1, yes);
                if !no.is_empty() {
                    self.line(depth, "} else {");
                    self.body(depth + 1, no);
                }
                self.line(depth, "}");
            }
            S::For { init, condition, step, body } => {
                self.line(depth, &format!("for ({init}; {condition}; {step}) {{"));
                self.body(depth + 1, body);
                self.line(depth, "}");
            }
            S::While(condition, body) => {
                self.line(depth, &format!("while ({condition}) {{"));
                self.body(depth + 1, body);
                self.line(depth, "}");
            }
            S::DoWhile(body, condition) => {
                self.line(depth, "do {");
                self.body(depth + 1, body);
                self.line(depth, &format!("}} while ({condition});"));
            }
            S::Switch(on, cases) => {
                self.line(depth, &format!("switch ({on}) {{"));
                for (label, body) in cases {
                    self.line(depth, &format!("{label}: {{"));
                    self.body(depth + 1, body);
                    self.line(depth, "}");
                }
                self.line(depth, "}");
            }
            S::Lambda(head, body) => {
                self.line(depth, &format!("{head} {{"));
                self.body(depth + 1, body);
                self.line(depth, "};");
            }
            S::Block(body) => {
                self.line(depth, "{");
                self.body(depth + 1, body);
                self.line(depth, "}");
            }
        }
    }
}

impl Kernel {
    /// All texts that stand in it, to be changed.
    pub fn texts(&mut self, change: &mut dyn FnMut(&mut String)) {
        for function in self.functions.iter_mut().chain([&mut self.kernel]) {
            change(&mut function.head);
            texts(&mut function.body, change);
        }
        change(&mut self.name);
    }

    /// All statement lists, innermost first.
    pub fn lists(&mut self, change: &mut dyn FnMut(&mut Vec<S>)) {
        for function in self.functions.iter_mut().chain([&mut self.kernel]) {
            lists(&mut function.body, change);
        }
    }
}

fn texts(body: &mut [S], change: &mut dyn FnMut(&mut String)) {
    for statement in body {
        match statement {
            S::Line(text) | S::Mark(_, text) => change(text),
            S::If(condition, ..) | S::While(condition, _) | S::DoWhile(_, condition) => change(condition),
            S::For { init, condition, step, .. } => [init, condition, step].into_iter().for_each(&mut *change),
            S::Switch(on, _) => change(on),
            S::Lambda(head, _) => change(head),
            S::Block(_) => {}
        }
        for list in inner(statement) {
            texts(list, change);
        }
    }
}

fn lists(body: &mut Vec<S>, change: &mut dyn FnMut(&mut Vec<S>)) {
    for statement in body.iter_mut() {
        for list in inner(statement) {
            lists(list, change);
        }
    }
    change(body);
}

/// The statement lists right inside a statement.
pub fn inner(statement: &mut S) -> Vec<&mut Vec<S>> {
    match statement {
        S::Line(_) | S::Mark(..) => Vec::new(),
        S::If(_, yes, no) => vec![yes, no],
        S::For { body, .. } | S::While(_, body) | S::DoWhile(body, _) | S::Lambda(_, body) | S::Block(body) => {
            vec![body]
        }
        S::Switch(_, cases) => cases.iter_mut().map(|(_, body)| body).collect(),
    }
}

/// The words of a text, each replaced by what `change` makes of it.
pub fn rename(text: &str, change: &dyn Fn(&str) -> Option<String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let length = if is_word(first) { rest.find(|c| !is_word(c)).unwrap_or(rest.len()) } else { first.len_utf8() };
        let (word, after) = rest.split_at(length);
        match change(word) {
            Some(other) if is_word(first) => out.push_str(&other),
            _ => out.push_str(word),
        }
        rest = after;
    }
    out
}
