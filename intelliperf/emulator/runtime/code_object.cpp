#include "code_object.h"

#include <elf.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "message_pack.h"

namespace simt {
namespace {

constexpr char kBundle[] = "__CLANG_OFFLOAD_BUNDLE__";
constexpr size_t kBundleMagic = sizeof kBundle - 1;
constexpr char kCompressed[] = "CCOB";
constexpr uint32_t kNoteMetadata = 32;            // NT_AMDGPU_METADATA
constexpr uint32_t kAbs64 = 3, kRelative64 = 13;  // R_AMDGPU_*
constexpr uint64_t kPage = 4096, kReadAhead = 64;
constexpr char kDescriptorSuffix[] = ".kd";

const std::map<uint32_t, const char*>& processors() {  // EF_AMDGPU_MACH of what AMD's current chips have
  static const auto* known = new std::map<uint32_t, const char*>{
      {0x2C, "gfx900"},  {0x2F, "gfx906"},  {0x30, "gfx908"},  {0x3F, "gfx90a"},  {0x40, "gfx940"},
      {0x4B, "gfx941"},  {0x4C, "gfx942"},  {0x4F, "gfx950"},  {0x36, "gfx1030"}, {0x41, "gfx1100"},
      {0x46, "gfx1101"}, {0x47, "gfx1102"}, {0x48, "gfx1200"}, {0x4E, "gfx1201"}};
  return *known;
}

const std::map<std::string, machine::Family>& families() {  // whose code is executed
  static const auto* known = new std::map<std::string, machine::Family>{
      {"gfx90a", machine::Family::kGfx90a}, {"gfx942", machine::Family::kGfx942}, {"gfx950", machine::Family::kGfx950}};
  return *known;
}

std::string architecture_of(const Elf64_Ehdr& header) {
  const auto found = processors().find(header.e_flags & 0xFF);
  return found == processors().end() ? "an AMD GPU of number " + std::to_string(header.e_flags & 0xFF) : found->second;
}

bool is_elf(const char* image) {
  Elf64_Ehdr header;
  if (std::memcmp(image, ELFMAG, SELFMAG) != 0) return false;
  std::memcpy(&header, image, sizeof header);
  return header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_machine == EM_AMDGPU;
}

// An ELF file says how long it is only by where its parts end.
uint64_t length_of(const char* image) {
  const auto& header = *reinterpret_cast<const Elf64_Ehdr*>(image);
  uint64_t end = header.e_shoff + uint64_t(header.e_shnum) * header.e_shentsize;
  const auto* segments = reinterpret_cast<const Elf64_Phdr*>(image + header.e_phoff);
  for (uint32_t n = 0; n < header.e_phnum; ++n) end = std::max(end, segments[n].p_offset + segments[n].p_filesz);
  const auto* sections = reinterpret_cast<const Elf64_Shdr*>(image + header.e_shoff);
  for (uint32_t n = 0; header.e_shoff && n < header.e_shnum; ++n)
    if (sections[n].sh_type != SHT_NOBITS) end = std::max(end, sections[n].sh_offset + sections[n].sh_size);
  return end;
}

uint64_t word_at(const char* from) {
  uint64_t word;
  std::memcpy(&word, from, sizeof word);
  return word;
}

// The architecture of "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-"; empty for the host's part.
std::string target_architecture(const std::string& target) {
  const size_t at = target.rfind("-gfx");
  return at == std::string::npos ? "" : target.substr(at + 1, target.find(':', at) - at - 1);
}

// The bundle's code object that suits; null where none does, with what there is in `why`.
const char* unbundled(const char* bundle, const std::string& architecture, std::string* why) {
  const char* at = bundle + kBundleMagic;
  std::string there;
  const uint64_t count = word_at(at);
  at += 8;
  for (uint64_t n = 0; n < count; ++n) {
    const uint64_t offset = word_at(at), size = word_at(at + 8), length = word_at(at + 16);
    const std::string target(at + 24, length), own = target_architecture(target);
    at += 24 + length;
    if (own.empty() || size == 0) continue;
    if (architecture.empty() || own == architecture) return bundle + offset;
    there += (there.empty() ? "" : ", ") + own;
  }
  *why = "the bundle has code for " + (there.empty() ? "no AMD GPU" : there) + ", not for " +
         (architecture.empty() ? "one that can be executed" : architecture);
  return nullptr;
}

ArgumentKind kind_of(const std::string& value_kind) {
  static const auto* kinds =
      new std::map<std::string, ArgumentKind>{{"by_value", ArgumentKind::kValue},
                                              {"global_buffer", ArgumentKind::kPointer},
                                              {"dynamic_shared_pointer", ArgumentKind::kDynamicShared},
                                              {"hidden_block_count_x", ArgumentKind::kBlockCountX},
                                              {"hidden_block_count_y", ArgumentKind::kBlockCountY},
                                              {"hidden_block_count_z", ArgumentKind::kBlockCountZ},
                                              {"hidden_group_size_x", ArgumentKind::kGroupSizeX},
                                              {"hidden_group_size_y", ArgumentKind::kGroupSizeY},
                                              {"hidden_group_size_z", ArgumentKind::kGroupSizeZ},
                                              {"hidden_remainder_x", ArgumentKind::kRemainderX},
                                              {"hidden_remainder_y", ArgumentKind::kRemainderY},
                                              {"hidden_remainder_z", ArgumentKind::kRemainderZ},
                                              {"hidden_grid_dims", ArgumentKind::kGridDimensions},
                                              {"hidden_dynamic_lds_size", ArgumentKind::kDynamicSharedBytes},
                                              {"hidden_private_base", ArgumentKind::kPrivateBase},
                                              {"hidden_shared_base", ArgumentKind::kSharedBase},
                                              {"hidden_hostcall_buffer", ArgumentKind::kHostRequests}};
  const auto found = kinds->find(value_kind);
  if (found != kinds->end()) return found->second;
  return value_kind.compare(0, 7, "hidden_") == 0 ? ArgumentKind::kZero : ArgumentKind::kValue;
}

void read_arguments(const Packed& entry, CodeKernel& kernel) {
  for (const Packed& described : entry[".args"].items) {
    CodeArgument argument;
    argument.name = described[".name"].text;
    argument.offset = uint32_t(described[".offset"].number_or(0));
    argument.size = uint32_t(described[".size"].number_or(0));
    argument.kind = kind_of(described[".value_kind"].text);
    argument.constant = described[".is_const"].number != 0 || described[".actual_access"].text == "read_only";
    kernel.arguments.push_back(std::move(argument));
  }
}

struct Symbols {
  const Elf64_Sym* table = nullptr;
  uint64_t count = 0;
  const char* names = nullptr;
};

Symbols symbols_of(const std::vector<char>& image, uint32_t type) {
  const auto& header = *reinterpret_cast<const Elf64_Ehdr*>(image.data());
  const auto* sections = reinterpret_cast<const Elf64_Shdr*>(image.data() + header.e_shoff);
  for (uint32_t n = 0; n < header.e_shnum; ++n) {
    if (sections[n].sh_type != type) continue;
    return {reinterpret_cast<const Elf64_Sym*>(image.data() + sections[n].sh_offset),
            sections[n].sh_size / sizeof(Elf64_Sym), image.data() + sections[sections[n].sh_link].sh_offset};
  }
  return {};
}

}  // namespace

bool CodeObject::looks_like(const char* image) {
  return is_elf(image) || std::memcmp(image, kBundle, kBundleMagic) == 0 || std::memcmp(image, kCompressed, 4) == 0;
}

std::unique_ptr<CodeObject> CodeObject::load(const char* image, const std::string& architecture, std::string* why) {
  if (std::memcmp(image, kCompressed, 4) == 0) {
    *why = "its device code is compressed; build with --no-offload-compress";
    return nullptr;
  }
  if (!is_elf(image)) image = unbundled(image, architecture, why);
  if (!image) return nullptr;
  if (!is_elf(image)) {
    *why = "it is not a code object";
    return nullptr;
  }
  std::unique_ptr<CodeObject> made(new CodeObject);
  made->architecture_ = architecture_of(*reinterpret_cast<const Elf64_Ehdr*>(image));
  const std::string& own = made->architecture_;
  if (!families().count(own)) {
    *why = "it is for " + own + ", whose code cannot be executed; gfx90a, gfx942 and gfx950 can";
    return nullptr;
  }
  if (!architecture.empty() && own != architecture) {
    *why = "it is for " + own + ", the target is " + architecture;
    return nullptr;
  }
  made->family_ = families().at(own);
  made->image_.assign(image, image + length_of(image));
  if (!made->map(why) || !made->read_symbols(why) || !made->read_metadata(why)) return nullptr;
  return made;
}

CodeObject::~CodeObject() {
  if (base_) munmap(reinterpret_cast<void*>(base_), bytes_);  // NOLINT(performance-no-int-to-ptr)
}

bool CodeObject::map(std::string* why) {
  const auto& header = *reinterpret_cast<const Elf64_Ehdr*>(image_.data());
  const auto* segments = reinterpret_cast<const Elf64_Phdr*>(image_.data() + header.e_phoff);
  for (uint32_t n = 0; n < header.e_phnum; ++n)
    if (segments[n].p_type == PT_LOAD) bytes_ = std::max(bytes_, segments[n].p_vaddr + segments[n].p_memsz);
  bytes_ = (bytes_ + kReadAhead + kPage - 1) / kPage * kPage;
  void* const mapped = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) {
    *why = "there is no memory for it";
    return false;
  }
  base_ = reinterpret_cast<uint64_t>(mapped);
  char* const base = static_cast<char*>(mapped);
  for (uint32_t n = 0; n < header.e_phnum; ++n)
    if (segments[n].p_type == PT_LOAD)
      std::memcpy(base + segments[n].p_vaddr, image_.data() + segments[n].p_offset, segments[n].p_filesz);
  relocate();
  const auto* sections = reinterpret_cast<const Elf64_Shdr*>(image_.data() + header.e_shoff);
  const char* const names = image_.data() + sections[header.e_shstrndx].sh_offset;
  for (uint32_t n = 0; n < header.e_shnum; ++n)
    if (std::strcmp(names + sections[n].sh_name, ".text") == 0)
      program_ = std::make_unique<machine::Program>(family_, base_ + sections[n].sh_addr, sections[n].sh_size);
  if (!program_) *why = "it has no code";
  return program_ != nullptr;
}

