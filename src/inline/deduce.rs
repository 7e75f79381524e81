//! Template arguments of functions from the arguments of a call.

use super::builder::Builder;
use super::scope::ScopeId;
use super::templates::{Deduced, decay, parameter_named, pattern_of};
use super::types::{Bound, Callable, Ty};
use crate::program::*;

impl Builder<'_> {
    /// The scope a function's own names are looked up in from its header on.
    pub fn scope_of_callable(&mut self, callable: &Callable) -> ScopeId {
        match (callable.scope, &callable.class) {
            (Some(scope), _) => scope,
            (None, Some(class)) => {
                let class = class.clone();
                self.class_scope(&class)
            }
            (None, None) => self.item_scope(callable.item),
        }
    }

    /// One bound for each template parameter of the function; `None` if the arguments contradict each other.
    pub fn bind_function_template(
        &mut self,
        callable: &Callable,
        explicit: &[Bound],
        args: &[Ty],
    ) -> Option<Vec<Bound>> {
        let function = callable.function.clone();
        if function.template.is_empty() && function.params.iter().all(|param| !is_auto(&param.ty)) {
            return Some(Vec::new());
        }
        let parent = self.scope_of_callable(callable);
        let scope = self.new_scope(Some(parent), callable.item);
        let mut deduced = Deduced::default();
        let mut explicit = explicit.iter();
        for param in &function.template {
            let (name, pack) = match param {
                TemplateParam::Type { name, pack, .. } | TemplateParam::Value { name, pack, .. } => (name, *pack),
                TemplateParam::Template { name } => (name, false),
            };
            let Some(name) = name else {
                explicit.next();
                continue;
            };
            if pack {
                let rest: Vec<Bound> = explicit.by_ref().cloned().collect();
                if !rest.is_empty() {
                    deduced.insert(name.clone(), Bound::Pack(rest));
                }
            } else if let Some(bound) = explicit.next() {
                deduced.insert(name.clone(), bound.clone());
            }
        }
        let fixed: Vec<Name> = deduced.keys().cloned().collect();
        for (index, param) in function.params.iter().enumerate() {
            if param.pack {
                let rest: Vec<Bound> = args[index.min(args.len())..].iter().map(|ty| Bound::Type(decay(ty))).collect();
                if let Some(name) = pack_type_name(&param.ty) {
                    deduced.entry(name).or_insert(Bound::Pack(rest));
                }
                break;
            }
            let Some(arg) = args.get(index) else { break };
            self.in_item(callable.item, scope, |builder| {
                builder.deduce(&param.ty, arg, &function.template, &fixed, &mut deduced)
            });
        }
        Some(self.deduced_arguments(&function.template, &deduced, scope))
    }

    /// `Guard guard(f)`: the class with its template arguments from those of a constructor or, of an aggregate, from the
    /// members' values; the type itself where nothing is open.
    pub fn deduce_class(&mut self, ty: Ty, args: &[Expr]) -> Ty {
        let Ty::Class(class) = &ty else { return ty };
        let is_open = |bound: &Bound| matches!(bound, Bound::Type(Ty::Param(_)));
        // Its own parameters are its arguments where none are written.
        let mut own = class.class.template.iter().zip(&class.args);
        let is_own = |(param, bound): (&TemplateParam, &Bound)| match (param, bound) {
            (TemplateParam::Type { name: Some(own), .. }, Bound::Type(Ty::Param(name))) => name == own,
            _ => false,
        };
        let pack = match class.class.template.as_slice() {
            [TemplateParam::Type { name: Some(name), pack: true, .. }] => {
                let is_it = |base: &Path| matches!(&base.segments[..], [only] if only.name == *name);
                let is_empty = matches!(&class.args[..], [Bound::Pack(none)] if none.is_empty());
                (is_empty && class.class.bases.iter().any(is_it)).then(|| name.clone())
            }
            _ => None,
        };
        if args.is_empty() || pack.is_none() && !own.any(is_own) {
            return ty;
        }
        let args: Vec<Ty> = args.iter().map(|arg| self.type_of_argument(arg)).collect();
        if let [Ty::Class(same)] = &args[..]
            && same.item == class.item
        {
            return args[0].clone();
        }
        if pack.is_some() {
            // `over{f, g}` of a class that derives from each: so says its deduction guide.
            let bounds = args.into_iter().map(|arg| Bound::Type(decay(&arg))).collect();
            let found = self.class_among(&[class.item], Some(bounds), class.scope);
            return found.unwrap_or(ty);
        }
        let template = class.class.template.clone();
        let scope = self.class_scope(class);
        let constructors = self.constructors_of(class);
        let of_bases = class.class.bases.iter().map(|base| Type::plain(TypeKind::Named(base.clone())));
        let members = class.class.members.iter().filter(|member| !member.storage.is_static);
        let headers: Vec<Vec<Type>> = match constructors.is_empty() {
            true => vec![of_bases.chain(members.map(|member| member.ty.clone())).collect()],
            false => constructors
                .iter()
                .filter(|one| self.takes(one, args.len()))
                .map(|one| one.function.params.iter().map(|param| param.ty.clone()).collect())
                .collect(),
        };
        for header in headers {
            let mut deduced = Deduced::default();
            self.in_item(class.item, scope, |builder| {
                for (param, arg) in header.iter().zip(&args) {
                    builder.deduce(param, arg, &template, &[], &mut deduced);
                }
            });
            let inside = self.new_scope(Some(scope), class.item);
            let bounds = self.deduced_arguments(&template, &deduced, inside);
            if !bounds.iter().any(is_open)
                && let Some(found) = self.class_among(&[class.item], Some(bounds), class.scope)
            {
                return found;
            }
        }
        ty
    }

    fn type_of_argument(&mut self, arg: &Expr) -> Ty {
        match &arg.kind {
            ExprKind::Lambda(_) => self.eval(arg).ty,
            _ => self.type_of(arg),
        }
    }

    fn deduce(&mut self, param: &Type, arg: &Ty, params: &[TemplateParam], fixed: &[Name], deduced: &mut Deduced) {
        match &param.kind {
            TypeKind::Named(path) => {
                if let Some(name) = parameter_named(path, params) {
                    let ty = decay(arg);
                    if !fixed.contains(&name) && ty.value().is_known() {
                        deduced.entry(name).or_insert(Bound::Type(ty));
                    }
                    return;
                }
                self.deduce_template(path, arg.value(), params, deduced);
                for actual in self.with_bases(arg.value()) {
                    if let Some((pattern, args)) = pattern_of(path, &actual) {
                        let mut found = Deduced::default();
                        self.matches(pattern, &args, params, &mut found);
                        for (name, bound) in found {
                            if !fixed.contains(&name) {
                                deduced.entry(name).or_insert(bound);
                            }
                        }
                        break;
                    }
                }
            }
            TypeKind::Pointer(inner) => {
                let element = arg.value().element();
                self.deduce(inner, &element, params, fixed, deduced);
            }
            TypeKind::Reference(inner) => match (&inner.kind, arg.value()) {
                (TypeKind::Named(path), Ty::Array(..)) => {
                    if let Some(name) = parameter_named(path, params) {
                        deduced.entry(name).or_insert(Bound::Type(arg.value().clone()));
                    }
                }
                _ => self.deduce(inner, arg, params, fixed, deduced),
            },
            TypeKind::Array(inner, extent) => {
                if let Ty::Array(of, known) = arg.value() {
                    let of = (**of).clone();
                    if let (Some(Expr { kind: ExprKind::Name(path), .. }), Some(known)) = (extent.as_deref(), known)
                        && let Some(name) = parameter_named(path, params)
                        && !fixed.contains(&name)
                    {
                        deduced.entry(name).or_insert(Bound::Value(*known));
                    }
                    self.deduce(inner, &of, params, fixed, deduced);
                } else if let Ty::Pointer(pointee) = arg.value() {
                    let element = pointee.ty.clone();
                    self.deduce(inner, &element, params, fixed, deduced);
                }
            }
            _ => {}
        }
    }

    /// `C<T, N>` of a template template parameter `C`: any class with arguments.
    fn deduce_template(&mut self, path: &Path, arg: &Ty, params: &[TemplateParam], deduced: &mut Deduced) {
        let ([Segment { name, args: Some(pattern) }], Ty::Class(class)) = (&path.segments[..], arg) else { return };
        let is_it = |param: &TemplateParam| matches!(param, TemplateParam::Template { name: Some(own) } if own == name);
        let Some(template) = class.class.name.clone().filter(|_| params.iter().any(is_it)) else { return };
        deduced.entry(name.clone()).or_insert(Bound::Template(template));
        let (pattern, args) = (pattern.clone(), class.written.clone());
        let mut found = Deduced::default();
        self.matches(&pattern, &args, params, &mut found);
        for (name, bound) in found {
            deduced.entry(name).or_insert(bound);
        }
    }

    /// Whether the arguments have an instance of a class for each parameter like `Pair<T> const &`: where `T` is to be found,
    /// nothing is converted. What nobody knows may be one if another argument is.
    pub fn has_instances_for(&self, function: &Function, args: &[Ty]) -> bool {
        let (mut wanted, mut given) = (false, false);
        for (param, arg) in function.params.iter().zip(args) {
            let ty = match &param.ty.kind {
                TypeKind::Reference(inner) => inner,
                _ => &param.ty,
            };
            let TypeKind::Named(Path { segments, .. }) = &ty.kind else { continue };
            let Some(Segment { name, args: Some(pattern) }) = segments.last() else { continue };
            if !names_any(pattern, &function.template) || !self.is_class_template(name) {
                continue;
            }
            wanted = true;
            match arg.value() {
                Ty::Unknown | Ty::Param(_) => {}
                Ty::Named(named) if named.args.is_empty() => return false,
                other if other.is_aggregate() || matches!(other, Ty::Named(_)) => given = true,
                _ => return false,
            }
        }
        given || !wanted
    }

    fn with_bases(&mut self, ty: &Ty) -> Vec<Ty> {
        let mut all = vec![ty.clone()];
        let mut at = 0;
        while at < all.len() && all.len() < 32 {
            if let Ty::Class(class) = &all[at] {
                let class = class.clone();
                all.extend(self.bases_of(&class).into_iter().map(Ty::Class));
            }
            at += 1;
        }
        all
    }
}

