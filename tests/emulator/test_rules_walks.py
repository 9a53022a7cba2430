"""Rows that threads walk by pointers and other counters: run on the emulator before and after."""

from __future__ import annotations

import re
from pathlib import Path

from rowproposals import propose
from rulebench import output

WALKS = """\
#include <hip/hip_runtime.h>
#include <cstdio>
struct Square { __device__ int operator()(int v) const { return v * v; } };
template <typename T, class F>
__global__ void norms(const T* m, T* out, int rows, int cols, F f) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const T* p = m + (size_t)row * cols;
  const T* end = p + cols;
  T sum = T(0);
  while (p != end) {
    sum += f(*p);
    ++p;
  }
  out[row] = sum;
}
__global__ void pairs(const int* a, const int* b, int* out, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) {
    const int *p = a + row * cols, *q = b + row * cols, *stop = p + cols;
    int dot = 0, most = -1;
    for (; stop > p; ++p, q++) {
      dot += *p * *q;
      if (*p & 1) dot -= *q;
      if (*q > most) most = *q;
    }
    out[row] = dot ^ most;
  }
}
__device__ int total(const int* v, int n) {
  int s = 0, i = 0;
  while (i < n) s += v[i++];
  return s;
}
__global__ void shifted(const int* in, int* out, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  in += row * cols;
  int* to = out + row * cols;
  int mean = total(in, cols) / cols;
  for (int k = 0; k < cols; ++k) *to++ = *in++ - mean;
  int* again = out + row * cols;
  for (int* last = again + cols; again < last; again++) { *again *= 3; }
}
__global__ void jagged(const int* const* table, const int* other, int* out, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  const int* x = table[r];
  int sum = 0, more = 0;
  for (int c = 0; c < cols; ++c) sum += x[c];
  const int* y;
  if (r & 1) y = other; else y = table[0] + r;
  for (int c = 0; c < cols; ++c) more += *y++;
  out[r] = sum ^ more;
}
__global__ void soft(const int* m, int* out, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  const int* x = m + r * cols;
  float top = -1e30f, d = 0;
  for (int c = 0; c < cols; c++) {
    float before = top;
    top = fmaxf(top, 0.01f * x[c]);
    d = d * expf(before - top) + expf(0.01f * x[c] - top);
  }
  out[3 * r] = int(rintf(100 * d));
  float most = 0.01f * x[0], sum = 1;
  for (int c = 1; c < cols; c++) {
    float v = 0.01f * x[c], next = v > most ? v : most;
    sum *= exp(most - next);
    sum += 2 * exp(v - next) * c;
    most = next;
  }
  out[3 * r + 1] = int(rintf(sum + most));
  float greatest = -1e30f, total = 0;
  for (int c = 0; c < cols - 40; c++) {
    float v = 0.01f * x[c];
    if (v > greatest) {
      total *= exp2f(greatest - v);
      greatest = v;
    }
    total += exp2f(v - greatest);
  }
  out[3 * r + 2] = int(rintf(100 * total));
}
__global__ void spans(int* m, int* out, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  int low = 4000, high = -1, left = cols;
  int* p = m + (long)r * cols;
  while (left > 0) {
    low = min(low, *p);
    high = max(high, *p);
    p++;
    left--;
  }
  p = m + (long)r * cols;
  for (int c = 0; c < cols; c++, p++) *p = (*p - low) * 100 / (high - low);
  p = out + r * cols;
  for (int c = cols - 1; c >= 0; --c) p[c] = m[r * cols + c] + high;
}
template <int W>
__global__ void marks(const int* level, int* mark, int* per_column, int rows) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < rows) {
    int top = level[r * W];
    mark[r * W] = top;
    for (unsigned c = 1; c < W; c++) {
      const int v = level[r * W + c];
      top = v > top ? v : top;
      mark[r * W + c] = top;
    }
    float least = 4000.5f;
    for (int c = 0; c < W; ++c) {
      int v = level[r * W + c];
      float x = v * 0.5f;
      if (x < least) least = x;
      mark[r * W + c] -= int(least);
      if (v & 1) continue;
    }
    for (int c = 0; c < W; ++c) {
      int v = level[r * W + c];
      if (v < least) least = v;
      mark[r * W + c] -= int(least);
    }
    int odd = r, window = 0;
    for (int c = 0; c < W; ++c) {
      const int v = level[r * W + c];
      if (v & 1) odd++;
      mark[r * W + c] += odd;
    }
    for (int c = 0; c < W; ++c) {
      window += level[r * W + c];
      if (c >= 7)
        window -= level[r * W + c - 7];
      mark[r * W + c] ^= window;
    }
    int most = window;
    for (int c = 0; c < W; ++c) {
      int v = level[r * W + c];
      atomicAdd(per_column + c, v);
      most = max(most, v);
    }
    atomicMax(per_column + W, most);
  }
}
__global__ void columns(const int* m, int* out, int rows, int cols) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= cols) return;
  const int* p = m + c;
  int sum = 0;
  for (int r = 0; r < rows; r++, p += cols) sum += *p;
  out[c] = sum;
}
int main() {
  const int rows = 70, cols = 45, n = rows * cols;
  static int v[n], o[n];
  for (int i = 0; i < n; ++i) v[i] = i * 7919 % 1013;
  int *m, *out;
  hipMalloc(&m, 4 * n); hipMalloc(&out, 4 * n); hipMemcpy(m, v, 4 * n, hipMemcpyHostToDevice); hipMemset(out, 0, 4 * n);
  norms<<<3, 32>>>(m, out, rows, cols, Square());
  hipMemcpy(o, out, 4 * rows, hipMemcpyDeviceToHost);
  for (int i = 0; i < rows; ++i) printf("%d ", o[i]);
  pairs<<<3, 32>>>(m, m + cols, out, rows - 1, cols);
  hipMemcpy(o, out, 4 * rows, hipMemcpyDeviceToHost);
  for (int i = 0; i < rows; ++i) printf("%d ", o[i]);
  columns<<<2, 32>>>(m, out, rows, cols);
  hipMemcpy(o, out, 4 * cols, hipMemcpyDeviceToHost);
  for (int i = 0; i < cols; ++i) printf("%d ", o[i]);
  shifted<<<3, 32>>>(m, out, rows, cols);
  hipMemcpy(o, out, 4 * n, hipMemcpyDeviceToHost);
  for (int i = 0; i < n; ++i) printf("%d ", o[i]);
  static const int* lines[rows]; const int** table;
  for (int i = 0; i < rows; ++i) lines[i] = m + (i * 7 % 60) * cols;
  hipMalloc(&table, sizeof lines); hipMemcpy(table, lines, sizeof lines, hipMemcpyHostToDevice);
  jagged<<<3, 32>>>(table, m + 9, out, rows, cols);
  hipMemcpy(o, out, 4 * rows, hipMemcpyDeviceToHost);
  for (int i = 0; i < rows; ++i) printf("%d ", o[i]);
  soft<<<3, 32>>>(m, out, rows, cols);
  hipMemcpy(o, out, 12 * rows, hipMemcpyDeviceToHost);
  for (int i = 0; i < 3 * rows; ++i) printf("%d ", o[i]);
  spans<<<3, 32>>>(m, out, rows, cols);
  hipMemcpy(o, out, 4 * n, hipMemcpyDeviceToHost);
  for (int i = 0; i < n; ++i) printf("%d ", o[i]);
  marks<cols><<<3, 32>>>(m, out, out + n - cols - 1, rows - 2);
  hipMemcpy(o, out, 4 * n, hipMemcpyDeviceToHost);
  for (int i = 0; i < n; ++i) printf("%d ", o[i]);
}
"""


