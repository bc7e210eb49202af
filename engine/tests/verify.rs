//! Tests the engine on small programs built by hand.

use cfa::interp::Inputs;
use cfa::*;
use engine::budget::Budget;
use engine::frontier::Frontier;
use engine::{Analysis, Config, Outcome, Verdict, replay, verify};
use std::time::Duration;

/// Builder of a program with one function, which extends it at one location at a time.
struct Build {
    p: Program,
    at: LocId,
    int: TypeId,
}

impl Build {
    fn new() -> Self {
        let mut p = Program::new(DataLayout { pointer_width: 64 });
        let int = p.types.push(CType::Int { name: "int".into(), width: 32, signed: true });
        let at = p.funcs[p.entry].entry;
        Self { p, at, int }
    }
    fn var(&mut self, name: &str, width: u32) -> VarId {
        let kind = VarKind::Local(self.p.entry);
        self.p.vars.push(Var { name: Some(name.into()), ty: self.int, width, kind, place: None })
    }
    fn loc(&mut self) -> LocId {
        self.p.add_location(self.p.entry)
    }
    fn op(&mut self, op: Op) {
        let to = self.loc();
        self.p.add_edge(self.at, op, to, None);
        self.at = to;
    }
    fn goto(&mut self, to: LocId) {
        self.p.add_edge(self.at, Op::Skip, to, None);
    }
    fn nondet(&mut self, var: VarId) {
        let width = self.p.vars[var].width;
        let kind = InputKind::Nondet("__VERIFIER_nondet_int".into());
        let input = self.p.inputs.push(Input { kind, ty: self.int, width, place: None });
        self.op(Op::Havoc { var, input });
    }
    fn e(&mut self, var: VarId) -> ExprId {
        self.p.var_expr(var)
    }
    fn int(&mut self, value: i64) -> ExprId {
        self.p.exprs.constant(Bv::from_i64(32, value))
    }
    /// Continues where `cond` holds. Returns the location where it does not.
    fn assume(&mut self, cond: ExprId) -> LocId {
        let (yes, no) = (self.loc(), self.loc());
        self.p.add_branch(self.at, cond, yes, no, None);
        self.at = yes;
        no
    }
    /// An error if `cond` holds.
    fn error_if(&mut self, cond: ExprId) {
        let no = self.assume(cond);
        let error = self.p.errors.push(ErrorInfo { check: cfa::Check::Call, message: "error".into(), place: None });
        self.op(Op::Error(error));
        self.at = no;
    }
    /// A loop in which `i` counts from 0 to `most`. Returns two conditions for the code after it: `i` differs from
    /// `most`, which never holds, and `i` equals it.
    fn count_to(&mut self, i: VarId, most: i64) -> [ExprId; 2] {
        let (zero, one, most, ei) = (self.int(0), self.int(1), self.int(most), self.e(i));
        self.op(Op::Assign { var: i, value: zero });
        let head = self.at;
        let less = self.p.exprs.slt(ei, most);
        let exit = self.assume(less);
        let value = self.p.exprs.add(ei, one);
        self.op(Op::Assign { var: i, value });
        self.goto(head);
        self.at = exit;
        [self.p.exprs.ne(ei, most), self.p.exprs.eq(ei, most)]
    }
    fn run(self) -> (Program, Outcome) {
        self.run_with(&Config::default())
    }
    fn run_with(mut self, config: &Config) -> (Program, Outcome) {
        let zero = self.int(0);
        self.op(Op::Halt(HaltKind::Exit(zero)));
        let p = self.p;
        let confirm = |inputs: &Inputs, error| {
            replay(&p, inputs, error, Duration::from_secs(9)).map(|path| (inputs.clone(), path))
        };
        let outcome = verify(&p, config, &Budget::lasting(Duration::from_secs(20)), &confirm, &|_| {});
        (p, outcome)
    }
}

