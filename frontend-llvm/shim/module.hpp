#pragma once

#include "proviso_llvm.h"
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <memory>
#include <string>

struct ProvisoModule {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module;
  /// Errors that LLVM reported through its diagnostics.
  std::string diagnostics;

  ProvisoModule();
};

/// The string attribute of functions that come from our models.
constexpr const char *model_attribute = "proviso-model";
