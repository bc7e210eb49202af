//! Unrolls a program with threads: symbolic execution of each thread on its own, with merged paths.
//!
//! Loops are unrolled up to a bound, and calls are inlined. A read of memory that threads share has a new symbol as its
//! value. Everything else is in the terms: the guard under which an event happens, and the value that it writes. All
//! accesses of an atomic section are one *block*.

use cfa::graph::CfaGraphs;
use cfa::loops::LoopForest;
use cfa::threads::{ThreadOp, order};
use cfa::{
    AllocKind, Bv, Callee, EdgeId, Expr, ExprId, ExprPool, Family, FuncId, FunctionOrigin, GlobalId, InputId, LocId,
    Op, Program, Sort, VarId,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Limit on the executed edges.
const MOST_STEPS: usize = 200_000;
/// Limit on the depth of calls.
const DEEPEST: usize = 40;
/// Limit on the threads.
const MOST_THREADS: u32 = 24;

/// An object in memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Object {
    Global(GlobalId),
    /// The object that a thread allocates at an edge, with its number among these.
    Made(EdgeId, u32, u32),
}

/// A part of an object that is always accessed as a whole: the offset in bytes and the width in bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Cell {
    pub object: Object,
    pub offset: u64,
    pub width: u32,
}

/// The value that a write stores, or the symbol of the value that a read returns.
#[derive(Clone, Copy, Debug)]
pub enum Access {
    Read(ExprId),
    Write(ExprId),
}

/// An access to shared memory.
#[derive(Clone, Debug)]
pub struct Event {
    pub block: usize,
    pub guard: ExprId,
    pub cell: Cell,
    pub access: Access,
}

/// A step of a thread. The blocks of a thread are executed in the order of their numbers.
#[derive(Clone, Debug)]
pub struct Block {
    pub thread: u32,
    pub guard: ExprId,
    /// The first access to shared memory, or the call of the operation. Once it is executed, no other thread comes
    /// between the accesses of the block.
    pub edge: EdgeId,
    /// The thread that the block starts.
    pub starts: Option<u32>,
}

/// A value from outside of the program.
#[derive(Clone, Debug)]
pub struct Input {
    pub thread: u32,
    pub guard: ExprId,
    pub input: InputId,
    pub symbol: ExprId,
}

/// An unrolled program.
pub struct Unrolled {
    pub pool: ExprPool,
    pub blocks: Vec<Block>,
    pub events: Vec<Event>,
    /// The initial values of the cells of events.
    pub initial: FxHashMap<Cell, ExprId>,
    pub inputs: Vec<Input>,
    /// The identifiers of the started threads.
    pub ids: Vec<ExprId>,
    /// Pairs of identifiers, by index: the later thread may have the identifier of the earlier one.
    pub reused: FxHashSet<(usize, usize)>,
    /// The errors and the ends of the program: the guard and the block.
    pub errors: Vec<(ExprId, usize)>,
    pub ends: Vec<(ExprId, usize)>,
    /// Under the guard, the first block comes before the second one.
    pub orders: Vec<(ExprId, usize, usize)>,
    /// True if a bound removed paths.
    pub is_cut: bool,
    /// True if the unrolling omits other executions: not every execution within the bounds is one of the unrolled
    /// program.
    pub omits: bool,
}

/// Why a program is not unrolled.
pub type GaveUp = &'static str;

/// A state of a thread at a location.
#[derive(Clone)]
struct State {
    guard: ExprId,
    vars: FxHashMap<VarId, ExprId>,
    /// The content of memory that only this thread accesses.
    own: FxHashMap<Cell, ExprId>,
    /// The variables that only some of the merged paths have written.
    partial: FxHashSet<VarId>,
    /// The nesting depth of atomic sections, the block of the section, and what it has written so far.
    depth: u32,
    block: Option<usize>,
    written: FxHashMap<Cell, ExprId>,
}

/// The positions of the locations of a function in its loops.
struct Shape {
    /// For each node: the heads of the loops around it, outermost first.
    heads: Vec<Vec<u32>>,
}

/// A thread whose start was executed.
struct Started {
    /// The guard and the blocks of its ends.
    ended: ExprId,
    last: Vec<(ExprId, usize)>,
    result: ExprId,
}

impl State {
    fn set(&mut self, var: VarId, value: ExprId) {
        self.partial.remove(&var);
        self.vars.insert(var, value);
    }
}

