// Loads and stores of every width, in memory and in LDS, and those that the compiler merges or splits.
#include <hip/hip_runtime.h>

template <int Bytes>
struct alignas(Bytes) Piece {
  unsigned char at[Bytes];
};
template <>
struct Piece<12> {
  unsigned at[3];
};

template <class T>
__global__ void copy(T* to, const T* from, int count, int stride, int offset) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i * stride + offset < count) to[i] = from[i * stride + offset];
}

template <class T>
__global__ void through_lds(T* to, const T* from, int stride) {
  __shared__ T tile[256];
  const int t = threadIdx.x;
  tile[t * stride % 256] = from[blockIdx.x * 256 + t];
  __syncthreads();
  to[blockIdx.x * 256 + t] = tile[(t * 7 + 3) % 256];
}

struct Three {
  float x, y, z;
};
struct Five {
  float a, b, c, d, e;
};

__global__ void members(Three* to, const Five* from, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  to[i].x = from[i].a + from[i].b;
  to[i].y = from[i].c;
  to[i].z = from[i].d * from[i].e;
}

__global__ void whole(Five* to, const Five* from, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) to[i] = from[(i * 5) % count];
}

// Two places in one instruction, near and far.
__global__ void near_pairs(float* values) {
  __shared__ float tile[64][33];
  const int t = threadIdx.x;
  tile[t][0] = values[t];
  tile[t][1] = values[t] + 1;
  tile[t][9] = values[t] + 2;
  __syncthreads();
  values[t] = tile[63 - t][0] + tile[63 - t][1] + tile[63 - t][9] + tile[0][t % 33];
}

__global__ void far_pairs(float* values) {
  __shared__ float tile[1024];
  const int t = threadIdx.x;
  for (int k = 0; k < 4; ++k) tile[t + 256 * k] = values[t] * k;
  __syncthreads();
  values[t] = tile[255 - t] + tile[511 - t] + tile[767 - t] + tile[1023 - t];
}

template <class T>
T* fresh(int count) {
  T* made = nullptr;
  if (hipMalloc(reinterpret_cast<void**>(&made), count * sizeof(T)) != hipSuccess) return nullptr;
  return hipMemset(made, 3, count * sizeof(T)) == hipSuccess ? made : nullptr;
}

template <class T>
void all_strides() {
  constexpr int kCount = 2048;
  T *to = fresh<T>(kCount), *from = fresh<T>(kCount);
  copy<T><<<4, 192>>>(to, from, kCount, 1, 0);
  copy<T><<<4, 192>>>(to, from, kCount, 3, 1);
  for (const int stride : {1, 5, 32}) through_lds<T><<<2, 256>>>(to, from, stride);
}

int main() {
  all_strides<Piece<1>>();
  all_strides<Piece<2>>();
  all_strides<Piece<4>>();
  all_strides<Piece<8>>();
  all_strides<Piece<12>>();
  all_strides<Piece<16>>();
  Five *fives = fresh<Five>(1000), *others = fresh<Five>(1000);
  members<<<8, 128>>>(fresh<Three>(1000), fives, 1000);
  whole<<<8, 128>>>(others, fives, 1000);
  float* values = fresh<float>(1024);
  near_pairs<<<1, 64>>>(values);
  far_pairs<<<1, 256>>>(values);
  return hipDeviceSynchronize() != hipSuccess;
}
