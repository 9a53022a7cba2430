// cuSPARSE's generic interface: a sparse matrix times a vector or a dense matrix, of real numbers.
#include <cstdint>
#include <vector>

#include "host_blas.h"

#define SIMT_EXPORT __attribute__((visibility("default")))

namespace simt::host {

using blas::Number;

enum SparseStatus : int {
  kSparseSuccess = 0,
  kSparseNotInitialized = 1,
  kSparseInvalidValue = 3,
  kSparseExecutionFailed = 6,
  kSparseNotSupported = 10,
};
enum class Format : uint8_t { kCsr, kCsc, kCoo };

struct SparseHandle {
  Stream* stream = nullptr;
  bool on_device = false;  // where alpha and beta are
};
struct MatrixDescription {
  int type = 0, fill = 0, diagonal = 0, base = 0;
};
struct SparseMatrix {
  Format format{};
  int64_t rows = 0, columns = 0, nonzeros = 0;
  const void* outer = nullptr;  // CSR, CSC: offsets; COO: an index for each value
  const void* inner = nullptr;
  void* values = nullptr;
  bool wide_outer = false, wide_inner = false;  // 64 bits
  int64_t base = 0;
  Number number{};

  int64_t slices() const { return format == Format::kCsc ? columns : rows; }
  int64_t outer_count() const { return format == Format::kCoo ? nonzeros : slices() + 1; }
};
struct DenseVector {
  int64_t size = 0;
  void* values = nullptr;
  Number number{};
};
struct DenseMatrix {
  int64_t rows = 0, columns = 0, leading = 0;
  void* values = nullptr;
  Number number{};
  bool by_rows = false;

