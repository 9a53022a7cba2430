#include "settings.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <sstream>

namespace simt {
namespace {

constexpr uint64_t kMostRoomTimes = 64;

using Plan = std::map<std::string, std::string>;  // by the variable that says it of the kernel that is judged

const Plan* plan_read = nullptr;  // what stands in it comes before the environment

const char* variable(const char* name) {
  if (plan_read)
    if (const auto found = plan_read->find(name); found != plan_read->end()) return found->second.c_str();
  return getenv(name);
}

uint64_t unsigned_variable(const char* name, uint64_t otherwise) {
  const char* text = variable(name);
  if (!text || !*text) return otherwise;
  char* end = nullptr;
  const uint64_t value = strtoull(text, &end, 0);
  return *end ? otherwise : value;
}

std::string text_variable(const char* name) {
  const char* text = variable(name);
  return text ? text : "";
}

Order order_variable(const char* name) {
  const std::string text = text_variable(name);
  Order order;
  if (text == "reverse") order.kind = Order::Kind::kReverse;
  if (text.compare(0, 7, "random:") == 0) {
    order.kind = Order::Kind::kRandom;
    order.seed = strtoull(text.c_str() + 7, nullptr, 0);
  }
  return order;
}

// "gx,gy,gz,bx,by,bz", with semicolons between.
std::vector<LaunchShape> shapes_variable(const char* name) {
  std::vector<LaunchShape> shapes;
  const std::string text = text_variable(name);
  for (size_t from = 0; from < text.size(); from = std::min(text.find(';', from), text.size()) + 1) {
    LaunchShape shape{};
    const int read = sscanf(text.c_str() + from, "%u,%u,%u,%u,%u,%u", &shape.grid[0], &shape.grid[1], &shape.grid[2],
                            &shape.block[0], &shape.block[1], &shape.block[2]);
    if (read == 6) shapes.push_back(shape);
  }
  return shapes;
}

std::vector<std::string> parts_variable(const char* name) {
  std::vector<std::string> parts;
  const std::string text = text_variable(name);
  for (size_t from = 0; from < text.size();) {
    const size_t to = std::min(text.find(';', from), text.size());
    parts.push_back(text.substr(from, to - from));
    from = to + 1;
  }
  return parts;
}

std::vector<uint64_t> numbers_variable(const char* name) {
  std::vector<uint64_t> numbers;
  const std::string text = text_variable(name);
  for (size_t from = 0; from < text.size(); from = std::min(text.find(',', from), text.size()) + 1)
    numbers.push_back(strtoull(text.c_str() + from, nullptr, 10));
  return numbers;
}

std::vector<double> reals_variable(const char* name) {
  std::vector<double> numbers;
  const std::string text = text_variable(name);
  for (size_t from = 0; from < text.size(); from = std::min(text.find(',', from), text.size()) + 1)
    numbers.push_back(strtod(text.c_str() + from, nullptr));
  return numbers;
}

// So many times as large may memory have to be for sizes beyond what only one version's code compares with.
uint64_t room_times(const Settings& s) {
  int64_t largest = 0;
  for (const int64_t one : s.constants)
    if (one <= kMostOfAModule) largest = std::max(largest, one);
  const uint64_t wanted = uint64_t(largest / kLeastSize), worth = s.accesses ? kMostAltered / s.accesses : 1;
  return std::max<uint64_t>(1, std::min({wanted, worth, kMostRoomTimes}));
}

Settings read_environment() {
  Settings s;
  s.trace_directory = text_variable("INTELLIPERF_TRACE_DIR");
  s.trace_events = unsigned_variable("INTELLIPERF_TRACE_EVENTS", s.trace_events);
  s.trace_launches = uint32_t(unsigned_variable("INTELLIPERF_TRACE_LAUNCHES", s.trace_launches));
  s.trace_kernel = text_variable("INTELLIPERF_TRACE_KERNEL");
  s.lockstep_always = text_variable("INTELLIPERF_LOCKSTEP") == "always";
  for (const uint64_t mode : numbers_variable("INTELLIPERF_OTHER_NUMBERS"))
    if (mode != 0 && mode <= uint64_t(OtherNumbersMode::kConstants)) s.ways.push_back(OtherNumbersMode(mode));
  if (!s.ways.empty()) s.other_numbers = s.ways.front();
  s.shapes = shapes_variable("INTELLIPERF_OTHER_SHAPES");
  s.held = read_held(text_variable("INTELLIPERF_OTHER_HELD"));
  s.slots = read_slots(text_variable("INTELLIPERF_OTHER_SLOTS"));
  for (const uint64_t one : numbers_variable("INTELLIPERF_OTHER_CONSTANTS")) s.constants.push_back(int64_t(one));
  s.other_constants = parts_variable("INTELLIPERF_OTHER_COMPILED");
  s.limits = reals_variable("INTELLIPERF_OTHER_LIMITS");
  s.named = read_named(getenv("INTELLIPERF_OTHER_NAMED"));
  for (const int64_t one : s.constants) s.far_constants |= one > kMostOfAModule && one <= kFarthest;
  for (const uint64_t one : numbers_variable("INTELLIPERF_OTHER_WIDTHS")) s.widths.push_back(uint32_t(one));
  s.most_seconds = double(unsigned_variable("INTELLIPERF_OTHER_SECONDS", 0));
  s.apart = unsigned_variable("INTELLIPERF_APART", 0) != 0;
  s.awaits_numbers = unsigned_variable("INTELLIPERF_OTHER_ALIKE", 0) != 0;
  s.cancelling = unsigned_variable("INTELLIPERF_OTHER_CANCELLING", 0) != 0;
  s.races = unsigned_variable("INTELLIPERF_OTHER_RACES", 0) != 0;
  s.last_launch = unsigned_variable("INTELLIPERF_OTHER_LAST", UINT64_MAX);
  s.only_read = numbers_variable("INTELLIPERF_OTHER_READ");
  s.only_written = numbers_variable("INTELLIPERF_OTHER_WRITTEN");
  s.accesses = unsigned_variable("INTELLIPERF_OTHER_ACCESSES", 0);
  s.room_times = room_times(s);
  s.window = uint32_t(unsigned_variable("INTELLIPERF_OTHER_WINDOW", s.window));
  s.reads_grid = unsigned_variable("INTELLIPERF_OTHER_GRID", 0) != 0;
  s.may_watch = unsigned_variable("INTELLIPERF_OTHER_WATCH", 0) == 1;
  s.may_watch_few = unsigned_variable("INTELLIPERF_OTHER_WATCH", 0) == 2;
  const std::string numbers = text_variable("INTELLIPERF_OTHER_TYPES");
  s.without_floats = numbers == "i";
  s.without_integers = numbers == "f";
  s.kept = numbers_variable("INTELLIPERF_OTHER_KEPT");
  s.lanes = order_variable("INTELLIPERF_LANE_ORDER");
  s.blocks = order_variable("INTELLIPERF_BLOCK_ORDER");
  s.preemption = order_variable("INTELLIPERF_PREEMPT");
  s.resident = unsigned_variable("INTELLIPERF_RESIDENT", 0);
  const double scale = strtod(text_variable("INTELLIPERF_CLOCK_SCALE").c_str(), nullptr);
  if (scale > 0 && scale < 1e6) s.clock_scale = scale;
  const std::string rounding = text_variable("INTELLIPERF_ROUNDING");
  if (rounding == "up") s.rounding = Rounding::kUp;
  if (rounding == "down") s.rounding = Rounding::kDown;
  s.poison = uint8_t(unsigned_variable("INTELLIPERF_POISON", s.poison));
  s.empties_l2 = unsigned_variable("INTELLIPERF_EMPTY_L2", 0) != 0;
  s.spoils_lds = !text_variable("INTELLIPERF_LDS_POISON").empty();
  s.lds_poison = uint8_t(unsigned_variable("INTELLIPERF_LDS_POISON", s.poison));
  s.nan_rank = uint8_t(unsigned_variable("INTELLIPERF_NAN_RANK", 0));
  s.progress_directory = text_variable("INTELLIPERF_PROGRESS");
  if (text_variable("INTELLIPERF_REPLAY").empty()) s.stop_after = unsigned_variable("INTELLIPERF_STOP_AFTER", 0);
  s.stop_status = int(unsigned_variable("INTELLIPERF_STOP_STATUS", 0));
  return s;
}

uint64_t mix(uint64_t x) {  // splitmix64's finaliser
  x += 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

}  // namespace

namespace {

const Settings* current = nullptr;

const Settings& of_the_judged() {
  static const Settings* instance = new Settings(read_environment());
  return *instance;
}

// "symbol|variable=text|…", a line for each kernel.
std::map<std::string, Settings> of_others() {
  std::map<std::string, Settings> found;
  std::istringstream lines(text_variable("INTELLIPERF_OTHER_PLANS"));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream parts(line);
    std::string symbol, part;
    std::getline(parts, symbol, '|');
    Plan plan;
    while (std::getline(parts, part, '|'))
      if (const size_t equals = part.find('='); equals != std::string::npos)
        plan["INTELLIPERF_OTHER_" + part.substr(0, equals)] = part.substr(equals + 1);
    plan_read = &plan;
    Settings& own = found.emplace(symbol, read_environment()).first->second;
    plan_read = nullptr;
    own.room_times = of_the_judged().room_times;  // memory is laid out once for all
  }
  return found;
}

}  // namespace

const Settings& settings() { return current ? *current : of_the_judged(); }

void choose_plan(const std::string& symbol) {
  static const auto* others = new std::map<std::string, Settings>(of_others());
  const auto found = others->find(symbol);
  current = found == others->end() ? nullptr : &found->second;
}

uint64_t draw(uint64_t& state) { return state = mix(state); }

void arrange(const Order& order, uint64_t salt, uint32_t* positions, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) positions[i] = order.kind == Order::Kind::kReverse ? count - 1 - i : i;
  if (order.kind != Order::Kind::kRandom) return;
  uint64_t state = mix(order.seed ^ mix(salt));
  for (uint32_t i = count; i > 1; --i) {
    state = mix(state);
    const uint32_t other = uint32_t(state % i);
    const uint32_t held = positions[i - 1];
    positions[i - 1] = positions[other];
    positions[other] = held;
  }
}

Permutation::Permutation(const Order& order, uint64_t count) : order_(order), count_(count) {
  half_bits_ = 1;
  while ((uint64_t(1) << (2 * half_bits_)) < count) ++half_bits_;
  mask_ = (uint64_t(1) << half_bits_) - 1;
}

uint64_t Permutation::operator[](uint64_t i) const {
  if (order_.kind == Order::Kind::kForward) return i;
  if (order_.kind == Order::Kind::kReverse) return count_ - 1 - i;
  // A four-round Feistel network over the next even power of two, walked until it falls inside.
  do {
    uint64_t left = i >> half_bits_, right = i & mask_;
    for (uint64_t round = 0; round < 4; ++round) {
      const uint64_t next = left ^ (mix(right ^ (order_.seed << 3) ^ round) & mask_);
      left = right;
      right = next;
    }
    i = (left << half_bits_) | right;
  } while (i >= count_);
  return i;
}

double shown_ns(double ns) {
  constexpr double kAsScaled = 1e6, kBend = 0.05;
  const double scale = settings().clock_scale;
  if (scale == 1 || !(ns > 0)) return ns * scale;
  return ns * scale * std::pow(ns / kAsScaled, scale > 1 ? -kBend : kBend);
}

}  // namespace simt
