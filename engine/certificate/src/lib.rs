//! Certificates of correctness, and an independent checker. It shares nothing with the analyses except the terms and a
//! solver.
//!
//! A [`Certificate`] contains invariants of loop heads, and contracts of recursive functions. The checker interprets
//! the control-flow automata once, in reverse post-order, by strongest postconditions. It merges paths that join into
//! one formula and inlines calls. At every *cut point*, that is, at loop heads and calls of recursive functions, it
//! proves that the condition follows, makes unknown what may change, and continues with the condition alone (Floyd:
//! Assigning meanings to programs, 1967; Hoare's rule for recursion). It proves that error edges are unreachable.
//!
//! The checker also checks effects on memory. A certificate lists the objects that a loop writes, and the pointers that
//! leave their objects in it ([`Frame`]). All other objects stay unchanged. A write that the certificate does not list
//! ends the check.
//!
//! The modules: `walk` interprets functions and loops, `step` operations, `access` pointers and memory accesses,
//! and `content` contents of objects. `cells` handles facts about all cells of arrays, and `claim` queries to the
//! solver.
//!
//! If the checker cannot decide, it *declines* the certificate with a reason. A confirmed proof is correct; a declined
//! proof may be correct. A proof is *refuted* if the checker has found a state that contradicts it.

#![warn(missing_docs)]

mod access;
mod cells;
mod claim;
mod content;
mod step;
mod walk;

use cfa::graph::CfaGraphs;
use cfa::loops::LoopForest;
use cfa::{
    CallGraph, EdgeId, Expr, ExprId, ExprPool, Family, FuncId, GlobalId, Id, LocId, Program, Sort, VarId, VarKind,
};
use content::Contents;
use rustc_hash::{FxHashMap, FxHashSet};
use smt::Backend;
use smt::budget::Budget;
use std::collections::BTreeMap;
use std::rc::Rc;

/// The reason why a program is safe: conditions at locations, which are inductive together.
#[derive(Clone)]
pub struct Certificate {
    /// The program's expressions and those of the certificate.
    pub pool: ExprPool,
    /// Conditions over globals and the variables of the function, at loop heads. A missing entry stands for no
    /// condition.
    pub heads: FxHashMap<LocId, Vec<ExprId>>,
    /// Facts about all cells of arrays, at loop heads.
    pub cells: FxHashMap<LocId, Vec<CellFact>>,
    /// The effect of loops (by head) and recursive functions (by entry) on memory. Without an entry, all memory may
    /// change.
    pub frames: FxHashMap<LocId, Frame>,
    /// The contracts of recursive functions.
    pub contracts: FxHashMap<FuncId, CertifiedContract>,
    /// The number of loop iterations in the induction step.
    pub iterations: u32,
    /// True if the proof uses only the conditions over variables in this certificate. Only such a proof can be refuted
    /// by a violated condition.
    pub of_variables: bool,
}

impl std::fmt::Debug for Certificate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Certificate {{ {} heads, {} contracts }}", self.heads.len(), self.contracts.len())
    }
}

impl Certificate {
    /// A certificate without conditions, which asks the checker to explore all executions.
    pub fn followed(program: &Program) -> Self {
        let mut all = Self::new(program.exprs.clone());
        let frame = Frame { followed: true, ..Frame::default() };
        for (_, graph) in CfaGraphs::new(program).funcs.iter() {
            let heads = LoopForest::new(&graph.graph, 0)
                .loops()
                .iter()
                .map(|l| graph.locs[l.head as usize])
                .collect::<Vec<_>>();
            all.frames.extend(heads.into_iter().chain(graph.locs.first().copied()).map(|at| (at, frame.clone())));
        }
        all
    }

    /// A certificate without conditions.
    pub fn new(pool: ExprPool) -> Self {
        Self {
            pool,
            heads: FxHashMap::default(),
            cells: FxHashMap::default(),
            frames: FxHashMap::default(),
            contracts: FxHashMap::default(),
            iterations: 1,
            of_variables: true,
        }
    }
}

