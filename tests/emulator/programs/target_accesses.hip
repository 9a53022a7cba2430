#include <hip/hip_runtime.h>
#include "target_accesses.inc"
int main() {}
