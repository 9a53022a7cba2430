// Handles as ROCr 6.3 to 7 make them: a ticket for the exporting process, which passes the file by an abstract socket.
//
// There the runtime does it above this library, which knows no more than the driver's own handles; here this library
// does, so that ROCr 5.2 shows the same: names of the socket and the handle's words, ten seconds for a process that does
// not listen, no end of waiting for memory that is not exported any more, and the variable that asks for the older kind.
// GFX90A_IPC: "dmabuf", which still has the older kind, or "dmabuf-only", as drivers of the upstream kernel are.
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "thunk.h"

namespace gfx90a {
namespace {

constexpr size_t kRequestBytes = 64;
constexpr auto kPatience = std::chrono::seconds(10);

struct Ticket {
  uint64_t address;
  int32_t process;
  uint32_t unused[3];
  uint32_t of_rocr;  // a fragment's place
  uint32_t unused_last;
};
static_assert(sizeof(Ticket) == sizeof(HsaSharedMemoryHandle), "a ticket is a handle");

std::string kind() {
  const char* text = std::getenv("GFX90A_IPC");
  return text ? text : "";
}

sockaddr_un socket_of(int32_t process) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "hsa%d", process);
  return address;
}

struct Exports {
  std::mutex guard;
  std::set<uint64_t> addresses;
  int listener = -1;
};

Exports& exports() {
  static auto* const all = new Exports;  // outlives the thread
  return *all;
}

void send_file(int connection, int file) {
  char byte = 0;
  iovec part{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof file)] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof file);
  std::memcpy(CMSG_DATA(header), &file, sizeof file);
  sendmsg(connection, &message, MSG_NOSIGNAL);
}

int received_file(int connection) {
  char byte;
  iovec part{&byte, 1};
  int file = -1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof file)] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  while (recvmsg(connection, &message, MSG_CMSG_CLOEXEC) == 0) usleep(1000);  // nothing more comes, and still it waits
  if (const cmsghdr* const header = CMSG_FIRSTHDR(&message)) std::memcpy(&file, CMSG_DATA(header), sizeof file);
  return file;
}

void serve() {
  for (;;) {
    const int connection = accept(exports().listener, nullptr, nullptr);
    if (connection < 0) continue;
    char request[kRequestBytes + 1] = {};
    if (read(connection, request, kRequestBytes) > 0) {
      const uint64_t address = std::strtoull(request, nullptr, 10);
      const std::lock_guard<std::mutex> lock(exports().guard);
      const int file = exports().addresses.count(address) ? file_at(address) : -1;
      if (file >= 0) {
        send_file(connection, file);
        close(file);
      }
    }
    close(connection);
  }
}

bool listens() {
  Exports& all = exports();
  if (all.listener >= 0) return true;
  const sockaddr_un name = socket_of(getpid());
  all.listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (bind(all.listener, reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0 || listen(all.listener, 1) != 0) {
    close(all.listener);
    all.listener = -1;
    return false;
  }
  std::thread(serve).detach();
  return true;
}

int connected(int32_t process) {
  const sockaddr_un name = socket_of(process);
  const int connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const auto begun = std::chrono::steady_clock::now();
  while (connect(connection, reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0) {
    if (std::chrono::steady_clock::now() - begun > kPatience) {
      close(connection);
      return -1;
    }
    usleep(1000);
  }
  return connection;
}

}  // namespace

Ipc ipc() {
  const char* legacy = std::getenv("HSA_ENABLE_IPC_MODE_LEGACY");
  if (kind() != "dmabuf" && kind() != "dmabuf-only") return Ipc::kDriver;
  if (!legacy || std::strcmp(legacy, "1") != 0) return Ipc::kDmabuf;
  return kind() == "dmabuf" ? Ipc::kDriver : Ipc::kNone;
}

bool export_by_dmabuf(uint64_t address, HsaSharedMemoryHandle* handle) {
  const std::lock_guard<std::mutex> lock(exports().guard);
  if (!listens()) return false;
  exports().addresses.insert(address);
  const Ticket ticket{address, int32_t(getpid()), {}, 0, 0};
  std::memcpy(handle, &ticket, sizeof ticket);
  return true;
}

void forget_dmabuf(uint64_t address) {
  const std::lock_guard<std::mutex> lock(exports().guard);
  exports().addresses.erase(address);
}

int import_by_dmabuf(const HsaSharedMemoryHandle* handle) {
  Ticket ticket;
  std::memcpy(&ticket, handle, sizeof ticket);
  const int connection = connected(ticket.process);
  if (connection < 0) return -1;
  char request[kRequestBytes] = {};
  std::snprintf(request, sizeof request, "%llu", static_cast<unsigned long long>(ticket.address));
  const bool asked = write(connection, request, sizeof request) == ssize_t(sizeof request);
  const int file = asked ? received_file(connection) : -1;
  close(connection);
  return file;
}

}  // namespace gfx90a
