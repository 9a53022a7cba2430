// Memory from every way to get it, each part written by one kernel; prints a sum.
#include <cuda.h>

#include <cstdio>
#include <vector>

constexpr int kCount = 3000;
__device__ int symbol[kCount];

__global__ void fill(int* plain, int* pitched, int* pool, int* managed, int* mapped, int* pinned, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  plain[i] = i;
  pitched[i] = 2 * i;
  pool[i] = 3 * i;
  managed[i] = 4 * i;
  mapped[i] = 5 * i;
  pinned[i] = 6 * i;
  symbol[i] = 7 * i;
}

int* map_memory(size_t bytes) {
  CUmemAllocationProp wanted = {};
  wanted.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  wanted.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  size_t granule = 0;
  cuMemGetAllocationGranularity(&granule, &wanted, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
  const size_t size = (bytes + granule - 1) / granule * granule;
  CUmemGenericAllocationHandle handle = 0;
  CUdeviceptr at = 0;
  CUmemAccessDesc access = {wanted.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  if (cuMemCreate(&handle, size, &wanted, 0) || cuMemAddressReserve(&at, size, 0, 0, 0) ||
      cuMemMap(at, size, 0, handle, 0) || cuMemSetAccess(at, size, &access, 1) || cuMemsetD8(at, 0, size))
    return nullptr;
  return reinterpret_cast<int*>(at);
}

int main() {
  const size_t bytes = kCount * sizeof(int);
  int *plain = nullptr, *pitched = nullptr, *pool = nullptr, *managed = nullptr, *pinned = nullptr;
  size_t pitch = 0;
  cudaMalloc(&plain, bytes);
  cudaMallocPitch(&pitched, &pitch, bytes, 2);
  cudaMallocAsync(&pool, bytes, nullptr);
  cudaMallocManaged(&managed, bytes);
  cudaMallocHost(&pinned, bytes);
  cudaArray_t array = nullptr;
  const cudaChannelFormatDesc texels = cudaCreateChannelDesc<float>();
  cudaMallocArray(&array, &texels, 64, 64);
  int* mapped = map_memory(bytes);
  if (!plain || !pitched || !pool || !managed || !pinned || !mapped) return std::puts("no memory"), 1;
  cudaMemset(pitched, 0, 2 * pitch);
  fill<<<(kCount + 255) / 256, 256>>>(plain, pitched, pool, managed, mapped, pinned, kCount);
  std::vector<int> result(kCount);
  cudaMemcpy(result.data(), mapped, bytes, cudaMemcpyDeviceToHost);
  long long sum = 0;
  for (int value : result) sum += value;
  std::printf("%lld\n", sum);
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