/// The contract of a recursive function.
#[derive(Clone, Default, Debug)]
pub struct CertifiedContract {
    /// Preconditions over parameters and globals.
    pub requires: Vec<ExprId>,
    /// Postconditions. Variables represent their values at the entry; the symbols in `result` and `after` represent the
    /// values at the return.
    pub ensures: Vec<ExprId>,
    /// The symbol for the return value.
    pub result: Option<ExprId>,
    /// Globals with the symbols for their values at the return.
    pub after: Vec<(VarId, ExprId)>,
}

/// The effect of a loop or a recursion on the objects and pointers that existed at its entry.
#[derive(Clone, Default, Debug)]
pub struct Frame {
    /// The objects that it writes.
    pub written: FxHashSet<Site>,
    /// Pointers that may leave the object to which they pointed at the entry.
    pub roaming: FxHashSet<VarId>,
    /// True if it ends after a few iterations, and is unrolled instead of summarized.
    pub followed: bool,
}

/// The origin of an object.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Site {
    /// A global object.
    Global(GlobalId),
    /// The edge that allocates the object.
    Alloc(EdgeId),
}

/// A condition on all cells with an index from `low` (inclusive) to `high` (exclusive), both signed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CellFact {
    /// The cells that occur in the condition, one row for each.
    pub rows: Vec<Row>,
    /// The symbol for the index, of pointer width.
    pub index: ExprId,
    /// The lower bound: an expression over variables, of pointer width.
    pub low: ExprId,
    /// The upper bound: an expression over variables, of pointer width.
    pub high: ExprId,
    /// The condition: one bit, over variables, the index and the cells.
    pub body: ExprId,
}

/// Cells of an object at regular distances.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Row {
    /// A pointer into the object.
    pub base: ExprId,
    /// Offset of the first cell from the start of the object, in bytes.
    pub first: u64,
    /// Distance between consecutive cells, in bytes.
    pub stride: u64,
    /// Size of a cell, in bytes.
    pub len: u32,
    /// The symbol for the cell.
    pub cell: ExprId,
}

/// The result of checking a proof.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ProofCheck {
    /// The proof is correct.
    Confirmed,
    /// The checker cannot decide, for this reason. The proof may be correct.
    NotChecked(String),
    /// The proof is incorrect: this condition does not follow.
    Refuted(String),
}

impl std::fmt::Display for ProofCheck {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Confirmed => write!(f, "confirmed by the checker"),
            Self::NotChecked(why) => write!(f, "not checked: {why}"),
            Self::Refuted(what) => write!(f, "refuted: {what}"),
        }
    }
}

/// Checks a certificate with a solver, within the budget.
pub fn check(program: &Program, certificate: &Certificate, solvers: &smt::Choice, budget: &Budget) -> ProofCheck {
    let mut checker = Checker::new(program, certificate, solvers, budget);
    match checker.program() {
        Ok(()) => ProofCheck::Confirmed,
        Err(Failure::Declined(why)) => ProofCheck::NotChecked(why),
        Err(Failure::Refuted(what)) => ProofCheck::Refuted(what),
    }
}

/// The reason why a proof is not confirmed.
enum Failure {
    /// The checker cannot decide, for this reason.
    Declined(String),
    /// The certificate is wrong, for this reason.
    Refuted(String),
}

/// The result of a step of the check.
type Checked<T = ()> = Result<T, Failure>;

fn declined<T>(why: &str) -> Checked<T> {
    Err(Failure::Declined(why.to_owned()))
}

/// A set of executions up to a location: symbolic values of variables and memory, and a path condition over their
/// symbols.
#[derive(Clone)]
struct State {
    pc: ExprId,
    globals: Rc<Vec<ExprId>>,
    /// The locals of the current function.
    locals: Rc<Vec<ExprId>>,
    memory: Memory,
}

/// An object, by its index. Globals come first, then allocated objects in order of allocation.
type Object = u32;

/// The objects that may be alive, with their contents. Globals have no entry until an operation affects them.
type Memory = Rc<BTreeMap<Object, Slot>>;

