//! Tests that all automata make true claims. On random programs whose inputs have few values each, all runs are checked
//! against all automata that the operations of this crate produce for the program. A run that reaches a target is never
//! `ut`, and a run that reaches none is never `rt`.
//!
//! `PROVISO_PROGRAMS=N cargo test --release -p cooperate --test truth` tests more programs. `PROVISO_SEED=N` starts
//! with another seed.

#[path = "../../../slicer/tests/generator/mod.rs"]
mod generator;

use cfa::interp::{InputSource, Inputs, Interpreter, Limits, ObjectSeq, Observer, Outcome, State, Unknown};
use cfa::{Bv, Check, EdgeId, ErrorId, ErrorInfo, ExprId, GlobalId, HaltKind, LocId, Op, Program, Var, VarKind};
use cooperate::condition::Condition;
use cooperate::condition::rest::ExploredProgram;
use cooperate::gia::cegar::{Cegar, Ended, check, explore, reached, refine};
use cooperate::gia::{
    Coverage, Gia, PathClaim, Recording, Removed, Says, combine, facts, parse, print, reduce, test_of,
};
use cooperate::reduce::Reducer;
use cooperate::restrict::Restricted;
use engine::budget::Budget;
use engine::{Analysis, Config, Verdict};
use generator::{Random, generate};
use std::time::Duration;

/// The number of values of an input.
const VALUES: u64 = 3;
/// The maximal number of runs of a program. Programs with more are skipped.
const MOST_RUNS: usize = 729;
/// The time limit of an analysis.
const TIME: Duration = Duration::from_millis(300);

fn given<N: std::str::FromStr>(name: &str, standard: N) -> N {
    let parsed = |text: String| text.parse().unwrap_or_else(|_| panic!("{name} is no number: {text}"));
    std::env::var(name).map_or(standard, parsed)
}

/// A program with inputs below [`VALUES`], and errors under conditions on its data.
fn program(seed: u64) -> Program {
    let (mut program, criteria) = generate(seed);
    let mut random = Random::new(seed ^ 0x1dea);
    for edge in program.edges.ids().collect::<Vec<_>>() {
        match program.edges[edge].op {
            Op::Havoc { var, .. } => {
                let (value, bound) = (program.var_expr(var), program.exprs.int(32, VALUES));
                let few = program.exprs.ult(value, bound);
                let (func, behind) = (program.func_of(edge), program.edges[edge].target);
                let (here, other, sink) =
                    (program.add_location(func), program.add_location(func), program.add_location(func));
                program.edges[edge].target = here;
                program.add_branch(here, few, behind, other, None);
                program.add_edge(other, Op::Halt(HaltKind::Assumed), sink, None);
            }
            // Otherwise, the content would be unknown.
            Op::Alloc { ref mut zeroed, .. } => *zeroed = true,
            _ => {}
        }
    }
    for _ in 0..1 + random.below(3) {
        let edge = criteria[random.below(criteria.len())];
        let Op::Assign { value, .. } = program.edges[edge].op else { unreachable!("an assignment") };
        let value = match random.below(2) {
            0 => value,
            _ => loaded(&mut program, edge, GlobalId(random.below(3) as u32), 4 * random.below(4) as u64),
        };
        let bound = program.exprs.int(32, random.below(9) as u64);
        let cond = match random.below(4) {
            0 => program.exprs.slt(value, bound),
            _ => program.exprs.eq(value, bound),
        };
        if program.exprs.as_const(cond).is_none() {
            error_if(&mut program, edge, cond);
        }
    }
    cfa::validate::validate(&program).unwrap();
    program
}

/// Moves an edge to a new location. The edge must be the only one out of its location, which keeps no edge.
fn moved(program: &mut Program, edge: EdgeId) -> (LocId, LocId) {
    let (here, behind) = (program.detach(edge), program.add_location(program.func_of(edge)));
    program.attach(edge, behind);
    (here, behind)
}

/// Loads the content of a global before an edge.
fn loaded(program: &mut Program, edge: EdgeId, global: GlobalId, offset: u64) -> ExprId {
    let Op::Assign { var, .. } = program.edges[edge].op else { unreachable!("an assignment") };
    let kind = VarKind::Local(program.func_of(edge));
    let var = program.vars.push(Var { name: None, ty: program.vars[var].ty, width: 32, kind, place: None });
    let (here, behind) = moved(program, edge);
    let width = program.layout.pointer_width;
    let (base, offset) = (program.exprs.global_addr(global, width), program.exprs.int(width, offset));
    let addr = program.exprs.add(base, offset);
    program.add_edge(here, Op::Load { var, addr }, behind, None);
    program.var_expr(var)
}