def test_pointers_walk_along_a_row_as_counters_do(tmp_path: Path) -> None:
    text = WALKS
    for kernel in ("norms", "pairs", "shifted", "columns", "marks", "spans", "soft", "jagged"):
        proposal = propose(tmp_path / kernel, "app.hip", text, kernel)
        assert proposal.candidate is not None, proposal.declined
        (edit,) = proposal.candidate.edits
        text = edit.text
    assert "while (p < end)" in text and "stop > p; p += 32, q += 32" in text and "s += v[i]; i += 32; }" in text
    assert "*to = *in - mean;" in text and "again < last; again += 32) { *again *= 3; }" in text
    assert (
        "{ top = v > top ? v : top; }" in text and "top = group_last(top);" in text and "group_running_least(" in text
    )
    assert "        part_here_step2 -= level[" in text and "window += group_running_sum(part_here_step2);" in text
    assert len(re.findall(r"= group_sum\(part_most\w* == \w+ \? (\w+) : \1 \* exp", text)) == 3
    assert "sum += x[c];" in text and "more += *y; y += 32; }" in text
    assert "left -= 32;" in text and re.search(r"int c = cols - 1 - lane\w*; c >= 0; c -= 32\)", text)
    assert re.search(r"if \(lane\w* == 0\) atomicMax\(per_column", text)
    assert re.search(r"p \+= lane\w* \* \(cols\);", text)
    assert output(tmp_path / "after", {"app.hip": text}) == output(tmp_path / "before", {"app.hip": WALKS})
