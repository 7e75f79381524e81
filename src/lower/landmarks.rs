//! The control skeleton of a lowered program; `skeleton` explains the signs.

use crate::lower::names::last_name;
use crate::lower::skeleton::{Sign, is_landmark};
use crate::program::{Class, Condition, Declaration, Expr, ExprKind, Init, Stmt, StmtKind};

/// The skeleton of a body's statements.
pub fn of_program(body: &Stmt) -> Vec<Sign> {
    let mut signs = Vec::new();
    statement(body, &mut signs);
    signs
}

fn statement(it: &Stmt, signs: &mut Vec<Sign>) {
    let sign = |sign: u8| (sign, it.span.start);
    match &it.kind {
        StmtKind::Block(list) => list.iter().for_each(|inner| statement(inner, signs)),
        StmtKind::Declare(all) => all.iter().for_each(|declaration| declared(declaration, signs)),
        StmtKind::Expr(value) => expression(value, signs),
        StmtKind::If { arms, otherwise } => {
            for (index, arm) in arms.iter().enumerate() {
                signs.push((if index == 0 { b'I' } else { b'J' }, arm.span.start));
                optional(&arm.init, signs);
                condition(&arm.condition, signs);
                body(&arm.then, signs);
            }
            if let Some(otherwise) = otherwise {
                signs.push((b'E', otherwise.span.start));
                body(otherwise, signs);
            }
        }
        StmtKind::While { condition: on, body: inner } => {
            signs.push(sign(b'W'));
            condition(on, signs);
            body(inner, signs);
        }
        StmtKind::DoWhile { body: inner, condition } => {
            signs.push(sign(b'D'));
            body(inner, signs);
            expression(condition, signs);
        }
        StmtKind::For { init, condition: on, step, body: inner } => {
            signs.push(sign(b'F'));
            optional(init, signs);
            on.iter().for_each(|on| condition(on, signs));
            step.iter().for_each(|step| expression(step, signs));
            body(inner, signs);
        }
        StmtKind::RangeFor { init, range, body: inner, .. } => {
            signs.push(sign(b'F'));
            optional(init, signs);
            expression(range, signs);
            body(inner, signs);
        }
        StmtKind::Switch { init, condition: on, body: inner } => {
            signs.push(sign(b'S'));
            optional(init, signs);
            condition(on, signs);
            body(inner, signs);
        }
        // The values of one range stand at one place.
        StmtKind::Case(_) if signs.last() == Some(&sign(b'C')) => {}
        StmtKind::Case(_) => signs.push(sign(b'C')),
        StmtKind::Label(_) => signs.push(sign(b'L')),
        StmtKind::Goto(_) => signs.push(sign(b'G')),
        StmtKind::Break => signs.push(sign(b'B')),
        StmtKind::Continue => signs.push(sign(b'K')),
        StmtKind::Return(value) => {
            signs.push(sign(b'R'));
            value.iter().for_each(|value| expression(value, signs));
        }
        StmtKind::Asm(_) => signs.push(sign(b'A')),
        StmtKind::Try { body: inner, handlers } => {
            signs.push(sign(b'T'));
            body(inner, signs);
            for handler in handlers {
                signs.push((b'H', handler.span.start));
                body(handler, signs);
            }
        }
        StmtKind::LocalClass(class) => methods(class, signs),
        StmtKind::Unreadable => signs.push(sign(b'?')),
        StmtKind::Alias(..)
        | StmtKind::UsingNamespace(_)
        | StmtKind::UsingName(_)
        | StmtKind::NamespaceAlias(..)
        | StmtKind::Enum(_)
        | StmtKind::StaticAssert(_)
        | StmtKind::Empty => {}
    }
}

fn methods(class: &Class, signs: &mut Vec<Sign>) {
    for method in &class.methods {
        signs.push((b'M', method.body.span.start));
        body(&method.body, signs);
    }
}

fn body(it: &Stmt, signs: &mut Vec<Sign>) {
    signs.push((b'[', it.span.start));
    statement(it, signs);
    signs.push((b']', it.span.end));
}

fn optional(it: &Option<Box<Stmt>>, signs: &mut Vec<Sign>) {
    it.iter().for_each(|inner| statement(inner, signs));
}

fn condition(it: &Condition, signs: &mut Vec<Sign>) {
    match it {
        Condition::Expr(value) => expression(value, signs),
        Condition::Declare(declaration) => declared(declaration, signs),
    }
}

fn declared(it: &Declaration, signs: &mut Vec<Sign>) {
    match &it.init {
        Init::None => {}
        Init::Expr(value) => expression(value, signs),
        Init::Arguments { args, .. } => args.iter().for_each(|arg| expression(arg, signs)),
    }
}

fn expression(it: &Expr, signs: &mut Vec<Sign>) {
    match &it.kind {
        ExprKind::Call { callee, args } => {
            expression(callee, signs);
            if let ExprKind::Name(path) | ExprKind::Member { member: path, .. } = &callee.kind
                && path.segments.last().is_some_and(|last| last.args.is_none())
                && is_landmark(&last_name(path))
            {
                signs.push((b'!', it.span.start));
            }
            args.iter().for_each(|arg| expression(arg, signs));
        }
        ExprKind::Launch { callee, config, args } => {
            expression(callee, signs);
            config.iter().chain(args).for_each(|arg| expression(arg, signs));
        }
        ExprKind::Lambda(lambda) => {
            signs.push((b'^', lambda.span.start));
            body(&lambda.function.body, signs);
        }
        ExprKind::Statements(list) => {
            signs.push((b'X', it.span.start));
            signs.push((b'[', it.span.start));
            list.iter().for_each(|inner| statement(inner, signs));
            signs.push((b']', it.span.end));
        }
        ExprKind::Asm(_) => signs.push((b'A', it.span.start)),
        ExprKind::Unary(_, value)
        | ExprKind::Increment { target: value, .. }
        | ExprKind::Member { object: value, .. }
        | ExprKind::Cast(_, value)
        | ExprKind::Expansion(value)
        | ExprKind::Fold(_, value) => expression(value, signs),
        ExprKind::Binary(_, left, right)
        | ExprKind::Assign(_, left, right)
        | ExprKind::Comma(left, right)
        | ExprKind::Index(left, right) => {
            expression(left, signs);
            expression(right, signs);
        }
        ExprKind::Conditional(on, yes, no) => {
            expression(on, signs);
            expression(yes, signs);
            expression(no, signs);
        }
        ExprKind::Construct(_, args) => args.iter().for_each(|arg| expression(arg, signs)),
        ExprKind::InitList(all) => all.iter().for_each(|(_, value)| expression(value, signs)),
        ExprKind::Int { .. }
        | ExprKind::Float { .. }
        | ExprKind::Str(_)
        | ExprKind::Null
        | ExprKind::This
        | ExprKind::Name(_)
        | ExprKind::PackSize(_)
        | ExprKind::Unevaluated(_)
        | ExprKind::Requires(_)
        | ExprKind::Unreadable => {}
    }
}
