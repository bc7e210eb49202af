//! Conversion between witnesses and generalized information exchange automata (GIAs). `docs/guide/gia.md` describes the
//! information that is lost, and this module reports it.
//!
//! Claims of other tools are candidates until they are checked. A violation witness becomes a candidate path. The
//! invariants of a correctness witness become assumptions on the transitions to the state `ut` (unreachable).
//! Components use them as precision, and `gia check` checks them as claims.

use crate::witness::{
    Constraint, Content, Entry, Invariant, InvariantItem, LoopPlace, Places, Point, Scalar, Segment, Waypoint,
    WaypointItem, location, violation,
};
use anyhow::{Context, Error, anyhow, bail};
use cfa::text::c_exact;
use cfa::{EdgeId, ExprId, FuncId, InputKind, Op, Program};
use cooperate::condition::{Label, StateId, Transition, c};
use cooperate::gia::{Gia, Says};
use driver::evidence::loop_invariants::{LoopHead, Loops};
use driver::source::Sources;
use std::path::Path;

/// The places of the source of a program.
pub struct SourceMap<'a> {
    /// The locations in the input files.
    pub places: &'a Places,
    /// The source files that debug information names.
    pub sources: &'a Sources,
}

impl SourceMap<'_> {
    /// Returns the automaton of a witness, with descriptions of the parts that are lost. `Err` if the entry has an
    /// unsupported type or content.
    pub fn gia_of(&self, entry: &Entry, program: &mut Program) -> anyhow::Result<(Gia, Vec<String>)> {
        // The type of an empty list does not show its kind. An empty violation sequence and an empty invariant set have
        // opposite meanings.
        match (entry.entry_type.as_str(), &entry.content) {
            ("violation_sequence", Content::Segments(segments)) => Ok(self.of_violation(segments, program)),
            ("violation_sequence", Content::Invariants(none)) if none.is_empty() => Ok(self.of_violation(&[], program)),
            ("invariant_set", Content::Invariants(items)) => Ok(self.of_invariants(items, program)),
            ("invariant_set", Content::Segments(none)) if none.is_empty() => Ok(self.of_invariants(&[], program)),
            (other, _) => Err(anyhow!("entries of type {other} with this content are not supported")),
        }
    }

    /// Returns the automaton of waypoints that are followed one after another. Anything may happen between them.
    fn of_violation(&self, segments: &[Segment], program: &mut Program) -> (Gia, Vec<String>) {
        let mut gia = Gia::nothing();
        let (mut at, mut lost) = (gia.initial, Vec::new());
        for WaypointItem { waypoint } in segments.iter().flat_map(|s| &s.segment) {
            match self.passed(waypoint, program) {
                Ok(Passed { edges, others, condition, is_call }) => {
                    let says = (waypoint.kind == "target" && !is_call).then_some(Says::Candidate);
                    let next = gia.add(says, None);
                    let mut transitions =
                        vec![Transition { on: Label::from_edges(edges), assumption: condition, to: next }];
                    if !others.is_empty() {
                        let elsewhere = gia.add(None, None);
                        transitions.push(Transition { on: Label::from_edges(others), assumption: None, to: elsewhere });
                    }
                    transitions.push(Transition::others(at));
                    gia.states[at].transitions = transitions;
                    at = next;
                }
                Err(why) => {
                    let Waypoint { kind, location, .. } = waypoint;
                    lost.push(format!("the waypoint '{kind}' of {}:{}: {why:#}", location.file_name, location.line));
                }
            }
        }
        if !gia.has(Says::Candidate) {
            // If the target is lost, every target is a candidate.
            let errors = program.edges.iter().filter(|(_, e)| matches!(e.op, Op::Error(_)) || e.fault.is_some());
            let errors: Vec<EdgeId> = errors.map(|(id, _)| id).collect();
            let end = gia.add(Some(Says::Candidate), None);
            gia.states[at].transitions =
                vec![Transition { on: Label::from_edges(errors), assumption: None, to: end }, Transition::others(at)];
        }
        (gia, lost)
    }

    /// Returns the edges that pass a waypoint. `Err` if the automaton cannot express the waypoint, or the program has
    /// no edge there.
    fn passed(&self, waypoint: &Waypoint, program: &mut Program) -> anyhow::Result<Passed> {
        if waypoint.action != "follow" {
            bail!("a GIA cannot express '{}'", waypoint.action);
        }
        let value = waypoint.constraint.as_ref().map(|c| c.value.to_string());
        let mut passed = Passed::default();
        match waypoint.kind.as_str() {
            "target" => {
                let is_target = |e: &cfa::Edge| matches!(e.op, Op::Error(_)) || e.fault.is_some();
                let ids: Vec<EdgeId> = program.edges.iter().filter(|(_, e)| is_target(e)).map(|(id, _)| id).collect();
                let here = ids.iter().copied().filter(|&e| self.is_at(program, e, waypoint)).collect::<Vec<_>>();
                // An error in an undefined function is at the call of this function.
                let calls = || {
                    let is_call = |e: &&EdgeId| matches!(program.edges[**e].op, Op::Call { .. });
                    program.edges.ids().collect::<Vec<_>>().iter().filter(is_call).copied().collect::<Vec<_>>()
                };
                passed.edges = match here.is_empty() {
                    false => here,
                    true => calls().into_iter().filter(|&e| self.is_at(program, e, waypoint)).collect(),
                };
                passed.is_call = passed.edges.iter().any(|e| !ids.contains(e));
            }
            "branching" => {
                let side = match value.as_deref() {
                    Some("true" | "1") => true,
                    Some("false" | "0") => false,
                    _ => bail!("only branches with two targets are supported"),
                };
                for (id, edge) in program.edges.iter() {
                    if let Op::Assume { means: Some(means), .. } = edge.op
                        && self.is_at(program, id, waypoint)
                    {
                        if means == side { passed.edges.push(id) } else { passed.others.push(id) }
                    }
                }
            }
            "function_return" => {
                let value = value.unwrap_or_default();
                let text = value.trim().strip_prefix("\\result").and_then(|rest| rest.trim().strip_prefix("=="));
                let text = text.context("only '\\result == constant' is supported")?.trim().trim_matches(['(', ')']);
                for (id, edge) in program.edges.iter() {
                    if let Op::Havoc { input, .. } = edge.op
                        && let InputKind::Nondet(function) = &program.inputs[input].kind
                        && self.returns_at(program, id, function, waypoint)
                    {
                        passed.edges.push(id);
                    }
                }
                let Some(&first) = passed.edges.first() else {
                    return Err(anyhow!("there is no input at this location"));
                };
                let Op::Havoc { var, .. } = program.edges[first].op else { unreachable!("just looked at") };
                passed.edges.retain(|&e| matches!(program.edges[e].op, Op::Havoc { var: v, .. } if v == var));
                let func = program.func_of(first);
                let constant = c::constant(text, Some(func), program).map_err(Error::msg)?;
                let width = program.vars[var].width;
                let (var, constant) = (program.var_expr(var), program.exprs.constant(constant.resize(width)));
                passed.condition = Some(program.exprs.eq(var, constant));
            }
            other => bail!("'{other}' has no edges of its own"),
        }
        match passed.edges.is_empty() {
            true => Err(anyhow!("there is no code at this location")),
            false => Ok(passed),
        }
    }

    /// Returns true if an edge, or the statement that contains it, is at the location of a waypoint.
    fn is_at(&self, program: &Program, edge: EdgeId, waypoint: &Waypoint) -> bool {
        let Some(spot) = program.edges[edge].place.and_then(|p| self.sources.spot(program, p)) else { return false };
        let (file, line) = self.places.physical(&spot);
        let wanted = &waypoint.location;
        if !same_file(&file, &wanted.file_name) {
            return false;
        }
        let statement = self.places.statement(&spot);
        match (wanted.column, statement) {
            (Some(column), Some(statement)) => {
                statement == (wanted.line, column) || (line, spot.column) == (wanted.line, column)
            }
            _ => line == wanted.line || statement.is_some_and(|(line, _)| line == wanted.line),
        }
    }

    /// Returns true if an edge of a call of `function` is at the location of a waypoint for the return of this call.
    fn returns_at(&self, program: &Program, edge: EdgeId, function: &str, waypoint: &Waypoint) -> bool {
        let Some(spot) = program.edges[edge].place.and_then(|p| self.sources.spot(program, p)) else { return false };
        let (file, line) = self.places.physical(&spot);
        let wanted = &waypoint.location;
        let end = self.places.call_end(&spot, function);
        same_file(&file, &wanted.file_name)
            && match (wanted.column, end) {
                (Some(column), Some(end)) => end == (wanted.line, column),
                _ => line == wanted.line,
            }
    }

    /// Returns the automaton of invariants: a path that enters a loop and satisfies its invariant reaches no target.
    fn of_invariants(&self, items: &[InvariantItem], program: &mut Program) -> (Gia, Vec<String>) {
        let (mut said, mut lost) = (Vec::new(), Vec::new());
        let heads = Loops::new(program, false, self.sources).heads();
        for InvariantItem { invariant } in items {
            match self.holds_at(invariant, &heads, program) {
                Ok(found) => said.push(found),
                Err(why) => {
                    let Invariant { location, value, .. } = invariant;
                    lost.push(format!("the invariant `{value}` of {}:{}: {why:#}", location.file_name, location.line));
                }
            }
        }
        if said.is_empty() {
            return (Gia::all_unreachable(), lost);
        }
        let mut gia = Gia::nothing();
        let end = gia.add(Some(Says::Unreachable), None);
        let mut transitions: Vec<Transition> = Vec::new();
        for (edges, condition) in said {
            transitions.push(Transition { on: Label::from_edges(edges), assumption: Some(condition), to: end });
        }
        transitions.push(Transition::others(gia.initial));
        let initial: StateId = gia.initial;
        gia.states[initial].transitions = transitions;
        (gia, lost)
    }

    /// Returns the edges into the loop head of an invariant, and its condition. `Err` if no loop starts at the
    /// location, or the condition is not understood.
    fn holds_at(
        &self,
        invariant: &Invariant,
        heads: &[LoopHead],
        program: &mut Program,
    ) -> anyhow::Result<(Vec<EdgeId>, ExprId)> {
        let wanted = &invariant.location;
        let is_here = |head: &&LoopHead| {
            let Some((file, point)) = self.place_of(head) else { return false };
            same_file(&file, &wanted.file_name)
                && point.0 == wanted.line
                && wanted.column.is_none_or(|column| point.1 == column)
        };
        let head = heads.iter().find(is_here).context("no loop begins there")?;
        let condition = c::parse(&invariant.value, Some(head.func), program).map_err(Error::msg)?;
        Ok((into(program, head), condition))
    }

    /// Returns the file and the position of the loop of a loop head.
    fn place_of(&self, head: &LoopHead) -> Option<(String, Point)> {
        head.spots.iter().find_map(|spot| {
            let (LoopPlace::Keyword(point) | LoopPlace::Body(point)) = self.places.loop_around(spot)?;
            Some((self.places.physical(spot).0, point))
        })
    }

    /// Returns the conditions of an automaton at loop heads as the content of a correctness witness, with descriptions
    /// of the conditions that are lost. A loop has one invariant for all visits of its head. If the automaton has
    /// different conditions for different visits, the invariant is their disjunction. If it has no condition for some
    /// visits, the loop has no invariant.
    pub fn invariants(&self, gia: &Gia, program: &mut Program) -> (Vec<InvariantItem>, Vec<String>) {
        let (mut items, mut lost) = (Vec::new(), Vec::new());
        let mut written: Vec<ExprId> = Vec::new();
        for head in Loops::new(program, false, self.sources).heads() {
            let edges = into(program, &head);
            let Some(said) = gia.holds_after(&edges, program).filter(|said| !said.is_empty()) else { continue };
            let mut any = said[0];
            for &e in &said[1..] {
                any = program.exprs.or(any, e);
            }
            let in_scope = |v| is_unambiguous(program, head.func, v);
            let Some((text, (file, point))) =
                c_exact(program, &program.exprs, any, &in_scope).zip(self.place_of(&head))
            else {
                lost.push(format!(
                    "a condition on {} has no C text or no loop",
                    cfa::text::c_expr(program, &program.exprs, any)
                ));
                continue;
            };
            written.extend(said);
            let function = program.funcs[head.func].name.clone();
            items.push(InvariantItem { invariant: Invariant::at_loop(file, point, function, text) });
        }
        for e in gia.conditions().into_iter().filter(|e| !written.contains(e)) {
            let text = cfa::text::c_expr(program, &program.exprs, e);
            lost.push(format!("`{text}` holds only on some paths to its location, or the location is no loop head"));
        }
        (items, lost)
    }

    /// Returns a path as the content of a violation witness, with descriptions of the lost parts. The waypoints are the
    /// sides of branches, and the inputs with a value. `values` are the values of inputs, by position in `path`. Panics
    /// if `path` is empty.
    pub fn waypoints(
        &self,
        path: &[EdgeId],
        values: &[(usize, cfa::Bv)],
        program: &Program,
    ) -> (Vec<Segment>, Vec<String>) {
        let (mut segments, mut lost) = (Vec::new(), 0);
        let last = path.len() - 1;
        for (i, &id) in path.iter().enumerate() {
            // An error in an undefined function is at the call of this function.
            let is_ours = |&&e: &&EdgeId| program.funcs[program.func_of(e)].origin == cfa::FunctionOrigin::Source;
            let id = if i == last { *path.iter().rev().find(is_ours).unwrap_or(&id) } else { id };
            let edge = &program.edges[id];
            let spot = edge.place.and_then(|p| self.sources.spot(program, p));
            let function = program.funcs[program.func_of(id)].name.clone();
            let waypoint = match &edge.op {
                _ if i == last => spot.as_ref().map(|spot| {
                    let mut location = location(spot, Some(spot.column), &function, self.places);
                    if let Some((line, column)) = self.places.statement(spot) {
                        (location.line, location.column) = (line, Some(column));
                    }
                    Waypoint::follow("target", location, None)
                }),
                Op::Assume { means, .. } => spot.as_ref().zip(*means).and_then(|(spot, means)| {
                    let (line, column) = self.places.statement(spot)?;
                    let mut location = location(spot, Some(column), &function, self.places);
                    location.line = line;
                    Some(Waypoint::follow("branching", location, Some(Constraint::new(Scalar::Bool(means), ""))))
                }),
                Op::Havoc { input, .. } => match (&program.inputs[*input].kind, values.iter().find(|(at, _)| *at == i))
                {
                    (InputKind::Nondet(called), Some((_, value))) => spot.as_ref().map(|spot| {
                        violation::call_returned(spot, called, &value.to_bigint().to_string(), &function, self.places)
                    }),
                    _ => continue,
                },
                _ => continue,
            };
            match waypoint {
                Some(waypoint) => segments.push(Segment { segment: vec![WaypointItem { waypoint }] }),
                None => lost += 1,
            }
        }
        let lost =
            (lost > 0).then(|| format!("{lost} branches or inputs that have no place of their own in the source"));
        (segments, lost.into_iter().collect())
    }
}

