// Allocation, copies, fills, pointers: plain C++, no device code.
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "checks.h"
#ifdef USE_CUDA
#include <cuda.h>
#include <curand.h>
#define RAND(name) curand##name
#define RAND_DEFAULT CURAND_RNG_PSEUDO_DEFAULT
#else
#include <hiprand/hiprand.h>
#define RAND(name) hiprand##name
#define RAND_DEFAULT HIPRAND_RNG_PSEUDO_DEFAULT
#endif

constexpr auto kToDevice = API(MemcpyHostToDevice);
constexpr auto kToHost = API(MemcpyDeviceToHost);
constexpr int kInvalidValue = 1, kOutOfMemory = 2, kInvalidPitch = 12, kInvalidDirection = 21;

static void allocations() {
  void* p = &p;
  WORKS(API(Malloc)(&p, 0));
  EXPECT(p == nullptr, 1);
  FAILS(API(Malloc)(nullptr, 8), kInvalidValue);
  FAILS(API(Malloc)(&p, size_t(1) << 50), kOutOfMemory);
  char* bytes = nullptr;
  WORKS(API(Malloc)(&bytes, 1000));
  EXPECT(reinterpret_cast<size_t>(bytes) % 256, 0);
  unsigned char seen[1000];
  WORKS(API(Memcpy)(seen, bytes, 1000, kToHost));
  EXPECT(seen[0], 0xA5);
  EXPECT(seen[999], 0xA5);
  FAILS(API(Free)(bytes + 4), kInvalidValue);
  FAILS(API(Free)(&seen), kInvalidValue);
  WORKS(API(Free)(bytes));
  FAILS(API(Free)(bytes), kInvalidValue);
  FAILS(API(Memcpy)(seen, bytes, 1, kToHost), kInvalidValue);
  WORKS(API(Free)(nullptr));
  size_t before = 0, after = 0, total = 0;
  WORKS(API(MemGetInfo)(&before, &total));
  WORKS(API(Malloc)(&bytes, 1 << 20));
  WORKS(API(MemGetInfo)(&after, &total));
  EXPECT(before - after, 1 << 20);
  WORKS(API(Free)(bytes));
}

static void copies() {
  std::vector<int> in(100), out(100);
  for (int i = 0; i < 100; ++i) in[i] = i;
  int *a = nullptr, *b = nullptr;
  WORKS(API(Malloc)(&a, 400));
  WORKS(API(Malloc)(&b, 400));
  WORKS(API(Memcpy)(a, in.data(), 400, kToDevice));
  WORKS(API(Memcpy)(b, a, 400, API(MemcpyDeviceToDevice)));
  WORKS(API(MemcpyAsync)(out.data(), b, 400, API(MemcpyDefault), 0));
  EXPECT(out == in, 1);
  FAILS(API(Memcpy)(a, in.data(), 401, kToDevice), kInvalidValue);
  FAILS(API(Memcpy)(a, in.data(), 4, static_cast<API(MemcpyKind)>(17)), kInvalidDirection);
  WORKS(API(Memset)(a, 1, 400));
  WORKS(API(Memcpy)(out.data(), a, 400, kToHost));
  EXPECT(out[99], 0x01010101);
  FAILS(API(Memset)(a, 1, 404), kInvalidValue);
  FAILS(API(Memset)(out.data(), 1, 4), kInvalidValue);
  WORKS(API(Free)(a));
  WORKS(API(Free)(b));
}

static void rows_and_volumes() {
  unsigned char in[6][10], out[6][10];
  for (int i = 0; i < 60; ++i) in[i / 10][i % 10] = static_cast<unsigned char>(i);
  char* p = nullptr;
  size_t pitch = 0;
  WORKS(API(MallocPitch)(&p, &pitch, 10, 6));
  EXPECT(pitch >= 10 && pitch % 256 == 0, 1);
  WORKS(API(Memcpy2D)(p, pitch, in, 10, 10, 6, kToDevice));
  WORKS(API(Memcpy2D)(out, 10, p, pitch, 10, 6, kToHost));
  EXPECT(std::memcmp(in, out, sizeof in), 0);
  FAILS(API(Memcpy2D)(out, 5, p, pitch, 10, 6, kToHost), kInvalidPitch);
  API(PitchedPtr) volume;
  WORKS(API(Malloc3D)(&volume, API(Extent){10, 3, 2}));
  API(Memcpy3DParms) copy = {};
  copy.srcPtr.ptr = in, copy.srcPtr.pitch = 10, copy.srcPtr.xsize = 10, copy.srcPtr.ysize = 3;
  copy.dstPtr = volume;
  copy.extent = API(Extent){10, 3, 2};
  copy.kind = kToDevice;
  WORKS(API(Memcpy3D)(&copy));
  std::memset(out, 0, sizeof out);
  copy.dstPtr = copy.srcPtr, copy.dstPtr.ptr = out, copy.srcPtr = volume, copy.kind = kToHost;
  WORKS(API(Memcpy3D)(&copy));
  EXPECT(std::memcmp(in, out, sizeof in), 0);
  WORKS(API(Free)(p));
  WORKS(API(Free)(volume.ptr));
}

