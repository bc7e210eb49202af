use super::*;
use cfa::interp::{Inputs, Interpreter, Limits};
use cfa::{Bv, CType, DataLayout, HaltKind, Input, InputKind, Var, VarKind};
use engine::frontier::{Frontier, Open, PathId, Paths};

/// The program `x = nondet(); if (x == 0) y = 1; if (x <u 4) y = 2; exit(0)`, with its branches (true edges first) and
/// `x`.
fn program() -> (Program, Vec<(EdgeId, EdgeId)>, cfa::VarId) {
    let mut p = Program::new(DataLayout { pointer_width: 64 });
    let ty = p.types.push(CType::Int { name: "unsigned".into(), width: 32, signed: false });
    let kind = VarKind::Local(p.entry);
    let x = p.vars.push(Var { name: Some("x".into()), ty, width: 32, kind: kind.clone(), place: None });
    let y = p.vars.push(Var { name: Some("y".into()), ty, width: 32, kind, place: None });
    let input = p.inputs.push(Input { kind: InputKind::Nondet("f".into()), ty, width: 32, place: None });
    let locs: Vec<_> = (0..7).map(|_| p.add_location(p.entry)).collect();
    let entry = p.funcs[p.entry].entry;
    p.add_edge(entry, Op::Havoc { var: x, input }, locs[0], None);
    let (vx, zero, four) = (p.var_expr(x), p.exprs.int(32, 0), p.exprs.int(32, 4));
    let is_zero = p.exprs.eq(vx, zero);
    let a = p.add_branch(locs[0], is_zero, locs[1], locs[2], None);
    let one = p.exprs.int(32, 1);
    p.add_edge(locs[1], Op::Assign { var: y, value: one }, locs[2], None);
    let small = p.exprs.ult(vx, four);
    let b = p.add_branch(locs[2], small, locs[3], locs[4], None);
    let two = p.exprs.int(32, 2);
    p.add_edge(locs[3], Op::Assign { var: y, value: two }, locs[4], None);
    p.add_edge(locs[4], Op::Halt(HaltKind::Exit(zero)), locs[5], None);
    (p, vec![a, b], x)
}

fn covers(condition: &Condition, program: &Program, x: u64) -> bool {
    let inputs = Inputs { values: vec![Bv::new(32, x)], ..Inputs::default() };
    let mut coverage = Coverage::new(condition);
    Interpreter::new(program).run(&mut inputs.source(), Limits::default(), &mut coverage);
    coverage.is_covered()
}

#[test]
fn runs_are_covered_by_what_they_do() {
    let (p, branches, _) = program();
    // Paths with `x` nonzero and less than 4.
    let mut c = Condition::nothing();
    let (second, done) = (c.add(false), c.add(true));
    c.states[c.initial].transitions = vec![
        Transition::on(branches[0].1, second),
        Transition::on(branches[0].0, second),
        Transition::others(c.initial),
    ];
    let lost = c.add(false);
    c.states[c.initial].transitions[1].to = lost;
    c.states[second].transitions = vec![Transition::on(branches[1].0, done)];
    c.check(&p).unwrap();
    assert_eq!([0, 1, 3, 4].map(|x| covers(&c, &p, x)), [false, true, true, false]);
    assert!(covers(&Condition::everything(), &p, 1) && !covers(&Condition::nothing(), &p, 1));
    assert!(c.covers_syntactically(&[EdgeId(0), branches[0].1, branches[1].0]));
    assert!(!c.covers_syntactically(&[EdgeId(0), branches[0].0, branches[1].0]));
}

#[test]
fn assumptions_are_held_against_the_state_after_the_edge() {
    let (mut p, branches, x) = program();
    let (vx, two) = (p.var_expr(x), p.exprs.int(32, 2));
    let assumption = Some(p.exprs.eq(vx, two));
    let mut c = Condition::nothing();
    let done = c.add(true);
    c.states[c.initial].transitions = vec![
        Transition { on: Label::from_edges([branches[0].0, branches[0].1]), assumption, to: done },
        Transition::others(c.initial),
    ];
    assert_eq!([0, 1, 2, 3].map(|x| covers(&c, &p, x)), [false, false, true, false]);
}

