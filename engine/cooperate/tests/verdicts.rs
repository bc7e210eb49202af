//! Tests on random programs that joint verdicts never contradict the verdict of one analysis, or runs, and that the
//! explored paths of an exploration contain no errors.
//!
//! `PROVISO_PROGRAMS=N cargo test -p cooperate --test verdicts` tests more programs.

#[path = "../../../slicer/tests/generator/mod.rs"]
mod generator;

use cfa::graph::CfaGraphs;
use cfa::interp::{Inputs, Interpreter, Limits, Observer, Outcome, State as Execution};
use cfa::loops::LoopForest;
use cfa::{CallGraph, Edge, EdgeId, ErrorId, FuncId, LocId, Op, Out, Program};
use cooperate::condition::rest::ExploredProgram;
use cooperate::condition::{Condition, Coverage, bounded, parse, print};
use cooperate::range::Bound;
use cooperate::range::split::{Splitter, ranges as divided};
use cooperate::ranged::{self, Composition, RangePart};
use cooperate::restrict::{Restricted, restrict, restrict_as_far_as_possible};
use cooperate::stealing::{self, Idle};
use engine::budget::Budget;
use engine::simplify::Simplified;
use engine::{Analysis, Config, Verdict};
use generator::inputs::RandomInputs;
use generator::{Random, generate};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

fn programs(standard: u64) -> u64 {
    std::env::var("PROVISO_PROGRAMS").ok().and_then(|n| n.parse().ok()).unwrap_or(standard)
}

const TIME: Duration = Duration::from_millis(700);

/// Replaces some branches by branches on `a || b`, which symbolic execution merges into one.
fn with_chains(program: &mut Program, random: &mut Random) {
    let is_number = |v: &cfa::Var| v.func().is_none() && v.width == 32;
    let globals: Vec<_> = program.vars.iter().filter(|(_, v)| is_number(v)).map(|(id, _)| id).collect();
    for loc in program.locs.ids().collect::<Vec<_>>() {
        let Out::Branch { then_edge, else_edge } = program.locs[loc].out else { continue };
        if globals.is_empty() || random.below(2) == 0 {
            continue;
        }
        let (func, target) = (program.locs[loc].func, program.edges[then_edge].target);
        let second = program.add_location(func);
        for edge in [then_edge, else_edge] {
            program.edges[edge].source = second;
        }
        program.locs[second].out = Out::Branch { then_edge, else_edge };
        program.locs[loc].out = Out::Sink;
        let (value, bound) =
            (program.var_expr(globals[random.below(globals.len())]), program.exprs.int(32, random.below(6) as u64));
        let cond = program.exprs.slt(value, bound);
        program.add_branch(loc, cond, target, second, None);
    }
    cfa::validate::validate(program).unwrap();
}

/// A program with one or two errors.
fn program(seed: u64) -> Program {
    let (mut program, criteria) = generate(seed);
    let mut random = Random::new(seed ^ 0x55);
    if !seed.is_multiple_of(3) {
        with_chains(&mut program, &mut random);
    }
    let edges: Vec<EdgeId> = (0..1 + random.below(2)).map(|_| criteria[random.below(criteria.len())]).collect();
    instrument::cover(&mut program, &edges);
    program
}

fn verify(program: &Program, original: &Program, config: &Config, budget: &Budget) -> engine::Outcome {
    let replay = |inputs: &Inputs, error: ErrorId| {
        engine::replay(original, inputs, error, Duration::from_secs(5)).map(|path| (inputs.clone(), path))
    };
    engine::verify(program, config, budget, &replay, &|_| {})
}

fn config(analysis: Analysis) -> Config {
    Config { analysis, ..Config::default() }
}

const LIMITS: fn() -> Limits = || Limits { steps: 50_000, ..Limits::default() };

fn errs(program: &Program, seed: u64) -> bool {
    let run = Interpreter::new(program).run(&mut RandomInputs::new(seed), LIMITS(), &mut ());
    matches!(run.outcome, Outcome::Error(..))
}

fn is_covered(program: &Program, condition: &Condition, seed: u64) -> bool {
    let mut coverage = Coverage::new(condition);
    Interpreter::new(program).run(&mut RandomInputs::new(seed), LIMITS(), &mut coverage);
    coverage.is_covered()
}