void CodeObject::relocate() {
  const auto& header = *reinterpret_cast<const Elf64_Ehdr*>(image_.data());
  const auto* sections = reinterpret_cast<const Elf64_Shdr*>(image_.data() + header.e_shoff);
  const Symbols symbols = symbols_of(image_, SHT_DYNSYM);
  for (uint32_t n = 0; n < header.e_shnum; ++n) {
    if (sections[n].sh_type != SHT_RELA) continue;
    const auto* entries = reinterpret_cast<const Elf64_Rela*>(image_.data() + sections[n].sh_offset);
    for (uint64_t k = 0; k < sections[n].sh_size / sizeof *entries; ++k) {
      const uint64_t type = ELF64_R_TYPE(entries[k].r_info), symbol = ELF64_R_SYM(entries[k].r_info);
      uint64_t value = base_ + uint64_t(entries[k].r_addend);
      if (type == kAbs64 && symbol < symbols.count) value += symbols.table[symbol].st_value;
      if (type == kAbs64 || type == kRelative64)
        std::memcpy(reinterpret_cast<void*>(base_ + entries[k].r_offset), &value,
                    sizeof value);  // NOLINT(performance-no-int-to-ptr)
    }
  }
}

bool CodeObject::read_symbols(std::string* why) {
  const Symbols symbols = symbols_of(image_, SHT_DYNSYM);
  const auto& header = *reinterpret_cast<const Elf64_Ehdr*>(image_.data());
  const auto* sections = reinterpret_cast<const Elf64_Shdr*>(image_.data() + header.e_shoff);
  for (uint64_t n = 0; n < symbols.count; ++n) {
    const Elf64_Sym& symbol = symbols.table[n];
    const std::string name = symbols.names + symbol.st_name;
    const size_t suffix = sizeof kDescriptorSuffix - 1;
    if (ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT) continue;
    if (name.size() > suffix && name.compare(name.size() - suffix, suffix, kDescriptorSuffix) == 0) {
      CodeKernel& kernel = kernels_.emplace_back();
      kernel.name = name.substr(0, name.size() - suffix);
      kernel.descriptor = reinterpret_cast<const machine::KernelDescriptor*>(
          base_ + symbol.st_value);  // NOLINT(performance-no-int-to-ptr)
      kernel.entry = kernel.end = kernel.descriptor->entry();
    } else if (symbol.st_shndx != SHN_UNDEF && symbol.st_shndx < header.e_shnum && symbol.st_size) {
      const bool constant = !(sections[symbol.st_shndx].sh_flags & SHF_WRITE);
      variables_.push_back({name, base_ + symbol.st_value, symbol.st_size, constant});
    }
  }
  for (uint64_t n = 0; n < symbols.count; ++n)
    for (CodeKernel& kernel : kernels_)
      if (ELF64_ST_TYPE(symbols.table[n].st_info) == STT_FUNC && base_ + symbols.table[n].st_value == kernel.entry)
        kernel.end = kernel.entry + symbols.table[n].st_size;
  if (kernels_.empty()) *why = "it has no kernel";
  return !kernels_.empty();
}