struct Unroller<'p> {
    program: &'p Program,
    graphs: &'p CfaGraphs,
    shapes: FxHashMap<FuncId, Rc<Shape>>,
    bound: u32,
    shared: &'p FxHashSet<Object>,
    /// The first thread that accesses each object, and the objects that several threads access.
    first: FxHashMap<Object, u32>,
    several: FxHashSet<Object>,
    bases: FxHashMap<ExprId, Object>,
    /// The sizes of objects in bytes, if they are constant.
    sizes: FxHashMap<Object, u64>,
    /// The objects of the stack whose bytes are unknown at first, and the symbols for them.
    unknown: FxHashSet<Object>,
    unknowns: FxHashMap<Cell, ExprId>,
    /// The functions that the current thread executes.
    stack: Vec<FuncId>,
    /// The threads that may have been joined, as indices of their identifiers.
    joined: FxHashSet<usize>,
    /// True if threads may be detached.
    detaches: bool,
    made: FxHashMap<(EdgeId, u32), u32>,
    cells: BTreeMap<(Object, u64), u32>,
    reads: FxHashMap<(usize, Cell), ExprId>,
    /// The blocks with an access.
    entered: FxHashSet<usize>,
    thread: u32,
    started: Vec<Option<Started>>,
    depth: usize,
    steps: usize,
    out: Unrolled,
}

/// Unrolls a program. Each loop is executed at most `bound` times.
pub fn unroll(program: &Program, bound: u32) -> Result<Unrolled, GaveUp> {
    let graphs = CfaGraphs::new(program);
    let mut shared = FxHashSet::default();
    // Memory counts as shared once two threads access it.
    loop {
        let pool = program.exprs.clone();
        let mut unroller = Unroller {
            program,
            graphs: &graphs,
            shapes: FxHashMap::default(),
            bound,
            shared: &shared,
            first: FxHashMap::default(),
            several: FxHashSet::default(),
            bases: FxHashMap::default(),
            sizes: FxHashMap::default(),
            unknown: FxHashSet::default(),
            unknowns: FxHashMap::default(),
            stack: Vec::new(),
            joined: FxHashSet::default(),
            detaches: false,
            made: FxHashMap::default(),
            cells: BTreeMap::new(),
            reads: FxHashMap::default(),
            entered: FxHashSet::default(),
            thread: 0,
            started: vec![None],
            depth: 0,
            steps: 0,
            out: Unrolled {
                pool,
                blocks: Vec::new(),
                events: Vec::new(),
                initial: FxHashMap::default(),
                inputs: Vec::new(),
                ids: Vec::new(),
                reused: FxHashSet::default(),
                errors: Vec::new(),
                ends: Vec::new(),
                orders: Vec::new(),
                is_cut: false,
                omits: false,
            },
        };
        let guard = unroller.out.pool.bool(true);
        unroller.thread(program.entry, &[], guard)?;
        let Unroller { several, out, .. } = unroller;
        if several.is_subset(&shared) {
            return Ok(out);
        }
        shared.extend(several);
    }
}

impl<'p> Unroller<'p> {
    fn pool(&mut self) -> &mut ExprPool {
        &mut self.out.pool
    }
    fn fresh(&mut self, width: u32) -> ExprId {
        self.pool().fresh_symbol(Sort::Bv(width)).1
    }
    fn block(&mut self, guard: ExprId, edge: EdgeId) -> usize {
        self.out.blocks.push(Block { thread: self.thread, guard, edge, starts: None });
        self.out.blocks.len() - 1
    }

    /// Executes the current thread.
    fn thread(&mut self, func: FuncId, args: &[ExprId], guard: ExprId) -> Result<(), GaveUp> {
        let never = self.pool().bool(false);
        let zero = self.out.pool.int(self.program.layout.pointer_width, 0);
        let number = self.thread as usize;
        self.started[number] = Some(Started { ended: never, last: Vec::new(), result: zero });
        let state = State {
            guard,
            vars: FxHashMap::default(),
            own: FxHashMap::default(),
            partial: FxHashSet::default(),
            depth: 0,
            block: None,
            written: FxHashMap::default(),
        };
        let edge = self.program.out_edges(self.program.funcs[func].entry).next().ok_or("an empty function")?;
        if let Some((state, value)) = self.call(func, args, state)? {
            self.ends(&state, value, edge);
        }
        Ok(())
    }

