//! Restricts a program to the paths that a condition does not cover.
//!
//! The result is the parallel composition of the program and the condition (ParComp: Beyer, Jakobs, Lemberger,
//! Wehrheim: Reducer-based construction of conditional verifiers, ICSE 2018), written as a program, so every analysis
//! can verify it. Where the condition accepts, paths end as if by a false assumption. Where it has no transition,
//! nothing is covered any more, and the code of the program follows.
//!
//! A function that is called in a state of the condition becomes a copy for this state, unless the state does not
//! change during the call. A global variable records the state in which a copy is left, and it is tested after the
//! call. The original functions keep their ids and addresses. Inputs and allocations keep their order. So the inputs of
//! a run are also inputs of the same run of the original program.

mod contents;
mod states;

use crate::condition::{Condition, StateId};
use cfa::{
    CType, CallGraph, Callee, Check, EdgeId, ErrorInfo, Expr, ExprId, FuncId, HaltKind, Id, LocId, Op, Out, Program,
    Table, Var, VarId, VarKind,
};
use rustc_hash::{FxHashMap, FxHashSet};
use states::{COVERED, Interest, SetId, Sets};
use std::collections::hash_map::Entry;

/// The maximal number of edges of a restricted program, in addition to those of the original.
pub const MOST_EDGES: usize = 2_000_000;

/// The error that the restricted program would have too many edges.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooLarge;

impl std::fmt::Display for TooLarge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the residual program has more than {MOST_EDGES} edges")
    }
}

impl std::error::Error for TooLarge {}

/// The paths of `program` that `condition` does not cover, as a program. Fails if it is too large.
pub fn restrict(program: &Program, condition: &Condition) -> Result<Program, TooLarge> {
    restrict_with_map(program, condition).map(|restricted| restricted.program)
}

/// A restricted program with its map to the original. Entities without an original belong to the composition: they test
/// assumptions and exits of copies, or end covered paths.
pub struct Restricted {
    /// The restricted program.
    pub program: Program,
    /// By location, the original location.
    pub locs: Table<LocId, Option<LocId>>,
    /// By edge, the original edge.
    pub edges: Table<EdgeId, Option<EdgeId>>,
    /// By function, the original function.
    pub funcs: Table<FuncId, FuncId>,
    /// By variable, the original variable.
    pub vars: Table<VarId, Option<VarId>>,
}

impl Restricted {
    /// The reachable edges that do not lead directly to the end of a covered path, with their original edges.
    pub fn left(&self) -> Vec<(EdgeId, EdgeId)> {
        let program = &self.program;
        let is_left = |edge: EdgeId| match (&program.edges[edge].op, program.locs[program.edges[edge].target].out) {
            // A call is executed even if its return is covered or unreachable.
            (Op::Call { .. }, _) => true,
            (_, Out::One(next)) => self.edges[next].is_some() || program.edges[next].op != Op::Halt(HaltKind::Assumed),
            _ => true,
        };
        let reached = reached(program);
        let edges = self.edges.iter().filter_map(|(new, old)| Some((new, (*old)?)));
        edges.filter(|&(new, _)| reached[program.edges[new].source.index()] && is_left(new)).collect()
    }
}

/// Records that an edge of a program represents the edge `old` of `original`, and gives it the place, the fault and the
/// origin of that edge.
pub(crate) fn inherit(
    out: &mut Program,
    edges: &mut Table<EdgeId, Option<EdgeId>>,
    new: EdgeId,
    original: &Program,
    old: EdgeId,
) {
    edges.extend_to(new.index() + 1, None);
    edges[new] = Some(old);
    let (old, new) = (&original.edges[old], &mut out.edges[new]);
    (new.place, new.fault, new.origin) = (old.place, old.fault, old.origin.clone());
}

