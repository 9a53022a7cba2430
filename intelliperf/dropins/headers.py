"""Where a GPU source's headers come from: the user's directories, ours, then the libraries made of headers.

As on a real machine the user's `-I` come first. Of a whole toolkit among them, and of the machine's, only what we lack
is shown, after ours, which stand in for its runtime; of its libraries (CUB, Thrust, libcu++, rocPRIM, hipCUB) the real
headers serve. Those come from the project's toolkit, from the `[cccl]` extra or from the machine's packages, in this
order; our stand-ins are the last resort, also for a source that the real headers refuse.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import math
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from intelliperf.dropins.toolchain import include_directory, standins_directory
from intelliperf.processes.storage import cache_directory

TOOLKITS_VARIABLE = "INTELLIPERF_TOOLKITS"  # roots that the user's environment named before ours took their place
_TOOLKIT_MARKS = ("crt/host_config.h", "hip/hip_version.h", "hip/amd_detail/host_defines.h")
_RUNTIME_HEADERS = ("cuda_runtime_api.h", "driver_types.h", "vector_types.h")  # together: of a wheel, which has no crt
_INTERNAL = "crt"  # what the runtime's own headers are made of
STANDINS_VARIABLE = "INTELLIPERF_STANDINS"  # 1: no real library is looked for
_MACHINE_ROOTS = {"cuda": ("/usr/local/cuda",), "hip": ("/opt/rocm",)}
_SYSTEM_DIRECTORIES = ("/usr/include", "/usr/local/include")
_INCLUDED_FOLDER = re.compile(rb"^[ \t]*#[ \t]*include[ \t]*[<\"](?:\.\./|\./)*(\w+)/", re.MULTILINE)
_DIRECTORY_FLAGS = ("-I", "-isystem", "-iquote", "-idirafter")


@dataclass(frozen=True)
class Library:
    """A library made of headers, in one language."""

    name: str  # as its makers write it
    language: str
    mark: str  # a header that only the real one has at this place, with the version in it
    version: str  # pattern of a number of the version in that header; several give several parts
    folders: tuple[str, ...]  # top-level folders of its headers
    standins: tuple[str, ...]  # ours in its place, below `standins_directory`


@dataclass(frozen=True)
class Found:
    """Where a library comes from in this build."""

    package: Library
    directory: Path | None  # None: our stand-in
    version: str = ""

    @property
    def folders(self) -> tuple[str, ...]:
        return self.package.folders

    @property
    def places(self) -> tuple[str, ...]:
        """The folders that its headers are in."""
        if self.directory is None:
            return tuple(f"{standins_directory() / name}/" for name in self.package.standins)
        return tuple(f"{self.directory / folder}/" for folder in self.package.folders)

    def serves(self, dependencies: Iterable[str]) -> bool:
        """Whether any of these files is one of its headers."""
        places = self.places
        return any(file.startswith(places) for file in dependencies)

    def is_in(self, message: str) -> bool:
        """Whether a compiler's message mentions a real one's files or names."""
        mentions = (*self.places, *(f"{folder}{mark}" for folder in self.package.folders for mark in ("::", "/", "'")))
        return self.directory is not None and any(mention in message for mention in mentions)

    def __str__(self) -> str:
        if self.directory is None:
            return f"{self.package.name} (stand-in: counts and time are not the library's)"
        return f"{self.package.name} {self.version} ({self.directory})"


LIBRARIES = (
    Library(
        "CCCL", "cuda", "thrust/version.h", r"#\s*define\s+THRUST_VERSION\s+(\d+)", ("cub", "thrust", "cuda", "nv"),
        ("cub", "thrust", "libcudacxx"),
    ),
    Library(
        "rocPRIM", "hip", "rocprim/rocprim_version.hpp", r"#\s*define\s+ROCPRIM_VERSION\s+(.+)", ("rocprim",),
        ("rocprim",),
    ),
    Library(
        "hipCUB", "hip", "hipcub/backend/rocprim/hipcub.hpp", "", ("hipcub",), ("hipcub", "cub"),
    ),
    Library(
        "rocThrust", "hip", "thrust/rocthrust_version.hpp", r"#\s*define\s+ROCTHRUST_VERSION\s+(.+)", ("thrust",),
        ("thrust",),
    ),
    Library("libcu++", "hip", "libhipcxx/version", "", ("cuda",), ("libcudacxx",)),
)  # fmt: skip


def search_order(language: str, flags: Sequence[str], directory: Path, standins: bool = False) -> list[str]:
    """`flags` without the directories of whole toolkits, then ours, what these have besides, and the libraries.

    With `standins` no real library is used, but what the user's own directories have.
    """
    kept, toolkits = _part(flags, directory)
    places = [
        include_directory(),
        *_further_headers(language, tuple(toolkits), os.environ.get(TOOLKITS_VARIABLE, "")),
        *header_directories(language, () if standins else tuple(toolkits), standins),
    ]
    return [*kept, *(word for place in dict.fromkeys(map(str, places)) for word in ("-isystem", place))]


def libraries_of(language: str, flags: Sequence[str], directory: Path, standins: bool = False) -> tuple[Found, ...]:
    """Where the libraries come from in a compilation with these flags."""
    return find_libraries(language, () if standins else tuple(_part(flags, directory)[1]), standins)


def named_libraries(found: Iterable[Found], dependencies: Sequence[str], directory: Path) -> list[Found]:
    """Those that serve a source, without stand-ins that only other stand-ins include: ours are made of each other."""
    serving = [where for where in found if where.serves(dependencies)]
    standins = [where for where in serving if where.directory is None]
    if not standins:
        return serving
    own = (f"{standins_directory()}/", f"{include_directory()}/", "/usr/lib/", "/usr/include/c++/")
    texts = ((directory / file).read_bytes() for file in dependencies if not file.startswith(own))
    named = {match.decode() for text in texts for match in _INCLUDED_FOLDER.findall(text)}
    wanted = [where for where in standins if named.intersection(where.folders)] or standins
    return [where for where in serving if where.directory is not None or where in wanted]


def _part(flags: Sequence[str], directory: Path) -> tuple[list[str], list[Path]]:
    """The flags without those that name a whole toolkit's headers, and these directories."""
    kept: list[str] = []
    toolkits: list[Path] = []
    pending = iter(flags)
    for flag in pending:
        name, value = next(((n, flag[len(n) :]) for n in _DIRECTORY_FLAGS if flag.startswith(n)), ("", ""))
        words = [flag]
        if name and not value:
            value = next(pending, "")
            words.append(value)
        if name and os.path.normpath(directory / value) in _SYSTEM_DIRECTORIES:
            continue  # they are searched anyway, and in their own place, as GCC has it
        if name and is_toolkit(directory / value):
            if not (directory / value / "simt").exists():  # ours, by a root that serves both languages
                toolkits.append(directory / value)
        else:
            kept += words
    return kept, toolkits


