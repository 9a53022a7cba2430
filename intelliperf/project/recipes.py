"""How a program is built, where the user did not say: build files, then debug information, then one source.

A guess is never silent: the caller prints `Recipe.reason`. Nothing found is an error that shows the flag.
"""

from __future__ import annotations

import contextlib
import re
import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from intelliperf.errors import UsageError
from intelliperf.project.scratch import read_text

_COMPILERS = {".hip": "hipcc", ".cu": "nvcc"}
_HOST_SUFFIXES = {".cpp", ".cc", ".cxx"}
_HIP_MARK = re.compile(r"#\s*include\s*[<\"]hip/")
_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
_CMAKE_FILE, _MESON_FILE, _NINJA_FILE = "CMakeLists.txt", "meson.build", "build.ninja"
_PLACED = re.compile(r"RUNTIME_OUTPUT_DIRECTORY|EXECUTABLE_OUTPUT_PATH")  # programs elsewhere in the build tree
_MAX_SCANNED = 2000


@dataclass(frozen=True)
class Recipe:
    """Commands to run in the project directory, and why we believe in them."""

    commands: tuple[tuple[str, ...], ...]
    reason: str


def build_recipe(program: str, project: Path, directory: Path) -> Recipe:
    """The recipe for `program` (as typed, seen from `directory`). Raises `UsageError` when none is known."""
    target = (directory / program).resolve() if "/" in program else directory / program
    if is_python(program, directory) and (why := _nothing_to_build(project)):
        return Recipe((), why)
    ways: tuple[Callable[[Path, Path], Recipe | None], ...] = (_from_makefile, _from_cmake, _from_meson, _from_ninja)
    if _starts_another(program, target, project):
        # A script or interpreter: what it starts, and so what a compiler must make, is not to be seen.
        why = f"{program} starts something else, and how that is built cannot be told"
    else:
        ways = (*ways, _from_debug_information, _from_single_source)
        why = f"cannot tell how {program} is built"
    for way in ways:
        if (recipe := way(target, project)) is not None:
            return recipe
    raise UsageError(
        f"{why}: give the command with -b, as in "
        f"-b 'hipcc -O3 -o app source.hip', or put build_command in intelliperf.toml"
    )


_PYTHON = re.compile(r"(?:python|pypy)(?:\d+(?:\.\d+)*)?t?$")
_GPU_IMPORT = re.compile(r"^\s*(?:from\s+|import\s+(?:[^#\n]*,\s*)?)(?:triton|torch)\b", re.MULTILINE)


def is_python(program: str, directory: Path) -> bool:
    """Is `program` (as typed, seen from `directory`) a Python interpreter, or a script that one runs?"""
    named = str(directory / program) if "/" in program else shutil.which(program)
    if named is None:
        return False
    if _PYTHON.match(Path(program).name):
        return True
    with contextlib.suppress(OSError), Path(named).open("rb") as file:
        start = file.read(512).splitlines()[:2]
        # Where the interpreter's path is too long for a "#!" line, the shell reads it from the second.
        return any(
            _PYTHON.match(Path(word.decode("utf-8", "replace").strip("'\"")).name)
            for line in start
            if start[0].startswith(b"#!")
            for word in line.removeprefix(b"#!").split()
        )
    return False


def _nothing_to_build(project: Path) -> str | None:
    """Why a Python program needs no build: it uses Triton or PyTorch, or there is no build file beside it."""
    if any(_GPU_IMPORT.search(read_text(path)) for path in python_sources(project)):
        return "kernels are compiled as the Python program runs"
    build_files = [project / name for name in (*_MAKEFILES, _CMAKE_FILE, _MESON_FILE, _NINJA_FILE)]
    files = islice((path for path in project.rglob("*") if path.is_file()), _MAX_SCANNED)
    if any(path.is_file() for path in build_files) or any(map(_is_gpu_source, files)):
        return None
    return "a Python program without a build file"


def python_sources(project: Path) -> list[Path]:
    """Python files of the project itself, up to a bounded number: no virtual environments, no hidden directories."""
    found: list[Path] = []
    pending = [project]
    while pending and len(found) < _MAX_SCANNED:
        directory = pending.pop()
        if (directory / "pyvenv.cfg").exists():
            continue
        with contextlib.suppress(OSError):
            for entry in sorted(directory.iterdir()):
                if entry.is_symlink() or entry.name.startswith(".") or entry.name == "__pycache__":
                    continue
                if entry.is_dir():
                    pending.append(entry)
                elif entry.suffix == ".py":
                    found.append(entry)
    return sorted(found[:_MAX_SCANNED])


def _starts_another(program: str, target: Path, project: Path) -> bool:
    """A bare name is a program of the system, like one outside the project; "#!" begins a script."""
    if "/" not in program or project not in target.parents:
        return True
    with contextlib.suppress(OSError), target.open("rb") as file:
        return file.read(2) == b"#!"
    return False


def _from_makefile(target: Path, project: Path) -> Recipe | None:
    return _by_nearest("make", _MAKEFILES, target, project)


def _from_ninja(target: Path, project: Path) -> Recipe | None:
    return _by_nearest("ninja", (_NINJA_FILE,), target, project)


