//! Law: a simplified program ends in the same way as the original on the same inputs.

use super::{BranchMap, SideTarget, Simplified, simplified};
use crate::algorithm::random::RandomInputs;
use crate::laws::generator::{self, Shape, generate_shaped};
use cfa::interp::{Interpreter, Limits, Observer, State};
use cfa::{
    CType, Callee, Check, DataLayout, EdgeId, ErrorInfo, ExprId, FuncId, Global, Id, Input, InputKind, Op, Out,
    Program, TypeId, Var, VarKind,
};

fn branches(program: &Program) -> usize {
    let reached: Vec<_> = program.funcs.ids().flat_map(|f| super::locations(program, f)).collect();
    reached.into_iter().filter(|&loc| matches!(program.locs[loc].out, Out::Branch { .. })).count()
}

/// Runs both programs on the same inputs.
fn compare(program: &Program, simple: &Program, seed: u64) {
    let limits = Limits { steps: 5_000, ..Limits::default() };
    let inputs = RandomInputs::new(program, seed);
    for run in 0..12 {
        let (mut ours, mut theirs) = (inputs.run(run), inputs.run(run));
        let before = Interpreter::new(program).run(&mut ours, limits, &mut ());
        let after = Interpreter::new(simple).run(&mut theirs, limits, &mut ());
        if before.steps >= limits.steps {
            continue;
        }
        assert_eq!(format!("{:?}", before.outcome), format!("{:?}", after.outcome), "seed {seed}, run {run}");
        assert_eq!(ours.asked, theirs.asked, "seed {seed}, run {run}");
        assert!(after.steps <= before.steps);
    }
}

#[derive(Default)]
struct Path(Vec<EdgeId>);

impl Observer for Path {
    fn executed(&mut self, edge: EdgeId, _: &State) {
        self.0.push(edge);
    }
}

/// The branches of a path that the simplified program also has, and the sides on which the path leaves regions.
fn told(branch_map: &BranchMap, path: &[EdgeId]) -> Vec<Result<EdgeId, (usize, bool)>> {
    let mut out = Vec::new();
    let mut inside = None;
    for &edge in path {
        let (region, number) = match (inside, branch_map.region_of(edge)) {
            (Some(inside), _) => inside,
            (None, Some(region)) => (region, 0),
            (None, None) => {
                out.extend(branch_map.is_kept(edge).then_some(Ok(edge)));
                continue;
            }
        };
        let split = &branch_map.region(region).0[number];
        inside = match split.edges.iter().position(|e| *e == edge).map(|side| split.to[side]) {
            // Straight-line code between branches of the region.
            None => Some((region, number)),
            Some(SideTarget::Split(next)) => Some((region, next)),
            Some(SideTarget::Side(side)) => {
                out.push(Err((region, side)));
                None
            }
        };
    }
    out
}

/// Law: paths of the simplified program determine the paths of the original. Returns the number of regions on them.
fn compare_paths(program: &Program, seed: u64) -> usize {
    let Simplified { program: simple, branch_map } = Simplified::new(program).unwrap_or_else(|| panic!("seed {seed}"));
    let limits = Limits { steps: 5_000, ..Limits::default() };
    let inputs = RandomInputs::new(program, seed);
    let mut passed = 0;
    for run in 0..12 {
        let (mut ours, mut theirs) = (Path::default(), Path::default());
        let before = Interpreter::new(program).run(&mut inputs.run(run), limits, &mut ours);
        Interpreter::new(&simple).run(&mut inputs.run(run), limits, &mut theirs);
        if before.steps >= limits.steps {
            continue;
        }
        let of_simple = theirs.0.iter().filter_map(|&edge| match branch_map.side(edge) {
            Some(side) => Some(Err(side)),
            None => (!branch_map.is_new(edge)).then_some(Ok(edge)),
        });
        let of_simple: Vec<_> = of_simple.collect();
        passed += of_simple.iter().filter(|step| step.is_err()).count();
        assert_eq!(told(&branch_map, &ours.0), of_simple, "seed {seed}, run {run}");
    }
    passed
}

#[test]
fn paths_are_told_in_terms_of_the_program() {
    let mut passed = [0, 0];
    for seed in 1..400 {
        let shape = Shape { pieces: seed % 2 == 0, ..Shape::default() };
        passed[0] += compare_paths(&generate_shaped(seed, shape).program, seed);
    }
    for seed in 1..6_000 {
        passed[1] += compare_paths(&random_branches(seed), seed);
    }
    assert!(passed[0] > 20 && passed[1] > 1_000, "{passed:?}");
}

