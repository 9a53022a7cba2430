#include "counts.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdarg>
#include <cstdio>

#include "requests.h"

namespace gfx90a {
namespace {

constexpr double kClockGhz = 1.7, kMemoryBytesPerNs = 1600, kLaunchNs = 3000;
constexpr uint32_t kUnits = 110, kSimdsPerUnit = 4, kCyclesPerIssue = 4, kCyclesPerSameAddress = 4;

void append(std::string& out, const char* format, ...) __attribute__((format(printf, 2, 3)));
void append(std::string& out, const char* format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  out += text;
}

void append_text(std::string& out, const std::string& text) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  out += '"';
}

const char* space_name(Space space) {
  return space == Space::kLds ? "lds" : space == Space::kScratch ? "scratch" : "global";
}
const char* kind_name(Access access) {
  return access == Access::kLoad ? "load" : access == Access::kStore ? "store" : "atomic";
}

void append_instruction(std::string& out, const Instruction& i, uint64_t entry, uint64_t load_address) {
  append(out, "{\"pc\":%" PRId64 ",\"address\":", int64_t(i.address - entry));
  if (load_address)
    append(out, "%" PRIu64, i.address - load_address);
  else
    out += "null";
  out += ",\"text\":";
  append_text(out, i.text);
  append(out, ",\"executions\":%" PRIu64 ",\"lanes\":%" PRIu64, i.counts.executions, i.counts.lanes);
  if (i.access != Access::kNone) {
    append(out, ",\"space\":\"%s\",\"kind\":\"%s\",\"bytes\":%u", space_name(i.space), kind_name(i.access),
           i.access_bytes);
    if (i.space == Space::kLds)
      append(out, ",\"lds_cycles\":%" PRIu64 ",\"lds_cycles_ideal\":%" PRIu64, i.counts.lds_cycles,
             i.counts.lds_cycles_ideal);
    else
      append(out, ",\"lines\":%" PRIu64 ",\"lines_ideal\":%" PRIu64, i.counts.lines, i.counts.lines_ideal);
    if (i.space != Space::kLds && i.counts.lds_cycles)  // of a flat instruction whose lanes went to both
      append(out, ",\"lds_cycles\":%" PRIu64 ",\"lds_cycles_ideal\":%" PRIu64, i.counts.lds_cycles,
             i.counts.lds_cycles_ideal);
    if (i.access == Access::kAtomic) append(out, ",\"atomic_same_address\":%" PRIu64, i.counts.atomic_same_address);
  }
  out += '}';
}

}  // namespace

uint64_t modelled_ns(const Code& code, const Dispatch& dispatch, const Totals& totals) {
  double issued = 0, lds = 0, lines = 0, same_address = 0;
  for (const Instruction* i : code.used()) {
    issued += double(i->counts.executions) * kCyclesPerIssue;
    lds += double(i->counts.lds_cycles);
    lines += double(i->counts.lines);
    if (i->space == Space::kGlobal) same_address += double(i->counts.atomic_same_address) * kCyclesPerSameAddress;
  }
  uint64_t groups = 1;
  for (uint32_t n = 0; n < 3; ++n) groups *= (dispatch.grid[n] + dispatch.group[n] - 1) / dispatch.group[n];
  const double units = double(std::min<uint64_t>(kUnits, groups));
  const double simds = double(std::max<uint64_t>(1, std::min<uint64_t>(kUnits * kSimdsPerUnit, totals.waves)));
  const double cycles = std::max({issued / simds, lds / units, lines / units, same_address});
  return uint64_t(kLaunchNs + std::max(cycles / kClockGhz, lines * kLineBytes / kMemoryBytesPerNs));
}

std::string as_json_line(const Code& code, const Ended& ended) {
  const Dispatch& d = ended.dispatch;
  const auto& descriptor = *reinterpret_cast<const KernelDescriptor*>(d.kernel_object);
  std::string out;
  append(out, "{\"version\":1,\"dispatch\":%" PRIu64 ",\"queue\":%" PRIu64 ",\"kernel\":", d.number,
         ended.queue_number);
  if (ended.kernel.name.empty())
    out += "null";
  else
    append_text(out, ended.kernel.name);
  append(out, ",\"grid\":[%u,%u,%u],\"workgroup\":[%u,%u,%u]", d.grid[0], d.grid[1], d.grid[2], d.group[0], d.group[1],
         d.group[2]);
  append(out, ",\"group_segment_bytes\":%u,\"private_segment_bytes\":%u,\"vgprs\":%u,\"agprs\":%u,\"sgprs\":%u",
         d.group_bytes, d.private_bytes, descriptor.vector_registers(), descriptor.accumulators(),
         descriptor.scalar_registers());
  append(out, ",\"start_ns\":%" PRIu64 ",\"end_ns\":%" PRIu64 ",\"waves\":%" PRIu64 ",\"instructions\":[",
         ended.start_ns, ended.end_ns, ended.totals.waves);
  std::vector<Instruction*> ordered = code.used();
  std::sort(ordered.begin(), ordered.end(),
            [](const Instruction* a, const Instruction* b) { return a->address < b->address; });
  for (const Instruction* i : ordered) {
    if (i != ordered.front()) out += ',';
    append_instruction(out, *i, descriptor.entry(), ended.kernel.load_address);
  }
  out += "]}\n";
  return out;
}

void append_counts(const std::string& directory, const std::string& line) {
  const std::string path = directory + "/" + std::to_string(getpid()) + ".jsonl";
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  const bool written = file >= 0 && write(file, line.data(), line.size()) == ssize_t(line.size());
  if (file >= 0) close(file);
  if (!written) throw Stop("cannot write counts to " + path);
}

}  // namespace gfx90a
