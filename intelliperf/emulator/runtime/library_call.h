// One call of a library that computes on the device: done on the host, recorded as a kernel of that library with the
// time of a roofline (the vector units' rate and the memory's; the library's own kernels may be faster on matrix units).
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace simt {

struct Stream;

// Device memory that a call reads or writes.
struct Extent2D {
  const void* base = nullptr;
  uint64_t bytes = 0;
};

struct LibraryCall {
  std::string name;  // of the library's function
  double flops = 0;
  bool double_precision = false;
  std::vector<Extent2D> reads, writes;
};

// Runs `work` in the stream's order (or keeps it for the graph being captured) and accounts for it. Returns an error of
// the host API: kInvalidValue if memory that the call names is not the program's.
int run_library_call(const LibraryCall& call, Stream* handle, bool waits, std::function<void()> work);

}  // namespace simt
