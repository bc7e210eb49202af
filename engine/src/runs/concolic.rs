//! Concolic execution: a run of the interpreter is also followed symbolically. The values of its inputs become symbols,
//! and the conditions of its branches become a path condition over these (Godefroid, Klarlund, Sen, DART: Directed
//! automated random testing, PLDI 2005). Inputs with which the program leaves the path at a branch are the models of
//! the conditions before the branch and the negated condition of the branch. A run has one such child for each of its
//! branches (generational search: Godefroid, Levin, Molnar, Automated whitebox fuzz testing, NDSS 2008).
//!
//! Values that no symbol determines stay concrete, and so do addresses and terms that become too large. The path
//! condition is therefore incomplete. A child is a candidate: its caller must run it.

use cfa::interp::{ObjectKind, ObjectSeq, Observer, State, function_address};
use cfa::{Bv, EdgeId, Evaluator, Expr, ExprId, ExprPool, FuncId, HaltKind, Id, Op, Out, Program, Sort, Value, VarId};
use rustc_hash::{FxHashMap, FxHasher};
use smt::budget::Budget;
use smt::{Choice, Feasibility, Model, PathCondition, PathSolver};
use std::hash::{Hash, Hasher};
use std::time::Duration;

/// The maximal number of operations of a term. A larger one is replaced by its concrete value.
const LARGEST: u32 = 1000;
/// The maximal number of conditions that a path records.
const MOST_CONDITIONS: usize = 10_000;
/// The maximal number of bytes of a block operation whose symbols are moved.
const MOST_MOVED: u64 = 1 << 16;
/// The number of terms from which on the pool is dropped before the next path.
const MOST_TERMS: usize = 4_000_000;
/// The processor time of one query.
const QUERY: Duration = Duration::from_millis(200);

/// The inputs of a run that are symbols of its path condition. A name is any number that the caller understands.
pub trait InputNames {
    /// Returns the name of the value that a `Havoc` edge has just taken; `None` if the value stays concrete.
    fn value(&mut self) -> Option<u32>;
    /// Returns the names of the first bytes of an object that was just allocated.
    fn bytes(&mut self, object: ObjectSeq) -> Vec<u32>;
}

/// A branch of a path whose condition depends on symbols.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Branch {
    /// The edge that the run did not take.
    pub other: EdgeId,
    /// A hash of the calls that had not returned.
    pub context: u64,
    /// The condition of the edge that the run took.
    condition: ExprId,
}

/// The path of a run: its branches that depend on symbols, and the values of these.
pub struct SymbolicPath {
    branches: Vec<Branch>,
    values: Model,
}

/// The terms and the solver of concolic execution. They are shared by the paths of a program.
pub struct Concolic<'p> {
    program: &'p Program,
    pool: ExprPool,
    solvers: Choice,
    solver: PathSolver,
    /// By edge, the variables that it reads.
    reads: Vec<Box<[VarId]>>,
    /// By edge: true if it reads the variable that it writes.
    updates: Vec<bool>,
    /// By variable: true if such an edge writes it.
    is_updated: Vec<bool>,
    /// The symbols by name and width.
    symbols: FxHashMap<(u32, u32), ExprId>,
    names: FxHashMap<ExprId, u32>,
    /// The results of loads from constant tables, by address and number of bytes.
    tables: FxHashMap<(ExprId, u32), Option<Symbolic>>,
}

