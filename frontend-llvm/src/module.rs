//! Loads a program: compiles, reads and links inputs and models into one module.

use crate::compile::{Compiler, TRANSLATED};
use crate::cut::Cut;
use crate::error::Error;
use crate::ir;
use crate::llvm::{self, LlvmModule};
use crate::options::{InputFile, Options};
use crate::primitives::is_known;
use crate::target::DataModel;
use crate::target::{self, Target};
use crate::{file_local, lower, models};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// A linked and verified LLVM module.
pub struct Module {
    llvm: LlvmModule,
    options: Options,
    /// The functions that the inputs define, those that other files see first.
    defined: Vec<String>,
    warnings: Vec<String>,
}

/// The linked inputs without models.
struct Linked {
    llvm: LlvmModule,
    defined: Vec<String>,
    /// True if checks of C's rules are possible, for this program or for another one of the same inputs.
    can_be_checked: bool,
    warnings: Vec<String>,
}

/// Compiles, reads and links the inputs, and links the models that they need.
pub fn load(options: &Options) -> Result<Module, Error> {
    Loader::default().load(options, &|| false)
}

/// Loads and lowers the inputs. Also returns the data to reduce their module to a part of the program.
pub fn load_to_cut(options: &Options) -> Result<(cfa::Program, Cut), Error> {
    let (loader, go_on) = (Loader::default(), || false);
    let mut linked = loader.link(options, &go_on)?;
    linked.llvm.verify()?;
    linked.llvm.keep_original();
    let Module { llvm, options, defined, warnings: _ } = loader.with_models(linked, options, &go_on)?;
    let ir = ir::Module::decode(llvm.export());
    let (program, layout) = lower::lower(&ir, &options).map_err(|error| error.with_functions(&defined))?;
    Ok((program, Cut::new(llvm, ir, layout, options.entry)))
}

/// Loads several programs of the same inputs. Identical compilations are executed only once.
#[derive(Default)]
pub struct Loader {
    compiler: OnceLock<Compiler>,
}

impl Loader {
    /// Like [`load`]. If `stop` returns true while clang runs, the result is [`Error::Interrupted`]. `stop` is called
    /// about every millisecond, from several threads.
    pub fn load(&self, options: &Options, stop: &(dyn Fn() -> bool + Sync)) -> Result<Module, Error> {
        let mut linked = self.link(options, stop)?;
        linked.llvm.verify()?;
        if !options.checked_elsewhere.is_empty() {
            linked.llvm.leave_out_checks(&lower::unasked_handlers(&options.checks), !options.scopes());
            linked.llvm.verify()?;
        }
        self.with_models(linked, options, stop)
    }

    /// The compiler, which is searched on first use.
    fn compiler(&self) -> Result<&Compiler, Error> {
        if let Some(compiler) = self.compiler.get() {
            return Ok(compiler);
        }
        let found = Compiler::find()?;
        Ok(self.compiler.get_or_init(|| found))
    }

    /// Compiles, reads and links the inputs.
    fn link(&self, options: &Options, stop: &(dyn Fn() -> bool + Sync)) -> Result<Linked, Error> {
        if options.inputs.is_empty() {
            return Err(Error::Usage("no input file".into()));
        }
        let mut inputs = Vec::with_capacity(options.inputs.len());
        for file in &options.inputs {
            let input = Input::read(&file.path)?;
            input.check_sanitizers(&file.path, options)?;
            inputs.push(input);
        }
        let of_bitcode = inputs.iter().find_map(|input| match input {
            Input::C => None,
            Input::Llvm(_, data_model) => Some(*data_model),
        });
        let asked = options.data_model;
        let options = &Options { data_model: asked.or(of_bitcode), ..options.clone() };
        let linked = self.compile_and_link(&inputs, options, &[], stop);
        let (mut llvm, defined, warnings) = linked.map_err(|error| with_choice(error, options))?;
        check_data_model(llvm.target(), asked, &options.inputs[0].path)?;
        // If the program or a linked object defines a function that clang considers a library function, calls mean that
        // definition.
        let replaced = options.inputs.iter().flat_map(|input| input.references.keys());
        let own: BTreeSet<&String> = defined.iter().chain(replaced).chain(options.foreign.keys()).collect();
        let shadowed: Vec<&str> =
            TRANSLATED.iter().copied().filter(|name| own.iter().any(|other| other == name)).collect();
        if !shadowed.is_empty() && inputs.iter().any(|input| matches!(input, Input::C)) {
            llvm = self.compile_and_link(&inputs, options, &shadowed, stop)?.0;
        }
        let can_be_checked = inputs.iter().all(Input::says_what_c_forbids);
        Ok(Linked { llvm, defined, can_be_checked, warnings })
    }

