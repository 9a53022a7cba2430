/* CUDA's types in C: tags, alignment, makers, complex numbers and cuBLAS's header. */
#include <cublas_v2.h>
#include <cuda_runtime.h>

int main(void) {
  struct float4 four = make_float4(1, 2, 3, 4);
  dim3 shape = {8, 4, 1};
  uchar2 bytes = make_uchar2(1, 2);
  cuFloatComplex z = cuCmulf(make_cuFloatComplex(0, 1), make_cuFloatComplex(0, 1));
  __half raw = {0x3c00};
  return !(sizeof(struct float3) == 12 && _Alignof(float4) == 16 && _Alignof(double4) == 16 && _Alignof(short2) == 4 &&
           four.w == 4 && shape.x == 8 && bytes.y == 2 && cuCrealf(z) == -1 && raw.x == 0x3c00);
}
