//! Law: what the certificate checker confirms holds in executions, for random programs and arbitrary certificates.
//!
//! A run of the interpreter yields a value of a variable at some assignment. The test makes this value an error, so the
//! program is unsafe, and no certificate may be confirmed for it. It tries a certificate that explores all executions,
//! certificates with random conditions, frames and iterations, and a certificate of an analysis for the same program
//! with another value.
//!
//! `PROVISO_PROGRAMS=N cargo test -p engine --test proof_laws` tests more programs. `PROVISO_SEED=N` starts at another
//! seed.

#[path = "../../slicer/tests/generator/mod.rs"]
mod generator;

use certificate::{Certificate, Frame, ProofCheck, Site, check};
use cfa::graph::CfaGraphs;
use cfa::interp::{InputSource, Interpreter, Limits, ObjectSeq, Observer, State, Unknown};
use cfa::loops::LoopForest;
use cfa::*;
use engine::budget::Budget;
use engine::smt::Choice;
use engine::{Analysis, Config, verify};
use generator::{Random, Shape};
use std::collections::BTreeMap;
use std::time::Duration;

struct Values(Random);

impl InputSource for Values {
    fn unknown(&mut self, _what: Unknown, width: u32) -> Bv {
        Bv::new(64, self.0.below(6) as u64).resize(width)
    }
    fn bytes(&mut self, _object: ObjectSeq, _offset: u64, bytes: &mut [u8]) {
        bytes.iter_mut().for_each(|byte| *byte = self.0.below(256) as u8);
    }
}

/// The observations in a run.
#[derive(Default)]
struct Seen {
    /// The values assigned by the criteria.
    criteria: BTreeMap<EdgeId, Bv>,
    /// By loop head and variable: the least and the greatest value.
    heads: BTreeMap<(LocId, VarId), (u64, u64)>,
}

struct Watch<'a> {
    program: &'a Program,
    criteria: &'a [EdgeId],
    heads: &'a [LocId],
    seen: Seen,
}

impl Observer for Watch<'_> {
    fn executed(&mut self, edge: EdgeId, state: &State) {
        let Edge { op, target, .. } = &self.program.edges[edge];
        if let Op::Assign { var, .. } = op
            && self.criteria.contains(&edge)
        {
            self.seen.criteria.insert(edge, state.var(*var).unwrap());
        }
        if self.heads.contains(target) && !matches!(op, Op::Call { .. } | Op::Return { .. }) {
            for (id, var) in self.program.vars.iter() {
                if var.func().is_none_or(|f| f == state.func())
                    && let Some(value) = state.var(id).and_then(|v| v.to_u64())
                {
                    let (low, high) = self.seen.heads.entry((*target, id)).or_insert((value, value));
                    (*low, *high) = ((*low).min(value), (*high).max(value));
                }
            }
        }
    }
}

/// The program with an error where the edge assigns `value`.
fn with_error(program: &Program, edge: EdgeId, value: &Bv) -> Program {
    let mut p = program.clone();
    let Op::Assign { var, .. } = p.edges[edge].op else { panic!("a criterion is an assignment") };
    let func = p.func_of(edge);
    let (middle, bad, end) = (p.add_location(func), p.add_location(func), p.add_location(func));
    let to = std::mem::replace(&mut p.edges[edge].target, middle);
    let (x, value) = (p.var_expr(var), p.exprs.constant(value.clone()));
    let equal = p.exprs.eq(x, value);
    p.add_branch(middle, equal, bad, to, None);
    let error = p.errors.push(ErrorInfo { check: Check::Call, message: "error".into(), place: None });
    p.add_edge(bad, Op::Error(error), end, None);
    p
}

/// Conditions that held in a run, and frames that may be incomplete.
fn guess(p: &Program, seen: &Seen, heads: &[LocId], random: &mut Random) -> Certificate {
    let mut certificate = Certificate::new(p.exprs.clone());
    certificate.iterations = 1 + random.below(3) as u32;
    let sites: Vec<Site> = (p.globals.ids().map(Site::Global))
        .chain(p.edges.iter().filter(|(_, e)| matches!(e.op, Op::Alloc { .. })).map(|(id, _)| Site::Alloc(id)))
        .collect();
    let lacks = random.below(2) == 0;
    let entries = p.funcs.iter().map(|(_, f)| f.entry);
    for place in heads.iter().copied().chain(entries) {
        let written = sites.iter().copied().filter(|_| !lacks || random.below(4) > 0).collect();
        let roaming = p.vars.ids().filter(|_| random.below(3) == 0).collect();
        let followed = random.below(3) == 0;
        certificate.frames.insert(place, Frame { written, roaming, followed });
    }
    for (&(head, var), &(low, high)) in &seen.heads {
        let width = p.vars[var].width;
        let pool = &mut certificate.pool;
        let (x, low, high) = (pool.var(var, width), pool.int(width, low), pool.int(width, high));
        let condition = match random.below(8) {
            0 => pool.ule(x, high),
            1 => pool.ule(low, x),
            2 if low == high => pool.eq(x, low),
            _ => continue,
        };
        certificate.heads.entry(head).or_default().push(condition);
    }
    certificate
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |n| n.parse().expect("a number"))
}
fn first() -> u64 {
    number("PROVISO_SEED", 0)
}
fn programs(default: u64) -> u64 {
    number("PROVISO_PROGRAMS", default)
}
fn time() -> Budget {
    Budget::unlimited().exerting(Duration::from_millis(300))
}

