// Loaded into build commands: a program of ROCm or CUDA that a build names by where it is usually installed
// (/opt/rocm/bin/hipcc, /opt/rocm-6.2.0/llvm/bin/clang++, /usr/local/cuda/bin/nvcc) is our drop-in of that name.
// So are its headers, libraries and CMake packages (/opt/rocm/lib/cmake/hip-lang).
//
// Running a program always reaches the drop-in, and reading a library ours of that name: linkers are often handed the
// folder of a real toolkit. Asking for another file or reading it reaches ours where there is none. Off
// where INTELLIPERF_DROP_INS, the directory of the drop-ins, is not set, as in the drop-ins' own processes. nvcc and
// hipcc are led there from any bin directory.
//
// CUDA's static libraries are our shared one, which GNU ld refuses after -Bstatic: they are linked as after -Bdynamic.
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

namespace {

constexpr const char* kRoots[] = {"/opt/rocm", "/usr/local/cuda"};
constexpr const char* kCompilers[] = {"nvcc", "hipcc"};
// F_OK and X_OK of unistd.h, O_ACCMODE of fcntl.h: their declarations would get in the way.
constexpr int kExists = 0, kMayRun = 1, kWrites = 3;

int (*really_access)(const char*, int) = nullptr;

template <class Function>
Function next(const char* symbol) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, symbol));
}

// What follows the root's directory, from its slash on; null elsewhere. The root itself stays absent: projects choose
// between HIP and CUDA by what they see of it.
const char* below_a_root(const char* path) {
  for (const char* root : kRoots) {
    const size_t size = strlen(root);
    if (strncmp(path, root, size) == 0 && (path[size] == '/' || path[size] == '-')) return strchr(path + size, '/');
  }
  return nullptr;
}

// Installed elsewhere, these names alone say enough.
bool is_a_gpu_compiler(const char* path) {
  const char* end = strrchr(path, '/');
  if (path[0] != '/') return false;
  for (const char* name : kCompilers)
    if (strcmp(end + 1, name) == 0) return true;
  return false;
}

bool joined(char (&room)[PATH_MAX], const char* folder, const char* between, const char* rest) {
  if (strlen(folder) + strlen(between) + strlen(rest) >= sizeof room) return false;
  stpcpy(stpcpy(stpcpy(room, folder), between), rest);
  return true;
}

bool is_there(const char* path, int mode) {
  const int before = errno;
  const bool there = really_access(path, mode) == 0;
  errno = before;
  return there;
}

// What a toolkit has beside its programs: where it is, or with the folder of a part left out (/opt/rocm/hip/include).
bool is_other_part(const char* below, const char* home, char (&room)[PATH_MAX]) {
  if (joined(room, home, "/..", below) && is_there(room, kExists)) return true;
  const char* const in_part = strchr(below + 1, '/');
  return in_part != nullptr && joined(room, home, "/..", in_part) && is_there(room, kExists);
}

// Our own of that name, in `room`, or `path` itself.
const char* drop_in(const char* path, bool whatever, char (&room)[PATH_MAX]) {
  if (path == nullptr) return path;
  const char* const below = below_a_root(path);
  const char* home = getenv("INTELLIPERF_DROP_INS");
  if (home == nullptr || really_access == nullptr || (below == nullptr && !is_a_gpu_compiler(path))) return path;
  const char* name = strrchr(path, '/') + 1;
  if (name - path >= 5 && memcmp(name - 5, "/bin/", 5) == 0 && *name != '\0')
    return joined(room, home, "/", name) && is_there(room, kMayRun) ? room : path;
  return whatever && below != nullptr && is_other_part(below, home, room) ? room : path;
}

// What a linker reads of a toolkit, in the usual places or where the user's environment names one.
bool is_below_a_toolkit(const char* path) {
  if (below_a_root(path) != nullptr) return true;
  for (const char* root = getenv("INTELLIPERF_TOOLKITS"); root != nullptr && *root != '\0';) {
    const size_t size = strcspn(root, ":");
    if (size > 1 && strncmp(path, root, size) == 0 && path[size] == '/') return true;
    root += size + (root[size] == ':');
  }
  return false;
}

// Our library of that name, in `room`; null where it is another file, or we have no such library.
const char* our_library(const char* path, char (&room)[PATH_MAX]) {
  const char* const home = getenv("INTELLIPERF_DROP_INS");
  const char* const name = path != nullptr && path[0] == '/' ? strrchr(path, '/') : nullptr;
  if (name == nullptr || strncmp(name, "/lib", 4) != 0 || home == nullptr || really_access == nullptr) return nullptr;
  if (!is_below_a_toolkit(path)) return nullptr;
  constexpr const char* kFolders[] = {"/../lib64", "/../lib"};
  for (const char* folder : kFolders)
    if (joined(room, home, folder, name) && is_there(room, kExists)) return room;
  return nullptr;
}

bool is_static_library_of_cuda(const char* word) {
  constexpr const char* kOption = "-lcu";
  constexpr const char* kEnds[] = {"_static", "_static.a"};
  const char* const name = strrchr(word, '/');
  const bool by_path = name != nullptr && strncmp(name, "/libcu", strlen("/libcu")) == 0;
  if (!by_path && strncmp(word, kOption, strlen(kOption)) != 0) return false;
  const char* const end = kEnds[by_path];
  return strlen(word) > strlen(end) && strcmp(word + strlen(word) - strlen(end), end) == 0;
}

