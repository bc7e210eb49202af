//! The program to slice, with its slicing criteria and the options of the analysis.

use super::criteria::{self, Places};
use crate::args::{ControlArg, DependenceArgs, InputArgs, PointsToArg, UndefinedArg};
use cfa::{EdgeId, FunctionOrigin, HaltKind, Harm, Id, LocId, Op, Out, Program};
use driver::failure::Failure;
use driver::files::Outputs;
use driver::{job, load};
use frontend_llvm::{Cut, Options, UndefinedFunctions};
use slicer::pointer::{self, Extent, Mode, Undefined};
use slicer::{Analysis, Control, Criterion};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A program with its slicing criteria.
pub struct Subject {
    /// The options with which the program was loaded.
    pub options: Options,
    /// The program.
    pub program: Program,
    /// The places of the source that have code.
    pub places: Places,
    /// The slicing criteria.
    pub criteria: Vec<Criterion>,
    /// The texts of the criteria as the user wrote them, each with its number of elements of `criteria`.
    texts: Vec<(String, usize)>,
    /// Secondary criteria, which count only on paths to the other criteria.
    pub secondary: Vec<Criterion>,
    /// The options of the slicer.
    pub slicing: slicer::Options,
    /// Operations that the program does not represent, so the slice may lack their effects.
    pub unmodelled: Vec<String>,
    /// Warnings to the user about how the files are compiled and linked.
    pub warnings: Vec<String>,
    /// The time that loading took.
    pub loading: Duration,
    /// Keeps the temporary folder of loaded files alive.
    _folder: Option<Arc<tempfile::TempDir>>,
}

impl Subject {
    /// Loads the program and finds the criteria in it. Returns the program with the module to cut the slice out of.
    ///
    /// `Err` if the program cannot be loaded, if one of its files is also one of the `outputs`, if a criterion does not
    /// exist, or if the program calls `longjmp`.
    pub fn load(
        files: &[PathBuf],
        input: &InputArgs,
        args: &DependenceArgs,
        outputs: &Outputs,
    ) -> Result<(Self, Cut), Failure> {
        let start = Instant::now();
        let subject = job::program(files, &input.compiling())?;
        let job::Subject { mut options, properties: others, folder, warnings, start: _ } = subject;
        outputs.check(files.iter().chain(&options.files()).chain(&others).map(PathBuf::as_path))?;
        options.entry.clone_from(&args.entry);
        options.undefined_functions = UndefinedFunctions::Pure;
        options.sequential_environment = true;
        options.undefined_functions_keep_state =
            matches!(args.undefined_functions, UndefinedArg::Reachable | UndefinedArg::Anything);
        options.reads_back = args.read_back;
        let criteria = args.criterion.iter().chain(&args.secondary_criterion);
        options.named = criteria.map(|text| text.trim_end_matches("()").to_owned()).collect();
        let (mut program, cut) = load::load_to_cut(&options)?;
        outputs.spare(program.files.values().map(|f| Path::new(&f.path)))?;
        let_models_return(&mut program);
        refuse_jumps(&program, &cut)?;
        let loading = start.elapsed();
        let places = Places::new(&program, &cut);
        let mut texts = Vec::new();
        let mut find = |all: &[String]| -> Result<Vec<Criterion>, Failure> {
            let mut found = Vec::new();
            for text in all {
                let before = found.len();
                found.extend(criteria::find(text, &program, &cut, &places)?);
                texts.push((text.clone(), found.len() - before));
            }
            Ok(found)
        };
        let (criteria, secondary) = (find(&args.criterion)?, find(&args.secondary_criterion)?);
        texts.truncate(args.criterion.len());
        let slicing = slicing_options(args, &program)?;
        let unmodelled = unmodelled(&program, &places);
        let subject = Self {
            options,
            program,
            places,
            criteria,
            texts,
            secondary,
            slicing,
            unmodelled,
            warnings,
            loading,
            _folder: folder,
        };
        Ok((subject, cut))
    }

