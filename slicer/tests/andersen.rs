//! Compares the solver's points-to sets with their definition. The reference solves random constraint systems by
//! applying every constraint to every pointer until nothing changes.

use cfa::*;
use slicer::pointer::{ObjectKind, Options, PointsTo};
use std::collections::{BTreeMap, BTreeSet};

struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % bound
    }
}

/// The value of an assignment, or the address of an access.
#[derive(Clone, Copy, Debug)]
enum Value {
    Var(usize, i64),
    Global(usize, i64),
    Func(usize),
}

#[derive(Clone, Copy, Debug)]
enum Constraint {
    Assign(usize, Value),
    Load(usize, Value),
    Store(Value, Value),
    Alloc(usize),
    Copy(Value, Value, i64),
    /// A call: the result, the callee (a function, or a variable that holds functions), and the argument.
    Call(usize, Value, Value),
}

/// A system of constraints. A function has one parameter, a few constraints, and returns a variable. Variables are
/// global.
struct System {
    vars: usize,
    globals: usize,
    /// By function: parameter, result, constraints. The program starts in the first function.
    funcs: Vec<(usize, usize, Vec<Constraint>)>,
}

const SIZE: i64 = 64;

fn random_system(seed: u64) -> System {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 77);
    let (vars, globals, funcs) = (4 + random.below(10), 1 + random.below(4), 1 + random.below(4));
    // Accesses may overlap partially only in systems without copies.
    let copies = random.below(2) == 0;
    let unit = if copies { 8 } else { 4 };
    let value = |random: &mut Random, shifted: bool| {
        let off = if shifted && random.below(2) == 0 { unit * random.below(5) as i64 } else { 0 };
        match random.below(10) {
            0..=5 => Value::Var(random.below(vars), off),
            6..=8 => Value::Global(random.below(globals), off),
            _ => Value::Func(random.below(funcs)),
        }
    };
    let constraint = |random: &mut Random| match random.below(if copies { 13 } else { 12 }) {
        // Shifts of variables are rare, so that most systems have no cyclic shifts.
        0..=2 => {
            let shifted = random.below(6) == 0;
            Constraint::Assign(random.below(vars), value(random, shifted))
        }
        3..=5 => Constraint::Load(random.below(vars), value(random, true)),
        6..=8 => Constraint::Store(value(random, true), value(random, false)),
        9 => Constraint::Alloc(random.below(vars)),
        10 | 11 => Constraint::Call(random.below(vars), value(random, false), value(random, false)),
        _ => Constraint::Copy(value(random, true), value(random, true), 8 * (1 + random.below(4) as i64)),
    };
    let funcs = (0..funcs)
        .map(|i| {
            let count = if i == 0 { 10 } else { 4 };
            let body = (0..count + random.below(10)).map(|_| constraint(&mut random)).collect();
            (random.below(vars), random.below(vars), body)
        })
        .collect();
    System { vars, globals, funcs }
}

