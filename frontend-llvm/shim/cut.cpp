// Removes instructions from a module so that the remaining module can be executed.
//
// src/cut.rs gives the orders for every function, block and instruction. Every path through a function also exists in
// the original: a removed branch becomes a jump to one of its targets. Values are therefore still defined before their
// uses.

#include "module.hpp"
#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/DepthFirstIterator.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/AttributeMask.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/Local.h>

using namespace llvm;

namespace {

// These must agree with src/cut.rs.
enum FunctionAction : uint32_t { stub_function, cut_function, exit_function_stub };
enum BlockAction : uint32_t { keep_end, exit_at_start, return_at_end, exit_at_end, first_successor };
enum InstructionFlag : uint32_t { kept = 1, stop_after = 2, unseen = 4, dropped_shift = 8 };

/// The order for an instruction.
struct Order {
  Instruction *instruction;
  uint32_t flags;
  SmallVector<uint32_t, 2> dropped;
};

class Cutter {
  Module &module;
  const uint32_t *words;
  StringRef entry;
  Function *exit_function = nullptr;
  Function *flush_function = nullptr;

  void end_program(Instruction *before);
  void stub(Function &function, bool returns);
  void cut(Function &function);
  void drop_arguments(Order &order);
  void drop_value(Instruction &instruction);
  void keep_unseen(Function &function, ArrayRef<Order> orders);
  void end_block(BasicBlock &block, uint32_t action);
  void keep_addresses(Function &function, ArrayRef<BasicBlock *> blocks);
  void keep_addresses_of_lost(Function &function);
  void erase_dead(Function &function);
  void erase_unreachable_globals();

public:
  Cutter(Module &module, const uint32_t *words, StringRef entry) : module(module), words(words), entry(entry) {}
  void run(ArrayRef<Function *> bodies);
};

/// Attributes because of which a zero in place of a value could be undefined behaviour.
AttributeMask strict_attributes() {
  AttributeMask mask;
  for (auto kind : {Attribute::NonNull, Attribute::NoUndef, Attribute::Dereferenceable, Attribute::DereferenceableOrNull,
                    Attribute::Returned, Attribute::Range, Attribute::NoFPClass})
    mask.addAttribute(kind);
  return mask;
}

bool registers_handlers(const Module &module) {
  for (const char *name : {"atexit", "on_exit", "__cxa_atexit", "at_quick_exit"})
    if (auto *function = module.getFunction(name); function && !function->use_empty())
      return true;
  return module.getNamedGlobal("llvm.global_dtors") != nullptr;
}

/// Ends the program: flushes output, but does not run the remaining handlers of the slice.
void Cutter::end_program(Instruction *before) {
  IRBuilder<> builder(before);
  builder.SetCurrentDebugLocation(before->getDebugLoc());
  if (!exit_function) {
    auto *existing = module.getFunction("exit");
    bool quick = registers_handlers(module) || (existing && !existing->isDeclaration());
    auto *type = FunctionType::get(builder.getVoidTy(), {builder.getInt32Ty()}, false);
    auto callee = module.getOrInsertFunction(quick ? "_exit" : "exit", type);
    exit_function = cast<Function>(callee.getCallee());
    if (quick) {
      auto *flush_type = FunctionType::get(builder.getInt32Ty(), {builder.getPtrTy()}, false);
      flush_function = cast<Function>(module.getOrInsertFunction("fflush", flush_type).getCallee());
    }
  }
  if (flush_function)
    builder.CreateCall(FunctionType::get(builder.getInt32Ty(), {builder.getPtrTy()}, false), flush_function,
                       {ConstantPointerNull::get(builder.getPtrTy())});
  auto *call = builder.CreateCall(FunctionType::get(builder.getVoidTy(), {builder.getInt32Ty()}, false), exit_function,
                                  {builder.getInt32(0)});
  call->setDoesNotReturn();
}

/// Replaces the addresses of blocks that no indirect jump reaches any more by the addresses of bytes in an array. LLVM
/// gives all deleted blocks the same invalid address, but the program may compare or subtract the addresses of labels.
void Cutter::keep_addresses(Function &function, ArrayRef<BasicBlock *> blocks) {
  SmallVector<std::pair<BlockAddress *, unsigned>, 8> addresses;
  for (auto [n, block] : enumerate(blocks))
    if (auto *address = BlockAddress::lookup(block); address && !address->use_empty())
      addresses.emplace_back(address, n);
  if (addresses.empty())
    return;
  auto *type = ArrayType::get(Type::getInt8Ty(module.getContext()), blocks.size());
  auto *labels = new GlobalVariable(module, type, true, GlobalValue::PrivateLinkage, Constant::getNullValue(type),
                                    function.getName() + ".labels");
  for (auto [address, n] : addresses) {
    auto *index = ConstantInt::get(Type::getInt64Ty(module.getContext()), n);
    address->replaceAllUsesWith(ConstantExpr::getInBoundsGetElementPtr(type->getElementType(), labels, index));
  }
}

/// Does the same for blocks that are deleted because they are unreachable, or because no block of the function is a
/// target.
void Cutter::keep_addresses_of_lost(Function &function) {
  df_iterator_default_set<BasicBlock *> reachable;
  bool jumps = false;
  for (BasicBlock *block : depth_first_ext(&function, reachable))
    jumps |= isa<IndirectBrInst>(block->getTerminator());
  SmallVector<BasicBlock *, 8> lost;
  for (auto &block : function)
    if (block.hasAddressTaken() && (!jumps || !reachable.count(&block)))
      lost.push_back(&block);
  keep_addresses(function, lost);
}

/// Reduces a function to a return, or to the end of the program.
void Cutter::stub(Function &function, bool returns) {
  SmallVector<BasicBlock *, 8> labels;
  for (auto &block : function)
    if (block.hasAddressTaken())
      labels.push_back(&block);
  keep_addresses(function, labels);
  auto linkage = function.getLinkage();
  returns &= !function.doesNotReturn();
  auto *subprogram = function.getSubprogram();
  function.deleteBody();
  function.setLinkage(linkage);
  function.setSubprogram(subprogram);
  auto *block = BasicBlock::Create(module.getContext(), "", &function);
  if (returns) {
    Type *type = function.getReturnType();
    ReturnInst::Create(module.getContext(), type->isVoidTy() ? nullptr : Constant::getNullValue(type), block);
    function.removeRetAttrs(strict_attributes());
  } else {
    auto *end = new UnreachableInst(module.getContext(), block);
    if (subprogram)
      end->setDebugLoc(DILocation::get(module.getContext(), subprogram->getLine(), 0, subprogram));
    end_program(end);
  }
}

/// Removes an instruction whose value is not needed.
void Cutter::drop_value(Instruction &instruction) {
  Type *type = instruction.getType();
  if (!type->isVoidTy() && !instruction.use_empty())
    instruction.replaceAllUsesWith(type->isTokenTy() ? static_cast<Value *>(ConstantTokenNone::get(type->getContext()))
                                                     : Constant::getNullValue(type));
  instruction.eraseFromParent();
}

/// Passes (or returns) zeros in place of values that are not needed.
void Cutter::drop_arguments(Order &order) {
  if (auto *result = dyn_cast<ReturnInst>(order.instruction)) {
    if (Value *value = result->getReturnValue()) {
      result->setOperand(0, Constant::getNullValue(value->getType()));
      result->getFunction()->removeRetAttrs(strict_attributes());
    }
    return;
  }
  auto *call = dyn_cast<CallBase>(order.instruction);
  if (!call)
    return;
  if (auto *plain = dyn_cast<CallInst>(call); plain && plain->isMustTailCall())
    plain->setTailCallKind(CallInst::TCK_Tail);
  for (uint32_t n : order.dropped) {
    if (n >= call->arg_size())
      continue;
    Type *type = call->getArgOperand(n)->getType();
    // An argument passed by copy needs an object to copy. Its address may be removed, so an arbitrary object replaces
    // it.
    if (call->isByValArgument(n)) {
      Value *from = call->getArgOperand(n);
      if (!isa<Constant>(from) && !isa<AllocaInst>(from)) {
        BasicBlock &entry = call->getFunction()->getEntryBlock();
        Align align = call->getParamAlign(n).value_or(module.getDataLayout().getPrefTypeAlign(call->getParamByValType(n)));
        auto *any = new AllocaInst(call->getParamByValType(n), module.getDataLayout().getAllocaAddrSpace(), nullptr, align, "",
                                   entry.begin());
        call->setArgOperand(n, any);
      }
      continue;
    }
    if (call->isInAllocaArgument(n) || type->isMetadataTy())
      continue;
    call->setArgOperand(n, Constant::getNullValue(type));
    call->removeParamAttrs(n, strict_attributes());
    if (Function *callee = call->getCalledFunction(); callee && n < callee->arg_size())
      callee->removeParamAttrs(n, strict_attributes());
  }
}

/// The cell that an access with constant offsets addresses.
AllocaInst *cell(Value *pointer) { return dyn_cast<AllocaInst>(pointer->stripInBoundsConstantOffsets()); }

/// Decides about instructions that implement no edge. Cells, the stores of parameters into them, and lifetime markers
/// are kept if another kept instruction uses the cell. All others are removed.
void Cutter::keep_unseen(Function &function, ArrayRef<Order> orders) {
  SmallPtrSet<AllocaInst *, 16> used;
  SmallVector<Instruction *, 32> companions;
  for (auto &order : orders)
    if (order.instruction && order.flags & unseen && !isa<AllocaInst>(order.instruction) && !order.instruction->isTerminator()) {
      auto *store = dyn_cast<StoreInst>(order.instruction);
      auto *intrinsic = dyn_cast<IntrinsicInst>(order.instruction);
      if ((store && isa<Argument>(store->getValueOperand()) && cell(store->getPointerOperand())) ||
          (intrinsic && intrinsic->isLifetimeStartOrEnd() && cell(intrinsic->getArgOperand(1))))
        companions.push_back(order.instruction);
    }
  SmallPtrSet<Instruction *, 32> is_companion(companions.begin(), companions.end());
  for (auto &instruction : instructions(function))
    if (auto *alloca = dyn_cast<AllocaInst>(&instruction))
      for (User *user : alloca->users())
        if (auto *other = dyn_cast<Instruction>(user); !other || !is_companion.count(other))
          used.insert(alloca);
  for (Instruction *companion : companions) {
    auto *store = dyn_cast<StoreInst>(companion);
    AllocaInst *alloca = cell(store ? store->getPointerOperand() : cast<IntrinsicInst>(companion)->getArgOperand(1));
    if (!used.count(alloca))
      companion->eraseFromParent();
  }
}

void Cutter::end_block(BasicBlock &block, uint32_t action) {
  Instruction *end = block.getTerminator();
  if (action == return_at_end) {
    Type *type = block.getParent()->getReturnType();
    for (BasicBlock *successor : successors(&block))
      successor->removePredecessor(&block, true);
    auto *result = ReturnInst::Create(module.getContext(),
                                      type->isVoidTy() ? nullptr : Constant::getNullValue(type), end->getIterator());
    result->setDebugLoc(end->getDebugLoc());
    block.getParent()->removeRetAttrs(strict_attributes());
    drop_value(*end);
  } else if (action == exit_at_end) {
    end_program(end);
    changeToUnreachable(end, true);
  } else if (action >= first_successor) {
    unsigned chosen = action - first_successor;
    BasicBlock *target = end->getSuccessor(chosen);
    for (unsigned i = 0; i < end->getNumSuccessors(); i++)
      if (i != chosen)
        end->getSuccessor(i)->removePredecessor(&block, true);
    auto *branch = BranchInst::Create(target, end->getIterator());
    branch->setDebugLoc(end->getDebugLoc());
    drop_value(*end);
  }
}

void Cutter::cut(Function &function) {
  std::vector<std::pair<BasicBlock *, uint32_t>> blocks;
  for (auto &block : function)
    blocks.emplace_back(&block, *words++);
  std::vector<Order> orders;
  for (auto &block : function)
    for (auto &instruction : block) {
      uint32_t word = *words++;
      Order order{&instruction, word & 0xff, {}};
      for (uint32_t n = word >> dropped_shift; n > 0; n--)
        order.dropped.push_back(*words++);
      orders.push_back(std::move(order));
    }
  // Paths end where the slice stops. Phis remain, because they may have orders. The instructions after such an end are
  // deleted, so orders for them are void.
  SmallPtrSet<const Instruction *, 16> gone;
  auto end_before = [&](Instruction *instruction) {
    for (Instruction *next = instruction; next; next = next->getNextNode())
      gone.insert(next);
    end_program(instruction);
    changeToUnreachable(instruction, true);
  };
  for (auto [block, action] : blocks)
    if (action == exit_at_start) {
      auto first = block->getFirstNonPHI();
      while (first && isa<LandingPadInst>(first))
        first = first->getNextNode();
      end_before(first);
    }
  for (auto &order : orders) {
    if (gone.count(order.instruction) || !(order.flags & stop_after))
      continue;
    Instruction *next = order.instruction->getNextNode();
    bool ends_itself = isa_and_nonnull<UnreachableInst>(next) && order.flags & kept;
    if (next && !ends_itself)
      end_before(next);
  }
  SmallPtrSet<const Instruction *, 16> ended;
  for (auto [block, action] : blocks)
    if (action != exit_at_start && action != keep_end && !gone.count(block->getTerminator()) &&
        block->getTerminator()) {
      ended.insert(block->getTerminator());
      end_block(*block, action);
    }
  SmallPtrSet<const Instruction *, 16> kept_calls;
  for (auto &order : orders)
    if (gone.count(order.instruction) || ended.count(order.instruction))
      order.instruction = nullptr;
    else if (order.flags & kept && isa<CallBase>(order.instruction))
      kept_calls.insert(order.instruction);
  // An `unreachable` after a removed call would be reached.
  for (auto &order : orders)
    if (auto *end = dyn_cast_or_null<UnreachableInst>(order.instruction))
      if (!(order.flags & kept) && !kept_calls.count(end->getPrevNode()))
        end_program(end);
  for (auto &order : orders)
    if (order.instruction && !order.dropped.empty())
      drop_arguments(order);
  for (auto &order : orders) {
    Instruction *instruction = order.instruction;
    if (!instruction || instruction->isTerminator() || order.flags & kept)
      continue;
    if (auto *alloca = dyn_cast<AllocaInst>(instruction); alloca && alloca->isStaticAlloca())
      continue;
    if (order.flags & unseen) {
      auto *store = dyn_cast<StoreInst>(instruction);
      auto *intrinsic = dyn_cast<IntrinsicInst>(instruction);
      if (store && isa<Argument>(store->getValueOperand()) && cell(store->getPointerOperand()))
        continue;
      if (intrinsic && (intrinsic->isLifetimeStartOrEnd() && cell(intrinsic->getArgOperand(1))))
        continue;
      // A restore of the stack pointer is kept if its save is.
      if (intrinsic && intrinsic->getIntrinsicID() == Intrinsic::stacksave)
        continue;
      if (intrinsic && intrinsic->getIntrinsicID() == Intrinsic::stackrestore &&
          isa<IntrinsicInst>(intrinsic->getArgOperand(0)))
        continue;
    }
    drop_value(*instruction);
    order.instruction = nullptr;
  }
  keep_unseen(function, orders);
  keep_addresses_of_lost(function);
  EliminateUnreachableBlocks(function);
  erase_dead(function);
  // Attributes of the whole function may be wrong for a part that may end the program.
  function.removeFnAttr(Attribute::WillReturn);
  function.removeFnAttr(Attribute::Memory);
  function.removeFnAttr(Attribute::Speculatable);
}

/// Erases unused values, and blocks that only lead to the next one.
void Cutter::erase_dead(Function &function) {
  SmallVector<WeakTrackingVH, 32> dead;
  for (auto &instruction : instructions(function))
    if (isInstructionTriviallyDead(&instruction))
      dead.push_back(&instruction);
  RecursivelyDeleteTriviallyDeadInstructionsPermissive(dead);
  for (auto &block : make_early_inc_range(function))
    MergeBlockIntoPredecessor(&block);
  for (auto &block : make_early_inc_range(function)) {
    auto *branch = dyn_cast<BranchInst>(block.getTerminator());
    bool empty = branch && branch->isUnconditional() && &block.front() == branch && branch->getSuccessor(0) != &block;
    if (empty && !block.hasAddressTaken() && &block != &function.getEntryBlock())
      TryToSimplifyUncondBranchFromEmptyBlock(&block);
  }
}

/// Erases functions and variables that are unreachable from the entry and from LLVM's own tables.
void Cutter::erase_unreachable_globals() {
  SmallPtrSet<const GlobalValue *, 32> reached;
  DenseSet<const Constant *> seen;
  SmallVector<const Constant *, 32> todo;
  auto want = [&](const Value *value) {
    if (auto *constant = dyn_cast_or_null<Constant>(value); constant && seen.insert(constant).second)
      todo.push_back(constant);
  };
  want(module.getFunction(entry));
  for (auto &variable : module.globals())
    if (variable.getName().starts_with("llvm."))
      want(&variable);
  while (!todo.empty()) {
    const Constant *constant = todo.pop_back_val();
    if (auto *value = dyn_cast<GlobalValue>(constant))
      reached.insert(value);
    if (auto *function = dyn_cast<Function>(constant))
      for (auto &instruction : instructions(function))
        for (const Use &use : instruction.operands())
          want(use);
    for (const Use &use : constant->operands())
      want(use);
  }
  std::vector<GlobalValue *> lost;
  for (auto &value : module.global_values())
    if (!reached.count(&value))
      lost.push_back(&value);
  for (auto *value : lost)
    if (auto *function = dyn_cast<Function>(value))
      function->deleteBody();
    else if (auto *variable = dyn_cast<GlobalVariable>(value))
      variable->setInitializer(nullptr);
  for (auto *value : lost) {
    value->removeDeadConstantUsers();
    if (!value->use_empty())
      value->replaceAllUsesWith(Constant::getNullValue(value->getType()));
    value->eraseFromParent();
  }
}

void Cutter::run(ArrayRef<Function *> bodies) {
  SmallPtrSet<Function *, 32> ordered(bodies.begin(), bodies.end());
  // The C library defines the functions that models replaced in the program (weak or inline functions).
  for (auto &function : module)
    if (!function.isDeclaration() && !ordered.count(&function))
      function.deleteBody();
  for (auto *function : bodies) {
    uint32_t action = *words++;
    if (action == cut_function)
      cut(*function);
    else
      stub(*function, action == stub_function);
  }
  erase_unreachable_globals();
}

} // namespace

