"""The ROCm back end on the software gfx90a, for tests."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

from intelliperf.processes.process import output_of
from intelliperf.records import Launcher

HERE = Path(__file__).resolve().parent
# By this interpreter: the python3 of a PATH may be a script whose own files no sandbox shows.
LAUNCHER = Launcher((sys.executable, str(HERE.parent / "gfx90a" / "gfx90a-run"), "--"))
STAND_IN = HERE.parent / "rocprofv3"
DEADLINE_S = 240.0


def build_device() -> None:
    """Before what has a deadline: the first build of the device takes longer than some of these allow."""
    runpy.run_path(str(HERE.parent / "gfx90a" / "device.py"))["build"]()


def compile_hip(source: Path, program: Path, *options: str) -> None:
    """By the back end's own choice of compiler."""
    from intelliperf.rocm.compilers import find_compiler, for_clang
    from intelliperf.rocm.toolchain import completed

    build_device()
    compiler = find_compiler("gfx90a")
    words = completed(["-O2", *options, str(source), "-o", str(program)], "gfx90a")
    argv = [*compiler.words, *(words if compiler.complete else for_clang(words))]
    done, out, err = output_of(argv, DEADLINE_S, {"HIP_PLATFORM": "amd", "TMPDIR": str(program.parent)})
    assert done.ok, out + err
