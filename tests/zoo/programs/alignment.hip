// Local alignment: the best score of each pair of sequences, and where it ends. ./app [pairs] [longest] [kind] [mismatch]
#include <algorithm>
#include "zoo.h"

__global__ void align(const char* query, const int* queries, const char* target, const int* targets, int* score,
                      unsigned* ends, int longest, int match, int mismatch, int gap) {
  extern __shared__ int diagonals[];
  __shared__ unsigned long long best;
  const int pair = blockIdx.x;
  const char* q = query + queries[pair];
  const char* t = target + targets[pair];
  const int m = queries[pair + 1] - queries[pair], n = targets[pair + 1] - targets[pair];
  int* before = diagonals;
  int* last = before + longest + 1;
  int* now = last + longest + 1;
  for (int i = threadIdx.x; i <= m; i += blockDim.x) before[i] = last[i] = now[i] = 0;
  if (threadIdx.x == 0) best = 0;
  __syncthreads();
  for (int d = 2; d <= m + n; ++d) {
    const int low = max(1, d - n), high = min(m, d - 1);
    for (int i = low + threadIdx.x; i <= high; i += blockDim.x) {
      const int j = d - i;
      const int met = before[i - 1] + (q[i - 1] == t[j - 1] ? match : mismatch);
      const int gapped = max(last[i - 1], last[i]) + gap;
      const int h = max(0, max(met, gapped));
      now[i] = h;
      if (h > 0) atomicMax(&best, (unsigned long long)h << 32 | (unsigned)(i * 65536 + j));
    }
    __syncthreads();
    int* spare = before;
    before = last;
    last = now;
    now = spare;
  }
  if (threadIdx.x == 0) {
    score[pair] = int(best >> 32);
    ends[pair] = unsigned(best);
  }
}

int main(int argc, char** argv) {
  const int pairs = zoo::number(argc, argv, 1, 12), longest = zoo::number(argc, argv, 2, 60);
  const char* kind = zoo::word(argc, argv, 3, "plain");
  const int match = 3, mismatch = -zoo::number(argc, argv, 4, 2), gap = -4;
  std::vector<int> queries(1, 0), targets(1, 0);
  for (int p = 0; p < pairs; ++p) {
    queries.push_back(queries.back() + longest - p % 7);
    targets.push_back(targets.back() + longest + 20 - (5 * p) % 11);
  }
  const std::vector<int> a = zoo::ints(queries.back(), 4, kind, 3), b = zoo::ints(targets.back(), 4, kind, 8);
  std::vector<char> q(a.size()), t(b.size());
  for (size_t i = 0; i < a.size(); ++i) q[i] = "ACGT"[a[i]];
  for (size_t i = 0; i < b.size(); ++i) t[i] = "ACGT"[b[i]];
  for (size_t i = 0; i < t.size(); ++i) {
    const bool third = !strcmp(kind, "islands");
    if (third && i < q.size()) q[i] = "ACG"[i % longest * 3 / longest];
    if (third) t[i] = "ATG"[i % longest * 3 / longest];
    if (!strcmp(kind, "unknown") && i % 9 == 4) t[i] = 'N';
  }
  int* score = zoo::device<int>(pairs);
  unsigned* ends = zoo::device<unsigned>(pairs);
  align<<<pairs, 64, 3 * (longest + 1) * sizeof(int)>>>(zoo::device(q), zoo::device(queries), zoo::device(t),
                                                        zoo::device(targets), score, ends, longest, match, mismatch,
                                                        gap);
  std::vector<int> expected(pairs);
  std::vector<unsigned> expected_ends(pairs);
  for (int p = 0; p < pairs; ++p) {
    const int m = queries[p + 1] - queries[p], n = targets[p + 1] - targets[p];
    std::vector<int> row(n + 1, 0);
    unsigned long long best = 0;
    for (int i = 1; i <= m; ++i) {
      int diagonal = 0;
      for (int j = 1; j <= n; ++j) {
        const int met = diagonal + (q[queries[p] + i - 1] == t[targets[p] + j - 1] ? match : mismatch);
        diagonal = row[j];
        row[j] = std::max(0, std::max(met, std::max(row[j], row[j - 1]) + gap));
        if (row[j] > 0) best = std::max(best, (unsigned long long)row[j] << 32 | unsigned(i * 65536 + j));
      }
    }
    expected[p] = int(best >> 32);
    expected_ends[p] = unsigned(best);
  }
  zoo::same("score", zoo::host(score, pairs), expected);
  zoo::same("ends", zoo::host(ends, pairs), expected_ends);
  return zoo::failed;
}
