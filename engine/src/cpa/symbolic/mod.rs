//! Symbolic execution.
//!
//! A state is one path: variables and memory over symbols, and a path condition (King, Symbolic execution and
//! program testing, CACM 1976; as a CPA: the thesis on slicing and CEGAR for symbolic execution, section 2). States are
//! never merged. What is concrete is computed on machine words; a branch whose condition is concrete costs no term and
//! no query.

mod access;
mod array;
mod blocks;
mod cover;
mod eval;
mod hope;
mod induction;
#[cfg(test)]
mod laws;
mod leak;
mod loops;
mod memory;
mod merge;
mod precision;
mod predicates;
mod pure;
mod refine;
mod rows;
mod state;
mod transfer;
mod value;

pub use induction::{Effort, Induction, QUERY_TIME, constants};
pub use loops::Loops;
pub(crate) use loops::globals_written;
pub(crate) use memory::Paged;
pub use precision::{Abstracted, Item, Precision, Sharing};
pub use refine::Lesson;

pub use eval::{function_address, function_at};

use super::{Abstraction, At, Cpa, Decision, Goal, Pair, PathCheck, Refinement, Sides, Stop, Successors, Target};
use crate::budget::Budget;
use crate::control::Control;
use crate::verdict::{Reason, Taints};
use cfa::interp::{Inputs, ObjectSeq};
use cfa::{Bv, EdgeId, ErrorId, Expr, ExprId, ExprPool, GlobalId, Id, Op, Program, VarKind};
use memory::{Memory, Object, Origin};
use rustc_hash::FxHashSet;
use smt::{Choice, Feasibility, PathCondition, PathSolver};
use state::{Event, Frame, Past, Slots, State, Trail};
use std::rc::Rc;
use value::{Bases, ObjId, Val};

/// The analysis: what all paths share.
pub struct SymbolicExecution<'p> {
    program: &'p Program,
    /// The program's expressions and the terms of all paths.
    pool: ExprPool,
    slots: Slots,
    bases: Bases,
    pub solver: PathSolver,
    pub taints: Taints,
    /// For questions of its own.
    solvers: Choice,
    covering: cover::Covering,
    /// Per location, whether an error can be reached from it.
    hope: Vec<bool>,
    pub loops: Loops,
    /// Loops are not unrolled but replaced by invariants.
    pub induction: Option<Induction>,
    /// States that come with the one that arrived last.
    others: Vec<State>,
    pure: Option<pure::PureCalls>,
    /// Whether a path need not hold every call that it makes.
    skips_calls: bool,
    /// Operations that free memory may be missing in the program, so that objects of the heap which seem to live at the same
    /// time may have the same address.
    pub lacks_frees: bool,
    abstracting: precision::Abstracting,
    /// States in which the last operation is a fault that is an error.
    faults: Vec<State>,
    /// Whether loops or recursions allocate, once that was asked.
    loops_allocate: Option<bool>,
    /// What refinements have learned, in order.
    pub lessons: Vec<Lesson>,
    /// Memo of [`bases_in`](Self::bases_in): per term, whether it holds an object's address.
    holds_base: Vec<Option<bool>>,
}

/// A state by whether a term has a certain value. It lives for a moment, so its size does not matter.
#[allow(clippy::large_enum_variant)]
enum Split {
    Cases {
        value: Bv,
        here: Option<State>,
        elsewhere: Option<State>,
    },
    /// No model of the path condition is known, and none was found.
    Undecided(State),
}

impl<'p> SymbolicExecution<'p> {
    pub fn new(program: &'p Program, solver: PathSolver, solvers: Choice) -> Self {
        Self {
            solvers,
            program,
            pool: program.exprs.clone(),
            slots: Slots::new(program),
            bases: Bases::default(),
            solver,
            taints: Taints::default(),
            covering: cover::Covering::new(program),
            hope: hope::hopeful(program),
            loops: Loops::new(program),
            induction: None,
            others: Vec::new(),
            pure: None,
            skips_calls: true,
            lacks_frees: false,
            abstracting: precision::Abstracting::default(),
            faults: Vec::new(),
            loops_allocate: None,
            lessons: Vec::new(),
            holds_base: Vec::new(),
        }
    }

