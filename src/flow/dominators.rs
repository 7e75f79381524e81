//! Dominators, by petgraph, over edges as they are kept: no second graph is built for it.

use crate::graph::BlockId;
use petgraph::algo::dominators::{Dominators, simple_fast};
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::{GraphBase, GraphRef, IntoNeighbors, Visitable};

/// What each block leads to, and behind all blocks one node more that leads to some of them.
#[derive(Copy, Clone)]
pub struct Edges<'a> {
    pub of: &'a [Vec<BlockId>],
    pub of_last: &'a [BlockId],
}

type Map = <DiGraph<(), ()> as Visitable>::Map;

impl Edges<'_> {
    /// The node behind all blocks.
    pub fn last(&self) -> NodeIndex {
        NodeIndex::new(self.of.len())
    }

    pub fn dominators(&self, root: NodeIndex) -> Dominators<NodeIndex> {
        simple_fast(*self, root)
    }
}

impl GraphBase for Edges<'_> {
    type NodeId = NodeIndex;
    type EdgeId = ();
}

impl GraphRef for Edges<'_> {}

impl<'a> IntoNeighbors for Edges<'a> {
    type Neighbors = std::iter::Map<std::slice::Iter<'a, BlockId>, fn(&BlockId) -> NodeIndex>;

    fn neighbors(self, node: NodeIndex) -> Self::Neighbors {
        let targets = self.of.get(node.index()).map_or(self.of_last, Vec::as_slice);
        targets.iter().map(|to| NodeIndex::new(to.index()))
    }
}

impl Visitable for Edges<'_> {
    type Map = Map;

    fn visit_map(&self) -> Map {
        Map::with_capacity(self.of.len() + 1)
    }

    fn reset_map(&self, map: &mut Map) {
        map.clear();
        map.grow(self.of.len() + 1);
    }
}
