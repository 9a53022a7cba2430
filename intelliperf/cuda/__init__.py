"""Real NVIDIA hardware: CUPTI for time and interception, Nsight Compute for counters, CUDA IPC for buffers."""