fn contradict(a: &Verdict, b: &Verdict) -> bool {
    matches!((a, b), (Verdict::True, Verdict::False(_)) | (Verdict::False(_), Verdict::True))
}

/// Verifies ranges, and returns the explored paths if the configuration requests them.
fn ranges(program: &Program, parts: &mut [RangePart], config: &Config, budget: &Budget) {
    let of_part = |part: Option<&Restricted>, config: &Config, budget: &Budget, idle: &Idle| {
        let replay = |inputs: &Inputs, error: ErrorId| {
            engine::replay(program, inputs, error, Duration::from_secs(5)).map(|path| (inputs.clone(), path))
        };
        let of_part = part.map_or(program, |r| &r.program);
        let outcome = stealing::verify(of_part, config, budget, &replay, &|_| {}, idle);
        let edge = |e: EdgeId| part.map_or(Some(e), |r| r.edges[e]);
        let func = |f: FuncId| part.map_or(f, |r| r.funcs[f]);
        let is_told = outcome.reasons.is_empty() && outcome.unconfirmed.is_none();
        let explored = outcome.frontiers.first().filter(|_| is_told).map(|frontier| {
            let simplified = outcome.simplified.as_deref();
            let (original, counts_on_rest) = (program, false);
            let explored =
                ExploredProgram { program: of_part, simplified, original, edge: &edge, func: &func, counts_on_rest };
            explored.condition(frontier)
        });
        (outcome, explored.unwrap_or_else(Condition::nothing))
    };
    ranged::verify(program, parts, config, budget, &of_part);
}

const KINDS: [Analysis; 6] =
    [Analysis::Symex, Analysis::PREDICATE, Analysis::VALUE, Analysis::Bmc, Analysis::KInduction, Analysis::Invariants];

#[test]
fn what_ranges_say_to_be_verified_is() {
    let (mut inside, mut partial, mut outside, mut open) = (0, 0, 0, 0);
    for seed in 0..programs(32) {
        // One of many paths is started and not finished, however fast the machine is, because it gets a fraction of the
        // time that it needs.
        let is_tree = seed % 4 == 0;
        let mut program = if is_tree { tree(12, seed % 8 == 0) } else { program(seed + 4000) };
        let started = Instant::now();
        let time = match is_tree {
            true => {
                verify(&program, &program, &self::config(Analysis::Symex), &Budget::lasting(TIME));
                started.elapsed() * (1 + seed as u32 / 4 % 3) / 4
            }
            false => Duration::from_millis(5 + 30 * (seed % 3)),
        };
        let mut random = Random::new(seed + 6);
        let bound = |random: &mut Random| {
            let mut values = RandomInputs::new(random.below(1000) as u64);
            Bound::of_run(&program, &mut values, LIMITS())
        };
        let bounds = (0..1 + random.below(2)).map(|_| bound(&mut random)).collect();
        let analysis = |random: &mut Random| KINDS[if random.below(3) > 0 { 0 } else { random.below(KINDS.len()) }];
        let all = divided(&program, bounds).into_iter();
        let mut parts: Vec<RangePart> = all.map(|range| RangePart::new(range, analysis(&mut random))).collect();
        let config = Config { wants_frontier: true, ..config(Analysis::Symex) };
        let budget = Budget::lasting(time);
        ranges(&program, &mut parts, &config, &budget);
        let mut done = ranged::verified_paths(&parts);
        done.check(&program).unwrap();
        let text = print(&done, &program);
        assert_eq!(parse(&text, &mut program).unwrap(), done);
        let verified = done.by_itself();
        for inputs in 0..20 {
            let what = format!("program {seed}, inputs {inputs}");
            let (mut is_in_one, mut is_partial) = (false, false);
            for part in &parts {
                let is_inside = !is_covered(&program, &part.range.outside(&program), inputs);
                let is_done = is_covered(&program, &part.done, inputs);
                assert!(is_inside || !is_done, "{what}: covered outside of the range");
                let is_proved = part.outcome.as_ref().is_some_and(|o| matches!(o.verdict, Verdict::True));
                is_in_one |= is_done;
                is_partial |= is_done && !is_proved;
                outside += u32::from(!is_inside);
            }
            let is_done = is_covered(&program, &done, inputs);
            assert!(is_in_one == is_done || is_in_one && done.counts_on_rest(), "{what}: {is_in_one} {is_done}");
            assert!(!errs(&program, inputs) || !is_covered(&program, &verified, inputs), "{what}: an error");
            partial += u32::from(is_partial);
            inside += u32::from(is_done);
            open += u32::from(!is_done);
        }
        // Another analysis has to verify the residual paths.
        if done != Condition::nothing() {
            let alone = verify(&program, &program, &self::config(Analysis::Symex), &Budget::lasting(TIME)).verdict;
            done = done.truncated(2_000);
            let rest = restrict(&program, &done).unwrap();
            let by_another = verify(&rest, &program, &self::config(Analysis::Symex), &Budget::lasting(TIME)).verdict;
            assert!(!contradict(&alone, &by_another), "program {seed}: {alone:?}, {by_another:?}");
        }
    }
    let told = format!("{inside} inside, {partial} of ranges that were not proved, {outside} outside, {open} open");
    assert!(inside > partial && partial > 0 && outside > 0 && open > 0, "{told}");
    println!("{told}");
}

