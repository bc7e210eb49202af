#pragma once

#include "proviso_llvm.h"
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <memory>
#include <string>

struct ProvisoModule {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module;
  /// Errors that LLVM reported through its diagnostics.
  std::string diagnostics;
  /// Whether models are linked in; then, the variables and compile units that were there before.
  bool has_models = false;
  llvm::SmallPtrSet<const llvm::GlobalVariable *, 32> user_variables;
  unsigned user_units = 0;

  ProvisoModule();
};

/// The string attribute of functions that come from our models.
constexpr const char *model_attribute = "proviso-model";
