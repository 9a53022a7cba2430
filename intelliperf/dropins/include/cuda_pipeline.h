// Asynchronous copies within a block, done at once: a later wait finds them complete.
#pragma once
#include "cuda_runtime.h"
SIMT_D void __pipeline_memcpy_async(void* to, const void* from, size_t bytes, size_t zeros = 0) {
  memcpy(to, from, bytes - zeros);
  if (zeros != 0) memset(static_cast<char*>(to) + (bytes - zeros), 0, zeros);
}
SIMT_D void __pipeline_commit() {}
SIMT_D void __pipeline_wait_prior(size_t) {}
