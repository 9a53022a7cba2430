// Memory of the device and of the host: memfds, which vanish with the last process that has them. Another process
// gets at one through /proc, by the exporting process and its descriptor.
#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>
#include <string>

#include "thunk.h"

namespace gfx90a {
namespace {

constexpr uint64_t kPageBytes = 4096, kBlockBytes = 2 << 20;

struct Allocation {
  uint64_t bytes = 0;
  HSAuint32 node = 0;
  HsaMemFlags flags = {};
  HSA_POINTER_TYPE type = HSA_POINTER_ALLOCATED;
  int file = -1;
  void* user_data = nullptr;
};

std::mutex& guard() {
  static auto* const mutex = new std::mutex;  // outlives the queues' threads
  return *mutex;
}

std::map<uint64_t, Allocation>& allocations() {
  static auto* const all = new std::map<uint64_t, Allocation>;
  return *all;
}

uint64_t whole_pages(uint64_t bytes) { return (bytes + kPageBytes - 1) / kPageBytes * kPageBytes; }
uint64_t number_of(const void* address) { return reinterpret_cast<uint64_t>(address); }

std::map<uint64_t, Allocation>::iterator around(uint64_t address) {
  auto& all = allocations();
  auto found = all.upper_bound(address);
  if (found == all.begin()) return all.end();
  --found;
  return address < found->first + found->second.bytes ? found : all.end();
}

// ROCr cuts allocations from blocks of 2 MiB and takes their alignment, as the driver gives it, for granted.
void* aligned_place(uint64_t length) {
  void* const reserved =
      mmap(nullptr, length + kBlockBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) return reserved;
  const uint64_t begin = number_of(reserved), place = (begin + kBlockBytes - 1) / kBlockBytes * kBlockBytes;
  if (place != begin) munmap(reserved, place - begin);
  const uint64_t end = begin + length + kBlockBytes;
  if (end != place + length) munmap(reinterpret_cast<void*>(place + length), end - place - length);
  return reinterpret_cast<void*>(place);
}

// What crosses the processes, in the 32 bytes of a handle. ROCr keeps a fragment's place in the seventh word.
struct Ticket {
  int32_t process;
  int32_t file;
  uint64_t bytes;
  uint64_t inode;
  uint32_t of_rocr;
  uint32_t node;
};
static_assert(sizeof(Ticket) == sizeof(HsaSharedMemoryHandle), "a ticket is a handle");

bool is_the_file(int file, const Ticket& ticket) {
  struct stat status;
  return fstat(file, &status) == 0 && status.st_ino == ticket.inode && uint64_t(status.st_size) >= ticket.bytes;
}

int open_file_of(const std::string& process, const Ticket& ticket) {
  const std::string path = "/proc/" + process + "/fd/" + std::to_string(ticket.file);
  const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0 || is_the_file(file, ticket)) return file;
  close(file);
  return -1;
}

// In a process namespace of its own the exporter does not know the number that we see.
bool is_called(const std::string& process, int32_t inner_number) {
  std::ifstream status("/proc/" + process + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.compare(0, 6, "NSpid:") != 0) continue;
    std::istringstream numbers(line.substr(6));
    int32_t number = 0;
    while (numbers >> number) {
    }
    return number == inner_number;
  }
  return false;
}

int open_shared(const Ticket& ticket) {
  const int file = open_file_of(std::to_string(ticket.process), ticket);
  if (file >= 0) return file;
  DIR* const processes = opendir("/proc");
  if (!processes) return -1;
  int found = -1;
  while (const dirent* entry = readdir(processes)) {
    if (entry->d_name[0] < '0' || entry->d_name[0] > '9' || !is_called(entry->d_name, ticket.process)) continue;
    found = open_file_of(entry->d_name, ticket);
    if (found >= 0) break;
  }
  closedir(processes);
  return found;
}

