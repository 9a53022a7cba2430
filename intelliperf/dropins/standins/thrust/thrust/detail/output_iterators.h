// Iterators that apply functions to what is written through them.
#pragma once
#pragma GCC system_header  // no warnings from here in a program's build
#include <thrust/detail/iterators.h>

namespace thrust {
namespace detail {
template <class _F, class Iterator>
struct transformed_output {
  Iterator to;
  mutable _F f;
  template <class _T>
  SIMT_HDT const transformed_output& operator=(const _T& value) const {
    *to = f(value);
    return *this;
  }
};
template <class In, class Out, class Iterator>
struct transformed_input_output {
  Iterator at;
  mutable In read;
  mutable Out write;
  using value_type = std::decay_t<std::invoke_result_t<In, value_t<Iterator>>>;
  SIMT_HDT operator value_type() const { return read(*at); }
  SIMT_HDT const transformed_input_output& operator=(const transformed_input_output& other) const {
    return *this = static_cast<value_type>(other);
  }
  template <class _T>
  SIMT_HDT const transformed_input_output& operator=(const _T& value) const {
    *at = write(value);
    return *this;
  }
};
}  // namespace detail

template <class _F, class Iterator>
class transform_output_iterator
    : public iterator_facade<transform_output_iterator<_F, Iterator>, detail::value_t<Iterator>,
                             detail::transformed_output<_F, Iterator>> {
 public:
  using thrust_system = detail::system_of_t<Iterator>;
  SIMT_HDT transform_output_iterator(Iterator to, _F f) : to_(to), f_(f) {}
  SIMT_HDT detail::transformed_output<_F, Iterator> at(std::ptrdiff_t n) const { return {to_ + n, f_}; }
  SIMT_HDT void advance(std::ptrdiff_t n) { to_ += n; }
  SIMT_HDT std::ptrdiff_t distance_to(const transform_output_iterator& other) const { return other.to_ - to_; }

 private:
  Iterator to_;
  _F f_;
};
template <class _F, class Iterator>
SIMT_HDT transform_output_iterator<_F, Iterator> make_transform_output_iterator(Iterator to, _F f) {
  return {to, f};
}

template <class In, class Out, class Iterator>
class transform_input_output_iterator
    : public iterator_facade<transform_input_output_iterator<In, Out, Iterator>,
                             typename detail::transformed_input_output<In, Out, Iterator>::value_type,
                             detail::transformed_input_output<In, Out, Iterator>> {
 public:
  using thrust_system = detail::system_of_t<Iterator>;
  SIMT_HDT transform_input_output_iterator(Iterator base, In read, Out write) : base_(base), read_(read), write_(write) {}
  SIMT_HDT detail::transformed_input_output<In, Out, Iterator> at(std::ptrdiff_t n) const { return {base_ + n, read_, write_}; }
  SIMT_HDT void advance(std::ptrdiff_t n) { base_ += n; }
  SIMT_HDT std::ptrdiff_t distance_to(const transform_input_output_iterator& other) const { return other.base_ - base_; }

 private:
  Iterator base_;
  In read_;
  Out write_;
};
template <class In, class Out, class Iterator>
SIMT_HDT transform_input_output_iterator<In, Out, Iterator> make_transform_input_output_iterator(Iterator base, In read,
                                                                                                 Out write) {
  return {base, read, write};
}
}  // namespace thrust
