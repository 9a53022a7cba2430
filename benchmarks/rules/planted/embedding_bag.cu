// Means of bags of embeddings: a thread for each bag reads the rows of a table through functions.
//// both
#include "cuda_support.h"
constexpr int kBags = 2048, kPerBag = 20, kWidth = 64, kWords = 30000;
//// planted
__device__ inline float entry(const float* table, int word, int d) { return table[word * kWidth + d]; }
__device__ float summed(const float* table, const int* words, int d) {
  float sum = 0;
  for (int k = 0; k < kPerBag; ++k) sum += entry(table, words[k], d);
  return sum;
}
__global__ void bag_means(const float* table, const int* words, float* means, int bags) {
  int bag = blockIdx.x * blockDim.x + threadIdx.x;
  if (bag >= bags) return;
  for (int d = 0; d < kWidth; ++d) means[bag * kWidth + d] = summed(table, words + bag * kPerBag, d) / kPerBag;
}
void launch(const float* table, const int* words, float* means) {
  bag_means<<<(kBags + 127) / 128, 128>>>(table, words, means, kBags);
}
//// expert
__global__ void bag_means(const float* table, const int* words, float* means, int bags) {
  int bag = blockIdx.x * 4 + threadIdx.y, d = threadIdx.x;
  if (bag >= bags) return;
  float sum = 0;
#pragma unroll
  for (int k = 0; k < kPerBag; ++k) sum += table[words[bag * kPerBag + k] * kWidth + d];
  means[bag * kWidth + d] = sum / kPerBag;
}
void launch(const float* table, const int* words, float* means) {
  bag_means<<<(kBags + 3) / 4, dim3(kWidth, 4)>>>(table, words, means, kBags);
}
//// both
int main() {
  const auto table = noises(size_t(kWords) * kWidth, -1, 1);
  std::vector<int> words(kBags * kPerBag);
  for (size_t i = 0; i < words.size(); ++i) words[i] = int(noise(i) * (kWords - 1));
  float* means = zeros<float>(kBags * kWidth);
  launch(upload(table), upload(words), means);
  const auto found = download(means, kBags * kWidth);
  bool right = true;
  for (int at = 0; at < kBags * kWidth; ++at) {
    double sum = 0;
    for (int k = 0; k < kPerBag; ++k) sum += table[words[at / kWidth * kPerBag + k] * kWidth + at % kWidth];
    right &= near(found[at], sum / kPerBag, 1e-5);
  }
  return told(right);
}
