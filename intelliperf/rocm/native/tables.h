// The runtime's own functions, taken from its tables after their layout was found to be a known one.
#pragma once
#include <hsa.h>
#include <hsa_api_trace.h>
#include <hsa_ext_amd.h>

#include <string>

namespace intelliperf {

struct Functions {
  CoreApiTable core{};
  AmdExtTable amd{};
};

// Copies as much of the tables as both sides know. In words why they cannot be used, empty if they can.
std::string take_functions(const HsaApiTable& table, Functions& functions);

}  // namespace intelliperf
