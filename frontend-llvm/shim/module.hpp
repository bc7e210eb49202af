#pragma once

#include "proviso_llvm.h"
#include <llvm/IR/Module.h>

/// The attribute that marks functions of models. It must agree with src/llvm.rs.
constexpr const char *model_attribute = "proviso-model";
/// The attribute that marks functions of bitcode inputs. It must agree with src/llvm.rs.
constexpr const char *bitcode_attribute = "proviso-bitcode";