  size_t at(int64_t row, int64_t column) const {
    return size_t(by_rows ? row * leading + column : row + column * leading);
  }
  uint64_t bytes() const { return uint64_t(leading) * uint64_t(by_rows ? rows : columns) * blas::size_of(number); }
};

namespace {

bool is_real(int type) {
  const Number number{type};
  return number == Number::kF32 || number == Number::kF64 || number == Number::kF16 || number == Number::kBf16;
}

int64_t index(const void* from, bool wide, int64_t at) {
  return wide ? static_cast<const int64_t*>(from)[at] : static_cast<const int32_t*>(from)[at];
}

// Calls `take(row, column, value)` for each stored value.
template <class F>
void each(const SparseMatrix& a, F take) {
  const auto one = [&](int64_t slice, int64_t at) {
    const int64_t inner = index(a.inner, a.wide_inner, at) - a.base;
    const double value = blas::load(a.number, a.values, size_t(at));
    a.format == Format::kCsc ? take(inner, slice, value) : take(slice, inner, value);
  };
  if (a.format == Format::kCoo) {
    for (int64_t at = 0; at < a.nonzeros; ++at) one(index(a.outer, a.wide_outer, at) - a.base, at);
    return;
  }
  for (int64_t slice = 0; slice < a.slices(); ++slice) {
    const int64_t end = index(a.outer, a.wide_outer, slice + 1) - a.base;
    for (int64_t at = index(a.outer, a.wide_outer, slice) - a.base; at < end; ++at) one(slice, at);
  }
}

double scalar(const void* value, int compute) { return blas::load(Number{compute}, value, 0); }

int sparse_status(int error) {
  switch (error) {
    case kSuccess:
      return kSparseSuccess;
    case kInvalidValue:
      return kSparseInvalidValue;
    default:
      return kSparseExecutionFailed;
  }
}

LibraryCall described(const char* name, const SparseMatrix& a, int64_t width, int compute) {
  LibraryCall call{name, 2.0 * double(a.nonzeros) * double(width), Number{compute} == Number::kF64, {}, {}};
  call.reads = {{a.outer, uint64_t(a.outer_count()) * (a.wide_outer ? 8u : 4u)},
                {a.inner, uint64_t(a.nonzeros) * (a.wide_inner ? 8u : 4u)},
                {a.values, uint64_t(a.nonzeros) * blas::size_of(a.number)}};
  return call;
}

const char* status_name(int status) {
  switch (status) {
    case kSparseSuccess:
      return "CUSPARSE_STATUS_SUCCESS";
    case kSparseNotInitialized:
      return "CUSPARSE_STATUS_NOT_INITIALIZED";
    case kSparseInvalidValue:
      return "CUSPARSE_STATUS_INVALID_VALUE";
    case kSparseExecutionFailed:
      return "CUSPARSE_STATUS_EXECUTION_FAILED";
    case kSparseNotSupported:
      return "CUSPARSE_STATUS_NOT_SUPPORTED";
    default:
      return "CUSPARSE_STATUS_INTERNAL_ERROR";
  }
}

int make_sparse(SparseMatrix** matrix, Format format, int64_t rows, int64_t columns, int64_t nonzeros,
                const void* outer, const void* inner, void* values, int outer_type, int inner_type, int base,
                int type) {
  constexpr int k32 = 2, k64 = 3;
  if (!matrix || rows < 0 || columns < 0 || nonzeros < 0 || base < 0 || base > 1) return kSparseInvalidValue;
  const bool known = (outer_type == k32 || outer_type == k64) && (inner_type == k32 || inner_type == k64);
  if (!known || !is_real(type)) return kSparseNotSupported;
  *matrix = new SparseMatrix{
      format, rows, columns, nonzeros, outer, inner, values, outer_type == k64, inner_type == k64, base, Number{type}};
  return kSparseSuccess;
}

}  // namespace

extern "C" {
SIMT_EXPORT int cusparseCreate(SparseHandle** handle) {
  if (!handle) return kSparseInvalidValue;
  return *handle = new SparseHandle, kSparseSuccess;
}
SIMT_EXPORT int cusparseDestroy(SparseHandle* handle) { return delete handle, kSparseSuccess; }
SIMT_EXPORT int cusparseGetVersion(SparseHandle*, int* version) { return *version = 12301, kSparseSuccess; }
SIMT_EXPORT const char* cusparseGetErrorName(int status) { return status_name(status); }
SIMT_EXPORT const char* cusparseGetErrorString(int status) { return status_name(status); }

#define SIMT_SETTING(name, type, parameter, statement)         \
  SIMT_EXPORT int cusparse##name(type* described, parameter) { \
    if (!described) return kSparseNotInitialized;              \
    statement;                                                 \
    return kSparseSuccess;                                     \
  }
SIMT_SETTING(SetStream, SparseHandle, Stream* stream, described->stream = stream)
SIMT_SETTING(GetStream, SparseHandle, Stream** stream, *stream = described->stream)
SIMT_SETTING(SetPointerMode, SparseHandle, int mode, described->on_device = mode == 1)
SIMT_SETTING(GetPointerMode, SparseHandle, int* mode, *mode = described->on_device)
SIMT_SETTING(SetMatType, MatrixDescription, int value, described->type = value)
SIMT_SETTING(SetMatFillMode, MatrixDescription, int value, described->fill = value)
SIMT_SETTING(SetMatDiagType, MatrixDescription, int value, described->diagonal = value)
SIMT_SETTING(SetMatIndexBase, MatrixDescription, int value, described->base = value)
SIMT_SETTING(SpMatSetValues, SparseMatrix, void* values, described->values = values)
SIMT_SETTING(SpMatGetValues, SparseMatrix, void** values, *values = described->values)
SIMT_SETTING(DnVecSetValues, DenseVector, void* values, described->values = values)
SIMT_SETTING(DnVecGetValues, DenseVector, void** values, *values = described->values)
SIMT_SETTING(DnMatSetValues, DenseMatrix, void* values, described->values = values)
#undef SIMT_SETTING

SIMT_EXPORT int cusparseCreateMatDescr(MatrixDescription** made) {
  if (!made) return kSparseInvalidValue;
  return *made = new MatrixDescription, kSparseSuccess;
}
SIMT_EXPORT int cusparseDestroyMatDescr(MatrixDescription* of) { return delete of, kSparseSuccess; }
SIMT_EXPORT int cusparseGetMatType(MatrixDescription* of) { return of->type; }
SIMT_EXPORT int cusparseGetMatFillMode(MatrixDescription* of) { return of->fill; }
SIMT_EXPORT int cusparseGetMatDiagType(MatrixDescription* of) { return of->diagonal; }
SIMT_EXPORT int cusparseGetMatIndexBase(MatrixDescription* of) { return of->base; }

SIMT_EXPORT int cusparseCreateCsr(SparseMatrix** matrix, int64_t rows, int64_t columns, int64_t nonzeros, void* offsets,
                                  void* indices, void* values, int offset_type, int index_type, int base, int type) {
  return make_sparse(matrix, Format::kCsr, rows, columns, nonzeros, offsets, indices, values, offset_type, index_type,
                     base, type);
}
SIMT_EXPORT int cusparseCreateCsc(SparseMatrix** matrix, int64_t rows, int64_t columns, int64_t nonzeros, void* offsets,
                                  void* indices, void* values, int offset_type, int index_type, int base, int type) {
  return make_sparse(matrix, Format::kCsc, rows, columns, nonzeros, offsets, indices, values, offset_type, index_type,
                     base, type);
}
SIMT_EXPORT int cusparseCreateCoo(SparseMatrix** matrix, int64_t rows, int64_t columns, int64_t nonzeros,
                                  void* row_indices, void* column_indices, void* values, int index_type, int base,
                                  int type) {
  return make_sparse(matrix, Format::kCoo, rows, columns, nonzeros, row_indices, column_indices, values, index_type,
                     index_type, base, type);
}
SIMT_EXPORT int cusparseDestroySpMat(const SparseMatrix* matrix) { return delete matrix, kSparseSuccess; }
SIMT_EXPORT int cusparseSpMatGetSize(const SparseMatrix* matrix, int64_t* rows, int64_t* columns, int64_t* nonzeros) {
  if (!matrix) return kSparseInvalidValue;
  *rows = matrix->rows, *columns = matrix->columns, *nonzeros = matrix->nonzeros;
  return kSparseSuccess;
}
SIMT_EXPORT int cusparseCreateDnVec(DenseVector** vector, int64_t size, void* values, int type) {
  if (!vector || size < 0) return kSparseInvalidValue;
  if (!is_real(type)) return kSparseNotSupported;
  return *vector = new DenseVector{size, values, Number{type}}, kSparseSuccess;
}
SIMT_EXPORT int cusparseDestroyDnVec(const DenseVector* vector) { return delete vector, kSparseSuccess; }
SIMT_EXPORT int cusparseCreateDnMat(DenseMatrix** matrix, int64_t rows, int64_t columns, int64_t leading, void* values,
                                    int type, int order) {
  constexpr int kByColumns = 1, kByRows = 2;
  if (!matrix || rows < 0 || columns < 0 || (order != kByColumns && order != kByRows)) return kSparseInvalidValue;
  if (leading < (order == kByRows ? columns : rows)) return kSparseInvalidValue;
  if (!is_real(type)) return kSparseNotSupported;
  return *matrix = new DenseMatrix{rows, columns, leading, values, Number{type}, order == kByRows}, kSparseSuccess;
}
SIMT_EXPORT int cusparseDestroyDnMat(const DenseMatrix* matrix) { return delete matrix, kSparseSuccess; }

SIMT_EXPORT int cusparseSpMV_bufferSize(SparseHandle* handle, int, const void*, const SparseMatrix*, const DenseVector*,
                                        const void*, DenseVector*, int, int, size_t* bytes) {
  return handle ? (*bytes = 4, kSparseSuccess) : kSparseNotInitialized;  // some programs refuse to allocate nothing
}
SIMT_EXPORT int cusparseSpMV_preprocess(SparseHandle* handle, int, const void*, const SparseMatrix*, const DenseVector*,
                                        const void*, DenseVector*, int, int, void*) {
  return handle ? kSparseSuccess : kSparseNotInitialized;
}
SIMT_EXPORT int cusparseSpMV(SparseHandle* handle, int operation, const void* alpha, const SparseMatrix* a,
                             const DenseVector* x, const void* beta, DenseVector* y, int compute, int, void*) {
  if (!handle) return kSparseNotInitialized;
  if (!alpha || !beta || !a || !x || !y || operation < 0 || operation > 2) return kSparseInvalidValue;
  if (!is_real(compute)) return kSparseNotSupported;
  const bool turned = operation != 0;
  if (x->size != (turned ? a->rows : a->columns) || y->size != (turned ? a->columns : a->rows))
    return kSparseInvalidValue;
  const Call call(Vendor::kCuda);
  LibraryCall noted = described("cusparseSpMV", *a, 1, compute);
  noted.reads.push_back({x->values, uint64_t(x->size) * blas::size_of(x->number)});
  noted.writes.push_back({y->values, uint64_t(y->size) * blas::size_of(y->number)});
  const double by = handle->on_device ? 0 : scalar(alpha, compute),
               kept = handle->on_device ? 0 : scalar(beta, compute);
  return sparse_status(
      run_library_call(noted, handle->stream, false, [=, on_device = handle->on_device, a = *a, x = *x, y = *y] {
        const double factor = on_device ? scalar(alpha, compute) : by, old = on_device ? scalar(beta, compute) : kept;
        std::vector<double> sums(size_t(y.size));
        each(a, [&](int64_t row, int64_t column, double value) {
          sums[size_t(turned ? column : row)] += value * blas::load(x.number, x.values, size_t(turned ? row : column));
        });
        for (size_t i = 0; i < sums.size(); ++i) {
          const double before = old == 0 ? 0 : old * blas::load(y.number, y.values, i);
          blas::store(y.number, y.values, i, factor * sums[i] + before);
        }
      }));
}

SIMT_EXPORT int cusparseSpMM_bufferSize(SparseHandle* handle, int, int, const void*, const SparseMatrix*,
                                        const DenseMatrix*, const void*, DenseMatrix*, int, int, size_t* bytes) {
  return handle ? (*bytes = 4, kSparseSuccess) : kSparseNotInitialized;
}
SIMT_EXPORT int cusparseSpMM_preprocess(SparseHandle* handle, int, int, const void*, const SparseMatrix*,
                                        const DenseMatrix*, const void*, DenseMatrix*, int, int, void*) {
  return handle ? kSparseSuccess : kSparseNotInitialized;
}
SIMT_EXPORT int cusparseSpMM(SparseHandle* handle, int of_a, int of_b, const void* alpha, const SparseMatrix* a,
                             const DenseMatrix* b, const void* beta, DenseMatrix* c, int compute, int, void*) {
  if (!handle) return kSparseNotInitialized;
  if (!alpha || !beta || !a || !b || !c || of_a < 0 || of_a > 2 || of_b < 0 || of_b > 2) return kSparseInvalidValue;
  if (!is_real(compute)) return kSparseNotSupported;
  const bool turned_a = of_a != 0, turned_b = of_b != 0;
  const int64_t deep = turned_a ? a->rows : a->columns, high = turned_a ? a->columns : a->rows;
  const int64_t b_rows = turned_b ? b->columns : b->rows, wide = turned_b ? b->rows : b->columns;
  if (b_rows != deep || c->rows != high || c->columns != wide) return kSparseInvalidValue;
  const Call call(Vendor::kCuda);
  LibraryCall noted = described("cusparseSpMM", *a, wide, compute);
  noted.reads.push_back({b->values, b->bytes()});
  noted.writes.push_back({c->values, c->bytes()});
  const double by = handle->on_device ? 0 : scalar(alpha, compute),
               kept = handle->on_device ? 0 : scalar(beta, compute);
  return sparse_status(
      run_library_call(noted, handle->stream, false, [=, on_device = handle->on_device, a = *a, b = *b, c = *c] {
        const double factor = on_device ? scalar(alpha, compute) : by, old = on_device ? scalar(beta, compute) : kept;
        std::vector<double> sums(size_t(high * wide));
        each(a, [&](int64_t row, int64_t column, double value) {
          const int64_t to = turned_a ? column : row, from = turned_a ? row : column;
          for (int64_t j = 0; j < wide; ++j) {
            const size_t at = turned_b ? b.at(j, from) : b.at(from, j);
            sums[size_t(to * wide + j)] += value * blas::load(b.number, b.values, at);
          }
        });
        for (int64_t i = 0; i < high; ++i)
          for (int64_t j = 0; j < wide; ++j) {
            const double before = old == 0 ? 0 : old * blas::load(c.number, c.values, c.at(i, j));
            blas::store(c.number, c.values, c.at(i, j), factor * sums[size_t(i * wide + j)] + before);
          }
      }));
}
}  // extern "C"

}  // namespace simt::host
