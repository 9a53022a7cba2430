// HIP's own, in the form of host_unsupported.h.
// clang-format off
SIMT_UNSUPPORTED(MemRangeGetAttribute, (void* value, size_t value_bytes, hipMemRangeAttribute attribute, const void* pointer, size_t bytes))
SIMT_UNSUPPORTED(MemRangeGetAttributes, (void** values, size_t* value_bytes, hipMemRangeAttribute* attributes, size_t count, const void* pointer, size_t bytes))
