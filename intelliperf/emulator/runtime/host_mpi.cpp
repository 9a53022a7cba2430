// What MPI libraries answer for the GPU: found here before the library's own function where the program links both.
// Memory of the device is memory of the process, so every MPI can be given its pointers.

#define SIMT_EXPORT __attribute__((visibility("default")))

extern "C" {

SIMT_EXPORT int MPIX_Query_cuda_support(void) { return 1; }  // Open MPI, MPICH
SIMT_EXPORT int MPIX_Query_rocm_support(void) { return 1; }  // Open MPI
SIMT_EXPORT int MPIX_Query_hip_support(void) { return 1; }   // MPICH
}
