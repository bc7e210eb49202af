// Reading, linking, verifying and writing modules.

#include "module.hpp"
#include <cstdlib>
#include <cstring>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/Verifier.h>
#include <llvm/IRReader/IRReader.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/TargetParser/Triple.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;

namespace {

char *copy(StringRef text) {
  char *result = static_cast<char *>(malloc(text.size() + 1));
  memcpy(result, text.data(), text.size());
  result[text.size()] = 0;
  return result;
}

/// Reads one module; on failure null and a message.
std::unique_ptr<Module> read(LLVMContext &context, StringRef data, StringRef name, std::string &error) {
  SMDiagnostic diagnostic;
  auto module = parseIR(MemoryBufferRef(data, name), diagnostic, context);
  if (!module) {
    if (diagnostic.getLineNo() > 0)
      error = "line " + std::to_string(diagnostic.getLineNo()) + ": ";
    error += diagnostic.getMessage().str();
    if (error.empty())
      error = "not an LLVM module";
  }
  return module;
}

/// See proviso_module_link.
void change_functions(Module &module, StringRef changes) {
  while (!changes.empty()) {
    auto [line, rest] = changes.split('\n');
    changes = rest;
    auto [what, names] = line.split(' ');
    auto [name, as] = names.split(' ');
    Function *function = module.getFunction(name);
    if (!function)
      continue;
    if (what == "remove") {
      function->deleteBody();
      continue;
    }
    // The same function of a header is in several modules; any of them will do.
    function->setLinkage(GlobalValue::WeakODRLinkage);
    if (Function *declared = module.getFunction(as)) {
      declared->replaceAllUsesWith(function);
      declared->eraseFromParent();
    }
    function->setName(as);
  }
}

/// What the verifier says about a module; empty if it is valid. Broken debug information is dropped.
std::string verify(Module &module) {
  std::string message;
  raw_string_ostream stream(message);
  bool broken_debug_info = false;
  if (verifyModule(module, &stream, &broken_debug_info))
    return message.empty() ? "invalid module" : message;
  if (broken_debug_info)
    StripDebugInfo(module);
  return "";
}

/// Bits of a pointer of a module for little-endian x86; 0 for another target or none.
uint32_t x86_pointer_width(const Module &module) {
  bool is_x86 = Triple(module.getTargetTriple()).isX86() && module.getDataLayout().isLittleEndian();
  return is_x86 ? module.getDataLayout().getPointerSizeInBits() : 0;
}

/// How the answer of a child begins that found its input sound; the pointer width follows.
constexpr const char *success = "sound ";

} // namespace

ProvisoModule::ProvisoModule() {
  context.setDiagnosticHandlerCallBack(
      [](const DiagnosticInfo *info, void *self) {
        if (info->getSeverity() != DS_Error)
          return;
        auto &text = static_cast<ProvisoModule *>(self)->diagnostics;
        raw_string_ostream stream(text);
        DiagnosticPrinterRawOStream printer(stream);
        info->print(printer);
        stream << '\n';
      },
      this);
  module = std::make_unique<Module>("proviso", context);
}

void proviso_string_free(char *string) { free(string); }

void proviso_buffer_free(ProvisoBuffer buffer) {
  free(buffer.words);
  free(buffer.text);
}

