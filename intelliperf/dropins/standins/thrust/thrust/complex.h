// thrust::complex: std::complex's interface on both sides.
#pragma once
#pragma GCC system_header  // no warnings from here in a program's build
#include <thrust/detail/vectors.h>

#include <complex>

namespace thrust {
template <class _T>
struct alignas(2 * sizeof(_T)) complex {
  using value_type = _T;
  SIMT_HDT constexpr complex(_T re = _T(), _T im = _T()) : re_(re), im_(im) {}
  template <class _U>
  SIMT_HDT constexpr complex(const complex<_U>& z) : re_(static_cast<_T>(z.real())), im_(static_cast<_T>(z.imag())) {}
  complex(const std::complex<_T>& z) : re_(z.real()), im_(z.imag()) {}
  operator std::complex<_T>() const { return std::complex<_T>(re_, im_); }
  SIMT_HDT constexpr _T real() const { return re_; }
  SIMT_HDT constexpr _T imag() const { return im_; }
  SIMT_HDT void real(_T v) { re_ = v; }
  SIMT_HDT void imag(_T v) { im_ = v; }
  SIMT_HDT complex& operator+=(const complex& z) { return *this = *this + z; }
  SIMT_HDT complex& operator-=(const complex& z) { return *this = *this - z; }
  SIMT_HDT complex& operator*=(const complex& z) { return *this = *this * z; }
  SIMT_HDT complex& operator/=(const complex& z) { return *this = *this / z; }
  friend SIMT_HDT complex operator+(const complex& a, const complex& b) { return {a.re_ + b.re_, a.im_ + b.im_}; }
  friend SIMT_HDT complex operator-(const complex& a, const complex& b) { return {a.re_ - b.re_, a.im_ - b.im_}; }
  friend SIMT_HDT complex operator*(const complex& a, const complex& b) {
    return {a.re_ * b.re_ - a.im_ * b.im_, a.re_ * b.im_ + a.im_ * b.re_};
  }
  friend SIMT_HDT complex operator/(const complex& a, const complex& b) {
    const _T scale = _T(1) / (magnitude(b.re_) + magnitude(b.im_));  // against overflow
    const _T ar = a.re_ * scale, ai = a.im_ * scale, br = b.re_ * scale, bi = b.im_ * scale;
    const _T inverse = _T(1) / (br * br + bi * bi);
    return {(ar * br + ai * bi) * inverse, (ai * br - ar * bi) * inverse};
  }
  friend SIMT_HDT complex operator-(const complex& z) { return {-z.re_, -z.im_}; }
  friend SIMT_HDT bool operator==(const complex& a, const complex& b) { return a.re_ == b.re_ && a.im_ == b.im_; }
  friend SIMT_HDT bool operator!=(const complex& a, const complex& b) { return !(a == b); }

 private:
  static SIMT_HDT _T magnitude(_T v) { return v < _T(0) ? -v : v; }
  _T re_, im_;
};
template <class _T>
SIMT_HDT complex<_T> conj(const complex<_T>& z) { return {z.real(), -z.imag()}; }
template <class _T>
SIMT_HDT _T norm(const complex<_T>& z) { return z.real() * z.real() + z.imag() * z.imag(); }
template <class _T>
SIMT_HDT _T abs(const complex<_T>& z) { return std::hypot(z.real(), z.imag()); }
template <class _T>
SIMT_HDT _T arg(const complex<_T>& z) { return std::atan2(z.imag(), z.real()); }
template <class _T>
SIMT_HDT complex<_T> polar(const _T& radius, const _T& angle = _T()) {
  return {radius * std::cos(angle), radius * std::sin(angle)};
}
template <class _T>
SIMT_HDT complex<_T> exp(const complex<_T>& z) { return polar(std::exp(z.real()), z.imag()); }
template <class _T>
SIMT_HDT complex<_T> sqrt(const complex<_T>& z) {
  return polar(std::sqrt(abs(z)), arg(z) * _T(0.5));
}
}  // namespace thrust