#[test]
fn random_programs_end_alike() {
    let mut fewer = 0;
    for seed in 1..400 {
        let shape = Shape { pieces: seed % 2 == 0, ..Shape::default() };
        let program = generate_shaped(seed, shape).program;
        let simple = simplified(&program);
        fewer += branches(&program) - branches(&simple);
        compare(&program, &simple, seed);
    }
    assert!(fewer > 20, "{fewer}");
}

/// An acyclic function with branches, assignments and loads: truth values, two inputs (one of them in memory), errors
/// and ends.
fn random_branches(seed: u64) -> Program {
    let mut random = generator::Random::new(seed);
    let mut p = Program::new(DataLayout { pointer_width: 64 });
    let int = p.types.push(CType::Int { name: "int".into(), width: 32, signed: true });
    let func = p.entry;
    let var = |p: &mut Program, width, kind| p.vars.push(Var { name: None, ty: int, width, kind, place: None });
    let inputs = [(); 2].map(|()| var(&mut p, 32, VarKind::Local(func)));
    let truths = [(); 3].map(|()| var(&mut p, 1, VarKind::Temp(func)));
    let loaded = [(); 2].map(|()| var(&mut p, 32, VarKind::Temp(func)));
    let init = Some(cfa::GlobalInit::default());
    let cell =
        Global { name: "g".into(), ty: int, size: 4, align: 4, read_only: false, is_static: false, init, place: None };
    let cell = p.globals.push(cell);
    let addr = p.exprs.global_addr(cell, 64);
    let input = p.inputs.push(Input { kind: InputKind::Nondet("n".into()), ty: int, width: 32, place: None });
    let error = p.errors.push(ErrorInfo { check: Check::Call, message: "m".into(), place: None });
    let mut at = p.funcs[func].entry;
    let zero = p.exprs.bool(false);
    let begin = inputs.map(|var| Op::Havoc { var, input }).into_iter();
    let stored = Op::Store { addr, value: p.var_expr(inputs[1]) };
    let load = |var| Op::Load { var, addr };
    let begin = begin.chain(truths.map(|var| Op::Assign { var, value: zero })).chain([stored]);
    for op in begin.chain(loaded.map(load)) {
        let next = p.add_location(func);
        p.add_edge(at, op, next, None);
        at = next;
    }
    let mut locs = vec![at];
    locs.extend((0..24).map(|_| p.add_location(func)));
    let end = p.add_location(func);
    for i in 0..locs.len() {
        let condition = |p: &mut Program, random: &mut generator::Random| {
            let truth = p.var_expr(truths[random.below(3)]);
            let (x, c) = ([inputs[0], loaded[0], loaded[1]][random.below(3)], p.exprs.int(32, random.below(4) as u64));
            let x = p.var_expr(x);
            match random.below(4) {
                0 => truth,
                1 => p.exprs.not(truth),
                2 => p.exprs.eq(x, c),
                _ => p.exprs.slt(x, c),
            }
        };
        let later = |random: &mut generator::Random| locs.get(i + 1 + random.below(4)).copied();
        let (Some(next), Some(other)) = (locs.get(i + 1).copied(), later(&mut random)) else {
            let op = if random.below(2) == 0 { Op::Error(error) } else { Op::Return { value: None } };
            p.add_edge(locs[i], op, end, None);
            continue;
        };
        match random.below(10) {
            0..5 => {
                let cond = condition(&mut p, &mut random);
                p.add_branch(locs[i], cond, next, other, None);
            }
            5 => drop(p.add_edge(locs[i], Op::Error(error), end, None)),
            6 => drop(p.add_edge(locs[i], Op::Skip, other, None)),
            7 => drop(p.add_edge(locs[i], load(loaded[random.below(2)]), other, None)),
            _ => {
                let (var, value) = (truths[random.below(3)], condition(&mut p, &mut random));
                p.add_edge(locs[i], Op::Assign { var, value }, other, None);
            }
        }
    }
    p
}

#[test]
fn random_branches_end_alike() {
    let (mut before, mut after) = (0, 0);
    for seed in 1..1_500 {
        let program = random_branches(seed);
        let simple = simplified(&program);
        cfa::validate::validate(&program).unwrap_or_else(|e| panic!("seed {seed}: {e:?}"));
        before += branches(&program);
        after += branches(&simple);
        compare(&program, &simple, seed);
    }
    assert!(after * 4 < before * 3, "{before}, {after}");
}

/// `if (p[0] == 1 || p[0] == 2 || x == 3) error`, as clang lowers it.
const CHAIN: &str = "program 64 entry f0
type ty0 void
type ty1 int \"int\" 32 signed
input in0 nondet \"n\" ty1 32
error err0 \"unreach-call\" \"m\"