static void host_memory() {
  int* pinned = nullptr;
  WORKS(API(HostAlloc)(&pinned, 64, 2));
  pinned[0] = 5;
  int* seen = nullptr;
  WORKS(API(HostGetDevicePointer)(&seen, pinned, 0));
  EXPECT(seen == pinned, 1);
  unsigned flags = 0;
  WORKS(API(HostGetFlags)(&flags, pinned));
  EXPECT(flags, 2);
  WORKS(API(FreeHost)(pinned));
  int own[4];
  WORKS(API(HostRegister)(own, sizeof own, 0));
  FAILS(API(HostRegister)(own, sizeof own, 0), 712);
  WORKS(API(HostUnregister)(own));
  FAILS(API(HostUnregister)(own), 713);
  int* managed = nullptr;
  WORKS(API(MallocManaged)(&managed, 64));
  managed[3] = 1;
  WORKS(API(MemPrefetchAsync)(managed, 64, 0, 0));
  WORKS(API(Free)(managed));
}

static void many_threads() {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t] {
      for (int i = 1; i < 50; ++i) {
        int *p = nullptr, back = 0;
        const int value = t * 1000 + i;
        if (API(Malloc)(&p, 4 * i) || API(Memcpy)(p, &value, 4, kToDevice) || API(Memcpy)(&back, p, 4, kToHost) ||
            API(Free)(p) || back != value)
          std::_Exit(7);
      }
    });
  for (auto& thread : threads) thread.join();
}

static void streams_and_events() {
  API(Stream_t) stream;
  API(Event_t) start, stop, never;
  char* p = nullptr;
  WORKS(API(StreamCreate)(&stream));
  WORKS(API(EventCreate)(&start));
  WORKS(API(EventCreate)(&stop));
  WORKS(API(EventCreate)(&never));
  WORKS(API(Malloc)(&p, 1 << 20));
  WORKS(API(EventRecord)(start, stream));
  WORKS(API(MemsetAsync)(p, 0, 1 << 20, stream));
  WORKS(API(EventRecord)(stop, stream));
  WORKS(API(EventSynchronize)(stop));
  float first = 0, both = 0;
  WORKS(API(EventElapsedTime)(&first, start, stop));
  EXPECT(first > 0, 1);
  WORKS(API(MemsetAsync)(p, 0, 1 << 20, stream));
  WORKS(API(EventRecord)(stop, stream));
  WORKS(API(EventElapsedTime)(&both, start, stop));
  EXPECT(both > 1.9f * first && both < 2.1f * first, 1);
  FAILS(API(EventElapsedTime)(&both, start, never), 400);
  int calls = 0;
  WORKS(API(LaunchHostFunc)(stream, [](void* data) { ++*static_cast<int*>(data); }, &calls));
  WORKS(API(StreamSynchronize)(stream));
  EXPECT(calls, 1);
  WORKS(API(StreamQuery)(stream));
  WORKS(API(StreamWaitEvent)(stream, stop, 0));
  WORKS(API(StreamDestroy)(stream));
  WORKS(API(EventDestroy)(start));
  WORKS(API(Free)(p));
}

#ifdef USE_CUDA
#undef cudaGetDeviceProperties
extern "C" cudaError_t cudaGetDeviceProperties(void* properties, int device);  // as CUDA 13 declares it
constexpr size_t kOthersBytes = 1008, kOthersUnits = 384;
#else
#undef hipGetDeviceProperties
extern "C" hipError_t hipGetDeviceProperties(void* properties, int device);  // as HIP 5 declares it
constexpr size_t kOthersBytes = 792, kOthersUnits = 336;
#endif

// An object that saw the headers of another release has its own idea of the properties.
static void properties_of_another_release(int units) {
  alignas(8) char others[kOthersBytes + 8];
  std::memset(others, 7, sizeof others);
  WORKS(API(GetDeviceProperties)(others, 0));
  int told = 0;
  std::memcpy(&told, others + kOthersUnits, sizeof told);
  EXPECT(told, units);
  for (size_t i = kOthersBytes; i < sizeof others; ++i) EXPECT(others[i], 7);
}

