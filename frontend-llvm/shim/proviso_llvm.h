// LLVM functions for the Rust side of the front-end that LLVM's C API lacks. src/llvm.rs uses the C API through
// inkwell.
//
// A module is exported as one flat buffer (see export.cpp), which src/ir.rs decodes. The C API supports debug
// information, wide integers and long doubles only partially, and would need a call for each operand.
#pragma once

#include <llvm-c/Types.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A buffer. The caller owns it and frees it with proviso_buffer_free.
typedef struct {
  uint32_t *words;
  size_t word_count;
  char *text;
  size_t text_size;
} ProvisoBuffer;

/// A copy of a module from before the models were linked.
typedef struct ProvisoOriginal ProvisoOriginal;

/// Frees a returned string. Strings are allocated with malloc.
void proviso_string_free(char *string);
void proviso_buffer_free(ProvisoBuffer buffer);

/// The version of LLVM that wrote the bitcode, according to the bitcode ("LLVM16.0.6"). Null if it is not recorded.
char *proviso_producer(const char *data, size_t size);
/// Replaces a data layout of an older LLVM by the one of this LLVM for the target. LLVM does this for bitcode when it
/// is read, but not for text.
void proviso_upgrade_data_layout(LLVMModuleRef module);
/// Makes a definition a declaration.
void proviso_function_delete_body(LLVMValueRef function);
int proviso_is_always_inlined(LLVMValueRef function);
void proviso_keep_for_calls(LLVMValueRef function);
/// Deletes a function, variable or alias that has no uses.
void proviso_delete_symbol(LLVMValueRef symbol);
/// Links the definitions that `module` declares but does not define, except functions that it declares with other
/// parameters or calls with too few arguments. Consumes `other`. Nonzero on failure; the context's diagnostic handler
/// receives the reason.
int proviso_link_needed(LLVMModuleRef module, LLVMModuleRef other);
/// Turns the pointers in sections whose functions the loader calls (`.init_array` and similar ones) into rows of
/// `llvm.global_ctors` and `llvm.global_dtors`. The variables become ordinary ones. The priority of `.preinit_array` is
/// 0.
void proviso_list_startup(LLVMModuleRef module);
/// Removes the definitions that are unreachable from the function `root` and from the visible symbols `others`
/// (separated by commas), before the modules are linked. Of bitcode that was opened lazily, only reachable functions
/// are read. If one of the functions `unknown` (separated by commas) is reachable and has no definition, or one that
/// the linker may replace, the variables that are visible to other files are roots, too. Nonzero on failure, as above.
int proviso_keep_reachable(LLVMModuleRef const *modules, size_t count, const char *root, const char *others,
                           const char *unknown);
/// Nonzero if no execution that starts in `entry` can call the function `name` twice: the only call is in `entry`,
/// nothing calls `entry`, and the call is not in a cycle.
int proviso_is_called_once(LLVMModuleRef module, const char *name, const char *entry);
/// Removes the checks that report failures to one of these handlers (separated by commas). If `scopes`, also removes
/// the markers of variable scopes.
void proviso_leave_out_checks(LLVMModuleRef module, const char *handlers, int scopes);
/// Copies a module for `proviso_cut`.
ProvisoOriginal *proviso_original_new(LLVMModuleRef module);
void proviso_original_free(ProvisoOriginal *original);
/// Returns the original without everything that the orders `words` (see src/cut.rs) for the functions of `module` do
/// not keep. Consumes the original. If the orders are invalid, the result may be, too.
LLVMModuleRef proviso_cut(ProvisoOriginal *original, LLVMModuleRef module, const uint32_t *words, const char *entry);
/// Exports everything that the lowering reads.
ProvisoBuffer proviso_module_export(LLVMModuleRef module);

#ifdef __cplusplus
}
#endif
