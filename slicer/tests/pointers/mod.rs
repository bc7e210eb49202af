//! Generates random programs with many pointers: fields and arrays, lists on the heap, pointers to functions, copies of
//! memory, casts to integers and back, variadic calls, and wrappers of allocators.
//!
//! Every object has 64 bytes and that alignment, and every pointer stays within its object, so that runs do not fault.

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
}

const SIZE: u64 = 64;
/// The kinds of statements.
const ALL: [usize; 19] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18];

struct Generator {
    p: Program,
    random: Random,
    pointer: TypeId,
    long: TypeId,
    objects: Vec<GlobalId>,
    table: GlobalId,
    /// Global variables that hold pointers.
    heads: Vec<VarId>,
    /// Functions (pointer, pointer, integer) -> pointer, the variadic function, and the allocating functions.
    funcs: Vec<FuncId>,
    variadic: FuncId,
    /// A function that only uses its arguments and the memory that is reachable from them.
    outside: FuncId,
    makers: Vec<FuncId>,
    depth: VarId,
    // The function being generated.
    f: FuncId,
    at: LocId,
    pointers: Vec<VarId>,
    ints: Vec<VarId>,
}

/// Generates a program with this number of functions, in addition to a few allocators and a variadic function.
pub fn generate(seed: u64, functions: usize) -> Program {
    let mut p = Program::new(DataLayout { pointer_width: 64 });
    let long = p.types.push(CType::Int { name: "long".into(), width: 64, signed: true });
    let void = p.types.push(CType::Void);
    let pointer = p.types.push(CType::Pointer(void));
    let global = |p: &mut Program, name: String| {
        let (size, align) = (SIZE, SIZE as u32);
        p.globals.push(Global {
            name,
            ty: long,
            size,
            align,
            read_only: false,
            is_static: false,
            init: None,
            place: None,
        })
    };
    let objects: Vec<GlobalId> = (0..4).map(|i| global(&mut p, format!("object{i}"))).collect();
    let table = global(&mut p, "table".into());
    let function = |p: &mut Program, name: String| p.add_function(&name, pointer, Some(64));
    let funcs: Vec<FuncId> = (0..functions).map(|i| function(&mut p, format!("f{i}"))).collect();
    let variadic = function(&mut p, "variadic".into());
    let outside = function(&mut p, "outside".into());
    let makers: Vec<FuncId> = (0..3).map(|i| function(&mut p, format!("make{i}"))).collect();
    let zero = p.exprs.int(64, 0);
    let depth = VarKind::Global { init: Some(zero), is_static: false };
    let depth = p.vars.push(Var { name: Some("depth".into()), ty: long, width: 64, kind: depth, place: None });
    let mut g = Generator {
        f: p.entry,
        at: p.funcs[p.entry].entry,
        p,
        random: Random::new(seed),
        pointer,
        long,
        objects,
        table,
        heads: Vec::new(),
        funcs,
        variadic,
        outside,
        makers,
        depth,
        pointers: Vec::new(),
        ints: Vec::new(),
    };
    g.globals();
    g.functions();
    let vars: Vec<VarId> = g.p.vars.ids().collect();
    for v in vars {
        g.p.var_expr(v);
    }
    g.p
}

impl Generator {
    fn int(&mut self, value: u64) -> ExprId {
        self.p.exprs.int(64, value)
    }
    fn read(&mut self, v: VarId) -> ExprId {
        self.p.var_expr(v)
    }
    fn plus(&mut self, e: ExprId, off: u64) -> ExprId {
        let off = self.int(off);
        self.p.exprs.add(e, off)
    }
    fn emit(&mut self, op: Op) {
        let next = self.p.add_location(self.f);
        self.p.add_edge(self.at, op, next, None);
        self.at = next;
    }
    fn var(&mut self, ty: TypeId) -> VarId {
        let kind = VarKind::Local(self.f);
        let name = Some(format!("v{}", self.p.vars.len()));
        self.p.vars.push(Var { name, ty, width: 64, kind, place: None })
    }
    fn pick<T: Copy>(random: &mut Random, from: &[T]) -> T {
        from[random.below(from.len())]
    }
    fn any_pointer(&mut self) -> VarId {
        match self.random.below(6) {
            0 if self.f != self.outside => Self::pick(&mut self.random, &self.heads),
            _ => Self::pick(&mut self.random, &self.pointers),
        }
    }
    fn any_object(&mut self) -> ExprId {
        let g = Self::pick(&mut self.random, &self.objects);
        self.p.exprs.global_addr(g, 64)
    }

