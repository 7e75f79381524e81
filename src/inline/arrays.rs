//! `std::array` where its class is not in view: an array of its elements.

use super::builder::Builder;
use super::calls::Arg;
use super::initialise::ZEROED;
use super::library::elements_of;
use super::types::{INT, Ty};
use super::values::{Ev, What};
use crate::program::Name;
use crate::text::Span;

impl Builder<'_> {
    /// A method of the class that hands out elements, or sets them all.
    pub fn call_array_method(&mut self, base: &Ev, name: &Name, list: &[Arg], span: Span) -> Option<Ev> {
        let (of, count) = elements_of(&base.ty)?;
        match (&**name, list) {
            ("at", [index]) => {
                let index = self.rvalue(index.ev.as_ref()?, index.span);
                let address = self.address_of(base, span);
                Some(Ev::place(self.element_address(address, index, span), of).fixed_if(base.is_const))
            }
            ("front", []) => self.array_element(base, 0, span),
            ("back", []) => self.array_element(base, count? - 1, span),
            ("data" | "begin" | "cbegin", []) => self.iterator_at(base, 0, of, span),
            ("end" | "cend", []) => self.iterator_at(base, count?, of, span),
            ("size" | "max_size", []) => Some(Ev::value(self.int(count?, span), INT)),
            ("empty", []) => Some(Ev::value(self.int(i64::from(count? == 0), span), Ty::Bool)),
            ("fill", [value]) if count? <= ZEROED => {
                for index in 0..count? {
                    let Some(Ev { what: What::Place(element), .. }) = self.array_element(base, index, span) else {
                        continue;
                    };
                    self.store_to(element, &of, value.ev.as_ref()?, span);
                }
                Some(Ev::nothing())
            }
            _ => None,
        }
    }

    /// The element of that number: `array.back()`, `get<2>(array)`.
    pub fn array_element(&mut self, base: &Ev, index: i64, span: Span) -> Option<Ev> {
        let (of, _) = elements_of(&base.ty)?;
        let index = self.int(index, span);
        let address = self.address_of(base, span);
        Some(Ev::place(self.element_address(address, index, span), of).fixed_if(base.is_const))
    }

    fn iterator_at(&mut self, base: &Ev, index: i64, of: Ty, span: Span) -> Option<Ev> {
        let Ev { what: What::Place(address), .. } = self.array_element(base, index, span)? else { return None };
        Some(Ev::value(address, Ty::pointer_to(of)))
    }
}
