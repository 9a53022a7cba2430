// Child side of the interception protocol: messages over a Unix socket to the validating process.
#pragma once
#include <string>

namespace simt {

constexpr int kExitParentGone = 125;
constexpr int kProtocolVersion = 1;

// Connects to the path in INTELLIPERF_EXPORT_SOCKET. Does not return if the other side cannot be reached.
int wire_connect(const char* path);

// Sends one message of JSON; the descriptor, if any, rides on its first byte.
void wire_send(int to, const std::string& body, int descriptor = -1);

// The next message of the other side. Does not return if the connection ends.
std::string wire_receive(int from);

// Waits until the other side says to continue.
void wire_wait(int from);

// Ends the process with status kExitParentGone, after `wire_at_leave`'s function.
[[noreturn]] void wire_leave(const char* why);
void wire_at_leave(void (*what)());

std::string hexadecimal(const void* bytes, size_t count);

}  // namespace simt