/// By location, true if control can reach it. The location after a call is reachable only if a callee can return.
fn reached(program: &Program) -> Vec<bool> {
    let calls = CallGraph::new(program);
    let mut reached = vec![false; program.locs.len()];
    let mut returns = vec![false; program.funcs.len()];
    // The locations after calls of each function that is not known to return.
    let mut waiting: FxHashMap<FuncId, Vec<LocId>> = FxHashMap::default();
    let mut todo = vec![program.funcs[program.entry].entry];
    while let Some(loc) = todo.pop() {
        if std::mem::replace(&mut reached[loc.index()], true) {
            continue;
        }
        for id in program.out_edges(loc) {
            let edge = &program.edges[id];
            match &edge.op {
                Op::Call { .. } => {
                    for &func in calls.callees(program, id).as_slice() {
                        todo.push(program.funcs[func].entry);
                        match returns[func.index()] {
                            true => todo.push(edge.target),
                            false => waiting.entry(func).or_default().push(edge.target),
                        }
                    }
                }
                Op::Return { .. } => {
                    let func = program.locs[loc].func;
                    returns[func.index()] = true;
                    todo.extend(waiting.remove(&func).into_iter().flatten());
                }
                Op::Halt(_) | Op::Error(_) => {}
                _ => todo.push(edge.target),
            }
        }
    }
    reached
}

/// Like [`restrict`], but also returns the map to the original.
pub fn restrict_with_map(program: &Program, condition: &Condition) -> Result<Restricted, TooLarge> {
    composition(program, condition).map(Restricted::with_loads)
}

/// Like [`restrict_with_map`], but branches may have conditions on memory contents.
pub(crate) fn composition(program: &Program, condition: &Condition) -> Result<Restricted, TooLarge> {
    composition_ending(program, condition, Op::Halt(HaltKind::Assumed))
}

/// The program with an error where `condition` accepts, and no other error edge. Other errors become false assumptions.
/// Faulting operations keep their errors.
pub(crate) fn question(program: &Program, condition: &Condition) -> Result<Program, TooLarge> {
    let mut program = program.clone();
    let accepted = ErrorInfo { check: Check::Call, message: "the automaton accepts".into(), place: None };
    let accepted = program.errors.push(accepted);
    let mut asked = composition_ending(&program, condition, Op::Error(accepted))?;
    for (_, edge) in asked.program.edges.iter_mut() {
        if matches!(edge.op, Op::Error(error) if error != accepted) {
            edge.op = Op::Halt(HaltKind::Assumed);
        }
    }
    Ok(asked.with_loads().program)
}

/// Like [`composition`], with `end` as the operation that ends covered paths.
fn composition_ending(program: &Program, condition: &Condition, end: Op) -> Result<Restricted, TooLarge> {
    let calls = CallGraph::new(program);
    let mut b = Builder {
        program,
        condition,
        out: program.clone(),
        sets: Sets::new(condition),
        copies: Vec::new(),
        by_key: FxHashMap::default(),
        sites: Vec::new(),
        todo: Vec::new(),
        interest: Interest::new(program, condition, &calls),
        calls: &calls,
        edges: program.edges.ids().map(Some).collect(),
        end,
    };
    let start = b.sets.intern(vec![condition.initial]);
    let entry = b.copy(program.entry, start);
    while let Some((copy, loc, set)) = b.todo.pop() {
        if b.out.edges.len() > program.edges.len() + MOST_EDGES {
            return Err(TooLarge);
        }
        b.expand(copy, loc, set);
    }
    b.finish();
    b.out.entry = b.copies[entry].new;
    Ok(b.with_map())
}

/// Like [`restrict_with_map`], but uses less of the condition if the program would have too many edges.
pub fn restrict_as_far_as_possible(program: &Program, condition: &Condition) -> Restricted {
    composition_as_far_as_possible(program, condition).with_loads()
}

pub(crate) fn composition_as_far_as_possible(program: &Program, condition: &Condition) -> Restricted {
    let mut states = condition.states.len();
    let mut used = condition.clone();
    loop {
        match composition(program, &used) {
            Ok(restricted) => return restricted,
            // With a single state, only the program itself remains.
            Err(TooLarge) => {
                states /= 4;
                used = condition.truncated(states.max(1));
            }
        }
    }
}

