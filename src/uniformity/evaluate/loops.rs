//! What each trip does to the variables of a loop: they stay, go up in steps, double, go round, take turns.

use super::*;

impl Evaluator<'_> {
    pub(super) fn open_loop(&mut self, block: BlockId, index: usize, state: &mut State) {
        let written = std::mem::take(&mut self.written_in[index]);
        let here = self.graph.blocks[block.index()].frame;
        for object in &written {
            if !self.lifetimes.encloses(self.graph.objects[object.index()].frame, here) {
                continue;
            }
            for key in self.values.keys.of(*object).to_vec() {
                let symbol = self.values.symbols.leaf(Leaf::Phi(block, key));
                let Some(first) = state.get(key).or_else(|| self.part(state, key)) else {
                    // A part of an aggregate that only the loop writes.
                    if !self.values.keys.path(key).1.is_empty() {
                        state.set(key, Some(Slot { value: symbol, origin: Origin::Phi(symbol) }));
                        self.heads.push(Head { block, key, first: None, value: symbol });
                    }
                    continue;
                };
                let value = match self.forms.get(&(block, key)) {
                    Some(Form::Same) => first.value,
                    Some(Form::Linear(step)) => {
                        let step = *step;
                        let trips = self.values.symbols.leaf(Leaf::Iteration(block));
                        let gone = self.values.symbols.mul(step, trips);
                        self.plus(first.value, gone)
                    }
                    Some(Form::Turns(others)) => {
                        let others = others.clone();
                        self.in_turn(block, first.value, &others)
                    }
                    Some(Form::Round(modulus)) => {
                        let modulus = *modulus;
                        let trips = self.values.symbols.leaf(Leaf::Iteration(block));
                        let sum = self.values.symbols.add(first.value, trips);
                        self.values.symbols.rem(sum, modulus)
                    }
                    Some(Form::Doubling) => {
                        let trips = self.values.symbols.leaf(Leaf::Iteration(block));
                        self.values.symbols.shl(first.value, trips)
                    }
                    // The phi stands for how far it has come.
                    Some(Form::Moving) => self.values.symbols.add(first.value, symbol),
                    _ => symbol,
                };
                state.set(
                    key,
                    Some(Slot { value, origin: if value == first.value { first.origin } else { Origin::Phi(symbol) } }),
                );
                self.heads.push(Head { block, key, first: Some(first), value });
            }
        }
        self.written_in[index] = written;
    }

    /// `first` on the first trip, then the others, then again from the start.
    fn in_turn(&mut self, header: BlockId, first: Symbol, others: &[Symbol]) -> Symbol {
        let symbols = &mut self.values.symbols;
        let trips = symbols.leaf(Leaf::Iteration(header));
        let period = symbols.int(others.len() as i64 + 1);
        let at = symbols.rem(trips, period);
        let mut value = first;
        for (other, trip) in others.iter().zip(1..) {
            let trip = symbols.int(trip);
            let on = if others.len() == 1 { at } else { symbols.equal(at, trip) };
            value = symbols.select(on, *other, value);
        }
        value
    }

    /// `t = a; a = b; b = t`: variables of a loop that hand on their values in a ring. By the value that each has at the
    /// loop's head, what it takes after its first one.
    fn rings(&mut self, heads: &[Head]) -> FxHashMap<Symbol, Vec<Symbol>> {
        let mut next: FxHashMap<Symbol, (Symbol, Symbol)> = FxHashMap::default();
        for Head { block, key, first, value } in heads {
            let Some(index) = self.flow.head_of[block.index()] else { continue };
            let latches = self.flow.loops[index].latches.iter();
            let mut backs =
                latches.filter_map(|latch| self.out[latch.index()].as_ref()?.get(*key)).map(|slot| slot.value);
            if let (Some(first), Some(back)) = (first, backs.next())
                && backs.all(|other| other == back)
                && !self.is_variant(first.value, index)
            {
                next.insert(*value, (first.value, back));
            }
        }
        let ring = |start: Symbol| {
            let mut others = Vec::new();
            let mut at = next[&start].1;
            while at != start && others.len() < MAX_TURNS {
                let (first, back) = next.get(&at)?;
                others.push(*first);
                at = *back;
            }
            (at == start && !others.is_empty()).then_some((start, others))
        };
        next.keys().filter_map(|start| ring(*start)).collect()
    }

    /// Part of an aggregate that was written as a whole.
    fn part(&mut self, state: &State, key: KeyId) -> Option<Slot> {
        if !self.is_part(state, key) {
            return None;
        }
        let (object, path) = self.values.keys.path(key);
        let path = path.to_vec();
        if path.contains(&KeyStep::Any) {
            return None;
        }
        match state::read(state, &mut self.values.keys, &mut self.values.symbols, object, &path) {
            Found::Value(slot) => Some(slot),
            _ => None,
        }
    }

    /// Adds, also to a pointer.
    fn plus(&mut self, value: Symbol, by: Symbol) -> Symbol {
        if is_address(&self.values.symbols, value) {
            self.values.symbols.element(value, by)
        } else {
            self.values.symbols.add(value, by)
        }
    }

    /// With the values at the latches known: what form each loop variable has. True: something changed.
    pub(super) fn close_loops(&mut self) -> bool {
        let mut changed = false;
        let heads = std::mem::take(&mut self.heads);
        let rings = self.rings(&heads);
        for Head { block, key, first, value } in heads {
            let symbol = self.values.symbols.leaf(Leaf::Phi(block, key));
            let Some(index) = self.flow.head_of[block.index()] else { continue };
            let latches = self.flow.loops[index].latches.clone();
            // Ways that met here before the loop began share the phi.
            let mut incoming = match self.values.phis.remove(&symbol) {
                Some(phi) => phi.incoming,
                None => first.map(|first| (block, first)).into_iter().collect(),
            };
            let before = incoming.len();
            for latch in &latches {
                if let Some(slot) = self.out[latch.index()].as_ref().and_then(|state| state.get(key)) {
                    incoming.push((*latch, slot));
                }
            }
            let back = incoming.get(before).map(|(_, slot)| slot.value);
            let uniform_back = incoming[before..].iter().all(|(_, slot)| Some(slot.value) == back);
            let form = match (back, first) {
                (_, None) => Form::Free,
                (None, _) => Form::Same,
                (Some(_), Some(_)) if rings.contains_key(&value) => Form::Turns(rings[&value].clone()),
                (Some(back), Some(first)) if uniform_back => {
                    self.form(index, symbol, first.value, value, back, self.forms.get(&(block, key)).cloned())
                }
                _ => Form::Free,
            };
            self.steps = self.steps.saturating_sub(1);
            self.values.phis.insert(symbol, Phi { block, key, incoming });
            let is_moving = self.forms.get(&(block, key)) == Some(&Form::Moving);
            if let (true, Some(first)) = (is_moving, first) {
                self.moved(symbol, first.value);
            }
            let old = self.forms.get(&(block, key));
            if old != Some(&form) {
                let failures = self.failures.entry((block, key)).or_insert(0);
                *failures += 1;
                let form = if *failures > 6 { Form::Free } else { form };
                if old != Some(&form) {
                    changed = true;
                    self.forms.insert((block, key), form);
                }
            }
        }
        changed
    }

    fn form(
        &mut self,
        index: usize,
        phi: Symbol,
        first: Symbol,
        value: Symbol,
        back: Symbol,
        old: Option<Form>,
    ) -> Form {
        if back == value || back == first {
            return match old {
                Some(Form::Turns(_) | Form::Linear(_) | Form::Round(_) | Form::Doubling)
                    if back == first && value != first =>
                {
                    self.guess(index, value, first, back)
                }
                _ => Form::Same,
            };
        }
        match old {
            // Holds with the form put in: the step is still the step.
            Some(Form::Turns(others)) if value != phi => {
                let symbols = &mut self.values.symbols;
                let trips = symbols.leaf(Leaf::Iteration(self.flow.loops[index].header));
                let mut comes_on = |trip: i64, wanted: Symbol| {
                    let with = FxHashMap::from_iter([(trips, symbols.int(trip))]);
                    symbols.replace(back, &with, &mut FxHashMap::default()) == wanted
                };
                let round = (0..).zip(others.iter().chain([&first]));
                let holds = round.fold(true, |holds, (trip, wanted)| holds && comes_on(trip, *wanted));
                if holds { Form::Turns(others) } else { Form::Free }
            }
            Some(Form::Round(modulus)) if value != phi => {
                let next = self.values.symbols.add_constant(value, 1);
                let next = self.values.symbols.rem(next, modulus);
                let trips = self.values.symbols.leaf(Leaf::Iteration(self.flow.loops[index].header));
                let sum = self.values.symbols.add(first, trips);
                let sum = self.values.symbols.add_constant(sum, 1);
                let direct = self.values.symbols.rem(sum, modulus);
                if back == next || back == direct || self.stays_round(trips, first, back, modulus) {
                    Form::Round(modulus)
                } else {
                    Form::Free
                }
            }
            Some(Form::Doubling) if value != phi => {
                if self.values.symbols.scale(value, 2) == back {
                    Form::Doubling
                } else {
                    Form::Free
                }
            }
            Some(Form::Moving) if value != phi => {
                let come = self.values.symbols.sub(back, first);
                if self.values.symbols.has_index(come) { Form::Free } else { Form::Moving }
            }
            Some(Form::Free) => Form::Free,
            _ => self.guess(index, value, first, back),
        }
    }

    fn guess(&mut self, index: usize, value: Symbol, first: Symbol, back: Symbol) -> Form {
        let step = self.difference(back, value);
        if let Some(step) = step
            && !self.is_variant(step, index)
        {
            return Form::Linear(step);
        }
        // x = c - x, x ^= c: two values in turn.
        let with = FxHashMap::from_iter([(value, first)]);
        let second = self.values.symbols.replace(back, &with, &mut FxHashMap::default());
        if second != back && !self.is_variant(second, index) {
            let with = FxHashMap::from_iter([(value, second)]);
            let third = self.values.symbols.replace(back, &with, &mut FxHashMap::default());
            if third == first {
                return Form::Turns(vec![second]);
            }
        }
        // x = (x + 1) % c
        let next = self.values.symbols.add_constant(value, 1);
        for modulus in self.moduli(back) {
            let round = self.values.symbols.rem(next, modulus);
            let within = match (self.values.symbols.as_int(first), self.values.symbols.as_int(modulus)) {
                (Some(first), Some(modulus)) => (0..modulus).contains(&first),
                _ => false,
            };
            if round == back && within {
                return Form::Round(modulus);
            }
        }
        if self.values.symbols.scale(value, 2) == back {
            return Form::Doubling;
        }
        match self.ring(value, first, back) {
            Some(modulus) => Form::Round(modulus),
            // Of what moves on otherwise the next pass tells whether the index is still that of the start.
            None if self.starts_at_index(first) && !self.is_from_others(back) => Form::Moving,
            None => Form::Free,
        }
    }

    /// The thread index is a term of the value.
    fn starts_at_index(&self, value: Symbol) -> bool {
        let symbols = &self.values.symbols;
        let is_plain = |term: Symbol| matches!(symbols.node(term), Node::Leaf(_) | Node::Product(_));
        symbols.terms(value).0.iter().any(|(term, _)| is_plain(*term) && symbols.has_index(*term))
    }

    /// What other threads hand over is part of the value, as in a butterfly.
    fn is_from_others(&self, value: Symbol) -> bool {
        let is_own = |leaf: Symbol| match self.values.symbols.node(leaf) {
            Node::Leaf(Leaf::Result(inst)) => !matches!(self.graph.insts[inst.index()].op, Op::Barrier(_)),
            _ => true,
        };
        !self.values.symbols.all_leaves(value, is_own)
    }

    /// The phi of a variable that moves on: how far, instead of what it holds.
    fn moved(&mut self, phi: Symbol, first: Symbol) {
        let Some(mut known) = self.values.phis.remove(&phi) else { return };
        for (_, slot) in &mut known.incoming {
            slot.value = self.values.symbols.sub(slot.value, first);
        }
        self.values.phis.insert(phi, known);
    }

    /// `x == 2 ? 0 : x + 1` goes round in three: told by following it.
    fn ring(&mut self, value: Symbol, first: Symbol, back: Symbol) -> Option<Symbol> {
        let symbols = &mut self.values.symbols;
        let first = symbols.as_int(first).filter(|first| (0..MAX_RING).contains(first))?;
        let mut next = |at: i64| {
            let with = FxHashMap::from_iter([(value, symbols.int(at))]);
            let next = symbols.replace(back, &with, &mut FxHashMap::default());
            symbols.as_int(next)
        };
        let mut last = first;
        while next(last)? == last + 1 && last < MAX_RING {
            last += 1;
        }
        let modulus = last + 1;
        let round = (0..modulus).all(|at| next(at) == Some((at + 1) % modulus));
        round.then(|| self.values.symbols.int(modulus))
    }

    /// With `(first + n) % modulus` put in, the next value is that of the next trip.
    fn stays_round(&mut self, trips: Symbol, first: Symbol, back: Symbol, modulus: Symbol) -> bool {
        let symbols = &mut self.values.symbols;
        let (Some(first), Some(modulus)) = (symbols.as_int(first), symbols.as_int(modulus)) else { return false };
        // Twice round, so that what changes on one trip alone shows.
        modulus <= MAX_RING
            && (0..2 * modulus).all(|trip| {
                let with = FxHashMap::from_iter([(trips, symbols.int(trip))]);
                let next = symbols.replace(back, &with, &mut FxHashMap::default());
                symbols.as_int(next) == Some((first + trip + 1) % modulus)
            })
    }

    fn moduli(&self, symbol: Symbol) -> Vec<Symbol> {
        self.values
            .symbols
            .terms(symbol)
            .0
            .iter()
            .filter_map(|(term, _)| match self.values.symbols.node(*term) {
                Node::Binary(Operator::Div, _, by) => Some(*by),
                _ => None,
            })
            .collect()
    }

    /// `a - b`, also of two pointers into the same array.
    fn difference(&mut self, a: Symbol, b: Symbol) -> Option<Symbol> {
        let symbols = &mut self.values.symbols;
        match (symbols.node(a).clone(), symbols.node(b).clone()) {
            (Node::Element(x, i), Node::Element(y, j)) if x == y => Some(symbols.sub(i, j)),
            (Node::Element(x, i), _) if x == b => Some(i),
            (Node::Element(..) | Node::Member(..) | Node::Address(_), _) => None,
            _ if symbols.is_boolean(a) || symbols.is_boolean(b) => None,
            _ => Some(symbols.sub(a, b)),
        }
    }

    // ---------------------------------------------------------------- instructions
}
