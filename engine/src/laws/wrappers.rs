//! Law: wrappers, products and domains without symbols lose no run. The test follows a run edge by edge, with
//! abstraction at joins. At least one state has to remain.

use super::*;
use crate::analysis::Goal;
use crate::analysis::composite::Product;
use crate::domain::condition::Conditional;
use crate::domain::condition::part::{self, PathAutomaton};
use crate::domain::interval::Interval;
use crate::domain::loops::{Assumptions, Unrolling};
use crate::domain::slicing::{Criteria, Slicing};
use crate::semantics::control::CallStacks;
use std::sync::Arc;

/// Largest number of states for one run. Beyond, the run is not followed further.
const MOST: usize = 40;
/// Largest number of steps per run.
const STEPS: usize = 120;

/// Follows a run. `adjust` abstracts a state at a join. `see` receives each state with the number of its step.
fn along<C: Cpa<State: Clone>>(
    cpa: &mut C,
    program: &Program,
    run: &Execution,
    heads: &[bool],
    mut adjust: impl FnMut(&mut C, C::State, EdgeId, Control) -> Option<C::State>,
    mut see: impl FnMut(&C, &C::State, usize),
) -> Result<usize, String> {
    let mut stacks = CallStacks::new();
    let mut at = Control { loc: program.funcs[program.entry].entry, stack: CallStacks::EMPTY };
    let mut states = vec![cpa.initial()];
    for (i, step) in run.steps.iter().take(STEPS).enumerate() {
        let edge = step.edge;
        let mut next = Vec::new();
        let mut over = edge;
        let to = match &program.edges[edge].op {
            Op::Assume { .. } => {
                let cfa::Out::Branch { then_edge, else_edge } = program.locs[at.loc].out else { panic!("a branch") };
                for st in states {
                    let (yes, no) = cpa.branch(st, then_edge, else_edge).map_err(|s| format!("{s:?}"))?;
                    next.extend(if edge == then_edge { yes } else { no });
                }
                Control { loc: program.edges[edge].target, ..at }
            }
            Op::Return { .. } => {
                let Some((stack, call)) = stacks.pop(at.stack) else { return Ok(i) };
                over = call;
                for st in states {
                    next.push(cpa.leave(st, edge, call).map_err(|s| format!("{s:?}"))?);
                }
                Control { loc: program.edges[call].target, stack }
            }
            Op::Halt(_) | Op::Error(_) => return Ok(i),
            op => {
                let is_call = matches!(op, Op::Call { .. });
                let mut pending = states;
                let mut undecided = false;
                while let Some(st) = pending.pop() {
                    let mut out = Step::default();
                    cpa.transfer(st, at, edge, &mut out).map_err(|s| format!("{s:?}"))?;
                    undecided |= !out.undecided.is_empty();
                    for (st, to) in out.successors {
                        match to {
                            At::Source => pending.push(st),
                            At::Target if !is_call => next.push(st),
                            At::Callee(func) if func == step.func => next.push(st),
                            _ => {}
                        }
                    }
                    if next.len() + pending.len() > MOST {
                        return Ok(i);
                    }
                }
                if undecided {
                    return Ok(i);
                }
                match is_call {
                    true => Control { loc: program.funcs[step.func].entry, stack: stacks.push(at.stack, edge) },
                    false => Control { loc: program.edges[edge].target, ..at },
                }
            }
        };
        at = to;
        if heads[at.loc.index()] {
            next = next.into_iter().filter_map(|st| adjust(cpa, st, over, at)).collect();
        }
        if next.is_empty() {
            return Err(format!(
                "no state is left after step {i} over {edge}: {}",
                cfa::text::operation(program, &program.edges[edge].op)
            ));
        }
        next.iter().for_each(|st| see(cpa, st, i));
        states = next;
    }
    Ok(run.steps.len().min(STEPS))
}

fn options(random: &mut Random, values_only: bool) -> Options {
    Options {
        values_only,
        full: random.below(3) == 0,
        numbers: random.below(3) == 0,
        sharing: Sharing::Scope,
        threshold: 0,
        values: true,
        predicates: false,
        boolean: false,
        folds: false,
    }
}

