"""Tables that are filled, members of records and constants of the program: what altered launches do to them."""

from __future__ import annotations

import pytest
from test_altered_launches import Variants

from intelliperf.emulator.compiler.hostnames import out_of_reach
from intelliperf.interception.messages import Dispatch
from intelliperf.records import Interception

SOURCE = """#include <vector>
#include <hip/hip_runtime.h>
struct Record { float height; int payload; };
__constant__ float weights[8] = {0.5f, 1.5f, -2.0f, 3.25f, 0.75f, 6.0f, -1.25f, 2.5f};
__constant__ int shift = 3;
__device__ float scales[2] = {1.5f, 0.25f};
__device__ float gains[2] = {2.0f, 4.0f};
__device__ float weight(int at) {
#if VARIANT == 2
  constexpr float all[8] = {0.5f, 1.5f, -2.0f, 3.25f, 0.75f, 6.0f, -1.25f, 2.5f};
  return all[at];
#elif VARIANT == 4
  constexpr float all[8] = {0.5f, 1.5f, -2.0f, 3.25f, 0.75f};
  return all[at];
#else
  return weights[at];
#endif
}
__global__ void place(const unsigned* keys, unsigned* table, int* placed, Record* records, float* out, int n, int slots,
                      int width) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned at = keys[i] % slots;
  placed[i] = 0;
  for (int probe = 0; probe < (VARIANT == 1 ? 64 : slots); ++probe) {
    const unsigned seen = atomicCAS(&table[at], ~0u, keys[i]);
    if (seen == ~0u || seen == keys[i]) {
      placed[i] = 1;
      break;
    }
    at = VARIANT == 2 ? (at + 1 == slots ? 0 : at + 1) : (at + 1) % slots;
  }
  const Record one = records[i];
  records[i].payload = i + (VARIANT == 3 ? short(one.payload) : one.payload);
  float sum = 0.0f;
  for (int t = 0; t < width; ++t) sum += weight(t & 7);
  if (width == 77) gains[1] = 3.0f;
  sum *= (VARIANT == 2 ? 1.5f : scales[0]) * (VARIANT == 5 ? 4.0f : gains[1]);
  out[i] = sum + (VARIANT == 6 ? 3 : shift);
}
template <class T>
T* sent(const std::vector<T>& host) {
  T* at = nullptr;
  const size_t bytes = host.size() * sizeof(T);
  if (hipMalloc(&at, bytes) || hipMemcpy(at, host.data(), bytes, hipMemcpyHostToDevice)) exit(1);
  return at;
}
int main(int count, char**) {
  const int n = 384, slots = 1021, other = 5;
  std::vector<unsigned> keys(n), table(slots, ~0u);
  std::vector<int> placed(n);
  std::vector<Record> records(n);
  std::vector<float> out(n);
  for (int i = 0; i < n; ++i) keys[i] = i * 7919u % 10007u, records[i] = {0.5f * i, i * 5 % 301};
  if (count > 3 && hipMemcpyToSymbol(HIP_SYMBOL(shift), &other, 4)) return 1;
  place<<<n / 64, 64>>>(sent(keys), sent(table), sent(placed), sent(records), sent(out), n, slots, 5);
  return hipDeviceSynchronize();
}
"""
_SIZES = Interception(other_numbers=(3,))
_WIDE = Interception(other_numbers=(6,), other_widths=(16,))
_DATA = Interception(other_numbers=(2,))
_SCALED = Interception(other_numbers=(1,))


@pytest.fixture(scope="module")
def variants(tmp_path_factory: pytest.TempPathFactory) -> Variants:
    return Variants(tmp_path_factory.mktemp("tables"), SOURCE)


@pytest.mark.parametrize(
    ("variant", "asked"),
    [
        pytest.param(1, _DATA, id="probing that gives up"),
        pytest.param(3, _WIDE, id="a member that is updated in sixteen bits", marks=pytest.mark.slow),
        pytest.param(4, _SIZES, id="the part of a constant table that the launch reads"),
        pytest.param(5, _DATA, id="what a kernel may write"),
        pytest.param(6, _DATA, id="a constant that the host may write"),
    ],
)
def test_what_holds_for_the_launch_alone_shows(variants: Variants, variant: int, asked: Interception) -> None:
    assert "variant" in variants.followed(variant, asked).divergences


@pytest.mark.parametrize("asked", [_SCALED, _DATA, _SIZES, pytest.param(_WIDE, marks=pytest.mark.slow)])
def test_constants_that_nothing_writes_may_be_written_out(variants: Variants, asked: Interception) -> None:
    followed = variants.followed(2, asked)
    assert any(isinstance(event, Dispatch) and event.target for event in followed.events)
    assert not followed.divergences


ASSEMBLY = """main:
	leaq	taken(%rip), %rdi
	movq	imported@GOTPCREL(%rip), %rdi
.Lfunc_end0:
__hip_module_ctor:                      # @__hip_module_ctor
	leaq	kept(%rip), %rsi
	leaq	taken(%rip), %rsi
.Lfunc_end1:
	.type	kept,@object                    # @kept
	.local	kept
	.comm	kept,32,16
	.local	taken
	.comm	taken,4,4
	.local	listed
	.comm	listed,4,4
	.type	shared,@object
	.globl	shared
shared:
	.zero	4
	.asciz	"kept"
	.asciz	"taken"
	.asciz	"renamed"
table:
	.quad	listed+4
	.addrsig_sym kept
"""


def test_a_variable_is_out_of_reach_where_its_registration_alone_names_it() -> None:
    names = ("kept", "taken", "imported", "listed", "shared", "renamed", "inner")
    assert out_of_reach(names, ASSEMBLY) == {"kept", "inner"}
