// A launch in a header, set apart as some editors do.
template <int value>
__global__ void store(int* out) { *out = value; }
inline int launch_from_header(int* out) {
#ifdef __CUDA_RUNTIME_H__
  store<7> << < 1, 1 >> > (out);
  cudaDeviceSynchronize();
#endif
  return *out;
}