/// The edges that pass a waypoint.
#[derive(Default)]
/// The edges that pass the waypoint.
struct Passed {
    /// The edges that contradict the waypoint.
    edges: Vec<EdgeId>,
    /// The condition that holds after the edges.
    others: Vec<EdgeId>,
    condition: Option<ExprId>,
    /// True if the edges are calls of functions that contain the target.
    is_call: bool,
}

/// Returns the edges into a loop head.
fn into(program: &Program, head: &LoopHead) -> Vec<EdgeId> {
    let enters = |e: &cfa::Edge| e.target == head.loc && !matches!(e.op, Op::Call { .. });
    program.edges.iter().filter(|(_, e)| enters(e)).map(|(id, _)| id).collect()
}

/// Returns true if the name of a variable denotes no other variable in a function.
fn is_unambiguous(program: &Program, func: FuncId, var: cfa::VarId) -> bool {
    let named = |v: &&cfa::Var| v.name == program.vars[var].name && v.func().is_none_or(|f| f == func);
    program.vars[var].name.is_some() && program.vars.values().filter(named).count() == 1
}

/// Returns true if two names denote the same file. If the full names differ, the last components are compared, because
/// the witness may come from another machine.
fn same_file(ours: &str, theirs: &str) -> bool {
    ours == theirs || Path::new(ours).file_name() == Path::new(theirs).file_name()
}
