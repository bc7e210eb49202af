// Removes disabled checks from a module. Several programs share one compilation with the checks of all of them. After
// the removal, the module equals what clang compiles without these checks, so no analysis meets branches without a
// meaning.

#include "proviso_llvm.h"
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Local.h>
#include <optional>

using namespace llvm;

namespace {

bool isOfSanitizer(const Instruction &i) { return i.hasMetadata(LLVMContext::MD_nosanitize); }

/// A branch around a side block whose only predecessor is the branch. `next` follows on both paths.
struct Around {
  BranchInst *branch;
  BasicBlock *side, *next;

  static std::optional<Around> of(BasicBlock &side) {
    BasicBlock *before = side.getSinglePredecessor();
    auto *branch = before ? dyn_cast<BranchInst>(before->getTerminator()) : nullptr;
    if (!branch || !branch->isConditional() || !isOfSanitizer(*branch))
      return std::nullopt;
    BasicBlock *next = branch->getSuccessor(branch->getSuccessor(0) == &side);
    // After an unreachable side block, both paths end.
    bool isEnd = isa<UnreachableInst>(side.getTerminator()) && isa<UnreachableInst>(*next->getFirstNonPHIOrDbg());
    if (next == &side || (side.getSingleSuccessor() != next && !isEnd) || !next->phis().empty())
      return std::nullopt;
    return Around{branch, &side, next};
  }

  /// Removes the branch and the side block.
  void straighten() {
    BasicBlock *before = branch->getParent();
    // Values that do not fit an argument are passed in memory.
    SmallVector<AllocaInst *, 2> passed;
    for (Instruction &i : *side)
      if (auto *store = dyn_cast<StoreInst>(&i))
        if (auto *place = dyn_cast<AllocaInst>(store->getPointerOperand()))
          passed.push_back(place);
    auto *jump = BranchInst::Create(next, branch->getIterator());
    jump->setDebugLoc(branch->getDebugLoc());
    branch->eraseFromParent();
    DeleteDeadBlock(side);
    for (AllocaInst *place : passed)
      if (place->use_empty())
        place->eraseFromParent();
    if (next->getSinglePredecessor() == before)
      MergeBlockIntoPredecessor(next);
  }
};

class Leaving {
  ArrayRef<StringRef> handlers;
  SmallVector<WeakTrackingVH, 32> descriptions;

  /// True if the block only reports the failure of a disabled check.
  bool isFailure(BasicBlock &block) {
    bool found = false;
    for (Instruction &i : block) {
      auto *call = dyn_cast<CallInst>(&i);
      Function *callee = call ? call->getCalledFunction() : nullptr;
      if (callee && is_contained(handlers, callee->getName())) {
        found = true;
        descriptions.emplace_back(call->getArgOperand(0));
      } else if (!i.isTerminator() && !isOfSanitizer(i)) {
        return false;
      }
    }
    return found;
  }

  /// Removes the branches around some blocks. Returns true if there were any.
  static bool straighten(Function &function, function_ref<bool(BasicBlock &)> isOut) {
    SmallVector<BasicBlock *, 32> out;
    for (BasicBlock &block : function)
      if (Around::of(block) && isOut(block))
        out.push_back(&block);
    for (BasicBlock *block : out)
      if (auto around = Around::of(*block))
        around->straighten();
    return !out.empty();
  }

  static void sweep(Function &function) {
    for (bool changed = true; std::exchange(changed, false);)
      for (BasicBlock &block : reverse(function))
        for (Instruction &i : make_early_inc_range(reverse(block)))
          if (isOfSanitizer(i) && isInstructionTriviallyDead(&i)) {
            i.eraseFromParent();
            changed = true;
          }
  }

public:
  explicit Leaving(ArrayRef<StringRef> handlers) : handlers(handlers) {}

  void checks(Function &function) {
    if (!straighten(function, [&](BasicBlock &block) { return isFailure(block); }))
      return;
    sweep(function);
    // clang tests whether a shift loses bits only if the shift amount is valid.
    straighten(function, [](BasicBlock &block) { return block.sizeWithoutDebug() == 1 && block.getSingleSuccessor(); });
    sweep(function);
    // The overflow bits of arithmetic are unused now.
    auto isResult = [](User *user) {
      auto *part = dyn_cast<ExtractValueInst>(user);
      return part && part->getIndices() == ArrayRef(0u);
    };
    SmallVector<WithOverflowInst *, 32> unasked;
    for (Instruction &i : instructions(function))
      if (auto *arithmetic = dyn_cast<WithOverflowInst>(&i);
          arithmetic && isOfSanitizer(i) && all_of(arithmetic->users(), isResult))
        unasked.push_back(arithmetic);
    for (WithOverflowInst *arithmetic : unasked) {
      auto *plain = BinaryOperator::Create(arithmetic->getBinaryOp(), arithmetic->getLHS(), arithmetic->getRHS(), "",
                                           arithmetic->getIterator());
      plain->setDebugLoc(arithmetic->getDebugLoc());
      plain->setHasNoSignedWrap(arithmetic->isSigned());
      for (User *user : make_early_inc_range(arithmetic->users())) {
        user->replaceAllUsesWith(plain);
        cast<Instruction>(user)->eraseFromParent();
      }
      arithmetic->eraseFromParent();
    }
  }

