#include "pools.h"

namespace intelliperf {

namespace {

// Which host and device do not share while a kernel runs.
bool is_coarse_grained(const Functions& runtime, hsa_amd_memory_pool_t pool) {
  const auto info = runtime.amd.hsa_amd_memory_pool_get_info_fn;
  hsa_amd_segment_t segment{};
  uint32_t flags = 0;
  if (info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment) != HSA_STATUS_SUCCESS) return false;
  if (segment != HSA_AMD_SEGMENT_GLOBAL) return false;
  if (info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags) != HSA_STATUS_SUCCESS) return false;
  return (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED) != 0;
}

}  // namespace

void Pools::look() {
  if (looked_) return;
  looked_ = true;
  runtime_.core.hsa_iterate_agents_fn(
      [](hsa_agent_t agent, void* data) {
        auto* self = static_cast<Pools*>(data);
        hsa_device_type_t type{};
        if (self->runtime_.core.hsa_agent_get_info_fn(agent, HSA_AGENT_INFO_DEVICE, &type) != HSA_STATUS_SUCCESS)
          return HSA_STATUS_SUCCESS;
        const bool gpu = type == HSA_DEVICE_TYPE_GPU;
        if (gpu && self->gpu_.handle == 0) self->gpu_ = agent;
        struct Found {
          Pools* self;
          hsa_agent_t agent;
          bool gpu;
        } found{self, agent, gpu};
        self->runtime_.amd.hsa_amd_agent_iterate_memory_pools_fn(
            agent,
            [](hsa_amd_memory_pool_t pool, void* into) {
              const auto* seen = static_cast<Found*>(into);
              seen->self->on_device_[pool.handle] = seen->gpu;
              if (seen->gpu && is_coarse_grained(seen->self->runtime_, pool))
                seen->self->own_.emplace(seen->agent.handle, pool);
              return HSA_STATUS_SUCCESS;
            },
            &found);
        return HSA_STATUS_SUCCESS;
      },
      this);
}

bool Pools::on_device(hsa_amd_memory_pool_t pool) {
  look();
  const auto found = on_device_.find(pool.handle);
  return found != on_device_.end() && found->second;
}

std::string Pools::device_name() {
  look();
  char name[64] = "";
  if (gpu_.handle) runtime_.core.hsa_agent_get_info_fn(gpu_, HSA_AGENT_INFO_NAME, name);
  return name[0] ? name : "HSA";
}

unsigned Pools::wave_size() {
  look();
  uint32_t lanes = 0;
  if (gpu_.handle) runtime_.core.hsa_agent_get_info_fn(gpu_, HSA_AGENT_INFO_WAVEFRONT_SIZE, &lanes);
  return lanes ? lanes : 64;
}

void* Pools::allocate_on(hsa_agent_t gpu, size_t bytes) {
  look();
  void* made = nullptr;
  const auto pool = own_.find(gpu.handle);
  if (pool == own_.end()) return nullptr;
  const auto allocate = runtime_.amd.hsa_amd_memory_pool_allocate_fn;
  return allocate(pool->second, bytes, 0, &made) == HSA_STATUS_SUCCESS ? made : nullptr;
}

}  // namespace intelliperf
