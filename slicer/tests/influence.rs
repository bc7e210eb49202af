//! Tests forward slices and explanations on random programs.
//!
//! If an operation is changed, every operation whose executions or values change has to be in its forward slice.

mod generator;

use cfa::interp::{Interpreter, Limits, Observer, Outcome, State};
use cfa::{EdgeId, Id, Op, Program};
use generator::inputs::FixedInputs;
use generator::{Random, generate};
use slicer::{Analysis, Criterion, DependenceKind, Options};

/// By edge, the integers that its executions assigned; zeros for operations without a result.
struct History(Vec<Vec<u64>>);

impl Observer for History {
    fn executed(&mut self, edge: EdgeId, state: &State) {
        let program = state.program();
        let value = match &program.edges[edge].op {
            Op::Call { .. } => None,
            op => op.def().filter(|&v| program.vars[v].width == 32).and_then(|v| state.var(v)),
        };
        self.0[edge.index()].push(value.and_then(|v| v.to_u64()).unwrap_or(0));
    }
}

fn history(program: &Program, seed: u64) -> Option<Vec<Vec<u64>>> {
    let mut history = History(vec![Vec::new(); program.edges.len()]);
    let limits = Limits { steps: 20_000, ..Limits::default() };
    let run = Interpreter::new(program).run(&mut FixedInputs(seed), limits, &mut history);
    matches!(run.outcome, Outcome::Exit(_) | Outcome::Abort | Outcome::Assumed).then_some(history.0)
}

fn rounds() -> u64 {
    std::env::var("SLICER_TEST_ROUNDS").ok().and_then(|r| r.parse().ok()).unwrap_or(600)
}

#[test]
fn what_changes_was_in_the_forward_slice() {
    let (mut changes, mut kept, mut all) = (0, 0, 0);
    for seed in 0..rounds() {
        let (program, _) = generate(seed);
        let mut random = Random::new(seed + 7);
        let assigns: Vec<EdgeId> = program
            .edges
            .iter()
            .filter(|(_, e)| matches!(e.op, Op::Assign { var, .. } if program.vars[var].width == 32))
            .map(|(id, _)| id)
            .collect();
        let options = Options { cut_off: false, ..Options::default() };
        let analysis = Analysis::new(&program, &[], &options).expect("there is time");
        for _ in 0..3 {
            let edge = assigns[random.below(assigns.len())];
            let forward = analysis.forward(&[Criterion::operation(edge)]);
            kept += forward.kept.iter().filter(|k| **k).count();
            all += forward.kept.len();
            let mut changed = program.clone();
            let by = changed.exprs.int(32, 1 + random.below(3) as u64);
            let Op::Assign { var, value } = changed.edges[edge].op else { unreachable!("an assignment") };
            let value = changed.exprs.add(value, by);
            changed.edges[edge].op = Op::Assign { var, value };
            for input in 0..3 {
                let (Some(before), Some(after)) = (history(&program, input), history(&changed, input)) else {
                    continue;
                };
                for e in program.edges.ids() {
                    let differs = before[e.index()] != after[e.index()];
                    changes += usize::from(differs);
                    assert!(
                        !differs || forward.kept[e.index()],
                        "seed {seed}, {edge} changes {e}\n{}",
                        cfa::text::print(&program)
                    );
                }
            }
        }
    }
    println!("{changes} changes seen; {kept} of {all} edges in forward slices");
    assert!(changes as u64 > rounds());
}

/// Forward and backward slices are inverse, except for contexts that slices cannot distinguish: an operation depends on
/// those that influence it.
#[test]
fn what_is_influenced_depends() {
    for seed in 0..rounds() / 4 {
        let (program, _) = generate(seed);
        let mut random = Random::new(seed + 3);
        let options = Options { cut_off: false, ..Options::default() };
        let analysis = Analysis::new(&program, &[], &options).expect("there is time");
        let edge = EdgeId(random.below(program.edges.len()) as u32);
        let forward = analysis.forward(&[Criterion::operation(edge)]);
        for e in program.edges.ids().filter(|e| forward.kept[e.index()]) {
            let chain = analysis.why(&[Criterion::operation(e)], edge);
            // A call is also in the forward slice of an argument, and a return in that of its value.
            let whole = !matches!(program.edges[e].op, Op::Call { .. } | Op::Return { .. });
            assert!(chain.is_some() || !whole || e == edge, "seed {seed}: {edge} influences {e}");
        }
    }
}

#[test]
fn chains_lead_from_criteria_to_operations() {
    let (mut chains, mut steps) = (0, 0);
    for seed in 0..rounds() / 2 {
        let (program, criteria) = generate(seed);
        let mut random = Random::new(seed + 5);
        let criterion = Criterion::operation(criteria[random.below(criteria.len())]);
        let criteria = [criterion.clone()];
        let mut analysis = Analysis::new(&program, &criteria, &Options::default()).expect("there is time");
        let slice = analysis.slice(&criteria);
        let explanation = analysis.explain(&criteria);
        let dependences = analysis.dependences();
        for edge in program.edges.ids() {
            let chain = explanation.chain(edge);
            assert_eq!(chain.is_some(), slice.kept[edge.index()], "seed {seed}: {edge}");
            let Some(chain) = chain else { continue };
            let mut at = criterion.edge;
            for d in &chain {
                assert_eq!(d.edge, at, "seed {seed}: {chain:?}");
                assert_ne!(d.on, at);
                at = d.on;
                if d.kind == DependenceKind::Call {
                    assert!(matches!(program.edges[d.on].op, Op::Call { .. }));
                }
                let known = dependences.iter().any(|k| (k.edge, k.on) == (d.edge, d.on));
                let branch = |e: EdgeId| matches!(program.edges[e].op, Op::Assume { .. });
                assert!(known || branch(d.edge) || branch(d.on), "seed {seed}: {d:?} of {chain:?}");
            }
            assert_eq!(at, if chain.is_empty() && edge != criterion.edge { at } else { edge });
            chains += 1;
            steps += chain.len();
        }
        let dot = analysis.dot(Some(&slice.kept));
        assert!(dot.starts_with("digraph") && dot.matches('{').count() == dot.matches('}').count());
    }
    println!("{chains} chains of {steps} dependences");
    assert!(chains > 0);
}
