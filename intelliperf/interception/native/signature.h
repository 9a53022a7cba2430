// Parameter types of a kernel from its mangled name: CUDA binaries carry sizes and offsets, not types.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace intelliperf {

enum class TypeClass : uint8_t { kScalar, kPointer, kOther };  // kOther may hold pointers

struct ParameterType {
  std::string text;  // "float const*"; empty where the name tells nothing
  TypeClass kind = TypeClass::kOther;
  bool constant = false;  // what it points to
  std::string element;    // what it points to, without const: "float"
};

struct ElementFacts {
  uint64_t bytes = 0;  // 0: unknown
  const char* encoding = "unknown";
};

// The name without the hashes by which nvcc makes anonymous namespaces and internal symbols unique per compilation:
// the same kernel in a changed file. See symbols.py, which must agree.
std::string canonical(const std::string& symbol);
std::string demangled(const std::string& symbol);  // the symbol itself if it is not mangled

// One entry per parameter; empty for names that are not mangled C++.
std::vector<ParameterType> parameter_types(const std::string& symbol);
ElementFacts element_facts(const std::string& type);

}  // namespace intelliperf
