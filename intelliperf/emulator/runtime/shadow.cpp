// The shadow's memory. Records of the arena lie in the arena's file, behind its memory, so that the parent reads them as
// it reads buffers; those of everything else (LDS, stacks, variables) lie behind them.
#include "shadow.h"

#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "fiber.h"
#include "launch.h"
#include "memory.h"
#include "shadow_field.h"
#include "shadow_functions.h"

#define SIMT_EXPORT __attribute__((visibility("default")))

namespace simt {
namespace {

constexpr uint64_t kMagic = 0x31574F4441485350;
constexpr uint64_t kRecordBytes = sizeof(ShadowRecord) << (kShadowIndexBits - 2);  // one per 4 bytes
constexpr uint64_t kNarrowBytes = kRecordBytes * 2;                                // one per 2 bytes
constexpr uint64_t kMarkedBytesLog = 12;
constexpr uint64_t kMarkBytes = 1ull << (kShadowIndexBits - kMarkedBytesLog);
constexpr uint64_t kHighBit = 1ull << (kShadowIndexBits - 1);

// What a record's word says beside the bits; ir/shadow/memory.py writes and expects them.
enum Tag : uint64_t {
  kFloat = kFloatRecord,
  kDouble = 2ull << 32,
  kSecond = 3ull << 32,
  kHalf = 4ull << 32,
  kBfloat = 5ull << 32
};
constexpr uint64_t kWithoutB = 8ull << 32;
// Nobody has looked at the number yet: `a` is where the host put it, before it was copied here. Not of the parent's.
constexpr uint64_t kUnseen = 6ull << 32;
// Likewise, and its sign is the other one.
constexpr uint64_t kNegated = 7ull << 32;
constexpr uint32_t kSign = 0x80000000u;

struct Wanted {
  uint64_t fold = 0;  // p = 2^61 - fold; 0: no shadow
  bool symbolic = false, half = false, bfloat = false, single = true, free_functions = false;
};

// The prime is the run's secret: what reads its own environment afterwards does not find it there.
Wanted read_wanted() {
  Wanted wanted;
  const char* text = getenv("INTELLIPERF_SHADOW");
  if (!text) return wanted;
  wanted.fold = strtoull(text, nullptr, 10);
  wanted.symbolic = strstr(text, "symbolic") != nullptr;
  wanted.half = strstr(text, "half") != nullptr;
  wanted.bfloat = strstr(text, "bfloat") != nullptr;
  wanted.single = strstr(text, "double-only") == nullptr;
  wanted.free_functions = strstr(text, "free-functions") != nullptr;
  if (wanted.fold >= 1ull << 28) wanted.fold = 0;
  unsetenv("INTELLIPERF_SHADOW");
  return wanted;
}

const Wanted& wanted() {
  static const Wanted instance = read_wanted();
  return instance;
}

__attribute__((constructor)) void look_early() { wanted(); }

ShadowHeader* header;

constexpr uint32_t kPassed = 64;
struct Passed {
  Shadow shadow;
  double value;
};
Passed passed[kPassed];

uint64_t index_of(uint64_t address) { return (address & (kHighBit - 1)) | (address >> 8 & kHighBit); }

ShadowRecord* record_at(uint64_t address) {
  return reinterpret_cast<ShadowRecord*>(__simt_shadow.records + (index_of(address) >> 2) * sizeof(ShadowRecord));
}

ShadowRecord* narrow_record_at(uint64_t address) {
  return reinterpret_cast<ShadowRecord*>(__simt_shadow.halves + (index_of(address) >> 1) * sizeof(ShadowRecord));
}

char& mark_of(uint64_t address) { return __simt_shadow.marks[index_of(address) >> kMarkedBytesLog]; }

// The address of what a record belongs to, for all that lies in the arena; 0 otherwise.
uintptr_t arena_address(const void* record, bool narrow) {
  const uint64_t at =
      uint64_t(static_cast<const char*>(record) - (narrow ? __simt_shadow.halves : __simt_shadow.records));
  const uint64_t offset = at / sizeof(ShadowRecord) * (narrow ? 2 : 4);
  return offset < arena().bytes ? arena().base + offset : 0;
}

// An unknown in place of a number, by where the host put it. Zeros stay: accumulators begin with them.
bool make_unknown(uintptr_t address, uint64_t bits, double value, Shadow* out) {
  if (!wanted().symbolic || address == 0 || value == 0 || !std::isfinite(value)) return false;
  const Allocation* a = find(address);
  if (!a) return false;
  const uint64_t key = scrambled(a->id, 21) ^ scrambled(address - a->base, 22) ^ scrambled(bits, 23);
  *out = {prime_p().reduced(scrambled(key, 24)), prime_q().reduced(scrambled(key, 25)), value, 0};
  return true;
}

// What lies outside the arena, tables and variables of modules above all, means what literals of the code would.
Shadow initial(const ShadowRecord& record, uintptr_t address, uint64_t bits, double value, LiteralKind kind) {
  Shadow shadow;
  if (record.word == (kUnseen | (bits & 0xFFFFFFFF))) address = uintptr_t(record.a);
  if (make_unknown(address, bits, value, &shadow)) return shadow;
  return address == 0 ? of_literal(value, kind) : embedded(value);
}

void write(ShadowRecord* into, const Shadow& shadow, uint64_t word) { *into = {shadow.a, shadow.b, shadow.d, word}; }

float float_of(uint64_t bits) {
  const auto low = uint32_t(bits);
  float value;
  memcpy(&value, &low, sizeof value);
  return value;
}

uint64_t mixed(uint64_t digest, const void* data, size_t bytes) {
  const auto* at = static_cast<const unsigned char*>(data);
  for (; bytes >= 8; at += 8, bytes -= 8) {
    uint64_t word;
    memcpy(&word, at, 8);
    digest = (digest ^ word) * 0x9E3779B97F4A7C15ull;
    digest ^= digest >> 29;
  }
  uint64_t word = bytes;
  memcpy(&word, at, bytes);
  return (digest ^ word) * 0xD6E8FEB86659FD93ull;
}

uint32_t word_at(uintptr_t address) {
  uint32_t word;
  memcpy(&word, reinterpret_cast<const void*>(address), sizeof word);  // NOLINT(performance-no-int-to-ptr)
  return word;
}

// Of a word that is copied: its record, or that it has none.
ShadowRecord carried(uintptr_t address) {
  const uint32_t bits = word_at(address);
  if (mark_of(address)) {
    const ShadowRecord& have = *record_at(address);
    if (have.word && uint32_t(have.word) == bits) return have;
  }
  return in_arena(address) ? ShadowRecord{address, 0, 0, kUnseen | bits} : ShadowRecord{0, 0, 0, 0};
}

// Reading a hole of the file fills it: records that were never written are not looked at.
// Of sixteen bits a record that was left behind fits by chance. A look at a hole of the file would fill it.
void forget_narrow(uintptr_t from, uintptr_t to) {
  constexpr uintptr_t kWhole = uintptr_t{1} << kMarkedBytesLog;
  if (!__simt_shadow.narrow_used || from >= to) return;
  const size_t size = kWhole / 2 * sizeof(ShadowRecord);
  if (to - from == kWhole && madvise(narrow_record_at(from), size, MADV_REMOVE) == 0) return;
  for (uintptr_t at = from; at < to; at += 2)
    if (ShadowRecord* record = narrow_record_at(at); record->word) record->word = 0;
}

void forget(uintptr_t to, size_t bytes) {
  uintptr_t at = to & ~uintptr_t(3);
  while (at < to + bytes) {
    const uintptr_t end = std::min<uintptr_t>(((at >> kMarkedBytesLog) + 1) << kMarkedBytesLog, to + bytes);
    if (!mark_of(at)) at = end;
    forget_narrow(at, end);
    for (; at < end; at += 4) {
      ShadowRecord* record = record_at(at);
      if (record->word) record->word = 0;
    }
  }
}

// A record that is not a kernel's store.
void note_record(const ShadowRecord* record, bool narrow) {
  const auto at =
      uint64_t(reinterpret_cast<const char*>(record) - (narrow ? __simt_shadow.halves : __simt_shadow.records));
  __simt_shadow.marks[at / sizeof(ShadowRecord) * (narrow ? 2 : 4) >> kMarkedBytesLog] |= 2;
}

}  // namespace

extern "C" {
SIMT_EXPORT ShadowState __simt_shadow;
}

bool shadow_wanted() { return wanted().fold != 0; }
bool shadow_active() { return header != nullptr; }
uint64_t shadow_file_bytes() {
  return shadow_wanted() ? kShadowHeaderBytes + kRecordBytes + kNarrowBytes + kMarkBytes : 0;
}

void map_shadow(int descriptor, uint64_t offset) {
  if (!shadow_wanted() || descriptor < 0) return;
  void* memory =
      mmap(nullptr, shadow_file_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, descriptor, off_t(offset));
  if (memory == MAP_FAILED) return;
  header = static_cast<ShadowHeader*>(memory);
  *header = {kMagic, 0, 0, 0, 0, 0, 0};
  ShadowState& s = __simt_shadow;
  s.c = wanted().fold;
  s.p = (1ull << 61) - s.c;
  s.cq = (s.c + 1) / 2;
  s.q = (1ull << 60) - s.cq;
  s.records = static_cast<char*>(memory) + kShadowHeaderBytes;
  s.halves = s.records + kRecordBytes;
  s.marks = s.halves + kNarrowBytes;
  s.half = wanted().half;
  s.bfloat = wanted().bfloat;
  s.single = wanted().single;
  s.free_functions = wanted().free_functions ? &header->free : nullptr;
  s.undecided = &header->undecided;
  s.choices = &header->choices;
  prepare_field();
}

void shadow_missing() { __simt_shadow_lose(~0u); }

void shadow_mixed(const void* data, size_t bytes) {
  if (header) header->inputs = mixed(header->inputs, data, bytes);
}

void shadow_uploaded(const void* to, size_t bytes) {
  if (!header) return;
  shadow_mixed(to, bytes);
  const auto at = reinterpret_cast<uintptr_t>(to);
  forget(at, bytes);
  if (in_arena(at) || at % 4 != 0) return;
  // Variables of modules mean what literals would only as long as they hold what the source says.
  for (size_t i = 0; i + 4 <= bytes; i += 4) {
    *record_at(at + i) = {at + i, 0, 0, kUnseen | word_at(at + i)};
    mark_of(at + i) |= 2;
  }
}

void shadow_filled(const void* to, size_t bytes) {
  if (header) forget(reinterpret_cast<uintptr_t>(to), bytes);
}

void shadow_moved(void* to, const void* from, size_t bytes) {
  if (header) __simt_shadow_copy(to, from, bytes);
}

namespace {

struct Place {  // of a number's record
  ShadowRecord* record;
  uint64_t bits, tag;
  bool narrow;
};

Place place_of(const void* number, ShadowKind kind) {
  const auto address = reinterpret_cast<uintptr_t>(number);
  Place place{};
  place.narrow = kind == ShadowKind::kHalf || kind == ShadowKind::kBfloat;
  memcpy(&place.bits, number, place.narrow ? 2 : kind == ShadowKind::kDouble ? 8 : 4);
  constexpr uint64_t kTags[] = {kFloat, kDouble, kHalf, kBfloat};
  place.tag = kTags[size_t(kind)];
  place.record = place.narrow ? narrow_record_at(address) : record_at(address);
  return place;
}

double value_of(uint64_t bits, ShadowKind kind) {
  if (kind == ShadowKind::kBfloat) return float_of(bits << 16);
  if (kind == ShadowKind::kFloat) return float_of(bits);
  if (kind == ShadowKind::kHalf) {
    const auto low = uint16_t(bits);
    _Float16 value;
    memcpy(&value, &low, sizeof value);
    return double(value);
  }
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

}  // namespace

Shadow shadow_at(const void* number, ShadowKind kind) {
  const Place place = place_of(number, kind);
  const ShadowRecord& record = *place.record;
  const bool is_double = kind == ShadowKind::kDouble;
  const uint64_t word = place.tag | (place.bits & 0xFFFFFFFF);
  const bool whole = !is_double || place.record[1].word == (kSecond | place.bits >> 32);
  if ((record.word & ~kWithoutB) == word && whole) {
    const uint64_t b = record.word & kWithoutB ? prime_q().reduced(scrambled(record.a, 26)) : record.b;
    double rest = 0;
    if (is_double) memcpy(&rest, &place.record[1].a, sizeof rest);
    return {record.a, b, record.d, rest};
  }
  const LiteralKind literal = is_double      ? LiteralKind::kDouble
                              : place.narrow ? LiteralKind::kNarrow
                                             : LiteralKind::kFloat;
  return initial(record, arena_address(&record, place.narrow), place.bits, value_of(place.bits, kind), literal);
}

void set_shadow(const void* number, ShadowKind kind, const Shadow& shadow) {
  const Place place = place_of(number, kind);
  if (place.narrow) __simt_shadow.narrow_used = 1;
  mark_of(reinterpret_cast<uintptr_t>(number)) = 1;
  write(place.record, shadow, place.tag | (place.bits & 0xFFFFFFFF));
  if (kind != ShadowKind::kDouble) return;
  place.record[1] = {0, 0, 0, kSecond | place.bits >> 32};
  memcpy(&place.record[1].a, &shadow.e, sizeof shadow.e);
}

bool is_calculated(const ShadowRecord& record) {
  if (is_mixed(record)) return record.word & kMixedCalculated;
  const uint64_t tag = record.word >> 32 & 7;
  return tag && tag != kUnseen >> 32 && tag != kNegated >> 32;
}

bool known_shadow(const ShadowRecord& record, uint64_t bits, ShadowKind kind, Shadow* out) {
  constexpr uint64_t kTags[] = {kFloat, kDouble, kHalf, kBfloat};
  if ((record.word & ~kWithoutB) == (kTags[size_t(kind)] | bits)) {
    *out = {record.a, record.word & kWithoutB ? prime_q().reduced(scrambled(record.a, 26)) : record.b, record.d, 0};
    return true;
  }
  if (kind == ShadowKind::kFloat && record.word == (kNegated | bits)) {
    known_shadow({record.a, 0, 0, kUnseen | (bits ^ kSign)}, bits ^ kSign, kind, out);
    *out = negative_shadow(*out);
    return true;
  }
  if (record.word != (kUnseen | bits)) return false;
  *out = initial(record, 0, bits, value_of(bits, kind),
                 kind == ShadowKind::kFloat ? LiteralKind::kFloat : LiteralKind::kNarrow);
  return true;
}

bool known_double(const ShadowRecord& low, const ShadowRecord& high, uint64_t bits, Shadow* out) {
  if ((low.word & ~kWithoutB) == (kDouble | (bits & 0xFFFFFFFF)) && high.word == (kSecond | bits >> 32)) {
    *out = {low.a, low.word & kWithoutB ? prime_q().reduced(scrambled(low.a, 26)) : low.b, low.d, 0};
    memcpy(&out->e, &high.a, sizeof out->e);
    return true;
  }
  if (low.word != (kUnseen | (bits & 0xFFFFFFFF)) || high.word != (kUnseen | bits >> 32)) return false;
  *out = initial(low, 0, bits, value_of(bits, ShadowKind::kDouble), LiteralKind::kDouble);
  return true;
}

ShadowRecord record_of(const Shadow& shadow, uint64_t bits, ShadowKind kind) {
  constexpr uint64_t kTags[] = {kFloat, kDouble, kHalf, kBfloat};
  return {shadow.a, shadow.b, shadow.d, kTags[size_t(kind)] | (bits & 0xFFFFFFFF)};
}

void records_of_double(const Shadow& shadow, uint64_t bits, ShadowRecord* low, ShadowRecord* high) {
  *low = record_of(shadow, bits, ShadowKind::kDouble);
  *high = {0, 0, 0, kSecond | bits >> 32};
  memcpy(&high->a, &shadow.e, sizeof shadow.e);
}

ShadowRecord signed_unseen(const ShadowRecord& word, uint32_t bits) {
  const uint64_t tag = word.word & ~0xFFFFFFFFull;
  const auto was = uint32_t(word.word);
  if ((tag != kUnseen && tag != kNegated) || ((was ^ bits) & ~kSign)) return {0, 0, 0, 0};
  return {word.a, 0, 0, (was == bits ? tag : tag ^ kUnseen ^ kNegated) | bits};
}

ShadowRecord half_of_unseen(const ShadowRecord& word, uint32_t half) {
  const bool same = word.word >> 32 == kUnseen >> 32 || (half == 0 && word.word >> 32 == kNegated >> 32);
  if (!same) return {0, 0, 0, 0};
  return {word.a + 2 * half, 0, 0, kUnseen | (word.word >> 16 * half & 0xFFFF)};
}

namespace {

uint16_t half_at(uintptr_t address) {
  uint16_t bits;
  memcpy(&bits, reinterpret_cast<const void*>(address), sizeof bits);  // NOLINT(performance-no-int-to-ptr)
  return bits;
}

void place(ShadowRecord* into, uint64_t address, const ShadowRecord& given) {
  // Of a sign that a kernel has changed nothing else tells, so that in an array it is a number like any other.
  const bool plain = in_arena(address) && (given.word >> 32 == kNegated >> 32 || is_mixed(given));
  const ShadowRecord record = plain ? ShadowRecord{0, 0, 0, 0} : given;
  if (!record.word && !(mark_of(address) && into->word)) return;
  *into = record;
  if (record.word) mark_of(address) |= is_calculated(record) ? 1 : 2;
}

}  // namespace

ShadowRecord word_shadow(uint64_t address) { return address % 4 ? ShadowRecord{0, 0, 0, 0} : carried(address); }

ShadowRecord half_shadow(uint64_t address) {
  if (!__simt_shadow.narrow_used || address % 2 || !mark_of(address)) return {0, 0, 0, 0};
  const ShadowRecord& have = *narrow_record_at(address);
  return have.word && uint32_t(have.word) == half_at(address) ? have : ShadowRecord{0, 0, 0, 0};
}

void place_word_shadow(uint64_t address, const ShadowRecord& record) {
  if (address % 4 == 0) place(record_at(address), address, record);
}

void place_half_shadow(uint64_t address, const ShadowRecord& record) {
  if (address % 2) return;
  if (is_calculated(record) || (record.word && wanted().symbolic)) __simt_shadow.narrow_used = 1;
  if (__simt_shadow.narrow_used) place(narrow_record_at(address), address, record);
}

Shadow negative_shadow(const Shadow& x) { return {prime_p().negative(x.a), prime_q().negative(x.b), -x.d, -x.e}; }

Shadow sum_of_shadows(const Shadow& x, const Shadow& y) {
  return {prime_p().add(x.a, y.a), prime_q().add(x.b, y.b), x.d + y.d, x.e + y.e};
}

void shadow_passed(const void* given, void* got) {
  *static_cast<Shadow*>(got) = given ? *static_cast<const Shadow*>(given) : Shadow{~0ull, 0, 0, 0};
}

size_t shadow_bytes(size_t memory) { return header ? (memory + 3) / 4 * sizeof(ShadowRecord) : 0; }

void swap_shadows(const void* memory, size_t bytes, char* saved, bool out) {
  if (!header || !bytes) return;
  void* records = record_at(reinterpret_cast<uint64_t>(memory));
  memcpy(out ? saved : records, out ? records : saved, shadow_bytes(bytes));
}

// Records take eight times the memory that they belong to, in two runs side by side.
bool too_large() {
  static const uint64_t room = available_memory() / 3;
  return allocated_bytes() * (sizeof(ShadowRecord) / 4) > room;
}

bool shadow_fits() { return !too_large(); }

void shadow_launch(const LaunchRequest& request) {
  if (!header) return;
  if (request.kernel->fast != request.kernel->plain && too_large()) {
    request.kernel->fast = request.kernel->plain;
    shadow_missing();
  }
  for (const Parameter& parameter : request.kernel->parameters)
    if (parameter.pointers.empty()) shadow_mixed(request.arguments[parameter.index], parameter.size);
}

extern "C" {

// A load that found no record of its bits: the number stands for itself, from now on with a record.
SIMT_EXPORT void __simt_shadow_miss_float(ShadowRecord* record, uint64_t word) {
  note_record(record, false);
  if ((record->word | kWithoutB) == (word | kWithoutB)) {
    record->b = prime_q().reduced(scrambled(record->a, 26));  // stored by code that knows no exponents
    record->word = word;
    return;
  }
  write(record, initial(*record, arena_address(record, false), word & 0xFFFFFFFF, float_of(word), LiteralKind::kFloat),
        word);
}

SIMT_EXPORT void __simt_shadow_miss_double(ShadowRecord* record, double value, uint64_t first) {
  note_record(record, false);
  uint64_t bits;
  memcpy(&bits, &value, 8);
  const uint64_t second = kSecond | bits >> 32;
  if ((record[0].word | kWithoutB) == (first | kWithoutB) && record[1].word == second) {
    record->b = prime_q().reduced(scrambled(record->a, 26));
    record->word = first;
    return;
  }
  write(record, initial(*record, arena_address(record, false), bits, value, LiteralKind::kDouble), first);
  record[1] = {0, 0, 0, second};
}

SIMT_EXPORT void __simt_shadow_miss_narrow(ShadowRecord* record, uint64_t word, double value) {
  note_record(record, true);
  if ((record->word | kWithoutB) == (word | kWithoutB)) {
    record->b = prime_q().reduced(scrambled(record->a, 26));
    record->word = word;
    return;
  }
  write(record, initial(*record, arena_address(record, true), word & 0xFFFF, value, LiteralKind::kNarrow), word);
}

SIMT_EXPORT void __simt_shadow_copy(void* to, const void* from, uint64_t bytes) {
  const auto target = reinterpret_cast<uintptr_t>(to), source = reinterpret_cast<uintptr_t>(from);
  if ((target | source) & 3) {
    forget(target, bytes);
    return;
  }
  const uint64_t words = bytes / 4;
  const bool backwards = target > source;
  for (uint64_t i = 0; i < words; ++i) {
    const uint64_t at = 4 * (backwards ? words - 1 - i : i);
    const ShadowRecord have = carried(source + at);
    ShadowRecord& into = *record_at(target + at);
    if (have.word || (mark_of(target + at) && into.word)) {
      into = have;
      mark_of(target + at) |= 1;
    }
    for (uint64_t half = 0; half < 4; half += 2) {
      if (!__simt_shadow.narrow_used) break;
      const ShadowRecord& other = *narrow_record_at(source + at + half);
      ShadowRecord& own = *narrow_record_at(target + at + half);
      if (!other.word && !own.word) continue;
      own = other;
      mark_of(target + at) |= 1;
    }
  }
}

// Arguments and results of functions that are not inlined: laid down just before, taken up just after. A lane that was
// interrupted in between finds another one's, with other bits.
SIMT_EXPORT void __simt_shadow_give(uint32_t number, uint64_t a, uint64_t b, double d, double e, double value) {
  passed[number % kPassed] = {{a, b, d, e}, value};
}

SIMT_EXPORT void __simt_shadow_taken(Shadow* out, uint32_t number, double value) {
  const Passed& last = passed[number % kPassed];
  *out = memcmp(&last.value, &value, sizeof value) == 0 ? last.shadow : embedded(value);
}

// A collective that takes the shadow along.
SIMT_EXPORT uint64_t __simt_shadow_collective(const Shadow* given, Shadow* got, uint32_t op, uint64_t mask,
                                              uint64_t value, uint32_t argument, uint32_t width) {
  simt_current->shadow_given = given;
  simt_current->shadow_got = got;
  const uint64_t result = __simt_collective(op, mask, value, argument, width);
  simt_current->shadow_given = simt_current->shadow_got = nullptr;
  return result;
}

SIMT_EXPORT void __simt_shadow_clear(const void* to, uint64_t bytes) { forget(reinterpret_cast<uintptr_t>(to), bytes); }

SIMT_EXPORT void __simt_shadow_lose(uint32_t why) {
  if (!header) return;
  if (header->lost++ == 0) header->lost_why = why;
}

// A plain argument of a kernel.
SIMT_EXPORT void __simt_shadow_argument(Shadow* out, uint64_t number, double value, uint32_t is_float) {
  *out = of_literal(value, is_float ? LiteralKind::kFloat : LiteralKind::kDouble);
  if (!wanted().symbolic || value == 0 || !std::isfinite(value)) return;
  const uint64_t key = scrambled(number, 27) ^ scrambled(uint64_t(value * 1048576.0), 28);
  *out = {prime_p().reduced(scrambled(key, 24)), prime_q().reduced(scrambled(key, 25)), value, 0};
}

}  // extern "C"

}  // namespace simt
