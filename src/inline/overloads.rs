//! Which of several functions a call means: by how well parameters fit and bind the arguments, and a method its object.

use super::builder::Builder;
use super::calls::Arg;
use super::lifetimes::converts;
use super::memo::{Given, ScoreKey};
use super::names::Found;
use super::scope::ScopeId;
use super::types::{Bound, Callable, GroupTy, INT, Pointee, Ty};
use super::values::{Category, Ev};
use crate::graph::ItemId;
use crate::program::*;
use std::sync::Arc;

/// So many overloads are weighed for nothing.
const FEW: usize = 64;
/// Bases farther up are all alike.
const MAX_STEPS: u32 = 3;

impl Builder<'_> {
    /// A set of functions with those of the name that stand beside the classes of the arguments.
    pub fn with_functions_beside(&mut self, mut set: Vec<Callable>, name: &Name, list: &[Arg]) -> Vec<Callable> {
        let home = self.scope_at(self.scope).item;
        if set.iter().any(|one| one.class.is_some()) || self.program.visible(home, name).len() <= set.len() {
            return set;
        }
        for arg in list {
            let ty = arg.ty();
            let ty = match ty.value() {
                Ty::Pointer(pointee) => pointee.ty.value(),
                other => other,
            };
            let Ty::Class(class) = ty else { continue };
            let scope = self.program.item(class.item).scope.clone();
            if scope.is_empty() || class.scope.is_some() {
                continue;
            }
            let path = scope.iter().chain([name]).map(|name| Segment { name: name.clone(), args: None });
            let path = Path { segments: path.collect(), global: true };
            if let Found::Functions(beside) = self.find(&path) {
                set.extend(beside.into_iter().filter(|one| one.class.is_none()));
            }
        }
        let mut known: Vec<Callable> = Vec::with_capacity(set.len());
        for one in set {
            if !known.iter().any(|other| Arc::ptr_eq(&other.function, &one.function)) {
                known.push(one);
            }
        }
        known
    }

    /// The candidates that fit the arguments best; one, unless the types do not tell.
    pub fn best_of(&mut self, set: &[Callable], this: Option<&Ev>, list: &[Arg], explicit: &[Bound]) -> Vec<Callable> {
        let fitting: Vec<&Callable> = set.iter().filter(|candidate| self.takes(candidate, list.len())).collect();
        if fitting.len() <= 1 {
            return fitting.into_iter().cloned().collect();
        }
        // Weighing one is as dear as many look-ups; a call among thousands is to meet the limit, too.
        if fitting.len() > FEW {
            if self.is_full() {
                // No call is followed any more: one that waits stands for all, so that it is told.
                let waiting = fitting.iter().find(|candidate| self.reach_of(candidate).barrier);
                return waiting.or(fitting.first()).map(|candidate| (*candidate).clone()).into_iter().collect();
            }
            self.searched.set(self.searched.get() + 16 * fitting.len());
        }
        let types: Vec<Ty> = list.iter().map(Arg::ty).collect();
        let given = self.memo.given(&types, explicit);
        let mut scored: Vec<(u32, &Callable)> = Vec::new();
        for candidate in fitting {
            if let Some(score) = self.score_given(candidate, given, &types, explicit) {
                scored.push((score, candidate));
            }
        }
        let best = scored.iter().map(|(score, _)| *score).max().unwrap_or(0);
        scored.retain(|(score, _)| *score == best);
        let made = Ev::nothing();
        for (rank, candidate) in &mut scored {
            let function = &candidate.function;
            let args = function.params.iter().zip(list);
            *rank = args.map(|(param, arg)| binds(function, param, arg.ev.as_ref().unwrap_or(&made))).sum();
            *rank += this.map_or(0, |this| binds_object(function, this));
        }
        let best = scored.iter().map(|(rank, _)| *rank).max().unwrap_or(0);
        scored.retain(|(rank, _)| *rank == best);
        // Of two templates the one that says more of the parameters is meant.
        let least = scored.iter().map(|(_, candidate)| openness(&candidate.function)).min().unwrap_or(0);
        scored.retain(|(_, candidate)| openness(&candidate.function) == least);
        let mut best: Vec<Callable> = scored.into_iter().map(|(_, candidate)| candidate.clone()).collect();
        if best.len() > 1 {
            best = self.most_constrained(best);
        }
        let mut chosen: Vec<Callable> = Vec::with_capacity(best.len());
        for candidate in best {
            if !chosen.iter().any(|known| self.is_same_header(known, &candidate)) {
                chosen.push(candidate);
            }
        }
        chosen
    }

    /// Without those that ask less than another one: `std::integral` is part of `std::signed_integral`.
    fn most_constrained(&mut self, set: Vec<Callable>) -> Vec<Callable> {
        let mut asked: Vec<Vec<Name>> = Vec::with_capacity(set.len());
        for one in &set {
            let scope = self.scope_of_callable(one);
            let function = one.function.clone();
            asked.push(self.in_item(one.item, scope, |builder| builder.concepts_asked(&function)));
        }
        let asks_more = |more: &Vec<Name>, less: &Vec<Name>| {
            !less.is_empty() && more.len() > less.len() && less.iter().all(|name| more.contains(name))
        };
        let is_beaten = |index: usize| asked.iter().any(|other| asks_more(other, &asked[index]));
        let kept = set.iter().enumerate().filter(|(index, _)| !is_beaten(*index));
        kept.map(|(_, one)| one.clone()).collect()
    }

    /// Two definitions of one function, under different conditions or in twin files: the nearer one counts.
    pub fn is_same_header(&mut self, a: &Callable, b: &Callable) -> bool {
        if a.function.params.len() != b.function.params.len() || a.function.template.len() != b.function.template.len()
        {
            return false;
        }
        let (x, y) = (self.scope_of_callable(a), self.scope_of_callable(b));
        let key = [(Arc::as_ptr(&a.function) as usize, x), (Arc::as_ptr(&b.function) as usize, y)];
        if let Some(known) = self.memo.same_headers.get(&key) {
            return *known;
        }
        let limits_met = self.memo.limits_met;
        let (left, right) = (a.function.clone(), b.function.clone());
        let same = left.params.iter().zip(&right.params).all(|(left, right)| {
            let (left, right) = (self.resolve_in(x, &left.ty), self.resolve_in(y, &right.ty));
            left == right || !left.value().is_known() && !right.value().is_known()
        });
        if self.memo.limits_met == limits_met {
            self.memo.same_headers.insert(key, same);
        }
        same
    }

    pub fn score(&mut self, candidate: &Callable, types: &[Ty], explicit: &[Bound]) -> Option<u32> {
        let given = self.memo.given(types, explicit);
        self.score_given(candidate, given, types, explicit)
    }

    fn score_given(&mut self, candidate: &Callable, given: Given, types: &[Ty], explicit: &[Bound]) -> Option<u32> {
        let key = ScoreKey {
            function: Arc::as_ptr(&candidate.function) as usize,
            class: candidate.class.clone(),
            scope: candidate.scope,
            given,
            is_lenient: self.is_lenient,
        };
        if let Some(known) = self.memo.scores.get(&key) {
            return *known;
        }
        let limits_met = self.memo.limits_met;
        let score = self.fit_of(candidate, types, explicit);
        if self.memo.limits_met == limits_met {
            self.memo.scores.insert(key, score);
        }
        score
    }

    fn fit_of(&mut self, candidate: &Callable, types: &[Ty], explicit: &[Bound]) -> Option<u32> {
        let bounds = self.bind_function_template(candidate, explicit, types)?;
        let parent = self.scope_of_callable(candidate);
        let mut special = 0;
        match &candidate.function.specialises {
            Some(pattern) => {
                let pattern = pattern.get(..explicit.len().min(pattern.len())).unwrap_or_default().to_vec();
                if self.matches_written(candidate.item, parent, &pattern, explicit) {
                    special = 4 * explicit.len() as u32;
                } else {
                    // An argument that nobody knows may be the one it is for.
                    let outer = std::mem::replace(&mut self.is_lenient, true);
                    let may_match = self.matches_written(candidate.item, parent, &pattern, explicit);
                    self.is_lenient = outer;
                    if !may_match {
                        return None;
                    }
                }
            }
            None if explicit.len() > candidate.function.template.len() && !has_pack(&candidate.function.template) => {
                return None;
            }
            None => {}
        }
        let function = candidate.function.clone();
        let is_asking = !function.template.is_empty() || !function.requires.is_empty();
        // Without template parameters its names mean what they do round it.
        let scope = match is_asking || self.scope_at(parent).item != candidate.item {
            true => self.new_scope(Some(parent), candidate.item),
            false => parent,
        };
        self.bind_template(scope, &function.template, &bounds);
        let weighed =
            is_asking && self.in_item(candidate.item, scope, |builder| builder.meets_constraints(&function, types))?;
        let is_plain = function.template.is_empty()
            && function.specialises.is_none()
            && !function.params.iter().any(|param| super::deduce::is_auto(&param.ty));
        let mut total = u32::from(weighed) + special;
        for (param, ty) in function.params.iter().zip(types) {
            if param.pack {
                total += 1;
                break;
            }
            let wanted = self.resolve_in(scope, &param.ty);
            let wanted = match wanted {
                Ty::Array(of, _) => Ty::pointer_to((*of).clone()),
                other => other,
            };
            let is_open = is_open_pointer(&param.ty, &function.template);
            let wanted = if is_open { as_const_as(wanted, ty) } else { wanted };
            if converts(ty) && self.is_made_of_nothing_else(&wanted) {
                return None;
            }
            let mut points = match self.steps_to_base(ty, &wanted) {
                // What is a base of more is worse, and `void` the worst.
                Some(steps) => 4 * Rank::Distant as u32 - steps.min(MAX_STEPS),
                None => 4 * fit(ty, &wanted)? as u32,
            };
            // A value that is no reference binds to const only, which is not recorded; plain types win ties.
            if is_plain {
                points += 1;
            }
            total += points;
        }
        Some(total + u32::from(is_plain))
    }

    /// How far above the class of an argument, or of what it points to, that of a parameter stands.
    fn steps_to_base(&mut self, arg: &Ty, param: &Ty) -> Option<u32> {
        let (from, to) = match (arg.value(), param.value()) {
            (Ty::Pointer(from), Ty::Pointer(to)) if to.is_const || !from.is_const => (from.ty.value(), to.ty.value()),
            (from @ Ty::Class(_), to @ Ty::Class(_)) => (from, to),
            _ => return None,
        };
        match (from, to) {
            (Ty::Class(_), Ty::Void) => Some(MAX_STEPS),
            (Ty::Class(from), Ty::Class(to)) if from != to => {
                let mut level = vec![from.clone()];
                for steps in 0..MAX_STEPS {
                    level = level.iter().flat_map(|class| self.bases_of(class)).collect();
                    if level.contains(to) {
                        return Some(steps);
                    }
                }
                level.iter().any(|class| self.derives_from(class, to, 0)).then_some(MAX_STEPS - 1)
            }
            _ => None,
        }
    }

    /// A class without a constructor, so that nothing but an object of it, or a braced list, makes one.
    fn is_made_of_nothing_else(&mut self, ty: &Ty) -> bool {
        let Ty::Class(class) = ty.value() else { return false };
        let Some(name) = &class.class.name else { return false };
        let program = self.program;
        class.class.usings.is_empty()
            && class.class.bases.is_empty()
            && class.class.methods.iter().all(|method| method.name != *name)
            && program.members(class.item).iter().all(|id| program.item(*id).name != *name)
    }

    fn matches_written(&mut self, item: ItemId, scope: ScopeId, pattern: &[TemplateArg], explicit: &[Bound]) -> bool {
        let mut deduced = super::templates::Deduced::default();
        self.in_item(item, scope, |builder| builder.matches(pattern, explicit, &[], &mut deduced)).is_some()
    }

    /// Whether the function may be called with so many arguments.
    pub fn takes(&self, callable: &Callable, count: usize) -> bool {
        let params = &callable.function.params;
        let variadic = params.last().is_some_and(|param| param.pack);
        if count > params.len() && !variadic {
            return false;
        }
        let needed = params.iter().filter(|param| !param.pack).count();
        count >= needed || (count..needed).all(|index| self.default_of(callable, index).is_some())
    }

    /// The default of a parameter, written at the definition or at an earlier declaration, and whose text it is in.
    pub fn default_of(&self, callable: &Callable, index: usize) -> Option<(ItemId, Expr)> {
        if let Some(value) = &callable.function.params.get(index)?.default {
            return Some((callable.item, value.clone()));
        }
        let program = self.program;
        let header = program.item(callable.item);
        let count = callable.function.params.len();
        program.named(&header.name).iter().find_map(|id| {
            let other = program.item(*id);
            if *id == callable.item || other.has_body || other.class != header.class || other.scope != header.scope {
                return None;
            }
            let function = program.function(*id).filter(|function| function.params.len() == count)?;
            function.params[index].default.clone().map(|value| (*id, value))
        })
    }
}