@lru_cache(maxsize=256)
def is_toolkit(directory: Path) -> bool:
    """Whether a directory holds the headers of a CUDA or HIP runtime, theirs or ours."""
    if any((directory / mark).is_file() for mark in _TOOLKIT_MARKS):
        return True
    return all((directory / name).is_file() for name in _RUNTIME_HEADERS)


@lru_cache(maxsize=16)
def _further_headers(language: str, toolkits: tuple[Path, ...], named: str) -> tuple[Path, ...]:
    """Directories with what toolkits have that neither we nor the libraries have: such as headers of cuSOLVER or CUPTI.

    In one of their own, for a header looks for those that it names beside itself first: there it would find the
    runtime's types once more.
    """
    roots = [root for root in named.split(os.pathsep) if root]
    known = [Path(root) / "include" for root in (*roots, *_MACHINE_ROOTS[language])]
    whole = [
        place for place in known if is_toolkit(place) and not any((place / n).exists() for n in ("simt", "stdlib.h"))
    ]
    further = {place: _lacked(place) for place in (*toolkits, *whole)}
    return tuple(_links(place, names) for place, names in further.items() if names)


def _lacked(place: Path) -> list[str]:
    """What a toolkit's directory has, or folders in it, that neither we nor the libraries have."""
    others = {_INTERNAL, "cccl", *(folder for library in LIBRARIES for folder in library.folders)}
    found = []
    for entry in sorted(place.iterdir()):
        own = include_directory() / entry.name
        if entry.is_dir() and own.is_dir() and entry.name not in others:
            found += [f"{entry.name}/{file.name}" for file in sorted(entry.iterdir()) if not (own / file.name).exists()]
        elif not own.exists() and entry.name not in others:
            found.append(entry.name)
    return found


