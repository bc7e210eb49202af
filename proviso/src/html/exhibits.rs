//! What the report shows of the program itself, as plain data that outlives it.

use crate::gia_command::picture::Lines;
use crate::source::Sources;
use cfa::blocks::{Block, blocks};
use cfa::graph::CfaGraphs;
use cfa::{CallGraph, Callee, FuncId, FunctionOrigin, Id, Op, Program};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Operations whose automata are drawn in all; functions beyond are listed without.
const MAX_STEPS: usize = 40_000;
/// Characters of an operation that are shown.
const MAX_TEXT: usize = 120;

/// Pictures of functions, lines with code, names of globals.
#[derive(Default)]
pub struct Exhibits {
    functions: Vec<Value>,
    /// By file and line: whether anything on the line is in the slice.
    code: BTreeMap<String, BTreeMap<u32, bool>>,
    globals: BTreeSet<String>,
    /// What is known of lines at the end, where a GIA was given or saved.
    pub known: Lines,
}

impl Exhibits {
    /// Of the program given, and the slice of it that was analysed.
    pub fn of(program: &Program, slice: Option<&slicer::Slice>, sources: &Sources) -> Self {
        let kept = |edge: cfa::EdgeId| slice.is_none_or(|s| s.kept[edge.index()]);
        let mut exhibits = Self::default();
        for (id, edge) in program.edges.iter() {
            let origin = program.funcs[program.func_of(id)].origin;
            if origin == FunctionOrigin::Source
                && !matches!(edge.op, Op::Skip)
                && let Some(spot) = edge.place.and_then(|p| sources.spot(program, p))
            {
                *exhibits.code.entry(spot.path).or_default().entry(spot.line).or_insert(false) |= kept(id);
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
        exhibits
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

    /// Lines with code in a file: `[line, kept]`.
    pub fn lines(&self, path: &str) -> Option<Vec<(u32, bool)>> {
        self.code.get(path).map(|lines| lines.iter().map(|(&line, &kept)| (line, kept)).collect())
    }
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
