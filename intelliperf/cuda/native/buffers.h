// Contents of the application's buffers, to and from host memory, and handles by which others open them.
#pragma once
#include "allocations.h"

namespace intelliperf {

bool read_buffer(void* to, const Buffer& from);
bool write_buffer(const Buffer& to, const void* from);
Shared share_buffer(const Buffer& buffer);

}  // namespace intelliperf
