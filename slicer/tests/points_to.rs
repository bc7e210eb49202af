//! Tests that points-to sets contain the pointers of concrete runs. Random programs are executed, and every pointer
//! that a variable, an address or an argument ever holds is looked up in its set.

mod pointers;

use cfa::interp::{InputSource, Interpreter, Limits, ObjectSeq, Observer, Outcome, State, Unknown};
use cfa::{Bv, Callee, EdgeId, ExprId, FuncId, FunctionOrigin, Op, Program, Taint};
use pointers::{Random, generate};
use slicer::pointer::{Location, Mode, ObjectKind, Options, PointsTo, Undefined};
use std::collections::BTreeMap;

struct Inputs(Random);

impl InputSource for Inputs {
    fn unknown(&mut self, _: Unknown, width: u32) -> Bv {
        Bv::new(width, self.0.below(4) as u64)
    }
    fn bytes(&mut self, _: ObjectSeq, _: u64, bytes: &mut [u8]) {
        bytes.fill(0);
    }
}

/// Checks the pointers of a run, and records the first one that the analysis misses.
struct Checker<'p> {
    program: Program,
    points_to: PointsTo<'p>,
    /// The allocation edge of each object, by address.
    allocs: BTreeMap<u64, EdgeId>,
    /// The points-to sets of expressions that were looked up before.
    known: BTreeMap<ExprId, Vec<(ObjectKind, Location)>>,
    checked: usize,
    missing: Option<String>,
}

impl Checker<'_> {
    fn check(&mut self, edge: EdgeId, e: ExprId, value: &Bv, state: &State) {
        let Some(address) = value.to_u64() else { return };
        let places = self.known.entry(e).or_insert_with(|| {
            let places = self.points_to.points_to(e);
            places.into_iter().map(|l| (self.points_to.objects[l.object].kind, l)).collect()
        });
        let known = |object: &dyn Fn(ObjectKind) -> bool, off: i64| {
            places.iter().any(|(kind, l)| *kind == ObjectKind::Unknown || object(*kind) && is_at(l, off))
        };
        let found = if let Some(f) = state.func_at(address) {
            known(&|kind| kind == ObjectKind::Func(f), 0)
        } else if let Some(object) = state.object_at(address) {
            let off = (address - object.base) as i64;
            match self.allocs.get(&object.base) {
                Some(&alloc) => known(&|kind| kind == ObjectKind::Alloc(alloc), off),
                None => {
                    let global = self.program.globals.ids().find(|&g| state.global_address(g) == object.base);
                    known(&|kind| global.is_some_and(|g| kind == ObjectKind::Global(g)), off)
                }
            }
        } else {
            return;
        };
        self.checked += 1;
        if !found && self.missing.is_none() {
            self.missing = Some(format!(
                "{edge}: {} = {address:#x}, of {:?}, known {places:?}",
                cfa::text::expression(&self.program, &self.program.exprs, e),
                state.object_at(address).map(|o| (o.seq, o.base, self.allocs.get(&o.base))),
            ));
        }
    }
}

fn is_at(l: &Location, off: i64) -> bool {
    match l.at.stride {
        0 => l.at.off == off,
        stride => (off - l.at.off).rem_euclid(i64::from(stride)) == 0,
    }
}

impl Observer for Checker<'_> {
    fn executed(&mut self, edge: EdgeId, state: &State) {
        let op = self.program.edges[edge].op.clone();
        // Nothing is known about the bodies of undefined functions.
        if self.program.funcs[self.program.func_of(edge)].origin == FunctionOrigin::Undefined {
            return;
        }
        if let (Op::Alloc { .. }, Some(v)) = (&op, op.def()) {
            let base = state.var(v).expect("of this frame").to_u64().expect("an address");
            self.allocs.insert(base, edge);
        }
        match &op {
            Op::Call { callee, .. } => {
                let f: FuncId = state.func();
                if let Callee::Indirect(_) = callee
                    && !self.points_to.callees(edge).contains(&f)
                {
                    self.missing.get_or_insert(format!("{edge} calls {f}"));
                }
                let function = &self.program.funcs[f];
                for v in function.params.clone().into_iter().chain(function.varargs) {
                    let e = self.program.var_expr(v);
                    self.check(edge, e, &state.var(v).expect("a parameter"), state);
                }
            }
            Op::Store { addr, .. } | Op::Free { ptr: addr, .. } => self.check(edge, *addr, &state.eval(*addr), state),
            Op::Copy { dst, src, .. } => {
                for e in [*dst, *src] {
                    self.check(edge, e, &state.eval(e), state);
                }
            }
            _ => {}
        }
        if let (Some(v), false) = (op.def(), matches!(op, Op::Call { .. })) {
            let e = self.program.var_expr(v);
            self.check(edge, e, &state.var(v).expect("of this frame"), state);
        }
    }
}

