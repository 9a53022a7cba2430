// expect: nothing
#include "../zoo.h"
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void sum(const int* in, int* out) {
  __shared__ int s[64];
  auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  const int t = threadIdx.x;
  if (t / 8 % 2) {
    for (int k = 0; k < 3; ++k) {
      s[t] = in[t] + k;
      tile.sync();
      const int v = s[t ^ 3];
      tile.sync();
      s[t] = v;
    }
  } else {
    s[t] = in[t];
    tile.sync();
    out[64 + t] = s[t ^ 1];
  }
  tile.sync();
  out[t] = s[t];
}
int main() { int* out = device<int>(128); sum<<<1, 64>>>(ascending<int>(64), out); return finish(out, 128); }
