// The C interface between the Rust side of the front-end and LLVM's C++ classes.
//
// Rust never touches an LLVM object: a module is read, linked, verified and written here, and handed over as
// one flat buffer (see export.cpp), which src/ir.rs decodes.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ProvisoModule ProvisoModule;

/// A buffer owned by the caller, who frees it with proviso_buffer_free.
typedef struct {
  uint32_t *words;
  size_t word_count;
  char *text;
  size_t text_size;
} ProvisoBuffer;

/// Strings returned or put into *error are malloc'ed and freed with this.
void proviso_string_free(char *string);
void proviso_buffer_free(ProvisoBuffer buffer);

/// Reads and verifies a module in a forked child: LLVM's readers crash on some malformed inputs, and the
/// child takes the crash. Null if the input is sound, else what is wrong with it. Of a sound input the bits of a pointer,
/// 0 if it is not for little-endian x86.
char *proviso_check_input(const char *data, size_t size, const char *name, uint32_t *pointer_width);
/// The LLVM that wrote this bitcode by its own account ("LLVM16.0.6"); null if it does not say.
char *proviso_producer(const char *data, size_t size);

/// An empty module in a context of its own.
ProvisoModule *proviso_module_new(void);
void proviso_module_free(ProvisoModule *module);
/// The functions of bitcode or textual IR, one a line: `defined NAME`, `used NAME`, or `local NAME FILE` for static ones
/// with the file that debug information has. Null if it cannot be read.
char *proviso_functions(const char *data, size_t size);
/// Reads bitcode or textual IR and links it into the module. `only_needed` takes over only what the module
/// declares and does not define, and then marks the functions taken over as models; functions named in
/// `keep` (`keep_count` names) stay undefined. Before, `changes` are made, one a line: `export NAME AS` makes a static
/// function a visible one of another name, `remove NAME` takes away a body. Nonzero and *error on failure.
int proviso_module_link(ProvisoModule *module, const char *data, size_t size, const char *name, int only_needed,
                        const char *const *keep, size_t keep_count, const char *changes, char **error);
/// The names of symbols that are used and not defined (`defined` 0), or of functions that are defined, one a line.
char *proviso_module_symbols(ProvisoModule *module, int defined);
/// Declares a function without parameters and result, so that a definition is linked in.
void proviso_module_declare(ProvisoModule *module, const char *name);
/// Remembers the module as it is, for `proviso_module_cut`.
void proviso_module_keep_original(ProvisoModule *module);
/// Verifies the module. Null if it is valid.
char *proviso_module_verify(ProvisoModule *module);
/// Writes bitcode (or text). Null on success.
char *proviso_module_write(ProvisoModule *module, const char *path, int text);
/// Bitcode or text, in the buffer's text.
ProvisoBuffer proviso_module_print(ProvisoModule *module, int text);
/// Makes the module what it was when `proviso_module_keep_original` was called, and takes out of that what `words` (see
/// src/cut.rs) do not keep. Null if the result is valid.
char *proviso_module_cut(ProvisoModule *module, const uint32_t *words, const char *entry);
/// Everything the lowering reads.
ProvisoBuffer proviso_module_export(ProvisoModule *module);

#ifdef __cplusplus
}
#endif
