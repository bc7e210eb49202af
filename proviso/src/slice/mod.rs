//! The command `proviso slice`. It computes the part of a program that affects a place in the program.

mod blank;
pub mod criteria;
#[cfg(test)]
mod hidden_states;
mod lines;
mod numbering;
mod subject;

pub use criteria::{SourcePosition, variables};
pub use subject::Subject;

use crate::args::SliceArgs;
use crate::c_scan::{Item, Source};
use crate::output::{self, Colors};
use blank::{Blanked, Code};
use cfa::{Edge, EdgeId, Family, FuncId, HaltKind, Id, Op, PlaceId, Program};
use driver::failure::{Failure, exit};
use driver::files::{Outputs, STDOUT};
use frontend_llvm::{Cut, KeptPart, Size, Unused};
use lines::Lines;
use numbering::Numbering;
use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Value, json};
use slicer::{Analysis, Criterion, Slice};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Runs the command and returns the exit code.
pub fn run(args: &SliceArgs, colors: Colors) -> u8 {
    match attempt(args, colors) {
        Ok(()) => exit::TRUE,
        Err(failure) => output::failure(&failure, colors),
    }
}

fn attempt(args: &SliceArgs, colors: Colors) -> Result<(), Failure> {
    let start = Instant::now();
    let stdout = Path::new(STDOUT);
    let named = [("--output", &args.output), ("--c", &args.blank), ("--dot", &args.dot), ("--json", &args.json)];
    // If `--c` names a folder, its output files are known only after the program is loaded.
    let is_file = |path: &&PathBuf| args.blank.as_ref() != Some(path) || args.files.len() == 1 && !path.is_dir();
    let mut outputs = Outputs::new(named.map(|(option, path)| (option, path.as_ref().filter(is_file))));
    let wants_text = args.output.as_deref().is_some_and(|p| p.extension().is_some_and(|e| e == "ll"));
    let (subject, cut) = Subject::load(&args.files, &args.input, &args.dependence, &outputs)?;
    output::warnings(&subject.warnings, colors);
    let blanks = args.blank.as_ref().map_or(Ok(Vec::new()), |path| places_for_blanked(&subject, path))?;
    let cut_off = subject.slicing.cut_off && !args.forward;
    for what in &subject.unmodelled {
        output::warning(
            &format!("this is not modelled; the slice assumes that it reads and writes only its operands: {what}"),
            colors,
        );
    }
    let (mut analysis, criteria) = subject.analyse(cut_off)?;
    let mut report =
        Report { files: subject.inputs(), criteria: args.dependence.criterion.clone(), ..Report::default() };
    report.times.push(("load".into(), subject.loading));

    let kept = if args.forward {
        let before = Instant::now();
        let kept = analysis.forward(&criteria).kept;
        report.times.push(("forward walk".into(), before.elapsed()));
        kept
    } else {
        let slice = analysis.slice(&criteria);
        report.slice(&slice);
        unreached(&subject, &slice, colors)?;
        let part = Selection::new(&subject.program, &slice);
        if args.output.is_some() || args.stats || args.json.is_some() {
            let before = Instant::now();
            report.instructions.0 = cut.size();
            let (bytes, size) = part.write(&subject.program, &slice, cut, wants_text)?;
            report.instructions.1 = size;
            report.times.push(("writing".into(), before.elapsed()));
            if let Some(path) = &args.output {
                outputs.put(path, bytes);
            }
        }
        if !blanks.is_empty() {
            let before = Instant::now();
            let files: Vec<&Path> = blanks.iter().map(|(file, _)| file.as_path()).collect();
            let texts = if cut_off {
                // C has no statement that ends a path silently, so the blanked files keep the original ends of paths.
                let (mut analysis, criteria) = subject.analyse(false)?;
                let whole = analysis.slice(&criteria);
                blanked(&subject, &files, (&mut analysis, &criteria), whole, &slice.alive, colors)?
            } else {
                let useful = slice.alive.clone();
                blanked(&subject, &files, (&mut analysis, &criteria), slice, &useful, colors)?
            };
            for ((_, path), text) in blanks.iter().zip(texts) {
                outputs.put(path, text);
            }
            report.times.push(("blanking".into(), before.elapsed()));
        }
        part.kept
    };
    let lines = Lines::new(&subject, &kept);
    report.lines = (lines.with_code(), lines.kept().count());
    report.times.push(("total".into(), start.elapsed()));

    let text_is_asked = args.lines || args.annotate || args.stats || args.json.as_deref() == Some(stdout);
    let nothing_else = named.iter().all(|(_, path)| path.is_none()) && !text_is_asked;
    if args.lines {
        outputs.put(stdout, lines.kept().map(|(file, line)| format!("{file}:{line}\n")).collect::<String>());
    }
    if args.annotate || nothing_else {
        outputs.put(stdout, lines.annotated(&subject.places.sources, colors.stdout));
    }
    if let Some(path) = &args.dot {
        outputs.put(path, analysis.dot(Some(&kept)));
    }
    if let Some(path) = &args.json {
        let json = report.to_json(&subject.program, &lines, args.forward);
        outputs.put(path, format!("{json:#}\n"));
    }
    if args.stats {
        let text = report.to_text();
        if args.output.as_deref() == Some(stdout) { output::print_error(&text) } else { outputs.put(stdout, text) }
    }
    outputs.commit()
}

