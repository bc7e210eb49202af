// Types, constants and debug information as rows of words.

#include "tables.hpp"
#include <llvm/ADT/SmallString.h>
#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/IR/Operator.h>
#include <llvm/Support/Path.h>

using namespace llvm;

// Types. Row: kind, fields of the kind; then size in bits, allocated size in bytes.

namespace type_kind {
enum { other, void_, integer, floating, pointer, array, vector, structure, function };
}

uint32_t TypeTable::id(Type *type) {
  if (auto known = ids.find(type); known != ids.end())
    return known->second;
  Words words;
  auto floating = [&](uint32_t format) { words = {type_kind::floating, format}; };
  switch (type->getTypeID()) {
  case Type::VoidTyID:
    words = {type_kind::void_};
    break;
  case Type::IntegerTyID:
    words = {type_kind::integer, type->getIntegerBitWidth()};
    break;
  case Type::HalfTyID:
    floating(0);
    break;
  case Type::BFloatTyID:
    floating(1);
    break;
  case Type::FloatTyID:
    floating(2);
    break;
  case Type::DoubleTyID:
    floating(3);
    break;
  case Type::X86_FP80TyID:
    floating(4);
    break;
  case Type::FP128TyID:
    floating(5);
    break;
  case Type::PointerTyID:
    words = {type_kind::pointer};
    break;
  case Type::ArrayTyID:
    words = {type_kind::array, id(type->getArrayElementType())};
    push64(words, type->getArrayNumElements());
    break;
  case Type::FixedVectorTyID: {
    auto *vector = cast<FixedVectorType>(type);
    words = {type_kind::vector, id(vector->getElementType()), vector->getNumElements()};
    break;
  }
  case Type::StructTyID: {
    auto *structure = cast<StructType>(type);
    if (!structure->isSized()) {
      words = {type_kind::other};
      break;
    }
    auto *offsets = layout.getStructLayout(structure);
    words = {type_kind::structure, structure->getNumElements()};
    for (unsigned i = 0; i < structure->getNumElements(); i++) {
      words.push_back(id(structure->getElementType(i)));
      push64(words, offsets->getElementOffset(i));
    }
    break;
  }
  case Type::FunctionTyID: {
    auto *function = cast<FunctionType>(type);
    words = {type_kind::function, id(function->getReturnType()), function->isVarArg(), function->getNumParams()};
    for (Type *param : function->params())
      words.push_back(id(param));
    break;
  }
  default:
    words = {type_kind::other};
  }
  bool sized = type->isSized() && !isa<ScalableVectorType>(type);
  push64(words, sized ? layout.getTypeSizeInBits(type).getFixedValue() : 0);
  push64(words, sized ? layout.getTypeAllocSize(type).getFixedValue() : 0);
  return ids[type] = rows.add(words);
}

// Constants. Row: kind, type, fields of the kind.

namespace constant_kind {
enum { other, integer, floating, null, undef, poison, aggregate, data, global, block, expression, gep };
}

ConstantTable::ConstantTable(const Module &module, TypeTable &types, Text &text)
    : layout(module.getDataLayout()), types(types), text(text) {
  // In the order of the export: variables, functions, aliases, ifuncs.
  for (auto &value : module.globals())
    globals[&value] = uint32_t(globals.size());
  for (auto &value : module.functions()) {
    globals[&value] = uint32_t(globals.size());
    uint32_t number = 0;
    for (auto &block : value)
      blocks[&block] = number++;
  }
  for (auto &value : module.aliases())
    globals[&value] = uint32_t(globals.size());
  for (auto &value : module.ifuncs())
    globals[&value] = uint32_t(globals.size());
}

bool ConstantTable::child(const Constant *constant, Words &words, std::vector<const Constant *> &missing) {
  auto known = ids.find(constant);
  if (known == ids.end()) {
    missing.push_back(constant);
    return false;
  }
  words.push_back(known->second);
  return true;
}

