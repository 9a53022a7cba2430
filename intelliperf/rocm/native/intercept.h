// Tells the validating process about each dispatch, and waits after the kernels that it names.
#pragma once
#include "tables.h"

namespace intelliperf {

// Puts our functions into the runtime's tables. Of the variables INTELLIPERF_EXPORT_SOCKET,
// INTELLIPERF_EXPORT_KERNEL (comma list or "*"), INTELLIPERF_POISON (a byte that fresh device memory is filled with) and
// INTELLIPERF_ROUNDING ("up" or "down": how all kernels round floating-point arithmetic). `way`: who passed the tables.
void start_intercept(HsaApiTable& table, const Functions& runtime, const char* way);
void end_intercept();

}  // namespace intelliperf