/// Warns about the criteria that control never reaches. `Err` for such a criterion if an input is not C: in bitcode, an
/// optimiser may have inlined the function without a trace.
fn unreached(subject: &Subject, slice: &Slice, colors: Colors) -> Result<(), Failure> {
    let alive = |c: &Criterion| slice.alive[subject.program.edges[c.edge].source.index()];
    for (text, _) in subject.by_text().filter(|(_, all)| !all.iter().any(alive)) {
        let what = format!("no execution can reach the criterion '{text}'");
        if !subject.options.inputs.iter().all(|input| is_c(&input.path)) {
            let mut failure = Failure::data(what);
            failure.detail = Some(
                "  = note: the bitcode contains it only in code that is never executed; an optimiser may have inlined it\n  \
                 = help: compile without -O, or with __attribute__((noinline))"
                    .into(),
            );
            return Err(failure);
        }
        output::warning(&what, colors);
    }
    Ok(())
}

/// Returns true if the file is C, by its extension.
fn is_c(file: &Path) -> bool {
    file.extension().is_some_and(|e| e == "c" || e == "i")
}

/// Returns the C files of the program, each with the path of its blanked version. The path is `path` itself, or a file
/// of the same name in the folder `path`, which is created if it does not exist.
///
/// `Err` if the program has no C file, if the folder cannot be created, or if an output would overwrite an input.
fn places_for_blanked(subject: &Subject, path: &Path) -> Result<Vec<(PathBuf, PathBuf)>, Failure> {
    let files: Vec<PathBuf> = subject.options.files().into_iter().filter(|f| is_c(f)).collect();
    let places: Vec<(PathBuf, PathBuf)> = match files[..] {
        [] => return Err(Failure::usage("--c needs a program with a C file")),
        [ref file] if !path.is_dir() => return Ok(vec![(file.clone(), path.to_owned())]),
        _ => files.iter().map(|f| (f.clone(), path.join(f.file_name().unwrap_or_default()))).collect(),
    };
    if path == Path::new(STDOUT) {
        return Err(Failure::usage("--c needs a folder for a program with several C files"));
    }
    std::fs::create_dir_all(path).map_err(|e| Failure::writing(path, &e))?;
    let inputs = subject.options.files();
    Outputs::new(places.iter().map(|(_, place)| ("--c", Some(place)))).check(inputs.iter().map(PathBuf::as_path))?;
    Ok(places)
}

/// Returns the texts of these C files with the code blanked that is not kept. A name that one file mentions stays in
/// the others. `Err` if a file cannot be read or compiled.
///
/// A statement remains completely if a part of it is in the slice. So its other parts are added to the slice, until no
/// statement remains with parts that are not in the slice. `useful` is true for the locations from which a criterion is
/// reachable.
fn blanked(
    subject: &Subject,
    files: &[&Path],
    (analysis, criteria): (&mut Analysis, &[Criterion]),
    mut slice: Slice,
    useful: &[bool],
    colors: Colors,
) -> Result<Vec<String>, Failure> {
    let read = |file: &&Path| {
        let text = std::fs::read(file).map_err(|e| Failure::reading(file, &e))?;
        Ok::<String, Failure>(String::from_utf8_lossy(&text).into_owned())
    };
    let texts: Vec<String> = files.iter().map(read).collect::<Result<_, _>>()?;
    let mut files: Vec<CFile> =
        files.iter().zip(&texts).map(|(file, text)| CFile::new(subject, file, text, &slice.alive, useful)).collect();
    let mut complete: BTreeSet<EdgeId> = BTreeSet::new();
    loop {
        let part = Selection::new(&subject.program, &slice);
        files.iter_mut().for_each(|file| file.select(subject, &part, &slice));
        let mut is_complete = true;
        for edge in files.iter().flat_map(CFile::remaining) {
            let is_new = part.lacks(&subject.program, &slice, edge) && complete.insert(edge);
            is_complete &= !is_new;
        }
        if is_complete {
            let all = blank_all(subject, &mut files, &part)?;
            // Functions that remain completely may have been added.
            is_complete = !files
                .iter()
                .flat_map(CFile::remaining)
                .any(|edge| part.lacks(&subject.program, &slice, edge) && !complete.contains(&edge));
            if is_complete {
                warn_of_given_up(&all, colors);
                return Ok(all.into_iter().map(|b| b.text).collect());
            }
            continue;
        }
        slice = analysis.slice_with(criteria, &complete.iter().copied().collect::<Vec<_>>());
    }
}

