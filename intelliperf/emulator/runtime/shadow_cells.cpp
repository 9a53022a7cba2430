#include "shadow_cells.h"

#include <sys/mman.h>

#include "memory.h"

namespace simt {
namespace {

constexpr uint64_t kChunkBytes = 65536;
constexpr size_t kMaxChunks = 4096;  // of 384 KB; accesses beyond them are not checked

}  // namespace

ShadowCells::ShadowCells() {
  arena_base_ = arena().base;
  directory_size_ = arena().bytes / kChunkBytes + 1;
  void* memory = mmap(nullptr, directory_size_ * sizeof(Chunk*), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  directory_ = memory == MAP_FAILED ? nullptr : static_cast<Chunk**>(memory);
}

ShadowCells::~ShadowCells() {
  clear();
  if (directory_) munmap(directory_, directory_size_ * sizeof(Chunk*));
}

void ShadowCells::begin_launch() { arena_base_ = arena().base; }

bool ShadowCells::is_half_full() const { return mapped_.size() > kMaxChunks / 2; }

void ShadowCells::clear() {
  for (Chunk* chunk : mapped_) {
    unmap(*chunk);
    if (chunk->slot) *chunk->slot = nullptr;
    delete chunk;
  }
  mapped_.clear();
  elsewhere_.clear();
}

ShadowCells::Span ShadowCells::around(uint64_t address, bool narrow) {
  const bool inside = address - arena_base_ < directory_size_ * kChunkBytes;
  const uint64_t base = inside ? arena_base_ : 0, first = base + (address - base) / kChunkBytes * kChunkBytes;
  Chunk* chunk = chunk_of(address);
  Span span{nullptr, first, first + kChunkBytes, 2, false};
  if (!chunk) return span;
  if (narrow && !chunk->bytewise) {
    ShadowCell* fine = map(kChunkBytes);
    if (!fine) return span;
    unmap(*chunk);
    *chunk = Chunk{fine, chunk->slot, true};
    span.renewed = true;
  }
  span.base = chunk->cells;
  span.shift = chunk->bytewise ? 0 : 2;
  return span;
}

ShadowCell* ShadowCells::map(uint64_t count) {
  void* memory = mmap(nullptr, count * sizeof(ShadowCell), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<ShadowCell*>(memory);
}

void ShadowCells::unmap(const Chunk& chunk) {
  munmap(chunk.cells, (chunk.bytewise ? kChunkBytes : kChunkBytes / 4) * sizeof(ShadowCell));
}

ShadowCells::Chunk* ShadowCells::chunk_of(uint64_t address) {
  const uint64_t index = (address - arena_base_) / kChunkBytes;
  if (directory_ && index < directory_size_) {
    if (!directory_[index]) directory_[index] = new_chunk(&directory_[index]);
    return directory_[index];
  }
  Chunk*& other = elsewhere_[address / kChunkBytes];
  if (!other) other = new_chunk(nullptr);
  return other;
}

ShadowCells::Chunk* ShadowCells::new_chunk(Chunk** slot) {
  if (mapped_.size() >= kMaxChunks) return nullptr;
  ShadowCell* cells = map(kChunkBytes / 4);
  if (!cells) return nullptr;
  mapped_.push_back(new Chunk{cells, slot, false});
  return mapped_.back();
}

}  // namespace simt
