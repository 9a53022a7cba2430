// NVRTC and hipRTC: two sets of names for one core.
#include <cstring>

#include "properties.h"
#include "rtc.h"

#define SIMT_EXPORT __attribute__((visibility("default")))

namespace simt {

namespace {

using Outcome = RtcOutcome;

constexpr const char* kNames[] = {
    "SUCCESS",
    "ERROR_OUT_OF_MEMORY",
    "ERROR_PROGRAM_CREATION_FAILURE",
    "ERROR_INVALID_INPUT",
    "ERROR_INVALID_PROGRAM",
    "ERROR_INVALID_OPTION",
    "ERROR_COMPILATION",
    "ERROR_BUILTIN_OPERATION_FAILURE",
    "ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION",
    "ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION",
    "ERROR_NAME_EXPRESSION_NOT_VALID",
    "ERROR_INTERNAL_ERROR",
};

const char* name_of(int outcome, bool cuda) {
  static std::string texts[2][std::size(kNames)];
  if (outcome < 0 || outcome >= static_cast<int>(std::size(kNames)))
    return cuda ? "NVRTC_ERROR unknown" : "Invalid HIPRTC error code";
  std::string& text = texts[cuda][outcome];
  if (text.empty()) text = std::string(cuda ? "NVRTC_" : "HIPRTC_") + kNames[outcome];
  return text.c_str();
}

Outcome create(RtcProgram** program, Vendor vendor, const char* source, const char* name, int count,
               const char* const* texts, const char* const* names) {
  if (!program || !source || count < 0 || (count > 0 && (!texts || !names))) return Outcome::kInvalidInput;
  auto* const made = new RtcProgram{vendor, source, name && *name ? name : "default_program", {}, {}, {}, {}, {}, {}};
  for (int i = 0; i < count; ++i) made->headers.emplace_back(names[i], texts[i]);
  *program = made;
  return Outcome::kDone;
}

Outcome destroy(RtcProgram** program) {
  if (!program || !*program) return Outcome::kInvalidProgram;
  delete *program;
  *program = nullptr;
  return Outcome::kDone;
}

Outcome compile(RtcProgram* program, int count, const char* const* options) {
  if (!program) return Outcome::kInvalidProgram;
  if (count < 0 || (count > 0 && !options)) return Outcome::kInvalidInput;
  return rtc_compile(*program, {options, options + count});
}

Outcome size(RtcProgram* program, size_t* bytes, size_t known) {
  if (!program || !program->compiled) return Outcome::kInvalidProgram;
  if (!bytes) return Outcome::kInvalidInput;
  *bytes = known;
  return Outcome::kDone;
}

Outcome copy(RtcProgram* program, char* to, const char* from, size_t bytes) {
  if (!program || !program->compiled) return Outcome::kInvalidProgram;
  if (!to) return Outcome::kInvalidInput;
  std::memcpy(to, from, bytes);
  return Outcome::kDone;
}

Outcome add_expression(RtcProgram* program, const char* expression) {
  if (!program) return Outcome::kInvalidProgram;
  if (!expression) return Outcome::kInvalidInput;
  if (program->compiled) return Outcome::kNoExpressionsAfter;
  program->expressions.emplace_back(expression);
  return Outcome::kDone;
}

Outcome lowered(RtcProgram* program, const char* expression, const char** name) {
  if (!program) return Outcome::kInvalidProgram;
  if (!expression || !name) return Outcome::kInvalidInput;
  if (!program->compiled) return Outcome::kNoNamesBefore;
  const auto found = program->lowered.find(expression);
  if (found == program->lowered.end()) return Outcome::kNotAnExpression;
  *name = found->second.c_str();
  return Outcome::kDone;
}

int version(int* major, int* minor, int first, int second) {
  if (!major || !minor) return static_cast<int>(Outcome::kInvalidInput);
  *major = first;
  *minor = second;
  return 0;
}

}  // namespace

// The functions that both have, by their prefix; `code` and `code_bytes` name HIP's code and CUDA's cubin.
#define SIMT_RTC(prefix, vendor)                                                                                    \
  SIMT_EXPORT const char* prefix##GetErrorString(int outcome) { return name_of(outcome, vendor == Vendor::kCuda); } \
  SIMT_EXPORT Outcome prefix##CreateProgram(RtcProgram** program, const char* source, const char* name, int count,  \
                                            const char* const* texts, const char* const* names) {                   \
    return create(program, vendor, source, name, count, texts, names);                                              \
  }                                                                                                                 \
  SIMT_EXPORT Outcome prefix##DestroyProgram(RtcProgram** program) { return destroy(program); }                     \
  SIMT_EXPORT Outcome prefix##CompileProgram(RtcProgram* program, int count, const char* const* options) {          \
    return compile(program, count, options);                                                                        \
  }                                                                                                                 \
  SIMT_EXPORT Outcome prefix##AddNameExpression(RtcProgram* program, const char* expression) {                      \
    return add_expression(program, expression);                                                                     \
  }                                                                                                                 \
  SIMT_EXPORT Outcome prefix##GetLoweredName(RtcProgram* program, const char* expression, const char** name) {      \
    return lowered(program, expression, name);                                                                      \
  }                                                                                                                 \
  SIMT_EXPORT Outcome prefix##GetProgramLogSize(RtcProgram* program, size_t* bytes) {                               \
    if (!program) return Outcome::kInvalidProgram;                                                                  \
    if (!bytes) return Outcome::kInvalidInput;                                                                      \
    return *bytes = program->log.size() + 1, Outcome::kDone;                                                        \
  }                                                                                                                 \
  SIMT_EXPORT Outcome prefix##GetProgramLog(RtcProgram* program, char* log) {                                       \
    if (!program) return Outcome::kInvalidProgram;                                                                  \
    if (!log) return Outcome::kInvalidInput;                                                                        \
    std::memcpy(log, program->log.c_str(), program->log.size() + 1);                                                \
    return Outcome::kDone;                                                                                          \
  }

