// The parts of the stand-in for libhsakmt, the library below ROCr, that know of each other.
#pragma once
#include <hsakmt.h>

#include <cstdint>

#define GFX90A_API extern "C" __attribute__((visibility("default"))) HSAKMT_STATUS HSAKMTAPI

namespace gfx90a {

constexpr HSAuint32 kCpuNode = 0, kGpuNode = 1;  // the first of them

// The allocation around an address, if the device may use it.
bool find_allocation(uint64_t address, uint64_t& begin, uint64_t& end);

// A file of its own with the memory of the allocation that begins there; -1 where it has none.
int file_at(uint64_t address);

// How memory is shared: by the driver's handles, by dmabuf, or not at all; see thunk_dmabuf.cpp.
enum class Ipc { kDriver, kDmabuf, kNone };
Ipc ipc();
bool export_by_dmabuf(uint64_t address, HsaSharedMemoryHandle* handle);
void forget_dmabuf(uint64_t address);
int import_by_dmabuf(const HsaSharedMemoryHandle* handle);  // the file; -1 where the process does not listen

// As the ROCr at hand lays it out.
void store_node(const HsaNodeProperties& node, void* where);

void signal_event(uint32_t event);  // as an interrupt would
void answer_interrupt();            // signals the events whose mailboxes a wave has written to
bool find_mailboxes(uint64_t address, uint64_t& begin, uint64_t& end);
uint64_t host_ns();

}  // namespace gfx90a
