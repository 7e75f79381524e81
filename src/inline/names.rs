//! What a name or path means where it stands: locals, members, then items in view, nearest namespace first.
//!
//! Namespaces are matched by their last components; inline and unnamed ones are not in an item's scope to begin with.

use super::builder::{Builder, StaticKey};
use super::memo::VisibleKey;
use super::program::{Item, ItemKind};
use super::scope::{Binding, ScopeId};
use super::types::{Bases, Callable, ClassTy, INT, Ty};
use crate::graph::ItemId;
use crate::program::*;
use crate::words::SourceKind;
use std::sync::Arc;

#[derive(Clone, Debug)]
pub enum Found {
    Binding(Binding),
    /// A data member of an object; the class that declares it, and which.
    Field(Arc<ClassTy>, usize),
    StaticField(Arc<ClassTy>, usize),
    Type(Ty),
    Constant(i64, Ty),
    Functions(Vec<Callable>),
    /// A variable at namespace scope.
    Value(ItemId),
    Source(SourceKind),
    None,
}

/// What stands before the last `::`.
#[derive(Clone, Debug)]
pub enum Qualifier {
    None,
    Namespace(Vec<Name>),
    Type(Ty),
}

const BASES: usize = 16;
/// Names may lead to names (aliases, bases, arguments) so deep.
pub const LOOKUPS: usize = 100;

