"""Device code that combines the lanes of a wave, in CUDA's and in HIP's spelling.

CUDA needs the set of lanes in every call (`__shfl_sync`, `__ballot_sync`); HIP's older forms take
the lanes that are active. Masks have 64 bits in either: newer HIP, which knows CUDA's forms as well,
takes no others, and CUDA drops the upper half.
"""

from __future__ import annotations

from dataclasses import dataclass

LANE = "(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % warpSize"


@dataclass(frozen=True)
class Dialect:
    """How to spell wave operations over the lanes in a mask named `active`."""

    mask: str
    active: str
    bits: int
    first: str  # index of the first lane of a mask, from 1
    leading: str  # zeros above the highest lane of a mask
    count: str
    cuda: bool

    def ballot(self, predicate: str) -> str:
        return f"__ballot_sync(active, {predicate})" if self.cuda else f"__ballot({predicate})"

    def shuffle(self, value: str, lane: str) -> str:
        return f"__shfl_sync(active, {value}, {lane})" if self.cuda else f"__shfl({value}, {lane})"


CUDA = Dialect("unsigned long long", "__activemask()", 64, "__ffsll", "__clzll", "__popcll", True)
HIP = Dialect("unsigned long long", "__ballot(1)", 64, "__ffsll", "__clzll", "__popcll", False)


@dataclass(frozen=True)
class Operation:
    """An atomic read-modify-write. `{a}` came earlier in the order than `{b}`."""

    verb: str  # for the comment
    combine: str  # of two operands
    apply: str  # of the old value {a} and the operand {b}


ADD = Operation("Adds", "{a} + {b}", "{a} + {b}")
OPERATIONS = {
    "atomicAdd": ADD,
    "unsafeAtomicAdd": ADD,
    "atomicSub": Operation("Subtracts", "{a} + {b}", "{a} - {b}"),
    "atomicMin": Operation("Minimizes", "{a} < {b} ? {a} : {b}", "{a} < {b} ? {a} : {b}"),
    "atomicMax": Operation("Maximizes", "{a} < {b} ? {b} : {a}", "{a} < {b} ? {b} : {a}"),
    "atomicAnd": Operation("Ands", "{a} & {b}", "{a} & {b}"),
    "atomicOr": Operation("Ors", "{a} | {b}", "{a} | {b}"),
    "atomicXor": Operation("Xors", "{a} ^ {b}", "{a} ^ {b}"),
}


def _peers(dialect: Dialect) -> str:
    return f"""\
  const {dialect.mask} active = {dialect.active};
  const int lane = {LANE};
  // Lanes with my address; one round for each distinct address of the wave.
  const unsigned long long target = reinterpret_cast<unsigned long long>(address);
  {dialect.mask} peers = 0;
  for ({dialect.mask} pending = active; pending != 0;) {{
    const unsigned long long chosen = {dialect.shuffle("target", f"{dialect.first}(pending) - 1")};
    const {dialect.mask} same = {dialect.ballot("target == chosen")};
    if (target == chosen) peers = same;
    pending &= ~same;
  }}
  const int last = {dialect.bits - 1} - {dialect.leading}(peers);
"""


def _earlier(dialect: Dialect) -> str:
    return f"  const {dialect.mask} earlier = peers & ((static_cast<{dialect.mask}>(1) << lane) - 1);\n"


def _comment(callee: str, operation: Operation, returns: bool, same_operand: bool) -> str:
    lines = [
        f"// {callee} with one atomic per wave and distinct address: lanes that hit the same address are",
        "// combined in registers first. Takes the lanes that are active at the call, so it may stand in",
        "// divergent code, with any wave size.",
    ]
    if same_operand:
        lines.append("// `operand` has to be the same in all lanes.")
    if returns:
        lines.append("// Returns what each lane would have got if the lanes had come in ascending order.")
    return "\n".join(lines) + "\n"


