//! What to verify: the command line and the task definition put together.

use crate::failure::{At, Failure};
use crate::files;
use crate::input::Inputs;
use crate::input::definition::Definition;
use crate::source::Spot;
use crate::task::{Compiling, Otherwise, Task};
use cfa::{Check, Program};
use frontend_llvm::command::{self, Ignored, Origin};
use frontend_llvm::{EntryMemory, EntryPointers, Options, UndefinedFunctions};
use instrument::{Asked, Automaton, Property, PropertyFile, automaton};
use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

/// The prefix of functions that check the invariants of a witness. The compiler leaves nothing of an invariant that always holds (`1`).
pub const INVARIANT: &str = "__proviso_invariant_";

/// Functions that are called by different names when the same error is meant.
const ALIASES: [&str; 2] = ["reach_error", "__VERIFIER_error"];

/// The errors without a property file: also a failed `assert`.
const DEFAULT_ERRORS: [&str; 3] = ["reach_error", "__VERIFIER_error", "__assert_fail"];

/// One thing that is asked, with a result of its own.
#[derive(Clone, Debug)]
pub struct Ask {
    /// As tables have it.
    pub name: String,
    /// If SV-COMP has a name for it.
    pub properties: Vec<Property>,
    /// The errors that are violations of it.
    pub checks: Vec<Check>,
    /// So are calls of these functions.
    error_functions: Vec<String>,
    /// So is what this one forbids.
    automaton: Option<Arc<Automaton>>,
}