    /// Records that the current thread ends.
    fn ends(&mut self, state: &State, value: Option<ExprId>, edge: EdgeId) {
        let block = self.block(state.guard, edge);
        let number = self.thread as usize;
        let Some(mut started) = self.started[number].take() else { return };
        started.ended = self.pool().or(started.ended, state.guard);
        started.last.push((state.guard, block));
        if let Some(value) = value {
            let value = self.out.pool.resize(self.program.layout.pointer_width, value);
            started.result = self.pool().ite(state.guard, value, started.result);
        }
        self.started[number] = Some(started);
    }

    fn shape(&mut self, func: FuncId) -> Result<Rc<Shape>, GaveUp> {
        if let Some(shape) = self.shapes.get(&func) {
            return Ok(shape.clone());
        }
        let graph = &self.graphs.funcs[func];
        let forest = LoopForest::new(&graph.graph, 0);
        if forest.loops().iter().any(|l| l.irreducible) {
            return Err("an irreducible loop");
        }
        let heads = (0..graph.locs.len() as u32).map(|node| {
            let mut heads = Vec::new();
            let mut number = forest.innermost(node);
            while let Some(n) = number {
                heads.push(forest.get(n).head);
                number = forest.get(n).parent;
            }
            heads.reverse();
            heads
        });
        let shape = Rc::new(Shape { heads: heads.collect() });
        self.shapes.insert(func, shape.clone());
        Ok(shape)
    }

    /// Executes a call. Returns the state after it and the result, unless no path returns.
    fn call(
        &mut self,
        func: FuncId,
        args: &[ExprId],
        mut state: State,
    ) -> Result<Option<(State, Option<ExprId>)>, GaveUp> {
        if self.depth >= DEEPEST {
            self.out.is_cut = true;
            return Ok(None);
        }
        let shape = self.shape(func)?;
        let graph = &self.graphs.funcs[func];
        let mut rank = vec![0; graph.locs.len()];
        for (n, node) in graph.graph.reverse_postorder(0).into_iter().enumerate() {
            rank[node as usize] = n as u32;
        }
        let outer = std::mem::take(&mut state.vars);
        let outer_partial = std::mem::take(&mut state.partial);
        self.stack.push(func);
        for (n, &param) in self.program.funcs[func].params.iter().enumerate() {
            let width = self.program.vars[param].width;
            let value = match args.get(n) {
                Some(&arg) => self.pool().resize(width, arg),
                None => self.pool().int(width, 0),
            };
            state.vars.insert(param, value);
        }
        self.depth += 1;
        let key = |node: u32, turns: &[u32]| -> Vec<u32> {
            let heads = shape.heads[node as usize].iter().zip(turns);
            heads.flat_map(|(&head, &turn)| [rank[head as usize], turn]).chain([rank[node as usize]]).collect()
        };
        let entry = self.program.funcs[func].entry;
        let mut todo: BTreeMap<Vec<u32>, (u32, Vec<u32>, State)> = BTreeMap::new();
        let start = self.graphs.node(entry).ok_or("an empty function")?;
        let turns = vec![0; shape.heads[start as usize].len()];
        todo.insert(key(start, &turns), (start, turns, state));
        let mut done: Option<(State, Option<ExprId>)> = None;
        while let Some((_, (node, turns, state))) = todo.pop_first() {
            let loc: LocId = graph.locs[node as usize];
            for edge in self.program.out_edges(loc) {
                self.steps += 1;
                if self.steps > MOST_STEPS {
                    return Err("too many steps");
                }
                if let Op::Return { value } = self.program.edges[edge].op {
                    let value = value.map(|value| self.eval(value, &state));
                    done = Some(match done.take() {
                        None => (state.clone(), value),
                        Some((other, old)) => {
                            let value = match (old, value) {
                                (Some(a), Some(b)) => Some(self.pool().ite(other.guard, a, b)),
                                (a, b) => a.or(b),
                            };
                            (self.merge(other, state.clone())?, value)
                        }
                    });
                    continue;
                }
                let Some(next) = self.execute(edge, state.clone())? else { continue };
                let target = self.graphs.node(self.program.edges[edge].target).ok_or("an edge without a target")?;
                let (from, to) = (&shape.heads[node as usize], &shape.heads[target as usize]);
                let common = from.iter().zip(to).take_while(|(a, b)| a == b).count();
                let mut next_turns: Vec<u32> = turns[..common].to_vec();
                next_turns.resize(to.len(), 0);
                if common == to.len() && to.last() == Some(&target) {
                    let last = next_turns.last_mut().expect("a loop");
                    *last += 1;
                    if *last > self.bound {
                        self.out.is_cut = true;
                        continue;
                    }
                }
                let at = key(target, &next_turns);
                let merged = match todo.remove(&at) {
                    Some((_, _, other)) => self.merge(other, next)?,
                    None => next,
                };
                todo.insert(at, (target, next_turns, merged));
            }
        }
        self.depth -= 1;
        self.stack.pop();
        Ok(done.map(|(mut state, value)| {
            state.vars = outer;
            state.partial = outer_partial;
            (state, value)
        }))
    }