/// Of the functions of a name those that `f<..>(x)` may mean: templates, be the list empty.
pub fn written_so(mut set: Vec<Callable>, segment: &Segment) -> Vec<Callable> {
    if segment.args.is_some() {
        set.retain(|one| !one.function.template.is_empty() || one.function.specialises.is_some());
    }
    set
}

/// How an argument becomes what a parameter wants, the worst first: the ranks of C++, those of one rank by how likely they
/// are where a type is not known to the last bit. What is open stands between what it may turn out to be.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rank {
    /// By a constructor or a conversion function. So counts what no compiler takes, as `const` may be lost on the way here.
    User = 1,
    /// A pointer as a truth.
    Truth,
    /// The parameter's type is open.
    OpenParameter,
    /// The argument's type is open.
    OpenArgument,
    /// Integers as floats and back, pointers as `void *` or as those to a base.
    Distant,
    /// Between integers, between floats.
    Conversion,
    /// `int` as `unsigned`
    SameSize,
    /// `short` as `int`, `float` as `double`
    Promotion,
    /// `T *` as `const T *`
    Qualified,
    Exact,
}

/// How an argument of type `arg` fits a parameter of type `param`: `None` not at all.
pub fn fit(arg: &Ty, param: &Ty) -> Option<Rank> {
    let (arg, param) = (arg.value(), param.value());
    if arg == param {
        return Some(if arg.is_known() { Rank::Exact } else { Rank::OpenArgument });
    }
    match (arg, param) {
        (Ty::Unknown | Ty::Param(_), _) => Some(Rank::OpenArgument),
        (_, Ty::Unknown | Ty::Param(_)) => Some(Rank::OpenParameter),
        (Ty::Array(of, _), Ty::Pointer(pointee)) => pointer_fit(of, &pointee.ty),
        (Ty::Pointer(from), Ty::Pointer(to)) => {
            let fits = pointer_fit(&from.ty, &to.ty)?;
            Some(match (from.is_const, to.is_const) {
                (true, false) => Rank::User,
                (false, true) => fits.min(Rank::Qualified),
                _ => fits,
            })
        }
        (Ty::Array(from, from_extent), Ty::Array(to, to_extent)) => {
            let extents = to_extent.is_none() || from_extent.is_none() || from_extent == to_extent;
            if extents { pointer_fit(from, to) } else { None }
        }
        (Ty::Bool | Ty::Enum(_) | Ty::Int { bits: 8 | 16, .. }, to) if *to == INT => Some(Rank::Promotion),
        (Ty::Float { bits: 32 }, Ty::Float { bits: 64 }) => Some(Rank::Promotion),
        (Ty::Int { bits: a, .. }, Ty::Int { bits: b, .. }) => {
            Some(if a == b { Rank::SameSize } else { Rank::Conversion })
        }
        (Ty::Float { .. }, Ty::Float { .. }) => Some(Rank::Conversion),
        (a, b) if a.is_integer() && b.is_integer() => Some(Rank::Conversion),
        (a, Ty::Float { .. }) if a.is_integer() => Some(Rank::Distant),
        (Ty::Float { .. }, b) if b.is_integer() => Some(Rank::Distant),
        (Ty::Pointer(_) | Ty::Array(..), Ty::Bool) => Some(Rank::Truth),
        // A literal 0 or NULL.
        (Ty::Int { .. }, Ty::Pointer(_)) => Some(Rank::User),
        (Ty::Functions(_) | Ty::FunctionPointer | Ty::Closure(_), Ty::FunctionPointer | Ty::Functions(_)) => {
            Some(Rank::Promotion)
        }
        (Ty::Group(a), Ty::Group(b)) => match (a, b) {
            (GroupTy::Tile(_), GroupTy::Tile(None)) | (GroupTy::Unknown, _) | (_, GroupTy::Unknown) => {
                Some(Rank::Promotion)
            }
            (GroupTy::Formed(_), GroupTy::Formed(_)) => Some(Rank::Qualified),
            (GroupTy::Tile(None), GroupTy::Tile(_)) => Some(Rank::Conversion),
            _ => None,
        },
        (Ty::Named(a), Ty::Named(b)) if &*a.name == "integral_constant" && a.name == b.name => {
            let open = |bounds: &[Bound]| bounds.iter().any(|bound| !matches!(bound, Bound::Type(_) | Bound::Value(_)));
            (open(&a.args) || open(&b.args) || a.args.get(1) == b.args.get(1)).then_some(Rank::OpenArgument)
        }
        // Conversions by constructors and conversion functions.
        (Ty::Class(_) | Ty::Named(_), _) | (_, Ty::Class(_) | Ty::Named(_)) => Some(Rank::User),
        _ => None,
    }
}