#[test]
fn an_input_is_found_and_replayed() {
    let mut b = Build::new();
    let x = b.var("x", 32);
    b.nondet(x);
    let (e, three, c) = (b.e(x), b.int(3), b.int(126));
    let product = b.p.exprs.mul(e, three);
    let wrong = b.p.exprs.eq(product, c);
    b.error_if(wrong);
    let (_, outcome) = b.run();
    let Verdict::False(counterexample) = outcome.verdict else { panic!("{:?}", outcome.verdict) };
    let x = counterexample.inputs.values[0].to_u64().unwrap() as u32;
    assert_eq!(x.wrapping_mul(3), 126);
}

#[test]
fn a_bounded_loop_is_safe() {
    let mut b = Build::new();
    let i = b.var("i", 32);
    let zero = b.int(0);
    b.op(Op::Assign { var: i, value: zero });
    let head = b.at;
    let (e, ten, one) = (b.e(i), b.int(10), b.int(1));
    let less = b.p.exprs.slt(e, ten);
    let exit = b.assume(less);
    let next = b.p.exprs.add(e, one);
    b.op(Op::Assign { var: i, value: next });
    b.goto(head);
    b.at = exit;
    let wrong = b.p.exprs.ne(e, ten);
    b.error_if(wrong);
    let (_, outcome) = b.run();
    assert!(matches!(outcome.verdict, Verdict::True), "{:?}", outcome.verdict);
}

#[test]
fn a_loop_that_forgets_its_inputs_is_covered() {
    let mut b = Build::new();
    let (x, mode) = (b.var("x", 32), b.var("mode", 32));
    let zero = b.int(0);
    b.op(Op::Assign { var: mode, value: zero });
    let head = b.at;
    b.nondet(x);
    let (ex, em, three, one) = (b.e(x), b.e(mode), b.int(3), b.int(1));
    let is_three = b.p.exprs.eq(ex, three);
    let other = b.assume(is_three);
    let flipped = b.p.exprs.sub(one, em);
    b.op(Op::Assign { var: mode, value: flipped });
    let wrong = b.p.exprs.slt(one, em);
    b.error_if(wrong);
    b.goto(head);
    b.at = other;
    b.goto(head);
    b.at = b.loc();
    let (_, outcome) = b.run_with(&Config { analysis: Analysis::Symex, ..Config::default() });
    assert!(matches!(outcome.verdict, Verdict::True), "{:?}", outcome.verdict);
    assert!(outcome.stats.exploration.covered > 0);
}

#[test]
fn an_unbounded_loop_is_proved_by_invariants() {
    let mut b = Build::new();
    let (i, n) = (b.var("i", 32), b.var("n", 32));
    b.nondet(n);
    let (ei, en, zero, one) = (b.e(i), b.e(n), b.int(0), b.int(1));
    let positive = b.p.exprs.slt(zero, en);
    let exit_early = b.assume(positive);
    b.op(Op::Assign { var: i, value: zero });
    let head = b.at;
    let less = b.p.exprs.slt(ei, en);
    let exit = b.assume(less);
    let next = b.p.exprs.add(ei, one);
    b.op(Op::Assign { var: i, value: next });
    b.goto(head);
    b.at = exit;
    let wrong = b.p.exprs.ne(ei, en);
    b.error_if(wrong);
    b.goto(exit_early);
    b.at = exit_early;
    let (_, outcome) = b.run();
    assert!(matches!(outcome.verdict, Verdict::True), "{:?}", outcome.verdict);
}

#[test]
fn what_is_approximated_is_no_proof() {
    let mut b = Build::new();
    let taint = Taint { reason: "inline assembly".into(), place: None, over: false, under: true };
    let taint = b.p.taints.push(taint);
    b.op(Op::Approx { taint });
    let never = b.p.exprs.bool(false);
    b.error_if(never);
    let (_, outcome) = b.run();
    let Verdict::Unknown(reason) = outcome.verdict else { panic!("{:?}", outcome.verdict) };
    assert_eq!(reason.text, "inline assembly");
}

