//! Traits and concepts of the standard library, by the types that they are asked of, and classes that are constants.

use super::builder::Builder;
use super::names::Found;
use super::types::{Bound, ClassTy, INT, Ty};
use crate::program::*;
use std::sync::Arc;

impl Builder<'_> {
    /// `std::is_same_v<A, B>`, `Trait<A>::value`, `std::integral<T>`
    pub fn trait_of_path(&mut self, path: &Path) -> Option<(i64, Ty)> {
        let last = path.segments.last()?;
        let (name, args) = match &*last.name {
            "value" => {
                let class = path.segments.get(path.segments.len().checked_sub(2)?)?;
                (class.name.clone(), class.args.as_ref())
            }
            name => match name.strip_suffix("_v") {
                Some(name) => (Name::from(name), last.args.as_ref()),
                None => {
                    let args = self.written_arguments(last)?;
                    return concept_value(name, &args).map(|value| (i64::from(value), Ty::Bool));
                }
            },
        };
        let args = args.map_or(Vec::new(), |args| self.template_arguments(args));
        self.trait_value(&name, &args)
    }

    /// A standard trait over types, where the types tell.
    pub fn trait_value(&mut self, name: &str, args: &[Bound]) -> Option<(i64, Ty)> {
        let truth = |value: bool| (i64::from(value), Ty::Bool);
        match name {
            "conjunction" | "disjunction" => {
                let decides = name == "disjunction";
                for arg in args {
                    if (self.value_of_argument(arg)? != 0) == decides {
                        return Some(truth(decides));
                    }
                }
                Some(truth(!decides))
            }
            "negation" => self.value_of_argument(args.first()?).map(|value| truth(value == 0)),
            _ => trait_of_types(name, args).or_else(|| self.relation_value(name, args)),
        }
    }

    fn value_of_argument(&mut self, arg: &Bound) -> Option<i64> {
        match arg {
            Bound::Type(ty) => self.value_of_type(ty).map(|(value, _)| value),
            _ => None,
        }
    }

    /// The constant that objects of the type are: of `integral_constant` and what derives from it.
    pub fn value_of_type(&mut self, ty: &Ty) -> Option<(i64, Ty)> {
        match ty.value() {
            Ty::Named(named) => self.trait_value(&named.name, &named.args),
            Ty::Class(class) => {
                let class = class.clone();
                match self.find_in_class(&class, &Segment { name: Name::from("value"), args: None })? {
                    Found::StaticField(class, index) => self.constant_member(&class, index),
                    Found::Constant(value, ty) => Some((value, ty)),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// The member of a class of the standard library: `std::conditional<b, A, B>::type`, `std::true_type::value`.
    pub fn standard_member(&mut self, ty: &Ty, name: &str) -> Found {
        let Ty::Named(named) = ty else { return Found::None };
        match name {
            "type" => {
                let alias = format!("{}_t", named.name);
                match self.standard_type(&alias, &named.args) {
                    Some(ty) => Found::Type(ty),
                    None if is_constant(ty) => Found::Type(ty.clone()),
                    None => Found::None,
                }
            }
            "value" => match self.trait_value(&named.name, &named.args) {
                Some((value, ty)) => Found::Constant(value, ty),
                None => Found::None,
            },
            name => match self.trait_value(&format!("{}::{name}", named.name), &named.args) {
                Some((value, ty)) => Found::Constant(value, ty),
                None => Found::None,
            },
        }
    }

    /// What a class has from a base that is a class of the standard library.
    pub fn member_of_standard_base(&mut self, class: &Arc<ClassTy>, name: &str) -> Option<Found> {
        if !matches!(name, "type" | "value") {
            return None;
        }
        self.standard_bases(class).into_iter().find_map(|base| match self.standard_member(&base, name) {
            Found::None => None,
            found => Some(found),
        })
    }
}

fn is_constant(ty: &Ty) -> bool {
    matches!(ty, Ty::Named(named) if &*named.name == "integral_constant")
}

/// A standard concept of types.
pub fn concept_value(concept: &str, args: &[Bound]) -> Option<bool> {
    let holds = |name: &str| trait_of_types(name, args).map(|(value, _)| value != 0);
    match concept {
        "integral" => holds("is_integral"),
        "floating_point" => holds("is_floating_point"),
        "signed_integral" => Some(holds("is_integral")? && holds("is_signed")?),
        "unsigned_integral" => Some(holds("is_integral")? && holds("is_unsigned")?),
        "same_as" => holds("is_same"),
        _ => None,
    }
}

/// The concept that a standard concept asks for first.
pub fn concept_includes(concept: &str) -> Option<&'static str> {
    matches!(concept, "signed_integral" | "unsigned_integral").then_some("integral")
}

pub fn is_concept(name: &str) -> bool {
    matches!(name, "integral" | "floating_point" | "signed_integral" | "unsigned_integral" | "same_as")
}

fn trait_of_types(name: &str, args: &[Bound]) -> Option<(i64, Ty)> {
    let ty = |index: usize| match args.get(index) {
        Some(Bound::Type(ty)) => Some(ty),
        _ => None,
    };
    let truth = |value: bool| Some((i64::from(value), Ty::Bool));
    match name {
        "true_type" => return truth(true),
        "false_type" => return truth(false),
        "integral_constant" | "bool_constant" | "constant" | "Int" => {
            return match args.last() {
                Some(Bound::Value(value)) => Some((*value, INT)),
                _ => None,
            };
        }
        _ => {}
    }
    let first = ty(0).filter(|ty| ty.is_known())?;
    match name {
        "is_same" => {
            let second = ty(1).filter(|ty| ty.is_known())?;
            truth(first == second)
        }
        "is_floating_point" => truth(matches!(first, Ty::Float { bits } if *bits > 16)),
        "is_integral" => truth(matches!(first, Ty::Int { .. } | Ty::Bool)),
        "is_arithmetic" => truth(matches!(first, Ty::Int { .. } | Ty::Bool | Ty::Float { .. })),
        "is_pointer" => truth(matches!(first, Ty::Pointer(_) | Ty::FunctionPointer)),
        "is_void" => truth(*first == Ty::Void),
        "is_signed" => truth(matches!(first, Ty::Int { signed: true, .. } | Ty::Float { .. })),
        "is_unsigned" => truth(matches!(first, Ty::Int { signed: false, .. } | Ty::Bool)),
        "is_enum" => truth(matches!(first, Ty::Enum(_))),
        "is_class" => truth(matches!(first, Ty::Class(_) | Ty::Named(_) | Ty::Vector { .. } | Ty::Closure(_))),
        "is_reference" => truth(matches!(first, Ty::Reference(_))),
        "is_array" => truth(matches!(first, Ty::Array(..))),
        "numeric_limits::digits" => match first {
            Ty::Int { bits, signed } => Some((i64::from(*bits) - i64::from(*signed), INT)),
            Ty::Bool => Some((1, INT)),
            Ty::Float { bits: 32 } => Some((24, INT)),
            Ty::Float { bits: 64 } => Some((53, INT)),
            _ => None,
        },
        "numeric_limits::max" => match *first {
            Ty::Int { bits: 64, signed: false } => None,
            Ty::Int { bits, signed } => Some((i64::MAX >> (64 - u32::from(bits) - u32::from(!signed)), first.clone())),
            Ty::Bool => truth(true),
            _ => None,
        },
        "numeric_limits::min" | "numeric_limits::lowest" => match *first {
            Ty::Int { bits, signed: true } => Some((i64::MIN >> (64 - u32::from(bits)), first.clone())),
            Ty::Int { signed: false, .. } => Some((0, first.clone())),
            Ty::Bool => truth(false),
            _ => None,
        },
        _ => None,
    }
}