func f0 \"main\" source ty0 () entry l0 {
  local v0 \"x\" ty1 32
  temp v1 ty1 32
  temp v2 ty1 1
  l0:
    t0: v0 := havoc in0 -> l1
  l1:
    t1: if (v0 == 1:32) -> l7
    t2: else ~(v0 == 1:32) -> l2
  l2:
    t3: if (v0 == 2:32) -> l7
    t4: else ~(v0 == 2:32) -> l3
  l3:
    t5: if (v0 == 5:32) -> l4
    t6: else ~(v0 == 5:32) -> l5
  l4:
    t7: v2 := 1:1 -> l6
  l5:
    t8: v2 := (v0 == 9:32) -> l6
  l6:
    t9: if v2 -> l7
    t10: else ~v2 -> l8
  l7:
    t11: error err0 -> l9
  l8:
    t12: return -> l9
  l9:
}
";

#[test]
fn conditions_of_one_destination_are_one() {
    let program = cfa::text::parse(CHAIN).unwrap_or_else(|e| panic!("{e:?}"));
    let simple = simplified(&program);
    assert_eq!((branches(&program), branches(&simple)), (4, 1), "{}", cfa::text::print(&simple));
    compare(&program, &simple, 1);
}

/// A function that adds something to its argument.
fn random_helper(p: &mut Program, random: &mut generator::Random, int: TypeId) -> FuncId {
    let helper = p.add_function("helper", int, Some(8));
    let [given, local] = [VarKind::Param(helper), VarKind::Local(helper)]
        .map(|kind| p.vars.push(Var { name: None, ty: int, width: 8, kind, place: None }));
    p.funcs[helper].params.push(given);
    let (own, few) = (p.var_expr(given), p.exprs.int(8, random.below(4) as u64));
    let sum = p.exprs.add(own, few);
    let [between, end] = [p.add_location(helper), p.add_location(helper)];
    p.add_edge(p.funcs[helper].entry, Op::Assign { var: local, value: sum }, between, None);
    let value = p.var_expr(local);
    p.add_edge(between, Op::Return { value: Some(value) }, end, None);
    helper
}

fn random_relation(p: &mut Program, random: &mut generator::Random, a: ExprId, b: ExprId) -> ExprId {
    match random.below(5) {
        0 => p.exprs.ult(a, b),
        1 => p.exprs.ule(a, b),
        2 => p.exprs.slt(a, b),
        3 => p.exprs.sle(a, b),
        _ => p.exprs.ne(a, b),
    }
}

