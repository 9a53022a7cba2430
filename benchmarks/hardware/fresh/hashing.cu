// Look-ups in a table with open addressing: entries of 32 bytes with the key in front, or keys in an array of their own.
#include "../corpus/corpus.h"
struct Entry {
  int key, value, more[6];
};
__global__ void whole_entries(const Entry* table, const int* wanted, int* y, int mask, int n) {
  int i = INDEX;
  if (i >= n) return;
  const int key = wanted[i];
  unsigned at = noise(key) & mask;
  while (table[at].key != key && table[at].key != 0) at = (at + 1) & mask;
  y[i] = table[at].value;
}
__global__ void keys_apart(const int* keys, const int* values, const int* wanted, int* y, int mask, int n) {
  int i = INDEX;
  if (i >= n) return;
  const int key = wanted[i];
  unsigned at = noise(key) & mask;
  while (keys[at] != key && keys[at] != 0) at = (at + 1) & mask;
  y[i] = values[at];
}
int main(int argc, char** argv) {
  Corpus c(argc, argv);
  const int n = c.argument(0, 1 << 15), mask = 2 * n - 1;
  std::vector<Entry> table(2 * n);
  std::vector<int> keys(2 * n), values(2 * n);
  for (int key = 1; key <= n; ++key) {
    unsigned at = noise(key) & mask;
    while (keys[at]) at = (at + 1) & mask;
    keys[at] = table[at].key = key;
    values[at] = table[at].value = 3 * key;
  }
  const auto wanted = made<int>(n, [=](size_t i) { return 1 + noise(unsigned(i) + 77) % n; });
  const Entry* entries = c.input(table);
  const int *k = c.input(keys), *v = c.input(values), *w = c.input(wanted);
  int* y = c.output(made<int>(n, [&](size_t i) { return 3 * wanted[i]; }));
  c.variant("whole_entries", [&] { whole_entries<<<(n + 255) / 256, 256>>>(entries, w, y, mask, n); });
  c.variant("keys_apart", [&] { keys_apart<<<(n + 255) / 256, 256>>>(k, v, w, y, mask, n); });
  return c.end();
}