impl<'p> Concolic<'p> {
    /// Prepares a program, in time linear in its size.
    pub fn new(program: &'p Program, solvers: &Choice) -> Self {
        let mut is_updated = vec![false; program.vars.len()];
        let mut updates = Vec::with_capacity(program.edges.len());
        let mut reads = Vec::with_capacity(program.edges.len());
        for edge in program.edges.values() {
            let mut vars = Vec::new();
            edge.op.for_each_expr(|e| vars.extend(program.exprs.vars(e)));
            vars.sort_unstable();
            vars.dedup();
            let written = edge.op.def().filter(|var| !matches!(edge.op, Op::Call { .. }) && vars.contains(var));
            if let Some(var) = written {
                is_updated[var.index()] = true;
            }
            updates.push(written.is_some());
            reads.push(vars.into_boxed_slice());
        }
        Self {
            program,
            pool: program.exprs.clone(),
            solvers: solvers.clone(),
            solver: PathSolver::new(solvers.open(), Budget::unlimited()),
            reads,
            updates,
            is_updated,
            symbols: FxHashMap::default(),
            names: FxHashMap::default(),
            tables: FxHashMap::default(),
        }
    }

    /// Returns an observer of one run.
    pub fn follow<I: InputNames>(&mut self, inputs: I) -> Recorder<'_, 'p, I> {
        if self.pool.len() > MOST_TERMS {
            self.pool = self.program.exprs.clone();
            self.solver = PathSolver::new(self.solvers.open(), Budget::unlimited());
            self.symbols.clear();
            self.names.clear();
            self.tables.clear();
        }
        Recorder {
            concolic: self,
            inputs,
            path: SymbolicPath { branches: Vec::new(), values: Model::default() },
            frames: vec![Frame::default()],
            globals: Frame::default(),
            memory: FxHashMap::default(),
        }
    }

    /// Passes the inputs of each child of a path for whose branch `wants` returns true to `found`, as names with the
    /// values that differ from those of the path. Ends with the budget.
    pub fn children(
        &mut self,
        path: &SymbolicPath,
        budget: &Budget,
        mut wants: impl FnMut(&Branch) -> bool,
        mut found: impl FnMut(Vec<(u32, Bv)>),
    ) {
        self.solver.set_budget(budget.clone());
        self.solver.set_query_time(Some(QUERY));
        let mut condition = PathCondition::new();
        // Every part of the condition holds for the values of the run.
        let always = self.pool.bool(true);
        self.solver.assume(&mut self.pool, &mut condition, always, Some(path.values.clone()));
        for branch in &path.branches {
            if budget.spent().is_some() {
                return;
            }
            if wants(branch) {
                let negated = self.pool.not(branch.condition);
                if let Feasibility::Feasible(model) = self.solver.check(&mut self.pool, &condition, negated)
                    && !model.is_spurious()
                {
                    let changed = path.values.iter().filter_map(|(leaf, value)| {
                        let new = model.get(leaf).filter(|new| *new != value)?;
                        Some((*self.names.get(&leaf)?, new.bv().clone()))
                    });
                    found(changed.collect());
                }
            }
            let values = Some(path.values.clone());
            self.solver.assume(&mut self.pool, &mut condition, branch.condition, values);
        }
    }

    fn symbol(&mut self, name: u32, width: u32) -> ExprId {
        if let Some(&known) = self.symbols.get(&(name, width)) {
            return known;
        }
        let (_, symbol) = self.pool.fresh_symbol(Sort::Bv(width));
        self.symbols.insert((name, width), symbol);
        self.names.insert(symbol, name);
        symbol
    }
}

/// A term with the number of its operations. A number of 0 means that the term is a constant.
#[derive(Clone, Copy, Debug)]
struct Symbolic {
    term: ExprId,
    size: u32,
}

impl Symbolic {
    fn constant(term: ExprId) -> Self {
        Self { term, size: 0 }
    }
}

/// A byte of memory: the byte of a term with this number, the lowest first.
#[derive(Clone, Copy)]
struct Byte {
    of: Symbolic,
    number: u32,
}

/// The number of bytes that one entry of the symbolic memory covers.
const GRANULE: u64 = 8;

/// The variables of a frame, or the global ones.
#[derive(Default)]
struct Frame {
    /// The variables whose values depend on symbols.
    values: FxHashMap<VarId, Symbolic>,
    /// The values of variables that some edge reads and writes. The observer gets the state after the edge.
    before: FxHashMap<VarId, Bv>,
}