HSAKMT_STATUS attach(const HsaSharedMemoryHandle* handle, void** address, HSAuint64* bytes) {
  Ticket ticket;
  std::memcpy(&ticket, handle, sizeof ticket);
  const bool by_dmabuf = ipc() == Ipc::kDmabuf;
  const int file = by_dmabuf ? import_by_dmabuf(handle) : open_shared(ticket);
  struct stat status;
  if (file < 0 || fstat(file, &status) != 0) return HSAKMT_STATUS_INVALID_HANDLE;
  if (by_dmabuf) {
    ticket.bytes = uint64_t(status.st_size);
    ticket.node = kGpuNode;
  }
  void* const mapped =
      mmap(nullptr, whole_pages(ticket.bytes), PROT_READ | PROT_WRITE | PROT_EXEC, MAP_SHARED, file, 0);
  if (mapped == MAP_FAILED) {
    close(file);
    return HSAKMT_STATUS_NO_MEMORY;
  }
  Allocation allocation;
  allocation.bytes = ticket.bytes;
  allocation.node = ticket.node;
  allocation.type = HSA_POINTER_REGISTERED_SHARED;
  allocation.file = file;
  const std::lock_guard<std::mutex> lock(guard());
  allocations()[number_of(mapped)] = allocation;
  *address = mapped;
  *bytes = ticket.bytes;
  return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS drop(void* address, HSAKMT_STATUS where_unknown) {
  forget_dmabuf(number_of(address));
  const std::lock_guard<std::mutex> lock(guard());
  const auto found = allocations().find(number_of(address));
  if (found == allocations().end()) return where_unknown;
  const Allocation& allocation = found->second;
  if (allocation.type != HSA_POINTER_REGISTERED_USER) munmap(address, whole_pages(allocation.bytes));
  if (allocation.file >= 0) close(allocation.file);
  allocations().erase(found);
  return HSAKMT_STATUS_SUCCESS;
}

}  // namespace

bool find_allocation(uint64_t address, uint64_t& begin, uint64_t& end) {
  const std::lock_guard<std::mutex> lock(guard());
  const auto found = around(address);
  if (found == allocations().end()) return false;
  begin = found->first;
  end = found->first + found->second.bytes;
  return true;
}

int file_at(uint64_t address) {
  const std::lock_guard<std::mutex> lock(guard());
  const auto found = allocations().find(address);
  return found == allocations().end() || found->second.file < 0 ? -1 : fcntl(found->second.file, F_DUPFD_CLOEXEC, 0);
}

}  // namespace gfx90a

using namespace gfx90a;

GFX90A_API hsaKmtAllocMemory(HSAuint32 node, HSAuint64 bytes, HsaMemFlags flags, void** address) {
  const uint64_t length = whole_pages(bytes);
  Allocation allocation;
  allocation.bytes = bytes;
  allocation.node = node;
  allocation.flags = flags;
  const bool aligned = !flags.ui32.FixedAddress && length >= kBlockBytes;
  void* const wanted = aligned ? aligned_place(length) : flags.ui32.FixedAddress ? *address : nullptr;
  if (wanted == MAP_FAILED) return HSAKMT_STATUS_NO_MEMORY;
  const int fixed = aligned ? MAP_FIXED : flags.ui32.FixedAddress ? MAP_FIXED_NOREPLACE : 0;
  void* mapped;
  if (flags.ui32.Scratch) {  // only its address is ever used
    mapped = mmap(wanted, length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | fixed, -1, 0);
  } else {
    allocation.file = memfd_create("gfx90a", MFD_CLOEXEC);
    if (allocation.file < 0 || ftruncate(allocation.file, off_t(length)) != 0) {
      if (allocation.file >= 0) close(allocation.file);
      return HSAKMT_STATUS_NO_MEMORY;
    }
    mapped = mmap(wanted, length, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_SHARED | fixed, allocation.file, 0);
  }
  if (mapped == MAP_FAILED) {
    if (allocation.file >= 0) close(allocation.file);
    return HSAKMT_STATUS_NO_MEMORY;
  }
  const std::lock_guard<std::mutex> lock(guard());
  allocations()[number_of(mapped)] = allocation;
  *address = mapped;
  return HSAKMT_STATUS_SUCCESS;
}

GFX90A_API hsaKmtFreeMemory(void* address, HSAuint64) { return drop(address, HSAKMT_STATUS_INVALID_PARAMETER); }

GFX90A_API hsaKmtRegisterMemoryWithFlags(void* address, HSAuint64 bytes, HsaMemFlags flags) {
  Allocation allocation;
  allocation.bytes = bytes;
  allocation.flags = flags;
  allocation.type = HSA_POINTER_REGISTERED_USER;
  const std::lock_guard<std::mutex> lock(guard());
  allocations()[number_of(address)] = allocation;
  return HSAKMT_STATUS_SUCCESS;
}