// Calls `take` with each of the linker's words, and with -Bdynamic and -Bstatic around what has to be linked so.
template <class Take>
void each_linked_word(char* const* words, Take take) {
  static char dynamically[] = "-Bdynamic", statically[] = "-Bstatic";
  bool is_static = false;
  for (; words != nullptr && *words != nullptr; ++words) {
    if (strcmp(*words, statically) == 0) is_static = true;
    if (strcmp(*words, dynamically) == 0) is_static = false;
    const bool around = is_static && is_static_library_of_cuda(*words);
    if (around) take(dynamically);
    take(*words);
    if (around) take(statically);
  }
}

size_t count_of_words(char* const* words) {
  size_t count = 0;
  each_linked_word(words, [&](char*) { ++count; });
  return count;
}

char* const* linked_words(char* const* words, char** room) {
  char** next = room;
  each_linked_word(words, [&](char* word) { *next++ = word; });
  *next = nullptr;
  return room;
}

bool is_absent(int returned) { return returned == -1 && (errno == ENOENT || errno == ENOTDIR); }

}  // namespace

// Other libraries' constructors may come before ours.
#define UNLESS_FOUND(symbol, result)                  \
  if (really_##symbol##_ == nullptr) find_##symbol(); \
  if (really_##symbol##_ == nullptr) {                \
    errno = ENOSYS;                                   \
    return result;                                    \
  }

// Defined below other names than the C library's: its headers would fix the types.
#define INSTEAD_OF(symbol, parameters)                                                                                \
  extern "C" __attribute__((visibility("default"))) int redirected_##symbol parameters __asm__(#symbol);              \
  static int(*really_##symbol##_) parameters = nullptr;                                                               \
  __attribute__((constructor)) static void find_##symbol() { really_##symbol##_ = next<int(*) parameters>(#symbol); } \
  int redirected_##symbol parameters

#define RUNS(symbol, parameters, ...)                                                                                  \
  INSTEAD_OF(symbol, parameters) {                                                                                     \
    UNLESS_FOUND(symbol, -1)                                                                                           \
    char room[PATH_MAX];                                                                                               \
    const char* const program = drop_in(path, false, room);                                                            \
    if (words != nullptr && getenv("INTELLIPERF_DROP_INS") != nullptr)                                                 \
      words = linked_words(words, static_cast<char**>(__builtin_alloca((count_of_words(words) + 1) * sizeof(char*)))); \
    return really_##symbol##_(__VA_ARGS__);                                                                            \
  }

#define ASKS(symbol, parameters, ...)                                 \
  INSTEAD_OF(symbol, parameters) {                                    \
    UNLESS_FOUND(symbol, -1)                                          \
    const char* program = path;                                       \
    const int found = really_##symbol##_(__VA_ARGS__);                \
    if (!is_absent(found)) return found;                              \
    char room[PATH_MAX];                                              \
    program = drop_in(path, true, room);                              \
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

// Files are led there for reading alone.
#define OPENS(symbol, parameters, flags, ...)                         \
  INSTEAD_OF(symbol, parameters) {                                    \
    UNLESS_FOUND(symbol, -1)                                          \
    char room[PATH_MAX];                                              \
    const char* program = our_library(path, room);                    \
    if (program == nullptr || (flags & kWrites) != 0) program = path; \
    const int found = really_##symbol##_(__VA_ARGS__);                \
    if (!is_absent(found) || (flags & kWrites) != 0) return found;    \
    program = drop_in(path, true, room);                              \
    return program == path ? found : really_##symbol##_(__VA_ARGS__); \
  }

OPENS(open, (const char* path, int flags, unsigned mode), flags, program, flags, mode)
OPENS(open64, (const char* path, int flags, unsigned mode), flags, program, flags, mode)
OPENS(openat, (int directory, const char* path, int flags, unsigned mode), flags, directory, program, flags, mode)
OPENS(openat64, (int directory, const char* path, int flags, unsigned mode), flags, directory, program, flags, mode)

#define STREAMS(symbol, parameters, reads, ...)                                                                        \
  extern "C" __attribute__((visibility("default"))) void* redirected_##symbol parameters __asm__(#symbol);             \
  static void*(*really_##symbol##_)parameters = nullptr;                                                               \
  __attribute__((constructor)) static void find_##symbol() { really_##symbol##_ = next<void*(*)parameters>(#symbol); } \
  void* redirected_##symbol parameters {                                                                               \
    UNLESS_FOUND(symbol, nullptr)                                                                                      \
    char room[PATH_MAX];                                                                                               \
    const char* program = (reads) ? our_library(path, room) : nullptr;                                                 \
    if (program == nullptr) program = path;                                                                            \
    void* const found = really_##symbol##_(__VA_ARGS__);                                                               \
    if (found != nullptr || !is_absent(-1) || !(reads)) return found;                                                  \
    program = drop_in(path, true, room);                                                                               \
    return program == path ? found : really_##symbol##_(__VA_ARGS__);                                                  \
  }

STREAMS(fopen, (const char* path, const char* mode), strpbrk(mode, "wa+") == nullptr, program, mode)
STREAMS(fopen64, (const char* path, const char* mode), strpbrk(mode, "wa+") == nullptr, program, mode)
STREAMS(opendir, (const char* path), true, program)

__attribute__((constructor)) static void begin() { really_access = next<int (*)(const char*, int)>("access"); }
