// Exports a module as one flat buffer of words and text, which src/ir.rs decodes.
//
// The buffer is a sequence of sections. A section is a row count, a word count, and rows. Rows refer to each other by
// number.

#include "module.hpp"
#include "tables.hpp"
#include <cstdlib>
#include <cstring>
#include <llvm/ADT/StringSwitch.h>
#include <llvm/IR/DebugProgramInstruction.h>
#include <llvm/IR/GetElementPtrTypeIterator.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Operator.h>

using namespace llvm;

// src/ir.rs uses LLVM's opcode numbers.
static_assert(Instruction::Ret == 1 && Instruction::CallBr == 11 && Instruction::FNeg == 12 && Instruction::Xor == 30 &&
                  Instruction::Alloca == 31 && Instruction::AtomicRMW == 37 && Instruction::Trunc == 38 &&
                  Instruction::AddrSpaceCast == 50 && Instruction::ICmp == 53 && Instruction::Freeze == 67,
              "opcodes have moved");

namespace {

/// An operand is a number. The low three bits give its kind.
enum Operand : uint32_t { argument, instruction, constant, block, assembly, nothing };

uint32_t operand(Operand kind, uint32_t number) { return number << 3 | kind; }

/// The extra word of a constrained operation, and the last extra word of a call of an operation with its own rounding
/// mode.
constexpr uint32_t constrained_flag = 1, own_rounding_flag = 1;

/// Flags in the opcode word: optimisation may change the result of the operation on floats (fast-math flags); the
/// machine rounds a product and a sum only once; the machine computes with the precision of the x87.
constexpr uint32_t inexact_flag = 1 << 8, fused_flag = 1 << 9, extended_flag = 1 << 10;

/// True if the code of a function for x86-64 must not use the instructions that compute with values of this type, so
/// that the x87 computes. (For i386, the x87 is the default.)
static bool has_excess_precision(const Function &function, Type *scalar) {
  bool sse = true, sse2 = true;
  SmallVector<StringRef, 64> features;
  function.getFnAttribute("target-features").getValueAsString().split(features, ',');
  for (StringRef feature : features) {
    if (feature.drop_front() == "sse")
      sse = feature[0] == '+';
    else if (feature.drop_front() == "sse2")
      sse2 = feature[0] == '+';
  }
  const bool is_wide = function.getParent()->getDataLayout().getPointerSize() == 8;
  const bool is_of_x87 = scalar->isX86_FP80Ty() || scalar->isFP128Ty();
  return is_wide && !is_of_x87 && !(scalar->isFloatTy() ? sse : sse && sse2);
}

/// True if the code of an x86 function may use fused multiply-add instructions, so that LLVM selects one for each
/// `llvm.fmuladd`.
static bool has_fused_multiply_add(const Function &function) {
  bool fma = false, fma4 = false;
  SmallVector<StringRef, 64> features;
  function.getFnAttribute("target-features").getValueAsString().split(features, ',');
  for (StringRef feature : features) {
    if (feature.ends_with("fma"))
      fma = feature == "+fma" || (fma && feature != "-fma");
    else if (feature.ends_with("fma4"))
      fma4 = feature == "+fma4" || (fma4 && feature != "-fma4");
  }
  return fma || fma4;
}

class Exporter {
  Module &module;
  const DataLayout &layout;
  Text text;
  TypeTable types;
  ConstantTable constants;
  DebugTable debug;
  Rows variables, functions, aliases, assemblies, bodies;
  uint32_t instruction_count = 0;

  // The numbers in the current function.
  DenseMap<const Value *, uint32_t> numbers;
  DenseMap<const BasicBlock *, uint32_t> block_numbers;