/// Blanks the files for a slice. `Err` if a file cannot be compiled.
fn blank_all(subject: &Subject, files: &mut [CFile], part: &Selection) -> Result<Vec<Blanked>, Failure> {
    let several = files.len() > 1;
    let mut needed = if several { names_kept(&subject.program, part) } else { BTreeSet::new() };
    loop {
        let blank = |file: &mut CFile| {
            blank::blank(&file.source, &file.code, &needed, &mut file.whole, |text| {
                let lines = frontend_llvm::errors_in(text, file.path, &subject.options);
                lines.map_err(|e| driver::load::loading(&e))
            })
        };
        let all: Vec<Blanked> = files.iter_mut().map(blank).collect::<Result<_, _>>()?;
        let before = needed.len();
        if several {
            needed.extend(all.iter().flat_map(|b| blank::words(&b.text)).map(str::to_owned));
        }
        if needed.len() == before {
            return Ok(all);
        }
    }
}

/// Warns about functions that keep their original text.
fn warn_of_given_up(all: &[Blanked], colors: Colors) {
    let given_up: Vec<String> = all.iter().flat_map(|b| b.given_up.clone()).collect();
    if !given_up.is_empty() {
        let (verb, rest) = if given_up.len() == 1 { ("stays", "its rest") } else { ("stay", "their rests") };
        let what = format!(
            "{} {verb} whole: without the removed parts, {rest} would not compile, or line directives hide the places",
            given_up.join(", ")
        );
        output::warning(&what, colors);
    }
}

/// Returns the names of the functions and variables that the kept part of the program uses, including uses in macros.
fn names_kept(program: &Program, part: &Selection) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut seen = rustc_hash::FxHashSet::default();
    for (edge, _) in program.edges.iter().filter(|(e, _)| part.kept[e.index()]) {
        if let Op::Call { callee: cfa::Callee::Direct(f), .. } = &program.edges[edge].op {
            names.insert(program.funcs[*f].name.clone());
        }
        program.edges[edge].op.for_each_expr(|e| {
            program.exprs.visit(e, &mut seen, |_, node| match *node {
                cfa::Expr::GlobalAddr(g) => drop(names.insert(program.globals[g].name.clone())),
                cfa::Expr::FuncAddr(f) => drop(names.insert(program.funcs[f].name.clone())),
                _ => {}
            });
        });
    }
    names
}

/// A C file that is blanked.
struct CFile<'a> {
    path: &'a Path,
    source: Source<'a>,
    /// The positions of its code, and those of the code that is in the slice.
    code: Code,
    /// The edges at each position.
    edges: BTreeMap<usize, &'a [EdgeId]>,
    /// The indices of the items that keep their original text.
    whole: BTreeSet<usize>,
}