bool CodeObject::read_metadata(std::string* why) {
  const auto& header = *reinterpret_cast<const Elf64_Ehdr*>(image_.data());
  const auto* segments = reinterpret_cast<const Elf64_Phdr*>(image_.data() + header.e_phoff);
  Packed whole;
  for (uint32_t n = 0; n < header.e_phnum; ++n) {
    if (segments[n].p_type != PT_NOTE) continue;
    const char* at = image_.data() + segments[n].p_offset;
    for (const char* end = at + segments[n].p_filesz; at + sizeof(Elf64_Nhdr) <= end;) {
      const auto& note = *reinterpret_cast<const Elf64_Nhdr*>(at);
      const char* const text = at + sizeof note + (note.n_namesz + 3) / 4 * 4;
      if (note.n_type == kNoteMetadata && !unpack(reinterpret_cast<const uint8_t*>(text), note.n_descsz, whole)) break;
      at = text + (note.n_descsz + 3) / 4 * 4;
    }
  }
  size_t described = 0;
  for (const Packed& entry : whole["amdhsa.kernels"].items)
    for (CodeKernel& kernel : kernels_) {
      if (entry[".name"].text != kernel.name) continue;
      const auto figure = [&](const char* key) { return uint32_t(entry[key].number_or(0)); };
      kernel.argument_bytes = figure(".kernarg_segment_size");
      kernel.lds_bytes = figure(".group_segment_fixed_size");
      kernel.scratch_bytes = figure(".private_segment_fixed_size");
      kernel.max_threads = figure(".max_flat_workgroup_size");
      kernel.vgprs = figure(".vgpr_count"), kernel.agprs = figure(".agpr_count"), kernel.sgprs = figure(".sgpr_count");
      kernel.vgpr_spills = figure(".vgpr_spill_count"), kernel.sgpr_spills = figure(".sgpr_spill_count");
      read_arguments(entry, kernel);
      ++described;
    }
  if (described < kernels_.size()) *why = "its metadata does not describe its kernels";
  return described >= kernels_.size();
}

}  // namespace simt
