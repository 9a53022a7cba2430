"""A GPU's own code objects, loaded by the runtime's HIP API and executed instruction by instruction."""

from __future__ import annotations

from pathlib import Path

import pytest
from machine_programs import code_object, launch

from intelliperf.emulator.lines import kernel_lines
from intelliperf.emulator.tracefiles import Trace
from intelliperf.records import AccessKind, MemorySpace, Metric

_SOURCE = """
KERNEL void strided(const float* in, float* out, int n, int stride) {
  if (thread() < n) out[thread()] = in[thread() * stride];
}
__device__ inline float twice(const float* from) {
  return *from * 2;
}
KERNEL void reverse(const float* in, float* out) {
  __shared__ float tile[256];
  tile[lane()] = twice(in + thread());
  meet();
  out[thread()] = tile[255 - lane()];
}
KERNEL void mirror(const float* in, float* out) {
  __shared__ volatile float tile[64];
  tile[lane()] = in[thread()];
  out[thread()] = tile[63 - lane()];
}
KERNEL void beyond(float* out) { out[thread() + 64] = 1; }
"""
_STRIDED = """
numbers = np.arange(40000, dtype=np.float32)
source, target = device(numbers), device(np.zeros(10000, np.float32))
launch("strided", 40, 256, source, target, ctypes.c_int(9999), ctypes.c_int(4))
found = host(target, np.empty(10000, np.float32))
assert (found[:9999] == numbers[:39996:4]).all() and found[9999] == 0
"""
_REVERSE = """
numbers = np.arange(1024, dtype=np.float32)
source, target = device(numbers), device(numbers)
launch("reverse", 4, 256, source, target)
assert (host(target, numbers).reshape(4, 256) == numbers.reshape(4, 256)[:, ::-1] * 2).all()
"""


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return code_object(_SOURCE, "gfx90a", tmp_path_factory.mktemp("image"))


@pytest.mark.parametrize("architecture", ["gfx90a", "gfx942"])
def test_kernels_of_a_code_object_compute_what_they_say(architecture: str, tmp_path: Path) -> None:
    done = launch(_STRIDED + _REVERSE, code_object(_SOURCE, architecture, tmp_path), tmp_path)
    assert done.returncode == 0, done.err


def test_requests_are_counted_at_the_lines_of_the_debug_information(image: Path, tmp_path: Path) -> None:
    trace = Trace(launch(_STRIDED, image, tmp_path).records)
    lines = {line.access: line for line in kernel_lines(trace, "strided", image.parent)}
    load = lines[AccessKind.LOAD]
    assert (load.file.name, load.text) == ("kernel.hip", "if (thread() < n) out[thread()] = in[thread() * stride];")
    requests = load.quantities[Metric.REQUESTS].value
    assert requests == 157  # waves with a lane below 9999
    assert load.quantities[Metric.SECTORS].value == pytest.approx(
        32 * requests, rel=0.02
    )  # of 32 bytes, 16 bytes apart
    assert lines[AccessKind.STORE].quantities[Metric.SECTORS].value == 1250


def test_blocks_of_one_wave_are_counted_behind_what_is_traced(image: Path, tmp_path: Path) -> None:
    program = """
numbers = np.arange(64 * 200, dtype=np.float32)
source, target = device(numbers), device(numbers)
launch("mirror", 200, 64, source, target)
assert (host(target, numbers).reshape(200, 64) == numbers.reshape(200, 64)[:, ::-1]).all()
"""
    done = launch(program, image, tmp_path, {"INTELLIPERF_TRACE_EVENTS": "2048"})
    assert done.returncode == 0, done.err
    trace = Trace(done.records)
    lines = kernel_lines(trace, "mirror", image.parent)
    requests = [line.quantities[Metric.REQUESTS].value for line in lines if line.space is MemorySpace.GLOBAL]
    assert requests == [200, 200]
    assert trace.launches[0].empty_blocks == 0


def test_an_inlined_access_has_the_chain_of_its_callers(image: Path, tmp_path: Path) -> None:
    trace = Trace(launch(_REVERSE, image, tmp_path).records)
    lines = kernel_lines(trace, "reverse", image.parent)
    load = next(line for line in lines if line.access is AccessKind.LOAD and line.space is MemorySpace.GLOBAL)
    assert [
        image.parent.joinpath("kernel.hip").read_text().splitlines()[frame.line - 1].strip() for frame in load.chain
    ] == [
        "return *from * 2;",
        "tile[lane()] = twice(in + thread());",
    ]
    shared = [line for line in lines if line.space is MemorySpace.SHARED]
    assert [line.quantities[Metric.LDS_REQUESTS].value for line in shared] == [16, 16]
    facts = trace.modules[0].kernels["reverse"]
    assert facts.static_lds == 1024
    assert facts.static is not None and facts.static.vgprs > 0


