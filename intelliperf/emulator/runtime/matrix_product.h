// Matrix instructions of AMD's chips (MFMA, and WMMA of RDNA 3): all lanes of a wave multiply small matrices together.
// Which lane holds which element: AMD matrix instruction calculator; for WMMA, "RDNA 3 ISA", 7.9.
#pragma once
#include <cstdint>

namespace simt {

enum class MatrixFormat : uint32_t { kF32 = 0, kF64, kF16, kBf16, kI8 };
enum class MatrixResult : uint32_t { kF32 = 0, kF64, kI32, kF16 };

// What one lane brings; in step with include/simt/matrix_instructions.h.
struct MatrixOperands {
  uint32_t size, depth, blocks;  // of each block: size x depth times depth x size
  MatrixFormat format;
  MatrixResult result;
  uint32_t replicated;  // RDNA 3: each half of the wave holds both matrices; 2: results in the upper halves
  uint32_t shared_blocks, shared_block;  // cbsz, abid: 2^cbsz blocks multiply with the first matrix of one of them
  uint64_t a[4], b[4];
  const void* addend;
  void* sum;
};

// `lanes` by their position in the wave; one that takes no part is null and counts as zeros.
void multiply_matrices(const MatrixOperands* const* lanes, uint32_t wave_size);

}  // namespace simt
