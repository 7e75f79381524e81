//! Every statement and expression of a tree, without recursion. Bodies of lambdas are part of it, unevaluated operands are not.

use crate::program::*;

#[derive(Copy, Clone)]
pub enum Node<'t> {
    Stmt(&'t Stmt),
    Expr(&'t Expr),
    Declaration(&'t Declaration),
    Type(&'t Type),
    Asm(&'t Asm),
}

/// Calls `seen` for each node below and including those in `todo`, outer before inner; it answers whether to look inside.
pub fn visit<'t>(todo: Vec<Node<'t>>, mut seen: impl FnMut(Node<'t>) -> bool) {
    let mut todo = todo;
    while let Some(node) = todo.pop() {
        if !seen(node) {
            continue;
        }
        let from = todo.len();
        match node {
            Node::Stmt(stmt) => statement(stmt, &mut todo),
            Node::Expr(expr) => expression(expr, &mut todo),
            Node::Declaration(declaration) => {
                todo.push(Node::Type(&declaration.ty));
                initialiser(&declaration.init, &mut todo);
            }
            Node::Type(ty) => types(ty, &mut todo),
            Node::Asm(asm) => {
                todo.extend(asm.outputs.iter().chain(&asm.inputs).map(|(_, operand)| Node::Expr(operand)));
            }
        }
        todo[from..].reverse();
    }
}

fn initialiser<'t>(init: &'t Init, todo: &mut Vec<Node<'t>>) {
    match init {
        Init::None => {}
        Init::Expr(value) => todo.push(Node::Expr(value)),
        Init::Arguments { args, .. } => todo.extend(args.iter().map(Node::Expr)),
    }
}

fn condition<'t>(condition: &'t Condition, todo: &mut Vec<Node<'t>>) {
    match condition {
        Condition::Expr(value) => todo.push(Node::Expr(value)),
        Condition::Declare(declaration) => todo.push(Node::Declaration(declaration)),
    }
}

fn statement<'t>(stmt: &'t Stmt, todo: &mut Vec<Node<'t>>) {
    match &stmt.kind {
        StmtKind::Block(list) => todo.extend(list.iter().map(Node::Stmt)),
        StmtKind::Declare(list) => todo.extend(list.iter().map(Node::Declaration)),
        StmtKind::Expr(value) => todo.push(Node::Expr(value)),
        StmtKind::If { arms, otherwise } => {
            for arm in arms {
                todo.extend(arm.init.as_deref().map(Node::Stmt));
                condition(&arm.condition, todo);
                todo.push(Node::Stmt(&arm.then));
            }
            todo.extend(otherwise.as_deref().map(Node::Stmt));
        }
        StmtKind::While { condition: test, body } => {
            condition(test, todo);
            todo.push(Node::Stmt(body));
        }
        StmtKind::DoWhile { body, condition } => {
            todo.push(Node::Stmt(body));
            todo.push(Node::Expr(condition));
        }
        StmtKind::For { init, condition: test, step, body } => {
            todo.extend(init.as_deref().map(Node::Stmt));
            if let Some(test) = test {
                condition(test, todo);
            }
            todo.extend(step.as_ref().map(Node::Expr));
            todo.push(Node::Stmt(body));
        }
        StmtKind::RangeFor { init, variable, range, body } => {
            todo.extend(init.as_deref().map(Node::Stmt));
            todo.push(Node::Expr(range));
            todo.push(Node::Declaration(variable));
            todo.push(Node::Stmt(body));
        }
        StmtKind::Switch { init, condition: test, body } => {
            todo.extend(init.as_deref().map(Node::Stmt));
            condition(test, todo);
            todo.push(Node::Stmt(body));
        }
        StmtKind::Case(value) | StmtKind::Return(value) => todo.extend(value.as_ref().map(Node::Expr)),
        StmtKind::Asm(asm) => todo.push(Node::Asm(asm)),
        StmtKind::Try { body, handlers } => {
            todo.push(Node::Stmt(body));
            todo.extend(handlers.iter().map(Node::Stmt));
        }
        StmtKind::LocalClass(class) => {
            for method in &class.methods {
                todo.push(Node::Stmt(&method.body));
            }
        }
        StmtKind::Alias(_, ty) => todo.push(Node::Type(ty)),
        StmtKind::StaticAssert(condition) => todo.push(Node::Expr(condition)),
        StmtKind::Label(_)
        | StmtKind::Goto(_)
        | StmtKind::Break
        | StmtKind::Continue
        | StmtKind::UsingNamespace(_)
        | StmtKind::UsingName(_)
        | StmtKind::NamespaceAlias(..)
        | StmtKind::Enum(_)
        | StmtKind::Empty
        | StmtKind::Unreadable => {}
    }
}

fn expression<'t>(expr: &'t Expr, todo: &mut Vec<Node<'t>>) {
    match &expr.kind {
        ExprKind::Unary(_, inner) | ExprKind::Expansion(inner) | ExprKind::Fold(_, inner) => {
            todo.push(Node::Expr(inner));
        }
        ExprKind::Binary(_, a, b) | ExprKind::Assign(_, a, b) | ExprKind::Comma(a, b) | ExprKind::Index(a, b) => {
            todo.push(Node::Expr(a));
            todo.push(Node::Expr(b));
        }
        ExprKind::Increment { target, .. } => todo.push(Node::Expr(target)),
        ExprKind::Conditional(a, b, c) => todo.extend([a, b, c].map(|part| Node::Expr(part))),
        ExprKind::Call { callee, args } => {
            todo.push(Node::Expr(callee));
            todo.extend(args.iter().map(Node::Expr));
        }
        ExprKind::Launch { callee, config, args } => {
            todo.push(Node::Expr(callee));
            todo.extend(config.iter().chain(args).map(Node::Expr));
        }
        ExprKind::Member { object, .. } => todo.push(Node::Expr(object)),
        ExprKind::Cast(ty, inner) => {
            todo.push(Node::Type(ty));
            todo.push(Node::Expr(inner));
        }
        ExprKind::Construct(ty, args) => {
            todo.push(Node::Type(ty));
            todo.extend(args.iter().map(Node::Expr));
        }
        ExprKind::InitList(list) => todo.extend(list.iter().map(|(_, value)| Node::Expr(value))),
        ExprKind::Lambda(lambda) => {
            todo.extend(lambda.captures.iter().filter_map(|(_, _, init)| init.as_ref()).map(Node::Expr));
            todo.push(Node::Stmt(&lambda.function.body));
        }
        ExprKind::Statements(list) => todo.extend(list.iter().map(Node::Stmt)),
        ExprKind::Asm(asm) => todo.push(Node::Asm(asm)),
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

fn types<'t>(ty: &'t Type, todo: &mut Vec<Node<'t>>) {
    match &ty.kind {
        TypeKind::Pointer(inner) | TypeKind::Reference(inner) | TypeKind::Array(inner, _) => {
            todo.push(Node::Type(inner))
        }
        _ => {}
    }
}
