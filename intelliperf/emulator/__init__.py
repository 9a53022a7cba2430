"""The embedded SIMT emulator for HIP and CUDA programs."""
