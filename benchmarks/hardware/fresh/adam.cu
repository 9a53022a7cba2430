// A step of Adam's optimiser: powers computed by each thread, or given; weights in records, or each kind apart.
#include "../corpus/corpus.h"
__host__ __device__ float stepped(float weight, float first, float second, float gradient, float b1, float b2) {
  first = 0.9f * first + 0.1f * gradient;
  second = 0.999f * second + 0.001f * gradient * gradient;
  return weight - 0.01f * (first / b1) / (sqrtf(second / b2) + 1e-8f);
}
__global__ void powers(const float* w, const float* f, const float* s, const float* g, float* y, int turn, int n) {
  int i = INDEX;
  if (i < n) y[i] = stepped(w[i], f[i], s[i], g[i], 1 - powf(0.9f, turn), 1 - powf(0.999f, turn));
}
__global__ void given(const float* w, const float* f, const float* s, const float* g, float* y, float b1, float b2,
                      int n) {
  int i = INDEX;
  if (i < n) y[i] = stepped(w[i], f[i], s[i], g[i], b1, b2);
}
struct State {
  float w, f, s, g, spare[4];
};
__global__ void records(const State* x, float* y, float b1, float b2, int n) {
  int i = INDEX;
  if (i < n) y[i] = stepped(x[i].w, x[i].f, x[i].s, x[i].g, b1, b2);
}
int main(int argc, char** argv) {
  Corpus c(argc, argv);
  const int n = c.argument(0, 1 << 17), turn = 9, blocks = (n + 255) / 256;
  const auto w = floats(n, 1), f = floats(n, 3), s = floats(n, 5), g = floats(n, 7);
  const float b1 = 1 - std::pow(0.9f, turn), b2 = 1 - std::pow(0.999f, turn);
  std::vector<State> states(n);
  for (int i = 0; i < n; ++i) states[i] = {w[i], f[i], s[i], g[i], {}};
  const float *dw = c.input(w), *df = c.input(f), *ds = c.input(s), *dg = c.input(g);
  const State* x = c.input(states);
  float* y = c.output(made<float>(n, [&](size_t i) { return stepped(w[i], f[i], s[i], g[i], b1, b2); }), 1e-4);
  c.variant("powers", [&] { powers<<<blocks, 256>>>(dw, df, ds, dg, y, turn, n); });
  c.variant("given", [&] { given<<<blocks, 256>>>(dw, df, ds, dg, y, b1, b2, n); });
  c.variant("records", [&] { records<<<blocks, 256>>>(x, y, b1, b2, n); });
  return c.end();
}