/// Writes the row of a constant. If it refers to constants without a row, adds these to `missing` and returns false.
bool ConstantTable::row(const Constant *constant, Words &words, std::vector<const Constant *> &missing) {
  uint32_t type = types.id(constant->getType());
  auto bits = [&](const APInt &value) {
    for (unsigned i = 0; i < value.getNumWords(); i++)
      push64(words, value.getRawData()[i]);
  };
  auto children = [&] {
    bool complete = true;
    for (const Use &operand : constant->operands())
      complete &= child(cast<Constant>(operand), words, missing);
    return complete;
  };
  if (auto *value = dyn_cast<ConstantInt>(constant)) {
    if (!constant->getType()->isIntegerTy()) {
      words = {constant_kind::other, type};
      return true;
    }
    words = {constant_kind::integer, type};
    bits(value->getValue());
  } else if (auto *value = dyn_cast<ConstantFP>(constant)) {
    if (!constant->getType()->isFloatingPointTy()) {
      words = {constant_kind::other, type};
      return true;
    }
    words = {constant_kind::floating, type};
    bits(value->getValueAPF().bitcastToAPInt());
  } else if (isa<ConstantPointerNull>(constant) || isa<ConstantAggregateZero>(constant)) {
    words = {constant_kind::null, type};
  } else if (isa<PoisonValue>(constant)) {
    words = {constant_kind::poison, type};
  } else if (isa<UndefValue>(constant)) {
    words = {constant_kind::undef, type};
  } else if (isa<ConstantAggregate>(constant)) {
    words = {constant_kind::aggregate, type, constant->getNumOperands()};
    return children();
  } else if (auto *data = dyn_cast<ConstantDataSequential>(constant)) {
    words = {constant_kind::data, type};
    text.push(words, data->getRawDataValues());
  } else if (auto *value = dyn_cast<GlobalValue>(constant)) {
    words = {constant_kind::global, type, globals[value]};
  } else if (auto *address = dyn_cast<BlockAddress>(constant)) {
    words = {constant_kind::block, type, globals[address->getFunction()], blocks[address->getBasicBlock()]};
  } else if (auto *gep = dyn_cast<GEPOperator>(constant); gep && gep->getType()->isPointerTy()) {
    APInt offset(layout.getIndexTypeSizeInBits(gep->getType()), 0);
    if (gep->accumulateConstantOffset(layout, offset)) {
      words = {constant_kind::gep, type};
      push64(words, uint64_t(offset.getSExtValue()));
      return child(cast<Constant>(gep->getPointerOperand()), words, missing);
    }
    words = {constant_kind::other, type};
  } else if (auto *expression = dyn_cast<ConstantExpr>(constant); expression && !isa<GEPOperator>(constant)) {
    words = {constant_kind::expression, type, expression->getOpcode(), constant->getNumOperands()};
    return children();
  } else {
    words = {constant_kind::other, type};
  }
  return true;
}

uint32_t ConstantTable::id(const Constant *constant) {
  if (auto known = ids.find(constant); known != ids.end())
    return known->second;
  // Children first, without recursion, because initialisers may be deep.
  std::vector<const Constant *> stack{constant}, missing;
  Words words;
  while (!stack.empty()) {
    const Constant *top = stack.back();
    if (ids.count(top)) {
      stack.pop_back();
      continue;
    }
    words.clear();
    missing.clear();
    if (row(top, words, missing)) {
      ids[top] = rows.add(words);
      stack.pop_back();
    } else {
      stack.insert(stack.end(), missing.begin(), missing.end());
    }
  }
  return ids[constant];
}

// Debug information.

/// Row: path, absolute if the compilation directory is known.
uint32_t DebugTable::file(const DIFile *file) {
  if (!file)
    return none;
  if (auto known = file_ids.find(file); known != file_ids.end())
    return known->second;
  SmallString<128> path(file->getFilename());
  if (!sys::path::is_absolute(path) && !file->getDirectory().empty() && !path.empty() && path[0] != '<') {
    path = file->getDirectory();
    sys::path::append(path, file->getFilename());
  }
  Words words;
  text.push(words, path);
  return file_ids[file] = files.add(words);
}

/// Row: file, line, column, position of the inlined call, C name and symbol of the inlined function (empty if none was
/// inlined). Callers precede callees.
uint32_t DebugTable::place(const DILocation *location) {
  std::vector<const DILocation *> chain;
  for (; location && !place_ids.count(location); location = location->getInlinedAt())
    chain.push_back(location);
  uint32_t outer = location ? place_ids[location] : none;
  for (; !chain.empty(); chain.pop_back()) {
    const DILocation *here = chain.back();
    const DISubprogram *function = outer == none ? nullptr : here->getScope()->getSubprogram();
    auto [name, fresh] = function_names.try_emplace(function);
    if (fresh) {
      text.push(name->second, function ? function->getName() : "");
      text.push(name->second, function ? GlobalValue::dropLLVMManglingEscape(function->getLinkageName()) : "");
    }
    Words words{file(here->getFile()), here->getLine(), here->getColumn(), outer};
    words.insert(words.end(), name->second.begin(), name->second.end());
    outer = place_ids[here] = places.add(words);
  }
  return outer;
}

// Row of a C type: kind, fields of the kind.

namespace c_kind {
enum { unknown, basic, pointer, array, record, enumeration, function, alias, qualified };
}

uint32_t DebugTable::type(const DIType *type) {
  if (!type)
    return none;
  auto [entry, fresh] = type_ids.try_emplace(type, uint32_t(type_ids.size()));
  if (fresh)
    unfinished.push_back(type);
  return entry->second;
}

