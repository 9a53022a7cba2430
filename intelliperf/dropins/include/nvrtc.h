// NVRTC: the source is compiled by the emulator's own compiler. "PTX" is text that holds its device code: it is loaded
// by modules, written to files and read again, but no other assembler takes it.
#ifndef __NVRTC_H__
#define __NVRTC_H__
#include <stddef.h>

typedef enum nvrtcResult {
  NVRTC_SUCCESS = 0,
  NVRTC_ERROR_OUT_OF_MEMORY = 1,
  NVRTC_ERROR_PROGRAM_CREATION_FAILURE = 2,
  NVRTC_ERROR_INVALID_INPUT = 3,
  NVRTC_ERROR_INVALID_PROGRAM = 4,
  NVRTC_ERROR_INVALID_OPTION = 5,
  NVRTC_ERROR_COMPILATION = 6,
  NVRTC_ERROR_BUILTIN_OPERATION_FAILURE = 7,
  NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION = 8,
  NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION = 9,
  NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID = 10,
  NVRTC_ERROR_INTERNAL_ERROR = 11,
  NVRTC_ERROR_TIME_FILE_WRITE_FAILED = 12
} nvrtcResult;
typedef struct _nvrtcProgram* nvrtcProgram;

#ifdef __cplusplus
extern "C" {
#endif
const char* nvrtcGetErrorString(nvrtcResult result);
nvrtcResult nvrtcVersion(int* major, int* minor);
nvrtcResult nvrtcCreateProgram(nvrtcProgram* program, const char* source, const char* name, int count, const char* const* texts,
                              const char* const* names);
nvrtcResult nvrtcDestroyProgram(nvrtcProgram* program);
nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int count, const char* const* options);
nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, size_t* bytes);
nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char* log);
nvrtcResult nvrtcAddNameExpression(nvrtcProgram program, const char* expression);
nvrtcResult nvrtcGetLoweredName(nvrtcProgram program, const char* expression, const char** name);
nvrtcResult nvrtcGetNumSupportedArchs(int* count);
nvrtcResult nvrtcGetSupportedArchs(int* architectures);
nvrtcResult nvrtcGetPTXSize(nvrtcProgram program, size_t* bytes);
nvrtcResult nvrtcGetPTX(nvrtcProgram program, char* ptx);
nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, size_t* bytes);
nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char* cubin);
#ifdef __cplusplus
}
#endif

#if defined(__cplusplus) && defined(__has_include)
#if __has_include(<cxxabi.h>)
#include <cxxabi.h>

#include <cstdlib>
#include <string>
#include <typeinfo>
inline nvrtcResult nvrtcGetTypeName(const std::type_info& type, std::string* name) {
  int failed = 0;
  char* const text = abi::__cxa_demangle(type.name(), nullptr, nullptr, &failed);
  if (failed) return NVRTC_ERROR_INTERNAL_ERROR;
  *name = text;
  std::free(text);
  return NVRTC_SUCCESS;
}
template <class T>
nvrtcResult nvrtcGetTypeName(std::string* name) {
  return nvrtcGetTypeName(typeid(T), name);
}
#endif
#endif
#endif
