// Vector instructions that read or write masks, scalars or other lanes: each has its own way.
#include <unordered_map>

#include "arithmetic.h"
#include "decode.h"
#include "operands.h"

namespace machine {
namespace {

uint16_t mask_destination(const Instruction& i) { return i.scalar_destination; }

const uint32_t* words_of(Wave& wave, Instruction& i, uint32_t n, LaneValues& buffer, Kind kind = Kind::kB32) {
  return static_cast<const uint32_t*>(fetch(wave, i, n, kind, buffer));
}

uint64_t mask_source(const Wave& wave, const Instruction& i) { return scalar_long(wave, i, i.source[2].code); }

void no_operation(Wave&, Instruction&) {}

void select_by_mask(Wave& wave, Instruction& i) {
  LaneValues buffer[2], out;
  const uint32_t* otherwise = words_of(wave, i, 0, buffer[0], Kind::kF32);
  const uint32_t* chosen = words_of(wave, i, 1, buffer[1], Kind::kF32);
  const uint64_t mask = mask_source(wave, i);
  for (uint32_t lane = 0; lane < kWave; ++lane) out.words()[lane] = mask >> lane & 1 ? chosen[lane] : otherwise[lane];
  write_result(wave, i, Kind::kB32, out);
}

struct Add {
  static uint64_t of(uint64_t a, uint64_t b, uint64_t carry) { return a + b + carry; }
};
struct Subtract {
  static uint64_t of(uint64_t a, uint64_t b, uint64_t carry) { return a - b - carry; }
};
struct SubtractReversed {
  static uint64_t of(uint64_t a, uint64_t b, uint64_t carry) { return b - a - carry; }
};

template <class Operation, bool kCarriesIn>
void with_carry(Wave& wave, Instruction& i) {
  LaneValues buffer[2], out;
  const uint32_t* a = words_of(wave, i, 0, buffer[0]);
  const uint32_t* b = words_of(wave, i, 1, buffer[1]);
  const uint64_t carry = kCarriesIn ? mask_source(wave, i) : 0;
  const uint64_t mask = written_lanes(wave, i);
  uint64_t carried = 0;
  for (uint32_t lane = 0; lane < kWave; ++lane) {
    const uint64_t sum = Operation::of(a[lane], b[lane], carry >> lane & 1);
    const bool beyond = high_half(sum) != 0;
    carried |= uint64_t(beyond) << lane;
    out.words()[lane] = low_half(sum);
    if (i.clamp && beyond) out.words()[lane] = int64_t(sum) < 0 ? 0 : ~0u;
  }
  write_result(wave, i, Kind::kB32, out);
  wave.set_pair(mask_destination(i), carried & mask);
}

template <class T>
void scale_for_division(Wave& wave, Instruction& i) {
  LaneValues buffer[3], out;
  const T* source[3];
  for (uint32_t n = 0; n < 3; ++n) source[n] = static_cast<const T*>(fetch(wave, i, n, KindOf<T>::value, buffer[n]));
  uint64_t mask = 0;
  for (uint32_t lane = 0; lane < kWave; ++lane) {
    bool scaled = false;
    reinterpret_cast<T*>(out.bytes)[lane] =
        scaled_for_division(source[0][lane], source[1][lane], source[2][lane], scaled);
    mask |= uint64_t(scaled) << lane;
  }
  write_result(wave, i, KindOf<T>::value, out);
  wave.set_pair(mask_destination(i), mask & wave.exec());
}

template <class T>
void fuse_with_rescale(Wave& wave, Instruction& i) {
  LaneValues buffer[3], out;
  const T* source[3];
  for (uint32_t n = 0; n < 3; ++n) source[n] = static_cast<const T*>(fetch(wave, i, n, KindOf<T>::value, buffer[n]));
  const uint64_t scaled = wave.vcc();
  for (uint32_t lane = 0; lane < kWave; ++lane)
    reinterpret_cast<T*>(out.bytes)[lane] =
        fused_with_rescale(source[0][lane], source[1][lane], source[2][lane], scaled >> lane & 1);
  write_result(wave, i, KindOf<T>::value, out);
}

template <bool kSigned>
void multiply_add_long(Wave& wave, Instruction& i) {
  LaneValues buffer[3], out;
  const uint32_t* a = words_of(wave, i, 0, buffer[0]);
  const uint32_t* b = words_of(wave, i, 1, buffer[1]);
  const uint64_t* c = static_cast<const uint64_t*>(fetch(wave, i, 2, Kind::kB64, buffer[2]));
  uint64_t beyond = 0;
  for (uint32_t lane = 0; lane < kWave; ++lane) {
    if (kSigned) {
      const __int128 sum = __int128(int64_t(int32_t(a[lane])) * int32_t(b[lane])) + int64_t(c[lane]);
      out.longs()[lane] = uint64_t(sum);
      beyond |= uint64_t(sum != int64_t(uint64_t(sum))) << lane;
    } else {
      beyond |= uint64_t(__builtin_add_overflow(uint64_t(a[lane]) * b[lane], c[lane], &out.longs()[lane])) << lane;
    }
  }
  write_longs(wave, i.destination, out.longs(), wave.exec());
  wave.set_pair(mask_destination(i), beyond & wave.exec());
}

uint32_t lane_number(const Wave& wave, const Instruction& i, const Source& source) {
  return scalar_word(wave, i, source.code) & 63;
}

void read_lane(Wave& wave, Instruction& i) {
  wave.s[i.destination] = wave.v(i.source[0].row())[lane_number(wave, i, i.source[1])];
}

void read_first_lane(Wave& wave, Instruction& i) {
  const uint32_t lane = wave.exec() ? uint32_t(__builtin_ctzll(wave.exec())) : 0;
  const Source& source = i.source[0];
  wave.s[i.destination] = source.is_vector() ? wave.v(source.row())[lane] : scalar_word(wave, i, source.code);
}

void write_lane(Wave& wave, Instruction& i) {
  wave.v(i.destination)[lane_number(wave, i, i.source[1])] = scalar_word(wave, i, i.source[0].code);
}

template <uint32_t kFirst>
void count_mask_below(Wave& wave, Instruction& i) {
  LaneValues buffer[2], out;
  const uint32_t* mask = words_of(wave, i, 0, buffer[0]);
  const uint32_t* added = words_of(wave, i, 1, buffer[1]);
  for (uint32_t lane = 0; lane < kWave; ++lane) {
    const uint32_t places = lane < kFirst ? 0 : std::min(lane - kFirst, 32u);
    const uint32_t below = uint32_t((1ull << places) - 1);
    out.words()[lane] = uint32_t(__builtin_popcount(mask[lane] & below)) + added[lane];
  }
  write_result(wave, i, Kind::kB32, out);
}

void swap_registers(Wave& wave, Instruction& i) {
  LaneValues first, second;
  std::memcpy(first.bytes, wave.v(i.destination), sizeof(Row));
  std::memcpy(second.bytes, wave.v(i.source[0].row()), sizeof(Row));
  write_words(wave, i.destination, second.words(), wave.exec());
  write_words(wave, i.source[0].row(), first.words(), wave.exec());
}

template <bool kMasked>
void quad_of_sads(Wave& wave, Instruction& i) {
  LaneValues buffer[3], out;
  const uint64_t* a = static_cast<const uint64_t*>(fetch(wave, i, 0, Kind::kB64, buffer[0]));
  const uint32_t* b = words_of(wave, i, 1, buffer[1]);
  const uint64_t* c = static_cast<const uint64_t*>(fetch(wave, i, 2, Kind::kB64, buffer[2]));
  for (uint32_t lane = 0; lane < kWave; ++lane) {
    out.longs()[lane] = 0;
    for (uint32_t n = 0; n < 4; ++n) {
      const uint64_t sum = sad_bytes(uint32_t(a[lane] >> 8 * n), b[lane], kMasked) + (c[lane] >> 16 * n & 0xFFFF);
      out.longs()[lane] |= (sum & 0xFFFF) << 16 * n;
    }
  }
  write_longs(wave, i.destination, out.longs(), wave.exec());
}

const std::unordered_map<std::string, Execute>& table() {
  static const auto* const entries = new std::unordered_map<std::string, Execute>{
      {"v_nop", no_operation},
      {"v_cndmask_b32", select_by_mask},
      {"v_add_co_u32", with_carry<Add, false>},
      {"v_addc_co_u32", with_carry<Add, true>},
      {"v_sub_co_u32", with_carry<Subtract, false>},
      {"v_subb_co_u32", with_carry<Subtract, true>},
      {"v_subrev_co_u32", with_carry<SubtractReversed, false>},
      {"v_subbrev_co_u32", with_carry<SubtractReversed, true>},
      {"v_div_scale_f32", scale_for_division<float>},
      {"v_div_scale_f64", scale_for_division<double>},
      {"v_div_fmas_f32", fuse_with_rescale<float>},
      {"v_div_fmas_f64", fuse_with_rescale<double>},
      {"v_mad_u64_u32", multiply_add_long<false>},
      {"v_mad_i64_i32", multiply_add_long<true>},
      {"v_readlane_b32", read_lane},
      {"v_readfirstlane_b32", read_first_lane},
      {"v_writelane_b32", write_lane},
      {"v_mbcnt_lo_u32_b32", count_mask_below<0>},
      {"v_mbcnt_hi_u32_b32", count_mask_below<32>},
      {"v_swap_b32", swap_registers},
      {"v_qsad_pk_u16_u8", quad_of_sads<false>},
      {"v_mqsad_pk_u16_u8", quad_of_sads<true>},
  };
  return *entries;
}

}  // namespace

bool bind_cross_lane(const std::string& mnemonic, Instruction& i) {
  const auto found = table().find(mnemonic);
  if (found == table().end()) return false;
  i.execute = found->second;
  return true;
}

}  // namespace machine
