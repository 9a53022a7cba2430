"""Totals, rows and costs that a candidate has less room for than the original, in altered launches."""

from __future__ import annotations

import pytest
from test_altered_launches import Variants

from intelliperf.records import Interception

SOURCE = """#include <vector>
#include <hip/hip_runtime.h>
__global__ void totals(const signed char* a, const signed char* b, const int* first, int* sums, int* weights, int rows,
                       int depth, int longest, int cost) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  int sum = 0;
  float total = 0;
  for (int i = 0; i < depth; ++i) {
    if (VARIANT == 1) total += float(a[row * depth + i]) * float(b[i]);
    else if (VARIANT == 2 && i + 1 < depth)
      sum += short(a[row * depth + i] * b[i] + a[row * depth + i + 1] * b[i + 1]), ++i;
    else sum += a[row * depth + i] * b[i];
  }
  sums[row] = VARIANT == 1 ? int(total) : VARIANT == 3 ? min(sum, 0xFFFFFF) : sum;
  const int length = first[row + 1] - first[row];
  if (length > longest) weights[1 << 29] = 0;
  int weight = 0;
  for (int e = 0; e < (VARIANT == 4 ? min(length, 64) : length); ++e) weight += e % 3 ? 3 : VARIANT == 5 ? -4 : cost;
  weights[row] = weight;
}
template <class T>
T* sent(const std::vector<T>& host) {
  T* at = nullptr;
  const size_t bytes = host.size() * sizeof(T);
  if (hipMalloc(&at, bytes) || hipMemcpy(at, host.data(), bytes, hipMemcpyHostToDevice)) exit(1);
  return at;
}
int main() {
  const int rows = 96, depth = 40;
  std::vector<signed char> a(rows * depth), b(depth);
  std::vector<int> first(rows + 1), none(rows);
  for (int i = 0; i < rows * depth; ++i) a[i] = i * 31 % 200 - 100;
  for (int i = 0; i < depth; ++i) b[i] = i * 17 % 90 - 45;
  for (int i = 0; i < rows; ++i) first[i + 1] = first[i] + 1 + i % 7;
  totals<<<2, 48>>>(sent(a), sent(b), sent(first), sent(none), sent(none), rows, depth, 12, -4);
  return hipDeviceSynchronize();
}
"""


@pytest.fixture(scope="module")
def variants(tmp_path_factory: pytest.TempPathFactory) -> Variants:
    return Variants(tmp_path_factory.mktemp("totals"), SOURCE)


@pytest.mark.parametrize(
    ("variant", "asked"),
    [
        pytest.param(
            1, Interception(other_numbers=(6,), other_widths=(24,)), id="a total in a float", marks=pytest.mark.slow
        ),
        pytest.param(
            2,
            Interception(other_numbers=(6,), other_widths=(16,)),
            id="two products in 16 bits",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            3, Interception(other_numbers=(6,), other_widths=(24,)), id="a total that is cut", marks=pytest.mark.slow
        ),
        pytest.param(4, Interception(other_numbers=(3,)), id="a row as long as a limit allows"),
        pytest.param(5, Interception(other_numbers=(3,)), id="a negative argument"),
    ],
)
def test_what_a_candidate_has_less_room_for_shows(variants: Variants, variant: int, asked: Interception) -> None:
    assert "variant" in variants.followed(variant, asked).divergences
