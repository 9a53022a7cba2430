#include "message_pack.h"

#include <cstring>

namespace simt {
namespace {

constexpr uint32_t kDeepest = 32;

class Reader {
 public:
  Reader(const uint8_t* data, uint64_t bytes) : at_(data), end_(data + bytes) {}

  bool value(Packed& into, uint32_t depth = 0) {
    if (depth > kDeepest || at_ == end_) return false;
    const uint8_t tag = *at_++;
    if (tag < 0x80 || tag >= 0xE0) return number(into, tag < 0x80 ? tag : uint64_t(int64_t(int8_t(tag))));
    if (tag < 0x90) return map(into, tag & 15, depth);
    if (tag < 0xA0) return list(into, tag & 15, depth);
    if (tag < 0xC0) return text(into, tag & 31);
    switch (tag) {
      case 0xC0:
        return true;
      case 0xC2:
      case 0xC3:
        into.kind = Packed::Kind::kBoolean;
        into.number = tag == 0xC3;
        return true;
      case 0xC4:
      case 0xC5:
      case 0xC6:
        return text(into, unsigned_of(1u << (tag - 0xC4)));
      case 0xCC:
      case 0xCD:
      case 0xCE:
      case 0xCF:
        return number(into, unsigned_of(1u << (tag - 0xCC)));
      case 0xD0:
      case 0xD1:
      case 0xD2:
      case 0xD3:
        return number(into, unsigned_of(1u << (tag - 0xD0)));
      case 0xD9:
      case 0xDA:
      case 0xDB:
        return text(into, unsigned_of(1u << (tag - 0xD9)));
      case 0xDC:
      case 0xDD:
        return list(into, unsigned_of(2u << (tag - 0xDC)), depth);
      case 0xDE:
      case 0xDF:
        return map(into, unsigned_of(2u << (tag - 0xDE)), depth);
      default:
        return false;
    }
  }
  bool good() const { return good_; }

 private:
  uint64_t unsigned_of(uint32_t bytes) {
    uint64_t value = 0;
    if (uint64_t(end_ - at_) < bytes) good_ = false;
    for (uint32_t n = 0; good_ && n < bytes; ++n) value = value << 8 | *at_++;
    return value;
  }
  bool number(Packed& into, uint64_t value) {
    into.kind = Packed::Kind::kNumber;
    into.number = value;
    return good_;
  }
  bool text(Packed& into, uint64_t bytes) {
    if (!good_ || uint64_t(end_ - at_) < bytes) return false;
    into.kind = Packed::Kind::kText;
    into.text.assign(reinterpret_cast<const char*>(at_), bytes);
    at_ += bytes;
    return true;
  }
  bool list(Packed& into, uint64_t count, uint32_t depth) {
    into.kind = Packed::Kind::kList;
    for (uint64_t n = 0; good_ && n < count; ++n)
      if (!value(into.items.emplace_back(), depth + 1)) return false;
    return good_;
  }
  bool map(Packed& into, uint64_t count, uint32_t depth) {
    into.kind = Packed::Kind::kMap;
    for (uint64_t n = 0; good_ && n < count; ++n) {
      Packed key;
      if (!value(key, depth + 1)) return false;
      into.members.emplace_back(key.text, Packed());
      if (!value(into.members.back().second, depth + 1)) return false;
    }
    return good_;
  }

  const uint8_t* at_;
  const uint8_t* end_;
  bool good_ = true;
};

}  // namespace

const Packed& Packed::operator[](const char* key) const {
  static const Packed* const absent = new Packed;
  for (const auto& [name, value] : members)
    if (name == key) return value;
  return *absent;
}

bool unpack(const uint8_t* data, uint64_t bytes, Packed& into) {
  Reader reader(data, bytes);
  return reader.value(into) && reader.good();
}

}  // namespace simt
