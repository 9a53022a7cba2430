#include "export.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "host_calls.h"
#include "json.h"
#include "memory.h"
#include "properties.h"
#include "shadow.h"
#include "tiles.h"
#include "wire.h"

namespace simt {

namespace {

struct Session {
  int socket = -1;
  bool all_kernels = false;
  bool before = false;  // wait before launches, too
  std::vector<std::string> targets;
  std::map<std::string, uint64_t> seen;           // dispatches per kernel
  std::map<uint64_t, const Allocation*> staging;  // by the id of what lies outside the arena: its copy there
  std::map<uint32_t, std::string> reached;        // by module: what was told of it last
  uint64_t dispatches = 0;
  size_t modules = 0;  // of which the parent was told
  bool ended = false;
  pid_t owner = getpid();  // a forked child says nothing
};

std::string hello() {
  const Device& device = target_device();
  JsonWriter json;
  json.begin_object().key("type").string("hello").key("protocol").number(kProtocolVersion);
  json.key("backend").string("emulator").key("pid").number(static_cast<uint64_t>(getpid()));
  json.key("device").string(device.name).key("wave_size").number(device.wave_size).key("memory").string("shared");
  json.key("arena_base").number(arena().base).key("arena_bytes").number(arena().bytes);
  if (shadow_active()) json.key("shadow_offset").number(arena().bytes);
  json.key("formats").begin_array();
  for (const auto& module : modules())
    for (const JsonValue& format : module->metadata["formats"].items())
      json.begin_object().key("what").string(format.text()).end_object();
  json.end_array();
  json.key("lost_shadows").begin_array();
  for (const auto& module : modules()) {
    json.begin_object().key("reasons");
    copy_json(json, module->metadata["lost_shadows"]);
    json.end_object();
  }
  json.end_array();
  json.key("reach").begin_array();
  for (const auto& module : modules()) {
    if (module->metadata["reach"]["entries"].items().empty()) continue;
    json.begin_object().key("module").number(module->id).key("table");
    copy_json(json, module->metadata["reach"]);
    json.end_object();
  }
  json.end_array();
  json.key("kernels").begin_object();
  std::map<std::string, const JsonValue*> kernels;
  for (const auto& module : modules())
    for (const auto& kernel : module->metadata["kernels"].members()) kernels.emplace(kernel.first, &kernel.second);
  for (const auto& [name, kernel] : kernels) {
    json.key(name).begin_object().key("parameters");
    copy_json(json, (*kernel)["parameters"]);
    json.key("by_wave").boolean((*kernel)["by_wave"].boolean());
    json.key("constants").begin_array();
    for (const JsonValue& constant : (*kernel)["constants"].items()) json.integer(int64_t(constant.number()));
    json.end_array();
    json.key("limits").begin_array();
    for (const JsonValue& limit : (*kernel)["limits"].items()) json.real(limit.number());
    json.end_array();
    if (!(*kernel)["named"].is_null()) copy_json(json.key("named"), (*kernel)["named"]);
    json.key("copies").begin_array();
    for (const JsonValue& parameter : (*kernel)["copies"].items()) json.number(parameter.unsigned_or(0));
    json.end_array();
    json.key("widths").begin_object();
    for (const auto& [bits, count] : (*kernel)["widths"].members()) json.key(bits).number(count.unsigned_or(0));
    json.end_object();
    json.key("compensations").number((*kernel)["compensations"].unsigned_or(0)).end_object();
  }
  json.end_object().end_object();
  return json.text();
}

Session* open_session() {
  const char* path = std::getenv("INTELLIPERF_EXPORT_SOCKET");
  if (!path || !*path) return nullptr;
  auto* made = new Session;
  const char* before = std::getenv("INTELLIPERF_EXPORT_BEFORE");
  made->before = before && *before;
  const char* kernels = std::getenv("INTELLIPERF_EXPORT_KERNEL");
  std::string list = kernels ? kernels : "*";
  for (size_t from = 0; from <= list.size();) {
    const size_t comma = std::min(list.find(',', from), list.size());
    if (comma > from) made->targets.push_back(list.substr(from, comma - from));
    from = comma + 1;
  }
  made->all_kernels = std::find(made->targets.begin(), made->targets.end(), "*") != made->targets.end();
  if (arena().descriptor < 0)
    wire_leave("device memory cannot be shared here (file size limit), so buffers cannot be compared");
  wire_at_leave([] { finish_records(false, kExitParentGone); });
  made->socket = wire_connect(path);
  made->modules = modules().size();
  wire_send(made->socket, hello(), arena().descriptor);
  return made;
}

Session* session() {
  static Session* const instance = open_session();
  return instance;
}

// Code that is compiled as the program runs comes after the first hello.
void tell_new_modules(Session& s) {
  if (modules().size() == s.modules) return;
  s.modules = modules().size();
  wire_send(s.socket, hello());
}

bool is_target(const Session& s, const std::string& kernel) {
  return s.all_kernels || std::find(s.targets.begin(), s.targets.end(), kernel) != s.targets.end();
}

const char* kind_name(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::kDevice:
      return "device";
    case MemoryKind::kManaged:
      return "managed";
    case MemoryKind::kPinned:
      return "pinned";
    case MemoryKind::kRegistered:
      return "registered";
    default:
      return "symbol";
  }
}

const char* stage(Session& s, const Allocation& outside) {
  const Allocation*& copy = s.staging[outside.id];
  if (!copy) copy = allocate(outside.bytes, MemoryKind::kStaging);
  if (!copy) wire_leave("no memory to show the device's variables and registered memory");
  auto* to = reinterpret_cast<char*>(copy->base);                  // NOLINT(performance-no-int-to-ptr)
  const auto* from = reinterpret_cast<const char*>(outside.base);  // NOLINT(performance-no-int-to-ptr)
  std::memcpy(to, from, outside.bytes);
  shadow_moved(to, from, outside.bytes);
  return to;
}

// Memory that was unregistered since needs no copy.
void drop_stale_copies(Session& s, const std::vector<const Allocation*>& live) {
  for (auto at = s.staging.begin(); at != s.staging.end();) {
    const bool is_live = std::any_of(live.begin(), live.end(), [&](const Allocation* a) { return a->id == at->first; });
    if (!is_live) release(at->second->base);
    at = is_live ? std::next(at) : s.staging.erase(at);
  }
}

bool is_shown(const Allocation& a) {
  return a.kind != MemoryKind::kStaging && (a.kind != MemoryKind::kRegistered || is_mapped(a));
}

void collect(const Allocation& a, void* into) { static_cast<std::vector<const Allocation*>*>(into)->push_back(&a); }

void write_allocations(JsonWriter& json, Session& s) {
  std::vector<const Allocation*> live;  // first, since staging allocates
  for_each_allocation(collect, &live);
  drop_stale_copies(s, live);
  json.key("allocations").begin_array();
  for (const Allocation* a : live) {
    if (!is_shown(*a)) continue;
    const bool symbol = a->kind == MemoryKind::kSymbol, registered = a->kind == MemoryKind::kRegistered;
    const uint64_t base = symbol || registered ? reinterpret_cast<uint64_t>(stage(s, *a)) : a->base;
    json.begin_object().key("id").number(a->id).key("base").number(base).key("size").number(a->bytes);
    if (registered) json.key("address").number(a->base);
    json.key("kind").string(kind_name(a->kind));
    json.key("sequence").number(registered ? a->id - kFirstRegisteredId + 1 : a->id).key("name");
    if (symbol && a->name)
      json.string(a->name);
    else
      json.null();
    json.end_object();
  }
  json.end_array();
}

void write_arguments(JsonWriter& json, const LaunchRequest& request) {
  json.key("arguments").begin_array();
  for (const Parameter& parameter : request.kernel->parameters) {
    const auto* bytes = static_cast<const unsigned char*>(request.arguments[parameter.index]);
    json.begin_object().key("index").number(parameter.index);
    json.key("hex").string(hexadecimal(bytes, parameter.size)).key("pointers").begin_array();
    for (const uint64_t offset : parameter.pointers) {
      uintptr_t address = 0;
      if (offset + sizeof address > parameter.size) continue;
      std::memcpy(&address, bytes + offset, sizeof address);
      const Allocation* a = find(address);
      if (!a || !is_shown(*a)) continue;
      json.begin_object().key("offset").number(offset).key("allocation").number(a->id);
      json.key("at").number(address - a->base).end_object();
    }
    json.end_array().end_object();
  }
  json.end_array();
}

// A bit per place of the modules' tables, where any was reached since it was told last.
void write_reached(JsonWriter& json, Session& s) {
  json.key("reached").begin_array();
  for (const auto& module : modules()) {
    if (!module->reached_count) continue;
    std::vector<unsigned char> bits((module->reached_count + 7) / 8);
    for (uint32_t i = 0; i < module->reached_count; ++i)
      bits[i / 8] |= static_cast<unsigned char>((module->reached[i] != 0) << i % 8);
    std::string now = hexadecimal(bits.data(), bits.size());
    std::string& told = s.reached[module->id];
    if (now == told) continue;
    json.begin_object().key("module").number(module->id).key("bits").string(now).end_object();
    told = std::move(now);
  }
  json.end_array();
}

void write_ranges(JsonWriter& json, const char* name, const Kernel& kernel) {
  const JsonValue& held = kernel.module->metadata["kernels"][kernel.name][name];
  if (held.items().empty()) return;
  json.key(name).begin_array();
  for (const JsonValue& one : held.items()) {
    json.begin_array();
    for (const JsonValue& number : one.items()) json.integer(int64_t(number.number()));
    json.end_array();
  }
  json.end_array();
}

void write_shape(JsonWriter& json, const char* name, const Dim3& shape) {
  json.key(name).begin_array().number(shape.x).number(shape.y).number(shape.z).end_array();
}

void write_launch(JsonWriter& json, const Session& s, const LaunchRequest& request, bool target, int status) {
  const std::string& name = request.kernel->name;
  const auto seen = s.seen.find(name);
  json.begin_object().key("type").string("dispatch").key("index").number(s.dispatches);
  json.key("nth").number(seen == s.seen.end() ? 0 : seen->second).key("kernel").string(name);
  write_shape(json, "grid", request.grid);
  write_shape(json, "block", request.block);
  json.key("dynamic_lds").number(request.dynamic_lds).key("target").boolean(target).key("status").integer(status);
  const std::string& code = request.kernel->module->metadata["kernels"][name]["kept"].text();
  if (!code.empty()) json.key("code").string(code);
}

}  // namespace

