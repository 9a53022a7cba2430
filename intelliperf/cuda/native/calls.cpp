#include "calls.h"

#include <map>

namespace intelliperf {

namespace {

bool take_suffix(std::string& name, const std::string& suffix) {
  if (name.size() < suffix.size() || name.compare(name.size() - suffix.size(), suffix.size(), suffix) != 0)
    return false;
  name.resize(name.size() - suffix.size());
  return true;
}

const std::map<std::string, CallFacts>& known_calls() {
  static const std::map<std::string, CallFacts> table = {
      {"cuMemAlloc", {Call::kAllocate}},
      {"cuMemAllocPitch", {Call::kAllocatePitch}},
      {"cuMemAllocManaged", {Call::kAllocateManaged}},
      {"cuMemAllocAsync", {Call::kAllocateAsync}},
      {"cuMemAllocFromPoolAsync", {Call::kAllocateAsync}},
      {"cuMemAllocHost", {Call::kAllocateHost}},
      {"cuMemHostAlloc", {Call::kHostAllocate}},
      {"cuMemSetAccess", {Call::kMap}},
      {"cuMemUnmap", {Call::kFree}},
      {"cuMemFree", {Call::kFree}},
      {"cuMemFreeAsync", {Call::kFreeAsync}},
      {"cuMemFreeHost", {Call::kFreeHost}},
      {"cuLaunchKernel", {Call::kLaunch}},
      {"cuLaunchKernelEx", {Call::kLaunchEx}},
      {"cuLaunchCooperativeKernel", {Call::kLaunchCooperative}},
      {"cuGraphLaunch", {Call::kGraphLaunch}},
      {"cuGraphInstantiate", {Call::kGraphInstantiate}},
      {"cuGraphInstantiateWithFlags", {Call::kGraphInstantiate}},
      {"cuGraphInstantiateWithParams", {Call::kGraphInstantiate}},
      {"cuGraphExecMemcpyNodeSetParams", {Call::kGraphChanged}},
      {"cuGraphExecMemsetNodeSetParams", {Call::kGraphChanged}},
      {"cuGraphNodeSetEnabled", {Call::kGraphChanged}},
      {"cuArrayCreate", {Call::kUncovered, "texture memory (arrays)"}},
      {"cuArray3DCreate", {Call::kUncovered, "texture memory (arrays)"}},
      {"cuMipmappedArrayCreate", {Call::kUncovered, "texture memory (arrays)"}},
      {"cuGraphExecKernelNodeSetParams", {Call::kUncovered, "arguments changed in an instantiated graph"}},
      {"cuGraphExecNodeSetParams", {Call::kUncovered, "arguments changed in an instantiated graph"}},
      {"cuGraphExecChildGraphNodeSetParams", {Call::kUncovered, "arguments changed in an instantiated graph"}},
      {"cuGraphExecUpdate", {Call::kUncovered, "arguments changed in an instantiated graph"}},
      {"cuIpcOpenMemHandle", {Call::kUncovered, "memory of another process"}},
      {"cuImportExternalMemory", {Call::kUncovered, "memory of a graphics library"}},
      {"cuMemcpy", {Call::kCopy}},
      {"cuMemcpyHtoD", {Call::kCopy, "memcpy_htod"}},
      {"cuMemcpyDtoH", {Call::kCopy, "memcpy_dtoh"}},
      {"cuMemcpyDtoD", {Call::kCopy, "memcpy_dtod"}},
      {"cuMemcpy2D", {Call::kCopy2d}},
      {"cuMemcpy2DUnaligned", {Call::kCopy2d}},
      {"cuMemcpy3D", {Call::kCopy3d}},
      {"cuMemsetD8", {Call::kFill, nullptr, 1}},
      {"cuMemsetD16", {Call::kFill, nullptr, 2}},
      {"cuMemsetD32", {Call::kFill, nullptr, 4}},
      {"cuMemsetD2D8", {Call::kFill2d, nullptr, 1}},
      {"cuMemsetD2D16", {Call::kFill2d, nullptr, 2}},
      {"cuMemsetD2D32", {Call::kFill2d, nullptr, 4}},
  };
  return table;
}

}  // namespace

CallFacts facts_of(std::string name) {
  const bool per_thread = take_suffix(name, "_ptsz") || take_suffix(name, "_ptds");
  take_suffix(name, "_v2") || take_suffix(name, "_v3") || take_suffix(name, "_ll");
  auto found = known_calls().find(name);
  bool asynchronous = false;
  if (found == known_calls().end() && take_suffix(name, "Async")) {
    asynchronous = true;
    found = known_calls().find(name);
  }
  if (found == known_calls().end()) return {};
  CallFacts facts = found->second;
  facts.asynchronous = asynchronous;
  facts.per_thread = per_thread;
  return facts;
}

}  // namespace intelliperf
