// What the shadow version of a kernel calls, and the state that it reads inline.
#pragma once
#include <cstdint>

#include "shadow.h"
#include "shadow_field.h"

namespace simt {

struct ShadowState {              // __simt_shadow; ir/shadow/values.py knows the offsets
  uint64_t c, p, cq, q;           // 0: of Modulus, p and q
  char* records;                  // 32
  char* halves;                   // 40: records of 2-byte numbers
  uint64_t half, bfloat;          // 48: whether the original knows these formats, else what is rounded to them is lost
  uint64_t *undecided, *choices;  // 64
  uint64_t single;                // 80: likewise for float
  uint64_t narrow_used;           // 88
  uint64_t* free_functions;       // 96: set where one is used; null: roots and quotients have their laws
  char* marks;  // 104: a byte per 4 KiB of memory; odd: shadows were stored there; 0: it has no records
};

void prepare_field();
const Modulus& prime_p();
const Modulus& prime_q();
Shadow embedded(double value);  // the number itself, exactly
enum class LiteralKind : uint8_t { kFloat, kDouble, kNarrow };
Shadow of_literal(double value, LiteralKind kind);  // the number that its author meant, see ir/shadow/constants.py

extern "C" {
extern ShadowState __simt_shadow;
void __simt_shadow_copy(void* to, const void* from, uint64_t bytes);
void __simt_shadow_lose(uint32_t why);
}

}  // namespace simt
