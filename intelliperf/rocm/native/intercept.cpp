#include "intercept.h"

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <mutex>

#include "dispatches.h"
#include "pools.h"
#include "programs.h"
#include "session.h"
#include "share.h"

namespace intelliperf {

namespace {

struct State {
  explicit State(const Functions& runtime) : runtime(runtime), pools(runtime), programs(runtime) {}
  const Functions& runtime;
  std::recursive_mutex lock;
  Pools pools;
  Programs programs;
  Session session;
  int poison = -1;
  Rounding rounding = Rounding::kNearest;
  pid_t owner = 0;
};

State* state = nullptr;

bool watching() { return getpid() == state->owner; }  // a forked child says nothing

using Hold = std::lock_guard<std::recursive_mutex>;

// ---- memory ----------------------------------------------------------------------------------

void fresh(const void* at, size_t bytes, MemoryKind kind) {
  if (!watching() || !at || bytes == 0) return;
  const auto base = reinterpret_cast<uint64_t>(at);
  const Hold hold(state->lock);
  state->session.allocations().add(base, bytes, kind);
}

hsa_status_t pool_allocate(hsa_amd_memory_pool_t pool, size_t bytes, uint32_t flags, void** made) {
  const hsa_status_t status = state->runtime.amd.hsa_amd_memory_pool_allocate_fn(pool, bytes, flags, made);
  if (status != HSA_STATUS_SUCCESS || !watching()) return status;
  const Hold hold(state->lock);
  const bool device = state->pools.on_device(pool);
  fresh(*made, bytes, device ? MemoryKind::kDevice : MemoryKind::kRuntime);
  const uint32_t byte = static_cast<uint32_t>(state->poison) & 0xff;
  if (device && state->poison >= 0) state->runtime.amd.hsa_amd_memory_fill_fn(*made, byte * 0x01010101u, bytes / 4);
  return status;
}

void gone(const void* at) {
  if (!watching()) return;
  const Hold hold(state->lock);
  state->session.allocations().remove(reinterpret_cast<uint64_t>(at));
}

hsa_status_t pool_free(void* at) {
  gone(at);
  return state->runtime.amd.hsa_amd_memory_pool_free_fn(at);
}

hsa_status_t region_allocate(hsa_region_t region, size_t bytes, void** made) {
  const hsa_status_t status = state->runtime.core.hsa_memory_allocate_fn(region, bytes, made);
  hsa_amd_memory_pool_t same{region.handle};  // regions and pools are the same objects to ROCr
  if (status != HSA_STATUS_SUCCESS || !watching()) return status;
  const Hold hold(state->lock);
  fresh(*made, bytes, state->pools.on_device(same) ? MemoryKind::kDevice : MemoryKind::kRuntime);
  return status;
}

hsa_status_t region_free(void* at) {
  gone(at);
  return state->runtime.core.hsa_memory_free_fn(at);
}

hsa_status_t lock_host(void* host, size_t bytes, hsa_agent_t* agents, int count, void** made) {
  const hsa_status_t status = state->runtime.amd.hsa_amd_memory_lock_fn(host, bytes, agents, count, made);
  if (status == HSA_STATUS_SUCCESS) fresh(*made, bytes, MemoryKind::kRuntime);
  return status;
}

bool copy(void* to, const Buffer& from) {
  const auto* source = reinterpret_cast<const void*>(from.base);  // NOLINT(performance-no-int-to-ptr)
  if (from.kind != MemoryKind::kRuntime)
    return state->runtime.core.hsa_memory_copy_fn(to, source, from.bytes) == HSA_STATUS_SUCCESS;
  std::memcpy(to, source, from.bytes);
  return true;
}

Shared share(const Buffer& buffer) { return share_memory(state->runtime, buffer); }

// ---- programs --------------------------------------------------------------------------------

hsa_status_t load_code_object(hsa_executable_t executable, hsa_agent_t agent, hsa_code_object_reader_t reader,
                              const char* options, hsa_loaded_code_object_t* loaded) {
  hsa_loaded_code_object_t own{};
  hsa_loaded_code_object_t* into = loaded ? loaded : &own;
  const auto load = state->runtime.core.hsa_executable_load_agent_code_object_fn;
  const hsa_status_t status = load(executable, agent, reader, options, into);
  if (status != HSA_STATUS_SUCCESS || !watching()) return status;
  const Hold hold(state->lock);
  state->programs.load(executable, *into);
  return status;
}

hsa_status_t freeze(hsa_executable_t executable, const char* options) {
  const hsa_status_t status = state->runtime.core.hsa_executable_freeze_fn(executable, options);
  if (status != HSA_STATUS_SUCCESS || !watching()) return status;
  const Hold hold(state->lock);
  for (const Variable& variable : state->programs.freeze(executable))
    state->session.allocations().add(variable.base, variable.bytes, MemoryKind::kSymbol, variable.name);
  if (state->rounding != Rounding::kNearest) state->programs.round(executable, state->rounding);
  return status;
}

hsa_status_t destroy(hsa_executable_t executable) {
  if (watching()) {
    const Hold hold(state->lock);
    for (const uint64_t base : state->programs.destroy(executable)) state->session.allocations().remove(base);
  }
  return state->runtime.core.hsa_executable_destroy_fn(executable);
}

// ---- dispatches ------------------------------------------------------------------------------

// Those of the HIP runtime, which copies and fills with kernels of its own.
bool is_runtimes_own(const std::string& kernel) { return kernel.rfind("__amd_rocclr_", 0) == 0; }

Launch described(const hsa_kernel_dispatch_packet_t& packet, const LoadedKernel* kernel) {
  Launch launch;
  launch.kernel = kernel ? kernel->symbol : "";
  const Grid grid(packet);
  std::memcpy(launch.block, grid.items, sizeof grid.items);
  std::memcpy(launch.grid, grid.groups, sizeof grid.groups);
  if (!kernel || !kernel->layout) return launch;
  const KernelLayout& layout = *kernel->layout;
  launch.dynamic_lds =
      packet.group_segment_size > layout.group_bytes ? packet.group_segment_size - layout.group_bytes : 0;
  launch.known_arguments = packet.kernarg_address != nullptr || layout.arguments.empty();
  const auto* values = static_cast<const unsigned char*>(packet.kernarg_address);
  for (const ArgumentLayout& argument : layout.arguments) {
    if (!values || argument.offset + argument.bytes > layout.kernarg_bytes) break;
    const unsigned char* from = values + argument.offset;
    launch.arguments.push_back({{from, from + argument.bytes}, argument.pointer});
  }
  return launch;
}

// Since ROCr 6.4, whatever headers this was built with: addresses without memory, and such with memory mapped to them.
constexpr int kReservedAddress = 5, kMappedMemory = 6;

// Memory that was not allocated through functions that we watch: managed, mapped, another process's. Nobody says when it
// goes, so that it is looked up again for each dispatch.
void find_unknown(const Launch& launch) {
  Allocations& allocations = state->session.allocations();
  for (size_t number = 0; number < launch.arguments.size(); ++number) {
    const Argument& argument = launch.arguments[number];
    uint64_t address = 0;
    if (!argument.pointer || argument.value.size() != sizeof address) continue;
    std::memcpy(&address, argument.value.data(), sizeof address);
    const Buffer* known = allocations.find(address);
    const bool watched = known && known->kind != MemoryKind::kManaged && known->kind != MemoryKind::kMapped;
    if (address == 0 || watched) continue;
    hsa_amd_pointer_info_t info{};
    info.size = sizeof info;
    const auto* at = reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr)
    const auto query = state->runtime.amd.hsa_amd_pointer_info_fn;
    const bool told = query(const_cast<void*>(at), &info, nullptr, nullptr, nullptr) == HSA_STATUS_SUCCESS &&
                      info.type != HSA_EXT_POINTER_TYPE_UNKNOWN && info.type != kReservedAddress &&
                      info.agentBaseAddress;
    const auto base = reinterpret_cast<uint64_t>(info.agentBaseAddress);
    if (told && known && known->base == base && known->bytes == info.sizeInBytes) continue;
    if (known) allocations.remove(known->base);
    if (told) {
      fresh(info.agentBaseAddress, info.sizeInBytes,
            info.type == kMappedMemory ? MemoryKind::kMapped : MemoryKind::kManaged);
    } else {
      const std::string what = "argument " + std::to_string(number + 1) + " of " + launch.kernel +
                               " points to memory that " +
                               "ROCr did not allocate (shared virtual memory, or the host's own): it was not compared";
      state->session.cannot_compare(what.c_str());
    }
  }
}

void run_target(const hsa_kernel_dispatch_packet_t& packet, const LoadedKernel& kernel, Writer writer) {
  const Launch launch = described(packet, &kernel);
  const auto after = [launch] {
    const Hold hold(state->lock);
    find_unknown(launch);
    state->session.dispatch(launch, 0, true);
  };
  run_alone(state->runtime, packet, writer, after);
}

// What a packet launches; nothing for other packets.
std::optional<LoadedKernel> told_of(const hsa_kernel_dispatch_packet_t& packet, bool& target) {
  if (!is_dispatch(packet)) return std::nullopt;
  const Hold hold(state->lock);
  const LoadedKernel* found = state->programs.find(packet.kernel_object);
  const bool counts = !found || !is_runtimes_own(found->symbol);
  target = found && counts && state->session.is_target(found->symbol);
  if (target) return *found;
  if (counts) state->session.dispatch(described(packet, found), 0, false);
  return std::nullopt;
}

// Packets between targets are passed on together, as they came.
void on_packets(const void* packets, uint64_t count, uint64_t, void*, Writer writer) {
  const auto* all = static_cast<const hsa_kernel_dispatch_packet_t*>(packets);  // every packet has 64 bytes
  if (!watching()) return writer(packets, count);
  uint64_t passed = 0;
  for (uint64_t i = 0; i < count; ++i) {
    bool target = false;
    const std::optional<LoadedKernel> kernel = told_of(all[i], target);
    if (!target) continue;
    if (passed < i) writer(&all[passed], i - passed);
    run_target(all[i], *kernel, writer);
    passed = i + 1;
  }
  if (passed < count) writer(&all[passed], count - passed);
}

hsa_status_t create_queue(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
                          void (*on_error)(hsa_status_t, hsa_queue_t*, void*), void* data, uint32_t private_bytes,
                          uint32_t group_bytes, hsa_queue_t** queue) {
  const QueueRequest request{agent, size, type, on_error, data, private_bytes, group_bytes};
  if (watching()) return create_watched_queue(state->runtime, request, on_packets, queue);
  return state->runtime.core.hsa_queue_create_fn(agent, size, type, on_error, data, private_bytes, group_bytes, queue);
}

std::string text_of(const char* variable) {
  const char* text = std::getenv(variable);
  return text ? text : "";
}

std::string device_name() { return state->pools.device_name(); }
unsigned wave_size() { return state->pools.wave_size(); }

}  // namespace

