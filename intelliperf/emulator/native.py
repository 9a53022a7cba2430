"""The runtime library that stands in for the HIP and CUDA runtimes: as it came with the package, or built once.

The sources are part of the package, and so is the library where the package was installed from a wheel
(`build_shipped`). Where the two do not belong together, or none was shipped, it is built and kept in the cache
directory under a hash of the compiler, the flags and every source; objects are kept by their own hashes, so
that an edit rebuilds little. Several processes may ask at once: one builds, the others wait.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from intelliperf.counting import NATIVE
from intelliperf.dropins.toolchain import (
    Toolchain,
    find_toolchain,
    host_processor,
    include_directory,
    tool_environment,
)
from intelliperf.errors import StorageFull, ToolchainError
from intelliperf.interception.building import PROTOCOL
from intelliperf.interception.precompiling import with_precompiled
from intelliperf.processes.process import output_of
from intelliperf.processes.storage import cache_directory, write_atomically

LIBRARY_NAME = "libintelliperf_simt.so"
FIRST_USE = "the emulator's runtime is compiled first, once for this version: one to two minutes on two cores"
SHIPPED = Path(__file__).resolve().parent / "shipped"  # filled where a wheel is built, see packaging.py
_MANIFEST = "manifest.json"
_COMPILE_DEADLINE_S = 300.0
_LINK_DEADLINE_S = 600.0  # zig builds its C++ library at the first link
_PACKAGE = Path(__file__).resolve().parents[1]
_SOURCES = Path(__file__).resolve().parent / "runtime"
_MACHINE = Path(__file__).resolve().parent / "machine"
_PLACES = (_SOURCES, _MACHINE, PROTOCOL, NATIVE)
_COMPILE_FLAGS = (
    "-std=c++17",
    "-g1",
    "-fPIC",
    "-pthread",
    "-fvisibility=hidden",
    "-fno-exceptions",
    "-fno-rtti",
    "-fcf-protection=none",  # lanes switch stacks by hand
    "-Wall",
    "-Wextra",
)
_MACHINE_FLAGS = (  # instructions of a GPU: their rounding is the one of the mode, and what stops a wave is thrown
    "-fexceptions",
    "-ffp-contract=off",
    "-frounding-math",
    "-fno-strict-aliasing",
)
_FAST, _PLAIN = "-O3", "-O1"  # what runs once for each call of the host is compiled in half the time
_API_HEADERS = (  # what the sources include of the application's headers
    "cuda.h",
    "cuda_runtime_api.h",
    "driver_types.h",
    "hip/hip_runtime_api.h",
    "simt/blas_functions.h",
    "simt/driver_api.h",
    "simt/driver_arrays.h",
    "simt/host_attributes.h",
    "simt/host_errors.h",
    "simt/host_functions.h",
    "simt/host_functions_cuda.h",
    "simt/host_functions_hip.h",
    "simt/host_random.h",
    "simt/host_templates.h",
    "simt/host_types.h",
    "simt/host_unsupported.h",
    "simt/host_unsupported_cuda.h",
    "simt/host_unsupported_hip.h",
    "simt/linkage.h",
    "simt/nvml_functions.h",
    "simt/graph_types.h",
    "simt/texture_types.h",
    "simt/vector_types.h",
)
_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"\n]+)[>"]', re.MULTILINE)
_LINK_FLAGS = ("-shared", "-pthread", f"-Wl,-soname,{LIBRARY_NAME}", "-Wl,-z,defs", "-ldl", "-lrt")


@lru_cache(maxsize=1)
def runtime_library() -> Path:
    """The shared library, built if need be. Raises `ToolchainError` with the compiler's words."""
    toolchain = find_toolchain()
    known = _directory() / f"of-{_state_of_sources(toolchain)}"
    with contextlib.suppress(OSError):
        library = _directory() / known.read_text(encoding="utf-8") / LIBRARY_NAME
        if library.exists():
            return library
    files = _read_sources()
    library = _shipped_library(files) or _library_of(toolchain, files)
    with contextlib.suppress(StorageFull):  # remembered next time, if the disk has room again
        write_atomically(known, str(library.parent).encode())
    return library


def runtime_is_ready() -> bool:
    """Whether `runtime_library` returns at once; False where it would compile for a while."""
    toolchain = find_toolchain()
    with contextlib.suppress(OSError):
        known = _directory() / f"of-{_state_of_sources(toolchain)}"
        return (_directory() / known.read_text(encoding="utf-8") / LIBRARY_NAME).exists()
    files = _read_sources()
    objects = _objects(toolchain, files, host_processor()).values()
    return _shipped_library(files) is not None or _linked(objects, files).exists()


