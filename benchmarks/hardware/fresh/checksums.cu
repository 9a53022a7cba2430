// Checksums of 64 bytes per thread by a table of 256 words: in constant memory, in memory, in LDS; input by words.
#include "../corpus/corpus.h"
__constant__ unsigned kept_table[256];
__host__ __device__ unsigned entry(unsigned value) {
  for (int k = 0; k < 8; ++k) value = value & 1 ? 0xEDB88320u ^ (value >> 1) : value >> 1;
  return value;
}
__device__ unsigned checksum(const unsigned char* x, const unsigned* table) {
  unsigned sum = ~0u;
  for (int k = 0; k < 64; ++k) sum = table[(sum ^ x[k]) & 255] ^ (sum >> 8);
  return ~sum;
}
__global__ void constant_table(const unsigned char* x, unsigned* y) { y[INDEX] = checksum(x + INDEX * 64, kept_table); }
__global__ void table_in_memory(const unsigned char* x, const unsigned* table, unsigned* y) {
  y[INDEX] = checksum(x + INDEX * 64, table);
}
__global__ void table_in_lds(const unsigned char* x, const unsigned* table, unsigned* y) {
  __shared__ unsigned own[256];
  for (int k = threadIdx.x; k < 256; k += blockDim.x) own[k] = table[k];
  __syncthreads();
  y[INDEX] = checksum(x + INDEX * 64, own);
}
__global__ void by_words(const uint4* x, const unsigned* table, unsigned* y) {
  __shared__ unsigned own[256];
  for (int k = threadIdx.x; k < 256; k += blockDim.x) own[k] = table[k];
  __syncthreads();
  unsigned sum = ~0u;
  for (int k = 0; k < 4; ++k) {
    const uint4 four = x[INDEX * 4 + k];
    for (unsigned word : {four.x, four.y, four.z, four.w})
      for (int j = 0; j < 4; ++j, word >>= 8) sum = own[(sum ^ word) & 255] ^ (sum >> 8);
  }
  y[INDEX] = ~sum;
}
int main(int argc, char** argv) {
  Corpus c(argc, argv);
  const int n = c.argument(0, 1 << 13);
  const auto bytes = made<unsigned char>(size_t(n) * 64, [](size_t i) { return noise(unsigned(i)); });
  const auto table = made<unsigned>(256, [](size_t i) { return entry(unsigned(i)); });
  CHECK(cudaMemcpyToSymbol(kept_table, table.data(), 1024));
  const unsigned char* x = c.input(bytes);
  const unsigned* t = c.input(table);
  unsigned* y = c.output(made<unsigned>(n, [&](size_t i) {
    unsigned sum = ~0u;
    for (int k = 0; k < 64; ++k) sum = table[(sum ^ bytes[i * 64 + k]) & 255] ^ (sum >> 8);
    return ~sum;
  }));
  c.variant("constant_table", [&] { constant_table<<<n / 128, 128>>>(x, y); });
  c.variant("table_in_memory", [&] { table_in_memory<<<n / 128, 128>>>(x, t, y); });
  c.variant("table_in_lds", [&] { table_in_lds<<<n / 128, 128>>>(x, t, y); });
  c.variant("by_words", [&] { by_words<<<n / 128, 128>>>((const uint4*)x, t, y); });
  return c.end();
}