def test_an_access_beyond_an_allocation_is_named_with_its_instruction(image: Path, tmp_path: Path) -> None:
    program = 'target = device(np.zeros(64, np.float32))\nlaunch("beyond", 1, 64, target)\n'
    done = launch(program, image, tmp_path)
    assert done.out + done.err and "status 700" in done.err
    assert "kernel beyond, code at 0x" in done.err
    assert "by 'global_store_dword" in done.err
    trace = Trace(done.records, cut_off=True)
    (fault,) = [one for one in trace.faults if one.kind == "out_of_bounds"]
    assert fault.site is not None
    place = trace.modules[0].sites[fault.site].locations[0]
    assert image.parent.joinpath("kernel.hip").read_text().splitlines()[place.line - 1].startswith("KERNEL void beyond")
    assert (fault.allocation_bytes, fault.address_offset) == (256, 256)


def test_code_for_another_chip_is_refused_by_its_name(tmp_path: Path) -> None:
    done = launch("", code_object("KERNEL void none() {}", "gfx1100", tmp_path), tmp_path)
    assert "it is for gfx1100, whose code cannot be executed; gfx90a, gfx942 and gfx950 can" in done.err
    assert done.returncode != 0


_WAITING = """
KERNEL void chain(int* turn, int* data) {
  if (lane() == 0) {  // each block waits for the one before it
    while (__hip_atomic_load(turn, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT) != group()) __builtin_amdgcn_s_sleep(1);
    data[0] = data[0] * 3 + group();
    __hip_atomic_store(turn, group() + 1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
  }
}
KERNEL void backwards(int* turn, int* data, int blocks) {
  if (lane() == 0) {  // or for the one after it
    while (__hip_atomic_load(turn, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) != blocks - 1 - group()) {}
    __hip_atomic_fetch_add(turn, 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  }
}
KERNEL void locked(int* lock, int* data) {
  if (lane() == 0) {
    for (int held = 1; held;) {
      held = 0;
      __hip_atomic_compare_exchange_strong(
          lock, &held, 1, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    }
    data[0] += 1;
    __hip_atomic_store(lock, 0, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
  }
}
KERNEL void handed(int* lock, int* data, int turns) {
  if (lane() != 0) return;
  for (int turn = 0; turn < turns; ++turn) {
    for (int held = 1; held;) {
      held = 0;
      __hip_atomic_compare_exchange_strong(
          lock, &held, 1, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    }
    data[0] += 1;
    __hip_atomic_store(lock, 0, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
  }
}
KERNEL void unlocked(int* data) {
  if (lane() == 0) data[0] += 1;
}
KERNEL void forever(int* flag, int* data) {
  while (__hip_atomic_load(flag, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) == 0) data[1] += 1;
}
"""


