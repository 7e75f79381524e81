//! Masks carried round a loop: does what one trip makes of the mask name those who come on the next one?
//!
//! ```text
//!     while (i < n) {
//!         use(mask);                              // here: those for whom i < n
//!         i += 32;
//!         mask = __ballot_sync(mask, i < n);      // on the next trip: those of them for whom i + 32 < n
//!     }
//! ```
//! By induction: if the mask names on this trip those who come to the primitive, it has to do so on the next one.

use super::*;

/// A mask carried round a loop, on one trip of it.
pub(super) struct Carried {
    pub mask: Symbol,
    /// Who is taken to be named in it.
    pub named: Formula,
    /// Who comes to the blocks of the loop.
    pub comes: FxHashMap<BlockId, Formula>,
}

/// Who comes where on one trip of a loop, of those who begin it.
struct Trip {
    comes: FxHashMap<BlockId, Formula>,
    /// Who begins another trip.
    stays: Formula,
    /// Who ends on this trip.
    ended: Formula,
}

impl Sets<'_, '_> {
    /// How a mask that the loop of its head hands on fits those who come on the next trip; `None` where that cannot be
    /// said.
    pub fn fit_carried(&mut self, mask: Symbol) -> Option<Fit> {
        let check = self.check;
        let (flow, values) = (&check.analysed.flow, &check.analysed.values);
        let phi = values.phis.get(&mask)?;
        let index = flow.head_of[phi.block.index()]?;
        let at = self.place(index, check.analysed.block(self.inst))?;
        let mut renewed = phi.handed_on(flow);
        let next = renewed.next().filter(|next| *next != mask)?;
        if renewed.any(|other| other != next) {
            return None;
        }
        let now = self.trip(index, &|block| values.condition[block.index()])?;
        let then = self.trip(index, &|block| values.next_turn.get(&(index, block)).copied())?;
        let comes_now = now.comes.get(&at)?.clone();
        let comes_then = then.comes.get(&at)?.clone();
        self.carried = Some(Carried { mask, named: comes_now, comes: now.comes });
        let named = self.set(next, 0);
        self.carried = None;
        let mut given = Always(true);
        for each in check.dependences(phi.block).iter().filter(|each| flow.only_by(each.by, phi.block)) {
            if let Some((on, wanted)) = condition(check, *each) {
                given = and(given, self.holds(on, wanted, Side::Named));
            }
        }
        let (named, comes) = (and(named?, not(now.ended)), and(now.stays, comes_then));
        let is_open = |formula: &Formula| self.asks_a_way(formula);
        if is_open(&named) || is_open(&comes) { None } else { self.compare(&named, &comes, &given) }
    }

    /// The block of the loop itself at which all have come who come to a block in it: in inner loops they keep together.
    fn place(&self, index: usize, here: BlockId) -> Option<BlockId> {
        let check = self.check;
        let flow = &check.analysed.flow;
        if !flow.in_loop(here, index) {
            return None;
        }
        let mut at = here;
        while let Some(inner) = flow.loop_of[at.index()].filter(|inner| *inner != index) {
            let around = flow.loops[inner].parent?;
            at = flow.loops[inner].header;
            if around == index {
                break;
            }
            at = flow.loops[around].header;
        }
        let parts = |each: &Dependence| {
            let inside = flow.loop_of[each.fork.index()] != Some(index) && flow.in_loop(each.fork, index);
            inside && check.parts(self.inst, *each, Extent::WARP)
        };
        let keep_together = at == here || !check.dependences(here).iter().any(parts);
        keep_together.then_some(at)
    }

