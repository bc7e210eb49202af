//! Proofs, and a checker for them that shares nothing with the analyses but the terms and a solver.
//!
//! A [`Certificate`] names conditions for the heads of loops, and contracts for recursive functions. The checker walks the
//! control-flow automata once, in reverse post-order, with its own strongest postconditions: paths that meet become one
//! formula, calls are followed, and at every *cut*, that is, at loop heads and calls of recursive functions, it asks the
//! solver whether the condition follows, forgets what may change, and goes on from the condition alone (Floyd: Assigning
//! meanings to programs, 1967; Hoare's rule for recursion). An error edge must be beyond reach.
//!
//! What is written where is checked as well: a certificate says which objects a loop writes and which pointers leave their
//! objects in it ([`Frame`]); all others stay as they are, and a write that the certificate does not name is the end of the check.
//!
//! The parts: [`walk`] follows functions and loops, [`step`] says what an operation does, [`access`] where pointers lead,
//! [`content`] what objects hold, [`cells`] what is said of all cells of arrays, [`claim`] what is asked of the solver.
//!
//! Whatever the checker cannot tell it *declines*, with the reason: a proof that it confirms is one, one that it declines
//! may be one all the same. Where it says that a proof is *refuted*, it has found a state that contradicts it.

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

/// Why a program is safe: conditions that hold wherever they are said to hold, and are inductive together.
#[derive(Clone)]
pub struct Certificate {
    /// The program's expressions and those of the certificate.
    pub pool: ExprPool,
    /// Conditions over the variables of the function and globals, at heads of loops. No entry: nothing is said.
    pub heads: FxHashMap<LocId, Vec<ExprId>>,
    /// What holds there of all cells of arrays.
    pub cells: FxHashMap<LocId, Vec<CellFact>>,
    /// How loops, by head, and recursive functions, by entry, treat memory. No entry: they may change all of it.
    pub frames: FxHashMap<LocId, Frame>,
    pub contracts: FxHashMap<FuncId, CertifiedContract>,
    /// In so many iterations of loops the conditions are inductive.
    pub iterations: u32,
    /// Whether the proof rests on nothing else.
    pub of_variables: bool,
}

impl std::fmt::Debug for Certificate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Certificate {{ {} heads, {} contracts }}", self.heads.len(), self.contracts.len())
    }
}

impl Certificate {
    /// That all executions can be followed.
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

    /// Nothing is said of a program.
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

/// What holds of the calls of a recursive function.
#[derive(Clone, Default, Debug)]
pub struct CertifiedContract {
    /// At the entry, over parameters and globals.
    pub requires: Vec<ExprId>,
    /// At the return: variables stand for their values at the entry, the symbols below for those at the return.
    pub ensures: Vec<ExprId>,
    pub result: Option<ExprId>,
    pub after: Vec<(VarId, ExprId)>,
}

/// How a loop or a recursion treats what was there before.
#[derive(Clone, Default, Debug)]
pub struct Frame {
    /// The objects that it writes.
    pub written: FxHashSet<Site>,
    /// Pointers that do not stay in the object into which they pointed at the entry.
    pub roaming: FxHashSet<VarId>,
    /// It ends after a few iterations, and is followed.
    pub followed: bool,
}

/// Where an object comes from.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Site {
    Global(GlobalId),
    Alloc(EdgeId),
}

/// A condition on all cells with an index from `low` to below `high`, which are signed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CellFact {
    pub rows: Vec<Row>,
    /// The symbol that stands for the index, of the width of pointers.
    pub index: ExprId,
    /// Over variables, of the same width.
    pub low: ExprId,
    pub high: ExprId,
    /// One bit, over variables, the index and the cells.
    pub body: ExprId,
}

/// Cells of an object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Row {
    /// A pointer into the object.
    pub base: ExprId,
    /// Bytes from the start of the object to the first cell, from a cell to the next, and of a cell.
    pub first: u64,
    pub stride: u64,
    pub len: u32,
    /// The symbol that stands for the cell.
    pub cell: ExprId,
}