impl<'a> CFile<'a> {
    /// Finds the code of a file. `alive` is true for the locations that are executed, and `useful` for those from which
    /// a criterion is reachable.
    fn new(subject: &'a Subject, path: &'a Path, text: &'a str, alive: &[bool], useful: &[bool]) -> Self {
        let source = Source::new(text);
        let numbering = Numbering::new(path, &source);
        let mut code = Code::default();
        let mut edges_at: BTreeMap<usize, &[EdgeId]> = BTreeMap::new();
        let returns = |(_, edge): &(EdgeId, &Edge)| matches!(edge.op, Op::Return { .. }) && alive[edge.source.index()];
        let returning: FxHashSet<FuncId> =
            subject.program.edges.iter().filter(returns).map(|(id, _)| subject.program.func_of(id)).collect();
        let mut known: FxHashMap<&str, Option<usize>> = FxHashMap::default();
        let mut is_unclear = false;
        for ((name, line), columns) in &subject.places.code {
            let Some(file) = *known.entry(name).or_insert_with(|| numbering.name(name)) else { continue };
            let Some(start) = numbering.start(file, *line) else {
                is_unclear = true;
                continue;
            };
            for (&column, edges) in columns {
                let at = start + column.saturating_sub(1) as usize;
                code.all.insert(at);
                edges_at.insert(at, edges);
                if edges.iter().any(|e| useful[subject.program.edges[*e].source.index()]) {
                    code.alive.insert(at);
                }
                if edges.iter().any(|e| returning.contains(&subject.program.func_of(*e))) {
                    code.returning.insert(at);
                }
                let is_call = |e: &EdgeId| match &subject.program.edges[*e].op {
                    Op::Call { callee: cfa::Callee::Direct(f), .. } => {
                        let name = &subject.program.funcs[*f].name[..];
                        let rest = text.get(at..).and_then(|text| text.strip_prefix(name));
                        rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
                    }
                    Op::Call { .. } => true,
                    _ => false,
                };
                if edges.iter().any(is_call) {
                    code.calls.insert(at);
                }
            }
        }
        let position = |path: &str, line: u32, column: u32| {
            let file = known.get(path).copied().unwrap_or_else(|| numbering.name(path))?;
            Some(numbering.start(file, line)? + column.saturating_sub(1) as usize)
        };
        code.next = next_positions(subject, alive, position);
        // Line directives may give several lines the same number, or a name that is not found. The code is not known then,
        // and stays.
        let functions = subject.program.funcs.values().filter(|func| func.origin == cfa::FunctionOrigin::Source);
        let functions: FxHashSet<&str> = functions.map(|func| &func.name[..]).collect();
        let is_lost = |item: &Item| match item {
            Item::Function { name, body, .. } => {
                functions.contains(source.word(*name)) && code.all.range(source.bytes(body.span())).next().is_none()
            }
            _ => false,
        };
        let mut whole = BTreeSet::new();
        if numbering.is_changed() {
            whole.extend((0..source.items.len()).filter(|&n| is_unclear || is_lost(&source.items[n])));
        }
        Self { path, source, code, edges: edges_at, whole }
    }

    /// Selects the code that is in a slice.
    fn select(&mut self, subject: &Subject, part: &Selection, slice: &Slice) {
        let code = &mut self.code;
        [&mut code.kept, &mut code.idle_assignments, &mut code.idle_returns, &mut code.ends]
            .into_iter()
            .for_each(BTreeSet::clear);
        let edge_of = |e: &EdgeId| &subject.program.edges[*e];
        for (&at, edges) in &self.edges {
            let is_assignment =
                |e: &&EdgeId| matches!(edge_of(e).op, Op::Assign { .. } | Op::Store { .. } | Op::Copy { .. });
            let mut assignments = edges.iter().filter(is_assignment);
            if assignments.clone().next().is_some() && assignments.all(|edge| !part.kept[edge.index()]) {
                code.idle_assignments.insert(at);
            }
            let executed = |e: &EdgeId| slice.alive[edge_of(e).source.index()];
            let is_end = |e: &EdgeId| {
                matches!(edge_of(e).op, Op::Call { .. }) && executed(e) && !slice.alive[edge_of(e).target.index()]
            };
            if edges.iter().any(is_end) && !edges.iter().any(|e| part.kept[e.index()]) {
                code.ends.insert(at);
            }
            for edge in edges.iter().filter(|e| part.kept[e.index()]) {
                code.kept.insert(at);
                if matches!(edge_of(edge).op, Op::Return { .. }) && part.has_unused(&subject.program, slice, *edge) {
                    code.idle_returns.insert(at);
                }
            }
        }
    }

    /// Returns the edges of the code that remains.
    fn remaining(&self) -> Vec<EdgeId> {
        let positions = blank::remaining(&self.source, &self.code, &self.whole);
        positions.iter().flat_map(|at| self.edges[at]).copied().collect()
    }
}

