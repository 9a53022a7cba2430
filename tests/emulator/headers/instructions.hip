// Matrix instructions: MFMA on chips with 64 lanes, WMMA on RDNA 3. Each kernel multiplies A (size x deep, by rows) and
// B (deep x size, by rows) of several blocks, with the operands where AMD's matrix instruction calculator has them.
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

#include <cmath>
#include <vector>

#include "check.h"

template <class T, int n>
using vector = T __attribute__((ext_vector_type(n)));

__device__ short bf16_bits(float v) { return static_cast<short>(__builtin_bit_cast(unsigned, v) >> 16); }

#if defined(__GFX9__)
// One wave, one product; A and B are small integers, exact in every format.
__global__ void f32_16x16x4(const int* A, const int* B, int* D) {
  const int x = threadIdx.x % 16, y = threadIdx.x / 16;
  vector<float, 4> d = {1, 1, 1, 1};
  d = __builtin_amdgcn_mfma_f32_16x16x4f32(A[x * 4 + y], B[y * 16 + x], d, 0, 0, 0);
  for (int i = 0; i < 4; ++i) D[(4 * y + i) * 16 + x] = d[i];
}
__global__ void f32_32x32x1(const int* A, const int* B, int* D) {
  const int x = threadIdx.x % 32, y = threadIdx.x / 32;
  vector<float, 32> d = 1;
  d = __builtin_amdgcn_mfma_f32_32x32x1f32(A[y * 32 + x], B[y * 32 + x], d, 0, 0, 0);
  for (int block = 0; block < 2; ++block)
    for (int i = 0; i < 16; ++i) D[block * 1024 + (8 * (i / 4) + 4 * y + i % 4) * 32 + x] = d[16 * block + i];
}
__global__ void f16_4x4x4(const int* A, const int* B, int* D) {
  const int x = threadIdx.x % 4, block = threadIdx.x / 4;
  vector<_Float16, 4> a, b;
  for (int k = 0; k < 4; ++k) a[k] = A[block * 16 + x * 4 + k], b[k] = B[block * 16 + k * 4 + x];
  vector<float, 4> d = 1;
  d = __builtin_amdgcn_mfma_f32_4x4x4f16(a, b, d, 0, 0, 0);
  for (int i = 0; i < 4; ++i) D[block * 16 + i * 4 + x] = d[i];
}
__global__ void bf16_32x32x8(const int* A, const int* B, int* D) {
  const int x = threadIdx.x % 32, y = threadIdx.x / 32;
  vector<short, 4> a, b;
  for (int k = 0; k < 4; ++k) a[k] = bf16_bits(A[x * 8 + 4 * y + k]), b[k] = bf16_bits(B[(4 * y + k) * 32 + x]);
  vector<float, 16> d = 1;
  d = __builtin_amdgcn_mfma_f32_32x32x8bf16_1k(a, b, d, 0, 0, 0);
  for (int i = 0; i < 16; ++i) D[(8 * (i / 4) + 4 * y + i % 4) * 32 + x] = d[i];
}
__global__ void i8_16x16x16(const int* A, const int* B, int* D) {
  const int x = threadIdx.x % 16, y = threadIdx.x / 16;
  vector<signed char, 4> a, b;
  for (int k = 0; k < 4; ++k) a[k] = A[x * 16 + 4 * y + k], b[k] = B[(4 * y + k) * 16 + x];
  vector<int, 4> d = 1;
  d = __builtin_amdgcn_mfma_i32_16x16x16i8(__builtin_bit_cast(int, a), __builtin_bit_cast(int, b), d, 0, 0, 0);
  for (int i = 0; i < 4; ++i) D[(4 * y + i) * 16 + x] = d[i];
}
__global__ void f64_16x16x4(const int* A, const int* B, int* D) {
  const int x = threadIdx.x % 16, y = threadIdx.x / 16;
  vector<double, 4> d = 1;
  d = __builtin_amdgcn_mfma_f64_16x16x4f64(A[x * 4 + y], B[y * 16 + x], d, 0, 0, 0);
  for (int i = 0; i < 4; ++i) D[(4 * i + y) * 16 + x] = d[i];
}
__global__ void f64_4x4x4(const int* A, const int* B, int* D) {
  const int x = threadIdx.x % 4, block = threadIdx.x / 4 % 4, z = threadIdx.x / 16;
  D[block * 16 + z * 4 + x] =
      __builtin_amdgcn_mfma_f64_4x4x4f64(A[block * 16 + x * 4 + z], B[block * 16 + z * 4 + x], 1.0, 0, 0, 0);
}
// Both blocks multiply with the first matrix of block 1: cbsz 1, abid 1.
__global__ void f32_32x32x1_shared(const int* A, const int* B, int* D) {
  const int x = threadIdx.x % 32, y = threadIdx.x / 32;
  vector<float, 32> d = 1;
  d = __builtin_amdgcn_mfma_f32_32x32x1f32(A[y * 32 + x], B[y * 32 + x], d, 1, 1, 0);
  for (int block = 0; block < 2; ++block)
    for (int i = 0; i < 16; ++i) D[block * 1024 + (8 * (i / 4) + 4 * y + i % 4) * 32 + x] = d[16 * block + i];
}
#else
#define NOTHING(name) __global__ void name(const int*, const int*, int*) {}
NOTHING(f32_16x16x4)
NOTHING(f32_32x32x1)
NOTHING(f16_4x4x4)
NOTHING(bf16_32x32x8)
NOTHING(i8_16x16x16)
NOTHING(f64_16x16x4)
NOTHING(f64_4x4x4)
NOTHING(f32_32x32x1_shared)
#endif

