"""Finds the compiler, says how to call it, and owns the cache directory.

The compiler is clang ≥ 19: the one inside the `ziglang` wheel first, then one on PATH;
`INTELLIPERF_CLANG` overrides both. Host code is compiled against the machine's own libstdc++
where a `g++` is installed, so that objects of a project's other compilers link with ours, and
against the wheel's libc++ where there is none.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import platform
import re
import shlex
import shutil
import tempfile
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from intelliperf.errors import ToolchainError
from intelliperf.processes.process import output_of
from intelliperf.processes.storage import cache_directory

MINIMUM_CLANG = 19
TRIPLE = "x86_64-unknown-linux-gnu"
# What zig's own libc and libc++ are built for; one spelling only, each new one costs a minute.
ZIG_TARGET = "x86_64-linux-gnu.2.31"
_PROBE_DEADLINE_S = 60.0
_ZIG_FIRST_USE_DEADLINE_S = 600.0
_PACKAGE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Toolchain:
    """How to call the compiler and the linkers; every field is an argv prefix or a list of flags."""

    clang: tuple[str, ...]  # accepts driver options and -cc1
    elf_linker: tuple[str, ...]  # ld.lld, for device objects
    host_linker: tuple[str, ...]  # C++ link driver with its standard library
    header_flags: tuple[str, ...]  # standard headers, for the clang driver
    version: str
    major: int
    standard_library: str  # "libstdc++" | "libc++"

    @property
    def identity(self) -> str:
        """Changes whenever compiled output may change."""
        return hashlib.sha256(repr((self.clang, self.header_flags, self.version)).encode()).hexdigest()[:16]

    def driver(self, plus_plus: bool = True) -> list[str]:
        """The start of a command line of clang's driver."""
        mode = ["--driver-mode=g++"] if plus_plus else ["--driver-mode=gcc"]
        return [*self.clang, *mode, f"--target={TRIPLE}", *self.header_flags]


def tool_environment() -> dict[str, str]:
    """What every compiler call needs in its environment: zig keeps its caches in ours."""
    zig = str(cache_directory() / "zig")
    variables = {"ZIG_LOCAL_CACHE_DIR": zig, "ZIG_GLOBAL_CACHE_DIR": zig, "LC_ALL": "C"}
    if "CPATH" in os.environ:  # ours in it are for compilers that no drop-in stands before
        places = os.environ["CPATH"].split(os.pathsep)
        variables["CPATH"] = os.pathsep.join(p for p in places if not Path(p).is_relative_to(shim_root()))
    return variables


def include_directory() -> Path:
    """Our stand-ins for the HIP and CUDA headers."""
    return _PACKAGE / "include"


def is_ours(file: str | Path) -> bool:
    """Whether a header is one of our stand-ins, for runtimes or libraries."""
    return Path(file).is_relative_to(include_directory()) or Path(file).is_relative_to(standins_directory())


def standins_directory() -> Path:
    """Our stand-ins for libraries made of headers, one folder each."""
    return _PACKAGE / "standins"


def store_output(path: Path, content: bytes) -> None:
    """Write a user's output file; devices such as /dev/null are written to, not replaced."""
    if path.exists() and not path.is_file():
        with path.open("wb") as out:
            out.write(content)
        return
    write_atomically(path, content)
    umask = os.umask(0)
    os.umask(umask)
    path.chmod(0o666 & ~umask)


def write_atomically(path: Path, content: bytes) -> None:
    """Write so that a concurrent reader sees the old file or the whole new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(content)
        Path(name).replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise


def host_processor() -> str:
    """The clang name of the newest x86-64 level that this machine runs with fused multiply-add."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace")
    except OSError:
        return "x86-64"
    found = re.search(r"^flags\s*:(.*)$", text, re.MULTILINE)
    flags = set(found[1].split()) if found else set()
    needed = {"avx2", "fma", "bmi1", "bmi2", "f16c", "movbe", "abm"}
    return "x86-64-v3" if needed <= flags else "x86-64"


