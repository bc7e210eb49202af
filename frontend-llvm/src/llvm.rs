//! Reads, links, verifies and writes LLVM modules. This file encapsulates LLVM: it uses inkwell, and the C++ code in
//! `shim/` where LLVM's C API is insufficient.

use crate::error::Error;
use crate::file_assembly::{Binding, FileAssembly, SymbolDirectives};
use crate::options::InputFile;
use crate::primitives::{INTERNAL, OF_PROGRAM, OWN};
use crate::target::{self, Target};
use inkwell::attributes::AttributeLoc;
use inkwell::context::{AsContextRef, Context};
use inkwell::llvm_sys::bit_reader::LLVMGetBitcodeModuleInContext2;
use inkwell::llvm_sys::comdat::LLVMSetComdat;
use inkwell::llvm_sys::core::{
    LLVMAddAlias2, LLVMAddFunction, LLVMAddGlobal, LLVMContextSetDiagnosticHandler,
    LLVMCreateMemoryBufferWithMemoryRangeCopy, LLVMDisposeMessage, LLVMGetDataLayoutStr, LLVMGetDiagInfoDescription,
    LLVMGetDiagInfoSeverity, LLVMGetFirstGlobalAlias, LLVMGetFirstUse, LLVMGetLinkage, LLVMGetModuleInlineAsm,
    LLVMGetNextGlobalAlias, LLVMGetTypeKind, LLVMGetValueName2, LLVMGlobalGetValueType, LLVMIsAGlobalVariable,
    LLVMIsDeclaration, LLVMReplaceAllUsesWith, LLVMSetDataLayout, LLVMSetInitializer, LLVMSetLinkage,
    LLVMSetModuleInlineAsm2, LLVMSetValueName2,
};
use inkwell::llvm_sys::debuginfo::{LLVMDIFileGetFilename, LLVMDIScopeGetFile, LLVMGetSubprogram};
use inkwell::llvm_sys::prelude::{LLVMDiagnosticInfoRef, LLVMModuleRef, LLVMValueRef};
use inkwell::llvm_sys::{LLVMDiagnosticSeverity, LLVMLinkage, LLVMTypeKind};
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
    fn proviso_is_always_inlined(function: LLVMValueRef) -> c_int;
    fn proviso_keep_for_calls(function: LLVMValueRef);
    fn proviso_delete_symbol(symbol: LLVMValueRef);
    fn proviso_link_needed(module: LLVMModuleRef, other: LLVMModuleRef) -> c_int;
    fn proviso_keep_reachable(
        modules: *const LLVMModuleRef,
        count: usize,
        root: *const c_char,
        others: *const c_char,
        unknown: *const c_char,
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

/// The attribute that marks functions of models. It must agree with `shim/module.hpp`.
const MODEL: &str = "proviso-model";
/// The attribute that marks functions of bitcode inputs. It must agree with `shim/module.hpp`.
const BITCODE: &str = "proviso-bitcode";
/// The time limit in seconds for reading an input.
const MAX_READING_SECONDS: u32 = 60;

/// The folders with headers of the C library.
const SYSTEM_HEADERS: [&str; 2] = ["/usr/include/", "/usr/local/include/"];

/// A handle of the original module on the C++ side.
struct Original(NonNull<RawOriginal>);

impl Drop for Original {
    fn drop(&mut self) {
        // SAFETY: made by proviso_original_new and freed once.
        unsafe { proviso_original_free(self.0.as_ptr()) }
    }
}

/// An LLVM module in its own context.
pub(crate) struct LlvmModule {
    // The fields are dropped in this order. The context owns the module, despite the lifetime `'static`, so the module
    // must not leave this struct.
    original: Option<Original>,
    module: Module<'static>,
    context: Box<Context>,
    /// The target of the linked inputs.
    target: Option<Target>,
    /// Errors that LLVM reported, one per line. The context has the address of this field.
    diagnostics: Box<RefCell<String>>,
    /// Assembly at file scope in the inputs.
    file_assembly: Vec<FileAssembly>,
}

// SAFETY: a context and its module may move between threads; nothing else holds them.
unsafe impl Send for LlvmModule {}

/// An exported module: words that refer to each other, and the text that they refer to.
pub(crate) struct Buffer {
    pub words: Vec<u32>,
    pub text: Vec<u8>,
    pub file_assembly: Vec<FileAssembly>,
}

/// A function of an input.
pub(crate) struct Function {
    pub kind: Kind,
    pub name: String,
    /// For a static function, its file.
    pub file: String,
}

/// The kind of a function in one input file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Declared,
    Defined,
    Static,
}

/// A modification of an input.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Change {
    /// A static function becomes visible under another name.
    Export { name: String, exported: String },
    /// The body of a function is removed.
    Remove { name: String },
}

/// The definitions that a program keeps.
pub(crate) struct Reachable<'a> {
    /// Functions that are roots, besides the entry function.
    pub others: &'a [String],
    /// True for functions whose effects are known even if no input defines them. If another function without a definition
    /// is reachable, it may use all variables that are visible to other files.
    pub is_known: &'a dyn Fn(&str) -> bool,
}

/// Bitcode or textual IR to link.
#[derive(Clone, Copy)]
pub(crate) struct Input<'a> {
    pub file: &'a InputFile,
    pub data: &'a [u8],
    /// Modifications before linking.
    pub changes: &'a [Change],
    /// True if the user passed this file as bitcode or IR, so that optimisation passes may have changed it.
    pub is_from_user: bool,
}

