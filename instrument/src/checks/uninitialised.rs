//! Uses of uninitialised values, as MemorySanitizer defines them.
//!
//! A variable that may hold an uninitialised value gets a shadow variable. Each bit of the shadow is 1 if that bit of
//! the value is uninitialised. Assignments propagate shadows (`shadow`). Memory operations propagate the shadow
//! memory ([`Op::Shadow`]). A copy is not a use. A value is used if it decides a branch, if it is an address, a length
//! or a callee, and where the front-end marks it with an assignment whose fault is an error (`lower/initialised` in
//! `frontend-llvm`). Later stages see only ordinary operations and errors.

mod shadow;

use cfa::{
    BinOp, CType, Callee, Check, EdgeId, ErrorInfo, Expr, ExprId, FuncId, FunctionOrigin, HaltKind, InputKind, LocId,
    Op, Out, PlaceId, Program, Var, VarId, VarKind,
};
use rustc_hash::{FxHashMap, FxHashSet};
use shadow::Shadows;

/// Makes uses of uninitialised values errors, if `checks` contains [`Check::Memory`].
pub fn uninitialised(program: &mut Program, checks: &[Check]) {
    if !checks.contains(&Check::Memory) {
        return;
    }
    let mut weaver = Weaver::new(program);
    let edges: Vec<EdgeId> = weaver.program.edges.ids().collect();
    let locs: Vec<LocId> = weaver.program.locs.ids().collect();
    for loc in locs {
        weaver.branch(loc);
    }
    for edge in edges {
        weaver.edge(edge);
    }
    weaver.parameters();
}

/// A shadow that a call or return passes: of an argument by its position, or of the result.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Passed {
    Argument(usize),
    Result,
}

/// The instrumentation of a program with shadows.
struct Weaver<'p> {
    program: &'p mut Program,
    /// The shadows of the variables that may be uninitialised.
    shadows: Shadows,
    /// The global variable for each passed shadow.
    passed: FxHashMap<Passed, VarId>,
    /// For each call or return edge, the values that were checked immediately before it.
    demanded: FxHashMap<EdgeId, Vec<ExprId>>,
    /// The expressions that temporaries copy, for messages.
    copies: FxHashMap<VarId, ExprId>,
}

/// The maximal number of variables to inspect for a message.
const MOST: usize = 16;

impl<'p> Weaver<'p> {
    fn new(program: &'p mut Program) -> Self {
        let demanded = demands(program);
        let maybe = may_be_uninitialised(program, &demanded);
        let mut shadows = Shadows::default();
        let mut widths: FxHashMap<Passed, u32> = FxHashMap::default();
        for func in program.funcs.ids() {
            for (i, &param) in program.funcs[func].params.iter().enumerate().filter(|(_, p)| maybe.vars.contains(p)) {
                let width = widths.entry(Passed::Argument(i)).or_default();
                *width = program.vars[param].width.max(*width);
            }
            if let (true, Some(result)) = (maybe.results.contains(&func), program.funcs[func].return_width) {
                let width = widths.entry(Passed::Result).or_default();
                *width = result.max(*width);
            }
        }
        let mut vars: Vec<VarId> = maybe.vars.into_iter().collect();
        vars.sort_unstable();
        for var in vars {
            let width = program.vars[var].width;
            let kind = program.vars[var].func().map(VarKind::Temp);
            let shadow = variable(program, width, kind);
            shadows.variables.insert(var, shadow);
        }
        let mut widths: Vec<(Passed, u32)> = widths.into_iter().collect();
        widths.sort_unstable_by_key(|(passed, _)| match passed {
            Passed::Argument(n) => n + 1,
            Passed::Result => 0,
        });
        let passed = widths.into_iter().map(|(passed, width)| (passed, variable(program, width, None))).collect();
        let copy = |op: &Op| match *op {
            Op::Assign { var, value } => Some((var, value)),
            _ => None,
        };
        let copies =
            program.edges.values().filter_map(|e| copy(&e.op)).filter(|(v, _)| program.vars[*v].name.is_none());
        let copies = copies.collect();
        Self { program, shadows, passed, demanded, copies }
    }

    // Uses.

    /// Checks that the condition of a branch is initialised.
    fn branch(&mut self, loc: LocId) {
        let Out::Branch { then_edge, else_edge } = self.program.locs[loc].out else { return };
        let Op::Assume { cond, .. } = self.program.edges[then_edge].op else { return };
        if self.program.exprs.vars(cond).iter().all(|v| !self.shadows.variables.contains_key(v)) {
            return;
        }
        let place = self.program.edges[then_edge].place;
        self.program.locs[loc].out = Out::Sink;
        let mut at = Cursor { loc, place };
        self.used(&mut at, cond, "it decides a branch");
        self.program.locs[at.loc].out = Out::Branch { then_edge, else_edge };
        for edge in [then_edge, else_edge] {
            self.program.edges[edge].source = at.loc;
        }
    }

