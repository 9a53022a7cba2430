// Loaded into build commands: a program of ROCm or CUDA that a build names by where it is usually installed
// (/opt/rocm/bin/hipcc, /opt/rocm-6.2.0/llvm/bin/clang++, /usr/local/cuda/bin/nvcc) is our drop-in of that name.
//
// Running one always reaches the drop-in; asking for a file reaches it where there is none. Nothing else changes:
// libraries and headers are found by the variables of the build. Off where INTELLIPERF_DROP_INS, the directory of
// the drop-ins, is not set, as in the drop-ins' own processes. nvcc and hipcc are led there from any bin directory.
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

namespace {

constexpr const char* kRoots[] = {"/opt/rocm", "/usr/local/cuda"};
constexpr const char* kCompilers[] = {"nvcc", "hipcc"};
constexpr int kMayRun = 1;  // X_OK of unistd.h, whose declarations would get in the way

int (*really_access)(const char*, int) = nullptr;

template <class Function>
Function next(const char* symbol) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, symbol));
}

bool is_below_a_root(const char* path) {
  for (const char* root : kRoots) {
    const size_t size = strlen(root);
    if (strncmp(path, root, size) == 0 && (path[size] == '/' || path[size] == '-')) return true;
  }
  return false;
}

// Installed elsewhere, these names alone say enough.
bool is_a_gpu_compiler(const char* path) {
  const char* end = strrchr(path, '/');
  if (path[0] != '/') return false;
  for (const char* name : kCompilers)
    if (strcmp(end + 1, name) == 0) return true;
  return false;
}

// The drop-in's path, in `room`, or `path` itself.
const char* drop_in(const char* path, char (&room)[PATH_MAX]) {
  if (path == nullptr || (!is_below_a_root(path) && !is_a_gpu_compiler(path))) return path;
  const char* home = getenv("INTELLIPERF_DROP_INS");
  const char* name = strrchr(path, '/') + 1;
  if (home == nullptr || really_access == nullptr || name - path < 5 || memcmp(name - 5, "/bin/", 5) != 0) return path;
  if (*name == '\0' || strlen(home) + strlen(name) + 2 > sizeof room) return path;
  const int before = errno;
  stpcpy(stpcpy(stpcpy(room, home), "/"), name);
  const bool there = really_access(room, kMayRun) == 0;
  errno = before;
  return there ? room : path;
}

bool is_absent(int returned) { return returned == -1 && (errno == ENOENT || errno == ENOTDIR); }

}  // namespace

// Defined below other names than the C library's: its headers would fix the types.
#define INSTEAD_OF(symbol, parameters)                                                                                \
  extern "C" __attribute__((visibility("default"))) int redirected_##symbol parameters __asm__(#symbol);              \
  static int(*really_##symbol##_) parameters = nullptr;                                                               \
  __attribute__((constructor)) static void find_##symbol() { really_##symbol##_ = next<int(*) parameters>(#symbol); } \
  int redirected_##symbol parameters

#define RUNS(symbol, parameters, ...)                \
  INSTEAD_OF(symbol, parameters) {                   \
    if (really_##symbol##_ == nullptr) {             \
      errno = ENOSYS;                                \
      return -1;                                     \
    }                                                \
    char room[PATH_MAX];                             \
    const char* const program = drop_in(path, room); \
    return really_##symbol##_(__VA_ARGS__);          \
  }

#define ASKS(symbol, parameters, ...)                                 \
  INSTEAD_OF(symbol, parameters) {                                    \
    if (really_##symbol##_ == nullptr) {                              \
      errno = ENOSYS;                                                 \
      return -1;                                                      \
    }                                                                 \
    const char* program = path;                                       \
    const int found = really_##symbol##_(__VA_ARGS__);                \
    if (!is_absent(found)) return found;                              \
    char room[PATH_MAX];                                              \
    program = drop_in(path, room);                                    \
    return program == path ? found : really_##symbol##_(__VA_ARGS__); \
  }

RUNS(execve, (const char* path, char* const* words, char* const* variables), program, words, variables)
RUNS(execv, (const char* path, char* const* words), program, words)
RUNS(execvp, (const char* path, char* const* words), program, words)
RUNS(execvpe, (const char* path, char* const* words, char* const* variables), program, words, variables)
RUNS(posix_spawn,
     (int* process, const char* path, const void* actions, const void* attributes, char* const* words,
      char* const* variables),
     process, program, actions, attributes, words, variables)
RUNS(posix_spawnp,
     (int* process, const char* path, const void* actions, const void* attributes, char* const* words,
      char* const* variables),
     process, program, actions, attributes, words, variables)

ASKS(access, (const char* path, int mode), program, mode)
ASKS(euidaccess, (const char* path, int mode), program, mode)
ASKS(eaccess, (const char* path, int mode), program, mode)
ASKS(faccessat, (int directory, const char* path, int mode, int flags), directory, program, mode, flags)
ASKS(stat, (const char* path, void* status), program, status)
ASKS(stat64, (const char* path, void* status), program, status)
ASKS(lstat, (const char* path, void* status), program, status)
ASKS(lstat64, (const char* path, void* status), program, status)
ASKS(fstatat, (int directory, const char* path, void* status, int flags), directory, program, status, flags)
ASKS(fstatat64, (int directory, const char* path, void* status, int flags), directory, program, status, flags)
ASKS(statx, (int directory, const char* path, int flags, unsigned int mask, void* status), directory, program, flags,
     mask, status)
ASKS(__xstat, (int version, const char* path, void* status), version, program, status)
ASKS(__xstat64, (int version, const char* path, void* status), version, program, status)
ASKS(__lxstat, (int version, const char* path, void* status), version, program, status)
ASKS(__lxstat64, (int version, const char* path, void* status), version, program, status)

__attribute__((constructor)) static void begin() { really_access = next<int (*)(const char*, int)>("access"); }
