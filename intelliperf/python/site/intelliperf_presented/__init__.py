"""A GPU without a GPU, inside a Python program: Triton's driver and PyTorch's "cuda" on the emulator's runtime library.

Runs in the user's own interpreter, which has Triton and PyTorch but not this package: only the standard library is
imported here, and Triton and PyTorch once the program has done so.
"""
