// What the Rust side of the front-end needs of LLVM and LLVM's C API, which src/llvm.rs uses through inkwell, cannot say.
//
// A module is handed over as one flat buffer (see export.cpp), which src/ir.rs decodes: through the C API debug information,
// wide integers and long doubles are only half there, and each operand would be a call.
#pragma once

#include <llvm-c/Types.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A buffer owned by the caller, who frees it with proviso_buffer_free.
typedef struct {
  uint32_t *words;
  size_t word_count;
  char *text;
  size_t text_size;
} ProvisoBuffer;

/// A module as it was before models were linked into it.
typedef struct ProvisoOriginal ProvisoOriginal;

/// Strings returned are malloc'ed and freed with this.
void proviso_string_free(char *string);
void proviso_buffer_free(ProvisoBuffer buffer);

/// The LLVM that wrote this bitcode by its own account ("LLVM16.0.6"); null if it does not say.
char *proviso_producer(const char *data, size_t size);
/// Gives a module the data layout that this LLVM has for the target of the one that an older LLVM wrote. Bitcode has it when it is read, text has not.
void proviso_upgrade_data_layout(LLVMModuleRef module);
/// Makes a definition a declaration.
void proviso_function_delete_body(LLVMValueRef function);
/// Links into `module` what it declares and does not define, but no function that is declared with other parameters, or called with too
/// few. `other` is gone afterwards. Nonzero on failure; what is wrong
/// goes to the context's handler of diagnostics.
int proviso_link_needed(LLVMModuleRef module, LLVMModuleRef other);
/// Makes pointers in the sections whose functions the loader calls (`.init_array` and the like) rows of `llvm.global_ctors` and
/// `llvm.global_dtors`, and ordinary variables of them. The priority of `.preinit_array` is 0.
void proviso_list_startup(LLVMModuleRef module);
/// Takes out of modules that are to be linked into one what nothing reaches from the function of the first name, nor from what other
/// modules see under the other names (between commas). Of bitcode that was opened
/// without its functions only those are read that are reached. Nonzero on failure, as above.
int proviso_keep_reachable(LLVMModuleRef const *modules, size_t count, const char *root, const char *others);
/// Nonzero if an execution that starts in `entry` cannot call the function of this name twice: it is called at one place of `entry`, which
/// nothing calls, and no branch leads from there back to it.
int proviso_is_called_once(LLVMModuleRef module, const char *name, const char *entry);
/// Takes out the checks that end in a call of one of these handlers (between commas), and, if asked, what says where scopes of variables
/// begin and end.
void proviso_leave_out_checks(LLVMModuleRef module, const char *handlers, int scopes);
/// Remembers a module as it is, for `proviso_cut`.
ProvisoOriginal *proviso_original_new(LLVMModuleRef module);
void proviso_original_free(ProvisoOriginal *original);
/// The original without what `words` (see src/cut.rs), orders for the functions of `module`, do not keep. The original is gone
/// afterwards. The result may be invalid if the orders are.
LLVMModuleRef proviso_cut(ProvisoOriginal *original, LLVMModuleRef module, const uint32_t *words, const char *entry);
/// Everything the lowering reads.
ProvisoBuffer proviso_module_export(LLVMModuleRef module);

#ifdef __cplusplus
}
#endif
