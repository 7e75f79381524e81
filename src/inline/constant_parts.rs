//! Members of constant objects: of class values that are template arguments, and of `constexpr` variables.

use super::builder::Builder;
use super::constant::wrap;
use super::names::Found;
use super::scope::Binding;
use super::types::{ClassTy, Ty};
use crate::program::*;
use std::sync::Arc;

pub type ConstantParts = Arc<[(Name, i64, Ty)]>;

impl Builder<'_> {
    /// The members of an expression's value, where it is an aggregate of integers that the compiler knows.
    pub fn constant_parts_of(&mut self, expr: &Expr) -> Option<ConstantParts> {
        match &expr.kind {
            ExprKind::Construct(ty, args) => {
                let Ty::Class(class) = self.resolve(ty) else { return None };
                self.parts_of_values(&class, args.iter().map(|value| (None, value)))
            }
            ExprKind::Name(path) => match self.find(path) {
                Found::Binding(Binding::Value { value, .. }) => self.constant_parts.get(&value).cloned(),
                Found::Value(item) => {
                    let declaration = self.program.value(item)?.clone();
                    let scope = self.item_scope(item);
                    self.in_item(item, scope, |builder| builder.parts_of_declaration(&declaration))
                }
                Found::StaticField(class, index) => {
                    let declaration = class.class.members[index].clone();
                    let scope = self.class_scope(&class);
                    self.in_item(class.item, scope, |builder| builder.parts_of_declaration(&declaration))
                }
                _ => None,
            },
            _ => None,
        }
    }

    fn parts_of_declaration(&mut self, declaration: &Declaration) -> Option<ConstantParts> {
        if !declaration.storage.is_constexpr {
            return None;
        }
        let Ty::Class(class) = self.resolve(&declaration.ty) else { return None };
        match &declaration.init {
            Init::Expr(Expr { kind: ExprKind::InitList(list), .. }) => {
                self.parts_of_values(&class, list.iter().map(|(name, value)| (name.clone(), value)))
            }
            Init::Expr(value) => self.constant_parts_of(value),
            Init::Arguments { args, braces: true } => {
                self.parts_of_values(&class, args.iter().map(|value| (None, value)))
            }
            _ => None,
        }
    }

    fn parts_of_values<'e>(
        &mut self,
        class: &Arc<ClassTy>,
        values: impl Iterator<Item = (Option<Name>, &'e Expr)>,
    ) -> Option<ConstantParts> {
        // The inner list of `Cfg{.stages = 2}`.
        let values: Vec<(Option<Name>, &Expr)> = values
            .flat_map(|(name, value)| match &value.kind {
                ExprKind::InitList(list) => list.iter().map(|(name, value)| (name.clone(), value)).collect(),
                _ => vec![(name, value)],
            })
            .collect();
        if !self.constructors_of(class).is_empty() || !class.class.bases.is_empty() {
            return None;
        }
        let mut parts = Vec::new();
        for (index, (field, ty)) in self.fields_of(class).into_iter().enumerate() {
            let by_name = values.iter().find(|(name, _)| name.as_ref() == Some(&field));
            let in_order = values.get(index).filter(|(name, _)| name.is_none());
            let value = match by_name.or(in_order) {
                Some((_, value)) => self.constant(value)?,
                None => self.default_part(class, &field)?,
            };
            if !ty.is_integer() {
                return None;
            }
            parts.push((field, wrap(value, &ty), ty));
        }
        Some(parts.into())
    }

    fn default_part(&mut self, class: &Arc<ClassTy>, field: &Name) -> Option<i64> {
        let member = class.class.members.iter().find(|member| member.name == *field)?.clone();
        if matches!(member.init, Init::None) {
            return Some(0);
        }
        let scope = self.class_scope(class);
        self.in_item(class.item, scope, |builder| builder.constant_declaration(&member)).map(|(value, _)| value)
    }
}
