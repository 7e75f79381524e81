//! Functions of the standard library (`std`, `cuda::std`, `thrust`) that hand values on: pairs and tuples by their
//! parts, `tie`, `swap`, `exchange`. A function of the same name with a body in view is followed instead.

use super::builder::Builder;
use super::calls::Arg;
use super::types::{Bound, NamedTy, Ty};
use super::values::{Ev, What};
use crate::graph::{ObjectKind, Op, Value};
use crate::program::*;
use crate::text::Span;
use crate::words::FunctionKind;
use std::sync::Arc;

/// What a call of `tie` gives: the addresses of its arguments.
const TIE: &str = "tie";

/// The class has parts that are told apart by number: `pair`, `tuple`.
pub fn has_parts(ty: &Ty) -> bool {
    matches!(ty.value(), Ty::Named(named) if matches!(&*named.name, "pair" | "tuple"))
}

/// `std::array` and its kin.
pub fn is_array(ty: &Ty) -> bool {
    matches!(ty.value(), Ty::Named(named) if &*named.name == "array")
}

/// Of a `std::array` its elements' type and their number.
pub fn elements_of(ty: &Ty) -> Option<(Ty, Option<i64>)> {
    let Ty::Named(named) = ty.value() else { return None };
    if !is_array(ty) {
        return None;
    }
    let count = match named.args.get(1) {
        Some(Bound::Value(count)) => Some(*count),
        _ => None,
    };
    Some((part_type(ty, 0), count))
}

/// The extents of an array, outermost first, and the type of its innermost elements.
pub fn dimensions(ty: &Ty) -> (Vec<Option<i64>>, Ty) {
    let (mut dims, mut inner) = (Vec::new(), ty.clone());
    loop {
        let (of, extent) = match &inner {
            Ty::Array(of, extent) => ((**of).clone(), *extent),
            other => match elements_of(other) {
                Some(elements) => elements,
                None => return (dims, inner),
            },
        };
        dims.push(extent);
        inner = of;
    }
}

/// How many array dimensions an object of the type has, if that can be said.
pub fn rank(ty: &Ty) -> Option<u8> {
    let is_open = |ty: &Ty| matches!(ty, Ty::Named(_) | Ty::Unknown | Ty::Param(_) | Ty::Library(_));
    match ty {
        Ty::Array(..) | Ty::Named(_) => {
            let (dims, innermost) = dimensions(ty);
            (!is_open(&innermost)).then(|| dims.len().min(255) as u8)
        }
        other => (!is_open(other)).then_some(0),
    }
}

/// The name of a part of a pair or tuple.
pub fn part_name(ty: &Ty, index: usize) -> Name {
    match (ty.value(), index) {
        (Ty::Named(named), 0) if &*named.name == "pair" => Name::from("first"),
        (Ty::Named(named), 1) if &*named.name == "pair" => Name::from("second"),
        _ => Name::from(index.to_string()),
    }
}

/// The declared type of a part of a pair or tuple.
pub fn part_type(ty: &Ty, index: usize) -> Ty {
    match ty.value() {
        Ty::Named(named) => match named.args.get(index) {
            Some(Bound::Type(ty)) => ty.clone(),
            _ => Ty::Unknown,
        },
        _ => Ty::Unknown,
    }
}

