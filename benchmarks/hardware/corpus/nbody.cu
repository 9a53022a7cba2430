// The pull of n bodies on one another; n is a multiple of 128.
#include "corpus.h"
__device__ void pull(float3& sum, float4 own, float4 other) {
  float x = other.x - own.x, y = other.y - own.y, z = other.z - own.z;
  float inverse = rsqrtf(x * x + y * y + z * z + 0.01f), strength = other.w * inverse * inverse * inverse;
  sum.x += x * strength, sum.y += y * strength, sum.z += z * strength;
}
__global__ void fields(const float* p, float4* forces, int n) {
  int i = INDEX;
  float4 own = make_float4(p[4 * i], p[4 * i + 1], p[4 * i + 2], p[4 * i + 3]);
  float3 sum = {};
  for (int k = 0; k < n; ++k) pull(sum, own, make_float4(p[4 * k], p[4 * k + 1], p[4 * k + 2], p[4 * k + 3]));
  forces[i] = make_float4(sum.x, sum.y, sum.z, 0);
}
__global__ void direct(const float4* p, float4* forces, int n) {
  int i = INDEX;
  float4 own = p[i];
  float3 sum = {};
  for (int k = 0; k < n; ++k) pull(sum, own, p[k]);
  forces[i] = make_float4(sum.x, sum.y, sum.z, 0);
}
__global__ void tiled(const float4* p, float4* forces, int n) {
  __shared__ float4 tile[128];
  int i = INDEX;
  float4 own = p[i];
  float3 sum = {};
  for (int at = 0; at < n; at += 128) {
    tile[threadIdx.x] = p[at + threadIdx.x];
    __syncthreads();
    for (int k = 0; k < 128; ++k) pull(sum, own, tile[k]);
    __syncthreads();
  }
  forces[i] = make_float4(sum.x, sum.y, sum.z, 0);
}
int main(int argc, char** argv) {
  Corpus c(argc, argv);
  const int n = c.argument(0, 2048);
  const auto values = floats(n * 4);
  const float* p = c.input(values);
  std::vector<float> expected(n * 4);
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < n; ++k) {
      float apart[3], square = 0.01f;
      for (int d = 0; d < 3; ++d) apart[d] = values[4 * k + d] - values[4 * i + d], square += apart[d] * apart[d];
      for (int d = 0; d < 3; ++d) expected[4 * i + d] += apart[d] * values[4 * k + 3] / (square * std::sqrt(square));
    }
  float4* forces = (float4*)c.output(expected, 1e-2);
  c.variant("fields", [&] { fields<<<n / 128, 128>>>(p, forces, n); });
  c.variant("direct", [&] { direct<<<n / 128, 128>>>((const float4*)p, forces, n); });
  c.variant("tiled", [&] { tiled<<<n / 128, 128>>>((const float4*)p, forces, n); });
  return c.end();
}
