// Texture and surface objects: linear memory, arrays of one to three dimensions, layers, filters, addressing modes.
#include <cuda.h>
#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <vector>

static int failures = 0;
static void expect(const char* what, double got, double wanted) {
  if (std::fabs(got - wanted) <= 1e-5) return;
  ++failures;
  std::printf("%s: %g, expected %g\n", what, got, wanted);
}

constexpr int kW = 8, kH = 4, kD = 3;

__global__ void fetch(cudaTextureObject_t texture, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex1Dfetch<float>(texture, i);
}
__global__ void sample(cudaTextureObject_t texture, float* out, float dx, float dy, float scale_x, float scale_y) {
  const int x = threadIdx.x, y = threadIdx.y;
  out[y * kW + x] = tex2D<float>(texture, (x + dx) * scale_x, (y + dy) * scale_y);
}
__global__ void bytes(cudaTextureObject_t texture, float4* out) {
  out[threadIdx.x] = tex2D<float4>(texture, threadIdx.x + 0.5f, 0.5f);
}
__global__ void volume(cudaTextureObject_t texture, float* out) {
  out[threadIdx.x] = tex3D<float>(texture, 1.5f, 2.5f, threadIdx.x + 0.5f);
}
__global__ void layers(cudaTextureObject_t texture, float* out) {
  out[threadIdx.x] = tex2DLayered<float>(texture, 1.5f, 2.5f, threadIdx.x);
}
__global__ void mirror(cudaSurfaceObject_t from, cudaSurfaceObject_t to) {
  float value;
  surf2Dread(&value, from, threadIdx.x * 4, threadIdx.y);
  surf2Dwrite(value * 2, to, (kW - 1 - threadIdx.x) * 4, threadIdx.y);
  surf2Dwrite(value, to, kW * 4, threadIdx.y, cudaBoundaryModeZero);  // outside: nothing happens
}

static cudaTextureObject_t texture_of(cudaResourceDesc resource, cudaTextureFilterMode filter, cudaTextureAddressMode mode,
                                      bool normalized, cudaTextureReadMode read = cudaReadModeElementType) {
  cudaTextureDesc how = {};
  how.addressMode[0] = how.addressMode[1] = how.addressMode[2] = mode;
  how.filterMode = filter;
  how.readMode = read;
  how.normalizedCoords = normalized;
  how.borderColor[0] = 7;
  cudaTextureObject_t made = 0;
  expect("cudaCreateTextureObject", cudaCreateTextureObject(&made, &resource, &how, nullptr), cudaSuccess);
  return made;
}
static cudaResourceDesc resource_of(cudaArray_t array) {
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  return resource;
}
static double wrapped(const std::vector<float>& v, int x, int y) { return v[(y + kH) % kH * kW + (x + kW) % kW]; }

