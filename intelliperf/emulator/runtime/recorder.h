// The record files of INTELLIPERF_TRACE_DIR. Lines and records are appended launch by launch, so that a
// process that dies leaves what it had. The first failure to write is said once; then nothing more is
// written, and end.json stays away.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "abi.h"

namespace simt {

class Recorder {
 public:
  static Recorder& instance();

  bool active() const { return directory_ >= 0; }
  uint32_t next_launch();
  void launch_line(const std::string& json);
  void fault_line(const std::string& json);
  void call_line(const std::string& json);
  void call_site_line(const std::string& json);
  void sites(const std::vector<SiteRecord>& records);
  void blocks(const std::vector<BlockRecord>& records);
  void code_object(uint32_t id, const std::vector<char>& image);  // as the module's metadata names it
  void module(uint32_t id, const std::string& metadata);
  void stopped_after(uint64_t launches) { stopped_after_ = launches; }  // by the runtime; before `finish`
  void finish(bool complete, int exit_status);

 private:
  Recorder();
  void claim();
  void append(int& descriptor, const char* name, const void* data, size_t bytes);
  bool write_all(int descriptor, const void* data, size_t bytes);
  void fail(const char* name);

  int directory_ = -1;
  int launch_file_ = -1, fault_file_ = -1, site_file_ = -1, block_file_ = -1, call_file_ = -1, call_site_file_ = -1;
  uint32_t launches_ = 0, asked_ = 0;  // what launches follow, see host_seeds.h
  int process_ = 0;                    // a forked child writes nothing
  bool finished_ = false;
  uint64_t stopped_after_ = 0;
};

}  // namespace simt