    fn merge(&mut self, a: State, b: State) -> Result<State, GaveUp> {
        if (a.depth, a.block) != (b.depth, b.block) {
            return Err("an atomic section that starts or ends on some paths only");
        }
        let guard = a.guard;
        let mut partial = a.partial;
        partial.extend(b.partial);
        partial.extend(a.vars.keys().filter(|var| !b.vars.contains_key(var)));
        partial.extend(b.vars.keys().filter(|var| !a.vars.contains_key(var)));
        let mut vars = a.vars;
        for (var, value) in b.vars {
            let merged = match vars.get(&var) {
                Some(&old) => self.pool().ite(guard, old, value),
                None => value,
            };
            vars.insert(var, merged);
        }
        let both = |this: &mut Self, a: FxHashMap<Cell, ExprId>, b: FxHashMap<Cell, ExprId>, block: Option<usize>| {
            let mut cells: Vec<Cell> = a.keys().chain(b.keys()).copied().collect();
            cells.sort_unstable();
            cells.dedup();
            let mut merged = FxHashMap::default();
            for cell in cells {
                let [x, y] = [&a, &b].map(|map| match (map.get(&cell), block) {
                    (Some(&value), _) => value,
                    (None, Some(block)) => this.read_in_block(block, cell),
                    (None, None) => this.initial(cell),
                });
                merged.insert(cell, this.pool().ite(guard, x, y));
            }
            merged
        };
        let own = both(self, a.own, b.own, None);
        let written = both(self, a.written, b.written, a.block);
        let guard = self.pool().or(guard, b.guard);
        Ok(State { guard, vars, own, partial, written, depth: a.depth, block: a.block })
    }

    fn eval(&mut self, e: ExprId, state: &State) -> ExprId {
        let program = self.program;
        let mut memo = FxHashMap::default();
        let omits = &mut self.out.omits;
        self.out.pool.substitute(e, &mut memo, |pool, leaf| match *pool.get(leaf) {
            Expr::Var(var) => {
                *omits |= state.partial.contains(&var);
                Some(state.vars.get(&var).copied().unwrap_or_else(|| {
                    let width = program.vars[var].width;
                    match program.vars[var].kind {
                        cfa::VarKind::Global { init: Some(init), .. } => init,
                        _ => {
                            *omits = true;
                            pool.int(width, 0)
                        }
                    }
                }))
            }
            _ => None,
        })
    }

    // Memory.

    /// The content of memory that no thread has written.
    fn initial(&mut self, cell: Cell) -> ExprId {
        if self.unknown.contains(&cell.object) {
            if let Some(&symbol) = self.unknowns.get(&cell) {
                return symbol;
            }
            let symbol = self.fresh(cell.width);
            self.unknowns.insert(cell, symbol);
            return symbol;
        }
        if let Object::Global(global) = cell.object
            && let Some(init) = &self.program.globals[global].init
        {
            let end = cell.offset + u64::from(cell.width.div_ceil(8));
            let pointer = u64::from(self.program.layout.pointer_width / 8);
            let splits = |&(at, _): &(u64, ExprId)| {
                at < end && cell.offset < at + pointer && (at, at + pointer) != (cell.offset, end)
            };
            self.out.omits |= init.pointers.iter().any(splits);
            if let Some(&(_, pointer)) = init.pointers.iter().find(|(at, _)| *at == cell.offset) {
                return self.out.pool.resize(cell.width, pointer);
            }
            let bytes = 0..u64::from(cell.width.div_ceil(8));
            let bytes: Vec<u8> =
                bytes.map(|n| init.bytes.get((cell.offset + n) as usize).copied().unwrap_or(0)).collect();
            let value = Bv::from_le_bytes(&bytes).resize(cell.width);
            return self.out.pool.constant(value);
        }
        self.out.omits |= matches!(cell.object, Object::Global(_));
        self.out.pool.int(cell.width, 0)
    }

