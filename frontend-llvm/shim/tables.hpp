// The tables of the exported buffer. A row is a run of words. Rows are identified by number.
#pragma once

#include <cstdint>
#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Module.h>
#include <string>
#include <vector>

/// The number that stands for an absent type, initialiser, or position.
constexpr uint32_t none = UINT32_MAX;

using Words = std::vector<uint32_t>;

inline void push64(Words &words, uint64_t value) {
  words.push_back(uint32_t(value));
  words.push_back(uint32_t(value >> 32));
}

/// The bytes of all strings. A string is represented by its offset and length.
struct Text {
  std::string bytes;
  void push(Words &words, llvm::StringRef text) {
    words.push_back(uint32_t(bytes.size()));
    words.push_back(uint32_t(text.size()));
    bytes.append(text.data(), text.size());
  }
};

/// Rows of words, concatenated.
struct Rows {
  Words words;
  uint32_t count = 0;
  uint32_t add(const Words &row) {
    words.insert(words.end(), row.begin(), row.end());
    return count++;
  }
};

/// LLVM types. A row follows the rows that it refers to.
class TypeTable {
  const llvm::DataLayout &layout;
  llvm::DenseMap<llvm::Type *, uint32_t> ids;

public:
  Rows rows;
  explicit TypeTable(const llvm::DataLayout &layout) : layout(layout) {}
  uint32_t id(llvm::Type *type);
};

/// Constants. A row follows the rows that it refers to. Globals are identified by their number in the module.
class ConstantTable {
  const llvm::DataLayout &layout;
  TypeTable &types;
  Text &text;
  llvm::DenseMap<const llvm::Constant *, uint32_t> ids;
  llvm::DenseMap<const llvm::GlobalValue *, uint32_t> globals;
  llvm::DenseMap<const llvm::BasicBlock *, uint32_t> blocks;
  bool row(const llvm::Constant *constant, Words &words, std::vector<const llvm::Constant *> &missing);
  bool child(const llvm::Constant *constant, Words &words, std::vector<const llvm::Constant *> &missing);

public:
  Rows rows;
  ConstantTable(const llvm::Module &module, TypeTable &types, Text &text);
  uint32_t id(const llvm::Constant *constant);
};

/// Debug information: files, places, C types.
class DebugTable {
  Text &text;
  llvm::DenseMap<const llvm::DIFile *, uint32_t> file_ids;
  llvm::DenseMap<const llvm::DILocation *, uint32_t> place_ids;
  llvm::DenseMap<const llvm::DISubprogram *, Words> function_names;
  llvm::DenseMap<const llvm::DIType *, uint32_t> type_ids;
  std::vector<const llvm::DIType *> unfinished;
  Words type_row(const llvm::DIType *type);

public:
  Rows files, places, types;
  explicit DebugTable(Text &text) : text(text) {}
  uint32_t file(const llvm::DIFile *file);
  uint32_t place(const llvm::DILocation *location);
  /// A C type. Its row may refer to later rows. `none` is void.
  uint32_t type(const llvm::DIType *type);
  /// Writes the rows of all requested types.
  void finish();
};
