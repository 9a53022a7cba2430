// What a just-in-time compiler knows and its code object does not: the types of a kernel's arguments. It also marks
// launches that only find out how long a kernel takes.
#pragma once
#include <cstdint>
#include <string>

#include "json.h"

namespace simt {

// Of the image that is loaded next: an argument's name, type, element and number, as a container's metadata has them;
// null where nothing was said of it.
const JsonValue& described_parameter(const std::string& kernel, uint64_t index);
// Likewise of a whole kernel: what may become of its numbers, the sizes of its tiles.
const JsonValue& described_kernel(const std::string& kernel);
// The description has been used, or its image was refused.
void forget_description();

// Whether launches are tried for their time: they are neither recorded nor shown to a parent process.
bool trying();

}  // namespace simt
