// The child's side of buffer validation: tells the parent process about each dispatch and transfer over the
// socket INTELLIPERF_EXPORT_SOCKET, and waits after the kernels named by INTELLIPERF_EXPORT_KERNEL while the
// parent looks at the arena. Every function returns at once when no socket is named.
#pragma once
#include <cstdint>

#include "alterations.h"
#include "launch.h"

namespace simt {

bool exporting();
// Whether the parent waits for this kernel.
bool export_awaits(const Kernel& kernel);
// Waits before the launch, too, where INTELLIPERF_EXPORT_BEFORE asks for that: the parent keeps what the kernel finds.
void export_begins(const LaunchRequest& request);
// How the data of a launch differ. `told`: for people; `changed`: how many buffers and arguments do.
struct Alteration {
  const char* told = "";
  OtherNumbersMode way = OtherNumbersMode::kNone;
  int changed = 0;
};
// Waits before it, so that the parent may put other numbers where the launch is to find them.
void export_waits(const LaunchRequest& request);
// Waits only for launches that are `shown`.
void export_dispatch(const LaunchRequest& request, int status, bool shown, const Alteration& alteration = {});
// Whether the parent has let the launch go that runs: it will not look at what comes of it.
bool export_is_left();
// `from`: of a copy to the host, where it begins in device memory.
void export_transfer(const char* operation, uint64_t bytes, uintptr_t from = 0);
void export_end();

}  // namespace simt
