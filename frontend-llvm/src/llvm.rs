//! LLVM's modules, read, linked, checked and written. All of LLVM is behind this file: inkwell, and for what LLVM's C API
//! lacks, the C++ of `shim/`.

use crate::error::Error;
use crate::file_assembly::FileAssembly;
use crate::file_local::{Change, Function, Kind};
use crate::models::OWN;
use crate::options::InputFile;
use crate::target::{self, Target};
use inkwell::attributes::AttributeLoc;
use inkwell::context::{AsContextRef, Context};
use inkwell::llvm_sys::LLVMDiagnosticSeverity;
use inkwell::llvm_sys::bit_reader::LLVMGetBitcodeModuleInContext2;
use inkwell::llvm_sys::core::{
    LLVMContextSetDiagnosticHandler, LLVMCreateMemoryBufferWithMemoryRangeCopy, LLVMDeleteFunction, LLVMDeleteGlobal,
    LLVMDisposeMessage, LLVMGetDataLayoutStr, LLVMGetDiagInfoDescription, LLVMGetDiagInfoSeverity,
    LLVMGetFirstGlobalAlias, LLVMGetFirstUse, LLVMGetLinkage, LLVMGetModuleInlineAsm, LLVMGetNextGlobalAlias,
    LLVMGetValueName2, LLVMIsAFunction, LLVMIsDeclaration, LLVMReplaceAllUsesWith, LLVMSetDataLayout,
    LLVMSetValueName2,
};
use inkwell::llvm_sys::debuginfo::{LLVMDIFileGetFilename, LLVMDIScopeGetFile, LLVMGetSubprogram};
use inkwell::llvm_sys::prelude::{LLVMDiagnosticInfoRef, LLVMModuleRef, LLVMValueRef};
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::{Linkage, Module};
use inkwell::targets::{TargetMachine, TargetTriple};
use inkwell::values::{AsValueRef, FunctionValue};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::fs;
use std::io::{self, Read, Write};
use std::path::Path;
use std::ptr::NonNull;

#[repr(C)]
struct RawBuffer {
    words: *mut u32,
    word_count: usize,
    text: *mut u8,
    text_size: usize,
}

#[repr(C)]
struct RawOriginal {
    _private: [u8; 0],
}

unsafe extern "C" {
    fn proviso_string_free(string: *mut c_char);
    fn proviso_buffer_free(buffer: RawBuffer);
    fn proviso_producer(data: *const u8, size: usize) -> *mut c_char;
    fn proviso_upgrade_data_layout(module: LLVMModuleRef);
    fn proviso_function_delete_body(function: LLVMValueRef);
    fn proviso_link_needed(module: LLVMModuleRef, other: LLVMModuleRef) -> c_int;
    fn proviso_keep_reachable(
        modules: *const LLVMModuleRef,
        count: usize,
        root: *const c_char,
        others: *const c_char,
    ) -> c_int;
    fn proviso_list_startup(module: LLVMModuleRef);
    fn proviso_is_called_once(module: LLVMModuleRef, name: *const c_char, entry: *const c_char) -> c_int;
    fn proviso_leave_out_checks(module: LLVMModuleRef, handlers: *const c_char, scopes: c_int);
    fn proviso_original_new(module: LLVMModuleRef) -> *mut RawOriginal;
    fn proviso_original_free(original: *mut RawOriginal);
    fn proviso_cut(
        original: *mut RawOriginal,
        module: LLVMModuleRef,
        words: *const u32,
        entry: *const c_char,
    ) -> LLVMModuleRef;
    fn proviso_module_export(module: LLVMModuleRef) -> RawBuffer;
}

/// The string attribute of functions that come from our models. As in `shim/module.hpp`.
const MODEL: &str = "proviso-model";
/// The string attribute of functions that were given as bitcode. As in `shim/module.hpp`.
const BITCODE: &str = "proviso-bitcode";
/// Seconds that LLVM may take to read an input.
const READING: u32 = 60;

/// The original of a module, on the C++ side.
struct Original(NonNull<RawOriginal>);

impl Drop for Original {
    fn drop(&mut self) {
        // SAFETY: made by proviso_original_new and freed once.
        unsafe { proviso_original_free(self.0.as_ptr()) }
    }
}

/// An LLVM module in a context of its own.
pub(crate) struct LlvmModule {
    // Fields are dropped in this order. The module is the context's, whatever its lifetime says: it must not leave.
    original: Option<Original>,
    module: Module<'static>,
    context: Box<Context>,
    /// The target of what is linked in.
    target: Option<Target>,
    /// Errors that LLVM reported through its diagnostics, a line each. The context has the address.
    diagnostics: Box<RefCell<String>>,
    /// Of the inputs.
    file_assembly: Vec<FileAssembly>,
}

// SAFETY: a context and its module may move between threads; nothing else holds them.
unsafe impl Send for LlvmModule {}

/// A module exported: words that name each other and the text they refer to.
pub(crate) struct Buffer {
    pub words: Vec<u32>,
    pub text: Vec<u8>,
    pub file_assembly: Vec<FileAssembly>,
}

