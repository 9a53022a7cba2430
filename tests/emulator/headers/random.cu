// Published sequences: cuRAND's XORWOW with seed 1234 (the first outputs of subsequences 0 … 4 begin the host API's
// default sequence), Random123's Philox4x32-10 for counter and key 0, MRG32k3a from L'Ecuyer's seed of twelves.
#include <curand_kernel.h>

#include "check.h"

__global__ void sequences(float* x, unsigned* p, double* m) {
  const int t = threadIdx.x;
  curandState xorwow;
  curand_init(1234, t, 0, &xorwow);
  x[t] = curand_uniform(&xorwow);
  curandState jumped;
  curand_init(1234, 7, 100, &xorwow);
  curand_init(1234, 7, 0, &jumped);
  for (int i = 0; i < 100; ++i) (void)curand(&jumped);
  p[16 + t] = curand(&xorwow) == curand(&jumped);
  curandStatePhilox4_32_10_t philox;
  curand_init(0, 0, 0, &philox);
  if (t < 4)
    for (int i = 0; i <= t; ++i) p[t] = curand(&philox);
  curand_init(9, 2, 5, &philox);
  curandStatePhilox4_32_10_t walked;
  curand_init(9, 2, 0, &walked);
  for (int i = 0; i < 5; ++i) (void)curand(&walked);
  p[24 + t] = curand(&philox) == curand(&walked);
  curandStateMRG32k3a_t mrg;
  curand_init(0, 0, 0, &mrg);
  m[0] = curand_uniform_double(&mrg);
  m[1] = curand_uniform_double(&mrg);
  curandStateMRG32k3a_t far;
  curand_init(5, 0, 1000, &mrg);
  curand_init(5, 0, 0, &far);
  for (int i = 0; i < 1000; ++i) (void)curand(&far);
  p[32 + t] = curand(&mrg) == curand(&far);
}

__global__ void moments(float* sums) {
  curandStatePhilox4_32_10_t state;
  curand_init(42, threadIdx.x, 0, &state);
  for (int i = 0; i < 64; ++i) {
    const float v = curand_normal(&state);
    atomicAdd(&sums[0], v);
    atomicAdd(&sums[1], v * v);
    atomicAdd(&sums[2], (float)curand_poisson(&state, 20.0));
    const float u = curand_uniform4(&state).z;
    atomicAdd(&sums[3], u);
    const double4 w = curand_normal4_double(&state), x = curand_uniform4_double(&state);
    atomicAdd(&sums[4], (float)(w.x * w.x + w.w * w.w));
    atomicAdd(&sums[5], (float)(x.y + x.w));
    atomicAdd(&sums[6], (float)(curand_poisson4(&state, 3.0).w + ::log(curand_log_normal2_double(&state, 2.0, 0.5).y)));
    atomicAdd(&sums[7], (float)::log(curand_log_normal4_double(&state, 1.0, 0.5).z));
  }
}

int main() {
  float *x, *sums;
  unsigned* p;
  double* m;
  cudaMallocManaged(&x, 64);
  cudaMallocManaged(&p, 256);
  cudaMallocManaged(&m, 64);
  cudaMallocManaged(&sums, 64);
  sequences<<<1, 5>>>(x, p, m);
  expect(cudaDeviceSynchronize() == cudaSuccess, "sequences");
  const float published[] = {0.145468f, 0.820181f, 0.550399f, 0.294830f, 0.914733f};
  for (int i = 0; i < 5; ++i) {
    expect_close(x[i], published[i], 1e-5, "XORWOW");
    expect(p[16 + i] == 1, "XORWOW skips");
    expect(p[24 + i] == 1, "Philox skips");
    expect(p[32 + i] == 1, "MRG32k3a skips");
  }
  const unsigned random123[] = {0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u};
  for (int i = 0; i < 4; ++i) expect(p[i] == random123[i], "Philox");
  expect_close(m[0], 0.12701112204657714, 1e-9, "MRG32k3a, first");
  expect_close(m[1], 0.3185275653967945, 1e-9, "MRG32k3a, second");
  for (int i = 0; i < 8; ++i) sums[i] = 0;
  moments<<<1, 256>>>(sums);
  expect(cudaDeviceSynchronize() == cudaSuccess, "moments");
  const double n = 256.0 * 64;
  expect(std::fabs(sums[0] / n) < 0.04 && std::fabs(sums[1] / n - 1) < 0.05, "normal distribution");
  expect(std::fabs(sums[2] / n - 20) < 0.2 && std::fabs(sums[3] / n - 0.5) < 0.02, "Poisson, uniform");
  expect(std::fabs(sums[4] / n - 2) < 0.1 && std::fabs(sums[5] / n - 1) < 0.02, "four doubles at once");
  expect(std::fabs(sums[6] / n - 5) < 0.1 && std::fabs(sums[7] / n - 1) < 0.02, "Poisson, lognormal doubles");
  curandGenerator_t points;
  expect(curandCreateGenerator(&points, CURAND_RNG_QUASI_SOBOL32) == CURAND_STATUS_SUCCESS, "quasi-random generator");
  expect(curandSetGeneratorOrdering(points, CURAND_ORDERING_QUASI_DEFAULT) == CURAND_STATUS_SUCCESS, "its order");
  expect(curandSetGeneratorOrdering(points, CURAND_ORDERING_PSEUDO_BEST) == CURAND_STATUS_OUT_OF_RANGE, "another's order");
  curandDestroyGenerator(points);
  return verdict();
}