    /// The cell at an address.
    fn cell(&mut self, addr: ExprId, width: u32) -> Result<Cell, GaveUp> {
        let pool = &self.out.pool;
        let (base, offset) = match pool.get(addr) {
            Expr::GlobalAddr(_) | Expr::Sym(_) => (addr, 0),
            _ => pool.base_and_offset(addr),
        };
        let object = match *pool.get(base) {
            Expr::GlobalAddr(global) => Object::Global(global),
            _ => *self.bases.get(&base).ok_or("a computed address")?,
        };
        let cell = Cell { object, offset, width };
        let bytes = |width: u32| u64::from(width.div_ceil(8));
        let size = match object {
            Object::Global(global) => Some(self.program.globals[global].size),
            Object::Made(..) => self.sizes.get(&object).copied(),
        };
        let is_inside = offset.checked_add(bytes(width)).zip(size).is_some_and(|(end, size)| end <= size);
        self.out.omits |= !is_inside || !self.lives(object);
        let before = self.cells.range(..=(object, offset)).next_back();
        let after = self.cells.range((object, offset + 1)..).next();
        let overlaps = |(&(other, at), &other_width): (&(Object, u64), &u32)| {
            other == object && (at, other_width) != (offset, width) && {
                at < offset + bytes(width) && offset < at + bytes(other_width)
            }
        };
        if before.into_iter().chain(after).any(overlaps) {
            return Err("accesses of several sizes to the same memory");
        }
        self.cells.insert((object, offset), width);
        let first = *self.first.entry(object).or_insert(self.thread);
        if first != self.thread {
            self.several.insert(object);
        }
        Ok(cell)
    }

    /// True if the object certainly lives. An object on a stack may be dead if its function does not run.
    fn lives(&self, object: Object) -> bool {
        let Object::Made(edge, thread, _) = object else { return true };
        let is_stack = matches!(self.program.edges[edge].op, Op::Alloc { kind: AllocKind::Stack, .. });
        let func = self.program.func_of(edge);
        let is_own = thread == self.thread && self.stack.contains(&func);
        // The program ends when `main` returns.
        !is_stack || is_own || thread == 0 && self.program.funcs[func].name == "main"
    }

    fn event(&mut self, block: usize, guard: ExprId, cell: Cell, access: Access) {
        let initial = self.initial(cell);
        self.out.initial.insert(cell, initial);
        self.out.events.push(Event { block, guard, cell, access });
    }

    /// The value of a cell at the start of a block.
    fn read_in_block(&mut self, block: usize, cell: Cell) -> ExprId {
        if let Some(&symbol) = self.reads.get(&(block, cell)) {
            return symbol;
        }
        let symbol = self.fresh(cell.width);
        self.reads.insert((block, cell), symbol);
        let guard = self.out.blocks[block].guard;
        self.event(block, guard, cell, Access::Read(symbol));
        symbol
    }

    fn is_constant(&self, cell: Cell) -> bool {
        matches!(cell.object, Object::Global(global) if self.program.globals[global].read_only)
    }

    /// Called before an access to shared memory in a block.
    fn enter(&mut self, block: usize, edge: EdgeId) {
        if self.entered.insert(block) {
            self.out.blocks[block].edge = edge;
        }
    }

    fn read(&mut self, state: &State, cell: Cell, edge: EdgeId) -> ExprId {
        if self.is_constant(cell) {
            return self.initial(cell);
        }
        if !self.shared.contains(&cell.object) {
            return state.own.get(&cell).copied().unwrap_or_else(|| self.initial(cell));
        }
        match state.block {
            Some(block) => {
                self.enter(block, edge);
                match state.written.get(&cell) {
                    Some(&value) => value,
                    None => self.read_in_block(block, cell),
                }
            }
            None => {
                let block = self.block(state.guard, edge);
                self.read_in_block(block, cell)
            }
        }
    }

    fn write(&mut self, state: &mut State, cell: Cell, value: ExprId, edge: EdgeId) {
        let value = self.pool().resize(cell.width, value);
        if !self.shared.contains(&cell.object) {
            state.own.insert(cell, value);
        } else if let Some(block) = state.block {
            self.enter(block, edge);
            state.written.insert(cell, value);
        } else {
            let block = self.block(state.guard, edge);
            self.event(block, state.guard, cell, Access::Write(value));
        }
    }

    fn begin(&mut self, state: &mut State, edge: EdgeId) {
        if state.depth == 0 {
            state.block = Some(self.block(state.guard, edge));
        }
        state.depth += 1;
    }

