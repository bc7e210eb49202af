//! What the report shows of the program itself, as plain data that outlives it.

use crate::evidence::lines::Lines;
use crate::source::{Sources, Spot};
use cfa::blocks::{Block, blocks};
use cfa::graph::CfaGraphs;
use cfa::{CallGraph, Callee, Check, ErrorId, FuncId, FunctionOrigin, Id, LocId, Op, Program};
use engine::arg::{Shape, Status};
use engine::coverage::Coverage;
use instrument::Site;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Operations whose automata are drawn in all; functions beyond are listed without.
const MAX_STEPS: usize = 40_000;
/// Characters of an operation that are shown.
const MAX_TEXT: usize = 120;
/// States of the abstract reachability graph that are drawn.
const MAX_STATES: usize = 20_000;

/// Pictures of functions, lines with code, names of globals, the graph of states, where something was checked.
#[derive(Default)]
pub struct Exhibits {
    functions: Vec<Value>,
    /// By file and line.
    code: BTreeMap<String, BTreeMap<u32, Code>>,
    globals: BTreeSet<String>,
    /// What is known of lines at the end, where a GIA was given or saved.
    pub known: Lines,
    /// Where each check looks.
    checked: Vec<Checked>,
    /// Of the exploration that decided or came last.
    states: Value,
    /// Whether an execution may come to code that was not reached.
    has_gaps: bool,
}

/// What is known of a line with code.
#[derive(Clone, Copy, Default)]
struct Code {
    /// Anything on it is in the slice.
    kept: bool,
    /// An exploration came there; `None` where that is not known.
    reached: Option<bool>,
}

/// A place where something is checked.
pub struct Checked {
    /// The name of the check or the property.
    pub check: String,
    pub spot: Spot,
}

impl Exhibits {
    /// Of the program given, the slice of it that was analysed, and what violations of a check are called, if it is the only question.
    pub fn of(
        program: &Program,
        slice: Option<&slicer::Slice>,
        property: Option<&dyn Fn(Check) -> String>,
        sources: &Sources,
    ) -> Self {
        let kept = |edge: cfa::EdgeId| slice.is_none_or(|s| s.kept[edge.index()]);
        let mut exhibits = Self::default();
        for (id, edge) in program.edges.iter() {
            let origin = program.funcs[program.func_of(id)].origin;
            if origin == FunctionOrigin::Source
                && !matches!(edge.op, Op::Skip)
                && let Some(spot) = edge.place.and_then(|p| sources.spot(program, p))
            {
                exhibits.code.entry(spot.path).or_default().entry(spot.line).or_default().kept |= kept(id);
            }
        }
        let is_global = |v: &&cfa::Var| v.func().is_none();
        exhibits.globals.extend(program.vars.values().filter(is_global).filter_map(|v| v.name.clone()));
        exhibits.globals.extend(program.globals.values().map(|g| g.name.clone()));

        let (graphs, calls) = (CfaGraphs::new(program), CallGraph::new(program));
        let mut drawn = 0;
        let reached = program.funcs.iter().filter(|(id, _)| calls.is_reachable(*id));
        let (mut own, models): (Vec<_>, Vec<_>) = reached.partition(|(_, f)| f.origin == FunctionOrigin::Source);
        own.extend(models);
        for (id, function) in own {
            let blocks = blocks(program, &graphs, id);
            drawn += blocks.iter().map(|b| b.steps.len()).sum::<usize>();
            let blocks = if drawn <= MAX_STEPS { blocks } else { Vec::new() };
            let spot = function.place.and_then(|p| sources.spot(program, p));
            exhibits.functions.push(json!({
                "name": function.name,
                "origin": match function.origin {
                    FunctionOrigin::Source => "source",
                    FunctionOrigin::Model => "model",
                    FunctionOrigin::Undefined => "undefined",
                },
                "file": spot.as_ref().map(|s| s.path.clone()),
                "line": spot.map(|s| s.line),
                "calls": callees(program, &calls, id),
                "blocks": blocks.iter().map(|b| block_json(program, b, &kept)).collect::<Vec<_>>(),
            }));
        }
        if let Some(property) = property {
            for site in instrument::sites(program) {
                let check = property(program.errors[site.1].check);
                exhibits.add_checked(&check, program, std::iter::once(site), sources);
            }
        }
        exhibits
    }

    /// Adds what another part of the run shows: all of them are of the same source.
    pub fn absorb(&mut self, other: Self) {
        for (path, lines) in other.code {
            let known = self.code.entry(path).or_default();
            for (line, code) in lines {
                let known = known.entry(line).or_default();
                *known = Code { kept: known.kept | code.kept, reached: known.reached.max(code.reached) };
            }
        }
        self.globals.extend(other.globals);
        self.checked.extend(other.checked);
        if other.functions.len() >= self.functions.len() {
            self.functions = other.functions;
        }
    }

    /// Notes where a check looks.
    pub fn add_checked(
        &mut self,
        check: &str,
        program: &Program,
        sites: impl Iterator<Item = (Site, ErrorId)>,
        sources: &Sources,
    ) {
        let place = |(site, error): (Site, ErrorId)| match site {
            Site::Call(edge) => program.edges[edge].place,
            Site::Lost(allocation) => program.edges[allocation.call.unwrap_or(allocation.edge)].place,
            Site::Check(edge) | Site::Fault(edge) => program.errors[error].place.or(program.edges[edge].place),
        };
        let spots = sites.filter_map(|site| sources.spot(program, place(site)?));
        self.checked.extend(spots.map(|spot| Checked { check: check.to_owned(), spot }));
    }

