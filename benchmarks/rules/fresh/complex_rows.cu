// Products of rows of a program's own complex numbers, a row per thread.
#include <cmath>
#include <cstdio>
#include <vector>

template <typename T>
T* upload(const std::vector<T>& host) {
  T* device;
  cudaMalloc(&device, host.size() * sizeof(T));
  cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice);
  return device;
}

template <typename T>
std::vector<T> download(const T* device, size_t count) {
  std::vector<T> host(count);
  cudaMemcpy(host.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost);
  return host;
}
struct cplx {
  float re, im;
  __host__ __device__ cplx(float r = 0.f, float i = 0.f) : re(r), im(i) {}
  __host__ __device__ cplx operator+(const cplx& o) const { return cplx(re + o.re, im + o.im); }
  __host__ __device__ cplx operator*(const cplx& o) const { return cplx(re * o.re - im * o.im, re * o.im + im * o.re); }
  __host__ __device__ cplx& operator+=(const cplx& o) { re += o.re; im += o.im; return *this; }
};
__global__ void row_dots(const cplx* a, const cplx* b, cplx* out, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  cplx sum(0.f, 0.f);
  for (int c = 0; c < cols; ++c) sum += a[r * cols + c] * b[r * cols + c];
  out[r] = sum;
}
int main() {
  int R = 2048, C = 128; std::vector<cplx> a(R * C), b(R * C);
  for (int i = 0; i < R * C; ++i) { a[i] = cplx(i % 5, i % 3); b[i] = cplx(i % 7, -(i % 4)); }
  cplx *da = upload(a), *db = upload(b), *o; cudaMalloc(&o, R * sizeof(cplx));
  row_dots<<<(R + 127) / 128, 128>>>(da, db, o, R, C);
  auto h = download(o, R); bool ok = true;
  for (int r = 0; r < R; r += 37) { cplx e; for (int c = 0; c < C; ++c) e += a[r * C + c] * b[r * C + c]; ok &= std::fabs(e.re - h[r].re) < 1 && std::fabs(e.im - h[r].im) < 1; }
  std::printf("%s\n", ok ? "PASS" : "FAIL");
}
