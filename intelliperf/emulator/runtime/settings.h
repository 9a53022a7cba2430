// The environment of the runtime, read once at the first use.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "alterations.h"
#include "held_numbers.h"
#include "named_launches.h"
#include "other_sizes.h"

namespace simt {

struct Order {
  enum class Kind : uint8_t { kForward, kReverse, kRandom } kind = Kind::kForward;
  uint64_t seed = 0;
};

enum class Rounding : uint8_t { kNearest, kUp, kDown };

struct Settings {
  std::string trace_directory;      // empty: no records
  uint64_t trace_events = 1000000;  // lane accesses per launch
  uint32_t trace_launches = 3;      // per kernel and geometry
  std::string trace_kernel;         // empty: all
  bool lockstep_always = false;
  Order lanes, blocks;
  Order preemption;       // of blocks in lock-step, where it is by chance
  uint64_t resident = 0;  // most blocks that may be under way at once; 0: what the device has room for
  uint8_t poison = 0xA5;
  bool empties_l2 = false;  // before every launch
  bool spoils_lds = false;  // every block begins with LDS full of:
  uint8_t lds_poison = 0;
  uint8_t nan_rank = 0;                                      // see ir/rankings.py
  OtherNumbersMode other_numbers = OtherNumbersMode::kNone;  // how waited-for launches are altered first
  std::vector<OtherNumbersMode> ways;        // that one and others for which memory is laid out alike, each in its turn
  std::vector<Quantity> slots;               // plain numbers of the kernel, see other_sizes.h
  std::vector<HeldNumber> held;              // values that plain numbers may take, see held_numbers.h
  std::vector<int64_t> constants;            // values for them that only one of the two versions names
  std::vector<std::string> other_constants;  // of a compilation, how they are to differ
  std::vector<double> limits;                // what only one of the two versions compares floats with
  std::vector<NamedValue> named;             // what only the candidate compares arguments and data with
  bool far_constants = false;                // some of them are larger than most launches of small programs
  bool apart = false;                        // arguments that point into one allocation get one each
  double most_seconds = 0;                   // of an altered launch
  bool awaits_numbers = false;               // before a launch is altered, the parent may write to memory
  bool cancelling = false;                   // the original calculates rounding errors that the candidate does not
  bool races = false;                        // altered launches that race fail
  uint64_t last_launch = UINT64_MAX;         // of the kernel's, from 0: what is special there shows in no other one
  std::vector<uint32_t> widths;        // bits in which only the candidate's code keeps numbers, see wide_launches.h
  std::vector<uint64_t> only_read;     // parameters that the original stores nothing through, whatever their types say
  std::vector<uint64_t> only_written;  // or loads nothing
  uint64_t accesses = 0;               // by all lanes of a launch, about
  uint64_t room_times = 1;             // as much memory behind an allocation as it has itself
  uint32_t window = 12;                // alterations of a launch, beyond those that every launch has
  bool reads_grid = false;             // the kernel's code goes by the size of its grid
  bool without_floats = false;         // the original's buffers and device variables hold integers alone
  bool without_integers = false;       // or floats alone
  bool may_watch = false;              // whether altered launches are small enough to be run with every access checked
  bool may_watch_few = false;          // or a few of them
  std::vector<uint64_t> kept;       // numbers of allocations that keep their numbers in every mode, see alterations.h
  std::vector<LaunchShape> shapes;  // that the other arguments must all suit, see alterations.h
  double clock_scale = 1;           // of every time that the program can read, see shown_ns
  Rounding rounding = Rounding::kNearest;  // of the kernels' arithmetic
  std::string progress_directory;          // empty: nobody asks, see progress.h
  uint64_t stop_after = 0;                 // launches of the application's, then it is ended; 0: it ends by itself
  int stop_status = 0;                     // its exit status then
};

const Settings& settings();
// From now on they hold what is known of that kernel's launches, by which these are altered.
void choose_plan(const std::string& symbol);

// What a program is told that took `ns`. Under another clock long times grow by another factor than short ones, so that
// what it prints of the ratio of two times is another number, too; the longer of two stays the longer one.
double shown_ns(double ns);

// The next of a row of numbers by chance.
uint64_t draw(uint64_t& state);

// Fills `positions[0..count)` with the order in which `count` things run; the same for equal seeds.
void arrange(const Order& order, uint64_t salt, uint32_t* positions, uint32_t count);

// The same for a large range without storing it: position `i` of `count`.
class Permutation {
 public:
  Permutation(const Order& order, uint64_t count);
  uint64_t operator[](uint64_t i) const;

 private:
  Order order_;
  uint64_t count_, half_bits_, mask_;
};

}  // namespace simt