    /// Returns the criteria, grouped by the texts that the user wrote.
    pub fn by_text(&self) -> impl Iterator<Item = (&str, &[Criterion])> {
        let mut rest = &self.criteria[..];
        self.texts.iter().map(move |(text, count)| {
            let (own, others) = rest.split_at(*count);
            rest = others;
            (text.as_str(), own)
        })
    }

    /// Returns the names of the files as the user wrote them.
    pub fn inputs(&self) -> Vec<String> {
        self.options.files().iter().map(|f| f.display().to_string()).collect()
    }

    /// Returns the dependences and all criteria. A secondary criterion is included only if it is on a path to another
    /// criterion. Operations without a representation are also criteria, so the slice keeps them. If `cut_off` is true,
    /// a path ends when it can no longer reach a criterion.
    ///
    /// `Err` if the slicer fails.
    pub fn analyse(&self, cut_off: bool) -> Result<(Analysis<'_>, Vec<Criterion>), Failure> {
        let internal = |error: slicer::Error| Failure::data(error.to_string());
        let mut all = self.criteria.clone();
        all.extend(self.opaque().into_iter().map(Criterion::operation));
        let slicing = slicer::Options { cut_off, ..self.slicing.clone() };
        if self.secondary.is_empty() {
            let analysis = Analysis::new(&self.program, &self.criteria, &slicing).map_err(internal)?;
            return Ok((analysis, all));
        }
        // The paths to the primary criteria are computed first, because secondary criteria count only there.
        let primary = slicer::Options { cut_off: true, ..slicing.clone() };
        let alive =
            Analysis::new(&self.program, &self.criteria, &primary).map_err(internal)?.slice(&self.criteria).alive;
        // A function may be called in many places, of which few are on such paths. The location after each call shows
        // which.
        let on_the_way = |c: &&Criterion| {
            let edge = &self.program.edges[c.edge];
            let function = &self.program.funcs[self.program.func_of(c.edge)];
            match edge.op {
                _ if function.origin != FunctionOrigin::Source && function.entry == edge.source => false,
                Op::Return { .. } | Op::Halt(_) | Op::Error(_) => alive[edge.source.index()],
                _ => alive[edge.target.index()],
            }
        };
        let secondary: Vec<Criterion> = self.secondary.iter().filter(on_the_way).cloned().collect();
        let observed: Vec<Criterion> = self.criteria.iter().chain(&secondary).cloned().collect();
        let analysis = Analysis::new(&self.program, &observed, &slicing).map_err(internal)?;
        all.extend(secondary);
        Ok((analysis, all))
    }

    /// Returns the operations whose effects the program does not represent.
    fn opaque(&self) -> Vec<EdgeId> {
        let (program, source) = (&self.program, FunctionOrigin::Source);
        let is_opaque = |op: &Op| match op {
            Op::Approx { taint } => program.taints[*taint].over && program.taints[*taint].under,
            _ => false,
        };
        let found = program
            .edges
            .iter()
            .filter(|(id, e)| is_opaque(&e.op) && program.funcs[program.func_of(*id)].origin == source);
        found.map(|(id, _)| id).collect()
    }
}

/// Returns `Err` if the program calls `longjmp`. The program does not represent the destination of the jump, so a slice
/// could lose a path to its criterion.
fn refuse_jumps(program: &Program, cut: &Cut) -> Result<(), Failure> {
    let jumps = ["longjmp", "_longjmp", "siglongjmp", "__longjmp_chk"];
    let Some((name, call)) = jumps.iter().find_map(|name| Some((name, *cut.calls_of(name).first()?))) else {
        return Ok(());
    };
    let at = cut.place(call).and_then(|p| driver::source::Sources::new().spot(program, p));
    let at = at.map_or(String::new(), |spot| format!(" ({spot})"));
    let mut failure = Failure::data(format!("the program calls {name}{at}: slices do not follow non-local jumps"));
    failure.detail =
        Some("  = note: a slice could lack code that is executed after the jump, so there is no slice".into());
    Err(failure)
}

