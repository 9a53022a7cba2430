// Handles by which another process opens this one's device memory, as ROCr makes them.
#pragma once
#include "session.h"
#include "tables.h"

namespace intelliperf {

// Names what cannot be shared, or how ROCr refused.
Shared share_memory(const Functions& runtime, const Buffer& buffer);

}  // namespace intelliperf
