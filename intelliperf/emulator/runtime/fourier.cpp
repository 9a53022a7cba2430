#include "fourier.h"

#include <cmath>

namespace simt {
namespace {

constexpr size_t kLargestPrime = 31;  // a prime factor p costs p multiplications for each number
constexpr double kPi = 3.14159265358979323846;

std::complex<double> root(size_t index, size_t of, int sign) {
  const double angle = 2 * kPi * double(index) / double(of);
  return {std::cos(angle), sign * std::sin(angle)};
}

}  // namespace

Fourier::Fourier(size_t length, int sign) : length_(length) {
  size_t rest = length;
  for (size_t prime = 2; prime <= kLargestPrime && rest > 1; ++prime)
    for (; rest % prime == 0; rest /= prime) factors_.push_back(prime);
  if (rest == 1) {
    for (size_t i = 0; i < length; ++i) roots_.push_back(root(i, length, sign));
    return;
  }
  size_t wide = 1;
  while (wide < 2 * length - 1) wide *= 2;
  helpers_ = {Fourier(wide, -1), Fourier(wide, 1)};
  kernel_.assign(wide, 0);
  for (size_t i = 0; i < length; ++i) {
    chirp_.push_back(root(i * i % (2 * length), 2 * length, sign));
    kernel_[i] = kernel_[(wide - i) % wide] = std::conj(chirp_[i]);
  }
  helpers_[0].transform(kernel_.data());
}

void Fourier::transform(Number* row) const {
  if (length_ < 2) return;
  if (!helpers_.empty()) return convolve(row);
  const std::vector<Number> from(row, row + length_);
  split(from.data(), row, length_, 1, 0);
}

void Fourier::split(const Number* from, Number* to, size_t length, size_t stride, size_t factor) const {
  if (length == 1) {
    *to = *from;
    return;
  }
  const size_t prime = factors_[factor], part = length / prime;
  for (size_t r = 0; r < prime; ++r) split(from + r * stride, to + r * part, part, stride * prime, factor + 1);
  join(to, length, stride, prime);
}

void Fourier::join(Number* to, size_t length, size_t stride, size_t prime) const {
  const size_t part = length / prime;
  Number terms[kLargestPrime];
  for (size_t k = 0; k < part; ++k) {
    for (size_t r = 0; r < prime; ++r) terms[r] = to[r * part + k] * roots_[r * k * stride];
    for (size_t q = 0; q < prime; ++q) {
      Number sum = terms[0];
      for (size_t r = 1; r < prime; ++r) sum += terms[r] * roots_[r * q % prime * part * stride];
      to[q * part + k] = sum;
    }
  }
}

void Fourier::convolve(Number* row) const {
  std::vector<Number> wide(kernel_.size());
  for (size_t i = 0; i < length_; ++i) wide[i] = row[i] * chirp_[i];
  helpers_[0].transform(wide.data());
  for (size_t i = 0; i < wide.size(); ++i) wide[i] *= kernel_[i];
  helpers_[1].transform(wide.data());
  for (size_t i = 0; i < length_; ++i) row[i] = wide[i] * chirp_[i] / double(wide.size());
}

}  // namespace simt
