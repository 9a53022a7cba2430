// Textures that a file declares and the host binds to memory. A binding is a texture object that the runtime keeps
// beside the variable: nothing in device memory changes.
#include <algorithm>
#include <vector>

#include "host_api.h"
#include "textures.h"

namespace simt {

namespace {

struct Binding {
  const void* variable;  // on the device
  uint64_t object;
};
std::vector<Binding> bindings;  // few: as many as a program declares

enum ResourceType : int { kArray = 0, kLinear = 2, kPitched = 3 };

Binding* binding_of(const void* variable) {
  const auto found =
      std::find_if(bindings.begin(), bindings.end(), [&](const Binding& b) { return b.variable == variable; });
  return found == bindings.end() ? nullptr : &*found;
}

int bind(const textureReference* reference, const ResourceDescription& resource) {
  void* variable = nullptr;
  int error = host::GetSymbolAddress(&variable, reference);
  // What was launched before reads what was bound then.
  if (error == kSuccess && binding_of(variable)) error = host::UnbindTexture(reference);
  if (error != kSuccess) return error;
  TextureDescription texture{};
  std::copy(std::begin(reference->address_mode), std::end(reference->address_mode), std::begin(texture.address_mode));
  texture.filter_mode = reference->filter_mode;
  texture.read_mode = reference->read_mode;
  texture.srgb = reference->srgb;
  texture.normalized_coordinates = reference->normalized_coordinates;
  uint64_t object = 0;
  error = host::CreateTextureObject(&object, &resource, &texture, nullptr);
  if (error == kSuccess) bindings.push_back({variable, object});
  return error;
}

}  // namespace

namespace host {

int BindTexture(size_t* offset, const textureReference* reference, const void* pointer, const ChannelFormat* format,
                size_t bytes) {
  if (!reference || !format) return kInvalidValue;
  void* begin = nullptr;
  size_t whole = 0;
  const int error = MemGetAddressRange(&begin, &whole, const_cast<void*>(pointer));
  if (error != kSuccess) return error;
  const size_t rest = whole - static_cast<size_t>(static_cast<const char*>(pointer) - static_cast<char*>(begin));
  if (offset) *offset = 0;  // any address will do
  ResourceDescription resource{};
  resource.type = kLinear;
  resource.linear = {const_cast<void*>(pointer), *format, std::min(bytes, rest)};
  return bind(reference, resource);
}
int BindTexture2D(size_t* offset, const textureReference* reference, const void* pointer, const ChannelFormat* format,
                  size_t width, size_t height, size_t pitch) {
  if (!reference || !format || !pointer) return kInvalidValue;
  if (offset) *offset = 0;
  ResourceDescription resource{};
  resource.type = kPitched;
  resource.pitched = {const_cast<void*>(pointer), *format, width, height, pitch};
  return bind(reference, resource);
}
int BindTextureToArray(const textureReference* reference, const Array* array, const ChannelFormat*) {
  if (!reference || !array) return kInvalidValue;
  ResourceDescription resource{};
  resource.type = kArray;
  resource.array = const_cast<Array*>(array);
  return bind(reference, resource);
}
int UnbindTexture(const textureReference* reference) {
  void* variable = nullptr;
  const int error = host::GetSymbolAddress(&variable, reference);
  Binding* binding = error == kSuccess ? binding_of(variable) : nullptr;
  if (!binding) return error;
  const int waited = DeviceSynchronize();  // what was launched still reads it
  if (waited != kSuccess) return waited;
  const int destroyed = DestroyTextureObject(binding->object);
  bindings.erase(bindings.begin() + (binding - bindings.data()));
  return destroyed;
}
int GetTextureAlignmentOffset(size_t* offset, const textureReference* reference) {
  void* variable = nullptr;
  const int error = host::GetSymbolAddress(&variable, reference);
  if (error != kSuccess) return error;
  if (!offset || !binding_of(variable)) return kInvalidValue;
  *offset = 0;
  return kSuccess;
}
int GetTextureReference(const textureReference** reference, const void* symbol) {
  void* variable = nullptr;
  *reference = static_cast<const textureReference*>(symbol);
  return host::GetSymbolAddress(&variable, symbol);
}

}  // namespace host

// What device code asks; include/simt/textures.h. A texture that is not bound names no object, which stops the kernel.
extern "C" __attribute__((visibility("default"))) uint64_t __simt_bound_texture(const void* variable) {
  const Binding* binding = binding_of(variable);
  return binding ? binding->object : 0;
}

}  // namespace simt
