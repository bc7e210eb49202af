//! A verification job: the program and the questions of the command line and the task definition.

use crate::failure::{At, Failure};
use crate::files;
use crate::input::Inputs;
use crate::input::definition::Definition;
use crate::source::Spot;
use crate::task::{Compiling, Otherwise, Task};
use cfa::{Check, Input, InputKind, Program};
use frontend_llvm::command::{self, Ignored, Origin};
use frontend_llvm::{EntryMemory, EntryPointers, FOLLOW, Options, UndefinedFunctions};
use instrument::{Automaton, NamedCheck, Property, PropertyFile, automaton};
use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

/// The prefix of functions that check the invariants of a witness. No such function exists for an invariant like `1`,
/// which the compiler removes.
pub const INVARIANT: &str = "__proviso_invariant_";

/// Names of one function: older tasks use the second name for the first.
const ALIASES: [&str; 2] = ["reach_error", "__VERIFIER_error"];

/// The error functions without a property file. They include the function of a failed `assert`.
const DEFAULT_ERRORS: [&str; 3] = ["reach_error", "__VERIFIER_error", "__assert_fail"];

/// A question about the program, with its own result: a property, a check, or an automaton.
#[derive(Clone, Debug)]
pub struct Question {
    /// The name of the question, as tables show it.
    pub name: String,
    /// The corresponding properties of SV-COMP; empty if SV-COMP has no name for the question.
    pub properties: Vec<Property>,
    /// The checks whose errors violate it.
    pub checks: Vec<Check>,
    /// The functions whose calls violate it.
    error_functions: Vec<String>,
    /// The automaton whose error states violate it, if the question is about one.
    automaton: Option<Arc<Automaton>>,
}

/// A verification to do.
#[derive(Clone, Debug)]
pub struct Job {
    /// The program, with its options for the front-end.
    pub load: Options,
    /// The questions, in the order of tables.
    pub questions: Vec<Question>,
    /// True if all violations are searched for, and not only the first of each question.
    pub is_exhaustive: bool,
    /// True if the user did not name any question.
    pub is_default: bool,
    /// The properties of all questions.
    pub properties: Vec<Property>,
    /// The functions whose call is an error.
    pub error_functions: Vec<String>,
    /// True if the user named the error functions, so that they must exist.
    pub errors_named: bool,
    /// A variable of the program and a value: calls of error functions count only while the variable has the value, and
    /// the cycle of an infinite execution begins only once it has. Used for a program that is instrumented with a
    /// witness.
    pub calls_count_while: Option<(&'static str, u64)>,
    /// All files that define the job: those of the program, of properties, and of automata.
    pub files_read: Vec<PathBuf>,
    /// Warnings about how files are compiled and linked.
    pub warnings: Vec<String>,
    /// The temporary folder of files that are loaded. It exists as long as the job.
    _folder: Option<Arc<TempDir>>,
}

/// The program that the arguments name.
pub struct Subject {
    /// The program, with its options for the front-end.
    pub options: Options,
    /// The property files of the task, if the program is one of a task.
    pub properties: Vec<PathBuf>,
    /// Warnings about how files are compiled and linked.
    pub warnings: Vec<String>,
    /// The temporary folder of files that the options name.
    pub folder: Option<Arc<TempDir>>,
    /// The reason why the program does not start at `main`, if so.
    pub start: Option<String>,
}

/// Reads the program that the arguments name, and the property files of the task if they name a task definition.
///
/// # Errors
/// `Err` if a task definition is not the only file, if a file cannot be read, or if the arguments for clang are
/// refused.
pub fn program(files: &[PathBuf], compiling: &Compiling) -> Result<Subject, Failure> {
    let tasks = files.iter().filter(|f| Definition::is_definition(f)).count();
    let mut inputs = files.to_vec();
    let mut properties = Vec::new();
    let mut data_model = compiling.data_model;
    if tasks > 0 {
        let [file] = files else {
            return Err(Failure::usage("a task definition must be the only file: it names the files of the program"));
        };
        let task = Definition::read(file)?;
        (inputs, properties) = (task.files, task.properties);
        data_model = data_model.or(task.data_model);
    }
    let inputs = Inputs::take(&inputs, compiling.build.as_deref())?;
    let own = command::read(&compiling.clang_args, Path::new(""), Origin::User);
    let own = own.map_err(|refusal| Failure::usage(refusal.to_string()))?;
    let options = Options {
        inputs: inputs.files,
        foreign: inputs.foreign,
        data_model,
        include_dirs: compiling.include_dirs.clone(),
        defines: compiling.defines.clone(),
        std: compiling.std.clone(),
        clang_args: own.options,
        ..Options::default()
    };
    let Inputs { mut ignored, warnings: linked, folder, start, .. } = inputs;
    ignored.sort();
    ignored.dedup();
    let warnings = ignored.iter().map(Ignored::to_string).chain(linked).collect();
    Ok(Subject { options, properties, warnings, folder, start })
}

impl Job {
    /// Returns true if there is one question, and the search ends with its first violation.
    pub fn has_single_answer(&self) -> bool {
        self.questions.len() == 1 && !self.is_exhaustive
    }

