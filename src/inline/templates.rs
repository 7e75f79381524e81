//! Template arguments: as written, by default, or deduced from the arguments of a call; the best specialisation.

use super::builder::Builder;
use super::memo::ClassKey;
use super::names::Found;
use super::program::ItemKind;
use super::scope::{Binding, ScopeId};
use super::types::{Bound, ClassTy, GroupTy, INT, Ty};
use super::values::Ev;
use crate::graph::{ItemId, Op, Source};
use crate::program::*;
use crate::text::Span;
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::sync::Arc;

/// Types within types from which on the value of an open argument is not written out any more.
const DEEP: usize = 16;

pub type Deduced = FxHashMap<Name, Bound>;

impl Builder<'_> {
    pub fn written_arguments(&mut self, segment: &Segment) -> Option<Vec<Bound>> {
        segment.args.as_ref().map(|args| self.template_arguments(args))
    }

    pub fn template_arguments(&mut self, args: &[TemplateArg]) -> Vec<Bound> {
        let mut bounds = Vec::with_capacity(args.len());
        for arg in args {
            self.template_argument(arg, &mut bounds);
        }
        bounds
    }

    fn template_argument(&mut self, arg: &TemplateArg, bounds: &mut Vec<Bound>) {
        match arg {
            TemplateArg::Type(ty) => bounds.push(self.type_argument(ty)),
            TemplateArg::Expr(expr) => bounds.push(self.value_argument(expr)),
            TemplateArg::Either(ty, expr) => {
                if let TypeKind::Named(path) = &ty.kind {
                    match self.find(path) {
                        Found::Type(Ty::Class(class)) if self.is_bare_template(path, &class) => {
                            bounds.push(Bound::Template(path.segments[0].name.clone()));
                        }
                        Found::Type(ty) | Found::Binding(Binding::Type(ty)) => bounds.push(self.type_bound(ty)),
                        Found::Binding(Binding::Pack(list)) => {
                            for one in list {
                                bounds.push(bound_of(&one));
                            }
                        }
                        Found::Binding(Binding::Template(name)) => bounds.push(Bound::Template(name)),
                        Found::None if self.constant_word(path).is_none() => bounds.push(self.type_argument(ty)),
                        _ => bounds.push(self.value_argument(expr)),
                    }
                } else if self.is_call_of_function(expr) || self.part_of_constant(expr).is_some() {
                    bounds.push(self.value_argument(expr));
                } else {
                    bounds.push(self.type_argument(ty));
                }
            }
            TemplateArg::Pack(inner) => {
                let name = match &**inner {
                    TemplateArg::Type(ty) | TemplateArg::Either(ty, _) => match &ty.kind {
                        TypeKind::Named(path) if path.segments.len() == 1 => path.segments.first(),
                        _ => None,
                    },
                    TemplateArg::Expr(Expr { kind: ExprKind::Name(path), .. }) => path.segments.first(),
                    _ => None,
                };
                if let Some(name) = name
                    && let Some(Binding::Pack(list)) = self.local(&name.name)
                {
                    bounds.extend(list.iter().map(bound_of));
                } else {
                    self.template_argument(inner, bounds);
                }
            }
        }
    }

    fn type_argument(&mut self, ty: &Type) -> Bound {
        let ty = self.resolve(ty);
        self.type_bound(ty)
    }

    fn type_bound(&self, ty: Ty) -> Bound {
        match ty {
            // A class template's name alone, for a template template parameter.
            Ty::Named(named) if named.args.is_empty() && self.is_class_template(&named.name) => {
                Bound::Template(named.name.clone())
            }
            ty => Bound::Type(ty),
        }
    }

    /// A class template's name alone, not inside the class, where it is the class.
    fn is_bare_template(&self, path: &Path, class: &Arc<ClassTy>) -> bool {
        let [only] = &path.segments[..] else { return false };
        if only.args.is_some() || class.class.template.is_empty() {
            return false;
        }
        let mut at = Some(self.scope);
        while let Some(id) = at {
            let scope = self.scope_at(id);
            if scope.class.as_ref().is_some_and(|inside| inside.class.name == class.class.name) {
                return false;
            }
            at = scope.parent;
        }
        true
    }

    /// `width()` is a type of functions only if `width` is a type. What takes arguments stays open: `is_power_of_2(N)` picks
    /// the steps of sorting networks, of which there are more than can be followed.
    fn is_call_of_function(&mut self, expr: &Expr) -> bool {
        let ExprKind::Call { callee, args } = &expr.kind else { return false };
        if !args.is_empty() {
            return false;
        }
        let ExprKind::Name(path) = &callee.kind else { return false };
        match self.find(path) {
            Found::Functions(_) => true,
            Found::None => self.constant_word(path).is_some(),
            _ => false,
        }
    }

    pub fn is_class_template(&self, name: &Name) -> bool {
        self.program.named(name).iter().any(|id| self.program.item(*id).kind == super::program::ItemKind::Class)
    }

    fn value_argument(&mut self, expr: &Expr) -> Bound {
        if let Some(value) = self.constant(expr) {
            return Bound::Value(value);
        }
        if let ExprKind::Name(path) = &expr.kind {
            match self.find(path) {
                Found::Functions(set) => return Bound::Functions(self.function_set(set)),
                Found::Binding(Binding::Static(Ty::Functions(set))) => return Bound::Functions(set),
                Found::Binding(Binding::Value { value, .. }) => return Bound::Runtime(value),
                _ => {}
            }
        }
        if let ExprKind::Unary(UnaryOp::AddressOf, inner) = &expr.kind {
            return self.value_argument(inner);
        }
        if let Some(parts) = self.constant_parts_of(expr) {
            // One value for one object, so that the same arguments make the same instance.
            let known = self.constant_parts.iter().find(|(_, known)| **known == parts).map(|(value, _)| *value);
            let value = known.unwrap_or_else(|| self.emit_at_entry(Op::Unknown { from: Vec::new(), unseen: None }));
            self.constant_parts.insert(value, parts);
            return Bound::Runtime(value);
        }
        if self.lookups > DEEP {
            // `make<N / 8>` inside `make<N>`: with an open N there is no end to it.
            let name = Name::from(format!("{}", expr.span.start));
            return Bound::Runtime(self.unbound_value(self.item, &name));
        }
        let value = self.rvalue_of(expr);
        match self.constant_of(value) {
            Some(known) => Bound::Value(known),
            None => Bound::Runtime(value),
        }
    }

    /// Defaults for what is not written, packs gathered; one bound for each parameter.
    pub fn complete_arguments(
        &mut self,
        params: &[TemplateParam],
        mut given: Vec<Bound>,
        scope: ScopeId,
    ) -> Vec<Bound> {
        let mut complete = Vec::with_capacity(params.len());
        given.reverse();
        for (index, param) in params.iter().enumerate() {
            let (pack, name) = match param {
                TemplateParam::Type { pack, name, .. } | TemplateParam::Value { pack, name, .. } => (*pack, name),
                TemplateParam::Template { name } => (false, name),
            };
            let bound = if pack {
                let rest = params.len() - index - 1;
                let count = given.len().saturating_sub(rest);
                match given.last() {
                    Some(Bound::Pack(_)) => given.pop().unwrap_or(Bound::Pack(Vec::new())),
                    _ => Bound::Pack((0..count).filter_map(|_| given.pop()).collect()),
                }
            } else if let Some(written) = given.pop() {
                written
            } else {
                self.default_argument(param, scope)
            };
            if let Some(name) = name {
                let declared = match param {
                    TemplateParam::Value { ty, .. } => Some(ty),
                    _ => None,
                };
                let binding = self.binding_of(&bound, declared, scope);
                self.bind_in(scope, name, binding);
            }
            complete.push(bound);
        }
        complete
    }

    pub(super) fn default_argument(&mut self, param: &TemplateParam, scope: ScopeId) -> Bound {
        let item = self.scope_at(scope).item;
        match param {
            TemplateParam::Type { default: Some(ty), .. } => {
                self.in_item(item, scope, |builder| builder.type_argument(ty))
            }
            TemplateParam::Value { default: Some(value), .. } => {
                self.in_item(item, scope, |builder| builder.value_argument(value))
            }
            TemplateParam::Type { name, .. } => Bound::Type(Ty::Param(name.clone().unwrap_or_else(|| Name::from("T")))),
            TemplateParam::Template { name } => Bound::Template(name.clone().unwrap_or_else(|| Name::from("T"))),
            TemplateParam::Value { name, .. } => {
                let name = name.clone().unwrap_or_else(|| Name::from(""));
                Bound::Runtime(self.unbound_value(item, &name))
            }
        }
    }

    /// The value of a template argument that nobody gave: one for each parameter.
    pub fn unbound_value(&mut self, item: ItemId, name: &Name) -> crate::graph::Value {
        let key = (item, name.clone());
        if let Some(value) = self.unbound.get(&key) {
            return *value;
        }
        let open = Source::Open { item, name: name.clone() };
        let value = self.emit_at_entry(Op::Source(open));
        self.unbound.insert(key, value);
        value
    }

    /// `Group::size()` of a type that nobody gave: one number, a multiple of what it is in the only class in view that it may be.
    pub fn size_of_open_type(&mut self, path: &Path, span: Span) -> Option<Ev> {
        let [class @ .., last] = &path.segments[..] else { return None };
        if class.is_empty() || last.args.is_some() {
            return None;
        }
        let Ty::Param(open) = self.resolve_path(&Path { segments: class.to_vec(), global: path.global }) else {
            return None;
        };
        let times = self.factor_of_only_method(&last.name)?;
        let root = self.graph.frames.first().map_or(self.item, |root| root.function);
        let some = self.unbound_value(root, &Name::from(format!("{open}::{}()", last.name)));
        let times = self.int(times, span);
        Some(Ev::value(self.emit(Op::Binary(BinaryOp::Mul, times, some), span), INT))
    }

    /// The number that `return 32 * N;` is a multiple of, in the only static method of that name without parameters.
    fn factor_of_only_method(&self, name: &Name) -> Option<i64> {
        let program = self.program;
        let visible = program.visible(self.item, name);
        let mut methods = visible.iter().filter_map(|id| {
            let item = program.item(*id);
            let is_such = item.kind == ItemKind::Function && item.class.is_some() && item.is_static && item.has_body;
            is_such.then(|| program.function(*id)).flatten().filter(|method| method.params.is_empty())
        });
        let (Some(only), None) = (methods.next(), methods.next()) else { return None };
        let StmtKind::Block(body) = &only.body.kind else { return None };
        let [Stmt { kind: StmtKind::Return(Some(result)), .. }] = &body[..] else { return None };
        let (mut factor, mut work) = (1i64, vec![result]);
        while let Some(part) = work.pop() {
            match &part.kind {
                ExprKind::Int { value, .. } => factor = factor.checked_mul(*value)?,
                ExprKind::Binary(BinaryOp::Mul, a, b) => work.extend([a.as_ref(), b.as_ref()]),
                _ => {}
            }
        }
        (factor > 1).then_some(factor)
    }

    // Classes

    /// The class that a name with arguments means among the primary template and its specialisations.
    pub fn class_among(&mut self, classes: &[ItemId], args: Option<Vec<Bound>>, scope: Option<ScopeId>) -> Option<Ty> {
        let args = args.unwrap_or_default();
        let key = ClassKey { first: *classes.first()?, args: args.clone(), scope, is_lenient: self.is_lenient };
        if let Some(known) = self.memo.classes.get(&key) {
            return known.clone();
        }
        let limits_met = self.memo.limits_met;
        let found = self.choose_class(classes, args, scope);
        if self.memo.limits_met == limits_met {
            self.memo.classes.insert(key, found.clone());
        }
        found
    }

    fn choose_class(&mut self, classes: &[ItemId], args: Vec<Bound>, scope: Option<ScopeId>) -> Option<Ty> {
        let program = self.program;
        let mut primary = None;
        let mut special = Vec::new();
        for id in classes {
            let Some(class) = program.class(*id) else { continue };
            match &class.specialises {
                None => primary = primary.or(Some((*id, class))),
                Some(pattern) => special.push((*id, class, pattern)),
            }
        }
        let inside = primary.as_ref().map(|(id, _)| {
            let parent = match scope {
                Some(scope) => scope,
                None => self.item_scope(*id),
            };
            self.new_scope(Some(parent), *id)
        });
        let complete = match (&primary, inside) {
            (Some((_, class)), Some(inside)) => self.complete_arguments(&class.template, args, inside),
            _ => args,
        };
        let mut best: Option<(usize, Ty)> = None;
        // Where only specialisations have a body, one that open arguments do not contradict is taken.
        let outer = std::mem::replace(&mut self.is_lenient, primary.is_none());
        for (id, class, pattern) in special {
            let mut deduced = Deduced::default();
            let parent = self.item_scope(id);
            let Some(score) =
                self.in_item(id, parent, |builder| builder.matches(pattern, &complete, &class.template, &mut deduced))
            else {
                continue;
            };
            let is_whole = match (&primary, inside) {
                (Some((_, primary)), Some(inside)) => {
                    self.is_rest_by_default(pattern, &complete, &primary.template, inside)
                }
                // Nothing tells what is there by default.
                _ => ends_in_pack(pattern) || count_of(&complete) <= pattern.len(),
            };
            if !is_whole {
                continue;
            }
            if best.as_ref().is_none_or(|(known, _)| score > *known) {
                let inside = self.new_scope(Some(parent), id);
                let args = self.deduced_arguments(&class.template, &deduced, inside);
                best = Some((score, self.class_type(id, class.clone(), args, scope, complete.clone())));
            }
        }
        self.is_lenient = outer;
        if let Some((_, ty)) = best {
            return Some(ty);
        }
        let (id, class) = primary?;
        Some(self.class_type(id, class.clone(), complete.clone(), scope, complete))
    }

    /// Whether the arguments that a specialisation does not write are those that are there by default: of
    /// `template <> struct Pipe<>` none.
    fn is_rest_by_default(
        &mut self,
        pattern: &[TemplateArg],
        complete: &[Bound],
        params: &[TemplateParam],
        inside: ScopeId,
    ) -> bool {
        if ends_in_pack(pattern) || count_of(complete) <= pattern.len() {
            return true;
        }
        let mut written = pattern.len();
        for (param, bound) in params.iter().zip(complete) {
            match bound {
                Bound::Pack(list) if list.len() > written => return false,
                Bound::Pack(list) => written -= list.len(),
                _ if written > 0 => written -= 1,
                bound => {
                    let default = self.default_argument(param, inside);
                    let is_open = matches!(bound, Bound::Runtime(_) | Bound::Type(Ty::Param(_) | Ty::Unknown));
                    if *bound != default && !(is_open && self.is_lenient) {
                        return false;
                    }
                }
            }
        }
        true
    }

    pub fn local_class(&mut self, class: Arc<Class>, item: ItemId, scope: ScopeId, args: Option<Vec<Bound>>) -> Ty {
        let inside = self.new_scope(Some(scope), item);
        let args = self.complete_arguments(&class.template, args.unwrap_or_default(), inside);
        self.class_type(item, class, args.clone(), Some(scope), args)
    }

    fn class_type(
        &mut self,
        item: ItemId,
        class: Arc<Class>,
        args: Vec<Bound>,
        scope: Option<ScopeId>,
        written: Vec<Bound>,
    ) -> Ty {
        let key = (Arc::as_ptr(&class) as usize, args.clone(), scope);
        let interned = self.memo.interned.entry(key);
        Ty::Class(interned.or_insert_with(|| Arc::new(ClassTy::new(item, class, args, scope, written))).clone())
    }

    /// How special a pattern is that the arguments match: patterns that leave less open count more.
    pub fn matches(
        &mut self,
        pattern: &[TemplateArg],
        args: &[Bound],
        params: &[TemplateParam],
        deduced: &mut Deduced,
    ) -> Option<usize> {
        let mut score = 1;
        let each = args.iter().flat_map(|arg| match arg {
            Bound::Pack(list) => &list[..],
            other => std::slice::from_ref(other),
        });
        let args: Vec<&Bound> = each.collect();
        let (plain, pack) = match pattern.split_last() {
            Some((TemplateArg::Pack(inner), before)) => (before, Some(inner)),
            _ => (pattern, None),
        };
        if plain.len() > args.len()
            || pack.is_none() && plain.len() < args.len() && !params.is_empty() && plain.is_empty()
        {
            return None;
        }
        for (pattern, arg) in plain.iter().zip(args.iter().copied()) {
            score += self.match_argument(pattern, arg, params, deduced)?;
        }
        if let Some(name) = pack.and_then(|inner| name_of_argument(inner)) {
            let rest = args[plain.len()..].iter().copied().cloned().collect();
            deduced.entry(name).or_insert(Bound::Pack(rest));
        }
        Some(score)
    }

    fn match_argument(
        &mut self,
        pattern: &TemplateArg,
        arg: &Bound,
        params: &[TemplateParam],
        deduced: &mut Deduced,
    ) -> Option<usize> {
        match pattern {
            TemplateArg::Type(ty) => self.match_type(ty, arg, params, deduced),
            TemplateArg::Either(ty, expr) => match arg {
                Bound::Type(_) | Bound::Template(_) | Bound::Pack(_) => self.match_type(ty, arg, params, deduced),
                _ => self.match_value(expr, arg, params, deduced),
            },
            TemplateArg::Expr(expr) => self.match_value(expr, arg, params, deduced),
            TemplateArg::Pack(_) => Some(0),
        }
    }

    fn match_value(
        &mut self,
        expr: &Expr,
        arg: &Bound,
        params: &[TemplateParam],
        deduced: &mut Deduced,
    ) -> Option<usize> {
        if let ExprKind::Name(path) = &expr.kind
            && let Some(name) = parameter_named(path, params)
        {
            return bind_once(deduced, name, arg.clone()).then_some(0);
        }
        match arg {
            Bound::Value(value) => (self.constant(expr)? == *value).then_some(2),
            Bound::Runtime(_) if self.is_lenient => Some(0),
            _ => None,
        }
    }

    fn match_type(&mut self, ty: &Type, arg: &Bound, params: &[TemplateParam], deduced: &mut Deduced) -> Option<usize> {
        if let TypeKind::Named(path) = &ty.kind
            && let Some(name) = parameter_named(path, params)
        {
            return bind_once(deduced, name, arg.clone()).then_some(0);
        }
        let Bound::Type(actual) = arg else { return None };
        if self.is_lenient && !actual.is_known() {
            return Some(0);
        }
        match (&ty.kind, actual) {
            (TypeKind::Pointer(inner), Ty::Pointer(pointee)) => {
                Some(1 + self.match_type(inner, &Bound::Type(pointee.ty.clone()), params, deduced)?)
            }
            (TypeKind::Pointer(_), _) | (TypeKind::Reference(_), _) | (TypeKind::Array(..), _) => None,
            (TypeKind::Named(path), actual) => {
                if let Some((pattern, args)) = pattern_of(path, actual) {
                    return Some(1 + self.matches(pattern, &args, params, deduced)?);
                }
                if is_condition(path) {
                    return self.match_condition(ty, arg, params, deduced);
                }
                let expected = self.resolve(ty);
                (expected == *actual && expected.is_known()).then_some(2)
            }
            _ => None,
        }
    }

    pub fn deduced_arguments(&mut self, params: &[TemplateParam], deduced: &Deduced, scope: ScopeId) -> Vec<Bound> {
        let mut args = Vec::with_capacity(params.len());
        for param in params {
            let (name, declared) = match param {
                TemplateParam::Type { name, .. } | TemplateParam::Template { name } => (name, None),
                TemplateParam::Value { name, ty, .. } => (name, Some(ty)),
            };
            let bound = match name.as_ref().and_then(|name| deduced.get(name)) {
                Some(bound) => bound.clone(),
                None => match param {
                    TemplateParam::Type { pack: true, .. } | TemplateParam::Value { pack: true, .. } => {
                        Bound::Pack(Vec::new())
                    }
                    _ => self.default_argument(param, scope),
                },
            };
            if let Some(name) = name {
                let binding = self.binding_of(&bound, declared, scope);
                self.bind_in(scope, name, binding);
            }
            args.push(bound);
        }
        args
    }

    // Functions

    // Constants of items and classes
}

