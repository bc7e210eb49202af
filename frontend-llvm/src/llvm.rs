//! The C++ side (`shim/`), made safe. All of LLVM is behind this file.

use crate::error::Error;
use crate::options::DataModel;
use std::ffi::{CStr, CString, c_char, c_int};
use std::path::Path;
use std::ptr::NonNull;

#[repr(C)]
struct RawModule {
    _private: [u8; 0],
}

#[repr(C)]
struct RawBuffer {
    words: *mut u32,
    word_count: usize,
    text: *mut u8,
    text_size: usize,
}

unsafe extern "C" {
    fn proviso_string_free(string: *mut c_char);
    fn proviso_buffer_free(buffer: RawBuffer);
    fn proviso_check_input(data: *const u8, size: usize, name: *const c_char, pointer_width: *mut u32) -> *mut c_char;
    fn proviso_producer(data: *const u8, size: usize) -> *mut c_char;
    fn proviso_module_new() -> *mut RawModule;
    fn proviso_module_free(module: *mut RawModule);
    fn proviso_module_link(
        module: *mut RawModule,
        data: *const u8,
        size: usize,
        name: *const c_char,
        only_needed: c_int,
        keep: *const *const c_char,
        keep_count: usize,
        changes: *const c_char,
        error: *mut *mut c_char,
    ) -> c_int;
    fn proviso_functions(data: *const u8, size: usize) -> *mut c_char;
    fn proviso_module_symbols(module: *mut RawModule, defined: c_int) -> *mut c_char;
    fn proviso_module_declare(module: *mut RawModule, name: *const c_char);
    fn proviso_module_keep_original(module: *mut RawModule);
    fn proviso_module_verify(module: *mut RawModule) -> *mut c_char;
    fn proviso_module_write(module: *mut RawModule, path: *const c_char, text: c_int) -> *mut c_char;
    fn proviso_module_print(module: *mut RawModule, text: c_int) -> RawBuffer;
    fn proviso_module_cut(module: *mut RawModule, words: *const u32, entry: *const c_char) -> *mut c_char;
    fn proviso_module_export(module: *mut RawModule) -> RawBuffer;
}

/// Takes over a string of the C++ side.
fn taken(string: *mut c_char) -> Option<String> {
    if string.is_null() {
        return None;
    }
    // SAFETY: the C++ side gives null or a malloc'ed string that is ours to free.
    let text = unsafe { CStr::from_ptr(string) }.to_string_lossy().into_owned();
    unsafe { proviso_string_free(string) };
    Some(text)
}

fn c_string(text: &str) -> CString {
    CString::new(text.replace('\0', "?")).expect("no zero bytes are left")
}

/// An LLVM module in a context of its own.
pub(crate) struct LlvmModule(NonNull<RawModule>);

// SAFETY: a context and its module may move between threads; nothing else holds them.
unsafe impl Send for LlvmModule {}

/// A module exported: words that name each other and the text they refer to.
pub(crate) struct Buffer {
    pub words: Vec<u32>,
    pub text: Vec<u8>,
}

