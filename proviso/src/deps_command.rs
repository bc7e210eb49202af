//! `proviso deps`: explains why a line is in a slice.

use crate::args::DepsArgs;
use crate::message::Message;
use crate::output::{self, Colors};
use crate::slice::{SourcePosition, Subject, variables};
use annotate_snippets::Level;
use cfa::{EdgeId, FunctionOrigin, Op, Program};
use driver::failure::{Failure, exit};
use driver::files::{Outputs, STDOUT};
use driver::source::Spot;
use serde_json::{Value as Json, json};
use slicer::{Analysis, Dependence, DependenceKind, Value};
use std::collections::BTreeSet;
use std::path::Path;

/// The exit code if the line is not in the slice.
const NOT_IN_SLICE: u8 = 1;

/// Runs the command and returns the exit code.
pub fn run(args: &DepsArgs, colors: Colors) -> u8 {
    attempt(args, colors).unwrap_or_else(|failure| output::failure(&failure, colors))
}

fn attempt(args: &DepsArgs, colors: Colors) -> Result<u8, Failure> {
    let (last, files) = match args.files.split_last() {
        Some((last, files)) if !files.is_empty() => (last, files),
        _ => {
            return Err(Failure::usage(
                "write the program's files and then the place: proviso deps FILE... PLACE -c CRITERION",
            ));
        }
    };
    let text = last.display().to_string();
    let place = SourcePosition::parse(&text).ok_or_else(|| {
        Failure::usage(format!("'{text}' is no place: write LINE, FILE:LINE, FILE:LINE:COLUMN or FILE:LINE:VARIABLE"))
    })?;
    let mut outputs = Outputs::new([("--json", args.json.as_ref())]);
    let (subject, _) = Subject::load(files, &args.input, &args.dependence, &outputs)?;
    output::warnings(&subject.warnings, colors);
    let mut asked = subject.places.edges_at(&place)?;
    if let Some(name) = &place.variable {
        asked = giving(&subject.program, &asked, name);
        if asked.is_empty() {
            return Err(Failure::data(format!("no operation in line {} assigns '{name}'", place.line)));
        }
    }
    let (analysis, criteria) = subject.analyse(subject.slicing.cut_off)?;
    let explanation = analysis.explain(&criteria);
    let chain = asked.iter().filter_map(|&e| Some((explanation.chain(e)?, e))).min_by_key(|(chain, _)| chain.len());
    let told = Telling { subject: &subject, analysis: &analysis };
    let steps = chain.as_ref().map(|(chain, edge)| told.steps(chain, *edge));
    if let Some(path) = &args.json {
        let json = told.to_json(&args.dependence.criterion, &text, steps.as_deref());
        outputs.put(path, format!("{json:#}\n"));
    }
    if args.json.as_deref() != Some(Path::new(STDOUT)) {
        outputs.put(Path::new(STDOUT), told.to_text(&text, &asked, steps.as_deref(), colors.stdout));
    }
    outputs.commit()?;
    Ok(if steps.is_some() { exit::TRUE } else { NOT_IN_SLICE })
}

/// Returns those of the edges that assign a value to a variable.
fn giving(program: &Program, edges: &[EdgeId], name: &str) -> Vec<EdgeId> {
    let writes = |&&e: &&EdgeId| {
        let values = variables(program, program.func_of(e), name, &mut BTreeSet::new());
        let op = &program.edges[e].op;
        let in_memory = values.iter().any(|v| !matches!(v, Value::Var(_)));
        op.def().is_some_and(|v| values.contains(&Value::Var(v)))
            || in_memory && matches!(op, Op::Store { .. } | Op::Copy { .. } | Op::Fill { .. } | Op::Call { .. })
    };
    edges.iter().filter(writes).copied().collect()
}

/// One step of a chain that begins at the criterion: a description of the operation and of its relation to the
/// previous step.
struct ChainStep {
    what: String,
    kind: &'static str,
    spot: Option<Spot>,
    function: String,
    /// The variable or object that passes the value.
    through: Option<String>,
}

/// The description of dependences in terms of the source.
struct Telling<'a> {
    subject: &'a Subject,
    analysis: &'a Analysis<'a>,
}

