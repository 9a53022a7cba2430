#include "code.h"

#include <cstring>

#include "decode.h"
#include "device_memory.h"

namespace machine {

void Code::find_page(uint64_t number) {
  std::unique_ptr<Page>& page = pages_[number];
  if (!page) page = std::make_unique<Page>();
  page_ = page.get();
  page_number_ = number;
}

void Code::renew(std::unique_ptr<Instruction>& slot, uint64_t address) {
  if (address % 4) throw Stop("the program counter is not a multiple of 4");
  if (!is_memory(address, 4)) throw Stop("the program counter points to no memory of the device");
  const auto* memory = reinterpret_cast<const void*>(address);
  if (!slot || std::memcmp(memory, slot->words, slot->bytes) != 0) {
    if (!slot) slot = std::make_unique<Instruction>();
    decode(address, family_, *slot);
  }
  slot->counts = Counts();
  slot->range_begin = slot->range_end = 0;  // memory may have been freed since
  slot->dispatch = dispatch_;
  used_.push_back(slot.get());
}

}  // namespace machine
