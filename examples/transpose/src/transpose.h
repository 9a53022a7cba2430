#pragma once

#include <cstddef>

namespace linalg {

/// Writes the transpose of the row-major `rows` x `columns` matrix `in` to `out`; both lie in
/// host memory. Returns false, with a message on standard error, if the device fails.
bool transpose(const float* in, float* out, std::size_t rows, std::size_t columns);

}  // namespace linalg
