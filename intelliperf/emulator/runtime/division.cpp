#include "division.h"

#include <cstdint>
#include <cstring>

namespace simt {

#if defined(__x86_64__)
namespace {

constexpr int kRegisters[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                              REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

// DIV or IDIV, opcode F7 with 6 or 7 in ModRM, as in Intel's manual, volume 2. Of bytes (F6): LLVM widens these.
struct Division {
  uint32_t bits = 32;
  bool with_sign = false;
  uint64_t divisor = 0;
  const uint8_t* next = nullptr;
};

uint64_t cut(uint64_t value, uint32_t bits) { return bits == 64 ? value : value & ((uint64_t(1) << bits) - 1); }

template <class Value>
Value read(const uint8_t*& at) {
  Value value;
  std::memcpy(&value, at, sizeof value);
  at += sizeof value;
  return value;
}

bool decode(const greg_t* registers, const uint8_t* at, Division& found) {
  uint8_t rex = 0;
  while (*at == 0x66) found.bits = 16, ++at;
  if ((*at & 0xF0) == 0x40) rex = *at++;
  if (rex & 8) found.bits = 64;
  if (*at++ != 0xF7) return false;
  const uint8_t form = *at++, mode = form >> 6, what = form >> 3 & 7, base = form & 7;
  if (what < 6) return false;
  found.with_sign = what == 7;
  const auto value_of = [&](uint32_t number) { return uint64_t(registers[kRegisters[number]]); };
  if (mode == 3) {
    found.divisor = cut(value_of(base | (rex & 1) << 3), found.bits);
    found.next = at;
    return true;
  }
  uint64_t address = 0;
  bool only_displaced = mode == 0 && base == 5;
  const bool beside_the_code = only_displaced;
  if (base == 4) {
    const uint8_t scaled = *at++;
    const uint32_t index = (scaled >> 3 & 7) | (rex & 2) << 2;
    if (index != 4) address += value_of(index) << (scaled >> 6);
    only_displaced = mode == 0 && (scaled & 7) == 5;
    if (!only_displaced) address += value_of((scaled & 7) | (rex & 1) << 3);
  } else if (!only_displaced) {
    address += value_of(base | (rex & 1) << 3);
  }
  if (mode == 1) address += uint64_t(int64_t(read<int8_t>(at)));
  if (mode == 2 || only_displaced) address += uint64_t(int64_t(read<int32_t>(at)));
  if (beside_the_code) address += uint64_t(reinterpret_cast<uintptr_t>(at));
  std::memcpy(&found.divisor, reinterpret_cast<const void*>(address), found.bits / 8);  // NOLINT
  found.next = at;
  return true;
}

// The register's low bits; half of it written clears the rest.
void set(greg_t& whole, uint64_t value, uint32_t bits) {
  whole = greg_t(bits == 16 ? (uint64_t(whole) & ~uint64_t(0xFFFF)) | value : value);
}

}  // namespace

bool pass_division(ucontext_t& context) {
  greg_t* registers = context.uc_mcontext.gregs;
  Division division;
  if (!decode(registers, reinterpret_cast<const uint8_t*>(registers[REG_RIP]), division)) return false;  // NOLINT
  const uint32_t bits = division.bits;
  const uint64_t dividend = cut(uint64_t(registers[REG_RAX]), bits), most = uint64_t(1) << (bits - 1);
  const bool negative = division.with_sign && (cut(uint64_t(registers[REG_RDX]), bits) & most) != 0;
  uint64_t quotient = negative ? 1 : cut(~uint64_t(0), bits), rest = dividend;
  if (division.divisor != 0) {
    if (!division.with_sign || dividend != most) return false;
    quotient = most, rest = 0;
  }
  set(registers[REG_RAX], quotient, bits);
  set(registers[REG_RDX], rest, bits);
  registers[REG_RIP] = greg_t(reinterpret_cast<uintptr_t>(division.next));
  return true;
}
#else
bool pass_division(ucontext_t&) { return false; }  // AArch64 does not stop at it
#endif

}  // namespace simt
