/* Preloaded into the programs of a build: whoever starts a compiler by its path gets our drop-in of that name instead,
   and the drop-in learns the path. Makefiles that say /opt/rocm/bin/hipcc or $(CUDA_HOME)/bin/nvcc are reached in no
   other way. Bare names are left to PATH, where the drop-ins come first.
   INTELLIPERF_REDIRECT: directory of the drop-ins. INTELLIPERF_NAMED: set for them, the path that was asked for.
   Runs between fork and exec: no allocation, no output. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAMED "INTELLIPERF_NAMED="
#define NEXT(function) ((__typeof__(&function))dlsym(RTLD_NEXT, #function))

extern char** environ;

/* Writes the drop-in's path and returns 1, or returns 0 where the program is none that we stand in for. */
static int drop_in(const char* path, char* room) {
  const char* home = getenv("INTELLIPERF_REDIRECT");
  const char* name = path != NULL ? strrchr(path, '/') : NULL;
  const int before = errno;
  int ours;
  if (home == NULL || name == NULL || name[1] == '\0') return 0;
  if (strlen(home) + strlen(name) + 1 > PATH_MAX || strlen(path) + sizeof NAMED > PATH_MAX) return 0;
  stpcpy(stpcpy(room, home), name);
  ours = strcmp(room, path) != 0 && access(room, X_OK) == 0 && access(path, X_OK) == 0;
  errno = before;
  return ours;
}

static size_t count(char* const* variables) {
  size_t n = 0;
  while (variables != NULL && variables[n] != NULL) ++n;
  return n;
}

/* `more` has room for two entries beside those of `variables`. */
static void add_name(char** more, char* const* variables, const char* path, char* named) {
  size_t n = 0;
  stpcpy(stpcpy(named, NAMED), path);
  for (more[n++] = named; variables != NULL && *variables != NULL; ++variables)
    if (strncmp(*variables, NAMED, sizeof NAMED - 1) != 0) more[n++] = *variables;
  more[n] = NULL;
}

#define WITH_NAME(path, variables)  \
  char named[PATH_MAX];             \
  char* more[count(variables) + 2]; \
  add_name(more, variables, path, named)

int execve(const char* path, char* const argv[], char* const envp[]) {
  char room[PATH_MAX];
  if (!drop_in(path, room)) return NEXT(execve)(path, argv, envp);
  WITH_NAME(path, envp);
  return NEXT(execve)(room, argv, more);
}

int execv(const char* path, char* const argv[]) {
  char room[PATH_MAX];
  return drop_in(path, room) ? execve(path, argv, environ) : NEXT(execv)(path, argv);
}

int execvp(const char* file, char* const argv[]) {
  char room[PATH_MAX];
  return drop_in(file, room) ? execve(file, argv, environ) : NEXT(execvp)(file, argv);
}

int execvpe(const char* file, char* const argv[], char* const envp[]) {
  char room[PATH_MAX];
  return drop_in(file, room) ? execve(file, argv, envp) : NEXT(execvpe)(file, argv, envp);
}

int posix_spawn(pid_t* pid, const char* path, const posix_spawn_file_actions_t* actions,
                const posix_spawnattr_t* attributes, char* const argv[], char* const envp[]) {
  char room[PATH_MAX];
  if (!drop_in(path, room)) return NEXT(posix_spawn)(pid, path, actions, attributes, argv, envp);
  WITH_NAME(path, envp);
  return NEXT(posix_spawn)(pid, room, actions, attributes, argv, more);
}

int posix_spawnp(pid_t* pid, const char* file, const posix_spawn_file_actions_t* actions,
                 const posix_spawnattr_t* attributes, char* const argv[], char* const envp[]) {
  char room[PATH_MAX];
  if (!drop_in(file, room)) return NEXT(posix_spawnp)(pid, file, actions, attributes, argv, envp);
  WITH_NAME(file, envp);
  return NEXT(posix_spawnp)(pid, room, actions, attributes, argv, more);
}