    /// Combines the files, the questions and the options of a task.
    ///
    /// # Errors
    /// `Err` if files cannot be read, or the question is malformed.
    pub fn new(task: &Task) -> Result<Self, Failure> {
        let subject = program(&task.files, &task.compiling)?;
        if let (None, Some(why)) = (&task.entry, &subject.start) {
            let mut failure = Failure::data(format!("{why}: it does not start at main"));
            failure.detail = Some("  = help: --entry names the function to start with".into());
            return Err(failure);
        }
        let Subject { options: mut load, properties: task_properties, folder, warnings, start: _ } = subject;
        let Questions { mut questions, entry, is_exhaustive, is_default } = questions(task, &task_properties)?;
        let errors_named = !task.error_functions.is_empty();
        if errors_named {
            for question in questions.iter_mut().filter(|q| q.checks.contains(&Check::Call)) {
                question.error_functions.clone_from(&task.error_functions);
            }
        }
        load.entry = start(task.entry.as_deref(), entry)?;
        load.entry_memory = task.entry_memory;
        match task.undefined_functions.as_str() {
            "unknown" => {}
            "fail" => load.undefined_functions = UndefinedFunctions::Error,
            "any-value" => load.undefined_functions = UndefinedFunctions::Pure,
            "any-effect" => load.undefined_functions = UndefinedFunctions::Writes,
            file if file.ends_with(".c") || file.ends_with(".bc") || Path::new(file).exists() => {
                std::fs::File::open(file).map_err(|e| Failure::reading(Path::new(file), &e))?;
                load.inputs.push(file.into());
            }
            other => {
                let text = "--undefined-functions is unknown, fail, any-value, any-effect, or a C file, not";
                return Err(Failure::usage(format!("{text} {other}")));
            }
        }
        if load.entry == "main" && load.entry_memory != EntryMemory::default() {
            return Err(Failure::usage("the options --entry-… need a function other than main: --entry FUNCTION"));
        }
        load.remove_bodies.clone_from(&task.removed_bodies);
        load.malloc_may_fail = task.malloc_may_fail;
        load.argc_may_be_zero = task.argc_may_be_zero;
        let names_overflow = |name: &String| matches!(name.trim(), "signed-integer-overflow" | "all");
        load.checks_wrapping = task.checks.iter().any(names_overflow)
            || questions.iter().any(|question| question.properties.contains(&Property::NoOverflow));
        if load.entry != "main" && questions.iter().any(|a| a.properties.contains(&Property::ValidMemcleanup)) {
            return Err(Failure::usage("valid-memcleanup is about a whole program: --entry must be main"));
        }
        let property_files = task.properties.iter().filter(|p| Property::from_name(p).is_err()).map(PathBuf::from);
        let automata = task.automata.iter().map(PathBuf::from).filter(|p| p.exists());
        let files_read =
            load.files().into_iter().chain(task_properties).chain(property_files).chain(automata).collect();
        let mut job = Self {
            load,
            questions: Vec::new(),
            is_exhaustive,
            is_default,
            properties: Vec::new(),
            error_functions: Vec::new(),
            errors_named,
            files_read,
            warnings,
            calls_count_while: None,
            _folder: folder,
        };
        job.set_questions(questions);
        Ok(job)
    }