@lru_cache(maxsize=1)
def find_toolchain() -> Toolchain:
    """The compiler of this machine. Raises `ToolchainError` that names the remedy."""
    if platform.machine() != "x86_64" or platform.system() != "Linux":
        raise ToolchainError(
            f"the emulator runs on x86-64 Linux only, this is {platform.system()} {platform.machine()}"
        )
    override = os.environ.get("INTELLIPERF_CLANG")
    if override:
        return _from_override(override)
    zig = _ziglang()
    if zig is not None:
        return _describe((str(zig), "clang"), zig)
    system = _system_clang()
    if system is None:
        raise ToolchainError(
            "no compiler: the ziglang package is missing and there is no clang 19 or newer on PATH; "
            "run: pip install ziglang==0.17.0 (or set INTELLIPERF_CLANG)"
        )
    return _describe((system,), None)


def _from_override(value: str) -> Toolchain:
    words = shlex.split(value)
    program = shutil.which(words[0]) if words else None
    if program is None:
        raise ToolchainError(f"INTELLIPERF_CLANG={value}: no such program")
    if Path(program).name == "zig":
        return _describe((program, "clang"), Path(program))
    return _describe((program, *words[1:]), None)


def _ziglang() -> Path | None:
    found = importlib.util.find_spec("ziglang")
    if found is None or found.origin is None:
        return None
    zig = Path(found.origin).parent / "zig"
    return zig if zig.exists() else None


def _system_clang() -> str | None:
    shims = shim_root()
    for name in ("clang", *(f"clang-{n}" for n in range(26, MINIMUM_CLANG - 1, -1))):
        for entry in os.environ.get("PATH", "").split(os.pathsep):
            candidate = Path(entry or ".") / name
            if shims in candidate.parents or not os.access(candidate, os.X_OK):
                continue
            if _version_of((str(candidate),))[1] >= MINIMUM_CLANG:
                return str(candidate)
    return None


def _version_of(clang: tuple[str, ...]) -> tuple[str, int]:
    """Asked once per compiler file and remembered: every compilation wants to know."""
    program = Path(clang[0]).resolve()
    if not _is_compiler_itself(program):
        return _ask_version(clang)
    known = program.stat()
    identity = repr((clang, str(program), known.st_mtime_ns, known.st_size, known.st_ino))
    memo = cache_directory() / f"version-{hashlib.sha256(identity.encode()).hexdigest()[:16]}"
    with contextlib.suppress(OSError, ValueError):
        version, major = memo.read_text(encoding="utf-8").splitlines()
        return version, int(major)
    version, number = _ask_version(clang)
    with contextlib.suppress(OSError):  # remembered next time, if the disk has room again
        write_atomically(memo, f"{version}\n{number}\n".encode())
    return version, number


def _is_compiler_itself(program: Path) -> bool:
    """Not a script or a compiler cache, behind which another compiler may appear unnoticed."""
    try:
        with program.open("rb") as content:
            return content.read(4) == b"\x7fELF" and ("clang" in program.name or program.name == "zig")
    except OSError:
        return False


def _ask_version(clang: tuple[str, ...]) -> tuple[str, int]:
    done, out, err = output_of([*clang, "--version"], _PROBE_DEADLINE_S, tool_environment())
    found = re.search(r"clang version (\d+)\S*", out)
    if not done.ok or not found:
        raise ToolchainError(f"{' '.join(clang)} --version: {done.describe()}: {(err or out).strip()[:200]}")
    return found[0], int(found[1])


def _describe(clang: tuple[str, ...], zig: Path | None) -> Toolchain:
    """Ask the compiler what it is; the answer is cached by the compiler's identity on disk."""
    version, major = _version_of(clang)
    if major < MINIMUM_CLANG:
        raise ToolchainError(f"{clang[0]} is {version}; clang {MINIMUM_CLANG} or newer is needed")
    gxx = _system_gxx()
    resource = _resource_directory(zig.resolve().parent / "lib" / "include" if zig else _own_headers(clang), major)
    if gxx is not None:
        headers: tuple[str, ...] = resource
        linker: tuple[str, ...] = (gxx,)
        library = "libstdc++"
    elif zig is not None:
        headers = _zig_header_flags(zig)
        linker = (str(zig), "c++", "-target", ZIG_TARGET)
        library = "libc++"
    else:
        headers, linker, library = resource, (*clang, "--driver-mode=g++"), "libstdc++"
    return Toolchain(
        clang=clang,
        elf_linker=_elf_linker(clang, zig),
        host_linker=linker,
        header_flags=headers,
        version=version,
        major=major,
        standard_library=library,
    )


