// HIP's own, in the form of host_unsupported.h.
// clang-format off
SIMT_UNSUPPORTED(ModuleLoad, (hipModule_t* module, const char* file))
SIMT_UNSUPPORTED(ModuleLoadData, (hipModule_t* module, const void* image))
SIMT_UNSUPPORTED(ModuleUnload, (hipModule_t module))
SIMT_UNSUPPORTED(ModuleGetFunction, (hipFunction_t* function, hipModule_t module, const char* name))
SIMT_UNSUPPORTED(ModuleGetGlobal, (hipDeviceptr_t* pointer, size_t* bytes, hipModule_t module, const char* name))
