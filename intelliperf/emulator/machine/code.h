// Decoded instructions by their address.
#pragma once
#include <memory>
#include <unordered_map>
#include <vector>

#include "instruction.h"

namespace machine {

class Code {
 public:
  explicit Code(Family family = Family::kGfx90a) : family_(family) {}

  // From here on counts start at zero, and code is compared with memory once more.
  void begin_dispatch() {
    ++dispatch_;
    used_.clear();
  }

  Instruction& at(uint64_t address) {
    if (address >> kPageBits != page_number_) find_page(address >> kPageBits);
    std::unique_ptr<Instruction>& slot = page_->slot[address % kPageBytes / 4];
    if (!slot || slot->dispatch != dispatch_) renew(slot, address);
    return *slot;
  }

  const std::vector<Instruction*>& used() const { return used_; }

 private:
  static constexpr uint32_t kPageBits = 12, kPageBytes = 1u << kPageBits;
  struct Page {
    std::unique_ptr<Instruction> slot[kPageBytes / 4];
  };

  void find_page(uint64_t number);
  void renew(std::unique_ptr<Instruction>& slot, uint64_t address);

  std::unordered_map<uint64_t, std::unique_ptr<Page>> pages_;
  Family family_;
  Page* page_ = nullptr;
  uint64_t page_number_ = ~0ull, dispatch_ = 0;
  std::vector<Instruction*> used_;
};

}  // namespace machine