/// Whether template arguments name one of the parameters.
fn names_any(args: &[TemplateArg], params: &[TemplateParam]) -> bool {
    args.iter().any(|arg| match arg {
        TemplateArg::Type(Type { kind: TypeKind::Named(path), .. })
        | TemplateArg::Either(Type { kind: TypeKind::Named(path), .. }, _)
        | TemplateArg::Expr(Expr { kind: ExprKind::Name(path), .. }) => {
            let within = || path.segments.last().and_then(|last| last.args.as_deref());
            parameter_named(path, params).is_some() || within().is_some_and(|args| names_any(args, params))
        }
        TemplateArg::Pack(inner) => names_any(std::slice::from_ref(inner), params),
        _ => false,
    })
}

pub fn is_auto(ty: &Type) -> bool {
    match &ty.kind {
        TypeKind::Auto => true,
        TypeKind::Reference(inner) | TypeKind::Pointer(inner) => is_auto(inner),
        _ => false,
    }
}

fn pack_type_name(ty: &Type) -> Option<Name> {
    match &ty.kind {
        TypeKind::Named(path) if path.segments.len() == 1 => Some(path.segments[0].name.clone()),
        TypeKind::Reference(inner) | TypeKind::Pointer(inner) => pack_type_name(inner),
        _ => None,
    }
}
