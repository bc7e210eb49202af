// Which compound literals live as long as their function.
//
// A literal is gone where the block ends that it stands in (C17 6.5.2.5), which clang does not mark. Debug information has a scope for each block in
// braces, for each `if` and each `for`. It has none for bodies of other loops and of `switch` that lack braces, and none for their conditions, which
// are blocks as well: these show in the control flow.

#include "literals.hpp"
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Dominators.h>

using namespace llvm;

namespace {

bool is_before(const DebugLoc &a, const DebugLoc &b) {
  return a.getLine() < b.getLine() || (a.getLine() == b.getLine() && a.getCol() <= b.getCol());
}

/// Whether `use` may be in a loop, or in the condition of a `switch`, which it leads to and which begins before it in the text.
bool is_in_loop_or_switch(const Instruction &use) {
  SmallPtrSet<const BasicBlock *, 32> seen;
  SmallVector<const BasicBlock *, 32> work{use.getParent()};
  while (!work.empty()) {
    const BasicBlock *next = work.pop_back_val();
    if (auto *switch_ = dyn_cast<SwitchInst>(next->getTerminator()))
      if (!switch_->getDebugLoc() || is_before(switch_->getDebugLoc(), use.getDebugLoc()))
        return true;
    for (const BasicBlock *successor : successors(next)) {
      if (successor == use.getParent())
        return true;
      if (seen.insert(successor).second)
        work.push_back(successor);
    }
  }
  return false;
}

/// Whether `block` may be in the body of a `do` or `switch`, which clang names. Only what lacks braces is asked for.
bool is_in_body(const BasicBlock *block, const DominatorTree &tree) {
  unsigned ended = 0;
  for (const DomTreeNode *node = tree.getNode(block); node; node = node->getIDom()) {
    StringRef name = node->getBlock()->getName();
    if (name.starts_with("do.end") || name.starts_with("sw.epilog"))
      ended++;
    else if (name.starts_with("do.body") || name.starts_with("sw.bb") || name.starts_with("sw.default")) {
      if (ended == 0)
        return true;
      ended--;
    }
  }
  return false;
}

} // namespace

bool lives_with_function(const AllocaInst &literal) {
  const Function &function = *literal.getFunction();
  const DISubprogram *scope = function.getSubprogram();
  if (!scope)
    return false;
  DominatorTree tree(const_cast<Function &>(function));
  for (const User *user : literal.users()) {
    auto *use = dyn_cast<Instruction>(user);
    if (!use || !tree.isReachableFromEntry(use->getParent()))
      return false;
    const DebugLoc &at = use->getDebugLoc();
    if (!at || at.getLine() == 0 || at.getInlinedAt() || at.getScope() != scope)
      return false;
    if (is_in_loop_or_switch(*use) || is_in_body(use->getParent(), tree))
      return false;
  }
  return true;
}
