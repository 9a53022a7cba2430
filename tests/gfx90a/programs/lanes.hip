// Values between lanes: shuffles, ballots, DPP, swizzles, permutations, reductions over a wave.
#include "check.h"

__global__ void shuffles(const int* in, int* out) {
  const int lane = threadIdx.x, value = in[lane];
  out[lane] = __shfl(value, 63 - lane);
  out[lane + 64] = __shfl_up(value, 3);
  out[lane + 128] = __shfl_down(value, 5);
  out[lane + 192] = __shfl_xor(value, 21);
  out[lane + 256] = __shfl(value, 3, 8);
}

__global__ void votes(const int* in, unsigned long long* masks, int* out) {
  const int lane = threadIdx.x, value = in[lane];
  const unsigned long long mask = __ballot(value % 3 == 0);
  if (lane == 0) masks[0] = mask;
  out[lane] = __popcll(mask & ((1ull << lane) - 1));
  out[lane + 64] = __any(value == 12345) + 2 * __all(value >= 0);
  if (lane > 20 && lane % 2) {
    const unsigned long long active = __ballot(1);
    if (lane == 21) masks[1] = active;
    out[lane + 128] = __builtin_amdgcn_readfirstlane(lane);
  }
  out[lane + 192] = __builtin_amdgcn_readlane(value, 17);
}

__global__ void moves(const int* in, int* out) {
  const int lane = threadIdx.x, value = in[lane];
  out[lane] = __builtin_amdgcn_update_dpp(-1, value, 0x111, 0xF, 0xF, false);         // row_shr:1
  out[lane + 64] = __builtin_amdgcn_update_dpp(-1, value, 0x104, 0xF, 0xF, true);     // row_shl:4
  out[lane + 128] = __builtin_amdgcn_update_dpp(-1, value, 0x140, 0xF, 0xF, false);   // row_mirror
  out[lane + 192] = __builtin_amdgcn_update_dpp(-1, value, 0x1B, 0x5, 0x3, false);    // quad_perm:[3,2,1,0]
  out[lane + 256] = __builtin_amdgcn_update_dpp(-1, value, 0x142, 0xA, 0xF, false);   // row_bcast:15
  out[lane + 320] = __builtin_amdgcn_update_dpp(-1, value, 0x12F, 0xF, 0xF, false);   // row_ror:15
  out[lane + 384] = __builtin_amdgcn_ds_swizzle(value, 0x041F);                       // exclusive-or by 1
  out[lane + 448] = __builtin_amdgcn_ds_permute(4 * ((lane * 5) % 64), value);
  out[lane + 512] = __builtin_amdgcn_ds_bpermute(4 * ((lane * 3) % 64), value);
}

__global__ void reduce(const float* in, float* out) {
  float sum = in[blockIdx.x * blockDim.x + threadIdx.x];
  for (int step = 32; step; step /= 2) sum += __shfl_down(sum, step);
  if (threadIdx.x % 64 == 0) out[(blockIdx.x * blockDim.x + threadIdx.x) / 64] = sum;
}

int main() {
  Buffer<int> in(64), out(640);
  Buffer<unsigned long long> masks(2);
  for (int i = 0; i < 64; ++i) in.host[i] = 100 + i * i;
  in.upload();
  shuffles<<<1, 64>>>(in.device, out.device);
  out.download();
  const auto& v = in.host;
  for (int i = 0; i < 64; ++i) {
    expect("shfl", i, out.host[i], v[63 - i]);
    expect("shfl_up", i, out.host[i + 64], i < 3 ? v[i] : v[i - 3]);
    expect("shfl_down", i, out.host[i + 128], i + 5 < 64 ? v[i + 5] : v[i]);
    expect("shfl_xor", i, out.host[i + 192], v[i ^ 21]);
    expect("shfl of 8", i, out.host[i + 256], v[i / 8 * 8 + 3]);
  }
  votes<<<1, 64>>>(in.device, masks.device, out.device);
  out.download(), masks.download();
  unsigned long long mask = 0, odd = 0;
  for (int i = 0; i < 64; ++i) {
    expect("prefix", i, out.host[i], __builtin_popcountll(mask));
    mask |= (unsigned long long)(v[i] % 3 == 0) << i;
    odd |= (unsigned long long)(i > 20 && i % 2) << i;
    expect("any, all", i, out.host[i + 64], 2);
    if (odd >> i & 1) expect("readfirstlane", i, out.host[i + 128], 21);
    expect("readlane", i, out.host[i + 192], v[17]);
  }
  expect("ballot", 0, masks.host[0] == mask, 1);
  expect("ballot of some", 0, masks.host[1] == odd, 1);
  moves<<<1, 64>>>(in.device, out.device);
  out.download();
  for (int i = 0; i < 64; ++i) {
    const int row = i / 16 * 16, place = i % 16;
    expect("row_shr", i, out.host[i], place ? v[i - 1] : -1);
    expect("row_shl", i, out.host[i + 64], place + 4 < 16 ? v[i + 4] : 0);
    expect("row_mirror", i, out.host[i + 128], v[row + 15 - place]);
    expect("quad_perm", i, out.host[i + 192], i / 16 % 2 == 0 && place < 8 ? v[i ^ 3] : -1);
    expect("row_bcast", i, out.host[i + 256], i / 16 % 2 ? v[row - 1] : -1);
    expect("row_ror", i, out.host[i + 320], v[row + (place + 1) % 16]);
    expect("swizzle", i, out.host[i + 384], v[i ^ 1]);
    expect("permute", i * 5 % 64, out.host[448 + i * 5 % 64], v[i]);
    expect("bpermute", i, out.host[i + 512], v[i * 3 % 64]);
  }
  Buffer<float> numbers(1024), sums(16);
  for (int i = 0; i < 1024; ++i) numbers.host[i] = float(i % 97);
  numbers.upload();
  reduce<<<4, 256>>>(numbers.device, sums.device);
  sums.download();
  for (int n = 0; n < 16; ++n) {
    float sum = 0;
    for (int i = 0; i < 64; ++i) sum += numbers.host[n * 64 + i];
    expect("reduction", n, sums.host[n], sum);
  }
  return finish();
}
