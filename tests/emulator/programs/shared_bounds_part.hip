// The part of shared_bounds.hip that is compiled apart: its array has 60 elements.
#include "shared_bounds.h"

__device__ int reverse_in_block(int value, int count) {
  __shared__ int line[60];
  line[value] = value;
  __syncthreads();
  return line[count - 1 - value];
}
