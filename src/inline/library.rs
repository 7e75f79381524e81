//! Functions of the standard library (`std`, `cuda::std`, `thrust`) that hand values on: pairs and tuples by their
//! parts, `tie`, `swap`, `exchange`. A function of the same name with a body in view is followed instead.

use super::builder::Builder;
use super::calls::Arg;
use super::types::{Bound, NamedTy, Ty};
use super::values::{Ev, What};
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
    let (dims, innermost) = dimensions(ty);
    let is_known = !matches!(innermost, Ty::Named(_) | Ty::Unknown | Ty::Param(_) | Ty::Library(_));
    is_known.then(|| dims.len().min(255) as u8)
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

    /// `get<1>(pair)`
    fn get_part(&mut self, path: &Path, list: &[Arg], span: Span) -> Option<Ev> {
        let [one] = list else { return None };
        let ev = one.ev.clone().filter(|ev| has_parts(&ev.ty))?;
        let explicit = self.written_arguments(path.segments.last()?)?;
        let [Bound::Value(index)] = explicit[..] else { return None };
        let index = usize::try_from(index).ok()?;
        Some(self.member_of(&ev, &part_name(&ev.ty, index), part_type(&ev.ty, index), span))
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
