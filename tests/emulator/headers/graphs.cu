// Graphs built node by node: kernels, copies, fills, host functions, allocation, children, new parameters.
#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

static int failures = 0;
static void expect(const char* what, long got, long wanted) {
  if (got == wanted) return;
  ++failures;
  std::printf("%s: %ld, expected %ld\n", what, got, wanted);
}

__global__ void add(int* values, int step, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) values[i] += step;
}
static void count(void* calls) { ++*static_cast<int*>(calls); }

constexpr int kN = 300;

static cudaKernelNodeParams adding(void** arguments) {
  cudaKernelNodeParams params = {};
  params.func = (void*)add;
  params.gridDim = dim3(3);
  params.blockDim = dim3(128);
  params.kernelParams = arguments;
  return params;
}

int main() {
  int* device;
  int calls = 0, n = kN, step = 5;
  std::vector<int> host(kN, -1);
  cudaMalloc(&device, kN * sizeof(int));
  cudaGraph_t graph, child;
  cudaGraphNode_t fill, kernel, back, called, nested, empty;
  expect("create", cudaGraphCreate(&graph, 0), cudaSuccess);

  cudaMemsetParams filling = {};
  filling.dst = device;
  filling.value = 7;
  filling.elementSize = 4;
  filling.width = kN;
  filling.height = 1;
  expect("fill", cudaGraphAddMemsetNode(&fill, graph, nullptr, 0, &filling), cudaSuccess);
  void* arguments[] = {&device, &step, &n};
  cudaKernelNodeParams params = adding(arguments);
  expect("kernel", cudaGraphAddKernelNode(&kernel, graph, &fill, 1, &params), cudaSuccess);
  cudaGraphCreate(&child, 0);
  cudaGraphNode_t inner;
  cudaGraphAddKernelNode(&inner, child, nullptr, 0, &params);
  expect("child", cudaGraphAddChildGraphNode(&nested, graph, &kernel, 1, child), cudaSuccess);
  step = 1000;  // the nodes have their copies
  cudaGraphAddEmptyNode(&empty, graph, &nested, 1);
  expect("copy", cudaGraphAddMemcpyNode1D(&back, graph, &empty, 1, host.data(), device, kN * sizeof(int), cudaMemcpyDeviceToHost), cudaSuccess);
  cudaHostNodeParams calling = {count, &calls};
  expect("host", cudaGraphAddHostNode(&called, graph, &back, 1, &calling), cudaSuccess);
  expect("a stranger's node", cudaGraphAddEmptyNode(&empty, graph, &inner, 1), cudaErrorInvalidValue);
  size_t nodes = 0;
  cudaGraphGetNodes(graph, nullptr, &nodes);
  expect("nodes", nodes, 6);
  expect("nothing ran yet", host[0], -1);

  cudaGraphExec_t executable;
  expect("instantiate", cudaGraphInstantiate(&executable, graph, nullptr, nullptr, 0), cudaSuccess);
  for (int i = 0; i < 3; ++i) cudaGraphLaunch(executable, 0);
  cudaDeviceSynchronize();
  expect("values", host[kN - 1], 7 + 5 + 5);
  expect("calls", calls, 3);

  step = 100;
  params = adding(arguments);
  expect("new parameters", cudaGraphExecKernelNodeSetParams(executable, kernel, &params), cudaSuccess);
  cudaGraphLaunch(executable, 0);
  cudaDeviceSynchronize();
  expect("new values", host[0], 7 + 100 + 5);

  cudaGraph_t clone;
  cudaGraphExec_t twin;
  cudaGraphClone(&clone, graph);
  cudaGraphInstantiate(&twin, clone, 0);
  cudaGraphLaunch(twin, 0);
  expect("the clone has the old ones", host[0], 7 + 5 + 5);
  cudaGraphExecUpdateResultInfo update;
  expect("update", cudaGraphExecUpdate(executable, graph, &update), cudaSuccess);
  cudaGraphExecUpdateResult outcome = cudaGraphExecUpdateError;
  expect("update, CUDA 11", cudaGraphExecUpdate(executable, graph, nullptr, &outcome), cudaSuccess);
  expect("its outcome", outcome, cudaGraphExecUpdateSuccess);
  expect("destroy", cudaGraphDestroy(graph), cudaSuccess);
  cudaGraphLaunch(executable, 0);
  expect("after the update", host[0], 7 + 5 + 5);

  cudaMemAllocNodeParams allocating = {};
  allocating.bytesize = kN * sizeof(int);
  allocating.poolProps.allocType = cudaMemAllocationTypePinned;
  allocating.poolProps.location.type = cudaMemLocationTypeDevice;
  cudaGraphCreate(&graph, 0);
  cudaGraphNode_t allocated;
  expect("allocation", cudaGraphAddMemAllocNode(&allocated, graph, nullptr, 0, &allocating), cudaSuccess);
  filling.dst = allocating.dptr;
  cudaGraphAddMemsetNode(&fill, graph, &allocated, 1, &filling);
  cudaGraphInstantiate(&executable, graph, 0);
  for (int i = 0; i < 2; ++i) {  // each launch allocates what was freed outside the graph
    cudaGraphLaunch(executable, 0);
    cudaMemcpy(host.data(), allocating.dptr, kN * sizeof(int), cudaMemcpyDeviceToHost);
    expect("memory of a graph", host[kN - 1], 7);
    host[kN - 1] = 0;
    expect("free", i ? cudaFreeAsync(allocating.dptr, 0) : cudaFree(allocating.dptr), cudaSuccess);
  }
  if (failures == 0) std::printf("all good\n");
  return failures != 0;
}