/// The frame in which an expression is evaluated.
#[derive(Clone, Copy)]
struct Place {
    is_caller: bool,
    /// The variable that the edge has just written, if it reads that, too.
    updated: Option<VarId>,
}

/// An observer of a run that records its path condition.
pub struct Recorder<'c, 'p, I> {
    concolic: &'c mut Concolic<'p>,
    inputs: I,
    path: SymbolicPath,
    frames: Vec<Frame>,
    globals: Frame,
    /// The bytes that depend on symbols, by address.
    memory: FxHashMap<u64, [Option<Byte>; GRANULE as usize]>,
}

impl<I: InputNames> Recorder<'_, '_, I> {
    /// Returns the path of the run so far.
    pub fn path(self) -> SymbolicPath {
        self.path
    }

    fn frame(&mut self, var: VarId) -> &mut Frame {
        match self.concolic.program.vars[var].func() {
            None => &mut self.globals,
            Some(_) => self.frames.last_mut().expect("there is one for each function"),
        }
    }

    /// Returns the symbolic value of a variable of the current frame, or of the caller before its frame was added.
    fn known(&self, var: VarId) -> Option<Symbolic> {
        match self.concolic.program.vars[var].func() {
            None => self.globals.values.get(&var).copied(),
            Some(_) => self.frames.last().and_then(|frame| frame.values.get(&var).copied()),
        }
    }

    /// Returns true if an operand of the edge may depend on a symbol.
    fn is_symbolic(&self, edge: EdgeId) -> bool {
        let has_values = !self.globals.values.is_empty() || self.frames.last().is_some_and(|f| !f.values.is_empty());
        has_values && self.concolic.reads[edge.index()].iter().any(|&var| self.known(var).is_some())
    }

    fn set(&mut self, var: VarId, value: Option<Symbolic>, state: &State) {
        let is_updated = self.concolic.is_updated[var.index()];
        let concrete = if is_updated { state.var(var) } else { None };
        self.set_to(var, value, concrete);
    }

    fn set_to(&mut self, var: VarId, value: Option<Symbolic>, concrete: Option<Bv>) {
        let frame = self.frame(var);
        match value.filter(|value| value.size > 0) {
            Some(value) => drop(frame.values.insert(var, value)),
            None if frame.values.is_empty() => {}
            None => drop(frame.values.remove(&var)),
        }
        if let Some(concrete) = concrete {
            frame.before.insert(var, concrete);
        }
    }

    fn leaf(&self, leaf: &Expr, state: &State, place: Place) -> Bv {
        let program = self.concolic.program;
        let pointer = program.layout.pointer_width;
        match *leaf {
            Expr::Var(var) => {
                let value = if place.updated == Some(var) {
                    let frame = match program.vars[var].func() {
                        None => &self.globals,
                        Some(_) => self.frames.last().expect("there is one for each function"),
                    };
                    frame.before.get(&var).cloned()
                } else if place.is_caller {
                    state.caller_var(var)
                } else {
                    state.var(var)
                };
                value.unwrap_or_else(|| Bv::zero(program.vars[var].width))
            }
            Expr::GlobalAddr(global) => Bv::new(pointer, state.global_address(global)),
            Expr::FuncAddr(func) => Bv::new(pointer, function_address(func)),
            Expr::Content { of, offset, width } => {
                let bytes = state.bytes(state.global_address(of) + u64::from(offset), (width / 8) as usize);
                bytes.map_or_else(|| Bv::zero(width), |bytes| Bv::from_le_bytes(&bytes).resize(width))
            }
            _ => Bv::zero(1),
        }
    }

    fn concrete(&self, e: ExprId, state: &State, place: Place) -> Bv {
        self.concolic.program.exprs.eval_tree(e, &mut |leaf| self.leaf(leaf, state, place))
    }

    /// Returns the concrete value of a term.
    fn value_of(&self, value: Symbolic) -> Bv {
        match self.concolic.pool.as_const(value.term) {
            Some(constant) => constant.clone(),
            None => self.path.values.eval(&self.concolic.pool, value.term),
        }
    }

