#include "modules.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <unordered_map>

#include "code_module.h"
#include "launch.h"
#include "lds_guards.h"
#include "memory.h"
#include "module_registry.h"
#include "properties.h"
#include "settings.h"
#include "shadow.h"

namespace simt {

namespace {

struct Registry {
  std::vector<std::unique_ptr<Module>> modules;
  std::unordered_map<const void*, Kernel*> kernels;
  std::unordered_map<const void*, Variable*> variables;
};

Registry& registry() {
  static auto* const instance = new Registry;  // the application's destructors may still launch
  return *instance;
}

[[noreturn]] void fail(const char* what, const char* detail) {
  std::fprintf(stderr, "intelliperf: %s%s%s\n", what, *detail ? ": " : "", detail);
  std::_Exit(1);
}

Number read_number(const JsonValue& described) {
  const std::string& encoding = described["encoding"].text();
  NumberKind kind = NumberKind::kNone;
  if (encoding == "float") kind = NumberKind::kFloat;
  if (encoding == "signed" || encoding == "unsigned" || encoding == "char") kind = NumberKind::kInteger;
  if (encoding == "boolean") kind = NumberKind::kBoolean;
  if (encoding == "bfloat") kind = NumberKind::kBrain;
  return Number{kind, static_cast<uint32_t>(described["bytes"].unsigned_or(0))};
}

void read_parameters(const JsonValue& described, Kernel& kernel) {
  kernel.has_parameters = true;
  for (const JsonValue& entry : described["parameters"].items()) {
    Parameter parameter{};
    parameter.index = static_cast<uint32_t>(entry["index"].unsigned_or(kernel.parameters.size()));
    parameter.size = entry["size"].unsigned_or(0);
    parameter.pointer = entry["pointer"].boolean();
    if (parameter.pointer) parameter.pointers.push_back(0);
    parameter.number = read_number(entry["number"]);
    for (const JsonValue& member : entry["members"].items())
      if (parameter.number.kind == NumberKind::kNone)
        parameter.members.push_back({member["offset"].unsigned_or(0), read_number(member)});
    parameter.stride = parameter.members.empty() ? 0 : entry["element"]["bytes"].unsigned_or(0);
    parameter.constant = entry["const"].boolean();
    parameter.multiple = static_cast<uint32_t>(entry["multiple"].unsigned_or(1));
    parameter.name = entry["name"].text();
    for (const JsonValue& field : entry["fields"].items())
      if (field["pointer"].is_null() || field["pointer"].boolean())
        parameter.pointers.push_back(field["offset"].unsigned_or(0));
    kernel.parameters.push_back(std::move(parameter));
  }
}

void read_facts(const JsonValue& facts, StaticFacts& into) {
  if (facts.kind() != JsonValue::Kind::kObject) return;
  const auto figure = [&](const char* name) { return static_cast<uint32_t>(facts[name].unsigned_or(0)); };
  into.known = true;
  into.vgprs = figure("vgprs");
  into.agprs = figure("agprs");
  into.sgprs = figure("sgprs");
  into.lds_bytes = figure("lds_bytes");
  into.scratch_bytes = figure("scratch_bytes");
  into.vgpr_spills = figure("vgpr_spills");
  into.sgpr_spills = figure("sgpr_spills");
  into.instructions = figure("instructions");
  into.local_known = facts["local"].kind() == JsonValue::Kind::kArray;
  for (const JsonValue& entry : facts["local"].items()) {
    const auto count = [&](const char* name) { return static_cast<uint32_t>(entry[name].unsigned_or(0)); };
    LocalAccesses access{{}, count("loads"), count("stores"), count("load_bytes"), count("store_bytes")};
    for (const JsonValue& block : entry["blocks"].items())
      access.blocks.push_back(static_cast<uint32_t>(block.unsigned_or(0)));
    into.local.push_back(std::move(access));
  }
}

void describe(Kernel& kernel) {
  const JsonValue& described = kernel.module->metadata["kernels"][kernel.name];
  if (described.kind() != JsonValue::Kind::kObject) return;
  kernel.display = described["name"].text();
  kernel.static_lds = static_cast<uint32_t>(described["static_lds"].unsigned_or(0));
  const uint64_t max_threads = described["max_threads"].unsigned_or(0);
  if (max_threads) kernel.max_threads = static_cast<uint32_t>(max_threads);
  for (const JsonValue& size : described["tiles"].items())
    kernel.tiles.push_back(static_cast<uint32_t>(size.unsigned_or(1)));
  read_parameters(described, kernel);
  read_facts(described["static"], kernel.facts);
}

void parse(Module& module) {
  if (module.metadata.kind() == JsonValue::Kind::kObject || module.metadata_text.empty()) return;
  bool ok = false;
  module.metadata = JsonValue::parse(module.metadata_text, &ok);
  if (!ok || module.metadata.kind() != JsonValue::Kind::kObject)
    fail("a device code container has damaged metadata", "rebuild the application");
  module.target = module.metadata["target"].text();
  module.wave_size = static_cast<uint32_t>(module.metadata["wave_size"].unsigned_or(0));
  for (const auto& entry : module.metadata["device"].members())
    offer_device_default(entry.first.c_str(), entry.second.text().c_str());
  for (const auto& kernel : module.kernels) describe(*kernel);
}

// Through an anonymous file, so that nothing is left behind. The device object finds __simt_* in this library.
void* open_object(const ContainerHeader& header) {
  const int descriptor = memfd_create("intelliperf-module", MFD_CLOEXEC);
  if (descriptor < 0) fail("cannot make a file for device code", std::strerror(errno));
  const char* object = reinterpret_cast<const char*>(&header + 1);
  for (uint64_t done = 0; done < header.object_bytes;) {
    const ssize_t wrote = write(descriptor, object + done, header.object_bytes - done);
    if (wrote < 0) fail("cannot write device code", std::strerror(errno));
    done += static_cast<uint64_t>(wrote);
  }
  Dl_info self{};
  if (dladdr(reinterpret_cast<void*>(&find_kernel), &self) && self.dli_fname)
    dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
  const std::string path = "/proc/self/fd/" + std::to_string(descriptor);
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) fail("cannot load device code", dlerror());
  // Left open: dlopen takes a path that it has seen for the same library, so the number must not come up again.
  return handle;
}

// The real target's compiler may be asked after the code was made: the metadata has the last word on flags.
void correct_sites(Module& module) {
  const auto& described = module.metadata["sites"].items();
  if (described.size() != module.site_count) return;
  module.corrected_sites.assign(module.sites, module.sites + module.site_count);
  for (size_t i = 0; i < described.size(); ++i)
    module.corrected_sites[i].flags = static_cast<uint16_t>(described[i]["flags"].unsigned_or(module.sites[i].flags));
  module.sites = module.corrected_sites.data();
}

template <class T>
T symbol(const Module& module, const std::string& name) {
  return reinterpret_cast<T>(dlsym(module.handle, name.c_str()));
}

// What stands for the entry of code that this processor does not run.
void not_run_here(void**) {}

void resolve(Kernel& kernel) {
  if (kernel.module->code) {
    for (const CodeKernel& code : kernel.module->code->kernels())
      if (code.name == kernel.name) kernel.code = &code;
    if (kernel.code) kernel.fast = kernel.plain = kernel.trace = not_run_here;
    return;
  }
  kernel.fast = symbol<KernelEntry>(*kernel.module, kernel.name + "$fast");
  kernel.plain = kernel.fast;
  if (shadow_active()) {
    const auto shadow = symbol<KernelEntry>(*kernel.module, kernel.name + "$shadow");
    if (shadow)
      kernel.fast = shadow;
    else
      shadow_missing();
  }
  kernel.trace = symbol<KernelEntry>(*kernel.module, kernel.name + "$trace");
}

void resolve(Variable& variable) {
  if (variable.module->code) {
    for (const CodeVariable& code : variable.module->code->variables())
      if (code.name == variable.name)
        variable.address = reinterpret_cast<void*>(code.address);  // NOLINT(performance-no-int-to-ptr)
    if (variable.address && variable.bytes)
      register_memory(reinterpret_cast<uintptr_t>(variable.address), variable.bytes, MemoryKind::kSymbol, 0,
                      variable.name.c_str());
    return;
  }
  if (variable.managed) {  // the device side holds a pointer to the memory, as the host side does
    void** cell = symbol<void**>(*variable.module, variable.name);
    if (cell) *cell = variable.address;
    return;
  }
  variable.address = symbol<void*>(*variable.module, variable.name);
  const JsonValue& described = variable.module->metadata["symbols"][variable.name];
  variable.number = read_number(described["number"]);
  variable.guard = described["guard"].unsigned_or(0);
  variable.fixed = described["fixed"].boolean();
  if (variable.address && variable.bytes)
    register_memory(reinterpret_cast<uintptr_t>(variable.address), variable.bytes, MemoryKind::kSymbol, 0,
                    variable.name.c_str(), variable.guard);
}

// Variables that only device code names are memory that kernels may touch, too.
void add_device_only_variables(Module& module) {
  for (const auto& entry : module.metadata["symbols"].members()) {
    bool known = false;
    for (const auto& variable : module.variables) known |= variable->name == entry.first;
    if (known) continue;
    auto& made = module.variables.emplace_back(std::make_unique<Variable>());
    made->name = entry.first;
    made->module = &module;
    made->bytes = entry.second["size"].unsigned_or(0);
    made->constant = entry.second["constant"].boolean();
  }
}

// Their images in the fields, which are this run's.
void fill_literals(const Module& module) {
  const auto* count = symbol<const uint64_t*>(module, "__simt_shadow_literal_count");
  if (count)
    shadow_constants(symbol<const void*>(module, "__simt_shadow_literals"), *count,
                     symbol<void*>(module, "__simt_shadow_images"));
}

// The metadata of a GPU's own code comes from itself.
void adopt(Module& module, std::shared_ptr<CodeObject> code) {
  const std::string source = module.metadata["source"].text();
  module.metadata_text = describe_code(*code, code_object_name(module.id), source);
  module.code = std::move(code);
  bool ok = false;
  module.metadata = JsonValue::parse(module.metadata_text, &ok);
  module.target = module.metadata["target"].text();
  module.wave_size = machine::kWave;
  module.corrected_sites = sites_of(*module.code);
  module.sites = module.corrected_sites.data();
  module.site_count = static_cast<uint32_t>(module.corrected_sites.size());
  module.block_count = static_cast<uint32_t>(module.metadata["blocks"].items().size());
  module.own_executions.assign(module.block_count, 0);
  module.block_executions = module.own_executions.data();
  module.handle = module.code.get();
  for (const auto& kernel : module.kernels) {
    describe(*kernel);
    resolve(*kernel);
  }
  add_device_only_variables(module);
  for (const auto& variable : module.variables) resolve(*variable);
  record_module(module);
}

void load(Module& module) {
  if (module.handle) return;
  const Device& device = target_device();
  if (module.image) {
    std::string why;
    std::shared_ptr<CodeObject> code = load_code(module.image, &why);
    if (!code) fail("this program's device code cannot be executed", why.c_str());
    adopt(module, std::move(code));
    return;
  }
  if (module.wave_size != device.wave_size) {
    const std::string detail = "built for waves of " + std::to_string(module.wave_size) + " lanes, the device " +
                               device.name + " has " + std::to_string(device.wave_size) + "; rebuild for this target";
    fail("device code does not fit the device", detail.c_str());
  }
  module.handle = open_object(*module.container);
  const auto* site_count = symbol<const uint32_t*>(module, "__simt_site_count");
  module.sites = symbol<const Site*>(module, "__simt_sites");
  module.site_count = site_count ? *site_count : 0;
  correct_sites(module);
  const auto* block_count = symbol<const uint32_t*>(module, "__simt_block_count");
  module.block_executions = symbol<uint64_t*>(module, "__simt_block_executions");
  module.block_count = block_count ? *block_count : 0;
  const auto* reached_count = symbol<const uint32_t*>(module, "__simt_reached_count");
  module.reached = symbol<const uint8_t*>(module, "__simt_reached");
  auto* nan_rank = symbol<uint8_t*>(module, "__simt_nan_rank");
  if (nan_rank) *nan_rank = settings().nan_rank;
  module.reached_count = reached_count && module.reached ? *reached_count : 0;
  char** range = symbol<char**>(module, "__simt_shared_range");
  if (range) {
    module.shared_begin = range[0];
    module.shared_end = range[1];
  }
  const auto* far = symbol<const uint64_t*>(module, "__simt_shared_far_guard");
  if (range && far) close_lds_guards(range[0] - *far, range[0], range[1], range[1] + *far);
  const auto* shared_count = symbol<const uint32_t*>(module, "__simt_shared_variable_count");
  const auto* shared = symbol<const SharedVariable*>(module, "__simt_shared_variables");
  if (shared_count && shared) module.shared_variables.assign(shared, shared + *shared_count);
  std::sort(module.shared_variables.begin(), module.shared_variables.end(),
            [](const SharedVariable& a, const SharedVariable& b) { return a.begin < b.begin; });
  if (!module.shared_variables.empty()) {
    const SharedVariable& last = module.shared_variables.back();
    module.shared_end = std::min(module.shared_end, last.begin + last.bytes + kSharedGuard);
  }
  if (shadow_active()) fill_literals(module);
  add_device_only_variables(module);
  for (const auto& kernel : module.kernels) resolve(*kernel);
  for (const auto& variable : module.variables) resolve(*variable);
  record_module(module);
}

const ContainerHeader* checked(const void* data) {
  const auto* header = static_cast<const ContainerHeader*>(data);
  if (!header || std::memcmp(header->magic, "IPERFSIM", sizeof header->magic) != 0)
    fail("this program carries device code for a real GPU, not for the emulator",
         "build it with the emulator's hipcc or nvcc (give --build-command)");
  if (header->abi_version != kAbiVersion) {
    const std::string detail =
        "its version is " + std::to_string(header->abi_version) + ", this runtime's is " + std::to_string(kAbiVersion);
    fail("device code was built by another release of intelliperf; rebuild the application", detail.c_str());
  }
  return header;
}

}  // namespace