/// Bitcode or textual IR to be linked in.
#[derive(Clone, Copy)]
pub(crate) struct Input<'a> {
    pub file: &'a InputFile,
    pub data: &'a [u8],
    /// What is done to it before.
    pub changes: &'a [Change],
    /// It was given as it is, so that passes may have run over it.
    pub is_given: bool,
}

/// Keeps what LLVM reports as errors. Without a handler LLVM ends the process.
extern "C" fn keep_error(info: LLVMDiagnosticInfoRef, diagnostics: *mut c_void) {
    // SAFETY: LLVM gives a diagnostic, and the address that `listen` gave it.
    unsafe {
        if LLVMGetDiagInfoSeverity(info) == LLVMDiagnosticSeverity::LLVMDSError {
            let text = LLVMGetDiagInfoDescription(info);
            let mut all = (*diagnostics.cast::<RefCell<String>>()).borrow_mut();
            *all += &CStr::from_ptr(text).to_string_lossy();
            all.push('\n');
            LLVMDisposeMessage(text);
        }
    }
}

impl LlvmModule {
    pub fn new() -> Self {
        let context = Box::new(Context::create());
        let module = lasting(&context).create_module("proviso");
        let this = Self {
            original: None,
            module,
            context,
            target: None,
            diagnostics: Box::default(),
            file_assembly: Vec::new(),
        };
        this.listen();
        this
    }

    /// inkwell's linking takes the handler of diagnostics for itself.
    fn listen(&self) {
        let diagnostics = std::ptr::from_ref(&*self.diagnostics).cast_mut().cast();
        // SAFETY: the diagnostics stay where they are until the context is dropped.
        unsafe { LLVMContextSetDiagnosticHandler((&*self.context).as_ctx_ref(), Some(keep_error), diagnostics) }
    }