extern "C" {

SIMT_RTC(nvrtc, Vendor::kCuda)
SIMT_RTC(hiprtc, Vendor::kHip)

SIMT_EXPORT int nvrtcVersion(int* major, int* minor) { return version(major, minor, 12, 4); }
SIMT_EXPORT int hiprtcVersion(int* major, int* minor) { return version(major, minor, 9, 0); }
SIMT_EXPORT Outcome nvrtcGetNumSupportedArchs(int* count) {
  return count ? (*count = 1, Outcome::kDone) : Outcome::kInvalidInput;
}
SIMT_EXPORT Outcome nvrtcGetSupportedArchs(int* architectures) {
  if (!architectures) return Outcome::kInvalidInput;
  const Call call(Vendor::kCuda);
  *architectures = device_limits().major * 10 + device_limits().minor;
  return Outcome::kDone;
}
SIMT_EXPORT Outcome nvrtcGetPTXSize(RtcProgram* program, size_t* bytes) {
  return size(program, bytes, program ? program->text.size() + 1 : 0);
}
SIMT_EXPORT Outcome nvrtcGetPTX(RtcProgram* program, char* text) {
  return copy(program, text, program ? program->text.c_str() : nullptr, program ? program->text.size() + 1 : 0);
}
SIMT_EXPORT Outcome nvrtcGetCUBINSize(RtcProgram* program, size_t* bytes) {
  return size(program, bytes, program ? program->image.size() : 0);
}
SIMT_EXPORT Outcome nvrtcGetCUBIN(RtcProgram* program, char* code) {
  return copy(program, code, program ? program->image.data() : nullptr, program ? program->image.size() : 0);
}
SIMT_EXPORT Outcome hiprtcGetCodeSize(RtcProgram* program, size_t* bytes) {
  return size(program, bytes, program ? program->image.size() : 0);
}
SIMT_EXPORT Outcome hiprtcGetCode(RtcProgram* program, char* code) {
  return copy(program, code, program ? program->image.data() : nullptr, program ? program->image.size() : 0);
}

}  // extern "C"

}  // namespace simt
