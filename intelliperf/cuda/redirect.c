/* Preloaded into the programs of a build: whoever starts nvcc by its path gets our drop-in instead, which logs the
   compilation, asks for line information and becomes the real one. Makefiles that say /usr/local/cuda/bin/nvcc or
   $(CUDA_HOME)/bin/nvcc are reached in no other way. Bare names are left to PATH, where the drop-in comes first.
   Runs between fork and exec: no allocation, no output. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char* chosen(const char* path) {
  const char* drop_in = getenv("INTELLIPERF_NVCC_DROP_IN");
  const char* name = path != NULL ? strrchr(path, '/') : NULL;
  if (drop_in == NULL || name == NULL || strcmp(name + 1, "nvcc") != 0) return path;
  return access(path, X_OK) == 0 ? drop_in : path;
}

#define NEXT(function) ((__typeof__(&function))dlsym(RTLD_NEXT, #function))

int execve(const char* path, char* const argv[], char* const envp[]) {
  return NEXT(execve)(chosen(path), argv, envp);
}

int execv(const char* path, char* const argv[]) { return NEXT(execv)(chosen(path), argv); }

int execvp(const char* file, char* const argv[]) { return NEXT(execvp)(chosen(file), argv); }

int execvpe(const char* file, char* const argv[], char* const envp[]) {
  return NEXT(execvpe)(chosen(file), argv, envp);
}

int posix_spawn(pid_t* pid, const char* path, const posix_spawn_file_actions_t* actions,
                const posix_spawnattr_t* attributes, char* const argv[], char* const envp[]) {
  return NEXT(posix_spawn)(pid, chosen(path), actions, attributes, argv, envp);
}

int posix_spawnp(pid_t* pid, const char* file, const posix_spawn_file_actions_t* actions,
                 const posix_spawnattr_t* attributes, char* const argv[], char* const envp[]) {
  return NEXT(posix_spawnp)(pid, chosen(file), actions, attributes, argv, envp);
}