impl Builder<'_> {
    /// The scope at namespace level round an item; within its class for a member.
    pub fn item_scope(&mut self, item: ItemId) -> ScopeId {
        if let Some(scope) = self.item_scopes.get(&item) {
            return *scope;
        }
        let scope = self.new_scope(None, item);
        self.item_scopes.insert(item, scope);
        scope
    }

    pub fn find(&mut self, path: &Path) -> Found {
        let Some(last) = path.segments.last() else { return Found::None };
        if self.lookups >= LOOKUPS {
            self.memo.limits_met += 1;
            return Found::None;
        }
        self.lookups += 1;
        let found = match self.qualifier(path) {
            Qualifier::None => self.find_unqualified(last, path.global),
            Qualifier::Namespace(names) => self.find_item(last, Some(&names)),
            Qualifier::Type(ty) => self.find_in_type(&ty, last),
        };
        self.lookups -= 1;
        found
    }

    pub fn find_name(&mut self, name: &str) -> Found {
        self.find_unqualified(&Segment { name: Name::from(name), args: None }, false)
    }

    fn find_unqualified(&mut self, segment: &Segment, global: bool) -> Found {
        let mut at = if global { None } else { Some(self.scope) };
        while let Some(id) = at {
            if let Some(found) = self.scope_at(id).names.get(&segment.name) {
                let found = found.clone();
                return self.through(found, segment);
            }
            if let Some(class) = self.scope_at(id).class.clone()
                && let Some(found) = self.find_in_class(&class, segment)
            {
                return found;
            }
            at = self.scope_at(id).parent;
        }
        if let Some(source) = self.words.source(&segment.name) {
            return Found::Source(source);
        }
        self.find_item(segment, None)
    }

    /// Follows a binding that stands for another name, and gives a class its template arguments.
    pub fn through(&mut self, binding: Binding, segment: &Segment) -> Found {
        match binding {
            Binding::Path(mut path) => {
                if let (Some(last), Some(args)) = (path.segments.last_mut(), &segment.args) {
                    last.args = Some(args.clone());
                }
                self.find(&path)
            }
            Binding::Class { class, scope } => {
                let args = self.written_arguments(segment);
                let item = self.scope_at(scope).item;
                Found::Type(self.local_class(class, item, scope, args))
            }
            Binding::Template(name) => {
                let segment = Segment { name, args: segment.args.clone() };
                self.find_unqualified(&segment, true)
            }
            other => Found::Binding(other),
        }
    }

    pub fn qualifier(&mut self, path: &Path) -> Qualifier {
        let mut so_far = Qualifier::None;
        let before = &path.segments[..path.segments.len().saturating_sub(1)];
        for (segment, next) in before.iter().zip(path.segments.iter().skip(1)) {
            so_far = match so_far {
                Qualifier::None => self.first_qualifier(segment, next, path.global),
                Qualifier::Namespace(mut names) => {
                    if let Found::Type(ty) = self.find_type_item(segment, Some(&names)) {
                        Qualifier::Type(ty)
                    } else if segment.args.is_some() {
                        Qualifier::Type(self.named(segment))
                    } else {
                        names.push(segment.name.clone());
                        Qualifier::Namespace(names)
                    }
                }
                Qualifier::Type(ty) => match self.find_in_type(&ty, segment) {
                    Found::Type(ty) | Found::Binding(Binding::Type(ty)) => Qualifier::Type(ty),
                    _ => Qualifier::Type(self.named(segment)),
                },
            };
        }
        so_far
    }

    fn first_qualifier(&mut self, segment: &Segment, next: &Segment, global: bool) -> Qualifier {
        let mut at = if global { None } else { Some(self.scope) };
        while let Some(id) = at {
            match self.scope_at(id).names.get(&segment.name).cloned() {
                Some(Binding::Type(ty)) => return Qualifier::Type(ty),
                Some(Binding::Path(path)) => {
                    return match self.find(&path) {
                        Found::Type(ty) | Found::Binding(Binding::Type(ty)) => Qualifier::Type(ty),
                        _ => Qualifier::Namespace(path.segments.iter().map(|segment| segment.name.clone()).collect()),
                    };
                }
                Some(found @ (Binding::Class { .. } | Binding::Template(_))) => {
                    return match self.through(found, segment) {
                        Found::Type(ty) => Qualifier::Type(ty),
                        _ => Qualifier::Type(Ty::Unknown),
                    };
                }
                _ => {}
            }
            if let Some(class) = self.scope_at(id).class.clone() {
                if class.class.name.as_ref() == Some(&segment.name) && segment.args.is_none() {
                    return Qualifier::Type(Ty::Class(class));
                }
                if let Some(Found::Type(ty) | Found::Binding(Binding::Type(ty))) = self.find_in_class(&class, segment) {
                    return Qualifier::Type(ty);
                }
            }
            at = self.scope_at(id).parent;
        }
        if let Found::Type(ty) = self.find_type_item(segment, None)
            && !self.hides_namespace(&ty, segment, next)
        {
            return Qualifier::Type(ty);
        }
        if segment.args.is_some() || self.words.library(&segment.name).is_some() {
            return Qualifier::Type(self.named(segment));
        }
        Qualifier::Namespace(self.expand_namespace(&segment.name))
    }

    /// The class is out of scope, and a namespace of the same name has what stands next in the path.
    fn hides_namespace(&self, ty: &Ty, segment: &Segment, next: &Segment) -> bool {
        let Ty::Class(class) = ty else { return false };
        let program = self.program;
        let scope = &program.item(class.item).scope;
        let here = &program.item(self.scope_at(self.scope).item).scope;
        segment.args.is_none()
            && !here.starts_with(scope)
            && !self.used_namespaces().iter().any(|used| ends_with(scope, used))
            && !self.visible(&next.name, Some(std::slice::from_ref(&segment.name)), false).is_empty()
    }

    /// A namespace by its own name or an alias in the file.
    fn expand_namespace(&self, name: &Name) -> Vec<Name> {
        let home = self.scope_at(self.scope).item;
        for id in self.program.visible(home, name).iter() {
            if let ItemKind::NamespaceAlias(path) = &self.program.item(*id).kind {
                return path.clone();
            }
        }
        vec![name.clone()]
    }

    pub fn find_in_type(&mut self, ty: &Ty, segment: &Segment) -> Found {
        match ty {
            Ty::Class(class) => {
                let class = class.clone();
                self.find_in_class(&class, segment).unwrap_or(Found::None)
            }
            Ty::Enum(name) => match self.find_item(segment, Some(std::slice::from_ref(name))) {
                Found::None => self.find_unqualified(segment, true),
                found => found,
            },
            Ty::Library(_) | Ty::Named(_) if &*segment.name == "TempStorage" => Found::Type(self.named(segment)),
            Ty::Named(_) => self.standard_member(ty, &segment.name),
            _ => Found::None,
        }
    }

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
                let all = all.map(|member| (class.item, scope, member.clone())).collect();
                if let Some((value, ty)) = self.value_of_template(all, args) {
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
        if !methods.is_empty() {
            for path in tree.usings.iter().filter(|path| path.segments.last().is_some_and(|last| last.name == *name)) {
                if let Qualifier::Type(Ty::Class(base)) = self.in_item(class.item, scope, |it| it.qualifier(path))
                    && base != *class
                    && let Some(Found::Functions(of_base)) = self.find_in_class_at(&base, segment, depth + 1)
                {
                    methods.extend(of_base);
                }
            }
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
        self.member_of_standard_base(class, name)
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
            match self.in_item(class.item, scope, |builder| builder.resolve_path(base)) {
                Ty::Class(base) if base != *class => bases.in_view.push(base),
                ty @ Ty::Named(_) => bases.standard.push(ty),
                _ => {}
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

    // Items

    fn find_item(&mut self, segment: &Segment, namespace: Option<&[Name]>) -> Found {
        let candidates = self.visible(&segment.name, namespace, false);
        let program = self.program;
        let mut functions = Vec::new();
        let mut values = Vec::new();
        for id in candidates.iter() {
            let item = program.item(*id);
            match &item.kind {
                ItemKind::Function if item.has_body && !item.is_host => {
                    if let Some(function) = program.function(*id) {
                        let function = function.clone();
                        functions.push(Callable { item: *id, function, class: None, scope: None, is_static: false });
                    }
                }
                ItemKind::Value => values.push(*id),
                ItemKind::Enumerator { .. } => {
                    if let Some((value, ty)) = self.enumerator(*id) {
                        return Found::Constant(value, ty);
                    }
                }
                ItemKind::UsingName(path) => {
                    let path = plain_path(path, segment);
                    if path.segments.len() > 1 {
                        return self.find(&path);
                    }
                }
                _ => {}
            }
        }
        if !functions.is_empty() {
            return Found::Functions(functions);
        }
        if let Found::Type(ty) = self.type_among(&candidates, segment) {
            return Found::Type(ty);
        }
        if let (Some(args), [_, ..]) = (&segment.args, &values[..]) {
            let args = self.template_arguments(args);
            if let Some((value, ty)) = self.variable_among(&values, args) {
                return Found::Constant(value, ty);
            }
        }
        match values.first() {
            Some(item) => Found::Value(*item),
            None => Found::None,
        }
    }

    /// A class, alias or enumeration by name.
    pub fn find_type_item(&mut self, segment: &Segment, namespace: Option<&[Name]>) -> Found {
        let candidates = self.visible(&segment.name, namespace, true);
        self.type_among(&candidates, segment)
    }

    fn type_among(&mut self, candidates: &[ItemId], segment: &Segment) -> Found {
        let program = self.program;
        let classes: Vec<ItemId> = candidates
            .iter()
            .copied()
            .filter(|id| program.item(*id).kind == ItemKind::Class && program.item(*id).has_body)
            .collect();
        if let Some(first) = classes.first()
            && (self.is_library_item(*first) || self.words.is_users_type(&segment.name))
        {
            return Found::Type(self.named(segment));
        }
        if !classes.is_empty() {
            let args = self.written_arguments(segment);
            if let Some(ty) = self.class_among(&classes, args, None) {
                return Found::Type(ty);
            }
        }
        for id in candidates {
            let item = program.item(*id);
            match &item.kind {
                ItemKind::Alias => return Found::Type(self.alias_type(*id, segment)),
                ItemKind::Enum => return Found::Type(Ty::Enum(item.name.clone())),
                ItemKind::UsingName(path) => {
                    let path = plain_path(path, segment);
                    if path.segments.len() > 1
                        && let Found::Type(ty) = self.find(&path)
                    {
                        return Found::Type(ty);
                    }
                }
                _ => {}
            }
        }
        Found::None
    }

    /// The library's own class of that name, not one of the user's.
    fn is_library_item(&self, id: ItemId) -> bool {
        let item = self.program.item(id);
        let of_library = |name: &Name| matches!(&**name, "cub" | "cooperative_groups" | "cuda" | "cutlass");
        (self.words.library(&item.name).is_some()
            || self.words.group_type(&item.name).is_some()
            || matches!(&*item.name, "barrier" | "NamedBarrier"))
            && item.scope.iter().any(of_library)
    }

    pub fn enumerator(&mut self, id: ItemId) -> Option<(i64, Ty)> {
        let key = StaticKey::Item(id, Vec::new());
        if let Some(known) = self.constants.get(&key) {
            return known.clone();
        }
        self.constants.insert(key.clone(), None);
        let program = self.program;
        let ItemKind::Enumerator { enumeration, .. } = program.item(id).kind else { return None };
        let scope = self.item_scope(enumeration);
        let inside = self.new_scope(Some(scope), enumeration);
        let list = program.enumerators(enumeration);
        self.in_item(enumeration, inside, |builder| builder.bind_enumerators(list));
        let result = match self.scope_at(inside).names.get(&program.item(id).name) {
            Some(Binding::Constant { value, ty }) => Some((*value, ty.clone())),
            _ => None,
        };
        self.constants.insert(key, result.clone());
        result
    }

    /// Items of a name that the code here may mean: those of the innermost namespace round it that has any, or one
    /// brought in by `using`; where there is none, all in view (functions are also found by their arguments).
    fn visible(&self, name: &Name, namespace: Option<&[Name]>, only_types: bool) -> Arc<[ItemId]> {
        let from = self.scope_at(self.scope).item;
        let key = VisibleKey { from, name: name.clone(), namespace: namespace.map(Box::from), only_types };
        if self.memo.has_local_using {
            return self.look_around(name, namespace, only_types).into();
        }
        if let Some(known) = self.memo.visible.borrow().get(&key) {
            self.searched.set(self.searched.get() + 1);
            return known.clone();
        }
        let found: Arc<[ItemId]> = self.look_around(name, namespace, only_types).into();
        self.memo.visible.borrow_mut().insert(key, found.clone());
        found
    }

    fn look_around(&self, name: &Name, namespace: Option<&[Name]>, only_types: bool) -> Vec<ItemId> {
        let is_type = |item: &Item| {
            matches!(item.kind, ItemKind::Class | ItemKind::Alias | ItemKind::Enum | ItemKind::UsingName(_))
        };
        let program = self.program;
        let home = self.scope_at(self.scope).item;
        let named = program.visible(home, name);
        self.searched.set(self.searched.get() + 1 + named.len() / 4);
        let here = &program.item(home).scope;
        let mut ranked: Vec<(usize, ItemId)> = Vec::new();
        let mut used: Option<Vec<Vec<Name>>> = None;
        for id in named.iter() {
            let item = program.item(*id);
            if only_types && !is_type(item) || program.is_member(*id) {
                continue;
            }
            let rank = match namespace {
                Some(names) => {
                    if !ends_with(&item.scope, names) {
                        continue;
                    }
                    // `a::f` from inside namespace b may mean b::a::f; the nearest wins.
                    1 + common(&item.scope, here)
                }
                None if here.starts_with(&item.scope) => 2 + item.scope.len(),
                None => {
                    let used = used.get_or_insert_with(|| self.used_namespaces());
                    if used.iter().any(|names| ends_with(&item.scope, names)) { 2 } else { 1 }
                }
            };
            ranked.push((rank, *id));
        }
        let best = ranked.iter().map(|(rank, _)| *rank).max().unwrap_or(0);
        let mut found: Vec<ItemId> = ranked.iter().filter(|(rank, _)| *rank == best).map(|(_, id)| *id).collect();
        // The same file first: of two definitions under different conditions the nearer one is meant.
        let file = program.item(home).file;
        found.sort_by_key(|id| program.item(*id).file != file);
        found
    }

    fn used_namespaces(&self) -> Vec<Vec<Name>> {
        let program = self.program;
        let mut used: Vec<Vec<Name>> = Vec::new();
        let mut at = Some(self.scope);
        while let Some(id) = at {
            let scope = self.scope_at(id);
            for path in &scope.used {
                let mut names: Vec<Name> = path.segments.iter().map(|segment| segment.name.clone()).collect();
                if let [first] = &names[..] {
                    names = self.expand_namespace(first);
                }
                used.push(names);
            }
            at = scope.parent;
        }
        let file = program.item(self.scope_at(self.scope).item).file;
        for id in program.directives(file) {
            if let ItemKind::UsingNamespace(path) = &program.item(*id).kind {
                used.push(path.clone());
            }
        }
        used
    }

    // Types
}

fn plain_path(names: &[Name], segment: &Segment) -> Path {
    let mut segments: Vec<Segment> = names.iter().map(|name| Segment { name: name.clone(), args: None }).collect();
    if let Some(last) = segments.last_mut() {
        last.args = segment.args.clone();
    }
    Path { segments, global: false }
}

fn ends_with(scope: &[Name], names: &[Name]) -> bool {
    // `cuda::std::min` is written for what stands in an inline namespace below, too.
    scope.ends_with(names)
}

fn common(a: &[Name], b: &[Name]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}
