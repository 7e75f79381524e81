//! Which variables and members are arrays: what tells a step into an array from one along it.

use crate::graph::{Graph, Object, ObjectId};
use crate::program::Name;
use rustc_hash::FxHashMap;

/// How many array dimensions there are, where that is known.
#[derive(Debug, Default)]
pub struct Layout {
    /// Of each object.
    pub objects: Vec<Option<u8>>,
    /// Of members, by their name.
    pub members: FxHashMap<Name, Option<u8>>,
}

impl Layout {
    pub fn of(graph: &Graph) -> Layout {
        let rank = |object: &Object| (!object.is_open).then_some(object.dims.len().min(255) as u8);
        Layout { objects: graph.objects.iter().map(rank).collect(), members: graph.member_ranks.clone() }
    }

    pub fn of_object(&self, object: ObjectId) -> Option<u8> {
        self.objects.get(object.index()).copied().unwrap_or(Some(0))
    }

    pub fn of_member(&self, name: &str) -> Option<u8> {
        self.members.get(name).copied().flatten()
    }
}
