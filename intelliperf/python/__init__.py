"""Python programs with Triton kernels: what runs one unmodified, on a machine without a GPU."""