    /// Returns the questions, with the content of property files and automata. Equal programs with equal keys have
    /// equal verdicts.
    pub fn key(&self) -> impl Debug {
        let Self {
            // The options of the front-end belong to the program.
            load: _,
            questions,
            is_exhaustive,
            is_default,
            properties,
            error_functions,
            errors_named,
            calls_count_while,
            files_read: _,
            warnings: _,
            _folder: _,
        } = self;
        (questions, is_exhaustive, is_default, properties, error_functions, errors_named, calls_count_while)
    }

    /// Returns the same job with these questions only.
    pub fn with_questions(&self, questions: Vec<Question>) -> Self {
        let mut job = self.clone();
        job.set_questions(questions);
        job
    }

    fn set_questions(&mut self, questions: Vec<Question>) {
        self.properties = questions.iter().flat_map(|a| a.properties.iter().cloned()).collect();
        self.error_functions = questions.iter().flat_map(|a| a.error_functions.iter().cloned()).collect();
        self.questions = questions;
        self.set_front_end_checks();
    }

    /// Replaces the questions by those of a property file. `entry` is the function that the user wants to start with.
    ///
    /// # Errors
    /// `Err` if the property file starts with another function than `entry`.
    pub fn set_properties(&mut self, file: PropertyFile, entry: Option<&str>) -> Result<(), Failure> {
        self.load.entry = start(entry, Some(file.entry))?;
        self.is_exhaustive = false;
        self.is_default = false;
        self.set_questions(vec![Question::from_file("the property", file.properties)]);
        Ok(())
    }

    /// Returns true if termination is the only property.
    pub fn is_termination_only(&self) -> bool {
        matches!(self.properties[..], [Property::Termination])
    }

    /// Makes calls of these functions errors, in addition to the others.
    pub fn add_error_functions(&mut self, names: &[String]) {
        self.error_functions.extend_from_slice(names);
        self.set_front_end_checks();
    }

    /// Instruments a program with the automata of the questions.
    ///
    /// # Errors
    /// `Err` if an automaton cannot be added to the program.
    pub fn add_automata(&self, program: &mut Program) -> Result<(), Failure> {
        let mut automata = self.questions.iter().filter_map(|a| a.automaton.as_ref());
        let within = (self.load.entry != "main").then_some(self.load.entry.as_str());
        automata.try_for_each(|automaton| automaton.weave(program, within).map_err(|e| Failure::data(e.to_string())))
    }

    /// Sets the checks, error functions and observed functions of the front-end to those of the questions.
    fn set_front_end_checks(&mut self) {
        let automata = self.questions.iter().filter_map(|a| a.automaton.as_ref());
        self.load.watched = automata.flat_map(|a| a.functions().map(str::to_owned)).collect();
        self.load.checks = self.questions.iter().flat_map(|a| &a.checks).copied().collect();
        self.load.error_functions = match self.error_functions.is_empty() {
            false => self.error_functions.clone(),
            // Without a question about them, calls of these functions end the program.
            true => ALIASES.map(String::from).to_vec(),
        };
    }

    /// Returns the assumption about functions without a definition, if there is one.
    pub fn assumption_of_undefined(&self) -> Option<&'static str> {
        match self.load.undefined_functions {
            UndefinedFunctions::Taint | UndefinedFunctions::Error => None,
            UndefinedFunctions::Pure => Some("undefined functions return any value, and do nothing else"),
            UndefinedFunctions::Writes => Some(
                "undefined functions return any value, and write only global variables, errno, and the objects that their arguments point to directly, from there to their ends; they change no constants, except local variables, and do not write through parameters that point to constants",
            ),
        }
    }

    /// Returns the assumptions about the initial states of automata if the program starts with a function other than
    /// `main`.
    pub fn assumptions_of_automata(&self) -> impl Iterator<Item = String> {
        let automata = self.questions.iter().filter_map(|a| a.automaton.as_ref()).filter(|_| self.load.entry != "main");
        automata.map(|automaton| {
            let Automaton { name, key, .. } = &**automaton;
            let each = key.as_ref().map_or(String::new(), |key| format!(" for each {key}"));
            format!(
                "automaton {name} is in its first state{each} ({}) when {} is called",
                automaton.given(),
                self.load.entry
            )
        })
    }

