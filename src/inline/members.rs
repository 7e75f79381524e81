//! Classes from inside: members by name, those of bases included, and the scope that their bodies stand in.

use super::builder::Builder;
use super::names::Found;
use super::program::ItemKind;
use super::scope::{Binding, ScopeId};
use super::types::{Bases, Callable, ClassTy, INT, Ty};
use crate::program::*;
use std::sync::Arc;

/// Bases of bases.
const BASES: usize = 16;

impl Builder<'_> {
    /// A member of a class or its bases.
    pub fn find_in_class(&mut self, class: &Arc<ClassTy>, segment: &Segment) -> Option<Found> {
        self.find_in_class_at(class, segment, 0)
    }

    fn find_in_class_at(&mut self, class: &Arc<ClassTy>, segment: &Segment, depth: usize) -> Option<Found> {
        if depth > BASES {
            return None;
        }
        let name = &segment.name;
        let scope = self.class_scope(class);
        let tree = class.class.clone();
        if let Some(index) = tree.members.iter().position(|member| member.name == *name) {
            if let (Some(args), false) = (&segment.args, tree.members[index].template.is_empty()) {
                let args = self.template_arguments(args);
                let all = tree.members.iter().filter(|member| member.name == *name);
                let all: Vec<_> = all.map(|member| (class.item, scope, member)).collect();
                if let Some((value, ty)) = self.value_of_template(&all, args) {
                    return Some(Found::Constant(value, ty));
                }
            }
            let member = &tree.members[index];
            let is_static = member.storage.is_static || member.storage.is_constexpr;
            return Some(match is_static {
                true => Found::StaticField(class.clone(), index),
                false => Found::Field(class.clone(), index),
            });
        }
        if let Some(found) = self.scope_at(scope).names.get(name).cloned() {
            return Some(self.through(found, segment));
        }
        if let Some((_, ty)) = tree.aliases.iter().find(|(alias, _)| alias == name) {
            // An alias may name itself through a base; it then stays open.
            self.bind_in(scope, name, Binding::Type(Ty::Unknown));
            let ty = self.in_item(class.item, scope, |builder| builder.resolve(ty));
            self.bind_in(scope, name, Binding::Type(ty.clone()));
            return Some(Found::Type(ty));
        }
        if tree.name.as_ref() == Some(name) {
            // The class's own name is its type, not its constructors; with arguments it is the template's.
            return segment.args.is_none().then(|| Found::Type(Ty::Class(class.clone())));
        }
        let mut methods = self.methods_of(class, name);
        for path in tree.usings.iter().filter(|path| path.segments.last().is_some_and(|last| last.name == *name)) {
            for base in self.bases_named(class, path) {
                match base {
                    Ty::Class(base) if base != *class => {
                        if let Some(Found::Functions(of_base)) = self.find_in_class_at(&base, segment, depth + 1) {
                            methods.extend(of_base);
                        }
                    }
                    Ty::Closure(number) if is_call(name) => methods.push(self.function_of_closure(number)),
                    _ => {}
                }
            }
        }
        if !methods.is_empty() {
            return Some(Found::Functions(methods));
        }
        if let Some(found) = self.find_nested(class, segment) {
            return Some(found);
        }
        for base in self.bases_of(class) {
            if let Some(found) = self.find_in_class_at(&base, segment, depth + 1) {
                return Some(found);
            }
        }
        if is_call(name)
            && let Some(number) = self.class_bases.get(class).and_then(|bases| bases.closures.first()).copied()
        {
            return Some(Found::Functions(vec![self.function_of_closure(number)]));
        }
        self.member_of_standard_base(class, name)
    }

    /// What stands before the last `::` of `using Base::f;`, once for each element where it is a pack: `using F::f...;`.
    pub fn bases_named(&mut self, class: &Arc<ClassTy>, path: &Path) -> Vec<Ty> {
        let scope = self.class_scope(class);
        let before = Path { segments: path.segments.split_last().map_or(&[][..], |it| it.1).to_vec(), ..path.clone() };
        self.in_item(class.item, scope, |builder| builder.resolve_pack(&before))
    }

    /// The type that a path means; where it names a pack, that of each element.
    fn resolve_pack(&mut self, path: &Path) -> Vec<Ty> {
        let packs = self.packs_in(vec![path]);
        let Some((_, count)) = packs.first() else { return vec![self.resolve_path(path)] };
        let mut all = Vec::with_capacity(*count);
        for index in 0..*count {
            let outer = self.enter_element(&packs, index);
            all.push(self.resolve_path(path));
            self.leave_scope(outer);
        }
        all
    }

    /// A class inside a class, an enumerator of an enumeration inside it.
    fn find_nested(&mut self, class: &Arc<ClassTy>, segment: &Segment) -> Option<Found> {
        let program = self.program;
        let mut classes = Vec::new();
        for member in program.members(class.item) {
            let item = program.item(*member);
            if item.name != segment.name {
                continue;
            }
            match item.kind {
                ItemKind::Class if item.has_body => classes.push(*member),
                ItemKind::Enumerator { .. } => {
                    let (value, ty) = self.enumerator(*member)?;
                    return Some(Found::Constant(value, ty));
                }
                ItemKind::Enum => return Some(Found::Type(Ty::Enum(item.name.clone()))),
                ItemKind::Alias => {
                    let ty = program.alias(*member)?.clone();
                    let scope = self.class_scope(class);
                    let item = *member;
                    return Some(Found::Type(self.in_item(item, scope, |builder| builder.resolve(&ty))));
                }
                _ => {}
            }
        }
        if classes.is_empty() {
            return None;
        }
        let scope = self.class_scope(class);
        let args = self.written_arguments(segment);
        Some(Found::Type(self.class_among(&classes, args, Some(scope))?))
    }

    pub fn bases_of(&mut self, class: &Arc<ClassTy>) -> Vec<Arc<ClassTy>> {
        if let Some(known) = self.class_bases.get(class) {
            return known.in_view.clone();
        }
        // A base's name is looked up without the bases.
        self.class_bases.insert(class.clone(), Bases::default());
        let scope = self.class_scope(class);
        let tree = class.class.clone();
        let mut bases = Bases::default();
        for base in &tree.bases {
            for ty in self.in_item(class.item, scope, |builder| builder.resolve_pack(base)) {
                match ty {
                    Ty::Class(base) if base != *class => bases.in_view.push(base),
                    ty @ Ty::Named(_) => bases.standard.push(ty),
                    Ty::Closure(number) => bases.closures.push(number),
                    _ => {}
                }
            }
        }
        self.class_bases.insert(class.clone(), bases.clone());
        bases.in_view
    }

    /// The bases of a class that are classes of the standard library.
    pub fn standard_bases(&mut self, class: &Arc<ClassTy>) -> Vec<Ty> {
        self.bases_of(class);
        self.class_bases.get(class).map(|bases| bases.standard.clone()).unwrap_or_default()
    }

    /// Methods of the class itself by name; bodies only.
    pub fn methods_of(&mut self, class: &Arc<ClassTy>, name: &Name) -> Vec<Callable> {
        let program = self.program;
        let mut found = Vec::new();
        for member in program.members(class.item) {
            let item = program.item(*member);
            if item.name != *name || item.kind != ItemKind::Function || !item.has_body {
                continue;
            }
            if let Some(function) = program.function(*member) {
                found.push(Callable {
                    item: *member,
                    function: function.clone(),
                    class: Some(class.clone()),
                    scope: None,
                    is_static: item.is_static,
                });
            }
        }
        if found.iter().any(|one| one.function.of_class.is_some()) {
            found = self.specialised_for(class, found);
        }
        if found.is_empty() {
            let inside = class.class.methods.iter().filter(|method| method.name == *name);
            found.extend(inside.map(|method| Callable {
                item: class.item,
                function: method.clone(),
                class: Some(class.clone()),
                scope: None,
                is_static: false,
            }));
        }
        found
    }

    /// Of the methods of a template's classes those of one class: `template <> void X<int>::f()` takes the place of the
    /// general `f` there, and is nothing to others.
    fn specialised_for(&mut self, class: &Arc<ClassTy>, mut found: Vec<Callable>) -> Vec<Callable> {
        found.retain(|one| {
            let Some(pattern) = one.function.of_class.clone() else { return true };
            let scope = self.item_scope(one.item);
            let mut deduced = super::templates::Deduced::default();
            let args = &class.written;
            self.in_item(one.item, scope, |builder| builder.matches(&pattern, args, &[], &mut deduced)).is_some()
        });
        let special: Vec<Callable> = found.iter().filter(|one| one.function.of_class.is_some()).cloned().collect();
        found.retain(|one| {
            one.function.of_class.is_some() || !special.iter().any(|other| self.is_same_header(one, other))
        });
        found
    }

    /// The scope inside a class: its template parameters, enumerators and members.
    pub fn class_scope(&mut self, class: &Arc<ClassTy>) -> ScopeId {
        if let Some(scope) = self.class_scopes.get(class) {
            return *scope;
        }
        let parent = match class.scope {
            Some(scope) => scope,
            None => self.item_scope(class.item),
        };
        let scope = self.new_scope(Some(parent), class.item);
        self.class_scopes.insert(class.clone(), scope);
        self.scopes[scope.0 as usize].class = Some(class.clone());
        self.bind_template(scope, &class.class.template, &class.args);
        if let Some(name) = &class.class.name {
            // The injected class name, which is also the class without its arguments.
            if class.class.specialises.is_none() && class.class.template.is_empty() {
                self.bind_in(scope, name, Binding::Type(Ty::Class(class.clone())));
            }
        }
        let tree = class.class.clone();
        for unnamed in &tree.unnamed {
            if let Some(name) = &unnamed.name {
                self.bind_in(scope, name, Binding::Class { class: unnamed.clone(), scope });
            }
        }
        self.in_item(class.item, scope, |builder| builder.bind_enumerators(&tree.enumerators));
        scope
    }

    /// Enumerators in order, each one more than the last where no value is written.
    pub fn bind_enumerators(&mut self, enumerators: &[(Name, Option<Expr>)]) {
        let mut next = Some(0i64);
        for (name, value) in enumerators {
            if let Some(value) = value {
                next = self.constant(value);
            }
            if let Some(value) = next {
                self.bind(name, Binding::Constant { value, ty: INT });
                next = Some(value.wrapping_add(1));
            }
        }
    }
}

/// What a lambda has.
fn is_call(name: &str) -> bool {
    name == "operator()"
}