#[test]
fn together_as_alone() {
    let (mut proved, mut violated, mut divided) = (0, 0, 0);
    for seed in 0..programs(40) {
        let program = program(seed);
        let mut random = Random::new(seed + 5);
        let count = 2 + random.below(2);
        let splitter = |i: usize, random: &mut Random| match random.below(3) {
            0 => Splitter::LoopBound(1 + i as u32),
            n => Splitter::Random { percent: 40 + 25 * n as u32, seed: seed + i as u64 },
        };
        let splitters = (1..count).map(|i| splitter(i, &mut random)).collect();
        let analyses: Vec<Analysis> = (0..count).map(|_| KINDS[random.below(KINDS.len())]).collect();
        let composition = Composition { splitters, analyses };
        let standard = config(Analysis::Symex);
        let alone = verify(&program, &program, &standard, &Budget::lasting(TIME)).verdict;
        let (bounds, _) = composition.bounds(&program, &standard, &Budget::lasting(TIME));
        let mut parts = ranged::parts(&program, &composition, bounds);
        divided += u32::from(parts.len() > 1);
        ranges(&program, &mut parts, &standard, &Budget::lasting(TIME));
        let together = ranged::joint(&parts, true).verdict;
        let what = format!("program {seed}, {composition:?}");
        assert!(!contradict(&alone, &together), "{what}: {alone:?}, {together:?}");
        for inputs in 0..10 {
            assert!(!errs(&program, inputs) || !matches!(together, Verdict::True), "{what}, inputs {inputs}");
            // A proved range contains no errors.
            for part in &parts {
                if let Some(Verdict::True) = part.outcome.as_ref().map(|o| &o.verdict) {
                    let outside = part.range.outside(&program);
                    assert!(
                        !errs(&program, inputs) || is_covered(&program, &outside, inputs),
                        "{what}, inputs {inputs}"
                    );
                }
            }
        }
        proved += u32::from(matches!(together, Verdict::True));
        violated += u32::from(matches!(together, Verdict::False(_)));
    }
    assert!(proved > 0 && violated > 0 && divided > 0, "{proved} proved, {violated} violated, {divided} divided");
}