def aggregated_atomic(name: str, callee: str, returns: bool, same_operand: bool, dialect: Dialect) -> str:
    """A self-contained template `name(T* address, V operand)` that stands for `callee`."""
    operation = OPERATIONS[callee]
    head = f"template <typename T, typename V>\nstatic __device__ {'T' if returns else 'void'} {name}"
    text = f"{_comment(callee, operation, returns, same_operand)}{head}(T* address, V operand) {{\n{_peers(dialect)}"
    if same_operand:
        text += (_earlier(dialect) if returns else "") + "  const T value = static_cast<T>(operand);\n"
        total = f"value * static_cast<T>({dialect.count}(peers))"
    else:
        text += _earlier(dialect) + _scan(operation, dialect)
        total = "total"
    if not returns:
        return f"{text}  if (lane == last) {callee}(address, {total});\n}}\n"
    text += f"  T old = T();\n  if (lane == last) old = {callee}(address, {total});\n"
    text += f"  old = {dialect.shuffle('old', 'last')};\n"
    if same_operand:
        before = f"value * static_cast<T>({dialect.count}(earlier))"
        return f"{text}  return {operation.apply.format(a='old', b=before)};\n}}\n"
    text += f"  const T before = {dialect.shuffle('total', 'nearest < 0 ? lane : nearest')};\n"
    return f"{text}  if (nearest < 0) return old;\n  return {operation.apply.format(a='old', b='before')};\n}}\n"


def combined_call(name: str, callee: str, operation: Operation, dialect: Dialect) -> str:
    """A template `name(T* address, V operand)` for a function of the program's that does `operation` atomically."""
    head = f"template <typename T, typename V>\nstatic __device__ void {name}(T* address, V operand) {{\n"
    text = _comment(callee, operation, False, False).replace("one atomic per wave", "one call per wave")
    text += head + _peers(dialect) + _earlier(dialect) + _scan(operation, dialect)
    return f"{text}  if (lane == last) {callee}(address, total);\n}}\n"


def _scan(operation: Operation, dialect: Dialect) -> str:
    return f"""\
  // Running total over the peers before me; every step doubles how far it reaches.
  const int nearest = earlier != 0 ? {dialect.bits - 1} - {dialect.leading}(earlier) : -1;
  T total = static_cast<T>(operand);
  for (int next = nearest; {dialect.ballot("next >= 0")} != 0;) {{
    const int source = next < 0 ? lane : next;
    const T other = {dialect.shuffle("total", "source")};
    const int farther = {dialect.shuffle("next", "source")};
    if (next >= 0) {{
      total = {operation.combine.format(a="other", b="total")};
      next = farther;
    }}
  }}
"""


def block_atomic(name: str, callee: str, identity: str, dialect: Dialect) -> str:
    """A template `name(T* address, V operand)`: one `callee` for all threads of a block."""
    combine = OPERATIONS[callee].combine
    exchange = (
        "__shfl_down_sync(lanes == 64 ? ~0ull : (1ull << lanes) - 1, value, distance)"
        if dialect.cuda
        else "__shfl_down(value, distance)"
    )
    return f"""\
// {callee} of every thread of the block on one address, as a reduction in registers and LDS and a single
// atomic. All threads of the block have to reach it, with the same address; any block and wave size.
template <typename T, typename V>
static __device__ void {name}(T* address, V operand) {{
  __shared__ T parts[32];  // of the waves: a block has at most 1024 threads
  const int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const int threads = blockDim.x * blockDim.y * blockDim.z;
  const int wave = thread / warpSize;
  const int lane = thread % warpSize;
  const int left = threads - wave * warpSize;
  const int lanes = left < warpSize ? left : warpSize;  // the last wave may be partial
  T value = static_cast<T>(operand);
  for (int distance = warpSize / 2; distance > 0; distance /= 2) {{
    const T other = {exchange};
    if (lane + distance < lanes) value = {combine.format(a="value", b="other")};
  }}
  if (lane == 0) parts[wave] = value;
  __syncthreads();
  if (thread == 0) {{
    for (int i = 1; i * warpSize < threads; ++i) value = {combine.format(a="value", b="parts[i]")};
    // Nothing contributed: leave the address alone, as the original does.
    if (value != static_cast<T>({identity})) {callee}(address, value);
  }}
  __syncthreads();  // `parts` may be written again
}}
"""