int main() {
  std::vector<float> plane(kW * kH), got(kW * kH);
  for (int i = 0; i < kW * kH; ++i) plane[i] = static_cast<float>(i * i % 23);
  float* out;
  cudaMalloc(&out, 64 * sizeof(float4));
  const auto download = [&](int n) { cudaMemcpy(got.data(), out, n * sizeof(float), cudaMemcpyDeviceToHost); };

  float* line;
  cudaMalloc(&line, kW * sizeof(float));
  cudaMemcpy(line, plane.data(), kW * sizeof(float), cudaMemcpyHostToDevice);
  cudaResourceDesc linear = {};
  linear.resType = cudaResourceTypeLinear;
  linear.res.linear.devPtr = line;
  linear.res.linear.desc = cudaCreateChannelDesc<float>();
  linear.res.linear.sizeInBytes = kW * sizeof(float);
  fetch<<<1, 32>>>(texture_of(linear, cudaFilterModePoint, cudaAddressModeClamp, false), out, kW + 2);
  download(kW + 2);
  for (int i = 0; i < kW + 2; ++i) expect("tex1Dfetch", got[i], i < kW ? plane[i] : 0);

  cudaArray_t array, twin;
  cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaMallocArray(&array, &format, kW, kH, cudaArraySurfaceLoadStore);
  cudaMallocArray(&twin, &format, kW, kH, cudaArraySurfaceLoadStore);
  cudaMemcpy2DToArray(array, 0, 0, plane.data(), kW * 4, kW * 4, kH, cudaMemcpyHostToDevice);
  const dim3 block(kW, kH);
  const cudaResourceDesc resource = resource_of(array);
  sample<<<1, block>>>(texture_of(resource, cudaFilterModePoint, cudaAddressModeWrap, true), out, 3.5f, -0.5f, 1.0f / kW, 1.0f / kH);
  download(kW * kH);
  for (int i = 0; i < kW * kH; ++i) expect("wrap", got[i], wrapped(plane, i % kW + 3, i / kW - 1));
  sample<<<1, block>>>(texture_of(resource, cudaFilterModePoint, cudaAddressModeBorder, false), out, 2.5f, 0.5f, 1, 1);
  download(kW * kH);
  for (int i = 0; i < kW * kH; ++i) expect("border", got[i], i % kW + 2 < kW ? plane[i + 2] : 7);
  sample<<<1, block>>>(texture_of(resource, cudaFilterModeLinear, cudaAddressModeClamp, false), out, 0.75f, 0.5f, 1, 1);
  download(kW * kH);
  for (int i = 0; i < kW * kH; ++i) {
    const double next = i % kW + 1 < kW ? plane[i + 1] : plane[i];
    expect("linear", got[i], 0.75 * plane[i] + 0.25 * next);
  }

  cudaSurfaceObject_t from, to;
  const cudaResourceDesc target = resource_of(twin);
  cudaCreateSurfaceObject(&from, &resource);
  cudaCreateSurfaceObject(&to, &target);
  mirror<<<1, block>>>(from, to);
  cudaMemcpy2DFromArray(got.data(), kW * 4, twin, 0, 0, kW * 4, kH, cudaMemcpyDeviceToHost);
  for (int i = 0; i < kW * kH; ++i) expect("surface", got[i], 2 * plane[i / kW * kW + kW - 1 - i % kW]);
  expect("cudaDestroySurfaceObject", cudaDestroySurfaceObject(from), cudaSuccess);
  expect("a second time", cudaDestroySurfaceObject(from), cudaErrorInvalidValue);
  cudaGetLastError();

  const uchar4 pixels[2] = {{0, 51, 102, 255}, {255, 0, 51, 153}};
  cudaArray_t image;
  format = cudaCreateChannelDesc<uchar4>();
  expect("channels of uchar4", format.w * 10 + format.f, 81);
  cudaMallocArray(&image, &format, 2);
  cudaMemcpyToArray(image, 0, 0, pixels, sizeof pixels, cudaMemcpyHostToDevice);
  bytes<<<1, 2>>>(texture_of(resource_of(image), cudaFilterModePoint, cudaAddressModeClamp, false, cudaReadModeNormalizedFloat), (float4*)out);
  download(8);
  expect("normalised float", got[1] * 10 + got[7], 2 + 0.6);

  std::vector<float> block3(kW * kH * kD);
  for (size_t i = 0; i < block3.size(); ++i) block3[i] = static_cast<float>(i);
  for (const unsigned int flag : {cudaArrayDefault, cudaArrayLayered}) {
    cudaArray_t deep;
    format = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
    cudaMalloc3DArray(&deep, &format, make_cudaExtent(kW, kH, kD), flag);
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(block3.data(), kW * 4, kW, kH);
    copy.dstArray = deep;
    copy.extent = make_cudaExtent(kW, kH, kD);
    copy.kind = cudaMemcpyHostToDevice;
    expect("cudaMemcpy3D", cudaMemcpy3D(&copy), cudaSuccess);
    const cudaTextureObject_t texture = texture_of(resource_of(deep), cudaFilterModeLinear, cudaAddressModeClamp, false);
    if (flag == cudaArrayLayered)
      layers<<<1, kD>>>(texture, out);
    else
      volume<<<1, kD>>>(texture, out);
    download(kD);
    for (int z = 0; z < kD; ++z) expect(flag ? "layers" : "volume", got[z], block3[(z * kH + 2) * kW + 1]);
    cudaFreeArray(deep);
  }
  CUDA_ARRAY_DESCRIPTOR described = {2, 1, CU_AD_FORMAT_UNSIGNED_INT8, 4};
  CUarray driven;
  expect("cuArrayCreate", cuArrayCreate(&driven, &described), CUDA_SUCCESS);
  CUDA_MEMCPY2D copied = {};
  copied.srcMemoryType = CU_MEMORYTYPE_HOST, copied.srcHost = pixels, copied.srcPitch = sizeof pixels;
  copied.dstMemoryType = CU_MEMORYTYPE_ARRAY, copied.dstArray = driven;
  copied.WidthInBytes = sizeof pixels, copied.Height = 1;
  expect("cuMemcpy2D", cuMemcpy2D(&copied), CUDA_SUCCESS);
  copied.Height = 2;
  expect("beyond the array", cuMemcpy2D(&copied), CUDA_ERROR_INVALID_VALUE);
  CUDA_RESOURCE_DESC driven_resource = {};
  driven_resource.resType = CU_RESOURCE_TYPE_ARRAY, driven_resource.res.array.hArray = driven;
  const CUDA_TEXTURE_DESC clamped = {{CU_TR_ADDRESS_MODE_CLAMP, CU_TR_ADDRESS_MODE_CLAMP, CU_TR_ADDRESS_MODE_CLAMP}};
  CUtexObject driven_texture;
  expect("cuTexObjectCreate", cuTexObjectCreate(&driven_texture, &driven_resource, &clamped, nullptr), CUDA_SUCCESS);
  bytes<<<1, 2>>>(driven_texture, (float4*)out);
  download(8);
  expect("the driver's texture", got[1] * 10 + got[7], 2 + 0.6);
  expect("cuTexObjectDestroy", cuTexObjectDestroy(driven_texture), CUDA_SUCCESS);
  expect("cuArrayDestroy", cuArrayDestroy(driven), CUDA_SUCCESS);
  expect("no error is left", cudaDeviceSynchronize(), cudaSuccess);
  if (failures == 0) std::printf("all good\n");
  return failures != 0;
}