/// Calls `work` with random programs, their runs, their joins, a random generator and the seed.
fn with_programs(programs: u64, mut work: impl FnMut(&Program, &[Rc<Execution>], &[bool], &mut Random, u64)) {
    for seed in 1..=programs {
        let program = generator::generate_shaped(seed, Shape { pieces: true, ..Shape::default() }).program;
        let slots = Slots::new(&program);
        let runs: Vec<_> = (0..RUNS).map(|i| Rc::new(execution(&program, &slots, seed * RUNS + i))).collect();
        let heads = symbolic(&program).heads();
        work(&program, &runs, &heads, &mut Random::new(seed ^ 0x77), seed);
    }
}

fn symbolic(program: &Program) -> SymbolicExecution<'_> {
    let solvers = Choice::default();
    let solver = PathSolver::new(solvers.open(), Budget::unlimited());
    let mut symbolic = SymbolicExecution::new(program, solver, solvers);
    symbolic.follow_everything();
    symbolic
}

fn checked(result: Result<usize, String>, what: &str, seed: u64) -> usize {
    result.unwrap_or_else(|why| panic!("{what}, seed {seed}: {why}"))
}

#[test]
fn intervals_hold_what_runs_have() {
    let mut steps = 0;
    let mut known = 0;
    with_programs(40, |program, runs, heads, _, seed| {
        let mut cpa = Interval::new(program);
        for run in runs {
            let see = |_: &Interval<'_>, st: &<Interval<'_> as Cpa>::State, i: usize| {
                let concrete = &run.steps[i].after;
                let slots = Slots::new(program);
                for (slot, &var) in slots.globals.iter().enumerate() {
                    if let (Some(value), Some(v)) = (st.value(var), concrete.globals[slot].to_u64()) {
                        known += 1;
                        assert!(value.contains(v), "seed {seed}, step {i}: {var} is {v}");
                    }
                }
            };
            let adjust =
                |cpa: &mut Interval<'_>, st, edge, at| cpa.adjust(st, edge, at, &mut Vec::new()).expect("no stop");
            steps += checked(along(&mut cpa, program, run, heads, adjust, see), "intervals", seed);
        }
    });
    assert!(steps > 2_000 && known > 1_000, "{steps}, {known}");
}

#[test]
fn a_product_loses_no_run() {
    let mut steps = 0;
    with_programs(30, |program, runs, heads, random, seed| {
        let inner = Tracking::new(symbolic(program), options(random, true));
        let mut cpa = Product::new(inner, Interval::new(program));
        for run in runs {
            let since = cpa.initial();
            let adjust = |cpa: &mut Product<Tracking<'_>, Interval<'_>>, st, _, at| {
                cpa.abstract_state(st, at, &since).expect("no stop")
            };
            steps += checked(along(&mut cpa, program, run, heads, adjust, |_, _, _| {}), "product", seed);
        }
    });
    assert!(steps > 500, "{steps}");
}

#[test]
fn a_slice_loses_no_run() {
    let (mut steps, mut grown) = (0, 0);
    with_programs(40, |program, runs, heads, random, seed| {
        let predicates = random.below(2) == 0;
        let how = Options { predicates, ..options(random, false) };
        let inner = Tracking::new(symbolic(program), how);
        let criteria = [Criteria::TargetPath, Criteria::TargetLocation][random.below(2)];
        let mut cpa = Slicing::new(program, inner, criteria, slicer::Options::default()).expect("a small program");
        for run in runs {
            // The slice grows by a prefix of the run. The run then starts again in the accumulated slice.
            let path: Vec<EdgeId> = run.steps.iter().take(1 + random.below(STEPS)).map(|step| step.edge).collect();
            if let Some((&edge, path)) = path.split_last() {
                grown += u64::from(cpa.slices.grow(path, Goal::Undecided { edge }));
            }
            let since = cpa.initial();
            let adjust =
                |cpa: &mut Slicing<'_, Tracking<'_>>, st, _, at| cpa.abstract_state(st, at, &since).expect("no stop");
            steps += checked(along(&mut cpa, program, run, heads, adjust, |_, _, _| {}), "slicing", seed);
        }
    });
    assert!(steps > 1_000 && grown > 20, "{steps}, {grown}");
}

