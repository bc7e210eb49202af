//! What to verify: the command line and the task definition put together.

use crate::args::{DataModelArg, InputArgs, PointersArg, VerifyArgs};
use crate::failure::Failure;
use crate::inputs::Inputs;
use crate::project;
use crate::task::Task;
use crate::witness;
use cfa::Check;
use frontend_llvm::{DataModel, EntryMemory, EntryPointers, Options, UndefinedFunctions};
use instrument::{Property, PropertyFile};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

/// Functions that are called by different names when the same error is meant.
const ALIASES: [&str; 2] = ["reach_error", "__VERIFIER_error"];

/// The errors without a property file: also a failed `assert`.
const DEFAULT_ERRORS: [&str; 3] = ["reach_error", "__VERIFIER_error", "__assert_fail"];

/// A verification to do.
#[derive(Clone, Debug)]
pub struct Job {
    pub load: Options,
    pub properties: Vec<Property>,
    /// Functions whose call is the error.
    pub error_functions: Vec<String>,
    /// The user named them, so they must exist.
    pub errors_named: bool,
    /// All files that say what to verify: of the program, and with properties.
    pub files_read: Vec<PathBuf>,
    /// Holds files that are loaded.
    _folder: Option<Arc<TempDir>>,
}

/// The program that the arguments name.
pub struct Subject {
    pub options: Options,
    /// Of a task: its property files.
    pub properties: Vec<PathBuf>,
    /// Holds files that the options name.
    pub folder: Option<Arc<TempDir>>,
}

/// The program that the arguments name, and the task's properties if it is a task.
pub fn program(files: &[PathBuf], input: &InputArgs) -> Result<Subject, Failure> {
    let tasks = files.iter().filter(|f| Task::is_task_file(f)).count();
    let mut inputs = files.to_vec();
    let mut properties = Vec::new();
    let mut data_model = input.data_model();
    if tasks > 0 {
        let [file] = files else {
            return Err(Failure::usage("a task definition stands alone: it names the files of the program itself"));
        };
        let task = Task::read(file)?;
        (inputs, properties) = (task.files, task.properties);
        data_model = data_model.or(task.data_model);
    }
    let mut commands = BTreeMap::new();
    if let Some(build) = &input.build {
        (inputs, commands) = project::commands(build, &inputs)?;
    }
    let Inputs { files: inputs, commands: recorded, folder } = Inputs::take(&inputs)?;
    commands.extend(recorded);
    let options = Options {
        inputs,
        data_model: data_model.map(|model| match model {
            DataModelArg::Ilp32 => DataModel::Ilp32,
            DataModelArg::Lp64 => DataModel::Lp64,
        }),
        include_dirs: input.include.clone(),
        defines: input.define.clone(),
        std: input.std.clone(),
        clang_args: input.clang_args.clone(),
        commands,
        ..Options::default()
    };
    Ok(Subject { options, properties, folder })
}

impl Job {
    pub fn new(args: &VerifyArgs) -> Result<Self, Failure> {
        let Subject { options: mut load, properties: task_properties, folder } = program(&args.files, &args.input)?;
        let named = |name: &str| by_name(name).map(|properties| (properties, None));
        let of_file = |file: PropertyFile| (file.properties, Some(file.entry));
        let (properties, entry) = match &args.property {
            Some(name) if Property::from_name(name).is_ok() => named(name)?,
            Some(file) if Path::new(file).exists() || file.ends_with(".prp") => of_file(read(Path::new(file))?),
            Some(name) => return Err(Failure::usage(unknown_property(name))),
            None => match of_task(&task_properties)? {
                Some(file) => of_file(file),
                None => named("unreach-call")?,
            },
        };
        let from_file = entry.is_some();
        let errors_named = !args.error_function.is_empty();
        let error_functions =
            if errors_named { args.error_function.clone() } else { error_functions(&properties, from_file) };
        load.entry = start(args.entry.as_deref(), entry)?;
        load.entry_memory = EntryMemory {
            pointers: match args.entry_pointers {
                PointersArg::Valid => EntryPointers::Valid,
                PointersArg::MaybeNull => EntryPointers::MaybeNull,
                PointersArg::Aliasing => EntryPointers::Aliasing,
            },
            array_length: args.entry_array_length,
            depth: args.entry_depth,
            globals: args.entry_globals,
        };
        match args.undefined_functions.as_str() {
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
        load.remove_bodies.clone_from(&args.remove_function_body);
        if load.entry != "main" && properties.contains(&Property::ValidMemcleanup) {
            return Err(Failure::usage(
                "valid-memcleanup asks of a whole program: --entry cannot be another function than main",
            ));
        }
        let property_file = args.property.iter().filter(|_| from_file).map(PathBuf::from);
        let files_read = load.inputs.iter().cloned().chain(task_properties).chain(property_file).collect();
        let mut job = Self { load, properties, error_functions, errors_named, files_read, _folder: folder };
        job.load_what_is_asked();
        Ok(job)
    }

    /// Asks what this file asks instead. `entry`: the function that the user wants to start with.
    pub fn set_properties(&mut self, file: PropertyFile, entry: Option<&str>) -> Result<(), Failure> {
        self.load.entry = start(entry, Some(file.entry))?;
        self.error_functions = error_functions(&file.properties, true);
        self.properties = file.properties;
        self.load_what_is_asked();
        Ok(())
    }

    /// Calls of these functions are errors, too.
    pub fn add_error_functions(&mut self, names: &[String]) {
        self.error_functions.extend_from_slice(names);
        self.load_what_is_asked();
    }

    /// Makes the front-end put into the program what the properties ask for.
    fn load_what_is_asked(&mut self) {
        self.load.checks = self.properties.iter().flat_map(|p| p.checks()).copied().collect();
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

    /// What is assumed of the call of a function that is given pointers.
    pub fn assumptions(&self) -> Vec<String> {
        let EntryMemory { pointers, array_length, depth, globals } = self.load.entry_memory;
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

    /// What witnesses say of the task.
    pub fn witness_task(&self) -> witness::Task {
        let formulas = self.properties.iter().flat_map(|p| match p {
            Property::UnreachCall { functions } if functions.is_empty() => {
                Property::UnreachCall { functions: self.error_functions.clone() }.formulas()
            }
            other => other.formulas(),
        });
        witness::Task { files: self.load.inputs.clone(), entry: self.load.entry.clone(), formulas: formulas.collect() }
    }

    /// The property that an error violates, as the verdict names it.
    pub fn violated(&self, check: Check) -> &'static str {
        let property = self.properties.iter().find(|p| p.checks().contains(&check));
        property.map_or_else(|| check.name(), Property::name)
    }

    /// The names of the properties, each once.
    pub fn property_names(&self) -> Vec<String> {
        self.properties.iter().map(|p| p.name().to_owned()).collect()
    }
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
    let text = std::fs::read_to_string(file).map_err(|e| Failure::reading(file, &e))?;
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