#[test]
fn a_symbolic_index_reaches_every_element() {
    // a[x & 7] = 1; if (a[5]) error
    let mut b = Build::new();
    let (x, p, v) = (b.var("x", 64), b.var("p", 64), b.var("v", 32));
    let size = b.p.exprs.int(64, 32);
    b.op(Op::Alloc { var: p, size, align: 16, kind: AllocKind::Stack, zeroed: true });
    b.nondet(x);
    let (ex, ep, seven, four, twenty, one) = {
        let (x, p) = (b.e(x), b.e(p));
        let pool = &mut b.p.exprs;
        (x, p, pool.int(64, 7), pool.int(64, 4), pool.int(64, 20), pool.int(32, 1))
    };
    let index = b.p.exprs.and(ex, seven);
    let offset = b.p.exprs.mul(index, four);
    let addr = b.p.exprs.add(ep, offset);
    b.op(Op::Store { addr, value: one });
    let fifth = b.p.exprs.add(ep, twenty);
    b.op(Op::Load { var: v, addr: fifth });
    let (ev, zero) = (b.e(v), b.int(0));
    let wrong = b.p.exprs.ne(ev, zero);
    b.error_if(wrong);
    let (_, outcome) = b.run();
    let Verdict::False(counterexample) = outcome.verdict else { panic!("{:?}", outcome.verdict) };
    assert_eq!(counterexample.inputs.values[0].to_u64().unwrap() & 7, 5);
}

#[test]
fn what_takes_longer_than_a_query_may_is_looked_at_again() {
    // `x ^ y = 5` and `x & y = 2` imply `x | y = 7`, so `a[x]` is one of eight elements.
    let mut b = Build::new();
    let (x, y, p, v) = (b.var("x", 64), b.var("y", 64), b.var("p", 64), b.var("v", 32));
    let size = b.p.exprs.int(64, 32);
    b.op(Op::Alloc { var: p, size, align: 16, kind: AllocKind::Stack, zeroed: true });
    b.nondet(x);
    b.nondet(y);
    let (ex, ey, ep) = (b.e(x), b.e(y), b.e(p));
    let pool = &mut b.p.exprs;
    let (xor, and, five, two) = (pool.xor(ex, ey), pool.and(ex, ey), pool.int(64, 5), pool.int(64, 2));
    let (differs, common) = (pool.eq(xor, five), pool.eq(and, two));
    let (four, one) = (pool.int(64, 4), pool.int(32, 1));
    let offset = pool.mul(ex, four);
    let addr = pool.add(ep, offset);
    let exits = [b.assume(differs), b.assume(common)];
    b.op(Op::Store { addr, value: one });
    b.op(Op::Load { var: v, addr });
    let ev = b.e(v);
    let wrong = b.p.exprs.ne(ev, one);
    b.error_if(wrong);
    let end = b.at;
    for exit in exits {
        b.at = exit;
        b.goto(end);
    }
    b.at = end;
    // Symbolic execution precedes the proof by invariants, and its queries have no time.
    let (_, outcome) = b.run_with(&Config { query_time: Duration::from_nanos(1), ..with(Analysis::Invariants) });
    assert!(matches!(outcome.verdict, Verdict::True), "{:?}", outcome.verdict);
    assert!(outcome.reasons.is_empty(), "{:?}", outcome.reasons);
}

/// An unbounded counter, and a mode with three values. Only the mode is relevant.
fn modes(wrong_mode: i64) -> Build {
    let mut b = Build::new();
    let (mode, counter, x) = (b.var("mode", 32), b.var("counter", 32), b.var("x", 32));
    let zero = b.int(0);
    b.op(Op::Assign { var: mode, value: zero });
    b.op(Op::Assign { var: counter, value: zero });
    let head = b.at;
    b.nondet(x);
    let (ex, em, ec) = (b.e(x), b.e(mode), b.e(counter));
    let (one, two, bad) = (b.int(1), b.int(2), b.int(wrong_mode));
    let more = b.p.exprs.add(ec, one);
    b.op(Op::Assign { var: counter, value: more });
    let positive = b.p.exprs.slt(zero, ex);
    let stays = b.assume(positive);
    let next = b.p.exprs.add(em, one);
    b.op(Op::Assign { var: mode, value: next });
    let above = b.p.exprs.slt(two, em);
    let joined = b.loc();
    let below = b.assume(above);
    b.op(Op::Assign { var: mode, value: zero });
    b.goto(joined);
    b.at = below;
    b.goto(joined);
    b.at = stays;
    b.goto(joined);
    b.at = joined;
    let wrong = b.p.exprs.eq(em, bad);
    b.error_if(wrong);
    b.goto(head);
    b.at = b.loc();
    b
}