fn pointer_fit(from: &Ty, to: &Ty) -> Option<Rank> {
    if from == to {
        return Some(if from.is_known() { Rank::Exact } else { Rank::OpenArgument });
    }
    match (from, to) {
        (_, Ty::Void) => Some(Rank::Distant),
        (Ty::Unknown | Ty::Param(_) | Ty::Named(_), _) | (_, Ty::Unknown | Ty::Param(_) | Ty::Named(_)) => {
            Some(Rank::OpenParameter)
        }
        (Ty::Class(_), Ty::Class(_)) => Some(Rank::Distant),
        (Ty::Array(a, _), Ty::Array(b, _)) => pointer_fit(a, b),
        (Ty::Pointer(a), Ty::Pointer(b)) => pointer_fit(&a.ty, &b.ty),
        (Ty::Int { bits: a, .. }, Ty::Int { bits: b, .. }) if a == b => Some(Rank::OpenArgument),
        _ => None,
    }
}

/// How well a parameter binds what an argument is: where types leave several functions, the best counts.
pub fn binds(function: &Function, param: &Param, arg: &Ev) -> u32 {
    let forwards = |ty: &Type| match &ty.kind {
        TypeKind::Auto => true,
        TypeKind::Named(path) => super::templates::parameter_named(path, &function.template).is_some(),
        _ => false,
    };
    let TypeKind::Reference(inner) = &param.ty.kind else { return 2 };
    let is_lvalue = arg.category == Category::Lvalue;
    match (param.ty.is_rvalue, inner.is_const, is_lvalue) {
        (true, _, _) if forwards(inner) => 2,
        (true, _, true) => 0,
        (true, _, false) => 3,
        (false, true, _) => 2,
        (false, false, false) => 0,
        (false, false, true) if arg.is_const => u32::from(forwards(inner)),
        (false, false, true) => 3,
    }
}

