// Tensor cores.
#pragma once
#error "intelliperf: tensor cores (nvcuda::wmma) are not supported by the emulator"