/// A verification to do.
#[derive(Clone, Debug)]
pub struct Job {
    pub load: Options,
    /// In the order of tables.
    pub asks: Vec<Ask>,
    /// All violations are looked for, not the first of each thing asked.
    pub is_exhaustive: bool,
    /// Nobody said what to ask.
    pub is_default: bool,
    /// Those that are asked.
    pub properties: Vec<Property>,
    /// Functions whose call is the error.
    pub error_functions: Vec<String>,
    /// The user named them, so they must exist.
    pub errors_named: bool,
    /// Calls of error functions count only while this variable of the program has this value: of a program with a witness woven in.
    pub calls_count_while: Option<(&'static str, u64)>,
    /// All files that say what to verify: of the program, and with properties.
    pub files_read: Vec<PathBuf>,
    /// What the user is to know of how files are compiled and linked.
    pub warnings: Vec<String>,
    /// Holds files that are loaded.
    _folder: Option<Arc<TempDir>>,
}

/// The program that the arguments name.
pub struct Subject {
    pub options: Options,
    /// Of a task: its property files.
    pub properties: Vec<PathBuf>,
    /// What the user is to know of how files are compiled and linked.
    pub warnings: Vec<String>,
    /// Holds files that the options name.
    pub folder: Option<Arc<TempDir>>,
    /// Why it does not start at `main`.
    pub start: Option<String>,
}

/// The program that the arguments name, and the task's properties if it is a task.
pub fn program(files: &[PathBuf], compiling: &Compiling) -> Result<Subject, Failure> {
    let tasks = files.iter().filter(|f| Definition::is_definition(f)).count();
    let mut inputs = files.to_vec();
    let mut properties = Vec::new();
    let mut data_model = compiling.data_model;
    if tasks > 0 {
        let [file] = files else {
            return Err(Failure::usage("a task definition stands alone: it names the files of the program itself"));
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
    /// Whether there is one question with one answer.
    pub fn asks_one_thing(&self) -> bool {
        self.asks.len() == 1 && !self.is_exhaustive
    }

    /// # Errors
    /// If files cannot be read, or the question is malformed.
    pub fn new(task: &Task) -> Result<Self, Failure> {
        let subject = program(&task.files, &task.compiling)?;
        if let (None, Some(why)) = (&task.entry, &subject.start) {
            let mut failure = Failure::data(format!("{why}: it does not start at main"));
            failure.detail = Some("  = help: --entry names the function to start with".into());
            return Err(failure);
        }
        let Subject { options: mut load, properties: task_properties, folder, warnings, start: _ } = subject;
        let Questions { mut asks, entry, is_exhaustive, is_default } = questions(task, &task_properties)?;
        let errors_named = !task.error_functions.is_empty();
        if errors_named {
            for ask in asks.iter_mut().filter(|a| a.checks.contains(&Check::Call)) {
                ask.error_functions.clone_from(&task.error_functions);
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
            return Err(Failure::usage("--entry-pointers and the like are for another function than main (--entry)"));
        }
        load.remove_bodies.clone_from(&task.removed_bodies);
        load.malloc_may_fail = task.malloc_may_fail;
        load.argc_may_be_zero = task.argc_may_be_zero;
        let names_overflow = |name: &String| matches!(name.trim(), "signed-integer-overflow" | "all");
        load.checks_wrapping = task.checks.iter().any(names_overflow)
            || asks.iter().any(|ask| ask.properties.contains(&Property::NoOverflow));
        if load.entry != "main" && asks.iter().any(|a| a.properties.contains(&Property::ValidMemcleanup)) {
            return Err(Failure::usage(
                "valid-memcleanup asks of a whole program: --entry cannot be another function than main",
            ));
        }
        let property_files = task.properties.iter().filter(|p| Property::from_name(p).is_err()).map(PathBuf::from);
        let automata = task.automata.iter().map(PathBuf::from).filter(|p| p.exists());
        let files_read =
            load.files().into_iter().chain(task_properties).chain(property_files).chain(automata).collect();
        let mut job = Self {
            load,
            asks: Vec::new(),
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
        job.ask(asks);
        Ok(job)
    }

    /// What is asked, with the content of property files and automata: of equal programs with equal questions, verdicts are equal.
    pub fn question(&self) -> impl Debug {
        let Self {
            // The options of the front-end are the program's.
            load: _,
            asks,
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
        (asks, is_exhaustive, is_default, properties, error_functions, errors_named, calls_count_while)
    }

    /// The same job with a part of what is asked.
    pub fn asking(&self, asks: Vec<Ask>) -> Self {
        let mut job = self.clone();
        job.ask(asks);
        job
    }

    fn ask(&mut self, asks: Vec<Ask>) {
        self.properties = asks.iter().flat_map(|a| a.properties.iter().cloned()).collect();
        self.error_functions = asks.iter().flat_map(|a| a.error_functions.iter().cloned()).collect();
        self.asks = asks;
        self.load_what_is_asked();
    }

    /// Asks what this file asks instead. `entry`: the function that the user wants to start with.
    pub fn set_properties(&mut self, file: PropertyFile, entry: Option<&str>) -> Result<(), Failure> {
        self.load.entry = start(entry, Some(file.entry))?;
        self.is_exhaustive = false;
        self.is_default = false;
        self.ask(vec![Ask::of_file("the property", file.properties)]);
        Ok(())
    }

    /// Whether the question is if all executions end, and nothing else.
    pub fn is_about_ends(&self) -> bool {
        matches!(self.properties[..], [Property::Termination])
    }

    /// Calls of these functions are errors, too.
    pub fn add_error_functions(&mut self, names: &[String]) {
        self.error_functions.extend_from_slice(names);
        self.load_what_is_asked();
    }

    /// Puts the automata that are asked about into a program.
    pub fn weave(&self, program: &mut Program) -> Result<(), Failure> {
        let mut automata = self.asks.iter().filter_map(|a| a.automaton.as_ref());
        let within = (self.load.entry != "main").then_some(self.load.entry.as_str());
        automata.try_for_each(|automaton| automaton.weave(program, within).map_err(|e| Failure::data(e.to_string())))
    }

    /// Makes the front-end put into the program what the properties ask for.
    fn load_what_is_asked(&mut self) {
        let automata = self.asks.iter().filter_map(|a| a.automaton.as_ref());
        self.load.watched = automata.flat_map(|a| a.functions().map(str::to_owned)).collect();
        self.load.checks = self.asks.iter().flat_map(|a| &a.checks).copied().collect();
        self.load.error_functions = match self.error_functions.is_empty() {
            false => self.error_functions.clone(),
            // Where nobody asks whether they are called, they end the program.
            true => ALIASES.map(String::from).to_vec(),
        };
    }

    /// What is assumed of functions that nobody defines.
    pub fn assumption_of_undefined(&self) -> Option<&'static str> {
        match self.load.undefined_functions {
            UndefinedFunctions::Taint | UndefinedFunctions::Error => None,
            UndefinedFunctions::Pure => Some("functions that nobody defines return any value, and do nothing else"),
            UndefinedFunctions::Writes => Some(
                "functions that nobody defines return any value, and write only what their arguments point to themselves, and global variables",
            ),
        }
    }

    /// What is assumed of the instances of automata before a function that is not `main` is called.
    pub fn assumptions_of_automata(&self) -> impl Iterator<Item = String> {
        let automata = self.asks.iter().filter_map(|a| a.automaton.as_ref()).filter(|_| self.load.entry != "main");
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

    /// What is assumed of the call of a function that is given pointers.
    pub fn assumptions(&self) -> Vec<String> {
        let EntryMemory { pointers, array_length, depth, globals, finite: _ } = self.load.entry_memory;
        let lead = match pointers {
            EntryPointers::Valid => "objects of their own; only pointers in lists, trees and the like may be null",
            EntryPointers::MaybeNull => "objects of their own, or are null",
            EntryPointers::Aliasing => {
                "objects of their own, to the start of one that others of their type lead to, or are null"
            }
        };
        let lengths = match array_length {
            Some(1) => "each of these is one object".into(),
            Some(n) => format!("each of these is an array of {n} elements"),
            None => "these are one struct, union or pointer, or an array of any length (to 16 MB) of others; a string ends with a zero".into(),
        };
        let mut said =
            vec![format!("pointers that {} is given, and pointers there, lead to {lead}", self.load.entry), lengths];
        said.extend(depth.map(|depth| format!("pointers are null to which more than {depth} lead from the arguments")));
        said.extend(globals.then(|| "global variables have any values".into()));
        said
    }

    /// The property that an error violates, as the verdict names it.
    pub fn violated(&self, check: Check) -> &str {
        // Each automaton is asked about alone.
        if let (Check::Automaton, Some(ask)) = (check, self.asks.iter().find(|a| a.automaton.is_some())) {
            return &ask.name;
        }
        let property = self.properties.iter().find(|p| p.checks().contains(&check)).map(Property::name);
        let asked = || Asked::ALL.iter().find(|a| a.checks.contains(&check)).map(|a| a.name);
        property.or_else(asked).unwrap_or_else(|| check.name())
    }

    /// The names of what is asked, each once.
    pub fn names(&self) -> Vec<String> {
        let names = |ask: &Ask| match ask.properties[..] {
            [] => vec![ask.name.clone()],
            ref properties => properties.iter().map(|p| p.name().to_owned()).collect(),
        };
        self.asks.iter().flat_map(names).collect()
    }
}

impl Ask {
    /// What a property file asks.
    fn of_file(name: &str, properties: Vec<Property>) -> Self {
        let error_functions = error_functions(&properties, true);
        Self { error_functions, ..Self::named(name, properties) }
    }

    /// A property by its name.
    fn named(name: &str, properties: Vec<Property>) -> Self {
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

    /// A check by its name.
    fn check(asked: Asked) -> Self {
        match asked.checks {
            [Check::Call] => Self::named(asked.name, vec![Property::UnreachCall { functions: Vec::new() }]),
            checks => Self {
                name: asked.name.to_owned(),
                properties: Vec::new(),
                checks: checks.to_vec(),
                error_functions: Vec::new(),
                automaton: None,
            },
        }
    }
}

/// The automata of a file, or the one that goes by this name.
fn automata(name: &str) -> Result<Vec<Automaton>, Failure> {
    let path = Path::new(name);
    let shipped = Automaton::SHIPPED.iter().find(|(shipped, _)| *shipped == name);
    let text = match (path.exists(), shipped) {
        (false, Some((_, text))) => (*text).to_owned(),
        (false, None) if !name.contains(['/', '.']) => {
            let names: Vec<&str> = Automaton::SHIPPED.iter().map(|(name, _)| *name).collect();
            let known = names.join(", ");
            return Err(Failure::usage(format!(
                "there is no file {name}, and no automaton of that name; those that come with Proviso are {known}"
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

/// What the command line, the task, or nobody asks.
struct Questions {
    asks: Vec<Ask>,
    /// The function that a property file starts with.
    entry: Option<String>,
    is_exhaustive: bool,
    is_default: bool,
}

fn questions(task: &Task, of_the_task: &[PathBuf]) -> Result<Questions, Failure> {
    let mut asks: Vec<Ask> = Vec::new();
    let mut entry: Option<String> = None;
    for name in &task.properties {
        let path = Path::new(name);
        if Property::from_name(name).is_ok() {
            asks.push(Ask::named(name, by_name(name)?));
        } else if name.ends_with(".spc") {
            asks.extend(automata(name)?.into_iter().map(Ask::automaton));
        } else if path.exists() || name.ends_with(".prp") {
            let file = read(path)?;
            entry = Some(start(entry.as_deref(), Some(file.entry))?);
            let stem = path.file_stem().map_or_else(|| name.clone(), |s| s.to_string_lossy().into_owned());
            asks.push(Ask::of_file(&stem, file.properties));
        } else {
            return Err(Failure::usage(unknown_property(name)));
        }
    }
    for name in &task.automata {
        asks.extend(automata(name)?.into_iter().map(Ask::automaton));
    }
    for (n, ask) in asks.iter().enumerate().filter(|(_, ask)| ask.automaton.is_some()) {
        if asks[..n].iter().any(|a| a.name == ask.name) {
            return Err(Failure::usage(format!("{} is asked twice", ask.name)));
        }
    }
    if asks.is_empty()
        && task.checks.is_empty()
        && let Some(file) = of_task(of_the_task)?
    {
        entry = Some(file.entry);
        asks.push(Ask::of_file("the task's property", file.properties));
    }
    if !asks.is_empty() {
        return Ok(Questions { asks, entry, is_exhaustive: false, is_default: false });
    }
    let is_default = task.checks.is_empty();
    let wanted = match (is_default, task.otherwise) {
        (true, Otherwise::Everything) => Asked::by_default(),
        (true, Otherwise::Assertions) => {
            let asks = vec![Ask::named("unreach-call", by_name("unreach-call")?)];
            return Ok(Questions { asks, entry, is_exhaustive: false, is_default });
        }
        (false, _) => {
            let named: Result<Vec<_>, _> = task.checks.iter().map(|name| Asked::by_name(name.trim())).collect();
            named.map_err(|e| Failure::usage(e.to_string()))?.concat()
        }
    };
    // Each once, in the order of tables.
    let asks = Asked::ALL.into_iter().filter(|a| wanted.contains(a)).map(Ask::check).collect();
    Ok(Questions { asks, entry, is_exhaustive: true, is_default })
}

/// The function that the program starts with: what the user and the property file say must agree.
fn start(wanted: Option<&str>, of_file: Option<String>) -> Result<String, Failure> {
    match (wanted, of_file) {
        (Some(wanted), Some(file)) if wanted != file => {
            Err(Failure::usage(format!("--entry {wanted} is asked for, and init({file}()) by the property file")))
        }
        (Some(entry), _) => Ok(entry.to_owned()),
        (None, file) => Ok(file.unwrap_or_else(|| "main".into())),
    }
}

/// The functions that the properties name, with aliases; without a property file the defaults.
fn error_functions(properties: &[Property], from_file: bool) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for property in properties {
        if let Property::UnreachCall { functions } = property {
            names.extend(functions.iter().cloned());
        }
    }
    let asked = properties.iter().any(|p| matches!(p, Property::UnreachCall { .. }));
    if !from_file && asked && names.is_empty() {
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

/// Of several property files of a task the one for unreach-call is meant, else the first.
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
        return format!("{name} is an automaton: ask by --automaton {name}");
    }
    format!(
        "there is no property file {name}, and no property of that name; properties are {}",
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
