//! Interpolants by dynamic slicing, in one pass from the end of a path.
//!
//! The recorder executes the path once and records for every operation the values that it defines and uses. Only
//! numbers are recorded, since abstractions always keep addresses. The pass goes back from the contradiction to the
//! start. It replaces each needed value that an operation defines by the values that the operation uses (dynamic
//! slicing: Agrawal, Horgan, PLDI 1990). For constraint sequences, the result corresponds to weakest preconditions.
//! With symbols, the contradiction is among constraints, and an unsatisfiable core identifies the relevant ones. The
//! caller has to check the result: values may depend on each other in ways that are not recorded. If the result does
//! not refute the path, another method has to find interpolants.
//!
//! The recorder continues beyond the contradiction as if the branch had no effect, because a path often has several
//! contradictions (sliced path prefixes: Beyer, Löwe, Wendler, FORTE 2015). The values that decide the branches of the
//! whole path (`Recording::deciding`) are those in a slice of the path. They include all values that some
//! contradiction on the path needs, and possibly more (Lemberger: Abstraction refinement for
//! model checking: program slicing + CEGAR, master's thesis, LMU Munich 2018, section 3.3).

use crate::analysis::{Goal, Stop};
use crate::domain::path::{Carrier, Follower};
use crate::domain::value::Item;
use crate::semantics::{ObjId, Origin, Part, Val};
use cfa::{Callee, EdgeId, ExprId, Op, SymId, VarId, VarKind};
use rustc_hash::{FxHashMap, FxHashSet};
use smt::Answer;
use std::rc::Rc;

/// A place of a number in a state.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Cell {
    /// A variable. A local variable has the depth of its frame.
    Var(Option<u32>, VarId),
    /// A part of an object.
    Memory(ObjId, Origin, Part),
}

/// The definitions of an operation, and the values that they use.
enum Gives {
    /// The operation defines nothing.
    Nothing,
    /// Variables, each with the values that define it.
    Vars(Vec<(Cell, Vec<Cell>)>),
    /// Parts of the content of objects.
    Content {
        /// The cells that may be written. Empty if any cell of the objects may be.
        cells: Vec<Cell>,
        /// The objects that may be written.
        objects: Vec<ObjId>,
        /// If true, the operation overwrites all of the cells.
        replaces: bool,
        /// The values needed if a written cell is needed.
        from: Vec<Cell>,
        /// The values that determine the address. They are needed if anything in the objects is.
        place: Vec<Cell>,
    },
}

/// The data flow of an operation on the path.
struct Flow {
    gives: Gives,
    /// The values that decide the condition of a branch.
    decided_by: Vec<Cell>,
}

/// The items that have to be tracked, by number of the cut.
pub(crate) type Needed = Vec<(usize, Vec<Item>)>;

/// The data flow of a path that was executed up to its contradiction.
pub(crate) struct Recording {
    flows: Vec<Flow>,
    /// The values that are contradictory.
    seeds: Vec<Cell>,
    /// The branches whose constraints are contradictory, as indices on the path. Empty without symbols.
    core: FxHashSet<usize>,
    /// The first assume edges of these branches, by index on the path.
    branches: FxHashMap<usize, EdgeId>,
    /// The branches that concrete values decide.
    decided: FxHashSet<usize>,
    end: usize,
}

impl Recording {
    /// Records a path. Returns `None` if the path is feasible or its feasibility could not be decided.
    pub fn record<'p, C: Carrier<'p>>(
        follower: &mut Follower<'_, 'p, C>,
        path: &[EdgeId],
        goal: Goal,
    ) -> Result<Option<Self>, Stop> {
        let loops = &follower.cpa.symbolic().loops.loops;
        let changing = loops.iter().flat_map(|l| l.modified.iter().copied()).collect();
        Recorder { follower, vars: FxHashMap::default(), changing }.record(path, goal)
    }

    /// The number of edges up to the contradiction, including the contradictory one.
    pub fn end(&self) -> usize {
        self.end
    }

