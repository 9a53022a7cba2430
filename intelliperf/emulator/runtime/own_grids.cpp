#include "own_grids.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

namespace simt {
namespace {

struct GridFormula {
  struct Word {
    std::string what;    // an operation; empty for a number
    uint32_t bits = 64;  // of its operands
    bool taken = false;  // an argument of the kernel, by its name or its index
    std::string named{};
    int64_t argument = -1;
    uint64_t offset = 0, size = 0;  // of a member of it, bytes; size 0: the whole argument
    uint64_t constant = 0;
    char dimension = 0;  // of the launch as it is
  };
  size_t arguments = 0;               // that the kernel takes; 0: it takes them by name
  std::string kernel{};               // mangled; empty: any that takes as many
  std::vector<Word> x_and_y, z, lds;  // lds: empty where it does not depend on them
  bool of_grid = true;                // false: only the LDS is known
  bool of_all = true;                 // false: it may go by members of what is passed by value, too
};

using Word = GridFormula::Word;

std::vector<Word> read_words(const std::string& text) {
  std::vector<Word> words;
  std::istringstream in(text);
  for (std::string one; in >> one;) {
    Word word;
    const size_t dot = one.find('.');
    if (one[0] == '@') {
      char* end = nullptr;
      word.taken = true, word.argument = strtoll(one.c_str() + 1, &end, 10);
      if (*end == '+')
        word.offset = strtoull(end + 1, &end, 10), word.size = *end == '.' ? strtoull(end + 1, &end, 10) : 0;
      if (*end) word.named = one.substr(1);
    } else if (one[0] == '=')
      word.dimension = one[1];
    else if (one[0] == '#')
      word.constant = uint64_t(strtoll(one.c_str() + 1, nullptr, 10));
    else if (dot != std::string::npos)
      word.what = one.substr(0, dot), word.bits = uint32_t(strtoul(one.c_str() + dot + 1, nullptr, 10));
    words.push_back(word);
  }
  return words;
}

uint64_t cut(uint64_t value, uint32_t bits) { return bits >= 64 ? value : value & ((uint64_t(1) << bits) - 1); }
int64_t with_sign(uint64_t value, uint32_t bits) {
  return bits >= 64 ? int64_t(value) : int64_t(value << (64 - bits)) >> (64 - bits);
}

bool combine(const Word& word, uint64_t a, uint64_t b, uint64_t& made) {
  const std::string& what = word.what;
  const int64_t left = with_sign(a, word.bits), right = with_sign(b, word.bits);
  const bool divides = what.find("div") != std::string::npos || what.find("rem") != std::string::npos;
  const bool shifts = what == "shl" || what == "lshr" || what == "ashr";
  if ((divides && (b == 0 || right == -1)) || (shifts && b >= word.bits)) return false;
  if (what == "add")
    made = a + b;
  else if (what == "sub")
    made = a - b;
  else if (what == "mul")
    made = a * b;
  else if (what == "sdiv")
    made = uint64_t(left / right);
  else if (what == "udiv")
    made = a / b;
  else if (what == "srem")
    made = uint64_t(left % right);
  else if (what == "urem")
    made = a % b;
  else if (what == "shl")
    made = a << b;
  else if (what == "lshr")
    made = a >> b;
  else if (what == "ashr")
    made = uint64_t(left >> b);
  else if (what == "and")
    made = a & b;
  else if (what == "or")
    made = a | b;
  else if (what == "xor")
    made = a ^ b;
  else if (what == "smin")
    made = uint64_t(std::min(left, right));
  else if (what == "smax")
    made = uint64_t(std::max(left, right));
  else if (what == "umin")
    made = std::min(a, b);
  else if (what == "umax")
    made = std::max(a, b);
  else
    return false;
  return true;
}

bool is_of(const GridFormula& formula, const Kernel& kernel) {
  if (!formula.kernel.empty() && formula.kernel != kernel.name) return false;
  return formula.arguments == 0 || formula.arguments == kernel.parameters.size();
}

bool is_meant(const Word& word, const Parameter& parameter) {
  if (!word.taken) return false;
  return word.named.empty() ? parameter.index == uint64_t(word.argument) : parameter.name == word.named;
}

// False where the kernel has no such argument: a just-in-time compiler may have made a constant of it.
bool argument_of(const LaunchRequest& request, void* const* arguments, const Word& word, uint64_t& value) {
  value = 0;
  for (const Parameter& parameter : request.kernel->parameters) {
    const uint64_t size = word.size ? word.size : parameter.size;
    if (!is_meant(word, parameter) || size > sizeof value || word.offset + size > parameter.size) continue;
    std::memcpy(&value, static_cast<const char*>(arguments[parameter.index]) + word.offset, size);
    return true;
  }
  return word.named.empty();
}

bool number_of(const Word& word, const LaunchRequest& request, void* const* arguments, uint64_t& value) {
  if (word.taken) return argument_of(request, arguments, word, value);
  const auto [x, y, z] = request.grid;
  value = word.constant;
  if (word.dimension) value = word.dimension == 'x' ? x : word.dimension == 'y' ? y : z;
  return true;
}

bool evaluate(const std::vector<Word>& words, const LaunchRequest& request, void* const* arguments, uint64_t& value) {
  std::vector<uint64_t> stack;
  for (const Word& word : words) {
    if (word.what.empty()) {
      stack.push_back(0);
      if (!number_of(word, request, arguments, stack.back())) return false;
      continue;
    }
    if (word.what == "sext" || word.what == "trunc") {
      if (stack.empty()) return false;
      const uint64_t now = cut(stack.back(), word.bits);
      stack.back() = word.what == "sext" ? uint64_t(with_sign(now, word.bits)) : now;
      continue;
    }
    if (stack.size() < 2) return false;
    const uint64_t b = cut(stack.back(), word.bits);
    stack.pop_back();
    uint64_t made = 0;
    if (!combine(word, cut(stack.back(), word.bits), b, made)) return false;
    stack.back() = cut(made, word.bits);
  }
  if (stack.size() != 1) return false;
  value = stack.back();
  return true;
}

bool grid_of(const GridFormula& formula, const LaunchRequest& request, void* const* arguments, Dim3& grid) {
  if (!formula.of_grid) return true;
  uint64_t x_and_y = 0, z = 0;
  if (!evaluate(formula.x_and_y, request, arguments, x_and_y) || !evaluate(formula.z, request, arguments, z))
    return false;
  grid = {uint32_t(x_and_y), uint32_t(x_and_y >> 32), uint32_t(z)};
  return true;
}

bool may_be_launched(const Dim3& grid) {
  return grid.x && grid.y && grid.z && grid.x <= INT32_MAX && grid.y <= UINT16_MAX && grid.z <= UINT16_MAX;
}

bool lds_of(const GridFormula& formula, const LaunchRequest& request, void* const* arguments, uint32_t& lds) {
  uint64_t bytes = 0;
  if (!evaluate(formula.lds, request, arguments, bytes) || bytes > UINT32_MAX) return false;
  lds = uint32_t(bytes);
  return true;
}

bool takes(const std::vector<Word>& words, const Parameter& parameter, uint64_t offset) {
  return std::any_of(words.begin(), words.end(),
                     [&](const Word& word) { return is_meant(word, parameter) && word.offset == offset; });
}

bool changes(const std::vector<Word>& words, const LaunchRequest& request, void* const* altered) {
  return std::any_of(words.begin(), words.end(), [&](const Word& word) {
    uint64_t before = 0, after = 0;
    argument_of(request, request.arguments, word, before), argument_of(request, altered, word, after);
    return word.taken && before != after;
  });
}

struct Formulas {
  std::vector<GridFormula> own;
  // What is said of both versions' grids where they go by different arguments: "&4:@1 @2", and of those that only the
  // candidate's goes by, "!4:@2".
  std::vector<GridFormula> of_either, of_candidate;
};

Formulas read_formulas(const std::string& text) {
  Formulas found;
  std::istringstream in(text);
  for (std::string one; std::getline(in, one, ',');) {
    const size_t first = one.find(':'), second = one.find(':', first + 1), third = one.find(':', second + 1);
    if (first == std::string::npos) continue;
    const size_t slash = one.find('/');
    const std::string kernel = slash < first ? one.substr(slash + 1, first - slash - 1) : "";
    if (one[0] == '&' || one[0] == '!') {
      GridFormula said;
      said.arguments = strtoul(one.c_str() + 1, nullptr, 10), said.x_and_y = read_words(one.substr(first + 1));
      said.kernel = kernel;
      (one[0] == '&' ? found.of_either : found.of_candidate).push_back(said);
      continue;
    }
    if (second == std::string::npos) continue;
    GridFormula own;
    own.arguments = strtoul(one.c_str(), nullptr, 10);
    own.kernel = kernel;
    own.x_and_y = read_words(one.substr(first + 1, second - first - 1));
    own.z = read_words(one.substr(second + 1, third - second - 1));
    if (third != std::string::npos) own.lds = read_words(one.substr(third + 1));
    own.of_grid = one[first + 1] != '*', own.of_all = one.find('?') > first;
    found.own.push_back(own);
  }
  return found;
}

const Formulas& formulas() {
  const char* text = getenv("INTELLIPERF_OTHER_GRIDS");
  static const Formulas found = read_formulas(text ? text : "");
  return found;
}

bool any_takes(const std::vector<GridFormula>& every, const Kernel& kernel, int64_t parameter, uint64_t offset) {
  for (const Parameter& one : kernel.parameters)
    if (int64_t(one.index) == parameter)
      return std::any_of(every.begin(), every.end(), [&](const GridFormula& formula) {
        return is_of(formula, kernel) && (takes(formula.x_and_y, one, offset) || takes(formula.z, one, offset));
      });
  return false;
}

}  // namespace

bool goes_by(const Kernel& kernel, int64_t parameter, uint64_t offset) {
  const Formulas& every = formulas();
  return any_takes(every.own, kernel, parameter, offset) || any_takes(every.of_either, kernel, parameter, offset);
}

bool only_candidates_goes_by(const Kernel& kernel, int64_t parameter, uint64_t offset) {
  return any_takes(formulas().of_candidate, kernel, parameter, offset);
}

bool is_free(const LaunchRequest& request, char dimension) {
  const auto has = [&](const std::vector<Word>& words) {
    return std::any_of(words.begin(), words.end(), [&](const Word& word) { return word.dimension == dimension; });
  };
  bool found = false;
  for (const GridFormula& one : formulas().own) {
    if (!is_of(one, *request.kernel)) continue;
    if (!has(one.x_and_y) && !has(one.z)) return false;
    found = true;
  }
  return found;
}

bool own_grid(const LaunchRequest& request, void* const* altered, bool only_arguments, Dim3& grid, uint32_t& lds) {
  for (const GridFormula& formula : formulas().own) {
    Dim3 now = request.grid;
    if (!is_of(formula, *request.kernel)) continue;
    if (!grid_of(formula, request, request.arguments, now)) continue;
    if (now.x != request.grid.x || now.y != request.grid.y || now.z != request.grid.z) continue;
    uint32_t asked = request.dynamic_lds;
    if (!formula.lds.empty() && (!lds_of(formula, request, request.arguments, asked) || asked != request.dynamic_lds))
      continue;
    if (!formula.lds.empty() && !lds_of(formula, request, altered, lds)) return false;
    const bool goes_along = changes(formula.x_and_y, request, altered) || changes(formula.z, request, altered);
    if (!goes_along && !(formula.of_all && only_arguments)) return changes(formula.lds, request, altered);
    if (!grid_of(formula, request, altered, grid)) return false;
    if (formula.of_grid && !may_be_launched(grid)) grid = {0, 0, 0};
    return true;
  }
  return false;
}

}  // namespace simt
