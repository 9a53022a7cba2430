#include "code_module.h"

#include <cstring>
#include <map>

#include "described.h"
#include "device_file.h"
#include "host_requests.h"
#include "launch.h"
#include "shadow.h"

namespace simt {
namespace {

using machine::Access;
using machine::Format;
using machine::Instruction;

std::string mnemonic(const Instruction& i) { return i.text.substr(0, i.text.find(' ')); }

bool begins(const std::string& text, const char* start) { return text.compare(0, std::strlen(start), start) == 0; }

bool is_barrier(const Instruction& i) { return i.format == Format::kSopp && begins(i.text, "s_barrier"); }

bool is_collective(const Instruction& i) {
  return i.format == Format::kDs &&
         (begins(i.text, "ds_bpermute") || begins(i.text, "ds_permute") || begins(i.text, "ds_swizzle"));
}

// Whether it goes to memory private to a thread: before gfx940 through the buffer that such a kernel is given in s[0:3].
bool in_scratch(const CodeKernel* kernel, const Instruction& i) {
  if (i.access == Access::kNone) return false;
  if (i.format != Format::kBuffer) return i.space == machine::Space::kScratch;
  return kernel && kernel->scratch_bytes && (kernel->descriptor->properties & 1) && i.scalar_destination == 0;
}

const CodeKernel* kernel_around(const CodeObject& code, uint64_t address) {
  for (const CodeKernel& kernel : code.kernels())
    if (address >= kernel.entry && address < kernel.end) return &kernel;
  return nullptr;
}

bool is_site(const CodeObject& code, const Instruction& i) {
  const bool memory = (i.access != Access::kNone && !in_scratch(kernel_around(code, i.address), i)) || i.scalar_bytes;
  return memory || is_barrier(i) || is_collective(i);
}

bool returns(const Instruction& i) {
  return i.glc || (i.format == Format::kDs && i.text.find("_rtn") != std::string::npos);
}

Site site_of(const Instruction& i) {
  Site site{};
  if (is_barrier(i))
    site.kind = uint16_t(SiteKind::kBarrier);
  else if (i.access == Access::kLoad || i.scalar_bytes)
    site.kind = uint16_t(SiteKind::kLoad);
  else if (i.access == Access::kStore)
    site.kind = uint16_t(SiteKind::kStore);
  else if (i.access == Access::kAtomic)
    site.kind = uint16_t(returns(i) ? SiteKind::kAtomic : SiteKind::kReduction);
  else
    site.kind = uint16_t(SiteKind::kCollective);
  if (i.access == Access::kAtomic && i.text.find("_f") != std::string::npos) site.flags |= kSiteFloat;
  if (i.text.find("cmpswap") != std::string::npos || i.text.find("cmpst") != std::string::npos)
    site.flags |= kSiteCompareExchange;
  const bool memory = i.format == Format::kFlat || i.format == Format::kBuffer;
  if (memory && i.access == Access::kLoad && (i.glc || i.system)) site.flags |= kSiteVolatile;
  if (memory && i.access == Access::kStore && i.access_bytes <= 8) site.order |= kSiteMaybeAtomic;
  site.bytes = i.scalar_bytes ? i.scalar_bytes : i.access_bytes / i.addresses;
  if (i.scalar_bytes) site.flags |= kSiteUniform;
  return site;
}

// All that are numbered for an instruction, in their order.
std::vector<Site> sites_at(const Instruction& i) {
  if (i.site == ~0u) return {};
  std::vector<Site> sites = {site_of(i)};
  if (i.lds_site == ~0u) return sites;
  Site store{};
  store.kind = uint16_t(SiteKind::kStore);
  store.bytes = sites.front().bytes;
  sites.push_back(store);
  return sites;
}

const char* kind_name(const Site& site) {
  static constexpr const char* kNames[] = {"load",        "store",   "atomic",     "reduction", "range_load",
                                           "range_store", "barrier", "collective", "call"};
  return kNames[site.kind];
}

bool ends_block(const Instruction& i) {
  if (i.format == Format::kSopp)
    return begins(i.text, "s_branch") || begins(i.text, "s_cbranch") || begins(i.text, "s_endpgm") || is_barrier(i);
  return begins(i.text, "s_setpc") || begins(i.text, "s_swappc") || begins(i.text, "s_call");
}

bool jumps(const Instruction& i) {
  return begins(i.text, "s_branch") || begins(i.text, "s_cbranch") || begins(i.text, "s_call");
}

// What becomes of the result, machine code tells less plainly than IR: any that is used may tell how much there is to do.
bool may_draw(const Site& site) {
  return SiteKind(site.kind) == SiteKind::kAtomic && !(site.flags & (kSiteCompareExchange | kSiteFloat));
}

bool synchronises(const Site& site) {
  const auto kind = SiteKind(site.kind);
  return kind == SiteKind::kAtomic || kind == SiteKind::kReduction || (site.flags & kSiteVolatile);
}

bool changes_lanes(const Instruction& i) {
  if (begins(i.text, "v_cmpx")) return true;
  const bool scalar = i.format == Format::kSop1 || i.format == Format::kSop2;
  const bool to_exec = i.scalar_destination == machine::kExec || i.text.find("saveexec") != std::string::npos;
  return scalar && to_exec;
}

// What kind of work an instruction is, by `time_model.cpp`'s names.
const char* work_of(const Instruction& i) {
  switch (i.format) {
    case Format::kSop1:
    case Format::kSop2:
    case Format::kSopk:
    case Format::kSopc:
    case Format::kSmem:
      return "scalar";
    case Format::kSopp:
      return ends_block(i) && !is_barrier(i) ? "branch" : "none";
    case Format::kDs:
    case Format::kFlat:
    case Format::kBuffer:
      return "memory";
    case Format::kMfma:
      return begins(i.text, "v_mfma") ? "matrix" : "vector";
    default:
      break;
  }
  for (const char* slow : {"v_rcp", "v_sqrt", "v_rsq", "v_exp", "v_log", "v_sin", "v_cos"})
    if (begins(i.text, slow)) return "special";
  return mnemonic(i).find("f64") != std::string::npos ? "f64" : "vector";
}

// Where basic blocks begin: at what is jumped to, after a jump, and where the set of active lanes has changed.
void number(CodeObject& code, uint32_t* sites, uint32_t* blocks) {
  auto& instructions = code.program().instructions();
  std::map<uint64_t, bool> leads;
  for (const CodeKernel& kernel : code.kernels()) leads[kernel.entry] = true;
  for (const Instruction& i : instructions) {
    const uint64_t next = i.address + i.bytes;
    if (ends_block(i) || changes_lanes(i)) leads[next] = true;
    if (jumps(i)) leads[next + uint64_t(int64_t(i.immediate) * 4)] = true;
  }
  for (Instruction& i : instructions) {
    i.site = is_site(code, i) ? (*sites)++ : ~0u;
    i.lds_site = i.to_lds && i.site != ~0u ? (*sites)++ : ~0u;
    i.block = leads.count(i.address) || &i == &instructions.front() ? (*blocks)++ : ~0u;
  }
}

std::string function_at(const CodeObject& code, uint64_t address) {
  const CodeKernel* kernel = kernel_around(code, address);
  return kernel ? kernel->name : std::string();
}

void write_sites(JsonWriter& json, CodeObject& code) {
  json.key("sites").begin_array();
  for (const Instruction& i : code.program().instructions())
    for (const Site& site : sites_at(i)) {
      json.begin_object().key("kind").string(kind_name(site)).key("bytes").number(site.bytes);
      json.key("function").string(function_at(code, i.address)).key("operation").string(mnemonic(i));
      json.key("flags").number(site.flags).key("address").number(i.address - code.base());
      json.key("instruction").string(i.text).key("locations").begin_array().end_array().end_object();
    }
  json.end_array();
}

struct CodeBlock {
  uint64_t address = 0;  // 0: none yet
  uint32_t passes = 0;
  std::map<std::string, uint32_t> mix;
};

void write_block(JsonWriter& json, const CodeObject& code, const CodeBlock& block) {
  json.begin_object().key("function").string(function_at(code, block.address)).key("mix").begin_object();
  for (const auto& [kind, count] : block.mix) json.key(kind).number(count);
  json.end_object().key("site").null().key("location").null().key("passes").number(block.passes);
  json.key("address").number(block.address - code.base()).end_object();
}

void write_blocks(JsonWriter& json, CodeObject& code) {
  json.key("locations").begin_array().end_array().key("blocks").begin_array();
  CodeBlock block;
  for (const Instruction& i : code.program().instructions()) {
    if (i.block != ~0u && block.address) write_block(json, code, block);
    if (i.block != ~0u) block = CodeBlock{i.address, 0, {}};
    block.passes += i.passes;
    if (std::strcmp(work_of(i), "none") != 0) ++block.mix[work_of(i)];
  }
  if (block.address) write_block(json, code, block);
  json.end_array();
}

uint32_t instructions_of(const CodeObject& code, const CodeKernel& kernel) {
  uint32_t count = 0;
  for (const Instruction& i : code.program().instructions())
    count += i.address >= kernel.entry && i.address < kernel.end;
  return count;
}

// Loads and stores of memory private to a thread. Spilled registers have their place in a frame, arrays are indexed.
void write_local(JsonWriter& json, const CodeObject& code, const CodeKernel& kernel) {
  json.key("local").begin_array();
  uint32_t block = 0;
  for (const Instruction& i : code.program().instructions()) {
    if (i.block != ~0u) block = i.block;
    if (i.address < kernel.entry || i.address >= kernel.end || !in_scratch(&kernel, i)) continue;
    const bool load = i.access == Access::kLoad;
    const bool indexed = i.format == Format::kBuffer ? i.op_sel != 0 : i.vector_address;
    json.begin_object().key("chain").begin_array().end_array().key("address").number(i.address - code.base());
    json.key("blocks").begin_array().number(block).end_array().key("loads").number(load).key("stores").number(!load);
    json.key("load_bytes").number(load ? i.access_bytes : 0).key("store_bytes").number(load ? 0 : i.access_bytes);
    json.key("spills").number(kernel.vgpr_spills && !indexed).end_object();
  }
  json.end_array();
}

void write_facts(JsonWriter& json, const CodeObject& code, const CodeKernel& kernel) {
  json.key("static").begin_object().key("architecture").string(code.architecture());
  json.key("vgprs").number(kernel.vgprs).key("agprs").number(kernel.agprs).key("sgprs").number(kernel.sgprs);
  json.key("lds_bytes").number(kernel.lds_bytes).key("scratch_bytes").number(kernel.scratch_bytes);
  json.key("vgpr_spills").number(kernel.vgpr_spills).key("sgpr_spills").number(kernel.sgpr_spills);
  json.key("instructions").number(instructions_of(code, kernel));
  write_local(json, code, kernel);
  json.end_object();
}

// What a value is, or all behind a pointer.
void write_element(JsonWriter& json, const char* key, const JsonValue& known) {
  if (known.kind() != JsonValue::Kind::kObject) {
    json.key(key).null();
    return;
  }
  json.key(key)
      .begin_object()
      .key("name")
      .string(known["name"].text())
      .key("bytes")
      .number(known["bytes"].unsigned_or(0));
  json.key("encoding").string(known["encoding"].text()).end_object();
}

void write_parameters(JsonWriter& json, const CodeKernel& kernel) {
  json.key("parameters").begin_array();
  uint64_t index = 0;
  for (const CodeArgument& argument : kernel.arguments) {
    if (argument.hidden()) continue;
    const JsonValue& known = described_parameter(kernel.name, index);
    const std::string& name = known.is_null() ? argument.name : known["name"].text();
    json.begin_object().key("index").number(index++).key("name").string(name).key("size").number(argument.size);
    json.key("offset").number(argument.offset).key("type").string(known["type"].text());
    json.key("pointer").boolean(argument.kind == ArgumentKind::kPointer).key("const").boolean(argument.constant);
    json.key("restrict").boolean(false);
    write_element(json, "element", known["element"]);
    write_element(json, "number", known["number"]);
    if (!known["multiple"].is_null()) json.key("multiple").number(known["multiple"].unsigned_or(1));
    json.key("fields").begin_array().end_array().end_object();
  }
  json.end_array();
}

void write_described(JsonWriter& json, const CodeKernel& kernel) {
  for (const char* key :
       {"quantities", "constants", "reads_grid", "tiles", "held", "covered", "only_read", "elements", "kept"}) {
    const JsonValue& known = described_kernel(kernel.name)[key];
    if (!known.is_null()) copy_json(json.key(key), known);
  }
}

// Floating-point formats that the code calculates with, or that its arguments point to.
void write_formats(JsonWriter& json, const CodeObject& code) {
  const std::pair<const char*, const char*> kKinds[] = {
      {"float", "f32"}, {"double", "f64"}, {"half", "f16"}, {"bfloat", "bf16"}};
  json.key("formats").begin_array();
  for (const auto& [name, type] : kKinds) {
    bool has = false;
    for (const Instruction& i : code.program().instructions()) {
      const size_t at = i.text.find(type);
      has |= at != std::string::npos && (at == 0 || i.text[at - 1] != 'b');
    }
    for (const CodeKernel& kernel : code.kernels())
      for (uint64_t n = 0; n < kernel.arguments.size(); ++n)
        has |= described_parameter(kernel.name, n)["element"]["name"].text().compare(0, std::strlen(name), name) == 0;
    if (has) json.string(name);
  }
  json.end_array();
}

// By the number of an instruction: what no shadow follows.
void write_losses(JsonWriter& json, const CodeObject& code) {
  json.key("lost_shadows").begin_array();
  if (shadow_active())
    for (const Instruction& i : code.program().instructions()) json.string(i.text);
  json.end_array();
}

void write_kernels(JsonWriter& json, const CodeObject& code) {
  json.key("kernels").begin_object();
  for (const CodeKernel& kernel : code.kernels()) {
    json.key(kernel.name).begin_object().key("name").string(kernel.name).key("static_lds").number(kernel.lds_bytes);
    json.key("max_threads").number(kernel.max_threads).key("address").number(kernel.entry - code.base());
    write_facts(json, code, kernel);
    write_parameters(json, kernel);
    write_described(json, kernel);
    json.end_object();
  }
  json.end_object().key("symbols").begin_object();
  for (const CodeVariable& variable : code.variables())
    json.key(variable.name)
        .begin_object()
        .key("size")
        .number(variable.bytes)
        .key("constant")
        .boolean(variable.constant)
        .end_object();
  json.end_object();
}

template <class Value>
void put(std::vector<char>& segment, const CodeArgument& argument, Value value) {
  if (argument.offset + sizeof value <= segment.size())
    std::memcpy(segment.data() + argument.offset, &value, sizeof value);
}

void put_hidden(std::vector<char>& segment, const CodeArgument& a, const LaunchRequest& r, uint32_t dynamic_bytes) {
  switch (a.kind) {
    case ArgumentKind::kBlockCountX:
      return put(segment, a, r.grid.x);
    case ArgumentKind::kBlockCountY:
      return put(segment, a, r.grid.y);
    case ArgumentKind::kBlockCountZ:
      return put(segment, a, r.grid.z);
    case ArgumentKind::kGroupSizeX:
      return put(segment, a, uint16_t(r.block.x));
    case ArgumentKind::kGroupSizeY:
      return put(segment, a, uint16_t(r.block.y));
    case ArgumentKind::kGroupSizeZ:
      return put(segment, a, uint16_t(r.block.z));
    case ArgumentKind::kGridDimensions:
      return put(segment, a, uint16_t(r.grid.z > 1 || r.block.z > 1 ? 3 : r.grid.y > 1 || r.block.y > 1 ? 2 : 1));
    case ArgumentKind::kDynamicSharedBytes:
      return put(segment, a, dynamic_bytes);
    case ArgumentKind::kPrivateBase:
      return put(segment, a, uint32_t(machine::kPrivateAperture >> 32));
    case ArgumentKind::kSharedBase:
      return put(segment, a, uint32_t(machine::kSharedAperture >> 32));
    case ArgumentKind::kHostRequests:
      return put(segment, a, host_request_buffer());
    default:
      return;  // zero: no remainders, offsets, or services of the host
  }
}

}  // namespace

std::string describe_code(CodeObject& code, const std::string& file, const std::string& source) {
  uint32_t sites = 0, blocks = 0;
  number(code, &sites, &blocks);
  JsonWriter json;
  json.begin_object().key("abi").number(kAbiVersion).key("source").string(source).key("language").string("hip");
  json.key("target").string(device().name).key("wave_size").number(machine::kWave);
  json.key("architecture").string(code.architecture()).key("code_object").string(file);
  describe_device(json);
  write_formats(json, code);
  write_losses(json, code);
  write_sites(json, code);
  write_blocks(json, code);
  write_kernels(json, code);
  json.end_object();
  forget_description();
  return json.text();
}

std::vector<Site> sites_of(const CodeObject& code) {
  std::vector<Site> sites;
  std::vector<uint64_t> addresses;
  for (const Instruction& i : code.program().instructions())
    for (const Site& site : sites_at(i)) {
      sites.push_back(site);
      addresses.push_back(i.address);
    }
  for (const Instruction& i : code.program().instructions()) {  // jumps back
    const uint64_t target = i.address + i.bytes + uint64_t(int64_t(i.immediate) * 4);
    if (!jumps(i) || target > i.address) continue;
    for (size_t n = 0; n < sites.size(); ++n)
      if (addresses[n] >= target && addresses[n] < i.address && synchronises(sites[n]))
        sites[n].order |= may_draw(sites[n]) ? kSiteLoop | kSiteDraws : kSiteLoop;
  }
  return sites;
}

std::vector<char> argument_segment(const CodeKernel& kernel, const LaunchRequest& request) {
  std::vector<char> segment(kernel.argument_bytes + 64);  // a read of several words may go beyond
  size_t index = 0;
  for (const CodeArgument& argument : kernel.arguments) {
    if (argument.hidden()) {
      put_hidden(segment, argument, request, request.dynamic_lds);
    } else {
      if (argument.offset + argument.size <= segment.size())
        std::memcpy(segment.data() + argument.offset, request.arguments[index], argument.size);
      ++index;
    }
  }
  return segment;
}

}  // namespace simt
