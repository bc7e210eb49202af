//! Compares random programs (csmith) with their slices in the interpreter. A slice executes its criterion as often as
//! the program, and with the same values.
//!
//! Environment variables: `SLICE_PROGRAMS` is the number of programs, by default 4, each with a dozen slices.
//! `CSMITH_SEED` is the seed of the first one, by default 1. The others have the following seeds.

use cfa::interp::{InputSource, Interpreter, Limits, Observer, Outcome, State, Unknown};
use cfa::{Bv, CType, EdgeId, GlobalId, Id, Op, Program, TypeId, VarId};
use frontend_llvm::DataModel;
use slicer::{Analysis, Control, Criterion, Options, Slice, Value, What, pointer};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::process::Command;

/// Options of csmith, chosen by seed.
const CSMITH: &[&[&str]] = &[
    &[],
    &["--no-packed-struct", "--max-struct-fields", "4", "--max-array-dim", "2"],
    &["--max-pointer-depth", "4", "--max-block-depth", "3"],
    &["--max-funcs", "20", "--no-arrays"],
    &["--float", "--max-funcs", "6"],
];
const SLICES: usize = 12;
const STEPS: u64 = 3_000_000;

struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % bound
    }
}

struct Ones;

impl InputSource for Ones {
    fn unknown(&mut self, _: Unknown, width: u32) -> Bv {
        Bv::one(width)
    }
}

/// The number of executions of each edge.
struct Counts(Vec<u64>);

impl Observer for Counts {
    fn executed(&mut self, edge: EdgeId, _: &State) {
        self.0[edge.index()] += 1;
    }
}

/// The executions of a criterion: their number, and a digest of all values in order. Addresses are not compared,
/// because a slice has fewer objects.
struct Hits<'a> {
    criterion: &'a Criterion,
    original: &'a dyn Fn(EdgeId) -> Option<EdgeId>,
    count: u64,
    digest: DefaultHasher,
}

impl Observer for Hits<'_> {
    fn executed(&mut self, edge: EdgeId, state: &State) {
        if (self.original)(edge) != Some(self.criterion.edge) {
            return;
        }
        self.count += 1;
        let program = state.program();
        match &self.criterion.what {
            What::Operation => match program.edges[edge].op {
                Op::Store { value, .. } if program.exprs.width(value) < 32 => state.eval(value).hash(&mut self.digest),
                ref op => {
                    if let Some(v) = op.def().filter(|&v| is_number(program, v)) {
                        state.var(v).hash(&mut self.digest);
                    }
                }
            },
            What::Values(values) => {
                for value in values {
                    match *value {
                        Value::Var(v) => state.var(v).hash(&mut self.digest),
                        Value::Global(g) => {
                            let size = program.globals[g].size as usize;
                            state.bytes(state.global_address(g), size).hash(&mut self.digest);
                        }
                        Value::Object(_) => {}
                    }
                }
            }
        }
    }
}

fn is_number(program: &Program, v: VarId) -> bool {
    matches!(program.plain_type(program.vars[v].ty), CType::Int { .. } | CType::Bool | CType::Float { .. })
}

fn has_addresses(program: &Program, ty: TypeId) -> bool {
    match program.plain_type(ty) {
        CType::Int { .. } | CType::Bool | CType::Float { .. } | CType::Enum { .. } => false,
        CType::Array(of, _) => has_addresses(program, *of),
        CType::Struct { fields, .. } => fields.iter().any(|f| has_addresses(program, f.ty)),
        _ => true,
    }
}

fn hits(program: &Program, criterion: &Criterion, original: &dyn Fn(EdgeId) -> Option<EdgeId>) -> (u64, u64, Outcome) {
    let mut hits = Hits { criterion, original, count: 0, digest: DefaultHasher::new() };
    let limits = Limits { steps: STEPS, ..Limits::default() };
    let run = Interpreter::new(program).run(&mut Ones, limits, &mut hits);
    (hits.count, hits.digest.finish(), run.outcome)
}

/// A random criterion at an executed edge: an operation, or values of variables and objects. Values are observed at
/// edges that do not change them, so they are the same before and after the edge.
fn criterion(program: &Program, executed: &[EdgeId], random: &mut Random) -> Criterion {
    loop {
        let edge = executed[random.below(executed.len())];
        let op = &program.edges[edge].op;
        if random.below(2) == 0 {
            if matches!(op, Op::Store { .. } | Op::Assign { .. } | Op::Load { .. }) {
                return Criterion::operation(edge);
            }
            continue;
        }
        if !matches!(op, Op::Skip) {
            continue;
        }
        let f = program.func_of(edge);
        let values: Vec<Value> = (0..1 + random.below(3))
            .filter_map(|_| {
                if random.below(2) == 0 && !program.globals.is_empty() {
                    let g = GlobalId(random.below(program.globals.len()) as u32);
                    let known = program.globals[g].init.is_some() && !has_addresses(program, program.globals[g].ty);
                    return known.then_some(Value::Global(g));
                }
                let v = VarId(random.below(program.vars.len()) as u32);
                let here = program.vars[v].func().is_none() && is_number(program, v)
                    || program.funcs[f].params.contains(&v) && is_number(program, v);
                here.then_some(Value::Var(v))
            })
            .collect();
        return Criterion { edge, what: What::Values(values) };
    }
}

