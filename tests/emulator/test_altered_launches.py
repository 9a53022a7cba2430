"""What altered launches show of a kernel alone, bit by bit, without the other gates: cheap where a verdict is not."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from inprocess import WITHOUT_FACTS, build_here

from intelliperf.emulator.backend import EmulatorBackend
from intelliperf.interception.messages import Dispatch
from intelliperf.interception.wire import Deadline
from intelliperf.processes.sandbox import UNCONFINED
from intelliperf.records import ANY_KERNEL, Application, Interception, Kernel, Outcome, Shadow
from intelliperf.validation.othernumbers import LARGER
from intelliperf.validation.runs.events import Divergence, Rule
from intelliperf.validation.runs.lockstep import Followed, Paused, Setting, Sync, follow
from intelliperf.validation.runs.pairing import Pairing
from intelliperf.validation.runs.side import SideRun

SOURCE = """#include <cstdio>
#include <vector>
#include <hip/hip_runtime.h>
struct Options { short mode; short width; unsigned char mirrored; bool halved; float gain; };
struct Cell { float height; int kind; };
__constant__ float taps[8];
__global__ void filter(const float* in, const bool* used, const Cell* cells, float* out, int n, Options o) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0.0f;
  for (int t = 0; t < (VARIANT == 1 ? 5 : o.width); ++t) {
    int at = i + t - 2;
    if (at < 0) at = o.mirrored || VARIANT == 2 ? -at : 0;
    if (at >= n) at = n - 1;
    if (used[at] || VARIANT == 3) sum += taps[VARIANT == 4 && t > 4 ? 4 : t] * in[at];
  }
  if (o.halved && VARIANT != 5) sum *= 0.5f;
  if (o.mode == 1 && VARIANT != 6) sum = fabsf(sum);
  if (o.mode == 2) sum = VARIANT == 7 ? fminf(sum * sum, 1000.0f) : sum * sum;
  const Cell c = cells[i];
  if (c.kind == 3 && VARIANT != 8) sum -= c.height;
  out[i] = sum * o.gain + (VARIANT == 9 ? c.height : fabsf(c.height));
}
int main() {
  const int n = 700;
  std::vector<float> host(n), weights(8);
  std::vector<char> set(n, 1);
  for (int i = 0; i < n; ++i) host[i] = 0.25f * ((i * 37) % 29) - 3.0f;
  for (int t = 0; t < 8; ++t) weights[t] = 0.1f * (t + 1);
  float *in, *out;
  bool* used;
  Cell* cells;
  std::vector<Cell> ground(n);
  for (int i = 0; i < n; ++i) ground[i] = {0.5f + i % 7, i % 3};
  if (hipMalloc(&cells, n * sizeof(Cell))) return 1;
  if (hipMemcpy(cells, ground.data(), n * sizeof(Cell), hipMemcpyHostToDevice)) return 2;
  if (hipMalloc(&in, n * 4) || hipMalloc(&out, n * 4) || hipMalloc(&used, n)) return 1;
  if (hipMemcpy(in, host.data(), n * 4, hipMemcpyHostToDevice) || hipMemset(out, 0, n * 4)) return 2;
  if (hipMemcpy(used, set.data(), n, hipMemcpyHostToDevice)) return 3;
  if (hipMemcpyToSymbol(taps, weights.data(), 32)) return 4;
  filter<<<(n + 63) / 64, 64>>>(in, used, cells, out, n, Options{0, 5, 1, false, 1.5f});
  return hipDeviceSynchronize();
}
"""


class _Bits:
    """Finds fault with any bit."""

    def compare(
        self, sync: Sync, base: Paused, other: Paused, pairing: Pairing, deadline: Deadline
    ) -> Divergence | None:
        for mine, theirs in pairing.pairs:
            if bytes(base.content(mine.id)) != bytes(other.content(theirs.id)):
                return Divergence(other.side.label, Outcome.WRONG_OUTPUT, sync.where)
        return None


class Variants:
    def __init__(self, root: Path, source: str, environment: Mapping[str, str] = WITHOUT_FACTS) -> None:
        self._root = root
        self._environment = environment
        self._source = source
        self._backend = EmulatorBackend(root / "device")
        self._original = self._built(0)
        (profile,) = self._backend.profile(self._original, 60.0).kernels
        self._kernel: Kernel = profile.kernel

    def altered(self, variant: int, way: int) -> Followed:
        return self.followed(variant, Interception(other_numbers=(way,)))

    def followed(
        self, variant: int, alterations: Interception, own: Interception | None = None, alike: bool = False
    ) -> Followed:
        """`own`: of the variant alone. `alike`: it is given what the original finds before each launch."""
        asked = alterations | Interception(kernels=(self._kernel.symbol,))
        runs = [
            SideRun("original", self._original, asked),
            SideRun("variant", self._built(variant), asked | own if own else asked),
        ]
        setting = Setting(self._backend, self._kernel, UNCONFINED, self._root, 60.0)
        free = ANY_KERNEL if own else None
        rule = Rule(
            lambda d: d.target and d.status == 0,
            free_geometry=free,
            after_failures=True,
            alike=lambda buffer: alike,
        )
        return follow(setting, runs, rule, _Bits(), True)

    def _built(self, variant: int) -> Application:
        program = self._root / f"app{variant}"
        if not program.exists():
            # Not by -D: the headers' precompiled form is one for all variants.
            program.with_suffix(".hip").write_text(self._source.replace("VARIANT", str(variant)))
            words = ("-O2", f"{program.name}.hip", "-o", program.name)
            build_here("hipcc", *words, directory=self._root, environment=self._environment)
        return Application((str(program),), self._root, self._root)


@pytest.fixture(scope="module")
def variants(tmp_path_factory: pytest.TempPathFactory) -> Variants:
    return Variants(tmp_path_factory.mktemp("altered"), SOURCE)


_ARGUMENTS, _DATA, _TOGETHER = 3, 2, 7


@pytest.mark.parametrize(
    ("variant", "way"),
    [
        pytest.param(1, _ARGUMENTS, id="a width of two bytes"),
        pytest.param(2, _ARGUMENTS, id="a flag of one byte"),
        pytest.param(3, _DATA, id="booleans in memory"),
        pytest.param(4, _ARGUMENTS, id="an array of the device's constants, beyond what the launch reads of it"),
        pytest.param(5, _ARGUMENTS, id="a boolean"),
        pytest.param(6, _ARGUMENTS, id="a mode of two bytes"),
        pytest.param(8, _DATA, id="an integer of a struct in memory"),
        pytest.param(9, _DATA, id="a float of a struct in memory"),
        pytest.param(7, _TOGETHER, id="a mode that the launch has not, and large numbers"),
    ],
)
def test_what_a_launch_does_not_show_shows_in_an_altered_one(variants: Variants, variant: int, way: int) -> None:
    assert "variant" in variants.altered(variant, way).divergences


def test_sizes_grow_as_far_as_an_array_of_constants_reaches_and_no_further(variants: Variants) -> None:
    followed = variants.altered(0, _ARGUMENTS)
    assert not followed.divergences
    larger = [e for e in followed.events if isinstance(e, Dispatch) and e.target and e.alteration.startswith(LARGER)]
    assert any(event.status == 0 for event in larger)
    assert any(event.status != 0 for event in larger)


TYPED = """#include <hip/hip_runtime.h>
__global__ void move(const NUMBER* in, NUMBER* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] + VARIANT;
}
int main() {
  const int n = 128;
  NUMBER *in, *out, host[n];
  for (int i = 0; i < n; ++i) host[i] = (i * 37) % 29;
  if (hipMalloc(&in, sizeof host) || hipMalloc(&out, sizeof host)) return 1;
  if (hipMemcpy(in, host, sizeof host, hipMemcpyHostToDevice)) return 2;
  move<<<2, 64>>>(in, out, n);
  return hipDeviceSynchronize();
}
"""


@pytest.mark.parametrize(
    ("number", "own", "others"),
    [
        ("float", "some numbers NaN", "the most frequent integers replaced"),
        ("int", "the most frequent integers replaced", "some numbers NaN"),
    ],
)
def test_no_launch_is_spent_on_numbers_that_a_kernel_has_not(
    tmp_path: Path, number: str, own: str, others: str
) -> None:
    events = Variants(tmp_path, TYPED.replace("NUMBER", number)).altered(0, _DATA).events
    told = {event.alteration for event in events if isinstance(event, Dispatch) and event.target}
    assert own in told and others not in told


STAGED = """#include <hip/hip_runtime.h>
extern __shared__ float dynamic[];
__global__ void scale(const float* in, float* out, int n) {
  __shared__ float fixed[256];
  float* const staged = VARIANT == 3 ? dynamic : fixed;
  const int t = threadIdx.x;
  if (VARIANT == 0) {
    if (t < 256) fixed[t] = 2.0f;
    for (int i = t; i < n; i += blockDim.x) out[i] = fixed[t % 256] * in[i];
    return;
  }
  if (VARIANT == 1 && n > 256) fixed[(n - 256) * 4] = 1.0f;
  for (int i = t; i < n; i += blockDim.x) staged[i] = 2.0f * in[i];
  for (int i = t; i < n; i += blockDim.x) out[i] = staged[i];
}
int main() {
  const int n = 256;
  float *in, *out, host[n];
  for (int i = 0; i < n; ++i) host[i] = 0.5f * i;
  if (hipMalloc(&in, sizeof host) || hipMalloc(&out, sizeof host)) return 1;
  if (hipMemcpy(in, host, sizeof host, hipMemcpyHostToDevice)) return 2;
  scale<<<1, 64, sizeof host>>>(in, out, n);
  return hipDeviceSynchronize();
}
"""


@pytest.fixture(scope="module")
def staged(tmp_path_factory: pytest.TempPathFactory) -> Variants:
    return Variants(tmp_path_factory.mktemp("staged"), STAGED)


@pytest.mark.slow
@pytest.mark.parametrize("variant", [1, 2, 3], ids=["far", "static", "dynamic"])
@pytest.mark.parametrize("shadow", [None, Shadow(99)], ids=["numbers", "shadows"])
def test_accesses_beyond_lds_end_an_altered_launch_and_nothing_else(
    staged: Variants, variant: int, shadow: Shadow | None
) -> None:
    found = staged.followed(variant, Interception(other_numbers=(_ARGUMENTS,), shadow=shadow)).divergences
    assert found["variant"].outcome is Outcome.MEMORY_ERROR


def test_the_dynamic_lds_that_the_host_computes_grows_with_its_argument(staged: Variants) -> None:
    grows = Interception(other_grids=("3:#4294967297:#1:@2 #4 mul.64",))
    assert not staged.followed(3, Interception(other_numbers=(_ARGUMENTS,)), grows).divergences


def test_an_original_that_leaves_lds_in_an_altered_launch_is_no_evidence(tmp_path: Path) -> None:
    both = Variants(tmp_path, STAGED.replace("VARIANT", "(VARIANT + 2)"))
    followed = both.followed(1, Interception(other_numbers=(_ARGUMENTS,), shadow=Shadow(99)))
    assert not followed.divergences and not followed.left
    assert any(isinstance(e, Dispatch) and e.status != 0 for e in followed.events)


OUTER = """#include <hip/hip_runtime.h>
__global__ void outer(const float* a, const float* b, float* sums, int rows, int cols) {
  __shared__ float products[VARIANT == 1 ? 1600 : 1];
  if (VARIANT == 1) {
    for (int i = threadIdx.x; i < rows * cols; i += blockDim.x) products[i] = a[i / cols] * b[i % cols];
    __syncthreads();
  }
  for (int r = threadIdx.x; r < rows; r += blockDim.x) {
    float sum = 0;
    for (int c = 0; c < cols; ++c) sum += VARIANT == 1 ? products[r * cols + c] : a[r] * b[c];
    sums[r] = sum;
  }
}
int main() {
  const int rows = 20, cols = 40;
  float *a, *b, *sums, host[64];
  for (int i = 0; i < 64; ++i) host[i] = 0.5f * i;
  if (hipMalloc(&a, rows * 4) || hipMalloc(&b, cols * 4) || hipMalloc(&sums, rows * 4)) return 1;
  if (hipMemcpy(a, host, rows * 4, hipMemcpyHostToDevice)) return 2;
  if (hipMemcpy(b, host, cols * 4, hipMemcpyHostToDevice)) return 2;
  outer<<<1, 64>>>(a, b, sums, rows, cols);
  return hipDeviceSynchronize();
}
"""


def test_two_sizes_grow_together(tmp_path: Path) -> None:
    followed = Variants(tmp_path, OUTER).altered(1, _ARGUMENTS)
    assert followed.divergences["variant"].outcome is Outcome.MEMORY_ERROR


STEPS = """#include <hip/hip_runtime.h>
__global__ void step(const float* in, float* out, int now, int steps) {
  const int i = threadIdx.x;
  if (VARIANT == 0 || now + 1 < steps || in[i] < 1.5f) out[i] += in[i];
}
int main() {
  float host[32], *in, *out;
  for (float& one : host) one = 1;
  if (hipMalloc(&in, 128) || hipMalloc(&out, 128) || hipMemset(out, 0, 128)) return 1;
  if (hipMemcpy(in, host, 128, hipMemcpyHostToDevice)) return 2;
  for (int i = 0; i < 12; ++i) step<<<1, 32>>>(in, out, i, 12);
  return hipDeviceSynchronize();
}
"""


def test_the_last_launch_is_altered_although_later_ones_seldom_are(tmp_path: Path) -> None:
    variants = Variants(tmp_path, STEPS)
    assert not variants.altered(1, 1).divergences
    assert "variant" in variants.followed(1, Interception(other_numbers=(1,), other_last=11)).divergences


RUNS = """#include <cstdint>
#include <hip/hip_runtime.h>
__global__ void lengths(const TYPE* in, int* out, int n) {
  const int i = threadIdx.x;
  int end = i + 1;
  while (end < n && in[end] == in[i] && (VARIANT == 0 || end < i + 16)) ++end;
  if (i < n) out[i] = end - i;
}
int main() {
  TYPE host[64], *in;
  int* out;
  for (int i = 0; i < 64; ++i) host[i] = TYPE(65 + i / 3);
  if (hipMalloc(&in, sizeof host) || hipMalloc(&out, 256)) return 1;
  if (hipMemcpy(in, host, sizeof host, hipMemcpyHostToDevice)) return 2;
  lengths<<<1, 64>>>(in, out, 64);
  return hipDeviceSynchronize();
}
"""


@pytest.mark.parametrize("kind", ["int", "char", "int64_t", "double"])
def test_half_of_what_the_host_copies_is_one_long_run(tmp_path: Path, kind: str) -> None:
    assert "variant" in Variants(tmp_path, RUNS.replace("TYPE", kind)).altered(1, 10).divergences