    /// Returns the value of an expression of the program as a term.
    fn term(&mut self, e: ExprId, state: &State, place: Place) -> Symbolic {
        let node = self.concolic.pool.get(e).clone();
        match node {
            Expr::Const(_) => return Symbolic::constant(e),
            Expr::Var(var) if self.known(var).is_some() => return self.known(var).expect("it is"),
            Expr::Var(_) | Expr::Sym(_) | Expr::GlobalAddr(_) | Expr::FuncAddr(_) | Expr::Content { .. } => {
                let value = self.leaf(&node, state, place);
                return Symbolic::constant(self.concolic.pool.constant(value));
            }
            _ => {}
        }
        let (mut children, mut count, mut size) = ([e; 3], 0, 0);
        for child in node.children() {
            let value = self.term(child, state, place);
            children[count] = value.term;
            count += 1;
            size += value.size;
        }
        let term = self.concolic.pool.rebuild(&node, &children[..count]);
        self.limited(Symbolic { term, size: if size > 0 { size + 1 } else { 0 } })
    }

    /// Replaces a term that is too large, or that has no symbols, by its value.
    fn limited(&mut self, value: Symbolic) -> Symbolic {
        let is_constant = self.concolic.pool.as_const(value.term).is_some();
        if is_constant {
            return Symbolic::constant(value.term);
        }
        if value.size == 0 || value.size > LARGEST {
            let concrete = self.value_of(value);
            return Symbolic::constant(self.concolic.pool.constant(concrete));
        }
        value
    }

    /// Returns the term for an operand of an edge; `None` if it is concrete.
    fn operand(&mut self, edge: EdgeId, e: ExprId, state: &State, place: Place) -> Option<Symbolic> {
        let value = self.is_symbolic(edge).then(|| self.term(e, state, place));
        value.filter(|value| value.size > 0)
    }

    /// Returns an address, and the term that it was computed as if it depends on symbols.
    fn address(&mut self, edge: EdgeId, e: ExprId, state: &State, place: Place) -> (u64, Option<Symbolic>) {
        let term = self.operand(edge, e, state, place);
        let value = match term {
            Some(term) => self.value_of(term),
            None => self.concrete(e, state, place),
        };
        (value.to_u64().unwrap_or(0), term)
    }

    fn byte(&self, address: u64) -> Option<Byte> {
        self.memory.get(&(address / GRANULE)).and_then(|bytes| bytes[(address % GRANULE) as usize])
    }

    fn set_byte(&mut self, address: u64, byte: Option<Byte>) {
        let (key, at) = (address / GRANULE, (address % GRANULE) as usize);
        if byte.is_some() {
            self.memory.entry(key).or_default()[at] = byte;
        } else if let Some(bytes) = self.memory.get_mut(&key) {
            bytes[at] = None;
            if bytes.iter().all(Option::is_none) {
                self.memory.remove(&key);
            }
        }
    }

    /// Returns the value of the bytes at an address; `None` if they are concrete.
    fn load(&mut self, address: u64, width: u32, state: &State) -> Option<Symbolic> {
        if self.memory.is_empty() {
            return None;
        }
        let count = width.div_ceil(8);
        let bytes: Vec<Option<Byte>> = (0..u64::from(count)).map(|i| self.byte(address.wrapping_add(i))).collect();
        let first = bytes.iter().flatten().next()?.of;
        let pool = &mut self.concolic.pool;
        let is_whole = |(i, byte): (usize, &Option<Byte>)| {
            byte.is_some_and(|byte| byte.of.term == first.term && byte.number == i as u32)
        };
        if bytes.iter().enumerate().all(is_whole) && pool.width(first.term) >= width {
            let term = pool.resize(width, first.term);
            return Some(Symbolic { term, size: first.size + 1 });
        }
        let (mut all, mut size) = (None, 0);
        for (i, byte) in bytes.into_iter().enumerate() {
            let term = match byte {
                Some(Byte { of, number }) => {
                    size += of.size + 1;
                    // The last byte of a term may be a part of one.
                    let padded = (number + 1) * 8;
                    let whole = if pool.width(of.term) < padded { pool.zext(padded, of.term) } else { of.term };
                    pool.extract(padded - 1, number * 8, whole)
                }
                None => {
                    let byte = state.bytes(address.wrapping_add(i as u64), 1)?;
                    pool.int(8, u64::from(byte[0]))
                }
            };
            all = Some(all.map_or(term, |low| pool.concat(term, low)));
        }
        let term = pool.resize(width, all?);
        let value = self.limited(Symbolic { term, size });
        (value.size > 0).then_some(value)
    }

