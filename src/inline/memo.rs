//! Questions about names and types that were answered before in the same graph.
//!
//! An answer is kept only if no limit was met on the way to it (`Memo::limits_met`): a deeper caller's half answer is no
//! answer for others.

use super::scope::ScopeId;
use super::types::{Bound, ClassTy, Ty};
use crate::graph::ItemId;
use crate::program::Name;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::hash::Hash;
use std::sync::Arc;

#[derive(Default)]
pub struct Memo {
    /// Look-ups cut off so far.
    pub limits_met: usize,
    /// A body says `using namespace`: what is visible depends on more than the item.
    pub has_local_using: bool,
    pub visible: RefCell<FxHashMap<VisibleKey, Arc<[ItemId]>>>,
    pub classes: FxHashMap<ClassKey, Option<Ty>>,
    /// By alias, arguments and `is_lenient`.
    pub aliases: FxHashMap<(ItemId, Vec<Bound>, bool), Ty>,
    pub scores: FxHashMap<ScoreKey, Option<u32>>,
    types: FxHashMap<Box<[Ty]>, u32>,
    explicit: FxHashMap<Box<[Bound]>, u32>,
    /// Whether two functions, each with the scope round it, take parameters of the same types.
    pub same_headers: FxHashMap<[(usize, ScopeId); 2], bool>,
    /// Whether copying a class, or assigning it, runs anything of its own.
    pub copying: FxHashMap<(super::copies::Copying, Arc<ClassTy>), bool>,
    /// By function and class, what a method may do to its object.
    pub effects: FxHashMap<(usize, ItemId), std::rc::Rc<super::effects::Effects>>,
    /// By class and member, what the member goes by in an object.
    pub cells: FxHashMap<(Arc<ClassTy>, Name), Name>,
    /// One object for each class with its arguments, so that comparing types is comparing pointers.
    pub interned: FxHashMap<(usize, Vec<Bound>, Option<ScopeId>), Arc<ClassTy>>,
}

#[derive(PartialEq, Eq, Hash)]
pub struct VisibleKey {
    pub from: ItemId,
    pub name: Name,
    pub namespace: Option<Box<[Name]>>,
    pub only_types: bool,
}

#[derive(PartialEq, Eq, Hash)]
pub struct ClassKey {
    /// The first of the primary template and its specialisations.
    pub first: ItemId,
    pub args: Vec<Bound>,
    pub scope: Option<ScopeId>,
    pub is_lenient: bool,
}

#[derive(PartialEq, Eq, Hash)]
pub struct ScoreKey {
    /// The function's address.
    pub function: usize,
    pub class: Option<Arc<ClassTy>>,
    pub scope: Option<ScopeId>,
    pub given: Given,
    pub is_lenient: bool,
}

/// What a call gives its function, by number: the types of its arguments, and the template arguments that it writes.
#[derive(Copy, Clone, PartialEq, Eq, Hash)]
pub struct Given {
    types: u32,
    explicit: u32,
}

impl Memo {
    pub fn given(&mut self, types: &[Ty], explicit: &[Bound]) -> Given {
        Given { types: number(&mut self.types, types), explicit: number(&mut self.explicit, explicit) }
    }
}

/// Equal lists get one number.
fn number<T: Clone + Eq + Hash>(known: &mut FxHashMap<Box<[T]>, u32>, list: &[T]) -> u32 {
    if let Some(number) = known.get(list) {
        return *number;
    }
    let number = known.len() as u32;
    known.insert(list.into(), number);
    number
}
