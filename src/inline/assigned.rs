//! Pointers at namespace scope: what code in view assigns to them besides their initialisers, other kernels and the host included.

use super::builder::Builder;
use super::program::{ItemKind, Program};
use super::types::{Callable, Ty};
use super::visit::{Node, visit};
use crate::graph::*;
use crate::program::*;
use crate::text::Span;
use std::sync::Arc;

/// Functions that are looked through for assignments.
const SEARCHED: usize = 4_000;
/// Targets beyond which a pointer is one to anything.
const TARGETS: usize = 4;

/// What a pointer may hold besides its initialiser.
#[derive(Default)]
pub struct Assigned {
    /// Values, and in whose text they stand.
    pub values: Vec<(ItemId, Expr)>,
    /// It is set where no value is seen: by the host, through its address.
    pub unseen: bool,
}

impl Program<'_> {
    pub(super) fn assigned(&self, variable: ItemId) -> Arc<Assigned> {
        if let Ok(known) = self.assigned.lock()
            && let Some(found) = known.get(&variable)
        {
            return found.clone();
        }
        let found = Arc::new(self.search_assigned(variable));
        if let Ok(mut known) = self.assigned.lock() {
            known.insert(variable, found.clone());
        }
        found
    }

    fn search_assigned(&self, variable: ItemId) -> Assigned {
        let mut found = Assigned::default();
        let name = &self.item(variable).name;
        let names_it = |expr: &Expr| matches!(&expr.kind, ExprKind::Name(path) if path.segments.last().is_some_and(|last| last.name == *name));
        let functions = self.ids().filter(|id| {
            let item = self.item(*id);
            item.kind == ItemKind::Function && item.has_body && self.sees(*id, variable)
        });
        for (count, id) in functions.enumerate() {
            if count >= SEARCHED {
                found.unseen = true;
                break;
            }
            if !self.text(id).is_some_and(|text| text.contains(&**name)) {
                continue;
            }
            let Some(function) = self.function(id) else { continue };
            let is_host = !self.item(id).is_device && !self.item(id).is_kernel;
            visit(vec![Node::Stmt(&function.body)], |node| {
                let Node::Expr(expr) = node else { return true };
                match &expr.kind {
                    ExprKind::Assign(None, target, value) if names_it(target) => {
                        found.values.push((id, (**value).clone()))
                    }
                    ExprKind::Unary(UnaryOp::AddressOf, inner) if names_it(inner) => found.unseen = true,
                    ExprKind::Call { args, .. } if is_host && args.iter().any(names_it) => found.unseen = true,
                    _ => {}
                }
                true
            });
        }
        found
    }
}

impl Builder<'_> {
    /// The type of a pointer to functions with all that it may hold.
    pub fn with_assigned_functions(&mut self, variable: ItemId, ty: Ty) -> Ty {
        let assigned = self.program.assigned(variable);
        let mut all: Vec<Callable> = match ty {
            Ty::Functions(set) => self.function_sets[set as usize].clone(),
            _ => Vec::new(),
        };
        let mut values = assigned.values.clone();
        if assigned.unseen {
            values.extend(self.functions_for_the_host());
        }
        for (item, value) in values {
            let scope = self.item_scope(item);
            let Some(set) = self.in_item(item, scope, |builder| builder.functions_in(&value)) else { continue };
            for one in self.function_sets[set as usize].clone() {
                if !all.contains(&one) {
                    all.push(one);
                }
            }
        }
        match all.is_empty() {
            true => ty,
            false => Ty::Functions(self.function_set(all)),
        }
    }

    /// Device pointers to functions that begin as one: from these the host takes what it hands on.
    fn functions_for_the_host(&self) -> Vec<(ItemId, Expr)> {
        let program = self.program;
        let variables = program.ids().filter(|id| {
            let item = program.item(*id);
            item.kind == ItemKind::Value && item.is_device_memory && program.sees(self.item, *id)
        });
        variables
            .filter_map(|id| match &program.value(id)?.init {
                Init::Expr(value) => Some((id, value.clone())),
                _ => None,
            })
            .collect()
    }

    /// Notes what a pointer in global memory may point to: its initialiser and what is assigned to it.
    pub fn note_pointees(&mut self, variable: ItemId, object: ObjectId, declaration: &Declaration) {
        let mut values = Vec::new();
        if let Init::Expr(value) = &declaration.init {
            values.push((variable, value.clone()));
        }
        let is_fixed = declaration.ty.is_const || declaration.storage.is_constexpr;
        if !is_fixed {
            values.extend(self.program.assigned(variable).values.clone());
        }
        let mut pointees: Vec<(ItemId, Expr)> = Vec::new();
        for (item, value) in values {
            if self.names_variable(item, &value) {
                pointees.push((item, value));
            }
        }
        if !pointees.is_empty() && pointees.len() <= TARGETS {
            self.pointees.insert(object, (pointees, is_fixed));
        }
    }

    /// An array or the address of a variable at namespace scope.
    fn names_variable(&mut self, item: ItemId, value: &Expr) -> bool {
        let scope = self.item_scope(item);
        let (path, wants_array) = match &value.kind {
            ExprKind::Name(path) => (path, true),
            ExprKind::Unary(UnaryOp::AddressOf, inner) => match &inner.kind {
                ExprKind::Name(path) => (path, false),
                _ => return false,
            },
            _ => return false,
        };
        let found = self.in_item(item, scope, |builder| builder.find(path));
        let super::names::Found::Value(variable) = found else { return false };
        let program = self.program;
        let Some(declaration) = program.value(variable) else { return false };
        program.item(variable).is_device_memory && (!wants_array || matches!(declaration.ty.kind, TypeKind::Array(..)))
    }

    /// What is read from such a pointer: one of the known addresses, or what it holds.
    pub fn choose_pointee(&mut self, object: ObjectId, loaded: Value, span: Span) -> Value {
        let Some((pointees, is_fixed)) = self.pointees.get(&object).cloned() else { return loaded };
        let mut value = loaded;
        for (index, (item, pointee)) in pointees.iter().enumerate() {
            let scope = self.item_scope(*item);
            let address = self.in_item(*item, scope, |builder| builder.rvalue_of(pointee));
            if is_fixed {
                return address;
            }
            let number = self.int(index as i64, span);
            let on = self.unknown(vec![loaded, number], span);
            value = self.select(on, address, value, span);
        }
        value
    }
}