    fn store(&mut self, address: u64, width: u32, value: Option<Symbolic>) {
        if self.memory.is_empty() && value.is_none() {
            return;
        }
        for number in 0..width.div_ceil(8) {
            self.set_byte(address.wrapping_add(number.into()), value.map(|of| Byte { of, number }));
        }
    }

    /// Returns the result of a load whose address depends on one symbol of few values, such as a character: a choice
    /// between the elements of a table.
    fn look_up(&mut self, address: Symbolic, at: u64, width: u32, state: &State) -> Option<Symbolic> {
        /// The maximal number of intervals of the symbol with different results.
        const MOST_INTERVALS: usize = 80;
        let count = width.div_ceil(8);
        let is_constant = state.object_at(at).is_some_and(|o| o.kind == (ObjectKind::Global { read_only: true }));
        if is_constant && let Some(known) = self.concolic.tables.get(&(address.term, count)) {
            return *known;
        }
        let object = state.object_at(at)?;
        let (from, to) = (object.base, object.base + object.size);
        let pool = &mut self.concolic.pool;
        let mut symbols = Vec::new();
        pool.visit(address.term, &mut Default::default(), |id, node| {
            if let Expr::Sym(_) = node {
                symbols.push(id);
            }
        });
        let [symbol] = symbols[..] else { return None };
        let symbol_width = pool.width(symbol);
        let (least, most) = if symbol_width == 8 { (0, 255) } else { (-1, 255) };
        // The intervals of the symbol, by their last value.
        let mut intervals: Vec<(i64, Bv)> = Vec::new();
        for value in least..=most {
            let mut evaluator = Evaluator::new(pool, |_, _| Value::Bv(Bv::from_i64(symbol_width, value)));
            let place = evaluator.eval(address.term).to_u64()?;
            let is_inside = place >= from && place + u64::from(count) <= to;
            let bytes = if is_inside { state.bytes(place, count as usize)? } else { vec![0; count as usize] };
            let result = Bv::from_le_bytes(&bytes).resize(width);
            match intervals.last_mut() {
                Some((last, known)) if *known == result => *last = value,
                _ => intervals.push((value, result)),
            }
        }
        let value = (intervals.len() <= MOST_INTERVALS).then(|| {
            let (_, last) = intervals.pop().expect("the symbol has values");
            let (mut term, mut size) = (pool.constant(last), 1);
            for (end, result) in intervals.into_iter().rev() {
                let end = pool.constant(Bv::from_i64(symbol_width, end));
                let is_below = if symbol_width == 8 { pool.ule(symbol, end) } else { pool.sle(symbol, end) };
                let result = pool.constant(result);
                term = pool.ite(is_below, result, term);
                size += 1;
            }
            Symbolic { term, size }
        });
        let value = value.filter(|value| pool.as_const(value.term).is_none());
        if is_constant {
            self.concolic.tables.insert((address.term, count), value);
        }
        value
    }

    /// Moves the symbols of a block.
    fn copy(&mut self, to: u64, from: u64, length: u64) {
        if self.memory.is_empty() {
            return;
        }
        let bytes: Vec<Option<Byte>> = (0..length.min(MOST_MOVED)).map(|i| self.byte(from.wrapping_add(i))).collect();
        for (i, byte) in bytes.into_iter().enumerate() {
            self.set_byte(to.wrapping_add(i as u64), byte);
        }
    }

