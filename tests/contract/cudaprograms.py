"""The injected CUDA library with a driver that needs no GPU, and the backend that runs programs on it."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from interceptedbackend import PlannedBackend

from intelliperf.cuda import native
from intelliperf.records import Application, Interception, Kernel

PACKAGE = Path(__file__).resolve().parents[2] / "intelliperf"
STAND_IN = Path(__file__).with_name("cudastandin")
_PLACES = (
    STAND_IN,
    PACKAGE / "cuda" / "native",
    PACKAGE / "interception" / "native",
    PACKAGE / "interception" / "protocol",
)


def build(directory: Path) -> Path:
    """The program of all scenarios, with the library linked into it."""
    sources = [path for place in _PLACES for path in sorted(place.glob("*.cpp"))]
    flags = ["-std=c++17", "-O0", "-pthread", *(f"-I{place}" for place in _PLACES)]

    def compile_one(source: Path) -> str:
        made = directory / f"{source.stem}.o"
        subprocess.run(["g++", *flags, "-c", str(source), "-o", str(made)], check=True)
        return str(made)

    with ThreadPoolExecutor(2) as pool:
        objects = list(pool.map(compile_one, sources))
    program = directory / "programs"
    subprocess.run(["g++", "-pthread", "-o", str(program), *objects], check=True)
    return program


class StandInBackend(PlannedBackend):
    """The environment of the real backend's runs; buffers are copied, for the driver has no handles."""

    name = "stand-in"
    honours = native.HONOURED

    def intercept_environment(self, socket: Path, kernel: Kernel, interception: Interception) -> Mapping[str, str]:
        return native.export_variables(socket, kernel, interception)


def application(program: Path, directory: Path, scenario: str, version: str) -> Application:
    place = directory / version
    place.mkdir(parents=True, exist_ok=True)
    return Application((str(program), scenario, version), place, place)
