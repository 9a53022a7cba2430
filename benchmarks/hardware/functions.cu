// How many instructions ptxas makes of each function, and how long they take: ./functions, or under ncu.
#include <cstdio>
#include <cuda_runtime.h>
#define F(name, T, expression) \
  __global__ void name(const T* x, T* y, int rounds) { \
    T v = x[threadIdx.x]; \
    _Pragma("unroll 1") for (int k = 0; k < rounds; ++k) { const T a = v; v = (expression); } \
    y[blockIdx.x * blockDim.x + threadIdx.x] = v; }
F(nothing, float, a * 0.999f)
F(f_div, float, 1.5f / (a + 1)) F(f_fastdiv, float, __fdividef(1.5f, a + 1)) F(f_sqrt, float, sqrtf(a + 1)) F(f_rsqrt, float, rsqrtf(a + 1))
F(f_exp, float, expf(a * -0.5f)) F(f_fastexp, float, __expf(a * -0.5f)) F(f_exp2, float, exp2f(a * -0.5f)) F(f_exp10, float, exp10f(a * -0.5f))
F(f_log, float, logf(a + 1)) F(f_fastlog, float, __logf(a + 1)) F(f_log2, float, log2f(a + 1)) F(f_sin, float, sinf(a)) F(f_fastsin, float, __sinf(a))
F(f_cos, float, cosf(a)) F(f_tan, float, tanf(a)) F(f_tanh, float, tanhf(a)) F(f_pow, float, powf(a + 1, 0.3f)) F(f_fastpow, float, __powf(a + 1, 0.3f))
F(f_erf, float, erff(a)) F(f_erfc, float, erfcf(a)) F(f_atan, float, atanf(a)) F(f_atan2, float, atan2f(a, 0.7f)) F(f_asin, float, asinf(a)) F(f_cbrt, float, cbrtf(a + 1))
F(f_hypot, float, hypotf(a, 0.7f)) F(f_fmod, float, fmodf(a + 3, 0.7f)) F(f_lgamma, float, lgammaf(a + 1))
F(d_nothing, double, a * 0.999) F(d_div, double, 1.5 / (a + 1)) F(d_sqrt, double, sqrt(a + 1)) F(d_rsqrt, double, rsqrt(a + 1)) F(d_exp, double, exp(a * -0.5))
F(d_log, double, log(a + 1)) F(d_sin, double, sin(a)) F(d_pow, double, pow(a + 1, 0.3)) F(d_erfc, double, erfc(a)) F(d_tanh, double, tanh(a))
#define G(name, T, expression) \
  __global__ void name(const T* x, T* y, int rounds, T d) { \
    T v = x[threadIdx.x]; \
    _Pragma("unroll 1") for (int k = 0; k < rounds; ++k) { const T a = v; v = (expression); } \
    y[blockIdx.x * blockDim.x + threadIdx.x] = v; }
G(i_nothing, int, a ^ 5) G(i_div, int, (a ^ 12345678) / d) G(i_rem, int, (a ^ 12345678) % d) G(u_div, unsigned, (a ^ 12345678u) / d)
G(l_div, long long, (a ^ 1234567890123ll) / d) G(ul_div, unsigned long long, (a ^ 1234567890123ull) / d)
template <class T, class... M>
void run(const char* name, void (*kernel)(const T*, T*, int, M...), M... more) {
  static void *x, *y;
  if (!x) {
    float values[512];
    for (int i = 0; i < 512; ++i) values[i] = 0.3f + i * 0.001f;
    cudaMalloc(&x, 4096), cudaMalloc(&y, size_t(132) * 8 * 256 * 8);
    if (sizeof(T) == 8) {
      double wide[512];
      for (int i = 0; i < 512; ++i) wide[i] = values[i];
      cudaMemcpy(x, wide, 4096, cudaMemcpyHostToDevice);
    } else cudaMemcpy(x, values, 2048, cudaMemcpyHostToDevice);
  }
  const int blocks = 132 * 8, rounds = 256;
  cudaEvent_t a, b;
  cudaEventCreate(&a), cudaEventCreate(&b);
  float best = 1e9f;
  for (int k = 0; k < 4; ++k) {
    cudaEventRecord(a);
    kernel<<<blocks, 256>>>((T*)x, (T*)y, rounds, more...);
    cudaEventRecord(b), cudaEventSynchronize(b);
    float ms;
    cudaEventElapsedTime(&ms, a, b);
    best = ms < best ? ms : best;
  }
  // Cycles of a compute unit at 1.98 GHz per wave and call.
  std::printf("%s %.3f us, %.3f cycles\n", name, best * 1e3, best * 1e-3 * 1.98e9 / (8.0 * 8 * rounds));
}
#define R(name) run(#name, name);
#define Q(name, d) run(#name, name, d);
int main() {
  R(nothing) R(f_div) R(f_fastdiv) R(f_sqrt) R(f_rsqrt) R(f_exp) R(f_fastexp) R(f_exp2) R(f_exp10) R(f_log) R(f_fastlog) R(f_log2) R(f_sin) R(f_fastsin)
  R(f_cos) R(f_tan) R(f_tanh) R(f_pow) R(f_fastpow) R(f_erf) R(f_erfc) R(f_atan) R(f_atan2) R(f_asin) R(f_cbrt) R(f_hypot) R(f_fmod) R(f_lgamma)
  R(d_nothing) R(d_div) R(d_sqrt) R(d_rsqrt) R(d_exp) R(d_log) R(d_sin) R(d_pow) R(d_erfc) R(d_tanh)
  Q(i_nothing, 77) Q(i_div, 77) Q(i_rem, 77) Q(u_div, 77u) Q(l_div, 77ll) Q(ul_div, 77ull)
  return cudaDeviceSynchronize() != cudaSuccess;
}
