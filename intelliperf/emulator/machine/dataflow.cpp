#include "dataflow.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <string>
#include <unordered_map>

#include "matrix.h"

namespace machine {
namespace {

constexpr uint16_t kAllLanes = 0xFFFF, kSccCode = 253, kNoScalarAddress = 0x7F;

bool begins(const Instruction& i, const char* name) { return i.text.compare(0, std::strlen(name), name) == 0; }

bool begins_any(const Instruction& i, std::initializer_list<const char*> names) {
  return std::any_of(names.begin(), names.end(), [&](const char* name) { return begins(i, name); });
}

std::string name_of(const Instruction& i) { return i.text.substr(0, i.text.find(' ')); }

bool has(const std::string& name, const char* part) { return name.find(part) != std::string::npos; }

uint16_t words_of(uint32_t bytes) { return uint16_t((bytes + 3) / 4); }

// Vector registers with the address of each lane.
uint16_t address_words(const Instruction& i) {
  if (i.format == Format::kDs) return 1;
  if (i.format == Format::kBuffer) return uint16_t((i.op_sel & 1) + (i.op_sel >> 1 & 1));  // offset, index
  if (i.space == Space::kScratch) return i.vector_address ? 1 : 0;
  return i.op_sel != 0 && i.source[2].code != kNoScalarAddress ? 1 : 2;
}

// Of the instructions that take a bit of each lane from a pair of scalar registers.
bool takes_mask(const Instruction& i) { return begins_any(i, {"v_cndmask", "v_addc_co", "v_subb_co", "v_subbrev_co"}); }
// A half of its destination, as operands.cpp does.
bool keeps_half(const Instruction& i) {
  if (has(name_of(i), "mixlo") || has(name_of(i), "mixhi")) return true;
  if (begins_any(i, {"v_cvt_pk_fp8", "v_cvt_pk_bf8"})) return true;
  const bool narrow = has(name_of(i), "16") && i.format == Format::kVop3;
  return narrow && ((i.op_sel & 8) || begins_any(i, {"v_fma_", "v_mad_", "v_min3", "v_max3", "v_med3", "v_div_fixup"}));
}

bool gives_mask(const Instruction& i) {
  return begins_any(i, {"v_add_co", "v_addc_co", "v_sub_co", "v_subb_co", "v_subrev_co", "v_subbrev_co", "v_div_scale",
                        "v_mad_u64_u32", "v_mad_i64_i32"});
}

}  // namespace

Dataflow::Dataflow(const Program& program) : instructions_(program.instructions()) {
  leads_.assign(instructions_.size() + 1, false);
  flows_.reserve(instructions_.size());
  for (const Instruction& i : instructions_) {
    flows_.push_back(flow_of(i));
    const Flow& flow = flows_.back();
    if (flow.role != Role::kBranch && flow.role != Role::kDecides && flow.role != Role::kSkips) continue;
    leads_[flow.target] = true;
    leads_[flows_.size()] = true;
  }
}

uint32_t Dataflow::number_of(uint64_t address) const {
  const auto at = std::lower_bound(instructions_.begin(), instructions_.end(), address,
                                   [](const Instruction& i, uint64_t wanted) { return i.address < wanted; });
  return uint32_t(at - instructions_.begin());
}

Dataflow::Flow Dataflow::flow_of(const Instruction& i) const {
  Flow flow;
  switch (i.format) {
    case Format::kSop1:
    case Format::kSop2:
    case Format::kSopk:
    case Format::kSopc:
    case Format::kSopp:
    case Format::kSmem:
      read_scalar(i, flow);
      break;
    case Format::kDs:
    case Format::kFlat:
    case Format::kBuffer:
      read_memory(i, flow);
      break;
    default:
      if (i.format == Format::kMfma || begins(i, "v_accvgpr_"))
        read_matrix(i, flow);
      else
        read_vector(i, flow);
      break;
  }
  return flow;
}

void Dataflow::read_vector(const Instruction& i, Flow& flow) const {
  const std::string name = name_of(i);
  flow.vector = true;
  const bool wide = has(name, "64") || has(name, "qsad_pk") || begins_any(i, {"v_pk_mov", "v_cvt_pk_f32_"}) ||
                    (begins(i, "v_pk_") && has(name, "f32"));
  const uint16_t count = wide ? 2 : 1;
  const bool mask = takes_mask(i);
  const bool two = i.format == Format::kVopc || (i.format == Format::kVop2 && !mask);  // VCC stands for the third
  const uint32_t sources = i.format == Format::kVop1 ? 1 : two ? 2 : 3;
  for (uint32_t n = 0; n < sources; ++n) {
    const uint16_t code = i.source[n].code;
    if (code >= kFirstVector)
      flow.reads.push_back({uint16_t(i.source[n].row()), count});
    else if (code < kFirstConstant)
      flow.reads.push_back({uint16_t(kScalars + code), uint16_t(mask && n == 2 ? 2 : count)});
  }
  if (begins(i, "v_div_fmas")) flow.reads.push_back({kScalars + kVcc, 2});
  if (begins_any(i, {"v_fmac", "v_mac_", "v_pk_fmac", "v_dot2c", "v_dot4c", "v_dot8c"}))
    flow.reads.push_back({i.destination, count});
  flow.keeps = i.dpp || (i.sdwa && i.destination_unused == 2) || begins(i, "v_writelane") || keeps_half(i);
  if (begins(i, "v_cmp")) {
    flow.writes.push_back({uint16_t(kScalars + (i.format == Format::kVop3 ? i.destination : i.scalar_destination)), 2});
    flow.keeps = false;
    if (!begins(i, "v_cmpx")) return;
    flow.role = Role::kNarrowsExec;
    flow.writes.push_back({kScalars + kExec, 2});
    return;
  }
  if (begins_any(i, {"v_readlane", "v_readfirstlane"})) {
    flow.writes.push_back({uint16_t(kScalars + i.destination), 1});
    return;
  }
  flow.writes.push_back({i.destination, count});
  if (wide && begins_any(i, {"v_cvt_", "v_frexp_exp"})) flow.keeps = true;  // one side alone may be wide
  if (begins_any(i, {"v_swap", "v_permlane16_swap", "v_permlane32_swap"})) {
    flow.writes.push_back({uint16_t(i.source[0].row()), 1});
    flow.reads.push_back({i.destination, 1});
  }
  if (gives_mask(i)) flow.writes.push_back({uint16_t(kScalars + i.scalar_destination), 2});
}

void Dataflow::read_matrix(const Instruction& i, Flow& flow) const {
  if (!i.passes) {  // moves between accumulators and other registers
    flow.vector = true;
    const bool reads = !begins(i, "v_accvgpr_write"), writes = !begins(i, "v_accvgpr_read");
    const uint16_t code = i.source[0].code;
    if (code >= kFirstVector)
      flow.reads.push_back({uint16_t(i.source[0].row() % kVectorRegisters + (reads ? kVectorRegisters : 0)), 1});
    else if (code < kFirstConstant)
      flow.reads.push_back({uint16_t(kScalars + code), 1});
    flow.writes.push_back({uint16_t(i.destination % kVectorRegisters + (writes ? kVectorRegisters : 0)), 1});
    return;
  }
  const Shape& shape = *static_cast<const Shape*>(i.semantics);
  const uint16_t wide = shape.element == Element::kDouble ? 2 : 1;
  const auto results = uint16_t(std::max(1, shape.side * shape.side * shape.blocks / int(kWave)) * wide);
  for (uint32_t n = 0; n < 3; ++n)
    if (i.source[n].is_vector())
      flow.reads.push_back({uint16_t(i.source[n].row()), n == 2 ? results : uint16_t(shape.together * wide)});
  flow.writes.push_back({i.destination, results});  // of all lanes, whatever EXEC says
}

void Dataflow::read_memory(const Instruction& i, Flow& flow) const {
  flow.vector = true;
  const bool lds = i.format == Format::kDs, scratch = i.space == Space::kScratch;
  const uint16_t words = words_of(i.access_bytes ? i.access_bytes : 4);
  flow.reads.push_back({uint16_t(i.source[0].row()), address_words(i)});
  if (i.format == Format::kBuffer) flow.reads.push_back({uint16_t(kScalars + i.scalar_destination), 4});
  const uint16_t scalar = i.source[2].code;
  if (!lds && scalar < kFirstConstant && scalar != kNoScalarAddress)
    flow.reads.push_back({uint16_t(kScalars + scalar), uint16_t(i.format == Format::kFlat ? 2 : 1)});
  const bool moves = lds && (has(name_of(i), "permute") || has(name_of(i), "swizzle"));  // between lanes
  if (i.access == Access::kStore || i.access == Access::kAtomic || moves) {
    const auto twice = uint16_t(i.access == Access::kAtomic ? 2 * words : words);  // to compare and swap
    flow.reads.push_back({uint16_t(i.source[1].row()), twice});
    if (lds && !moves) flow.reads.push_back({uint16_t(i.source[2].row()), twice});
  }
  flow.effect = !scratch && (i.access == Access::kStore || i.access == Access::kAtomic || i.to_lds);
  if (scratch && i.access == Access::kLoad) flow.reads.push_back({kScratch, 1});
  if (scratch && i.access == Access::kStore) {
    flow.writes.push_back({kScratch, 1});
    flow.keeps = true;
    return;
  }
  const bool returns =
      i.access == Access::kLoad || moves || (i.access == Access::kAtomic && (i.glc || has(name_of(i), "_rtn")));
  if (i.to_lds) flow.reads.push_back({kScalars + kM0, 1});
  if (!returns || i.to_lds) return;
  flow.writes.push_back({i.destination, words});
  flow.keeps = has(name_of(i), "d16");
}

void Dataflow::read_scalar(const Instruction& i, Flow& flow) const {
  const std::string name = name_of(i);
  if (i.format == Format::kSopp) {
    const bool branch = begins(i, "s_branch");
    if (branch || begins(i, "s_cbranch")) {
      flow.target = number_of(i.address + i.bytes + uint64_t(int64_t(i.immediate) * 4));
      flow.role = branch ? Role::kBranch : begins(i, "s_cbranch_exec") ? Role::kSkips : Role::kDecides;
      if (begins(i, "s_cbranch_scc")) flow.reads.push_back({kScc, 1});
      if (begins(i, "s_cbranch_vcc")) flow.reads.push_back({kScalars + kVcc, 2});
      if (flow.role == Role::kDecides && flow.reads.empty()) flow.role = Role::kLeaves;
    }
    if (begins_any(i, {"s_endpgm", "s_trap"})) flow.role = Role::kEnds;
    return;
  }
  if (begins_any(i, {"s_setpc", "s_swappc", "s_call", "s_rfe", "s_store", "s_atomic", "s_set_gpr_idx_on", "s_movrel",
                     "s_cbranch", "s_setreg"})) {
    flow.role = Role::kLeaves;
    return;
  }
  const uint16_t count = has(name, "64") ? 2 : 1;
  const auto read = [&](uint16_t code, uint16_t words) {
    if (code < kFirstConstant) flow.reads.push_back({uint16_t(kScalars + code), words});
    if (code == kSccCode) flow.reads.push_back({kScc, 1});
  };
  if (i.format == Format::kSmem) {
    read(i.source[0].code, 2);
    read(i.source[1].code, 1);
    flow.writes.push_back(
        {uint16_t(kScalars + i.scalar_destination), i.scalar_bytes ? words_of(i.scalar_bytes) : count});
    return;
  }
  if (i.format != Format::kSopk) read(i.source[0].code, count);
  if (i.format == Format::kSop2 || i.format == Format::kSopc) read(i.source[1].code, count);
  const bool compares = i.format == Format::kSopc || begins(i, "s_cmpk");
  if (i.format == Format::kSopk && !begins_any(i, {"s_movk", "s_getreg"})) read(i.scalar_destination, 1);
  if (begins_any(i, {"s_cselect", "s_cmov", "s_addc", "s_subb"})) flow.reads.push_back({kScc, 1});
  flow.keeps = begins_any(i, {"s_cmov", "s_bitset"});
  if (!compares) flow.writes.push_back({uint16_t(kScalars + i.scalar_destination), count});
  if (compares) flow.writes.push_back({kScc, 1});
  read_exec(i, flow);
}

// How compilers switch lanes off and on again.
void Dataflow::read_exec(const Instruction& i, Flow& flow) const {
  const uint16_t to = i.scalar_destination, a = i.source[0].code, b = i.source[1].code;
  const bool compares = i.format == Format::kSopc || i.format == Format::kSopk;
  if (has(name_of(i), "saveexec")) {
    flow.role = Role::kSavesExec;
    flow.pair = to;
    flow.reads.push_back({kScalars + kExec, 2});
  } else if (!compares && to == kExec && begins(i, "s_mov_b64")) {
    flow.role = Role::kSetsExec;
    flow.pair = a < kFirstConstant ? a : kAllLanes;
    if (a >= kFirstConstant && a != 193) flow.role = Role::kNarrowsExec;  // 193: minus one
  } else if (!compares && to == kExec && begins(i, "s_or_b64") && (a == kExec || b == kExec)) {
    flow.role = Role::kJoinsExec;
    flow.pair = a == kExec ? b : a;
  } else if (!compares && (to == kExec || to == kExec + 1)) {
    flow.role = Role::kNarrowsExec;
  } else if (!compares && a == kExec && begins(i, "s_mov_b64")) {
    flow.role = Role::kCopiesExec;
    flow.pair = to;
  }
}

bool Dataflow::any(const Marks& marks, const std::vector<Span>& spans) {
  for (const Span& span : spans)
    for (uint32_t n = span.first; n < span.first + span.count && n < kPlaces; ++n)
      if (marks.on[n]) return true;
  return false;
}

void Dataflow::set(Marks& marks, const Flow& flow, bool on) {
  const bool keeps = flow.keeps || (flow.vector && !marks.whole);
  for (const Span& span : flow.writes)
    for (uint32_t n = span.first; n < span.first + span.count && n < kPlaces; ++n) {
      const bool scalar = n >= kScalars && n < kScc;
      marks.on[n] = on || (marks.on[n] && (scalar ? flow.keeps : keeps));
      if (!scalar) continue;
      marks.holds_whole[n - kScalars] = false;
      if (n > kScalars) marks.holds_whole[n - kScalars - 1] = false;
    }
}

bool Dataflow::exec_on(const Marks& marks) { return marks.on[kScalars + kExec] || marks.on[kScalars + kExec + 1]; }

void Dataflow::save_exec(Marks& marks, const Flow& flow, bool on) {
  const bool was_whole = marks.whole;
  set(marks, flow, exec_on(marks));
  marks.holds_whole[flow.pair] = was_whole;
  marks.on[kScalars + kExec] = marks.on[kScalars + kExec + 1] = on;
  marks.whole = false;
}

// After what it writes was marked.
void Dataflow::change_exec(Marks& marks, const Flow& flow) {
  const auto pair_on = [&](uint16_t pair) {
    return pair < 127 && (marks.on[kScalars + pair] || marks.on[kScalars + pair + 1]);
  };
  const auto mark_exec = [&](bool on) { marks.on[kScalars + kExec] = marks.on[kScalars + kExec + 1] = on; };
  const bool holds = flow.pair < 127 && marks.holds_whole[flow.pair];
  switch (flow.role) {
    case Role::kCopiesExec:
      if (flow.pair < 127) marks.holds_whole[flow.pair] = marks.whole;
      break;
    case Role::kSetsExec:
      marks.whole = flow.pair == kAllLanes || holds;
      mark_exec(pair_on(flow.pair));
      break;
    case Role::kJoinsExec:  // the lanes that are on are among those of the pair, where it holds all
      mark_exec(pair_on(flow.pair) || (!holds && pair_on(kExec)));
      marks.whole = holds;
      break;
    case Role::kNarrowsExec:
      marks.whole = false;
      break;
    default:
      break;
  }
}

bool Dataflow::join(Marks& into, const Marks& from) {
  const Marks before = into;
  into.on |= from.on;
  into.whole &= from.whole;
  into.holds_whole &= from.holds_whole;
  return !(into == before);
}

bool Dataflow::follow(uint64_t entry, uint32_t load, std::vector<bool>& stores) const {
  std::unordered_map<uint32_t, Marks> known;
  std::deque<uint32_t> open;
  const auto go_to = [&](uint32_t number, const Marks& marks) {
    const auto [at, fresh] = known.try_emplace(number, marks);
    if (fresh || join(at->second, marks)) open.push_back(number);
  };
  go_to(number_of(entry), Marks());
  while (!open.empty()) {
    const uint32_t first = open.front();
    open.pop_front();
    Marks marks = known[first];
    for (uint32_t number = first; number < flows_.size(); ++number) {
      if (number != first && leads_[number]) {
        go_to(number, marks);
        break;
      }
      const Instruction& i = instructions_[number];
      const Flow& flow = flows_[number];
      if (flow.role == Role::kEnds) break;
      if (flow.role == Role::kLeaves) return false;
      const bool on = any(marks, flow.reads) || (flow.vector && exec_on(marks));
      if (flow.role == Role::kDecides && on) return false;
      if (flow.role == Role::kBranch || flow.role == Role::kDecides || flow.role == Role::kSkips) {
        go_to(flow.target, marks);
        if (flow.role != Role::kBranch) go_to(number + 1, marks);
        break;
      }
      if (flow.effect && on) {
        if (i.site == ~0u) return false;
        if (stores.size() <= i.site) stores.resize(i.site + 1);
        stores[i.site] = true;
      }
      const bool loads = i.site == load && i.access != Access::kStore;
      if (flow.role == Role::kSavesExec)
        save_exec(marks, flow, on);
      else
        set(marks, flow, on || loads);
      const bool sets_flag = i.format == Format::kSop1 || i.format == Format::kSop2 || i.format == Format::kSopk;
      if (sets_flag && on) marks.on[kScc] = true;
      change_exec(marks, flow);
    }
  }
  return true;
}

}  // namespace machine
