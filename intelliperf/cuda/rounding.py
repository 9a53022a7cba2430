"""Builds of the original whose kernels round up, or down: the rounding modifiers of its PTX are exchanged before ptxas.

NVIDIA's GPUs have no rounding mode to set; every PTX instruction names its own (PTX ISA, "Rounding Modifiers"). nvcc
finds ptxas by its profile, so a mirror of the toolkit's programs with another profile puts our drop-in in between.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from intelliperf.cuda.toolkit import Toolkit
from intelliperf.dropins.programs import python_script
from intelliperf.processes.storage import cache_directory

WAY = "INTELLIPERF_CUDA_ROUNDING"
REAL_PTXAS = "INTELLIPERF_PTXAS"
_MODIFIERS = {"up": ".rp", "down": ".rm"}
# What says .rz, .rp or .rm was meant so; approximations have no rounding; add, sub and mul round to nearest unnamed.
_ARITHMETIC = re.compile(r"(?<![\w.%$])(add|sub|mul|fma|div|sqrt|rcp)((?:\.(?:rn|ftz|sat))*)\.(f32|f64|f32x2)(?=\s)")
_CONVERSION = re.compile(r"(?<![\w.%$])cvt\.rn((?:\.(?:ftz|sat))*)\.(f32|f64)\.(?=\w)")
# Numbers of 1.5·2²³ and 1.5·2⁵²'s size: adding one rounds to an integer, as libdevice does, and that is not an error.
_TO_INTEGER = re.compile(r"\b(?:0[fF][4cC]B[0-7]|0[dD][4cC]3[34])[0-9a-fA-F]+\b")
_PROFILE = "nvcc.profile"


def rounded_ptx(text: str, way: str) -> str:
    """The same program with f32 and f64 arithmetic and conversions that rounded to nearest rounding `way`."""
    modifier = _MODIFIERS[way]

    def arithmetic(match: re.Match[str]) -> str:
        others = match[2].replace(".rn", "")
        return f"{match[1]}{modifier}{others}.{match[3]}"

    def line(text: str) -> str:
        if _TO_INTEGER.search(text):
            return text
        return _CONVERSION.sub(rf"cvt{modifier}\1.\2.", _ARITHMETIC.sub(arithmetic, text))

    return "\n".join(map(line, text.split("\n")))


def rounding_environment(toolkit: Toolkit, way: str, nvcc_variable: str) -> dict[str, str]:
    """For a build; empty where this toolkit's nvcc has no profile to go by."""
    home = next((p for p in (toolkit.root / "bin", toolkit.nvcc.resolve().parent) if (p / _PROFILE).exists()), None)
    ptxas = toolkit.tool("ptxas")
    if home is None or ptxas is None:
        return {}
    return {nvcc_variable: str(_mirror(home) / "nvcc"), REAL_PTXAS: str(ptxas), WAY: way}


def _mirror(home: Path) -> Path:
    """A directory with the toolkit's programs, its profile naming them where they are and our ptxas first."""
    profile = (home / _PROFILE).read_text().replace("$(_HERE_)", str(home))
    script = python_script("intelliperf.cuda.rounding", "ptxas")
    digest = hashlib.sha256(f"{home}\n{profile}\n{script}".encode()).hexdigest()[:12]
    mirror = cache_directory() / "cuda" / f"rounding-{digest}"
    if not mirror.exists():
        made = mirror.with_name(f"{mirror.name}-{os.getpid()}")
        shutil.rmtree(made, ignore_errors=True)
        made.mkdir(parents=True)
        for entry in home.iterdir():
            if entry.name not in (_PROFILE, "ptxas"):
                (made / entry.name).symlink_to(entry)
        (made / _PROFILE).write_text(f"{profile}\nPATH += {mirror}:\n")  # to nvcc, += puts in front
        (made / "ptxas").write_text(script)
        (made / "ptxas").chmod(0o755)
        try:
            made.rename(mirror)
        except OSError:  # another run was faster
            shutil.rmtree(made)
    return mirror


def ptxas(words: Sequence[str]) -> None:
    """Exchange the modifiers in place, since the text goes into the program, too; then become the real ptxas."""
    for word in words:
        source = Path(word)
        if source.suffix == ".ptx" and source.is_file():
            source.write_bytes(rounded_ptx(source.read_bytes().decode("latin-1"), os.environ[WAY]).encode("latin-1"))
    real = os.environ.get(REAL_PTXAS) or sys.exit("intelliperf: which ptxas is the real one?")
    os.execv(real, [real, *words])