    /// Returns the assumptions about the call that starts the program and about memory that threads share.
    pub fn assumptions(&self, program: &Program) -> Vec<String> {
        let mut assumptions = Vec::new();
        if program.func_by_name(FOLLOW).is_some() {
            assumptions.extend(self.assumptions_about_memory());
        }
        let is_argument = |input: &Input| input.kind == InputKind::Environment("main".into());
        if !self.load.argc_may_be_zero && program.inputs.values().any(is_argument) {
            let text = "main has at least one argument, the program's name (--argc-may-be-zero: any number)";
            assumptions.push(text.to_owned());
        }
        if program.starts_threads() && program.has_weak_orders() {
            let text =
                "the memory model is RC11, C17's without load buffering and without values that nothing computes";
            assumptions.push(text.to_owned());
        }
        assumptions
    }

    /// Returns the assumption of proofs for programs that allocate memory; `None` if there is none.
    pub fn assumption_about_allocations(&self) -> Option<String> {
        let text = "malloc and similar functions do not fail (--malloc-may-fail: they may)";
        (!self.load.malloc_may_fail).then(|| text.to_owned())
    }

    /// Returns the assumptions about the memory that the arguments of the entry function lead to.
    fn assumptions_about_memory(&self) -> Vec<String> {
        let EntryMemory { pointers, array_length, depth, globals, finite: _ } = self.load.entry_memory;
        let lead = match pointers {
            EntryPointers::Valid => {
                "objects of their own; only pointers in recursive structures, such as lists and trees, may be null"
            }
            EntryPointers::MaybeNull => "objects of their own, or are null",
            EntryPointers::Aliasing => {
                "objects of their own, to the start of the object of another pointer of their type, or are null"
            }
        };
        let lengths = match array_length {
            Some(1) => "such a pointer points to one object; a string ends with a zero".into(),
            Some(n) => format!("such a pointer points to an array of {n} elements; a string ends with a zero"),
            None => "such a pointer points to one struct, union or pointer, or to an array of another type, of any length (to 16 MB); a string ends with a zero".into(),
        };
        let places = match globals {
            true => format!("global variables, in the arguments of {}", self.load.entry),
            false => format!("the arguments of {}", self.load.entry),
        };
        let mut said = vec![format!("pointers in {places} and in their targets point to {lead}"), lengths];
        said.extend(
            depth.map(|depth| format!("pointers are null after a chain of {depth} pointers from the arguments")),
        );
        said.extend(globals.then(|| "global variables and errno have any values".into()));
        said
    }

    /// Returns the name of the property that an error of this check violates, as the verdict shows it.
    pub fn violated_property(&self, check: Check) -> &str {
        // Each question is about one automaton only.
        if let (Check::Automaton, Some(question)) = (check, self.questions.iter().find(|a| a.automaton.is_some())) {
            return &question.name;
        }
        let property = self.properties.iter().find(|p| p.checks().contains(&check)).map(Property::name);
        let by_check = || NamedCheck::ALL.iter().find(|named| named.checks.contains(&check)).map(|named| named.name);
        property.or_else(by_check).unwrap_or_else(|| check.name())
    }

    /// Returns the names of all questions. A question with several properties contributes the name of each.
    pub fn names(&self) -> Vec<String> {
        let names = |question: &Question| match question.properties[..] {
            [] => vec![question.name.clone()],
            ref properties => properties.iter().map(|p| p.name().to_owned()).collect(),
        };
        self.questions.iter().flat_map(names).collect()
    }
}

impl Question {
    /// Returns the question of a property file.
    fn from_file(name: &str, properties: Vec<Property>) -> Self {
        let error_functions = error_functions(&properties, true);
        Self { error_functions, ..Self::about(name, properties) }
    }

    /// Returns the question about properties with this name.
    fn about(name: &str, properties: Vec<Property>) -> Self {
        let checks = properties.iter().flat_map(|p| p.checks()).copied().collect();
        let error_functions = error_functions(&properties, false);
        Self { name: name.to_owned(), properties, checks, error_functions, automaton: None }
    }

