// What inline assembly asks of a lane; compiler/assembly.py has the table of instructions.
#include <cstdint>

#include "abi.h"
#include "device_file.h"
#include "host_state.h"

#define SIMT_EXPORT extern "C" __attribute__((visibility("default")))

namespace simt {

namespace {

uint32_t lane() { return __simt_thread()->linear % __simt_grid.wave_size; }
uint32_t threads() { return __simt_grid.block_dim[0] * __simt_grid.block_dim[1] * __simt_grid.block_dim[2]; }
uint32_t below(uint32_t bit) { return static_cast<uint32_t>((uint64_t{1} << bit) - 1); }
uint32_t compute_units() { return static_cast<uint32_t>(device_limits().compute_units); }

}  // namespace

SIMT_EXPORT uint32_t __simt_ptx_laneid() { return lane(); }
SIMT_EXPORT uint32_t __simt_ptx_warpid() { return __simt_thread()->linear / __simt_grid.wave_size; }
SIMT_EXPORT uint32_t __simt_ptx_nwarpid() { return (threads() + __simt_grid.wave_size - 1) / __simt_grid.wave_size; }
SIMT_EXPORT uint32_t __simt_ptx_nsmid() { return compute_units(); }
// Blocks are dealt out in turn, as an idle device begins to.
SIMT_EXPORT uint32_t __simt_ptx_smid() {
  const auto& g = __simt_grid;
  const uint64_t block = g.block_index[0] + uint64_t{g.grid_dim[0]} * (g.block_index[1] + uint64_t{g.grid_dim[1]} * g.block_index[2]);
  return static_cast<uint32_t>(block % compute_units());
}
SIMT_EXPORT uint32_t __simt_ptx_lanemask_eq() { return uint32_t{1} << lane(); }
SIMT_EXPORT uint32_t __simt_ptx_lanemask_lt() { return below(lane()); }
SIMT_EXPORT uint32_t __simt_ptx_lanemask_le() { return below(lane() + 1); }
SIMT_EXPORT uint32_t __simt_ptx_lanemask_gt() { return ~below(lane() + 1); }
SIMT_EXPORT uint32_t __simt_ptx_lanemask_ge() { return ~below(lane()); }

// PTX ISA, bit field extract and insert: positions and lengths are taken modulo 256.
SIMT_EXPORT uint32_t __simt_ptx_bfe_u32(uint32_t value, uint32_t position, uint32_t length) {
  position &= 255, length &= 255;
  if (position > 31) return 0;
  return (value >> position) & below(length < 32 ? length : 32);
}
SIMT_EXPORT uint32_t __simt_ptx_bfe_s32(uint32_t value, uint32_t position, uint32_t length) {
  position &= 255, length &= 255;
  if (length == 0) return 0;
  const uint32_t sign_at = position + length - 1 < 31 ? position + length - 1 : 31;
  const uint32_t sign = (value >> sign_at) & 1 ? ~uint32_t{0} : 0;
  const uint32_t kept = below(length < 32 ? length : 32) & (position > 31 ? 0 : below(32 - position));
  const uint32_t field = position > 31 ? 0 : value >> position;
  return (field & kept) | (sign & ~kept);
}
SIMT_EXPORT uint32_t __simt_ptx_bfi(uint32_t from, uint32_t into, uint32_t position, uint32_t length) {
  position &= 255, length &= 255;
  if (position > 31) return into;
  const uint32_t mask = below(length < 32 ? length : 32) << position;
  return (into & ~mask) | ((from << position) & mask);
}
SIMT_EXPORT uint32_t __simt_ptx_prmt(uint32_t low, uint32_t high, uint32_t selector) {
  const uint64_t bytes = uint64_t{high} << 32 | low;
  uint32_t made = 0;
  for (uint32_t i = 0; i < 4; ++i) {
    const uint32_t choice = selector >> (4 * i) & 15;
    auto byte = static_cast<uint32_t>(bytes >> (8 * (choice & 7)) & 255);
    if (choice & 8) byte = byte & 128 ? 255 : 0;  // the sign, spread
    made |= byte << (8 * i);
  }
  return made;
}

}  // namespace simt
