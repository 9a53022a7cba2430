// AMD's matrix instructions on the emulator, whose runtime multiplies (runtime/matrix_product.h). On the real targets they
// are the compiler's own. What is missing here fails by name: 8-bit floating point, xf32, sparse and scaled products.
#pragma once
#pragma GCC system_header  // no warnings from here in a program's build
#if defined(__HIP__) && !defined(__AMDGCN__)

namespace __simt {
enum matrix_format : unsigned int { kMatrixF32 = 0, kMatrixF64, kMatrixF16, kMatrixBf16, kMatrixI8 };
enum matrix_result : unsigned int { kSumF32 = 0, kSumF64, kSumI32, kSumF16 };
struct matrix_operands {
  unsigned int size, depth, blocks, format, result, replicated, shared_blocks, shared_block;
  unsigned long long a[4], b[4];
  const void* addend;
  void* sum;
};
constexpr unsigned int matrix_bytes(unsigned int format) {
  return format == kMatrixF64 ? 8 : format == kMatrixF32 ? 4 : format == kMatrixI8 ? 1 : 2;
}
template <unsigned int format>
struct matrix_scalar {
  using type = float;
};
template <>
struct matrix_scalar<kMatrixF64> {
  using type = double;
};

template <unsigned int bytes, unsigned int format, class _T>
SIMT_DT void take_matrix_operand(unsigned long long (&words)[4], const _T& value) {
  if constexpr (__is_arithmetic(_T) && (format == kMatrixF32 || format == kMatrixF64)) {
    const auto scalar = static_cast<typename matrix_scalar<format>::type>(value);
    __builtin_memcpy(words, &scalar, sizeof scalar);
  } else {
    static_assert(sizeof(_T) == bytes, "intelliperf: this is not the operand of the matrix instruction");
    __builtin_memcpy(words, &value, bytes);
  }
}
template <class _A, class _B, class _C>
SIMT_DT _C multiply(matrix_operands& own, const _C& addend) {
  _C sum;
  own.addend = &addend;
  own.sum = &sum;
  collective(kMatrix, 0, reinterpret_cast<unsigned long long>(&own), 0, SIMT_WAVE_SIZE);
  return sum;
}

template <unsigned int size, unsigned int depth, unsigned int blocks, unsigned int format, unsigned int result,
          class _A, class _B, class _C>
SIMT_DT _C mfma(_A a, _B b, _C addend, int shared_blocks, int shared_block, int permutation) {
  static_assert(SIMT_WAVE_SIZE == 64, "intelliperf: this chip has no MFMA instructions");
  constexpr unsigned int bytes = size * depth * blocks / 64 * matrix_bytes(format);
  static_assert(sizeof(_C) == size * size * blocks / 64 * (format == kMatrixF64 ? 8 : 4),
                "intelliperf: this is not the addend of the matrix instruction");
  if (permutation != 0) {
    print("intelliperf: the permutation of lanes (blgp) of a matrix instruction is not supported by the emulator\n");
    trap();
  }
  matrix_operands own = {size,   depth, blocks, format, result, 0, static_cast<unsigned int>(shared_blocks),
                         static_cast<unsigned int>(shared_block), {}, {}, nullptr, nullptr};
  take_matrix_operand<bytes, format>(own.a, a);
  take_matrix_operand<bytes, format>(own.b, b);
  return multiply<_A, _B>(own, addend);
}
template <unsigned int format, unsigned int result, class _A, class _B, class _C>
SIMT_DT _C wmma(_A a, _B b, _C addend, bool upper = false) {
  static_assert(SIMT_WAVE_SIZE == 32, "intelliperf: this chip has no WMMA instructions");
  static_assert(sizeof(_C) == 32, "intelliperf: this is not the addend of the matrix instruction");
  matrix_operands own = {16, 16, 1, format, result, upper ? 2u : 1u, 0, 0, {}, {}, nullptr, nullptr};
  take_matrix_operand<16 * matrix_bytes(format), format>(own.a, a);
  take_matrix_operand<16 * matrix_bytes(format), format>(own.b, b);
  return multiply<_A, _B>(own, addend);
}

template <class... _A>
__attribute__((host, device)) int matrix_core(_A...) =
    delete("intelliperf: this matrix instruction (MFMA, WMMA) is not supported by the emulator");
}  // namespace __simt

#define SIMT_MFMA(size, depth, blocks, format, result) \
  __simt::mfma<size, depth, blocks, __simt::kMatrix##format, __simt::kSum##result>
