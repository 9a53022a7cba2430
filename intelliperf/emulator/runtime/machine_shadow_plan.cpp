#include "machine_shadow_plan.h"

#include <cstring>
#include <map>
#include <string>
#include <unordered_map>

namespace simt {

using machine::Format;
using machine::Instruction;

namespace {

struct Known {
  NumberOp op;
  uint8_t sources;
};

const std::map<std::string, Known>& operations() {  // between "v_" and the type
  static const auto* const table = new std::map<std::string, Known>{{"add", {NumberOp::kAdd, 2}},
                                                                    {"sub", {NumberOp::kSubtract, 2}},
                                                                    {"subrev", {NumberOp::kSubtractReversed, 2}},
                                                                    {"mul", {NumberOp::kMultiply, 2}},
                                                                    {"mul_legacy", {NumberOp::kMultiply, 2}},
                                                                    {"fma", {NumberOp::kFused, 3}},
                                                                    {"fmac", {NumberOp::kFused, 3}},
                                                                    {"mac", {NumberOp::kFused, 3}},
                                                                    {"mad", {NumberOp::kFused, 3}},
                                                                    {"mad_legacy", {NumberOp::kFused, 3}},
                                                                    {"fmamk", {NumberOp::kFused, 3}},
                                                                    {"fmaak", {NumberOp::kFused, 3}},
                                                                    {"madmk", {NumberOp::kFused, 3}},
                                                                    {"madak", {NumberOp::kFused, 3}},
                                                                    {"min", {NumberOp::kLeast, 2}},
                                                                    {"max", {NumberOp::kGreatest, 2}},
                                                                    {"min3", {NumberOp::kLeastOf3, 3}},
                                                                    {"max3", {NumberOp::kGreatestOf3, 3}},
                                                                    {"minimum3", {NumberOp::kLeastOf3, 3}},
                                                                    {"maximum3", {NumberOp::kGreatestOf3, 3}},
                                                                    {"med3", {NumberOp::kMiddle, 3}},
                                                                    {"rcp", {NumberOp::kReciprocal, 1}},
                                                                    {"rcp_iflag", {NumberOp::kReciprocal, 1}},
                                                                    {"rsq", {NumberOp::kReciprocalRoot, 1}},
                                                                    {"sqrt", {NumberOp::kRoot, 1}},
                                                                    {"exp", {NumberOp::kExponential, 1}},
                                                                    {"exp_legacy", {NumberOp::kExponential, 1}},
                                                                    {"log", {NumberOp::kLogarithm, 1}},
                                                                    {"log_legacy", {NumberOp::kLogarithm, 1}},
                                                                    {"sin", {NumberOp::kSine, 1}},
                                                                    {"cos", {NumberOp::kCosine, 1}},
                                                                    {"ldexp", {NumberOp::kScale, 1}},
                                                                    {"fract", {NumberOp::kFraction, 1}},
                                                                    {"trunc", {NumberOp::kWhole, 1}},
                                                                    {"ceil", {NumberOp::kWhole, 1}},
                                                                    {"rndne", {NumberOp::kWhole, 1}},
                                                                    {"floor", {NumberOp::kWhole, 1}},
                                                                    {"frexp_mant", {NumberOp::kMantissa, 1}},
                                                                    {"div_scale", {NumberOp::kDivisionScale, 1}},
                                                                    {"div_fmas", {NumberOp::kDivisionFused, 3}},
                                                                    {"div_fixup", {NumberOp::kDivisionFixed, 3}}};
  return *table;
}

const std::map<std::string, ShadowKind>& kinds() {
  static const auto* const table = new std::map<std::string, ShadowKind>{
      {"f32", ShadowKind::kFloat}, {"f64", ShadowKind::kDouble}, {"f16", ShadowKind::kHalf}};
  return *table;
}

std::string name_of(const Instruction& i) { return i.text.substr(0, i.text.find(' ')); }

// "v_cvt_f16_f32" and its like.
bool conversion(const std::string& name, NumberPlan& plan) {
  if (name.compare(0, 6, "v_cvt_") != 0) return false;
  if (name == "v_cvt_pkrtz_f16_f32" || name == "v_cvt_pk_f16_f32") {
    plan = {NumberOp::kSame, 2, ShadowKind::kHalf, ShadowKind::kFloat, Layout::kPair};
    return true;
  }
  if (name == "v_cvt_pk_bf16_f32") {
    plan = {NumberOp::kSame, 2, ShadowKind::kBfloat, ShadowKind::kFloat, Layout::kPair};
    return true;
  }
  if (name == "v_cvt_f32_bf16") {
    plan = {NumberOp::kSame, 1, ShadowKind::kFloat, ShadowKind::kBfloat};
    return true;
  }
  const std::string rest = name.substr(6);
  const auto to = kinds().find(rest.substr(0, 3));
  if (to == kinds().end() || rest.size() < 5 || rest[3] != '_') return false;
  const auto from = kinds().find(rest.substr(4));
  plan.op = from == kinds().end() ? NumberOp::kInteger : NumberOp::kSame;
  plan.sources = from == kinds().end() ? 0 : 1;
  plan.to = to->second;
  plan.from = from == kinds().end() ? ShadowKind::kFloat : from->second;
  return true;
}

// What numbers of floating point only decide.
bool to_integer(const std::string& name, NumberPlan& plan) {
  for (const char* begin : {"v_cvt_i", "v_cvt_u", "v_cvt_rpi_i", "v_cvt_flr_i", "v_frexp_exp_i"}) {
    const auto kind = kinds().find(name.substr(name.rfind('_') + 1));
    if (name.compare(0, std::strlen(begin), begin) != 0 || kind == kinds().end()) continue;
    plan = {NumberOp::kToInteger, 1, kind->second, kind->second};
    return true;
  }
  return false;
}

bool parse(const std::string& name, NumberPlan& plan) {
  if (name.compare(0, 7, "v_mfma_") == 0) {
    plan.op = NumberOp::kMatrix;
    return true;
  }
  if (conversion(name, plan) || to_integer(name, plan)) return true;
  if (name == "v_dot2_f32_f16") {
    plan = {NumberOp::kDot2, 2, ShadowKind::kFloat, ShadowKind::kHalf, Layout::kOne};
    return true;
  }
  if (name == "v_fma_mix_f32" || name == "v_fma_mixlo_f16" || name == "v_fma_mixhi_f16") {
    const bool half = name.back() == '6';
    plan = {NumberOp::kFused, 3, half ? ShadowKind::kHalf : ShadowKind::kFloat, ShadowKind::kFloat, Layout::kMixed};
    return true;
  }
  const size_t last = name.rfind('_');
  const auto kind = kinds().find(name.substr(last + 1));
  if (kind == kinds().end() || name.compare(0, 2, "v_") != 0) return false;
  if (name.compare(0, 6, "v_cmp_") == 0 || name.compare(0, 7, "v_cmpx_") == 0) {
    plan.op = NumberOp::kCompare;
    plan.sources = name.find("_class_") == std::string::npos ? 2 : 0;
    plan.to = plan.from = kind->second;
    return true;
  }
  const bool packed = name.compare(0, 5, "v_pk_") == 0;
  const size_t first = packed ? 5 : 2;
  if (last <= first) return false;
  const std::string stem = name.substr(first, last - first);
  const auto found = operations().find(stem);
  if (found == operations().end()) return false;
  plan.op = found->second.op;
  plan.sources = found->second.sources;
  plan.to = plan.from = kind->second;
  if (packed) plan.layout = kind->second == ShadowKind::kHalf ? Layout::kPackedHalves : Layout::kPackedFloats;
  plan.accumulates = stem == "fmac" || stem == "mac";
  plan.literal_second = stem == "fmamk" || stem == "madmk";
  plan.literal_third = stem == "fmaak" || stem == "madak";
  return true;
}

bool writes_two(const std::string& name) {
  if (name.compare(0, 8, "v_pk_mov") == 0 || name.compare(0, 13, "v_cvt_pk_f32_") == 0 ||
      name.compare(0, 10, "v_mad_u64_") == 0 || name.compare(0, 10, "v_mad_i64_") == 0)
    return true;
  const bool by_first = name.compare(0, 6, "v_cvt_") == 0 || name.compare(0, 12, "v_frexp_exp_") == 0;
  return !by_first && name.size() > 3 && name.compare(name.size() - 2, 2, "64") == 0;
}

const NumberPlan* plan_of(const std::string& name) {
  static auto* const plans = new std::unordered_map<std::string, std::unique_ptr<NumberPlan>>;
  const auto [entry, fresh] = plans->try_emplace(name);
  NumberPlan plan;
  if (fresh && parse(name, plan)) entry->second = std::make_unique<NumberPlan>(plan);
  return entry->second.get();
}

bool begins(const Instruction& i, const char* name) { return i.text.compare(0, std::strlen(name), name) == 0; }

bool swaps(const Instruction& i) {
  return begins(i, "v_swap_b32") || begins(i, "v_permlane16_swap") || begins(i, "v_permlane32_swap");
}

// By the first type in the name: "s_ff1_i32_b64" writes one word, "s_and_saveexec_b64" two.
uint32_t written_scalars(const Instruction& i) {
  const std::string name = name_of(i);
  for (size_t at = name.find('_', 2); at != std::string::npos; at = name.find('_', at + 1))
    if (at + 3 < name.size() && std::strchr("bui", name[at + 1])) {
      if (name.compare(at + 2, 2, "32") == 0) return 1;
      if (name.compare(at + 2, 2, "64") == 0) return 2;
    }
  return begins(i, "s_movk_") || begins(i, "s_addk_") || begins(i, "s_mulk_") || begins(i, "s_cmovk_") ? 1 : 2;
}

std::vector<uint32_t> written_rows(const Instruction& i) {
  if (begins(i, "v_readlane") || begins(i, "v_readfirstlane")) return {RegisterShadows::kScalars + i.destination};
  if (begins(i, "v_accvgpr_read")) return {i.destination};
  if (begins(i, "v_accvgpr_")) return {i.destination % machine::kVectorRegisters + machine::kVectorRegisters};
  if (swaps(i)) return {i.destination, i.source[0].row()};
  if (begins(i, "v_cmp")) return {};
  if (writes_two(name_of(i))) return {i.destination, i.destination + 1u};
  return {i.destination};
}

bool is_lane_operation(const Instruction& i) {
  switch (i.format) {
    case Format::kVop1:
    case Format::kVop2:
    case Format::kVop3:
    case Format::kVop3p:
    case Format::kMfma:
      return true;
    default:
      return i.format == Format::kDs && i.access == machine::Access::kNone;
  }
}

bool is_scalar(const Instruction& i) {
  return i.format == Format::kSop1 || i.format == Format::kSop2 || i.format == Format::kSopk ||
         i.format == Format::kSmem;
}

bool keeps_part(const Instruction& i) {
  return i.dpp || (i.sdwa && i.destination_unused == 2) || begins(i, "v_writelane") || begins(i, "v_cvt_pk_fp8") ||
         begins(i, "v_cvt_pk_bf8") || (i.format == Format::kVop3 && (i.op_sel & 8));
}

Facts make_facts(const Instruction& i) {
  Facts facts;
  facts.plan = plan_of(name_of(i));
  facts.reaches_memory = i.access != machine::Access::kNone || i.scalar_bytes != 0;
  facts.scalar = is_scalar(i);
  facts.lane_operation = is_lane_operation(i);
  if (facts.lane_operation) facts.rows = written_rows(i);
  if (facts.scalar) facts.scalars = written_scalars(i);
  facts.exclusive_or = begins(i, "v_xor_b32");
  facts.writes_lane = begins(i, "v_writelane");
  facts.swaps = swaps(i);
  facts.swizzles = begins(i, "ds_swizzle");
  facts.accumulator_move = begins(i, "v_accvgpr_");
  facts.accumulator_write = begins(i, "v_accvgpr_write");
  facts.keeps_part = keeps_part(i);
  facts.mixed_high = begins(i, "v_fma_mixhi");
  facts.exponent = begins(i, "v_frexp");
  facts.scalar_move = begins(i, "s_mov_b") && i.source[0].code < machine::kFirstConstant;
  return facts;
}

}  // namespace

const Facts& facts_of(Instruction& i) {
  if (!i.followed) i.followed = std::make_shared<const Facts>(make_facts(i));
  return *static_cast<const Facts*>(i.followed.get());
}

}  // namespace simt
