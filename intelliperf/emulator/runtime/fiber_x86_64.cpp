// Context switch and access hook for x86-64, System V calling convention. Only rbx, rbp, r12–r15 and
// rsp survive a call; MXCSR and the x87 control word are the same in all lanes.
#include "fiber.h"

#if defined(__x86_64__)

static_assert(simt::kStackBytes == 262144 && uint32_t(simt::LaneState::kAccess) == 1 &&
                  uint32_t(simt::LaneState::kRange) == 2,
              "immediates below");

// __simt_access: an address on the lane's own stack is private and needs no event. While accesses are only counted,
// nothing else comes of them.
asm(R"(
.text
.p2align 4
.globl __simt_access
.type __simt_access,@function
__simt_access:
  movq simt_current(%rip), %rax
  movq %rdi, %rcx
  subq 48(%rax), %rcx
  cmpq $262144, %rcx
  jb 1f
  cmpb $0, simt_counting(%rip)
  jne .Lsimt_count
  movq %rdi, 32(%rax)
  movl %esi, 40(%rax)
  movl $1, 44(%rax)
  jmp .Lsimt_switch
.Lsimt_count:
  xorl %edx, %edx
  jmp simt_count_access
1:
  ret
.size __simt_access, .-__simt_access

.p2align 4
.globl __simt_access_range
.type __simt_access_range,@function
__simt_access_range:
  movq simt_current(%rip), %rax
  movq %rdi, %rcx
  subq 48(%rax), %rcx
  cmpq $262144, %rcx
  jb 1f
  testq %rdx, %rdx
  jz 1f
  cmpb $0, simt_counting(%rip)
  jne simt_count_access
  movq %rdi, 32(%rax)
  movl %esi, 40(%rax)
  movl $2, 44(%rax)
  movq %rdx, 64(%rax)
  jmp .Lsimt_switch
1:
  ret
.size __simt_access_range, .-__simt_access_range

.p2align 4
.globl simt_park
.hidden simt_park
.type simt_park,@function
simt_park:
  movq simt_current(%rip), %rax
.Lsimt_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, 16(%rax)
  movq 24(%rax), %rax
  movq %rax, simt_current(%rip)
  movq 16(%rax), %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  popq %rcx
  jmp *%rcx
.size simt_park, .-simt_park

.p2align 4
.globl __simt_thread
.type __simt_thread,@function
__simt_thread:
  movq simt_current(%rip), %rax
  ret
.size __simt_thread, .-__simt_thread
)");

namespace simt {

static_assert(offsetof(Lane, bytes) == 64, "__simt_access_range");

void prepare_fiber(Lane& lane, void (*entry)()) {
  auto* top = reinterpret_cast<uint64_t*>(stack_top(lane.stack_low));
  *--top = 0;  // where a return address would be: keeps the ABI's alignment
  *--top = reinterpret_cast<uint64_t>(entry);
  for (int saved = 0; saved < 6; ++saved) *--top = 0;
  lane.stack_pointer = top;
}

}  // namespace simt
#endif