Module* register_module(const void* container) {
  Registry& r = registry();
  auto& made = r.modules.emplace_back(std::make_unique<Module>());
  made->id = static_cast<uint32_t>(r.modules.size() - 1);
  if (container && CodeObject::looks_like(static_cast<const char*>(container))) {  // of the vendor's own compiler
    made->image = static_cast<const char*>(container);
    return made.get();
  }
  const ContainerHeader* header = checked(container);
  made->container = header;
  const char* object = reinterpret_cast<const char*>(header + 1);
  made->metadata_text.assign(object + header->object_bytes, header->metadata_bytes);
  if (header->object_bytes > 64 && CodeObject::looks_like(object)) made->image = object;
  return made.get();
}

Module* register_code(std::shared_ptr<CodeObject> code) {
  Registry& r = registry();
  auto& made = r.modules.emplace_back(std::make_unique<Module>());
  made->id = static_cast<uint32_t>(r.modules.size() - 1);
  adopt(*made, std::move(code));
  return made.get();
}

std::shared_ptr<CodeObject> load_code(const char* image, std::string* why) {
  const Device& device = target_device();
  if (!*device.name)
    *why = "no device is modelled: INTELLIPERF_DEVICE names its file";
  else if (device.wave_size != machine::kWave)
    *why = "its waves have 64 lanes, those of " + std::string(device.name) + " have not";
  else
    return CodeObject::load(image, device.architecture, why);
  return nullptr;
}

