//! What names mean inside a body: a chain of scopes, and what each name is bound to.

use super::builder::Builder;
use super::types::{Bound, ClassTy, Ty};
use crate::graph::{ItemId, ObjectId, Value};
use crate::program::{Class, Name, Path, TemplateParam};
use std::sync::Arc;

#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ScopeId(pub u32);

#[derive(Debug)]
pub struct Scope {
    pub names: rustc_hash::FxHashMap<Name, Binding>,
    pub parent: Option<ScopeId>,
    /// The scope of a class's body: its members are found here.
    pub class: Option<Arc<ClassTy>>,
    /// Whose text the names are read in.
    pub item: ItemId,
    /// `using namespace`
    pub used: Vec<Path>,
}

#[derive(Clone, Debug)]
pub enum Binding {
    Object {
        object: ObjectId,
        ty: Ty,
        /// Its value, for a constant.
        constant: Option<i64>,
    },
    /// A reference: the address of what it is bound to.
    Alias {
        address: Value,
        ty: Ty,
        is_const: bool,
        is_volatile: bool,
    },
    /// A value without an address: a template parameter, an enumerator, a reference to a temporary.
    Value {
        value: Value,
        ty: Ty,
    },
    Constant {
        value: i64,
        ty: Ty,
    },
    /// A variable that is all type: a closure, a group.
    Static(Ty),
    Type(Ty),
    Class {
        class: Arc<Class>,
        scope: ScopeId,
    },
    /// `using a::b;`, `namespace x = a::b;`
    Path(Path),
    Pack(Vec<Binding>),
    /// An alias template's or a template template parameter's name.
    Template(Name),
}

impl Builder<'_> {
    pub fn new_scope(&mut self, parent: Option<ScopeId>, item: ItemId) -> ScopeId {
        let id = ScopeId(self.scopes.len() as u32);
        self.scopes.push(Scope { names: Default::default(), parent, class: None, item, used: Vec::new() });
        id
    }

    /// Opens a scope inside the current one; give the answer back to `leave_scope`.
    pub fn enter_scope(&mut self) -> ScopeId {
        let outer = self.scope;
        self.scope = self.new_scope(Some(outer), self.item);
        outer
    }

    pub fn leave_scope(&mut self, outer: ScopeId) {
        self.scope = outer;
    }

    pub fn bind(&mut self, name: &Name, binding: Binding) {
        let scope = self.scope;
        self.bind_in(scope, name, binding);
    }

    pub fn bind_in(&mut self, scope: ScopeId, name: &Name, binding: Binding) {
        if !name.is_empty() {
            self.scopes[scope.0 as usize].names.insert(name.clone(), binding);
        }
    }

    pub fn scope_at(&self, scope: ScopeId) -> &Scope {
        &self.scopes[scope.0 as usize]
    }

    /// The nearest binding of a name, with the scope that holds it; class members are not looked at.
    pub fn local(&self, name: &str) -> Option<&Binding> {
        let mut at = Some(self.scope);
        while let Some(id) = at {
            let scope = self.scope_at(id);
            if let Some(found) = scope.names.get(name) {
                return Some(found);
            }
            at = scope.parent;
        }
        None
    }

    /// Sets what is known of a variable's type once its initialiser or a new value tells more.
    pub fn refine(&mut self, name: &str, to: Ty) {
        let mut at = Some(self.scope);
        while let Some(id) = at {
            let scope = &mut self.scopes[id.0 as usize];
            if let Some(found) = scope.names.get_mut(name) {
                match found {
                    Binding::Object { ty, .. } | Binding::Alias { ty, .. } | Binding::Static(ty) => *ty = to,
                    _ => {}
                }
                return;
            }
            at = scope.parent;
        }
    }

    /// Binds template parameters in a scope.
    pub fn bind_template(&mut self, scope: ScopeId, params: &[TemplateParam], args: &[Bound]) {
        for (param, arg) in params.iter().zip(args) {
            let (name, value_type) = match param {
                TemplateParam::Type { name, .. } | TemplateParam::Template { name } => (name, None),
                TemplateParam::Value { name, ty, .. } => (name, Some(ty)),
            };
            let Some(name) = name else { continue };
            let binding = self.binding_of(arg, value_type, scope);
            self.bind_in(scope, name, binding);
        }
    }

    pub fn binding_of(&mut self, arg: &Bound, declared: Option<&crate::program::Type>, scope: ScopeId) -> Binding {
        let mut ty = Ty::Unknown;
        if let Some(declared) = declared {
            ty = self.resolve_in(scope, declared);
        }
        match arg {
            Bound::Type(ty) => Binding::Type(ty.clone()),
            Bound::Value(value) => Binding::Constant { value: *value, ty },
            Bound::Runtime(value) => Binding::Value { value: *value, ty },
            Bound::Functions(set) => Binding::Static(Ty::Functions(*set)),
            Bound::Template(name) => Binding::Template(name.clone()),
            Bound::Pack(list) => Binding::Pack(list.iter().map(|one| self.binding_of(one, declared, scope)).collect()),
        }
    }
}
