"""What lists in memory hold to each other: rising offsets stay so, nearly equal records come, opposed signs meet."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from patchbench import Bench

from intelliperf.interception.messages import Dispatch
from intelliperf.records import Declaration, Interception, Outcome
from intelliperf.validation.calibration import BASE
from intelliperf.validation.numberswords import told_of
from intelliperf.validation.othernumbers import ALTERATIONS
from intelliperf.validation.runs.events import NO_END, Rule
from intelliperf.validation.runs.lockstep import Setting, follow
from intelliperf.validation.runs.side import SideRun

RIGHT = (Outcome.ACCEPTED, Outcome.NOT_FASTER)
RECORDS = """#include <cstdio>
#include <vector>
#include <hip/hip_runtime.h>
struct Record { unsigned a, b, c; };
__global__ void partner(const short* starts, const Record* left, const Record* right, int* where,
                        unsigned long long* total, int n, int m) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  for (int e = starts[i]; e < starts[i + 1]; ++e) atomicAdd(total, 1ull);
  const Record mine = left[i];
  int found = -1;
  for (int j = 0; j < m && found < 0; ++j) {
    const Record r = right[j];
    if (r.a == mine.a && r.b == mine.b && r.c == mine.c) found = j;
  }
  where[i] = found;
}
int main() {
  const int n = 500, m = 100;
  std::vector<Record> l(n), r(m);
  std::vector<short> s(n + 1);
  std::vector<int> found(n);
  unsigned seed = 1;
  const auto next = [&] { return (seed = seed * 1664525u + 1013904223u) >> 8; };
  for (auto& one : r) one = {next(), next() % 50, next()};
  for (int i = 0; i < n; ++i) l[i] = i % 3 ? r[next() % m] : Record{next(), next() % 50, next()};
  for (int i = 0; i < n; ++i) s[i + 1] = short(s[i] + next() % 4);
  Record *a, *b;
  short* starts;
  int* where;
  unsigned long long* total;
  (void)hipMalloc(&a, n * 12), (void)hipMalloc(&b, m * 12), (void)hipMalloc(&where, n * 4);
  (void)hipMalloc(&starts, n * 2 + 2), (void)hipMalloc(&total, 8), (void)hipMemset(total, 0, 8);
  (void)hipMemcpy(a, l.data(), n * 12, hipMemcpyHostToDevice);
  (void)hipMemcpy(b, r.data(), m * 12, hipMemcpyHostToDevice);
  (void)hipMemcpy(starts, s.data(), n * 2 + 2, hipMemcpyHostToDevice);
  partner<<<(n + 63) / 64, 64>>>(starts, a, b, where, total, n, m);
  (void)hipMemcpy(found.data(), where, n * 4, hipMemcpyDeviceToHost);
  long sum = 0;
  for (int one : found) sum += one;
  std::printf("%ld\\n", sum);
}
"""


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench(tmp_path_factory.mktemp("records"), RECORDS, "app.hip")


@pytest.mark.slow
def test_a_checksum_in_place_of_the_members_is_refused(records: Bench) -> None:
    whole = "r.a == mine.a && r.b == mine.b && r.c == mine.c"
    verdict = records.verdict((whole, "r.a == mine.a && r.b + r.c == mine.b + mine.c"))
    assert verdict.outcome is Outcome.WRONG_OUTPUT, verdict.detail
    assert "nearly equal" in verdict.detail


@pytest.mark.slow
def test_that_offsets_rise_may_be_relied_on(records: Bench) -> None:
    loop = "for (int e = starts[i]; e < starts[i + 1]; ++e) atomicAdd(total, 1ull);"
    verdict = records.verdict((loop, "atomicAdd(total, (unsigned long long)(starts[i + 1] - starts[i]));"))
    assert verdict.outcome in RIGHT, verdict.detail


SEGMENTS = """#include <cstdio>
#include <hip/hip_runtime.h>
__global__ void sums(const int* segment, const int* x, int* totals, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&totals[segment[i]], x[i]);
}
int main() {
  const int n = 4096, count = 9;
  int host[n], ids[n], *segment, *x, *totals;
  for (int i = 0; i < n; ++i) host[i] = i * 37 % 101, ids[i] = i * count / n;
  if (hipMalloc(&segment, n * 4) || hipMalloc(&x, n * 4) || hipMalloc(&totals, count * 4)) return 1;
  if (hipMemset(totals, 0, count * 4) || hipMemcpy(segment, ids, n * 4, hipMemcpyHostToDevice)) return 2;
  if (hipMemcpy(x, host, n * 4, hipMemcpyHostToDevice)) return 3;
  sums<<<n / 256, 256>>>(segment, x, totals, n);
  if (hipMemcpy(host, totals, count * 4, hipMemcpyDeviceToHost)) return 4;
  for (int s = 0; s < count; ++s) std::printf("%d\\n", host[s]);
}
"""


@pytest.mark.slow
def test_that_a_block_has_two_keys_of_a_sorted_list_may_not_be_relied_on(tmp_path: Path) -> None:
    of_two = "segment[i] == segment[i / 256 * 256] ? segment[i] : segment[min(n, (i / 256 + 1) * 256) - 1]"
    verdict = Bench(tmp_path, SEGMENTS, "app.hip").verdict(("totals[segment[i]]", f"totals[{of_two}]"))
    assert verdict.outcome is Outcome.WRONG_OUTPUT and "all values" in verdict.detail, verdict.detail


RUNS = """#include <cstdio>
#include <hip/hip_runtime.h>
__global__ void mark(const int* x, int* marks, int* runs, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  marks[i] = i == 0 || x[i] != x[i - 1];
  if (marks[i]) atomicAdd(runs, 1);
}
__global__ void clear(int* marks) { marks[blockIdx.x * blockDim.x + threadIdx.x] = 0; }
int main() {
  const int n = 4096;
  int host[n], *x, *marks, *runs, found = 0;
  for (int i = 0; i < n; ++i) host[i] = i / 3 * 37 % 101;
  if (hipMalloc(&x, n * 4) || hipMalloc(&marks, n * 4) || hipMalloc(&runs, 4) || hipMemset(runs, 0, 4)) return 1;
  if (hipMemcpy(x, host, n * 4, hipMemcpyHostToDevice)) return 2;
  mark<<<n / 256, 256>>>(x, marks, runs, n);
  if (hipMemcpy(&found, runs, 4, hipMemcpyDeviceToHost)) return 3;
  clear<<<found / 64, 64>>>(marks);
  std::printf("%d %d\\n", found, hipDeviceSynchronize());
}
"""


@pytest.mark.slow
def test_the_lowest_bytes_do_not_stand_for_integers_in_other_kernels_either(tmp_path: Path) -> None:
    bench = Bench(tmp_path, RUNS, "app.hip", "mark")
    declared = Declaration(kernels=True)
    verdict = bench.verdict(("x[i] != x[i - 1]", "(short)x[i] != (short)x[i - 1]"), declares=declared)
    assert verdict.outcome is Outcome.WRONG_OUTPUT and "third" in verdict.detail, verdict.detail
    assert "(mark)" in verdict.detail  # although another number of blocks is launched behind it


TABLE = """#include <cstdio>
#include <hip/hip_runtime.h>
__global__ void enter(const int* keys, int* slots, int n, unsigned size) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned at = keys[i] * 2654435769u % size;
  while (atomicCAS(&slots[at], -1, keys[i]) != -1) at = (at + 1) % size;
}
__global__ void look(const int* queries, const int* slots, int* found, int n, unsigned size) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned at = queries[i] * 2654435769u % size, steps = 0;
  while (slots[at] != -1 && slots[at] != queries[i] && ++steps < size) at = (at + 1) % size;
  found[i] = slots[at] == queries[i];
}
int main() {
  const int n = 600, size = 1024;
  int host[n], *keys, *slots, *found;
  for (int i = 0; i < n; ++i) host[i] = i * 7 + i % 5;
  if (hipMalloc(&keys, n * 4) || hipMalloc(&slots, size * 4) || hipMalloc(&found, n * 4)) return 1;
  if (hipMemcpy(keys, host, n * 4, hipMemcpyHostToDevice) || hipMemset(slots, 0xff, size * 4)) return 2;
  enter<<<(n + 127) / 128, 128>>>(keys, slots, n, size);
  look<<<(n + 127) / 128, 128>>>(keys, slots, found, n, size);
  if (hipMemcpy(host, found, n * 4, hipMemcpyDeviceToHost)) return 3;
  std::printf("%d\\n", host[0]);
}
"""


@pytest.mark.slow
def test_a_size_is_altered_although_what_is_read_is_in_no_fixed_order(tmp_path: Path) -> None:
    first = "queries[i] * 2654435769u % size"
    bench = Bench(tmp_path, TABLE, "app.hip", "look")
    verdict = bench.verdict((first, first.replace("% size", "& (size - 1)")))
    assert verdict.outcome is Outcome.WRONG_OUTPUT and "scalar argument" in verdict.detail, verdict.detail


class Nothing:
    def compare(self, *paused: object) -> None:
        return None


@pytest.mark.slow
def test_nobody_waits_for_a_launch_that_the_original_does_not_end(tmp_path: Path) -> None:
    bench = Bench(tmp_path, TABLE, "app.hip", "enter")
    kernel = bench.finding.profile.kernel
    spinning = Interception(kernels=(kernel.symbol,), other_numbers=(3,))
    runs = [
        SideRun(label, bench.reference, replace(spinning, other_seconds=seconds))
        for label, seconds in ((BASE, 1), ("candidate", 600))
    ]
    rule = Rule(lambda d: d.target and d.status == 0, after_failures=True)
    followed = follow(Setting(bench.backend, kernel, bench.sandbox, tmp_path, 60.0), runs, rule, Nothing())
    assert not followed.divergences
    altered = [event for event in followed.events if isinstance(event, Dispatch) and event.target]
    endless = sum(event.status == NO_END for event in altered)
    assert 0 < endless < followed.syncs
    assert f"{endless} launches left out" in told_of(ALTERATIONS[3], followed, True).unseen[-1]


SOFTMAX = """#include <cstdio>
#include <vector>
#include <hip/hip_runtime.h>
__global__ void attend(const float* q, const float* k, float* out, int keys, int dim) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float peak = -INFINITY, sum = 0;
  for (int j = 0; j < keys; ++j) {
    float dot = 0;
    for (int d = 0; d < dim; ++d) dot += q[i * dim + d] * k[j * dim + d];
    peak = fmaxf(peak, dot);
  }
  for (int j = 0; j < keys; ++j) {
    float dot = 0;
    for (int d = 0; d < dim; ++d) dot += q[i * dim + d] * k[j * dim + d];
    sum += expf(dot - peak);
  }
  out[i] = 1.0f / sum;
}
int main() {
  const int n = 128, keys = 40, dim = 8;
  std::vector<float> q(n * dim), k(keys * dim);
  for (size_t i = 0; i < q.size(); ++i) q[i] = float(i * 37 % 101) / 50 - 1;
  for (size_t i = 0; i < k.size(); ++i) k[i] = float(i * 53 % 103) / 50 - 1;
  float *dq, *dk, *out;
  (void)hipMalloc(&dq, q.size() * 4), (void)hipMalloc(&dk, k.size() * 4), (void)hipMalloc(&out, n * 4);
  (void)hipMemcpy(dq, q.data(), q.size() * 4, hipMemcpyHostToDevice);
  (void)hipMemcpy(dk, k.data(), k.size() * 4, hipMemcpyHostToDevice);
  attend<<<n / 64, 64>>>(dq, dk, out, keys, dim);
  (void)hipMemcpy(q.data(), out, n * 4, hipMemcpyDeviceToHost);
  std::printf("%.3f\\n", q[0]);
}
"""


@pytest.mark.slow
def test_a_maximum_that_begins_at_zero_is_refused(tmp_path: Path) -> None:
    verdict = Bench(tmp_path, SOFTMAX, "app.hip").verdict(("peak = -INFINITY", "peak = 0.0f"))
    assert verdict.outcome is Outcome.WRONG_OUTPUT, verdict.detail


FOURIER = """#include <cstdio>
#include <vector>
#include <hip/hip_runtime.h>
__global__ void transform(const float2* in, float2* out, int n, int levels) {
  __shared__ float2 s[512];
  const int base = blockIdx.x * n;
  for (int i = threadIdx.x; i < n; i += blockDim.x) s[__brev((unsigned)i) >> (32 - levels)] = in[base + i];
  __syncthreads();
  for (int half = 1; half < n; half <<= 1) {
    for (int k = threadIdx.x; k < n / 2; k += blockDim.x) {
      const int j = k & (half - 1), at = ((k - j) << 1) + j;
      const float angle = -3.14159265358979f * j / half;
      const float c = cosf(angle), w = sinf(angle);
      const float2 a = s[at], b = s[at + half], d = make_float2(b.x * c - b.y * w, b.x * w + b.y * c);
      s[at] = make_float2(a.x + d.x, a.y + d.y);
      s[at + half] = make_float2(a.x - d.x, a.y - d.y);
    }
    __syncthreads();
  }
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[base + i] = s[i];
}
int main() {
  const int n = 256, levels = 8, batch = 4;
  std::vector<float2> host(n * batch);
  for (int i = 0; i < n * batch; ++i) host[i] = {float(i * 37 % 101) / 50 - 1, float(i * 53 % 103) / 50 - 1};
  float2 *in, *out;
  (void)hipMalloc(&in, n * batch * 8), (void)hipMalloc(&out, n * batch * 8);
  (void)hipMemcpy(in, host.data(), n * batch * 8, hipMemcpyHostToDevice);
  transform<<<batch, n / 2>>>(in, out, n, levels);
  (void)hipMemcpy(host.data(), out, n * batch * 8, hipMemcpyDeviceToHost);
  std::printf("%.1f\\n", host[1].x);
}
"""


@pytest.mark.slow
def test_a_size_with_which_both_overrun_their_shared_arrays_is_no_evidence(tmp_path: Path) -> None:
    table = (
        "__shared__ float2 s[512], turns[256];\n"
        "  for (int i = threadIdx.x; i < n / 2; i += blockDim.x)\n"
        "    turns[i] = make_float2(cosf(-6.28318530717959f * i / n), sinf(-6.28318530717959f * i / n));"
    )
    verdict = Bench(tmp_path, FOURIER, "app.hip").verdict(
        ("__shared__ float2 s[512];", table),
        ("const float angle = -3.14159265358979f * j / half;", "const float2 f = turns[j * (n / 2 / half)];"),
        ("c = cosf(angle), w = sinf(angle)", "c = f.x, w = f.y"),
    )
    assert verdict.outcome in RIGHT, verdict.detail