GFX90A_API hsaKmtDeregisterMemory(void* address) { return drop(address, HSAKMT_STATUS_MEMORY_NOT_REGISTERED); }

GFX90A_API hsaKmtMapMemoryToGPU(void* address, HSAuint64, HSAuint64* alternate) {
  if (alternate) *alternate = number_of(address);
  return HSAKMT_STATUS_SUCCESS;
}
GFX90A_API hsaKmtMapMemoryToGPUNodes(void* address, HSAuint64, HSAuint64* alternate, HsaMemMapFlags, HSAuint64,
                                     HSAuint32*) {
  if (alternate) *alternate = number_of(address);
  return HSAKMT_STATUS_SUCCESS;
}
GFX90A_API hsaKmtUnmapMemoryToGPU(void*) { return HSAKMT_STATUS_SUCCESS; }

GFX90A_API hsaKmtQueryPointerInfo(const void* address, HsaPointerInfo* info) {
  static const HSAuint32 nodes[] = {kGpuNode};
  *info = HsaPointerInfo{};
  info->Type = HSA_POINTER_UNKNOWN;
  const std::lock_guard<std::mutex> lock(guard());
  const auto found = around(number_of(address));
  if (found == allocations().end()) return HSAKMT_STATUS_INVALID_PARAMETER;
  const Allocation& allocation = found->second;
  info->Type = allocation.type;
  info->Node = allocation.node;
  info->MemFlags = allocation.flags;
  info->CPUAddress = reinterpret_cast<void*>(found->first);
  info->GPUAddress = found->first;
  info->SizeInBytes = allocation.bytes;
  info->UserData = allocation.user_data;
  info->NMappedNodes = info->NRegisteredNodes = 1;
  info->MappedNodes = info->RegisteredNodes = nodes;
  return HSAKMT_STATUS_SUCCESS;
}

GFX90A_API hsaKmtSetMemoryUserData(const void* address, void* user_data) {
  const std::lock_guard<std::mutex> lock(guard());
  const auto found = allocations().find(number_of(address));
  if (found == allocations().end()) return HSAKMT_STATUS_INVALID_PARAMETER;
  found->second.user_data = user_data;
  return HSAKMT_STATUS_SUCCESS;
}

GFX90A_API hsaKmtShareMemory(void* address, HSAuint64, HsaSharedMemoryHandle* handle) {
  if (ipc() == Ipc::kNone) return HSAKMT_STATUS_NOT_SUPPORTED;
  if (ipc() == Ipc::kDmabuf)
    return export_by_dmabuf(number_of(address), handle) ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_ERROR;
  const std::lock_guard<std::mutex> lock(guard());
  const auto found = allocations().find(number_of(address));
  struct stat status;
  if (found == allocations().end() || found->second.file < 0 || fstat(found->second.file, &status) != 0)
    return HSAKMT_STATUS_INVALID_PARAMETER;
  const Ticket ticket{int32_t(getpid()), found->second.file, found->second.bytes, uint64_t(status.st_ino), 0,
                      found->second.node};
  std::memcpy(handle, &ticket, sizeof ticket);
  return HSAKMT_STATUS_SUCCESS;
}

GFX90A_API hsaKmtRegisterSharedHandle(const HsaSharedMemoryHandle* handle, void** address, HSAuint64* bytes) {
  return attach(handle, address, bytes);
}
GFX90A_API hsaKmtRegisterSharedHandleToNodes(const HsaSharedMemoryHandle* handle, void** address, HSAuint64* bytes,
                                             HSAuint64, HSAuint32*) {
  return attach(handle, address, bytes);
}
GFX90A_API hsaKmtRegisterGraphicsHandleToNodes(HSAuint64, HsaGraphicsResourceInfo*, HSAuint64, HSAuint32*) {
  return HSAKMT_STATUS_NOT_SUPPORTED;
}
GFX90A_API hsaKmtSVMGetAttr(void*, HSAuint64, unsigned int, HSA_SVM_ATTRIBUTE*) { return HSAKMT_STATUS_NOT_SUPPORTED; }
GFX90A_API hsaKmtSVMSetAttr(void*, HSAuint64, unsigned int, HSA_SVM_ATTRIBUTE*) { return HSAKMT_STATUS_NOT_SUPPORTED; }
