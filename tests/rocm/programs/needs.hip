// Kernels that need little, much and too much, without any header: built for every generation.
#define GLOBAL extern "C" __attribute__((global))
#define SHARED __attribute__((shared))
#define BOUNDS(n) __attribute__((amdgpu_flat_work_group_size(1, n)))

__attribute__((device)) static inline unsigned char pick(const unsigned char* from, int i) {
  return from[i];
}

GLOBAL BOUNDS(256) void light(double* to, const unsigned char* from, int* sum) {
  const int t = __builtin_amdgcn_workitem_id_x();
  const int old = __atomic_fetch_add(sum + t, t, __ATOMIC_RELAXED);
  to[t] = pick(from, t) + old;
}

GLOBAL BOUNDS(256) void tiled(float* to, const float* from) {
  SHARED float tile[1000];
  const int t = __builtin_amdgcn_workitem_id_x();
  tile[t] = from[t];
  __builtin_amdgcn_s_barrier();
  to[t] = tile[(t * 7) % 1000];
}

template <int kValues>
__attribute__((device)) static inline void many(float* to, const float* from) {
  const int t = __builtin_amdgcn_workitem_id_x();
  float values[kValues];
#pragma unroll
  for (int i = 0; i < kValues; ++i) values[i] = from[t + 512 * i];
  asm volatile("" ::: "memory");
#pragma unroll
  for (int i = 0; i < kValues; ++i) to[t + 512 * i] = values[i] * values[(i * 7 + 3) % kValues];
}

GLOBAL BOUNDS(256) void heavy(float* to, const float* from) { many<66>(to, from); }
GLOBAL BOUNDS(256) void heavier(float* to, const float* from) { many<110>(to, from); }
GLOBAL BOUNDS(1024) void spilling(float* to, const float* from) { many<200>(to, from); }
