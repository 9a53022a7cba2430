"""Device code by which a group of 32 neighbouring lanes works on one row: half of a wave of 64, or a wave of 32.

CUDA's spelling names the lanes of every exchange in 64 bits, which both languages take; HIP's older one needs none.
"""

from __future__ import annotations

LANES = 32
_MASK = """\
  // Both halves of a wave of 64 may be at work, each with its own row.
  const unsigned int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const unsigned long long group = warpSize == 32 ? 0xffffffffull : 0xffffffffull << (thread & 32);
"""


def _exchange(kind: str, value: str, argument: str, cuda: bool) -> str:
    if cuda:
        return f"__shfl{kind}_sync(group, {value}, {argument}, {LANES})"
    return f"__shfl{kind}({value}, {argument}, {LANES})"


def reduction(name: str, combine: str, cuda: bool) -> str:
    """`name(value)`: combined over the group, in every lane of it. `combine` is written with `{a}` and `{b}`."""
    return f"""\
// Combines a value over a group of {LANES} neighbouring lanes; each of them gets the outcome.
template <typename T>
static __device__ T {name}(T value) {{
{_MASK if cuda else ""}\
  for (int distance = {LANES // 2}; distance > 0; distance /= 2) {{
    const T other = {_exchange("_xor", "value", "distance", cuda)};
    value = {combine.format(a="value", b="other")};
  }}
  return value;
}}
"""


def object_sum(name: str, cuda: bool) -> str:
    """`name(value)`: objects of a class with `+=`, made of words of 4 or 8 bytes, added up over the group."""
    return f"""\
// Adds up objects over a group of {LANES} neighbouring lanes, which exchange them word by word.
template <typename T>
static __device__ T {name}(T value) {{
{_MASK if cuda else ""}\
  for (int distance = {LANES // 2}; distance > 0; distance /= 2) {{
    unsigned int words[sizeof(T) / sizeof(unsigned int)];
    memcpy(words, &value, sizeof(T));
    for (unsigned int& word : words) word = {_exchange("_xor", "word", "distance", cuda)};
    T other = value;
    memcpy(&other, words, sizeof(T));
    value += other;
  }}
  return value;
}}
"""


def first_extreme(name: str, better: str, cuda: bool) -> str:
    """`name(value, place)`: the best value of the group, and the smallest place among those that have it."""
    return f"""\
// The best value of a group of {LANES} neighbouring lanes, and the first place where it is.
template <typename T, typename I>
static __device__ void {name}(T& value, I& place) {{
{_MASK if cuda else ""}\
  for (int distance = {LANES // 2}; distance > 0; distance /= 2) {{
    const T other = {_exchange("_xor", "value", "distance", cuda)};
    const I there = {_exchange("_xor", "place", "distance", cuda)};
    if (other {better} value || (other == value && there < place)) {{
      value = other;
      place = there;
    }}
  }}
}}
"""


def scan(name: str, combine: str, cuda: bool) -> str:
    """`name(value)`: combined over the lane and those before it in the group."""
    return f"""\
// Combines a value over a group of {LANES} neighbouring lanes, for each lane up to its own.
template <typename T>
static __device__ T {name}(T value) {{
{_MASK if cuda else ""}\
  for (int distance = 1; distance < {LANES}; distance *= 2) {{
    const T other = {_exchange("_up", "value", "distance", cuda)};
    if (static_cast<int>(threadIdx.x % {LANES}) >= distance) value = {combine.format(a="other", b="value")};
  }}
  return value;
}}
"""


def last(name: str, cuda: bool) -> str:
    """`name(value)`: that of the last lane of the group."""
    return f"""\
// The value that the last of {LANES} neighbouring lanes has.
template <typename T>
static __device__ T {name}(T value) {{
{_MASK if cuda else ""}\
  return {_exchange("", "value", str(LANES - 1), cuda)};
}}
"""


def meeting(name: str, cuda: bool) -> str:
    """`name()`: what the group's lanes wrote before is seen by all of them after."""
    inside = f"{_MASK}  __syncwarp(group);\n" if cuda else "  __threadfence_block();\n"
    return f"""\
// What the lanes of a group wrote before is there for all of them afterwards.
static __device__ void {name}() {{
{inside}}}
"""
