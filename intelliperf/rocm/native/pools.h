// Which memory pools belong to GPUs, and what the first GPU is.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "tables.h"

namespace intelliperf {

class Pools {
 public:
  explicit Pools(const Functions& runtime) : runtime_(runtime) {}
  bool on_device(hsa_amd_memory_pool_t pool);
  std::string device_name();
  unsigned wave_size();
  // The GPU's own memory; null where there is none.
  void* allocate_on(hsa_agent_t gpu, size_t bytes);

 private:
  void look();

  const Functions& runtime_;
  bool looked_ = false;
  std::map<uint64_t, bool> on_device_;  // by pool
  hsa_agent_t gpu_{};
  std::map<uint64_t, hsa_amd_memory_pool_t> own_;  // by GPU
};

}  // namespace intelliperf