/// Collects LLVM's error diagnostics. Without a handler, LLVM would end the process.
extern "C" fn record_error(info: LLVMDiagnosticInfoRef, diagnostics: *mut c_void) {
    // LLVM passes a diagnostic, and the address that `listen` registered.
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
        let module = with_static_lifetime(&context).create_module("proviso");
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

    /// Registers the diagnostic handler. inkwell's linking removes it.
    fn listen(&self) {
        let diagnostics = std::ptr::from_ref(&*self.diagnostics).cast_mut().cast();
        // SAFETY: the diagnostics stay where they are until the context is dropped.
        unsafe { LLVMContextSetDiagnosticHandler((&*self.context).as_ctx_ref(), Some(record_error), diagnostics) }
    }

    /// Reads bitcode or textual IR. Fails with LLVM's message.
    fn read(&self, data: &[u8]) -> Result<Module<'static>, String> {
        self.diagnostics.borrow_mut().clear();
        let buffer = MemoryBuffer::create_from_memory_range_copy(data, BUFFER);
        let module = with_static_lifetime(&self.context).create_module_from_ir(buffer).map_err(|error| {
            let reported = self.diagnostics.take();
            if reported.is_empty() { shortened(&error.to_string()) } else { reported }
        })?;
        // SAFETY: the module is valid.
        unsafe { proviso_upgrade_data_layout(module.as_mut_ptr()) };
        Ok(module)
    }

    /// Checks that LLVM can read `data` and that its verifier accepts the module. Returns the target. The check runs in
    /// a child process, because LLVM's reader crashes on some malformed inputs.
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
            // The identification block precedes the parts whose format depends on the LLVM version.
            let producer = is_bitcode.then(|| producer(data)).flatten();
            Error::BadBitcode { path: path.to_owned(), reason: reason.trim_end().to_owned(), producer }
        })?;
        Target::of_module(&triple, &data_layout).map_err(|target| target::refused(path, target))
    }

    /// The functions of bitcode or textual IR. Empty if it cannot be read.
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

    /// Links modules into this empty one. An archive member is linked only if it is [needed]. With `reachable`, only the
    /// definitions that are reachable from the function `root` and from these functions are linked. Returns the names of
    /// all functions that the linked inputs define.
    pub fn link(&mut self, inputs: &[Input], root: &str, reachable: Option<Reachable>) -> Result<Vec<String>, Error> {
        let mut modules = Vec::with_capacity(inputs.len());
        let mut unmodelled = Vec::with_capacity(inputs.len());
        for input in inputs {
            let is_bitcode = input.data.starts_with(b"BC");
            let is_changed = !input.changes.is_empty() || !input.file.references.is_empty();
            let module = match reachable.is_some() && is_bitcode && !is_changed {
                true => self.open(input.data),
                false => self.read(input.data),
            };
            let module = module.map_err(|reason| unreadable(&input.file.path, reason))?;
            // The calls of such functions are changed, so the bodies are read now.
            let module = match always_inlined(&module).is_empty() {
                false => self.read(input.data).map_err(|reason| unreadable(&input.file.path, reason))?,
                true => module,
            };
            self.check_target(&module, &input.file.path, &inputs[0].file.path)?;
            input.changes.iter().for_each(|c| change(&module, c));
            if let Some(symbol) = input.file.redefined.iter().find(|symbol| uses_own_definition(&module, symbol)) {
                let reason = format!(
                    "it uses {symbol}, which it defines and --defsym defines again: which one counts depends on the compiler"
                );
                return Err(Error::Link { path: input.file.path.clone(), reason });
            }
            redirect(&module, &input.file.references);
            if input.is_from_user {
                self.mark(&module, BITCODE);
            }
            unmodelled.push(define_second_names(&module).err());
            // SAFETY: the module is valid, and nothing else refers to its variables.
            unsafe { proviso_list_startup(module.as_mut_ptr()) };
            modules.push(module);
        }
        let needed = needed(&modules, inputs, root);
        for ((input, statement), _) in inputs.iter().zip(unmodelled).zip(&needed).filter(|(_, needed)| **needed) {
            self.file_assembly.extend(statement.map(|statement| FileAssembly::new(statement, &input.file.path)));
        }
        let mut is_needed = needed.iter();
        modules.retain(|_| is_needed.next() == Some(&true));
        let inputs: Vec<&Input> = inputs.iter().zip(&needed).filter(|(_, needed)| **needed).map(|(i, _)| i).collect();
        keep_always_inlined(&modules);
        check_unique_root(&modules, &inputs, root)?;
        let functions = modules.iter().flat_map(Module::get_functions).filter(|f| !is_declaration(*f));
        let mut defined: Vec<FunctionValue> = functions.collect();
        defined.sort_by_key(|f| symbol_status(f.as_value_ref()) == SymbolStatus::Local);
        let defined = defined.into_iter().map(name).collect();
        if let (Some(reachable), Some(first)) = (reachable, inputs.first()) {
            self.keep_reachable(&modules, root, &reachable).map_err(|reason| unreadable(&first.file.path, reason))?;
        }
        for (module, input) in modules.into_iter().zip(inputs) {
            self.unify_data_layout(&module)
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

    /// Removes the replaceable definitions of these symbols: weak and common ones, and those for the optimiser only. An
    /// object of unknown content may define the symbols, so the address of a weakly undefined symbol is no longer null.
    pub fn remove_replaceable_definitions(&mut self, names: &BTreeMap<String, String>) {
        if names.is_empty() {
            return;
        }
        let is_open = |value: &LLVMValueRef| is_replaceable(*value) && names.contains_key(&symbol_of(*value));
        for value in symbols(&self.module).into_iter().filter(is_open) {
            // SAFETY: the values are live values of the module. An alias has no uses when it is deleted.
            unsafe {
                let function = FunctionValue::new(value);
                if let Some(function) = function {
                    delete_body(function);
                } else if !LLVMIsAGlobalVariable(value).is_null() {
                    LLVMSetInitializer(value, std::ptr::null_mut());
                } else {
                    LLVMReplaceAllUsesWith(value, declaration_of_alias(&self.module, value));
                    proviso_delete_symbol(value);
                    continue;
                }
                LLVMSetComdat(value, std::ptr::null_mut());
                LLVMSetLinkage(value, LLVMLinkage::LLVMExternalLinkage);
            }
        }
    }

    /// Renames references to undefined symbols.
    pub fn redirect(&mut self, references: &BTreeMap<String, String>) {
        redirect(&self.module, references);
    }

    /// Links models for the undefined symbols, except for the functions in `except`. If models call these functions,
    /// they call the models' own definitions.
    pub fn link_models(&mut self, models: &[u8], except: &[String]) -> Result<(), Error> {
        let path = Path::new("models");
        let models = self.read(models).map_err(|reason| unreadable(path, reason))?;
        self.unify_data_layout(&models)
            .and_then(|()| {
                // A function that the program must not take from the models becomes internal to them.
                except.iter().for_each(|name| make_internal(&models, name));
                rename_clashing_definitions(&self.module, &models);
                self.mark(&models, MODEL);
                let models = std::mem::ManuallyDrop::new(models);
                // Both modules are in one context, and the call takes ownership of the other module.
                self.check_status(unsafe { proviso_link_needed(self.module.as_mut_ptr(), models.as_mut_ptr()) })
            })
            .map_err(|reason| Error::Link { path: path.to_owned(), reason: reason.trim_end().to_owned() })
    }

    /// Sets the target of the program to that of the first input. Fails for another input with an incompatible target: LLVM
    /// does not define the meaning of such a link.
    fn check_target(&mut self, module: &Module, path: &Path, first: &Path) -> Result<(), Error> {
        let (triple, data_layout) = triple_and_layout(module);
        let target = Target::of_module(&triple, &data_layout).map_err(|target| target::refused(path, target))?;
        if data_layout.is_empty() {
            // Like compilers, uses the default data layout of the target.
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

    /// The target of the linked inputs.
    pub fn target(&self) -> Option<&Target> {
        self.target.as_ref()
    }

    /// Adds an attribute to all functions that a module defines.
    fn mark(&self, module: &Module, attribute: &str) {
        let mark = self.context.create_string_attribute(attribute, "");
        for function in module.get_functions().filter(|f| !is_declaration(*f)) {
            function.add_attribute(AttributeLoc::Function, mark);
        }
    }

    /// Sets the triple and the data layout of this module to those of the first linked module. Fails for a later module
    /// with another data layout.
    fn unify_data_layout(&self, other: &Module) -> Result<(), String> {
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

    /// Converts a status code of the C++ functions: 0 is success. Fails with the diagnostics that LLVM reported.
    fn check_status(&self, status: c_int) -> Result<(), String> {
        let reported = self.diagnostics.take();
        match status {
            0 => Ok(()),
            _ if reported.is_empty() => Err("linking failed".into()),
            _ => Err(reported),
        }
    }

    /// Opens bitcode lazily: function bodies are read on demand.
    fn open(&self, data: &[u8]) -> Result<Module<'static>, String> {
        self.diagnostics.borrow_mut().clear();
        let mut module = std::ptr::null_mut();
        // The data is copied. This object owns the resulting module with the copy, in its own context.
        unsafe {
            let name = c"input".as_ptr();
            let copy = LLVMCreateMemoryBufferWithMemoryRangeCopy(data.as_ptr().cast(), data.len(), name);
            match LLVMGetBitcodeModuleInContext2((&*self.context).as_ctx_ref(), copy, &mut module) {
                0 => Ok(Module::new(module)),
                _ => Err(self.diagnostics.take()),
            }
        }
    }

    /// Removes the definitions that are unreachable from these functions, and reads the others.
    fn keep_reachable(&self, modules: &[Module], root: &str, reachable: &Reachable) -> Result<(), String> {
        let functions = modules.iter().flat_map(Module::get_functions).map(name);
        let unknown: BTreeSet<String> = functions.filter(|name| !(reachable.is_known)(name)).collect();
        let unknown: Vec<String> = unknown.into_iter().collect();
        let modules: Vec<LLVMModuleRef> = modules.iter().map(Module::as_mut_ptr).collect();
        let [root, others, unknown] = [root, &reachable.others.join(","), &unknown.join(",")]
            .map(|names| CString::new(names).unwrap_or_default());
        // The modules are in this context, and nothing else refers to them.
        self.check_status(unsafe {
            proviso_keep_reachable(modules.as_ptr(), modules.len(), root.as_ptr(), others.as_ptr(), unknown.as_ptr())
        })
    }

    /// Removes the checks that report failures to one of these handlers. If `scopes`, also removes the markers of
    /// variable scopes.
    pub fn leave_out_checks(&mut self, handlers: &[String], scopes: bool) {
        let names = CString::new(handlers.join(",")).unwrap_or_default();
        // SAFETY: the module is valid, and the names live as long as the call.
        unsafe { proviso_leave_out_checks(self.module.as_mut_ptr(), names.as_ptr(), scopes.into()) }
    }

    /// The names of functions and variables that are used but not defined.
    pub fn undefined(&self) -> Vec<String> {
        // SAFETY: the value is live.
        let is_used = |value: LLVMValueRef| unsafe { !LLVMGetFirstUse(value).is_null() };
        let functions = self.module.get_functions();
        let functions = functions.filter(|f| is_declaration(*f) && is_used(f.as_value_ref()));
        let variables = self.module.get_globals().filter(|v| v.is_declaration() && is_used(v.as_value_ref()));
        let names = functions.map(name).filter(|name| !name.starts_with("llvm."));
        names.chain(variables.map(|v| symbol(v.get_name()))).collect()
    }

    /// Removes inline definitions for the optimiser (`extern inline` in headers of the C library) of functions for
    /// which `is_named` returns true. They read internal objects of the library that do not exist in the models. An
    /// inline definition in another file is the program's own.
    pub fn remove_inline_definitions(&mut self, is_named: impl Fn(&str) -> bool) {
        let is_of_library = |f: FunctionValue| {
            let file = file_of(f);
            file.is_empty() || SYSTEM_HEADERS.iter().any(|folder| file.starts_with(folder))
        };
        let is_inline = |f: &FunctionValue| {
            f.get_linkage() == Linkage::AvailableExternally && is_named(&name(*f)) && is_of_library(*f)
        };
        for function in self.module.get_functions().filter(is_inline) {
            delete_body(function);
            function.set_linkage(Linkage::External);
        }
    }

    /// True if no execution that starts in `entry` can call the function twice: the only call is in `entry`, nothing
    /// calls `entry`, and the call is not in a cycle.
    pub fn is_called_once(&self, name: &str, entry: &str) -> bool {
        let (Ok(name), Ok(entry)) = (CString::new(name), CString::new(entry)) else { return false };
        // SAFETY: the module is valid, and the names live as long as the call.
        unsafe { proviso_is_called_once(self.module.as_mut_ptr(), name.as_ptr(), entry.as_ptr()) != 0 }
    }

    /// Declares a function without parameters and result, so that its definition is linked if needed.
    pub fn declare(&mut self, name: &str) {
        if self.module.get_function(name).is_none() {
            self.module.add_function(name, with_static_lifetime(&self.context).void_type().fn_type(&[], false), None);
        }
    }

    /// Stores a copy of the current module, which [`cut`](Self::cut) will reduce.
    pub fn keep_original(&mut self) {
        // SAFETY: the module is valid.
        self.original = NonNull::new(unsafe { proviso_original_new(self.module.as_mut_ptr()) }).map(Original);
    }

    pub fn verify(&mut self) -> Result<(), Error> {
        verify(&self.module).map_err(|reason| Error::Internal(format!("LLVM rejects the linked module: {reason}")))
    }

    /// Writes the module as textual IR.
    pub fn write_text(&self, path: &Path) -> Result<(), Error> {
        fs::write(path, self.print(true)).map_err(|error| Error::unreadable(path, &error))
    }

    /// The module as bitcode or textual IR.
    pub fn print(&self, text: bool) -> Vec<u8> {
        match text {
            true => self.module.print_to_string().to_bytes().to_vec(),
            false => self.module.write_bitcode_to_memory().as_slice().to_vec(),
        }
    }

    /// Replaces the module by the copy of [`keep_original`](Self::keep_original), without everything that the orders do
    /// not keep.
    ///
    /// # Safety
    ///
    /// A copy must exist. `orders` must be complete for the non-model functions of this module as it was exported.
    pub unsafe fn cut(&mut self, orders: &[u32], entry: &str) -> Result<(), Error> {
        let entry = CString::new(entry.replace('\0', "?")).expect("no zero bytes are left");
        let original = std::mem::ManuallyDrop::new(self.original.take().expect("an original is kept"));
        // The pointers are valid during the call, and the caller guarantees the orders. This object owns the resulting
        // module, which is in its context.
        self.module = unsafe {
            let module = self.module.as_mut_ptr();
            Module::new(proviso_cut(original.0.as_ptr(), module, orders.as_ptr(), entry.as_ptr()))
        };
        verify(&self.module).map_err(|reason| Error::Internal(format!("LLVM rejects the slice: {reason}")))
    }

    pub fn export(&self) -> Buffer {
        // SAFETY: the module is valid; the two parts of the buffer have the lengths in its fields.
        unsafe {
            let raw = proviso_module_export(self.module.as_mut_ptr());
            let words = std::slice::from_raw_parts(raw.words, raw.word_count).to_vec();
            let text = std::slice::from_raw_parts(raw.text, raw.text_size).to_vec();
            proviso_buffer_free(raw);
            Buffer { words, text, file_assembly: self.file_assembly.clone() }
        }
    }
}

/// A reference to the context of an [`LlvmModule`] with a static lifetime, for values that are dropped before the context.
fn with_static_lifetime(context: &Context) -> &'static Context {
    // The box keeps the context at its address. Fields are dropped in order. A method that reads a module drops or
    // links it.
    unsafe { &*std::ptr::from_ref(context) }
}

fn unreadable(path: &Path, reason: String) -> Error {
    Error::BadBitcode { path: path.to_owned(), reason, producer: None }
}

/// The name of inputs in LLVM's messages.
const BUFFER: &str = "input";

/// Shortens a message of LLVM's reader (`input:3:7: error: expected type`, and the source line). Keeps only the line
/// number and the reason.
fn shortened(text: &str) -> String {
    let first = text.lines().next().unwrap_or_default();
    let Some((place, what)) = first.split_once(": error: ") else { return first.to_owned() };
    match place.strip_prefix(BUFFER).and_then(|place| place.split(':').nth(1)) {
        Some(line) => format!("line {line}: {what}"),
        None => what.to_owned(),
    }
}

/// Runs the verifier. If only debug information is broken, removes it.
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

/// Normalises a triple: `x86_64-linux-gnu` has no vendor.
pub(crate) fn normal_triple(triple: &str) -> String {
    let normal = TargetMachine::normalize_triple(&TargetTriple::create(triple));
    normal.as_str().to_string_lossy().into_owned()
}

/// The triple of a module in normal form, and its data layout. Either may be empty.
fn triple_and_layout(module: &Module) -> (String, String) {
    let triple = module.get_triple().as_str().to_string_lossy().into_owned();
    (if triple.is_empty() { triple } else { normal_triple(&triple) }, data_layout(module))
}

/// The data layout of a module. inkwell's accessor returns the layout at the creation of the module.
fn data_layout(module: &Module) -> String {
    // SAFETY: the module is valid, and the text is its own.
    unsafe { CStr::from_ptr(LLVMGetDataLayoutStr(module.as_mut_ptr())) }.to_string_lossy().into_owned()
}

fn set_data_layout(module: &Module, text: &str) {
    let text = CString::new(text).unwrap_or_default();
    // SAFETY: the module is valid, and the text is copied.
    unsafe { LLVMSetDataLayout(module.as_mut_ptr(), text.as_ptr()) }
}

/// The version of LLVM that bitcode names as its producer ("LLVM16.0.6").
fn producer(data: &[u8]) -> Option<String> {
    // SAFETY: the pointer is valid for the call; the result is null or a string of malloc that this function frees.
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
            // Several modules may contain the same function of a header. With this linkage, the linker takes any of them.
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

/// The functions, variables and aliases of a module.
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

/// The status of a symbol in the object file of a module.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SymbolStatus {
    /// Defined, and not visible in other object files.
    Local,
    /// Defined, and visible in other object files.
    Defined,
    /// Not defined. An available-externally definition is only for the optimiser, so it counts as none.
    Undefined,
    /// Not defined, by a weak declaration: if no other object file defines the symbol, its address is null.
    WeaklyUndefined,
}

fn symbol_status(value: LLVMValueRef) -> SymbolStatus {
    use inkwell::llvm_sys::LLVMLinkage::*;
    // SAFETY: the value is a live global.
    match unsafe { LLVMGetLinkage(value) } {
        LLVMInternalLinkage | LLVMPrivateLinkage => SymbolStatus::Local,
        LLVMAvailableExternallyLinkage => SymbolStatus::Undefined,
        LLVMExternalWeakLinkage => SymbolStatus::WeaklyUndefined,
        // SAFETY: as above.
        _ if unsafe { LLVMIsDeclaration(value) } != 0 => SymbolStatus::Undefined,
        _ => SymbolStatus::Defined,
    }
}

/// The name of a symbol in object files.
fn symbol_of(value: LLVMValueRef) -> String {
    let mut length = 0;
    // SAFETY: the value is a live global; the name has the returned length.
    let bytes = unsafe { std::slice::from_raw_parts(LLVMGetValueName2(value, &mut length).cast(), length) };
    let name = String::from_utf8_lossy(bytes);
    name.strip_prefix('\u{1}').unwrap_or(&name).to_owned()
}

/// True if a module has a definition of a symbol that other modules see, and uses it.
fn uses_own_definition(module: &Module, name: &str) -> bool {
    let is_definition =
        |value: &LLVMValueRef| symbol_status(*value) == SymbolStatus::Defined && symbol_of(*value) == name;
    // SAFETY: the value is live.
    symbols(module).into_iter().find(is_definition).is_some_and(|value| unsafe { !LLVMGetFirstUse(value).is_null() })
}

/// True for a symbol whose definition in this module another definition may replace.
fn is_replaceable(value: LLVMValueRef) -> bool {
    use LLVMLinkage::*;
    // SAFETY: the value is a live global.
    let linkage = unsafe { LLVMGetLinkage(value) };
    let is_weak = matches!(linkage, LLVMWeakAnyLinkage | LLVMWeakODRLinkage | LLVMExternalWeakLinkage);
    let is_once = matches!(linkage, LLVMLinkOnceAnyLinkage | LLVMLinkOnceODRLinkage | LLVMAvailableExternallyLinkage);
    is_weak || is_once || linkage == LLVMCommonLinkage
}

/// The functions that are inlined into all direct callers in the module, and that another module may define, too.
fn always_inlined(module: &Module) -> Vec<LLVMValueRef> {
    let functions = module.get_functions().map(|function| function.as_value_ref());
    // SAFETY: the function is live.
    functions.filter(|&f| is_replaceable(f) && unsafe { proviso_is_always_inlined(f) } != 0).collect()
}

/// Lets the direct calls of [always inlined](always_inlined) functions in a module use the definition of this module,
/// although the linker takes that of another module for all other uses.
fn keep_always_inlined(modules: &[Module]) {
    let inlined: Vec<Vec<LLVMValueRef>> = modules.iter().map(always_inlined).collect();
    if inlined.iter().all(Vec::is_empty) {
        return;
    }
    // The first strong definition counts, else the first weak one.
    let mut chosen: BTreeMap<String, (bool, usize)> = BTreeMap::new();
    for (number, module) in modules.iter().enumerate() {
        for value in symbols(module).into_iter().filter(|&v| symbol_status(v) == SymbolStatus::Defined) {
            let found = (is_replaceable(value), number);
            chosen.entry(symbol_of(value)).and_modify(|best| *best = found.min(*best)).or_insert(found);
        }
    }
    for (number, functions) in inlined.iter().enumerate() {
        let is_elsewhere = |f: &&LLVMValueRef| chosen.get(&symbol_of(**f)).is_some_and(|&(_, best)| best != number);
        // SAFETY: the functions are live, and nothing else refers to their modules.
        functions.iter().filter(is_elsewhere).for_each(|&f| unsafe { proviso_keep_for_calls(f) });
    }
}

/// Adds a declaration to a module that takes the name of an alias.
///
/// # Safety
///
/// The alias is live.
unsafe fn declaration_of_alias(module: &Module, alias: LLVMValueRef) -> LLVMValueRef {
    let name = symbol_of(alias);
    // SAFETY: the caller guarantees it, and names are copied.
    unsafe {
        let ty = LLVMGlobalGetValueType(alias);
        LLVMSetValueName2(alias, c"".as_ptr(), 0);
        let name = CString::new(name).unwrap_or_default();
        match LLVMGetTypeKind(ty) {
            LLVMTypeKind::LLVMFunctionTypeKind => LLVMAddFunction(module.as_mut_ptr(), name.as_ptr(), ty),
            _ => LLVMAddGlobal(module.as_mut_ptr(), ty, name.as_ptr()),
        }
    }
}

/// Renames references to undefined symbols of a module simultaneously: with `--wrap=f`, `f` becomes `__wrap_f` and
/// `__real_f` becomes `f`.
fn redirect(module: &Module, references: &BTreeMap<String, String>) {
    if references.is_empty() {
        return;
    }
    let undefined = |value: &LLVMValueRef| {
        matches!(symbol_status(*value), SymbolStatus::Undefined | SymbolStatus::WeaklyUndefined)
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
        if symbol_status(value) == SymbolStatus::Undefined
            && let Some(function) = module.get_functions().find(|function| function.as_value_ref() == value)
            && !is_declaration(function)
        {
            delete_body(function);
            function.set_linkage(Linkage::External);
        }
        set_name(value, &format!("proviso.redirected.{n}"));
    }
    for (value, name) in redirected {
        let existing = symbols(module).into_iter().find(|other| {
            *other != value && symbol_status(*other) != SymbolStatus::Local && symbol_of(*other) == *name
        });
        match existing {
            None => set_name(value, name),
            // Both are live values of the module. The deleted one has no uses left.
            Some(other) => unsafe {
                LLVMReplaceAllUsesWith(value, other);
                proviso_delete_symbol(value);
            },
        }
    }
}

/// Fails if `root` is a static function of a file that is compiled several times. If static functions of different
/// files have this name, the first one is the root.
fn check_unique_root(modules: &[Module], inputs: &[&Input], root: &str) -> Result<(), Error> {
    let has = |module: &Module, status: SymbolStatus| {
        let function = module.get_function(root).filter(|function| !is_declaration(*function));
        function.is_some_and(|function| symbol_status(function.as_value_ref()) == status)
    };
    if modules.iter().any(|module| has(module, SymbolStatus::Defined)) {
        return Ok(());
    }
    let files = modules
        .iter()
        .zip(inputs)
        .filter(|(module, _)| has(module, SymbolStatus::Local))
        .map(|(_, input)| &input.file.path);
    let mut seen = BTreeSet::new();
    match files.into_iter().find(|file| !seen.insert(*file)) {
        None => Ok(()),
        Some(file) => Err(Error::Usage(format!(
            "{root} is a static function of {}, which is compiled several times: pass only the intended object",
            file.display()
        ))),
    }
}

/// By input: true if a linker includes it. A linker includes all inputs except archive members. It includes a member that
/// defines a symbol which the included inputs use and do not define. Archives may depend on each other. If no input
/// defines `root`, all inputs are included.
fn needed(modules: &[Module], inputs: &[Input], root: &str) -> Vec<bool> {
    let members: Vec<Option<u32>> = inputs.iter().map(|input| input.file.member).collect();
    let mut needed: Vec<bool> = members.iter().map(Option::is_none).collect();
    if needed.iter().all(|needed| *needed) {
        return needed;
    }
    let with_status = |status: SymbolStatus| -> Vec<BTreeSet<String>> {
        let of = |module: &Module| {
            symbols(module).into_iter().filter(|v| symbol_status(*v) == status).map(symbol_of).collect()
        };
        modules.iter().map(of).collect()
    };
    let (defined, used) = (with_status(SymbolStatus::Defined), with_status(SymbolStatus::Undefined));
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

/// The assembly at file scope of a module.
fn file_assembly(module: &Module) -> String {
    let mut length = 0;
    // SAFETY: the module is valid; the text has the returned length, and lives as long as the module.
    unsafe {
        let text = LLVMGetModuleInlineAsm(module.as_mut_ptr(), &mut length);
        String::from_utf8_lossy(std::slice::from_raw_parts(text.cast(), length)).into_owned()
    }
}

/// Defines the symbols that the assembly of a module defines as second names, and removes these statements from the
/// assembly. Fails with the first statement that is not modelled; the module is unchanged then.
fn define_second_names(module: &Module) -> Result<(), String> {
    let assembly = file_assembly(module);
    if assembly.is_empty() {
        return Ok(());
    }
    let directives = SymbolDirectives::parse(&assembly)?;
    let all = symbols(module);
    let find = |name: &str| all.iter().copied().find(|value| symbol_of(*value) == name);
    let has_definition = |value| matches!(symbol_status(value), SymbolStatus::Local | SymbolStatus::Defined);
    for (name, statement) in &directives.exported {
        if find(name).is_some_and(|value| symbol_status(value) == SymbolStatus::Local) {
            return Err(statement.clone());
        }
    }
    let mut definitions = Vec::new();
    for second in &directives.names {
        // A target may be a second name itself. A circle has no end.
        let mut target = &second.target;
        let mut others = directives.names.len();
        while let (1.., Some(next)) = (others, directives.names.iter().find(|other| other.name == *target)) {
            target = &next.target;
            others -= 1;
        }
        match find(target).filter(|value| is_final(*value)) {
            Some(definition) if !find(&second.name).is_some_and(has_definition) => definitions.push(definition),
            _ => return Err(second.statement.clone()),
        }
    }
    for (second, target) in directives.names.iter().zip(definitions) {
        let linkage = match second.binding {
            Binding::Local => LLVMLinkage::LLVMInternalLinkage,
            Binding::Global => LLVMLinkage::LLVMExternalLinkage,
            Binding::Weak => LLVMLinkage::LLVMWeakAnyLinkage,
        };
        // The values are live, and the name is copied. A deleted declaration has no uses left.
        unsafe {
            let alias = LLVMAddAlias2(
                module.as_mut_ptr(),
                LLVMGlobalGetValueType(target),
                0,
                target,
                c"proviso.second".as_ptr(),
            );
            if let Some(declaration) = find(&second.name) {
                LLVMReplaceAllUsesWith(declaration, alias);
                proviso_delete_symbol(declaration);
            }
            LLVMSetValueName2(alias, second.name.as_ptr().cast(), second.name.len());
            LLVMSetLinkage(alias, linkage);
        }
    }
    let rest = directives.harmless.join("\n");
    // SAFETY: the module is valid, and the text is copied.
    unsafe { LLVMSetModuleInlineAsm2(module.as_mut_ptr(), rest.as_ptr().cast(), rest.len()) };
    Ok(())
}

/// True for a definition that the linker cannot replace by that of another module.
fn is_final(value: LLVMValueRef) -> bool {
    use LLVMLinkage::{LLVMExternalLinkage, LLVMInternalLinkage, LLVMPrivateLinkage};
    // SAFETY: the value is a live global.
    let (linkage, is_declared) = unsafe { (LLVMGetLinkage(value), LLVMIsDeclaration(value) != 0) };
    !is_declared && matches!(linkage, LLVMExternalLinkage | LLVMInternalLinkage | LLVMPrivateLinkage)
}

/// Makes the definition of a function visible only to the models.
fn make_internal(models: &Module, name: &str) {
    if let Some(function) = models.get_function(name).filter(|f| !is_declaration(*f)) {
        function.set_linkage(Linkage::Internal);
        function.as_global_value().set_name(&format!("{name}{OWN}"));
    }
}

/// Renames the program's definitions that have the names of internal symbols of the models, so that neither replaces the other. The symbol of a static variable of a function contains the name of the variable.
fn rename_clashing_definitions(program: &Module, models: &Module) {
    let internal: BTreeSet<String> =
        symbols(models).into_iter().map(symbol_of).filter(|name| name.starts_with(INTERNAL)).collect();
    for value in symbols(program) {
        let name = symbol_of(value);
        let is_defined = matches!(symbol_status(value), SymbolStatus::Local | SymbolStatus::Defined);
        if is_defined && name.split('.').any(|part| internal.contains(part)) {
            let name = format!("{name}{OF_PROGRAM}");
            // SAFETY: the value is live, and the name is copied.
            unsafe { LLVMSetValueName2(value, name.as_ptr().cast(), name.len()) }
        }
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

/// The text of a name, without the prefix by which LLVM marks an assembler label.
fn symbol(name: &CStr) -> String {
    let name = name.to_string_lossy();
    name.strip_prefix('\u{1}').unwrap_or(&name).to_owned()
}

/// The file of a function, from debug information.
fn file_of(function: FunctionValue) -> String {
    // The function is live. A subprogram is a scope. The name has the returned length and lives as long as the context.
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

/// Runs `work` in a child process, so that a crash does not affect this one.
fn in_child(work: impl FnOnce() -> Result<(String, String), String>) -> Result<(String, String), String> {
    let fails = |error: io::Error| format!("cannot be checked: {error}");
    let (mut reader, mut writer) = io::pipe().map_err(fails)?;
    // The child executes only LLVM's reader. It needs no lock that another thread may hold, except the allocator's, and
    // the allocator supports forks.
    let child = unsafe { libc::fork() };
    match child {
        ..0 => Err(fails(io::Error::last_os_error())),
        0 => {
            drop(reader);
            restrict_child();
            let answer = match work() {
                Ok((triple, layout)) => format!("sound\n{triple}\n{layout}"),
                Err(reason) => reason,
            };
            let _ = writer.write_all(answer.as_bytes());
            // Ends the child without running the parent's destructors.
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

/// In the child: discards its output and limits its time.
fn restrict_child() {
    // SAFETY: only system calls.
    unsafe {
        let null = libc::open(c"/dev/null".as_ptr(), libc::O_WRONLY);
        libc::dup2(null, libc::STDOUT_FILENO);
        libc::dup2(null, libc::STDERR_FILENO);
        libc::alarm(MAX_READING_SECONDS);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::DataModel;

    const TARGET: &str = "target datalayout = \"e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128\"\ntarget triple = \"x86_64-pc-linux-gnu\"\n";
    const IR: &str = "declare i32 @outside()\ndeclare void @unused()\ndefine i32 @f() {\n  %r = call i32 @outside()\n  ret i32 %r\n}\n";

    #[test]
    fn modules_are_read_linked_and_written() {
        let ir = format!("{TARGET}{IR}");
        let [a, b, c] = ["a.ll", "b.ll", "c.ll"].map(InputFile::from);
        let input = |file, data| Input { file, data, changes: &[], is_from_user: true };
        let mut module = LlvmModule::new();
        assert_eq!(module.link(&[input(&a, ir.as_bytes())], "f", None).unwrap(), ["f"]);
        assert_eq!(module.undefined(), ["outside"]);
        module.verify().unwrap();
        let mut again = LlvmModule::new();
        let bitcode = module.print(false);
        again.link(&[input(&a, &bitcode)], "f", None).unwrap();
        assert_eq!(again.print(true), module.print(true));
        // A second definition of the function is an error. The diagnostic handler is registered again afterwards.
        let twice = again.link(&[input(&b, ir.as_bytes())], "f", None);
        assert!(matches!(twice, Err(Error::Link { reason, .. }) if reason.contains("'f'")));
        let broken = again.link(&[input(&c, b"define i32 @g() {\n  ret i64 0\n}\n")], "f", None);
        assert!(matches!(broken, Err(Error::BadBitcode { reason, .. }) if reason.starts_with("line 2: ")));
    }

    /// Definitions that are reachable by name from another module, through a variable, an alias and a block address, and
    /// from a constructor.
    #[test]
    fn only_reachable_definitions_are_linked() {
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
        // Bitcode is read function by function, textual IR at once.
        let [first, second] = [FIRST, SECOND].map(|text| format!("{TARGET}{text}"));
        let bitcode = |text: &str| {
            let mut module = LlvmModule::new();
            module
                .link(
                    &[Input {
                        file: &InputFile::from("a.ll"),
                        data: text.as_bytes(),
                        changes: &[],
                        is_from_user: true,
                    }],
                    "main",
                    None,
                )
                .unwrap();
            module.print(false)
        };
        for (first, second) in [(bitcode(&first), bitcode(&second)), (first.clone().into(), second.clone().into())] {
            let file = InputFile::from("a");
            let inputs = [&first, &second].map(|data| Input { file: &file, data, changes: &[], is_from_user: true });
            let mut module = LlvmModule::new();
            let reachable = Reachable { others: &[], is_known: &|_| false };
            let mut defined = module.link(&inputs, "main", Some(reachable)).unwrap();
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

    /// An undefined function may use all variables that are visible to other files, and what they refer to.
    #[test]
    fn visible_variables_are_linked_for_unknown_functions() {
        const TEXT: &str = "\
            @visible = global ptr @called\n@own = internal global ptr @never\ndeclare void @outside()\n\
            define void @main() {\n  call void @outside()\n  ret void\n}\n\
            define internal void @called() {\n  ret void\n}\ndefine void @never() {\n  ret void\n}\n";
        let (file, text) = (InputFile::from("a.ll"), format!("{TARGET}{TEXT}"));
        let left = |is_known: &dyn Fn(&str) -> bool| {
            let mut module = LlvmModule::new();
            let input = Input { file: &file, data: text.as_bytes(), changes: &[], is_from_user: true };
            module.link(&[input], "main", Some(Reachable { others: &[], is_known })).unwrap();
            module.module.get_functions().map(name).collect::<BTreeSet<String>>()
        };
        assert_eq!(left(&|name| name == "outside").into_iter().collect::<Vec<_>>(), ["main", "outside"]);
        assert_eq!(left(&|_| false).into_iter().collect::<Vec<_>>(), ["called", "main", "outside"]);
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