  /// Removes the descriptions of the removed checks, which are no variables of the program.
  void finish() {
    while (!descriptions.empty()) {
      Value *value = descriptions.pop_back_val();
      auto *variable = dyn_cast_or_null<GlobalVariable>(value);
      if (!variable || !variable->hasLocalLinkage() || !variable->hasInitializer())
        continue;
      variable->removeDeadConstantUsers();
      if (!variable->use_empty())
        continue;
      SmallVector<Value *, 8> parts(variable->getInitializer()->operands());
      while (!parts.empty()) {
        Value *part = parts.pop_back_val();
        if (isa<GlobalVariable>(part))
          descriptions.emplace_back(part);
        else if (auto *constant = dyn_cast<Constant>(part))
          parts.append(constant->op_begin(), constant->op_end());
      }
      variable->eraseFromParent();
    }
  }
};

/// If the block is the end of a scope without any remaining operation, returns its jump.
BranchInst *emptyEnd(BasicBlock &block) {
  auto *jump = dyn_cast<BranchInst>(block.getTerminator());
  bool isEmpty = block.getName().contains("cleanup") && block.sizeWithoutDebug() == 1 && !isa<PHINode>(block.front());
  return isEmpty && jump && jump->isUnconditional() ? jump : nullptr;
}

/// A jump out of scopes stores the number of its target in a variable, and a `switch` on it follows the ends of the
/// scopes. Nothing else happens there any more, so each jump is redirected to its target.
void thread(Function &function, AllocaInst *slot) {
  SmallVector<StoreInst *, 16> stores;
  for (User *user : slot->users())
    if (auto *store = dyn_cast<StoreInst>(user); store && store->getPointerOperand() == slot)
      stores.push_back(store);
    else if (!isa<LoadInst>(user))
      return;
  for (StoreInst *store : stores) {
    auto *number = dyn_cast<ConstantInt>(store->getValueOperand());
    auto *jump = dyn_cast<BranchInst>(store->getParent()->getTerminator());
    if (!number || !jump || jump->isConditional() || store->getNextNonDebugInstruction() != jump)
      continue;
    // This terminates: there are no more scopes than blocks.
    for (size_t steps = function.size(); steps > 0; steps--) {
      BasicBlock *end = jump->getSuccessor(0);
      // If two scopes end in sequence, the switch follows both.
      for (size_t left = steps; left > 0; left--)
        if (auto *on = emptyEnd(*end))
          end = on->getSuccessor(0);
      auto *load = dyn_cast<LoadInst>(&*end->getFirstNonPHIOrDbg());
      if (!load || load->getPointerOperand() != slot || !load->hasOneUse() || isa<PHINode>(end->front()))
        break;
      auto *choice = dyn_cast<SwitchInst>(load->getNextNonDebugInstruction());
      if (!choice || choice->getCondition() != load)
        break;
      BasicBlock *next = choice->findCaseValue(number)->getCaseSuccessor();
      if (isa<PHINode>(next->front()))
        break;
      jump->setSuccessor(0, next);
    }
  }
}

void leaveOutScopes(Function &function) {
  SmallVector<AllocaInst *, 2> slots;
  bool found = false;
  for (Instruction &i : make_early_inc_range(instructions(function)))
    if (isa<LifetimeIntrinsic>(i)) {
      i.eraseFromParent();
      found = true;
    } else if (auto *slot = dyn_cast<AllocaInst>(&i); slot && slot->getName().starts_with("cleanup.dest.slot")) {
      slots.push_back(slot);
    }
  if (!found)
    return;
  for (AllocaInst *slot : slots)
    thread(function, slot);
  EliminateUnreachableBlocks(function);
  for (AllocaInst *slot : slots)
    if (all_of(slot->users(), [](User *user) { return isa<StoreInst>(user); })) {
      for (User *user : make_early_inc_range(slot->users()))
        cast<Instruction>(user)->eraseFromParent();
      slot->eraseFromParent();
    }
  // Removes the empty ends of scopes.
  for (BasicBlock &block : make_early_inc_range(function))
    if (emptyEnd(block) && &block != &function.getEntryBlock())
      TryToSimplifyUncondBranchFromEmptyBlock(&block);
}

} // namespace

void proviso_leave_out_checks(LLVMModuleRef module, const char *handlers, int scopes) {
  SmallVector<StringRef, 32> names;
  StringRef(handlers).split(names, ',');
  Leaving leaving(names);
  bool calls = any_of(names, [&](StringRef name) { return unwrap(module)->getFunction(name); });
  for (Function &function : *unwrap(module)) {
    if (calls)
      leaving.checks(function);
    if (scopes)
      leaveOutScopes(function);
  }
  leaving.finish();
}
