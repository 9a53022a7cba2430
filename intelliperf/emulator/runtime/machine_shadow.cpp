#include "machine_shadow.h"

#include <cmath>
#include <cstring>

#include "launch.h"
#include "machine_shadow_plan.h"
#include "operands.h"
#include "shadow_functions.h"

namespace simt {

using machine::Format;
using machine::Instruction;
using machine::kWave;

namespace {

constexpr uint16_t kFirstMarks = 0xA000, kSecondMarks = 0x5400, kMarksOfARow = 2 * kWave;
constexpr uint32_t kMostRows = 7;

uint16_t mark(uint16_t base, uint32_t row, uint32_t half, uint32_t lane) {
  return uint16_t(base + row * kMarksOfARow + half * kWave + lane);
}

bool is_register(const Instruction& i, uint32_t n) {
  const uint16_t code = i.source[n].code;
  return i.source[n].is_vector() || (code < machine::kFirstConstant && (n == 0 || code != 0));
}

// Whose data comes from one operand alone; the other is an address.
bool is_data(const Instruction& i, const Facts& facts, uint32_t n) {
  return i.format != Format::kDs || n == (facts.swizzles ? 0u : 1u);
}

uint32_t row_of(const Instruction& i, const Facts& facts, uint32_t n) {
  const machine::Source& source = i.source[n];
  if (!source.is_vector()) return RegisterShadows::kScalars + source.code;
  if (!facts.accumulator_move || facts.accumulator_write) return source.row();
  return source.row() % machine::kVectorRegisters + machine::kVectorRegisters;
}

constexpr uint32_t kSign = 0x80000000u;

uint16_t as_bfloat(uint32_t bits) { return uint16_t((bits + 0x7FFF + (bits >> 16 & 1)) >> 16); }

uint32_t& word_of(machine::Wave& wave, uint32_t row, uint32_t lane) {
  return row < RegisterShadows::kScalars ? wave.v(row)[lane] : wave.s[row - RegisterShadows::kScalars];
}

}  // namespace

const WordShadow RegisterShadows::kNone = {};

void RegisterShadows::clear() {
  for (auto& row : rows_) row.reset();
}

void RegisterShadows::set(uint32_t row, uint32_t lane, const WordShadow& shadow) {
  if (shadow.empty() && !has(row)) return;
  opened(row)[lane] = shadow;
}

WordShadow* RegisterShadows::opened(uint32_t row) {
  if (!rows_[row]) rows_[row] = std::make_unique<Row>();
  rows_[row]->used = true;
  return rows_[row]->lane;
}

void RegisterShadows::drop(uint32_t row, uint64_t lanes) {
  if (!has(row)) return;
  if (lanes == ~0ull)
    *rows_[row] = Row();
  else
    for (uint64_t rest = lanes; rest; rest &= rest - 1) rows_[row]->lane[__builtin_ctzll(rest)] = WordShadow();
}

FloatArguments float_arguments(const LaunchRequest& request) {
  FloatArguments found;
  for (const Parameter& parameter : request.kernel->parameters) {
    if (parameter.pointer || parameter.number.kind != NumberKind::kFloat || parameter.size != 4) continue;
    uint32_t bits;
    std::memcpy(&bits, request.arguments[parameter.index], sizeof bits);
    found.bits.emplace_back(bits, parameter.index);
  }
  return found;
}

void WaveShadow::begin(const FloatArguments* arguments, const machine::Program* program) {
  registers_.clear();
  arguments_ = arguments;
  program_ = program;
}

void WaveShadow::request(machine::Wave& wave, Instruction& i, machine::Space space, const machine::LaneAddresses& lanes,
                         uint32_t bytes) {
  requests_.push_back({space, lanes});
  if (others_) others_->request(wave, i, space, lanes, bytes);
  if (i.access == machine::Access::kAtomic) before_atomic(wave, i, requests_.back());
}

void WaveShadow::order(machine::Wave& wave, machine::Order what, bool wide) {
  if (others_) others_->order(wave, what, wide);
}

void WaveShadow::lose(const Instruction& i) { __simt_shadow_lose(uint32_t(&i - program_->instructions().data())); }

void WaveShadow::before(machine::Wave& wave, Instruction& i) {
  facts_ = &facts_of(i);
  plan_ = nullptr;
  moved_.clear();
  exchanged_ = 0;
  mask_ = wave.exec();
  if (facts_->reaches_memory) {
    requests_.clear();
    held_.clear();
    sums_.clear();
    others_ = wave.observer;
    wave.observer = this;
    return;
  }
  if (facts_->scalar) return;
  if (i.format == Format::kVopc) return compare(wave, i);
  if (!facts_->lane_operation) return;
  plan_ = facts_->plan;
  if (!plan_) return before_move(wave, i);
  if (plan_->op == NumberOp::kCompare) return compare(wave, i);
  if (plan_->op == NumberOp::kMatrix) return before_matrix(wave, i);
  mask_ = machine::written_lanes(wave, i);
  before_number(wave, i);
}

void WaveShadow::after(machine::Wave& wave, Instruction& i) {
  if (facts_->reaches_memory) {
    wave.observer = others_;
    return after_memory(wave, i);
  }
  if (facts_->scalar) {
    WordShadow copied[2];
    for (uint32_t n = 0; facts_->scalar_move && n < 2; ++n)
      copied[n] = registers_.at(RegisterShadows::kScalars + i.source[0].code + n, 0);
    for (uint32_t n = 0; n < facts_->scalars && i.scalar_destination + n < 128u; ++n) {
      registers_.drop(RegisterShadows::kScalars + i.scalar_destination + n, 1);
      if (facts_->scalar_move) registers_.set(RegisterShadows::kScalars + i.scalar_destination + n, 0, copied[n]);
    }
    return;
  }
  if (plan_ && plan_->op == NumberOp::kCompare) return;
  if (plan_ && plan_->op == NumberOp::kMatrix) return after_matrix(wave, i);
  if (plan_) return after_number(wave, i);
  if (facts_->lane_operation) after_move(wave, i);
}

// The rows of the operands that have shadows at all.
void WaveShadow::find_rows(machine::Wave& wave, const Instruction& i) {
  rows_.clear();
  calculated_ = false;
  taken_count_ = 0;
  for (uint32_t n = 0; n < kMost && rows_.size() + 2 <= kMostRows; ++n) {
    if (!is_register(i, n) || !is_data(i, *facts_, n)) continue;
    const uint32_t row = row_of(i, *facts_, n);
    for (uint32_t k = 0; k < (facts_->accumulator_move ? 1u : 2u); ++k)
      if (row + k < RegisterShadows::kRows && registers_.has(row + k)) rows_.push_back(row + k);
    if (row >= RegisterShadows::kScalars || !registers_.has(row)) continue;
    std::memcpy(before_[taken_count_], wave.v(row), sizeof before_[0]);
    for (uint32_t lane = 0; lane < kWave; ++lane) taken_[taken_count_][lane] = registers_.at(row, lane);
    ++taken_count_;
  }
  if ((facts_->swaps || facts_->keeps_part) && registers_.has(i.destination)) rows_.push_back(i.destination);
}

namespace {

// Whose bits are the ones there: what other instructions have left in a register has no shadow. Vector comparisons write
// scalar registers without a look at what went with them.
struct Fitting {
  bool low, high;
};
Fitting fitting(const WordShadow& have, uint32_t word) {
  const bool whole = have.whole.word && uint32_t(have.whole.word) == word;
  return {whole || (have.half[0].word && uint16_t(have.half[0].word) == uint16_t(word)),
          whole || (have.half[1].word && uint16_t(have.half[1].word) == word >> 16)};
}

}  // namespace

void WaveShadow::put_marks(machine::Wave& wave, uint16_t base) {
  for (uint32_t n = 0; n < rows_.size(); ++n)
    for (uint32_t lane = 0; lane < (rows_[n] < RegisterShadows::kScalars ? kWave : 1u); ++lane) {
      const WordShadow& have = registers_.at(rows_[n], lane);
      uint32_t& word = word_of(wave, rows_[n], lane);
      const Fitting fits = fitting(have, word);
      if (!fits.low && !fits.high) continue;
      calculated_ |= (mask_ >> lane & 1 || rows_[n] >= RegisterShadows::kScalars) && is_calculated(have);
      if (fits.low) word = (word & 0xFFFF0000u) | mark(base, n, 0, lane);
      if (fits.high) word = (word & 0xFFFF) | uint32_t(mark(base, n, 1, lane)) << 16;
    }
}

void WaveShadow::find_marks(machine::Wave& wave, uint16_t base, bool first) {
  for (Moved& moved : moved_)
    for (uint32_t lane = 0; lane < (moved.row < RegisterShadows::kScalars ? kWave : 1u); ++lane)
      for (uint32_t half = 0; half < 2; ++half) {
        const auto found = uint16_t(word_of(wave, moved.row, lane) >> 16 * half);
        const auto offset = uint16_t(found - base);
        const bool marked = offset < rows_.size() * kMarksOfARow;
        uint16_t& from = moved.half[lane][half];
        if (first)
          from = marked ? uint16_t(offset + 1) : 0;
        else if (!marked || from != offset + 1)
          from = 0;
      }
}

// What stood where the marks are found.
void WaveShadow::follow_marks() {
  const auto origin = [&](uint16_t from) -> const WordShadow& {
    return registers_.at(rows_[(from - 1u) / kMarksOfARow], (from - 1u) % kWave);
  };
  const auto half_there = [](uint16_t from) { return (from - 1u) % kMarksOfARow / kWave; };
  for (Moved& moved : moved_)
    for (uint32_t lane = 0; lane < kWave; ++lane) {
      const uint16_t low = moved.half[lane][0], high = moved.half[lane][1];
      if (low && high == low + kWave && half_there(low) == 0) {
        moved.shadow[lane] = origin(low);
        continue;
      }
      for (const uint32_t half : {0u, 1u}) {
        const uint16_t from = moved.half[lane][half];
        if (from) moved.shadow[lane].half[half] = half_of(origin(from), half_there(from));
      }
    }
}

// An instruction without a law is run twice on marks in place of what has a shadow.
void WaveShadow::before_move(machine::Wave& wave, Instruction& i) {
  if (facts_->writes_lane) mask_ = ~0ull;
  if (facts_->exclusive_or) before_exchange(wave, i);
  find_rows(wave, i);
  if (rows_.empty()) return;
  const std::vector<uint32_t>& written = facts_->rows;
  std::vector<uint32_t> touched = rows_;
  touched.insert(touched.end(), written.begin(), written.end());
  std::vector<std::array<uint32_t, kWave>> saved(touched.size());
  uint32_t scalars[128];
  std::memcpy(scalars, wave.s, sizeof scalars);
  for (size_t n = 0; n < touched.size(); ++n)
    if (touched[n] < RegisterShadows::kScalars) std::memcpy(saved[n].data(), wave.v(touched[n]), sizeof saved[n]);
  for (const uint32_t row : written) moved_.emplace_back().row = row;
  for (const uint16_t base : {kFirstMarks, kSecondMarks}) {
    put_marks(wave, base);
    if (machine::tried(wave, i)) find_marks(wave, base, base == kFirstMarks);
    for (size_t n = 0; n < touched.size(); ++n)
      if (touched[n] < RegisterShadows::kScalars) std::memcpy(wave.v(touched[n]), saved[n].data(), sizeof saved[n]);
    std::memcpy(wave.s, scalars, sizeof scalars);
  }
  follow_marks();
}

void WaveShadow::after_move(machine::Wave& wave, const Instruction& i) {
  for (const uint32_t row : facts_->rows) registers_.drop(row, row < RegisterShadows::kScalars ? mask_ : 1);
  bool carried = false;
  for (const Moved& moved : moved_)
    for (uint32_t lane = 0; lane < (moved.row < RegisterShadows::kScalars ? kWave : 1u); ++lane) {
      if (moved.row < RegisterShadows::kScalars && !(mask_ >> lane & 1)) continue;
      carried |= !moved.shadow[lane].empty();
      registers_.set(moved.row, lane, moved.shadow[lane]);
    }
  if (exchanged_) after_exchange(i);
  if (moved_.empty()) return;
  if (!calculated_)
    change_signs(wave, moved_.front().row);
  else if (!carried && !changes_little(wave, moved_.front().row))
    lose(i);
}

// Of what no kernel has calculated: an integer instruction that changes a sign leaves the number what it was but for that.
void WaveShadow::change_signs(machine::Wave& wave, uint32_t row) {
  if (row >= RegisterShadows::kScalars) return;
  for (uint64_t rest = mask_ & ~exchanged_; rest; rest &= rest - 1) {
    const auto lane = uint32_t(__builtin_ctzll(rest));
    const uint32_t now = wave.v(row)[lane];
    const WordShadow& moved = registers_.at(row, lane);
    if (moved.whole.word || (moved.half[0].word && moved.half[1].word)) continue;
    for (uint32_t n = 0; n < taken_count_; ++n) {
      WordShadow becomes;
      becomes.whole = signed_unseen(taken_[n][lane].whole, now);
      if (becomes.whole.word) registers_.set(row, lane, becomes);
    }
  }
}

// Signs and neighbours of a float, and its nearest bfloat, as integer instructions make them.
bool WaveShadow::changes_little(machine::Wave& wave, uint32_t row) {
  if (row >= RegisterShadows::kScalars) return false;
  for (uint64_t rest = mask_ & ~exchanged_; rest; rest &= rest - 1) {
    const auto lane = uint32_t(__builtin_ctzll(rest));
    const uint32_t now = wave.v(row)[lane];
    bool explained = now <= 1;  // a bit of it
    for (uint32_t n = 0; n < taken_count_ && !explained; ++n) {
      const WordShadow& had = taken_[n][lane];
      Shadow exact;
      const uint32_t was = before_[n][lane];
      if (!had.whole.word || !known_shadow(had.whole, was, ShadowKind::kFloat, &exact)) continue;
      const bool flipped = now == (was ^ kSign) || now == (was & ~kSign);
      explained = flipped || now == was || now - was == 1 || was - now == 1 || now >> 16 == as_bfloat(was);
      WordShadow becomes;
      if (now >> 16 == as_bfloat(was) && now != was) {
        if (__simt_shadow.bfloat) becomes.half[1] = record_of(exact, now >> 16, ShadowKind::kBfloat);
      } else if (explained) {
        becomes.whole = record_of(flipped && now != was ? negative_shadow(exact) : exact, now, ShadowKind::kFloat);
      }
      if (explained) registers_.set(row, lane, becomes);
    }
    bool had_any = false;
    for (uint32_t n = 0; n < taken_count_; ++n) had_any |= is_calculated(taken_[n][lane]);
    if (!explained && had_any) return false;
  }
  return true;
}

}  // namespace simt
