// A launch as the driver is asked for it, whatever function is called: what it is, and how to ask for it again.
#pragma once
#include <cuda.h>
#include <cupti.h>

#include <string>

#include "calls.h"
#include "session.h"

namespace intelliperf {

struct Request {
  Call call = Call::kLaunch;
  CUfunction function = nullptr;  // or a CUkernel, see `is_kernel`
  void** values = nullptr;
  void** extra = nullptr;
  CUstream stream = nullptr;
  const CUlaunchConfig* config = nullptr;  // of kLaunchEx
  Launch launch;                           // the shape, and the name; arguments once they are read
};

template <typename T>
const T& parameters(const CUpti_CallbackData* info) {
  return *static_cast<const T*>(info->functionParams);
}

// Whether the handle is a CUkernel, of a library that is loaded lazily. The driver knows its handles apart, and answers
// with "invalid handle" what is asked about the wrong kind.
bool is_kernel(CUfunction function);
bool launches(Call call);
Request request_of(const CallFacts& facts, const CUpti_CallbackData* info);
// What a node of a graph launches.
Request request_of(const CUDA_KERNEL_NODE_PARAMS& node);
void read_arguments(Request& request);
// With another launch's grid and arguments.
CUresult launch_again(const Request& request, const Launch& other);
bool has_attributes(const Request& request);

CUstream stream_of(CUstream given, bool per_thread);
bool capturing(CUstream stream);

}  // namespace intelliperf
