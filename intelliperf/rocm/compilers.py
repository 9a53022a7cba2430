"""Which compiler a project's `hipcc` is: the one that PATH names, where it works, and what builds where none does."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path

from intelliperf.errors import ToolchainError
from intelliperf.processes.storage import cache_directory, write_atomically
from intelliperf.rocm.stack import roots

_LLVM_NEWEST, _LLVM_OLDEST = 24, 17
_OLD_OBJECTS_BELOW = 6  # HIP: releases that know no code object of version 5
_HIP_VERSION = re.compile(r"#define HIP_VERSION_MAJOR\s+(\d+)")
_CLANG_VERSION = re.compile(r"clang version (\d+)")
_COMPLAINT = re.compile(r"\berror\b|not found|no such|cannot", re.IGNORECASE)
_DEADLINE_S = 30.0
_TRIAL_DEADLINE_S = 120.0
_TRIAL = """#include <hip/hip_runtime.h>
__global__ void twice(float* at) { at[threadIdx.x] *= 2; }
int main() { return hipLaunchKernel(reinterpret_cast<const void*>(&twice), 1, 1, nullptr, 0, nullptr) != hipSuccess; }
"""
_AMD = {"HIP_PLATFORM": "amd"}


@dataclass(frozen=True)
class Compiler:
    """`words` start it; a complete hipcc needs nothing more, LLVM's clang is told how to build HIP.

    `instead`: why this builds in place of the hipcc that PATH names; "" where it is that one.
    """

    words: tuple[str, ...]
    complete: bool
    version: str
    instead: str = ""

    @property
    def clang(self) -> int | None:
        """The number of its LLVM."""
        found = _CLANG_VERSION.search(self.version)
        return int(found[1]) if found else None

    def describe(self) -> str:
        """For the report."""
        own = f"{self.words[0]} ({self.version})"
        return f"{own} builds in place of hipcc: {self.instead}" if self.instead else own


def as_text(compiler: Compiler) -> str:
    """For a variable of a build."""
    return json.dumps(asdict(compiler))


def from_text(text: str) -> Compiler:
    told = json.loads(text)
    return Compiler(tuple(told["words"]), told["complete"], told["version"], told["instead"])


@lru_cache(maxsize=8)
def find_compiler(architecture: str) -> Compiler:
    """The hipcc that PATH names, else one of ROCm's, else LLVM's clang with HIP's headers: the first that works.

    Raises `ToolchainError` where nothing builds HIP programs for `architecture`.
    """
    wrong: list[str] = []
    for found in _candidates():
        reason = why_it_fails(found, architecture)
        if not reason:
            instead = "; ".join(wrong) or ("" if found.complete else "there is no hipcc")
            return Compiler(found.words, found.complete, found.version, instead)
        wrong.append(f"{found.words[0]} builds no HIP program for {architecture} ({reason})")
    raise ToolchainError(
        f"{'; '.join(wrong) or 'nothing here builds HIP programs'}: install ROCm, or (Debian) "
        "apt-get install clang-19 lld-19 clang-tools-19 rocm-device-libs libamdhip64-dev"
    )


def _candidates() -> Iterator[Compiler]:
    seen: set[Path] = set()
    for hipcc in behind("hipcc"):
        if hipcc.resolve() not in seen:
            seen.add(hipcc.resolve())
            yield Compiler((str(hipcc),), True, version_of(hipcc))
    yield from clangs_for_hip()


def clang_within(hipcc: Compiler) -> Compiler:
    """The clang that a distribution's hipcc starts, where it is told apart by its number; else that hipcc.

    For builds that call clang themselves, as CMake does: hipcc unpacks every archive that it links.
    """
    for known in clangs_for_hip(hipcc.clang, hipcc.clang) if hipcc.complete and hipcc.clang is not None else ():
        if hipcc.version.endswith(known.version):
            return Compiler(
                (*known.words[:2], "--rocm-path=/usr", *known.words[2:]), False, known.version, hipcc.instead
            )
    return hipcc


def behind(name: str) -> list[Path]:
    """Programs of that name that are not ours: of PATH, then of ROCm's installations."""
    own = cache_directory() / "rocm"
    places = [Path(entry) / name for entry in os.get_exec_path()]
    installed = [root for root in roots() if root != Path("/usr")]
    places += [root / folder / name for root in installed for folder in ("bin", "llvm/bin", "lib/llvm/bin")]
    return [place for place in places if own not in place.parents and os.access(place, os.X_OK) and place.is_file()]