const CodeObject* code_around(uint64_t address) {
  for (const auto& module : registry().modules)
    if (module->code && address - module->code->base() < module->code->bytes()) return module->code.get();
  return nullptr;
}

void unregister_module(Module& module) {
  Registry& r = registry();
  const auto forget = [&](auto& table) {
    for (auto entry = table.begin(); entry != table.end();)
      entry = entry->second->module == &module ? table.erase(entry) : std::next(entry);
  };
  forget(r.kernels);
  forget(r.variables);
}

void register_kernel(Module& module, const void* host_function, const char* name, int max_threads) {
  auto& made = module.kernels.emplace_back(std::make_unique<Kernel>());
  made->name = name;
  made->display = name;
  made->module = &module;
  made->host_function = host_function;
  if (max_threads > 0) made->max_threads = static_cast<uint32_t>(max_threads);
  registry().kernels.emplace(host_function, made.get());  // a template's instances of several files: the first one
  if (module.metadata.kind() == JsonValue::Kind::kObject) describe(*made);
  if (module.handle) resolve(*made);
}

Variable* register_variable(Module& module, void* host_variable, const char* name, uint64_t bytes, bool constant) {
  auto& made = module.variables.emplace_back(std::make_unique<Variable>());
  made->name = name;
  made->module = &module;
  made->host_variable = host_variable;
  made->bytes = bytes;
  made->constant = constant;
  registry().variables.emplace(host_variable, made.get());
  if (module.code) resolve(*made);
  return made.get();
}