    /// The items that each of `cuts` has to keep so that the path is contradictory.
    pub fn needed(&self, cuts: &[(usize, usize)]) -> Needed {
        let seeds = self.seeds.iter().copied().collect();
        self.taken_back(self.flows.len().min(self.end), seeds, &self.core, cuts)
    }

    /// The items that decide the branches of the path, by cut.
    pub fn deciding(&self, cuts: &[(usize, usize)]) -> Needed {
        self.taken_back(self.flows.len(), FxHashSet::default(), &self.decided, cuts)
    }

    /// The items needed at each of `cuts` so that after `end` operations the cells in `needed` have their values, and
    /// the given branches are decided as on the path.
    fn taken_back(
        &self,
        end: usize,
        mut needed: FxHashSet<Cell>,
        branches: &FxHashSet<usize>,
        cuts: &[(usize, usize)],
    ) -> Needed {
        let mut found: Needed = Vec::new();
        let mut cuts = cuts.iter().rev().copied().peekable();
        for (i, flow) in self.flows[..end].iter().enumerate().rev() {
            while let Some((number, _)) = cuts.next_if(|&(_, cut)| cut > i) {
                let mut items: Vec<Item> = needed.iter().map(Cell::item).collect();
                items.extend(self.branches.iter().filter(|(at, _)| **at <= i).map(|(_, &e)| Item::Constraint(e)));
                items.sort_unstable();
                items.dedup();
                found.push((number, items));
            }
            flow.take_back(&mut needed);
            if branches.contains(&i) {
                needed.extend(flow.decided_by.iter().copied());
            }
        }
        found.reverse();
        found
    }
}

impl Cell {
    /// The item that tracks the cell.
    fn item(&self) -> Item {
        match *self {
            Cell::Var(_, var) => Item::Var(var),
            Cell::Memory(_, origin, part) => Item::Memory(origin, part),
        }
    }
    /// True if the cell is in the object.
    fn is_in(&self, object: ObjId) -> bool {
        matches!(*self, Cell::Memory(o, ..) if o == object)
    }
}

impl Flow {
    /// Replaces the cells needed after the operation by those needed before it.
    fn take_back(&self, needed: &mut FxHashSet<Cell>) {
        match &self.gives {
            Gives::Nothing => {}
            Gives::Vars(vars) => {
                let taken: Vec<&(Cell, Vec<Cell>)> = vars.iter().filter(|(cell, _)| needed.remove(cell)).collect();
                for (_, from) in taken {
                    needed.extend(from);
                }
            }
            Gives::Content { cells, objects, replaces, from, place } => {
                let inside = |cell: &Cell| objects.iter().any(|&o| cell.is_in(o));
                if !needed.iter().any(inside) {
                    return;
                }
                if cells.is_empty() || cells.iter().any(|cell| needed.contains(cell)) {
                    if *replaces {
                        needed.retain(|cell| !cells.contains(cell));
                    }
                    needed.extend(from);
                }
                needed.extend(place);
            }
        }
    }
}

/// Executes a path and records its data flow.
struct Recorder<'a, 'b, 'p, C: Carrier<'p>> {
    follower: &'a mut Follower<'b, 'p, C>,
    vars: FxHashMap<ExprId, Rc<[VarId]>>,
    /// Variables that loops modify. They may have many values, so others are preferred.
    changing: FxHashSet<VarId>,
}

