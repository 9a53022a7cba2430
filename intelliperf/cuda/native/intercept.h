// Tells the validating process about each dispatch and transfer, and waits after the kernels that it names.
#pragma once

namespace intelliperf {

// Of the variables INTELLIPERF_EXPORT_SOCKET, INTELLIPERF_EXPORT_KERNEL (comma list or "*"), INTELLIPERF_POISON (a byte
// that fresh memory is filled with) and INTELLIPERF_OTHER_NUMBERS (see alterations.h).
void start_intercept();

}  // namespace intelliperf
