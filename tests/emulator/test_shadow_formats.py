"""Shadows of numbers in narrow formats, of matrix instructions and of square roots with and without their laws."""

from __future__ import annotations

import pytest
from shadowruns import ShadowRuns

from intelliperf.validation.buffers.algebra import Level

NARROW = """#include <cstdlib>
#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>
#include <vector>
template <class T>
__global__ void kernel(const T* x, const T* y, T* out, int v) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const T a = x[i], b = y[i];
  const float fa = float(a), fb = float(b);
  if (v == 0) out[i] = a * b + (a + b);
  if (v == 1) out[i] = b + (a + b * a);
  if (v == 2) out[i] = __hfma(b, a, a + b);
  if (v == 3) out[i] = T(fa * fb + fa + fb);
  if (v == 4) out[i] = a * b + (a + b) + a * T(0.0078125f);
  if (v == 5) out[i] = a * b + a;
}
int main(int argc, char** argv) {
  const int n = 1024, v = std::atoi(argv[1]);
  using T = NUMBER;
  std::vector<T> x(n), y(n);
  for (int i = 0; i < n; ++i) x[i] = T(0.5f + 0.013f * (i % 71)), y[i] = T(1.25f - 0.017f * (i % 53));
  T *dx, *dy, *out;
  (void)hipMalloc(&dx, n * sizeof(T)), (void)hipMalloc(&dy, n * sizeof(T)), (void)hipMalloc(&out, n * sizeof(T));
  (void)hipMemcpy(dx, x.data(), n * sizeof(T), hipMemcpyHostToDevice);
  (void)hipMemcpy(dy, y.data(), n * sizeof(T), hipMemcpyHostToDevice);
  kernel<T><<<n / 128, 128>>>(dx, dy, out, v);
  (void)hipDeviceSynchronize();
}
"""


@pytest.mark.parametrize(("number", "word"), [("__hip_bfloat16", "bfloat"), ("__half", "half")])
def test_narrow_numbers_are_followed_through_every_rounding(tmp_path, number, word):
    runs = ShadowRuns(tmp_path, NARROW.replace("NUMBER", number), word)
    for variant, level in ((1, Level.EQUAL), (2, Level.EQUAL), (3, Level.EQUAL), (4, Level.DIFFERENT)):
        found, account, observer = runs.compared(variant)
        assert account.kinds == {word} and account.elements >= 1024, variant
        assert found is level, (variant, observer.doubt)
    assert runs.compared(5)[0] is Level.DIFFERENT


PRODUCT = """#include <cstdlib>
#include <hip/hip_runtime.h>
#include <vector>
typedef float f4 __attribute__((ext_vector_type(4)));
typedef _Float16 h4 __attribute__((ext_vector_type(4)));
__global__ void kernel(const _Float16* a, const _Float16* b, float* out, int v) {  // 16 x 16 times 16 x 16
  const int t = threadIdx.x, r = t % 16, part = t / 16;
  if (v == 0) {
    for (int i = 4 * part; i < 4 * part + 4; ++i) {
      float s = 0;
      for (int k = 0; k < 16; ++k) s += float(a[i * 16 + k]) * float(b[k * 16 + r]);
      out[i * 16 + r] = s;
    }
    return;
  }
  h4 mine, theirs;
  for (int k = 0; k < 4; ++k) {
    mine[k] = a[r * 16 + 4 * part + k];
    theirs[k] = b[(4 * part + k) * 16 + r];
  }
  if (v == 2 && part == 3) mine[3] = 0;
  const f4 sum = __builtin_amdgcn_mfma_f32_16x16x16f16(mine, theirs, f4{0, 0, 0, 0}, 0, 0, 0);
  for (int k = 0; k < 4; ++k) out[(4 * part + k) * 16 + r] = sum[k];
}
int main(int argc, char** argv) {
  std::vector<_Float16> a(256), b(256);
  for (int i = 0; i < 256; ++i) a[i] = _Float16(0.3f + 0.01f * (i % 37)), b[i] = _Float16(1.1f - 0.02f * (i % 29));
  _Float16 *da, *db;
  float* out;
  (void)hipMalloc(&da, 512), (void)hipMalloc(&db, 512), (void)hipMalloc(&out, 1024);
  (void)hipMemcpy(da, a.data(), 512, hipMemcpyHostToDevice), (void)hipMemcpy(db, b.data(), 512, hipMemcpyHostToDevice);
  kernel<<<1, 64>>>(da, db, out, std::atoi(argv[1]));
  (void)hipDeviceSynchronize();
}
"""


def test_a_matrix_instruction_gives_the_real_numbers_of_the_loop_that_it_replaces(tmp_path):
    runs = ShadowRuns(tmp_path, PRODUCT, "half", target="mi300x")
    level, account, _ = runs.compared(1)
    assert level is Level.EQUAL and account.elements >= 256
    assert runs.compared(2)[0] is Level.DIFFERENT


