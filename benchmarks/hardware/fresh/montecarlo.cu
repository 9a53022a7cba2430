// Points thrown at a quarter of a circle: an atomic per hit, per thread, per block; a generator with a remainder.
#include "../corpus/corpus.h"
__host__ __device__ unsigned step(unsigned state) { return state * 1664525u + 1013904223u; }
__host__ __device__ int hit(unsigned& state) {
  state = step(state);
  const float x = (state >> 8) * (1.0f / (1 << 24));
  state = step(state);
  const float y = (state >> 8) * (1.0f / (1 << 24));
  return x * x + y * y < 0.98f;
}
__global__ void atomic_per_hit(int* hits, int throws) {
  unsigned state = noise(INDEX);
  for (int k = 0; k < throws; ++k)
    if (hit(state)) atomicAdd(hits, 1);
}
__global__ void atomic_per_thread(int* hits, int throws) {
  unsigned state = noise(INDEX);
  int own = 0;
  for (int k = 0; k < throws; ++k) own += hit(state);
  atomicAdd(hits, own);
}
__global__ void atomic_per_block(int* hits, int throws) {
  unsigned state = noise(INDEX);
  int own = 0;
  for (int k = 0; k < throws; ++k) own += hit(state);
  const float all = block_sum(float(own));
  if (threadIdx.x == 0) atomicAdd(hits, int(all));
}
int main(int argc, char** argv) {
  Corpus c(argc, argv);
  const int n = c.argument(0, 1 << 14), throws = c.argument(1, 64);
  int expected = 0;
  for (int i = 0; i < n; ++i) {
    unsigned state = noise(i);
    for (int k = 0; k < throws; ++k) expected += hit(state);
  }
  int* hits = c.output(std::vector<int>{expected}, 1e-5);
  c.variant("atomic_per_hit", [&] { atomic_per_hit<<<n / 256, 256>>>(hits, throws); });
  c.variant("atomic_per_thread", [&] { atomic_per_thread<<<n / 256, 256>>>(hits, throws); });
  c.variant("atomic_per_block", [&] { atomic_per_block<<<n / 256, 256>>>(hits, throws); });
  return c.end();
}
