// V_CMP_*, V_CMPX_* and V_CMP_CLASS_*: one bit per lane, into VCC, a pair of scalar registers or EXEC.
#include <cstring>
#include <unordered_map>

#include "arithmetic.h"
#include "decode.h"
#include "operands.h"

namespace machine {
namespace {

struct Comparison {
  uint64_t (*run)(const void* a, const void* b);
  Kind first, second;
};

template <class T>
T plain(T value) {
  return value;
}
double plain(Half value) { return double(value); }

struct Never {
  template <class T>
  static bool holds(T, T) {
    return false;
  }
};
struct Less {
  template <class T>
  static bool holds(T a, T b) {
    return a < b;
  }
};
struct Equal {
  template <class T>
  static bool holds(T a, T b) {
    return a == b;
  }
};
struct LessEqual {
  template <class T>
  static bool holds(T a, T b) {
    return a <= b;
  }
};
struct Greater {
  template <class T>
  static bool holds(T a, T b) {
    return a > b;
  }
};
struct Different {
  template <class T>
  static bool holds(T a, T b) {
    return a < b || a > b;
  }
};
struct GreaterEqual {
  template <class T>
  static bool holds(T a, T b) {
    return a >= b;
  }
};
struct Ordered {
  template <class T>
  static bool holds(T a, T b) {
    return a == a && b == b;
  }
};
template <class Condition>
struct Not {
  template <class T>
  static bool holds(T a, T b) {
    return !Condition::holds(a, b);
  }
};

// One bit per byte of 0 or 1.
uint64_t gathered(const uint8_t* bytes) {
  uint64_t mask = 0;
  for (uint32_t n = 0; n < kWave / 8; ++n) {
    uint64_t eight;
    std::memcpy(&eight, bytes + 8 * n, 8);
    mask |= eight * 0x0102040810204080ull >> 56 << 8 * n;
  }
  return mask;
}

template <class T, class Condition>
uint64_t compare(const void* a, const void* b) {
  uint8_t held[kWave];
  for (uint32_t lane = 0; lane < kWave; ++lane) {
    const auto x = plain(static_cast<const T*>(a)[lane]), y = plain(static_cast<const T*>(b)[lane]);
    held[lane] = Condition::holds(x, y);
  }
  return gathered(held);
}

template <class T>
uint64_t in_class(const void* a, const void* b) {
  uint64_t mask = 0;
  for (uint32_t lane = 0; lane < kWave; ++lane)
    mask |= uint64_t((class_of(static_cast<const T*>(a)[lane]) & static_cast<const uint32_t*>(b)[lane]) != 0) << lane;
  return mask;
}

using Table = std::unordered_map<std::string, Comparison>;

template <class T, class Condition>
void add(Table& table, const char* condition, const std::string& type) {
  const Comparison comparison{compare<T, Condition>, KindOf<T>::value, KindOf<T>::value};
  table[std::string("v_cmp_") + condition + "_" + type] = comparison;
  table[std::string("v_cmpx_") + condition + "_" + type] = comparison;
}

template <class T>
void add_float(Table& table, const std::string& type) {
  add<T, Never>(table, "f", type);
  add<T, Less>(table, "lt", type);
  add<T, Equal>(table, "eq", type);
  add<T, LessEqual>(table, "le", type);
  add<T, Greater>(table, "gt", type);
  add<T, Different>(table, "lg", type);
  add<T, GreaterEqual>(table, "ge", type);
  add<T, Ordered>(table, "o", type);
  add<T, Not<Ordered>>(table, "u", type);
  add<T, Not<GreaterEqual>>(table, "nge", type);
  add<T, Not<Different>>(table, "nlg", type);
  add<T, Not<Greater>>(table, "ngt", type);
  add<T, Not<LessEqual>>(table, "nle", type);
  add<T, Not<Equal>>(table, "neq", type);
  add<T, Not<Less>>(table, "nlt", type);
  add<T, Not<Never>>(table, "tru", type);
  const Comparison classes{in_class<T>, KindOf<T>::value, Kind::kB32};
  table["v_cmp_class_" + type] = classes;
  table["v_cmpx_class_" + type] = classes;
}

template <class T>
void add_integer(Table& table, const std::string& type) {
  add<T, Never>(table, "f", type);
  add<T, Less>(table, "lt", type);
  add<T, Equal>(table, "eq", type);
  add<T, LessEqual>(table, "le", type);
  add<T, Greater>(table, "gt", type);
  add<T, Not<Equal>>(table, "ne", type);
  add<T, GreaterEqual>(table, "ge", type);
  add<T, Not<Never>>(table, "t", type);
}

const Table& comparisons() {
  static const Table* const table = [] {
    auto* const filled = new Table;
    add_float<Half>(*filled, "f16");
    add_float<float>(*filled, "f32");
    add_float<double>(*filled, "f64");
    add_integer<int16_t>(*filled, "i16");
    add_integer<uint16_t>(*filled, "u16");
    add_integer<int32_t>(*filled, "i32");
    add_integer<uint32_t>(*filled, "u32");
    add_integer<int64_t>(*filled, "i64");
    add_integer<uint64_t>(*filled, "u64");
    return filled;
  }();
  return *table;
}

template <bool kWritesExec>
void run_compare(Wave& wave, Instruction& i) {
  const auto& comparison = *static_cast<const Comparison*>(i.semantics);
  LaneValues a, b;
  const void* x = fetch(wave, i, 0, comparison.first, a);
  const void* y = fetch(wave, i, 1, comparison.second, b);
  const uint64_t mask = comparison.run(x, y) & wave.exec();
  wave.set_pair(i.format == Format::kVop3 ? i.destination : i.scalar_destination, mask);
  if (kWritesExec) wave.set_pair(kExec, mask);
}

}  // namespace

bool bind_compare(const std::string& mnemonic, Instruction& i) {
  const auto found = comparisons().find(mnemonic);
  if (found == comparisons().end()) return false;
  i.semantics = &found->second;
  i.execute = mnemonic.compare(0, 7, "v_cmpx_") == 0 ? run_compare<true> : run_compare<false>;
  return true;
}

}  // namespace machine
