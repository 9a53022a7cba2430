// A graph captured from a stream: a memset and two kernels, launched three times.
#include <hip/hip_runtime.h>

#define OK(call) \
  if ((call) != hipSuccess) return __LINE__ % 100

__global__ void grow(float* a, const float* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = a[i] * 2 + b[i];
}
__global__ void fold(const float* a, float* sum, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(sum, a[i]);
}
int main() {
  constexpr int n = 1024;
  float *a, *b, *sum, host = 0;
  OK(hipMalloc(&a, n * 4));
  OK(hipMalloc(&b, n * 4));
  OK(hipMalloc(&sum, 4));
  float start[n];
  for (float& one : start) one = 1;
  OK(hipMemcpy(a, start, n * 4, hipMemcpyHostToDevice));
  OK(hipMemcpy(b, start, n * 4, hipMemcpyHostToDevice));
  hipStream_t s;
  OK(hipStreamCreate(&s));
  hipGraph_t graph;
  hipGraphExec_t exec;
  OK(hipStreamBeginCapture(s, hipStreamCaptureModeGlobal));
  OK(hipMemsetAsync(sum, 0, 4, s));
  grow<<<n / 256, 256, 0, s>>>(a, b, n);
  fold<<<n / 256, 256, 0, s>>>(a, sum, n);
  OK(hipStreamEndCapture(s, &graph));
  OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  for (int k = 0; k < 3; ++k) OK(hipGraphLaunch(exec, s));
  OK(hipStreamSynchronize(s));
  OK(hipMemcpy(&host, sum, 4, hipMemcpyDeviceToHost));
  return host != 15.0f * n;
}
