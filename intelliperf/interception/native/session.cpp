#include "session.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "json.h"
#include "wire.h"

namespace intelliperf {

using simt::JsonValue;
using simt::JsonWriter;

namespace {

const char* kind_name(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::kDevice:
      return "device";
    case MemoryKind::kPool:
      return "pool";
    case MemoryKind::kManaged:
      return "managed";
    case MemoryKind::kMapped:
      return "mapped";
    case MemoryKind::kPinned:
    case MemoryKind::kRuntime:
      return "pinned";
    default:
      return "symbol";
  }
}

// As a copy or by its handle; others are not part of the message.
bool is_shown(const Buffer& buffer) { return buffer.staging || !buffer.shared.handle.empty(); }

void write_shared(JsonWriter& json, const Shared& shared) {
  if (shared.handle.empty()) {
    json.key("unshared").string(shared.why);
    return;
  }
  json.key("shared").begin_object().key("handle").string(simt::hexadecimal(shared.handle.data(), shared.handle.size()));
  json.key("bytes").number(shared.bytes).key("at").number(shared.at).key("style").string(shared.style).end_object();
}

void write_shape(JsonWriter& json, const char* name, const unsigned (&shape)[3]) {
  json.key(name).begin_array().number(shape[0]).number(shape[1]).number(shape[2]).end_array();
}

void write_element(JsonWriter& json, const std::string& name) {
  const ElementFacts facts = element_facts(name);
  json.key("element").begin_object().key("name").string(name);
  json.key("bytes").number(facts.bytes).key("encoding").string(facts.encoding).end_object();
}

void write_parameters(JsonWriter& json, const Launch& launch, const std::vector<ParameterType>& types) {
  json.key("parameters").begin_array();
  for (size_t i = 0; i < launch.arguments.size(); ++i) {
    const bool known = types.size() == launch.arguments.size();
    const ParameterType type = known ? types[i] : ParameterType{};
    json.begin_object().key("index").number(i).key("name").string("argument " + std::to_string(i));
    json.key("type").string(type.text).key("size").number(launch.arguments[i].value.size());
    json.key("pointer")
        .boolean(type.kind == TypeClass::kPointer || (!known && launch.arguments[i].pointer))
        .key("const")
        .boolean(type.constant);
    json.key("restrict").boolean(false);
    if (type.kind == TypeClass::kPointer)
      write_element(json, type.element);
    else
      json.key("element").null();
    json.key("fields").begin_array().end_array().end_object();
  }
  json.end_array();
}

void write_arguments(JsonWriter& json, const Launch& launch, const std::vector<ParameterType>& types,
                     const Allocations& allocations) {
  json.key("arguments").begin_array();
  for (size_t i = 0; i < launch.arguments.size(); ++i) {
    const auto& value = launch.arguments[i].value;
    const bool scalar = types.size() == launch.arguments.size() && types[i].kind == TypeClass::kScalar;
    json.begin_object().key("index").number(i).key("hex").string(simt::hexadecimal(value.data(), value.size()));
    json.key("pointers").begin_array();
    for (size_t offset = 0; !scalar && offset + 8 <= value.size(); offset += 8) {
      uint64_t address = 0;
      std::memcpy(&address, value.data() + offset, sizeof address);
      const Buffer* buffer = allocations.find(address);
      if (!buffer || !is_shown(*buffer)) continue;
      json.begin_object().key("offset").number(offset).key("allocation").number(buffer->id);
      json.key("at").number(address - buffer->base).end_object();
    }
    json.end_array().end_object();
  }
  json.end_array();
}

}  // namespace

void Session::open(const char* socket, const Vendor& vendor) {
  vendor_ = vendor;
  const char* kernels = std::getenv("INTELLIPERF_EXPORT_KERNEL");
  const std::string list = kernels ? kernels : "*";
  for (size_t from = 0; from <= list.size();) {
    const size_t comma = std::min(list.find(',', from), list.size());
    if (comma > from) targets_.push_back(list.substr(from, comma - from));
    from = comma + 1;
  }
  all_kernels_ = std::find(targets_.begin(), targets_.end(), "*") != targets_.end();
  const char* before = std::getenv("INTELLIPERF_EXPORT_BEFORE");
  before_ = before && *before;
  owner_ = getpid();
  const char* memory = std::getenv("INTELLIPERF_EXPORT_MEMORY");
  by_handle_ = vendor_.share && memory && std::strcmp(memory, "ipc") == 0;
  if (!arena_.open()) simt::wire_leave("no memory to show buffers in (file size limit), so they cannot be compared");
  socket_ = simt::wire_connect(socket);
}

bool Session::is_target(const std::string& kernel) const {
  return all_kernels_ || std::find(targets_.begin(), targets_.end(), kernel) != targets_.end();
}

uint64_t Session::told(const std::string& kernel) const {
  const auto found = seen_.find(kernel);
  return found == seen_.end() ? 0 : found->second;
}

void Session::greet() {
  if (greeted_) return;
  greeted_ = true;
  JsonWriter json;
  json.begin_object().key("type").string("hello").key("protocol").number(simt::kProtocolVersion);
  json.key("backend").string(vendor_.backend).key("pid").number(static_cast<uint64_t>(getpid()));
  json.key("device")
      .string(vendor_.device_name())
      .key("wave_size")
      .number(vendor_.wave_size())
      .key("memory")
      .string("shared");
  if (*vendor_.way) json.key("way").string(vendor_.way);
  json.key("arena_base").number(arena_.base()).key("arena_bytes").number(arena_.bytes());
  json.key("kernels").begin_object().end_object().end_object();
  simt::wire_send(socket_, json.text(), arena_.descriptor());
}