/// One loop, or two nested ones, over variables of few bits. The loop is left by a comparison, before or after its
/// assignments.
fn random_counting(seed: u64) -> Program {
    let mut random = generator::Random::new(seed);
    let mut p = Program::new(DataLayout { pointer_width: 64 });
    let int = p.types.push(CType::Int { name: "int".into(), width: 32, signed: true });
    let func = p.entry;
    let widths: Vec<u32> = (0..4).map(|_| [3, 4, 5, 8][random.below(4)]).collect();
    let kinds = [VarKind::Local(func), VarKind::Global { init: None, is_static: false }];
    let var = |p: &mut Program, width, kind: &VarKind| {
        p.vars.push(Var { name: None, ty: int, width, kind: kind.clone(), place: None })
    };
    let vars: Vec<_> = widths.iter().map(|&w| var(&mut p, w, &kinds[random.below(2)])).collect();
    let error = p.errors.push(ErrorInfo { check: Check::Call, message: "m".into(), place: None });
    let mut at = p.funcs[func].entry;
    let step = |p: &mut Program, at: &mut _, op| {
        let next = p.add_location(func);
        p.add_edge(*at, op, next, None);
        *at = next;
    };
    for &var in &vars {
        let width = p.vars[var].width;
        let input = p.inputs.push(Input { kind: InputKind::Nondet("n".into()), ty: int, width, place: None });
        step(&mut p, &mut at, Op::Havoc { var, input });
    }
    let helper = random_helper(&mut p, &mut random, int);
    let result = var(&mut p, 8, &VarKind::Temp(func));
    // A variable or a constant, resized to `width`.
    let operand = |p: &mut Program, random: &mut generator::Random, width| match random.below(2) {
        0 => p.exprs.int(width, random.below(1 << width) as u64),
        _ => {
            let var = p.var_expr(vars[random.below(4)]);
            p.exprs.resize(width, var)
        }
    };
    let something = |p: &mut Program, random: &mut generator::Random, at: &mut _| {
        for _ in 0..random.below(3) {
            let var = vars[random.below(3)];
            let (own, width) = (p.var_expr(var), p.vars[var].width);
            let few = p.exprs.int(width, 1 + random.below(3) as u64);
            let by = if random.below(3) > 0 { few } else { operand(p, random, width) };
            if random.below(6) == 0 {
                let arg = p.exprs.resize(8, own);
                let callee = Callee::Direct(helper);
                step(p, at, Op::Call { callee, args: [arg].into(), varargs: None, result: Some(result) });
                let value = p.var_expr(result);
                let value = p.exprs.resize(width, value);
                step(p, at, Op::Assign { var, value });
                continue;
            }
            let value = match random.below(8) {
                0..3 => p.exprs.add(own, by),
                3..5 => p.exprs.sub(own, by),
                _ => by,
            };
            step(p, at, Op::Assign { var, value });
        }
    };
    let depth = 1 + random.below(2);
    let mut heads = Vec::new();
    for _ in 0..depth {
        something(&mut p, &mut random, &mut at);
        let counter = vars[random.below(4)];
        let (number, width) = (p.var_expr(counter), p.vars[counter].width);
        if random.below(2) == 0 {
            let value = operand(&mut p, &mut random, width);
            step(&mut p, &mut at, Op::Assign { var: counter, value });
        }
        let (before, head) = (at, p.add_location(func));
        at = head;
        something(&mut p, &mut random, &mut at);
        let bound = operand(&mut p, &mut random, width);
        let (a, b) = if random.below(2) == 0 { (number, bound) } else { (bound, number) };
        let cond = random_relation(&mut p, &mut random, a, b);
        let [inside, outside] = [p.add_location(func), p.add_location(func)];
        p.add_branch(at, cond, inside, outside, None);
        match random.below(8) {
            // The loop may have a second entry in its middle.
            0 => {
                let (a, b) = (p.var_expr(vars[3]), p.exprs.int(p.vars[vars[3]].width, 2));
                let cond = p.exprs.ult(a, b);
                p.add_branch(before, cond, inside, head, None);
            }
            _ => drop(p.add_edge(before, Op::Skip, head, None)),
        }
        heads.push((head, outside, counter));
        at = inside;
    }
    for (head, outside, var) in heads.into_iter().rev() {
        something(&mut p, &mut random, &mut at);
        let by = [1, 1, 1, 2, 3, 7][random.below(6)];
        let (own, by) = (p.var_expr(var), p.exprs.int(p.vars[var].width, by));
        let value = p.exprs.add(own, by);
        step(&mut p, &mut at, Op::Assign { var, value });
        p.add_edge(at, Op::Skip, head, None);
        at = outside;
    }
    let end = p.add_location(func);
    p.add_edge(at, Op::Error(error), end, None);
    p
}

/// Records the values of global variables after an edge.
struct End<'a>(&'a Program, EdgeId, Vec<Option<cfa::Bv>>);

impl Observer for End<'_> {
    fn executed(&mut self, edge: EdgeId, state: &State) {
        if edge == self.1 {
            let globals = self.0.vars.iter().filter(|(_, var)| matches!(var.kind, VarKind::Global { .. }));
            self.2 = globals.map(|(var, _)| state.var(var)).collect();
        }
    }
}

#[test]
fn loops_that_count_end_alike() {
    let (mut closed, mut nested, mut ended) = (0, 0, 0);
    for seed in 1..8_000 {
        let program = random_counting(seed);
        cfa::validate::validate(&program).unwrap_or_else(|e| panic!("seed {seed}: {e:?}"));
        let Some(fast) = super::accelerated(&program) else { continue };
        cfa::validate::validate(&fast).unwrap_or_else(|e| panic!("seed {seed}: {e:?}"));
        let left = loops(&fast);
        closed += 1;
        let is_nested = loops(&program) == 2;
        nested += usize::from(is_nested && left == 0);
        let inputs = RandomInputs::new(&program, seed);
        for run in 0..12 {
            let limits = Limits { steps: 20_000, ..Limits::default() };
            let [(slow, ours), (fast_run, theirs)] = [&program, &fast].map(|p| {
                let mut end = End(p, EdgeId::from_index(program.edges.len() - 1), Vec::new());
                (Interpreter::new(p).run(&mut inputs.run(run), limits, &mut end), end.2)
            });
            let ends = slow.steps < limits.steps;
            assert!(!ends || ours == theirs, "seed {seed}, run {run}: {ours:?}, {theirs:?}");
            // A single loop over so few bits that has not ended never ends.
            assert!(ends || is_nested || fast_run.steps >= limits.steps, "seed {seed}, run {run}: {theirs:?}");
            ended += usize::from(ends);
        }
    }
    assert!(closed > 1_000 && nested > 50 && ended > 10_000, "{closed}, {nested}, {ended}");
}

fn loops(program: &Program) -> usize {
    let graphs = cfa::graph::CfaGraphs::new(program);
    graphs.funcs.values().map(|g| cfa::loops::LoopForest::new(&g.graph, 0).loops().len()).sum()
}