static void device_queries() {
  int count = 0, device = 7, value = 0;
  WORKS(API(GetDeviceCount)(&count));
  EXPECT(count, 1);
  FAILS(API(SetDevice)(1), 101);
  WORKS(API(GetDevice)(&device));
  EXPECT(device, 0);
#ifdef USE_CUDA
  cudaDeviceProp p;
  WORKS(cudaGetDeviceProperties_v2(&p, 0));
  WORKS(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0));
  EXPECT(std::string(cudaGetErrorName(cudaErrorMemoryAllocation)) == "cudaErrorMemoryAllocation", 1);
#else
  hipDeviceProp_t p;
  WORKS(hipGetDevicePropertiesR0600(&p, 0));
  WORKS(hipDeviceGetAttribute(&value, hipDeviceAttributeMultiprocessorCount, 0));
  EXPECT(std::string(hipGetErrorName(hipErrorOutOfMemory)) == "hipErrorOutOfMemory", 1);
  EXPECT(std::string(p.gcnArchName) == "gfx942:sramecc+:xnack-", 1);
  EXPECT(p.major * 10 + p.minor, 94);
#endif
  EXPECT(value, p.multiProcessorCount);
  properties_of_another_release(value);
  EXPECT(std::string(API(GetErrorString)(API(Error_t)(700))) == "an illegal memory access was encountered", 1);
}

static void random_numbers() {
  constexpr int kCount = 20000;
  RAND(Generator_t) generator;
  std::vector<float> first(kCount), again(kCount);
  float* p = nullptr;
  WORKS(API(Malloc)(&p, kCount * sizeof(float)));
  WORKS(RAND(CreateGenerator)(&generator, RAND_DEFAULT));
  for (auto* into : {&first, &again}) {
    WORKS(RAND(SetPseudoRandomGeneratorSeed)(generator, 1234ULL));
    WORKS(RAND(GenerateUniform)(generator, p, kCount));
    WORKS(API(Memcpy)(into->data(), p, kCount * sizeof(float), kToHost));
  }
  EXPECT(first == again, 1);
  double sum = 0, square = 0;
  for (const float x : first) {
    EXPECT(x > 0 && x <= 1, 1);
    sum += x;
  }
  EXPECT(sum > 0.48 * kCount && sum < 0.52 * kCount, 1);
  WORKS(RAND(GenerateNormal)(generator, p, kCount, 2.0f, 3.0f));
  WORKS(API(Memcpy)(first.data(), p, kCount * sizeof(float), kToHost));
  sum = 0;
  for (const float x : first) sum += x, square += (x - 2.0) * (x - 2.0);
  EXPECT(sum / kCount > 1.9 && sum / kCount < 2.1, 1);
  EXPECT(square / kCount > 8.6 && square / kCount < 9.4, 1);
  EXPECT(RAND(GenerateUniform)(generator, first.data(), kCount), 201);
  WORKS(RAND(DestroyGenerator)(generator));
  EXPECT(RAND(DestroyGenerator)(generator), 101);
}

static void what_is_not_supported_says_so() {
  API(IpcMemHandle_t) handle;
  FAILS(API(IpcGetMemHandle)(&handle, nullptr), 801);
}

#ifdef USE_CUDA
static void driver() {
  CUcontext context;
  CUdeviceptr p = 0;
  int in[4] = {1, 2, 3, 4}, out[4] = {};
  char name[64];
  const char* text = nullptr;
  WORKS(cuInit(0));
  WORKS(cuDevicePrimaryCtxRetain(&context, 0));
  WORKS(cuCtxSetCurrent(context));
  WORKS(cuDeviceGetName(name, sizeof name, 0));
  WORKS(cuMemAlloc(&p, sizeof in));
  WORKS(cuMemcpyHtoD(p, in, sizeof in));
  WORKS(cuMemcpyDtoH(out, p, sizeof in));
  EXPECT(std::memcmp(in, out, sizeof in), 0);
  WORKS(cuMemFree(p));
  EXPECT(cuMemFree(p), CUDA_ERROR_INVALID_VALUE);
  WORKS(cuGetErrorName(CUDA_ERROR_INVALID_VALUE, &text));
  EXPECT(std::string(text) == "CUDA_ERROR_INVALID_VALUE", 1);
}
#endif

int main() {
#ifdef USE_CUDA
  driver();
#endif
  what_is_not_supported_says_so();
  allocations();
  random_numbers();
  copies();
  rows_and_volumes();
  host_memory();
  many_threads();
  streams_and_events();
  device_queries();
  return failures ? 1 : 0;
}
