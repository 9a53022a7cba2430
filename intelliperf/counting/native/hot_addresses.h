// Open-addressing tables over addresses: the lanes per atomic address, and plain membership.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

namespace simt {

inline uint64_t scatter(uint64_t key) {
  key *= 0x9E3779B97F4A7C15ull;
  return key ^ (key >> 29);
}

class AddressSet {
 public:
  // True when `key` (not 0) was not there before.
  bool insert(uint64_t key) {
    if (size_ * 2 >= slots_.size()) grow();
    const uint64_t mask = slots_.size() - 1;
    for (uint64_t i = scatter(key) & mask;; i = (i + 1) & mask) {
      if (slots_[i] == key) return false;
      if (slots_[i] != 0) continue;
      slots_[i] = key;
      ++size_;
      return true;
    }
  }
  void clear() {
    size_ = 0;
    slots_.assign(slots_.size() > 65536 ? 65536 : slots_.size(), 0);
  }
  uint64_t size() const { return size_; }

 private:
  void grow() {
    std::vector<uint64_t> old;
    old.swap(slots_);
    slots_.assign(old.empty() ? 1024 : old.size() * 2, 0);
    size_ = 0;
    for (uint64_t key : old)
      if (key) insert(key);
  }
  std::vector<uint64_t> slots_;
  uint64_t size_ = 0;
};

// Which of up to eight parties has touched each 128-byte line; a byte per line of a dense range.
class LineSet {
 public:
  // `first`: number of the first line of the range.
  void cover(uint64_t first, uint64_t lines) {
    first_ = first;
    lines_ = lines;
  }
  bool covers(uint64_t line) const { return line - first_ < lines_; }
  // True when `bit` (below 8) had not touched the line before.
  bool insert(uint64_t line, uint32_t bit) {
    const uint64_t at = line - first_;
    if (at / kPage >= pages_.size()) pages_.resize(at / kPage + 1);
    std::unique_ptr<uint8_t[]>& page = pages_[at / kPage];
    if (!page) page.reset(new uint8_t[kPage]());
    uint8_t& touched = page[at % kPage];
    const bool fresh = !(touched >> bit & 1);
    touched = uint8_t(touched | 1u << bit);
    return fresh;
  }
  // Whether any of the parties in the mask has touched the line.
  bool touched(uint64_t line, uint32_t parties) const {
    const uint64_t at = line - first_;
    return at / kPage < pages_.size() && pages_[at / kPage] && (pages_[at / kPage][at % kPage] & parties);
  }
  void clear() { pages_.clear(); }

 private:
  static constexpr uint64_t kPage = 16384;
  std::vector<std::unique_ptr<uint8_t[]>> pages_;
  uint64_t first_ = 0, lines_ = 0;
};

class HotAddresses {
 public:
  struct Summary {
    uint64_t distinct = 0, of_one_block = 0;  // addresses
    uint64_t hottest_lanes = 0, hottest_blocks = 0;
    uint32_t hottest_site = 0xFFFFFFFF;
  };
  // `block`: number of the traced block. Blocks that take turns count as more, but one block is never several.
  void add(uint64_t address, uint64_t lanes, uint32_t site, uint32_t block) {
    if (size_ * 2 >= slots_.size()) grow();
    Slot& slot = place(address);
    if (slot.address == 0) {
      slot = Slot{address, 0, site, 0, 0};
      ++size_;
    }
    slot.lanes += lanes;
    if (slot.blocks == 0 || slot.last_block != block) ++slot.blocks;
    slot.last_block = block;
  }
  // Only if it is there already.
  bool add_known(uint64_t address, uint64_t lanes) {
    if (slots_.empty()) return false;
    Slot& slot = place(address);
    if (slot.address == 0) return false;
    slot.lanes += lanes;
    return true;
  }
  // `visit(address, lanes, site)`
  template <class Visit>
  void each(Visit visit) const {
    for (const Slot& slot : slots_)
      if (slot.address) visit(slot.address, slot.lanes, slot.site);
  }
  uint64_t size() const { return size_; }
  void clear() {
    size_ = 0;
    slots_.assign(slots_.size() > 65536 ? 65536 : slots_.size(), Slot{});
  }
  Summary summary() const {
    Summary s;
    uint64_t address = 0;
    for (const Slot& slot : slots_) {
      if (slot.address == 0) continue;
      ++s.distinct;
      s.of_one_block += slot.blocks == 1;
      if (slot.lanes < s.hottest_lanes || (slot.lanes == s.hottest_lanes && slot.address > address)) continue;
      address = slot.address;
      s.hottest_lanes = slot.lanes;
      s.hottest_blocks = slot.blocks;
      s.hottest_site = slot.site;
    }
    return s;
  }

 private:
  struct Slot {
    uint64_t address, lanes;
    uint32_t site;  // the first that touched it
    uint32_t blocks, last_block;
  };
  Slot& place(uint64_t address) {
    const uint64_t mask = slots_.size() - 1;
    uint64_t i = scatter(address) & mask;
    while (slots_[i].address != 0 && slots_[i].address != address) i = (i + 1) & mask;
    return slots_[i];
  }
  void grow() {
    std::vector<Slot> old;
    old.swap(slots_);
    slots_.assign(old.empty() ? 1024 : old.size() * 2, Slot{});
    for (const Slot& slot : old)
      if (slot.address) place(slot.address) = slot;
  }
  std::vector<Slot> slots_;
  uint64_t size_ = 0;
};

}  // namespace simt