fn with(analysis: Analysis) -> Config {
    Config { analysis, ..Config::default() }
}

#[test]
fn refinement_tracks_what_matters() {
    for analysis in
        [Analysis::VALUE, Analysis::SYMEX_CEGAR, Analysis::parse("symex-cegar-slicing").expect("an analysis")]
    {
        let (_, outcome) = modes(7).run_with(&with(analysis));
        assert!(matches!(outcome.verdict, Verdict::True), "{}: {:?}", analysis.name(), outcome.verdict);
        assert_eq!(outcome.decided_by, analysis);
        let tracked: Vec<&String> = outcome.increments.iter().flat_map(|l| &l.tracked).collect();
        assert_eq!(tracked, ["the value of `mode`"], "{}", analysis.name());
        assert!(outcome.stats.exploration.refinements >= 1 && !outcome.arg.is_empty());
    }
}

#[test]
fn without_covering_a_loop_has_no_end() {
    for analysis in [Analysis::SYMEX_CEGAR, Analysis::VALUE] {
        let mut b = modes(7);
        let zero = b.int(0);
        b.op(Op::Halt(HaltKind::Exit(zero)));
        let never = |_: &Inputs, _| unreachable!("there is no violation");
        for covers in [true, false] {
            let config = Config { covers, ..with(analysis) };
            let budget = Budget::lasting(Duration::from_millis(if covers { 20_000 } else { 200 }));
            let outcome = verify(&b.p, &config, &budget, &never, &|_| {});
            assert_eq!(matches!(outcome.verdict, Verdict::True), covers, "{}: {:?}", analysis.name(), outcome.verdict);
            assert_eq!(outcome.stats.exploration.covered > 0, covers, "{}", analysis.name());
        }
    }
}

#[test]
fn refinement_ends_at_a_violation() {
    for analysis in [
        Analysis::VALUE,
        Analysis::SYMEX_CEGAR,
        Analysis::parse("symex-slicing").expect("an analysis"),
        Analysis::PREDICATE,
    ] {
        let (_, outcome) = modes(2).run_with(&with(analysis));
        let Verdict::False(found) = outcome.verdict else { panic!("{}: {:?}", analysis.name(), outcome.verdict) };
        let steps = found.inputs.values.iter().filter(|v| v.to_i64().unwrap() > 0).count();
        assert!(steps >= 2, "{}: {:?}", analysis.name(), found.inputs.values);
    }
}

#[test]
fn threads_share_the_work() {
    for jobs in [1, 2, 4] {
        let (_, outcome) = modes(7).run_with(&Config { jobs, ..Config::default() });
        assert!(matches!(outcome.verdict, Verdict::True), "{jobs}: {:?}", outcome.verdict);
    }
}

/// `x` and `y` are incremented together. Only their equality is relevant, not their values.
fn twins(step: i64) -> Build {
    let mut b = Build::new();
    let (x, y, go) = (b.var("x", 32), b.var("y", 32), b.var("go", 32));
    let (zero, one, step) = (b.int(0), b.int(1), b.int(step));
    b.op(Op::Assign { var: x, value: zero });
    b.op(Op::Assign { var: y, value: zero });
    let head = b.at;
    b.nondet(go);
    let (ex, ey, ego) = (b.e(x), b.e(y), b.e(go));
    let goes = b.p.exprs.ne(ego, zero);
    let exit = b.assume(goes);
    let more = b.p.exprs.add(ex, one);
    b.op(Op::Assign { var: x, value: more });
    let more = b.p.exprs.add(ey, step);
    b.op(Op::Assign { var: y, value: more });
    b.goto(head);
    b.at = exit;
    let wrong = b.p.exprs.ne(ex, ey);
    b.error_if(wrong);
    b
}