#[test]
fn text_is_read_back() {
    let (mut p, branches, x) = program();
    let (vx, two) = (p.var_expr(x), p.exprs.int(32, 2));
    let assumption = Some(p.exprs.eq(vx, two));
    let mut c = Condition::nothing();
    let done = c.add(true);
    let both = Label::from_edges([branches[0].1, branches[0].0]);
    c.states[c.initial].transitions =
        vec![Transition { on: both, assumption, to: done }, Transition::others(c.initial)];
    let text = print(&c, &p);
    assert_eq!(parse(&text, &mut p).unwrap(), c);
    let func = p.funcs[p.entry].name.clone();
    assert!(text.contains(&format!("if \"x == 2\" in {func} -> q1")), "{text}");
    assert!(c.dot(&p).contains("q1 [shape=doublecircle]"));
    for (from, to) in [
        ("-> q1", "-> q9"),
        ("t1 ", "t99 "),
        ("t1 ", "x "),
        ("of ", "of 1"),
        ("\"x", "\"z"),
        (" in ", " of "),
        (" initial", ""),
    ] {
        assert!(parse(&text.replacen(from, to, 1), &mut p).is_err(), "{from} {to}");
    }
}

#[test]
fn assumptions_are_c_where_that_means_the_same() {
    let (mut p, branches, x) = program();
    let main = p.funcs[p.entry].name.clone();
    let ty = p.vars[x].ty;
    let named = |name: &str, kind| Var { name: Some(name.into()), ty, width: 32, kind, place: None };
    let flag = p.vars.push(named("flag", VarKind::Global { init: None, is_static: false }));
    // A name of two variables, and a variable without a C name.
    let twins = ["twin", "twin"].map(|name| p.vars.push(named(name, VarKind::Local(p.entry))));
    let unnamed = p.vars.push(Var { name: None, ..named("", VarKind::Local(p.entry)) });
    let [vx, vflag, vtwin, vunnamed] = [x, flag, twins[0], unnamed].map(|v| p.var_expr(v));
    let (two, byte) = (p.exprs.int(32, 2), p.exprs.extract(7, 0, vx));
    let wide = p.exprs.sext(32, byte);
    let (is_two, is_flag) = (p.exprs.eq(vx, two), p.exprs.ult(vflag, vx));
    let cases = [
        (is_two, format!("\"x == 2\" in {main}")),
        (p.exprs.slt(vx, two), format!("\"(int)x < 2\" in {main}")),
        (p.exprs.and(is_two, is_flag), format!("\"x == 2 && flag < x\" in {main}")),
        (p.exprs.slt(wide, two), format!("\"(signed char)(unsigned char)x < 2\" in {main}")),
        (p.exprs.eq(vflag, two), "\"flag == 2\"".to_owned()),
        (p.exprs.eq(vtwin, two), "(twin.v3 == 2:32)".to_owned()),
        (p.exprs.eq(vunnamed, two), "(v5 == 2:32)".to_owned()),
    ];
    for (e, expected) in cases {
        let mut c = Condition::nothing();
        let done = c.add(true);
        c.states[c.initial].transitions =
            vec![Transition { on: Label::from_edges([branches[0].0]), assumption: Some(e), to: done }];
        let text = print(&c, &p);
        assert!(text.contains(&format!(" if {expected} -> q1")), "{text}\n{expected}");
        assert_eq!(parse(&text, &mut p).unwrap(), c);
    }
}

