"""Device code by which lanes work on one row or column together: lanes of half a wave of 64, or of a wave of 32.

CUDA's spelling names the lanes of every exchange in 64 bits, which both languages take; HIP's older one needs none.
"""

from __future__ import annotations

from dataclasses import dataclass

LANES = 32


@dataclass(frozen=True)
class Sharing:
    """`lanes` of each 32, `stride` apart, share the work of one thread; that of `stride` threads lies side by side.

    With a stride of one, groups of `lanes` neighbours follow one another.
    """

    lanes: int
    stride: int

    @property
    def lane(self) -> str:
        """A thread's place among those that it shares with."""
        return f"threadIdx.x % {LANES} / {self.stride}" if self.stride > 1 else f"threadIdx.x % {self.lanes}"

    @property
    def number(self) -> str:
        """Whose work of its block a thread has a part in."""
        if self.stride == 1:
            return f"threadIdx.x / {self.lanes}"
        return f"threadIdx.x / {LANES} * {self.stride} + threadIdx.x % {self.stride}"

    @property
    def words(self) -> str:
        return f"{self.lanes} lanes of {LANES}" if self.stride > 1 else f"{self.lanes} neighbouring lanes"

    @property
    def distances(self) -> str:
        last = "> 0" if self.stride == 1 else f">= {self.stride}"
        return f"int distance = {self.lanes * self.stride // 2}; distance {last}; distance /= 2"

    def mask(self) -> str:
        if self.stride == 1 and self.lanes == LANES:
            return _MASK
        if self.stride == 1:
            return _PART_MASK.format(bits=(1 << self.lanes) - 1, below=self.lanes - 1)
        bits = sum(1 << at for at in range(0, LANES, self.stride))
        return _COLUMN_MASK.format(bits=bits, stride=self.stride)


_MASK = """\
  // Both halves of a wave of 64 may be at work, each with its own row.
  const unsigned int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const unsigned long long group = warpSize == 32 ? 0xffffffffull : 0xffffffffull << (thread & 32);
"""
_PART_MASK = """\
  const unsigned int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const unsigned long long group = {bits:#x}ull << (thread % warpSize & ~{below}u);
"""
_COLUMN_MASK = """\
  const unsigned int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const unsigned long long group = {bits:#x}ull << (thread % {stride} + (warpSize == 32 ? 0 : thread & 32));
"""
ROW = Sharing(LANES, 1)
_FEWEST = 4  # lanes of a group


def of_turns(turns: float) -> Sharing:
    """For a row of so many elements: no more lanes than have one."""
    lanes = _FEWEST
    while lanes < min(turns, LANES):
        lanes *= 2
    return Sharing(lanes, 1)


def of_columns(waves: float, wanted: float) -> Sharing:
    """Of columns that so many waves walk down now: as few lanes as give `wanted` waves.

    With four of them eight neighbouring columns, a sector of four-byte elements, are read together.
    """
    lanes = _FEWEST
    while lanes < LANES and waves * lanes < wanted:
        lanes *= 2
    return Sharing(lanes, LANES // lanes)


def _exchange(kind: str, value: str, argument: str, cuda: bool) -> str:
    if cuda:
        return f"__shfl{kind}_sync(group, {value}, {argument}, {LANES})"
    return f"__shfl{kind}({value}, {argument}, {LANES})"


def reduction(name: str, combine: str, cuda: bool, sharing: Sharing = ROW) -> str:
    """`name(value)`: combined over the group, in every lane of it. `combine` is written with `{a}` and `{b}`."""
    return f"""\
// Combines a value over a group of {sharing.words}; each of them gets the outcome.
template <typename T>
static __device__ T {name}(T value) {{
{sharing.mask() if cuda else ""}\
  for ({sharing.distances}) {{
    const T other = {_exchange("_xor", "value", "distance", cuda)};
    value = {combine.format(a="value", b="other")};
  }}
  return value;
}}
"""


def object_sum(name: str, combine: str, members: tuple[str, ...], cuda: bool, sharing: Sharing = ROW) -> str:
    """`name(value)`: objects of a class that `combine` adds up, over the group.

    Exchanged as the numbers that they are made of, so that a judge can follow these; word by word where nobody but the
    class may name its `members`.
    """
    if members:
        numbers = [f"    other.{each} = {_exchange('_xor', f'value.{each}', 'distance', cuda)};" for each in members]
        exchange, told = "\n".join(["    T other = value;", *numbers]), ""
    else:
        told = ", which exchange them word by word"
        exchange = f"""\
    unsigned int words[sizeof(T) / sizeof(unsigned int)];
    memcpy(words, &value, sizeof(T));
    for (unsigned int& word : words) word = {_exchange("_xor", "word", "distance", cuda)};
    T other = value;
    memcpy(&other, words, sizeof(T));"""
    return f"""\
// Adds up objects over a group of {sharing.words}{told}.
template <typename T>
static __device__ T {name}(T value) {{
{sharing.mask() if cuda else ""}\
  for ({sharing.distances}) {{
{exchange}
    {combine.format(a="value", b="other")};
  }}
  return value;
}}
"""


def first_extreme(name: str, better: str, cuda: bool, sharing: Sharing = ROW) -> str:
    """`name(value, place)`: the best value of the group, and the smallest place among those that have it."""
    return f"""\
// The best value of a group of {sharing.words}, and the first place where it is.
template <typename T, typename I>
static __device__ void {name}(T& value, I& place) {{
{sharing.mask() if cuda else ""}\
  for ({sharing.distances}) {{
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


def meeting(name: str, cuda: bool, sharing: Sharing = ROW) -> str:
    """`name()`: what the group's lanes wrote before is seen by all of them after."""
    inside = f"{sharing.mask()}  __syncwarp(group);\n" if cuda else "  __threadfence_block();\n"
    return f"""\
// What the lanes of a group wrote before is there for all of them afterwards.
static __device__ void {name}() {{
{inside}}}
"""
