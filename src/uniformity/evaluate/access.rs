//! Reads and writes: where they lead among the thread's own variables, and what of them others share.

use super::*;

/// Places among the thread's own variables.
struct Targets {
    paths: Vec<(ObjectId, Vec<KeyStep>)>,
    /// It is the one path, and no other.
    sure: bool,
    /// The steps to it are those that the variable has.
    fit: bool,
}

impl Evaluator<'_> {
    /// Where an address leads among the threads' own variables.
    fn targets(&self, address: Symbol) -> Targets {
        let symbols = &self.values.symbols;
        let steps: Vec<Step> = symbols.steps(address);
        let base = symbols.base(address);
        if let Node::Address(object) = symbols.node(base) {
            if self.graph.objects[object.index()].kind != ObjectKind::Local {
                return Targets { paths: Vec::new(), sure: true, fit: true };
            }
            let (path, fit) = state::path(symbols, *object, &steps);
            let sure = fit && !path.contains(&KeyStep::Any);
            return Targets { paths: vec![(*object, path)], sure, fit };
        }
        let mut targets = Targets { paths: Vec::new(), sure: false, fit: true };
        let mut seen = FxHashSet::default();
        let mut work = vec![(base, steps)];
        while let Some((base, steps)) = work.pop() {
            if !seen.insert((base, steps.len())) || seen.len() > 64 {
                continue;
            }
            let inward = |inner: Symbol, work: &mut Vec<(Symbol, Vec<Step>)>| {
                let mut path = symbols.steps(inner);
                path.extend(steps.iter().cloned());
                work.push((symbols.base(inner), path));
            };
            match symbols.node(base) {
                Node::Address(object) if self.graph.objects[object.index()].kind == ObjectKind::Local => {
                    let (path, fits) = state::path(symbols, *object, &steps);
                    targets.fit &= fits;
                    targets.paths.push((*object, path));
                }
                Node::Select(_, yes, no) => {
                    inward(*yes, &mut work);
                    inward(*no, &mut work);
                }
                Node::Leaf(Leaf::Left(_, inner)) => inward(*inner, &mut work),
                Node::Leaf(Leaf::Phi(..)) => {
                    for (_, slot) in self.values.phi(base).map(|phi| phi.incoming.as_slice()).unwrap_or(&[]) {
                        inward(slot.value, &mut work);
                    }
                }
                Node::Leaf(Leaf::Mixed(..) | Leaf::Load(_)) => {
                    for input in self.values.inputs.get(&base).map(Vec::as_slice).unwrap_or(&[]) {
                        inward(*input, &mut work);
                    }
                }
                _ => {}
            }
        }
        targets
    }

    /// The path of the thread's own that an address surely leads to, if it was asked for before.
    fn exact(&self, address: Symbol) -> Option<KeyId> {
        self.exact.get(Symbols::index(address)).copied().flatten()
    }

    fn note_exact(&mut self, address: Symbol, targets: &Targets) {
        let [(object, path)] = &targets.paths[..] else { return };
        let base = self.values.symbols.base(address);
        if matches!(self.values.symbols.node(base), Node::Address(_))
            && targets.sure
            && let Some(key) = self.values.keys.find(*object, path)
        {
            self.set_exact(address, key);
        }
    }

    fn set_exact(&mut self, address: Symbol, key: KeyId) {
        let at = Symbols::index(address);
        if self.exact.len() <= at {
            self.exact.resize(self.values.symbols.len(), None);
        }
        self.exact[at] = Some(key);
    }

    pub(super) fn is_local(&self, address: Symbol) -> bool {
        let base = self.values.symbols.base(address);
        matches!(self.values.symbols.node(base), Node::Address(object) if self.graph.objects[object.index()].kind == ObjectKind::Local)
    }

    pub(super) fn load(
        &mut self,
        id: InstId,
        block: BlockId,
        state: &State,
        address: Symbol,
        is_volatile: bool,
        read_only: bool,
    ) -> Symbol {
        if let Some(key) = self.exact(address)
            && self.values.keys.is_single(key)
            && let Some(slot) = state.get(key)
        {
            let origins = Some(slot.origin).filter(|origin| *origin != Origin::Inst(id)).into_iter().collect();
            self.values.seen.insert(id, origins);
            return slot.value;
        }
        let targets = self.targets(address);
        self.note_exact(address, &targets);
        if targets.paths.is_empty() && !self.is_local(address) {
            return self.load_shared(id, block, address, is_volatile, read_only);
        }
        let mut found: Vec<Slot> = Vec::new();
        let mut single = targets.paths.len() == 1 && targets.fit;
        for (object, path) in &targets.paths {
            // Of an object or array that is read as one value all parts count.
            let parts = self.parts_behind(state, *object, path);
            single &= parts.is_empty();
            let has_parts = !parts.is_empty();
            found.extend(parts);
            match state::read(state, &mut self.values.keys, &mut self.values.symbols, *object, path) {
                Found::Value(slot) => found.push(slot),
                Found::OneOf(slots) => {
                    single = false;
                    found.extend(slots);
                }
                Found::Nothing(_) if has_parts => {}
                Found::Nothing(key) => {
                    let value = self.values.symbols.leaf(Leaf::Unset(key));
                    found.push(Slot { value, origin: Origin::Inst(id) });
                }
            }
        }
        let origins = found.iter().map(|slot| slot.origin).filter(|origin| *origin != Origin::Inst(id)).collect();
        self.values.seen.insert(id, origins);
        match found.as_slice() {
            [only] if single => only.value,
            _ => {
                let symbol = self.values.symbols.leaf(Leaf::Load(id));
                let mut inputs: Vec<Symbol> = found.iter().map(|slot| slot.value).collect();
                inputs.extend(self.computed(address));
                self.values.inputs.insert(symbol, inputs);
                symbol
            }
        }
    }

    /// What the parts of a variable hold that were written by themselves.
    fn parts_behind(&self, state: &State, object: ObjectId, path: &[KeyStep]) -> Vec<Slot> {
        let keys = &self.values.keys;
        if keys.longest(object) <= path.len() {
            return Vec::new();
        }
        let below = state::below(state, keys, object, path);
        below.into_iter().filter(|(_, rest)| !rest.is_empty()).filter_map(|(key, _)| state.get(key)).collect()
    }

    /// What decides where an address leads: indices that are no numbers, and a base that is a choice.
    fn computed(&self, address: Symbol) -> Vec<Symbol> {
        let symbols = &self.values.symbols;
        let mut parts: Vec<Symbol> = symbols
            .steps(address)
            .into_iter()
            .filter_map(|step| if let Step::Index(index) = step { Some(index) } else { None })
            .collect();
        let base = symbols.base(address);
        if !matches!(symbols.node(base), Node::Address(_)) {
            parts.push(base);
        }
        parts
    }

    fn load_shared(
        &mut self,
        id: InstId,
        block: BlockId,
        address: Symbol,
        is_volatile: bool,
        read_only: bool,
    ) -> Symbol {
        let roots = roots(&self.values, address);
        let fixed = !is_volatile
            && (read_only
                || roots.iter().all(|root| self.never_written(*root)) && self.written.is_some()
                || roots.iter().all(|root| self.is_constant(*root)));
        if fixed {
            return self.values.symbols.pure("load".into(), vec![address]);
        }
        if let Some(known) = self.rereads.known(address).filter(|_| !is_volatile) {
            return known;
        }
        let symbol = self.values.symbols.leaf(Leaf::Load(id));
        self.values.loads.insert(symbol, Access { inst: id, block, address, value: None });
        if !is_volatile {
            self.rereads.note(address, symbol);
        }
        symbol
    }

    fn is_constant(&self, root: Symbol) -> bool {
        match self.values.symbols.node(root) {
            Node::Address(object) => self.graph.objects[object.index()].kind == ObjectKind::Constant,
            Node::Leaf(Leaf::Source(Source::Param { read_only, .. })) => *read_only,
            _ => false,
        }
    }

    fn never_written(&self, root: Symbol) -> bool {
        self.is_constant(root) || {
            self.asked.borrow_mut().insert(root);
            self.written.as_ref().is_some_and(|written| !written.contains(&root))
        }
    }

    pub(super) fn store(
        &mut self,
        id: InstId,
        block: BlockId,
        state: &mut State,
        address: Symbol,
        value: Option<Symbol>,
    ) {
        if let (Some(key), Some(value)) = (self.exact(address), value) {
            self.put_at(state, key, Slot { value, origin: Origin::Inst(id) });
            return;
        }
        let Targets { paths: mut targets, sure, .. } = self.targets(address);
        if !self.is_local(address) {
            self.values.writes.push(Access { inst: id, block, address, value });
        } else if let (true, 1, Some(value)) = (sure, targets.len(), value)
            && let Some((object, path)) = targets.pop()
        {
            let key = self.values.keys.intern(object, path);
            self.set_exact(address, key);
            self.put_at(state, key, Slot { value, origin: Origin::Inst(id) });
            return;
        }
        let computed = self.computed(address);
        for (object, path) in targets {
            match value {
                Some(value) if sure => self.put(state, object, path, Slot { value, origin: Origin::Inst(id) }),
                _ => {
                    let mut inputs = computed.clone();
                    inputs.extend(value);
                    self.blur(id, state, object, path, inputs);
                }
            }
        }
    }

    /// A write of something unknown, that surely happens.
    pub(super) fn store_unknown(
        &mut self,
        id: InstId,
        block: BlockId,
        state: &mut State,
        address: Symbol,
        inputs: Vec<Symbol>,
    ) {
        if !self.is_local(address) {
            self.values.writes.push(Access { inst: id, block, address, value: None });
        }
        for (object, path) in self.targets(address).paths {
            self.blur(id, state, object, path, inputs.clone());
        }
    }

    fn put(&mut self, state: &mut State, object: ObjectId, path: Vec<KeyStep>, slot: Slot) {
        let key = self.values.keys.intern(object, path);
        self.put_at(state, key, slot);
    }

    fn put_at(&mut self, state: &mut State, key: KeyId, slot: Slot) {
        let (object, path) = self.values.keys.path(key);
        for other in self.values.keys.other_views(object, path) {
            let Some(old) = state.get(other) else { continue };
            let Origin::Inst(id) = slot.origin else { continue };
            let symbol = self.values.symbols.leaf(Leaf::Mixed(id, other));
            if old.value != symbol {
                self.values.inputs.insert(symbol, vec![old.value, slot.value]);
                state.set(other, Some(Slot { value: symbol, origin: slot.origin }));
            }
        }
        for part in self.values.keys.parts(key) {
            if state.get(part).is_some() {
                state.set(part, None);
            }
        }
        state.set(key, Some(slot));
    }

    /// Every path that may have been hit now holds its old value or something made of `inputs`.
    fn blur(&mut self, id: InstId, state: &mut State, object: ObjectId, path: Vec<KeyStep>, inputs: Vec<Symbol>) {
        let target = self.values.keys.intern(object, path.clone());
        let mut keys: Vec<KeyId> =
            state::below(state, &self.values.keys, object, &path).into_iter().map(|(key, _)| key).collect();
        if !keys.contains(&target) {
            keys.push(target);
        }
        for key in keys {
            let symbol = self.values.symbols.leaf(Leaf::Mixed(id, key));
            let mut all = inputs.clone();
            all.extend(state.get(key).map(|slot| slot.value).filter(|value| *value != symbol));
            self.values.inputs.insert(symbol, all);
            state.set(key, Some(Slot { value: symbol, origin: Origin::Inst(id) }));
        }
    }

    /// A copy of one of several variables: part by part one of theirs.
    fn copy_one_of(
        &mut self,
        id: InstId,
        state: &mut State,
        sources: &[(ObjectId, Vec<KeyStep>)],
        from: Symbol,
        (target, target_path): (ObjectId, Vec<KeyStep>),
    ) {
        let mut rests: Vec<Vec<KeyStep>> = Vec::new();
        for (source, path) in sources {
            for (key, rest) in state::below(state, &self.values.keys, *source, path) {
                if state.get(key).is_some() && !rests.contains(&rest) {
                    rests.push(rest);
                }
            }
        }
        rests.sort_by_key(Vec::len);
        let arms = match *self.values.symbols.node(from) {
            Node::Select(on, yes, no) => match (&self.targets(yes).paths[..], &self.targets(no).paths[..]) {
                ([one], [other]) => Some((on, one.clone(), other.clone())),
                _ => None,
            },
            _ => None,
        };
        let mut parts = Vec::with_capacity(rests.len());
        let mut origins = Vec::new();
        for rest in rests {
            let mut own = target_path.clone();
            own.extend(rest.iter().cloned());
            own.truncate(state::MAX_STEPS);
            let key = self.values.keys.intern(target, own);
            let value = match &arms {
                Some((on, one, other)) => {
                    let values = [one, other].map(|source| self.part_of(state, source, &rest, &mut origins));
                    self.choice(*on, values[0], values[1])
                }
                None => {
                    let mut inputs = self.computed(from);
                    for source in sources {
                        inputs.push(self.part_of(state, source, &rest, &mut origins));
                    }
                    let symbol = self.values.symbols.leaf(Leaf::Mixed(id, key));
                    self.values.inputs.insert(symbol, inputs);
                    symbol
                }
            };
            parts.push((key, value));
        }
        self.values.seen.insert(id, origins);
        for (key, _) in state::below(state, &self.values.keys, target, &target_path) {
            state.set(key, None);
        }
        for (key, value) in parts {
            state.set(key, Some(Slot { value, origin: Origin::Inst(id) }));
        }
    }

    /// What a part of a variable holds.
    fn part_of(
        &mut self,
        state: &State,
        (object, path): &(ObjectId, Vec<KeyStep>),
        rest: &[KeyStep],
        origins: &mut Vec<Origin>,
    ) -> Symbol {
        let mut path = path.clone();
        path.extend(rest.iter().cloned());
        path.truncate(state::MAX_STEPS);
        let slot = match state::read(state, &mut self.values.keys, &mut self.values.symbols, *object, &path) {
            Found::Value(slot) => slot,
            Found::OneOf(slots) => slots[0],
            Found::Nothing(key) => return self.values.symbols.leaf(Leaf::Unset(key)),
        };
        origins.push(slot.origin);
        slot.value
    }

    pub(super) fn copy(&mut self, id: InstId, block: BlockId, state: &mut State, to: Symbol, from: Symbol) {
        if !self.is_local(to) {
            let value = self.load(id, block, state, from, false, false);
            self.store(id, block, state, to, Some(value));
            return;
        }
        let Targets { paths: sources, fit, .. } = self.targets(from);
        let Targets { paths: targets, sure, .. } = self.targets(to);
        let sure = sure && fit;
        if let ([_, _, ..], [(object, path)], true) = (sources.as_slice(), targets.as_slice(), sure) {
            self.copy_one_of(id, state, &sources, from, (*object, path.clone()));
            return;
        }
        let ([(source, source_path)], [(target, target_path)], true) = (sources.as_slice(), targets.as_slice(), sure)
        else {
            let value = self.load(id, block, state, from, false, false);
            self.store(id, block, state, to, Some(value));
            return;
        };
        let origin = Origin::Inst(id);
        let parts: Vec<(Vec<KeyStep>, Slot)> = state::below(state, &self.values.keys, *source, source_path)
            .into_iter()
            .filter_map(|(key, rest)| Some((rest, state.get(key)?)))
            .collect();
        let whole = state::read(state, &mut self.values.keys, &mut self.values.symbols, *source, source_path);
        let origins: Vec<Origin> = parts.iter().map(|(_, slot)| slot.origin).collect();
        self.values.seen.insert(id, origins);
        match whole {
            Found::Value(slot) => {
                self.put(state, *target, target_path.clone(), Slot { value: slot.value, origin });
                self.values.seen.insert(id, vec![slot.origin]);
            }
            _ => {
                for (key, _) in state::below(state, &self.values.keys, *target, target_path) {
                    state.set(key, None);
                }
            }
        }
        for (rest, slot) in parts {
            if rest.is_empty() {
                continue;
            }
            let mut path = target_path.clone();
            path.extend(rest);
            path.truncate(state::MAX_STEPS);
            let key = self.values.keys.intern(*target, path);
            state.set(key, Some(Slot { value: slot.value, origin }));
        }
    }
}