/// Adds an error before an edge, under a condition.
fn error_if(program: &mut Program, edge: EdgeId, cond: ExprId) {
    let (here, behind) = moved(program, edge);
    let func = program.func_of(edge);
    let (error, sink) = (program.add_location(func), program.add_location(func));
    program.add_branch(here, cond, error, behind, None);
    let message = "the value is that".to_owned();
    let id = program.errors.push(ErrorInfo { check: Check::Call, message, place: None });
    program.add_edge(error, Op::Error(id), sink, None);
}

/// The chosen inputs of a run; 0 after these.
#[derive(Default)]
struct Chosen {
    values: Vec<u64>,
    next: usize,
    /// True if the run read a value that is not an input.
    is_other: bool,
}

impl Chosen {
    /// Advances to the next inputs. Returns false after the last ones.
    fn advance(&mut self) -> bool {
        self.next = 0;
        while let Some(last) = self.values.pop() {
            if last + 1 < VALUES {
                self.values.push(last + 1);
                return true;
            }
        }
        false
    }
}

impl InputSource for Chosen {
    fn unknown(&mut self, what: Unknown, width: u32) -> Bv {
        self.is_other |= !matches!(what, Unknown::Havoc(_));
        if self.next == self.values.len() {
            self.values.push(0);
        }
        self.next += 1;
        Bv::new(width, self.values[self.next - 1])
    }
    fn bytes(&mut self, _: ObjectSeq, _: u64, _: &mut [u8]) {
        self.is_other = true;
    }
}

const LIMITS: fn() -> Limits = || Limits { steps: 20_000, ..Limits::default() };

/// The inputs of all runs of a program, each with true if the run reaches a target. `None` if there are too many, if a
/// run does not end, or if a run reads other unknown values.
fn runs(program: &Program) -> Option<Vec<(Vec<u64>, bool)>> {
    let interpreter = Interpreter::new(program);
    let (mut chosen, mut runs) = (Chosen::default(), Vec::new());
    loop {
        let outcome = interpreter.run(&mut chosen, LIMITS(), &mut ()).outcome;
        if chosen.is_other || runs.len() == MOST_RUNS || matches!(outcome, Outcome::Limit(_)) {
            return None;
        }
        runs.push((chosen.values.clone(), matches!(outcome, Outcome::Error(..))));
        if !chosen.advance() {
            return Some(runs);
        }
    }
}

/// Automata, with the name of their origin.
type Made = Vec<(String, Gia)>;

fn verify(part: &Program, original: &Program, analysis: Analysis, wants_frontier: bool) -> engine::Outcome {
    let replay = |inputs: &Inputs, error: ErrorId| {
        engine::replay(original, inputs, error, Duration::from_secs(5)).map(|path| (inputs.clone(), path))
    };
    let config = Config { analysis, wants_frontier, ..Config::default() };
    // Explorations are sometimes cut short.
    let time = if wants_frontier { TIME / 60 } else { TIME };
    engine::verify(part, &config, &Budget::lasting(time), &replay, &|_| {})
}

/// The condition of an exploration of a program, or of its residual program `left`.
fn done(program: &Program, left: Option<&Restricted>, analysis: Analysis) -> Condition {
    let part = left.map_or(program, |r| &r.program);
    let outcome = verify(part, program, analysis, true);
    let mut done = Condition::nothing();
    if !outcome.reasons.is_empty() || outcome.unconfirmed.is_some() {
        return done;
    }
    for frontier in &outcome.frontiers {
        let edge = |e| left.map_or(Some(e), |r| r.edges[e]);
        let func = |f| left.map_or(f, |r| r.funcs[f]);
        let simplified = outcome.simplified.as_deref();
        let explored = ExploredProgram {
            program: part,
            simplified,
            original: program,
            edge: &edge,
            func: &func,
            counts_on_rest: false,
        };
        done = done.union(&explored.condition(frontier));
    }
    done
}