    /// Inserts an error that is reached if a bit of the value is uninitialised.
    fn used(&mut self, at: &mut Cursor, value: ExprId, what: &str) {
        let shadow = self.shadow(at, value);
        let width = self.program.exprs.width(shadow);
        let zero = self.program.exprs.int(width, 0);
        let violated = self.program.exprs.ne(shadow, zero);
        if self.program.exprs.is_false(violated) {
            return;
        }
        let message = format!("{} is not initialised: {what}", self.subject(value));
        let func = self.program.locs[at.loc].func;
        let [bad, on, sink] = [(); 3].map(|()| self.program.add_location(func));
        let error = self.program.errors.push(ErrorInfo { check: Check::Memory, message, place: at.place });
        self.program.add_branch(at.loc, violated, bad, on, at.place);
        self.program.add_edge(bad, Op::Error(error), sink, at.place);
        at.loc = on;
        // From here on the value is known to be initialised, so later checks need not prove it again.
        if let Expr::Var(var) = *self.program.exprs.get(value) {
            self.clear(at, var);
        }
    }

    /// The names of the variables of `value` that may be uninitialised, for the message.
    fn subject(&self, value: ExprId) -> String {
        let mut vars = self.program.exprs.vars(value).to_vec();
        let mut names: Vec<String> = Vec::new();
        let mut next = 0;
        while let Some(&var) = vars.get(next) {
            next += 1;
            if !self.shadows.variables.contains_key(&var) {
                continue;
            }
            // Variables of library models are unknown to the user.
            let func = self.program.vars[var].func();
            let is_own = func.is_none_or(|f| self.program.funcs[f].origin != FunctionOrigin::Model);
            let name = self.program.vars[var].name.as_ref().filter(|_| is_own);
            match (name, self.copies.get(&var)) {
                (Some(name), _) => names.push(format!("`{name}`")),
                (None, Some(&value)) if next <= MOST => {
                    let of = self.program.exprs.vars(value);
                    vars.extend(of.iter().filter(|v| !vars.contains(v)).copied().collect::<Vec<_>>());
                }
                _ => {}
            }
        }
        names.sort_unstable();
        names.dedup();
        if names.is_empty() { "a value".into() } else { names.join(" or ") }
    }

    /// The values that an operation uses, with the reason for the message.
    fn needs(&self, op: &Op) -> Vec<(ExprId, &'static str)> {
        const ADDRESS: &str = "it is an address that is accessed";
        const LENGTH: &str = "it is a number of bytes";
        match *op {
            Op::Load { addr, .. } | Op::Store { addr, .. } => vec![(addr, ADDRESS)],
            Op::Copy { dst, src, len } => vec![(dst, ADDRESS), (src, ADDRESS), (len, LENGTH)],
            Op::Fill { dst, len, .. } => vec![(dst, ADDRESS), (len, LENGTH)],
            Op::Free { ptr, .. } => vec![(ptr, "it is freed")],
            Op::ObjectSize { ptr, .. } => vec![(ptr, ADDRESS)],
            Op::Alloc { size, .. } => vec![(size, LENGTH)],
            Op::Call { callee: Callee::Indirect(callee), .. } => vec![(callee, "it is called")],
            Op::Halt(HaltKind::Exit(status) | HaltKind::ExitNow(status)) => {
                vec![(status, "it is the status of the program")]
            }
            _ => Vec::new(),
        }
    }

    // Propagation of shadows.

    /// Inserts the shadow operations of an edge before it, and for a call also after it.
    fn edge(&mut self, edge: EdgeId) {
        let (op, place, loc) =
            (self.program.edges[edge].op.clone(), self.program.edges[edge].place, self.program.edges[edge].source);
        if matches!(op, Op::Assume { .. } | Op::Shadow(_) | Op::Skip | Op::Error(_) | Op::Approx { .. } | Op::Leak(_)) {
            return;
        }
        let model = self.program.funcs[self.program.locs[loc].func].origin == FunctionOrigin::Model;
        self.program.locs[loc].out = Out::Sink;
        let mut at = Cursor { loc, place };
        for (value, what) in self.needs(&op) {
            self.used(&mut at, value, what);
        }
        if let Some(error) = self.program.edges[edge].fault.filter(|&e| self.program.errors[e].check == Check::Memory) {
            self.program.edges[edge].fault = None;
            let what = self.program.errors[error].message.clone();
            if let Op::Assign { value, .. } = op {
                self.used(&mut at, value, &what);
            }
        }
        self.propagate(&mut at, edge, &op, model);
        self.program.attach(edge, at.loc);
    }

