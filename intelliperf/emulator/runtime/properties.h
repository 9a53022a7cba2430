// The device file of the target that the registered modules were built for.
#pragma once
#include "device_file.h"

namespace simt {

// device(), after the modules have offered the copy of the device file that they carry.
const Device& target_device();

}  // namespace simt