def _by_nearest(tool: str, names: Sequence[str], target: Path, project: Path) -> Recipe | None:
    """With the build file nearest to the program, inside the project; the project's own for a program outside."""
    inside = project in target.parents
    for place in (target.parent, *target.parent.parents) if inside else (project,):
        if place != project and project not in place.parents:
            break
        for name in names:
            if (place / name).is_file():
                where = place.relative_to(project)
                change = () if str(where) == "." else ("-C", str(where))
                return Recipe(((tool, *change),), f"from {where / name} in the project")
    return None


def _from_cmake(target: Path, project: Path) -> Recipe | None:
    if not (project / _CMAKE_FILE).is_file():
        return None
    build = _build_directory(target, project, _CMAKE_FILE)
    configure = ("cmake", "-S", ".", "-B", build, "-DCMAKE_BUILD_TYPE=Release")
    return Recipe((configure, ("cmake", "--build", build)), "from CMakeLists.txt in the project")


def _build_directory(target: Path, project: Path, description: str) -> str:
    """Where a program lies as `target` does: build trees have the folders of the sources that have a `description`."""
    if target.parent == project or project not in target.parents:
        return "build"
    parts = target.parent.relative_to(project).parts
    ways = [(Path(*parts[:count]), Path(*parts[count:])) for count in range(1, len(parts) + 1)]
    configured = [build for build, _ in ways if (project / build / "CMakeCache.txt").is_file()]
    if not configured and any(_PLACED.search(read_text(path)) for path in _cmake_files(project)):
        return parts[0]
    likely = [build for build, folder in ways if (project / folder / description).is_file()]
    return str((configured or likely)[0])


def _cmake_files(project: Path) -> list[Path]:
    files = islice((path for path in project.rglob("*") if path.is_file()), _MAX_SCANNED)
    return [path for path in files if path.name == _CMAKE_FILE or path.suffix == ".cmake"]


def _from_meson(target: Path, project: Path) -> Recipe | None:
    description = project / _MESON_FILE
    if not description.is_file():
        return None
    build = _build_directory(target, project, _MESON_FILE)
    # Meson's own default is a build without optimisation.
    chosen = () if "buildtype" in read_text(description) else ("--buildtype=release",)
    return Recipe((("meson", "setup", build, *chosen), ("ninja", "-C", build)), "from meson.build in the project")


def _from_debug_information(target: Path, project: Path) -> Recipe | None:
    """Sources that the binary's DWARF names, if all lie in the project."""
    sources = sorted({path for path in _compile_units(target) if path.suffix in {*_COMPILERS, *_HOST_SUFFIXES}})
    if not sources or any(project not in path.parents or not path.is_file() for path in sources):
        return None
    return _compile_line(sources, target, project, "the debug information of the program")


def _compile_units(target: Path) -> Iterable[Path]:
    from elftools.common.exceptions import ELFError
    from elftools.elf.elffile import ELFFile

    with contextlib.suppress(OSError, ELFError), target.open("rb") as binary:
        dwarf = ELFFile(binary)
        if not dwarf.has_dwarf_info():
            return
        for unit in dwarf.get_dwarf_info().iter_CUs():
            attributes = unit.get_top_DIE().attributes
            if "DW_AT_name" in attributes and "DW_AT_comp_dir" in attributes:
                name = attributes["DW_AT_name"].value.decode("utf-8", "surrogateescape")
                base = attributes["DW_AT_comp_dir"].value.decode("utf-8", "surrogateescape")
                yield (Path(base) / name).resolve()


def _from_single_source(target: Path, project: Path) -> Recipe | None:
    """One source of the program's own name, or the only GPU source of the directory."""
    place = target.parent if project in (target.parent, *target.parent.parents) else project
    if not place.is_dir():
        return None
    sources = [path for path in sorted(place.iterdir())[:_MAX_SCANNED] if path.is_file() and _is_gpu_source(path)]
    named = [path for path in sources if path.stem == target.stem]
    chosen = named if len(named) == 1 else sources
    if len(chosen) != 1:
        return None
    return _compile_line(chosen, target, project, f"{chosen[0].name} is the only GPU source that fits")


def is_hip_only(project: Path) -> bool:
    """Does the project hold HIP sources and no CUDA source? Looks at a bounded number of files."""
    files = islice((path for path in project.rglob("*") if path.is_file()), _MAX_SCANNED)
    seen = [path for path in files if _is_gpu_source(path)]
    return bool(seen) and not any(path.suffix == ".cu" for path in seen)


def _is_gpu_source(path: Path) -> bool:
    if path.suffix in _COMPILERS:
        return True
    return path.suffix in _HOST_SUFFIXES and bool(_HIP_MARK.search(read_text(path)))


def _compile_line(sources: list[Path], target: Path, project: Path, reason: str) -> Recipe:
    compiler = "nvcc" if any(path.suffix == ".cu" for path in sources) else "hipcc"
    output = target.relative_to(project) if project in target.parents else Path(target.name)
    names = [str(path.relative_to(project)) for path in sources]
    return Recipe(((compiler, "-O3", "-o", str(output), *names),), reason)
