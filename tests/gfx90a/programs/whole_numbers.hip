// 32- and 64-bit integers: products, quotients, remainders, shifts, bits and bytes.
#include "check.h"

constexpr int kCount = 4096, kResults = 24;

__host__ __device__ inline uint64_t mixed(uint64_t x) {
  x ^= x >> 31;
  x *= 0x7FB5D329728EA185ull;
  x ^= x >> 27;
  x *= 0x81DADEF4BC2DD44Dull;
  return x ^ x >> 33;
}

__host__ __device__ inline int leading(uint32_t x) { return x ? __builtin_clz(x) : 32; }
__host__ __device__ inline uint32_t reversed(uint32_t x) {
  uint32_t result = 0;
  for (int n = 0; n < 32; ++n) result |= (x >> n & 1) << (31 - n);
  return result;
}
__host__ __device__ inline uint32_t field(uint32_t x, uint32_t offset, uint32_t width) {
  return x >> offset & ((1u << width) - 1);
}

__host__ __device__ inline void compute(int item, uint64_t* out) {
  const uint64_t x = mixed(item), y = mixed(item + 12345) >> (item % 50) | 1;
  const int64_t a = int64_t(x), b = int64_t(y);
  const uint32_t u = uint32_t(x), v = uint32_t(y) | 1;
  const int32_t i = int32_t(u), j = int32_t(v);
  out[0] = x * y;
  out[1] = x / y;
  out[2] = x % y;
  out[3] = uint64_t(b == -1 ? a : a / b);
  out[4] = uint64_t(b == -1 ? 0 : a % b);
  out[5] = u / v;
  out[6] = u % v;
  out[7] = uint32_t(j == -1 ? i : i / j);
  out[8] = uint32_t(j == -1 ? 0 : i % j);
  out[9] = uint64_t(a >> (u & 63)) + (x << (v & 63)) + (x >> (v >> 8 & 63));
  out[10] = uint64_t(unsigned(__builtin_popcountll(x)) + unsigned(__builtin_popcount(u)) * 100u);
  out[11] = uint64_t(leading(u >> (item & 31)));
  out[12] = reversed(u);
  out[13] = field(u, v & 15, 9);
  out[14] = uint64_t((unsigned __int128)(x)*y >> 64);
  out[15] = uint64_t(int64_t(i) * j);
  out[16] = uint32_t((u & 0xFFFFFF) * (v & 0xFFFFFF)) + 77;
  out[17] = (u << 7 | u >> 25) ^ (u & ~v);
  out[18] = uint64_t(i > j ? i : j) + uint64_t(u < v ? u : v);
  out[19] = uint64_t(int8_t(u)) + uint64_t(int16_t(v)) + uint8_t(u >> 8) + uint16_t(v >> 3);
  out[20] = x + y + (x > y) + uint64_t(a < b);
  out[21] = x - y - uint64_t(x == y);
  out[22] = u / 10 + u % 1000 + uint32_t(i / 7) + x / 1000000007ull;
  out[23] = (x ^ y) + (x & y) * 3 + (x | y) * 5 + ~x;
}

__global__ void integers(uint64_t* out) {
  const int item = blockIdx.x * blockDim.x + threadIdx.x;
  compute(item, out + item * kResults);
}

__global__ void intrinsics(const uint32_t* in, uint32_t* out) {
  const int item = threadIdx.x;
  const uint32_t a = in[item], b = in[item + 64];
  out[item] = __brev(a) ^ uint32_t(__clz(int(b))) ^ uint32_t(__ffs(int(b))) << 8;
  out[item + 64] = __builtin_amdgcn_perm(a, b, 0x0D0C0206u);
  out[item + 128] = __builtin_amdgcn_sad_u8(a, b, 10u);
  out[item + 192] = __builtin_amdgcn_alignbit(a, b, 9);
  out[item + 256] = __builtin_amdgcn_ubfe(a, 3, 11) + uint32_t(__builtin_amdgcn_sbfe(int(b), 5, 6));
  out[item + 320] = uint32_t(__mul24(int(a), int(b))) + __umulhi(a, b) + uint32_t(__mulhi(int(a), int(b)));
}

uint32_t sad(uint32_t a, uint32_t b) {
  uint32_t sum = 0;
  for (int n = 0; n < 32; n += 8) sum += uint32_t(std::abs(int(a >> n & 255) - int(b >> n & 255)));
  return sum;
}

int main() {
  Buffer<uint64_t> out(kCount * kResults);
  integers<<<kCount / 128, 128>>>(out.device);
  out.download();
  for (int item = 0; item < kCount; ++item) {
    uint64_t wanted[kResults];
    compute(item, wanted);
    for (int n = 0; n < kResults; ++n) expect("integers", item * kResults + n, out.host[item * kResults + n] == wanted[n], 1);
  }
  Buffer<uint32_t> in(128), bits(384);
  for (int n = 0; n < 128; ++n) in.host[n] = n < 3 ? n * 0x7FFFFFFFu : uint32_t(mixed(n));
  in.upload();
  intrinsics<<<1, 64>>>(in.device, bits.device);
  bits.download();
  for (int n = 0; n < 64; ++n) {
    const uint32_t a = in.host[n], b = in.host[n + 64];
    expect("brev", n, bits.host[n], reversed(a) ^ uint32_t(leading(b)) ^ uint32_t(__builtin_ffs(int(b))) << 8);
    // Bytes 0 to 3 of the second operand, 4 to 7 of the first; 12 is zero, 13 all ones.
    expect("perm", n, bits.host[n + 64], 0xFF000000u | (b >> 16 & 255) << 8 | (a >> 16 & 255));
    expect("sad", n, bits.host[n + 128], sad(a, b) + 10);
    expect("alignbit", n, bits.host[n + 192], uint32_t((uint64_t(a) << 32 | b) >> 9));
    expect("bfe", n, bits.host[n + 256], field(a, 3, 11) + uint32_t(int32_t(b << 21) >> 26));
    const int32_t a24 = int32_t(a << 8) >> 8, b24 = int32_t(b << 8) >> 8;
    const uint32_t product = uint32_t(int64_t(a24) * b24), high = uint32_t(uint64_t(a) * b >> 32);
    expect("mul24", n, bits.host[n + 320], uint32_t(product + high + uint32_t(int64_t(int32_t(a)) * int32_t(b) >> 32)));
  }
  return finish();
}
