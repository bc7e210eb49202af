//! Makes all threads of a program parts of `main`.

use super::facts::{Need, Plan, START, is_repeated};
use super::{Bounds, Untranslated};
use cfa::liveness::{self, Liveness};
use cfa::threads::ThreadOp;
use cfa::{
    AllocKind, BinOp, Bv, CType, Callee, EdgeId, Expr, ExprId, Family, FuncId, FunctionOrigin, Global, GlobalId,
    GlobalInit, HaltKind, Id, Input, InputId, InputKind, LocId, Op, Out, PlaceId, Program, TypeId, Var, VarId, VarKind,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// The number of the place of a thread that has ended.
const ENDED: u64 = 0xffff_ffff;
/// The number of the place at which a thread starts. The place of a thread that was not started is 0.
const FIRST: u64 = 1;
/// The width of the numbers of places and rounds.
const WIDTH: u32 = 32;

/// The copy of a function for a thread.
struct Copy {
    /// The values of the function's variables.
    values: FxHashMap<VarId, ExprId>,
    locs: FxHashMap<LocId, LocId>,
    memo: FxHashMap<ExprId, ExprId>,
    /// The location after the last operation of a call.
    exit: LocId,
    /// The variable for the result.
    result: Option<VarId>,
    /// The variable for the number of the call that the function returns to.
    back: VarId,
    /// The locations after the calls, by number.
    sites: Vec<LocId>,
}

struct Merge<'a> {
    program: &'a mut Program,
    plan: &'a Plan,
    copies: FxHashMap<(usize, FuncId), Copy>,
    todo: Vec<(usize, FuncId)>,
    /// By function, its variables.
    vars: Vec<Vec<VarId>>,
    word: TypeId,
    /// By thread: the variable for its place, for its argument, the locations of its turns and of their ends, and the
    /// locations at its places, from [`FIRST`] on.
    places: Vec<VarId>,
    arguments: Vec<VarId>,
    turns: Vec<LocId>,
    yields: Vec<LocId>,
    numbers: Vec<Vec<LocId>>,
    /// Copies of thread-local variables, by thread.
    locals: FxHashMap<(usize, GlobalId), GlobalId>,
    /// The depth of atomic sections, if a point depends on it.
    depth: Option<VarId>,
    pauses: VarId,
    may_pause: FxHashMap<Option<PlaceId>, InputId>,
    /// The blocks of variadic arguments of library functions, each with the call. A thread may pause before it makes a
    /// block, not between the block and the call.
    blocks: FxHashMap<VarId, EdgeId>,
    bool_type: TypeId,
    /// The location at which an execution ends at a bound.
    end: LocId,
    ends: Vec<String>,
}

