"""The software gfx90a: a stand-in for the library below ROCr, built on first use, and what a process needs to use it.

A program finds the real HIP and ROCr of Debian, which find this device where the kernel driver would be.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path

import intelliperf
from intelliperf.dropins.toolchain import find_toolchain
from intelliperf.emulator.native import runtime_objects
from intelliperf.errors import ToolchainError
from intelliperf.processes.process import output_of
from intelliperf.processes.storage import cache_directory, write_atomically

PACKAGES = (
    "clang-19",
    "lld-19",
    "llvm-19",
    "llvm-19-dev",
    "clang-tools-19",
    "libclang-rt-19-dev",
    "rocm-device-libs",
    "libamdhip64-dev",
    "libamdhip64-5",
    "libhsa-runtime-dev",
    "libhsakmt-dev",
    "hipcc",
    "clang-15",
)
BITCODE = Path("/usr/lib/x86_64-linux-gnu/amdgcn/bitcode")
_LIBRARIES = Path("/usr/lib/x86_64-linux-gnu")
_LLVM = Path("/usr/lib/llvm-19")
_FILES = (
    Path("/usr/include/hsakmt.h"),
    Path("/usr/include/hsa/amd_hsa_queue.h"),
    Path("/usr/include/hip/hip_runtime.h"),
    _LIBRARIES / "libamdhip64.so.5.2.21153",
    _LIBRARIES / "libhsa-runtime64.so.1.5.0",
    _LLVM / "include/llvm-c/Disassembler.h",
    _LLVM / "include/llvm/Passes/PassPlugin.h",
    _LLVM / "bin/llvm-config",
    _LLVM / "lib/libLLVM-19.so",
    BITCODE / "ocml.bc",
)
_TOOLS = ("g++", "clang++-19", "ld.lld-19", "llvm-mc-19", "clang-offload-bundler-19", "hipcc", "clang++-15")
_NATIVE = Path(__file__).resolve().parent / "native"
_MACHINE = Path(intelliperf.__file__).parent / "emulator" / "machine"  # what executes instructions
_LIBRARY = "libhsakmt.so.1"
_LIBRARY_OF_ROCR_7 = "libdtif.so"  # what ROCr 7 loads in place of its own driver interface with HSA_ENABLE_DTIF
_PROBE = "gfx90a-probe"
_PROBE_SOURCE = "probe.cpp"
_PATIENT = "libgfx90a-patient.so"  # preloaded; see patient.cpp
_PATIENT_SOURCE = "patient.cpp"
_COMPILE_DEADLINE_S = 300.0
_FLAGS = (
    "-std=c++17",
    "-O2",
    "-ftree-vectorize",
    "-ffp-contract=off",
    "-frounding-math",
    "-fno-strict-aliasing",
    "-fPIC",
    "-pthread",
    "-fvisibility=hidden",
    "-Wall",
    "-Wextra",
    "-Werror",
    f"-I{_MACHINE}",
)
_LINK_FLAGS = ("-pthread", "-Wl,-z,defs")


def missing() -> str | None:
    """What this machine lacks to use the device, with the remedy; None where nothing is lacking."""
    absent = [str(path) for path in _FILES if not path.exists()]
    absent += [tool for tool in _TOOLS if shutil.which(tool) is None]
    if not absent:
        return None
    return f"{', '.join(absent)} missing; on Debian 12: apt-get install -y --no-install-recommends {' '.join(PACKAGES)}"


def build() -> Path:
    """The directory with the stand-in, to be first on LD_LIBRARY_PATH."""
    flags = (*_FLAGS, *_processor_flags())
    directory = cache_directory() / "gfx90a" / _digest(flags)
    if not (directory / _LIBRARY).exists():
        directory.parent.mkdir(parents=True, exist_ok=True)
        with _locked(directory.parent / "lock"):
            if not (directory / _LIBRARY).exists():
                _build_in(directory, flags)
    return directory


def probe() -> Path:
    """The program that runs single instructions on given registers; see `opcode_cases.py`."""
    return build() / _PROBE


def environment(counts: Path | None = None) -> dict[str, str]:
    """For a process that shall find the device; `counts` is a directory for one file per process."""
    found = dict(os.environ)
    place = build()
    paths = [str(place), *filter(None, [found.get("LD_LIBRARY_PATH")])]
    found["LD_LIBRARY_PATH"] = os.pathsep.join(paths)
    found["LD_PRELOAD"] = os.pathsep.join([str(place / _PATIENT), *filter(None, [found.get("LD_PRELOAD")])])
    found.pop("GFX90A_COUNTS", None)
    if counts is not None:
        counts.mkdir(parents=True, exist_ok=True)
        found["GFX90A_COUNTS"] = str(counts.resolve())
    return found


@lru_cache(maxsize=1)
def _processor_flags() -> tuple[str, ...]:
    """Vectors make the device several times as fast; nothing but speed depends on them."""
    names = Path("/proc/cpuinfo").read_text().split()
    return ("-march=x86-64-v3",) if {"avx2", "fma", "bmi2", "f16c"} <= set(names) else ()


def _compiler_version() -> str:
    """What g++ says; every program on the device asks, so that it is kept until the compiler changes."""
    compiler = shutil.which("g++")
    if compiler is None:
        raise ToolchainError("there is no g++ on PATH: install g++")
    real = Path(compiler).resolve()
    known = real.stat()
    key = hashlib.sha256(repr((compiler, str(real), known.st_mtime_ns, known.st_size)).encode()).hexdigest()[:24]
    kept = cache_directory() / "gfx90a" / f"compiler-{key}"
    with contextlib.suppress(OSError):
        return kept.read_text(encoding="utf-8")
    done, version, _ = output_of([compiler, "--version"], 30.0)
    if not done.ok:
        raise ToolchainError("g++ --version failed: install g++")
    kept.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(kept, version.encode())
    return version


def _digest(flags: tuple[str, ...]) -> str:
    digest = hashlib.sha256("\0".join([_compiler_version(), *flags]).encode())
    for path in sorted([*_NATIVE.iterdir(), *_MACHINE.iterdir()]):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:24]


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _build_in(directory: Path, flags: tuple[str, ...]) -> None:
    with tempfile.TemporaryDirectory(prefix="building-", dir=directory.parent) as name:
        place, finished = Path(name), Path(name) / "finished"
        finished.mkdir()
        objects = _of_the_runtime()
        sources = sorted({*_NATIVE.glob("*.cpp"), *_MACHINE.glob("*.cpp")} - set(objects))
        with ThreadPoolExecutor(os.cpu_count()) as workers:
            built = workers.map(lambda source: _compile(source, place, flags), sources)
            objects |= dict(zip(sources, built, strict=True))
        patient = objects.pop(_NATIVE / _PATIENT_SOURCE)
        _tool(["g++", "-shared", str(patient), "-o", str(finished / _PATIENT), *_LINK_FLAGS])
        _link(finished, [str(built) for source, built in objects.items() if source.name != _PROBE_SOURCE])
        (finished / _LIBRARY_OF_ROCR_7).symlink_to(_LIBRARY)
        _link_probe(finished, [str(built) for source, built in objects.items() if not source.name.startswith("thunk_")])
        finished.rename(directory)


def _of_the_runtime() -> dict[Path, Path]:
    """What executes instructions, by source, as in the emulator's runtime; nothing where that is built with libc++."""
    if find_toolchain().standard_library == "libc++":
        return {}
    made = runtime_objects()
    return {source: made[source.stem] for source in _MACHINE.glob("*.cpp")}


