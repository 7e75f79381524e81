//! Dominators by Cooper, Harvey and Kennedy: meet the dominators of what leads to a node, in order, until nothing changes.

const UNKNOWN: u32 = u32::MAX;

/// By position in `order`, which is a reverse post-order with the root first: the position of the immediate dominator, of the
/// root its own. `position` is `u32::MAX` for nodes that are not in the order.
pub fn immediate<P: Iterator<Item = usize>>(
    order: &[usize],
    position: &[u32],
    predecessors: impl Fn(usize) -> P,
) -> Vec<u32> {
    let mut above = vec![UNKNOWN; order.len()];
    let Some(root) = above.first_mut() else { return above };
    *root = 0;
    let mut settled = false;
    while !settled {
        settled = true;
        for (at, node) in order.iter().enumerate().skip(1) {
            let mut met = UNKNOWN;
            for from in predecessors(*node).map(|from| position[from]) {
                if from != UNKNOWN && above[from as usize] != UNKNOWN {
                    met = if met == UNKNOWN { from } else { meet(&above, met, from) };
                }
            }
            if above[at] != met {
                above[at] = met;
                settled = false;
            }
        }
    }
    above
}

/// The nearest node that dominates both.
fn meet(above: &[u32], mut one: u32, mut other: u32) -> u32 {
    while one != other {
        if one > other {
            one = above[one as usize];
        } else {
            other = above[other as usize];
        }
    }
    one
}
