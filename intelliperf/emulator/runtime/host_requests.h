// What a kernel asks of the host while it runs: to print. See host_requests.cpp.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace simt {

// The buffer that kernels get as `hidden_hostcall_buffer`, with all that it leads to; made on first use.
uint64_t host_request_buffer();
bool of_host_requests(uint64_t address, uint64_t& begin, uint64_t& end);
void answer_host_requests();

// The words of one message of a printf: the format and its arguments, each padded to eight bytes.
std::string printed(const std::vector<uint64_t>& words);

}  // namespace simt
