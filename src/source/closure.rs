use crate::graph::ItemId; use crate::source::tree::Tree; use crate::words::Words;
pub struct Roots { pub kernels: Vec<ItemId>, pub devices: Vec<ItemId>, pub kernels_without: usize }
pub fn roots(tree: &Tree, _w: &Words) -> Roots { Roots { kernels: tree.ids().filter(|i| tree.item(*i).is_kernel() && tree.item(*i).is_definition()).collect(), devices: vec![], kernels_without: 0 } }