#[test]
fn what_is_said_to_be_verified_is() {
    let (mut partial, mut with_rest, mut joined, mut apart, mut by_heads, mut counted) = (0, 0, 0, 0, 0, 0);
    let mut limited = 0;
    for seed in 0..programs(60) {
        let mut program = program(seed + 1000);
        let kinds = [Analysis::Symex, Analysis::SYMEX_CEGAR, Analysis::PREDICATE, Analysis::Bmc, Analysis::KInduction];
        let first = kinds[seed as usize % kinds.len()];
        let mut done = Condition::nothing();
        let mut verdicts = Vec::new();
        // Several rounds, each of which continues with the result of the last.
        for turn in 0..4 {
            // Analyses that merge paths or count iterations describe only the program itself, not a residual program.
            let tells_whole = matches!(first, Analysis::PREDICATE | Analysis::Bmc | Analysis::KInduction);
            let analysis = if tells_whole && turn > 0 { Analysis::Symex } else { first };
            // The analysis runs on a residual program, or on the program itself with an automaton of the residual
            // paths.
            let is_beside = analysis == Analysis::Symex && seed % 4 < 2;
            let is_woven = done != Condition::nothing() && !is_beside;
            let covered = is_woven.then(|| restrict_as_far_as_possible(&program, &done));
            let part = covered.as_ref().map_or(&program, |r| &r.program);
            let paths = is_beside.then(|| done.part(None).expect("a tree of paths"));
            // As a rule, the result of an exploration does not distinguish paths that the simplified program merges.
            if let (Some(paths), Some(simple)) = (&paths, Simplified::new(&program)) {
                let is_told = paths.for_simplified(&simple.branch_map).is_some();
                (joined, apart) =
                    (joined + usize::from(is_told && !simple.branch_map.is_empty()), apart + usize::from(!is_told));
            }
            let counts_on_rest = done.counts_on_rest();
            let config = Config { wants_frontier: true, counts_on_rest, part: paths.map(Arc::new), ..config(analysis) };
            let budget = Budget::lasting(Duration::from_millis(1 + 4 * turn));
            let outcome = verify(part, &program, &config, &budget);
            if outcome.reasons.is_empty() && outcome.unconfirmed.is_none() {
                for frontier in &outcome.frontiers {
                    let edge = |e: EdgeId| covered.as_ref().map_or(Some(e), |r| r.edges[e]);
                    let func = |f: FuncId| covered.as_ref().map_or(f, |r| r.funcs[f]);
                    let simplified = outcome.simplified.as_deref();
                    let whole = &program;
                    let explored = ExploredProgram {
                        program: part,
                        simplified,
                        original: whole,
                        edge: &edge,
                        func: &func,
                        counts_on_rest,
                    };
                    // With few states, the condition covers less.
                    let most = if seed % 3 == 1 { 4 + (seed % 30) as usize } else { 100_000 };
                    let explored = explored.condition_within(frontier, most);
                    assert!(frontier.iterations.is_some() || explored.states.len() <= most, "program {seed}");
                    limited += u32::from(explored.states.len() + 3 >= most);
                    done = if done == Condition::nothing() { explored } else { done.union(&explored) };
                }
            }
            let tells = turn == 0 && done != Condition::nothing();
            by_heads += u32::from(tells && first == Analysis::PREDICATE);
            counted += u32::from(tells && tells_whole && first != Analysis::PREDICATE);
            let over = !matches!(outcome.verdict, Verdict::Unknown(_));
            verdicts.push(outcome.verdict);
            if over {
                break;
            }
        }
        done.check(&program).unwrap();
        let text = print(&done, &program);
        assert_eq!(parse(&text, &mut program).unwrap(), done);
        let is_partial = done != Condition::nothing() && done != Condition::everything();
        partial += u32::from(is_partial);
        let verified = done.by_itself();
        with_rest += u32::from(verified != done);
        for inputs in 0..20 {
            let what = format!("program {seed}, inputs {inputs}");
            assert!(!errs(&program, inputs) || !is_covered(&program, &verified, inputs), "{what}");
        }
        let alone = verify(&program, &program, &config(Analysis::Symex), &Budget::lasting(TIME)).verdict;
        if let Some(last) = verdicts.last() {
            assert!(!contradict(&alone, last), "program {seed}: {alone:?}, {last:?}");
        }
        if is_partial {
            let rest = restrict(&program, &done).unwrap();
            let by_another = verify(&rest, &program, &config(Analysis::Merging), &Budget::lasting(TIME)).verdict;
            assert!(!contradict(&alone, &by_another), "program {seed}: {alone:?}, {by_another:?}");
        }
    }
    assert!(joined > 0 && limited > 0, "{joined} joined, {apart} not, {limited} as large as they may be");
    println!(
        "{limited} as large as they may be, {partial} partial, {by_heads} by heads, {counted} by iterations, {with_rest} with the rest, {joined} with joined branches, {apart} without"
    );
}

/// Counts in a run the visits of each loop head since its loop was entered, and the nested calls of recursive
/// functions.
struct Counted<'p> {
    calls: CallGraph,
    /// The bodies of loops, by head.
    loops: FxHashMap<LocId, FxHashSet<LocId>>,
    program: &'p Program,
    frames: Vec<Frame>,
    most: u32,
}

