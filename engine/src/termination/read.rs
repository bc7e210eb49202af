//! Expresses the code of a cycle over named variables and memory cells.

use cfa::text::c_object;
use cfa::{Callee, EdgeId, ExprId, FuncId, LocId, Op, Program, VarId, VarKind};
use instrument::termination::RankedCell;
use rustc_hash::{FxHashMap, FxHashSet};

/// Largest number of cells.
const CELLS: usize = 10;
/// Largest depth to which definitions are expanded.
const DEPTH: u32 = 6;
/// Largest depth to which definitions in addresses are expanded.
const ADDRESS: u32 = 3;
/// Largest depth of calls whose callees are read.
const CALLS: usize = 3;
/// Largest number of edges of callees per cycle.
const EDGES: usize = 400;

/// Expands the compiler's temporaries, and the parameters of callees.
pub struct Reader {
    func: FuncId,
    /// By function: its variables with a single definition. In callees these include named variables.
    definitions: FxHashMap<FuncId, FxHashMap<VarId, Op>>,
    /// The arguments of active callees, by parameter. Parameters without a known argument have no entry.
    given: FxHashMap<VarId, ExprId>,
    /// The active callees, innermost last.
    calling: Vec<FuncId>,
    /// Number of callee edges that may still be read.
    left: usize,
    /// The memory cells that were found.
    pub cells: Vec<RankedCell>,
}

impl Reader {
    /// A reader for the code of `func`.
    pub fn new(program: &Program, func: FuncId) -> Self {
        let mut reader = Self {
            func,
            definitions: FxHashMap::default(),
            given: FxHashMap::default(),
            calling: Vec::new(),
            left: EDGES,
            cells: Vec::new(),
        };
        reader.define(program, func);
        reader
    }

    /// Collects the single definitions of a function.
    fn define(&mut self, program: &Program, func: FuncId) {
        if self.definitions.contains_key(&func) {
            return;
        }
        let mut definitions: FxHashMap<VarId, Op> = FxHashMap::default();
        let mut twice = FxHashSet::default();
        for edge in body(program, func) {
            let op = &program.edges[edge].op;
            if let Some(var) = op.def()
                && definitions.insert(var, op.clone()).is_some()
            {
                twice.insert(var);
            }
        }
        let is_own = |v: &VarId| program.vars[*v].func() == Some(func);
        definitions.retain(|v, _| is_own(v) && !twice.contains(v));
        self.definitions.insert(func, definitions);
    }

    /// An expression over named variables and cells that equals `e`; `None` if there is none.
    pub fn read(&mut self, program: &mut Program, e: ExprId) -> Option<ExprId> {
        self.resolve(program, e, DEPTH)
    }

    /// True if a variable has a meaning in the cycle itself.
    fn is_known(&self, program: &Program, var: VarId) -> bool {
        match program.vars[var].kind {
            VarKind::Global { .. } => true,
            VarKind::Temp(_) => self.cells.iter().any(|c| c.var == var),
            VarKind::Local(func) | VarKind::Param(func) => func == self.func,
        }
    }

    fn resolve(&mut self, program: &mut Program, e: ExprId, depth: u32) -> Option<ExprId> {
        let mut memo = FxHashMap::default();
        for var in program.exprs.vars(e) {
            if self.is_known(program, var) {
                continue;
            }
            let meaning = match self.given.get(&var) {
                Some(&given) => given,
                None => self.defined(program, var, depth)?,
            };
            memo.insert(program.var_expr(var), meaning);
        }
        let mut leaves = memo.clone();
        Some(program.exprs.substitute(e, &mut leaves, |_, leaf| memo.get(&leaf).copied()))
    }

