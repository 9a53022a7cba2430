// What the shadow of machine code has to know of an instruction: which number it calculates, or which rows it writes.
#pragma once
#include <vector>

#include "instruction.h"
#include "machine_shadow.h"

namespace simt {

enum class NumberOp : uint8_t {
  kAdd,
  kSubtract,
  kSubtractReversed,
  kMultiply,
  kFused,
  kLeast,
  kGreatest,
  kMiddle,
  kLeastOf3,
  kGreatestOf3,
  kReciprocal,
  kRoot,
  kReciprocalRoot,
  kExponential,
  kLogarithm,
  kSine,
  kCosine,
  kScale,
  kFraction,
  kWhole,
  kSame,
  kInteger,
  kMantissa,
  kDivisionScale,
  kDivisionFused,
  kDivisionFixed,
  kDot2,
  kToInteger,
  kCompare,
  kMatrix
};
enum class Layout : uint8_t {
  kOne,
  kPackedHalves,
  kPackedFloats,
  kPair,
  kMixed
};  // kPair: two floats become two halves

struct NumberPlan {
  NumberOp op = NumberOp::kSame;
  uint8_t sources = 1;
  ShadowKind to = ShadowKind::kFloat, from = ShadowKind::kFloat;
  Layout layout = Layout::kOne;
  bool accumulates = false, literal_second = false, literal_third = false;
};

// What is read off an instruction's text: once, since each wave runs it again and again.
struct Facts {
  const NumberPlan* plan = nullptr;  // null: no arithmetic on floats
  std::vector<uint32_t> rows;        // that it writes
  uint32_t scalars = 0;              // registers that a scalar instruction writes
  bool reaches_memory = false, scalar = false, lane_operation = false;
  bool exclusive_or = false, writes_lane = false, swaps = false, swizzles = false;
  bool accumulator_move = false, accumulator_write = false;
  bool keeps_part = false;  // of its destination
  bool mixed_high = false, exponent = false, scalar_move = false;
};
const Facts& facts_of(machine::Instruction& i);

}  // namespace simt
