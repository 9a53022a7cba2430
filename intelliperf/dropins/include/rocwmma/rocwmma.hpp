// Matrix cores.
#pragma once
#error "intelliperf: matrix cores (rocwmma, MFMA, WMMA) are not supported by the emulator"