    /// The analysis with loops replaced by invariants, sharing what this one knows of the program.
    pub fn for_induction(&self, solver: PathSolver, induction: Induction) -> SymbolicExecution<'p> {
        SymbolicExecution {
            pool: induction.pool.clone(),
            loops: self.loops.without_samples(),
            // A proof by contracts shows that they hold.
            skips_calls: induction.is_bounded(),
            induction: Some(induction),
            lacks_frees: self.lacks_frees,
            ..SymbolicExecution::new(self.program, solver, self.solvers.clone())
        }
    }

    /// Terms made so far.
    pub fn terms(&self) -> usize {
        self.pool.len()
    }

    /// The sides of `st` on which the one-bit `cond` is 1 and 0. A side that the solver could not refute is kept.
    fn decide(&mut self, mut st: State, cond: ExprId) -> Result<Sides<State>, Stop> {
        if let Some(c) = self.pool.as_const(cond) {
            return Ok(if c.is_true() { (Some(st), None) } else { (None, Some(st)) });
        }
        self.expose(&mut st, cond);
        let branch = self.solver.branch(&mut self.pool, &st.pc, cond);
        let negated = self.pool.not(cond);
        Ok(match (branch.if_true, branch.if_false) {
            (Feasibility::Infeasible, Feasibility::Infeasible) => (None, None),
            (model, Feasibility::Infeasible) => {
                if let (None, Feasibility::Feasible(_)) = (st.pc.model(), &model) {
                    self.solver.assume(&mut self.pool, &mut st.pc, cond, model.model());
                }
                (Some(st), None)
            }
            (Feasibility::Infeasible, model) => {
                if let (None, Feasibility::Feasible(_)) = (st.pc.model(), &model) {
                    self.solver.assume(&mut self.pool, &mut st.pc, negated, model.model());
                }
                (None, Some(st))
            }
            (yes, no) => {
                let mut other = st.clone();
                self.solver.assume(&mut self.pool, &mut st.pc, cond, yes.model());
                self.solver.assume(&mut self.pool, &mut other.pc, negated, no.model());
                (Some(st), Some(other))
            }
        })
    }

    /// The part of `st` where `cond` holds, of which the rest is of no interest. Whether there is such a part is not asked
    /// now: a model is looked for where one is needed.
    fn follow_only(&mut self, mut st: State, cond: ExprId) -> Option<State> {
        self.expose(&mut st, cond);
        self.solver.assume(&mut self.pool, &mut st.pc, cond, None);
        (!st.pc.is_contradiction()).then_some(st)
    }

    /// Looks for a model of the path condition if none is at hand; `false` if there is none.
    fn is_feasible(&mut self, st: &mut State) -> bool {
        if st.pc.model().is_some() {
            return true;
        }
        match self.solver.model(&mut self.pool, &st.pc) {
            Feasibility::Infeasible => false,
            Feasibility::Unknown(_) => true,
            Feasibility::Feasible(model) => {
                let always = self.pool.bool(true);
                self.solver.assume(&mut self.pool, &mut st.pc, always, Some(model));
                true
            }
        }
    }

    /// Splits `st` by whether `e` has the value it has in the path condition's model.
    fn split_value(&mut self, mut st: State, e: ExprId) -> Result<Split, Stop> {
        self.expose(&mut st, e);
        let value = match st.pc.model() {
            Some(model) => model.eval(&self.pool, e),
            None => match self.solver.model(&mut self.pool, &st.pc) {
                Feasibility::Feasible(model) => model.eval(&self.pool, e),
                _ => return Ok(Split::Undecided(st)),
            },
        };
        let constant = self.pool.constant(value.clone());
        let equal = self.pool.eq(e, constant);
        let (here, elsewhere) = self.decide(st, equal)?;
        Ok(Split::Cases { value, here, elsewhere })
    }

    /// The objects whose addresses occur in a term, in order of id.
    fn bases_in(&mut self, e: ExprId) -> Vec<ObjId> {
        if !self.has_base(e) {
            return Vec::new();
        }
        let mut objects = Vec::new();
        let mut seen = FxHashSet::default();
        let mut stack = vec![e];
        while let Some(e) = stack.pop() {
            if !seen.insert(e) || self.holds_base.get(e.index()).copied().flatten() == Some(false) {
                continue;
            }
            if let Expr::Sym(s) = self.pool.get(e)
                && let Some(object) = self.bases.object(*s)
            {
                objects.push(object);
            }
            stack.extend(self.pool.get(e).children());
        }
        objects.sort_unstable();
        objects
    }

    fn has_base(&mut self, root: ExprId) -> bool {
        if self.holds_base.len() < self.pool.len() {
            self.holds_base.resize(self.pool.len() + self.pool.len() / 2, None);
        }
        if let Some(known) = self.holds_base[root.index()] {
            return known;
        }
        let mut stack = vec![root];
        while let Some(&e) = stack.last() {
            if self.holds_base[e.index()].is_some() {
                stack.pop();
                continue;
            }
            let pending = stack.len();
            let mut holds = matches!(self.pool.get(e), Expr::Sym(s) if self.bases.object(*s).is_some());
            for child in self.pool.get(e).children() {
                match self.holds_base[child.index()] {
                    Some(h) => holds |= h,
                    None => stack.push(child),
                }
            }
            if stack.len() == pending {
                self.holds_base[e.index()] = Some(holds);
                stack.pop();
            }
        }
        self.holds_base[root.index()].expect("just computed")
    }

    /// Puts into the path condition what holds of the addresses that `e` looks at: they are aligned, far from null
    /// and from the end of the address space, and live objects do not overlap.
    fn expose(&mut self, st: &mut State, e: ExprId) {
        for object in self.bases_in(e) {
            if st.exposed.contains(&object) {
                continue;
            }
            let w = self.program.layout.pointer_width;
            let base = self.bases.symbol(&mut self.pool, object, w);
            let mut facts = Vec::new();
            let (lowest, highest) = if w == 64 { (0x10_0000, 0x7fff_0000_0000) } else { (0x10_0000, 0xffff_0000) };
            let low = self.pool.int(w, lowest);
            facts.push(self.pool.ule(low, base));
            let high = self.pool.int(w, highest);
            let size = st.memory.get(object).map(|o| (o.size, o.align));
            if let Some((size, align)) = size {
                let size_e = self.term(size, w);
                let last = self.pool.sub(high, size_e);
                facts.push(self.pool.ule(base, last));
                if size_e != high && self.pool.as_const(size_e).is_none() {
                    facts.push(self.pool.ule(size_e, high));
                }
                if align > 1 {
                    let bits = align.trailing_zeros();
                    let lows = self.pool.extract(bits - 1, 0, base);
                    let zero = self.pool.int(bits, 0);
                    facts.push(self.pool.eq(lows, zero));
                }
                for &other in st.exposed.iter() {
                    let Some(other_size) = st.memory.get(other).map(|o| o.size) else { continue };
                    if !self.are_disjoint(st, object, other) {
                        continue;
                    }
                    let other_base = self.bases.symbol(&mut self.pool, other, w);
                    let other_size = self.term(other_size, w);
                    let (end, other_end) = (self.pool.add(base, size_e), self.pool.add(other_base, other_size));
                    let before = self.pool.ule(end, other_base);
                    let after = self.pool.ule(other_end, base);
                    facts.push(self.pool.or(before, after));
                    // Empty objects have addresses of their own, too.
                    facts.push(self.pool.ne(base, other_base));
                }
            } else {
                facts.push(self.pool.ule(base, high));
            }
            // A layout that satisfies the facts, where sizes are moderate, extends the model at hand.
            let extended = st.pc.model().map(|model| {
                let mut model = model.clone();
                let slot = if w == 64 {
                    0x1000_0000_0000 + (u64::from(object.0) << 24)
                } else {
                    0x1000_0000 + (u64::from(object.0) << 16)
                };
                model.set(base, cfa::Value::Bv(Bv::new(w, slot)));
                model
            });
            let mut extended = extended.filter(|m| facts.iter().all(|&f| m.eval(&self.pool, f).is_true()));
            for fact in facts {
                let model = extended.clone();
                self.solver.assume(&mut self.pool, &mut st.pc, fact, model);
            }
            if extended.is_none() {
                extended = self.solver.model(&mut self.pool, &st.pc).model();
                let always = self.pool.bool(true);
                self.solver.assume(&mut self.pool, &mut st.pc, always, extended);
            }
            Rc::make_mut(&mut st.exposed).push(object);
        }
    }

    /// Inputs that make the program take this path.
    fn inputs(&self, st: &State, model: &smt::Model) -> Inputs {
        let seq = |object: ObjId| match (object.0 as usize).checked_sub(self.program.globals.len()) {
            None => ObjectSeq::Global(GlobalId(object.0)),
            Some(n) => ObjectSeq::Alloc(n as u64),
        };
        let symbols = model.symbols(&self.pool);
        let value = |symbol: cfa::SymId| match symbols.get(&symbol) {
            Some(v) => v.clone(),
            None => Bv::zero(self.pool.symbol_sort(symbol).width()),
        };
        let mut inputs = Inputs::default();
        for event in st.trail.events(|cond| model.eval(&self.pool, cond).is_true()) {
            match event {
                Event::Input(symbol) => inputs.values.push(value(symbol)),
                Event::Decision(_) => {}
                Event::Unknown { object, offset, len: _, symbol } => {
                    for (i, byte) in value(symbol).to_le_bytes().into_iter().enumerate() {
                        inputs.bytes.insert((seq(object), offset + i as u64), byte);
                    }
                }
                Event::UnknownArray { object, array } => {
                    if let Some(cfa::Value::Array(content)) = model.get(array) {
                        for (&index, element) in &content.entries {
                            let bytes = element.to_le_bytes();
                            for (i, &byte) in bytes.iter().enumerate() {
                                let at = index as u64 * bytes.len() as u64 + i as u64;
                                inputs.bytes.insert((seq(object), at), byte);
                            }
                        }
                    }
                }
                Event::Global { var, symbol } => {
                    inputs.globals.insert(var, value(symbol));
                }
            }
        }
        for (symbol, value) in &symbols {
            if let Some(object) = self.bases.object(*symbol)
                && st.exposed.contains(&object)
            {
                inputs.bases.insert(seq(object), value.to_u64().expect("addresses have at most 64 bits"));
            }
        }
        inputs
    }
}