/// The mutable properties of an object.
#[derive(Clone)]
struct Slot {
    /// One bit: true if the object is alive.
    alive: ExprId,
    content: Rc<content::Content>,
}

/// The immutable properties of an object.
struct About {
    /// The address.
    base: ExprId,
    size: ExprId,
    align: u32,
    site: Site,
    kind: ObjectKind,
    /// At the allocation: the path condition, and the memory.
    made: ExprId,
    before: Memory,
}

/// The kind of an object.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ObjectKind {
    /// A global object.
    Global { read_only: bool },
    /// A stack object of the call with this number.
    Stack(u32),
    /// A heap object of a family. Summary objects have none.
    Heap(Option<Family>),
}

/// The check of a certificate.
struct Checker<'a> {
    program: &'a Program,
    certificate: &'a Certificate,
    pool: ExprPool,
    budget: &'a Budget,
    solver: Box<dyn Backend>,
    graphs: CfaGraphs,
    calls: CallGraph,
    shapes: FxHashMap<FuncId, Rc<walk::FunctionLoops>>,
    /// Per function: the globals that it or its callees may change.
    changes: Vec<FxHashSet<VarId>>,
    /// By variable: its index among the globals, or among the locals of its function.
    index: Vec<u32>,
    globals: Vec<VarId>,
    locals: Vec<Vec<VarId>>,
    /// Symbols for values that the checker does not model.
    unmodelled: FxHashSet<ExprId>,
    /// The objects, by index; and the index by address.
    objects: Vec<About>,
    by_base: FxHashMap<ExprId, Object>,
    contents: Contents,
    facts: Vec<Rc<cells::Quantified>>,
    /// The surrounding loops and recursions.
    around: Vec<walk::Around>,
    /// Number of surrounding loops in an early iteration of the induction step, where conditions are assumed instead of
    /// proved.
    early: u32,
    /// True if a loop or recursion allocates heap objects.
    heap_in_loops: bool,
    /// The inlined calls as numbers with functions, innermost last; and the number of calls so far.
    frames: Vec<(u32, FuncId)>,
    entered: u32,
    steps: u32,
}

impl<'a> Checker<'a> {
    fn new(program: &'a Program, certificate: &'a Certificate, solvers: &smt::Choice, budget: &'a Budget) -> Self {
        let mut globals = Vec::new();
        let mut locals = vec![Vec::new(); program.funcs.len()];
        let mut index = Vec::new();
        for (id, var) in program.vars.iter() {
            let row: &mut Vec<VarId> = match var.func() {
                None => &mut globals,
                Some(func) => &mut locals[func.index()],
            };
            index.push(row.len() as u32);
            row.push(id);
        }
        let calls = CallGraph::new(program);
        Self {
            program,
            certificate,
            pool: certificate.pool.clone(),
            budget,
            solver: solvers.open(),
            graphs: CfaGraphs::new(program),
            changes: walk::changes(program, &calls),
            calls,
            shapes: FxHashMap::default(),
            index,
            globals,
            locals,
            unmodelled: FxHashSet::default(),
            objects: Vec::new(),
            by_base: FxHashMap::default(),
            contents: Contents::new(program),
            facts: Vec::new(),
            around: Vec::new(),
            early: 0,
            heap_in_loops: false,
            frames: Vec::new(),
            entered: 0,
            steps: 0,
        }
    }

    fn program(&mut self) -> Checked {
        if self.certificate.iterations == 0 {
            return declined("the number of iterations of the induction is zero");
        }
        let always = self.pool.bool(true);
        let mut state = State { pc: always, globals: Rc::default(), locals: Rc::default(), memory: Memory::default() };
        for (id, global) in self.program.globals.iter() {
            let width = self.program.layout.pointer_width;
            let (base, size) = (self.pool.global_addr(id, width), self.pool.int(width, global.size));
            let kind = ObjectKind::Global { read_only: global.read_only };
            let about = About {
                base,
                size,
                align: global.align,
                site: Site::Global(id),
                kind,
                made: always,
                before: Memory::default(),
            };
            self.by_base.insert(base, self.objects.len() as Object);
            self.objects.push(about);
        }
        let mut values = Vec::new();
        for var in self.globals.clone() {
            let value = match self.program.vars[var].kind {
                // The initial value is an expression over constants and addresses.
                VarKind::Global { init: Some(init), .. } => init,
                _ => self.fresh(self.program.vars[var].width),
            };
            values.push(value);
        }
        state.globals = Rc::new(values);
        state.locals = self.unset(self.program.entry);
        self.body(self.program.entry, state)?;
        Ok(())
    }

