// Atomics on global memory: every operation, with and without its former value, compare-and-swap loops, floats.
#include "check.h"

constexpr int kThreads = 256, kGroups = 4, kAll = kThreads * kGroups;

__global__ void plain(int* i, unsigned* u, unsigned long long* w, float* f, double* d) {
  const int item = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(i, item);
  atomicSub(i + 1, item);
  atomicMin(i + 2, 500 - item);
  atomicMax(i + 3, item - 500);
  atomicAnd(u, ~(1u << (item % 20)));
  atomicOr(u + 1, 1u << (item % 31));
  atomicXor(u + 2, unsigned(item) * 77u);
  __builtin_amdgcn_atomic_inc32(u + 3, 99u, __ATOMIC_RELAXED, "agent");
  __builtin_amdgcn_atomic_dec32(u + 4, 50u, __ATOMIC_RELAXED, "agent");
  atomicMin(u + 5, 7u + unsigned(item));
  atomicMax(u + 6, 3000000000u + unsigned(item));
  atomicAdd(w, (unsigned long long)item << 33);
  atomicMax(w + 1, (unsigned long long)item << 40);
  atomicOr(w + 2, 1ull << (item % 64));
  atomicAdd(f, 0.5f);
  atomicAdd(d, 0.25 * item);
  unsafeAtomicAdd(d + 1, 1.0);
}

__global__ void returning(int* counter, int* seen, unsigned long long* wide, int* swapped) {
  const int item = blockIdx.x * blockDim.x + threadIdx.x;
  seen[atomicAdd(counter, 1)] = 1;
  seen[kAll + int(atomicAdd(wide, 3ull) / 3)] = 1;
  atomicAdd(counter + 1, atomicExch(swapped, item));
}

__global__ void loops(unsigned* product, float* least, unsigned long long* wide) {
  const int item = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned old = *product, assumed;
  do {
    assumed = old;
    old = atomicCAS(product, assumed, assumed * 3u + 1u);
  } while (old != assumed);
  atomicMin(least, float(item % 77) - 30.5f);
  unsigned long long seen = *wide, guess;
  do {
    guess = seen;
    seen = atomicCAS(wide, guess, guess + (1ull << 34));
  } while (seen != guess);
}

int main() {
  Buffer<int> i(4), counter(2), seen(2 * kAll), swapped(1);
  Buffer<unsigned> u(7), product(1);
  Buffer<unsigned long long> w(3), wide(2);
  Buffer<float> f(1), least(1);
  Buffer<double> d(2);
  u.host = {0xFFFFFFFF, 0, 0, 0, 0, 0xFFFFFFFF, 0};
  u.upload();
  plain<<<kGroups, kThreads>>>(i.device, u.device, w.device, f.device, d.device);
  i.download(), u.download(), w.download(), f.download(), d.download();
  const int sum = kAll * (kAll - 1) / 2;
  unsigned exclusive = 0, counted = 0, down = 0;
  for (unsigned n = 0; n < kAll; ++n) {
    exclusive ^= n * 77u;
    counted = counted >= 99 ? 0 : counted + 1;
    down = down == 0 || down > 50 ? 50 : down - 1;
  }
  expect("add", 0, i.host[0], sum);
  expect("sub", 0, i.host[1], -sum);
  expect("min", 0, i.host[2], 500 - (kAll - 1));
  expect("max", 0, i.host[3], kAll - 1 - 500);
  expect("and", 0, u.host[0], 0xFFF00000u);
  expect("or", 0, u.host[1], 0x7FFFFFFFu);
  expect("xor", 0, u.host[2], exclusive);
  expect("inc", 0, u.host[3], counted);
  expect("dec", 0, u.host[4], down);
  expect("umin", 0, u.host[5], 7);
  expect("umax", 0, u.host[6], 3000000000u + kAll - 1);
  expect("add 64", 0, w.host[0] == (unsigned long long)sum << 33, 1);
  expect("max 64", 0, w.host[1] == (unsigned long long)(kAll - 1) << 40, 1);
  expect("or 64", 0, w.host[2] == ~0ull, 1);
  expect("float", 0, f.host[0], 0.5 * kAll);
  expect("double", 0, d.host[0], 0.25 * sum);
  expect("unsafe double", 0, d.host[1], kAll);

  returning<<<kGroups, kThreads>>>(counter.device, seen.device, wide.device, swapped.device);
  product.host[0] = 1;
  least.host[0] = 1e30f;
  product.upload(), least.upload();
  loops<<<kGroups, kThreads>>>(product.device, least.device, wide.device + 1);
  counter.download(), seen.download(), wide.download(), swapped.download(), product.download(), least.download();
  for (int n = 0; n < 2 * kAll; ++n) expect("returned", n, seen.host[n], 1);
  expect("counter", 0, counter.host[0], kAll);
  expect("exchanged", 0, counter.host[1] + swapped.host[0], sum);
  unsigned wanted = 1;
  for (int n = 0; n < kAll; ++n) wanted = wanted * 3u + 1u;
  expect("loop", 0, product.host[0], wanted);
  expect("least", 0, least.host[0], -30.5);
  expect("loop 64", 0, wide.host[1] == (unsigned long long)kAll << 34, 1);
  return finish();
}
