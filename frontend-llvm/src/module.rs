//! Loading: inputs and models, compiled, read and linked into one module.

use crate::compile::{Compiler, TRANSLATED};
use crate::cut::Cut;
use crate::error::Error;
use crate::ir;
use crate::llvm::{Link, LlvmModule};
use crate::options::{DataModel, Options};
use crate::{lower, models};
use std::fs;
use std::path::{Path, PathBuf};

/// A linked and verified LLVM module.
pub struct Module {
    llvm: LlvmModule,
    options: Options,
}

/// Compiles, reads and links the inputs, and links the models they need.
pub fn load(options: &Options) -> Result<Module, Error> {
    load_until(options, &|| false)
}

/// As [`load`], but ends with [`Error::Interrupted`] soon after `stop` says so while clang runs. `stop` is asked
/// about every millisecond, from several threads.
pub fn load_until(options: &Options, stop: &(dyn Fn() -> bool + Sync)) -> Result<Module, Error> {
    if options.inputs.is_empty() {
        return Err(Error::Usage("no input file".into()));
    }
    let mut inputs = Vec::with_capacity(options.inputs.len());
    for path in &options.inputs {
        inputs.push(Input::read(path)?);
    }
    let mut llvm = compile_and_link(&inputs, options, &[], stop)?;
    // A program may define what clang takes for a library function: then its calls mean the program's.
    let defined = llvm.defined_functions();
    let shadowed: Vec<&str> =
        TRANSLATED.iter().copied().filter(|name| defined.iter().any(|other| other == name)).collect();
    if !shadowed.is_empty() && inputs.iter().any(|input| matches!(input, Input::C(_))) {
        llvm = compile_and_link(&inputs, options, &shadowed, stop)?;
    }
    check_target(&llvm, options)?;
    if options.models {
        link_models(&mut llvm, options, stop)?;
    }
    llvm.verify()?;
    Ok(Module { llvm, options: options.clone() })
}

/// The lines on which clang finds errors in `text` if it is compiled in the place of the C file `file`; empty if it
/// compiles.
pub fn errors_in(text: &str, file: &Path, options: &Options) -> Result<Vec<u32>, Error> {
    Compiler::find()?.errors_in(text, file, options)
}

impl Module {
    /// The program that the module is.
    pub fn lower(&self) -> Result<cfa::Program, Error> {
        Ok(lower::lower(&ir::Module::decode(self.llvm.export()), &self.options)?.0)
    }

    /// As [`lower`](Self::lower), with what it takes to cut the module down to a part of the program.
    pub fn lower_to_cut(self) -> Result<(cfa::Program, Cut), Error> {
        let ir = ir::Module::decode(self.llvm.export());
        let (program, layout) = lower::lower(&ir, &self.options)?;
        Ok((program, Cut::new(self.llvm, ir, layout, self.options.entry)))
    }

    /// Writes the module, models included, as bitcode.
    pub fn write_bitcode(&self, path: &Path) -> Result<(), Error> {
        self.llvm.write(path, false)
    }

    /// Writes the module, models included, as text.
    pub fn write_ir(&self, path: &Path) -> Result<(), Error> {
        self.llvm.write(path, true)
    }
}

/// One input file.
enum Input {
    C(PathBuf),
    /// Bitcode or textual IR, checked.
    Llvm(PathBuf, Vec<u8>),
}

impl Input {
    fn read(path: &Path) -> Result<Self, Error> {
        match path.extension().and_then(|e| e.to_str()) {
            Some("c" | "i" | "h") => Ok(Self::C(path.to_owned())),
            Some("bc" | "ll" | "o") => {
                let data = fs::read(path)
                    .map_err(|error| Error::Unreadable { path: path.to_owned(), reason: error.to_string() })?;
                LlvmModule::check(path, &data)?;
                Ok(Self::Llvm(path.to_owned(), data))
            }
            _ => Err(Error::Usage(format!("{}: not a .c, .i, .bc or .ll file", path.display()))),
        }
    }
}

fn compile_and_link(
    inputs: &[Input],
    options: &Options,
    shadowed: &[&str],
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<LlvmModule, Error> {
    let c_files: Vec<&Path> = inputs
        .iter()
        .filter_map(|input| match input {
            Input::C(path) => Some(path.as_path()),
            Input::Llvm(..) => None,
        })
        .collect();
    let mut compiled =
        if c_files.is_empty() { Vec::new() } else { Compiler::find()?.compile(&c_files, options, shadowed, stop)? }
            .into_iter();
    let mut llvm = LlvmModule::new();
    for input in inputs {
        match input {
            Input::C(path) => {
                let data = compiled.next().ok_or_else(|| Error::Internal("a file was not compiled".into()))?;
                llvm.link(path, &data, Link::Everything)?;
            }
            Input::Llvm(path, data) => llvm.link(path, data, Link::Everything)?,
        }
    }
    Ok(llvm)
}

fn check_target(llvm: &LlvmModule, options: &Options) -> Result<(), Error> {
    let Some(width) = llvm.pointer_width() else {
        return Err(Error::Usage("the bitcode is for a target other than x86, or for none".into()));
    };
    if width != options.data_model.pointer_width() {
        let (is, asked) = if width == 32 { (DataModel::Ilp32, "LP64") } else { (DataModel::Lp64, "ILP32") };
        return Err(Error::Usage(format!("the bitcode has data model {is:?}, and {asked} is asked for")));
    }
    Ok(())
}

fn link_models(llvm: &mut LlvmModule, options: &Options, stop: &(dyn Fn() -> bool + Sync)) -> Result<(), Error> {
    let mut undefined = llvm.undefined();
    // Where a call ignores the result, a model that does not compute it may do.
    let simpler: Vec<&str> = undefined.iter().filter_map(|name| models::ignoring_result(name)).collect();
    for &name in &simpler {
        llvm.declare(name);
    }
    undefined.extend(simpler.into_iter().map(str::to_owned));
    let needed = models::needed(undefined.iter().map(String::as_str), &options.error_functions);
    if needed.is_empty() {
        return Ok(());
    }
    if needed.symbols.contains(&models::AT_EXIT) {
        llvm.declare(models::AT_EXIT);
    }
    let bitcode = needed.compile(&Compiler::find()?, options.data_model, stop)?;
    llvm.link(Path::new("models"), &bitcode, Link::NeededModels { except: &options.error_functions })
}