    /// Adds where explorations of a program came to, and their states.
    pub fn add_explored(&mut self, program: &Program, coverage: &Coverage, graph: &[Shape], sources: &Sources) {
        // Where nothing was, nothing was explored: a proof by induction, say.
        let explored = coverage.came.iter().flatten().any(|&came| came);
        self.has_gaps |= explored && !coverage.is_complete;
        for (_, edge) in program.edges.iter().filter(|(_, e)| !matches!(e.op, Op::Skip)) {
            let reached = coverage.came.get(edge.source.index()).copied().flatten().filter(|_| explored);
            if let Some(reached) = reached
                && let Some(spot) = edge.place.and_then(|p| sources.spot(program, p))
                && let Some(code) = self.code.get_mut(&spot.path).and_then(|lines| lines.get_mut(&spot.line))
            {
                code.reached = code.reached.max(Some(reached));
            }
        }
        if !graph.is_empty() {
            self.states = states_json(program, graph);
        }
    }

    pub fn checked(&self) -> &[Checked] {
        &self.checked
    }

    /// The abstract reachability graph.
    pub fn states(&self) -> &Value {
        &self.states
    }

    /// Whether no execution comes to code that was not reached.
    pub fn is_complete(&self) -> bool {
        !self.has_gaps
    }

    pub fn functions(&self) -> &[Value] {
        &self.functions
    }

    pub fn globals(&self) -> &BTreeSet<String> {
        &self.globals
    }

    /// Files with code.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.code.keys().map(String::as_str)
    }

    /// What a GIA says of the lines of a file: `[line, told]`.
    pub fn told(&self, path: &str) -> Option<Vec<(u32, &'static str)>> {
        self.known.get(path).map(|lines| lines.iter().map(|(&line, told)| (line, told.name())).collect())
    }

    /// Lines with code in a file: `[line, kept, reached]`.
    pub fn lines(&self, path: &str) -> Option<Vec<(u32, bool, Option<bool>)>> {
        self.code.get(path).map(|lines| lines.iter().map(|(&line, code)| (line, code.kept, code.reached)).collect())
    }
}

/// The states as lists: parents by number (-1 for none), functions by name, lines, and a letter for what became of each.
fn states_json(program: &Program, graph: &[Shape]) -> Value {
    let shown = &graph[..graph.len().min(MAX_STATES)];
    let line = |loc: LocId| {
        let places = program.out_edges(loc).filter_map(|e| program.edges[e].place);
        places.map(|p| program.places[p].line).find(|&line| line > 0).unwrap_or(0)
    };
    let status = |shape: &Shape| match shape.status {
        Status::Target => 'e',
        Status::Covered => 'c',
        Status::Waiting => 'w',
        Status::Expanded | Status::Pruned if shape.merged => 'm',
        Status::Expanded | Status::Pruned => 'x',
    };
    // An error is in the function of the state before it.
    let func = |shape: &Shape| {
        let at = shape.at.or_else(|| shown.get(shape.parent? as usize)?.at);
        at.map(|loc| program.locs[loc].func)
    };
    let mut names: Vec<FuncId> = shown.iter().filter_map(func).collect();
    names.sort_unstable();
    names.dedup();
    json!({
        "parents": shown.iter().map(|s| s.parent.map_or(-1, i64::from)).collect::<Vec<_>>(),
        "names": names.iter().map(|&f| program.funcs[f].name.clone()).collect::<Vec<_>>(),
        "functions": shown.iter().map(|s| func(s).and_then(|f| names.binary_search(&f).ok())).collect::<Vec<_>>(),
        "lines": shown.iter().map(|s| s.at.map_or(0, line)).collect::<Vec<_>>(),
        "status": shown.iter().map(status).collect::<String>(),
        "left_out": graph.len() - shown.len(),
    })
}

fn callees(program: &Program, calls: &CallGraph, func: FuncId) -> Vec<String> {
    let callees: BTreeSet<u32> = calls.graph().successors(func.0).iter().copied().collect();
    callees.into_iter().filter_map(|f| program.funcs.get(FuncId(f))).map(|f| f.name.clone()).collect()
}

/// A block with numbers of locations, and `[line, text, kept]` for each step.
fn block_json(program: &Program, block: &Block, kept: &dyn Fn(cfa::EdgeId) -> bool) -> Value {
    let ops = || block.steps.iter().map(|s| &program.edges[s.edge].op);
    let kind = if ops().any(|op| is_error(program, op)) {
        "error"
    } else if ops().any(|op| matches!(op, Op::Approx { .. })) {
        "approximation"
    } else {
        "plain"
    };
    let line = |place: Option<cfa::PlaceId>| place.map_or(0, |p| program.places[p].line);
    let steps = block.steps.iter().map(|s| json!([line(s.place), shortened(&s.text), kept(s.edge)]));
    let next = block.next.iter().map(|n| match &n.condition {
        Some((text, branch)) => json!([n.start.0, shortened(text), branch]),
        None => json!([n.start.0]),
    });
    json!({
        "id": block.start.0,
        "kind": kind,
        "head": block.is_loop_head,
        "steps": steps.collect::<Vec<_>>(),
        "next": next.collect::<Vec<_>>(),
    })
}

/// An error, or the call of a function that is nothing else.
fn is_error(program: &Program, op: &Op) -> bool {
    match *op {
        Op::Error(_) => true,
        Op::Call { callee: Callee::Direct(f), .. } => {
            let first = program.out_edges(program.funcs[f].entry).next();
            first.is_some_and(|e| matches!(program.edges[e].op, Op::Error(_)))
        }
        _ => false,
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_TEXT) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text.to_owned(),
    }
}
