// Declarations for C and C++. By itself, for headers of libraries that are also used beside a real runtime's headers.
#ifndef SIMT_LINKAGE_H
#define SIMT_LINKAGE_H
#if defined(__cplusplus)
#define SIMT_OR(value) = value
#define SIMT_C_BEGIN extern "C" {
#define SIMT_C_END }
#else
#define SIMT_OR(value)
#define SIMT_C_BEGIN
#define SIMT_C_END
#endif
#endif
