// Run-time compilation for NVRTC and hipRTC: a program's source goes to the installation's compiler, which is a process
// of its own, and device code comes back that modules load.
#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "host_state.h"

namespace simt {

enum class RtcOutcome : int {  // nvrtcResult and hiprtcResult
  kDone = 0,
  kOutOfMemory = 1,
  kCreationFailure = 2,
  kInvalidInput = 3,
  kInvalidProgram = 4,
  kInvalidOption = 5,
  kCompilation = 6,
  kBuiltinFailure = 7,
  kNoExpressionsAfter = 8,
  kNoNamesBefore = 9,
  kNotAnExpression = 10,
  kInternal = 11,
};

struct RtcProgram {
  Vendor vendor;
  std::string source, name;
  std::vector<std::pair<std::string, std::string>> headers;  // name as included, text
  std::vector<std::string> expressions;                      // of kernels and variables
  std::map<std::string, std::string> lowered;                // mangled names by expression
  std::string log, text;
  std::vector<char> image;
  bool compiled = false;
};

RtcOutcome rtc_compile(RtcProgram& program, const std::vector<std::string>& options);

}  // namespace simt