/// Returns, for each position of executed code, the positions of the code that may be executed next. The position
/// [`blank::RETURNED`] follows the end of a function. `position` returns the position of a path, line and column, or
/// `None` if it is not in the file.
fn next_positions(
    subject: &Subject,
    alive: &[bool],
    position: impl Fn(&str, u32, u32) -> Option<usize>,
) -> BTreeMap<usize, BTreeSet<usize>> {
    let program = &subject.program;
    let spots = |place: PlaceId| -> Vec<usize> {
        let chain = std::iter::successors(Some(place), |&p| program.places[p].inlined_at);
        let spots = chain.filter_map(|p| subject.places.spot(program, p));
        spots.filter_map(|spot| position(&spot.path, spot.line, spot.column)).collect()
    };
    let mut known: FxHashMap<PlaceId, Vec<usize>> = FxHashMap::default();
    let mut positions: FxHashMap<EdgeId, Vec<usize>> = FxHashMap::default();
    for (id, edge) in program.edges.iter() {
        let has_place = program.funcs[program.func_of(id)].origin == cfa::FunctionOrigin::Source
            && !subject.places.added.contains(&id);
        let Some(place) = edge.place.filter(|_| has_place && alive[edge.source.index()]) else { continue };
        let here = known.entry(place).or_insert_with(|| spots(place));
        if !here.is_empty() {
            positions.insert(id, here.clone());
        }
    }
    let mut next: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for (id, here) in &positions {
        let edge = &program.edges[*id];
        let mut found = BTreeSet::new();
        let mut seen = FxHashSet::default();
        let mut pending = Vec::new();
        match edge.op {
            Op::Return { .. } => drop(found.insert(blank::RETURNED)),
            Op::Halt(_) | Op::Error(_) => {}
            _ => pending.push(edge.target),
        }
        while let Some(loc) = pending.pop() {
            if !alive[loc.index()] || !seen.insert(loc) {
                continue;
            }
            for e in program.out_edges(loc) {
                match positions.get(&e) {
                    Some(there) => found.extend(there),
                    None => pending.push(program.edges[e].target),
                }
            }
        }
        if let Some(&jump) = subject.places.jumps.get(id) {
            let jump = known.entry(jump).or_insert_with(|| spots(jump));
            if !jump.is_empty() {
                jump.iter().for_each(|at| next.entry(*at).or_default().extend(&found));
                found = jump.iter().copied().collect();
            }
        }
        for at in here {
            next.entry(*at).or_default().extend(&found);
        }
    }
    next
}

/// A slice in terms of the edges of the program.
struct Selection {
    /// True for edges that are executed in the slice, by edge.
    kept: Vec<bool>,
    /// True for edges that have an edge in the slice, by edge.
    observed: Vec<bool>,
    /// The edges of the slice, by the edges of the program, if the operation was simplified: calls, returns and ends.
    simpler: FxHashMap<EdgeId, EdgeId>,
}

impl Selection {
    /// Returns the selection of a slice.
    fn new(program: &Program, slice: &Slice) -> Self {
        let mut selection = Self {
            kept: vec![false; program.edges.len()],
            observed: vec![false; program.edges.len()],
            simpler: FxHashMap::default(),
        };
        for (id, original) in slice.original.iter() {
            let Some(original) = *original else { continue };
            let (now, then) = (&slice.program.edges[id].op, &program.edges[original].op);
            selection.observed[original.index()] = true;
            selection.kept[original.index()] = *now != Op::Skip || *then == Op::Skip;
            if now != then {
                selection.simpler.insert(original, id);
            }
        }
        selection
    }

    /// Returns true if the slice does not use all operands of the operation of an edge.
    fn has_unused(&self, program: &Program, slice: &Slice, edge: EdgeId) -> bool {
        let is_unused = |s: &EdgeId| unused(program, edge, &slice.program.edges[*s].op) != Unused::default();
        self.simpler.get(&edge).is_some_and(is_unused)
    }

    /// Returns true if the program executes the operation of an edge, but the slice does not, or not with all operands.
    fn lacks(&self, program: &Program, slice: &Slice, edge: EdgeId) -> bool {
        let Edge { op, source, .. } = &program.edges[edge];
        let has_effect = !matches!(op, Op::Skip | Op::Free { family: Family::Scope, .. });
        has_effect && slice.alive[source.index()] && (!self.kept[edge.index()] || self.has_unused(program, slice, edge))
    }

    /// Writes the slice as bitcode, or as LLVM assembly if `text` is true. Returns its bytes and its size.
    fn write(&self, program: &Program, slice: &Slice, cut: Cut, text: bool) -> Result<(Vec<u8>, Size), Failure> {
        let unused = |edge: EdgeId| match self.simpler.get(&edge) {
            Some(&simpler) => unused(program, edge, &slice.program.edges[simpler].op),
            None => Unused::default(),
        };
        let part =
            KeptPart { program, kept: &self.kept, observed: &self.observed, alive: &slice.alive, unused: &unused };
        cut.write(&part, text).map_err(|e| driver::load::loading(&e))
    }
}

