// Grids of three dimensions, groups that are no whole waves, constants, device variables, streams, events, copies.
#include "check.h"

__constant__ float weights[8];
__device__ int counter;

__global__ void places(int* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const int z = blockIdx.z * blockDim.z + threadIdx.z;
  const int group = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  out[(z * height + y) * width + x] = group * 1000 + (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}

__global__ void weigh(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] * weights[i % 8];
  if (i == 0) atomicAdd(&counter, 1);
}

__global__ void grow(int* values, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) values[i] += i;
}

int main() {
  const int width = 3 * 7, height = 2 * 5, depth = 4 * 3;
  Buffer<int> out(width * height * depth);
  places<<<dim3(3, 2, 4), dim3(7, 5, 3)>>>(out.device, width, height);
  out.download();
  for (int z = 0; z < depth; ++z)
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        const int group = (z / 3 * 2 + y / 5) * 3 + x / 7, item = (z % 3 * 5 + y % 5) * 7 + x % 7;
        const int i = (z * height + y) * width + x;
        expect("place", i, out.host[i], group * 1000 + item);
      }

  float factors[8];
  for (int n = 0; n < 8; ++n) factors[n] = 0.5f * n;
  SUCCEED(hipMemcpyToSymbol(HIP_SYMBOL(weights), factors, sizeof factors));
  const int n = 1000;
  Buffer<float> in(n), weighed(n);
  for (int i = 0; i < n; ++i) in.host[i] = float(i);
  hipStream_t streams[2];
  hipEvent_t begin, end;
  for (auto& stream : streams) SUCCEED(hipStreamCreate(&stream));
  SUCCEED(hipEventCreate(&begin));
  SUCCEED(hipEventCreate(&end));
  SUCCEED(hipMemcpyAsync(in.device, in.host.data(), n * sizeof(float), hipMemcpyHostToDevice, streams[0]));
  SUCCEED(hipEventRecord(begin, streams[0]));
  weigh<<<8, 125, 0, streams[0]>>>(in.device, weighed.device, n);
  SUCCEED(hipEventRecord(end, streams[0]));
  SUCCEED(hipStreamWaitEvent(streams[1], end, 0));
  weigh<<<8, 125, 0, streams[1]>>>(weighed.device, weighed.device, n);
  SUCCEED(hipDeviceSynchronize());
  weighed.download();
  for (int i = 0; i < n; ++i) expect("weighed", i, weighed.host[i], in.host[i] * factors[i % 8] * factors[i % 8]);
  float elapsed_ms = -1;
  SUCCEED(hipEventElapsedTime(&elapsed_ms, begin, end));
  expect("time runs", 0, elapsed_ms > 0, 1);
  int counted = 0;
  SUCCEED(hipMemcpyFromSymbol(&counted, HIP_SYMBOL(counter), sizeof counted));
  expect("counter", 0, counted, 2);

  Buffer<int> values(10007), copy(10007);
  SUCCEED(hipMemset(values.device, 1, 10007 * sizeof(int)));
  grow<<<7, 200>>>(values.device, 10007);
  SUCCEED(hipMemcpy(copy.device, values.device, 10007 * sizeof(int), hipMemcpyDeviceToDevice));
  copy.download();
  for (int i = 0; i < 10007; ++i) expect("copy", i, copy.host[i], 0x01010101 + i);

  const size_t rows = 9, columns = 33;
  int* pitched = nullptr;
  size_t pitch = 0;
  SUCCEED(hipMallocPitch(reinterpret_cast<void**>(&pitched), &pitch, columns * sizeof(int), rows));
  std::vector<int> box(rows * columns), back(rows * columns);
  for (size_t i = 0; i < box.size(); ++i) box[i] = int(i * 3);
  const size_t line = columns * sizeof(int);
  SUCCEED(hipMemcpy2D(pitched, pitch, box.data(), line, line, rows, hipMemcpyHostToDevice));
  SUCCEED(hipMemcpy2D(back.data(), line, pitched, pitch, line, rows, hipMemcpyDeviceToHost));
  for (size_t i = 0; i < box.size(); ++i) expect("box", long(i), back[i], box[i]);
  int* managed = nullptr;
  SUCCEED(hipHostMalloc(reinterpret_cast<void**>(&managed), 64 * sizeof(int)));
  for (int i = 0; i < 64; ++i) managed[i] = i;
  grow<<<1, 64>>>(managed, 64);
  SUCCEED(hipDeviceSynchronize());
  for (int i = 0; i < 64; ++i) expect("host memory", i, managed[i], 2 * i);
  return finish();
}