char *proviso_check_input(const char *data, size_t size, const char *name, uint32_t *pointer_width) {
  int channel[2];
  if (pipe(channel) != 0)
    return copy("cannot make a pipe");
  pid_t child = fork();
  if (child < 0) {
    close(channel[0]);
    close(channel[1]);
    return copy("cannot fork");
  }
  if (child == 0) {
    close(channel[0]);
    // The messages of a crash are of no use to the user.
    if (!freopen("/dev/null", "w", stderr))
      _exit(1);
    alarm(60);
    ProvisoModule scratch;
    std::string error;
    auto module = read(scratch.context, StringRef(data, size), name, error);
    if (module)
      error = verify(*module);
    if (error.empty())
      error = scratch.diagnostics;
    if (error.empty())
      error = success + std::to_string(x86_pointer_width(*module));
    size_t done = 0;
    while (done < error.size()) {
      ssize_t n = write(channel[1], error.data() + done, error.size() - done);
      if (n <= 0)
        break;
      done += size_t(n);
    }
    _exit(0);
  }
  close(channel[1]);
  std::string answer;
  char block[4096];
  for (;;) {
    ssize_t n = ::read(channel[0], block, sizeof block);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      break;
    answer.append(block, size_t(n));
  }
  close(channel[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || answer.empty())
    return copy("malformed: LLVM's reader fails on it");
  StringRef text = answer;
  if (!text.consume_front(success) || text.getAsInteger(10, *pointer_width))
    return copy(answer);
  return nullptr;
}

char *proviso_producer(const char *data, size_t size) {
  auto producer = getBitcodeProducerString(MemoryBufferRef(StringRef(data, size), "input"));
  if (!producer) {
    consumeError(producer.takeError());
    return nullptr;
  }
  return producer->empty() ? nullptr : copy(*producer);
}

char *proviso_functions(const char *data, size_t size) {
  ProvisoModule scratch;
  std::string error, lines;
  auto module = read(scratch.context, StringRef(data, size), "input", error);
  if (!module)
    return nullptr;
  for (Function &function : *module) {
    bool local = function.hasLocalLinkage();
    const char *kind = local ? "local " : function.isDeclaration() ? "used " : "defined ";
    lines += kind + function.getName().str();
    if (auto *program = function.getSubprogram(); local && program)
      lines += " " + program->getFilename().str();
    lines += '\n';
  }
  return copy(lines);
}

ProvisoModule *proviso_module_new(void) { return new ProvisoModule; }

void proviso_module_free(ProvisoModule *module) { delete module; }

int proviso_module_link(ProvisoModule *self, const char *data, size_t size, const char *name, int only_needed,
                        const char *const *keep, size_t keep_count, const char *changes, char **error) {
  std::string message;
  self->diagnostics.clear();
  auto other = read(self->context, StringRef(data, size), name, message);
  if (!other) {
    *error = copy(self->diagnostics.empty() ? message : self->diagnostics);
    return 1;
  }
  Module &module = *self->module;
  if (module.getTargetTriple().empty()) {
    module.setTargetTriple(other->getTargetTriple());
    module.setDataLayout(other->getDataLayout());
    module.setSourceFileName(other->getSourceFileName());
  } else if (module.getDataLayout() != other->getDataLayout()) {
    *error = copy("it is compiled for another target (" + other->getTargetTriple() + ") than the files before it (" +
                  module.getTargetTriple() + ")");
    return 2;
  }
  change_functions(*other, changes);
  unsigned flags = Linker::None;
  if (only_needed) {
    flags |= Linker::LinkOnlyNeeded;
    // What the verified program must not get from a model is no definition in the models.
    for (size_t i = 0; i < keep_count; i++)
      if (Function *function = other->getFunction(keep[i]))
        function->deleteBody();
    for (Function &function : *other)
      if (!function.isDeclaration())
        function.addFnAttr(model_attribute);
  }
  if (Linker::linkModules(module, std::move(other), flags)) {
    *error = copy(self->diagnostics.empty() ? "linking failed" : self->diagnostics);
    return 3;
  }
  return 0;
}

char *proviso_module_symbols(ProvisoModule *self, int defined) {
  std::string names;
  auto add = [&](const GlobalValue &value) {
    // An assembler label stands as it is behind a mark.
    StringRef name = value.getName();
    name.consume_front("\1");
    names.append(name.data(), name.size());
    names.push_back('\n');
  };
  for (auto &function : *self->module)
    if (defined ? !function.isDeclaration() : function.isDeclaration() && !function.use_empty() && !function.isIntrinsic())
      add(function);
  if (!defined)
    for (auto &variable : self->module->globals())
      if (variable.isDeclaration() && !variable.use_empty())
        add(variable);
  return copy(names);
}

void proviso_module_declare(ProvisoModule *self, const char *name) {
  self->module->getOrInsertFunction(name, Type::getVoidTy(self->context));
}

void proviso_module_keep_original(ProvisoModule *self) {
  self->in_original = std::make_unique<ValueToValueMapTy>();
  self->original = CloneModule(*self->module, *self->in_original);
}

char *proviso_module_verify(ProvisoModule *self) {
  std::string message = verify(*self->module);
  return message.empty() ? nullptr : copy(message);
}

ProvisoBuffer proviso_module_print(ProvisoModule *self, int text) {
  std::string bytes;
  raw_string_ostream stream(bytes);
  if (text)
    self->module->print(stream, nullptr);
  else
    WriteBitcodeToFile(*self->module, stream);
  stream.flush();
  ProvisoBuffer buffer{nullptr, 0, copy(bytes), bytes.size()};
  return buffer;
}

char *proviso_module_write(ProvisoModule *self, const char *path, int text) {
  std::error_code code;
  raw_fd_ostream stream(path, code, sys::fs::OF_None);
  if (code)
    return copy(code.message());
  if (text)
    self->module->print(stream, nullptr);
  else
    WriteBitcodeToFile(*self->module, stream);
  stream.close();
  if (stream.has_error()) {
    std::string message = stream.error().message();
    stream.clear_error();
    return copy(message);
  }
  return nullptr;
}