    /// The functions that fit into the table.
    fn in_table(&self) -> Vec<FuncId> {
        self.funcs.iter().copied().take(SIZE as usize / 8).collect()
    }
    /// Initialises every object with pointers to others, and the table with the functions.
    fn globals(&mut self) {
        for i in 0..self.objects.len() {
            let pointers = [0, 8, 24, 40].map(|off| (off, self.any_object())).to_vec();
            let init = GlobalInit { bytes: Vec::new(), pointers };
            self.p.globals[self.objects[i]].init = Some(init);
        }
        let addresses = self.in_table().into_iter().enumerate();
        let pointers = addresses.map(|(i, f)| (8 * i as u64, self.p.exprs.func_addr(f, 64))).collect();
        self.p.globals[self.table].init = Some(GlobalInit { bytes: Vec::new(), pointers });
        for i in 0..3 {
            let init = Some(self.any_object());
            let (name, kind) = (Some(format!("head{i}")), VarKind::Global { init, is_static: false });
            self.heads.push(self.p.vars.push(Var { name, ty: self.pointer, width: 64, kind, place: None }));
        }
    }

    fn functions(&mut self) {
        for i in 0..self.makers.len() {
            self.maker(i);
        }
        for f in self.funcs.clone().into_iter().chain([self.outside]) {
            let params: Vec<VarId> = [self.pointer, self.pointer, self.long]
                .into_iter()
                .map(|ty| {
                    let kind = VarKind::Param(f);
                    self.p.vars.push(Var { name: None, ty, width: 64, kind, place: None })
                })
                .collect();
            self.p.funcs[f].params.clone_from(&params);
            self.start(f);
            if f == self.outside {
                self.pointers.clear();
            }
            self.pointers.extend(&params[..2]);
            self.ints.push(params[2]);
            self.statements(10);
            self.finish();
        }
        let f = self.variadic;
        let kind = VarKind::Param(f);
        let block = self.p.vars.push(Var { name: None, ty: self.pointer, width: 64, kind, place: None });
        self.p.funcs[f].varargs = Some(block);
        self.start(f);
        for k in 0..3 {
            let base = self.read(block);
            let addr = self.plus(base, 8 * k);
            let var = self.var(self.pointer);
            self.emit(Op::Load { var, addr });
            self.pointers.push(var);
        }
        self.statements(5);
        self.finish();
        self.start(self.p.entry);
        self.statements(16);
        let (status, sink) = (self.p.exprs.int(32, 0), self.p.add_location(self.f));
        self.p.add_edge(self.at, Op::Halt(HaltKind::Exit(status)), sink, None);
    }
    fn start(&mut self, f: FuncId) {
        self.f = f;
        self.at = self.p.funcs[f].entry;
        self.pointers.clear();
        self.ints.clear();
        for _ in 0..3 {
            let (var, value) = (self.var(self.pointer), self.any_object());
            self.emit(Op::Assign { var, value });
            self.pointers.push(var);
            let var = self.var(self.long);
            let kind = InputKind::Nondet("__VERIFIER_nondet_long".into());
            let input = self.p.inputs.push(Input { kind, ty: self.long, width: 64, place: None });
            self.emit(Op::Havoc { var, input });
            self.ints.push(var);
        }
    }
    fn finish(&mut self) {
        let v = self.any_pointer();
        let (value, sink) = (self.read(v), self.p.add_location(self.f));
        self.p.add_edge(self.at, Op::Return { value: Some(value) }, sink, None);
    }
    /// Generates an allocator: `make0` allocates, the others call the one before.
    fn maker(&mut self, i: usize) {
        self.f = self.makers[i];
        self.at = self.p.funcs[self.f].entry;
        let var = self.var(self.pointer);
        if i == 0 {
            self.alloc(var, AllocKind::MALLOC);
        } else {
            let callee = Callee::Direct(self.makers[i - 1]);
            self.emit(Op::Call { callee, args: Box::default(), varargs: None, result: Some(var) });
        }
        let (value, sink) = (self.read(var), self.p.add_location(self.f));
        self.p.add_edge(self.at, Op::Return { value: Some(value) }, sink, None);
    }
    /// A new object that holds pointers.
    fn alloc(&mut self, var: VarId, kind: AllocKind) {
        let size = self.int(SIZE);
        self.emit(Op::Alloc { var, size, align: SIZE as u32, kind, zeroed: true });
        for off in [0, 24] {
            let base = self.read(var);
            let (addr, value) = (self.plus(base, off), self.any_object());
            self.emit(Op::Store { addr, value });
        }
    }

