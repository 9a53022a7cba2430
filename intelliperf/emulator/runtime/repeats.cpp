#include "repeats.h"

#include <sys/random.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "grid_run.h"
#include "host_state.h"
#include "memory.h"

namespace simt {
namespace {

constexpr uint64_t kPieceBytes = 64 << 10;
constexpr uint64_t kMostBytes = 4ull << 30;        // of memory to look at
constexpr uint64_t kMostKeptBytes = 512ull << 20;  // of all changes together
constexpr size_t kMostKnown = 4096;
// A run takes so many times longer than a look at memory: where one is due at each launch; where there have been few
// launches; and where many have been, so that the rest of them may be left out for two looks.
constexpr double kWorth = 2, kWorthEarly = 4, kWorthLate = 1;
constexpr uint64_t kMany = 16;
constexpr double kFirstNsPerByte = 0.3;

bool outside_effect;

template <class T>
void append(std::string& key, const T& value) {
  key.append(reinterpret_cast<const char*>(&value), sizeof value);
}

bool pointers_known(const LaunchRequest& request) {
  for (const Parameter& parameter : request.kernel->parameters)
    for (const uint64_t offset : parameter.pointers) {
      uintptr_t value = 0;
      std::memcpy(&value, static_cast<const char*>(request.arguments[parameter.index]) + offset, sizeof value);
      if (value && !find(value)) return false;
    }
  return true;
}

std::string key_of(const LaunchRequest& request) {
  std::string key;
  append(key, request.kernel);
  append(key, request.grid);
  append(key, request.block);
  append(key, request.dynamic_lds);
  append(key, request.cooperative);
  for (const Parameter& parameter : request.kernel->parameters)
    key.append(static_cast<const char*>(request.arguments[parameter.index]), parameter.size);
  return key;
}

uint64_t folded(uint64_t a, uint64_t b) {
  const auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

uint64_t word(const char* at) {
  uint64_t value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

}  // namespace

uint32_t Repeats::asides_;

void note_outside_effect() { outside_effect = true; }

Repeats& Repeats::instance() {
  static auto* made = new Repeats;
  return *made;
}

Repeats::Repeats() : ns_per_byte_(kFirstNsPerByte) {
  const char* socket = std::getenv("INTELLIPERF_EXPORT_SOCKET");
  exported_ = socket && *socket;
  if (getrandom(secrets_, sizeof secrets_, 0) != static_cast<ssize_t>(sizeof secrets_))
    for (uint64_t& secret : secrets_) secret = folded(reinterpret_cast<uintptr_t>(&secret), 0x9E3779B97F4A7C15ull) | 1;
}

// Four chains of folded products, of 16 bytes each per round.
Repeats::Digest Repeats::digest(const void* data, uint64_t bytes) const {
  const auto* at = static_cast<const char*>(data);
  uint64_t chains[4] = {secrets_[8] ^ bytes, secrets_[9], secrets_[10], secrets_[11]};
  const auto take = [&](const char* from) {
    for (int i = 0; i < 4; ++i)
      chains[i] =
          folded(word(from + 16 * i) ^ secrets_[2 * i], word(from + 16 * i + 8) ^ secrets_[2 * i + 1] ^ chains[i]);
  };
  uint64_t left = bytes;
  for (; left >= 64; left -= 64, at += 64) take(at);
  if (left) {
    char last[64] = {};
    std::memcpy(last, at, left);
    take(last);
  }
  return {folded(chains[0] ^ secrets_[1], chains[1] ^ secrets_[2]) ^
              folded(chains[2] ^ secrets_[3], chains[3] ^ secrets_[4]),
          folded(chains[0] ^ secrets_[5], chains[2] ^ secrets_[6]) ^
              folded(chains[1] ^ secrets_[7], chains[3] ^ secrets_[0])};
}

bool Repeats::look(State& state) {
  struct Gathered {
    std::vector<Piece>* pieces;
    uint64_t bytes;
  } gathered{&state.pieces, 0};
  state.pieces.clear();
  for_each_allocation(
      [](const Allocation& allocation, void* context) {
        if (allocation.kind == MemoryKind::kStaging) return;
        auto& into = *static_cast<Gathered*>(context);
        into.bytes += allocation.bytes;
        if (allocation.kind == MemoryKind::kRegistered && !is_mapped(allocation)) into.bytes = kMostBytes + 1;
        if (into.bytes > kMostBytes) return;
        for (uint64_t done = 0; done < allocation.bytes; done += kPieceBytes)
          into.pieces->push_back({allocation.base + done, std::min(kPieceBytes, allocation.bytes - done)});
      },
      &gathered);
  const double expected_ns = ns_per_byte_ * static_cast<double>(gathered.bytes);
  const double worth = current_->kept ? kWorth : current_->seen < kMany ? kWorthEarly : kWorthLate;
  if (gathered.bytes > kMostBytes || current_->host_ns < worth * expected_ns) return false;
  const double begun = host_now_ns();
  state.digests.clear();
  for (const Piece& piece : state.pieces)
    state.digests.push_back(digest(reinterpret_cast<const void*>(piece.base), piece.bytes));
  const Digest content = digest(state.digests.data(), state.digests.size() * sizeof(Digest));
  const Digest layout = digest(state.pieces.data(), state.pieces.size() * sizeof(Piece));
  state.whole = {folded(content.low ^ secrets_[0], layout.low ^ secrets_[1]) ^ content.high,
                 folded(content.high ^ secrets_[2], layout.high ^ secrets_[3]) ^ content.low};
  if (gathered.bytes > (1 << 20)) ns_per_byte_ = (host_now_ns() - begun) / static_cast<double>(gathered.bytes);
  return true;
}

bool Repeats::nothing_since(const Known& known) const {
  if (&known != settled_ || calls_with_effect() != settled_at_ + 1 || exported_) return false;
  bool written_by_host = false;
  for_each_allocation(
      [](const Allocation& allocation, void* context) {
        *static_cast<bool*>(context) |= allocation.kind == MemoryKind::kManaged ||
                                        allocation.kind == MemoryKind::kPinned ||
                                        allocation.kind == MemoryKind::kRegistered;
      },
      &written_by_host);
  return !written_by_host;
}

bool Repeats::replay(const LaunchRequest& request) {
  current_ = nullptr;
  keeping_ = outside_effect = false;
  if (asides_ || !request.kernel->has_parameters || !pointers_known(request)) {
    settled_ = nullptr;
    return false;
  }
  if (known_.size() >= kMostKnown) {
    settled_ = nullptr;
    known_.clear();
    kept_bytes_ = 0;
  }
  Known& known = known_[key_of(request)];
  current_ = &known;
  ++known.seen;
  if (nothing_since(known)) {
    settled_at_ = calls_with_effect();
    return true;
  }
  settled_ = nullptr;
  if (known.seen < known.next_try) return false;
  known.next_try = 2 * known.seen;  // where memory keeps changing, looking at it is soon a rare thing
  if (!look(before_)) return false;
  keeping_ = !known.kept;
  if (keeping_) return false;
  if (!(known.before == before_.whole)) {
    forget(known);
    return false;
  }
  for (const Change& change : known.changes)
    std::memcpy(reinterpret_cast<void*>(change.base), change.content.data(), change.content.size());
  known.next_try = known.seen + 1;
  if (known.changes.empty()) settled_ = &known;
  settled_at_ = calls_with_effect();
  return true;
}

void Repeats::ran(bool ok, double host_ns) {
  if (!current_) return;
  Known& known = *current_;
  known.host_ns = host_ns;
  if (!ok || outside_effect) {
    known.next_try = UINT64_MAX;
  } else if (keeping_ && keep(known, before_)) {
    known.next_try = known.seen + 1;
  }
}

bool Repeats::keep(Known& known, const State& before) {
  State after;
  if (!look(after) || after.pieces.size() != before.pieces.size()) return false;
  uint64_t bytes = 0;
  for (size_t i = 0; i < after.pieces.size(); ++i)
    if (!(after.digests[i] == before.digests[i])) bytes += after.pieces[i].bytes;
  if (kept_bytes_ + bytes > kMostKeptBytes) return false;
  for (size_t i = 0; i < after.pieces.size(); ++i) {
    if (after.digests[i] == before.digests[i]) continue;
    const auto* from = reinterpret_cast<const char*>(after.pieces[i].base);
    known.changes.push_back({after.pieces[i].base, std::vector<char>(from, from + after.pieces[i].bytes)});
  }
  kept_bytes_ += bytes;
  known.before = before.whole;
  known.kept = true;
  return true;
}

void Repeats::forget(Known& known) {
  for (const Change& change : known.changes) kept_bytes_ -= change.content.size();
  known.changes.clear();
  known.kept = false;
}

}  // namespace simt
