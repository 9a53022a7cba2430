#include "apart.h"

#include <cstring>
#include <deque>
#include <map>
#include <set>
#include <vector>

#include "altered_buffers.h"
#include "memory.h"
#include "repeats.h"

namespace simt {
namespace {

constexpr uint64_t kMostBytes = 256ull << 20;  // to put back
constexpr char kGarbage = 0x5A;                // by which the bits are flipped

char* at(uintptr_t address) { return reinterpret_cast<char*>(address); }  // NOLINT(performance-no-int-to-ptr)

struct Part {
  uint64_t argument;
  uintptr_t base = 0;             // of the copy; of the first part, the allocation itself
  std::vector<uint64_t> written;  // offsets, in the first run
};

struct Shared {
  uintptr_t base;
  uint64_t bytes;
  std::vector<char> before;
  std::vector<Part> parts;
};

uintptr_t pointer_in(const LaunchRequest& request, const Parameter& parameter, uint64_t offset) {
  uintptr_t address = 0;
  if (offset + sizeof address > parameter.size) return 0;
  std::memcpy(&address, static_cast<const char*>(request.arguments[parameter.index]) + offset, sizeof address);
  return address;
}

std::vector<Shared> shared_by(const LaunchRequest& request) {
  std::map<uintptr_t, std::set<uint64_t>> by_base;
  for (const Parameter& parameter : request.kernel->parameters)
    for (const uint64_t offset : parameter.pointers)
      if (const Allocation* a = find(pointer_in(request, parameter, offset))) by_base[a->base].insert(parameter.index);
  std::vector<Shared> found;
  for (const auto& [base, arguments] : by_base) {
    if (arguments.size() < 2) continue;
    Shared shared{base, find(base)->bytes, {}, {}};
    for (const uint64_t argument : arguments) shared.parts.push_back({argument, 0, {}});
    found.push_back(std::move(shared));
  }
  return found;
}

class Memory {  // of the device, as it was before the launch
 public:
  Memory() { for_each_allocation(keep, &kept_); }
  void put_back() const {
    for (const auto& [base, content] : kept_)
      if (std::memcmp(at(base), content.data(), content.size()) != 0)
        std::memcpy(at(base), content.data(), content.size());
  }

 private:
  using Kept = std::map<uintptr_t, std::vector<char>>;
  static void keep(const Allocation& a, void* into) {
    if (movable(a)) (*static_cast<Kept*>(into))[a.base].assign(at(a.base), at(a.base) + a.bytes);
  }
  Kept kept_;
};

void add_bytes(const Allocation& a, void* into) {
  if (movable(a)) *static_cast<uint64_t*>(into) += a.bytes;
}

// The launch with each argument's pointers into its own part.
class Pointed {
 public:
  Pointed(const LaunchRequest& request, const std::vector<Shared>& every) : request_(request) {
    arguments_.assign(request.arguments, request.arguments + request.kernel->parameters.size());
    for (const Parameter& parameter : request.kernel->parameters)
      for (const uint64_t offset : parameter.pointers)
        if (const uintptr_t address = pointer_in(request, parameter, offset)) move(parameter, offset, address, every);
    request_.arguments = arguments_.data();
  }
  const LaunchRequest& request() const { return request_; }

 private:
  void move(const Parameter& parameter, uint64_t offset, uintptr_t address, const std::vector<Shared>& every) {
    for (const Shared& shared : every) {
      if (address - shared.base >= shared.bytes) continue;
      for (const Part& part : shared.parts) {
        if (part.argument != parameter.index) continue;
        const auto* now = static_cast<const char*>(arguments_[parameter.index]);
        copies_.emplace_back(now, now + parameter.size);
        const uintptr_t moved = part.base + (address - shared.base);
        std::memcpy(copies_.back().data() + offset, &moved, sizeof moved);
        arguments_[parameter.index] = copies_.back().data();
      }
    }
  }

  LaunchRequest request_;
  std::vector<void*> arguments_;
  std::deque<std::vector<char>> copies_;
};

bool make_copies(Shared& shared) {
  shared.before.assign(at(shared.base), at(shared.base) + shared.bytes);
  for (Part& part : shared.parts) {
    if (&part == &shared.parts.front()) {
      part.base = shared.base;
      continue;
    }
    const Allocation* copy = allocate(shared.bytes, MemoryKind::kStaging);
    if (!copy) return false;
    part.base = copy->base;
    std::memcpy(at(part.base), shared.before.data(), shared.bytes);
  }
  return true;
}

void note_written(Shared& shared) {
  for (Part& part : shared.parts)
    for (uint64_t i = 0; i < shared.bytes; ++i)
      if (at(part.base)[i] != shared.before[i]) part.written.push_back(i);
}

void spoil(const Shared& shared) {
  for (const Part& part : shared.parts) std::memcpy(at(part.base), shared.before.data(), shared.bytes);
  for (const Part& writer : shared.parts)
    for (const Part& other : shared.parts)
      for (const uint64_t i : writer.written)
        if (&other != &writer) at(other.base)[i] = char(shared.before[i] ^ kGarbage);
}

void put_together(const Shared& shared) {
  std::vector<char> whole = shared.before;
  std::vector<bool> known(shared.bytes);
  for (const Part& part : shared.parts)
    for (const uint64_t i : part.written) {
      whole[i] = known[i] ? char(~whole[i]) : at(part.base)[i];  // what is written through two is nobody's
      known[i] = true;
    }
  for (const Part& part : shared.parts)
    for (uint64_t i = 0; i < shared.bytes; ++i)
      if (!known[i] && at(part.base)[i] != shared.before[i]) whole[i] = at(part.base)[i];
  std::memcpy(at(shared.base), whole.data(), shared.bytes);
}

void free_copies(const Shared& shared) {
  for (const Part& part : shared.parts)
    if (part.base != shared.base && part.base != 0) release(part.base);
}

}  // namespace

LaunchOutcome launch_apart(const LaunchRequest& request) {
  std::vector<Shared> every = shared_by(request);
  if (every.empty()) return launch(request);
  LaunchOutcome outcome;
  outcome.status = kNotSupported;
  uint64_t bytes = 0;
  for_each_allocation(add_bytes, &bytes);
  bool copied = bytes <= kMostBytes;
  for (Shared& shared : every) copied = copied && make_copies(shared);
  if (copied) {
    const Pointed pointed(request, every);
    const Memory memory;
    {
      const Repeats::Aside aside;
      outcome = launch(pointed.request());
    }
    for (Shared& shared : every) note_written(shared);
    memory.put_back();
    for (const Shared& shared : every) spoil(shared);
    if (outcome.status == kLaunchOk) outcome = launch(pointed.request());
    for (const Shared& shared : every) put_together(shared);
  }
  for (const Shared& shared : every) free_copies(shared);
  return outcome;
}

}  // namespace simt
