// MessagePack as LLVM writes it into the notes of code objects: no extensions.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace simt {

struct Packed {
  enum class Kind : uint8_t { kNull, kBoolean, kNumber, kText, kList, kMap } kind = Kind::kNull;
  uint64_t number = 0;
  std::string text;
  std::vector<Packed> items;
  std::vector<std::pair<std::string, Packed>> members;

  // Null where it is absent.
  const Packed& operator[](const char* key) const;
  uint64_t number_or(uint64_t otherwise) const { return kind == Kind::kNumber ? number : otherwise; }
};

// False: the bytes are damaged.
bool unpack(const uint8_t* data, uint64_t bytes, Packed& into);

}  // namespace simt
