// dim3 and the vector types for the host API: from the device language where it is being compiled, else plain.
#ifndef SIMT_HOST_TYPES_H
#define SIMT_HOST_TYPES_H

#include <simt/linkage.h>
#include <stddef.h>
#include <stdint.h>

#if !defined(SIMT_HDT)  // not compiled through hipcc or nvcc
#ifndef __host__
#define __host__
#endif
#ifndef __device__
#define __device__
#endif
#if defined(__cplusplus)
#define SIMT_HDT inline
#include <simt/vector_types.h>
#else
#include <simt/vector_types_c.h>
#endif
#endif

// Names of the includer's vendor: SIMT_PREFIX is hip or cuda.
#define SIMT_JOIN2(a, b) a##b
#define SIMT_JOIN(a, b) SIMT_JOIN2(a, b)
#define SIMT_T(name) SIMT_JOIN(SIMT_PREFIX, name)

#endif