    fn propagate(&mut self, at: &mut Cursor, edge: EdgeId, op: &Op, model: bool) {
        match *op {
            Op::Assign { var, value } if self.shadows.variables.contains_key(&var) => {
                let shadow = self.shadow(at, value);
                self.assign(at, var, shadow);
            }
            Op::Load { var, addr } => {
                if let Some(&shadow) = self.shadows.variables.get(&var) {
                    self.emit(at, Op::Shadow(Box::new(Op::Load { var: shadow, addr })));
                }
            }
            Op::Store { addr, value } => {
                let value = self.shadow(at, value);
                self.emit(at, Op::Shadow(Box::new(Op::Store { addr, value })));
            }
            Op::Copy { .. } => self.emit(at, Op::Shadow(Box::new(op.clone()))),
            Op::Fill { dst, byte, len } => {
                let byte = self.shadow(at, byte);
                self.emit(at, Op::Shadow(Box::new(Op::Fill { dst, byte, len })));
            }
            Op::Havoc { var, input } => {
                let is_unset = matches!(self.program.inputs[input].kind, InputKind::Uninit(_)) && !model;
                let width = self.program.vars[var].width;
                let zero = self.program.exprs.int(width, 0);
                let shadow = if is_unset { self.program.exprs.not(zero) } else { zero };
                self.assign(at, var, shadow);
            }
            Op::Alloc { var, .. } | Op::ObjectSize { var, .. } | Op::ObjectOffset { var, .. } => self.clear(at, var),
            Op::Call { ref args, result, .. } => self.call(at, edge, args, result),
            Op::Return { value } => {
                if let Some(&passed) = self.passed.get(&Passed::Result) {
                    self.pass(at, edge, passed, value);
                }
            }
            _ => {}
        }
    }

    fn call(&mut self, at: &mut Cursor, edge: EdgeId, args: &[ExprId], result: Option<VarId>) {
        let mut positions: Vec<(usize, VarId)> = Vec::new();
        for (&passed, &var) in &self.passed {
            if let Passed::Argument(n) = passed {
                positions.push((n, var));
            }
        }
        positions.sort_unstable();
        for (n, var) in positions {
            self.pass(at, edge, var, args.get(n).copied());
        }
        let Some(&shadow) = result.and_then(|var| self.shadows.variables.get(&var)) else { return };
        let (func, target, place) = (self.program.func_of(edge), self.program.edges[edge].target, at.place);
        let behind = self.program.add_location(func);
        self.program.edges[edge].target = behind;
        let width = self.program.vars[shadow].width;
        let value = match self.passed.get(&Passed::Result) {
            Some(&passed) => {
                let passed = self.program.var_expr(passed);
                self.program.exprs.resize(width, passed)
            }
            None => self.program.exprs.int(width, 0),
        };
        self.program.add_edge(behind, Op::Assign { var: shadow, value }, target, place);
    }

    /// Passes the shadow of a value to the callee or caller. Without a value, passes 0.
    fn pass(&mut self, at: &mut Cursor, edge: EdgeId, passed: VarId, value: Option<ExprId>) {
        let width = self.program.vars[passed].width;
        let is_demanded = |e: &ExprId| self.demanded.get(&edge).is_some_and(|all| all.contains(e));
        let shadow = match value.filter(|e| !is_demanded(e)) {
            Some(value) => self.shadow(at, value),
            None => self.program.exprs.int(width, 0),
        };
        let value = self.program.exprs.resize(width, shadow);
        self.emit(at, Op::Assign { var: passed, value });
    }

    /// Inserts assignments at function entries that copy the passed shadows to those of the parameters.
    fn parameters(&mut self) {
        for func in self.program.funcs.ids().collect::<Vec<_>>() {
            let entry = self.program.funcs[func].entry;
            let mut first = entry;
            for (n, param) in self.program.funcs[func].params.clone().into_iter().enumerate() {
                let Some(&shadow) = self.shadows.variables.get(&param) else { continue };
                let width = self.program.vars[shadow].width;
                let passed = self.program.var_expr(self.passed[&Passed::Argument(n)]);
                let value = self.program.exprs.resize(width, passed);
                let loc = self.program.add_location(func);
                self.program.add_edge(loc, Op::Assign { var: shadow, value }, first, None);
                first = loc;
            }
            self.program.funcs[func].entry = first;
        }
    }