    /// Reads bitcode or textual IR, or says what is wrong with it.
    fn read(&self, data: &[u8]) -> Result<Module<'static>, String> {
        self.diagnostics.borrow_mut().clear();
        let buffer = MemoryBuffer::create_from_memory_range_copy(data, BUFFER);
        let module = lasting(&self.context).create_module_from_ir(buffer).map_err(|error| {
            let reported = self.diagnostics.take();
            if reported.is_empty() { message(&error.to_string()) } else { reported }
        })?;
        // SAFETY: the module is valid.
        unsafe { proviso_upgrade_data_layout(module.as_mut_ptr()) };
        Ok(module)
    }

    /// Checks that `data` is a module that LLVM reads and finds valid, in a child process, because LLVM's
    /// reader does not survive every malformed input. Its target, which is supported.
    pub fn check(path: &Path, data: &[u8]) -> Result<Target, Error> {
        let (triple, data_layout) = in_child(|| {
            if data.is_empty() {
                return Err("it is empty".into());
            }
            let scratch = Self::new();
            let module = scratch.read(data)?;
            verify(&module)?;
            let reported = scratch.diagnostics.take();
            if reported.is_empty() { Ok(triple_and_layout(&module)) } else { Err(reported) }
        })
        .map_err(|reason| {
            let is_bitcode = data.starts_with(b"BC") || data.starts_with(&[0xde, 0xc0, 0x17, 0x0b]);
            // The identification block precedes what a newer writer may have changed.
            let producer = is_bitcode.then(|| producer(data)).flatten();
            Error::BadBitcode { path: path.to_owned(), reason: reason.trim_end().to_owned(), producer }
        })?;
        Target::of_module(&triple, &data_layout).map_err(|target| target::refused(path, target))
    }

    /// The functions of bitcode or textual IR; empty if it cannot be read.
    pub fn functions(data: &[u8]) -> Vec<Function> {
        let scratch = Self::new();
        let Ok(module) = scratch.read(data) else { return Vec::new() };
        let functions = module.get_functions().map(|function| {
            let is_local = matches!(function.get_linkage(), Linkage::Internal | Linkage::Private);
            let kind = match is_local {
                true => Kind::Static,
                false if is_declaration(function) => Kind::Declared,
                false => Kind::Defined,
            };
            let file = if is_local { file_of(function) } else { String::new() };
            Function { kind, name: name(function), file }
        });
        functions.collect()
    }

    /// Links modules into this one, which is empty; of members of archives those that are needed, and if asked, no more of all than what can be reached from
    /// the function `root`, and from `others`. The functions that they define, reached or not.
    pub fn link(
        &mut self,
        inputs: &[Input],
        root: &str,
        only_reachable: bool,
        others: &[String],
    ) -> Result<Vec<String>, Error> {
        let mut modules = Vec::with_capacity(inputs.len());
        for input in inputs {
            let is_bitcode = input.data.starts_with(b"BC");
            let is_changed = !input.changes.is_empty() || !input.file.references.is_empty();
            let module = match only_reachable && is_bitcode && !is_changed {
                true => self.open(input.data),
                false => self.read(input.data),
            };
            let module = module.map_err(|reason| unreadable(&input.file.path, reason))?;
            self.take_target(&module, &input.file.path, &inputs[0].file.path)?;
            input.changes.iter().for_each(|c| change(&module, c));
            redirect(&module, &input.file.references);
            if input.is_given {
                self.mark(&module, BITCODE);
            }
            // SAFETY: the module is valid, and nothing else refers to its variables.
            unsafe { proviso_list_startup(module.as_mut_ptr()) };
            modules.push(module);
        }
        let needed = needed(&modules, inputs, root);
        let mut is_needed = needed.iter();
        modules.retain(|_| is_needed.next() == Some(&true));
        let inputs: Vec<&Input> = inputs.iter().zip(&needed).filter(|(_, needed)| **needed).map(|(i, _)| i).collect();
        is_one(&modules, &inputs, root)?;
        let defined =
            modules.iter().flat_map(Module::get_functions).filter(|f| !is_declaration(*f)).map(name).collect();
        for (module, input) in modules.iter().zip(&inputs) {
            self.file_assembly.extend(FileAssembly::of(&file_assembly(module), &input.file.path));
        }
        if let (true, Some(first)) = (only_reachable, inputs.first()) {
            self.keep_reachable(&modules, root, others).map_err(|reason| unreadable(&first.file.path, reason))?;
        }
        for (module, input) in modules.into_iter().zip(inputs) {
            self.fit(&module)
                .and_then(|()| {
                    let result = self.module.link_in_module(module).map_err(|error| error.to_string());
                    self.listen();
                    result
                })
                .map_err(|reason| Error::Link {
                    path: input.file.path.clone(),
                    reason: reason.trim_end().to_owned(),
                })?;
        }
        Ok(defined)
    }

    /// Makes references to symbols that are not defined references to others.
    pub fn redirect(&mut self, references: &BTreeMap<String, String>) {
        redirect(&self.module, references);
    }

    /// Links what is declared and not defined so far from models, but not these functions. What other models call under these names is
    /// the models' own.
    pub fn link_models(&mut self, models: &[u8], except: &[String]) -> Result<(), Error> {
        let path = Path::new("models");
        let models = self.read(models).map_err(|reason| unreadable(path, reason))?;
        self.fit(&models)
            .and_then(|()| {
                // What the verified program must not get from a model is no definition in the models.
                except.iter().for_each(|name| keep_to_models(&models, name));
                self.mark(&models, MODEL);
                let models = std::mem::ManuallyDrop::new(models);
                // SAFETY: both modules are of one context, and the other is given away.
                self.succeeds(unsafe { proviso_link_needed(self.module.as_mut_ptr(), models.as_mut_ptr()) })
            })
            .map_err(|reason| Error::Link { path: path.to_owned(), reason: reason.trim_end().to_owned() })
    }

    /// Makes the target of the first input that of the program, and refuses inputs for another. Links across targets have no meaning.
    fn take_target(&mut self, module: &Module, path: &Path, first: &Path) -> Result<(), Error> {
        let (triple, data_layout) = triple_and_layout(module);
        let target = Target::of_module(&triple, &data_layout).map_err(|target| target::refused(path, target))?;
        if data_layout.is_empty() {
            // As compilers do.
            set_data_layout(module, target.data_layout());
        }
        match &self.target {
            Some(ours) if !ours.is_compatible(&target) => Err(Error::Usage(format!(
                "{} is compiled for {}, and {} for {}: the files of a program have one target",
                path.display(),
                target.triple(),
                first.display(),
                ours.triple()
            ))),
            Some(_) => Ok(()),
            None => {
                self.target = Some(target);
                Ok(())
            }
        }
    }

    /// The target of what is linked in.
    pub fn target(&self) -> Option<&Target> {
        self.target.as_ref()
    }

    /// Gives all functions that a module defines an attribute.
    fn mark(&self, module: &Module, attribute: &str) {
        let mark = self.context.create_string_attribute(attribute, "");
        for function in module.get_functions().filter(|f| !is_declaration(*f)) {
            function.add_attribute(AttributeLoc::Function, mark);
        }
    }

    /// Makes this a module for the target of the first that is linked in, and takes no other.
    fn fit(&self, other: &Module) -> Result<(), String> {
        let (ours, theirs) = (self.module.get_triple(), other.get_triple());
        if ours.as_str().is_empty() {
            self.module.set_triple(&theirs);
            set_data_layout(&self.module, &data_layout(other));
            self.module.set_source_file_name(&other.get_source_file_name().to_string_lossy());
        } else if data_layout(&self.module) != data_layout(other) {
            let (ours, theirs) = (ours.as_str().to_string_lossy(), theirs.as_str().to_string_lossy());
            return Err(format!("it is compiled for another target ({theirs}) than the files before it ({ours})"));
        }
        Ok(())
    }

    /// Whether the C++ side says so, and if not, what it reported.
    fn succeeds(&self, status: c_int) -> Result<(), String> {
        let reported = self.diagnostics.take();
        match status {
            0 => Ok(()),
            _ if reported.is_empty() => Err("linking failed".into()),
            _ => Err(reported),
        }
    }

    /// Reads bitcode, but no function of it, as long as nobody needs one.
    fn open(&self, data: &[u8]) -> Result<Module<'static>, String> {
        self.diagnostics.borrow_mut().clear();
        let mut module = std::ptr::null_mut();
        // SAFETY: the data is copied; the module that comes out is ours, with the copy, and of our context.
        unsafe {
            let name = c"input".as_ptr();
            let copy = LLVMCreateMemoryBufferWithMemoryRangeCopy(data.as_ptr().cast(), data.len(), name);
            match LLVMGetBitcodeModuleInContext2((&*self.context).as_ctx_ref(), copy, &mut module) {
                0 => Ok(Module::new(module)),
                _ => Err(self.diagnostics.take()),
            }
        }
    }

    /// Takes out what cannot be reached from these functions, and reads the rest.
    fn keep_reachable(&self, modules: &[Module], root: &str, others: &[String]) -> Result<(), String> {
        let modules: Vec<LLVMModuleRef> = modules.iter().map(Module::as_mut_ptr).collect();
        let [root, others] = [root, &others.join(",")].map(|names| CString::new(names).unwrap_or_default());
        // SAFETY: the modules are of our context, and nothing else refers to them.
        self.succeeds(unsafe {
            proviso_keep_reachable(modules.as_ptr(), modules.len(), root.as_ptr(), others.as_ptr())
        })
    }

    /// Takes out checks whose failure is told to one of these handlers; and if asked, where scopes of variables begin and end.
    pub fn leave_out_checks(&mut self, handlers: &[String], scopes: bool) {
        let names = CString::new(handlers.join(",")).unwrap_or_default();
        // SAFETY: the module is valid, and the names live as long as the call.
        unsafe { proviso_leave_out_checks(self.module.as_mut_ptr(), names.as_ptr(), scopes.into()) }
    }

    /// Functions and variables that are used and not defined.
    pub fn undefined(&self) -> Vec<String> {
        // SAFETY: the value is live.
        let is_used = |value: LLVMValueRef| unsafe { !LLVMGetFirstUse(value).is_null() };
        let functions = self.module.get_functions();
        let functions = functions.filter(|f| is_declaration(*f) && is_used(f.as_value_ref()));
        let variables = self.module.get_globals().filter(|v| v.is_declaration() && is_used(v.as_value_ref()));
        let names = functions.map(name).filter(|name| !name.starts_with("llvm."));
        names.chain(variables.map(|v| symbol(v.get_name()))).collect()
    }

    /// Removes inline definitions that only the optimiser may use (`extern inline` of the C library's headers), of functions with these names: they read what the
    /// library keeps in its own objects, which are others in the models.
    pub fn remove_inline_definitions(&mut self, is_named: impl Fn(&str) -> bool) {
        let is_inline = |f: &FunctionValue| f.get_linkage() == Linkage::AvailableExternally && is_named(&name(*f));
        for function in self.module.get_functions().filter(is_inline) {
            delete_body(function);
            function.set_linkage(Linkage::External);
        }
    }

    /// True if an execution that starts in `entry` cannot call the function twice: it is called at one place of `entry`, which nothing calls, and
    /// no branch leads from there back to it.
    pub fn is_called_once(&self, name: &str, entry: &str) -> bool {
        let (Ok(name), Ok(entry)) = (CString::new(name), CString::new(entry)) else { return false };
        // SAFETY: the module is valid, and the names live as long as the call.
        unsafe { proviso_is_called_once(self.module.as_mut_ptr(), name.as_ptr(), entry.as_ptr()) != 0 }
    }

    /// Declares a function without parameters and result, so that its definition is linked in with what is needed.
    pub fn declare(&mut self, name: &str) {
        if self.module.get_function(name).is_none() {
            self.module.add_function(name, lasting(&self.context).void_type().fn_type(&[], false), None);
        }
    }

    /// Remembers the module as it is: it is what [`cut`](Self::cut) cuts down.
    pub fn keep_original(&mut self) {
        // SAFETY: the module is valid.
        self.original = NonNull::new(unsafe { proviso_original_new(self.module.as_mut_ptr()) }).map(Original);
    }

    pub fn verify(&mut self) -> Result<(), Error> {
        verify(&self.module).map_err(|reason| Error::Internal(format!("LLVM rejects the linked module: {reason}")))
    }

    /// Writes IR as text.
    pub fn write_text(&self, path: &Path) -> Result<(), Error> {
        fs::write(path, self.print(true))
            .map_err(|error| Error::Unreadable { path: path.to_owned(), reason: error.to_string() })
    }

    /// The bytes of bitcode, or of IR as text.
    pub fn print(&self, text: bool) -> Vec<u8> {
        match text {
            true => self.module.print_to_string().to_bytes().to_vec(),
            false => self.module.write_bitcode_to_memory().as_slice().to_vec(),
        }
    }

    /// Makes this the module that [`keep_original`](Self::keep_original) remembers, and takes out what the orders do not
    /// keep.
    ///
    /// # Safety
    ///
    /// An original is kept, and `orders` are complete, for the functions of this module that are no models, as it was
    /// exported.
    pub unsafe fn cut(&mut self, orders: &[u32], entry: &str) -> Result<(), Error> {
        let entry = CString::new(entry.replace('\0', "?")).expect("no zero bytes are left");
        let original = std::mem::ManuallyDrop::new(self.original.take().expect("an original is kept"));
        // SAFETY: the pointers are valid for the call, and the caller vouches for the orders. The result is a module of our
        // context, and ours.
        self.module = unsafe {
            let module = self.module.as_mut_ptr();
            Module::new(proviso_cut(original.0.as_ptr(), module, orders.as_ptr(), entry.as_ptr()))
        };
        verify(&self.module).map_err(|reason| Error::Internal(format!("LLVM rejects the slice: {reason}")))
    }

    pub fn export(&self) -> Buffer {
        // SAFETY: the module is valid; the buffer's two parts are as long as it says.
        unsafe {
            let raw = proviso_module_export(self.module.as_mut_ptr());
            let words = std::slice::from_raw_parts(raw.words, raw.word_count).to_vec();
            let text = std::slice::from_raw_parts(raw.text, raw.text_size).to_vec();
            proviso_buffer_free(raw);
            Buffer { words, text, file_assembly: self.file_assembly.clone() }
        }
    }
}

