#include "lds_guards.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "execution.h"
#include "fault_log.h"

// Device code names it directly: every extern __shared__ array is this one. Its neighbours are to be its own.
#define SIMT_TEXT_OF(number) #number
#define SIMT_TEXT(number) SIMT_TEXT_OF(number)
#define SIMT_GUARD_BYTES 1048576
#define SIMT_LDS_BYTES 262144
__asm__(".pushsection .bss.simt_dynamic_lds,\"aw\",%nobits\n"
        ".balign 65536\n"
        ".globl simt_guarded_lds\n"
        ".hidden simt_guarded_lds\n"
        "simt_guarded_lds:\n"
        ".zero " SIMT_TEXT(SIMT_GUARD_BYTES) "\n"
        ".globl __simt_dynamic_lds\n"
        ".type __simt_dynamic_lds, %object\n"
        ".size __simt_dynamic_lds, " SIMT_TEXT(SIMT_LDS_BYTES) "\n"
        "__simt_dynamic_lds:\n"
        ".zero " SIMT_TEXT(SIMT_LDS_BYTES) "\n"
        ".zero " SIMT_TEXT(SIMT_GUARD_BYTES) "\n"
        ".popsection\n");

extern "C" char __simt_dynamic_lds[];
extern "C" __attribute__((visibility("hidden"))) char simt_guarded_lds[];  // its neighbours before it, and itself

namespace simt {
namespace {

static_assert(SIMT_GUARD_BYTES == kDynamicGuard && SIMT_LDS_BYTES == kDynamicSharedCapacity, "as the assembler has it");
constexpr unsigned char kUntouched = 0xC5;

uint64_t page_bytes() {
  static const auto bytes = uint64_t(sysconf(_SC_PAGESIZE));
  return bytes;
}

char* page_at_or_after(char* at) {
  return at + (page_bytes() - reinterpret_cast<uintptr_t>(at) % page_bytes()) % page_bytes();
}

std::vector<SharedSpan>& closed() {
  static auto* const spans = new std::vector<SharedSpan>;
  return *spans;
}
char* open_until = __simt_dynamic_lds + kDynamicSharedCapacity;  // dynamic LDS

uint64_t address_of(const char* at) { return reinterpret_cast<uint64_t>(at); }

SharedSpan span_of(const SharedVariable& variable) {
  return {address_of(variable.begin), address_of(variable.begin) + variable.bytes};
}

SharedSpan span_of_dynamic(const LaunchRequest& request) {
  const uint64_t begin = address_of(__simt_dynamic_lds);
  return {begin, begin + request.dynamic_lds};
}

// Whole pages of it.
void protect(char* begin, char* end, int rights) {
  char* const first = page_at_or_after(begin);
  const uint64_t bytes = end > first ? uint64_t(end - first) / page_bytes() * page_bytes() : 0;
  if (bytes != 0) mprotect(first, bytes, rights);
}

}  // namespace

char* dynamic_shared_base() { return __simt_dynamic_lds; }

void close_lds_guards(char* before, char* before_end, char* behind, char* behind_end) {
  protect(before, before_end, PROT_NONE);
  protect(behind, behind_end, PROT_NONE);
  closed().push_back({address_of(before), address_of(before_end)});
  closed().push_back({address_of(behind), address_of(behind_end)});
}

bool in_closed_lds(const void* address) {
  const auto* at = static_cast<const char*>(address);
  return at >= open_until && at < __simt_dynamic_lds + kDynamicSharedCapacity;
}

SharedSpan beside_lds(uint64_t address) {
  const LaunchRequest& request = *execution.request;
  const uint64_t dynamic = address_of(__simt_dynamic_lds);
  if (address >= dynamic - kDynamicGuard && address < dynamic + kDynamicSharedCapacity + kDynamicGuard)
    return span_of_dynamic(request);
  const auto& variables = request.kernel->module->shared_variables;
  const auto meets = [&](const SharedSpan& span) { return address >= span.begin && address < span.end; };
  if (variables.empty() || std::none_of(closed().begin(), closed().end(), meets)) return {};
  return span_of(address < address_of(variables.front().begin) ? variables.front() : variables.back());
}

LdsGuards::LdsGuards(const LaunchRequest& request, bool checked) {
  char* const end = __simt_dynamic_lds + kDynamicSharedCapacity;
  static const bool once = [&] {
    close_lds_guards(simt_guarded_lds, simt_guarded_lds + kDynamicGuard, end, end + kDynamicGuard);
    return true;
  }();
  static_cast<void>(once);
  if (!request.altered || request.kernel->code) return;
  const Module& module = *request.kernel->module;
  char* at = module.shared_begin;
  const auto& variables = module.shared_variables;
  for (const SharedVariable& variable : variables) {
    if (variable.begin > at) unused_.push_back({at, uint64_t(variable.begin - at), span_of(variable)});
    at = std::max(at, variable.begin + variable.bytes);
  }
  if (!variables.empty() && module.shared_end > at)
    unused_.push_back({at, uint64_t(module.shared_end - at), span_of(variables.back())});
  char* const asked = __simt_dynamic_lds + request.dynamic_lds;
  char* const page = std::min(page_at_or_after(asked), end);
  if (page > asked) unused_.push_back({asked, uint64_t(page - asked), span_of_dynamic(request)});
  fill();
  if (checked) return;
  open_until = page;
  protect(open_until, end, PROT_NONE);
}

LdsGuards::~LdsGuards() {
  char* const end = __simt_dynamic_lds + kDynamicSharedCapacity;
  if (open_until != end) protect(open_until, end, PROT_READ | PROT_WRITE);
  open_until = end;
}

void LdsGuards::fill() const {
  for (const Unused& unused : unused_) std::memset(unused.begin, kUntouched, unused.bytes);
}

bool LdsGuards::intact() const {
  const auto untouched = static_cast<char>(kUntouched);
  for (const Unused& unused : unused_) {
    if (unused.begin[0] == untouched && std::memcmp(unused.begin, unused.begin + 1, unused.bytes - 1) == 0) continue;
    Fault fault{FaultKind::kOutOfBounds};
    fault.shared = true;
    const char* const touched =
        std::find_if(unused.begin, unused.begin + unused.bytes, [=](char byte) { return byte != untouched; });
    fault.address_offset = int64_t(address_of(touched) - unused.variable.begin);
    fault.allocation_bytes = unused.variable.end - unused.variable.begin;
    note_fault(fault);
    return false;
  }
  return true;
}

}  // namespace simt