struct ProvisoOriginal {
  /// The original module. Linking does more than add definitions: it changes flags, the linkage of symbols, and
  /// attributes.
  std::unique_ptr<Module> module;
  /// For each function of the module with models, the function of the original.
  ValueToValueMapTy functions;
};

ProvisoOriginal *proviso_original_new(LLVMModuleRef module) {
  auto *original = new ProvisoOriginal;
  original->module = CloneModule(*unwrap(module), original->functions);
  // LLVM's cloning keeps block addresses of the source module in everything that it clones before the function (initial
  // values, other functions).
  for (auto &function : *unwrap(module))
    for (auto &block : function)
      for (User *user : make_early_inc_range(block.users()))
        if (auto *address = dyn_cast<BlockAddress>(user); address && address->getFunction() != &function) {
          address->replaceAllUsesWith(BlockAddress::get(cast<BasicBlock>(original->functions.lookup(&block))));
          address->destroyConstant();
        }
  return original;
}

void proviso_original_free(ProvisoOriginal *original) { delete original; }

LLVMModuleRef proviso_cut(ProvisoOriginal *given, LLVMModuleRef linked, const uint32_t *words, const char *entry) {
  std::unique_ptr<ProvisoOriginal> original(given);
  // The orders follow the functions of the module with models, as far as they belong to the program.
  std::vector<Function *> bodies;
  for (auto &function : *unwrap(linked))
    if (!function.isDeclaration() && !function.hasFnAttribute(model_attribute))
      bodies.push_back(cast<Function>(original->functions.lookup(&function)));
  original->functions.clear();
  Module &module = *original->module;
  if (!module.IsNewDbgInfoFormat)
    module.setIsNewDbgInfoFormat(true);
  Cutter(module, words, entry).run(bodies);
  return wrap(original->module.release());
}