/// The same for a method and its object.
pub fn binds_object(function: &Function, object: &Ev) -> u32 {
    use RefQualifier::{Lvalue, None, Rvalue};
    if object.is_const && !function.leaves_object {
        return 0;
    }
    let kind = match (function.object, object.category == Category::Lvalue) {
        (None, _) => 2,
        (Lvalue, true) | (Rvalue, false) => 3,
        // What is const binds values, too.
        (Lvalue, false) if function.leaves_object => 1,
        (Lvalue, false) | (Rvalue, true) => return 0,
    };
    2 * kind + u32::from(object.is_const == function.leaves_object)
}

/// How much the parameters of a template leave open: `T` more than `T *`, that more than `const T *` or `Box<T>`.
fn openness(function: &Function) -> u32 {
    let of_param = |param: &Param| match (&param.ty.kind, param.pack) {
        (_, true) => 3,
        (TypeKind::Reference(inner), _) if is_parameter(inner, &function.template) => 2,
        _ if is_parameter(&param.ty, &function.template) => 2,
        _ => u32::from(is_open_pointer(&param.ty, &function.template)),
    };
    function.params.iter().map(of_param).sum()
}

fn is_parameter(ty: &Type, params: &[TemplateParam]) -> bool {
    match &ty.kind {
        TypeKind::Named(path) => super::templates::parameter_named(path, params).is_some(),
        kind => matches!(kind, TypeKind::Auto),
    }
}

/// `T *` of a template, where `T` may be const.
fn is_open_pointer(ty: &Type, params: &[TemplateParam]) -> bool {
    match &ty.kind {
        TypeKind::Reference(inner) => is_open_pointer(inner, params),
        TypeKind::Pointer(inner) if !inner.is_const => match &inner.kind {
            TypeKind::Named(path) => super::templates::parameter_named(path, params).is_some(),
            kind => matches!(kind, TypeKind::Auto),
        },
        _ => false,
    }
}

/// A pointer to what is const if the argument points to what is.
fn as_const_as(wanted: Ty, arg: &Ty) -> Ty {
    match (&wanted, arg.value()) {
        (Ty::Pointer(to), Ty::Pointer(from)) => {
            Ty::Pointer(Arc::new(Pointee { is_const: from.is_const, ..(**to).clone() }))
        }
        _ => wanted,
    }
}

pub fn has_pack(params: &[TemplateParam]) -> bool {
    params
        .iter()
        .any(|param| matches!(param, TemplateParam::Type { pack: true, .. } | TemplateParam::Value { pack: true, .. }))
}