/// The context of an [`LlvmModule`], for what is dropped before it.
fn lasting(context: &Context) -> &'static Context {
    // SAFETY: the context stays where it is, in its box; fields are dropped in their order, and modules that were read are
    // dropped or linked by the method that read them.
    unsafe { &*std::ptr::from_ref(context) }
}

fn unreadable(path: &Path, reason: String) -> Error {
    Error::BadBitcode { path: path.to_owned(), reason, producer: None }
}

/// What LLVM calls an input in its messages.
const BUFFER: &str = "input";

/// A message of LLVM's reader (`input:3:7: error: expected type`, and the line) with no more than the number of the line.
fn message(text: &str) -> String {
    let first = text.lines().next().unwrap_or_default();
    let Some((place, what)) = first.split_once(": error: ") else { return first.to_owned() };
    match place.strip_prefix(BUFFER).and_then(|place| place.split(':').nth(1)) {
        Some(line) => format!("line {line}: {what}"),
        None => what.to_owned(),
    }
}

/// What the verifier says against a module. Broken debug information is dropped.
fn verify(module: &Module) -> Result<(), String> {
    if module.verify().is_ok() {
        return Ok(());
    }
    module.strip_debug_info();
    module.verify().map_err(|error| match error.to_string() {
        empty if empty.is_empty() => "invalid module".into(),
        message => message,
    })
}