__global__ void wmma_f32(const int* A, const int* B, int* D) {
#if defined(__GFX11__)
  const int x = threadIdx.x % 16, y = threadIdx.x / 16;
  vector<_Float16, 16> a, b;
  for (int k = 0; k < 16; ++k) a[k] = A[x * 16 + k], b[k] = B[k * 16 + x];
  vector<float, 8> d = 1;
  d = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(a, b, d);
  for (int i = 0; i < 8; ++i) D[(2 * i + y) * 16 + x] = d[i];
#endif
}
__global__ void wmma_f16(const int* A, const int* B, int* D) {
#if defined(__GFX11__)
  const int x = threadIdx.x % 16, y = threadIdx.x / 16;
  vector<_Float16, 16> a, b, d = 1;
  for (int k = 0; k < 16; ++k) a[k] = A[x * 16 + k], b[k] = B[k * 16 + x];
  d = __builtin_amdgcn_wmma_f16_16x16x16_f16_w32(a, b, d, true);
  for (int i = 0; i < 8; ++i) D[(2 * i + y) * 16 + x] = d[2 * i] == 1 ? static_cast<int>(d[2 * i + 1]) : -1;
#endif
}

__global__ void moves(unsigned* o) {
  const int lane = threadIdx.x;
  o[lane] = __hip_ds_bpermute(4 * (lane ^ 1), lane) + 100 * __hip_ds_swizzle(lane, 0x041f) +
            10000 * __hip_move_dpp(lane, 0xb1, 0xf, 0xf, true);
#if defined(__GFX11__)
  const int reversed = __builtin_amdgcn_mov_dpp8(lane, 0x053977);  // 7, 6, 5 … 0
  const int crossed = __builtin_amdgcn_permlanex16(0, lane, 0x76543210, 0xfedcba98, false, false);
  if (reversed != (lane ^ 7) || crossed != (lane ^ 16)) o[lane] = 0;
#endif
  if (lane == 0) {
    o[64] = __bitextract_u32(0xabcd1234u, 8, 12);
    o[65] = __bitinsert_u32(0xffffffffu, 5u, 4, 8);
    o[66] = __bitextract_u64(0xabcd123456789abcull, 40, 16) == 0xcd12 && __bitextract_u32(7, 3, 0) == 0;
    o[67] = __bitinsert_u64(0, 0x1ff, 60, 4) == 0xfull << 60;
  }
}

using Kernel = void (*)(const int*, const int*, int*);
void compare(const char* name, Kernel kernel, int lanes, int size, int deep, int blocks, int shared = -1) {
  int *a, *b, *d;
  const int elements = size * deep * blocks, sums = size * size * blocks;
  expect(hipMallocManaged(&a, elements * sizeof(int)) == hipSuccess, name);
  expect(hipMallocManaged(&b, elements * sizeof(int)) == hipSuccess, name);
  expect(hipMallocManaged(&d, sums * sizeof(int)) == hipSuccess, name);
  for (int i = 0; i < elements; ++i) a[i] = (i * 7 + 3) % 11 - 5, b[i] = (i * 5 + 1) % 13 - 6;
  kernel<<<1, lanes>>>(a, b, d);
  expect(hipDeviceSynchronize() == hipSuccess, name);
  for (int block = 0; block < blocks; ++block)
    for (int row = 0; row < size; ++row)
      for (int column = 0; column < size; ++column) {
        const int* A = a + (shared < 0 ? block : shared) * size * deep;
        const int* B = b + block * size * deep;
        int sum = 1;
        for (int k = 0; k < deep; ++k) sum += A[row * deep + k] * B[k * size + column];
        expect(d[(block * size + row) * size + column] == sum, name);
      }
}

void compare_moves() {
  unsigned* o;
  expect(hipMallocManaged(&o, 68 * sizeof *o) == hipSuccess, "moves");
  moves<<<1, 32>>>(o);
  expect(hipDeviceSynchronize() == hipSuccess, "moves");
  for (unsigned lane = 0; lane < 32; ++lane) expect(o[lane] == (lane ^ 1) * 10101, "moves");
  expect(o[64] == 0xd12 && o[65] == 0xfffff05fu && o[66] == 1 && o[67] == 1, "bit fields");
}

int main() {
  compare_moves();
  hipDeviceProp_t chip;
  expect(hipGetDeviceProperties(&chip, 0) == hipSuccess, "properties");
  if (chip.warpSize == 64) {
    compare("f32_16x16x4", f32_16x16x4, 64, 16, 4, 1);
    compare("f32_32x32x1", f32_32x32x1, 64, 32, 1, 2);
    compare("f16_4x4x4", f16_4x4x4, 64, 4, 4, 16);
    compare("bf16_32x32x8", bf16_32x32x8, 64, 32, 8, 1);
    compare("i8_16x16x16", i8_16x16x16, 64, 16, 16, 1);
    compare("f64_16x16x4", f64_16x16x4, 64, 16, 4, 1);
    compare("f64_4x4x4", f64_4x4x4, 64, 4, 4, 4);
    compare("f32_32x32x1_shared", f32_32x32x1_shared, 64, 32, 1, 2, 1);
  } else {
    compare("wmma_f32", wmma_f32, 32, 16, 16, 1);
    compare("wmma_f16", wmma_f16, 32, 16, 16, 1);
  }
  return verdict();
}