namespace {

__attribute__((destructor)) void end_at_exit() { export_end(); }

}  // namespace

bool exporting() { return session() != nullptr; }

bool export_awaits(const Kernel& kernel) {
  Session* s = session();
  if (!s) return false;
  return is_target(*s, kernel.name);
}

void export_begins(const LaunchRequest& request) {
  const Session* s = session();
  if (s && s->before && is_target(*s, request.kernel->name)) export_waits(request);
}

void export_waits(const LaunchRequest& request) {
  Session* s = session();
  if (!s) return;
  tell_new_modules(*s);
  JsonWriter json;
  write_launch(json, *s, request, true, 0);
  json.key("before").boolean(true).key("cooperative").boolean(request.cooperative);
  write_arguments(json, request);
  write_allocations(json, *s);
  json.end_object();
  wire_send(s->socket, json.text());
  wire_wait(s->socket);
}

void export_dispatch(const LaunchRequest& request, int status, bool shown, const Alteration& alteration) {
  Session* s = session();
  if (!s) return;
  tell_new_modules(*s);
  const bool target = shown && is_target(*s, request.kernel->name);
  JsonWriter json;
  write_launch(json, *s, request, target, status);
  s->dispatches += 1;
  s->seen[request.kernel->name] += 1;
  if (*alteration.told) json.key("alteration").string(alteration.told);
  if (alteration.way != OtherNumbersMode::kNone)
    json.key("way").number(uint64_t(alteration.way)).key("altered").integer(alteration.changed);
  write_reached(json, *s);
  if (target) {
    if (!request.kernel->tiles.empty()) {
      const GridSize tile = tile_of(request);
      write_shape(json, "tile", {tile[0], tile[1], tile[2]});
      for (const char* name : {"held", "covered"}) write_ranges(json, name, *request.kernel);
    }
    write_arguments(json, request);
    write_allocations(json, *s);
  } else {
    json.key("arguments").begin_array().end_array().key("allocations").begin_array().end_array();
  }
  json.end_object();
  wire_send(s->socket, json.text());
  if (target) wire_wait(s->socket);
}

bool export_is_left() {
  Session* s = session();
  if (!s) return false;
  pollfd waits{s->socket, POLLIN, 0};
  return poll(&waits, 1, 0) == 1;
}

void export_transfer(const char* operation, uint64_t bytes, uintptr_t from) {
  Session* s = session();
  if (!s) return;
  JsonWriter json;
  json.begin_object().key("type").string("transfer").key("operation").string(operation).key("bytes").number(bytes);
  if (const Allocation* a = from ? find(from) : nullptr) {
    json.key("source").number(a->id).key("at").number(from - a->base);
    write_caller(json);
  }
  json.end_object();
  wire_send(s->socket, json.text());
}

void export_end() {
  Session* s = session();
  if (!s || s->ended || s->owner != getpid()) return;
  s->ended = true;
  JsonWriter json;
  json.begin_object().key("type").string("end").key("dispatches").number(s->dispatches).end_object();
  wire_send(s->socket, json.text());
  close(s->socket);
}

}  // namespace simt