    fn branch(&mut self, edge: EdgeId, condition: ExprId, state: &State) {
        let program = self.concolic.program;
        let Out::Branch { then_edge, else_edge } = program.locs[program.edges[edge].source].out else { return };
        if self.path.branches.len() >= MOST_CONDITIONS {
            return;
        }
        let other = if edge == then_edge { else_edge } else { then_edge };
        let mut hasher = FxHasher::default();
        state.call_stack().for_each(|call| call.hash(&mut hasher));
        self.path.branches.push(Branch { other, context: hasher.finish(), condition });
    }

    /// Starts the frame of a callee.
    fn call(&mut self, edge: EdgeId, args: &[ExprId], callee: FuncId, state: &State) {
        let place = Place { is_caller: true, updated: None };
        let program = self.concolic.program;
        let params = &program.funcs[callee].params;
        let mut frame = Frame::default();
        if self.is_symbolic(edge) {
            for (&param, &arg) in params.iter().zip(args) {
                let value = self.term(arg, state, place);
                if value.size > 0 && program.vars[param].width == self.concolic.pool.width(value.term) {
                    frame.values.insert(param, value);
                }
            }
        }
        for &param in params.iter().filter(|param| self.concolic.is_updated[param.index()]) {
            frame.before.extend(state.var(param).map(|value| (param, value)));
        }
        self.frames.push(frame);
    }

    /// Ends the frame of a function, and sets the variable that takes its result.
    fn leave(&mut self, edge: EdgeId, value: Option<ExprId>, state: &State) {
        let program = self.concolic.program;
        let place = Place { is_caller: false, updated: None };
        let symbolic = value.and_then(|value| self.operand(edge, value, state, place));
        let concrete = value.map(|value| self.concrete(value, state, place));
        self.frames.pop();
        let call = state.call_stack().last();
        let Some(Op::Call { result: Some(result), .. }) = call.map(|call| &program.edges[call].op) else { return };
        if self.frames.is_empty() {
            return;
        }
        let width = program.vars[*result].width;
        let symbolic = symbolic.filter(|value| self.concolic.pool.width(value.term) == width);
        let is_updated = self.concolic.is_updated[result.index()];
        self.set_to(*result, symbolic, concrete.filter(|_| is_updated).map(|value| value.resize(width)));
    }
}