impl Telling<'_> {
    fn program(&self) -> &Program {
        &self.subject.program
    }
    fn spot(&self, edge: EdgeId) -> Option<Spot> {
        self.program().edges[edge].place.and_then(|p| self.subject.places.spot(self.program(), p))
    }
    fn function(&self, edge: EdgeId) -> &cfa::Function {
        &self.program().funcs[self.program().func_of(edge)]
    }
    fn step(&self, what: String, kind: &'static str, edge: EdgeId, through: Option<String>) -> ChainStep {
        ChainStep { what, kind, spot: self.spot(edge), function: self.function(edge).name.clone(), through }
    }

    fn steps(&self, chain: &[Dependence], asked: EdgeId) -> Vec<ChainStep> {
        let first = chain.first().map_or(asked, |d| d.edge);
        let mut steps = vec![self.step("the criterion".into(), "criterion", first, None)];
        // Steps within library models are not shown. The steps of the user's program before and after them represent
        // them.
        let mut from = first;
        let mut library = None;
        for dependence in chain {
            if self.function(dependence.on).origin != FunctionOrigin::Source {
                library = Some(self.function(dependence.on).name.clone());
                continue;
            }
            let (what, kind, through) = self.describe(from, dependence, library.take());
            let step = self.step(what, kind, dependence.on, through);
            let again = steps.last().is_some_and(|last: &ChainStep| {
                last.spot == step.spot && last.kind == step.kind && last.through == step.through
            });
            if !again {
                steps.push(step);
            }
            from = dependence.on;
        }
        steps
    }

    fn describe(
        &self,
        from: EdgeId,
        d: &Dependence,
        library: Option<String>,
    ) -> (String, &'static str, Option<String>) {
        let target = match self.spot(from) {
            Some(spot) if self.spot(d.on).is_some_and(|own| own.path != spot.path) => {
                format!("{}:{}", spot.path, spot.line)
            }
            Some(spot) => format!("line {}", spot.line),
            None => "code of the compiler's".into(),
        };
        let via = library.map_or(String::new(), |name| format!(" through {name}"));
        match d.kind {
            DependenceKind::Data(datum) => {
                let name = self.analysis.name_of(datum);
                let is_call = matches!(self.program().edges[d.on].op, Op::Call { .. });
                let unnamed = name == "the result" || is_temporary(&name);
                let what = match (is_call, unnamed) {
                    (true, true) => format!("the value passed or returned by this call flows to {target}{via}"),
                    (true, false) => format!("this call passes `{name}` on to {target}{via}"),
                    (false, true) => format!("the value computed here flows to {target}{via}"),
                    (false, false) => format!("the value of `{name}` computed here flows to {target}{via}"),
                };
                (what, "data", (!is_temporary(&name)).then_some(name))
            }
            DependenceKind::Control => (format!("controls whether {target} is executed{via}"), "control", None),
            DependenceKind::Call => {
                let callee = &self.function(from).name;
                (format!("calls {callee}, which {target} is in"), "call", None)
            }
            DependenceKind::Returns => (format!("{target} is executed only if this call returns"), "returns", None),
        }
    }

    fn to_text(&self, text: &str, asked: &[EdgeId], steps: Option<&[ChainStep]>, color: bool) -> String {
        let sources = &self.subject.places.sources;
        let render = |message: Message| message.render(sources, color) + "\n\n";
        let Some(steps) = steps else {
            let spot = asked.iter().find_map(|&e| self.spot(e));
            let message = Message::new(Level::NOTE, format!("{text} is not in the slice"))
                .at(spot)
                .note("the criterion does not depend on this operation");
            return render(message);
        };
        let mut out = String::new();
        for (n, step) in steps.iter().enumerate() {
            let label = format!("in {}", step.function);
            let last = n + 1 == steps.len();
            let title = if last { format!("{} (the place asked about)", step.what) } else { step.what.clone() };
            let level = if n == 0 { Level::INFO } else { Level::NOTE };
            out.push_str(&render(Message::new(level, title).at(step.spot.clone()).label(label)));
        }
        out
    }

    fn to_json(&self, criteria: &[String], place: &str, steps: Option<&[ChainStep]>) -> Json {
        let step = |s: &ChainStep| {
            let location = s
                .spot
                .as_ref()
                .map(|at| json!({"file": at.path, "line": at.line, "column": (at.column > 0).then_some(at.column)}));
            json!({"kind": s.kind, "text": s.what, "function": s.function, "through": s.through, "location": location})
        };
        json!({
            "schema": "proviso-deps-1",
            "tool": {"name": "proviso", "version": env!("CARGO_PKG_VERSION")},
            "criteria": criteria,
            "place": place,
            "in_slice": steps.is_some(),
            "chain": steps.map(|steps| steps.iter().map(step).collect::<Vec<Json>>()),
        })
    }
}

/// Returns true if C has no name for the variable.
fn is_temporary(name: &str) -> bool {
    name.strip_prefix('v').is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
}