/// A program, its loop heads, and the observations in a run.
struct Sample {
    program: Program,
    heads: Vec<LocId>,
    seen: Seen,
}

impl Sample {
    fn new(seed: u64) -> Self {
        let shape = Shape { objects: seed % 3 == 1, pieces: seed % 3 == 2, ..Shape::default() };
        let generated = generator::generate_shaped(seed, shape);
        let program = generated.program;
        let mut heads = Vec::new();
        for (_, graph) in CfaGraphs::new(&program).funcs.iter() {
            heads.extend(LoopForest::new(&graph.graph, 0).loops().iter().map(|l| graph.locs[l.head as usize]));
        }
        let mut watch =
            Watch { program: &program, criteria: &generated.criteria, heads: &heads, seen: Seen::default() };
        let limits = Limits { steps: 20_000, ..Limits::default() };
        Interpreter::new(&program).run(&mut Values(Random::new(seed)), limits, &mut watch);
        let seen = watch.seen;
        Self { program, heads, seen }
    }
}

#[test]
fn nothing_false_is_confirmed() {
    let (mut confirmed, mut questions) = (0, 0);
    for seed in first()..first() + programs(150) {
        let Sample { program, seen, heads } = Sample::new(seed);
        let mut random = Random::new(seed ^ 0x5eed);
        for (&edge, value) in seen.criteria.iter().take(3) {
            let faulty = with_error(&program, edge, value);
            let safe = with_error(&program, edge, &Bv::new(64, 0x1234_5678_9abc).resize(value.width()));
            for (i, certificate) in
                [Certificate::followed(&faulty), guess(&faulty, &seen, &heads, &mut random)].into_iter().enumerate()
            {
                let answer = check(&faulty, &certificate, &Choice::default(), &time());
                assert_ne!(answer, ProofCheck::Confirmed, "program {seed}, {edge} with {value:?}, certificate {i}");
                questions += 1;
            }
            let answer = check(&safe, &Certificate::followed(&safe), &Choice::default(), &time());
            confirmed += u32::from(answer == ProofCheck::Confirmed);
        }
    }
    assert!(confirmed * 8 > questions, "{confirmed} of others, {questions} questions");
}

/// The program with another value as its error, and with the pool of a certificate.
fn with_other_value(program: &Program, certificate: &mut Certificate, value: &Bv) -> Program {
    let mut p = program.clone();
    p.exprs = certificate.pool.clone();
    let (_, last) = p.edges.iter().rev().find(|(_, e)| matches!(e.op, Op::Error(_))).expect("an error");
    let bad = last.source;
    let to_bad = p.edges.iter().find(|(_, e)| e.target == bad).expect("a way there").0;
    let from = p.edges[to_bad].source;
    let Out::Branch { then_edge, else_edge } = p.locs[from].out else { panic!("a branch") };
    let assigned = p.edges.iter().find(|(_, e)| e.target == from).expect("a way there").1;
    let Op::Assign { var, .. } = assigned.op else { panic!("an assignment") };
    let (x, value) = (p.var_expr(var), p.exprs.constant(value.clone()));
    let equal = p.exprs.eq(x, value);
    let differs = p.exprs.not(equal);
    for (edge, holds) in [(then_edge, equal), (else_edge, differs)] {
        let Op::Assume { cond, .. } = &mut p.edges[edge].op else { panic!("a branch") };
        *cond = holds;
    }
    certificate.pool = p.exprs.clone();
    p
}

#[test]
fn proofs_of_analyses_are_none_of_faulty_programs() {
    let (mut proofs, mut confirmed) = (0, 0);
    for seed in first()..first() + programs(60) {
        let Sample { program, seen, .. } = Sample::new(seed);
        for (i, (&edge, value)) in seen.criteria.iter().take(2).enumerate() {
            let safe = with_error(&program, edge, &Bv::new(64, 0x1234_5678_9abc).resize(value.width()));
            let analysis = [Analysis::Invariants, Analysis::KInduction][(seed as usize + i) % 2];
            let config = Config { analysis, ..Config::default() };
            let nothing = |_: &_, _| Err("it is not run".into());
            let outcome = verify(&safe, &config, &time(), &nothing, &|_| {});
            let Some(mut certificate) = outcome.certificate else { continue };
            proofs += 1;
            let answer = check(&safe, &certificate, &Choice::default(), &time());
            assert!(!matches!(answer, ProofCheck::Refuted(_)), "program {seed}, {edge}: {answer}");
            confirmed += u32::from(answer == ProofCheck::Confirmed);
            let faulty = with_other_value(&safe, &mut certificate, value);
            for iterations in 1..=3 {
                certificate.iterations = iterations;
                let answer = check(&faulty, &certificate, &Choice::default(), &time());
                assert_ne!(answer, ProofCheck::Confirmed, "program {seed}, {edge}, {iterations} iterations");
            }
        }
    }
    assert!(confirmed * 4 > proofs && proofs > 0, "{confirmed} of {proofs}");
}
