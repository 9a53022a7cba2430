// The algebraic shadow of floating-point memory: see shadow.cpp for what it holds and ir/shadow for who computes it.
//
// The shadow version of a kernel carries beside every number its image in two finite fields and its exact value, as far
// as a double (or two) can tell it. A record per 4 bytes of memory keeps them, and the bits that they belong to: a
// record whose bits are not those in memory is void, and the number then stands for itself. So stores of the host, of
// memset and of integer code need no hook.
#pragma once
#include <cstddef>
#include <cstdint>

namespace simt {

struct Module;
struct LaunchRequest;

struct Shadow {   // of one number; ir/shadow/values.py knows the order
  uint64_t a, b;  // in Z_p and in Z_q
  double d, e;    // its exact value is about d + e
};

struct ShadowRecord {
  uint64_t a, b;  // `a` of the second word of a double: the bits of its `e`
  double d;
  uint64_t word;  // bits of the number, low half; what they are, high half
};

// What the parent reads, at the start of the shadow's part of the arena's file.
struct ShadowHeader {
  uint64_t magic;
  uint64_t lost;       // operations that no shadow could follow
  uint64_t lost_why;   // the first of them: index into the module's list, and the module
  uint64_t undecided;  // comparisons and conversions that rounding alone decided
  uint64_t choices;    // comparisons of numbers at all
  uint64_t inputs;     // digest of everything that the host has given the device
  uint64_t free;       // whether roots or quotients stood for any function, see shadow_functions.cpp
};

constexpr uint64_t kShadowHeaderBytes = 4096;
constexpr uint64_t kShadowIndexBits = 39;  // 38 of the address, and whether it lies outside the arena

bool shadow_wanted();  // by the environment
bool shadow_active();  // and there is room for it
uint64_t shadow_file_bytes();
void map_shadow(int descriptor, uint64_t offset);

void shadow_missing();  // a kernel without that version: built for another purpose
void shadow_constants(const void* literals, uint64_t count, void* into);

// What the host does to memory that kernels see.
void shadow_uploaded(const void* to, size_t bytes);
void shadow_moved(void* to, const void* from, size_t bytes);
void shadow_filled(const void* to, size_t bytes);
// Of a number where it lies: for what the runtime calculates itself. A shadow that is set belongs to the bits there now.
enum class ShadowKind : uint8_t { kFloat, kDouble, kHalf, kBfloat };
Shadow shadow_at(const void* number, ShadowKind kind);
void set_shadow(const void* number, ShadowKind kind, const Shadow& shadow);
// Of registers that are copied out of memory and back, whatever they hold: see machine_shadow.h.
bool is_calculated(const ShadowRecord& record);  // by a kernel
// Two words by exclusive or, on their way to one of them by another such: see machine_shadow_exchange.cpp.
constexpr uint64_t kMixed = 16ull << 32, kMixedCalculated = 32ull << 32;
inline bool is_mixed(const ShadowRecord& record) { return record.word & kMixed; }
constexpr uint64_t kFloatRecord = 1ull << 32;  // the high half of a calculated float's word
bool known_shadow(const ShadowRecord& record, uint64_t bits, ShadowKind kind, Shadow* out);
bool known_double(const ShadowRecord& low, const ShadowRecord& high, uint64_t bits, Shadow* out);
ShadowRecord record_of(const Shadow& shadow, uint64_t bits, ShadowKind kind);
void records_of_double(const Shadow& shadow, uint64_t bits, ShadowRecord* low, ShadowRecord* high);
ShadowRecord signed_unseen(const ShadowRecord& word, uint32_t bits);  // none where more than the sign is another
ShadowRecord half_of_unseen(const ShadowRecord& word, uint32_t half);
ShadowRecord word_shadow(uint64_t address);
ShadowRecord half_shadow(uint64_t address);
void place_word_shadow(uint64_t address, const ShadowRecord& record);
void place_half_shadow(uint64_t address, const ShadowRecord& record);
Shadow negative_shadow(const Shadow& shadow);
Shadow sum_of_shadows(const Shadow& x, const Shadow& y);
bool shadow_fits();  // beside what is allocated

void shadow_passed(const void* given, void* got);  // from lane to lane; null: a lane that takes no part
// LDS of a block that waits, out into `saved` or in from there; 4-byte numbers and wider.
size_t shadow_bytes(size_t memory);
void swap_shadows(const void* memory, size_t bytes, char* saved, bool out);
void shadow_launch(const LaunchRequest& request);
void shadow_mixed(const void* data, size_t bytes);

}  // namespace simt
