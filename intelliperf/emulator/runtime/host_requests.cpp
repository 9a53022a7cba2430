// Requests of running kernels, by the protocol of AMD's device libraries (`__ockl_hostcall_internal`, code object v5): a
// wave takes a packet from a stack, puts eight words of each lane into it, pushes it on another stack, rings a signal and
// waits for a flag. Whoever rings is answered at once, before its next instruction.
#include "host_requests.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>

namespace simt {
namespace {

constexpr uint64_t kPackets = 1024, kTag = kPackets;  // a power of two; the tag keeps a link from being zero
constexpr uint32_t kLanes = 64, kWords = 8, kReady = 1, kPrint = 2;

struct Header {
  uint64_t next, lanes;
  uint32_t service, control;
};
struct Payload {
  uint64_t word[kLanes][kWords];
};
struct Signal {  // amd_signal_t
  int64_t kind, value;
  uint64_t mailbox;
  uint32_t event, rest[9];
};
struct Buffer {
  uint64_t headers, payloads, signal, free, ready, mask;
};
struct Space {
  Buffer buffer;
  Signal signal;
  uint64_t mailbox;
  Header header[kPackets];
  Payload payload[kPackets];
};

Space* space;

template <class T>
uint64_t address_of(const T* at) {
  return reinterpret_cast<uint64_t>(at);
}

Space* made() {
  void* const mapped = mmap(nullptr, sizeof(Space), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  auto* const fresh = static_cast<Space*>(mapped);
  fresh->signal.mailbox = address_of(&fresh->mailbox);
  fresh->buffer = {address_of(fresh->header),
                   address_of(fresh->payload),
                   address_of(&fresh->signal),
                   kTag | (kPackets - 1),
                   0,
                   kPackets - 1};
  for (uint64_t n = 1; n < kPackets; ++n) fresh->header[n].next = kTag | (n - 1);
  return fresh;
}

// A message comes in parts of up to seven words, which its first word describes.
constexpr uint64_t kBegins = 1, kEnds = 2;

std::map<uint64_t, std::vector<uint64_t>>& messages() {
  static auto* const open = new std::map<uint64_t, std::vector<uint64_t>>;
  return *open;
}

uint64_t take_part(const uint64_t* word) {
  static uint64_t last = 0;
  const uint64_t id = word[0] & kBegins ? ++last : word[0] >> 8;
  std::vector<uint64_t>& message = messages()[id];
  message.insert(message.end(), word + 1, word + 1 + (word[0] >> 5 & 7));
  if (!(word[0] & kEnds)) return (word[0] & 0xFE) | id << 8;
  const bool to_errors = !message.empty() && message[0] & 1;
  if (!message.empty()) message.erase(message.begin());
  const std::string text = printed(message);
  messages().erase(id);
  FILE* const stream = to_errors ? stderr : stdout;
  std::fwrite(text.data(), 1, text.size(), stream);
  std::fflush(stream);
  return text.size();
}

void answer(Header& header, Payload& payload) {
  for (uint64_t rest = header.lanes; rest; rest &= rest - 1) {
    uint64_t* const word = payload.word[__builtin_ctzll(rest)];
    word[0] = header.service == kPrint ? take_part(word) : 0;
    word[1] = 0;
  }
  header.control &= ~kReady;
}

// The arguments behind the format, in the order of its conversions.
class Arguments {
 public:
  Arguments(const std::vector<uint64_t>& words, size_t first) : words_(words), next_(first) {}
  uint64_t word() { return next_ < words_.size() ? words_[next_++] : 0; }
  std::string text() {
    if (next_ >= words_.size()) return "";
    const auto* begin = reinterpret_cast<const char*>(words_.data() + next_);
    const size_t length = strnlen(begin, (words_.size() - next_) * sizeof(uint64_t));
    next_ += length / sizeof(uint64_t) + 1;
    return {begin, length};
  }

 private:
  const std::vector<uint64_t>& words_;
  size_t next_;
};

template <class T>
std::string formatted(const std::string& conversion, T value) {
  char text[512];
  const int length = std::snprintf(text, sizeof text, conversion.c_str(), value);
  return length < 0 ? "" : std::string(text, std::min<size_t>(size_t(length), sizeof text - 1));
}

std::string converted(std::string conversion, bool wide, Arguments& arguments) {
  const char kind = conversion.back();
  if (kind == '%') return "%";
  if (kind == 's') {
    const std::string text = arguments.text();
    return conversion == "%s" ? text : formatted(conversion, text.c_str());
  }
  if (!std::strchr("pcaAeEfFgGdiouxX", kind)) return "";
  const uint64_t word = arguments.word();
  if (kind == 'p') return formatted("0x%llx", static_cast<unsigned long long>(word));
  if (kind == 'c') return std::string(1, char(word));
  if (std::strchr("aAeEfFgG", kind)) {
    double value;
    std::memcpy(&value, &word, sizeof value);
    return formatted(conversion, value);
  }
  if (!wide) return formatted(conversion, uint32_t(word));
  conversion.insert(conversion.size() - 1, "ll");
  return formatted(conversion, static_cast<unsigned long long>(word));
}

}  // namespace

std::string printed(const std::vector<uint64_t>& words) {
  Arguments arguments(words, 0);
  const std::string format = arguments.text();
  std::string out;
  for (size_t at = 0; at < format.size(); ++at) {
    if (format[at] != '%') {
      out += format[at];
      continue;
    }
    std::string conversion = "%";
    bool wide = false;
    while (++at < format.size() && std::strchr("-+ #0123456789.*hljztL", format[at])) {
      if (format[at] == '*') conversion += std::to_string(int32_t(arguments.word()));
      if (std::strchr("ljzt", format[at])) wide = true;
      if (!std::strchr("*hljztL", format[at])) conversion += format[at];
    }
    if (at < format.size()) out += converted(conversion + format[at], wide, arguments);
  }
  return out;
}

uint64_t host_request_buffer() {
  if (!space) space = made();
  return space ? address_of(&space->buffer) : 0;
}

bool of_host_requests(uint64_t address, uint64_t& begin, uint64_t& end) {
  if (!space || address < address_of(space) || address >= address_of(space + 1)) return false;
  begin = address_of(space), end = address_of(space + 1);
  return true;
}

void answer_host_requests() {
  if (!space) return;
  uint64_t at = space->buffer.ready;
  space->buffer.ready = 0;
  while (at) {
    const uint64_t n = at & space->buffer.mask;
    at = space->header[n].next;
    answer(space->header[n], space->payload[n]);
  }
}

}  // namespace simt