def clangs_for_hip(oldest: int = _LLVM_OLDEST, newest: int = _LLVM_NEWEST) -> Iterator[Compiler]:
    """Those of LLVM or a distribution, newest first, where HIP is installed."""
    header = Path("/usr/include/hip/hip_version.h")
    libraries = [place for place in Path("/usr/lib").glob("*/amdgcn/bitcode") if (place / "ocml.bc").exists()]
    if not header.exists() or not libraries:
        return
    major = _HIP_VERSION.search(header.read_text(errors="replace"))
    old = ["-mcode-object-version=4"] if major and int(major[1]) < _OLD_OBJECTS_BELOW else []
    for number in range(newest, oldest - 1, -1):
        for clang in behind(f"clang++-{number}")[:1]:
            yield Compiler((str(clang), f"--rocm-device-lib-path={libraries[0]}", *old), False, version_of(clang))


def why_it_fails(compiler: Compiler, architecture: str, more: Sequence[str] = ()) -> str:
    """ "" where it builds and links a program of one kernel; kept, since every run asks."""
    key = repr((compiler, architecture, tuple(more), stamp(Path(compiler.words[0])), _TRIAL))
    kept = cache_directory() / "rocm" / f"works-{hashlib.sha256(key.encode()).hexdigest()[:24]}"
    if kept.exists():
        return ""
    import tempfile  # as what follows, half of what a drop-in loads, and seldom needed

    from intelliperf.processes.process import output_of

    with tempfile.TemporaryDirectory(prefix="intelliperf-") as name:
        place = Path(name)
        (place / "trial.hip").write_text(_TRIAL)
        words = [*more, f"--offload-arch={architecture}", str(place / "trial.hip"), "-o", str(place / "trial")]
        argv = [*compiler.words, *(words if compiler.complete else for_clang(words))]
        done, out, err = output_of(argv, _TRIAL_DEADLINE_S, {**_AMD, "TMPDIR": name})
        if done.ok and (place / "trial").exists():
            kept.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(kept, b"")
            return ""
        said = [line.strip().replace(name, "") for line in (err + out).splitlines() if line.strip()]
    return next((line for line in said if _COMPLAINT.search(line)), (said or [done.describe()])[-1])


def stamp(program: Path) -> tuple[int, int]:
    """Another where the file was replaced."""
    known = program.stat()
    return known.st_mtime_ns, known.st_size


def version_of(program: Path) -> str:
    """In one line: HIP's and its clang's. Kept until the program changes."""
    try:
        key = repr((str(program), str(program.resolve()), stamp(program), os.environ.get("HIP_CLANG_PATH")))
    except OSError:
        return program.name
    memo = cache_directory() / "rocm" / f"version-{hashlib.sha256(key.encode()).hexdigest()[:24]}"
    with suppress(OSError):
        return memo.read_text(encoding="utf-8")
    from intelliperf.processes.process import output_of  # half of what a drop-in loads

    done, out, _ = output_of([str(program), "--version"], _DEADLINE_S, _AMD)
    lines = [line.strip() for line in out.splitlines()]
    told = [line for line in lines if "version" in line.lower() and not line.startswith("Installed")]
    if not done.ok or not lines:
        return program.name
    version = ", ".join(line.replace("HIP version:", "HIP") for line in told[:2]) or lines[0]
    memo.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(memo, version.encode())
    return version


_SOURCES = (".hip", ".cpp", ".cc", ".cxx", ".c++", ".cu", ".C")
_NOT_LINKED = {"-c", "-S", "-E", "-M", "-MM", "-fsyntax-only", "--genco", "--cuda-device-only"}
_TAKES_A_WORD = {"-o", "-x", "-I", "-D", "-U", "-L", "-l", "-include", "-isystem", "-MF", "-MT", "-MQ", "-Xlinker"}
# What hipcc adds of its own (hipcc.pl of ROCm 5 and 6): without it, other code is inlined.
_OF_HIPCC = ("-mllvm", "-amdgpu-early-inline-all=true", "-mllvm", "-amdgpu-function-calls=false")


def for_clang(words: Sequence[str], optimised: bool = True) -> list[str]:
    """What hipcc's driver makes of its arguments: sources are HIP, programs are linked with HIP's runtime.

    `optimised`: -O3 where nothing is told, and everything inlined early, as in hipcc.
    """
    done: list[str] = []
    language_given = any(word == "-x" or (word.startswith("-x") and len(word) > 2) for word in words)
    previous, compiles = "", False
    for word in words:
        source = previous not in _TAKES_A_WORD and not word.startswith("-") and word.endswith(_SOURCES)
        compiles |= source
        done += ["-x", "hip", word, "-x", "none"] if source and not language_given else [word]
        previous = word
    if optimised and not any(word.startswith("-O") for word in words):
        done.insert(0, "-O3")
    if optimised and compiles and "-O0" not in words:
        done = [*_OF_HIPCC, *done]
    if not _NOT_LINKED.intersection(words):
        done += ["--hip-link", "-lamdhip64"]
    return ["--cuda-device-only" if word == "--genco" else word for word in done]
