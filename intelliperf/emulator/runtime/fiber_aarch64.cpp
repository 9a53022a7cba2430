// Context switch and access hook for 64-bit Arm, AAPCS64: x19–x30, d8–d15 and sp survive a call.
#include "fiber.h"

#if defined(__aarch64__)

static_assert(simt::kStackBytes == 262144 && uint32_t(simt::LaneState::kAccess) == 1 &&
                  uint32_t(simt::LaneState::kRange) == 2,
              "immediates below");

asm(R"(
.text
.hidden simt_current
.hidden simt_counting
.hidden simt_count_access
.p2align 4
.globl __simt_access
.type __simt_access,%function
__simt_access:
  adrp x9, simt_current
  ldr x10, [x9, #:lo12:simt_current]
  ldr x11, [x10, #48]
  sub x11, x0, x11
  cmp x11, #64, lsl #12
  b.lo 1f
  adrp x12, simt_counting
  ldrb w12, [x12, #:lo12:simt_counting]
  cbnz w12, .Lsimt_count
  str x0, [x10, #32]
  mov w12, #1
  stp w1, w12, [x10, #40]
  b .Lsimt_switch
.Lsimt_count:
  mov x2, #0
  b simt_count_access
1:
  ret
.size __simt_access, .-__simt_access

.p2align 4
.globl __simt_access_range
.type __simt_access_range,%function
__simt_access_range:
  adrp x9, simt_current
  ldr x10, [x9, #:lo12:simt_current]
  ldr x11, [x10, #48]
  sub x11, x0, x11
  cmp x11, #64, lsl #12
  b.lo 1f
  cbz x2, 1f
  adrp x12, simt_counting
  ldrb w12, [x12, #:lo12:simt_counting]
  cbnz w12, .Lsimt_count_range
  str x0, [x10, #32]
  mov w12, #2
  stp w1, w12, [x10, #40]
  str x2, [x10, #64]
  b .Lsimt_switch
.Lsimt_count_range:
  b simt_count_access
1:
  ret
.size __simt_access_range, .-__simt_access_range

.p2align 4
.globl simt_park
.hidden simt_park
.type simt_park,%function
simt_park:
  adrp x9, simt_current
  ldr x10, [x9, #:lo12:simt_current]
.Lsimt_switch:
  sub sp, sp, #160
  stp x19, x20, [sp, #0]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x11, sp
  str x11, [x10, #16]
  ldr x10, [x10, #24]
  str x10, [x9, #:lo12:simt_current]
  ldr x11, [x10, #16]
  mov sp, x11
  ldp x19, x20, [sp, #0]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
.size simt_park, .-simt_park

.p2align 4
.globl __simt_thread
.type __simt_thread,%function
__simt_thread:
  adrp x9, simt_current
  ldr x0, [x9, #:lo12:simt_current]
  ret
.size __simt_thread, .-__simt_thread
)");

namespace simt {

static_assert(offsetof(Lane, bytes) == 64, "__simt_access_range");

void prepare_fiber(Lane& lane, void (*entry)()) {
  auto* top = reinterpret_cast<uint64_t*>(stack_top(lane.stack_low));
  top -= 20;
  for (int slot = 0; slot < 20; ++slot) top[slot] = 0;
  top[11] = reinterpret_cast<uint64_t>(entry);  // x30
  lane.stack_pointer = top;
}

}  // namespace simt
#endif
