//! Traits of the standard library that ask how types stand to one another, and what arrays measure: `is_base_of`,
//! `is_convertible`, `is_invocable`, `rank`, `extent`, `alignment_of`. `None` where what is in view does not tell.

use super::builder::Builder;
use super::names::Found;
use super::types::{Bound, ClassTy, INT, Ty};
use crate::program::{Name, Segment};
use std::sync::Arc;

/// Bases of bases.
const DEEP: usize = 32;

impl Builder<'_> {
    pub fn relation_value(&mut self, name: &str, args: &[Bound]) -> Option<(i64, Ty)> {
        let ty = |index: usize| match args.get(index) {
            Some(Bound::Type(ty)) if ty.is_known() => Some(ty.clone()),
            _ => None,
        };
        let first = ty(0)?;
        let truth = |value: bool| (i64::from(value), Ty::Bool);
        match name {
            "is_base_of" => self.is_base_of(&first, &ty(1)?).map(truth),
            "is_convertible" => self.is_convertible(&first, &ty(1)?).map(truth),
            "is_invocable" => {
                let types: Option<Vec<Ty>> = (1..args.len()).map(ty).collect();
                self.is_invocable(&first, &types?).map(truth)
            }
            "rank" => Some((extents(&first).len() as i64, INT)),
            "extent" => {
                let wanted = match args.get(1) {
                    None => 0,
                    Some(Bound::Value(index)) => usize::try_from(*index).ok()?,
                    Some(_) => return None,
                };
                extents(&first).get(wanted).map_or(Some(0), |extent| *extent).map(|extent| (extent, INT))
            }
            "alignment_of" => alignment(&first).map(|bytes| (bytes, Ty::Int { bits: 64, signed: false })),
            _ => None,
        }
    }

    fn is_base_of(&mut self, base: &Ty, ty: &Ty) -> Option<bool> {
        match (base, ty) {
            (Ty::Class(base), Ty::Class(class)) if base == class || self.derives_from(class, base, 0) => Some(true),
            (_, Ty::Class(class)) => {
                let class = class.clone();
                self.has_all_bases(&class, 0).then_some(false)
            }
            (_, ty) => ty.is_scalar().then_some(false),
        }
    }

    /// All bases of a class, and theirs, are in view.
    fn has_all_bases(&mut self, class: &Arc<ClassTy>, depth: usize) -> bool {
        let bases = self.bases_of(class);
        depth < DEEP
            && bases.len() == class.class.bases.len()
            && bases.iter().all(|base| self.has_all_bases(base, depth + 1))
    }

    fn is_convertible(&mut self, from: &Ty, to: &Ty) -> Option<bool> {
        let is_number = |ty: &Ty| matches!(ty, Ty::Bool | Ty::Int { .. } | Ty::Float { .. });
        match (from.value(), to) {
            (a, b) if is_number(a) && is_number(b) => Some(true),
            (Ty::Pointer(a), Ty::Pointer(b)) => {
                if a.is_const && !b.is_const {
                    return Some(false);
                }
                match (&a.ty, &b.ty) {
                    (one, other) if one == other && one.is_known() => Some(true),
                    (one, Ty::Void) if one.is_known() => Some(true),
                    (one, other) if one.is_known() && other.is_known() => {
                        let (one, other) = (one.clone(), other.clone());
                        self.is_base_of(&other, &one)
                    }
                    _ => None,
                }
            }
            (Ty::Pointer(_), Ty::Bool) => Some(true),
            (Ty::Pointer(_), Ty::Int { .. } | Ty::Float { .. }) => Some(false),
            (a, Ty::Pointer(_)) if is_number(a) => Some(false),
            (Ty::Class(one), Ty::Class(other)) if one == other => None,
            (Ty::Class(one), to) => {
                if matches!(to, Ty::Class(base) if self.derives_from(one, base, 0)) {
                    return Some(true);
                }
                let one = one.clone();
                let converts_itself = !self.has_all_bases(&one, 0) || !self.conversions_of(&one, 0).is_empty();
                let is_made_of = match to {
                    Ty::Class(other) => self.has_constructors(other),
                    other => !other.is_scalar(),
                };
                (!converts_itself && !is_made_of).then_some(false)
            }
            (a, Ty::Class(other)) if a.is_scalar() => (!self.has_constructors(other)).then_some(false),
            _ => None,
        }
    }

    /// The class names some constructor, with a body in view or not.
    fn has_constructors(&self, class: &Arc<ClassTy>) -> bool {
        let program = self.program;
        let Some(name) = &class.class.name else { return true };
        program.members(class.item).iter().any(|member| program.item(*member).name == *name)
    }

    fn is_invocable(&mut self, ty: &Ty, args: &[Ty]) -> Option<bool> {
        let Ty::Class(class) = ty.value().clone() else { return ty.value().is_scalar().then_some(false) };
        let call = Segment { name: Name::from("operator()"), args: None };
        if self.member_exists(ty, &call)? {
            let Some(Found::Functions(set)) = self.find_in_class(&class, &call) else { return None };
            let takes = set.iter().any(|one| self.takes(one, args.len()) && self.score(one, args, &[]).is_some());
            return if !takes && self.has_declarations(&set) { None } else { Some(takes) };
        }
        self.conversions_of(&class, 0).is_empty().then_some(false)
    }
}

/// The extents of an array, outermost first, each if it is known.
fn extents(ty: &Ty) -> Vec<Option<i64>> {
    let mut found = Vec::new();
    let mut at = ty;
    while let Ty::Array(of, extent) = at {
        found.push(*extent);
        at = of;
    }
    found
}

fn alignment(ty: &Ty) -> Option<i64> {
    Some(match ty.value() {
        Ty::Bool => 1,
        Ty::Int { bits, .. } | Ty::Float { bits } => i64::from(*bits) / 8,
        Ty::Pointer(_) | Ty::FunctionPointer => 8,
        Ty::Array(of, _) => alignment(of)?,
        _ => return None,
    })
}
