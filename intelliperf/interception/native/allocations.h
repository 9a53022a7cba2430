// The live device allocations of the application, by what it asked for: base, size, kind and order.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace intelliperf {

// kRuntime: host memory that the application or its runtime made; it is shown only where an argument leads into it.
// kMapped: addresses to which the application itself mapped device memory.
enum class MemoryKind : uint8_t { kDevice, kPool, kManaged, kMapped, kPinned, kSymbol, kRuntime };

// How another process opens a buffer: the handle of the memory that it lies in, that memory's size, its place there.
struct Shared {
  std::string handle;  // empty: it cannot be opened, see `why`
  uint64_t bytes = 0;
  uint64_t at = 0;
  const char* style = "";  // which kind of handle
  std::string why;
};

struct Buffer {
  uint64_t id = 0;
  uint64_t base = 0;
  uint64_t bytes = 0;
  MemoryKind kind = MemoryKind::kDevice;
  uint64_t sequence = 0;  // counts allocations of the run
  std::string name;       // of a symbol
  uint64_t staging = 0;   // place in the arena, 0 for none yet
  bool asked = false;     // whether `shared` is known
  Shared shared;
};

class Allocations {
 public:
  void add(uint64_t base, uint64_t bytes, MemoryKind kind, const std::string& name = "");
  void remove(uint64_t base);
  const Buffer* find(uint64_t address) const;
  std::map<uint64_t, Buffer>& live() { return live_; }
  const std::map<uint64_t, Buffer>& live() const { return live_; }
  // Arena places of what was freed since the last call.
  std::vector<std::pair<uint64_t, uint64_t>> take_freed() { return std::move(freed_); }

 private:
  std::map<uint64_t, Buffer> live_;
  std::vector<std::pair<uint64_t, uint64_t>> freed_;
  uint64_t made_ = 0;
};

}  // namespace intelliperf
