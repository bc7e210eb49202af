#pragma once

#include <llvm/IR/Instructions.h>

/// Whether a compound literal certainly lives as long as its function: it stands in none of the blocks within.
bool lives_with_function(const llvm::AllocaInst &literal);