/// A triple with all its parts in their places: `x86_64-linux-gnu` names no vendor.
pub(crate) fn normal_triple(triple: &str) -> String {
    let normal = TargetMachine::normalize_triple(&TargetTriple::create(triple));
    normal.as_str().to_string_lossy().into_owned()
}

/// The target and the data layout that a module names.
fn triple_and_layout(module: &Module) -> (String, String) {
    (module.get_triple().as_str().to_string_lossy().into_owned(), data_layout(module))
}

/// The data layout of a module. inkwell's has the text that was there when the module was made.
fn data_layout(module: &Module) -> String {
    // SAFETY: the module is valid, and the text is its own.
    unsafe { CStr::from_ptr(LLVMGetDataLayoutStr(module.as_mut_ptr())) }.to_string_lossy().into_owned()
}

fn set_data_layout(module: &Module, text: &str) {
    let text = CString::new(text).unwrap_or_default();
    // SAFETY: the module is valid, and the text is copied.
    unsafe { LLVMSetDataLayout(module.as_mut_ptr(), text.as_ptr()) }
}

/// The LLVM that wrote bitcode, by its own account ("LLVM16.0.6").
fn producer(data: &[u8]) -> Option<String> {
    // SAFETY: the pointer is valid for the call; what comes back is null or a malloc'ed string that is ours to free.
    unsafe {
        let text = proviso_producer(data.as_ptr(), data.len());
        (!text.is_null()).then(|| {
            let copy = CStr::from_ptr(text).to_string_lossy().into_owned();
            proviso_string_free(text);
            copy
        })
    }
}

fn change(module: &Module, change: &Change) {
    match change {
        Change::Remove { name } => module.get_function(name).into_iter().for_each(delete_body),
        Change::Export { name, exported } => {
            let Some(function) = module.get_function(name) else { return };
            // The same function of a header is in several modules; any of them will do.
            function.set_linkage(Linkage::WeakODR);
            if let Some(declared) = module.get_function(exported) {
                declared.replace_all_uses_with(function);
                // SAFETY: nothing uses it any more.
                unsafe { declared.delete() };
            }
            function.as_global_value().set_name(exported);
        }
    }
}

/// Functions, variables and aliases of a module.
fn symbols(module: &Module) -> Vec<LLVMValueRef> {
    let mut all: Vec<LLVMValueRef> = module.get_functions().map(|function| function.as_value_ref()).collect();
    all.extend(module.get_globals().map(|variable| variable.as_value_ref()));
    // SAFETY: the module is live, and so are its aliases.
    unsafe {
        let mut alias = LLVMGetFirstGlobalAlias(module.as_mut_ptr());
        while !alias.is_null() {
            all.push(alias);
            alias = LLVMGetNextGlobalAlias(alias);
        }
    }
    all
}

/// What the object that is made of a module does with a symbol.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Symbol {
    Local,
    Defined,
    /// An inline definition is one only for the optimiser.
    Undefined,
    /// Without a definition it is null.
    WeaklyUndefined,
}

