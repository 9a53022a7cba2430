#include "loaded.h"

#include <elf.h>

#include <cstring>

namespace gfx90a {
namespace {

constexpr uint64_t kMemoryPage = 4096;
constexpr char kDescriptorSuffix[] = ".kd";

struct Dynamic {
  const Elf64_Sym* symbols = nullptr;
  const char* strings = nullptr;
  const uint32_t* hash = nullptr;
};

Dynamic read_dynamic(uint64_t base) {
  const auto* header = reinterpret_cast<const Elf64_Ehdr*>(base);
  const auto* segments = reinterpret_cast<const Elf64_Phdr*>(base + header->e_phoff);
  Dynamic found;
  for (uint32_t n = 0; n < header->e_phnum; ++n) {
    if (segments[n].p_type != PT_DYNAMIC) continue;
    for (const auto* entry = reinterpret_cast<const Elf64_Dyn*>(base + segments[n].p_vaddr); entry->d_tag != DT_NULL;
         ++entry) {
      const uint64_t place = base + entry->d_un.d_ptr;
      if (entry->d_tag == DT_SYMTAB) found.symbols = reinterpret_cast<const Elf64_Sym*>(place);
      if (entry->d_tag == DT_STRTAB) found.strings = reinterpret_cast<const char*>(place);
      if (entry->d_tag == DT_HASH) found.hash = reinterpret_cast<const uint32_t*>(place);
    }
  }
  return found;
}

bool is_code_object(uint64_t page) {
  const auto* header = reinterpret_cast<const Elf64_Ehdr*>(page);
  return std::memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 && header->e_machine == EM_AMDGPU;
}

}  // namespace

LoadedKernel find_kernel(uint64_t kernel_object, uint64_t allocation_begin) {
  LoadedKernel kernel;
  for (uint64_t page = kernel_object / kMemoryPage * kMemoryPage; page >= allocation_begin; page -= kMemoryPage) {
    if (!is_code_object(page)) continue;
    kernel.load_address = page;
    break;
  }
  if (!kernel.load_address) return kernel;
  const Dynamic dynamic = read_dynamic(kernel.load_address);
  if (!dynamic.symbols || !dynamic.strings || !dynamic.hash) return kernel;
  const uint32_t symbols = dynamic.hash[1];
  for (uint32_t n = 0; n < symbols; ++n) {
    if (kernel.load_address + dynamic.symbols[n].st_value != kernel_object) continue;
    const std::string name = dynamic.strings + dynamic.symbols[n].st_name;
    const size_t suffix = std::strlen(kDescriptorSuffix);
    if (name.size() > suffix && name.compare(name.size() - suffix, suffix, kDescriptorSuffix) == 0)
      kernel.name = name.substr(0, name.size() - suffix);
  }
  return kernel;
}

}  // namespace gfx90a
