// One program per family; `./app V` runs variant V of its kernel on the same data.
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>
#ifndef SIZE
#define SIZE 4096
#endif
#ifndef BLOCK
#define BLOCK 64
#endif
#ifndef NUMBER
#define NUMBER float
#endif
#define AT int(blockIdx.x * blockDim.x + threadIdx.x)
template <int V>
__global__ void kernel(const NUMBER* x, const NUMBER* y, NUMBER* out, int n, float gain);
template <int V>
void start(int wanted, const NUMBER* x, const NUMBER* y, NUMBER* out, float gain) {
  if (wanted == V) kernel<V><<<SIZE / BLOCK, BLOCK>>>(x, y, out, SIZE, gain);
  if constexpr (V > 0) start<V - 1>(wanted, x, y, out, gain);
}
#define FAMILY(last)                                                                     \
  int main(int argc, char** argv) {                                                      \
    const int wanted = argc > 1 ? std::atoi(argv[1]) : 0;                                \
    std::vector<NUMBER> x(SIZE), y(SIZE), out(SIZE);                                     \
    for (int i = 0; i < SIZE; ++i) {                                                     \
      x[i] = NUMBER(0.5f + 0.45f * std::sin(0.37f * float(i)));                          \
      y[i] = NUMBER(1.25f + std::cos(0.11f * float(i)));                                 \
    }                                                                                    \
    NUMBER *dx, *dy, *dout;                                                              \
    const size_t bytes = SIZE * sizeof(NUMBER);                                          \
    (void)hipMalloc(&dx, bytes), (void)hipMalloc(&dy, bytes), (void)hipMalloc(&dout, bytes); \
    (void)hipMemcpy(dx, x.data(), bytes, hipMemcpyHostToDevice);                         \
    (void)hipMemcpy(dy, y.data(), bytes, hipMemcpyHostToDevice);                         \
    (void)hipMemset(dout, 0, bytes);                                                     \
    start<last>(wanted, dx, dy, dout, 0.25f);                                             \
    (void)hipMemcpy(out.data(), dout, bytes, hipMemcpyDeviceToHost);                     \
    std::printf("%g\n", double(out[0]));                                                 \
  }