fn kind_of_symbol(value: LLVMValueRef) -> Symbol {
    use inkwell::llvm_sys::LLVMLinkage::*;
    // SAFETY: the value is a live global.
    match unsafe { LLVMGetLinkage(value) } {
        LLVMInternalLinkage | LLVMPrivateLinkage => Symbol::Local,
        LLVMAvailableExternallyLinkage => Symbol::Undefined,
        LLVMExternalWeakLinkage => Symbol::WeaklyUndefined,
        // SAFETY: as above.
        _ if unsafe { LLVMIsDeclaration(value) } != 0 => Symbol::Undefined,
        _ => Symbol::Defined,
    }
}

/// A symbol by its name in objects.
fn symbol_of(value: LLVMValueRef) -> String {
    let mut length = 0;
    // SAFETY: the value is a live global; the name is as long as it says.
    let bytes = unsafe { std::slice::from_raw_parts(LLVMGetValueName2(value, &mut length).cast(), length) };
    let name = String::from_utf8_lossy(bytes);
    name.strip_prefix('\u{1}').unwrap_or(&name).to_owned()
}

/// Makes references to symbols that a module does not define references to others, all at once: with `--wrap=f`, `f` becomes `__wrap_f` while
/// `__real_f` becomes `f`.
fn redirect(module: &Module, references: &BTreeMap<String, String>) {
    if references.is_empty() {
        return;
    }
    let undefined = |value: &LLVMValueRef| {
        matches!(kind_of_symbol(*value), Symbol::Undefined | Symbol::WeaklyUndefined)
            && !symbol_of(*value).starts_with("llvm.")
    };
    let redirected: Vec<(LLVMValueRef, &String)> = symbols(module)
        .into_iter()
        .filter(undefined)
        .filter_map(|value| Some((value, references.get(&symbol_of(value))?)))
        .collect();
    let set_name = |value, name: &str| {
        // SAFETY: the value is live, and the name is copied.
        unsafe { LLVMSetValueName2(value, name.as_ptr().cast(), name.len()) }
    };
    for (n, &(value, _)) in redirected.iter().enumerate() {
        if kind_of_symbol(value) == Symbol::Undefined
            && let Some(function) = module.get_functions().find(|function| function.as_value_ref() == value)
            && !is_declaration(function)
        {
            delete_body(function);
            function.set_linkage(Linkage::External);
        }
        set_name(value, &format!("proviso.redirected.{n}"));
    }
    for (value, name) in redirected {
        let existing = symbols(module)
            .into_iter()
            .find(|other| *other != value && kind_of_symbol(*other) != Symbol::Local && symbol_of(*other) == *name);
        match existing {
            None => set_name(value, name),
            // SAFETY: both are live pointers of the module; the one that is deleted has no uses left.
            Some(other) => unsafe {
                LLVMReplaceAllUsesWith(value, other);
                match LLVMIsAFunction(value).is_null() {
                    true => LLVMDeleteGlobal(value),
                    false => LLVMDeleteFunction(value),
                }
            },
        }
    }
}

/// Refuses to start with a static function of a file that is compiled several times. Of those in different files the first is meant.
fn is_one(modules: &[Module], inputs: &[&Input], root: &str) -> Result<(), Error> {
    let has = |module: &Module, kind: Symbol| {
        let function = module.get_function(root).filter(|function| !is_declaration(*function));
        function.is_some_and(|function| kind_of_symbol(function.as_value_ref()) == kind)
    };
    if modules.iter().any(|module| has(module, Symbol::Defined)) {
        return Ok(());
    }
    let files =
        modules.iter().zip(inputs).filter(|(module, _)| has(module, Symbol::Local)).map(|(_, input)| &input.file.path);
    let mut seen = BTreeSet::new();
    match files.into_iter().find(|file| !seen.insert(*file)) {
        None => Ok(()),
        Some(file) => Err(Error::Usage(format!(
            "{root} is a static function of {}, which is compiled several times: give only the object that is meant",
            file.display()
        ))),
    }
}

/// By input, if it is a part of the program, as linkers decide it: all but members of archives are, and members that define what is used and not defined by
/// others. Archives may need each other. Without the function that execution starts with there is no program to be a part of, and all inputs are.
fn needed(modules: &[Module], inputs: &[Input], root: &str) -> Vec<bool> {
    let members: Vec<Option<u32>> = inputs.iter().map(|input| input.file.member).collect();
    let mut needed: Vec<bool> = members.iter().map(Option::is_none).collect();
    if needed.iter().all(|needed| *needed) {
        return needed;
    }
    let of_kind = |kind: Symbol| -> Vec<BTreeSet<String>> {
        let of = |module: &Module| {
            symbols(module).into_iter().filter(|v| kind_of_symbol(*v) == kind).map(symbol_of).collect()
        };
        modules.iter().map(of).collect()
    };
    let (defined, used) = (of_kind(Symbol::Defined), of_kind(Symbol::Undefined));
    if !defined.iter().any(|symbols| symbols.contains(root)) {
        return vec![true; inputs.len()];
    }
    loop {
        let all = |symbols: &[BTreeSet<String>]| -> BTreeSet<String> {
            symbols
                .iter()
                .zip(&needed)
                .filter(|(_, needed)| **needed)
                .flat_map(|(symbols, _)| symbols.clone())
                .collect()
        };
        let mut missing = all(&used);
        missing.insert(root.to_owned());
        let missing: BTreeSet<String> = missing.difference(&all(&defined)).cloned().collect();
        let Some(next) = (0..inputs.len()).find(|&n| !needed[n] && !defined[n].is_disjoint(&missing)) else {
            return needed;
        };
        (0..inputs.len()).filter(|&n| members[n] == members[next]).for_each(|n| needed[n] = true);
    }
}