  uint32_t name(const Value *value);
  void variable(const GlobalVariable &variable);
  void function(const Function &function);
  void body(const Function &function, Words &words);
  void debug_variable(const DbgVariableRecord &record, Words &words);
  void instruction_row(const Instruction &instruction, Words &words);
  uint32_t float_flags(const Instruction &instruction);
  void fields(const Instruction &instruction, Words &operands, Words &extra);
  void gep(const GetElementPtrInst &gep, Words &operands, Words &extra);
  void call(const CallBase &call, Words &operands, Words &extra);
  uint64_t member_offset(Type *aggregate, ArrayRef<unsigned> path);

public:
  explicit Exporter(Module &module)
      : module(module), layout(module.getDataLayout()), types(layout), constants(module, types, text), debug(text) {}
  ProvisoBuffer run();
};

uint32_t Exporter::name(const Value *value) {
  if (auto *block_ = dyn_cast<BasicBlock>(value))
    return operand(Operand::block, block_numbers[block_]);
  if (auto *constant_ = dyn_cast<Constant>(value))
    return operand(Operand::constant, constants.id(constant_));
  if (auto *assembly_ = dyn_cast<InlineAsm>(value)) {
    Words words;
    text.push(words, assembly_->getAsmString());
    text.push(words, assembly_->getConstraintString());
    return operand(Operand::assembly, assemblies.add(words));
  }
  auto known = numbers.find(value);
  if (known == numbers.end())
    return operand(Operand::nothing, 0); // metadata
  return operand(isa<Argument>(value) ? Operand::argument : Operand::instruction, known->second);
}

/// Row: name, value type, initialiser, alignment, flags; C name, C type, file, line.
void Exporter::variable(const GlobalVariable &variable) {
  Words words;
  text.push(words, variable.getName());
  words.push_back(types.id(variable.getValueType()));
  words.push_back(variable.hasInitializer() ? constants.id(variable.getInitializer()) : none);
  bool sized = variable.getValueType()->isSized();
  words.push_back(variable.getAlign()  ? uint32_t(variable.getAlign()->value())
                  : sized              ? uint32_t(layout.getPreferredAlign(&variable).value())
                                       : 1);
  words.push_back(variable.isConstant() | variable.hasExternalWeakLinkage() << 1 | variable.hasLocalLinkage() << 2 |
                  variable.hasAppendingLinkage() << 3);
  SmallVector<DIGlobalVariableExpression *, 1> infos;
  variable.getDebugInfo(infos);
  const DIGlobalVariable *info = nullptr;
  for (auto *candidate : infos)
    if (candidate->getExpression()->getNumElements() == 0)
      info = candidate->getVariable();
  text.push(words, info ? info->getName() : "");
  words.push_back(info ? debug.type(info->getType()) : none);
  words.push_back(info ? debug.file(info->getFile()) : none);
  words.push_back(info ? info->getLine() : 0);
  variables.add(words);
}

/// Row: name, type, flags; C name, file, line, C types of result and parameters; for each parameter with attributes,
/// its number, flags, size and alignment; the first instruction number, and the word count of the body in the section
/// of bodies.
void Exporter::function(const Function &function) {
  Words words;
  text.push(words, function.getName());
  words.push_back(types.id(function.getFunctionType()));
  const DISubprogram *info = function.getSubprogram();
  // Clang creates an artificial declaration for a call without one.
  const bool implicit = function.isDeclaration() && info && info->isArtificial();
  const bool is_bitcode = function.hasFnAttribute(bitcode_attribute);
  words.push_back(function.isDeclaration() | function.hasFnAttribute(model_attribute) << 1 |
                  function.hasExternalWeakLinkage() << 2 | function.hasLocalLinkage() << 3 |
                  function.hasRetAttribute(Attribute::NoUndef) << 4 | implicit << 5 | is_bitcode << 6 |
                  function.hasOptNone() << 7 | function.hasFnAttribute(Attribute::NoInline) << 8);
  text.push(words, info ? info->getName() : "");
  words.push_back(info ? debug.file(info->getFile()) : none);
  words.push_back(info ? info->getLine() : 0);
  size_t count = words.size();
  words.push_back(0);
  if (info && info->getType())
    for (const DIType *type : info->getType()->getTypeArray()) {
      words.push_back(debug.type(type));
      words[count]++;
    }
  count = words.size();
  words.push_back(0);
  for (const Argument &argument : function.args()) {
    const bool is_copy = argument.hasByValAttr(), is_result = argument.hasStructRetAttr();
    // Optimisation may derive this attribute of bitcode from the accesses that are to be checked.
    const uint64_t least = is_copy || is_result || is_bitcode ? 0 : argument.getDereferenceableBytes();
    uint32_t flags = is_copy | is_result << 1 | argument.hasAttribute(Attribute::SExt) << 2 | (least > 0) << 3;
    if (!flags)
      continue;
    words.insert(words.end(), {argument.getArgNo(), flags});
    Type *type = is_copy ? argument.getParamByValType() : is_result ? argument.getParamStructRetType() : nullptr;
    push64(words, type ? layout.getTypeAllocSize(type).getFixedValue() : least);
    words.push_back(type ? uint32_t(argument.getParamAlign().value_or(layout.getABITypeAlign(type)).value()) : 0);
    words[count]++;
  }
  words.push_back(instruction_count);
  Words body_words;
  if (!function.isDeclaration())
    body(function, body_words);
  words.push_back(uint32_t(body_words.size()));
  bodies.add(body_words);
  functions.add(words);
}

void Exporter::body(const Function &function, Words &words) {
  numbers.clear();
  block_numbers.clear();
  uint32_t count = 0;
  for (auto &argument : function.args())
    numbers[&argument] = count++;
  count = 0;
  for (auto &block : function) {
    block_numbers[&block] = uint32_t(block_numbers.size());
    for (auto &instruction : block)
      numbers[&instruction] = count++;
  }
  size_t variable_count = words.size();
  words.push_back(0);
  for (auto &block : function)
    for (auto &instruction : block)
      for (const DbgVariableRecord &record : filterDbgVars(instruction.getDbgRecordRange())) {
        debug_variable(record, words);
        words[variable_count]++;
      }
  words.push_back(uint32_t(function.size()));
  for (auto &block : function)
    words.push_back(uint32_t(block.size()));
  for (auto &block : function)
    for (auto &instruction : block)
      instruction_row(instruction, words);
  instruction_count += count;
}

/// Words: the value; whether it is the variable's address; whether it is the whole variable; whether the scope is the
/// function body; name, C type, file, line.
void Exporter::debug_variable(const DbgVariableRecord &record, Words &words) {
  const DILocalVariable *variable = record.getVariable();
  const Value *value = record.getNumVariableLocationOps() == 1 ? record.getVariableLocationOp(0) : nullptr;
  words.push_back(value ? name(value) : operand(Operand::nothing, 0));
  words.push_back(record.getType() == DbgVariableRecord::LocationType::Declare);
  words.push_back(record.getExpression()->getNumElements() == 0);
  words.push_back(variable->getScope() == record.getFunction()->getSubprogram());
  text.push(words, variable->getName());
  words.push_back(debug.type(variable->getType()));
  words.push_back(debug.file(variable->getFile()));
  words.push_back(variable->getLine());
}

/// True if the operation has its own rounding mode. (To nearest does not count: it is an assumption about the
/// environment that x86 does not make.)
static bool has_own_rounding(const ConstrainedFPIntrinsic &operation) {
  std::optional<RoundingMode> mode = operation.getRoundingMode();
  return mode && *mode != RoundingMode::Dynamic && *mode != RoundingMode::NearestTiesToEven;
}

/// The opcode of an instruction. Clang emits a constrained floating-point operation in place of an instruction if the
/// environment may differ from the default. It has the opcode of that instruction.
static unsigned opcode(const Instruction &instruction) {
  auto *constrained = dyn_cast<ConstrainedFPIntrinsic>(&instruction);
  if (!constrained || has_own_rounding(*constrained))
    return instruction.getOpcode();
  switch (constrained->getIntrinsicID()) {
#define DAG_INSTRUCTION(NAME, ARGUMENTS, ROUNDS, INTRINSIC, DAG) \
  case Intrinsic::INTRINSIC: \
    return Instruction::NAME;
#define FUNCTION(NAME, ARGUMENTS, ROUNDS, INTRINSIC)
#define DAG_FUNCTION(NAME, ARGUMENTS, ROUNDS, INTRINSIC, DAG)
#include <llvm/IR/ConstrainedOps.def>
  default:
    return instruction.getOpcode();
  }
}

void Exporter::instruction_row(const Instruction &instruction, Words &words) {
  Words operands, extra;
  fields(instruction, operands, extra);
  words.push_back(opcode(instruction) | float_flags(instruction));
  words.push_back(types.id(instruction.getType()));
  words.push_back(debug.place(instruction.getDebugLoc().get()));
  words.push_back(uint32_t(operands.size()));
  words.push_back(uint32_t(extra.size()));
  words.insert(words.end(), operands.begin(), operands.end());
  words.insert(words.end(), extra.begin(), extra.end());
}

/// The flags in the opcode word.
uint32_t Exporter::float_flags(const Instruction &instruction) {
  Type *scalar = instruction.getType()->getScalarType();
  // Loads, phis and calls of functions do not round.
  const bool rounds = isa<BinaryOperator, IntrinsicInst, SIToFPInst, UIToFPInst, FPTruncInst>(instruction);
  const bool is_extended =
      scalar->isFloatingPointTy() && rounds && has_excess_precision(*instruction.getFunction(), scalar);
  const uint32_t extended = is_extended ? extended_flag : 0;
  auto *operation = dyn_cast<FPMathOperator>(&instruction);
  if (!operation)
    return extended;
  const bool fuses = has_fused_multiply_add(*instruction.getFunction());
  FastMathFlags flags = operation->getFastMathFlags();
  // A sum is contracted with a product that is its operand.
  const bool is_sum = instruction.getOpcode() == Instruction::FAdd || instruction.getOpcode() == Instruction::FSub;
  const bool contracts = flags.allowContract() && fuses && is_sum;
  flags.setAllowContract(false);
  auto *call = dyn_cast<IntrinsicInst>(&instruction);
  const bool is_muladd = call && (call->getIntrinsicID() == Intrinsic::fmuladd ||
                                  call->getIntrinsicID() == Intrinsic::experimental_constrained_fmuladd);
  // Other instructions also have flags, but they compute nothing.
  const bool computes = !isa<PHINode, SelectInst, LoadInst>(instruction) && (call || !isa<CallBase>(instruction));
  const bool is_fused = is_muladd && fuses && (scalar->isFloatTy() || scalar->isDoubleTy());
  return (computes && (flags.any() || contracts) ? inexact_flag : 0) | (is_fused ? fused_flag : 0) | extended;
}

/// The truth value of C's condition at the entry of a block, by the name that clang gives the block: true (2 if the
/// whole condition is decided, 1 for a part of it), false (-2, -1), or unknown (0).
static uint32_t meaning(StringRef block) {
  block = block.rtrim("0123456789");
  int truth = StringSwitch<int>(block)
                  .Cases("if.then", "for.body", "while.body", "do.body", "cond.true", 2)
                  .Cases("if.else", "if.end", "for.end", "while.end", "do.end", "cond.false", -2)
                  .Cases("land.rhs", "land.lhs.true", 1)
                  .Cases("lor.rhs", "lor.lhs.false", -1)
                  .Default(0);
  return uint32_t(truth);
}

/// True if clang kept the names of values.
static bool has_names(const Instruction &instruction) {
  return instruction.getFunction()->getEntryBlock().hasName();
}

/// True if the instruction is a difference of pointers. Without names, a difference of integers counts if they were
/// just converted from pointers, as in AddressSanitizer.
static bool is_pointer_difference(const Instruction &instruction) {
  if (instruction.getOpcode() != Instruction::Sub)
    return false;
  if (has_names(instruction))
    return instruction.getName().starts_with("sub.ptr.sub");
  return all_of(instruction.operands(), [](const Use &use) { return isa<PtrToIntInst>(use.get()); });
}

/// True if only checks of sanitizers use a number. Optimisation may merge a check's number with one of the program.
static bool is_for_checks(const Instruction &number) {
  return number.hasMetadata(LLVMContext::MD_nosanitize) && all_of(number.users(), [](const User *user) {
    auto *instruction = dyn_cast<Instruction>(user);
    return instruction && instruction->hasMetadata(LLVMContext::MD_nosanitize) &&
           (!isa<BinaryOperator>(instruction) || is_for_checks(*instruction));
  });
}

/// True if the program converts a pointer to an integer: not for a check of a sanitizer, or a difference of two pointers.
/// Without names, differences of pointers and of integers look alike.
static bool is_converted(const PtrToIntInst &number) {
  auto is_subtracted = [](const User *user) {
    auto *difference = dyn_cast<Instruction>(user);
    return difference && has_names(*difference) && is_pointer_difference(*difference) &&
           none_of(difference->operands(), [](const Use &use) { return isa<ConstantInt>(use.get()); });
  };
  return !is_for_checks(number) && !all_of(number.users(), is_subtracted);
}

/// True if a value is a part of a complex integer, or computed from such parts and without a name.
static bool is_part(const Value *value, unsigned depth = 3) {
  auto *instruction = dyn_cast<Instruction>(value);
  if (!instruction || depth == 0)
    return false;
  StringRef name = instruction->getName().rtrim("0123456789");
  if (name.ends_with(".real") || name.ends_with(".imag"))
    return true;
  return name.empty() && isa<BinaryOperator>(instruction) &&
         any_of(instruction->operands(), [depth](const Use &use) { return is_part(use.get(), depth - 1); });
}

/// True if the operation belongs to a complex integer, by clang's names of the results and the parts.
static bool is_complex(const Instruction &instruction) {
  if (!instruction.getType()->isIntegerTy() || !has_names(instruction))
    return false;
  StringRef name = instruction.getName().rtrim("0123456789");
  bool is_named = StringSwitch<bool>(name)
                      .Cases("add.r", "add.i", "sub.r", "sub.i", "neg.r", "neg.i", "conj.i", true)
                      .Cases("mul.rl", "mul.rr", "mul.r", "mul.il", "mul.ir", "mul.i", true)
                      .Default(false);
  return is_named || any_of(instruction.operands(), [](const Use &use) { return is_part(use.get()); });
}

/// Writes the operands in the order that src/ir.rs documents, and the extra words.
void Exporter::fields(const Instruction &instruction, Words &operands, Words &extra) {
  if (auto *phi = dyn_cast<PHINode>(&instruction)) {
    for (unsigned i = 0; i < phi->getNumIncomingValues(); i++) {
      operands.push_back(name(phi->getIncomingValue(i)));
      operands.push_back(name(phi->getIncomingBlock(i)));
    }
    return;
  }
  if (auto *branch = dyn_cast<BranchInst>(&instruction)) {
    if (branch->isConditional())
      operands.push_back(name(branch->getCondition()));
    for (unsigned i = 0; i < branch->getNumSuccessors(); i++)
      operands.push_back(name(branch->getSuccessor(i)));
    if (branch->isConditional())
      extra = {meaning(branch->getSuccessor(0)->getName()), meaning(branch->getSuccessor(1)->getName())};
    return;
  }
  if (auto *switch_ = dyn_cast<SwitchInst>(&instruction)) {
    operands.push_back(name(switch_->getCondition()));
    operands.push_back(name(switch_->getDefaultDest()));
    for (auto &one : switch_->cases()) {
      operands.push_back(name(one.getCaseValue()));
      operands.push_back(name(one.getCaseSuccessor()));
    }
    return;
  }
  auto *constrained = dyn_cast<ConstrainedFPIntrinsic>(&instruction);
  if (constrained && opcode(instruction) != instruction.getOpcode()) {
    for (unsigned i = 0; i < constrained->getNonMetadataArgCount(); i++)
      operands.push_back(name(constrained->getArgOperand(i)));
    auto *compare = dyn_cast<ConstrainedFPCmpIntrinsic>(&instruction);
    extra = {compare ? uint32_t(compare->getPredicate()) : constrained_flag};
    return;
  }
  if (auto *call_ = dyn_cast<CallBase>(&instruction))
    return call(*call_, operands, extra);
  if (auto *gep_ = dyn_cast<GetElementPtrInst>(&instruction))
    return gep(*gep_, operands, extra);
  for (const Use &use : instruction.operands())
    operands.push_back(name(use));
  if (auto *alloca_ = dyn_cast<AllocaInst>(&instruction)) {
    extra = {types.id(alloca_->getAllocatedType()), uint32_t(alloca_->getAlign().value()),
             uint32_t(alloca_->isStaticAlloca()) | uint32_t(alloca_->getName().starts_with(".compoundliteral")) << 1};
  } else if (auto *compare = dyn_cast<CmpInst>(&instruction)) {
    extra = {compare->getPredicate()};
  } else if (auto *extract = dyn_cast<ExtractValueInst>(&instruction)) {
    push64(extra, member_offset(extract->getAggregateOperand()->getType(), extract->getIndices()));
  } else if (auto *insert = dyn_cast<InsertValueInst>(&instruction)) {
    push64(extra, member_offset(insert->getAggregateOperand()->getType(), insert->getIndices()));
  } else if (auto *shuffle = dyn_cast<ShuffleVectorInst>(&instruction)) {
    for (int lane : shuffle->getShuffleMask())
      extra.push_back(uint32_t(lane));
  } else if (auto *update = dyn_cast<AtomicRMWInst>(&instruction)) {
    extra = {update->getOperation(), uint32_t(update->getOrdering())};
  } else if (auto *exchange = dyn_cast<AtomicCmpXchgInst>(&instruction)) {
    extra = {uint32_t(exchange->getSuccessOrdering()), uint32_t(exchange->isWeak()), uint32_t(exchange->getFailureOrdering())};
  } else if (auto *fence = dyn_cast<FenceInst>(&instruction)) {
    extra = {uint32_t(fence->getOrdering()), uint32_t(fence->getSyncScopeID() == SyncScope::SingleThread)};
  } else if (auto *load = dyn_cast<LoadInst>(&instruction); load && load->isAtomic()) {
    extra = {uint32_t(load->getOrdering())};
  } else if (auto *store = dyn_cast<StoreInst>(&instruction); store && store->isAtomic()) {
    extra = {uint32_t(store->getOrdering())};
  } else if (auto *number = dyn_cast<PtrToIntInst>(&instruction)) {
    extra = {uint32_t(is_converted(*number))};
  } else if (auto *arithmetic = dyn_cast<OverflowingBinaryOperator>(&instruction)) {
    extra = {uint32_t(arithmetic->hasNoSignedWrap()) | uint32_t(is_pointer_difference(instruction)) << 1 |
             uint32_t(is_complex(instruction)) << 2};
  }
}

/// True for a call of a function that may use streams.
static bool may_use_streams(const Instruction &instruction) {
  auto *call = dyn_cast<CallBase>(&instruction);
  if (!call || isa<IntrinsicInst>(call))
    return false;
  const Function *callee = call->getCalledFunction();
  return !callee || !callee->getName().starts_with("__ubsan_handle_");
}

/// True if executions may use the address after a call of such a function, without evaluating the address again.
static bool is_kept(const GetElementPtrInst &gep) {
  SmallVector<std::pair<const Instruction *, bool>> todo{{gep.getNextNode(), false}};
  DenseSet<std::pair<const BasicBlock *, unsigned>> seen;
  while (!todo.empty()) {
    auto [at, called] = todo.pop_back_val();
    const BasicBlock *block = at->getParent();
    for (; at && at != &gep; at = at->getNextNode()) {
      if (called && is_contained(at->operand_values(), &gep))
        return true;
      called |= may_use_streams(*at);
    }
    if (at)
      continue;
    for (const BasicBlock *next : successors(block))
      if (seen.insert({next, called}).second)
        todo.push_back({&next->front(), called});
  }
  return false;
}

/// True for the number of an address that only the checks of sanitizers use.
static bool is_only_checked(const PtrToIntInst &number) {
  auto is_check = [](const User *user) {
    auto *instruction = dyn_cast<Instruction>(user);
    return isa<ICmpInst>(user) || (instruction && isa<CallBase>(instruction) && !may_use_streams(*instruction));
  };
  return all_of(number.users(), [&](const User *user) {
    auto *masked = dyn_cast<BinaryOperator>(user);
    return is_check(user) || (masked && masked->getOpcode() == Instruction::And && all_of(masked->users(), is_check));
  });
}

/// The use of an address: 1 if it is only loaded from and compared, 2 if it is also stored to, 3 if it has other uses or is
/// kept.
static uint32_t use_of(const GetElementPtrInst &gep) {
  uint32_t use = 1;
  for (const User *user : gep.users()) {
    auto *store = dyn_cast<StoreInst>(user);
    auto *number = dyn_cast<PtrToIntInst>(user);
    if (store && store->getPointerOperand() == &gep)
      use = 2;
    else if (!isa<LoadInst, ICmpInst>(user) && !(number && is_only_checked(*number)))
      return 3;
  }
  return is_kept(gep) ? 3 : use;
}

/// The use of an address in a stream of the GNU C library (`FILE`), 0 for other addresses.
static uint32_t use_of_stream(const GetElementPtrInst &gep, const DataLayout &layout) {
  // The sizes of the structure with pointers of 64 and 32 bits.
  constexpr uint64_t sizes[] = {216, 148};
  auto *structure = dyn_cast<StructType>(gep.getSourceElementType());
  if (!structure || !structure->hasName() || structure->isOpaque() || gep.getNumIndices() < 2)
    return 0;
  if (!structure->getName().starts_with("struct._IO_FILE") || !is_contained(sizes, layout.getTypeAllocSize(structure).getFixedValue()))
    return 0;
  return use_of(gep);
}

/// Operands: base, then the variable indices. Extra: constant offset in bytes, then the stride in bytes of each index
/// operand; then, for an address in a stream, its use.
void Exporter::gep(const GetElementPtrInst &gep, Words &operands, Words &extra) {
  uint64_t offset = 0;
  Words strides;
  operands.push_back(name(gep.getPointerOperand()));
  for (auto step = gep_type_begin(gep), end = gep_type_end(gep); step != end; ++step) {
    const Value *index = step.getOperand();
    if (auto *structure = step.getStructTypeOrNull()) {
      auto *number = cast<Constant>(index)->getUniqueInteger().getRawData();
      offset += layout.getStructLayout(structure)->getElementOffset(unsigned(*number));
      continue;
    }
    uint64_t stride = step.getSequentialElementStride(layout).getFixedValue();
    if (auto *number = dyn_cast<ConstantInt>(index); number && number->getType()->isIntegerTy()) {
      offset += stride * uint64_t(number->getValue().sextOrTrunc(64).getSExtValue());
    } else {
      operands.push_back(name(index));
      push64(strides, stride);
    }
  }
  push64(extra, offset);
  extra.insert(extra.end(), strides.begin(), strides.end());
  if (uint32_t use = use_of_stream(gep, layout))
    extra.push_back(use);
}

/// Operands: arguments, callee, then the successors of a call that ends its block. Extra: function type, number of
/// arguments; for each argument passed by copy its number, size and alignment in bytes; the same with the number `none`
/// for the space of a result in memory, which is the first argument; then a word if the operation has its own rounding
/// mode.
void Exporter::call(const CallBase &call, Words &operands, Words &extra) {
  for (const Use &argument : call.args())
    operands.push_back(name(argument));
  operands.push_back(name(call.getCalledOperand()));
  if (auto *branch = dyn_cast<CallBrInst>(&call))
    for (unsigned i = 0; i < branch->getNumSuccessors(); i++)
      operands.push_back(name(branch->getSuccessor(i)));
  if (auto *invoke = dyn_cast<InvokeInst>(&call))
    operands.push_back(name(invoke->getNormalDest()));
  // One bit for each of the first 32 arguments: set if it must be defined. A copy of an object may have undefined
  // parts.
  uint32_t defined = 0;
  for (unsigned i = 0; i < call.arg_size() && i < 32; i++)
    defined |= uint32_t(call.paramHasAttr(i, Attribute::NoUndef)) << i;
  extra = {types.id(call.getFunctionType()), uint32_t(call.arg_size()), defined};
  for (unsigned i = 0; i < call.arg_size(); i++)
    if (call.isByValArgument(i)) {
      Type *type = call.getParamByValType(i);
      extra.push_back(i);
      push64(extra, layout.getTypeAllocSize(type).getFixedValue());
      extra.push_back(uint32_t(call.getParamAlign(i).value_or(layout.getABITypeAlign(type)).value()));
    }
  if (call.arg_size() > 0 && call.paramHasAttr(0, Attribute::StructRet)) {
    Type *type = call.getParamStructRetType(0);
    extra.push_back(none);
    push64(extra, layout.getTypeAllocSize(type).getFixedValue());
    extra.push_back(uint32_t(call.getParamAlign(0).value_or(layout.getABITypeAlign(type)).value()));
  }
  if (auto *constrained = dyn_cast<ConstrainedFPIntrinsic>(&call); constrained && has_own_rounding(*constrained))
    extra.push_back(own_rounding_flag);
}

/// The offset in bytes from the start of an aggregate.
uint64_t Exporter::member_offset(Type *aggregate, ArrayRef<unsigned> path) {
  uint64_t offset = 0;
  for (unsigned index : path) {
    if (auto *structure = dyn_cast<StructType>(aggregate)) {
      offset += layout.getStructLayout(structure)->getElementOffset(index);
      aggregate = structure->getElementType(index);
    } else {
      aggregate = aggregate->getArrayElementType();
      offset += index * layout.getTypeAllocSize(aggregate).getFixedValue();
    }
  }
  return offset;
}

ProvisoBuffer Exporter::run() {
  for (auto &one : module.globals())
    variable(one);
  for (auto &one : module.functions())
    function(one);
  // Row: aliasee.
  for (auto &one : module.aliases())
    aliases.add({constants.id(one.getAliasee())});
  for (size_t i = 0; i < module.ifunc_size(); i++)
    aliases.add({none});
  debug.finish();
  Words all{layout.getPointerSizeInBits()};
  for (const Rows *section : {&types.rows, &constants.rows, &debug.files, &debug.places, &debug.types, &variables,
                              &functions, &aliases, &assemblies, &bodies}) {
    all.push_back(section->count);
    push64(all, section->words.size());
    all.insert(all.end(), section->words.begin(), section->words.end());
  }
  ProvisoBuffer buffer;
  buffer.word_count = all.size();
  buffer.words = static_cast<uint32_t *>(malloc(all.size() * sizeof(uint32_t)));
  memcpy(buffer.words, all.data(), all.size() * sizeof(uint32_t));
  buffer.text_size = text.bytes.size();
  buffer.text = static_cast<char *>(malloc(text.bytes.size() + 1));
  memcpy(buffer.text, text.bytes.data(), text.bytes.size());
  return buffer;
}

} // namespace

ProvisoBuffer proviso_module_export(LLVMModuleRef self) {
  Module &module = *unwrap(self);
  if (!module.IsNewDbgInfoFormat)
    module.setIsNewDbgInfoFormat(true);
  return Exporter(module).run();
}