    fn trip(&mut self, index: usize, asks: &dyn Fn(BlockId) -> Option<Symbol>) -> Option<Trip> {
        let check = self.check;
        let flow = &check.analysed.flow;
        let header = flow.loops[index].header;
        let mut arriving: FxHashMap<BlockId, Vec<Formula>> = FxHashMap::default();
        let mut found = Trip { comes: FxHashMap::default(), stays: Always(false), ended: Always(false) };
        let belongs = |block: BlockId| flow.in_loop(block, index) || ends_behind(check, block, index);
        for block in flow.order.iter().copied().filter(|block| belongs(*block)) {
            let by_here = match arriving.remove(&block) {
                _ if block == header => Always(true),
                Some(ways) => united(ways),
                None => continue,
            };
            if found.comes.len() > MAX_BLOCKS {
                return None;
            }
            let mut send = |to: BlockId, takes: Formula| arriving.entry(to).or_default().push(takes);
            match &check.analysed.graph.blocks[block.index()].end {
                End::Exit { how: Exit::Return | Exit::Instruction, .. } => {
                    found.ended = or(std::mem::replace(&mut found.ended, Always(false)), by_here.clone());
                }
                // All who begin an inner loop leave it, sooner or later.
                _ if flow.loop_of[block.index()] != Some(index) => send(self.way_out(index, block)?, by_here.clone()),
                End::Branch { yes, no, .. } if yes != no => {
                    let way = match asks(block) {
                        Some(on) => self.holds(on, true, Side::Named),
                        None => self.atom(Atom::Way(block), Side::Named),
                    };
                    send(*yes, and(by_here.clone(), way.clone()));
                    send(*no, and(by_here.clone(), not(way)));
                }
                End::Switch { .. } => return None,
                _ => flow.successors[block.index()].iter().for_each(|to| send(*to, by_here.clone())),
            }
            found.comes.insert(block, by_here);
        }
        found.stays = united(arriving.remove(&header).unwrap_or_default());
        Some(found)
    }

    /// Where all come out of the inner loop that a block heads.
    fn way_out(&self, index: usize, head: BlockId) -> Option<BlockId> {
        let flow = &self.check.analysed.flow;
        let inner = &flow.loops[flow.head_of[head.index()]?];
        let (_, out) = *inner.exits.first()?;
        (inner.parent == Some(index) && inner.exits.iter().all(|(_, to)| *to == out)).then_some(out)
    }

    /// The formula asks which way a lane goes at a fork of which nothing is known.
    fn asks_a_way(&self, formula: &Formula) -> bool {
        match formula {
            Always(_) => false,
            Formula::Atom(atom, _) => matches!(self.atoms[*atom], Atom::Way(_)),
            Formula::Not(inner) => self.asks_a_way(inner),
            And(a, b) | Or(a, b) | Xor(a, b) => self.asks_a_way(a) || self.asks_a_way(b),
        }
    }
}

/// The block stands right behind the loop and ends the thread.
fn ends_behind(check: &Check, block: BlockId, index: usize) -> bool {
    let end = &check.analysed.graph.blocks[block.index()].end;
    matches!(end, End::Exit { how: Exit::Return | Exit::Instruction, .. })
        && check.analysed.flow.loops[index].exits.iter().any(|(_, to)| *to == block)
}

/// Those who come by any of several ways; a fork whose ways have met again says nothing.
fn united(mut ways: Vec<Formula>) -> Formula {
    let whole = |one: &Formula, other: &Formula| match (one, other) {
        (And(before, on), And(same, off)) if before == same && not((**on).clone()) == **off => Some((**before).clone()),
        (one, other) if not(one.clone()) == *other => Some(Always(true)),
        _ => None,
    };
    let pair = |ways: &[Formula]| {
        let pairs = (0..ways.len()).flat_map(|one| (one + 1..ways.len()).map(move |other| (one, other)));
        pairs.into_iter().find_map(|(one, other)| Some((one, other, whole(&ways[one], &ways[other])?)))
    };
    while let Some((one, other, whole)) = pair(&ways) {
        ways.swap_remove(other);
        ways[one] = whole;
    }
    ways.into_iter().fold(Always(false), or)
}