#[test]
fn predicates_say_what_values_cannot() {
    for analysis in [Analysis::PREDICATE, Analysis::VALUE_PREDICATE] {
        let (_, outcome) = twins(1).run_with(&with(analysis));
        assert!(matches!(outcome.verdict, Verdict::True), "{}: {:?}", analysis.name(), outcome.verdict);
        let learned = outcome.increments.iter().any(|l| l.tracked.iter().any(|t| t.contains("x == y")));
        assert!(learned, "{:?}", outcome.increments);
        let (_, outcome) = twins(2).run_with(&with(analysis));
        assert!(matches!(outcome.verdict, Verdict::False(_)), "{}: {:?}", analysis.name(), outcome.verdict);
    }
    let (_, outcome) = twins(1).run_with(&Config { value_threshold: 20, ..with(Analysis::VALUE) });
    assert!(matches!(outcome.verdict, Verdict::Unknown(_)), "{:?}", outcome.verdict);
}

/// The processor time of this thread in seconds. Other processes on the machine do not affect it.
fn processor_time() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    text.split_whitespace().next().unwrap().parse::<f64>().unwrap() / 1e9
}

/// Queries three times whether a number is a product. No solver can decide it in half a second, in whatever component
/// the query occurs: exploration, feasibility check, proof of an invariant, coverage, or interpolation.
fn asks_hard_questions() -> Program {
    let mut b = Build::new();
    let (i, found) = (b.var("i", 32), b.var("found", 32));
    let (x, y) = (b.var("x", 64), b.var("y", 64));
    let (zero, one, three) = (b.int(0), b.int(1), b.int(3));
    b.op(Op::Assign { var: i, value: zero });
    b.op(Op::Assign { var: found, value: zero });
    let head = b.at;
    let (ei, ef, ex, ey) = (b.e(i), b.e(found), b.e(x), b.e(y));
    let less = b.p.exprs.slt(ei, three);
    let exit = b.assume(less);
    b.nondet(x);
    b.nondet(y);
    let next = b.p.exprs.add(ei, one);
    b.op(Op::Assign { var: i, value: next });
    // The solver has to find two prime factors.
    let (two, most) = (b.p.exprs.int(64, 2), b.p.exprs.int(64, 0xffff_ffff));
    let (number, product) = (b.p.exprs.int(64, 4_294_967_291 * 4_294_967_279), b.p.exprs.mul(ex, ey));
    let ordered = [(two, ex), (ex, ey), (ey, most)];
    let mut factors = b.p.exprs.eq(product, number);
    for (low, high) in ordered {
        let at_most = b.p.exprs.ule(low, high);
        factors = b.p.exprs.and(factors, at_most);
    }
    let not = b.assume(factors);
    let more = b.p.exprs.add(ef, one);
    b.op(Op::Assign { var: found, value: more });
    b.goto(head);
    b.at = not;
    b.goto(head);
    b.at = exit;
    let wrong = b.p.exprs.slt(one, ef);
    b.error_if(wrong);
    let end = b.int(0);
    b.op(Op::Halt(HaltKind::Exit(end)));
    b.p
}

/// A copy of arbitrary length, mostly too long, on the way to an error that refinement has to refute.
fn copies_any_length() -> Program {
    let mut b = Build::new();
    let (i, n) = (b.var("i", 32), b.var("n", 64));
    let (p, q) = (b.var("p", 64), b.var("q", 64));
    for var in [p, q] {
        let size = b.p.exprs.int(64, 4);
        b.op(Op::Alloc { var, size, align: 4, kind: AllocKind::MALLOC, zeroed: true });
    }
    let [wrong, _] = b.count_to(i, 3);
    b.nondet(n);
    let (dst, src, len) = (b.e(p), b.e(q), b.e(n));
    b.op(Op::Copy { dst, src, len });
    b.error_if(wrong);
    let end = b.int(0);
    b.op(Op::Halt(HaltKind::Exit(end)));
    b.p
}

