// Functions that programs mention but the emulator lacks: each fails with NotSupported and says so, once.
// SIMT_UNSUPPORTED(name, parameters), in the manner of host_functions.h. No include guard.
// clang-format off
SIMT_UNSUPPORTED(IpcGetMemHandle, (SIMT_T(IpcMemHandle_t)* handle, void* pointer))
SIMT_UNSUPPORTED(IpcOpenMemHandle, (void** pointer, SIMT_T(IpcMemHandle_t) handle, unsigned int flags))
SIMT_UNSUPPORTED(IpcCloseMemHandle, (void* pointer))
SIMT_UNSUPPORTED(IpcGetEventHandle, (SIMT_T(IpcEventHandle_t)* handle, SIMT_T(Event_t) event))
SIMT_UNSUPPORTED(IpcOpenEventHandle, (SIMT_T(Event_t)* event, SIMT_T(IpcEventHandle_t) handle))
SIMT_UNSUPPORTED(GraphCreate, (SIMT_T(Graph_t)* graph, unsigned int flags))
SIMT_UNSUPPORTED(GraphGetNodes, (SIMT_T(Graph_t) graph, SIMT_T(GraphNode_t)* nodes, size_t* count))
SIMT_UNSUPPORTED(ThreadExchangeStreamCaptureMode, (SIMT_T(StreamCaptureMode)* mode))
SIMT_UNSUPPORTED(MallocArray, (SIMT_T(Array_t)* array, const SIMT_T(ChannelFormatDesc)* format, size_t width, size_t height SIMT_OR(0), unsigned int flags SIMT_OR(0)))
SIMT_UNSUPPORTED(FreeArray, (SIMT_T(Array_t) array))
SIMT_UNSUPPORTED(Memcpy2DToArray, (SIMT_T(Array_t) to, size_t x, size_t y, const void* from, size_t pitch, size_t width, size_t height, SIMT_T(MemcpyKind) kind))
SIMT_UNSUPPORTED(Memcpy2DFromArray, (void* to, size_t pitch, SIMT_T(Array_t) from, size_t x, size_t y, size_t width, size_t height, SIMT_T(MemcpyKind) kind))
