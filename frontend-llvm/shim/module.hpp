#pragma once

#include "proviso_llvm.h"
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/ValueMapper.h>
#include <memory>
#include <string>

struct ProvisoModule {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module;
  /// Errors that LLVM reported through its diagnostics.
  std::string diagnostics;
  /// The module as it was before models were linked in, if it is to be cut down, and by function of the module the one
  /// there. Linking changes more than it adds: flags, whether symbols are local, attributes.
  std::unique_ptr<llvm::Module> original;
  std::unique_ptr<llvm::ValueToValueMapTy> in_original;

  ProvisoModule();
};

/// The string attribute of functions that come from our models.
constexpr const char *model_attribute = "proviso-model";