    /// The linked module, the functions that the inputs define, and warnings.
    fn compile_and_link(
        &self,
        inputs: &[Input],
        options: &Options,
        shadowed: &[&str],
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<(LlvmModule, Vec<String>, Vec<String>), Error> {
        let files = || options.inputs.iter().zip(inputs);
        let c_files: Vec<&InputFile> =
            files().filter(|(_, input)| matches!(input, Input::C)).map(|(file, _)| file).collect();
        let compiled = if c_files.is_empty() {
            Vec::new()
        } else {
            self.compiler()?.compile(&c_files, options, shadowed, stop)?
        };
        let mut compiled = compiled.iter();
        let mut modules: Vec<(&InputFile, &[u8])> = Vec::with_capacity(inputs.len());
        for (file, input) in files() {
            modules.push(match input {
                Input::C => (file, compiled.next().ok_or_else(|| Error::Internal("a file was not compiled".into()))?),
                Input::Llvm(data, _) => (file, data),
            });
        }
        let all: Vec<&[u8]> = modules.iter().map(|&(_, data)| data).collect();
        let (changes, warnings) = file_local::changes(&all, &options.remove_bodies);
        let is_bitcode = |input: &Input| matches!(input, Input::Llvm(..));
        let asks_for_bitcode = options.checks.contains(&cfa::Check::Call) && inputs.iter().any(is_bitcode);
        let is_from_user = inputs.iter().map(is_bitcode);
        let inputs = modules.iter().zip(&changes).zip(is_from_user);
        let inputs =
            inputs.map(|((&(file, data), changes), is_from_user)| llvm::Input { file, data, changes, is_from_user });
        // If passes inlined error functions, their bodies show what remains of the calls.
        let others = if asks_for_bitcode { &options.error_functions[..] } else { &[] };
        let mut llvm = LlvmModule::new();
        let is_error = |name: &str| options.error_functions.iter().any(|error| error == name);
        let is_of_library = |name: &str| is_known(name) || models::is_defined(name) || is_error(name);
        let is_known = |name: &str| is_of_library(name) && !options.foreign.contains_key(name);
        let reachable = llvm::Reachable { others, is_known: &is_known };
        let reachable = options.only_reachable.then_some(reachable);
        let defined = llvm.link(&inputs.collect::<Vec<_>>(), &options.entry, reachable)?;
        llvm.remove_replaceable_definitions(&options.foreign);
        llvm.redirect(&foreign(options));
        Ok((llvm, defined, warnings))
    }

    fn with_models(
        &self,
        mut linked: Linked,
        options: &Options,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<Module, Error> {
        if options.models {
            self.link_models(&mut linked.llvm, options, stop)?;
            linked.llvm.verify()?;
        }
        let mut options = options.clone();
        if !linked.can_be_checked {
            options.checked_elsewhere.clear();
        }
        Ok(Module { llvm: linked.llvm, options, defined: linked.defined, warnings: linked.warnings })
    }

    fn link_models(
        &self,
        llvm: &mut LlvmModule,
        options: &Options,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<(), Error> {
        llvm.remove_inline_definitions(models::is_defined);
        let mut undefined = llvm.undefined();
        // If a call ignores the result, a model that does not compute it suffices.
        let simpler: BTreeSet<&str> = undefined.iter().flat_map(|name| models::ignoring_result(name)).collect();
        for &name in &simpler {
            llvm.declare(name);
        }
        undefined.extend(simpler.into_iter().map(str::to_owned));
        undefined.retain(|name| options.threads || !models::is_threading(name));
        let mut needed = models::needed(undefined.iter().map(String::as_str), &options.error_functions);
        needed.arguments = options.checks.contains(&cfa::Check::Argument);
        let seeds: Vec<&str> =
            models::SEEDS.into_iter().filter(|seed| undefined.iter().any(|name| name == seed)).collect();
        needed.reseeds = seeds.len() > 1 || seeds.iter().any(|seed| !llvm.is_called_once(seed, &options.entry));
        needed.initialised = options.checks.contains(&cfa::Check::Memory);
        needed.dependences = options.sequential_environment;
        if needed.is_empty() {
            return Ok(());
        }
        let own = [models::AT_EXIT, models::AT_QUICK_EXIT, models::REGISTER_HANDLER];
        for name in models::ACT_ON_CANCEL.into_iter().chain(own) {
            if needed.symbols.contains(&name) {
                llvm.declare(name);
            }
        }
        let target = llvm.target().ok_or_else(|| Error::Internal("the program has no target".into()))?;
        let bitcode = needed.compile(self.compiler()?, target, stop)?;
        llvm.link_models(&bitcode, &options.error_functions)
    }
}

/// New names for functions of foreign objects that have the names of library functions. Input functions and error
/// functions keep their names.
fn foreign(options: &Options) -> BTreeMap<String, String> {
    let is_library = |name: &str| !models::needed([name], &options.error_functions).is_empty() || is_known(name);
    let is_input = |name: &str| name.starts_with("__VERIFIER_") || name.starts_with("nondet_");
    let foreign = options.foreign.iter();
    let foreign =
        foreign.filter(|(name, _)| is_library(name) && !is_input(name) && !options.error_functions.contains(name));
    foreign.map(|(name, object)| (name.clone(), format!("{name} of {object}"))).collect()
}

/// The clang that compiles C.
pub fn clang() -> Result<PathBuf, Error> {
    Ok(Compiler::find()?.clang().to_owned())
}

/// The lines on which clang reports errors if `text` is compiled in place of the C file `file`. Empty if it compiles.
pub fn errors_in(text: &str, file: &Path, options: &Options) -> Result<Vec<u32>, Error> {
    Compiler::find()?.errors_in(text, file, options)
}

/// A C file after preprocessing.
pub fn preprocessed(file: &Path, options: &Options) -> Result<String, Error> {
    Compiler::find()?.preprocessed(file, options)
}

impl Module {
    /// Translates the module to a program.
    pub fn lower(&self) -> Result<cfa::Program, Error> {
        let lowered = lower::lower(&ir::Module::decode(self.llvm.export()), &self.options);
        Ok(lowered.map_err(|error| error.with_functions(&self.defined))?.0)
    }

    /// Like [`Self::lower`], for displaying a module. If the entry function is missing, the program starts at another
    /// function. `None` if there is no function.
    pub fn lower_from_any(&self) -> Result<Option<cfa::Program>, Error> {
        let ir = ir::Module::decode(self.llvm.export());
        let mut defined = ir.functions.iter().filter(|f| !f.declaration).map(|f| &f.name);
        let wanted = &self.options.entry;
        let Some(entry) = defined.clone().find(|name| *name == wanted).or_else(|| defined.next()) else {
            return Ok(None);
        };
        let options = Options { entry: entry.clone(), ..self.options.clone() };
        Ok(Some(lower::lower(&ir, &options)?.0))
    }

    /// Warnings for the user: options without effect.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The module as bitcode, including models.
    pub fn bitcode(&self) -> Vec<u8> {
        self.llvm.print(false)
    }

    /// Writes the module as textual IR, including models.
    pub fn write_ir(&self, path: &Path) -> Result<(), Error> {
        self.llvm.write_text(path)
    }
}

/// An input file.
enum Input {
    C,
    /// Verified bitcode or textual IR, and its data model.
    Llvm(Vec<u8>, DataModel),
}

impl Input {
    fn read(path: &Path) -> Result<Self, Error> {
        match path.extension().and_then(|e| e.to_str()) {
            Some("c" | "i" | "h") => Ok(Self::C),
            Some("bc" | "ll" | "o") => {
                let data = fs::read(path).map_err(|error| Error::unreadable(path, &error))?;
                let target = LlvmModule::check(path, &data)?;
                Ok(Self::Llvm(data, target.data_model()))
            }
            Some("cc" | "cpp" | "cxx" | "C" | "hpp") => {
                Err(Error::Usage(format!("{} is C++, which is not supported", path.display())))
            }
            _ => Err(Error::Usage(format!(
                "{} is neither C (.c, .i) nor LLVM (.bc, .ll), nor an object, archive or program",
                path.display()
            ))),
        }
    }
}

impl Input {
    /// True if the input contains checks of C's rules. Only clang inserts them, so bitcode must already contain them.
    fn says_what_c_forbids(&self) -> bool {
        let Self::Llvm(data, _) = self else { return true };
        // Names are plain text in bitcode.
        let handler = lower::HANDLER.as_bytes();
        data.windows(handler.len()).any(|window| window == handler)
    }

    fn check_sanitizers(&self, path: &Path, options: &Options) -> Result<(), Error> {
        let sanitizers = options.sanitizers();
        match self {
            Self::Llvm(..) if !sanitizers.is_empty() && !self.says_what_c_forbids() => {
                let flags = sanitizers.join(",");
                Err(Error::Usage(format!(
                    "{}: for this property, compile it from C with clang -fsanitize={flags}, or give the C file",
                    path.display()
                )))
            }
            _ => Ok(()),
        }
    }
}

/// Adds the options that select the target to an error.
fn with_choice(error: Error, options: &Options) -> Error {
    let Error::Target { path, target, .. } = error else { return error };
    let command = options.inputs.iter().find(|input| input.path == path).and_then(|input| input.command.as_ref());
    let of_project = command.map(|c| target::options(&c.options, Some(&c.directory)));
    let all = of_project.into_iter().flatten().chain(target::options(&options.clang_args, None));
    let words: Vec<String> = all.map(|option| option.to_string_lossy().into_owned()).collect();
    Error::Target { path, target, options: words.join(" ") }
}

/// Rejects a program whose target has another data model than the user requests.
fn check_data_model(target: Option<&Target>, asked: Option<DataModel>, first: &Path) -> Result<(), Error> {
    match (target, asked) {
        (Some(target), Some(asked)) if target.data_model() != asked => Err(Error::Usage(format!(
            "{} is compiled for {}, which has data model {}, and {} is requested",
            first.display(),
            target.triple(),
            target.data_model().name(),
            asked.name()
        ))),
        _ => Ok(()),
    }
}
