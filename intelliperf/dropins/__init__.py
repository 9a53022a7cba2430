"""What stands in for hipcc, nvcc and clang++ in a build: their command lines, our headers, and the compiler behind."""