#[test]
fn what_leads_nowhere_is_dropped_without_a_change() {
    let (p, branches, _) = program();
    let mut c = Condition::nothing();
    let (a, b, done) = (c.add(false), c.add(false), c.add(true));
    let dead = c.add(false);
    c.states[c.initial].transitions =
        vec![Transition::on(branches[0].0, a), Transition::on(branches[0].1, b), Transition::others(c.initial)];
    c.states[a].transitions = vec![Transition::others(dead)];
    c.states[b].transitions = vec![Transition::on(branches[1].0, done), Transition::on(branches[1].1, dead)];
    c.states[dead].transitions = vec![Transition::others(a)];
    let s = c.simplified();
    s.check(&p).unwrap();
    assert!(s.states.len() < c.states.len());
    for x in 0..6 {
        assert_eq!(covers(&c, &p, x), covers(&s, &p, x), "{x}");
    }
}

/// The frontier of an exploration with a waiting state after the true side of the branch that follows the first edge.
/// Also returns the paths to both sides.
fn waits_behind(p: &Program, (then_edge, else_edge): (EdgeId, EdgeId)) -> (Frontier, [PathId; 2]) {
    let mut paths = Paths::default();
    let sides = [then_edge, else_edge].map(|edge| paths.add(None, &[EdgeId(0), edge]));
    let open = vec![Open { loc: p.edges[then_edge].target, calls: Vec::new(), path: Some(sides[0]), reason: None }];
    (Frontier { paths, open, is_exact: true, ..Frontier::default() }, sides)
}

#[test]
fn what_is_covered_elsewhere_is_covered_with_the_rest() {
    use engine::frontier::Covered;
    let (mut p, branches, _) = program();
    let (mut frontier, [yes, no]) = waits_behind(&p, branches[0]);
    // The true side covers the false side.
    frontier.covered.push(Covered { path: Some(no), by: Some(yes) });
    let condition = |frontier: &Frontier| rest::ExploredProgram::unchanged(&p).condition(frontier);
    let c = condition(&frontier);
    assert_eq!([0, 1].map(|x| covers(&c, &p, x)), [false, true]);
    assert_eq!([0, 1].map(|x| covers(&c.by_itself(), &p, x)), [false, false]);
    let part = c.part(None).unwrap();
    let behind = |edge| part.step(part.step(part.initial, EdgeId(0)), edge);
    assert_eq!(behind(branches[0].0), engine::part::Position::Open);
    assert_eq!(behind(branches[0].1), engine::part::Position::Done);
    // An analysis that continues there finds nothing on the true side. This does not verify paths that nobody explored.
    let further = c.union(&Condition::everything());
    assert_eq!([0, 1].map(|x| covers(&further, &p, x)), [true, true]);
    assert_eq!([0, 1].map(|x| covers(&further.by_itself(), &p, x)), [true, false]);
    // If states represent more paths than lead to them, the path to the covering state does not describe all of it.
    frontier.is_exact = false;
    assert_eq!([0, 1].map(|x| covers(&condition(&frontier), &p, x)), [false, false]);
    assert_eq!(parse(&print(&c, &p), &mut p).unwrap(), c);
}

#[test]
fn ways_to_states_that_cover_are_kept_behind_what_is_done() {
    use engine::part::Position;
    let (mut p, branches, _) = program();
    let (mut frontier, [_, no]) = waits_behind(&p, branches[0]);
    // The false side is completely explored, and has a covering state.
    frontier.covering.push(no);
    let c = rest::ExploredProgram::unchanged(&p).condition(&frontier);
    c.check(&p).unwrap();
    assert_eq!([0, 1].map(|x| covers(&c, &p, x)), [false, true]);
    let part = c.part(None).unwrap();
    let behind = part.side(part.step(part.initial, EdgeId(0)), branches[0].1);
    assert!(matches!(behind, Position::Seen(..)), "{behind:?}");
    // From there, the automaton continues to the next branch, and no further.
    assert_eq!(part.step(behind, EdgeId(0)), behind);
    assert_eq!(part.side(behind, branches[0].0), Position::Done);
    assert_eq!(parse(&print(&c, &p), &mut p).unwrap(), c);
    // A residual program does not need these states.
    let most = c.truncated(100);
    assert!(most.states.values().all(|state| !state.accepting || state.transitions.is_empty()));
    assert_eq!([0, 1].map(|x| covers(&most, &p, x)), [false, true]);
}