struct Frame {
    func: FuncId,
    /// The call; `None` for the first frame.
    call: Option<EdgeId>,
    /// The active loops, with their iterations.
    active: Vec<(LocId, u32)>,
}

impl<'p> Counted<'p> {
    fn new(program: &'p Program) -> Self {
        let mut loops: FxHashMap<LocId, FxHashSet<LocId>> = FxHashMap::default();
        for graph in CfaGraphs::new(program).funcs.values() {
            let forest = LoopForest::new(&graph.graph, 0);
            for (i, l) in forest.loops().iter().enumerate() {
                let body = forest.body(i as u32).into_iter().map(|n| graph.locs[n as usize]);
                loops.insert(graph.locs[l.head as usize], body.collect());
            }
        }
        let mut this = Self { calls: CallGraph::new(program), loops, program, frames: Vec::new(), most: 0 };
        this.enter(program.entry, None);
        this
    }

    fn enter(&mut self, func: FuncId, call: Option<EdgeId>) {
        self.frames.push(Frame { func, call, active: Vec::new() });
        if self.calls.is_recursive(func) {
            self.most = self.most.max(self.frames.iter().filter(|f| f.func == func).count() as u32);
        }
        self.come(self.program.funcs[func].entry, false);
    }

    /// Enters a location of the innermost frame. `within` is true if the step stays in the loop.
    fn come(&mut self, to: LocId, within: bool) {
        let Some(Frame { active, .. }) = self.frames.last_mut() else { return };
        active.retain(|(head, _)| self.loops[head].contains(&to));
        if self.loops.contains_key(&to) {
            match active.last_mut() {
                Some((head, n)) if *head == to && within => *n += 1,
                _ => active.push((to, 1)),
            }
            self.most = self.most.max(active.last().map_or(0, |(_, n)| *n));
        }
    }
}

impl Observer for Counted<'_> {
    fn executed(&mut self, edge: EdgeId, state: &Execution) {
        let come = |this: &mut Self, edge: EdgeId| {
            let Edge { source, target, .. } = &this.program.edges[edge];
            let within = this.loops.get(target).is_some_and(|body| body.contains(source));
            this.come(*target, within);
        };
        match self.program.edges[edge].op {
            Op::Call { .. } => self.enter(state.func(), Some(edge)),
            Op::Return { .. } => {
                if let Some(call) = self.frames.pop().and_then(|frame| frame.call) {
                    come(self, call);
                }
            }
            _ => come(self, edge),
        }
    }
}

#[test]
fn bounded_runs_have_few_iterations() {
    let (mut covered, mut beyond, mut together) = (0, 0, 0);
    for seed in 0..programs(60) {
        let mut program = program(seed + 3000);
        for iterations in [1, 2, 3, 5] {
            let condition = bounded::within(&program, iterations);
            condition.check(&program).unwrap();
            let text = print(&condition, &program);
            assert_eq!(parse(&text, &mut program).unwrap(), condition);
            together += u32::from(condition == bounded::within(&program, 2 * iterations));
            for inputs in 0..10 {
                let mut counted = Counted::new(&program);
                Interpreter::new(&program).run(&mut RandomInputs::new(inputs), LIMITS(), &mut counted);
                let is_within = counted.most <= iterations;
                let is_covered = is_covered(&program, &condition, inputs);
                assert!(is_within || !is_covered, "program {seed}, inputs {inputs}: {} of {iterations}", counted.most);
                covered += u32::from(is_covered);
                beyond += u32::from(!is_within);
            }
        }
    }
    assert!(covered > 0 && beyond > 0, "{covered} covered, {beyond} beyond");
    println!("{covered} covered, {beyond} beyond, {together} alike");
}