/// The program without the body of a function.
fn without_body(program: &Program, name: &str) -> Program {
    let mut p = program.clone();
    let f = p.func_by_name(name).expect("the function");
    p.funcs[f].origin = FunctionOrigin::Undefined;
    let taint = p.taints.push(Taint { reason: name.into(), place: None, over: true, under: true });
    let zero = p.exprs.int(64, 0);
    let body: Vec<EdgeId> = p.edges.ids().filter(|&e| p.func_of(e) == f).collect();
    for e in body {
        let is_first = p.edges[e].source == p.funcs[f].entry;
        p.edges[e].op = match p.edges[e].op {
            Op::Return { .. } => Op::Return { value: Some(zero) },
            _ if is_first => Op::Approx { taint },
            _ => Op::Skip,
        };
    }
    p
}

fn check_all(options: &Options) {
    check_known(options, |program| program.clone());
}

/// Checks runs of programs against the points-to sets of a `version` of each program.
fn check_known(options: &Options, version: impl Fn(&Program) -> Program) {
    let rounds = std::env::var("SLICER_TEST_ROUNDS").ok().and_then(|r| r.parse().ok()).unwrap_or(300);
    let mut checked = 0;
    for seed in 0..rounds {
        let program = generate(seed, 4);
        let known = version(&program);
        let points_to = PointsTo::compute(&known, options).expect("there is no deadline");
        let mut checker = Checker {
            program: known.clone(),
            points_to,
            allocs: BTreeMap::new(),
            known: BTreeMap::new(),
            checked: 0,
            missing: None,
        };
        for input in 0..3 {
            checker.allocs.clear();
            let limits = Limits { steps: 20_000, ..Limits::default() };
            Interpreter::new(&program).run(&mut Inputs(Random::new(seed ^ input << 32)), limits, &mut checker);
            if let Some(missing) = &checker.missing {
                panic!("seed {seed}, input {input}: {missing}\n{}", cfa::text::print(&program));
            }
        }
        checked += checker.checked;
    }
    println!("{checked} pointers in {rounds} programs");
    assert!(checked as u64 > rounds * 20);
}

#[test]
fn inclusion_has_what_runs_show() {
    check_all(&Options::default());
}

#[test]
fn heap_contexts_have_what_runs_show() {
    for heap_contexts in [0, 2] {
        check_all(&Options { heap_contexts, ..Options::default() });
    }
}

#[test]
fn objects_without_fields_have_what_runs_show() {
    check_all(&Options { fields: false, ..Options::default() });
}

#[test]
fn unification_has_what_runs_show() {
    check_all(&Options { mode: Mode::Unification, ..Options::default() });
    check_all(&Options { budget: 50, undefined: Undefined::SOUND, ..Options::default() });
}

#[test]
fn undefined_functions_do_what_the_policy_allows() {
    let undefined = Undefined::SOUND;
    check_known(&Options { undefined, ..Options::default() }, |p| without_body(p, "outside"));
    let mode = Mode::Unification;
    check_known(&Options { undefined, mode, ..Options::default() }, |p| without_body(p, "outside"));
}