/// Returns the operands of an operation that its simplified form does not use.
fn unused(program: &Program, edge: EdgeId, simpler: &Op) -> Unused {
    match (&program.edges[edge].op, simpler) {
        (Op::Call { args, varargs, .. }, Op::Call { args: now, varargs: varargs_now, .. }) => Unused {
            arguments: (0..args.len()).filter(|&i| args[i] != now[i]).map(|i| i as u32).collect(),
            variadic: varargs.is_some() && varargs_now.is_none(),
        },
        (Op::Return { value: Some(then) }, Op::Return { value: Some(now) }) if then != now => {
            Unused { arguments: vec![0], variadic: false }
        }
        (Op::Halt(HaltKind::Exit(then)), Op::Halt(HaltKind::Exit(now)))
        | (Op::Halt(HaltKind::ExitNow(then)), Op::Halt(HaltKind::ExitNow(now)))
            if then != now =>
        {
            Unused { arguments: vec![0], variadic: false }
        }
        _ => Unused::default(),
    }
}

/// The sizes and times of slicing.
#[derive(Default)]
struct Report {
    files: Vec<String>,
    criteria: Vec<String>,
    /// The sizes of the module before and after slicing.
    instructions: (Size, Size),
    /// The number of lines with code, and the number of kept lines.
    lines: (usize, usize),
    counters: Vec<(&'static str, usize)>,
    times: Vec<(String, Duration)>,
}

impl Report {
    /// Adds the statistics of a slice.
    fn slice(&mut self, slice: &Slice) {
        let stats = &slice.stats;
        self.counters = vec![
            ("edges before", stats.edges.0),
            ("edges after", stats.edges.1),
            ("memory regions", stats.regions),
            ("nodes", stats.nodes),
            ("dependences", stats.dependences),
        ];
        self.times.extend(stats.phases.iter().map(|p| (p.name.to_owned(), p.time)));
    }

    /// Returns the report as text.
    fn to_text(&self) -> String {
        let mut out = format!("{:22} {:>12} {:>12}\n", "", "before", "after");
        let (before, after) = self.instructions;
        if before != Size::default() {
            let _ = writeln!(out, "{:22} {:>12} {:>12}", "instructions", before.instructions, after.instructions);
            let _ = writeln!(out, "{:22} {:>12} {:>12}", "functions", before.functions, after.functions);
        }
        let _ = writeln!(out, "{:22} {:>12} {:>12}\n", "lines", self.lines.0, self.lines.1);
        for (name, count) in &self.counters {
            let _ = writeln!(out, "{name:22} {count:>12}");
        }
        out.push('\n');
        for (name, time) in &self.times {
            let _ = writeln!(out, "{name:22} {:>12.3} s", time.as_secs_f64());
        }
        let _ = writeln!(out, "{:22} {:>12} MB", "peak memory", peak_memory() >> 20);
        out
    }

    /// Returns the report as JSON.
    fn to_json(&self, program: &Program, lines: &Lines, forward: bool) -> Value {
        let size = |s: Size| json!({"instructions": s.instructions, "functions": s.functions});
        let (before, after) = self.instructions;
        let times: serde_json::Map<String, Value> =
            self.times.iter().map(|(n, t)| (n.replace(' ', "_"), json!(t.as_secs_f64()))).collect();
        let counters: serde_json::Map<String, Value> =
            self.counters.iter().map(|(n, c)| (n.replace(' ', "_"), json!(c))).collect();
        json!({
            "schema": "proviso-slice-1",
            "tool": {"name": "proviso", "version": env!("CARGO_PKG_VERSION")},
            "files": self.files,
            "criteria": self.criteria,
            "direction": if forward { "forward" } else { "backward" },
            "lines": lines.by_file().iter().map(|(file, kept)| json!({"file": file, "kept": kept})).collect::<Value>(),
            "models": program.models,
            "before": {"size": if forward { Value::Null } else { size(before) }, "lines": self.lines.0},
            "after": {"size": if forward { Value::Null } else { size(after) }, "lines": self.lines.1},
            "counters": counters,
            "seconds": times,
            "peak_memory_mb": peak_memory() >> 20,
        })
    }
}

/// Returns the peak resident memory of this process in bytes.
fn peak_memory() -> u64 {
    // SAFETY: the structure is plain data, and is filled by the call.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &mut usage);
        usage
    };
    usage.ru_maxrss as u64 * 1024
}