fn ends_in_pack(pattern: &[TemplateArg]) -> bool {
    matches!(pattern.last(), Some(TemplateArg::Pack(_)))
}

/// How many arguments there are, those in packs one by one.
fn count_of(args: &[Bound]) -> usize {
    args.iter().map(|arg| if let Bound::Pack(list) = arg { list.len() } else { 1 }).sum()
}

pub fn bound_of(binding: &Binding) -> Bound {
    match binding {
        Binding::Type(ty) | Binding::Static(ty) => Bound::Type(ty.clone()),
        Binding::Constant { value, .. } | Binding::Object { constant: Some(value), .. } => Bound::Value(*value),
        Binding::Value { value, .. } => Bound::Runtime(*value),
        Binding::Template(name) => Bound::Template(name.clone()),
        Binding::Pack(list) => Bound::Pack(list.iter().map(bound_of).collect()),
        Binding::Object { ty, .. } | Binding::Alias { ty, .. } => Bound::Type(ty.clone()),
        Binding::Class { .. } | Binding::Path(_) => Bound::Type(Ty::Unknown),
    }
}

/// The name alone in an argument: what a pack is called.
fn name_of_argument(arg: &TemplateArg) -> Option<Name> {
    let path = match arg {
        TemplateArg::Type(Type { kind: TypeKind::Named(path), .. })
        | TemplateArg::Either(Type { kind: TypeKind::Named(path), .. }, _)
        | TemplateArg::Expr(Expr { kind: ExprKind::Name(path), .. }) => path,
        _ => return None,
    };
    match &path.segments[..] {
        [only] => Some(only.name.clone()),
        _ => None,
    }
}

