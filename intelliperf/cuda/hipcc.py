"""A hipcc for the NVIDIA platform, where the HIP headers are: HIP programs become CUDA programs for nvcc.

HIP's own hipcc does the same (HIP_PLATFORM=nvidia), but is installed with ROCm only.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from intelliperf.errors import ToolchainError
from intelliperf.process import output_of

HIP_INCLUDE = "INTELLIPERF_HIP_INCLUDE"
_MARK = Path("hip") / "nvidia_detail" / "nvidia_hip_runtime.h"
_ROOTS = ("/opt/rocm", "/usr/local", "/usr")
_COMPILE_DEADLINE_S = 900.0
_SOURCES = frozenset({".hip", ".cu", ".cpp", ".cc", ".cxx", ".c++", ".C", ".CPP"})
_STAGES = frozenset({"-c", "-E", "-M", "-MM", "-S", "-ptx", "-fatbin", "-dc"})
_FOR_AMD = (
    "--offload-arch", "--offload-compress", "--amdgpu-target", "-munsafe-fp-atomics", "-mno-unsafe-fp-atomics",
    "-mwavefrontsize64", "-mno-wavefrontsize64", "-mcumode", "-mno-cumode", "--rocm-path", "--rocm-device-lib-path",
    "--hip-path", "--hip-link", "--hip-version", "-fhip-new-launch-api", "-parallel-jobs", "--cuda-gpu-arch",
)  # fmt: skip
_RENAMED = {"-fgpu-rdc": ["-rdc=true"], "-fno-gpu-rdc": [], "--genco": ["-fatbin"], "-ffast-math": ["--use_fast_math"]}
_FOR_NVCC = ("-std=", "-maxrregcount", "-rdc=", "-arch", "-gencode", "-lineinfo", "-Xcompiler", "-Xptxas", "-Xlinker")
_WITH_VALUE = frozenset({"-o", "-I", "-D", "-U", "-L", "-l", "-isystem", "-include", "-MF", "-MT", "-MQ", "-arch"})


def nvidia_headers() -> Path | None:
    """The include directory of a HIP that knows the NVIDIA platform; where the environment names one, no other."""
    named = [os.environ[name] for name in ("HIP_PATH", "ROCM_PATH") if os.environ.get(name)]
    places = (Path(root) / "include" for root in named or _ROOTS)
    return next((place for place in places if (place / _MARK).is_file()), None)


@dataclass
class Translated:
    """nvcc's words for one hipcc line. `objects` keep their place among the link words."""

    front: list[str] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    link: list[str] = field(default_factory=list)
    output: str | None = None
    stage: str | None = None


def translate(words: Sequence[str]) -> Translated:
    """Options of clang and of AMD's compilers in nvcc's spelling; what has no meaning here is left out."""
    made = Translated()
    pending = iter(words)
    for word in pending:
        if not word.startswith("-") or word == "-":
            (made.sources if Path(word).suffix in _SOURCES else made.link).append(word)
        elif word == "-x":
            next(pending, None)  # every source is compiled as CUDA
        elif word == "-o":
            made.output = next(pending, None)
        elif word in _STAGES or word == "--genco":
            made.stage = "-fatbin" if word == "--genco" else word
        elif word in ("--offload-arch", "-Xarch_device"):
            next(pending, None)
        elif not word.startswith(_FOR_AMD) and word not in ("-fPIE", "-fpie"):
            _option(made, word, pending)
    return made


def _option(made: Translated, word: str, pending: Iterator[str]) -> None:
    if word in _RENAMED:
        made.front += _RENAMED[word]
    elif word.startswith("-Wl,"):
        made.link += [part for piece in word.split(",")[1:] for part in ("-Xlinker", piece)]
    elif word.startswith(("-L", "-l")) and not word.startswith("-lineinfo"):
        made.link += [word, next(pending, "")] if word in ("-L", "-l") else [word]
    elif word in _WITH_VALUE or word in ("-Xcompiler", "-Xptxas", "-Xlinker", "-gencode", "-maxrregcount"):
        made.front += [word, next(pending, "")]
    elif word == "-shared":
        made.link.append(word)
    elif word.startswith(_FOR_NVCC) or word[:2] in ("-I", "-D", "-U", "-O", "-M") or word in ("-g", "-G", "-w", "-v"):
        made.front.append(word)
    else:
        made.front.append(f"-Xcompiler={word}")


def command_lines(words: Sequence[str], include: Path, objects: Path) -> list[list[str]]:
    """What nvcc is to be called with, one call after the other; the last one makes what was asked for.

    nvcc takes every input of a line with `-x cu` for a source: beside objects, sources are compiled first.
    """
    made = translate(words)
    compile_words = ["-x", "cu", "-D__HIP_PLATFORM_NVIDIA__=1", f"-I{include}", *made.front]
    output = ["-o", made.output] if made.output is not None else []
    inputs = [word for word in made.link if not word.startswith("-")]
    if made.stage is not None:
        return [[*compile_words, made.stage, *made.sources, *output]]
    if made.sources and not inputs:
        return [[*compile_words, *made.sources, *made.link, *output]]
    lines = []
    compiled = []
    for number, source in enumerate(made.sources):
        compiled.append(str(objects / f"{number}-{Path(source).stem}.o"))
        lines.append([*compile_words, "-c", source, "-o", compiled[-1]])
    return [*lines, [*made.front, *compiled, *made.link, *output]]


def compile_hip(words: Sequence[str], nvcc: Sequence[str]) -> int:
    """Runs `nvcc` on the lines; returns the exit status that hipcc would have. Raises `ToolchainError`."""
    if "--version" in words or not words:
        done, out, _ = output_of([*nvcc, "--version"], _COMPILE_DEADLINE_S)
        os.write(1, f"HIP for the NVIDIA platform\n{out}".encode())
        return done.exit_status or 0
    include = os.environ.get(HIP_INCLUDE)
    if not include:
        raise ToolchainError(f"{HIP_INCLUDE} is not set: this hipcc is to be called by a build of intelliperf")
    with tempfile.TemporaryDirectory(prefix="intelliperf-") as scratch:
        for line in command_lines(words, Path(include), Path(scratch)):
            done, out, err = output_of([*nvcc, *line], _COMPILE_DEADLINE_S)
            os.write(1, out.encode("utf-8", "surrogateescape"))
            os.write(2, err.encode("utf-8", "surrogateescape"))
            if not done.ok:
                return done.exit_status or 1
    return 0
