#include "device_image.h"

#include <cstring>

#include "abi.h"

namespace simt {

namespace {

constexpr char kMagic[] = "IPERFSIM", kHead[] = "// intelliperf device code\n";
constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";  // RFC 4648
constexpr size_t kLine = 96;                                                                    // digits

int value_of(char digit) {
  const char* const found = digit ? std::strchr(kDigits, digit) : nullptr;
  return found ? static_cast<int>(found - kDigits) : -1;
}

bool is_container(const char* data, size_t most) {
  ContainerHeader header;
  if (most < sizeof header || std::memcmp(data, kMagic, sizeof header.magic) != 0) return false;
  std::memcpy(&header, data, sizeof header);
  return most - sizeof header >= header.object_bytes &&
         most - sizeof header - header.object_bytes >= header.metadata_bytes;
}

}  // namespace

bool image_from(const char* data, size_t most, std::vector<char>* image) {
  if (is_container(data, most)) {
    ContainerHeader header;
    std::memcpy(&header, data, sizeof header);
    image->assign(data, data + sizeof header + header.object_bytes + header.metadata_bytes);
    return true;
  }
  constexpr size_t head = sizeof kHead - 1;
  if (most < head || std::strncmp(data, kHead, head) != 0) return false;
  image->clear();
  uint32_t bits = 0, count = 0;
  for (size_t i = head; i < most && data[i] && data[i] != '='; ++i) {
    const int value = value_of(data[i]);
    if (value < 0) continue;  // the marks that make it a comment
    bits = bits << 6 | static_cast<uint32_t>(value);
    if ((count += 6) < 8) continue;
    count -= 8;
    image->push_back(static_cast<char>(bits >> count & 0xff));
  }
  return is_container(image->data(), image->size());
}

std::string image_as_text(const std::vector<char>& image) {
  std::string text = kHead;
  size_t digits = 0;
  for (size_t i = 0; i < image.size(); i += 3) {
    uint32_t bits = 0;
    for (size_t k = 0; k < 3; ++k)
      bits = bits << 8 | (i + k < image.size() ? static_cast<unsigned char>(image[i + k]) : 0);
    if (digits % kLine == 0) text += digits ? "\n" : "";
    for (size_t k = 0; k < 4; ++k) text += i + k > image.size() ? '=' : kDigits[bits >> (18 - 6 * k) & 63];
    digits += 4;
  }
  return text + "\n";
}

}  // namespace simt