/// The sets of a more precise mode are subsets of those of a less precise mode.
#[test]
fn modes_are_ordered() {
    for seed in 0..200 {
        let mut program = generate(seed, 4);
        let vars: Vec<ExprId> =
            program.vars.ids().collect::<Vec<_>>().into_iter().map(|v| program.var_expr(v)).collect();
        let objects = |options: Options| {
            let mut points_to = PointsTo::compute(&program, &options).expect("there is no deadline");
            let mut sets = Vec::new();
            for &v in &vars {
                let mut kinds: Vec<String> =
                    points_to.points_to(v).iter().map(|l| format!("{:?}", points_to.objects[l.object].kind)).collect();
                kinds.sort_unstable();
                kinds.dedup();
                sets.push(kinds);
            }
            sets
        };
        let fine = objects(Options::default());
        let coarse = objects(Options { mode: Mode::Unification, ..Options::default() });
        for (v, (fine, coarse)) in fine.iter().zip(&coarse).enumerate() {
            assert!(fine.iter().all(|k| coarse.contains(k)), "seed {seed}, v{v}: {fine:?} and {coarse:?}");
        }
    }
}

/// Supplies the same value for an input each time.
struct Fixed(u64);

impl InputSource for Fixed {
    fn unknown(&mut self, what: Unknown, width: u32) -> Bv {
        match what {
            Unknown::Havoc(input) => Bv::new(width, Random::new(self.0 ^ u64::from(input.0)).below(4) as u64),
            _ => Bv::new(width, 0),
        }
    }
    fn bytes(&mut self, _: ObjectSeq, _: u64, bytes: &mut [u8]) {
        bytes.fill(0);
    }
}

/// The criteria in the order of their execution, each with the value that it stores, unless that is a pointer.
struct Hits<'a> {
    original: &'a dyn Fn(EdgeId) -> Option<EdgeId>,
    criteria: &'a [EdgeId],
    hits: Vec<(EdgeId, Option<u64>)>,
}

impl Observer for Hits<'_> {
    fn executed(&mut self, edge: EdgeId, state: &State) {
        if let Some(id) = (self.original)(edge)
            && self.criteria.binary_search(&id).is_ok()
        {
            let value = match state.program().edges[edge].op {
                Op::Store { value, .. } => state.eval(value).to_u64(),
                _ => None,
            };
            self.hits.push((id, value.filter(|v| *v < 1 << 16)));
        }
    }
}

#[test]
fn slices_of_programs_full_of_pointers() {
    let rounds = std::env::var("SLICER_TEST_ROUNDS").ok().and_then(|r| r.parse().ok()).unwrap_or(300);
    let (mut hit, mut sizes) = (0, (0, 0));
    for seed in 0..rounds {
        let program = generate(seed, 4);
        let mut random = Random::new(seed + 3);
        let stores: Vec<EdgeId> =
            program.edges.iter().filter(|(_, e)| matches!(e.op, Op::Store { .. })).map(|(id, _)| id).collect();
        let mut criteria: Vec<EdgeId> = (0..1 + random.below(2)).map(|_| stores[random.below(stores.len())]).collect();
        criteria.sort_unstable();
        criteria.dedup();
        let points_to = Options { heap_contexts: random.below(3) as u8, ..Options::default() };
        let options = slicer::Options { points_to, ..slicer::Options::default() };
        let slice = slicer::slice(&program, &criteria, &options).expect("there are criteria");
        sizes.0 += slice.stats.edges.0;
        sizes.1 += slice.stats.edges.1;
        for input in 0..3 {
            let run = |program: &Program, original: &dyn Fn(EdgeId) -> Option<EdgeId>| {
                let mut hits = Hits { original, criteria: &criteria, hits: Vec::new() };
                let limits = Limits { steps: 100_000, ..Limits::default() };
                let outcome = Interpreter::new(program).run(&mut Fixed(input), limits, &mut hits).outcome;
                (hits.hits, outcome)
            };
            let (expected, outcome) = run(&program, &|e| Some(e));
            if matches!(outcome, Outcome::Exit(_)) {
                let (found, end) = run(&slice.program, &|e| slice.original[e]);
                let text =
                    || format!("{}\n--- slice\n{}", cfa::text::print(&program), cfa::text::print(&slice.program));
                assert_eq!(expected, found, "seed {seed}, input {input}, {criteria:?}, {end:?}\n{}", text());
                hit += usize::from(!expected.is_empty());
            }
        }
    }
    println!("{hit} runs hit a criterion; {} of {} edges kept", sizes.1, sizes.0);
    assert!(hit as u64 > rounds / 4);
}