/// A copy of a function for calls in certain states.
struct Copy {
    func: FuncId,
    new: FuncId,
    vars: FxHashMap<VarId, VarId>,
    memo: FxHashMap<ExprId, ExprId>,
    locs: FxHashMap<(LocId, SetId), LocId>,
    /// The returns of the copy: the location, the original edge, and the states after it.
    returns: Vec<(LocId, EdgeId, SetId)>,
    /// The distinct sets of states after returns.
    exits: Vec<SetId>,
    /// The indices of the calls of the copy.
    sites: Vec<usize>,
}

/// A call of a copy.
struct Site {
    caller: usize,
    callee: usize,
    /// The location after the call: in the new program, and in the original.
    after: LocId,
    target: LocId,
}

/// The restricted program under construction.
struct Builder<'a> {
    program: &'a Program,
    condition: &'a Condition,
    out: Program,
    sets: Sets<'a>,
    copies: Vec<Copy>,
    by_key: FxHashMap<(FuncId, SetId), usize>,
    sites: Vec<Site>,
    todo: Vec<(usize, LocId, SetId)>,
    interest: Interest,
    calls: &'a CallGraph,
    /// By edge, the original edge.
    edges: Table<EdgeId, Option<EdgeId>>,
    /// The operation that ends covered paths.
    end: Op,
}

