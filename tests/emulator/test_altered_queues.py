"""What a launch reads by way of a list that is in no fixed order is altered where the list leads to."""

from __future__ import annotations

from pathlib import Path

from test_altered_launches import Variants

from intelliperf.records import Interception

QUEUE = """#include <hip/hip_runtime.h>
#include <vector>
__global__ void expand(const int* first, const int* queue, int* lengths, int queued) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= queued) return;
  const int v = queue[i];
  int length = 0;
  for (int e = first[v]; e < first[v + 1]; ++e) length += VARIANT == 0 || length < 96;
  lengths[i] = length;
}
int* sent(const std::vector<int>& host) {
  int* at = nullptr;
  if (hipMalloc(&at, host.size() * 4) || hipMemcpy(at, host.data(), host.size() * 4, hipMemcpyHostToDevice)) exit(1);
  return at;
}
int main() {
  const int n = 200;
  std::vector<int> first(n + 1), queue(n, 0);
  for (int i = 0; i < n; ++i) first[i + 1] = first[i] + i % 4;
  for (int i = 0; i < 12; ++i) queue[i] = 60 - 5 * i;
  int *f = sent(first), *q = sent(queue), *l = sent(std::vector<int>(n));
  expand<<<1, 64>>>(f, q, l, 12);
  return hipDeviceSynchronize();
}
"""


def test_the_longest_row_is_one_that_the_launch_goes_through(tmp_path: Path) -> None:
    altered = Interception(other_numbers=(2,), other_kept=(2,))
    assert "variant" in Variants(tmp_path, QUEUE).followed(1, altered).divergences


FOREST = """#include <hip/hip_runtime.h>
#include <vector>
__global__ void hook(const int* from, const int* to, int* parent, int edges) {
  const int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e >= edges) return;
  const int a = parent[from[e]], b = parent[to[e]];
  if (VARIANT ? ((a ^ b) & 1023) == 0 : a == b) return;
  atomicMin(&parent[max(a, b)], min(a, b));
}
int* sent(const std::vector<int>& host) {
  int* at = nullptr;
  if (hipMalloc(&at, host.size() * 4) || hipMemcpy(at, host.data(), host.size() * 4, hipMemcpyHostToDevice)) exit(1);
  return at;
}
int main() {
  const int n = 300;
  std::vector<int> from(n), to(n), parent(n);
  for (int i = 0; i < n; ++i) from[i] = (i * 37) % n, to[i] = (i * 110 + 7) % n, parent[i] = i;
  int *f = sent(from), *t = sent(to), *p = sent(parent);
  hook<<<(n + 63) / 64, 64>>>(f, t, p, n);
  return hipDeviceSynchronize();
}
"""


def test_what_no_order_leaves_alike_holds_integers_alike_in_the_bits_of_a_narrower_type(tmp_path: Path) -> None:
    variants = Variants(tmp_path, FOREST)
    assert "variant" not in variants.followed(1, Interception(other_numbers=(2,), other_kept=(3,))).divergences
    altered = Interception(other_numbers=(6,), other_kept=(3,), other_widths=(10,))
    assert "variant" in variants.followed(1, altered).divergences