impl<I: InputNames> Observer for Recorder<'_, '_, I> {
    fn executed(&mut self, edge: EdgeId, state: &State) {
        let program = self.concolic.program;
        let op = &program.edges[edge].op;
        let updated = if self.concolic.updates[edge.index()] { op.def() } else { None };
        let place = Place { is_caller: false, updated };
        if self.frames.is_empty() {
            return;
        }
        match op {
            Op::Assume { cond, .. } => {
                if let Some(condition) = self.operand(edge, *cond, state, place) {
                    self.branch(edge, condition.term, state);
                }
            }
            Op::Assign { var, value } => {
                let value = self.operand(edge, *value, state, place);
                self.set(*var, value, state);
            }
            Op::Load { var, addr } => {
                let width = program.vars[*var].width;
                let value = if self.memory.is_empty() && !self.is_symbolic(edge) {
                    None
                } else {
                    let (at, term) = self.address(edge, *addr, state, place);
                    let table = term.and_then(|term| self.look_up(term, at, width, state));
                    table.or_else(|| self.load(at, width, state))
                };
                self.set(*var, value, state);
            }
            Op::Store { addr, value } => {
                let width = program.exprs.width(*value);
                let value = self.operand(edge, *value, state, place);
                // The code before `main` ends strings with a zero. This byte is an input as those before it.
                let is_end = state.func() == program.entry && value.is_none() && width == 8;
                if !is_end && (value.is_some() || !self.memory.is_empty()) {
                    let (at, _) = self.address(edge, *addr, state, place);
                    self.store(at, width, value);
                }
            }
            Op::Havoc { var, .. } => {
                let width = program.vars[*var].width;
                let named = self.inputs.value().zip(state.var(*var));
                let value = named.map(|(name, concrete)| {
                    let term = self.concolic.symbol(name, width);
                    self.path.values.set(term, Value::Bv(concrete));
                    Symbolic { term, size: 1 }
                });
                self.set(*var, value, state);
            }
            Op::Alloc { var, .. } => {
                if let Some(base) = state.var(*var).and_then(|base| base.to_u64())
                    && let Some(object) = state.object_at(base)
                {
                    for (i, name) in self.inputs.bytes(object.seq).into_iter().enumerate() {
                        let at = base + i as u64;
                        let Some(byte) = state.bytes(at, 1) else { break };
                        let term = self.concolic.symbol(name, 8);
                        self.path.values.set(term, Value::Bv(Bv::new(8, byte[0].into())));
                        self.set_byte(at, Some(Byte { of: Symbolic { term, size: 1 }, number: 0 }));
                    }
                }
                self.set(*var, None, state);
            }
            Op::Copy { dst, src, len } => {
                if !self.memory.is_empty() {
                    let [(to, _), (from, _), (length, _)] =
                        [dst, src, len].map(|&e| self.address(edge, e, state, place));
                    self.copy(to, from, length);
                }
            }
            Op::Fill { dst, byte, len } => {
                let byte = self.operand(edge, *byte, state, place);
                if byte.is_some() || !self.memory.is_empty() {
                    let [(to, _), (length, _)] = [dst, len].map(|&e| self.address(edge, e, state, place));
                    for i in 0..length.min(MOST_MOVED) {
                        self.set_byte(to.wrapping_add(i), byte.map(|of| Byte { of, number: 0 }));
                    }
                }
            }
            Op::Call { args, .. } => self.call(edge, args, state.func(), state),
            Op::Return { value } => self.leave(edge, *value, state),
            op => {
                if let Some(var) = op.def() {
                    self.set(var, None, state);
                }
            }
        }
    }
}

/// A numbering of the symbols of paths.
pub struct Numbering<T> {
    all: Vec<T>,
    numbers: FxHashMap<T, u32>,
}

impl<T> Default for Numbering<T> {
    fn default() -> Self {
        Self { all: Vec::new(), numbers: FxHashMap::default() }
    }
}

impl<T: Clone + Eq + Hash> Numbering<T> {
    /// The number of a symbol. New symbols get the next number.
    pub fn number(&mut self, symbol: T) -> u32 {
        *self.numbers.entry(symbol).or_insert_with_key(|symbol| {
            self.all.push(symbol.clone());
            self.all.len() as u32 - 1
        })
    }
    /// The symbol with a number.
    pub fn symbol(&self, number: u32) -> &T {
        &self.all[number as usize]
    }
}

/// Counts the attempts to leave paths, so that each branch is tried a few times.
pub struct Attempts {
    /// The maximal number of attempts over an edge that some run took, with the same calls and in the same iteration.
    most: u8,
    /// The number of attempts by edge, calls and iteration.
    tried: FxHashMap<(EdgeId, u64, u8), u8>,
}

impl Attempts {
    /// The maximal number of attempts over an edge that no run took, with the same calls and in the same iteration.
    const MOST_NEW: u8 = 30;
    /// The number from which on all iterations of a branch count as the same one.
    const LAST_ITERATION: u8 = 15;

    /// No attempts so far, and at most this number over an edge that some run took.
    pub fn new(most: u8) -> Self {
        Self { most, tried: FxHashMap::default() }
    }