def _elf_linker(clang: tuple[str, ...], zig: Path | None) -> tuple[str, ...]:
    if zig is not None:
        return (str(zig), "ld.lld")
    beside = Path(clang[0]).resolve().parent
    suffix = re.sub(r"^\D*", "", Path(clang[0]).name)
    for name in (f"ld.lld-{suffix}", "ld.lld", "ld"):
        program = shutil.which(name, path=f"{beside}{os.pathsep}{os.environ.get('PATH', '')}")
        if program:
            return (program,)
    raise ToolchainError("no linker: install lld or binutils, or pip install ziglang==0.17.0")


def _system_gxx() -> str | None:
    """The machine's g++ with its libstdc++ headers, unless told otherwise."""
    choice = os.environ.get("INTELLIPERF_STANDARD_LIBRARY", "")
    if choice == "libc++":
        return None
    shims = shim_root()
    for entry in os.environ.get("PATH", os.defpath).split(os.pathsep) + ["/usr/bin", "/usr/local/bin"]:
        candidate = Path(entry or ".") / "g++"
        if os.access(candidate, os.X_OK) and shims not in candidate.parents:
            return str(candidate) if _has_libstdcxx_headers() else None
    return None


def _has_libstdcxx_headers() -> bool:
    return any(Path("/usr/include/c++").glob("*/vector")) or any(Path("/usr/local/include/c++").glob("*/vector"))


def _own_headers(clang: tuple[str, ...]) -> Path:
    done, out, err = output_of([*clang, "-print-resource-dir"], _PROBE_DEADLINE_S, tool_environment())
    if not done.ok:
        raise ToolchainError(f"{' '.join(clang)} -print-resource-dir: {done.describe()}: {err.strip()[:200]}")
    return Path(out.strip()) / "include"


def _resource_directory(headers: Path, major: int) -> tuple[str, ...]:
    """clang's own headers where its driver looks, which zig keeps elsewhere; without those that assume a CUDA SDK."""
    stamp = hashlib.sha256(f"{headers}{headers.stat().st_mtime_ns}".encode()).hexdigest()[:8]
    directory = cache_directory() / f"resource-{major}-{stamp}"
    if not directory.exists():
        made = Path(tempfile.mkdtemp(prefix="resource-", dir=cache_directory()))
        (made / "include").mkdir()
        for entry in headers.iterdir():
            if entry.name != "cuda_wrappers":
                (made / "include" / entry.name).symlink_to(entry)
        try:
            made.rename(directory)
        except OSError:  # another process was faster
            shutil.rmtree(made)
    return ("-resource-dir", str(directory))


def _zig_header_flags(zig: Path) -> tuple[str, ...]:
    """Header search flags that zig itself would use for `ZIG_TARGET`, asked once and remembered."""
    stamp = hashlib.sha256(f"{zig}{zig.stat().st_mtime_ns}{ZIG_TARGET}".encode()).hexdigest()[:16]
    memo = cache_directory() / f"zig-headers-{stamp}"
    if not memo.exists():
        write_atomically(memo, "\n".join(_ask_zig_for_headers(zig)).encode())
    return tuple(memo.read_text(encoding="utf-8").splitlines())


def _ask_zig_for_headers(zig: Path) -> list[str]:
    with tempfile.TemporaryDirectory(prefix="intelliperf-") as name:
        source = Path(name) / "probe.cpp"
        source.write_text(f"int probe_{os.getpid()};\n", encoding="utf-8")
        done, _, err = output_of(
            [str(zig), "c++", "-target", ZIG_TARGET, "-c", str(source), "-o", str(source.with_suffix(".o"))],
            _ZIG_FIRST_USE_DEADLINE_S,
            {**tool_environment(), "ZIG_VERBOSE_CC": "1"},
        )
    lines = [line for line in err.splitlines() if " clang " in f" {line} "]
    if not done.ok or not lines:
        raise ToolchainError(f"zig c++ does not work: {done.describe()}: {err.strip()[-400:]}")
    return _header_words(shlex.split(lines[0]))


def _header_words(words: list[str]) -> list[str]:
    kept: list[str] = []
    following = False
    for word in words:
        if following or word in ("-isystem", "-nostdinc", "-nostdinc++") or word.startswith(("-D_LIBC", "-D__GLIBC")):
            kept.append(word)
        following = word == "-isystem"
    return kept


def shim_root() -> Path:
    """Where the drop-in programs are materialised."""
    return cache_directory() / "shims"
