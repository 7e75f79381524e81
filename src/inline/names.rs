//! What a name or path means where it stands: locals, members, then items in view, nearest namespace first.
//!
//! Namespaces are matched by their last components; inline and unnamed ones are not in an item's scope to begin with.

use super::builder::{Builder, StaticKey};
use super::memo::VisibleKey;
use super::program::{Item, ItemKind};
use super::scope::{Binding, ScopeId};
use super::types::{Callable, ClassTy, Ty};
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
            Qualifier::None if path.global && self.words.source(&last.name).is_none() => {
                self.find_item(last, Some(&[]))
            }
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
                        Qualifier::Namespace(self.alias_within(&names).unwrap_or(names))
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
        if let Found::Type(ty) = self.find_type_item(segment, global.then_some(&[]))
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

    /// What a namespace within others is another name of: an alias, or one that is inline.
    fn alias_within(&self, names: &[Name]) -> Option<Vec<Name>> {
        let (name, before) = names.split_last()?;
        let home = self.scope_at(self.scope).item;
        self.program.visible(home, name).iter().find_map(|id| {
            let item = self.program.item(*id);
            match &item.kind {
                ItemKind::NamespaceAlias(path) if ends_with(&item.scope, before) => Some(path.clone()),
                _ => None,
            }
        })
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
        let own = &program.item(enumeration).name;
        let result = match self.scope_at(inside).names.get(&program.item(id).name) {
            Some(Binding::Constant { value, .. }) if !own.is_empty() && i32::try_from(*value).is_ok() => {
                Some((*value, Ty::Enum(own.clone())))
            }
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
                // `::f`, which may also come from where `using` brings it in.
                Some([]) => 1 + usize::from(item.scope.is_empty()),
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
