// A work-group of a dispatch: its waves, and the registers that they begin with.
#pragma once
#include <cstdint>
#include <vector>

#include "wave.h"

namespace machine {

struct Dispatch {
  uint64_t kernel_object = 0, kernel_arguments = 0, packet = 0, queue = 0;
  uint32_t grid[3] = {}, group[3] = {};  // work-items
  uint32_t group_bytes = 0, private_bytes = 0;
  uint64_t number = 0;
  bool packed_items = true;          // of a work-item's three numbers in one register: from gfx90a on
  bool architected_scratch = false;  // no flat scratch among the scalars: from gfx940 on

  uint64_t groups() const;
};

// The 64 bytes that a code object has for each kernel (LLVM, "User Guide for AMDGPU Backend", kernel descriptor).
struct KernelDescriptor {
  uint32_t group_segment_bytes, private_segment_bytes, kernel_argument_bytes, reserved0;
  int64_t entry_offset;
  uint8_t reserved1[20];
  uint32_t resources3, resources1, resources2;
  uint16_t properties, preloaded;
  uint8_t reserved3[4];

  uint64_t entry() const { return reinterpret_cast<uint64_t>(this) + uint64_t(entry_offset); }
  uint32_t all_vector_registers() const { return ((resources1 & 63) + 1) * 8; }
  uint32_t vector_registers() const;  // as allocated
  uint32_t accumulators() const { return all_vector_registers() - vector_registers(); }
  uint32_t scalar_registers() const { return ((resources1 >> 6 & 15) / 2 + 1) * 16; }
};
static_assert(sizeof(KernelDescriptor) == 64, "kernel descriptor");

inline const KernelDescriptor& descriptor_of(const Dispatch& dispatch) {
  return *reinterpret_cast<const KernelDescriptor*>(dispatch.kernel_object);
}

struct Group {
  std::vector<Wave> waves;
  size_t used = 0;  // waves of the group at hand
};

// The group of that number, in the order of the grid, ready to run. Its LDS is the caller's.
void begin_group(Group& group, const Dispatch& dispatch, uint64_t number, uint8_t* lds);

// Rounds this thread's arithmetic as the kernel's MODE register says, while it lives. Raises `Stop` where single
// precision rounds by itself.
class Rounded {
 public:
  explicit Rounded(const KernelDescriptor& descriptor);
  ~Rounded();
  Rounded(const Rounded&) = delete;
  Rounded& operator=(const Rounded&) = delete;

 private:
  int before_;
};

}  // namespace machine