/// Assembly that a module has at file scope.
fn file_assembly(module: &Module) -> String {
    let mut length = 0;
    // SAFETY: the module is valid; the text is as long as it says, and lives as long as the module.
    unsafe {
        let text = LLVMGetModuleInlineAsm(module.as_mut_ptr(), &mut length);
        String::from_utf8_lossy(std::slice::from_raw_parts(text.cast(), length)).into_owned()
    }
}

/// Makes the definition of a function one that only the other models see.
fn keep_to_models(models: &Module, name: &str) {
    if let Some(function) = models.get_function(name).filter(|f| !is_declaration(*f)) {
        function.set_linkage(Linkage::Internal);
        function.as_global_value().set_name(&format!("{name}{OWN}"));
    }
}

fn delete_body(function: FunctionValue) {
    // SAFETY: the function is live.
    unsafe { proviso_function_delete_body(function.as_value_ref()) }
}

fn is_declaration(function: FunctionValue) -> bool {
    function.as_global_value().is_declaration()
}

fn name(function: FunctionValue) -> String {
    symbol(function.get_name())
}

/// An assembler label stands as it is behind a mark.
fn symbol(name: &CStr) -> String {
    let name = name.to_string_lossy();
    name.strip_prefix('\u{1}').unwrap_or(&name).to_owned()
}

/// The file of a function, as debug information has it.
fn file_of(function: FunctionValue) -> String {
    // SAFETY: the function is live; a subprogram is a scope; the name is as long as it says, and lives as long as the context.
    unsafe {
        let subprogram = LLVMGetSubprogram(function.as_value_ref());
        let file = if subprogram.is_null() { subprogram } else { LLVMDIScopeGetFile(subprogram) };
        if file.is_null() {
            return String::new();
        }
        let mut length: c_uint = 0;
        let name = LLVMDIFileGetFilename(file, &mut length);
        String::from_utf8_lossy(std::slice::from_raw_parts(name.cast(), length as usize)).into_owned()
    }
}

/// Does this in a child process, which takes the crash if there is one.
fn in_child(work: impl FnOnce() -> Result<(String, String), String>) -> Result<(String, String), String> {
    let fails = |error: io::Error| format!("cannot be checked: {error}");
    let (mut reader, mut writer) = io::pipe().map_err(fails)?;
    // SAFETY: the child does what LLVM's reader does, which takes no lock that another thread may hold but the allocator's, and the
    // allocator is made for forks.
    let child = unsafe { libc::fork() };
    match child {
        ..0 => Err(fails(io::Error::last_os_error())),
        0 => {
            drop(reader);
            quiet();
            let answer = match work() {
                Ok((triple, layout)) => format!("sound\n{triple}\n{layout}"),
                Err(reason) => reason,
            };
            let _ = writer.write_all(answer.as_bytes());
            // SAFETY: ends the child without what the parent's destructors do.
            unsafe { libc::_exit(0) }
        }
        1.. => {
            drop(writer);
            let mut answer = Vec::new();
            let _ = reader.read_to_end(&mut answer);
            let mut status = 0;
            // SAFETY: `status` is live.
            while unsafe { libc::waitpid(child, &mut status, 0) } < 0
                && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
            {}
            let answer = String::from_utf8_lossy(&answer);
            if !libc::WIFEXITED(status) || libc::WEXITSTATUS(status) != 0 || answer.is_empty() {
                return Err("malformed: LLVM's reader fails on it".into());
            }
            let sound = answer.strip_prefix("sound\n").and_then(|rest| rest.split_once('\n'));
            sound.map(|(triple, layout)| (triple.into(), layout.into())).ok_or_else(|| answer.clone().into_owned())
        }
    }
}