def build_shipped(processors: Sequence[str]) -> list[Path]:
    """Builds the library for each processor (clang's names) into the package, for a wheel; with a manifest of hashes.

    Raises `ToolchainError` with the compiler's words.
    """
    toolchain, files = find_toolchain(), _read_sources()
    made, manifest = [], {"sources": _digest([], files)}
    for processor in processors:
        built = _library_of(toolchain, files, processor)
        shipped = SHIPPED / processor / LIBRARY_NAME
        shipped.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(built, shipped)
        manifest[processor] = hashlib.sha256(shipped.read_bytes()).hexdigest()
        made.append(shipped)
    listed = SHIPPED / _MANIFEST
    listed.write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
    return [*made, listed]


def _shipped_library(files: dict[str, bytes]) -> Path | None:
    """The one that came with the package, if it is of these sources, for this machine, and whole."""
    try:
        manifest = json.loads((SHIPPED / _MANIFEST).read_text(encoding="utf-8"))
        library = SHIPPED / host_processor() / LIBRARY_NAME
        whole = hashlib.sha256(library.read_bytes()).hexdigest() == manifest.get(host_processor())
    except (OSError, ValueError):
        return None
    return library if whole and manifest.get("sources") == _digest([], files) else None


def _library_of(toolchain: Toolchain, files: dict[str, bytes], processor: str | None = None) -> Path:
    processor = processor or host_processor()
    objects = _objects(toolchain, files, processor)
    library = _linked(objects.values(), files)
    if not library.exists():
        library.parent.mkdir(parents=True, exist_ok=True)
        with _locked(library.parent / "lock"):  # other versions and processors are built meanwhile
            if not library.exists():
                _build(toolchain, files, objects, library, processor)
    return library


def runtime_objects() -> dict[str, Path]:
    """The object files that `runtime_library` is linked from, by the name of their source without its ending."""
    toolchain, files = find_toolchain(), _read_sources()
    _library_of(toolchain, files)
    objects = _objects(toolchain, files, host_processor())
    return {Path(source).stem: path for source, path in objects.items()}


def _directory() -> Path:
    return cache_directory() / "runtime"


def _linked(objects: Iterable[Path], files: dict[str, bytes]) -> Path:
    """What is linked from these objects and exports what the maps among the files say."""
    maps = {name: content for name, content in files.items() if name.endswith(".map")}
    return _directory() / _digest([path.name for path in objects], maps) / LIBRARY_NAME


def _objects(toolchain: Toolchain, files: dict[str, bytes], processor: str) -> dict[str, Path]:
    """Where the object of each source is kept, whether it is there or not: by that and what it may include."""
    settings = _settings(toolchain, processor)
    included = {name: _included(content, files) for name, content in files.items()}
    return {
        name: _directory() / "objects" / f"{Path(name).stem}-{_digest(settings, _closure(name, included, files))}.o"
        for name in sorted(files)
        if name.endswith(".cpp")
    }


def _included(content: bytes, files: dict[str, bytes]) -> list[str]:
    """Files of the build that the includes in a text may mean: every one whose path ends so."""
    wanted = {match[1].decode() for match in _INCLUDE.finditer(content)}
    return [name for name in files if any(f"/{name}".endswith(f"/{end}") for end in wanted)]


def _closure(name: str, included: dict[str, list[str]], files: dict[str, bytes]) -> dict[str, bytes]:
    reached, pending = {name}, [name]
    while pending:
        new = set(included[pending.pop()]) - reached
        reached |= new
        pending += new
    return {reach: files[reach] for reach in sorted(reached)}


def _settings(toolchain: Toolchain, processor: str) -> list[str]:
    return [
        *toolchain.host_linker,
        toolchain.identity,
        processor,
        *_COMPILE_FLAGS,
        _FAST,
        _PLAIN,
        *_MACHINE_FLAGS,
        *_LINK_FLAGS,
    ]


def _state_of_sources(toolchain: Toolchain) -> str:
    """Changes whenever a source may have changed; found without reading them, which takes a while."""
    known = [(str(path), path.stat()) for path in _sources()]
    states = [f"{path} {state.st_ctime_ns} {state.st_mtime_ns} {state.st_size} {state.st_ino}" for path, state in known]
    return _digest([*_settings(toolchain, host_processor()), *states], {})