    /// Continues if the condition holds. Otherwise, execution goes to the returned location, for `join`.
    fn when(&mut self, cond: ExprId) -> LocId {
        let (then, join) = (self.p.add_location(self.f), self.p.add_location(self.f));
        self.p.add_branch(self.at, cond, then, join, None);
        self.at = then;
        join
    }
    fn join(&mut self, join: LocId) {
        self.p.add_edge(self.at, Op::Skip, join, None);
        self.at = join;
    }
    fn offset_in_object(&mut self, p: VarId) -> ExprId {
        let (p, mask) = (self.read(p), self.int(SIZE - 1));
        self.p.exprs.and(p, mask)
    }

    fn statements(&mut self, count: usize) {
        for _ in 0..count {
            self.statement();
        }
    }
    fn statement(&mut self) {
        let (v, w) = (self.any_pointer(), self.any_pointer());
        let (to, from) = (self.read(v), self.read(w));
        // The function has neither allocations nor calls of other functions.
        let kinds: &[usize] = if self.f == self.outside { &[0, 1, 3, 5, 6, 10, 11, 17] } else { &ALL };
        match Self::pick(&mut self.random, kinds) {
            0 => self.emit(Op::Assign { var: v, value: from }),
            1 | 2 => {
                // Move to another location if that is in the same object.
                let step = 8 * (1 + self.random.below(3) as u64);
                let off = self.offset_in_object(w);
                let (forth, limit) = (self.random.below(2) == 0, self.int(SIZE - step));
                let back = self.int(step);
                let inside = if forth { self.p.exprs.ult(off, limit) } else { self.p.exprs.ule(back, off) };
                let join = self.when(inside);
                let value = self.plus(from, if forth { step } else { step.wrapping_neg() });
                self.emit(Op::Assign { var: v, value });
                self.join(join);
            }
            3 | 4 => {
                let addr = self.place(w);
                self.emit(Op::Store { addr, value: to });
            }
            5..=7 => {
                let addr = self.place(w);
                self.load(v, addr);
            }
            8 => {
                let kind = if self.random.below(2) == 0 { AllocKind::Stack } else { AllocKind::MALLOC };
                self.alloc(v, kind);
            }
            9 => {
                let callee = Callee::Direct(Self::pick(&mut self.random, &self.makers));
                self.emit(Op::Call { callee, args: Box::default(), varargs: None, result: Some(v) });
            }
            10 => self.cast(v, w),
            11 => {
                let len = [8, 16, 24, SIZE][self.random.below(4)];
                let (dst, src) = (self.start_of(v), self.start_of(w));
                let off = 8 * self.random.below((SIZE - len) as usize / 8 + 1) as u64;
                let (dst, src, len) = (self.plus(dst, off), self.plus(src, off), self.int(len));
                self.emit(Op::Copy { dst, src, len });
            }
            12 => self.list(v),
            13 | 14 => self.call(v, w),
            15 => self.call_through_table(v, w),
            16 => self.call_variadic(v, w),
            18 => self.by_distance(v, w),
            _ => {
                let i = Self::pick(&mut self.random, &self.ints);
                let (i, one) = (self.read(i), self.int(1));
                let cond = self.p.exprs.ule(i, one);
                let value = self.p.exprs.ite(cond, from, to);
                self.emit(Op::Assign { var: v, value });
            }
        }
    }
    fn start_of(&mut self, v: VarId) -> ExprId {
        let (p, mask) = (self.read(v), self.int(!(SIZE - 1)));
        self.p.exprs.and(p, mask)
    }
    /// An address in the object of the pointer: the pointer itself, a field, or an element.
    fn place(&mut self, v: VarId) -> ExprId {
        match self.random.below(4) {
            0 | 1 => self.read(v),
            2 => {
                let (start, off) = (self.start_of(v), 8 * self.random.below(8) as u64);
                self.plus(start, off)
            }
            _ => {
                let start = self.start_of(v);
                let i = Self::pick(&mut self.random, &self.ints);
                let (i, three, eight) = (self.read(i), self.int(3), self.int(16));
                let i = self.p.exprs.and(i, three);
                let scaled = self.p.exprs.mul(i, eight);
                self.p.exprs.add(start, scaled)
            }
        }
    }
    /// Loads a pointer. Values that do not point into an object are replaced.
    fn load(&mut self, var: VarId, addr: ExprId) {
        let temp = self.var(self.pointer);
        self.emit(Op::Load { var: temp, addr });
        let value = self.read(temp);
        let mut ok = self.int(1 << 16);
        ok = self.p.exprs.ule(ok, value);
        for f in self.in_table() {
            let f = self.p.exprs.func_addr(f, 64);
            let other = self.p.exprs.ne(value, f);
            ok = self.p.exprs.and(ok, other);
        }
        let join = self.when(ok);
        self.emit(Op::Assign { var, value });
        self.join(join);
    }
    /// Casts a pointer to an integer and back.
    fn cast(&mut self, v: VarId, w: VarId) {
        let (temp, from) = (self.var(self.long), self.read(w));
        let other = self.any_pointer();
        let key = self.read(other);
        let value = match self.random.below(4) {
            0 => from,
            1 => self.p.exprs.xor(from, key),
            2 => {
                let one = self.int(1);
                self.p.exprs.or(from, one)
            }
            _ => {
                let (low, high) = (self.p.exprs.extract(31, 0, from), self.p.exprs.extract(63, 32, from));
                self.p.exprs.concat(low, high)
            }
        };
        self.emit(Op::Assign { var: temp, value });
        let held = self.read(temp);
        let back = if value == from {
            held
        } else {
            match *self.p.exprs.get(value) {
                Expr::Binary(BinOp::Xor, ..) => self.p.exprs.xor(held, key),
                Expr::Binary(BinOp::Or, ..) => {
                    let mask = self.int(!7);
                    self.p.exprs.and(held, mask)
                }
                _ => {
                    let (low, high) = (self.p.exprs.extract(31, 0, held), self.p.exprs.extract(63, 32, held));
                    self.p.exprs.concat(low, high)
                }
            }
        };
        // The constant folder may have simplified the cast.
        let start = self.int(1 << 16);
        let ok = self.p.exprs.ule(start, back);
        let join = self.when(ok);
        self.emit(Op::Assign { var: v, value: back });
        self.join(join);
    }
    /// Computes another pointer from a pointer and the distance between the two.
    fn by_distance(&mut self, v: VarId, w: VarId) {
        let (mut from, mut to) = (self.read(w), self.read(v));
        let target = self.any_pointer();
        if self.random.below(2) == 0 {
            // Both pointers become integers.
            for e in [&mut from, &mut to] {
                let held = self.var(self.long);
                self.emit(Op::Assign { var: held, value: *e });
                *e = self.read(held);
            }
        }
        let is_back = self.random.below(3) == 0;
        let (a, b) = if is_back { (from, to) } else { (to, from) };
        let mut distance = self.p.exprs.sub(a, b);
        match self.random.below(4) {
            0 => {}
            1 => {
                let held = self.var(self.long);
                self.emit(Op::Assign { var: held, value: distance });
                distance = self.read(held);
            }
            2 => {
                // Store the distance in memory, with as few bits as necessary, in units.
                let (size, room) = (self.int(SIZE), self.var(self.pointer));
                self.emit(Op::Alloc { var: room, size, align: 8, kind: AllocKind::MALLOC, zeroed: true });
                let (addr, eight, off) = (self.read(room), self.int(8), 8 * self.random.below(8) as u64);
                let addr = self.plus(addr, off);
                let units = self.p.exprs.binary(BinOp::SDiv, distance, eight);
                let value = self.p.exprs.extract(47, 0, units);
                self.emit(Op::Store { addr, value });
                let held = self.p.vars.push(Var {
                    name: None,
                    ty: self.long,
                    width: 48,
                    kind: VarKind::Local(self.f),
                    place: None,
                });
                self.emit(Op::Load { var: held, addr });
                let held = self.p.exprs.var(held, 48);
                let units = self.p.exprs.sext(64, held);
                let distance_again = self.p.exprs.mul(units, eight);
                // Unaligned pointers lead to a different address.
                let same = self.p.exprs.eq(distance_again, distance);
                let join = self.when(same);
                distance = distance_again;
                self.arrive(target, from, distance, is_back);
                self.join(join);
                return;
            }
            _ => {
                let halves = self.int(2);
                let low = self.p.exprs.binary(BinOp::UDiv, distance, halves);
                let high = self.p.exprs.sub(distance, low);
                distance = self.p.exprs.add(high, low);
            }
        }
        self.arrive(target, from, distance, is_back);
    }
    fn arrive(&mut self, v: VarId, from: ExprId, distance: ExprId, is_back: bool) {
        let value = match (is_back, self.random.below(2)) {
            (true, _) => self.p.exprs.sub(from, distance),
            (_, 0) => self.p.exprs.add(from, distance),
            _ => self.p.exprs.add(distance, from),
        };
        self.emit(Op::Assign { var: v, value });
    }
    /// Prepends three cells to a list.
    fn list(&mut self, v: VarId) {
        let (i, zero) = (self.var(self.long), self.int(0));
        self.emit(Op::Assign { var: i, value: zero });
        let (head, body, exit) =
            (self.p.add_location(self.f), self.p.add_location(self.f), self.p.add_location(self.f));
        self.p.add_edge(self.at, Op::Skip, head, None);
        let (count, three) = (self.read(i), self.int(3));
        let more = self.p.exprs.ult(count, three);
        self.p.add_branch(head, more, body, exit, None);
        self.at = body;
        let cell = self.var(self.pointer);
        self.alloc(cell, AllocKind::MALLOC);
        let (addr, value) = (self.read(cell), self.read(v));
        let addr = self.plus(addr, 8);
        self.emit(Op::Store { addr, value });
        let value = self.read(cell);
        self.emit(Op::Assign { var: v, value });
        let next = self.plus(count, 1);
        self.emit(Op::Assign { var: i, value: next });
        self.p.add_edge(self.at, Op::Skip, head, None);
        self.at = exit;
    }
    /// Calls an operation if the depth limit permits it.
    fn guarded(&mut self, op: Op) {
        let depth = self.read(self.depth);
        let most = self.int(4);
        let cond = self.p.exprs.ult(depth, most);
        let join = self.when(cond);
        let deeper = self.plus(depth, 1);
        self.emit(Op::Assign { var: self.depth, value: deeper });
        self.emit(op);
        let back = self.plus(depth, u64::MAX);
        self.emit(Op::Assign { var: self.depth, value: back });
        self.join(join);
    }
    fn arguments(&mut self, w: VarId) -> Box<[ExprId]> {
        let (q, i) = (self.any_pointer(), Self::pick(&mut self.random, &self.ints));
        [w, q, i].map(|v| self.read(v)).into()
    }
    fn call(&mut self, v: VarId, w: VarId) {
        let f = if self.random.below(4) == 0 { self.outside } else { Self::pick(&mut self.random, &self.funcs) };
        let callee = Callee::Direct(f);
        let args = self.arguments(w);
        self.guarded(Op::Call { callee, args, varargs: None, result: Some(v) });
    }
    /// Calls a function through the table, or through a copy of the table on the stack.
    fn call_through_table(&mut self, v: VarId, w: VarId) {
        let mut base = self.p.exprs.global_addr(self.table, 64);
        if self.random.below(2) == 0 {
            let (copy, size) = (self.var(self.pointer), self.int(SIZE));
            self.alloc(copy, AllocKind::Stack);
            let dst = self.read(copy);
            self.emit(Op::Copy { dst, src: base, len: size });
            base = dst;
        }
        let addr = if self.random.below(2) == 0 {
            let k = 8 * self.random.below(self.in_table().len()) as u64;
            self.plus(base, k)
        } else {
            let i = Self::pick(&mut self.random, &self.ints);
            let (i, mask, eight) = (self.read(i), self.int(3), self.int(8));
            let i = self.p.exprs.and(i, mask);
            let off = self.p.exprs.mul(i, eight);
            self.p.exprs.add(base, off)
        };
        let target = self.var(self.pointer);
        self.emit(Op::Load { var: target, addr });
        let callee = Callee::Indirect(self.read(target));
        let args = self.arguments(w);
        self.guarded(Op::Call { callee, args, varargs: None, result: Some(v) });
    }
    fn call_variadic(&mut self, v: VarId, w: VarId) {
        let block = self.var(self.pointer);
        self.alloc(block, AllocKind::Stack);
        for k in 0..3 {
            let x = if k == 0 { w } else { self.any_pointer() };
            let (base, value) = (self.read(block), self.read(x));
            let addr = self.plus(base, 8 * k);
            self.emit(Op::Store { addr, value });
        }
        let (callee, varargs) = (Callee::Direct(self.variadic), Some(self.read(block)));
        self.guarded(Op::Call { callee, args: Box::default(), varargs, result: Some(v) });
    }
}
