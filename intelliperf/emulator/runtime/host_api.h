// The core of the host API, one C++ function per entry of include/simt/host_functions*.h: the same core behind
// the hip and the cuda name. Enumerations are int here, as in the C ABI; handles are our own types.
#pragma once
#include <cstddef>

#include "host_state.h"
#include "streams.h"
#include "textures.h"

namespace simt {
struct Pool;
}

namespace simt::host {

struct PitchedPtr {
  void* pointer;
  size_t pitch, xsize, ysize;
};
struct Extent {
  size_t width, height, depth;
};
struct Position {
  size_t x, y, z;
};
struct Copy3D {
  void* from_array;
  Position from_position;
  PitchedPtr from;
  void* to_array;
  Position to_position;
  PitchedPtr to;
  Extent extent;
  int kind;
};
struct PoolProperties;  // nothing in it matters here
struct KernelNodeParams {
  const void* function;
  Dim3 grid, block;
  unsigned int shared_bytes;
  void** arguments;
  void** extra;
};
struct MemsetParams {
  void* to;
  size_t pitch;
  unsigned int value, element_bytes;
  size_t width, height;
};
struct HostNodeParams {
  void (*function)(void*);
  void* data;
};
struct MemAllocNodeParams {
  char pool[88];
  const void* access;
  size_t accesses, bytes;
  void* pointer;
};
struct GraphUpdate {
  int outcome;
  GraphNode *node, *from;
};

using dim3 = Dim3;
using T_Stream_t = Stream*;
using T_Event_t = Event*;
using T_Graph_t = Graph*;
using T_GraphExec_t = Graph*;
using T_GraphNode_t = GraphNode*;
using T_GraphNodeType = int;
using T_KernelNodeParams = KernelNodeParams;
using T_MemsetParams = MemsetParams;
using T_HostNodeParams = HostNodeParams;
using T_MemAllocNodeParams = MemAllocNodeParams;
using T_GraphExecUpdateResultInfo = GraphUpdate;
using T_GraphExecUpdateResult = int;
using T_MemPool_t = Pool*;
using T_MemPoolProps = PoolProperties;
struct AccessDescription;  // everything is accessible here
using T_MemAccessDesc = AccessDescription;
using T_PitchedPtr = PitchedPtr;
using T_Extent = Extent;
using T_Memcpy3DParms = Copy3D;
using T_StreamCallback_t = void (*)(Stream*, int, void*);
using T_HostFn_t = void (*)(void*);
using T_MemPoolAttr = int;
using T_Array_t = Array*;
using T_Array_const_t = const Array*;
using T_ChannelFormatDesc = ChannelFormat;
using T_ResourceDesc = ResourceDescription;
using T_TextureDesc = TextureDescription;
using T_ResourceViewDesc = ResourceView;
using T_TextureObject_t = uint64_t;
using T_SurfaceObject_t = uint64_t;
using T_MemcpyKind = int;
using T_MemoryAdvise = int;
using T_DeviceAttribute_t = int;
using T_DeviceP2PAttr = int;
using T_Limit_t = int;
using T_FuncCache_t = int;
using T_SharedMemConfig = int;
using T_StreamCaptureMode = int;
using T_StreamCaptureStatus = int;
using T_FuncAttribute = int;
// HIP's own functions spell their types out.
using hipStream_t = Stream*;
using hipEvent_t = Event*;
using hipGraph_t = Graph*;
using hipGraphExec_t = Graph*;
using hipGraphNode_t = GraphNode*;
using hipFunction_t = Kernel*;
using hipModule_t = Module*;
using hipJitOption = int;
using hipDevice_t = int;
using hipCtx_t = void*;
using hipDeviceptr_t = void*;
using hipMemcpyKind = int;
// and CUDA's.
using cudaStream_t = Stream*;
using cudaEvent_t = Event*;
using cudaFunction_t = Kernel*;

#define SIMT_T(name) T_##name
#define SIMT_OR(value)
#define SIMT_COOPERATIVE_SIZE size_t
#define SIMT_CALL(name, parameters, arguments) int name parameters;
#define SIMT_QUERY(name, parameters, arguments) int name parameters;
#include "simt/host_functions.h"
#include "simt/host_functions_cuda.h"
#include "simt/host_functions_hip.h"
#undef SIMT_CALL
#undef SIMT_QUERY
#undef SIMT_T
#undef SIMT_OR
#undef SIMT_COOPERATIVE_SIZE

// What the core needs of itself across files.
int not_mipmapped();                                      // says so; returns NotSupported
Copy3D without_arrays(const Copy3D& asked, bool& valid);  // the same copy between plain ranges
enum class Side : int { kHost, kDevice };
Side side_of(const void* pointer);
void keep_for_graphs(
    const void*
        pointer);  // freeing it leaves it there: a graph that allocates it may run again  // device: device, managed and symbol memory
// Moves bytes and puts the transfer on the timeline; the range checks are made.
void transfer(void* to, const void* from, size_t bytes, Stream& stream, bool blocking);
int launch_kernel(Kernel* kernel, Dim3 grid, Dim3 block, void** arguments, size_t shared_bytes, Stream* stream,
                  bool cooperative);

}  // namespace simt::host
