//! The data of the HTML report about the program: its functions, lines, places of checks, and explored states. The data
//! does not refer to the program, so it outlives it.

use crate::evidence::lines::Lines;
use crate::evidence::wording::{Wording, is_internal};
use crate::source::{Sources, Spot};
use cfa::blocks::{Block, blocks};
use cfa::graph::CfaGraphs;
use cfa::{CallGraph, Callee, Check, ErrorId, FuncId, FunctionOrigin, Id, LocId, Op, Program};
use engine::arg::{ArgNode, Status};
use engine::coverage::Coverage;
use instrument::Site;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Maximal number of operations in all drawn automata together. Further functions are listed without automata.
const MAX_STEPS: usize = 40_000;
/// Maximal number of characters of an operation.
const MAX_TEXT: usize = 120;
/// Maximal number of states of the abstract reachability graph that are drawn.
const MAX_STATES: usize = 20_000;

/// The data of the HTML report about the program: automata of functions, lines with code, names of globals, the abstract
/// reachability graph, and the places of checks.
#[derive(Default)]
pub struct ReportData {
    functions: Vec<Value>,
    /// The lines with code, by file and line number.
    code: BTreeMap<String, BTreeMap<u32, Code>>,
    globals: BTreeSet<String>,
    /// The claims of the final GIA about lines, if the run reads or saves a GIA.
    pub known: Lines,
    /// The places that each check examines.
    checked: Vec<Checked>,
    /// The abstract reachability graph of the exploration that decided, or else of the last one.
    states: Value,
    /// True if an exploration was incomplete, so that executions may reach code that it did not reach.
    has_gaps: bool,
}

/// The facts about a line with code.
#[derive(Clone, Copy, Default)]
struct Code {
    /// True if an operation of the line is in the slice.
    kept: bool,
    /// True if an exploration reached the line; `None` if that is unknown.
    reached: Option<bool>,
}

/// A place that a check examines.
pub struct Checked {
    /// The name of the check or the property.
    pub check: String,
    /// The source place.
    pub spot: Spot,
}

impl ReportData {
    /// Collects the data of `program`. `slice` is the slice that was analysed. `property` maps a check to the name of
    /// its violations; it is `Some` if the program is analysed for a single question, and then the places of the checks
    /// are collected, too.
    pub fn collect(
        program: &Program,
        slice: Option<&slicer::Slice>,
        property: Option<&dyn Fn(Check) -> String>,
        sources: &Sources,
    ) -> Self {
        let kept = |edge: cfa::EdgeId| slice.is_none_or(|s| s.kept[edge.index()]);
        let mut report_data = Self::default();
        for (id, edge) in program.edges.iter() {
            let origin = program.funcs[program.func_of(id)].origin;
            if origin == FunctionOrigin::Source
                && !matches!(edge.op, Op::Skip)
                && let Some(spot) = edge.place.and_then(|p| sources.spot(program, p))
            {
                report_data.code.entry(spot.path).or_default().entry(spot.line).or_default().kept |= kept(id);
            }
        }
        let is_global = |v: &&cfa::Var| v.func().is_none();
        report_data.globals.extend(program.vars.values().filter(is_global).filter_map(|v| v.name.clone()));
        report_data.globals.extend(program.globals.values().map(|g| g.name.clone()));
        // Literals and initialisers of local variables have no names in C.
        report_data
            .globals
            .retain(|name| !is_internal(name) && !name.starts_with('.') && !name.starts_with("__const."));

        let (graphs, calls) = (CfaGraphs::new(program), CallGraph::new(program));
        let mut drawn = 0;
        let reached = program.funcs.iter().filter(|(id, _)| calls.is_reachable(*id));
        let (mut own, models): (Vec<_>, Vec<_>) = reached.partition(|(_, f)| f.origin == FunctionOrigin::Source);
        own.extend(models.into_iter().filter(|(_, f)| !is_internal(&f.name)));
        let wording = Wording::new(program, sources);
        let text = |edge: cfa::EdgeId| match program.edges[edge].op {
            Op::Assume { .. } => Some(wording.operation(edge)),
            _ => wording.statement(edge),
        };
        for (id, function) in own {
            // The code of library models is not the program's.
            let is_shown = function.origin == FunctionOrigin::Source && drawn <= MAX_STEPS;
            let blocks = if is_shown { blocks(program, &graphs, id, &text) } else { Vec::new() };
            drawn += blocks.iter().map(|b| b.steps.len()).sum::<usize>();
            let blocks = if drawn <= MAX_STEPS { blocks } else { Vec::new() };
            let spot = function.place.and_then(|p| sources.spot(program, p));
            report_data.functions.push(json!({
                "name": function.name,
                "origin": match function.origin {
                    FunctionOrigin::Source => "source",
                    FunctionOrigin::Model => "model",
                    FunctionOrigin::Undefined => "undefined",
                },
                "file": spot.as_ref().map(|s| s.path.clone()),
                "line": spot.map(|s| s.line),
                "calls": callees(program, &calls, id).into_iter().filter(|name| !is_internal(name)).collect::<Vec<_>>(),
                "blocks": blocks.iter().map(|b| block_json(program, b, &kept)).collect::<Vec<_>>(),
            }));
        }
        if let Some(property) = property {
            for site in instrument::sites(program) {
                let check = property(program.errors[site.1].check);
                report_data.add_checked(&check, program, std::iter::once(site), sources);
            }
        }
        report_data
    }

    /// Adds the data of another part of the run. All parts are about the same source.
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

