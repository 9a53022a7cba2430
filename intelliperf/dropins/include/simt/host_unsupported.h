// Functions that programs mention but the emulator lacks: each fails with NotSupported and says so, once.
// SIMT_UNSUPPORTED(name, parameters), in the manner of host_functions.h. No include guard.
// clang-format off
SIMT_UNSUPPORTED(IpcGetMemHandle, (SIMT_T(IpcMemHandle_t)* handle, void* pointer))
SIMT_UNSUPPORTED(IpcOpenMemHandle, (void** pointer, SIMT_T(IpcMemHandle_t) handle, unsigned int flags))
SIMT_UNSUPPORTED(IpcCloseMemHandle, (void* pointer))
SIMT_UNSUPPORTED(IpcGetEventHandle, (SIMT_T(IpcEventHandle_t)* handle, SIMT_T(Event_t) event))
SIMT_UNSUPPORTED(IpcOpenEventHandle, (SIMT_T(Event_t)* event, SIMT_T(IpcEventHandle_t) handle))
SIMT_UNSUPPORTED(ThreadExchangeStreamCaptureMode, (SIMT_T(StreamCaptureMode)* mode))
SIMT_UNSUPPORTED(MallocMipmappedArray, (SIMT_T(MipmappedArray_t)* array, const SIMT_T(ChannelFormatDesc)* format, SIMT_T(Extent) extent, unsigned int levels, unsigned int flags SIMT_OR(0)))
SIMT_UNSUPPORTED(FreeMipmappedArray, (SIMT_T(MipmappedArray_t) array))
SIMT_UNSUPPORTED(GetMipmappedArrayLevel, (SIMT_T(Array_t)* array, SIMT_T(MipmappedArray_const_t) mipmapped, unsigned int level))
