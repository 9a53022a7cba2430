#include "signature.h"

#include <cxxabi.h>

#include <cstdlib>
#include <map>
#include <regex>

namespace intelliperf {

namespace {

const std::map<std::string, ElementFacts>& known_types() {
  static const std::map<std::string, ElementFacts> table = {
      {"bool", {1, "boolean"}},       {"char", {1, "char"}},
      {"signed char", {1, "signed"}}, {"unsigned char", {1, "unsigned"}},
      {"short", {2, "signed"}},       {"unsigned short", {2, "unsigned"}},
      {"int", {4, "signed"}},         {"unsigned int", {4, "unsigned"}},
      {"long", {8, "signed"}},        {"unsigned long", {8, "unsigned"}},
      {"long long", {8, "signed"}},   {"unsigned long long", {8, "unsigned"}},
      {"float", {4, "float"}},        {"double", {8, "float"}},
      {"__half", {2, "struct"}},      {"__nv_bfloat16", {2, "struct"}},
      {"float2", {8, "struct"}},      {"float3", {12, "struct"}},
      {"float4", {16, "struct"}},     {"double2", {16, "struct"}},
      {"int2", {8, "struct"}},        {"int4", {16, "struct"}},
      {"uint2", {8, "struct"}},       {"uint4", {16, "struct"}},
  };
  return table;
}

std::string trimmed(const std::string& text) {
  const size_t first = text.find_first_not_of(' ');
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

// Takes `suffix` off the end; says whether it was there.
bool take_suffix(std::string& text, const std::string& suffix) {
  if (text.size() < suffix.size() || text.compare(text.size() - suffix.size(), suffix.size(), suffix) != 0)
    return false;
  text = trimmed(text.substr(0, text.size() - suffix.size()));
  return true;
}

ParameterType classified(const std::string& text) {
  ParameterType type;
  type.text = text;
  std::string rest = text;
  while (take_suffix(rest, "__restrict__") || take_suffix(rest, "restrict") || take_suffix(rest, " const")) {
  }
  if (take_suffix(rest, "*") && rest.find('(') == std::string::npos) {
    type.kind = TypeClass::kPointer;
    while (take_suffix(rest, " const") || take_suffix(rest, " volatile")) type.constant |= true;
    type.constant = text.find(" const*") != std::string::npos;
    type.element = rest;
  } else if (known_types().count(rest)) {
    type.kind = TypeClass::kScalar;
  }
  return type;
}

// Start of the parameter list: the opening parenthesis that closes at the end of the text.
size_t list_start(const std::string& text, size_t end) {
  int depth = 0;
  for (size_t at = end + 1; at-- > 0;) {
    if (text[at] == ')') ++depth;
    if (text[at] == '(' && --depth == 0) return at;
  }
  return std::string::npos;
}

}  // namespace

std::string demangled(const std::string& symbol) {
  int status = 0;
  char* text = abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status);
  std::string name = text ? text : symbol;
  std::free(text);
  return name;
}

std::string canonical(const std::string& symbol) {
  static const std::regex unique("([0-9]+)(_GLOBAL__N__|_INTERNAL_)");
  static const std::regex identifier("(_GLOBAL__N__|_INTERNAL_)[0-9a-f]{8}_[0-9]+_[A-Za-z0-9_]+");
  std::string done, rest = symbol;
  std::smatch found;
  while (std::regex_search(rest, found, unique)) {
    const std::string digits = found[1];
    const size_t start = static_cast<size_t>(found.position(2));
    size_t taken = 0;  // digits of the length; those before it belong to the identifier in front
    for (size_t from = 0; from < digits.size() && !taken; ++from) {
      const size_t length = std::strtoul(digits.c_str() + from, nullptr, 10);
      if (start + length <= rest.size() && std::regex_match(rest.substr(start, length), identifier))
        taken = digits.size() - from;
    }
    if (!taken) break;
    const size_t length = std::strtoul(digits.c_str() + digits.size() - taken, nullptr, 10);
    done += rest.substr(0, start - taken) + (found[2] == "_GLOBAL__N__" ? "12_GLOBAL__N_1" : "9_INTERNAL");
    rest = rest.substr(start + length);
  }
  return done + rest;
}

ElementFacts element_facts(const std::string& type) {
  const auto found = known_types().find(type);
  return found == known_types().end() ? ElementFacts{} : found->second;
}

std::vector<ParameterType> parameter_types(const std::string& symbol) {
  std::vector<ParameterType> types;
  const std::string text = demangled(symbol);
  const size_t end = text.rfind(')');
  if (end == std::string::npos) return types;
  const size_t start = list_start(text, end);
  if (start == std::string::npos) return types;
  int depth = 0;
  size_t from = start + 1;
  for (size_t at = from; at <= end; ++at) {
    const char c = text[at];
    if ((c == ',' || at == end) && depth == 0) {
      const std::string one = trimmed(text.substr(from, at - from));
      if (!one.empty()) types.push_back(classified(one));
      from = at + 1;
      continue;
    }
    if (c == '<' || c == '(' || c == '[' || c == '{') ++depth;
    if (c == '>' || c == ')' || c == ']' || c == '}') --depth;
  }
  return types;
}

}  // namespace intelliperf
