// Accumulation registers and matrix multiplication.
#ifdef __FMA__
#include <immintrin.h>
#endif

#include <algorithm>
#include <cmath>
#include <map>

#include "arithmetic.h"
#include "decode.h"
#include "matrix.h"
#include "minis.h"
#include "operands.h"

namespace machine {
namespace {

const std::map<std::string, Shape>& shapes_of_gfx90a() {
  static const std::map<std::string, Shape> table = {
      {"v_mfma_f32_32x32x1f32", {32, 1, 2, 1, Element::kFloat}},
      {"v_mfma_f32_16x16x1f32", {16, 1, 4, 1, Element::kFloat}},
      {"v_mfma_f32_4x4x1f32", {4, 1, 16, 1, Element::kFloat}},
      {"v_mfma_f32_32x32x2f32", {32, 2, 1, 1, Element::kFloat}},
      {"v_mfma_f32_16x16x4f32", {16, 4, 1, 1, Element::kFloat}},
      {"v_mfma_f32_32x32x4f16", {32, 4, 2, 4, Element::kHalf}},
      {"v_mfma_f32_16x16x4f16", {16, 4, 4, 4, Element::kHalf}},
      {"v_mfma_f32_4x4x4f16", {4, 4, 16, 4, Element::kHalf}},
      {"v_mfma_f32_32x32x8f16", {32, 8, 1, 4, Element::kHalf}},
      {"v_mfma_f32_16x16x16f16", {16, 16, 1, 4, Element::kHalf}},
      {"v_mfma_f32_32x32x2bf16", {32, 2, 2, 2, Element::kBrain}},
      {"v_mfma_f32_16x16x2bf16", {16, 2, 4, 2, Element::kBrain}},
      {"v_mfma_f32_4x4x2bf16", {4, 2, 16, 2, Element::kBrain}},
      {"v_mfma_f32_32x32x4bf16", {32, 4, 1, 2, Element::kBrain}},
      {"v_mfma_f32_16x16x8bf16", {16, 8, 1, 2, Element::kBrain}},
      {"v_mfma_f32_32x32x4bf16_1k", {32, 4, 2, 4, Element::kBrain}},
      {"v_mfma_f32_16x16x4bf16_1k", {16, 4, 4, 4, Element::kBrain}},
      {"v_mfma_f32_4x4x4bf16_1k", {4, 4, 16, 4, Element::kBrain}},
      {"v_mfma_f32_32x32x8bf16_1k", {32, 8, 1, 4, Element::kBrain}},
      {"v_mfma_f32_16x16x16bf16_1k", {16, 16, 1, 4, Element::kBrain}},
      {"v_mfma_i32_32x32x4i8", {32, 4, 2, 4, Element::kByte}},
      {"v_mfma_i32_16x16x4i8", {16, 4, 4, 4, Element::kByte}},
      {"v_mfma_i32_4x4x4i8", {4, 4, 16, 4, Element::kByte}},
      {"v_mfma_i32_32x32x8i8", {32, 8, 1, 4, Element::kByte}},
      {"v_mfma_i32_16x16x16i8", {16, 16, 1, 4, Element::kByte}},
      {"v_mfma_f64_16x16x4f64", {16, 4, 1, 1, Element::kDouble}},
      {"v_mfma_f64_4x4x4f64", {4, 4, 4, 1, Element::kDouble}},
  };
  return table;
}

// "v_mfma_f32_32x32x4f16" is "v_mfma_f32_32x32x4_2b_f16" on gfx942, which has some more.
std::map<std::string, Shape> all_shapes() {
  std::map<std::string, Shape> all = shapes_of_gfx90a();
  for (const auto& [name, shape] : shapes_of_gfx90a()) {
    const bool older = shape.element == Element::kBrain && shape.together == 2;
    const size_t type = name.find_first_not_of("0123456789x", name.find('_', 7) + 1);
    const std::string blocks = shape.blocks > 1 ? "_" + std::to_string(shape.blocks) + "b_" : "_";
    const size_t end = name.find("_1k");
    Shape newer = shape;
    if (shape.element != Element::kFloat && shape.element != Element::kDouble) newer.rate = 1024;
    if (!older)
      all[name.substr(0, type) + blocks + name.substr(type, end == std::string::npos ? end : end - type)] = newer;
  }
  all["v_mfma_i32_32x32x16_i8"] = {32, 16, 1, 8, Element::kByte, 2048};
  all["v_mfma_i32_16x16x32_i8"] = {16, 32, 1, 8, Element::kByte, 2048};
  all["v_mfma_f32_16x16x8_xf32"] = {16, 8, 1, 2, Element::kShortened, 512};
  all["v_mfma_f32_32x32x4_xf32"] = {32, 4, 1, 2, Element::kShortened, 512};
  all["v_mfma_f32_16x16x32_f16"] = {16, 32, 1, 8, Element::kHalf, 2048};  // from here on gfx950's
  all["v_mfma_f32_32x32x16_f16"] = {32, 16, 1, 8, Element::kHalf, 2048};
  all["v_mfma_f32_16x16x32_bf16"] = {16, 32, 1, 8, Element::kBrain, 2048};
  all["v_mfma_f32_32x32x16_bf16"] = {32, 16, 1, 8, Element::kBrain, 2048};
  all["v_mfma_i32_16x16x64_i8"] = {16, 64, 1, 16, Element::kByte, 4096};
  all["v_mfma_i32_32x32x32_i8"] = {32, 32, 1, 16, Element::kByte, 4096};
  const std::pair<const char*, Element> minis[] = {{"fp8_fp8", Element::kMini44},
                                                   {"fp8_bf8", Element::kMini45},
                                                   {"bf8_fp8", Element::kMini54},
                                                   {"bf8_bf8", Element::kMini55}};
  for (const auto& [name, element] : minis) {
    all[std::string("v_mfma_f32_16x16x32_") + name] = {16, 32, 1, 8, element, 2048};
    all[std::string("v_mfma_f32_32x32x16_") + name] = {32, 16, 1, 8, element, 2048};
    all[std::string("v_mfma_f32_16x16x128_f8f6f4 ") + name] = {16, 128, 1, 32, element, 4096};  // gfx950's, see below
    all[std::string("v_mfma_f32_32x32x64_f8f6f4 ") + name] = {32, 64, 1, 32, element, 4096};
  }
  return all;
}

const std::map<std::string, Shape>& shapes() {
  static const auto* const table = new std::map<std::string, Shape>(all_shapes());
  return *table;
}

using Lanes = float[kWave];
constexpr uint32_t kMostDepth = 128;

[[maybe_unused]] float half_to_float(uint32_t half) {
  const uint32_t sign = (half & 0x8000) << 16, rest = (half & 0x7FFF) << 13;
  if ((half & 0x7C00) == 0x7C00) return bits_as<float>(sign | 0x7F800000 | rest);
  return bits_as<float>(sign | bits_as<uint32_t>(bits_as<float>(rest) * 0x1p112f));
}

// One half of each word.
void halves_to_floats(const uint32_t* words, uint32_t shift, float* to) {
#ifdef __F16C__
  for (uint32_t lane = 0; lane < kWave; lane += 8) {
    const __m256i all = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(words + lane));
    const __m256i low = _mm256_and_si256(_mm256_srli_epi32(all, int(shift)), _mm256_set1_epi32(0xFFFF));
    const __m128i packed = _mm_packus_epi32(_mm256_castsi256_si128(low), _mm256_extracti128_si256(low, 1));
    _mm256_storeu_ps(to + lane, _mm256_cvtph_ps(packed));
  }
#else
  for (uint32_t lane = 0; lane < kWave; ++lane) to[lane] = half_to_float(words[lane] >> shift & 0xFFFF);
#endif
}

// Item by item what each lane holds of a factor. `first` of the two factors.
void unpack(Wave& wave, const Instruction& i, const Shape& s, bool first, Lanes* out) {
  const uint32_t row = i.source[first ? 0 : 1].row();
  const bool long_mantissa =
      s.element == Element::kMini44 || s.element == (first ? Element::kMini45 : Element::kMini54);
  const float* const table =
      s.element >= Element::kMini44 ? minis({uint8_t(long_mantissa ? 3 : 2), i.infinite_minis}) : nullptr;
  for (uint32_t item = 0; item < s.together; ++item) {
    float* const to = out[item];
    if (s.element == Element::kFloat || s.element == Element::kShortened) {
      std::memcpy(to, wave.v(row + item), sizeof(Row));
      for (uint32_t lane = 0; s.element == Element::kShortened && lane < kWave; ++lane)
        to[lane] = bits_as<float>(bits_as<uint32_t>(to[lane]) & 0xFFFFE000u);
    } else if (table) {
      const uint32_t* const words = wave.v(row + item / 4);
      for (uint32_t lane = 0; lane < kWave; ++lane) to[lane] = table[words[lane] >> 8 * (item % 4) & 0xFF];
    } else {
      const uint32_t* const words = wave.v(row + item / 2);
      const uint32_t shift = 16 * (item % 2);
      if (s.element == Element::kHalf)
        halves_to_floats(words, shift, to);
      else
        for (uint32_t lane = 0; lane < kWave; ++lane) to[lane] = bits_as<float>((words[lane] >> shift) << 16);
    }
  }
}

void unpack(Wave& wave, const Instruction& i, const Shape& s, bool first, int32_t (*out)[kWave]) {
  const uint32_t row = i.source[first ? 0 : 1].row();
  for (uint32_t item = 0; item < s.together; ++item)
    for (uint32_t lane = 0; lane < kWave; ++lane)
      out[item][lane] = int8_t(wave.v(row + item / 4)[lane] >> 8 * (item % 4));
}

float sum_with(float x, float y, float sum) { return __builtin_fmaf(x, y, sum); }  // rounded once
int32_t sum_with(int32_t x, int32_t y, int32_t sum) { return int32_t(uint32_t(sum) + uint32_t(x) * uint32_t(y)); }

// Adds the products of four rows, the first of which is `row`, to their sums, which stand one register apart.
template <class Number, uint32_t kSide>
void add_products(const Number* const* factors, const Number* const* others, uint32_t row, uint32_t depth,
                  Number (*sums)[kWave]) {
  for (uint32_t at = 0; at < 4; ++at)
    for (uint32_t k = 0; k < depth; ++k)
      for (uint32_t n = 0; n < kSide; ++n) sums[at][n] = sum_with(factors[k][row + at], others[k][n], sums[at][n]);
}

#ifdef __FMA__
// Four rows of sixteen sums. Compilers vectorise no loop whose rounding is only known when it runs.
void add_sixteen(const float* const* factors, const float* const* others, uint32_t row, uint32_t column, uint32_t depth,
                 float (*sums)[kWave]) {
  __m256 low[4], high[4];
  for (uint32_t n = 0; n < 4; ++n) low[n] = _mm256_loadu_ps(sums[n]), high[n] = _mm256_loadu_ps(sums[n] + 8);
  for (uint32_t k = 0; k < depth; ++k) {
    const __m256 left = _mm256_loadu_ps(others[k] + column), right = _mm256_loadu_ps(others[k] + column + 8);
    for (uint32_t n = 0; n < 4; ++n) {
      const __m256 factor = _mm256_broadcast_ss(factors[k] + row + n);
      low[n] = _mm256_fmadd_ps(factor, left, low[n]);
      high[n] = _mm256_fmadd_ps(factor, right, high[n]);
    }
  }
  for (uint32_t n = 0; n < 4; ++n) _mm256_storeu_ps(sums[n], low[n]), _mm256_storeu_ps(sums[n] + 8, high[n]);
}

template <>
void add_products<float, 16>(const float* const* factors, const float* const* others, uint32_t row, uint32_t depth,
                             float (*sums)[kWave]) {
  add_sixteen(factors, others, row, 0, depth, sums);
}

template <>
void add_products<float, 32>(const float* const* factors, const float* const* others, uint32_t row, uint32_t depth,
                             float (*sums)[kWave]) {
  add_sixteen(factors, others, row, 0, depth, sums);
  add_sixteen(factors, others, row, 16, depth, reinterpret_cast<float (*)[kWave]>(&sums[0][16]));
}
#endif

struct Results {
  uint32_t words[32][kWave];
};

// What is added to the products, as the result has it.
void copy_sums(Wave& wave, const Instruction& i, uint32_t items, Row* to) {
  const Source& source = i.source[2];
  if (source.is_vector() && &wave.v(source.row()) == to) return;
  for (uint32_t n = 0; n < items; ++n)
    if (source.is_vector())
      std::memcpy(to[n], wave.v(source.row() + n), sizeof(Row));
    else
      std::fill_n(to[n], kWave, scalar_word(wave, i, source.code));
}

// Four rows of the result at a time, so that what they share is read once. They are neighbours among the registers.
template <class Number, uint32_t kSide>
void multiply_rows(Wave& wave, Instruction& i, const Shape& s) {
  alignas(64) Number left[32][kWave], right[32][kWave];
  unpack(wave, i, s, true, left);
  unpack(wave, i, s, false, right);
  const uint32_t items = s.side * s.side * s.blocks / kWave;
  Row* const out = &wave.v(i.destination);
  if (i.source[2].is_vector() && i.source[2].row() < i.destination) {  // the two may overlap
    Results sums;
    copy_sums(wave, i, items, sums.words);
    std::memcpy(out, sums.words, items * sizeof(Row));
  } else {
    copy_sums(wave, i, items, out);
  }
  const Number *factors[kMostDepth], *others[kMostDepth];  // of row and column 0
  for (uint32_t block = 0; block < s.blocks; ++block) {
    for (uint32_t k = 0; k < s.depth; ++k) {
      const Place place = factor_place(s, block, 0, k);
      factors[k] = &left[place.item][place.lane];
      others[k] = &right[place.item][place.lane];
    }
    for (uint32_t row = 0; row < kSide; row += 4) {  // whatever EXEC says
      const Place to = result_place(s, block, row, 0);
      add_products<Number, kSide>(factors, others, row, s.depth,
                                  reinterpret_cast<Number(*)[kWave]>(&out[to.item][to.lane]));
    }
  }
}

template <class Number>
void multiply_side(Wave& wave, Instruction& i, const Shape& s) {
  if (s.side == 32) return multiply_rows<Number, 32>(wave, i, s);
  if (s.side == 16) return multiply_rows<Number, 16>(wave, i, s);
  multiply_rows<Number, 4>(wave, i, s);
}

double double_at(Wave& wave, uint32_t row, uint32_t lane) {
  return bits_as<double>(joined(wave.v(row)[lane], wave.v(row + 1)[lane]));
}

void multiply_doubles(Wave& wave, Instruction& i, const Shape& s) {
  const uint32_t a = i.source[0].row(), b = i.source[1].row();
  const Source& source = i.source[2];
  Results out;
  uint32_t items = 0;
  for (uint32_t block = 0; block < s.blocks; ++block)
    for (uint32_t row = 0; row < s.side; ++row)
      for (uint32_t column = 0; column < s.side; ++column) {
        const Place place = result_place(s, block, row, column);
        double sum = source.is_vector() ? double_at(wave, source.row() + 2 * place.item, place.lane)
                                        : bits_as<double>(scalar_long(wave, i, source.code, Kind::kF64));
        for (uint32_t k = 0; k < s.depth; ++k)
          sum = std::fma(double_at(wave, a, factor_place(s, block, row, k).lane),
                         double_at(wave, b, factor_place(s, block, column, k).lane), sum);
        const uint64_t result = bits_as<uint64_t>(sum);
        out.words[place.item * 2][place.lane] = low_half(result);
        out.words[place.item * 2 + 1][place.lane] = high_half(result);
        items = std::max(items, place.item + 1);
      }
  for (uint32_t n = 0; n < items * 2; ++n) std::memcpy(wave.v(i.destination + n), out.words[n], sizeof(Row));
}

void multiply(Wave& wave, Instruction& i) {
  const Shape& s = *static_cast<const Shape*>(i.semantics);
  if (i.immediate) throw Stop("a broadcast or permutation of matrix blocks");
  if (s.element == Element::kDouble) return multiply_doubles(wave, i, s);
  if (s.element == Element::kByte) return multiply_side<int32_t>(wave, i, s);
  multiply_side<float>(wave, i, s);
}

// AMD CDNA2, CDNA3 and CDNA4 white papers, "peak rates": of gfx90a 512 products of halves in four cycles of a SIMD.
uint8_t passes_of(const Shape& s) {
  const uint32_t products = uint32_t(s.side) * s.side * s.depth * s.blocks;
  const bool wide = s.element == Element::kFloat || s.element == Element::kDouble;
  const uint32_t older = wide ? 128 : s.element == Element::kBrain && s.together == 2 ? 256 : 512;
  return uint8_t(std::max(1u, products / (s.rate ? s.rate : older)));
}

void read_accumulator(Wave& wave, Instruction& i) {
  LaneValues copy;
  std::memcpy(copy.bytes, wave.v(i.source[0].row() % kVectorRegisters + kVectorRegisters), sizeof(Row));
  write_words(wave, i.destination, copy.words(), wave.exec());
}

void write_accumulator(Wave& wave, Instruction& i) {
  LaneValues buffer;
  const void* values = fetch(wave, i, 0, Kind::kB32, buffer);
  write_words(wave, i.destination % kVectorRegisters + kVectorRegisters, static_cast<const uint32_t*>(values),
              wave.exec());
}

void move_accumulator(Wave& wave, Instruction& i) {
  LaneValues copy;
  std::memcpy(copy.bytes, wave.v(i.source[0].row() + kVectorRegisters), sizeof(Row));
  write_words(wave, i.destination + kVectorRegisters, copy.words(), wave.exec());
}

// Of what says its formats in the fields that others have for broadcasts and permutations (LLVM's cbsz and blgp): those
// of eight bits, without scales. Which of a lane's numbers is which along K makes no difference to the sum.
std::string with_formats(const std::string& mnemonic, Instruction& i) {
  if (mnemonic.find("_f8f6f4") == std::string::npos) return mnemonic;
  constexpr const char* kFormats[] = {"fp8", "bf8"};
  const auto fields = uint32_t(i.immediate);
  const uint32_t first = fields & 7, block = fields >> 3 & 15, second = fields >> 7;
  if (first > 1 || second > 1 || block) return mnemonic;
  i.immediate = 0;
  return mnemonic + " " + kFormats[first] + "_" + kFormats[second];
}

}  // namespace

bool bind_matrix(const std::string& mnemonic, Instruction& i) {
  static const std::map<std::string, Execute> moves = {{"v_accvgpr_read_b32", read_accumulator},
                                                       {"v_accvgpr_write_b32", write_accumulator},
                                                       {"v_accvgpr_mov_b32", move_accumulator}};
  const auto move = moves.find(mnemonic);
  if (move != moves.end()) {
    i.execute = move->second;
    return true;
  }
  const auto shape = shapes().find(with_formats(mnemonic, i));
  if (shape == shapes().end()) return false;
  i.semantics = &shape->second;
  i.execute = multiply;
  i.passes = passes_of(shape->second);
  return true;
}

}  // namespace machine