impl Builder<'_> {
    /// The copy of a function for calls in these states, created on demand.
    fn copy(&mut self, func: FuncId, set: SetId) -> usize {
        if let Some(&copy) = self.by_key.get(&(func, set)) {
            return copy;
        }
        let original = &self.program.funcs[func];
        let new = self.out.add_function(&original.name, original.return_type, original.return_width);
        let entry = self.out.funcs[new].entry;
        let id = self.copies.len();
        self.by_key.insert((func, set), id);
        self.copies.push(Copy {
            func,
            new,
            vars: FxHashMap::default(),
            memo: FxHashMap::default(),
            locs: FxHashMap::default(),
            returns: Vec::new(),
            exits: Vec::new(),
            sites: Vec::new(),
        });
        let params = original.params.iter().map(|&v| self.var(id, v)).collect();
        let varargs = original.varargs.map(|v| self.var(id, v));
        let made = &mut self.out.funcs[new];
        (made.params, made.varargs, made.place, made.origin) = (params, varargs, original.place, original.origin);
        if set == COVERED {
            self.covered(entry, new);
        } else {
            self.copies[id].locs.insert((original.entry, set), entry);
            self.todo.push((id, original.entry, set));
        }
        id
    }

    /// The variable in a copy that represents a variable of the original.
    fn var(&mut self, copy: usize, var: VarId) -> VarId {
        let original = &self.program.vars[var];
        if original.func() != Some(self.copies[copy].func) {
            return var;
        }
        let new = self.copies[copy].new;
        *self.copies[copy].vars.entry(var).or_insert_with(|| {
            let kind = match original.kind {
                VarKind::Param(_) => VarKind::Param(new),
                VarKind::Local(_) => VarKind::Local(new),
                VarKind::Temp(_) => VarKind::Temp(new),
                VarKind::Global { .. } => unreachable!("a variable of a function"),
            };
            self.out.vars.push(Var { kind, ..original.clone() })
        })
    }

    fn expr(&mut self, copy: usize, e: ExprId) -> ExprId {
        let mut vars = Vec::new();
        self.program.exprs.visit(e, &mut FxHashSet::default(), |_, node| {
            if let Expr::Var(v) = *node {
                vars.push(v);
            }
        });
        for v in vars {
            self.var(copy, v);
        }
        let Copy { vars, memo, .. } = &mut self.copies[copy];
        self.out.exprs.substitute(e, memo, |pool, leaf| {
            let Expr::Var(v) = *pool.get(leaf) else { return None };
            let &new = vars.get(&v)?;
            let width = pool.width(leaf);
            Some(pool.var(new, width))
        })
    }

    fn op(&mut self, copy: usize, edge: EdgeId) -> Op {
        let mut op = self.program.edges[edge].op.clone();
        op.for_each_expr_mut(|e| *e = self.expr(copy, *e));
        if let Some(var) = op.def_mut() {
            *var = self.var(copy, *var);
        }
        op
    }

    /// The location in a copy that represents an original location in certain states, created on demand.
    fn loc(&mut self, copy: usize, loc: LocId, set: SetId) -> LocId {
        let Copy { new, locs, .. } = &mut self.copies[copy];
        match locs.entry((loc, set)) {
            Entry::Occupied(found) => *found.get(),
            Entry::Vacant(entry) => {
                let found = *entry.insert(self.out.add_location(*new));
                if set == COVERED {
                    let func = *new;
                    self.covered(found, func);
                } else {
                    self.todo.push((copy, loc, set));
                }
                found
            }
        }
    }

    /// Ends a covered path at the location.
    fn covered(&mut self, loc: LocId, func: FuncId) {
        let (sink, end) = (self.out.add_location(func), self.end.clone());
        self.out.add_edge(loc, end, sink, None);
    }

    /// Ends execution at the location, as by a false assumption.
    fn assumed(&mut self, loc: LocId, func: FuncId) {
        let sink = self.out.add_location(func);
        self.out.add_edge(loc, Op::Halt(HaltKind::Assumed), sink, None);
    }

    /// The location after an edge within a function.
    fn after(&mut self, copy: usize, edge: EdgeId, set: SetId) -> LocId {
        let (always, assuming) = self.sets.step(set, edge);
        self.assuming(copy, self.program.edges[edge].target, always, &assuming)
    }

    /// Like [`loc`](Self::loc), for these states together with those of `more` whose assumptions hold.
    fn assuming(&mut self, copy: usize, loc: LocId, mut states: Vec<StateId>, more: &[(ExprId, StateId)]) -> LocId {
        let Some((&(assumption, q), rest)) = more.split_first() else {
            let set = self.sets.intern(states);
            return self.loc(copy, loc, set);
        };
        let known = self.program.exprs.vars(assumption).iter().all(|&v| {
            let func = self.program.vars[v].func();
            func.is_none_or(|f| f == self.copies[copy].func)
        });
        if !known || self.sets.condition.states[q] == Default::default() {
            return self.assuming(copy, loc, states, rest);
        }
        let no = self.assuming(copy, loc, states.clone(), rest);
        states.push(q);
        let yes = self.assuming(copy, loc, states, rest);
        let cond = self.expr(copy, assumption);
        if self.out.exprs.as_const(cond).is_some() {
            return if self.out.exprs.is_true(cond) { yes } else { no };
        }
        let here = self.out.add_location(self.copies[copy].new);
        self.out.add_branch(here, cond, yes, no, None);
        here
    }

    /// Creates the outgoing edges of a location.
    fn expand(&mut self, copy: usize, loc: LocId, set: SetId) {
        let source = self.copies[copy].locs[&(loc, set)];
        match self.program.locs[loc].out {
            Out::Sink => {}
            Out::Branch { then_edge, else_edge } => {
                let Op::Assume { cond, .. } = self.program.edges[then_edge].op else { unreachable!("an assume edge") };
                let cond = self.expr(copy, cond);
                let then_target = self.after(copy, then_edge, set);
                let else_target = self.after(copy, else_edge, set);
                let place = self.program.edges[then_edge].place;
                let made = self.out.add_branch(source, cond, then_target, else_target, place);
                for (new, old) in [(made.0, then_edge), (made.1, else_edge)] {
                    self.inherit(new, old);
                    if let Op::Assume { means, .. } = self.program.edges[old].op {
                        self.out.set_meaning(new, means);
                    }
                }
            }
            Out::One(edge) => match self.program.edges[edge].op {
                Op::Call { callee, .. } => self.call(copy, source, edge, callee, set),
                Op::Return { .. } => self.returns(copy, source, edge, set),
                Op::Halt(_) | Op::Error(_) => {
                    // There is no continuation, so only the edge itself can be covered.
                    let covered = self.sets.step(set, edge).0;
                    if self.sets.intern(covered) == COVERED {
                        let new = self.copies[copy].new;
                        return self.covered(source, new);
                    }
                    let sink = self.out.add_location(self.copies[copy].new);
                    let op = self.op(copy, edge);
                    self.edge(source, op, sink, edge);
                }
                _ => {
                    let op = self.op(copy, edge);
                    let target = self.after(copy, edge, set);
                    self.edge(source, op, target, edge);
                }
            },
        }
    }

    fn edge(&mut self, source: LocId, op: Op, target: LocId, old: EdgeId) {
        let new = self.out.add_edge(source, op, target, None);
        self.inherit(new, old);
    }

    fn inherit(&mut self, new: EdgeId, old: EdgeId) {
        inherit(&mut self.out, &mut self.edges, new, self.program, old);
    }

    fn returns(&mut self, copy: usize, source: LocId, edge: EdgeId, set: SetId) {
        // Assumptions at returns are ignored, because they refer to the caller's frame.
        let (states, _) = self.sets.step(set, edge);
        let exit = self.sets.intern(states);
        if exit == COVERED {
            let new = self.copies[copy].new;
            return self.covered(source, new);
        }
        self.copies[copy].returns.push((source, edge, exit));
        if !self.copies[copy].exits.contains(&exit) {
            self.copies[copy].exits.push(exit);
            for site in self.copies[copy].sites.clone() {
                let (caller, target) = (self.sites[site].caller, self.sites[site].target);
                self.loc(caller, target, exit);
            }
        }
    }

    fn call(&mut self, copy: usize, source: LocId, edge: EdgeId, callee: Callee, set: SetId) {
        let (states, _) = self.sets.step(set, edge);
        let inside = self.sets.intern(states);
        if inside == COVERED {
            let new = self.copies[copy].new;
            return self.covered(source, new);
        }
        let target = self.program.edges[edge].target;
        let op = self.op(copy, edge);
        let states = self.sets.sets[inside.0 as usize].clone();
        let mut here = source;
        match callee {
            Callee::Direct(func) => {
                if !self.interest.is_blind(&states, func) {
                    return self.call_of_copy(copy, here, edge, op, func, inside);
                }
            }
            Callee::Indirect(_) => {
                let Op::Call { callee: Callee::Indirect(pointer), .. } = op else { unreachable!("a call") };
                for func in self.calls.callees(self.program, edge).as_slice().to_vec() {
                    if self.interest.is_blind(&states, func) {
                        continue;
                    }
                    let width = self.program.layout.pointer_width;
                    let addr = self.out.exprs.func_addr(func, width);
                    let is_this = self.out.exprs.eq(pointer, addr);
                    if self.out.exprs.is_false(is_this) {
                        continue;
                    }
                    let new = self.copies[copy].new;
                    let (yes, no) = (self.out.add_location(new), self.out.add_location(new));
                    match self.out.exprs.is_true(is_this) {
                        true => drop(self.out.add_edge(here, Op::Skip, yes, None)),
                        false => drop(self.out.add_branch(here, is_this, yes, no, None)),
                    }
                    let mut op = op.clone();
                    if let Op::Call { callee, .. } = &mut op {
                        *callee = Callee::Direct(func);
                    }
                    self.call_of_copy(copy, yes, edge, op, func, inside);
                    here = no;
                }
            }
        }
        let after = self.loc(copy, target, inside);
        self.edge(here, op, after, edge);
    }

    /// A call of the copy of a function for these states.
    fn call_of_copy(&mut self, caller: usize, source: LocId, edge: EdgeId, mut op: Op, func: FuncId, inside: SetId) {
        let callee = self.copy(func, inside);
        if let Op::Call { callee: of, .. } = &mut op {
            *of = Callee::Direct(self.copies[callee].new);
        }
        let after = self.out.add_location(self.copies[caller].new);
        self.edge(source, op, after, edge);
        let target = self.program.edges[edge].target;
        self.copies[callee].sites.push(self.sites.len());
        self.sites.push(Site { caller, callee, after, target });
        for exit in self.copies[callee].exits.clone() {
            self.loc(caller, target, exit);
        }
    }

    fn with_map(mut self) -> Restricted {
        self.edges.extend_to(self.out.edges.len(), None);
        let mut locs: Table<LocId, Option<LocId>> = self.program.locs.ids().map(Some).collect();
        let mut funcs: Table<FuncId, FuncId> = self.program.funcs.ids().collect();
        let mut vars: Table<VarId, Option<VarId>> = self.program.vars.ids().map(Some).collect();
        locs.extend_to(self.out.locs.len(), None);
        vars.extend_to(self.out.vars.len(), None);
        for copy in &self.copies {
            debug_assert_eq!(funcs.next_id(), copy.new);
            funcs.push(copy.func);
            for (&(loc, set), &new) in &copy.locs {
                locs[new] = (set != COVERED).then_some(loc);
            }
            for (&old, &new) in &copy.vars {
                vars[new] = Some(old);
            }
        }
        Restricted { program: self.out, locs, edges: self.edges, funcs, vars }
    }

    /// Creates the returns of all copies, and the tests of their exits after calls.
    fn finish(&mut self) {
        let mut exit_var = None;
        for copy in 0..self.copies.len() {
            let returns = std::mem::take(&mut self.copies[copy].returns);
            let exits = self.copies[copy].exits.clone();
            for (mut source, edge, exit) in returns {
                if exits.len() > 1 {
                    let var = *exit_var.get_or_insert_with(|| add_exit_variable(&mut self.out));
                    let number = exits.iter().position(|&e| e == exit).expect("an exit of the copy");
                    let value = self.out.exprs.int(EXIT_WIDTH, number as u64);
                    let before = self.out.add_location(self.copies[copy].new);
                    self.out.add_edge(source, Op::Assign { var, value }, before, None);
                    source = before;
                }
                let op = self.op(copy, edge);
                let sink = self.out.add_location(self.copies[copy].new);
                self.edge(source, op, sink, edge);
            }
        }
        for site in std::mem::take(&mut self.sites) {
            let exits = self.copies[site.callee].exits.clone();
            let func = self.copies[site.caller].new;
            let Some((&last, others)) = exits.split_last() else {
                self.assumed(site.after, func);
                continue;
            };
            let mut here = site.after;
            for (number, &exit) in others.iter().enumerate() {
                let var = exit_var.expect("a function that is left in several ways says how");
                let (var, number) = (self.out.var_expr(var), self.out.exprs.int(EXIT_WIDTH, number as u64));
                let is_this = self.out.exprs.eq(var, number);
                let yes = self.copies[site.caller].locs[&(site.target, exit)];
                let no = self.out.add_location(func);
                self.out.add_branch(here, is_this, yes, no, None);
                here = no;
            }
            let to = self.copies[site.caller].locs[&(site.target, last)];
            self.out.add_edge(here, Op::Skip, to, None);
        }
        debug_assert!(self.condition.states.get(self.condition.initial).is_some());
    }
}

const EXIT_WIDTH: u32 = 32;

/// Adds the variable that records the exit of the last copy.
fn add_exit_variable(out: &mut Program) -> VarId {
    let ty = out.types.push(CType::Int { name: "unsigned int".into(), width: EXIT_WIDTH, signed: false });
    let zero = out.exprs.int(EXIT_WIDTH, 0);
    let kind = VarKind::Global { init: Some(zero) };
    out.vars.push(Var { name: None, ty, width: EXIT_WIDTH, kind, place: None })
}
