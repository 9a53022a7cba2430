// What the compiler calls for kernel<<<…>>>(…); the runtime library defines it.
#pragma once
#pragma GCC system_header  // no warnings from here in a program's build

#if defined(__HIP__)
struct ihipStream_t;
extern "C" unsigned int __hipPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes = 0,
                                                   ihipStream_t* stream = nullptr);
#else
struct CUstream_st;
extern "C" unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes = 0,
                                                    CUstream_st* stream = nullptr);
#endif
