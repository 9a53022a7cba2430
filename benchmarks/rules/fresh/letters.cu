// Histogram of letters with global atomics, a thread walks a chunk of the text.
#include <cstdio>
#include <cstring>
#include <string>

__global__ void letters(const char* text, int* bins, int length, int per_thread) {
  int begin = (blockIdx.x * blockDim.x + threadIdx.x) * per_thread;
  int end = min(begin + per_thread, length);
  for (int i = begin; i < end; i++) {
    char c = text[i];
    if (c >= 'a' && c <= 'z') atomicAdd(&bins[c - 'a'], 1);
  }
}

int main() {
  std::string text;
  while (text.size() < 1500000) text += "the quick brown fox jumps over the lazy dog and runs on ";
  char* t; int *b, out[26];
  cudaMalloc(&t, text.size()); cudaMalloc(&b, sizeof out);
  cudaMemcpy(t, text.data(), text.size(), cudaMemcpyHostToDevice);
  cudaMemset(b, 0, sizeof out);
  int per = 32, threads = (text.size() + per - 1) / per;
  letters<<<(threads + 255) / 256, 256>>>(t, b, (int)text.size(), per);
  cudaMemcpy(out, b, sizeof out, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 26; i++) printf("%d ", out[i]);
  puts("");
}
