// What clang's own wrapper brings into every HIP source, and builtins called from the global namespace.
#include <hip/hip_runtime.h>
__global__ void k(int* out) {
  if (threadIdx.x % 2) asm volatile("s_endpgm");
  if (threadIdx.x == 4) ::__builtin_amdgcn_endpgm();
  out[threadIdx.x] = ::__builtin_amdgcn_readfirstlane(7) + ::__builtin_amdgcn_mbcnt_lo(~0u, 0);
}
struct Nothing {};
template <class T, int n>
struct Row {
  T items[n];
};
__global__ void empty_arrays(Row<Nothing, 1> a, int* out, Row<Nothing, 20> b, int value) { *out = value; }
int main() {
  const std::string text = "x";
  std::complex<float> number(1, 2);
  try {
    throw std::runtime_error(text);
  } catch (const std::exception&) {
  }
  int* out;
  (void)hipMallocManaged(&out, 256);
  for (int i = 0; i < 64; ++i) out[i] = -1;
  k<<<1, 64>>>(out);
  int wrong = hipDeviceSynchronize() != hipSuccess || HIP_SUCCESS != 0 || number.imag() != std::max(1.0f, 2.0f);
  for (int i = 0; i < 64; ++i) {
    const int below = i < 32 ? i : 32;
    wrong += out[i] != (i % 2 || i == 4 ? -1 : 7 + below);
  }
  empty_arrays<<<1, 1>>>({}, out, {}, 11);
  wrong += hipDeviceSynchronize() != hipSuccess || *out != 11;
  if (wrong == 0) puts("all good");
  return wrong;
}
