#include <cuda_runtime.h>
#include "target_accesses.inc"
int main() {}
