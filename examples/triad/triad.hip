// STREAM triad in double precision: a = b + s * c. Unit stride, nothing to improve.
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#define HIP_CHECK(x)                                             \
  if ((x) != hipSuccess) {                                       \
    fprintf(stderr, "HIP call failed at line %d\n", __LINE__);   \
    exit(1);                                                     \
  }

__global__ void triad(double* __restrict__ a, const double* __restrict__ b, const double* __restrict__ c,
                      double scalar, size_t n) {
  size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) a[i] = b[i] + scalar * c[i];
}

int main(int argc, char** argv) {
  const size_t n = argc > 1 ? strtoull(argv[1], nullptr, 10) : 2000000;
  std::vector<double> a(n), b(n), c(n);
  for (size_t i = 0; i < n; ++i) {
    b[i] = 0.5 * i;
    c[i] = 1.0 / (i + 1);
  }

  double *da, *db, *dc;
  HIP_CHECK(hipMalloc(&da, n * sizeof(double)));
  HIP_CHECK(hipMalloc(&db, n * sizeof(double)));
  HIP_CHECK(hipMalloc(&dc, n * sizeof(double)));
  HIP_CHECK(hipMemcpy(db, b.data(), n * sizeof(double), hipMemcpyHostToDevice));
  HIP_CHECK(hipMemcpy(dc, c.data(), n * sizeof(double), hipMemcpyHostToDevice));

  hipEvent_t start, stop;
  HIP_CHECK(hipEventCreate(&start));
  HIP_CHECK(hipEventCreate(&stop));
  HIP_CHECK(hipEventRecord(start));
  for (int repetition = 0; repetition < 3; ++repetition)
    triad<<<dim3((n + 255) / 256), dim3(256)>>>(da, db, dc, 3.0, n);
  HIP_CHECK(hipEventRecord(stop));
  HIP_CHECK(hipEventSynchronize(stop));
  float ms = 0;
  HIP_CHECK(hipEventElapsedTime(&ms, start, stop));
  HIP_CHECK(hipMemcpy(a.data(), da, n * sizeof(double), hipMemcpyDeviceToHost));

  for (size_t i = 0; i < n; ++i) {
    const double expected = b[i] + 3.0 * c[i];
    const double difference = a[i] - expected;
    if (difference > 1e-12 * expected || difference < -1e-12 * expected) {
      printf("FAIL at %zu: %g, expected %g\n", i, a[i], expected);
      return 1;
    }
  }
  printf("triad of %zu doubles, 3 repetitions: PASS (%.0f GB/s)\n", n, 3 * 24e-6 * n / ms);
  HIP_CHECK(hipEventDestroy(start));
  HIP_CHECK(hipEventDestroy(stop));
  HIP_CHECK(hipFree(da));
  HIP_CHECK(hipFree(db));
  HIP_CHECK(hipFree(dc));
  return 0;
}
