// Discrete Fourier transforms of any length, not scaled, in double precision.
#pragma once
#include <complex>
#include <cstddef>
#include <vector>

namespace simt {

class Fourier {
 public:
  // `sign` is that of the exponent: -1 forward, 1 back.
  Fourier(size_t length, int sign);

  // `row` has `length` numbers and is replaced by its transform.
  void transform(std::complex<double>* row) const;

 private:
  using Number = std::complex<double>;

  void split(const Number* from, Number* to, size_t length, size_t stride, size_t factor) const;
  void join(Number* to, size_t length, size_t stride, size_t prime) const;
  void convolve(Number* row) const;

  size_t length_;
  std::vector<size_t> factors_;
  std::vector<Number> roots_;  // of unity
  // Lengths with a large prime factor: as a convolution of a power of two (Bluestein 1970).
  std::vector<Number> chirp_, kernel_;
  std::vector<Fourier> helpers_;  // forward and back
};

}  // namespace simt
