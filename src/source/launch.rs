use crate::graph::ItemId; use crate::source::tree::Tree; use crate::text::Range;
#[derive(Clone,Debug)] pub struct Launch { pub kernel: ItemId, pub template_args: Vec<String>, pub block: [Option<u32>; 3], pub grid: [Option<u32>;3], pub cluster: [Option<u32>;3], pub at: Range }
#[derive(Default)] pub struct Bounds { pub max_threads: Option<u32>, pub block: Option<[u32;3]>, pub cluster: Option<[u32;3]> }
pub fn launches(_t: &Tree, _k: ItemId) -> Vec<Launch> { vec![] }
pub fn bounds(_t: &Tree, _k: ItemId) -> Bounds { Bounds::default() }
