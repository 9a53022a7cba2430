// Kernels as other projects write them: pictures of bytes, vectors in LDS, constants, loops that end early, 64-bit
// atomics, padding, halves and doubles.
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>
#include <cstdio>
#include <vector>

constexpr int kTile = 16, kRadius = 2, kSpan = kTile + 2 * kRadius;
__constant__ float weights[2 * kRadius + 1];

__global__ void blur(const uchar4* in, uchar4* out, int width, int height) {
  __shared__ float3 row[kTile][kSpan];
  const int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  if (y >= height) return;
  for (int at = threadIdx.x; at < kSpan; at += kTile) {
    const int from = min(max(int(blockIdx.x * kTile) + at - kRadius, 0), width - 1);
    const uchar4 pixel = in[y * width + from];
    row[threadIdx.y][at] = make_float3(pixel.x, pixel.y, pixel.z);
  }
  __syncthreads();
  if (x >= width) return;
  float3 sum = make_float3(0, 0, 0);
  for (int k = 0; k <= 2 * kRadius; ++k) {
    const float3 seen = row[threadIdx.y][threadIdx.x + k];
    sum.x += weights[k] * seen.x;
    sum.y += weights[k] * seen.y;
    sum.z += weights[k] * seen.z;
  }
  out[y * width + x] = make_uchar4(sum.x, sum.y, sum.z, 255);
}

__global__ void first_above(const float* rows, int* found, int count, int length, float limit) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  int at = 0;
  while (at < length) {
    if (rows[at * count + i] > limit) break;
    ++at;
  }
  found[i] = at;
}

template <class T, int N>
__global__ void sums(const T* in, T* out, int n) {
  __shared__ T part[N];
  const int i = blockIdx.x * N + threadIdx.x;
  T own = 0;
  if (i < n) own = in[i];
  part[threadIdx.x] = own;
  __syncthreads();
  for (int half = N / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}

__global__ void tally(const int* in, unsigned long long* totals, unsigned long long* greatest, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned long long value = in[i];
  atomicAdd(&totals[value % 16], value << 20);
  atomicMax(greatest, value);
}

__global__ void packed_bytes(const unsigned char* in, unsigned short* out, int n, int stride) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int sum = 0;
  for (int k = 0; k < 3; ++k) sum += in[i * stride + k * n];
  out[i] = sum;
}

__global__ void turned(const double* in, double* out, int side) {
  __shared__ double tile[kTile][kTile + 1];
  const int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  tile[threadIdx.y][threadIdx.x] = in[y * side + x];
  __syncthreads();
  const int u = blockIdx.y * kTile + threadIdx.x, v = blockIdx.x * kTile + threadIdx.y;
  out[v * side + u] = tile[threadIdx.x][threadIdx.y];
}

__global__ void halves(const __half* a, const __half2* pairs, __half* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const __half2 pair = pairs[i];
  const float scale = __half2float(a[n - 1 - i]);
  out[i] = __float2half(scale * __low2float(pair) + __high2float(pair));
}

struct Body {
  float3 place;
  float mass;
};
__global__ void pulled(const Body* bodies, float3* forces, int n) {
  extern __shared__ Body near[];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float3 own = bodies[i].place;
  float3 force = make_float3(0, 0, 0);
  for (int start = 0; start < n; start += blockDim.x) {
    near[threadIdx.x] = bodies[start + threadIdx.x];
    __syncthreads();
    for (int k = 0; k < blockDim.x; ++k) {
      const float dx = near[k].place.x - own.x, dy = near[k].place.y - own.y;
      force.x += near[k].mass * dx;
      force.y += near[k].mass * dy;
    }
    __syncthreads();
  }
  forces[i] = force;
}

__global__ void swapped(unsigned long long* slots, const int* keys, int n, int size) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned long long key = keys[i] + 1;
  int at = key * 7 % size;
  while (atomicCAS(&slots[at], 0ull, key) != 0ull) at = (at + 1) % size;
}

template <class T>
static T* filled(int n, unsigned step) {
  std::vector<T> host(n);
  auto* bytes = reinterpret_cast<unsigned char*>(host.data());
  if constexpr (std::is_arithmetic_v<T>)
    for (int i = 0; i < n; ++i) host[i] = T((i * step) % 97);
  else
    for (size_t i = 0; i < n * sizeof(T); ++i) bytes[i] = step ? (i * step) % 53 : 0;
  T* there = nullptr;
  if (hipMalloc(&there, n * sizeof(T)) != hipSuccess) return nullptr;
  if (hipMemcpy(there, host.data(), n * sizeof(T), hipMemcpyHostToDevice) != hipSuccess) return nullptr;
  return there;
}

int main() {
  const float host[] = {0.1f, 0.2f, 0.4f, 0.2f, 0.1f};
  if (hipMemcpyToSymbol(HIP_SYMBOL(weights), host, sizeof host) != hipSuccess) return 2;
  blur<<<dim3(5, 3), dim3(kTile, kTile)>>>(filled<uchar4>(75 * 48, 7), filled<uchar4>(75 * 48, 0), 75, 48);
  first_above<<<5, 128>>>(filled<float>(600 * 20, 31), filled<int>(600, 0), 600, 20, 80.0f);
  sums<double, 128><<<6, 128>>>(filled<double>(700, 3), filled<double>(6, 0), 700);
  sums<float, 256><<<3, 256>>>(filled<float>(700, 3), filled<float>(6, 0), 700);
  tally<<<6, 128>>>(filled<int>(700, 5), filled<unsigned long long>(16, 0), filled<unsigned long long>(1, 0), 700);
  packed_bytes<<<6, 128>>>(filled<unsigned char>(9000, 5), filled<unsigned short>(700, 0), 700, 5);
  turned<<<dim3(3, 3), dim3(kTile, kTile)>>>(filled<double>(48 * 48, 5), filled<double>(48 * 48, 0), 48);
  halves<<<6, 128>>>(filled<__half>(700, 0), filled<__half2>(700, 0), filled<__half>(700, 0), 700);
  pulled<<<2, 64, 64 * sizeof(Body)>>>(filled<Body>(128, 0), filled<float3>(128, 0), 128);
  swapped<<<2, 128>>>(filled<unsigned long long>(512, 0), filled<int>(200, 1), 200, 512);
  const hipError_t ended = hipDeviceSynchronize();
  if (ended != hipSuccess) std::printf("%s\n", hipGetErrorString(ended));
  return ended != hipSuccess;
}