def _compile(source: Path, place: Path, flags: tuple[str, ...]) -> Path:
    built = place / f"{source.stem}.o"
    _tool(["g++", *flags, "-c", str(source), "-o", str(built)])
    return built


def _link(place: Path, objects: list[str]) -> None:
    interface = [f"-Wl,-soname,{_LIBRARY}", f"-Wl,--version-script={_NATIVE / 'hsakmt.map'}"]
    _tool(["g++", "-shared", *objects, "-o", str(place / _LIBRARY), *interface, *_LINK_FLAGS])


def _link_probe(place: Path, objects: list[str]) -> None:
    without_rocr = [path for path in objects if Path(path).stem != "sdma"]
    _tool(["g++", *without_rocr, "-o", str(place / _PROBE), *_LINK_FLAGS])


def _tool(argv: list[str]) -> None:
    done, out, err = output_of(argv, _COMPILE_DEADLINE_S)
    if not done.ok:
        raise ToolchainError(f"building the software gfx90a failed: {' '.join(argv)}\n{out}{err}")


def _main(what: list[str]) -> None:
    """For scripts: `packages` or `missing`."""
    if what == ["packages"]:
        print(" ".join(PACKAGES))
    elif what == ["missing"]:
        print(missing() or "")
    else:
        raise SystemExit("device.py packages|missing")


if __name__ == "__main__":
    _main(sys.argv[1:])