/// The system as a program, with the values of its variables.
fn program(system: &System) -> (Program, Vec<VarId>) {
    let mut p = Program::new(DataLayout { pointer_width: 64 });
    let void = p.types.push(CType::Void);
    let ty = p.types.push(CType::Pointer(void));
    for i in 0..system.globals {
        let (name, init) = (format!("g{i}"), Some(GlobalInit::default()));
        p.globals.push(Global {
            name,
            ty,
            size: SIZE as u64,
            align: 8,
            read_only: false,
            is_static: false,
            init,
            place: None,
        });
    }
    let zero = p.exprs.int(64, 0);
    let vars: Vec<VarId> = (0..system.vars)
        .map(|i| {
            let (name, kind) = (Some(format!("v{i}")), VarKind::Global { init: Some(zero), is_static: false });
            p.vars.push(Var { name, ty, width: 64, kind, place: None })
        })
        .collect();
    let funcs: Vec<FuncId> = (0..system.funcs.len())
        .map(|i| {
            let f = p.add_function(&format!("f{i}"), ty, Some(64));
            let kind = VarKind::Param(f);
            let param = p.vars.push(Var { name: None, ty, width: 64, kind, place: None });
            p.funcs[f].params.push(param);
            f
        })
        .collect();
    let expr = |p: &mut Program, value: Value| {
        let (base, off) = match value {
            Value::Var(v, off) => (p.var_expr(vars[v]), off),
            Value::Global(g, off) => (p.exprs.global_addr(GlobalId(g as u32), 64), off),
            Value::Func(f) => (p.exprs.func_addr(funcs[f], 64), 0),
        };
        let off = p.exprs.int(64, off as u64);
        p.exprs.add(base, off)
    };
    for (&f, (param, result, body)) in funcs.iter().zip(&system.funcs) {
        let mut at = p.funcs[f].entry;
        let value = p.var_expr(p.funcs[f].params[0]);
        let mut ops = vec![Op::Assign { var: vars[*param], value }];
        for &c in body {
            ops.push(match c {
                Constraint::Assign(v, value) => Op::Assign { var: vars[v], value: expr(&mut p, value) },
                Constraint::Load(v, addr) => Op::Load { var: vars[v], addr: expr(&mut p, addr) },
                Constraint::Store(addr, value) => Op::Store { addr: expr(&mut p, addr), value: expr(&mut p, value) },
                Constraint::Alloc(v) => {
                    let size = p.exprs.int(64, SIZE as u64);
                    Op::Alloc { var: vars[v], size, align: 8, kind: AllocKind::Stack, zeroed: true }
                }
                Constraint::Copy(dst, src, len) => {
                    let (dst, src) = (expr(&mut p, dst), expr(&mut p, src));
                    Op::Copy { dst, src, len: p.exprs.int(64, len as u64) }
                }
                Constraint::Call(v, callee, arg) => {
                    let callee = match callee {
                        Value::Func(f) => Callee::Direct(funcs[f]),
                        other => Callee::Indirect(expr(&mut p, other)),
                    };
                    let args = Box::new([expr(&mut p, arg)]);
                    Op::Call { callee, args, varargs: None, result: Some(vars[v]) }
                }
            });
        }
        ops.push(Op::Return { value: Some(p.var_expr(vars[*result])) });
        for op in ops {
            let next = p.add_location(f);
            p.add_edge(at, op, next, None);
            at = next;
        }
    }
    let (start, end) = (p.funcs[p.entry].entry, p.add_location(p.entry));
    let call = Op::Call { callee: Callee::Direct(funcs[0]), args: Box::new([zero]), varargs: None, result: None };
    p.add_edge(start, call, end, None);
    (p, vars)
}

/// A pointer: the kind and the number of its object, and an offset.
type Pointer = (char, usize, i64);

/// The reference solution.
#[derive(Default, Clone, PartialEq)]
struct Naive {
    vars: Vec<BTreeSet<Pointer>>,
    cells: BTreeMap<Pointer, BTreeSet<Pointer>>,
    reached: BTreeSet<usize>,
}

