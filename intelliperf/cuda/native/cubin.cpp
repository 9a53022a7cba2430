#include "cubin.h"

#include <elf.h>

#include <cstring>

namespace intelliperf {

namespace {

template <typename T>
const T* at(const char* image, size_t bytes, uint64_t offset, uint64_t count = 1) {
  if (offset > bytes || count > (bytes - offset) / sizeof(T)) return nullptr;
  return reinterpret_cast<const T*>(image + offset);
}

bool holds_variables(const char* section) {
  return std::strncmp(section, ".nv.global", 10) == 0 || std::strcmp(section, ".nv.constant3") == 0;
}

}  // namespace

std::vector<std::string> variables_of(const void* data, size_t bytes) {
  std::vector<std::string> names;
  const auto* image = static_cast<const char*>(data);
  const auto* header = at<Elf64_Ehdr>(image, bytes, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return names;
  const auto* sections = at<Elf64_Shdr>(image, bytes, header->e_shoff, header->e_shnum);
  if (!sections || header->e_shstrndx >= header->e_shnum) return names;
  const char* section_names = at<char>(image, bytes, sections[header->e_shstrndx].sh_offset);
  for (size_t i = 0; section_names && i < header->e_shnum; ++i) {
    if (sections[i].sh_type != SHT_SYMTAB || sections[i].sh_link >= header->e_shnum) continue;
    const uint64_t count = sections[i].sh_size / sizeof(Elf64_Sym);
    const auto* symbols = at<Elf64_Sym>(image, bytes, sections[i].sh_offset, count);
    const char* strings = at<char>(image, bytes, sections[sections[i].sh_link].sh_offset);
    if (!symbols || !strings) continue;
    for (uint64_t s = 0; s < count; ++s) {
      const Elf64_Sym& symbol = symbols[s];
      if (ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT || symbol.st_size == 0) continue;
      if (symbol.st_shndx >= header->e_shnum) continue;
      if (!holds_variables(section_names + sections[symbol.st_shndx].sh_name)) continue;
      names.emplace_back(strings + symbol.st_name);
    }
  }
  return names;
}

}  // namespace intelliperf
