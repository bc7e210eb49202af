//! Generates random programs: structured code over integers, pointers, objects with fields, calls (direct, indirect,
//! recursive), early returns and ends of the program. They terminate, unless endless loops are requested.

#![allow(dead_code)]

pub mod inputs;
mod objects;
mod pieces;
mod reaches;

use cfa::*;

pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d)
    }
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % bound
    }
    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

/// Optional features of the programs.
#[derive(Clone, Copy, Default, Debug)]
pub struct Shape {
    /// Loops that may not terminate.
    pub endless: Endless,
    /// `Skip` edges at which values are observed.
    pub probes: bool,
    /// Memory accesses of many sizes at many offsets, in small and in large objects.
    pub pieces: bool,
    /// Objects of all kinds, moving pointers, and functions that return pointers.
    pub objects: bool,
    /// Pointers of 32 bits.
    pub narrow: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Endless {
    #[default]
    None,
    Reducible,
    /// Also loops with two entries.
    Any,
}

/// A `Skip` edge, and the variables that have values there.
pub struct Probe {
    pub edge: EdgeId,
    pub vars: Vec<VarId>,
}

/// An object has four 32-bit integers, followed by two pointers to objects.
const OBJECT_SIZE: u64 = 32;

struct Func {
    id: FuncId,
    ints: Vec<VarId>,
    pointers: Vec<VarId>,
}

pub struct Generator {
    pub program: Program,
    pub criteria: Vec<EdgeId>,
    pub probes: Vec<Probe>,
    shape: Shape,
    random: Random,
    int: TypeId,
    pointer: TypeId,
    global_ints: Vec<VarId>,
    global_pointers: Vec<VarId>,
    objects: Vec<GlobalId>,
    blocks: Vec<GlobalId>,
    tables: Vec<GlobalId>,
    funcs: Vec<Func>,
    /// A function that overwrites null bytes.
    eraser: Option<FuncId>,
    depth: VarId,
    sink: VarId,
    // The function being generated.
    f: usize,
    ints: Vec<VarId>,
    pointers: Vec<VarId>,
    at: LocId,
    budget: usize,
    exit: Vec<LocId>,
}

/// Generates a program with its criteria: assignments to a variable that is never read.
pub fn generate(seed: u64) -> (Program, Vec<EdgeId>) {
    let g = generate_shaped(seed, Shape::default());
    (g.program, g.criteria)
}

pub fn generate_shaped(seed: u64, shape: Shape) -> Generator {
    let mut random = Random::new(seed);
    let w = if shape.narrow { 32 } else { 64 };
    let mut program = Program::new(DataLayout { pointer_width: w });
    let int = program.types.push(CType::Int { name: "int".into(), width: 32, signed: true });
    let void = program.types.push(CType::Void);
    let pointer = program.types.push(CType::Pointer(void));
    let zero = program.exprs.int(32, 0);
    let global = |p: &mut Program, name: String, ty, width, init| {
        p.vars.push(Var {
            name: Some(name),
            ty,
            width,
            kind: VarKind::Global { init: Some(init), is_static: false },
            place: None,
        })
    };
    let objects: Vec<GlobalId> = (0..3)
        .map(|i| {
            program.globals.push(Global {
                name: format!("object{i}"),
                ty: int,
                size: OBJECT_SIZE,
                align: 8,
                read_only: false,
                is_static: false,
                init: None,
                place: None,
            })
        })
        .collect();
    for (i, &g) in objects.iter().enumerate() {
        let next = |k: usize, p: &mut Program| {
            let to = objects[(i + k) % objects.len()];
            p.exprs.global_addr(to, w)
        };
        let pointers = vec![(16, next(1, &mut program)), (24, next(2, &mut program))];
        let mut bytes = vec![i as u8 + 1, 0, 0, 0, 7];
        bytes.extend(shape.objects.then_some([0, 0, 0, 9, 0, 0, 0, 0xff]).into_iter().flatten());
        program.globals[g].init = Some(GlobalInit { bytes, pointers });
    }
    let mut global_ints: Vec<VarId> = (0..3).map(|i| global(&mut program, format!("g{i}"), int, 32, zero)).collect();
    let global_pointers = objects
        .iter()
        .enumerate()
        .map(|(i, &o)| {
            let addr = program.exprs.global_addr(o, w);
            global(&mut program, format!("p{i}"), pointer, w, addr)
        })
        .collect();
    let depth = global(&mut program, "depth".into(), int, 32, zero);
    let sink = global(&mut program, "sink".into(), int, 32, zero);
    let count = 2 + random.below(4);
    let funcs: Vec<Func> = (0..count).map(|i| function(&mut program, &mut random, i, int, pointer)).collect();
    for func in funcs.iter().filter(|_| shape.objects) {
        if random.chance(40) {
            (program.funcs[func.id].return_type, program.funcs[func.id].return_width) = (pointer, Some(w));
        }
    }
    let blocks = if shape.pieces { pieces::blocks(&mut program, int) } else { Vec::new() };
    let tables = shape.objects.then(|| objects::table(&mut program, int)).into_iter().collect();
    if shape.pieces {
        let kind = VarKind::Global { init: None, is_static: false };
        let name = Some("elsewhere".into());
        global_ints.push(program.vars.push(Var { name, ty: int, width: 32, kind, place: None }));
    }
    let at = program.funcs[program.entry].entry;
    let mut g = Generator {
        program,
        criteria: Vec::new(),
        probes: Vec::new(),
        shape,
        random,
        int,
        pointer,
        global_ints,
        global_pointers,
        objects,
        blocks,
        tables,
        funcs,
        eraser: None,
        depth,
        sink,
        f: 0,
        ints: Vec::new(),
        pointers: Vec::new(),
        at,
        budget: 0,
        exit: Vec::new(),
    };
    g.eraser = shape.objects.then(|| reaches::eraser(&mut g));
    for f in 0..count {
        g.function(f);
    }
    g.entry();
    g
}

/// A function with up to three parameters, without a body.
fn function(program: &mut Program, random: &mut Random, i: usize, int: TypeId, pointer: TypeId) -> Func {
    let id = program.add_function(&format!("f{i}"), int, Some(32));
    let (mut ints, mut pointers) = (Vec::new(), Vec::new());
    for k in 0..random.below(4) {
        let is_int = k % 2 == 0;
        let (ty, width) = if is_int { (int, 32) } else { (pointer, program.layout.pointer_width) };
        let name = Some(format!("a{k}"));
        let v = program.vars.push(Var { name, ty, width, kind: VarKind::Param(id), place: None });
        program.funcs[id].params.push(v);
        if is_int { ints.push(v) } else { pointers.push(v) }
    }
    Func { id, ints, pointers }
}

impl Generator {
    /// The width of pointers.
    fn width(&self) -> u32 {
        self.program.layout.pointer_width
    }
    fn local(&mut self, is_int: bool) -> VarId {
        let f = self.program.locs[self.at].func;
        let (ty, width) = if is_int { (self.int, 32) } else { (self.pointer, self.width()) };
        let kind = VarKind::Local(f);
        self.program.vars.push(Var { name: None, ty, width, kind, place: None })
    }
    fn emit(&mut self, op: Op) -> EdgeId {
        let f = self.program.locs[self.at].func;
        let next = self.program.add_location(f);
        let e = self.program.add_edge(self.at, op, next, None);
        self.at = next;
        e
    }
    fn assign(&mut self, var: VarId, value: ExprId) -> EdgeId {
        self.emit(Op::Assign { var, value })
    }
    fn new_loc(&mut self) -> LocId {
        let f = self.program.locs[self.at].func;
        self.program.add_location(f)
    }
    fn any_int(&mut self) -> VarId {
        let all = self.ints.len() + self.global_ints.len();
        let i = self.random.below(all);
        if i < self.ints.len() { self.ints[i] } else { self.global_ints[i - self.ints.len()] }
    }
    fn any_pointer(&mut self) -> VarId {
        let all = self.pointers.len() + self.global_pointers.len();
        let i = self.random.below(all);
        if i < self.pointers.len() { self.pointers[i] } else { self.global_pointers[i - self.pointers.len()] }
    }
    fn int_expr(&mut self, depth: usize) -> ExprId {
        if depth == 0 || self.random.chance(30) {
            if self.random.chance(30) {
                let c = self.random.below(9) as u64;
                return self.program.exprs.int(32, c);
            }
            let v = self.any_int();
            return self.program.var_expr(v);
        }
        let (a, b) = (self.int_expr(depth - 1), self.int_expr(depth - 1));
        let op = [BinOp::Add, BinOp::Sub, BinOp::Mul, BinOp::Xor, BinOp::And][self.random.below(5)];
        self.program.exprs.binary(op, a, b)
    }
    fn condition(&mut self) -> ExprId {
        let (a, b) = (self.int_expr(1), self.int_expr(1));
        match self.random.below(3) {
            0 => self.program.exprs.eq(a, b),
            1 => self.program.exprs.slt(a, b),
            _ => self.program.exprs.ult(a, b),
        }
    }
    /// The address of an integer in an object.
    fn int_addr(&mut self) -> ExprId {
        let w = self.width();
        let p = self.any_pointer();
        let p = self.program.var_expr(p);
        let x = &mut self.program.exprs;
        if self.random.chance(50) {
            let off = x.int(w, 4 * self.random.below(4) as u64);
            x.add(p, off)
        } else {
            let i = self.int_expr(1);
            let x = &mut self.program.exprs;
            let three = x.int(32, 3);
            let low = x.and(i, three);
            let wide = x.zext(w, low);
            let four = x.int(w, 4);
            let scaled = x.mul(wide, four);
            x.add(p, scaled)
        }
    }
    fn pointer_addr(&mut self) -> ExprId {
        let w = self.width();
        let p = self.any_pointer();
        let p = self.program.var_expr(p);
        if self.random.chance(30) {
            let i = self.int_expr(1);
            let x = &mut self.program.exprs;
            let (one, eight, field) = (x.int(32, 1), x.int(w, 8), x.int(w, 16));
            let low = x.and(i, one);
            let wide = x.zext(w, low);
            let scaled = x.mul(wide, eight);
            let at = x.add(p, field);
            return x.add(at, scaled);
        }
        let off = self.program.exprs.int(w, 16 + 8 * self.random.below(2) as u64);
        self.program.exprs.add(p, off)
    }