/// All automata that component CEGAR exchanges, and its result.
fn component_cegar(program: &mut Program, precision: Gia, made: &mut Made) -> Option<bool> {
    let (config, budget) = (&Config::default(), &Budget::lasting(TIME));
    let mut observer =
        |turn: usize, who: &str, gia: &Gia, _: &Program| made.push((format!("{who} {turn}"), gia.clone()));
    let mut cegar = Cegar {
        explorer: Box::new(move |program, gia| explore(program, gia, config, budget)),
        checker: Box::new(move |program, gia| check(program, gia, config, budget)),
        refiner: Box::new(move |program, gia| refine(program, gia, config, budget)),
        observer: &mut observer,
    };
    let (ended, _) = cegar.run(program, precision);
    match ended {
        Ended::Proved => Some(true),
        Ended::Violated(_) => Some(false),
        Ended::Unknown(_) => None,
    }
}

/// All automata of a program that the analyses and operations make. `some` are inputs of some of its runs.
fn made(program: &mut Program, some: &[Vec<u64>], random: &mut Random) -> Made {
    let mut made = Made::new();
    // The conditions of analyses. Most of their explorations are cut short.
    for analysis in [Analysis::Symex, Analysis::SYMEX_CEGAR, Analysis::PREDICATE, Analysis::Bmc, Analysis::KInduction] {
        let done = done(program, None, analysis);
        made.push((format!("{analysis:?}"), Gia::of_condition(&done)));
        let few = done.truncated(1 + random.below(20));
        made.push((format!("{analysis:?}, truncated"), Gia::of_condition(&few)));
    }
    match verify(program, program, Analysis::Default, false).verdict {
        Verdict::True => made.push(("proof".into(), Gia::all_unreachable())),
        Verdict::False(found) => made.push(("violation".into(), reached(program, &found.inputs))),
        Verdict::Unknown(_) => {}
    }
    made.extend(facts(program, &Budget::lasting(TIME)).map(|facts| ("facts".to_owned(), facts)));
    component_cegar(program, Gia::nothing(), &mut made);
    // Tests, with their branches and without.
    let (mut tests, mut runs) = (Gia::nothing(), Gia::nothing());
    let is_target = |program: &Program, e: EdgeId| matches!(program.edges[e].op, Op::Error(_));
    for values in some {
        let mut recording = Recording::default();
        let mut chosen = Chosen { values: values.clone(), ..Chosen::default() };
        Interpreter::new(program).run(&mut chosen, LIMITS(), &mut recording);
        if let Some(test) = test_of(recording.test, &|e| is_target(program, e)) {
            runs.add_run(&test, program);
            let path = test.annotated(program);
            tests.add_path(&path, Says::Reachable, program);
        }
    }
    made.push(("tests".into(), tests));
    let goals = goals(program);
    made.extend(goals.clone());
    // Combinations of claims: pairs, their text, and their conditions.
    let mut all = Gia::nothing();
    for i in 0..made.len() {
        let (name, gia) = made[i].clone();
        all = combine(&all, &gia, program).unwrap_or_else(|e| panic!("{name} with what came before: {e}"));
        let (other, second) = made[random.below(i + 1)].clone();
        let both = combine(&gia, &second, program).unwrap_or_else(|e| panic!("{name} with {other}: {e}"));
        made.push((format!("{name} with {other}"), both));
    }
    let text = print(&all, program);
    made.push(("read".into(), parse(&text, program).unwrap()));
    made.push(("condition".into(), Gia::of_condition(&all.condition(program, Says::Unreachable))));
    made.push(("doubted".into(), all.doubted()));
    made.extend(rest(program, &all, random));
    let again = component_cegar(program, all.clone(), &mut made);
    if again == Some(true) {
        made.push(("proof from what is known".into(), Gia::all_unreachable()));
    }
    // Tests that are defined by their inputs, combined with proved goals as in test generation. Claims about paths that
    // no run takes may contradict them.
    if let Some((_, goals)) = goals {
        made.push(("runs with goals".into(), combine(&runs, &goals, program).unwrap()));
    }
    made.push(("runs".into(), runs));
    made.push(("all".into(), all));
    made
}

/// The results of analyses of residual programs, combined with the earlier claims.
fn rest(program: &mut Program, known: &Gia, random: &mut Random) -> Made {
    let mut made = Made::new();
    for reducer in [Reducer::Separate, Reducer::Locations] {
        let left = reduce(program, known, Removed::Unreachable, reducer).unwrap();
        let what = format!("the rest by {reducer:?}");
        let analysis = [Analysis::Symex, Analysis::PREDICATE, Analysis::Default][random.below(3)];
        match verify(&left.program, program, analysis, false).verdict {
            // The verdict is about the candidates if there are any, and otherwise about all residual paths.
            Verdict::True if !known.has(Says::Candidate) => made.push((what.clone(), Gia::all_unreachable())),
            Verdict::False(found) => made.push((what.clone(), reached(program, &found.inputs))),
            _ => {}
        }
        if !known.has(Says::Candidate) {
            let done = Gia::of_condition(&done(program, Some(&left), Analysis::Symex));
            made.push((format!("{what}, explored"), done.clone()));
            made.push((format!("{what}, combined"), combine(known, &done, program).unwrap()));
        }
    }
    made
}

