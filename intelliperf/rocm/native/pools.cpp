#include "pools.h"

namespace intelliperf {

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
          bool gpu;
        } found{self, gpu};
        self->runtime_.amd.hsa_amd_agent_iterate_memory_pools_fn(
            agent,
            [](hsa_amd_memory_pool_t pool, void* into) {
              const auto* seen = static_cast<Found*>(into);
              seen->self->on_device_[pool.handle] = seen->gpu;
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

}  // namespace intelliperf
