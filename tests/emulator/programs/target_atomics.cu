#include <cuda_runtime.h>
#include "target_atomics.inc"
int main() {}
