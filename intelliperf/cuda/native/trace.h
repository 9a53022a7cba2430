// Device time of every kernel, copy and memset: CUPTI activity records as JSON lines.
#pragma once

namespace intelliperf {

// Writes to the file INTELLIPERF_CUDA_TRACE with the process id appended.
void start_trace();

}  // namespace intelliperf