ROOTS = """#include <cstdlib>
#include <hip/hip_runtime.h>
#include <vector>
__global__ void kernel(const float* x, float* out, int v) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float a = x[i];
  if (v == 0) out[i] = rsqrtf(a + 1.0f) * a + sqrtf(a);
  if (v == 1) out[i] = sqrtf(a) + a * rsqrtf(1.0f + a);
  if (v == 2) out[i] = 2.0f * a / sqrtf(4.0f * (a + 1.0f)) + sqrtf(a);
  if (v == 3) out[i] = rsqrtf(a + 1.0f) * a + sqrtf(a) * 1.000001f;
}
int main(int argc, char** argv) {
  const int n = 256;
  std::vector<float> x(n);
  for (int i = 0; i < n; ++i) x[i] = 0.5f + 0.37f * i;
  float *dx, *out;
  (void)hipMalloc(&dx, 4 * n), (void)hipMalloc(&out, 4 * n);
  (void)hipMemcpy(dx, x.data(), 4 * n, hipMemcpyHostToDevice);
  kernel<<<n / 64, 64>>>(dx, out, std::atoi(argv[1]));
  (void)hipDeviceSynchronize();
}
"""


def test_roots_that_stand_for_any_function_are_equal_only_where_no_law_of_theirs_is_needed(tmp_path):
    runs = ShadowRuns(tmp_path, ROOTS, "")
    level, account, observer = runs.compared(1, free_functions=True)
    assert level is Level.EQUAL and observer.free and account.elements == 256  # the input has no shadows to compare
    level, _, observer = runs.compared(2, free_functions=True)
    assert level is not Level.EQUAL and observer.free  # sqrt(4x) is 2 sqrt(x) by law alone
    level, _, observer = runs.compared(2)
    assert level is Level.EQUAL and not observer.free
    assert runs.compared(3)[0] is Level.DIFFERENT
    assert runs.compared(3, free_functions=True)[0] is Level.DIFFERENT


PACKED = """#include <cstdlib>
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>
#include <vector>
struct Best { float value; int index; };
__device__ Best better(Best a, Best b) {
  return b.value > a.value || (b.value == a.value && b.index < a.index) ? b : a;
}
__global__ void kernel(const float* x, const __half* h, Best* best, __half* out, int n, int v) {
  __shared__ Best part[64];
  Best mine = {-1e30f, n};
  for (int i = threadIdx.x; i < n; i += 64)
    mine = better(mine, Best{v == 3 ? x[i] * 1.0000002f : x[i] + x[i] * x[0], i});
  part[threadIdx.x] = mine;
  __syncthreads();
  for (int s = v ? 32 : 1; v ? s > 0 : s < 64; s = v ? s / 2 : 2 * s) {
    const bool mine_to_do = v ? threadIdx.x < s : threadIdx.x % (2 * s) == 0;
    if (mine_to_do) part[threadIdx.x] = better(part[threadIdx.x], part[threadIdx.x + s]);
    __syncthreads();
  }
  if (threadIdx.x == 0) *best = part[0];
  for (int i = threadIdx.x; i < n / 2; i += 64) {
    const __half2 a = reinterpret_cast<const __half2*>(h)[i];
    const __half two = __float2half(v == 2 ? 2.002f : 2.0f);
    for (int k = 2 * i; v == 0 && k < 2 * i + 2; ++k) out[k] = __hadd(__hmul(h[k], h[k]), two);
    if (v != 0) reinterpret_cast<__half2*>(out)[i] = __hadd2(__hmul2(a, a), __half2(two, two));
  }
}
int main(int argc, char** argv) {
  const int n = 512, v = std::atoi(argv[1]);
  std::vector<float> x(n);
  std::vector<__half> h(n);
  for (int i = 0; i < n; ++i) x[i] = 0.001f * (i * 37 % 511), h[i] = __half(0.5f + 0.013f * (i % 71));
  float* dx;
  __half *dh, *out;
  Best* best;
  (void)hipMalloc(&dx, n * 4), (void)hipMalloc(&dh, n * 2), (void)hipMalloc(&out, n * 2), (void)hipMalloc(&best, 8);
  (void)hipMemcpy(dx, x.data(), n * 4, hipMemcpyHostToDevice);
  (void)hipMemcpy(dh, h.data(), n * 2, hipMemcpyHostToDevice);
  kernel<<<1, 64>>>(dx, dh, best, out, n, v);
  (void)hipDeviceSynchronize();
}
"""


def test_numbers_that_share_a_register_are_followed_into_it_and_out_of_it(tmp_path):
    runs = ShadowRuns(tmp_path, PACKED, "single half")
    for symbolic in (False, True):
        found, account, observer = runs.compared(1, symbolic=symbolic)
        assert found is Level.EQUAL, (symbolic, observer.doubt)
        assert account.kinds == {"float", "half"} and account.elements >= 512
    assert runs.compared(2)[0] is Level.DIFFERENT
    assert runs.compared(3)[0] is Level.DIFFERENT