#[test]
fn no_analysis_runs_past_its_time() {
    let unconfirmed = |_: &Inputs, _| Err("nobody looks".into());
    let programs = [asks_hard_questions(), copies_any_length()];
    for (program, (analysis, name, _)) in programs.iter().flat_map(|p| Analysis::all().map(move |a| (p, a))) {
        let start = processor_time();
        let config = Config { analysis, ..Config::default() };
        verify(program, &config, &Budget::lasting(Duration::from_millis(500)), &unconfirmed, &|_| {});
        let took = processor_time() - start;
        assert!(took < 0.7, "{name} took {took:.2} s of 0.5");
    }
}

/// A loop with four iterations and a choice in each, without an error.
fn few_iterations() -> Build {
    let mut b = Build::new();
    let (i, x, go) = (b.var("i", 32), b.var("x", 32), b.var("go", 32));
    let (zero, one, four) = (b.int(0), b.int(1), b.int(4));
    b.op(Op::Assign { var: i, value: zero });
    b.op(Op::Assign { var: x, value: zero });
    let head = b.at;
    let (ei, ex, ego) = (b.e(i), b.e(x), b.e(go));
    let more = b.p.exprs.ne(ei, four);
    let exit = b.assume(more);
    let next = b.p.exprs.add(ei, one);
    b.op(Op::Assign { var: i, value: next });
    b.nondet(go);
    let goes = b.p.exprs.ne(ego, zero);
    let back = b.assume(goes);
    let next = b.p.exprs.add(ex, one);
    b.op(Op::Assign { var: x, value: next });
    b.goto(head);
    b.at = back;
    b.goto(head);
    b.at = exit;
    let wrong = b.p.exprs.ult(four, ex);
    b.error_if(wrong);
    b
}

/// The analysis with closed forms runs early: a violation after a loop of 10^8 iterations needs no time slice of
/// analyses that unroll the loop.
#[test]
fn closed_forms_have_a_head_start() {
    let mut b = Build::new();
    let i = b.var("i", 32);
    let [_, right] = b.count_to(i, 100_000_000);
    b.error_if(right);
    let (_, outcome) = b.run();
    assert!(matches!(outcome.verdict, Verdict::False(_)), "{:?}", outcome.verdict);
    assert_eq!(outcome.decided_by, Analysis::SymexAccelerated);
    assert!(outcome.turns.iter().all(|t| t.analysis != Analysis::Merging), "{:?}", outcome.turns);
}

#[test]
fn a_graph_that_is_kept_changes_nothing() {
    for analysis in [Analysis::Symex, Analysis::Merging] {
        for program in [|| modes(2), || few_iterations()] {
            let run = |wants_graph| program().run_with(&Config { wants_graph, ..with(analysis) }).1;
            let (plain, pictured) = (run(false), run(true));
            assert_eq!(format!("{:?}", plain.stats.exploration), format!("{:?}", pictured.stats.exploration));
            assert_eq!(format!("{:?}", plain.verdict), format!("{:?}", pictured.verdict));
            assert!(plain.arg.is_empty() && !pictured.arg.is_empty());
            let reached = pictured.arg.iter().any(|n| n.status == engine::arg::Status::Target);
            assert_eq!(reached, matches!(pictured.verdict, Verdict::False(_)));
        }
    }
}