@pytest.fixture(scope="module", params=["gfx90a", "gfx942"])
def waiting(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return code_object(_WAITING, request.param, tmp_path_factory.mktemp("waiting"))


def test_blocks_that_wait_for_each_other_make_progress(waiting: Path, tmp_path: Path) -> None:
    program = """
turn, data = device(np.zeros(1, np.int32)), device(np.zeros(1, np.int32))
launch("chain", 20, 64, turn, data)
wanted = 0
for block in range(20):
    wanted = (wanted * 3 + block) % 2**32
assert int(host(data, np.empty(1, np.uint32))[0]) == wanted
turn = device(np.zeros(1, np.int32))
launch("backwards", 20, 64, turn, data, ctypes.c_int(20))
assert host(turn, np.empty(1, np.int32))[0] == 20
"""
    done = launch(program, waiting, tmp_path)
    assert done.returncode == 0, done.err
    trace = Trace(done.records)
    assert not trace.faults
    (load,) = [line for line in kernel_lines(trace, "backwards", waiting.parent) if line.access is AccessKind.LOAD]
    assert load.quantities[Metric.REQUESTS].value <= 20 * 21 / 2  # each value once: what is read again is not work


@pytest.mark.parametrize(("kernel", "races"), [("locked", 0), ("unlocked", 1)])
def test_a_race_between_blocks_is_told_from_a_lock(kernel: str, races: int, waiting: Path, tmp_path: Path) -> None:
    arguments = "lock, data" if kernel == "locked" else "data"
    program = f"""
lock, data = device(np.zeros(1, np.int32)), device(np.zeros(1, np.int32))
launch("{kernel}", 8, 64, {arguments})
"""
    done = launch(program, waiting, tmp_path)
    assert done.returncode == 0, done.err
    found = [fault for fault in Trace(done.records).faults if fault.kind in ("race", "unacquired")]
    assert bool(found) == bool(races), found


def test_a_release_that_another_block_interrupts_is_one(waiting: Path, tmp_path: Path) -> None:
    program = """
lock, data = device(np.zeros(1, np.int32)), device(np.zeros(1, np.int32))
launch("handed", 8, 64, lock, data, ctypes.c_int(100))
assert host(data, np.empty(1, np.int32))[0] == 800
"""
    done = launch(program, waiting, tmp_path, {"INTELLIPERF_PREEMPT": "random:1"})
    assert done.returncode == 0, done.err
    assert not Trace(done.records).faults


def test_an_endless_loop_ends_with_its_name(waiting: Path, tmp_path: Path) -> None:
    program = "data = device(np.zeros(2, np.int32))\nlaunch('forever', 2, 64, data, data)\n"
    done = launch(program, waiting, tmp_path)
    assert "status 702" in done.err
    assert [fault.kind for fault in Trace(done.records, cut_off=True).faults if fault.kind != "race"] == ["deadlock"]


_MINIS = """
KERNEL void widen(const int* in, float* out) {
  typedef float pair __attribute__((ext_vector_type(2)));
  int word = in[thread()];
  pair low = __builtin_amdgcn_cvt_pk_f32_fp8(word, 0), high = __builtin_amdgcn_cvt_pk_f32_bf8(word, 1);
  float* to = out + 6 * thread();
  to[0] = low.x, to[1] = low.y, to[2] = high.x, to[3] = high.y;
  to[4] = __builtin_amdgcn_cvt_f32_fp8(word, 1), to[5] = __builtin_amdgcn_cvt_f32_bf8(word, 2);
}
KERNEL void narrow(const float* in, int* out) {
  float a = in[thread()];
  int kept = __builtin_amdgcn_cvt_pk_fp8_f32(a, -a, 0x12345678, 0);
  out[thread()] = __builtin_amdgcn_cvt_pk_bf8_f32(a, -a, kept, 1);
}
"""
# The definition: every number by its bits, and the nearest of them with an even last bit where two are.
_MINIS_RUN = """
def numbers(mantissa, bias):
    found = []
    for byte in range(128):
        exponent, rest = byte >> mantissa, byte & (1 << mantissa) - 1
        found.append((rest + (exponent > 0) * 2.0 ** mantissa) * 2.0 ** (max(exponent, 1) - bias - mantissa))
    return np.array(found + [np.nan] + [-one for one in found[1:]])

e4m3, e5m2 = numbers(3, 8), numbers(2, 16)
words = np.random.default_rng(1).integers(0, 2 ** 32, 256, dtype=np.uint32)
bytes_ = words.view(np.uint8).reshape(256, 4)
source, target = device(words), device(np.zeros((256, 6), np.float32))
launch("widen", 4, 64, source, target)
wanted = np.stack([e4m3[bytes_[:, 0]], e4m3[bytes_[:, 1]], e5m2[bytes_[:, 2]], e5m2[bytes_[:, 3]],
                   e4m3[bytes_[:, 1]], e5m2[bytes_[:, 2]]], 1)
assert np.array_equal(host(target, np.empty((256, 6), np.float32)), wanted.astype(np.float32), equal_nan=True)

def nearest(value, table):
    if not abs(value) < np.inf:
        return 0x80
    distance = np.abs(table[:128] - abs(value))
    byte = min(range(128), key=lambda n: (distance[n], n & 1))
    beyond = abs(value) > (table[127] + (table[127] - table[126]) / 2)
    return 0x80 if beyond else byte | 0x80 * (value < 0 < byte)

halfway = [(table[n] + table[n + 1]) / 2 for table in (e4m3, e5m2) for n in (0, 1, 2, 7, 8, 60, 126)]
values = np.array([*halfway, 0.0, 1e-9, 250.0, 1e9, np.inf, np.nan, *(2.0 ** np.linspace(-18, 17, 108))], np.float32)
source, target = device(values), device(np.zeros(128, np.uint32))
launch("narrow", 2, 64, source, target)
found = host(target, np.zeros(128, np.uint32)).view(np.uint8).reshape(128, 4)
for value, (a, b, c, d) in zip(values.astype(float), found):
    wanted = nearest(value, e4m3), nearest(-value, e4m3), nearest(value, e5m2), nearest(-value, e5m2)
    assert (a, b, c, d) == wanted, (value, (a, b, c, d), wanted)
"""


def test_floats_of_eight_bits_are_converted_as_their_definition_says(tmp_path: Path) -> None:
    done = launch(_MINIS_RUN, code_object(_MINIS, "gfx942", tmp_path), tmp_path)
    assert done.returncode == 0, done.err
