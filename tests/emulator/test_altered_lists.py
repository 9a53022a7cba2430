"""What lists, tables, masks and widths hold to each other in altered launches: what breaks shows, what holds passes."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_altered_launches import Variants

from intelliperf.records import Interception

SOURCE = """#include <vector>
#include <hip/hip_runtime.h>
__global__ void seek(const int* first, const int* table, const int* keys, const float* heights, int* found,
                     int* highest, int* lengths, int n, int mask, int count, int score,
                     long long* totals) {
  __shared__ unsigned short narrow[64];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned at = unsigned(keys[i]) * 2654435761u >> 7 & mask;
  int known = 0;
  for (int probe = 0; probe <= mask; ++probe) {
    const int seen = table[at];
    if (seen == keys[i]) known = 1;
    if (seen == keys[i] || seen == -1) break;
    at = VARIANT == 2 ? (at == mask ? 0 : at + 1) : at + 1 & mask;
  }
  found[i] = known;
  float most = -1.0f;
  int which = 0;
  for (int p = 0; p < count; ++p) {
    if (heights[p] > most) most = heights[p], which = p, narrow[threadIdx.x] = p;
  }
  highest[i] = VARIANT == 1 ? narrow[threadIdx.x] : which + (VARIANT == 5 && count > 700);
  int length = 0;
  for (int e = first[i]; e < first[i + 1]; ++e) ++length;
  long long total = 0;
  int narrow_total = 0;
  for (int r = 0; r < 8; ++r) {
    const int one = min(keys[(i + r) % n], score);
    total += one, narrow_total += one;
  }
  totals[i] = VARIANT == 7 ? narrow_total : total;
  if (VARIANT == 6 && length > 256) length = 256;
  if (VARIANT == 8) total = short(score), totals[i] = total < 0 ? total : totals[i];
  lengths[i] = VARIANT == 3 ? first[i + 1] - first[i] : VARIANT == 4 ? (unsigned short)length : length;
}
template <class T>
T* sent(const std::vector<T>& host) {
  T* at = nullptr;
  if (hipMalloc(&at, host.size() * 4) || hipMemcpy(at, host.data(), host.size() * 4, hipMemcpyHostToDevice)) exit(1);
  return at;
}
int main() {
  const int n = 320, slots = 512, count = 400;
  std::vector<int> first(n + 1), table(slots, -1), keys(n), none(2 * n);
  std::vector<float> heights(count);
  for (int i = 0; i < n; ++i) keys[i] = i * 7919 % 10000, first[i + 1] = first[i] + i % 4;
  for (int i = 0; i < n; i += 8) {
    unsigned at = unsigned(keys[i]) * 2654435761u >> 7 & slots - 1;
    while (table[at] != -1) at = at + 1 & slots - 1;
    table[at] = keys[i];
  }
  for (int i = 0; i < count; ++i) heights[i] = 0.01f * (i * 487 % 977);
  int *f = sent(first), *t = sent(table);
  seek<<<n / 64, 64>>>(f, t, sent(keys), sent(heights), sent(none), sent(none), sent(none), n, slots - 1, count, 5000,
                        (long long*)sent(none));
  return hipDeviceSynchronize();
}
"""
_SIZES = Interception(other_numbers=(3,))
_WIDE = Interception(other_numbers=(6,), other_widths=(16,))
_WORDS = Interception(other_numbers=(6,), other_widths=(32,))
_DATA = Interception(other_numbers=(2,))


@pytest.fixture(scope="module")
def variants(tmp_path_factory: pytest.TempPathFactory) -> Variants:
    return Variants(tmp_path_factory.mktemp("lists"), SOURCE)


@pytest.mark.slow
def test_an_index_of_sixteen_bits_shows_where_as_many_elements_would_take_too_long(variants: Variants) -> None:
    assert "variant" in variants.followed(1, _WIDE).divergences


def test_a_number_is_doubled_as_far_as_its_buffers_have_room(variants: Variants) -> None:
    assert "variant" in variants.followed(5, _SIZES).divergences


@pytest.mark.slow
def test_a_length_of_sixteen_bits_shows_in_a_row_that_a_list_of_offsets_makes_longer(variants: Variants) -> None:
    assert "variant" in variants.followed(4, _WIDE).divergences


def test_a_row_that_has_all_of_a_list_shows_what_holds_for_short_ones_only(variants: Variants) -> None:
    assert "variant" in variants.followed(6, _DATA).divergences


@pytest.mark.slow
@pytest.mark.parametrize(("variant", "asked"), [(7, _WORDS), (8, _WIDE)])
def test_a_number_that_bounds_others_is_raised_beyond_a_narrower_type(
    variants: Variants, variant: int, asked: Interception
) -> None:
    assert "variant" in variants.followed(variant, asked).divergences


@pytest.mark.parametrize(("added", "shows"), [(0, True), (63, False), (64, False)])
def test_each_version_has_the_grid_that_its_host_would_choose(variants: Variants, added: int, shows: bool) -> None:
    original, own = (
        Interception(other_grids=(f"12:@7 #{more} add.32 #64 sdiv.32 #4294967296 or.64:#1",)) for more in (63, added)
    )
    assert bool(variants.followed(0, _SIZES | original, own).divergences) is shows


@pytest.mark.parametrize(
    ("variant", "asked"),
    [
        pytest.param(2, _SIZES, id="a mask is a power of two less 1"),
        pytest.param(3, _DATA, id="offsets rise where one row has all"),
        pytest.param(3, _SIZES, id="offsets rise in larger launches"),
        pytest.param(3, _WIDE, id="offsets rise where numbers are large"),
    ],
)
def test_what_lists_and_masks_promise_may_be_relied_on(variants: Variants, variant: int, asked: Interception) -> None:
    assert not variants.followed(variant, asked).divergences


CONTEXTS = """#include <hip/hip_runtime.h>
struct Shape { int width, longest; };
__global__ void backwards(const int* in, const int* lengths, int* out, Shape shape) {
  extern __shared__ int asked[];
  __shared__ int fixed[40];
  int* const tile = VARIANT ? fixed : asked;
  const int length = lengths[blockIdx.x];
  for (int i = threadIdx.x; i < length; i += blockDim.x)
    if (VARIANT == 0 || i < 40) tile[i] = in[(blockIdx.x * shape.longest + i) % shape.width];
  __syncthreads();
  for (int i = threadIdx.x; i < length; i += blockDim.x)
    out[blockIdx.x * shape.longest + i] = tile[VARIANT ? (length - 1 - i) % 40 : length - 1 - i];
}
int main() {
  int host[256], longest = 40, count[3] = {40, 17, 33}, *in, *lengths, *out;
  for (int i = 0; i < 256; ++i) host[i] = i * 37 % 101;
  if (hipMalloc(&in, 1024) || hipMalloc(&lengths, 12) || hipMalloc(&out, 3 * longest * 4)) return 1;
  if (hipMemset(out, 0, 3 * longest * 4) || hipMemcpy(in, host, 1024, hipMemcpyHostToDevice)) return 2;
  if (hipMemcpy(lengths, count, 12, hipMemcpyHostToDevice)) return 3;
  backwards<<<3, 32, longest * 4>>>(in, lengths, out, Shape{256, longest});
  return hipDeviceSynchronize();
}
"""


def test_what_a_list_says_the_lengths_of_grows_with_its_bound(tmp_path: Path) -> None:
    assert "variant" in Variants(tmp_path, CONTEXTS).altered(1, 3).divergences