impl Cpa for SymbolicExecution<'_> {
    type State = State;
    type Evidence = Inputs;

    fn initial(&mut self) -> State {
        let mut memory = Memory::new();
        for (id, global) in self.program.globals.iter() {
            let mut object =
                Object::new(Val::Int(global.size), global.align, Origin::Global(id), global.init.is_some());
            object.read_only = global.read_only;
            if let Some(init) = &global.init {
                object.write_bytes(0, &init.bytes);
            }
            let object = memory.allocate(object);
            debug_assert_eq!(object.0, id.0);
        }
        let frame = Frame {
            func: self.program.entry,
            vars: vec![Val::Unset; self.slots.locals[self.program.entry.index()].len()],
            objects: Vec::new(),
            caller: None,
            call: None,
            depth: 0,
        };
        let mut st = State {
            globals: Rc::new(vec![Val::Unset; self.slots.globals.len()]),
            frame: Rc::new(frame),
            memory,
            pc: PathCondition::new(),
            trail: Trail::default(),
            exposed: Rc::new(Vec::new()),
            history: None,
            past: None,
            active: Rc::new(Vec::new()),
            anchors: Rc::new(Vec::new()),
            quantified: Rc::new(Vec::new()),
            instances: Rc::new(Vec::new()),
        };
        for (id, global) in self.program.globals.iter() {
            for &(offset, e) in global.init.iter().flat_map(|i| &i.pointers) {
                let width = self.pool.width(e);
                let value = self.eval(&st, e);
                self.write(&mut st, ObjId(id.0), offset, width.div_ceil(8), value);
            }
        }
        for var in self.slots.globals.clone() {
            let VarKind::Global { init } = self.program.vars[var].kind else { unreachable!("a global slot") };
            let value = match init {
                Some(e) => self.eval(&st, e),
                None if self.abstracting.values_only => Val::Unknown,
                None => {
                    let width = self.program.vars[var].width;
                    let (symbol, e) = self.pool.fresh_symbol(cfa::Sort::Bv(width));
                    st.trail.push(Event::Global { var, symbol });
                    Val::Expr(e)
                }
            };
            self.write_var(&mut st, var, value);
        }
        st
    }

    fn transfer(
        &mut self,
        state: State,
        at: Control,
        edge: EdgeId,
        successors: &mut Successors<State>,
    ) -> Result<(), Stop> {
        let _ = at;
        self.faults.clear();
        self.execute(state, edge, successors)
    }

    fn faults(&mut self) -> Vec<State> {
        std::mem::take(&mut self.faults)
    }

    fn branch(&mut self, st: State, then_edge: EdgeId, else_edge: EdgeId) -> Result<Sides<State>, Stop> {
        let Op::Assume { cond, .. } = self.program.edges[then_edge].op else { panic!("a branch of assumes") };
        let hope = |edge: EdgeId| self.hope[self.program.edges[edge].target.index()];
        let (then_hope, else_hope) = (hope(then_edge), hope(else_edge));
        let constraints = st.pc.len();
        let (mut yes, mut no) = match self.eval(&st, cond) {
            Val::Int(0) => Ok((None, Some(st))),
            Val::Int(_) => Ok((Some(st), None)),
            _ if self.abstracting.values_only => {
                let yes = then_hope.then(|| self.assume_value(st.clone(), cond, true));
                let no = else_hope.then(|| self.assume_value(st, cond, false));
                Ok((yes, no))
            }
            cond => {
                let cond = self.term(cond, 1);
                match (then_hope, else_hope) {
                    (true, true) if self.abstracting.on && self.abstracting.ways.1 => {
                        // Paths are merged again soon: whether there are any is asked where a block ends.
                        let negated = self.pool.not(cond);
                        Ok((self.follow_only(st.clone(), cond), self.follow_only(st, negated)))
                    }
                    (true, true) => self.decide(st, cond),
                    (true, false) => Ok((self.follow_only(st, cond), None)),
                    (false, true) => {
                        let cond = self.pool.not(cond);
                        Ok((None, self.follow_only(st, cond)))
                    }
                    (false, false) => Ok((None, None)),
                }
            }
        }?;
        for (side, edge) in [(&mut yes, then_edge), (&mut no, else_edge)] {
            let Some(st) = side else { continue };
            self.note_constraints(st, constraints, then_edge);
            if self.abstracting.on {
                st.trail.push(Event::Decision(Decision::Branch(edge)));
            }
        }
        if self.induction.is_some() {
            for (side, edge) in [(&mut yes, then_edge), (&mut no, else_edge)] {
                if let Some(st) = side
                    && !self.leave_loops(st, edge)
                {
                    *side = None;
                }
            }
        }
        Ok((yes, no))
    }

    fn returns(&mut self, st: &mut State, edge: EdgeId) -> bool {
        self.induction.is_none() || self.return_in_induction(st, edge)
    }

    fn others(&mut self) -> Vec<State> {
        std::mem::take(&mut self.others)
    }

    fn counts_turns(&self) -> bool {
        self.induction.is_none()
    }

    fn ran_out(&self) -> bool {
        self.solver.was_cut_short()
    }

    fn leave(&mut self, st: State, return_edge: EdgeId, call_edge: EdgeId) -> Result<State, Stop> {
        Ok(self.return_to(st, return_edge, call_edge))
    }

    fn target(&mut self, st: &mut State, edge: EdgeId, _error: ErrorId) -> Result<Target<Inputs>, Stop> {
        if self.is_early(st) {
            return Ok(Target::Infeasible);
        }
        let answer = self.solver.model(&mut self.pool, &st.pc);
        if answer.is_infeasible() {
            return Ok(Target::Infeasible);
        }
        if let Some(past) = st.past
            && !self.abstracting.on
        {
            let reason = match past {
                Past::Approximation(taint) => {
                    let taint = &self.program.taints[taint];
                    let text = format!("a violation was found only past an approximation: {}", taint.reason);
                    Reason::at(text, taint.place)
                }
                Past::Stray(edge) => {
                    let text = "a violation was found only past a read outside all objects";
                    Reason::at(text, self.program.edges[edge].place)
                }
            };
            self.taints.drop_behaviour(reason);
            return Ok(Target::Undecided);
        }
        if let Some(induction) = &mut self.induction
            && induction.past_errors
        {
            induction.violated |= !answer.is_infeasible();
            return Ok(Target::Infeasible);
        }
        match answer {
            Feasibility::Infeasible => Ok(Target::Infeasible),
            Feasibility::Feasible(model) => Ok(Target::Reached(self.inputs(st, &model))),
            Feasibility::Unknown(smt::Reason::Timeout) => Ok(Target::Later),
            Feasibility::Unknown(reason) => {
                let place = self.program.edges[edge].place;
                self.taints.drop_behaviour(Reason::at(format!("a path to an error is undecided: {reason}"), place));
                Ok(Target::Undecided)
            }
        }
    }

    fn merge(&mut self, a: State, b: State, at: Control) -> Result<State, Pair<State>> {
        self.merge_states(a, b, at)
    }

    fn arrive(&mut self, mut st: State, edge: EdgeId, at: Control) -> Result<Option<State>, Stop> {
        if let Some(number) = self.loops.headed_by(at.loc) {
            if !self.is_feasible(&mut st) {
                return Ok(None);
            }
            if self.induction.is_some() {
                return self.arrive_at_loop(st, edge, number);
            }
        }
        if self.induction.is_some() {
            // What candidates speak of is not all live.
            return Ok(Some(st));
        }
        self.loops.sample(&st, at.loc, &self.pool, &self.slots);
        Ok(if self.is_covered(&st, at)? { None } else { Some(st) })
    }
}

