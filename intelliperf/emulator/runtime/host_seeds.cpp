// std::random_device, in the place of libstdc++'s: the same numbers in each run of a program, so that runs can be
// compared. A program that seeds its input by it would have other input in each run.
#include <atomic>
#include <cstdint>

#define SIMT_EXPORT __attribute__((visibility("default")))

namespace {

// The finalizer of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014) over a counter.
uint64_t mixed(uint64_t number) {
  number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9u;
  number = (number ^ (number >> 27)) * 0x94d049bb133111ebu;
  return number ^ (number >> 31);
}

}  // namespace

// std::random_device::_M_getval(), by which libstdc++'s header gets every number.
extern "C" SIMT_EXPORT unsigned int _ZNSt13random_device9_M_getvalEv(void*) {
  static std::atomic<uint64_t> asked{0};
  return static_cast<unsigned int>(mixed((asked.fetch_add(1) + 1) * 0x9e3779b97f4a7c15u) >> 32);
}
