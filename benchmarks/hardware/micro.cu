// One memory behaviour per kernel. h100-lines.json refers to the line numbers of this file: edit main() only.
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>
#define CHECK(call) do { cudaError_t e = (call); if (e != cudaSuccess) return std::puts(cudaGetErrorString(e)), 1; } while (0)
struct Rec { float x, y, z, m; double e; int id; int pad; };
template <int S> __global__ void strided(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = in[(size_t)i * S % n];
  out[i] = v + 1.0f;
}
__global__ void offset1(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = in[i + 1];
  out[i] = v;
}
__global__ void vec4(const float4* in, float4* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 v = in[i];
  v.x += 1;
  out[i] = v;
}
__global__ void doubles(const double* in, double* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  double v = in[i] * 2;
  out[i] = v;
}
__global__ void bytes(const unsigned char* in, unsigned char* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned char v = in[i] ^ 3;
  out[i] = v;
}
__global__ void aos(const Rec* in, float* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float a = in[i].x;
  float b = in[i].m;
  double e = in[i].e;
  out[i] = a * b + (float)e;
}
__global__ void broadcast(const float* in, float* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = in[i / 32];
  out[i] = v;
}
template <int P> __global__ void tile(const float* in, float* out, int n) {
  __shared__ float t[32][32 + P];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  float v = in[y * n + x];
  t[threadIdx.y][threadIdx.x] = v;
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  v = t[threadIdx.x][threadIdx.y];
  out[y * n + x] = v;
}
__global__ void lds8(const double* in, double* out) {
  __shared__ double s[256 * 3];
  int i = threadIdx.x;
  s[i * 3] = in[blockIdx.x * 256 + i];
  __syncthreads();
  out[blockIdx.x * 256 + i] = s[(255 - i) * 3];
}
__global__ void lds16(const float4* in, float4* out) {
  __shared__ float4 s[256 * 2];
  int i = threadIdx.x;
  s[i * 2] = in[blockIdx.x * 256 + i];
  __syncthreads();
  out[blockIdx.x * 256 + i] = s[(i ^ 5) * 2];
}
__global__ void lds_stride(const float* in, float* out, int stride) {
  __shared__ float s[256 * 4];
  int i = threadIdx.x;
  s[i * stride % 1024] = in[blockIdx.x * 256 + i];
  __syncthreads();
  out[blockIdx.x * 256 + i] = s[i * stride % 1024];
}
__global__ void atomic_one(float* sum, const float* in) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = in[i];
  atomicAdd(sum, v);
}
__global__ void atomic_spread(float* sum, const float* in) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = in[i];
  atomicAdd(&sum[i % 1000], v);
}
__global__ void atomic_old(int* sum, int* out, const int* in) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int k = in[i];
  int old = atomicAdd(&sum[k], 1);
  out[i] = old;
}
__global__ void shared_hist(const int* in, int* out) {
  __shared__ int h[64];
  if (threadIdx.x < 64) h[threadIdx.x] = 0;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int k = in[i] & 63;
  atomicAdd(&h[k], 1);
  __syncthreads();
  if (threadIdx.x < 64) {
    int v = h[threadIdx.x];
    atomicAdd(&out[threadIdx.x], v);
  }
}
__global__ void diverge(const float* in, float* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = 0;
  if (i % 3 == 0) {
    for (int k = 0; k < (i & 7); ++k)
      v += in[i + k * 64];
  } else if (i % 5 == 0) {
    v = in[i * 2];
  }
  out[i] = v;
}
__global__ void gemm(const float* a, const float* b, float* c, int n) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  float s = 0;
  for (int k = 0; k < n; ++k) {
    float l = a[y * n + k];
    float r = b[k * n + x];
    s += l * r;
  }
  c[y * n + x] = s;
}
__global__ void gemm_tiled(const float* a, const float* b, float* c, int n) {
  __shared__ float ta[16][16], tb[16][16];
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  float s = 0;
  for (int k0 = 0; k0 < n; k0 += 16) {
    ta[threadIdx.y][threadIdx.x] = a[y * n + k0 + threadIdx.x];
    tb[threadIdx.y][threadIdx.x] = b[(k0 + threadIdx.y) * n + x];
    __syncthreads();
    for (int k = 0; k < 16; ++k)
      s += ta[threadIdx.y][k] * tb[k][threadIdx.x];
    __syncthreads();
  }
  c[y * n + x] = s;
}
int main() {
  const int n = 1 << 16, big = n * 40;
  float *in, *out;
  int *keys, *bins;
  std::vector<float> values(big);
  std::vector<int> some(n);
  for (int i = 0; i < big; ++i) values[i] = i % 17;
  for (int i = 0; i < n; ++i) some[i] = (i * 7919 + i / 13) % 500;
  CHECK(cudaMalloc(&in, big * 4));
  CHECK(cudaMalloc(&out, big * 4));
  CHECK(cudaMalloc(&keys, n * 4));
  CHECK(cudaMalloc(&bins, n * 4));
  CHECK(cudaMemcpy(in, values.data(), big * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(keys, some.data(), n * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemset(out, 0, big * 4));
  CHECK(cudaMemset(bins, 0, n * 4));
  strided<1><<<n / 256, 256>>>(in, out, big);
  strided<2><<<n / 256, 256>>>(in, out, big);
  strided<3><<<n / 256, 256>>>(in, out, big);
  strided<8><<<n / 256, 256>>>(in, out, big);
  strided<32><<<n / 256, 256>>>(in, out, big);
  offset1<<<n / 256, 256>>>(in, out, big);
  vec4<<<n / 256, 256>>>((float4*)in, (float4*)out, n);
  doubles<<<n / 256, 256>>>((double*)in, (double*)out);
  bytes<<<n / 256, 256>>>((unsigned char*)in, (unsigned char*)out);
  aos<<<n / 256, 256>>>((Rec*)in, out);
  broadcast<<<n / 256, 256>>>(in, out);
  tile<0><<<dim3(8, 8), dim3(32, 32)>>>(in, out, 256);
  tile<1><<<dim3(8, 8), dim3(32, 32)>>>(in, out, 256);
  lds8<<<n / 256, 256>>>((double*)in, (double*)out);
  lds16<<<n / 256, 256>>>((float4*)in, (float4*)out);
  lds_stride<<<n / 256, 256>>>(in, out, 2);
  lds_stride<<<n / 256, 256>>>(in, out, 4);
  lds_stride<<<n / 256, 256>>>(in, out, 3);
  atomic_one<<<n / 256, 256>>>(out, in);
  atomic_spread<<<n / 256, 256>>>(out, in);
  atomic_old<<<n / 256, 256>>>(bins, (int*)out, keys);
  shared_hist<<<n / 256, 256>>>(keys, bins);
  diverge<<<n / 256, 256>>>(in, out);
  gemm<<<dim3(16, 16), dim3(16, 16)>>>(in, in, out, 256);
  gemm_tiled<<<dim3(16, 16), dim3(16, 16)>>>(in, in, out, 256);
  CHECK(cudaDeviceSynchronize());
  std::puts("done");
  return 0;
}