    fn finish(&mut self, state: &mut State) {
        state.depth = state.depth.saturating_sub(1);
        if let (0, Some(block)) = (state.depth, state.block.take_if(|_| state.depth == 0)) {
            let mut written: Vec<(Cell, ExprId)> = state.written.drain().collect();
            written.sort_unstable_by_key(|(cell, _)| *cell);
            for (cell, value) in written {
                self.event(block, state.guard, cell, Access::Write(value));
            }
        }
    }

    // Operations.

    /// Executes an edge. Returns the state after it, unless the path ends.
    fn execute(&mut self, edge: EdgeId, mut state: State) -> Result<Option<State>, GaveUp> {
        let program = self.program;
        match &program.edges[edge].op {
            Op::Skip | Op::Leak(_) | Op::Free { family: Family::Scope, .. } => {}
            Op::Approx { taint } => self.out.omits |= program.taints[*taint].under,
            Op::Free { .. } | Op::Shadow(_) => self.out.omits = true,
            Op::Assign { var, value } => {
                if program.vars[*var].func().is_none() {
                    return Err("a global variable outside of memory");
                }
                let value = self.eval(*value, &state);
                state.set(*var, value);
            }
            Op::Assume { cond, .. } => {
                let cond = self.eval(*cond, &state);
                state.guard = self.pool().and(state.guard, cond);
                if self.pool().is_false(cond) || self.out.pool.is_false(state.guard) {
                    return Ok(None);
                }
            }
            Op::Load { var, addr } => {
                let addr = self.eval(*addr, &state);
                let cell = self.cell(addr, program.vars[*var].width)?;
                let value = self.read(&state, cell, edge);
                state.set(*var, value);
            }
            Op::Store { addr, value } => {
                let (addr, value) = (self.eval(*addr, &state), self.eval(*value, &state));
                let width = self.out.pool.width(value);
                let cell = self.cell(addr, width)?;
                self.write(&mut state, cell, value, edge);
            }
            Op::Alloc { var, size, kind, zeroed, .. } => {
                let size = self.eval(*size, &state);
                let size = self.out.pool.as_const(size).and_then(Bv::to_u64);
                let number = self.made.entry((edge, self.thread)).or_insert(0);
                *number += 1;
                let object = Object::Made(edge, self.thread, *number);
                let base = self.fresh(program.layout.pointer_width);
                self.bases.insert(base, object);
                self.sizes.extend(size.map(|size| (object, size)));
                if !zeroed {
                    self.unknown.insert(object);
                }
                // The two kinds exclude objects that the analysis would have to create on demand.
                self.out.omits |= matches!(kind, AllocKind::Given | AllocKind::Placeholder);
                state.set(*var, base);
            }
            Op::Havoc { var, input } => {
                let symbol = self.fresh(program.vars[*var].width);
                self.out.inputs.push(Input { thread: self.thread, guard: state.guard, input: *input, symbol });
                state.set(*var, symbol);
            }
            Op::Halt(_) => {
                let block = self.block(state.guard, edge);
                self.out.ends.push((state.guard, block));
                return Ok(None);
            }
            Op::Error(_) => {
                let block = self.block(state.guard, edge);
                self.out.errors.push((state.guard, block));
                return Ok(None);
            }
            Op::Call { callee, args, result, .. } => {
                let func = match callee {
                    Callee::Direct(func) => *func,
                    Callee::Indirect(at) => {
                        let at = self.eval(*at, &state);
                        match *self.out.pool.get(at) {
                            Expr::FuncAddr(func) => func,
                            _ => return Err("a call of an unknown function"),
                        }
                    }
                };
                let args: Vec<ExprId> = args.iter().map(|&arg| self.eval(arg, &state)).collect();
                let Some((after, value)) = self.called(func, &args, state, edge)? else { return Ok(None) };
                state = after;
                if let Some(var) = result {
                    let width = program.vars[*var].width;
                    let value = match value {
                        Some(value) => self.pool().resize(width, value),
                        None => self.pool().int(width, 0),
                    };
                    state.set(*var, value);
                }
            }
            Op::Return { .. } => return Err("a return"),
            Op::ObjectSize { .. } | Op::ObjectOffset { .. } => return Err("the size of an object"),
            Op::Copy { .. } | Op::Fill { .. } => return Err("an access to many bytes"),
        }
        Ok(Some(state))
    }