/// What of a module is linked in.
#[derive(Clone, Copy)]
pub(crate) enum Link<'a> {
    /// All of it, after these changes (see `proviso_module_link`).
    Everything { changes: &'a str },
    /// What is declared and not defined so far, as models, but not these functions.
    NeededModels { except: &'a [String] },
}

impl LlvmModule {
    pub fn new() -> Self {
        // SAFETY: no preconditions; never null.
        Self(NonNull::new(unsafe { proviso_module_new() }).expect("a new module"))
    }

    /// Checks that `data` is a module that LLVM reads and finds valid, in a child process, because LLVM's
    /// reader does not survive every malformed input. The data model, if it is for x86.
    pub fn check(path: &Path, data: &[u8]) -> Result<Option<DataModel>, Error> {
        let name = c_string(&path.to_string_lossy());
        let mut width = 0;
        // SAFETY: the pointers are valid for the call.
        match taken(unsafe { proviso_check_input(data.as_ptr(), data.len(), name.as_ptr(), &mut width) }) {
            None => Ok(match width {
                32 => Some(DataModel::Ilp32),
                64 => Some(DataModel::Lp64),
                _ => None,
            }),
            Some(reason) => {
                let is_bitcode = data.starts_with(b"BC") || data.starts_with(&[0xde, 0xc0, 0x17, 0x0b]);
                let producer = if is_bitcode {
                    // SAFETY: as above. The identification block precedes what a newer writer may have changed.
                    taken(unsafe { proviso_producer(data.as_ptr(), data.len()) })
                } else {
                    None
                };
                Err(Error::BadBitcode { path: path.to_owned(), reason: reason.trim_end().to_owned(), producer })
            }
        }
    }

    /// The functions of bitcode or textual IR, one a line (see `proviso_functions`); empty if it cannot be read.
    pub fn functions(data: &[u8]) -> String {
        // SAFETY: the pointer is valid for the call.
        taken(unsafe { proviso_functions(data.as_ptr(), data.len()) }).unwrap_or_default()
    }

    /// Links bitcode or textual IR into this module.
    pub fn link(&mut self, path: &Path, data: &[u8], what: Link) -> Result<(), Error> {
        let name = c_string(&path.to_string_lossy());
        let (keep, changes): (Vec<CString>, &str) = match what {
            Link::Everything { changes } => (Vec::new(), changes),
            Link::NeededModels { except } => (except.iter().map(|name| c_string(name)).collect(), ""),
        };
        let changes = c_string(changes);
        let keep: Vec<*const c_char> = keep.iter().map(|name| name.as_ptr()).collect();
        let mut error = std::ptr::null_mut();
        // SAFETY: the pointers are valid for the call; `keep` lives as long as its strings.
        let code = unsafe {
            proviso_module_link(
                self.0.as_ptr(),
                data.as_ptr(),
                data.len(),
                name.as_ptr(),
                c_int::from(matches!(what, Link::NeededModels { .. })),
                keep.as_ptr(),
                keep.len(),
                changes.as_ptr(),
                &mut error,
            )
        };
        let (path, reason) = (path.to_owned(), taken(error).unwrap_or_default().trim_end().to_owned());
        match code {
            0 => Ok(()),
            1 => Err(Error::BadBitcode { path, reason, producer: None }),
            _ => Err(Error::Link { path, reason }),
        }
    }

    /// Functions and variables that are used and not defined.
    pub fn undefined(&self) -> Vec<String> {
        // SAFETY: the module is valid.
        let names = taken(unsafe { proviso_module_symbols(self.0.as_ptr(), 0) }).unwrap_or_default();
        names.lines().map(str::to_owned).collect()
    }

    /// Functions that are defined.
    pub fn defined_functions(&self) -> Vec<String> {
        // SAFETY: the module is valid.
        let names = taken(unsafe { proviso_module_symbols(self.0.as_ptr(), 1) }).unwrap_or_default();
        names.lines().map(str::to_owned).collect()
    }

    /// Declares a function, so that its definition is linked in with what is needed.
    pub fn declare(&mut self, name: &str) {
        let name = c_string(name);
        // SAFETY: the pointers are valid for the call.
        unsafe { proviso_module_declare(self.0.as_ptr(), name.as_ptr()) }
    }

    /// Remembers the module as it is: it is what [`cut`](Self::cut) cuts down.
    pub fn keep_original(&mut self) {
        // SAFETY: the module is valid.
        unsafe { proviso_module_keep_original(self.0.as_ptr()) }
    }

    pub fn verify(&mut self) -> Result<(), Error> {
        // SAFETY: the module is valid.
        match taken(unsafe { proviso_module_verify(self.0.as_ptr()) }) {
            None => Ok(()),
            Some(reason) => Err(Error::Internal(format!("LLVM rejects the linked module: {reason}"))),
        }
    }

    /// Writes bitcode, or IR as text.
    pub fn write(&self, path: &Path, text: bool) -> Result<(), Error> {
        let name = c_string(&path.to_string_lossy());
        // SAFETY: the pointers are valid for the call.
        match taken(unsafe { proviso_module_write(self.0.as_ptr(), name.as_ptr(), c_int::from(text)) }) {
            None => Ok(()),
            Some(reason) => Err(Error::Unreadable { path: path.to_owned(), reason }),
        }
    }

    /// The bytes of bitcode, or of IR as text.
    pub fn print(&self, text: bool) -> Vec<u8> {
        // SAFETY: the module is valid; the buffer's text is as long as it says.
        unsafe {
            let raw = proviso_module_print(self.0.as_ptr(), c_int::from(text));
            let bytes = std::slice::from_raw_parts(raw.text, raw.text_size).to_vec();
            proviso_buffer_free(raw);
            bytes
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
        let entry = c_string(entry);
        // SAFETY: the pointers are valid for the call, and the caller vouches for the orders.
        match taken(unsafe { proviso_module_cut(self.0.as_ptr(), orders.as_ptr(), entry.as_ptr()) }) {
            None => Ok(()),
            Some(reason) => Err(Error::Internal(format!("LLVM rejects the slice: {reason}"))),
        }
    }

    pub fn export(&self) -> Buffer {
        // SAFETY: the module is valid; the buffer's two parts are as long as it says.
        unsafe {
            let raw = proviso_module_export(self.0.as_ptr());
            let words = std::slice::from_raw_parts(raw.words, raw.word_count).to_vec();
            let text = std::slice::from_raw_parts(raw.text, raw.text_size).to_vec();
            proviso_buffer_free(raw);
            Buffer { words, text }
        }
    }
}

impl Drop for LlvmModule {
    fn drop(&mut self) {
        // SAFETY: made by proviso_module_new and freed once.
        unsafe { proviso_module_free(self.0.as_ptr()) }
    }
}
