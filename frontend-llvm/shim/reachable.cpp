// Reachability across modules, by symbol names, before they are linked. LLVM's GlobalDCE would run after linking: it
// needs all functions to be read and linked, which is where large programs spend most of the time.

#include "proviso_llvm.h"
#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/ValueHandle.h>
#include <llvm/Support/Error.h>

using namespace llvm;

namespace {

// The definitions that are reachable from the entry function and other roots, across modules.
class Reachable {
  ArrayRef<LLVMModuleRef> modules;
  DenseSet<const GlobalValue *> kept;
  DenseSet<const Constant *> seen;
  SmallVector<GlobalValue *, 64> work;

  void add(GlobalValue *value) {
    if (kept.insert(value).second)
      work.push_back(value);
  }

  /// Adds all globals that occur in the operands of `user`, also within constants.
  void operands(const User &user) {
    SmallVector<const User *, 16> users{&user};
    while (!users.empty())
      for (const Value *operand : users.pop_back_val()->operands())
        if (auto *constant = dyn_cast_or_null<Constant>(operand)) {
          if (auto *global = dyn_cast<GlobalValue>(constant))
            add(const_cast<GlobalValue *>(global));
          else if (seen.insert(constant).second)
            users.push_back(constant);
        }
  }

public:
  explicit Reachable(ArrayRef<LLVMModuleRef> modules) : modules(modules) {
    // LLVM's own tables are roots: constructors, destructors, and used symbols. The loader calls the resolvers of ifuncs.
    for (LLVMModuleRef module : modules) {
      for (GlobalVariable &variable : unwrap(module)->globals())
        if (variable.hasAppendingLinkage())
          add(&variable);
      for (GlobalIFunc &selected : unwrap(module)->ifuncs())
        add(&selected);
    }
  }

  /// Adds the visible symbols with this name.
  void add(StringRef name) {
    for (LLVMModuleRef module : modules)
      if (GlobalValue *value = unwrap(module)->getNamedValue(name); value && !value->hasLocalLinkage())
        add(value);
  }

  /// Adds the entry function. It may be local to a file. The linker would then drop it, because nothing calls it.
  void start(StringRef name) {
    GlobalValue *local = nullptr;
    for (LLVMModuleRef module : modules)
      if (GlobalValue *value = unwrap(module)->getNamedValue(name); value && !value->isDeclaration()) {
        if (!value->hasLocalLinkage())
          return add(value);
        local = local ? local : value;
      }
    if (local) {
      local->setLinkage(GlobalValue::ExternalLinkage);
      add(local);
    }
  }

  /// Reads the added definitions, and adds everything that they use.
  Error follow() {
    while (!work.empty()) {
      GlobalValue *value = work.pop_back_val();
      if (!value->hasLocalLinkage())
        add(value->getName());
      if (Error error = value->materialize())
        return error;
      operands(*value);
      if (auto *function = dyn_cast<Function>(value))
        for (const Instruction &instruction : instructions(*function))
          operands(instruction);
    }
    return Error::success();
  }

  /// True if a function with this name was added, and no module defines it so that no other definition replaces it.
  bool calls(StringRef name) {
    bool isAdded = false;
    for (LLVMModuleRef module : modules)
      if (GlobalValue *value = unwrap(module)->getNamedValue(name); value && !value->hasLocalLinkage()) {
        if (!value->isDeclaration() && !value->isInterposable())
          return false;
        isAdded |= kept.contains(value);
      }
    return isAdded;
  }

  /// Adds the variables that are visible to other files.
  void visible() {
    for (LLVMModuleRef module : modules)
      for (GlobalVariable &variable : unwrap(module)->globals())
        if (!variable.isDeclaration() && !variable.hasLocalLinkage())
          add(&variable);
  }

  /// Removes the definitions that were not added from a module.
  Error sweep(Module &module) {
    // Weak handles, because the reader removes intrinsics that it upgrades, and converts calls of dbg.declare to
    // records.
    SmallVector<WeakVH, 64> rest;
    for (GlobalValue &value : module.global_values())
      if (!kept.contains(&value))
        rest.emplace_back(&value);
    for (Value *value : rest)
      if (auto *function = dyn_cast<Function>(value))
        function->deleteBody();
      else
        cast<User>(value)->dropAllReferences();
    auto erase = [&](bool functions) {
      for (Value *value : rest)
        if (value && isa<Function>(value) == functions) {
          auto *global = cast<GlobalValue>(value);
          global->removeDeadConstantUsers();
          global->eraseFromParent();
        }
    };
    erase(false);
    // The reader finishes its work, which may inspect functions, and verifies the module.
    if (Error error = module.materializeAll())
      return error;
    erase(true);
    return Error::success();
  }
};

} // namespace

int proviso_keep_reachable(LLVMModuleRef const *modules, size_t count, const char *root, const char *others,
                           const char *unknown) {
  ArrayRef<LLVMModuleRef> all(modules, count);
  Reachable reachable(all);
  reachable.start(root);
  SmallVector<StringRef, 4> names;
  StringRef(others).split(names, ',', -1, false);
  for (StringRef name : names)
    reachable.add(name);
  Error error = reachable.follow();
  names.clear();
  StringRef(unknown).split(names, ',', -1, false);
  if (!error && any_of(names, [&](StringRef name) { return reachable.calls(name); })) {
    reachable.visible();
    error = reachable.follow();
  }
  for (LLVMModuleRef module : all)
    if (!error)
      error = reachable.sweep(*unwrap(module));
  if (!error)
    return 0;
  unwrap(modules[0])->getContext().emitError(toString(std::move(error)));
  return 1;
}

int proviso_is_called_once(LLVMModuleRef module, const char *name, const char *entry) {
  Function *function = unwrap(module)->getFunction(name), *start = unwrap(module)->getFunction(entry);
  if (!function || function->use_empty())
    return 1;
  if (!start || !start->use_empty() || !function->hasOneUse())
    return 0;
  auto *call = dyn_cast<CallInst>(function->user_back());
  if (!call || call->getCalledOperand() != function || call->getFunction() != start)
    return 0;
  BasicBlock *block = call->getParent();
  SmallPtrSet<BasicBlock *, 16> seen;
  SmallVector<BasicBlock *, 16> work{block};
  while (!work.empty())
    for (BasicBlock *next : successors(work.pop_back_val())) {
      if (next == block)
        return 0;
      if (seen.insert(next).second)
        work.push_back(next);
    }
  return 1;
}