    fn called(
        &mut self,
        func: FuncId,
        args: &[ExprId],
        mut state: State,
        edge: EdgeId,
    ) -> Result<Option<(State, Option<ExprId>)>, GaveUp> {
        let program = self.program;
        let (name, is_model) = (program.funcs[func].name.as_str(), program.funcs[func].origin == FunctionOrigin::Model);
        let zero = self.pool().int(32, 0);
        if let Some(op) = ThreadOp::by_name(name) {
            match op {
                ThreadOp::Begin => {
                    self.orders(args.first());
                    self.begin(&mut state, edge);
                }
                ThreadOp::Finish => self.finish(&mut state),
                ThreadOp::Fence => self.orders(args.first()),
                ThreadOp::Update => self.orders(args.get(1)),
                ThreadOp::Acquire | ThreadOp::Release | ThreadOp::Observe | ThreadOp::Lock => {}
                _ => return Err("an operation of the library on threads"),
            }
            return Ok(Some((state, None)));
        }
        if !is_model {
            let is_atomic = name.starts_with("__VERIFIER_atomic_");
            if is_atomic {
                self.begin(&mut state, edge);
            }
            let mut returned = self.call(func, args, state)?;
            if let (true, Some((state, _))) = (is_atomic, &mut returned) {
                self.finish(state);
            }
            return Ok(returned);
        }
        let arg = |n: usize| args.get(n).copied().ok_or("a missing argument");
        let mut value = zero;
        match name.strip_suffix(".void").unwrap_or(name) {
            "pthread_create" => {
                self.detaches |= self.out.pool.as_const(arg(1)?).is_none_or(|attributes| !attributes.is_zero());
                self.start(arg(0)?, arg(2)?, arg(3)?, &mut state, edge)?;
            }
            "thrd_create" => self.start(arg(0)?, arg(1)?, arg(2)?, &mut state, edge)?,
            "pthread_join" | "thrd_join" => self.join(arg(0)?, arg(1)?, &mut state, edge)?,
            "pthread_exit" => {
                self.ends(&state, Some(arg(0)?), edge);
                return Ok(None);
            }
            "pthread_mutex_lock" | "mtx_lock" | "pthread_spin_lock" => self.lock(arg(0)?, &mut state, edge)?,
            "pthread_mutex_unlock" | "mtx_unlock" | "pthread_spin_unlock" => {
                let cell = self.cell(arg(0)?, 32)?;
                self.write(&mut state, cell, zero, edge);
            }
            "pthread_cond_wait" | "cnd_wait" => {
                let cell = self.cell(arg(1)?, 32)?;
                self.write(&mut state, cell, zero, edge);
                self.lock(arg(1)?, &mut state, edge)?;
            }
            "pthread_mutex_init" if self.out.pool.as_const(arg(1)?).is_none_or(|attributes| !attributes.is_zero()) => {
                return Err("the kind of a mutex");
            }
            "pthread_mutex_init" | "pthread_spin_init" => {
                let cell = self.cell(arg(0)?, 32)?;
                self.write(&mut state, cell, zero, edge);
            }
            "pthread_mutex_destroy"
            | "pthread_cond_init"
            | "pthread_cond_destroy"
            | "pthread_cond_signal"
            | "pthread_cond_broadcast"
            | "pthread_spin_destroy"
            | "cnd_init"
            | "cnd_signal"
            | "cnd_broadcast"
            | "cnd_destroy"
            | "mtx_destroy"
            | "sched_yield"
            | "thrd_yield"
            | "sleep"
            | "usleep"
            | "puts"
            | "putchar" => value = self.fresh(32),
            "pthread_detach" => {
                self.detaches = true;
                value = self.fresh(32);
            }
            name @ ("printf" | "fprintf") => {
                self.out.omits |= args.get(usize::from(name == "fprintf")).is_none_or(|&format| self.may_store(format));
                value = self.fresh(32);
            }
            _ => return self.call(func, args, state),
        }
        Ok(Some((state, Some(value))))
    }

    /// Called for each operation with a memory order. The unrolled program is sequentially consistent.
    fn orders(&mut self, order: Option<&ExprId>) {
        let order = order.and_then(|&order| self.out.pool.as_const(order)?.to_u64());
        self.out.omits |= order.is_none_or(|order| order < order::SEQUENTIAL);
    }

    /// True if a format may contain `%n`, which stores a number.
    fn may_store(&self, format: ExprId) -> bool {
        let Expr::GlobalAddr(global) = *self.out.pool.get(format) else { return true };
        let global = &self.program.globals[global];
        let Some(init) = global.init.as_ref().filter(|_| global.read_only) else { return true };
        let is_letter = |byte: &&u8| byte.is_ascii_alphabetic() && !b"hljztLqI".contains(*byte);
        init.bytes.split(|&byte| byte == b'%').skip(1).any(|part| part.iter().find(is_letter) == Some(&b'n'))
    }

