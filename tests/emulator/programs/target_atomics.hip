#include <hip/hip_runtime.h>
#include "target_atomics.inc"
int main() {}
