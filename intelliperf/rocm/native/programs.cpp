#include "programs.h"

#include <cstring>

namespace intelliperf {

namespace {

bool ends_with(const std::string& text, const char* end) {
  const size_t length = std::strlen(end);
  return text.size() >= length && text.compare(text.size() - length, length, end) == 0;
}

// Marks of the compiler that no program reads.
bool is_compilers_own(const std::string& variable) { return variable.rfind("__hip_cuid_", 0) == 0; }

}  // namespace

std::string plain_symbol(const std::string& symbol) {
  const std::string name = ends_with(symbol, ".kd") ? symbol.substr(0, symbol.size() - 3) : symbol;
  for (const char* mark : {".intern.", ".static.", "__intern__", "__static__"}) {
    const size_t at = name.rfind(mark);
    if (at == std::string::npos || at == 0) continue;
    const std::string hash = name.substr(at + std::strlen(mark));
    if (!hash.empty() && hash.find_first_not_of("0123456789abcdef") == std::string::npos) return name.substr(0, at);
  }
  return name;
}

void Programs::load(hsa_executable_t executable, hsa_loaded_code_object_t loaded) {
  if (!has_loader_) {
    const auto status =
        runtime_.core.hsa_system_get_major_extension_table_fn(HSA_EXTENSION_AMD_LOADER, 1, sizeof loader_, &loader_);
    if (status != HSA_STATUS_SUCCESS || !loader_.hsa_ven_amd_loader_loaded_code_object_get_info) return;
    has_loader_ = true;
  }
  const auto info = loader_.hsa_ven_amd_loader_loaded_code_object_get_info;
  uint64_t base = 0, bytes = 0;
  if (info(loaded, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_MEMORY_BASE, &base) !=
          HSA_STATUS_SUCCESS ||
      info(loaded, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_MEMORY_SIZE, &bytes) !=
          HSA_STATUS_SUCCESS)
    return;
  auto& layouts = executables_[executable.handle].layouts;
  const auto* code_object = reinterpret_cast<const void*>(base);  // NOLINT(performance-no-int-to-ptr)
  for (const auto& [symbol, layout] : kernel_layouts(code_object, bytes)) layouts[symbol] = layout;
}

struct Programs::Visit {
  Programs* programs;
  hsa_executable_t executable;
};

std::vector<Variable> Programs::freeze(hsa_executable_t executable) {
  Visit visit{this, executable};
  const auto each_symbol = [](hsa_executable_t frozen, hsa_agent_t, hsa_executable_symbol_t symbol, void* data) {
    auto* self = static_cast<Visit*>(data)->programs;
    self->take_in(frozen.handle, symbol);
    return HSA_STATUS_SUCCESS;
  };
  struct Agents {
    Visit* visit;
    hsa_status_t (*each)(hsa_executable_t, hsa_agent_t, hsa_executable_symbol_t, void*);
  } agents{&visit, each_symbol};
  runtime_.core.hsa_iterate_agents_fn(
      [](hsa_agent_t agent, void* data) {
        const auto* all = static_cast<Agents*>(data);
        const auto& core = all->visit->programs->runtime_.core;
        core.hsa_executable_iterate_agent_symbols_fn(all->visit->executable, agent, all->each, all->visit);
        return HSA_STATUS_SUCCESS;
      },
      &agents);
  return executables_[executable.handle].variables;
}

void Programs::take_in(uint64_t handle, hsa_executable_symbol_t symbol) {
  Executable& executable = executables_[handle];
  const auto& info = runtime_.core.hsa_executable_symbol_get_info_fn;
  hsa_symbol_kind_t kind{};
  uint32_t length = 0;
  if (info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_TYPE, &kind) != HSA_STATUS_SUCCESS) return;
  if (info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH, &length) != HSA_STATUS_SUCCESS) return;
  std::string name(length, '\0');
  if (info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME, name.data()) != HSA_STATUS_SUCCESS) return;
  if (kind == HSA_SYMBOL_KIND_KERNEL) {
    uint64_t object = 0;
    if (info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &object) != HSA_STATUS_SUCCESS) return;
    LoadedKernel kernel{plain_symbol(name), std::nullopt, handle};
    const auto layout = executable.layouts.find(name);
    if (layout != executable.layouts.end()) kernel.layout = layout->second;
    kernels_[object] = kernel;
    executable.kernels.push_back(object);
  } else if (kind == HSA_SYMBOL_KIND_VARIABLE && !is_compilers_own(name)) {
    Variable variable{plain_symbol(name), 0, 0};
    uint32_t bytes = 0;
    if (info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS, &variable.base) != HSA_STATUS_SUCCESS) return;
    if (info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SIZE, &bytes) != HSA_STATUS_SUCCESS || bytes == 0) return;
    variable.bytes = bytes;
    executable.variables.push_back(variable);
  }
}

void Programs::round(hsa_executable_t executable, Rounding rounding) {
  constexpr uint64_t kResources1 = 48;  // COMPUTE_PGM_RSRC1 in the kernel descriptor, which is what a kernel object is
  constexpr uint32_t kFloat = 12, kHalfAndDouble = 14, kField = 3;
  const auto mode = static_cast<uint32_t>(rounding);
  for (const uint64_t kernel : executables_[executable.handle].kernels) {
    auto* at = reinterpret_cast<void*>(kernel + kResources1);  // NOLINT(performance-no-int-to-ptr)
    uint32_t resources = 0;
    const auto copy = runtime_.core.hsa_memory_copy_fn;
    if (copy(&resources, at, sizeof resources) != HSA_STATUS_SUCCESS) continue;
    resources &= ~(kField << kFloat | kField << kHalfAndDouble);
    resources |= mode << kFloat | mode << kHalfAndDouble;
    copy(at, &resources, sizeof resources);
  }
}

std::vector<uint64_t> Programs::destroy(hsa_executable_t executable) {
  std::vector<uint64_t> bases;
  const auto found = executables_.find(executable.handle);
  if (found == executables_.end()) return bases;
  for (const uint64_t kernel : found->second.kernels) kernels_.erase(kernel);
  for (const Variable& variable : found->second.variables) bases.push_back(variable.base);
  executables_.erase(found);
  return bases;
}

const LoadedKernel* Programs::find(uint64_t kernel_object) const {
  const auto found = kernels_.find(kernel_object);
  return found == kernels_.end() ? nullptr : &found->second;
}

const Variable* Programs::variable(const LoadedKernel& kernel, const std::string& name) const {
  const auto found = executables_.find(kernel.executable);
  if (found == executables_.end()) return nullptr;
  for (const Variable& variable : found->second.variables)
    if (variable.name == name) return &variable;
  return nullptr;
}

}  // namespace intelliperf