/// What became of the check of a proof.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ProofCheck {
    Confirmed,
    /// The checker cannot tell, for this reason. The proof may be one all the same.
    NotChecked(String),
    /// It is no proof: the condition that does not follow.
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

/// Checks a certificate within the budget, by this solver.
pub fn check(program: &Program, certificate: &Certificate, solvers: &smt::Choice, budget: &Budget) -> ProofCheck {
    let mut checker = Checker::new(program, certificate, solvers, budget);
    match checker.program() {
        Ok(()) => ProofCheck::Confirmed,
        Err(Failure::Declined(why)) => ProofCheck::NotChecked(why),
        Err(Failure::Refuted(what)) => ProofCheck::Refuted(what),
    }
}

enum Failure {
    Declined(String),
    Refuted(String),
}

type Checked<T = ()> = Result<T, Failure>;

fn declined<T>(why: &str) -> Checked<T> {
    Err(Failure::Declined(why.to_owned()))
}

/// A set of executions up to a place: terms for the variables and for memory, and a condition on their symbols.
#[derive(Clone)]
struct State {
    pc: ExprId,
    globals: Rc<Vec<ExprId>>,
    /// Of the function that control is in.
    locals: Rc<Vec<ExprId>>,
    memory: Memory,
}

/// An object, by the order in which they were made; globals come first.
type Object = u32;

/// The objects that may be alive and what they hold. A global that nothing was done to has no entry.
type Memory = Rc<BTreeMap<Object, Slot>>;

#[derive(Clone)]
struct Slot {
    /// One bit.
    alive: ExprId,
    content: Rc<content::Content>,
}

/// What does not change of an object.
struct About {
    /// Its address.
    base: ExprId,
    size: ExprId,
    align: u32,
    site: Site,
    kind: Kind,
    /// Where it was made: the condition of these executions, and the objects that there were.
    made: ExprId,
    before: Memory,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Global {
        read_only: bool,
    },
    /// Of the call with this number.
    Stack(u32),
    /// Of a family; stand-ins are of none.
    Heap(Option<Family>),
}

struct Checker<'a> {
    program: &'a Program,
    certificate: &'a Certificate,
    pool: ExprPool,
    budget: &'a Budget,
    solver: Box<dyn Backend>,
    graphs: CfaGraphs,
    calls: CallGraph,
    shapes: FxHashMap<FuncId, Rc<walk::Shape>>,
    /// Per function, the globals that it or what it calls may change.
    changes: Vec<FxHashSet<VarId>>,
    /// By variable: its index among the globals or among the locals of its function.
    index: Vec<u32>,
    globals: Vec<VarId>,
    locals: Vec<Vec<VarId>>,
    /// Symbols that stand for what the checker does not model.
    unmodelled: FxHashSet<ExprId>,
    /// By number, and by address.
    objects: Vec<About>,
    by_base: FxHashMap<ExprId, Object>,
    contents: Contents,
    facts: Vec<Rc<cells::Quantified>>,
    /// The loops and recursions around.
    around: Vec<walk::Around>,
    /// How many of them are in an iteration that stands for one that went well: what is claimed there holds.
    early: u32,
    /// Whether objects of the heap are made in one.
    heap_in_loops: bool,
    /// The calls that are followed, by number, innermost last, and how many there were.
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
            return declined("there is no induction over no iterations");
        }
        let always = self.pool.bool(true);
        let mut state = State { pc: always, globals: Rc::default(), locals: Rc::default(), memory: Memory::default() };
        for (id, global) in self.program.globals.iter() {
            let width = self.program.layout.pointer_width;
            let (base, size) = (self.pool.global_addr(id, width), self.pool.int(width, global.size));
            let kind = Kind::Global { read_only: global.read_only };
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
                // Over constants and addresses.
                VarKind::Global { init: Some(init) } => init,
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
    /// The number of the call that control is in.
    fn frame(&self) -> u32 {
        self.frames.last().expect("control is in a function").0
    }
    /// A number of the width of pointers.
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
    /// Locals at the start of a frame: any values.
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
    /// An expression over variables, and over symbols of the certificate which have a meaning.
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

    /// The two sets of executions together. They have none in common.
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