#define __builtin_amdgcn_mfma_f32_32x32x1f32 SIMT_MFMA(32, 1, 2, F32, F32)
#define __builtin_amdgcn_mfma_f32_16x16x1f32 SIMT_MFMA(16, 1, 4, F32, F32)
#define __builtin_amdgcn_mfma_f32_4x4x1f32 SIMT_MFMA(4, 1, 16, F32, F32)
#define __builtin_amdgcn_mfma_f32_32x32x2f32 SIMT_MFMA(32, 2, 1, F32, F32)
#define __builtin_amdgcn_mfma_f32_16x16x4f32 SIMT_MFMA(16, 4, 1, F32, F32)
#define __builtin_amdgcn_mfma_f32_32x32x4f16 SIMT_MFMA(32, 4, 2, F16, F32)
#define __builtin_amdgcn_mfma_f32_16x16x4f16 SIMT_MFMA(16, 4, 4, F16, F32)
#define __builtin_amdgcn_mfma_f32_4x4x4f16 SIMT_MFMA(4, 4, 16, F16, F32)
#define __builtin_amdgcn_mfma_f32_32x32x8f16 SIMT_MFMA(32, 8, 1, F16, F32)
#define __builtin_amdgcn_mfma_f32_16x16x16f16 SIMT_MFMA(16, 16, 1, F16, F32)
#define __builtin_amdgcn_mfma_f32_32x32x16_f16 SIMT_MFMA(32, 16, 1, F16, F32)
#define __builtin_amdgcn_mfma_f32_16x16x32_f16 SIMT_MFMA(16, 32, 1, F16, F32)
#define __builtin_amdgcn_mfma_f32_32x32x2bf16 SIMT_MFMA(32, 2, 2, Bf16, F32)
#define __builtin_amdgcn_mfma_f32_16x16x2bf16 SIMT_MFMA(16, 2, 4, Bf16, F32)
#define __builtin_amdgcn_mfma_f32_4x4x2bf16 SIMT_MFMA(4, 2, 16, Bf16, F32)
#define __builtin_amdgcn_mfma_f32_32x32x4bf16 SIMT_MFMA(32, 4, 1, Bf16, F32)
#define __builtin_amdgcn_mfma_f32_16x16x8bf16 SIMT_MFMA(16, 8, 1, Bf16, F32)
#define __builtin_amdgcn_mfma_f32_32x32x4bf16_1k SIMT_MFMA(32, 4, 2, Bf16, F32)
#define __builtin_amdgcn_mfma_f32_16x16x4bf16_1k SIMT_MFMA(16, 4, 4, Bf16, F32)
#define __builtin_amdgcn_mfma_f32_4x4x4bf16_1k SIMT_MFMA(4, 4, 16, Bf16, F32)
#define __builtin_amdgcn_mfma_f32_32x32x8bf16_1k SIMT_MFMA(32, 8, 1, Bf16, F32)
#define __builtin_amdgcn_mfma_f32_16x16x16bf16_1k SIMT_MFMA(16, 16, 1, Bf16, F32)
#define __builtin_amdgcn_mfma_f32_32x32x16_bf16 SIMT_MFMA(32, 16, 1, Bf16, F32)
#define __builtin_amdgcn_mfma_f32_16x16x32_bf16 SIMT_MFMA(16, 32, 1, Bf16, F32)
#define __builtin_amdgcn_mfma_i32_32x32x4i8 SIMT_MFMA(32, 4, 2, I8, I32)
#define __builtin_amdgcn_mfma_i32_16x16x4i8 SIMT_MFMA(16, 4, 4, I8, I32)
#define __builtin_amdgcn_mfma_i32_4x4x4i8 SIMT_MFMA(4, 4, 16, I8, I32)
#define __builtin_amdgcn_mfma_i32_32x32x8i8 SIMT_MFMA(32, 8, 1, I8, I32)
#define __builtin_amdgcn_mfma_i32_16x16x16i8 SIMT_MFMA(16, 16, 1, I8, I32)
#define __builtin_amdgcn_mfma_i32_32x32x16_i8 SIMT_MFMA(32, 16, 1, I8, I32)
#define __builtin_amdgcn_mfma_i32_16x16x32_i8 SIMT_MFMA(16, 32, 1, I8, I32)
#define __builtin_amdgcn_mfma_i32_32x32x32_i8 SIMT_MFMA(32, 32, 1, I8, I32)
#define __builtin_amdgcn_mfma_i32_16x16x64_i8 SIMT_MFMA(16, 64, 1, I8, I32)
#define __builtin_amdgcn_mfma_f64_16x16x4f64 SIMT_MFMA(16, 4, 1, F64, F64)
#define __builtin_amdgcn_mfma_f64_4x4x4f64 SIMT_MFMA(4, 4, 4, F64, F64)
#define __builtin_amdgcn_wmma_f32_16x16x16_f16_w32 __simt::wmma<__simt::kMatrixF16, __simt::kSumF32>
#define __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32 __simt::wmma<__simt::kMatrixBf16, __simt::kSumF32>
#define __builtin_amdgcn_wmma_f16_16x16x16_f16_w32 __simt::wmma<__simt::kMatrixF16, __simt::kSumF16>

#define __builtin_amdgcn_mfma_f32_32x32x16_fp8_fp8 __simt::matrix_core
#define __builtin_amdgcn_mfma_f32_32x32x16_fp8_bf8 __simt::matrix_core
#define __builtin_amdgcn_mfma_f32_32x32x16_bf8_fp8 __simt::matrix_core
#define __builtin_amdgcn_mfma_f32_32x32x16_bf8_bf8 __simt::matrix_core
#define __builtin_amdgcn_mfma_f32_16x16x32_fp8_fp8 __simt::matrix_core
#define __builtin_amdgcn_mfma_f32_16x16x32_fp8_bf8 __simt::matrix_core
#define __builtin_amdgcn_mfma_f32_16x16x32_bf8_fp8 __simt::matrix_core
#define __builtin_amdgcn_mfma_f32_16x16x32_bf8_bf8 __simt::matrix_core
#define __builtin_amdgcn_mfma_f32_16x16x8_xf32 __simt::matrix_core
#define __builtin_amdgcn_mfma_f32_32x32x4_xf32 __simt::matrix_core
#define __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4 __simt::matrix_core
#define __builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4 __simt::matrix_core
#define __builtin_amdgcn_smfmac_f32_16x16x32_f16 __simt::matrix_core
#define __builtin_amdgcn_smfmac_f32_32x32x16_f16 __simt::matrix_core
#define __builtin_amdgcn_wmma_bf16_16x16x16_bf16_w32 __simt::matrix_core
#define __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32 __simt::matrix_core
#define __builtin_amdgcn_wmma_i32_16x16x16_iu4_w32 __simt::matrix_core
#endif
