// The host types of graphs built node by node, under the includer's prefix (SIMT_PREFIX: hip or cuda); the runtime
// has the same structures as host::KernelNodeParams and so on. No include guard: each API header includes it once.
typedef struct SIMT_T(KernelNodeParams) {
  void* func;
  dim3 gridDim, blockDim;
  unsigned int sharedMemBytes;
  void** kernelParams;
  void** extra;
} SIMT_T(KernelNodeParams);
typedef struct SIMT_T(MemsetParams) {
  void* dst;
  size_t pitch;
  unsigned int value, elementSize;
  size_t width, height;  // width in elements
} SIMT_T(MemsetParams);
typedef struct SIMT_T(HostNodeParams) {
  SIMT_T(HostFn_t) fn;
  void* userData;
} SIMT_T(HostNodeParams);
typedef struct SIMT_T(MemAccessDesc) {
  SIMT_T(MemLocation) location;
  int flags;
} SIMT_T(MemAccessDesc);
typedef struct SIMT_T(MemAllocNodeParams) {
  SIMT_T(MemPoolProps) poolProps;
  const SIMT_T(MemAccessDesc)* accessDescs;
  size_t accessDescCount, bytesize;
  void* dptr;
} SIMT_T(MemAllocNodeParams);
typedef enum SIMT_T(GraphNodeType) {
  SIMT_T(GraphNodeTypeKernel) = 0,
  SIMT_T(GraphNodeTypeMemcpy) = 1,
  SIMT_T(GraphNodeTypeMemset) = 2,
  SIMT_T(GraphNodeTypeHost) = 3,
  SIMT_T(GraphNodeTypeGraph) = 4,
  SIMT_T(GraphNodeTypeEmpty) = 5,
  SIMT_T(GraphNodeTypeWaitEvent) = 6,
  SIMT_T(GraphNodeTypeEventRecord) = 7,
  SIMT_T(GraphNodeTypeExtSemaphoreSignal) = 8,
  SIMT_T(GraphNodeTypeExtSemaphoreWait) = 9,
  SIMT_T(GraphNodeTypeMemAlloc) = 10,
  SIMT_T(GraphNodeTypeMemFree) = 11
} SIMT_T(GraphNodeType);
typedef enum SIMT_T(GraphExecUpdateResult) {
  SIMT_T(GraphExecUpdateSuccess) = 0,
  SIMT_T(GraphExecUpdateError) = 1,
  SIMT_T(GraphExecUpdateErrorTopologyChanged) = 2,
  SIMT_T(GraphExecUpdateErrorNodeTypeChanged) = 3,
  SIMT_T(GraphExecUpdateErrorFunctionChanged) = 4,
  SIMT_T(GraphExecUpdateErrorParametersChanged) = 5,
  SIMT_T(GraphExecUpdateErrorNotSupported) = 6,
  SIMT_T(GraphExecUpdateErrorUnsupportedFunctionChange) = 7
} SIMT_T(GraphExecUpdateResult);
typedef struct SIMT_T(GraphExecUpdateResultInfo) {
  SIMT_T(GraphExecUpdateResult) result;
  SIMT_T(GraphNode_t) errorNode, errorFromNode;
} SIMT_T(GraphExecUpdateResultInfo);