    /// Returns the branches that [`Concolic::children`] should leave, for one path from its start to its end.
    /// `is_reached` is true for each edge that some run took.
    pub fn of_path(&mut self, program: &Program, is_reached: impl Fn(EdgeId) -> bool) -> impl FnMut(&Branch) -> bool {
        let mut iterations: FxHashMap<(EdgeId, u64), u8> = FxHashMap::default();
        move |branch| {
            let iteration = iterations.entry((branch.other, branch.context)).or_insert(0);
            *iteration = (*iteration + 1).min(Self::LAST_ITERATION);
            let most = if is_reached(branch.other) { self.most } else { Self::MOST_NEW };
            let tried = self.tried.entry((branch.other, branch.context, *iteration)).or_insert(0);
            let is_wanted = *tried < most && !is_assumed_away(program, branch.other);
            *tried += u8::from(is_wanted);
            is_wanted
        }
    }
}

/// Returns true if the edge leads to a failed assumption: no run takes it.
fn is_assumed_away(program: &Program, edge: EdgeId) -> bool {
    matches!(program.locs[program.edges[edge].target].out,
        Out::One(next) if matches!(program.edges[next].op, Op::Halt(HaltKind::Assumed | HaltKind::Unreachable)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cfa::interp::{Inputs, Interpreter, Limits};

    /// Reads digits and compares their number, which a memory cell holds in between.
    const PROGRAM: &str = "program 64 entry f0
        type ty0 int \"int\" 32 signed
        type ty1 pointer ty0
        input in0 nondet \"n\" ty0 32
        func f0 \"main\" source ty0 32 () entry l0 {
          local v0 \"sum\" ty0 32
          local v1 \"digit\" ty0 32
          local v2 \"i\" ty0 32
          local v3 \"p\" ty1 64
          l0: t0: v0 := 0:32 -> l1
          l1: t1: v2 := 0:32 -> l2
          l2: t2: v3 := alloc stack 8:64 align 8 -> l3
          l3: t3: if (v2 <u 3:32) -> l4
              t4: else (3:32 <=u v2) -> l9
          l4: t5: v1 := havoc in0 -> l5
          l5: t6: v0 := call add.f1 (v0, v1) -> l6
          l6: t7: store v3, v0 -> l7
          l7: t8: v0 := load v3 -> l8
          l8: t9: v2 := (v2 + 1:32) -> l3
          l9: t10: if (v0 == 123:32) -> l10
              t11: else ~(v0 == 123:32) -> l10
          l10: t12: halt exit 0:32 -> l11
          l11:
        }
        func f1 \"add\" source ty0 32 (v4, v5) entry l12 {
          param v4 \"a\" ty0 32
          param v5 \"b\" ty0 32
          l12: t13: return ((v4 * 10:32) + v5) -> l13
          l13:
        }";

    /// Names the values of a run by their numbers.
    struct Numbered(u32);

    impl InputNames for Numbered {
        fn value(&mut self) -> Option<u32> {
            self.0 += 1;
            Some(self.0 - 1)
        }
        fn bytes(&mut self, _: ObjectSeq) -> Vec<u32> {
            Vec::new()
        }
    }

    #[test]
    fn a_child_leaves_the_path_at_its_branch() {
        let program = cfa::text::parse(PROGRAM).unwrap_or_else(|e| panic!("{e:?}"));
        let mut concolic = Concolic::new(&program, &Choice::default());
        let mut recorder = concolic.follow(Numbered(0));
        let inputs = Inputs { values: vec![Bv::new(32, 1), Bv::new(32, 2), Bv::new(32, 5)], ..Inputs::default() };
        Interpreter::new(&program).run(&mut inputs.source(), Limits::default(), &mut recorder);
        let path = recorder.path();
        assert_eq!(path.branches.len(), 1);
        let mut values = [1, 2, 5];
        concolic.children(
            &path,
            &Budget::unlimited(),
            |_| true,
            |changed| {
                for (name, value) in changed {
                    values[name as usize] = value.to_i64().unwrap() as i32;
                }
            },
        );
        let sum = values.iter().fold(0i32, |sum, &digit| sum.wrapping_mul(10).wrapping_add(digit));
        assert_eq!(sum, 123);
    }
}
