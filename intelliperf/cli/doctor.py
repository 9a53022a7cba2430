"""`intelliperf doctor`: what is there, what is missing, the command that fixes it, and one kernel run for real."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from intelliperf import __version__
from intelliperf.cli.view import show
from intelliperf.errors import IntelliPerfError


class Health(Enum):
    GOOD = "ok"
    OPTIONAL = "--"  # absent, and only wanted for something extra
    BAD = "!!"


@dataclass(frozen=True)
class Observation:
    """One line of the examination; `remedy` is the command or step that fixes it."""

    subject: str
    state: Health
    detail: str
    remedy: str = ""


# Threads add 1 to one of two counters: with one, the real compiler would let one lane add for its wave.
SELF_TEST = """#include <hip/hip_runtime.h>
#include <cstdio>
__global__ void probe(const float* in, float* out, int* counter) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = 2.0f * in[i];
  atomicAdd(counter + i % 2, 1);
}
int main() {
  const int n = 1024;
  float host[n], *in, *out;
  int total[2] = {0, 0}, *counter;
  for (int i = 0; i < n; i++) host[i] = i;
  hipMalloc((void**)&in, sizeof host);
  hipMalloc((void**)&out, sizeof host);
  hipMalloc((void**)&counter, sizeof total);
  hipMemcpy(in, host, sizeof host, hipMemcpyHostToDevice);
  hipMemset(counter, 0, sizeof total);
  probe<<<n / 256, 256>>>(in, out, counter);
  hipMemcpy(host, out, sizeof host, hipMemcpyDeviceToHost);
  hipMemcpy(total, counter, sizeof total, hipMemcpyDeviceToHost);
  for (int i = 0; i < n; i++) if (host[i] != 2.0f * i) return 2;
  return total[0] == n / 2 && total[1] == n / 2 ? 0 : 3;
}
"""
SELF_TEST_THREADS = 1024
_CACHE_BYTES = 1 << 30


def examine() -> int:
    """Print every observation. Returns 0 where the main job can run, 1 where it cannot."""
    print(f"intelliperf {__version__}, Python {sys.version.split()[0]} at {sys.executable}")
    bad = False
    for look in _LOOKS:
        for seen in _observed(look):
            bad |= seen.state is Health.BAD
            show(f"[{seen.state.value}] {seen.subject}: {seen.detail}\n", sys.stdout, headline=False)
            if seen.remedy and seen.state is not Health.GOOD:
                show(f"     remedy: {seen.remedy}\n", sys.stdout, headline=False)
            sys.stdout.flush()
    print("not ready: see the lines marked !!" if bad else "ready: intelliperf -- ./app")
    return 1 if bad else 0


def _observed(look: Callable[[], Iterator[Observation]]) -> Iterator[Observation]:
    """What is wrong in one place must not hide the rest."""
    try:
        yield from look()
    except (IntelliPerfError, OSError) as error:
        yield Observation(look.__name__.strip("_").replace("_", "-"), Health.BAD, str(error))


def _cache() -> Iterator[Observation]:
    from intelliperf.processes.storage import cache_directory

    cache = cache_directory()
    free = shutil.disk_usage(cache).free
    state = Health.GOOD if free > _CACHE_BYTES else Health.BAD
    yield Observation(
        "cache", state, f"{cache}, {free / 2**30:.1f} GiB free", "free 1 GiB, or set XDG_CACHE_HOME to a larger disk"
    )


def _compiler() -> Iterator[Observation]:
    from intelliperf.dropins.toolchain import find_toolchain

    found = find_toolchain()
    yield Observation("compiler", Health.GOOD, f"{found.version}, host code with {found.standard_library}")


def _sandbox() -> Iterator[Observation]:
    from intelliperf.processes.sandbox import Sandbox
    from intelliperf.records import CheckStatus

    with tempfile.TemporaryDirectory(prefix="intelliperf-") as name:
        check = Sandbox.probe(Path(name)).check()
    state = Health.GOOD if check.status is CheckStatus.PASSED else Health.OPTIONAL
    yield Observation(
        "sandbox", state, check.detail or check.status.value, "allow unprivileged user namespaces to confine candidates"
    )


def _tools() -> Iterator[Observation]:
    for tool, purpose in (
        ("git", "patches of git projects"),
        ("make", "Makefile projects"),
        ("cmake", "CMake projects"),
    ):
        found = shutil.which(tool)
        yield Observation(
            tool,
            Health.GOOD if found else Health.OPTIONAL,
            found or f"not on PATH; wanted for {purpose}",
            f"install {tool}",
        )


def _keys() -> Iterator[Observation]:
    from intelliperf.codegen.providers import PROVIDERS

    names = sorted({key for provider in PROVIDERS.values() for key in provider.keys if os.environ.get(key)})
    detail = f"keys in the environment: {', '.join(names)}" if names else "no key in the environment; rules need none"
    yield Observation(
        "models", Health.GOOD if names else Health.OPTIONAL, detail, "export OPENAI_API_KEY=… or --api-base"
    )


def _nvidia() -> Iterator[Observation]:
    """What `--backend cuda` needs; nothing is missed on a machine without an NVIDIA GPU."""
    from intelliperf.cuda import driver_api, native, toolkit
    from intelliperf.profiling.ncu import find_ncu

    try:
        name = driver_api.device_name()
    except IntelliPerfError as error:
        yield Observation("NVIDIA GPU", Health.OPTIONAL, str(error))
        return
    version = ".".join(map(str, driver_api.driver_version()))
    yield Observation("NVIDIA GPU", Health.GOOD, f"{name}, driver for CUDA {version}")

    def found(subject: str, look: Callable[[], object], purpose: str) -> Observation:
        try:
            return Observation(subject, Health.GOOD, str(look()))
        except IntelliPerfError as error:
            return Observation(subject, Health.OPTIONAL, f"{error}; wanted for {purpose}")

    yield found("CUDA toolkit", lambda: toolkit.find_toolkit().nvcc, "--backend cuda")
    yield found("CUPTI library", native.injection_library, "device time and interception")
    yield found("Nsight Compute", lambda: find_ncu().program, "counters and source lines")
    sanitizer = toolkit.find_toolkit().tool("compute-sanitizer") if shutil.which("nvcc") else None
    yield Observation(
        "compute-sanitizer",
        Health.GOOD if sanitizer else Health.OPTIONAL,
        str(sanitizer or "not found; wanted for races and accesses out of bounds"),
        "install compute-sanitizer, part of the CUDA toolkit",
    )


def _self_test() -> Iterator[Observation]:
    from intelliperf.backends import BACKENDS, Manner
    from intelliperf.emulator.native import FIRST_USE, runtime_is_ready
    from intelliperf.processes.sandbox import UNCONFINED
    from intelliperf.project.scratch import Workspace
    from intelliperf.records import Application, Metric

    if not runtime_is_ready():
        print(f"     {FIRST_USE}", flush=True)
    with tempfile.TemporaryDirectory(prefix="intelliperf-") as name:
        root = Path(name)
        (root / "source").mkdir()
        (root / "source" / "probe.hip").write_text(SELF_TEST)
        build = (("hipcc", "-O2", "-o", "probe", "probe.hip"),)
        application = Application(("./probe",), root / "source", root / "source", build)
        backend = BACKENDS["emulator"](root / "device", None, UNCONFINED, Manner())
        try:
            workspace = Workspace.create(application, root / "work")
            built = workspace.build(backend.build_environment(), 300.0, root / "logs")
            if not built.ok:
                yield Observation("self-test", Health.BAD, f"the probe does not build: {'; '.join(built.errors)}")
                return
            (profile,) = backend.profile(workspace.application, 60.0).kernels
        except IntelliPerfError as error:
            yield Observation("self-test", Health.BAD, str(error))
            return
        lanes = profile.quantity(Metric.ATOMIC_LANES).value
        good = lanes == SELF_TEST_THREADS
        detail = f"one kernel built, run and counted: {lanes:,.0f} atomic lanes of {SELF_TEST_THREADS:,}"
        yield Observation("self-test", Health.GOOD if good else Health.BAD, detail)


_LOOKS: tuple[Callable[[], Iterator[Observation]], ...] = (
    _cache,
    _compiler,
    _sandbox,
    _tools,
    _keys,
    _nvidia,
    _self_test,
)
