// The conversation with the validating process: what a dispatch saw, in messages, and the waiting.
#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "allocations.h"
#include "arena.h"
#include "signature.h"

namespace intelliperf {

struct Argument {
  std::vector<unsigned char> value;
  bool pointer = false;  // known to be one, whatever the kernel's name tells
};

// What the conversation needs of one vendor's runtime.
struct Vendor {
  const char* backend;
  std::string (*device_name)();
  unsigned (*wave_size)();
  bool (*copy)(void* to, const Buffer& from);       // of a whole buffer to host memory
  Shared (*share)(const Buffer& buffer) = nullptr;  // where there are handles for other processes
  const char* way = "";  // how this library came to see the runtime's calls, where there is more than one
};

struct Launch {
  std::string kernel;  // mangled
  unsigned grid[3] = {1, 1, 1};
  unsigned block[3] = {1, 1, 1};
  uint64_t dynamic_lds = 0;
  bool known_arguments = false;  // false where the driver does not tell the layout
  std::vector<Argument> arguments;
  bool cooperative = false;
  const char* unrepeatable = "";  // why a replay could not make this launch
  int altered = -1;  // buffers and arguments that hold other numbers than the application's; -1: nobody asked for that
};

class Session {
 public:
  // Of INTELLIPERF_EXPORT_KERNEL (comma list of mangled names, or "*") and INTELLIPERF_EXPORT_MEMORY: "ipc" lets the
  // other process open buffers by handles; without it, and where there is no handle, they are copied for it.
  void open(const char* socket, const Vendor& vendor);
  Allocations& allocations() { return allocations_; }
  bool is_target(const std::string& kernel) const;
  uint64_t told(const std::string& kernel) const;  // dispatches of it so far
  // Whether the other process wants to look at memory before the targets' launches, too (INTELLIPERF_EXPORT_BEFORE).
  bool looks_before() const { return before_; }
  // Sends what a target is about to be launched with, and waits.
  void begins(const Launch& launch);
  // Sends the dispatch; a target's with all it can reach, and then waits.
  void dispatch(const Launch& launch, int status, bool target);
  void transfer(const char* operation, uint64_t bytes);
  void cannot_compare(const char* what) { uncovered_.insert(what); }  // told at the end
  bool all_comparable() const { return uncovered_.empty(); }          // as far as is known
  void end();

 private:
  void greet();
  std::string message(const Launch& launch, int status, bool target, bool before = false);
  bool stage(Buffer& buffer);
  bool show(Buffer& buffer);                               // by handle or as a copy
  void answer();                                           // until the other process says to continue
  std::set<uint64_t> reached(const Launch& launch) const;  // ids of the allocations that an argument leads into

  Vendor vendor_{};
  int socket_ = -1;
  bool greeted_ = false;
  bool ended_ = false;
  bool by_handle_ = false;
  int owner_ = 0;
  bool all_kernels_ = false;
  bool before_ = false;
  std::vector<std::string> targets_;
  std::map<std::string, uint64_t> seen_;
  std::set<std::string> uncovered_;
  uint64_t dispatches_ = 0;
  Allocations allocations_;
  Arena arena_;
};

}  // namespace intelliperf
