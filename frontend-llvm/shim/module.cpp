// What of reading and linking modules the C API lacks.

#include "module.hpp"
#include <cstdlib>
#include <cstring>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Support/MemoryBuffer.h>

using namespace llvm;

void proviso_string_free(char *string) { free(string); }

void proviso_buffer_free(ProvisoBuffer buffer) {
  free(buffer.words);
  free(buffer.text);
}

char *proviso_producer(const char *data, size_t size) {
  auto producer = getBitcodeProducerString(MemoryBufferRef(StringRef(data, size), "input"));
  if (!producer) {
    consumeError(producer.takeError());
    return nullptr;
  }
  return producer->empty() ? nullptr : strdup(producer->c_str());
}

void proviso_function_delete_body(LLVMValueRef function) { unwrap<Function>(function)->deleteBody(); }

int proviso_link_needed(LLVMModuleRef module, LLVMModuleRef other) {
  // No model has a wchar_t, so that it may be of any size (-fshort-wchar).
  if (Metadata *size = unwrap(module)->getModuleFlag("wchar_size"))
    unwrap(other)->setModuleFlag(Module::Error, "wchar_size", size);
  return Linker::linkModules(*unwrap(module), std::unique_ptr<Module>(unwrap(other)), Linker::LinkOnlyNeeded);
}
