// What the buffers of a launch consist of, as its parameters say, for those who alter them.
#pragma once
#include <cstdint>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "alterations.h"
#include "launch.h"
#include "memory.h"
#include "shadow.h"

namespace simt {

struct Numbers {  // what a parameter says that an allocation holds
  BufferNumbers of;
  bool mixed = false;                  // two parameters disagree
  const Parameter* members = nullptr;  // of elements of several numbers
};

// Whether it is put back behind an altered launch.
bool movable(const Allocation& a);

// The buffers behind the launch's pointers, and its module's variables. `with_kept`: lists in no fixed order, too.
std::map<const Allocation*, Numbers> altered_with(const LaunchRequest& request, bool with_kept = false);

// Whether it is a list in no fixed order, as the parent has seen.
bool is_kept(const Allocation& a);

// Those of these that the launch only writes to.
std::vector<const Allocation*> lists_to_fill(const LaunchRequest& request);

// The buffers alone, in an order that both versions of a program have.
std::vector<std::pair<const Allocation*, Numbers>> in_order(const LaunchRequest& request, bool with_kept = false);

// The numbers that nobody has written yet: no data, and what is made of them would count among the results' sizes.
class Unwritten {
 public:
  Unwritten(const char* at, uint64_t bytes, uint32_t each);
  void put_back(char* at) const;

 private:
  uint32_t each_;
  std::vector<uint64_t> places_;
};

// Changes one member of all elements, as if they lay side by side.
template <class Change>
void change_column(char* at, uint64_t bytes, uint64_t stride, const Member& member, const Change& change) {
  const uint64_t count = bytes / stride, each = member.number.bytes;
  std::vector<char> column(count * each);
  for (uint64_t i = 0; i < count; ++i) std::memcpy(column.data() + i * each, at + i * stride + member.offset, each);
  change(column.data(), column.size());
  for (uint64_t i = 0; i < count; ++i) std::memcpy(at + i * stride + member.offset, column.data() + i * each, each);
}

// Changes all numbers of an allocation: of elements of several, those of each member as if they lay side by side.
template <class Change>
void change_numbers(const Allocation& a, const Numbers& numbers, const Change& change) {
  auto* at = reinterpret_cast<char*>(a.base);  // NOLINT(performance-no-int-to-ptr)
  const auto changed = [&](char* first, uint64_t bytes, const BufferNumbers& of) {
    const Unwritten unwritten(first, bytes, of.number.bytes);
    change(first, bytes, of);
    unwritten.put_back(first);
  };
  if (!numbers.members) {
    changed(at, a.bytes, numbers.of);
  } else {
    const uint64_t stride = numbers.members->stride;
    uint32_t order = 8 * numbers.of.order;
    for (const Member& member : numbers.members->members) {
      const uint64_t each = member.number.bytes;
      if (each == 0 || member.offset + each > stride) continue;
      ++order;
      change_column(at, a.bytes, stride, member, [&](char* first, uint64_t bytes) {
        changed(first, bytes, BufferNumbers{member.number, numbers.of.constant, order});
      });
    }
  }
  shadow_uploaded(at, a.bytes);  // numbers of their own from now on
}

}  // namespace simt