void start_intercept(HsaApiTable& table, const Functions& runtime, const char* way) {
  state = new State(runtime);
  state->owner = getpid();
  const std::string poison = text_of("INTELLIPERF_POISON");
  if (!poison.empty()) state->poison = std::atoi(poison.c_str()) & 0xff;
  const std::string rounding = text_of("INTELLIPERF_ROUNDING");
  if (!rounding.empty()) state->rounding = rounding == "up" ? Rounding::kUp : Rounding::kDown;
  state->session.open(std::getenv("INTELLIPERF_EXPORT_SOCKET"), {"rocm", device_name, wave_size, copy, share, way});
  table.core_->hsa_queue_create_fn = create_queue;
  table.core_->hsa_memory_allocate_fn = region_allocate;
  table.core_->hsa_memory_free_fn = region_free;
  table.core_->hsa_executable_load_agent_code_object_fn = load_code_object;
  table.core_->hsa_executable_freeze_fn = freeze;
  table.core_->hsa_executable_destroy_fn = destroy;
  table.amd_ext_->hsa_amd_memory_pool_allocate_fn = pool_allocate;
  table.amd_ext_->hsa_amd_memory_pool_free_fn = pool_free;
  table.amd_ext_->hsa_amd_memory_lock_fn = lock_host;
  std::atexit(end_intercept);
}

void end_intercept() {
  if (!state || !watching()) return;
  await_followed();
  state->session.end();
}

}  // namespace intelliperf
