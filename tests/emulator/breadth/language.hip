// What HIP programs expect of AMD's compiler and of the driver-like part of the API.
#include <hip/hip_runtime.h>
#include <roctracer/roctx.h>

#include <complex>
#include <cstdio>

__global__ void lanes(int* out) {
  const int t = static_cast<int>(threadIdx.x);
  out[t] = __builtin_amdgcn_ds_permute((t ^ 1) << 2, t);       // each lane sends to its neighbour
  out[64 + t] = __builtin_amdgcn_ds_permute((t / 2) << 2, t);  // of two senders the last wins; half get nothing
}
__global__ void complex_numbers(float* out) {
  std::complex<float> z(1, 2);
  z = z * z + std::conj(z);
  out[0] = z.real();
  out[1] = z.imag();
  out[2] = std::abs(std::complex<float>(3, 4));
}

__global__ void count(int* out) { out[threadIdx.x] = static_cast<int>(threadIdx.x); }
// A graph whose memory is allocated and freed within the capture.
bool graph_with_memory() {
  hipStream_t stream;
  hipGraph_t graph;
  hipGraphExec_t executable;
  int *memory, last[64] = {};
  (void)hipStreamCreate(&stream);
  (void)hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal);
  (void)hipMallocAsync(reinterpret_cast<void**>(&memory), sizeof last, stream);
  count<<<1, 64, 0, stream>>>(memory);
  (void)hipMemcpyAsync(last, memory, sizeof last, hipMemcpyDeviceToHost, stream);
  (void)hipFreeAsync(memory, stream);
  (void)hipStreamEndCapture(stream, &graph);
  (void)hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0);
  (void)hipGraphLaunch(executable, stream);
  (void)hipGraphLaunch(executable, stream);
  return hipStreamSynchronize(stream) == hipSuccess && last[63] == 63;
}

// Rows from the middle of a pitched image, and a flag that one stream writes and another one waits for.
int rows_and_flags() {
  char image[8][16], out[3][4] = {}, *pitched;
  for (int i = 0; i < 128; ++i) image[i / 16][i % 16] = static_cast<char>(i);
  size_t pitch;
  (void)hipMallocPitch(reinterpret_cast<void**>(&pitched), &pitch, 16, 8);
  (void)hipMemcpy2D(pitched, pitch, image, 16, 16, 8, hipMemcpyHostToDevice);
  hip_Memcpy2D copy = {};
  copy.srcMemoryType = hipMemoryTypeDevice, copy.srcDevice = pitched, copy.srcPitch = pitch;
  copy.srcXInBytes = 5, copy.srcY = 2;
  copy.dstMemoryType = hipMemoryTypeHost, copy.dstHost = out, copy.WidthInBytes = 4, copy.Height = 3;
  int wrong = hipMemcpyParam2D(&copy) != hipSuccess;
  for (int i = 0; i < 12; ++i) wrong += out[i / 4][i % 4] != image[2 + i / 4][5 + i % 4];
  hipStream_t writer, reader;
  (void)hipStreamCreate(&writer);
  (void)hipStreamCreate(&reader);
  uint32_t* flag;
  (void)hipExtMallocWithFlags(&flag, 8, hipMallocSignalMemory);
  wrong += hipStreamWriteValue32(writer, flag, 0x15, 0) != hipSuccess;
  wrong += hipStreamWaitValue32(reader, flag, 5, hipStreamWaitValueEq, 0xf) != hipSuccess;
  wrong += hipStreamWaitValue32(reader, flag, 0x20, hipStreamWaitValueGte) != hipErrorNotSupported;
  hipUUID uuid;
  hipDeviceProp_t properties;
  (void)hipGetDeviceProperties(&properties, 0);
  wrong += hipDeviceGetUuid(&uuid, 0) != hipSuccess;
  for (int i = 0; i < 16; ++i) wrong += uuid.bytes[i] != properties.uuid.bytes[i];
  return wrong;
}

int main() {
  int wrong = (graph_with_memory() ? 0 : 1) + rows_and_flags();
  hipDevice_t device;
  hipCtx_t context, popped;
  wrong += hipInit(0) != hipSuccess || hipDeviceGet(&device, 0) != hipSuccess;
  wrong += hipCtxCreate(&context, 0, device) != hipSuccess || hipCtxSetCurrent(context) != hipSuccess;
  roctxRangePush("lanes");
  int *out, host[128], width;
  (void)hipMalloc(&out, sizeof host);
  lanes<<<1, 64>>>(out);
  (void)hipMemcpy(host, out, sizeof host, hipMemcpyDeviceToHost);
  (void)hipDeviceGetAttribute(&width, hipDeviceAttributeWarpSize, 0);
  for (int t = 0; t < 64; ++t) {
    const int base = t / width * width;
    const int lane = t - base;
    wrong += host[t] != (t ^ 1);
    if (base == 0) wrong += host[64 + t] != (lane < width / 2 ? 2 * lane + 1 : 0);
  }
  roctxRangePop();
  float numbers[3];
  complex_numbers<<<1, 1>>>(reinterpret_cast<float*>(out));
  (void)hipMemcpy(numbers, out, sizeof numbers, hipMemcpyDeviceToHost);
  wrong += numbers[0] != -2 || numbers[1] != 2 || numbers[2] != 5;
  wrong += hipCtxPopCurrent(&popped) != hipSuccess || popped != context || hipCtxDestroy(context) != hipSuccess;
  std::puts(wrong ? "failed" : "all good");
  return wrong;
}
