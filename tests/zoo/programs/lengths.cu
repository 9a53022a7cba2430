// Run-length encoding: heads of runs are ranked in blocks, ranks are carried over, keys and lengths written.
// ./app [count] [range] [longest] [step]
#include "zoo.h"

constexpr int kBlock = 256;

__global__ void rank_heads(const int* values, int count, int* ranks, int* totals) {
  __shared__ int part[kBlock];
  const int i = blockIdx.x * kBlock + threadIdx.x;
  const int head = i < count && (i == 0 || values[i] != values[i - 1]);
  part[threadIdx.x] = head;
  __syncthreads();
  for (int step = 1; step < kBlock; step *= 2) {
    const int add = threadIdx.x >= step ? part[threadIdx.x - step] : 0;
    __syncthreads();
    part[threadIdx.x] += add;
    __syncthreads();
  }
  if (i < count) ranks[i] = part[threadIdx.x];
  if (threadIdx.x == kBlock - 1) totals[blockIdx.x] = part[threadIdx.x];
}

__global__ void carry(int* totals, int blocks, int* runs) {
  if (threadIdx.x > 0) return;
  int sum = 0;
  for (int b = 0; b < blocks; ++b) {
    const int total = totals[b];
    totals[b] = sum;
    sum += total;
  }
  *runs = sum;
}

__global__ void emit(const int* values, int count, const int* ranks, const int* totals, int* keys, int* starts) {
  const int i = blockIdx.x * kBlock + threadIdx.x;
  if (i >= count || (i > 0 && values[i] == values[i - 1])) return;
  const int at = totals[blockIdx.x] + ranks[i] - 1;
  keys[at] = values[i];
  starts[at] = i;
}

__global__ void measure(const int* starts, const int* runs, int count, int* lengths) {
  const int r = blockIdx.x * kBlock + threadIdx.x, n = *runs;
  if (r >= n) return;
  lengths[r] = (r + 1 < n ? starts[r + 1] : count) - starts[r];
}

int main(int argc, char** argv) {
  const int count = zoo::number(argc, argv, 1, 5000), range = zoo::number(argc, argv, 2, 128);
  const int longest = zoo::number(argc, argv, 3, 30), step = zoo::number(argc, argv, 4, 1);
  const std::vector<int> drawn = zoo::ints(count, range), turns = zoo::ints(count, 8, "plain", 2);
  std::vector<int> values(count), expected, lengths;
  for (int i = 0; i < count; ++i) {
    const bool same = i > 0 && (turns[i] > 0 || i < longest) && (lengths.back() < longest);
    values[i] = same ? values[i - 1] : drawn[i] * step;
    if (i == 0 || values[i] != values[i - 1]) expected.push_back(values[i]), lengths.push_back(0);
    ++lengths.back();
  }
  const int blocks = (count + kBlock - 1) / kBlock;
  const int* in = zoo::device(values);
  int *ranks = zoo::device<int>(count), *totals = zoo::device<int>(blocks), *runs = zoo::device<int>(1);
  int *keys = zoo::device<int>(count), *starts = zoo::device<int>(count), *found = zoo::device<int>(count);
  rank_heads<<<blocks, kBlock>>>(in, count, ranks, totals);
  carry<<<1, 32>>>(totals, blocks, runs);
  emit<<<blocks, kBlock>>>(in, count, ranks, totals, keys, starts);
  measure<<<blocks, kBlock>>>(starts, runs, count, found);
  zoo::same("runs", zoo::host(runs, 1), {int(expected.size())});
  zoo::same("keys", zoo::host(keys, expected.size()), expected);
  zoo::same("lengths", zoo::host(found, lengths.size()), lengths);
  return zoo::failed;
}
