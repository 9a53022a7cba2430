// Lets instrumented kernels record their accesses, and writes the records to a file.
#pragma once
#include "tables.h"

namespace intelliperf {

// Of the variables INTELLIPERF_RECORD_FILE (the process id is appended), INTELLIPERF_RECORD_KERNELS (comma list),
// INTELLIPERF_RECORD_BYTES (of the buffer), INTELLIPERF_RECORD_WORDS (of 8 bytes, for each wave; 0: as many as there
// is room for) and INTELLIPERF_RECORD_DISPATCHES (the first so many).
void start_recording(HsaApiTable& table, const Functions& runtime);

}  // namespace intelliperf