/// `enable_if_t<..>`, `typename enable_if<..>::type`, an alias with arguments: not deduced from, but looked at.
fn is_condition(path: &Path) -> bool {
    path.segments.iter().any(|segment| segment.args.is_some())
}

/// The template parameter that a plain name means.
pub fn parameter_named(path: &Path, params: &[TemplateParam]) -> Option<Name> {
    let [only] = &path.segments[..] else { return None };
    if only.args.is_some() {
        return None;
    }
    let is_named = |param: &&TemplateParam| match param {
        TemplateParam::Type { name, .. } | TemplateParam::Value { name, .. } | TemplateParam::Template { name } => {
            name.as_ref() == Some(&only.name)
        }
    };
    params.iter().find(is_named).map(|_| only.name.clone())
}

/// The arguments written in `Buffer<N>` and those of a type of that name.
pub fn pattern_of<'t, 'a>(path: &'t Path, actual: &'a Ty) -> Option<(&'t [TemplateArg], Cow<'a, [Bound]>)> {
    let last = path.segments.last()?;
    let pattern = last.args.as_deref()?;
    let args = match actual {
        Ty::Class(class) if class.class.name.as_ref() == Some(&last.name) => &class.written[..],
        Ty::Named(named) if named.name == last.name => &named.args[..],
        Ty::Named(named) if &*named.name == "integral_constant" && &*last.name == "bool_constant" => {
            named.args.get(1..).unwrap_or_default()
        }
        Ty::Named(named) if &*named.name == "integer_sequence" && &*last.name == "index_sequence" => {
            named.args.get(1..).unwrap_or_default()
        }
        Ty::Library(library) if library.name == last.name => &library.args[..],
        Ty::Group(GroupTy::Tile(Some(size))) if last.name.contains("tile") => {
            return Some((pattern, vec![Bound::Value(i64::from(*size))].into()));
        }
        _ => return None,
    };
    Some((pattern, args.into()))
}

fn bind_once(deduced: &mut Deduced, name: Name, bound: Bound) -> bool {
    match deduced.get(&name) {
        Some(known) => *known == bound,
        None => {
            deduced.insert(name, bound);
            true
        }
    }
}

pub fn decay(ty: &Ty) -> Ty {
    match ty.value() {
        Ty::Array(of, _) => Ty::pointer_to((**of).clone()),
        other => other.clone(),
    }
}
