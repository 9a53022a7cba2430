// Launches, symbols, occupancy, captured graphs; the same text is compiled as HIP and as CUDA.
#include "checks.h"

__device__ int counter;
__constant__ float factors[4];
#ifdef USE_CUDA
#define SYMBOL(x) x
#else
#define SYMBOL(x) HIP_SYMBOL(x)
__managed__ int managed = 7;
__global__ void raise_managed() { managed += 1; }
#endif

__global__ void scale(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] * factors[1];
}
__global__ void count() { atomicAdd(&counter, 1); }
__global__ void __launch_bounds__(64) bounded(int* out) { out[threadIdx.x] = 1; }
__global__ void reverse(int* out) {
  extern __shared__ int held[];
  held[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = held[blockDim.x - 1 - threadIdx.x];
}
template <class T>
__global__ void store(T* out, T value) {
  *out = value;
}

static void symbols() {
  const float values[4] = {0, 3, 0, 0};
  WORKS(API(MemcpyToSymbol)(SYMBOL(factors), values, sizeof values));
  float back = 0;
  WORKS(API(MemcpyFromSymbol)(&back, SYMBOL(factors), 4, 4));
  EXPECT(back, 3);
  EXPECT(API(MemcpyToSymbol)(SYMBOL(factors), values, 16, 4), 1);
  size_t bytes = 0;
  void* address = nullptr;
  WORKS(API(GetSymbolSize)(&bytes, SYMBOL(factors)));
  EXPECT(bytes, 16);
  WORKS(API(GetSymbolAddress)(&address, SYMBOL(counter)));
  WORKS(API(Memset)(address, 0, 4));
  int own = 0;
  EXPECT(API(GetSymbolSize)(&bytes, own), 13);
  API(GetLastError)();
}

static void launches() {
  float in[100], out[100], *d_in, *d_out;
  for (int i = 0; i < 100; ++i) in[i] = float(i);
  WORKS(API(Malloc)(&d_in, sizeof in));
  WORKS(API(Malloc)(&d_out, sizeof out));
  WORKS(API(Memcpy)(d_in, in, sizeof in, API(MemcpyHostToDevice)));
  scale<<<2, 64>>>(d_in, d_out, 100);
  WORKS(API(GetLastError)());
  WORKS(API(Memcpy)(out, d_out, sizeof out, API(MemcpyDeviceToHost)));
  EXPECT(out[99], 297);
  int n = 10;
  const float* source = d_in;
  void* arguments[] = {&source, &d_out, &n};
  WORKS(API(LaunchKernel)(scale, dim3(1), dim3(64), arguments, 0, 0));
  WORKS(API(LaunchKernel)((const void*)scale, dim3(1), dim3(64), arguments, 0, 0));
  int *d_ints, ints[64];
  WORKS(API(Malloc)(&d_ints, sizeof ints));
  reverse<<<1, 64, sizeof ints>>>(d_ints);
  WORKS(API(Memcpy)(ints, d_ints, sizeof ints, API(MemcpyDeviceToHost)));
  EXPECT(ints[0], 63);
  store<<<1, 1>>>(d_ints, 9);
  WORKS(API(Memcpy)(ints, d_ints, 4, API(MemcpyDeviceToHost)));
  EXPECT(ints[0], 9);
}

static void refused_launches() {
  int* p = nullptr;
  count<<<1, 1025>>>();
  EXPECT(API(GetLastError)(), 9);
  count<<<0, 64>>>();
  EXPECT(API(GetLastError)(), 9);
  count<<<1, dim3(64, 0, 1)>>>();
  EXPECT(API(GetLastError)(), 9);
#ifdef USE_CUDA
  count<<<dim3(1, 70000), 64>>>();
  EXPECT(API(GetLastError)(), 9);
#endif
  bounded<<<1, 65>>>(p);
#ifdef USE_CUDA
  EXPECT(API(GetLastError)(), 1);
#else
  EXPECT(API(GetLastError)(), 719);
#endif
  reverse<<<1, 64, 1 << 20>>>(p);
  EXPECT(API(GetLastError)(), 1);
  EXPECT(API(LaunchKernel)((const void*)&failures, dim3(1), dim3(1), nullptr, 0, 0), 98);
  WORKS(API(PeekAtLastError)() == 98 ? 0 : 1);
  API(GetLastError)();
  WORKS(API(DeviceSynchronize)());
}

static void occupancy() {
  int blocks = 0, grid = 0, block = 0;
  WORKS(API(OccupancyMaxActiveBlocksPerMultiprocessor)(&blocks, scale, 256, 0));
  EXPECT(blocks > 0, 1);
  WORKS(API(OccupancyMaxPotentialBlockSize)(&grid, &block, scale, 0, 0));
  EXPECT(block > 0 && block <= 1024 && grid > 0, 1);
  WORKS(API(OccupancyMaxPotentialBlockSize)(&grid, &block, scale, 0, 96));
  EXPECT(block > 0 && block <= 96, 1);
  API(FuncAttributes) attributes;
  WORKS(API(FuncGetAttributes)(&attributes, (const void*)reverse));
  EXPECT(attributes.maxThreadsPerBlock, 1024);
  EXPECT(API(FuncSetAttribute)((const void*)reverse, API(FuncAttributeMaxDynamicSharedMemorySize), 1 << 22), 1);
  API(GetLastError)();
}

static void graphs() {
  API(Stream_t) stream, other;
  API(Event_t) fork;
  API(Graph_t) graph;
  API(GraphExec_t) playable;
  int zero = 0, seen = 0;
  WORKS(API(MemcpyToSymbol)(SYMBOL(counter), &zero, 4));
  WORKS(API(StreamCreate)(&stream));
  WORKS(API(StreamCreate)(&other));
  WORKS(API(EventCreate)(&fork));
  WORKS(API(StreamBeginCapture)(stream, API(StreamCaptureModeGlobal)));
  count<<<1, 64, 0, stream>>>();
  WORKS(API(EventRecord)(fork, stream));
  WORKS(API(StreamWaitEvent)(other, fork, 0));
  count<<<1, 32, 0, other>>>();
  WORKS(API(EventRecord)(fork, other));
  WORKS(API(StreamWaitEvent)(stream, fork, 0));
  EXPECT(API(StreamSynchronize)(stream), 900);
  API(GetLastError)();
  WORKS(API(StreamEndCapture)(stream, &graph));
  WORKS(API(MemcpyFromSymbol)(&seen, SYMBOL(counter), 4));
  EXPECT(seen, 0);
  WORKS(API(GraphInstantiate)(&playable, graph, nullptr, nullptr, 0));
  for (int i = 0; i < 3; ++i) WORKS(API(GraphLaunch)(playable, stream));
  WORKS(API(StreamSynchronize)(stream));
  WORKS(API(MemcpyFromSymbol)(&seen, SYMBOL(counter), 4));
  EXPECT(seen, 3 * 96);
  WORKS(API(GraphExecDestroy)(playable));
  WORKS(API(GraphDestroy)(graph));
}

int main() {
  symbols();
  launches();
  refused_launches();
  occupancy();
  graphs();
#ifndef USE_CUDA
  raise_managed<<<1, 1>>>();
  WORKS(hipDeviceSynchronize());
  EXPECT(managed, 8);
#endif
  std::printf("done\n");
  return failures ? 1 : 0;
}
