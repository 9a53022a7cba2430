// The end of the process, however it comes: end.json says whether the records are whole.
// A normal return from main or exit() arrives through on_exit, _exit() and _Exit() through the functions of
// that name here (the library stands before the C library in the link order), abort() and fatal signals
// through handlers that are only set where the application leaves the default. SIGKILL leaves no end.json.
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "export.h"
#include "launch.h"
#include "recorder.h"
#include "settings.h"

namespace simt {
namespace {

constexpr int kFatal[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};

void on_fatal(int signal) {
  finish_records(false, 128 + signal);
  struct sigaction standard{};
  standard.sa_handler = SIG_DFL;
  sigaction(signal, &standard, nullptr);
  raise(signal);
}

void at_exit(int status, void*) { finish_records(true, status); }

__attribute__((constructor)) void watch_the_end() {
  const char* directory = getenv("INTELLIPERF_TRACE_DIR");
  if (!directory || !*directory) return;
  on_exit(at_exit, nullptr);
  for (int signal : kFatal) {
    struct sigaction present{};
    if (sigaction(signal, nullptr, &present) != 0 || present.sa_handler != SIG_DFL) continue;
    struct sigaction action{};
    action.sa_handler = on_fatal;
    action.sa_flags = SA_RESETHAND;
    sigaction(signal, &action, nullptr);
  }
}

[[noreturn]] void leave(int status) {
  finish_records(true, status);
  for (;;) syscall(SYS_exit_group, status);
}

}  // namespace

void stop_after(uint64_t launches) {
  fflush(nullptr);
  export_end();
  Recorder::instance().stopped_after(launches);
  leave(settings().stop_status);
}

}  // namespace simt

extern "C" {
__attribute__((visibility("default"), noreturn)) void _exit(int status) { simt::leave(status); }
__attribute__((visibility("default"), noreturn)) void _Exit(int status) { simt::leave(status); }
}