    fn automaton(automaton: Automaton) -> Self {
        Self {
            name: automaton.name.clone(),
            properties: Vec::new(),
            checks: vec![Check::Automaton],
            error_functions: Vec::new(),
            automaton: Some(Arc::new(automaton)),
        }
    }

    /// Returns the question about one check.
    pub(crate) fn check(named: NamedCheck) -> Self {
        match named.checks {
            [Check::Call] => Self::about(named.name, vec![Property::UnreachCall { functions: Vec::new() }]),
            checks => Self {
                name: named.name.to_owned(),
                properties: Vec::new(),
                checks: checks.to_vec(),
                error_functions: Vec::new(),
                automaton: None,
            },
        }
    }
}

/// Returns the automata of a file, or the shipped automaton with this name.
fn automata(name: &str) -> Result<Vec<Automaton>, Failure> {
    let path = Path::new(name);
    let shipped = Automaton::SHIPPED.iter().find(|(shipped, _)| *shipped == name);
    let text = match (path.exists(), shipped) {
        (false, Some((_, text))) => (*text).to_owned(),
        (false, None) if !name.contains(['/', '.']) => {
            let names: Vec<&str> = Automaton::SHIPPED.iter().map(|(name, _)| *name).collect();
            let meant = cfa::wording::did_you_mean(name, names.iter().copied());
            let known = names.join(", ");
            return Err(Failure::usage(format!(
                "there is no file {name}, and no automaton of that name{meant}; the built-in automata are {known}"
            )));
        }
        _ => files::read_text(path)?,
    };
    automaton::parse(&text).map_err(|error| {
        let spot = Spot { path: name.to_owned(), line: error.line, column: error.column };
        let at = At { spot, label: error.label, help: error.help };
        Failure { at: Some(Box::new(at)), ..Failure::data(error.message) }
    })
}

/// The questions of the command line or of the task, or the default questions.
struct Questions {
    questions: Vec<Question>,
    /// The function that a property file starts with, if it names one.
    entry: Option<String>,
    is_exhaustive: bool,
    is_default: bool,
}

fn questions(task: &Task, of_the_task: &[PathBuf]) -> Result<Questions, Failure> {
    let mut questions: Vec<Question> = Vec::new();
    let mut entry: Option<String> = None;
    for name in &task.properties {
        let path = Path::new(name);
        if Property::from_name(name).is_ok() {
            questions.push(Question::about(name, by_name(name)?));
        } else if name.ends_with(".spc") {
            questions.extend(automata(name)?.into_iter().map(Question::automaton));
        } else if path.exists() || name.ends_with(".prp") {
            let file = read(path)?;
            entry = Some(start(entry.as_deref(), Some(file.entry))?);
            let stem = path.file_stem().map_or_else(|| name.clone(), |s| s.to_string_lossy().into_owned());
            questions.push(Question::from_file(&stem, file.properties));
        } else {
            return Err(Failure::usage(unknown_property(name)));
        }
    }
    for name in &task.automata {
        questions.extend(automata(name)?.into_iter().map(Question::automaton));
    }
    for (n, question) in questions.iter().enumerate().filter(|(_, question)| question.automaton.is_some()) {
        if questions[..n].iter().any(|a| a.name == question.name) {
            return Err(Failure::usage(format!("{} is selected twice", question.name)));
        }
    }
    if questions.is_empty()
        && task.checks.is_empty()
        && let Some(file) = of_task(of_the_task)?
    {
        entry = Some(file.entry);
        questions.push(Question::from_file("the task's property", file.properties));
    }
    if !questions.is_empty() {
        return Ok(Questions { questions, entry, is_exhaustive: false, is_default: false });
    }
    let is_default = task.checks.is_empty();
    let wanted = match (is_default, task.otherwise) {
        (true, Otherwise::Everything) => NamedCheck::by_default(),
        (true, Otherwise::Assertions) => {
            let questions = vec![Question::about("unreach-call", by_name("unreach-call")?)];
            return Ok(Questions { questions, entry, is_exhaustive: false, is_default });
        }
        (false, _) => {
            let named: Result<Vec<_>, _> = task.checks.iter().map(|name| NamedCheck::by_name(name.trim())).collect();
            named.map_err(|e| Failure::usage(e.to_string()))?.concat()
        }
    };
    // The checks, each once, in the order of tables.
    let questions = NamedCheck::ALL.into_iter().filter(|a| wanted.contains(a)).map(Question::check).collect();
    Ok(Questions { questions, entry, is_exhaustive: true, is_default })
}

