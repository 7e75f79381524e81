//! Whether an expression is possible for the types that it is asked of: what `requires`, `decltype` and `void_t` ask.
//! `None` where what is in view does not tell.

use super::builder::Builder;
use super::expressions::binary_name;
use super::names::{Found, Qualifier};
use super::scope::Binding;
use super::types::{Bound, COMPONENTS, Callable, ClassTy, Ty};
use crate::program::*;
use std::sync::Arc;

/// Expressions within expressions, bases of bases.
const DEEP: usize = 32;

/// Questions that the answer to another one hangs on.
const QUESTIONS: usize = 16;

/// Both; what is impossible decides alone.
fn both(a: Option<bool>, b: Option<bool>) -> Option<bool> {
    match (a, b) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

impl Builder<'_> {
    /// The answer of a requires-expression.
    pub fn is_met(&mut self, asked: &Requires) -> Option<bool> {
        let outer = self.enter_scope();
        for param in &asked.params {
            self.bind_as_typed(param, None);
        }
        let mut met = Some(true);
        for ask in &asked.asks {
            let one = match ask {
                Requirement::Possible(expr, concept) => {
                    let possible = self.is_possible(expr);
                    let holds = match (possible, concept) {
                        (Some(true), Some(concept)) => self.concept_holds(concept, expr),
                        _ => Some(true),
                    };
                    both(possible, holds)
                }
                Requirement::Names(path) => self.names_type(path),
                Requirement::Holds(expr) => self.constant(expr).map(|value| value != 0),
            };
            met = both(met, one);
            if met == Some(false) {
                break;
            }
        }
        self.leave_scope(outer);
        met
    }

    /// A parameter of which only the type matters; `auto` is what the argument is.
    pub fn bind_as_typed(&mut self, param: &Param, arg: Option<&Ty>) {
        let Some(name) = &param.name else { return };
        let ty = match (self.resolve(&param.ty), arg) {
            (ty, Some(arg)) if !ty.value().is_known() => arg.clone(),
            (ty, _) => ty,
        };
        self.bind(name, Binding::Static(ty));
    }

    fn concept_holds(&mut self, concept: &Path, expr: &Expr) -> Option<bool> {
        let ty = self.type_of(expr);
        let more = concept.segments.last().and_then(|last| self.written_arguments(last)).unwrap_or_default();
        let args = std::iter::once(Bound::Type(ty.clone())).chain(more).collect();
        if !ty.is_known() {
            return None;
        }
        // Of the type as it is known here `&` may be lost.
        let is_exact = concept.segments.last().is_some_and(|last| &*last.name == "same_as");
        self.concept_value(concept, args).map(|value| value != 0).filter(|holds| *holds || !is_exact)
    }

    fn names_type(&mut self, path: &Path) -> Option<bool> {
        let last = path.segments.last()?;
        match self.qualifier(path) {
            Qualifier::Type(ty) => match self.member_exists(&ty, last) {
                Some(true) => match self.find_in_type(&ty, last) {
                    Found::Type(_) | Found::Binding(Binding::Type(_)) => Some(true),
                    _ => None,
                },
                other => other,
            },
            _ => self.resolve_path(path).is_known().then_some(true),
        }
    }

    /// Whether a type has a member.
    pub fn member_exists(&mut self, ty: &Ty, member: &Segment) -> Option<bool> {
        match ty.value().clone() {
            Ty::Class(class) => match self.find_in_class(&class, member) {
                Some(_) => Some(true),
                None => match self.declares(&class, &member.name, 0) {
                    // With a body that is not in view.
                    Some(true) => None,
                    known => known,
                },
            },
            Ty::Vector { lanes, .. } => Some(COMPONENTS[..usize::from(lanes)].contains(&&*member.name)),
            ty => ty.is_scalar().then_some(false),
        }
    }

    /// Whether a class or one of its bases declares a member at all; `None` if not all of them are in view.
    fn declares(&mut self, class: &Arc<ClassTy>, name: &Name, depth: usize) -> Option<bool> {
        let program = self.program;
        if program.members(class.item).iter().any(|member| program.item(*member).name == *name) {
            return Some(true);
        }
        let bases = self.bases_of(class);
        if bases.len() != class.class.bases.len() || depth > DEEP {
            return None;
        }
        let mut found = Some(false);
        for base in bases {
            match self.declares(&base, name, depth + 1) {
                Some(true) => return Some(true),
                None => found = None,
                Some(false) => {}
            }
        }
        found
    }

    /// Whether the expression is possible.
    pub fn is_possible(&mut self, expr: &Expr) -> Option<bool> {
        // What a function asks of a call may be asked of that call again: `class = decltype(f(declval<T>()))` on `f` itself.
        if self.questions >= QUESTIONS {
            self.memo.limits_met += 1;
            return None;
        }
        self.questions += 1;
        let possible = self.is_possible_at(expr, 0);
        self.questions -= 1;
        possible
    }

    fn is_possible_at(&mut self, expr: &Expr, depth: usize) -> Option<bool> {
        if depth > DEEP {
            return None;
        }
        let deeper = depth + 1;
        match &expr.kind {
            ExprKind::Int { .. } | ExprKind::Float { .. } | ExprKind::Str(_) | ExprKind::Null | ExprKind::This => {
                Some(true)
            }
            ExprKind::Name(path) => self.is_possible_name(path),
            ExprKind::Member { object, arrow, member } => {
                let inner = self.is_possible_at(object, deeper);
                let ty = self.type_of(object);
                let ty = if *arrow { ty.value().element() } else { ty };
                let member = member.segments.last()?;
                both(inner, self.member_exists(&ty, member))
            }
            ExprKind::Call { callee, args } => {
                let mut all = Some(true);
                for arg in args {
                    all = both(all, self.is_possible_at(arg, deeper));
                }
                let called = self.is_possible_call(callee, args, deeper);
                both(all, called)
            }
            ExprKind::Unary(op, inner) => {
                let possible = self.is_possible_at(inner, deeper);
                let ty = self.type_of(inner);
                let has = match (op, ty.value()) {
                    (UnaryOp::AddressOf, _) => Some(true),
                    (UnaryOp::Deref, Ty::Pointer(_) | Ty::Array(..)) => Some(true),
                    (UnaryOp::Deref, Ty::Int { .. } | Ty::Bool | Ty::Enum(_)) => Some(false),
                    (UnaryOp::Deref, _) => self.has_operator(&ty, "operator*"),
                    (_, ty) if ty.is_scalar() || matches!(ty, Ty::Float { .. }) => Some(true),
                    _ => None,
                };
                both(possible, has)
            }
            ExprKind::Binary(op, a, b) => {
                let possible = both(self.is_possible_at(a, deeper), self.is_possible_at(b, deeper));
                let (left, right) = (self.type_of(a), self.type_of(b));
                let is_number = |ty: &Ty| matches!(ty.value(), Ty::Float { .. }) || ty.value().is_integer();
                let has = match (left.value(), right.value()) {
                    (a, b) if is_number(a) && is_number(b) => Some(true),
                    (Ty::Class(_), b) if b.is_known() => self.has_operator(&left, binary_name(*op)),
                    _ => None,
                };
                both(possible, has)
            }
            ExprKind::Index(base, index) => {
                let possible = both(self.is_possible_at(base, deeper), self.is_possible_at(index, deeper));
                let ty = self.type_of(base);
                let has = match ty.value() {
                    Ty::Pointer(_) | Ty::Array(..) => Some(true),
                    _ => self.has_operator(&ty, "operator[]"),
                };
                both(possible, has)
            }
            ExprKind::Comma(a, b) => both(self.is_possible_at(a, deeper), self.is_possible_at(b, deeper)),
            ExprKind::Cast(ty, inner) => match self.resolve(ty) {
                Ty::Void => self.is_possible_at(inner, deeper),
                _ => match self.is_possible_at(inner, deeper) {
                    Some(false) => Some(false),
                    _ => None,
                },
            },
            ExprKind::Construct(ty, args) if args.is_empty() => {
                let ty = self.resolve(ty);
                (ty == Ty::Void || ty.is_scalar()).then_some(true)
            }
            _ => None,
        }
    }

    fn is_possible_name(&mut self, path: &Path) -> Option<bool> {
        let last = path.segments.last()?;
        if path.segments.len() > 1
            && let Qualifier::Type(ty) = self.qualifier(path)
        {
            return self.member_exists(&ty, last);
        }
        match self.find(path) {
            Found::None => None,
            _ => Some(true),
        }
    }

    fn is_possible_call(&mut self, callee: &Expr, args: &[Expr], depth: usize) -> Option<bool> {
        match &callee.kind {
            ExprKind::Name(path) if path.segments.last().is_some_and(|last| &*last.name == "declval") => Some(true),
            ExprKind::Name(path) => match self.find(path) {
                Found::Functions(set) => self.any_takes(&set, args).filter(|takes| *takes),
                Found::Binding(Binding::Static(ty)) if matches!(ty.value(), Ty::Class(_)) => {
                    self.has_operator(&ty, "operator()")
                }
                _ => None,
            },
            ExprKind::Member { object, arrow, member } => {
                if self.is_possible_at(callee, depth)? {
                    let ty = self.type_of(object);
                    let ty = if *arrow { ty.value().element() } else { ty.value().clone() };
                    let Ty::Class(class) = ty else { return None };
                    return match self.find_in_class(&class, member.segments.last()?)? {
                        Found::Functions(set) => match self.any_takes(&set, args) {
                            // One whose body is elsewhere may.
                            Some(false) if self.has_declarations(&set) => None,
                            known => known,
                        },
                        _ => None,
                    };
                }
                Some(false)
            }
            _ => None,
        }
    }

    /// Whether the classes of these methods only declare some of the same name.
    pub fn has_declarations(&self, set: &[Callable]) -> bool {
        let program = self.program;
        let declared = |one: &Callable| {
            let members = one.class.as_ref().map_or(&[][..], |class| program.members(class.item));
            members.iter().any(|id| program.item(*id).name == one.function.name && !program.item(*id).has_body)
        };
        set.iter().any(declared)
    }

    fn any_takes(&mut self, set: &[Callable], args: &[Expr]) -> Option<bool> {
        let types: Vec<Ty> = args.iter().map(|arg| self.type_of(arg)).collect();
        let mut any = false;
        for one in set {
            any |= self.takes(one, args.len()) && self.score(one, &types, &[]).is_some();
        }
        Some(any)
    }

    /// An operator of the class itself, or one beside it if there is any of that name.
    fn has_operator(&mut self, ty: &Ty, name: &str) -> Option<bool> {
        let has = self.member_exists(ty, &Segment { name: Name::from(name), args: None })?;
        if let Ty::Class(class) = ty.value()
            && !self.conversions_of(&class.clone(), 0).is_empty()
        {
            return None;
        }
        if has || self.program.named(name).is_empty() { Some(has) } else { None }
    }
}
