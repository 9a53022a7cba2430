// The functions that only CUDA has, in the form of host_functions.h.
// clang-format off
SIMT_CALL(ThreadSynchronize, (void), ())
SIMT_QUERY(ThreadExit, (void), ())
SIMT_CALL(EventRecordWithFlags, (cudaEvent_t event, cudaStream_t stream SIMT_OR(0), unsigned int flags SIMT_OR(0)), (event, stream, flags))
SIMT_CALL(GetFuncBySymbol, (cudaFunction_t* function, const void* symbol), (function, symbol))
SIMT_QUERY(InitDevice, (int device, unsigned int device_flags, unsigned int flags), (device, device_flags, flags))
SIMT_CALL(GraphExecUpdate, (SIMT_T(GraphExec_t) executable, SIMT_T(Graph_t) graph, SIMT_T(GraphExecUpdateResultInfo)* update), (executable, graph, update))
SIMT_CALL(FuncGetName, (const char** name, const void* function), (name, function))
