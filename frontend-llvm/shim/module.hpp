#pragma once

#include "proviso_llvm.h"
#include <llvm/IR/Module.h>

/// The string attribute of functions that come from our models. As in src/llvm.rs.
constexpr const char *model_attribute = "proviso-model";
/// That of functions that were given as bitcode. As in src/llvm.rs.
constexpr const char *bitcode_attribute = "proviso-bitcode";
