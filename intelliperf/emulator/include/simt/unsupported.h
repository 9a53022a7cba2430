// What the emulator does not have fails by name when the program is built.
#pragma once
#pragma GCC system_header  // no warnings from here in a program's build

#define SIMT_UNSUPPORTED(what) static_assert(__simt::never<_T>, "intelliperf: " what " are not supported by the emulator")
namespace __simt {
template <class...>
inline constexpr bool never = false;
}
// Declaring one is fine (sources keep them for old toolkits), using one is not.
template <class _T, int dimensions = 1, int mode = 0>
struct texture {};
template <class _T, int dimensions = 1>
struct surface {};
#define SIMT_NO_REFERENCE(name)                             \
  template <class _T, int _D, int _M, class... _A>           \
  SIMT_DT _T name(const texture<_T, _D, _M>&, _A...) {       \
    SIMT_UNSUPPORTED("texture references");                 \
    return _T();                                            \
  }
SIMT_NO_REFERENCE(tex1Dfetch)
SIMT_NO_REFERENCE(tex1D)
SIMT_NO_REFERENCE(tex2D)
SIMT_NO_REFERENCE(tex3D)
#undef SIMT_NO_REFERENCE
#undef SIMT_UNSUPPORTED

// Matrix instructions of AMD's compiler. On the real targets they are builtins and pass.
#if defined(__HIP__) && !defined(__AMDGCN__)
namespace __simt {
template <class... _A>
__attribute__((host, device)) int matrix_core(_A...) = delete("intelliperf: matrix cores (MFMA, WMMA) are not supported by the emulator");
}
#define __builtin_amdgcn_mfma_f32_32x32x1f32 __simt::matrix_core
#define __builtin_amdgcn_mfma_f32_16x16x1f32 __simt::matrix_core
#define __builtin_amdgcn_mfma_f32_4x4x1f32 __simt::matrix_core
#define __builtin_amdgcn_mfma_f32_32x32x2f32 __simt::matrix_core
#define __builtin_amdgcn_mfma_f32_16x16x4f32 __simt::matrix_core
#define __builtin_amdgcn_mfma_f32_32x32x4f16 __simt::matrix_core
#define __builtin_amdgcn_mfma_f32_16x16x4f16 __simt::matrix_core
#define __builtin_amdgcn_mfma_f32_4x4x4f16 __simt::matrix_core
#define __builtin_amdgcn_mfma_f32_32x32x8f16 __simt::matrix_core
#define __builtin_amdgcn_mfma_f32_16x16x16f16 __simt::matrix_core
#define __builtin_amdgcn_mfma_f32_32x32x8bf16_1k __simt::matrix_core
#define __builtin_amdgcn_mfma_f32_16x16x16bf16_1k __simt::matrix_core
#define __builtin_amdgcn_mfma_i32_32x32x8i8 __simt::matrix_core
#define __builtin_amdgcn_mfma_i32_16x16x16i8 __simt::matrix_core
#define __builtin_amdgcn_mfma_i32_32x32x16_i8 __simt::matrix_core
#define __builtin_amdgcn_mfma_i32_16x16x32_i8 __simt::matrix_core
#define __builtin_amdgcn_mfma_f64_16x16x4f64 __simt::matrix_core
#define __builtin_amdgcn_mfma_f64_4x4x4f64 __simt::matrix_core
#define __builtin_amdgcn_mfma_f32_32x32x16_fp8_fp8 __simt::matrix_core
#define __builtin_amdgcn_mfma_f32_16x16x32_fp8_fp8 __simt::matrix_core
#define __builtin_amdgcn_wmma_f32_16x16x16_f16_w32 __simt::matrix_core
#define __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32 __simt::matrix_core
#define __builtin_amdgcn_wmma_f16_16x16x16_f16_w32 __simt::matrix_core
#endif
