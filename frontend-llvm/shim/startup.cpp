// Turns functions that the loader calls because of their sections into rows of LLVM's tables of constructors and
// destructors, which the lowering reads.

#include "proviso_llvm.h"
#include <algorithm>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Module.h>

using namespace llvm;

namespace {

/// The priority of functions without one.
constexpr uint64_t default_priority = 65535;

struct Row {
  uint64_t priority;
  Constant *function;
};

/// The rows of one table.
struct Table {
  /// The rows from `.preinit_array` and `.init_array`, or from `.fini_array`.
  SmallVector<Row, 4> rows;
  /// The rows from `.ctors` or `.dtors`. The linker reverses their order.
  SmallVector<Row, 4> reversed;
  /// The linker concatenates sections in the order of their occurrence in the file.
  bool reversed_first = false;
};

/// Collects the words of an initial value. A null pointer represents a word that is no pointer.
void words(Constant *value, Type *pointer, SmallVectorImpl<Constant *> &found) {
  if (value->getType()->isPointerTy())
    found.push_back(value);
  else if (auto *array = dyn_cast<ArrayType>(value->getType()))
    for (uint64_t i = 0; i < array->getNumElements(); i++)
      words(value->getAggregateElement(unsigned(i)), pointer, found);
  else if (auto *structure = dyn_cast<StructType>(value->getType()))
    for (unsigned i = 0; i < structure->getNumElements(); i++)
      words(value->getAggregateElement(i), pointer, found);
  else if (auto *cast = dyn_cast<ConstantExpr>(value); cast && cast->getOpcode() == Instruction::PtrToInt)
    found.push_back(cast->getOperand(0));
  else
    found.push_back(Constant::getNullValue(pointer));
}

/// Adds rows to one of LLVM's tables. clang writes the table after the variables of the file.
void add_rows(Module &module, StringRef name, Table &table) {
  if (table.rows.empty() && table.reversed.empty())
    return;
  std::reverse(table.reversed.begin(), table.reversed.end());
  LLVMContext &context = module.getContext();
  Type *number = Type::getInt32Ty(context), *pointer = PointerType::getUnqual(context);
  StructType *type = StructType::get(number, pointer, pointer);
  SmallVector<Constant *, 8> all;
  auto add = [&](ArrayRef<Row> some) {
    for (const Row &row : some) {
      Constant *priority = ConstantInt::get(number, row.priority);
      all.push_back(ConstantStruct::get(type, {priority, row.function, Constant::getNullValue(pointer)}));
    }
  };
  // For equal priorities, the linker puts these first.
  auto has_priority = [](const Row &row) { return row.priority < default_priority; };
  auto rest = std::stable_partition(table.reversed.begin(), table.reversed.end(), has_priority);
  ArrayRef<Row> first(table.reversed.begin(), rest), others(rest, table.reversed.end());
  add(first);
  if (table.reversed_first)
    add(others);
  add(table.rows);
  GlobalVariable *old = module.getNamedGlobal(name);
  if (old && old->hasInitializer())
    for (const Use &row : old->getInitializer()->operands())
      all.push_back(cast<Constant>(row));
  if (!table.reversed_first)
    add(others);
  ArrayType *array = ArrayType::get(type, all.size());
  auto *table_ = new GlobalVariable(module, array, false, GlobalValue::AppendingLinkage, ConstantArray::get(array, all));
  if (old)
    old->eraseFromParent();
  table_->setName(name);
}

} // namespace

void proviso_list_startup(LLVMModuleRef self) {
  Module &module = *unwrap(self);
  Table constructors, destructors;
  for (GlobalVariable &variable : module.globals()) {
    if (!variable.hasSection() || !variable.hasInitializer() || variable.hasAvailableExternallyLinkage())
      continue;
    auto [kind, suffix] = variable.getSection().drop_front(1).split('.');
    if (!variable.getSection().starts_with("."))
      continue;
    bool is_reversed = kind == "ctors" || kind == "dtors";
    bool is_first = kind == "preinit_array" && suffix.empty();
    bool is_constructor = is_first || kind == "init_array" || kind == "ctors";
    if (!is_constructor && kind != "fini_array" && kind != "dtors")
      continue;
    uint64_t priority = default_priority;
    if (is_first)
      priority = 0;
    else if (!suffix.empty() && !suffix.getAsInteger(10, priority) && is_reversed)
      priority = default_priority - std::min(priority, default_priority);
    Table &table = is_constructor ? constructors : destructors;
    table.reversed_first |= is_reversed && table.rows.empty();
    auto &rows = is_reversed ? table.reversed : table.rows;
    SmallVector<Constant *, 1> functions;
    words(variable.getInitializer(), PointerType::getUnqual(module.getContext()), functions);
    for (Constant *function : functions)
      rows.push_back({priority, function});
    // The tables name the functions now, so the output must not contain the sections as well.
    variable.setSection("");
  }
  add_rows(module, "llvm.global_ctors", constructors);
  add_rows(module, "llvm.global_dtors", destructors);
}