/// In a child: a crash is silent, and time is limited. What it printed would be of no use to the user.
fn quiet() {
    // SAFETY: only system calls.
    unsafe {
        let null = libc::open(c"/dev/null".as_ptr(), libc::O_WRONLY);
        libc::dup2(null, libc::STDOUT_FILENO);
        libc::dup2(null, libc::STDERR_FILENO);
        libc::alarm(READING);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::DataModel;

    const TARGET: &str = "target datalayout = \"e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128\"\ntarget triple = \"x86_64-pc-linux-gnu\"\n";
    const IR: &str = "declare i32 @outside()\ndeclare void @unused()\ndefine i32 @f() {\n  %r = call i32 @outside()\n  ret i32 %r\n}\n";

    #[test]
    fn modules_are_read_linked_and_written() {
        let ir = format!("{TARGET}{IR}");
        let [a, b, c] = ["a.ll", "b.ll", "c.ll"].map(InputFile::from);
        let input = |file, data| Input { file, data, changes: &[], is_given: true };
        let mut module = LlvmModule::new();
        assert_eq!(module.link(&[input(&a, ir.as_bytes())], "f", false, &[]).unwrap(), ["f"]);
        assert_eq!(module.undefined(), ["outside"]);
        module.verify().unwrap();
        let mut again = LlvmModule::new();
        let bitcode = module.print(false);
        again.link(&[input(&a, &bitcode)], "f", false, &[]).unwrap();
        assert_eq!(again.print(true), module.print(true));
        // The second definition of a function is one too many; and the context still listens.
        let twice = again.link(&[input(&b, ir.as_bytes())], "f", false, &[]);
        assert!(matches!(twice, Err(Error::Link { reason, .. }) if reason.contains("'f'")));
        let broken = again.link(&[input(&c, b"define i32 @g() {\n  ret i64 0\n}\n")], "f", false, &[]);
        assert!(matches!(broken, Err(Error::BadBitcode { reason, .. }) if reason.starts_with("line 2: ")));
    }

    /// What is reached, by name in another module too, through a variable, an alias and the address of a block; from a constructor as well.
    #[test]
    fn what_is_not_reached_is_not_linked() {
        const FIRST: &str = "\
            @table = internal global [1 x ptr] [ptr @by_table]\n@unused = global ptr @never\n@block = global ptr blockaddress(@g, %b)\n\
            @llvm.global_ctors = appending global [1 x { i32, ptr, ptr }] [{ i32, ptr, ptr } { i32 1, ptr @made, ptr null }]\n\
            define void @main() {\n  %f = load ptr, ptr @table\n  call void %f()\n  call void @second()\n  ret void\n}\n\
            define internal void @by_table() {\n  ret void\n}\ndefine internal void @made() {\n  ret void\n}\n\
            define void @back() {\n  ret void\n}\ndefine void @never() {\n  call void @never_either()\n  ret void\n}\n\
            define void @never_either() {\n  %p = load ptr, ptr @unused\n  ret void\n}\ndeclare void @second()\n\
            define void @g() {\n  br label %b\nb:\n  ret void\n}\n";
        const SECOND: &str = "\
            @second = alias void (), ptr @other\n@block = external global ptr\ndefine internal void @other() {\n  %b = load ptr, ptr @block\n\
            call void @back()\n  ret void\n}\ndeclare void @back()\n";
        // Bitcode is read function by function, text at once.
        let [first, second] = [FIRST, SECOND].map(|text| format!("{TARGET}{text}"));
        let bitcode = |text: &str| {
            let mut module = LlvmModule::new();
            module
                .link(
                    &[Input { file: &InputFile::from("a.ll"), data: text.as_bytes(), changes: &[], is_given: true }],
                    "main",
                    false,
                    &[],
                )
                .unwrap();
            module.print(false)
        };
        for (first, second) in [(bitcode(&first), bitcode(&second)), (first.clone().into(), second.clone().into())] {
            let file = InputFile::from("a");
            let inputs = [&first, &second].map(|data| Input { file: &file, data, changes: &[], is_given: true });
            let mut module = LlvmModule::new();
            let mut defined = module.link(&inputs, "main", true, &[]).unwrap();
            defined.sort();
            assert_eq!(defined, ["back", "by_table", "g", "made", "main", "never", "never_either", "other"]);
            module.verify().unwrap();
            let mut left: Vec<String> = module.module.get_functions().map(name).collect();
            left.sort();
            assert_eq!(left, ["back", "by_table", "g", "made", "main", "other"]);
            let mut variables: Vec<String> = module.module.get_globals().map(|v| symbol(v.get_name())).collect();
            variables.sort();
            assert_eq!(variables, ["block", "llvm.global_ctors", "table"]);
        }
    }

    #[test]
    fn other_targets_are_refused() {
        let check = |text: &str| LlvmModule::check(Path::new("a.ll"), text.as_bytes());
        assert_eq!(check(&format!("{TARGET}{IR}")).unwrap().data_model(), DataModel::Lp64);
        let refused = |text: &str| match check(text) {
            Err(Error::Target { target, .. }) => target,
            other => panic!("{text}: {other:?}"),
        };
        assert_eq!(refused("target triple = \"aarch64-linux-gnu\"\n"), "aarch64-unknown-linux-gnu");
        assert_eq!(refused("declare void @f()\n"), "no target");
        let old =
            "target datalayout = \"e-m:e-i64:64-f80:128-n8:16:32:64-S128\"\ntarget triple = \"x86_64-pc-linux-gnu\"\n";
        assert!(check(old).is_ok() && check("target triple = \"i386-pc-linux-gnu\"\n").is_ok());
        let layout = "target datalayout = \"E-m:e-i64:64\"\ntarget triple = \"x86_64-pc-linux-gnu\"\n";
        assert!(refused(layout).starts_with("x86_64-pc-linux-gnu with a data layout"));
    }

    #[test]
    fn inputs_are_checked() {
        let check = |text: &str| LlvmModule::check(Path::new("a.ll"), text.as_bytes());
        let invalid = "define void @f() {\nentry:\n  br label %entry\n}\n";
        assert!(matches!(check(invalid), Err(Error::BadBitcode { reason, .. }) if reason.contains("Entry block")));
        let cut = &LlvmModule::check(Path::new("a.bc"), b"BC\xc0\xde\x35\x14");
        assert!(matches!(cut, Err(Error::BadBitcode { .. })));
    }
}
