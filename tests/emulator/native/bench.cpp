// Speed of the runtime: nanoseconds per thread, per barrier and per traced access. Prints one line each.
#include <ctime>

#include "device_test.h"

using namespace device_test;

static TestModule module;
static uint32_t load_a, load_b, store_c, lds_store, lds_load, barrier, out_store, k_load_a, k_load_b;

static double now() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return double(t.tv_sec) * 1e9 + double(t.tv_nsec);
}

template <bool kTrace>
static void add(void** arguments) {
  auto* a = *static_cast<float**>(arguments[0]);
  auto* b = *static_cast<float**>(arguments[1]);
  auto* c = *static_cast<float**>(arguments[2]);
  const uint32_t i = global_x();
  if (kTrace) __simt_access(a + i, load_a);
  const float left = a[i];
  if (kTrace) __simt_access(b + i, load_b);
  const float right = b[i];
  if (kTrace) __simt_access(c + i, store_c);
  c[i] = left + right;
}

template <bool kTrace>
static void barriers(void** arguments) {
  auto* c = *static_cast<float**>(arguments[2]);
  float* tile = reinterpret_cast<float*>(shared);
  float value = 0;
  for (int round = 0; round < 16; ++round) {
    if (kTrace) __simt_access(tile + x(), lds_store);
    tile[x()] = value + 1;
    __simt_at(barrier);
    __simt_barrier();
    const uint32_t other = (x() + 64) % 256;
    if (kTrace) __simt_access(tile + other, lds_load);
    value = tile[other];
    __simt_at(barrier);
    __simt_barrier();
  }
  if (kTrace) __simt_access(c + global_x(), out_store);
  c[global_x()] = value;
}

template <bool kTrace>
static void product(void** arguments) {  // naive matrix product, 128 columns
  auto* a = *static_cast<float**>(arguments[0]);
  auto* b = *static_cast<float**>(arguments[1]);
  auto* c = *static_cast<float**>(arguments[2]);
  const uint32_t row = global_x() / 128, column = global_x() % 128;
  float sum = 0;
  for (uint32_t k = 0; k < 128; ++k) {
    if (kTrace) __simt_access(a + row * 128 + k, k_load_a);
    const float left = a[row * 128 + k];
    if (kTrace) __simt_access(b + k * 128 + column, k_load_b);
    sum += left * b[k * 128 + column];
  }
  if (kTrace) __simt_access(c + global_x(), out_store);
  c[global_x()] = sum;
}

int main() {
  load_a = module.site(SiteKind::kLoad, 4), load_b = module.site(SiteKind::kLoad, 4);
  store_c = module.site(SiteKind::kStore, 4), lds_store = module.site(SiteKind::kStore, 4);
  barrier = module.site(SiteKind::kBarrier, 0), lds_load = module.site(SiteKind::kLoad, 4);
  k_load_a = module.site(SiteKind::kLoad, 4), k_load_b = module.site(SiteKind::kLoad, 4);
  out_store = module.site(SiteKind::kStore, 4);
  module.load(1024);
  const uint32_t n = 1 << 20;
  float* a = device_array<float>(n, 1);
  float* b = device_array<float>(n, 1);
  float* c = device_array<float>(n, 1);
  void* arguments[] = {&a, &b, &c};
  const char* only = getenv("ONLY");
  const auto time = [&](const char* what, KernelEntry fast, KernelEntry trace, uint32_t blocks, double per) {
    if (only && !strstr(what, only)) return;
    Kernel* kernel = module.kernel(what, fast, trace);
    run(kernel, blocks, 256, arguments);
    const double begun = now();
    run(kernel, blocks, 256, arguments);
    std::printf("%s %.2f ns\n", what, (now() - begun) / (per * blocks * 256));
  };
  setvbuf(stdout, nullptr, _IONBF, 0);
  time("fast.thread", add<false>, nullptr, n / 256, 1);
  time("fast.barrier", barriers<false>, nullptr, 256, 32);
  time("fast.product.iteration", product<false>, nullptr, 64, 128);
  time("trace.streaming", add<true>, add<true>, n / 256 / 4, 3);
  time("trace.product", product<true>, product<true>, 16, 257);
  time("trace.lds", barriers<true>, barriers<true>, 64, 33);
  return 0;
}
