//! Parameters: by value in objects of the callee, by reference as the argument itself.

use super::builder::Builder;
use super::calls::Arg;
use super::lifetimes::converts;
use super::scope::{Binding, ScopeId};
use super::types::{Callable, Ty};
use super::values::Category;
use crate::graph::*;
use crate::program::*;
use crate::text::Span;

impl Builder<'_> {
    pub fn bind_params(
        &mut self,
        callable: &Callable,
        scope: ScopeId,
        frame: FrameId,
        list: Vec<Arg>,
        span: Span,
    ) -> Vec<Option<ObjectId>> {
        let function = callable.function.clone();
        let mut objects = Vec::new();
        let mut list = list.into_iter();
        for (index, param) in function.params.iter().enumerate() {
            if param.pack {
                let rest: Vec<Arg> = list.by_ref().collect();
                let mut pack = Vec::new();
                let count = rest.len();
                for (index, arg) in rest.into_iter().enumerate() {
                    let element = self.scope_of_element(scope, callable.item, index, count);
                    let (binding, _) = self.bind_param(callable, element, frame, param, arg);
                    pack.push(binding);
                }
                if let Some(name) = &param.name {
                    self.bind_in(scope, name, Binding::Pack(pack));
                }
                objects.push(None);
                break;
            }
            let arg = match list.next() {
                Some(arg) => arg,
                None => match self.default_of(callable, index) {
                    Some((item, value)) => {
                        let value = typed_list(value, &param.ty);
                        let ev = self.in_item(item, scope, |builder| builder.eval_place(&value));
                        Arg { ev: Some(ev), expr: None, span }
                    }
                    None => continue,
                },
            };
            let (binding, object) = self.bind_param(callable, scope, frame, param, arg);
            objects.push(object);
            if let Some(name) = &param.name {
                self.bind_in(scope, name, binding);
            }
        }
        objects
    }

    /// Where a pack of types has one for each argument, its name stands for the one of this argument.
    fn scope_of_element(&mut self, scope: ScopeId, item: ItemId, index: usize, count: usize) -> ScopeId {
        let packs = self.scope_at(scope).names.iter().filter_map(|(name, binding)| match binding {
            Binding::Pack(list) if list.len() == count => Some((name.clone(), list[index].clone())),
            _ => None,
        });
        let packs: Vec<(Name, Binding)> = packs.collect();
        if packs.is_empty() {
            return scope;
        }
        let element = self.new_scope(Some(scope), item);
        for (name, binding) in packs {
            self.bind_in(element, &name, binding);
        }
        element
    }

    fn bind_param(
        &mut self,
        callable: &Callable,
        scope: ScopeId,
        frame: FrameId,
        param: &Param,
        arg: Arg,
    ) -> (Binding, Option<ObjectId>) {
        let declared = self.resolve_in(scope, &param.ty);
        let declared = match declared {
            Ty::Array(of, _) => Ty::pointer_to((*of).clone()),
            other => other,
        };
        let by_reference = super::declare::is_reference(&param.ty);
        let arg_ty = arg.ty();
        if arg_ty.is_static() {
            let ty = match (declared.value(), &arg_ty) {
                (Ty::Group(super::types::GroupTy::Tile(Some(_))), Ty::Group(_)) => declared.value().clone(),
                _ => arg_ty,
            };
            return (Binding::Static(ty), None);
        }
        if declared.value().is_static() {
            return (Binding::Static(declared.value().clone()), None);
        }
        let wanted = declared.value().clone();
        let ty = match (&wanted, arg_ty.value()) {
            (Ty::Unknown | Ty::Param(_), other) if by_reference => other.clone(),
            (Ty::Unknown | Ty::Param(_), other) => super::templates::decay(other),
            (Ty::FunctionPointer, Ty::Functions(set)) => Ty::Functions(*set),
            (Ty::Pointer(pointee), other @ (Ty::Pointer(_) | Ty::Array(..))) if !pointee.ty.is_known() => {
                super::templates::decay(other)
            }
            _ => wanted,
        };
        let converts_to_scalar = ty.is_scalar() && matches!(arg_ty.value(), Ty::Class(_));
        if by_reference && let Some(ev) = arg.ev.as_ref().filter(|ev| ev.is_place() && !converts_to_scalar) {
            let address = self.address_of(ev, arg.span);
            if ev.category != Category::Lvalue {
                self.movable.insert(address);
            } else if param.ty.is_rvalue {
                self.collapsed.insert(address);
            }
            let is_const = ev.is_const || matches!(&declared, Ty::Reference(target) if target.is_const);
            return (Binding::Alias { address, ty, is_const, is_volatile: ev.is_volatile }, None);
        }
        let name = param.name.clone().unwrap_or_else(|| Name::from("parameter"));
        let outer = (self.frame, self.item);
        (self.frame, self.item) = (frame, callable.item);
        let object = self.new_object(&name, ObjectKind::Local, &ty, param.span);
        self.graph.objects[object.index()].is_volatile = param.ty.is_volatile;
        (self.frame, self.item) = outer;
        self.note_const(object, &param.ty);
        let address = self.address(object, arg.span);
        match (&arg.ev, arg.expr) {
            (Some(ev), _) => {
                let ev = ev.clone();
                let converted = match &ty {
                    Ty::Class(class) if converts(&ev.ty) && callable.class.as_ref() != Some(class) => {
                        let given = Arg { ev: Some(ev.clone()), expr: None, span: arg.span };
                        self.constructor_with(address, &class.clone(), vec![given], arg.span)
                    }
                    _ => false,
                };
                if !converted {
                    self.copy_to(address, &ty, &ev, arg.span);
                }
                if let (true, Some(name)) = (points_to_object(&ty), &param.name)
                    && !self.calls_itself(callable)
                {
                    self.note_pointed(object, name, &ev, &callable.function.body);
                }
                if converted || ev.category != Category::Made {
                    self.destroy_later(address, &ty, arg.span);
                }
            }
            (None, Some(expr)) => self.initialise(address, &ty, expr),
            (None, None) => {}
        }
        (Binding::Object { object, ty, constant: None }, Some(object))
    }
}

/// `Options o = {64, 2}` as `Options o = Options{64, 2}`.
fn typed_list(value: Expr, of: &Type) -> Expr {
    let of = match &of.kind {
        TypeKind::Reference(inner) => inner,
        _ => of,
    };
    let span = value.span;
    let args = match value.kind {
        ExprKind::InitList(list) if list.iter().all(|(name, _)| name.is_none()) => {
            list.into_iter().map(|(_, value)| value).collect()
        }
        ExprKind::InitList(_) => vec![value],
        _ => return value,
    };
    Expr { kind: ExprKind::Construct(of.clone(), args), span }
}

/// A pointer to an object of a class, which may be of one derived from it.
pub fn points_to_object(ty: &Ty) -> bool {
    matches!(ty, Ty::Pointer(pointee) if matches!(pointee.ty, Ty::Class(_)))
}
