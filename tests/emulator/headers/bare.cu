// No #include at all: what nvcc brings along by itself.
__global__ void fill(float* out) {
  if (threadIdx.x == 40) printf("a word from the device\n");
  out[threadIdx.x] = isnan(out[threadIdx.x]) ? -1.0f : max(1.0f, float(threadIdx.x));
}

int main(int argc, char**) {
  float *out, *host = static_cast<float*>(malloc(64 * sizeof(float)));
  memset(host, 0, 64 * sizeof(float));
  cudaMalloc(&out, 64 * sizeof(float));
  cudaMemcpy(out, host, 64 * sizeof(float), cudaMemcpyHostToDevice);
  fill<<<1, 64>>>(out);
  cudaMemcpy(host, out, 64 * sizeof(float), cudaMemcpyDeviceToHost);
  auto two = std::make_pair(2, 3.0);
  std::swap(host[0], host[1]);
  bool good = argc == 1 && !isnan(host[5]) && isfinite(host[5]) && host[63] == 63.0f && two.second == 3.0;
  for (float least : {1.0f, 0.5f}) good = good && abs(-host[7]) >= least;
  assert(sqrt(4.0) == 2.0);
  srand(static_cast<unsigned int>(time(NULL)));
  puts(good ? "all good" : "failed");
  free(host);
  return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