EXTREMES = """#include <cstdlib>
#include <hip/hip_runtime.h>
#include <vector>
__global__ void kernel(const float* x, const float* y, float* out, int v) {
  __shared__ unsigned most, least;
  const int t = threadIdx.x;
  if (t == 0) most = 0, least = 0x7f800000;
  __syncthreads();
  const float p = fabsf(x[t] * y[t] + x[t]);
  if (v == 0 && t == 0) {
    float high = 0, low = INFINITY;
    for (int i = 0; i < 128; ++i) {
      const float one = fabsf(x[i] * y[i] + x[i]);
      high = fmaxf(high, one), low = fminf(low, one);
    }
    out[0] = high, out[1] = low;
  }
  const unsigned bits = v == 2 ? __float_as_uint(p) & 0xfffffff0u : __float_as_uint(p);
  if (v != 0) atomicMax(&most, bits), atomicMin(&least, bits);
  __syncthreads();
  if (v != 0 && t == 0) out[0] = __uint_as_float(most), out[1] = __uint_as_float(least);
}
int main(int argc, char** argv) {
  std::vector<float> x(128), y(128);
  for (int i = 0; i < 128; ++i) x[i] = 0.5f + 0.013f * (i * 5 % 71), y[i] = 1.25f - 0.017f * (i * 7 % 53);
  float *dx, *dy, *out;
  (void)hipMalloc(&dx, 512), (void)hipMalloc(&dy, 512), (void)hipMalloc(&out, 8);
  (void)hipMemcpy(dx, x.data(), 512, hipMemcpyHostToDevice);
  (void)hipMemcpy(dy, y.data(), 512, hipMemcpyHostToDevice);
  kernel<<<1, 128>>>(dx, dy, out, std::atoi(argv[1]));
  (void)hipDeviceSynchronize();
}
"""


def test_the_extremes_of_numbers_are_followed_through_integer_atomics_on_their_bits(tmp_path):
    runs = ShadowRuns(tmp_path, EXTREMES, "")
    assert runs.compared(1)[0] is Level.EQUAL
    assert runs.compared(2)[0] is Level.DIFFERENT


NEAREST = """#include <cstdlib>
#include <hip/hip_runtime.h>
#include <vector>
__global__ void kernel(const float* x, float* out, int* at, int v) {
  const float own = x[blockIdx.x];
  float best = 1e30f;
  int place = -1;
  for (int i = v ? threadIdx.x : 0; i < 96; i += v ? 32 : 1) {
    const float far = (x[i] - own) * (x[i] + 0.3f) * (v == 2 ? 1.000001f : 1.0f);
    if (far < best) best = far, place = i;
  }
  for (int distance = 16; v && distance > 0; distance /= 2) {
    const float other = __shfl_xor(best, distance, 32);
    const int there = __shfl_xor(place, distance, 32);
    if (other < best || (other == best && there < place)) {
      best = other;
      place = there;
    }
  }
  if (threadIdx.x == 0) out[blockIdx.x] = best, at[blockIdx.x] = place;
}
int main(int argc, char** argv) {
  std::vector<float> x(96);
  for (int i = 0; i < 96; ++i) x[i] = 0.5f + 0.0137f * (i * 37 % 91);
  float *dx, *out;
  int* at;
  (void)hipMalloc(&dx, 384), (void)hipMalloc(&out, 384), (void)hipMalloc(&at, 384);
  (void)hipMemcpy(dx, x.data(), 384, hipMemcpyHostToDevice);
  kernel<<<96, 32>>>(dx, out, at, std::atoi(argv[1]));
  (void)hipDeviceSynchronize();
}
"""


def test_numbers_that_a_mask_leaves_as_they_are_are_followed_from_lane_to_lane(tmp_path):
    runs = ShadowRuns(tmp_path, NEAREST, "")
    level, account, _ = runs.compared(1)
    assert level is Level.EQUAL and account.elements == 96
    assert runs.compared(2)[0] is Level.DIFFERENT


UPLOADED = """#include <cstdlib>
#include <vector>
#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>
__global__ void scale(__half* out, int n, float factor) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = __float2half(0.37f * (i + 1) * factor);
}
__global__ void nothing(__half* out) {}
int main(int, char** words) {
  const int n = 4000;
  __half* out;
  std::vector<__half> numbers(n);
  if (hipMalloc(&out, n * 2)) return 1;
  scale<<<(n + 63) / 64, 64>>>(out, n, 2.0f);
  if (hipMemcpy(numbers.data(), out, n * 2, hipMemcpyDeviceToHost)) return 2;
  if (words[1][0] != '0') scale<<<(n + 63) / 64, 64>>>(out, n, 2.00001f);
  else scale<<<(n + 63) / 64, 64>>>(out, n, 2.0f);
  if (hipMemcpy(out, numbers.data(), n * 2, hipMemcpyHostToDevice)) return 3;
  nothing<<<1, 64>>>(out);
  return hipDeviceSynchronize();
}
"""


def test_of_half_precision_that_the_host_overwrites_no_formula_is_left(tmp_path):
    level, _, _ = ShadowRuns(tmp_path, UPLOADED, "half").compared(1, launch=2)
    assert level is Level.EQUAL
