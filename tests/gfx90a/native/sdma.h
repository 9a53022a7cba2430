// The copy engines' packets (SDMA 4, as the Linux kernel's vega10_sdma_pkt_open.h describes them).
#pragma once
#include <atomic>
#include <cstdint>

namespace gfx90a {

// Answers the packet's length in bytes. Raises `Stop` at one that it does not know.
uint32_t run_copy_packet(const uint32_t* packet, const std::atomic<bool>& abandoned);

}  // namespace gfx90a
