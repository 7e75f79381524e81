//! The control flow of each function that bears on a barrier, as a line of letters that another reader can make, too.
//!
//! `I` if, `E` else, `L` loop, `S` switch, `c` case, `d` default, `b` break, `k` continue, `r` return, `g` goto, `l` label,
//! `T` try, `C` catch, `X` lambda, `B` barrier; what a statement holds stands in braces behind it.

use synclint::program::{Condition, Declaration, Expr, ExprKind, Init, Stmt, StmtKind};

/// Barriers by the names that a reader of tokens looks for.
const BARRIERS: [&str; 6] =
    ["__syncthreads", "__syncwarp", "__syncthreads_count", "__syncthreads_and", "__syncthreads_or", "sync"];

#[derive(Default)]
pub struct Skeleton {
    pub text: String,
}

impl Skeleton {
    fn inside(&mut self, letter: char, fill: impl FnOnce(&mut Skeleton)) {
        self.text.push(letter);
        self.text.push('{');
        fill(self);
        self.text.push('}');
    }

    pub fn statement(&mut self, statement: &Stmt) {
        match &statement.kind {
            StmtKind::Block(list) => list.iter().for_each(|each| self.statement(each)),
            StmtKind::Declare(list) => list.iter().for_each(|each| self.declaration(each)),
            StmtKind::Expr(expr) => self.expression(expr),
            StmtKind::If { arms, otherwise } => {
                let mut open = 0;
                for (index, arm) in arms.iter().enumerate() {
                    if index > 0 {
                        self.text.push_str("E{");
                        open += 1;
                    }
                    arm.init.iter().for_each(|init| self.statement(init));
                    self.condition(&arm.condition);
                    self.inside('I', |inner| inner.statement(&arm.then));
                }
                if let Some(otherwise) = otherwise {
                    self.inside('E', |inner| inner.statement(otherwise));
                }
                (0..open).for_each(|_| self.text.push('}'));
            }
            StmtKind::While { condition, body } => {
                self.condition(condition);
                self.inside('L', |inner| inner.statement(body));
            }
            StmtKind::DoWhile { body, condition } => {
                self.inside('L', |inner| inner.statement(body));
                self.expression(condition);
            }
            StmtKind::For { init, condition, step, body } => {
                init.iter().for_each(|init| self.statement(init));
                condition.iter().for_each(|condition| self.condition(condition));
                step.iter().for_each(|step| self.expression(step));
                self.inside('L', |inner| inner.statement(body));
            }
            StmtKind::RangeFor { init, range, body, .. } => {
                init.iter().for_each(|init| self.statement(init));
                self.expression(range);
                self.inside('L', |inner| inner.statement(body));
            }
            StmtKind::Switch { init, condition, body } => {
                init.iter().for_each(|init| self.statement(init));
                self.condition(condition);
                self.inside('S', |inner| inner.statement(body));
            }
            StmtKind::Case(Some(_)) => self.text.push('c'),
            StmtKind::Case(None) => self.text.push('d'),
            StmtKind::Label(_) => self.text.push('l'),
            StmtKind::Goto(_) => self.text.push('g'),
            StmtKind::Break => self.text.push('b'),
            StmtKind::Continue => self.text.push('k'),
            StmtKind::Return(value) => {
                value.iter().for_each(|value| self.expression(value));
                self.text.push('r');
            }
            StmtKind::Try { body, handlers } => {
                self.inside('T', |inner| inner.statement(body));
                handlers.iter().for_each(|handler| self.inside('C', |inner| inner.statement(handler)));
            }
            StmtKind::Unreadable => self.text.push('?'),
            _ => {}
        }
    }

    fn condition(&mut self, condition: &Condition) {
        match condition {
            Condition::Expr(expr) => self.expression(expr),
            Condition::Declare(declaration) => self.declaration(declaration),
        }
    }

    fn declaration(&mut self, declaration: &Declaration) {
        match &declaration.init {
            Init::None => {}
            Init::Expr(expr) => self.expression(expr),
            Init::Arguments { args, .. } => args.iter().for_each(|arg| self.expression(arg)),
        }
    }

    fn expression(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Call { callee, args } => {
                let name = match &callee.kind {
                    ExprKind::Name(path) | ExprKind::Member { member: path, .. } => path.segments.last(),
                    _ => None,
                };
                self.expression(callee);
                if name.is_some_and(|name| BARRIERS.contains(&&*name.name)) {
                    self.text.push('B');
                }
                args.iter().for_each(|arg| self.expression(arg));
            }
            ExprKind::Lambda(lambda) => {
                lambda.captures.iter().filter_map(|(_, _, init)| init.as_ref()).for_each(|init| self.expression(init));
                self.inside('X', |inner| inner.statement(&lambda.function.body));
            }
            ExprKind::Statements(list) => list.iter().for_each(|each| self.statement(each)),
            ExprKind::Unary(_, inner)
            | ExprKind::Increment { target: inner, .. }
            | ExprKind::Member { object: inner, .. }
            | ExprKind::Cast(_, inner)
            | ExprKind::Expansion(inner)
            | ExprKind::Fold(_, inner) => self.expression(inner),
            ExprKind::Binary(_, a, b) | ExprKind::Assign(_, a, b) | ExprKind::Comma(a, b) | ExprKind::Index(a, b) => {
                [a, b].into_iter().for_each(|each| self.expression(each))
            }
            ExprKind::Conditional(a, b, c) => [a, b, c].into_iter().for_each(|each| self.expression(each)),
            ExprKind::Launch { callee, config, args } => {
                self.expression(callee);
                config.iter().chain(args).for_each(|each| self.expression(each));
            }
            ExprKind::Construct(_, args) => args.iter().for_each(|arg| self.expression(arg)),
            ExprKind::InitList(list) => list.iter().for_each(|(_, each)| self.expression(each)),
            ExprKind::Unreadable => self.text.push('?'),
            _ => {}
        }
    }
}