/// Returns the options of the slicer. `Err` if a function to preserve does not exist.
fn slicing_options(args: &DependenceArgs, program: &Program) -> Result<slicer::Options, Failure> {
    let (reads, writes) = match args.undefined_functions {
        UndefinedArg::Pure => (Extent::Nothing, Extent::Nothing),
        UndefinedArg::Read => (Extent::Reachable, Extent::Nothing),
        UndefinedArg::Reachable => (Extent::Reachable, Extent::Reachable),
        UndefinedArg::Anything => (Extent::Everything, Extent::Everything),
    };
    let mut preserved = Vec::new();
    for name in &args.preserve {
        let before = preserved.len();
        preserved.extend(program.funcs.iter().filter(|(_, f)| f.name == *name).map(|(id, _)| id));
        if preserved.len() == before {
            return Err(criteria::no_function(name, program));
        }
    }
    // The slice runs with the code of the library instead of the models.
    let foreign = |f: &cfa::Function| f.origin != FunctionOrigin::Source;
    let atomic = program.funcs.iter().filter(|(id, f)| *id != program.entry && foreign(f)).map(|(id, _)| id).collect();
    Ok(slicer::Options {
        points_to: pointer::Options {
            mode: if args.points_to == PointsToArg::Unification { Mode::Unification } else { Mode::Inclusion },
            fields: args.points_to == PointsToArg::Andersen,
            heap_contexts: args.heap_contexts,
            undefined: Undefined { reads, writes },
            ..pointer::Options::default()
        },
        keep_under_approximations: false,
        control: match args.control {
            ControlArg::Standard => Control::Standard,
            ControlArg::Nontermination => Control::NonTermination,
            ControlArg::DecisiveOrder => Control::DecisiveOrder,
        },
        cut_off: args.cut_off,
        preserved,
        atomic,
        ..slicer::Options::default()
    })
}

/// Removes the branches of models to ends of paths that only the model has. A model ends a path if it cannot represent
/// the behaviour of the library: by a false assumption, or by undefined behaviour of C. The library itself continues.
/// So no operation after the call may depend on such a branch.
fn let_models_return(program: &mut Program) {
    let branches: Vec<[EdgeId; 2]> = program
        .locs
        .values()
        .filter(|loc| program.funcs[loc.func].origin == FunctionOrigin::Model)
        .filter_map(|loc| match loc.out {
            Out::Branch { then_edge, else_edge } => Some([then_edge, else_edge]),
            _ => None,
        })
        .collect();
    for [a, b] in branches {
        let (at_a, at_b) = (program.edges[a].target, program.edges[b].target);
        match (gives_up(program, at_a), gives_up(program, at_b)) {
            (true, false) => program.edges[a].target = at_b,
            (false, true) => program.edges[b].target = at_a,
            _ => {}
        }
    }
}

/// Returns true if the path from this location ends at once for a reason that only the model has.
fn gives_up(program: &Program, mut loc: LocId) -> bool {
    let mut approximated = false;
    while let Out::One(id) = program.locs[loc].out {
        match program.edges[id].op {
            Op::Approx { .. } => approximated = true,
            Op::Skip => {}
            Op::Halt(HaltKind::Assumed | HaltKind::Unreachable) => return true,
            Op::Halt(HaltKind::Abort) => return approximated,
            _ => return false,
        }
        if program.edges[id].target == loc {
            return false;
        }
        loc = program.edges[id].target;
    }
    false
}

/// Returns descriptions of the operations in the code of the user that the program does not represent, each with its
/// place, and of the installation of signal handlers. They are sorted.
fn unmodelled(program: &Program, places: &Places) -> Vec<String> {
    let mut found = Vec::new();
    for (id, edge) in program.edges.iter() {
        let Op::Approx { taint } = edge.op else { continue };
        let taint = &program.taints[taint];
        let is_source = program.funcs[program.func_of(id)].origin == FunctionOrigin::Source;
        if is_source && taint.over && taint.under || taint.harm() == Harm::Handlers {
            let place = edge.place.filter(|_| is_source).and_then(|place| places.spot(program, place));
            let at = place.map_or(String::new(), |spot| format!(" ({spot})"));
            found.push(format!("{}{at}", taint.reason));
        }
    }
    found.sort();
    found.dedup();
    found
}
