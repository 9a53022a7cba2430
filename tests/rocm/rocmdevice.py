"""The ROCm back end on the software gfx90a, for tests."""

from __future__ import annotations

from pathlib import Path

from intelliperf.process import output_of
from intelliperf.records import Launcher

HERE = Path(__file__).resolve().parent
LAUNCHER = Launcher((str(HERE.parent / "gfx90a" / "gfx90a-run"), "--"))
STAND_IN = HERE.parent / "rocprofv3"
DEADLINE_S = 240.0


def compile_hip(source: Path, program: Path, *options: str) -> None:
    """By the back end's own choice of compiler."""
    from intelliperf.rocm.toolchain import completed, find_compiler, for_clang

    compiler = find_compiler()
    words = completed(["-O2", *options, str(source), "-o", str(program)], "gfx90a")
    argv = [*compiler.words, *(words if compiler.complete else for_clang(words))]
    done, out, err = output_of(argv, DEADLINE_S, {"HIP_PLATFORM": "amd"})
    assert done.ok, out + err