def header_directories(language: str, toolkits: tuple[Path, ...] = (), standins: bool = False) -> list[Path]:
    """Directories behind ours, for the libraries of `language`: each real one, then the stand-ins of the others."""
    found = find_libraries(language, toolkits, standins)
    real = [where.directory for where in found if where.directory is not None]
    ours = [
        standins_directory() / name for where in found if where.directory is None for name in where.package.standins
    ]
    return [*real, *ours]


def find_libraries(language: str, toolkits: tuple[Path, ...] = (), standins: bool = False) -> tuple[Found, ...]:
    """Where each library of `language` comes from."""
    named = os.environ.get(TOOLKITS_VARIABLE, "")
    return _look_for(language, toolkits, named, standins or os.environ.get(STANDINS_VARIABLE) == "1")


@lru_cache(maxsize=16)
def _look_for(language: str, toolkits: tuple[Path, ...], named: str, standins: bool) -> tuple[Found, ...]:
    libraries = [library for library in LIBRARIES if library.language == language]
    if standins:
        return tuple(Found(library, None) for library in libraries)
    places = [*toolkits, *_candidates(language, named)]
    return tuple(_find(library, places) for library in libraries)


def _find(library: Library, places: Sequence[Path]) -> Found:
    for place in places:
        mark = place / library.mark
        if (place / "simt").exists() or not mark.is_file():  # ours, or a folder with ours in it
            continue
        if not all((place / folder).is_dir() for folder in library.folders):
            continue  # half of it is missing
        version = version_of(library, mark.read_text(encoding="utf-8", errors="replace"))
        if version is not None:
            return Found(library, _alone(place, library.folders), version)
    return Found(library, None)


def version_of(library: Library, text: str) -> str | None:
    """The version that a library's header tells, "2.8.2"; empty where it tells none by itself, None if it is broken."""
    if not library.version:
        return ""
    found = re.search(library.version, text)
    if found is None:
        return None
    # ROCm writes "2 * 100000 + 10 * 100 + 9".
    parts = [re.findall(r"\d+", part) for part in found[1].split("+")]
    number = sum(math.prod(map(int, factors)) for factors in parts if factors)
    return f"{number // 100000}.{number // 100 % 1000}.{number % 100}"


def _alone(place: Path, folders: Sequence[str]) -> Path:
    """A directory with nothing but these folders of `place`: what else is beside them is not to be found there."""
    if not (place / "stdlib.h").exists() and not is_toolkit(place):
        return place
    return _links(place, folders)


def _links(place: Path, names: Sequence[str]) -> Path:
    """A directory of links to these entries of `place`."""
    digest = hashlib.sha256(repr((str(place), tuple(names))).encode()).hexdigest()[:12]
    directory = cache_directory() / "libraries" / digest
    for name in names:
        link = directory / name
        if not link.is_symlink():
            link.parent.mkdir(parents=True, exist_ok=True)
            with contextlib.suppress(FileExistsError):  # another process was faster
                link.symlink_to(place / name)
    return directory


def _candidates(language: str, named: str) -> Iterator[Path]:
    """The toolkits that the environment names, the extra, the machine's toolkit and packages."""
    yield from _toolkit_places(root for root in named.split(os.pathsep) if root)
    if language == "cuda":
        yield from _extra()
    yield from _toolkit_places(_MACHINE_ROOTS[language])
    yield Path("/usr/include")


def _toolkit_places(roots: Iterable[str]) -> Iterator[Path]:
    for root in roots:
        yield Path(root) / "include"
        yield Path(root) / "include" / "cccl"  # since CUDA 13


def _extra() -> Iterator[Path]:
    """The headers of NVIDIA's wheels: `nvidia-cuda-cccl-cu12` and, from CUDA 13 on, `nvidia-cuda-cccl`."""
    spec = importlib.util.find_spec("nvidia")
    for place in spec.submodule_search_locations or () if spec else ():
        for pattern in ("cuda_cccl/include", "cu*/include/cccl"):
            yield from sorted(Path(place).glob(pattern), reverse=True)