fn options(random: &mut Random) -> Options {
    let points_to = pointer::Options {
        mode: [pointer::Mode::Inclusion, pointer::Mode::Inclusion, pointer::Mode::Unification][random.below(3)],
        fields: random.below(4) > 0,
        heap_contexts: random.below(2) as u8,
        ..pointer::Options::default()
    };
    Options {
        points_to,
        control: [Control::Standard, Control::Standard, Control::NonTermination, Control::DecisiveOrder]
            [random.below(4)],
        cut_off: random.below(3) > 0,
        keep_under_approximations: random.below(2) == 0,
        budget: [4_000_000, 4_000_000, 1_000, 0][random.below(4)],
        ..Options::default()
    }
}

fn check(program: &Program, criterion: &Criterion, options: &Options) -> Result<Slice, String> {
    let criteria = std::slice::from_ref(criterion);
    let slice = Analysis::new(program, criteria, options).map_err(|e| e.to_string())?.slice(criteria);
    cfa::validate::validate(&slice.program).map_err(|problems| format!("{}", problems[0]))?;
    let expected = hits(program, criterion, &|e| Some(e));
    let found = hits(&slice.program, criterion, &|e| slice.original[e]);
    if (expected.0, expected.1) != (found.0, found.1) {
        return Err(format!("{expected:?} instead of {found:?}"));
    }
    match found.2 {
        Outcome::Limit(_) | Outcome::Invalid { .. } | Outcome::Stuck(_) => Err(format!("the slice ends {:?}", found.2)),
        _ => Ok(slice),
    }
}

#[test]
fn slices_do_what_the_programs_do() {
    let number = |name: &str| std::env::var(name).ok().map(|value| value.parse::<u64>().expect("a number"));
    let first = number("CSMITH_SEED").unwrap_or(1);
    let programs = number("SLICE_PROGRAMS").unwrap_or(4);
    let folder = tempfile::tempdir().expect("a folder");
    let source = folder.path().join("program.c");
    let (mut slices, mut too_long, mut sizes, mut failures) = (0, 0, (0, 0), Vec::new());
    for seed in first..first + programs {
        let flags = CSMITH[(seed % CSMITH.len() as u64) as usize];
        let made =
            Command::new("csmith").args(flags).args(["--seed", &seed.to_string()]).output().expect("csmith runs");
        assert!(made.status.success(), "csmith fails with seed {seed}");
        std::fs::write(&source, made.stdout).expect("a file");
        let load = frontend_llvm::Options {
            inputs: vec![source.clone().into()],
            data_model: seed.is_multiple_of(3).then_some(DataModel::Ilp32),
            clang_args: ["-w", "-isystem", "/usr/include/csmith"].map(str::to_owned).into(),
            ..frontend_llvm::Options::default()
        };
        let program = frontend_llvm::load(&load).and_then(|module| module.lower()).expect("clang compiles it");
        let mut counts = Counts(vec![0; program.edges.len()]);
        let limits = Limits { steps: STEPS, ..Limits::default() };
        let run = Interpreter::new(&program).run(&mut Ones, limits, &mut counts);
        if !matches!(run.outcome, Outcome::Exit(_)) {
            too_long += 1;
            continue;
        }
        let executed: Vec<EdgeId> = program.edges.ids().filter(|e| counts.0[e.index()] > 0).collect();
        let mut random = Random(seed);
        for _ in 0..SLICES {
            let criterion = criterion(&program, &executed, &mut random);
            let options = options(&mut random);
            match check(&program, &criterion, &options) {
                Ok(slice) => {
                    slices += 1;
                    sizes.0 += slice.stats.edges.0;
                    sizes.1 += slice.stats.edges.1;
                }
                Err(what) => {
                    failures
                        .push(format!("csmith {} --seed {seed}: {criterion:?}, {options:?}: {what}", flags.join(" ")));
                    println!("{}", failures.last().expect("a failure"));
                }
            }
        }
    }
    println!("{slices} slices, {too_long} programs too long, {} of {} edges kept", sizes.1, sizes.0);
    assert!(failures.is_empty(), "{} of {slices}:\n{}", failures.len(), failures.join("\n"));
    assert!(slices > 0);
}
