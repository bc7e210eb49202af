//! The domain under test, which asserts the laws in each of its operations.

use super::*;

impl Cpa for Watched<'_> {
    type State = Followed;
    type Evidence = ();

    fn initial(&mut self) -> Followed {
        let st = self.inner.initial();
        let loc = self.program.funcs[self.program.entry].entry;
        let mut followers = Vec::new();
        for run in self.runs.clone() {
            let (symbols, memo) = (FxHashMap::default(), FxHashMap::default());
            let mut f = Follower { run: Rc::clone(&run), at: 0, symbols, events: 0, inputs: 0, memo };
            let taken = self.take_events(&mut f, &st, &run.start);
            if let Err(why) = taken.and_then(|()| self.represents(&mut f, &st, &run.start, loc, None)) {
                self.fail("initial", &why);
            }
            followers.push(f);
        }
        Followed { since: Rc::new(st.clone()), st, followers }
    }

    fn transfer(&mut self, state: Followed, at: Control, edge: EdgeId, out: &mut Step<Followed>) -> Result<(), Stop> {
        let Followed { st, since, followers } = state;
        let before = st.clone();
        let mut step = Step::default();
        self.inner.transfer(st, at, edge, &mut step)?;
        let groups = self.distribute(&before, followers, at.loc, edge, &step);
        for ((st, to), followers) in step.successors.into_iter().zip(groups) {
            let arrays: Vec<ExprId> = st.memory.iter().filter_map(|(_, o)| o.array).collect();
            self.tally.arrays += u64::from(!arrays.is_empty());
            self.tally.lambdas += u64::from(arrays.iter().any(|&a| self.inner.symbolic.execution.terms.has_lambda(a)));
            if !followers.is_empty() {
                out.successors.push((Followed { st, since: Rc::clone(&since), followers }, to));
            }
        }
        Ok(())
    }

    fn branch(&mut self, state: Followed, then_edge: EdgeId, else_edge: EdgeId) -> Result<Sides<Followed>, Stop> {
        let Followed { st, since, followers } = state;
        let before = st.clone();
        let (then_st, else_st) = self.inner.branch(st, then_edge, else_edge)?;
        let (mut yes, mut no) = (Vec::new(), Vec::new());
        for f in followers {
            match f.run.steps.get(f.at).map(|step| step.edge) {
                Some(edge) if edge == then_edge => yes.push(f),
                Some(_) => no.push(f),
                None => {}
            }
        }
        let yes = self.side(&before, yes, then_edge, then_st, &since);
        let no = self.side(&before, no, else_edge, else_st, &since);
        Ok((yes, no))
    }

    fn leave(&mut self, state: Followed, return_edge: EdgeId, call_edge: EdgeId) -> Result<Followed, Stop> {
        let Followed { st, since, followers } = state;
        let st = self.inner.leave(st, return_edge, call_edge)?;
        let loc = self.program.edges[call_edge].target;
        let mut left = Vec::new();
        for mut f in followers {
            let run = Rc::clone(&f.run);
            if run.steps.get(f.at).is_none() {
                continue;
            }
            let (then, concrete) = (run.at(f.at), run.at(f.at + 1));
            let taken = self.take_events(&mut f, &st, then);
            if let Err(why) = taken.and_then(|()| self.represents(&mut f, &st, concrete, loc, None)) {
                self.fail("return", &format!("step {} over {return_edge}: {why}", f.at));
            }
            f.at += 1;
            left.push(f);
        }
        Ok(Followed { st, since, followers: left })
    }

    fn target(&mut self, _state: &mut Followed, _edge: EdgeId, _error: ErrorId) -> Result<Target<()>, Stop> {
        Ok(Target::Infeasible)
    }

    fn adjust(
        &mut self,
        state: Followed,
        _edge: EdgeId,
        at: Control,
        _more: &mut Vec<Followed>,
    ) -> Result<Option<Followed>, Stop> {
        let Followed { mut st, mut since, mut followers } = state;
        if followers.is_empty() {
            return Ok(None);
        }
        if !self.inner.symbolic.execution.is_feasible(&mut st) {
            self.fail("arrive", "a state with runs is thought to be infeasible");
        }
        if self.way.is_abstract() {
            self.track_some(&st, at);
            self.tally.abstractions += 1;
            match self.inner.abstract_state(st, at, &since)? {
                Some(adjusted) => st = adjusted,
                None => self.fail("prec", "a state with runs is thought to be infeasible"),
            }
            since = Rc::new(st.clone());
            for f in &mut followers {
                let run = Rc::clone(&f.run);
                let concrete = run.at(f.at);
                f.events = 0;
                self.name_forgotten(f, &st, concrete, at.loc);
                let taken = self.take_events(f, &st, concrete);
                if let Err(why) = taken.and_then(|()| self.represents(f, &st, concrete, at.loc, None)) {
                    self.fail("prec", &format!("step {} at {}: {why}", f.at, at.loc));
                }
            }
        }
        self.compare(&st, &followers, at);
        Ok(Some(Followed { st, since, followers }))
    }

    fn merge(&mut self, a: Followed, b: Followed, at: Control) -> Result<Followed, Pair<Followed>> {
        let (ours, theirs) = (a.st.clone(), b.st.clone());
        let symbols = self.inner.symbolic.execution.terms.symbol_count();
        let mut merged = match self.inner.merge(a.st, b.st, at) {
            Ok(st) => Followed { st, since: a.since, followers: Vec::new() },
            Err(pair) => {
                let (x, y) = *pair;
                let a = Followed { st: x, since: a.since, followers: a.followers };
                let b = Followed { st: y, since: b.since, followers: b.followers };
                return Err(Box::new((a, b)));
            }
        };
        self.tally.merges += 1;
        let sides = [(true, &theirs, a.followers), (false, &ours, b.followers)];
        for (is_first, other, followers) in sides {
            let mut group = Vec::new();
            for mut f in followers {
                let run = Rc::clone(&f.run);
                let concrete = run.at(f.at);
                // If nothing else distinguishes the two states, a new one-bit symbol does.
                for index in symbols..self.inner.symbolic.execution.terms.symbol_count() {
                    let symbol = SymId(index as u32);
                    if self.inner.symbolic.execution.terms.symbol_sort(symbol) == Sort::Bv(1) {
                        f.symbols.insert(symbol, Value::Bv(Bv::bool(is_first)));
                    }
                }
                let events = f.events;
                let taken = self.take_events(&mut f, &merged.st, concrete);
                if let Err(why) = taken.and_then(|()| self.represents(&mut f, &merged.st, concrete, at.loc, None)) {
                    self.fail("merge", &format!("first: {is_first}, step {} at {}: {why}", f.at, at.loc));
                }
                if f.events < events {
                    self.fail("merge", "events are lost");
                }
                group.push(f);
            }
            // If one of the two states covers the other as well, it has to represent its runs.
            self.covered(other, &merged.st, &group, at);
            merged.followers.extend(group);
        }
        self.covered(&merged.st, &ours, &merged.followers, at);
        self.covered(&merged.st, &theirs, &merged.followers, at);
        Ok(merged)
    }

    fn ended(&mut self, state: Followed, edge: EdgeId) {
        let Followed { st, .. } = state;
        if self.way.is_abstract() || st.past.is_some() {
            return;
        }
        let Feasibility::Feasible(model) =
            self.inner.symbolic.execution.solver.model(&mut self.inner.symbolic.execution.terms, &st.pc)
        else {
            return;
        };
        let inputs = self.inner.symbolic.execution.inputs(&st, &model);
        let mut last = Last(None);
        let limits = Limits { steps: 100_000, ..Limits::default() };
        let run = Interpreter::new(self.program).run(&mut inputs.source(), limits, &mut last);
        // An object that the path has not accessed may occupy the place of one that it has.
        if matches!(run.outcome, Outcome::Unplaced(_)) {
            return;
        }
        self.tally.evidence += 1;
        if last.0 != Some(edge) {
            self.fail("evidence", &format!("the inputs lead to {:?} after {:?}, not to {edge}", run.outcome, last.0));
        }
    }
}