#[test]
fn unrolling_loses_no_run_within_its_bound() {
    let mut steps = 0;
    with_programs(30, |program, runs, heads, _, seed| {
        let plain = symbolic(program);
        for run in runs {
            let bounded = Assumptions::bounded(program, &plain.loops, 1 << 20);
            let solver = PathSolver::new(Choice::default().open(), Budget::unlimited());
            let mut cpa = Unrolling::new(&plain, solver, bounded);
            cpa.symbolic.follow_everything();
            let adjust =
                |cpa: &mut Unrolling<'_>, st, edge, at| cpa.adjust(st, edge, at, &mut Vec::new()).expect("no stop");
            steps += checked(along(&mut cpa, program, run, heads, adjust, |_, _, _| {}), "unrolling", seed);
        }
    });
    assert!(steps > 1_000, "{steps}");
}

/// A random automaton: some edges lead to other states, to `Open`, to `Done`, or to `Seen`.
fn part(program: &Program, random: &mut Random) -> PathAutomaton {
    const STATES: usize = 4;
    let place = |random: &mut Random, own: part::Position| match random.below(10) {
        0 => part::Position::Open,
        1 => part::Position::Done,
        2 => part::Position::Seen(random.below(STATES) as u32, 0),
        3..6 => own,
        _ => part::Position::State(random.below(STATES) as u32),
    };
    let edges: Vec<EdgeId> = program.edges.ids().collect();
    let state = |number| {
        let own = part::Position::State(number as u32);
        let named = (0..6).map(|_| (edges[random.below(edges.len())], place(random, own))).collect();
        let others = if random.below(4) == 0 { part::Position::Open } else { own };
        part::State { named, others, own }
    };
    PathAutomaton { initial: part::Position::State(0), states: (0..STATES).map(state).collect() }
}

type Restricted<'p> = Conditional<SymbolicExecution<'p>>;

/// The places of a run in the automaton after each step. Heads are not counted.
fn places(program: &Program, part: &PathAutomaton, run: &Execution) -> Vec<part::Position> {
    let mut at = part.initial;
    let behind = |step: &execution::ExecutedEdge| {
        at = match program.edges[step.edge].op {
            Op::Assume { .. } => part.side(at, step.edge),
            _ => part.step(at, step.edge),
        };
        at
    };
    run.steps.iter().map(behind).collect()
}

#[test]
fn a_condition_loses_no_run_that_it_does_not_cover() {
    let (mut open, mut within, mut done, mut seen, mut covered) = (0, 0, 0, 0, 0);
    with_programs(60, |program, runs, heads, random, seed| {
        let part = Arc::new(part(program, random));
        for run in runs {
            let mut cpa = Conditional::new(symbolic(program), part.clone());
            let places = places(program, &part, run);
            let mut last = 0;
            let see = |_: &Restricted<'_>, (_, place): &<Restricted<'_> as Cpa>::State, i: usize| {
                last = i + 1;
                let at =
                    if let part::Position::Seen(number, _) = *place { part::Position::Seen(number, 0) } else { *place };
                assert_eq!(at, places[i], "seed {seed}, step {i}");
                match at {
                    part::Position::Open => open += 1,
                    part::Position::State(_) => within += 1,
                    part::Position::Seen(..) => seen += 1,
                    part::Position::Done => panic!("seed {seed}, step {i}: what is done is explored"),
                }
            };
            let adjust = |cpa: &mut Restricted<'_>, st, edge, at| {
                let st = cpa.adjust(st, edge, at, &mut Vec::new()).expect("no stop")?;
                if let part::Position::Seen(..) = st.1 {
                    // The state is kept, and covers states for which everything is open.
                    assert!(cpa.stop(&st, at).expect("no stop").is_none(), "seed {seed}: what was seen is covered");
                    covered +=
                        usize::from(cpa.stop(&(st.0.clone(), part::Position::Open), at).expect("no stop").is_some());
                    assert!(!matches!(cpa.target(&mut st.clone(), edge, ErrorId(0)), Ok(Target::Reached(_))));
                }
                Some(st)
            };
            let followed = along(&mut cpa, program, run, heads, adjust, see);
            match (followed, places.get(last)) {
                (Ok(_), _) => {}
                (Err(_), Some(part::Position::Done)) => done += 1,
                // The paths after `Seen` are explored only as far as needed for coverage.
                (Err(_), Some(part::Position::Seen(..))) => {}
                (Err(why), place) => panic!("condition, seed {seed}, at {place:?}: {why}"),
            }
        }
    });
    let counts = [open, within, done, seen, covered];
    assert!(open > 1_000 && within > 1_000 && done > 20 && seen > 20 && covered > 3, "{counts:?}");
}
