// The C++ conveniences that both runtimes offer over the C functions. The includer defines SIMT_PREFIX.
#define SIMT_ERROR_T static inline SIMT_T(Error_t)

template <class _T>
SIMT_ERROR_T SIMT_T(Malloc)(_T** pointer, size_t bytes) {
  return SIMT_T(Malloc)((void**)pointer, bytes);
}
template <class _T>
SIMT_ERROR_T SIMT_T(MallocManaged)(_T** pointer, size_t bytes, unsigned int flags = 1) {
  return SIMT_T(MallocManaged)((void**)pointer, bytes, flags);
}
template <class _T>
SIMT_ERROR_T SIMT_T(MallocHost)(_T** pointer, size_t bytes, unsigned int flags = 0) {
  return SIMT_T(HostAlloc)((void**)pointer, bytes, flags);
}
template <class _T>
SIMT_ERROR_T SIMT_T(HostAlloc)(_T** pointer, size_t bytes, unsigned int flags) {
  return SIMT_T(HostAlloc)((void**)pointer, bytes, flags);
}
template <class _T>
SIMT_ERROR_T SIMT_T(HostGetDevicePointer)(_T** device, void* host, unsigned int flags) {
  return SIMT_T(HostGetDevicePointer)((void**)device, host, flags);
}
template <class _T>
SIMT_ERROR_T SIMT_T(MallocPitch)(_T** pointer, size_t* pitch, size_t width, size_t height) {
  return SIMT_T(MallocPitch)((void**)pointer, pitch, width, height);
}
template <class _T>
SIMT_ERROR_T SIMT_T(MallocAsync)(_T** pointer, size_t bytes, SIMT_T(Stream_t) stream) {
  return SIMT_T(MallocAsync)((void**)pointer, bytes, stream);
}
template <class _T>
SIMT_ERROR_T SIMT_T(MallocAsync)(_T** pointer, size_t bytes, SIMT_T(MemPool_t) pool, SIMT_T(Stream_t) stream) {
  return SIMT_T(MallocFromPoolAsync)((void**)pointer, bytes, pool, stream);
}
template <class _T>
SIMT_ERROR_T SIMT_T(MallocFromPoolAsync)(_T** pointer, size_t bytes, SIMT_T(MemPool_t) pool, SIMT_T(Stream_t) stream) {
  return SIMT_T(MallocFromPoolAsync)((void**)pointer, bytes, pool, stream);
}
template <class _T>
SIMT_ERROR_T SIMT_T(StreamAttachMemAsync)(SIMT_T(Stream_t) stream, _T* pointer, size_t bytes = 0, unsigned int flags = 4) {
  return SIMT_T(StreamAttachMemAsync)(stream, (void*)pointer, bytes, flags);
}

// A __device__, __constant__ or __managed__ variable itself.
template <class _T>
SIMT_ERROR_T SIMT_T(GetSymbolAddress)(void** pointer, const _T& symbol) {
  return SIMT_T(GetSymbolAddress)(pointer, (const void*)&symbol);
}
template <class _T>
SIMT_ERROR_T SIMT_T(GetSymbolSize)(size_t* bytes, const _T& symbol) {
  return SIMT_T(GetSymbolSize)(bytes, (const void*)&symbol);
}
template <class _T>
SIMT_ERROR_T SIMT_T(MemcpyToSymbol)(const _T& symbol, const void* from, size_t bytes, size_t offset = 0,
                                    SIMT_T(MemcpyKind) kind = SIMT_T(MemcpyHostToDevice)) {
  return SIMT_T(MemcpyToSymbol)((const void*)&symbol, from, bytes, offset, kind);
}
template <class _T>
SIMT_ERROR_T SIMT_T(MemcpyToSymbolAsync)(const _T& symbol, const void* from, size_t bytes, size_t offset = 0,
                                         SIMT_T(MemcpyKind) kind = SIMT_T(MemcpyHostToDevice),
                                         SIMT_T(Stream_t) stream = 0) {
  return SIMT_T(MemcpyToSymbolAsync)((const void*)&symbol, from, bytes, offset, kind, stream);
}
template <class _T>
SIMT_ERROR_T SIMT_T(MemcpyFromSymbol)(void* to, const _T& symbol, size_t bytes, size_t offset = 0,
                                      SIMT_T(MemcpyKind) kind = SIMT_T(MemcpyDeviceToHost)) {
  return SIMT_T(MemcpyFromSymbol)(to, (const void*)&symbol, bytes, offset, kind);
}
template <class _T>
SIMT_ERROR_T SIMT_T(MemcpyFromSymbolAsync)(void* to, const _T& symbol, size_t bytes, size_t offset = 0,
                                           SIMT_T(MemcpyKind) kind = SIMT_T(MemcpyDeviceToHost),
                                           SIMT_T(Stream_t) stream = 0) {
  return SIMT_T(MemcpyFromSymbolAsync)(to, (const void*)&symbol, bytes, offset, kind, stream);
}