/// Returns the function that the program starts with. `Err` if the user and the property file name different functions.
fn start(wanted: Option<&str>, of_file: Option<String>) -> Result<String, Failure> {
    match (wanted, of_file) {
        (Some(wanted), Some(file)) if wanted != file => {
            Err(Failure::usage(format!("--entry {wanted} contradicts init({file}()) in the property file")))
        }
        (Some(entry), _) => Ok(entry.to_owned()),
        (None, file) => Ok(file.unwrap_or_else(|| "main".into())),
    }
}

/// Returns the functions that the properties name, with their aliases. Without a property file, returns the default
/// error functions.
fn error_functions(properties: &[Property], from_file: bool) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for property in properties {
        if let Property::UnreachCall { functions } = property {
            names.extend(functions.iter().cloned());
        }
    }
    let has_unreach_call = properties.iter().any(|p| matches!(p, Property::UnreachCall { .. }));
    if !from_file && has_unreach_call && names.is_empty() {
        return DEFAULT_ERRORS.map(String::from).to_vec();
    }
    if names.iter().any(|n| ALIASES.contains(&n.as_str())) {
        for alias in ALIASES {
            if !names.iter().any(|n| n == alias) {
                names.push(alias.to_owned());
            }
        }
    }
    names
}

fn by_name(name: &str) -> Result<Vec<Property>, Failure> {
    Property::from_name(name).map_err(|_| Failure::usage(unknown_property(name)))
}

fn read(file: &Path) -> Result<PropertyFile, Failure> {
    let text = files::read_text(file)?;
    Property::parse_file(&text).map_err(|e| Failure::data(format!("{}: {e}", file.display())))
}

/// Reads the property file of a task. If there are several, the one for unreach-call takes precedence, otherwise the
/// first.
fn of_task(files: &[PathBuf]) -> Result<Option<PropertyFile>, Failure> {
    let mut first = None;
    for file in files {
        let file = read(file)?;
        if file.properties.iter().any(|p| matches!(p, Property::UnreachCall { .. })) {
            return Ok(Some(file));
        }
        first.get_or_insert(file);
    }
    Ok(first)
}

fn unknown_property(name: &str) -> String {
    if Automaton::SHIPPED.iter().any(|(shipped, _)| *shipped == name) {
        return format!("{name} is an automaton: use --automaton {name}");
    }
    let meant = cfa::wording::did_you_mean(name, Property::NAMES.iter().copied());
    format!(
        "there is no property file {name}, and no property of that name{meant}; properties are {}",
        Property::NAMES.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unreach(names: &[&str]) -> Vec<Property> {
        vec![Property::UnreachCall { functions: names.iter().map(|n| (*n).to_owned()).collect() }]
    }

    #[test]
    fn errors_are_those_of_the_property_and_their_aliases() {
        assert_eq!(error_functions(&unreach(&["reach_error"]), true), ["reach_error", "__VERIFIER_error"]);
        assert_eq!(error_functions(&unreach(&["__VERIFIER_error"]), true), ["__VERIFIER_error", "reach_error"]);
        assert_eq!(error_functions(&unreach(&["die"]), true), ["die"]);
        assert_eq!(error_functions(&unreach(&[]), false), DEFAULT_ERRORS);
        assert!(error_functions(&[Property::NoOverflow], true).is_empty());
    }

    #[test]
    fn the_property_file_says_where_to_start() {
        let file = |name: &str| Some(name.to_owned());
        assert_eq!(start(None, None).unwrap(), "main");
        assert_eq!(start(None, file("start")).unwrap(), "start");
        assert_eq!(start(Some("start"), file("start")).unwrap(), "start");
        assert!(start(Some("main"), file("start")).unwrap_err().to_string().contains("init(start())"));
    }
}
