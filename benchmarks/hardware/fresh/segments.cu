// Sums of segments of an array, of 1 to 128 numbers each: a thread for each, eight lanes for each, a warp for each.
#include "../corpus/corpus.h"
template <int LANES>
__global__ void lanes_per_segment(const float* x, const int* starts, float* y, int n) {
  const int segment = INDEX / LANES, lane = threadIdx.x % LANES;
  float sum = 0;
  if (segment < n)
    for (int k = starts[segment] + lane; k < starts[segment + 1]; k += LANES) sum += x[k];
  for (int step = LANES / 2; step; step /= 2) sum += __shfl_down_sync(0xFFFFFFFF, sum, step, LANES);
  if (segment < n && lane == 0) y[segment] = sum;
}
int main(int argc, char** argv) {
  Corpus c(argc, argv);
  const int n = c.argument(0, 1 << 13);
  std::vector<int> starts{0};
  for (int i = 0; i < n; ++i) starts.push_back(starts.back() + 1 + noise(i) % 128);
  const auto values = floats(starts.back());
  const float* x = c.input(values);
  const int* at = c.input(starts);
  float* y = c.output(made<float>(n, [&](size_t i) {
    double sum = 0;
    for (int k = starts[i]; k < starts[i + 1]; ++k) sum += values[k];
    return sum;
  }), 1e-4);
  c.variant("one_lane", [&] { lanes_per_segment<1><<<(n + 127) / 128, 128>>>(x, at, y, n); });
  c.variant("eight_lanes", [&] { lanes_per_segment<8><<<(n + 15) / 16, 128>>>(x, at, y, n); });
  c.variant("whole_warp", [&] { lanes_per_segment<32><<<(n + 3) / 4, 128>>>(x, at, y, n); });
  return c.end();
}