    fn function(&mut self, f: usize) {
        self.f = f;
        let id = self.funcs[f].id;
        self.ints = self.funcs[f].ints.clone();
        self.pointers = self.funcs[f].pointers.clone();
        self.at = self.program.funcs[id].entry;
        let zero = self.program.exprs.int(32, 3);
        for _ in 0..2 {
            let v = self.local(true);
            self.ints.push(v);
            self.assign(v, zero);
            self.input_for_pieces(v);
        }
        objects::own_pointers(self);
        self.budget = 6 + self.random.below(14);
        self.exit.clear();
        self.block(3);
        self.finish();
    }
    fn finish(&mut self) {
        let value = objects::result(self, 1);
        let sink = self.new_loc();
        self.program.add_edge(self.at, Op::Return { value: Some(value) }, sink, None);
    }
    fn block(&mut self, depth: usize) {
        for _ in 0..1 + self.random.below(5) {
            if self.budget == 0 {
                return;
            }
            self.budget -= 1;
            self.statement(depth);
        }
    }
    fn statement(&mut self, depth: usize) {
        let w = self.width();
        if self.shape.probes && self.random.chance(15) {
            let edge = self.emit(Op::Skip);
            let vars = self.ints.iter().chain(&self.global_ints).copied().collect();
            self.probes.push(Probe { edge, vars });
        }
        if self.shape.endless != Endless::None && depth > 0 && self.random.chance(8) {
            self.wait(depth);
        }
        if self.shape.endless != Endless::None && self.random.chance(2) {
            // The following code is dead.
            let end = self.new_loc();
            self.program.add_edge(self.at, Op::Halt(HaltKind::Abort), end, None);
            self.at = self.new_loc();
        }
        if self.shape.pieces && self.random.chance(50) {
            return self.piece();
        }
        if self.shape.objects && self.random.chance(50) {
            return objects::object(self, depth);
        }
        match self.random.below(20) {
            0..=3 => {
                let (v, e) = (self.any_int(), self.int_expr(2));
                self.assign(v, e);
            }
            4 => {
                let (v, w) = (self.any_pointer(), self.any_pointer());
                let e = self.program.var_expr(w);
                self.assign(v, e);
            }
            5 => {
                let (addr, value) = (self.int_addr(), self.int_expr(1));
                self.emit(Op::Store { addr, value });
            }
            6 => {
                let (var, addr) = (self.any_int(), self.int_addr());
                self.emit(Op::Load { var, addr });
            }
            7 => {
                let (addr, w) = (self.pointer_addr(), self.any_pointer());
                let value = self.program.var_expr(w);
                self.emit(Op::Store { addr, value });
            }
            8 => {
                let (var, addr) = (self.any_pointer(), self.pointer_addr());
                self.emit(Op::Load { var, addr });
            }
            9 if self.random.chance(40) => self.copy_in_parts(),
            9 => {
                let v = self.any_int();
                let input = self.program.inputs.push(Input {
                    kind: InputKind::Nondet("__VERIFIER_nondet_int".into()),
                    ty: self.int,
                    width: 32,
                    place: None,
                });
                self.emit(Op::Havoc { var: v, input });
            }
            10 => self.allocation(),
            11 => {
                let (a, b) = (self.any_pointer(), self.any_pointer());
                let (dst, src) = (self.program.var_expr(a), self.program.var_expr(b));
                let len = self.program.exprs.int(w, [4, 16, 32][self.random.below(3)]);
                self.emit(Op::Copy { dst, src, len });
            }
            12 => {
                let value = self.int_expr(2);
                let sink = self.sink;
                let e = self.assign(sink, value);
                self.criteria.push(e);
            }
            13 | 14 if depth > 0 => self.branch(depth),
            15 if depth > 0 => self.repeat(depth),
            16 | 17 => self.call(),
            18 if self.random.chance(30) => self.conditional_end(),
            19 if self.random.chance(50) => {
                // Leave a loop, or continue with dead code after a jump.
                if let Some(&exit) = self.exit.last() {
                    let cond = self.condition();
                    let next = self.new_loc();
                    self.program.add_branch(self.at, cond, exit, next, None);
                    self.at = next;
                }
            }
            _ => {}
        }
    }
    fn input(&mut self, var: VarId) {
        let kind = InputKind::Nondet("__VERIFIER_nondet_int".into());
        let width = self.program.vars[var].width;
        let input = self.program.inputs.push(Input { kind, ty: self.int, width, place: None });
        self.emit(Op::Havoc { var, input });
    }
    fn branch(&mut self, depth: usize) {
        let cond = self.condition();
        let (t, e, join) = (self.new_loc(), self.new_loc(), self.new_loc());
        self.program.add_branch(self.at, cond, t, e, None);
        for start in [t, e] {
            self.at = start;
            if start == t || self.random.chance(50) {
                self.block(depth - 1);
            }
            self.program.add_edge(self.at, Op::Skip, join, None);
        }
        self.at = join;
    }
    fn repeat(&mut self, depth: usize) {
        let i = self.local(true);
        let x = self.program.exprs.int(32, 0);
        self.assign(i, x);
        let (head, body, exit) = (self.new_loc(), self.new_loc(), self.new_loc());
        self.program.add_edge(self.at, Op::Skip, head, None);
        let e = self.program.var_expr(i);
        let bound = self.program.exprs.int(32, 1 + self.random.below(3) as u64);
        let cond = self.program.exprs.slt(e, bound);
        self.program.add_branch(head, cond, body, exit, None);
        self.at = body;
        let one = self.program.exprs.int(32, 1);
        let next = self.program.exprs.add(e, one);
        self.assign(i, next);
        self.exit.push(exit);
        self.block(depth - 1);
        self.exit.pop();
        self.program.add_edge(self.at, Op::Skip, head, None);
        self.at = exit;
    }
    /// A loop that may not terminate.
    fn wait(&mut self, depth: usize) {
        let kinds = if self.shape.endless == Endless::Any { 3 } else { 1 };
        match self.random.below(kinds) {
            0 => {
                let (head, body, exit) = (self.new_loc(), self.new_loc(), self.new_loc());
                self.program.add_edge(self.at, Op::Skip, head, None);
                let cond = self.condition();
                self.program.add_branch(head, cond, body, exit, None);
                self.at = body;
                if self.random.chance(60) {
                    self.block(depth - 1);
                }
                self.program.add_edge(self.at, Op::Skip, head, None);
                self.at = exit;
            }
            kind => {
                // Two alternating blocks, each of which may be entered first.
                let (into, first, second, join) = (self.new_loc(), self.new_loc(), self.new_loc(), self.new_loc());
                let cond = self.condition();
                self.program.add_branch(self.at, cond, into, join, None);
                let cond = self.condition();
                self.program.add_branch(into, cond, first, second, None);
                self.at = first;
                self.block(depth - 1);
                self.program.add_edge(self.at, Op::Skip, second, None);
                self.at = second;
                self.block(depth - 1);
                if kind == 1 {
                    self.program.add_edge(self.at, Op::Skip, first, None);
                } else {
                    let cond = self.condition();
                    self.program.add_branch(self.at, cond, first, join, None);
                }
                self.at = join;
            }
        }
    }
    /// A call. A global variable counts the depth, which is limited.
    fn call(&mut self) {
        let w = self.width();
        let g = self.random.below(self.funcs.len());
        let direct = self.random.chance(70);
        let guarded = g >= self.f || !direct;
        let depth = self.depth;
        let d = self.program.var_expr(depth);
        let one = self.program.exprs.int(32, 1);
        let join = self.new_loc();
        if guarded {
            let four = self.program.exprs.int(32, 4);
            let cond = self.program.exprs.slt(d, four);
            let next = self.new_loc();
            self.program.add_branch(self.at, cond, next, join, None);
            self.at = next;
        }
        let up = self.program.exprs.add(d, one);
        self.assign(depth, up);
        let params = self.program.funcs[self.funcs[g].id].params.clone();
        let args = params
            .iter()
            .map(|&p| {
                if self.program.vars[p].ty == self.int {
                    self.int_expr(1)
                } else {
                    let v = self.any_pointer();
                    self.program.var_expr(v)
                }
            })
            .collect();
        let callee = if direct {
            Callee::Direct(self.funcs[g].id)
        } else {
            // One of two functions with the same number of parameters.
            let other = self.funcs.iter().position(|h| {
                let (a, b) = (&self.program.funcs[h.id], &self.program.funcs[self.funcs[g].id]);
                a.params.len() == b.params.len() && a.return_type == b.return_type
            });
            let a = self.program.exprs.func_addr(self.funcs[g].id, w);
            let b = self.program.exprs.func_addr(self.funcs[other.unwrap_or(g)].id, w);
            Callee::Indirect(objects::one_of(self, a, b))
        };
        let is_int = self.program.funcs[self.funcs[g].id].return_type == self.int;
        let result = self.random.chance(60).then(|| if is_int { self.any_int() } else { self.any_pointer() });
        self.emit(Op::Call { callee, args, varargs: None, result });
        let d = self.program.var_expr(depth);
        let down = self.program.exprs.sub(d, one);
        self.assign(depth, down);
        self.program.add_edge(self.at, Op::Skip, join, None);
        self.at = join;
    }
    fn conditional_end(&mut self) {
        let cond = self.condition();
        let (end, next) = (self.new_loc(), self.new_loc());
        self.program.add_branch(self.at, cond, end, next, None);
        let sink = self.new_loc();
        let value = objects::result(self, 0);
        let op = match self.random.below(4) {
            0 => Op::Halt(HaltKind::Abort),
            1 => Op::Halt(HaltKind::Assumed),
            _ if self.program.locs[self.at].func == self.program.entry => Op::Halt(HaltKind::Abort),
            _ => Op::Return { value: Some(value) },
        };
        self.program.add_edge(end, op, sink, None);
        self.at = next;
    }
    /// The entry function: a few calls with various arguments.
    fn entry(&mut self) {
        self.f = self.funcs.len();
        self.ints.clear();
        self.pointers.clear();
        self.at = self.program.funcs[self.program.entry].entry;
        self.exit.clear();
        self.budget = 10;
        let one = self.program.exprs.int(32, 1);
        for _ in 0..2 {
            let v = self.local(true);
            self.ints.push(v);
            self.assign(v, one);
            self.input_for_pieces(v);
        }
        objects::own_pointers(self);
        self.block(2);
        for _ in 0..3 {
            self.call();
        }
        let value = self.int_expr(2);
        let sink = self.sink;
        let e = self.assign(sink, value);
        self.criteria.push(e);
        let end = self.new_loc();
        let zero = self.program.exprs.int(32, 0);
        self.program.add_edge(self.at, Op::Halt(HaltKind::Exit(zero)), end, None);
    }
}