// A kernel itself.
template <class _T>
SIMT_ERROR_T SIMT_T(LaunchKernel)(_T* function, dim3 grid, dim3 block, void** arguments, size_t shared_bytes = 0,
                                  SIMT_T(Stream_t) stream = 0) {
  return SIMT_T(LaunchKernel)((const void*)function, grid, block, arguments, shared_bytes, stream);
}
template <class _T>
SIMT_ERROR_T SIMT_T(LaunchCooperativeKernel)(_T* function, dim3 grid, dim3 block, void** arguments,
                                             SIMT_COOPERATIVE_SIZE shared_bytes = 0, SIMT_T(Stream_t) stream = 0) {
  return SIMT_T(LaunchCooperativeKernel)((const void*)function, grid, block, arguments, shared_bytes, stream);
}
template <class _T>
SIMT_ERROR_T SIMT_T(FuncSetAttribute)(_T* function, SIMT_T(FuncAttribute) attribute, int value) {
  return SIMT_T(FuncSetAttribute)((const void*)function, attribute, value);
}
template <class _T>
SIMT_ERROR_T SIMT_T(FuncGetAttributes)(SIMT_T(FuncAttributes)* attributes, _T* function) {
  return SIMT_T(FuncGetAttributes)(attributes, (const void*)function);
}
template <class _T>
SIMT_ERROR_T SIMT_T(FuncSetCacheConfig)(_T* function, SIMT_T(FuncCache_t) config) {
  return SIMT_T(FuncSetCacheConfig)((const void*)function, config);
}
template <class _T>
SIMT_ERROR_T SIMT_T(FuncSetSharedMemConfig)(_T* function, SIMT_T(SharedMemConfig) config) {
  return SIMT_T(FuncSetSharedMemConfig)((const void*)function, config);
}
template <class _T>
SIMT_ERROR_T SIMT_T(OccupancyMaxActiveBlocksPerMultiprocessor)(int* blocks, _T* function, int threads,
                                                               size_t dynamic_bytes) {
  return SIMT_T(OccupancyMaxActiveBlocksPerMultiprocessor)(blocks, (const void*)function, threads, dynamic_bytes);
}
template <class _T>
SIMT_ERROR_T SIMT_T(OccupancyMaxActiveBlocksPerMultiprocessorWithFlags)(int* blocks, _T* function, int threads,
                                                                        size_t dynamic_bytes, unsigned int flags) {
  return SIMT_T(OccupancyMaxActiveBlocksPerMultiprocessorWithFlags)(blocks, (const void*)function, threads,
                                                                    dynamic_bytes, flags);
}
template <class _T>
SIMT_ERROR_T SIMT_T(OccupancyAvailableDynamicSMemPerBlock)(size_t* dynamic_bytes, _T* function, int blocks, int threads) {
  return SIMT_T(OccupancyAvailableDynamicSMemPerBlock)(dynamic_bytes, (const void*)function, blocks, threads);
}

// The block size with most resident threads, and the grid that fills the device with it. `limit` 0: none.
template <class Size, class _T>
SIMT_ERROR_T SIMT_T(OccupancyMaxPotentialBlockSizeVariableSMemWithFlags)(int* grid, int* block, _T function, Size bytes_of,
                                                                         int limit = 0, unsigned int flags = 0) {
  int device = 0, units = 0, most = 0, wave = 0, per_unit = 0, best = 0;
  if (!grid || !block) return SIMT_T(ErrorInvalidValue);
  SIMT_T(Error_t) error = SIMT_T(GetDevice)(&device);
  if (error == 0) error = SIMT_T(DeviceGetAttribute)(&units, SIMT_MULTIPROCESSOR_COUNT, device);
  if (error == 0) error = SIMT_T(DeviceGetAttribute)(&most, SIMT_MAX_THREADS_PER_BLOCK, device);
  if (error == 0) error = SIMT_T(DeviceGetAttribute)(&wave, SIMT_WARP_SIZE, device);
  if (error != 0) return error;
  SIMT_T(FuncAttributes) attributes;
  error = SIMT_T(FuncGetAttributes)(&attributes, (const void*)function);
  if (error != 0) return error;
  if (attributes.maxThreadsPerBlock > 0 && attributes.maxThreadsPerBlock < most) most = attributes.maxThreadsPerBlock;
  if (limit > 0 && limit < most) most = limit;
  for (int tried = (most + wave - 1) / wave * wave; tried > 0; tried -= wave) {
    const int threads = tried < most ? tried : most;
    int blocks = 0;
    error = SIMT_T(OccupancyMaxActiveBlocksPerMultiprocessorWithFlags)(&blocks, (const void*)function, threads,
                                                                       bytes_of(threads), flags);
    if (error != 0) return error;
    if (blocks * threads > best) best = blocks * threads, *block = threads, per_unit = blocks;
  }
  *grid = per_unit * units;
  return SIMT_T(Success);
}
template <class Size, class _T>
SIMT_ERROR_T SIMT_T(OccupancyMaxPotentialBlockSizeVariableSMem)(int* grid, int* block, _T function, Size bytes_of,
                                                                int limit = 0) {
  return SIMT_T(OccupancyMaxPotentialBlockSizeVariableSMemWithFlags)(grid, block, function, bytes_of, limit, 0u);
}
template <class _T>
SIMT_ERROR_T SIMT_T(OccupancyMaxPotentialBlockSizeWithFlags)(int* grid, int* block, _T function, size_t dynamic_bytes = 0,
                                                             int limit = 0, unsigned int flags = 0) {
  const auto constant = [dynamic_bytes](int) { return dynamic_bytes; };
  return SIMT_T(OccupancyMaxPotentialBlockSizeVariableSMemWithFlags)(grid, block, function, constant, limit, flags);
}
template <class _T>
SIMT_ERROR_T SIMT_T(OccupancyMaxPotentialBlockSize)(int* grid, int* block, _T function, size_t dynamic_bytes = 0,
                                                    int limit = 0) {
  return SIMT_T(OccupancyMaxPotentialBlockSizeWithFlags)(grid, block, function, dynamic_bytes, limit, 0u);
}

#undef SIMT_ERROR_T