    /// True if the bytes of a static lock are zero: other kinds of mutexes have other bytes.
    fn has_plain_kind(&self, cell: Cell) -> bool {
        let Object::Global(global) = cell.object else { return true };
        let Some(init) = &self.program.globals[global].init else { return false };
        let is_part = |at: u64| (cell.offset..cell.offset + 40).contains(&at);
        let is_zero = |at: u64| init.bytes.get(at as usize).is_none_or(|&byte| byte == 0);
        (cell.offset..cell.offset + 40).all(is_zero) && !init.pointers.iter().any(|&(at, _)| is_part(at))
    }

    fn lock(&mut self, addr: ExprId, state: &mut State, edge: EdgeId) -> Result<(), GaveUp> {
        if state.depth > 0 {
            return Err("a lock in an atomic section");
        }
        let cell = self.cell(addr, 32)?;
        self.out.omits |= !self.has_plain_kind(cell);
        self.begin(state, edge);
        let (old, zero, one) = (self.read(state, cell, edge), self.pool().int(32, 0), self.pool().int(32, 1));
        let is_free = self.pool().eq(old, zero);
        state.guard = self.pool().and(state.guard, is_free);
        self.write(state, cell, one, edge);
        self.finish(state);
        Ok(())
    }

    fn start(
        &mut self,
        id: ExprId,
        start: ExprId,
        argument: ExprId,
        state: &mut State,
        edge: EdgeId,
    ) -> Result<(), GaveUp> {
        let Expr::FuncAddr(func) = *self.out.pool.get(start) else { return Err("an unknown start function") };
        let number = self.started.len() as u32;
        if number >= MOST_THREADS {
            return Err("too many threads");
        }
        if state.depth > 0 {
            return Err("a thread that starts in an atomic section");
        }
        let width = self.program.layout.pointer_width;
        let (cell, value) = (self.cell(id, width)?, self.fresh(width));
        // Only the first thread joins others, so what it has joined before it starts a thread is known.
        let ids = 0..self.out.ids.len();
        let may_be_free = |&id: &usize| self.thread != 0 || self.detaches || self.joined.contains(&id);
        let reused: Vec<(usize, usize)> = ids.filter(may_be_free).map(|id| (id, number as usize - 1)).collect();
        self.out.reused.extend(reused);
        self.out.ids.push(value);
        self.write(state, cell, value, edge);
        let block = self.block(state.guard, edge);
        self.out.blocks[block].starts = Some(number);
        self.started.push(None);
        let (thread, depth, stack) = (self.thread, self.depth, std::mem::take(&mut self.stack));
        let first = self.out.blocks.len();
        (self.thread, self.depth) = (number, 0);
        self.thread(func, &[argument], state.guard)?;
        (self.thread, self.depth, self.stack) = (thread, depth, stack);
        if first < self.out.blocks.len() {
            self.out.orders.push((state.guard, block, first));
        }
        Ok(())
    }

    fn join(&mut self, id: ExprId, result: ExprId, state: &mut State, edge: EdgeId) -> Result<(), GaveUp> {
        // Another thread may join a thread that is unrolled later.
        self.out.omits |= self.thread != 0;
        let block = self.block(state.guard, edge);
        let width = self.program.layout.pointer_width;
        let id = self.pool().resize(width, id);
        match self.out.ids.iter().position(|&other| other == id) {
            Some(joined) => _ = self.joined.insert(joined),
            None => self.joined.extend(0..self.out.ids.len()),
        }
        let (mut ended, mut value) = (self.pool().bool(false), self.pool().int(width, 0));
        for number in 1..self.started.len() {
            let Some(started) = &self.started[number] else { continue };
            let (has_ended, last, its) = (started.ended, started.last.clone(), started.result);
            let its_id = self.out.ids[number - 1];
            let pool = self.pool();
            let is = pool.eq(id, its_id);
            let over = pool.and(is, has_ended);
            ended = pool.or(ended, over);
            value = pool.ite(is, its, value);
            for (guard, end) in last {
                let guard = self.pool().and(guard, is);
                let guard = self.pool().and(guard, state.guard);
                self.out.orders.push((guard, end, block));
            }
        }
        state.guard = self.pool().and(state.guard, ended);
        if self.out.pool.as_const(result).is_none_or(|result| !result.is_zero()) {
            let cell = self.cell(result, width)?;
            self.write(state, cell, value, edge);
        }
        Ok(())
    }
}