    /// Adds source places that a check examines.
    pub fn add_spots(&mut self, check: &str, spots: impl IntoIterator<Item = Spot>) {
        self.checked.extend(spots.into_iter().map(|spot| Checked { check: check.to_owned(), spot }));
    }

    /// Adds the source places of the sites that a check examines. Checks for leaks are at the ends of executions, which
    /// are no places of the source.
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
        let is_at_end =
            |site: &Site| matches!(*site, Site::Fault(edge) if matches!(program.edges[edge].op, Op::Leak(_)));
        let sites = sites.filter(|(site, _)| !is_at_end(site));
        self.add_spots(check, sites.filter_map(|site| sources.spot(program, place(site)?)));
    }

    /// Adds the locations that explorations of a program reached, and the abstract reachability graph.
    pub fn add_explored(&mut self, program: &Program, coverage: &Coverage, graph: &[ArgNode], sources: &Sources) {
        // If no location was reached, nothing was explored: the proof may be one by induction.
        let explored = coverage.visited.iter().flatten().any(|&visited| visited);
        self.has_gaps |= explored && !coverage.is_complete;
        for (_, edge) in program.edges.iter().filter(|(_, e)| !matches!(e.op, Op::Skip)) {
            let reached = coverage.visited.get(edge.source.index()).copied().flatten().filter(|_| explored);
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

    /// Returns the places that the checks examine.
    pub fn checked(&self) -> &[Checked] {
        &self.checked
    }

    /// Returns the abstract reachability graph as JSON.
    pub fn states(&self) -> &Value {
        &self.states
    }

    /// Returns true if no execution reaches code that no exploration reached.
    pub fn is_complete(&self) -> bool {
        !self.has_gaps
    }

    /// Returns the functions with their automata as JSON.
    pub fn functions(&self) -> &[Value] {
        &self.functions
    }

    /// Returns the names of global variables and objects.
    pub fn globals(&self) -> &BTreeSet<String> {
        &self.globals
    }

    /// Returns the paths of the files with code.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.code.keys().map(String::as_str)
    }

    /// Returns the claims of the final GIA about the lines of a file, as pairs of line number and claim. Returns `None`
    /// if there are none.
    pub fn claims(&self, path: &str) -> Option<Vec<(u32, &'static str)>> {
        self.known.get(path).map(|lines| lines.iter().map(|(&line, claim)| (line, claim.name())).collect())
    }

    /// Returns the lines with code in a file: the line number, true if the line is in the slice, and true if an
    /// exploration reached it (`None` if unknown). Returns `None` for a file without code.
    pub fn lines(&self, path: &str) -> Option<Vec<(u32, bool, Option<bool>)>> {
        self.code.get(path).map(|lines| lines.iter().map(|(&line, code)| (line, code.kept, code.reached)).collect())
    }
}

/// Returns the states as lists: the index of the parent (-1 for none), the index of the function in `names`, the line,
/// and a letter for the status: `e` target, `c` covered, `w` waiting, `m` merged, `x` expanded or pruned.
fn states_json(program: &Program, graph: &[ArgNode]) -> Value {
    let shown = &graph[..graph.len().min(MAX_STATES)];
    let line = |loc: LocId| {
        let places = program.out_edges(loc).filter_map(|e| program.edges[e].place);
        places.map(|p| program.places[p].line).find(|&line| line > 0).unwrap_or(0)
    };
    let status = |node: &ArgNode| match node.status {
        Status::Target => 'e',
        Status::Covered => 'c',
        Status::Waiting => 'w',
        Status::Expanded | Status::Pruned if node.merged => 'm',
        Status::Expanded | Status::Pruned => 'x',
    };
    // An error state belongs to the function of its parent.
    let func = |node: &ArgNode| {
        let at = node.at.or_else(|| shown.get(node.parent? as usize)?.at);
        at.map(|loc| program.locs[loc].func)
    };
    // Functions that are internal to the library models have no names in C.
    let name = |f: FuncId| match is_internal(&program.funcs[f].name) {
        true => "the C library",
        false => program.funcs[f].name.as_str(),
    };
    let mut names: Vec<FuncId> = shown.iter().filter_map(func).collect();
    names.sort_unstable();
    names.dedup();
    json!({
        "parents": shown.iter().map(|s| s.parent.map_or(-1, i64::from)).collect::<Vec<_>>(),
        "names": names.iter().map(|&f| name(f)).collect::<Vec<_>>(),
        "functions": shown.iter().map(|s| func(s).and_then(|f| names.binary_search(&f).ok())).collect::<Vec<_>>(),
        "lines": shown.iter().map(|s| s.at.map_or(0, line)).collect::<Vec<_>>(),
        "status": shown.iter().map(status).collect::<String>(),
        "left_out": graph.len() - shown.len(),
    })
}

/// Returns the names of the functions that a function may call.
fn callees(program: &Program, calls: &CallGraph, func: FuncId) -> Vec<String> {
    let callees: BTreeSet<u32> = calls.graph().successors(func.0).iter().copied().collect();
    callees.into_iter().filter_map(|f| program.funcs.get(FuncId(f))).map(|f| f.name.clone()).collect()
}

/// Returns a block as JSON. Locations are numbers; each step is `[line, text, kept]`.
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

/// Returns true if the operation is an error, or the call of a function that starts with an error.
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

/// Returns the first [`MAX_TEXT`] characters of a text, with an ellipsis if it is longer.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_TEXT) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text.to_owned(),
    }
}