    fn pointer_width(&self) -> u32 {
        self.program.layout.pointer_width
    }
    /// The number of the current call.
    fn frame(&self) -> u32 {
        self.frames.last().expect("control is in a function").0
    }
    /// A constant of pointer width.
    fn word(&mut self, n: u64) -> ExprId {
        let width = self.pointer_width();
        self.pool.int(width, n)
    }
    fn fresh(&mut self, width: u32) -> ExprId {
        self.pool.fresh_symbol(Sort::Bv(width)).1
    }
    fn unknown(&mut self, width: u32) -> ExprId {
        let symbol = self.fresh(width);
        self.unmodelled.insert(symbol);
        symbol
    }
    /// Locals at the start of a frame, with arbitrary values.
    fn unset(&mut self, func: FuncId) -> Rc<Vec<ExprId>> {
        let vars = self.locals[func.index()].clone();
        Rc::new(vars.into_iter().map(|v| self.fresh(self.program.vars[v].width)).collect())
    }
    fn get(&self, st: &State, var: VarId) -> ExprId {
        let row = if self.program.vars[var].func().is_none() { &st.globals } else { &st.locals };
        row[self.index[var.index()] as usize]
    }
    fn set(&self, st: &mut State, var: VarId, value: ExprId) {
        let row = if self.program.vars[var].func().is_none() { &mut st.globals } else { &mut st.locals };
        let i = self.index[var.index()] as usize;
        if row[i] != value {
            Rc::make_mut(row)[i] = value;
        }
    }
    /// Evaluates an expression over variables and symbols of the certificate. `meaning` has the values of the symbols.
    fn eval_with(&mut self, st: &State, e: ExprId, meaning: &FxHashMap<ExprId, ExprId>) -> ExprId {
        let (index, program) = (&self.index, self.program);
        self.pool.substitute(e, &mut FxHashMap::default(), |pool, leaf| match *pool.get(leaf) {
            Expr::Var(v) => {
                let row = if program.vars[v].func().is_none() { &st.globals } else { &st.locals };
                Some(row[index[v.index()] as usize])
            }
            _ => meaning.get(&leaf).copied(),
        })
    }
    fn eval(&mut self, st: &State, e: ExprId) -> ExprId {
        self.eval_with(st, e, &FxHashMap::default())
    }
    fn all(&mut self, st: &State, conditions: &[ExprId]) -> ExprId {
        conditions.iter().fold(self.pool.bool(true), |all, &e| {
            let term = self.eval(st, e);
            self.pool.and(all, term)
        })
    }
    fn assume(&mut self, st: &mut State, holds: ExprId) {
        st.pc = self.pool.and(st.pc, holds);
    }

    /// The union of two disjoint sets of executions.
    fn join(&mut self, a: State, b: &State) -> State {
        let merge = |pool: &mut ExprPool, x: &Rc<Vec<ExprId>>, y: &Rc<Vec<ExprId>>| {
            if Rc::ptr_eq(x, y) {
                return Rc::clone(x);
            }
            let pick = |(&x, &y): (&ExprId, &ExprId)| if x == y { x } else { pool.ite(a.pc, x, y) };
            Rc::new(x.iter().zip(y.iter()).map(pick).collect())
        };
        State {
            globals: merge(&mut self.pool, &a.globals, &b.globals),
            locals: merge(&mut self.pool, &a.locals, &b.locals),
            memory: access::join_memory(self, a.pc, &a.memory, b.pc, &b.memory),
            pc: self.pool.or(a.pc, b.pc),
        }
    }
}
