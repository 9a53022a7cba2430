// Preloaded into builds: a compiler that is called by its absolute path, installed or not, is the drop-in of its name.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
enum { kMaxPath = 4096, kMaxWords = 4096 };

static const char* const kAlways[] = {"nvcc", "hipcc", "amdclang++", "amdclang"};
static const char* const kOfRocm[] = {"clang++", "clang"};  // elsewhere they are anybody's

static int among(const char* name, const char* const* names, size_t count) {
  for (size_t i = 0; i < count; ++i)
    if (strcmp(name, names[i]) == 0) return 1;
  return 0;
}

// Runs between vfork and exec, too: no allocation, no locks.
static const char* redirected(const char* path, char* buffer) {
  const char* programs = getenv("INTELLIPERF_DROP_INS");
  const char* slash = path ? strrchr(path, '/') : NULL;
  if (!slash || !programs || path[0] != '/') return path;
  const char* name = slash + 1;
  const size_t length = strlen(programs);
  if (strncmp(path, programs, length) == 0) return path;
  const int ours = among(name, kAlways, sizeof kAlways / sizeof *kAlways) ||
                   (among(name, kOfRocm, sizeof kOfRocm / sizeof *kOfRocm) && strstr(path, "/rocm"));
  if (!ours || length + strlen(name) + 2 > kMaxPath) return path;
  memcpy(buffer, programs, length);
  buffer[length] = '/';
  strcpy(buffer + length + 1, name);
  return buffer;
}

EXPORT int execve(const char* path, char* const words[], char* const environment[]) {
  static int (*real)(const char*, char* const[], char* const[]);
  if (!real) real = (int (*)(const char*, char* const[], char* const[]))dlsym(RTLD_NEXT, "execve");
  char buffer[kMaxPath];
  return real(redirected(path, buffer), words, environment);
}
EXPORT int execv(const char* path, char* const words[]) { return execve(path, words, environ); }

EXPORT int execvpe(const char* name, char* const words[], char* const environment[]) {
  static int (*real)(const char*, char* const[], char* const[]);
  if (!real) real = (int (*)(const char*, char* const[], char* const[]))dlsym(RTLD_NEXT, "execvpe");
  char buffer[kMaxPath];
  return real(redirected(name, buffer), words, environment);
}
EXPORT int execvp(const char* name, char* const words[]) { return execvpe(name, words, environ); }

// The words of a variadic call; 0: there are too many.
static int collect(const char* first, va_list rest, char** words) {
  int count = 0;
  for (const char* word = first; word; word = va_arg(rest, const char*)) {
    if (count == kMaxWords - 1) return 0;
    words[count++] = (char*)word;
  }
  words[count] = NULL;
  return 1;
}
#define COLLECTED(list)                           \
  char* words[kMaxWords];                         \
  va_list list;                                   \
  va_start(list, first);                          \
  if (!collect(first, list, words)) {             \
    va_end(list);                                 \
    errno = E2BIG;                                \
    return -1;                                    \
  }
EXPORT int execl(const char* path, const char* first, ...) {
  COLLECTED(list)
  va_end(list);
  return execve(path, words, environ);
}
EXPORT int execlp(const char* name, const char* first, ...) {
  COLLECTED(list)
  va_end(list);
  return execvpe(name, words, environ);
}
EXPORT int execle(const char* path, const char* first, ...) {
  COLLECTED(list)
  char* const* environment = va_arg(list, char* const*);
  va_end(list);
  return execve(path, words, environment);
}

typedef int (*Spawn)(pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*, char* const[], char* const[]);
#define SPAWN(name)                                                                                                      \
  EXPORT int name(pid_t* child, const char* path, const posix_spawn_file_actions_t* actions,                             \
                  const posix_spawnattr_t* attributes, char* const words[], char* const environment[]) {                 \
    static Spawn real;                                                                                                   \
    if (!real) real = (Spawn)dlsym(RTLD_NEXT, #name);                                                                    \
    char buffer[kMaxPath];                                                                                               \
    return real(child, redirected(path, buffer), actions, attributes, words, environment);                               \
  }
SPAWN(posix_spawn)
SPAWN(posix_spawnp)

// make and CMake look whether there is such a program before they start it.
#define ACCESS(name)                                                          \
  EXPORT int name(const char* path, int mode) {                               \
    static int (*real)(const char*, int);                                     \
    if (!real) real = (int (*)(const char*, int))dlsym(RTLD_NEXT, #name);     \
    char buffer[kMaxPath];                                                    \
    return real(redirected(path, buffer), mode);                              \
  }
ACCESS(access)
ACCESS(eaccess)
ACCESS(euidaccess)
EXPORT int faccessat(int directory, const char* path, int mode, int flags) {
  static int (*real)(int, const char*, int, int);
  if (!real) real = (int (*)(int, const char*, int, int))dlsym(RTLD_NEXT, "faccessat");
  char buffer[kMaxPath];
  return real(directory, redirected(path, buffer), mode, flags);
}