#[test]
fn with_help_as_alone() {
    let (mut proved, mut violated) = (0, 0);
    for seed in 0..programs(60) {
        let program = program(seed + 2000);
        let standard = config(Analysis::Symex);
        let alone = verify(&program, &program, &standard, &Budget::lasting(TIME)).verdict;
        let replay = |inputs: &Inputs, error: ErrorId| {
            engine::replay(&program, inputs, error, Duration::from_secs(5)).map(|path| (inputs.clone(), path))
        };
        let budget = Budget::lasting(TIME);
        let helped = stealing::verify(&program, &standard, &budget, &replay, &|_| {}, &Idle::new(2)).verdict;
        assert!(!contradict(&alone, &helped), "program {seed}: {alone:?}, {helped:?}");
        for inputs in 0..10 {
            assert!(!errs(&program, inputs) || !matches!(helped, Verdict::True), "program {seed}, inputs {inputs}");
        }
        proved += u32::from(matches!(helped, Verdict::True));
        violated += u32::from(matches!(helped, Verdict::False(_)));
    }
    assert!(proved > 0 && violated > 0, "{proved} proved, {violated} violated");
}

/// A program with `depth` small inputs: a tree of paths, with an error on one of them, or none.
fn tree(depth: u32, has_error: bool) -> Program {
    use cfa::{BinOp, CType, Check, DataLayout, ErrorInfo, HaltKind, Input, InputKind, Op, Var, VarKind};
    let mut p = Program::new(DataLayout { pointer_width: 64 });
    let ty = p.types.push(CType::Int { name: "int".into(), width: 32, signed: true });
    let kind = VarKind::Local(p.entry);
    let mut var =
        |name: &str| p.vars.push(Var { name: Some(name.into()), ty, width: 32, kind: kind.clone(), place: None });
    let (x, sum) = (var("x"), var("sum"));
    let mut at = p.funcs[p.entry].entry;
    let (zero, four) = (p.exprs.int(32, 0), p.exprs.int(32, 4));
    let step = |p: &mut Program, from, op| {
        let to = p.add_location(p.entry);
        p.add_edge(from, op, to, None);
        to
    };
    at = step(&mut p, at, Op::Assign { var: sum, value: zero });
    for i in 0..depth {
        let input = p.inputs.push(Input { kind: InputKind::Nondet("f".into()), ty, width: 32, place: None });
        at = step(&mut p, at, Op::Havoc { var: x, input });
        let value = p.var_expr(x);
        let cond = p.exprs.slt(value, four);
        let (yes, no, join) = (p.add_location(p.entry), p.add_location(p.entry), p.add_location(p.entry));
        p.add_branch(at, cond, yes, no, None);
        let (old, bit) = (p.var_expr(sum), p.exprs.int(32, 1 << i));
        let value = p.exprs.binary(BinOp::Add, old, bit);
        p.add_edge(yes, Op::Assign { var: sum, value }, join, None);
        p.add_edge(no, Op::Skip, join, None);
        at = join;
    }
    let (value, wanted) = (p.var_expr(sum), p.exprs.int(32, if has_error { (1 << depth) - 2 } else { 1 << depth }));
    let cond = p.exprs.eq(value, wanted);
    let (yes, no) = (p.add_location(p.entry), p.add_location(p.entry));
    p.add_branch(at, cond, yes, no, None);
    let error = p.errors.push(ErrorInfo { check: Check::Call, message: "error".into(), place: None });
    step(&mut p, yes, Op::Error(error));
    step(&mut p, no, Op::Halt(HaltKind::Exit(zero)));
    p
}

#[test]
fn work_is_shared_and_none_is_lost() {
    for (has_error, depth) in [(false, 11), (true, 9)] {
        let program = tree(depth, has_error);
        let replay = |inputs: &Inputs, error: ErrorId| {
            engine::replay(&program, inputs, error, Duration::from_secs(5)).map(|path| (inputs.clone(), path))
        };
        let run = |threads| {
            let standard = config(Analysis::Symex);
            stealing::verify(&program, &standard, &Budget::unlimited(), &replay, &|_| {}, &Idle::new(threads))
        };
        let (alone, helped) = (run(0), run(3));
        assert_eq!(matches!(helped.verdict, Verdict::True), !has_error, "{:?}", helped.verdict);
        assert_eq!(matches!(helped.verdict, Verdict::False(_)), has_error);
        if !has_error {
            // Some thread explores each path, and threads repeat few edges: those to states that were handed over.
            let (alone, helped) = (alone.stats.exploration, helped.stats.exploration);
            assert!(helped.paths >= alone.paths, "{alone:?}, {helped:?}");
            assert!(helped.edges <= alone.edges * 3 / 2, "{alone:?}, {helped:?}");
        }
    }
}