    /// The expanded definition of a variable.
    fn defined(&mut self, program: &mut Program, var: VarId, depth: u32) -> Option<ExprId> {
        let func = program.vars[var].func()?;
        match self.definitions.get(&func)?.get(&var)?.clone() {
            // A stack object.
            Op::Alloc { .. } if func == self.func => Some(program.var_expr(var)),
            _ if depth == 0 => None,
            Op::Assign { value, .. } => self.resolve(program, value, depth - 1),
            Op::Load { addr, .. } => self.cell(program, addr, var),
            _ => None,
        }
    }

    /// The variable that represents the memory cell at `addr`, which is loaded into `like`.
    pub fn cell(&mut self, program: &mut Program, addr: ExprId, like: VarId) -> Option<ExprId> {
        let addr = self.resolve(program, addr, ADDRESS)?;
        let of_cell = |v: &VarId| self.cells.iter().any(|c| c.var == *v);
        let width = program.vars[like].width;
        if width > 64 || !width.is_multiple_of(8) || program.exprs.vars(addr).iter().any(of_cell) {
            return None;
        }
        if let Some(c) = self.cells.iter().find(|c| c.addr == addr && program.vars[c.var].width == width) {
            return Some(program.var_expr(c.var));
        }
        if self.cells.len() >= CELLS {
            return None;
        }
        // The name of the cell in the ranking function.
        let name = Some(c_object(program, &program.exprs, addr, width));
        let var = cfa::Var { kind: VarKind::Temp(self.func), name, ..program.vars[like].clone() };
        let var = program.vars.push(var);
        self.cells.push(RankedCell { var, addr });
        Some(program.var_expr(var))
    }

    /// The conditions of a callee, and of its callees, over the variables of the caller. Adds the cells that they load.
    /// Conditions at `guarded` locations are guards of overflow, and are ignored.
    pub fn in_callee(&mut self, program: &mut Program, call: EdgeId, guarded: &FxHashSet<LocId>) -> Vec<ExprId> {
        let Op::Call { callee: Callee::Direct(func), ref args, .. } = program.edges[call].op else { return Vec::new() };
        // In a recursive call, a parameter is a different variable.
        if func == self.func || self.calling.contains(&func) || self.calling.len() >= CALLS {
            return Vec::new();
        }
        let args = args.clone();
        let edges = body(program, func);
        if edges.len() > self.left {
            return Vec::new();
        }
        self.left -= edges.len();
        self.define(program, func);
        let args: Vec<Option<ExprId>> = args.into_iter().map(|arg| self.read(program, arg)).collect();
        let params = program.funcs[func].params.clone();
        for (&param, arg) in params.iter().zip(args) {
            let fits = |arg: &ExprId| program.exprs.width(*arg) == program.vars[param].width;
            // A parameter that is written may differ from its argument.
            let is_steady = !edges.iter().any(|&edge| program.edges[edge].op.def() == Some(param));
            match arg.filter(|arg| is_steady && fits(arg)) {
                Some(arg) => self.given.insert(param, arg),
                None => self.given.remove(&param),
            };
        }
        self.calling.push(func);
        let mut conditions = Vec::new();
        for edge in edges {
            match program.edges[edge].op.clone() {
                Op::Assume { .. } if guarded.contains(&program.edges[edge].source) => {}
                Op::Assume { cond, branch: true, .. } => conditions.extend(self.read(program, cond)),
                Op::Load { addr, var } => drop(self.cell(program, addr, var)),
                Op::Call { .. } => conditions.extend(self.in_callee(program, edge, guarded)),
                _ => {}
            }
        }
        self.calling.pop();
        conditions
    }
}

/// The edges of a function, ordered by id.
fn body(program: &Program, func: FuncId) -> Vec<EdgeId> {
    let entry = program.funcs[func].entry;
    let (mut todo, mut seen) = (vec![entry], FxHashSet::from_iter([entry]));
    let mut edges = Vec::new();
    while let Some(loc) = todo.pop() {
        for edge in program.out_edges(loc) {
            edges.push(edge);
            let target = program.edges[edge].target;
            if seen.insert(target) {
                todo.push(target);
            }
        }
    }
    edges.sort_unstable();
    edges
}