void register_managed(Module& module, void** host_pointer, const void* initial, const char* name, uint64_t bytes) {
  const Allocation* memory = allocate(bytes, MemoryKind::kManaged);
  if (!memory) fail("no memory for a managed variable", name);
  Variable* made = register_variable(module, host_pointer, name, bytes, false);
  made->managed = true;
  made->address = reinterpret_cast<void*>(memory->base);  // NOLINT(performance-no-int-to-ptr)
  if (initial)
    std::memcpy(made->address, initial, bytes);
  else
    std::memset(made->address, 0, bytes);
  *host_pointer = made->address;
  registry().variables.emplace(made->address,
                               made);  // programs name the variable, which the host sees through the pointer
}

void provide_mirrored(Module& module) {
  parse(module);
  bool any = false;
  for (const auto& variable : module.variables) {
    variable->mirrored = module.metadata["symbols"][variable->name]["mirrored"].boolean();
    any |= variable->mirrored;
  }
  if (!any) return;
  load(module);
  mirror_to_host(module);
}

void mirror_to_device(const Module& module) {
  for (const auto& variable : module.variables)
    if (variable->mirrored && variable->address)
      std::memcpy(variable->address, variable->host_variable, variable->bytes);
}

void mirror_to_host(const Module& module) {
  for (const auto& variable : module.variables)
    if (variable->mirrored && variable->address)
      std::memcpy(variable->host_variable, variable->address, variable->bytes);
}

const std::vector<std::unique_ptr<Module>>& modules() { return registry().modules; }

Kernel* find_kernel(const void* host_function) {
  const auto found = registry().kernels.find(host_function);
  if (found == registry().kernels.end()) return nullptr;
  Kernel* kernel = found->second;
  target_device();
  load(*kernel->module);
  if (!kernel->fast) {
    std::fprintf(stderr, "intelliperf: the device code of %s has no kernel %s\n",
                 kernel->module->metadata["source"].text().c_str(), kernel->name.c_str());
    return nullptr;
  }
  return kernel;
}

Variable* find_variable(const void* host_variable) {
  const auto found = registry().variables.find(host_variable);
  if (found == registry().variables.end()) return nullptr;
  target_device();
  load(*found->second->module);
  return found->second->address ? found->second : nullptr;
}

const Module* module_of_shared(uintptr_t address) {
  for (const auto& module : registry().modules)
    if (module->shared_begin && address - reinterpret_cast<uintptr_t>(module->shared_begin) <
                                    static_cast<uintptr_t>(module->shared_end - module->shared_begin))
      return module.get();
  return nullptr;
}

const Device& target_device() {
  Registry& r = registry();
  for (const auto& module : r.modules) parse(*module);
  return device();
}

}  // namespace simt
