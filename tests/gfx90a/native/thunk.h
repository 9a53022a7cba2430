// The parts of the stand-in for libhsakmt, the library below ROCr, that know of each other.
#pragma once
#include <hsakmt.h>

#include <cstdint>

#define GFX90A_API extern "C" __attribute__((visibility("default"))) HSAKMT_STATUS HSAKMTAPI

namespace gfx90a {

constexpr HSAuint32 kCpuNode = 0, kGpuNode = 1, kNodes = 2;

// The allocation around an address, if the device may use it.
bool find_allocation(uint64_t address, uint64_t& begin, uint64_t& end);

// As the ROCr at hand lays it out.
void store_node(const HsaNodeProperties& node, void* where);

void signal_event(uint32_t event);  // as an interrupt would
void answer_interrupt();             // signals the events whose mailboxes a wave has written to
bool find_mailboxes(uint64_t address, uint64_t& begin, uint64_t& end);
uint64_t host_ns();

}  // namespace gfx90a
