//! `proviso cfa`: prints the control-flow automata of a program, for people and for tests.

use crate::args::{CfaArgs, CfaFormat};
use crate::output::{self, Colors};
use crate::pixel_tree::{Format, PixelTree};
use cfa::{Callee, FuncId, FunctionOrigin, Op, Program};
use driver::failure::{Failure, exit};
use driver::files::{Outputs, STDOUT};
use driver::{job, load};
use engine::budget::Budget;
use frontend_llvm::Loader;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Runs the command and returns the exit code.
pub fn run(args: &CfaArgs, colors: Colors) -> u8 {
    match attempt(args, colors) {
        Ok(()) => exit::TRUE,
        Err(failure) => output::failure(&failure, colors),
    }
}

fn attempt(args: &CfaArgs, colors: Colors) -> Result<(), Failure> {
    let pixels = args.pixel_tree.as_ref().map(|path| Ok((path, Format::from_path(path)?))).transpose()?;
    let subject = job::program(&args.files, &args.input.compiling())?;
    let job::Subject { mut options, properties: others, folder: _folder, warnings, start: _ } = subject;
    output::warnings(&warnings, colors);
    let mut outputs = Outputs::new([("--output", args.output.as_ref()), ("--pixel-tree", args.pixel_tree.as_ref())]);
    outputs.check(args.files.iter().chain(&options.files()).chain(&others).map(PathBuf::as_path))?;
    // Conditions and exchange automata number the edges of the program with its output.
    options.keeps_output = true;
    let budget = Budget::unlimited();
    let program = if args.format == CfaFormat::Functions {
        // A library without the entry function has functions, too.
        let found = load::load_module(&Loader::default(), &options, &budget)?.lower_from_any()?;
        let Some(program) = found else { return Ok(()) };
        program
    } else {
        load::load(&options, &budget)?
    };
    outputs.spare(program.files.values().map(|f| Path::new(&f.path)))?;
    let only = match &args.function {
        None => None,
        Some(name) => {
            let found = program.func_by_name(name);
            Some(found.ok_or_else(|| Failure::usage(format!("no function '{name}' in the program")))?)
        }
    };
    if let Some((path, format)) = pixels {
        outputs.put(path, PixelTree::of_locations(&program).draw(format));
        if args.output.is_none() {
            return outputs.commit();
        }
    }
    let text = match (args.format, only) {
        (CfaFormat::Text, None) => cfa::text::print(&program),
        (CfaFormat::Text, Some(func)) => cfa::text::function(&program, func),
        (CfaFormat::Dot, None) => cfa::dot::program(&program),
        (CfaFormat::Dot, Some(func)) => cfa::dot::function(&program, func),
        (CfaFormat::Calls, _) => cfa::dot::call_graph(&program),
        (CfaFormat::Stats, _) => statistics(&program, only),
        (CfaFormat::Functions, _) => functions(&program, only),
    };
    outputs.put(args.output.as_deref().unwrap_or(Path::new(STDOUT)), text);
    outputs.commit()
}

/// Returns the functions that the sources define, each with its file, its first line, and its last line with an
/// operation.
fn functions(program: &Program, only: Option<FuncId>) -> String {
    let mut last = vec![0; program.funcs.len()];
    for (id, edge) in program.edges.iter() {
        let func = program.func_of(id);
        let head = program.funcs[func].place.map(|place| program.places[place].file);
        if let Some(place) = edge.place.map(|place| program.places[place])
            && Some(place.file) == head
            && place.inlined_at.is_none()
        {
            let last = &mut last[func.0 as usize];
            *last = place.line.max(*last);
        }
    }
    let mut out = String::new();
    for (id, function) in program.funcs.iter() {
        if function.origin == FunctionOrigin::Source
            && only.is_none_or(|only| only == id)
            && let Some(place) = function.place.map(|place| program.places[place])
        {
            let path = &program.files[place.file].path;
            let last = last[id.0 as usize].max(place.line);
            let _ = writeln!(out, "{}\t{path}\t{}\t{last}", function.name, place.line);
        }
    }
    out
}

/// Returns a table with the sizes of the program, unless `only` is set, and the sizes of each function.
fn statistics(program: &Program, only: Option<FuncId>) -> String {
    let mut sizes = vec![Size::default(); program.funcs.len()];
    let mut ops: BTreeMap<&str, usize> = BTreeMap::new();
    for (id, edge) in program.edges.iter() {
        let func = program.func_of(id);
        let size = &mut sizes[func.0 as usize];
        size.edges += 1;
        size.branches += usize::from(matches!(edge.op, Op::Assume { branch: true, .. }));
        size.indirect += usize::from(matches!(edge.op, Op::Call { callee: Callee::Indirect(_), .. }));
        *ops.entry(op_name(&edge.op)).or_default() += 1;
    }
    for loc in program.locs.values() {
        sizes[loc.func.0 as usize].locations += 1;
    }
    for var in program.vars.values() {
        if let Some(func) = var.func() {
            sizes[func.0 as usize].variables += 1;
        }
    }
    let mut out = String::new();
    if only.is_none() {
        let totals = [
            ("functions", program.funcs.len()),
            ("locations", program.locs.len()),
            ("edges", program.edges.len()),
            ("expressions", program.exprs.len()),
            ("variables", program.vars.len()),
            ("global objects", program.globals.len()),
            ("inputs", program.inputs.len()),
            ("approximations", program.taints.len()),
        ];
        for (name, count) in totals {
            let _ = writeln!(out, "{name:20} {count:>10}");
        }
        if !program.models.is_empty() {
            let _ = writeln!(out, "{:20} {}", "models", program.models.join(", "));
        }
        for (name, count) in &ops {
            let _ = writeln!(out, "  {name:18} {count:>10}");
        }
        out.push('\n');
    }
    let _ = writeln!(
        out,
        "{:>10} {:>10} {:>10} {:>10} {:>10}  function",
        "locations", "edges", "branches", "indirect", "variables"
    );
    for (id, function) in program.funcs.iter() {
        if only.is_some_and(|only| only != id) {
            continue;
        }
        let s = &sizes[id.0 as usize];
        let origin = match function.origin {
            FunctionOrigin::Source => "",
            FunctionOrigin::Model => "  (library model)",
            FunctionOrigin::Undefined => "  (undefined)",
        };
        let _ = writeln!(
            out,
            "{:>10} {:>10} {:>10} {:>10} {:>10}  {}{origin}",
            s.locations, s.edges, s.branches, s.indirect, s.variables, function.name
        );
    }
    out
}

/// The size of a function.
#[derive(Clone, Default)]
struct Size {
    locations: usize,
    edges: usize,
    branches: usize,
    /// The number of calls through pointers.
    indirect: usize,
    variables: usize,
}

fn op_name(op: &Op) -> &'static str {
    match op {
        Op::Skip => "skip",
        Op::Assign { .. } => "assign",
        Op::Assume { .. } => "assume",
        Op::Load { .. } => "load",
        Op::Store { .. } => "store",
        Op::Alloc { .. } => "alloc",
        Op::Free { .. } => "free",
        Op::ObjectOffset { .. } => "object offset",
        Op::Leak(_) => "leak",
        Op::ObjectSize { .. } => "object size",
        Op::Havoc { .. } => "havoc",
        Op::Copy { .. } => "copy",
        Op::Fill { .. } => "fill",
        Op::Shadow(_) => "shadow",
        Op::Call { .. } => "call",
        Op::Return { .. } => "return",
        Op::Halt(_) => "halt",
        Op::Error(_) => "error",
        Op::Approx { .. } => "approx",
    }
}
