#include "recorder.h"

#include "code_object.h"
#include "host_calls.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "host_seeds.h"
#include "launch.h"
#include "settings.h"
#include "time_model.h"

namespace simt {

Recorder& Recorder::instance() {
  static Recorder* recorder = new Recorder;  // outlives static destructors
  return *recorder;
}

Recorder::Recorder() {
  const std::string& path = settings().trace_directory;
  if (path.empty()) return;
  process_ = getpid();
  mkdir(path.c_str(), 0777);
  directory_ = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory_ < 0) {
    fail(path.c_str());
    return;
  }
  claim();
}

// The first process has the directory to itself; others that are given the same one get parts of it.
void Recorder::claim() {
  const int flags = O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC;
  launch_file_ = openat(directory_, "launches.jsonl", flags, 0666);
  if (launch_file_ >= 0 || errno != EEXIST) return;
  char name[32];
  snprintf(name, sizeof name, "process-%d", process_);
  mkdirat(directory_, name, 0777);
  const int own = openat(directory_, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (own < 0) {
    fail(name);
    return;
  }
  close(directory_);
  directory_ = own;
}

void Recorder::fail(const char* name) {
  fprintf(stderr, "intelliperf: cannot write the trace (%s): %s\n", name, strerror(errno));
  if (directory_ >= 0) close(directory_);
  directory_ = -1;
  finished_ = true;
}

bool Recorder::write_all(int descriptor, const void* data, size_t bytes) {
  const char* at = static_cast<const char*>(data);
  while (bytes) {
    const ssize_t written = write(descriptor, at, bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    at += written;
    bytes -= size_t(written);
  }
  return true;
}

void Recorder::append(int& descriptor, const char* name, const void* data, size_t bytes) {
  if (!active() || getpid() != process_) return;
  if (descriptor < 0) descriptor = openat(directory_, name, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor < 0 || !write_all(descriptor, data, bytes)) fail(name);
}

uint32_t Recorder::next_launch() {
  asked_ |= asked_by_program();
  return launches_++;
}

void Recorder::launch_line(const std::string& json) {
  append(launch_file_, "launches.jsonl", (json + "\n").data(), json.size() + 1);
}

void Recorder::call_line(const std::string& json) {
  append(call_file_, "calls.jsonl", (json + "\n").data(), json.size() + 1);
}

void Recorder::call_site_line(const std::string& json) {
  append(call_site_file_, "callsites.jsonl", (json + "\n").data(), json.size() + 1);
}

void Recorder::fault_line(const std::string& json) {
  append(fault_file_, "faults.jsonl", (json + "\n").data(), json.size() + 1);
}

void Recorder::sites(const std::vector<SiteRecord>& records) {
  append(site_file_, "sites.bin", records.data(), records.size() * sizeof(SiteRecord));
}

void Recorder::blocks(const std::vector<BlockRecord>& records) {
  append(block_file_, "blocks.bin", records.data(), records.size() * sizeof(BlockRecord));
}

void Recorder::module(uint32_t id, const std::string& metadata) {
  char name[48];
  snprintf(name, sizeof name, "module-%u.json", id);
  int descriptor = -1;
  append(descriptor, name, metadata.data(), metadata.size());
  if (descriptor >= 0) close(descriptor);
}

void Recorder::code_object(uint32_t id, const std::vector<char>& image) {
  int descriptor = -1;
  append(descriptor, code_object_name(id).c_str(), image.data(), image.size());
  if (descriptor >= 0) close(descriptor);
}

void Recorder::finish(bool complete, int exit_status) {
  if (!active() || finished_ || getpid() != process_) return;
  // Readers expect every file, also when nothing was launched or went wrong.
  append(launch_file_, "launches.jsonl", "", 0);
  append(fault_file_, "faults.jsonl", "", 0);
  append(call_file_, "calls.jsonl", "", 0);
  append(call_site_file_, "callsites.jsonl", "", 0);
  append(site_file_, "sites.bin", "", 0);
  append(block_file_, "blocks.bin", "", 0);
  if (!active()) return;
  finished_ = true;
  char text[240];
  const int length =
      snprintf(text, sizeof text,
               "{\"abi\":%u,\"complete\":%s,\"exit\":%d,\"host_ns\":%.0f,\"stopped_after\":%llu,\"in_host_code\":%s,"
               "\"asked\":%u}\n",
               kAbiVersion, complete ? "true" : "false", exit_status, host_ns_since_last_call(),
               static_cast<unsigned long long>(stopped_after_), in_host_code() ? "true" : "false", asked_);
  int descriptor = -1;
  append(descriptor, "end.json", text, size_t(length));
  if (descriptor >= 0) close(descriptor);
}

Transferred record_transfer(const char* operation, uint64_t bytes, uint64_t stream) {
  Recorder& recorder = Recorder::instance();
  const Transferred made{recorder.next_launch(), transfer_time_ns(operation, bytes)};
  JsonWriter line;
  line.begin_object();
  line.key("index").number(made.index);
  line.key("operation").string(operation);
  line.key("bytes").number(bytes);
  line.key("stream").number(stream);
  line.key("time_ns").real(made.time_ns);
  line.end_object();
  recorder.launch_line(line.text());
  return made;
}

std::string code_object_name(uint32_t id) { return "module-" + std::to_string(id) + ".co"; }

void record_module(const Module& module) {
  if (module.code) Recorder::instance().code_object(module.id, module.code->image());
  Recorder::instance().module(module.id, module.metadata_text);
}

void finish_records(bool complete, int exit_status) { Recorder::instance().finish(complete, exit_status); }

}  // namespace simt
