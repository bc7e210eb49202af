// Functions to read and link modules that the C API lacks.

#include "module.hpp"
#include <cstdlib>
#include <cstring>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/AutoUpgrade.h>
#include <llvm/IR/InstrTypes.h>
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

void proviso_upgrade_data_layout(LLVMModuleRef module) {
  Module &m = *unwrap(module);
  if (!m.getDataLayoutStr().empty())
    m.setDataLayout(UpgradeDataLayoutString(m.getDataLayoutStr(), m.getTargetTriple()));
}

void proviso_function_delete_body(LLVMValueRef function) { unwrap<Function>(function)->deleteBody(); }

// True if the compiler inlines the function's body into its direct callers at every level of optimisation. It does not
// inline a function that calls itself or that has variable arguments.
int proviso_is_always_inlined(LLVMValueRef value) {
  auto *function = dyn_cast<Function>(unwrap(value));
  if (!function || function->isDeclaration() || function->isVarArg() || !function->hasFnAttribute(Attribute::AlwaysInline))
    return 0;
  for (User *user : function->users())
    if (auto *call = dyn_cast<CallBase>(user); call && call->getFunction() == function)
      return 0;
  return 1;
}

// Makes the definition internal, and lets only the direct calls in this module use it. A declaration takes its name and
// its other uses.
void proviso_keep_for_calls(LLVMValueRef value) {
  auto *function = unwrap<Function>(value);
  auto *declared = Function::Create(function->getFunctionType(), GlobalValue::ExternalLinkage,
                                    function->getAddressSpace(), "", function->getParent());
  declared->setAttributes(function->getAttributes());
  declared->setCallingConv(function->getCallingConv());
  std::string name = function->getName().str();
  declared->takeName(function);
  function->setName(name);
  function->replaceAllUsesWith(declared);
  function->setComdat(nullptr);
  function->setLinkage(GlobalValue::InternalLinkage);
  function->setVisibility(GlobalValue::DefaultVisibility);
  SmallVector<CallBase *, 8> calls;
  for (User *user : declared->users())
    if (auto *call = dyn_cast<CallBase>(user);
        call && call->getCalledOperand() == declared && call->getFunctionType() == function->getFunctionType())
      calls.push_back(call);
  for (CallBase *call : calls)
    call->setCalledOperand(function);
}

void proviso_delete_symbol(LLVMValueRef symbol) { unwrap<GlobalValue>(symbol)->eraseFromParent(); }

static bool alike(Type *a, Type *b) {
  return a->isPointerTy() == b->isPointerTy() && a->isFloatingPointTy() == b->isFloatingPointTy();
}

// True if the declared symbol may be the library function of the model, and does not merely have its name. A
// declaration without parameters says nothing about them, but its calls do.
static bool may_be(const GlobalValue *declared, const Function &model) {
  auto *function = dyn_cast<Function>(declared);
  if (!function)
    return false;
  FunctionType *ours = function->getFunctionType(), *theirs = model.getFunctionType();
  unsigned needed = theirs->getNumParams();
  if (ours->isVarArg() && ours->getNumParams() == 0) {
    for (const User *user : function->users()) {
      auto *call = dyn_cast<CallBase>(user);
      if (call && call->getCalledOperand() == function && call->arg_size() < needed)
        return false;
    }
    return true;
  }
  if (ours->getNumParams() < needed || (ours->getNumParams() > needed && !theirs->isVarArg()))
    return false;
  for (unsigned n = 0; n < needed; n++)
    if (!alike(ours->getParamType(n), theirs->getParamType(n)))
      return false;
  return true;
}

int proviso_link_needed(LLVMModuleRef module, LLVMModuleRef other) {
  // The internal names of models do not clash with the user's names.
  for (Function &model : *unwrap(other)) {
    const GlobalValue *declared = unwrap(module)->getNamedValue(model.getName());
    bool is_own = model.getName().contains('.') || model.getName().starts_with("__proviso_");
    if (declared && !model.isDeclaration() && !is_own && !may_be(declared, model))
      model.deleteBody();
  }
  // Models do not use wchar_t, so it may have any size (-fshort-wchar).
  if (Metadata *size = unwrap(module)->getModuleFlag("wchar_size"))
    unwrap(other)->setModuleFlag(Module::Error, "wchar_size", size);
  return Linker::linkModules(*unwrap(module), std::unique_ptr<Module>(unwrap(other)), Linker::LinkOnlyNeeded);
}
