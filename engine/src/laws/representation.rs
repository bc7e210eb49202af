//! Decides which concrete states an abstract state represents.

use super::*;

impl Watched<'_> {
    pub(super) fn fail(&self, law: &str, what: &str) -> ! {
        if std::env::var_os("PROVISO_PRINT").is_some() {
            eprintln!("{}", cfa::text::print(self.program));
        }
        panic!("PROVISO_SEED={} PROVISO_PROGRAMS=1 {:?}: {law}: {what}", self.seed, self.way);
    }

    /// The value of a term in a run. Fails if a symbol has no known value, unless it may come from a merged path; then
    /// any value is correct.
    pub(super) fn value(&self, f: &mut Follower, e: ExprId) -> Result<Value, String> {
        let mut missing = None;
        let leaf = |_, leaf: &Expr| match *leaf {
            Expr::Sym(s) => {
                let base = self.inner.symbolic.execution.terms.bases.object(s).and_then(|o| f.run.bases.get(&o));
                match (base, f.symbols.get(&s)) {
                    (Some(&base), _) => Value::Bv(Bv::new(self.program.layout.pointer_width, base)),
                    (None, Some(value)) => value.clone(),
                    (None, None) => {
                        missing = Some(s);
                        zero(self.inner.symbolic.execution.terms.symbol_sort(s))
                    }
                }
            }
            ref other => panic!("a term with {other:?}"),
        };
        let mut evaluator =
            Evaluator::with_memo(&self.inner.symbolic.execution.terms, leaf, std::mem::take(&mut f.memo));
        let value = evaluator.value(e);
        f.memo = evaluator.into_memo();
        match missing {
            None => Ok(value),
            Some(_) if self.way == DomainMode::Merging => Ok(value),
            Some(s) => {
                f.memo.clear();
                Err(format!("{s} stands for nothing"))
            }
        }
    }

    /// The value of a [`Val`] in a run; `None` if it may be anything.
    pub(super) fn bits(&self, f: &mut Follower, value: Val, width: u32) -> Result<Option<Bv>, String> {
        Ok(Some(match value {
            Val::Int(v) => Bv::new(width, v),
            Val::Ptr(object, offset) => match f.run.bases.get(&object) {
                Some(base) => Bv::new(width, base.wrapping_add(offset)),
                None => return Err(format!("a pointer into {object}, which is not there")),
            },
            Val::Expr(e) => self.value(f, e)?.bv().clone(),
            Val::Unset | Val::Unknown => return Ok(None),
        }))
    }

    pub(super) fn expect(&self, f: &mut Follower, value: Val, concrete: &Bv, what: impl Fn() -> String) -> Check {
        match self.bits(f, value, concrete.width())? {
            Some(v) if v != *concrete => Err(format!("{} is {v} in the state, {concrete} in the run", what())),
            _ => Ok(()),
        }
    }

    /// Reads the values of symbols from the new events of a trail. `before` is the concrete state with the memory of
    /// the events.
    pub(super) fn take_events(&self, f: &mut Follower, st: &State, before: &Concrete) -> Check {
        let mut problem = None;
        let mut choices = FxHashMap::default();
        // The decisions so far determine the trail of a merged state, so they have to be evaluated before its newest
        // events.
        let events = st.trail.events(|cond| {
            *choices.entry(cond).or_insert_with(|| match self.value(f, cond) {
                Ok(value) => value.bv().is_true(),
                Err(why) => {
                    problem = Some(why);
                    false
                }
            })
        });
        if let Some(why) = problem {
            return Err(format!("the trail: {why}"));
        }
        for &event in events.get(f.events..).unwrap_or_default() {
            match event {
                Event::Input { symbol, .. } => {
                    let Some(value) = f.run.inputs.get(f.inputs) else { return Err("too many inputs".into()) };
                    f.symbols.insert(symbol, Value::Bv(value.clone()));
                    f.inputs += 1;
                }
                Event::Unknown { object, offset, len, symbol } => {
                    let Some(content) = before.memory.get(&object) else { return Err(format!("{object} is dead")) };
                    let bytes = &content.bytes[offset as usize..][..len as usize];
                    f.symbols.insert(symbol, Value::Bv(Bv::from_le_bytes(bytes)));
                }
                Event::UnknownArray { object, array } => {
                    let Some(content) = before.memory.get(&object) else { return Err(format!("{object} is dead")) };
                    let Expr::Sym(symbol) = *self.inner.symbolic.execution.terms.get(array) else {
                        return Err("no symbol".into());
                    };
                    let Sort::Array { elem, .. } = self.inner.symbolic.execution.terms.sort(array) else {
                        return Err("no array".into());
                    };
                    let elements = content.bytes.chunks(elem as usize / 8);
                    let entries = elements.enumerate().map(|(i, b)| (i as u128, Bv::from_le_bytes(b).resize(elem)));
                    let value = ArrayValue { default: Bv::zero(elem), entries: entries.collect() };
                    f.symbols.insert(symbol, Value::Array(Rc::new(value)));
                }
                Event::Global { var, symbol } => {
                    let slot = self.inner.symbolic.execution.slots.of_var[var.index()].global().expect("a global");
                    f.symbols.insert(symbol, Value::Bv(f.run.start.globals[slot].clone()));
                }
                Event::Decision(_) => {}
            }
        }
        f.events = events.len();
        Ok(())
    }

    pub(super) fn holds(&self, f: &mut Follower, st: &State) -> Check {
        for conjunct in st.pc.iter() {
            if !self.value(f, conjunct)?.bv().is_true() {
                let text = cfa::text::expression(self.program, &self.inner.symbolic.execution.terms, conjunct);
                return Err(format!("the path condition does not hold: {text}"));
            }
        }
        if st.pc.is_contradiction() { Err("the path condition is a contradiction".into()) } else { Ok(()) }
    }

    /// The live variables in the frames of `st`, which is before `loc`: depth and slot of each, with its value.
    pub(super) fn live_values(&mut self, st: &State, loc: LocId) -> Vec<(usize, usize, Val)> {
        let (mut frame, mut loc) = (Rc::clone(&st.frame), loc);
        let mut values = Vec::new();
        loop {
            let live = self.inner.symbolic.execution.live(frame.func);
            for &slot in live.at(loc) {
                values.push((frame.depth as usize, slot as usize, frame.vars[slot as usize]));
            }
            match (&frame.caller, frame.call) {
                (Some(caller), Some(call)) => {
                    loc = self.program.edges[call].target;
                    frame = Rc::clone(caller);
                }
                _ => return values,
            }
        }
    }

    /// Checks that `st`, which is before `loc`, represents the concrete state. Objects that it shares with `known` are
    /// skipped if the run has not changed them.
    pub(super) fn represents(
        &mut self,
        f: &mut Follower,
        st: &State,
        concrete: &Concrete,
        loc: LocId,
        known: Option<(&State, &Concrete)>,
    ) -> Check {
        self.holds(f, st)?;
        for (slot, value) in concrete.globals.iter().enumerate() {
            let var = self.inner.symbolic.execution.slots.globals[slot];
            self.expect(f, st.globals[slot], value, || format!("{var}"))?;
        }
        if st.frame.depth as usize + 1 != concrete.frames.len() {
            return Err("the frames are others".into());
        }
        for (depth, slot, value) in self.live_values(st, loc) {
            self.expect(f, value, &concrete.frames[depth][slot], || format!("local {slot} of frame {depth}"))?;
        }
        let (ours, theirs): (Vec<_>, Vec<_>) =
            (st.memory.iter().map(|(id, _)| id).collect(), concrete.memory.keys().copied().collect());
        if ours != theirs {
            return Err(format!("the objects alive are {ours:?} in the state, {theirs:?} in the run"));
        }
        for (&id, content) in concrete.memory.iter() {
            let same = |(old, then): (&State, &Concrete)| {
                old.memory.shares(&st.memory, id)
                    && then.memory.get(&id).is_some_and(|c| Rc::ptr_eq(&c.bytes, &content.bytes))
            };
            if !known.is_some_and(same) {
                let object = st.memory.get(id).expect("alive");
                self.same_content(f, object, content).map_err(|why| format!("{id}: {why}"))?;
            }
        }
        Ok(())
    }

    pub(super) fn same_content(&mut self, f: &mut Follower, object: &Object, content: &Content) -> Check {
        let size = Bv::new(64, content.bytes.len() as u64);
        self.expect(f, object.size, &size, || "the size".into())?;
        if let Some(array) = object.array.filter(|&a| self.inner.symbolic.execution.terms.has_lambda(a)) {
            let unit = self.inner.symbolic.execution.terms.unit(array) as usize;
            // Each element is a term of its own, so only some elements of large objects are checked.
            let step = (content.bytes.len() / unit).div_ceil(LAMBDA_ELEMENTS).max(1);
            for (i, bytes) in content.bytes.chunks(unit).enumerate().step_by(step) {
                let index = self.inner.symbolic.execution.terms.int(self.program.layout.pointer_width, i as u64);
                let element = self.inner.symbolic.execution.terms.select(array, index);
                let element = self.value(f, element)?.bv().clone();
                if element.to_le_bytes()[..bytes.len()] != *bytes {
                    return Err(format!("element {i} of {unit} bytes is {element}, not {bytes:?}"));
                }
            }
            return Ok(());
        }
        if let Some(array) = object.array {
            let Value::Array(value) = self.value(f, array)? else { return Err("no array".into()) };
            let unit = value.default.width() as usize / 8;
            for (i, bytes) in content.bytes.chunks(unit).enumerate() {
                let element = value.entries.get(&(i as u128)).unwrap_or(&value.default);
                if element.to_le_bytes()[..bytes.len()] != *bytes {
                    return Err(format!("element {i} of {unit} bytes is {element}, not {bytes:?}"));
                }
            }
            return Ok(());
        }
        let mut at = 0;
        while at < content.bytes.len() {
            match object.piece(at as u64) {
                Piece::Default => at += 1,
                Piece::Byte(byte) if byte == content.bytes[at] => at += 1,
                Piece::Byte(byte) => return Err(format!("byte {at} is {byte}, not {}", content.bytes[at])),
                Piece::Cell { value, len, index } => {
                    let (len, index) = (usize::from(len), usize::from(index));
                    if let Some(bits) = self.bits(f, value, 8 * len as u32)? {
                        let bytes = bits.to_le_bytes();
                        if content.bytes.get(at..at + len - index) != Some(&bytes[index..len]) {
                            return Err(format!("the cell of {len} bytes at {at} is {bits}"));
                        }
                    }
                    at += len - index;
                }
            }
        }
        Ok(())
    }

    /// Queries a solver whether `st` represents a concrete state for some values of its symbols.
    pub(super) fn admits(&mut self, st: &State, concrete: &Concrete, run: &Execution, loc: LocId) -> Answer {
        let width = self.program.layout.pointer_width;
        let mut facts: Vec<ExprId> = st.pc.conjuncts();
        let mut equations: Vec<(Val, Bv)> = Vec::new();
        for slot in self.inner.symbolic.execution.read_globals().to_vec() {
            let slot = slot as usize;
            equations.push((st.globals[slot], concrete.globals[slot].clone()));
        }
        if st.frame.depth as usize + 1 != concrete.frames.len() {
            return Answer::Unsat;
        }
        for (depth, slot, value) in self.live_values(st, loc) {
            equations.push((value, concrete.frames[depth][slot].clone()));
        }
        if st.memory.iter().any(|(id, _)| !concrete.memory.contains_key(&id)) {
            return Answer::Unsat;
        }
        let words: Vec<u64> = equations.iter().filter_map(|(_, word)| word.to_u64()).collect();
        for (&id, &base) in &run.bases {
            equations.push((Val::Ptr(id, 0), Bv::new(width, base)));
        }
        for (&id, content) in concrete.memory.iter() {
            let Some(object) = st.memory.get(id) else {
                // A covering state may lack an object that the run cannot reach.
                if points_into(id, st, concrete, run, &words) {
                    return Answer::Unsat;
                }
                continue;
            };
            equations.push((object.size, Bv::new(64, content.bytes.len() as u64)));
            if let Some(array) = object.array {
                let Sort::Array { elem, .. } = self.inner.symbolic.execution.terms.sort(array) else {
                    panic!("an array")
                };
                let elements = content.bytes.chunks(elem as usize / 8).enumerate();
                // Equations for all elements of a large object would take the solver seconds.
                for (i, bytes) in elements.filter(|(i, _)| i % 16 < 3) {
                    let index = self.inner.symbolic.execution.terms.int(width, i as u64);
                    let element = self.inner.symbolic.execution.terms.select(array, index);
                    equations.push((Val::Expr(element), Bv::from_le_bytes(bytes).resize(elem)));
                }
                continue;
            }
            for (at, &byte) in content.bytes.iter().enumerate() {
                match object.piece(at as u64) {
                    Piece::Default => {}
                    Piece::Byte(b) if b == byte => {}
                    Piece::Byte(_) => return Answer::Unsat,
                    Piece::Cell { value, len, index } => {
                        let (width, lo) = (8 * u32::from(len), 8 * u32::from(index));
                        let part = self.inner.symbolic.execution.terms.part(value, width, lo + 7, lo);
                        equations.push((part, Bv::new(8, byte.into())));
                    }
                }
            }
        }
        for (value, concrete) in equations {
            if matches!(value, Val::Unset | Val::Unknown) {
                continue;
            }
            let term = self.inner.symbolic.execution.terms.term(value, concrete.width());
            let constant = self.inner.symbolic.execution.terms.constant(concrete);
            let fact = self.inner.symbolic.execution.terms.eq(term, constant);
            facts.push(fact);
        }
        facts.retain(|&fact| !self.inner.symbolic.execution.terms.is_true(fact));
        let mut solver = self.inner.symbolic.solvers.open();
        solver.check(&self.inner.symbolic.execution.terms, &facts, &Budget::lasting(Duration::from_secs(5)))
    }

    /// Sets the symbols that an abstraction introduced for variables to the values of these variables in the run.
    pub(super) fn name_forgotten(&mut self, f: &mut Follower, st: &State, concrete: &Concrete, loc: LocId) {
        let mut values: Vec<(Val, Bv)> = st.globals.iter().copied().zip(concrete.globals.iter().cloned()).collect();
        for (depth, slot, value) in self.live_values(st, loc) {
            values.push((value, concrete.frames[depth][slot].clone()));
        }
        for (value, concrete) in values {
            if let Val::Expr(e) = value
                && let Expr::Sym(symbol) = *self.inner.symbolic.execution.terms.get(e)
                && self.inner.symbolic.execution.terms.bases.object(symbol).is_none()
            {
                f.symbols.entry(symbol).or_insert(Value::Bv(concrete));
            }
        }
    }

    /// Sets the symbol that an undecided read introduced to the value that the run has read.
    pub(super) fn name_loaded(&self, f: &mut Follower, st: &State, edge: EdgeId, concrete: &Concrete) {
        let Op::Load { var, .. } = *self.program.edges[edge].op.unshadowed() else { return };
        if !self.way.is_abstract() && st.past.is_none() {
            return;
        }
        let slot = self.inner.symbolic.execution.slots.of_var[var.index()];
        let read = match slot.global() {
            Some(i) => &concrete.globals[i],
            None => &concrete.frames.last().expect("a frame")[slot.local()],
        };
        if let Val::Expr(e) = self.inner.symbolic.execution.read_var(st, var)
            && let Expr::Sym(symbol) = *self.inner.symbolic.execution.terms.get(e)
            && self.inner.symbolic.execution.terms.bases.object(symbol).is_none()
        {
            f.symbols.entry(symbol).or_insert(Value::Bv(read.clone()));
        }
    }

    /// The step of `run` after the return of the call at `at`.
    pub(super) fn after_call(run: &Execution, at: usize) -> Option<usize> {
        let depth = run.at(at).frames.len();
        (at + 1..run.steps.len()).find(|&i| run.steps[i].after.frames.len() == depth).map(|i| i + 1)
    }

    /// Assigns each run to the successor that represents its next state.
    pub(super) fn distribute(
        &mut self,
        before: &State,
        followers: Vec<Follower>,
        at: LocId,
        edge: EdgeId,
        step_result: &Step<State>,
    ) -> Vec<Vec<Follower>> {
        let (successors, problems) = (&step_result.successors, &step_result.undecided);
        let mut groups: Vec<Vec<Follower>> = successors.iter().map(|_| Vec::new()).collect();
        self.tally.splits += u64::from(successors.len() > 1);
        'followers: for mut f in followers {
            let run = Rc::clone(&f.run);
            let Some(step) = run.steps.get(f.at) else { continue };
            assert_eq!(step.edge, edge, "a run is where its state is");
            self.tally.transfers += 1;
            let mut reasons = Vec::new();
            let (events, inputs) = (f.events, f.inputs);
            for (i, (st, to)) in successors.iter().enumerate() {
                let is_call = matches!(self.program.edges[edge].op, Op::Call { .. });
                let (next, loc) = match *to {
                    At::Source => (f.at, at),
                    At::Callee(func) => (f.at + 1, self.program.funcs[func].entry),
                    At::Target if is_call => match Self::after_call(&run, f.at) {
                        Some(next) => (next, self.program.edges[edge].target),
                        None => continue 'followers,
                    },
                    At::Target => (f.at + 1, self.program.edges[edge].target),
                };
                if matches!(to, At::Callee(func) if *func != step.func) {
                    continue;
                }
                (f.events, f.inputs) = (events, inputs);
                let (then, concrete) = (run.at(f.at), run.at(next));
                let taken = self.take_events(&mut f, st, then);
                self.name_loaded(&mut f, st, edge, concrete);
                let known = Some((before, then));
                match taken.and_then(|()| self.represents(&mut f, st, concrete, loc, known)) {
                    Ok(()) => {
                        f.at = next;
                        groups[i].push(f);
                        continue 'followers;
                    }
                    Err(why) => reasons.push(why),
                }
            }
            // A read continues once it is recorded as undecided. Other undecided operations may drop runs.
            if problems.contains(&edge) || self.inner.symbolic.is_recorded(edge) && !self.inner.symbolic.is_read(edge) {
                self.tally.lost_to_problems += 1;
                continue;
            }
            let op = cfa::text::operation(self.program, &self.program.edges[edge].op);
            self.fail("transfer", &format!("step {} over {edge} ({op}): {reasons:?}", f.at));
        }
        for edge in problems {
            self.inner.symbolic.undecided.as_mut().expect("looked into").record_undecided(*edge);
        }
        groups
    }

    /// Assigns runs to one side of a branch.
    pub(super) fn side(
        &mut self,
        before: &State,
        f: Vec<Follower>,
        edge: EdgeId,
        st: Option<State>,
        since: &Rc<State>,
    ) -> Option<Followed> {
        if f.is_empty() {
            return None;
        }
        let Some(st) = st else {
            self.fail("branch", &format!("a run goes over {edge}, and no state does"));
        };
        let source = self.program.edges[edge].source;
        let mut side = Step { successors: vec![(st, At::Target)], ..Step::default() };
        let followers = self.distribute(before, f, source, edge, &side).pop().expect("one group");
        let (st, _) = side.successors.pop().expect("one side");
        (!followers.is_empty()).then(|| Followed { st, since: Rc::clone(since), followers })
    }

    /// Adds some items that could be abstracted to the precision.
    pub(super) fn track_some(&mut self, st: &State, at: Control) {
        if self.random.below(3) > 0 {
            return;
        }
        let live = self.inner.symbolic.execution.live(st.frame.func);
        let Tracking { symbolic, value, .. } = &self.inner;
        let items = value.items(&symbolic.execution, live.at(at.loc), &symbolic.loops, st);
        for item in items {
            if self.random.below(6) == 0 {
                self.inner.value.precision_mut().add(at.loc, item);
            }
        }
    }

    /// Checks the order of `st` with itself and with earlier states at the same control.
    pub(super) fn compare(&mut self, st: &State, followers: &[Follower], at: Control) {
        if !self.inner.covers(st, st, at) {
            self.fail("order", &format!("a state at {} does not cover itself", at.loc));
        }
        let mut earlier = self.earlier.remove(&at).unwrap_or_default();
        for old in &earlier {
            self.covered(old, st, followers, at);
        }
        earlier.push(st.clone());
        if earlier.len() > EARLIER {
            earlier.remove(0);
        }
        self.earlier.insert(at, earlier);
    }

    /// If `old` covers `new`, checks that it represents the runs of `new`.
    pub(super) fn covered(&mut self, old: &State, new: &State, followers: &[Follower], at: Control) -> bool {
        if !self.inner.covers(old, new, at) {
            return false;
        }
        self.tally.covers += 1;
        // Two runs suffice, since the solver is slow.
        for f in followers.iter().take(2) {
            let run = Rc::clone(&f.run);
            if self.admits(old, run.at(f.at), &run, at.loc) == Answer::Unsat {
                self.fail("order", &format!("a state at {} covers one whose run it does not represent", at.loc));
            }
        }
        true
    }
}

/// True if a word of the run points to the object: one of `words`, or a word in an object that `st` has.
fn points_into(object: ObjId, st: &State, concrete: &Concrete, run: &Execution, words: &[u64]) -> bool {
    let (base, size) = (run.bases[&object], concrete.memory[&object].bytes.len() as u64);
    let others = concrete.memory.iter().filter(|&(&id, _)| st.memory.get(id).is_some());
    let stored = others.flat_map(|(_, content)| content.bytes.chunks_exact(8));
    let stored = stored.map(|word| u64::from_le_bytes(word.try_into().expect("8 bytes")));
    words.iter().copied().chain(stored).any(|word| word.wrapping_sub(base) <= size)
}