impl<'p, C: Carrier<'p>> Recorder<'_, '_, 'p, C> {
    fn record(mut self, path: &[EdgeId], goal: Goal) -> Result<Option<Recording>, Stop> {
        let symbolic = self.follower.cpa.symbolic().execution.mode.names_unknowns;
        let mut st = self.follower.cpa.initial();
        let mut flows: Vec<Flow> = Vec::with_capacity(path.len());
        let mut origins: FxHashMap<ExprId, usize> = FxHashMap::default();
        self.follower.cpa.undecided().found.clear();
        // The first contradiction, and the branches that concrete values decide.
        let (mut first, mut decided) = (None, FxHashSet::default());
        for (i, &edge) in path.iter().enumerate() {
            if (i % 256 == 0 || self.follower.cpa.symbolic().execution.solver.was_cut_short())
                && let Some(spent) = self.follower.budget.spent()
            {
                return Err(Stop::Spent(spent));
            }
            let next = path.get(i + 1).copied();
            let Some(mut flow) = self.flow(&mut st, edge, next) else {
                return Ok(self.contradicted(path, flows, first, decided));
            };
            let as_it_was = (!symbolic && self.is_branch(edge)).then(|| st.clone());
            let cond = self.condition(&st, edge).filter(|_| symbolic);
            let before = st.pc.clone();
            let unknown = self.unknown(&st, edge).filter(|_| !symbolic);
            let mut after = self.follower.step(st, edge, next)?;
            if !self.follower.cpa.undecided().found.is_empty() || after.len() > 1 {
                return Ok(self.contradicted(path, flows, first, decided));
            }
            if !flow.decided_by.is_empty() && as_it_was.is_some() {
                decided.insert(i);
            }
            let Some(state) = after.pop() else {
                // The condition of the branch contradicts the state.
                if let Some(before) = as_it_was {
                    first.get_or_insert_with(|| (flow.decided_by.clone(), i + 1));
                    flows.push(flow);
                    st = before;
                    continue;
                }
                let seeds = flow.decided_by;
                let core = match cond {
                    Some(Val::Expr(term)) => match self.core(before.conjuncts(), Some(term), &origins) {
                        Some(core) => core,
                        None => return Ok(None),
                    },
                    _ if !self.is_branch(edge) => return Ok(None),
                    _ => FxHashSet::default(),
                };
                return Ok(Some(self.recording(path, flows, seeds, core, decided, i + 1)));
            };
            st = state;
            for conjunct in st.pc.iter().take(st.pc.len().saturating_sub(before.len())) {
                origins.entry(conjunct).or_insert(i);
            }
            if let Some(unknown) = unknown {
                // The condition implied values of unknown variables.
                let told =
                    |&var: &VarId| matches!(self.follower.cpa.symbolic().execution.read_var(&st, var), Val::Int(_));
                let told: Vec<VarId> = unknown.into_iter().filter(told).collect();
                let cells = told.into_iter().map(|var| (self.cell(&st, var), flow.decided_by.clone()));
                flow.gives = Gives::Vars(cells.collect());
            }
            flows.push(flow);
        }
        if first.is_some() {
            return Ok(self.contradicted(path, flows, first, decided));
        }
        let seeds = match self.contradicted_at_goal(st.clone(), goal)? {
            None => return Ok(None),
            Some(true) => self.operands(&st, goal.edge()),
            Some(false) => Vec::new(),
        };
        let core = match seeds.is_empty() && symbolic {
            true => match self.core(st.pc.conjuncts(), None, &origins) {
                Some(core) => core,
                None => return Ok(None),
            },
            false => FxHashSet::default(),
        };
        Ok(Some(self.recording(path, flows, seeds, core, decided, path.len())))
    }

    /// The recording of a path with a contradiction of concrete values, if there is one: the values and the number of
    /// edges up to it.
    fn contradicted(
        &self,
        path: &[EdgeId],
        flows: Vec<Flow>,
        first: Option<(Vec<Cell>, usize)>,
        decided: FxHashSet<usize>,
    ) -> Option<Recording> {
        first.map(|(seeds, end)| self.recording(path, flows, seeds, FxHashSet::default(), decided, end))
    }

    fn recording(
        &self,
        path: &[EdgeId],
        flows: Vec<Flow>,
        seeds: Vec<Cell>,
        core: FxHashSet<usize>,
        decided: FxHashSet<usize>,
        end: usize,
    ) -> Recording {
        let program = self.follower.cpa.symbolic().execution.program;
        let first = |i: usize| match program.locs[program.edges[path[i]].source].out {
            cfa::Out::Branch { then_edge, .. } => Some((i, then_edge)),
            _ => None,
        };
        let branches = core.iter().filter_map(|&i| first(i)).collect();
        Recording { flows, seeds, core, branches, decided, end }
    }

    /// Checks whether a state before the goal fails to reach it. Returns `Some(true)` if the goal's operation is
    /// contradictory, `Some(false)` if the state is infeasible, and `None` if the goal may be reached.
    fn contradicted_at_goal(&mut self, mut st: C::State, goal: Goal) -> Result<Option<bool>, Stop> {
        if !self.follower.cpa.is_real(&mut st) {
            return Ok(Some(false));
        }
        match goal {
            Goal::Error { edge, .. } => {
                for st in &mut self.follower.at_error(vec![st], edge)? {
                    if self.follower.cpa.is_real(st) {
                        return Ok(None);
                    }
                }
                Ok(Some(true))
            }
            Goal::Undecided { edge } => {
                self.follower.cpa.undecided().found.clear();
                self.follower.step(st, edge, None)?;
                let met = self.follower.cpa.undecided().found.iter().any(|p| p.edge == edge);
                Ok((!met).then_some(true))
            }
        }
    }

    /// The branches whose constraints form an unsatisfiable core, together with `cond` if it is given. `None` if the
    /// constraints are satisfiable or undecided.
    fn core(
        &mut self,
        conjuncts: Vec<ExprId>,
        cond: Option<ExprId>,
        origins: &FxHashMap<ExprId, usize>,
    ) -> Option<FxHashSet<usize>> {
        let execution = &mut self.follower.cpa.symbolic_mut().execution;
        let mut facts = conjuncts;
        if let Some(cond) = cond {
            // Only constraints that share symbols with the condition, directly or transitively, are relevant.
            let symbols: Vec<(ExprId, Vec<SymId>)> =
                facts.iter().map(|&f| (f, execution.terms.symbols_of(f).into_iter().collect())).collect();
            let mut reached: FxHashSet<SymId> = execution.terms.symbols_of(cond).into_iter().collect();
            let mut related: FxHashSet<ExprId> = FxHashSet::default();
            loop {
                let before = related.len();
                for (fact, of) in &symbols {
                    if !related.contains(fact) && of.iter().any(|s| reached.contains(s)) {
                        related.insert(*fact);
                        reached.extend(of);
                    }
                }
                if related.len() == before {
                    break;
                }
            }
            facts.retain(|f| related.contains(f));
            facts.push(cond);
        }
        let mut solver = self.follower.cpa.symbolic().solvers.open();
        match solver.check(&self.follower.cpa.symbolic().execution.terms, &facts, self.follower.budget) {
            Answer::Unsat => {
                let core = solver.unsat_core();
                Some(core.into_iter().filter_map(|fact| origins.get(&fact).copied()).collect())
            }
            _ => None,
        }
    }

    fn is_branch(&self, edge: EdgeId) -> bool {
        matches!(self.follower.cpa.symbolic().execution.program.edges[edge].op, Op::Assume { .. })
    }

    /// The value of the condition of an assume edge.
    fn condition(&mut self, st: &C::State, edge: EdgeId) -> Option<Val> {
        let execution = &mut self.follower.cpa.symbolic_mut().execution;
        let Op::Assume { cond, .. } = execution.program.edges[edge].op else { return None };
        Some(execution.eval(st, cond))
    }

    /// The variables in the condition of an assume edge whose values are unknown.
    fn unknown(&mut self, st: &C::State, edge: EdgeId) -> Option<Vec<VarId>> {
        let Op::Assume { cond, .. } = self.follower.cpa.symbolic().execution.program.edges[edge].op else {
            return None;
        };
        let vars = self.vars(cond);
        let is_unknown = |v: &&VarId| self.follower.cpa.symbolic().execution.read_var(st, **v) == Val::Unknown;
        Some(vars.iter().filter(is_unknown).copied().collect())
    }

    /// The data flow of an operation; `None` if it cannot be determined.
    fn flow(&mut self, st: &mut C::State, edge: EdgeId, next: Option<EdgeId>) -> Option<Flow> {
        let program = self.follower.cpa.symbolic().execution.program;
        let plain = |gives| Some(Flow { gives, decided_by: Vec::new() });
        let is_shadow = matches!(program.edges[edge].op, Op::Shadow(_));
        match program.edges[edge].op.unshadowed() {
            &Op::Assume { cond, .. } => {
                let decided_by = self.uses(st, cond);
                Some(Flow { gives: Gives::Nothing, decided_by })
            }
            &Op::Assign { var, value } => {
                let from = self.uses(st, value);
                plain(Gives::Vars(vec![(self.cell(st, var), from)]))
            }
            &Op::Havoc { var, .. } | &Op::Alloc { var, .. } => {
                plain(Gives::Vars(vec![(self.cell(st, var), Vec::new())]))
            }
            &Op::ObjectSize { var, ptr, .. } | &Op::ObjectOffset { var, ptr, .. } => {
                let from = self.uses(st, ptr);
                plain(Gives::Vars(vec![(self.cell(st, var), from)]))
            }
            &Op::Load { var, addr } => {
                let len = program.vars[var].width.div_ceil(8);
                let mut from = self.uses(st, addr);
                let (cells, _) = self.content(st, addr, Some(u64::from(len)), is_shadow)?;
                from.extend(cells);
                plain(Gives::Vars(vec![(self.cell(st, var), from)]))
            }
            &Op::Store { addr, value } => {
                let len = program.exprs.width(value).div_ceil(8);
                let (from, place) = (self.uses(st, value), self.uses(st, addr));
                let (cells, objects) = self.content(st, addr, Some(u64::from(len)), is_shadow)?;
                // A value smaller than a part leaves the rest of the part unchanged.
                let replaces = objects.len() == 1 && u64::from(len) % crate::semantics::PART == 0;
                plain(Gives::Content { cells, objects, replaces, from, place })
            }
            &Op::Copy { dst, src, len } => {
                let bytes = self.number(st, len);
                let (mut from, _) = self.content(st, src, bytes, is_shadow)?;
                from.extend(self.uses(st, src));
                let mut place = self.uses(st, dst);
                place.extend(self.uses(st, len));
                let (cells, objects) = self.content(st, dst, bytes, is_shadow)?;
                plain(Gives::Content { cells, objects, replaces: false, from, place })
            }
            &Op::Fill { dst, byte, len } => {
                let bytes = self.number(st, len);
                let from = self.uses(st, byte);
                let mut place = self.uses(st, dst);
                place.extend(self.uses(st, len));
                let (cells, objects) = self.content(st, dst, bytes, is_shadow)?;
                plain(Gives::Content { cells, objects, replaces: false, from, place })
            }
            Op::Call { callee, args, varargs, .. } => {
                let func = match callee {
                    Callee::Direct(func) => *func,
                    Callee::Indirect(_) => program.func_of(next?),
                };
                let function = &program.funcs[func];
                let depth = Some(st.frame.depth + 1);
                let mut vars = Vec::new();
                let given = function.params.iter().zip(args.iter()).chain(function.varargs.iter().zip(varargs));
                for (&param, &arg) in given {
                    vars.push((Cell::Var(depth, param), self.uses(st, arg)));
                }
                plain(Gives::Vars(vars))
            }
            Op::Return { value } => {
                let call = st.frame.call?;
                let Op::Call { result, .. } = program.edges[call].op else { return None };
                let (Some(var), Some(value)) = (result, *value) else { return plain(Gives::Nothing) };
                let from = self.uses(st, value);
                let depth = st.frame.depth.checked_sub(1)?;
                plain(Gives::Vars(vec![(Self::cell_at(program, depth, var), from)]))
            }
            Op::Skip
            | Op::Free { .. }
            | Op::Leak(_)
            | Op::Shadow(_)
            | Op::Approx { .. }
            | Op::Halt(_)
            | Op::Error(_) => plain(Gives::Nothing),
        }
    }

    /// The values in all operands of an operation.
    fn operands(&mut self, st: &C::State, edge: EdgeId) -> Vec<Cell> {
        let program = self.follower.cpa.symbolic().execution.program;
        let mut operands = Vec::new();
        program.edges[edge].op.for_each_expr(|e| operands.push(e));
        operands.into_iter().flat_map(|e| self.uses(st, e)).collect()
    }

    fn cell_at(program: &cfa::Program, depth: u32, var: VarId) -> Cell {
        match program.vars[var].kind {
            VarKind::Global { .. } => Cell::Var(None, var),
            _ => Cell::Var(Some(depth), var),
        }
    }

    fn cell(&self, st: &C::State, var: VarId) -> Cell {
        Self::cell_at(self.follower.cpa.symbolic().execution.program, st.frame.depth, var)
    }

    fn vars(&mut self, e: ExprId) -> Rc<[VarId]> {
        let terms = &self.follower.cpa.symbolic().execution.terms;
        Rc::clone(self.vars.entry(e).or_insert_with(|| terms.vars(e).into()))
    }

    /// A minimal set of numbers that determines the value of `e`. Of several such sets, it prefers one without
    /// variables that loops modify.
    fn uses(&mut self, st: &C::State, e: ExprId) -> Vec<Cell> {
        let vars = self.vars(e);
        let execution = &mut self.follower.cpa.symbolic_mut().execution;
        let is_number = |v: &VarId| matches!(execution.read_var(st, *v), Val::Int(_) | Val::Expr(_));
        let mut vars: Vec<VarId> = vars.iter().copied().filter(is_number).collect();
        if vars.len() > 1
            && !execution.mode.names_unknowns
            && let value @ Val::Int(_) = execution.eval(st, e)
        {
            let mut less = st.clone();
            let mut all = vars.clone();
            all.sort_by_key(|v| !self.changing.contains(v));
            for var in all {
                let known = execution.read_var(&less, var);
                execution.write_var(&mut less, var, Val::Unknown);
                match execution.eval(&less, e) == value {
                    true => vars.retain(|&v| v != var),
                    false => execution.write_var(&mut less, var, known),
                }
            }
        }
        vars.into_iter().map(|v| self.cell(st, v)).collect()
    }

    fn number(&mut self, st: &C::State, e: ExprId) -> Option<u64> {
        match self.follower.cpa.symbolic_mut().execution.eval(st, e) {
            Val::Int(v) => Some(v),
            _ => None,
        }
    }

    /// The cells at an address, over `len` bytes or over all of the object, and the objects that may contain them. If
    /// `is_shadow`, the cells of their shadows.
    fn content(
        &mut self,
        st: &C::State,
        addr: ExprId,
        len: Option<u64>,
        is_shadow: bool,
    ) -> Option<(Vec<Cell>, Vec<ObjId>)> {
        let execution = &mut self.follower.cpa.symbolic_mut().execution;
        let of = |object: ObjId| if is_shadow { object.shadow() } else { object };
        match execution.eval(st, addr) {
            Val::Ptr(object, offset) => {
                let object = of(object);
                let o = st.memory.get(object)?;
                let parts = match len {
                    Some(len) => o.parts_at(offset, len),
                    None => o.known_parts(),
                };
                Some((parts.into_iter().map(|part| Cell::Memory(object, o.origin, part)).collect(), vec![object]))
            }
            Val::Expr(e) => {
                let objects: Vec<ObjId> = execution.terms.bases_in(e).into_iter().map(of).collect();
                let mut cells = Vec::new();
                for &object in &objects {
                    let Some(o) = st.memory.get(object) else { continue };
                    cells.extend(o.known_parts().into_iter().map(|part| Cell::Memory(object, o.origin, part)));
                }
                (!objects.is_empty()).then_some((cells, objects))
            }
            Val::Int(_) | Val::Unset | Val::Unknown => None,
        }
    }
}