/// Merges the threads of the plan.
pub(super) fn merge(program: &mut Program, plan: &Plan, rounds: u32) -> Result<Bounds, Untranslated> {
    let mut vars = vec![Vec::new(); program.funcs.len()];
    for (id, var) in program.vars.iter() {
        if let Some(func) = var.func() {
            vars[func.index()].push(id);
        }
    }
    let word = program.types.push(CType::Int { name: "unsigned int".into(), width: WIDTH, signed: false });
    let bool_type = program.types.push(CType::Bool);
    let old: Vec<EdgeId> = plan.bodies[plan.main.index()].clone();
    let end = program.add_location(plan.main);
    let sink = program.add_location(plan.main);
    program.add_edge(end, Op::Halt(HaltKind::Assumed), sink, None);
    let pauses = program.vars.push(Var {
        name: Some("pauses".into()),
        ty: bool_type,
        width: 1,
        kind: VarKind::Local(plan.main),
        place: None,
    });
    let block = |&edge: &EdgeId| match program.edges[edge].op {
        Op::Call { callee: Callee::Direct(callee), varargs: Some(block), .. } => match *program.exprs.get(block) {
            Expr::Var(var) if !plan.is_merged[callee.index()] => Some((var, edge)),
            _ => None,
        },
        _ => None,
    };
    let blocks: FxHashMap<VarId, EdgeId> = plan.bodies.iter().flatten().filter_map(block).collect();
    let mut this = Merge {
        program,
        plan,
        copies: FxHashMap::default(),
        todo: Vec::new(),
        vars,
        word,
        places: Vec::new(),
        arguments: Vec::new(),
        turns: Vec::new(),
        yields: Vec::new(),
        numbers: Vec::new(),
        locals: FxHashMap::default(),
        depth: None,
        pauses,
        may_pause: FxHashMap::default(),
        blocks,
        bool_type,
        end,
        ends: Vec::new(),
    };
    this.threads(rounds)?;
    this.initialise();
    for edge in old {
        let source = this.program.edges[edge].source;
        if matches!(this.program.locs[source].out, Out::One(_)) {
            this.program.edges[edge].op = Op::Skip;
        }
    }
    // Nothing calls these functions any more, but their address may be taken.
    let is_gone = |func: &FuncId| plan.is_merged[func.index()] && plan.is_bound[func.index()] && *func != plan.main;
    for func in this.program.funcs.ids().filter(is_gone).collect::<Vec<_>>() {
        let (entry, sink) = (this.program.add_location(func), this.program.add_location(func));
        this.program.add_edge(entry, Op::Halt(HaltKind::Assumed), sink, None);
        this.program.funcs[func].entry = entry;
    }
    // The trimmed names are not those of library functions, so calls of these functions have no effect from now on.
    for (func, _) in plan.ops.iter().enumerate().filter(|(_, op)| op.is_some()) {
        let function = &mut this.program.funcs[FuncId::from_index(func)];
        function.name = function.name.trim_start_matches('_').to_owned();
    }
    let mut threads: Vec<(String, usize)> = Vec::new();
    for thread in &plan.threads[1..] {
        let name = &this.program.funcs[thread.root].name;
        match threads.iter_mut().find(|(known, _)| known == name) {
            Some((_, count)) => *count += 1,
            None => threads.push((name.clone(), 1)),
        }
    }
    this.ends.sort();
    Ok(Bounds { rounds, threads, ends: this.ends })
}

