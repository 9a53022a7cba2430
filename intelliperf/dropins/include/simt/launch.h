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
// What clang looks up for a launch in code that may run on either side, as a lambda of a host function is in relocatable
// device code. Nobody defines them: device code that is left with such a call is refused by its name.
extern "C" __device__ void* cudaGetParameterBuffer(size_t alignment, size_t bytes);
extern "C" __device__ int cudaLaunchDevice(void* kernel, void* parameters, dim3 grid, dim3 block, unsigned int shared_bytes,
                                           CUstream_st* stream);
#endif
