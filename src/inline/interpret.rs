//! Constants of items and classes, and calls of constexpr functions: their statements, run on the spot.

use super::builder::{Builder, StaticKey};
use super::calls::Arg;
use super::constant::{NESTING, wrap};
use super::names::Found;
use super::scope::Binding;
use super::types::{Bound, Callable, ClassTy, INT, Ty};
use crate::graph::ItemId;
use crate::program::*;
use std::sync::Arc;

/// What ends a statement of a constexpr function.
enum Flow {
    Next,
    Break,
    Continue,
    Return(Option<(i64, Ty)>),
}

impl Builder<'_> {
    pub fn constant_member(&mut self, class: &Arc<ClassTy>, index: usize) -> Option<(i64, Ty)> {
        let declaration = class.class.members.get(index)?.clone();
        let key = StaticKey::Member(class.clone(), declaration.name.clone());
        if let Some(known) = self.constants.get(&key) {
            return known.clone();
        }
        self.constants.insert(key.clone(), None);
        let scope = self.class_scope(class);
        let result = self.in_item(class.item, scope, |builder| builder.constant_declaration(&declaration));
        self.constants.insert(key, result.clone());
        result
    }

    pub fn constant_item(&mut self, item: ItemId) -> Option<(i64, Ty)> {
        let key = StaticKey::Item(item, Vec::new());
        if let Some(known) = self.constants.get(&key) {
            return known.clone();
        }
        self.constants.insert(key.clone(), None);
        let header = self.program.item(item);
        let declaration = self.program.value(item)?.clone();
        let is_const = declaration.ty.is_const || declaration.storage.is_constexpr || header.is_const;
        // The host may copy to a constant's symbol before each launch.
        let is_set_by_host = (header.is_constant_memory || header.is_shared) && !declaration.storage.is_constexpr;
        if !is_const || is_set_by_host {
            return None;
        }
        let scope = self.item_scope(item);
        let result = self.in_item(item, scope, |builder| builder.constant_declaration(&declaration));
        self.constants.insert(key, result.clone());
        result
    }

    pub fn constant_declaration(&mut self, declaration: &Declaration) -> Option<(i64, Ty)> {
        let (value, from) = match &declaration.init {
            Init::Expr(value) => self.constant_typed(value)?,
            Init::Arguments { args, .. } => match &args[..] {
                [one] => self.constant_typed(one)?,
                [] => (0, super::types::INT),
                _ => return None,
            },
            Init::None => return None,
        };
        let ty = self.resolve(&declaration.ty);
        match ty.value() {
            ty if ty.is_integer() => Some((super::constant::wrap(value, ty), ty.clone())),
            Ty::Unknown | Ty::Param(_) => Some((value, from)),
            _ => None,
        }
    }

    fn run(&mut self, stmt: &Stmt) -> Option<Flow> {
        if self.steps <= 1 || self.constant_nesting >= NESTING {
            return None;
        }
        self.steps -= 1;
        self.constant_nesting += 1;
        let flow = self.run_kind(stmt);
        self.constant_nesting -= 1;
        flow
    }

    fn run_kind(&mut self, stmt: &Stmt) -> Option<Flow> {
        match &stmt.kind {
            StmtKind::Block(list) => {
                let outer = self.enter_scope();
                let mut flow = Some(Flow::Next);
                for stmt in list {
                    flow = self.run(stmt);
                    if !matches!(flow, Some(Flow::Next)) {
                        break;
                    }
                }
                self.leave_scope(outer);
                flow
            }
            StmtKind::Declare(list) => {
                for declaration in list {
                    let (value, from) = match &declaration.init {
                        Init::None => (0, INT),
                        Init::Expr(value) => self.evaluate(value)?,
                        Init::Arguments { args, .. } => match &args[..] {
                            [] => (0, INT),
                            [one] => self.evaluate(one)?,
                            _ => return None,
                        },
                    };
                    let declared = self.resolve(&declaration.ty);
                    let ty = if declared.is_integer() { declared } else { from };
                    self.bind(&declaration.name, Binding::Constant { value: wrap(value, &ty), ty });
                }
                Some(Flow::Next)
            }
            StmtKind::Expr(value) => self.evaluate(value).map(|_| Flow::Next),
            StmtKind::Return(value) => match value {
                Some(value) => self.evaluate(value).map(|value| Flow::Return(Some(value))),
                None => Some(Flow::Return(None)),
            },
            StmtKind::If { arms, otherwise } => {
                for arm in arms {
                    let Condition::Expr(test) = &arm.condition else { return None };
                    if self.evaluate(test)?.0 != 0 {
                        return self.run(&arm.then);
                    }
                }
                otherwise.as_ref().map_or(Some(Flow::Next), |stmt| self.run(stmt))
            }
            StmtKind::While { condition: Condition::Expr(test), body } => self.run_loop(Some(test), None, body, false),
            StmtKind::DoWhile { body, condition } => self.run_loop(Some(condition), None, body, true),
            StmtKind::For { init, condition, step, body } => {
                let outer = self.enter_scope();
                let started = init.as_ref().is_none_or(|init| self.run(init).is_some());
                let test = match condition {
                    None => None,
                    Some(Condition::Expr(test)) => Some(test),
                    Some(Condition::Declare(_)) => return None,
                };
                let flow = if started { self.run_loop(test, step.as_ref(), body, false) } else { None };
                self.leave_scope(outer);
                flow
            }
            StmtKind::Break => Some(Flow::Break),
            StmtKind::Continue => Some(Flow::Continue),
            StmtKind::Empty | StmtKind::StaticAssert(_) | StmtKind::Alias(..) | StmtKind::UsingNamespace(_) => {
                if let StmtKind::Alias(name, ty) = &stmt.kind {
                    let ty = self.resolve(ty);
                    self.bind(name, Binding::Type(ty));
                }
                Some(Flow::Next)
            }
            _ => None,
        }
    }

    fn run_loop(&mut self, test: Option<&Expr>, step: Option<&Expr>, body: &Stmt, body_first: bool) -> Option<Flow> {
        let mut tested = body_first;
        loop {
            if !tested
                && let Some(test) = test
                && self.evaluate(test)?.0 == 0
            {
                return Some(Flow::Next);
            }
            tested = false;
            match self.run(body)? {
                Flow::Break => return Some(Flow::Next),
                Flow::Return(value) => return Some(Flow::Return(value)),
                Flow::Next | Flow::Continue => {}
            }
            if let Some(step) = step {
                self.evaluate(step)?;
            }
        }
    }

    fn constant_apply(&mut self, callable: &Callable, explicit: &[Bound], values: Vec<(i64, Ty)>) -> Option<(i64, Ty)> {
        let function = callable.function.clone();
        let arg_types: Vec<Ty> = values.iter().map(|(_, ty)| ty.clone()).collect();
        let args = self.bind_function_template(callable, explicit, &arg_types)?;
        let parent = self.scope_of_callable(callable);
        let scope = self.new_scope(Some(parent), callable.item);
        self.bind_template(scope, &function.template, &args);
        for (param, (value, ty)) in function.params.iter().zip(values) {
            if let Some(name) = &param.name {
                let declared = self.resolve_in(scope, &param.ty).value().clone();
                let ty = if declared.is_integer() { declared } else { ty };
                let value = wrap(value, &ty);
                self.bind_in(scope, name, Binding::Constant { value, ty });
            }
        }
        let outer_floor = self.constant_floor.replace(scope);
        let flow = self.in_item(callable.item, scope, |builder| builder.run(&function.body));
        self.constant_floor = outer_floor;
        let result = self.in_item(callable.item, scope, |builder| builder.resolve(&function.result));
        match flow? {
            Flow::Return(Some((value, ty))) => {
                let ty = if result.is_known() && result != Ty::Void { result } else { ty };
                Some((wrap(value, &ty), ty))
            }
            _ => None,
        }
    }

    /// What a constexpr function gives for constants: its loops, and calls of itself, end here and not in the graph.
    pub fn constant_result(&mut self, callable: &Callable, list: &[Arg], explicit: &[Bound]) -> Option<(i64, Ty)> {
        let params = &callable.function.params;
        let is_value = |param: &Param| match &param.ty.kind {
            TypeKind::Pointer(_) | TypeKind::Array(..) => false,
            TypeKind::Reference(inner) => inner.is_const,
            _ => !param.pack,
        };
        let is_constexpr = self.program.item(callable.item).is_const && callable.class.is_none();
        if !is_constexpr || list.is_empty() || list.len() != params.len() || !params.iter().all(is_value) {
            return None;
        }
        let values = list.iter().map(|arg| arg.expr.and_then(|expr| self.constant_typed(expr)));
        let values = values.collect::<Option<Vec<(i64, Ty)>>>()?;
        let result = self.counting_steps(|builder| builder.constant_apply(callable, explicit, values));
        result.filter(|(_, ty)| ty.is_integer())
    }

    pub fn constant_call(&mut self, callee: &Expr, args: &[Expr]) -> Option<(i64, Ty)> {
        let ExprKind::Name(path) = &callee.kind else { return None };
        match self.find(path) {
            Found::Functions(candidates) => {
                let mut values = Vec::new();
                for arg in args {
                    values.push(self.evaluate(arg)?);
                }
                let mut fitting =
                    candidates.into_iter().filter(|candidate| candidate.function.params.len() == args.len());
                let callable = fitting.next()?;
                let explicit = path.segments.last().and_then(|segment| segment.args.clone());
                let explicit = explicit.map(|args| self.template_arguments(&args)).unwrap_or_default();
                self.constant_apply(&callable, &explicit, values)
            }
            Found::Type(ty) | Found::Binding(Binding::Type(ty)) => self.constant_construct(&ty, args),
            Found::Constant(value, ty) if args.is_empty() => Some((value, ty)),
            // `b()` of an `integral_constant`
            Found::Binding(Binding::Object { ty, .. } | Binding::Alias { ty, .. } | Binding::Value { ty, .. })
                if args.is_empty() =>
            {
                self.constant_by_type(&ty)
            }
            Found::None => {
                let name = &path.segments.last()?.name;
                match (&**name, args) {
                    ("min" | "max", [a, b]) => {
                        let ((x, ty), (y, _)) = (self.evaluate(a)?, self.evaluate(b)?);
                        Some((if &**name == "min" { x.min(y) } else { x.max(y) }, ty))
                    }
                    ("abs", [a]) => self.evaluate(a).map(|(value, ty)| (value.wrapping_abs(), ty)),
                    (_, []) if self.constant_word(path).is_some() => self.constant_word(path),
                    (name, args) => {
                        let ty = super::types::scalar(name)?;
                        self.constant_construct(&ty, args)
                    }
                }
            }
            _ => None,
        }
    }

    /// A static member or a member function's result may be wanted as a constant; so may an object that converts to one.
    pub fn constant_construct(&mut self, ty: &Ty, args: &[Expr]) -> Option<(i64, Ty)> {
        match (ty, args) {
            (ty, []) if ty.is_integer() => Some((0, ty.clone())),
            (ty, [one]) if ty.is_integer() => {
                let (value, _) = self.evaluate(one)?;
                Some((wrap(value, ty), ty.clone()))
            }
            (ty, []) => self.value_of_type(ty),
            _ => None,
        }
    }
}
