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

const NumberPlan* plan_of(const machine::Instruction& i);  // null: no arithmetic on floats

std::vector<uint32_t> written_rows(const machine::Instruction& i);
uint32_t written_scalars(const machine::Instruction& i);
bool begins(const machine::Instruction& i, const char* name);
bool is_accumulator_move(const machine::Instruction& i);
bool keeps_part(const machine::Instruction& i);  // of its destination

}  // namespace simt
