// Counts the kinds of bytes of a file: letters, digits, white space, lines. ./app [file] (without one its own text)
#include "zoo.h"

enum { LETTERS, DIGITS, SPACES, LINES, OTHERS, KINDS };

__global__ void tally(const unsigned char* text, unsigned long long* found, int n) {
  __shared__ unsigned int mine[KINDS];
  if (threadIdx.x < KINDS) mine[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const unsigned char c = text[i];
    int kind = OTHERS;
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) kind = LETTERS;
    else if (c >= '0' && c <= '9') kind = DIGITS;
    else if (c == ' ' || c == '\t') kind = SPACES;
    else if (c == '\n') kind = LINES;
    atomicAdd(&mine[kind], 1u);
  }
  __syncthreads();
  if (threadIdx.x < KINDS) atomicAdd(&found[threadIdx.x], (unsigned long long)mine[threadIdx.x]);
}

int main(int argc, char** argv) {
  std::vector<unsigned char> text;
  const char* name = zoo::word(argc, argv, 1, "");
  if (FILE* file = *name ? fopen(name, "rb") : nullptr) {
    for (int c; (c = fgetc(file)) != EOF;) text.push_back((unsigned char)c);
    fclose(file);
  } else {
    const char line[] = "The quick brown fox, number 42, jumps over\tthe lazy dog.\n";
    for (int i = 0; i < 200; ++i) text.insert(text.end(), line, line + sizeof(line) - 1);
  }
  const int n = int(text.size());
  unsigned long long* found = zoo::device<unsigned long long>(KINDS);
  const unsigned char* dt = zoo::device(text);
  tally<<<8, 128>>>(dt, found, n);
  std::vector<unsigned long long> expected(KINDS);
  for (unsigned char c : text) {
    const bool letter = (c | 32) >= 'a' && (c | 32) <= 'z';
    ++expected[letter ? LETTERS : c >= '0' && c <= '9' ? DIGITS : c == ' ' || c == '\t' ? SPACES : c == '\n' ? LINES : OTHERS];
  }
  zoo::same("kinds", zoo::host(found, KINDS), expected);
  printf("%d bytes\n", n);
  return zoo::failed;
}
