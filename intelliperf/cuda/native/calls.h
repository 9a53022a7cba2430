// What a driver API function does, as far as interception cares, whatever variant of it is called.
#pragma once
#include <string>

namespace intelliperf {

enum class Call {
  kOther,
  kAllocate,  // cuMemAlloc
  kAllocatePitch,
  kAllocateManaged,
  kAllocateAsync,  // from a pool
  kAllocateHost,   // pinned
  kHostAllocate,   // pinned, with flags
  kMap,            // addresses become usable: cuMemSetAccess
  kFree,
  kFreeAsync,
  kFreeHost,
  kLaunch,
  kLaunchEx,
  kLaunchCooperative,
  kGraphLaunch,
  kGraphInstantiate,
  kGraphChanged,  // an executable one, whose handle comes first
  kCopy,          // of a number of bytes: destination, source, count
  kCopy2d,
  kCopy3d,
  kFill,  // destination, value, count
  kFill2d,
  kUncovered,  // what is not compared: `operation` says it
};

struct CallFacts {
  Call call = Call::kOther;
  const char* operation = nullptr;  // of a copy whose direction its name tells
  unsigned element_bytes = 0;       // of a fill
  bool asynchronous = false;        // takes a stream
  bool per_thread = false;          // stream 0 is the thread's own
};

CallFacts facts_of(std::string name);

}  // namespace intelliperf
