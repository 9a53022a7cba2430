"""A hipcc for the NVIDIA platform, where the HIP headers are: HIP programs become CUDA programs for nvcc.

HIP's own hipcc does the same (HIP_PLATFORM=nvidia), but is installed with ROCm only.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from intelliperf.cuda.toolkit import find_toolkit
from intelliperf.errors import ToolchainError
from intelliperf.processes.process import output_of

HIP_INCLUDE = "INTELLIPERF_HIP_INCLUDE"
_MARK = Path("hip") / "nvidia_detail" / "nvidia_hip_runtime.h"
_ROOTS = ("/opt/rocm", "/usr/local", "/usr")
_COMPILE_DEADLINE_S = 900.0
_SOURCES = frozenset({".hip", ".cu", ".cpp", ".cc", ".cxx", ".c++", ".C", ".CPP"})
# "file(12): error: …" of nvcc, "file:12:3: error: …" of others
_ERROR = re.compile(
    r"^(?P<file>[^\s:(][^:(\n]*)(?:\(\d+\)|:\d+(?::\d+)?): (?:fatal )?error: (?P<what>.*)$", re.MULTILINE
)
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
            if not done.ok and (why := unfit_headers(err, Path(include), nvcc, translate(words).front)):
                os.write(2, f"intelliperf: {why}\n".encode())
            os.write(2, err.encode("utf-8", "surrogateescape"))
            if not done.ok:
                return done.exit_status or 1
    return 0


def unfit_headers(said: str, include: Path, nvcc: Sequence[str], options: Sequence[str]) -> str:
    """Why HIP's headers do not go with this CUDA, where they do not; empty where the program itself is to blame.

    What the compiler said first must lie in a header of HIP, and so must it for a program that includes HIP alone.
    """
    if _first_error(said, include) is None:
        return ""
    with tempfile.TemporaryDirectory(prefix="intelliperf-") as scratch:
        probe = Path(scratch) / "probe.cu"
        probe.write_text("#include <hip/hip_runtime.h>\n")
        line = command_lines([str(probe), "-c", "-o", str(probe.with_suffix(".o"))], include, Path(scratch))[0]
        done, _, said = output_of([*nvcc, *options, *line], _COMPILE_DEADLINE_S)
    complaint = _first_error(said, include)
    if done.ok or complaint is None:
        return ""
    version = hip_version(include)
    cuda = find_toolkit().version
    return (
        f"the headers of HIP {version or '(unknown version)'} in {include} do not compile with CUDA {cuda} "
        f"({complaint}): put the nvcc of an older CUDA on PATH, or name a HIP that knows CUDA {cuda} in HIP_PATH"
    )


def hip_version(include: Path) -> str:
    """As "5.2"; empty where the headers do not say."""
    try:
        text = (include / "hip" / "hip_version.h").read_text("utf-8", "replace")
    except OSError:
        return ""
    found = [re.search(rf"^#define HIP_VERSION_{part} (\d+)", text, re.MULTILINE) for part in ("MAJOR", "MINOR")]
    return ".".join(match[1] for match in found if match)


def _first_error(said: str, include: Path) -> str | None:
    """What is wrong in HIP's headers, if the first error of nvcc or of the host's compiler lies there."""
    found = _ERROR.search(said)
    if found is None or include / "hip" not in Path(found["file"]).parents:
        return None
    return found["what"].strip()
