#include "other_numbers.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "alterations.h"
#include "device_file.h"
#include "launch_alterations.h"
#include "own_grids.h"
#include "settings.h"
#include "shadow.h"
#include "together.h"

namespace simt {
namespace {

constexpr uint64_t kMostBytes = 256ull << 20;  // to copy, twice per launch
constexpr int kBeyondFloats = 200;             // a power of two; its fourth power is a double still
constexpr uint64_t kWideEach = 3;              // the first launch and the fourth: what prepares, and what is repeated

// A front that grows and shrinks again, over a graph or a table, is widest about there.
bool is_middle(uint64_t nth) { return settings().last_launch != UINT64_MAX && nth == settings().last_launch / 2; }

void alter_all(const LaunchRequest& request, uint64_t nth, OtherNumbersMode mode) {
  for (const auto& [allocation, numbers] : altered_with(request)) {
    if (numbers.mixed) continue;
    change_numbers(*allocation, numbers,
                   [&](char* at, uint64_t bytes, const BufferNumbers& of) { alter(at, bytes, of, nth, mode); });
  }
}

template <class Value>
void continue_list(char* at, uint64_t asked, uint64_t bytes, uint64_t reaches) {
  std::vector<Value> numbers(bytes / sizeof(Value));
  std::memcpy(numbers.data(), at, numbers.size() * sizeof(Value));
  const size_t count = asked / sizeof(Value);
  if (count < 3 || numbers[0] >= numbers[count - 1] ||
      !std::is_sorted(numbers.begin(), numbers.begin() + int64_t(count)))
    return;
  const auto first = int64_t(numbers[0]), last = int64_t(numbers[count - 1]);
  const int64_t most = std::max(last, std::min(int64_t(std::numeric_limits<Value>::max()), int64_t(reaches)));
  for (size_t i = count; i < numbers.size(); ++i)
    numbers[i] = Value(std::min(most, int64_t(numbers[i % count]) + int64_t(i / count) * (last - first)));
  std::memcpy(at, numbers.data(), numbers.size() * sizeof(Value));
}

// Integers that rise throughout may say where rows begin: in the room behind them they do not begin anew, for no row
// has less than nothing, and rise on for as long as there is something in the other buffers.
void continue_lists(const LaunchRequest& request) {
  const auto buffers = in_order(request);
  for (const auto& [allocation, numbers] : buffers) {
    const auto [kind, each] = numbers.of.number;
    const uint64_t asked = allocation->bytes - allocation->room;
    if (numbers.mixed || !numbers.of.constant || kind != NumberKind::kInteger || each < 2 || asked < each) continue;
    auto* at = reinterpret_cast<char*>(allocation->base);  // NOLINT(performance-no-int-to-ptr)
    uint64_t last = 0, reaches = UINT64_MAX;
    std::memcpy(&last, at + asked / each * each - each, each);
    for (const auto& [other, theirs] : buffers) {
      const uint64_t size = theirs.members ? theirs.members->stride : theirs.of.number.bytes;
      if (other == allocation || size == 0 || (other->bytes - other->room) / size < last) continue;
      reaches = std::min(reaches, other->bytes / size);
    }
    if (reaches == UINT64_MAX) reaches = last;
    if (each == 2) continue_list<int16_t>(at, asked, allocation->bytes, reaches);
    if (each == 4) continue_list<int32_t>(at, asked, allocation->bytes, reaches);
    if (each == 8) continue_list<int64_t>(at, asked, allocation->bytes, reaches);
  }
}

void add_bytes(const Allocation& a, void* into) {
  if (movable(a) && a.kind != MemoryKind::kSymbol) *static_cast<uint64_t*>(into) += a.bytes;
}

void collect(const Allocation& a, void* into) {
  if (movable(a)) static_cast<std::vector<const Allocation*>*>(into)->push_back(&a);
}

}  // namespace

uint32_t OtherNumbers::variants(const LaunchRequest& request, uint64_t nth, OtherNumbersMode mode) {
  if (mode == OtherNumbersMode::kNone || alters_copies(mode)) return 0;
  if (!worth_repeating(nth) && nth != settings().last_launch && !is_middle(nth)) return 0;
  uint64_t bytes = 0;
  for_each_allocation(add_bytes, &bytes);
  if (bytes > kMostBytes) return 0;
  if (mode == OtherNumbersMode::kSome) return of_data(request, nth).total();
  if (mode == OtherNumbersMode::kLarge) return has_doubles(request) ? 3 : 1;
  if (mode < OtherNumbersMode::kWide && mode != OtherNumbersMode::kArguments) return 1;
  if (!request.kernel->has_parameters || request.cooperative) return 0;
  if (mode == OtherNumbersMode::kWide)
    return (nth % kWideEach == 0 && nth <= kWideEach) || is_middle(nth) ? uint32_t(wide_of(request).size()) : 0;
  if (mode == OtherNumbersMode::kNamed) return VariantWindow(0, uint32_t(named_of_code(request).size()), nth).total();
  if (mode == OtherNumbersMode::kTogether) return VariantWindow(0, uint32_t(together(request).size()), nth).total();
  if (mode == OtherNumbersMode::kConstants) return uint32_t(compiled_otherwise(request).size());
  const auto plain = uint32_t(other_arguments(request).size() + inner_pointers(request).size());
  return VariantWindow(plain, plain + uint32_t(sizes_of(request).size()), nth).total();
}

OtherNumbers::OtherNumbers(const LaunchRequest& request, uint64_t nth, OtherNumbersMode mode, uint32_t variant)
    : altered_(request) {
  altered_.most_seconds = settings().most_seconds;
  altered_.altered = true;
  std::vector<const Allocation*> live;
  for_each_allocation(collect, &live);
  for (const Allocation* a : live) {
    const auto* from = reinterpret_cast<const char*>(a->base);  // NOLINT(performance-no-int-to-ptr)
    saved_.push_back({a->base, std::vector<char>(from, from + a->bytes)});
    shadow_filled(from, a->bytes);  // it begins with numbers, and with no formulas of earlier launches
  }
  // What earlier launches left behind a list's end depends on the order: which elements these are, not only where.
  for (const Allocation* a : lists_to_fill(request)) {
    auto* at = reinterpret_cast<char*>(a->base);  // NOLINT(performance-no-int-to-ptr)
    std::memset(at, 0, a->bytes);
    shadow_uploaded(at, a->bytes);
  }
  const bool wide = mode == OtherNumbersMode::kWide, with_data = mode == OtherNumbersMode::kTogether;
  const bool named = mode == OtherNumbersMode::kNamed, compiled = mode == OtherNumbersMode::kConstants;
  if (mode != OtherNumbersMode::kArguments && !wide && !with_data && !named && !compiled) {
    if (mode == OtherNumbersMode::kLarge && variant > 0)
      alter_doubles(request, variant == 1 ? kBeyondFloats : -kBeyondFloats);
    else
      alter_data(request, nth, mode, mode == OtherNumbersMode::kSome ? of_data(request, nth)[variant] : 0);
    return;
  }
  if (!with_data)
    for (const Allocation* a : live) fill_room(*a, wide, is_kept(*a));
  if (!with_data) continue_lists(request);
  arguments_.assign(request.arguments, request.arguments + request.kernel->parameters.size());
  altered_.arguments = arguments_.data();
  if (compiled) {
    const OtherConstants& other = *compiled_otherwise(request)[variant];
    altered_.kernel = other.kernel, altered_.dynamic_lds = other.lds_bytes;
    altered_.watched = may_be_watched(request);
    told_ = other.how.c_str();
    return;
  }
  if (named) {
    const std::vector<NamedLaunch> every = named_of_code(request);
    alter_as_named(request, every[VariantWindow(0, uint32_t(every.size()), nth)[variant]]);
    return;
  }
  if (wide || with_data) {
    wide ? alter_wide(request, variant) : alter_together(request, nth, variant);
    return;
  }
  const std::vector<OtherArgument> plain = other_arguments(request);
  const std::vector<size_t> pointers = inner_pointers(request);
  const std::vector<OtherSize> sizes = sizes_of(request);
  const size_t fixed = plain.size() + pointers.size();
  const uint32_t which = VariantWindow(uint32_t(fixed), uint32_t(fixed + sizes.size()), nth)[variant];
  if (which >= fixed) {
    const OtherSize& size = sizes[which - fixed];
    if (size.alike) alter_kinds(request, nth, DataKind::kAlike, nullptr, bounds_of(request));
    alter_size(request, size);
    if (size.alike) told_ = "a larger size, and numbers that are nearly equal";
    if (size.larger && !size.keyed && !size.alike) vary_rooms(request, 0);
    if (size.rows) gather_rows(request, nth);
    if (size.list >= 0) double_list(request, size_t(size.list));
    return;
  }
  if (which >= plain.size()) {
    move_pointer(request, pointers[which - plain.size()]);
    return;
  }
  const OtherArgument& other = plain[which];
  for (const OtherArgument::Value& one : other.values) {
    copies_.emplace_back(reinterpret_cast<const char*>(&one.bytes),
                         reinterpret_cast<const char*>(&one.bytes) + sizeof one.bytes);
    arguments_[one.index] = copies_.back().data();
  }
  altered_.grid = {other.grid[0], other.grid[1], other.grid[2]};
  choose_grid(request, true);
}

int OtherNumbers::changed() const {
  const auto differs = [](const Saved& one) {
    const auto* now = reinterpret_cast<const char*>(one.base);  // NOLINT(performance-no-int-to-ptr)
    return std::memcmp(now, one.content.data(), one.content.size()) != 0;
  };
  return int(std::count_if(saved_.begin(), saved_.end(), differs)) + !arguments_.empty();
}

void OtherNumbers::move_pointer(const LaunchRequest& request, size_t index) {
  for (const Parameter& parameter : request.kernel->parameters) {
    if (parameter.index != index) continue;
    uintptr_t address = 0;
    std::memcpy(&address, request.arguments[index], sizeof address);
    address += parameter.number.bytes;
    copies_.emplace_back(reinterpret_cast<const char*>(&address),
                         reinterpret_cast<const char*>(&address) + sizeof address);
    arguments_[index] = copies_.back().data();
  }
  altered_.watched = may_be_watched(request);
  told_ = "a pointer moved by one element";
}

void OtherNumbers::alter_data(const LaunchRequest& request, uint64_t nth, OtherNumbersMode mode, uint32_t which) {
  const std::vector<const Allocation*> lists = lists_of(request);
  const std::vector<DataKind>& kinds = data_kinds();
  if (which > kinds.size() + lists.size()) {
    const NamedData named = named_data(request)[which - 1 - kinds.size() - lists.size()];
    Bounds bounds;
    bounds.limit = named.limit, bounds.named = named.value;
    alter_kinds(request, nth, named.kind, nullptr, bounds);
    told_ = name_of(named.kind);
    return;
  }
  const bool one_list = which > kinds.size();
  const DataKind kind = which == 0 || one_list ? DataKind::kOutOfRange : kinds[which - 1];
  const Allocation* only = one_list ? lists[which - 1 - kinds.size()] : nullptr;
  if (which != 0 && !one_list && kind == DataKind::kCancelling) {
    alter_sums(request);
    return;
  }
  if (which != 0) {
    Bounds bounds = bounds_of(request);
    if (kind == DataKind::kOneRow) bounds.long_row = listed_row(request);
    alter_kinds(request, nth, kind, only, bounds);
    told_ = only ? "integers of one list out of their range" : name_of(kind);
    return;
  }
  alter_all(request, nth, mode);
}

void OtherNumbers::alter_doubles(const LaunchRequest& request, int power) {
  for (const auto& [allocation, numbers] : altered_with(request))
    if (!numbers.mixed)
      change_numbers(*allocation, numbers,
                     [&](char* at, uint64_t bytes, const BufferNumbers& of) { scale_doubles(at, bytes, of, power); });
  told_ = power > 0 ? "doubles beyond all floats" : "doubles below all floats";
}

void OtherNumbers::alter_kinds(const LaunchRequest& request, uint64_t nth, DataKind kind, const Allocation* only,
                               const Bounds& bounds) {
  for (const auto& [allocation, numbers] : altered_with(request, kind == DataKind::kCrowded)) {
    if (numbers.mixed || (only && allocation != only)) continue;
    bounds.in_any_order = is_kept(*allocation);
    // A variable that kernels update is what they remember, a count of finished blocks perhaps, and no data.
    // Of nearly equal data, how much there is, and where it begins, stays.
    const bool of_data = kind == DataKind::kWritten || kind == DataKind::kAlike;
    if (of_data && allocation->kind == MemoryKind::kSymbol) continue;
    change_numbers(*allocation, numbers, [&](char* at, uint64_t bytes, const BufferNumbers& of) {
      alter_kind(at, bytes, of, nth, kind, bounds);
    });
  }
  altered_.watched |= needs_watching(kind) && may_be_watched(request);
}

void OtherNumbers::alter_together(const LaunchRequest& request, uint64_t nth, uint32_t variant) {
  const std::vector<Together> every = together(request);
  const Together chosen = every[VariantWindow(0, uint32_t(every.size()), nth)[variant]];
  if (chosen.large)
    alter_all(request, nth, OtherNumbersMode::kLarge);
  else
    alter_kinds(request, nth, chosen.kind, nullptr, bounds_of(request));
  const bool watched = altered_.watched;
  alter_size(request, chosen.size);  // last: the other value may be that of a device variable
  altered_.watched |= watched;
  told_ = chosen.large ? "another argument, and numbers 128 times as large" : "another argument, and other data";
}

// The longest buffer alone, for what its numbers are multiplied by need not cancel.
void OtherNumbers::alter_sums(const LaunchRequest& request) {
  const std::pair<const Allocation* const, Numbers>* longest = nullptr;
  const auto listed = altered_with(request);
  for (const auto& one : listed) {
    const Numbers& numbers = one.second;
    if (numbers.mixed || !numbers.of.constant || numbers.of.number.kind != NumberKind::kFloat) continue;
    if (!longest || one.first->bytes > longest->first->bytes) longest = &one;
  }
  told_ = name_of(DataKind::kCancelling);
  if (!longest) return;
  const auto [allocation, numbers] = *longest;
  uint64_t row = 0;
  const uint64_t asked = (allocation->bytes - allocation->room) / std::max(1u, numbers.of.number.bytes);
  for (const Quantity& slot : settings().slots) {
    const uint64_t value = size_in(slot, request);
    if (value > 4 && value < asked && asked % value == 0 && row == 0) row = value;
  }
  auto* at = reinterpret_cast<char*>(allocation->base);  // NOLINT(performance-no-int-to-ptr)
  if (alter_cancelling(at, allocation->bytes, numbers.of.number, row)) shadow_uploaded(at, allocation->bytes);
}

void OtherNumbers::alter_size(const LaunchRequest& request, const OtherSize& other) {
  const std::vector<Quantity>& slots = settings().slots;
  for (const OtherSize::Value& one : other.values) {
    const Quantity& slot = slots[one.slot];
    if (slot.parameter < 0) {
      auto* at = const_cast<void*>(slot_address(slot, request));  // a variable of the module: put back with the others
      std::memcpy(at, &one.bytes, slot.number.bytes);
      shadow_uploaded(at, slot.number.bytes);
      continue;
    }
    for (const Parameter& parameter : request.kernel->parameters) {
      if (parameter.index != uint64_t(slot.parameter)) continue;
      const auto* now = static_cast<const char*>(arguments_[parameter.index]);
      copies_.emplace_back(now, now + parameter.size);
      std::memcpy(copies_.back().data() + slot.offset, &one.bytes, slot.number.bytes);
      arguments_[parameter.index] = copies_.back().data();
    }
  }
  altered_.grid = other.grid;
  const auto is_argument = [&](const OtherSize::Value& one) { return slots[one.slot].parameter >= 0; };
  if (!other.values.empty()) choose_grid(request, std::all_of(other.values.begin(), other.values.end(), is_argument));
  if (other.alone) altered_.grid = other.grid;
  if (other.list >= 0) enlarge_lds(request, other);
  altered_.watched = other.larger;
  if (other.larger) told_ = "a larger size";
  if (!as_taken(request)) altered_.kernel = request.kernel->general, altered_.dynamic_lds = request.kernel->general_lds;
  if (other.keyed) alter_keys(request, other);
  if (other.edges || other.halves) alter_floats(request, other);
  if (!other.bare) return;
  told_ = "another size, and NaN at its end";
  for (const auto& [allocation, numbers] : altered_with(request)) {
    auto* at = reinterpret_cast<char*>(allocation->base);  // NOLINT(performance-no-int-to-ptr)
    if (numbers.mixed || allocation->kind == MemoryKind::kSymbol) continue;
    bare_end(at, allocation->bytes - allocation->room, allocation->room, numbers.of.number);
    shadow_uploaded(at, allocation->bytes);
  }
}

// As the host would for these arguments, where it is known how it does.
void OtherNumbers::choose_grid(const LaunchRequest& request, bool only_arguments) {
  Dim3 grid = altered_.grid;
  uint32_t lds = request.dynamic_lds;
  if (own_grid(request, arguments_.data(), only_arguments, grid, lds)) altered_.grid = grid, altered_.dynamic_lds = lds;
}

// Where it is not known what the host would ask for, there is as much more of it as of what is raised.
void OtherNumbers::enlarge_lds(const LaunchRequest& request, const OtherSize& other) {
  if (altered_.dynamic_lds != request.dynamic_lds || request.dynamic_lds == 0 || !request.kernel->tiles.empty()) return;
  double times = 1;
  for (const OtherSize::Value& one : other.values)
    if (const uint64_t own = size_in(settings().slots[one.slot], request))
      times = std::max(times, double(one.bytes) / double(own));
  const Device& d = device();
  const uint64_t all = std::max(d.lds_bytes_per_block, d.lds_bytes_per_block_optin);
  const uint64_t most = all - std::min<uint64_t>(all, request.kernel->static_lds);
  const auto wanted = uint64_t(std::ceil(double(request.dynamic_lds) * times));
  altered_.dynamic_lds = std::max(request.dynamic_lds, uint32_t(std::min(most, wanted)));
}

// Whether all numbers are such multiples as the kernel was compiled for.
bool OtherNumbers::as_taken(const LaunchRequest& request) const {
  if (!request.kernel->general) return true;
  for (const Parameter& parameter : request.kernel->parameters) {
    if (parameter.multiple <= 1 || parameter.size > sizeof(uint64_t)) continue;
    uint64_t value = 0;
    std::memcpy(&value, arguments_[parameter.index], parameter.size);
    if (value % parameter.multiple) return false;
  }
  return true;
}

// What a size has to do with integers in memory: those beyond it may be left out.
void OtherNumbers::alter_keys(const LaunchRequest& request, const OtherSize& other) {
  const Quantity& slot = settings().slots[other.values.front().slot];
  int64_t size = 0;
  std::memcpy(&size, slot_address(slot, request), slot.number.bytes);
  for (const auto& [allocation, numbers] : altered_with(request)) {
    if (numbers.mixed || !numbers.of.constant || allocation->kind == MemoryKind::kSymbol) continue;
    auto* at = reinterpret_cast<char*>(allocation->base);  // NOLINT(performance-no-int-to-ptr)
    alter_about(at, allocation->bytes, numbers.of, {size, int64_t(other.values.front().bytes)});
    shadow_uploaded(at, allocation->bytes);
  }
  told_ = "a larger size, and integers about it";
}

void OtherNumbers::alter_as_named(const LaunchRequest& request, const NamedLaunch& launch) {
  if (!launch.data.empty()) {
    const auto listed = altered_with(request);
    const bool reads = std::any_of(listed.begin(), listed.end(), [](const auto& one) {
      return one.second.of.constant && one.first->kind != MemoryKind::kSymbol;
    });
    for (const auto& [allocation, numbers] : listed) {
      if (numbers.mixed || (!numbers.of.constant && (reads || allocation->kind == MemoryKind::kSymbol))) continue;
      change_numbers(*allocation, numbers, [&](char* at, uint64_t bytes, const BufferNumbers& of) {
        alter_named(at, bytes, of.number, launch);
      });
    }
  }
  alter_size(request, launch.size);
  altered_.watched = may_be_watched(request);
  told_ = "numbers that only its code names";
}

void OtherNumbers::alter_floats(const LaunchRequest& request, const OtherSize& other) {
  const auto listed = in_order(request);
  uint64_t longest = 0;
  for (const auto& [allocation, numbers] : listed)
    if (numbers.of.constant && numbers.of.number.kind == NumberKind::kFloat)
      longest = std::max(longest, allocation->bytes);
  for (const auto& [allocation, numbers] : listed) {
    if (numbers.mixed) continue;
    auto* at = reinterpret_cast<char*>(allocation->base);  // NOLINT(performance-no-int-to-ptr)
    const bool altered =
        other.edges ? alter_edges(at, allocation->bytes, numbers.of, other.values.front().bytes)
                    : alter_halves(at, allocation->bytes, numbers.of, other.ones && allocation->bytes < longest);
    if (altered) shadow_uploaded(at, allocation->bytes);
  }
  told_ = other.edges ? "another size, and NaN where rows begin" : "numbers half-way between integers";
}

void OtherNumbers::vary_rooms(const LaunchRequest& request, uint32_t bits) {
  for (const auto& [allocation, numbers] : in_order(request)) {
    if (numbers.mixed || !numbers.of.constant) continue;
    const uint64_t all = allocation->bytes, asked = all - allocation->room;
    change_numbers(*allocation, numbers, [&](char* at, uint64_t bytes, const BufferNumbers& of) {
      const uint32_t each = std::max(1u, of.number.bytes);
      vary_room(at, uint64_t(double(bytes) * double(asked) / double(all)) / each * each, bytes, of.number, bits);
    });
  }
}

void OtherNumbers::alter_wide(const LaunchRequest& request, uint32_t variant) {
  const WideLaunch wide = wide_of(request)[variant];
  alter_size(request, wide.size);
  altered_.watched = wide.size.larger || may_be_watched(request);
  size_t number = 0;
  const bool short_rows = wide.data == WideLaunch::Data::kBeyond && !wide.size.values.empty();
  if (wide.size.larger || short_rows || wide.data == WideLaunch::Data::kLong) vary_rooms(request, wide.bits);
  for (const WidePart& part : wide_parts(request)) {
    const auto& [allocation, numbers, member] = part;
    const uint32_t each = numbers.of.number.bytes;
    const bool of_one = wide.data == WideLaunch::Data::kBeyond || wide.data == WideLaunch::Data::kFolded;
    const bool beyond = of_one && wide.buffer == number, kept = is_kept(*allocation);
    const bool carries = wide.data == WideLaunch::Data::kCarry && each * 8 > wide.bits;
    const bool raised = (wide.data == WideLaunch::Data::kRaised || carries) && !numbers.of.constant;
    const bool equal = wide.data == WideLaunch::Data::kEqual && numbers.of.constant && each > 2;
    const bool extreme = wide.data == WideLaunch::Data::kLowest || wide.data == WideLaunch::Data::kGreatest;
    const bool full = numbers.of.constant && (wide.data == WideLaunch::Data::kFull ? each <= 2 || each * 8 == wide.bits
                                                                                   : extreme && each <= 2);
    const bool longer = wide.data == WideLaunch::Data::kLong && is_rising(*allocation, numbers);
    ++number;
    if (!part.integers() || !(beyond || (!kept && (raised || equal || full || longer)))) continue;
    auto* at = reinterpret_cast<char*>(allocation->base);  // NOLINT(performance-no-int-to-ptr)
    if (member)
      change_column(at, allocation->bytes, numbers.members->stride, *member,
                    [&](char* first, uint64_t bytes) { widen(first, bytes, each, wide.data, wide.bits, kept); });
    else if (longer)
      lengthen(at, allocation->bytes - allocation->room, each, wide.bits);
    else
      widen(at, allocation->bytes, each, wide.data, wide.bits, kept);
    shadow_uploaded(at, allocation->bytes);
  }
  told_ = name_of(wide);
}

void OtherNumbers::gather_rows(const LaunchRequest& request, uint64_t nth) {
  for (const auto& [allocation, numbers] : in_order(request)) {
    if (!is_rising(*allocation, numbers)) continue;
    auto* at = reinterpret_cast<char*>(allocation->base);  // NOLINT(performance-no-int-to-ptr)
    const uint64_t asked = allocation->bytes - allocation->room;
    Bounds bounds;
    bounds.long_row = int64_t(asked / numbers.of.number.bytes / 2);  // the same one of lists that are equally long
    alter_kind(at, asked, numbers.of, nth, DataKind::kOneRow, bounds);
  }
  told_ = "a larger size, and one part of a list with all of it";
}

void OtherNumbers::double_list(const LaunchRequest& request, size_t number) {
  const auto buffers = in_order(request);
  const auto& [allocation, numbers] = buffers[number];
  auto* at = reinterpret_cast<char*>(allocation->base);  // NOLINT(performance-no-int-to-ptr)
  double_integers(at, allocation->bytes, numbers.of.number.bytes);
  shadow_uploaded(at, allocation->bytes);
  told_ = "a larger size, and one list of integers twice as large";
}

void OtherNumbers::alter_copy(void* at, uint64_t bytes) {
  static uint64_t copies = 0;
  auto* const first = static_cast<char*>(at);
  if (settings().other_numbers == OtherNumbersMode::kCopiesAlike) return alter_copied_alike(first, bytes);
  const bool above = settings().other_numbers == OtherNumbersMode::kCopiesAbove;
  (above ? alter_copied_above : alter_copied)(first, bytes, ++copies);
}

OtherNumbers::~OtherNumbers() {
  for (const Saved& saved : saved_) {
    auto* to = reinterpret_cast<char*>(saved.base);  // NOLINT(performance-no-int-to-ptr)
    // Constants of a module may lie in pages that cannot be written.
    if (std::memcmp(to, saved.content.data(), saved.content.size()) != 0)
      std::memcpy(to, saved.content.data(), saved.content.size());
  }
}

}  // namespace simt
