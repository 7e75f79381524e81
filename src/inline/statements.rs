//! Statements to blocks.

use super::builder::{Builder, SwitchState};
use super::scope::Binding;
use super::types::{Bound, ClassTy, INT, Ty};
use super::values::{Ev, What};
use super::visit::{Node, visit};
use crate::graph::*;
use crate::program::*;
use crate::text::Span;
use std::sync::Arc;

impl Builder<'_> {
    pub fn statements(&mut self, list: &[Stmt]) {
        for stmt in list {
            self.statement(stmt);
        }
    }

    pub fn statement(&mut self, stmt: &Stmt) {
        if !self.descend(stmt.span) {
            return;
        }
        self.statement_kind(stmt);
        self.ascend();
    }

    fn statement_kind(&mut self, stmt: &Stmt) {
        let span = stmt.span;
        match &stmt.kind {
            StmtKind::Block(list) => self.scoped(|builder| builder.statements(list)),
            StmtKind::Declare(list) => {
                let outer = std::mem::replace(&mut self.keeps_temporaries, false);
                for declaration in list {
                    self.declare(declaration);
                }
                self.keeps_temporaries = outer;
            }
            StmtKind::Expr(value) => self.with_temporaries(|builder| _ = builder.eval(value)),
            StmtKind::If { arms, otherwise } => {
                self.scoped(|builder| builder.if_chain(arms, otherwise.as_deref(), span))
            }
            StmtKind::While { condition, body } => self.while_loop(condition, body, span),
            StmtKind::DoWhile { body, condition } => self.do_loop(body, condition, span),
            StmtKind::For { init, condition, step, body } => self.scoped(|builder| {
                if let Some(init) = init {
                    builder.statement(init);
                }
                builder.for_loop(condition.as_ref(), step.as_ref(), body, span);
            }),
            StmtKind::RangeFor { init, variable, range, body } => self.scoped(|builder| {
                if let Some(init) = init {
                    builder.statement(init);
                }
                builder.range_for(variable, range, body, span);
            }),
            StmtKind::Switch { init, condition, body } => self.scoped(|builder| {
                if let Some(init) = init {
                    builder.statement(init);
                }
                builder.switch(condition, body, span);
            }),
            StmtKind::Case(value) => self.case(value.as_ref(), span),
            StmtKind::Label(name) => {
                let block = self.label(name);
                self.fall_into(block, span);
            }
            StmtKind::Goto(name) => {
                let block = self.label(name);
                let base = self.activation().cleanup_base;
                self.run_cleanups(base);
                self.leave(block, Leaving::Goto, span);
            }
            StmtKind::Break => {
                if let Some((block, base)) = self.activation().breaks.last().copied() {
                    self.run_cleanups(base);
                    self.leave(block, Leaving::Break, span);
                }
            }
            StmtKind::Continue => {
                if let Some((block, base)) = self.activation().continues.last().copied() {
                    self.run_cleanups(base);
                    self.leave(block, Leaving::Continue, span);
                }
            }
            StmtKind::Return(value) => self.return_statement(value.as_ref(), span),
            StmtKind::Asm(asm) => self.assembly(asm),
            StmtKind::Try { body, .. } => self.statement(body),
            StmtKind::Alias(name, ty) => {
                let ty = self.resolve(ty);
                if let Ty::Class(class) = &ty {
                    self.assume_of_class(class, 0);
                }
                self.bind(name, Binding::Type(ty));
            }
            StmtKind::UsingNamespace(path) => {
                let scope = self.scope;
                self.scopes[scope.0 as usize].used.push(path.clone());
                self.memo.has_local_using = true;
            }
            StmtKind::UsingName(path) => {
                if let Some(last) = path.segments.last() {
                    let name = last.name.clone();
                    if path.segments.len() > 1 {
                        self.bind(&name, Binding::Path(path.clone()));
                    }
                }
            }
            StmtKind::NamespaceAlias(name, path) => self.bind(name, Binding::Path(path.clone())),
            StmtKind::Enum(list) => self.bind_enumerators(list),
            StmtKind::LocalClass(class) => {
                if let Some(name) = &class.name {
                    let scope = self.scope;
                    self.bind(name, Binding::Class { class: class.clone(), scope });
                }
            }
            StmtKind::StaticAssert(condition) => self.assert_statically(condition),
            StmtKind::Empty => {}
            StmtKind::Unreadable => {
                let at = self.at(span);
                self.incomplete(at, "a statement could not be read".to_string());
            }
        }
    }

    /// The condition holds for whoever goes on; no branch leads away from here.
    pub fn assume(&mut self, condition: &Expr, span: Span) {
        let ev = self.eval(condition);
        let value = self.rvalue(&ev, condition.span);
        self.emit(Op::Assume(value), span);
    }

    fn assert_statically(&mut self, condition: &Expr) {
        // What is not met says that this is not the code that runs, or that it was not understood.
        if self.constant(condition).is_none() {
            self.assume(condition, condition.span);
        }
    }

    /// What the classes among a function's template arguments assert of theirs.
    pub fn assume_of_arguments(&mut self, bounds: &[Bound]) {
        for bound in bounds {
            if let Bound::Type(Ty::Class(class)) = bound {
                self.assume_of_class(&class.clone(), 0);
            }
        }
    }

    /// The same of one class and its bases.
    fn assume_of_class(&mut self, class: &Arc<ClassTy>, depth: u32) {
        const BASES: u32 = 4;
        if !class.class.asserted.is_empty() {
            let scope = self.class_scope(class);
            let tree = class.class.clone();
            self.in_item(class.item, scope, |builder| {
                tree.asserted.iter().for_each(|condition| builder.assert_statically(condition));
            });
        }
        if depth < BASES && !class.class.bases.is_empty() {
            for base in self.bases_of(class) {
                self.assume_of_class(&base, depth + 1);
            }
        }
    }

    /// Runs `work` in a scope of its own and destroys what it declared.
    pub fn scoped(&mut self, work: impl FnOnce(&mut Self)) {
        let outer = self.enter_scope();
        let base = self.cleanups.len();
        work(self);
        self.clean_up(base);
        self.leave_scope(outer);
    }

    fn leave(&mut self, to: BlockId, leaving: Leaving, span: Span) {
        let at = self.at(span);
        self.stop(End::Jump { to, leaving, at });
    }

    fn label(&mut self, name: &Name) -> BlockId {
        if let Some(block) = self.activation().labels.get(name) {
            return *block;
        }
        let block = self.new_block();
        self.activation().labels.insert(name.clone(), block);
        block
    }

    fn if_chain(&mut self, arms: &[IfArm], otherwise: Option<&Stmt>, span: Span) {
        let after = self.new_block();
        for arm in arms {
            if let Some(init) = &arm.init {
                self.statement(init);
            }
            let condition_span = condition_span(&arm.condition);
            if arm.is_constexpr
                && let Condition::Expr(test) = &arm.condition
                && let Some(known) = self.constant(test)
            {
                if known != 0 {
                    self.arm(&arm.then);
                    self.fall_into(after, span);
                    return;
                }
                continue;
            }
            let (then, next) = (self.new_block(), self.new_block());
            let at = self.at(condition_span);
            let known = self.test(&arm.condition, then, next, Fork::If, at);
            // An arm that cannot be reached is left out, unless something may jump into it.
            if known != Some(false) || holds_labels(&arm.then) {
                self.go_on(then);
                self.arm(&arm.then);
                self.jump(after, Leaving::Fall, span);
            }
            self.go_on(next);
            if known == Some(true) && otherwise.is_none_or(|stmt| !holds_labels(stmt)) {
                self.fall_into(after, span);
                return;
            }
        }
        if let Some(stmt) = otherwise {
            self.arm(stmt);
        }
        self.fall_into(after, span);
    }

    fn arm(&mut self, stmt: &Stmt) {
        self.scoped(|builder| builder.statement(stmt));
    }

    /// Branches by a condition; tells if only one way is possible.
    fn test(&mut self, condition: &Condition, yes: BlockId, no: BlockId, what: Fork, at: At) -> Option<bool> {
        match condition {
            Condition::Expr(test) => self.branch_on(test, yes, no, what, at),
            Condition::Declare(declaration) => {
                self.declare(declaration);
                let value = self.read_variable(&declaration.name, declaration.span);
                self.branch_value(value, yes, no, what, at);
            }
        }
        match self.graph.blocks[self.block.index()].end {
            End::Jump { to, .. } if to == yes => Some(true),
            End::Jump { to, .. } if to == no => Some(false),
            _ => None,
        }
    }

    fn read_variable(&mut self, name: &Name, span: Span) -> Value {
        let path = Path { segments: vec![Segment { name: name.clone(), args: None }], global: false };
        self.truth_of(&Expr { kind: ExprKind::Name(path), span })
    }

    /// From the keyword to what closes the head.
    fn head(&self, span: Span, body: &Stmt) -> Span {
        let mut end = body.span.start.max(span.start);
        if let Some(text) = self.program.text(self.item) {
            let bytes = text.as_bytes();
            while end > span.start && bytes.get(end as usize - 1).is_some_and(|byte| byte.is_ascii_whitespace()) {
                end -= 1;
            }
        }
        Span { start: span.start, end: end.max(span.start + 1) }
    }

    /// Each way out destroys what was declared since the number with it.
    fn loop_body(&mut self, body: &Stmt, exit: (BlockId, usize), next: (BlockId, usize)) {
        self.activation().breaks.push(exit);
        self.activation().continues.push(next);
        self.arm(body);
        self.activation().breaks.pop();
        self.activation().continues.pop();
    }

    fn while_loop(&mut self, condition: &Condition, body: &Stmt, span: Span) {
        let (head, inside, exit) = (self.new_block(), self.new_block(), self.new_block());
        self.fall_into(head, span);
        let outer = self.enter_scope();
        let at = self.at(self.head(span, body));
        let base = self.cleanups.len();
        let done = self.when_done(condition, exit);
        let known = self.test(condition, inside, done, Fork::Loop, at);
        if known != Some(false) || holds_labels(body) {
            self.go_on(inside);
            self.loop_body(body, (exit, base), (head, base));
            self.run_cleanups(base);
            self.jump(head, Leaving::Fall, span);
        }
        self.leave_loop(done, exit, base, span);
        self.leave_scope(outer);
    }

    /// Where a loop goes when its condition fails: what that declares is destroyed on the way out.
    fn when_done(&mut self, condition: &Condition, exit: BlockId) -> BlockId {
        if matches!(condition, Condition::Declare(_)) { self.new_block() } else { exit }
    }

    fn leave_loop(&mut self, done: BlockId, exit: BlockId, base: usize, span: Span) {
        if done != exit {
            self.go_on(done);
            self.clean_up(base);
            self.jump(exit, Leaving::Fall, span);
        }
        self.go_on(exit);
    }

    fn do_loop(&mut self, body: &Stmt, condition: &Expr, span: Span) {
        let (inside, test, exit) = (self.new_block(), self.new_block(), self.new_block());
        self.fall_into(inside, span);
        let base = self.cleanups.len();
        self.loop_body(body, (exit, base), (test, base));
        self.fall_into(test, condition.span);
        let at = self.at(Span { start: body.span.end.min(condition.span.start), end: condition.span.end });
        let at = self.trimmed(at);
        self.branch_on(condition, inside, exit, Fork::Loop, at);
        self.go_on(exit);
    }

    fn trimmed(&self, at: At) -> At {
        let mut span = at.span;
        if let Some(text) = self.program.text(at.item) {
            let bytes = text.as_bytes();
            while span.start < span.end && bytes.get(span.start as usize).is_some_and(|byte| byte.is_ascii_whitespace())
            {
                span.start += 1;
            }
            if bytes.get(span.end as usize) == Some(&b')') && bytes.get(span.start as usize) == Some(&b'w') {
                span.end += 1;
            }
        }
        At { item: at.item, span }
    }

    fn for_loop(&mut self, condition: Option<&Condition>, step: Option<&Expr>, body: &Stmt, span: Span) {
        let (head, inside, next, exit) = (self.new_block(), self.new_block(), self.new_block(), self.new_block());
        self.fall_into(head, span);
        let at = self.at(self.head(span, body));
        let base = self.cleanups.len();
        let done = condition.map_or(exit, |condition| self.when_done(condition, exit));
        let known = match condition {
            Some(condition) => self.test(condition, inside, done, Fork::Loop, at),
            None => {
                self.finish(End::Jump { to: inside, leaving: Leaving::Fall, at });
                Some(true)
            }
        };
        if known != Some(false) || holds_labels(body) {
            let declared = self.cleanups.len();
            self.go_on(inside);
            self.loop_body(body, (exit, base), (next, declared));
            self.fall_into(next, span);
            if let Some(step) = step {
                self.with_temporaries(|builder| _ = builder.eval(step));
            }
            self.run_cleanups(base);
            self.jump(head, Leaving::Fall, span);
        }
        self.leave_loop(done, exit, base, span);
    }

    fn range_for(&mut self, variable: &Declaration, range: &Expr, body: &Stmt, span: Span) {
        let over = match &range.kind {
            ExprKind::InitList(list) => self.list_as_array(list, range.span),
            _ => self.eval_place(range),
        };
        let head_span = self.head(span, body);
        if let Ty::Class(_) = over.ty.value()
            && self.iterate(&over, variable, body, span, head_span)
        {
            return;
        }
        let element = over.ty.value().element();
        let base = self.address_of(&over, range.span);
        let counter = self.temporary("index", &INT, variable.span);
        let zero = self.int(0, variable.span);
        let address = self.address(counter, variable.span);
        self.store(address, zero, variable.span);
        let (head, inside, next, exit) = (self.new_block(), self.new_block(), self.new_block(), self.new_block());
        self.fall_into(head, span);
        let address = self.address(counter, head_span);
        let index = self.load(address, false, head_span);
        let count = match super::library::dimensions(&over.ty).0.first() {
            Some(Some(extent)) => self.int(*extent, range.span),
            _ => {
                let from = match &over.what {
                    What::Place(address) => vec![self.load(*address, false, range.span)],
                    What::Value(value) => vec![*value],
                    _ => Vec::new(),
                };
                self.unknown(from, range.span)
            }
        };
        let on = self.binary(BinaryOp::Lt, index, count, &Ty::Bool, head_span);
        let at = self.at(head_span);
        self.branch_value(on, inside, exit, Fork::Loop, at);
        self.go_on(inside);
        self.scoped(|builder| {
            let address = builder.element_address(base, index, variable.span);
            let ev = Ev::volatile_place(address, element, over.is_volatile).fixed_if(over.is_const);
            builder.declare_as(variable, ev);
            let base = builder.cleanups.len();
            builder.loop_body(body, (exit, base), (next, base));
        });
        self.fall_into(next, span);
        let one = self.int(1, span);
        let more = self.binary(BinaryOp::Add, index, one, &INT, span);
        let address = self.address(counter, span);
        self.store(address, more, span);
        self.jump(head, Leaving::Fall, span);
        self.go_on(exit);
    }

    /// A loop over a class with `begin` and `end` in view, by its iterators' operators.
    fn iterate(&mut self, over: &Ev, variable: &Declaration, body: &Stmt, span: Span, head_span: Span) -> bool {
        let Some(begin) = self.call_method_by_name(over, "begin", &[], head_span) else { return false };
        let Some(end) = self.call_method_by_name(over, "end", &[], head_span) else { return false };
        let begin = self.settle("begin", begin, variable.span);
        let end = self.settle("end", end, variable.span);
        self.loop_between(&begin, &end, (span, head_span), &mut |builder, item, exit, next| {
            builder.declare_as(variable, item);
            let base = builder.cleanups.len();
            builder.loop_body(body, (exit, base), (next, base));
        });
        true
    }

    /// A loop that moves `begin`, a variable, on until it is `end`. The body gets what it points to, and the blocks behind
    /// the loop and before its next round.
    pub fn loop_between(
        &mut self,
        begin: &Ev,
        end: &Ev,
        (span, head_span): (Span, Span),
        body: &mut dyn FnMut(&mut Self, Ev, BlockId, BlockId),
    ) {
        let (head, inside, next, exit) = (self.new_block(), self.new_block(), self.new_block(), self.new_block());
        self.fall_into(head, span);
        let differs = self.combine(BinaryOp::Ne, begin, end, head_span, (head_span, head_span));
        let on = self.rvalue(&differs, head_span);
        let at = self.at(head_span);
        self.branch_value(on, inside, exit, Fork::Loop, at);
        self.go_on(inside);
        self.scoped(|builder| {
            let item = builder.dereference(begin, head_span);
            body(builder, item, exit, next);
        });
        self.fall_into(next, span);
        if !begin.ty.is_aggregate()
            || self.call_operator("operator++", std::slice::from_ref(begin), head_span).is_none()
        {
            let old = self.rvalue(begin, head_span);
            let one = self.int(1, head_span);
            let new = match begin.ty.value() {
                Ty::Pointer(_) => self.element_address(old, one, head_span),
                ty => {
                    let ty = ty.clone();
                    self.binary(BinaryOp::Add, old, one, &ty, head_span)
                }
            };
            let new = Ev::value(new, begin.ty.clone());
            self.write(begin, &new, head_span);
        }
        self.jump(head, Leaving::Fall, span);
        self.go_on(exit);
    }

    /// Puts a value into a variable of its own.
    pub fn settle(&mut self, name: &str, ev: Ev, span: Span) -> Ev {
        let object = self.temporary(name, ev.ty.value(), span);
        let address = self.address(object, span);
        let ty = ev.ty.value().clone();
        self.store_to(address, &ty, &ev, span);
        Ev::place(address, ty)
    }

    fn switch(&mut self, condition: &Condition, body: &Stmt, span: Span) {
        let (on, ty) = match condition {
            Condition::Expr(value) => {
                let ev = self.eval(value);
                let ev = self.operand(&ev, &INT, value.span);
                (self.rvalue(&ev, value.span), ev.ty)
            }
            Condition::Declare(declaration) => {
                self.declare(declaration);
                (self.read_variable(&declaration.name, declaration.span), Ty::Unknown)
            }
        };
        let head = self.block;
        let exit = self.new_block();
        let at = self.at(condition_span(condition));
        let inside = self.new_block();
        self.go_on(inside);
        let base = self.cleanups.len();
        self.activation().switches.push(SwitchState { head, cases: Vec::new(), default: None, ty });
        self.activation().breaks.push((exit, base));
        self.arm(body);
        self.activation().breaks.pop();
        let state = self.activation().switches.pop();
        self.jump(exit, Leaving::Fall, span);
        if let Some(state) = state {
            let default = state.default.unwrap_or(exit);
            self.block = head;
            let known = self.constant_of(on);
            let values: Vec<Option<i64>> = state.cases.iter().map(|(value, _)| self.constant_of(*value)).collect();
            match known {
                Some(known) if values.iter().all(Option::is_some) => {
                    let hit = values.iter().position(|value| *value == Some(known));
                    let to = hit.map_or(default, |index| state.cases[index].1);
                    self.finish(End::Jump { to, leaving: Leaving::Fall, at });
                }
                _ => self.finish(End::Switch { on, cases: state.cases, default, at }),
            }
        }
        self.go_on(exit);
    }

    fn case(&mut self, value: Option<&Expr>, span: Span) {
        let block = self.new_block();
        self.fall_into(block, span);
        let Some(state) = self.activation().switches.last() else { return };
        let (head, ty) = (state.head, state.ty.clone());
        let Some(value) = value else {
            if let Some(state) = self.activation().switches.last_mut() {
                state.default = Some(block);
            }
            return;
        };
        // Case values are the head's.
        self.block = head;
        let known = match (self.constant(value), &ty) {
            (Some(known), _) => self.int(known, value.span),
            // Enumerators of a scoped enumeration named without it, and what is not in view.
            _ => self.rvalue_of(value),
        };
        self.block = block;
        if let Some(state) = self.activation().switches.last_mut() {
            state.cases.push((known, block));
        }
    }

    fn return_statement(&mut self, value: Option<&Expr>, span: Span) {
        let base = self.activation().cleanup_base;
        if let Some(value) = value {
            self.return_value(value);
        }
        let body = self.activation().function.clone();
        let is_natural_end = match &body.body.kind {
            StmtKind::Block(list) => list.last().is_some_and(|last| last.span == span),
            _ => false,
        };
        if is_natural_end && self.activation().exit.is_some() {
            // Nothing follows: the end of the body does the rest.
            return;
        }
        self.run_cleanups(base);
        self.activation().given_away = None;
        match self.activation().exit {
            Some(exit) => self.leave(exit, Leaving::Return, span),
            None => {
                let at = self.at(span);
                self.stop(End::Exit { how: Exit::Return, at });
            }
        }
    }
}

pub fn condition_span(condition: &Condition) -> Span {
    match condition {
        Condition::Expr(value) => value.span,
        Condition::Declare(declaration) => declaration.span,
    }
}

/// Labels and cases inside: something may jump there.
fn holds_labels(stmt: &Stmt) -> bool {
    let mut found = false;
    visit(vec![Node::Stmt(stmt)], |node| {
        if let Node::Stmt(Stmt { kind: StmtKind::Label(_) | StmtKind::Case(_), .. }) = node {
            found = true;
        }
        !found
    });
    found
}