/// An automaton of those error edges that are proved unreachable, one by one.
fn goals(program: &Program) -> Option<(String, Gia)> {
    let errors = program.edges.iter().filter(|(_, e)| matches!(e.op, Op::Error(_))).map(|(id, _)| id);
    let is_never = |&goal: &EdgeId| {
        let mut alone = program.clone();
        for (id, edge) in alone.edges.iter_mut() {
            if id != goal && matches!(edge.op, Op::Error(_)) {
                edge.op = Op::Halt(HaltKind::Abort);
            }
        }
        matches!(verify(&alone, &alone, Analysis::Default, false).verdict, Verdict::True)
    };
    let never: Vec<EdgeId> = errors.filter(is_never).collect();
    (!never.is_empty()).then(|| ("goals".into(), Gia::never(never)))
}

/// The states of all automata during one run, and the edges that it takes.
struct Beside<'g> {
    coverage: Vec<Coverage<'g>>,
    path: Vec<EdgeId>,
}

impl Observer for Beside<'_> {
    fn executed(&mut self, edge: EdgeId, state: &State) {
        self.coverage.iter_mut().for_each(|c| c.executed(edge, state));
        self.path.push(edge);
    }
}

#[test]
fn nothing_reachable_is_ut_and_nothing_else_is_rt() {
    let wanted = given("PROVISO_PROGRAMS", 40);
    let [mut tried, mut automata, mut of_memory, mut all_runs, mut reaching, mut ut, mut rt, mut edges] = [0usize; 8];
    let first: u64 = given("PROVISO_SEED", 0);
    let mut seed = first;
    while tried < wanted {
        seed += 1;
        let mut program = program(seed);
        let Some(runs) = runs(&program) else { continue };
        tried += 1;
        let mut random = Random::new(seed);
        let some: Vec<Vec<u64>> = (0..4).map(|_| runs[random.below(runs.len())].0.clone()).collect();
        let made = made(&mut program, &some, &mut random);
        for (name, gia) in &made {
            gia.check(&program).unwrap_or_else(|e| panic!("program {seed}, {name}: {e}"));
            of_memory += usize::from(print(gia, &program).contains("mem."));
        }
        let (_, all) = made.last().unwrap();
        let told = all.told(&mut program).unwrap();
        let interpreter = Interpreter::new(&program);
        for (values, reaches) in &runs {
            let mut beside =
                Beside { coverage: made.iter().map(|(_, gia)| Coverage::new(gia)).collect(), path: Vec::new() };
            interpreter.run(&mut Chosen { values: values.clone(), ..Chosen::default() }, LIMITS(), &mut beside);
            for ((name, gia), coverage) in made.iter().zip(&beside.coverage) {
                let [is_ut, is_rt] = [Says::Unreachable, Says::Reachable].map(|says| coverage.is_covered(says));
                let what = || format!("program {seed}, inputs {values:?}, by {name}:\n{}", print(gia, &program));
                assert!(!is_ut || !reaches, "a path to a target is ut: {}", what());
                assert!(!is_rt || *reaches, "a path to no target is rt: {}", what());
                (ut, rt) = (ut + usize::from(is_ut), rt + usize::from(is_rt));
            }
            if *reaches {
                let is_green = |e: &&EdgeId| told[e.0 as usize] == Some(PathClaim::Verified);
                let green = beside.path.iter().find(is_green);
                assert_eq!(green, None, "program {seed}, inputs {values:?}: an edge to a target is green");
                edges += beside.path.len();
            }
            reaching += usize::from(*reaches);
        }
        (automata, all_runs) = (automata + made.len(), all_runs + runs.len());
    }
    println!(
        "{tried} programs of seeds {first} to {seed}, {all_runs} runs, {reaching} to a target, {automata} automata, {of_memory} with conditions on memory: {ut} times ut, {rt} times rt, {edges} edges not green"
    );
    assert!(ut > 100 && rt > 20 && reaching > 20, "{ut} ut, {rt} rt, {reaching} reach a target");
}