void DebugTable::finish() {
  for (size_t i = 0; i < unfinished.size(); i++)
    types.add(type_row(unfinished[i]));
}

Words DebugTable::type_row(const DIType *any) {
  Words words;
  if (auto *basic = dyn_cast<DIBasicType>(any)) {
    uint32_t class_ = 0; // 0 signed, 1 unsigned, 2 bool, 3 float, 4 complex and others
    switch (basic->getEncoding()) {
    case dwarf::DW_ATE_signed:
    case dwarf::DW_ATE_signed_char:
      class_ = 0;
      break;
    case dwarf::DW_ATE_unsigned:
    case dwarf::DW_ATE_unsigned_char:
    case dwarf::DW_ATE_UTF:
      class_ = 1;
      break;
    case dwarf::DW_ATE_boolean:
      class_ = 2;
      break;
    case dwarf::DW_ATE_float:
      class_ = 3;
      break;
    default:
      class_ = 4;
    }
    words = {c_kind::basic, class_, uint32_t(basic->getSizeInBits())};
    text.push(words, basic->getName());
    return words;
  }
  if (isa<DISubroutineType>(any))
    return {c_kind::function};
  if (auto *derived = dyn_cast<DIDerivedType>(any)) {
    uint32_t base = type(derived->getBaseType());
    switch (derived->getTag()) {
    case dwarf::DW_TAG_pointer_type:
    case dwarf::DW_TAG_reference_type:
      return {c_kind::pointer, base};
    case dwarf::DW_TAG_const_type:
      return {c_kind::qualified, base, 0};
    case dwarf::DW_TAG_volatile_type:
      return {c_kind::qualified, base, 1};
    case dwarf::DW_TAG_restrict_type:
      return {c_kind::qualified, base, 2};
    case dwarf::DW_TAG_atomic_type:
      return {c_kind::qualified, base, 3};
    case dwarf::DW_TAG_typedef:
      words = {c_kind::alias, base};
      text.push(words, derived->getName());
      return words;
    default:
      return {c_kind::unknown, uint32_t(derived->getSizeInBits())};
    }
  }
  auto *composite = dyn_cast<DICompositeType>(any);
  if (!composite)
    return {c_kind::unknown, uint32_t(any->getSizeInBits())};
  switch (composite->getTag()) {
  case dwarf::DW_TAG_array_type: {
    // The dimensions, outermost first. `none` twice is an unknown length.
    words = {c_kind::array, type(composite->getBaseType()), 0};
    for (const DINode *element : composite->getElements()) {
      uint64_t length = UINT64_MAX;
      if (auto *range = dyn_cast_or_null<DISubrange>(element)) {
        auto count = range->getCount();
        if (auto *number = count ? dyn_cast<ConstantInt *>(count) : nullptr)
          length = uint64_t(number->getSExtValue());
      }
      push64(words, length);
      words[2]++;
    }
    return words;
  }
  case dwarf::DW_TAG_structure_type:
  case dwarf::DW_TAG_class_type:
  case dwarf::DW_TAG_union_type: {
    words = {c_kind::record, composite->getTag() == dwarf::DW_TAG_union_type};
    push64(words, composite->getSizeInBits() / 8);
    text.push(words, composite->getName());
    size_t count = words.size();
    words.push_back(0);
    for (const DINode *element : composite->getElements()) {
      auto *member = dyn_cast_or_null<DIDerivedType>(element);
      if (!member || member->getTag() != dwarf::DW_TAG_member || member->isStaticMember())
        continue;
      text.push(words, member->getName());
      words.push_back(type(member->getBaseType()));
      push64(words, member->getOffsetInBits());
      push64(words, member->getSizeInBits());
      words[count]++;
    }
    return words;
  }
  case dwarf::DW_TAG_enumeration_type: {
    bool is_signed = true;
    const DIType *base = composite->getBaseType();
    while (auto *derived = dyn_cast_or_null<DIDerivedType>(base))
      base = derived->getBaseType();
    if (auto *basic = dyn_cast_or_null<DIBasicType>(base))
      is_signed = basic->getEncoding() == dwarf::DW_ATE_signed;
    words = {c_kind::enumeration, uint32_t(composite->getSizeInBits()), is_signed};
    text.push(words, composite->getName());
    size_t count = words.size();
    words.push_back(0);
    for (const DINode *element : composite->getElements()) {
      auto *value = dyn_cast_or_null<DIEnumerator>(element);
      if (!value)
        continue;
      text.push(words, value->getName());
      push64(words, value->getValue().sextOrTrunc(64).getZExtValue());
      words[count]++;
    }
    return words;
  }
  default:
    return {c_kind::unknown, uint32_t(composite->getSizeInBits())};
  }
}
