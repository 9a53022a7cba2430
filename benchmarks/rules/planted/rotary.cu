// Rotary embedding of queries: the angle of a position and a pair is worked out anew for each head.
//// both
#include "cuda_support.h"
constexpr int kTokens = 4096, kHeads = 32, kPairs = 32;
//// planted
__global__ void rotate(float* q, const float* positions, const float* theta, int tokens) {
  int at = blockIdx.x * blockDim.x + threadIdx.x;
  int token = at / kPairs, pair = at % kPairs;
  if (token >= tokens) return;
  for (int head = 0; head < kHeads; ++head) {
    float* own = q + (token * kHeads + head) * 2 * kPairs + pair;
    float re = own[0], im = own[kPairs];
    own[0] = re * cosf(positions[token] * powf(*theta, -2.0f * pair / (2 * kPairs))) -
             im * sinf(positions[token] * powf(*theta, -2.0f * pair / (2 * kPairs)));
    own[kPairs] = re * sinf(positions[token] * powf(*theta, -2.0f * pair / (2 * kPairs))) +
                  im * cosf(positions[token] * powf(*theta, -2.0f * pair / (2 * kPairs)));
  }
}
//// expert
__global__ void rotate(float* q, const float* positions, const float* theta, int tokens) {
  int at = blockIdx.x * blockDim.x + threadIdx.x;
  int token = at / kPairs, pair = at % kPairs;
  if (token >= tokens) return;
  float angle = positions[token] * powf(*theta, -2.0f * pair / (2 * kPairs)), sine, cosine;
  sincosf(angle, &sine, &cosine);
  float* own = q + token * kHeads * 2 * kPairs + pair;
#pragma unroll 4
  for (int head = 0; head < kHeads; ++head, own += 2 * kPairs) {
    float re = own[0], im = own[kPairs];
    own[0] = re * cosine - im * sine;
    own[kPairs] = re * sine + im * cosine;
  }
}
//// both
int main() {
  const auto q = noises(size_t(kTokens) * kHeads * 2 * kPairs, -1, 1);
  std::vector<float> positions(kTokens);
  for (int token = 0; token < kTokens; ++token) positions[token] = token * 0.5f;
  float* device = upload(q);
  rotate<<<kTokens * kPairs / 256, 256>>>(device, upload(positions), upload(std::vector<float>(1, 10000.0f)), kTokens);
  const auto found = download(device, q.size());
  bool right = true;
  for (int token = 0; token < kTokens; token += 37)
    for (int pair = 0; pair < kPairs; ++pair) {
      const double angle = positions[token] * powf(10000.0f, -2.0f * pair / (2 * kPairs));
      const size_t own = (size_t(token) * kHeads + 3) * 2 * kPairs + pair;
      right &= near(found[own], q[own] * std::cos(angle) - q[own + kPairs] * std::sin(angle), 2e-3);
      right &= near(found[own + kPairs], q[own] * std::sin(angle) + q[own + kPairs] * std::cos(angle), 2e-3);
    }
  return told(right);
}
