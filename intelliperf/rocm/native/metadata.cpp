#include "metadata.h"

#include <elf.h>

#include <cstring>

namespace intelliperf {

namespace {

constexpr uint32_t kMetadataNote = 32;  // NT_AMDGPU_METADATA
constexpr int kDeepest = 16;

// Reads MessagePack front to back; after anything malformed everything reads as empty.
class Reader {
 public:
  Reader(const uint8_t* at, size_t bytes) : at_(at), end_(at + bytes) {}

  uint64_t number() {
    const uint8_t tag = byte();
    if (tag < 0x80) return tag;
    switch (tag) {
      case 0xcc:
        return big_endian(1);
      case 0xcd:
        return big_endian(2);
      case 0xce:
        return big_endian(4);
      case 0xcf:
        return big_endian(8);
      default:
        return fail();
    }
  }

  std::string text() {
    const uint8_t tag = byte();
    const size_t length = (tag & 0xe0) == 0xa0         ? tag & 0x1f
                          : tag >= 0xd9 && tag <= 0xdb ? big_endian(1u << (tag - 0xd9))
                                                       : fail();
    const uint8_t* from = take(length);
    return from ? std::string(reinterpret_cast<const char*>(from), length) : std::string();
  }

  size_t map_size() {
    const uint8_t tag = byte();
    if ((tag & 0xf0) == 0x80) return tag & 0x0f;
    return tag == 0xde ? big_endian(2) : tag == 0xdf ? big_endian(4) : fail();
  }

  size_t array_size() {
    const uint8_t tag = byte();
    if ((tag & 0xf0) == 0x90) return tag & 0x0f;
    return tag == 0xdc ? big_endian(2) : tag == 0xdd ? big_endian(4) : fail();
  }

  void skip(int depth = 0) {
    if (depth > kDeepest || at_ >= end_) return static_cast<void>(fail());
    const uint8_t tag = *at_;
    if ((tag & 0xf0) == 0x80 || tag == 0xde || tag == 0xdf) {
      for (size_t left = 2 * map_size(); left > 0 && !failed_; --left) skip(depth + 1);
    } else if ((tag & 0xf0) == 0x90 || tag == 0xdc || tag == 0xdd) {
      for (size_t left = array_size(); left > 0 && !failed_; --left) skip(depth + 1);
    } else if ((tag & 0xe0) == 0xa0 || (tag >= 0xd9 && tag <= 0xdb)) {
      text();
    } else {
      skip_plain();
    }
  }

  bool failed() const { return failed_; }

 private:
  void skip_plain() {
    const uint8_t tag = byte();
    if (tag < 0x80 || tag >= 0xe0 || tag == 0xc0 || tag == 0xc2 || tag == 0xc3) return;
    if (tag >= 0xc4 && tag <= 0xc6) return static_cast<void>(take(big_endian(1u << (tag - 0xc4))));
    if (tag == 0xca) return static_cast<void>(take(4));
    if (tag == 0xcb) return static_cast<void>(take(8));
    if (tag >= 0xcc && tag <= 0xcf) return static_cast<void>(take(1u << (tag - 0xcc)));
    if (tag >= 0xd0 && tag <= 0xd3) return static_cast<void>(take(1u << (tag - 0xd0)));
    fail();
  }

  const uint8_t* take(uint64_t count) {
    if (failed_ || count > static_cast<uint64_t>(end_ - at_)) {
      fail();
      return nullptr;
    }
    const uint8_t* from = at_;
    at_ += count;
    return from;
  }

  uint8_t byte() {
    const uint8_t* from = take(1);
    return from ? *from : 0;
  }

  uint64_t big_endian(unsigned bytes) {
    const uint8_t* from = take(bytes);
    uint64_t value = 0;
    for (unsigned i = 0; from && i < bytes; ++i) value = value << 8 | from[i];
    return value;
  }

  uint64_t fail() {
    failed_ = true;
    at_ = end_;
    return 0;
  }

  const uint8_t* at_;
  const uint8_t* end_;
  bool failed_ = false;
};

void read_argument(Reader& reader, KernelLayout& layout) {
  ArgumentLayout argument;
  std::string kind;
  for (size_t left = reader.map_size(); left > 0 && !reader.failed(); --left) {
    const std::string key = reader.text();
    if (key == ".offset")
      argument.offset = reader.number();
    else if (key == ".size")
      argument.bytes = reader.number();
    else if (key == ".value_kind")
      kind = reader.text();
    else
      reader.skip();
  }
  argument.pointer = kind == "global_buffer";
  if (kind.rfind("hidden_", 0) != 0) layout.arguments.push_back(argument);
}

void read_kernel(Reader& reader, std::map<std::string, KernelLayout>& layouts) {
  KernelLayout layout;
  std::string symbol;
  for (size_t left = reader.map_size(); left > 0 && !reader.failed(); --left) {
    const std::string key = reader.text();
    if (key == ".symbol")
      symbol = reader.text();
    else if (key == ".kernarg_segment_size")
      layout.kernarg_bytes = reader.number();
    else if (key == ".group_segment_fixed_size")
      layout.group_bytes = reader.number();
    else if (key == ".args")
      for (size_t count = reader.array_size(); count > 0 && !reader.failed(); --count) read_argument(reader, layout);
    else
      reader.skip();
  }
  if (!reader.failed() && !symbol.empty()) layouts[symbol] = layout;
}

void read_note(const uint8_t* text, size_t bytes, std::map<std::string, KernelLayout>& layouts) {
  Reader reader(text, bytes);
  for (size_t left = reader.map_size(); left > 0 && !reader.failed(); --left) {
    if (reader.text() != "amdhsa.kernels") {
      reader.skip();
      continue;
    }
    for (size_t count = reader.array_size(); count > 0 && !reader.failed(); --count) read_kernel(reader, layouts);
  }
}

uint64_t padded(uint64_t bytes) { return (bytes + 3) & ~uint64_t{3}; }

void read_notes(const uint8_t* at, uint64_t bytes, std::map<std::string, KernelLayout>& layouts) {
  while (bytes >= sizeof(Elf64_Nhdr)) {
    Elf64_Nhdr note;
    std::memcpy(&note, at, sizeof note);
    const uint64_t whole = sizeof note + padded(note.n_namesz) + padded(note.n_descsz);
    if (whole > bytes) return;
    const uint8_t* name = at + sizeof note;
    if (note.n_type == kMetadataNote && note.n_namesz >= 6 && std::memcmp(name, "AMDGPU", 6) == 0)
      read_note(name + padded(note.n_namesz), note.n_descsz, layouts);
    at += whole;
    bytes -= whole;
  }
}

}  // namespace

std::map<std::string, KernelLayout> kernel_layouts(const void* code_object, size_t bytes) {
  std::map<std::string, KernelLayout> layouts;
  const auto* start = static_cast<const uint8_t*>(code_object);
  Elf64_Ehdr header;
  if (!start || bytes < sizeof header) return layouts;
  std::memcpy(&header, start, sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64) return layouts;
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    const uint64_t at = header.e_phoff + uint64_t{i} * sizeof segment;
    if (header.e_phoff > bytes || at + sizeof segment > bytes) break;
    std::memcpy(&segment, start + at, sizeof segment);
    const bool inside = segment.p_offset <= bytes && segment.p_filesz <= bytes - segment.p_offset;
    if (segment.p_type == PT_NOTE && inside) read_notes(start + segment.p_offset, segment.p_filesz, layouts);
  }
  return layouts;
}

}  // namespace intelliperf