impl Abstraction for SymbolicExecution<'_> {
    fn both(&mut self, st: State, then_edge: EdgeId, else_edge: EdgeId) -> Sides<State> {
        let side = |edge: EdgeId| {
            self.hope[self.program.edges[edge].target.index()].then(|| {
                let mut st = st.clone();
                st.trail.push(Event::Decision(Decision::Branch(edge)));
                st
            })
        };
        (side(then_edge), side(else_edge))
    }

    fn adjust(&mut self, mut st: State, at: Control, since: &State) -> Result<Option<State>, Stop> {
        let asks = self.abstracting.ways.1 || self.loops.headed_by(at.loc).is_some();
        if asks && !self.is_real(&mut st)? {
            return Ok(None);
        }
        Ok(Some(self.abstracted(st, at, Some(since))))
    }

    fn covers(&mut self, old: &State, new: &State, at: Control) -> bool {
        self.state_covers(old, new, at)
    }

    fn outline(&mut self, st: &State, at: Control) -> Vec<Option<u64>> {
        self.outline_values(st, at)
    }

    fn decisions(&mut self, st: &mut State) -> Vec<Decision> {
        // The model is kept.
        self.is_feasible(st);
        let holds = |cond| st.pc.model().is_some_and(|m| m.eval(&self.pool, cond).is_true());
        let events = st.trail.events(holds);
        events.into_iter().filter_map(|e| if let Event::Decision(d) = e { Some(d) } else { None }).collect()
    }

    fn execution(&mut self, st: &State, budget: &Budget) -> Result<Option<Vec<Vec<Decision>>>, Stop> {
        match &st.history {
            None => Ok(Some(Vec::new())),
            Some(_) => self.decisions_in_blocks(st, budget),
        }
    }

    fn problems(&mut self) -> Vec<EdgeId> {
        self.take_problems()
    }

    fn settle(&mut self, edge: EdgeId, reason: Reason) {
        // A read can be followed whatever it reads, unless that it is a fault is the question.
        if !self.is_read(edge) || self.is_watched(edge) {
            self.taints.drop_behaviour(reason);
        }
        self.settle_problem(edge);
    }

    fn check(&mut self, path: &[EdgeId], goal: Goal, budget: &Budget) -> Result<PathCheck<Inputs>, Stop> {
        self.check_path(path, goal, budget)
    }

    fn refine(
        &mut self,
        st: &State,
        path: &[EdgeId],
        cuts: &[usize],
        goal: Goal,
        budget: &Budget,
    ) -> Result<Refinement, Stop> {
        self.refine_path(st, path, cuts, goal, budget)
    }
}

/// A successor at the target of its edge.
fn follow(st: State) -> (State, At) {
    (st, At::Target)
}