def _sources() -> list[Path]:
    found = [path for place in _PLACES for suffix in ("cpp", "h", "map") for path in place.glob(f"*.{suffix}")]
    if not any(path.parent == _SOURCES for path in found):
        raise ToolchainError(f"the runtime's sources are missing from {_SOURCES}; reinstall intelliperf")
    found += [include_directory() / name for name in _API_HEADERS]
    return sorted(found)


def _read_sources() -> dict[str, bytes]:
    """Every file of the build by its path in this package."""
    return {str(path.relative_to(_PACKAGE)): path.read_bytes() for path in _sources()}


def _digest(words: list[str], files: dict[str, bytes]) -> str:
    digest = hashlib.sha256("\0".join(words).encode())
    for name, content in files.items():
        digest.update(name.encode() + b"\0" + content)
    return digest.hexdigest()[:24]


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # released when the file is closed, on every way out
        yield


def _build(
    toolchain: Toolchain, files: dict[str, bytes], wanted: dict[str, Path], library: Path, processor: str
) -> None:
    """From a copy: what was hashed is what is compiled, whoever edits meanwhile."""
    from concurrent.futures import ThreadPoolExecutor  # hardly any process comes here

    (_directory() / "objects").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="sources-", dir=_directory()) as name:
        copy = Path(name)
        for path, content in files.items():
            (copy / path).parent.mkdir(parents=True, exist_ok=True)
            (copy / path).write_bytes(content)
        missing = [source for source, target in wanted.items() if not target.exists()]
        kinds = {flags: [one for one in missing if _flags_of(one) == flags] for flags in map(_flags_of, missing)}
        with ThreadPoolExecutor(max_workers=max(1, os.cpu_count() or 1)) as pool:
            compilers = pool.map(lambda kind: _compiler_of(toolchain, copy, kind, processor), kinds.items())
            of = dict(zip(kinds, compilers, strict=True))
            list(pool.map(lambda one: _compile(of[_flags_of(one)], copy / one, wanted[one]), missing))
        _link(toolchain, copy, [wanted[source] for source in sorted(wanted)], library)


def _flags_of(source: str) -> tuple[str, ...]:
    path = _PACKAGE / source
    if path.parent == _MACHINE:
        return (_FAST, *_MACHINE_FLAGS)
    return (_PLAIN if path.parent == _SOURCES and path.name.startswith("host_") else _FAST,)


def _compiler_of(
    toolchain: Toolchain, copy: Path, kind: tuple[tuple[str, ...], Sequence[str]], processor: str
) -> list[str]:
    """The command line, less its files, for sources that are compiled alike."""
    # zig's own front door looks into its cache first, which takes longer than compiling.
    compiler = toolchain.driver() if toolchain.standard_library == "libc++" else list(toolchain.host_linker)
    own, sources = kind
    flags = [f"-march={processor}", *_COMPILE_FLAGS, *own]
    flags += [f"-I{copy / folder.relative_to(_PACKAGE)}" for folder in (include_directory(), *_PLACES)]
    flags.append(f"-ffile-prefix-map={copy}={_PACKAGE}")
    paths = [copy / source for source in sources]
    return [*compiler, *with_precompiled(compiler, flags, paths, paths[0].parent, tool_environment())]


def _compile(compiler: Sequence[str], source: Path, into: Path) -> None:
    made = into.with_suffix(f".{os.getpid()}")
    argv = [*compiler, "-c", str(source), "-o", str(made)]
    _run(argv, _COMPILE_DEADLINE_S, f"compile the runtime's {source.name}")
    made.replace(into)


def _link(toolchain: Toolchain, copy: Path, objects: list[Path], library: Path) -> None:
    library.parent.mkdir(exist_ok=True)
    made = library.with_suffix(f".{os.getpid()}")
    exports = f"-Wl,--version-script={copy / _SOURCES.relative_to(_PACKAGE) / 'exports.map'}"
    argv = [*toolchain.host_linker, *map(str, objects), *_LINK_FLAGS, exports, "-o", str(made)]
    _run(argv, _LINK_DEADLINE_S, "link the runtime library")
    made.replace(library)


def _run(argv: list[str], deadline_s: float, purpose: str) -> None:
    done, out, err = output_of(argv, deadline_s, tool_environment())
    if not done.ok:
        raise ToolchainError(f"cannot {purpose}: {done.describe()}\n{(err or out).strip()[-4000:]}")
