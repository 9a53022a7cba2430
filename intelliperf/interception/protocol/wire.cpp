#include "wire.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "json.h"

namespace simt {

namespace {

constexpr uint32_t kLongestReply = 1 << 16;

void (*at_leave)() = nullptr;

void receive_exactly(int from, void* into, size_t bytes) {
  auto* at = static_cast<char*>(into);
  while (bytes > 0) {
    const ssize_t got = recv(from, at, bytes, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) wire_leave("");
    at += got;
    bytes -= static_cast<size_t>(got);
  }
}

}  // namespace

[[noreturn]] void wire_leave(const char* why) {
  std::fflush(nullptr);
  if (*why) std::fprintf(stderr, "intelliperf: %s\n", why);
  if (at_leave) at_leave();
  _exit(kExitParentGone);
}

void wire_at_leave(void (*what)()) { at_leave = what; }

int wire_connect(const char* path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (std::strlen(path) >= sizeof address.sun_path) wire_leave("the path in INTELLIPERF_EXPORT_SOCKET is too long");
  std::memcpy(address.sun_path, path, std::strlen(path));
  const int made = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (made < 0 || connect(made, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    wire_leave("cannot reach the validating process through INTELLIPERF_EXPORT_SOCKET");
  return made;
}

void wire_send(int to, const std::string& body, int descriptor) {
  std::string message(sizeof(uint32_t), '\0');
  const auto length = static_cast<uint32_t>(body.size());
  std::memcpy(message.data(), &length, sizeof length);
  message += body;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  for (size_t done = 0; done < message.size();) {
    iovec part{message.data() + done, message.size() - done};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    if (done == 0 && descriptor >= 0) {
      header.msg_control = control;
      header.msg_controllen = sizeof control;
      cmsghdr* first = CMSG_FIRSTHDR(&header);
      first->cmsg_level = SOL_SOCKET;
      first->cmsg_type = SCM_RIGHTS;
      first->cmsg_len = CMSG_LEN(sizeof(int));
      std::memcpy(CMSG_DATA(first), &descriptor, sizeof descriptor);
    }
    const ssize_t sent = sendmsg(to, &header, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) wire_leave("");
    done += static_cast<size_t>(sent);
  }
}

std::string wire_receive(int from) {
  uint32_t length = 0;
  receive_exactly(from, &length, sizeof length);
  if (length > kLongestReply) wire_leave("the validating process sent nonsense");
  std::string body(length, '\0');
  receive_exactly(from, body.data(), length);
  return body;
}

void wire_wait(int from) {
  bool ok = false;
  const JsonValue reply = JsonValue::parse(wire_receive(from), &ok);
  if (!ok || reply["type"].text() != "continue") wire_leave("");
}

std::string hexadecimal(const void* bytes, size_t count) {
  static const char digits[] = "0123456789abcdef";
  const auto* at = static_cast<const unsigned char*>(bytes);
  std::string text;
  text.reserve(2 * count);
  for (size_t i = 0; i < count; ++i) {
    text += digits[at[i] >> 4];
    text += digits[at[i] & 15];
  }
  return text;
}

}  // namespace simt