impl Builder<'_> {
    pub fn call_library(&mut self, kind: FunctionKind, path: &Path, list: &[Arg], span: Span) -> Option<Ev> {
        match kind {
            FunctionKind::MakePair => self.make_parts("pair", list, span),
            FunctionKind::MakeTuple => self.make_parts("tuple", list, span),
            FunctionKind::Get => self.get_part(path, list, span),
            FunctionKind::Concatenate => self.concatenate(list, span),
            FunctionKind::MakeFromTuple => self.make_from_tuple(path, list, span),
            FunctionKind::CopyBytes => self.copy_bytes(list, span),
            FunctionKind::SetBytes => self.set_bytes(list, span),
            FunctionKind::Tie => self.tie(list, span),
            FunctionKind::Swap => self.swap(list, span),
            FunctionKind::Exchange => self.exchange(list, span),
            kind if kind.calls_argument() => self.call_algorithm(kind, list, span),
            _ => None,
        }
    }

    pub fn make_parts(&mut self, class: &str, list: &[Arg], span: Span) -> Option<Ev> {
        // A class among the parts would have to be copied member by member.
        if list.iter().any(|arg| arg.ty().value().is_aggregate() || arg.ty().is_static()) {
            return None;
        }
        let args = list.iter().map(|arg| Bound::Type(super::templates::decay(&arg.ty()))).collect();
        let ty = Ty::Named(Arc::new(NamedTy { name: Name::from(class), args }));
        let values = self.arg_values(list);
        let named = values.iter().enumerate().map(|(index, value)| (part_name(&ty, index), *value)).collect();
        let parts = match list {
            [] => What::Value(self.int(0, span)),
            _ => What::Parts(named),
        };
        Some(Ev { what: parts, ..Ev::typed(ty) })
    }

    /// `get<1>(pair)`, `get<int>(pair)`
    fn get_part(&mut self, path: &Path, list: &[Arg], span: Span) -> Option<Ev> {
        let [one] = list else { return None };
        let ev = one.ev.clone().filter(|ev| has_parts(&ev.ty) || is_array(&ev.ty))?;
        let explicit = self.written_arguments(path.segments.last()?)?;
        let index = match (&explicit[..], ev.ty.value()) {
            ([Bound::Value(index)], _) if is_array(&ev.ty) => return self.array_element(&ev, *index, span),
            ([Bound::Value(index)], _) => usize::try_from(*index).ok()?,
            // `get<float>(tuple)`
            ([wanted @ Bound::Type(_)], Ty::Named(named)) => named.args.iter().position(|arg| arg == wanted)?,
            _ => return None,
        };
        Some(self.member_of(&ev, &part_name(&ev.ty, index), part_type(&ev.ty, index), span))
    }

    /// The parts of a pair or tuple, in order.
    fn all_parts(&mut self, tuple: &Arg, span: Span) -> Option<Vec<Arg<'static>>> {
        let ev = tuple.ev.clone().filter(|ev| has_parts(&ev.ty))?;
        let Ty::Named(named) = ev.ty.value().clone() else { return None };
        let parts = (0..named.args.len()).map(|index| {
            let part = self.member_of(&ev, &part_name(&ev.ty, index), part_type(&ev.ty, index), span);
            Arg::made(part, span)
        });
        Some(parts.collect())
    }

    /// `tuple_cat(a, b)`
    fn concatenate(&mut self, list: &[Arg], span: Span) -> Option<Ev> {
        let mut parts = Vec::new();
        for tuple in list {
            parts.extend(self.all_parts(tuple, span)?);
        }
        self.make_parts("tuple", &parts, span)
    }

    /// `make_from_tuple<pair<int, int>>(tuple)`
    fn make_from_tuple(&mut self, path: &Path, list: &[Arg], span: Span) -> Option<Ev> {
        let [tuple] = list else { return None };
        let parts = self.all_parts(tuple, span)?;
        let explicit = self.written_arguments(path.segments.last()?)?;
        let [Bound::Type(ty)] = &explicit[..] else { return None };
        match ty {
            Ty::Class(class) => {
                let object = self.temporary("the temporary", ty, span);
                let address = self.address(object, span);
                let made = self.constructor_with(address, class, parts, span);
                made.then(|| Ev::made(address, ty.clone()))
            }
            _ => Some(self.construct_evaluated(ty, &parts, span)),
        }
    }

    /// `memcpy(&to, &from, sizeof to)`: all of an object is copied like one.
    fn copy_bytes(&mut self, list: &[Arg], span: Span) -> Option<Ev> {
        let [to, from, count] = list else { return None };
        let (target, of) = self.whole_object(to, count)?;
        let from = from.ev.clone()?;
        let source = match (from.ty.value(), &from.what) {
            (Ty::Array(..), What::Place(address)) => *address,
            (Ty::Pointer(pointee), _) if pointee.ty == of || !matches!(self.object_behind(&from), Some((_, true))) => {
                self.rvalue(&from, span)
            }
            _ => return None,
        };
        self.emit(Op::Copy { to: target, from: source }, span);
        Some(Ev::value(target, Ty::pointer_to(of)))
    }

    /// `memset(&object, byte, sizeof object)`
    fn set_bytes(&mut self, list: &[Arg], span: Span) -> Option<Ev> {
        let [to, byte, count] = list else { return None };
        let (target, of) = self.whole_object(to, count)?;
        let byte = self.rvalue(byte.ev.as_ref()?, span);
        let value = self.unknown(vec![byte], span);
        self.store(target, value, span);
        Some(Ev::value(target, Ty::pointer_to(of)))
    }

    /// The variable of the thread's own that a pointer leads to, and its type, if so many bytes are all of it.
    fn whole_object(&mut self, pointer: &Arg, count: &Arg) -> Option<(Value, Ty)> {
        let ev = pointer.ev.clone()?;
        let (address, is_own) = self.object_behind(&ev)?;
        let of = match ev.ty.value() {
            Ty::Array(..) => ev.ty.value().clone(),
            ty => ty.element(),
        };
        let is_sizeof = matches!(count.expr, Some(Expr { kind: ExprKind::Unevaluated(_), .. }));
        let bytes = count.ev.as_ref().and_then(|ev| match ev.what {
            What::Value(value) => self.constant_of(value),
            _ => None,
        });
        let is_all = match (bytes, super::constant::size_of(&of)) {
            (Some(bytes), Some(size)) => bytes >= size,
            _ => is_sizeof,
        };
        (is_own && is_all).then_some((address, of))
    }

    /// The variable that a pointer visibly leads to all of, and whether each thread has its own.
    fn object_behind(&mut self, ev: &Ev) -> Option<(Value, bool)> {
        let address = match (&ev.what, ev.ty.value()) {
            (What::Place(address), Ty::Array(..)) => *address,
            (What::Value(address), Ty::Pointer(_)) => *address,
            _ => return None,
        };
        match self.op(address) {
            Op::Address(object) => Some((address, self.graph.objects[object.index()].kind == ObjectKind::Local)),
            _ => None,
        }
    }

    fn tie(&mut self, list: &[Arg], span: Span) -> Option<Ev> {
        let mut parts = Vec::new();
        for (index, arg) in list.iter().enumerate() {
            let ev = arg.ev.clone()?;
            // `std::ignore` is nothing that could be written.
            if let What::Place(address) = ev.what {
                parts.push((Name::from(index.to_string()), address));
            }
        }
        let ty = Ty::Named(Arc::new(NamedTy { name: Name::from(TIE), args: Vec::new() }));
        if parts.is_empty() {
            return Some(Ev::value(self.int(0, span), ty));
        }
        Some(Ev::parts(parts, ty))
    }

    /// `tie(a, b) = value`; `false` if the target is no such call.
    pub fn assign_tied(&mut self, target: &Ev, value: &Ev, span: Span) -> bool {
        let (What::Parts(addresses), Ty::Named(named)) = (&target.what, target.ty.value()) else { return false };
        if &*named.name != TIE {
            return false;
        }
        // All parts are read before the first is written.
        let mut moved = Vec::new();
        for (name, address) in addresses.clone() {
            let index: usize = name.parse().unwrap_or_default();
            let part = match value.ty.value() {
                Ty::Class(class) => {
                    let fields = self.fields_of(&class.clone());
                    let field = fields.get(index).cloned();
                    let (field, ty) = field.unwrap_or((name, Ty::Unknown));
                    self.member_of(value, &field, ty, span)
                }
                ty if has_parts(ty) => {
                    let (part, of) = (part_name(ty, index), part_type(ty, index));
                    self.member_of(value, &part, of, span)
                }
                _ => {
                    let whole = self.rvalue(value, span);
                    Ev::value(self.unknown(vec![whole], span), Ty::Unknown)
                }
            };
            moved.push((address, self.rvalue(&part, span)));
        }
        for (address, value) in moved {
            self.store(address, value, span);
        }
        true
    }

    fn swap(&mut self, list: &[Arg], span: Span) -> Option<Ev> {
        let [Arg { ev: Some(a), .. }, Arg { ev: Some(b), .. }] = list else { return None };
        let (What::Place(first), What::Place(second)) = (&a.what, &b.what) else { return None };
        let (first, second, ty) = (*first, *second, a.ty.value().clone());
        let kept = self.temporary("swapped", &ty, span);
        let kept = self.address(kept, span);
        self.store_to(kept, &ty, a, span);
        self.store_to(first, &ty, b, span);
        self.store_to(second, &ty, &Ev::place(kept, ty.clone()), span);
        Some(Ev::nothing())
    }

    /// Gives the old value.
    fn exchange(&mut self, list: &[Arg], span: Span) -> Option<Ev> {
        let [Arg { ev: Some(place), .. }, Arg { ev: Some(new), .. }] = list else { return None };
        let What::Place(address) = place.what else { return None };
        let ty = place.ty.value().clone();
        let kept = self.temporary("exchanged", &ty, span);
        let kept = self.address(kept, span);
        self.store_to(kept, &ty, place, span);
        self.store_to(address, &ty, new, span);
        Some(Ev::place(kept, ty))
    }
}