/// If several paths of a block end at a loop head, the graph marks the head as merged (yellow in a pixel tree). After a
/// single path, it does not.
#[test]
fn the_graph_shows_where_blocks_were_merged() {
    let graph = |b: Build| b.run_with(&Config { wants_graph: true, ..with(Analysis::PREDICATE) }).1.arg;
    let counts = |chooses: bool| {
        let mut b = Build::new();
        let (i, go) = (b.var("i", 32), b.var("go", 32));
        if chooses {
            b.nondet(go);
            let (ego, zero) = (b.e(go), b.int(0));
            let goes = b.p.exprs.ne(ego, zero);
            let other = b.assume(goes);
            let joined = std::mem::replace(&mut b.at, other);
            b.goto(joined);
            b.at = joined;
        }
        let [_, right] = b.count_to(i, 3);
        b.error_if(right);
        graph(b)
    };
    assert!(counts(true).iter().any(|n| n.merged));
    let graph = counts(false);
    assert!(graph.iter().all(|n| !n.merged));
    // The depth of an error is the length of its path: an assignment, and three iterations of a branch, an addition and
    // a jump back.
    let target = graph.iter().find(|n| n.status == engine::arg::Status::Target).expect("the sum is reached");
    let line = std::iter::successors(Some(target), |n| n.parent.map(|p| &graph[p as usize]));
    assert!(line.map(|n| n.edges).sum::<u32>() >= 1 + 3 * 2 + 2);
}

#[test]
fn what_is_left_is_the_frontier() {
    for analysis in [Analysis::Symex, Analysis::VALUE] {
        let config = Config { wants_graph: true, wants_frontier: true, value_threshold: 0, ..with(analysis) };
        let mut b = twins(1);
        let zero = b.int(0);
        b.op(Op::Halt(HaltKind::Exit(zero)));
        let never = |_: &Inputs, _| unreachable!("there is no violation");
        let outcome = verify(&b.p, &config, &Budget::lasting(Duration::from_millis(20)), &never, &|_| {});
        assert!(matches!(outcome.verdict, Verdict::Unknown(_)), "{:?}", outcome.verdict);
        let Frontier { open, paths, .. } = &outcome.frontiers[0];
        assert!(!open.is_empty(), "{}", analysis.name());
        for place in open.iter().take(20) {
            let path = place.path.expect("paths are kept");
            let mut pieces: Vec<_> =
                std::iter::successors(Some(path), |&p| paths.pieces()[p].after).map(|p| &paths.pieces()[p]).collect();
            pieces.reverse();
            let mut at = b.p.funcs[b.p.entry].entry;
            for &edge in pieces.iter().flat_map(|piece| &piece.edges) {
                assert_eq!(b.p.edges[edge].source, at);
                at = b.p.edges[edge].target;
            }
            assert_eq!(at, place.loc);
        }
    }
}

#[test]
fn what_is_left_out_is_behind_what_is_open() {
    let config = Config { wants_frontier: true, ..with(Analysis::Symex) };
    let run = |before_the_branch: bool| {
        let mut b = Build::new();
        let x = b.var("x", 32);
        b.nondet(x);
        let taint = b.p.taints.push(Taint { reason: "a test".into(), place: None, over: false, under: true });
        if before_the_branch {
            b.op(Op::Approx { taint });
        }
        let (ex, three, two, seven) = (b.e(x), b.int(3), b.int(2), b.int(7));
        let is_three = b.p.exprs.eq(ex, three);
        let other = b.assume(is_three);
        if !before_the_branch {
            b.op(Op::Approx { taint });
        }
        b.goto(other);
        b.at = other;
        let doubled = b.p.exprs.mul(ex, two);
        let wrong = b.p.exprs.eq(doubled, seven);
        b.error_if(wrong);
        b.run_with(&config).1
    };
    for before_the_branch in [true, false] {
        let outcome = run(before_the_branch);
        assert!(matches!(outcome.verdict, Verdict::Unknown(_)), "{:?}", outcome.verdict);
        let frontier = &outcome.frontiers[0];
        assert!(frontier.is_complete && frontier.given_up.is_none());
        let [open] = &frontier.open[..] else { panic!("{:?}", frontier.open) };
        assert_eq!(open.reason.as_ref().map(|r| &r.text[..]), Some("a test"));
        let path = frontier.paths.edges(open.path.expect("paths are kept"));
        // The open path ends after the branch, or at the start.
        assert_eq!(path.is_empty(), before_the_branch, "{path:?}");
    }
}
