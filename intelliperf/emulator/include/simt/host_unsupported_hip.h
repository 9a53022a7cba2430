// HIP's own, in the form of host_unsupported.h.
// clang-format off
SIMT_UNSUPPORTED(ModuleLoad, (hipModule_t* module, const char* file))
SIMT_UNSUPPORTED(ModuleLoadData, (hipModule_t* module, const void* image))
SIMT_UNSUPPORTED(ModuleUnload, (hipModule_t module))
SIMT_UNSUPPORTED(ModuleGetFunction, (hipFunction_t* function, hipModule_t module, const char* name))
SIMT_UNSUPPORTED(ModuleGetGlobal, (hipDeviceptr_t* pointer, size_t* bytes, hipModule_t module, const char* name))
SIMT_UNSUPPORTED(MemRangeGetAttribute, (void* value, size_t value_bytes, hipMemRangeAttribute attribute, const void* pointer, size_t bytes))
SIMT_UNSUPPORTED(MemRangeGetAttributes, (void** values, size_t* value_bytes, hipMemRangeAttribute* attributes, size_t count, const void* pointer, size_t bytes))