impl Merge<'_> {
    fn threads(&mut self, rounds: u32) -> Result<(), Untranslated> {
        let (main, count) = (self.plan.main, self.plan.threads.len());
        let pointer = self.program.layout.pointer_width;
        for thread in 0..count {
            let place = self.variable(format!("place_{thread}"), WIDTH, self.word);
            self.places.push(place);
            let ty = self.program.types.push(CType::Unknown { width: pointer });
            let argument = self.variable(format!("thread_{thread}"), pointer, ty);
            self.arguments.push(argument);
            let (turn, end) = (self.program.add_location(main), self.program.add_location(main));
            self.turns.push(turn);
            self.yields.push(end);
            self.numbers.push(Vec::new());
        }
        let is_conditional = (0..count).any(|thread| {
            let mut edges = self.plan.bodies.iter().flatten();
            edges.any(|&edge| self.plan.need(self.program, thread, edge) == Need::Outside)
        });
        if is_conditional {
            self.depth = Some(self.variable("depth".into(), WIDTH, self.word));
        }
        for thread in 0..count {
            let start = self.plan.start(self.program, thread);
            self.copy(thread, start);
            let entry = self.loc((thread, start), self.program.funcs[start].entry);
            let param = self.program.funcs[start].params.first().copied().filter(|_| thread > 0);
            // The first thread runs at once, and its entry is no place to continue.
            let first = param.map_or(entry, |param| {
                let first = self.program.add_location(main);
                let value = self.program.var_expr(self.arguments[thread]);
                let op = Op::Assign { var: self.target((thread, start), param), value };
                self.program.add_edge(first, op, entry, None);
                first
            });
            self.numbers[thread].push(first);
        }
        while let Some(key) = self.todo.pop() {
            self.body(key)?;
        }
        let mut keys: Vec<(usize, FuncId)> = self.copies.keys().copied().collect();
        keys.sort_unstable();
        for key in keys {
            let Copy { exit, back, ref sites, .. } = self.copies[&key];
            let cases: Vec<(u64, LocId)> = sites.iter().enumerate().map(|(n, &loc)| (n as u64, loc)).collect();
            if !cases.is_empty() {
                self.select(exit, back, &cases);
            }
        }
        self.rounds(rounds);
        Ok(())
    }

    /// Lets the threads take turns, for this number of rounds, and the first one once more.
    fn rounds(&mut self, rounds: u32) {
        let main = self.plan.main;
        let round = self.variable("round".into(), WIDTH, self.word);
        let (now, last) = (self.program.var_expr(round), self.program.exprs.int(WIDTH, u64::from(rounds)));
        let count = self.turns.len();
        for thread in 0..count {
            let place = self.program.var_expr(self.places[thread]);
            let (zero, ended) = (self.program.exprs.int(WIDTH, 0), self.program.exprs.int(WIDTH, ENDED));
            let (is_new, is_over) = (self.program.exprs.eq(place, zero), self.program.exprs.eq(place, ended));
            let is_out = self.program.exprs.or(is_new, is_over);
            let runs = self.program.add_location(main);
            self.program.add_branch(self.turns[thread], is_out, self.yields[thread], runs, None);
            let cases: Vec<(u64, LocId)> =
                self.numbers[thread].iter().enumerate().map(|(n, &loc)| (n as u64 + FIRST, loc)).collect();
            self.select(runs, self.places[thread], &cases);
        }
        let mut at = self.yields[0];
        let is_last = self.program.exprs.eq(now, last);
        let next = self.program.add_location(main);
        self.program.add_branch(at, is_last, self.end, next, None);
        at = next;
        for thread in 1..count {
            self.program.add_edge(at, Op::Skip, self.turns[thread], None);
            at = self.yields[thread];
        }
        let one = self.program.exprs.int(WIDTH, 1);
        let value = self.program.exprs.add(now, one);
        self.program.add_edge(at, Op::Assign { var: round, value }, self.turns[0], None);
    }

    /// Sets the locals of `main` that may be read before a thread writes them. Only the variables that control turns
    /// are.
    fn initialise(&mut self) {
        let main = self.plan.main;
        let start = self.copies[&(0, main)].locs[&self.program.funcs[main].entry];
        self.program.funcs[main].entry = start;
        let locals = liveness::locals(self.program);
        let live = Liveness::new(self.program, main, &locals[main.index()]).at(start).to_vec();
        let mut at = self.program.add_location(main);
        self.program.funcs[main].entry = at;
        for var in live {
            if matches!(self.program.vars[var].kind, VarKind::Param(_)) {
                continue;
            }
            let width = self.program.vars[var].width;
            let value = self.program.exprs.constant(Bv::zero(width));
            at = self.step(at, Op::Assign { var, value }, None);
        }
        self.program.add_edge(at, Op::Skip, start, None);
    }

    fn variable(&mut self, name: String, width: u32, ty: TypeId) -> VarId {
        self.program.vars.push(Var { name: Some(name), ty, width, kind: VarKind::Local(self.plan.main), place: None })
    }

    fn step(&mut self, from: LocId, op: Op, place: Option<PlaceId>) -> LocId {
        let to = self.program.add_location(self.plan.main);
        self.program.add_edge(from, op, to, place);
        to
    }

    /// Continues at the location with the number that the variable has.
    fn select(&mut self, at: LocId, var: VarId, cases: &[(u64, LocId)]) {
        if let [(_, target)] = *cases {
            self.program.add_edge(at, Op::Skip, target, None);
            return;
        }
        let (low, high) = cases.split_at(cases.len() / 2);
        let (value, bound) = (self.program.var_expr(var), self.program.exprs.int(WIDTH, high[0].0));
        let is_low = self.program.exprs.ult(value, bound);
        let (then, otherwise) = (self.program.add_location(self.plan.main), self.program.add_location(self.plan.main));
        self.program.add_branch(at, is_low, then, otherwise, None);
        self.select(then, var, low);
        self.select(otherwise, var, high);
    }

    /// Makes the copy of a function for a thread, unless it exists.
    fn copy(&mut self, thread: usize, func: FuncId) {
        let main = self.plan.main;
        if self.copies.contains_key(&(thread, func)) {
            return;
        }
        let is_own = thread == 0 && func == main;
        let objects = self.objects(thread, func);
        let mut values: FxHashMap<VarId, ExprId> = objects.into_iter().collect();
        for var in self.vars[func.index()].clone() {
            if values.contains_key(&var) {
                continue;
            }
            let copy = if is_own {
                var
            } else {
                let Var { name, ty, width, kind, place } = self.program.vars[var].clone();
                let name = name.map(|name| if thread == 0 { name } else { format!("{name}_{thread}") });
                let kind = if matches!(kind, VarKind::Temp(_)) { VarKind::Temp(main) } else { VarKind::Local(main) };
                self.program.vars.push(Var { name, ty, width, kind, place })
            };
            let value = self.program.var_expr(copy);
            values.insert(var, value);
        }
        let function = &self.program.funcs[func];
        let (name, ty, width) = (function.name.clone(), function.return_type, function.return_width);
        let result = width.map(|width| self.variable(format!("{name}_result_{thread}"), width, ty));
        let back = self.variable(format!("{name}_back_{thread}"), WIDTH, self.word);
        let exit = self.program.add_location(main);
        let copy = Copy {
            values,
            locs: FxHashMap::default(),
            memo: FxHashMap::default(),
            exit,
            result,
            back,
            sites: Vec::new(),
        };
        self.copies.insert((thread, func), copy);
        self.todo.push((thread, func));
    }

    /// The stack objects of a function that become global objects, since each call makes at most one. Blocks of variadic
    /// arguments of library functions stay: they only live until the call.
    fn objects(&mut self, thread: usize, func: FuncId) -> Vec<(VarId, ExprId)> {
        let mut objects = Vec::new();
        let body = &self.plan.bodies[func.index()];
        for &edge in body {
            let Op::Alloc { var, size, align, kind: AllocKind::Stack, .. } = self.program.edges[edge].op else {
                continue;
            };
            let size = self.program.exprs.as_const(size).and_then(Bv::to_u64).filter(|&size| size > 0);
            let defs = body.iter().filter(|&&e| self.program.edges[e].op.def() == Some(var)).count();
            let is_one = defs == 1 && !is_repeated(self.program, edge) && !self.blocks.contains_key(&var);
            let Some(size) = size.filter(|_| is_one) else { continue };
            let Var { name, ty, place, .. } = self.program.vars[var].clone();
            let ty = match *self.program.plain_type(ty) {
                CType::Pointer(to) if self.program.size_of(to) == Some(size) => to,
                _ => {
                    let byte = CType::Int { name: "unsigned char".into(), width: 8, signed: false };
                    let byte = self.program.types.push(byte);
                    self.program.types.push(CType::Array(byte, Some(size)))
                }
            };
            let name = name.as_deref().map_or("object", |name| name.trim_start_matches('&'));
            let name = if thread == 0 { name.to_owned() } else { format!("{name}_{thread}") };
            let init = Some(GlobalInit::default());
            let global = self.program.globals.push(Global {
                name,
                ty,
                size,
                align,
                read_only: false,
                is_static: false,
                init,
                place,
            });
            let pointer = self.program.layout.pointer_width;
            objects.push((var, self.program.exprs.global_addr(global, pointer)));
        }
        objects
    }

    fn loc(&mut self, key: (usize, FuncId), loc: LocId) -> LocId {
        let copy = self.copies.get_mut(&key).expect("the function has a copy");
        *copy.locs.entry(loc).or_insert_with(|| self.program.add_location(self.plan.main))
    }

    fn expr(&mut self, key: (usize, FuncId), e: ExprId) -> ExprId {
        let copy = self.copies.get_mut(&key).expect("the function has a copy");
        let values = &copy.values;
        self.program.exprs.substitute(e, &mut copy.memo, |pool, leaf| match *pool.get(leaf) {
            Expr::Var(var) => values.get(&var).copied(),
            _ => None,
        })
    }

    /// The copy of a variable that an operation writes.
    fn target(&self, key: (usize, FuncId), var: VarId) -> VarId {
        match self.copies[&key].values.get(&var).map(|&e| self.program.exprs.get(e)) {
            Some(&Expr::Var(copy)) => copy,
            _ => var,
        }
    }

    fn body(&mut self, key: (usize, FuncId)) -> Result<(), Untranslated> {
        let (thread, func) = key;
        let mut done: FxHashSet<LocId> = FxHashSet::default();
        let plan = self.plan;
        for &edge in &plan.bodies[func.index()] {
            let source = self.program.edges[edge].source;
            if !self.plan.reaches(thread, source) || !done.insert(source) {
                continue;
            }
            let at = self.loc(key, source);
            match self.program.locs[source].out {
                Out::Branch { then_edge, else_edge } => {
                    let Op::Assume { cond, .. } = self.program.edges[then_edge].op else { unreachable!("a branch") };
                    let cond = self.expr(key, cond);
                    let place = self.program.edges[then_edge].place;
                    let [then, otherwise] = [then_edge, else_edge].map(|e| self.loc(key, self.program.edges[e].target));
                    let made = self.program.add_branch(at, cond, then, otherwise, place);
                    for (old, new) in [(then_edge, made.0), (else_edge, made.1)] {
                        if let Op::Assume { means, .. } = self.program.edges[old].op {
                            self.program.set_meaning(new, means);
                        }
                    }
                }
                _ => self.edge(key, edge, at)?,
            }
        }
        Ok(())
    }

    /// Adds a location at which a thread may pause before it continues at the result.
    fn point(&mut self, thread: usize, at: LocId, need: Need, place: Option<PlaceId>) -> LocId {
        match need {
            Need::Never => at,
            _ => {
                let pause = self.pause(thread, at, place);
                self.ask(at, need, pause, place)
            }
        }
    }

    /// Lets a thread pause, if it needs to and so chooses. Returns the location at which it continues otherwise.
    fn ask(&mut self, at: LocId, need: Need, pause: LocId, place: Option<PlaceId>) -> LocId {
        if need == Need::Never {
            return at;
        }
        let main = self.plan.main;
        let (asks, goes) = (self.program.add_location(main), self.program.add_location(main));
        match self.depth.filter(|_| need == Need::Outside) {
            Some(depth) => {
                let (depth, zero) = (self.program.var_expr(depth), self.program.exprs.int(WIDTH, 0));
                let is_outside = self.program.exprs.eq(depth, zero);
                self.program.add_branch(at, is_outside, asks, goes, place);
            }
            None => drop(self.program.add_edge(at, Op::Skip, asks, place)),
        }
        let input =
            Input { kind: InputKind::Nondet("__VERIFIER_nondet_bool".into()), ty: self.bool_type, width: 1, place };
        let input = *self.may_pause.entry(place).or_insert_with(|| self.program.inputs.push(input));
        let chosen = self.step(asks, Op::Havoc { var: self.pauses, input }, place);
        let cond = self.program.var_expr(self.pauses);
        self.program.add_branch(chosen, cond, pause, goes, place);
        goes
    }

    /// A location from which a thread pauses, to continue at this location.
    fn pause(&mut self, thread: usize, at: LocId, place: Option<PlaceId>) -> LocId {
        self.numbers[thread].push(at);
        let number = self.numbers[thread].len() as u64 - 1 + FIRST;
        self.leave(thread, number, place)
    }

    /// A location from which the turn of a thread ends. Its next place has this number.
    fn leave(&mut self, thread: usize, number: u64, place: Option<PlaceId>) -> LocId {
        let pause = self.program.add_location(self.plan.main);
        let value = self.program.exprs.int(WIDTH, number);
        let op = Op::Assign { var: self.places[thread], value };
        self.program.add_edge(pause, op, self.yields[thread], place);
        pause
    }

    fn edge(&mut self, key: (usize, FuncId), edge: EdgeId, at: LocId) -> Result<(), Untranslated> {
        let (thread, func) = key;
        let cfa::Edge { op, target, place, fault, origin, .. } = self.program.edges[edge].clone();
        let need = match &op {
            Op::Alloc { var, .. } if let Some(&call) = self.blocks.get(var) => {
                self.plan.need(self.program, thread, call)
            }
            Op::Call { varargs: Some(block), .. } if matches!(*self.program.exprs.get(*block), Expr::Var(var) if self.blocks.get(&var) == Some(&edge)) => {
                Need::Never
            }
            _ => self.plan.need(self.program, thread, edge),
        };
        let is_model = self.program.funcs[func].origin == FunctionOrigin::Model;
        if let Op::Call { callee: Callee::Direct(f), args, result, .. } = &op
            && let Some(op) = self.plan.ops[f.index()]
        {
            let args: Vec<ExprId> = args.iter().map(|&arg| self.expr(key, arg)).collect();
            return self.operation(key, op, &args, *result, at, target, need, place);
        }
        let at = self.point(thread, at, need, place);
        let to = match op {
            Op::Return { .. } | Op::Halt(_) | Op::Error(_) => self.program.add_location(self.plan.main),
            _ => self.loc(key, target),
        };
        match op {
            Op::Return { value } if key != (0, self.plan.main) => {
                if func == self.plan.start(self.program, thread) {
                    let end = self.leave(thread, ENDED, place);
                    self.program.add_edge(at, Op::Skip, end, place);
                    return Ok(());
                }
                let Copy { exit, result, .. } = self.copies[&key];
                let op = match (value, result) {
                    (Some(value), Some(var)) => Op::Assign { var, value: self.expr(key, value) },
                    _ => Op::Skip,
                };
                self.program.add_edge(at, op, exit, place);
                return Ok(());
            }
            Op::Approx { taint } if is_model => {
                let taint = self.program.taints[taint].clone();
                if !self.ends.contains(&taint.reason) {
                    self.ends.push(taint.reason);
                }
                let to = if taint.over { self.end } else { to };
                self.program.add_edge(at, Op::Skip, to, place);
                return Ok(());
            }
            Op::Alloc { var, zeroed, size, .. }
                if matches!(
                    self.copies[&key].values.get(&var).map(|&e| self.program.exprs.get(e)),
                    Some(Expr::GlobalAddr(_))
                ) =>
            {
                let op = match zeroed {
                    true => {
                        let dst = self.copies[&key].values[&var];
                        Op::Fill { dst, byte: self.program.exprs.int(8, 0), len: self.expr(key, size) }
                    }
                    false => Op::Skip,
                };
                self.program.add_edge(at, op, to, place);
                return Ok(());
            }
            Op::Free { ptr, family: Family::Scope }
                if matches!(*self.program.exprs.get(ptr), Expr::Var(v)
                    if matches!(self.copies[&key].values.get(&v).map(|&e| self.program.exprs.get(e)),
                        Some(Expr::GlobalAddr(_)))) =>
            {
                self.program.add_edge(at, Op::Skip, to, place);
                return Ok(());
            }
            _ => {}
        }
        let mut op = op;
        if let Op::Call { .. } = op {
            let callees = self.plan.callees(self.program, thread, edge);
            if callees.iter().any(|f| self.plan.is_merged[f.index()]) || is_model && callees.is_empty() {
                self.call(key, edge, at, to, &callees);
                return Ok(());
            }
        }
        op.for_each_expr_mut(|e| *e = self.expr(key, *e));
        if let Some(var) = op.def_mut() {
            *var = self.target(key, *var);
        }
        let made = self.program.add_edge(at, op, to, place);
        (self.program.edges[made].fault, self.program.edges[made].origin) = (fault, origin);
        Ok(())
    }

    /// Translates a call of one of these functions.
    fn call(&mut self, key: (usize, FuncId), edge: EdgeId, at: LocId, after: LocId, callees: &[FuncId]) {
        let (thread, main) = (key.0, self.plan.main);
        let cfa::Edge { op, place, fault, .. } = self.program.edges[edge].clone();
        let Op::Call { callee, args, varargs, result } = op else { unreachable!("a call") };
        let args: Box<[ExprId]> = args.iter().map(|&arg| self.expr(key, arg)).collect();
        let varargs = varargs.map(|e| self.expr(key, e));
        let result = result.map(|var| self.target(key, var));
        let callee = match callee {
            Callee::Indirect(e) => Callee::Indirect(self.expr(key, e)),
            direct => direct,
        };
        let mut at = at;
        let is_model = self.program.funcs[key.1].origin == FunctionOrigin::Model;
        for (n, &func) in callees.iter().enumerate() {
            let is_only = n + 1 == callees.len() && (is_model || matches!(callee, Callee::Direct(_)));
            let mut then = at;
            if let (Callee::Indirect(pointer), false) = (callee, is_only) {
                let width = self.program.layout.pointer_width;
                let address = self.program.exprs.func_addr(func, width);
                let is_it = self.program.exprs.eq(pointer, address);
                let otherwise = self.program.add_location(main);
                then = self.program.add_location(main);
                self.program.add_branch(at, is_it, then, otherwise, place);
                at = otherwise;
            }
            match self.plan.is_merged[func.index()] {
                true => self.enter(thread, func, &args, varargs, result, then, after, place),
                false => {
                    let callee = Callee::Direct(func);
                    let made = self.program.add_edge(
                        then,
                        Op::Call { callee, args: args.clone(), varargs, result },
                        after,
                        place,
                    );
                    self.program.edges[made].fault = fault;
                }
            }
            if is_only {
                return;
            }
        }
        // The models check that there is a function.
        if !is_model {
            let reason = "a function is called through a pointer to a function with other parameters";
            if !self.ends.iter().any(|known| known == reason) {
                self.ends.push(reason.to_owned());
            }
        }
        self.program.add_edge(at, Op::Skip, self.end, place);
    }

    /// Continues in the copy of a function, and after its return at `after`.
    #[allow(clippy::too_many_arguments)]
    fn enter(
        &mut self,
        thread: usize,
        func: FuncId,
        args: &[ExprId],
        varargs: Option<ExprId>,
        result: Option<VarId>,
        mut at: LocId,
        after: LocId,
        place: Option<PlaceId>,
    ) {
        let callee = (thread, func);
        self.copy(thread, func);
        let params = self.program.funcs[func].params.clone();
        for (n, param) in params.into_iter().enumerate() {
            let var = self.target(callee, param);
            let width = self.program.vars[var].width;
            let op = match args.get(n) {
                Some(&arg) => Op::Assign { var, value: self.program.exprs.resize(width, arg) },
                None => {
                    let ty = self.program.vars[var].ty;
                    let input = Input { kind: InputKind::Uninit(None), ty, width, place };
                    Op::Havoc { var, input: self.program.inputs.push(input) }
                }
            };
            at = self.step(at, op, place);
        }
        if let Some(var) = self.program.funcs[func].varargs {
            let var = self.target(callee, var);
            let width = self.program.vars[var].width;
            let value = varargs.unwrap_or_else(|| self.program.exprs.int(width, 0));
            at = self.step(at, Op::Assign { var, value }, place);
        }
        let (number, back, from) = {
            let copy = &self.copies[&callee];
            (copy.sites.len() as u64, copy.back, copy.result)
        };
        let value = self.program.exprs.int(WIDTH, number);
        at = self.step(at, Op::Assign { var: back, value }, place);
        let entry = self.loc(callee, self.program.funcs[func].entry);
        self.program.add_edge(at, Op::Skip, entry, place);
        let site = self.program.add_location(self.plan.main);
        let op = match (result, from) {
            (Some(var), Some(from)) => {
                let from = self.program.var_expr(from);
                let width = self.program.vars[var].width;
                Op::Assign { var, value: self.program.exprs.resize(width, from) }
            }
            (Some(var), None) => {
                let (ty, width) = (self.program.vars[var].ty, self.program.vars[var].width);
                let input = Input { kind: InputKind::Uninit(None), ty, width, place };
                Op::Havoc { var, input: self.program.inputs.push(input) }
            }
            (None, _) => Op::Skip,
        };
        self.program.add_edge(site, op, after, place);
        self.copies.get_mut(&callee).expect("just made").sites.push(site);
    }

    /// Translates an operation of threads.
    #[allow(clippy::too_many_arguments)]
    fn operation(
        &mut self,
        key: (usize, FuncId),
        op: ThreadOp,
        args: &[ExprId],
        result: Option<VarId>,
        at: LocId,
        target: LocId,
        need: Need,
        place: Option<PlaceId>,
    ) -> Result<(), Untranslated> {
        let (thread, func) = key;
        let pointer = self.program.layout.pointer_width;
        let to = self.loc(key, target);
        match op {
            ThreadOp::Start => {
                let start = self.program.funcs[func].params.get(1).copied();
                let Some(start) = start.filter(|_| self.program.funcs[func].name == START) else {
                    return Err(Untranslated { construct: "a start of a thread".into(), place });
                };
                let start = self.copies[&key].values[&start];
                let mut at = at;
                for n in 1..self.plan.threads.len() {
                    let root = self.program.exprs.func_addr(self.plan.threads[n].root, pointer);
                    let is_it = self.program.exprs.eq(start, root);
                    let (now, zero) = (self.program.var_expr(self.places[n]), self.program.exprs.int(WIDTH, 0));
                    let is_new = self.program.exprs.eq(now, zero);
                    let both = self.program.exprs.and(is_it, is_new);
                    let (then, otherwise) =
                        (self.program.add_location(self.plan.main), self.program.add_location(self.plan.main));
                    self.program.add_branch(at, both, then, otherwise, place);
                    let then = self.step(then, Op::Assign { var: self.arguments[n], value: args[1] }, place);
                    let value = self.program.exprs.int(WIDTH, FIRST);
                    self.program.add_edge(then, Op::Assign { var: self.places[n], value }, to, place);
                    at = otherwise;
                }
                self.program.add_edge(at, Op::Skip, self.end, place);
            }
            ThreadOp::End => {
                let end = self.leave(thread, ENDED, place);
                self.program.add_edge(at, Op::Skip, end, place);
            }
            ThreadOp::This => {
                let value = match thread {
                    0 => self.program.exprs.int(pointer, 0),
                    _ => self.program.var_expr(self.arguments[thread]),
                };
                let op = result.map_or(Op::Skip, |var| Op::Assign { var: self.target(key, var), value });
                self.program.add_edge(at, op, to, place);
            }
            ThreadOp::Local => {
                let Expr::GlobalAddr(global) = *self.program.exprs.get(args[0]) else {
                    return Err(Untranslated {
                        construct: "a computed address of a thread-local variable".into(),
                        place,
                    });
                };
                let own = match thread {
                    0 => global,
                    _ => *self.locals.entry((thread, global)).or_insert_with(|| {
                        let copy = self.program.globals[global].clone();
                        let name = format!("{}_{thread}", copy.name);
                        self.program.globals.push(Global { name, ..copy })
                    }),
                };
                let value = self.program.exprs.global_addr(own, pointer);
                let op = result.map_or(Op::Skip, |var| Op::Assign { var: self.target(key, var), value });
                self.program.add_edge(at, op, to, place);
            }
            ThreadOp::Begin | ThreadOp::Finish => {
                let at = self.point(thread, at, need, place);
                let op = self.deeper(op == ThreadOp::Begin);
                self.program.add_edge(at, op, to, place);
            }
            ThreadOp::When => {
                let waits = self.pause(thread, at, place);
                let goes = self.ask(at, need, waits, place);
                let ty = self.word;
                let word = self.variable("word".into(), WIDTH, ty);
                let loaded = self.step(goes, Op::Load { var: word, addr: args[0] }, place);
                let now = self.program.var_expr(word);
                let value = self.program.exprs.resize(WIDTH, args[2]);
                let relation = self.program.exprs.as_const(args[1]).and_then(Bv::to_u64).unwrap_or(2);
                let pool = &mut self.program.exprs;
                let holds = match relation {
                    0 => pool.eq(now, value),
                    1 => pool.ne(now, value),
                    _ => pool.binary(BinOp::Sle, value, now),
                };
                let enters = self.program.add_location(self.plan.main);
                let waits = match self.program.exprs.as_const(args[3]).is_some_and(Bv::is_zero) {
                    true => waits,
                    false => {
                        // The word that interrupts the wait.
                        let otherwise = self.program.add_location(self.plan.main);
                        let word = self.variable("interrupt".into(), WIDTH, ty);
                        let read = self.step(otherwise, Op::Load { var: word, addr: args[3] }, place);
                        let (now, none) = (self.program.var_expr(word), self.program.exprs.int(WIDTH, 0));
                        let interrupts = self.program.exprs.ne(now, none);
                        self.program.add_branch(read, interrupts, enters, waits, place);
                        otherwise
                    }
                };
                self.program.add_branch(loaded, holds, enters, waits, place);
                let op = self.deeper(true);
                self.program.add_edge(enters, op, to, place);
            }
            ThreadOp::Acquire
            | ThreadOp::Release
            | ThreadOp::Fence
            | ThreadOp::Update
            | ThreadOp::Observe
            | ThreadOp::Lock => {
                self.program.add_edge(at, Op::Skip, to, place);
            }
        }
        Ok(())
    }

    /// The operation that records the start or the end of an atomic section.
    fn deeper(&mut self, begins: bool) -> Op {
        let Some(var) = self.depth else { return Op::Skip };
        let (now, one) = (self.program.var_expr(var), self.program.exprs.int(WIDTH, 1));
        let value = if begins { self.program.exprs.add(now, one) } else { self.program.exprs.sub(now, one) };
        Op::Assign { var, value }
    }
}
