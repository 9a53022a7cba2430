// Textures that the file declares and the host binds: linear memory, rows with a pitch, arrays, fractions, rebinding.
#include <cuda_runtime.h>

#include "check.h"

constexpr int kCount = 48, kWidth = 8, kHeight = 4;

texture<float, 1, cudaReadModeElementType> line;
static texture<int2> pairs;
texture<uchar4, cudaTextureType2D, cudaReadModeNormalizedFloat> image;
texture<float, 2> plane(false, cudaFilterModeLinear, cudaAddressModeClamp);

__global__ void read_line(float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex1Dfetch(line, i);
}
__global__ void read_pairs(int* out) { out[threadIdx.x] = tex1Dfetch(pairs, threadIdx.x).y; }
__global__ void read_image(float4* out) { out[threadIdx.x] = tex2D(image, threadIdx.x + 0.5f, 1.5f); }
__global__ void read_plane(float* out, float shift) { out[threadIdx.x] = tex2D(plane, threadIdx.x + shift, 2.5f); }

template <class T>
T* on_device(const T* from, size_t count) {
  T* made;
  cudaMalloc(&made, count * sizeof(T));
  cudaMemcpy(made, from, count * sizeof(T), cudaMemcpyHostToDevice);
  return made;
}

void linear() {
  float values[kCount], got[kCount], *out;
  int2 both[kCount];
  int second[kCount], *out_pairs;
  for (int i = 0; i < kCount; ++i) values[i] = 3.0f * i, both[i] = make_int2(-1, 7 * i);
  float* device = on_device(values, kCount);
  int2* device_pairs = on_device(both, kCount);
  cudaMalloc(&out, sizeof got), cudaMalloc(&out_pairs, sizeof second);
  size_t offset = 99;
  expect(cudaBindTexture(&offset, line, device, sizeof values) == cudaSuccess && offset == 0, "binding linear memory");
  read_line<<<3, 16>>>(out, kCount);
  cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
  for (int i = 0; i < kCount; ++i) expect(got[i] == values[i], "a texel in a line");
  expect(cudaBindTexture(0, line, device + 8) == cudaSuccess, "binding the rest of an allocation");
  read_line<<<3, 16>>>(out, kCount);
  cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
  for (int i = 0; i < kCount; ++i) expect(got[i] == (i < kCount - 8 ? values[i + 8] : 0), "a texel after rebinding");
  cudaBindTexture(0, pairs, device_pairs, pairs.channelDesc, sizeof both);
  read_pairs<<<1, kCount>>>(out_pairs);
  cudaMemcpy(second, out_pairs, sizeof second, cudaMemcpyDeviceToHost);
  for (int i = 0; i < kCount; ++i) expect(second[i] == 7 * i, "a texel of two channels");
  expect(cudaUnbindTexture(line) == cudaSuccess, "unbinding");
  expect(cudaGetTextureAlignmentOffset(&offset, line) != cudaSuccess, "an unbound texture has no offset");
}

void planes() {
  uchar4 colours[kWidth * kHeight];
  float heights[kWidth * kHeight], got[kWidth], *out;
  for (int i = 0; i < kWidth * kHeight; ++i) colours[i] = make_uchar4(0, 5 * i, 0, 255), heights[i] = i;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<uchar4>();
  cudaArray* array;
  cudaMallocArray(&array, &format, kWidth, kHeight);
  cudaMemcpy2DToArray(array, 0, 0, colours, kWidth * sizeof(uchar4), kWidth * sizeof(uchar4), kHeight, cudaMemcpyHostToDevice);
  expect(cudaBindTextureToArray(image, array, format) == cudaSuccess, "binding an array");
  float4 got_colours[kWidth], *out_colours;
  cudaMalloc(&out_colours, sizeof got_colours), cudaMalloc(&out, sizeof got);
  read_image<<<1, kWidth>>>(out_colours);
  cudaMemcpy(got_colours, out_colours, sizeof got_colours, cudaMemcpyDeviceToHost);
  for (int i = 0; i < kWidth; ++i) {
    expect_close(got_colours[i].y, 5 * (kWidth + i) / 255.0, 1e-6, "a channel as a fraction");
    expect(got_colours[i].w == 1.0f, "the greatest as one");
  }
  float* rows;
  size_t pitch;
  cudaMallocPitch(&rows, &pitch, kWidth * sizeof(float), kHeight);
  cudaMemcpy2D(rows, pitch, heights, kWidth * sizeof(float), kWidth * sizeof(float), kHeight, cudaMemcpyHostToDevice);
  expect(cudaBindTexture2D(0, plane, rows, plane.channelDesc, kWidth, kHeight, pitch) == cudaSuccess, "binding rows");
  read_plane<<<1, kWidth>>>(out, 0.75f);
  cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
  for (int i = 0; i < kWidth; ++i) expect_close(got[i], 2 * kWidth + i + (i + 1 < kWidth ? 0.25 : 0), 1e-6, "a filtered texel");
  plane.filterMode = cudaFilterModePoint;
  cudaBindTexture2D(0, plane, rows, plane.channelDesc, kWidth, kHeight, pitch);
  read_plane<<<1, kWidth>>>(out, 0.75f);
  cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
  for (int i = 0; i < kWidth; ++i) expect(got[i] == 2 * kWidth + i, "a texel after the mode changed");
}

int main() {
  linear();
  planes();
  return verdict();
}