impl Naive {
    fn value(&self, value: Value) -> BTreeSet<Pointer> {
        match value {
            Value::Var(v, off) => {
                let moved = |&(kind, o, at): &Pointer| (kind, o, if kind == 'f' { 0 } else { at + off });
                self.vars[v].iter().map(moved).collect()
            }
            Value::Global(g, off) => [('g', g, off)].into(),
            Value::Func(f) => [('f', f, 0)].into(),
        }
    }
    fn read(&self, (kind, o, at): Pointer) -> BTreeSet<Pointer> {
        let overlapping = self.cells.range((kind, o, at - 7)..(kind, o, at + 8));
        overlapping.flat_map(|(_, content)| content).copied().collect()
    }
    fn write(&mut self, at: Pointer, what: BTreeSet<Pointer>) {
        // Locations outside their object, and functions, hold no values.
        if at.0 != 'f' && !what.is_empty() && (at.0 == 'b' || (-7..SIZE).contains(&at.2)) {
            self.cells.entry(at).or_default().extend(what);
        }
    }
    fn apply(&mut self, system: &System, (f, i): (usize, usize), c: Constraint) {
        match c {
            Constraint::Assign(v, value) => {
                let new = self.value(value);
                self.vars[v].extend(new);
            }
            Constraint::Load(v, addr) => {
                for at in self.value(addr) {
                    let new = self.read(at);
                    self.vars[v].extend(new);
                }
            }
            Constraint::Store(addr, value) => {
                for at in self.value(addr) {
                    self.write(at, self.value(value));
                }
            }
            Constraint::Alloc(v) => {
                self.vars[v].insert(('a', f * 1000 + i, 0));
            }
            Constraint::Copy(dst, src, len) => {
                let buffer = f * 1000 + i;
                for (kind, o, from) in self.value(src) {
                    for off in (0..len).step_by(8) {
                        let content = self.read((kind, o, from + off));
                        self.write(('b', buffer, off), content);
                    }
                }
                for (kind, o, to) in self.value(dst) {
                    for off in (0..len).step_by(8) {
                        let content = self.read(('b', buffer, off));
                        self.write((kind, o, to + off), content);
                    }
                }
            }
            Constraint::Call(v, callee, arg) => {
                for (kind, g, _) in self.value(callee) {
                    if kind == 'f' {
                        self.reached.insert(g);
                        let (param, result, _) = system.funcs[g];
                        let arg = self.value(arg);
                        self.vars[param].extend(arg);
                        let result = self.vars[result].clone();
                        self.vars[v].extend(result);
                    }
                }
            }
        }
    }
    /// Computes the fixed point. `None` if a pointer moves far out of its object, as on a cycle of shifts.
    fn solve(system: &System) -> Option<Self> {
        let mut this = Self { vars: vec![BTreeSet::new(); system.vars], ..Self::default() };
        this.reached.insert(0);
        loop {
            let before = this.clone();
            for f in before.reached.iter().copied() {
                for (i, &c) in system.funcs[f].2.iter().enumerate() {
                    this.apply(system, (f, i), c);
                }
            }
            if this.vars.iter().flatten().any(|p| p.2 >= SIZE) {
                return None;
            }
            if this == before {
                return Some(this);
            }
        }
    }
}

#[test]
fn the_solver_computes_what_is_defined() {
    let rounds = std::env::var("SLICER_TEST_ROUNDS").ok().and_then(|r| r.parse().ok()).unwrap_or(3000);
    let (mut compared, mut pointers) = (0, 0);
    for seed in 0..rounds {
        let system = random_system(seed);
        let Some(expected) = Naive::solve(&system) else { continue };
        let (mut p, vars) = program(&system);
        let exprs: Vec<ExprId> = vars.iter().map(|&v| p.var_expr(v)).collect();
        let options = Options { heap_contexts: 0, ..Options::default() };
        let mut points_to = PointsTo::compute(&p, &options).expect("there is no deadline");
        // The first edge of each function, to find the constraints of its allocations.
        let mut starts = BTreeMap::new();
        for id in p.edges.ids() {
            starts.entry(p.func_of(id)).or_insert(id.0);
        }
        for (v, &e) in exprs.iter().enumerate() {
            let mut strided = false;
            let found: BTreeSet<Pointer> = points_to
                .points_to(e)
                .into_iter()
                .map(|l| {
                    strided |= l.at.stride != 0;
                    match points_to.objects[l.object].kind {
                        ObjectKind::Global(g) => ('g', g.0 as usize, l.at.off),
                        // Function 0 is the entry; the functions of the system follow.
                        ObjectKind::Func(f) => ('f', f.0 as usize - 1, 0),
                        ObjectKind::Alloc(edge) => {
                            let f = p.func_of(edge);
                            let i = (edge.0 - starts[&f]) as usize - 1;
                            ('a', (f.0 as usize - 1) * 1000 + i, l.at.off)
                        }
                        other => panic!("{other:?} is not in the program"),
                    }
                })
                .collect();
            let text = || cfa::text::print(&p);
            assert!(
                expected.vars[v].is_subset(&found),
                "seed {seed}, v{v}: {:?} and {found:?}\n{}",
                expected.vars[v],
                text()
            );
            // A cycle of shifts gets a stride, even if no execution repeats it. All other sets are exact.
            if !strided {
                assert_eq!(expected.vars[v], found, "seed {seed}, v{v}\n{}", text());
            }
            pointers += found.len();
        }
        compared += 1;
    }
    println!("{compared} systems of {rounds}, {pointers} pointers");
    assert!(compared as u64 > rounds / 3 && pointers > 1000);
}