bool Session::stage(Buffer& buffer) {
  if (!buffer.staging) buffer.staging = arena_.reserve(buffer.bytes);
  if (!buffer.staging) return false;
  return vendor_.copy(reinterpret_cast<void*>(buffer.staging), buffer);  // NOLINT(performance-no-int-to-ptr)
}

bool Session::show(Buffer& buffer) {
  if (by_handle_ && !buffer.asked) {
    buffer.shared = vendor_.share(buffer);
    buffer.asked = true;
  }
  return !buffer.shared.handle.empty() || stage(buffer);
}

void Session::answer() {
  for (;;) {
    bool ok = false;
    const JsonValue asked = JsonValue::parse(simt::wire_receive(socket_), &ok);
    if (ok && asked["type"].text() == "continue") return;
    if (!ok || asked["type"].text() != "copy") simt::wire_leave("");
    const auto id = asked["allocation"].unsigned_or(0);
    auto& live = allocations_.live();
    const auto found = std::find_if(live.begin(), live.end(), [&](const auto& one) { return one.second.id == id; });
    if (found == live.end() || !stage(found->second)) simt::wire_leave("a buffer cannot be copied to be compared");
    JsonWriter json;
    json.begin_object().key("type").string("copied").key("allocation").number(id);
    json.key("base").number(found->second.staging).end_object();
    simt::wire_send(socket_, json.text());
  }
}

std::set<uint64_t> Session::reached(const Launch& launch) const {
  std::set<uint64_t> ids;
  for (const Argument& argument : launch.arguments)
    for (size_t offset = 0; offset + 8 <= argument.value.size(); offset += 8) {
      uint64_t address = 0;
      std::memcpy(&address, argument.value.data() + offset, sizeof address);
      if (const Buffer* buffer = allocations_.find(address)) ids.insert(buffer->id);
    }
  return ids;
}

std::string Session::message(const Launch& launch, int status, bool target, bool before) {
  JsonWriter json;
  json.begin_object().key("type").string("dispatch").key("index").number(dispatches_);
  json.key("nth").number(seen_[launch.kernel]).key("kernel").string(launch.kernel);
  dispatches_ += !before;
  seen_[launch.kernel] += !before;
  write_shape(json, "grid", launch.grid);
  write_shape(json, "block", launch.block);
  json.key("dynamic_lds").number(launch.dynamic_lds).key("target").boolean(target).key("status").integer(status);
  json.key("uncovered").number(uncovered_.size());
  if (before) json.key("before").boolean(true).key("cooperative").boolean(launch.cooperative);
  if (before) json.key("unrepeatable").string(launch.unrepeatable);
  if (launch.altered >= 0) json.key("altered").integer(launch.altered);
  if (!target) {
    json.key("arguments").begin_array().end_array().key("allocations").begin_array().end_array().end_object();
    return json.text();
  }
  const std::vector<ParameterType> types = parameter_types(launch.kernel);
  for (const auto& [at, bytes] : allocations_.take_freed()) arena_.release(at, bytes);
  const std::set<uint64_t> led_to = reached(launch);
  const auto shown = [&](const Buffer& buffer) {
    return buffer.kind != MemoryKind::kRuntime || led_to.count(buffer.id) > 0;
  };
  for (auto& [base, buffer] : allocations_.live())
    if (status == 0 && shown(buffer) && !show(buffer)) simt::wire_leave("a buffer cannot be copied to be compared");
  write_parameters(json, launch, types);
  write_arguments(json, launch, types, allocations_);
  json.key("allocations").begin_array();
  for (const auto& [base, buffer] : allocations_.live()) {
    if (!is_shown(buffer) || !shown(buffer)) continue;
    json.begin_object().key("id").number(buffer.id).key("base").number(buffer.staging).key("size").number(buffer.bytes);
    json.key("address")
        .number(buffer.base)
        .key("kind")
        .string(kind_name(buffer.kind))
        .key("sequence")
        .number(buffer.sequence)
        .key("name");
    if (buffer.name.empty())
      json.null();
    else
      json.string(buffer.name);
    if (by_handle_) write_shared(json, buffer.shared);
    json.end_object();
  }
  json.end_array().end_object();
  return json.text();
}

void Session::begins(const Launch& launch) {
  greet();
  simt::wire_send(socket_, message(launch, 0, true, true));
  answer();
}

void Session::dispatch(const Launch& launch, int status, bool target) {
  greet();
  simt::wire_send(socket_, message(launch, status, target));
  if (target) answer();
}

void Session::transfer(const char* operation, uint64_t bytes) {
  greet();
  JsonWriter json;
  json.begin_object().key("type").string("transfer").key("operation").string(operation).key("bytes").number(bytes);
  json.end_object();
  simt::wire_send(socket_, json.text());
}

void Session::end() {
  if (ended_ || !greeted_ || owner_ != getpid()) return;
  ended_ = true;
  JsonWriter json;
  json.begin_object().key("type").string("end").key("dispatches").number(dispatches_);
  json.key("uncovered").begin_array();
  for (const std::string& what : uncovered_) json.begin_object().key("what").string(what).end_object();
  json.end_array().end_object();
  simt::wire_send(socket_, json.text());
  close(socket_);
}

}  // namespace intelliperf
