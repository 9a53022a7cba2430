#include "replay.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "host_api.h"
#include "host_calls.h"
#include "json.h"
#include "l2_contents.h"
#include "properties.h"
#include "shadow.h"

namespace simt {

namespace {

constexpr uint64_t kPlanVersion = 1;

bool replaying = false;

const char* plan_path() {
  const char* path = std::getenv("INTELLIPERF_REPLAY");
  return path && *path ? path : nullptr;
}

[[noreturn]] void give_up(const std::string& why) {
  std::fflush(nullptr);
  std::fprintf(stderr, "intelliperf: cannot replay: %s\n", why.c_str());
  std::_Exit(kExitNotReplayable);
}

struct Mapped {
  const char* data = nullptr;
  uint64_t bytes = 0;
};

Mapped map_file(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status{};
  if (descriptor < 0 || fstat(descriptor, &status) != 0) give_up("no such file: " + path);
  Mapped mapped;
  mapped.bytes = static_cast<uint64_t>(status.st_size);
  if (mapped.bytes) {
    void* data = mmap(nullptr, mapped.bytes, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (data == MAP_FAILED) give_up("cannot read " + path);
    mapped.data = static_cast<const char*>(data);
  }
  close(descriptor);
  return mapped;
}

MemoryKind kind_of(const std::string& name) {
  if (name == "managed") return MemoryKind::kManaged;
  return name == "pinned" ? MemoryKind::kPinned : MemoryKind::kDevice;
}

// Zeros where the plan names no part.
void restore(void* base, uint64_t bytes, const JsonValue& parts, const Mapped& image) {
  auto* to = static_cast<char*>(base);
  uint64_t done = 0;
  for (const JsonValue& part : parts.items()) {
    const uint64_t start = part.items()[0].unsigned_or(0), length = part.items()[1].unsigned_or(0);
    const uint64_t from = part.items()[2].unsigned_or(UINT64_MAX);
    if (start < done || start > bytes || length > bytes - start || from > image.bytes || length > image.bytes - from)
      give_up("the plan is damaged");
    std::memset(to + done, 0, start - done);
    std::memcpy(to + start, image.data + from, length);
    done = start + length;
  }
  std::memset(to + done, 0, bytes - done);
  shadow_uploaded(base, bytes);
}

// A module's constants may lie in pages that cannot be written.
void make_writable(void* address, uint64_t bytes) {
  const uintptr_t first = reinterpret_cast<uintptr_t>(address) / kPageBytes * kPageBytes;
  const uintptr_t end = reinterpret_cast<uintptr_t>(address) + bytes;
  mprotect(reinterpret_cast<void*>(first), end - first, PROT_READ | PROT_WRITE);  // NOLINT(performance-no-int-to-ptr)
}

void load_everything() {
  for (const auto& module : modules()) {
    for (const auto& variable : module->variables)
      if (variable->managed) give_up("managed variables of the program lie elsewhere in each version");
    if (!module->kernels.empty())
      find_kernel(module->kernels.front()->host_function);
    else if (!module->variables.empty())
      find_variable(module->variables.front()->host_variable);
  }
}

// The nth of that name: two files may each have a static variable of one name.
Variable* variable_named(const std::string& name, size_t nth) {
  for (const auto& module : modules())
    for (const auto& variable : module->variables)
      if (variable->name == name && variable->address && nth-- == 0) return variable.get();
  return nullptr;
}

Kernel* kernel_named(const std::string& name) {
  for (const auto& module : modules())
    for (const auto& kernel : module->kernels)
      if (kernel->name == name) return find_kernel(kernel->host_function);
  give_up("this version has no kernel " + name);
}

void restore_memory(const JsonValue& dispatch, const Mapped& image) {
  clear_for_replay(0);
  std::map<std::string, size_t> seen;
  Touched touched;                                              // in no order that the program had
  for (const JsonValue& memory : dispatch["memory"].items()) {  // the highest addresses first
    const uint64_t bytes = memory["bytes"].unsigned_or(0);
    const std::string& symbol = memory["symbol"].text();
    if (symbol.empty()) {
      const Allocation* made = allocate_at(memory["address"].unsigned_or(0), bytes, kind_of(memory["kind"].text()),
                                           memory["id"].unsigned_or(0));
      if (!made) give_up("device memory of the recording cannot lie where it lay");
      restore(reinterpret_cast<void*>(made->base), bytes, memory["parts"], image);  // NOLINT(performance-no-int-to-ptr)
      touched.push_back({made->base, made->base + bytes, bytes});
      continue;
    }
    const Variable* variable = variable_named(symbol, seen[symbol]++);
    if (!variable) continue;  // this version does without it
    if (variable->bytes != bytes) give_up("the variable " + symbol + " has another size than in the recording");
    make_writable(variable->address, bytes);
    restore(variable->address, bytes, memory["parts"], image);
  }
  L2Contents::instance().touch(std::move(touched));
}

Dim3 shape_of(const JsonValue& value) {
  const auto at = [&](size_t i) { return static_cast<uint32_t>(value.items()[i].unsigned_or(1)); };
  return {at(0), at(1), at(2)};
}

std::vector<char> bytes_of(const std::string& hex) {
  std::vector<char> bytes(hex.size() / 2);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(std::stoul(hex.substr(2 * i, 2), nullptr, 16));
  return bytes;
}

// The arguments by the number of their parameter.
int launch_recorded(const JsonValue& dispatch, Kernel* kernel) {
  if (!kernel) give_up("the kernel's device code cannot be loaded");
  std::vector<std::vector<char>> values;
  for (const JsonValue& argument : dispatch["arguments"].items()) values.push_back(bytes_of(argument.text()));
  if (values.size() != kernel->parameters.size()) give_up("the kernel takes other parameters than in the recording");
  std::vector<void*> pointers(values.size());
  for (const Parameter& parameter : kernel->parameters) {
    if (parameter.index >= values.size() || values[parameter.index].size() != parameter.size)
      give_up("the kernel takes other parameters than in the recording");
    pointers[parameter.index] = values[parameter.index].data();
  }
  const uint64_t shared = dispatch["dynamic_lds"].unsigned_or(0);
  kernel->dynamic_lds_limit = std::max(kernel->dynamic_lds_limit, shared);
  return host::launch_kernel(kernel, shape_of(dispatch["grid"]), shape_of(dispatch["block"]), pointers.data(), shared,
                             nullptr, dispatch["cooperative"].boolean());
}

uintptr_t end_of(const JsonValue& plan) {
  uint64_t end = 0;
  for (const JsonValue& dispatch : plan["dispatches"].items())
    for (const JsonValue& memory : dispatch["memory"].items()) {
      const uint64_t bytes = memory["bytes"].unsigned_or(0);
      end = std::max(end, memory["address"].unsigned_or(0) + bytes + most_room(bytes));
    }
  return end;
}

// `kernels`: of each dispatch; null: by their names. Returns the exit status.
int replay(Kernel* const* kernels, uint64_t count) {
  const Mapped text = map_file(plan_path());
  bool ok = false;
  const JsonValue plan = JsonValue::parse({text.data, text.bytes}, &ok);
  if (!ok || plan["version"].unsigned_or(0) != kPlanVersion) give_up("the plan is damaged or of another release");
  const Mapped image = map_file(plan["image"].text());
  replaying = true;
  const std::vector<JsonValue>& dispatches = plan["dispatches"].items();
  if (kernels && count != dispatches.size()) give_up("the plan is damaged");
  const Call call(target_device().amd() ? Vendor::kHip : Vendor::kCuda);
  load_everything();
  clear_for_replay(end_of(plan));
  for (size_t i = 0; i < dispatches.size(); ++i) {
    restore_memory(dispatches[i], image);
    const int error =
        launch_recorded(dispatches[i], kernels ? kernels[i] : kernel_named(dispatches[i]["kernel"].text()));
    if (error != kSuccess || call.sticky() != kSuccess) {
      std::fprintf(stderr, "intelliperf: the replayed launch ended with %s\n",
                   error_name(current_vendor(), error != kSuccess ? error : call.sticky()));
      return 1;
    }
  }
  return 0;
}

int replay_main(int, char**, char**) { return replay(nullptr, 0); }

}  // namespace

void refuse_launch_beside_replay() {
  if (!replaying && plan_path()) give_up("the program loads its device code after its start");
}

}  // namespace simt

namespace {

int (*application_main)(int, char**, char**);

int timed_main(int count, char** arguments, char** environment) {
  simt::host_begins();
  return application_main(count, arguments, environment);
}

}  // namespace

// Of an interpreter, whose kernels were compiled by an earlier run and are loaded by now. Ends the process.
extern "C" __attribute__((visibility("default"))) void __simt_replay(simt::Kernel* const* kernels, uint64_t count) {
  std::exit(simt::replay(kernels, count));
}

// glibc's own, which the program's start code calls with the address of main; this library stands before it.
extern "C" __attribute__((visibility("default"))) int __libc_start_main(int (*main)(int, char**, char**), int count,
                                                                        char** arguments, void (*init)(),
                                                                        void (*fini)(), void (*loader_fini)(),
                                                                        void* stack_end) {
  using Start = int (*)(int (*)(int, char**, char**), int, char**, void (*)(), void (*)(), void (*)(), void*);
  const auto start = reinterpret_cast<Start>(dlsym(RTLD_NEXT, "__libc_start_main"));
  application_main = main;
  return start(simt::plan_path() ? simt::replay_main : timed_main, count, arguments, init, fini, loader_fini,
               stack_end);
}
