// Random engines and distributions that also run on the device.
#pragma once
#pragma GCC system_header  // no warnings from here in a program's build
#include <thrust/detail/vectors.h>

namespace thrust {
namespace random {
template <class _UInt, _UInt multiplier, _UInt increment, _UInt modulus>
class linear_congruential_engine {
 public:
  using result_type = _UInt;
  static constexpr _UInt min = increment == 0 ? 1 : 0;
  static constexpr _UInt max = modulus - 1;
  static constexpr _UInt default_seed = 1;
  SIMT_HDT explicit linear_congruential_engine(_UInt start = default_seed) { seed(start); }
  SIMT_HDT void seed(_UInt start = default_seed) {
    state_ = start % modulus;
    if (increment % modulus == 0 && state_ == 0) state_ = 1;
  }
  SIMT_HDT _UInt operator()() {
    state_ = static_cast<_UInt>((static_cast<unsigned long long>(state_) * multiplier + increment) % modulus);
    return state_;
  }
  // By squaring the step x -> a x + c.
  SIMT_HDT void discard(unsigned long long n) {
    unsigned long long a = multiplier, c = increment, factor = 1, offset = 0;
    for (; n != 0; n >>= 1) {
      if (n & 1u) {
        factor = factor * a % modulus;
        offset = (offset * a + c) % modulus;
      }
      c = (a * c + c) % modulus;
      a = a * a % modulus;
    }
    state_ = static_cast<_UInt>((state_ * factor + offset) % modulus);
  }

 private:
  _UInt state_;
};
using minstd_rand0 = linear_congruential_engine<unsigned int, 16807, 0, 2147483647>;
using minstd_rand = linear_congruential_engine<unsigned int, 48271, 0, 2147483647>;
using default_random_engine = minstd_rand;

template <class _Real = double>
class uniform_real_distribution {
 public:
  using result_type = _Real;
  SIMT_HDT explicit uniform_real_distribution(_Real low = 0, _Real high = 1) : low_(low), high_(high) {}
  template <class _Engine>
  SIMT_HDT _Real operator()(_Engine& engine) const {
    const _Real unit = static_cast<_Real>(engine() - _Engine::min) /
                       (static_cast<_Real>(_Engine::max - _Engine::min) + _Real(1));
    return low_ + (high_ - low_) * unit;
  }

 private:
  _Real low_, high_;
};
template <class _Int = int>
class uniform_int_distribution {
 public:
  using result_type = _Int;
  SIMT_HDT explicit uniform_int_distribution(_Int low = 0, _Int high = 2147483647) : low_(low), high_(high) {}
  template <class _Engine>
  SIMT_HDT _Int operator()(_Engine& engine) const {
    uniform_real_distribution<double> unit(0.0, 1.0);
    return static_cast<_Int>(static_cast<double>(low_) + unit(engine) * (static_cast<double>(high_) - static_cast<double>(low_) + 1.0));
  }

 private:
  _Int low_, high_;
};
template <class _Real = double>
class normal_distribution {
 public:
  using result_type = _Real;
  SIMT_HDT explicit normal_distribution(_Real mean = 0, _Real deviation = 1) : mean_(mean), deviation_(deviation) {}
  template <class _Engine>
  SIMT_HDT _Real operator()(_Engine& engine) const {  // Box and Muller
    uniform_real_distribution<double> unit(0.0, 1.0);
    const double radius = std::sqrt(-2.0 * std::log(1.0 - unit(engine)));
    return mean_ + deviation_ * static_cast<_Real>(radius * std::cos(6.28318530717958647693 * unit(engine)));
  }

 private:
  _Real mean_, deviation_;
};
}  // namespace random
using random::default_random_engine;
using random::minstd_rand;
using random::minstd_rand0;
using random::normal_distribution;
using random::uniform_int_distribution;
using random::uniform_real_distribution;
}  // namespace thrust
