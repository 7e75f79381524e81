//! Members of constant objects: of class values that are template arguments, and of `constexpr` variables.

use super::builder::Builder;
use super::constant::wrap;
use super::names::Found;
use super::scope::{Binding, ScopeId};
use super::types::{ClassTy, Ty};
use crate::graph::ItemId;
use crate::program::*;
use std::sync::Arc;

/// A step from a constant to one of its parts.
enum Step<'e> {
    Element(&'e Expr),
    Member(&'e Name),
}

/// The values between the braces that an array or object begins with.
#[derive(Copy, Clone)]
enum Braces<'e> {
    Plain(&'e [Expr]),
    Named(&'e [(Option<Name>, Expr)]),
}

impl<'e> Braces<'e> {
    fn has_names(self) -> bool {
        matches!(self, Braces::Named(list) if list.iter().any(|(name, _)| name.is_some()))
    }

    fn at(self, index: usize) -> Option<&'e Expr> {
        match self {
            Braces::Plain(list) => list.get(index),
            Braces::Named(list) => list.get(index).filter(|(name, _)| name.is_none()).map(|(_, value)| value),
        }
    }

    fn called(self, wanted: &Name) -> Option<&'e Expr> {
        let Braces::Named(list) = self else { return None };
        list.iter().find(|(name, _)| name.as_ref() == Some(wanted)).map(|(_, value)| value)
    }

    /// `std::array<int, 2> a{{x, y}}`: the inner braces are those of the array inside.
    fn within(self) -> Braces<'e> {
        match (self, self.at(0)) {
            (Braces::Plain([_]) | Braces::Named([_]), Some(Expr { kind: ExprKind::InitList(inner), .. })) => {
                Braces::Named(inner)
            }
            _ => self,
        }
    }
}

/// What a part of a constant begins as.
enum Begins<'e> {
    As(&'e Expr),
    Braces(Braces<'e>),
    Zero,
}

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

    /// An element or member of a constant at namespace or class scope: `sizes[1]`, `Plan::levels[0][2]`, `plans[0].depth`.
    pub fn part_of_constant(&mut self, expr: &Expr) -> Option<(i64, Ty)> {
        let (mut steps, mut at) = (Vec::new(), expr);
        let path = loop {
            match &at.kind {
                ExprKind::Index(base, index) => {
                    steps.push(Step::Element(index));
                    at = base;
                }
                ExprKind::Member { object, arrow: false, member } => {
                    steps.push(Step::Member(&member.segments.last()?.name));
                    at = object;
                }
                ExprKind::Name(path) => break path,
                _ => return None,
            }
        };
        steps.reverse();
        match self.find(path) {
            Found::Value(item) => {
                let program = self.program;
                let (header, declaration) = (program.item(item), program.value(item)?);
                // The host may copy to a constant's symbol before each launch.
                let is_set_by_host =
                    (header.is_constant_memory || header.is_shared) && !declaration.storage.is_constexpr;
                if !is_fixed(declaration) || is_set_by_host {
                    return None;
                }
                let scope = self.item_scope(item);
                self.part_of_declaration(declaration, steps, item, scope)
            }
            Found::StaticField(class, index) => {
                let tree = class.class.clone();
                let declaration = tree.members.get(index).filter(|member| is_fixed(member))?;
                let scope = self.class_scope(&class);
                self.part_of_declaration(declaration, steps, class.item, scope)
            }
            _ => None,
        }
    }

    fn part_of_declaration(
        &mut self,
        declaration: &Declaration,
        steps: Vec<Step>,
        item: ItemId,
        scope: ScopeId,
    ) -> Option<(i64, Ty)> {
        let mut begins = match &declaration.init {
            Init::None => return None,
            Init::Expr(value) => Begins::As(value),
            Init::Arguments { args, braces: true } => Begins::Braces(Braces::Plain(args)),
            Init::Arguments { .. } => return None,
        };
        let mut ty = self.in_item(item, scope, |builder| builder.declared_type(declaration));
        for step in steps {
            let list = match begins {
                Begins::As(value) => self.in_item(item, scope, |builder| builder.braces_of(value, &ty))?,
                Begins::Braces(list) => list,
                Begins::Zero => Braces::Plain(&[]),
            };
            let value = match step {
                Step::Element(index) => {
                    let index = usize::try_from(self.constant(index)?).ok()?;
                    let (list, of) = match &ty {
                        Ty::Array(of, Some(extent)) if usize::try_from(*extent).is_ok_and(|extent| index < extent) => {
                            (list, (**of).clone())
                        }
                        array if super::library::is_array(array) => {
                            (list.within(), super::library::part_type(array, 0))
                        }
                        _ => return None,
                    };
                    if list.has_names() {
                        return None;
                    }
                    ty = of;
                    list.at(index)
                }
                Step::Member(name) => {
                    let Ty::Class(class) = &ty else { return None };
                    let class = class.clone();
                    if !self.constructors_of(&class).is_empty() || !class.class.bases.is_empty() {
                        return None;
                    }
                    let fields = self.fields_of(&class);
                    let index = fields.iter().position(|(field, _)| field == name)?;
                    ty = fields[index].1.clone();
                    let value = list.called(name).or_else(|| list.at(index).filter(|_| !list.has_names()));
                    if value.is_none() && ty.is_integer() {
                        let value = self.default_part(&class, name)?;
                        return Some((wrap(value, &ty), ty));
                    }
                    value
                }
            };
            begins = value.map_or(Begins::Zero, Begins::As);
        }
        if !ty.is_integer() {
            return None;
        }
        match begins {
            Begins::As(value) => {
                let value = self.in_item(item, scope, |builder| builder.constant(value))?;
                Some((wrap(value, &ty), ty))
            }
            Begins::Zero => Some((0, ty)),
            Begins::Braces(_) => None,
        }
    }

    fn braces_of<'e>(&mut self, value: &'e Expr, ty: &Ty) -> Option<Braces<'e>> {
        match &value.kind {
            ExprKind::InitList(list) => Some(Braces::Named(list)),
            ExprKind::Construct(made, args) if self.resolve(made) == *ty => Some(match &args[..] {
                // The inner list of `Cfg{.stages = 2}`.
                [Expr { kind: ExprKind::InitList(list), .. }] if Braces::Named(list).has_names() => Braces::Named(list),
                args => Braces::Plain(args),
            }),
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

/// Whether the variable keeps what it begins with.
fn is_fixed(declaration: &Declaration) -> bool {
    let mut ty = &declaration.ty;
    while let TypeKind::Array(of, _) = &ty.kind {
        ty = of;
    }
    declaration.storage.is_constexpr || ty.is_const
}
