//! Whether a template may be taken for its arguments: `enable_if`, `void_t`, `requires`, concepts. Where that cannot be told it may.

use super::builder::Builder;
use super::names::Found;
use super::program::ItemKind;
use super::templates::Deduced;
use super::types::{Bound, Ty};
use crate::graph::ItemId;
use crate::program::*;

/// Aliases of aliases of `enable_if_t`.
const DEEP: usize = 8;

impl Builder<'_> {
    /// `None` if its arguments, bound in the current scope, rule the function out; else whether they had to be weighed.
    pub fn meets_constraints(&mut self, function: &Function, args: &[Ty]) -> Option<bool> {
        let mut weighed = false;
        if !function.requires.is_empty() || names_parameters(&function.result) {
            for (index, param) in function.params.iter().enumerate() {
                self.bind_as_typed(param, args.get(index));
            }
        }
        for condition in &function.requires {
            match self.constant(condition) {
                Some(0) => return None,
                known => weighed |= known.is_some(),
            }
        }
        for param in &function.template {
            let out = match param {
                TemplateParam::Value { name, ty, default, .. } => match self.concept_of(ty) {
                    Some((concept, args)) => {
                        let Some(bound) = name.as_ref().and_then(|name| self.bound_here(name)) else { continue };
                        let args = std::iter::once(bound).chain(args).collect();
                        let value = self.concept_value(&concept, args);
                        weighed |= value.is_some();
                        value == Some(0)
                    }
                    None => default.is_some() && self.is_disabled(ty, 0),
                },
                TemplateParam::Type { default: Some(ty), .. } => self.is_disabled(ty, 0),
                _ => false,
            };
            if out {
                return None;
            }
        }
        let types = std::iter::once(&function.result).chain(function.params.iter().map(|param| &param.ty));
        for ty in types {
            if self.is_disabled(ty, 0) {
                return None;
            }
        }
        Some(weighed)
    }

    fn bound_here(&mut self, name: &Name) -> Option<Bound> {
        self.local(name).map(super::templates::bound_of)
    }

    /// `template <Small T>` reads as a value of the type `Small`: a concept, and its arguments behind the first.
    fn concept_of(&mut self, ty: &Type) -> Option<(Path, Vec<Bound>)> {
        let TypeKind::Named(path) = &ty.kind else { return None };
        let last = path.segments.last()?;
        let is_concept = match self.find(path) {
            Found::Value(_) | Found::Constant(..) => true,
            Found::None => super::traits::is_concept(&last.name),
            _ => false,
        };
        if !is_concept {
            return None;
        }
        let args = self.written_arguments(last).unwrap_or_default();
        Some((path.clone(), args))
    }

    pub fn concept_value(&mut self, concept: &Path, args: Vec<Bound>) -> Option<i64> {
        let last = concept.segments.last()?;
        let plain = without_arguments(concept);
        match self.find(&plain) {
            Found::Value(item) => {
                let items: Vec<ItemId> = vec![item];
                self.variable_among(&items, args).map(|(value, _)| value)
            }
            _ => super::traits::concept_value(&last.name, &args).map(i64::from),
        }
    }

    /// What a function asks of its arguments, by the names of concepts: each with those that its own definition names.
    pub fn concepts_asked(&mut self, function: &Function) -> Vec<Name> {
        let mut asked = Vec::new();
        for param in &function.template {
            if let TemplateParam::Value { ty: Type { kind: TypeKind::Named(path), .. }, .. } = param {
                self.concepts_in(path, 0, &mut asked);
            }
        }
        for condition in &function.requires {
            self.concepts_of(condition, 0, &mut asked);
        }
        asked.sort_unstable();
        asked.dedup();
        asked
    }

    fn concepts_of(&mut self, condition: &Expr, depth: usize, asked: &mut Vec<Name>) {
        match &condition.kind {
            ExprKind::Name(path) => self.concepts_in(path, depth, asked),
            ExprKind::Binary(BinaryOp::And, a, b) if depth < DEEP => {
                self.concepts_of(a, depth + 1, asked);
                self.concepts_of(b, depth + 1, asked);
            }
            _ => {}
        }
    }

    fn concepts_in(&mut self, path: &Path, depth: usize, asked: &mut Vec<Name>) {
        let Some(last) = path.segments.last() else { return };
        let plain = without_arguments(path);
        match self.find(&plain) {
            Found::Value(item) => {
                asked.push(last.name.clone());
                if let Some(declaration) = self.program.value(item)
                    && let Init::Expr(definition) = &declaration.init
                    && depth < DEEP
                {
                    let definition = definition.clone();
                    let scope = self.item_scope(item);
                    self.in_item(item, scope, |builder| builder.concepts_of(&definition, depth + 1, asked));
                }
            }
            Found::None if super::traits::is_concept(&last.name) => {
                asked.push(last.name.clone());
                asked.extend(super::traits::concept_includes(&last.name).map(Name::from));
            }
            _ => {}
        }
    }

    /// The type is none for what its parameters are bound to in the current scope.
    pub fn is_disabled(&mut self, ty: &Type, depth: usize) -> bool {
        if depth > DEEP {
            return false;
        }
        match &ty.kind {
            TypeKind::Pointer(inner) | TypeKind::Reference(inner) | TypeKind::Array(inner, _) => {
                self.is_disabled(inner, depth)
            }
            TypeKind::Named(path) => {
                if let [.., class, last] = &path.segments[..]
                    && class.args.is_none()
                    && self.lacks_member(class, last)
                {
                    return true;
                }
                path.segments.iter().any(|segment| self.is_disabled_segment(segment, depth))
            }
            TypeKind::Decltype(expr) => self.is_possible(expr) == Some(false),
            _ => false,
        }
    }

    fn is_disabled_segment(&mut self, segment: &Segment, depth: usize) -> bool {
        let Some(args) = &segment.args else { return false };
        if matches!(&*segment.name, "enable_if_t" | "enable_if") {
            return args.first().is_some_and(|condition| self.condition_value(condition) == Some(0));
        }
        let inside = args.iter().any(|arg| match arg {
            TemplateArg::Type(ty) | TemplateArg::Either(ty, _) => self.is_disabled(ty, depth + 1),
            _ => false,
        });
        if inside {
            return true;
        }
        // An alias of one of these.
        let program = self.program;
        let from = self.scope_at(self.scope).item;
        let alias =
            program.visible(from, &segment.name).iter().copied().find(|id| program.item(*id).kind == ItemKind::Alias);
        let Some(id) = alias else { return false };
        let (Some(target), params) = (program.alias(id), program.alias_params(id)) else { return false };
        let names_type = matches!(&target.kind, TypeKind::Named(_));
        if params.is_empty() || !names_type {
            return false;
        }
        let args = self.template_arguments(args);
        let parent = self.item_scope(id);
        let scope = self.new_scope(Some(parent), id);
        let args = self.complete_arguments(params, args, scope);
        self.bind_template(scope, params, &args);
        self.in_item(id, scope, |builder| builder.is_disabled(target, depth + 1))
    }

    /// `is_same<T, int>::value` reads like a type, too.
    fn condition_value(&mut self, arg: &TemplateArg) -> Option<i64> {
        match arg {
            TemplateArg::Expr(expr) | TemplateArg::Either(_, expr) => self.constant(expr),
            TemplateArg::Type(Type { kind: TypeKind::Named(path), .. }) => {
                let kind = ExprKind::Name(path.clone());
                self.constant(&Expr { kind, span: crate::text::Span::default() })
            }
            _ => None,
        }
    }

    /// `typename T::type` where `T` is a class in view without it.
    fn lacks_member(&mut self, class: &Segment, member: &Segment) -> bool {
        let Some(super::scope::Binding::Type(ty)) = self.local(&class.name).cloned() else { return false };
        self.member_exists(&ty, member) == Some(false)
    }

    /// The argument of a specialisation that only says whether it is there: `enable_if_t<..>`, `void_t<..>`.
    pub fn match_condition(
        &mut self,
        ty: &Type,
        arg: &Bound,
        params: &[TemplateParam],
        deduced: &Deduced,
    ) -> Option<usize> {
        let Bound::Type(actual) = arg else { return None };
        let scope = self.new_scope(Some(self.scope), self.item);
        let bounds = self.deduced_arguments(params, deduced, scope);
        self.bind_template(scope, params, &bounds);
        let item = self.item;
        self.in_item(item, scope, |builder| {
            if builder.is_disabled(ty, 0) {
                return None;
            }
            let expected = builder.resolve(ty);
            (expected == *actual && expected.is_known()).then_some(2)
        })
    }

    // Variable templates

    /// The value of a variable template for its arguments, among the primary template and its specialisations.
    pub fn variable_among(&mut self, items: &[ItemId], args: Vec<Bound>) -> Option<(i64, Ty)> {
        let program = self.program;
        let mut candidates = Vec::new();
        for id in items {
            if let Some(declaration) = program.value(*id) {
                let scope = self.item_scope(*id);
                candidates.push((*id, scope, &**declaration));
            }
        }
        self.value_of_template(&candidates, args)
    }

    pub fn value_of_template(
        &mut self,
        candidates: &[(ItemId, super::scope::ScopeId, &Declaration)],
        args: Vec<Bound>,
    ) -> Option<(i64, Ty)> {
        let primary = *candidates.iter().find(|(.., one)| one.specialises.is_none() && !one.template.is_empty())?;
        let inside = self.new_scope(Some(primary.1), primary.0);
        let complete = self.complete_arguments(&primary.2.template, args, inside);
        let mut best: Option<(usize, ItemId, super::scope::ScopeId, &Declaration)> = None;
        for (id, parent, declaration) in candidates.iter().copied() {
            let Some(pattern) = &declaration.specialises else { continue };
            let mut deduced = Deduced::default();
            let params = &declaration.template;
            let score = self.in_item(id, parent, |builder| builder.matches(pattern, &complete, params, &mut deduced));
            let Some(score) = score else { continue };
            if best.as_ref().is_none_or(|(known, ..)| score > *known) {
                let scope = self.new_scope(Some(parent), id);
                let bounds = self.deduced_arguments(params, &deduced, scope);
                self.bind_template(scope, params, &bounds);
                best = Some((score, id, scope, declaration));
            }
        }
        let (id, scope, declaration) = match best {
            Some((_, id, scope, declaration)) => (id, scope, declaration),
            None => {
                self.bind_template(inside, &primary.2.template, &complete);
                (primary.0, inside, primary.2)
            }
        };
        if !declaration.ty.is_const && !declaration.storage.is_constexpr && !self.program.item(id).is_const {
            return None;
        }
        self.in_item(id, scope, |builder| builder.constant_declaration(declaration))
    }
}

fn without_arguments(path: &Path) -> Path {
    let plain = path.segments.iter().map(|segment| Segment { name: segment.name.clone(), args: None });
    Path { segments: plain.collect(), global: path.global }
}

/// A result that is told by the function's parameters: `decltype(a + b)`.
fn names_parameters(ty: &Type) -> bool {
    match &ty.kind {
        TypeKind::Decltype(_) => true,
        TypeKind::Pointer(inner) | TypeKind::Reference(inner) | TypeKind::Array(inner, _) => names_parameters(inner),
        TypeKind::Named(path) => path
            .segments
            .iter()
            .flat_map(|segment| segment.args.iter().flatten())
            .any(|arg| matches!(arg, TemplateArg::Type(ty) | TemplateArg::Either(ty, _) if names_parameters(ty))),
        _ => false,
    }
}