    fn clear(&mut self, at: &mut Cursor, var: VarId) {
        let zero = self.program.exprs.int(self.program.vars[var].width, 0);
        self.assign(at, var, zero);
    }
    fn assign(&mut self, at: &mut Cursor, var: VarId, value: ExprId) {
        if let Some(&var) = self.shadows.variables.get(&var) {
            self.emit(at, Op::Assign { var, value });
        }
    }
    fn emit(&mut self, at: &mut Cursor, op: Op) {
        at.emit(self.program, op);
    }
    fn shadow(&mut self, at: &mut Cursor, value: ExprId) -> ExprId {
        self.shadows.expression(self.program, at, value)
    }
}

/// The position where the next edge is inserted.
struct Cursor {
    loc: LocId,
    place: Option<PlaceId>,
}

impl Cursor {
    fn emit(&mut self, program: &mut Program, op: Op) {
        let next = program.add_location(program.locs[self.loc].func);
        program.add_edge(self.loc, op, next, self.place);
        self.loc = next;
    }
}

/// Adds a variable. Without a `kind`, it is global and initially 0.
fn variable(program: &mut Program, width: u32, kind: Option<VarKind>) -> VarId {
    let ty = program.types.push(CType::Unknown { width });
    let init = Some(program.exprs.int(width, 0));
    let kind = kind.unwrap_or(VarKind::Global { init, is_static: false });
    program.vars.push(Var { name: None, ty, width, kind, place: None })
}

/// For each call or return, the passed values that were checked immediately before it.
fn demands(program: &Program) -> FxHashMap<EdgeId, Vec<ExprId>> {
    let mut all: FxHashMap<EdgeId, Vec<ExprId>> = FxHashMap::default();
    let mut recent: Vec<ExprId> = Vec::new();
    let mut before = None;
    // The edges of straight-line code have consecutive ids.
    for (id, edge) in program.edges.iter() {
        if before != Some(edge.source) {
            recent.clear();
        }
        before = Some(edge.target);
        match edge.op {
            Op::Assign { value, .. } if edge.fault.is_some() => recent.push(value),
            Op::Call { .. } | Op::Return { .. } => {
                all.insert(id, std::mem::take(&mut recent));
            }
            _ => {}
        }
        if let Some(var) = edge.op.def() {
            recent.retain(|&e| !program.exprs.vars(e).contains(&var));
        }
    }
    all
}

/// The variables and results that may be uninitialised.
#[derive(Default)]
struct Maybe {
    vars: FxHashSet<VarId>,
    /// The functions whose results may be uninitialised.
    results: FxHashSet<FuncId>,
}

fn may_be_uninitialised(program: &Program, demanded: &FxHashMap<EdgeId, Vec<ExprId>>) -> Maybe {
    let mut maybe = Maybe::default();
    let calls = cfa::CallGraph::new(program);
    loop {
        let before = (maybe.vars.len(), maybe.results.len());
        for (id, edge) in program.edges.iter() {
            let model = program.funcs[program.func_of(id)].origin == FunctionOrigin::Model;
            let is_demanded = |e: &ExprId| demanded.get(&id).is_some_and(|all| all.contains(e));
            let mentions = |maybe: &Maybe, e: ExprId| program.exprs.vars(e).iter().any(|v| maybe.vars.contains(v));
            match edge.op {
                Op::Assign { var, value } if mentions(&maybe, value) => drop(maybe.vars.insert(var)),
                Op::Load { var, addr } if !is_constant(program, addr) => drop(maybe.vars.insert(var)),
                Op::Havoc { var, input } if matches!(program.inputs[input].kind, InputKind::Uninit(_)) && !model => {
                    maybe.vars.insert(var);
                }
                Op::Call { ref callee, ref args, result, .. } => {
                    let callees = match callee {
                        Callee::Direct(f) => vec![*f],
                        Callee::Indirect(_) => calls.callees(program, id).as_slice().to_vec(),
                    };
                    for callee in callees {
                        for (&param, arg) in program.funcs[callee].params.iter().zip(args) {
                            if !is_demanded(arg) && mentions(&maybe, *arg) {
                                maybe.vars.insert(param);
                            }
                        }
                        if maybe.results.contains(&callee) {
                            maybe.vars.extend(result);
                        }
                    }
                }
                Op::Return { value: Some(value) } if !is_demanded(&value) && mentions(&maybe, value) => {
                    maybe.results.insert(program.func_of(id));
                }
                _ => {}
            }
        }
        if (maybe.vars.len(), maybe.results.len()) == before {
            return maybe;
        }
    }
}

/// True if the address is in a constant object.
fn is_constant(program: &Program, addr: ExprId) -> bool {
    match *program.exprs.get(addr) {
        Expr::GlobalAddr(g) => program.globals[g].read_only,
        Expr::Binary(BinOp::Add, a, b) => is_constant(program, a) || is_constant(program, b),
        _ => false,
    }
}
